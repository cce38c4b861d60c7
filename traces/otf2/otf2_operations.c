/* otf2_operations.c - the records of OTF2 archives into operations, one by one.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Communicators are defined before the rank first uses them: their members are
 * known from the start, and nobody waits. */
#include "traces/otf2/otf2_operations.h"

#include "traces/format.h"

#include <otf2/otf2.h>
#include <string.h>

TraceOp *
otf2_calls_push (Otf2Calls *calls, TraceOpKind kind, const char *name)
{
  TraceOp op = { .kind = kind,
                 .comm = TRACE_COMM_WORLD,
                 .root = TRACE_NO_ROOT,
                 .matched_source = TRACE_ANY_SOURCE,
                 .site = calls->site,
                 .name = calls->region != NULL ? calls->region->name : name };

  g_array_append_val (calls->ops, op);
  return &g_array_index (calls->ops, TraceOp, calls->ops->len - 1);
}

gboolean
otf2_calls_fail (TraceError code, GError **error, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_propagate_error (error, g_error_new_valist (TRACE_ERROR, (gint) code, format, arguments));
  va_end (arguments);
  return FALSE;
}

static gboolean
find_place (const Otf2Calls *calls, const Otf2Comm *comm, uint32_t *place)
{
  *place = 0;
  if (comm->ranks == NULL)
    return TRUE;
  for (; *place < comm->n_ranks; (*place)++)
    if (comm->ranks[*place] == (int32_t) calls->rank)
      return TRUE;
  return FALSE;
}

gboolean
otf2_calls_use (Otf2Calls *calls, const Otf2Comm *comm, uint32_t *place, GError **error)
{
  gpointer known;
  TraceOp *op;

  if (comm == NULL)
    return otf2_calls_fail (TRACE_ERROR_FORMAT, error, "a communicator that is not defined");
  if (comm->refused != NULL)
    return otf2_calls_fail (TRACE_ERROR_LOST, error, "communicates on %s, which cannot be replayed",
                            comm->refused);
  if (g_hash_table_lookup_extended (calls->places, GUINT_TO_POINTER (comm->handle), NULL, &known)) {
    *place = GPOINTER_TO_UINT (known);
    return TRUE;
  }
  if (!find_place (calls, comm, place))
    return otf2_calls_fail (TRACE_ERROR_RANGE, error, "uses a communicator that it is not in");
  g_hash_table_insert (calls->places, GUINT_TO_POINTER (comm->handle), GUINT_TO_POINTER (*place));
  if (comm->handle == TRACE_COMM_WORLD || comm->handle == TRACE_COMM_SELF)
    return TRUE;
  op = otf2_calls_push (calls, TRACE_OP_COMM_DEFINE, "communicator");
  op->name = "communicator";
  op->new_comm = comm->handle;
  op->color = comm->color;
  op->values = comm->ranks;
  op->n_values = comm->n_ranks;
  return TRUE;
}

uint32_t *
otf2_calls_keep (Otf2Calls *calls, const uint32_t *handles, uint32_t n)
{
  uint32_t *kept = g_memdup2 (handles, n * sizeof *handles);

  g_ptr_array_add (calls->arrays, kept);
  return kept;
}

void
otf2_calls_push_wait (Otf2Calls *calls, TraceOpKind kind, uint32_t handle)
{
  static const uint32_t index = 0;
  TraceOp *op = otf2_calls_push (calls, kind, "MPI_Wait");

  op->requests = otf2_calls_keep (calls, &handle, 1);
  op->n_requests = 1;
  op->completed = &index;
  op->n_completed = 1;
}

/* The communicator of a message, with its peer and tag checked. */
static const Otf2Comm *
comm_of_message (Otf2Calls *calls, const Otf2Record *record, GError **error)
{
  const Otf2Comm *comm = otf2_definitions_find_comm (calls->reading->definitions, record->id);
  uint32_t place;

  if (!otf2_calls_use (calls, comm, &place, error))
    return NULL;
  if (record->peer >= comm->n_ranks) {
    otf2_calls_fail (TRACE_ERROR_RANGE, error,
                     "a message to or from rank %u of a communicator of %u ranks", record->peer,
                     comm->n_ranks);
    return NULL;
  }
  if (record->bytes > OTF2_MOST_BYTES) {
    otf2_calls_fail (TRACE_ERROR_RANGE, error, "a message of %" G_GUINT64_FORMAT " bytes",
                     record->bytes);
    return NULL;
  }
  if (record->tag > INT32_MAX) {
    otf2_calls_fail (TRACE_ERROR_RANGE, error, "a message with the tag %u", record->tag);
    return NULL;
  }
  return comm;
}

