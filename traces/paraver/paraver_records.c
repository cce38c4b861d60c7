/* paraver_records.c - the records of a Paraver trace: calls, messages, collectives.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/paraver/paraver_format.h"

#include <string.h>

/* --- Records into calls and messages --- */

/* A call lies between two events of its group on the first thread of a task;
 * its attributes stand in events of the same task and time, on the same line or
 * on a neighbouring line. */

/* State of a task at the current record. */
typedef struct {
  gboolean is_open;
  ParaverCall call;  /* the open call */
  ParaverRole group; /* of it */
  gboolean started;  /* there was an event of a call */
  int64_t noted_ps;  /* time of the following attributes */
  uint64_t sent_bytes, recv_bytes, comm_id;
  gboolean has_comm, is_root;
  uint32_t caller, caller_line;
} Task;

typedef struct {
  ParaverState *state;
  ParaverText *text;
  Task *tasks;       /* [n_ranks] */
  int64_t now_ps;    /* of the last record */
  GHashTable *comms; /* id -> index + 1, of the application */
  uint64_t n_cut, n_lost, n_threads, n_foreign;
  gboolean unnamed;
} Reading;

/* The fields that all records begin with. */
typedef struct {
  uint64_t application, task, thread;
} Object;

static gboolean
bad_record (const Reading *reading, GError **error)
{
  return paraver_bad_line (reading->text, TRACE_ERROR_FORMAT,
                           "expected a record of whole numbers between colons", error);
}

static gboolean
take_object (ParaverText *text, Object *object)
{
  uint64_t cpu;

  return paraver_take_field (text, UINT64_MAX, &cpu) &&
         paraver_take_field (text, UINT32_MAX, &object->application) &&
         paraver_take_field (text, UINT32_MAX, &object->task) &&
         paraver_take_field (text, UINT32_MAX, &object->thread);
}

static gboolean
take_time (const Reading *reading, int64_t *time_ps)
{
  int64_t unit_ps = reading->state->header.unit_ps;
  uint64_t time;

  if (!paraver_take_field (reading->text, (uint64_t) (PARAVER_MAX_PS / unit_ps), &time))
    return FALSE;
  *time_ps = (int64_t) time * unit_ps;
  return TRUE;
}

static gboolean
is_ours (const Reading *reading, const Object *object)
{
  return object->application == reading->state->application;
}

static gboolean
check_task (const Reading *reading, const Object *object, GError **error)
{
  return (object->task > 0 && object->task <= reading->state->n_ranks) ||
         paraver_bad_line (reading->text, TRACE_ERROR_RANGE, "expected a task that the header has",
                           error);
}

static uint32_t
kind_of (Reading *reading, ParaverRole group, uint64_t value)
{
  gpointer named = value <= UINT32_MAX ? g_hash_table_lookup (reading->state->meaning->calls[group],
                                                              GUINT_TO_POINTER ((guint) value))
                                       : NULL;
  uint32_t kind;

  if (named != NULL)
    return GPOINTER_TO_UINT (named) - 1;
  reading->unnamed = TRUE;
  kind = paraver_call_by_value (value);
  if (kind == PARAVER_NONE)
    return PARAVER_CALL_UNKNOWN;
  g_hash_table_insert (reading->state->meaning->calls[group], GUINT_TO_POINTER ((guint) value),
                       GUINT_TO_POINTER (kind + 1));
  return kind;
}

