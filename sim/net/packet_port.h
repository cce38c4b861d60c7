/* packet_port.h - what router and arbiter both do with a port; private.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * All of it is on the path of every packet, hence inline. */
#pragma once

#include "sim/net/packet_state.h"

static inline uint32_t
zone_of (const Packet *packet)
{
  return packet->flags >> FLAG_ZONE_SHIFT;
}

/* Bit per dimension in which a dynamic packet may go now. */
static inline uint32_t
allowed_dimensions (const PacketNetwork *net, const Packet *packet)
{
  return net->route.allowed[zone_of (packet)][packet->way.pending];
}

static inline uint32_t
port_of (const Packet *packet, uint32_t dimension)
{
  return 2 * dimension + ((packet->way.plus >> dimension) & 1u);
}

static inline bool
is_waiting (const Port *port)
{
  return port->waiting != 0;
}

/* --- Tokens --- */

static inline void
collect_tokens (Port *port, int64_t until_ps)
{
  for (uint32_t i = 0; i < port->n_returns;) {
    uint64_t entry = port->returns[i];

    if ((int64_t) (entry >> 8) > until_ps) {
      i++;
      continue;
    }
    port->tokens[(entry >> 6) & 3] += (uint16_t) (entry & 63);
    port->returns[i] = port->returns[--port->n_returns];
  }
}

static inline uint32_t
token_cost (uint32_t vc, uint32_t chunks)
{
  return vc == ROUTE_VC_DYNAMIC ? chunks : 1;
}

/* --- Waking a port --- */

static inline void
wake_at (PacketNetwork *net, uint32_t node, uint32_t port_index, Port *port, int64_t at_ps)
{
  if (at_ps >= port->wake_ps)
    return;
  port->wake_ps = at_ps;
  sim_schedule_push (net->engine.schedule, node, CODE_PORT + port_index,
                     node * net->n_ports + port_index, at_ps);
}

/* Something new wants the port. */
static inline void
kick (PacketNetwork *net, uint32_t node, uint32_t port_index, Port *port)
{
  wake_at (net, node, port_index, port, MAX (net->engine.now_ps, port->free_ps));
}

/* --- Sending --- */

static inline void
count_chunks (Port *port, uint32_t vc, uint32_t chunks)
{
  if (vc == ROUTE_VC_BUBBLE)
    port->bubble_chunks += chunks;
  else if (vc == ROUTE_VC_DYNAMIC)
    port->dynamic_chunks += chunks;
  else
    port->priority_chunks += chunks;
}

static inline void
transmit (PacketNetwork *net, uint32_t port_index, Port *port, uint32_t index, uint32_t vc)
{
  Packet *packet = &net->packet[index];
  uint32_t dimension = port_index / 2;

  port->free_ps = net->engine.now_ps + net->wire_ps[packet->chunks];
  port->tokens[vc] -= (uint16_t) token_cost (vc, packet->chunks);
  port->starved = false;
  port->payload_bytes += packet->payload_bytes;
  port->packets++;
  count_chunks (port, vc, packet->chunks);
  net->engine.n_hops++;

  packet->vc = (uint8_t) vc;
  if (--packet->way.hops[dimension] == 0)
    packet->way.pending &= (uint8_t) ~(1u << dimension);
  sim_schedule_push (net->engine.schedule, port->neighbour, CODE_ARRIVE + port_index, index,
                     net->engine.now_ps + port->latency_ps);
}

/* Room downstream for a packet on `vc`; entering a ring leaves a bubble. */
static inline bool
has_room (const Port *port, uint32_t vc, uint32_t chunks, bool enters)
{
  if (vc == ROUTE_VC_DYNAMIC)
    return port->tokens[vc] >= chunks;
  return port->tokens[vc] >= (enters ? 2 : 1);
}

/* An idle port that nobody waits for may be taken at once; otherwise the
 * newcomer joins those who wait, and the arbiter decides. */
static inline bool
is_open (const PacketNetwork *net, const Port *port)
{
  return port->free_ps <= net->engine.now_ps && !is_waiting (port);
}

/* As has_room(), looking at tokens on their way back only when it must. */
static inline bool
finds_room (const PacketNetwork *net, Port *port, uint32_t vc, uint32_t chunks, bool enters)
{
  if (has_room (port, vc, chunks, enters))
    return true;
  collect_tokens (port, net->engine.now_ps);
  return has_room (port, vc, chunks, enters);
}

/* --- Injection --- */

/* The head of a FIFO is on the wire: the FIFO reads its next packet when the
 * last byte of this one has left. */
static inline void
inject_sent (PacketNetwork *net, uint32_t node, uint32_t fifo_index, const Port *port)
{
  Fifo *fifo = &net->fifo[(size_t) node * net->n_fifos + fifo_index];

  fifo->packet = PACKET_NONE;
  fifo->ready_ps = port->free_ps;
  if (fifo->last_feeder == PACKET_NONE)
    return;
  fifo->pending = true;
  sim_schedule_push (net->engine.schedule, node, CODE_FIFO + fifo_index,
                     node * net->n_fifos + fifo_index, fifo->ready_ps);
}
