/* ib_switch.c - a packet at a switch: which port, and when.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Virtual cut-through (infiniband.md section A3): a packet moves on as soon as
 * its head is here, when the next input buffer has credits for all of it.  A
 * link that is faster than the one it comes from must not run dry, so the
 * packet starts late enough for its last byte to be in time.  What cannot go
 * at once waits in the queue of its input, lane and output (ib_arbiter.c). */
#include "config.h"

#include "sim/net/ib_port.h"

static inline uint32_t
port_of (const IbNetwork *net, uint32_t unit, uint32_t number)
{
  return net->unit_port[net->unit_first[unit] + number];
}

/* What an adaptive switch compares: ports that would take the packet at once
 * before the others, then the one with fewest blocks ahead of it, here and in
 * the buffer beyond. */
static uint64_t
port_load (IbNetwork *net, uint32_t index, const IbPacket *packet)
{
  IbPort *port = &net->port[index];
  const IbLane *lane = ib_lane (net, index, packet->vl);
  bool goes;

  collect_credits (net, index, port, net->engine.now_ps);
  goes = is_open (net, port) && lane->credits >= packet->blocks;
  return (goes ? 0 : UINT64_C (1) << 40) + lane->queued_blocks + (UINT32_MAX - lane->credits);
}

/* Of the ports that begin a shortest way the least loaded; the table's own
 * when others are not better. */
static uint32_t
adaptive_port (IbNetwork *net, uint32_t unit, const IbPacket *packet, uint32_t number)
{
  const RouteForwarding *tables = net->tables;
  uint32_t home = net->home[packet->destination];
  uint32_t best = port_of (net, unit, number);
  const uint64_t *group;
  uint64_t best_load;

  if (home == unit || home == PACKET_NONE)
    return best;
  group = &tables->group[((size_t) unit * tables->n_switches + home) * tables->group_words];
  best_load = port_load (net, best, packet);
  for (uint32_t word = 0; word < tables->group_words; word++)
    for (uint64_t bits = group[word]; bits; bits &= bits - 1) {
      uint32_t other = port_of (net, unit, word * 64 + (uint32_t) __builtin_ctzll (bits));
      uint64_t load = port_load (net, other, packet);

      if (load < best_load) {
        best = other;
        best_load = load;
      }
    }
  return best;
}

void
ib_switch_enter (IbNetwork *net, uint32_t unit, uint32_t index)
{
  IbPacket *packet = &net->packet[index];
  uint32_t out = packet->out, in = packet->port;
  IbPort *port = &net->port[out];
  uint32_t vl = packet->vl, blocks = packet->blocks;
  int64_t free_ps = NEVER_PS;
  int64_t *slot;

  if (is_open (net, port) && finds_room (net, out, port, packet) &&
      (slot = find_slot (net, in, &free_ps)) != NULL &&
      first_claimant (net, unit, in, port->number) == PACKET_NONE) {
    use_claim (net, in, port->number);
    transmit (net, out, port, index);
    *slot = port->free_ps;
    return_credits (net, in, vl, blocks, port->free_ps);
  } else {
    wait_for (net, unit, out, port, index, net->port[in].number);
  }
}

void
ib_switch_arrive (IbNetwork *net, uint32_t unit, uint32_t index)
{
  IbPacket *packet = &net->packet[index];
  uint32_t number = route_forwarding_out (net->tables, unit, packet->destination);
  const IbPort *in = &net->port[packet->port], *out;

  g_assert (number != ROUTE_NO_PORT);
  packet->out =
      net->adaptive ? adaptive_port (net, unit, packet, number) : port_of (net, unit, number);
  out = &net->port[packet->out];
  if (G_UNLIKELY (out->ps_q32 < in->ps_q32)) {
    int64_t start_ps = packet->time_ps - wire_ps (net, out, packet);

    if (start_ps > net->engine.now_ps) {
      ib_push (net, unit, IB_READY, in->number, index, start_ps);
      return;
    }
  }
  ib_switch_enter (net, unit, index);
}
