/* correction_text.c - a mended model as a model file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/correction/correction.h"

#include <string.h>

static bool
is_taken (const PredictBaseModel *model, const char *name)
{
  for (uint32_t at = 0; at < model->n_variables; at++)
    if (!strcmp (name, model->names.variables[at]))
      return true;
  for (uint32_t at = 0; at < model->n_parameters; at++)
    if (!strcmp (name, model->parameters[at].name))
      return true;
  for (uint32_t at = 0; at < model->n_constants; at++)
    if (!strcmp (name, model->constants[at].name))
      return true;
  return false;
}

char *
predict_correction_base_name (const PredictBaseModel *model)
{
  GString *name = g_string_new ("t_comm");

  while (is_taken (model, name->str))
    g_string_append (name, "_model");
  return g_string_free (name, FALSE);
}

/* Units are at the ends of lines, behind " in ", which is in no formula. */
static void
append_without_unit (GString *text, const char *line)
{
  const char *unit = strstr (line, " in ");

  g_string_append_len (text, line, unit ? unit - line : (gssize) strlen (line));
  g_string_append_c (text, '\n');
}

char *
predict_correction_text (const PredictBaseModel *model, const PredictCorrectionTrial *trial)
{
  g_autofree char *base_name = predict_correction_base_name (model);
  g_autofree char *before = predict_base_model_text (model, trial->parameters);
  g_auto (GStrv) lines = g_strsplit (before, "\n", -1);
  g_autofree const char **variables = g_new0 (const char *, model->n_variables + 2);
  const PredictNames names = { .variables = variables };
  g_autofree char *formula = NULL;
  GString *text = g_string_new (NULL);

  for (uint32_t at = 0; at < model->n_variables; at++)
    variables[at] = model->names.variables[at];
  variables[model->n_variables] = base_name;
  formula = predict_expression_text (trial->brief, &names);
  for (char **line = lines; *line != NULL; line++)
    if (g_str_has_prefix (*line, "time = "))
      g_string_append_printf (text, "%s = %s\ntime = %s\n", base_name, *line + strlen ("time = "),
                              formula);
    else if (**line != '\0')
      append_without_unit (text, *line);
  return g_string_free (text, FALSE);
}
