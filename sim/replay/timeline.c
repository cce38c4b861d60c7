/* timeline.c - intervals and messages of every rank, kept while a replay runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A rank's clock moves on in many places of the replay.  Nothing here has to
 * know them: the clock is seen when an operation begins, when the rank waits and
 * when it ends, and the time between is the work of the operation. */
#include "sim/replay/timeline.h"

#include <string.h>

#define NO_LANE UINT32_MAX

/* MPI has some hundred calls.  A trace that has thousands of names is broken, and
 * most of them are one then. */
#define MAX_STATES  4096
#define OTHER_CALLS "other calls"

/* As kept: messages have no state, intervals no peer. */
typedef struct {
  int64_t begin_ps, end_ps;
  uint64_t bytes;             /* of an interval: SimTimelineEvent.call */
  uint32_t lane, destination; /* NO_LANE: an interval */
  uint16_t state;
  bool first, waits;
} Record;

typedef struct {
  int64_t since_ps; /* where its last interval ended */
  uint64_t last;    /* its number + 1; 0: none, or not kept */
  uint64_t calls;   /* operations begun */
  uint16_t state;   /* of the operation that it is in */
  bool fresh;       /* no interval of this operation yet */
} Lane;

struct SimTimeline {
  uint32_t n_ranks;
  uint64_t limit;
  bool *shown;           /* [n_ranks] NULL: all */
  const int64_t *now_ps; /* borrowed */
  int64_t end_ps;
  uint64_t n_refused; /* records that came after the limit was reached */

  GArray *lanes;        /* (element-type Lane) */
  GArray *places;       /* (element-type SimLane) of lanes n_ranks and on */
  GHashTable *lane_of;  /* gint64 (rank, processor above 0) -> lane */
  GArray *states;       /* (element-type SimState) */
  GHashTable *state_of; /* name -> number in states */
  GArray *sent;         /* (element-type int64_t) of a transfer; -1: received */

  Record *records;
  uint64_t n, capacity;
};

/* -- life ---------------------------------------------------------------- */

static void
state_clear (gpointer state)
{
  g_free (((SimState *) state)->name);
}

SimTimeline *
sim_timeline_new (uint32_t n_ranks, const bool *shown, uint64_t limit)
{
  static const int64_t start_ps = 0;
  SimTimeline *timeline = g_new0 (SimTimeline, 1);

  timeline->n_ranks = n_ranks;
  timeline->limit = limit;
  if (shown != NULL)
    timeline->shown = g_memdup2 (shown, n_ranks * sizeof *shown);
  timeline->lanes = g_array_new (FALSE, TRUE, sizeof (Lane));
  timeline->places = g_array_new (FALSE, FALSE, sizeof (SimLane));
  timeline->lane_of = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  timeline->states = g_array_new (FALSE, FALSE, sizeof (SimState));
  g_array_set_clear_func (timeline->states, state_clear);
  timeline->state_of = g_hash_table_new (g_str_hash, g_str_equal);
  timeline->sent = g_array_new (FALSE, FALSE, sizeof (int64_t));
  sim_timeline_begin (timeline, &start_ps);
  return timeline;
}

void
sim_timeline_free (SimTimeline *timeline)
{
  if (timeline == NULL)
    return;
  g_hash_table_unref (timeline->lane_of);
  g_hash_table_unref (timeline->state_of);
  g_array_unref (timeline->lanes);
  g_array_unref (timeline->places);
  g_array_unref (timeline->states);
  g_array_unref (timeline->sent);
  g_free (timeline->shown);
  g_free (timeline->records);
  g_free (timeline);
}

static gint64
lane_key (uint32_t rank, uint32_t processor)
{
  return (gint64) ((uint64_t) rank << 32 | processor);
}

static uint16_t
state_number (SimTimeline *timeline, const char *name, SimStateKind kind)
{
  gpointer number;
  SimState state;

  if (g_hash_table_lookup_extended (timeline->state_of, name, NULL, &number))
    return (uint16_t) GPOINTER_TO_UINT (number);
  if (timeline->states->len >= MAX_STATES && strcmp (name, OTHER_CALLS) != 0)
    return state_number (timeline, OTHER_CALLS, SIM_STATE_OTHER);
  state = (SimState){ g_strdup (name), kind };
  g_hash_table_insert (timeline->state_of, state.name, GUINT_TO_POINTER (timeline->states->len));
  g_array_append_val (timeline->states, state);
  return (uint16_t) (timeline->states->len - 1);
}

