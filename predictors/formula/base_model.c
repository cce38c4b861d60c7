/* base_model.c - a performance model that a user wrote.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/formula/base_model.h"

#include "base/decimal.h"
#include "base/file.h"
#include "predictors/formula/evaluate_blocks.h"
#include "predictors/predict_error.h"
#include "base/error.h"
#include "predictors/formula/units.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* --- A line, read from left to right --- */

typedef struct {
  const char *source;
  guint number;          /* of the line, from 1 */
  const char *text, *at; /* the line, without its comment; the rest */
  GError **error;
} Line;

typedef struct {
  Line line;
  GPtrArray *variables, *parameters, *constants, *definitions; /* char *: names */
  GPtrArray *variable_units;                                   /* char *, NULL: none */
  GArray *parameter, *constant;                                /* PredictParameter */
  GPtrArray *bodies;                                           /* PredictExpression */
  PredictExpression *time;
  PredictNames names; /* of all that formulas may name: constants are parameters after the others */
  bool has_units;
  PredictUnits units;
  GArray *unit_of_variable, *unit_of_parameter, *unit_of_constant; /* PredictUnit */
} ModelReader;

static guint
line_column (const Line *line, const char *at)
{
  return 1 + (guint) (at - line->text);
}

/* Sets the error at the column of `at`.  Always FALSE. */
static gboolean
    G_GNUC_PRINTF (3, 4) line_fail (const Line *line, const char *at, const char *format, ...)
{
  const BasePlace place = { line->source, line->number, 1 };
  va_list arguments;

  va_start (arguments, format);
  base_fail_at_v (&place, line_column (line, at), line->error, format, arguments);
  va_end (arguments);
  return FALSE;
}

static void
line_skip_blanks (Line *line)
{
  while (g_ascii_isspace (*line->at))
    line->at++;
}

/* Skips this character if it is next. */
static bool
line_take (Line *line, char wanted)
{
  line_skip_blanks (line);
  if (*line->at != wanted)
    return false;
  line->at++;
  return true;
}

/* NULL: there is no name here.  The caller frees. */
static char *
line_name (Line *line)
{
  const char *begin;
  gsize n;

  line_skip_blanks (line);
  begin = line->at;
  n = predict_token_name (begin);
  line->at += n;
  return n > 0 ? g_strndup (begin, n) : NULL;
}

/* Skips this word if it is next. */
static bool
line_word (Line *line, const char *word)
{
  const char *begin = line->at;
  g_autofree char *name = line_name (line);

  if (g_strcmp0 (name, word) == 0)
    return true;
  line->at = begin;
  return false;
}

/* FALSE and the error: there is no finite number.  what: its name in the message, "the value". */
static gboolean
line_number (Line *line, const char *what, double *number)
{
  const char *end;

  line_skip_blanks (line);
  end = base_decimal (line->at, number);
  if (end == NULL || !isfinite (*number))
    return line_fail (line, line->at, "expected %s, a number", what);
  line->at = end;
  return TRUE;
}

/* FALSE and the error: the line goes on. */
static gboolean
line_end (Line *line)
{
  line_skip_blanks (line);
  return *line->at == '\0' || line_fail (line, line->at, "\"%s\" does not belong here", line->at);
}

/* --- Lines that declare a name --- */

/* [in UNIT], to the end of the line. */
static gboolean
take_unit (ModelReader *reader, char **text, PredictUnit *unit)
{
  BasePlace place = { reader->line.source, reader->line.number, 0 };
  const char *begin;

  *text = NULL;
  *unit = (PredictUnit){ { 0 } };
  if (!line_word (&reader->line, "in"))
    return line_end (&reader->line);
  line_skip_blanks (&reader->line);
  begin = reader->line.at;
  while (*reader->line.at != '\0' && !g_ascii_isspace (*reader->line.at))
    reader->line.at++;
  *text = g_strndup (begin, (gsize) (reader->line.at - begin));
  place.column = line_column (&reader->line, begin);
  reader->has_units = true;
  return predict_unit_parse (&reader->units, *text, &place, unit, reader->line.error) &&
         line_end (&reader->line);
}

static bool
is_among (GPtrArray *names, const char *name)
{
  return g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL);
}

