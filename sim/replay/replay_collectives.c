/* replay_collectives.c - collectives, and the making of communicators.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The n-th collective of a rank on a communicator, blocking or not, is the
 * n-th of all its members; (communicator, n) is an instance.  The cost of each method:
 *
 *   STEPS     every message as a send and a receive of the user would, call_overhead for a receive
 *             that is posted before a send, and the copies and reductions of the algorithm itself;
 *             the wait that follows takes longer than its call.  In a step in the switches of a
 *             fabric (SHARP) the leaders of the nodes meet, until sim_sharp_ps() after the last
 *   HARDWARE  all ranks meet, and no processor works: released at the latest
 *             arrival plus sim_collective_hardware_ps()
 *   DIRECT    all messages at once, at the price of the messaging library;
 *             messages without data are not sent, and arrivals cost no
 *             processor time
 *   NOTHING   call_overhead
 *
 * A nonblocking one costs call_overhead more, and its request is complete when
 * it has ended.  The call does all that can be done at once: the steps up to the
 * first that has to wait, or all direct messages.  Later steps are the
 * processor's work, so they are done, in the order in which the collectives
 * were posted, when the rank is in MPI: when it is blocked there, or makes its
 * next call after a computation; or at once where async_progress lets
 * another hardware thread do it.  The network alone needs no processor. */
#include "sim/node/memory.h"
#include "sim/replay/critical.h"

#include <string.h>

/* Direct messages handed over before the network must catch up. */
#define DIRECT_BURST 16

/* Direct messages that came before their rank entered the collective. */
typedef struct {
  uint32_t comm, sequence, n;
} EarlyDirect;

/* Ranks of different nodes meet in one record, so the last to come
 * releases the others by timers, never before the network's look-ahead.  Nodes of one window of the
 * network come in any order, so that times are maxima.
 *
 * The root of a broadcast releases those that came before it; those after it go on at once, with
 * their clocks ahead of the network's.  Time is cut into spans, of the largest power of two that is
 * not above the look-ahead.  A root that came in an earlier span is seen by all; in one span
 * the node with the lower number counts as the first, and ranks of the others wait for a timer in
 * any case. */
typedef struct {
  gint64 key; /* communicator and sequence number */
  int64_t latest_ps, hardware_ps;
  int64_t now_ps; /* the latest callback from which a rank came */
  uint32_t n_arrived, n_ranks;
  uint32_t first_waiting;  /* ranks that are blocked, chained by next_meeting */
  SimActive *first_posted; /* of ranks that are not, chained by next_met */
  bool root_came;
  uint32_t root_node;
  int64_t root_span;
  int64_t root_end_ps; /* when its data is everywhere */
  SimPath path;        /* critical.h: to the root, or the last rank to come, the lowest of these */
  uint32_t path_rank;
} Meeting;

/* -- the collectives of a rank -------------------------------------------- */

SimActive *
sim_active_of (const SimReplay *replay, const SimRequest *request)
{
  for (SimActive *active = replay->ranks[request->rank].active; active != NULL;
       active = active->next)
    if (sim_context (active->comm, true) == request->context &&
        (int32_t) active->sequence == request->tag)
      return active;
  return NULL;
}

/* World rank of a member of its communicator. */
static uint32_t
active_member (const SimReplay *replay, const SimActive *active, uint32_t member)
{
  return trace_comms_world_rank (replay->comms, active->comm, member, active->rank);
}

static void
active_remove (SimRank *rank, const SimActive *active)
{
  SimActive **link = &rank->active;

  while (*link != active)
    link = &(*link)->next;
  *link = active->next;
}

static void
active_append (SimRank *rank, SimActive *active)
{
  SimActive **link = &rank->active;

  while (*link != NULL)
    link = &(*link)->next;
  active->next = NULL;
  *link = active;
}

static void
active_free (SimActive *active)
{
  sim_groups_unref (active->groups);
  g_free (active);
}

/* Completes its request, if there is one, and frees it. */
static void
active_end (SimReplay *replay, SimActive *active, int64_t at_ps)
{
  active_remove (&replay->ranks[active->rank], active);
  if (active->request != TOPO_NONE)
    sim_request_complete (replay, active->request, at_ps);
  active_free (active);
}

void
sim_active_clear (SimRank *rank)
{
  while (rank->active != NULL) {
    SimActive *active = rank->active;

    rank->active = active->next;
    active_free (active);
  }
  g_clear_pointer (&rank->early_direct, g_array_unref);
}

/* -- saving and loading ---------------------------------------------------- */

GArray *
sim_active_early_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (EarlyDirect));
}

/* Where a list begins in the arrays, plus 1; 0: there is none. */
static void
list_dump (SimActive *active, const void **list, BaseDump *dump)
{
  uint64_t place = *list == NULL ? 0 : 1 + (uint64_t) ((const uint64_t *) *list - active->arrays);

  BASE_DUMP_VALUE (dump, place);
  *list = place == 0 ? NULL : active->arrays + place - 1;
}

