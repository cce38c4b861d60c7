/* pami_protocol.c - the messaging library of Blue Gene/Q: eager, rendezvous, pacing, progress.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * bgq.md sections 3.3 and 4.  Up to eager_bytes the data goes with the
 * envelope and the sender is done when it is handed over; longer messages,
 * and all synchronous ones (mpich issue 1878: there a rendezvous is always
 * better), send a request first: the receiver asks for the data, the messaging
 * unit of its owner sends it without a processor, the receiver acknowledges.
 * On partitions of more than a rack large transfers are paced: the receiving
 * node's agent asks for them in pieces, one piece per transfer in turn, with a
 * limit on the bytes that the node has asked for (section 3.4).  Within a node
 * both go through shared memory: shm_latency and one copy at shm_bandwidth;
 * copies of one node do not slow each other down.
 *
 * The receiver's processor answers requests, takes messages out and
 * acknowledges only while its rank is inside MPI, unless [mpi] async_progress
 * lets another hardware thread do it.  Messages that come while a rank is
 * outside are deferred to its next call.
 *
 * One-sided accesses are served by the target's messaging unit, whatever the
 * target does; within a node the origin copies:
 *
 *   put    the data to the target; a control packet tells the origin that it is there
 *   get    a remote get to the target, the data back
 *   fetch  the data to the target, the former data back
 *
 * Guesses.  Blue Gene/Q's MPI may send small accesses, and all that
 * accumulate, as active messages which the target's software handles; and it
 * may learn in another way than by a packet that a put is complete.
 * Here data of up to eager_bytes travels as an eager message, more as a
 * direct put. */
#include "sim/replay/critical.h"

/* Messages and timers: the number of a transfer and, where said, of a piece. */
enum {
  PAMI_EAGER = SIM_COOKIE_PROTOCOL, /* envelope and data */
  PAMI_ASK,                         /* request to send */
  PAMI_GET,                         /* and piece: remote get, at the owner of the data */
  PAMI_DATA,                        /* and piece */
  PAMI_ACK,                         /* at the sender */
  PAMI_COPIED,                      /* the copy within the node is done */
  PAMI_ACCESS,                      /* a one-sided access, at its target */
};

/* Remote-get pacing of a node. */
typedef struct {
  uint32_t first, last; /* transfers with pieces to ask for */
  uint64_t outstanding_bytes;
} Pacer;

/* Time of a copy within a node, without the latency. */
static int64_t
copy_ps (const SimReplay *replay, uint64_t bytes)
{
  double ps = (double) bytes * 1e12 / (double) replay->parameters->mpi.shm_bandwidth_Bps + 0.5;

  return (int64_t) MIN (ps, (double) SIM_LAST_PS);
}

/* -- data by remote get --------------------------------------------------- */

/* One remote get.  Deterministic data is followed by its completion packet,
 * a second descriptor; dynamic data is counted by the receiving unit. */
static void
remote_get (SimReplay *replay, uint32_t from, uint32_t owner, uint64_t cookie, bool dynamic,
            int64_t at_ps)
{
  sim_message_transmit (replay,
                        (SimMessage){ .cookie = cookie,
                                      .source_rank = from,
                                      .destination_rank = owner,
                                      .kind = SIM_MESSAGE_REMOTE_GET,
                                      .descriptors = dynamic ? 1 : 2 },
                        at_ps);
}

static void
ask (SimReplay *replay, uint32_t transfer, uint32_t piece, int64_t at_ps)
{
  const SimTransfer *it = sim_transfer_at (replay, transfer);

  remote_get (replay, it->destination, it->envelope.source, sim_cookie (PAMI_GET, piece, transfer),
              it->dynamic, at_ps);
}

/* Whether PAMI would route data from one rank to another dynamically. */
static bool
is_dynamic (const SimReplay *replay, uint32_t from, uint32_t to, uint64_t bytes)
{
  RouteChoice choice = route_pami_data (replay->machine, replay->options.policy,
                                        replay->ranks[from].node, replay->ranks[to].node, bytes);

  return choice.vc == ROUTE_VC_DYNAMIC;
}

