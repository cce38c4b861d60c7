/* grouping_test.c - exchanges worked by hand, groups against the best of all partitions, and in time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/group/grouping.h"

#include "base/random.h"
#include "predictors/group/kernighan_lin.h"

#include <time.h>

static PredictCostRows *
random_rows (uint32_t n, double share, BaseRandom *random)
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

static void
assert_sizes (const uint32_t *part, uint32_t n, uint32_t n_parts)
{
  g_autofree uint32_t *size = g_new0 (uint32_t, n_parts);

  for (uint32_t task = 0; task < n; task++)
    size[part[task]]++;
  for (uint32_t p = 0; p < n_parts; p++) {
    g_assert_cmpuint (size[p], >=, n / n_parts);
    g_assert_cmpuint (size[p], <=, (n + n_parts - 1) / n_parts);
  }
}

/* --- The procedure of Kernighan and Lin --- */

/* The block start of parts that differ by a task at most. */
static PredictPartition *
parts_new (const PredictCostGraph *graph, uint32_t n_parts)
{
  g_autofree uint32_t *size = g_new (uint32_t, n_parts), *room = g_new (uint32_t, n_parts);

  for (uint32_t p = 0; p < n_parts; p++) {
    size[p] = graph->n / n_parts + (p < graph->n % n_parts);
    room[p] = (graph->n + n_parts - 1) / n_parts;
  }
  return predict_partition_new (graph, n_parts, size, room);
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
  g_autoptr (PredictPartition) parts = parts_new (&rows->graph, 2);

  g_assert_cmpint (predict_partition_cut (parts), ==, 12);
  for (uint32_t a = 0; a < 4; a++)
    for (uint32_t b = 4; b < 8; b++) {
      predict_partition_exchange (parts, a, b);
      g_assert_cmpint (predict_partition_cut (parts), >=, 12 + 4);
      predict_partition_undo (parts);
    }
  predict_partition_improve (parts);
  g_assert_cmpint (predict_partition_cut (parts), ==, 0);
  g_assert_cmpmem (predict_partition_of (parts), sizeof expected, expected, sizeof expected);
}

/* Five tasks in parts of 3 and 2, where {0 1} and {2 3 4} cost nothing: the other part must become
 * the larger one, which an exchange of tasks cannot do. */
static void
test_larger_part_changes (void)
{
  static const PredictCostEdge edges[] = { { 0, 1, 1 }, { 2, 3, 1 }, { 2, 4, 1 }, { 3, 4, 1 } };
  g_autoptr (PredictCostRows) rows = predict_cost_rows (5, edges, G_N_ELEMENTS (edges));
  g_autoptr (PredictPartition) parts = parts_new (&rows->graph, 2);

  g_assert_cmpint (predict_partition_cut (parts), ==, 2);
  predict_partition_improve (parts);
  g_assert_cmpint (predict_partition_cut (parts), ==, 0);
  predict_partition_undo (parts);
  g_assert_cmpint (predict_partition_cut (parts), ==, 2);
  g_assert_cmpint (predict_cut (&rows->graph, predict_partition_of (parts)), ==, 2);
}

/* Sparse and dense graphs, small and large parts: the cut is kept in step, sizes are, and no exchange
 * of one pair of tasks would gain. */
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
    g_autoptr (PredictCostRows) rows = random_rows (cases[i].n, cases[i].share, &random);
    g_autoptr (PredictPartition) parts = parts_new (&rows->graph, cases[i].n_parts);
    int64_t before = predict_partition_cut (parts), cut;

    predict_partition_improve (parts);
    cut = predict_partition_cut (parts);
    predict_partition_keep (parts);
    g_assert_cmpint (cut, <=, before);
    g_assert_cmpint (cut, ==, predict_cut (&rows->graph, predict_partition_of (parts)));
    assert_sizes (predict_partition_of (parts), cases[i].n, cases[i].n_parts);
    for (uint32_t a = 0; a < cases[i].n; a++)
      for (uint32_t b = 0; b < a; b++)
        if (predict_partition_of (parts)[a] != predict_partition_of (parts)[b]) {
          predict_partition_exchange (parts, a, b);
          g_assert_cmpint (predict_partition_cut (parts), >=, cut);
          predict_partition_undo (parts);
        }
  }
}

