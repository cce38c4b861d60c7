/* paraver.c - the Paraver format of the BSC tools: calls into operations, files and streams.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/paraver/paraver_format.h"
#include "traces/trace_file.h"

#include <string.h>

/* --- Sizes of collectives --- */

/* Extrae defines the sizes of a collective (its wrappers,
 * src/tracer/wrappers/MPI/mpi_wrapper_coll_c.c, and
 * src/merger/paraver/mpi_prv_semantics.c, both at 044e8b2):
 *
 *   call             sent                     received
 *   bcast            on the root the payload  elsewhere the payload
 *   reduce           not on the root          on the root
 *   allreduce, scan  the vector               the vector
 *   alltoall         to one peer              0
 *   alltoallv, -w    to all peers together    0
 *   allgather(v)     own                      from all together
 *   gather(v)        own                      on the root, from all together
 *   scatter(v)       on the root, to all      own
 *   reduce_scatter   the whole vector         own part
 *
 * Sizes missing in the call of one rank, such as the counts of a gatherv, are
 * taken from the calls of the others in the same collective. */

/* Counts per member are the sizes in each member's own call. */
static void
collect (const ParaverState *state, const ParaverCall *call, uint32_t n, gboolean sent,
         GArray *counts)
{
  g_array_set_size (counts, 0);
  for (uint32_t i = 0; i < n; i++) {
    const ParaverCall *partner = paraver_partner (state, call, i);
    uint64_t bytes = sent ? partner->sent_bytes : partner->recv_bytes;

    g_array_append_val (counts, bytes);
  }
}

static uint64_t
share (uint64_t bytes, uint32_t n, uint32_t member)
{
  return bytes / n + (member < bytes % n);
}

/* Sets the sizes of a collective of the rank; its counts are put into the
 * arrays (element-type uint64_t). */
static void
set_sizes (const ParaverState *state, const ParaverCall *call, uint32_t rank, GArray *counts,
           GArray *recv_counts, TraceOp *op)
{
  const ParaverComm *comm = state->header.comms->pdata[call->comm];
  uint32_t n = comm->n_members;
  gboolean is_root = call->root >= 0 && comm->members[call->root] == (int32_t) rank;
  gboolean has_counts = FALSE, has_recv_counts = FALSE;

  if (op->kind == TRACE_OP_BCAST || op->kind == TRACE_OP_REDUCE) {
    op->bytes = MAX (call->sent_bytes, call->recv_bytes);
  } else if (op->kind == TRACE_OP_ALLREDUCE || op->kind == TRACE_OP_SCAN ||
             op->kind == TRACE_OP_EXSCAN) {
    op->bytes = call->sent_bytes;
  } else if (op->kind == TRACE_OP_ALLTOALL) {
    op->bytes = op->recv_bytes = call->sent_bytes;
  } else if (op->kind == TRACE_OP_ALLGATHER) {
    op->recv_bytes = call->recv_bytes / n;
    op->bytes = call->sent_bytes > 0 ? call->sent_bytes : op->recv_bytes;
  } else if (op->kind == TRACE_OP_GATHER) {
    op->bytes = call->sent_bytes;
    op->recv_bytes = is_root ? call->recv_bytes / n : 0;
  } else if (op->kind == TRACE_OP_SCATTER) {
    op->bytes = is_root ? call->sent_bytes / n : 0;
    op->recv_bytes = call->recv_bytes;
  } else if (op->kind == TRACE_OP_ALLTOALLV) {
    gpointer me = g_hash_table_lookup (comm->position, GUINT_TO_POINTER (rank));

    trace_warn (state->trace,
                "%s: who gets how much is not in this format: taken to be equal shares", op->name);
    has_counts = has_recv_counts = TRUE;
    g_array_set_size (counts, 0);
    g_array_set_size (recv_counts, 0);
    for (uint32_t i = 0; i < n; i++) {
      uint64_t to = share (call->sent_bytes, n, i);
      uint64_t from =
          share (paraver_partner (state, call, i)->sent_bytes, n, GPOINTER_TO_UINT (me));

      g_array_append_val (counts, to);
      g_array_append_val (recv_counts, from);
    }
  } else if (op->kind == TRACE_OP_REDUCE_SCATTER) {
    /* The members' own parts, if they add up to the whole vector; else equal
     * parts. */
    uint64_t total = 0;

    has_recv_counts = TRUE;
    collect (state, call, n, FALSE, recv_counts);
    for (uint32_t i = 0; i < n; i++)
      total += g_array_index (recv_counts, uint64_t, i);
    for (uint32_t i = 0; i < n && total != call->sent_bytes; i++)
      g_array_index (recv_counts, uint64_t, i) = share (call->sent_bytes, n, i);
  } else if (op->kind == TRACE_OP_ALLGATHERV || op->kind == TRACE_OP_GATHERV) {
    op->bytes = call->sent_bytes;
    has_recv_counts = op->kind == TRACE_OP_ALLGATHERV || is_root;
    if (has_recv_counts)
      collect (state, call, n, TRUE, recv_counts);
  } else if (op->kind == TRACE_OP_SCATTERV) {
    op->recv_bytes = call->recv_bytes;
    has_counts = is_root;
    if (has_counts)
      collect (state, call, n, FALSE, counts);
  }

  if (has_counts) {
    op->counts = (const uint64_t *) (void *) counts->data;
    op->n_counts = counts->len;
  }
  if (has_recv_counts) {
    op->recv_counts = (const uint64_t *) (void *) recv_counts->data;
    op->n_recv_counts = recv_counts->len;
  }
}

