/* model_test.c - models: trained, applied to other tables, written, read by others, and broken files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "predictors/forest/friedman_testing.h"
#include "predictors/model/model.h"
#include "predictors/predict_error.h"
#include "predictors/predict_testing.h"

#include <math.h>
#include <string.h>

/* The first four features of Friedman's functions. */
static const char *const model_features[] = { "x0", "x1", "x2", "x3", NULL };

/* Of these features, target y, ten trees at most; not evaluated. */
static PredictRecipe
model_recipe (PredictMethod method)
{
  PredictRecipe recipe = { .features = model_features,
                           .target = "y",
                           .settings = predict_settings_default (method),
                           .calibration_folds = 10 };

  recipe.settings.trees = MIN (recipe.settings.trees, 10);
  return recipe;
}

static PredictModel *
model_train (const PredictTable *table, const PredictRecipe *recipe)
{
  g_autoptr (GError) error = NULL;
  PredictModel *model = predict_model_train (table, recipe, NULL, NULL, &error);

  g_assert_no_error (error);
  return model;
}

static char *
model_text (const PredictModel *model)
{
  char *text = NULL;
  gsize n;
  FILE *out = open_memstream (&text, &n);

  g_assert_true (predict_model_write (model, out, NULL));
  fclose (out);
  return text;
}

static gpointer
read_file (const char *path, GError **error)
{
  return predict_model_read (path, error);
}

static gpointer
parse (const char *text, GError **error)
{
  return testing_read (read_file, text, -1, error);
}

static PredictAnswer
model_apply (const PredictModel *model, const PredictTable *table, double level)
{
  g_autoptr (GError) error = NULL;
  PredictAnswer answer = { 0 };

  predict_model_apply (model, table, level, 1, &answer, &error);
  g_assert_no_error (error);
  return answer;
}

/* --- Training and applying --- */

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
  back = parse (text, &error);
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
  g_assert_cmpuint (back->interval.all.groups, ==, 30);
  g_assert_cmpuint (back->interval.all.of, ==, 90);
  g_assert_nonnull (back->importances);
  g_assert_nonnull (back->permutation);
  g_assert_cmpstr (back->version, ==, PACKAGE_VERSION);
}

/* Function 2 is of x0, x1 and x2; x3 hardly matters: the noise of 125 is larger than its effect. */
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

/* Every row has two twins in the bags of nearly all trees: out-of-bag errors are far too small. */
static void
test_twins_out_of_bag (void)
{
  g_autoptr (PredictTable) table = friedman_table_repeated (1, 30, 1, 3);
  PredictRecipe recipe = model_recipe (PREDICT_FOREST);
  g_autoptr (PredictModel) told = NULL, untold = model_train (table, &recipe);

  recipe.group = "group";
  told = model_train (table, &recipe);
  g_assert_cmpfloat (told->interval.all.floor, >, 2 * untold->interval.all.floor);
  g_assert_cmpuint (untold->interval.all.groups, >, 80);
}

/* Not a byte of the file depends on the threads. */
static void
test_threads (void)
{
  g_autoptr (PredictTable) table = friedman_table (1, 60, 1);

  for (guint method = 0; method < PREDICT_N_METHODS; method++) {
    if (!testing_has_method ((PredictMethod) method))
      continue;
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
  GError *error = NULL;
  PredictAnswer answer;

  g_assert_false (predict_model_apply (model, table, 0.9, 1, &answer, &error));
  testing_take_error (&error, PREDICT_ERROR, message);
}

static void
test_refused_tables (void)
{
  static const char *const one[] = { "x0", "x2", "x1", NULL }, *const none[] = { "x9", "x2", NULL };
  static const struct {
    const char *const *features;
    const char *unit, *message;
  } cases[] = {
    { one, NULL, "other.csv lacks a column that the model needs: \"x3\"" },
    { none, NULL, "other.csv lacks columns that the model needs: \"x0\", \"x1\", \"x3\"" },
    { model_features, "KiB", "other.csv: \"x0\" is in KiB; the model was trained in bytes" },
  };
  g_autoptr (PredictTable) bytes = table_of (model_features, "bytes", 3, 1);
  g_autoptr (PredictTable) unknown = table_of (model_features, NULL, 3, 1);
  PredictRecipe recipe = model_recipe (PREDICT_MEAN);
  g_autoptr (PredictModel) model = NULL;
  g_auto (PredictAnswer) same = { 0 }, none_known = { 0 };

  predict_table_take_numbers (bytes, "y", "s", g_new0 (double, 3));
  model = model_train (bytes, &recipe);
  same = model_apply (model, bytes, 0);
  none_known = model_apply (model, unknown, 0);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (PredictTable) table = table_of (cases[i].features, cases[i].unit, 1, 0);

    check_no_answer (model, table, cases[i].message);
  }
}

