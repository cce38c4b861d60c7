/* feature_sets.h - the sets of features that have a name.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * SC13 paper: prior features (section 5.2), new ones (5.3), hybrids H1 to H6 (table 3). */
#pragma once

#include <glib.h>

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
 * NULL-terminated, g_strfreev(); NULL and *error when one is empty. */
char **predict_feature_list (const char *text, GError **error);
