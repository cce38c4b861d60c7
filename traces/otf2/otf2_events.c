/* otf2_events.c - one rank's records into operations.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A call is the outermost region of MPI with all that is inside: its records
 * are gathered until it is left, as only then it is known what they are
 * together and how long the call took.  The time between the end of one call
 * and the beginning of the next is computation, whatever regions of the program
 * come and go; unless the recording was off in between. */
#include "traces/otf2/otf2_events.h"

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

/* --- Requests under way, by the archive's numbers ---
 *
 * OTF2 numbers requests with 64 bits, and may use a number again when its
 * request is complete.  Operations have handles of 32 bits. */

typedef struct {
  uint64_t id; /* the key of the table */
  uint64_t serial;
  uint32_t handle;
} Entry;

typedef struct {
  GHashTable *entries; /* set of Entry */
  GArray *unused;      /* (element-type uint32_t) handles to give again */
  uint32_t next;
  uint64_t serial;
} Requests;

static Requests *
requests_new (void)
{
  Requests *requests = g_new (Requests, 1);

  requests->entries = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  requests->unused = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  requests->next = TRACE_REQUEST_NULL + 1;
  requests->serial = 0;
  return requests;
}

static void
requests_free (Requests *requests)
{
  if (requests == NULL)
    return;
  g_hash_table_unref (requests->entries);
  g_array_unref (requests->unused);
  g_free (requests);
}

static void
enter_request (Requests *requests, uint64_t id, uint32_t handle)
{
  Entry *entry = g_new (Entry, 1);

  *entry = (Entry){ id, requests->serial++, handle };
  g_hash_table_add (requests->entries, entry);
}

/* Gives the request a handle, and takes the number away from the request that
 * had it before. */
static uint32_t
requests_bind (Requests *requests, uint64_t id)
{
  uint32_t handle;

  if (requests->unused->len > 0) {
    handle = g_array_index (requests->unused, uint32_t, requests->unused->len - 1);
    g_array_set_size (requests->unused, requests->unused->len - 1);
  } else {
    handle = requests->next++;
  }
  enter_request (requests, id, handle);
  return handle;
}

static void
drop_request (Requests *requests, Entry *entry)
{
  if (entry->handle != TRACE_REQUEST_NULL)
    g_array_append_val (requests->unused, entry->handle);
  g_hash_table_remove (requests->entries, entry);
}

/* The handle of a request, or false.  taken: it is complete, and the handle
 * can be given to another. */
static bool
requests_find (Requests *requests, uint64_t id, bool taken, uint32_t *handle)
{
  Entry *entry = g_hash_table_lookup (requests->entries, &id);

  if (entry == NULL)
    return false;
  *handle = entry->handle;
  if (taken)
    drop_request (requests, entry);
  return true;
}

/* The one that was bound first, of those with a real handle. */
static bool
requests_take_oldest (Requests *requests, uint32_t *handle)
{
  GHashTableIter iter;
  gpointer key;
  Entry *oldest = NULL;

  g_hash_table_iter_init (&iter, requests->entries);
  while (g_hash_table_iter_next (&iter, &key, NULL)) {
    Entry *entry = key;

    if (entry->handle != TRACE_REQUEST_NULL && (oldest == NULL || entry->serial < oldest->serial))
      oldest = entry;
  }
  if (oldest == NULL)
    return false;
  *handle = oldest->handle;
  drop_request (requests, oldest);
  return true;
}

/* Forgets all. */
static void
requests_take_all (Requests *requests)
{
  g_hash_table_remove_all (requests->entries);
  g_array_set_size (requests->unused, 0);
  requests->next = TRACE_REQUEST_NULL + 1;
}

/* --- The operations of a call ---
 *
 * Communicators are defined before the rank first uses them: their members are
 * known from the start, and no rank waits. */

