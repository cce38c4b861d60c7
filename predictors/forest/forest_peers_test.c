/* forest_peers_test.c - forests are those of the theory and of scikit-learn.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Single trees of small sets follow exact laws.  Forests of fifty seeds have the mean and
 * spread of scikit-learn's fifty, from the reference data: bounds are 3.5 standard
 * errors of a difference of two means of fifty (0.7 standard deviations of one forest). */
#include "predictors/forest/work_threads.h"
#include "predictors/forest/forest.h"
#include "predictors/model/regression_fixture.h"
#include "predictors/scoring/scores.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#define N_FEATURES 10
#ifdef __SANITIZE_ADDRESS__ /* a tenth as fast: a few seeds find the same faults */
#define N_SEEDS   8
#define BOUND     1.4 /* 3.5 sqrt (1 / 8 + 1 / 50) */
#define MAX_RATIO 3.0
#else
#define N_SEEDS   50
#define BOUND     0.7 /* 3.5 sqrt (2 / 50) */
#define MAX_RATIO 1.4
#endif

/* A cut that gains nothing is made; scikit-learn makes it unless rounding turns the gain negative.
 * Of diabetes, whose targets are whole numbers, with one feature tried, that is 0.14 nodes of a
 * tree, which would have become two or three leaves more (with targets moved to a mean of 0, which
 * rounds otherwise, it has 0.2 leaves more). */
#define ZERO_GAINS 0.4

static JsonParser *
json_read (const char *name)
{
  g_autofree char *path = regression_path (name);
  g_autoptr (GError) error = NULL;
  JsonParser *parser;

  if (path == NULL)
    return NULL;
  parser = json_parser_new ();
  json_parser_load_from_file (parser, path, &error);
  g_assert_no_error (error);
  return parser;
}

static double
number (JsonObject *object, const char *member)
{
  g_assert_true (json_object_has_member (object, member));
  return json_object_get_double_member (object, member);
}

/* --- Exact laws --- */

/* Of one feature, the mean over all trees is the interpolation of the samples, and their variance
 * that of a coin. */
static void
test_one_feature (void)
{
  g_autoptr (JsonParser) parser = json_read ("oned_analytic.json");
  PredictSettings settings = predict_settings_default (PREDICT_EXTRA_TREES);
  g_autoptr (PredictForest) forest = NULL;
  PredictSamples *samples, *queries;
  JsonObject *root;
  JsonArray *x, *y, *query;
  double predicted[64], deviation[64];
  guint n;

  if (parser == NULL)
    return;
  root = json_node_get_object (json_parser_get_root (parser));
  x = json_object_get_array_member (root, "x");
  y = json_object_get_array_member (root, "y");
  query = json_object_get_array_member (root, "query");
  samples = predict_samples_new (json_array_get_length (x), 1, TRUE);
  n = json_array_get_length (query);
  queries = predict_samples_new (n, 1, TRUE);
  for (guint i = 0; i < samples->n_samples; i++) {
    samples->x[i] = (float) json_array_get_double_element (x, i);
    samples->y[i] = json_array_get_double_element (y, i);
  }
  for (guint i = 0; i < n; i++)
    queries->x[i] = (float) json_array_get_double_element (query, i);
  settings.trees = 40000;
  forest = predict_forest_fit (samples, &settings, NULL, NULL, NULL);
  predict_forest_predict (forest, queries, 2, predicted, deviation);
  for (guint i = 0; i < n; i++) {
    double expected =
        json_array_get_double_element (json_object_get_array_member (root, "expected"), i);
    double sd =
        json_array_get_double_element (json_object_get_array_member (root, "sd_single_tree"), i);

    /* Four standard errors of the mean; the spread of so many trees is within 10 % where the coin is
     * not all too unfair. */
    g_assert_cmpfloat (fabs (predicted[i] - expected), <=, 4 * sd / sqrt (40000) + 1e-9);
    g_assert_cmpfloat (fabs (deviation[i] - sd), <=, 0.1 * sd + 1e-9);
  }
  predict_samples_free (samples);
  predict_samples_free (queries);
}

