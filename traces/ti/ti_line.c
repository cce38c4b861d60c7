/* ti_line.c - one line of a time-independent trace into an operation.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The actions and their arguments are those of SimGrid 3.32's replayer, and
 * what its tracer writes beyond them. */
#include "traces/ti/ti_line.h"

#include "traces/format.h"
#include "traces/ti/ti_arguments.h"
#include "traces/ti/ti_requests.h"

#define PS_PER_SECOND 1e12

typedef struct TiAction TiAction;

struct TiLines {
  Trace *trace;
  uint32_t rank, n_ranks;
  TiArguments *arguments;
  TiRequests *requests;
  uint32_t request;               /* what an operation's requests[] points to */
  uint32_t completed;             /* and its completed[] */
  uint64_t *counts, *recv_counts; /* [n_ranks], made when first needed */
  uint64_t n_collectives;
  gboolean finalized;
};

struct TiAction {
  const char *action; /* compared without case: 3.19 and before wrote allReduce */
  const char *name;
  TraceOpKind kind;
  gboolean (*read) (TiLines *lines, TraceOp *op, double *flops, GError **error);
  TraceSendMode mode;
};

static void
scale (uint64_t *counts, uint32_t n, uint64_t bytes)
{
  for (uint32_t i = 0; i < n; i++)
    counts[i] *= bytes;
}

static void
set_counts (TiLines *lines, TraceOp *op, uint64_t bytes)
{
  scale (lines->counts, lines->n_ranks, bytes);
  op->counts = lines->counts;
  op->n_counts = lines->n_ranks;
}

static void
set_recv_counts (TiLines *lines, TraceOp *op, uint64_t bytes)
{
  scale (lines->recv_counts, lines->n_ranks, bytes);
  op->recv_counts = lines->recv_counts;
  op->n_recv_counts = lines->n_ranks;
}

static gboolean
is_root (const TiLines *lines, const TraceOp *op)
{
  return op->root == (int32_t) lines->rank;
}

static gboolean
read_nothing (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  (void) op, (void) flops, (void) error;
  ti_arguments_skip (lines->arguments);
  return TRUE;
}

/* Any argument makes the default datatype double, none byte. */
static gboolean
read_init (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  lines->arguments->default_bytes =
      ti_type_bytes (ti_arguments_left (lines->arguments) > 0 ? TI_TYPE_DOUBLE : TI_TYPE_BYTE);
  return read_nothing (lines, op, flops, error);
}

static gboolean
read_finalize (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  lines->finalized = TRUE;
  return read_nothing (lines, op, flops, error);
}

static gboolean
read_comm (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  /* Begins as TRACE_WARNING_NO_COMMUNICATORS when a communicator is split. */
  trace_warn (lines->trace,
              "communicators are not in this format: %s was called, and what was "
              "done in its result appears as if done in MPI_COMM_WORLD",
              op->name);
  return read_nothing (lines, op, flops, error);
}

static gboolean
read_some (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  trace_warn (lines->trace,
              "%s: the format does not tell which requests it completed: taken for "
              "a call without effect",
              op->name);
  return read_nothing (lines, op, flops, error);
}

static gboolean
read_compute (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  (void) flops;
  if (!ti_take_number (lines->arguments, "amount of work", &op->flops, error))
    return FALSE;
  if (op->flops < 0)
    return ti_line_error (error, TRACE_ERROR_RANGE, "amount of work %g is negative", op->flops);
  return TRUE;
}

static gboolean
read_sleep (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  double seconds;

  (void) flops;
  if (!ti_take_number (lines->arguments, "time", &seconds, error))
    return FALSE;
  /* A million seconds are more than a job lasts, and far from overflow. */
  if (!(seconds >= 0 && seconds <= 1e6))
    return ti_line_error (error, TRACE_ERROR_RANGE, "time %g s is impossible", seconds);
  op->gap_ps = (int64_t) (seconds * PS_PER_SECOND);
  return TRUE;
}

/* peer tag count [type]; before 3.20 there was no tag. */
static gboolean
take_message (TiLines *lines, gboolean receives, TraceOp *op, int64_t *count, uint64_t *bytes,
              GError **error)
{
  gboolean tagged = ti_arguments_left (lines->arguments) != 2;

  return ti_take_rank (lines->arguments, receives ? "source" : "destination", receives, &op->peer,
                       error) &&
         (!tagged || ti_take_tag (lines->arguments, &op->tag, error)) &&
         ti_take_length (lines->arguments, "count", count, error) &&
         ti_take_type (lines->arguments, bytes, error);
}

