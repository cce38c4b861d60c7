/* bounds_test.c - bounds of formulas hold everywhere in their box.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/formula/bounds.h"

#include "predictors/formula/evaluate_blocks.h"
#include "predictors/formula/expression_testing.h"

#include <float.h>
#include <math.h>

static PredictRange
bounds_of (const char *text, double low, double high)
{
  g_autoptr (PredictExpression) expression = expression_testing_parse (text);
  const PredictRange all[] = { predict_range (low, high), predict_range (low, high),
                               predict_range (low, high) };

  return predict_bounds (expression, all, all);
}

static void
test_by_hand (void)
{
  static const struct {
    const char *text;
    double low, high, least, most;
    bool undefined;
  } cases[] = {
    { "x + y - 1", 1, 2, 1, 3, false },
    { "x - x", 0, 1, -1, 1, false },
    { "x*y", -2, 3, -6, 9, false },
    { "x*x", -2, 3, 0, 9, false },
    { "(x - y)*(y - x)", -2, 3, -25, 25, false },
    { "sqrt((x - y)*(x - y))", -2, 3, 0, 5, false },
    { "2*x*x", -2, 3, -12, 18, false },
    { "1/x", 1, 4, 0.25, 1, false },
    { "1/(x - 3)", 1, 2, -1, -0.5, false },
    { "1/(x - 3)", 1, 5, -INFINITY, INFINITY, true },
    { "1/x", 0, 2, 0.5, INFINITY, true },
    { "1/x", -2, 0, -INFINITY, -0.5, true },
    { "x/(1 + x^2)", -1, 2, -1, 2, false },
    { "x^2", -3, 2, 0, 9, false },
    { "x^3", -3, 2, -27, 8, false },
    { "x^-2", 2, 4, 0.0625, 0.25, false },
    { "x^-2", -1, 1, 1, INFINITY, true },
    { "x^y", 0.5, 2, 0.25, 4, false },
    { "x^y", -1, 2, 0, INFINITY, true },
    { "(x + 1)^(y + 1)", 0, 1, 1, 4, false },
    { "x^1.5", 0, 4, 0, 8, false },
    { "log2(x)", 0.5, 8, -1, 3, false },
    { "log(x)", 0, 1, -INFINITY, 0, true },
    { "log(x)", -2, -1, INFINITY, -INFINITY, true },
    { "1 + log(x)", -2, -1, INFINITY, -INFINITY, true },
    { "exp(x)", 0, 0, 1, 1, false },
    { "exp(x)", 0, 1000, 1, INFINITY, true },
    { "exp(-x)", 0, 1000, 0, 1, false },
    { "sqrt(x)", 4, 9, 2, 3, false },
    { "sqrt(x)", -1, 9, 0, 3, true },
    { "sqrt(sqrt(x - 1))", 1, 17, 0, 2, false },
    { "((x - 1)*y)^0.5", 1, 2, 0, 1.4142135623730951, false },
    { "sin(x)", 0, 2, 0, 1, false },
    { "cos(x)", 3, 4, -1, -0.6536436208636119, false },
    { "sin(x)", -100, 100, -1, 1, false },
    { "abs(x)", -2, 1, 0, 2, false },
    { "ceil(x) + floor(y)", 0.5, 1.5, 1, 3, false },
    { "min(x, 2) + max(y, 2)", 1, 3, 3, 5, false },
    { "-x", 1, 2, -2, -1, false },
    { "x/0", 1, 2, INFINITY, -INFINITY, true },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    PredictRange range = bounds_of (cases[i].text, cases[i].low, cases[i].high);

    g_test_message ("%s: %.17g %.17g", cases[i].text, range.low, range.high);
    g_assert_cmpint (range.undefined, ==, cases[i].undefined);
    if (isinf (cases[i].least))
      g_assert_cmpfloat (range.low, ==, cases[i].least);
    else
      g_assert_cmpfloat_with_epsilon (range.low, cases[i].least, 1e-10);
    if (isinf (cases[i].most))
      g_assert_cmpfloat (range.high, ==, cases[i].most);
    else
      g_assert_cmpfloat_with_epsilon (range.high, cases[i].most, 1e-10);
    if (cases[i].least <= cases[i].most) {
      g_assert_cmpfloat (range.low, <=, cases[i].least);
      g_assert_cmpfloat (range.high, >=, cases[i].most);
    }
  }
}

static PredictRange
random_range (BaseRandom *random)
{
  static const double ends[] = { -3, -1, 0, 0.5, 1, 2, 700, 1e-30 };
  double a = ends[base_random_below (random, G_N_ELEMENTS (ends))];
  double b = base_random_below (random, 3) == 0 ? a : 6 * base_random_unit (random) - 2;

  return predict_range (MIN (a, b), MAX (a, b));
}

/* An end twice as often as the inside. */
static double
random_in (BaseRandom *random, PredictRange range)
{
  switch (base_random_below (random, 3)) {
  case 0: return range.low;
  case 1: return range.high;
  default: break;
  }

  double value = range.low + (range.high - range.low) * base_random_unit (random);

  return CLAMP (value, range.low, range.high);
}

