/* base_model_parse.c - a performance model from its text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/base_model.h"

#include "predictors/units.h"

#include <math.h>
#include <string.h>

typedef struct {
  const char *source;
  const char *text, *at; /* the line, without its comment */
  guint line;
  GPtrArray *variables, *parameters, *constants, *definitions; /* char *: names */
  GPtrArray *variable_units;                                   /* char *, NULL: none */
  GArray *parameter, *constant;                                /* PredictParameter */
  GPtrArray *bodies;                                           /* PredictExpression */
  PredictExpression *time;
  PredictNames names; /* of all that formulas may name: constants are parameters after the others */
  bool has_units;
  PredictUnits units;
  GArray *unit_of_variable, *unit_of_parameter, *unit_of_constant; /* PredictUnit */
  GError **error;
} Reader;

static guint
column_of (const Reader *reader, const char *at)
{
  return 1 + (guint) (at - reader->text);
}

static gboolean G_GNUC_PRINTF (3, 4) fail (Reader *reader, const char *at, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list arguments;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (reader->error, PREDICT_ERROR, PREDICT_ERROR_MODEL, "%s:%u:%u: %s", reader->source,
               reader->line, column_of (reader, at), message);
  return FALSE;
}

static void
skip_blanks (Reader *reader)
{
  while (g_ascii_isspace (*reader->at))
    reader->at++;
}

/* Whether this character is next; then past it. */
static bool
take (Reader *reader, char wanted)
{
  skip_blanks (reader);
  if (*reader->at != wanted)
    return false;
  reader->at++;
  return true;
}

/* NULL: there is no name here. */
static char *
take_name (Reader *reader)
{
  const char *begin;

  skip_blanks (reader);
  begin = reader->at;
  if (g_ascii_isalpha (*begin) || *begin == '_')
    while (g_ascii_isalnum (*reader->at) || *reader->at == '_')
      reader->at++;
  return reader->at > begin ? g_strndup (begin, (gsize) (reader->at - begin)) : NULL;
}

static bool
take_word (Reader *reader, const char *word)
{
  const char *begin = reader->at;
  g_autofree char *name = take_name (reader);

  if (g_strcmp0 (name, word) == 0)
    return true;
  reader->at = begin;
  return false;
}

static gboolean
take_number (Reader *reader, const char *what, double *number)
{
  char *end;

  skip_blanks (reader);
  *number = g_ascii_strtod (reader->at, &end);
  if (end == reader->at || !isfinite (*number))
    return fail (reader, reader->at, "expected %s, a number", what);
  reader->at = end;
  return TRUE;
}

static gboolean
expect_end (Reader *reader)
{
  skip_blanks (reader);
  return *reader->at == '\0' ||
         fail (reader, reader->at, "\"%s\" does not belong here", reader->at);
}

/* [in UNIT], to the end of the line. */
static gboolean
take_unit (Reader *reader, char **text, PredictUnit *unit)
{
  PredictPlace place = { reader->source, reader->line, 0 };
  const char *begin;

  *text = NULL;
  *unit = (PredictUnit){ { 0 } };
  if (!take_word (reader, "in"))
    return expect_end (reader);
  skip_blanks (reader);
  begin = reader->at;
  while (*reader->at != '\0' && !g_ascii_isspace (*reader->at))
    reader->at++;
  *text = g_strndup (begin, (gsize) (reader->at - begin));
  place.column = column_of (reader, begin);
  reader->has_units = true;
  return predict_unit_parse (&reader->units, *text, &place, unit, reader->error) &&
         expect_end (reader);
}

static bool
is_among (GPtrArray *names, const char *name)
{
  return g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL);
}

static bool
is_function (const char *name)
{
  for (guint op = 0; op < PREDICT_N_OPS; op++)
    if (predict_ops[op].is_function && strcmp (predict_ops[op].name, name) == 0)
      return true;
  return false;
}

