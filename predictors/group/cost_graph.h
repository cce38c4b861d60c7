/* cost_graph.h - costs of separating tasks: the graph that grouping works on.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Costs are whole numbers, so that gains are exact and every search ends. */
#pragma once

#include <glib.h>
#include <stdint.h>

/* Costs must add up, over all edges, to less. */
#define PREDICT_MAX_COSTS 0x1p60

/* Compressed rows: the neighbours of task t are neighbour[first[t]] .. neighbour[first[t + 1] - 1],
 * ascending, never t itself.  An edge is in the rows of both its tasks, with the same cost >= 0. */
typedef struct {
  uint32_t n;
  const uint64_t *first;     /* [n + 1] */
  const uint32_t *neighbour; /* [first[n]] */
  const int64_t *cost;       /* [first[n]] */
} PredictCostGraph;

/* A graph that owns its rows. */
typedef struct {
  PredictCostGraph graph;
  uint64_t *first;
  uint32_t *neighbour;
  int64_t *cost;
  int exponent; /* stored costs are the given ones times 2^exponent */
} PredictCostRows;

typedef struct {
  uint32_t a, b; /* a < b */
  double cost;   /* >= 0, finite */
} PredictCostEdge;

/* Edges are sorted by a, then b, each pair at most once; edges of cost 0 are left out.  Costs that are
 * all whole stay as they are; other costs are scaled by a power of two, so that their sum comes near
 * PREDICT_MAX_COSTS, and rounded. */
PredictCostRows *predict_cost_rows (uint32_t n, const PredictCostEdge *edges, uint64_t n_edges);

/* The edges among tasks[n], which get the numbers 0 .. n - 1; they ascend. */
PredictCostRows *
predict_cost_rows_among (const PredictCostGraph *graph, const uint32_t *tasks, uint32_t n);

void predict_cost_rows_free (PredictCostRows *rows);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictCostRows, predict_cost_rows_free)

/* The cost of the edges between different parts. */
int64_t predict_cut (const PredictCostGraph *graph, const uint32_t *part);

/* --- Costs from times of messages ---
 *
 * Section IV.B, equation 4 of the aggregation paper takes, for each pair of tasks, the times of
 * all its messages within a node and between nodes.  A pair that is faster between nodes costs
 * 1 / (within - between); any other pair costs C + (between - within), where C is k^2 times the
 * largest cost of the former and k the tasks per node.
 *
 * Taken literally, the equation adds seconds to reciprocals of seconds, has no bound where both
 * times are nearly equal, and gives C to pairs that send nothing.  In the normalised form such pairs
 * cost nothing, times are divided by the mean of all times, and the difference in the reciprocal is
 * at least PREDICT_LEAST_LOSS. */
#define PREDICT_LEAST_LOSS 0.01

/* The literal form has an edge between any two tasks. */
#define PREDICT_LITERAL_MAX_TASKS 4096u

typedef enum { PREDICT_COST_NORMALISED, PREDICT_COST_LITERAL } PredictCostForm;

/* Ping-pongs: one-way times of messages by size; bytes ascend. */
typedef struct {
  uint32_t n; /* at least 1 */
  const double *bytes;
  const double *within_s, *between_s; /* [n], > 0 */
} PredictPingPong;

/* The time of all messages of a pair. */
typedef struct {
  uint32_t a, b; /* a < b */
  double within_s, between_s;
} PredictPairTime;

/* Adds `count` messages of `bytes` bytes each.  Times are interpolated linearly between two sizes and
 * extrapolated from the last two; a message smaller than the first size takes the time of that size.
 * No time is below 0. */
void
predict_pair_add (const PredictPingPong *table, PredictPairTime *pair, double count, double bytes);

/* The graph of pairs that communicate, sorted by a, then b; tasks_per_node is k.  *c becomes C. */
PredictCostRows *predict_edge_costs (uint32_t n, const PredictPairTime *pairs, uint64_t n_pairs,
                                     uint32_t tasks_per_node, PredictCostForm form, double *c);
