/* learn_features.h - which columns of a table are learned from.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/table/table.h"

/* What `text` lists (columns, and sets such as H3); when it is NULL, of a store's runs the features
 * that they have, of a file every column of numbers but the target, the group and an index ("row").
 * Why another column is none goes to left_out (element-type utf8).  NULL-terminated, g_strfreev().
 * NULL and *error: the target is listed, or nothing is left. */
char **cli_choose_features (const PredictTable *table, const char *text, const char *target,
                            const char *group, GPtrArray *left_out, GError **error);
