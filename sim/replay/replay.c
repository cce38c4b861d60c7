/* replay.c - the ranks: their clocks, their loop, the network's callbacks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/ob1.h"

/* Calls that a rank may make ahead of the network's time: bounds the sends
 * that wait in the network, and how late a request to send is answered by a
 * rank that makes many calls without ever blocking. */
#define CALLS_AHEAD 32

void
sim_rank_wait_until (SimReplay *replay, uint32_t rank, int64_t at_ps)
{
  SimRank *it = &replay->ranks[rank];

  if (at_ps <= it->local_ps)
    return;
  if (it->state != SIM_RANK_DONE) {
    replay->result.ranks[rank].wait_ps += at_ps - it->local_ps;
    if (replay->timeline != NULL)
      sim_timeline_wait (replay->timeline, rank, it->local_ps, at_ps);
  }
  it->local_ps = at_ps;
}

void
sim_rank_sleep (SimReplay *replay, uint32_t rank)
{
  replay->ranks[rank].state = SIM_RANK_RUNNING;
  sim_network_timer (replay->network, rank, sim_cookie (SIM_COOKIE_RESUME, 0, 0),
                     replay->ranks[rank].local_ps);
}

/* A rank that has receives open or collectives posted and computed before the
 * call it just made must have answered in that call what came until then, so
 * the network catches up first; a rank with a helper thread need not. */
static void
rank_pause (SimReplay *replay, uint32_t rank, uint32_t calls)
{
  const SimRank *it = &replay->ranks[rank];
  bool must_answer = !replay->parameters->async_progress &&
                     (it->open_receives > 0 || it->open_sends > 0 || sim_active_posted (it)) &&
                     it->computed_ps > replay->now_ps;

  if (it->state == SIM_RANK_READY && it->local_ps > replay->now_ps &&
      (must_answer || calls >= CALLS_AHEAD))
    sim_rank_sleep (replay, rank);
}

/* Does what came while the rank was outside MPI; on a fabric it may be BUSY
 * with that afterwards. */
static void
rank_progress (SimReplay *replay, uint32_t rank)
{
  if (replay->ob1 == NULL)
    sim_pami_progress (replay, rank);
  else
    sim_ob1_progress (replay, rank);
}

void
sim_rank_finish (SimReplay *replay, uint32_t rank)
{
  SimRank *it = &replay->ranks[rank];

  replay->result.ranks[rank].end_ps = it->local_ps;
  if (replay->timeline != NULL)
    sim_timeline_rank_end (replay->timeline, rank, it->local_ps);
  it->state = SIM_RANK_DONE;
  replay->n_done++;
  g_clear_pointer (&it->cursor, trace_cursor_free);
  rank_progress (replay, rank);
  sim_active_progress (replay, rank);
}

gboolean
sim_rank_open (SimReplay *replay, uint32_t rank)
{
  SimRank *it = &replay->ranks[rank];

  if (it->cursor == NULL)
    it->cursor = trace_cursor_new (replay->trace, rank, &replay->error);
  return it->cursor != NULL;
}

/* One operation; true when it was a call and not a gap between calls. */
static bool
rank_step (SimReplay *replay, uint32_t rank)
{
  SimRank *it = &replay->ranks[rank];
  TraceOp op;

  switch (trace_cursor_next (it->cursor, &op, &replay->error)) {
  case TRACE_NEXT_OPERATION: break;
  case TRACE_NEXT_END: sim_rank_finish (replay, rank); return false;
  case TRACE_NEXT_ERROR: return false;
  }
  it->call = op.name;
  replay->n_operations++;
  if (replay->timeline != NULL)
    sim_timeline_call (replay->timeline, rank, &op, it->local_ps);
  sim_ops_execute (replay, rank, &op);
  if (it->local_ps > SIM_LAST_PS)
    sim_report_fail (replay, rank, "simulated time passes %" G_GINT64_FORMAT " s",
                     SIM_LAST_PS / 1000000000000);
  return op.kind != TRACE_OP_COMPUTE;
}

