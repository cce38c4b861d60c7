/* protocol.c - messages between ranks: numbers, order, matching.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What every machine's library has in common.  How a message is carried,
 * and by whom, is pami.c's on a torus and ob1.c's on a fabric.
 *
 * MPI's messages do not overtake.  Packets of one pair keep their order on a
 * torus, but copies within a node, adaptive switches and the flow network do
 * not, so envelopes are numbered per pair of ranks and those that come early
 * are kept back. */
#include "sim/replay/ob1.h"

enum { SENT, RECEIVED };

/* -- transfers ----------------------------------------------------------- */

uint32_t
sim_transfer_take (SimReplay *replay, SimTransfer value)
{
  uint32_t transfer = replay->first_free_transfer;

  if (transfer != TOPO_NONE)
    replay->first_free_transfer = replay->transfers[transfer].next;
  else {
    if (replay->n_transfers == replay->transfers_capacity) {
      replay->transfers_capacity = MAX (256u, 2 * replay->transfers_capacity);
      replay->transfers = g_renew (SimTransfer, replay->transfers, replay->transfers_capacity);
    }
    transfer = replay->n_transfers++;
  }
  replay->transfers[transfer] = value;
  return transfer;
}

void
sim_transfer_give (SimReplay *replay, uint32_t transfer)
{
  replay->transfers[transfer].next = replay->first_free_transfer;
  replay->first_free_transfer = transfer;
}

/* Even: what users send; odd: what collectives do on the same communicator. */
uint32_t
sim_protocol_context (uint32_t comm, bool internal)
{
  return comm == TRACE_COMMS_SELF ? UINT32_MAX - 1 - internal : 2 * comm + internal;
}

void
sim_protocol_count (SimReplay *replay, uint32_t source, uint32_t destination, uint64_t bytes)
{
  replay->result.messages++;
  replay->result.message_bytes += bytes;
  sim_edges_add (replay->edges, source, destination, 1, bytes);
}

/* -- sending ------------------------------------------------------------- */

/* A graph has charged its processor already. */
static int64_t
send_began_ps (const SimReplay *replay, uint32_t rank)
{
  int64_t charged_ps = replay->graphs == NULL ? 0 : replay->parameters->send_overhead_ps;

  return replay->ranks[rank].local_ps - charged_ps;
}

void
sim_protocol_send (SimReplay *replay, uint32_t request)
{
  SimRequest it = replay->requests[request];
  uint32_t serial = trace_map_add (&replay->ranks[it.rank].peers, it.peer, 0)->value[SENT]++;
  uint32_t transfer = sim_transfer_take (replay, (SimTransfer){ .bytes = it.bytes,
                                                                .envelope = it.envelope,
                                                                .destination = it.peer,
                                                                .serial = serial,
                                                                .send_request = request,
                                                                .receive_request = TOPO_NONE,
                                                                .next = TOPO_NONE });

  sim_protocol_count (replay, it.rank, it.peer, it.bytes);
  if (replay->timeline != NULL)
    sim_timeline_sent (replay->timeline, transfer, send_began_ps (replay, it.rank));
  if (replay->ob1 == NULL)
    sim_pami_send (replay, transfer);
  else
    sim_ob1_send (replay, transfer);
}

/* -- matching ------------------------------------------------------------ */

static void
transfer_match (SimReplay *replay, uint32_t transfer, uint32_t request)
{
  const SimRequest *receive = &replay->requests[request];

  if (receive->bytes < replay->transfers[transfer].bytes)
    sim_report_warn (replay, receive->rank, SIM_WARNING_TRUNCATED);
  replay->transfers[transfer].receive_request = request;
}

void
sim_protocol_post (SimReplay *replay, uint32_t request)
{
  SimRequest *it = &replay->requests[request];
  SimRank *rank = &replay->ranks[it->rank];
  uint32_t transfer;

  it->at_ps = rank->local_ps;
  rank->open_receives++;
  transfer = sim_match_post (&replay->match_pool, &rank->matching, it->envelope, request);
  if (transfer == TOPO_NONE)
    return;
  transfer_match (replay, transfer, request);
  if (replay->ob1 == NULL)
    sim_pami_matched (replay, transfer, true);
  else
    sim_ob1_matched (replay, transfer, true);
}

static void
envelope_accept (SimReplay *replay, uint32_t transfer)
{
  SimTransfer *it = &replay->transfers[transfer];
  uint32_t destination = it->destination;
  SimRank *rank = &replay->ranks[destination];
  uint32_t request;

  it->at_ps = replay->now_ps;
  request = sim_match_arrive (&replay->match_pool, &rank->matching, it->envelope, transfer);
  if (request != TOPO_NONE) {
    transfer_match (replay, transfer, request);
    if (replay->ob1 == NULL)
      sim_pami_matched (replay, transfer, false);
    else
      sim_ob1_matched (replay, transfer, false);
    return;
  }
  if (replay->ob1 != NULL)
    sim_ob1_unexpected (replay, transfer);
  if (rank->state == SIM_RANK_PROBING && sim_match_accepts (rank->probe, it->envelope)) {
    sim_rank_wait_until (replay, destination, replay->now_ps);
    rank->state = SIM_RANK_READY;
    if (replay->ob1 != NULL)
      sim_ob1_progress (replay, destination);
  }
}

void
sim_protocol_received (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  const SimTransfer *it = &replay->transfers[transfer];

  if (replay->timeline != NULL)
    sim_timeline_received (replay->timeline, transfer, it->envelope.source, it->destination,
                           it->bytes, at_ps);
}

/* Takes the next message of a pair out of the early ones. */
static uint32_t
early_take (SimReplay *replay, SimRank *rank, uint32_t source, uint32_t serial)
{
  uint32_t *link = &rank->first_early;

  while (*link != TOPO_NONE) {
    uint32_t transfer = *link;
    SimTransfer *it = &replay->transfers[transfer];

    if (it->envelope.source == source && it->serial == serial) {
      *link = it->next;
      return transfer;
    }
    link = &it->next;
  }
  return TOPO_NONE;
}

void
sim_protocol_arrive (SimReplay *replay, uint32_t transfer)
{
  SimTransfer *it = &replay->transfers[transfer];
  uint32_t destination = it->destination, source = it->envelope.source;
  SimRank *rank = &replay->ranks[destination];
  uint32_t *expected = &trace_map_add (&rank->peers, source, 0)->value[RECEIVED];

  if (it->serial != *expected) {
    it->next = rank->first_early;
    rank->first_early = transfer;
    return;
  }
  do {
    (*expected)++;
    envelope_accept (replay, transfer);
    transfer = early_take (replay, rank, source, *expected);
  } while (transfer != TOPO_NONE);
  sim_rank_wake (replay, destination);
}

uint64_t
sim_protocol_left (const SimReplay *replay, uint32_t rank)
{
  const SimRank *it = &replay->ranks[rank];
  uint64_t n = it->matching.n_unexpected;

  for (uint32_t transfer = it->first_early; transfer != TOPO_NONE;
       transfer = replay->transfers[transfer].next)
    n++;
  return n;
}
