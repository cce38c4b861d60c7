/* expression_print.c - formulas as text, LaTeX and C.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * One walk down the tree sets parentheses where an operator binds less tightly than what
 * is around it asks for.  The order of operations is part of a formula's rounding, so that
 * a + (b + c) keeps its parentheses. */
#include "config.h"

#include "predictors/expression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BIND_ALL, BIND_SUM, BIND_PRODUCT, BIND_SIGN, BIND_POWER, BIND_ATOM };

typedef struct Writer Writer;

typedef struct {
  const char *add, *subtract, *multiply, *divide;
  const char *open, *close;
  void (*number) (Writer *writer, double value);
  void (*name) (Writer *writer, const char *name);
  void (*parameter) (Writer *writer, uint32_t index);
  /* Functions, and the operators that this dialect does not write between their operands. */
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
  const double *parameters; /* of C */
};

static void write_tree (Writer *writer, uint32_t root, int least);

char *
predict_number_text (double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  for (int digits = 15; digits <= 17; digits++) {
    char format[8];

    g_snprintf (format, sizeof format, "%%.%dg", digits);
    g_ascii_formatd (text, sizeof text, format, value);
    if (g_ascii_strtod (text, NULL) == value)
      break;
  }
  return g_strdup (text);
}

/* The left operand of two, or the only one. */
static uint32_t
left_of (const Writer *writer, uint32_t root)
{
  if (predict_ops[writer->expression->steps[root].op].n_operands == 1)
    return root - 1;
  return predict_expression_first (writer->expression, root - 1) - 1;
}

static const PredictStep *
step_at (const Writer *writer, uint32_t at)
{
  return &writer->expression->steps[at];
}

static bool
is_negative (const Writer *writer, uint32_t at)
{
  const PredictStep *step = step_at (writer, at);

  if (step->op == PREDICT_OP_PARAMETER && writer->parameters != NULL)
    return signbit (writer->parameters[step->index]) != 0;
  return step->op == PREDICT_OP_CONSTANT && signbit (step->value) != 0;
}

