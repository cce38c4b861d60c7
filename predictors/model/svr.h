/* svr.h - epsilon support vector regression with a radial kernel, by libsvm.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Features and target are standardised, so that C, epsilon and gamma mean the same whatever
 * the units: epsilon is in standard deviations of the target.  libsvm (Chang, Lin 2011; what
 * scikit-learn's SVR wraps) finds the vectors; predicting is ours. */
#pragma once

#include "predictors/model/method.h"
#include "predictors/table/samples.h"
#include "predictors/model/scale.h"

/* Time and memory grow with the square of the samples. */
#define PREDICT_SVR_MAX_SAMPLES 100000u

typedef struct {
  guint n_features;
  uint32_t n_vectors;
  double gamma;        /* of exp (-gamma |difference|^2) of standardised features */
  double bias;         /* added to the sum over the vectors, in deviations of the target */
  PredictScale *scale; /* [n_features] of the training samples */
  PredictScale target;
  float *vectors;       /* [n_vectors][n_features] as they were before they were standardised */
  double *coefficients; /* [n_vectors] */
} PredictSvr;

/* settings: svr_c, svr_epsilon, svr_gamma.  Uses nothing random and one thread.  NULL and *error
 * when the samples are too many or their numbers too large, and in a build without libsvm. */
PredictSvr *
predict_svr_fit (const PredictSamples *samples, const PredictSettings *settings, GError **error);
void predict_svr_free (PredictSvr *svr);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictSvr, predict_svr_free)

/* All 0, to be filled by a reader. */
PredictSvr *predict_svr_new (guint n_features, uint32_t n_vectors);

/* predicted[n_samples]; reads samples->x only. */
void predict_svr_predict (const PredictSvr *svr, const PredictSamples *samples, double *predicted);
