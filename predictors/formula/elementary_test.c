/* elementary_test.c - log, exp, powers, sine and cosine against long double.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/formula/elementary.h"

#include "base/random.h"

#include <glib.h>
#include <stdbool.h>

#define N_ARGUMENTS 200000u

typedef struct {
  double (*ours) (double x);
  long double (*exact) (long double x);
  double low, high; /* of the arguments, or of their base-2 logarithms */
  bool logarithmic;
  double most_ulps;
} Function;

/* The distance in units in the last place of a double near `exact`. */
static double
ulps (double value, long double exact)
{
  int exponent;

  frexpl (exact, &exponent);
  return (double) (fabsl (value - exact) / ldexpl (1, MAX (exponent, -1021) - 53));
}

/* The library's long double has 64 bits, 11 more than are compared. */
static void
test_accuracy (gconstpointer data)
{
  const Function *function = data;
  BaseRandom random = base_random_stream (1, 2);
  double worst = 0;

  for (guint i = 0; i < N_ARGUMENTS; i++) {
    double share = base_random_unit (&random);
    double x = function->low + (function->high - function->low) * share;

    x = function->logarithmic ? exp2 (x) : x;
    worst = MAX (worst, ulps (function->ours (x), function->exact (x)));
  }
  g_test_message ("at most %.3f units in the last place", worst);
  g_assert_cmpfloat (worst, <, function->most_ulps);
}

static void
test_near_roots (void)
{
  for (int k = 1; k < 600000; k += 7) {
    double turn = k * G_PI_2;

    g_assert_cmpfloat (ulps (predict_sin (turn), sinl (turn)), <, 1.25);
    g_assert_cmpfloat (ulps (predict_cos (turn), cosl (turn)), <, 1.25);
  }
  for (int k = 1; k < 1000; k++)
    g_assert_cmpfloat (ulps (predict_log (1 + k * 0x1p-52), log1pl (k * 0x1p-52L)), <, 1);
}

static void
test_exact_values (void)
{
  for (int k = -1074; k < 1024; k++)
    g_assert_cmpfloat (predict_log2 (ldexp (1, k)), ==, k);
  g_assert_cmpfloat (predict_log (1), ==, 0);
  g_assert_cmpfloat (predict_exp (0), ==, 1);
  g_assert_cmpfloat (predict_exp (-746), ==, 0);
  g_assert_cmpfloat (predict_exp (-1e300), ==, 0);
  g_assert_cmpfloat (predict_power (0, 1.5), ==, 0);
  g_assert_cmpfloat (predict_power (2, 10), ==, 1024);
  g_assert_cmpfloat (predict_power (0.25, -511), ==, 0x1p1022);
  g_assert_cmpfloat (predict_power (0.25, 1e308), ==, 0);
  g_assert_cmpfloat (predict_sin (0), ==, 0);
  g_assert_cmpfloat (predict_cos (0), ==, 1);
}

static void
test_undefined (void)
{
  const double outside[] = { 0, -1, -INFINITY, INFINITY, NAN };

  for (guint i = 0; i < G_N_ELEMENTS (outside); i++) {
    g_assert_true (isnan (predict_log (outside[i])));
    g_assert_true (isnan (predict_log2 (outside[i])));
    g_assert_true (isnan (predict_power (outside[i], -0.5)));
  }
  for (guint i = 2; i < G_N_ELEMENTS (outside); i++) {
    g_assert_true (isnan (predict_exp (outside[i])));
    g_assert_true (isnan (predict_sin (outside[i])));
    g_assert_true (isnan (predict_power (2, outside[i])));
    g_assert_true (isnan (predict_power (0, outside[i])));
  }
  g_assert_true (isinf (predict_exp (709.79)));
  g_assert_true (isnan (predict_cos (1 + PREDICT_MAX_ANGLE)));
  g_assert_false (isnan (predict_cos (-PREDICT_MAX_ANGLE)));
}

/* The error that the exponent's rounding makes: see predict_power(). */
static void
test_powers (void)
{
  BaseRandom random = base_random_stream (1, 3);

  for (guint i = 0; i < N_ARGUMENTS; i++) {
    double x = exp2 (40 * base_random_unit (&random) - 20);
    double y = 20 * base_random_unit (&random) - 10;
    long double exact = powl (x, y);

    g_assert_cmpfloat (ulps (predict_power (x, y), exact), <, (double) fabsl (log2l (exact)) + 2);
  }
}

int
main (int argc, char **argv)
{
  static const Function functions[] = {
    { predict_log, logl, -1074, 1024, true, 1 },   { predict_log, logl, 0.5, 2, false, 1 },
    { predict_log2, log2l, -1074, 1024, true, 1 }, { predict_log2, log2l, 0.5, 2, false, 1 },
    { predict_exp, expl, -745, 709.7, false, 1 },  { predict_exp, expl, -2, 2, false, 1 },
    { predict_sin, sinl, -1e6, 1e6, false, 1.25 }, { predict_sin, sinl, -4, 4, false, 1.25 },
    { predict_cos, cosl, -1e6, 1e6, false, 1.25 }, { predict_cos, cosl, -4, 4, false, 1.25 },
  };
  static const char *const names[] = { "log-all", "log-near-1", "log2-all", "log2-near-1",
                                       "exp-all", "exp-near-0", "sin-far",  "sin-near",
                                       "cos-far", "cos-near" };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++) {
    g_autofree char *path = g_strconcat ("/predict/elementary/", names[i], NULL);

    g_test_add_data_func (path, &functions[i], test_accuracy);
  }
  g_test_add_func ("/predict/elementary/near-roots", test_near_roots);
  g_test_add_func ("/predict/elementary/exact-values", test_exact_values);
  g_test_add_func ("/predict/elementary/undefined", test_undefined);
  g_test_add_func ("/predict/elementary/powers", test_powers);
  return g_test_run ();
}
