/* slot_placement.h - ranks on slots while a mapping is searched for.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A placement is one array, slot[rank], of slots numbered through the machine:
 * node * per_node + T. */
#pragma once

#include "study/search/distance.h"
#include "study/search/matrix.h"
#include "topology/mapping/mapping.h"

/* The input of a search; all borrowed. */
typedef struct {
  const StudyGraph *graph;
  const StudyDistance *distance;
  uint32_t per_node; /* slots of each node */
} StudyProblem;

static inline uint32_t
study_problem_slots (const StudyProblem *problem)
{
  return problem->distance->n_nodes * problem->per_node;
}

/* The caller g_free()s. */
uint32_t *study_placement_of (const StudyProblem *problem, const TopoMapping *mapping);

/* Ranks of a node keep the order of their slots; the name is copied. */
TopoMapping *
study_placement_mapping (const StudyProblem *problem, const uint32_t *slot, const char *name);

/* Bytes times hops over all messages, in units of 2^graph->shift bytes. */
int64_t study_hop_bytes (const StudyProblem *problem, const uint32_t *slot);

/* The heaviest rank first, then always the rank that exchanges most with the placed ranks,
 * where its bytes have the fewest hops to go: the greedy construction of
 * Hoefler and Snir (ICS 2011), with all free nodes looked at.  The caller g_free()s. */
uint32_t *study_placement_greedy (const StudyProblem *problem);

/* Ranks on nodes as another program chose them: node[rank] is kept where a slot is
 * free; ranks too many for a node go where it costs least.  The caller g_free()s. */
uint32_t *study_placement_repair (const StudyProblem *problem, const uint32_t *node);
