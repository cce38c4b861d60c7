/* kernighan_lin_test.c - exchanges worked by hand, sizes, and what must hold at the end.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/group/cost_graph_fixture.h"
#include "predictors/group/kernighan_lin.h"

/* The block start of parts that differ by a task at most. */
static PredictParts *
parts_new (const PredictCostGraph *graph, uint32_t n_parts)
{
  g_autofree uint32_t *size = g_new (uint32_t, n_parts), *room = g_new (uint32_t, n_parts);

  for (uint32_t p = 0; p < n_parts; p++) {
    size[p] = graph->n / n_parts + (p < graph->n % n_parts);
    room[p] = (graph->n + n_parts - 1) / n_parts;
  }
  return predict_parts_new (graph, n_parts, size, room);
}

/* Parts {0 1 2 3} and {4 5 6 7}; 0-1, 2-3, 4-5 and 6-7 cost 5, 0-6, 1-7, 2-4 and 3-5 cost 3, so that
 * the cut is 12 and every difference 3 - 5 = -2.  By hand: 0 and 4 are set aside first, gain -4.
 * Then 1 and 5, which have become 3 + 5 each, gain 16; 2 and 6 lose 16, 3 and 7 gain 4, 0 together.
 * The first two pairs gain 12, which is all: any single exchange would have lost. */
static void
test_by_hand (void)
{
  static const PredictCostEdge edges[] = { { 0, 1, 5 }, { 0, 6, 3 }, { 1, 7, 3 }, { 2, 3, 5 },
                                           { 2, 4, 3 }, { 3, 5, 3 }, { 4, 5, 5 }, { 6, 7, 5 } };
  static const uint32_t expected[] = { 1, 1, 0, 0, 0, 0, 1, 1 };
  g_autoptr (PredictCostRows) rows = predict_cost_rows (8, edges, G_N_ELEMENTS (edges));
  g_autoptr (PredictParts) parts = parts_new (&rows->graph, 2);

  g_assert_cmpint (predict_parts_cut (parts), ==, 12);
  for (uint32_t a = 0; a < 4; a++)
    for (uint32_t b = 4; b < 8; b++) {
      predict_parts_exchange (parts, a, b);
      g_assert_cmpint (predict_parts_cut (parts), >=, 12 + 4);
      predict_parts_take_back (parts);
    }
  predict_parts_better (parts);
  g_assert_cmpint (predict_parts_cut (parts), ==, 0);
  g_assert_cmpmem (predict_parts_of (parts), sizeof expected, expected, sizeof expected);
}

/* Five tasks in parts of 3 and 2, where {0 1} and {2 3 4} cost nothing: the other part must become
 * the larger one, which an exchange of tasks cannot do. */
static void
test_larger_part_changes (void)
{
  static const PredictCostEdge edges[] = { { 0, 1, 1 }, { 2, 3, 1 }, { 2, 4, 1 }, { 3, 4, 1 } };
  g_autoptr (PredictCostRows) rows = predict_cost_rows (5, edges, G_N_ELEMENTS (edges));
  g_autoptr (PredictParts) parts = parts_new (&rows->graph, 2);

  g_assert_cmpint (predict_parts_cut (parts), ==, 2);
  predict_parts_better (parts);
  g_assert_cmpint (predict_parts_cut (parts), ==, 0);
  predict_parts_take_back (parts);
  g_assert_cmpint (predict_parts_cut (parts), ==, 2);
  g_assert_cmpint (predict_cut (&rows->graph, predict_parts_of (parts)), ==, 2);
}

/* Sparse and dense graphs, small and large parts: the cut is kept in step, sizes are, and no exchange
 * of one pair of tasks betters what is left. */
static void
test_no_exchange_is_left (void)
{
  static const struct {
    uint32_t n, n_parts;
    double share;
  } cases[] = { { 16, 4, 1 },     { 16, 4, 0.3 }, { 23, 5, 0.5 },   { 60, 7, 0.1 },
                { 160, 2, 0.05 }, { 150, 2, 1 },  { 301, 2, 0.02 }, { 200, 3, 0.3 },
                { 12, 12, 0.5 },  { 7, 1, 1 },    { 40, 6, 0 },     { 65, 32, 0.2 } };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    BaseRandom random = base_random_stream (1, i);
    g_autoptr (PredictCostRows) rows = cost_graph_random (cases[i].n, cases[i].share, &random);
    g_autoptr (PredictParts) parts = parts_new (&rows->graph, cases[i].n_parts);
    int64_t before = predict_parts_cut (parts), cut;

    predict_parts_better (parts);
    cut = predict_parts_cut (parts);
    predict_parts_keep (parts);
    g_assert_cmpint (cut, <=, before);
    g_assert_cmpint (cut, ==, predict_cut (&rows->graph, predict_parts_of (parts)));
    cost_graph_assert_sizes (predict_parts_of (parts), cases[i].n, cases[i].n_parts);
    for (uint32_t a = 0; a < cases[i].n; a++)
      for (uint32_t b = 0; b < a; b++)
        if (predict_parts_of (parts)[a] != predict_parts_of (parts)[b]) {
          predict_parts_exchange (parts, a, b);
          g_assert_cmpint (predict_parts_cut (parts), >=, cut);
          predict_parts_take_back (parts);
        }
  }
}

