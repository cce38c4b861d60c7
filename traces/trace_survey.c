/* trace_survey.c - what must be known of a whole trace before a rank of it can be written.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each rank is read until it makes a communicator for which others have not
 * come yet; then the next rank has its turn. */
#include "traces/trace_survey.h"

#include "traces/handles.h"
#include "base/small_map.h"

/* Collectives of a communicator that may be under way at the same time, of
 * all communicators together: tags repeat after so many. */
#define COLLECTIVE_TAGS (1 << 20)
/* Fewer would let neighbours in the program meet. */
#define LEAST_COLLECTIVE_TAGS 256

typedef struct {
  TraceCursor *cursor;   /* NULL: not begun, or done */
  TraceHandles *handles; /* NULL: likewise */
  GArray *bound;         /* (element-type uint32_t) communicators in order; NULL: none */
  GHashTable *cancelled; /* set of serials; NULL: none */
  uint32_t n_started;
  uint32_t new_comm; /* the handle for which it waits */
  gboolean waits, done;
} Walk;

struct TraceSurvey {
  Trace *trace;
  uint32_t n_ranks, n_done;
  Walk *walks; /* [n_ranks] */
  TraceComms *comms;
  GHashTable *owners;  /* tag -> the communicator that keeps it, plus 1 */
  GHashTable *changed; /* (communicator, tag) -> serial, for all others */
  int32_t highest_tag;
  gboolean has_collectives;
};

/* -- tags ----------------------------------------------------------------------- */

static gint64
tag_key (uint32_t comm, int32_t tag)
{
  return (gint64) ((uint64_t) comm << 32 | (uint32_t) tag);
}

static void
note_tag (TraceSurvey *survey, uint32_t comm, int32_t tag)
{
  gpointer key = GINT_TO_POINTER (tag), owner = g_hash_table_lookup (survey->owners, key);
  gint64 pair = tag_key (comm, tag);

  survey->highest_tag = MAX (survey->highest_tag, tag);
  if (owner == NULL)
    g_hash_table_insert (survey->owners, key, GUINT_TO_POINTER (comm + 1));
  else if (GPOINTER_TO_UINT (owner) != comm + 1 && !g_hash_table_contains (survey->changed, &pair))
    g_hash_table_insert (survey->changed, g_memdup2 (&pair, sizeof pair),
                         GUINT_TO_POINTER (g_hash_table_size (survey->changed)));
}

int32_t
trace_survey_tag (const TraceSurvey *survey, uint32_t comm, int32_t tag)
{
  gint64 pair = tag_key (comm, tag);
  gpointer serial;

  if (!g_hash_table_lookup_extended (survey->changed, &pair, NULL, &serial))
    return tag;
  return survey->highest_tag + 1 + (int32_t) GPOINTER_TO_UINT (serial);
}

/* How many tags collectives may have, and the first of them. */
static int64_t
collective_tags (const TraceSurvey *survey, int64_t *first)
{
  *first = (int64_t) survey->highest_tag + 1 + g_hash_table_size (survey->changed);
  return MIN (COLLECTIVE_TAGS, INT32_MAX - *first + 1);
}

int32_t
trace_survey_collective_tag (const TraceSurvey *survey, uint32_t comm, uint32_t sequence)
{
  int64_t first, n = collective_tags (survey, &first);
  uint64_t n_comms = (uint64_t) trace_comms_created (survey->comms) + 1;

  return (int32_t) (first + (int64_t) ((comm + sequence * n_comms) % (uint64_t) n));
}

gboolean
trace_survey_check_tags (const TraceSurvey *survey, GError **error)
{
  int64_t first, n = collective_tags (survey, &first);

  if (n >= (survey->has_collectives ? LEAST_COLLECTIVE_TAGS : 0))
    return TRUE;
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_WRITE,
               "%s: tags up to %d leave no room for those of collectives and communicators",
               trace_path (survey->trace), survey->highest_tag);
  return FALSE;
}

