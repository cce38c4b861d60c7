/* samples.h - what a method learns from: features by columns, and a target.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/table/table.h"

typedef struct {
  uint64_t n_samples; /* at most UINT32_MAX */
  guint n_features;
  float *x;  /* [n_features][n_samples], finite; single precision as scikit-learn's trees */
  double *y; /* [n_samples], finite; NULL where nothing is observed */
} PredictSamples;

PredictSamples *predict_samples_new (uint64_t n_samples, guint n_features, gboolean with_target);
void predict_samples_free (PredictSamples *samples);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictSamples, predict_samples_free)

/* The range of targets: errors are squared and summed over up to 2^32 samples, and the coefficients
 * of single-precision features scale them by up to 3e38 / 1.4e-45; all of this stays finite. */
#define PREDICT_LARGEST_TARGET  1e140
#define PREDICT_SMALLEST_TARGET 1e-140 /* of the largest value, unless all are 0 */

/* From the columns of a table.  `log` takes the logarithm of the target (NULL target: none).
 * NULL and *error, with file, line and column, when a column is missing or of texts, a value is
 * NaN or infinite or too large for single precision, a target whose logarithm is wanted is not
 * positive, a target without logarithm is outside of the range above, or there are no rows. */
PredictSamples *predict_samples_from (const PredictTable *table, const char *const *features,
                                      const char *target, gboolean log, GError **error);

/* Those with chosen[i]; the caller frees. */
PredictSamples *predict_samples_select (const PredictSamples *samples, const bool *chosen);

/* Only `columns` ([n_columns], indices of features); the caller frees. */
PredictSamples *
predict_samples_project (const PredictSamples *samples, const guint *columns, guint n_columns);
