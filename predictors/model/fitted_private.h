/* fitted_private.h - what a fitted method is, for those that fit, write and read it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/model/fitted.h"
#include "predictors/model/linear.h"
#include "predictors/model/svr.h"

/* One of forest, linear and svr by the method; a mean has none of them. */
struct PredictFitted {
  PredictSettings settings; /* threads: 0, since they change nothing that is kept */
  guint n_features;
  PredictForest *forest;
  PredictLinear *linear;
  PredictSvr *svr;
  double mean;
};

/* As a member of an object of `builder`; from an object. */
void predict_forest_write (const PredictForest *forest, JsonBuilder *builder);
PredictForest *predict_forest_read (JsonObject *object, guint n_features, GError **error);
