/* base_model_test.c - models that users write, and their units.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "predictors/formula/base_model.h"

#include ".ci/test_data.h"
#include "predictors/formula/evaluate_blocks.h"
#include "predictors/formula/expression_testing.h"
#include "predictors/predict_testing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static PredictBaseModel *
example (const char *name)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "doc", "examples", "models", name, NULL);
  g_autoptr (GError) error = NULL;
  PredictBaseModel *model = predict_base_model_read (path, &error);

  g_assert_no_error (error);
  return model;
}

static double
time_of (const PredictBaseModel *model, const double *variables)
{
  g_autofree double *values = predict_base_model_values (model);

  return predict_value (model->time, variables, values);
}

static void
test_declared (void)
{
  g_autoptr (PredictBaseModel) model = example ("evh1-r1.model");

  g_assert_cmpuint (model->n_variables, ==, 3);
  g_assert_cmpstr (model->names.variables[2], ==, "np");
  g_assert_cmpstr (model->variable_units[0], ==, "s");
  g_assert_null (model->variable_units[1]);
  g_assert_cmpuint (model->n_parameters, ==, 4);
  g_assert_cmpstr (model->names.parameters[0], ==, "g");
  g_assert_cmpfloat (model->parameters[0].value, ==, 2.45e-8);
  g_assert_cmpfloat (model->parameters[0].low, ==, 2e-9);
  g_assert_cmpfloat (model->parameters[0].high, ==, 2e-7);
  g_assert_true (model->parameters[0].log);
  g_assert_cmpstr (model->parameters[0].unit, ==, "s/word");
  g_assert_false (model->parameters[1].log);
  g_assert_cmpuint (model->n_constants, ==, 2);
  g_assert_true (expression_testing_check (model->time, 3, 4));
}

/* Hockney: 1.5 us + 1 ms; a tree: 1 us, three steps of 2 us + 0.6 ms, two of 1 us + 1 ms.
 * LogGP: 0.4 + 0.33 + 1.2 + 0.4 us; two more after 0.73 us each, or, of one byte, one more
 * after 0.6 us.  R1: worked by another program. */
