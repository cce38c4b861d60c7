/* paraver.c - the Paraver format of the BSC tools: calls into operations, files and streams.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/paraver/paraver_format.h"
#include "traces/trace_file.h"

#include <string.h>

/* --- Sizes of collectives --- */

/* What the sizes of a collective mean is Extrae's choice (its wrappers,
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
 * What one rank does not tell, such as the counts of a gatherv, the calls of
 * the others in the same collective do. */

/* Counts of the collective read last. */
typedef struct {
  GArray *counts, *recv_counts; /* (element-type uint64_t) */
} ParaverCounts;

/* One collective, on one rank. */
typedef struct {
  const ParaverState *state;
  uint32_t rank;
  ParaverCounts *counts;
} Sizes;

/* Counts per member are what each of them says about itself. */
static void
collect (Sizes *sizes, const ParaverCall *call, uint32_t n, gboolean sent, GArray *counts)
{
  g_array_set_size (counts, 0);
  for (uint32_t i = 0; i < n; i++) {
    const ParaverCall *partner = paraver_partner (sizes->state, call, i);
    uint64_t bytes = sent ? partner->sent_bytes : partner->recv_bytes;

    g_array_append_val (counts, bytes);
  }
}

static uint64_t
share (uint64_t bytes, uint32_t n, uint32_t member)
{
  return bytes / n + (member < bytes % n);
}

static void
use_counts (TraceOp *op, const GArray *counts)
{
  op->counts = (const uint64_t *) (void *) counts->data;
  op->n_counts = counts->len;
}

static void
use_recv_counts (TraceOp *op, const GArray *counts)
{
  op->recv_counts = (const uint64_t *) (void *) counts->data;
  op->n_recv_counts = counts->len;
}

static gboolean
is_here (const Sizes *sizes, const ParaverComm *comm, int32_t root)
{
  return comm->members[root] == (int32_t) sizes->rank;
}

static void
set_counts (Sizes *sizes, const ParaverCall *call, const ParaverComm *comm, TraceOp *op)
{
  uint32_t n = comm->n_members;

  if (op->kind == TRACE_OP_ALLTOALLV) {
    /* Who of the peers gets how much is not recorded. */
    gpointer me = g_hash_table_lookup (comm->position, GUINT_TO_POINTER (sizes->rank));

    trace_warn (sizes->state->trace,
                "%s: who gets how much is not in this format: taken to be equal shares", op->name);
    g_array_set_size (sizes->counts->counts, 0);
    g_array_set_size (sizes->counts->recv_counts, 0);
    for (uint32_t i = 0; i < comm->n_members; i++) {
      uint64_t to = share (call->sent_bytes, comm->n_members, i);
      uint64_t from = share (paraver_partner (sizes->state, call, i)->sent_bytes, comm->n_members,
                             GPOINTER_TO_UINT (me));

      g_array_append_val (sizes->counts->counts, to);
      g_array_append_val (sizes->counts->recv_counts, from);
    }
    use_counts (op, sizes->counts->counts);
    use_recv_counts (op, sizes->counts->recv_counts);
  } else if (op->kind == TRACE_OP_REDUCE_SCATTER) {
    /* The parts that the members say they get, where these are the whole vector;
     * else equal parts. */
    uint64_t total = 0;

    collect (sizes, call, n, FALSE, sizes->counts->recv_counts);
    for (uint32_t i = 0; i < n; i++)
      total += g_array_index (sizes->counts->recv_counts, uint64_t, i);
    if (total != call->sent_bytes)
      for (uint32_t i = 0; i < n; i++)
        g_array_index (sizes->counts->recv_counts, uint64_t, i) = share (call->sent_bytes, n, i);
    use_recv_counts (op, sizes->counts->recv_counts);
  } else if (op->kind == TRACE_OP_ALLGATHERV || op->kind == TRACE_OP_GATHERV) {
    op->bytes = call->sent_bytes;
    if (op->kind == TRACE_OP_GATHERV && !is_here (sizes, comm, call->root))
      return;
    collect (sizes, call, n, TRUE, sizes->counts->recv_counts);
    use_recv_counts (op, sizes->counts->recv_counts);
  } else if (op->kind == TRACE_OP_SCATTERV) {
    op->recv_bytes = call->recv_bytes;
    if (!is_here (sizes, comm, call->root))
      return;
    collect (sizes, call, n, FALSE, sizes->counts->counts);
    use_counts (op, sizes->counts->counts);
  }
}

