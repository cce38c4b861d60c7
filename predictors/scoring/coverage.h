/* coverage.h - how often intervals hold the truth: by the prediction, and in each category.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An interval that holds 90 % of all rows may hold 95 % of the fast ones and 80 % of the slow ones.
 * Coverage is therefore counted in each tenth of the rows, in the order of their predictions, and for
 * each value of some columns.  No fit is needed: the samples, which models that had not seen them
 * have predicted, are dealt into ten parts by whole groups, and those of a part get intervals that are
 * calibrated on the other parts. */
#pragma once

#include "predictors/table/table.h"

/* The samples: one per row of `table`. */
typedef struct {
  const PredictTable *table;
  const double *observed, *predicted, *deviation; /* [n_rows] as of predict_interval_calibrate() */
  const uint32_t *group;                          /* [n_rows] < n_groups */
  uint32_t n_groups;
  double level; /* of the intervals, 0 < level < 1 */
  uint64_t seed;
} PredictCovered;

/* Of the rows with one value. */
typedef struct {
  char *by;    /* "all", "prediction", or a column */
  char *value; /* "" of all, "3 of 10" of predictions, else the cell */
  uint64_t n, groups;
  double from, to;   /* the predictions of a tenth, in the unit of `predicted`; else NaN */
  double share;      /* covered */
  double low, high;  /* 95 % bounds of the share (Wilson 1927), each group counting as one trial */
  double half_width; /* median; infinite when the groups are too few for the level */
} PredictCoverage;

/* Columns with more values are not broken down. */
#define PREDICT_COVERAGE_VALUES 20u

/* One for all rows, one for each tenth (of fewer than 100 rows, for each ten rows), one for each value
 * of the columns named ([NULL-terminated]; of those with 2 ... PREDICT_COVERAGE_VALUES values), in the
 * order of appearance.  Rows with a prediction of NaN do not count.  (element-type PredictCoverage);
 * the caller unrefs, which frees the texts.  Empty with fewer than two groups.  The columns must be
 * there. */
GArray *predict_coverage (const PredictCovered *covered, const char *const *columns);
