/* trace_testing.h - what the tests of traces/ share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/trace.h"

#include <stdarg.h>

/* A new folder for the files of a test. */
char *trace_testing_folder (void);
/* Removes it with everything in it, and frees the name. */
void trace_testing_remove (char *folder);

/* Writes a file, plain or gzip; returns its path. */
char *trace_testing_write (const char *folder, const char *name, const void *contents, gsize n);
char *
trace_testing_write_gzip (const char *folder, const char *name, const void *contents, gsize n);

/* Path in the shared data, which is not part of the project; NULL, and the
 * test marked as skipped, when it is not there. */
char *trace_testing_shared (const char *name);
/* The trace in a packed set under recorded/ of the shared data, unpacked into a
 * new folder that the caller removes.  NULL, and the test marked as skipped,
 * when the set or the means to unpack it are not there. */
char *trace_testing_recorded (const char *name, char **folder);
/* Path of a file that ships with the project, relative to its root. */
char *trace_testing_shipped (const char *name);

/* Opens a trace that must be readable. */
Trace *trace_testing_open (const char *path);
/* Opens one that must not be, or whose streams must not; checks the code and
 * that the message has `part` in it. */
void trace_testing_bad (const char *path, TraceError code, const char *part);

/* The next operations of a stream must be these, up to NULL.  Each is a kind and
 * the values that are compared, "sendrecv peer=3 tag=any", with lists such as
 * "counts=12,16"; "end" is the end of the stream. */
void trace_testing_expect (TraceCursor *cursor, ...) G_GNUC_NULL_TERMINATED;
void trace_testing_expect_list (TraceCursor *cursor, va_list expected);

/* All operations of all ranks, summed up.  Every stream must end well. */
typedef struct {
  uint64_t n_ops[TRACE_N_OPS];
  uint64_t sends, send_bytes; /* with a real destination; a sendrecv is one of each */
  uint64_t receives;          /* not from nobody */
  uint64_t channels;          /* different (source, destination, tag) of sends */
  uint64_t channel_digest;    /* of their byte totals, whatever their order */
  int64_t gap_ps;
} TraceTotals;

TraceTotals trace_testing_totals (Trace *trace);

gboolean trace_testing_warned (const Trace *trace, const char *part);
