/* ti_line.h - one line of a time-independent trace into an operation.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/trace.h"

typedef struct TiLines TiLines;

/* The reader of one rank's lines; remembers default datatype and requests. */
TiLines *ti_lines_new (Trace *trace, uint32_t rank, uint32_t n_ranks);
void ti_lines_free (TiLines *lines);

typedef enum {
  TI_LINE_NOTHING,   /* the line means nothing to a simulator */
  TI_LINE_OPERATION, /* *op */
  TI_LINE_ERROR,     /* *error, without the place */
} TiLine;

/* Reads the action and arguments that follow the rank on a line.  Overwrites
 * text.  *flops is work that is done after the operation. */
TiLine ti_lines_read (TiLines *lines, char *text, TraceOp *op, double *flops, GError **error);

/* How many collective operations there were so far. */
uint64_t ti_lines_collectives (const TiLines *lines);
gboolean ti_lines_finalized (const TiLines *lines);
