/* levenberg.h - the numbers of a formula, fitted to observations.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Least squares by Levenberg and Marquardt (MINPACK's lmder, from CMinpack), with exact derivatives.
 * A parameter with bounds is searched as p = low + (high - low) / (1 + exp (-u)), or log p by the
 * logarithms of its bounds, so that every u is within bounds; constants are free.  mape is
 * fitted as mre.  A fit is a pure function of its inputs. */
#pragma once

#include "predictors/formula/base_model.h"
#include "predictors/formula/evaluate_blocks.h"
#include "predictors/correction/loss.h"

typedef struct {
  PredictPoints points;
  const double *observed; /* [points.n] */
  PredictLoss loss;
} PredictTarget;

/* The unknowns, as in predict_derivatives(): unknowns below n_bounded are the parameters of these
 * numbers, all others stand for one constant each. */
typedef struct {
  const int32_t *unknown; /* [n steps] */
  uint32_t n_unknowns, n_bounded;
  const PredictParameter *bounds; /* [n_bounded] */
  int most_evaluations;           /* of the formula at all points */
} PredictFreedom;

/* Changes the free constants of `expression` and parameters[] (within bounds), if that makes the
 * loss smaller, and returns the loss: INFINITY when it is not defined to begin with.  More
 * unknowns than points, and none, are not fitted. */
double
predict_levenberg (PredictExpression *expression, double *parameters, const PredictTarget *target,
                   const PredictFreedom *freedom, PredictWorkspace *workspace);

/* The parameters of a model: from parameters[] and from n_starts - 1 places drawn within the
 * bounds; the best is left in parameters[]. */
double predict_levenberg_model (const PredictBaseModel *model, double *parameters,
                                const PredictTarget *target, guint n_starts, uint64_t seed);
