/* pami_protocol.c - the protocol of Blue Gene/Q's MPI: eager or rendezvous, progress.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * bgq.md sections 3.3 and 4.  Up to eager_bytes the data goes with the
 * envelope and the sender is done when it is handed over; longer messages,
 * and all synchronous ones (mpich issue 1878: there a rendezvous is always
 * better), send a request first.  Within a node both go through shared
 * memory: shm_latency and one copy at shm_bandwidth; copies of one node do
 * not slow each other down.
 *
 * The receiver's processor answers requests, takes messages out and
 * acknowledges only while its rank is inside MPI, unless [mpi] async_progress
 * lets another hardware thread do it.  What comes while a rank is outside is
 * deferred to its next call. */
#include "sim/replay/replay_private.h"

/* -- sending ------------------------------------------------------------- */

static void
transfer_launch (SimReplay *replay, uint32_t transfer)
{
  const SimTransfer *it = &replay->transfers[transfer];
  const SimRank *source = &replay->ranks[it->envelope.source];
  bool eager = it->state == SIM_COOKIE_EAGER;
  uint64_t cookie = sim_cookie ((SimCookie) it->state, 0, transfer);

  if (sim_transfer_is_local (replay, it)) {
    int64_t copy_ps = eager ? sim_rendezvous_copy_ps (replay, it->bytes) : 0;

    sim_network_timer (replay->network, it->destination, cookie,
                       source->local_ps + replay->parameters->shm_latency_ps + copy_ps);
    return;
  }
  sim_network_send (replay->network,
                    &(SimMessage){ .cookie = cookie,
                                   .bytes = eager ? it->bytes : 0,
                                   .source_rank = it->envelope.source,
                                   .destination_rank = it->destination,
                                   .kind = eager ? SIM_MESSAGE_EAGER : SIM_MESSAGE_CONTROL },
                    source->local_ps);
}

void
sim_pami_send (SimReplay *replay, uint32_t transfer)
{
  SimTransfer *it = &replay->transfers[transfer];
  uint32_t request = it->send_request;
  uint8_t mode = replay->requests[request].mode;
  bool eager = it->bytes <= replay->parameters->eager_bytes && mode != TRACE_SEND_SYNCHRONOUS;
  bool done = eager || mode == TRACE_SEND_BUFFERED;
  SimRank *rank = &replay->ranks[it->envelope.source];

  it->state = eager ? SIM_COOKIE_EAGER : SIM_COOKIE_ASK;
  if (done)
    it->send_request = TOPO_NONE;
  /* A graph has charged its processor already. */
  if (replay->graphs == NULL)
    rank->local_ps += replay->parameters->send_overhead_ps;
  transfer_launch (replay, transfer);
  if (done)
    sim_request_complete (replay, request, rank->local_ps);
}

/* -- the receiver's processor -------------------------------------------- */

/* A message is in: its receive and, over the network, its sender learn it.
 * Neither a transfer nor a request that is given back is used any more. */
static void
transfer_finish (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  const SimTransfer *it = &replay->transfers[transfer];
  uint32_t source = it->envelope.source, destination = it->destination;
  bool acknowledge = it->state != SIM_COOKIE_EAGER && !sim_transfer_is_local (replay, it);

  sim_protocol_received (replay, transfer, at_ps);
  sim_request_complete (replay, it->receive_request, at_ps);
  if (!acknowledge) {
    sim_transfer_give (replay, transfer);
    return;
  }
  sim_network_send (replay->network,
                    &(SimMessage){ .cookie = sim_cookie (SIM_COOKIE_ACK, 0, transfer),
                                   .source_rank = destination,
                                   .destination_rank = source,
                                   .kind = SIM_MESSAGE_CONTROL },
                    at_ps);
}

/* True when there is nothing to fetch: no data, and no copy to wait for. */
static bool
is_bare_request (const SimReplay *replay, const SimTransfer *transfer)
{
  return transfer->bytes == 0 &&
         replay->ranks[transfer->envelope.source].node != replay->ranks[transfer->destination].node;
}

void
sim_pami_taken (SimReplay *replay, uint32_t transfer)
{
  transfer_finish (replay, transfer, replay->now_ps);
}

/* In a graph requests to send are answered at once, as nothing says which
 * processor would do it. */
static void
graph_process (SimReplay *replay, uint32_t transfer)
{
  const SimTransfer *it = &replay->transfers[transfer];

  if (it->state == SIM_COOKIE_ASK && !is_bare_request (replay, it))
    sim_rendezvous_fetch (replay, transfer, replay->now_ps);
  else
    sim_graph_arrived (replay, it->receive_request, transfer);
}

/* Treats what came of a matched transfer.  `agent`: not the rank's own
 * processor does it, so the rank's clock does not move. */
static void
transfer_process (SimReplay *replay, uint32_t transfer, bool agent)
{
  const SimTransfer *it = &replay->transfers[transfer];
  SimRank *rank = &replay->ranks[it->destination];
  int64_t at_ps = MAX (replay->now_ps, replay->requests[it->receive_request].at_ps);

  if (replay->graphs != NULL) {
    graph_process (replay, transfer);
    return;
  }
  if (!agent)
    sim_rank_wait_until (replay, it->destination, replay->now_ps);
  /* A rank that is done stays in MPI_Finalize, but comes there in its own time. */
  if (!agent || rank->state == SIM_RANK_DONE)
    at_ps = MAX (at_ps, rank->local_ps);
  if (it->state == SIM_COOKIE_ASK && !is_bare_request (replay, it)) {
    sim_rendezvous_fetch (replay, transfer, at_ps);
    return;
  }
  at_ps += replay->parameters->receive_overhead_ps;
  if (!agent)
    rank->local_ps = at_ps;
  transfer_finish (replay, transfer, at_ps);
}

static void
defer (SimReplay *replay, SimRank *rank, uint32_t transfer)
{
  replay->transfers[transfer].next = TOPO_NONE;
  if (rank->first_deferred == TOPO_NONE)
    rank->first_deferred = transfer;
  else
    replay->transfers[rank->last_deferred].next = transfer;
  rank->last_deferred = transfer;
}

/* Something came for a matched transfer: now, or when the rank is back. */
static void
process_or_defer (SimReplay *replay, uint32_t transfer)
{
  SimRank *rank = &replay->ranks[replay->transfers[transfer].destination];
  bool agent = replay->parameters->async_progress || rank->state == SIM_RANK_DONE;

  if (agent || rank->state != SIM_RANK_RUNNING)
    transfer_process (replay, transfer, agent);
  else
    defer (replay, rank, transfer);
}

void
sim_pami_matched (SimReplay *replay, uint32_t transfer, bool posting)
{
  if (posting)
    transfer_process (replay, transfer, false);
  else
    process_or_defer (replay, transfer);
}

void
sim_pami_progress (SimReplay *replay, uint32_t rank)
{
  SimRank *it = &replay->ranks[rank];
  uint32_t transfer = it->first_deferred;

  it->first_deferred = it->last_deferred = TOPO_NONE;
  while (transfer != TOPO_NONE) {
    uint32_t next = replay->transfers[transfer].next;

    transfer_process (replay, transfer, it->state == SIM_RANK_DONE);
    transfer = next;
  }
}

void
sim_pami_data (SimReplay *replay, uint32_t transfer)
{
  uint32_t rank = replay->transfers[transfer].destination;

  replay->transfers[transfer].state = SIM_COOKIE_DATA;
  process_or_defer (replay, transfer);
  sim_rank_wake (replay, rank);
}
