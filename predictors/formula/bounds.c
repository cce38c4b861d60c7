/* bounds.c - the bounds of a formula over a box of its variables.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/formula/bounds.h"

#include "predictors/formula/elementary.h"

#include <float.h>
#include <string.h>

/* Relative widening: more than the error of an operation that is rounded once, of an elementary
 * function, and of a power, whose exponent's rounding is magnified by up to 1075. */
#define ROUNDED  0x1p-52
#define FUNCTION 0x1p-50
#define POWER    0x1p-40

static const PredictRange nowhere = { INFINITY, -INFINITY, true };
static const PredictRange anywhere = { -INFINITY, INFINITY, true };

/* An end that is 0 stays so: no operation errs in the sign, and the root of a number that
 * is not negative must stay defined.  An infinite end means a pole or an overflow. */
static PredictRange
outward (double low, double high, double share, bool undefined)
{
  double below = low != 0 ? low - share * fabs (low) - DBL_TRUE_MIN : 0;
  double above = high != 0 ? high + share * fabs (high) + DBL_TRUE_MIN : 0;
  PredictRange range = {
    isinf (low) ? MIN (low, DBL_MAX) : below,
    isinf (high) ? MAX (high, -DBL_MAX) : above,
    undefined || isinf (low) || isinf (high) || isinf (below) || isinf (above),
  };

  return isnan (low) || isnan (high) ? anywhere : range;
}

static bool
holds (PredictRange range, double value)
{
  return range.low <= value && value <= range.high;
}

/* Of finite factors, however large: 0 times them is 0. */
static double
product (double a, double b)
{
  return a == 0 || b == 0 ? 0 : a * b;
}

/* Around the four values that an operation, monotonic in each operand, has at the corners. */
static PredictRange
corners (double (*of) (double a, double b), PredictRange a, PredictRange b, double share)
{
  const double values[] = { of (a.low, b.low), of (a.low, b.high), of (a.high, b.low),
                            of (a.high, b.high) };
  double low = values[0], high = values[0];

  for (guint i = 1; i < G_N_ELEMENTS (values); i++) {
    if (isnan (values[i]))
      return anywhere;
    low = MIN (low, values[i]);
    high = MAX (high, values[i]);
  }
  return outward (low, high, share, a.undefined || b.undefined);
}

static double
quotient (double a, double b)
{
  return a == 0 || isinf (b) ? 0 : a / b;
}

static PredictRange
divide (PredictRange a, PredictRange b)
{
  PredictRange inverse = { -INFINITY, INFINITY, true };

  if (!holds (b, 0))
    return corners (quotient, a, b, ROUNDED);
  if (b.low == 0 && b.high == 0)
    return nowhere;
  if (b.low == 0)
    inverse.low = quotient (1, b.high);
  if (b.high == 0)
    inverse.high = quotient (1, b.low);
  return corners (product, a, inverse, 4 * ROUNDED);
}

/* x^y of x >= 0, as a limit where x is 0 or infinite. */
static double
limit_of_power (double x, double y)
{
  double log_x = x == 0 ? -HUGE_VAL : isinf (x) ? x : predict_log2 (x);
  double exponent = product (y, log_x);

  if (isinf (exponent))
    return exponent > 0 ? (double) INFINITY : 0;
  return predict_power (2, exponent);
}

static double
raised (double x, int exponent)
{
  double value = 1;

  for (int i = 0; i < exponent; i++)
    value *= x;
  return value;
}

static PredictRange
integer_power (PredictRange a, int exponent)
{
  int n = ABS (exponent);
  double low = raised (a.low, n), high = raised (a.high, n);
  PredictRange result;

  if (n == 0)
    return (PredictRange){ 1, 1, a.undefined };
  if (n % 2 == 0) {
    double greater = MAX (low, high);

    low = holds (a, 0) ? 0 : MIN (low, high);
    high = greater;
  }
  result = outward (low, high, FUNCTION * n, a.undefined);
  /* An even power is not negative, however it is rounded. */
  result.low = n % 2 == 0 ? MAX (result.low, 0) : result.low;
  return exponent > 0 ? result : divide (predict_range (1, 1), result);
}

/* Of a function that grows, defined from `from` on (there, too, when it is `closed`). */
static PredictRange
growing (double (*of) (double x), PredictRange a, double from, bool closed)
{
  bool undefined = a.undefined || a.low < from || (!closed && a.low == from);

  if (a.high < from || (!closed && a.high == from))
    return nowhere;
  return outward (a.low <= from ? (closed ? of (from) : -HUGE_VAL) : of (a.low),
                  isinf (a.high) ? a.high : of (a.high), FUNCTION, undefined);
}