static gboolean
read_send (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  int64_t count;
  uint64_t bytes;

  (void) flops;
  if (!take_message (lines, FALSE, op, &count, &bytes, error))
    return FALSE;
  if (count < 0)
    return ti_line_error (error, TRACE_ERROR_RANGE, "count %" G_GINT64_FORMAT " is negative",
                          count);
  op->bytes = (uint64_t) count * bytes;
  if (op->kind == TRACE_OP_ISEND)
    op->request =
        ti_requests_start (lines->requests, (TiTriple){ (int32_t) lines->rank, op->peer, op->tag });
  return TRUE;
}

/* A negative count: the length is the sender's business. */
static gboolean
read_recv (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  int64_t count;
  uint64_t bytes;

  (void) flops;
  if (!take_message (lines, TRUE, op, &count, &bytes, error))
    return FALSE;
  op->bytes = count < 0 ? TRACE_UNKNOWN_BYTES : (uint64_t) count * bytes;
  if (op->peer >= 0)
    op->matched_source = op->peer;
  if (op->kind == TRACE_OP_IRECV)
    op->request =
        ti_requests_start (lines->requests, (TiTriple){ op->peer, (int32_t) lines->rank, op->tag });
  return TRUE;
}

static gboolean
read_sendrecv (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  uint64_t send_bytes, recv_bytes;

  (void) flops;
  if (!ti_take_count (lines->arguments, "count sent", &op->bytes, error) ||
      !ti_take_rank (lines->arguments, "destination", FALSE, &op->peer, error) ||
      !ti_take_count (lines->arguments, "count received", &op->recv_bytes, error) ||
      !ti_take_rank (lines->arguments, "source", TRUE, &op->recv_peer, error) ||
      !ti_take_types (lines->arguments, &send_bytes, &recv_bytes, error))
    return FALSE;
  op->bytes *= send_bytes;
  op->recv_bytes *= recv_bytes;
  if (op->recv_peer >= 0)
    op->matched_source = op->recv_peer;
  return TRUE;
}

/* A request that was named: waited for, or left alone by a test, of which
 * the format does not tell whether it succeeded. */
static gboolean
use_request (TiLines *lines, TraceOp *op, gboolean found)
{
  if (!found) {
    trace_warn (lines->trace, "waits for requests that are not under way are passed over");
    op->kind = TRACE_OP_CALL;
    return TRUE;
  }
  op->requests = &lines->request;
  op->n_requests = 1;
  if (op->kind == TRACE_OP_TEST)
    trace_warn (lines->trace, "the format does not tell which tests succeeded: taken for none");
  else {
    op->completed = &lines->completed;
    op->n_completed = 1;
  }
  return TRUE;
}

static gboolean
read_wait (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  gboolean wait = op->kind == TRACE_OP_WAIT;
  TiTriple triple;

  (void) flops;
  if (wait && ti_arguments_left (lines->arguments) == 0)
    return use_request (lines, op, ti_requests_take_last (lines->requests, &lines->request));
  return ti_take_rank (lines->arguments, "source", TRUE, &triple.source, error) &&
         ti_take_rank (lines->arguments, "destination", FALSE, &triple.destination, error) &&
         ti_take_tag (lines->arguments, &triple.tag, error) &&
         use_request (lines, op, ti_requests_find (lines->requests, triple, wait, &lines->request));
}

static gboolean
read_waitall (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  ti_requests_forget (lines->requests);
  return read_nothing (lines, op, flops, error);
}

/* count [root [type]] */
static gboolean
read_bcast (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  uint64_t count, bytes;

  (void) flops;
  if (!ti_take_count (lines->arguments, "count", &count, error) ||
      !ti_take_root (lines->arguments, &op->root, error) ||
      !ti_take_type (lines->arguments, &bytes, error))
    return FALSE;
  op->bytes = count * bytes;
  return TRUE;
}

/* count flops [root [type]] */
static gboolean
read_reduce (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  uint64_t count, bytes;

  if (!ti_take_count (lines->arguments, "count", &count, error) ||
      !ti_take_work (lines->arguments, flops, error) ||
      !ti_take_root (lines->arguments, &op->root, error) ||
      !ti_take_type (lines->arguments, &bytes, error))
    return FALSE;
  op->bytes = count * bytes;
  return TRUE;
}

