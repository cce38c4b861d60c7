/* rank_model.h - mappings ranked by what a model predicts of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/learn/learning_options.h"
#include "study/ranking.h"

typedef struct {
  char *note;   /* which model, and which runs its features are of */
  char *target; /* what is predicted */
  double *predicted, *lower,
      *upper;       /* [rows], NaN: not predicted; the last two NULL without level */
  double *measured; /* [rows], NaN: not measured; NULL: no run is */
} CliRankModel;

/* Of the rows (element-type StudyRow) of a store.  level 0: no interval. */
CliRankModel *
cli_rank_model_new (const char *path, double level, const CliLearningOptions *learning,
                    StudyStore *store, const GPtrArray *rows, GError **error);
void cli_rank_model_free (CliRankModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CliRankModel, cli_rank_model_free)

/* The cases of the rows, ranked by prediction; machine and data as of study_cases_new(). */
GPtrArray *cli_rank_model_cases (const CliRankModel *model, const GPtrArray *rows, double tie,
                                 StudyMachineOf machine, void *data);

/* (element-type CliRankColumn) the bounds, and what was measured, where there are any. */
GArray *cli_rank_model_columns (const CliRankModel *model, const GPtrArray *rows);