/* -- point to point --------------------------------------------------------------- */

static gboolean
visit_tag (TraceSurvey *survey, uint32_t rank, const TraceOp *op, int32_t tag, gboolean receives,
           GError **error)
{
  uint32_t comm = trace_comms_resolve (survey->comms, rank, op->comm);

  if (comm == TRACE_COMMS_NULL) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "%s on unknown communicator %u",
                 trace_op_name (op->kind), op->comm);
    return FALSE;
  }
  if (tag >= 0)
    note_tag (survey, comm, tag);
  else if (!receives || tag != TRACE_ANY_TAG) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "%s with tag %d", trace_op_name (op->kind),
                 tag);
    return FALSE;
  }
  return TRUE;
}

static gboolean
is_receive (TraceOpKind kind)
{
  return kind == TRACE_OP_RECV || kind == TRACE_OP_IRECV || kind == TRACE_OP_RECV_INIT;
}

/* What nobody gets or sends has no tag: it is not written. */
static gboolean
visit_message (TraceSurvey *survey, uint32_t rank, const TraceOp *op, GError **error)
{
  gboolean both = op->kind == TRACE_OP_SENDRECV;

  if (op->peer != TRACE_PROC_NULL &&
      !visit_tag (survey, rank, op, op->tag, is_receive (op->kind), error))
    return FALSE;
  return !both || op->recv_peer == TRACE_PROC_NULL ||
         visit_tag (survey, rank, op, op->recv_tag, TRUE, error);
}

/* -- requests --------------------------------------------------------------------- */

/* The low bit of a handle's number tells a receive from the rest. */
static uint32_t
number_of_request (uint32_t serial, gboolean receives)
{
  return serial * 2 + (receives ? 1 : 0);
}

static void
start (Walk *walk, uint32_t handle, gboolean receives)
{
  trace_handles_push (walk->handles, handle, number_of_request (walk->n_started++, receives));
}

static void
cancel (Walk *walk, const TraceOp *op)
{
  uint32_t number;

  if (op->n_requests == 0 || !trace_handles_peek (walk->handles, op->requests[0], &number) ||
      number % 2 == 0)
    return;
  if (walk->cancelled == NULL)
    walk->cancelled = g_hash_table_new (NULL, NULL);
  g_hash_table_add (walk->cancelled, GUINT_TO_POINTER (number / 2));
}

static void
visit_requests (Walk *walk, const TraceOp *op)
{
  if (op->kind == TRACE_OP_ISEND || op->kind == TRACE_OP_IRECV)
    start (walk, op->request, op->kind == TRACE_OP_IRECV);
  else if (op->kind == TRACE_OP_SEND_INIT || op->kind == TRACE_OP_RECV_INIT)
    trace_handles_set_model (walk->handles, op->request, op->kind == TRACE_OP_RECV_INIT);
  else if (op->kind == TRACE_OP_START) {
    uint32_t receives;

    for (uint32_t i = 0; i < op->n_requests; i++)
      if (trace_handles_model (walk->handles, op->requests[i], &receives))
        start (walk, op->requests[i], receives != 0);
  } else if (op->kind == TRACE_OP_WAIT || op->kind == TRACE_OP_WAIT_SOME ||
             op->kind == TRACE_OP_TEST) {
    uint32_t n = op->kind == TRACE_OP_WAIT ? op->n_requests : op->n_completed, number;

    for (uint32_t i = 0; i < n; i++) {
      uint32_t at = op->kind == TRACE_OP_WAIT ? i : op->completed[i];

      if (at < op->n_requests)
        trace_handles_pop (walk->handles, op->requests[at], &number);
    }
  } else if (op->kind == TRACE_OP_WAIT_OUTSTANDING)
    g_array_unref (trace_handles_pop_all (walk->handles));
  else if (op->kind == TRACE_OP_CANCEL)
    cancel (walk, op);
  else if (op->kind == TRACE_OP_REQUEST_FREE && op->n_requests > 0) {
    uint32_t receives, number;
    gboolean persistent = trace_handles_model (walk->handles, op->requests[0], &receives);

    while (trace_handles_pop (walk->handles, op->requests[0], &number) && persistent)
      ;
    trace_handles_drop_model (walk->handles, op->requests[0]);
  } else if (trace_op_is_collective (op->kind) && op->nonblocking)
    start (walk, op->request, FALSE);
}

