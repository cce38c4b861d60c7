/* expression_text.c - formulas read from text, and written as text, LaTeX and C.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/decimal.h"
#include "base/words.h"
#include "predictors/formula/expression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How tightly operators bind.  A sign binds less than a power: -a^2 is -(a^2). */
enum { BIND_ALL, BIND_SUM, BIND_PRODUCT, BIND_SIGN, BIND_POWER, BIND_ATOM };

/* --- Words and numbers --- */

/* The character at `at`, for messages; the caller frees. */
static char *
token_found (const char *at)
{
  gunichar letter = *at != '\0' ? g_utf8_get_char_validated (at, -1) : 0;

  if (*at == '\0')
    return g_strdup ("the end");
  if (letter == (gunichar) -1 || letter == (gunichar) -2 || !g_unichar_isprint (letter))
    return g_strdup_printf ("the byte 0x%02x", (guint8) *at);
  return g_strdup_printf ("\"%.*s\"", (int) (g_utf8_next_char (at) - at), at);
}

static bool
token_begins_name (char letter)
{
  return g_ascii_isalpha (letter) || letter == '_';
}

gsize
predict_token_name (const char *at)
{
  gsize n = 0;

  if (token_begins_name (*at))
    while (g_ascii_isalnum (at[n]) || at[n] == '_')
      n++;
  return n;
}

static bool
token_begins_number (const char *at)
{
  return g_ascii_isdigit (at[0]) || (at[0] == '.' && g_ascii_isdigit (at[1]));
}

/* Past the digits, the point and the exponent; NULL when there is no number.  *integer: there were
 * digits only. */
static const char *
token_number (const char *at, bool *integer)
{
  const char *end = at;

  if (!token_begins_number (at))
    return NULL;
  while (g_ascii_isdigit (*end))
    end++;
  *integer = *end != '.' && *end != 'e' && *end != 'E';
  if (*end == '.')
    for (end++; g_ascii_isdigit (*end);)
      end++;
  if (*end == 'e' || *end == 'E') {
    const char *exponent = end + 1 + (end[1] == '+' || end[1] == '-');

    for (; g_ascii_isdigit (*exponent); exponent++)
      end = exponent + 1;
  }
  return end;
}

PredictOp
predict_token_function (const char *name)
{
  for (PredictOp op = 0; op < PREDICT_N_OPS; op++)
    if (predict_ops[op].is_function && strcmp (predict_ops[op].name, name) == 0)
      return op;
  return PREDICT_N_OPS;
}

/* --- Parsing --- */

/* A parser of binding powers (V. R. Pratt, "Top down operator precedence", POPL 1973): an
 * operand is read, then every operator that binds at least as tightly as asked for. */

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
  const char *end = token_number (parser->at, &integer);
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
fail_unknown (Parser *parser, const char *at, const char *name)
{
  const char *const *const lists[] = { parser->names->variables, parser->names->parameters,
                                       parser->names->definitions };
  g_autoptr (GString) known = g_string_new (NULL);
  g_autoptr (GPtrArray) all = g_ptr_array_new ();
  g_autofree char *meant = NULL;
  guint n;

  for (guint list = 0; list < G_N_ELEMENTS (lists); list++)
    for (uint32_t i = 0; lists[list] != NULL && lists[list][i] != NULL; i++)
      g_ptr_array_add (all, (gpointer) lists[list][i]);
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
    g_autofree char *instead = token_found (parser->at);

    fail (parser, parser->at, "%s takes %u operand%s and then \")\", not %s", predict_ops[op].name,
          predict_ops[op].n_operands, predict_ops[op].n_operands == 1 ? "" : "s", instead);
    return false;
  }
  parser->at++;
  return append_op (parser, at, op);
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
  if (definition != NO_STEP) {
    const PredictExpression *body = names->bodies[definition];

    for (uint32_t step = 0; step < body->n; step++)
      if (!append (parser, at, body->steps[step]))
        return false;
    return true;
  }
  if (function != PREDICT_N_OPS)
    return parse_function (parser, at, function);
  if (strcmp (name, "pi") == 0)
    return append (parser, at, (PredictStep){ .op = PREDICT_OP_CONSTANT, .value = G_PI });
  fail_unknown (parser, at, name);
  return false;
}

