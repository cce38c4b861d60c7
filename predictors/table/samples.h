/* samples.h - features by columns and a target, for methods to learn from; training and test sets.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/random.h"
#include "predictors/table/table.h"

typedef struct {
  uint64_t n_samples; /* at most UINT32_MAX */
  guint n_features;
  float *x;  /* [n_features][n_samples], finite, or NaN where a value may be missing; single
                * precision as scikit-learn's trees */
  double *y; /* [n_samples], finite; NULL where nothing is observed */
  /* What a method may have to know of the samples; NULL: nothing.  From g_malloc(). */
  uint32_t *
      group; /* [n_samples] < n_groups, none empty: whose samples stay together; NULL: each alone */
  uint32_t n_groups;
  int8_t
      *monotone; /* [n_features] 1: the prediction never falls when the feature grows, -1: it never
                       * rises, 0: either */
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

/* The same with gaps: features[k] may be missing in rows, which have NaN then, where may_miss[k].  With
 * a target each feature must have a value in some row. */
PredictSamples *
predict_samples_with_gaps (const PredictTable *table, const char *const *features,
                           const bool *may_miss, const char *target, gboolean log, GError **error);

/* The samples i with is_test[i] == wanted; the caller frees.  Groups are numbered anew. */
PredictSamples *
predict_samples_select (const PredictSamples *samples, const bool *is_test, bool wanted);

/* Only `columns` ([n_columns], indices of features); the caller frees. */
PredictSamples *
predict_samples_project (const PredictSamples *samples, const guint *columns, guint n_columns);

/* Divides each feature and the target by its mean over the samples of the same set (SC13, section 4.3:
 * "normalized"; by what, the paper does not say).  So 1.2 is a fifth above what is usual in the set,
 * and sets of different programs, sizes and scales are told by the same numbers.  set[i] < n_sets;
 * a mean of 0 leaves the values as they are. */
void predict_samples_normalize (PredictSamples *samples, const uint32_t *set, uint32_t n_sets);

/* --- Training and test sets ---
 *
 * Whole groups go to one side: all samples of one mapping, say, so that no sample of the test set has a
 * near copy in the training set. */

/* is_test[n]: about `share` of the groups (rounded up, at least one on either side when there are
 * two) are drawn; group[i] < n_groups, and no group is empty. */
void predict_split_draw (BaseRandom *random, const uint32_t *group, uint64_t n, uint32_t n_groups,
                         double share, bool *is_test);

/* fold[n], 0 ... n_folds - 1: groups are shuffled and dealt; sizes in groups differ by at most
 * one.  n_folds <= n_groups. */
void predict_split_deal (BaseRandom *random, const uint32_t *group, uint64_t n, uint32_t n_groups,
                         guint n_folds, uint32_t *fold);

/* The groups of the samples i with is_test[i] == wanted, in the order of the samples, numbered anew;
 * *n_left is their number.  The caller frees. */
uint32_t *predict_split_groups (const uint32_t *group, const bool *is_test, bool wanted, uint64_t n,
                                uint32_t n_groups, uint32_t *n_left);
