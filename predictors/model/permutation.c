/* permutation.c - how much a fitted method leans on each feature; see fitted.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/model/fitted.h"
#include "base/random.h"
#include "predictors/model/scale.h"

#include <string.h>

static double
mean_squared_error (const PredictFitted *fitted, const PredictSamples *samples, guint threads,
                    double *predicted)
{
  double sum = 0;

  predict_fitted_predict (fitted, samples, threads, predicted, NULL);
  for (uint64_t i = 0; i < samples->n_samples; i++)
    sum += (predicted[i] - samples->y[i]) * (predicted[i] - samples->y[i]);
  return sum / (double) samples->n_samples;
}

/* Fisher and Yates. */
static void
shuffle (float *values, uint64_t n, BaseRandom *random)
{
  for (uint64_t i = n; i > 1; i--) {
    uint64_t other = base_random_below (random, i);
    float value = values[i - 1];

    values[i - 1] = values[other];
    values[other] = value;
  }
}

void
predict_fitted_permutation_importances (const PredictFitted *fitted, const PredictSamples *samples,
                                        guint repeats, uint64_t seed, guint threads,
                                        double *importances)
{
  uint64_t n = samples->n_samples;
  g_autoptr (PredictSamples) permuted = predict_samples_new (n, samples->n_features, TRUE);
  g_autofree double *predicted = g_new (double, n);
  double deviation = predict_scale_doubles (samples->y, n).sd, before;

  memcpy (permuted->x, samples->x, n * samples->n_features * sizeof *samples->x);
  memcpy (permuted->y, samples->y, n * sizeof *samples->y);
  before = mean_squared_error (fitted, samples, threads, predicted);
  for (guint feature = 0; feature < samples->n_features; feature++) {
    float *column = permuted->x + feature * n;
    double worse = 0;

    for (guint repeat = 0; repeat < repeats; repeat++) {
      BaseRandom random = base_random_stream (seed, (uint64_t) feature * repeats + repeat);

      shuffle (column, n, &random);
      worse += mean_squared_error (fitted, permuted, threads, predicted) - before;
    }
    memcpy (column, samples->x + feature * n, n * sizeof *column);
    importances[feature] = deviation > 0 ? worse / repeats / (deviation * deviation) : 0;
  }
}