/* A number, a name, or a formula with a sign or in parentheses. */
static bool
parse_operand (Parser *parser)
{
  const char *at, *end, *next;
  bool integer;
  g_autofree char *instead = NULL;

  skip_blanks (parser);
  at = parser->at;
  if (token_begins_number (at))
    return parse_number (parser, at, 1);
  if (token_begins_name (*at))
    return parse_name (parser);
  if (*at == '-') {
    /* A sign before a number belongs to the number, unless a power follows. */
    parser->at++;
    skip_blanks (parser);
    end = token_number (parser->at, &integer);
    for (next = end; next != NULL && g_ascii_isspace (*next);)
      next++;
    if (end != NULL && *next != '^' && !g_str_has_prefix (next, "**"))
      return parse_number (parser, at, -1);
    return parse_formula (parser, BIND_SIGN) && append_op (parser, at, PREDICT_OP_NEGATE);
  }
  if (*at != '(') {
    instead = token_found (at);
    fail (parser, at, "expected a number, a name or \"(\", not %s", instead);
    return false;
  }
  parser->at++;
  if (!parse_formula (parser, BIND_ALL))
    return false;
  skip_blanks (parser);
  if (*parser->at != ')') {
    instead = token_found (parser->at);
    fail (parser, parser->at, "expected an operator or the \")\" of column %u, not %s",
          column_of (parser, at), instead);
    return false;
  }
  parser->at++;
  return true;
}

/* The operator behind an operand, its right operand and its step.  *found: there was an operator that
 * binds tighter than `binding`. */
static bool
parse_operator (Parser *parser, int binding, bool *found)
{
  const char *at;
  uint32_t first = parser->steps->len;
  PredictOp op = PREDICT_N_OPS;
  int binds = BIND_ALL;

  skip_blanks (parser);
  at = parser->at;
  switch (*at) {
  case '+':
    op = PREDICT_OP_ADD;
    binds = BIND_SUM;
    break;
  case '-':
    op = PREDICT_OP_SUBTRACT;
    binds = BIND_SUM;
    break;
  case '/':
    op = PREDICT_OP_DIVIDE;
    binds = BIND_PRODUCT;
    break;
  case '^':
    op = PREDICT_OP_POWER;
    binds = BIND_POWER;
    break;
  case '*':
    op = at[1] == '*' ? PREDICT_OP_POWER : PREDICT_OP_MULTIPLY;
    binds = at[1] == '*' ? BIND_POWER : BIND_PRODUCT;
    break;
  default: break;
  }
  *found = binds > binding;
  if (!*found)
    return true;
  parser->at += g_str_has_prefix (at, "**") ? 2 : 1;
  /* A power takes powers and signs to its right: a^-b^c. */
  if (!parse_formula (parser, op == PREDICT_OP_POWER ? BIND_SIGN : binds))
    return false;
  /* A power whose exponent was written as an integer is a step of its own. */
  if (op == PREDICT_OP_POWER && parser->integer == first && parser->steps->len == first + 1) {
    double exponent = g_array_index (parser->steps, PredictStep, first).value;

    if (fabs (exponent) <= PREDICT_MAX_EXPONENT) {
      g_array_set_size (parser->steps, first);
      return append (parser, at,
                     (PredictStep){ .op = PREDICT_OP_INTEGER_POWER, .index = (int32_t) exponent });
    }
  }
  return append_op (parser, at, op);
}

