/* model_private.h - what the writer and the reader of models share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/model/model.h"

#include <json-glib/json-glib.h>

#define PREDICT_MODEL_SCHEMA "hopcast.model/1"

/* The numbers of a PredictSpread; ends with a NULL name. */
typedef struct {
  const char *name;
  gsize offset;
} PredictSpreadMember;

extern const PredictSpreadMember predict_spread_members[];

/* A PredictModel from the object that is all of a file; NULL and *error. */
gpointer predict_model_from_json (JsonObject *root, GError **error);
