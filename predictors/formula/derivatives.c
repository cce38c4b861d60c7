/* derivatives.c - the derivatives of a formula with respect to its parameters and numbers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/formula/blocks.h"

#include <float.h>

uint32_t
predict_unknowns (const PredictExpression *expression, uint32_t n_parameters, bool constants,
                  int32_t *unknown)
{
  uint32_t n = n_parameters;

  for (uint32_t at = 0; at < expression->n; at++) {
    const PredictStep *step = &expression->steps[at];

    unknown[at] = PREDICT_FIXED;
    if (step->op == PREDICT_OP_PARAMETER)
      unknown[at] = step->index;
    else if (step->op == PREDICT_OP_CONSTANT && constants)
      unknown[at] = (int32_t) n++;
  }
  return n;
}

void
predict_lay_out (const PredictExpression *expression, const int32_t *unknown,
                 PredictWorkspace *workspace)
{
  for (uint32_t at = 0; at < expression->n; at++) {
    uint32_t n_operands = predict_ops[expression->steps[at].op].n_operands;

    workspace->wanted[at] = unknown[at] != PREDICT_FIXED;
    workspace->left[at] = at;
    if (n_operands == 0)
      continue;
    workspace->left[at] =
        n_operands == 1 ? at - 1 : predict_expression_first (expression, at - 1) - 1;
    workspace->wanted[at] = workspace->wanted[workspace->left[at]] || workspace->wanted[at - 1];
  }
}

VECTORS void
predict_run_keeping (const PredictJob *job, uint64_t first, uint32_t n)
{
  PredictWorkspace *workspace = job->workspace;
  PredictOperand *operands = workspace->operands;
  double *spare = workspace->slots + (gsize) workspace->n_slots * BLOCK;

  for (uint32_t at = 0; at < job->expression->n; at++) {
    const PredictStep *step = &job->expression->steps[at];
    double *out = workspace->slots + (gsize) at * BLOCK;

    operands[at] = (PredictOperand){ out, false };
    if (predict_ops[step->op].n_operands > 0) {
      predict_operate (step, operands[workspace->left[at]], operands[at - 1], out, spare, n);
      continue;
    }

    PredictOperand value = predict_leaf (job, step, first);

    if (!value.uniform)
      operands[at] = value;
    else
      EACH out[i] = value.values[0];
  }
}

/* What a step hands down: its adjoint times its slope with respect to an operand. */
#define HAND(to, slope)                                                                 \
  do {                                                                                  \
    EACH                                                                                \
    {                                                                                   \
      const double a = left[i], b = right[i], value = values[i], adjoint = adjoints[i]; \
      (void) a, (void) b, (void) value;                                                 \
      to[i] = adjoint * (slope);                                                        \
    }                                                                                   \
  } while (0)

/* x^y by x; at 0 as its limit from above. */
static inline double
power_slope (double x, double y, double value)
{
  double at_zero = y > 1 ? 0 : y < 1 ? (double) INFINITY : 1;
  double slope = y * value / x;

  return x == 0 ? at_zero : slope;
}

/* x^y by y; 0 at 0^y, where y is positive. */
static inline double
exponent_slope (double x, double value)
{
  double slope = value * predict_log (x);

  return x == 0 ? 0 : slope;
}