/* As far as operators bind tighter than `binding`. */
static bool
parse_formula (Parser *parser, int binding)
{
  bool parsed, found = true;

  if (parser->depth == PREDICT_MAX_DEPTH) {
    fail (parser, parser->at, "the formula is nested more than %u deep", PREDICT_MAX_DEPTH);
    return false;
  }
  parser->depth++;
  parsed = parse_operand (parser);
  while (parsed && found)
    parsed = parse_operator (parser, binding, &found);
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
    g_autofree char *instead = token_found (parser.at);

    fail (&parser, parser.at, "expected an operator, not %s", instead);
    return NULL;
  }
  return predict_expression_new ((const PredictStep *) (const void *) steps->data, steps->len);
}

/* --- Writing ---
 *
 * One walk down the tree sets parentheses where an operator binds less tightly than its surroundings
 * need.  The order of operations is part of a formula's rounding, so that a + (b + c) keeps its
 * parentheses. */

typedef struct Writer Writer;

typedef struct {
  const char *add, *subtract, *multiply, *divide;
  const char *open, *close;
  void (*number) (Writer *writer, double value);
  void (*name) (Writer *writer, const char *name);
  /* Functions, and operators that are not written between their operands. */
  void (*call) (Writer *writer, uint32_t root);
  int divide_binds;
  int negate_takes; /* how tightly its operand must bind; C has a -- of its own */
  bool powers_are_calls;
} Dialect;

struct Writer {
  GString *out;
  const Dialect *dialect;
  const PredictExpression *expression;
  const PredictNames *names;
  const double *parameters; /* written in place of their names; NULL: names are written */
};

static void write_tree (Writer *writer, uint32_t root, int least);

char *
predict_number_text (double value)
{
  char text[BASE_DECIMAL_SIZE];

  return g_strdup (base_decimal_print (text, value));
}

/* The left operand of two, or the only one.  The right one is root - 1. */
static uint32_t
writer_left (const Writer *writer, uint32_t root)
{
  if (predict_ops[writer->expression->steps[root].op].n_operands == 1)
    return root - 1;
  return predict_expression_first (writer->expression, root - 1) - 1;
}

/* The step that ends at `at`; a subtree is named by it. */
static const PredictStep *
writer_step (const Writer *writer, uint32_t at)
{
  return &writer->expression->steps[at];
}

static bool
is_negative (const Writer *writer, uint32_t at)
{
  const PredictStep *step = writer_step (writer, at);

  if (step->op == PREDICT_OP_PARAMETER && writer->parameters != NULL)
    return signbit (writer->parameters[step->index]) != 0;
  return step->op == PREDICT_OP_CONSTANT && signbit (step->value) != 0;
}

static int
binding (const Writer *writer, uint32_t at)
{
  switch (writer_step (writer, at)->op) {
  case PREDICT_OP_ADD:
  case PREDICT_OP_SUBTRACT: return BIND_SUM;
  case PREDICT_OP_MULTIPLY: return BIND_PRODUCT;
  case PREDICT_OP_DIVIDE: return writer->dialect->divide_binds;
  case PREDICT_OP_NEGATE: return BIND_SIGN;
  case PREDICT_OP_POWER:
  case PREDICT_OP_INTEGER_POWER: return writer->dialect->powers_are_calls ? BIND_ATOM : BIND_POWER;
  default: return is_negative (writer, at) ? BIND_SIGN : BIND_ATOM;
  }
}

/* With parentheses. */
static void
write_enclosed (Writer *writer, uint32_t root)
{
  g_string_append (writer->out, writer->dialect->open);
  write_tree (writer, root, BIND_ALL);
  g_string_append (writer->out, writer->dialect->close);
}

static void
write_between (Writer *writer, uint32_t root, const char *sign, int binds)
{
  write_tree (writer, writer_left (writer, root), binds);
  g_string_append (writer->out, sign);
  write_tree (writer, root - 1, binds + 1);
}

