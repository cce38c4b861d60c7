/* model_file_test.c - model files: read by others, and broken.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/error.h"
#include "predictors/forest/friedman.h"
#include "predictors/model/model_fixture.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

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

/* What doc/examples/predict_model.py prints of a model and a table; the caller frees. */
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

/* doc/examples/predict_model.py, which the handbook names, reads every method. */
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
small_model (void)
{
  g_autoptr (PredictTable) table = friedman_table (1, 12, 1);
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
  g_autofree char *text = small_model ();

  for (gssize n = (gssize) strlen (text) - 2; n >= 0; n -= n > 200 ? 97 : 1) {
    g_autoptr (GError) error = NULL;

    g_assert_null (model_read_text (text, n, &error));
    g_assert_error (error, BASE_ERROR, BASE_ERROR_JSON);
  }
}

static void
test_refused_files (void)
{
  static const char *const changes[][3] = {
    { "hopcast.model/1", "hopcast.model/2",
      "a model of another version, hopcast.model/2; this program reads hopcast.model/1" },
    { "hopcast.model/1", "hopcast.run/1", "no hopcast.model/1 but hopcast.run/1" },
    { "\"schema\" : \"hopcast.model/1\",", "", "\"schema\"" },
    { "\"name\" : \"x1\"", "\"name\" : \"x0\"", "\"x0\" is not a feature once" },
    { "\"name\" : \"x1\"", "\"name\" : \"\"", "\"name\" is not" },
    { "\"smallest\" : ", "\"smallest\" : NaN, \"a\" : ", "no JSON" },
    { "\"smallest\" : ", "\"smallest\" : null, \"a\" : ", "\"smallest\"" },
    { "\"log\" : false", "\"log\" : \"no\"", "\"log\"" },
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
  g_autofree char *text = small_model ();

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++) {
    g_auto (GStrv) pieces = g_strsplit (text, changes[i][0], 2);
    g_autofree char *changed = g_strjoinv (changes[i][1], pieces);
    g_autoptr (GError) error = NULL;

    g_assert_cmpuint (g_strv_length (pieces), ==, 2);
    g_assert_null (model_read_text (changed, -1, &error));
    g_assert_error (error, BASE_ERROR, BASE_ERROR_JSON);
    if (strstr (error->message, changes[i][2]) == NULL)
      g_error ("\"%s\" is not in: %s", changes[i][2], error->message);
  }
}

/* json-glib would take the last of several values, and follow brackets until the stack is full. */
static void
test_one_value (void)
{
  g_autofree char *text = small_model (), *deep = g_strnfill (1000000, '[');
  g_autofree char *before = g_strconcat ("1", text, NULL);
  g_autofree char *after = g_strconcat (text, "{}", NULL);
  g_autofree char *hidden = g_strconcat ("/* \" */", deep, NULL);
  g_autofree char *quoted = g_strconcat ("{\"a\\\"b\":'\"', \"c\":", deep, NULL);
  const char *const texts[] = { before, after, deep, hidden, quoted };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (GError) error = NULL;

    g_assert_null (model_read_text (texts[i], -1, &error));
    g_assert_error (error, BASE_ERROR, BASE_ERROR_JSON);
  }
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
    g_autoptr (GError) error = NULL;
    g_autofree char *text = NULL;
    gsize n;
    FILE *out = open_memstream (&text, &n);

    if (spoilt == 0)
      model->interval.scores[1] = NAN;
    else if (spoilt == 1)
      model->smallest[0] = -INFINITY;
    else
      model->interval.floor = -1;
    g_assert_false (predict_model_write (model, out, &error));
    fclose (out);
    g_assert_cmpuint (n, ==, 0);
    g_assert_error (error, BASE_ERROR, BASE_ERROR_JSON);
    g_assert_nonnull (strstr (error->message, "could not be read back"));
  }
}

static void
test_no_file (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (predict_model_read ("/nonexistent/model.json", &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT);
  g_clear_error (&error);
  g_assert_null (model_read_text ("[1, 2]", -1, &error));
  g_assert_error (error, BASE_ERROR, BASE_ERROR_JSON);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/model-file/python", test_python);
  g_test_add_func ("/predictors/model-file/truncated", test_truncated);
  g_test_add_func ("/predictors/model-file/refused", test_refused_files);
  g_test_add_func ("/predictors/model-file/one-value", test_one_value);
  g_test_add_func ("/predictors/model-file/unreadable", test_unreadable);
  g_test_add_func ("/predictors/model-file/no-file", test_no_file);
  return g_test_run ();
}