/* -- nodes ------------------------------------------------------------------ */

/* Communicators whose groups a view keeps: a program may make any number of them. */
#define GROUPS_KEPT 64

/* How the members of a communicator lie. */
typedef struct {
  SimGroups *groups; /* NULL: one level */
  SimSharp sharp;
} Levels;

static void
levels_free (gpointer data)
{
  sim_groups_unref (((Levels *) data)->groups);
  g_free (data);
}

static int
by_number (const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

  return x < y ? -1 : x > y;
}

/* Those of a communicator of several ranks, for now; all NULL and zeros where neither the rules nor
 * SHARP ask for them. */
static Levels
levels_of (SimReplay *replay, uint32_t comm, uint32_t rank)
{
  uint32_t n = trace_comms_size (replay->comms, comm), n_nodes = 0;
  gpointer key = GUINT_TO_POINTER (comm);
  g_autofree uint32_t *node = NULL;
  Levels *levels;

  if (!sim_collective_has_levels (replay->machine) || n == 1)
    return (Levels){ .groups = NULL };
  if (replay->levels == NULL)
    replay->levels = g_hash_table_new_full (NULL, NULL, NULL, levels_free);
  levels = g_hash_table_lookup (replay->levels, key);
  if (levels != NULL)
    return *levels;
  if (g_hash_table_size (replay->levels) == GROUPS_KEPT)
    g_hash_table_remove_all (replay->levels);
  node = g_new (uint32_t, n);
  for (uint32_t member = 0; member < n; member++)
    node[member] =
        replay->mapping->node[trace_comms_world_rank (replay->comms, comm, member, rank)];
  levels = g_new (Levels, 1);
  levels->groups = sim_groups_new (node, n);
  qsort (node, n, sizeof *node, by_number);
  for (uint32_t member = 0; member < n; member++)
    if (member == 0 || node[member] != node[n_nodes - 1])
      node[n_nodes++] = node[member];
  levels->sharp = sim_sharp_new (replay->machine, node, n_nodes);
  g_hash_table_insert (replay->levels, key, levels);
  return *levels;
}

/* -- saving and loading ---------------------------------------------------- */

/* All but the links between collectives and the choice of the algorithm, which is made once more. */
static void
active_dump (SimReplay *replay, SimActive **active, BaseDump *dump)
{
  uint32_t n_words = (uint32_t) base_dump_count (
      dump, base_dump_loads (dump) ? 0 : (*active)->n_words, sizeof (uint64_t));
  SimActive *it, plain = { 0 };

  if (base_dump_loads (dump))
    *active = g_malloc0 (sizeof **active + n_words * sizeof (uint64_t));
  it = *active;
  if (!base_dump_loads (dump)) {
    plain = *it;
    plain.next = plain.next_met = NULL;
    plain.groups = NULL;
    plain.collective.groups = NULL;
    plain.collective.stages = NULL;
    plain.collective.algorithm = plain.collective.second = NULL;
    plain.collective.counts = plain.collective.recv_counts = NULL;
    plain.collective.destinations = plain.collective.sources = NULL;
  }
  BASE_DUMP_VALUE (dump, plain);
  if (base_dump_loads (dump))
    *it = plain;
  base_dump_bytes (dump, it->arrays, n_words * sizeof (uint64_t));
  list_dump (it, (const void **) &it->collective.counts, dump);
  list_dump (it, (const void **) &it->collective.recv_counts, dump);
  list_dump (it, (const void **) &it->collective.destinations, dump);
  list_dump (it, (const void **) &it->collective.sources, dump);
  if (!base_dump_loads (dump) || base_dump_has_failed (dump))
    return;
  /* A nonblocking one has one level. */
  if (it->request == TOPO_NONE)
    it->groups = sim_groups_ref (levels_of (replay, it->comm, it->rank).groups);
  it->collective.groups = it->groups;
  sim_collective_choose (&it->collective, replay->machine,
                         trace_comms_is_world (replay->comms, it->comm));
}

void
sim_active_dump (SimReplay *replay, uint32_t rank, BaseDump *dump)
{
  SimActive **link = &replay->ranks[rank].active;
  uint32_t n = 0;

  for (const SimActive *active = *link; active != NULL; active = active->next)
    n++;
  BASE_DUMP_VALUE (dump, n);
  for (uint32_t i = 0; i < n && !base_dump_has_failed (dump); i++) {
    active_dump (replay, link, dump);
    link = &(*link)->next;
  }
}

