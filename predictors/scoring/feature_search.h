/* feature_search.h - the features that together predict best (SC13 paper, section 5.4).
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every set up to a size, then growing and shrinking the best (one feature added or taken
 * away at a time) as long as it gains.  A set's score is its mean over folds dealt within
 * the samples it is given.  That is optimistic for the set that wins: many were tried.
 * So the search is nested: it is made anew within the training side of each outer split,
 * and its choice is scored on the other side, which the search does not use. */
#pragma once

#include "predictors/scoring/evaluate.h"

typedef struct {
  guint exhaustive;   /* sets of up to this many features are all tried: 2 */
  guint max_size;     /* of a set: 6 */
  PredictScore score; /* the score to optimise: PREDICT_RCC */
  guint folds;        /* inside: 5 */
  guint outer;        /* outer random splits: 10; 0: no outer score */
  double test_share;  /* of the outer ones: 1 / 3 */
  uint64_t seed;
  gboolean log_target;
} PredictSearch;

typedef struct {
  guint n;         /* features in it */
  guint *features; /* [n], ascending indices of samples' columns */
  double score;    /* inner: optimistic for the best */
} PredictFeatureChoice;

typedef struct {
  GArray *tried; /* (element-type PredictFeatureChoice), the best first, of equals the smaller */
  PredictSpread outer[PREDICT_N_SCORES]; /* of the sets chosen within each outer split */
  guint *times_chosen;                   /* [n_features] in how many outer splits */
  guint n_outer;
} PredictSearchResult;

/* group[n_samples] < n_groups, none empty.  The work is spread over settings->threads sets at a time;
 * the result does not depend on it.  Each node of a tree tries at most settings->max_features of a
 * set.  FALSE and *error: settings that make no sense, more than a million small sets, too few groups,
 * or a method that cannot be fitted. */
gboolean predict_feature_search (const PredictSamples *samples, const uint32_t *group,
                                 uint32_t n_groups, const PredictSettings *settings,
                                 const PredictSearch *search, PredictSearchResult *result,
                                 PredictProgress progress, void *progress_data, GError **error);
void predict_search_result_clear (PredictSearchResult *result);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PredictSearchResult, predict_search_result_clear)
