/* linear.h - least squares with a constant, and ridge.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The squared errors + ridge x the squared coefficients of standardised features are
 * least, as scikit-learn's LinearRegression and Ridge (alpha) on standardised features;
 * the constant is not penalised.
 *
 * LAPACK factors the features (QR, by blocks of rows), and so its digits depend on
 * the BLAS that is installed, on its threads and on the processor.  The result does
 * not: residuals are then computed with twice the digits, in a fixed order, and the
 * coefficients corrected until nothing changes (Björck 1987, corrected seminormal
 * equations).  They end as the solution for the standardised columns, rounded to double. */
#pragma once

#include "predictors/table/samples.h"

typedef enum {
  PREDICT_COLUMN_USED,
  PREDICT_COLUMN_CONSTANT,  /* of one value only: coefficient 0 */
  PREDICT_COLUMN_COLLINEAR, /* within single precision (2^-20 of its spread) a sum of those that are
                               used before it: coefficient 0 */
} PredictColumnUse;

typedef struct {
  guint n_features;
  double constant;       /* the prediction where every feature has its mean */
  double *means;         /* [n_features] of the training samples */
  double *coefficients;  /* [n_features] per unit of the feature */
  PredictColumnUse *use; /* [n_features] */
} PredictLinear;

/* Samples without features that vary give the mean.  NULL and *error when the numbers are too
 * large for doubles.  Beside the samples, 8 n_features (n_features + max (512, 2 n_features)) bytes
 * for a block of rows and as much again at most; time n_samples n_features^2. */
PredictLinear *predict_linear_fit (const PredictSamples *samples, double ridge, GError **error);
void predict_linear_free (PredictLinear *linear);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictLinear, predict_linear_free)

/* All 0, to be filled by a reader. */
PredictLinear *predict_linear_new (guint n_features);

/* predicted[n_samples]; reads samples->x only. */
void predict_linear_predict (const PredictLinear *linear, const PredictSamples *samples,
                             double *predicted);

/* --- The choice of a ridge by leaving one sample out --- */

/* With about as many features as samples, least squares answers the noise, and with more it has no
 * one answer.  Cutting off small singular values (as LAPACK's dgelsy and dgelsd do) decides for each
 * direction whether it counts; a ridge lets it count less, and the samples decide which one
 * is best: each is predicted from the others, for many ridges by one decomposition. */

typedef struct {
  double ridge; /* for predict_linear_fit(); 0 only where the samples determine every coefficient */
  guint rank;   /* of the constant and the features: how many coefficients are determined */
  double *
      left_out; /* [n_samples] the prediction of a sample by the others, with this ridge; g_free() */
} PredictRidgeChoice;

/* Of at least two samples; features are standardised by all of them.  The ridge with the least
 * squared errors of samples left out: 0, or n_samples x 10^(k/2), k = -16 ... 2.  FALSE and *error when the
 * numbers are too large for doubles.  Time n_samples n_features min (n_samples, n_features). */
gboolean
predict_ridge_choose (const PredictSamples *samples, PredictRidgeChoice *choice, GError **error);