static int
binding (const Writer *writer, uint32_t at)
{
  switch (step_at (writer, at)->op) {
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
  write_tree (writer, left_of (writer, root), binds);
  g_string_append (writer->out, sign);
  write_tree (writer, root - 1, binds + 1);
}

/* A number directly after a sign would take the sign as its own. */
static void
write_negated (Writer *writer, uint32_t root)
{
  g_string_append_c (writer->out, '-');
  if (step_at (writer, root - 1)->op == PREDICT_OP_CONSTANT && !is_negative (writer, root - 1))
    write_enclosed (writer, root - 1);
  else
    write_tree (writer, root - 1, writer->dialect->negate_takes);
}

static void
write_step (Writer *writer, uint32_t root)
{
  const PredictStep *step = step_at (writer, root);
  const Dialect *dialect = writer->dialect;

  switch (step->op) {
  case PREDICT_OP_CONSTANT: dialect->number (writer, step->value); break;
  case PREDICT_OP_VARIABLE: dialect->name (writer, writer->names->variables[step->index]); break;
  case PREDICT_OP_PARAMETER: dialect->parameter (writer, (uint32_t) step->index); break;
  case PREDICT_OP_ADD: write_between (writer, root, dialect->add, BIND_SUM); break;
  case PREDICT_OP_SUBTRACT: write_between (writer, root, dialect->subtract, BIND_SUM); break;
  case PREDICT_OP_MULTIPLY: write_between (writer, root, dialect->multiply, BIND_PRODUCT); break;
  case PREDICT_OP_NEGATE: write_negated (writer, root); break;
  case PREDICT_OP_DIVIDE:
    if (dialect->divide != NULL) {
      write_between (writer, root, dialect->divide, BIND_PRODUCT);
      break;
    }
    G_GNUC_FALLTHROUGH;
  default: dialect->call (writer, root);
  }
}

static void
write_tree (Writer *writer, uint32_t root, int least)
{
  if (binding (writer, root) < least)
    write_enclosed (writer, root);
  else
    write_step (writer, root);
}

static char *
write_all (Writer writer)
{
  writer.out = g_string_new (NULL);
  write_tree (&writer, writer.expression->n - 1, BIND_ALL);
  return g_string_free (writer.out, FALSE);
}

/* name (a, b), with what stands before the operands and behind them. */
static void
write_operands (Writer *writer, uint32_t root, const char *before, const char *behind)
{
  g_string_append (writer->out, before);
  write_tree (writer, left_of (writer, root), BIND_ALL);
  if (predict_ops[step_at (writer, root)->op].n_operands == 2) {
    g_string_append (writer->out, ", ");
    write_tree (writer, root - 1, BIND_ALL);
  }
  g_string_append (writer->out, behind);
}

/* As the parser reads it. */

static void
text_number (Writer *writer, double value)
{
  g_autofree char *text = predict_number_text (value);

  g_string_append (writer->out, text);
}

static void
text_name (Writer *writer, const char *name)
{
  g_string_append (writer->out, name);
}

static void
text_parameter (Writer *writer, uint32_t index)
{
  g_string_append (writer->out, writer->names->parameters[index]);
}

/* The point tells 2.0, exp (2 log x), from the 2 of x x. */
static void
text_exponent (Writer *writer, uint32_t at)
{
  gsize from = writer->out->len;

  write_tree (writer, at, BIND_SIGN);
  if (step_at (writer, at)->op == PREDICT_OP_CONSTANT &&
      strpbrk (writer->out->str + from, ".e") == NULL)
    g_string_append (writer->out, ".0");
}

static void
text_call (Writer *writer, uint32_t root)
{
  const PredictStep *step = step_at (writer, root);

  if (step->op == PREDICT_OP_POWER || step->op == PREDICT_OP_INTEGER_POWER) {
    write_tree (writer, left_of (writer, root), BIND_ATOM);
    g_string_append_c (writer->out, '^');
    if (step->op == PREDICT_OP_POWER)
      text_exponent (writer, root - 1);
    else
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
  .number = text_number,
  .name = text_name,
  .parameter = text_parameter,
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

/* LaTeX. */

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
latex_parameter (Writer *writer, uint32_t index)
{
  latex_name (writer, writer->names->parameters[index]);
}

static void
latex_power (Writer *writer, uint32_t root)
{
  const PredictStep *step = step_at (writer, root);
  uint32_t base = left_of (writer, root);

  /* A number with its own power of ten is no base. */
  if (step_at (writer, base)->op == PREDICT_OP_CONSTANT)
    write_enclosed (writer, base);
  else
    write_tree (writer, base, BIND_ATOM);
  g_string_append (writer->out, "^{");
  if (step->op == PREDICT_OP_POWER)
    write_tree (writer, root - 1, BIND_ALL);
  else
    g_string_append_printf (writer->out, "%d", step->index);
  g_string_append_c (writer->out, '}');
}

static void
latex_fraction (Writer *writer, uint32_t root)
{
  g_string_append (writer->out, "\\frac{");
  write_tree (writer, left_of (writer, root), BIND_ALL);
  g_string_append (writer->out, "}{");
  write_tree (writer, root - 1, BIND_ALL);
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
  PredictOp op = step_at (writer, root)->op;

  if (op == PREDICT_OP_POWER || op == PREDICT_OP_INTEGER_POWER)
    latex_power (writer, root);
  else if (op == PREDICT_OP_DIVIDE)
    latex_fraction (writer, root);
  else
    write_operands (writer, root, around[op].before, around[op].behind);
}

static const Dialect latex_dialect = {
  .add = " + ",
  .subtract = " - ",
  .multiply = " \\cdot ",
  .open = "\\left(",
  .close = "\\right)",
  .number = latex_number,
  .name = latex_name,
  .parameter = latex_parameter,
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

/* C. */

/* Never an int: 1 / 2 would be 0. */
static void
c_number (Writer *writer, double value)
{
  gsize from = writer->out->len;

  text_number (writer, value);
  if (strpbrk (writer->out->str + from, ".e") == NULL)
    g_string_append (writer->out, ".0");
}

/* Words of the language, and the functions that are called, cannot be variables. */
static const char *const c_words[] = {
  "auto",     "break",  "case",   "char",     "const",    "continue", "default",  "do",
  "double",   "else",   "enum",   "extern",   "float",    "for",      "goto",     "if",
  "inline",   "int",    "long",   "register", "restrict", "return",   "short",    "signed",
  "sizeof",   "static", "struct", "switch",   "typedef",  "union",    "unsigned", "void",
  "volatile", "while",  "pow",    "fmin",     "fmax",     "log",      "log2",     "exp",
  "sqrt",     "sin",    "cos",    "fabs",     "ceil",     "floor",    NULL,
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
c_parameter (Writer *writer, uint32_t index)
{
  c_number (writer, writer->parameters[index]);
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
  const PredictStep *step = step_at (writer, root);

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
  .parameter = c_parameter,
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