/* With parentheses if it binds less tightly than `least`. */
static void
write_tree (Writer *writer, uint32_t root, int least)
{
  const PredictStep *step = writer_step (writer, root);
  const Dialect *dialect = writer->dialect;

  if (binding (writer, root) < least) {
    write_enclosed (writer, root);
    return;
  }
  switch (step->op) {
  case PREDICT_OP_CONSTANT: dialect->number (writer, step->value); break;
  case PREDICT_OP_VARIABLE: dialect->name (writer, writer->names->variables[step->index]); break;
  case PREDICT_OP_PARAMETER:
    if (writer->parameters != NULL)
      dialect->number (writer, writer->parameters[step->index]);
    else
      dialect->name (writer, writer->names->parameters[step->index]);
    break;
  case PREDICT_OP_ADD: write_between (writer, root, dialect->add, BIND_SUM); break;
  case PREDICT_OP_SUBTRACT: write_between (writer, root, dialect->subtract, BIND_SUM); break;
  case PREDICT_OP_MULTIPLY: write_between (writer, root, dialect->multiply, BIND_PRODUCT); break;
  case PREDICT_OP_NEGATE:
    g_string_append_c (writer->out, '-');
    /* A number directly after a sign would take the sign as its own. */
    if (writer_step (writer, root - 1)->op == PREDICT_OP_CONSTANT &&
        !is_negative (writer, root - 1))
      write_enclosed (writer, root - 1);
    else
      write_tree (writer, root - 1, dialect->negate_takes);
    break;
  case PREDICT_OP_DIVIDE:
    if (dialect->divide != NULL) {
      write_between (writer, root, dialect->divide, BIND_PRODUCT);
      break;
    }
    G_GNUC_FALLTHROUGH;
  default: dialect->call (writer, root);
  }
}

/* The whole formula; `out` is made here. */
static char *
write_all (Writer writer)
{
  writer.out = g_string_new (NULL);
  write_tree (&writer, writer.expression->n - 1, BIND_ALL);
  return g_string_free (writer.out, FALSE);
}

/* One or two operands, between the texts `before` and `behind`. */
static void
write_operands (Writer *writer, uint32_t root, const char *before, const char *behind)
{
  g_string_append (writer->out, before);
  write_tree (writer, writer_left (writer, root), BIND_ALL);
  if (predict_ops[writer_step (writer, root)->op].n_operands == 2) {
    g_string_append (writer->out, ", ");
    write_tree (writer, root - 1, BIND_ALL);
  }
  g_string_append (writer->out, behind);
}

/* --- The text that the parser reads --- */

/* With the fewest digits that read back to the same double. */
static void
write_number (Writer *writer, double value)
{
  char text[BASE_DECIMAL_SIZE];

  g_string_append (writer->out, base_decimal_print (text, value));
}

static void
write_name (Writer *writer, const char *name)
{
  g_string_append (writer->out, name);
}

static void
text_call (Writer *writer, uint32_t root)
{
  const PredictStep *step = writer_step (writer, root);

  if (step->op == PREDICT_OP_POWER || step->op == PREDICT_OP_INTEGER_POWER) {
    write_tree (writer, writer_left (writer, root), BIND_ATOM);
    g_string_append_c (writer->out, '^');
    if (step->op == PREDICT_OP_POWER) {
      /* The point distinguishes 2.0, exp (2 log x), from the 2 of x x. */
      gsize from = writer->out->len;

      write_tree (writer, root - 1, BIND_SIGN);
      if (writer_step (writer, root - 1)->op == PREDICT_OP_CONSTANT &&
          strpbrk (writer->out->str + from, ".e") == NULL)
        g_string_append (writer->out, ".0");
    } else
      g_string_append_printf (writer->out, "%d", step->index);
    return;
  }
  g_string_append (writer->out, predict_ops[step->op].name);
  write_operands (writer, root, "(", ")");
}

static const Dialect text_dialect = {
  .add = " + ",
  .subtract = " - ",
  .multiply = "*",
  .divide = "/",
  .open = "(",
  .close = ")",
  .number = write_number,
  .name = write_name,
  .call = text_call,
  .divide_binds = BIND_PRODUCT,
  .negate_takes = BIND_SIGN,
};