/* count flops [type]: allreduce, scan, exscan */
static gboolean
read_allreduce (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  uint64_t count, bytes;

  if (!ti_take_count (lines->arguments, "count", &count, error) ||
      !ti_take_work (lines->arguments, flops, error) ||
      !ti_take_type (lines->arguments, &bytes, error))
    return FALSE;
  op->bytes = count * bytes;
  return TRUE;
}

/* scount rcount [root] [stype rtype]: with a root for gather and scatter */
static gboolean
read_exchange (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  gboolean rooted = op->kind == TRACE_OP_GATHER || op->kind == TRACE_OP_SCATTER;
  uint64_t send_bytes, recv_bytes;

  (void) flops;
  if (!ti_take_count (lines->arguments, "count sent", &op->bytes, error) ||
      !ti_take_count (lines->arguments, "count received", &op->recv_bytes, error) ||
      (rooted && !ti_take_root (lines->arguments, &op->root, error)) ||
      !ti_take_types (lines->arguments, &send_bytes, &recv_bytes, error))
    return FALSE;
  op->bytes *= send_bytes;
  op->recv_bytes *= recv_bytes;
  /* MPI_IN_PLACE has no datatype. */
  if (!rooted && send_bytes == 0)
    op->bytes = op->recv_bytes;
  return TRUE;
}

/* scount r0..rN-1 [root [stype rtype]] */
static gboolean
read_gatherv (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  uint64_t send_bytes, recv_bytes;

  (void) flops;
  if (!ti_take_count (lines->arguments, "count sent", &op->bytes, error) ||
      !ti_take_counts (lines->arguments, "count received", &lines->recv_counts, error) ||
      !ti_take_root (lines->arguments, &op->root, error) ||
      !ti_take_types (lines->arguments, &send_bytes, &recv_bytes, error))
    return FALSE;
  op->bytes *= send_bytes;
  if (is_root (lines, op))
    set_recv_counts (lines, op, recv_bytes);
  return TRUE;
}

/* s0..sN-1 rcount [root [stype rtype]] */
static gboolean
read_scatterv (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  uint64_t send_bytes, recv_bytes;

  (void) flops;
  if (!ti_take_counts (lines->arguments, "count sent", &lines->counts, error) ||
      !ti_take_count (lines->arguments, "count received", &op->recv_bytes, error) ||
      !ti_take_root (lines->arguments, &op->root, error) ||
      !ti_take_types (lines->arguments, &send_bytes, &recv_bytes, error))
    return FALSE;
  op->recv_bytes *= recv_bytes;
  if (is_root (lines, op))
    set_counts (lines, op, send_bytes);
  return TRUE;
}

/* scount r0..rN-1 [stype rtype] [N displacements] */
static gboolean
read_allgatherv (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  uint64_t send_bytes = lines->arguments->default_bytes,
           recv_bytes = lines->arguments->default_bytes;
  guint n_more;

  (void) flops;
  if (!ti_take_count (lines->arguments, "count sent", &op->bytes, error) ||
      !ti_take_counts (lines->arguments, "count received", &lines->recv_counts, error))
    return FALSE;
  n_more = ti_arguments_left (lines->arguments);
  if ((n_more == 2 || n_more == lines->n_ranks + 2) &&
      !ti_take_types (lines->arguments, &send_bytes, &recv_bytes, error))
    return FALSE;
  if (ti_arguments_left (lines->arguments) == lines->n_ranks)
    ti_arguments_skip (lines->arguments);
  op->bytes *= send_bytes;
  set_recv_counts (lines, op, recv_bytes);
  return TRUE;
}

/* size s0..sN-1 size r0..rN-1 [stype rtype], the sizes being of the buffers */
static gboolean
read_alltoallv (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  uint64_t buffer, send_bytes, recv_bytes;

  (void) flops;
  if (!ti_take_count (lines->arguments, "size of the buffer", &buffer, error) ||
      !ti_take_counts (lines->arguments, "count sent", &lines->counts, error) ||
      !ti_take_count (lines->arguments, "size of the buffer", &buffer, error) ||
      !ti_take_counts (lines->arguments, "count received", &lines->recv_counts, error) ||
      !ti_take_types (lines->arguments, &send_bytes, &recv_bytes, error))
    return FALSE;
  set_counts (lines, op, send_bytes);
  set_recv_counts (lines, op, recv_bytes);
  return TRUE;
}

