/* learning_options.h - the table that a command learns from or predicts for.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A CSV file, or a store, whose runs become its rows: the same options in `train`,
 * `predict`, `score`, `correct` and `rank`. */
#pragma once

#include "cli/study/study_store.h"
#include "study/learning.h"

typedef struct {
  char *observed_text, *features_text; /* of --observed-runs and --feature-runs; NULL: not given */
  char *measured; /* path of a table of measurements, of which learning.noisy is the target; NULL:
                   * a run's own columns are learned */
  StudyLearning learning; /* after cli_parse_learning(); borrows from `words` */
  GStringChunk *words;
} CliLearningOptions;

void cli_learning_options_clear (CliLearningOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliLearningOptions, cli_learning_options_clear)

/* --observed-runs and --feature-runs, both KEY=VALUE,... with the keys network, routing and
 * shrink.  The struct starts as { 0 }, must outlive parsing, and be cleared after. */
void cli_add_learning_options (GOptionContext *context, CliLearningOptions *options);

/* Checks the options; CLI_ERROR_USAGE. */
gboolean cli_parse_learning (CliLearningOptions *options, GError **error);

/* Whether a column, of a run or of predictions for runs, is a time that computation is a part of. */
gboolean cli_learning_is_time (const char *column);

/* The table at `path`: of a store's runs when it is one (whatever its name), or of those that were
 * measured, else a CSV file ("-": standard input), with which the options are an error.
 * `measured`, learning.without_time and .noisy are the command's to set.  *learned is to be cleared,
 * after failure too; a file has no draws.  Unless quiet, prints on standard error how many runs and
 * measurements are left out; and the noise of replicas where the command does not take it (learned
 * NULL). */
PredictTable *cli_learning_table (const char *path, const CliLearningOptions *options,
                                  gboolean quiet, StudyLearned *learned, GError **error);

/* The same of an open store and its rows (element-type StudyRow); rows NULL: they are read. */
PredictTable *
cli_learning_table_of_rows (StudyStore *store, GPtrArray *rows, const CliLearningOptions *options,
                            gboolean quiet, StudyLearned *learned, GError **error);

/* A note of the features of sets that predict_feature_list() left out (element-type utf8); none when
 * there are none. */
void cli_tell_unknown_features (const PredictTable *table, GPtrArray *left_out);