/* Whether a maximum of the cosine, 2 pi k + `at`, lies within. */
static bool
has_peak (PredictRange a, double at)
{
  double turn = 2 * G_PI;

  return ceil ((a.low - at) / turn - 1e-9) <= floor ((a.high - at) / turn + 1e-9);
}

/* The cosine, shifted by `shift`. */
static PredictRange
wave (double (*of) (double x), PredictRange a, double shift)
{
  bool undefined = a.undefined || a.low < -PREDICT_MAX_ANGLE || a.high > PREDICT_MAX_ANGLE;
  double at_low, at_high;

  if (undefined)
    return (PredictRange){ -1, 1, true };
  at_low = of (a.low);
  at_high = of (a.high);
  return outward (has_peak (a, shift + G_PI) ? -1 : MIN (at_low, at_high),
                  has_peak (a, shift) ? 1 : MAX (at_low, at_high), FUNCTION, false);
}

static PredictRange
bound (const PredictStep *step, PredictRange a, PredictRange b)
{
  bool undefined = a.undefined || b.undefined;
  PredictRange result;

  switch ((PredictOp) step->op) {
  case PREDICT_OP_ADD: return outward (a.low + b.low, a.high + b.high, ROUNDED, undefined);
  case PREDICT_OP_SUBTRACT: return outward (a.low - b.high, a.high - b.low, ROUNDED, undefined);
  case PREDICT_OP_MULTIPLY: return corners (product, a, b, ROUNDED);
  case PREDICT_OP_DIVIDE: return divide (a, b);
  case PREDICT_OP_POWER:
    if (a.high < 0)
      return nowhere;
    undefined = a.low < 0 || (a.low == 0 && b.low <= 0);
    a.low = MAX (a.low, 0);
    result = corners (limit_of_power, a, b, POWER);
    result.undefined |= undefined;
    return result;
  case PREDICT_OP_MIN: return (PredictRange){ MIN (a.low, b.low), MIN (a.high, b.high), undefined };
  case PREDICT_OP_MAX: return (PredictRange){ MAX (a.low, b.low), MAX (a.high, b.high), undefined };
  case PREDICT_OP_NEGATE: return (PredictRange){ -a.high, -a.low, undefined };
  case PREDICT_OP_INTEGER_POWER: return integer_power (a, step->index);
  case PREDICT_OP_LOG: return growing (predict_log, a, 0, false);
  case PREDICT_OP_LOG2: return growing (predict_log2, a, 0, false);
  case PREDICT_OP_EXP:
    result = outward (isinf (a.low) ? 0 : predict_exp (a.low),
                      isinf (a.high) ? a.high : predict_exp (a.high), FUNCTION, a.undefined);
    result.low = MAX (result.low, 0);
    return result;
  case PREDICT_OP_SQRT: return growing (sqrt, a, 0, true);
  case PREDICT_OP_SIN: return wave (predict_sin, a, G_PI_2);
  case PREDICT_OP_COS: return wave (predict_cos, a, 0);
  case PREDICT_OP_ABS: {
    double low = fabs (a.low), high = fabs (a.high);

    return (PredictRange){ holds (a, 0) ? 0 : MIN (low, high), MAX (low, high), a.undefined };
  }
  case PREDICT_OP_CEIL: return (PredictRange){ ceil (a.low), ceil (a.high), undefined };
  case PREDICT_OP_FLOOR: return (PredictRange){ floor (a.low), floor (a.high), undefined };
  case PREDICT_OP_CONSTANT:
  case PREDICT_OP_VARIABLE:
  case PREDICT_OP_PARAMETER:
  case PREDICT_N_OPS: break;
  }
  g_assert_not_reached ();
}

/* Whether the operands of the step at `root` are the same formula. */
static bool
is_square (const PredictExpression *expression, uint32_t root)
{
  uint32_t right = predict_expression_first (expression, root - 1), n = root - right;

  if (n > right || predict_expression_first (expression, right - 1) != right - n)
    return false;
  for (uint32_t at = right; at < root; at++) {
    const PredictStep *a = &expression->steps[at - n], *b = &expression->steps[at];

    if (a->op != b->op || a->index != b->index ||
        predict_bits (a->value) != predict_bits (b->value))
      return false;
  }
  return true;
}