typedef struct {
  const Otf2Reading *reading;
  uint32_t rank;
  Requests *requests;
  GHashTable *places; /* handle of a communicator that is defined -> own rank in it */
  uint64_t n_lost;    /* lost receives so far */
  uint64_t n_foreign; /* completions of what was posted outside of what is replayed */
  uint64_t n_outside; /* completions outside of what was posted inside */
  uint64_t n_dropped; /* lost receives that nothing stands in for */
  gboolean finalized;

  /* The call. */
  const Otf2Region *region;
  gboolean is_replayed;
  const char *site;
  GArray *records;   /* (element-type Otf2Record) */
  GArray *finished;  /* (element-type uint32_t) handles that complete in it */
  GArray *tested;    /* (element-type uint32_t) handles that do not */
  gboolean flushed;  /* a window */
  GArray *ops;       /* (element-type TraceOp) */
  guint n_taken;     /* of ops */
  GPtrArray *arrays; /* of ops */
} Calls;

/* A new operation, valid until the next one.  name: of what stands outside of calls. */
static TraceOp *
push (Calls *calls, TraceOpKind kind, const char *name)
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

/* Sets *error; FALSE. */
static gboolean G_GNUC_PRINTF (3, 4) fail (TraceError code, GError **error, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_propagate_error (error, g_error_new_valist (TRACE_ERROR, (gint) code, format, arguments));
  va_end (arguments);
  return FALSE;
}

/* Defines the communicator if that was not done; *place is the rank's own in
 * it. */
static gboolean
use_comm (Calls *calls, const Otf2Comm *comm, uint32_t *place, GError **error)
{
  gpointer known;
  TraceOp *op;

  if (comm == NULL)
    return fail (TRACE_ERROR_FORMAT, error, "a communicator that is not defined");
  if (comm->refused != NULL)
    return fail (TRACE_ERROR_LOST, error, "communicates on %s, which cannot be replayed",
                 comm->refused);
  if (g_hash_table_lookup_extended (calls->places, GUINT_TO_POINTER (comm->handle), NULL, &known)) {
    *place = GPOINTER_TO_UINT (known);
    return TRUE;
  }
  *place = 0;
  while (comm->ranks != NULL && *place < comm->n_ranks &&
         comm->ranks[*place] != (int32_t) calls->rank)
    ++*place;
  if (comm->n_ranks == 0 || (comm->ranks != NULL && *place == comm->n_ranks))
    return fail (TRACE_ERROR_RANGE, error, "uses a communicator that it is not in");
  g_hash_table_insert (calls->places, GUINT_TO_POINTER (comm->handle), GUINT_TO_POINTER (*place));
  if (comm->handle == TRACE_COMM_WORLD || comm->handle == TRACE_COMM_SELF)
    return TRUE;
  op = push (calls, TRACE_OP_COMM_DEFINE, "communicator");
  op->name = "communicator";
  op->new_comm = comm->handle;
  op->color = comm->color;
  op->values = comm->ranks;
  op->n_values = comm->n_ranks;
  return TRUE;
}

/* A copy that lives as long as the operations. */
static uint32_t *
keep_handles (Calls *calls, const uint32_t *handles, uint32_t n)
{
  uint32_t *kept = g_memdup2 (handles, n * sizeof *handles);

  g_ptr_array_add (calls->arrays, kept);
  return kept;
}

static void
push_wait (Calls *calls, TraceOpKind kind, uint32_t handle)
{
  static const uint32_t index = 0;
  TraceOp *op = push (calls, kind, "MPI_Wait");

  op->requests = keep_handles (calls, &handle, 1);
  op->n_requests = 1;
  op->completed = &index;
  op->n_completed = 1;
}

/* --- Records into operations --- */

