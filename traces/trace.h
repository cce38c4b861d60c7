/* trace.h - a recorded MPI program: one lazy stream of operations per rank.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A format is one file with a const TraceFormat, listed in formats[] of
 * trace.c.  No code outside this folder depends on a format. */
#pragma once

#include "mpi/operation.h"
#include "mpi/trace_error.h"

#include <glib.h>

typedef struct Trace Trace;
typedef struct TraceCursor TraceCursor;

/* Called now and then during long work, with the share that is done: 0..1. */
typedef void (*TraceProgress) (void *data, double share);

/* How to read; all zero is the usual choice. */
typedef struct {
  uint32_t n_ranks;        /* for formats without it (a TI file that every rank shares) */
  const char *from_region; /* NULL, or replay only this user region; copied */
  gboolean allow_lossy;    /* guess lost data, with a warning, instead of failing */
} TraceOptions;

/* Opens whatever `path` is: a DUMPI .meta file, a TI file or list of files,
 * plain or gzip; OTF2, Paraver, GOAL; a native .hct file or the folder of a
 * recording; or the spec of a pattern ("gen:...", see
 * pattern.h), which is no file.  The format is found from the content, not from the name.
 * options may be NULL.  A format that has no regions fails on from_region. */
Trace *trace_open (const char *path, const TraceOptions *options, GError **error);
void trace_free (Trace *trace);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Trace, trace_free)

/* A small gzip file can unpack to gigabytes, and is held in memory as a whole: one that gives
 * more than 256 MiB and more than 100 times its own size is refused, until this is called. */
void trace_unpack_all (void);

const char *trace_path (const Trace *trace);
const char *trace_format_name (const Trace *trace); /* "dumpi", "ti" */
uint32_t trace_ranks (const Trace *trace);
/* The operations of a rank are ordered by their `after` alone; see operation.h. */
gboolean trace_is_graph (const Trace *trace);

/* The part of collective calls that can be compared between ranks. */
typedef enum {
  TRACE_COLLECTIVES_KNOWN,         /* calls, roots and sizes */
  TRACE_COLLECTIVES_PASSED,        /* also arguments that MPI_IN_PLACE makes void, as passed */
  TRACE_COLLECTIVES_WITHOUT_SIZES, /* calls and roots: sizes are partly guesses */
  TRACE_COLLECTIVES_MIXED, /* nothing: those of lost communicators count as MPI_COMM_WORLD's */
} TraceCollectives;

/* Depends on the format and on the warnings so far. */
TraceCollectives trace_collectives (const Trace *trace);

/* SHA-256 (hex) over the contents of all files of the trace, in rank order,
 * or over the complete spec of a pattern;
 * reads them once, then remembered.  What TraceOptions
 * leave out or guess is part of it.  NULL and *error when one is unreadable. */
const char *trace_hash (Trace *trace, GError **error);

/* Whether its files are still those that trace_hash() read, by their size, time
 * and number.  Always, before it was called, and for a pattern. */
gboolean trace_is_unchanged (const Trace *trace);

/* The format that a converted trace was recorded in, and in *hash (may be NULL) the trace_hash() of
 * that recording; else NULL. */
const char *trace_source (const Trace *trace, const char **hash);

/* Gaps of the source, and repairs made while reading so far, for people:
 * "window without MPI_Finalize", "rank 3 truncated after 812 calls".  Each
 * message once: those of opening in the order found, then those of reading
 * in alphabetical order.  Borrowed, valid until the next call on
 * the trace. */
const GPtrArray *trace_warnings (const Trace *trace);

/* Data that no replay needs, such as hardware counters: the same, but no reason to doubt a result. */
const GPtrArray *trace_notes (const Trace *trace);

/* Replaces the warnings by those of an earlier reading, copied, in their order; what is found once
 * more is not said twice. */
void trace_set_warnings (Trace *trace, const GPtrArray *warnings);

/* A rank's stream from its first operation.  Several cursors on one rank are
 * independent.  Memory is bounded by the longest operation where the format
 * allows. */
TraceCursor *trace_cursor_new (Trace *trace, uint32_t rank, GError **error);
void trace_cursor_free (TraceCursor *cursor);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TraceCursor, trace_cursor_free)

typedef enum {
  TRACE_NEXT_OPERATION, /* *op is the next one */
  TRACE_NEXT_END,       /* the stream is over */
  TRACE_NEXT_ERROR,     /* *error has the place: file and offset or line */
} TraceNext;

TraceNext trace_cursor_next (TraceCursor *cursor, TraceOp *op, GError **error);

/* Operations that it has given so far. */
uint64_t trace_cursor_count (const TraceCursor *cursor);

/* Where in the source the last operation came from, for messages:
 * "dumpi-0003.bin:0x1f40" or "rank3.txt:812".  Borrowed until the next call. */
const char *trace_cursor_place (TraceCursor *cursor);
