/* holdout.c - learning from some samples, predicting the others.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/scoring/holdout.h"

#include <math.h>

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