/* Of windows; NULL or FALSE and *error. */
static TraceOp *
push_access (Calls *calls, TraceOpKind kind, const char *name, const Otf2Record *record,
             GError **error)
{
  const Otf2Comm *comm = otf2_definitions_window_comm (calls->reading->definitions, record->id);
  uint32_t place;
  TraceOp *op;

  if (!use_comm (calls, comm, &place, error))
    return NULL;
  op = push (calls, kind, name);
  op->comm = comm->handle;
  op->window = record->id;
  op->peer = TRACE_ANY_SOURCE;
  if (kind == TRACE_OP_WIN_CREATE || kind == TRACE_OP_WIN_FREE || kind == TRACE_OP_WIN_FENCE)
    return op;
  if (kind == TRACE_OP_WIN_FLUSH && record->kind == OTF2_RECORD_RMA_FLUSH)
    return op;
  if (record->peer >= comm->n_ranks) {
    fail (TRACE_ERROR_RANGE, error, "access to rank %u of a window of %u ranks", record->peer,
          comm->n_ranks);
    return NULL;
  }
  if (record->bytes > MOST_BYTES || record->recv_bytes > MOST_BYTES) {
    fail (TRACE_ERROR_RANGE, error, "an access to %" G_GUINT64_FORMAT " bytes",
          MAX (record->bytes, record->recv_bytes));
    return NULL;
  }
  op->peer = (int32_t) record->peer;
  op->bytes = record->bytes;
  op->recv_bytes = record->recv_bytes;
  return op;
}

static gboolean
add_window_collective (Calls *calls, const Otf2Record *record, GError **error)
{
  TraceOpKind kind = TRACE_OP_WIN_FENCE;

  if (record->op == OTF2_COLLECTIVE_OP_CREATE_HANDLE ||
      record->op == OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE)
    kind = TRACE_OP_WIN_CREATE;
  else if (record->op == OTF2_COLLECTIVE_OP_DESTROY_HANDLE ||
           record->op == OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE)
    kind = TRACE_OP_WIN_FREE;
  return push_access (calls, kind, "MPI_Win_fence", record, error) != NULL;
}

/* Completions are recorded in every call that makes some sure; only a flush
 * waits for them. */
