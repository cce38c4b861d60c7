/* cost_graph_fixture.c - graphs and what holds of their parts, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/group/cost_graph_fixture.h"

PredictCostRows *
cost_graph_random (uint32_t n, double share, BaseRandom *random)
{
  g_autoptr (GArray) edges = g_array_new (FALSE, FALSE, sizeof (PredictCostEdge));

  for (uint32_t a = 0; a < n; a++)
    for (uint32_t b = a + 1; b < n; b++)
      if (base_random_unit (random) < share) {
        PredictCostEdge edge = { a, b, 1 + (double) base_random_below (random, 99) };

        g_array_append_val (edges, edge);
      }
  return predict_cost_rows (n, (PredictCostEdge *) edges->data, edges->len);
}

void
cost_graph_assert_sizes (const uint32_t *part, uint32_t n, uint32_t n_parts)
{
  g_autofree uint32_t *size = g_new0 (uint32_t, n_parts);

  for (uint32_t task = 0; task < n; task++)
    size[part[task]]++;
  for (uint32_t p = 0; p < n_parts; p++) {
    g_assert_cmpuint (size[p], >=, n / n_parts);
    g_assert_cmpuint (size[p], <=, (n + n_parts - 1) / n_parts);
  }
}
