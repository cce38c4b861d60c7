/* feature_sets.h - the sets of features that have a name.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * SC13 paper: prior features (section 5.2), new ones (5.3), hybrids H1 to H6 (table 3). */
#pragma once

#include "predictors/table/table.h"

typedef struct {
  const char *name;            /* "H1" */
  const char *source;          /* "SC13 table 3" */
  const char *const *features; /* NULL-terminated */
} PredictFeatureSet;

/* H1 ... H6, prior, new, all; ends with a NULL name. */
extern const PredictFeatureSet predict_feature_sets[];

/* NULL: no set has this name. */
const PredictFeatureSet *predict_feature_set (const char *name);

/* The features of a text: names of columns and sets, separated by commas, each feature once, in order.
 * A set loses its features that are unknown in all rows of `table` (NULL: none), such as the buffers
 * of loads; left_out (element-type utf8) gets their names.  A feature that the text names by itself
 * stays.  NULL-terminated, without elements when all are left out, g_strfreev(); NULL and *error when
 * a name is empty. */
char **predict_feature_list (const char *text, const PredictTable *table, GPtrArray *left_out,
                             GError **error);
