/* forest_report_test.c - what is true of a forest as a whole: the same whatever the threads, what is
 * out of bag, progress, and what is none.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/error.h"
#include "predictors/forest/forest.h"
#include "predictors/forest/friedman_testing.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

static PredictSettings
settings_of (PredictMethod method, guint trees)
{
  PredictSettings settings = predict_settings_default (method);

  settings.trees = trees;
  return settings;
}

/* --- Threads and seeds --- */

static void
assert_same (const void *these, const void *others, gsize n_bytes)
{
  g_assert_cmpint (memcmp (these, others, n_bytes), ==, 0);
}

static void
assert_same_forest (const PredictForest *forest, const PredictForest *other)
{
  uint64_t n_nodes = forest->first[forest->n_trees];

  assert_same (forest->first, other->first, (forest->n_trees + 1) * sizeof *forest->first);
  assert_same (forest->nodes, other->nodes, n_nodes * sizeof *forest->nodes);
  assert_same (forest->values, other->values, n_nodes * sizeof *forest->values);
}

static void
test_threads_do_not_matter (void)
{
  PredictSamples *samples = friedman_samples (500, 18, 5);

  for (guint best = 0; best < 2; best++) {
    PredictSettings settings = settings_of (best ? PREDICT_FOREST : PREDICT_EXTRA_TREES, 13);
    PredictForestReport report, other_report;
    g_autoptr (PredictForest) forest = NULL;
    static const guint threads[] = { 0, 2, 5 }; /* 0: one per processor */
    double said[1000], other[1000];

    settings.bootstrap = TRUE;
    settings.max_features = 7;
    settings.threads = 1;
    forest = predict_forest_fit (samples, &settings, &report, NULL, NULL);
    predict_forest_predict (forest, samples, 1, said, said + 500);
    for (guint k = 0; k < G_N_ELEMENTS (threads); k++) {
      g_autoptr (PredictForest) again = NULL;

      settings.threads = threads[k];
      again = predict_forest_fit (samples, &settings, &other_report, NULL, NULL);
      assert_same_forest (forest, again);
      assert_same (report.importances, other_report.importances, 18 * sizeof (double));
      assert_same (report.out_of_bag, other_report.out_of_bag, 500 * sizeof (double));
      assert_same (report.out_of_bag_sd, other_report.out_of_bag_sd, 500 * sizeof (double));
      predict_forest_predict (again, samples, settings.threads, other, other + 500);
      assert_same (said, other, sizeof said);
      predict_forest_report_clear (&other_report);
    }
    predict_forest_report_clear (&report);
  }
  predict_samples_free (samples);
}

static void
test_seeds_matter (void)
{
  PredictSamples *samples = friedman_samples (100, 5, 6);
  PredictSettings settings = settings_of (PREDICT_EXTRA_TREES, 2);
  g_autoptr (PredictForest) forest = predict_forest_fit (samples, &settings, NULL, NULL, NULL);
  g_autoptr (PredictForest) other = NULL;

  settings.seed++;
  other = predict_forest_fit (samples, &settings, NULL, NULL, NULL);
  g_assert_cmpfloat (forest->nodes[0].cut, !=, forest->nodes[forest->first[1]].cut);
  for (guint tree = 0; tree < 2; tree++)
    g_assert_cmpfloat (forest->nodes[0].cut, !=, other->nodes[other->first[tree]].cut);
  predict_samples_free (samples);
}

/* --- Out of bag --- */

/* Stumps that cannot be divided say the mean of their bag, which the test draws again: tree
 * number `tree` begins by drawing n of n samples. */
