/* base_model_parse.c - a performance model from its text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/formula/base_model_reader.h"

#include <string.h>

/* The names of one array, then of the other (NULL: none); borrowed, the caller frees the array. */
static const char **
join_names (const GPtrArray *first, const GPtrArray *then)
{
  guint n = then != NULL ? then->len : 0;
  const char **names = g_new0 (const char *, first->len + n + 1);

  for (guint at = 0; at < first->len; at++)
    names[at] = first->pdata[at];
  for (guint at = 0; at < n; at++)
    names[first->len + at] = then->pdata[at];
  return names;
}

static gboolean
check_units (PredictModelReader *reader, const PredictExpression *formula, const BasePlace *place,
             PredictUnit *unit)
{
  g_autoptr (GArray) parameters = g_array_copy (reader->unit_of_parameter);

  g_array_append_vals (parameters, reader->unit_of_constant->data, reader->unit_of_constant->len);
  return predict_unit_of (formula, &reader->names, &reader->units,
                          (const PredictUnit *) (const void *) reader->unit_of_variable->data,
                          (const PredictUnit *) (const void *) parameters->data, place, unit,
                          reader->line.error);
}

static gboolean
check_time (PredictModelReader *reader, const PredictUnit *unit)
{
  BasePlace place = { reader->line.source, reader->line.number, 1 };
  g_autofree char *text = predict_unit_text (&reader->units, unit);
  PredictUnit seconds;

  if (!predict_unit_parse (&reader->units, "s", &place, &seconds, reader->line.error))
    return FALSE;
  return predict_unit_equal (unit, &seconds) ||
         predict_line_fail (&reader->line, reader->line.text, "time is in %s, not in s", text);
}

/* What is put in for names may nest deeper than can be written. */
static gboolean
check_depth (PredictModelReader *reader, const PredictExpression *formula, const BasePlace *place)
{
  g_autofree char *text = predict_expression_text (formula, &reader->names);
  g_autoptr (PredictExpression) again =
      predict_expression_parse (text, &reader->names, place, NULL);

  return again != NULL ||
         predict_line_fail (&reader->line, reader->line.at,
                            "with what its names stand for, the formula is nested more than "
                            "%u deep",
                            PREDICT_MAX_DEPTH);
}

/* NAME = FORMULA, behind the "="; takes the name, which is "time" or new. */
static gboolean
read_formula (PredictModelReader *reader, char *name)
{
  g_autofree char *owned = name;
  g_autofree const char **variables = join_names (reader->variables, NULL);
  g_autofree const char **parameters = join_names (reader->parameters, reader->constants);
  g_autofree const char **definitions = join_names (reader->definitions, NULL);
  BasePlace place = { reader->line.source, reader->line.number,
                      predict_line_column (&reader->line, reader->line.at) };
  g_autoptr (PredictExpression) formula = NULL;
  PredictUnit unit;

  reader->names = (PredictNames){
    variables,
    parameters,
    definitions,
    (const PredictExpression *const *) reader->bodies->pdata,
  };
  formula = predict_expression_parse (reader->line.at, &reader->names, &place, reader->line.error);
  if (formula == NULL || !check_depth (reader, formula, &place) ||
      (reader->has_units && !check_units (reader, formula, &place, &unit)))
    return FALSE;
  if (strcmp (name, "time") == 0) {
    reader->time = g_steal_pointer (&formula);
    return !reader->has_units || check_time (reader, &unit);
  }
  g_ptr_array_add (reader->definitions, g_steal_pointer (&owned));
  g_ptr_array_add (reader->bodies, g_steal_pointer (&formula));
  return TRUE;
}

static gboolean
read_line (PredictModelReader *reader)
{
  const char *begin;
  g_autofree char *name = NULL;

  predict_line_skip_blanks (&reader->line);
  begin = reader->line.at;
  if (*begin == '\0')
    return TRUE;
  if (reader->time != NULL)
    return predict_line_fail (&reader->line, begin, "time = ... is the last line");
  name = predict_line_name (&reader->line);
  if (name == NULL)
    return predict_line_fail (&reader->line, begin,
                              "expected variable, constant, parameter or NAME = FORMULA");
  if (predict_line_take (&reader->line, '=')) {
    const char *formula = reader->line.at;

    if (strcmp (name, "time") == 0)
      return read_formula (reader, g_steal_pointer (&name));
    g_free (name);
    reader->line.at = begin;
    name = predict_reader_new_name (reader);
    reader->line.at = formula;
    return name != NULL && read_formula (reader, g_steal_pointer (&name));
  }
  reader->line.at = begin;
  return predict_reader_declaration (reader);
}

