/* ob1_openib.c - the BTL openib of Open MPI: messages between nodes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Pieces that are sent are copied into registered buffers and out of them.
 * RDMA needs no copies, but both sides register the piece first: the receiver
 * and then, when its request has come, the sender, who writes it
 * (pml_ob1_recvreq.c: recv_request_schedule_once; pml_ob1_sendreq.c:
 * send_request_put_frag).  Without leave_pinned every piece is registered
 * anew; the parameter is the price of both ways.  With it what a pair of
 * ranks has registered stays so, and as a trace has no addresses a message is
 * taken to lie where the largest one before it of this pair and direction lay.
 *
 * One-sided accesses and direct collectives run past ob1, as writes that cost
 * the target's processor nothing: what a get asks for is written back by its
 * target's adapter.  Within a node whoever calls copies. */
#include "sim/replay/ob1.h"

#define PAGE_BYTES 4096u

/* pml_ob1_sendreq.h, start_btl: the limit is less the largest header. */
uint64_t
sim_ob1_openib_eager_bytes (const SimReplay *replay)
{
  uint64_t limit_bytes = replay->parameters->eager_bytes;

  return limit_bytes - MIN (limit_bytes, SIM_OB1_LARGEST_HEADER_BYTES);
}

uint64_t
sim_ob1_openib_fragment_bytes (const SimReplay *replay)
{
  return replay->parameters->send_fragment_bytes - SIM_OB1_FRAGMENT_HEADER_BYTES;
}

uint64_t
sim_ob1_openib_piece_bytes (const SimReplay *replay, uint32_t transfer, uint64_t begin)
{
  const SimOb1Message *it = sim_ob1_message (replay, transfer);
  uint64_t left_bytes = it->rdma_end_bytes - begin;

  return it->pinned ? left_bytes : MIN (left_bytes, replay->parameters->rdma_fragment_bytes);
}

/* RDMA is for messages above eager_limit + rdma_pipeline_send_length
 * (btl_base_mca.c raises min_rdma_pipeline_size to that), and leaves the last
 * rdma_pipeline_send_length to fragments. */
uint64_t
sim_ob1_openib_rdma_end (const SimReplay *replay, uint32_t transfer)
{
  const SimOb1Message *it = sim_ob1_message (replay, transfer);
  uint64_t bytes = replay->transfers[transfer].bytes;
  uint64_t offset_bytes = replay->parameters->rdma_offset_bytes;

  if (it->pinned)
    return bytes;
  if (bytes <= replay->parameters->eager_bytes + offset_bytes)
    return it->first_bytes;
  return MAX (bytes - offset_bytes, it->first_bytes);
}

/* The header of the BTL and, on a first piece, that of matching are in the
 * envelope. */
static uint64_t
software_bytes (const SimReplay *replay, uint32_t transfer, SimOb1Event event)
{
  uint64_t header_bytes = SIM_OB1_MATCH_HEADER_BYTES;

  switch (event) {
  case SIM_OB1_ENVELOPE:
    if (!sim_ob1_message (replay, transfer)->eager)
      header_bytes = SIM_OB1_RENDEZVOUS_HEADER_BYTES;
    break;
  case SIM_OB1_ACK: header_bytes = SIM_OB1_ACK_HEADER_BYTES; break;
  case SIM_OB1_FRAGMENT: header_bytes = SIM_OB1_FRAGMENT_HEADER_BYTES; break;
  case SIM_OB1_PUT: header_bytes = SIM_OB1_PUT_HEADER_BYTES; break;
  case SIM_OB1_FIN: header_bytes = SIM_OB1_FIN_HEADER_BYTES; break;
  case SIM_OB1_WRITE: return 0;
  case SIM_OB1_STORE:
  case SIM_OB1_RETURN:
  case SIM_OB1_CLOCK:
  case SIM_OB1_AGENT:
  case SIM_OB1_DUE: g_assert_not_reached ();
  }
  return replay->parameters->envelope_bytes + header_bytes - SIM_OB1_MATCH_HEADER_BYTES;
}

/* ob1's own messages, as software's own of other machines: they carry nothing
 * of the user's.  A message without bytes is its envelope. */
static SimMessageKind
kind_of (const SimReplay *replay, uint32_t transfer, SimOb1Event event, uint64_t bytes)
{
  bool is_empty = event == SIM_OB1_ENVELOPE && replay->transfers[transfer].bytes == 0;

  if (event == SIM_OB1_WRITE)
    return SIM_MESSAGE_WRITE;
  return bytes > 0 || is_empty ? SIM_MESSAGE_SEND : SIM_MESSAGE_CONTROL;
}

void
sim_ob1_openib_post (SimReplay *replay, uint32_t transfer, SimOb1Event event, uint64_t bytes,
                     int64_t at_ps)
{
  const SimTransfer *it = &replay->transfers[transfer];
  bool to_source = event == SIM_OB1_ACK || event == SIM_OB1_PUT;
  uint32_t source = it->envelope.source, destination = it->destination;
  bool waits = event == SIM_OB1_WRITE || event == SIM_OB1_FRAGMENT ||
               (event == SIM_OB1_ENVELOPE && !sim_ob1_message (replay, transfer)->eager);

  sim_network_send (
      replay->network,
      &(SimMessage){ .cookie = sim_ob1_cookie (event, transfer),
                     .bytes = bytes,
                     .source_rank = to_source ? destination : source,
                     .destination_rank = to_source ? source : destination,
                     .kind = (uint8_t) kind_of (replay, transfer, event, bytes),
                     .acknowledge = waits,
                     .software_bytes = (uint16_t) software_bytes (replay, transfer, event) },
      at_ps);
}