static void
test_out_of_bag (void)
{
  enum { N = 9, TREES = 6 };
  PredictSamples *samples = friedman_samples (N, 5, 7);
  PredictSettings settings = settings_of (PREDICT_EXTRA_TREES, TREES);
  PredictForestReport report;
  g_autoptr (PredictForest) forest = NULL;
  guint times[TREES][N] = { { 0 } };
  double says[TREES] = { 0 };

  settings.bootstrap = TRUE;
  settings.min_samples_split = 100;
  forest = predict_forest_fit (samples, &settings, &report, NULL, NULL);
  for (guint tree = 0; tree < TREES; tree++) {
    BaseRandom random = base_random_stream (settings.seed, tree);

    for (guint i = 0; i < N; i++) {
      uint64_t sample = base_random_below (&random, N);

      times[tree][sample]++;
      says[tree] += samples->y[sample] / N;
    }
    g_assert_cmpfloat_with_epsilon (forest->values[forest->first[tree]], says[tree], 1e-12);
  }
  for (guint sample = 0; sample < N; sample++) {
    double sum = 0, squares = 0;
    guint n = 0;

    for (guint tree = 0; tree < TREES; tree++)
      if (times[tree][sample] == 0) {
        sum += says[tree];
        squares += says[tree] * says[tree];
        n++;
      }
    if (n == 0) {
      g_assert_true (isnan (report.out_of_bag[sample]));
      continue;
    }
    g_assert_cmpfloat_with_epsilon (report.out_of_bag[sample], sum / n, 1e-12);
    g_assert_cmpfloat_with_epsilon (report.out_of_bag_sd[sample],
                                    sqrt (fmax (0, squares / n - sum / n * (sum / n))), 1e-6);
  }
  predict_forest_report_clear (&report);
  predict_samples_free (samples);
}

/* --- Progress --- */

static void
progress_note (void *data, double share)
{
  double *last = data;

  g_assert_cmpfloat (share, >, *last);
  g_assert_cmpfloat (share, <=, 1);
  *last = share;
}

static void
test_progress (void)
{
  PredictSamples *samples = friedman_samples (50, 5, 9);
  PredictSettings settings = settings_of (PREDICT_EXTRA_TREES, 10);
  double last = 0;

  settings.threads = 1;
  predict_forest_free (predict_forest_fit (samples, &settings, NULL, progress_note, &last));
  g_assert_cmpfloat (last, ==, 1);
  predict_samples_free (samples);
}

/* --- Forests from files --- */

/* Each of these, and nothing else, is wrong. */
static void
test_check (void)
{
  static const PredictNode good[] = {
    { 1, 0, 2 }, { 0, -1, 1 }, { 2, 1, 4 }, { 0, -1, 3 }, { 0, -1, 4 }
  };
  static const struct {
    guint node;
    PredictNode wrong;
  } cases[] = {
    { 0, { 1, 2, 2 } },        { 0, { 1, -2, 2 } }, { 0, { NAN, 0, 2 } }, { 0, { 1, 0, 1 } },
    { 0, { 1, 0, 0 } },        { 0, { 1, 0, 5 } },  { 0, { 1, -1, 0 } },  { 1, { 0, -1, 0 } },
    { 2, { INFINITY, 1, 4 } }, { 2, { 2, 1, 3 } },  { 2, { 0, -1, 2 } },  { 4, { 0, 1, 5 } },
    { 4, { 0, -1, 5 } },       { 3, { 0, 0, 4 } },
  };
  uint64_t first[] = { 0, 5 };
  PredictNode nodes[5];
  double values[] = { 1, 2, 3, 4, 5 };
  PredictForest forest = { 2, 1, first, nodes, values };

  memcpy (nodes, good, sizeof nodes);
  g_assert_true (predict_forest_check (&forest, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;

    nodes[cases[i].node] = cases[i].wrong;
    g_assert_false (predict_forest_check (&forest, &error));
    g_assert_error (error, BASE_ERROR, BASE_ERROR_JSON);
    memcpy (nodes, good, sizeof nodes);
  }
  values[3] = NAN;
  g_assert_false (predict_forest_check (&forest, NULL));
  values[3] = 4;
  first[1] = 0;
  g_assert_false (predict_forest_check (&forest, NULL));
  first[1] = 4;
  g_assert_false (predict_forest_check (&forest, NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/forest-report/threads", test_threads_do_not_matter);
  g_test_add_func ("/predictors/forest-report/seeds", test_seeds_matter);
  g_test_add_func ("/predictors/forest-report/out-of-bag", test_out_of_bag);
  g_test_add_func ("/predictors/forest-report/progress", test_progress);
  g_test_add_func ("/predictors/forest-report/check", test_check);
  return g_test_run ();
}
