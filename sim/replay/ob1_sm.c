/* ob1_sm.c - the BTLs sm and self of Open MPI: messages within a node.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The sender copies into a fragment of the shared segment and writes its
 * address into the receiver's FIFO; the receiver copies out and writes the
 * address back into the sender's, which may then use the fragment again
 * (btl_sm_component.c: FRAG_SEND, FRAG_ACK).  The free list gives back what
 * was freed last, so few fragments are used over and over.
 *
 * With sm_single_copy (later versions: KNEM, CMA) the receiver of a long
 * message copies it from the sender's buffer and says so; so does a rank with
 * what it sends itself (btl_self_component.c: SEND_INPLACE, PUT). */
#include "sim/replay/ob1.h"

/* btl_self_component.c */
#define SELF_EAGER_BYTES (128u * 1024)

/* pml_ob1_sendreq.h, start_btl: the limit is less the largest header. */
uint64_t
sim_ob1_sm_eager_bytes (const SimReplay *replay, bool self)
{
  uint64_t limit_bytes = self ? SELF_EAGER_BYTES : replay->parameters->sm_eager_bytes;

  return limit_bytes - MIN (limit_bytes, SIM_OB1_LARGEST_HEADER_BYTES);
}

uint64_t
sim_ob1_sm_fragment_bytes (const SimReplay *replay)
{
  return replay->parameters->sm_fragment_bytes - SIM_OB1_FRAGMENT_HEADER_BYTES;
}

void
sim_ob1_sm_post (SimReplay *replay, uint32_t transfer, SimOb1Event event, int64_t at_ps)
{
  const SimTransfer *it = &replay->transfers[transfer];
  bool to_source = event == SIM_OB1_ACK || event == SIM_OB1_RETURN;

  sim_network_timer (
      replay->network, to_source ? it->envelope.source : it->destination,
      sim_ob1_cookie (event, transfer),
      at_ps + (sim_ob1_is_self (replay, transfer) ? 0 : replay->parameters->sm_latency_ps));
}

SimBuffer
sim_ob1_sm_buffer (const SimReplay *replay, uint32_t transfer, bool first)
{
  const SimTransfer *it = &replay->transfers[transfer];
  const TopoParameters *parameters = replay->parameters;
  const uint8_t *core = replay->machine->slot_core, *slot = replay->mapping->slot;

  return (SimBuffer){ .kind = SIM_BUFFER_SHARED,
                      .core = core[slot[it->envelope.source]],
                      .peer = core[slot[it->destination]],
                      .footprint_bytes =
                          first ? parameters->sm_eager_bytes
                                : parameters->sm_depth * parameters->sm_fragment_bytes };
}
