/* writer.h - writes traces in formats that other programs read.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A format is one file with a const TraceWriter, listed in writers[] of
 * writer.c.  Nothing is lost silently: an operation that a format
 * cannot express is refused, or replaced with a trace_warn() where the program
 * still does the same communication. */
#pragma once

#include "traces/trace.h"

#include <stdio.h>

typedef struct {
  const char *name;    /* "hct", "ti", "goal" */
  const char *ending;  /* of file names: ".hct" */
  const char *summary; /* one line for people */

  /* Writes the whole trace to the current position of `out`, which may not
   * be seekable; the caller closes it.  FALSE and *error (TRACE_ERROR_WRITE,
   * or the reader's) when it cannot; `out` then holds part of a trace. */
  gboolean (*write) (Trace *trace, FILE *out, TraceProgress progress, void *data, GError **error);
} TraceWriter;

extern const TraceWriter trace_writer_hct;
extern const TraceWriter trace_writer_ti;
extern const TraceWriter trace_writer_goal;

/* All of them, NULL at the end. */
const TraceWriter *const *trace_writers (void);
