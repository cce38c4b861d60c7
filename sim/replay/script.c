/* script.c - traces written in a test, instead of read from files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/script.h"

#include <string.h>

struct Trace {
  uint32_t n_ranks;
  GPtrArray **ops; /* [n_ranks] (element-type TraceOp) */
  GPtrArray *warnings;
  gboolean is_graph;
  TraceCollectives collectives;
};

struct TraceCursor {
  const GPtrArray *ops;
  uint32_t next, rank;
  char *place;
};

Trace *
trace_open (const char *path, const TraceOptions *options, GError **error)
{
  (void) options;
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_OPEN, "%s: scripts are not opened", path);
  return NULL;
}

static void
op_free (gpointer data)
{
  TraceOp *op = data;

  g_free ((gpointer) op->requests);
  g_free ((gpointer) op->completed);
  g_free ((gpointer) op->counts);
  g_free ((gpointer) op->recv_counts);
  g_free ((gpointer) op->values);
  g_free ((gpointer) op->values2);
  g_free ((gpointer) op->after);
  g_free ((gpointer) op->after_start);
  g_free (op);
}

Trace *
script_new (uint32_t n_ranks)
{
  Trace *trace = g_new0 (Trace, 1);

  trace->n_ranks = n_ranks;
  trace->ops = g_new (GPtrArray *, n_ranks);
  trace->warnings = g_ptr_array_new ();
  for (uint32_t rank = 0; rank < n_ranks; rank++)
    trace->ops[rank] = g_ptr_array_new_with_free_func (op_free);
  return trace;
}

void
trace_free (Trace *trace)
{
  if (trace == NULL)
    return;
  for (uint32_t rank = 0; rank < trace->n_ranks; rank++)
    g_ptr_array_unref (trace->ops[rank]);
  g_ptr_array_unref (trace->warnings);
  g_free (trace->ops);
  g_free (trace);
}

const char *
trace_path (const Trace *trace)
{
  (void) trace;
  return "script";
}

const char *
trace_format_name (const Trace *trace)
{
  return trace_path (trace);
}

uint32_t
trace_ranks (const Trace *trace)
{
  return trace->n_ranks;
}

gboolean
trace_is_graph (const Trace *trace)
{
  return trace->is_graph;
}

TraceCollectives
trace_collectives (const Trace *trace)
{
  return trace->collectives;
}

const char *
trace_hash (Trace *trace, GError **error)
{
  (void) error;
  return trace_path (trace);
}

const GPtrArray *
trace_warnings (const Trace *trace)
{
  return trace->warnings;
}

TraceCursor *
trace_cursor_new (Trace *trace, uint32_t rank, GError **error)
{
  TraceCursor *cursor = g_new0 (TraceCursor, 1);

  (void) error;
  cursor->ops = trace->ops[rank];
  cursor->rank = rank;
  return cursor;
}

void
trace_cursor_free (TraceCursor *cursor)
{
  if (cursor == NULL)
    return;
  g_free (cursor->place);
  g_free (cursor);
}

TraceNext
trace_cursor_next (TraceCursor *cursor, TraceOp *op, GError **error)
{
  (void) error;
  if (cursor->next == cursor->ops->len)
    return TRACE_NEXT_END;
  *op = *(const TraceOp *) g_ptr_array_index (cursor->ops, cursor->next++);
  return TRACE_NEXT_OPERATION;
}

const char *
trace_cursor_place (TraceCursor *cursor)
{
  g_free (cursor->place);
  cursor->place = g_strdup_printf ("rank%u:%u", cursor->rank, cursor->next);
  return cursor->place;
}

/* -- writing ------------------------------------------------------------- */

static gpointer
copy (gconstpointer data, gsize n, gsize size)
{
  gpointer to = data == NULL ? NULL : g_malloc0 (MAX (1u, n * size));

  if (to != NULL && n > 0)
    memcpy (to, data, n * size);
  return to;
}

