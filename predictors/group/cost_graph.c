/* cost_graph.c - what it costs to part tasks: the graph that grouping works on.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/group/cost_graph.h"

#include <math.h>

#define NO_TASK UINT32_MAX

static PredictCostRows *
rows_new (uint32_t n, uint64_t n_neighbours)
{
  PredictCostRows *rows = g_new0 (PredictCostRows, 1);

  rows->first = g_new0 (uint64_t, (gsize) n + 1);
  rows->neighbour = g_new (uint32_t, n_neighbours);
  rows->cost = g_new (int64_t, n_neighbours);
  rows->graph = (PredictCostGraph){ n, rows->first, rows->neighbour, rows->cost };
  return rows;
}

void
predict_cost_rows_free (PredictCostRows *rows)
{
  if (!rows)
    return;
  g_free (rows->first);
  g_free (rows->neighbour);
  g_free (rows->cost);
  g_free (rows);
}

/* The power of two that makes costs whole numbers; 0 when they are whole already. */
static int
exponent_for (const PredictCostEdge *edges, uint64_t n_edges)
{
  double sum = 0;
  gboolean whole = TRUE;
  int exponent;

  for (uint64_t i = 0; i < n_edges; i++) {
    g_assert (edges[i].cost >= 0 && isfinite (edges[i].cost));
    sum += edges[i].cost;
    whole &= edges[i].cost == floor (edges[i].cost);
  }
  if (sum == 0 || (whole && sum < PREDICT_MAX_COSTS))
    return 0;
  /* sum < 2^exponent; rounding adds half a unit at most to each of far fewer than 2^59 costs. */
  frexp (sum, &exponent);
  return 59 - exponent;
}

PredictCostRows *
predict_cost_rows (uint32_t n, const PredictCostEdge *edges, uint64_t n_edges)
{
  int exponent = exponent_for (edges, n_edges);
  PredictCostRows *rows = rows_new (n, 2 * n_edges);
  g_autofree uint64_t *next = g_new0 (uint64_t, (gsize) n + 1);

  rows->exponent = exponent;
  for (uint64_t i = 0; i < n_edges; i++)
    if (edges[i].cost > 0) {
      g_assert (edges[i].a < edges[i].b && edges[i].b < n);
      rows->first[edges[i].a + 1]++;
      rows->first[edges[i].b + 1]++;
    }
  for (uint32_t task = 0; task < n; task++)
    next[task + 1] = rows->first[task + 1] += rows->first[task];
  /* Rows come to ascend: the edges of a task to smaller ones stand before those to larger ones. */
  for (uint64_t i = 0; i < n_edges; i++)
    if (edges[i].cost > 0) {
      int64_t cost = llrint (ldexp (edges[i].cost, exponent));

      rows->neighbour[next[edges[i].a]] = edges[i].b;
      rows->cost[next[edges[i].a]++] = cost;
      rows->neighbour[next[edges[i].b]] = edges[i].a;
      rows->cost[next[edges[i].b]++] = cost;
    }
  return rows;
}

/* Where a task stands among tasks[n], which ascend; NO_TASK when it does not. */
static uint32_t
number_of (const uint32_t *tasks, uint32_t n, uint32_t task)
{
  uint32_t low = 0, high = n;

  while (low < high) {
    uint32_t middle = low + (high - low) / 2;

    if (tasks[middle] < task)
      low = middle + 1;
    else
      high = middle;
  }
  return low < n && tasks[low] == task ? low : NO_TASK;
}

PredictCostRows *
predict_cost_rows_among (const PredictCostGraph *graph, const uint32_t *tasks, uint32_t n)
{
  uint64_t most = 0;
  PredictCostRows *rows;

  for (uint32_t i = 0; i < n; i++)
    most += graph->first[tasks[i] + 1] - graph->first[tasks[i]];
  rows = rows_new (n, most);
  for (uint32_t i = 0; i < n; i++) {
    uint64_t next = rows->first[i];

    for (uint64_t e = graph->first[tasks[i]]; e < graph->first[tasks[i] + 1]; e++) {
      uint32_t number = number_of (tasks, n, graph->neighbour[e]);

      if (number == NO_TASK)
        continue;
      rows->neighbour[next] = number;
      rows->cost[next++] = graph->cost[e];
    }
    rows->first[i + 1] = next;
  }
  return rows;
}

int64_t
predict_cut (const PredictCostGraph *graph, const uint32_t *part)
{
  int64_t cut = 0;

  for (uint32_t task = 0; task < graph->n; task++)
    for (uint64_t e = graph->first[task]; e < graph->first[task + 1]; e++)
      if (graph->neighbour[e] > task && part[graph->neighbour[e]] != part[task])
        cut += graph->cost[e];
  return cut;
}