/* Its processor has to finish something before the rank can go on. */
static bool
rank_is_busy (const SimReplay *replay, uint32_t rank)
{
  return replay->ob1 != NULL && sim_ob1_is_occupied (replay, rank);
}

/* Goes on until the rank blocks, sleeps or is done. */
static void
rank_run (SimReplay *replay, uint32_t rank)
{
  SimRank *it = &replay->ranks[rank];
  uint32_t calls = 0;

  if (!sim_rank_open (replay, rank))
    return;
  if (it->state == SIM_RANK_READY && rank_is_busy (replay, rank))
    it->state = SIM_RANK_BUSY;
  rank_pause (replay, rank, calls);
  while (it->state == SIM_RANK_READY && replay->error == NULL) {
    bool call = true;

    if (sim_active_blocks (it))
      sim_active_continue (replay, rank);
    else
      call = rank_step (replay, rank);
    if (replay->ob1 != NULL)
      sim_ob1_call (replay, rank);
    if (it->state == SIM_RANK_READY && it->pending > 0)
      it->state = SIM_RANK_WAITING;
    if (it->state == SIM_RANK_READY && rank_is_busy (replay, rank))
      it->state = SIM_RANK_BUSY;
    if (call)
      rank_pause (replay, rank, ++calls);
  }
}

void
sim_rank_wake (SimReplay *replay, uint32_t rank)
{
  SimRank *it = &replay->ranks[rank];

  if (it->active_ready)
    sim_active_progress (replay, rank);
  if (it->state == SIM_RANK_WAITING && it->pending == 0)
    it->state = SIM_RANK_READY;
  if (it->state == SIM_RANK_READY && replay->error == NULL)
    rank_run (replay, rank);
}

void
sim_rank_take_back (SimReplay *replay, uint32_t rank)
{
  uint32_t request = replay->ranks[rank].cancel;

  replay->ranks[rank].cancel = TOPO_NONE;
  if (request != TOPO_NONE)
    sim_ops_cancel (replay, request);
}

static void
rank_resume (SimReplay *replay, uint32_t rank)
{
  SimRank *it = &replay->ranks[rank];

  if (replay->graphs != NULL) {
    sim_graph_start (replay, rank);
    return;
  }
  it->state = SIM_RANK_READY;
  rank_progress (replay, rank);
  if (it->state != SIM_RANK_BUSY)
    sim_rank_take_back (replay, rank);
  sim_rank_wake (replay, rank);
}

static void
rank_release (SimReplay *replay, uint32_t rank)
{
  replay->ranks[rank].state = SIM_RANK_READY;
  sim_rank_wait_until (replay, rank, replay->now_ps);
  sim_rank_wake (replay, rank);
}

/* -- the network's callbacks --------------------------------------------- */

static void
callback_end (SimReplay *replay, uint32_t rank)
{
  if (replay->ob1 != NULL)
    sim_ob1_go (replay, rank);
}

static void
replay_delivered (void *client, const SimMessage *message, int64_t now_ps)
{
  SimReplay *replay = client;
  uint32_t transfer = sim_cookie_low (message->cookie);

  if (replay->error != NULL)
    return;
  replay->now_ps = now_ps;
  switch (sim_cookie_kind (message->cookie)) {
  case SIM_COOKIE_EAGER:
  case SIM_COOKIE_ASK: sim_protocol_arrive (replay, transfer); break;
  case SIM_COOKIE_GET: sim_rendezvous_get (replay, message); break;
  case SIM_COOKIE_DATA: sim_rendezvous_data (replay, message); break;
  case SIM_COOKIE_ACK: sim_rendezvous_ack (replay, transfer); break;
  case SIM_COOKIE_DIRECT:
    sim_direct_arrived (replay, message->destination_rank, message->cookie);
    break;
  case SIM_COOKIE_ACCESS: sim_window_serve (replay, transfer); break;
  case SIM_COOKIE_ACCESSED: sim_window_accessed (replay, transfer); break;
  case SIM_COOKIE_OB1:
    sim_ob1_event (replay, message->destination_rank, message->cookie, message->bytes);
    break;
  case SIM_COOKIE_COPIED:
  case SIM_COOKIE_RESUME:
  case SIM_COOKIE_RELEASE:
  case SIM_COOKIE_BEGIN:
  case SIM_COOKIE_END:
  case SIM_COOKIE_MET: g_assert_not_reached ();
  }
  callback_end (replay, message->destination_rank);
}

