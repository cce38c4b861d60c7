/* evaluate_blocks.c - the values of a formula at many points.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/formula/blocks.h"

#include <float.h>

PredictWorkspace *
predict_workspace_new (void)
{
  return g_new0 (PredictWorkspace, 1);
}

void
predict_workspace_free (PredictWorkspace *workspace)
{
  if (workspace == NULL)
    return;
  g_free (workspace->operands);
  g_free (workspace->slots);
  g_free (workspace->adjoints);
  g_free (workspace->left);
  g_free (workspace->wanted);
  g_free (workspace);
}

void
predict_workspace_reserve (PredictWorkspace *workspace, uint32_t n_slots)
{
  if (n_slots <= workspace->n_slots)
    return;
  g_free (workspace->slots);
  workspace->n_slots = n_slots + n_slots / 2;
  workspace->slots = g_new (double, (gsize) (workspace->n_slots + 2) * BLOCK);
  workspace->operands = g_renew (PredictOperand, workspace->operands, workspace->n_slots);
}

void
predict_workspace_reserve_steps (PredictWorkspace *workspace, uint32_t n_steps)
{
  if (n_steps <= workspace->n_steps)
    return;
  g_free (workspace->adjoints);
  workspace->n_steps = n_steps + n_steps / 2;
  workspace->adjoints = g_new (double, (gsize) workspace->n_steps *BLOCK);
  workspace->left = g_renew (uint32_t, workspace->left, workspace->n_steps);
  workspace->wanted = g_renew (bool, workspace->wanted, workspace->n_steps);
}

/* Results lie where the left operand waits: as many slots as values wait at most.  Counts the
 * points that are undefined. */
VECTORS static uint64_t
run_block (const PredictJob *job, uint64_t first, uint32_t n, double *result)
{
  PredictWorkspace *workspace = job->workspace;
  PredictOperand *top = workspace->operands; /* above the last that waits */
  double *spare = workspace->slots + (gsize) workspace->n_slots * BLOCK;
  uint64_t undefined = 0;

  for (uint32_t at = 0; at < job->expression->n; at++) {
    const PredictStep *step = &job->expression->steps[at];
    uint32_t n_operands = predict_ops[step->op].n_operands;

    if (n_operands == 0) {
      *top++ = predict_leaf (job, step, first);
      continue;
    }
    top -= n_operands;

    PredictOperand left = top[0], right = top[n_operands - 1];
    bool uniform = left.uniform && right.uniform;
    double *out = workspace->slots + (gsize) (top - workspace->operands) * BLOCK;

    predict_operate (step, left, right, out, spare, uniform ? 1 : n);
    *top++ = (PredictOperand){ out, uniform };
  }
  top--;
  if (top->uniform)
    EACH result[i] = top->values[0];
  else
    memcpy (result, top->values, n * sizeof *result);
  EACH undefined += !(fabs (result[i]) <= DBL_MAX);
  return undefined;
}

uint64_t
predict_values (const PredictExpression *expression, const PredictPoints *points,
                const double *parameters, PredictWorkspace *workspace, double *values)
{
  PredictJob job = { expression, points->columns, parameters, workspace };
  uint64_t undefined = 0;

  predict_workspace_reserve (workspace, predict_expression_height (expression));
  for (uint64_t first = 0; first < points->n; first += BLOCK)
    undefined += run_block (&job, first, (uint32_t) MIN (BLOCK, points->n - first), values + first);
  return undefined;
}

double
predict_value (const PredictExpression *expression, const double *variables,
               const double *parameters)
{
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  uint32_t n = 0;
  double value;

  for (uint32_t at = 0; at < expression->n; at++)
    if (expression->steps[at].op == PREDICT_OP_VARIABLE)
      n = MAX (n, (uint32_t) expression->steps[at].index + 1);

  g_autofree const double **columns = g_new (const double *, n);
  PredictPoints points = { columns, 1 };

  for (uint32_t at = 0; at < n; at++)
    columns[at] = &variables[at];
  predict_values (expression, &points, parameters, workspace, &value);
  return value;
}
