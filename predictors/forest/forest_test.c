/* forest_test.c - trees and forests: nodes, cuts, limits, threads, out-of-bag samples, broken forests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/random.h"
#include "predictors/forest/forest.h"
#include "predictors/forest/friedman_testing.h"
#include "predictors/predict_testing.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const PredictMethod tree_methods[] = { PREDICT_EXTRA_TREES, PREDICT_FOREST, PREDICT_TREE };

static PredictSettings
settings_of (PredictMethod method, guint trees)
{
  PredictSettings settings = predict_settings_default (method);

  settings.trees = method == PREDICT_TREE ? 1 : trees;
  return settings;
}

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

/* The forest as it comes back from a model file; NULL and *error: it is refused. */
static PredictForest *
read_back (const PredictForest *forest, GError **error)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;

  json_builder_begin_object (builder);
  predict_forest_write (forest, builder);
  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  return predict_forest_read (json_node_get_object (root), forest->n_features, error);
}

/* Any forest can be written and read. */
static PredictForest *
fit (const PredictSamples *samples, PredictSettings settings)
{
  g_autoptr (GError) error = NULL;
  PredictForest *forest;
  g_autoptr (PredictForest) back = NULL;

  predict_settings_check (&settings, &error);
  g_assert_no_error (error);
  forest = predict_forest_fit (samples, &settings, NULL, NULL, NULL);
  back = read_back (forest, &error);
  g_assert_no_error (error);
  assert_same_forest (back, forest);
  return forest;
}

static double *
predict (const PredictForest *forest, const PredictSamples *samples)
{
  double *predicted = g_new (double, samples->n_samples);

  predict_forest_predict (forest, samples, 1, predicted, NULL);
  return predicted;
}

static PredictSamples *
zero_samples (uint64_t n_samples, guint n_features)
{
  PredictSamples *samples = predict_samples_new (n_samples, n_features, TRUE);

  memset (samples->x, 0, n_samples * n_features * sizeof *samples->x);
  memset (samples->y, 0, n_samples * sizeof *samples->y);
  return samples;
}

/* The leaf of a sample, the slow way. */
static uint32_t
leaf_of (const PredictForest *forest, guint tree, const PredictSamples *samples, uint64_t sample)
{
  const PredictNode *nodes = forest->nodes + forest->first[tree];
  uint32_t at = 0;

  while (nodes[at].feature >= 0)
    at = samples->x[(uint64_t) nodes[at].feature * samples->n_samples + sample] <= nodes[at].cut
             ? at + 1
             : nodes[at].right;
  return at;
}

/* --- Trees --- */

/* Without bootstrap, and with targets that all differ, each sample has a leaf of its own. */
static void
test_learns_by_heart (void)
{
  g_autoptr (PredictSamples) samples = friedman_samples (200, 7, 1);

  for (guint i = 0; i < G_N_ELEMENTS (tree_methods); i++) {
    PredictSettings settings = settings_of (tree_methods[i], 3);
    g_autoptr (PredictForest) forest = NULL;
    g_autofree double *predicted = NULL;

    settings.bootstrap = FALSE;
    forest = fit (samples, settings);
    predicted = predict (forest, samples);
    for (guint tree = 0; tree < forest->n_trees; tree++)
      g_assert_cmpuint (forest->first[tree + 1] - forest->first[tree], ==, 2 * 200 - 1);
    for (guint sample = 0; sample < 200; sample++)
      g_assert_cmpfloat_with_epsilon (predicted[sample], samples->y[sample], 1e-12);
  }
}

/* Node by node: the value is the mean of the samples that come by, and a cut has some on
 * either side.  Predictions of many samples are those of descending one by one. */
