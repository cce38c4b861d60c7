/* relative_errors.h - how wrong predictions are, as papers print it: |predicted / observed - 1|.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Shares, not percents; NaN where there are too few values. */
typedef struct {
  uint64_t n;
  double mean;
  double sd; /* of a sample: divided by n - 1 */
  double max;
} PredictRelativeErrors;

/* Of those values that are known on both sides (not NaN); what was observed is not 0. */
PredictRelativeErrors
predict_relative_errors (const double *observed, const double *predicted, uint64_t n);