static uint64_t
piece_size (const SimTransfer *transfer, uint32_t piece)
{
  uint64_t begin = (uint64_t) piece * transfer->piece_bytes;

  return transfer->piece_bytes == 0 ? transfer->bytes
                                    : MIN (transfer->piece_bytes, transfer->bytes - begin);
}

static bool
is_paced (const SimReplay *replay, const SimTransfer *transfer, uint64_t *piece_bytes,
          uint64_t *window_bytes)
{
  return route_pami_paced (replay->machine, replay->ranks[transfer->envelope.source].node,
                           replay->ranks[transfer->destination].node, transfer->bytes, piece_bytes,
                           window_bytes);
}

static Pacer *
pacer_of (const SimReplay *replay, uint32_t rank)
{
  return (Pacer *) replay->library + replay->ranks[rank].node;
}

static void
pacer_append (SimReplay *replay, Pacer *pacer, uint32_t transfer)
{
  sim_transfer_at (replay, transfer)->next = TOPO_NONE;
  if (pacer->first == TOPO_NONE)
    pacer->first = transfer;
  else
    sim_transfer_at (replay, pacer->last)->next = transfer;
  pacer->last = transfer;
}

/* Asks for as many pieces as the window has room for, round robin.  A node
 * that waits for nothing may always ask for one. */
