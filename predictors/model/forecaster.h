/* forecaster.h - a model of either kind: learned from a table, or a formula.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Both predict the rows of a table; a formula has neither intervals nor a training
 * table. */
#pragma once

#include "predictors/formula/base_model.h"
#include "predictors/model/model.h"

/* One of the two. */
typedef struct {
  PredictModel *learned;
  PredictBaseModel *formula;
} PredictForecaster;

/* A file that begins with a brace, or that cannot be looked at before it is read, holds a model
 * that was learned (predict_model_read()), any other a formula (predict_base_model_read()). */
PredictForecaster *predict_forecaster_read (const char *path, GError **error);
void predict_forecaster_free (PredictForecaster *forecaster);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictForecaster, predict_forecaster_free)

/* The column that it predicts: time_s of a formula. */
const char *predict_forecaster_target (const PredictForecaster *forecaster);

/* As predict_model_apply() and predict_base_model_times(); of a formula, any level but 0 is an error. */
gboolean
predict_forecaster_apply (const PredictForecaster *forecaster, const PredictTable *table,
                          double level, guint threads, PredictAnswer *answer, GError **error);
