/* edge_cost.c - what it costs to part two tasks, as the aggregation paper has it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/group/edge_cost.h"

#include <math.h>

double
predict_message_s (const PredictPingPong *table, const double *time_s, double bytes)
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
  pair->within_s += count * predict_message_s (table, table->within_s, bytes);
  pair->between_s += count * predict_message_s (table, table->between_s, bytes);
}

/* What times are divided by: seconds, or their mean. */
static double
unit_of (const PredictPairTime *pairs, uint64_t n_pairs, PredictCostForm form)
{
  double sum = 0;

  for (uint64_t i = 0; i < n_pairs; i++)
    sum += (pairs[i].within_s + pairs[i].between_s) / 2;
  return form == PREDICT_COST_LITERAL || sum == 0 ? 1 : sum / (double) n_pairs;
}

/* Fills edges[] with the costs of the pairs; returns C. */
static double
cost_pairs (const PredictPairTime *pairs, uint64_t n_pairs, double k, PredictCostForm form,
            PredictCostEdge *edges)
{
  double unit = unit_of (pairs, n_pairs, form);
  double least = form == PREDICT_COST_LITERAL ? 0 : PREDICT_LEAST_LOSS;
  double most = 0;

  for (uint64_t i = 0; i < n_pairs; i++) {
    double loss = (pairs[i].within_s - pairs[i].between_s) / unit;

    edges[i] = (PredictCostEdge){ pairs[i].a, pairs[i].b, loss > 0 ? 1 / fmax (loss, least) : 0 };
    most = fmax (most, edges[i].cost);
  }
  for (uint64_t i = 0; i < n_pairs; i++) {
    double gain = (pairs[i].between_s - pairs[i].within_s) / unit;

    if (gain >= 0)
      edges[i].cost = k * k * most + gain;
  }
  return k * k * most;
}

/* Every pair has an edge, of cost C unless it is one of edges[]. */
static PredictCostRows *
rows_of_all_pairs (uint32_t n, const PredictCostEdge *edges, uint64_t n_edges, double c)
{
  uint64_t n_all = (uint64_t) n * (n - 1) / 2, next = 0, i = 0;
  g_autofree PredictCostEdge *all = g_new (PredictCostEdge, n_all);

  g_assert (n <= PREDICT_LITERAL_MAX_TASKS);
  for (uint32_t a = 0; a < n; a++)
    for (uint32_t b = a + 1; b < n; b++) {
      gboolean is_pair = next < n_edges && edges[next].a == a && edges[next].b == b;

      all[i++] = is_pair ? edges[next++] : (PredictCostEdge){ a, b, c };
    }
  return predict_cost_rows (n, all, n_all);
}

PredictCostRows *
predict_edge_costs (uint32_t n, const PredictPairTime *pairs, uint64_t n_pairs,
                    uint32_t tasks_per_node, PredictCostForm form, double *c)
{
  g_autofree PredictCostEdge *edges = g_new (PredictCostEdge, n_pairs);

  *c = cost_pairs (pairs, n_pairs, tasks_per_node, form, edges);
  return form == PREDICT_COST_LITERAL && *c > 0 ? rows_of_all_pairs (n, edges, n_pairs, *c)
                                                : predict_cost_rows (n, edges, n_pairs);
}
