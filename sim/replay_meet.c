/* replay_meet.c - collectives, and the making of communicators.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The n-th collective of a rank on a communicator is the n-th of all its
 * members; (communicator, n) is an instance.  How each method costs:
 *
 *   STEPS     every message as a send and a receive of the user would
 *   HARDWARE  all meet, nobody's processor works: released at the latest
 *             arrival plus sim_collective_hardware_ps().  The root of a
 *             broadcast and the others of a reduction hand their data over
 *             (send_overhead) and go on.
 *   DIRECT    direct_overhead per message; messages without data are not
 *             sent, and arrivals cost no processor time
 *   NOTHING   call_overhead
 *
 * Ranks of different nodes meet in one record here, so whoever comes last
 * releases the others by timers, never before the network's look-ahead. */
#include "sim/replay_private.h"

#include <string.h>

/* Direct messages handed over before the network must catch up. */
#define DIRECT_BURST 16

typedef struct {
  gint64 key; /* communicator and sequence number */
  int64_t latest_ps, root_ps;
  uint32_t n_arrived, n_ranks;
  uint32_t first_waiting; /* chained by next_meeting */
  bool root_came;
} Meeting;

typedef struct {
  uint32_t comm, sequence, n;
} EarlyDirect;

/* The number of no collective: the making of communicators on a parent, of
 * which there is one at a time, as all its members take part in each. */
#define CREATION UINT32_MAX

void
sim_meet_init (SimReplay *replay)
{
  replay->meetings = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, g_free);
}

/* -- meeting ------------------------------------------------------------- */

/* The rank has come; the record of those who came. */
static Meeting *
meeting_join (SimReplay *replay, uint32_t comm, uint32_t sequence, uint32_t n_ranks,
              int64_t arrival_ps)
{
  gint64 key = (gint64) ((uint64_t) comm << 32 | sequence);
  Meeting *meeting = g_hash_table_lookup (replay->meetings, &key);

  if (meeting == NULL) {
    meeting = g_new (Meeting, 1);
    *meeting = (Meeting){ .key = key, .n_ranks = n_ranks, .first_waiting = TOPO_NONE };
    g_hash_table_insert (replay->meetings, &meeting->key, meeting);
  }
  meeting->n_arrived++;
  meeting->latest_ps = MAX (meeting->latest_ps, arrival_ps);
  return meeting;
}

static void
meeting_wait (SimReplay *replay, Meeting *meeting, uint32_t rank)
{
  replay->ranks[rank].state = SIM_RANK_MEETING;
  replay->ranks[rank].next_meeting = meeting->first_waiting;
  meeting->first_waiting = rank;
}

static void
meeting_release (SimReplay *replay, Meeting *meeting, int64_t at_ps)
{
  at_ps = MAX (at_ps, replay->now_ps + replay->network->lookahead_ps);
  for (uint32_t rank = meeting->first_waiting; rank != TOPO_NONE;
       rank = replay->ranks[rank].next_meeting)
    sim_network_timer (replay->network, rank, sim_cookie (SIM_COOKIE_RELEASE, 0, 0), at_ps);
  meeting->first_waiting = TOPO_NONE;
}

static void
meeting_leave (SimReplay *replay, const Meeting *meeting)
{
  gint64 key = meeting->key;

  if (meeting->n_arrived == meeting->n_ranks)
    g_hash_table_remove (replay->meetings, &key);
}

static void
active_end (SimReplay *replay, uint32_t rank)
{
  g_clear_pointer (&replay->ranks[rank].active, g_free);
}

/* -- collectives in the network ------------------------------------------ */

/* Everyone waits for everyone. */
static void
meet_all (SimReplay *replay, uint32_t rank, Meeting *meeting, int64_t hardware_ps)
{
  meeting_wait (replay, meeting, rank);
  if (meeting->n_arrived == meeting->n_ranks)
    meeting_release (replay, meeting, meeting->latest_ps + hardware_ps);
}

/* The others wait for the root alone. */
static void
meet_bcast (SimReplay *replay, uint32_t rank, Meeting *meeting, int64_t hardware_ps, bool root)
{
  SimRank *it = &replay->ranks[rank];

  if (root) {
    meeting->root_came = true;
    meeting->root_ps = it->local_ps;
    meeting_release (replay, meeting, meeting->root_ps + hardware_ps);
    it->local_ps += replay->parameters->send_overhead_ps;
  } else if (meeting->root_came)
    sim_rank_wait_until (replay, rank, meeting->root_ps + hardware_ps);
  else
    meeting_wait (replay, meeting, rank);
}