/* Which cut a tree begins with, of two features and four samples. */
static void
test_root_cut (void)
{
  enum { TREES = 40000 };
  g_autoptr (JsonParser) parser = json_read ("root_split_law.json");
  PredictSettings settings = predict_settings_default (PREDICT_EXTRA_TREES);
  g_autoptr (PredictForest) forest = NULL;
  PredictSamples *samples;
  JsonObject *root, *law;
  guint n[2][3] = { { 0 } };

  if (parser == NULL)
    return;
  root = json_node_get_object (json_parser_get_root (parser));
  law = json_object_get_object_member (root, "analytic");
  samples = predict_samples_new (4, 2, TRUE);
  for (guint i = 0; i < 4; i++) {
    JsonArray *row = json_array_get_array_element (json_object_get_array_member (root, "X"), i);

    samples->x[i] = (float) json_array_get_double_element (row, 0);
    samples->x[4 + i] = (float) json_array_get_double_element (row, 1);
    samples->y[i] = json_array_get_double_element (json_object_get_array_member (root, "y"), i);
  }
  settings.trees = TREES;
  forest = predict_forest_fit (samples, &settings, NULL, NULL, NULL);
  for (guint tree = 0; tree < TREES; tree++) {
    const PredictNode *node = &forest->nodes[forest->first[tree]];

    n[node->feature][(guint) floorf (node->cut)]++;
  }
  for (guint feature = 0; feature < 2; feature++)
    for (guint at = 0; at < 3; at++) {
      g_autofree char *name = g_strdup_printf ("%u,%u", feature, at);
      double p = json_object_has_member (law, name) ? number (law, name) : 0;

      g_assert_cmpfloat (fabs (n[feature][at] / (double) TREES - p), <=,
                         4 * sqrt (p * (1 - p) / TREES));
    }
  predict_samples_free (samples);
}

/* --- scikit-learn --- */

/* Of one quantity, over the forests or their trees. */
typedef struct {
  guint n;
  double sum, squares;
} Tally;

static void
tally (Tally *it, double value)
{
  it->n++;
  it->sum += value;
  it->squares += value * value;
}

static double
tally_mean (const Tally *it)
{
  return it->sum / it->n;
}

static double
tally_sd (const Tally *it)
{
  double mean = tally_mean (it);

  return sqrt (fmax (0, (it->squares - it->n * mean * mean) / (it->n - 1)));
}

/* Figures of fifty forests. */
typedef struct {
  Tally r2, out_of_bag, depth, leaves, importances[N_FEATURES];
} Fifty;

typedef struct {
  PredictSamples *train, *test;
} Set;

/* One seed's forest. */
typedef struct {
  PredictForestReport report;
  double r2, out_of_bag; /* R2 */
} One;

typedef struct {
  const Set *set;
  PredictSettings settings; /* but for the seed */
  One *ones;                /* [seeds] */
} Seeds;

static void
grow_one (void *data, guint seed)
{
  const Seeds *seeds = data;
  const PredictSamples *train = seeds->set->train, *test = seeds->set->test;
  One *one = &seeds->ones[seed];
  PredictSettings settings = seeds->settings;
  g_autofree double *predicted = g_new (double, test->n_samples);
  g_autoptr (PredictForest) forest = NULL;

  settings.seed = seed;
  settings.threads = 1; /* seeds are side by side, not trees */
  forest = predict_forest_fit (train, &settings, &one->report, NULL, NULL);
  predict_forest_predict (forest, test, 1, predicted, NULL);
  one->r2 = predict_score (test->y, predicted, test->n_samples).r2;
  if (one->report.out_of_bag)
    one->out_of_bag = predict_score (train->y, one->report.out_of_bag, train->n_samples).r2;
}

static Fifty
fifty_of (const Set *set, PredictSettings settings)
{
  Fifty fifty = { 0 };
  One ones[N_SEEDS] = { 0 };
  Seeds seeds = { set, settings, ones };

  predict_work (grow_one, &seeds, N_SEEDS, predict_threads (&settings), NULL);
  for (guint seed = 0; seed < N_SEEDS; seed++) {
    PredictForestReport *report = &ones[seed].report;

    tally (&fifty.r2, ones[seed].r2);
    if (report->out_of_bag)
      tally (&fifty.out_of_bag, ones[seed].out_of_bag);
    for (guint tree = 0; tree < settings.trees; tree++) {
      tally (&fifty.depth, report->depths[tree]);
      tally (&fifty.leaves, report->leaves[tree]);
    }
    for (guint feature = 0; feature < N_FEATURES; feature++)
      tally (&fifty.importances[feature], report->importances[feature]);
    predict_forest_report_clear (report);
  }
  return fifty;
}