static void
replay_timer (void *client, uint32_t rank, uint64_t cookie, int64_t now_ps)
{
  SimReplay *replay = client;

  if (replay->error != NULL)
    return;
  replay->now_ps = now_ps;
  switch (sim_cookie_kind (cookie)) {
  case SIM_COOKIE_EAGER:
  case SIM_COOKIE_ASK: sim_protocol_arrive (replay, sim_cookie_low (cookie)); break;
  case SIM_COOKIE_COPIED: sim_rendezvous_copied (replay, sim_cookie_low (cookie)); break;
  case SIM_COOKIE_DIRECT: sim_direct_arrived (replay, rank, cookie); break;
  case SIM_COOKIE_RESUME: rank_resume (replay, rank); break;
  case SIM_COOKIE_RELEASE: rank_release (replay, rank); break;
  case SIM_COOKIE_MET: sim_meet_met (replay, rank, cookie); break;
  case SIM_COOKIE_ACCESSED: sim_window_accessed (replay, sim_cookie_low (cookie)); break;
  case SIM_COOKIE_OB1: sim_ob1_event (replay, rank, cookie, 0); break;
  case SIM_COOKIE_BEGIN: sim_graph_begin (replay, rank, sim_cookie_low (cookie)); break;
  case SIM_COOKIE_END: sim_graph_end (replay, rank, sim_cookie_low (cookie)); break;
  case SIM_COOKIE_ACCESS:
  case SIM_COOKIE_GET:
  case SIM_COOKIE_DATA:
  case SIM_COOKIE_ACK: g_assert_not_reached ();
  }
  callback_end (replay, rank);
}

/* Fabrics: an acknowledgement has come back. */
static void
replay_sent (void *client, const SimMessage *message, int64_t now_ps)
{
  SimReplay *replay = client;

  if (replay->error != NULL)
    return;
  replay->now_ps = now_ps;
  sim_ob1_sent (replay, message);
  callback_end (replay, message->source_rank);
}

const SimClient sim_replay_client = { replay_delivered, replay_timer, replay_sent };

/* -- life ---------------------------------------------------------------- */

static void
rank_init (SimRank *rank, uint32_t node)
{
  *rank = (SimRank){ .node = node,
                     .first_early = TOPO_NONE,
                     .first_deferred = TOPO_NONE,
                     .last_deferred = TOPO_NONE,
                     .cancel = TOPO_NONE,
                     .next_meeting = TOPO_NONE,
                     .call = "the start",
                     .state = SIM_RANK_RUNNING };
  sim_match_queue_init (&rank->matching);
}

SimReplay *
sim_replay_new (Trace *trace, const TopoMachine *machine, const TopoMapping *mapping,
                const SimReplayOptions *options, GError **error)
{
  SimReplay *replay;

  if (trace_ranks (trace) != mapping->n_ranks) {
    g_set_error (error, SIM_ERROR, SIM_ERROR_TRACE, "%s: %u ranks, but the mapping places %u",
                 trace_path (trace), trace_ranks (trace), mapping->n_ranks);
    return NULL;
  }
  replay = g_new0 (SimReplay, 1);
  replay->trace = trace;
  replay->machine = machine;
  replay->mapping = mapping;
  replay->parameters = &machine->parameters;
  replay->options = *options;
  replay->n_ranks = replay->result.n_ranks = mapping->n_ranks;
  replay->ranks = g_new (SimRank, replay->n_ranks);
  for (uint32_t rank = 0; rank < replay->n_ranks; rank++)
    rank_init (&replay->ranks[rank], mapping->node[rank]);
  replay->result.ranks = g_new0 (SimRankTimes, replay->n_ranks);
  replay->result.warnings = g_ptr_array_new_with_free_func (g_free);
  replay->comms = trace_comms_new (replay->n_ranks);
  replay->agreement = sim_agreement_new (trace, replay->comms);
  replay->edges = sim_edges_new (replay->n_ranks);
  replay->first_free_request = replay->first_free_transfer = TOPO_NONE;
  sim_match_pool_init (&replay->match_pool);
  if (machine->fabric != NULL)
    replay->ob1 = sim_ob1_new (replay->n_ranks);
  sim_meet_init (replay);
  sim_window_init (replay);
  sim_graph_init (replay);
  replay->timeline = options->timeline;
  if (replay->timeline != NULL)
    sim_timeline_begin (replay->timeline, &replay->now_ps);
  return replay;
}

