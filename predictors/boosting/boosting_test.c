/* boosting_test.c - boosting against trees worked by hand, and its promises.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/boosting/boosting.h"
#include "base/random.h"
#include "predictors/forest/friedman_testing.h"
#include "predictors/predict_testing.h"

#include <float.h>
#include <math.h>
#include <string.h>

static PredictSettings
boosting_settings (void)
{
  PredictSettings settings = predict_settings_default (PREDICT_BOOSTING);

  settings.threads = 1;
  return settings;
}

/* Samples of one feature. */
static PredictSamples *
line_samples (const float *x, const double *y, guint n)
{
  PredictSamples *samples = predict_samples_new (n, 1, TRUE);

  memcpy (samples->x, x, n * sizeof *x);
  memcpy (samples->y, y, n * sizeof *y);
  return samples;
}

static void
assert_node (const PredictBoosting *boosting, guint node, int feature, double cut, double value)
{
  g_assert_cmpint (boosting->forest->nodes[node].feature, ==, feature);
  g_assert_cmpfloat_with_epsilon ((double) boosting->forest->nodes[node].cut, cut, 1e-6);
  g_assert_cmpfloat_with_epsilon (boosting->forest->values[node], value, 1e-6);
}

/* x 1 2 3 4 5, y 0 0 6 6 13; the mean is 5, the gradients g = 5 - y are 5 5 -1 -1 -8, their sum 0.
 * Gains of the root's cuts, G_left^2 / n_left + G_right^2 / n_right - 0:
 *   1.5:   25 / 1 + 25 / 4 = 31.25      2.5:  100 / 2 + 100 / 3 = 83.33
 *   3.5:   81 / 3 + 81 / 2 = 67.5       4.5:   64 / 4 + 64 / 1 = 80
 * so 2.5, with values -5 and 10 / 3.  The left has nothing to gain (two equal gradients); the right, G = -10,
 * has 100 / 3 already:
 *   3.5:   1 / 1 + 81 / 2 - 33.33 = 8.17      4.5:  4 / 2 + 64 / 1 - 33.33 = 32.67
 * so 4.5, with values 1 and 8.  Then {3, 4} has nothing to gain.  With a learning rate of 1/2 the steps are half
 * of the values. */
static void
test_by_hand (void)
{
  static const float x[] = { 1, 2, 3, 4, 5 };
  static const double y[] = { 0, 0, 6, 6, 13 };
  g_autoptr (PredictSamples) samples = line_samples (x, y, 5);
  PredictSettings settings = boosting_settings ();
  g_autoptr (PredictBoosting) boosting = NULL, stump = NULL;
  double predicted[5], importance;

  settings.trees = 1;
  settings.learning_rate = 0.5;
  settings.min_samples_leaf = 1;
  boosting = predict_boosting_fit (samples, &settings, &importance, NULL, NULL);
  g_assert_cmpfloat (boosting->constant, ==, 5);
  g_assert_cmpuint (boosting->forest->first[1], ==, 5);
  assert_node (boosting, 0, 0, 2.5, 0);
  assert_node (boosting, 1, -1, 0, -2.5);
  assert_node (boosting, 2, 0, 4.5, 10.0 / 6);
  assert_node (boosting, 3, -1, 0, 0.5);
  assert_node (boosting, 4, -1, 0, 4);
  g_assert_cmpuint (boosting->forest->nodes[0].right, ==, 2);
  g_assert_cmpuint (boosting->forest->nodes[2].right, ==, 4);
  g_assert_cmpfloat (importance, ==, 1);
  predict_boosting_predict (boosting, samples, 1, predicted);
  for (guint i = 0; i < 5; i++)
    g_assert_cmpfloat_with_epsilon (predicted[i], i < 2 ? 2.5 : i < 4 ? 5.5 : 9, 1e-6);

  /* Two leaves of at least two samples and l2 = 1: 100 / 3 + 100 / 4 = 58.3 of 2.5, 81 / 4 + 81 / 3 = 47.3 of 3.5. */
  settings.max_leaf_nodes = 2;
  settings.min_samples_leaf = 2;
  settings.l2 = 1;
  stump = predict_boosting_fit (samples, &settings, NULL, NULL, NULL);
  g_assert_cmpuint (stump->forest->first[1], ==, 3);
  assert_node (stump, 0, 0, 2.5, 0);
  assert_node (stump, 1, -1, 0, -10.0 / 3 / 2);
  assert_node (stump, 2, -1, 0, 10.0 / 4 / 2);
}

