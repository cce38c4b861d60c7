/* loss.c - the distance of a model from observations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/correction/loss.h"

#include "predictors/formula/elementary.h"

#include <math.h>

const char *const predict_loss_names[PREDICT_N_LOSSES + 1] = {
  [PREDICT_LOSS_RMSE] = "rmse",
  [PREDICT_LOSS_MRE] = "mre",
  [PREDICT_LOSS_LOG_RMSE] = "logrmse",
  [PREDICT_LOSS_MAPE] = "mape",
};

double
predict_deviation (PredictLoss loss, double observed, double predicted, double *slope)
{
  double unused;

  if (slope == NULL)
    slope = &unused;
  switch (loss) {
  case PREDICT_LOSS_RMSE: *slope = 1; return predicted - observed;
  case PREDICT_LOSS_LOG_RMSE:
    *slope = 1 / predicted;
    return predict_log (predicted) - predict_log (observed);
  case PREDICT_LOSS_MRE:
  case PREDICT_LOSS_MAPE:
    *slope = 1 / observed;
    return observed == 0 ? (double) NAN : (predicted - observed) / observed;
  case PREDICT_N_LOSSES: break;
  }
  g_assert_not_reached ();
}

double
predict_loss (PredictLoss loss, const double *observed, const double *predicted, uint64_t n)
{
  double sum = 0;

  for (uint64_t point = 0; point < n; point++) {
    double deviation = predict_deviation (loss, observed[point], predicted[point], NULL);

    sum += loss == PREDICT_LOSS_MAPE ? fabs (deviation) : deviation * deviation;
  }
  if (!isfinite (sum))
    return INFINITY;
  return loss == PREDICT_LOSS_MAPE ? sum / (double) n : sqrt (sum / (double) n);
}

double
predict_best_factor (PredictLoss loss, const double *observed, const double *base,
                     const double *predicted, uint64_t n)
{
  double product = 0, square = 0;

  for (uint64_t point = 0; point < n; point++) {
    double weight = loss == PREDICT_LOSS_RMSE ? 1 : 1 / observed[point];
    double wanted = (observed[point] - (base ? base[point] : 0)) * weight;
    double had = predicted[point] * weight;

    product += wanted * had;
    square += had * had;
  }
  return isfinite (square) && square > 0 ? product / square : (double) NAN;
}

/* --- Relative errors --- */

PredictRelativeErrors
predict_relative_errors (const double *observed, const double *predicted, uint64_t n)
{
  PredictRelativeErrors errors = { 0, NAN, NAN, NAN };
  double mean = 0, squares = 0;

  for (uint64_t i = 0; i < n; i++) {
    double error = fabs (predicted[i] / observed[i] - 1), off = error - mean;

    if (isnan (error))
      continue;
    errors.n++;
    mean += off / (double) errors.n;
    squares += off * (error - mean);
    errors.max = fmax (errors.max, error);
  }
  if (errors.n > 0)
    errors.mean = mean;
  if (errors.n > 1)
    errors.sd = sqrt (squares / (double) (errors.n - 1));
  return errors;
}
