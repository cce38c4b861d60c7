/* hct_testing.h - helpers for the tests of the native format.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/trace_testing.h"

/* Writes a trace to folder/t.hct; the caller frees the path. */
char *hct_testing_convert (Trace *trace, const char *folder);

/* The trace, written and opened again.  The folder is removed with
 * trace_testing_remove(). */
Trace *hct_testing_again (Trace *trace, const char *folder);

/* Fails unless the trace, written and opened again, has the same warnings, and
 * the same fields in all operations of all ranks. */
void hct_testing_round_trip (Trace *trace);