/* Quantile 0.75 of the same: the first prediction is 6, the gradients -q below y and 1 - q above are
 * 1/4 1/4 1/4 1/4 -3/4 (a tie counts as below: x = 3 and 4 have y = 6), that is 1/4 1/4 -3/4 -3/4 -3/4.
 * G = -7/4.  Gains - 49/80: 1.5: 1/16 + 4/4;  2.5: 1/8 + (81/16)/3 = 1.81;  3.5: 1/48 + (9/4)/2 = 1.15;
 * 4.5: 1/4 + 9/16.  So 2.5.  What is left over is -6 -6 | 0 0 7, whose quantiles are -6 and 3.5. */
static void
test_quantile_by_hand (void)
{
  static const float x[] = { 1, 2, 3, 4, 5 };
  static const double y[] = { 0, 0, 6, 6, 13 };
  g_autoptr (PredictSamples) samples = line_samples (x, y, 5);
  PredictSettings settings = boosting_settings ();
  g_autoptr (PredictBoosting) boosting = NULL;

  settings.trees = 1;
  settings.learning_rate = 1;
  settings.min_samples_leaf = 1;
  settings.max_leaf_nodes = 2;
  settings.quantile = 0.75;
  boosting = predict_boosting_fit (samples, &settings, NULL, NULL, NULL);
  g_assert_cmpfloat (boosting->constant, ==, 6);
  g_assert_cmpfloat ((double) boosting->forest->nodes[0].cut, ==, 2.5);
  g_assert_cmpfloat (boosting->forest->values[1], ==, -6);
  g_assert_cmpfloat (boosting->forest->values[2], ==, 3.5);
}

/* Where values are missing, they go where the gain is; a feature that is known or not is a feature. */
static void
test_missing (void)
{
  static const float left[] = { 1, 2, 3, 4, NAN, NAN }, alone[] = { 3, 3, 3, 3, NAN, NAN };
  static const double of_left[] = { 1, 1, 9, 9, 1, 1 }, of_alone[] = { 2, 2, 2, 2, 8, 8 };
  const struct {
    const float *x;
    const double *y;
    int feature;
    double cut;
  } cases[] = { { left, of_left, 1, 2.5 }, { alone, of_alone, 0, FLT_MAX } };

  for (guint at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (PredictSamples) samples = line_samples (cases[at].x, cases[at].y, 6);
    PredictSettings settings = boosting_settings ();
    g_autoptr (PredictBoosting) boosting = NULL;
    double predicted[6];

    settings.trees = 1;
    settings.learning_rate = 1;
    settings.min_samples_leaf = 1;
    boosting = predict_boosting_fit (samples, &settings, NULL, NULL, NULL);
    g_assert_cmpuint (boosting->n_missing, ==, 1);
    g_assert_cmpuint (boosting->missing[0], ==, 0);
    g_assert_cmpuint (boosting->forest->first[1], ==, 3);
    g_assert_cmpint (boosting->forest->nodes[0].feature, ==, cases[at].feature);
    g_assert_cmpfloat ((double) boosting->forest->nodes[0].cut, ==, cases[at].cut);
    predict_boosting_predict (boosting, samples, 1, predicted);
    for (guint i = 0; i < 6; i++)
      g_assert_cmpfloat_with_epsilon (predicted[i], cases[at].y[i], 1e-6);
  }
}

/* More distinct values than bins: the cuts are quantiles, and every bin has about as many samples. */
static void
test_many_values (void)
{
  enum { N = 25500 };
  g_autoptr (PredictSamples) samples = predict_samples_new (N, 1, TRUE);
  PredictSettings settings = boosting_settings ();
  g_autoptr (PredictBoosting) boosting = NULL;
  guint n_cuts = 0;

  for (guint i = 0; i < N; i++) {
    samples->x[i] = (float) (i * 7919 % N);
    samples->y[i] = (double) samples->x[i];
  }
  settings.trees = 1;
  settings.max_leaf_nodes = 1000;
  settings.min_samples_leaf = 1;
  settings.early_stopping = PREDICT_STOPPING_OFF;
  boosting = predict_boosting_fit (samples, &settings, NULL, NULL, NULL);
  for (guint node = 0; node < boosting->forest->first[1]; node++)
    if (boosting->forest->nodes[node].feature == 0) {
      double place = (double) boosting->forest->nodes[node].cut / (N - 1) * 255;

      g_assert_cmpfloat_with_epsilon (place, round (place), 0.011);
      n_cuts++;
    }
  g_assert_cmpuint (n_cuts, ==, 254);
}

/* Friedman's function rises with x3 and x4.  A tree that is held to it rises on every line of a grid; one that is
 * held to the contrary falls, and says nothing of them. */
