/* ib_congestion.c - congestion control: marks, and what they do at the source.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * As InfiniBand's annex defines it (infiniband.md section A7), with OpenSM's
 * parameters.  A switch marks packets of a lane that is the root of a
 * congestion: more waits for it than the threshold allows, and it has credits,
 * so that what holds it up is the link itself.  A lane to an adapter counts as
 * a root without credits too, because adapters mark nothing (OpenSM's victim
 * mask).  Guesses: the threshold in blocks, linear between a full input buffer
 * and nothing; a linear table of delays, index times the time of a packet. */
#include "config.h"

#include "sim/net/ib_port.h"

void
ib_mark (IbNetwork *net, const IbPort *port, IbLane *lane, IbPacket *packet)
{
  const TopoParameters *p = net->parameters;
  bool is_root = port->to_adapter || lane->credits >= 2u * packet->blocks;

  if (p->cc_threshold == 0 || lane->queued_blocks <= net->mark_blocks || !is_root ||
      packet->kind != IB_PACKET_DATA || packet->blocks < p->cc_packet_size_blocks)
    return;
  if (lane->unmarked < p->cc_marking_rate) {
    lane->unmarked++;
    return;
  }
  lane->unmarked = 0;
  packet->flags |= IB_FLAG_FECN;
}

uint32_t
ib_congestion_index (IbNetwork *net, IbPair *pair)
{
  const TopoParameters *p = net->parameters;
  int64_t steps = (net->engine.now_ps - pair->ccti_ps) / p->ccti_timer_ps;
  uint8_t least = (uint8_t) p->ccti_min;

  if (pair->ccti <= least) {
    pair->ccti = least;
    pair->ccti_ps = net->engine.now_ps;
  } else if (steps > 0) {
    pair->ccti = pair->ccti - least > steps ? (uint8_t) (pair->ccti - steps) : least;
    pair->ccti_ps += steps * p->ccti_timer_ps;
  }
  return pair->ccti;
}

void
ib_slow_down (IbNetwork *net, IbPair *pair)
{
  const TopoParameters *p = net->parameters;

  pair->ccti = (uint8_t) MIN (ib_congestion_index (net, pair) + p->ccti_increase, p->ccti_limit);
}