/* --- Calls of one rank of a Paraver trace into operations --- */

/* The oldest of more sends without a wait are taken to have completed at once. */
#define MAX_SENDS 4096

typedef struct {
  const ParaverState *state;
  const ParaverRank *rank;
  char *place;
  uint32_t number;  /* of the rank */
  guint next_comm;  /* that is still to be defined */
  uint32_t call;    /* the next one */
  guint match;      /* the next one, of that call or a later one */
  int64_t clock_ps; /* end of the last call */
  gboolean inside;  /* the gap before the call is out */
  gboolean begun;   /* and an operation of the call itself */
  gboolean ended;
  uint64_t line; /* of the operation last read */
  GArray *sends; /* (element-type uint32_t): messages whose sends are under way, oldest first */
  GArray *requests, *completed; /* (element-type uint32_t) */
  GArray *counts, *recv_counts; /* (element-type uint64_t) of the collective last read */
} Cursor;

/* Each message has a request on either side, also where both are one rank. */
static uint32_t
request_of (uint32_t message, gboolean receives)
{
  return TRACE_REQUEST_NULL + 1 + 2 * message + receives;
}

/* The next match of the call being converted, or NULL. */
static const ParaverMatch *
peek_match (const Cursor *cursor)
{
  const ParaverMatch *match;

  if (cursor->match == cursor->rank->matches->len)
    return NULL;
  match = &g_array_index (cursor->rank->matches, ParaverMatch, cursor->match);
  return match->call == cursor->call ? match : NULL;
}

static const ParaverMessage *
message_of (const Cursor *cursor, const ParaverMatch *match)
{
  return &g_array_index (cursor->state->messages, ParaverMessage, match->message);
}

static void
convert_message (Cursor *cursor, TraceOp *op)
{
  const ParaverMatch *match = peek_match (cursor);
  const ParaverMessage *message;

  if (match == NULL) {
    op->kind = TRACE_OP_CALL;
    return;
  }
  message = message_of (cursor, match);
  op->tag = message->tag;
  op->bytes = message->bytes;
  if (match->role == PARAVER_MATCH_SEND) {
    op->peer = (int32_t) message->receiver;
    if (op->kind != TRACE_OP_ISEND)
      return;
    op->request = request_of (match->message, FALSE);
    if (cursor->sends->len == MAX_SENDS)
      g_array_remove_index (cursor->sends, 0);
    g_array_append_val (cursor->sends, match->message);
  } else {
    op->peer = op->matched_source = (int32_t) message->sender;
    if (op->kind == TRACE_OP_IRECV)
      op->request = request_of (match->message, TRUE);
  }
}