static void
test_refused_recipes (void)
{
  static const char *const twice[] = { "x0", "x1", "x0", NULL }, *const target[] = { "y", NULL };
  static const struct {
    const char *const *features;
    const char *target, *message;
  } cases[] = {
    { twice, "y", "the feature \"x0\" is named twice" },
    { target, "y", "\"y\" is the target and cannot be a feature" },
    { model_features, "z", "no column \"z\"" },
  };
  g_autoptr (PredictTable) table = friedman_table (1, 20, 1);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    PredictRecipe recipe = model_recipe (PREDICT_MEAN);
    GError *error = NULL;

    recipe.features = cases[i].features;
    recipe.target = cases[i].target;
    g_assert_null (predict_model_train (table, &recipe, NULL, NULL, &error));
    testing_take_error (&error, PREDICT_ERROR, cases[i].message);
  }
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

/* Rows with a feature below or above all that was learned from. */
static void
test_outside (void)
{
  g_autoptr (PredictTable) table = friedman_table (1, 200, 1), same = friedman_table (1, 200, 1);
  PredictRecipe recipe = model_recipe (PREDICT_LINEAR);
  g_autoptr (PredictModel) model = model_train (table, &recipe);
  g_auto (PredictAnswer) inside = { 0 }, outside = { 0 };
  double farthest = 0, below = 0;

  inside = model_apply (model, same, 0);
  g_assert_cmpuint (inside.n_outside, ==, 0);
  same->columns[0].numbers[7] = 2;
  same->columns[3].numbers[7] = 2;
  same->columns[1].numbers[9] = -1;
  same->columns[5].numbers[11] = 99; /* no feature */
  outside = model_apply (model, same, 0.9);
  g_assert_cmpuint (outside.n_outside, ==, 2);
  /* By the feature that is farthest: the distance beyond its range, in ranges. */
  for (guint feature = 0; feature < 4; feature++) {
    double range = model->largest[feature] - model->smallest[feature];

    if (feature == 0 || feature == 3)
      farthest = fmax (farthest, (2 - model->largest[feature]) / range);
    if (feature == 1)
      below = (model->smallest[feature] + 1) / range;
  }
  g_assert_cmpfloat (outside.outside[7], ==, farthest);
  g_assert_cmpfloat (outside.outside[9], ==, below);
  g_assert_cmpfloat (outside.outside[11], ==, 0);
  for (guint row = 7; row <= 11; row += 2) {
    double predicted = outside.predicted[row],
           half = predict_interval_half_width (&model->interval, 0.9, predicted, 0, 0) +
                  model->interval.range * outside.outside[row];

    g_assert_cmpfloat_with_epsilon (outside.upper[row] - predicted, half, 1e-9);
    g_assert_cmpfloat_with_epsilon (predicted - outside.lower[row], half, 1e-9);
  }
}

/* Nothing is known of the effect of a feature that never changed: another value has no bounds. */
static void
test_outside_of_constant (void)
{
  g_autoptr (PredictTable) table = friedman_table (1, 60, 1), other = friedman_table (1, 60, 1);
  PredictRecipe recipe = model_recipe (PREDICT_MEAN);
  g_autoptr (PredictModel) model = NULL;
  g_auto (PredictAnswer) answer = { 0 };

  for (guint row = 0; row < 60; row++)
    table->columns[2].numbers[row] = other->columns[2].numbers[row] = 5;
  other->columns[2].numbers[3] = 5.5;
  model = model_train (table, &recipe);
  answer = model_apply (model, other, 0.8);
  g_assert_true (isinf (answer.outside[3]));
  g_assert_true (isinf (answer.upper[3]) && isinf (answer.lower[3]));
  g_assert_cmpfloat (answer.outside[4], ==, 0);
  g_assert_true (isfinite (answer.upper[4]));
}