static void
test_monotone (void)
{
  enum { STEPS = 25, LINES = 40 };
  g_autoptr (PredictSamples) samples = friedman_samples (300, 10, 5);
  g_autoptr (PredictSamples) grid = predict_samples_new (STEPS, 10, FALSE);
  PredictSettings settings = boosting_settings ();
  guint n_free = 0;

  samples->monotone = g_new0 (int8_t, 10);
  settings.min_samples_leaf = 5;
  for (int direction = -1; direction <= 1; direction++) {
    g_autoptr (PredictBoosting) boosting = NULL;
    BaseRandom random = base_random_stream (3, 0);

    samples->monotone[3] = (int8_t) direction;
    samples->monotone[9] = (int8_t) -direction;
    boosting = predict_boosting_fit (samples, &settings, NULL, NULL, NULL);
    for (guint line = 0; line < LINES; line++) {
      guint feature = line % 2 ? 3 : 9;
      double predicted[STEPS];

      for (guint k = 0; k < 10; k++) {
        float value = (float) base_random_unit (&random);

        for (guint i = 0; i < STEPS; i++)
          grid->x[k * STEPS + i] = k == feature ? (float) i / (STEPS - 1) : value;
      }
      predict_boosting_predict (boosting, grid, 1, predicted);
      for (guint i = 1; i < STEPS; i++) {
        double rise = (predicted[i] - predicted[i - 1]) * samples->monotone[feature];

        g_assert_cmpfloat (rise, >=, -1e-9);
        n_free += direction == 0 && feature == 9 && predicted[i] < predicted[i - 1] - 1e-9;
      }
    }
  }
  g_assert_cmpuint (n_free, >, 0); /* the grid would have found it */
}

static guint
n_bytes_that_differ (const PredictBoosting *a, const PredictBoosting *b)
{
  gsize n = a->forest->first[a->forest->n_trees];

  if (a->constant != b->constant || a->forest->n_trees != b->forest->n_trees ||
      n != b->forest->first[b->forest->n_trees])
    return G_MAXUINT;
  return (guint) (memcmp (a->forest->nodes, b->forest->nodes, n * sizeof *a->forest->nodes) != 0) +
         (guint) (memcmp (a->forest->values, b->forest->values, n * sizeof *a->forest->values) !=
                  0);
}

/* Enough samples for threads to be woken. */
static void
test_threads (void)
{
  g_autoptr (PredictSamples) samples = friedman_samples (60000, 10, 1);
  PredictSettings settings = boosting_settings ();
  g_autoptr (PredictBoosting) one = NULL, three = NULL;

  settings.trees = 5;
  one = predict_boosting_fit (samples, &settings, NULL, NULL, NULL);
  settings.threads = 3;
  three = predict_boosting_fit (samples, &settings, NULL, NULL, NULL);
  g_assert_cmpuint (n_bytes_that_differ (one, three), ==, 0);
}

/* A power of two more or less in the targets is one more or less in the tree, of any size. */
static void
test_units (void)
{
  g_autoptr (PredictSamples) samples = friedman_samples (100, 10, 2);
  PredictSettings settings = boosting_settings ();
  g_autoptr (PredictBoosting) plain = predict_boosting_fit (samples, &settings, NULL, NULL, NULL);
  g_autofree double *y = g_memdup2 (samples->y, 100 * sizeof *y);
  static const int exponents[] = { -460, -60, 130, 460 };

  for (guint at = 0; at < G_N_ELEMENTS (exponents); at++) {
    g_autoptr (PredictBoosting) scaled = NULL;

    for (guint i = 0; i < 100; i++)
      samples->y[i] = ldexp (y[i], exponents[at]);
    scaled = predict_boosting_fit (samples, &settings, NULL, NULL, NULL);
    for (gsize node = 0; node < scaled->forest->first[scaled->forest->n_trees]; node++)
      scaled->forest->values[node] = ldexp (scaled->forest->values[node], -exponents[at]);
    scaled->constant = ldexp (scaled->constant, -exponents[at]);
    g_assert_cmpuint (n_bytes_that_differ (plain, scaled), ==, 0);
  }
}

static double
share_below (const PredictBoosting *boosting, const PredictSamples *samples)
{
  g_autofree double *predicted = g_new (double, samples->n_samples);
  guint n = 0;

  predict_boosting_predict (boosting, samples, 1, predicted);
  for (uint64_t i = 0; i < samples->n_samples; i++)
    n += samples->y[i] <= predicted[i];
  return n / (double) samples->n_samples;
}

