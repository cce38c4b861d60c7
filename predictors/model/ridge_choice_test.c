/* ridge_choice_test.c - the choice of a ridge against leaving samples out one by one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/model/ridge_choice.h"

#include "predictors/predict_error.h"
#include "base/random.h"
#include "predictors/model/scale.h"
#include "predictors/correction/genetic.h"

#include <math.h>

#define MAX_SIZE 16u

/* n samples of p features, the last of which may be the sum of the first two; the target is a sum of
 * the features, and noise. */
static PredictSamples *
make_samples (guint n, guint p, double noise, gboolean is_dependent, uint64_t seed)
{
  PredictSamples *samples = predict_samples_new (n, p, TRUE);
  PredictRandom random = predict_random (seed, 0);

  for (guint i = 0; i < n; i++) {
    samples->y[i] = 3 + noise * predict_random_normal (&random);
    for (guint k = 0; k < p; k++) {
      float *x = &samples->x[k * n + i];

      *x = is_dependent && k == p - 1
               ? samples->x[i] + samples->x[n + i]
               : (float) (k + 1) * (float) predict_random_below (&random, 4096) / 4096;
      samples->y[i] += (double) *x / (k + 2.0);
    }
  }
  return samples;
}

static PredictRidgeChoice
choose (const PredictSamples *samples)
{
  g_autoptr (GError) error = NULL;
  PredictRidgeChoice choice;

  g_assert_true (predict_ridge_choose (samples, &choice, &error));
  g_assert_no_error (error);
  return choice;
}

/* Gauss and Jordan, with pivots; matrix is [n][n + 1], the last column the right side, then the
 * solution. */
static void
solve (double matrix[][MAX_SIZE + 1], guint n)
{
  for (guint k = 0; k < n; k++) {
    guint pivot = k;

    for (guint row = k; row < n; row++)
      pivot = fabs (matrix[row][k]) > fabs (matrix[pivot][k]) ? row : pivot;
    for (guint column = 0; column <= n; column++) {
      double other = matrix[pivot][column];

      matrix[pivot][column] = matrix[k][column];
      matrix[k][column] = other;
    }
    for (guint row = 0; row < n; row++) {
      double factor = row == k ? 0 : matrix[row][k] / matrix[k][k];

      for (guint column = 0; column <= n; column++)
        matrix[row][column] -= factor * matrix[k][column];
    }
  }
  for (guint k = 0; k < n; k++)
    matrix[k][n] /= matrix[k][k];
}

/* What the normal equations of all other samples predict of one; the constant bears no penalty. */
static double
predict_without (const PredictSamples *samples, guint left_out, double ridge)
{
  guint n = (guint) samples->n_samples, p = samples->n_features;
  double matrix[MAX_SIZE][MAX_SIZE + 1] = { 0 }, of_left_out[MAX_SIZE], predicted = 0;

  for (guint i = 0; i < n; i++) {
    double row[MAX_SIZE] = { 1 };

    for (guint k = 0; k < p; k++)
      row[k + 1] =
          predict_scaled (predict_scale_floats (samples->x + k * n, n), samples->x[k * n + i]);
    for (guint k = 0; k <= p; k++) {
      of_left_out[k] = i == left_out ? row[k] : of_left_out[k];
      for (guint l = 0; l <= p && i != left_out; l++)
        matrix[k][l] += row[k] * row[l];
      matrix[k][p + 1] += i != left_out ? row[k] * samples->y[i] : 0;
    }
  }
  for (guint k = 1; k <= p; k++)
    matrix[k][k] += ridge;
  solve (matrix, p + 1);
  for (guint k = 0; k <= p; k++)
    predicted += matrix[k][p + 1] * of_left_out[k];
  return predicted;
}

/* The sum of squares of the errors. */
static double
press (const PredictSamples *samples, double ridge)
{
  double sum = 0;

  for (guint i = 0; i < samples->n_samples; i++) {
    double off = samples->y[i] - predict_without (samples, i, ridge);

    sum += off * off;
  }
  return sum;
}

