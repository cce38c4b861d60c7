/* ob1_cost.c - what a piece of ob1's work costs: processor time, copies.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/ob1.h"

bool
sim_ob1_is_acknowledged (const SimReplay *replay, uint32_t transfer)
{
  const SimOb1Message *it = sim_ob1_message (replay, transfer);
  uint64_t bytes = replay->transfers[transfer].bytes;

  if (it->eager || it->single || it->pinned)
    return false;
  return it->first_bytes == bytes || sim_ob1_is_local (replay, transfer) ||
         sim_ob1_openib_rdma_end (replay, transfer) < bytes;
}

uint64_t
sim_ob1_fragment_bytes (const SimReplay *replay, uint32_t transfer, uint64_t begin)
{
  uint64_t limit = sim_ob1_is_local (replay, transfer) ? sim_ob1_sm_fragment_bytes (replay)
                                                       : sim_ob1_openib_fragment_bytes (replay);

  return MIN (limit, replay->transfers[transfer].bytes - begin);
}

/* -- processor time -------------------------------------------------------- */

/* Handling one piece or control message, on either side: a fragment of the
 * shared segment and its FIFO, or a work request and its completion. */
static int64_t
handling_ps (const SimReplay *replay, uint32_t transfer)
{
  if (sim_ob1_is_self (replay, transfer))
    return 0;
  return sim_ob1_is_local (replay, transfer) ? replay->parameters->sm_overhead_ps
                                             : replay->parameters->fragment_overhead_ps;
}

static int64_t
send_lead_ps (SimReplay *replay, uint32_t transfer)
{
  const SimOb1Message *it = sim_ob1_message (replay, transfer);
  int64_t lead_ps = replay->graphs == NULL ? replay->parameters->send_overhead_ps : 0;

  if (it->pinned)
    lead_ps +=
        sim_ob1_openib_register_ps (replay, transfer, true, replay->transfers[transfer].bytes);
  return lead_ps + handling_ps (replay, transfer);
}

static int64_t
take_lead_ps (const SimReplay *replay, uint32_t transfer)
{
  const SimOb1Message *it = sim_ob1_message (replay, transfer);
  int64_t lead_ps = replay->graphs == NULL ? replay->parameters->receive_overhead_ps : 0;

  /* Else it was paid when the first piece was put aside. */
  if (!it->stashed)
    lead_ps += handling_ps (replay, transfer);
  if (sim_ob1_is_acknowledged (replay, transfer))
    lead_ps += handling_ps (replay, transfer);
  return lead_ps;
}

int64_t
sim_ob1_lead_ps (SimReplay *replay, const SimOb1Work *work)
{
  uint32_t transfer = work->transfer;

  switch ((SimOb1WorkKind) work->kind) {
  case SIM_OB1_SEND: return send_lead_ps (replay, transfer);
  case SIM_OB1_TAKE: return take_lead_ps (replay, transfer);
  case SIM_OB1_STASH:
  case SIM_OB1_ACKED:
  case SIM_OB1_SEND_FRAGMENT:
  case SIM_OB1_TAKE_FRAGMENT:
  case SIM_OB1_FINISH:
  case SIM_OB1_FINISHED: return handling_ps (replay, transfer);
  case SIM_OB1_ASK:
    return handling_ps (replay, transfer) +
           sim_ob1_openib_register_ps (replay, transfer, false, work->bytes);
  case SIM_OB1_ANSWER:
    return handling_ps (replay, transfer) +
           sim_ob1_openib_register_ps (replay, transfer, true, work->bytes);
  case SIM_OB1_COPY:
  case SIM_OB1_FIRST_DELIVERED:
  case SIM_OB1_DELIVERED:
  case SIM_OB1_NOTHING: return 0;
  }
  g_assert_not_reached ();
}

/* -- copies ---------------------------------------------------------------- */

static uint64_t
send_copy_bytes (const SimReplay *replay, uint32_t transfer)
{
  const SimTransfer *it = &replay->transfers[transfer];
  const SimOb1Message *message = sim_ob1_message (replay, transfer);
  bool buffered = replay->requests[it->send_request].mode == TRACE_SEND_BUFFERED;
  /* BTL self sends from where the data is (btl_self_component.c: SEND_INPLACE). */
  uint64_t first_bytes = sim_ob1_is_self (replay, transfer) ? 0 : message->first_bytes;

  return buffered && !message->eager ? it->bytes - message->first_bytes + first_bytes : first_bytes;
}

