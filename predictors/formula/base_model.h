/* base_model.h - a performance model that a user wrote.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A small text file, line by line; # begins a comment.
 *
 *     variable T in s                               a column of the data
 *     variable nx, np                               several of them
 *     constant f 4965 in 1/s                        a number that stays
 *     parameter g 2.45e-8 [2e-9, 2e-7] log in s     value, bounds, searched by its logarithm
 *     words = 6*nx^2/np                             a name for a part
 *     time = f*T*(g*words + ...)                    the model
 *
 * `parameter` may be left out.  Names must be declared above their use.  "in UNIT" (units.h)
 * may be left out too; when any line has one, names without one are pure numbers, everything must
 * agree, and time must be in s. */
#pragma once

#include "predictors/formula/expression.h"
#include "predictors/table/table.h"

typedef struct {
  char *name;
  double value; /* within the bounds */
  double low, high;
  bool log;   /* to be searched by its logarithm; then low > 0 */
  char *unit; /* as written; NULL: none */
} PredictParameter;

typedef struct {
  char *source;       /* its name in errors: the path */
  PredictNames names; /* of variables and parameters, for formulas that use them */
  uint32_t n_variables, n_parameters;
  char **variable_units;        /* [n_variables] as written; NULL: none */
  PredictParameter *parameters; /* [n_parameters] */
  PredictExpression *time;      /* s; definitions and constants are put in */
  /* As it was written: constants are parameters n_parameters and up. */
  PredictExpression *written;
  PredictParameter *constants; /* [n_constants] bounds 0 */
  uint32_t n_constants;
} PredictBaseModel;

/* NULL and *error (BASE_ERROR_TEXT with file, line and column, or G_FILE_ERROR): a line that is
 * none of the above, a name twice, or that of a function, or "in", no time or two, a parameter
 * without bounds, a value outside of them, bounds of a logarithm that are not positive, a parameter
 * that time does not depend on, units that do not agree. */
PredictBaseModel *predict_base_model_read (const char *path, GError **error);
PredictBaseModel *predict_base_model_parse (const char *text, const char *source, GError **error);
void predict_base_model_free (PredictBaseModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictBaseModel, predict_base_model_free)

/* Also these columns of the data, for formulas that will name them; a variable that is there already
 * stays as it is.  FALSE and *error (BASE_ERROR_TEXT): no formula can name such a column, or the
 * name is that of a parameter or a constant. */
gboolean predict_base_model_add_variables (PredictBaseModel *model, const char *const *names,
                                           GError **error);

/* parameters' values as an array [n_parameters]; the caller frees. */
double *predict_base_model_values (const PredictBaseModel *model);

/* A model file with these values of the parameters, which reads back to the same model. */
char *predict_base_model_text (const PredictBaseModel *model, const double *values);

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