/* The root alone waits for the others. */
static void
meet_reduce (SimReplay *replay, uint32_t rank, Meeting *meeting, int64_t hardware_ps, bool root)
{
  if (root)
    meeting_wait (replay, meeting, rank);
  else
    replay->ranks[rank].local_ps += replay->parameters->send_overhead_ps;
  if (meeting->n_arrived == meeting->n_ranks)
    meeting_release (replay, meeting, meeting->latest_ps + hardware_ps);
}

static void
meet_in_hardware (SimReplay *replay, uint32_t rank)
{
  SimActive *active = replay->ranks[rank].active;
  const SimCollective *collective = &active->collective;
  int64_t hardware_ps = sim_collective_hardware_ps (collective, replay->machine);
  bool root = collective->root == (int32_t) collective->rank;
  Meeting *meeting = meeting_join (replay, active->comm, active->sequence, collective->n_ranks,
                                   replay->ranks[rank].local_ps);

  if (collective->kind == TRACE_OP_BCAST)
    meet_bcast (replay, rank, meeting, hardware_ps, root);
  else if (collective->kind == TRACE_OP_REDUCE)
    meet_reduce (replay, rank, meeting, hardware_ps, root);
  else
    meet_all (replay, rank, meeting, hardware_ps);
  meeting_leave (replay, meeting);
  active_end (replay, rank);
}

/* -- collectives by messages --------------------------------------------- */

static uint32_t
member (const SimReplay *replay, const SimActive *active, uint32_t rank, uint32_t self)
{
  return sim_comms_world_rank (replay->comms, active->comm, rank, self);
}

static uint32_t
step_request (SimReplay *replay, uint32_t rank, uint32_t peer, uint64_t bytes, bool is_send)
{
  const SimActive *active = replay->ranks[rank].active;
  uint32_t world = member (replay, active, peer, rank);

  return sim_request_take (
      replay,
      (SimRequest){ .bytes = bytes,
                    .envelope = { sim_protocol_context (active->comm, true), is_send ? rank : world,
                                  (int32_t) (active->sequence & INT32_MAX) },
                    .rank = rank,
                    .peer = world,
                    .mode = TRACE_SEND_STANDARD,
                    .is_send = is_send });
}

static void
step_run (SimReplay *replay, uint32_t rank, const SimStep *step)
{
  uint32_t request;

  if (step->recv_from != TOPO_NONE) {
    request = step_request (replay, rank, step->recv_from, step->recv_bytes, false);
    sim_protocol_post (replay, request);
    sim_request_await (replay, request);
  }
  if (step->send_to != TOPO_NONE) {
    request = step_request (replay, rank, step->send_to, step->send_bytes, true);
    replay->ranks[rank].local_ps += replay->parameters->send_overhead_ps;
    sim_protocol_send (replay, request);
    sim_request_await (replay, request);
  }
}

/* Called when everything awaited is complete. */
static void
steps_continue (SimReplay *replay, uint32_t rank)
{
  SimRank *it = &replay->ranks[rank];
  SimActive *active = it->active;

  while (active->step < active->collective.n_steps) {
    SimStep step = sim_collective_step (&active->collective, active->step++);

    step_run (replay, rank, &step);
    if (step.wait && it->pending > 0)
      return;
  }
  if (it->pending == 0)
    active_end (replay, rank);
}

/* -- direct collectives -------------------------------------------------- */

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

static void
early_add (SimRank *rank, uint32_t comm, uint32_t sequence)
{
  uint32_t n = early_take (rank, comm, sequence) + 1;
  EarlyDirect early = { comm, sequence, n };

  if (rank->early_direct == NULL)
    rank->early_direct = g_array_new (FALSE, FALSE, sizeof (EarlyDirect));
  g_array_append_val (rank->early_direct, early);
}

