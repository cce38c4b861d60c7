/* evaluate_blocks.h - the values of a formula at many points, and their derivatives.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every step is done for a block of points at once, so that its dispatch costs little and
 * its loop is made of vectors; a block's intermediate values stay in the first-level cache.  The
 * value at a point has the same bits whatever the block, the processor and the thread.
 *
 * A point is undefined when any step has no finite value there: a division by 0, the logarithm of
 * a number that is not positive, an overflow.  Nothing hides that: the value of the whole is then
 * infinite or NaN, also where arithmetic would go on to a number (1 / (1 / 0), exp (-1 / 0)). */
#pragma once

#include "predictors/formula/expression.h"

typedef struct {
  const double *const *columns; /* [variables][n] */
  uint64_t n;
} PredictPoints;

/* Memory that evaluations use; one per thread, for any number of formulas. */
typedef struct PredictWorkspace PredictWorkspace;
PredictWorkspace *predict_workspace_new (void);
void predict_workspace_free (PredictWorkspace *workspace);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictWorkspace, predict_workspace_free)

/* values[points->n]; returns the number of points where the expression is undefined.  The columns and
 * parameters may be NULL when none are named. */
uint64_t predict_values (const PredictExpression *expression, const PredictPoints *points,
                         const double *parameters, PredictWorkspace *workspace, double *values);

/* At one point: variables[] and parameters[]. */
double predict_value (const PredictExpression *expression, const double *variables,
                      const double *parameters);

/* A step that is no unknown. */
#define PREDICT_FIXED (-1)

/* unknown[n steps]: of a parameter its index; of constants, when they are wanted, n_parameters and
 * up in the order of the steps; of all else PREDICT_FIXED.  Returns the number of unknowns. */
uint32_t predict_unknowns (const PredictExpression *expression, uint32_t n_parameters,
                           bool constants, int32_t *unknown);

/* The values, and derivatives[n_unknowns][points->n]: exact ones, to rounding, by one sweep
 * from the root to the leaves (reverse-mode differentiation).  unknown[n steps] is the number of
 * the unknown that a parameter or constant stands for, < n_unknowns, or PREDICT_FIXED; several
 * steps may share one.  Where min and max have equal operands the left counts; ceil, floor and the
 * bend of abs have slope 0.  A derivative may be infinite where the value is not, sqrt at 0, and
 * then NaN where such a part does not count: 0*sqrt (p), min (-1, sqrt (p)). */
uint64_t predict_derivatives (const PredictExpression *expression, const PredictPoints *points,
                              const double *parameters, const int32_t *unknown, uint32_t n_unknowns,
                              PredictWorkspace *workspace, double *values, double *derivatives);

/* Why it is undefined at row `row`: the smallest part that is, and its operands, as in
 * "log(np - 4) is undefined where np - 4 is -2"; NULL when it is defined.  The caller frees. */
char *predict_undefined (const PredictExpression *expression, const PredictNames *names,
                         const PredictPoints *points, uint64_t row, const double *parameters);
