/* edge_cost.h - what it costs to part two tasks, as the aggregation paper has it.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Section IV.B, equation 4: of each pair of tasks the times are known that all
 * its messages take within a node and between nodes.  A pair that is faster between
 * nodes costs 1 / (within - between); any other costs C + (between - within), with
 * C = k^2 times the largest cost of the former and k tasks per node.
 *
 * To the letter that adds seconds to reciprocals of seconds, has no bound where both
 * times are nearly equal, and gives C to pairs that send nothing.  Mended: such pairs
 * cost nothing, times are divided by the mean of all, and the difference in the
 * reciprocal is at least PREDICT_LEAST_LOSS. */
#pragma once

#include "predictors/group/cost_graph.h"

#define PREDICT_LEAST_LOSS 0.01

/* The letter has an edge between any two tasks. */
#define PREDICT_LITERAL_MAX_TASKS 4096u

typedef enum { PREDICT_COST_MENDED, PREDICT_COST_LITERAL } PredictCostForm;

/* Ping-pongs: one-way times of messages by size; bytes ascend. */
typedef struct {
  uint32_t n; /* at least 1 */
  const double *bytes;
  const double *within_s, *between_s; /* [n], > 0 */
} PredictPingPong;

/* What all messages of a pair take. */
typedef struct {
  uint32_t a, b; /* a < b */
  double within_s, between_s;
} PredictPairTime;

/* The time of a message: between two sizes on a straight line, beyond the last one on that of the
 * last two; a smaller one takes as long as the first.  Never less than 0. */
double predict_message_s (const PredictPingPong *table, const double *time_s, double bytes);

/* Adds `count` messages of `bytes` bytes each. */
void
predict_pair_add (const PredictPingPong *table, PredictPairTime *pair, double count, double bytes);

/* The costs of pairs that communicate, sorted by a, then b; tasks_per_node is k.  *c becomes C. */
PredictCostRows *predict_edge_costs (uint32_t n, const PredictPairTime *pairs, uint64_t n_pairs,
                                     uint32_t tasks_per_node, PredictCostForm form, double *c);