char *
predict_expression_text (const PredictExpression *expression, const PredictNames *names)
{
  return write_all ((Writer){
      .dialect = &text_dialect,
      .expression = expression,
      .names = names,
  });
}

/* --- LaTeX --- */

static void
latex_number (Writer *writer, double value)
{
  g_autofree char *text = predict_number_text (value);
  char *e = strchr (text, 'e');

  if (e != NULL)
    *e = '\0';
  g_string_append (writer->out, text);
  if (e != NULL)
    g_string_append_printf (writer->out, " \\times 10^{%d}", atoi (e + 1));
}

static void
latex_name (Writer *writer, const char *name)
{
  if (name[1] == '\0' && name[0] != '_') {
    g_string_append_c (writer->out, name[0]);
    return;
  }
  g_string_append (writer->out, "\\mathrm{");
  for (; *name != '\0'; name++)
    g_string_append_printf (writer->out, "%s%c", *name == '_' ? "\\" : "", *name);
  g_string_append_c (writer->out, '}');
}

static void
latex_call (Writer *writer, uint32_t root)
{
  static const struct {
    const char *before, *behind;
  } around[PREDICT_N_OPS] = {
    [PREDICT_OP_MIN] = { "\\min\\left(", "\\right)" },
    [PREDICT_OP_MAX] = { "\\max\\left(", "\\right)" },
    [PREDICT_OP_LOG] = { "\\log\\left(", "\\right)" },
    [PREDICT_OP_LOG2] = { "\\log_{2}\\left(", "\\right)" },
    [PREDICT_OP_EXP] = { "\\exp\\left(", "\\right)" },
    [PREDICT_OP_SQRT] = { "\\sqrt{", "}" },
    [PREDICT_OP_SIN] = { "\\sin\\left(", "\\right)" },
    [PREDICT_OP_COS] = { "\\cos\\left(", "\\right)" },
    [PREDICT_OP_ABS] = { "\\left|", "\\right|" },
    [PREDICT_OP_CEIL] = { "\\left\\lceil ", "\\right\\rceil" },
    [PREDICT_OP_FLOOR] = { "\\left\\lfloor ", "\\right\\rfloor" },
  };
  const PredictStep *step = writer_step (writer, root);
  uint32_t left = writer_left (writer, root);

  if (step->op == PREDICT_OP_DIVIDE) {
    g_string_append (writer->out, "\\frac{");
    write_tree (writer, left, BIND_ALL);
    g_string_append (writer->out, "}{");
    write_tree (writer, root - 1, BIND_ALL);
    g_string_append_c (writer->out, '}');
  } else if (step->op == PREDICT_OP_POWER || step->op == PREDICT_OP_INTEGER_POWER) {
    /* A number with its own power of ten is no base. */
    if (writer_step (writer, left)->op == PREDICT_OP_CONSTANT)
      write_enclosed (writer, left);
    else
      write_tree (writer, left, BIND_ATOM);
    g_string_append (writer->out, "^{");
    if (step->op == PREDICT_OP_POWER)
      write_tree (writer, root - 1, BIND_ALL);
    else
      g_string_append_printf (writer->out, "%d", step->index);
    g_string_append_c (writer->out, '}');
  } else
    write_operands (writer, root, around[step->op].before, around[step->op].behind);
}

static const Dialect latex_dialect = {
  .add = " + ",
  .subtract = " - ",
  .multiply = " \\cdot ",
  .open = "\\left(",
  .close = "\\right)",
  .number = latex_number,
  .name = latex_name,
  .call = latex_call,
  .divide_binds = BIND_POWER,
  .negate_takes = BIND_SIGN,
};

char *
predict_expression_latex (const PredictExpression *expression, const PredictNames *names)
{
  return write_all ((Writer){
      .dialect = &latex_dialect,
      .expression = expression,
      .names = names,
  });
}

/* --- C --- */

/* Never an int: 1 / 2 would be 0. */
static void
c_number (Writer *writer, double value)
{
  gsize from = writer->out->len;

  write_number (writer, value);
  if (strpbrk (writer->out->str + from, ".e") == NULL)
    g_string_append (writer->out, ".0");
}

