/* node_shares.h - the share of a node that each task of a pattern has for its computation.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The numbers that predictors/aggregation/node_sharing.h works with, out of the node's tree (topology/node/node.h) and
 * the bandwidths of its machine file's group [memory]:
 *
 *   private_bytes  of the core's own cache
 *   cache_bytes    of the shared caches above the core the one that has most for each of its tasks
 *   threads        of tasks on other hardware threads of the core, by memory.thread_slowdown
 *   crowding       the worst of the memory nearest to the core (bandwidth) and of the package's bus
 *                  (bus_bandwidth), if it has no memory of its own; against core_memory_bandwidth
 *
 * Pages are assumed to be in the memory nearest to their task.  The bandwidths of a preset are
 * guesses for its own node: with another hwloc XML, set them. */
#pragma once

#include "predictors/aggregation/node_sharing.h"
#include "topology/mapping/aggregation.h"
#include "topology/machine.h"

/* Of a core whose own caches the tree does not have; a guess: the first-level cache of most. */
#define STUDY_PRIVATE_BYTES (32 * 1024)

/* Of a pattern of `levels`, which are those of the node: [pattern->n_tasks].  Two tasks on one core
 * are on its hardware threads and part its cache.  The caller g_free()s. */
PredictShare *study_pattern_shares (const TopoNode *node, const TopoParameters *parameters,
                                    const TopoLevels *levels, const TopoPattern *pattern);

/* Memory shares of a program of which they are not known. */
typedef struct {
  double share_low, share_high;
} StudyMemoryRange;

/* Working sets that are tried: up to 2^20 private caches, and without end. */
#define STUDY_SET_STEPS 40u

/* By how much, as a share, computation is slower with tasks on the first n_slots of a node of `machine` than
 * on the first n_reference of `reference`, which may differ in its slots alone: the least and the most over the
 * range and any working set.  False: the tree of the node is not known. */
bool study_slots_slowdown (const TopoMachine *machine, uint32_t n_slots,
                           const TopoMachine *reference, uint32_t n_reference,
                           const StudyMemoryRange *range, double *low, double *high);
