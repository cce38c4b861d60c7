/* ob1_steps.c - from one piece of ob1's work to the next, and to completion.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A fragment is out of the way when the adapter says so, or when its receiver
 * gives the buffer back; the send is complete when all are (frag_completion,
 * put_completion).  A buffered send is complete when the rest is copied too
 * (start_buffered). */
#include "sim/replay/ob1.h"

/* -- completion ------------------------------------------------------------ */

static uint32_t
source_of (const SimReplay *replay, uint32_t transfer)
{
  return replay->transfers[transfer].envelope.source;
}

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
  sim_protocol_received (replay, transfer, replay->now_ps);
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
  sim_protocol_received (replay, transfer, at_ps);
  message_give (replay, transfer);
  sim_request_complete (replay, request, at_ps);
}

/* -- what the sender does next --------------------------------------------- */

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
                            .bytes = sim_ob1_fragment_bytes (replay, transfer, it->next_bytes) },
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