static void
test_nodes_are_of_their_samples (void)
{
  g_autoptr (PredictSamples) samples = friedman_samples (300, 20, 2);

  for (guint i = 0; i < 2; i++) {
    PredictSettings settings = settings_of (tree_methods[i], 4);
    g_autoptr (PredictForest) forest = NULL;
    g_autofree double *predicted = NULL;

    settings.min_samples_leaf = 4;
    settings.max_features = 6;
    settings.bootstrap = FALSE;
    forest = fit (samples, settings);
    predicted = predict (forest, samples);
    for (guint sample = 0; sample < 300; sample++) {
      double mean = 0;

      for (guint tree = 0; tree < 4; tree++)
        mean += forest->values[forest->first[tree] + leaf_of (forest, tree, samples, sample)] / 4;
      g_assert_cmpfloat_with_epsilon (predicted[sample], mean, 1e-12);
    }
    for (guint tree = 0; tree < 4; tree++) {
      uint32_t n_nodes = (uint32_t) (forest->first[tree + 1] - forest->first[tree]);
      g_autofree guint *n = g_new0 (guint, n_nodes);
      g_autofree double *sum = g_new0 (double, n_nodes);

      for (guint sample = 0; sample < 300; sample++) {
        uint32_t leaf = leaf_of (forest, tree, samples, sample);

        n[leaf]++;
        sum[leaf] += samples->y[sample];
      }
      for (uint32_t node = 0; node < n_nodes; node++) {
        if (forest->nodes[forest->first[tree] + node].feature >= 0)
          continue;
        g_assert_cmpuint (n[node], >=, 4);
        g_assert_cmpfloat_with_epsilon (forest->values[forest->first[tree] + node],
                                        sum[node] / n[node], 1e-12);
      }
    }
  }
}

/* A step: CART's one cut is in its middle, and its gain all of the importance. */
static void
test_best_cut (void)
{
  g_autoptr (PredictSamples) samples = zero_samples (5, 2);
  PredictSettings settings = settings_of (PREDICT_TREE, 1);
  PredictForestReport report;
  g_autoptr (PredictForest) forest = NULL;

  memcpy (samples->x, (float[]){ 1, 1, 1, 1, 1, 5, 1, 4, 2, 8 }, 10 * sizeof (float));
  memcpy (samples->y, (double[]){ 7, 3, 7, 3, 7 }, 5 * sizeof (double));
  forest = predict_forest_fit (samples, &settings, &report, NULL, NULL);
  /* By value 1: 3, 2: 3, 4: 7, 5: 7, 8: 7; the first feature is constant. */
  g_assert_cmpuint (forest->first[1], ==, 3);
  g_assert_cmpint (forest->nodes[0].feature, ==, 1);
  g_assert_cmpfloat (forest->nodes[0].cut, ==, 3);
  g_assert_cmpfloat (forest->values[0], ==, 5.4);
  g_assert_cmpfloat (forest->values[1], ==, 3);
  g_assert_cmpfloat (forest->values[2], ==, 7);
  g_assert_cmpfloat (report.importances[1], ==, 1);
  predict_forest_report_clear (&report);
}

static void
test_limits (void)
{
  g_autoptr (PredictSamples) samples = friedman_samples (200, 5, 3);

  for (guint i = 0; i < G_N_ELEMENTS (tree_methods); i++) {
    PredictSettings settings = settings_of (tree_methods[i], 5);
    PredictForestReport report;
    g_autoptr (PredictForest) forest = NULL, of_halves = NULL;

    settings.max_depth = 3;
    forest = predict_forest_fit (samples, &settings, &report, NULL, NULL);
    for (guint tree = 0; tree < forest->n_trees; tree++) {
      g_assert_cmpuint (report.depths[tree], ==, 3);
      g_assert_cmpuint (report.leaves[tree], <=, 8);
      g_assert_cmpuint (report.leaves[tree] * 2 - 1, ==,
                        forest->first[tree + 1] - forest->first[tree]);
    }
    predict_forest_report_clear (&report);
    settings.max_depth = 0;
    settings.min_samples_split = 201; /* more than there are */
    of_halves = fit (samples, settings);
    g_assert_cmpuint (of_halves->first[of_halves->n_trees], ==, of_halves->n_trees);
  }
}

/* --- Tables that leave no choice --- */

static void
test_nothing_to_cut (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (tree_methods); i++)
    for (guint n = 1; n <= 20; n += 19) {
      g_autoptr (PredictSamples) samples = zero_samples (n, 3); /* one sample; constant columns */
      PredictSettings settings = settings_of (tree_methods[i], 4);
      PredictForestReport report;
      g_autoptr (PredictForest) forest = NULL;
      g_autofree double *predicted = NULL;

      settings.bootstrap = FALSE;
      for (guint sample = 0; sample < n; sample++)
        samples->y[sample] = sample % 2 ? 1 : 4;
      forest = predict_forest_fit (samples, &settings, &report, NULL, NULL);
      predicted = predict (forest, samples);
      g_assert_cmpuint (forest->first[forest->n_trees], ==, forest->n_trees);
      g_assert_cmpfloat (predicted[n - 1], ==, n == 1 ? 4 : 2.5);
      g_assert_cmpfloat (report.importances[0], ==, 0);
      predict_forest_report_clear (&report);
    }
}

