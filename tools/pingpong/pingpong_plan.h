/* pingpong_plan.h - which placements the processes of a job can take up, and who does what then.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Messages are observed on the node with the most processes; those between nodes from there to the
 * node that has most of its places too, where the same places do the same: pairs of noise exchange
 * messages in both nodes.  Noise to another node has its other end on the same place there.  So
 * study/aggregate/bound_fill.h simulates them as well. */
#pragma once

#include "topology/mapping/message_placement.h"

typedef struct {
  uint32_t node;  /* from 0 on */
  uint32_t place; /* in the tree of the node; TOPO_NONE: takes no part */
} CliPingpongSeat;

typedef struct {
  uint32_t max_pairs, max_outside; /* of noise; UINT32_MAX: as many as fit */
  uint32_t max_classes;            /* more of them are an error */
} CliPingpongNoise;

typedef struct {
  bool is_between;
  uint32_t n_pairs, n_outside; /* of noise */
  char *class;                 /* topo_placement_class() */
  uint32_t ping, pong;         /* ranks of the observed pair; ping begins */
  uint32_t *partner; /* [n_ranks] with whom a rank exchanges messages; itself: it is idle */
} CliPingpongClass;

/* Public and read-only once made. */
typedef struct {
  uint32_t n_ranks, n_nodes;
  GPtrArray *classes; /* (element-type CliPingpongClass) */
  /* Those of the node that need other places, or more nodes, than there are: ping and pong are
   * TOPO_NONE, partner NULL. */
  GPtrArray *unreachable;
} CliPingpongPlan;

/* Of n_ranks processes on these seats; no two are the same.  NULL and *error (CLI_ERROR_INPUT)
 * when the classes, reachable or not, are more than noise.max_classes. */
CliPingpongPlan *cli_pingpong_plan_new (const TopoLevels *levels, const CliPingpongSeat seats[],
                                        uint32_t n_ranks, CliPingpongNoise noise, GError **error);
void cli_pingpong_plan_free (CliPingpongPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CliPingpongPlan, cli_pingpong_plan_free)

/* The class of all tasks of a node, which is that of collectives; NULL when nodes differ in it,
 * or a process takes no part.  The caller frees it. */
char *cli_pingpong_tasks_class (const TopoLevels *levels, const CliPingpongSeat seats[],
                                uint32_t n_ranks);