SimBuffer
sim_ob1_openib_buffer (const SimReplay *replay, uint32_t transfer, bool sender, bool first)
{
  const SimTransfer *it = &replay->transfers[transfer];
  uint32_t rank = sender ? it->envelope.source : it->destination;

  return (SimBuffer){ .kind = SIM_BUFFER_ADAPTER,
                      .core = replay->machine->slot_core[replay->mapping->slot[rank]],
                      .footprint_bytes = first ? replay->parameters->eager_bytes
                                               : replay->parameters->send_fragment_bytes };
}

/* -- registration ---------------------------------------------------------- */

/* True when it was so already. */
static bool
is_pinned (SimReplay *replay, uint32_t transfer, bool sender, uint64_t pages)
{
  const SimTransfer *it = &replay->transfers[transfer];
  uint32_t rank = sender ? it->envelope.source : it->destination;
  uint32_t peer = sender ? it->destination : it->envelope.source;
  uint32_t *known = &trace_map_add (&replay->ob1->ranks[rank].pinned, peer, 0)->value[!sender];

  if (pages <= *known)
    return true;
  *known = (uint32_t) MIN (pages, UINT32_MAX);
  return false;
}

int64_t
sim_ob1_openib_register_ps (SimReplay *replay, uint32_t transfer, bool sender, uint64_t bytes)
{
  uint64_t pages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES;

  if (sim_ob1_message (replay, transfer)->pinned && is_pinned (replay, transfer, sender, pages))
    return 0;
  return (int64_t) MIN ((double) replay->parameters->registration_ps +
                            (double) pages * (double) replay->parameters->registration_page_ps,
                        (double) SIM_LAST_PS);
}

/* -- past ob1 -------------------------------------------------------------- */

static void
write_to (SimReplay *replay, uint32_t from, uint32_t to, uint64_t bytes, uint64_t cookie,
          bool acknowledge, int64_t at_ps)
{
  sim_network_send (replay->network,
                    &(SimMessage){ .cookie = cookie,
                                   .bytes = bytes,
                                   .source_rank = from,
                                   .destination_rank = to,
                                   .kind = SIM_MESSAGE_WRITE,
                                   .acknowledge = acknowledge },
                    at_ps);
}

/* `rank` copies between its memory and the peer's, then `notify` is told. */
static void
copy_within (SimReplay *replay, uint32_t rank, uint32_t peer, uint64_t bytes, uint32_t notify,
             uint64_t cookie)
{
  sim_ob1_do (replay, rank,
              (SimOb1Work){ .kind = SIM_OB1_COPY,
                            .at_ps = replay->ranks[rank].local_ps,
                            .bytes = bytes,
                            .transfer = peer,
                            .notify = notify,
                            .cookie = cookie },
              SIM_OB1_CALL);
}

void
sim_ob1_direct (SimReplay *replay, uint32_t rank, uint32_t peer, uint64_t bytes, uint64_t cookie)
{
  SimRank *it = &replay->ranks[rank];

  it->local_ps += replay->parameters->send_overhead_ps;
  if (it->node == replay->ranks[peer].node) {
    copy_within (replay, rank, peer, bytes, peer, cookie);
    return;
  }
  it->local_ps += replay->parameters->fragment_overhead_ps;
  write_to (replay, rank, peer, bytes, cookie, false, it->local_ps);
}

void
sim_ob1_access (SimReplay *replay, uint32_t transfer)
{
  const SimTransfer *access = &replay->transfers[transfer];
  uint32_t origin = access->envelope.source, target = access->destination;
  bool put = access->state == TRACE_OP_PUT;

  if (access->state != TRACE_OP_GET)
    sim_protocol_count (replay, origin, target, access->bytes);
  if (!put)
    sim_protocol_count (replay, target, origin, access->back_bytes);
  if (sim_transfer_is_local (replay, access)) {
    copy_within (replay, origin, target, access->bytes + access->back_bytes, origin,
                 sim_cookie (SIM_COOKIE_ACCESSED, 0, transfer));
    return;
  }
  replay->ranks[origin].local_ps += replay->parameters->fragment_overhead_ps;
  write_to (replay, origin, target, access->bytes,
            put ? sim_ob1_cookie (SIM_OB1_STORE, transfer)
                : sim_cookie (SIM_COOKIE_ACCESS, 0, transfer),
            put, replay->ranks[origin].local_ps);
}

/* A get or a fetch: puts are over when they are acknowledged. */
void
sim_ob1_serve (SimReplay *replay, uint32_t transfer)
{
  const SimTransfer *access = &replay->transfers[transfer];

  write_to (replay, access->destination, access->envelope.source, access->back_bytes,
            sim_cookie (SIM_COOKIE_ACCESSED, 0, transfer), false, replay->now_ps);
}