static void
meeting_dump (SimReplay *replay, Meeting *meeting, BaseDump *dump)
{
  SimActive **link = &meeting->first_posted;
  Meeting plain = *meeting;
  uint32_t n_posted = 0;

  plain.first_posted = NULL;
  for (const SimActive *posted = *link; posted != NULL; posted = posted->next_met)
    n_posted++;
  BASE_DUMP_VALUE (dump, plain);
  BASE_DUMP_VALUE (dump, n_posted);
  if (base_dump_loads (dump))
    *meeting = plain;
  /* A collective is named by its rank and its place among those of the rank. */
  for (uint32_t i = 0; i < n_posted && !base_dump_has_failed (dump); i++) {
    uint32_t rank = 0, place = 0;
    SimActive *active;

    if (!base_dump_loads (dump)) {
      rank = (*link)->rank;
      for (active = replay->ranks[rank].active; active != *link; active = active->next)
        place++;
    }
    BASE_DUMP_VALUE (dump, rank);
    BASE_DUMP_VALUE (dump, place);
    active = replay->ranks[rank].active;
    while (place-- > 0)
      active = active->next;
    *link = active;
    link = &active->next_met;
  }
}

void
sim_meetings_dump (SimReplay *replay, BaseDump *dump)
{
  GHashTableIter iterator;
  uint64_t n;

  base_dump_section (dump, "meetings");
  n = base_dump_count (dump, g_hash_table_size (replay->meetings->open), sizeof (Meeting));
  g_hash_table_iter_init (&iterator, replay->meetings->open);
  for (uint64_t i = 0; i < n; i++) {
    Meeting *meeting = base_dump_entry (dump, &iterator, sizeof *meeting);

    meeting_dump (replay, meeting, dump);
    if (base_dump_loads (dump))
      g_hash_table_replace (replay->meetings->open, &meeting->key, meeting);
  }
}

/* -- by messages, step by step -------------------------------------------- */

static void meet_in_switches (SimReplay *replay, SimActive *active);

/* Requests that the active one waits for. */
static uint32_t
active_pending (const SimReplay *replay, const SimActive *active)
{
  return active->blocks ? replay->ranks[active->rank].pending : active->pending;
}

static uint32_t
step_request (SimReplay *replay, SimActive *active, uint32_t peer, uint64_t bytes, bool is_send)
{
  uint32_t world = active_member (replay, active, peer);

  active->pending += !active->blocks;
  return sim_request_take (replay, (SimRequest){
                                       .bytes = bytes,
                                       .context = sim_context (active->comm, true),
                                       .tag = (int32_t) active->sequence,
                                       .rank = active->rank,
                                       .peer = world,
                                       .mode = TRACE_SEND_STANDARD,
                                       .is_send = is_send,
                                       .owned = !active->blocks,
                                   });
}

/* The processor's share, in its own time.  The memory of the node is not asked for it: that wants
 * its calls in the order of their times, and so an event for every quantum, and belongs to the
 * messaging library. */
static void
work_charge (SimReplay *replay, uint32_t rank, SimLocalWork work)
{
  SimRank *it = &replay->ranks[rank];
  const TopoParameters *parameters = replay->parameters;
  int64_t work_ps = sim_memory_pass_ps (replay->machine, work.copy_bytes, 1) +
                    sim_memory_pass_ps (replay->machine, work.reduce_bytes, 2) +
                    work.n_types * parameters->mpi.datatype_ps +
                    work.n_described * parameters->mpi.datatype_description_ps +
                    work.n_blocks * parameters->mpi.datatype_block_ps;

  /* Beyond that the replay fails with the next call. */
  it->local_ps = MIN (it->local_ps, SIM_LAST_PS) + MIN (work_ps, SIM_LAST_PS);
}

/* What was to be done when nothing is pending. */
static void
work_do (SimReplay *replay, SimActive *active)
{
  work_charge (replay, active->rank, active->work);
  active->work = (SimLocalWork){ 0 };
}

/* Called when nothing is pending; true when all is done. */
static bool
steps_run (SimReplay *replay, SimActive *active)
{
  work_do (replay, active);
  while (active->step < active->collective.n_steps) {
    SimStep step = sim_collective_step (&active->collective, active->step++);
    bool nonblocking = step.recv_from != TOPO_NONE && (step.send_to != TOPO_NONE || !step.wait);
    uint32_t request;

    work_charge (replay, active->rank, step.before);
    active->work = sim_local_work_sum (active->work, step.after);
    if (step.recv_from != TOPO_NONE) {
      request = step_request (replay, active, step.recv_from, step.recv_bytes, false);
      /* PAMI's algorithms make no calls. */
      if (nonblocking && replay->parameters->mpi.collectives != TOPO_COLLECTIVES_BGQ)
        replay->ranks[active->rank].local_ps += replay->parameters->mpi.call_overhead_ps;
      sim_message_post (replay, request);
      if (active->blocks)
        sim_request_await (replay, request);
    }
    if (step.send_to != TOPO_NONE) {
      request = step_request (replay, active, step.send_to, step.send_bytes, true);
      replay->requests[request].blocking = step.wait;
      sim_message_send (replay, request);
      if (active->blocks)
        sim_request_await (replay, request);
    }
    if (step.in_switches)
      meet_in_switches (replay, active);
    if (step.wait && active_pending (replay, active) > 0)
      return false;
    if (step.wait)
      work_do (replay, active);
  }
  if (active_pending (replay, active) > 0)
    return false;
  work_do (replay, active);
  return true;
}

