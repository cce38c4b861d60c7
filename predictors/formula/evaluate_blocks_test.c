/* evaluate_blocks_test.c - values and derivatives of formulas.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/formula/evaluate_blocks.h"

#include "predictors/formula/expression_testing.h"

#include <math.h>
#include <string.h>

#define N_POINTS 600u /* more than two blocks */

typedef struct {
  double x[3][N_POINTS];
  const double *columns[3];
  PredictPoints points;
} Sample;

/* Zeros, ones and negative values among others. */
static void
sample_fill (Sample *sample)
{
  BaseRandom random = base_random_stream (3, 1);

  for (guint column = 0; column < 3; column++) {
    sample->columns[column] = sample->x[column];
    for (guint i = 0; i < N_POINTS; i++)
      sample->x[column][i] =
          i % 16 == column ? (double) column - 1 : 8 * base_random_unit (&random) - 3;
  }
  sample->points = (PredictPoints){ sample->columns, N_POINTS };
}

static const double parameters[] = { 1.25, -0.5 };

static double
value_of (const char *text, double x, double y)
{
  g_autoptr (PredictExpression) expression = expression_testing_parse (text);

  return predict_value (expression, (double[]){ x, y, 0 }, parameters);
}

static void
test_by_hand (void)
{
  static const struct {
    const char *text;
    double x, y, value, error;
  } cases[] = {
    { "1 + 2*3^2/9 - -x", 4, 0, 7, 0 },
    { "-x^2", 3, 0, -9, 0 },
    { "2^-3", 0, 0, 0.125, 0 },
    { "x^-4", -2, 0, 0.0625, 0 },
    { "x^0", 0, 0, 1, 0 },
    { "2^3^2", 0, 0, 512, 0 },
    { "ceil(log2(x))", 1024, 0, 10, 0 },
    { "ceil(log2(x))", 1025, 0, 11, 0 },
    { "max(0, x - 32)^1.6", 16, 0, 0, 0 },
    { "min(x, y)*max(x, y)", -7, 3, -21, 0 },
    { "abs(floor(x))*sqrt(y)", -2.5, 16, 12, 0 },
    { "x^p", 10, 0, 17.7827941003892280, 1e-14 },
    { "sin(pi/6) + cos(pi/3)", 0, 0, 1, 1e-15 },
    { "exp(log(x))", 1e5, 0, 1e5, 1e-9 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    double value = value_of (cases[i].text, cases[i].x, cases[i].y);

    g_test_message ("%s: %.17g", cases[i].text, value);
    g_assert_cmpfloat (fabs (value - cases[i].value), <=, cases[i].error);
  }
}

/* Of these formulas none cancels so far that the ninth digit is lost. */
static void
test_against_long_double (void)
{
  g_autofree Sample *sample = g_new (Sample, 1);
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  BaseRandom random = base_random_stream (3, 2);
  guint n_close = 0, n_both = 0;

  sample_fill (sample);
  for (guint tree = 0; tree < 400; tree++) {
    g_autoptr (PredictExpression) expression = expression_testing_random (&random, 4);
    double values[N_POINTS];
    uint64_t n_undefined =
        predict_values (expression, &sample->points, parameters, workspace, values);

    for (guint i = 0; i < N_POINTS; i++) {
      const double x[] = { sample->x[0][i], sample->x[1][i], sample->x[2][i] };
      double exact = (double) expression_testing_value (expression, x, parameters);

      n_undefined -= !isfinite (values[i]);
      if (!isfinite (exact) || !isfinite (values[i]))
        continue;
      n_both++;
      n_close += fabs (values[i] - exact) <= 1e-9 * fabs (exact) + 1e-12;
    }
    g_assert_cmpuint (n_undefined, ==, 0);
  }
  g_test_message ("%u of %u values agree", n_close, n_both);
  g_assert_cmpuint (n_both, >, 100000);
  g_assert_cmpuint (n_close, ==, n_both);
}

/* The bits do not depend on how many points are done at once. */
static void
test_any_block_gives_the_same_bits (void)
{
  g_autofree Sample *sample = g_new (Sample, 1);
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  BaseRandom random = base_random_stream (3, 3);

  sample_fill (sample);
  for (guint tree = 0; tree < 300; tree++) {
    g_autoptr (PredictExpression) expression = expression_testing_random (&random, 4);
    double values[N_POINTS];

    predict_values (expression, &sample->points, parameters, workspace, values);
    for (guint i = 0; i < N_POINTS; i += 7) {
      const double x[] = { sample->x[0][i], sample->x[1][i], sample->x[2][i] };
      double alone = predict_value (expression, x, parameters);

      g_assert_true (memcmp (&alone, &values[i], sizeof alone) == 0 ||
                     (isnan (alone) && isnan (values[i])));
    }
  }
}

/* FNV-1a of the bits that 200 formulas gave when this was written; NaN counts as one value. */
static void
test_same_bits_everywhere (void)
{
  g_autofree Sample *sample = g_new (Sample, 1);
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  BaseRandom random = base_random_stream (3, 4);
  uint64_t hash = 0xCBF29CE484222325u;

  sample_fill (sample);
  for (guint tree = 0; tree < 200; tree++) {
    g_autoptr (PredictExpression) expression = expression_testing_random (&random, 5);
    double values[N_POINTS];

    predict_values (expression, &sample->points, parameters, workspace, values);
    for (guint i = 0; i < N_POINTS; i++) {
      uint64_t bits = 1;

      if (!isnan (values[i]))
        memcpy (&bits, &values[i], sizeof bits);
      hash = (hash ^ bits) * 0x100000001B3u;
    }
  }
  g_assert_cmphex (hash, ==, 0x96e0ad4ec33e017bu);
}

static void
test_nothing_hides_what_is_undefined (void)
{
  static const char *const undefined[] = {
    "1/(1/x)",         "exp(-1/x)",  "exp(log(x))", "min(1, 1/x)", "max(1, -1/x)", "0*(1/x)",
    "(1/x)^-1",        "(1/x)^0",    "(1/x)^-0.5",  "0^(1/x)",     "2^(-1/x)",     "1/log(x)",
    "1/exp(800)",      "x^0.0",      "x^-1.5",      "sqrt(x - 1)", "x^-1",         "(x - 2)^1.5",
    "1/(1e300*1e300)", "1/sin(1/x)", "abs(1/x)",    "1/(1/x + 1)", "1/ceil(1/x)",
  };

  for (guint i = 0; i < G_N_ELEMENTS (undefined); i++) {
    g_test_message ("%s", undefined[i]);
    g_assert_false (isfinite (value_of (undefined[i], 0, 0)));
  }
}

static void
test_reasons (void)
{
  static const struct {
    const char *text, *reason;
  } cases[] = {
    { "1 + log(x - 4)", "log(x - 4) is undefined where x - 4 is -2" },
    { "3/(1/(x - 2))", "1/(x - 2) is undefined where x - 2 is 0" },
    { "y/(x - 2)", "y/(x - 2) is undefined where y is 7 and x - 2 is 0" },
    { "x^y", NULL },
  };
  const double x = 2, y = 7, z = 0;
  const double *columns[] = { &x, &y, &z };
  const PredictPoints points = { columns, 1 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (PredictExpression) expression = expression_testing_parse (cases[i].text);
    g_autofree char *reason =
        predict_undefined (expression, &expression_testing_names, &points, 0, parameters);

    g_assert_cmpstr (reason, ==, cases[i].reason);
  }
}

/* d/dp and d/dq at one point, of p = 1.25, q = -0.5. */
static void
test_slopes_by_hand (void)
{
  const struct {
    const char *text;
    double x, slopes[2];
  } cases[] = {
    { "p*x + q", 3, { 3, 1 } },
    { "x - p/q", 3, { 2, 5 } },        /* -1/q, p/q^2 */
    { "p*p*q", 0, { -1.25, 1.5625 } }, /* 2 p q, p^2 */
    { "x^p", 0, { 0, 0 } },
    { "x^p", exp (1), { exp (1.25), 0 } },
    { "p^3 + q^-2", 0, { 4.6875, 16 } }, /* 3 p^2, -2 q^-3 */
    { "q^0 + p^1", 0, { 1, 0 } },
    { "exp(q*x) + log(p)", 2, { 0.8, 2 * exp (-1) } },
    { "sqrt(p - 1) + log2(p - 1)", 0, { 1 + 4 / G_LN2, 0 } },
    { "min(p, q) - max(p, q)", 0, { -1, 1 } },
    { "abs(q) + ceil(p)*floor(p)", 0, { 0, -1 } },
    { "sin(p) + cos(q)", 0, { cos (1.25), sin (0.5) } },
    { "-(p*7)", 0, { -7, 0 } },
    { "x", 0, { 0, 0 } },
    { "x^0 + p^-1", 0, { -0.64, 0 } },
  };
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (PredictExpression) expression = expression_testing_parse (cases[i].text);
    g_autofree int32_t *unknown = g_new (int32_t, expression->n);
    const double *columns[] = { &cases[i].x, &cases[i].x, &cases[i].x };
    const PredictPoints points = { columns, 1 };
    double value, slopes[2];

    g_test_message ("%s", cases[i].text);
    g_assert_cmpuint (predict_unknowns (expression, 2, false, unknown), ==, 2);
    predict_derivatives (expression, &points, parameters, unknown, 2, workspace, &value, slopes);
    for (guint k = 0; k < 2; k++)
      g_assert_cmpfloat_with_epsilon (slopes[k], cases[i].slopes[k],
                                      1e-13 * (1 + fabs (cases[i].slopes[k])));
  }
}

