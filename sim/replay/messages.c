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
#include "sim/replay/critical.h"

#include <stdlib.h>
#include <sys/mman.h>

/* -- transfers -------------------------------------------------------------- */

SimTransferTable *
sim_transfers_new (uint32_t n_views)
{
  SimTransferTable *table = g_new0 (SimTransferTable, 1);

  table->given_back = sim_records_resize (NULL, 0, n_views, SIM_CACHE_LINE);
  for (uint32_t view = 0; view < n_views; view++)
    table->given_back[view * SIM_LINE_WORDS] = TOPO_NONE;
  return table;
}

void
sim_transfers_free (SimTransferTable *table)
{
  for (uint32_t segment = 0; segment < table->n_segments; segment++) {
    free (table->segment[segment]);
    g_free (table->path[segment]);
  }
  sim_records_free (table->given_back);
  g_free (table);
}

/* A small run needs a part of its first segment only, so that this one is not in a huge page. */
static void
segment_make (const SimReplay *replay, uint32_t segment)
{
  SimTransferTable *table = replay->transfers;
  size_t bytes = SIM_SEGMENT * sizeof (SimTransfer);

  table->segment[segment] = aligned_alloc (segment == 0 ? SIM_CACHE_LINE : bytes, bytes);
  if (table->segment[segment] == NULL)
    g_error ("cannot allocate %zu bytes", bytes);
#ifdef MADV_HUGEPAGE
  if (segment > 0)
    madvise (table->segment[segment], bytes, MADV_HUGEPAGE);
#endif
  if (replay->critical != NULL)
    table->path[segment] = g_new0 (SimPath, SIM_SEGMENT);
}

static void
segment_add (SimReplay *replay)
{
  SimTransferTable *table = replay->transfers;
  uint32_t segment = __atomic_fetch_add (&table->n_segments, 1, __ATOMIC_RELAXED);

  g_assert (segment < SIM_SEGMENTS - 1); /* TOPO_NONE is no transfer */
  segment_make (replay, segment);
  table->home[segment] = (uint16_t) replay->view;
  replay->next_transfer = segment << SIM_SEGMENT_BITS;
  replay->end_transfer = replay->next_transfer + SIM_SEGMENT;
}

static uint32_t
segment_used (const SimReplay *replay, uint32_t segment)
{
  const SimReplay *view = replay->views[replay->transfers->home[segment]];
  uint32_t first = segment << SIM_SEGMENT_BITS;

  return view->end_transfer == first + SIM_SEGMENT ? view->next_transfer - first : SIM_SEGMENT;
}

void
sim_transfers_dump (SimReplay *replay, BaseDump *dump)
{
  SimTransferTable *table = replay->transfers;
  uint32_t n;

  base_dump_section (dump, "transfers");
  n = (uint32_t) base_dump_count (dump, table->n_segments, sizeof (SimTransfer));
  if (base_dump_loads (dump)) {
    table->n_segments = MIN (n, SIM_SEGMENTS - 1);
    for (uint32_t segment = 0; segment < table->n_segments; segment++)
      segment_make (replay, segment);
  }
  base_dump_array (dump, table->home, table->n_segments, sizeof *table->home);
  base_dump_array (dump, table->given_back, (uint64_t) replay->n_views * SIM_LINE_WORDS,
                   sizeof *table->given_back);
  for (uint32_t segment = 0; segment < table->n_segments; segment++)
    base_dump_array (dump, table->segment[segment], segment_used (replay, segment),
                     sizeof (SimTransfer));
  for (uint32_t segment = 0; replay->critical != NULL && segment < table->n_segments; segment++)
    base_dump_array (dump, table->path[segment], segment_used (replay, segment), sizeof (SimPath));
}

uint32_t
sim_transfer_take (SimReplay *replay, SimTransfer value)
{
  uint32_t transfer = replay->first_free_transfer;

  if (transfer == TOPO_NONE && replay->n_views > 1)
    transfer = __atomic_exchange_n (&replay->transfers->given_back[replay->view * SIM_LINE_WORDS],
                                    TOPO_NONE, __ATOMIC_ACQUIRE);
  if (transfer != TOPO_NONE)
    replay->first_free_transfer = sim_transfer_at (replay, transfer)->next;
  else {
    if (replay->next_transfer == replay->end_transfer)
      segment_add (replay);
    transfer = replay->next_transfer++;
  }
  *sim_transfer_at (replay, transfer) = value;
  return transfer;
}

