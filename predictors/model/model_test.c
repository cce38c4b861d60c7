/* model_test.c - models: trained, written, read, applied to other tables.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/predict_error.h"
#include "predictors/forest/friedman.h"
#include "predictors/model/model_fixture.h"

#include <math.h>
#include <string.h>

/* Everything, with an evaluation and importances of both kinds. */
static void
test_round_trip (void)
{
  g_autoptr (PredictTable) table = friedman_table_repeated (2, 30, 1, 3);
  g_autoptr (PredictTable) other = friedman_table (2, 20, 2);
  PredictRecipe recipe = model_recipe (PREDICT_FOREST);
  g_autoptr (PredictModel) model = NULL, back = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL, *again = NULL;
  g_auto (PredictAnswer) a = { 0 }, b = { 0 };

  recipe.group = "group";
  recipe.permutation_repeats = 2;
  recipe.trial = (PredictTrial){ .repeats = 4, .test_share = 1.0 / 3, .seed = 1 };
  model = model_train (table, &recipe);
  text = model_text (model);
  back = model_read_text (text, -1, &error);
  g_assert_no_error (error);
  again = model_text (back);
  g_assert_cmpstr (again, ==, text);
  a = model_apply (model, other, 0.9);
  b = model_apply (back, other, 0.9);
  g_assert_cmpmem (a.predicted, 20 * sizeof (double), b.predicted, 20 * sizeof (double));
  g_assert_cmpmem (a.lower, 20 * sizeof (double), b.lower, 20 * sizeof (double));
  g_assert_cmpuint (a.n_outside, ==, b.n_outside);
  g_assert_true (back->evaluated);
  g_assert_cmpuint (back->evaluation.n_tests, ==, 4);
  g_assert_cmpuint (back->evaluation.test_samples, ==, 30);
  g_assert_cmpuint (back->interval.groups, ==, 30);
  g_assert_cmpuint (back->interval.of, ==, 90);
  g_assert_nonnull (back->importances);
  g_assert_nonnull (back->permutation);
  g_assert_cmpstr (back->version, ==, PACKAGE_VERSION);
}

/* Function 2 is of x0, x1 and x2; x3 hardly matters: 125 of noise are above what it does. */
static void
test_permutation (void)
{
  g_autoptr (PredictTable) table = friedman_table (2, 300, 1);
  PredictRecipe recipe = model_recipe (PREDICT_EXTRA_TREES);
  g_autoptr (PredictModel) model = NULL;

  recipe.permutation_repeats = 3;
  model = model_train (table, &recipe);
  g_assert_cmpfloat (model->permutation[1], >, 0.3);
  g_assert_cmpfloat (model->permutation[2], >, 0.3);
  /* On samples that it has learned from, it would be clearly above. */
  g_assert_cmpfloat (fabs (model->permutation[3]), <, 0.05);
}

/* Every row has two twins in the bags of nearly all trees: what is out of bag seems to be known. */
static void
test_twins_out_of_bag (void)
{
  g_autoptr (PredictTable) table = friedman_table_repeated (1, 30, 1, 3);
  PredictRecipe recipe = model_recipe (PREDICT_FOREST);
  g_autoptr (PredictModel) told = NULL, untold = model_train (table, &recipe);

  recipe.group = "group";
  told = model_train (table, &recipe);
  g_assert_cmpfloat (told->interval.floor, >, 2 * untold->interval.floor);
  g_assert_cmpuint (untold->interval.groups, >, 80);
}

/* Not a byte of the file depends on the threads. */
static void
test_threads (void)
{
  g_autoptr (PredictTable) table = friedman_table (1, 60, 1);

  for (guint method = 0; method < PREDICT_N_METHODS; method++) {
    PredictRecipe recipe = model_recipe ((PredictMethod) method);
    g_autoptr (PredictModel) one = NULL, five = NULL;
    g_autofree char *of_one = NULL, *of_five = NULL;

    recipe.permutation_repeats = 1;
    recipe.trial = (PredictTrial){ .repeats = 1, .folds = 3, .seed = 1 };
    recipe.settings.threads = 1;
    one = model_train (table, &recipe);
    recipe.settings.threads = 5;
    five = model_train (table, &recipe);
    of_one = model_text (one);
    of_five = model_text (five);
    g_assert_cmpstr (of_one, ==, of_five);
  }
}