static void
complete (Cursor *cursor, uint32_t request)
{
  uint32_t index = cursor->requests->len;

  g_array_append_val (cursor->requests, request);
  g_array_append_val (cursor->completed, index);
}

/* The sends that a wait is for are not recorded.  A send whose receive was
 * posted only after the wait is left out: either it was complete without it, or
 * the wait was for others.  So no wait depends on a later call, and a replay
 * cannot hang unless the program did. */
static void
complete_sends (Cursor *cursor, int64_t end_ps, guint max)
{
  guint n = 0, n_kept = 0;

  for (guint i = 0; i < cursor->sends->len; i++) {
    uint32_t number = g_array_index (cursor->sends, uint32_t, i);

    if (n < max &&
        g_array_index (cursor->state->messages, ParaverMessage, number).posted_ps <= end_ps) {
      complete (cursor, request_of (number, FALSE));
      n++;
    } else
      g_array_index (cursor->sends, uint32_t, n_kept++) = number;
  }
  g_array_set_size (cursor->sends, n_kept);
}

/* Makes one operation of the call; TRUE when it is the call's last. */
static gboolean
convert (Cursor *cursor, const ParaverCall *call, TraceOp *op)
{
  const ParaverCallKind *kind = paraver_kind (call);
  const ParaverMatch *match = peek_match (cursor);

  if (trace_op_is_collective (kind->kind)) {
    if (call->nth == PARAVER_NONE) {
      op->kind = TRACE_OP_CALL;
      return TRUE;
    }
    if (kind->part & PARAVER_AT_ONCE)
      trace_warn (cursor->state->trace,
                  "%s: nothing tells when it was waited for: taken as blocking", op->name);
    op->comm = ((const ParaverComm *) cursor->state->header.comms->pdata[call->comm])->handle;
    op->root = call->root;
    set_sizes (cursor->state, call, cursor->number, cursor->counts, cursor->recv_counts, op);
  } else if (kind->part & PARAVER_STARTS) {
    /* Persistent requests cannot be told apart: each start is a send or a
     * receive of its own, a start of several is several. */
    if (match != NULL)
      op->kind = match->role == PARAVER_MATCH_SEND ? TRACE_OP_ISEND : TRACE_OP_IRECV;
    convert_message (cursor, op);
    if (match != NULL)
      cursor->match++;
    return peek_match (cursor) == NULL;
  } else if (kind->part & PARAVER_COMPLETES) {
    g_array_set_size (cursor->requests, 0);
    g_array_set_size (cursor->completed, 0);
    for (; match != NULL; match = peek_match (cursor)) {
      complete (cursor, request_of (match->message, TRUE));
      cursor->match++;
    }
    if (kind->part & PARAVER_COMPLETES_ALL)
      complete_sends (cursor, call->end_ps, G_MAXUINT);
    else if (cursor->requests->len == 0 && kind->kind != TRACE_OP_TEST)
      complete_sends (cursor, call->end_ps, 1);
    if (cursor->requests->len == 0) {
      op->kind = TRACE_OP_CALL;
      return TRUE;
    }
    op->requests = (const uint32_t *) (void *) cursor->requests->data;
    op->completed = (const uint32_t *) (void *) cursor->completed->data;
    op->n_requests = op->n_completed = cursor->requests->len;
  } else if (kind->kind == TRACE_OP_SENDRECV && match != NULL) {
    /* A side without a message had MPI_PROC_NULL, or is not in the trace. */
    op->peer = op->recv_peer = TRACE_PROC_NULL;
    for (; match != NULL; match = peek_match (cursor)) {
      const ParaverMessage *message = message_of (cursor, match);

      cursor->match++;
      if (match->role == PARAVER_MATCH_SEND) {
        op->peer = (int32_t) message->receiver;
        op->tag = message->tag;
        op->bytes = message->bytes;
      } else {
        op->recv_peer = op->matched_source = (int32_t) message->sender;
        op->recv_tag = message->tag;
        op->recv_bytes = message->bytes;
      }
    }
  } else if (kind->part & (PARAVER_SENDS | PARAVER_RECEIVES)) {
    convert_message (cursor, op);
  }
  return TRUE;
}