void
sim_timeline_begin (SimTimeline *timeline, const int64_t *now_ps)
{
  timeline->now_ps = now_ps;
  timeline->end_ps = INT64_MAX;
  timeline->n_refused = timeline->n = 0;
  g_hash_table_remove_all (timeline->lane_of);
  g_hash_table_remove_all (timeline->state_of);
  g_array_set_size (timeline->lanes, 0);
  g_array_set_size (timeline->lanes, timeline->n_ranks);
  g_array_set_size (timeline->places, 0);
  g_array_set_size (timeline->states, 0);
  g_array_set_size (timeline->sent, 0);
  /* Number 0, which lanes are in before their first operation. */
  state_number (timeline, "idle", SIM_STATE_IDLE);
}

/* -- saving and loading -------------------------------------------------- */

static void
states_dump (SimTimeline *timeline, BaseDump *dump)
{
  uint32_t n = timeline->states->len;

  BASE_DUMP_VALUE (dump, n);
  for (uint32_t number = 0; number < n && !base_dump_has_failed (dump); number++) {
    SimState state = { NULL, SIM_STATE_OTHER };

    if (!base_dump_loads (dump))
      state = *sim_timeline_state (timeline, number);
    base_dump_text (dump, &state.name);
    BASE_DUMP_VALUE (dump, state.kind);
    if (base_dump_loads (dump)) {
      state_number (timeline, state.name, state.kind);
      g_free (state.name);
    }
  }
}

void
sim_timeline_dump (SimTimeline *timeline, BaseDump *dump)
{
  uint64_t limit = timeline->limit;

  base_dump_section (dump, "timeline");
  BASE_DUMP_VALUE (dump, limit);
  if (limit != timeline->limit)
    base_dump_fail (dump,
                    "has a timeline of at most %" G_GUINT64_FORMAT
                    " intervals and messages, not %" G_GUINT64_FORMAT,
                    limit, timeline->limit);
  for (uint32_t rank = 0; rank < timeline->n_ranks; rank++) {
    bool shown = sim_timeline_shows (timeline, rank);

    BASE_DUMP_VALUE (dump, shown);
    if (shown != sim_timeline_shows (timeline, rank))
      base_dump_fail (dump, "has a timeline of other ranks");
  }
  states_dump (timeline, dump);
  BASE_DUMP_VALUE (dump, timeline->end_ps);
  BASE_DUMP_VALUE (dump, timeline->n_refused);
  base_dump_garray (dump, timeline->lanes);
  base_dump_garray (dump, timeline->places);
  base_dump_garray (dump, timeline->sent);
  timeline->n = base_dump_count (dump, timeline->n, sizeof (Record));
  if (base_dump_loads (dump)) {
    timeline->capacity = timeline->n;
    timeline->records = g_renew (Record, timeline->records, timeline->n);
    for (guint lane = 0; lane < timeline->places->len; lane++) {
      SimLane place = g_array_index (timeline->places, SimLane, lane);
      gint64 key = lane_key (place.rank, place.processor);

      g_hash_table_insert (timeline->lane_of, g_memdup2 (&key, sizeof key),
                           GUINT_TO_POINTER (timeline->n_ranks + lane));
    }
  }
  base_dump_bytes (dump, timeline->records, timeline->n * sizeof (Record));
}

/* -- keeping ------------------------------------------------------------- */

/* Whether it has room, or began before the time at which there was none left:
 * the few that were under way then.  Lanes may be ahead of that time; what they
 * did beyond it is cut off when it is read. */
static bool
has_room (SimTimeline *timeline, int64_t needed_ps)
{
  if (timeline->n >= timeline->limit && timeline->end_ps == INT64_MAX)
    timeline->end_ps = *timeline->now_ps;
  if (needed_ps < timeline->end_ps)
    return true;
  timeline->n_refused++;
  return false;
}

static void
record_add (SimTimeline *timeline, Record record)
{
  if (timeline->n == timeline->capacity) {
    timeline->capacity = MAX (1024u, 2 * timeline->capacity);
    timeline->records = g_renew (Record, timeline->records, timeline->capacity);
  }
  timeline->records[timeline->n++] = record;
}

static Lane *
lane_at (SimTimeline *timeline, uint32_t lane)
{
  return &g_array_index (timeline->lanes, Lane, lane);
}

