/* learning.h - a store's runs as a table to learn from.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The observed time and the features that predict it may be of the same run, or of runs of
 * different cost: the time of exact packets, predicted from the metrics of the same
 * placement under `load`, which takes milliseconds. */
#pragma once

#include "predictors/scoring/scores.h"
#include "predictors/table/table.h"
#include "study/store/store.h"

/* A choice of a store's runs by the texts of its rows; NULL: any. */
typedef struct {
  const char *network, *routing, *shrink;
} StudyLearningRuns;

typedef struct {
  StudyLearningRuns observed; /* whose time_s is the target */
  StudyLearningRuns features; /* whose features are the features; all NULL: those of the same run */
  gboolean
      without_time;  /* placements that have only runs without a time are rows too, to predict it */
  const char *noisy; /* the column whose draws are kept; NULL: time_s */
} StudyLearning;

/* What else is known of the rows of a table. */
typedef struct {
  guint n_left_out; /* runs without feature runs */
  guint n_draws;    /* the most replicas of a row; 0: `noisy` is no column of numbers */
  double *draws;    /* [rows][n_draws] `noisy` of each replica, NaN: not made or not known; a row of
                     * the table has their mean */

  /* After study_measured_runs(). */
  guint n_unmeasured;   /* runs without a measurement */
  uint64_t n_unmatched; /* measurements of no run, and the row of the first one */
  uint64_t first_unmatched;
  guint n_repeated; /* runs that were measured more than once */
} StudyLearned;

void study_learned_clear (StudyLearned *learned);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (StudyLearned, study_learned_clear)

/* The noise of some rows of the table, [n]; rows NULL: of all n. */
PredictNoise study_learned_noise (const StudyLearned *learned, const uint64_t *rows, uint64_t n);

/* A row per done run that is chosen by `observed` and has a time, in the order of the plan, the
 * first place where it stands; with the columns of row.h but those of timing: the features are
 * those of the run with the same trace, machine, placement, compute scale, seed and repetition
 * that is chosen by `features`, everything else is of the observed run.  Replicas are one row, their
 * mean with the key of the first.  Unknown values are NaN
 * or "".  Runs without such a run are left out.  NULL and *error when
 * nothing is left, or when the choice leaves several runs of one placement (the error names the
 * choice that would tell them apart).  *learned is to be cleared, after failure too. */
PredictTable *
study_learning_table (StudyStore *store, GPtrArray *rows, const StudyLearning *learning,
                      StudyLearned *learned, GError **error);

/* --- Measured values ---
 *
 * A table of measurements on a real machine has a row per measured run.  Those of its columns that are
 * inputs of a run (trace, machine, mapping, ranks ...) identify the run among the rows of `runs`, a
 * table of study_learning_table(); `target` is the measured column.  Both functions return rows of
 * `runs` whose places in errors are those of the measurements, with the other columns of numbers that
 * runs do not have, such as the size of a grid.  NULL and *error, with file and line, when no column is
 * an input, a row fits several runs, or its target is not a finite number of at least 0. */

/* The run of each measurement, without `target`.  A measurement of no run, or of a run that was measured
 * before, is an error. */
PredictTable *study_measured_rows (const PredictTable *runs, const PredictTable *measured,
                                   const char *target, GError **error);

/* The runs that were measured, in the order of their first measurements, and `target`, which must be
 * no column of the runs.  Several measurements of a run are one row, their mean, and draws of
 * *learned, as replicas are; measurements of no run are counted there.  An error when none is of
 * a run. */
PredictTable *study_measured_runs (const PredictTable *runs, const PredictTable *measured,
                                   const char *target, StudyLearned *learned, GError **error);
