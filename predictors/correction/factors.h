/* factors.h - a time that is a sum of parts, corrected by a factor for each part.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     time = f1 part1 + f2 part2 + ...       no f below 0
 *
 * The parts are what a simulated run's time is made of (compute, software, latency, bandwidth,
 * queueing), so that a factor says by how much a machine differs from the model of it: bandwidth 1.3
 * is a machine whose bytes take 30 % longer.  The loss (loss.h) is made small by Gauss and Newton's
 * steps, each of them non-negative least squares, exactly: the least of all sets of parts that may be
 * 0 (there are 2^n).  Where the points cannot tell parts apart, which is when they grow alike, the
 * factors nearest to 1 are taken, and the intervals are wide. */
#pragma once

#include "predictors/correction/loss.h"
#include "predictors/formula/evaluate_blocks.h"

#define PREDICT_MOST_FACTORS 8u

typedef struct {
  guint n;
  double factors[PREDICT_MOST_FACTORS]; /* 1 for a part that is 0 at all points */
  bool known[PREDICT_MOST_FACTORS];     /* the part is not 0 everywhere */
  /* 95 % by the curvature of the loss and Student's distribution, as if there were no bound at 0, and then
   * cut off there; 0 and INFINITY where the points do not determine it, or are fewer than n + 3. */
  double lower[PREDICT_MOST_FACTORS], upper[PREDICT_MOST_FACTORS];
  double loss; /* at the points; INFINITY: not defined with factors of 1 */
} PredictFactors;

/* parts: n columns of finite numbers of at least 0; observed as the loss wants it; 1 <= n <=
 * PREDICT_MOST_FACTORS.  mape is fitted as mre. */
PredictFactors
predict_factors_fit (const PredictPoints *parts, guint n, const double *observed, PredictLoss loss);

/* values[parts->n] s. */
void
predict_factors_values (const PredictFactors *factors, const PredictPoints *parts, double *values);