/* Words of C up to C23 and of GNU C, macros of <math.h> and the functions that are called cannot be
 * variables. */
static const char *const c_words[] = {
  "auto",         "break",   "case",     "char",      "const",    "continue", "default",
  "do",           "double",  "else",     "enum",      "extern",   "float",    "for",
  "goto",         "if",      "inline",   "int",       "long",     "register", "restrict",
  "return",       "short",   "signed",   "sizeof",    "static",   "struct",   "switch",
  "typedef",      "union",   "unsigned", "void",      "volatile", "while",    "pow",
  "fmin",         "fmax",    "log",      "log2",      "exp",      "sqrt",     "sin",
  "cos",          "fabs",    "ceil",     "floor",     "asm",      "typeof",   "typeof_unqual",
  "alignas",      "alignof", "bool",     "constexpr", "false",    "nullptr",  "static_assert",
  "thread_local", "true",    "NAN",      "INFINITY",  NULL,
};

/* Such a word gets an underscore more than it has. */
static void
c_name (Writer *writer, const char *name)
{
  gsize n = strlen (name);

  while (n > 0 && name[n - 1] == '_')
    n--;

  g_autofree char *word = g_strndup (name, n);

  g_string_append_printf (writer->out, "%s%s", name, g_strv_contains (c_words, word) ? "_" : "");
}

static void
c_call (Writer *writer, uint32_t root)
{
  static const char *const functions[PREDICT_N_OPS] = {
    [PREDICT_OP_POWER] = "pow",   [PREDICT_OP_INTEGER_POWER] = "pow", [PREDICT_OP_MIN] = "fmin",
    [PREDICT_OP_MAX] = "fmax",    [PREDICT_OP_LOG] = "log",           [PREDICT_OP_LOG2] = "log2",
    [PREDICT_OP_EXP] = "exp",     [PREDICT_OP_SQRT] = "sqrt",         [PREDICT_OP_SIN] = "sin",
    [PREDICT_OP_COS] = "cos",     [PREDICT_OP_ABS] = "fabs",          [PREDICT_OP_CEIL] = "ceil",
    [PREDICT_OP_FLOOR] = "floor",
  };
  const PredictStep *step = writer_step (writer, root);

  g_string_append (writer->out, functions[step->op]);
  if (step->op != PREDICT_OP_INTEGER_POWER) {
    write_operands (writer, root, " (", ")");
    return;
  }
  write_operands (writer, root, " (", ", ");
  g_string_append_printf (writer->out, "%d.0)", step->index);
}

static const Dialect c_dialect = {
  .add = " + ",
  .subtract = " - ",
  .multiply = " * ",
  .divide = " / ",
  .open = "(",
  .close = ")",
  .number = c_number,
  .name = c_name,
  .call = c_call,
  .divide_binds = BIND_PRODUCT,
  .negate_takes = BIND_POWER,
  .powers_are_calls = true,
};

char *
predict_expression_c (const PredictExpression *expression, const PredictNames *names,
                      const double *parameters, const char *name)
{
  g_autoptr (GString) text = g_string_new ("#include <math.h>\n\ndouble\n");
  Writer writer = {
    .out = text,
    .dialect = &c_dialect,
    .expression = expression,
    .names = names,
    .parameters = parameters,
  };

  g_string_append_printf (text, "%s (", name);
  for (guint at = 0; names->variables != NULL && names->variables[at] != NULL; at++) {
    g_string_append (text, at > 0 ? ", double " : "double ");
    c_name (&writer, names->variables[at]);
  }
  if (names->variables == NULL || names->variables[0] == NULL)
    g_string_append (text, "void");
  g_string_append (text, ")\n{\n  return ");
  write_tree (&writer, expression->n - 1, BIND_ALL);
  g_string_append (text, ";\n}\n");
  return g_string_free (g_steal_pointer (&text), FALSE);
}
