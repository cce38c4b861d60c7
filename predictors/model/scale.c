/* scale.c - columns with mean 0 and standard deviation 1.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/model/scale.h"

#include <glib.h>
#include <math.h>

/* One of the two arrays is not NULL. */
static inline double
value_of (const float *floats, const double *doubles, uint64_t i)
{
  return floats != NULL ? (double) floats[i] : doubles[i];
}

static PredictScale
scale_of (const float *floats, const double *doubles, uint64_t n)
{
  double smallest = INFINITY, largest = -INFINITY, sum = 0, squares = 0, mean;

  for (uint64_t i = 0; i < n; i++) {
    double value = value_of (floats, doubles, i);

    sum += value;
    smallest = MIN (smallest, value);
    largest = MAX (largest, value);
  }
  /* The mean of equal values may be rounded to another one. */
  if (smallest == largest)
    return (PredictScale){ smallest, 0 };
  mean = sum / (double) n;
  for (uint64_t i = 0; i < n; i++) {
    double off = value_of (floats, doubles, i) - mean;

    squares += off * off;
  }
  return (PredictScale){ mean, sqrt (squares / (double) n) };
}

PredictScale
predict_scale_floats (const float *values, uint64_t n)
{
  return scale_of (values, NULL, n);
}

PredictScale
predict_scale_doubles (const double *values, uint64_t n)
{
  return scale_of (NULL, values, n);
}
