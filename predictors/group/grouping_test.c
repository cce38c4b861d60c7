/* grouping_test.c - groups against the best of all that there are, and in time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/group/cost_graph_fixture.h"
#include "predictors/group/grouping.h"
#include "predictors/group/grouping_start.h"

#include <time.h>

/* The least cut of tasks `task` and on, by trying all; the parts before are numbered as they come,
 * so that each partition is met once. */
static int64_t
least_cut (const PredictCostGraph *graph, uint32_t n_parts, uint32_t task, uint32_t n_used,
           uint32_t *size, uint32_t *part)
{
  uint32_t most = (graph->n + n_parts - 1) / n_parts, n_large = 0;
  int64_t least = INT64_MAX;

  if (task == graph->n) {
    for (uint32_t p = 0; p < n_parts; p++)
      if (size[p] < graph->n / n_parts)
        return INT64_MAX;
    return predict_cut (graph, part);
  }
  for (uint32_t p = 0; p < n_parts; p++)
    n_large += size[p] > graph->n / n_parts;
  for (uint32_t p = 0; p < n_parts && p <= n_used; p++) {
    if (size[p] >= most || (size[p] == graph->n / n_parts && n_large == graph->n % n_parts))
      continue;
    size[p]++;
    part[task] = p;
    least = MIN (least, least_cut (graph, n_parts, task + 1, n_used + (p == n_used), size, part));
    size[p]--;
  }
  return least;
}

static void
test_best_of_all (void)
{
  static const struct {
    uint32_t n, n_parts;
    double share;
  } cases[] = { { 8, 2, 0.5 }, { 8, 4, 1 },    { 9, 2, 0.4 },  { 10, 3, 0.4 }, { 10, 4, 0.7 },
                { 12, 2, 1 },  { 12, 3, 0.3 }, { 11, 5, 0.5 }, { 12, 6, 0.4 }, { 5, 5, 1 } };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    for (uint32_t round = 0; round < 4; round++) {
      BaseRandom random = base_random_stream (round, i);
      g_autoptr (PredictCostRows) rows = cost_graph_random (cases[i].n, cases[i].share, &random);
      const PredictGroupOptions options = { .n_parts = cases[i].n_parts,
                                            .n_starts = 4,
                                            .work = PREDICT_GROUP_WORK };
      g_autoptr (PredictGroups) groups = predict_group (&rows->graph, &options);
      uint32_t size[12] = { 0 }, part[12];

      cost_graph_assert_sizes (groups->part, cases[i].n, cases[i].n_parts);
      g_assert_cmpint (groups->cut, ==, predict_cut (&rows->graph, groups->part));
      g_assert_cmpint (groups->cut, ==,
                       least_cut (&rows->graph, cases[i].n_parts, 0, 0, size, part));
    }
}

/* The paper: "a reasonable probability of finding the optimal partition". */
static void
test_paper_mostly_finds_the_best (void)
{
  uint32_t n_best = 0;

  for (uint32_t round = 0; round < 100; round++) {
    BaseRandom random = base_random_stream (round, 99);
    g_autoptr (PredictCostRows) rows = cost_graph_random (8, 1, &random);
    const PredictGroupOptions options = { .n_parts = 2 };
    g_autoptr (PredictGroups) groups = predict_group (&rows->graph, &options);
    uint32_t size[2] = { 0 }, part[8];

    g_assert_cmpuint (groups->trials->len, ==, 1);
    n_best += groups->cut == least_cut (&rows->graph, 2, 0, 0, size, part);
  }
  g_assert_cmpuint (n_best, >=, 60);
}

/* Cliques of 8 that were dealt out one by one, and tasks without any edge. */
static void
test_disconnected (void)
{
  g_autoptr (GArray) edges = g_array_new (FALSE, FALSE, sizeof (PredictCostEdge));
  const PredictGroupOptions options = { .n_parts = 5, .n_starts = 8, .work = PREDICT_GROUP_WORK };
  g_autoptr (PredictCostRows) rows = NULL;
  g_autoptr (PredictGroups) groups = NULL;

  for (uint32_t a = 0; a < 32; a++)
    for (uint32_t b = a + 4; b < 32; b += 4) {
      PredictCostEdge edge = { a, b, 1 };

      g_array_append_val (edges, edge);
    }
  rows = predict_cost_rows (40, (PredictCostEdge *) edges->data, edges->len);
  groups = predict_group (&rows->graph, &options);
  g_assert_cmpint (groups->cut, ==, 0);
  cost_graph_assert_sizes (groups->part, 40, 5);
  for (uint32_t task = 0; task < 40; task++)
    g_assert_cmpuint (groups->part[task], ==, task < 32 ? task % 4 : 4);
}

static void
test_no_edges_at_all (void)
{
  g_autoptr (PredictCostRows) rows = predict_cost_rows (7, NULL, 0);
  const PredictGroupOptions options = { .n_parts = 3, .n_starts = 8, .work = PREDICT_GROUP_WORK };
  g_autoptr (PredictGroups) groups = predict_group (&rows->graph, &options);

  g_assert_cmpint (groups->cut, ==, 0);
  cost_graph_assert_sizes (groups->part, 7, 3);
}

