/* base_model_reader.h - what is known of a model while its text is read.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/formula/base_model.h"
#include "predictors/formula/base_model_line.h"
#include "predictors/table/units.h"

typedef struct {
  PredictLine line;
  GPtrArray *variables, *parameters, *constants, *definitions; /* char *: names */
  GPtrArray *variable_units;                                   /* char *, NULL: none */
  GArray *parameter, *constant;                                /* PredictParameter */
  GPtrArray *bodies;                                           /* PredictExpression */
  PredictExpression *time;
  PredictNames names; /* of all that formulas may name: constants are parameters after the others */
  bool has_units;
  PredictUnits units;
  GArray *unit_of_variable, *unit_of_parameter, *unit_of_constant; /* PredictUnit */
} PredictModelReader;

/* A name that is declared where the line is; NULL and the error: it cannot be.  The caller
 * frees. */
char *predict_reader_new_name (PredictModelReader *reader);

/* A line with a variable, a constant or a parameter. */
gboolean predict_reader_declaration (PredictModelReader *reader);
