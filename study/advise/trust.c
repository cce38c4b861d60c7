/* trust.c - whether cheap measures of a placement predict its exact time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/advise/trust.h"

#include "predictors/model/linear.h"
#include "predictors/scoring/scores.h"

#include <math.h>

#define LEAST_SAMPLES 8u
#define TRUSTED_R2    .5

/* Those with a time, but `without`. */
static PredictSamples *
samples_of (const double *measures, guint n_measures, const double *log_times, guint n,
            guint without)
{
  guint n_known = 0, at = 0;
  PredictSamples *samples;

  for (guint i = 0; i < n; i++)
    n_known += i != without && !isnan (log_times[i]);
  samples = predict_samples_new (n_known, n_measures, TRUE);
  for (guint i = 0; i < n; i++) {
    if (i == without || isnan (log_times[i]))
      continue;
    for (guint k = 0; k < n_measures; k++)
      samples->x[k * n_known + at] = (float) measures[i * n_measures + k];
    samples->y[at++] = log_times[i];
  }
  return samples;
}

/* The prediction of candidates first ... last - 1 from the samples, with the ridge that predicts these
 * best from each other. */
static gboolean
predict_from (const PredictSamples *samples, const double *measures, guint first, guint last,
              double *predicted, GError **error)
{
  guint n_measures = samples->n_features;
  g_autoptr (PredictSamples) asked = predict_samples_new (last - first, n_measures, FALSE);
  g_autoptr (PredictLinear) linear = NULL;
  PredictRidgeChoice choice;

  if (!predict_ridge_choose (samples, &choice, error))
    return FALSE;
  g_free (choice.left_out);
  linear = predict_linear_fit (samples, choice.ridge, error);
  if (linear == NULL)
    return FALSE;
  for (guint i = first; i < last; i++)
    for (guint k = 0; k < n_measures; k++)
      asked->x[k * (last - first) + i - first] = (float) measures[i * n_measures + k];
  predict_linear_predict (linear, asked, &predicted[first]);
  return TRUE;
}

gboolean
study_advice_validate (const double *measures, guint n_measures, const double *log_times, guint n,
                       StudyTrust *trust, double *predicted, GError **error)
{
  g_autofree double *observed = g_new (double, n), *nested = g_new (double, n);
  g_autoptr (PredictSamples) all = samples_of (measures, n_measures, log_times, n, G_MAXUINT);
  guint n_known = (guint) all->n_samples, at = 0;
  PredictScores scores;
  double mean = 0, squares = 0;

  trust->trusted = FALSE;
  trust->n = n_known;
  trust->r2 = trust->spearman = trust->error = trust->spread = NAN;
  if (n_known < LEAST_SAMPLES)
    return TRUE;
  if (!predict_from (all, measures, 0, n, predicted, error))
    return FALSE;
  for (guint i = 0; i < n; i++) {
    g_autoptr (PredictSamples) others = NULL;

    if (isnan (log_times[i]))
      continue;
    others = samples_of (measures, n_measures, log_times, n, i);
    if (!predict_from (others, measures, i, i + 1, predicted, error))
      return FALSE;
    observed[at] = log_times[i];
    nested[at++] = predicted[i];
    mean += log_times[i] / n_known;
  }
  for (guint i = 0; i < n_known; i++)
    squares += (observed[i] - mean) * (observed[i] - mean);
  scores = predict_score (observed, nested, n_known);
  trust->r2 = scores.r2;
  trust->spearman = scores.spearman;
  trust->error = expm1 (scores.rmse);
  trust->spread = expm1 (sqrt (squares / (n_known - 1)));
  trust->trusted = scores.r2 >= TRUSTED_R2;
  return TRUE;
}
