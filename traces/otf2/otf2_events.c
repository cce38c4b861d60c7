/* otf2_events.c - converts one rank's records into operations.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A call is an outermost region of MPI with all regions inside it.  Its records
 * are gathered until the region is left: only then the meaning of the records
 * and the duration of the call are known.  The time between the end of one call
 * and the beginning of the next is computation, whatever regions of the program
 * are entered and left, unless the recording was off in between. */
#include "traces/otf2/otf2_private.h"

#include "base/int128.h"
#include "mpi/operation.h"
#include "traces/format.h"

#include <glib.h>
#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* More than any program moves at once, and far from overflow in a sum. */
#define MOST_BYTES (UINT64_C (1) << 56)
/* A deeper stack of regions is taken for a broken one. */
#define DEEPEST  65536
#define PS_PER_S 1000000000000u

struct Otf2Events {
  const Otf2Reading *reading;
  uint32_t rank;
  GHashTable *places; /* handle of a communicator that is defined -> own rank in it */

  /* Requests under way.  OTF2 numbers requests with 64 bits, and may use a
   * number again when its request is complete.  Operations have handles of 32
   * bits. */
  GHashTable *requests;   /* set of Request */
  GArray *unused_handles; /* (element-type uint32_t) to be given again */
  uint32_t next_handle;
  uint64_t next_serial;

  uint64_t n_lost;    /* lost receives so far */
  uint64_t n_foreign; /* completions of requests posted outside of the replayed part */
  uint64_t n_outside; /* completions outside of it, of requests posted inside */
  uint64_t n_dropped; /* lost receives without a substitute */
  gboolean finalized;

  GPtrArray *stack; /* (element-type Otf2Region), borrowed; the innermost last */
  guint n_mpi;      /* regions of MPI in it */
  guint n_from;     /* regions called reading->from_region in it */

  gboolean started;
  uint64_t first_ticks;
  gboolean has_gap; /* end_ps begins a gap that was recorded */
  int64_t end_ps;   /* of the last call */
  int64_t flush_ps; /* time since then in which the trace itself was written */

  /* The call. */
  const Otf2Region *region; /* NULL: a record outside regions of MPI */
  gboolean is_replayed;
  const char *site;
  int64_t begin_ps;
  gboolean flushed;  /* a window */
  GArray *records;   /* (element-type Otf2Record) */
  GArray *finished;  /* (element-type uint32_t) handles that complete in it */
  GArray *tested;    /* (element-type uint32_t) handles that do not */
  GArray *ops;       /* (element-type TraceOp) */
  guint n_taken;     /* of ops */
  GPtrArray *arrays; /* of ops */
};

Otf2Events *
otf2_events_new (const Otf2Reading *reading, uint32_t rank)
{
  Otf2Events *events = g_new0 (Otf2Events, 1);

  events->reading = reading;
  events->rank = rank;
  events->places = g_hash_table_new (NULL, NULL);
  events->requests = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  events->unused_handles = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  events->next_handle = TRACE_REQUEST_NULL + 1;
  events->stack = g_ptr_array_new ();
  events->records = g_array_new (FALSE, FALSE, sizeof (Otf2Record));
  events->finished = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  events->tested = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  events->ops = g_array_new (FALSE, FALSE, sizeof (TraceOp));
  events->arrays = g_ptr_array_new_with_free_func (g_free);
  return events;
}

void
otf2_events_free (Otf2Events *events)
{
  if (events == NULL)
    return;
  g_hash_table_unref (events->places);
  g_hash_table_unref (events->requests);
  g_array_unref (events->unused_handles);
  g_ptr_array_unref (events->stack);
  g_array_unref (events->records);
  g_array_unref (events->finished);
  g_array_unref (events->tested);
  g_array_unref (events->ops);
  g_ptr_array_unref (events->arrays);
  g_free (events);
}

/* --- Requests --- */

typedef struct {
  uint64_t id; /* the key of the table */
  uint64_t serial;
  uint32_t handle; /* TRACE_REQUEST_NULL: nothing is replayed for it */
} Request;