/* Equal targets are not divided; equal samples cannot be. */
static void
test_ties (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (tree_methods); i++) {
    g_autoptr (PredictSamples) samples = zero_samples (6, 1);
    PredictSettings settings = settings_of (tree_methods[i], 8);
    g_autoptr (PredictForest) forest = NULL;
    g_autofree double *predicted = NULL;

    settings.bootstrap = FALSE;
    memcpy (samples->x, (float[]){ 1, 1, 2, 2, 3, 3 }, 6 * sizeof (float));
    memcpy (samples->y, (double[]){ 5, 9, 0.1, 0.1, 0.1, 0.1 }, 6 * sizeof (double));
    forest = fit (samples, settings);
    predicted = predict (forest, samples);
    g_assert_cmpfloat (predicted[0], ==, 7);
    g_assert_cmpfloat (predicted[1], ==, 7);
    for (guint sample = 2; sample < 6; sample++)
      g_assert_cmpfloat (predicted[sample], ==, 0.1);
  }
}

/* More features than one constant may hide: the only one that varies is found, however few
 * are tried. */
static void
test_one_that_varies (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (tree_methods); i++) {
    g_autoptr (PredictSamples) samples = zero_samples (8, 40);
    PredictSettings settings = settings_of (tree_methods[i], 20);
    g_autoptr (PredictForest) forest = NULL;

    settings.max_features = 1;
    settings.bootstrap = FALSE;
    for (guint sample = 0; sample < 8; sample++) {
      samples->x[37 * 8 + sample] = (float) sample;
      samples->y[sample] = sample;
    }
    forest = fit (samples, settings);
    for (guint tree = 0; tree < forest->n_trees; tree++)
      g_assert_cmpuint (forest->first[tree + 1] - forest->first[tree], ==, 15);
  }
}

/* --- Numbers of any size --- */

static void
test_huge_values (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (tree_methods); i++) {
    g_autoptr (PredictSamples) samples = zero_samples (50, 2);
    PredictSettings settings = settings_of (tree_methods[i], 5);
    g_autoptr (PredictForest) forest = NULL;
    g_autofree double *predicted = NULL;

    settings.bootstrap = FALSE;
    for (guint sample = 0; sample < 50; sample++) {
      samples->x[sample] = FLT_MAX * ((float) sample / 25 - 1);
      samples->x[50 + sample] = sample % 2 ? FLT_MAX : -FLT_MAX;
      samples->y[sample] = (sample % 3 - 1.0) * 1e306 * sample;
    }
    forest = fit (samples, settings);
    predicted = predict (forest, samples);
    for (guint sample = 0; sample < 50; sample++)
      g_assert_cmpfloat_with_epsilon (predicted[sample] * 1e-306, samples->y[sample] * 1e-306,
                                      1e-12);
  }
}

/* Powers of two change no digit of a feature or a target, so that the trees stay the same: the
 * size of a target, of seconds or nanoseconds, does not change the trees. */
static void
test_units_do_not_matter (void)
{
  g_autoptr (PredictSamples) samples = friedman_samples (150, 6, 4);

  for (guint i = 0; i < G_N_ELEMENTS (tree_methods); i++) {
    PredictSettings settings = settings_of (tree_methods[i], 5);
    g_autoptr (PredictForest) forest = fit (samples, settings), scaled = NULL;
    uint64_t n_nodes = forest->first[forest->n_trees];

    for (guint sample = 0; sample < 150; sample++) {
      samples->x[sample] *= 1024;
      samples->y[sample] *= 0x1p-40;
    }
    scaled = fit (samples, settings);
    g_assert_cmpuint (scaled->first[scaled->n_trees], ==, n_nodes);
    for (uint64_t node = 0; node < n_nodes; node++) {
      g_assert_cmpint (scaled->nodes[node].feature, ==, forest->nodes[node].feature);
      g_assert_cmpfloat (scaled->nodes[node].cut, ==,
                         forest->nodes[node].cut * (scaled->nodes[node].feature == 0 ? 1024 : 1));
      g_assert_cmpfloat (scaled->values[node], ==, forest->values[node] * 0x1p-40);
    }
    for (guint sample = 0; sample < 150; sample++) {
      samples->x[sample] /= 1024;
      samples->y[sample] *= 0x1p40;
    }
  }
}

/* --- Deviation --- */