uint64_t
sim_ob1_copy_bytes (const SimReplay *replay, const SimOb1Work *work)
{
  const SimOb1Message *it;

  switch ((SimOb1WorkKind) work->kind) {
  case SIM_OB1_SEND: return send_copy_bytes (replay, work->transfer);
  case SIM_OB1_TAKE:
    it = sim_ob1_message (replay, work->transfer);
    return it->single ? replay->transfers[work->transfer].bytes : it->first_bytes;
  case SIM_OB1_COPY:
  case SIM_OB1_STASH:
  case SIM_OB1_SEND_FRAGMENT:
  case SIM_OB1_TAKE_FRAGMENT: return work->bytes;
  case SIM_OB1_ACKED:
  case SIM_OB1_FIRST_DELIVERED:
  case SIM_OB1_DELIVERED:
  case SIM_OB1_ASK:
  case SIM_OB1_ANSWER:
  case SIM_OB1_FINISH:
  case SIM_OB1_FINISHED:
  case SIM_OB1_NOTHING: return 0;
  }
  g_assert_not_reached ();
}

static SimBuffer
private_of (const SimReplay *replay, uint32_t rank, uint64_t footprint_bytes)
{
  return (SimBuffer){ .kind = SIM_BUFFER_PRIVATE,
                      .core = replay->machine->slot_core[replay->mapping->slot[rank]],
                      .footprint_bytes = footprint_bytes };
}

static SimBuffer
library_buffer (const SimReplay *replay, uint32_t transfer, bool sender, bool first)
{
  return sim_ob1_is_local (replay, transfer)
             ? sim_ob1_sm_buffer (replay, transfer, first)
             : sim_ob1_openib_buffer (replay, transfer, sender, first);
}

void
sim_ob1_copy_between (const SimReplay *replay, const SimOb1Work *work, SimCopy *copy)
{
  uint32_t transfer = work->transfer;
  const SimOb1Message *message;
  const SimTransfer *it;

  if (work->kind == SIM_OB1_COPY) { /* of the rank that `transfer` is then */
    copy->from = (SimBuffer){ .core = copy->core, .footprint_bytes = work->bytes };
    copy->to = private_of (replay, transfer, work->bytes);
    return;
  }
  it = &replay->transfers[transfer];
  message = sim_ob1_message (replay, transfer);
  copy->from = private_of (replay, it->envelope.source, it->bytes);
  copy->to = private_of (replay, it->destination, it->bytes);
  switch ((SimOb1WorkKind) work->kind) {
  case SIM_OB1_SEND: /* then the rest of a buffered one */
    copy->to = work->copied_bytes < message->first_bytes
                   ? library_buffer (replay, transfer, true, true)
                   : private_of (replay, it->envelope.source, it->bytes);
    break;
  case SIM_OB1_SEND_FRAGMENT: copy->to = library_buffer (replay, transfer, true, false); break;
  case SIM_OB1_STASH:
    copy->from = library_buffer (replay, transfer, false, true);
    copy->to = private_of (replay, it->destination, work->bytes);
    break;
  case SIM_OB1_TAKE:
    if (message->stashed)
      copy->from = private_of (replay, it->destination, message->first_bytes);
    else if (!message->single && !sim_ob1_is_self (replay, transfer))
      copy->from = library_buffer (replay, transfer, false, true);
    break;
  case SIM_OB1_TAKE_FRAGMENT: copy->from = library_buffer (replay, transfer, false, false); break;
  case SIM_OB1_COPY:
  case SIM_OB1_ACKED:
  case SIM_OB1_FIRST_DELIVERED:
  case SIM_OB1_DELIVERED:
  case SIM_OB1_ASK:
  case SIM_OB1_ANSWER:
  case SIM_OB1_FINISH:
  case SIM_OB1_FINISHED:
  case SIM_OB1_NOTHING: g_assert_not_reached ();
  }
}
