/* cost_graph.c - costs of separating tasks: the graph, and its costs from times of messages.
 *
 * SPDX-License-Identifier: Apache-2.0 */
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

PredictCostRows *
predict_cost_rows (uint32_t n, const PredictCostEdge *edges, uint64_t n_edges)
{
  PredictCostRows *rows = rows_new (n, 2 * n_edges);
  g_autofree uint64_t *next = g_new0 (uint64_t, (gsize) n + 1);
  gboolean whole = TRUE;
  double sum = 0;

  for (uint64_t i = 0; i < n_edges; i++) {
    g_assert (edges[i].cost >= 0 && isfinite (edges[i].cost));
    sum += edges[i].cost;
    whole &= edges[i].cost == floor (edges[i].cost);
    if (edges[i].cost > 0) {
      g_assert (edges[i].a < edges[i].b && edges[i].b < n);
      rows->first[edges[i].a + 1]++;
      rows->first[edges[i].b + 1]++;
    }
  }
  /* A power of two makes costs whole numbers: sum < 2^exponent.  Rounding adds half a unit at most to
   * each of far fewer than 2^59 costs. */
  if (sum != 0 && !(whole && sum < PREDICT_MAX_COSTS)) {
    frexp (sum, &rows->exponent);
    rows->exponent = 59 - rows->exponent;
  }
  for (uint32_t task = 0; task < n; task++)
    next[task + 1] = rows->first[task + 1] += rows->first[task];
  /* Rows come to ascend: the edges of a task to smaller ones stand before those to larger ones. */
  for (uint64_t i = 0; i < n_edges; i++)
    if (edges[i].cost > 0) {
      int64_t cost = llrint (ldexp (edges[i].cost, rows->exponent));

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

/* --- Costs from times of messages --- */

static double
message_s (const PredictPingPong *table, const double *time_s, double bytes)
{
  uint32_t last = 1;
  double share;

  if (table->n == 1 || bytes <= table->bytes[0])
    return time_s[0];
  while (last < table->n - 1 && bytes > table->bytes[last])
    last++;
  share = (bytes - table->bytes[last - 1]) / (table->bytes[last] - table->bytes[last - 1]);
  return fmax (0, time_s[last - 1] + share * (time_s[last] - time_s[last - 1]));
}

void
predict_pair_add (const PredictPingPong *table, PredictPairTime *pair, double count, double bytes)
{
  pair->within_s += count * message_s (table, table->within_s, bytes);
  pair->between_s += count * message_s (table, table->between_s, bytes);
}

PredictCostRows *
predict_edge_costs (uint32_t n, const PredictPairTime *pairs, uint64_t n_pairs,
                    uint32_t tasks_per_node, PredictCostForm form, double *c)
{
  g_autofree PredictCostEdge *edges = g_new (PredictCostEdge, n_pairs), *all = NULL;
  double least = form == PREDICT_COST_LITERAL ? 0 : PREDICT_LEAST_LOSS;
  double k = tasks_per_node, most = 0, sum = 0, unit;
  uint64_t n_all = (uint64_t) n * (n - 1) / 2, next = 0, i = 0;

  for (uint64_t pair = 0; pair < n_pairs; pair++)
    sum += (pairs[pair].within_s + pairs[pair].between_s) / 2;
  /* Times are in seconds, or in their mean. */
  unit = form == PREDICT_COST_LITERAL || sum == 0 ? 1 : sum / (double) n_pairs;
  for (uint64_t pair = 0; pair < n_pairs; pair++) {
    double loss = (pairs[pair].within_s - pairs[pair].between_s) / unit;

    edges[pair] =
        (PredictCostEdge){ pairs[pair].a, pairs[pair].b, loss > 0 ? 1 / fmax (loss, least) : 0 };
    most = fmax (most, edges[pair].cost);
  }
  *c = k * k * most;
  for (uint64_t pair = 0; pair < n_pairs; pair++) {
    double gain = (pairs[pair].between_s - pairs[pair].within_s) / unit;

    if (gain >= 0)
      edges[pair].cost = *c + gain;
  }
  if (form != PREDICT_COST_LITERAL || !(*c > 0))
    return predict_cost_rows (n, edges, n_pairs);

  /* Every pair has an edge, of cost C unless it is one of edges[]. */
  g_assert (n <= PREDICT_LITERAL_MAX_TASKS);
  all = g_new (PredictCostEdge, n_all);
  for (uint32_t a = 0; a < n; a++)
    for (uint32_t b = a + 1; b < n; b++) {
      gboolean is_pair = next < n_pairs && edges[next].a == a && edges[next].b == b;

      all[i++] = is_pair ? edges[next++] : (PredictCostEdge){ a, b, *c };
    }
  return predict_cost_rows (n, all, n_all);
}
