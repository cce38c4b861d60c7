/* expression_test.c - formulas read, printed and simplified.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "predictors/formula/evaluate_blocks.h"
#include "predictors/formula/expression_testing.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define TESTING (&expression_testing_names)

/* The text that is read, and the one printed. */
static void
test_fewest_parentheses (void)
{
  static const char *const cases[][2] = {
    { "((x)) + (y*z)", "x + y*z" },
    { "(x + y) + z", "x + y + z" },
    { "x + (y + z)", "x + (y + z)" },
    { "x - (y - z)", "x - (y - z)" },
    { "x*(y/z)", "x*(y/z)" },
    { "(x*y)/z", "x*y/z" },
    { "(x + y)*z", "(x + y)*z" },
    { "x^(y^z)", "x^y^z" },
    { "(x^y)^z", "(x^y)^z" },
    { "x**2", "x^2" },
    { "x^(-2)", "x^-2" },
    { "x^(2)", "x^2" },
    { "x^2.", "x^2.0" },
    { "x^65", "x^65.0" },
    { "x^-y^2*z", "x^-y^2*z" },
    { "-x^2", "-x^2" },
    { "(-x)^2", "(-x)^2" },
    { "-2^x", "-2^x" },
    { "(-2)^x", "(-2)^x" },
    { "-(2)", "-(2)" },
    { "--2", "--2" },
    { "-(-x)", "--x" },
    { "x - -2*y", "x - -2*y" },
    { "x*-y", "x*-y" },
    { "-x*y", "-x*y" },
    { "-(x*y)", "-(x*y)" },
    { " min ( x , max(y,z) ) ", "min(x, max(y, z))" },
    { "0.1 + 1e3 + .5 + 5.E-1", "0.1 + 1000 + 0.5 + 0.5" },
    { "2*pi", "2*3.141592653589793" },
    { "2.45e-8*p", "2.45e-08*p" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (PredictExpression) expression = expression_testing_parse (cases[i][0]);
    g_autofree char *text = predict_expression_text (expression, TESTING);

    g_assert_cmpstr (text, ==, cases[i][1]);
  }
}

static void
test_text_reads_back_to_the_same_steps (void)
{
  BaseRandom random = base_random_stream (1, 1);

  for (guint tree = 0; tree < 5000; tree++) {
    g_autoptr (PredictExpression) expression = expression_testing_random (&random, 1 + tree % 7);
    g_autofree char *text = predict_expression_text (expression, TESTING);
    g_autoptr (PredictExpression) again = expression_testing_parse (text);

    g_assert_true (expression_testing_check (again, 3, 2));
    g_assert_true (expression_testing_equal (expression, again));
  }
}

static void
test_numbers_read_back_to_the_same_bits (void)
{
  BaseRandom random = base_random_stream (1, 2);

  for (guint i = 0; i < 20000; i++) {
    uint64_t bits = base_random_next (&random);
    double value;

    memcpy (&value, &bits, sizeof value);
    if (!isfinite (value))
      continue;

    g_autofree char *text = predict_number_text (value);

    g_assert_cmpfloat (g_ascii_strtod (text, NULL), ==, value);
  }
}

static void
test_errors_tell_the_column (void)
{
  static const char *const cases[][2] = {
    { "", "column 1: expected a number, a name or \"(\", not the end" },
    { "x +", "column 4: expected a number, a name or \"(\", not the end" },
    { "x + * y", "column 5: expected a number, a name or \"(\", not \"*\"" },
    { "x y", "column 3: expected an operator, not \"y\"" },
    { "2x", "column 2: an operator must stand between 2 and what follows" },
    { "1.2.3", "column 4: an operator must stand between 1.2 and what follows" },
    { "(x + y", "column 7: expected an operator or the \")\" of column 1, not the end" },
    { "x)", "column 2: expected an operator, not \")\"" },
    { "1 + np", "column 5: \"np\" is not known; there are x, y, z, p, q" },
    { "log x", "column 5: log must be followed by \"(\"" },
    { "log(x, y)", "column 6: log takes 1 operand and then \")\", not \",\"" },
    { "min(x)", "column 6: the first operand of two must be followed by \",\"" },
    { "max(x, y, z)", "column 9: max takes 2 operands and then \")\", not \",\"" },
    { "1e999", "column 1: 1e999 is larger than any number" },
    { "x \xC2\xB7 y", "column 3: expected an operator, not \"\xC2\xB7\"" },
    { "x \xFF", "column 3: expected an operator, not the byte 0xff" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;

    g_assert_null (predict_expression_parse (cases[i][0], TESTING, NULL, &error));
    g_assert_error (error, BASE_ERROR, BASE_ERROR_TEXT);
    g_assert_cmpstr (error->message, ==, cases[i][1]);
  }
}

/* Errors begin with the place in the file; "there is" one name, "no names". */
static void
test_place_and_names (void)
{
  static const char *const one[] = { "np", NULL };
  const PredictNames names = { .variables = one }, none = { NULL };
  const BasePlace place = { "evh1.model", 7, 10 };
  g_autoptr (GError) error = NULL;

  g_assert_null (predict_expression_parse ("1 + nx", &names, &place, &error));
  g_assert_cmpstr (error->message, ==, "evh1.model:7:14: \"nx\" is not known; there is np");
  g_clear_error (&error);
  g_assert_null (predict_expression_parse ("nx", &none, NULL, &error));
  g_assert_cmpstr (error->message, ==, "column 1: \"nx\" is not known; there are no names");
}

static char *
repeated (const char *before, guint n_before, const char *middle, const char *behind)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n_before; i++)
    g_string_append (text, before);
  g_string_append (text, middle);
  for (guint i = 0; i < n_before; i++)
    g_string_append (text, behind);
  return g_string_free (text, FALSE);
}

