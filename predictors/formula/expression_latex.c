/* expression_latex.c - formulas as LaTeX.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/formula/expression_writer.h"

#include <stdlib.h>
#include <string.h>

static void
latex_number (PredictWriter *writer, double value)
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
latex_name (PredictWriter *writer, const char *name)
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
latex_parameter (PredictWriter *writer, uint32_t index)
{
  latex_name (writer, writer->names->parameters[index]);
}

static void
latex_power (PredictWriter *writer, uint32_t root)
{
  const PredictStep *step = predict_writer_step (writer, root);
  uint32_t base = predict_writer_left (writer, root);

  /* A number with its own power of ten is no base. */
  if (predict_writer_step (writer, base)->op == PREDICT_OP_CONSTANT)
    predict_write_enclosed (writer, base);
  else
    predict_write_tree (writer, base, BIND_ATOM);
  g_string_append (writer->out, "^{");
  if (step->op == PREDICT_OP_POWER)
    predict_write_tree (writer, root - 1, BIND_ALL);
  else
    g_string_append_printf (writer->out, "%d", step->index);
  g_string_append_c (writer->out, '}');
}

static void
latex_fraction (PredictWriter *writer, uint32_t root)
{
  g_string_append (writer->out, "\\frac{");
  predict_write_tree (writer, predict_writer_left (writer, root), BIND_ALL);
  g_string_append (writer->out, "}{");
  predict_write_tree (writer, root - 1, BIND_ALL);
  g_string_append_c (writer->out, '}');
}

static void
latex_call (PredictWriter *writer, uint32_t root)
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
  PredictOp op = predict_writer_step (writer, root)->op;

  if (op == PREDICT_OP_POWER || op == PREDICT_OP_INTEGER_POWER)
    latex_power (writer, root);
  else if (op == PREDICT_OP_DIVIDE)
    latex_fraction (writer, root);
  else
    predict_write_operands (writer, root, around[op].before, around[op].behind);
}

static const PredictDialect latex_dialect = {
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
  return predict_write_all ((PredictWriter){
      .dialect = &latex_dialect,
      .expression = expression,
      .names = names,
  });
}