/* Notes an attribute of the call that begins now. */
static void
note_attribute (Task *task, ParaverRole role, uint64_t value, int64_t now_ps)
{
  if (task->noted_ps != now_ps) {
    task->sent_bytes = task->recv_bytes = 0;
    task->has_comm = task->is_root = FALSE;
    task->caller = task->caller_line = 0;
    task->noted_ps = now_ps;
  }
  switch (role) {
  case PARAVER_SENT: task->sent_bytes = value; break;
  case PARAVER_RECEIVED: task->recv_bytes = value; break;
  case PARAVER_ROOT: task->is_root = value != 0; break;
  case PARAVER_COMM:
    task->comm_id = value;
    task->has_comm = TRUE;
    break;
  case PARAVER_CALLER: task->caller = (uint32_t) MIN (value, UINT32_MAX); break;
  case PARAVER_CALLER_LINE: task->caller_line = (uint32_t) MIN (value, UINT32_MAX); break;
  case PARAVER_P2P:
  case PARAVER_COLLECTIVE:
  case PARAVER_OTHER:
  case PARAVER_ONE_SIDED:
  case PARAVER_IO:
  case PARAVER_N_ROLES: break;
  }
}

/* Goes over ":type:value"; does not move when the text differs. */
static gboolean
take_pair (ParaverText *text, uint64_t *type, uint64_t *value)
{
  const char *begin = text->field;

  if (paraver_take_field (text, UINT64_MAX, type) && paraver_take_field (text, UINT64_MAX, value))
    return TRUE;
  text->field = begin;
  return FALSE;
}

static gboolean
read_events (Reading *reading, const Object *object, GError **error)
{
  const ParaverMeaning *meaning = reading->state->meaning;
  ParaverText *text = reading->text;
  gboolean has_attributes = FALSE;
  uint64_t type, value;
  ParaverRank *rank;
  gpointer comm;
  Task *task;

  if (!is_ours (reading, object) || object->thread != 1) {
    /* A thread without a rank. */
    gboolean calls = FALSE;

    while (take_pair (text, &type, &value))
      calls |= paraver_role (meaning, type) < PARAVER_N_GROUPS;
    reading->n_threads += calls && is_ours (reading, object);
    return paraver_line_ended (text) || bad_record (reading, error);
  }
  if (!check_task (reading, object, error))
    return FALSE;
  rank = &reading->state->ranks[object->task - 1];
  task = &reading->tasks[object->task - 1];
  while (take_pair (text, &type, &value)) {
    ParaverRole role = paraver_role (meaning, type);

    if (role == PARAVER_N_ROLES)
      continue;
    has_attributes = TRUE;
    if ((role == PARAVER_SENT || role == PARAVER_RECEIVED) && value > PARAVER_MAX_BYTES)
      return paraver_bad_line (text, TRACE_ERROR_RANGE, "a size is impossible", error);
    if (role >= PARAVER_N_GROUPS) {
      note_attribute (task, role, value, reading->now_ps);
    } else if (value != 0) {
      /* The end of a call that is still open was lost. */
      reading->n_lost += task->is_open;
      task->is_open = task->started = TRUE;
      task->group = role;
      task->call = (ParaverCall){ .begin_ps = reading->now_ps,
                                  .line = text->number,
                                  .comm = PARAVER_NONE,
                                  .nth = PARAVER_NONE,
                                  .root = TRACE_NO_ROOT,
                                  .kind = (uint16_t) kind_of (reading, role, value) };
    } else {
      /* An end without a begin is ignored: the BSC cutter ends everything once
       * more at the cut. */
      if (task->is_open && task->group == role) {
        task->call.end_ps = reading->now_ps;
        g_array_append_val (rank->calls, task->call);
        task->is_open = FALSE;
      } else if (!task->started) {
        /* The trace begins in the middle of a call. */
        rank->begin_ps = reading->now_ps;
        rank->cut = TRUE;
        reading->n_cut++;
      }
      task->started = TRUE;
    }
  }
  if (!paraver_line_ended (text))
    return bad_record (reading, error);

  /* The attributes belong to the call that began at the same time. */
  if (!has_attributes || !task->is_open || task->call.begin_ps != task->noted_ps)
    return TRUE;
  task->call.sent_bytes = task->sent_bytes;
  task->call.recv_bytes = task->recv_bytes;
  task->call.is_root = task->is_root != FALSE;
  if (task->caller != 0)
    task->call.site = paraver_site (reading->state->meaning, task->caller, task->caller_line);
  if (!task->has_comm || !trace_op_is_collective (paraver_kind (&task->call)->kind))
    return TRUE;
  comm = g_hash_table_lookup (reading->comms, &task->comm_id);
  if (comm == NULL)
    return paraver_bad_line (text, TRACE_ERROR_LOST, "expected a communicator that the header has",
                             error);
  task->call.comm = GPOINTER_TO_UINT (comm) - 1;
  return TRUE;
}