static void
pacer_run (SimReplay *replay, Pacer *pacer, uint64_t window_bytes)
{
  while (pacer->first != TOPO_NONE) {
    uint32_t transfer = pacer->first;
    SimTransfer *it = sim_transfer_at (replay, transfer);
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

/* The receiver fetches the data of a rendezvous. */
static void
fetch (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  SimTransfer *it = sim_transfer_at (replay, transfer);
  SimRank *rank = &replay->ranks[it->destination];
  uint64_t piece_bytes, window_bytes;

  it->at_ps = at_ps;
  if (sim_transfer_is_local (replay, it)) {
    sim_critical_send (replay, transfer, it->destination, at_ps);
    sim_network_timer (replay->network, it->destination, sim_cookie (PAMI_COPIED, 0, transfer),
                       at_ps + copy_ps (replay, it->bytes));
    return;
  }
  /* Dynamic routing is for transfers that PAMI would route so, up to a limit
   * per receiving rank; the others are deterministic (section 2.7). */
  it->dynamic = is_dynamic (replay, it->envelope.source, it->destination, it->bytes) &&
                rank->n_dynamic < replay->parameters->mpi.dynamic_messages;
  rank->n_dynamic += it->dynamic;
  if (is_paced (replay, it, &piece_bytes, &window_bytes)) {
    Pacer *pacer = pacer_of (replay, it->destination);

    g_assert (piece_bytes <= UINT16_MAX);
    sim_critical_send (replay, transfer, it->destination, at_ps);
    it->piece_bytes = (uint16_t) piece_bytes;
    pacer_append (replay, pacer, transfer);
    pacer_run (replay, pacer, window_bytes);
  } else
    ask (replay, transfer, 0, at_ps);
}

/* -- the receiver's processor -------------------------------------------- */

/* A message is in: its receive and, over the network, its sender learn it.
 * Neither a transfer nor a request that is given back is used any more. */
static void
transfer_finish (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  const SimTransfer *it = sim_transfer_at (replay, transfer);
  uint32_t source = it->envelope.source, destination = it->destination;
  bool acknowledge = it->state != PAMI_EAGER && !sim_transfer_is_local (replay, it);

  sim_message_received (replay, transfer, at_ps);
  sim_request_complete (replay, it->receive_request, at_ps);
  if (!acknowledge) {
    sim_transfer_give (replay, transfer);
    return;
  }
  sim_message_transmit (replay,
                        (SimMessage){ .cookie = sim_cookie (PAMI_ACK, 0, transfer),
                                      .source_rank = destination,
                                      .destination_rank = source,
                                      .kind = SIM_MESSAGE_CONTROL },
                        at_ps);
}

static void
pami_taken (SimReplay *replay, uint32_t transfer)
{
  transfer_finish (replay, transfer, replay->now_ps);
}

/* Handles the envelope, request or data of a matched transfer.  `agent`: not the
 * rank's own processor does it, so the rank's clock does not move.  In a graph
 * requests to send are answered at once, as nothing says which processor would
 * do it. */
static void
transfer_process (SimReplay *replay, uint32_t transfer, bool agent)
{
  const SimTransfer *it = sim_transfer_at (replay, transfer);
  SimRank *rank = &replay->ranks[it->destination];
  int64_t at_ps = MAX (replay->now_ps, replay->requests[it->receive_request].at_ps);
  /* A request between nodes for no bytes has no data and no copy to wait for. */
  bool fetches = it->state == PAMI_ASK && (it->bytes > 0 || sim_transfer_is_local (replay, it));

  if (replay->graphs != NULL) {
    if (fetches)
      fetch (replay, transfer, replay->now_ps);
    else
      sim_graph_arrived (replay, it->receive_request, transfer);
    return;
  }
  if (!agent)
    sim_rank_wait_until (replay, it->destination, replay->now_ps);
  /* A rank that is done stays in MPI_Finalize, but comes there in its own time. */
  if (!agent || rank->state == SIM_RANK_DONE)
    at_ps = MAX (at_ps, rank->local_ps);
  if (fetches) {
    fetch (replay, transfer, at_ps);
    return;
  }
  at_ps += replay->parameters->mpi.receive_overhead_ps;
  if (!agent)
    rank->local_ps = at_ps;
  transfer_finish (replay, transfer, at_ps);
}

/* The same, now or when the rank is back. */
static void
process_or_defer (SimReplay *replay, uint32_t transfer)
{
  SimRank *rank = &replay->ranks[sim_transfer_at (replay, transfer)->destination];
  bool agent = replay->parameters->mpi.async_progress || rank->state == SIM_RANK_DONE;

  if (agent || rank->state != SIM_RANK_RUNNING) {
    transfer_process (replay, transfer, agent);
    return;
  }
  sim_transfer_at (replay, transfer)->next = TOPO_NONE;
  if (rank->first_deferred == TOPO_NONE)
    rank->first_deferred = transfer;
  else
    sim_transfer_at (replay, rank->last_deferred)->next = transfer;
  rank->last_deferred = transfer;
}

static void
pami_progress (SimReplay *replay, uint32_t rank, SimMoment moment)
{
  SimRank *it = &replay->ranks[rank];
  uint32_t transfer = it->first_deferred;

  if (moment != SIM_MOMENT_ENTERED)
    return;
  it->first_deferred = it->last_deferred = TOPO_NONE;
  while (transfer != TOPO_NONE) {
    uint32_t next = sim_transfer_at (replay, transfer)->next;

    transfer_process (replay, transfer, it->state == SIM_RANK_DONE);
    transfer = next;
  }
}

static bool
pami_is_busy (const SimReplay *replay, uint32_t rank)
{
  (void) replay;
  (void) rank;
  return false;
}

static void
pami_matched (SimReplay *replay, uint32_t transfer, SimMatched how)
{
  if (how == SIM_MATCHED_BY_POST)
    transfer_process (replay, transfer, false);
  else if (how == SIM_MATCHED_BY_ARRIVAL)
    process_or_defer (replay, transfer);
}

/* -- sending ------------------------------------------------------------- */

static void
pami_send (SimReplay *replay, uint32_t transfer)
{
  SimTransfer *it = sim_transfer_at (replay, transfer);
  uint32_t request = it->send_request;
  uint8_t mode = replay->requests[request].mode;
  bool eager = it->bytes <= replay->parameters->mpi.eager_bytes && mode != TRACE_SEND_SYNCHRONOUS;
  bool done = eager || mode == TRACE_SEND_BUFFERED;
  SimRank *rank = &replay->ranks[it->envelope.source];
  uint64_t cookie;

  it->state = eager ? PAMI_EAGER : PAMI_ASK;
  cookie = sim_cookie (it->state, 0, transfer);
  if (done)
    it->send_request = TOPO_NONE;
  /* A graph has charged its processor already. */
  if (replay->graphs == NULL)
    rank->local_ps += replay->parameters->mpi.send_overhead_ps;
  if (sim_transfer_is_local (replay, it)) {
    sim_critical_send (replay, transfer, it->envelope.source, rank->local_ps);
    sim_network_timer (replay->network, it->destination, cookie,
                       rank->local_ps + replay->parameters->mpi.shm_latency_ps +
                           (eager ? copy_ps (replay, it->bytes) : 0));
  } else
    sim_message_transmit (replay,
                          (SimMessage){ .cookie = cookie,
                                        .bytes = eager ? it->bytes : 0,
                                        .source_rank = it->envelope.source,
                                        .destination_rank = it->destination,
                                        .kind = eager ? SIM_MESSAGE_EAGER : SIM_MESSAGE_CONTROL },
                          rank->local_ps);
  if (done)
    sim_request_complete (replay, request, rank->local_ps);
}

static void
pami_direct (SimReplay *replay, uint32_t rank, uint32_t peer, uint64_t bytes, uint64_t cookie)
{
  SimRank *it = &replay->ranks[rank];

  it->local_ps += replay->parameters->mpi.direct_overhead_ps;
  if (it->node == replay->ranks[peer].node)
    sim_network_timer (replay->network, peer, cookie,
                       it->local_ps + replay->parameters->mpi.shm_latency_ps +
                           copy_ps (replay, bytes));
  else
    sim_message_transmit (replay,
                          (SimMessage){ .cookie = cookie,
                                        .bytes = bytes,
                                        .source_rank = rank,
                                        .destination_rank = peer,
                                        .kind = SIM_MESSAGE_DIRECT },
                          it->local_ps);
}

/* -- one-sided accesses --------------------------------------------------- */

/* Data of an access, handed over by the messaging unit of one side. */
static void
access_data (SimReplay *replay, uint64_t cookie, uint32_t from, uint32_t to, uint64_t bytes,
             int64_t at_ps)
{
  bool eager = bytes <= replay->parameters->mpi.eager_bytes;

  sim_message_transmit (replay,
                        (SimMessage){ .cookie = cookie,
                                      .bytes = bytes,
                                      .source_rank = from,
                                      .destination_rank = to,
                                      .kind = eager ? SIM_MESSAGE_EAGER : SIM_MESSAGE_DATA },
                        at_ps);
}

static void
pami_access (SimReplay *replay, uint32_t transfer)
{
  SimTransfer *access = sim_transfer_at (replay, transfer);
  uint32_t origin = access->envelope.source, target = access->destination;
  int64_t at_ps = replay->ranks[origin].local_ps;
  uint64_t cookie = sim_cookie (PAMI_ACCESS, 0, transfer);

  if (sim_transfer_is_local (replay, access))
    sim_network_timer (replay->network, origin, sim_cookie (SIM_COOKIE_ACCESSED, 0, transfer),
                       at_ps + replay->parameters->mpi.shm_latency_ps +
                           copy_ps (replay, access->bytes + access->back_bytes));
  else if (access->state == TRACE_OP_GET) {
    access->dynamic = is_dynamic (replay, target, origin, access->back_bytes);
    remote_get (replay, origin, target, cookie, access->dynamic, at_ps);
  } else
    access_data (replay, cookie, origin, target, access->bytes, at_ps);
}

/* At its target. */
static void
access_serve (SimReplay *replay, uint32_t transfer)
{
  const SimTransfer *access = sim_transfer_at (replay, transfer);
  uint32_t origin = access->envelope.source, target = access->destination;
  bool get = access->state == TRACE_OP_GET;
  uint64_t cookie = sim_cookie (SIM_COOKIE_ACCESSED, 0, transfer);

  if (!get)
    sim_window_arrived (replay, transfer);
  if (access->state == TRACE_OP_FETCH) {
    access_data (replay, cookie, target, origin, access->back_bytes, replay->now_ps);
    return;
  }
  /* The sender of a remote get has chosen the routing of its data. */
  sim_message_transmit (replay,
                        (SimMessage){ .cookie = cookie,
                                      .bytes = get ? access->back_bytes : 0,
                                      .source_rank = target,
                                      .destination_rank = origin,
                                      .kind = get ? SIM_MESSAGE_DATA : SIM_MESSAGE_CONTROL,
                                      .force_deterministic = get && !access->dynamic },
                        replay->now_ps);
}

/* -- messages and timers --------------------------------------------------- */

static void
data_complete (SimReplay *replay, uint32_t transfer)
{
  uint32_t rank = sim_transfer_at (replay, transfer)->destination;

  sim_transfer_at (replay, transfer)->state = PAMI_DATA;
  process_or_defer (replay, transfer);
  sim_rank_wake (replay, rank);
}

static void
pami_event (SimReplay *replay, const SimProtocolEvent *event)
{
  uint32_t transfer = sim_cookie_low (event->cookie), piece = sim_cookie_high (event->cookie);
  SimTransfer *it = sim_transfer_at (replay, transfer);
  uint32_t source = it->envelope.source, request = it->send_request;
  uint64_t piece_bytes, window_bytes;

  switch (sim_cookie_kind (event->cookie)) {
  case PAMI_EAGER:
  case PAMI_ASK: sim_message_arrive (replay, transfer); break;
  case PAMI_GET:
    sim_message_transmit (replay,
                          (SimMessage){ .cookie = sim_cookie (PAMI_DATA, piece, transfer),
                                        .bytes = piece_size (it, piece),
                                        .source_rank = source,
                                        .destination_rank = it->destination,
                                        .kind = SIM_MESSAGE_DATA,
                                        .force_deterministic = !it->dynamic,
                                        .whole_bytes = it->piece_bytes > 0 ? it->bytes : 0 },
                          replay->now_ps);
    break;
  case PAMI_DATA:
    it->arrived_bytes += event->bytes;
    if (it->piece_bytes > 0 && is_paced (replay, it, &piece_bytes, &window_bytes)) {
      Pacer *pacer = pacer_of (replay, it->destination);

      pacer->outstanding_bytes -= event->bytes;
      pacer_run (replay, pacer, window_bytes);
    }
    if (it->arrived_bytes >= it->bytes) {
      replay->ranks[it->destination].n_dynamic -= it->dynamic;
      data_complete (replay, transfer);
    }
    break;
  case PAMI_COPIED: /* seen by both ranks of the node */
    if (request != TOPO_NONE)
      sim_request_complete (replay, request, replay->now_ps);
    data_complete (replay, transfer);
    sim_rank_wake (replay, source);
    break;
  case PAMI_ACK:
    sim_transfer_give (replay, transfer);
    if (request != TOPO_NONE)
      sim_request_complete (replay, request, replay->now_ps);
    sim_rank_wake (replay, source);
    break;
  case PAMI_ACCESS: access_serve (replay, transfer); break;
  default: g_assert_not_reached ();
  }
}

/* -- life ------------------------------------------------------------------ */

static void
pami_begin (SimReplay *replay)
{
  uint32_t n_nodes = topo_shape_nodes (&replay->machine->shape);
  Pacer *pacers = replay->library = g_new (Pacer, n_nodes);

  for (uint32_t node = 0; node < n_nodes; node++)
    pacers[node] = (Pacer){ TOPO_NONE, TOPO_NONE, 0 };
}

static void
pami_free (SimReplay *replay)
{
  g_free (replay->library);
}

static void
pami_dump (SimReplay *replay, BaseDump *dump)
{
  base_dump_section (dump, "pami");
  base_dump_array (dump, replay->library, topo_shape_nodes (&replay->machine->shape),
                   sizeof (Pacer));
}

const SimProtocol sim_pami = {
  .begin = pami_begin,
  .free = pami_free,
  .dump = pami_dump,
  .send = pami_send,
  .matched = pami_matched,
  .taken = pami_taken,
  .direct = pami_direct,
  .access = pami_access,
  .event = pami_event,
  .progress = pami_progress,
  .is_busy = pami_is_busy,
};
