/* units.h - units of formulas: a formula must not add seconds to bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A unit is a product of powers of names: s, B/s, 1/s, word^2.  Any name is a unit of its own,
 * and none converts into another: ms and s do not agree.  byte and bytes are B, words is
 * word. */
#pragma once

#include "predictors/formula/expression.h"

#define PREDICT_MAX_UNITS 8u

/* The names that are in use; all zero: none yet. */
typedef struct {
  char *names[PREDICT_MAX_UNITS];
  guint n;
} PredictUnits;
void predict_units_clear (PredictUnits *units);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PredictUnits, predict_units_clear)

/* All zero: a pure number. */
typedef struct {
  double powers[PREDICT_MAX_UNITS];
} PredictUnit;

/* "s", "s/word", "1/s", "B*s^-2", "1".  FALSE and *error: it is none, or there are more than
 * PREDICT_MAX_UNITS names. */
gboolean predict_unit_parse (PredictUnits *units, const char *text, const BasePlace *place,
                             PredictUnit *unit, GError **error);
bool predict_unit_equal (const PredictUnit *a, const PredictUnit *b);
char *predict_unit_text (const PredictUnits *units, const PredictUnit *unit);

/* The unit of an expression, given those of variables[] and parameters[].  Numbers are
 * pure, but 0 agrees with everything.  FALSE and *error with the place of the operation: sums,
 * min and max of different units, log, exp, sin, cos or an exponent that is no pure number, a
 * power that is not written as a number and whose base has a unit. */
gboolean predict_unit_of (const PredictExpression *expression, const PredictNames *names,
                          const PredictUnits *units, const PredictUnit *variables,
                          const PredictUnit *parameters, const BasePlace *place, PredictUnit *unit,
                          GError **error);
