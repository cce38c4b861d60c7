/* paraver_messages.c - which calls sent, posted and completed a message.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A communication record has four times.  As Extrae writes them (mpi2prv,
 * src/merger/paraver/mpi_prv_semantics.c): the logical send is the begin of
 * the sending call; the logical receive is the begin of a blocking receive but
 * the end of MPI_Irecv; the physical receive is the end of the call in which
 * the message was seen to be complete.  Simulated traces have other times
 * within these calls, and may complete a message before anything waits for
 * it: then the next call that waits is taken. */
#include "traces/paraver/paraver_format.h"

/* Calls that touch the same moment, among which one is looked for.  Clocks
 * that stand still for longer are not clocks. */
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

static gboolean
is_free (const ParaverCall *call, uint8_t part)
{
  uint8_t parts = paraver_kind (call)->part;

  return (parts & PARAVER_STARTS) || ((parts & part) && !(call->taken & part));
}

/* Whether the time is the one of two that a record for this call has. */
static gboolean
is_exact (const ParaverCall *call, uint8_t part, int64_t time_ps)
{
  gboolean at_end = part == PARAVER_RECEIVES && (paraver_kind (call)->part & PARAVER_AT_ONCE);

  return (at_end ? call->end_ps : call->begin_ps) == time_ps;
}

/* The call with this part at this time that has no message yet. */
static uint32_t
find_call (const ParaverRank *rank, int64_t time_ps, uint8_t part)
{
  uint32_t end = first_after (rank, time_ps), begin = end, found = PARAVER_NONE;

  while (begin > 0 && end - begin < MAX_TOUCHING &&
         paraver_call_at (rank, begin - 1)->end_ps >= time_ps)
    begin--;
  for (uint32_t i = begin; i < end; i++) {
    const ParaverCall *call = paraver_call_at (rank, i);

    if (!is_free (call, part))
      continue;
    if (is_exact (call, part, time_ps))
      return i;
    if (found == PARAVER_NONE)
      found = i;
  }
  return found;
}

static void
add_deed (ParaverRank *rank, uint32_t call, uint32_t message, ParaverWhat what)
{
  ParaverDeed deed = { call, message, what };

  g_array_append_val (rank->deeds, deed);
}

/* Lists the calls of a rank that complete requests, in order. */
static GArray *
list_completing (const ParaverRank *rank)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (uint32_t));

  for (uint32_t i = 0; i < rank->calls->len; i++)
    if (paraver_kind (paraver_call_at (rank, i))->part & PARAVER_COMPLETES)
      g_array_append_val (list, i);
  return list;
}

/* The first that has not ended at that time, and comes after the call; for
 * calls in one thread do not overlap. */
static uint32_t
find_completing (const ParaverRank *rank, const GArray *completing, uint32_t after, int64_t time_ps)
{
  uint32_t low = 0, high = completing->len;

  while (low < high) {
    uint32_t middle = low + (high - low) / 2, call = g_array_index (completing, uint32_t, middle);

    if (call <= after || paraver_call_at (rank, call)->end_ps < time_ps)
      low = middle + 1;
    else
      high = middle;
  }
  return low < completing->len ? g_array_index (completing, uint32_t, low) : PARAVER_NONE;
}

typedef struct {
  ParaverState *state;
  GPtrArray *completing; /* (element-type GArray) per rank; NULL: not needed yet */
  uint64_t n_unmatched, n_never;
} Matching;

static const GArray *
completing_of (Matching *matching, uint32_t rank)
{
  if (matching->completing->pdata[rank] == NULL)
    matching->completing->pdata[rank] = list_completing (&matching->state->ranks[rank]);
  return matching->completing->pdata[rank];
}

static void
match_completion (Matching *matching, const ParaverMessage *message, uint32_t number,
                  uint32_t posted)
{
  ParaverRank *rank = &matching->state->ranks[message->receiver];
  uint32_t call = find_completing (rank, completing_of (matching, message->receiver), posted,
                                   message->completed_ps);

  if (call == PARAVER_NONE)
    matching->n_never++;
  else
    add_deed (rank, call, number, PARAVER_DID_COMPLETE);
}

/* A message that was not sent or not posted by a call of the trace is left
 * out as a whole: half of it would wait for ever. */
static void
match (Matching *matching, uint32_t number)
{
  ParaverState *state = matching->state;
  const ParaverMessage *message = &g_array_index (state->messages, ParaverMessage, number);
  ParaverRank *sender = &state->ranks[message->sender],
              *receiver = &state->ranks[message->receiver];
  uint32_t sent = find_call (sender, message->sent_ps, PARAVER_SENDS);
  uint32_t posted = find_call (receiver, message->posted_ps, PARAVER_RECEIVES);

  if (sent == PARAVER_NONE || posted == PARAVER_NONE) {
    matching->n_unmatched++;
    return;
  }
  paraver_call_at (sender, sent)->taken |= PARAVER_SENDS;
  paraver_call_at (receiver, posted)->taken |= PARAVER_RECEIVES;
  add_deed (sender, sent, number, PARAVER_DID_SEND);
  add_deed (receiver, posted, number, PARAVER_DID_POST);
  if (paraver_kind (paraver_call_at (receiver, posted))->part & (PARAVER_AT_ONCE | PARAVER_STARTS))
    match_completion (matching, message, number, posted);
}

static int
compare_deeds (gconstpointer a, gconstpointer b)
{
  const ParaverDeed *x = a, *y = b;

  if (x->call != y->call)
    return x->call < y->call ? -1 : 1;
  if (x->message != y->message)
    return x->message < y->message ? -1 : 1;
  return (int) x->what - (int) y->what;
}

/* Counts the calls that should have had a message, and have none. */
static void
count_idle (const ParaverRank *rank, uint64_t *n_sends, uint64_t *n_receives)
{
  for (uint32_t i = 0; i < rank->calls->len; i++) {
    const ParaverCall *call = paraver_call_at (rank, i);
    uint8_t missing = paraver_kind (call)->part & ~call->taken;

    *n_sends += (missing & PARAVER_SENDS) != 0;
    *n_receives += (missing & PARAVER_RECEIVES) != 0;
  }
}

static void
warn (const Matching *matching)
{
  Trace *trace = matching->state->trace;
  uint64_t n_sends = 0, n_receives = 0;

  for (uint32_t rank = 0; rank < matching->state->n_ranks; rank++)
    count_idle (&matching->state->ranks[rank], &n_sends, &n_receives);
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
  for (uint32_t i = 0; i < state->messages->len; i++)
    match (&matching, i);
  for (uint32_t rank = 0; rank < state->n_ranks; rank++)
    g_array_sort (state->ranks[rank].deeds, compare_deeds);
  warn (&matching);
  if (state->messages->len > 0)
    trace_warn (state->trace,
                "requests are not in this format: which sends a wait is for is a guess");
  g_ptr_array_unref (matching.completing);
}
