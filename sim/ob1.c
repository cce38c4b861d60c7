/* ob1.c - the PML ob1 of Open MPI: what is sent when, and what completes when.
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
 * A fragment is out of the way when the adapter says so, or when its receiver
 * gives the buffer back; the send is complete when all are (frag_completion,
 * put_completion).  A buffered send is complete when the rest is copied too
 * (start_buffered).
 *
 * An unexpected first piece is copied out of the BTL's buffer as soon as the
 * library sees it, and once more when it matches (pml_ob1_recvfrag.h). */
#include "sim/ob1.h"

/* -- sending --------------------------------------------------------------- */

static uint32_t
source_of (const SimReplay *replay, uint32_t transfer)
{
  return replay->transfers[transfer].envelope.source;
}

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

/* -- completion ------------------------------------------------------------ */

static void
message_give (SimReplay *replay, uint32_t transfer)
{
  const SimOb1Message *it = sim_ob1_message (replay, transfer);

  if (it->sent && it->received)
    sim_transfer_give (replay, transfer);
}

static void
send_complete (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  uint32_t request = replay->transfers[transfer].send_request;

  replay->transfers[transfer].send_request = TOPO_NONE;
  if (request != TOPO_NONE)
    sim_request_complete (replay, request, at_ps);
}

/* The sender's side may be over. */
static void
sender_check (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  SimOb1Message *it = sim_ob1_message (replay, transfer);

  if (!it->acked || !it->first_delivered || it->delivered_bytes < replay->transfers[transfer].bytes)
    return;
  it->sent = true;
  replay->ranks[source_of (replay, transfer)].open_sends--;
  send_complete (replay, transfer, at_ps);
  message_give (replay, transfer);
}

void
sim_ob1_taken (SimReplay *replay, uint32_t transfer)
{
  uint32_t request = replay->transfers[transfer].receive_request;

  sim_ob1_message (replay, transfer)->received = true;
  message_give (replay, transfer);
  sim_request_complete (replay, request, replay->now_ps);
}

/* The receiver's side may be over. */
static void
receiver_check (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  SimOb1Message *it = sim_ob1_message (replay, transfer);
  uint32_t request = replay->transfers[transfer].receive_request;

  if (it->received_bytes < replay->transfers[transfer].bytes)
    return;
  if (replay->graphs != NULL) {
    sim_graph_arrived (replay, request, transfer);
    return;
  }
  it->received = true;
  message_give (replay, transfer);
  sim_request_complete (replay, request, at_ps);
}

/* -- what the sender does next --------------------------------------------- */

static uint64_t
fragment_bytes (const SimReplay *replay, uint32_t transfer, uint64_t begin)
{
  uint64_t limit = sim_ob1_is_local (replay, transfer) ? sim_ob1_sm_fragment_bytes (replay)
                                                       : sim_ob1_openib_fragment_bytes (replay);

  return MIN (limit, replay->transfers[transfer].bytes - begin);
}

/* One fragment more, if the pipeline has room (send_request_schedule_once). */
static void
fragment_schedule (SimReplay *replay, uint32_t transfer)
{
  const SimOb1Message *it = sim_ob1_message (replay, transfer);
  const TopoParameters *parameters = replay->parameters;
  uint64_t depth =
      sim_ob1_is_local (replay, transfer) ? parameters->sm_depth : parameters->send_depth;
  bool limited = it->rdma_end_bytes == it->first_bytes;

  if (!it->acked || it->single || it->next_bytes >= replay->transfers[transfer].bytes ||
      (limited && it->in_flight >= depth))
    return;
  sim_ob1_do (replay, source_of (replay, transfer),
              (SimOb1Work){ .kind = SIM_OB1_SEND_FRAGMENT,
                            .transfer = transfer,
                            .bytes = fragment_bytes (replay, transfer, it->next_bytes) },
              SIM_OB1_NEXT);
}

static void
message_acked (SimReplay *replay, uint32_t transfer)
{
  SimOb1Message *it = sim_ob1_message (replay, transfer);

  if (!it->acked)
    it->next_bytes = it->rdma_end_bytes;
  it->acked = true;
}

