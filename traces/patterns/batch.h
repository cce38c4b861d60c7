/* batch.h - operations kept until they are asked for; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every rank of a replay holds a batch, and there may be a million of them:
 * operations are kept packed, as what they have that a blank one has not.
 * A batch is filled (with the functions of pattern.h), sealed, and read. */
#pragma once

#include "traces/patterns/pattern.h"

TraceBatch *trace_batch_new (void);
void trace_batch_free (TraceBatch *batch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TraceBatch, trace_batch_free)

/* Makes it empty, to be filled again; what was read from it is gone. */
void trace_batch_clear (TraceBatch *batch);

/* It is full: from now on it can be read, and takes no more room than it must. */
void trace_batch_seal (TraceBatch *batch);

/* Reads the operation at *at, which is 0 for the first, and moves *at to the
 * next.  FALSE when there is none.  Arrays of the operation belong to the batch. */
gboolean trace_batch_read (const TraceBatch *batch, guint *at, TraceOp *op);