/* `on_left` and `on_right` are the adjoints of its operands; `spare` is a slot. */
static inline __attribute__ ((always_inline)) void
hand_down (const PredictStep *step, const double *left, const double *right, const double *values,
           const double *adjoints, double *on_left, double *on_right, double *spare, uint32_t n)
{
  switch ((PredictOp) step->op) {
  case PREDICT_OP_ADD:
    HAND (on_left, 1);
    HAND (on_right, 1);
    break;
  case PREDICT_OP_SUBTRACT:
    HAND (on_left, 1);
    HAND (on_right, -1);
    break;
  case PREDICT_OP_MULTIPLY:
    HAND (on_left, b);
    HAND (on_right, a);
    break;
  case PREDICT_OP_DIVIDE:
    HAND (on_left, 1 / b);
    HAND (on_right, -value / b);
    break;
  case PREDICT_OP_POWER:
    HAND (on_left, power_slope (a, b, value));
    HAND (on_right, exponent_slope (a, value));
    break;
  case PREDICT_OP_MIN:
    HAND (on_left, a <= b ? 1 : 0);
    HAND (on_right, a <= b ? 0 : 1);
    break;
  case PREDICT_OP_MAX:
    HAND (on_left, a >= b ? 1 : 0);
    HAND (on_right, a >= b ? 0 : 1);
    break;
  case PREDICT_OP_NEGATE: HAND (on_left, -1); break;
  case PREDICT_OP_INTEGER_POWER:
    predict_raise (left, step->index - 1, spare, n);
    HAND (on_left, step->index * (step->index == 0 ? 0 : spare[i]));
    break;
  case PREDICT_OP_LOG: HAND (on_left, 1 / a); break;
  case PREDICT_OP_LOG2: HAND (on_left, 1 / (a * G_LN2)); break;
  case PREDICT_OP_EXP: HAND (on_left, value); break;
  case PREDICT_OP_SQRT: HAND (on_left, 0.5 / value); break;
  case PREDICT_OP_SIN: HAND (on_left, predict_cos (a)); break;
  case PREDICT_OP_COS: HAND (on_left, -predict_sin (a)); break;
  case PREDICT_OP_ABS: HAND (on_left, a > 0 ? 1 : a < 0 ? -1 : 0); break;
  case PREDICT_OP_CEIL:
  case PREDICT_OP_FLOOR: HAND (on_left, 0); break;
  case PREDICT_OP_CONSTANT:
  case PREDICT_OP_VARIABLE:
  case PREDICT_OP_PARAMETER:
  case PREDICT_N_OPS: g_assert_not_reached ();
  }
}

/* Each step has one parent, so that its adjoint is set once.  Only ways to unknowns are gone. */
VECTORS static void
sweep_block (const PredictJob *job, uint32_t n)
{
  PredictWorkspace *workspace = job->workspace;
  const PredictOperand *operands = workspace->operands;
  double *spare = workspace->slots + (gsize) workspace->n_slots * BLOCK;
  uint32_t root = job->expression->n - 1;

  EACH workspace->adjoints[(gsize) root * BLOCK + i] = 1;
  for (uint32_t at = root + 1; at-- > 0;) {
    const PredictStep *step = &job->expression->steps[at];
    uint32_t left = workspace->left[at], n_operands = predict_ops[step->op].n_operands;

    if (n_operands == 0 || !workspace->wanted[at])
      continue;

    double *on_left = workspace->adjoints + (gsize) left * BLOCK;
    double *on_right = n_operands == 2 ? workspace->adjoints + (gsize) (at - 1) * BLOCK : NULL;

    hand_down (step, operands[left].values, operands[at - 1].values, operands[at].values,
               workspace->adjoints + (gsize) at * BLOCK, on_left, on_right, spare, n);
  }
}

uint64_t
predict_derivatives (const PredictExpression *expression, const PredictPoints *points,
                     const double *parameters, const int32_t *unknown, uint32_t n_unknowns,
                     PredictWorkspace *workspace, double *values, double *derivatives)
{
  PredictJob job = { expression, points->columns, parameters, workspace };
  uint64_t undefined = 0;
  uint32_t root = expression->n - 1;

  predict_workspace_reserve (workspace, expression->n);
  predict_workspace_reserve_steps (workspace, expression->n);
  predict_lay_out (expression, unknown, workspace);
  memset (derivatives, 0, n_unknowns * points->n * sizeof *derivatives);
  for (uint64_t first = 0; first < points->n; first += BLOCK) {
    uint32_t n = (uint32_t) MIN (BLOCK, points->n - first);
    const double *result;

    predict_run_keeping (&job, first, n);
    sweep_block (&job, n);
    result = workspace->operands[root].values;
    for (uint32_t i = 0; i < n; i++)
      undefined += !(fabs (values[first + i] = result[i]) <= DBL_MAX);
    for (uint32_t at = 0; at <= root; at++) {
      const double *adjoints = workspace->adjoints + (gsize) at * BLOCK;
      double *derivative = derivatives + (gsize) MAX (unknown[at], 0) * points->n + first;

      if (unknown[at] != PREDICT_FIXED)
        EACH derivative[i] += adjoints[i];
    }
  }
  return undefined;
}
