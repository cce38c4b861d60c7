/* expression_testing.h - random formulas, and their values by other means.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/formula/expression.h"
#include "base/random.h"

/* Three variables x, y, z and two parameters p, q. */
extern const PredictNames expression_testing_names;

/* Up to `depth` operations above each other, of any kind; small numbers, some of them 0, 1 or
 * negative. */
PredictExpression *expression_testing_random (BaseRandom *random, guint depth);

/* As the formula says it, in long double by recursion and the C library; NaN when any part is not
 * finite. */
long double expression_testing_value (const PredictExpression *expression, const double *variables,
                                      const double *parameters);

PredictExpression *expression_testing_parse (const char *text);

/* Whether the steps are one tree, with indices below these counts, finite constants, and exponents
 * within bounds. */
bool expression_testing_check (const PredictExpression *expression, uint32_t n_variables,
                               uint32_t n_parameters);

/* Same operations, names and numbers to the bit. */
bool expression_testing_equal (const PredictExpression *a, const PredictExpression *b);
