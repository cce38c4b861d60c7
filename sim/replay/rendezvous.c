/* rendezvous.c - data by remote get, its pacing, and copies within a node.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The receiver asks, the messaging unit of the data's owner sends without its
 * processor, the receiver acknowledges (bgq.md section 3.3).  On partitions
 * of more than a rack large transfers are paced: the receiving node's agent
 * asks for them in pieces, one piece per transfer in turn, with a limit on
 * the bytes that the node has asked for (section 3.4). */
#include "sim/replay/replay_private.h"

int64_t
sim_rendezvous_copy_ps (const SimReplay *replay, uint64_t bytes)
{
  double copy_ps = (double) bytes * 1e12 / (double) replay->parameters->shm_bandwidth_Bps + 0.5;

  return (int64_t) MIN (copy_ps, (double) SIM_LAST_PS);
}

static uint64_t
piece_size (const SimTransfer *transfer, uint32_t piece)
{
  uint64_t begin = (uint64_t) piece * transfer->piece_bytes;

  return transfer->piece_bytes == 0 ? transfer->bytes
                                    : MIN (transfer->piece_bytes, transfer->bytes - begin);
}

/* Dynamic routing is for transfers that PAMI would route so, up to a limit
 * per receiving rank; the others are deterministic (section 2.7). */
static void
routing_choose (SimReplay *replay, SimTransfer *transfer)
{
  SimRank *rank = &replay->ranks[transfer->destination];
  RouteChoice choice =
      route_pami_data (replay->machine, replay->options.policy,
                       replay->ranks[transfer->envelope.source].node, rank->node, transfer->bytes);

  transfer->dynamic =
      choice.vc == ROUTE_VC_DYNAMIC && rank->n_dynamic < replay->parameters->dynamic_messages;
  rank->n_dynamic += transfer->dynamic;
}

/* One remote get.  Deterministic data is followed by its completion packet,
 * a second descriptor; dynamic data is counted by the receiving unit. */
static void
ask (SimReplay *replay, uint32_t transfer, uint32_t piece, int64_t at_ps)
{
  const SimTransfer *it = &replay->transfers[transfer];

  sim_network_send (replay->network,
                    &(SimMessage){ .cookie = sim_cookie (SIM_COOKIE_GET, piece, transfer),
                                   .source_rank = it->destination,
                                   .destination_rank = it->envelope.source,
                                   .kind = SIM_MESSAGE_REMOTE_GET,
                                   .descriptors = it->dynamic ? 1 : 2 },
                    at_ps);
}

/* -- pacing -------------------------------------------------------------- */

static void
pacer_append (SimReplay *replay, SimPacer *pacer, uint32_t transfer)
{
  replay->transfers[transfer].next = TOPO_NONE;
  if (pacer->first == TOPO_NONE)
    pacer->first = transfer;
  else
    replay->transfers[pacer->last].next = transfer;
  pacer->last = transfer;
}

static SimPacer *
pacer_of (SimReplay *replay, uint32_t rank)
{
  uint32_t n_nodes = topo_shape_nodes (&replay->machine->shape);

  if (replay->pacers == NULL) {
    replay->pacers = g_new (SimPacer, n_nodes);
    for (uint32_t node = 0; node < n_nodes; node++)
      replay->pacers[node] = (SimPacer){ TOPO_NONE, TOPO_NONE, 0 };
  }
  return &replay->pacers[replay->ranks[rank].node];
}

/* Asks for as many pieces as the window has room for, round robin.  A node
 * that waits for nothing may always ask for one. */
static void
pacer_run (SimReplay *replay, SimPacer *pacer, uint64_t window_bytes)
{
  while (pacer->first != TOPO_NONE) {
    uint32_t transfer = pacer->first;
    SimTransfer *it = &replay->transfers[transfer];
    uint32_t piece = (uint32_t) (it->asked_bytes / it->piece_bytes);
    uint64_t bytes = piece_size (it, piece);

    if (pacer->outstanding_bytes > 0 && pacer->outstanding_bytes + bytes > window_bytes)
      return;
    pacer->first = it->next;
    pacer->outstanding_bytes += bytes;
    it->asked_bytes += bytes;
    if (it->asked_bytes < it->bytes)
      pacer_append (replay, pacer, transfer);
    ask (replay, transfer, piece, MAX (replay->now_ps, it->at_ps));
  }
}