/* The lane comes to end_ps. */
static void
lane_advance (SimTimeline *timeline, uint32_t number, int64_t end_ps, uint16_t state, bool waits)
{
  Lane *lane = lane_at (timeline, number);
  int64_t begin_ps = lane->since_ps;
  Record *last = lane->last == 0 ? NULL : &timeline->records[lane->last - 1];

  if (end_ps <= begin_ps)
    return;
  /* Waits that follow each other in one call are one. */
  if (last != NULL && waits && last->waits && !lane->fresh && last->state == state &&
      last->end_ps == begin_ps)
    last->end_ps = end_ps;
  else if (has_room (timeline, begin_ps)) {
    record_add (timeline, (Record){ .begin_ps = begin_ps,
                                    .end_ps = end_ps,
                                    .bytes = lane->calls,
                                    .lane = number,
                                    .destination = NO_LANE,
                                    .state = state,
                                    .first = lane->fresh,
                                    .waits = waits });
    lane->last = timeline->n;
  } else
    lane->last = 0;
  lane->since_ps = end_ps;
  lane->fresh = false;
}

/* -- recording --------------------------------------------------- */

/* Operations of one kind stand together. */
static const struct {
  TraceOpKind first, last;
  SimStateKind kind;
} state_kinds[] = {
  { TRACE_OP_COMPUTE, TRACE_OP_COMPUTE, SIM_STATE_COMPUTE },
  { TRACE_OP_SEND, TRACE_OP_ISEND, SIM_STATE_SEND },
  { TRACE_OP_RECV, TRACE_OP_IRECV, SIM_STATE_RECEIVE },
  { TRACE_OP_SENDRECV, TRACE_OP_SENDRECV, SIM_STATE_RECEIVE },
  { TRACE_OP_PROBE, TRACE_OP_IPROBE, SIM_STATE_RECEIVE },
  { TRACE_OP_WAIT, TRACE_OP_TEST, SIM_STATE_COMPLETION },
  { TRACE_OP_BARRIER, TRACE_OP_NEIGHBOR_ALLTOALL, SIM_STATE_COLLECTIVE },
  { TRACE_OP_WIN_CREATE, TRACE_OP_WIN_WAIT, SIM_STATE_ONE_SIDED },
};

static SimStateKind
state_kind (TraceOpKind kind)
{
  for (gsize i = 0; i < G_N_ELEMENTS (state_kinds); i++)
    if (kind >= state_kinds[i].first && kind <= state_kinds[i].last)
      return state_kinds[i].kind;
  return SIM_STATE_OTHER;
}

bool
sim_timeline_shows (const SimTimeline *timeline, uint32_t rank)
{
  return timeline->shown == NULL || timeline->shown[rank];
}

void
sim_timeline_call (SimTimeline *timeline, uint32_t rank, const TraceOp *operation, int64_t at_ps)
{
  SimStateKind kind = state_kind (operation->kind);
  const char *name = operation->name;
  Lane *lane;

  if (!sim_timeline_shows (timeline, rank))
    return;
  lane = lane_at (timeline, rank);
  lane_advance (timeline, rank, at_ps, lane->state, false);
  if (kind == SIM_STATE_COMPUTE)
    name = "computing";
  else if (name == NULL)
    name = trace_op_name (operation->kind);
  lane->state = state_number (timeline, name, kind);
  lane->calls++;
  lane->fresh = true;
}

void
sim_timeline_wait (SimTimeline *timeline, uint32_t rank, int64_t begin_ps, int64_t end_ps)
{
  uint16_t state;

  if (!sim_timeline_shows (timeline, rank))
    return;
  state = lane_at (timeline, rank)->state;
  lane_advance (timeline, rank, begin_ps, state, false);
  lane_advance (timeline, rank, end_ps, state, true);
}

void
sim_timeline_rank_end (SimTimeline *timeline, uint32_t rank, int64_t at_ps)
{
  if (sim_timeline_shows (timeline, rank))
    lane_advance (timeline, rank, at_ps, lane_at (timeline, rank)->state, false);
}