/* The computed value and the true one, in long double, lie within. */
static void
test_samples_lie_within (void)
{
  BaseRandom random = base_random_stream (5, 1);
  guint n_defined = 0, n_undefined = 0, n_sure = 0;

  for (guint tree = 0; tree < 4000; tree++) {
    g_autoptr (PredictExpression) expression = expression_testing_random (&random, 1 + tree % 5);
    PredictRange variables[3], parameters[2], range;

    for (guint i = 0; i < 3; i++)
      variables[i] = random_range (&random);
    for (guint i = 0; i < 2; i++)
      parameters[i] = random_range (&random);
    range = predict_bounds (expression, variables, parameters);
    n_sure += !range.undefined;
    for (guint sample = 0; sample < 60; sample++) {
      double x[3], p[2], value;
      long double exact;

      for (guint i = 0; i < 3; i++)
        x[i] = random_in (&random, variables[i]);
      for (guint i = 0; i < 2; i++)
        p[i] = random_in (&random, parameters[i]);
      value = predict_value (expression, x, p);
      exact = expression_testing_value (expression, x, p);
      if (!isfinite (value)) {
        n_undefined++;
        g_assert_true (range.undefined);
        continue;
      }
      n_defined++;
      g_assert_cmpfloat (value, >=, range.low);
      g_assert_cmpfloat (value, <=, range.high);
      g_assert_true (isnan (exact) ||
                     (exact >= range.low - DBL_MIN && exact <= range.high + DBL_MIN));
    }
  }
  g_test_message ("%u defined, %u undefined samples; %u formulas are sure to be defined", n_defined,
                  n_undefined, n_sure);
  g_assert_cmpuint (n_defined, >, 50000);
  g_assert_cmpuint (n_undefined, >, 20000);
  g_assert_cmpuint (n_sure, >, 1000);
}

/* Halving shows formulas positive, also where a variable is named twice; but not formulas that are 0 or
 * negative somewhere, however narrow, or 0 but at a face. */
static void
test_shown_positive (void)
{
  static const struct {
    const char *text;
    bool positive;
  } cases[] = {
    { "x^2 - 2*x + 2", true },
    { "x*y - 0.7*(x*y)", true },
    { "x - 11", false },
    { "x - 5", false },
    { "1 - 2*exp(-((x - 3.3)*10000)^2)", false },
    { "1 - 0.9*exp(-((x - 3.3)*100)^2)", true },
    { "ceil(log2(y))", true },
    { "y - 1", true },
    { "max(0, y - 10)", false },
    { "1/(x - 2.5)^2", false },
    { "log(y - 1) + 100", false },
    /* Positive, but more parts than are tried would be needed to show it. */
    { "x*x - 2*x*y + y*y + 1e-9", false },
    { "x*(x - 2*y) + y*y + 1e-9", false },
    { "x*x*x - 2*x*x*y + x*y*y + 1e-9", false },
  };
  static const char *const variables[] = { "x", "y", NULL };
  const PredictRange box[] = { predict_range (1, 10), predict_range (1, 1024) };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (PredictExpression) expression = predict_expression_parse (
        cases[at].text, &(PredictNames){ .variables = variables }, NULL, NULL);

    g_test_message ("%s", cases[at].text);
    g_assert_cmpint (predict_shown_positive (expression, box, 2, NULL, 0), ==, cases[at].positive);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predict/bounds/by-hand", test_by_hand);
  g_test_add_func ("/predict/bounds/samples", test_samples_lie_within);
  g_test_add_func ("/predictors/bounds/shown-positive", test_shown_positive);
  return g_test_run ();
}