static gboolean
take_gap (Cursor *cursor, int64_t until_ps, TraceOp *op)
{
  int64_t gap_ps = until_ps - cursor->clock_ps;

  cursor->clock_ps = until_ps;
  *op = (TraceOp){ .kind = TRACE_OP_COMPUTE, .gap_ps = gap_ps, .name = "compute" };
  return gap_ps > 0;
}

/* Communicators that the rank's collectives use are defined at the begin. */
static gboolean
define_comm (Cursor *cursor, TraceOp *op)
{
  const GPtrArray *comms = cursor->state->header.comms;

  while (cursor->next_comm < comms->len) {
    const ParaverComm *comm = comms->pdata[cursor->next_comm++];

    if (!comm->used || comm->handle == TRACE_COMM_WORLD ||
        !g_hash_table_contains (comm->position, GUINT_TO_POINTER (cursor->number)))
      continue;
    cursor->line = comm->line;
    *op = (TraceOp){ .kind = TRACE_OP_COMM_DEFINE,
                     .comm = TRACE_COMM_WORLD,
                     .root = TRACE_NO_ROOT,
                     .matched_source = TRACE_ANY_SOURCE,
                     .new_comm = comm->handle,
                     .color = (int32_t) comm->handle,
                     .values = comm->members,
                     .n_values = comm->n_members,
                     .name = "communicator" };
    return TRUE;
  }
  return FALSE;
}

/* --- The Paraver format of the BSC tools: files and streams --- */

/* A trace is NAME.prv, with NAME.pcf beside it that defines its numbers; each
 * may be compressed with gzip.  The .prv has all ranks in one file in the order
 * of time and is read as a whole when it is opened; see paraver_format.h. */

static gboolean
probe (const char *path, const guint8 *head, gsize n)
{
  static const char magic[] = "#Paraver ";

  (void) path;
  return n >= sizeof magic - 1 && memcmp (head, magic, sizeof magic - 1) == 0;
}

static void
close_state (gpointer data)
{
  ParaverState *state = data;

  for (uint32_t rank = 0; state->ranks != NULL && rank < state->n_ranks; rank++) {
    g_array_unref (state->ranks[rank].calls);
    g_array_unref (state->ranks[rank].matches);
  }
  g_free (state->ranks);
  if (state->messages != NULL)
    g_array_unref (state->messages);
  paraver_header_clear (&state->header);
  paraver_meaning_free (state->meaning);
  g_free (state->name);
  g_free (state);
}

static gboolean
read_all (ParaverState *state, const char *path, const char *pcf, GError **error)
{
  g_autoptr (ParaverText) text = paraver_text_open (path, error);

  if (text == NULL || !paraver_header_read (text, &state->header, error))
    return FALSE;
  state->meaning = paraver_meaning_new (state->trace, pcf, error);
  if (state->meaning == NULL || !paraver_records_read (state, text, error))
    return FALSE;
  paraver_messages_match (state);
  return paraver_collectives_match (state, error);
}

static gpointer
open_trace (Trace *trace, const char *path, const TraceOptions *options, uint32_t *n_ranks,
            GPtrArray *files, GError **error)
{
  g_autofree char *stem = g_strdup (path), *pcf_name = NULL, *pcf = NULL;
  ParaverState *state;

  if (!trace_refuse_region (path, options, error))
    return NULL;
  if (g_str_has_suffix (stem, ".gz"))
    stem[strlen (stem) - 3] = '\0';
  if (g_str_has_suffix (stem, ".prv"))
    stem[strlen (stem) - 4] = '\0';
  pcf_name = g_strconcat (stem, ".pcf", NULL);
  pcf = trace_file_find (pcf_name);
  state = g_new0 (ParaverState, 1);
  state->trace = trace;
  state->options = options;
  state->world = PARAVER_NONE;
  state->name = g_path_get_basename (path);
  if (!read_all (state, path, pcf, error)) {
    close_state (state);
    return NULL;
  }
  state->options = NULL;
  *n_ranks = state->n_ranks;
  g_ptr_array_add (files, g_strdup (path));
  if (pcf != NULL)
    g_ptr_array_add (files, g_steal_pointer (&pcf));
  return state;
}

