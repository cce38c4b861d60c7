/* fitted_test.c - methods against scikit-learn's figures, and their way to JSON and back.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "predictors/predict_error.h"
#include "predictors/predict_testing.h"
#include "predictors/model/fitted.h"
#include "predictors/forest/friedman_testing.h"
#include "base/random.h"
#include "predictors/model/regression_fixture.h"
#include "predictors/scoring/scores.h"

#include <float.h>
#include <math.h>
#include <string.h>

static PredictFitted *
fit (const PredictSamples *samples, PredictMethod method)
{
  PredictSettings settings = predict_settings_default (method);
  g_autoptr (GError) error = NULL;
  PredictFitted *fitted;

  settings.trees = MIN (settings.trees, 20);
  settings.seed = G_MAXUINT64 - 1;
  fitted = predict_fit (samples, &settings, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  return fitted;
}

/* --- Figures of scikit-learn 1.2.1 --- */

static double
r2 (const char *name, PredictMethod method, const double *first_three)
{
  g_autoptr (PredictSamples) training = regression_samples (name, "train");
  g_autoptr (PredictSamples) test = training != NULL ? regression_samples (name, "test") : NULL;
  g_autoptr (PredictFitted) fitted = test != NULL ? fit (training, method) : NULL;
  g_autofree double *predicted = NULL;

  if (fitted == NULL)
    return NAN;
  predicted = g_new (double, test->n_samples);
  predict_fitted_predict (fitted, test, 1, predicted, NULL);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpfloat (fabs (predicted[i] / first_three[i] - 1), <,
                       method == PREDICT_LINEAR ? 1e-11 : 1e-7);
  return predict_score (test->y, predicted, test->n_samples).r2;
}

/* R2 of "LinearRegression" and "SVR_rbf_C1_eps0.1_standardised_xy" in expected.json, where features
 * are of double precision; the first three predictions are those of features rounded to single. */
static void
test_reference (void)
{
  static const struct {
    const char *name;
    PredictMethod method;
    double r2, first[3];
  } rows[] = {
    { "diabetes",
      PREDICT_LINEAR,
      0.4040988256220196,
      { 241.97830377295742, 248.6598146040282, 164.91970337272886 } },
    { "friedman1",
      PREDICT_LINEAR,
      0.7282232178929622,
      { 10.320866667637848, 13.734637577252329, 5.941575136390907 } },
#ifdef HAVE_SVM
    { "diabetes",
      PREDICT_SVR,
      0.303371740460301,
      { 279.9708715775869, 245.7967426110763, 138.50840069978256 } },
    { "friedman1",
      PREDICT_SVR,
      0.8084592009440024,
      { 7.520552417839244, 16.405609297682428, 6.518737734462338 } },
#endif
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    double value = r2 (rows[i].name, rows[i].method, rows[i].first);

    if (!isnan (value))
      g_assert_cmpfloat (fabs (value - rows[i].r2), <, 1e-7);
  }
}

/* --- Permutation --- */

/* y = 2 a + b of independent uniform numbers, and c that it does not depend on.  Permuting a adds
 * twice the variance of 2 a, of five times the variance of b in all: 8 / 5; b: 2 / 5. */
static void
test_permutation (void)
{
  enum { N = 4000 };
  g_autoptr (PredictSamples) samples = predict_samples_new (N, 3, TRUE);
  g_autoptr (PredictFitted) linear = NULL, mean = NULL;
  BaseRandom random = base_random_stream (1, 0);
  double importances[3], again[3];

  for (guint i = 0; i < 3 * N; i++)
    samples->x[i] = (float) base_random_unit (&random);
  for (guint i = 0; i < N; i++)
    samples->y[i] = 2 * (double) samples->x[i] + (double) samples->x[N + i];
  linear = fit (samples, PREDICT_LINEAR);
  mean = fit (samples, PREDICT_MEAN);
  predict_fitted_permutation_importances (linear, samples, 10, 1, 1, importances);
  g_assert_cmpfloat_with_epsilon (importances[0], 1.6, 0.03);
  g_assert_cmpfloat_with_epsilon (importances[1], 0.4, 0.01);
  g_assert_cmpfloat_with_epsilon (importances[2], 0, 1e-12);
  predict_fitted_permutation_importances (linear, samples, 10, 1, 2, again);
  g_assert_cmpmem (again, sizeof again, importances, sizeof importances);
  predict_fitted_permutation_importances (mean, samples, 10, 1, 1, importances);
  g_assert_cmpfloat (importances[0], ==, 0);
}

/* --- JSON --- */

static char *
text_of (const PredictFitted *fitted)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;

  predict_fitted_write (fitted, builder);
  root = json_builder_get_root (builder);
  return json_to_string (root, TRUE);
}

static gpointer
parse (const char *text, GError **error)
{
  g_autoptr (JsonNode) root = json_from_string (text, NULL);

  return predict_fitted_read (json_node_get_object (root), error);
}