/* A handle takes the number away from the request that had it before. */
static void
add_request (Otf2Events *events, uint64_t id, uint32_t handle)
{
  Request *request = g_new (Request, 1);

  *request = (Request){ id, events->next_serial++, handle };
  g_hash_table_add (events->requests, request);
}

/* Gives the request a handle. */
static uint32_t
bind_request (Otf2Events *events, uint64_t id)
{
  GArray *unused = events->unused_handles;
  uint32_t handle;

  if (unused->len > 0) {
    handle = g_array_index (unused, uint32_t, unused->len - 1);
    g_array_set_size (unused, unused->len - 1);
  } else {
    handle = events->next_handle++;
  }
  add_request (events, id, handle);
  return handle;
}

/* Frees the handle of a complete request; returns the handle. */
static uint32_t
drop_request (Otf2Events *events, Request *request)
{
  uint32_t handle = request->handle;

  if (handle != TRACE_REQUEST_NULL)
    g_array_append_val (events->unused_handles, handle);
  g_hash_table_remove (events->requests, request);
  return handle;
}

/* --- Records into operations --- */

/* A new operation, valid until the next one.  name: of a record outside of calls. */
static TraceOp *
push (Otf2Events *events, TraceOpKind kind, const char *name)
{
  TraceOp op = { .kind = kind,
                 .comm = TRACE_COMM_WORLD,
                 .root = TRACE_NO_ROOT,
                 .matched_source = TRACE_ANY_SOURCE,
                 .site = events->site,
                 .name = events->region != NULL ? events->region->name : name };

  g_array_append_val (events->ops, op);
  return &g_array_index (events->ops, TraceOp, events->ops->len - 1);
}

/* Defines the communicator at its first use; *place is the rank's own in it.
 * Communicators are defined before the rank first uses them: their members are
 * known from the start, and no rank waits. */
static gboolean
use_comm (Otf2Events *events, const Otf2Comm *comm, uint32_t *place, GError **error)
{
  gpointer known;
  TraceOp *op;

  if (comm == NULL)
    return TRACE_FAIL (TRACE_ERROR_FORMAT, error, "a communicator that is not defined");
  if (comm->refused != NULL)
    return TRACE_FAIL (TRACE_ERROR_LOST, error, "communicates on %s, which cannot be replayed",
                       comm->refused);
  if (g_hash_table_lookup_extended (events->places, GUINT_TO_POINTER (comm->handle), NULL,
                                    &known)) {
    *place = GPOINTER_TO_UINT (known);
    return TRUE;
  }
  *place = 0;
  while (comm->ranks != NULL && *place < comm->n_ranks &&
         comm->ranks[*place] != (int32_t) events->rank)
    ++*place;
  if (comm->n_ranks == 0 || (comm->ranks != NULL && *place == comm->n_ranks))
    return TRACE_FAIL (TRACE_ERROR_RANGE, error, "uses a communicator that it is not in");
  g_hash_table_insert (events->places, GUINT_TO_POINTER (comm->handle), GUINT_TO_POINTER (*place));
  if (comm->handle == TRACE_COMM_WORLD || comm->handle == TRACE_COMM_SELF)
    return TRUE;
  op = push (events, TRACE_OP_COMM_DEFINE, "communicator");
  op->name = "communicator";
  op->new_comm = comm->handle;
  op->color = comm->color;
  op->values = comm->ranks;
  op->n_values = comm->n_ranks;
  return TRUE;
}

static void
push_wait (Otf2Events *events, TraceOpKind kind, uint32_t handle)
{
  static const uint32_t index = 0;
  TraceOp *op = push (events, kind, "MPI_Wait");

  op->requests = g_memdup2 (&handle, sizeof handle);
  g_ptr_array_add (events->arrays, (gpointer) op->requests);
  op->n_requests = 1;
  op->completed = &index;
  op->n_completed = 1;
}

/* Frees the number of a request for the next one.  A program cannot start a
 * request that is under way: when the archive lost the wait in between, there
 * was one. */
