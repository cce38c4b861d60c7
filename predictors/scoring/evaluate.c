/* evaluate.c - scores of a method on samples that it was not fitted to.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/scoring/evaluate.h"

#include "predictors/forest/work_threads.h"
#include "predictors/predict_error.h"
#include "predictors/table/samples.h"

#include <math.h>
#include <stdlib.h>

/* --- One division --- */

/* all[] of the tested samples := tested[], in their order. */
static void
scatter (const double *tested, const bool *is_test, uint64_t n, double *all)
{
  uint64_t next = 0;

  for (uint64_t i = 0; all != NULL && i < n; i++)
    if (is_test[i])
      all[i] = tested[next++];
}

gboolean
predict_holdout (const PredictSamples *samples, const bool *is_test,
                 const PredictSettings *settings, gboolean log_target, double *predicted,
                 double *deviation, PredictScores *scores, GError **error)
{
  PredictSettings alone = *settings;
  g_autoptr (PredictSamples) training = predict_samples_select (samples, is_test, false);
  g_autoptr (PredictSamples) tested = predict_samples_select (samples, is_test, true);
  uint64_t n_tested = tested->n_samples;
  g_autofree double *tested_predicted = g_new (double, n_tested);
  g_autofree double *tested_deviation = g_new (double, n_tested);
  g_autoptr (PredictFitted) fitted = NULL;

  alone.threads = 1;
  fitted = predict_fit (training, &alone, NULL, NULL, NULL, error);
  if (fitted == NULL)
    return FALSE;
  predict_fitted_predict (fitted, tested, 1, tested_predicted, tested_deviation);
  scatter (tested_predicted, is_test, samples->n_samples, predicted);
  scatter (tested_deviation, is_test, samples->n_samples, deviation);
  for (uint64_t i = 0; log_target && i < n_tested; i++) {
    tested->y[i] = exp (tested->y[i]);
    tested_predicted[i] = exp (tested_predicted[i]);
  }
  *scores = predict_score (tested->y, tested_predicted, n_tested);
  return TRUE;
}

/* --- Splits and folds --- */

typedef struct {
  const PredictSamples *samples;
  const uint32_t *group;
  uint32_t n_groups;
  const PredictSettings *settings;
  const PredictTrial *trial;
  PredictScores *scores;         /* [tests] */
  GError **errors;               /* [tests] */
  double *predicted, *deviation; /* [n_samples], of folds */
} Evaluation;

static gboolean
has_folds (const PredictTrial *trial)
{
  return trial->test_share == 0;
}

static void
make_test (void *data, guint number)
{
  const Evaluation *evaluation = data;
  const PredictTrial *trial = evaluation->trial;
  uint64_t n = evaluation->samples->n_samples;
  guint n_folds = has_folds (trial) ? trial->folds : 1;
  gboolean kept = has_folds (trial) && number < trial->folds;
  g_autofree bool *is_test = g_new (bool, n);
  /* Each test has its own stream, so that the result does not depend on the threads. */
  BaseRandom random = base_random_stream (trial->seed, number / n_folds);

  if (has_folds (trial)) {
    g_autofree uint32_t *fold = g_new (uint32_t, n);

    predict_split_deal (&random, evaluation->group, n, evaluation->n_groups, n_folds, fold);
    for (uint64_t i = 0; i < n; i++)
      is_test[i] = fold[i] == number % n_folds;
  } else
    predict_split_draw (&random, evaluation->group, n, evaluation->n_groups, trial->test_share,
                        is_test);
  predict_holdout (evaluation->samples, is_test, evaluation->settings, trial->log_target,
                   kept ? evaluation->predicted : NULL, kept ? evaluation->deviation : NULL,
                   &evaluation->scores[number], &evaluation->errors[number]);
}

gboolean
predict_first_error (GError **errors, guint n, GError **error)
{
  GError *first = NULL;

  for (guint i = 0; i < n; i++)
    if (first == NULL)
      first = errors[i];
    else
      g_clear_error (&errors[i]);
  if (first != NULL)
    g_propagate_error (error, first);
  return first == NULL;
}

