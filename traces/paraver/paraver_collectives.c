/* paraver_collectives.c - which calls of different ranks are one collective.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The n-th call on a communicator is the same collective on all its members.
 * Where a trace was cut out of a longer one, some members may have begun
 * their first collective before, or their last one may not have ended. */
#include "traces/paraver/paraver_format.h"

static GArray *
calls_of (const ParaverComm *comm, uint32_t member)
{
  return comm->calls->pdata[member];
}

static ParaverCall *
nth_call (const ParaverState *state, const ParaverComm *comm, uint32_t member, uint32_t nth)
{
  uint32_t call = g_array_index (calls_of (comm, member), uint32_t, nth);

  return call == PARAVER_NONE ? NULL : paraver_call_at (&state->ranks[comm->members[member]], call);
}

/* The same where the member is known to have it. */
static ParaverCall *
present_call (const ParaverState *state, const ParaverComm *comm, uint32_t member, uint32_t nth)
{
  ParaverCall *call = nth_call (state, comm, member, nth);

  g_assert (call != NULL);
  return call;
}

static ParaverComm *
comm_at (const ParaverState *state, uint32_t index)
{
  return state->header.comms->pdata[index];
}

static gboolean
is_world (const ParaverState *state, const ParaverComm *comm)
{
  for (uint32_t i = 0; i < comm->n_members; i++)
    if (comm->members[i] != (int32_t) i)
      return FALSE;
  return comm->n_members == state->n_ranks;
}

static gboolean
bad_comm (const ParaverState *state, const ParaverComm *comm, const char *what, GError **error)
{
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
               "%s:%" G_GUINT64_FORMAT ": communicator %" G_GUINT64_FORMAT " %s", state->name,
               comm->line, comm->id, what);
  return FALSE;
}

static gboolean
use_comm (ParaverState *state, ParaverComm *comm, uint32_t handle, GError **error)
{
  comm->used = TRUE;
  comm->handle = is_world (state, comm) ? TRACE_COMM_WORLD : handle;
  comm->position = g_hash_table_new (NULL, NULL);
  comm->calls = g_ptr_array_new_with_free_func ((GDestroyNotify) (void (*) (void)) g_array_unref);
  for (uint32_t i = 0; i < comm->n_members; i++) {
    if ((uint32_t) comm->members[i] >= state->n_ranks)
      return bad_comm (state, comm, "has tasks that the header does not have", error);
    if (!g_hash_table_insert (comm->position, GINT_TO_POINTER (comm->members[i]),
                              GUINT_TO_POINTER (i)))
      return bad_comm (state, comm, "has a task twice", error);
    g_ptr_array_add (comm->calls, g_array_new (FALSE, FALSE, sizeof (uint32_t)));
  }
  return TRUE;
}

static uint32_t
find_world (const ParaverState *state)
{
  for (guint i = 0; i < state->header.comms->len; i++)
    if (comm_at (state, i)->application == state->application &&
        is_world (state, comm_at (state, i)))
      return i;
  return PARAVER_NONE;
}

/* Where the trace does not say on which communicator: on that of all. */
static uint32_t
world_comm (ParaverState *state)
{
  ParaverComm *comm;

  if (state->world == PARAVER_NONE)
    state->world = find_world (state);
  if (state->world != PARAVER_NONE)
    return state->world;
  comm = g_new0 (ParaverComm, 1);
  comm->application = state->application;
  comm->n_members = state->n_ranks;
  comm->members = g_new (int32_t, state->n_ranks);
  for (uint32_t rank = 0; rank < state->n_ranks; rank++)
    comm->members[rank] = (int32_t) rank;
  g_ptr_array_add (state->header.comms, comm);
  state->world = state->header.comms->len - 1;
  return state->world;
}

static gboolean
list_call (ParaverState *state, uint32_t rank, uint32_t number, GError **error)
{
  ParaverCall *call = paraver_call_at (&state->ranks[rank], number);
  ParaverComm *comm;
  gpointer member;

  if (!trace_op_is_collective (paraver_kind (call)->kind))
    return TRUE;
  if (call->comm == PARAVER_NONE) {
    call->comm = world_comm (state);
    trace_warn (state->trace, "collectives without a communicator are taken for MPI_COMM_WORLD's");
  }
  comm = comm_at (state, call->comm);
  if (!comm->used && !use_comm (state, comm, TRACE_COMM_SELF + 1 + call->comm, error))
    return FALSE;
  if (!g_hash_table_lookup_extended (comm->position, GUINT_TO_POINTER (rank), NULL, &member)) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                 "%s:%" G_GUINT64_FORMAT ": task %u is not in communicator %" G_GUINT64_FORMAT,
                 state->name, call->line, rank + 1, comm->id);
    return FALSE;
  }
  g_array_append_val (calls_of (comm, GPOINTER_TO_UINT (member)), number);
  return TRUE;
}

static gboolean
list_calls (ParaverState *state, GError **error)
{
  for (uint32_t rank = 0; rank < state->n_ranks; rank++)
    for (uint32_t i = 0; i < state->ranks[rank].calls->len; i++)
      if (!list_call (state, rank, i, error))
        return FALSE;
  return TRUE;
}

/* The earliest first call of the members whose stream is whole at its begin. */
static const ParaverCall *
earliest_first (const ParaverState *state, const ParaverComm *comm)
{
  const ParaverCall *earliest = NULL;

  for (uint32_t i = 0; i < comm->n_members; i++) {
    const ParaverCall *call;

    if (state->ranks[comm->members[i]].cut || calls_of (comm, i)->len == 0)
      continue;
    call = present_call (state, comm, i, 0);
    if (earliest == NULL || call->begin_ps < earliest->begin_ps)
      earliest = call;
  }
  return earliest;
}