/* A model of logarithms of the exponential is the model, exponentiated. */
static void
test_log_target (void)
{
  g_autoptr (PredictTable) table = friedman_table (1, 80, 1);
  const double *y = predict_table_find (table, "y")->numbers;
  double *exponential = g_new (double, 80);
  PredictRecipe recipe = model_recipe (PREDICT_LINEAR);
  g_autoptr (PredictModel) plain = model_train (table, &recipe), logarithmic = NULL;
  g_auto (PredictAnswer) of_plain = { 0 }, of_log = { 0 };

  for (guint i = 0; i < 80; i++)
    exponential[i] = exp (y[i]);
  predict_table_take_numbers (table, "time_s", "s", exponential);
  recipe.target = "time_s";
  recipe.log_target = TRUE;
  logarithmic = model_train (table, &recipe);
  of_plain = model_apply (plain, table, 0.9);
  of_log = model_apply (logarithmic, table, 0.9);
  for (guint i = 0; i < 80; i++) {
    g_assert_cmpfloat_with_epsilon (log (of_log.predicted[i]), of_plain.predicted[i], 1e-9);
    g_assert_cmpfloat_with_epsilon (log (of_log.lower[i]), of_plain.lower[i], 1e-9);
    g_assert_cmpfloat_with_epsilon (log (of_log.upper[i]), of_plain.upper[i], 1e-9);
  }
}

/* Five rows say nothing about 90 %. */
static void
test_few_rows (void)
{
  g_autoptr (PredictTable) table = friedman_table (1, 5, 1), one = friedman_table (1, 1, 1);
  PredictRecipe recipe = model_recipe (PREDICT_EXTRA_TREES);
  g_autoptr (PredictModel) model = model_train (table, &recipe),
                           of_one = model_train (one, &recipe);
  g_auto (PredictAnswer) wide = model_apply (model, table, 0.9),
                         narrow = model_apply (model, table, 0.8);
  g_auto (PredictAnswer) unknown = model_apply (of_one, table, 0.1);

  g_assert_true (isinf (wide.lower[0]) && wide.lower[0] < 0);
  g_assert_true (isinf (wide.upper[0]) && wide.upper[0] > 0);
  g_assert_true (isfinite (narrow.lower[0]) && isfinite (narrow.upper[0]));
  g_assert_true (isinf (unknown.upper[0]));
  g_assert_cmpfloat (unknown.predicted[3], ==, predict_table_find (one, "y")->numbers[0]);
}

/* --- Other tables --- */

static PredictTable *
table_of (const char *const *names, const char *unit, uint64_t n_rows, double value)
{
  PredictTable *table = predict_table_new ("other.csv", n_rows);

  for (guint i = 0; names[i] != NULL; i++) {
    double *numbers = g_new (double, n_rows);

    for (uint64_t row = 0; row < n_rows; row++)
      numbers[row] = value;
    predict_table_take_numbers (table, names[i], unit, numbers);
  }
  return table;
}

static void
check_no_answer (const PredictModel *model, const PredictTable *table, const char *message)
{
  g_autoptr (GError) error = NULL;
  PredictAnswer answer;

  g_assert_false (predict_model_apply (model, table, 0.9, 1, &answer, &error));
  g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE);
  g_assert_cmpstr (error->message, ==, message);
}

static void
test_missing_features (void)
{
  static const char *const one[] = { "x0", "x2", "x1", NULL }, *const none[] = { "x9", "x2", NULL };
  g_autoptr (PredictTable) table = friedman_table (1, 20, 1);
  g_autoptr (PredictTable) lacks_one = table_of (one, NULL, 1, 0);
  g_autoptr (PredictTable) lacks_three = table_of (none, NULL, 1, 0);
  PredictRecipe recipe = model_recipe (PREDICT_MEAN);
  g_autoptr (PredictModel) model = model_train (table, &recipe);

  check_no_answer (model, lacks_one, "other.csv lacks a column that the model needs: \"x3\"");
  check_no_answer (model, lacks_three,
                   "other.csv lacks columns that the model needs: \"x0\", \"x1\", \"x3\"");
}