static void
steps_continue (SimReplay *replay, SimActive *active)
{
  if (steps_run (replay, active))
    active_end (replay, active, replay->ranks[active->rank].local_ps);
}

void
sim_active_progress (SimReplay *replay, uint32_t rank)
{
  SimRank *it = &replay->ranks[rank];
  bool agent = replay->parameters->mpi.async_progress || it->state == SIM_RANK_DONE;
  SimActive *next;

  if (!it->active_ready || (it->state == SIM_RANK_RUNNING && !agent))
    return;
  it->active_ready = false;
  for (SimActive *active = it->active; active != NULL; active = next) {
    int64_t own_ps = it->local_ps, agent_ps;
    SimPath own;
    bool done;

    next = active->next;
    if (active->blocks || active->collective.method != SIM_COLLECTIVE_STEPS || active->pending > 0)
      continue;
    if (!agent) {
      sim_rank_wait_until (replay, rank, active->at_ps);
      steps_continue (replay, active);
      continue;
    }
    /* In no time of the rank's.  A rank that is done helps the others from
     * MPI_Finalize, but comes there in its own time.  One that waits for the end
     * goes on at the agent's time, so the clock is its own again before. */
    it->local_ps = MAX (active->at_ps, it->state == SIM_RANK_DONE ? own_ps : replay->now_ps);
    own = sim_critical_enter_agent (replay, rank);
    done = steps_run (replay, active);
    agent_ps = it->local_ps;
    it->local_ps = own_ps;
    sim_critical_leave_agent (replay, rank, own);
    if (done)
      active_end (replay, active, agent_ps);
  }
}

void
sim_active_owned (SimReplay *replay, const SimRequest *request, int64_t at_ps)
{
  SimActive *active = sim_active_of (replay, request);

  g_assert (active != NULL);
  active->at_ps = MAX (active->at_ps, at_ps);
  if (--active->pending == 0)
    replay->ranks[request->rank].active_ready = true;
}

/* -- by direct messages ---------------------------------------------------- */

/* Messages of this instance that came before the rank entered it. */
static uint32_t
early_take (SimRank *rank, uint32_t comm, uint32_t sequence)
{
  for (uint32_t i = 0; rank->early_direct != NULL && i < rank->early_direct->len; i++) {
    EarlyDirect early = g_array_index (rank->early_direct, EarlyDirect, i);

    if (early.comm == comm && early.sequence == sequence) {
      g_array_remove_index_fast (rank->early_direct, i);
      return early.n;
    }
  }
  return 0;
}

/* The messages to come and, in the order of the ranks, in which their edges lie, those to send. */
static void
direct_begin (SimReplay *replay, SimActive *active)
{
  const SimCollective *collective = &active->collective;
  uint32_t early;

  for (uint32_t other = 0; other < collective->n_ranks; other++) {
    uint64_t bytes = sim_collective_direct_sent (collective, other);

    if (other == collective->rank)
      continue;
    active->missing += sim_collective_direct_received (collective, other) > 0;
    if (bytes > 0)
      sim_message_count (replay, active->rank, active_member (replay, active, other), bytes);
  }
  early = early_take (&replay->ranks[active->rank], active->comm, active->sequence);
  active->missing -= MIN (early, active->missing);
  active->direct_ready = true;
}

/* Hands over a burst of messages, then the network catches up; after the last
 * one the rank waits for those to come. */
static void
direct_continue (SimReplay *replay, SimActive *active)
{
  const SimCollective *collective = &active->collective;
  SimRank *it = &replay->ranks[active->rank];
  uint32_t n_others = collective->n_ranks - 1;

  if (!active->direct_ready)
    direct_begin (replay, active);
  for (uint32_t sent = 0; active->step < n_others && sent < DIRECT_BURST;) {
    uint64_t bytes;
    uint32_t peer = sim_collective_direct (collective, active->step++, &bytes);

    if (bytes > 0) {
      replay->protocol->direct (replay, active->rank, active_member (replay, active, peer), bytes,
                                sim_cookie (SIM_COOKIE_DIRECT, active->comm, active->sequence));
      sent++;
    }
  }
  if (active->step < n_others)
    sim_rank_sleep (replay, active->rank);
  else if (active->missing == 0)
    active_end (replay, active, it->local_ps);
  else if (active->request == TOPO_NONE)
    it->state = SIM_RANK_GATHERING;
  else { /* a posted one does not hold the rank any more */
    active->blocks = false;
    active_remove (it, active);
    active_append (it, active);
  }
}

