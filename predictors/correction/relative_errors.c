/* relative_errors.c - see relative_errors.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/correction/relative_errors.h"

#include <math.h>

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