static void
test_deviation (void)
{
  g_autoptr (PredictSamples) samples = friedman_samples (60, 5, 8);
  PredictSettings settings = settings_of (PREDICT_FOREST, 7);
  g_autoptr (PredictForest) forest = fit (samples, settings);
  double predicted[60], deviation[60];

  predict_forest_predict (forest, samples, 2, predicted, deviation);
  for (guint sample = 0; sample < 60; sample++) {
    double squares = 0;

    for (guint tree = 0; tree < 7; tree++) {
      uint32_t leaf = leaf_of (forest, tree, samples, sample);

      squares += pow (forest->values[forest->first[tree] + leaf] - predicted[sample], 2);
    }
    g_assert_cmpfloat_with_epsilon (deviation[sample], sqrt (squares / 7), 1e-12);
  }
}

/* --- Threads and seeds --- */

static void
test_threads_do_not_matter (void)
{
  g_autoptr (PredictSamples) samples = friedman_samples (500, 18, 5);

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
}

static void
test_seeds_matter (void)
{
  g_autoptr (PredictSamples) samples = friedman_samples (100, 5, 6);
  PredictSettings settings = settings_of (PREDICT_EXTRA_TREES, 2);
  g_autoptr (PredictForest) forest = predict_forest_fit (samples, &settings, NULL, NULL, NULL);
  g_autoptr (PredictForest) other = NULL;

  settings.seed++;
  other = predict_forest_fit (samples, &settings, NULL, NULL, NULL);
  g_assert_cmpfloat (forest->nodes[0].cut, !=, forest->nodes[forest->first[1]].cut);
  for (guint tree = 0; tree < 2; tree++)
    g_assert_cmpfloat (forest->nodes[0].cut, !=, other->nodes[other->first[tree]].cut);
}

/* --- Out of bag --- */

/* Stumps that cannot be divided say the mean of their bag, which the test draws again: tree
 * number `tree` begins by drawing n of n samples. */
static void
test_out_of_bag (void)
{
  enum { N = 9, TREES = 6 };
  g_autoptr (PredictSamples) samples = friedman_samples (N, 5, 7);
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
}

/* --- Progress --- */

static void
test_progress (void)
{
  g_autoptr (PredictSamples) samples = friedman_samples (50, 5, 9);
  PredictSettings settings = settings_of (PREDICT_EXTRA_TREES, 10);
  double last = 0;

  settings.threads = 1;
  predict_forest_free (predict_forest_fit (samples, &settings, NULL, testing_note_share, &last));
  g_assert_cmpfloat (last, ==, 1);
}

/* --- Forests from files --- */

static void
assert_refused (const PredictForest *forest)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (read_back (forest, &error));
  g_assert_error (error, BASE_ERROR, BASE_ERROR_JSON);
}

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

  g_autoptr (PredictForest) back = NULL;

  memcpy (nodes, good, sizeof nodes);
  back = read_back (&forest, NULL);
  assert_same_forest (back, &forest);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    nodes[cases[i].node] = cases[i].wrong;
    assert_refused (&forest);
    memcpy (nodes, good, sizeof nodes);
  }
  values[3] = NAN;
  assert_refused (&forest);
  values[3] = 4;
  first[1] = 0;
  assert_refused (&forest);
  first[1] = 4;
  assert_refused (&forest);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/forest/by-heart", test_learns_by_heart);
  g_test_add_func ("/predictors/forest/nodes", test_nodes_are_of_their_samples);
  g_test_add_func ("/predictors/forest/best-cut", test_best_cut);
  g_test_add_func ("/predictors/forest/limits", test_limits);
  g_test_add_func ("/predictors/forest/nothing-to-cut", test_nothing_to_cut);
  g_test_add_func ("/predictors/forest/ties", test_ties);
  g_test_add_func ("/predictors/forest/one-that-varies", test_one_that_varies);
  g_test_add_func ("/predictors/forest/huge-values", test_huge_values);
  g_test_add_func ("/predictors/forest/units", test_units_do_not_matter);
  g_test_add_func ("/predictors/forest/deviation", test_deviation);
  g_test_add_func ("/predictors/forest-report/threads", test_threads_do_not_matter);
  g_test_add_func ("/predictors/forest-report/seeds", test_seeds_matter);
  g_test_add_func ("/predictors/forest-report/out-of-bag", test_out_of_bag);
  g_test_add_func ("/predictors/forest-report/progress", test_progress);
  g_test_add_func ("/predictors/forest-report/check", test_check);
  return g_test_run ();
}
