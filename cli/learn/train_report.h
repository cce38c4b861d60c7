/* train_report.h - results of training as a table, CSV and JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/print/output.h"
#include "predictors/scoring/feature_search.h"
#include "predictors/model/model.h"

/* A search among the candidates. */
typedef struct {
  PredictSearch search;
  char **candidates; /* NULL-terminated; names of the result's columns */
  PredictSearchResult result;
} CliSearched;

/* Another method, with its defaults, on the splits of the recipe. */
typedef struct {
  PredictSettings settings;
  PredictEvaluation evaluation; /* when there was no trouble */
  char *trouble;                /* why it cannot be fitted; NULL */
} CliBaseline;

typedef struct {
  const PredictTable *table;
  const PredictRecipe *recipe;
  uint32_t n_groups;         /* meaningful with recipe->group */
  PredictNoise noise;        /* of the target; n_draws 0: not a store's */
  const GPtrArray *left_out; /* (element-type utf8) columns that are no features, and why */
  const PredictModel *model;
  const GArray *baselines;     /* (element-type CliBaseline); empty: not asked for */
  const CliSearched *searched; /* NULL: not asked for */
} CliTraining;

void cli_training_print (FILE *out, const CliTraining *training, CliFormat format);

/* The names of the features of a choice, NULL-terminated; the caller frees the array. */
const char **cli_choice_names (const CliSearched *searched, const PredictFeatureChoice *choice);
