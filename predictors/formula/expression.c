/* expression.c - formulas as steps: the tree in them, and the same values in fewer steps.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/formula/expression.h"

#include "predictors/formula/evaluate_blocks.h"

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

uint32_t
predict_expression_first (const PredictExpression *expression, uint32_t root)
{
  uint32_t at = root;

  for (uint32_t wanted = predict_ops[expression->steps[at].op].n_operands; wanted > 0; wanted--)
    wanted += predict_ops[expression->steps[--at].op].n_operands;
  return at;
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

/* --- Fewer steps with the same values --- */

/* One pass in postfix order.  The operands of a step are simplified before it is reached, and lie
 * at the end of the output. */

typedef struct {
  PredictStep *steps;
  uint32_t n;
} Output;

static bool
is_constant (const Output *out, uint32_t at, uint32_t end, double value)
{
  return end == at + 1 && out->steps[at].op == PREDICT_OP_CONSTANT && out->steps[at].value == value;
}

static void
put (Output *out, PredictStep step)
{
  out->steps[out->n++] = step;
}

static void
put_op (Output *out, PredictOp op)
{
  put (out, (PredictStep){ .op = (uint8_t) op });
}

/* Without the steps from `at` to `end`. */
static void
cut (Output *out, uint32_t at, uint32_t end)
{
  memmove (out->steps + at, out->steps + end, (out->n - end) * sizeof *out->steps);
  out->n -= end - at;
}

/* Operands that are numbers become their result, if there is one. */
static bool
fold (Output *out, uint32_t first, const PredictStep *step)
{
  PredictExpression folded = { out->steps + first, out->n - first + 1 };
  double value;

  for (uint32_t at = first; at < out->n; at++)
    if (out->steps[at].op != PREDICT_OP_CONSTANT)
      return false;
  out->steps[out->n] = *step;
  value = predict_value (&folded, NULL, NULL);
  if (!isfinite (value))
    return false;
  out->n = first;
  put (out, (PredictStep){ .op = PREDICT_OP_CONSTANT, .value = value });
  return true;
}

/* a + b or a - b; `opposite` is the other of the two.  A sign at the front of b becomes the
 * operation. */
static bool
simplify_sum (Output *out, uint32_t left, uint32_t right, PredictOp opposite)
{
  PredictStep *last = &out->steps[out->n - 1];

  if (is_constant (out, right, out->n, 0)) {
    out->n = right;
    return true;
  }
  if (is_constant (out, left, right, 0)) {
    cut (out, left, right);
    if (opposite == PREDICT_OP_ADD)
      put_op (out, PREDICT_OP_NEGATE);
    return true;
  }
  if (last->op == PREDICT_OP_NEGATE) {
    out->n--;
    put_op (out, opposite);
    return true;
  }
  if (last->op == PREDICT_OP_CONSTANT && last->value < 0) {
    last->value = -last->value;
    put_op (out, opposite);
    return true;
  }
  return false;
}

/* Replaces the step, whose operands begin at `left` and `right`, by something shorter; false: it
 * stays. */
static bool
simplify_step (Output *out, uint32_t left, uint32_t right, const PredictStep *step)
{
  double unit = 1;

  switch (step->op) {
  case PREDICT_OP_ADD: return simplify_sum (out, left, right, PREDICT_OP_SUBTRACT);
  case PREDICT_OP_SUBTRACT: return simplify_sum (out, left, right, PREDICT_OP_ADD);
  case PREDICT_OP_MULTIPLY:
  case PREDICT_OP_DIVIDE:
    /* Only the right operand of a quotient may go. */
    if (is_constant (out, right, out->n, 1) || is_constant (out, right, out->n, -1)) {
      unit = out->steps[right].value;
      out->n = right;
    } else if (step->op == PREDICT_OP_MULTIPLY &&
               (is_constant (out, left, right, 1) || is_constant (out, left, right, -1))) {
      unit = out->steps[left].value;
      cut (out, left, right);
    } else
      return false;
    if (unit < 0)
      put_op (out, PREDICT_OP_NEGATE);
    return true;
  case PREDICT_OP_INTEGER_POWER: return step->index == 1;
  case PREDICT_OP_NEGATE:
    if (out->steps[out->n - 1].op != PREDICT_OP_NEGATE)
      return false;
    out->n--;
    return true;
  default: return false;
  }
}

PredictExpression *
predict_expression_simplify (const PredictExpression *expression)
{
  g_autofree PredictStep *steps = g_new (PredictStep, expression->n);
  g_autofree uint32_t *first = g_new (uint32_t, expression->n); /* of the operands that wait */
  Output out = { steps, 0 };
  uint32_t n_waiting = 0;

  for (uint32_t at = 0; at < expression->n; at++) {
    const PredictStep *step = &expression->steps[at];
    uint32_t n_operands = predict_ops[step->op].n_operands;
    uint32_t right = out.n;

    if (n_operands > 0)
      right = first[n_waiting - 1];
    n_waiting -= n_operands;
    if (n_operands == 0)
      first[n_waiting] = out.n;
    n_waiting++;
    if (n_operands == 0 || (!fold (&out, first[n_waiting - 1], step) &&
                            !simplify_step (&out, first[n_waiting - 1], right, step)))
      put (&out, *step);
  }
  return predict_expression_new (out.steps, out.n);
}