/* The report's coverage: each category of texts, the group where it has few values, and no other column. */
static void
test_coverage (void)
{
  static const char *const kinds[] = { "even", "odd" };
  g_autoptr (PredictTable) table = friedman_table (1, 200, 1);
  g_autofree const char **kind = g_new (const char *, 200);
  PredictRecipe recipe = model_recipe (PREDICT_EXTRA_TREES);
  g_autoptr (PredictModel) model = NULL;
  uint64_t of_tenths = 0, of_kinds = 0;

  for (guint row = 0; row < 200; row++)
    kind[row] = kinds[row % 2];
  predict_table_add_texts (table, "kind", kind);
  model = model_train (table, &recipe);
  g_assert_cmpuint (model->coverage->len, ==, 1 + 10 + 2);
  for (guint i = 0; i < model->coverage->len; i++) {
    const PredictCoverage *one = &g_array_index (model->coverage, PredictCoverage, i);

    of_tenths += g_str_equal (one->by, "prediction") ? one->n : 0;
    of_kinds += g_str_equal (one->by, "kind") ? one->n : 0;
  }
  g_assert_cmpuint (of_tenths, ==, 200);
  g_assert_cmpuint (of_kinds, ==, 200);
}

/* --- Sets in units of their means --- */

/* In program p the target is a[p] times x, and x goes from b[p] to 4 b[p]; the sets of p and q are of
 * two sizes each. */
static PredictTable *
programs_table (guint n_programs, const double *a, const double *b)
{
  static const char *const names[] = { "p", "q", "r" };
  guint n = 4 * n_programs;
  PredictTable *table = predict_table_new ("programs", n);
  g_autofree const char **programs = g_new (const char *, n);
  double *x = g_new (double, n), *y = g_new (double, n), *size = g_new (double, n);

  for (guint i = 0; i < n; i++) {
    programs[i] = names[i / 4];
    size[i] = 512;
    x[i] = b[i / 4] * (1 + i % 4);
    y[i] = a[i / 4] * x[i];
  }
  predict_table_add_texts (table, "program", programs);
  predict_table_take_numbers (table, "size", NULL, size);
  predict_table_take_numbers (table, "x", NULL, x);
  predict_table_take_numbers (table, "y", NULL, y);
  return table;
}

/* Over its mean the target is what x is over its own, in all programs, and in one that was not
 * learned from: 1, 2, 3 and 4 over 2.5. */
static void
test_sets (void)
{
  static const char *const features[] = { "x", NULL }, *const sets[] = { "program", "size", NULL };
  static const char *const missing[] = { "colour", NULL };
  static const double a[] = { 1, 100 }, b[] = { 1, 7 }, other_a[] = { 3 }, other_b[] = { 1000 };
  g_autoptr (PredictTable) table = programs_table (2, a, b),
                           other = programs_table (1, other_a, other_b);
  PredictRecipe recipe = model_recipe (PREDICT_LINEAR);
  g_autoptr (PredictModel) model = NULL, back = NULL;
  g_autofree char *text = NULL;
  g_autofree double *observed = NULL;
  g_auto (PredictAnswer) answer = { 0 };
  GError *error = NULL;

  recipe.features = features;
  recipe.sets = sets;
  model = model_train (table, &recipe);
  text = model_text (model);
  back = parse (text, &error);
  g_assert_no_error (error);
  answer = model_apply (back, other, 0);
  observed = predict_model_observed (back, other, predict_table_find (other, "y")->numbers, &error);
  for (guint i = 0; i < 4; i++) {
    g_assert_cmpfloat_with_epsilon (answer.predicted[i], (1 + i) / 2.5, 1e-6);
    g_assert_cmpfloat (observed[i], ==, (1 + i) / 2.5);
  }
  recipe.sets = missing;
  g_assert_null (predict_model_train (table, &recipe, NULL, NULL, &error));
  testing_take_error (&error, PREDICT_ERROR, "no column \"colour\"");
  recipe.sets = sets;
  recipe.log_target = TRUE;
  g_assert_null (predict_model_train (table, &recipe, NULL, NULL, &error));
  testing_take_error (&error, PREDICT_ERROR, "exclude each other");
}