static void
reuse_request (Otf2Events *events, uint64_t id)
{
  Request *request = g_hash_table_lookup (events->requests, &id);
  uint32_t handle = request != NULL ? drop_request (events, request) : TRACE_REQUEST_NULL;

  if (handle != TRACE_REQUEST_NULL && events->reading->losses != NULL)
    push_wait (events, TRACE_OP_WAIT, handle);
}

/* An operation on a window; NULL and *error on failure. */
static TraceOp *
push_access (Otf2Events *events, TraceOpKind kind, const char *name, const Otf2Record *record,
             GError **error)
{
  const Otf2Comm *comm = otf2_definitions_window_comm (events->reading->definitions, record->id);
  uint32_t place;
  TraceOp *op;

  if (!use_comm (events, comm, &place, error))
    return NULL;
  op = push (events, kind, name);
  op->comm = comm->handle;
  op->window = record->id;
  op->peer = TRACE_ANY_SOURCE;
  if (kind == TRACE_OP_WIN_CREATE || kind == TRACE_OP_WIN_FREE || kind == TRACE_OP_WIN_FENCE)
    return op;
  if (kind == TRACE_OP_WIN_FLUSH && record->kind == OTF2_RECORD_RMA_FLUSH)
    return op;
  if (record->peer >= comm->n_ranks) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "access to rank %u of a window of %u ranks",
                 record->peer, comm->n_ranks);
    return NULL;
  }
  if (record->bytes > MOST_BYTES || record->recv_bytes > MOST_BYTES) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "an access to %" G_GUINT64_FORMAT " bytes",
                 MAX (record->bytes, record->recv_bytes));
    return NULL;
  }
  op->peer = (int32_t) record->peer;
  op->bytes = record->bytes;
  op->recv_bytes = record->recv_bytes;
  return op;
}

static TraceOp *
push_message (Otf2Events *events, TraceOpKind kind, const char *name, const Otf2Record *record,
              GError **error)
{
  const Otf2Comm *comm = otf2_definitions_find_comm (events->reading->definitions, record->id);
  uint32_t place;
  TraceOp *op;

  if (!use_comm (events, comm, &place, error))
    return NULL;
  if (record->peer >= comm->n_ranks) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                 "a message to or from rank %u of a communicator of %u ranks", record->peer,
                 comm->n_ranks);
    return NULL;
  }
  if (record->bytes > MOST_BYTES) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "a message of %" G_GUINT64_FORMAT " bytes",
                 record->bytes);
    return NULL;
  }
  if (record->tag > INT32_MAX) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "a message with the tag %u", record->tag);
    return NULL;
  }
  op = push (events, kind, name);
  op->comm = comm->handle;
  op->peer = (int32_t) record->peer;
  op->tag = (int32_t) record->tag;
  op->bytes = record->bytes;
  if (kind != TRACE_OP_SEND && kind != TRACE_OP_ISEND)
    op->matched_source = op->peer;
  else if (g_str_has_prefix (op->name, "MPI_Bsend") || g_str_has_prefix (op->name, "MPI_Ibsend"))
    op->mode = TRACE_SEND_BUFFERED;
  else if (g_str_has_prefix (op->name, "MPI_Ssend") || g_str_has_prefix (op->name, "MPI_Issend"))
    op->mode = TRACE_SEND_SYNCHRONOUS;
  else if (g_str_has_prefix (op->name, "MPI_Rsend") || g_str_has_prefix (op->name, "MPI_Irsend"))
    op->mode = TRACE_SEND_READY;
  return op;
}

static gboolean
push_collective (Otf2Events *events, const Otf2Record *record, GError **error)
{
  const Otf2Comm *comm = otf2_definitions_find_comm (events->reading->definitions, record->id);
  uint32_t place;
  bool good, guessed;
  TraceOp *op;

  if (!use_comm (events, comm, &place, error))
    return FALSE;
  if (record->bytes > MOST_BYTES || record->recv_bytes > MOST_BYTES)
    return TRACE_FAIL (TRACE_ERROR_RANGE, error,
                       "a collective that moves %" G_GUINT64_FORMAT " bytes",
                       MAX (record->bytes, record->recv_bytes));
  op = push (events, TRACE_OP_BARRIER, "MPI_Barrier");
  op->comm = comm->handle;
  good = otf2_collectives_fill (record, events->reading->sizes, place, comm->n_ranks, op, &guessed);
  g_ptr_array_add (events->arrays, (gpointer) op->counts);
  g_ptr_array_add (events->arrays, (gpointer) op->recv_counts);
  if (events->region == NULL)
    op->name = trace_op_name (op->kind);
  if (!good)
    return TRACE_FAIL (TRACE_ERROR_RANGE, error, "%s with root %u on a communicator of %u ranks",
                       op->name, record->peer, comm->n_ranks);
  if (guessed)
    trace_warn (events->reading->trace,
                "%s: the archive has only the total of all ranks; it is spread evenly, what is "
                "left over on the first",
                op->name);
  return TRUE;
}