static gboolean
read_record (Reading *reading, GError **error)
{
  ParaverText *text = reading->text;
  ParaverMessage message;
  Object object, receiver;
  int64_t time_ps;
  uint64_t tag;

  if (paraver_line_ended (text) || *text->line == '#')
    return TRUE;
  /* States, and communicators between groups. */
  if (paraver_take (text, '1') || paraver_take (text, 'i'))
    return (!paraver_line_ended (text) && *text->field == ':') || bad_record (reading, error);

  /* "2:object:time:type:value..." */
  if (paraver_take (text, '2')) {
    if (!take_object (text, &object) || !take_time (reading, &time_ps))
      return bad_record (reading, error);
    if (time_ps < reading->now_ps)
      return paraver_bad_line (text, TRACE_ERROR_RANGE, "expected records in the order of time",
                               error);
    reading->now_ps = time_ps;
    return read_events (reading, &object, error);
  }
  if (*text->line == 'c')
    return paraver_bad_line (text, TRACE_ERROR_FORMAT, "expected communicators before all records",
                             error);

  /* "3:sender:logical:physical:receiver:logical:physical:size:tag".  MPI tags end
   * below 2^31; larger ones are folded on both sides. */
  if (!paraver_take (text, '3') || !take_object (text, &object) ||
      !take_time (reading, &message.sent_ps) || !take_time (reading, &time_ps) ||
      !take_object (text, &receiver) || !take_time (reading, &message.posted_ps) ||
      !take_time (reading, &message.completed_ps) ||
      !paraver_take_field (text, PARAVER_MAX_BYTES, &message.bytes) ||
      !paraver_take_field (text, UINT64_MAX, &tag) || !paraver_line_ended (text))
    return bad_record (reading, error);
  if (!is_ours (reading, &object) && !is_ours (reading, &receiver))
    return TRUE;
  if (!is_ours (reading, &object) || !is_ours (reading, &receiver) || object.thread != 1 ||
      receiver.thread != 1) {
    reading->n_foreign++;
    return TRUE;
  }
  if (!check_task (reading, &object, error) || !check_task (reading, &receiver, error))
    return FALSE;
  message.sender = (uint32_t) object.task - 1;
  message.receiver = (uint32_t) receiver.task - 1;
  message.tag = (int32_t) (tag & INT32_MAX);
  g_array_append_val (reading->state->messages, message);
  return TRUE;
}

/* Returns the application with most messages, or most calls when there are no
 * messages: the MPI program, not one that was traced beside it. */
static uint32_t
choose_application (ParaverState *state, ParaverText text)
{
  guint n = state->header.tasks->len;
  g_autofree uint64_t *messages = g_new0 (uint64_t, n), *calls = g_new0 (uint64_t, n);
  guint best = 0;

  while (n > 1 && paraver_text_next (&text)) {
    gboolean is_message = paraver_take (&text, '3');
    uint64_t time, type;
    Object object;

    if ((!is_message && !paraver_take (&text, '2')) || !take_object (&text, &object) ||
        object.application == 0 || object.application > n)
      continue;
    if (is_message)
      messages[object.application - 1]++;
    else if (paraver_take_field (&text, UINT64_MAX, &time) &&
             paraver_take_field (&text, UINT64_MAX, &type))
      calls[object.application - 1] += paraver_role (state->meaning, type) < PARAVER_N_GROUPS;
  }
  for (guint i = 1; i < n; i++)
    if (messages[i] > messages[best] || (messages[i] == messages[best] && calls[i] > calls[best]))
      best = i;
  return best + 1;
}

