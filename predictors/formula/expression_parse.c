/* expression_parse.c - formulas from their text.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A parser of binding powers (V. R. Pratt, "Top down operator precedence", POPL 1973): an
 * operand is read, then every operator that binds at least as tightly as asked for. */
#include "config.h"

#include "predictors/formula/expression_tokens.h"

#include "base/words.h"

#include <math.h>
#include <string.h>

/* How tightly operators bind.  A sign binds less than a power: -a^2 is -(a^2). */
enum { BIND_ALL, BIND_SUM, BIND_PRODUCT, BIND_SIGN, BIND_POWER };

/* Names that are listed when one is not known. */
#define MOST_NAMES 12u

#define NO_STEP UINT32_MAX

typedef struct {
  const char *text, *at;
  const PredictNames *names;
  BasePlace place;
  GArray *steps;    /* PredictStep */
  guint depth;      /* of nesting */
  uint32_t integer; /* the last step that was written as an integer; NO_STEP */
  GError **error;
} Parser;

/* All that was read up to here is ASCII: a byte is a column. */
static guint
column_of (const Parser *parser, const char *at)
{
  return parser->place.column + (guint) (at - parser->text);
}

static void G_GNUC_PRINTF (3, 4) fail (Parser *parser, const char *at, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  base_fail_at_v (&parser->place, column_of (parser, at), parser->error, format, arguments);
  va_end (arguments);
}

static void
skip_blanks (Parser *parser)
{
  while (g_ascii_isspace (*parser->at))
    parser->at++;
}

static bool
append (Parser *parser, const char *at, PredictStep step)
{
  if (parser->steps->len == PREDICT_MAX_STEPS) {
    fail (parser, at, "the formula has more than %u operations and operands", PREDICT_MAX_STEPS);
    return false;
  }
  step.column = (uint16_t) MIN (column_of (parser, at), UINT16_MAX);
  g_array_append_val (parser->steps, step);
  return true;
}

static bool
append_op (Parser *parser, const char *at, PredictOp op)
{
  return append (parser, at, (PredictStep){ .op = (uint8_t) op });
}

static bool parse_formula (Parser *parser, int binding);

/* `at` is where its sign, if it has one, stands. */
static bool
parse_number (Parser *parser, const char *at, double sign)
{
  bool integer;
  const char *end = predict_token_number (parser->at, &integer);
  g_autofree char *digits = g_strndup (parser->at, end - parser->at);
  double value = g_ascii_strtod (digits, NULL);

  if (!isfinite (value)) {
    fail (parser, parser->at, "%s is larger than any number", digits);
    return false;
  }
  if (predict_token_name (end) > 0 || *end == '.') {
    fail (parser, end, "an operator must stand between %s and what follows", digits);
    return false;
  }
  parser->at = end;
  parser->integer = integer ? parser->steps->len : NO_STEP;
  return append (parser, at, (PredictStep){ .op = PREDICT_OP_CONSTANT, .value = sign * value });
}

/* NO_STEP: it is not among them. */
static uint32_t
find_name (const char *const *names, const char *name)
{
  for (uint32_t at = 0; names != NULL && names[at] != NULL; at++)
    if (strcmp (names[at], name) == 0)
      return at;
  return NO_STEP;
}

static void
add_names (GPtrArray *all, const char *const *names)
{
  for (uint32_t at = 0; names != NULL && names[at] != NULL; at++)
    g_ptr_array_add (all, (gpointer) names[at]);
}

static void
fail_unknown (Parser *parser, const char *at, const char *name)
{
  g_autoptr (GString) known = g_string_new (NULL);
  g_autoptr (GPtrArray) all = g_ptr_array_new ();
  g_autofree char *meant = NULL;
  guint n;

  add_names (all, parser->names->variables);
  add_names (all, parser->names->parameters);
  add_names (all, parser->names->definitions);
  n = all->len;
  g_ptr_array_add (all, NULL);
  for (guint i = 0; i < MIN (n, MOST_NAMES); i++)
    g_string_append_printf (known, "%s%s", i > 0 ? ", " : "", (const char *) all->pdata[i]);
  if (n > MOST_NAMES)
    g_string_append_printf (known, " and %u more", n - MOST_NAMES);
  meant = base_did_you_mean (name, (const char *const *) all->pdata);
  fail (parser, at, "\"%s\" is not known; there %s %s%s", name, n == 1 ? "is" : "are",
        n == 0 ? "no names" : known->str, meant);
}

