/* factors_test.c - factors of parts: hand-worked, scipy's non-negative least squares, coverage.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/correction/factors.h"

#include "base/random.h"

#include <math.h>

#define MOST 200u

typedef struct {
  double memory[4][MOST];
  const double *columns[3];
  double observed[MOST];
  PredictPoints points;
} Parts;

/* Three parts that vary alone, whose sum with these factors and a noise is observed. */
static void
make (Parts *parts, uint64_t n, const double *factors, double noise, uint64_t seed)
{
  BaseRandom random = base_random_stream (seed, 0);

  for (guint part = 0; part < 3; part++)
    parts->columns[part] = parts->memory[part];
  for (uint64_t point = 0; point < n; point++) {
    double sum = 0, normal = -6;

    for (guint part = 0; part < 3; part++) {
      parts->memory[part][point] = exp (3 * base_random_unit (&random)) * (part + 1);
      sum += factors[part] * parts->memory[part][point];
    }
    for (guint at = 0; at < 12; at++)
      normal += base_random_unit (&random);
    parts->observed[point] = sum * exp (noise * normal);
  }
  parts->points = (PredictPoints){ parts->columns, n };
}

/* Without noise the factors are found, one of them 0. */
static void
test_exact (void)
{
  static const double factors[][3] = { { 1, 1, 1 }, { 1.3, 0.7, 2 }, { 0, 5, 0.1 } };
  Parts parts;

  for (guint at = 0; at < G_N_ELEMENTS (factors); at++)
    for (PredictLoss loss = PREDICT_LOSS_RMSE; loss < PREDICT_N_LOSSES; loss++) {
      PredictFactors found;
      double values[20];

      make (&parts, 20, factors[at], 0, 1 + at);
      found = predict_factors_fit (&parts.points, 3, parts.observed, loss);
      predict_factors_values (&found, &parts.points, values);
      for (guint part = 0; part < 3; part++)
        g_assert_cmpfloat_with_epsilon (found.factors[part], factors[at][part], 1e-6);
      for (guint point = 0; point < 20; point++)
        g_assert_cmpfloat_with_epsilon (values[point] / parts.observed[point], 1, 1e-6);
    }
}

/* scipy.optimize.nnls ([[1, 2, 0.5], [2, 1, 0], [3, 1, 4], [1, 5, 2]], [1, 2, 0.5, 1]): the third is 0,
 * the others (A'A)^-1 A'b by hand: A'A = [15 12; 12 31], A'b = [7.5, 9.5]. */
static void
test_bound (void)
{
  static const double a[] = { 1, 2, 3, 1 }, b[] = { 2, 1, 1, 5 }, c[] = { 0.5, 0, 4, 2 };
  static const double observed[] = { 1, 2, 0.5, 1 };
  const double *columns[] = { a, b, c };
  const PredictPoints points = { columns, 4 };
  PredictFactors found = predict_factors_fit (&points, 3, observed, PREDICT_LOSS_RMSE);

  g_assert_cmpfloat_with_epsilon (found.factors[0], (31 * 7.5 - 12 * 9.5) / (15 * 31 - 144), 1e-6);
  g_assert_cmpfloat_with_epsilon (found.factors[1], (15 * 9.5 - 12 * 7.5) / (15 * 31 - 144), 1e-6);
  g_assert_cmpfloat (found.factors[2], ==, 0);
  /* Four points are too few to tell how sure that is. */
  g_assert_true (isinf (found.upper[0]));
}

/* A part that is 0 has no factor; parts that grow alike share what they can, and that is told. */
static void
test_undetermined (void)
{
  static const double a[] = { 1, 2, 3, 4, 5, 7, 9 }, zero[7] = { 0 };
  double twice[7], observed[7];
  const double *columns[] = { a, twice, zero };
  const PredictPoints points = { columns, 7 };
  PredictFactors found;

  for (guint at = 0; at < 7; at++) {
    twice[at] = 2 * a[at];
    observed[at] = 6 * a[at] * (at % 2 ? 1.01 : 0.99); /* factors 1 would give 3 a */
  }
  found = predict_factors_fit (&points, 3, observed, PREDICT_LOSS_LOG_RMSE);
  g_assert_false (found.known[2]);
  g_assert_cmpfloat (found.factors[2], ==, 1);
  g_assert_cmpfloat_with_epsilon (found.factors[0] + 2 * found.factors[1], 6, 0.05);
  g_assert_cmpfloat (found.factors[0], >, 1);
  g_assert_cmpfloat (found.factors[1], >, 1);
  g_assert_true (isinf (found.upper[0]) && isinf (found.upper[1]));
}

/* Intervals have the true factor in 95 of 100 draws, three standard errors of 300 draws around it. */
static void
test_coverage (void)
{
  static const double factors[] = { 1, 1.3, 0.8 };
  guint n_covered = 0;
  Parts parts;

  for (guint draw = 0; draw < 300; draw++) {
    PredictFactors found;

    make (&parts, 24, factors, 0.05, 100 + draw);
    found = predict_factors_fit (&parts.points, 3, parts.observed, PREDICT_LOSS_LOG_RMSE);
    n_covered += found.lower[1] <= factors[1] && factors[1] <= found.upper[1];
    g_assert_cmpfloat (found.loss, <, 0.12);
  }
  g_assert_cmpuint (n_covered, >=, 273);
  g_assert_cmpuint (n_covered, <=, 297);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/factors/exact", test_exact);
  g_test_add_func ("/predictors/factors/bound", test_bound);
  g_test_add_func ("/predictors/factors/undetermined", test_undetermined);
  g_test_add_func ("/predictors/factors/coverage", test_coverage);
  return g_test_run ();
}
