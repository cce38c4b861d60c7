/* expression_print.c - formulas as text that the parser reads.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * One walk down the tree sets parentheses where an operator binds less tightly than what
 * is around it asks for.  The order of operations is part of a formula's rounding, so that
 * a + (b + c) keeps its parentheses. */
#include "config.h"

#include "base/decimal.h"
#include "predictors/formula/expression_writer.h"

#include <math.h>
#include <string.h>

char *
predict_number_text (double value)
{
  char text[BASE_DECIMAL_SIZE];

  return g_strdup (base_decimal_print (text, value));
}

uint32_t
predict_writer_left (const PredictWriter *writer, uint32_t root)
{
  if (predict_ops[writer->expression->steps[root].op].n_operands == 1)
    return root - 1;
  return predict_expression_first (writer->expression, root - 1) - 1;
}

const PredictStep *
predict_writer_step (const PredictWriter *writer, uint32_t at)
{
  return &writer->expression->steps[at];
}

static bool
is_negative (const PredictWriter *writer, uint32_t at)
{
  const PredictStep *step = predict_writer_step (writer, at);

  if (step->op == PREDICT_OP_PARAMETER && writer->parameters != NULL)
    return signbit (writer->parameters[step->index]) != 0;
  return step->op == PREDICT_OP_CONSTANT && signbit (step->value) != 0;
}

static int
binding (const PredictWriter *writer, uint32_t at)
{
  switch (predict_writer_step (writer, at)->op) {
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

void
predict_write_enclosed (PredictWriter *writer, uint32_t root)
{
  g_string_append (writer->out, writer->dialect->open);
  predict_write_tree (writer, root, BIND_ALL);
  g_string_append (writer->out, writer->dialect->close);
}

static void
write_between (PredictWriter *writer, uint32_t root, const char *sign, int binds)
{
  predict_write_tree (writer, predict_writer_left (writer, root), binds);
  g_string_append (writer->out, sign);
  predict_write_tree (writer, root - 1, binds + 1);
}

/* A number directly after a sign would take the sign as its own. */
static void
write_negated (PredictWriter *writer, uint32_t root)
{
  g_string_append_c (writer->out, '-');
  if (predict_writer_step (writer, root - 1)->op == PREDICT_OP_CONSTANT &&
      !is_negative (writer, root - 1))
    predict_write_enclosed (writer, root - 1);
  else
    predict_write_tree (writer, root - 1, writer->dialect->negate_takes);
}

static void
write_here (PredictWriter *writer, uint32_t root)
{
  const PredictStep *step = predict_writer_step (writer, root);
  const PredictDialect *dialect = writer->dialect;

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

void
predict_write_tree (PredictWriter *writer, uint32_t root, int least)
{
  if (binding (writer, root) < least)
    predict_write_enclosed (writer, root);
  else
    write_here (writer, root);
}

char *
predict_write_all (PredictWriter writer)
{
  writer.out = g_string_new (NULL);
  predict_write_tree (&writer, writer.expression->n - 1, BIND_ALL);
  return g_string_free (writer.out, FALSE);
}

void
predict_write_operands (PredictWriter *writer, uint32_t root, const char *before,
                        const char *behind)
{
  g_string_append (writer->out, before);
  predict_write_tree (writer, predict_writer_left (writer, root), BIND_ALL);
  if (predict_ops[predict_writer_step (writer, root)->op].n_operands == 2) {
    g_string_append (writer->out, ", ");
    predict_write_tree (writer, root - 1, BIND_ALL);
  }
  g_string_append (writer->out, behind);
}

/* As the parser reads it. */

void
predict_write_number (PredictWriter *writer, double value)
{
  char text[BASE_DECIMAL_SIZE];

  g_string_append (writer->out, base_decimal_print (text, value));
}

static void
text_name (PredictWriter *writer, const char *name)
{
  g_string_append (writer->out, name);
}

static void
text_parameter (PredictWriter *writer, uint32_t index)
{
  g_string_append (writer->out, writer->names->parameters[index]);
}

/* The point tells 2.0, exp (2 log x), from the 2 of x x. */
static void
text_exponent (PredictWriter *writer, uint32_t at)
{
  gsize from = writer->out->len;

  predict_write_tree (writer, at, BIND_SIGN);
  if (predict_writer_step (writer, at)->op == PREDICT_OP_CONSTANT &&
      strpbrk (writer->out->str + from, ".e") == NULL)
    g_string_append (writer->out, ".0");
}

static void
text_call (PredictWriter *writer, uint32_t root)
{
  const PredictStep *step = predict_writer_step (writer, root);

  if (step->op == PREDICT_OP_POWER || step->op == PREDICT_OP_INTEGER_POWER) {
    predict_write_tree (writer, predict_writer_left (writer, root), BIND_ATOM);
    g_string_append_c (writer->out, '^');
    if (step->op == PREDICT_OP_POWER)
      text_exponent (writer, root - 1);
    else
      g_string_append_printf (writer->out, "%d", step->index);
    return;
  }
  g_string_append (writer->out, predict_ops[step->op].name);
  predict_write_operands (writer, root, "(", ")");
}

static const PredictDialect text_dialect = {
  .add = " + ",
  .subtract = " - ",
  .multiply = "*",
  .divide = "/",
  .open = "(",
  .close = ")",
  .number = predict_write_number,
  .name = text_name,
  .parameter = text_parameter,
  .call = text_call,
  .divide_binds = BIND_PRODUCT,
  .negate_takes = BIND_SIGN,
};

char *
predict_expression_text (const PredictExpression *expression, const PredictNames *names)
{
  return predict_write_all ((PredictWriter){
      .dialect = &text_dialect,
      .expression = expression,
      .names = names,
  });
}
