/* train_steps.h - what training does besides fitting: search, compare.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each step shows its own progress, unless quiet. */
#pragma once

#include "predictors/model/feature_search.h"
#include "predictors/model/model.h"

/* What all steps look at. */
typedef struct {
  const PredictRecipe *recipe;
  const PredictSamples *samples; /* of the recipe's features and target */
  const uint32_t *group;         /* [n_samples] */
  uint32_t n_groups;
  gboolean quiet;
} CliTrainInput;

/* A search among the candidates. */
typedef struct {
  PredictSearch search;
  char **candidates; /* NULL-terminated; names of the result's columns */
  PredictSearchResult result;
} CliSearched;

/* For sets of at most max_size of the recipe's features; NULL and *error. */
CliSearched *cli_search_features (const CliTrainInput *input, guint max_size, PredictScore score,
                                  GError **error);
void cli_searched_free (CliSearched *searched);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CliSearched, cli_searched_free)

/* The names of the features of a choice, NULL-terminated; the caller frees the array. */
const char **cli_choice_names (const CliSearched *searched, const PredictFeatureChoice *choice);

/* Another method, with its defaults, on the splits of the recipe. */
typedef struct {
  PredictSettings settings;
  PredictEvaluation evaluation; /* when there was no trouble */
  char *trouble;                /* why it cannot be fitted; NULL */
} CliBaseline;

/* Every method, the plainest first; (element-type CliBaseline), g_array_unref(). */
GArray *cli_score_baselines (const CliTrainInput *input);

/* Trains the recipe's model; NULL and *error. */
PredictModel *
cli_train_model (const CliTrainInput *input, const PredictTable *table, GError **error);
