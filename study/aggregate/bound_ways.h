/* bound_ways.h - the ways in which the tasks of a node can communicate at once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/aggregation/bound_table.h"
#include "topology/mapping/core_tree.h"

#define STUDY_MAX_PLACES 64

/* Ways that are looked at, at most, the first in an order of their own: 232 is all of a node of 8
 * cores. */
#define STUDY_MAX_WAYS 4096u

/* What the task on a place of the node does beside the observed message. */
typedef struct {
  uint8_t is_observed; /* an end of it: nothing else */
  uint8_t is_outside;  /* exchanges messages with other nodes */
  uint64_t partners;   /* bit of each place whose task it exchanges messages with; both have it */
} StudyActivity;

/* Of every way in which each task is in a pair with one of its partners or at a message to another
 * node, or idle when it can be neither as all its partners are taken: the kinds of pingpong, each
 * once (element-type PredictBoundKind).  The caller unrefs. */
GPtrArray *
study_ways_kinds (const TopoLevels *levels, const StudyActivity *activity, PredictBoundWhere where);

/* An empty array that frees the placements of its kinds. */
GPtrArray *study_kinds_new (void);