static void
direct_begin (SimRank *rank)
{
  SimActive *active = rank->active;
  uint32_t early;

  active->direct_ready = true;
  for (uint32_t source = 0; source < active->collective.n_ranks; source++)
    if (source != active->collective.rank &&
        sim_collective_direct_received (&active->collective, source) > 0)
      active->missing++;
  early = early_take (rank, active->comm, active->sequence);
  active->missing -= MIN (early, active->missing);
}

static void
direct_send (SimReplay *replay, uint32_t rank, uint32_t peer, uint64_t bytes)
{
  SimRank *it = &replay->ranks[rank];
  uint32_t world = member (replay, it->active, peer, rank);
  uint64_t cookie = sim_cookie (SIM_COOKIE_DIRECT, it->active->comm, it->active->sequence);

  it->local_ps += replay->parameters->direct_overhead_ps;
  sim_protocol_count (replay, rank, world, bytes);
  if (it->node == replay->ranks[world].node)
    sim_network_timer (replay->network, world, cookie,
                       it->local_ps + replay->parameters->shm_latency_ps +
                           sim_rendezvous_copy_ps (replay, bytes));
  else
    sim_network_send (replay->network,
                      &(SimMessage){ .cookie = cookie,
                                     .bytes = bytes,
                                     .source_rank = rank,
                                     .destination_rank = world,
                                     .kind = SIM_MESSAGE_DIRECT },
                      it->local_ps);
}

/* A burst of messages, then the network catches up; after the last one the
 * rank waits for what is still to come. */
static void
direct_continue (SimReplay *replay, uint32_t rank)
{
  SimRank *it = &replay->ranks[rank];
  SimActive *active = it->active;
  uint32_t n_others = active->collective.n_ranks - 1;

  if (!active->direct_ready)
    direct_begin (it);
  for (uint32_t sent = 0; active->step < n_others && sent < DIRECT_BURST;) {
    uint64_t bytes;
    uint32_t peer = sim_collective_direct (&active->collective, active->step++, &bytes);

    if (bytes > 0) {
      direct_send (replay, rank, peer, bytes);
      sent++;
    }
  }
  if (active->step < n_others)
    sim_rank_sleep (replay, rank);
  else if (active->missing > 0)
    it->state = SIM_RANK_GATHERING;
  else
    active_end (replay, rank);
}

void
sim_meet_direct (SimReplay *replay, uint32_t rank, uint64_t cookie)
{
  uint32_t comm = sim_cookie_high (cookie), sequence = sim_cookie_low (cookie);
  SimRank *it = &replay->ranks[rank];
  SimActive *active = it->active;

  if (active == NULL || !active->direct_ready || active->comm != comm ||
      active->sequence != sequence) {
    early_add (it, comm, sequence);
    return;
  }
  active->missing -= active->missing > 0;
  if (it->state != SIM_RANK_GATHERING || active->missing > 0)
    return;
  active_end (replay, rank);
  it->state = SIM_RANK_READY;
  sim_rank_wait_until (replay, rank, replay->now_ps);
  sim_rank_wake (replay, rank);
}

/* -- entering ------------------------------------------------------------ */

/* Copies the operation's arrays, as the cursor keeps them for one call only. */
static SimActive *
active_new (const SimReplay *replay, const TraceOp *op, uint32_t comm, uint32_t rank)
{
  uint32_t n_counts = op->counts == NULL ? 0 : op->n_counts;
  uint32_t n_recv_counts = op->recv_counts == NULL ? 0 : op->n_recv_counts;
  SimActive *active =
      g_malloc0 (sizeof (SimActive) + (n_counts + n_recv_counts) * sizeof (uint64_t));
  TraceOp copy = *op;

  if (n_counts > 0)
    copy.counts = memcpy (active->counts, op->counts, n_counts * sizeof (uint64_t));
  if (n_recv_counts > 0)
    copy.recv_counts =
        memcpy (active->counts + n_counts, op->recv_counts, n_recv_counts * sizeof (uint64_t));
  active->comm = comm;
  sim_collective_init (&active->collective, replay->machine, &copy,
                       sim_comms_size (replay->comms, comm), rank,
                       sim_comms_is_world (replay->comms, comm));
  return active;
}

static bool
has_root (TraceOpKind kind)
{
  return kind == TRACE_OP_BCAST || kind == TRACE_OP_REDUCE || kind == TRACE_OP_GATHER ||
         kind == TRACE_OP_GATHERV || kind == TRACE_OP_SCATTER || kind == TRACE_OP_SCATTERV;
}

