/* expression_c.c - formulas as functions of C.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/formula/expression_writer.h"

#include <string.h>

/* Never an int: 1 / 2 would be 0. */
static void
c_number (PredictWriter *writer, double value)
{
  gsize from = writer->out->len;

  predict_write_number (writer, value);
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
c_name (PredictWriter *writer, const char *name)
{
  gsize n = strlen (name);

  while (n > 0 && name[n - 1] == '_')
    n--;

  g_autofree char *word = g_strndup (name, n);

  g_string_append_printf (writer->out, "%s%s", name, g_strv_contains (c_words, word) ? "_" : "");
}

static void
c_parameter (PredictWriter *writer, uint32_t index)
{
  c_number (writer, writer->parameters[index]);
}

static void
c_call (PredictWriter *writer, uint32_t root)
{
  static const char *const functions[PREDICT_N_OPS] = {
    [PREDICT_OP_POWER] = "pow",   [PREDICT_OP_INTEGER_POWER] = "pow", [PREDICT_OP_MIN] = "fmin",
    [PREDICT_OP_MAX] = "fmax",    [PREDICT_OP_LOG] = "log",           [PREDICT_OP_LOG2] = "log2",
    [PREDICT_OP_EXP] = "exp",     [PREDICT_OP_SQRT] = "sqrt",         [PREDICT_OP_SIN] = "sin",
    [PREDICT_OP_COS] = "cos",     [PREDICT_OP_ABS] = "fabs",          [PREDICT_OP_CEIL] = "ceil",
    [PREDICT_OP_FLOOR] = "floor",
  };
  const PredictStep *step = predict_writer_step (writer, root);

  g_string_append (writer->out, functions[step->op]);
  if (step->op != PREDICT_OP_INTEGER_POWER) {
    predict_write_operands (writer, root, " (", ")");
    return;
  }
  predict_write_operands (writer, root, " (", ", ");
  g_string_append_printf (writer->out, "%d.0)", step->index);
}

static const PredictDialect c_dialect = {
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
  PredictWriter writer = {
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
  predict_write_tree (&writer, expression->n - 1, BIND_ALL);
  g_string_append (text, ";\n}\n");
  return g_string_free (g_steal_pointer (&text), FALSE);
}