/* Line by line; comments are cut off. */
static gboolean
read_lines (PredictModelReader *reader, const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint at = 0; lines[at] != NULL; at++) {
    char *comment = strchr (lines[at], '#');

    if (comment != NULL)
      *comment = '\0';
    reader->line.text = reader->line.at = lines[at];
    reader->line.number = at + 1;
    if (!read_line (reader))
      return FALSE;
  }
  reader->line.text = reader->line.at = "";
  return reader->time != NULL ||
         predict_line_fail (&reader->line, reader->line.at, "there is no line \"time = ...\"");
}

static bool
is_used (const PredictExpression *formula, guint parameter)
{
  for (uint32_t at = 0; at < formula->n; at++)
    if (formula->steps[at].op == PREDICT_OP_PARAMETER &&
        formula->steps[at].index == (int32_t) parameter)
      return true;
  return false;
}

static gboolean
check_use (PredictModelReader *reader)
{
  for (guint at = 0; at < reader->parameters->len; at++)
    if (!is_used (reader->time, at))
      return predict_line_fail (&reader->line, reader->line.at,
                                "time does not depend on parameter \"%s\"",
                                (const char *) reader->parameters->pdata[at]);
  return TRUE;
}

/* Constants are numbers from here on. */
static PredictExpression *
with_constants (const PredictModelReader *reader)
{
  PredictExpression *formula = predict_expression_copy (reader->time);

  for (uint32_t at = 0; at < formula->n; at++) {
    PredictStep *step = &formula->steps[at];
    int32_t constant = step->index - (int32_t) reader->parameters->len;

    if (step->op != PREDICT_OP_PARAMETER || constant < 0)
      continue;
    step->op = PREDICT_OP_CONSTANT;
    step->value = g_array_index (reader->constant, PredictParameter, constant).value;
    step->index = 0;
  }
  return formula;
}

static PredictParameter *
copy_parameters (const GArray *array)
{
  PredictParameter *copies = g_new (PredictParameter, array->len);

  for (guint at = 0; at < array->len; at++) {
    copies[at] = g_array_index (array, PredictParameter, at);
    copies[at].name = g_strdup (copies[at].name);
    copies[at].unit = g_strdup (copies[at].unit);
  }
  return copies;
}

/* A copy with copies of the texts. */
static char **
copy_texts (const GPtrArray *array)
{
  char **texts = g_new0 (char *, array->len + 1);

  for (guint at = 0; at < array->len; at++)
    texts[at] = g_strdup (array->pdata[at]);
  return texts;
}

static PredictBaseModel *
make_model (const PredictModelReader *reader)
{
  PredictBaseModel *model = g_new0 (PredictBaseModel, 1);

  model->source = g_strdup (reader->line.source);
  model->names.variables = (const char *const *) copy_texts (reader->variables);
  model->names.parameters = (const char *const *) copy_texts (reader->parameters);
  model->n_variables = reader->variables->len;
  model->n_parameters = reader->parameters->len;
  model->n_constants = reader->constants->len;
  model->variable_units = copy_texts (reader->variable_units);
  model->parameters = copy_parameters (reader->parameter);
  model->constants = copy_parameters (reader->constant);
  model->time = with_constants (reader);
  model->written = predict_expression_copy (reader->time);
  return model;
}

static void
clear_unit (void *parameter)
{
  g_free (((PredictParameter *) parameter)->unit);
}

static GArray *
new_parameters (void)
{
  GArray *array = g_array_new (FALSE, FALSE, sizeof (PredictParameter));

  g_array_set_clear_func (array, clear_unit);
  return array;
}

PredictBaseModel *
predict_base_model_parse (const char *text, const char *source, GError **error)
{
  g_autoptr (GPtrArray) variables = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) parameters = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) constants = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) definitions = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) variable_units = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) bodies =
      g_ptr_array_new_with_free_func ((GDestroyNotify) predict_expression_free);
  g_autoptr (GArray) parameter = new_parameters (), constant = new_parameters ();
  g_autoptr (GArray) unit_of_variable = g_array_new (FALSE, FALSE, sizeof (PredictUnit));
  g_autoptr (GArray) unit_of_parameter = g_array_new (FALSE, FALSE, sizeof (PredictUnit));
  g_autoptr (GArray) unit_of_constant = g_array_new (FALSE, FALSE, sizeof (PredictUnit));
  PredictModelReader reader = {
    .line = { .source = source, .number = 1, .error = error },
    .variables = variables,
    .parameters = parameters,
    .constants = constants,
    .definitions = definitions,
    .variable_units = variable_units,
    .parameter = parameter,
    .constant = constant,
    .bodies = bodies,
    .unit_of_variable = unit_of_variable,
    .unit_of_parameter = unit_of_parameter,
    .unit_of_constant = unit_of_constant,
  };
  PredictBaseModel *model = NULL;

  if (read_lines (&reader, text) && check_use (&reader))
    model = make_model (&reader);
  predict_expression_free (reader.time);
  predict_units_clear (&reader.units);
  return model;
}
