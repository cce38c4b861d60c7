/* expression.c - the tree in its steps.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/formula/expression.h"

#include <math.h>
#include <string.h>

const PredictOpInfo predict_ops[PREDICT_N_OPS] = {
  [PREDICT_OP_CONSTANT] = { "number", 0, false },
  [PREDICT_OP_VARIABLE] = { "variable", 0, false },
  [PREDICT_OP_PARAMETER] = { "parameter", 0, false },
  [PREDICT_OP_ADD] = { "+", 2, false },
  [PREDICT_OP_SUBTRACT] = { "-", 2, false },
  [PREDICT_OP_MULTIPLY] = { "*", 2, false },
  [PREDICT_OP_DIVIDE] = { "/", 2, false },
  [PREDICT_OP_POWER] = { "^", 2, false },
  [PREDICT_OP_MIN] = { "min", 2, true },
  [PREDICT_OP_MAX] = { "max", 2, true },
  [PREDICT_OP_NEGATE] = { "-", 1, false },
  [PREDICT_OP_INTEGER_POWER] = { "^", 1, false },
  [PREDICT_OP_LOG] = { "log", 1, true },
  [PREDICT_OP_LOG2] = { "log2", 1, true },
  [PREDICT_OP_EXP] = { "exp", 1, true },
  [PREDICT_OP_SQRT] = { "sqrt", 1, true },
  [PREDICT_OP_SIN] = { "sin", 1, true },
  [PREDICT_OP_COS] = { "cos", 1, true },
  [PREDICT_OP_ABS] = { "abs", 1, true },
  [PREDICT_OP_CEIL] = { "ceil", 1, true },
  [PREDICT_OP_FLOOR] = { "floor", 1, true },
};

PredictExpression *
predict_expression_new (const PredictStep *steps, uint32_t n)
{
  PredictExpression *expression = g_new (PredictExpression, 1);

  expression->steps = g_memdup2 (steps, n * sizeof *steps);
  expression->n = n;
  return expression;
}

PredictExpression *
predict_expression_copy (const PredictExpression *expression)
{
  return predict_expression_new (expression->steps, expression->n);
}

void
predict_expression_free (PredictExpression *expression)
{
  if (expression == NULL)
    return;
  g_free (expression->steps);
  g_free (expression);
}

static bool
step_is_sound (const PredictStep *step, uint32_t n_variables, uint32_t n_parameters)
{
  if (step->op >= PREDICT_N_OPS)
    return false;
  switch ((PredictOp) step->op) {
  case PREDICT_OP_CONSTANT: return isfinite (step->value);
  case PREDICT_OP_VARIABLE: return step->index >= 0 && (uint32_t) step->index < n_variables;
  case PREDICT_OP_PARAMETER: return step->index >= 0 && (uint32_t) step->index < n_parameters;
  case PREDICT_OP_INTEGER_POWER:
    return step->index >= -PREDICT_MAX_EXPONENT && step->index <= PREDICT_MAX_EXPONENT;
  case PREDICT_OP_ADD:
  case PREDICT_OP_SUBTRACT:
  case PREDICT_OP_MULTIPLY:
  case PREDICT_OP_DIVIDE:
  case PREDICT_OP_POWER:
  case PREDICT_OP_MIN:
  case PREDICT_OP_MAX:
  case PREDICT_OP_NEGATE:
  case PREDICT_OP_LOG:
  case PREDICT_OP_LOG2:
  case PREDICT_OP_EXP:
  case PREDICT_OP_SQRT:
  case PREDICT_OP_SIN:
  case PREDICT_OP_COS:
  case PREDICT_OP_ABS:
  case PREDICT_OP_CEIL:
  case PREDICT_OP_FLOOR:
  case PREDICT_N_OPS: break;
  }
  return true;
}

bool
predict_expression_check (const PredictExpression *expression, uint32_t n_variables,
                          uint32_t n_parameters)
{
  uint32_t height = 0;

  if (expression->n > PREDICT_MAX_STEPS)
    return false;
  for (uint32_t at = 0; at < expression->n; at++) {
    const PredictStep *step = &expression->steps[at];

    if (!step_is_sound (step, n_variables, n_parameters) ||
        height < predict_ops[step->op].n_operands)
      return false;
    height += 1u - predict_ops[step->op].n_operands;
  }
  return height == 1;
}

uint32_t
predict_expression_first (const PredictExpression *expression, uint32_t root)
{
  uint32_t at = root;

  for (uint32_t wanted = predict_ops[expression->steps[at].op].n_operands; wanted > 0; wanted--)
    wanted += predict_ops[expression->steps[--at].op].n_operands;
  return at;
}

bool
predict_expression_equal (const PredictExpression *a, const PredictExpression *b)
{
  if (a->n != b->n)
    return false;
  for (uint32_t at = 0; at < a->n; at++) {
    const PredictStep *one = &a->steps[at], *other = &b->steps[at];

    if (one->op != other->op || one->index != other->index ||
        memcmp (&one->value, &other->value, sizeof one->value) != 0)
      return false;
  }
  return true;
}

uint32_t
predict_expression_height (const PredictExpression *expression)
{
  uint32_t height = 0, highest = 0;

  for (uint32_t at = 0; at < expression->n; at++) {
    height += 1u - predict_ops[expression->steps[at].op].n_operands;
    highest = MAX (highest, height);
  }
  return highest;
}