PredictRange
predict_bounds (const PredictExpression *expression, const PredictRange *variables,
                const PredictRange *parameters)
{
  g_autofree PredictRange *waiting =
      g_new (PredictRange, predict_expression_height (expression) + 1);
  PredictRange *top = waiting;

  for (uint32_t at = 0; at < expression->n; at++) {
    const PredictStep *step = &expression->steps[at];
    guint n_operands = predict_ops[step->op].n_operands;

    top -= n_operands;
    if (step->op == PREDICT_OP_VARIABLE)
      *top = variables[step->index];
    else if (step->op == PREDICT_OP_PARAMETER)
      *top = parameters[step->index];
    else if (n_operands == 0)
      *top = predict_range (step->value, step->value);
    else if (top->low > top->high || top[n_operands - 1].low > top[n_operands - 1].high)
      *top = nowhere;
    else if (step->op == PREDICT_OP_MULTIPLY && holds (*top, 0) && is_square (expression, at))
      *top = integer_power (*top, 2);
    else
      *top = bound (step, *top, top[n_operands - 1]);
    top++;
  }
  return *waiting;
}

/* --- Positive everywhere --- */

#define MOST_PARTS 4096u
#define AT_FACE    0x1p-10 /* of a range: a part this narrow at its end is at the face */

/* Halves of a range: of its logarithms where it spans more than a factor of 4. */
static double
middle_of (PredictRange range)
{
  if (range.low > 0 && range.high / range.low > 4)
    return sqrt (range.low) * sqrt (range.high);
  return range.low / 2 + range.high / 2;
}

bool
predict_shown_positive (const PredictExpression *expression, const PredictRange *box,
                        uint32_t n_variables, const double *parameters, uint32_t n_parameters)
{
  g_autofree PredictRange *fixed = g_new (PredictRange, n_parameters + 1);
  g_autofree PredictRange *part = g_new (PredictRange, n_variables + 1);
  g_autoptr (GArray) waiting = g_array_new (FALSE, FALSE, (n_variables + 1) * sizeof *part);

  for (uint32_t at = 0; at < n_parameters; at++)
    fixed[at] = predict_range (parameters[at], parameters[at]);
  memcpy (part, box, n_variables * sizeof *part);
  g_array_append_vals (waiting, part, 1);
  for (guint parts = 0; waiting->len > 0; parts++) {
    PredictRange range;
    uint32_t chosen = n_variables;
    double best_least = -INFINITY, best_most = -INFINITY, middle;
    bool at_face = false;

    memcpy (part, waiting->data + (waiting->len - 1) * (n_variables + 1) * sizeof *part,
            n_variables * sizeof *part);
    g_array_set_size (waiting, waiting->len - 1);
    for (uint32_t at = 0; at < n_variables; at++)
      at_face |= (part[at].low == box[at].low || part[at].high == box[at].high) &&
                 part[at].high - part[at].low < AT_FACE * (box[at].high - box[at].low);
    range = predict_bounds (expression, part, fixed);
    if (!range.undefined && range.low <= range.high &&
        (range.low > 0 || (range.low == 0 && at_face)))
      continue;
    if (range.high < 0 || parts >= MOST_PARTS)
      return false;
    /* Halve the variable whose halves have the best bounds; the widest of equal ones. */
    for (uint32_t at = 0; at < n_variables; at++) {
      PredictRange whole = part[at], left, right;
      double least, most;

      middle = middle_of (whole);
      if (!(middle > whole.low && middle < whole.high))
        continue;
      part[at] = predict_range (whole.low, middle);
      left = predict_bounds (expression, part, fixed);
      part[at] = predict_range (middle, whole.high);
      right = predict_bounds (expression, part, fixed);
      part[at] = whole;
      least = MIN (left.low, right.low);
      most = MAX (left.low, right.low);
      if (chosen == n_variables || least > best_least ||
          (least == best_least && most > best_most) ||
          (least == best_least && most == best_most &&
           whole.high - whole.low > part[chosen].high - part[chosen].low)) {
        chosen = at;
        best_least = least;
        best_most = most;
      }
    }
    if (chosen == n_variables)
      return false;
    range = part[chosen];
    middle = middle_of (range);
    part[chosen] = predict_range (middle, range.high);
    g_array_append_vals (waiting, part, 1);
    part[chosen] = predict_range (range.low, middle);
    g_array_append_vals (waiting, part, 1);
  }
  return true;
}
