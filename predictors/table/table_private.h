/* table_private.h - between the files of a table.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/table/table.h"

/* The label of `text` in a column of texts, a new one if need be.  known: text -> label, of this
 * column, whose keys are its labels. */
uint32_t predict_column_label (PredictColumn *column, GHashTable *known, const char *text);

/* That there is no column `name`, and which ones there are. */
void predict_table_set_missing (const PredictTable *table, const char *name, GError **error);