static bool
parse_function (Parser *parser, const char *at, PredictOp op)
{
  for (guint operand = 0; operand < predict_ops[op].n_operands; operand++) {
    char wanted = operand == 0 ? '(' : ',';

    skip_blanks (parser);
    if (*parser->at != wanted) {
      fail (parser, parser->at, "%s must be followed by \"%c\"",
            operand == 0 ? predict_ops[op].name : "the first operand of two", wanted);
      return false;
    }
    parser->at++;
    if (!parse_formula (parser, BIND_ALL))
      return false;
  }
  skip_blanks (parser);
  if (*parser->at != ')') {
    g_autofree char *instead = predict_token_found (parser->at);

    fail (parser, parser->at, "%s takes %u operand%s and then \")\", not %s", predict_ops[op].name,
          predict_ops[op].n_operands, predict_ops[op].n_operands == 1 ? "" : "s", instead);
    return false;
  }
  parser->at++;
  return append_op (parser, at, op);
}

static bool
append_body (Parser *parser, const char *at, const PredictExpression *body)
{
  for (uint32_t step = 0; step < body->n; step++)
    if (!append (parser, at, body->steps[step]))
      return false;
  return true;
}

static bool
parse_name (Parser *parser)
{
  const char *at = parser->at;
  gsize n = predict_token_name (at);
  g_autofree char *name = g_strndup (at, n);
  const PredictNames *names = parser->names;
  uint32_t variable = find_name (names->variables, name);
  uint32_t parameter = find_name (names->parameters, name);
  uint32_t definition = find_name (names->definitions, name);
  PredictOp function = predict_token_function (name);

  parser->at += n;
  if (variable != NO_STEP)
    return append (parser, at,
                   (PredictStep){ .op = PREDICT_OP_VARIABLE, .index = (int32_t) variable });
  if (parameter != NO_STEP)
    return append (parser, at,
                   (PredictStep){ .op = PREDICT_OP_PARAMETER, .index = (int32_t) parameter });
  if (definition != NO_STEP)
    return append_body (parser, at, names->bodies[definition]);
  if (function != PREDICT_N_OPS)
    return parse_function (parser, at, function);
  if (strcmp (name, "pi") == 0)
    return append (parser, at, (PredictStep){ .op = PREDICT_OP_CONSTANT, .value = G_PI });
  fail_unknown (parser, at, name);
  return false;
}

/* A sign before a number belongs to the number, unless a power follows. */
static bool
parse_sign (Parser *parser)
{
  const char *at = parser->at++, *end, *next;
  bool integer;

  skip_blanks (parser);
  end = predict_token_number (parser->at, &integer);
  for (next = end; next != NULL && g_ascii_isspace (*next);)
    next++;
  if (end != NULL && *next != '^' && !g_str_has_prefix (next, "**"))
    return parse_number (parser, at, -1);
  return parse_formula (parser, BIND_SIGN) && append_op (parser, at, PREDICT_OP_NEGATE);
}

static bool
parse_parenthesis (Parser *parser)
{
  const char *open = parser->at++;

  if (!parse_formula (parser, BIND_ALL))
    return false;
  skip_blanks (parser);
  if (*parser->at != ')') {
    g_autofree char *instead = predict_token_found (parser->at);

    fail (parser, parser->at, "expected an operator or the \")\" of column %u, not %s",
          column_of (parser, open), instead);
    return false;
  }
  parser->at++;
  return true;
}