/* Sets the sizes of a collective that a rank takes part in; counts that it
 * needs are put into `counts`. */
static void
paraver_sizes_set (const ParaverState *state, const ParaverCall *call, uint32_t rank,
                   ParaverCounts *counts, TraceOp *op)
{
  Sizes sizes = { state, rank, counts };
  const ParaverComm *comm = state->header.comms->pdata[call->comm];

  uint32_t n = comm->n_members;

  if (op->kind == TRACE_OP_BCAST || op->kind == TRACE_OP_REDUCE)
    op->bytes = MAX (call->sent_bytes, call->recv_bytes);
  else if (op->kind == TRACE_OP_ALLREDUCE || op->kind == TRACE_OP_SCAN ||
           op->kind == TRACE_OP_EXSCAN)
    op->bytes = call->sent_bytes;
  else if (op->kind == TRACE_OP_ALLTOALL)
    op->bytes = op->recv_bytes = call->sent_bytes;
  else if (op->kind == TRACE_OP_ALLGATHER) {
    op->recv_bytes = call->recv_bytes / n;
    op->bytes = call->sent_bytes > 0 ? call->sent_bytes : op->recv_bytes;
  } else if (op->kind == TRACE_OP_GATHER) {
    op->bytes = call->sent_bytes;
    op->recv_bytes = is_here (&sizes, comm, call->root) ? call->recv_bytes / n : 0;
  } else if (op->kind == TRACE_OP_SCATTER) {
    op->bytes = is_here (&sizes, comm, call->root) ? call->sent_bytes / n : 0;
    op->recv_bytes = call->recv_bytes;
  }
  set_counts (&sizes, call, comm, op);
}

/* --- Calls of one rank of a Paraver trace into operations --- */

/* Sends that no wait took for so long were complete at once. */
#define MAX_SENDS 4096

typedef struct {
  const ParaverState *state;
  const ParaverRank *rank;
  uint32_t number;  /* of the rank */
  guint next_comm;  /* that is still to be defined */
  uint32_t call;    /* the next one */
  guint match;      /* the next one, of that call or a later one */
  int64_t clock_ps; /* end of the last call */
  gboolean inside;  /* the gap before the call is out */
  gboolean begun;   /* and an operation of the call itself */
  gboolean ended;
  uint64_t line;
  GArray *sends; /* (element-type uint32_t): messages whose sends are under way, oldest first */
  GArray *requests, *completed; /* (element-type uint32_t) */
  ParaverCounts counts;
} ParaverOps;

static ParaverOps *
paraver_ops_new (const ParaverState *state, uint32_t rank)
{
  ParaverOps *ops = g_new0 (ParaverOps, 1);

  ops->state = state;
  ops->rank = &state->ranks[rank];
  ops->number = rank;
  ops->clock_ps = ops->rank->begin_ps;
  ops->sends = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  ops->requests = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  ops->completed = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  ops->counts.counts = g_array_new (FALSE, FALSE, sizeof (uint64_t));
  ops->counts.recv_counts = g_array_new (FALSE, FALSE, sizeof (uint64_t));
  return ops;
}

static void
paraver_ops_free (ParaverOps *ops)
{
  if (ops == NULL)
    return;
  g_array_unref (ops->sends);
  g_array_unref (ops->requests);
  g_array_unref (ops->completed);
  g_array_unref (ops->counts.counts);
  g_array_unref (ops->counts.recv_counts);
  g_free (ops);
}