static void
warn_reading (const Reading *reading)
{
  Trace *trace = reading->state->trace;

  if (reading->n_cut > 0)
    trace_warn (trace,
                "the trace begins or ends in the middle of %" G_GUINT64_FORMAT
                " calls: they are left out",
                reading->n_cut);
  if (reading->n_lost > 0)
    trace_warn (trace, "%" G_GUINT64_FORMAT " calls do not end before the next begins: left out",
                reading->n_lost);
  if (reading->n_threads > 0)
    trace_warn (trace,
                "%" G_GUINT64_FORMAT " events of MPI calls on other threads than the first of "
                "a task are left out",
                reading->n_threads);
  if (reading->n_foreign > 0)
    trace_warn (trace,
                "%" G_GUINT64_FORMAT
                " messages to or from other threads or applications are left out",
                reading->n_foreign);
  if (reading->unnamed && reading->state->meaning->named)
    trace_warn (trace, "the .pcf file does not name all MPI calls: some are taken by number");
}

gboolean
paraver_records_read (ParaverState *state, ParaverText *text, GError **error)
{
  Reading reading = { .state = state, .text = text };
  gboolean good = TRUE, has_calls = FALSE;

  while (text->at < text->end && memchr ("c#i\r\n", *text->at, 5) != NULL) {
    gboolean is_comm = *text->at == 'c';

    paraver_text_next (text);
    if (is_comm && !paraver_comm_read (text, &state->header, error))
      return FALSE;
  }
  state->application = choose_application (state, *text);
  state->n_ranks = g_array_index (state->header.tasks, uint32_t, state->application - 1);

  reading.tasks = g_new0 (Task, state->n_ranks);
  state->ranks = g_new0 (ParaverRank, state->n_ranks);
  for (uint32_t rank = 0; rank < state->n_ranks; rank++) {
    state->ranks[rank].calls = g_array_new (FALSE, FALSE, sizeof (ParaverCall));
    state->ranks[rank].matches = g_array_new (FALSE, FALSE, sizeof (ParaverMatch));
    reading.tasks[rank].noted_ps = -1;
  }
  state->messages = g_array_new (FALSE, FALSE, sizeof (ParaverMessage));
  reading.comms = g_hash_table_new (g_int64_hash, g_int64_equal);
  for (guint i = 0; i < state->header.comms->len; i++) {
    ParaverComm *comm = state->header.comms->pdata[i];

    if (comm->application == state->application)
      g_hash_table_insert (reading.comms, &comm->id, GUINT_TO_POINTER (i + 1));
  }
  while (good && paraver_text_next (text))
    good = read_record (&reading, error);

  /* A stream ends at the begin of a call that is still open, or with the window. */
  for (uint32_t rank = 0; rank < state->n_ranks && good; rank++) {
    const Task *task = &reading.tasks[rank];

    has_calls = has_calls || state->ranks[rank].calls->len > 0;
    reading.n_cut += task->is_open;
    state->ranks[rank].end_ps =
        task->is_open ? task->call.begin_ps : MAX (state->header.end_ps, reading.now_ps);
  }
  if (good && !has_calls) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_LOST, "%s: has no MPI calls", text->name);
    good = FALSE;
  }
  if (good)
    warn_reading (&reading);
  g_hash_table_unref (reading.comms);
  g_free (reading.tasks);
  return good;
}

/* --- The calls that sent, posted and completed a message --- */

/* A communication record has four times.  As Extrae writes them (mpi2prv,
 * src/merger/paraver/mpi_prv_semantics.c): the logical send is the begin of
 * the sending call; the logical receive is the begin of a blocking receive but
 * the end of MPI_Irecv; the physical receive is the end of the call in which
 * the message was seen to be complete.  Simulated traces have other times
 * within these calls, and may complete a message before any call waits for it:
 * then the next call that waits is taken. */