static bool
parse_operand (Parser *parser)
{
  skip_blanks (parser);
  if (predict_token_begins_number (parser->at))
    return parse_number (parser, parser->at, 1);
  if (predict_token_begins_name (*parser->at))
    return parse_name (parser);
  if (*parser->at == '-')
    return parse_sign (parser);
  if (*parser->at == '(')
    return parse_parenthesis (parser);

  g_autofree char *instead = predict_token_found (parser->at);

  fail (parser, parser->at, "expected a number, a name or \"(\", not %s", instead);
  return false;
}

/* The operator at hand and how tightly it binds; BIND_ALL: there is none. */
static int
operator_here (const Parser *parser, PredictOp *op, guint *length)
{
  *length = 1;
  *op = PREDICT_N_OPS;
  switch (*parser->at) {
  case '+': *op = PREDICT_OP_ADD; return BIND_SUM;
  case '-': *op = PREDICT_OP_SUBTRACT; return BIND_SUM;
  case '/': *op = PREDICT_OP_DIVIDE; return BIND_PRODUCT;
  case '^': *op = PREDICT_OP_POWER; return BIND_POWER;
  case '*':
    *length = parser->at[1] == '*' ? 2 : 1;
    *op = *length == 2 ? PREDICT_OP_POWER : PREDICT_OP_MULTIPLY;
    return *length == 2 ? BIND_POWER : BIND_PRODUCT;
  default: return BIND_ALL;
  }
}

/* After the exponent, whose first step is `first`: a power of an integer when it was one. */
static bool
append_power (Parser *parser, const char *at, uint32_t first)
{
  double exponent = g_array_index (parser->steps, PredictStep, first).value;

  if (parser->integer != first || parser->steps->len != first + 1 ||
      fabs (exponent) > PREDICT_MAX_EXPONENT)
    return append_op (parser, at, PREDICT_OP_POWER);
  g_array_set_size (parser->steps, first);
  return append (parser, at,
                 (PredictStep){ .op = PREDICT_OP_INTEGER_POWER, .index = (int32_t) exponent });
}

static bool
parse_operators (Parser *parser, int binding)
{
  PredictOp op;
  guint length;
  int here;

  for (skip_blanks (parser); (here = operator_here (parser, &op, &length)) > binding;
       skip_blanks (parser)) {
    const char *at = parser->at;
    uint32_t first = parser->steps->len;

    parser->at += length;
    /* A power takes powers and signs to its right: a^-b^c. */
    if (!parse_formula (parser, op == PREDICT_OP_POWER ? BIND_SIGN : here))
      return false;
    if (!(op == PREDICT_OP_POWER ? append_power (parser, at, first) : append_op (parser, at, op)))
      return false;
  }
  return true;
}

/* As far as operators bind tighter than `binding`. */
static bool
parse_formula (Parser *parser, int binding)
{
  bool parsed;

  if (parser->depth == PREDICT_MAX_DEPTH) {
    fail (parser, parser->at, "the formula is nested more than %u deep", PREDICT_MAX_DEPTH);
    return false;
  }
  parser->depth++;
  parsed = parse_operand (parser) && parse_operators (parser, binding);
  parser->depth--;
  return parsed;
}

PredictExpression *
predict_expression_parse (const char *text, const PredictNames *names, const BasePlace *place,
                          GError **error)
{
  static const BasePlace nowhere = { NULL, 1, 1 };
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (PredictStep));
  Parser parser = {
    .text = text,
    .at = text,
    .names = names,
    .place = place != NULL ? *place : nowhere,
    .steps = steps,
    .integer = NO_STEP,
    .error = error,
  };

  if (!parse_formula (&parser, BIND_ALL))
    return NULL;
  skip_blanks (&parser);
  if (*parser.at != '\0') {
    g_autofree char *instead = predict_token_found (parser.at);

    fail (&parser, parser.at, "expected an operator, not %s", instead);
    return NULL;
  }
  return predict_expression_new ((const PredictStep *) (const void *) steps->data, steps->len);
}
