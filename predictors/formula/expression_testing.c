/* expression_testing.c - random formulas, and their values by other means.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/formula/expression_testing.h"

#include <math.h>
#include <string.h>

static const char *const variables[] = { "x", "y", "z", NULL };
static const char *const parameters[] = { "p", "q", NULL };

const PredictNames expression_testing_names = { .variables = variables, .parameters = parameters };

static PredictStep
random_leaf (BaseRandom *random)
{
  static const double numbers[] = { 0, 1, -1, 2, 0.5, -3, 2.45e-8, 1e22, -0.0 };

  switch (base_random_below (random, 4)) {
  case 0:
    return (PredictStep){
      .op = PREDICT_OP_CONSTANT,
      .value = numbers[base_random_below (random, G_N_ELEMENTS (numbers))],
    };
  case 1:
    return (PredictStep){
      .op = PREDICT_OP_CONSTANT,
      .value = 4 * base_random_unit (random) - 2,
    };
  case 2:
    return (PredictStep){
      .op = PREDICT_OP_PARAMETER,
      .index = (int32_t) base_random_below (random, 2),
    };
  default:
    return (PredictStep){
      .op = PREDICT_OP_VARIABLE,
      .index = (int32_t) base_random_below (random, 3),
    };
  }
}

static void
grow (BaseRandom *random, guint depth, GArray *steps)
{
  uint64_t kind = base_random_below (random, PREDICT_N_OPS);
  PredictStep step = { .op = (uint8_t) kind };

  if (depth == 0 || predict_ops[kind].n_operands == 0) {
    step = random_leaf (random);
    g_array_append_val (steps, step);
    return;
  }
  if (kind == PREDICT_OP_INTEGER_POWER)
    step.index = (int32_t) base_random_below (random, 9) - 4;
  for (guint operand = 0; operand < predict_ops[kind].n_operands; operand++)
    grow (random, depth - 1, steps);
  g_array_append_val (steps, step);
}

PredictExpression *
expression_testing_random (BaseRandom *random, guint depth)
{
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (PredictStep));

  grow (random, depth, steps);
  return predict_expression_new ((const PredictStep *) (const void *) steps->data, steps->len);
}

static long double
value_of (const PredictExpression *expression, uint32_t root, const double *x, const double *p)
{
  const PredictStep *step = &expression->steps[root];
  guint n_operands = predict_ops[step->op].n_operands;
  long double a = 0, b = 0;

  if (n_operands == 2) {
    b = value_of (expression, root - 1, x, p);
    a = value_of (expression, predict_expression_first (expression, root - 1) - 1, x, p);
  } else if (n_operands == 1) {
    a = value_of (expression, root - 1, x, p);
  }
  if (!isfinite (a) || !isfinite (b))
    return NAN;
  switch ((PredictOp) step->op) {
  case PREDICT_OP_CONSTANT: return step->value;
  case PREDICT_OP_VARIABLE: return x[step->index];
  case PREDICT_OP_PARAMETER: return p[step->index];
  case PREDICT_OP_ADD: return a + b;
  case PREDICT_OP_SUBTRACT: return a - b;
  case PREDICT_OP_MULTIPLY: return a * b;
  case PREDICT_OP_DIVIDE: return a / b;
  case PREDICT_OP_POWER: return a < 0 || (a == 0 && b <= 0) ? (long double) NAN : powl (a, b);
  case PREDICT_OP_MIN: return a < b ? a : b;
  case PREDICT_OP_MAX: return a > b ? a : b;
  case PREDICT_OP_NEGATE: return -a;
  case PREDICT_OP_INTEGER_POWER: return powl (a, step->index);
  case PREDICT_OP_LOG: return logl (a);
  case PREDICT_OP_LOG2: return log2l (a);
  case PREDICT_OP_EXP: return expl (a);
  case PREDICT_OP_SQRT: return sqrtl (a);
  case PREDICT_OP_SIN: return sinl (a);
  case PREDICT_OP_COS: return cosl (a);
  case PREDICT_OP_ABS: return fabsl (a);
  case PREDICT_OP_CEIL: return ceill (a);
  case PREDICT_OP_FLOOR: return floorl (a);
  case PREDICT_N_OPS: break;
  }
  g_assert_not_reached ();
}

long double
expression_testing_value (const PredictExpression *expression, const double *x, const double *p)
{
  long double value = value_of (expression, expression->n - 1, x, p);

  return isfinite (value) ? value : (long double) NAN;
}

bool
expression_testing_check (const PredictExpression *expression, uint32_t n_variables,
                          uint32_t n_parameters)
{
  uint32_t height = 0;

  if (expression->n > PREDICT_MAX_STEPS)
    return false;
  for (uint32_t at = 0; at < expression->n; at++) {
    const PredictStep *step = &expression->steps[at];
    int32_t index = step->index;

    if (step->op >= PREDICT_N_OPS || height < predict_ops[step->op].n_operands ||
        (step->op == PREDICT_OP_CONSTANT && !isfinite (step->value)) ||
        (step->op == PREDICT_OP_VARIABLE && (index < 0 || (uint32_t) index >= n_variables)) ||
        (step->op == PREDICT_OP_PARAMETER && (index < 0 || (uint32_t) index >= n_parameters)) ||
        (step->op == PREDICT_OP_INTEGER_POWER &&
         (index < -PREDICT_MAX_EXPONENT || index > PREDICT_MAX_EXPONENT)))
      return false;
    height += 1u - predict_ops[step->op].n_operands;
  }
  return height == 1;
}

bool
expression_testing_equal (const PredictExpression *a, const PredictExpression *b)
{
  if (a->n != b->n)
    return false;
  for (uint32_t at = 0; at < a->n; at++) {
    const PredictStep *left = &a->steps[at], *right = &b->steps[at];

    if (left->op != right->op || left->index != right->index ||
        memcmp (&left->value, &right->value, sizeof left->value) != 0)
      return false;
  }
  return true;
}

PredictExpression *
expression_testing_parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  PredictExpression *expression =
      predict_expression_parse (text, &expression_testing_names, NULL, &error);

  g_assert_no_error (error);
  return expression;
}
