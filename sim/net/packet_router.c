/* packet_router.c - a packet at a router: which port, when, on which VC.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rules with their sources (handbook page "The Blue Gene/Q model"):
 *
 *  - virtual cut-through: a packet moves on as soon as its head is here, if
 *    the whole packet finds room in the next receiver (bgq.md 2.2);
 *  - bubble rule: one free slot to go straight on in a ring, two to enter
 *    one: by injection, by turning or from the dynamic VC (2.6);
 *  - among the ports that a dynamic packet may take, the one with most tokens
 *    downstream (guess, as Blue Gene/L did it).
 *
 * A packet that cannot go at once waits for the arbiter (packet_arbiter.c). */
#include "config.h"

#include "sim/net/packet_port.h"

/* --- Tokens --- */

void
packet_return_tokens (PacketNetwork *net, uint32_t node, uint32_t in_port, uint32_t vc,
                      uint32_t chunks, int64_t left_ps)
{
  uint32_t sender = neighbour_at (net, node, topo_port_opposite (in_port));
  Port *port = port_at (net, sender, in_port);
  uint32_t amount = token_cost (vc, chunks);
  int64_t at_ps = left_ps + net->token_latency_ps;

  /* Returns that count since before this window may be settled from here; the
   * sender cannot be earlier. */
  if (!port->starved && port->n_returns == RETURNS)
    collect_tokens (port, sim_schedule_window_start_ps (net->engine.schedule));
  if (port->starved || port->n_returns == RETURNS || at_ps >= RETURNS_UNTIL_PS)
    sim_schedule_push (net->engine.schedule, sender, CODE_TOKEN + in_port, vc << 8 | amount, at_ps);
  else
    port->returns[port->n_returns++] = (uint64_t) at_ps << 8 | vc << 6 | amount;
}

void
packet_token (PacketNetwork *net, uint32_t node, uint32_t port_index, uint32_t argument)
{
  Port *port = port_at (net, node, port_index);

  port->tokens[argument >> 8] += (uint16_t) (argument & 255);
  if (is_waiting (port))
    kick (net, node, port_index, port);
}

/* --- Choosing a port --- */

/* The allowed port with most room that is open, PACKET_NONE if there is none. */
static inline uint32_t
best_open_port (PacketNetwork *net, uint32_t node, const Packet *packet)
{
  uint32_t best = PACKET_NONE, best_tokens = 0;

  for (uint32_t dimensions = allowed_dimensions (net, packet); dimensions;
       dimensions &= dimensions - 1) {
    uint32_t port_index = port_of (packet, (uint32_t) __builtin_ctz (dimensions));
    Port *port = port_at (net, node, port_index);

    if (!is_open (net, port))
      continue;
    collect_tokens (port, net->engine.now_ps);
    if (port->tokens[ROUTE_VC_DYNAMIC] >= packet->chunks &&
        port->tokens[ROUTE_VC_DYNAMIC] > best_tokens) {
      best = port_index;
      best_tokens = port->tokens[ROUTE_VC_DYNAMIC];
    }
  }
  return best;
}

/* --- Waiting on the dynamic VC --- */

void
packet_dynamic_raise (PacketNetwork *net, uint32_t node, const Packet *packet, uint32_t bit)
{
  uint64_t mask = UINT64_C (1) << bit;
  uint32_t escape = route_torus_next_port (&net->route, &packet->way);

  for (uint32_t dimensions = allowed_dimensions (net, packet); dimensions;
       dimensions &= dimensions - 1) {
    uint32_t port_index = port_of (packet, (uint32_t) __builtin_ctz (dimensions));
    Port *port = port_at (net, node, port_index);

    port->want_dynamic |= mask;
    port->listed |= LISTED_DYNAMIC;
    if (port_index == escape && net->escape)
      port->want_escape |= mask;
    kick (net, node, port_index, port);
  }
}

/* Which of the receiver's queues: that of the allowed dimension with most
 * room now (guess; the hardware has seven queues of unknown meaning). */
static uint32_t
dynamic_queue (PacketNetwork *net, uint32_t node, const Packet *packet)
{
  uint32_t best = 0, best_tokens = 0;

  for (uint32_t dimensions = allowed_dimensions (net, packet); dimensions;
       dimensions &= dimensions - 1) {
    uint32_t dimension = (uint32_t) __builtin_ctz (dimensions);
    Port *port = port_at (net, node, port_of (packet, dimension));

    collect_tokens (port, net->engine.now_ps);
    if (port->tokens[ROUTE_VC_DYNAMIC] >= best_tokens) {
      best = dimension;
      best_tokens = port->tokens[ROUTE_VC_DYNAMIC] + 1u;
    }
  }
  return best % net->n_queues;
}

