/* format.h - the interface of a trace format; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/trace.h"

typedef struct {
  const char *name;    /* as `trace info` prints it */
  const char *summary; /* one line for people */
  TraceCollectives collectives;

  /* True when the first bytes of the (decompressed) file, of which there
   * are n, look like this format. */
  gboolean (*probe) (const char *path, const guint8 *head, gsize n);

  /* The format's own state; sets *n_ranks and appends the paths of all files
   * of the trace, in rank order, to files (element-type filename, owned). */
  gpointer (*open) (Trace *trace, const char *path, const TraceOptions *options, uint32_t *n_ranks,
                    GPtrArray *files, GError **error);
  void (*close) (gpointer state);

  gpointer (*cursor_new) (gpointer state, uint32_t rank, GError **error);
  void (*cursor_free) (gpointer cursor);
  TraceNext (*cursor_next) (gpointer cursor, TraceOp *op, GError **error);
  const char *(*cursor_place) (gpointer cursor);
} TraceFormat;

extern const TraceFormat trace_format_dumpi;
extern const TraceFormat trace_format_pattern;
extern const TraceFormat trace_format_recording;
extern const TraceFormat trace_format_ti;
extern const TraceFormat trace_format_goal;
extern const TraceFormat trace_format_paraver;
extern const TraceFormat trace_format_hct;
extern const TraceFormat trace_format_otf2;

/* Opens a trace of a format that is known; trace_open() finds it out. */
Trace *trace_open_as (const TraceFormat *format, const char *path, const TraceOptions *options,
                      GError **error);

/* Sets *error; FALSE.  A macro, so that the compiler sees the FALSE. */
#define TRACE_FAIL(code, error, ...) \
  (g_set_error ((error), TRACE_ERROR, (gint) (code), __VA_ARGS__), FALSE)

/* For `open`: the trace is a graph. */
void trace_set_graph (Trace *trace);

/* For `open`: the trace was converted from one of another format. */
void trace_set_source (Trace *trace, const char *format, const char *hash);

/* For `open`: the trace is made from this text alone, and its hash covers it
 * instead of files and options. */
void trace_set_spec (Trace *trace, const char *spec);

/* For `open` of a format without regions: FALSE and *error when one is asked for. */
gboolean trace_refuse_region (const char *path, const TraceOptions *options, GError **error);

/* Parts of warnings after which collectives, or their sizes, cannot be compared;
 * an .hct keeps the warnings of what it was converted from. */
#define TRACE_WARNING_NO_COMMUNICATORS "communicators are not in this format: MPI_Comm_split"
#define TRACE_WARNING_NO_SIZE          "has no known size"

/* Adds a warning once; printf-like.  May be called from any thread. */
void trace_warn (Trace *trace, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* For `open`: adds one of trace_notes(). */
void trace_note (Trace *trace, const char *note);
