/* units.c - units of formulas: a formula must not add seconds to bytes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/formula/units.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void
predict_units_clear (PredictUnits *units)
{
  for (guint at = 0; at < units->n; at++)
    g_free (units->names[at]);
  units->n = 0;
}

/* Parses NAME, NAME^INTEGER or 1 and moves *at behind it. */
static gboolean
parse_factor (PredictUnits *units, const char **at, double sign, PredictUnit *unit)
{
  static const char *const synonyms[][2] = { { "byte", "B" },
                                             { "bytes", "B" },
                                             { "words", "word" } };
  const char *begin = *at, *end = begin;
  g_autofree char *name = NULL;
  long power = 1;
  guint number = 0;

  if (*begin == '1') {
    *at = begin + 1;
    return TRUE;
  }
  while (g_ascii_isalpha (*end) || *end == '_')
    end++;
  if (end == begin)
    return FALSE;
  *at = end;
  if (*end == '^') {
    const char *digits = end + 1 + (end[1] == '-');

    if (!g_ascii_isdigit (*digits) || g_ascii_isdigit (digits[1]))
      return FALSE;
    power = strtol (end + 1, NULL, 10);
    *at = digits + 1;
  }
  name = g_strndup (begin, (gsize) (end - begin));
  for (guint i = 0; i < G_N_ELEMENTS (synonyms); i++)
    if (strcmp (name, synonyms[i][0]) == 0) {
      g_free (name);
      name = g_strdup (synonyms[i][1]);
    }
  while (number < units->n && strcmp (units->names[number], name) != 0)
    number++;
  if (number == PREDICT_MAX_UNITS)
    return FALSE;
  if (number == units->n)
    units->names[units->n++] = g_steal_pointer (&name);
  unit->powers[number] += sign * (double) power;
  return TRUE;
}

gboolean
predict_unit_parse (PredictUnits *units, const char *text, const BasePlace *place,
                    PredictUnit *unit, GError **error)
{
  const char *at = text;
  double sign = 1;

  *unit = (PredictUnit){ { 0 } };
  while (parse_factor (units, &at, sign, unit)) {
    if (*at == '\0')
      return TRUE;
    if (*at != '*' && *at != '/')
      break;
    sign = *at++ == '/' ? -1 : 1;
  }
  return base_fail_at (place, place->column, error,
                       "\"%s\" is no unit such as s, B/s or 1/s (of at most %u names in all)", text,
                       PREDICT_MAX_UNITS);
}

bool
predict_unit_equal (const PredictUnit *a, const PredictUnit *b)
{
  for (guint at = 0; at < PREDICT_MAX_UNITS; at++)
    if (fabs (a->powers[at] - b->powers[at]) > 1e-9)
      return false;
  return true;
}

static bool
is_pure (const PredictUnit *unit)
{
  static const PredictUnit pure = { { 0 } };

  return predict_unit_equal (unit, &pure);
}

static void
append_powers (GString *text, const PredictUnits *units, const PredictUnit *unit, int sign)
{
  for (guint at = 0; at < units->n; at++) {
    double power = sign * unit->powers[at];

    if (power <= 1e-9)
      continue;
    if (sign < 0)
      g_string_append_c (text, '/');
    else if (text->len > 0)
      g_string_append_c (text, '*');
    g_string_append (text, units->names[at]);
    if (fabs (power - 1) > 1e-9)
      g_string_append_printf (text, "^%g", power);
  }
}

char *
predict_unit_text (const PredictUnits *units, const PredictUnit *unit)
{
  GString *text = g_string_new (NULL);

  append_powers (text, units, unit, 1);
  if (text->len == 0)
    g_string_append_c (text, '1');
  append_powers (text, units, unit, -1);
  return g_string_free (text, FALSE);
}

typedef struct {
  const PredictExpression *expression;
  const PredictNames *names;
  const PredictUnits *units;
  const BasePlace *place;
  GError **error;
} Check;

/* A waiting operand: its unit, and the step that ends it. */
typedef struct {
  PredictUnit unit;
  uint32_t root;
} Operand;

/* "np - 1 (a pure number)", "words (word)". */
static char *
describe (const Check *check, const Operand *operand)
{
  uint32_t from = predict_expression_first (check->expression, operand->root);
  PredictExpression part = { check->expression->steps + from, operand->root - from + 1 };
  g_autofree char *text = predict_expression_text (&part, check->names);
  g_autofree char *unit = predict_unit_text (check->units, &operand->unit);

  return g_strdup_printf ("%s (%s)", text, is_pure (&operand->unit) ? "a pure number" : unit);
}