static void
test_starts_have_exact_sizes (void)
{
  static const uint32_t n_parts[] = { 1, 2, 3, 7, 16, 50 };
  BaseRandom random = base_random_stream (5, 0);
  g_autoptr (PredictCostRows) rows = cost_graph_random (50, 0.1, &random);
  uint32_t part[50];

  for (gsize i = 0; i < G_N_ELEMENTS (n_parts); i++) {
    predict_start_block (50, n_parts[i], part);
    cost_graph_assert_sizes (part, 50, n_parts[i]);
    predict_start_round_robin (50, n_parts[i], part);
    cost_graph_assert_sizes (part, 50, n_parts[i]);
    predict_start_random (50, n_parts[i], &random, part);
    cost_graph_assert_sizes (part, 50, n_parts[i]);
    predict_start_greedy (&rows->graph, n_parts[i], part);
    cost_graph_assert_sizes (part, 50, n_parts[i]);
    predict_start_halves (&rows->graph, n_parts[i], part);
    cost_graph_assert_sizes (part, 50, n_parts[i]);
  }
}

/* The same seed gives the same groups; a given start is never made worse. */
static void
test_same_seed_and_given_start (void)
{
  BaseRandom random = base_random_stream (6, 0);
  g_autoptr (PredictCostRows) rows = cost_graph_random (64, 0.2, &random);
  uint32_t part[64];
  PredictGroupStart given = { "mine", part };
  const PredictGroupOptions options = { .n_parts = 8,
                                        .n_starts = 6,
                                        .seed = 4,
                                        .given = &given,
                                        .n_given = 1,
                                        .work = PREDICT_GROUP_WORK / 50 };
  g_autoptr (PredictGroups) once = NULL, again = NULL;

  predict_start_random (64, 8, &random, part);
  once = predict_group (&rows->graph, &options);
  again = predict_group (&rows->graph, &options);
  g_assert_cmpmem (once->part, sizeof part, again->part, sizeof part);
  g_assert_cmpstr (g_array_index (once->trials, PredictGroupTrial, 0).name, ==, "mine");
  g_assert_cmpint (g_array_index (once->trials, PredictGroupTrial, 0).cut_start, ==,
                   predict_cut (&rows->graph, part));
  for (guint i = 0; i < once->trials->len; i++) {
    const PredictGroupTrial *trial = &g_array_index (once->trials, PredictGroupTrial, i);

    g_assert_cmpint (trial->cut_bettered, <=, trial->cut_start);
    g_assert_cmpint (trial->cut, <=, trial->cut_bettered);
    g_assert_cmpint (once->cut, <=, trial->cut);
  }
}

/* 1,024 ranks on 128 nodes in less than 2 s of processor time, sparse (a torus of 32 x 32) and dense. */
static void
test_thousand_ranks_in_time (void)
{
  g_autoptr (GArray) edges = g_array_new (FALSE, FALSE, sizeof (PredictCostEdge));
  const PredictGroupOptions options = { .n_parts = 128,
                                        .n_starts = PREDICT_GROUP_STARTS,
                                        .work = PREDICT_GROUP_WORK };

  for (uint32_t is_dense = 0; is_dense < 2; is_dense++) {
    g_autoptr (PredictCostRows) rows = NULL;
    g_autoptr (PredictGroups) groups = NULL;
    clock_t begun;
    double s;

    g_array_set_size (edges, 0);
    for (uint32_t a = 0; a < 1024; a++)
      for (uint32_t b = a + 1; b < 1024; b++) {
        uint32_t dx = b % 32 - a % 32, dy = b / 32 - a / 32;
        gboolean is_near = (dx == 0 && (dy == 1 || dy == 31)) || (dy == 0 && (dx == 1 || dx == 31));
        PredictCostEdge edge = { a, b, 1000.0 * is_near + is_dense * ((a * 7 + b * 13) % 17) };

        if (edge.cost > 0)
          g_array_append_val (edges, edge);
      }
    rows = predict_cost_rows (1024, (PredictCostEdge *) edges->data, edges->len);
    begun = clock ();
    groups = predict_group (&rows->graph, &options);
    s = (double) (clock () - begun) / CLOCKS_PER_SEC;
    g_test_message ("%s: %.2f s, cut %" G_GINT64_FORMAT, is_dense ? "dense" : "sparse", s,
                    groups->cut);
    cost_graph_assert_sizes (groups->part, 1024, 128);
#ifndef WITH_SANITIZERS
    g_assert_cmpfloat (s, <, 2);
#endif
    /* Boxes of 4 x 2 have 12 edges outwards each: nothing has fewer. */
    if (!is_dense)
      g_assert_cmpint (groups->cut, >=, 128 * 12 / 2 * 1000);
    g_assert_cmpint (groups->cut, <=, 128 * 12 / 2 * 1000 * (is_dense ? 10 : 1.05));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/group/best-of-all", test_best_of_all);
  g_test_add_func ("/predictors/group/paper", test_paper_mostly_finds_the_best);
  g_test_add_func ("/predictors/group/disconnected", test_disconnected);
  g_test_add_func ("/predictors/group/no-edges", test_no_edges_at_all);
  g_test_add_func ("/predictors/group/starts", test_starts_have_exact_sizes);
  g_test_add_func ("/predictors/group/same-seed", test_same_seed_and_given_start);
  g_test_add_func ("/predictors/group/in-time", test_thousand_ranks_in_time);
  return g_test_run ();
}
