/* choice_test.c - the method that is chosen.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/forest/friedman_testing.h"
#include "predictors/model/choice.h"
#include "predictors/model/fitted.h"
#include "predictors/scoring/evaluate.h"

#include <math.h>

static PredictMethod
chosen_of (const PredictSamples *samples, PredictChoice *choice)
{
  PredictSettings settings = predict_settings_default (PREDICT_AUTO);
  PredictMethod method;
  g_autoptr (GError) error = NULL;

  predict_choose (samples, &settings, &method, choice, NULL, NULL, &error);
  g_assert_no_error (error);
  return method;
}

/* A line is learned by a line; a step in one of two features, by trees. */
static void
test_kinds (void)
{
  enum { N = 60 };
  g_autoptr (PredictSamples) samples = predict_samples_new (N, 2, TRUE);
  PredictChoice choice;
  PredictMethod method;

  for (guint i = 0; i < N; i++) {
    samples->x[i] = (float) (i * 7 % 31);
    samples->x[N + i] = (float) (i * i % 17);
    samples->y[i] = 3 * (double) samples->x[i] - (double) samples->x[N + i];
  }
  g_assert_cmpint (chosen_of (samples, &choice), ==, PREDICT_LINEAR);
  g_assert_cmpuint (choice.n_folds, ==, 5);
  for (guint i = 0; i < N; i++)
    samples->y[i] = samples->x[i] > 10 && samples->x[N + i] > 8 ? 5 : 1;
  method = chosen_of (samples, &choice);
  g_assert_true (method != PREDICT_LINEAR && method != PREDICT_MEAN);
  for (guint i = 0; i < N; i++)
    samples->y[i] = 2;
  g_assert_cmpint (chosen_of (samples, &choice), ==, PREDICT_MEAN);
}

/* Noise that copies of a row share is looked up by trees; with groups, only the mean is left. */
static void
test_groups (void)
{
  enum { GROUPS = 60, COPIES = 4, N = GROUPS * COPIES };
  g_autoptr (PredictSamples) samples = predict_samples_new (N, 1, TRUE);
  BaseRandom random = base_random_stream (5, 0);
  PredictChoice choice;
  double y = 0;

  for (guint i = 0; i < N; i++) {
    y = i % COPIES == 0 ? base_random_unit (&random) : y;
    samples->x[i] = (float) (i / COPIES);
    samples->y[i] = y;
  }
  g_assert_cmpint (chosen_of (samples, &choice), !=, PREDICT_MEAN);
  samples->group = g_new (uint32_t, N);
  samples->n_groups = GROUPS;
  for (guint i = 0; i < N; i++)
    samples->group[i] = i / COPIES;
  g_assert_cmpint (chosen_of (samples, &choice), ==, PREDICT_MEAN);
  samples->n_groups = 1;
  for (guint i = 0; i < N; i++)
    samples->group[i] = 0;
  g_assert_cmpint (chosen_of (samples, &choice), ==, PREDICT_MEAN);
  g_assert_cmpuint (choice.n_folds, ==, 0);
}

static double
rmse_of (const PredictSamples *samples, PredictMethod method)
{
  PredictSettings settings = predict_settings_default (method);
  PredictTrial trial = { .repeats = 10, .test_share = 1.0 / 3, .seed = 3 };
  g_auto (PredictEvaluation) evaluation = { 0 };
  g_autofree uint32_t *alone = g_new (uint32_t, samples->n_samples);
  g_autoptr (GError) error = NULL;

  for (uint32_t i = 0; i < samples->n_samples; i++)
    alone[i] = i;
  predict_evaluate (samples, alone, (uint32_t) samples->n_samples, &settings, &trial, &evaluation,
                    NULL, NULL, &error);
  g_assert_no_error (error);
  g_test_message ("%s: rmse %.4f +- %.4f", predict_method_names[method],
                  evaluation.scores[PREDICT_RMSE].mean, evaluation.scores[PREDICT_RMSE].sd);
  return evaluation.scores[PREDICT_RMSE].mean;
}

/* Chosen anew in each of ten splits, it predicts about as well as the best method, which it was not told. */
static void
test_near_the_best (void)
{
  static const PredictMethod methods[] = { PREDICT_LINEAR, PREDICT_EXTRA_TREES, PREDICT_FOREST,
                                           PREDICT_BOOSTING };
  static const uint64_t n[] = { 60, 400 };

  for (guint at = 0; at < G_N_ELEMENTS (n); at++) {
    g_autoptr (PredictSamples) samples = friedman_samples (n[at], 10, 8);
    double best = INFINITY;

    for (guint i = 0; i < G_N_ELEMENTS (methods); i++)
      best = fmin (best, rmse_of (samples, methods[i]));
    g_assert_cmpfloat (rmse_of (samples, PREDICT_AUTO), <, 1.1 * best);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/choice/kinds", test_kinds);
  g_test_add_func ("/predictors/choice/groups", test_groups);
  g_test_add_func ("/predictors/choice/near-the-best", test_near_the_best);
  return g_test_run ();
}
