/* work_threads.h - pieces of work that do not depend on each other, done by threads.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/forest/forest.h"

/* Piece `number` of the work; leaves its result where no other piece does. */
typedef void (*PredictPiece) (void *data, guint number);

/* The share of a longer task that the work is: its progress goes from `from` to `to`.  progress may
 * be NULL. */
typedef struct {
  PredictProgress progress;
  void *progress_data;
  double from, to;
} PredictWorkShare;

/* Calls piece (data, 0 ... n - 1), each once, in about that order, from `threads` threads, of which
 * the caller is one and reports the progress.  share may be NULL. */
void predict_work (PredictPiece piece, void *data, guint n, guint threads,
                   const PredictWorkShare *share);

/* Reports that so much of the share (0 ... 1) is done.  share may be NULL. */
void predict_work_report (const PredictWorkShare *share, double done);