static void
rank_clear (SimRank *rank)
{
  trace_cursor_free (rank->cursor);
  sim_active_clear (rank);
  g_clear_pointer (&rank->early_direct, g_array_unref);
  sim_match_queue_clear (&rank->matching);
  trace_map_clear (&rank->handles);
  trace_map_clear (&rank->peers);
  trace_map_clear (&rank->sequences);
}

void
sim_replay_free (SimReplay *replay)
{
  if (replay == NULL)
    return;
  for (uint32_t rank = 0; rank < replay->n_ranks; rank++)
    rank_clear (&replay->ranks[rank]);
  sim_graph_free (replay);
  for (uint32_t warning = 0; warning < SIM_N_WARNINGS; warning++)
    g_free (replay->warnings[warning].place);
  sim_match_pool_clear (&replay->match_pool);
  sim_agreement_free (replay->agreement);
  trace_comms_free (replay->comms);
  sim_edges_free (replay->edges);
  g_hash_table_unref (replay->meetings);
  g_hash_table_unref (replay->windows);
  g_ptr_array_unref (replay->result.warnings);
  g_clear_error (&replay->error);
  g_free (replay->result.ranks);
  g_free (replay->ranks);
  g_free (replay->requests);
  g_free (replay->transfers);
  g_free (replay->pacers);
  sim_ob1_free (replay->ob1, replay->n_ranks);
  g_free (replay);
}

gboolean
sim_replay_run (SimReplay *replay, SimNetwork *network, GError **error)
{
  replay->network = network;
  if (replay->ob1 != NULL)
    sim_ob1_use_memory (replay);
  for (uint32_t rank = 0; rank < replay->n_ranks; rank++)
    sim_rank_sleep (replay, rank);
  if (!sim_network_run (network, error))
    return FALSE;
  if (replay->error != NULL) {
    g_propagate_error (error, g_steal_pointer (&replay->error));
    return FALSE;
  }
  if (replay->n_done < replay->n_ranks) {
    sim_report_deadlock (replay, error);
    return FALSE;
  }
  sim_report_finish (replay);
  return TRUE;
}

const SimReplayResult *
sim_replay_result (const SimReplay *replay)
{
  return &replay->result;
}

const SimEdges *
sim_replay_edges (const SimReplay *replay)
{
  return replay->edges;
}

bool
sim_replay_knows_sources (const SimReplay *replay)
{
  return replay->knows_sources;
}

static uint64_t
operations_count (const SimReplay *replay, uint32_t rank)
{
  g_autoptr (TraceCursor) cursor = trace_cursor_new (replay->trace, rank, NULL);
  uint64_t n = 0;
  TraceOp op;

  while (cursor != NULL && trace_cursor_next (cursor, &op, NULL) == TRACE_NEXT_OPERATION)
    n++;
  return n;
}

double
sim_replay_progress (SimReplay *replay)
{
  double ranks_share = (double) replay->n_done / MAX (replay->n_ranks, 1u), share;

  if (replay->operations_guess == 0)
    replay->operations_guess =
        MAX (1u, operations_count (replay, replay->n_ranks / 2) * replay->n_ranks);
  share = (double) replay->n_operations / (double) replay->operations_guess;
  return MAX (ranks_share, MIN (share, 0.99));
}