static gboolean
add_window_flush (Calls *calls, const Otf2Record *record, GError **error)
{
  if (calls->flushed || calls->region == NULL ||
      !g_str_has_prefix (calls->region->name, "MPI_Win_flush"))
    return TRUE;
  calls->flushed = TRUE;
  return push_access (calls, TRACE_OP_WIN_FLUSH, "MPI_Win_flush", record, error) != NULL;
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
push_message (Calls *calls, TraceOpKind kind, const char *name, const Otf2Record *record,
              GError **error)
{
  const Otf2Comm *comm = otf2_definitions_find_comm (calls->reading->definitions, record->id);
  uint32_t place;
  TraceOp *op;

  if (!use_comm (calls, comm, &place, error))
    return NULL;
  if (record->peer >= comm->n_ranks) {
    fail (TRACE_ERROR_RANGE, error, "a message to or from rank %u of a communicator of %u ranks",
          record->peer, comm->n_ranks);
    return NULL;
  }
  if (record->bytes > MOST_BYTES) {
    fail (TRACE_ERROR_RANGE, error, "a message of %" G_GUINT64_FORMAT " bytes", record->bytes);
    return NULL;
  }
  if (record->tag > INT32_MAX) {
    fail (TRACE_ERROR_RANGE, error, "a message with the tag %u", record->tag);
    return NULL;
  }
  op = push (calls, kind, name);
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
make_free (Calls *calls, uint64_t request)
{
  uint32_t handle;

  if (requests_find (calls->requests, request, true, &handle) && handle != TRACE_REQUEST_NULL &&
      calls->reading->losses != NULL)
    push_wait (calls, TRACE_OP_WAIT, handle);
}

static gboolean
add_irecv (Calls *calls, const Otf2Record *record, GError **error)
{
  const Otf2Losses *losses = calls->reading->losses;
  Otf2Record found = *record;
  TraceOp *op;

  make_free (calls, record->request);
  if (record->fate == OTF2_FATE_LOST) {
    uint64_t index = calls->n_lost++;

    if (losses == NULL || !otf2_losses_guess (losses, calls->rank, index, &found)) {
      if (!calls->reading->allow_lossy)
        return fail (TRACE_ERROR_LOST, error,
                     "a receive (request %" G_GUINT64_FORMAT
                     ") is posted and never completes, so that its source and size are not known; "
                     "--allow-lossy leaves it out",
                     record->request);
      calls->n_dropped++;
    }
  }
  if (found.fate != OTF2_FATE_DONE) {
    /* The request is known, but nothing is replayed for it. */
    enter_request (calls->requests, record->request, TRACE_REQUEST_NULL);
    return TRUE;
  }
  op = push_message (calls, TRACE_OP_IRECV, "MPI_Irecv", &found, error);
  if (op == NULL)
    return FALSE;
  op->request = requests_bind (calls->requests, record->request);
  return TRUE;
}

static gboolean
push_collective (Calls *calls, const Otf2Record *record, GError **error)
{
  const Otf2Comm *comm = otf2_definitions_find_comm (calls->reading->definitions, record->id);
  uint64_t *counts, *recv_counts;
  uint32_t place;
  bool good, guessed;
  TraceOp *op;

  if (!use_comm (calls, comm, &place, error))
    return FALSE;
  if (record->bytes > MOST_BYTES || record->recv_bytes > MOST_BYTES)
    return fail (TRACE_ERROR_RANGE, error, "a collective that moves %" G_GUINT64_FORMAT " bytes",
                 MAX (record->bytes, record->recv_bytes));
  op = push (calls, TRACE_OP_BARRIER, "MPI_Barrier");
  op->comm = comm->handle;
  good = otf2_collectives_fill (record, calls->reading->sizes, place, comm->n_ranks, op, &counts,
                                &recv_counts, &guessed);
  g_ptr_array_add (calls->arrays, counts);
  g_ptr_array_add (calls->arrays, recv_counts);
  if (calls->region == NULL)
    op->name = trace_op_name (op->kind);
  if (!good)
    return fail (TRACE_ERROR_RANGE, error, "%s with root %u on a communicator of %u ranks",
                 op->name, record->peer, comm->n_ranks);
  if (guessed)
    trace_warn (calls->reading->trace,
                "%s: the archive has only the total of all ranks; it is spread evenly, what is "
                "left over on the first",
                op->name);
  return TRUE;
}

static gboolean
add_collective_post (Calls *calls, const Otf2Record *record, GError **error)
{
  TraceOp *op;

  make_free (calls, record->request);
  if (record->fate != OTF2_FATE_DONE) {
    trace_warn (calls->reading->trace,
                "%s: never completes in the archive, so that its size is not known; left out",
                calls->region != NULL ? calls->region->name : "a nonblocking collective");
    enter_request (calls->requests, record->request, TRACE_REQUEST_NULL);
    return TRUE;
  }
  if (!push_collective (calls, record, error))
    return FALSE;
  op = &g_array_index (calls->ops, TraceOp, calls->ops->len - 1);
  op->nonblocking = true;
  op->request = requests_bind (calls->requests, record->request);
  return TRUE;
}

/* The operations of one record. */
static gboolean
add_record (Calls *calls, const Otf2Record *r, GError **error)
{
  uint32_t handle;
  TraceOp *op;

  switch ((Otf2RecordKind) r->kind) {
  case OTF2_RECORD_SEND: return push_message (calls, TRACE_OP_SEND, "MPI_Send", r, error) != NULL;
  case OTF2_RECORD_RECV: return push_message (calls, TRACE_OP_RECV, "MPI_Recv", r, error) != NULL;
  case OTF2_RECORD_ISEND:
    make_free (calls, r->request);
    op = push_message (calls, TRACE_OP_ISEND, "MPI_Isend", r, error);
    if (op == NULL)
      return FALSE;
    op->request = requests_bind (calls->requests, r->request);
    return TRUE;
  case OTF2_RECORD_IRECV_POST: return add_irecv (calls, r, error);
  case OTF2_RECORD_ISEND_COMPLETE:
  case OTF2_RECORD_IRECV_COMPLETE:
  case OTF2_RECORD_COLLECTIVE_COMPLETE:
  case OTF2_RECORD_CANCELLED:
    if (!requests_find (calls->requests, r->request, true, &handle))
      calls->n_foreign++;
    else if (handle != TRACE_REQUEST_NULL)
      g_array_append_val (calls->finished, handle);
    return TRUE;
  case OTF2_RECORD_TESTED:
    if (requests_find (calls->requests, r->request, false, &handle) && handle != TRACE_REQUEST_NULL)
      g_array_append_val (calls->tested, handle);
    return TRUE;
  case OTF2_RECORD_COLLECTIVE: return push_collective (calls, r, error);
  case OTF2_RECORD_COLLECTIVE_POST: return add_collective_post (calls, r, error);
  case OTF2_RECORD_RMA_COLLECTIVE: return add_window_collective (calls, r, error);
  case OTF2_RECORD_RMA_PUT: return push_access (calls, TRACE_OP_PUT, "MPI_Put", r, error) != NULL;
  case OTF2_RECORD_RMA_GET: return push_access (calls, TRACE_OP_GET, "MPI_Get", r, error) != NULL;
  case OTF2_RECORD_RMA_ATOMIC:
    return push_access (calls, TRACE_OP_FETCH, "MPI_Get_accumulate", r, error) != NULL;
  case OTF2_RECORD_RMA_UNLOCK:
    return push_access (calls, TRACE_OP_WIN_FLUSH, "MPI_Win_unlock", r, error) != NULL;
  case OTF2_RECORD_RMA_FLUSH: return add_window_flush (calls, r, error);
  case OTF2_RECORD_RMA_GROUP_SYNC:
  case OTF2_RECORD_RMA_WAIT:
    return fail (TRACE_ERROR_LOST, error,
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

/* --- Calls ---
 *
 * All completions inside one call are one wait or test; the name of the call
 * decides which of them. */

static Calls *
calls_new (const Otf2Reading *reading, uint32_t rank)
{
  Calls *calls = g_new0 (Calls, 1);

  calls->reading = reading;
  calls->rank = rank;
  calls->requests = requests_new ();
  calls->places = g_hash_table_new (NULL, NULL);
  calls->records = g_array_new (FALSE, FALSE, sizeof (Otf2Record));
  calls->finished = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  calls->tested = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  calls->ops = g_array_new (FALSE, FALSE, sizeof (TraceOp));
  calls->arrays = g_ptr_array_new_with_free_func (g_free);
  return calls;
}

static void
calls_free (Calls *calls)
{
  if (calls == NULL)
    return;
  requests_free (calls->requests);
  g_hash_table_unref (calls->places);
  g_array_unref (calls->records);
  g_array_unref (calls->finished);
  g_array_unref (calls->tested);
  g_array_unref (calls->ops);
  g_ptr_array_unref (calls->arrays);
  g_free (calls);
}

/* Forgets the operations of the last call. */
static void
calls_clear (Calls *calls)
{
  g_array_set_size (calls->ops, 0);
  g_ptr_array_set_size (calls->arrays, 0);
  calls->n_taken = 0;
}

/* region: NULL when a record stands alone.  A call that is not replayed only
 * keeps track of requests. */
static void
calls_begin (Calls *calls, const Otf2Region *region, gboolean is_replayed)
{
  calls->region = region;
  calls->is_replayed = is_replayed;
  calls->flushed = FALSE;
  g_array_set_size (calls->records, 0);
  g_array_set_size (calls->finished, 0);
  g_array_set_size (calls->tested, 0);
}

static Otf2CallKind
kind_of_call (const Calls *calls)
{
  return calls->region != NULL ? calls->region->kind : OTF2_CALL_OTHER;
}

static void
push_completion (Calls *calls)
{
  Otf2CallKind call = kind_of_call (calls);
  TraceOpKind kind = call == OTF2_CALL_TEST        ? TRACE_OP_TEST
                     : call == OTF2_CALL_WAIT_SOME ? TRACE_OP_WAIT_SOME
                                                   : TRACE_OP_WAIT;
  uint32_t n = calls->finished->len;
  g_autofree uint32_t *indices = g_new (uint32_t, n + 1);
  TraceOp *op;

  if (kind == TRACE_OP_TEST || kind == TRACE_OP_WAIT_SOME)
    g_array_append_vals (calls->finished, calls->tested->data, calls->tested->len);
  if (calls->finished->len == 0)
    return;
  for (uint32_t i = 0; i < n; i++)
    indices[i] = i;
  op = push (calls, kind, "MPI_Wait");
  op->n_requests = calls->finished->len;
  op->requests = keep_handles (calls, (uint32_t *) (void *) calls->finished->data, op->n_requests);
  op->n_completed = n;
  op->completed = keep_handles (calls, indices, n);
}

/* One operation of the two messages of an MPI_Sendrecv; MPI_PROC_NULL as a
 * partner has left no record. */
static void
join_sendrecv (Calls *calls, guint first)
{
  TraceOp *ops = (TraceOp *) (void *) calls->ops->data;
  TraceOp *send = NULL, *receive = NULL, joined;
  guint kept = first;

  for (guint i = first; i < calls->ops->len; i++) {
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
  for (guint i = first; i < calls->ops->len; i++)
    if (ops[i].kind == TRACE_OP_COMM_DEFINE)
      ops[kept++] = ops[i];
  ops[kept++] = joined;
  g_array_set_size (calls->ops, kept);
}

static gboolean
is_only_definitions (const Calls *calls, guint first)
{
  for (guint i = first; i < calls->ops->len; i++)
    if (g_array_index (calls->ops, TraceOp, i).kind != TRACE_OP_COMM_DEFINE)
      return FALSE;
  return TRUE;
}

/* Only what requests become of it. */
static void
skip_call (Calls *calls)
{
  uint32_t handle;

  for (guint i = 0; i < calls->records->len; i++) {
    const Otf2Record *r = &g_array_index (calls->records, Otf2Record, i);

    if (r->kind == OTF2_RECORD_IRECV_POST && r->fate == OTF2_FATE_LOST)
      calls->n_lost++;
    if ((r->kind == OTF2_RECORD_ISEND_COMPLETE || r->kind == OTF2_RECORD_IRECV_COMPLETE ||
         r->kind == OTF2_RECORD_COLLECTIVE_COMPLETE || r->kind == OTF2_RECORD_CANCELLED) &&
        requests_find (calls->requests, r->request, true, &handle))
      calls->n_outside++;
  }
}

/* A call that is known by its name alone. */
static void
push_bare (Calls *calls)
{
  const Otf2Region *region = calls->region;
  uint32_t handle;

  if (region == NULL)
    return;
  /* Where completions were lost, the wait was for the oldest requests. */
  if (calls->reading->losses != NULL && calls->records->len == 0 &&
      (region->kind == OTF2_CALL_WAIT || region->kind == OTF2_CALL_WAIT_SOME)) {
    if (strcmp (region->name, "MPI_Waitall") == 0 &&
        g_hash_table_size (calls->requests->entries) > 0) {
      push (calls, TRACE_OP_WAIT_OUTSTANDING, "MPI_Waitall");
      requests_take_all (calls->requests);
    } else if (requests_take_oldest (calls->requests, &handle))
      push_wait (calls, region->kind == OTF2_CALL_WAIT ? TRACE_OP_WAIT : TRACE_OP_WAIT_SOME,
                 handle);
  }
  if (region->kind == OTF2_CALL_MOVES)
    trace_warn (calls->reading->trace,
                "%s: left no event in the archive; the call is replayed, but nothing is moved",
                region->name);
}

/* Makes the operations of the call.  site: static; or NULL. */
static gboolean
calls_end (Calls *calls, int64_t call_ps, const char *site, GError **error)
{
  Otf2CallKind kind = kind_of_call (calls);
  guint first = calls->ops->len;

  if (!calls->is_replayed) {
    skip_call (calls);
    return TRUE;
  }
  calls->site = site;
  for (guint i = 0; i < calls->records->len; i++)
    if (!add_record (calls, &g_array_index (calls->records, Otf2Record, i), error))
      return FALSE;
  if (kind == OTF2_CALL_SENDRECV)
    join_sendrecv (calls, first);
  push_completion (calls);
  if (is_only_definitions (calls, first))
    push_bare (calls);
  if (calls->region != NULL &&
      (is_only_definitions (calls, first) || kind == OTF2_CALL_INIT || kind == OTF2_CALL_FINALIZE))
    push (calls,
          kind == OTF2_CALL_INIT       ? TRACE_OP_INIT
          : kind == OTF2_CALL_FINALIZE ? TRACE_OP_FINALIZE
          : kind == OTF2_CALL_TEST     ? TRACE_OP_TEST
                                       : TRACE_OP_CALL,
          NULL);
  calls->finalized = calls->finalized || kind == OTF2_CALL_FINALIZE;

  /* The time of the call stands with its first operation. */
  while (first < calls->ops->len &&
         g_array_index (calls->ops, TraceOp, first).kind == TRACE_OP_COMM_DEFINE)
    first++;
  if (first < calls->ops->len)
    g_array_index (calls->ops, TraceOp, first).call_ps = call_ps;
  return TRUE;
}

/* Warns of what was left over. */
static void
calls_finish (Calls *calls)
{
  const Otf2Reading *reading = calls->reading;

  if (calls->n_foreign + calls->n_outside > 0)
    trace_warn (reading->trace,
                "rank %u: left out %" G_GUINT64_FORMAT " completions of requests that were posted "
                "before, and %" G_GUINT64_FORMAT " after, what is replayed",
                calls->rank, calls->n_foreign, calls->n_outside);
  if (calls->n_dropped > 0)
    trace_warn (reading->trace,
                "rank %u: left out %" G_GUINT64_FORMAT " receives that never complete", calls->rank,
                calls->n_dropped);
  if (!calls->finalized && reading->from_region == NULL)
    trace_warn (reading->trace, "no MPI_Finalize: the trace is a window");
}

/* --- Regions and time --- */

/* A stack of regions that is deeper than this is a broken one. */
#define DEEPEST  65536
#define PS_PER_S 1000000000000u

struct Otf2Events {
  const Otf2Reading *reading;
  uint32_t rank;
  Calls *calls;
  GPtrArray *stack; /* (element-type Otf2Region), borrowed; the innermost last */
  guint n_mpi;      /* regions of MPI in it */
  guint n_from;     /* regions called reading->from_region in it */

  gboolean started;
  uint64_t first_ticks;
  int64_t begin_ps; /* of the call */
  const char *site; /* of the call */
  gboolean has_gap; /* whether end_ps is the beginning of a gap that was recorded */
  int64_t end_ps;   /* of the last call */
  int64_t flush_ps; /* since then, writing the trace itself */
};

Otf2Events *
otf2_events_new (const Otf2Reading *reading, uint32_t rank)
{
  Otf2Events *events = g_new0 (Otf2Events, 1);

  events->reading = reading;
  events->rank = rank;
  events->calls = calls_new (reading, rank);
  events->stack = g_ptr_array_new ();
  return events;
}

void
otf2_events_free (Otf2Events *events)
{
  if (events == NULL)
    return;
  calls_free (events->calls);
  g_ptr_array_unref (events->stack);
  g_free (events);
}

/* Since the first record; each time is rounded by itself, so that gaps do not
 * add up rounding errors.  What is before the first, or centuries later, is
 * at the end of the scale: no clock is right there. */
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

static gboolean
is_replayed (const Otf2Events *events)
{
  return events->reading->from_region == NULL || events->n_from > 0;
}

static void
compute_until (Otf2Events *events, int64_t now_ps)
{
  int64_t elapsed_ps = now_ps - events->end_ps;

  if (events->has_gap && elapsed_ps > events->flush_ps && is_replayed (events)) {
    TraceOp op = { .kind = TRACE_OP_COMPUTE,
                   .gap_ps = elapsed_ps - events->flush_ps,
                   .name = "compute" };

    g_array_append_val (events->calls->ops, op);
  }
}

static void
gap_begins (Otf2Events *events, int64_t now_ps)
{
  events->end_ps = now_ps;
  events->flush_ps = 0;
  events->has_gap = TRUE;
}

static void
begin_call (Otf2Events *events, const Otf2Region *region, int64_t now_ps)
{
  guint n = events->stack->len;

  compute_until (events, now_ps);
  events->begin_ps = now_ps;
  events->site = n > 0 ? ((const Otf2Region *) events->stack->pdata[n - 1])->name : NULL;
  calls_begin (events->calls, region, is_replayed (events));
}

static gboolean
end_call (Otf2Events *events, int64_t now_ps, GError **error)
{
  int64_t call_ps = MAX (now_ps - events->begin_ps, 0);

  gap_begins (events, now_ps);
  return calls_end (events->calls, call_ps, events->site, error);
}

static gboolean
enter (Otf2Events *events, const Otf2Record *record, int64_t now_ps, GError **error)
{
  const Otf2Region *region =
      otf2_definitions_find_region (events->reading->definitions, record->id);

  if (region == NULL) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "region %u is not defined", record->id);
    return FALSE;
  }
  if (events->stack->len == DEEPEST) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "regions are nested %d deep", DEEPEST);
    return FALSE;
  }
  if (region->kind != OTF2_CALL_USER && events->n_mpi++ == 0)
    begin_call (events, region, now_ps);
  if (region->kind == OTF2_CALL_USER && region->name == events->reading->from_region &&
      events->n_from++ == 0)
    gap_begins (events, now_ps);
  g_ptr_array_add (events->stack, (gpointer) region);
  return TRUE;
}

/* Leaves the region and all regions inside it; one that was never entered is
 * ignored.  EZTrace crosses regions at the end of the program. */
static gboolean
leave (Otf2Events *events, const Otf2Record *record, int64_t now_ps, GError **error)
{
  const Otf2Region *left = otf2_definitions_find_region (events->reading->definitions, record->id);
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

gboolean
otf2_events_add (Otf2Events *events, const Otf2Record *record, GError **error)
{
  gboolean alone = events->n_mpi == 0;
  int64_t now_ps, flush_ps;

  if (!events->started)
    events->first_ticks = record->ticks;
  events->started = TRUE;
  now_ps = ps_of (events, record->ticks);
  calls_clear (events->calls);

  if (record->kind == OTF2_RECORD_ENTER)
    return enter (events, record, now_ps, error);
  if (record->kind == OTF2_RECORD_LEAVE)
    return leave (events, record, now_ps, error);
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
  g_array_append_vals (events->calls->records, record, 1);
  return !alone || end_call (events, now_ps, error);
}

/* Recording may stop inside a call, which then has no end. */
gboolean
otf2_events_end (Otf2Events *events, GError **error)
{
  calls_clear (events->calls);
  if (events->n_mpi > 0) {
    events->n_mpi = 0;
    if (!calls_end (events->calls, 0, events->site, error))
      return FALSE;
  }
  calls_finish (events->calls);
  return TRUE;
}

gboolean
otf2_events_take (Otf2Events *events, TraceOp *op)
{
  Calls *calls = events->calls;

  if (calls->n_taken == calls->ops->len)
    return FALSE;
  *op = g_array_index (calls->ops, TraceOp, calls->n_taken++);
  return TRUE;
}