static TraceSendMode
send_mode (const char *name)
{
  if (g_str_has_prefix (name, "MPI_Bsend") || g_str_has_prefix (name, "MPI_Ibsend"))
    return TRACE_SEND_BUFFERED;
  if (g_str_has_prefix (name, "MPI_Ssend") || g_str_has_prefix (name, "MPI_Issend"))
    return TRACE_SEND_SYNCHRONOUS;
  if (g_str_has_prefix (name, "MPI_Rsend") || g_str_has_prefix (name, "MPI_Irsend"))
    return TRACE_SEND_READY;
  return TRACE_SEND_STANDARD;
}

static TraceOp *
push_message (Otf2Calls *calls, TraceOpKind kind, const char *name, const Otf2Record *record,
              GError **error)
{
  const Otf2Comm *comm = comm_of_message (calls, record, error);
  TraceOp *op;

  if (comm == NULL)
    return NULL;
  op = otf2_calls_push (calls, kind, name);
  op->comm = comm->handle;
  op->peer = (int32_t) record->peer;
  op->tag = (int32_t) record->tag;
  op->bytes = record->bytes;
  if (kind == TRACE_OP_SEND || kind == TRACE_OP_ISEND)
    op->mode = send_mode (op->name);
  else
    op->matched_source = op->peer;
  return op;
}

/* A program cannot start a request that is under way: when the archive lost
 * the wait in between, there was one. */
static void
make_free (Otf2Calls *calls, uint64_t request)
{
  uint32_t handle;

  if (otf2_requests_find (calls->requests, request, true, &handle) &&
      handle != TRACE_REQUEST_NULL && calls->reading->losses != NULL)
    otf2_calls_push_wait (calls, TRACE_OP_WAIT, handle);
}

static gboolean
add_isend (Otf2Calls *calls, const Otf2Record *record, GError **error)
{
  TraceOp *op;

  make_free (calls, record->request);
  op = push_message (calls, TRACE_OP_ISEND, "MPI_Isend", record, error);
  if (op == NULL)
    return FALSE;
  op->request = otf2_requests_bind (calls->requests, record->request);
  return TRUE;
}

/* Whether a post can be replayed after all, as *found. */
static gboolean
find_lost (Otf2Calls *calls, const Otf2Record *post, Otf2Record *found, GError **error)
{
  uint64_t index = calls->n_lost++;

  *found = *post;
  if (calls->reading->losses != NULL &&
      otf2_losses_guess (calls->reading->losses, calls->rank, index, found))
    return TRUE;
  if (!calls->reading->allow_lossy)
    return otf2_calls_fail (TRACE_ERROR_LOST, error,
                            "a receive (request %" G_GUINT64_FORMAT
                            ") is posted and never completes, so "
                            "that its source and size are not known; --allow-lossy leaves it out",
                            post->request);
  calls->n_dropped++;
  return TRUE;
}

static gboolean
add_irecv (Otf2Calls *calls, const Otf2Record *record, GError **error)
{
  Otf2Record found = *record;
  TraceOp *op;

  make_free (calls, record->request);
  if (record->fate == OTF2_FATE_LOST && !find_lost (calls, record, &found, error))
    return FALSE;
  if (found.fate != OTF2_FATE_DONE) {
    otf2_requests_bind_nothing (calls->requests, record->request);
    return TRUE;
  }
  op = push_message (calls, TRACE_OP_IRECV, "MPI_Irecv", &found, error);
  if (op == NULL)
    return FALSE;
  op->request = otf2_requests_bind (calls->requests, record->request);
  return TRUE;
}

static gboolean
push_collective (Otf2Calls *calls, const Otf2Record *record, GError **error)
{
  const Otf2Comm *comm = otf2_definitions_find_comm (calls->reading->definitions, record->id);
  uint64_t *counts, *recv_counts;
  uint32_t place;
  bool good, guessed;
  TraceOp *op;

  if (!otf2_calls_use (calls, comm, &place, error))
    return FALSE;
  if (record->bytes > OTF2_MOST_BYTES || record->recv_bytes > OTF2_MOST_BYTES)
    return otf2_calls_fail (TRACE_ERROR_RANGE, error,
                            "a collective that moves %" G_GUINT64_FORMAT " bytes",
                            MAX (record->bytes, record->recv_bytes));
  op = otf2_calls_push (calls, TRACE_OP_BARRIER, "MPI_Barrier");
  op->comm = comm->handle;
  good = otf2_collectives_fill (record, calls->reading->sizes, place, comm->n_ranks, op, &counts,
                                &recv_counts, &guessed);
  g_ptr_array_add (calls->arrays, counts);
  g_ptr_array_add (calls->arrays, recv_counts);
  if (calls->region == NULL)
    op->name = trace_op_name (op->kind);
  if (!good)
    return otf2_calls_fail (TRACE_ERROR_RANGE, error,
                            "%s with root %u on a communicator of %u ranks", op->name, record->peer,
                            comm->n_ranks);
  if (guessed)
    trace_warn (calls->reading->trace,
                "%s: the archive has only the total of all ranks; it is spread evenly, what is "
                "left over on the first",
                op->name);
  return TRUE;
}