static void
dynamic_wait (PacketNetwork *net, uint32_t node, uint32_t in_port, uint32_t index)
{
  Packet *packet = &net->packet[index];
  uint32_t queue = dynamic_queue (net, node, packet);
  PacketList *list = &net->receiver[(size_t) node * net->n_ports + in_port].queue[queue];
  bool first = list->head == PACKET_NONE;

  packet->in_port = (uint8_t) in_port;
  packet->since_ps = net->engine.now_ps;
  list_append (&net->engine, list, index);
  if (first)
    packet_dynamic_raise (net, node, packet, in_port * MAX_QUEUES + queue);
}

/* --- Injection --- */

static void
inject_raise (PacketNetwork *net, uint32_t node, const Packet *packet, uint32_t fifo)
{
  uint32_t dimensions = packet->flags & FLAG_DYNAMIC
                            ? allowed_dimensions (net, packet)
                            : 1u << net->route.next_dimension[packet->way.pending];

  for (; dimensions; dimensions &= dimensions - 1) {
    uint32_t port_index = port_of (packet, (uint32_t) __builtin_ctz (dimensions));
    Port *port = port_at (net, node, port_index);

    port->want_inject[packet->vc] |= (uint16_t) (1u << fifo);
    kick (net, node, port_index, port);
  }
}

/* --- Arrival --- */

static void
arrive_deterministic (PacketNetwork *net, uint32_t node, uint32_t in_port, uint32_t index)
{
  Packet *packet = &net->packet[index];
  uint32_t vc = packet->vc;
  uint32_t port_index = route_torus_next_port (&net->route, &packet->way);
  Port *port = port_at (net, node, port_index);
  bool turns = port_index != in_port;
  uint32_t chunks = packet->chunks;

  if (is_open (net, port) && finds_room (net, port, vc, chunks, turns)) {
    transmit (net, port_index, port, index, vc);
    packet_return_tokens (net, node, in_port, vc, chunks, port->free_ps);
    return;
  }
  packet->in_port = (uint8_t) in_port;
  packet->since_ps = net->engine.now_ps;
  if (vc == ROUTE_VC_PRIORITY) {
    list_append (&net->engine, &port->priority[turns], index);
    port->listed |= (uint16_t) (1u << (LIST_PRIORITY_STRAIGHT + turns));
  } else {
    list_append (&net->engine, &port->bubble[turns], index);
    port->listed |= (uint16_t) (1u << (LIST_BUBBLE_STRAIGHT + turns));
  }
  kick (net, node, port_index, port);
}

static void
arrive_dynamic (PacketNetwork *net, uint32_t node, uint32_t in_port, uint32_t index)
{
  Packet *packet = &net->packet[index];
  uint32_t vc = packet->vc, chunks = packet->chunks;
  uint32_t port_index = best_open_port (net, node, packet);

  if (port_index != PACKET_NONE) {
    Port *port = port_at (net, node, port_index);

    transmit (net, port_index, port, index, ROUTE_VC_DYNAMIC);
    packet_return_tokens (net, node, in_port, vc, chunks, port->free_ps);
  } else if (vc == ROUTE_VC_BUBBLE) {
    arrive_deterministic (net, node, in_port, index);
  } else {
    dynamic_wait (net, node, in_port, index);
  }
}

void
packet_arrive (PacketNetwork *net, uint32_t node, uint32_t in_port, uint32_t index)
{
  Packet *packet = &net->packet[index];

  if (packet->way.pending == 0) {
    uint32_t vc = packet->vc, chunks = packet->chunks;
    int64_t left_ps = packet_receive (net, node, in_port, index);

    packet_return_tokens (net, node, in_port, vc, chunks, left_ps);
  } else if ((packet->flags & (FLAG_DYNAMIC | FLAG_STAY)) == FLAG_DYNAMIC) {
    arrive_dynamic (net, node, in_port, index);
  } else {
    arrive_deterministic (net, node, in_port, index);
  }
}

void
packet_fifo_head (PacketNetwork *net, uint32_t node, uint32_t fifo_index)
{
  uint32_t index = net->fifo[(size_t) node * net->n_fifos + fifo_index].packet;
  Packet *packet = &net->packet[index];
  uint32_t port_index;

  if (packet->flags & FLAG_DYNAMIC) {
    port_index = best_open_port (net, node, packet);
  } else {
    Port *port;

    port_index = route_torus_next_port (&net->route, &packet->way);
    port = port_at (net, node, port_index);
    if (!is_open (net, port) || !finds_room (net, port, packet->vc, packet->chunks, true))
      port_index = PACKET_NONE;
  }
  if (port_index == PACKET_NONE) {
    inject_raise (net, node, packet, fifo_index);
    return;
  }
  Port *port = port_at (net, node, port_index);

  transmit (net, port_index, port, index, packet->vc);
  inject_sent (net, node, fifo_index, port);
}
