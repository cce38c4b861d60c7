/* crowd.h - pieces of work that do not depend on each other, done by threads.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/forest/forest.h"

/* Piece `number` of the work; leaves its result where no other piece does. */
typedef void (*PredictPiece) (void *data, guint number);

/* What the work is of something longer: its share goes from `from` to `to`.  progress may be
 * NULL. */
typedef struct {
  PredictProgress progress;
  void *progress_data;
  double from, to;
} PredictStretch;

/* Calls piece (data, 0 ... n - 1), each once, in about that order, from `threads` threads: the caller
 * is one of them, and tells the progress.  stretch may be NULL. */
void predict_crowd (PredictPiece piece, void *data, guint n, guint threads,
                    const PredictStretch *stretch);
