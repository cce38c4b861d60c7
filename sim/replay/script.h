/* script.h - traces written in a test, instead of read from files.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Provides all of traces/trace.h, so programs that link it must not need the
 * readers.  Each function appends one operation to a rank's stream. */
#pragma once

#include "traces/trace.h"

/* trace_free() frees it. */
Trace *script_new (uint32_t n_ranks);

/* Any operation; its arrays are copied. */
void script_add (Trace *trace, uint32_t rank, TraceOp op);

/* From now on the trace is a graph: operations are ordered by `after` alone. */
void script_set_graph (Trace *trace);

/* What trace_collectives() says; at first all is known. */
void script_set_collectives (Trace *trace, TraceCollectives collectives);

void script_compute (Trace *trace, uint32_t rank, int64_t gap_ps);
void script_call (Trace *trace, uint32_t rank);
void script_send (Trace *trace, uint32_t rank, int32_t to, int32_t tag, uint64_t bytes);
void script_send_mode (Trace *trace, uint32_t rank, int32_t to, int32_t tag, uint64_t bytes,
                       TraceSendMode mode);
void script_isend (Trace *trace, uint32_t rank, int32_t to, int32_t tag, uint64_t bytes,
                   uint32_t request);
void script_recv (Trace *trace, uint32_t rank, int32_t from, int32_t tag, uint64_t bytes);
void script_irecv (Trace *trace, uint32_t rank, int32_t from, int32_t tag, uint64_t bytes,
                   uint32_t request);
/* WAIT, START, CANCEL or REQUEST_FREE of n handles. */
void script_requests (Trace *trace, uint32_t rank, TraceOpKind kind, uint32_t n,
                      const uint32_t *requests);
void script_wait (Trace *trace, uint32_t rank, uint32_t request);
/* Collective on COMM_WORLD. */
void
script_collective (Trace *trace, uint32_t rank, TraceOpKind kind, int32_t root, uint64_t bytes);
