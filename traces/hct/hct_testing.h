/* hct_testing.h - helpers for the tests of the native format.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/trace_testing.h"

/* Sets *op, with the arrays it needs, to operation number `index` of a rank;
 * FALSE behind the last.  The arrays live until the next call. */
typedef gboolean (*HctTestingOp) (gconstpointer data, uint32_t rank, uint64_t index, TraceOp *op);

/* A trace of operations that are made up. */
Trace *
hct_testing_made_up (uint32_t n_ranks, gboolean is_graph, HctTestingOp op, gconstpointer data);

/* Writes a trace to folder/t.hct; the caller frees the path. */
char *hct_testing_convert (Trace *trace, const char *folder);

/* The trace, written and opened again.  The folder is removed with
 * trace_testing_remove(). */
Trace *hct_testing_again (Trace *trace, const char *folder);

/* Fails unless the trace, written and opened again, has the same warnings, and
 * the same fields in all operations of all ranks. */
void hct_testing_round_trip (Trace *trace);