/* The post of a nonblocking receive, which the reader has completed where the archive has its message. */
static gboolean
add_receive (Otf2Events *events, const Otf2Record *r, GError **error)
{
  const Otf2Losses *losses = events->reading->losses;
  Otf2Record posted = *r;
  TraceOp *op;

  reuse_request (events, r->request);
  if (r->post == OTF2_POST_LOST &&
      (losses == NULL || !otf2_losses_guess (losses, events->rank, events->n_lost, &posted))) {
    if (!events->reading->allow_lossy)
      return TRACE_FAIL (TRACE_ERROR_LOST, error,
                         "a receive (request %" G_GUINT64_FORMAT
                         ") is posted and never completes, so that its source and size are not "
                         "known; --allow-lossy leaves it out",
                         r->request);
    events->n_dropped++;
  }
  if (r->post == OTF2_POST_LOST)
    events->n_lost++;
  if (posted.post != OTF2_POST_DONE) {
    add_request (events, r->request, TRACE_REQUEST_NULL);
    return TRUE;
  }
  op = push_message (events, TRACE_OP_IRECV, "MPI_Irecv", &posted, error);
  if (op == NULL)
    return FALSE;
  op->request = bind_request (events, r->request);
  return TRUE;
}

/* Makes the operations of one record. */
static gboolean
add_record (Otf2Events *events, const Otf2Record *r, GError **error)
{
  const char *name = events->region != NULL ? events->region->name : NULL;
  Request *request;
  uint32_t handle;
  TraceOpKind kind;
  TraceOp *op;

  switch ((Otf2RecordKind) r->kind) {
  case OTF2_RECORD_SEND: return push_message (events, TRACE_OP_SEND, "MPI_Send", r, error) != NULL;
  case OTF2_RECORD_RECV: return push_message (events, TRACE_OP_RECV, "MPI_Recv", r, error) != NULL;
  case OTF2_RECORD_ISEND:
    reuse_request (events, r->request);
    op = push_message (events, TRACE_OP_ISEND, "MPI_Isend", r, error);
    if (op == NULL)
      return FALSE;
    op->request = bind_request (events, r->request);
    return TRUE;
  case OTF2_RECORD_IRECV_POST: return add_receive (events, r, error);
  case OTF2_RECORD_ISEND_COMPLETE:
  case OTF2_RECORD_IRECV_COMPLETE:
  case OTF2_RECORD_COLLECTIVE_COMPLETE:
  case OTF2_RECORD_CANCELLED:
    request = g_hash_table_lookup (events->requests, &r->request);
    if (request == NULL) {
      events->n_foreign++;
      return TRUE;
    }
    handle = drop_request (events, request);
    if (handle != TRACE_REQUEST_NULL)
      g_array_append_val (events->finished, handle);
    return TRUE;
  case OTF2_RECORD_TESTED:
    request = g_hash_table_lookup (events->requests, &r->request);
    if (request != NULL && request->handle != TRACE_REQUEST_NULL)
      g_array_append_val (events->tested, request->handle);
    return TRUE;
  case OTF2_RECORD_COLLECTIVE: return push_collective (events, r, error);
  case OTF2_RECORD_COLLECTIVE_POST:
    reuse_request (events, r->request);
    if (r->post != OTF2_POST_DONE) {
      trace_warn (events->reading->trace,
                  "%s: never completes in the archive, so that its size is not known; left out",
                  name != NULL ? name : "a nonblocking collective");
      add_request (events, r->request, TRACE_REQUEST_NULL);
      return TRUE;
    }
    if (!push_collective (events, r, error))
      return FALSE;
    op = &g_array_index (events->ops, TraceOp, events->ops->len - 1);
    op->nonblocking = true;
    op->request = bind_request (events, r->request);
    return TRUE;
  case OTF2_RECORD_RMA_COLLECTIVE:
    kind = TRACE_OP_WIN_FENCE;
    if (r->op == OTF2_COLLECTIVE_OP_CREATE_HANDLE ||
        r->op == OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE)
      kind = TRACE_OP_WIN_CREATE;
    else if (r->op == OTF2_COLLECTIVE_OP_DESTROY_HANDLE ||
             r->op == OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE)
      kind = TRACE_OP_WIN_FREE;
    return push_access (events, kind, "MPI_Win_fence", r, error) != NULL;
  case OTF2_RECORD_RMA_PUT: return push_access (events, TRACE_OP_PUT, "MPI_Put", r, error) != NULL;
  case OTF2_RECORD_RMA_GET: return push_access (events, TRACE_OP_GET, "MPI_Get", r, error) != NULL;
  case OTF2_RECORD_RMA_ATOMIC:
    return push_access (events, TRACE_OP_FETCH, "MPI_Get_accumulate", r, error) != NULL;
  case OTF2_RECORD_RMA_UNLOCK:
    return push_access (events, TRACE_OP_WIN_FLUSH, "MPI_Win_unlock", r, error) != NULL;
  case OTF2_RECORD_RMA_FLUSH:
    /* Every call that ensures completions records them; only a flush waits for
     * them. */
    if (events->flushed || name == NULL || !g_str_has_prefix (name, "MPI_Win_flush"))
      return TRUE;
    events->flushed = TRUE;
    return push_access (events, TRACE_OP_WIN_FLUSH, "MPI_Win_flush", r, error) != NULL;
  case OTF2_RECORD_RMA_GROUP_SYNC:
  case OTF2_RECORD_RMA_WAIT:
    return TRACE_FAIL (TRACE_ERROR_LOST, error,
                       "%s: windows that groups of ranks open and close are "
                       "not read from OTF2",
                       name != NULL ? name : "MPI_Win_wait");
  case OTF2_RECORD_COLLECTIVE_BEGIN:
  case OTF2_RECORD_MEASUREMENT:
  case OTF2_RECORD_FLUSH:
  case OTF2_RECORD_ENTER:
  case OTF2_RECORD_LEAVE:
  case OTF2_RECORD_KINDS: break;
  }
  return TRUE;
}