static bool
is_paced (const SimReplay *replay, const SimTransfer *transfer, uint64_t *piece_bytes,
          uint64_t *window_bytes)
{
  return route_pami_paced (replay->machine, replay->ranks[transfer->envelope.source].node,
                           replay->ranks[transfer->destination].node, transfer->bytes, piece_bytes,
                           window_bytes);
}

/* -- what the protocol and the network call ------------------------------ */

void
sim_rendezvous_fetch (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  SimTransfer *it = &replay->transfers[transfer];
  uint64_t piece_bytes, window_bytes;

  it->at_ps = at_ps;
  if (sim_transfer_is_local (replay, it)) {
    sim_network_timer (replay->network, it->destination,
                       sim_cookie (SIM_COOKIE_COPIED, 0, transfer),
                       at_ps + sim_rendezvous_copy_ps (replay, it->bytes));
    return;
  }
  routing_choose (replay, it);
  if (is_paced (replay, it, &piece_bytes, &window_bytes)) {
    SimPacer *pacer = pacer_of (replay, it->destination);

    it->piece_bytes = (uint32_t) piece_bytes;
    pacer_append (replay, pacer, transfer);
    pacer_run (replay, pacer, window_bytes);
  } else
    ask (replay, transfer, 0, at_ps);
}

void
sim_rendezvous_get (SimReplay *replay, const SimMessage *message)
{
  uint32_t transfer = sim_cookie_low (message->cookie), piece = sim_cookie_high (message->cookie);
  const SimTransfer *it = &replay->transfers[transfer];

  sim_network_send (replay->network,
                    &(SimMessage){ .cookie = sim_cookie (SIM_COOKIE_DATA, piece, transfer),
                                   .bytes = piece_size (it, piece),
                                   .source_rank = message->destination_rank,
                                   .destination_rank = message->source_rank,
                                   .kind = SIM_MESSAGE_DATA,
                                   .force_deterministic = !it->dynamic,
                                   .whole_bytes = it->piece_bytes > 0 ? it->bytes : 0 },
                    replay->now_ps);
}

void
sim_rendezvous_data (SimReplay *replay, const SimMessage *message)
{
  uint32_t transfer = sim_cookie_low (message->cookie);
  SimTransfer *it = &replay->transfers[transfer];
  uint64_t piece_bytes, window_bytes;

  it->arrived_bytes += message->bytes;
  if (it->piece_bytes > 0 && is_paced (replay, it, &piece_bytes, &window_bytes)) {
    SimPacer *pacer = pacer_of (replay, it->destination);

    pacer->outstanding_bytes -= message->bytes;
    pacer_run (replay, pacer, window_bytes);
  }
  if (it->arrived_bytes < it->bytes)
    return;
  replay->ranks[it->destination].n_dynamic -= it->dynamic;
  sim_pami_data (replay, transfer);
}

/* The end of a copy is seen by both ranks of the node. */
void
sim_rendezvous_copied (SimReplay *replay, uint32_t transfer)
{
  uint32_t source = replay->transfers[transfer].envelope.source;
  uint32_t request = replay->transfers[transfer].send_request;

  if (request != TOPO_NONE)
    sim_request_complete (replay, request, replay->now_ps);
  sim_pami_data (replay, transfer);
  sim_rank_wake (replay, source);
}

void
sim_rendezvous_ack (SimReplay *replay, uint32_t transfer)
{
  uint32_t source = replay->transfers[transfer].envelope.source;
  uint32_t request = replay->transfers[transfer].send_request;

  sim_transfer_give (replay, transfer);
  if (request != TOPO_NONE)
    sim_request_complete (replay, request, replay->now_ps);
  sim_rank_wake (replay, source);
}