gboolean
trace_survey_is_cancelled (const TraceSurvey *survey, uint32_t rank, uint32_t serial)
{
  GHashTable *cancelled = survey->walks[rank].cancelled;

  return cancelled != NULL && g_hash_table_contains (cancelled, GUINT_TO_POINTER (serial));
}

/* -- communicators ------------------------------------------------------------------ */

static gboolean
is_creation (TraceOpKind kind)
{
  return kind == TRACE_OP_COMM_DUP || kind == TRACE_OP_COMM_SPLIT || kind == TRACE_OP_COMM_CREATE ||
         kind == TRACE_OP_CART_CREATE || kind == TRACE_OP_CART_SUB || kind == TRACE_OP_GRAPH_CREATE;
}

gboolean
trace_survey_binds (TraceOpKind kind)
{
  return is_creation (kind) || kind == TRACE_OP_COMM_DEFINE;
}

static void
note_bound (TraceSurvey *survey, uint32_t rank, uint32_t handle)
{
  uint32_t comm = trace_comms_resolve (survey->comms, rank, handle);
  Walk *walk = &survey->walks[rank];

  if (walk->bound == NULL)
    walk->bound = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  g_array_append_val (walk->bound, comm);
}

static void
go_on (TraceSurvey *survey, uint32_t rank)
{
  Walk *walk = &survey->walks[rank];

  walk->waits = FALSE;
  note_bound (survey, rank, walk->new_comm);
}

static gboolean
visit_comm (TraceSurvey *survey, uint32_t rank, const TraceOp *op, GError **error)
{
  if (is_creation (op->kind)) {
    uint32_t parent = trace_comms_resolve (survey->comms, rank, op->comm);
    bool is_complete;

    survey->walks[rank].new_comm = op->new_comm;
    if (!trace_comms_create (survey->comms, rank, op, &is_complete, error))
      return FALSE;
    survey->walks[rank].waits = TRUE;
    for (uint32_t i = 0; is_complete && i < trace_comms_size (survey->comms, parent); i++)
      go_on (survey, trace_comms_world_rank (survey->comms, parent, i, rank));
    return TRUE;
  }
  if (op->kind == TRACE_OP_COMM_DEFINE) {
    if (!trace_comms_define (survey->comms, rank, op, error))
      return FALSE;
    note_bound (survey, rank, op->new_comm);
  } else if (op->kind == TRACE_OP_COMM_FREE)
    trace_comms_release (survey->comms, rank, op->comm);
  else
    return trace_comms_group (survey->comms, rank, op, error);
  return TRUE;
}

uint32_t
trace_survey_bound (const TraceSurvey *survey, uint32_t rank, uint32_t index)
{
  const GArray *bound = survey->walks[rank].bound;

  return bound != NULL && index < bound->len ? g_array_index (bound, uint32_t, index)
                                             : TRACE_COMMS_NULL;
}

const TraceComms *
trace_survey_comms (const TraceSurvey *survey)
{
  return survey->comms;
}

/* -- walking --------------------------------------------------------------------- */

static gboolean
is_one_sided (TraceOpKind kind)
{
  return kind >= TRACE_OP_WIN_CREATE && kind <= TRACE_OP_WIN_WAIT;
}

