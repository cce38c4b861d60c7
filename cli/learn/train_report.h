/* train_report.h - what training found, as people and programs read it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/output.h"
#include "cli/learn/train_steps.h"

typedef struct {
  const PredictTable *table;
  const PredictRecipe *recipe;
  uint32_t n_groups;         /* meaningful with recipe->group */
  const GPtrArray *left_out; /* (element-type utf8) columns that are no features, and why */
  const PredictModel *model;
  const GArray *baselines;     /* (element-type CliBaseline); empty: not asked for */
  const CliSearched *searched; /* NULL: not asked for */
} CliTraining;

void cli_training_print (FILE *out, const CliTraining *training, CliFormat format);

/* How the scores came about, as "50 random splits, 1/3 to predict"; the caller frees. */
char *cli_describe_trial (const PredictTrial *trial);
