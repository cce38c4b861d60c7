/* method_test.c - settings: what is the default, what is refused.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/predict_error.h"
#include "predictors/model/method.h"

#include <math.h>

/* scikit-learn's, but for the seed. */
static void
test_defaults (void)
{
  static const struct {
    const char *name;
    guint trees;
    gboolean bootstrap;
  } methods[PREDICT_N_METHODS] = {
    [PREDICT_EXTRA_TREES] = { "extra-trees", 100, FALSE },
    [PREDICT_FOREST] = { "forest", 100, TRUE },
    [PREDICT_TREE] = { "tree", 1, FALSE },
    [PREDICT_LINEAR] = { "linear", 100, FALSE },
    [PREDICT_SVR] = { "svr", 100, FALSE },
    [PREDICT_MEAN] = { "mean", 100, FALSE },
    [PREDICT_AUTO] = { "auto", 100, FALSE },
    [PREDICT_BOOSTING] = { "boosting", 100, FALSE },
  };

  for (guint method = 0; method < PREDICT_N_METHODS; method++) {
    PredictSettings settings = predict_settings_default (method);
    g_autoptr (GError) error = NULL;

    g_assert_cmpstr (predict_method_names[method], ==, methods[method].name);
    g_assert_cmpuint (settings.method, ==, method);
    g_assert_cmpuint (settings.trees, ==, methods[method].trees);
    g_assert_cmpint (settings.bootstrap, ==, methods[method].bootstrap);
    g_assert_cmpuint (settings.max_features, ==, 0);
    g_assert_cmpuint (settings.min_samples_split, ==, 2);
    g_assert_cmpuint (settings.min_samples_leaf, ==, method == PREDICT_BOOSTING ? 0 : 1);
    g_assert_cmpuint (settings.max_leaf_nodes, ==, 31);
    g_assert_cmpfloat (settings.learning_rate, ==, 0.1);
    g_assert_cmpfloat (settings.l2, ==, 0);
    g_assert_cmpfloat (settings.quantile, ==, 0);
    g_assert_cmpint (settings.early_stopping, ==, PREDICT_STOPPING_AUTO);
    g_assert_cmpuint (settings.max_depth, ==, 0);
    g_assert_cmpfloat (settings.ridge, ==, 0);
    g_assert_cmpfloat (settings.svr_c, ==, 1);
    g_assert_cmpfloat (settings.svr_epsilon, ==, 0.1);
    g_assert_cmpfloat (settings.svr_gamma, ==, 0);
    g_assert_cmpuint (settings.seed, ==, 1);
    g_assert_true (predict_settings_check (&settings, &error));
    g_assert_no_error (error);
  }
  g_assert_null (predict_method_names[PREDICT_N_METHODS]);
}

#define WHOLE(member)  G_STRUCT_OFFSET (PredictSettings, member), FALSE
#define DOUBLE(member) G_STRUCT_OFFSET (PredictSettings, member), TRUE

/* Settings of a method with one of them changed; a setting that the method does not use is not
 * checked. */
static void
test_limits (void)
{
  static const struct {
    PredictMethod method;
    gsize offset;
    gboolean is_double;
    double value;
    const char *refusal; /* NULL: accepted */
  } cases[] = {
    { PREDICT_EXTRA_TREES, WHOLE (trees), 0, "the number of trees is 0; it must be at least 1" },
    { PREDICT_FOREST, WHOLE (trees), 1, NULL },
    { PREDICT_TREE, WHOLE (trees), 2, "2 trees of method \"tree\", which is a single one" },
    { PREDICT_TREE, WHOLE (min_samples_split), 1, "min-samples-split is 1; it must be at least 2" },
    { PREDICT_FOREST, WHOLE (min_samples_leaf), 0, "min-samples-leaf is 0; it must be at least 1" },
    { PREDICT_LINEAR, DOUBLE (ridge), -0.5, "ridge is -0.5; it must be at least 0" },
    { PREDICT_LINEAR, DOUBLE (ridge), NAN, "ridge is nan; it must be at least 0" },
    { PREDICT_LINEAR, DOUBLE (ridge), 3, NULL },
    { PREDICT_SVR, DOUBLE (svr_c), 0, "the penalty C of the SVR is 0; it must be above 0" },
    { PREDICT_SVR, DOUBLE (svr_c), INFINITY,
      "the penalty C of the SVR is inf; it must be above 0" },
    { PREDICT_SVR, DOUBLE (svr_epsilon), -1, "epsilon of the SVR is -1; it must be at least 0" },
    { PREDICT_SVR, DOUBLE (svr_epsilon), 0, NULL },
    { PREDICT_SVR, DOUBLE (svr_gamma), -1, "gamma of the SVR is -1; it must be at least 0" },
    { PREDICT_MEAN, WHOLE (method), PREDICT_N_METHODS, "there is no method 8" },
    { PREDICT_BOOSTING, WHOLE (trees), 0, "the number of trees is 0; it must be at least 1" },
    { PREDICT_BOOSTING, WHOLE (max_leaf_nodes), 1, "max-leaf-nodes is 1; it must be at least 2" },
    { PREDICT_BOOSTING, DOUBLE (learning_rate), 0,
      "the learning rate is 0; it must be above 0 and at most 1" },
    { PREDICT_BOOSTING, DOUBLE (learning_rate), NAN,
      "the learning rate is nan; it must be above 0 and at most 1" },
    { PREDICT_BOOSTING, DOUBLE (learning_rate), 1, NULL },
    { PREDICT_BOOSTING, DOUBLE (l2), -1, "l2 is -1; it must be at least 0" },
    { PREDICT_BOOSTING, DOUBLE (quantile), 1, "the quantile is 1; it must be between 0 and 1" },
    { PREDICT_BOOSTING, DOUBLE (quantile), 0.9, NULL },
    { PREDICT_BOOSTING, WHOLE (min_samples_split), 0, NULL },
    { PREDICT_LINEAR, WHOLE (trees), 0, NULL },
    { PREDICT_EXTRA_TREES, DOUBLE (svr_c), -1, NULL },
    { PREDICT_SVR, DOUBLE (ridge), -1, NULL },
    { PREDICT_MEAN, DOUBLE (ridge), -1, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    PredictSettings settings = predict_settings_default (cases[i].method);
    g_autoptr (GError) error = NULL;

    g_test_message ("%s, case %u", predict_method_names[cases[i].method], i);
    if (cases[i].is_double)
      G_STRUCT_MEMBER (double, &settings, cases[i].offset) = cases[i].value;
    else
      G_STRUCT_MEMBER (guint, &settings, cases[i].offset) = (guint) cases[i].value;
    g_assert_cmpint (predict_settings_check (&settings, &error), ==, cases[i].refusal == NULL);
    if (cases[i].refusal != NULL)
      g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION);
    g_assert_cmpstr (error != NULL ? error->message : NULL, ==, cases[i].refusal);
  }
}

static void
test_threads (void)
{
  PredictSettings settings = predict_settings_default (PREDICT_MEAN);

  g_assert_cmpuint (predict_threads (&settings), ==, g_get_num_processors ());
  settings.threads = 7;
  g_assert_cmpuint (predict_threads (&settings), ==, 7);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/method/defaults", test_defaults);
  g_test_add_func ("/predictors/method/limits", test_limits);
  g_test_add_func ("/predictors/method/threads", test_threads);
  return g_test_run ();
}
