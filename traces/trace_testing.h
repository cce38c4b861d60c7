/* trace_testing.h - helpers of the tests of traces/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/trace.h"

/* The path of a new folder for the files of a test. */
typedef char TraceTestingFolder;
TraceTestingFolder *trace_testing_folder (void);
/* Removes it with everything in it, and frees the path. */
void trace_testing_remove (TraceTestingFolder *folder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TraceTestingFolder, trace_testing_remove)

/* Writes a file, plain or gzip; returns its path. */
char *trace_testing_write (const char *folder, const char *name, const void *contents, gsize n);
char *trace_testing_write_text (const char *folder, const char *name, const char *text);
char *
trace_testing_write_gzip (const char *folder, const char *name, const void *contents, gsize n);

/* Path in the shared data, which is not part of the project; NULL, and the
 * test marked as skipped, when it is not there. */
char *trace_testing_shared (const char *name);
/* The same of a recorded trace: a file, or a folder NAME with NAME.tar.xz in it, which is unpacked into
 * *folder; else *folder is NULL.  NULL also when it cannot be unpacked. */
char *trace_testing_recorded (const char *name, TraceTestingFolder **folder);
/* Path of a file that ships with the project, relative to its root. */
char *trace_testing_shipped (const char *name);

/* Opens a trace that must be readable. */
Trace *trace_testing_open (const char *path);
/* Opens a trace and reads all its streams; FALSE and *error, of TRACE_ERROR, when that fails.
 * options may be NULL. */
gboolean trace_testing_read (const char *path, const TraceOptions *options, GError **error);
/* Reading the trace must fail with this code, and `part` in the message. */
void trace_testing_bad (const char *path, TraceError code, const char *part);
/* The same of a file of this name and contents, in a folder of its own. */
void trace_testing_bad_file (const char *name, const void *contents, gsize n, TraceError code,
                             const char *part);

/* Sets *op, with the arrays it needs, to operation number `index` of a rank; FALSE behind the last.
 * The arrays live until the next call. */
typedef gboolean (*TraceTestingOp) (gconstpointer data, uint32_t rank, uint64_t index, TraceOp *op);

/* A trace of operations that are made up; frees the data in the end, unless free_data is NULL. */
Trace *trace_testing_made_up (uint32_t n_ranks, gboolean is_graph, TraceTestingOp op, gpointer data,
                              GDestroyNotify free_data);

/* All operations of all ranks, summed up.  Every stream must end well. */
typedef struct {
  uint64_t n_ops[TRACE_N_OPS];
  uint64_t sends, send_bytes; /* with a real destination; a sendrecv is one of each */
  uint64_t receives;          /* not from MPI_PROC_NULL */
  uint64_t channels;          /* different (source, destination, tag) of sends */
  uint64_t channel_digest;    /* of their byte totals, whatever their order */
  int64_t gap_ps;
} TraceTotals;

TraceTotals trace_testing_totals (Trace *trace);

gboolean trace_testing_warned (const Trace *trace, const char *part);

/* The stream of one rank, and the folder of its trace. */
typedef struct {
  char *folder; /* removed at the end; or NULL */
  Trace *trace;
  TraceCursor *cursor;
  TraceOp op;        /* the last one */
  GHashTable *names; /* of values that EXPECT() bound */
} TraceTestingStream;

/* Takes the folder.  options may be NULL. */
void trace_testing_stream_open (TraceTestingStream *stream, char *folder, const char *path,
                                uint32_t rank, const TraceOptions *options);
/* Starts with another rank of the same trace. */
void trace_testing_stream_go_to (TraceTestingStream *stream, uint32_t rank);
/* There must be no more operations. */
void trace_testing_stream_end (TraceTestingStream *stream);
void trace_testing_stream_close (TraceTestingStream *stream);

/* The next operations must be of these kinds and have these values, one string
 * each: "isend peer=1 tag=any bytes=8".  Fields are those of TraceOp, arrays as in
 * "counts[1]=8"; fields that are not named are not checked.
 *
 *   +isend           computations before it are skipped
 *   request:first    binds a name to a value
 *   requests[0]=first, request!=first, first!=second
 *                    compare with it */
#define EXPECT(stream, ...) \
  trace_testing_expect ((stream), (const char *const[]){ __VA_ARGS__, NULL })
void trace_testing_expect (TraceTestingStream *stream, const char *const *rows);