/* A name that the line declares; NULL and the error: it must not be declared.  The caller frees. */
static char *
reader_new_name (ModelReader *reader)
{
  const char *at;
  g_autofree char *name = NULL;

  line_skip_blanks (&reader->line);
  at = reader->line.at;
  name = line_name (&reader->line);
  if (name == NULL)
    line_fail (&reader->line, at, "expected a name");
  else if (predict_token_function (name) != PREDICT_N_OPS)
    line_fail (&reader->line, at, "\"%s\" is a function", name);
  else if (strcmp (name, "in") == 0)
    line_fail (&reader->line, at, "\"in\" stands before a unit: it is no name");
  else if (is_among (reader->variables, name) || is_among (reader->parameters, name) ||
           is_among (reader->constants, name) || is_among (reader->definitions, name))
    line_fail (&reader->line, at, "\"%s\" was declared before", name);
  else if (strcmp (name, "time") == 0)
    line_fail (&reader->line, at, "\"time\" is the model: time = ...");
  else
    return g_steal_pointer (&name);
  return NULL;
}

static gboolean
read_variables (ModelReader *reader)
{
  guint first = reader->variables->len;
  g_autofree char *text = NULL;
  PredictUnit unit;

  do {
    char *name = reader_new_name (reader);

    if (name == NULL)
      return FALSE;
    g_ptr_array_add (reader->variables, name);
  } while (line_take (&reader->line, ','));
  if (!take_unit (reader, &text, &unit))
    return FALSE;
  for (guint at = first; at < reader->variables->len; at++) {
    g_ptr_array_add (reader->variable_units, g_strdup (text));
    g_array_append_val (reader->unit_of_variable, unit);
  }
  return TRUE;
}

static gboolean
read_constant (ModelReader *reader)
{
  PredictParameter constant = { .name = reader_new_name (reader) };
  PredictUnit unit;

  if (constant.name == NULL)
    return FALSE;
  g_ptr_array_add (reader->constants, constant.name);
  if (!line_number (&reader->line, "the value", &constant.value) ||
      !take_unit (reader, &constant.unit, &unit)) {
    g_free (constant.unit);
    return FALSE;
  }
  g_array_append_val (reader->constant, constant);
  g_array_append_val (reader->unit_of_constant, unit);
  return TRUE;
}

/* NAME VALUE [LOW, HIGH] [log] [in UNIT] */
static gboolean
read_parameter (ModelReader *reader)
{
  Line *line = &reader->line;
  PredictParameter parameter = { .name = reader_new_name (reader) };
  const char *at;
  PredictUnit unit;

  if (parameter.name == NULL)
    return FALSE;
  g_ptr_array_add (reader->parameters, parameter.name);
  if (!line_number (line, "the value", &parameter.value))
    return FALSE;
  line_skip_blanks (line);
  at = line->at;
  if (!line_take (line, '['))
    return line_fail (line, at, "parameter \"%s\" has no bounds: %s %g [LOW, HIGH]", parameter.name,
                      parameter.name, parameter.value);
  if (!line_number (line, "the lower bound", &parameter.low))
    return FALSE;
  if (!line_take (line, ','))
    return line_fail (line, line->at, "expected \",\" and the upper bound");
  if (!line_number (line, "the upper bound", &parameter.high))
    return FALSE;
  if (!line_take (line, ']'))
    return line_fail (line, line->at, "expected \"]\"");
  if (!(parameter.low < parameter.high))
    return line_fail (line, at, "the lower bound is not below the upper one");
  if (parameter.value < parameter.low || parameter.value > parameter.high)
    return line_fail (line, at, "%g, the value of \"%s\", is not within its bounds",
                      parameter.value, parameter.name);
  line_skip_blanks (line);
  at = line->at;
  parameter.log = line_word (line, "log");
  if (parameter.log && !(parameter.low > 0))
    return line_fail (line, at, "there is no logarithm of the lower bound of \"%s\"",
                      parameter.name);
  if (!take_unit (reader, &parameter.unit, &unit)) {
    g_free (parameter.unit);
    return FALSE;
  }
  g_array_append_val (reader->parameter, parameter);
  g_array_append_val (reader->unit_of_parameter, unit);
  return TRUE;
}

/* --- Formulas, and the model from its text --- */

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

