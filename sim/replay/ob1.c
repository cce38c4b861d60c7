/* ob1.c - the PML ob1 of Open MPI: which protocol, and what comes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A message that fits the BTL's eager limit goes with its envelope, and its
 * send is complete when it is copied (pml_ob1_sendreq.c: start_copy).  Longer
 * ones, and synchronous ones, are a rendezvous: a first piece of the same size
 * (start_rndv), and an acknowledgement once it has matched, before the piece is
 * copied out (pml_ob1_recvreq.c: progress_rndv, recv_request_ack), which says
 * where copied fragments begin; what lies before is RDMA.
 *
 *   all fragments     send_depth or sm_depth of them in flight
 *   RDMA, fragments   the last rdma_offset bytes in fragments, without a limit,
 *                     to hide the registrations of the rest; pieces of
 *                     rdma_fragment, rdma_depth of them asked for at a time
 *   all RDMA          leave_pinned: no first piece, no acknowledgement, one piece
 *
 * An unexpected first piece is copied out of the BTL's buffer as soon as the
 * library sees it, and once more when it matches (pml_ob1_recvfrag.h). */
#include "sim/replay/ob1.h"

/* -- sending --------------------------------------------------------------- */

static SimOb1Message *
message_new (SimReplay *replay, uint32_t transfer)
{
  SimOb1 *ob1 = replay->ob1;

  if (transfer >= ob1->messages_capacity) {
    ob1->messages_capacity = replay->transfers_capacity;
    ob1->messages = g_renew (SimOb1Message, ob1->messages, ob1->messages_capacity);
  }
  ob1->messages[transfer] = (SimOb1Message){ .stash = TOPO_NONE };
  return &ob1->messages[transfer];
}

/* Chooses the protocol. */
static void
message_plan (SimReplay *replay, uint32_t transfer, TraceSendMode mode)
{
  SimOb1Message *it = message_new (replay, transfer);
  uint64_t bytes = replay->transfers[transfer].bytes;
  bool local = sim_ob1_is_local (replay, transfer), self = sim_ob1_is_self (replay, transfer);
  uint64_t eager_bytes =
      local ? sim_ob1_sm_eager_bytes (replay, self) : sim_ob1_openib_eager_bytes (replay);

  it->first_bytes = bytes;
  it->eager = bytes <= eager_bytes && mode != TRACE_SEND_SYNCHRONOUS;
  if (bytes > eager_bytes) {
    it->single = local && (self || replay->parameters->sm_single_copy);
    /* What is copied aside first lies in memory that is not registered. */
    it->pinned = !local && replay->parameters->leave_pinned && mode != TRACE_SEND_BUFFERED;
    it->first_bytes = it->single || it->pinned ? 0 : eager_bytes;
  }
  it->put_bytes = it->ask_bytes = it->finished_bytes = it->came_bytes = it->received_bytes =
      it->first_bytes;
}

void
sim_ob1_send (SimReplay *replay, uint32_t transfer)
{
  const SimTransfer *it = &replay->transfers[transfer];
  const SimRequest *request = &replay->requests[it->send_request];
  uint32_t rank = it->envelope.source;
  /* What the agent of a rank does with a posted collective is its own. */
  SimOb1Turn turn =
      request->owned && replay->parameters->async_progress ? SIM_OB1_ARRIVED : SIM_OB1_CALL;

  message_plan (replay, transfer, (TraceSendMode) request->mode);
  sim_ob1_do (replay, rank,
              (SimOb1Work){ .kind = SIM_OB1_SEND,
                            .transfer = transfer,
                            .at_ps = replay->ranks[rank].local_ps },
              turn);
}

/* -- the hooks of matching ------------------------------------------------- */

void
sim_ob1_unexpected (SimReplay *replay, uint32_t transfer)
{
  const SimOb1Message *it = sim_ob1_message (replay, transfer);
  uint32_t rank = replay->transfers[transfer].destination;

  if (it->first_bytes == 0)
    return;
  sim_ob1_message (replay, transfer)->stash = sim_ob1_do (
      replay, rank,
      (SimOb1Work){ .kind = SIM_OB1_STASH, .transfer = transfer, .bytes = it->first_bytes },
      SIM_OB1_ARRIVED);
}

void
sim_ob1_matched (SimReplay *replay, uint32_t transfer, bool posting)
{
  SimOb1Message *it = sim_ob1_message (replay, transfer);
  const SimRequest *receive = &replay->requests[replay->transfers[transfer].receive_request];
  bool call = posting && !(receive->owned && replay->parameters->async_progress);

  if (it->stash != TOPO_NONE)
    replay->ob1->works[it->stash].kind = SIM_OB1_NOTHING;
  it->stash = TOPO_NONE;
  sim_ob1_do (replay, receive->rank,
              (SimOb1Work){ .kind = SIM_OB1_TAKE, .transfer = transfer, .at_ps = receive->at_ps },
              call ? SIM_OB1_CALL : SIM_OB1_ARRIVED);
}

