/* format.h - what a trace format must provide; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/trace.h"

typedef struct {
  const char *name;    /* as `trace info` prints it */
  const char *summary; /* one line for people */

  /* True when the first bytes of the (decompressed) file, of which there
   * are n, look like this format. */
  gboolean (*probe) (const char *path, const guint8 *head, gsize n);

  /* The format's own state; sets *n_ranks and appends the paths of all files
   * of the trace, in rank order, to files (element-type filename, owned). */
  gpointer (*open) (Trace *trace, const char *path, uint32_t n_ranks_hint, uint32_t *n_ranks,
                    GPtrArray *files, GError **error);
  void (*close) (gpointer state);

  gpointer (*cursor_new) (gpointer state, uint32_t rank, GError **error);
  void (*cursor_free) (gpointer cursor);
  TraceNext (*cursor_next) (gpointer cursor, TraceOp *op, GError **error);
  const char *(*cursor_place) (gpointer cursor);

  /* Appends a TraceCallCount per MPI call of the rank; see trace.h. */
  gboolean (*call_counts) (gpointer state, uint32_t rank, GArray *counts, GError **error);
} TraceFormat;

extern const TraceFormat trace_format_dumpi;
extern const TraceFormat trace_format_ti;

/* Adds a warning once; printf-like.  May be called from any thread. */
void trace_warn (Trace *trace, const char *format, ...) G_GNUC_PRINTF (2, 3);