/* A name that is declared here, `at`; NULL: it cannot be. */
static char *
take_new_name (Reader *reader)
{
  const char *at;
  g_autofree char *name = NULL;

  skip_blanks (reader);
  at = reader->at;
  name = take_name (reader);
  if (name == NULL)
    fail (reader, at, "expected a name");
  else if (is_function (name))
    fail (reader, at, "\"%s\" is a function", name);
  else if (is_among (reader->variables, name) || is_among (reader->parameters, name) ||
           is_among (reader->constants, name) || is_among (reader->definitions, name))
    fail (reader, at, "\"%s\" was declared before", name);
  else if (strcmp (name, "time") == 0)
    fail (reader, at, "\"time\" is the model: time = ...");
  else
    return g_steal_pointer (&name);
  return NULL;
}

static gboolean
read_variables (Reader *reader)
{
  guint first = reader->variables->len;
  g_autofree char *text = NULL;
  PredictUnit unit;

  do {
    char *name = take_new_name (reader);

    if (name == NULL)
      return FALSE;
    g_ptr_array_add (reader->variables, name);
  } while (take (reader, ','));
  if (!take_unit (reader, &text, &unit))
    return FALSE;
  for (guint at = first; at < reader->variables->len; at++) {
    g_ptr_array_add (reader->variable_units, g_strdup (text));
    g_array_append_val (reader->unit_of_variable, unit);
  }
  return TRUE;
}

