/* otf2_calls.c - the records of one MPI call into operations.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What completes inside one call is one wait or test; which of them, the name
 * of the call says. */
#include "traces/otf2/otf2_calls.h"

#include "traces/format.h"
#include "traces/otf2/otf2_operations.h"

#include <string.h>

Otf2Calls *
otf2_calls_new (const Otf2Reading *reading, uint32_t rank)
{
  Otf2Calls *calls = g_new0 (Otf2Calls, 1);

  calls->reading = reading;
  calls->rank = rank;
  calls->requests = otf2_requests_new ();
  calls->places = g_hash_table_new (NULL, NULL);
  calls->records = g_array_new (FALSE, FALSE, sizeof (Otf2Record));
  calls->finished = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  calls->tested = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  calls->ops = g_array_new (FALSE, FALSE, sizeof (TraceOp));
  calls->arrays = g_ptr_array_new_with_free_func (g_free);
  return calls;
}

void
otf2_calls_free (Otf2Calls *calls)
{
  if (calls == NULL)
    return;
  otf2_requests_free (calls->requests);
  g_hash_table_unref (calls->places);
  g_array_unref (calls->records);
  g_array_unref (calls->finished);
  g_array_unref (calls->tested);
  g_array_unref (calls->ops);
  g_ptr_array_unref (calls->arrays);
  g_free (calls);
}

void
otf2_calls_clear (Otf2Calls *calls)
{
  g_array_set_size (calls->ops, 0);
  g_ptr_array_set_size (calls->arrays, 0);
  calls->n_taken = 0;
}

gboolean
otf2_calls_take (Otf2Calls *calls, TraceOp *op)
{
  if (calls->n_taken == calls->ops->len)
    return FALSE;
  *op = g_array_index (calls->ops, TraceOp, calls->n_taken++);
  return TRUE;
}

void
otf2_calls_compute (Otf2Calls *calls, int64_t gap_ps)
{
  TraceOp op = { .kind = TRACE_OP_COMPUTE, .gap_ps = gap_ps, .name = "compute" };

  g_array_append_val (calls->ops, op);
}

void
otf2_calls_begin (Otf2Calls *calls, const Otf2Region *region, gboolean is_replayed)
{
  calls->region = region;
  calls->is_replayed = is_replayed;
  calls->flushed = FALSE;
  g_array_set_size (calls->records, 0);
  g_array_set_size (calls->finished, 0);
  g_array_set_size (calls->tested, 0);
}

void
otf2_calls_add (Otf2Calls *calls, const Otf2Record *record)
{
  g_array_append_vals (calls->records, record, 1);
}

static Otf2CallKind
kind_of_call (const Otf2Calls *calls)
{
  return calls->region != NULL ? calls->region->kind : OTF2_CALL_OTHER;
}

static void
push_completion (Otf2Calls *calls)
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
  op = otf2_calls_push (calls, kind, "MPI_Wait");
  op->n_requests = calls->finished->len;
  op->requests =
      otf2_calls_keep (calls, (uint32_t *) (void *) calls->finished->data, op->n_requests);
  op->n_completed = n;
  op->completed = otf2_calls_keep (calls, indices, n);
}

/* One operation of the two messages of an MPI_Sendrecv; a partner who is
 * nobody has left no record. */
static void
join_sendrecv (Otf2Calls *calls, guint first)
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

/* Where completions were lost: what the wait must have waited for. */
static void
push_lost_wait (Otf2Calls *calls)
{
  uint32_t handle;

  if (strcmp (calls->region->name, "MPI_Waitall") == 0 &&
      otf2_requests_count (calls->requests) > 0) {
    otf2_calls_push (calls, TRACE_OP_WAIT_OUTSTANDING, "MPI_Waitall");
    otf2_requests_take_all (calls->requests);
  } else if (otf2_requests_take_oldest (calls->requests, &handle)) {
    otf2_calls_push_wait (
        calls, calls->region->kind == OTF2_CALL_WAIT ? TRACE_OP_WAIT : TRACE_OP_WAIT_SOME, handle);
  }
}

/* A call that nothing is known of but that it was made. */
static void
push_bare (Otf2Calls *calls)
{
  Otf2CallKind kind = kind_of_call (calls);

  if (calls->region == NULL)
    return;
  if (calls->reading->losses != NULL && (kind == OTF2_CALL_WAIT || kind == OTF2_CALL_WAIT_SOME) &&
      calls->records->len == 0)
    push_lost_wait (calls);
  if (kind == OTF2_CALL_MOVES)
    trace_warn (calls->reading->trace,
                "%s: left no event in the archive; the call is replayed, but nothing is moved",
                calls->region->name);
}

static TraceOpKind
bare_kind (Otf2CallKind kind)
{
  return kind == OTF2_CALL_INIT       ? TRACE_OP_INIT
         : kind == OTF2_CALL_FINALIZE ? TRACE_OP_FINALIZE
         : kind == OTF2_CALL_TEST     ? TRACE_OP_TEST
                                      : TRACE_OP_CALL;
}

static gboolean
is_only_definitions (const Otf2Calls *calls, guint first)
{
  for (guint i = first; i < calls->ops->len; i++)
    if (g_array_index (calls->ops, TraceOp, i).kind != TRACE_OP_COMM_DEFINE)
      return FALSE;
  return TRUE;
}

/* Only what requests become of it. */
static void
skip_call (Otf2Calls *calls)
{
  uint32_t handle;

  for (guint i = 0; i < calls->records->len; i++) {
    const Otf2Record *r = &g_array_index (calls->records, Otf2Record, i);

    if (r->kind == OTF2_RECORD_IRECV_POST && r->fate == OTF2_FATE_LOST)
      calls->n_lost++;
    if ((r->kind == OTF2_RECORD_ISEND_COMPLETE || r->kind == OTF2_RECORD_IRECV_COMPLETE ||
         r->kind == OTF2_RECORD_COLLECTIVE_COMPLETE || r->kind == OTF2_RECORD_CANCELLED) &&
        otf2_requests_find (calls->requests, r->request, true, &handle))
      calls->n_outside++;
  }
}

/* The time of the call stands with its first operation. */
static void
set_time (Otf2Calls *calls, guint first, int64_t call_ps)
{
  for (guint i = first; i < calls->ops->len; i++) {
    TraceOp *op = &g_array_index (calls->ops, TraceOp, i);

    if (op->kind != TRACE_OP_COMM_DEFINE) {
      op->call_ps = call_ps;
      return;
    }
  }
}

gboolean
otf2_calls_end (Otf2Calls *calls, int64_t call_ps, const char *site, GError **error)
{
  Otf2CallKind kind = kind_of_call (calls);
  guint first = calls->ops->len;

  if (!calls->is_replayed) {
    skip_call (calls);
    return TRUE;
  }
  calls->site = site;
  for (guint i = 0; i < calls->records->len; i++)
    if (!otf2_calls_add_record (calls, &g_array_index (calls->records, Otf2Record, i), error))
      return FALSE;
  if (kind == OTF2_CALL_SENDRECV)
    join_sendrecv (calls, first);
  push_completion (calls);
  if (is_only_definitions (calls, first))
    push_bare (calls);
  if (calls->region != NULL &&
      (is_only_definitions (calls, first) || kind == OTF2_CALL_INIT || kind == OTF2_CALL_FINALIZE))
    otf2_calls_push (calls, bare_kind (kind), NULL);
  calls->finalized = calls->finalized || kind == OTF2_CALL_FINALIZE;
  set_time (calls, first, call_ps);
  return TRUE;
}

void
otf2_calls_finish (Otf2Calls *calls)
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