static uint32_t
processor_lane (SimTimeline *timeline, uint32_t rank, uint32_t processor)
{
  gint64 key = lane_key (rank, processor);
  const SimLane place = { rank, processor };
  const Lane lane = { 0 };
  gpointer found;

  if (processor == 0)
    return rank;
  if (g_hash_table_lookup_extended (timeline->lane_of, &key, NULL, &found))
    return GPOINTER_TO_UINT (found);
  g_hash_table_insert (timeline->lane_of, g_memdup2 (&key, sizeof key),
                       GUINT_TO_POINTER (timeline->lanes->len));
  g_array_append_val (timeline->places, place);
  g_array_append_val (timeline->lanes, lane);
  return timeline->lanes->len - 1;
}

void
sim_timeline_work (SimTimeline *timeline, uint32_t rank, uint32_t processor, TraceOpKind kind,
                   int64_t begin_ps, int64_t end_ps)
{
  const char *name = kind == TRACE_OP_COMPUTE ? "computing" : trace_op_name (kind);
  uint32_t number;
  uint16_t state;

  if (!sim_timeline_shows (timeline, rank))
    return;
  number = processor_lane (timeline, rank, processor);
  state = state_number (timeline, name, state_kind (kind));
  lane_advance (timeline, number, begin_ps, lane_at (timeline, number)->state, false);
  lane_at (timeline, number)->fresh = true;
  lane_advance (timeline, number, end_ps, state, false);
  lane_at (timeline, number)->fresh = true;
}

/* -- messages ------------------------------------------------------------ */

void
sim_timeline_sent (SimTimeline *timeline, uint32_t transfer, int64_t at_ps)
{
  if (transfer >= timeline->sent->len)
    g_array_set_size (timeline->sent, transfer + 1);
  g_array_index (timeline->sent, int64_t, transfer) = at_ps;
}

void
sim_timeline_received (SimTimeline *timeline, uint32_t transfer, uint32_t source,
                       uint32_t destination, uint64_t bytes, int64_t at_ps)
{
  int64_t *sent_ps = &g_array_index (timeline->sent, int64_t, transfer);
  Record record = { .begin_ps = *sent_ps,
                    .end_ps = at_ps,
                    .bytes = bytes,
                    .lane = source,
                    .destination = destination };

  *sent_ps = -1;
  if (record.begin_ps >= 0 && sim_timeline_shows (timeline, source) &&
      sim_timeline_shows (timeline, destination) && has_room (timeline, at_ps))
    record_add (timeline, record);
}

/* -- reading --------------------------------------------------------- */

uint32_t
sim_timeline_lanes (const SimTimeline *timeline)
{
  return timeline->lanes->len;
}

SimLane
sim_timeline_lane (const SimTimeline *timeline, uint32_t lane)
{
  return lane < timeline->n_ranks
             ? (SimLane){ lane, 0 }
             : g_array_index (timeline->places, SimLane, lane - timeline->n_ranks);
}

uint32_t
sim_timeline_states (const SimTimeline *timeline)
{
  return timeline->states->len;
}

const SimState *
sim_timeline_state (const SimTimeline *timeline, uint32_t state)
{
  return &g_array_index (timeline->states, SimState, state);
}

uint64_t
sim_timeline_size (const SimTimeline *timeline)
{
  return timeline->n;
}

/* A message is within when it has come, an interval when it has begun. */
static bool
is_within (const SimTimeline *timeline, const Record *record)
{
  return (record->destination == NO_LANE ? record->begin_ps : record->end_ps) < timeline->end_ps;
}

bool
sim_timeline_event (const SimTimeline *timeline, uint64_t number, SimTimelineEvent *event)
{
  const Record *record = &timeline->records[number];

  if (!is_within (timeline, record))
    return false;
  *event = (SimTimelineEvent){ .begin_ps = record->begin_ps,
                               .end_ps = MIN (record->end_ps, timeline->end_ps),
                               .lane = record->lane,
                               .is_message = record->destination != NO_LANE,
                               .first = record->first,
                               .waits = record->waits,
                               .state = record->state,
                               .destination = record->destination };
  if (event->is_message)
    event->bytes = record->bytes;
  else
    event->call = record->bytes;
  return true;
}

int64_t
sim_timeline_end_ps (const SimTimeline *timeline)
{
  return timeline->end_ps;
}

uint64_t
sim_timeline_left_out (const SimTimeline *timeline)
{
  uint64_t n = timeline->n_refused;

  for (uint64_t number = 0; number < timeline->n; number++)
    n += !is_within (timeline, &timeline->records[number]);
  return n;
}