/* r0..rN-1 flops [type] */
static gboolean
read_reduce_scatter (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  uint64_t bytes;

  if (!ti_take_counts (lines->arguments, "count", &lines->recv_counts, error) ||
      !ti_take_work (lines->arguments, flops, error) ||
      !ti_take_type (lines->arguments, &bytes, error))
    return FALSE;
  set_recv_counts (lines, op, bytes);
  return TRUE;
}

#define ACTION(action, name, kind, read)                     \
  {                                                          \
    action, name, TRACE_OP_##kind, read, TRACE_SEND_STANDARD \
  }
#define SEND(action, name, kind, mode)                          \
  {                                                             \
    action, name, TRACE_OP_##kind, read_send, TRACE_SEND_##mode \
  }

static const TiAction actions[] = {
  ACTION ("init", "MPI_Init", INIT, read_init),
  ACTION ("finalize", "MPI_Finalize", FINALIZE, read_finalize),
  ACTION ("compute", "compute", COMPUTE, read_compute),
  ACTION ("sleep", "compute", COMPUTE, read_sleep),
  ACTION ("location", NULL, CALL, read_nothing),
  ACTION ("comm_size", "MPI_Comm_size", CALL, read_nothing),
  ACTION ("comm_split", "MPI_Comm_split", CALL, read_comm),
  ACTION ("comm_dup", "MPI_Comm_dup", CALL, read_comm),
  SEND ("send", "MPI_Send", SEND, STANDARD),
  SEND ("bsend", "MPI_Bsend", SEND, BUFFERED),
  SEND ("ssend", "MPI_Ssend", SEND, SYNCHRONOUS),
  SEND ("rsend", "MPI_Rsend", SEND, READY),
  SEND ("isend", "MPI_Isend", ISEND, STANDARD),
  SEND ("ibsend", "MPI_Ibsend", ISEND, BUFFERED),
  SEND ("issend", "MPI_Issend", ISEND, SYNCHRONOUS),
  SEND ("irsend", "MPI_Irsend", ISEND, READY),
  ACTION ("recv", "MPI_Recv", RECV, read_recv),
  ACTION ("irecv", "MPI_Irecv", IRECV, read_recv),
  ACTION ("sendrecv", "MPI_Sendrecv", SENDRECV, read_sendrecv),
  ACTION ("wait", "MPI_Wait", WAIT, read_wait),
  ACTION ("test", "MPI_Test", TEST, read_wait),
  ACTION ("waitall", "MPI_Waitall", WAIT_OUTSTANDING, read_waitall),
  ACTION ("waitany", "MPI_Waitany", CALL, read_some),
  ACTION ("waitsome", "MPI_Waitsome", CALL, read_some),
  ACTION ("testany", "MPI_Testany", CALL, read_some),
  ACTION ("testall", "MPI_Testall", CALL, read_some),
  ACTION ("testsome", "MPI_Testsome", CALL, read_some),
  /* Persistent requests: the tracer does not write what they are. */
  ACTION ("start", "MPI_Start", UNSUPPORTED, read_nothing),
  ACTION ("startall", "MPI_Startall", UNSUPPORTED, read_nothing),
  ACTION ("barrier", "MPI_Barrier", BARRIER, read_nothing),
  ACTION ("bcast", "MPI_Bcast", BCAST, read_bcast),
  ACTION ("reduce", "MPI_Reduce", REDUCE, read_reduce),
  ACTION ("allreduce", "MPI_Allreduce", ALLREDUCE, read_allreduce),
  ACTION ("scan", "MPI_Scan", SCAN, read_allreduce),
  ACTION ("exscan", "MPI_Exscan", EXSCAN, read_allreduce),
  ACTION ("alltoall", "MPI_Alltoall", ALLTOALL, read_exchange),
  ACTION ("allgather", "MPI_Allgather", ALLGATHER, read_exchange),
  ACTION ("gather", "MPI_Gather", GATHER, read_exchange),
  ACTION ("scatter", "MPI_Scatter", SCATTER, read_exchange),
  ACTION ("gatherv", "MPI_Gatherv", GATHERV, read_gatherv),
  ACTION ("scatterv", "MPI_Scatterv", SCATTERV, read_scatterv),
  ACTION ("allgatherv", "MPI_Allgatherv", ALLGATHERV, read_allgatherv),
  ACTION ("alltoallv", "MPI_Alltoallv", ALLTOALLV, read_alltoallv),
  ACTION ("reducescatter", "MPI_Reduce_scatter", REDUCE_SCATTER, read_reduce_scatter),
};