static gboolean
read_constant (Reader *reader)
{
  PredictParameter constant = { .name = take_new_name (reader) };
  PredictUnit unit;

  if (constant.name == NULL)
    return FALSE;
  g_ptr_array_add (reader->constants, constant.name);
  if (!take_number (reader, "the value", &constant.value) ||
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
take_bounds (Reader *reader, PredictParameter *parameter)
{
  const char *at;

  skip_blanks (reader);
  at = reader->at;
  if (!take (reader, '['))
    return fail (reader, at, "parameter \"%s\" has no bounds: %s %g [LOW, HIGH]", parameter->name,
                 parameter->name, parameter->value);
  if (!take_number (reader, "the lower bound", &parameter->low))
    return FALSE;
  if (!take (reader, ','))
    return fail (reader, reader->at, "expected \",\" and the upper bound");
  if (!take_number (reader, "the upper bound", &parameter->high))
    return FALSE;
  if (!take (reader, ']'))
    return fail (reader, reader->at, "expected \"]\"");
  if (!(parameter->low < parameter->high))
    return fail (reader, at, "the lower bound is not below the upper one");
  if (parameter->value < parameter->low || parameter->value > parameter->high)
    return fail (reader, at, "%g, the value of \"%s\", is not within its bounds", parameter->value,
                 parameter->name);
  return TRUE;
}

static gboolean
read_parameter (Reader *reader)
{
  PredictParameter parameter = { .name = take_new_name (reader) };
  const char *at;
  PredictUnit unit;

  if (parameter.name == NULL)
    return FALSE;
  g_ptr_array_add (reader->parameters, parameter.name);
  if (!take_number (reader, "the value", &parameter.value) || !take_bounds (reader, &parameter))
    return FALSE;
  skip_blanks (reader);
  at = reader->at;
  parameter.log = take_word (reader, "log");
  if (parameter.log && !(parameter.low > 0))
    return fail (reader, at, "there is no logarithm of the lower bound of \"%s\"", parameter.name);
  if (!take_unit (reader, &parameter.unit, &unit)) {
    g_free (parameter.unit);
    return FALSE;
  }
  g_array_append_val (reader->parameter, parameter);
  g_array_append_val (reader->unit_of_parameter, unit);
  return TRUE;
}

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
check_units (Reader *reader, const PredictExpression *formula, const PredictPlace *place,
             PredictUnit *unit)
{
  g_autoptr (GArray) parameters = g_array_copy (reader->unit_of_parameter);

  g_array_append_vals (parameters, reader->unit_of_constant->data, reader->unit_of_constant->len);
  return predict_unit_of (formula, &reader->names, &reader->units,
                          (const PredictUnit *) (const void *) reader->unit_of_variable->data,
                          (const PredictUnit *) (const void *) parameters->data, place, unit,
                          reader->error);
}

static gboolean
check_time (Reader *reader, const PredictUnit *unit)
{
  PredictPlace place = { reader->source, reader->line, 1 };
  g_autofree char *text = predict_unit_text (&reader->units, unit);
  PredictUnit seconds;

  if (!predict_unit_parse (&reader->units, "s", &place, &seconds, reader->error))
    return FALSE;
  return predict_unit_equal (unit, &seconds) ||
         fail (reader, reader->text, "time is in %s, not in s", text);
}

/* What is put in for names may nest deeper than can be written. */
static gboolean
check_depth (Reader *reader, const PredictExpression *formula, const PredictPlace *place)
{
  g_autofree char *text = predict_expression_text (formula, &reader->names);
  g_autoptr (PredictExpression) again =
      predict_expression_parse (text, &reader->names, place, NULL);

  return again != NULL || fail (reader, reader->at,
                                "with what its names stand for, the formula is nested more than "
                                "%u deep",
                                PREDICT_MAX_DEPTH);
}

/* NAME = FORMULA, behind the "="; takes the name, which is "time" or new. */
static gboolean
read_formula (Reader *reader, char *name)
{
  g_autofree char *owned = name;
  g_autofree const char **variables = join_names (reader->variables, NULL);
  g_autofree const char **parameters = join_names (reader->parameters, reader->constants);
  g_autofree const char **definitions = join_names (reader->definitions, NULL);
  PredictPlace place = { reader->source, reader->line, column_of (reader, reader->at) };
  g_autoptr (PredictExpression) formula = NULL;
  PredictUnit unit;

  reader->names = (PredictNames){
    variables,
    parameters,
    definitions,
    (const PredictExpression *const *) reader->bodies->pdata,
  };
  formula = predict_expression_parse (reader->at, &reader->names, &place, reader->error);
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

typedef struct {
  const char *word;
  gboolean (*read) (Reader *reader);
} Declaration;

static gboolean
read_declaration (Reader *reader)
{
  static const Declaration declarations[] = {
    { "variable", read_variables },
    { "constant", read_constant },
    { "parameter", read_parameter },
  };
  const char *begin = reader->at;

  if (reader->definitions->len > 0)
    return fail (reader, begin, "declarations stand above all formulas");
  for (guint at = 0; at < G_N_ELEMENTS (declarations); at++)
    if (take_word (reader, declarations[at].word))
      return declarations[at].read (reader);
  return read_parameter (reader);
}

static gboolean
read_line (Reader *reader)
{
  const char *begin;
  g_autofree char *name = NULL;

  skip_blanks (reader);
  begin = reader->at;
  if (*begin == '\0')
    return TRUE;
  if (reader->time != NULL)
    return fail (reader, begin, "time = ... is the last line");
  name = take_name (reader);
  if (name == NULL)
    return fail (reader, begin, "expected variable, constant, parameter or NAME = FORMULA");
  if (take (reader, '=')) {
    const char *formula = reader->at;

    if (strcmp (name, "time") == 0)
      return read_formula (reader, g_steal_pointer (&name));
    g_free (name);
    reader->at = begin;
    name = take_new_name (reader);
    reader->at = formula;
    return name != NULL && read_formula (reader, g_steal_pointer (&name));
  }
  reader->at = begin;
  return read_declaration (reader);
}

/* Line by line; comments are cut off. */
static gboolean
read_lines (Reader *reader, const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint at = 0; lines[at] != NULL; at++) {
    char *comment = strchr (lines[at], '#');

    if (comment != NULL)
      *comment = '\0';
    reader->text = reader->at = lines[at];
    reader->line = at + 1;
    if (!read_line (reader))
      return FALSE;
  }
  reader->text = reader->at = "";
  return reader->time != NULL || fail (reader, reader->at, "there is no line \"time = ...\"");
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
check_use (Reader *reader)
{
  for (guint at = 0; at < reader->parameters->len; at++)
    if (!is_used (reader->time, at))
      return fail (reader, reader->at, "time does not depend on parameter \"%s\"",
                   (const char *) reader->parameters->pdata[at]);
  return TRUE;
}

/* Constants are numbers from here on. */
static PredictExpression *
with_constants (const Reader *reader)
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
make_model (const Reader *reader)
{
  PredictBaseModel *model = g_new0 (PredictBaseModel, 1);

  model->source = g_strdup (reader->source);
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
  Reader reader = {
    .source = source,
    .line = 1,
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
    .error = error,
  };
  PredictBaseModel *model = NULL;

  if (read_lines (&reader, text) && check_use (&reader))
    model = make_model (&reader);
  predict_expression_free (reader.time);
  predict_units_clear (&reader.units);
  return model;
}