/* -- meetings --------------------------------------------------------------- */

SimMeetings *
sim_meetings_new (void)
{
  SimMeetings *meetings = g_new (SimMeetings, 1);

  pthread_mutex_init (&meetings->lock, NULL);
  meetings->open = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, g_free);
  return meetings;
}

void
sim_meetings_free (SimMeetings *meetings)
{
  g_hash_table_unref (meetings->open);
  pthread_mutex_destroy (&meetings->lock);
  g_free (meetings);
}

/* The rank has come; the record of the meeting.  hardware_ps: from the last arrival to the end.
 * For this and all that follows the lock is held. */
static Meeting *
meeting_join (SimReplay *replay, uint32_t rank, uint32_t comm, uint32_t sequence, uint32_t n_ranks,
              int64_t hardware_ps)
{
  int64_t arrival_ps = replay->ranks[rank].local_ps;
  gint64 key = (gint64) ((uint64_t) comm << 32 | sequence);
  Meeting *meeting = g_hash_table_lookup (replay->meetings->open, &key);

  if (meeting == NULL) {
    meeting = g_new (Meeting, 1);
    *meeting = (Meeting){ .key = key, .n_ranks = n_ranks, .first_waiting = TOPO_NONE };
    g_hash_table_insert (replay->meetings->open, &meeting->key, meeting);
  }
  if (!meeting->root_came && (meeting->n_arrived == 0 || arrival_ps > meeting->latest_ps ||
                              (arrival_ps == meeting->latest_ps && rank < meeting->path_rank))) {
    meeting->path = sim_critical_of (replay, rank);
    meeting->path_rank = rank;
  }
  meeting->n_arrived++;
  meeting->latest_ps = MAX (meeting->latest_ps, arrival_ps);
  meeting->hardware_ps = MAX (meeting->hardware_ps, hardware_ps);
  meeting->now_ps = MAX (meeting->now_ps, replay->now_ps);
  return meeting;
}

static int64_t
present_span (const SimReplay *replay)
{
  return replay->now_ps >> replay->span_bits;
}

/* active: NULL when a communicator is made. */
static void
meeting_wait (SimReplay *replay, Meeting *meeting, uint32_t rank, SimActive *active)
{
  SimRank *it = &replay->ranks[rank];

  if (active != NULL && (!active->blocks || active->in_switches)) {
    active->at_ps = present_span (replay);
    active->arrival = replay->n_meeting_waits++;
    active->next_met = meeting->first_posted;
    meeting->first_posted = active;
    return;
  }
  it->state = SIM_RANK_MEETING;
  it->came = (uint32_t) present_span (replay);
  it->arrival = replay->n_meeting_waits++;
  it->next_meeting = meeting->first_waiting;
  meeting->first_waiting = rank;
}

/* It came in the root's span, and counts as later. */
static bool
is_after_root (const SimReplay *replay, const Meeting *meeting, uint32_t rank, uint32_t came)
{
  return meeting->root_came && came == (uint32_t) meeting->root_span &&
         replay->ranks[rank].node > meeting->root_node;
}

/* Those that wait go on at end_ps, but not before first_ps; those after the root at first_ps, with
 * their clocks at end_ps.  The network fires timers of one node at one instant in the order of
 * their cookies, so that ranks of a node go on in the reverse order of their arrival, in which they
 * are chained. */
static void
meeting_release (SimReplay *replay, Meeting *meeting, int64_t end_ps, int64_t first_ps)
{
  const int64_t longest_ps = (INT64_C (1) << 28) - 1; /* for which a cookie has room */
  int64_t early_ps = MAX (first_ps, end_ps - longest_ps);

  end_ps = MAX (end_ps, first_ps);
  for (uint32_t rank = meeting->first_waiting; rank != TOPO_NONE;
       rank = replay->ranks[rank].next_meeting) {
    const SimRank *it = &replay->ranks[rank];
    int64_t at_ps = is_after_root (replay, meeting, rank, it->came) ? early_ps : end_ps;

    sim_critical_release (replay, rank, &meeting->path);
    sim_network_shared_timer (
        replay->network, rank,
        sim_cookie (SIM_COOKIE_RELEASE, (uint32_t) (end_ps - at_ps), UINT32_MAX - it->arrival),
        at_ps);
  }
  meeting->first_waiting = TOPO_NONE;
  for (SimActive *posted = meeting->first_posted; posted != NULL; posted = posted->next_met) {
    bool early = is_after_root (replay, meeting, posted->rank, (uint32_t) posted->at_ps);

    sim_critical_release (replay, posted->rank, &meeting->path);
    posted->at_ps = end_ps;
    sim_network_shared_timer (replay->network, posted->rank,
                              sim_cookie (SIM_COOKIE_MET, 0, UINT32_MAX - posted->arrival),
                              early ? early_ps : end_ps);
  }
  meeting->first_posted = NULL;
}

