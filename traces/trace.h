/* trace.h - a recorded MPI program: one lazy stream of operations per rank.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A format is one file with a const TraceFormat, listed in formats[] of
 * trace.c.  Nothing outside this folder knows formats. */
#pragma once

#include "traces/operation.h"

#include <glib.h>

#define TRACE_ERROR (trace_error_quark ())
typedef enum {
  TRACE_ERROR_OPEN,   /* cannot be read at all */
  TRACE_ERROR_FORMAT, /* not of the format it claims */
  TRACE_ERROR_RANGE,  /* well formed, impossible value */
} TraceError;
GQuark trace_error_quark (void);

typedef struct Trace Trace;
typedef struct TraceCursor TraceCursor;

/* Opens whatever `path` is: a DUMPI .meta file, a TI file or list of files,
 * plain or gzip.  The format is found from the content, not from the name.
 * n_ranks_hint: for formats that do not say how many ranks there are (a TI
 * file that every rank shares); 0 = what the trace says. */
Trace *trace_open (const char *path, uint32_t n_ranks_hint, GError **error);
void trace_free (Trace *trace);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Trace, trace_free)

const char *trace_path (const Trace *trace);
const char *trace_format_name (const Trace *trace); /* "dumpi", "ti" */
uint32_t trace_ranks (const Trace *trace);

/* SHA-256 (hex) over the contents of all files of the trace, in rank order;
 * reads them once, then remembered.  NULL and *error when one is unreadable. */
const char *trace_hash (Trace *trace, GError **error);

/* What the source lacks or what was mended while reading so far, for people:
 * "window without MPI_Finalize", "rank 3 truncated after 812 calls".  Each
 * message once, in the order found.  Borrowed, valid until the next call on
 * the trace. */
const GPtrArray *trace_warnings (const Trace *trace);

/* A rank's stream from its first operation.  Several cursors on one rank are
 * independent.  Memory is bounded by the longest operation where the format
 * allows. */
TraceCursor *trace_cursor_new (Trace *trace, uint32_t rank, GError **error);
void trace_cursor_free (TraceCursor *cursor);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TraceCursor, trace_cursor_free)

typedef enum {
  TRACE_NEXT_OPERATION, /* *op is the next one */
  TRACE_NEXT_END,       /* the stream is over */
  TRACE_NEXT_ERROR,     /* *error says where: file and offset or line */
} TraceNext;

TraceNext trace_cursor_next (TraceCursor *cursor, TraceOp *op, GError **error);

/* Where in the source the last operation came from, for messages:
 * "dumpi-0003.bin:0x1f40" or "rank3.txt:812".  Borrowed until the next call. */
const char *trace_cursor_place (TraceCursor *cursor);

/* The calls of one rank: how many records there are, and how many the
 * source's own summary says there should be.  A reader that misreads a record
 * does not get these equal. */
typedef struct {
  const char *name;    /* static: "MPI_Isend" */
  uint64_t read;       /* records in the stream */
  uint64_t claimed;    /* records by the summary */
  uint64_t unrecorded; /* made by the program, but left out of the trace */
} TraceCallCount;

/* (element-type TraceCallCount), one per call that any of the numbers is not
 * 0 for.  Reads the whole stream of the rank.  NULL and *error when it cannot
 * be read or the source has no summary. */
GArray *trace_call_counts (Trace *trace, uint32_t rank, GError **error);
