/* loss.h - the distance of a model from observations, which fitting and breeding minimise.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * With errors e = predicted - observed of n points:
 *
 *     rmse      root of the mean of e^2                            s
 *     mre       root of the mean of (e / observed)^2               a share
 *     logrmse   root of the mean of (log predicted - log observed)^2
 *     mape      mean of |e / observed|                             a share */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef enum {
  PREDICT_LOSS_RMSE,
  PREDICT_LOSS_MRE,
  PREDICT_LOSS_LOG_RMSE,
  PREDICT_LOSS_MAPE,
  PREDICT_N_LOSSES
} PredictLoss;

/* "rmse", "mre", "logrmse", "mape", NULL. */
extern const char *const predict_loss_names[PREDICT_N_LOSSES + 1];

/* The deviation at one point, with its sign; its slope along `predicted` is put in *slope
 * unless that is NULL.  That of mape is that of mre.  NaN: the loss is not defined. */
double predict_deviation (PredictLoss loss, double observed, double predicted, double *slope);

/* INFINITY when it is not defined at any point: a value is not finite, something observed is 0
 * (mre, mape), or something is not positive (logrmse). */
double predict_loss (PredictLoss loss, const double *observed, const double *predicted, uint64_t n);

/* The factor of predicted[] that makes its loss on observed[] - base[] (NULL: 0) smallest, by linear
 * least squares; for logrmse, where the sum is not linear, in relative errors.  NaN: there is
 * none. */
double predict_best_factor (PredictLoss loss, const double *observed, const double *base,
                            const double *predicted, uint64_t n);

/* Relative errors as papers print them, |predicted / observed - 1|: shares, not percents; NaN where
 * there are too few values. */
typedef struct {
  uint64_t n;
  double mean;
  double sd; /* of a sample: divided by n - 1 */
  double max;
} PredictRelativeErrors;

/* Of those values that are known on both sides (not NaN); observed values are not 0. */
PredictRelativeErrors
predict_relative_errors (const double *observed, const double *predicted, uint64_t n);
