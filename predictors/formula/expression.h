/* expression.h - formulas of variables, parameters and numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The one form of written and bred formulas: steps in postfix order,
 *
 *     t0 + 2 * n / b      is     t0  2  n  *  b  /  +
 *
 * so that a subtree is a run of steps that ends with its root, trees are copied and
 * exchanged as arrays, and one loop evaluates them (evaluate_blocks.h).
 *
 * Written, a formula has + - * / ^ (or **), parentheses, numbers, names, and log (natural), log2,
 * exp, sqrt, sin, cos, abs, ceil, floor, min (a, b), max (a, b).  ^ binds to the right and tighter
 * than the sign: -a^2 is -(a^2).  An exponent written as an integer without a point, of at
 * most 64, means repeated multiplication and takes any base; every other power is
 * exp (y log x), of which no negative x has one; 0^y is 0 of a positive y.  "pi" is a number
 * unless it is the name of something. */
#pragma once

#include "base/error.h"
#include "predictors/predict_error.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum {
  PREDICT_OP_CONSTANT,  /* a number: value */
  PREDICT_OP_VARIABLE,  /* index of a column */
  PREDICT_OP_PARAMETER, /* index of a parameter */
  PREDICT_OP_ADD,
  PREDICT_OP_SUBTRACT,
  PREDICT_OP_MULTIPLY,
  PREDICT_OP_DIVIDE,
  PREDICT_OP_POWER,
  PREDICT_OP_MIN,
  PREDICT_OP_MAX,
  PREDICT_OP_NEGATE,
  PREDICT_OP_INTEGER_POWER, /* index is the exponent, of at most PREDICT_MAX_EXPONENT */
  PREDICT_OP_LOG,
  PREDICT_OP_LOG2,
  PREDICT_OP_EXP,
  PREDICT_OP_SQRT,
  PREDICT_OP_SIN,
  PREDICT_OP_COS,
  PREDICT_OP_ABS,
  PREDICT_OP_CEIL,
  PREDICT_OP_FLOOR,
  PREDICT_N_OPS
} PredictOp;

#define PREDICT_MAX_EXPONENT 64
#define PREDICT_MAX_STEPS    10000u
#define PREDICT_MAX_DEPTH    250u /* of nesting, when written */

typedef struct {
  uint8_t op;      /* PredictOp */
  uint16_t column; /* where it stood in the text, from 1; 0: it was never written */
  int32_t index;   /* 0 where none is needed */
  double value;    /* of a constant, which is finite; else 0 */
} PredictStep;

typedef struct {
  PredictStep *steps; /* [n] in postfix order */
  uint32_t n;         /* at least 1 */
} PredictExpression;

/* The name of an op in formulas and its number of operands: 0, 1 or 2. */
typedef struct {
  const char *name;
  uint8_t n_operands;
  bool is_function; /* written as name (a, b), not between its operands */
} PredictOpInfo;

extern const PredictOpInfo predict_ops[PREDICT_N_OPS];

/* The meaning of names.  Arrays end with NULL, and may be NULL; all is borrowed. */
typedef struct {
  const char *const *variables; /* their indices are those of the array */
  const char *const *parameters;
  const char *const *definitions; /* names of formulas that are put in where they are named */
  const PredictExpression *const *bodies; /* of the definitions */
} PredictNames;

PredictExpression *predict_expression_new (const PredictStep *steps, uint32_t n);
PredictExpression *predict_expression_copy (const PredictExpression *expression);
void predict_expression_free (PredictExpression *expression);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictExpression, predict_expression_free)

/* Of a text on one line.  NULL and *error (BASE_ERROR_TEXT) with the place (NULL: the text is
 * all there is): an unknown name (with the known ones), a missing operand or
 * parenthesis, a stray character, a number that is no finite double, nested more than
 * PREDICT_MAX_DEPTH deep, more than PREDICT_MAX_STEPS steps. */
PredictExpression *predict_expression_parse (const char *text, const PredictNames *names,
                                             const BasePlace *place, GError **error);

/* With the fewest parentheses that keep every operation; numbers with the fewest digits
 * that read back to the same double.  Reading it gives the same steps (columns apart). */
char *predict_expression_text (const PredictExpression *expression, const PredictNames *names);
/* For a formula of LaTeX; names stand upright, 1.5e-7 is 1.5 \times 10^{-7}. */
char *predict_expression_latex (const PredictExpression *expression, const PredictNames *names);
/* A function of C99 and <math.h>, "double NAME (double VARIABLE, ...)": all variables, in order;
 * parameters become numbers, parameters[].  Agrees to rounding: log and exp are the library's. */
char *predict_expression_c (const PredictExpression *expression, const PredictNames *names,
                            const double *parameters, const char *name);

/* A number as formulas write it. */
char *predict_number_text (double value);
/* The length of the name that begins at `at`; 0: there is none. */
gsize predict_token_name (const char *at);
/* PREDICT_N_OPS: the name is not that of a function. */
PredictOp predict_token_function (const char *name);

/* First step of the subtree whose last is `root`. */
uint32_t predict_expression_first (const PredictExpression *expression, uint32_t root);

/* How many values wait at most while it is evaluated. */
uint32_t predict_expression_height (const PredictExpression *expression);

/* Fewer steps with the same value (-0 and 0 being the same) wherever there is one, and none where
 * there was none: constants are folded, x 1, x / 1, x + 0, - - x, x^1, a - -b and their like go.
 * x - x, x / x and 0 x stay, since x may be undefined. */
PredictExpression *predict_expression_simplify (const PredictExpression *expression);