static void
test_limits (void)
{
  static const char *const deep[][2] = { { "(", ")" }, { "-", "" }, { "x^", "" }, { "exp(", ")" } };
  g_autofree char *wide = repeated ("x+", PREDICT_MAX_STEPS / 2 - 1, "x", "");
  g_autofree char *wider = repeated ("x+", PREDICT_MAX_STEPS / 2, "x", "");
  g_autoptr (PredictExpression) widest = expression_testing_parse (wide);
  g_autofree char *again = predict_expression_text (widest, TESTING);
  g_autoptr (GError) error = NULL;

  g_assert_cmpuint (widest->n, ==, PREDICT_MAX_STEPS - 1);
  g_assert_cmpuint (predict_expression_height (widest), ==, 2);
  g_assert_cmpuint (strlen (again), ==, strlen (wide) + 2 * (PREDICT_MAX_STEPS / 2 - 1));
  g_assert_null (predict_expression_parse (wider, TESTING, NULL, &error));
  g_assert_nonnull (strstr (error->message, "more than 10000 operations and operands"));
  for (guint i = 0; i < G_N_ELEMENTS (deep); i++) {
    g_autofree char *text = repeated (deep[i][0], 10000, "x", deep[i][1]);

    g_clear_error (&error);
    g_assert_null (predict_expression_parse (text, TESTING, NULL, &error));
    g_assert_nonnull (strstr (error->message, "nested more than 250 deep"));
  }
}

/* Definitions are put in where they are named, as if in parentheses. */
static void
test_definitions (void)
{
  static const char *const names_of[] = { "words", NULL };
  g_autoptr (PredictExpression) words = expression_testing_parse ("x + y");
  const PredictExpression *const bodies[] = { words };
  PredictNames names = expression_testing_names;

  names.definitions = names_of;
  names.bodies = bodies;

  g_autoptr (PredictExpression) expression =
      predict_expression_parse ("2*words^2", &names, NULL, NULL);
  g_autofree char *text = predict_expression_text (expression, TESTING);

  g_assert_cmpstr (text, ==, "2*(x + y)^2");
}

