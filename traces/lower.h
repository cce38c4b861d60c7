/* lower.h - one rank of a trace as messages between world ranks, and nothing else.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a format of messages cannot express is taken apart: sendrecv and
 * persistent requests become what they start, collectives their messages
 * (expand.h), and communicators disappear into ranks of MPI_COMM_WORLD and
 * tags (trace_survey.h).  Messages from or to MPI_PROC_NULL vanish.  What is left is told
 * to a sink. */
#pragma once

#include "traces/trace_survey.h"

/* A message that is posted, the side of one rank. */
typedef struct {
  gboolean is_send;
  int32_t peer; /* world rank, or TRACE_ANY_SOURCE */
  int32_t tag;  /* or TRACE_ANY_TAG */
  uint64_t bytes;
  gboolean is_blocking; /* the program does nothing before it has ended, but wait for others too */
  uint64_t token;       /* the sink's name for it */
} TracePost;

typedef struct TraceSink TraceSink;

/* Where it goes.  Everything comes in program order.  The first member of
 * the sink's own struct. */
struct TraceSink {
  void (*compute) (TraceSink *sink, int64_t gap_ps, double flops);
  /* Posted, and the program goes on.  Returns a token. */
  uint64_t (*post) (TraceSink *sink, const TracePost *post);
  /* The program goes on when these have ended.  waits_for_all: nothing else
   * that was posted is under way. */
  void (*await) (TraceSink *sink, const TracePost *posts, uint32_t n, gboolean waits_for_all);
  /* A blocking collective of all ranks in their own order, which it may
   * express itself; FALSE: it comes as messages. */
  gboolean (*collective) (TraceSink *sink, const TraceOp *op);

  /* What follows, up to join(), happens beside the program, which goes on
   * from where it was before.  join() returns a token of all that.  Both NULL
   * when the format has no such thing: all messages of a nonblocking
   * collective are then posted at once. */
  void (*fork) (TraceSink *sink);
  uint64_t (*join) (TraceSink *sink);
};

/* Tells the sink all that a rank does. */
gboolean trace_lower (Trace *trace, const TraceSurvey *survey, uint32_t rank, TraceSink *sink,
                      GError **error);