static bool
count_check (SimReplay *replay, uint32_t rank, uint32_t n_counts, uint32_t size)
{
  if (n_counts == 0 || n_counts == size)
    return true;
  sim_report_fail (replay, rank, "%u counts on a communicator of %u ranks", n_counts, size);
  return false;
}

/* False, and the replay failed, when the call does not fit its communicator. */
static bool
collective_check (SimReplay *replay, uint32_t rank, const TraceOp *op, uint32_t size)
{
  if (!count_check (replay, rank, op->n_counts, size) ||
      !count_check (replay, rank, op->n_recv_counts, size))
    return false;
  if (has_root (op->kind) && (op->root < 0 || (uint32_t) op->root >= size)) {
    sim_report_fail (replay, rank, "root %d of a communicator of %u ranks", op->root, size);
    return false;
  }
  return true;
}

void
sim_meet_enter (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  SimRank *it = &replay->ranks[rank];
  uint32_t comm = sim_ops_comm (replay, rank, op), me;

  if (comm == SIM_COMM_NULL ||
      !collective_check (replay, rank, op, sim_comms_size (replay->comms, comm)))
    return;
  me = comm == SIM_COMM_SELF ? 0 : sim_comms_rank (replay->comms, comm, rank);
  if (me == TOPO_NONE) {
    sim_report_fail (replay, rank, "not a member of communicator %u", op->comm);
    return;
  }
  replay->result.collectives++;
  it->active = active_new (replay, op, comm, me);
  it->active->sequence = sim_map_add (&it->sequences, comm, 0)->value[0]++;
  sim_meet_continue (replay, rank);
}

void
sim_meet_continue (SimReplay *replay, uint32_t rank)
{
  SimActive *active = replay->ranks[rank].active;

  switch ((SimCollectiveMethod) active->collective.method) {
  case SIM_COLLECTIVE_STEPS: steps_continue (replay, rank); break;
  case SIM_COLLECTIVE_HARDWARE: meet_in_hardware (replay, rank); break;
  case SIM_COLLECTIVE_DIRECT: direct_continue (replay, rank); break;
  case SIM_COLLECTIVE_NOTHING:
    replay->ranks[rank].local_ps += replay->parameters->call_overhead_ps;
    active_end (replay, rank);
    break;
  }
}

/* -- making communicators ------------------------------------------------ */

/* Like an allreduce of 8 bytes per member, from the last arrival on: in the
 * network for the whole partition, else one message per doubling. */
static int64_t
creation_ps (const SimReplay *replay, uint32_t parent)
{
  uint32_t n = sim_comms_size (replay->comms, parent), rounds = 0;
  TraceOp op = { .kind = TRACE_OP_ALLREDUCE,
                 .bytes = 8 * (uint64_t) n,
                 .recv_bytes = 8 * (uint64_t) n,
                 .root = TRACE_NO_ROOT };
  SimCollective collective;

  sim_collective_init (&collective, replay->machine, &op, n, 0,
                       sim_comms_is_world (replay->comms, parent));
  if (collective.method == SIM_COLLECTIVE_HARDWARE)
    return sim_collective_hardware_ps (&collective, replay->machine);
  while ((1ull << rounds) < n)
    rounds++;
  return rounds * (replay->parameters->send_overhead_ps + replay->parameters->receive_overhead_ps);
}

void
sim_meet_create (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  uint32_t parent = sim_ops_comm (replay, rank, op), size;
  g_autoptr (GError) error = NULL;
  bool complete = false;
  Meeting *meeting;

  if (parent == SIM_COMM_NULL)
    return;
  size = sim_comms_size (replay->comms, parent);
  if (!sim_comms_create (replay->comms, rank, op, &complete, &error)) {
    sim_report_fail (replay, rank, "%s", error->message);
    return;
  }
  if (size == 1) {
    replay->ranks[rank].local_ps += replay->parameters->call_overhead_ps;
    return;
  }
  meeting = meeting_join (replay, parent, CREATION, size, replay->ranks[rank].local_ps);
  g_assert (complete == (meeting->n_arrived == size));
  meet_all (replay, rank, meeting, creation_ps (replay, parent));
  meeting_leave (replay, meeting);
}