static void
test_simplified (void)
{
  static const char *const cases[][2] = {
    { "x*1 + 0", "x" },       { "1*x/1", "x" },         { "0 + x - 0", "x" },
    { "0 - x", "-x" },        { "x*-1", "-x" },         { "-(-x)", "x" },
    { "x - -y", "x + y" },    { "x + -y", "x - y" },    { "x + -2", "x - 2" },
    { "x - -2", "x + 2" },    { "2*3 + x", "6 + x" },   { "x^1", "x" },
    { "x*0", "x*0" },         { "x - x", "x - x" },     { "x/x", "x/x" },
    { "x + 1/0", "x + 1/0" }, { "log(-1)", "log(-1)" }, { "min(2, max(1, 3))*x", "2*x" },
    { "x^(1 + 1)", "x^2.0" }, { "x/-1", "-x" },         { "exp(0)*x", "x" },
    { "2*(3*x)", "2*(3*x)" }, { "x*(y*1)", "x*y" },     { "(x + 0)*(0 + y)", "x*y" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (PredictExpression) expression = expression_testing_parse (cases[i][0]);
    g_autoptr (PredictExpression) simple = predict_expression_simplify (expression);
    g_autofree char *text = predict_expression_text (simple, TESTING);

    g_assert_cmpstr (text, ==, cases[i][1]);
  }
}

static void
test_simplified_has_the_same_values (void)
{
  BaseRandom random = base_random_stream (1, 3);
  const double parameters[] = { 0.75, -2 };
  guint n_shorter = 0;

  for (guint tree = 0; tree < 3000; tree++) {
    g_autoptr (PredictExpression) expression = expression_testing_random (&random, 5);
    g_autoptr (PredictExpression) simple = predict_expression_simplify (expression);
    g_autoptr (PredictExpression) twice = predict_expression_simplify (simple);

    g_assert_true (expression_testing_check (simple, 3, 2));
    g_assert_cmpuint (simple->n, <=, expression->n);
    g_assert_cmpuint (twice->n, <=, simple->n);
    n_shorter += simple->n < expression->n;
    for (guint point = 0; point < 10; point++) {
      const double x[] = { (double) point - 5, base_random_unit (&random), 1 - (double) point };
      double before = predict_value (expression, x, parameters);
      double after = predict_value (simple, x, parameters);

      g_assert_true (before == after || (!isfinite (before) && !isfinite (after)));
    }
  }
  g_assert_cmpuint (n_shorter, >, 500);
}

static void
test_latex (void)
{
  static const char *const cases[][2] = {
    { "x/(y + 1)*2.5e-7", "\\frac{x}{y + 1} \\cdot 2.5 \\times 10^{-7}" },
    { "(x + y)^p", "\\left(x + y\\right)^{p}" },
    { "(x/y)^2", "\\left(\\frac{x}{y}\\right)^{2}" },
    { "2^x", "\\left(2\\right)^{x}" },
    { "ceil(log2(x)) - sqrt(y)",
      "\\left\\lceil \\log_{2}\\left(x\\right)\\right\\rceil - \\sqrt{y}" },
    { "-x/y", "\\frac{-x}{y}" },
    { "-(x/y)", "-\\frac{x}{y}" },
  };
  static const char *const names_of[] = { "n_p", NULL };
  const PredictNames names = { .variables = names_of };
  g_autoptr (PredictExpression) named = predict_expression_parse ("2*n_p", &names, NULL, NULL);
  g_autofree char *upright = predict_expression_latex (named, &names);

  g_assert_cmpstr (upright, ==, "2 \\cdot \\mathrm{n\\_p}");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (PredictExpression) expression = expression_testing_parse (cases[i][0]);
    g_autofree char *text = predict_expression_latex (expression, TESTING);

    g_assert_cmpstr (text, ==, cases[i][1]);
  }
}