/* Limit of the calls at one moment that are searched.  A clock does not stand
 * still for longer. */
#define MAX_TOUCHING 64

/* The first call of the rank that begins after the time. */
static uint32_t
first_after (const ParaverRank *rank, int64_t time_ps)
{
  uint32_t low = 0, high = rank->calls->len;

  while (low < high) {
    uint32_t middle = low + (high - low) / 2;

    if (paraver_call_at (rank, middle)->begin_ps <= time_ps)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The call with this part at this time that has no message yet; preferably the
 * call whose begin, or end for MPI_Irecv, is exactly this time. */
static uint32_t
find_call (const ParaverRank *rank, int64_t time_ps, uint8_t part)
{
  uint32_t end = first_after (rank, time_ps), begin = end, found = PARAVER_NONE;

  while (begin > 0 && end - begin < MAX_TOUCHING &&
         paraver_call_at (rank, begin - 1)->end_ps >= time_ps)
    begin--;
  for (uint32_t i = begin; i < end; i++) {
    const ParaverCall *call = paraver_call_at (rank, i);
    uint8_t parts = paraver_kind (call)->part;
    gboolean at_end = part == PARAVER_RECEIVES && (parts & PARAVER_AT_ONCE);

    if (!(parts & PARAVER_STARTS) && (!(parts & part) || (call->taken & part)))
      continue;
    if ((at_end ? call->end_ps : call->begin_ps) == time_ps)
      return i;
    if (found == PARAVER_NONE)
      found = i;
  }
  return found;
}

static void
add_match (ParaverRank *rank, uint32_t call, uint32_t message, ParaverMatchRole role)
{
  ParaverMatch match = { call, message, role };

  g_array_append_val (rank->matches, match);
}

typedef struct {
  ParaverState *state;
  GPtrArray *completing; /* (element-type GArray) per rank: its completing calls; NULL: not yet */
  uint64_t n_unmatched, n_never;
} Matching;

static int
compare_matches (gconstpointer a, gconstpointer b)
{
  const ParaverMatch *x = a, *y = b;

  if (x->call != y->call)
    return x->call < y->call ? -1 : 1;
  if (x->message != y->message)
    return x->message < y->message ? -1 : 1;
  return (int) x->role - (int) y->role;
}

/* The first call that completes requests, comes after the posting call, and has
 * not ended at the time; calls of one thread do not overlap. */
static uint32_t
find_completing (Matching *matching, uint32_t number, uint32_t posting, int64_t time_ps)
{
  const ParaverRank *rank = &matching->state->ranks[number];
  GArray *completing = matching->completing->pdata[number];
  uint32_t low = 0, high;

  if (completing == NULL) {
    completing = g_array_new (FALSE, FALSE, sizeof (uint32_t));
    for (uint32_t i = 0; i < rank->calls->len; i++)
      if (paraver_kind (paraver_call_at (rank, i))->part & PARAVER_COMPLETES)
        g_array_append_val (completing, i);
    matching->completing->pdata[number] = completing;
  }
  high = completing->len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2, call = g_array_index (completing, uint32_t, middle);

    if (call <= posting || paraver_call_at (rank, call)->end_ps < time_ps)
      low = middle + 1;
    else
      high = middle;
  }
  return low < completing->len ? g_array_index (completing, uint32_t, low) : PARAVER_NONE;
}

static void
warn_matching (const Matching *matching)
{
  Trace *trace = matching->state->trace;
  uint64_t n_sends = 0, n_receives = 0;

  for (uint32_t rank = 0; rank < matching->state->n_ranks; rank++) {
    /* Counts the calls without the message that they should have. */
    for (uint32_t i = 0; i < matching->state->ranks[rank].calls->len; i++) {
      const ParaverCall *call = paraver_call_at (&matching->state->ranks[rank], i);
      uint8_t missing = paraver_kind (call)->part & ~call->taken;

      n_sends += (missing & PARAVER_SENDS) != 0;
      n_receives += (missing & PARAVER_RECEIVES) != 0;
    }
  }
  if (matching->n_unmatched > 0)
    trace_warn (trace,
                "%" G_GUINT64_FORMAT
                " messages were not sent or not received by a call of the trace: left out",
                matching->n_unmatched);
  if (n_sends > 0 || n_receives > 0)
    trace_warn (trace,
                "%" G_GUINT64_FORMAT " sends and %" G_GUINT64_FORMAT
                " receives have no message in the trace: taken for calls without effect",
                n_sends, n_receives);
  if (matching->n_never > 0)
    trace_warn (trace, "%" G_GUINT64_FORMAT " receives are not waited for in the trace",
                matching->n_never);
}

static void
free_list (gpointer list)
{
  if (list != NULL)
    g_array_unref (list);
}

void
paraver_messages_match (ParaverState *state)
{
  Matching matching = { .state = state, .completing = g_ptr_array_new_with_free_func (free_list) };

  g_ptr_array_set_size (matching.completing, (gint) state->n_ranks);
  for (uint32_t i = 0; i < state->messages->len; i++) {
    /* A message without a sending or a posting call in the trace is left out as
     * a whole: half of it would wait forever. */
    const ParaverMessage *message = &g_array_index (state->messages, ParaverMessage, i);
    ParaverRank *sender = &state->ranks[message->sender],
                *receiver = &state->ranks[message->receiver];
    uint32_t sent = find_call (sender, message->sent_ps, PARAVER_SENDS);
    uint32_t posted = find_call (receiver, message->posted_ps, PARAVER_RECEIVES);

    if (sent == PARAVER_NONE || posted == PARAVER_NONE) {
      matching.n_unmatched++;
      continue;
    }
    paraver_call_at (sender, sent)->taken |= PARAVER_SENDS;
    paraver_call_at (receiver, posted)->taken |= PARAVER_RECEIVES;
    add_match (sender, sent, i, PARAVER_MATCH_SEND);
    add_match (receiver, posted, i, PARAVER_MATCH_POST);
    if (paraver_kind (paraver_call_at (receiver, posted))->part &
        (PARAVER_AT_ONCE | PARAVER_STARTS)) {
      uint32_t call = find_completing (&matching, message->receiver, posted, message->completed_ps);

      if (call == PARAVER_NONE)
        matching.n_never++;
      else
        add_match (receiver, call, i, PARAVER_MATCH_COMPLETE);
    }
  }
  for (uint32_t rank = 0; rank < state->n_ranks; rank++)
    g_array_sort (state->ranks[rank].matches, compare_matches);
  warn_matching (&matching);
  if (state->messages->len > 0)
    trace_warn (state->trace,
                "requests are not in this format: which sends a wait is for is a guess");
  g_ptr_array_unref (matching.completing);
}

/* --- Calls of different ranks that are one collective --- */

/* The n-th call on a communicator is the same collective on all its members.
 * Where a trace was cut out of a longer one, some members may have begun their
 * first collective before, or not have ended their last one. */

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
  return TRACE_FAIL (TRACE_ERROR_RANGE, error,
                     "%s:%" G_GUINT64_FORMAT ": communicator %" G_GUINT64_FORMAT " %s", state->name,
                     comm->line, comm->id, what);
}

