/* messages.c - messages between ranks: numbers, order, matching.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * All messaging libraries have this in common; SimProtocol carries the messages.
 *
 * MPI's messages do not overtake.  Packets of one pair keep their order on a
 * torus, but copies within a node, adaptive switches and the flow network do
 * not, so envelopes are numbered per pair of ranks and those that come early
 * are kept back. */
#include "sim/replay/replay_private.h"

uint32_t
sim_transfer_take (SimReplay *replay, SimTransfer value)
{
  uint32_t transfer = replay->first_free_transfer;

  if (transfer != TOPO_NONE)
    replay->first_free_transfer = replay->transfers[transfer].next;
  else {
    if (replay->n_transfers == replay->transfers_capacity) {
      replay->transfers_capacity = MAX (256u, 2 * replay->transfers_capacity);
      replay->transfers = sim_records_resize (replay->transfers, replay->n_transfers,
                                              replay->transfers_capacity, sizeof (SimTransfer));
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

void
sim_message_count (SimReplay *replay, uint32_t source, uint32_t destination, uint64_t bytes)
{
  replay->result.messages++;
  replay->result.message_bytes += bytes;
  sim_edges_add (replay->edges, source, destination, 1, bytes);
}

void
sim_message_send (SimReplay *replay, uint32_t request)
{
  SimRequest it = replay->requests[request];
  uint32_t serial = sim_edges_send (replay->edges, it.rank, it.peer, it.bytes);
  uint32_t transfer =
      sim_transfer_take (replay, (SimTransfer){ .bytes = it.bytes,
                                                .envelope = sim_request_envelope (&it),
                                                .destination = it.peer,
                                                .serial = serial,
                                                .send_request = request,
                                                .next = TOPO_NONE });

  replay->result.messages++;
  replay->result.message_bytes += it.bytes;
  if (replay->timeline != NULL) {
    /* A graph has charged its processor already. */
    int64_t charged_ps = replay->graphs == NULL ? 0 : replay->parameters->mpi.send_overhead_ps;

    sim_timeline_sent (replay->timeline, transfer, replay->ranks[it.rank].local_ps - charged_ps);
  }
  replay->protocol->send (replay, transfer);
}

static void
transfer_match (SimReplay *replay, uint32_t transfer, uint32_t request, SimMatched how)
{
  const SimRequest *receive = &replay->requests[request];

  if (receive->bytes < replay->transfers[transfer].bytes)
    sim_report_warn (replay, receive->rank, SIM_WARNING_TRUNCATED);
  replay->transfers[transfer].receive_request = request;
  replay->protocol->matched (replay, transfer, how);
}

void
sim_message_post (SimReplay *replay, uint32_t request)
{
  SimRequest *it = &replay->requests[request];
  SimRank *rank = &replay->ranks[it->rank];
  uint32_t transfer;

  it->at_ps = rank->local_ps;
  rank->open_receives++;
  transfer =
      sim_match_post (&replay->match_pool, &rank->matching, sim_request_envelope (it), request);
  if (transfer != TOPO_NONE)
    transfer_match (replay, transfer, request, SIM_MATCHED_BY_POST);
}

/* The next envelope of its pair. */
static void
envelope_accept (SimReplay *replay, uint32_t transfer)
{
  SimTransfer *it = &replay->transfers[transfer];
  uint32_t destination = it->destination;
  SimRank *rank = &replay->ranks[destination];
  SimEnvelope envelope = it->envelope;
  uint32_t request;

  it->at_ps = replay->now_ps;
  request = sim_match_arrive (&replay->match_pool, &rank->matching, envelope, transfer);
  if (request != TOPO_NONE) {
    transfer_match (replay, transfer, request, SIM_MATCHED_BY_ARRIVAL);
    return;
  }
  replay->protocol->matched (replay, transfer, SIM_UNMATCHED);
  if (rank->state == SIM_RANK_PROBING && sim_match_accepts (rank->probe, envelope)) {
    sim_rank_wait_until (replay, destination, replay->now_ps);
    rank->state = SIM_RANK_READY;
    replay->protocol->progress (replay, destination, SIM_MOMENT_ENTERED);
  }
}

void
sim_message_arrive (SimReplay *replay, uint32_t transfer)
{
  SimTransfer *it = &replay->transfers[transfer];
  uint32_t destination = it->destination, source = it->envelope.source, serial = it->serial;
  SimRank *rank = &replay->ranks[destination];

  if (serial != *sim_match_received (&rank->matching, source)) {
    it->next = rank->first_early;
    rank->first_early = transfer;
    return;
  }
  while (transfer != TOPO_NONE) {
    uint32_t *link = &rank->first_early;

    *sim_match_received (&rank->matching, source) = ++serial;
    envelope_accept (replay, transfer);
    /* The next of the pair may be among those that came early. */
    for (; *link != TOPO_NONE; link = &it->next) {
      it = &replay->transfers[*link];
      if (it->envelope.source == source && it->serial == serial)
        break;
    }
    transfer = *link;
    if (transfer != TOPO_NONE)
      *link = it->next;
  }
  sim_rank_wake (replay, destination);
}

void
sim_message_received (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  const SimTransfer *it = &replay->transfers[transfer];

  if (replay->timeline != NULL)
    sim_timeline_received (replay->timeline, transfer, it->envelope.source, it->destination,
                           it->bytes, at_ps);
}
