/* boosting.h - gradient boosting of regression trees on histograms.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Friedman, "Greedy function approximation: a gradient boosting machine" (2001), with
 * the trees of Ke et al., "LightGBM" (2017) and the rules of scikit-learn's
 * HistGradientBoostingRegressor (1.2), so that both can be compared:
 *
 *   - Each feature is divided once into at most 255 bins, at the midpoints of its
 *     distinct values or, of more, at 254 quantiles; one more bin has the missing values.
 *   - A tree is fitted to the gradients g = prediction - y, or of the pinball loss for
 *     a quantile q: -q below y, 1 - q above.  Second derivatives are taken as 1.
 *   - The leaf with the largest gain is divided next, until there are max_leaf_nodes.
 *     With G and n the sums of g and of samples, L = G^2 / (n + l2), the gain of a cut is
 *     L_left + L_right - L.  Either side keeps min_samples_leaf.
 *   - A leaf adds learning_rate (-G / (n + l2)) to the prediction; with the pinball loss
 *     learning_rate times the quantile of what is left over in it.
 *   - The larger child's histogram is its parent's less the smaller child's.
 *   - Missing values go to the side with the larger gain.
 *   - Where a feature is monotone, a cut whose children's values are in the wrong order is not
 *     made, and values below it stay on their side of the mean of both.
 *
 * Where it differs: min_samples_leaf 0 is chosen by the number of samples, since 20 leaves nothing to
 * divide in small tables (predict_boosting_least()); early stopping holds out whole groups, keeps
 * the number of trees that was best for them, and learns that many from all samples. */
#pragma once

#include "predictors/forest/forest.h"

typedef struct {
  guint n_features;
  double constant; /* the prediction before the first tree */
  guint n_missing; /* features that had missing values in training */
  guint *missing;  /* [n_missing] which, ascending */
  /* Its trees add up.  Features n_features + k are missing[k] again, where a missing value goes to the left of
   * every cut; in features below n_features it goes to the right. */
  PredictForest *forest;
} PredictBoosting;

/* min_samples_leaf by the number of samples: sqrt (3/4 n_samples), at most scikit-learn's 20, which it is from 534
 * samples on.  The root follows the best of 1 to 20 in nine tables of 24 to 550 training rows, half of them
 * measured (doc/handbook/learning.md): of 24 rows 1 to 4, of 56 rows 5 to 15, of 200 rows 7 to 15.  A share of the rows does not: a
 * tenth is too few of 50 rows and too many of 200. */
guint predict_boosting_least (uint64_t n_samples);

/* samples->x may be NaN (missing); samples->monotone and ->group count.  importances (may be NULL)
 * [n_features]: the gains of a feature's cuts; they add up to 1, or are all 0.  The same
 * seed gives the same bytes whatever the threads; only early stopping draws.  `progress`
 * as in predict_forest_fit(). */
PredictBoosting *
predict_boosting_fit (const PredictSamples *samples, const PredictSettings *settings,
                      double *importances, PredictProgress progress, void *progress_data);
void predict_boosting_free (PredictBoosting *boosting);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictBoosting, predict_boosting_free)

/* predicted[n_samples].  Reads samples->x only.  A missing value of a feature that had none in training goes to
 * the right of each cut. */
void predict_boosting_predict (const PredictBoosting *boosting, const PredictSamples *samples,
                               guint threads, double *predicted);

/* As the members "boosting" and "forest" of an object of `builder` (doc/handbook/format-model.md). */
void predict_boosting_write (const PredictBoosting *boosting, JsonBuilder *builder);
/* From such an object; NULL and *error as predict_forest_read(). */
PredictBoosting *predict_boosting_read (JsonObject *object, guint n_features, GError **error);
