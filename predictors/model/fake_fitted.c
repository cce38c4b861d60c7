/* fake_fitted.c - a learner whose answers are known beforehand, for tests of its callers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/model/fake_fitted.h"

#include "predictors/predict_error.h"

#include <math.h>
#include <string.h>

struct PredictFitted {
  gboolean nearest;
  PredictSamples *samples;
};

/* Its own, so that it needs nothing of the library. */
static PredictSamples *
copy (const PredictSamples *samples)
{
  gsize n = samples->n_samples;
  PredictSamples *copied = g_memdup2 (samples, sizeof *samples);

  copied->x = g_memdup2 (samples->x, n * samples->n_features * sizeof *samples->x);
  copied->y = g_memdup2 (samples->y, n * sizeof *samples->y);
  return copied;
}

guint
predict_threads (const PredictSettings *settings)
{
  return settings->threads;
}

PredictFitted *
predict_fit (const PredictSamples *samples, const PredictSettings *settings,
             PredictForestReport *report, PredictProgress progress,
             void *progress_data G_GNUC_UNUSED, GError **error)
{
  PredictFitted *fitted;

  g_assert (settings->threads == 1 && report == NULL && progress == NULL);
  g_assert (settings->max_features <= samples->n_features);
  if (settings->method == PREDICT_LINEAR) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC, "no solution, first is %g",
                 samples->y[0]);
    return NULL;
  }
  fitted = g_new (PredictFitted, 1);
  *fitted = (PredictFitted){ settings->method == PREDICT_TREE, copy (samples) };
  return fitted;
}

void
predict_fitted_free (PredictFitted *fitted)
{
  if (fitted == NULL)
    return;
  g_free (fitted->samples->x);
  g_free (fitted->samples->y);
  g_free (fitted->samples);
  g_free (fitted);
}

static double
mean (const PredictSamples *samples)
{
  double sum = 0;

  for (uint64_t i = 0; i < samples->n_samples; i++)
    sum += samples->y[i];
  return sum / (double) samples->n_samples;
}

static double
distance (const PredictSamples *one, uint64_t i, const PredictSamples *other, uint64_t j)
{
  double sum = 0;

  for (guint feature = 0; feature < one->n_features; feature++)
    sum += fabs ((double) one->x[feature * one->n_samples + i] -
                 (double) other->x[feature * other->n_samples + j]);
  return sum;
}

void
predict_fitted_predict (const PredictFitted *fitted, const PredictSamples *samples,
                        guint threads G_GNUC_UNUSED, double *predicted, double *deviation)
{
  const PredictSamples *known = fitted->samples;

  for (uint64_t i = 0; i < samples->n_samples; i++) {
    double nearest = INFINITY;

    predicted[i] = fitted->nearest ? (double) NAN : mean (known);
    for (uint64_t j = 0; fitted->nearest && j < known->n_samples; j++)
      if (distance (known, j, samples, i) < nearest) {
        nearest = distance (known, j, samples, i);
        predicted[i] = known->y[j];
      }
    if (deviation)
      deviation[i] = fitted->nearest ? nearest : 0;
  }
}
