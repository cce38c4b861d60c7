/* ridge_choice.h - how much of a penalty few samples need, told by leaving one out.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * With about as many features as samples, least squares answers the noise, and with more it has no
 * one answer.  Cutting off small singular values (as LAPACK's dgelsy and dgelsd do) decides for each
 * direction whether it counts; a ridge lets it count less, and which one is best the samples say
 * themselves: each is predicted from the others, for many ridges by one decomposition. */
#pragma once

#include "predictors/table/samples.h"

typedef struct {
  double ridge; /* for predict_linear_fit(); 0 only where the samples determine every coefficient */
  guint rank;   /* of the constant and the features: how many coefficients are determined */
  double *left_out; /* [n_samples] what the others predict of a sample, with this ridge; g_free() */
} PredictRidgeChoice;

/* Of at least two samples; features are standardised by all of them.  The ridge with the least
 * squared errors of samples left out: 0, or n_samples x 10^(k/2), k = -16 ... 2.  FALSE and *error when the
 * numbers are too large for doubles.  Time n_samples n_features min (n_samples, n_features). */
gboolean
predict_ridge_choose (const PredictSamples *samples, PredictRidgeChoice *choice, GError **error);