/* NAME = FORMULA, behind the "="; takes the name, which is "time" or new. */
static gboolean
read_formula (ModelReader *reader, char *name)
{
  Line *line = &reader->line;
  g_autofree char *owned = name, *text = NULL, *of_time = NULL;
  g_autofree const char **variables = join_names (reader->variables, NULL);
  g_autofree const char **parameters = join_names (reader->parameters, reader->constants);
  g_autofree const char **definitions = join_names (reader->definitions, NULL);
  BasePlace place = { line->source, line->number, line_column (line, line->at) };
  BasePlace start = { line->source, line->number, 1 };
  g_autoptr (PredictExpression) formula = NULL, again = NULL;
  PredictUnit unit, seconds;

  reader->names = (PredictNames){
    variables,
    parameters,
    definitions,
    (const PredictExpression *const *) reader->bodies->pdata,
  };
  formula = predict_expression_parse (line->at, &reader->names, &place, line->error);
  if (formula == NULL)
    return FALSE;
  /* With the bodies of its definitions, the formula may be nested too deep to be parsed again. */
  text = predict_expression_text (formula, &reader->names);
  again = predict_expression_parse (text, &reader->names, &place, NULL);
  if (again == NULL)
    return line_fail (line, line->at,
                      "with what its names stand for, the formula is nested more than %u deep",
                      PREDICT_MAX_DEPTH);
  if (reader->has_units) {
    g_autoptr (GArray) units = g_array_copy (reader->unit_of_parameter);

    g_array_append_vals (units, reader->unit_of_constant->data, reader->unit_of_constant->len);
    if (!predict_unit_of (formula, &reader->names, &reader->units,
                          (const PredictUnit *) (const void *) reader->unit_of_variable->data,
                          (const PredictUnit *) (const void *) units->data, &place, &unit,
                          line->error))
      return FALSE;
  }
  if (strcmp (name, "time") != 0) {
    g_ptr_array_add (reader->definitions, g_steal_pointer (&owned));
    g_ptr_array_add (reader->bodies, g_steal_pointer (&formula));
    return TRUE;
  }
  reader->time = g_steal_pointer (&formula);
  if (!reader->has_units)
    return TRUE;
  of_time = predict_unit_text (&reader->units, &unit);
  if (!predict_unit_parse (&reader->units, "s", &start, &seconds, line->error))
    return FALSE;
  return predict_unit_equal (&unit, &seconds) ||
         line_fail (line, line->text, "time is in %s, not in s", of_time);
}

/* A declaration, a definition or the model. */
static gboolean
read_line (ModelReader *reader)
{
  static const struct {
    const char *word;
    gboolean (*read) (ModelReader *reader);
  } declarations[] = {
    { "variable", read_variables },
    { "constant", read_constant },
    { "parameter", read_parameter },
  };
  Line *line = &reader->line;
  const char *begin;
  g_autofree char *name = NULL;

  line_skip_blanks (line);
  begin = line->at;
  if (*begin == '\0')
    return TRUE;
  if (reader->time != NULL)
    return line_fail (line, begin, "time = ... is the last line");
  name = line_name (line);
  if (name == NULL)
    return line_fail (line, begin, "expected variable, constant, parameter or NAME = FORMULA");
  if (line_take (line, '=')) {
    const char *formula = line->at;

    if (strcmp (name, "time") == 0)
      return read_formula (reader, g_steal_pointer (&name));
    g_free (name);
    line->at = begin;
    name = reader_new_name (reader);
    line->at = formula;
    return name != NULL && read_formula (reader, g_steal_pointer (&name));
  }
  line->at = begin;
  if (reader->definitions->len > 0)
    return line_fail (line, begin, "declarations stand above all formulas");
  for (guint at = 0; at < G_N_ELEMENTS (declarations); at++)
    if (line_word (line, declarations[at].word))
      return declarations[at].read (reader);
  return read_parameter (reader);
}

/* All lines, without their comments. */
static gboolean
read_lines (ModelReader *reader, const char *text)
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
  if (reader->time == NULL)
    return line_fail (&reader->line, reader->line.at, "there is no line \"time = ...\"");
  for (guint parameter = 0; parameter < reader->parameters->len; parameter++) {
    bool is_used = false;

    for (uint32_t at = 0; at < reader->time->n; at++)
      is_used |= reader->time->steps[at].op == PREDICT_OP_PARAMETER &&
                 reader->time->steps[at].index == (int32_t) parameter;
    if (!is_used)
      return line_fail (&reader->line, reader->line.at, "time does not depend on parameter \"%s\"",
                        (const char *) reader->parameters->pdata[parameter]);
  }
  return TRUE;
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

/* The texts with a NULL behind them; the array is then empty. */
static char **
take_texts (GPtrArray *array)
{
  g_ptr_array_add (array, NULL);
  return (char **) g_ptr_array_steal (array, NULL);
}

