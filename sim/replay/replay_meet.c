/* replay_meet.c - meetings in the network, and the making of communicators.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ranks of different nodes meet in one record here, so whoever comes last
 * releases the others by timers, never before the network's look-ahead.
 * Nobody's processor works meanwhile; the root of a broadcast and the others
 * of a reduction hand their data over (send_overhead) and go on. */
#include "sim/replay/replay_private.h"

typedef struct {
  gint64 key; /* communicator and sequence number */
  int64_t latest_ps, root_ps;
  uint32_t n_arrived, n_ranks;
  uint32_t first_waiting;  /* ranks that are blocked, chained by next_meeting */
  SimActive *first_posted; /* of ranks that are not, chained by next_met */
  bool root_came;
} Meeting;

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

/* active: NULL when a communicator is made. */
static void
meeting_wait (SimReplay *replay, Meeting *meeting, uint32_t rank, SimActive *active)
{
  if (active != NULL && !active->blocks) {
    active->next_met = meeting->first_posted;
    meeting->first_posted = active;
    return;
  }
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
  for (SimActive *posted = meeting->first_posted; posted != NULL; posted = posted->next_met)
    sim_network_timer (replay->network, posted->rank,
                       sim_cookie (SIM_COOKIE_MET, posted->comm, posted->sequence), at_ps);
  meeting->first_posted = NULL;
}

static void
meeting_leave (SimReplay *replay, const Meeting *meeting)
{
  gint64 key = meeting->key;

  if (meeting->n_arrived == meeting->n_ranks)
    g_hash_table_remove (replay->meetings, &key);
}

/* -- collectives in the network ------------------------------------------ */

/* Each of these returns true when the rank has to wait for the release, and
 * otherwise sets *done_ps. */

/* Everyone waits for everyone. */
static bool
meet_all (SimReplay *replay, uint32_t rank, Meeting *meeting, SimActive *active,
          int64_t hardware_ps)
{
  meeting_wait (replay, meeting, rank, active);
  if (meeting->n_arrived == meeting->n_ranks)
    meeting_release (replay, meeting, meeting->latest_ps + hardware_ps);
  return true;
}

/* The others wait for the root alone. */
static bool
meet_bcast (SimReplay *replay, Meeting *meeting, SimActive *active, int64_t hardware_ps, bool root,
            int64_t *done_ps)
{
  SimRank *it = &replay->ranks[active->rank];

  if (root) {
    meeting->root_came = true;
    meeting->root_ps = it->local_ps;
    meeting_release (replay, meeting, meeting->root_ps + hardware_ps);
    it->local_ps += replay->parameters->send_overhead_ps;
    *done_ps = it->local_ps;
  } else if (meeting->root_came)
    *done_ps = meeting->root_ps + hardware_ps;
  else
    meeting_wait (replay, meeting, active->rank, active);
  return !meeting->root_came;
}

/* The root alone waits for the others. */
static bool
meet_reduce (SimReplay *replay, Meeting *meeting, SimActive *active, int64_t hardware_ps, bool root,
             int64_t *done_ps)
{
  SimRank *it = &replay->ranks[active->rank];

  if (root)
    meeting_wait (replay, meeting, active->rank, active);
  else {
    it->local_ps += replay->parameters->send_overhead_ps;
    *done_ps = it->local_ps;
  }
  if (meeting->n_arrived == meeting->n_ranks)
    meeting_release (replay, meeting, meeting->latest_ps + hardware_ps);
  return root;
}

void
sim_meet_in_hardware (SimReplay *replay, SimActive *active)
{
  const SimCollective *collective = &active->collective;
  int64_t hardware_ps = sim_collective_hardware_ps (collective, replay->machine);
  int64_t local_ps = replay->ranks[active->rank].local_ps, done_ps = 0;
  bool root = collective->root == (int32_t) collective->rank, waits;
  Meeting *meeting =
      meeting_join (replay, active->comm, active->sequence, collective->n_ranks, local_ps);

  if (collective->kind == TRACE_OP_BCAST)
    waits = meet_bcast (replay, meeting, active, hardware_ps, root, &done_ps);
  else if (collective->kind == TRACE_OP_REDUCE)
    waits = meet_reduce (replay, meeting, active, hardware_ps, root, &done_ps);
  else
    waits = meet_all (replay, active->rank, meeting, active, hardware_ps);
  meeting_leave (replay, meeting);
  if (active->blocks)
    sim_rank_wait_until (replay, active->rank, done_ps);
  if (active->blocks || !waits)
    sim_active_end (replay, active, MAX (local_ps, done_ps));
}

/* The network has done it alone: whether the rank is in MPI does not matter. */
void
sim_meet_met (SimReplay *replay, uint32_t rank, uint64_t cookie)
{
  SimActive *active =
      sim_active_find (replay, rank, sim_cookie_high (cookie), sim_cookie_low (cookie));

  sim_active_end (replay, active, replay->now_ps);
  sim_rank_wake (replay, rank);
}

/* -- making communicators ------------------------------------------------ */

/* From one rank's processor to another's.  On a fabric most of it is the way to
 * the adapter and back, on a torus it is the processors'. */
static int64_t
message_ps (const TopoParameters *p)
{
  int64_t processors_ps = p->send_overhead_ps + p->receive_overhead_ps;

  return p->family == TOPO_FAMILY_TORUS ? processors_ps
                                        : processors_ps + 2 * p->fragment_overhead_ps +
                                              p->hca_send_latency_ps + p->hca_receive_latency_ps;
}

/* Like an allreduce of 8 bytes per member, from the last arrival on: in the
 * network for the whole partition, else one message per doubling. */
static int64_t
creation_ps (const SimReplay *replay, uint32_t parent)
{
  uint32_t n = trace_comms_size (replay->comms, parent), rounds = 0;
  TraceOp op = { .kind = TRACE_OP_ALLREDUCE,
                 .bytes = 8 * (uint64_t) n,
                 .recv_bytes = 8 * (uint64_t) n,
                 .root = TRACE_NO_ROOT };
  SimCollective collective;

  sim_collective_init (&collective, replay->machine, &op, n, 0,
                       trace_comms_is_world (replay->comms, parent));
  if (collective.method == SIM_COLLECTIVE_HARDWARE)
    return sim_collective_hardware_ps (&collective, replay->machine);
  while ((1ull << rounds) < n)
    rounds++;
  return rounds * message_ps (replay->parameters);
}

void
sim_meet_create (SimReplay *replay, uint32_t rank, const TraceOp *op)
{
  uint32_t parent = sim_ops_comm (replay, rank, op), size, sequence;
  g_autoptr (GError) error = NULL;
  bool complete = false;
  Meeting *meeting;

  if (parent == TRACE_COMMS_NULL || !sim_active_number (replay, rank, op, parent, &sequence))
    return;
  size = trace_comms_size (replay->comms, parent);
  if (!trace_comms_create (replay->comms, rank, op, &complete, &error)) {
    sim_report_fail (replay, rank, "%s", error->message);
    return;
  }
  if (size == 1) {
    replay->ranks[rank].local_ps += replay->parameters->call_overhead_ps;
    return;
  }
  meeting = meeting_join (replay, parent, sequence, size, replay->ranks[rank].local_ps);
  g_assert (complete == (meeting->n_arrived == size));
  meet_all (replay, rank, meeting, NULL, creation_ps (replay, parent));
  meeting_leave (replay, meeting);
}