/* --- Calls --- */

/* Index of the first operation from `first` on that is no definition of a
 * communicator. */
static guint
skip_definitions (const Otf2Events *events, guint first)
{
  while (first < events->ops->len &&
         g_array_index (events->ops, TraceOp, first).kind == TRACE_OP_COMM_DEFINE)
    first++;
  return first;
}

/* Joins the two messages of an MPI_Sendrecv into one operation; MPI_PROC_NULL
 * as a partner leaves no record. */
static void
join_sendrecv (Otf2Events *events, guint first)
{
  TraceOp *ops = (TraceOp *) (void *) events->ops->data;
  TraceOp *send = NULL, *receive = NULL, joined;
  guint kept = first;

  for (guint i = first; i < events->ops->len; i++) {
    if (ops[i].kind == TRACE_OP_SEND && send == NULL)
      send = &ops[i];
    else if (ops[i].kind == TRACE_OP_RECV && receive == NULL)
      receive = &ops[i];
    else if (ops[i].kind != TRACE_OP_COMM_DEFINE)
      return;
  }
  if ((send == NULL && receive == NULL) ||
      (send != NULL && receive != NULL && send->comm != receive->comm))
    return;
  joined = send != NULL ? *send : *receive;
  joined.kind = TRACE_OP_SENDRECV;
  joined.peer = send != NULL ? send->peer : TRACE_PROC_NULL;
  joined.bytes = send != NULL ? send->bytes : 0;
  joined.recv_peer = receive != NULL ? receive->peer : TRACE_PROC_NULL;
  joined.recv_tag = receive != NULL ? receive->tag : TRACE_ANY_TAG;
  joined.recv_bytes = receive != NULL ? receive->bytes : 0;
  joined.matched_source = receive != NULL ? receive->peer : TRACE_ANY_SOURCE;
  for (guint i = first; i < events->ops->len; i++)
    if (ops[i].kind == TRACE_OP_COMM_DEFINE)
      ops[kept++] = ops[i];
  ops[kept++] = joined;
  g_array_set_size (events->ops, kept);
}

