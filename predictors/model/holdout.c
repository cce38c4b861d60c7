/* holdout.c - see holdout.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/model/holdout.h"

#include <math.h>

static PredictSamples *
select_training (const PredictSamples *samples, const bool *is_test)
{
  g_autofree bool *chosen = g_new (bool, samples->n_samples);

  for (uint64_t i = 0; i < samples->n_samples; i++)
    chosen[i] = !is_test[i];
  return predict_samples_select (samples, chosen);
}

static PredictScores
score_exponentials (const double *observed, const double *predicted, uint64_t n)
{
  g_autofree double *observed_exp = g_new (double, n), *predicted_exp = g_new (double, n);

  for (uint64_t i = 0; i < n; i++) {
    observed_exp[i] = exp (observed[i]);
    predicted_exp[i] = exp (predicted[i]);
  }
  return predict_score (observed_exp, predicted_exp, n);
}

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
  g_autoptr (PredictSamples) training = select_training (samples, is_test);
  g_autoptr (PredictSamples) tested = predict_samples_select (samples, is_test);
  g_autofree double *tested_predicted = g_new (double, tested->n_samples);
  g_autofree double *tested_deviation = g_new (double, tested->n_samples);
  g_autoptr (PredictFitted) fitted = NULL;

  alone.threads = 1;
  fitted = predict_fit (training, &alone, NULL, NULL, NULL, error);
  if (fitted == NULL)
    return FALSE;
  predict_fitted_predict (fitted, tested, 1, tested_predicted, tested_deviation);
  *scores = (log_target ? score_exponentials : predict_score) (tested->y, tested_predicted,
                                                               tested->n_samples);
  scatter (tested_predicted, is_test, samples->n_samples, predicted);
  scatter (tested_deviation, is_test, samples->n_samples, deviation);
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