static gpointer
cursor_new (gpointer data, uint32_t rank, GError **error)
{
  Cursor *cursor = g_new0 (Cursor, 1);

  (void) error;
  cursor->state = data;
  cursor->rank = &cursor->state->ranks[rank];
  cursor->number = rank;
  cursor->clock_ps = cursor->rank->begin_ps;
  cursor->sends = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  cursor->requests = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  cursor->completed = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  cursor->counts = g_array_new (FALSE, FALSE, sizeof (uint64_t));
  cursor->recv_counts = g_array_new (FALSE, FALSE, sizeof (uint64_t));
  return cursor;
}

static void
cursor_free (gpointer data)
{
  Cursor *cursor = data;

  g_array_unref (cursor->sends);
  g_array_unref (cursor->requests);
  g_array_unref (cursor->completed);
  g_array_unref (cursor->counts);
  g_array_unref (cursor->recv_counts);
  g_free (cursor->place);
  g_free (cursor);
}

static TraceNext
cursor_next (gpointer data, TraceOp *op, GError **error)
{
  Cursor *cursor = data;
  const ParaverRank *rank = cursor->rank;
  const ParaverCall *call;

  (void) error;
  if (define_comm (cursor, op))
    return TRACE_NEXT_OPERATION;

  if (cursor->call == rank->calls->len) {
    const ParaverCall *last = cursor->call > 0 ? paraver_call_at (rank, cursor->call - 1) : NULL;

    if (cursor->ended || (last != NULL && paraver_kind (last)->kind == TRACE_OP_FINALIZE))
      return TRACE_NEXT_END;
    cursor->ended = TRUE;
    trace_warn (cursor->state->trace, "no MPI_Finalize: the trace is a window");
    return take_gap (cursor, rank->end_ps, op) ? TRACE_NEXT_OPERATION : TRACE_NEXT_END;
  }

  call = paraver_call_at (rank, cursor->call);
  cursor->line = call->line;
  if (!cursor->inside) {
    cursor->inside = TRUE;
    /* A replay cannot time anything before MPI_Init. */
    if (cursor->call == 0 && paraver_kind (call)->kind == TRACE_OP_INIT)
      cursor->clock_ps = call->begin_ps;
    if (take_gap (cursor, call->begin_ps, op))
      return TRACE_NEXT_OPERATION;
  }

  *op = (TraceOp){
    .kind = paraver_kind (call)->kind,
    .mode = paraver_kind (call)->mode,
    .comm = TRACE_COMM_WORLD,
    .root = TRACE_NO_ROOT,
    .matched_source = TRACE_ANY_SOURCE,
    .call_ps = cursor->begun ? 0 : call->end_ps - call->begin_ps,
    .site = call->site,
    .name = paraver_kind (call)->name,
  };
  cursor->begun = TRUE;
  if (convert (cursor, call, op)) {
    while (peek_match (cursor) != NULL)
      cursor->match++;
    cursor->clock_ps = call->end_ps;
    cursor->call++;
    cursor->inside = cursor->begun = FALSE;
  }
  return TRACE_NEXT_OPERATION;
}

static const char *
cursor_place (gpointer data)
{
  Cursor *cursor = data;

  g_free (cursor->place);
  cursor->place = g_strdup_printf ("%s:%" G_GUINT64_FORMAT, cursor->state->name, cursor->line);
  return cursor->place;
}

const TraceFormat trace_format_paraver = {
  .name = "paraver",
  .summary = "Paraver: a .prv file with a .pcf file beside it",
  .collectives = TRACE_COLLECTIVES_WITHOUT_SIZES,
  .probe = probe,
  .open = open_trace,
  .close = close_state,
  .cursor_new = cursor_new,
  .cursor_free = cursor_free,
  .cursor_next = cursor_next,
  .cursor_place = cursor_place,
};