static void
test_c (void)
{
  static const char *const names_of[] = { "np", "int", "asm", NULL };
  static const char *const parameters_of[] = { "h", NULL };
  const PredictNames names = { .variables = names_of, .parameters = parameters_of };
  const double h = -1.5;
  g_autoptr (PredictExpression) expression = predict_expression_parse (
      "1/2*(np - 1)^h - -h + int^2*asm + max(0, --np)", &names, NULL, NULL);
  g_autofree char *text = predict_expression_c (expression, &names, &h, "time_s");

  g_assert_cmpstr (text, ==,
                   "#include <math.h>\n\ndouble\ntime_s (double np, double int_, double asm_)\n{\n"
                   "  return 1.0 / 2.0 * pow (np - 1.0, -1.5) - -(-1.5) + pow (int_, 2.0) * asm_ + "
                   "fmax (0.0, -(-np));\n}\n");
}

/* A program of many random formulas prints the values of evaluation, to rounding. */
static void
test_c_agrees (void)
{
  g_autofree char *cc = g_find_program_in_path ("cc");
  g_autofree char *folder = g_dir_make_tmp ("hopcast-c-XXXXXX", NULL);
  g_autofree char *source = g_build_filename (folder, "formulas.c", NULL);
  g_autofree char *program = g_build_filename (folder, "formulas", NULL);
  g_autofree char *output = NULL;
  g_autoptr (GString) text = g_string_new ("#include <stdio.h>\n");
  g_autoptr (GString) calls = g_string_new ("int\nmain (void)\n{\n");
  BaseRandom random = base_random_stream (1, 4);
  const double parameters[] = { 0.75, -2 }, x[] = { 0.7, 1.9, -0.4 };
  const char *arguments[] = { cc, "-o", program, source, "-lm", NULL }, *at;
  double expected[60];
  guint n_compared = 0;
  int status;

  if (cc == NULL) {
    g_test_skip ("there is no cc");
    return;
  }
  for (guint tree = 0; tree < G_N_ELEMENTS (expected); tree++) {
    g_autoptr (PredictExpression) expression = expression_testing_random (&random, 4);
    g_autofree char *name = g_strdup_printf ("f%u", tree);
    g_autofree char *function = predict_expression_c (expression, TESTING, parameters, name);

    expected[tree] = predict_value (expression, x, parameters);
    g_string_append (text, function);
    g_string_append_printf (calls, "  printf (\"%%.17g\\n\", f%u (0.7, 1.9, -0.4));\n", tree);
  }
  g_string_append_printf (text, "%s}\n", calls->str);
  g_assert_true (g_file_set_contents (source, text->str, -1, NULL));
  g_assert_true (g_spawn_sync (NULL, (char **) arguments, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL,
                               NULL, &status, NULL));
  g_assert_cmpint (status, ==, 0);
  g_assert_true (g_spawn_command_line_sync (program, &output, NULL, &status, NULL));
  at = output;
  for (guint tree = 0; tree < G_N_ELEMENTS (expected); tree++) {
    double value = g_ascii_strtod (at, (char **) &at);

    if (!isfinite (expected[tree]))
      continue;
    n_compared++;
    g_assert_cmpfloat (fabs (value - expected[tree]), <=, 1e-12 * (1 + fabs (value)));
  }
  g_assert_cmpuint (n_compared, >, 30);
  g_remove (source);
  g_remove (program);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predict/expression/parentheses", test_fewest_parentheses);
  g_test_add_func ("/predict/expression/round-trip", test_text_reads_back_to_the_same_steps);
  g_test_add_func ("/predict/expression/numbers", test_numbers_read_back_to_the_same_bits);
  g_test_add_func ("/predict/expression/errors", test_errors_tell_the_column);
  g_test_add_func ("/predict/expression/place", test_place_and_names);
  g_test_add_func ("/predict/expression/limits", test_limits);
  g_test_add_func ("/predict/expression/definitions", test_definitions);
  g_test_add_func ("/predict/expression/simplified", test_simplified);
  g_test_add_func ("/predict/expression/simplified-values", test_simplified_has_the_same_values);
  g_test_add_func ("/predict/expression/latex", test_latex);
  g_test_add_func ("/predict/expression/c", test_c);
  g_test_add_func ("/predict/expression/c-agrees", test_c_agrees);
  return g_test_run ();
}