TiLines *
ti_lines_new (Trace *trace, uint32_t rank, uint32_t n_ranks)
{
  TiLines *lines = g_new0 (TiLines, 1);

  lines->trace = trace;
  lines->rank = rank;
  lines->n_ranks = n_ranks;
  lines->requests = ti_requests_new ();
  lines->arguments = ti_arguments_new (trace, n_ranks);
  return lines;
}

void
ti_lines_free (TiLines *lines)
{
  if (lines == NULL)
    return;
  ti_requests_free (lines->requests);
  ti_arguments_free (lines->arguments);
  g_free (lines->counts);
  g_free (lines->recv_counts);
  g_free (lines);
}

uint64_t
ti_lines_collectives (const TiLines *lines)
{
  return lines->n_collectives;
}

gboolean
ti_lines_finalized (const TiLines *lines)
{
  return lines->finalized;
}

/* Names that only SimGrid 3.19 and before wrote.  Their messages had no tags;
 * a line of three arguments cannot be told from one of today. */
static void
warn_old (TiLines *lines, const char *word)
{
  static const char *const old[] = { "Isend",    "Irecv",     "waitAll",   "allReduce",
                                     "allToAll", "allGather", "allToAllV", "allGatherV" };

  for (guint i = 0; i < G_N_ELEMENTS (old); i++)
    if (g_str_equal (old[i], word))
      trace_warn (lines->trace, "actions of SimGrid 3.19 or before: messages of three arguments "
                                "are read as peer, tag and count; convert the trace if they had "
                                "no tags");
}

static const TiAction *
find_exactly (const char *word)
{
  char first = g_ascii_tolower (word[0]);

  for (guint i = 0; i < G_N_ELEMENTS (actions); i++)
    if (actions[i].action[0] == first && g_ascii_strcasecmp (actions[i].action, word) == 0)
      return &actions[i];
  return NULL;
}

/* Non-blocking collectives have no request in this format, so that nothing
 * can wait for them: they become blocking. */
static const TiAction *
find_action (TiLines *lines, const char *word)
{
  const TiAction *action = find_exactly (word);

  warn_old (lines, word);
  if (action == NULL && (word[0] == 'i' || word[0] == 'I')) {
    action = find_exactly (word + 1);
    if (action != NULL && !trace_op_is_collective (action->kind))
      action = NULL;
    if (action != NULL)
      trace_warn (lines->trace, "%s: nothing tells when it was waited for: taken as blocking",
                  word);
  }
  return action;
}

TiLine
ti_lines_read (TiLines *lines, char *text, TraceOp *op, double *flops, GError **error)
{
  const TiAction *action;
  const char *word;

  ti_arguments_split (lines->arguments, text);
  word = ti_arguments_next (lines->arguments);
  if (word == NULL) {
    ti_line_error (error, TRACE_ERROR_FORMAT, "the action is missing");
    return TI_LINE_ERROR;
  }
  action = find_action (lines, word);
  if (action == NULL) {
    ti_line_error (error, TRACE_ERROR_FORMAT, "unknown action");
    return TI_LINE_ERROR;
  }
  *flops = 0;
  *op = (TraceOp){ .kind = action->kind,
                   .mode = action->mode,
                   .comm = TRACE_COMM_WORLD,
                   .root = TRACE_NO_ROOT,
                   .matched_source = TRACE_ANY_SOURCE,
                   .name = action->name };
  if (!action->read (lines, op, flops, error))
    return TI_LINE_ERROR;
  if (ti_arguments_left (lines->arguments) > 0) {
    ti_line_error (error, TRACE_ERROR_FORMAT, "too many arguments, from \"%s\" on",
                   ti_arguments_next (lines->arguments));
    return TI_LINE_ERROR;
  }
  lines->n_collectives += trace_op_is_collective (op->kind);
  return action->name == NULL ? TI_LINE_NOTHING : TI_LINE_OPERATION;
}
