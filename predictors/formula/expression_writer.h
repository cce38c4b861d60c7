/* expression_writer.h - what the dialects share in which formulas are written.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/formula/expression.h"

/* How tightly operators bind, from what asks for nothing to what needs no parentheses. */
enum { BIND_ALL, BIND_SUM, BIND_PRODUCT, BIND_SIGN, BIND_POWER, BIND_ATOM };

typedef struct PredictWriter PredictWriter;

typedef struct {
  const char *add, *subtract, *multiply, *divide;
  const char *open, *close;
  void (*number) (PredictWriter *writer, double value);
  void (*name) (PredictWriter *writer, const char *name);
  void (*parameter) (PredictWriter *writer, uint32_t index);
  /* Functions, and the operators that this dialect does not write between their operands. */
  void (*call) (PredictWriter *writer, uint32_t root);
  int divide_binds;
  int negate_takes; /* how tightly its operand must bind; C has a -- of its own */
  bool powers_are_calls;
} PredictDialect;

struct PredictWriter {
  GString *out;
  const PredictDialect *dialect;
  const PredictExpression *expression;
  const PredictNames *names;
  const double *parameters; /* of C */
};

/* The step that ends at `at`; a subtree is named by it. */
const PredictStep *predict_writer_step (const PredictWriter *writer, uint32_t at);
/* The left operand of two, or the only one.  The right one is root - 1. */
uint32_t predict_writer_left (const PredictWriter *writer, uint32_t root);

/* With parentheses if it binds less tightly than `least`. */
void predict_write_tree (PredictWriter *writer, uint32_t root, int least);
/* With parentheses. */
void predict_write_enclosed (PredictWriter *writer, uint32_t root);
/* One or two operands, with what stands before and behind them. */
void predict_write_operands (PredictWriter *writer, uint32_t root, const char *before,
                             const char *behind);
/* With the fewest digits that read back to the same double. */
void predict_write_number (PredictWriter *writer, double value);

/* The whole formula; `out` is made here. */
char *predict_write_all (PredictWriter writer);
