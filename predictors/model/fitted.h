/* fitted.h - any method after it has learned: one way to fit, predict, write and read.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/model/choice.h"

#include <json-glib/json-glib.h>

typedef struct PredictFitted PredictFitted;

/* NULL and *error: settings that are wrong, fewer samples than the method needs, missing values (of
 * samples->x; boosting learns from them), least squares
 * without a solution (a constant column is none: it gets coefficient 0).  report may be NULL, and
 * is filled for trees only (else all NULL), for boosting with importances alone. */
PredictFitted *predict_fit (const PredictSamples *samples, const PredictSettings *settings,
                            PredictForestReport *report, PredictProgress progress,
                            void *progress_data, GError **error);
void predict_fitted_free (PredictFitted *fitted);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictFitted, predict_fitted_free)

guint predict_fitted_n_features (const PredictFitted *fitted);

/* With threads 0; never PREDICT_AUTO: the method that was chosen, with its defaults. */
const PredictSettings *predict_fitted_settings (const PredictFitted *fitted);
/* NULL: the method was given, or the fit comes from a file. */
const PredictChoice *predict_fitted_choice (const PredictFitted *fitted);

/* Whether a value of the feature may be missing (NaN): some were in training, or the
 * method looks at none. */
bool predict_fitted_may_miss (const PredictFitted *fitted, guint feature);

/* predicted[n_samples]; deviation (may be NULL): over the trees, 0 of other methods.  threads as in
 * PredictSettings, 0: one per processor. */
void predict_fitted_predict (const PredictFitted *fitted, const PredictSamples *samples,
                             guint threads, double *predicted, double *deviation);

/* How much worse the mean squared error of `samples` gets, as a share of the variance of y, when
 * the values of a feature are permuted among them: importances[n_features], mean of `repeats`. */
void predict_fitted_permutation_importances (const PredictFitted *fitted,
                                             const PredictSamples *samples, guint repeats,
                                             uint64_t seed, guint threads, double *importances);

/* As one JSON object (doc/handbook/format-model.md): settings and the fit. */
void predict_fitted_write (const PredictFitted *fitted, JsonBuilder *builder);
/* NULL and *error when it is not one; nothing in a file can make predicting fail later. */
PredictFitted *predict_fitted_read (JsonObject *object, GError **error);