/* --- The example in Python --- */

static gboolean
python_has_numpy (void)
{
  const char *const arguments[] = { "/usr/bin/python3", "-c", "import numpy", NULL };
  int status;

  return g_spawn_sync (NULL, (char **) arguments, NULL,
                       G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, NULL,
                       NULL, &status, NULL) &&
         status == 0;
}

static char *
csv_of (const PredictTable *table)
{
  GString *text = g_string_new (NULL);

  for (guint column = 0; column < table->n_columns; column++)
    g_string_append_printf (text, "%s%s", column > 0 ? "," : "", table->columns[column].name);
  for (uint64_t row = 0; row < table->n_rows; row++)
    for (guint column = 0; column < table->n_columns; column++)
      g_string_append_printf (text, "%s%.17g", column > 0 ? "," : "\n",
                              table->columns[column].numbers[row]);
  g_string_append_c (text, '\n');
  return g_string_free (text, FALSE);
}

/* The output of doc/examples/predict_model.py for a model and a table; the caller frees. */
static char *
ask_python (const PredictModel *model, const PredictTable *table)
{
  g_autofree char *folder = g_dir_make_tmp ("hopcast-model-XXXXXX", NULL);
  g_autofree char *program =
      g_test_build_filename (G_TEST_DIST, "doc/examples/predict_model.py", NULL);
  g_autofree char *model_path = g_build_filename (folder, "model.json", NULL);
  g_autofree char *table_path = g_build_filename (folder, "table.csv", NULL);
  g_autofree char *text = model_text (model), *csv = csv_of (table);
  const char *const arguments[] = { "/usr/bin/python3", program, model_path, table_path, NULL };
  g_autoptr (GError) error = NULL;
  char *printed;
  int status;

  g_assert_true (g_file_set_contents (model_path, text, -1, NULL));
  g_assert_true (g_file_set_contents (table_path, csv, -1, NULL));
  g_spawn_sync (NULL, (char **) arguments, NULL, G_SPAWN_DEFAULT, NULL, NULL, &printed, NULL,
                &status, &error);
  g_assert_no_error (error);
  g_assert_cmpint (status, ==, 0);
  g_unlink (model_path);
  g_unlink (table_path);
  g_rmdir (folder);
  return printed;
}

/* The twenty lines that the handbook shows read every method. */
static void
test_python (void)
{
  enum { ROWS = 40 };
  g_autoptr (PredictTable) table = friedman_table (1, 80, 1), other = friedman_table (1, ROWS, 2);

  if (!python_has_numpy ()) {
    g_test_skip ("no NumPy for /usr/bin/python3");
    return;
  }
  for (guint method = 0; method < PREDICT_N_METHODS; method++) {
    if (!testing_has_method ((PredictMethod) method))
      continue;
    PredictRecipe recipe = model_recipe ((PredictMethod) method);
    g_autoptr (PredictModel) model = model_train (table, &recipe);
    g_auto (PredictAnswer) answer = model_apply (model, other, 0);
    g_autofree char *printed = ask_python (model, other);
    g_auto (GStrv) lines = g_strsplit (printed, "\n", -1);

    g_assert_cmpuint (g_strv_length (lines), ==, ROWS + 1);
    for (guint row = 0; row < ROWS; row++)
      g_assert_cmpfloat_with_epsilon (g_ascii_strtod (lines[row], NULL), answer.predicted[row],
                                      1e-12);
  }
}

/* --- Broken files --- */

static char *
small_model (guint n_rows)
{
  g_autoptr (PredictTable) table = friedman_table (1, n_rows, 1);
  PredictRecipe recipe = model_recipe (PREDICT_EXTRA_TREES);
  g_autoptr (PredictModel) model = NULL;

  recipe.settings.trees = 2;
  model = model_train (table, &recipe);
  return model_text (model);
}

