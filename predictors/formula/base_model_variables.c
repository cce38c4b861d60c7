/* base_model_variables.c - more columns for the formulas that are bred from a model.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/error.h"

#include "predictors/formula/base_model.h"
#include "predictors/formula/expression_tokens.h"

#include <string.h>

static bool
is_among (const PredictParameter *parameters, uint32_t n, const char *name)
{
  for (uint32_t at = 0; at < n; at++)
    if (!strcmp (parameters[at].name, name))
      return true;
  return false;
}

/* NULL: it can be the name of a variable. */
static const char *
why_not (const PredictBaseModel *model, const char *name)
{
  if (*name == '\0' || predict_token_name (name) != strlen (name))
    return "is no name that a formula can have";
  if (predict_token_function (name) != PREDICT_N_OPS)
    return "is a function";
  if (!strcmp (name, "in") || !strcmp (name, "time"))
    return "has a meaning of its own in model files";
  return is_among (model->parameters, model->n_parameters, name) ||
                 is_among (model->constants, model->n_constants, name)
             ? "is a parameter or a constant of the model"
             : NULL;
}

static void
add_variable (PredictBaseModel *model, const char *name)
{
  uint32_t n = model->n_variables++;
  char **names = g_renew (char *, (char **) model->names.variables, n + 2);

  names[n] = g_strdup (name);
  names[n + 1] = NULL;
  model->names.variables = (const char *const *) names;
  model->variable_units = g_renew (char *, model->variable_units, n + 2);
  model->variable_units[n] = model->variable_units[n + 1] = NULL;
}

gboolean
predict_base_model_add_variables (PredictBaseModel *model, const char *const *names, GError **error)
{
  for (; *names != NULL; names++) {
    const char *trouble = why_not (model, *names);

    if (trouble != NULL) {
      g_set_error (error, BASE_ERROR, BASE_ERROR_TEXT, "%s: \"%s\" %s", model->source, *names,
                   trouble);
      return FALSE;
    }
    if (!g_strv_contains (model->names.variables, *names))
      add_variable (model, *names);
  }
  return TRUE;
}