static PredictBaseModel *
make_model (ModelReader *reader)
{
  PredictBaseModel *model = g_new0 (PredictBaseModel, 1);

  model->source = g_strdup (reader->line.source);
  model->n_variables = reader->variables->len;
  model->n_parameters = reader->parameters->len;
  model->n_constants = reader->constants->len;
  model->parameters = copy_parameters (reader->parameter);
  model->constants = copy_parameters (reader->constant);
  model->names.variables = (const char *const *) take_texts (reader->variables);
  model->names.parameters = (const char *const *) take_texts (reader->parameters);
  model->variable_units = take_texts (reader->variable_units);
  model->written = g_steal_pointer (&reader->time);
  model->time = predict_expression_copy (model->written);
  /* Constants become numbers. */
  for (uint32_t at = 0; at < model->time->n; at++) {
    PredictStep *step = &model->time->steps[at];
    int32_t constant = step->index - (int32_t) model->n_parameters;

    if (step->op != PREDICT_OP_PARAMETER || constant < 0)
      continue;
    step->op = PREDICT_OP_CONSTANT;
    step->value = g_array_index (reader->constant, PredictParameter, constant).value;
    step->index = 0;
  }
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
  ModelReader reader = {
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

  if (read_lines (&reader, text))
    model = make_model (&reader);
  predict_expression_free (reader.time);
  predict_units_clear (&reader.units);
  return model;
}

/* --- The model --- */

/* A larger file is not a model. */
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

void
predict_base_model_free (PredictBaseModel *model)
{
  if (model == NULL)
    return;
  g_strfreev ((char **) model->names.variables);
  g_strfreev ((char **) model->names.parameters);
  for (uint32_t at = 0; at < model->n_variables; at++)
    g_free (model->variable_units[at]);
  g_free (model->variable_units);
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

/* --- Columns for formulas that are bred from a model --- */

gboolean
predict_base_model_add_variables (PredictBaseModel *model, const char *const *names, GError **error)
{
  for (; *names != NULL; names++) {
    const char *name = *names, *trouble = NULL;

    if (*name == '\0' || predict_token_name (name) != strlen (name))
      trouble = "is no name that a formula can have";
    else if (predict_token_function (name) != PREDICT_N_OPS)
      trouble = "is a function";
    else if (!strcmp (name, "in") || !strcmp (name, "time"))
      trouble = "has a meaning of its own in model files";
    for (uint32_t at = 0; trouble == NULL && at < model->n_parameters + model->n_constants; at++) {
      const PredictParameter *parameter = at < model->n_parameters
                                              ? &model->parameters[at]
                                              : &model->constants[at - model->n_parameters];

      if (!strcmp (parameter->name, name))
        trouble = "is a parameter or a constant of the model";
    }
    if (trouble != NULL) {
      g_set_error (error, BASE_ERROR, BASE_ERROR_TEXT, "%s: \"%s\" %s", model->source, name,
                   trouble);
      return FALSE;
    }
    if (!g_strv_contains (model->names.variables, name)) {
      uint32_t n = model->n_variables++;
      char **variables = g_renew (char *, (char **) model->names.variables, n + 2);

      variables[n] = g_strdup (name);
      variables[n + 1] = NULL;
      model->names.variables = (const char *const *) variables;
      model->variable_units = g_renew (char *, model->variable_units, n + 2);
      model->variable_units[n] = model->variable_units[n + 1] = NULL;
    }
  }
  return TRUE;
}

/* --- A model and the rows of a table --- */

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

double *
predict_base_model_times (const PredictBaseModel *model, const PredictTable *table, GError **error)
{
  uint32_t n_variables = model->n_variables, n_names = 0;
  g_autofree bool *named = g_new0 (bool, n_variables + 1);
  g_autofree const double **columns = g_new0 (const double *, n_variables + 1);
  g_autofree const char **names = g_new0 (const char *, n_variables + 1);
  const PredictPoints points = { columns, table->n_rows };
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  g_autofree double *parameters = predict_base_model_values (model);
  g_autofree double *times = g_new (double, table->n_rows + 1);
  g_autofree char *why = NULL;
  uint64_t row = 0;

  /* Only the variables that the formula names need a column. */
  for (uint32_t at = 0; at < model->time->n; at++)
    if (model->time->steps[at].op == PREDICT_OP_VARIABLE)
      named[model->time->steps[at].index] = true;
  for (uint32_t at = 0; at < n_variables; at++)
    if (named[at])
      names[n_names++] = model->names.variables[at];
  if (!predict_table_has_all (table, names, error))
    return NULL;
  for (uint32_t at = 0; at < n_variables; at++)
    if (named[at] &&
        !(columns[at] = predict_table_finite (table, model->names.variables[at], error)))
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
  predict_table_refuse (table, row, error, "%s: %s", model->source, why);
  return NULL;
}