/* A file ends early: no model, whatever byte is the last.  The last two are "}" and the end of the
 * line. */
static void
test_truncated (void)
{
  g_autofree char *text = small_model (12);

  for (gssize n = (gssize) strlen (text) - 2; n >= 0; n -= n > 200 ? 97 : 1) {
    GError *error = NULL;

    g_assert_null (testing_read (read_file, text, n, &error));
    testing_take_error (&error, BASE_ERROR, "");
  }
}

static void
test_refused_files (void)
{
  static const TestingChange changes[] = {
    { "hopcast.model/1", "hopcast.model/2",
      "a model of another version, hopcast.model/2; this program reads hopcast.model/1" },
    { "hopcast.model/1", "hopcast.run/1", "no hopcast.model/1 but hopcast.run/1" },
    { "\"schema\" : \"hopcast.model/1\",", "", "\"schema\"" },
    { "\"name\" : \"x1\"", "\"name\" : \"x0\"", "\"x0\" is not a unique name" },
    { "\"name\" : \"x1\"", "\"name\" : \"\"", "\"name\" is not" },
    { "\"smallest\" : ", "\"smallest\" : NaN, \"a\" : ", "no JSON" },
    { "\"smallest\" : ", "\"smallest\" : null, \"a\" : ", "\"smallest\"" },
    { "\"log\" : false", "\"log\" : \"no\"", "\"log\"" },
    { "\"log\" : false", "\"log\" : true, \"sets\" : [\"a\"]", "\"sets\"" },
    { "\"log\" : false", "\"log\" : false, \"sets\" : []", "\"sets\"" },
    { "\"log\" : false", "\"log\" : false, \"sets\" : [\"a\", 3]", "\"sets\"" },
    { "\"log\" : false", "\"log\" : false, \"sets\" : \"a\"", "\"sets\"" },
    { "\"floor\" : ", "\"floor\" : -1, \"a\" : ", "\"floor\"" },
    { "\"scores\" : [", "\"scores\" : [ 0,", "\"interval\"" },
    { "\"interval\" : {",
      "\"interval\" : {\"samples\":2,\"groups\":2,\"floor\":1,\"scores\":[2,1]}, \"a\" : {",
      "\"scores\" is not ascending" },
    { "\"scores\" : [", "\"scores\" : [], \"a\" : [", "\"interval\"" },
    { "\"groups\" : 12", "\"groups\" : 13", "\"interval\"" },
    { "\"n_features\" : 4", "\"n_features\" : 5", "\"n_features\"" },
    { "\"features\" : [", "\"features\" : [], \"a\" : [", "one feature" },
    { "\"features\" : [", "\"features\" : [ 3,", "objects" },
    { "\"learned\"", "\"forgotten\"", "\"learned\"" },
  };
  /* Of three classes. */
  static const TestingChange class_changes[] = {
    { "\"range\" : ", "\"range\" : -1, \"a\" : ", "\"range\"" },
    { "\"classes\" : [", "\"classes\" : [], \"a\" : [", "\"classes\" is not one more" },
    { "\"classes\" : [", "\"classes\" : [3], \"a\" : [", "\"classes\" is not one more" },
    { "\"classes\" : [", "\"classes\" : [3, 4, 5], \"a\" : [", "objects" },
    { "\"classes\" : [",
      "\"classes\" : [{\"samples\":1,\"groups\":1,\"floor\":-1,\"scores\":[1]}, 4, 5], \"a\" : [",
      "\"floor\"" },
    { "\"edges\" : [", "\"edges\" : [ 0,", "\"classes\" is not one more" },
    { "\"edges\" : [", "\"edges\" : [5, 5], \"a\" : [", "\"edges\" is not rising" },
    { "\"edges\" : [", "\"edge\" : [", "\"edges\"" },
  };
  g_autofree char *text = small_model (12), *of_classes = small_model (75);

  testing_refuse (parse, text, changes, G_N_ELEMENTS (changes), BASE_ERROR);
  testing_refuse (parse, of_classes, class_changes, G_N_ELEMENTS (class_changes), BASE_ERROR);
}