/* The line of the operation last read. */
static uint64_t
paraver_ops_line (const ParaverOps *ops)
{
  return ops->line;
}

/* Each message has a request on either side, also where both are one rank. */
static uint32_t
request_of (uint32_t message, gboolean receives)
{
  return TRACE_REQUEST_NULL + 1 + 2 * message + receives;
}

/* The next match of the call being converted, or NULL. */
static const ParaverMatch *
peek_match (const ParaverOps *ops)
{
  const ParaverMatch *match;

  if (ops->match == ops->rank->matches->len)
    return NULL;
  match = &g_array_index (ops->rank->matches, ParaverMatch, ops->match);
  return match->call == ops->call ? match : NULL;
}

static const ParaverMessage *
message_of (const ParaverOps *ops, const ParaverMatch *match)
{
  return &g_array_index (ops->state->messages, ParaverMessage, match->message);
}

static void
be_call (TraceOp *op)
{
  op->kind = TRACE_OP_CALL;
}

static void
set_send (ParaverOps *ops, const ParaverMatch *match, TraceOp *op)
{
  const ParaverMessage *message = message_of (ops, match);

  op->peer = (int32_t) message->receiver;
  op->tag = message->tag;
  op->bytes = message->bytes;
  if (op->kind != TRACE_OP_ISEND)
    return;
  op->request = request_of (match->message, FALSE);
  if (ops->sends->len == MAX_SENDS)
    g_array_remove_index (ops->sends, 0);
  g_array_append_val (ops->sends, match->message);
}

static void
convert_message (ParaverOps *ops, TraceOp *op)
{
  const ParaverMatch *match = peek_match (ops);

  if (match == NULL)
    be_call (op);
  else if (match->role == PARAVER_MATCH_SEND)
    set_send (ops, match, op);
  else {
    const ParaverMessage *message = message_of (ops, match);

    op->peer = op->matched_source = (int32_t) message->sender;
    op->tag = message->tag;
    op->bytes = message->bytes;
    if (op->kind == TRACE_OP_IRECV)
      op->request = request_of (match->message, TRUE);
  }
}

