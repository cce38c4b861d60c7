/* cost_graph.h - what it costs to part tasks: the graph that grouping works on.
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

/* One that owns its rows. */
typedef struct {
  PredictCostGraph graph;
  uint64_t *first;
  uint32_t *neighbour;
  int64_t *cost;
  int exponent; /* costs are what they were times 2^exponent */
} PredictCostRows;

typedef struct {
  uint32_t a, b; /* a < b */
  double cost;   /* >= 0, finite */
} PredictCostEdge;

/* Of edges sorted by a, then b, each pair at most once; edges that cost nothing are none.  When all
 * costs are whole they stay as they are; others are scaled by a power of two first, so that all
 * of them together come near PREDICT_MAX_COSTS, and rounded. */
PredictCostRows *predict_cost_rows (uint32_t n, const PredictCostEdge *edges, uint64_t n_edges);

/* The edges among tasks[n], which get the numbers 0 .. n - 1; they ascend. */
PredictCostRows *
predict_cost_rows_among (const PredictCostGraph *graph, const uint32_t *tasks, uint32_t n);

void predict_cost_rows_free (PredictCostRows *rows);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictCostRows, predict_cost_rows_free)

/* What the edges between different parts cost. */
int64_t predict_cut (const PredictCostGraph *graph, const uint32_t *part);
