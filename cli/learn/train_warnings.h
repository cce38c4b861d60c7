/* train_warnings.h - what makes learning from a table pointless, or too easy.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/table/samples.h"

/* Tells, on standard error, features that are the same in all rows; and, of a table from a file
 * whose features nobody named (are_chosen), those that put the rows in the order of the target:
 * a second measurement of what is to be predicted, not something to predict it from. */
void cli_train_warn (const PredictTable *table, const char *const *features, gboolean are_chosen,
                     const char *target, const PredictSamples *samples);