/* What 100 exchanges cost adds up, and is taken back. */
static void
test_exchanges_are_taken_back (void)
{
  BaseRandom random = base_random_stream (2, 0);
  g_autoptr (PredictCostRows) rows = cost_graph_random (30, 0.4, &random);
  g_autoptr (PredictParts) parts = parts_new (&rows->graph, 4);
  g_autofree uint32_t *kept = g_memdup2 (predict_parts_of (parts), 30 * sizeof *kept);
  int64_t cut = predict_parts_cut (parts);

  for (uint32_t i = 0; i < 100; i++) {
    uint32_t a = (uint32_t) base_random_below (&random, 30);
    uint32_t b = (uint32_t) base_random_below (&random, 30);

    if (predict_parts_of (parts)[a] == predict_parts_of (parts)[b])
      continue;
    predict_parts_exchange (parts, a, b);
    g_assert_cmpint (predict_parts_cut (parts), ==,
                     predict_cut (&rows->graph, predict_parts_of (parts)));
  }
  predict_parts_better (parts);
  predict_parts_take_back (parts);
  g_assert_cmpint (predict_parts_cut (parts), ==, cut);
  g_assert_cmpmem (predict_parts_of (parts), 30 * sizeof *kept, kept, 30 * sizeof *kept);
}

/* Two halves of 150 tasks, each well connected, dealt out one by one, with 5 edges between: the parts
 * are larger than those whose costs are copied. */
static void
test_planted_halves (void)
{
  BaseRandom random = base_random_stream (3, 0);
  g_autoptr (GArray) edges = g_array_new (FALSE, FALSE, sizeof (PredictCostEdge));
  g_autoptr (PredictCostRows) rows = NULL;
  g_autoptr (PredictParts) parts = NULL;

  for (uint32_t a = 0; a < 300; a++)
    for (uint32_t b = a + 1; b < 300; b++) {
      PredictCostEdge edge = { a, b, a % 2 == b % 2 ? 10 : 1 };
      gboolean is_bridge = b == a + 1 && a % 60 == 0;

      if (is_bridge || (a % 2 == b % 2 && base_random_unit (&random) < 0.1))
        g_array_append_val (edges, edge);
    }
  rows = predict_cost_rows (300, (PredictCostEdge *) edges->data, edges->len);
  parts = parts_new (&rows->graph, 2);
  predict_parts_better (parts);
  g_assert_cmpint (predict_parts_cut (parts), ==, 5);
}

static void
test_costs_are_scaled (void)
{
  static const PredictCostEdge whole[] = { { 0, 1, 3 }, { 0, 2, 0 }, { 1, 2, 4e9 } };
  static const PredictCostEdge real[] = { { 0, 1, 0.25 }, { 1, 2, 1.0 / 3 } };
  g_autoptr (PredictCostRows) of_whole = predict_cost_rows (3, whole, 3);
  g_autoptr (PredictCostRows) of_real = predict_cost_rows (3, real, 2);

  g_assert_cmpint (of_whole->exponent, ==, 0);
  g_assert_cmpuint (of_whole->first[3], ==, 4);
  g_assert_cmpint (of_whole->cost[0], ==, 3);
  g_assert_cmpint (of_whole->cost[3], ==, INT64_C (4000000000));
  g_assert_cmpuint (of_whole->neighbour[1], ==, 0);
  g_assert_cmpuint (of_whole->neighbour[2], ==, 2);
  /* 7/12 < 2^0. */
  g_assert_cmpint (of_real->exponent, ==, 59);
  g_assert_cmpint (of_real->cost[0], ==, INT64_C (1) << 57);
}

static void
test_rows_among (void)
{
  static const PredictCostEdge edges[] = { { 0, 1, 1 }, { 1, 3, 2 }, { 2, 3, 3 }, { 3, 4, 4 } };
  static const uint32_t tasks[] = { 1, 3, 4 };
  g_autoptr (PredictCostRows) all = predict_cost_rows (5, edges, G_N_ELEMENTS (edges));
  g_autoptr (PredictCostRows) rows = predict_cost_rows_among (&all->graph, tasks, 3);
  static const uint64_t first[] = { 0, 1, 3, 4 };
  static const uint32_t neighbour[] = { 1, 0, 2, 1 };
  static const int64_t cost[] = { 2, 2, 4, 4 };

  g_assert_cmpmem (rows->first, sizeof first, first, sizeof first);
  g_assert_cmpmem (rows->neighbour, sizeof neighbour, neighbour, sizeof neighbour);
  g_assert_cmpmem (rows->cost, sizeof cost, cost, sizeof cost);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/kernighan-lin/by-hand", test_by_hand);
  g_test_add_func ("/predictors/kernighan-lin/larger-part-changes", test_larger_part_changes);
  g_test_add_func ("/predictors/kernighan-lin/no-exchange-is-left", test_no_exchange_is_left);
  g_test_add_func ("/predictors/kernighan-lin/taken-back", test_exchanges_are_taken_back);
  g_test_add_func ("/predictors/kernighan-lin/planted-halves", test_planted_halves);
  g_test_add_func ("/predictors/kernighan-lin/costs-are-scaled", test_costs_are_scaled);
  g_test_add_func ("/predictors/kernighan-lin/rows-among", test_rows_among);
  return g_test_run ();
}