/* The last rank to come releases all others. */
static void
meeting_leave (SimReplay *replay, Meeting *meeting)
{
  gint64 key = meeting->key;

  if (meeting->n_arrived < meeting->n_ranks)
    return;
  meeting_release (replay, meeting, meeting->latest_ps + meeting->hardware_ps,
                   meeting->now_ps + replay->network->lookahead_ps);
  g_hash_table_remove (replay->meetings->open, &key);
}

/* A collective in the network.  The root of a broadcast and the others of a
 * reduction hand their data over (send_overhead) and go on. */
static void
meet_in_hardware (SimReplay *replay, SimActive *active)
{
  const SimCollective *collective = &active->collective;
  int64_t hardware_ps = sim_collective_hardware_ps (collective, replay->machine);
  SimRank *it = &replay->ranks[active->rank];
  int64_t local_ps = it->local_ps, done_ps = 0;
  bool root = collective->root == (int32_t) collective->rank, waits = true, follows = false;
  Meeting *meeting;
  SimPath path = sim_critical_of (replay, active->rank);

  pthread_mutex_lock (&replay->meetings->lock);
  meeting = meeting_join (replay, active->rank, active->comm, active->sequence, collective->n_ranks,
                          hardware_ps);
  if ((collective->kind == TRACE_OP_BCAST && root) ||
      (collective->kind == TRACE_OP_REDUCE && !root)) {
    waits = false;
    it->local_ps += replay->parameters->mpi.send_overhead_ps;
    done_ps = it->local_ps;
  }
  if (collective->kind == TRACE_OP_BCAST && root) {
    meeting->root_came = true;
    meeting->root_node = it->node;
    meeting->root_span = present_span (replay);
    meeting->root_end_ps = local_ps + hardware_ps;
    meeting->path = path;
  } else if (meeting->root_came &&
             (meeting->root_span < present_span (replay) || meeting->root_node == it->node)) {
    waits = false;
    follows = meeting->root_end_ps > local_ps;
    done_ps = meeting->root_end_ps;
  }
  if (waits)
    meeting_wait (replay, meeting, active->rank, active);
  /* Not before the look-ahead has passed for all ranks of the span. */
  if (meeting->root_came)
    meeting_release (replay, meeting, meeting->root_end_ps,
                     (meeting->root_span << replay->span_bits) + 2 * replay->network->lookahead_ps);
  path = meeting->path;
  meeting_leave (replay, meeting);
  pthread_mutex_unlock (&replay->meetings->lock);
  if (active->blocks)
    sim_rank_wait_until (replay, active->rank, done_ps);
  if (active->blocks && follows)
    sim_critical_follow (replay, active->rank, &path);
  if (active->blocks || !waits)
    active_end (replay, active, MAX (local_ps, done_ps));
}

/* A leader waits in a step of its collective until the switches have the data of all. */
static void
meet_in_switches (SimReplay *replay, SimActive *active)
{
  const SimCollective *collective = &active->collective;
  int64_t switches_ps = sim_sharp_ps (&collective->sharp, collective->bytes, replay->machine);
  Meeting *meeting;

  active->in_switches = true;
  active->meeting = sim_request_take (replay, (SimRequest){
                                                  .context = sim_context (active->comm, true),
                                                  .tag = (int32_t) active->sequence,
                                                  .rank = active->rank,
                                                  .peer = TOPO_NONE,
                                                  .no_message = true,
                                                  .collective = true,
                                              });
  sim_request_await (replay, active->meeting);
  pthread_mutex_lock (&replay->meetings->lock);
  meeting = meeting_join (replay, active->rank, active->comm, active->sequence,
                          collective->sharp.n_leaders, switches_ps);
  meeting_wait (replay, meeting, active->rank, active);
  meeting_leave (replay, meeting);
  pthread_mutex_unlock (&replay->meetings->lock);
}

static bool
waits_in_meeting (const SimActive *active)
{
  return active->in_switches ||
         (!active->blocks && active->collective.method == SIM_COLLECTIVE_HARDWARE);
}

void
sim_active_met (SimReplay *replay, uint32_t rank, uint64_t cookie)
{
  uint32_t arrival = UINT32_MAX - sim_cookie_low (cookie);
  SimActive *active = replay->ranks[rank].active;
  int64_t end_ps;

  while (!waits_in_meeting (active) || active->arrival != arrival)
    active = active->next;
  end_ps = MAX (replay->now_ps, active->at_ps);
  if (active->in_switches) {
    active->in_switches = false;
    sim_request_complete (replay, active->meeting, end_ps);
  } else
    active_end (replay, active, end_ps);
  sim_rank_wake (replay, rank);
}