static void
test_examples (void)
{
  static const struct {
    const char *name;
    double variables[3], time_s;
  } cases[] = {
    { "hockney.model", { 3e6 }, 1.0015e-3 },
    { "hockney-tree.model", { 3e6, 5, 3 }, 3.809e-3 },
    { "loggp.model", { 1001, 1 }, 2.33e-6 },
    { "loggp.model", { 1001, 3 }, 2.33e-6 + 2 * 7.3e-7 },
    { "loggp.model", { 1, 2 }, 2.6e-6 },
    { "evh1-r1.model", { 0.02, 128, 4 }, 1.0906240450134086 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (PredictBaseModel) model = example (cases[i].name);

    g_assert_cmpfloat_with_epsilon (time_of (model, cases[i].variables), cases[i].time_s,
                                    1e-13 * cases[i].time_s);
  }
}

/* The time without copies: the exchange of each reconstruction. */
static void
test_reconstructions (void)
{
  const double h = 1.13216, i = 1.69e-5, j = 1.62e-7, message = 7 * 128 * 128 / 16.0;
  const double exchange[] = {
    pow (3, h) * (i + j * message),
    3 * (i + j * pow (message, h)),
    pow (3, h) * i + 3 * j * message,
    pow (2, h) * (i + j * message),
  };
  const double variables[] = { 0.02, 128, 4 };

  for (guint r = 1; r <= 4; r++) {
    g_autofree char *name = g_strdup_printf ("evh1-r%u.model", r);
    g_autoptr (PredictBaseModel) model = example (name);
    double copies = 4965 * 0.02 * 2 * (2 * 2.45e-8 * 4 * message);
    double expected = copies + 4965 * 0.02 * 2 * exchange[r - 1];

    g_assert_cmpfloat_with_epsilon (time_of (model, variables), expected, 1e-12 * expected);
  }
}

/* T, nx, np, ... and in the sixth column R1 at the published parameters, by another program. */
static void
test_recorded_values (void)
{
  g_autofree char *path = test_data ("mecp/synthetic_evh1_like.csv");
  g_autoptr (PredictBaseModel) model = example ("evh1-r1.model");
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  guint n = 0;

  if (path == NULL)
    return;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  for (guint at = 1; lines[at] != NULL; at++) {
    double variables[3], expected;

    if (sscanf (lines[at], "%lf,%lf,%lf,%*f,%*[a-z],%lf", &variables[0], &variables[1],
                &variables[2], &expected) != 4)
      continue;
    n++;
    g_assert_cmpfloat_with_epsilon (time_of (model, variables), expected, 1e-13 * expected);
  }
  g_assert_cmpuint (n, ==, 32);
}

static void
test_text_reads_back (void)
{
  static const char *const names[] = { "hockney.model", "hockney-tree.model", "loggp.model",
                                       "evh1-r1.model", "evh1-r2.model",      "evh1-r3.model",
                                       "evh1-r4.model" };

  for (guint at = 0; at < G_N_ELEMENTS (names); at++) {
    g_autoptr (PredictBaseModel) model = example (names[at]);
    g_autofree double *values = predict_base_model_values (model);

    values[0] = nextafter (values[0], 1);

    g_autofree char *text = predict_base_model_text (model, values);
    g_autoptr (GError) error = NULL;
    g_autoptr (PredictBaseModel) again = predict_base_model_parse (text, "again", &error);

    g_assert_no_error (error);
    g_assert_true (expression_testing_equal (model->time, again->time));
    g_assert_cmpfloat (again->parameters[0].value, ==, values[0]);
    for (guint i = 0; i < model->n_parameters; i++) {
      g_assert_cmpfloat (again->parameters[i].low, ==, model->parameters[i].low);
      g_assert_cmpfloat (again->parameters[i].high, ==, model->parameters[i].high);
      g_assert_cmpint (again->parameters[i].log, ==, model->parameters[i].log);
      g_assert_cmpstr (again->parameters[i].unit, ==, model->parameters[i].unit);
    }
  }
}

static void
test_shortest (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (PredictBaseModel) model = predict_base_model_parse (
      "\n  # a comment\nvariable np\r\ng 2.45e-8 [2e-9, 2e-7] log # rest\ntime=g*np", "m", &error);

  g_assert_no_error (error);
  g_assert_cmpuint (model->n_parameters, ==, 1);
  g_assert_true (model->parameters[0].log);
  g_assert_cmpfloat (time_of (model, (double[]){ 2 }), ==, 4.9e-8);
}

#define HEAD "variable n in B\nvariable k\nparameter a 1 [0, 2] in s\nparameter b 1 [0, 2] in s/B\n"

static void
test_errors (void)
{
  static const char *const cases[][2] = {
    { "", "m:1:1: there is no line \"time = ...\"" },
    { "variable n\n", "m:2:1: there is no line \"time = ...\"" },
    { "?", "m:1:1: expected variable, constant, parameter or NAME = FORMULA" },
    { "g 1", "m:1:4: parameter \"g\" has no bounds: g 1 [LOW, HIGH]" },
    { "g 1 log", "m:1:5: parameter \"g\" has no bounds: g 1 [LOW, HIGH]" },
    { "g x", "m:1:3: expected the value, a number" },
    { "g 1 [0 2]", "m:1:8: expected \",\" and the upper bound" },
    { "g 1 [2, 0]", "m:1:5: the lower bound is not below the upper one" },
    { "g 3 [0, 2]", "m:1:5: 3, the value of \"g\", is not within its bounds" },
    { "g 1 [0, 2] log", "m:1:12: there is no logarithm of the lower bound of \"g\"" },
    { "g 1 [nan, 2]", "m:1:6: expected the lower bound, a number" },
    { "g 0x10 [0, 20]", "m:1:4: parameter \"g\" has no bounds: g 0 [LOW, HIGH]" },
    { "variable n\nconstant c 1e999", "m:2:12: expected the value, a number" },
    { "variable in in s", "m:1:10: \"in\" stands before a unit: it is no name" },
    { "g 1 [0, 2] of s", "m:1:12: \"of s\" does not belong here" },
    { "variable n\nvariable n", "m:2:10: \"n\" was declared before" },
    { "variable log", "m:1:10: \"log\" is a function" },
    { "variable time", "m:1:10: \"time\" is the model: time = ..." },
    { "variable n\nm = n\nvariable k", "m:3:1: declarations stand above all formulas" },
    { "variable n\ntime = n\nm = n", "m:3:1: time = ... is the last line" },
    { "variable n\n  time = n + m", "m:2:14: \"m\" is not known; there is n" },
    { "g 1 [0, 2]\nvariable n\ntime = n", "m:3:1: time does not depend on parameter \"g\"" },
    { "variable n in s-B",
      "m:1:15: \"s-B\" is no unit such as s, B/s or 1/s (of at most 8 names in all)" },
    { HEAD "time = a + n", "m:5:10: + of different units: a (s) and n (B)" },
    { HEAD "time = a*b*n", "m:5:1: time is in s^2, not in s" },
    { HEAD "time = a + b*n*log(n)", "m:5:16: the operand must be a pure number: n (B)" },
    { HEAD "c = b*n\ntime = a + k*(c + k)",
      "m:6:17: + of different units: b*n (s) and k (a pure number)" },
    { HEAD "time = a + b*n*2^n", "m:5:17: an exponent must be a pure number: n (B)" },
    { HEAD "time = a + b*n^k",
      "m:5:15: the base of a power whose exponent is not a number must be a pure number: n (B)" },
    { HEAD "time = max(a, n)", "m:5:8: max of different units: a (s) and n (B)" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;

    g_test_message ("%s", cases[i][0]);
    g_assert_null (predict_base_model_parse (cases[i][0], "m", &error));
    g_assert_error (error, BASE_ERROR, BASE_ERROR_TEXT);
    g_assert_cmpstr (error->message, ==, cases[i][1]);
  }
}

static void
test_units_that_agree (void)
{
  static const char *const formulas[] = {
    "a + b*n",
    "max(a, b*n) + min(0, a) - 0",
    "sqrt(a^2 + (b*n)^2)",
    "a*(n/n)^k + -a*log2(b*n/a)",
    "(a^1.5 + (b*n)^1.5)/sqrt(a) + ceil(b)*n",
  };

  for (guint i = 0; i <= G_N_ELEMENTS (formulas); i++) {
    /* Where no unit is given, none is checked. */
    g_autofree char *text = i < G_N_ELEMENTS (formulas)
                                ? g_strconcat (HEAD "time = ", formulas[i], NULL)
                                : g_strdup ("variable n\na 1 [0, 2]\ntime = a + n + log(n)");
    g_autoptr (GError) error = NULL;
    g_autoptr (PredictBaseModel) model = predict_base_model_parse (text, "m", &error);

    g_assert_no_error (error);
    g_assert_nonnull (model);
  }
}

/* 60 definitions, each of which adds five levels to the one before. */
static void
test_deep_definitions (void)
{
  g_autoptr (GString) text = g_string_new ("variable n\na0 = n\n");
  g_autoptr (GError) error = NULL;

  for (guint at = 1; at < 60; at++)
    g_string_append_printf (text, "a%u = exp(log(exp(log(exp(a%u)))))\n", at, at - 1);
  g_string_append (text, "time = a59\n");
  g_assert_null (predict_base_model_parse (text->str, "m", &error));
  g_assert_cmpstr (
      error->message, ==,
      "m:52:6: with what its names stand for, the formula is nested more than 250 deep");
}

static void
test_files (void)
{
  g_autofree char *folder = g_dir_make_tmp ("hopcast-model-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "m.model", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_null (predict_base_model_read (path, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT);
  g_clear_error (&error);
  g_assert_true (g_file_set_contents (path, "variable n\0\ntime = n", 21, NULL));
  g_assert_null (predict_base_model_read (path, &error));
  g_assert_error (error, BASE_ERROR, BASE_ERROR_TEXT);
  g_assert_true (
      g_str_has_suffix (error->message, "m.model: not a model file: it has a byte that is 0"));
  remove (path);
  remove (folder);
}

/* Existing formulas keep their meaning; the text declares the new variables. */
static void
test_added_variables (void)
{
  static const char *const names[] = { "n", "max_bytes", "p", "max_bytes", NULL };
  static const struct {
    const char *names[2], *why;
  } refused[] = {
    { { "a" }, "\"a\" is a parameter" }, { { "c" }, "\"c\" is a parameter or a constant" },
    { { "log" }, "is a function" },      { { "in" }, "meaning of its own" },
    { { "max bytes" }, "no name" },
  };
  g_autoptr (PredictBaseModel) model = predict_base_model_parse (
      "variable n\nconstant c 2\nparameter a 3 [1, 4]\ntime = c*a*n\n", "m", NULL);
  const double values[] = { 5, 100, 1000 };
  g_autofree double *parameters = predict_base_model_values (model);
  g_autofree char *text = NULL;
  GError *error = NULL;

  g_assert_true (predict_base_model_add_variables (model, names, NULL));
  g_assert_cmpuint (model->n_variables, ==, 3);
  g_assert_cmpstr (model->names.variables[2], ==, "p");
  g_assert_null (model->names.variables[3]);
  g_assert_cmpfloat (predict_value (model->time, values, parameters), ==, 30);
  text = predict_base_model_text (model, parameters);
  g_assert_nonnull (strstr (text, "variable max_bytes\n"));
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++) {
    g_assert_false (predict_base_model_add_variables (model, refused[i].names, &error));
    testing_take_error (&error, BASE_ERROR, refused[i].why);
  }
}

/* Rows that are known by their line; columns that the formula does not name are not looked for. */
static void
test_times_of_a_table (void)
{
  g_autoptr (PredictTable) table = predict_table_new ("t.csv", 3);
  g_autoptr (PredictBaseModel) model =
      predict_base_model_parse ("variable unused, n\ntime = 12/n\n", "m", NULL);
  g_autoptr (GError) error = NULL;
  g_autofree double *times = NULL;
  double *n = g_new (double, 3);

  n[0] = 1, n[1] = 3, n[2] = 8;
  predict_table_take_numbers (table, "n", NULL, n);
  times = predict_base_model_times (model, table, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (times[0], ==, 12);
  g_assert_cmpfloat (times[1], ==, 4);
  g_assert_cmpfloat (times[2], ==, 1.5);
  g_assert_null (predict_base_model_columns (model, table, &error));
  g_assert_nonnull (strstr (error->message, "no column \"unused\""));
  g_clear_error (&error);
  n[1] = 0;
  g_assert_null (predict_base_model_times (model, table, &error));
  g_assert_cmpstr (error->message, ==, "t.csv, row 2: m: 12/n is undefined where n is 0");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predict/base-model/declared", test_declared);
  g_test_add_func ("/predict/base-model/examples", test_examples);
  g_test_add_func ("/predict/base-model/reconstructions", test_reconstructions);
  g_test_add_func ("/predict/base-model/recorded", test_recorded_values);
  g_test_add_func ("/predict/base-model/text", test_text_reads_back);
  g_test_add_func ("/predict/base-model/shortest", test_shortest);
  g_test_add_func ("/predict/base-model/errors", test_errors);
  g_test_add_func ("/predict/base-model/units", test_units_that_agree);
  g_test_add_func ("/predict/base-model/deep", test_deep_definitions);
  g_test_add_func ("/predict/base-model/files", test_files);
  g_test_add_func ("/predict/base-model/added", test_added_variables);
  g_test_add_func ("/predict/base-model/table", test_times_of_a_table);
  return g_test_run ();
}
