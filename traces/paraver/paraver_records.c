/* paraver_records.c - records of a .prv file into calls and messages.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A call is what lies between two events of its group on the first thread of
 * a task; what else is told about it stands in events of the same task and
 * time, on the same line or on one beside it. */
#include "traces/paraver/paraver_format.h"

#include <string.h>

/* What is known of a task at the place that is read. */
typedef struct {
  gboolean is_open;
  ParaverCall call;  /* being open */
  ParaverRole group; /* of it */
  gboolean started;  /* there was an event of a call */
  int64_t told_ps;   /* when the following was told */
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

/* What was told belongs to the call that began at the same time. */
static gboolean
apply_told (Reading *reading, Task *task, GError **error)
{
  ParaverCall *call = &task->call;
  gpointer comm;

  if (!task->is_open || call->begin_ps != task->told_ps)
    return TRUE;
  call->sent_bytes = task->sent_bytes;
  call->recv_bytes = task->recv_bytes;
  call->is_root = task->is_root != FALSE;
  if (task->caller != 0)
    call->site = paraver_site (reading->state->meaning, task->caller, task->caller_line);
  if (!task->has_comm || !trace_op_is_collective (paraver_kind (call)->kind))
    return TRUE;
  comm = g_hash_table_lookup (reading->comms, &task->comm_id);
  if (comm == NULL)
    return paraver_bad_line (reading->text, TRACE_ERROR_LOST,
                             "expected a communicator that the header has", error);
  call->comm = GPOINTER_TO_UINT (comm) - 1;
  return TRUE;
}

static void
begin_call (Reading *reading, Task *task, ParaverRole group, uint64_t value)
{
  /* A call that never ended: its end was lost. */
  reading->n_lost += task->is_open;
  task->is_open = task->started = TRUE;
  task->group = group;
  task->call = (ParaverCall){ .begin_ps = reading->now_ps,
                              .line = reading->text->number,
                              .comm = PARAVER_NONE,
                              .nth = PARAVER_NONE,
                              .root = TRACE_NO_ROOT,
                              .kind = (uint16_t) kind_of (reading, group, value) };
}

/* An end without a begin means little: the BSC cutter ends everything once
 * more where it cuts. */
static void
end_call (Reading *reading, ParaverRank *rank, Task *task, ParaverRole group)
{
  if (task->is_open && task->group == group) {
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

static void
tell (Task *task, ParaverRole role, uint64_t value, int64_t now_ps)
{
  if (task->told_ps != now_ps) {
    task->sent_bytes = task->recv_bytes = 0;
    task->has_comm = task->is_root = FALSE;
    task->caller = task->caller_line = 0;
    task->told_ps = now_ps;
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

static gboolean
read_event (Reading *reading, ParaverRank *rank, Task *task, ParaverRole role, uint64_t value,
            GError **error)
{
  if ((role == PARAVER_SENT || role == PARAVER_RECEIVED) && value > PARAVER_MAX_BYTES)
    return paraver_bad_line (reading->text, TRACE_ERROR_RANGE, "a size is impossible", error);
  if (role >= PARAVER_N_GROUPS)
    tell (task, role, value, reading->now_ps);
  else if (value != 0)
    begin_call (reading, task, role, value);
  else
    end_call (reading, rank, task, role);
  return TRUE;
}

/* Goes over ":type:value"; stays where it is when that is not there. */
static gboolean
take_pair (ParaverText *text, uint64_t *type, uint64_t *value)
{
  const char *begin = text->field;

  if (paraver_take_field (text, UINT64_MAX, type) && paraver_take_field (text, UINT64_MAX, value))
    return TRUE;
  text->field = begin;
  return FALSE;
}

/* Goes over "type:value" pairs of a thread that has no rank. */
static gboolean
read_foreign (Reading *reading, const Object *object, GError **error)
{
  uint64_t type, value;
  gboolean calls = FALSE;

  while (take_pair (reading->text, &type, &value))
    calls |= paraver_role (reading->state->meaning, type) < PARAVER_N_GROUPS;
  reading->n_threads += calls && is_ours (reading, object);
  return paraver_line_ended (reading->text) || bad_record (reading, error);
}

static gboolean
read_events (Reading *reading, const Object *object, GError **error)
{
  ParaverText *text = reading->text;
  uint64_t type, value;
  ParaverRank *rank;
  gboolean told = FALSE;
  Task *task;

  if (!is_ours (reading, object) || object->thread != 1)
    return read_foreign (reading, object, error);
  if (!check_task (reading, object, error))
    return FALSE;
  rank = &reading->state->ranks[object->task - 1];
  task = &reading->tasks[object->task - 1];
  while (take_pair (text, &type, &value)) {
    ParaverRole role = paraver_role (reading->state->meaning, type);

    if (role == PARAVER_N_ROLES)
      continue;
    told = TRUE;
    if (!read_event (reading, rank, task, role, value, error))
      return FALSE;
  }
  if (!paraver_line_ended (text))
    return bad_record (reading, error);
  return !told || apply_told (reading, task, error);
}

/* "2:object:time:type:value..." */
static gboolean
read_event_record (Reading *reading, GError **error)
{
  Object object;
  int64_t time_ps;

  if (!take_object (reading->text, &object) || !take_time (reading, &time_ps))
    return bad_record (reading, error);
  if (time_ps < reading->now_ps)
    return paraver_bad_line (reading->text, TRACE_ERROR_RANGE,
                             "expected records in the order of time", error);
  reading->now_ps = time_ps;
  return read_events (reading, &object, error);
}

/* "3:sender:logical:physical:receiver:logical:physical:size:tag".  Tags count
 * to 2^31 in MPI; what is beyond is folded on both sides. */
static gboolean
read_message (Reading *reading, GError **error)
{
  ParaverText *text = reading->text;
  Object sender, receiver;
  ParaverMessage message;
  int64_t sent_ps;
  uint64_t tag;

  if (!take_object (text, &sender) || !take_time (reading, &message.sent_ps) ||
      !take_time (reading, &sent_ps) || !take_object (text, &receiver) ||
      !take_time (reading, &message.posted_ps) || !take_time (reading, &message.completed_ps) ||
      !paraver_take_field (text, PARAVER_MAX_BYTES, &message.bytes) ||
      !paraver_take_field (text, UINT64_MAX, &tag) || !paraver_line_ended (text))
    return bad_record (reading, error);
  if (!is_ours (reading, &sender) && !is_ours (reading, &receiver))
    return TRUE;
  if (!is_ours (reading, &sender) || !is_ours (reading, &receiver) || sender.thread != 1 ||
      receiver.thread != 1) {
    reading->n_foreign++;
    return TRUE;
  }
  if (!check_task (reading, &sender, error) || !check_task (reading, &receiver, error))
    return FALSE;
  message.sender = (uint32_t) sender.task - 1;
  message.receiver = (uint32_t) receiver.task - 1;
  message.tag = (int32_t) (tag & INT32_MAX);
  g_array_append_val (reading->state->messages, message);
  return TRUE;
}

static gboolean
read_record (Reading *reading, GError **error)
{
  ParaverText *text = reading->text;

  if (paraver_line_ended (text) || *text->line == '#')
    return TRUE;
  /* States, and communicators between groups. */
  if (paraver_take (text, '1') || paraver_take (text, 'i'))
    return (!paraver_line_ended (text) && *text->field == ':') || bad_record (reading, error);
  if (paraver_take (text, '2'))
    return read_event_record (reading, error);
  if (paraver_take (text, '3'))
    return read_message (reading, error);
  if (*text->line == 'c')
    return paraver_bad_line (text, TRACE_ERROR_FORMAT, "expected communicators before all records",
                             error);
  return bad_record (reading, error);
}

/* Counts the messages within each application, or its calls when there are
 * none, to tell the MPI program from what was traced beside it. */
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

static gboolean
read_comms (ParaverState *state, ParaverText *text, GError **error)
{
  while (text->at < text->end && memchr ("c#i\r\n", *text->at, 5) != NULL) {
    gboolean is_comm = *text->at == 'c';

    paraver_text_next (text);
    if (is_comm && !paraver_comm_read (text, &state->header, error))
      return FALSE;
  }
  return TRUE;
}

static void
set_up (Reading *reading)
{
  ParaverState *state = reading->state;

  reading->tasks = g_new0 (Task, state->n_ranks);
  state->ranks = g_new0 (ParaverRank, state->n_ranks);
  for (uint32_t rank = 0; rank < state->n_ranks; rank++) {
    state->ranks[rank].calls = g_array_new (FALSE, FALSE, sizeof (ParaverCall));
    state->ranks[rank].deeds = g_array_new (FALSE, FALSE, sizeof (ParaverDeed));
    reading->tasks[rank].told_ps = -1;
  }
  state->messages = g_array_new (FALSE, FALSE, sizeof (ParaverMessage));
  reading->comms = g_hash_table_new (g_int64_hash, g_int64_equal);
  for (guint i = 0; i < state->header.comms->len; i++) {
    ParaverComm *comm = state->header.comms->pdata[i];

    if (comm->application == state->application)
      g_hash_table_insert (reading->comms, &comm->id, GUINT_TO_POINTER (i + 1));
  }
}

/* A stream ends where the call that is still open begins, or with the window. */
static void
end_tasks (Reading *reading)
{
  ParaverState *state = reading->state;

  for (uint32_t i = 0; i < state->n_ranks; i++) {
    const Task *task = &reading->tasks[i];

    reading->n_cut += task->is_open;
    state->ranks[i].end_ps =
        task->is_open ? task->call.begin_ps : MAX (state->header.end_ps, reading->now_ps);
  }
}

static void
warn (const Reading *reading)
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

static gboolean
has_calls (const ParaverState *state)
{
  for (uint32_t rank = 0; rank < state->n_ranks; rank++)
    if (state->ranks[rank].calls->len > 0)
      return TRUE;
  return FALSE;
}

gboolean
paraver_records_read (ParaverState *state, ParaverText *text, GError **error)
{
  Reading reading = { .state = state, .text = text };
  gboolean good = TRUE;

  if (!read_comms (state, text, error))
    return FALSE;
  state->application = choose_application (state, *text);
  state->n_ranks = g_array_index (state->header.tasks, uint32_t, state->application - 1);
  set_up (&reading);
  while (good && paraver_text_next (text))
    good = read_record (&reading, error);
  if (good && !has_calls (state)) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_LOST, "%s: there are no MPI calls in it",
                 text->name);
    good = FALSE;
  }
  if (good) {
    end_tasks (&reading);
    warn (&reading);
  }
  g_hash_table_unref (reading.comms);
  g_free (reading.tasks);
  return good;
}