/* Every bit of the predictions, and every byte of the text. */
static void
test_round_trip (gconstpointer data)
{
  PredictMethod method = (PredictMethod) GPOINTER_TO_INT (data);
  g_autoptr (PredictSamples) training = friedman_samples (150, 10, 1),
                             test = friedman_samples (50, 10, 2);
  g_autoptr (PredictFitted) fitted = fit (training, method), back = NULL;
  g_autofree char *text = text_of (fitted), *again = NULL;
  g_autoptr (GError) error = NULL;
  double predicted[50], deviation[50], of_back[50], deviation_of_back[50];

  back = parse (text, &error);
  g_assert_no_error (error);
  predict_fitted_predict (fitted, test, 1, predicted, deviation);
  predict_fitted_predict (back, test, 1, of_back, deviation_of_back);
  g_assert_cmpmem (of_back, sizeof of_back, predicted, sizeof predicted);
  g_assert_cmpmem (deviation_of_back, sizeof deviation, deviation, sizeof deviation);
  g_assert_nonnull (strstr (text, "\"seed\" : -2")); /* as it was set, with the sign of int64 */
  g_assert_cmpuint (predict_fitted_n_features (back), ==, 10);
  again = text_of (back);
  g_assert_cmpstr (again, ==, text);
}

/* A tree with one cut, packed by hand. */
static const char stump[] =
    "{\"method\":\"tree\",\"n_features\":2,\"settings\":{\"trees\":1,\"max_features\":0,"
    "\"min_samples_split\":2,\"min_samples_leaf\":1,\"max_depth\":0,\"bootstrap\":false,"
    "\"ridge\":0,\"svr_c\":1,\"svr_epsilon\":0.1,\"svr_gamma\":0,\"seed\":1},\"forest\":{"
    "\"nodes_of_trees\":[3],"
    "\"feature\":\"AQAAAP//////////\","              /* 1, -1, -1 */
    "\"cut\":\"AABgQAAAAAAAAAAA\","                  /* 3.5, 0, 0 */
    "\"right\":\"AgAAAAEAAAACAAAA\","                /* 2, 1, 2 */
    "\"value\":\"AAAAAAAACEAAAAAAAADwPwAAAAAAABRA\"" /* 3, 1, 5 */
    "}}";

static void
test_stump (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (PredictFitted) fitted = parse (stump, &error);
  float x[] = { 0, 0, 3.5f, 3.75f };
  PredictSamples samples = { 2, 2, x, NULL };
  double predicted[2];

  g_assert_no_error (error);
  predict_fitted_predict (fitted, &samples, 1, predicted, NULL);
  g_assert_cmpfloat (predicted[0], ==, 1);
  g_assert_cmpfloat (predicted[1], ==, 5);
}

static void
test_refused_trees (void)
{
  static const TestingChange changes[] = {
    { "\"tree\"", "\"shrub\"", "no method \"shrub\"" },
    { "\"tree\"", "7", "\"method\"" },
    { "\"tree\"", "\"svr\"", "\"svr\" is not an object" },
    { "\"n_features\":2", "\"n_features\":1", "no such feature" },
    { "\"n_features\":2", "\"n_features\":5000000000", "\"n_features\"" },
    { "\"n_features\":2", "\"n_features\":-1", "\"n_features\"" },
    { "\"bootstrap\":false", "\"bootstrap\":0", "\"bootstrap\"" },
    { "[3]", "[2]", "3 values for 2 nodes" },
    { "[3]", "[]", "at least one tree" },
    { "[3]", "[0]", "numbers of nodes" },
    { "[3]", "[\"a\"]", "finite numbers" },
    { "[3]", "[2147483648]", "numbers of nodes" },
    { "[3]", "[2,1]", "" },
    /* A right child beyond the tree, before its parent, the left child. */
    { "AgAAAAEAAAACAAAA", "AwAAAAEAAAACAAAA", "tree 0" },
    { "AgAAAAEAAAACAAAA", "AAAAAAEAAAACAAAA", "tree 0" },
    { "AgAAAAEAAAACAAAA", "AQAAAAEAAAACAAAA", "tree 0" },
    { "AQAAAP//////////", "AgAAAP//////////", "no such feature" },
    { "AABgQAAA", "AADAfwAA", "not a finite number" },
    { "AAAAAAAACEAA", "AAAAAAAA+H8A", "not a finite number" },
    { "AABgQAAAAAAAAAAA", "AABgQAAA AAAAAAA", "base64" },
    { "AABgQAAAAAAAAAAA", "AABgQAAAAAAAAAA", "base64" },
    { "AABgQAAAAAAAAAAA", "AABgQAAAAAAAAA==", "base64" },
  };
  static const TestingChange settings[] = {
    { "\"min_samples_split\":2", "\"min_samples_split\":1", "min-samples-split" },
  };

  testing_refuse (parse, stump, changes, G_N_ELEMENTS (changes), BASE_ERROR);
  testing_refuse (parse, stump, settings, 1, PREDICT_ERROR);
}