/* As many new samples are below a quantile as were learned to be, when leaves are large.  With the default
 * ones a hundred trees follow the noise, and 0.83 are below the quantile 0.9, as scikit-learn's. */
static void
test_quantiles (void)
{
  g_autoptr (PredictSamples) learned = friedman_samples (5000, 10, 1);
  g_autoptr (PredictSamples) other = friedman_samples (5000, 10, 2);
  PredictSettings settings = boosting_settings ();
  static const double quantiles[] = { 0.1, 0.5, 0.9 };

  for (guint at = 0; at < G_N_ELEMENTS (quantiles); at++) {
    g_autoptr (PredictBoosting) boosting = NULL;
    double below;

    settings.quantile = quantiles[at];
    settings.max_leaf_nodes = 8;
    settings.min_samples_leaf = 100;
    boosting = predict_boosting_fit (learned, &settings, NULL, NULL, NULL);
    below = share_below (boosting, other);
    g_test_message ("%g: %.4f of new samples are below", quantiles[at], below);
    g_assert_cmpfloat (fabs (below - quantiles[at]), <, 0.03);
  }
}

/* Samples of pure noise, each five times.  Single samples held out are known from their copies, and more trees are
 * better; of whole groups nothing can be known, and no tree is. */
static void
test_stopping_by_groups (void)
{
  enum { GROUPS = 80, COPIES = 5, N = GROUPS * COPIES };
  g_autoptr (PredictSamples) samples = predict_samples_new (N, 1, TRUE);
  PredictSettings settings = boosting_settings ();
  g_autoptr (PredictBoosting) alone = NULL, grouped = NULL;
  BaseRandom random = base_random_stream (1, 0);
  double y = 0;

  for (guint i = 0; i < N; i++) {
    y = i % COPIES == 0 ? base_random_unit (&random) : y;
    samples->x[i] = (float) (i / COPIES);
    samples->y[i] = y;
  }
  settings.early_stopping = PREDICT_STOPPING_ON;
  settings.min_samples_leaf = 1;
  alone = predict_boosting_fit (samples, &settings, NULL, NULL, NULL);
  samples->group = g_new (uint32_t, N);
  samples->n_groups = GROUPS;
  for (guint i = 0; i < N; i++)
    samples->group[i] = i / COPIES;
  grouped = predict_boosting_fit (samples, &settings, NULL, NULL, NULL);
  g_test_message ("%u trees, with groups %u", alone->forest->n_trees, grouped->forest->n_trees);
  g_assert_cmpuint (alone->forest->n_trees, >, 50);
  g_assert_cmpuint (grouped->forest->n_trees, <, 10);
}

/* Nothing to gain: every tree is a leaf that adds nothing. */
static void
test_constant (void)
{
  static const float x[] = { 1, 2, 3, 4 };
  static const double y[] = { 0.1, 0.1, 0.1, 0.1 };
  g_autoptr (PredictSamples) samples = line_samples (x, y, 4);
  PredictSettings settings = boosting_settings ();
  g_autoptr (PredictBoosting) boosting = NULL;
  double predicted[4], importance;

  boosting = predict_boosting_fit (samples, &settings, &importance, NULL, NULL);
  predict_boosting_predict (boosting, samples, 1, predicted);
  g_assert_cmpuint (boosting->forest->first[100], ==, 100);
  g_assert_cmpfloat (importance, ==, 0);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpfloat_with_epsilon (predicted[i], 0.1, 1e-15);
}

static void
test_least (void)
{
  static const uint64_t n[] = { 1, 24, 56, 133, 533, 534, 100000 };
  static const guint expected[] = { 1, 4, 6, 9, 19, 20, 20 };

  for (guint at = 0; at < G_N_ELEMENTS (n); at++)
    g_assert_cmpuint (predict_boosting_least (n[at]), ==, expected[at]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/boosting/by-hand", test_by_hand);
  g_test_add_func ("/predictors/boosting/quantile-by-hand", test_quantile_by_hand);
  g_test_add_func ("/predictors/boosting/missing", test_missing);
  g_test_add_func ("/predictors/boosting/many-values", test_many_values);
  g_test_add_func ("/predictors/boosting/monotone", test_monotone);
  g_test_add_func ("/predictors/boosting/threads", test_threads);
  g_test_add_func ("/predictors/boosting/units", test_units);
  g_test_add_func ("/predictors/boosting/quantiles", test_quantiles);
  g_test_add_func ("/predictors/boosting/stopping-by-groups", test_stopping_by_groups);
  g_test_add_func ("/predictors/boosting/constant", test_constant);
  g_test_add_func ("/predictors/boosting/least", test_least);
  return g_test_run ();
}