/* Without bends and jumps, of which a difference knows nothing. */
static bool
is_smooth (const PredictExpression *expression)
{
  for (uint32_t at = 0; at < expression->n; at++)
    switch (expression->steps[at].op) {
    case PREDICT_OP_MIN:
    case PREDICT_OP_MAX:
    case PREDICT_OP_ABS:
    case PREDICT_OP_CEIL:
    case PREDICT_OP_FLOOR: return false;
    default: break;
    }
  return true;
}

/* Central differences of every number of random formulas. */
static void
test_slopes_against_differences (void)
{
  g_autofree Sample *sample = g_new (Sample, 1);
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  BaseRandom random = base_random_stream (3, 5);
  guint n_good = 0, n_all = 0;

  sample_fill (sample);
  for (guint tree = 0; tree < 600; tree++) {
    g_autoptr (PredictExpression) expression = expression_testing_random (&random, 3);
    g_autofree int32_t *unknown = g_new (int32_t, expression->n);
    uint32_t n = predict_unknowns (expression, 2, true, unknown);
    g_autofree double *slopes = g_new (double, n *N_POINTS);
    double values[N_POINTS], up[N_POINTS], down[N_POINTS];

    predict_derivatives (expression, &sample->points, parameters, unknown, n, workspace, values,
                         slopes);
    for (uint32_t at = 0; at < expression->n && is_smooth (expression); at++) {
      const double h = 0x1p-17;
      PredictStep *step = &expression->steps[at], kept = *step;

      if (step->op != PREDICT_OP_CONSTANT)
        continue;
      step->value = kept.value + h;
      predict_values (expression, &sample->points, parameters, workspace, up);
      step->value = kept.value - h;
      predict_values (expression, &sample->points, parameters, workspace, down);
      *step = kept;
      for (guint i = 0; i < N_POINTS; i++) {
        double slope = slopes[(guint) unknown[at] * N_POINTS + i];
        double difference = (up[i] - down[i]) / (2 * h);

        if (!isfinite (slope) || !isfinite (difference) || fabs (values[i]) > 1e3)
          continue;
        n_all++;
        n_good += fabs (slope - difference) <= 1e-4 * (1 + fabs (slope));
      }
    }
  }
  g_test_message ("%u of %u slopes agree", n_good, n_all);
  g_assert_cmpuint (n_all, >, 40000);
  g_assert_cmpuint (n_good, ==, n_all);
}

