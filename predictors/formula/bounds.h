/* bounds.h - the bounds of a formula over a box of its variables.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Interval arithmetic: every step is bounded from the bounds of its operands, rounded
 * outward by more than evaluation can err.  So no pole between sampled points
 * stays hidden.  The bounds are safe, not sharp: a variable that is named twice counts as
 * two (x - x over [0, 1] is [-1, 1]), but a product of equal factors is a square.  Values that underflow count as 0. */
#pragma once

#include "predictors/formula/expression.h"

typedef struct {
  double low, high; /* low > high: defined nowhere */
  bool undefined;   /* somewhere it may have no value */
} PredictRange;

static inline PredictRange
predict_range (double low, double high)
{
  return (PredictRange){ low, high, false };
}

/* Of finite ranges of variables and parameters, as many as are named. */
PredictRange predict_bounds (const PredictExpression *expression, const PredictRange *variables,
                             const PredictRange *parameters);

/* Whether the bounds show that a formula is defined and positive everywhere in a box, which is halved
 * where its bounds are too wide.  At a face of the box the value may be 0, as the time of messages
 * between one node is.  false: it is not, or 4,096 parts did not show it. */
bool predict_shown_positive (const PredictExpression *expression, const PredictRange *box,
                             uint32_t n_variables, const double *parameters, uint32_t n_parameters);