/* What has no message was MPI_PROC_NULL, or is not in the trace. */
static void
convert_sendrecv (ParaverOps *ops, TraceOp *op)
{
  const ParaverMatch *match = peek_match (ops);

  if (match == NULL) {
    be_call (op);
    return;
  }
  op->peer = op->recv_peer = TRACE_PROC_NULL;
  for (; match != NULL; match = peek_match (ops)) {
    const ParaverMessage *message = message_of (ops, match);

    ops->match++;
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
}

/* Persistent requests cannot be told apart: each start is a send or a receive
 * of its own, a start of several is several. */
static gboolean
convert_start (ParaverOps *ops, TraceOp *op)
{
  const ParaverMatch *match = peek_match (ops);

  if (match == NULL) {
    be_call (op);
    return TRUE;
  }
  op->kind = match->role == PARAVER_MATCH_SEND ? TRACE_OP_ISEND : TRACE_OP_IRECV;
  convert_message (ops, op);
  ops->match++;
  return peek_match (ops) == NULL;
}

static void
complete (ParaverOps *ops, uint32_t request)
{
  uint32_t index = ops->requests->len;

  g_array_append_val (ops->requests, request);
  g_array_append_val (ops->completed, index);
}

/* Which sends a wait is for is not recorded.  One whose receive was posted
 * only after the wait is left out: either it was complete without it, or the
 * wait was for others.  So nothing waits for what came later, and a replay
 * cannot hang where the program did not. */
static void
complete_sends (ParaverOps *ops, int64_t end_ps, guint max)
{
  guint n = 0, n_kept = 0;

  for (guint i = 0; i < ops->sends->len; i++) {
    uint32_t number = g_array_index (ops->sends, uint32_t, i);

    if (n < max &&
        g_array_index (ops->state->messages, ParaverMessage, number).posted_ps <= end_ps) {
      complete (ops, request_of (number, FALSE));
      n++;
    } else
      g_array_index (ops->sends, uint32_t, n_kept++) = number;
  }
  g_array_set_size (ops->sends, n_kept);
}

static void
convert_completion (ParaverOps *ops, const ParaverCall *call, TraceOp *op)
{
  const ParaverCallKind *kind = paraver_kind (call);

  g_array_set_size (ops->requests, 0);
  g_array_set_size (ops->completed, 0);
  for (const ParaverMatch *match = peek_match (ops); match != NULL; match = peek_match (ops)) {
    complete (ops, request_of (match->message, TRUE));
    ops->match++;
  }
  if (kind->part & PARAVER_COMPLETES_ALL)
    complete_sends (ops, call->end_ps, G_MAXUINT);
  else if (ops->requests->len == 0 && kind->kind != TRACE_OP_TEST)
    complete_sends (ops, call->end_ps, 1);
  if (ops->requests->len == 0) {
    be_call (op);
    return;
  }
  op->requests = (const uint32_t *) (void *) ops->requests->data;
  op->completed = (const uint32_t *) (void *) ops->completed->data;
  op->n_requests = op->n_completed = ops->requests->len;
}

static void
convert_collective (ParaverOps *ops, const ParaverCall *call, TraceOp *op)
{
  const ParaverComm *comm;

  if (call->nth == PARAVER_NONE) {
    be_call (op);
    return;
  }
  if (paraver_kind (call)->part & PARAVER_AT_ONCE)
    trace_warn (ops->state->trace, "%s: nothing tells when it was waited for: taken as blocking",
                op->name);
  comm = ops->state->header.comms->pdata[call->comm];
  op->comm = comm->handle;
  op->root = call->root;
  paraver_sizes_set (ops->state, call, ops->number, &ops->counts, op);
}

/* One operation of the call; TRUE when it was the last. */
static gboolean
convert (ParaverOps *ops, const ParaverCall *call, TraceOp *op)
{
  const ParaverCallKind *kind = paraver_kind (call);

  if (trace_op_is_collective (kind->kind))
    convert_collective (ops, call, op);
  else if (kind->part & PARAVER_STARTS)
    return convert_start (ops, op);
  else if (kind->part & PARAVER_COMPLETES)
    convert_completion (ops, call, op);
  else if (kind->kind == TRACE_OP_SENDRECV)
    convert_sendrecv (ops, op);
  else if (kind->part & (PARAVER_SENDS | PARAVER_RECEIVES))
    convert_message (ops, op);
  return TRUE;
}

static gboolean
take_gap (ParaverOps *ops, int64_t until_ps, TraceOp *op)
{
  int64_t gap_ps = until_ps - ops->clock_ps;

  ops->clock_ps = until_ps;
  *op = (TraceOp){ .kind = TRACE_OP_COMPUTE, .gap_ps = gap_ps, .name = "compute" };
  return gap_ps > 0;
}

/* Communicators that the rank's collectives use are there from the begin. */
static gboolean
define_comm (ParaverOps *ops, TraceOp *op)
{
  const GPtrArray *comms = ops->state->header.comms;

  while (ops->next_comm < comms->len) {
    const ParaverComm *comm = comms->pdata[ops->next_comm++];

    if (!comm->used || comm->handle == TRACE_COMM_WORLD ||
        !g_hash_table_contains (comm->position, GUINT_TO_POINTER (ops->number)))
      continue;
    ops->line = comm->line;
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

/* Before MPI_Init there is nothing that a replay could time. */
static gboolean
enter_call (ParaverOps *ops, const ParaverCall *call, TraceOp *op)
{
  ops->line = call->line;
  if (ops->inside)
    return FALSE;
  ops->inside = TRUE;
  if (ops->call == 0 && paraver_kind (call)->kind == TRACE_OP_INIT)
    ops->clock_ps = call->begin_ps;
  return take_gap (ops, call->begin_ps, op);
}

static gboolean
end_stream (ParaverOps *ops, TraceOp *op)
{
  const ParaverCall *last = ops->call > 0 ? paraver_call_at (ops->rank, ops->call - 1) : NULL;

  if (ops->ended)
    return FALSE;
  ops->ended = TRUE;
  if (last != NULL && paraver_kind (last)->kind == TRACE_OP_FINALIZE)
    return FALSE;
  trace_warn (ops->state->trace, "no MPI_Finalize: the trace is a window");
  return take_gap (ops, ops->rank->end_ps, op);
}

/* FALSE at the end. */
static gboolean
paraver_ops_next (ParaverOps *ops, TraceOp *op)
{
  const ParaverCall *call;

  if (define_comm (ops, op))
    return TRUE;
  if (ops->call == ops->rank->calls->len)
    return end_stream (ops, op);
  call = paraver_call_at (ops->rank, ops->call);
  if (enter_call (ops, call, op))
    return TRUE;
  *op = (TraceOp){
    .kind = paraver_kind (call)->kind,
    .mode = paraver_kind (call)->mode,
    .comm = TRACE_COMM_WORLD,
    .root = TRACE_NO_ROOT,
    .matched_source = TRACE_ANY_SOURCE,
    .call_ps = ops->begun ? 0 : call->end_ps - call->begin_ps,
    .site = call->site,
    .name = paraver_kind (call)->name,
  };
  ops->begun = TRUE;
  if (convert (ops, call, op)) {
    while (peek_match (ops) != NULL)
      ops->match++;
    ops->clock_ps = paraver_call_at (ops->rank, ops->call)->end_ps;
    ops->call++;
    ops->inside = ops->begun = FALSE;
  }
  return TRUE;
}

/* --- The Paraver format of the BSC tools: files and streams --- */

/* A trace is NAME.prv, with NAME.pcf beside it that says what its numbers
 * mean; each may be gzip.  The .prv has all ranks in one file in the order of
 * time and is read as a whole when it is opened; see paraver_format.h. */

typedef struct {
  ParaverState *state;
  ParaverOps *ops;
  char *place;
} ParaverCursor;

static gboolean
probe (const char *path, const guint8 *head, gsize n)
{
  static const char magic[] = "#Paraver ";

  (void) path;
  return n >= sizeof magic - 1 && memcmp (head, magic, sizeof magic - 1) == 0;
}

/* The .pcf beside a .prv, or NULL. */
static char *
find_pcf (const char *path)
{
  g_autofree char *stem = g_strdup (path), *pcf = NULL;

  if (g_str_has_suffix (stem, ".gz"))
    stem[strlen (stem) - 3] = '\0';
  if (g_str_has_suffix (stem, ".prv"))
    stem[strlen (stem) - 4] = '\0';
  pcf = g_strconcat (stem, ".pcf", NULL);
  return trace_file_find (pcf);
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
  g_autofree char *pcf = find_pcf (path);
  ParaverState *state;

  if (!trace_refuse_region (path, options, error))
    return NULL;
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
  ParaverCursor *cursor = g_new0 (ParaverCursor, 1);

  (void) error;
  cursor->state = data;
  cursor->ops = paraver_ops_new (data, rank);
  return cursor;
}

static void
cursor_free (gpointer data)
{
  ParaverCursor *cursor = data;

  paraver_ops_free (cursor->ops);
  g_free (cursor->place);
  g_free (cursor);
}

static TraceNext
cursor_next (gpointer data, TraceOp *op, GError **error)
{
  ParaverCursor *cursor = data;

  (void) error;
  return paraver_ops_next (cursor->ops, op) ? TRACE_NEXT_OPERATION : TRACE_NEXT_END;
}

static const char *
cursor_place (gpointer data)
{
  ParaverCursor *cursor = data;

  g_free (cursor->place);
  cursor->place = g_strdup_printf ("%s:%" G_GUINT64_FORMAT, cursor->state->name,
                                   paraver_ops_line (cursor->ops));
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
  .call_counts = trace_no_call_counts,
};
