/* undefined.c - why a formula has no value at a point.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/formula/blocks.h"

/* The values of all steps at one row are those of the expressions that end with them. */
char *
predict_undefined (const PredictExpression *expression, const PredictNames *names,
                   const PredictPoints *points, uint64_t row, const double *parameters)
{
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  g_autofree int32_t *unknown = g_new (int32_t, expression->n);
  PredictJob job = { expression, points->columns, parameters, workspace };
  uint32_t at = 0;

  predict_workspace_reserve (workspace, expression->n);
  predict_workspace_reserve_steps (workspace, expression->n);
  predict_unknowns (expression, 0, false, unknown);
  predict_lay_out (expression, unknown, workspace);
  predict_run_keeping (&job, row, 1);
  while (at < expression->n && isfinite (workspace->operands[at].values[0]))
    at++;
  if (at == expression->n)
    return NULL;

  guint said = 0;
  uint32_t operand[] = { workspace->left[at], at - 1 };
  uint32_t n_operands = predict_ops[expression->steps[at].op].n_operands;
  uint32_t from = predict_expression_first (expression, at);
  PredictExpression part = { expression->steps + from, at - from + 1 };
  g_autofree char *whole = predict_expression_text (&part, names);
  GString *text = g_string_new (whole);

  g_string_append (text, " is undefined");
  for (uint32_t i = 0; i < n_operands; i++) {
    uint32_t last = operand[i];

    from = predict_expression_first (expression, last);
    part = (PredictExpression){ expression->steps + from, last - from + 1 };
    if (part.steps->op == PREDICT_OP_CONSTANT && part.n == 1)
      continue;

    g_autofree char *name = predict_expression_text (&part, names);
    g_autofree char *value = predict_number_text (workspace->operands[last].values[0]);

    g_string_append_printf (text, "%s%s is %s", said++ == 0 ? " where " : " and ", name, value);
  }
  return g_string_free (text, FALSE);
}