void
sim_transfer_give (SimReplay *replay, uint32_t transfer)
{
  SimTransferTable *table = replay->transfers;
  uint32_t home = table->home[transfer >> SIM_SEGMENT_BITS];
  SimTransfer *it = sim_transfer_at (replay, transfer);
  uint32_t *given_back = &table->given_back[home * SIM_LINE_WORDS];

  sim_critical_give (replay, transfer);
  if (home == replay->view) {
    it->next = replay->first_free_transfer;
    replay->first_free_transfer = transfer;
    return;
  }
  it->next = __atomic_load_n (given_back, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n (given_back, &it->next, transfer, true, __ATOMIC_RELEASE,
                                       __ATOMIC_RELAXED))
    continue;
}

/* -- messages --------------------------------------------------------------- */

/* rank: whose loop it may belong to; the view handles it. */
static void
count_one (SimReplay *replay, uint32_t rank, uint64_t bytes)
{
  replay->result.messages++;
  replay->result.message_bytes += bytes;
  if (replay->iterations != NULL && sim_iterations_in_loop (replay->iterations, rank)) {
    replay->loop_messages++;
    replay->loop_bytes += bytes;
  }
}

void
sim_message_count (SimReplay *replay, uint32_t source, uint32_t destination, uint64_t bytes)
{
  /* Of a message that another view's rank is asked for, this side's loop counts. */
  count_one (replay, sim_replay_handles (replay, source) ? source : destination, bytes);
  if (sim_replay_handles (replay, source)) {
    sim_edges_add (replay->edges, source, destination, 1, bytes);
    return;
  }
  if (replay->distant_edges == NULL)
    replay->distant_edges = sim_edges_new (replay->n_ranks);
  sim_edges_add (replay->distant_edges, source, destination, 1, bytes);
}

/* One of several of a torus's transfer that may be under way together, in both directions. */
static bool
is_piece (const SimReplay *replay, const SimMessage *message)
{
  return (message->kind == SIM_MESSAGE_REMOTE_GET || message->kind == SIM_MESSAGE_DATA) &&
         sim_transfer_at (replay, sim_cookie_low (message->cookie))->piece_bytes > 0;
}

void
sim_message_transmit (SimReplay *replay, SimMessage message, int64_t at_ps)
{
  if (replay->exact != NULL) {
    const BaseMapEntry *meetings =
        base_map_find (&replay->ranks[message.source_rank].sequences, TRACE_COMMS_WORLD);
    uint32_t n = meetings == NULL ? 0 : meetings->value[0];

    message.exact = replay->exact[MIN (n, replay->n_exact - 1)];
  }
  if (replay->critical != NULL && sim_cookie_kind (message.cookie) != SIM_COOKIE_DIRECT &&
      !is_piece (replay, &message))
    sim_critical_send (replay, sim_cookie_low (message.cookie), message.source_rank, at_ps);
  sim_network_send (replay->network, &message, at_ps);
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

  sim_critical_send (replay, transfer, it.rank, replay->ranks[it.rank].local_ps);
  count_one (replay, it.rank, it.bytes);
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

  if (receive->bytes < sim_transfer_at (replay, transfer)->bytes)
    sim_report_warn (replay, receive->rank, SIM_WARNING_TRUNCATED);
  sim_transfer_at (replay, transfer)->receive_request = request;
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
  SimTransfer *it = sim_transfer_at (replay, transfer);
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
  SimTransfer *it = sim_transfer_at (replay, transfer);
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
      it = sim_transfer_at (replay, *link);
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
  const SimTransfer *it = sim_transfer_at (replay, transfer);

  if (replay->timeline != NULL)
    sim_timeline_received (replay->timeline, transfer, it->envelope.source, it->destination,
                           it->bytes, at_ps);
}