/* Columns are found by name, wherever they stand and whatever stands beside them. */
static void
test_other_columns (void)
{
  static const char *const texts[] = { "a", "b", "c" };
  g_autoptr (PredictTable) table = friedman_table (1, 40, 1), few = friedman_table (1, 3, 2);
  g_autoptr (PredictTable) shuffled = predict_table_new ("shuffled", 3);
  PredictRecipe recipe = model_recipe (PREDICT_EXTRA_TREES);
  g_autoptr (PredictModel) model = model_train (table, &recipe);
  g_auto (PredictAnswer) of_few = model_apply (model, few, 0), of_shuffled = { 0 };

  predict_table_add_texts (shuffled, "mapping", texts);
  for (guint i = few->n_columns; i-- > 0;) {
    const PredictColumn *column = &few->columns[i];

    predict_table_take_numbers (shuffled, column->name, "m",
                                g_memdup2 (column->numbers, 3 * sizeof (double)));
  }
  of_shuffled = model_apply (model, shuffled, 0);
  g_assert_cmpmem (of_few.predicted, 3 * sizeof (double), of_shuffled.predicted,
                   3 * sizeof (double));
  g_assert_null (of_few.lower);
}

static void
test_units (void)
{
  g_autoptr (PredictTable) bytes = table_of (model_features, "bytes", 3, 1);
  g_autoptr (PredictTable) kilobytes = table_of (model_features, "KiB", 3, 1);
  g_autoptr (PredictTable) unknown = table_of (model_features, NULL, 3, 1);
  PredictRecipe recipe = model_recipe (PREDICT_MEAN);
  g_autoptr (PredictModel) model = NULL;
  g_auto (PredictAnswer) same = { 0 }, none = { 0 };

  predict_table_take_numbers (bytes, "y", "s", g_new0 (double, 3));
  model = model_train (bytes, &recipe);
  same = model_apply (model, bytes, 0);
  none = model_apply (model, unknown, 0);
  check_no_answer (model, kilobytes,
                   "other.csv: \"x0\" is in KiB, and the model has learned it in bytes");
}

/* Rows with a feature below or above all that was learned from. */
static void
test_outside (void)
{
  g_autoptr (PredictTable) table = friedman_table (1, 200, 1), same = friedman_table (1, 200, 1);
  PredictRecipe recipe = model_recipe (PREDICT_LINEAR);
  g_autoptr (PredictModel) model = model_train (table, &recipe);
  g_auto (PredictAnswer) inside = { 0 }, outside = { 0 };

  inside = model_apply (model, same, 0);
  g_assert_cmpuint (inside.n_outside, ==, 0);
  same->columns[0].numbers[7] = 2;
  same->columns[3].numbers[7] = 2;
  same->columns[1].numbers[9] = -1;
  same->columns[5].numbers[11] = 99; /* no feature */
  outside = model_apply (model, same, 0);
  g_assert_cmpuint (outside.n_outside, ==, 2);
}

static void
test_refused_recipes (void)
{
  static const char *const twice[] = { "x0", "x1", "x0", NULL }, *const target[] = { "y", NULL };
  g_autoptr (PredictTable) table = friedman_table (1, 20, 1);
  PredictRecipe recipe = model_recipe (PREDICT_MEAN);
  g_autoptr (GError) error = NULL;

  recipe.features = twice;
  g_assert_null (predict_model_train (table, &recipe, NULL, NULL, &error));
  g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION);
  g_clear_error (&error);
  recipe.features = target;
  g_assert_null (predict_model_train (table, &recipe, NULL, NULL, &error));
  g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION);
  g_clear_error (&error);
  recipe.features = model_features;
  recipe.target = "z";
  g_assert_null (predict_model_train (table, &recipe, NULL, NULL, &error));
  g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/model/round-trip", test_round_trip);
  g_test_add_func ("/predictors/model/permutation", test_permutation);
  g_test_add_func ("/predictors/model/twins-out-of-bag", test_twins_out_of_bag);
  g_test_add_func ("/predictors/model/threads", test_threads);
  g_test_add_func ("/predictors/model/log-target", test_log_target);
  g_test_add_func ("/predictors/model/few-rows", test_few_rows);
  g_test_add_func ("/predictors/model/missing-features", test_missing_features);
  g_test_add_func ("/predictors/model/other-columns", test_other_columns);
  g_test_add_func ("/predictors/model/units", test_units);
  g_test_add_func ("/predictors/model/outside", test_outside);
  g_test_add_func ("/predictors/model/refused-recipes", test_refused_recipes);
  return g_test_run ();
}