/* -- what comes ------------------------------------------------------------ */

static void
arrived (SimReplay *replay, uint32_t rank, uint32_t transfer, SimOb1WorkKind kind, uint64_t bytes)
{
  sim_ob1_do (replay, rank,
              (SimOb1Work){ .kind = (uint8_t) kind, .transfer = transfer, .bytes = bytes },
              SIM_OB1_ARRIVED);
}

/* Within a node pieces come in their order, so their sizes need not be told. */
static void
fragment_arrived (SimReplay *replay, uint32_t rank, uint32_t transfer, uint64_t bytes)
{
  SimOb1Message *it = sim_ob1_message (replay, transfer);

  if (sim_ob1_is_local (replay, transfer))
    bytes = sim_ob1_fragment_bytes (replay, transfer, it->came_bytes);
  it->came_bytes += bytes;
  arrived (replay, rank, transfer, SIM_OB1_TAKE_FRAGMENT, bytes);
}

static void
buffer_returned (SimReplay *replay, uint32_t rank, uint32_t transfer)
{
  SimOb1Message *it = sim_ob1_message (replay, transfer);
  bool first = !it->first_returned;
  uint64_t bytes = it->single ? replay->transfers[transfer].bytes
                   : first    ? it->first_bytes
                              : sim_ob1_fragment_bytes (replay, transfer, it->returned_bytes);

  it->first_returned = true;
  it->returned_bytes += bytes;
  arrived (replay, rank, transfer, first ? SIM_OB1_FIRST_DELIVERED : SIM_OB1_DELIVERED, bytes);
}

/* Requests for pieces, and what tells that they are there, name no size here:
 * all are equal but the last, and only their sum counts. */
static uint64_t
next_piece (const SimReplay *replay, uint32_t transfer, uint64_t *begin)
{
  uint64_t bytes = sim_ob1_openib_piece_bytes (replay, transfer, *begin);

  *begin += bytes;
  return bytes;
}

void
sim_ob1_event (SimReplay *replay, uint32_t rank, uint64_t cookie, uint64_t bytes)
{
  uint32_t transfer = sim_cookie_low (cookie);
  SimOb1Event event = (SimOb1Event) sim_cookie_high (cookie);

  switch (event) {
  case SIM_OB1_ENVELOPE: sim_protocol_arrive (replay, transfer); break;
  case SIM_OB1_ACK: arrived (replay, rank, transfer, SIM_OB1_ACKED, 0); break;
  case SIM_OB1_FRAGMENT: fragment_arrived (replay, rank, transfer, bytes); break;
  case SIM_OB1_RETURN: buffer_returned (replay, rank, transfer); break;
  case SIM_OB1_PUT:
    bytes = next_piece (replay, transfer, &sim_ob1_message (replay, transfer)->put_bytes);
    arrived (replay, rank, transfer, SIM_OB1_ANSWER, bytes);
    break;
  case SIM_OB1_WRITE:
  case SIM_OB1_STORE: break;
  case SIM_OB1_FIN:
    bytes = next_piece (replay, transfer, &sim_ob1_message (replay, transfer)->finished_bytes);
    arrived (replay, rank, transfer, SIM_OB1_FINISHED, bytes);
    break;
  case SIM_OB1_CLOCK:
  case SIM_OB1_AGENT: sim_ob1_clock (replay, rank, event == SIM_OB1_AGENT); break;
  case SIM_OB1_DUE: sim_ob1_due (replay, rank); break;
  }
}

void
sim_ob1_sent (SimReplay *replay, const SimMessage *message)
{
  uint32_t transfer = sim_cookie_low (message->cookie), rank = message->source_rank;

  switch ((SimOb1Event) sim_cookie_high (message->cookie)) {
  case SIM_OB1_ENVELOPE:
    arrived (replay, rank, transfer, SIM_OB1_FIRST_DELIVERED, message->bytes);
    break;
  case SIM_OB1_FRAGMENT: arrived (replay, rank, transfer, SIM_OB1_DELIVERED, message->bytes); break;
  case SIM_OB1_WRITE: arrived (replay, rank, transfer, SIM_OB1_FINISH, message->bytes); break;
  case SIM_OB1_STORE: sim_window_accessed (replay, transfer); break;
  case SIM_OB1_ACK:
  case SIM_OB1_RETURN:
  case SIM_OB1_PUT:
  case SIM_OB1_FIN:
  case SIM_OB1_CLOCK:
  case SIM_OB1_AGENT:
  case SIM_OB1_DUE: g_assert_not_reached ();
  }
}
