/* holdout.h - learning from some samples, predicting the others.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/scoring/evaluate.h"

/* Fits to the samples without is_test[i] and scores on those with it, by one thread.  What those are
 * predicted, and the spread of the trees, goes to predicted[i] and deviation[i] of the same i, in the
 * unit of y; others are left as they are; both may be NULL.  FALSE and *error: see predict_fit(). */
gboolean predict_holdout (const PredictSamples *samples, const bool *is_test,
                          const PredictSettings *settings, gboolean log_target, double *predicted,
                          double *deviation, PredictScores *scores, GError **error);

/* Of each score over the tests: spreads[PREDICT_N_SCORES]. */
void predict_spread_scores (const PredictScores *scores, guint n, PredictSpread *spreads);

/* Takes errors[n]; FALSE and the first in *error when there is one. */
gboolean predict_first_error (GError **errors, guint n, GError **error);
