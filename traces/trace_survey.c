/* trace_survey.c - facts about a whole trace that writing one rank of it requires.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each rank is read until it makes a communicator whose other members have not
 * been read so far; then the next rank follows. */
#include "traces/lower.h"
#include "traces/format.h"

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
  uint32_t new_comm; /* the handle that it waits for */
  gboolean waits, done;
} Walk;

struct TraceSurvey {
  Trace *trace;
  uint32_t n_ranks, n_done;
  Walk *walks; /* [n_ranks] */
  TraceComms *comms;
  GHashTable *owners;  /* tag -> the communicator that keeps it, plus 1 */
  GHashTable *changed; /* (communicator, tag) -> serial, for all other communicators */
  int32_t highest_tag;
  gboolean has_collectives;
};

/* -- tags ----------------------------------------------------------------------- */

static gint64
tag_key (uint32_t comm, int32_t tag)
{
  return (gint64) ((uint64_t) comm << 32 | (uint32_t) tag);
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

/* The number of tags for collectives, and the first of them. */
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
  return TRACE_FAIL (TRACE_ERROR_WRITE, error,
                     "%s: tags up to %d leave no room for those of collectives and communicators",
                     trace_path (survey->trace), survey->highest_tag);
}

/* -- point to point --------------------------------------------------------------- */

static gboolean
visit_tag (TraceSurvey *survey, uint32_t rank, const TraceOp *op, int32_t tag, gboolean receives,
           GError **error)
{
  uint32_t comm = trace_comms_resolve (survey->comms, rank, op->comm);
  gpointer key = GINT_TO_POINTER (tag), owner = g_hash_table_lookup (survey->owners, key);
  gint64 pair = tag_key (comm, tag);

  if (comm == TRACE_COMMS_NULL)
    return TRACE_FAIL (TRACE_ERROR_RANGE, error, "%s on unknown communicator %u",
                       trace_op_name (op->kind), op->comm);
  if (tag < 0)
    return (receives && tag == TRACE_ANY_TAG) ||
           TRACE_FAIL (TRACE_ERROR_RANGE, error, "%s with tag %d", trace_op_name (op->kind), tag);
  survey->highest_tag = MAX (survey->highest_tag, tag);
  if (owner == NULL)
    g_hash_table_insert (survey->owners, key, GUINT_TO_POINTER (comm + 1));
  else if (GPOINTER_TO_UINT (owner) != comm + 1 && !g_hash_table_contains (survey->changed, &pair))
    g_hash_table_insert (survey->changed, g_memdup2 (&pair, sizeof pair),
                         GUINT_TO_POINTER (g_hash_table_size (survey->changed)));
  return TRUE;
}

/* -- requests --------------------------------------------------------------------- */

static void
start (Walk *walk, uint32_t handle, gboolean receives)
{
  trace_handles_push (walk->handles, handle, walk->n_started++ * 2 + (receives ? 1 : 0));
}

static void
visit_requests (Walk *walk, const TraceOp *op)
{
  uint32_t first = op->n_requests > 0 ? op->requests[0] : TRACE_REQUEST_NULL;
  uint32_t receives, number;

  if (op->kind == TRACE_OP_ISEND || op->kind == TRACE_OP_IRECV) {
    start (walk, op->request, op->kind == TRACE_OP_IRECV);
  } else if (op->kind == TRACE_OP_SEND_INIT || op->kind == TRACE_OP_RECV_INIT) {
    trace_handles_set_model (walk->handles, op->request, op->kind == TRACE_OP_RECV_INIT);
  } else if (op->kind == TRACE_OP_START) {
    for (uint32_t i = 0; i < op->n_requests; i++)
      if (trace_handles_model (walk->handles, op->requests[i], &receives))
        start (walk, op->requests[i], receives != 0);
  } else if (op->kind == TRACE_OP_WAIT || op->kind == TRACE_OP_WAIT_SOME ||
             op->kind == TRACE_OP_TEST) {
    uint32_t n = op->kind == TRACE_OP_WAIT ? op->n_requests : op->n_completed;

    for (uint32_t i = 0; i < n; i++) {
      uint32_t at = op->kind == TRACE_OP_WAIT ? i : op->completed[i];

      if (at < op->n_requests)
        trace_handles_pop (walk->handles, op->requests[at], &number);
    }
  } else if (op->kind == TRACE_OP_WAIT_OUTSTANDING) {
    g_array_unref (trace_handles_pop_all (walk->handles));
  } else if (op->kind == TRACE_OP_CANCEL) {
    if (op->n_requests == 0 || !trace_handles_peek (walk->handles, first, &number) ||
        number % 2 == 0)
      return;
    if (walk->cancelled == NULL)
      walk->cancelled = g_hash_table_new (NULL, NULL);
    g_hash_table_add (walk->cancelled, GUINT_TO_POINTER (number / 2));
  } else if (op->kind == TRACE_OP_REQUEST_FREE && op->n_requests > 0) {
    gboolean persistent = trace_handles_model (walk->handles, first, &receives);

    while (trace_handles_pop (walk->handles, first, &number) && persistent)
      ;
    trace_handles_drop_model (walk->handles, first);
  } else if (trace_op_is_collective (op->kind) && op->nonblocking) {
    start (walk, op->request, FALSE);
  }
}