static gboolean
add_collective_post (Otf2Calls *calls, const Otf2Record *record, GError **error)
{
  TraceOp *op;

  make_free (calls, record->request);
  if (record->fate != OTF2_FATE_DONE) {
    trace_warn (calls->reading->trace,
                "%s: never completes in the archive, so that its size is not known; left out",
                calls->region != NULL ? calls->region->name : "a nonblocking collective");
    otf2_requests_bind_nothing (calls->requests, record->request);
    return TRUE;
  }
  if (!push_collective (calls, record, error))
    return FALSE;
  op = &g_array_index (calls->ops, TraceOp, calls->ops->len - 1);
  op->nonblocking = true;
  op->request = otf2_requests_bind (calls->requests, record->request);
  return TRUE;
}

static void
add_completion (Otf2Calls *calls, const Otf2Record *record)
{
  uint32_t handle;

  if (!otf2_requests_find (calls->requests, record->request, true, &handle))
    calls->n_foreign++;
  else if (handle != TRACE_REQUEST_NULL)
    g_array_append_val (calls->finished, handle);
}

static void
add_tested (Otf2Calls *calls, const Otf2Record *record)
{
  uint32_t handle;

  if (otf2_requests_find (calls->requests, record->request, false, &handle) &&
      handle != TRACE_REQUEST_NULL)
    g_array_append_val (calls->tested, handle);
}

gboolean
otf2_calls_add_record (Otf2Calls *calls, const Otf2Record *r, GError **error)
{
  switch ((Otf2RecordKind) r->kind) {
  case OTF2_RECORD_SEND: return push_message (calls, TRACE_OP_SEND, "MPI_Send", r, error) != NULL;
  case OTF2_RECORD_RECV: return push_message (calls, TRACE_OP_RECV, "MPI_Recv", r, error) != NULL;
  case OTF2_RECORD_ISEND: return add_isend (calls, r, error);
  case OTF2_RECORD_IRECV_POST: return add_irecv (calls, r, error);
  case OTF2_RECORD_ISEND_COMPLETE:
  case OTF2_RECORD_IRECV_COMPLETE:
  case OTF2_RECORD_COLLECTIVE_COMPLETE:
  case OTF2_RECORD_CANCELLED: add_completion (calls, r); return TRUE;
  case OTF2_RECORD_TESTED: add_tested (calls, r); return TRUE;
  case OTF2_RECORD_COLLECTIVE: return push_collective (calls, r, error);
  case OTF2_RECORD_COLLECTIVE_POST: return add_collective_post (calls, r, error);
  case OTF2_RECORD_RMA_COLLECTIVE: return otf2_calls_add_window_collective (calls, r, error);
  case OTF2_RECORD_RMA_PUT:
    return otf2_calls_push_access (calls, TRACE_OP_PUT, "MPI_Put", r, error) != NULL;
  case OTF2_RECORD_RMA_GET:
    return otf2_calls_push_access (calls, TRACE_OP_GET, "MPI_Get", r, error) != NULL;
  case OTF2_RECORD_RMA_ATOMIC:
    return otf2_calls_push_access (calls, TRACE_OP_FETCH, "MPI_Get_accumulate", r, error) != NULL;
  case OTF2_RECORD_RMA_UNLOCK:
    return otf2_calls_push_access (calls, TRACE_OP_WIN_FLUSH, "MPI_Win_unlock", r, error) != NULL;
  case OTF2_RECORD_RMA_FLUSH: return otf2_calls_add_window_flush (calls, r, error);
  case OTF2_RECORD_RMA_GROUP_SYNC:
  case OTF2_RECORD_RMA_WAIT:
    return otf2_calls_fail (TRACE_ERROR_LOST, error,
                            "%s: windows that groups of ranks open and close are "
                            "not read from OTF2",
                            calls->region != NULL ? calls->region->name : "MPI_Win_wait");
  case OTF2_RECORD_COLLECTIVE_BEGIN:
  case OTF2_RECORD_MEASUREMENT:
  case OTF2_RECORD_FLUSH:
  case OTF2_RECORD_ENTER:
  case OTF2_RECORD_LEAVE:
  case OTF2_RECORD_KINDS: break;
  }
  return TRUE;
}