/* A call that is known by its name alone. */
static void
push_bare_call (Otf2Events *events)
{
  const Otf2Region *region = events->region;
  gboolean is_wait = region->kind == OTF2_CALL_WAIT || region->kind == OTF2_CALL_WAIT_SOME;

  /* Where completions were lost, the wait was for the oldest requests. */
  if (events->reading->losses != NULL && events->records->len == 0 && is_wait) {
    if (strcmp (region->name, "MPI_Waitall") == 0 && g_hash_table_size (events->requests) > 0) {
      push (events, TRACE_OP_WAIT_OUTSTANDING, "MPI_Waitall");
      g_hash_table_remove_all (events->requests);
      g_array_set_size (events->unused_handles, 0);
      events->next_handle = TRACE_REQUEST_NULL + 1;
    } else {
      Request *oldest = NULL;
      GHashTableIter iter;
      gpointer key;

      g_hash_table_iter_init (&iter, events->requests);
      while (g_hash_table_iter_next (&iter, &key, NULL)) {
        Request *request = key;

        if (request->handle != TRACE_REQUEST_NULL &&
            (oldest == NULL || request->serial < oldest->serial))
          oldest = request;
      }
      if (oldest != NULL)
        push_wait (events, region->kind == OTF2_CALL_WAIT ? TRACE_OP_WAIT : TRACE_OP_WAIT_SOME,
                   drop_request (events, oldest));
    }
  }
  if (region->kind == OTF2_CALL_MOVES)
    trace_warn (events->reading->trace,
                "%s: left no event in the archive; the call is replayed, but nothing is moved",
                region->name);
}

/* Computation from the end of the last call until now. */
static void
compute_until (Otf2Events *events, int64_t now_ps)
{
  int64_t elapsed_ps = now_ps - events->end_ps;
  gboolean is_replayed = events->reading->from_region == NULL || events->n_from > 0;

  if (events->has_gap && elapsed_ps > events->flush_ps && is_replayed) {
    TraceOp op = { .kind = TRACE_OP_COMPUTE,
                   .gap_ps = elapsed_ps - events->flush_ps,
                   .name = "compute" };

    g_array_append_val (events->ops, op);
  }
}

static void
begin_gap (Otf2Events *events, int64_t now_ps)
{
  events->end_ps = now_ps;
  events->flush_ps = 0;
  events->has_gap = TRUE;
}

/* region: NULL when a record stands alone. */
static void
begin_call (Otf2Events *events, const Otf2Region *region, int64_t now_ps)
{
  guint n = events->stack->len;

  compute_until (events, now_ps);
  events->begin_ps = now_ps;
  events->site = n > 0 ? ((const Otf2Region *) events->stack->pdata[n - 1])->name : NULL;
  events->region = region;
  events->is_replayed = events->reading->from_region == NULL || events->n_from > 0;
  events->flushed = FALSE;
  g_array_set_size (events->records, 0);
  g_array_set_size (events->finished, 0);
  g_array_set_size (events->tested, 0);
}

