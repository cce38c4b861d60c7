/* learning.h - a store's runs as a table to learn from.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What was observed and what it is predicted from may be the same run, or runs of
 * different cost: the time of exact packets, predicted from the metrics of the same
 * placement under `load`, which takes milliseconds. */
#pragma once

#include "predictors/table/table.h"
#include "study/store/store.h"

/* Which runs of a store: texts as its rows have them, NULL for any. */
typedef struct {
  const char *network, *routing, *grain;
} StudyLearningRuns;

typedef struct {
  StudyLearningRuns observed; /* whose time_s is the target */
  StudyLearningRuns features; /* whose features are the features; all NULL: those of the same run */
  gboolean without_time;      /* what has only runs without a time is a row too: to predict it */
} StudyLearning;

/* A row per done run that is chosen by `observed` and has a time, in the order of the plan, the
 * first place where it stands; with the columns of row.h but those of timing: the features are
 * those of the run with the same trace, machine, placement, compute scale, seed and repetition
 * that is chosen by `features`, everything else is of the observed run.  What is not known is NaN
 * or "".  Runs without such a run are left out and counted in *n_left_out.  NULL and *error when
 * nothing is left, or when several runs match that the choice does not tell apart (what would is
 * named). */
PredictTable *
study_learning_table (StudyStore *store, GPtrArray *rows, const StudyLearning *learning,
                      guint *n_left_out, GError **error);