void
sim_active_direct (SimReplay *replay, uint32_t rank, uint64_t cookie)
{
  uint32_t comm = sim_cookie_high (cookie), sequence = sim_cookie_low (cookie);
  SimRank *it = &replay->ranks[rank];
  SimActive *active = it->active;

  while (active != NULL && (active->comm != comm || active->sequence != sequence))
    active = active->next;
  if (active == NULL || !active->direct_ready) {
    EarlyDirect early = { comm, sequence, early_take (it, comm, sequence) + 1 };

    if (it->early_direct == NULL)
      it->early_direct = sim_active_early_new ();
    g_array_append_val (it->early_direct, early);
    return;
  }
  active->missing -= active->missing > 0;
  if (active->missing > 0 || (active->blocks && it->state != SIM_RANK_GATHERING))
    return;
  if (active->blocks) {
    it->state = SIM_RANK_READY;
    sim_rank_wait_until (replay, rank, replay->now_ps);
  }
  active_end (replay, active, replay->now_ps);
  sim_rank_wake (replay, rank);
}

/* -- entering ------------------------------------------------------------ */

/* A copy of an operation's list, behind the ones that are copied already. */
static const void *
list_copy (char **to, const void *list, gsize bytes)
{
  void *copy = *to;

  if (list == NULL || bytes == 0)
    return NULL;
  *to += (bytes + sizeof (uint64_t) - 1) / sizeof (uint64_t) * sizeof (uint64_t);
  return memcpy (copy, list, bytes);
}

/* The operation on its communicator, with copies of its lists, as the cursor
 * keeps them for one call only; NULL, and the replay failed, when the call
 * cannot be there. */
static SimActive *
active_new (SimReplay *replay, uint32_t rank, const TraceOp *op, uint32_t comm)
{
  bool neighbors = trace_op_is_neighborhood (op->kind);
  gsize n_lists = ((gsize) op->n_counts + op->n_recv_counts) * (neighbors ? 2 : 1);
  g_autofree char *fault = NULL;
  TraceOp copy = *op;
  Levels levels = { .groups = NULL };
  SimActive *active;
  uint32_t me;
  char *to;

  if (comm == TRACE_COMMS_NULL)
    return NULL;
  fault = sim_collective_fault (op, trace_comms_size (replay->comms, comm));
  if (fault != NULL) {
    sim_report_fail (replay, rank, "%s", fault);
    return NULL;
  }
  me = comm == TRACE_COMMS_SELF ? 0 : trace_comms_rank (replay->comms, comm, rank);
  if (me == TOPO_NONE) {
    sim_report_fail (replay, rank, "not a member of communicator %u", op->comm);
    return NULL;
  }
  active = g_malloc0 (sizeof (SimActive) + n_lists * sizeof (uint64_t));
  to = (char *) active->arrays;
  copy.counts = list_copy (&to, op->counts, op->n_counts * sizeof *op->counts);
  copy.recv_counts = list_copy (&to, op->recv_counts, op->n_recv_counts * sizeof *op->recv_counts);
  if (neighbors) {
    copy.values = list_copy (&to, op->values, op->n_counts * sizeof *op->values);
    copy.values2 = list_copy (&to, op->values2, op->n_recv_counts * sizeof *op->values2);
  }
  active->rank = rank;
  active->comm = comm;
  active->n_words = (uint32_t) n_lists;
  active->request = TOPO_NONE;
  if (!op->nonblocking)
    levels = levels_of (replay, comm, rank);
  active->groups = sim_groups_ref (levels.groups);
  sim_collective_init (&active->collective, replay->machine, &copy,
                       trace_comms_size (replay->comms, comm), me,
                       trace_comms_is_world (replay->comms, comm), active->groups);
  if (levels.sharp.n_leaders > 0) {
    active->collective.sharp = levels.sharp;
    sim_collective_choose (&active->collective, replay->machine,
                           trace_comms_is_world (replay->comms, comm));
  }
  return active;
}

void
sim_active_continue (SimReplay *replay, SimActive *active)
{
  SimRank *it = &replay->ranks[active->rank];

  switch ((SimCollectiveMethod) active->collective.method) {
  case SIM_COLLECTIVE_STEPS: steps_continue (replay, active); break;
  case SIM_COLLECTIVE_HARDWARE: meet_in_hardware (replay, active); break;
  case SIM_COLLECTIVE_DIRECT: direct_continue (replay, active); break;
  case SIM_COLLECTIVE_NOTHING:
    if (active->request == TOPO_NONE)
      it->local_ps += replay->parameters->mpi.call_overhead_ps;
    active_end (replay, active, it->local_ps);
    break;
  }
}

/* Begins, unless the rank must wait for something else before it.  The one that
 * blocks stands first. */