/* -- what the receiver does next ------------------------------------------- */

/* One RDMA piece more (recv_request_schedule_once). */
static void
ask_schedule (SimReplay *replay, uint32_t transfer)
{
  const SimOb1Message *it = sim_ob1_message (replay, transfer);

  if (it->ask_bytes >= it->rdma_end_bytes || it->asked >= replay->parameters->rdma_depth)
    return;
  sim_ob1_do (replay, replay->transfers[transfer].destination,
              (SimOb1Work){ .kind = SIM_OB1_ASK,
                            .transfer = transfer,
                            .bytes = sim_ob1_openib_piece_bytes (replay, transfer, it->ask_bytes) },
              SIM_OB1_NEXT);
}

static void
notify_source (SimReplay *replay, uint32_t transfer, SimOb1Event event, int64_t at_ps)
{
  if (sim_ob1_is_local (replay, transfer))
    sim_ob1_sm_post (replay, transfer, event, at_ps);
  else
    sim_ob1_openib_post (replay, transfer, event, 0, at_ps);
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

/* -- what work does -------------------------------------------------------- */

void
sim_ob1_begin (SimReplay *replay, const SimOb1Work *work, int64_t at_ps)
{
  uint32_t transfer = work->transfer;
  SimOb1Message *it;

  if (work->kind == SIM_OB1_STASH)
    sim_ob1_message (replay, transfer)->stash = TOPO_NONE;
  if (work->kind != SIM_OB1_TAKE)
    return;
  it = sim_ob1_message (replay, transfer);
  it->rdma_end_bytes = sim_ob1_is_local (replay, transfer)
                           ? it->first_bytes
                           : sim_ob1_openib_rdma_end (replay, transfer);
  if (sim_ob1_is_acknowledged (replay, transfer))
    notify_source (replay, transfer, SIM_OB1_ACK, at_ps);
}

static void
send_end (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  SimOb1Message *it = sim_ob1_message (replay, transfer);
  bool eager = it->eager;
  bool done = eager || replay->requests[replay->transfers[transfer].send_request].mode ==
                           TRACE_SEND_BUFFERED;

  it->sent = eager;
  replay->ranks[source_of (replay, transfer)].open_sends += !eager;
  if (sim_ob1_is_local (replay, transfer))
    sim_ob1_sm_post (replay, transfer, SIM_OB1_ENVELOPE, at_ps);
  else
    sim_ob1_openib_post (replay, transfer, SIM_OB1_ENVELOPE, it->first_bytes, at_ps);
  if (done)
    send_complete (replay, transfer, at_ps);
}

static void
take_end (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  SimOb1Message *it = sim_ob1_message (replay, transfer);

  if (it->single)
    it->received_bytes = replay->transfers[transfer].bytes;
  if (!it->eager && sim_ob1_is_local (replay, transfer))
    notify_source (replay, transfer, SIM_OB1_RETURN, at_ps);
  ask_schedule (replay, transfer);
  receiver_check (replay, transfer, at_ps);
}

static void
send_fragment_end (SimReplay *replay, uint32_t transfer, uint64_t bytes, int64_t at_ps)
{
  SimOb1Message *it = sim_ob1_message (replay, transfer);

  it->next_bytes += bytes;
  it->in_flight++;
  if (sim_ob1_is_local (replay, transfer))
    sim_ob1_sm_post (replay, transfer, SIM_OB1_FRAGMENT, at_ps);
  else
    sim_ob1_openib_post (replay, transfer, SIM_OB1_FRAGMENT, bytes, at_ps);
  fragment_schedule (replay, transfer);
}

static void
take_fragment_end (SimReplay *replay, uint32_t transfer, uint64_t bytes, int64_t at_ps)
{
  SimOb1Message *it = sim_ob1_message (replay, transfer);

  it->received_bytes += bytes;
  if (sim_ob1_is_local (replay, transfer))
    notify_source (replay, transfer, SIM_OB1_RETURN, at_ps);
  receiver_check (replay, transfer, at_ps);
}

static void
delivered (SimReplay *replay, uint32_t transfer, bool first, uint64_t bytes, int64_t at_ps)
{
  SimOb1Message *it = sim_ob1_message (replay, transfer);

  it->delivered_bytes += bytes;
  it->first_delivered |= first;
  it->in_flight -= !first;
  if (it->single)
    message_acked (replay, transfer);
  fragment_schedule (replay, transfer);
  sender_check (replay, transfer, at_ps);
}

static void
ask_end (SimReplay *replay, uint32_t transfer, uint64_t bytes, int64_t at_ps)
{
  SimOb1Message *it = sim_ob1_message (replay, transfer);

  it->ask_bytes += bytes;
  it->asked++;
  sim_ob1_openib_post (replay, transfer, SIM_OB1_PUT, 0, at_ps);
  ask_schedule (replay, transfer);
}

static void
answer_end (SimReplay *replay, uint32_t transfer, uint64_t bytes, int64_t at_ps)
{
  SimOb1Message *it = sim_ob1_message (replay, transfer);

  /* Its request stands for the acknowledgement when there is no other. */
  if (it->rdma_end_bytes == replay->transfers[transfer].bytes)
    message_acked (replay, transfer);
  sim_ob1_openib_post (replay, transfer, SIM_OB1_WRITE, bytes, at_ps);
}

static void
finish_end (SimReplay *replay, uint32_t transfer, uint64_t bytes, int64_t at_ps)
{
  sim_ob1_openib_post (replay, transfer, SIM_OB1_FIN, 0, at_ps);
  sim_ob1_message (replay, transfer)->delivered_bytes += bytes;
  sender_check (replay, transfer, at_ps);
}

static void
finished_end (SimReplay *replay, uint32_t transfer, uint64_t bytes, int64_t at_ps)
{
  SimOb1Message *it = sim_ob1_message (replay, transfer);

  it->received_bytes += bytes;
  it->asked--;
  ask_schedule (replay, transfer);
  receiver_check (replay, transfer, at_ps);
}

void
sim_ob1_end (SimReplay *replay, const SimOb1Work *work, int64_t at_ps)
{
  uint32_t transfer = work->transfer;

  switch ((SimOb1WorkKind) work->kind) {
  case SIM_OB1_SEND: send_end (replay, transfer, at_ps); break;
  case SIM_OB1_TAKE: take_end (replay, transfer, at_ps); break;
  case SIM_OB1_STASH: sim_ob1_message (replay, transfer)->stashed = true; break;
  case SIM_OB1_ACKED:
    message_acked (replay, transfer);
    fragment_schedule (replay, transfer);
    sender_check (replay, transfer, at_ps);
    break;
  case SIM_OB1_SEND_FRAGMENT: send_fragment_end (replay, transfer, work->bytes, at_ps); break;
  case SIM_OB1_TAKE_FRAGMENT: take_fragment_end (replay, transfer, work->bytes, at_ps); break;
  case SIM_OB1_FIRST_DELIVERED: delivered (replay, transfer, true, work->bytes, at_ps); break;
  case SIM_OB1_DELIVERED: delivered (replay, transfer, false, work->bytes, at_ps); break;
  case SIM_OB1_ASK: ask_end (replay, transfer, work->bytes, at_ps); break;
  case SIM_OB1_ANSWER: answer_end (replay, transfer, work->bytes, at_ps); break;
  case SIM_OB1_FINISH: finish_end (replay, transfer, work->bytes, at_ps); break;
  case SIM_OB1_FINISHED: finished_end (replay, transfer, work->bytes, at_ps); break;
  case SIM_OB1_COPY:
    sim_network_timer (replay->network, work->notify, work->cookie,
                       at_ps + replay->parameters->sm_latency_ps);
    break;
  case SIM_OB1_NOTHING: break;
  }
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
    bytes = fragment_bytes (replay, transfer, it->came_bytes);
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
                              : fragment_bytes (replay, transfer, it->returned_bytes);

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