/* Classes are kept; a model of an earlier version has none, and no bounds outside. */
static void
test_classes (void)
{
  g_autofree char *text = small_model (75), *again = NULL, *old_text = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (PredictModel) model = parse (text, &error), old = NULL;
  g_autoptr (PredictTable) rows = friedman_table (1, 60, 1);
  g_auto (GStrv) parts = g_strsplit (text, "\"classes\"", 2);
  g_auto (PredictAnswer) answer = { 0 };

  g_assert_no_error (error);
  g_assert_cmpuint (model->interval.n_classes, ==, 3);
  again = model_text (model);
  g_assert_cmpstr (again, ==, text);
  old_text = g_strjoinv ("\"others\"", parts);
  old = parse (old_text, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (old->interval.n_classes, ==, 0);
  rows->columns[0].numbers[5] = 3;
  answer = model_apply (old, rows, 0.9);
  g_assert_true (isinf (answer.upper[5]));
  g_assert_true (isfinite (answer.upper[6]));
}

/* json-glib would take the last of several values, and follow brackets until the stack is full. */
static void
test_one_value (void)
{
  g_autofree char *text = small_model (12), *deep = g_strnfill (1000000, '[');
  g_autofree char *before = g_strconcat ("1", text, NULL);
  g_autofree char *after = g_strconcat (text, "{}", NULL);
  g_autofree char *hidden = g_strconcat ("/* \" */", deep, NULL);
  g_autofree char *quoted = g_strconcat ("{\"a\\\"b\":'\"', \"c\":", deep, NULL);
  const char *const texts[] = { before, after, deep, hidden, quoted, "[1, 2]" };
  GError *error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_test_message ("%.40s", texts[i]);
    g_assert_null (parse (texts[i], &error));
    testing_take_error (&error, BASE_ERROR, "");
  }
  g_assert_null (predict_model_read ("/nonexistent/model.json", &error));
  testing_take_error (&error, G_FILE_ERROR, "No such file");
}

/* A model that could not be read back is not written. */
static void
test_unreadable (void)
{
  static const char *const features[] = { "x0", "x3", NULL };
  g_autoptr (PredictTable) table = friedman_table (1, 20, 1);
  PredictRecipe recipe = { .features = features,
                           .target = "y",
                           .settings = predict_settings_default (PREDICT_LINEAR),
                           .calibration_folds = 2 };

  for (guint spoilt = 0; spoilt < 3; spoilt++) {
    g_autoptr (PredictModel) model = model_train (table, &recipe);
    GError *error = NULL;
    g_autofree char *text = NULL;
    gsize n;
    FILE *out = open_memstream (&text, &n);

    if (spoilt == 0)
      model->interval.all.scores[1] = NAN;
    else if (spoilt == 1)
      model->smallest[0] = -INFINITY;
    else
      model->interval.all.floor = -1;
    g_assert_false (predict_model_write (model, out, &error));
    fclose (out);
    g_assert_cmpuint (n, ==, 0);
    testing_take_error (&error, BASE_ERROR, "could not be read back");
  }
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
  g_test_add_func ("/predictors/model/refused-tables", test_refused_tables);
  g_test_add_func ("/predictors/model/other-columns", test_other_columns);
  g_test_add_func ("/predictors/model/outside", test_outside);
  g_test_add_func ("/predictors/model/outside-of-constant", test_outside_of_constant);
  g_test_add_func ("/predictors/model/coverage", test_coverage);
  g_test_add_func ("/predictors/model/sets", test_sets);
  g_test_add_func ("/predictors/model/refused-recipes", test_refused_recipes);
  g_test_add_func ("/predictors/model-file/python", test_python);
  g_test_add_func ("/predictors/model-file/truncated", test_truncated);
  g_test_add_func ("/predictors/model-file/refused", test_refused_files);
  g_test_add_func ("/predictors/model-file/classes", test_classes);
  g_test_add_func ("/predictors/model-file/one-value", test_one_value);
  g_test_add_func ("/predictors/model-file/unreadable", test_unreadable);
  return g_test_run ();
}
