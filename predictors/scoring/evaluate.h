/* evaluate.h - scores of a method on samples that it was not fitted to.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/model/fitted.h"
#include "predictors/scoring/scores.h"

typedef struct {
  guint repeats;     /* random splits (50), or how often the folds are dealt anew (1) */
  double test_share; /* of random splits: 1 / 3 as in SC13; 0: folds */
  guint folds;       /* of folds: 5 */
  uint64_t seed;
  gboolean log_target; /* y are logarithms: scores are of their exponentials */
} PredictTrial;

/* Over the splits, or the folds (each scored by itself, as scikit-learn does).  sd is that of a
 * sample (n - 1).  All NaN when one of them is: a score that is not defined for every test has no
 * median. */
typedef struct {
  double median, lower_quartile, upper_quartile, mean, sd, min, max;
} PredictSpread;

typedef struct {
  guint n_tests;         /* splits or folds scored */
  uint64_t test_samples; /* of the first */
  PredictSpread scores[PREDICT_N_SCORES];
  PredictSpread mispredicted;
  PredictScores *tests; /* [n_tests], in the order of the splits, which is that of trial.seed */
  /* Of folds: the prediction of each sample by the model that had not seen it ([n_samples], of the
   * first deal, in the unit of y: a logarithm when y is), and the spread of the trees; NULL for random
   * splits. */
  double *predicted, *deviation;
} PredictEvaluation;

/* group[n_samples] < n_groups, none empty: see samples.h.  The work is spread over settings->threads splits at
 * a time, each fitted by one thread; the result does not depend on it.  FALSE and *error: too few
 * groups, or a method that cannot be fitted. */
gboolean predict_evaluate (const PredictSamples *samples, const uint32_t *group, uint32_t n_groups,
                           const PredictSettings *settings, const PredictTrial *trial,
                           PredictEvaluation *evaluation, PredictProgress progress,
                           void *progress_data, GError **error);
void predict_evaluation_clear (PredictEvaluation *evaluation);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PredictEvaluation, predict_evaluation_clear)

/* --- One division, and the spread over many --- */

/* Fits to the samples without is_test[i] and scores on those with it, by one thread.  Their
 * predictions, and the spread of the trees, go to predicted[i] and deviation[i] of the same i, in the
 * unit of y; other elements are left alone; both may be NULL.  FALSE and *error: see predict_fit(). */
gboolean predict_holdout (const PredictSamples *samples, const bool *is_test,
                          const PredictSettings *settings, gboolean log_target, double *predicted,
                          double *deviation, PredictScores *scores, GError **error);

/* Takes errors[n]; FALSE and the first in *error when there is one. */
gboolean predict_first_error (GError **errors, guint n, GError **error);

/* A quantile as numpy's default: linear between the order statistics.  n > 0. */
double predict_quantile (const double *sorted, guint n, double share);
/* Sorts `values`. */
PredictSpread predict_spread (double *values, guint n);
/* Of each score over the tests: spreads[PREDICT_N_SCORES]. */
void predict_spread_scores (const PredictScores *scores, guint n, PredictSpread *spreads);