/* The costs of 100 exchanges add up, and are undone. */
static void
test_exchanges_are_taken_back (void)
{
  BaseRandom random = base_random_stream (2, 0);
  g_autoptr (PredictCostRows) rows = random_rows (30, 0.4, &random);
  g_autoptr (PredictPartition) parts = parts_new (&rows->graph, 4);
  g_autofree uint32_t *kept = g_memdup2 (predict_partition_of (parts), 30 * sizeof *kept);
  int64_t cut = predict_partition_cut (parts);

  for (uint32_t i = 0; i < 100; i++) {
    uint32_t a = (uint32_t) base_random_below (&random, 30);
    uint32_t b = (uint32_t) base_random_below (&random, 30);

    if (predict_partition_of (parts)[a] == predict_partition_of (parts)[b])
      continue;
    predict_partition_exchange (parts, a, b);
    g_assert_cmpint (predict_partition_cut (parts), ==,
                     predict_cut (&rows->graph, predict_partition_of (parts)));
  }
  predict_partition_improve (parts);
  predict_partition_undo (parts);
  g_assert_cmpint (predict_partition_cut (parts), ==, cut);
  g_assert_cmpmem (predict_partition_of (parts), 30 * sizeof *kept, kept, 30 * sizeof *kept);
}

/* Two halves of 150 tasks, each well connected, dealt out one by one, with 5 edges between: the parts
 * are larger than those whose costs are copied. */
static void
test_planted_halves (void)
{
  BaseRandom random = base_random_stream (3, 0);
  g_autoptr (GArray) edges = g_array_new (FALSE, FALSE, sizeof (PredictCostEdge));
  g_autoptr (PredictCostRows) rows = NULL;
  g_autoptr (PredictPartition) parts = NULL;

  for (uint32_t a = 0; a < 300; a++)
    for (uint32_t b = a + 1; b < 300; b++) {
      PredictCostEdge edge = { a, b, a % 2 == b % 2 ? 10 : 1 };
      gboolean is_bridge = b == a + 1 && a % 60 == 0;

      if (is_bridge || (a % 2 == b % 2 && base_random_unit (&random) < 0.1))
        g_array_append_val (edges, edge);
    }
  rows = predict_cost_rows (300, (PredictCostEdge *) edges->data, edges->len);
  parts = parts_new (&rows->graph, 2);
  predict_partition_improve (parts);
  g_assert_cmpint (predict_partition_cut (parts), ==, 5);
}

/* --- Many starts --- */

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
    int64_t cut;

    if (size[p] >= most || (size[p] == graph->n / n_parts && n_large == graph->n % n_parts))
      continue;
    size[p]++;
    part[task] = p;
    cut = least_cut (graph, n_parts, task + 1, n_used + (p == n_used), size, part);
    least = MIN (least, cut);
    size[p]--;
  }
  return least;
}