static void
test_left_out (void)
{
  static const struct {
    guint n, p;
    double noise;
    gboolean is_dependent;
  } cases[] = { { 12, 9, 0.05, FALSE },
                { 12, 9, 2, FALSE },
                { 8, 9, 0.05, FALSE },
                { 20, 5, 0.1, TRUE },
                { 3, 1, 0.1, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (PredictSamples) samples =
        make_samples (cases[i].n, cases[i].p, cases[i].noise, cases[i].is_dependent, i + 1);
    PredictRidgeChoice choice = choose (samples);
    double chosen = press (samples, choice.ridge);

    for (guint k = 0; k < cases[i].n; k++)
      g_assert_cmpfloat_with_epsilon (choice.left_out[k],
                                      predict_without (samples, k, choice.ridge), 1e-4);
    /* Smaller ridges leave the test's own equations without digits. */
    for (int k = -10; k <= 2; k++)
      g_assert_cmpfloat (chosen, <=, press (samples, cases[i].n * pow (10, k / 2.0)) * (1 + 1e-6));
    g_free (choice.left_out);
  }
}

static void
test_rank (void)
{
  static const struct {
    guint n, p;
    gboolean is_dependent;
    guint rank;
  } cases[] = { { 12, 9, FALSE, 10 }, { 12, 9, TRUE, 9 }, { 8, 9, FALSE, 8 }, { 2, 9, FALSE, 2 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (PredictSamples) samples =
        make_samples (cases[i].n, cases[i].p, 1, cases[i].is_dependent, 7);
    PredictRidgeChoice choice = choose (samples);

    g_assert_cmpuint (choice.rank, ==, cases[i].rank);
    g_assert_true (choice.ridge > 0 || choice.rank == cases[i].p + 1);
    g_free (choice.left_out);
  }
}

/* Where the features say all, no penalty; where they say nothing, the largest. */
static void
test_extremes (void)
{
  g_autoptr (PredictSamples) exact = make_samples (14, 9, 0, FALSE, 1);
  g_autoptr (PredictSamples) noise = make_samples (14, 9, 1000, FALSE, 2);
  PredictRidgeChoice of_exact = choose (exact), of_noise = choose (noise);

  g_assert_cmpfloat (of_exact.ridge, ==, 0);
  for (guint i = 0; i < 14; i++)
    g_assert_cmpfloat_with_epsilon (of_exact.left_out[i], exact->y[i], 1e-9);
  g_assert_cmpfloat (of_noise.ridge, ==, 140);
  g_free (of_exact.left_out);
  g_free (of_noise.left_out);
}

/* A sample is then predicted by the mean of the others. */
static void
test_constant_features (void)
{
  float x[] = { 2, 2, 2 };
  double y[] = { 1, 2, 6 };
  PredictSamples samples = { .n_samples = 3, .n_features = 1, .x = x, .y = y };
  PredictRidgeChoice choice = choose (&samples);

  g_assert_cmpuint (choice.rank, ==, 1);
  g_assert_cmpfloat_with_epsilon (choice.left_out[0], 4, 1e-12);
  g_assert_cmpfloat_with_epsilon (choice.left_out[2], 1.5, 1e-12);
  g_free (choice.left_out);
}

static void
test_too_large (void)
{
  float x[] = { 1, 2, 3 };
  double y[] = { 1e200, -1e200, 1e300 };
  PredictSamples samples = { .n_samples = 3, .n_features = 1, .x = x, .y = y };
  PredictRidgeChoice choice;
  g_autoptr (GError) error = NULL;

  g_assert_false (predict_ridge_choose (&samples, &choice, &error));
  g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/ridge-choice/left-out", test_left_out);
  g_test_add_func ("/predictors/ridge-choice/rank", test_rank);
  g_test_add_func ("/predictors/ridge-choice/extremes", test_extremes);
  g_test_add_func ("/predictors/ridge-choice/constant-features", test_constant_features);
  g_test_add_func ("/predictors/ridge-choice/too-large", test_too_large);
  return g_test_run ();
}
