/* base_model_table.c - see base_model_table.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/formula/base_model_table.h"

#include "predictors/predict_error.h"
#include "predictors/formula/evaluate_blocks.h"

#include <math.h>

const double **
predict_base_model_columns (const PredictBaseModel *model, const PredictTable *table,
                            GError **error)
{
  g_autofree const double **columns = g_new0 (const double *, model->n_variables + 1);

  for (uint32_t at = 0; at < model->n_variables; at++)
    if (!(columns[at] = predict_table_finite (table, model->names.variables[at], error)))
      return NULL;
  return g_steal_pointer (&columns);
}

/* [n_variables] */
static bool *
named_variables (const PredictBaseModel *model)
{
  bool *named = g_new0 (bool, model->n_variables + 1);

  for (uint32_t at = 0; at < model->time->n; at++)
    if (model->time->steps[at].op == PREDICT_OP_VARIABLE)
      named[model->time->steps[at].index] = true;
  return named;
}

/* Those of the variables that the formula names, NULL for the others. */
static const double **
named_columns (const PredictBaseModel *model, const PredictTable *table, GError **error)
{
  g_autofree bool *named = named_variables (model);
  g_autofree const double **columns = g_new0 (const double *, model->n_variables + 1);
  g_autofree const char **names = g_new0 (const char *, model->n_variables + 1);
  uint32_t n = 0;

  for (uint32_t at = 0; at < model->n_variables; at++)
    if (named[at])
      names[n++] = model->names.variables[at];
  if (!predict_table_has_all (table, names, error))
    return NULL;
  for (uint32_t at = 0; at < model->n_variables; at++)
    if (named[at] &&
        !(columns[at] = predict_table_finite (table, model->names.variables[at], error)))
      return NULL;
  return g_steal_pointer (&columns);
}

double *
predict_base_model_times (const PredictBaseModel *model, const PredictTable *table, GError **error)
{
  g_autofree const double **columns = named_columns (model, table, error);
  const PredictPoints points = { columns, table->n_rows };
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  g_autofree double *parameters = predict_base_model_values (model);
  g_autofree double *times = g_new (double, table->n_rows + 1);
  g_autofree char *place = NULL, *why = NULL;
  uint64_t row = 0;

  if (columns == NULL)
    return NULL;
  if (table->n_rows == 0) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE, "%s: has no rows", table->source);
    return NULL;
  }
  if (predict_values (model->time, &points, parameters, workspace, times) == 0)
    return g_steal_pointer (&times);
  while (isfinite (times[row]))
    row++;
  why = predict_undefined (model->time, &model->names, &points, row, parameters);
  place = predict_table_place (table, row);
  g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE, "%s: %s: %s", place, model->source, why);
  return NULL;
}
