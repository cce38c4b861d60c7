/* ti_private.h - the parts of the reader of time-independent traces; private to traces/ti/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/trace.h"

#include <stdbool.h>
#include <stdint.h>

/* --- ti_requests.c: requests of one rank that are under way ---
 *
 * Time-independent traces name a request by its source, destination and tag; of
 * equal ones the oldest is meant.  Each gets a number of its own here. */

typedef struct {
  int32_t source, destination; /* world ranks, or TRACE_ANY_SOURCE, TRACE_PROC_NULL */
  int32_t tag;
} TiTriple;

typedef struct TiRequests TiRequests;

TiRequests *ti_requests_new (void);
void ti_requests_free (TiRequests *requests);

/* Returns the number of the request. */
uint32_t ti_requests_start (TiRequests *requests, TiTriple triple);
/* The oldest request with this triple, else the oldest with a wildcard that
 * matches it; false when there is none.  taken: it is forgotten. */
bool ti_requests_find (TiRequests *requests, TiTriple triple, bool taken, uint32_t *request);
/* The youngest of all: the request of a wait without arguments. */
bool ti_requests_take_last (TiRequests *requests, uint32_t *request);
void ti_requests_forget (TiRequests *requests);

/* Blanks stand between the words of a line.  Nearly all bytes of words are above the blank, and
 * known by the first comparison. */
static inline bool
ti_is_blank (char c)
{
  return (unsigned char) c <= ' ' && (c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'));
}

/* --- ti_line.c: one line into an operation --- */

typedef struct TiLines TiLines;

/* The reader of one rank's lines, with its default datatype and requests. */
TiLines *ti_lines_new (Trace *trace, uint32_t rank, uint32_t n_ranks);
void ti_lines_free (TiLines *lines);

typedef enum {
  TI_LINE_NOTHING,   /* no operation */
  TI_LINE_OPERATION, /* *op */
  TI_LINE_ERROR,     /* *error, without the place */
} TiLine;

/* Reads the action and arguments that follow the rank on a line, from *text, which must end with
 * a line feed or a NUL.  Moves *text to where reading stopped, within the line.  *flops is work
 * that is done after the operation. */
TiLine
ti_lines_read (TiLines *lines, const char **text, TraceOp *op, double *flops, GError **error);

/* Number of collective operations so far. */
uint64_t ti_lines_collectives (const TiLines *lines);
gboolean ti_lines_finalized (const TiLines *lines);
