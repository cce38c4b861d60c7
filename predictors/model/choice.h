/* choice.h - which method predicts samples best that it has not seen.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/forest/forest.h"

typedef struct {
  PredictMethod method;
  double
      error; /* root of the mean squared error over the folds, in the unit of y; NaN: it cannot be fitted */
} PredictChoiceTrial;

#define PREDICT_CHOICE_TRIALS 5

/* Plain methods first. */
typedef struct {
  guint n_folds; /* 0: a single group, nothing was compared */
  PredictChoiceTrial candidates[PREDICT_CHOICE_TRIALS];
} PredictChoice;

/* Chooses among mean, linear, extra-trees, forest and boosting, each with its defaults, by the error on folds
 * of whole groups (samples->group); of equal ones the first.  Of settings only seed and threads count, and threads
 * change nothing.  A single group can be learned by no other than the mean.  FALSE and *error: none of them can be fitted. */
gboolean predict_choose (const PredictSamples *samples, const PredictSettings *settings,
                         PredictMethod *method, PredictChoice *choice, PredictProgress progress,
                         void *progress_data, GError **error);
