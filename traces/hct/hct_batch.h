/* hct_batch.h - a run of a rank's operations, made into programs; private to
 * traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Operations are collected until there are enough of them (their memory is
 * bounded), then their loops are found, and what comes out is handed over in
 * parts that are no longer than a cursor should hold. */
#pragma once

#include "traces/hct/hct_record.h"

typedef struct HctBatch HctBatch;

HctBatch *hct_batch_new (HctNames *names);
void hct_batch_free (HctBatch *batch);

/* A rank's stream begins. */
void hct_batch_restart (HctBatch *batch);
/* TRUE when no more should be added. */
gboolean hct_batch_add (HctBatch *batch, const TraceOp *op, const HctPlace *place);

/* A program with its measures; all borrowed until the next call. */
typedef struct {
  const HctBuffer *program;
  const HctBuffer *measures;
  const GArray *cuts; /* (element-type gsize): where measures may be cut; the last is their end */
  uint64_t n_ops;
  uint64_t record_bytes; /* of the operations, as if none were a repetition */
} HctPart;

/* Finds the loops in what was added; then the parts, until FALSE, which leaves
 * the batch empty. */
void hct_batch_fold (HctBatch *batch);
gboolean hct_batch_next (HctBatch *batch, HctPart *part);
