/* kernighan_lin.h - parts of a graph, improved two at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * B. W. Kernighan and S. Lin, An Efficient Heuristic Procedure for Partitioning
 * Graphs (Bell System Technical Journal 49, 1970), as section IV.A of the
 * aggregation paper describes it.  Of two parts, the pair of tasks whose exchange
 * gains most is set aside, then the best pair of the rest, until no pair is left;
 * the leading pairs whose gains have the largest sum are exchanged.  This is
 * repeated until nothing is gained, and with all pairs of parts until no pair of
 * parts gains anything.
 *
 * Tasks are only exchanged, so sizes stay.  A part that is smaller than its room
 * has an empty place, which is exchanged like a task without edges: where sizes
 * differ by one, another part can become the larger one. */
#pragma once

#include "predictors/group/cost_graph.h"

typedef struct PredictPartition PredictPartition;

/* The block start: the first tasks in part 0, and so on; part p has size[p] tasks, and
 * room for room[p] >= size[p], at most one more.  Borrows the graph. */
PredictPartition *predict_partition_new (const PredictCostGraph *graph, uint32_t n_parts,
                                         const uint32_t *size, const uint32_t *room);
void predict_partition_free (PredictPartition *parts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictPartition, predict_partition_free)

/* Puts task t in part[t]; sizes must be within a task of the rooms. */
void predict_partition_set (PredictPartition *parts, const uint32_t *part);

const uint32_t *predict_partition_of (const PredictPartition *parts); /* [n]; borrowed */
int64_t predict_partition_cut (const PredictPartition *parts);

/* The tasks of a part, in no order; borrowed until a task moves. */
const uint32_t *
predict_partition_members (const PredictPartition *parts, uint32_t part, uint32_t *n_members);

/* Exchanges two tasks of different parts, whatever the gain. */
void predict_partition_exchange (PredictPartition *parts, uint32_t a, uint32_t b);

/* Improves pairs of parts until no pair gains. */
void predict_partition_improve (PredictPartition *parts);

/* Keeps the exchanges so far, or undoes those since the last keep. */
void predict_partition_keep (PredictPartition *parts);
void predict_partition_undo (PredictPartition *parts);

/* The work so far, in steps of about a nanosecond: a count that is the same on every
 * machine, so it may decide when to stop. */
uint64_t predict_partition_work (const PredictPartition *parts);
