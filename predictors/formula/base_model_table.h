/* base_model_table.h - a performance model and the rows of a table.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/formula/base_model.h"
#include "predictors/table/table.h"

/* The columns of the model's variables, [n_variables], borrowed; the caller frees the array.  NULL
 * and *error: one is missing or not of finite numbers. */
const double **predict_base_model_columns (const PredictBaseModel *model, const PredictTable *table,
                                           GError **error);

/* The model's times of the rows, [n_rows], with the parameters as they are in its file; the caller
 * frees.  Variables that its formula does not name need no column.  NULL and *error: no rows,
 * columns that are missing (all are named) or not of finite numbers, or a row where the model
 * has no value (which, and why). */
double *
predict_base_model_times (const PredictBaseModel *model, const PredictTable *table, GError **error);