void
script_add (Trace *trace, uint32_t rank, TraceOp op)
{
  if (op.name == NULL)
    op.name = "MPI_Call";
  op.matched_source = TRACE_ANY_SOURCE;
  op.requests = copy (op.requests, op.n_requests, sizeof *op.requests);
  op.completed = copy (op.completed, op.n_completed, sizeof *op.completed);
  op.counts = copy (op.counts, op.n_counts, sizeof *op.counts);
  op.recv_counts = copy (op.recv_counts, op.n_recv_counts, sizeof *op.recv_counts);
  op.values = copy (op.values, MAX (op.n_values, op.n_counts), sizeof *op.values);
  op.values2 = copy (op.values2, MAX (op.n_values, op.n_recv_counts), sizeof *op.values2);
  op.after = copy (op.after, op.n_after, sizeof *op.after);
  op.after_start = copy (op.after_start, op.n_after_start, sizeof *op.after_start);
  g_ptr_array_add (trace->ops[rank], copy (&op, 1, sizeof op));
}

void
script_set_graph (Trace *trace)
{
  trace->is_graph = TRUE;
}

void
script_set_collectives (Trace *trace, TraceCollectives collectives)
{
  trace->collectives = collectives;
}

void
script_compute (Trace *trace, uint32_t rank, int64_t gap_ps)
{
  script_add (trace, rank, (TraceOp){ .kind = TRACE_OP_COMPUTE, .gap_ps = gap_ps });
}

void
script_call (Trace *trace, uint32_t rank)
{
  script_add (trace, rank, (TraceOp){ .kind = TRACE_OP_CALL });
}

void
script_send_mode (Trace *trace, uint32_t rank, int32_t to, int32_t tag, uint64_t bytes,
                  TraceSendMode mode)
{
  script_add (trace, rank,
              (TraceOp){ .kind = TRACE_OP_SEND,
                         .mode = mode,
                         .comm = TRACE_COMM_WORLD,
                         .peer = to,
                         .tag = tag,
                         .bytes = bytes,
                         .name = "MPI_Send" });
}

void
script_send (Trace *trace, uint32_t rank, int32_t to, int32_t tag, uint64_t bytes)
{
  script_send_mode (trace, rank, to, tag, bytes, TRACE_SEND_STANDARD);
}

void
script_isend (Trace *trace, uint32_t rank, int32_t to, int32_t tag, uint64_t bytes,
              uint32_t request)
{
  script_add (trace, rank,
              (TraceOp){ .kind = TRACE_OP_ISEND,
                         .comm = TRACE_COMM_WORLD,
                         .peer = to,
                         .tag = tag,
                         .bytes = bytes,
                         .request = request,
                         .name = "MPI_Isend" });
}

void
script_recv (Trace *trace, uint32_t rank, int32_t from, int32_t tag, uint64_t bytes)
{
  script_add (trace, rank,
              (TraceOp){ .kind = TRACE_OP_RECV,
                         .comm = TRACE_COMM_WORLD,
                         .peer = from,
                         .tag = tag,
                         .bytes = bytes,
                         .name = "MPI_Recv" });
}

void
script_irecv (Trace *trace, uint32_t rank, int32_t from, int32_t tag, uint64_t bytes,
              uint32_t request)
{
  script_add (trace, rank,
              (TraceOp){ .kind = TRACE_OP_IRECV,
                         .comm = TRACE_COMM_WORLD,
                         .peer = from,
                         .tag = tag,
                         .bytes = bytes,
                         .request = request,
                         .name = "MPI_Irecv" });
}

void
script_requests (Trace *trace, uint32_t rank, TraceOpKind kind, uint32_t n,
                 const uint32_t *requests)
{
  script_add (trace, rank,
              (TraceOp){ .kind = kind, .requests = requests, .n_requests = n, .name = "MPI_Wait" });
}

void
script_wait (Trace *trace, uint32_t rank, uint32_t request)
{
  script_requests (trace, rank, TRACE_OP_WAIT, 1, &request);
}

void
script_collective (Trace *trace, uint32_t rank, TraceOpKind kind, int32_t root, uint64_t bytes)
{
  script_add (trace, rank,
              (TraceOp){ .kind = kind,
                         .comm = TRACE_COMM_WORLD,
                         .root = root,
                         .bytes = bytes,
                         .recv_bytes = bytes,
                         .name = "MPI_Collective" });
}