static void
test_values_beside_derivatives_are_the_same (void)
{
  g_autofree Sample *sample = g_new (Sample, 1);
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  BaseRandom random = base_random_stream (3, 6);

  sample_fill (sample);
  for (guint tree = 0; tree < 200; tree++) {
    g_autoptr (PredictExpression) expression = expression_testing_random (&random, 4);
    g_autofree int32_t *unknown = g_new (int32_t, expression->n);
    uint32_t n = predict_unknowns (expression, 2, false, unknown);
    g_autofree double *slopes = g_new (double, n *N_POINTS);
    double values[N_POINTS], others[N_POINTS];

    g_assert_cmpuint (predict_values (expression, &sample->points, parameters, workspace, values),
                      ==,
                      predict_derivatives (expression, &sample->points, parameters, unknown, n,
                                           workspace, others, slopes));
    for (guint i = 0; i < N_POINTS; i++)
      g_assert_true (values[i] == others[i] || (isnan (values[i]) && isnan (others[i])));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predict/evaluate-blocks/by-hand", test_by_hand);
  g_test_add_func ("/predict/evaluate-blocks/long-double", test_against_long_double);
  g_test_add_func ("/predict/evaluate-blocks/any-block", test_any_block_gives_the_same_bits);
  g_test_add_func ("/predict/evaluate-blocks/same-bits", test_same_bits_everywhere);
  g_test_add_func ("/predict/evaluate-blocks/undefined", test_nothing_hides_what_is_undefined);
  g_test_add_func ("/predict/evaluate-blocks/reasons", test_reasons);
  g_test_add_func ("/predict/derivatives/by-hand", test_slopes_by_hand);
  g_test_add_func ("/predict/derivatives/differences", test_slopes_against_differences);
  g_test_add_func ("/predict/derivatives/values", test_values_beside_derivatives_are_the_same);
  return g_test_run ();
}
