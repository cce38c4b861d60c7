/* cost_graph_test.c - rows of graphs, and equation 4 worked by hand.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/group/cost_graph.h"

#include <math.h>

/* Times whose mean is 3 s: 0-1 is faster within by 2 s, 1-2 slower by 1 s, 2-3 by 4 s, 0-3 equal. */
static const PredictPairTime pairs[] = {
  { 0, 1, 2, 4 }, { 0, 3, 3, 3 }, { 1, 2, 2.5, 1.5 }, { 2, 3, 6, 2 }
};

/* The cost of an edge in its own unit; 0 when there is none. */
static double
cost_of (const PredictCostRows *rows, uint32_t a, uint32_t b)
{
  for (uint64_t e = rows->first[a]; e < rows->first[a + 1]; e++)
    if (rows->neighbour[e] == b)
      return ldexp ((double) rows->cost[e], -rows->exponent);
  return 0;
}

static void
assert_near (double found, double expected)
{
  g_assert_cmpfloat_with_epsilon (found, expected, 1e-12 * fmax (fabs (expected), 1e-9));
}

/* Times whose mean is 3 s, in pairs of the tasks 0 to 3.  Literally: 1/1 and 1/4; C = 2^2 * max (1,
 * 1/4) = 4, also for the pairs 0-2 and 1-3 that send nothing.  Normalised by
 * a mean of 3 s: 1/(1/3), 1/(4/3), C = 4 * 3, gains 2/3 and 0. */
static void
test_by_hand (void)
{
  static const struct {
    PredictCostForm form;
    double c, costs[4][4]; /* above the diagonal */
  } cases[] = {
    { PREDICT_COST_LITERAL, 4, { { 0, 6, 4, 4 }, { 0, 0, 1, 4 }, { 0, 0, 0, 0.25 } } },
    { PREDICT_COST_NORMALISED,
      12,
      { { 0, 12 + 2.0 / 3, 0, 12 }, { 0, 0, 3, 0 }, { 0, 0, 0, 0.75 } } },
  };
  /* Nearly equal times: 1e9 literally, at most 1 / PREDICT_LEAST_LOSS normalised. */
  static const PredictPairTime near[] = { { 0, 1, 1 + 1e-9, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    double c, c_near;
    g_autoptr (PredictCostRows) rows =
        predict_edge_costs (4, pairs, G_N_ELEMENTS (pairs), 2, cases[i].form, &c);
    g_autoptr (PredictCostRows) of_near =
        predict_edge_costs (2, near, 1, 1, cases[i].form, &c_near);

    g_test_message ("form %u", i);
    assert_near (c, cases[i].c);
    for (uint32_t a = 0; a < 4; a++)
      for (uint32_t b = a + 1; b < 4; b++) {
        assert_near (cost_of (rows, a, b), cases[i].costs[a][b]);
        assert_near (cost_of (rows, b, a), cases[i].costs[a][b]);
      }
    g_assert_cmpuint (rows->first[4], ==, cases[i].form == PREDICT_COST_NORMALISED ? 8 : 12);
    g_assert_cmpfloat (cost_of (of_near, 0, 1), >,
                       cases[i].form == PREDICT_COST_NORMALISED ? 99.9999 : 0.99e9);
    if (cases[i].form == PREDICT_COST_NORMALISED)
      assert_near (cost_of (of_near, 0, 1), 100);
  }
}

/* Normalised costs do not depend on the unit of time. */
static void
test_unit_of_time (void)
{
  PredictPairTime in_us[G_N_ELEMENTS (pairs)];
  double c, c_us;
  g_autoptr (PredictCostRows) rows = NULL, of_us = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (pairs); i++)
    in_us[i] = (PredictPairTime){ pairs[i].a, pairs[i].b, pairs[i].within_s * 1e6,
                                  pairs[i].between_s * 1e6 };
  rows = predict_edge_costs (4, pairs, G_N_ELEMENTS (pairs), 2, PREDICT_COST_NORMALISED, &c);
  of_us = predict_edge_costs (4, in_us, G_N_ELEMENTS (pairs), 2, PREDICT_COST_NORMALISED, &c_us);
  assert_near (c_us, c);
  assert_near (cost_of (of_us, 0, 1), cost_of (rows, 0, 1));
}

/* No pair gains between nodes: C is 0, and pairs that send nothing have no edge in the literal form either. */
static void
test_all_gain_within (void)
{
  static const PredictPairTime two[] = { { 0, 1, 1, 2 }, { 1, 2, 1, 4 } };
  double c;
  g_autoptr (PredictCostRows) rows = predict_edge_costs (3, two, 2, 2, PREDICT_COST_LITERAL, &c);

  g_assert_cmpfloat (c, ==, 0);
  assert_near (cost_of (rows, 0, 1), 1);
  assert_near (cost_of (rows, 1, 2), 3);
  g_assert_cmpfloat (cost_of (rows, 0, 2), ==, 0);
}

/* 8 bytes take 1 s and 2 s, 16 bytes 3 s and 2 s. */
static void
test_messages (void)
{
  static const double bytes[] = { 8, 16 }, within_s[] = { 1, 3 }, between_s[] = { 2, 2 };
  static const double cases[][2] = { { 0, 1 }, { 8, 1 }, { 12, 2 }, { 16, 3 }, { 32, 7 } };
  const PredictPingPong table = { 2, bytes, within_s, between_s };
  PredictPairTime pair = { 0, 1, 0, 0 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    PredictPairTime one = { 0, 1, 0, 0 };

    predict_pair_add (&table, &one, 1, cases[i][0]);
    assert_near (one.within_s, cases[i][1]);
    assert_near (one.between_s, 2);
  }
  predict_pair_add (&table, &pair, 10, 12);
  predict_pair_add (&table, &pair, 1, 1);
  assert_near (pair.within_s, 21);
  assert_near (pair.between_s, 22);
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
  g_test_add_func ("/predictors/edge-cost/by-hand", test_by_hand);
  g_test_add_func ("/predictors/edge-cost/unit", test_unit_of_time);
  g_test_add_func ("/predictors/edge-cost/all-within", test_all_gain_within);
  g_test_add_func ("/predictors/edge-cost/messages", test_messages);
  g_test_add_func ("/predictors/cost-graph/costs-are-scaled", test_costs_are_scaled);
  g_test_add_func ("/predictors/cost-graph/rows-among", test_rows_among);
  return g_test_run ();
}