gboolean
predict_evaluate (const PredictSamples *samples, const uint32_t *group, uint32_t n_groups,
                  const PredictSettings *settings, const PredictTrial *trial,
                  PredictEvaluation *evaluation, PredictProgress progress, void *progress_data,
                  GError **error)
{
  const PredictWorkShare stretch = { progress, progress_data, 0, 1 };
  guint n_needed = has_folds (trial) ? trial->folds : 2;
  guint n_tests = has_folds (trial) ? trial->repeats * trial->folds : trial->repeats;
  g_autofree PredictScores *scores = g_new0 (PredictScores, n_tests);
  g_autofree GError **errors = g_new0 (GError *, n_tests);
  g_autofree double *predicted = NULL, *deviation = NULL;
  g_autofree double *mispredicted = g_new (double, n_tests);
  Evaluation all = { samples, group, n_groups, settings, trial, scores, errors };

  if (trial->repeats == 0 || !(trial->test_share >= 0 && trial->test_share < 1) || n_needed < 2) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
                 "a trial needs at least 1 repetition, and 2 folds or a test share below 1");
    return FALSE;
  }
  if (n_groups < n_needed) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE,
                 "%u groups of samples are too few to predict some from the others: at least %u "
                 "are needed",
                 n_groups, n_needed);
    return FALSE;
  }
  if (has_folds (trial)) {
    all.predicted = predicted = g_new (double, samples->n_samples);
    all.deviation = deviation = g_new (double, samples->n_samples);
  }
  predict_work (make_test, &all, n_tests, predict_threads (settings), &stretch);
  if (!predict_first_error (errors, n_tests, error))
    return FALSE;
  evaluation->n_tests = n_tests;
  evaluation->test_samples = scores[0].n;
  predict_spread_scores (scores, n_tests, evaluation->scores);
  for (guint i = 0; i < n_tests; i++)
    mispredicted[i] = scores[i].mispredicted;
  evaluation->mispredicted = predict_spread (mispredicted, n_tests);
  evaluation->tests = g_steal_pointer (&scores);
  evaluation->predicted = g_steal_pointer (&predicted);
  evaluation->deviation = g_steal_pointer (&deviation);
  return TRUE;
}

void
predict_evaluation_clear (PredictEvaluation *evaluation)
{
  g_clear_pointer (&evaluation->tests, g_free);
  g_clear_pointer (&evaluation->predicted, g_free);
  g_clear_pointer (&evaluation->deviation, g_free);
}

/* --- Median, quartiles and moments --- */

double
predict_quantile (const double *sorted, guint n, double share)
{
  double place = share * (n - 1);
  guint low = (guint) place, high = MIN (low + 1, n - 1);

  /* An infinite neighbour has no part in a value that is met exactly. */
  if (place == low)
    return sorted[low];
  return sorted[low] + (place - low) * (sorted[high] - sorted[low]);
}

PredictSpread
predict_spread (double *values, guint n)
{
  double sum = 0, squares = 0, mean;

  for (guint i = 0; i < n; i++)
    sum += values[i];
  mean = sum / n;
  if (isnan (mean))
    return (PredictSpread){ NAN, NAN, NAN, NAN, NAN, NAN, NAN };
  qsort (values, n, sizeof *values, predict_compare_values);
  for (guint i = 0; i < n; i++)
    squares += (values[i] - mean) * (values[i] - mean);
  return (PredictSpread){
    .median = predict_quantile (values, n, 0.5),
    .lower_quartile = predict_quantile (values, n, 0.25),
    .upper_quartile = predict_quantile (values, n, 0.75),
    .mean = mean,
    .sd = n > 1 ? sqrt (squares / (n - 1)) : (double) NAN,
    .min = values[0],
    .max = values[n - 1],
  };
}

void
predict_spread_scores (const PredictScores *scores, guint n, PredictSpread *spreads)
{
  g_autofree double *values = g_new (double, n);

  for (guint score = 0; score < PREDICT_N_SCORES; score++) {
    for (guint i = 0; i < n; i++)
      values[i] = predict_score_value (&scores[i], (PredictScore) score);
    spreads[score] = predict_spread (values, n);
  }
}
