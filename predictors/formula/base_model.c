/* base_model.c - a performance model that a user wrote.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/error.h"

#include "predictors/formula/base_model.h"

#include "base/file.h"

#include <string.h>

/* More is no model that a person wrote. */
#define MOST_BYTES (1u << 20)

PredictBaseModel *
predict_base_model_read (const char *path, GError **error)
{
  g_autofree char *text = NULL;
  gsize n;

  if (!base_file_read (path, &text, &n, error))
    return NULL;
  if (strlen (text) != n || n > MOST_BYTES) {
    g_set_error (error, BASE_ERROR, BASE_ERROR_TEXT, "%s: not a model file: %s", path,
                 n > MOST_BYTES ? "more than a megabyte" : "it has a byte that is 0");
    return NULL;
  }
  return predict_base_model_parse (text, path, error);
}

static void
free_parameters (PredictParameter *parameters, uint32_t n)
{
  for (uint32_t at = 0; at < n; at++) {
    g_free (parameters[at].name);
    g_free (parameters[at].unit);
  }
  g_free (parameters);
}

static void
free_texts (char **texts, uint32_t n)
{
  for (uint32_t at = 0; at < n; at++)
    g_free (texts[at]);
  g_free (texts);
}

void
predict_base_model_free (PredictBaseModel *model)
{
  if (model == NULL)
    return;
  free_texts ((char **) model->names.variables, model->n_variables);
  free_texts ((char **) model->names.parameters, model->n_parameters);
  free_texts (model->variable_units, model->n_variables);
  free_parameters (model->parameters, model->n_parameters);
  free_parameters (model->constants, model->n_constants);
  predict_expression_free (model->time);
  predict_expression_free (model->written);
  g_free (model->source);
  g_free (model);
}

double *
predict_base_model_values (const PredictBaseModel *model)
{
  /* Not NULL without parameters: memcpy() of nothing asks for that. */
  double *values = g_new (double, MAX (model->n_parameters, 1));

  for (uint32_t at = 0; at < model->n_parameters; at++)
    values[at] = model->parameters[at].value;
  return values;
}

static void
append_number (GString *text, const char *before, double value, const char *behind)
{
  g_autofree char *number = predict_number_text (value);

  g_string_append_printf (text, "%s%s%s", before, number, behind);
}

static void
append_unit (GString *text, const char *unit)
{
  if (unit != NULL)
    g_string_append_printf (text, " in %s", unit);
  g_string_append_c (text, '\n');
}

char *
predict_base_model_text (const PredictBaseModel *model, const double *values)
{
  GString *text = g_string_new (NULL);
  g_autofree const char **parameters =
      g_new0 (const char *, model->n_parameters + model->n_constants + 1);
  const PredictNames names = { .variables = model->names.variables, .parameters = parameters };
  g_autofree char *formula = NULL;

  for (uint32_t at = 0; at < model->n_variables; at++) {
    g_string_append_printf (text, "variable %s", model->names.variables[at]);
    append_unit (text, model->variable_units[at]);
  }
  for (uint32_t at = 0; at < model->n_constants; at++) {
    const PredictParameter *constant = &model->constants[at];

    parameters[model->n_parameters + at] = constant->name;
    g_string_append_printf (text, "constant %s", constant->name);
    append_number (text, " ", constant->value, "");
    append_unit (text, constant->unit);
  }
  for (uint32_t at = 0; at < model->n_parameters; at++) {
    const PredictParameter *parameter = &model->parameters[at];

    parameters[at] = parameter->name;
    g_string_append_printf (text, "parameter %s", parameter->name);
    append_number (text, " ", values[at], " [");
    append_number (text, "", parameter->low, ", ");
    append_number (text, "", parameter->high, parameter->log ? "] log" : "]");
    append_unit (text, parameter->unit);
  }
  formula = predict_expression_text (model->written, &names);
  g_string_append_printf (text, "time = %s\n", formula);
  return g_string_free (text, FALSE);
}
