/* expression_tokens.h - what the names and numbers of formulas look like.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/formula/expression.h"

bool predict_token_begins_name (char letter);
bool predict_token_begins_number (const char *at);

/* How long the name is that begins at `at`; 0: none does. */
gsize predict_token_name (const char *at);

/* Past the digits, the point and the exponent; NULL when there is no number.  *integer: there were
 * digits only. */
const char *predict_token_number (const char *at, bool *integer);

/* PREDICT_N_OPS: it is no function. */
PredictOp predict_token_function (const char *name);

/* What stands at `at`, for messages; the caller frees. */
char *predict_token_found (const char *at);