/* The communicator of collectives that the trace gives none. */
static uint32_t
world_comm (ParaverState *state)
{
  ParaverComm *comm;

  for (guint i = 0; i < state->header.comms->len && state->world == PARAVER_NONE; i++)
    if (comm_at (state, i)->application == state->application &&
        is_world (state, comm_at (state, i)))
      state->world = i;
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

/* Prepares the communicator for its first collective. */
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
  if (!g_hash_table_lookup_extended (comm->position, GUINT_TO_POINTER (rank), NULL, &member))
    return TRACE_FAIL (TRACE_ERROR_RANGE, error,
                       "%s:%" G_GUINT64_FORMAT
                       ": task %u is not in communicator %" G_GUINT64_FORMAT,
                       state->name, call->line, rank + 1, comm->id);
  g_array_append_val (calls_of (comm, GPOINTER_TO_UINT (member)), number);
  return TRUE;
}

static gboolean
is_rooted (TraceOpKind kind)
{
  return kind == TRACE_OP_BCAST || kind == TRACE_OP_REDUCE || kind == TRACE_OP_GATHER ||
         kind == TRACE_OP_GATHERV || kind == TRACE_OP_SCATTER || kind == TRACE_OP_SCATTERV;
}

/* Sizes are more reliable than the flag, which Extrae gets wrong for gather and
 * scatter in communicators that number their members otherwise. */