static guint n_wrong;

static void
expect (gboolean is_right, const char *name, const Tally *it, double mean, double sd)
{
  n_wrong += !is_right;
  g_test_message ("%s %s: %.5f +- %.5f, scikit-learn %.5f +- %.5f", is_right ? "right" : "WRONG",
                  name, tally_mean (it), tally_sd (it), mean, sd);
}

/* Of forests: their mean and their spread. */
static void
expect_forests (const char *name, const Tally *it, double mean, double sd)
{
  double ratio = tally_sd (it) / sd;

  expect (fabs (tally_mean (it) - mean) < BOUND * sd && ratio >= 0.98 / MAX_RATIO &&
              ratio <= MAX_RATIO,
          name, it, mean, sd);
}

/* Of trees: their mean, of as many there; its standard error is known from ours.  We may have
 * `more` than there. */
static void
expect_trees (const char *name, const Tally *it, double mean, double more)
{
  double n_there = it->n * 50.0 / N_SEEDS;
  double four_errors = 4 * tally_sd (it) * sqrt (1.0 / it->n + 1 / n_there) + 1e-9;
  double difference = tally_mean (it) - mean;

  expect (difference >= -four_errors && difference <= four_errors + more, name, it, mean, NAN);
}

static PredictSettings
settings_from (JsonObject *parameters)
{
  PredictSettings settings = predict_settings_default (PREDICT_EXTRA_TREES);
  const struct {
    const char *name;
    guint *setting;
  } whole[] = { { "n_estimators", &settings.trees },
                { "min_samples_split", &settings.min_samples_split },
                { "min_samples_leaf", &settings.min_samples_leaf },
                { "max_depth", &settings.max_depth } };

  for (guint i = 0; i < G_N_ELEMENTS (whole); i++)
    if (json_object_has_member (parameters, whole[i].name))
      *whole[i].setting = (guint) json_object_get_int_member (parameters, whole[i].name);
  if (json_object_has_member (parameters, "max_features")) {
    double features = number (parameters, "max_features");

    settings.max_features = (guint) (features < 1 ? features * N_FEATURES : features);
  }
  settings.bootstrap = json_object_has_member (parameters, "bootstrap");
  return settings;
}

static void
compare_configuration (const Set *set, const char *name, JsonObject *expected)
{
  Fifty fifty = fifty_of (set, settings_from (json_object_get_object_member (expected, "params")));
  JsonArray *means = json_object_get_array_member (expected, "importances_mean");
  JsonArray *sds = json_object_get_array_member (expected, "importances_std");

  g_test_message ("%s", name);
  expect_forests ("R2", &fifty.r2, number (expected, "r2_mean"), number (expected, "r2_std"));
  if (fifty.out_of_bag.n > 0)
    expect_forests ("out-of-bag R2", &fifty.out_of_bag, number (expected, "oob_r2_mean"),
                    number (expected, "oob_r2_std"));
  expect_trees ("depth", &fifty.depth, number (expected, "depth_per_tree_mean"), 0);
  expect_trees ("leaves", &fifty.leaves, number (expected, "leaves_per_tree_mean"), ZERO_GAINS);
  for (guint feature = 0; feature < N_FEATURES; feature++) {
    double mean = json_array_get_double_element (means, feature);
    double sd = json_array_get_double_element (sds, feature);
    const Tally *it = &fifty.importances[feature];

    /* Ten at a time: four standard errors. */
    expect (fabs (tally_mean (it) - mean) < BOUND * 4 / 3.5 * sd, "importance", it, mean, sd);
  }
}

static gboolean
set_read (Set *set, const char *name)
{
  set->train = regression_samples (name, "train");
  set->test = regression_samples (name, "test");
  return set->train && set->test;
}

static void
set_clear (Set *set)
{
  predict_samples_free (set->train);
  predict_samples_free (set->test);
}

static JsonObject *
set_expected (JsonParser *parser, const char *name)
{
  JsonObject *root = json_node_get_object (json_parser_get_root (parser));

  return json_object_get_object_member (json_object_get_object_member (root, "datasets"), name);
}