/* Makes the operations of the call. */
static gboolean
end_call (Otf2Events *events, int64_t now_ps, GError **error)
{
  Otf2CallKind call = events->region != NULL ? events->region->kind : OTF2_CALL_OTHER;
  TraceOpKind kind = call == OTF2_CALL_TEST        ? TRACE_OP_TEST
                     : call == OTF2_CALL_WAIT_SOME ? TRACE_OP_WAIT_SOME
                                                   : TRACE_OP_WAIT;
  guint first = events->ops->len;
  uint32_t n_finished;

  begin_gap (events, now_ps);

  /* Of a call that is not replayed only the requests are followed. */
  for (guint i = 0; i < events->records->len && !events->is_replayed; i++) {
    const Otf2Record *r = &g_array_index (events->records, Otf2Record, i);
    gboolean completes =
        r->kind == OTF2_RECORD_ISEND_COMPLETE || r->kind == OTF2_RECORD_IRECV_COMPLETE ||
        r->kind == OTF2_RECORD_COLLECTIVE_COMPLETE || r->kind == OTF2_RECORD_CANCELLED;
    Request *request = completes ? g_hash_table_lookup (events->requests, &r->request) : NULL;

    if (r->kind == OTF2_RECORD_IRECV_POST && r->post == OTF2_POST_LOST)
      events->n_lost++;
    if (request != NULL) {
      drop_request (events, request);
      events->n_outside++;
    }
  }
  if (!events->is_replayed)
    return TRUE;

  for (guint i = 0; i < events->records->len; i++)
    if (!add_record (events, &g_array_index (events->records, Otf2Record, i), error))
      return FALSE;
  if (call == OTF2_CALL_SENDRECV)
    join_sendrecv (events, first);

  /* All completions inside one call are one wait or test. */
  n_finished = events->finished->len;
  if (kind != TRACE_OP_WAIT)
    g_array_append_vals (events->finished, events->tested->data, events->tested->len);
  if (events->finished->len > 0) {
    TraceOp *op = push (events, kind, "MPI_Wait");
    uint32_t *indices = g_new (uint32_t, n_finished + 1);

    for (uint32_t i = 0; i < n_finished; i++)
      indices[i] = i;
    g_ptr_array_add (events->arrays, indices);
    op->n_requests = events->finished->len;
    op->requests = g_memdup2 (events->finished->data, op->n_requests * sizeof (uint32_t));
    g_ptr_array_add (events->arrays, (gpointer) op->requests);
    op->n_completed = n_finished;
    op->completed = n_finished > 0 ? indices : NULL;
  }

  if (events->region != NULL && skip_definitions (events, first) == events->ops->len)
    push_bare_call (events);
  if (events->region != NULL && (skip_definitions (events, first) == events->ops->len ||
                                 call == OTF2_CALL_INIT || call == OTF2_CALL_FINALIZE))
    push (events,
          call == OTF2_CALL_INIT       ? TRACE_OP_INIT
          : call == OTF2_CALL_FINALIZE ? TRACE_OP_FINALIZE
          : call == OTF2_CALL_TEST     ? TRACE_OP_TEST
                                       : TRACE_OP_CALL,
          NULL);
  events->finalized = events->finalized || call == OTF2_CALL_FINALIZE;

  /* The time of the call stands with its first operation. */
  first = skip_definitions (events, first);
  if (first < events->ops->len)
    g_array_index (events->ops, TraceOp, first).call_ps = MAX (now_ps - events->begin_ps, 0);
  return TRUE;
}

/* --- Regions and time --- */

/* Since the first record; each time is rounded by itself, so that gaps do not
 * add up rounding errors.  Times before the first, or centuries later, are
 * clamped: no clock is right there. */
static int64_t
ps_of (const Otf2Events *events, uint64_t ticks)
{
  uint64_t ticks_per_s = otf2_definitions_ticks_per_s (events->reading->definitions);
  BaseUint128 ps;

  if (ticks <= events->first_ticks)
    return 0;
  ps = ((BaseUint128) (ticks - events->first_ticks)) * PS_PER_S / ticks_per_s;
  return ps > INT64_MAX ? INT64_MAX : (int64_t) ps;
}

/* Leaves the region and all regions inside it; a region that was never entered
 * is ignored.  EZTrace crosses regions at the end of the program. */