static gboolean
visit (TraceSurvey *survey, uint32_t rank, const TraceOp *op, GError **error)
{
  if (is_one_sided (op->kind) || op->kind == TRACE_OP_UNSUPPORTED) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_WRITE, "%s cannot be expressed in this format",
                 op->name);
    return FALSE;
  }
  visit_requests (&survey->walks[rank], op);
  if (trace_op_is_collective (op->kind))
    survey->has_collectives = TRUE;
  if (op->kind >= TRACE_OP_SEND && op->kind <= TRACE_OP_SENDRECV)
    return visit_message (survey, rank, op, error);
  if (op->kind >= TRACE_OP_COMM_DUP && op->kind <= TRACE_OP_GROUP_FREE)
    return visit_comm (survey, rank, op, error);
  return TRUE;
}

static void
walk_end (Walk *walk)
{
  g_clear_pointer (&walk->cursor, trace_cursor_free);
  g_clear_pointer (&walk->handles, trace_handles_free);
}

static gboolean
walk_begin (TraceSurvey *survey, uint32_t rank, GError **error)
{
  Walk *walk = &survey->walks[rank];

  if (walk->cursor != NULL)
    return TRUE;
  walk->cursor = trace_cursor_new (survey->trace, rank, error);
  if (walk->cursor == NULL)
    return FALSE;
  walk->handles = trace_handles_new ();
  return TRUE;
}

/* Until the rank waits or is done. */
static gboolean
walk_rank (TraceSurvey *survey, uint32_t rank, GError **error)
{
  Walk *walk = &survey->walks[rank];
  TraceOp op;

  if (!walk_begin (survey, rank, error))
    return FALSE;
  while (!walk->waits)
    switch (trace_cursor_next (walk->cursor, &op, error)) {
    case TRACE_NEXT_ERROR: return FALSE;
    case TRACE_NEXT_END:
      walk_end (walk);
      walk->done = TRUE;
      survey->n_done++;
      return TRUE;
    case TRACE_NEXT_OPERATION:
      if (visit (survey, rank, &op, error))
        break;
      g_prefix_error (error, "%s: rank %u: ", trace_cursor_place (walk->cursor), rank);
      return FALSE;
    }
  return TRUE;
}

static gboolean
fail_waiting (const TraceSurvey *survey, GError **error)
{
  uint32_t rank = 0;

  while (!survey->walks[rank].waits)
    rank++;
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_LOST,
               "%s: rank %u makes a communicator for which not all ranks come",
               trace_cursor_place (survey->walks[rank].cursor), rank);
  return FALSE;
}

static gboolean
walk_all (TraceSurvey *survey, GError **error)
{
  gboolean moved = TRUE;

  while (survey->n_done < survey->n_ranks && moved) {
    moved = FALSE;
    for (uint32_t rank = 0; rank < survey->n_ranks; rank++) {
      if (survey->walks[rank].done || survey->walks[rank].waits)
        continue;
      if (!walk_rank (survey, rank, error))
        return FALSE;
      moved = TRUE;
    }
  }
  return moved || fail_waiting (survey, error);
}

TraceSurvey *
trace_survey_new (Trace *trace, GError **error)
{
  g_autoptr (TraceSurvey) survey = g_new0 (TraceSurvey, 1);

  survey->trace = trace;
  survey->n_ranks = trace_ranks (trace);
  survey->walks = g_new0 (Walk, survey->n_ranks);
  survey->comms = trace_comms_new (survey->n_ranks);
  survey->owners = g_hash_table_new (NULL, NULL);
  survey->changed = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  survey->highest_tag = -1;
  return walk_all (survey, error) ? g_steal_pointer (&survey) : NULL;
}

void
trace_survey_free (TraceSurvey *survey)
{
  if (survey == NULL)
    return;
  for (uint32_t rank = 0; rank < survey->n_ranks; rank++) {
    Walk *walk = &survey->walks[rank];

    walk_end (walk);
    if (walk->bound != NULL)
      g_array_unref (walk->bound);
    if (walk->cancelled != NULL)
      g_hash_table_unref (walk->cancelled);
  }
  g_free (survey->walks);
  trace_comms_free (survey->comms);
  g_hash_table_unref (survey->owners);
  g_hash_table_unref (survey->changed);
  g_free (survey);
}