/* A member that the begin of the trace found in a call, while the others had
 * their first collective, was in that: it gets a place in its list. */
static void
fill_in_cut_calls (const ParaverState *state, ParaverComm *comm)
{
  const ParaverCall *first = earliest_first (state, comm);
  uint32_t none = PARAVER_NONE;

  for (uint32_t i = 0; first != NULL && i < comm->n_members; i++) {
    const ParaverRank *rank = &state->ranks[comm->members[i]];
    GArray *calls = calls_of (comm, i);

    if (rank->cut && first->begin_ps <= rank->begin_ps &&
        (calls->len == 0 || first->end_ps < present_call (state, comm, i, 0)->begin_ps))
      g_array_prepend_val (calls, none);
  }
}

/* A member of all the calls that are one collective, with the role of root. */
static gboolean
acts_as_root (const ParaverCall *call)
{
  TraceOpKind kind = paraver_kind (call)->kind;

  if (kind == TRACE_OP_BCAST || kind == TRACE_OP_SCATTER || kind == TRACE_OP_SCATTERV)
    return call->sent_bytes > 0;
  return call->recv_bytes > 0;
}

static gboolean
is_rooted (TraceOpKind kind)
{
  return kind == TRACE_OP_BCAST || kind == TRACE_OP_REDUCE || kind == TRACE_OP_GATHER ||
         kind == TRACE_OP_GATHERV || kind == TRACE_OP_SCATTER || kind == TRACE_OP_SCATTERV;
}

/* Sizes are surer than the flag, which Extrae gets wrong for gather and
 * scatter in communicators that number their members otherwise. */
static int32_t
find_root (const ParaverState *state, const ParaverComm *comm, uint32_t nth)
{
  int32_t flagged = TRACE_NO_ROOT;

  for (uint32_t i = 0; i < comm->n_members; i++) {
    const ParaverCall *call = present_call (state, comm, i, nth);

    if (acts_as_root (call))
      return (int32_t) i;
    if (call->is_root && flagged == TRACE_NO_ROOT)
      flagged = (int32_t) i;
  }
  if (flagged == TRACE_NO_ROOT)
    trace_warn (state->trace, "collectives without a root are taken to have rank 0");
  return MAX (flagged, 0);
}

/* TRUE when all members have the nth call, of one kind. */
static gboolean
is_whole (const ParaverState *state, const ParaverComm *comm, uint32_t nth, GError **error)
{
  const ParaverCall *first = nth_call (state, comm, 0, nth);

  for (uint32_t i = 0; i < comm->n_members; i++) {
    const ParaverCall *call = nth_call (state, comm, i, nth);

    if (call == NULL || first == NULL)
      return FALSE;
    if (call->kind == first->kind)
      continue;
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_LOST,
                 "%s:%" G_GUINT64_FORMAT
                 ": %s of task %d is %s of task %d in line %" G_GUINT64_FORMAT
                 ": the collectives of communicator %" G_GUINT64_FORMAT " do not agree",
                 state->name, call->line, paraver_kind (call)->name, comm->members[i] + 1,
                 paraver_kind (first)->name, comm->members[0] + 1, first->line, comm->id);
    return FALSE;
  }
  return TRUE;
}

static void
join (const ParaverState *state, const ParaverComm *comm, uint32_t nth)
{
  TraceOpKind kind = paraver_kind (present_call (state, comm, 0, nth))->kind;
  int32_t root = is_rooted (kind) ? find_root (state, comm, nth) : TRACE_NO_ROOT;

  for (uint32_t i = 0; i < comm->n_members; i++) {
    ParaverCall *call = present_call (state, comm, i, nth);

    call->nth = nth;
    call->root = root;
  }
}

/* How many calls all members have. */
static uint32_t
common_length (const ParaverComm *comm)
{
  uint32_t n = calls_of (comm, 0)->len;

  for (uint32_t i = 1; i < comm->n_members; i++)
    n = MIN (n, calls_of (comm, i)->len);
  return n;
}

/* Adds the calls that are not part of a collective to *n_left_out. */
static gboolean
match_comm (const ParaverState *state, ParaverComm *comm, uint64_t *n_left_out, GError **error)
{
  uint32_t n;

  fill_in_cut_calls (state, comm);
  n = common_length (comm);
  for (uint32_t nth = 0; nth < n; nth++) {
    g_autoptr (GError) trouble = NULL;

    if (is_whole (state, comm, nth, &trouble))
      join (state, comm, nth);
    else if (trouble != NULL && !state->options->allow_lossy) {
      g_propagate_error (error, g_steal_pointer (&trouble));
      return FALSE;
    }
  }
  for (uint32_t i = 0; i < comm->n_members; i++)
    for (uint32_t k = 0; k < calls_of (comm, i)->len; k++) {
      const ParaverCall *call = nth_call (state, comm, i, k);

      *n_left_out += call != NULL && call->nth == PARAVER_NONE;
    }
  return TRUE;
}

gboolean
paraver_collectives_match (ParaverState *state, GError **error)
{
  uint64_t n_left_out = 0;

  if (!list_calls (state, error))
    return FALSE;
  for (guint i = 0; i < state->header.comms->len; i++)
    if (comm_at (state, i)->used && !match_comm (state, comm_at (state, i), &n_left_out, error))
      return FALSE;
  if (n_left_out > 0)
    trace_warn (state->trace,
                "%" G_GUINT64_FORMAT " collective calls are not in the trace on all ranks of "
                "their communicator: taken for calls without effect",
                n_left_out);
  return TRUE;
}

const ParaverCall *
paraver_partner (const ParaverState *state, const ParaverCall *call, uint32_t member)
{
  return nth_call (state, comm_at (state, call->comm), member, call->nth);
}