static gboolean
check_pure (const Check *check, const PredictStep *step, const Operand *operand, const char *what)
{
  if (is_pure (&operand->unit))
    return TRUE;

  g_autofree char *text = describe (check, operand);

  return base_fail_at (check->place, step->column, check->error, "%s must be a pure number: %s",
                       what, text);
}

static void
scale (PredictUnit *unit, double by)
{
  for (guint at = 0; at < PREDICT_MAX_UNITS; at++)
    unit->powers[at] *= by;
}

/* left becomes the unit of the step. */
static gboolean
check_step (const Check *check, const PredictStep *step, Operand *left, const Operand *right)
{
  const PredictStep *end_of_left = &check->expression->steps[left->root];
  const PredictStep *end_of_right = &check->expression->steps[right->root];

  switch ((PredictOp) step->op) {
  case PREDICT_OP_ADD:
  case PREDICT_OP_SUBTRACT:
  case PREDICT_OP_MIN:
  case PREDICT_OP_MAX: {
    g_autofree char *first = NULL, *second = NULL;

    /* 0 agrees with every unit. */
    if (end_of_left->op == PREDICT_OP_CONSTANT && end_of_left->value == 0)
      left->unit = right->unit;
    if ((end_of_right->op == PREDICT_OP_CONSTANT && end_of_right->value == 0) ||
        predict_unit_equal (&left->unit, &right->unit))
      return TRUE;
    first = describe (check, left);
    second = describe (check, right);
    return base_fail_at (check->place, step->column, check->error,
                         "%s of different units: %s and %s", predict_ops[step->op].name, first,
                         second);
  }
  case PREDICT_OP_MULTIPLY:
  case PREDICT_OP_DIVIDE:
    for (guint at = 0; at < PREDICT_MAX_UNITS; at++)
      left->unit.powers[at] +=
          step->op == PREDICT_OP_DIVIDE ? -right->unit.powers[at] : right->unit.powers[at];
    return TRUE;
  case PREDICT_OP_POWER:
    if (!check_pure (check, step, right, "an exponent"))
      return FALSE;
    if (end_of_right->op != PREDICT_OP_CONSTANT)
      return check_pure (check, step, left, "the base of a power whose exponent is not a number");
    scale (&left->unit, end_of_right->value);
    return TRUE;
  case PREDICT_OP_INTEGER_POWER: scale (&left->unit, step->index); return TRUE;
  case PREDICT_OP_SQRT: scale (&left->unit, 0.5); return TRUE;
  case PREDICT_OP_LOG:
  case PREDICT_OP_LOG2:
  case PREDICT_OP_EXP:
  case PREDICT_OP_SIN:
  case PREDICT_OP_COS: return check_pure (check, step, left, "the operand");
  case PREDICT_OP_NEGATE:
  case PREDICT_OP_ABS:
  case PREDICT_OP_CEIL:
  case PREDICT_OP_FLOOR:
  case PREDICT_OP_CONSTANT:
  case PREDICT_OP_VARIABLE:
  case PREDICT_OP_PARAMETER:
  case PREDICT_N_OPS: break;
  }
  return TRUE;
}

gboolean
predict_unit_of (const PredictExpression *expression, const PredictNames *names,
                 const PredictUnits *units, const PredictUnit *variables,
                 const PredictUnit *parameters, const BasePlace *place, PredictUnit *unit,
                 GError **error)
{
  g_autofree Operand *waiting = g_new (Operand, predict_expression_height (expression) + 1);
  const Check check = { expression, names, units, place, error };
  Operand *top = waiting;

  for (uint32_t at = 0; at < expression->n; at++) {
    const PredictStep *step = &expression->steps[at];
    guint n_operands = predict_ops[step->op].n_operands;

    top -= n_operands;
    if (step->op == PREDICT_OP_VARIABLE)
      top->unit = variables[step->index];
    else if (step->op == PREDICT_OP_PARAMETER)
      top->unit = parameters[step->index];
    else if (step->op == PREDICT_OP_CONSTANT)
      top->unit = (PredictUnit){ { 0 } };
    else if (!check_step (&check, step, top, top + n_operands - 1))
      return FALSE;
    top++->root = at;
  }
  *unit = waiting->unit;
  return TRUE;
}