static gboolean
leave (Otf2Events *events, const Otf2Region *left, int64_t now_ps, GError **error)
{
  guint at = events->stack->len;

  while (at > 0 && events->stack->pdata[at - 1] != left)
    at--;
  while (at > 0 && events->stack->len >= at) {
    const Otf2Region *region = g_ptr_array_steal_index (events->stack, events->stack->len - 1);

    if (region->kind != OTF2_CALL_USER && --events->n_mpi == 0 && !end_call (events, now_ps, error))
      return FALSE;
    if (region->kind == OTF2_CALL_USER && region->name == events->reading->from_region) {
      if (events->n_from == 1 && events->n_mpi == 0)
        compute_until (events, now_ps);
      events->n_from--;
    }
  }
  return TRUE;
}

static void
clear_operations (Otf2Events *events)
{
  g_array_set_size (events->ops, 0);
  g_ptr_array_set_size (events->arrays, 0);
  events->n_taken = 0;
}

gboolean
otf2_events_add (Otf2Events *events, const Otf2Record *record, GError **error)
{
  gboolean alone = events->n_mpi == 0;
  const Otf2Region *region;
  int64_t now_ps, flush_ps;

  if (!events->started)
    events->first_ticks = record->ticks;
  events->started = TRUE;
  now_ps = ps_of (events, record->ticks);
  clear_operations (events);

  if (record->kind == OTF2_RECORD_ENTER || record->kind == OTF2_RECORD_LEAVE) {
    region = otf2_definitions_find_region (events->reading->definitions, record->id);
    if (record->kind == OTF2_RECORD_LEAVE)
      return leave (events, region, now_ps, error);
    if (region == NULL)
      return TRACE_FAIL (TRACE_ERROR_RANGE, error, "region %u is not defined", record->id);
    if (events->stack->len == DEEPEST)
      return TRACE_FAIL (TRACE_ERROR_RANGE, error, "regions are nested %d deep", DEEPEST);
    if (region->kind != OTF2_CALL_USER && events->n_mpi++ == 0)
      begin_call (events, region, now_ps);
    if (region->kind == OTF2_CALL_USER && region->name == events->reading->from_region &&
        events->n_from++ == 0)
      begin_gap (events, now_ps);
    g_ptr_array_add (events->stack, (gpointer) region);
    return TRUE;
  }
  if (record->kind == OTF2_RECORD_MEASUREMENT) {
    events->has_gap = FALSE;
    return TRUE;
  }
  if (record->kind == OTF2_RECORD_FLUSH) {
    /* The sum of two long flushes stays at the end of the scale. */
    flush_ps = ps_of (events, record->request) - now_ps;
    if (alone)
      events->flush_ps += CLAMP (flush_ps, 0, INT64_MAX - events->flush_ps);
    return TRUE;
  }

  /* A record outside regions of MPI is a call by itself. */
  if (alone && record->kind == OTF2_RECORD_COLLECTIVE_BEGIN)
    return TRUE;
  if (alone)
    begin_call (events, NULL, now_ps);
  g_array_append_vals (events->records, record, 1);
  return !alone || end_call (events, now_ps, error);
}

/* Recording may stop inside a call, which then has no end. */
gboolean
otf2_events_end (Otf2Events *events, GError **error)
{
  const Otf2Reading *reading = events->reading;

  clear_operations (events);
  if (events->n_mpi > 0) {
    events->n_mpi = 0;
    if (!end_call (events, events->begin_ps, error))
      return FALSE;
  }
  if (events->n_foreign + events->n_outside > 0)
    trace_warn (reading->trace,
                "rank %u: left out %" G_GUINT64_FORMAT " completions of requests that were posted "
                "before, and %" G_GUINT64_FORMAT " after, what is replayed",
                events->rank, events->n_foreign, events->n_outside);
  if (events->n_dropped > 0)
    trace_warn (reading->trace,
                "rank %u: left out %" G_GUINT64_FORMAT " receives that never complete",
                events->rank, events->n_dropped);
  if (!events->finalized && reading->from_region == NULL)
    trace_warn (reading->trace, "no MPI_Finalize: the trace is a window");
  return TRUE;
}

gboolean
otf2_events_take (Otf2Events *events, TraceOp *op)
{
  if (events->n_taken == events->ops->len)
    return FALSE;
  *op = g_array_index (events->ops, TraceOp, events->n_taken++);
  return TRUE;
}
