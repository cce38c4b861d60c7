/* spread.c - median, quartiles and moments of scores: see evaluate.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/formula/evaluate.h"

#include <math.h>
#include <stdlib.h>

static int
compare_doubles (const void *left, const void *right)
{
  double a = *(const double *) left, b = *(const double *) right;

  return (a > b) - (a < b);
}

static double
quantile (const double *sorted, guint n, double share)
{
  double place = share * (n - 1);
  guint low = (guint) place, high = MIN (low + 1, n - 1);

  /* An infinite neighbour has no part in a value that is met exactly. */
  if (place == low)
    return sorted[low];
  return sorted[low] + (place - low) * (sorted[high] - sorted[low]);
}

PredictSpread
predict_spread (double *values, guint n)
{
  double sum = 0, squares = 0, mean;

  for (guint i = 0; i < n; i++)
    sum += values[i];
  mean = sum / n;
  if (isnan (mean))
    return (PredictSpread){ NAN, NAN, NAN, NAN, NAN, NAN, NAN };
  qsort (values, n, sizeof *values, compare_doubles);
  for (guint i = 0; i < n; i++)
    squares += (values[i] - mean) * (values[i] - mean);
  return (PredictSpread){
    .median = quantile (values, n, 0.5),
    .lower_quartile = quantile (values, n, 0.25),
    .upper_quartile = quantile (values, n, 0.75),
    .mean = mean,
    .sd = n > 1 ? sqrt (squares / (n - 1)) : (double) NAN,
    .min = values[0],
    .max = values[n - 1],
  };
}