static int32_t
find_root (const ParaverState *state, const ParaverComm *comm, uint32_t nth)
{
  int32_t flagged = TRACE_NO_ROOT;

  for (uint32_t i = 0; i < comm->n_members; i++) {
    const ParaverCall *call = present_call (state, comm, i, nth);
    TraceOpKind kind = paraver_kind (call)->kind;
    gboolean root_sends =
        kind == TRACE_OP_BCAST || kind == TRACE_OP_SCATTER || kind == TRACE_OP_SCATTERV;

    if ((root_sends ? call->sent_bytes : call->recv_bytes) > 0)
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
    return TRACE_FAIL (TRACE_ERROR_LOST, error,
                       "%s:%" G_GUINT64_FORMAT
                       ": %s of task %d is %s of task %d in line %" G_GUINT64_FORMAT
                       ": the collectives of communicator %" G_GUINT64_FORMAT " do not agree",
                       state->name, call->line, paraver_kind (call)->name, comm->members[i] + 1,
                       paraver_kind (first)->name, comm->members[0] + 1, first->line, comm->id);
  }
  return TRUE;
}

/* Adds the calls that are not part of a collective to *n_left_out. */
static gboolean
match_comm (const ParaverState *state, ParaverComm *comm, uint64_t *n_left_out, GError **error)
{
  /* The earliest first call of the members whose stream is whole at its begin. */
  const ParaverCall *first = NULL;
  uint32_t none = PARAVER_NONE, n = UINT32_MAX;

  for (uint32_t i = 0; i < comm->n_members; i++)
    if (!state->ranks[comm->members[i]].cut && calls_of (comm, i)->len > 0) {
      const ParaverCall *call = present_call (state, comm, i, 0);

      if (first == NULL || call->begin_ps < first->begin_ps)
        first = call;
    }

  /* A member whose trace begins inside a call, while the others had their first
   * collective, was in that collective: it gets a place in its list. */
  for (uint32_t i = 0; i < comm->n_members; i++) {
    const ParaverRank *rank = &state->ranks[comm->members[i]];
    GArray *calls = calls_of (comm, i);

    if (first != NULL && rank->cut && first->begin_ps <= rank->begin_ps &&
        (calls->len == 0 || first->end_ps < present_call (state, comm, i, 0)->begin_ps))
      g_array_prepend_val (calls, none);
    n = MIN (n, calls->len);
  }

  for (uint32_t nth = 0; nth < n; nth++) {
    g_autoptr (GError) trouble = NULL;

    if (is_whole (state, comm, nth, &trouble)) {
      TraceOpKind kind = paraver_kind (present_call (state, comm, 0, nth))->kind;
      int32_t root = is_rooted (kind) ? find_root (state, comm, nth) : TRACE_NO_ROOT;

      for (uint32_t i = 0; i < comm->n_members; i++) {
        ParaverCall *call = present_call (state, comm, i, nth);

        call->nth = nth;
        call->root = root;
      }
    } else if (trouble != NULL && !state->options->allow_lossy) {
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

  for (uint32_t rank = 0; rank < state->n_ranks; rank++)
    for (uint32_t i = 0; i < state->ranks[rank].calls->len; i++)
      if (!list_call (state, rank, i, error))
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
