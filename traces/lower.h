/* lower.h - one rank of a trace as messages between world ranks, and nothing else.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Operations that a format of messages cannot express are replaced: sendrecv and
 * persistent requests by the messages that they start, collectives by their
 * messages, and communicators by ranks of MPI_COMM_WORLD and tags.  Messages from
 * or to MPI_PROC_NULL vanish.  A sink gets the rest. */
#pragma once

#include "mpi/communicator.h"
#include "traces/trace.h"

/* --- Surveys: trace_survey.c ---
 *
 * Formats of point-to-point messages have neither communicators nor cancelled
 * requests.  A survey reads the trace once; then ranks can be written one after
 * the other, each from its first operation on:
 *
 * - Communicators: the one that a handle was bound to, in the order of the
 *   operations that bind (trace_survey_binds()).
 * - Tags: messages are kept apart by communicator in MPI.  A tag that is
 *   used in one communicator alone stays; in every further one it becomes a
 *   tag above all others.  Tags of collectives are above those.
 * - Receives that were cancelled: by their number in the order in which
 *   requests of the rank were started. */

typedef struct TraceSurvey TraceSurvey;

TraceSurvey *trace_survey_new (Trace *trace, GError **error);
void trace_survey_free (TraceSurvey *survey);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TraceSurvey, trace_survey_free)

const TraceComms *trace_survey_comms (const TraceSurvey *survey);

/* TRUE when the operation binds a communicator handle. */
gboolean trace_survey_binds (TraceOpKind kind);
/* The communicator of the rank's index-th binding operation; TRACE_COMMS_NULL: none. */
uint32_t trace_survey_bound (const TraceSurvey *survey, uint32_t rank, uint32_t index);

/* The written tag of a message in a communicator; wildcards stay. */
int32_t trace_survey_tag (const TraceSurvey *survey, uint32_t comm, int32_t tag);
/* The tag of all messages of the sequence-th collective of a communicator. */
int32_t trace_survey_collective_tag (const TraceSurvey *survey, uint32_t comm, uint32_t sequence);
/* FALSE, and *error, when user tags leave no room for others. */
gboolean trace_survey_check_tags (const TraceSurvey *survey, GError **error);

/* TRUE when the serial-th request of the rank is a receive that it cancels. */
gboolean trace_survey_is_cancelled (const TraceSurvey *survey, uint32_t rank, uint32_t serial);

/* --- Collectives as messages: expand.c ---
 *
 * The algorithms are the textbook ones (R. Thakur, R. Rabenseifner, W. Gropp:
 * Optimization of collective communication operations in MPICH, 2005): one
 * for each operation, whatever its size: a file describes a program, not a
 * machine.
 *
 *   barrier                    dissemination
 *   bcast, reduce              binomial tree
 *   gather, gatherv            all ranks to the root at once
 *   scatter, scatterv          the root to all ranks at once
 *   allgather, allgatherv      ring
 *   alltoall, alltoallv,
 *   reduce_scatter             pairwise exchange
 *   allreduce                  recursive doubling
 *   scan, exscan               doubling of distances
 *   neighbourhoods             all at once
 *
 * Empty messages are left out where both sides have the length, but for those of a
 * barrier and of a tree. */

/* Ranks are those of the communicator; TRACE_NO_MEMBER: no message. */
typedef struct {
  uint32_t send_to, recv_from;
  uint64_t send_bytes, recv_bytes;
  gboolean with_next; /* begins together with the next step, else that one waits for it */
} TraceStep;

/* The steps of rank `rank` of n in a collective, blocking or not (element-type
 * TraceStep).  NULL and *error (TRACE_ERROR_RANGE), without place, when the
 * operation has impossible ranks, or lists of the wrong length. */
GArray *trace_expand (const TraceOp *op, uint32_t n, uint32_t rank, GError **error);

/* --- Lowering: lower.c --- */

/* One rank's side of a posted message. */
typedef struct {
  gboolean is_send;
  int32_t peer; /* world rank, or TRACE_ANY_SOURCE */
  int32_t tag;  /* or TRACE_ANY_TAG */
  uint64_t bytes;
  gboolean is_blocking; /* the program goes on when it has ended; it may wait for others too */
  uint64_t token;       /* of the sink */
} TracePost;

typedef struct TraceSink TraceSink;

/* The receiver of all messages, in program order.  The first member of the
 * sink's own struct. */
struct TraceSink {
  void (*compute) (TraceSink *sink, int64_t gap_ps, double flops);
  /* Posted, and the program goes on.  Returns a token. */
  uint64_t (*post) (TraceSink *sink, const TracePost *post);
  /* The program goes on when these have ended.  waits_for_all: no other post
   * is under way. */
  void (*await) (TraceSink *sink, const TracePost *posts, uint32_t n, gboolean waits_for_all);
  /* A blocking collective of all ranks in their own order.  FALSE: the sink
   * cannot express it, and gets it as messages. */
  gboolean (*collective) (TraceSink *sink, const TraceOp *op);

  /* The messages between fork() and join() are a branch beside the program,
   * which continues from before the fork.  join() returns a token of the branch.
   * Both NULL when the format has no branches: all messages of a nonblocking
   * collective are then posted at once. */
  void (*fork) (TraceSink *sink);
  uint64_t (*join) (TraceSink *sink);
};

/* Passes all operations of a rank to the sink. */
gboolean trace_lower (Trace *trace, const TraceSurvey *survey, uint32_t rank, TraceSink *sink,
                      GError **error);