/* The last two have nothing to cut: no edges at all, and one part. */
static void
test_best_of_all (void)
{
  static const struct {
    uint32_t n, n_parts;
    double share;
  } cases[] = { { 8, 2, 0.5 },  { 8, 4, 1 },  { 9, 2, 0.4 },  { 10, 3, 0.4 },
                { 10, 4, 0.7 }, { 12, 2, 1 }, { 12, 3, 0.3 }, { 11, 5, 0.5 },
                { 12, 6, 0.4 }, { 5, 5, 1 },  { 7, 3, 0 },    { 50, 1, 0.1 } };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    for (uint32_t round = 0; round < 4; round++) {
      BaseRandom random = base_random_stream (round, i);
      g_autoptr (PredictCostRows) rows = random_rows (cases[i].n, cases[i].share, &random);
      const PredictGroupOptions options = { .n_parts = cases[i].n_parts,
                                            .n_starts = 4,
                                            .work = PREDICT_GROUP_WORK };
      g_autoptr (PredictGroups) groups = predict_group (&rows->graph, &options);
      uint32_t size[12] = { 0 }, part[50];

      assert_sizes (groups->part, cases[i].n, cases[i].n_parts);
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
    g_autoptr (PredictCostRows) rows = random_rows (8, 1, &random);
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
  assert_sizes (groups->part, 40, 5);
  for (uint32_t task = 0; task < 40; task++)
    g_assert_cmpuint (groups->part[task], ==, task < 32 ? task % 4 : 4);
}

/* A partition refuses parts whose sizes differ by more than a task: all starts pass. */
static void
test_starts_have_exact_sizes (void)
{
  static const char *const names[] = { "block", "round robin", "greedy", "halves", "random 1" };
  static const uint32_t n_parts[] = { 2, 3, 7, 16, 49 };
  BaseRandom random = base_random_stream (5, 0);
  g_autoptr (PredictCostRows) rows = random_rows (50, 0.1, &random);

  for (gsize i = 0; i < G_N_ELEMENTS (n_parts); i++) {
    const PredictGroupOptions options = { .n_parts = n_parts[i],
                                          .n_starts = 5,
                                          .work = PREDICT_GROUP_WORK / 20 };
    g_autoptr (PredictGroups) groups = predict_group (&rows->graph, &options);

    g_assert_cmpuint (groups->trials->len, ==, G_N_ELEMENTS (names));
    for (guint at = 0; at < groups->trials->len; at++)
      g_assert_cmpstr (g_array_index (groups->trials, PredictGroupTrial, at).name, ==, names[at]);
    assert_sizes (groups->part, 50, n_parts[i]);
  }
}

/* The same seed gives the same groups; a given start is never made worse. */
static void
test_same_seed_and_given_start (void)
{
  BaseRandom random = base_random_stream (6, 0);
  g_autoptr (PredictCostRows) rows = random_rows (64, 0.2, &random);
  uint32_t part[64];
  PredictGroupStart given = { "mine", part };
  const PredictGroupOptions options = { .n_parts = 8,
                                        .n_starts = 6,
                                        .seed = 4,
                                        .given = &given,
                                        .n_given = 1,
                                        .work = PREDICT_GROUP_WORK / 50 };
  g_autoptr (PredictGroups) once = NULL, again = NULL;

  for (uint32_t task = 0; task < 64; task++)
    part[task] = task * 5 % 64 % 8;
  once = predict_group (&rows->graph, &options);
  again = predict_group (&rows->graph, &options);
  g_assert_cmpmem (once->part, sizeof part, again->part, sizeof part);
  g_assert_cmpstr (g_array_index (once->trials, PredictGroupTrial, 0).name, ==, "mine");
  g_assert_cmpint (g_array_index (once->trials, PredictGroupTrial, 0).cut_start, ==,
                   predict_cut (&rows->graph, part));
  for (guint i = 0; i < once->trials->len; i++) {
    const PredictGroupTrial *trial = &g_array_index (once->trials, PredictGroupTrial, i);

    g_assert_cmpint (trial->cut_improved, <=, trial->cut_start);
    g_assert_cmpint (trial->cut, <=, trial->cut_improved);
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
    assert_sizes (groups->part, 1024, 128);
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
  g_test_add_func ("/predictors/kernighan-lin/by-hand", test_by_hand);
  g_test_add_func ("/predictors/kernighan-lin/larger-part-changes", test_larger_part_changes);
  g_test_add_func ("/predictors/kernighan-lin/no-exchange-is-left", test_no_exchange_is_left);
  g_test_add_func ("/predictors/kernighan-lin/taken-back", test_exchanges_are_taken_back);
  g_test_add_func ("/predictors/kernighan-lin/planted-halves", test_planted_halves);
  g_test_add_func ("/predictors/group/best-of-all", test_best_of_all);
  g_test_add_func ("/predictors/group/paper", test_paper_mostly_finds_the_best);
  g_test_add_func ("/predictors/group/disconnected", test_disconnected);
  g_test_add_func ("/predictors/group/starts", test_starts_have_exact_sizes);
  g_test_add_func ("/predictors/group/same-seed", test_same_seed_and_given_start);
  g_test_add_func ("/predictors/group/in-time", test_thousand_ranks_in_time);
  return g_test_run ();
}