static void
test_extra_trees (gconstpointer name)
{
  g_autoptr (JsonParser) parser = json_read ("expected.json");
  Set set;
  JsonObject *configurations;
  g_autoptr (GList) names = NULL;

  if (parser == NULL || !set_read (&set, name))
    return;
  configurations = json_object_get_object_member (set_expected (parser, name), "configs");
  names = json_object_get_members (configurations);
  g_assert_cmpuint (g_list_length (names), ==, 9);
  n_wrong = 0;
  for (GList *it = names; it; it = it->next)
    compare_configuration (&set, it->data,
                           json_object_get_object_member (configurations, it->data));
  g_assert_cmpuint (n_wrong, ==, 0);
  set_clear (&set);
}

/* scikit-learn's forests of ten seeds with their spread, its trees of fifty without. */
static void
test_best_cuts (gconstpointer name)
{
  g_autoptr (JsonParser) parser = json_read ("expected.json");
  Set set;
  JsonObject *expected;
  Fifty forests, trees;
  double sd;

  if (parser == NULL || !set_read (&set, name))
    return;
  expected = json_object_get_object_member (set_expected (parser, name), "other");
  forests = fifty_of (&set, predict_settings_default (PREDICT_FOREST));
  trees = fifty_of (&set, predict_settings_default (PREDICT_TREE));
  sd = number (expected, "RandomForest_M100_std");
  n_wrong = 0;
  expect (fabs (tally_mean (&forests.r2) - number (expected, "RandomForest_M100_mean_10seeds")) <
              3.5 * sd * sqrt (1.0 / 10 + 1.0 / N_SEEDS),
          "forests", &forests.r2, number (expected, "RandomForest_M100_mean_10seeds"), sd);
  expect_trees ("single trees", &trees.r2, number (expected, "DecisionTree_mean_50seeds"), 0);
  g_assert_cmpuint (n_wrong, ==, 0);
  set_clear (&set);
}

/* The distance of M trees from very many is the spread of one over the root of M.  Fewer trees of a
 * seed are the first ones of more. */
static void
test_many_trees (gconstpointer name)
{
  g_autofree char *file = g_strdup_printf ("%s_pred_M6000.csv", (const char *) name);
  g_autofree char *path = regression_path (file);
  g_autoptr (PredictTable) table = path ? predict_table_read (path, NULL) : NULL;
  PredictSettings settings = predict_settings_default (PREDICT_EXTRA_TREES);
  g_autofree double *predicted = NULL, *deviation = NULL;
  g_autoptr (PredictForest) forest = NULL;
  PredictForest first;
  Set set;

  if (path == NULL || !set_read (&set, name))
    return;
  g_assert_cmpuint (table->n_rows, ==, set.test->n_samples);
  predicted = g_new (double, set.test->n_samples);
  deviation = g_new (double, set.test->n_samples);
  settings.trees = 3200;
  forest = predict_forest_fit (set.train, &settings, NULL, NULL, NULL);
  first = *forest;
  for (first.n_trees = 50; first.n_trees <= forest->n_trees; first.n_trees *= 4) {
    double squares = 0, variances = 0;

    predict_forest_predict (&first, set.test, predict_threads (&settings), predicted, deviation);
    for (guint i = 0; i < set.test->n_samples; i++) {
      squares += pow (predicted[i] - table->columns[0].numbers[i], 2);
      variances += deviation[i] * deviation[i];
    }
    /* Neighbours err together, so that the mean over the test set is not as sharp as it looks: over
     * twelve seeds, the ratio spreads by 0.12 of diabetes and by 0.07 of Friedman's. */
    g_assert_cmpfloat (fabs (squares / (variances * (1.0 / first.n_trees + 1.0 / 6000)) - 1), <,
                       0.3);
  }
  set_clear (&set);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/forest-peers/one-feature", test_one_feature);
  g_test_add_func ("/predictors/forest-peers/root-cut", test_root_cut);
  g_test_add_data_func ("/predictors/forest-peers/extra-trees/diabetes", "diabetes",
                        test_extra_trees);
  g_test_add_data_func ("/predictors/forest-peers/extra-trees/friedman1", "friedman1",
                        test_extra_trees);
  g_test_add_data_func ("/predictors/forest-peers/best-cuts/diabetes", "diabetes", test_best_cuts);
  g_test_add_data_func ("/predictors/forest-peers/best-cuts/friedman1", "friedman1",
                        test_best_cuts);
  g_test_add_data_func ("/predictors/forest-peers/many-trees/diabetes", "diabetes",
                        test_many_trees);
  g_test_add_data_func ("/predictors/forest-peers/many-trees/friedman1", "friedman1",
                        test_many_trees);
  return g_test_run ();
}
