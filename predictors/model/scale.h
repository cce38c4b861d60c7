/* scale.h - columns with mean 0 and standard deviation 1.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Mean and deviation are those of the training samples; they also scale the samples predicted
 * later. */
#pragma once

#include <stdint.h>

typedef struct {
  double mean;
  double sd; /* divided by n, as scikit-learn's StandardScaler; 0: all values are the same */
} PredictScale;

/* Of finite values; n > 0.  Summed in order. */
PredictScale predict_scale_floats (const float *values, uint64_t n);
PredictScale predict_scale_doubles (const double *values, uint64_t n);

/* 0 of a column that was constant. */
static inline double
predict_scaled (PredictScale scale, double value)
{
  return scale.sd > 0 ? (value - scale.mean) / scale.sd : 0;
}