static void
active_begin (SimReplay *replay, SimActive *active)
{
  SimRank *it = &replay->ranks[active->rank];

  active->blocks =
      active->request == TOPO_NONE || active->collective.method == SIM_COLLECTIVE_DIRECT;
  if (active->blocks) {
    active->next = it->active;
    it->active = active;
  } else
    active_append (it, active);
  if (it->pending == 0)
    sim_active_continue (replay, active);
}

/* The number of the rank's collective on a communicator; false, and the replay
 * failed, when the calls of other ranks do not match. */
static bool
collective_number (SimReplay *replay, uint32_t rank, const TraceOp *op, uint32_t comm,
                   uint32_t *sequence)
{
  g_autoptr (GError) error = NULL;

  *sequence = base_map_add (&replay->ranks[rank].sequences, comm, 0)->value[0]++;
  if (sim_agreement_enter (replay->agreement, rank, comm, *sequence, op, &error))
    return true;
  if (replay->error == NULL)
    replay->error = g_steal_pointer (&error);
  return false;
}

void
sim_active_enter (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  SimActive *active = active_new (replay, rank, op, sim_ops_comm (replay, rank, op));

  if (active == NULL)
    return;
  if (!collective_number (replay, rank, op, active->comm, &active->sequence)) {
    active_free (active);
    return;
  }
  if (op->bytes == TRACE_UNKNOWN_BYTES || op->recv_bytes == TRACE_UNKNOWN_BYTES)
    sim_report_warn (replay, rank, SIM_WARNING_UNKNOWN_SIZE);
  replay->result.collectives++;
  if (op->nonblocking) {
    active->request =
        sim_request_take (replay, (SimRequest){ .context = sim_context (active->comm, true),
                                                .tag = (int32_t) active->sequence,
                                                .rank = rank,
                                                .peer = TOPO_NONE,
                                                .no_message = true,
                                                .collective = true });
    sim_handle_push (replay, rank, op->request, active->request);
    replay->ranks[rank].local_ps += replay->parameters->mpi.call_overhead_ps;
  }
  active_begin (replay, active);
}

void
sim_active_exchange (SimReplay *replay, uint32_t rank, const TraceOp *op, uint32_t comm,
                     uint32_t number)
{
  SimActive *active = active_new (replay, rank, op, comm);

  if (active == NULL)
    return;
  active->sequence = number;
  active_begin (replay, active);
}

/* -- making communicators ------------------------------------------------ */

/* As an allreduce of 8 bytes per member, from the last arrival on: in the
 * network for the whole partition, else one message per doubling, from one
 * rank's processor to another's. */
static int64_t
creation_ps (const SimReplay *replay, uint32_t parent)
{
  const TopoParameters *p = replay->parameters;
  uint32_t n = trace_comms_size (replay->comms, parent), rounds = 0;
  int64_t message_ps = p->mpi.send_overhead_ps + p->mpi.receive_overhead_ps;
  TraceOp op = { .kind = TRACE_OP_ALLREDUCE,
                 .bytes = 8 * (uint64_t) n,
                 .recv_bytes = 8 * (uint64_t) n,
                 .root = TRACE_NO_ROOT };
  SimCollective collective;

  sim_collective_init (&collective, replay->machine, &op, n, 0,
                       trace_comms_is_world (replay->comms, parent), NULL);
  if (collective.method == SIM_COLLECTIVE_HARDWARE)
    return sim_collective_hardware_ps (&collective, replay->machine);
  /* On a fabric most of it is the way to the adapter and back. */
  if (p->family != TOPO_FAMILY_TORUS)
    message_ps += (p->mpi.library == TOPO_LIBRARY_OMPI13 ? 2 * p->ompi.fragment_overhead_ps
                                                         : p->ucx.post_ps + p->ucx.receive_ps) +
                  p->hca.send_latency_ps + p->hca.receive_latency_ps;
  while ((1ull << rounds) < n)
    rounds++;
  return rounds * message_ps;
}

void
sim_active_create_comm (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  uint32_t parent = sim_ops_comm (replay, rank, op), size, sequence;
  g_autoptr (GError) error = NULL;
  bool complete = false;
  Meeting *meeting;

  if (parent == TRACE_COMMS_NULL || !collective_number (replay, rank, op, parent, &sequence))
    return;
  size = trace_comms_size (replay->comms, parent);
  pthread_mutex_lock (&replay->meetings->lock);
  if (!trace_comms_create (replay->comms, rank, op, &complete, &error))
    sim_report_fail (replay, rank, "%s", error->message);
  else if (size == 1)
    replay->ranks[rank].local_ps += replay->parameters->mpi.call_overhead_ps;
  else {
    meeting = meeting_join (replay, rank, parent, sequence, size, creation_ps (replay, parent));
    g_assert (complete == (meeting->n_arrived == size));
    meeting_wait (replay, meeting, rank, NULL);
    meeting_leave (replay, meeting);
  }
  pthread_mutex_unlock (&replay->meetings->lock);
}