gboolean
trace_survey_is_cancelled (const TraceSurvey *survey, uint32_t rank, uint32_t serial)
{
  GHashTable *cancelled = survey->walks[rank].cancelled;

  return cancelled != NULL && g_hash_table_contains (cancelled, GUINT_TO_POINTER (serial));
}

/* -- communicators ------------------------------------------------------------------ */

gboolean
trace_survey_binds (TraceOpKind kind)
{
  return trace_op_is_creation (kind) || kind == TRACE_OP_COMM_DEFINE;
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

static gboolean
visit_comm (TraceSurvey *survey, uint32_t rank, const TraceOp *op, GError **error)
{
  if (trace_op_is_creation (op->kind)) {
    uint32_t parent = trace_comms_resolve (survey->comms, rank, op->comm);
    bool is_complete;

    survey->walks[rank].new_comm = op->new_comm;
    if (!trace_comms_create (survey->comms, rank, op, &is_complete, error))
      return FALSE;
    survey->walks[rank].waits = TRUE;
    for (uint32_t i = 0; is_complete && i < trace_comms_size (survey->comms, parent); i++) {
      uint32_t member = trace_comms_world_rank (survey->comms, parent, i, rank);

      survey->walks[member].waits = FALSE;
      note_bound (survey, member, survey->walks[member].new_comm);
    }
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

static void
walk_end (Walk *walk)
{
  g_clear_pointer (&walk->cursor, trace_cursor_free);
  g_clear_pointer (&walk->handles, trace_handles_free);
}

static gboolean
visit (TraceSurvey *survey, uint32_t rank, const TraceOp *op, GError **error)
{
  gboolean receives =
      op->kind == TRACE_OP_RECV || op->kind == TRACE_OP_IRECV || op->kind == TRACE_OP_RECV_INIT;

  if ((op->kind >= TRACE_OP_WIN_CREATE && op->kind <= TRACE_OP_WIN_WAIT) ||
      op->kind == TRACE_OP_UNSUPPORTED)
    return TRACE_FAIL (TRACE_ERROR_WRITE, error, "%s cannot be expressed in this format", op->name);
  visit_requests (&survey->walks[rank], op);
  if (trace_op_is_collective (op->kind))
    survey->has_collectives = TRUE;
  if (op->kind >= TRACE_OP_COMM_DUP && op->kind <= TRACE_OP_GROUP_FREE)
    return visit_comm (survey, rank, op, error);
  if (op->kind < TRACE_OP_SEND || op->kind > TRACE_OP_SENDRECV)
    return TRUE;

  /* Messages from or to MPI_PROC_NULL have no tag: they are not written. */
  if (op->peer != TRACE_PROC_NULL && !visit_tag (survey, rank, op, op->tag, receives, error))
    return FALSE;
  return op->kind != TRACE_OP_SENDRECV || op->recv_peer == TRACE_PROC_NULL ||
         visit_tag (survey, rank, op, op->recv_tag, TRUE, error);
}

/* Reads until the rank waits or is done. */
static gboolean
walk_rank (TraceSurvey *survey, uint32_t rank, GError **error)
{
  Walk *walk = &survey->walks[rank];
  TraceOp op;

  if (walk->cursor == NULL) {
    walk->cursor = trace_cursor_new (survey->trace, rank, error);
    if (walk->cursor == NULL)
      return FALSE;
    walk->handles = trace_handles_new ();
  }
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

TraceSurvey *
trace_survey_new (Trace *trace, GError **error)
{
  g_autoptr (TraceSurvey) survey = g_new0 (TraceSurvey, 1);
  uint32_t waiting = 0;

  survey->trace = trace;
  survey->n_ranks = trace_ranks (trace);
  survey->walks = g_new0 (Walk, survey->n_ranks);
  survey->comms = trace_comms_new (survey->n_ranks);
  survey->owners = g_hash_table_new (NULL, NULL);
  survey->changed = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  survey->highest_tag = -1;
  while (survey->n_done < survey->n_ranks) {
    gboolean moved = FALSE;

    for (uint32_t rank = 0; rank < survey->n_ranks; rank++) {
      if (survey->walks[rank].done || survey->walks[rank].waits)
        continue;
      if (!walk_rank (survey, rank, error))
        return NULL;
      moved = TRUE;
    }
    if (moved)
      continue;
    while (!survey->walks[waiting].waits)
      waiting++;
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_LOST,
                 "%s: rank %u makes a communicator for which not all ranks come",
                 trace_cursor_place (survey->walks[waiting].cursor), waiting);
    return NULL;
  }
  return g_steal_pointer (&survey);
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