static void
test_refused_others (void)
{
  static const TestingChange of_line[] = {
    { "\"constant\" : ", "\"constant\" : 1e999, \"x\" : ", "\"constant\"" },
    { "\"used\"", "\"unused\"", "\"columns\"" },
    { "\"used\"", "3", "\"columns\"" },
    { "\"used\",", "", "\"columns\"" },
    { "\"coefficients\" : [", "\"coefficients\" : [ 1,", "11 numbers where 10" },
    { "\"n_features\" : 10", "\"n_features\" : 9", "10 numbers where 9" },
  };
#ifdef HAVE_SVM
  static const TestingChange of_vectors[] = {
    { "\"vectors\" : \"", "\"vectors\" : \"AAAA", "\"vectors\"" },
    { "\"sds\" : [", "\"sds\" : [ -1, 1, 1, 1, 1, 1, 1, 1, 1, 1 ], \"x\" : [", "\"sds\"" },
  };
#endif
  static const TestingChange of_level[] = {
    { "\"mean\" : ", "\"mean\" : null, \"x\" : ", "\"mean\"" },
  };
  static const struct {
    PredictMethod method;
    const TestingChange *changes;
    guint n;
  } cases[] = {
    { PREDICT_LINEAR, of_line, G_N_ELEMENTS (of_line) },
#ifdef HAVE_SVM
    { PREDICT_SVR, of_vectors, G_N_ELEMENTS (of_vectors) },
#endif
    { PREDICT_MEAN, of_level, G_N_ELEMENTS (of_level) },
  };
  g_autoptr (PredictSamples) samples = friedman_samples (30, 10, 1);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (PredictFitted) fitted = fit (samples, cases[i].method);
    g_autofree char *text = text_of (fitted);

    testing_refuse (parse, text, cases[i].changes, cases[i].n, BASE_ERROR);
  }
}

static void
test_nothing_to_learn (void)
{
  g_autoptr (PredictSamples) none = predict_samples_new (0, 1, TRUE);
  g_autoptr (PredictSamples) unknown = predict_samples_new (1, 1, FALSE);
  PredictSettings settings = predict_settings_default (PREDICT_MEAN);
  g_autoptr (GError) error = NULL;

  g_assert_null (predict_fit (none, &settings, NULL, NULL, NULL, &error));
  g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE);
  g_clear_error (&error);
  g_assert_null (predict_fit (unknown, &settings, NULL, NULL, NULL, &error));
  g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE);
  g_clear_error (&error);
  settings.method = PREDICT_SVR;
  settings.svr_c = -1;
  g_assert_null (predict_fit (unknown, &settings, NULL, NULL, NULL, &error));
  g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION);
}

/* A fit has finite numbers only, which its reader takes, or there is none. */
static void
test_overflow (void)
{
  static const double targets[][4] = { { DBL_MAX, DBL_MAX, DBL_MAX / 2, 1 },
                                       { DBL_MAX, -DBL_MAX, 0, 1 } };

  for (guint method = 0; method < PREDICT_N_METHODS; method++)
    for (guint at = 0; at < G_N_ELEMENTS (targets); at++) {
      if (!testing_has_method ((PredictMethod) method))
        continue;
      g_autoptr (PredictSamples) samples = predict_samples_new (4, 1, TRUE);
      PredictSettings settings = predict_settings_default ((PredictMethod) method);
      g_autoptr (GError) error = NULL;
      g_autoptr (PredictFitted) fitted = NULL, back = NULL;
      g_autofree char *text = NULL;

      for (guint i = 0; i < 4; i++) {
        samples->x[i] = (float) i;
        samples->y[i] = targets[at][i];
      }
      fitted = predict_fit (samples, &settings, NULL, NULL, NULL, &error);
      if (fitted == NULL) {
        g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC);
        continue;
      }
      text = text_of (fitted);
      back = parse (text, &error);
      g_assert_no_error (error);
      g_assert_nonnull (back);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/fitted/reference", test_reference);
  g_test_add_func ("/predictors/fitted/permutation", test_permutation);
  for (guint method = 0; method < PREDICT_N_METHODS; method++) {
    g_autofree char *path =
        g_strdup_printf ("/predictors/fitted/round-trip/%s", predict_method_names[method]);

    if (testing_has_method ((PredictMethod) method))
      g_test_add_data_func (path, GINT_TO_POINTER (method), test_round_trip);
  }
  g_test_add_func ("/predictors/fitted/stump", test_stump);
  g_test_add_func ("/predictors/fitted/refused-trees", test_refused_trees);
  g_test_add_func ("/predictors/fitted/refused-others", test_refused_others);
  g_test_add_func ("/predictors/fitted/overflow", test_overflow);
  g_test_add_func ("/predictors/fitted/nothing-to-learn", test_nothing_to_learn);
  return g_test_run ();
}
