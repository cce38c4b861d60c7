/* base_model_declare.c - the lines of a model file that declare a name.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/formula/base_model_reader.h"
#include "predictors/formula/expression_tokens.h"

#include <string.h>

/* [in UNIT], to the end of the line. */
static gboolean
take_unit (PredictModelReader *reader, char **text, PredictUnit *unit)
{
  BasePlace place = { reader->line.source, reader->line.number, 0 };
  const char *begin;

  *text = NULL;
  *unit = (PredictUnit){ { 0 } };
  if (!predict_line_word (&reader->line, "in"))
    return predict_line_end (&reader->line);
  predict_line_skip_blanks (&reader->line);
  begin = reader->line.at;
  while (*reader->line.at != '\0' && !g_ascii_isspace (*reader->line.at))
    reader->line.at++;
  *text = g_strndup (begin, (gsize) (reader->line.at - begin));
  place.column = predict_line_column (&reader->line, begin);
  reader->has_units = true;
  return predict_unit_parse (&reader->units, *text, &place, unit, reader->line.error) &&
         predict_line_end (&reader->line);
}

static bool
is_among (GPtrArray *names, const char *name)
{
  return g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL);
}

char *
predict_reader_new_name (PredictModelReader *reader)
{
  const char *at;
  g_autofree char *name = NULL;

  predict_line_skip_blanks (&reader->line);
  at = reader->line.at;
  name = predict_line_name (&reader->line);
  if (name == NULL)
    predict_line_fail (&reader->line, at, "expected a name");
  else if (predict_token_function (name) != PREDICT_N_OPS)
    predict_line_fail (&reader->line, at, "\"%s\" is a function", name);
  else if (strcmp (name, "in") == 0)
    predict_line_fail (&reader->line, at, "\"in\" stands before a unit: it is no name");
  else if (is_among (reader->variables, name) || is_among (reader->parameters, name) ||
           is_among (reader->constants, name) || is_among (reader->definitions, name))
    predict_line_fail (&reader->line, at, "\"%s\" was declared before", name);
  else if (strcmp (name, "time") == 0)
    predict_line_fail (&reader->line, at, "\"time\" is the model: time = ...");
  else
    return g_steal_pointer (&name);
  return NULL;
}

static gboolean
read_variables (PredictModelReader *reader)
{
  guint first = reader->variables->len;
  g_autofree char *text = NULL;
  PredictUnit unit;

  do {
    char *name = predict_reader_new_name (reader);

    if (name == NULL)
      return FALSE;
    g_ptr_array_add (reader->variables, name);
  } while (predict_line_take (&reader->line, ','));
  if (!take_unit (reader, &text, &unit))
    return FALSE;
  for (guint at = first; at < reader->variables->len; at++) {
    g_ptr_array_add (reader->variable_units, g_strdup (text));
    g_array_append_val (reader->unit_of_variable, unit);
  }
  return TRUE;
}

static gboolean
read_constant (PredictModelReader *reader)
{
  PredictParameter constant = { .name = predict_reader_new_name (reader) };
  PredictUnit unit;

  if (constant.name == NULL)
    return FALSE;
  g_ptr_array_add (reader->constants, constant.name);
  if (!predict_line_number (&reader->line, "the value", &constant.value) ||
      !take_unit (reader, &constant.unit, &unit)) {
    g_free (constant.unit);
    return FALSE;
  }
  g_array_append_val (reader->constant, constant);
  g_array_append_val (reader->unit_of_constant, unit);
  return TRUE;
}

/* [LOW, HIGH] around the value. */
static gboolean
take_bounds (PredictModelReader *reader, PredictParameter *parameter)
{
  const char *at;

  predict_line_skip_blanks (&reader->line);
  at = reader->line.at;
  if (!predict_line_take (&reader->line, '['))
    return predict_line_fail (&reader->line, at,
                              "parameter \"%s\" has no bounds: %s %g [LOW, HIGH]", parameter->name,
                              parameter->name, parameter->value);
  if (!predict_line_number (&reader->line, "the lower bound", &parameter->low))
    return FALSE;
  if (!predict_line_take (&reader->line, ','))
    return predict_line_fail (&reader->line, reader->line.at, "expected \",\" and the upper bound");
  if (!predict_line_number (&reader->line, "the upper bound", &parameter->high))
    return FALSE;
  if (!predict_line_take (&reader->line, ']'))
    return predict_line_fail (&reader->line, reader->line.at, "expected \"]\"");
  if (!(parameter->low < parameter->high))
    return predict_line_fail (&reader->line, at, "the lower bound is not below the upper one");
  if (parameter->value < parameter->low || parameter->value > parameter->high)
    return predict_line_fail (&reader->line, at,
                              "%g, the value of \"%s\", is not within its bounds", parameter->value,
                              parameter->name);
  return TRUE;
}

static gboolean
read_parameter (PredictModelReader *reader)
{
  PredictParameter parameter = { .name = predict_reader_new_name (reader) };
  const char *at;
  PredictUnit unit;

  if (parameter.name == NULL)
    return FALSE;
  g_ptr_array_add (reader->parameters, parameter.name);
  if (!predict_line_number (&reader->line, "the value", &parameter.value) ||
      !take_bounds (reader, &parameter))
    return FALSE;
  predict_line_skip_blanks (&reader->line);
  at = reader->line.at;
  parameter.log = predict_line_word (&reader->line, "log");
  if (parameter.log && !(parameter.low > 0))
    return predict_line_fail (&reader->line, at,
                              "there is no logarithm of the lower bound of \"%s\"", parameter.name);
  if (!take_unit (reader, &parameter.unit, &unit)) {
    g_free (parameter.unit);
    return FALSE;
  }
  g_array_append_val (reader->parameter, parameter);
  g_array_append_val (reader->unit_of_parameter, unit);
  return TRUE;
}

typedef struct {
  const char *word;
  gboolean (*read) (PredictModelReader *reader);
} Declaration;

gboolean
predict_reader_declaration (PredictModelReader *reader)
{
  static const Declaration declarations[] = {
    { "variable", read_variables },
    { "constant", read_constant },
    { "parameter", read_parameter },
  };
  const char *begin = reader->line.at;

  if (reader->definitions->len > 0)
    return predict_line_fail (&reader->line, begin, "declarations stand above all formulas");
  for (guint at = 0; at < G_N_ELEMENTS (declarations); at++)
    if (predict_line_word (&reader->line, declarations[at].word))
      return declarations[at].read (reader);
  return read_parameter (reader);
}
