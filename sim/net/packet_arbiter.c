/* packet_arbiter.c - a port that looks for something to send.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Who goes first (bgq.md 2.3, 2.6; the rest is not published):
 *
 *  - the high-priority VC before the others (guess);
 *  - receivers before injection, 16:1 when both want the port;
 *  - dynamic and bubble VC in turn, dynamic queues in turn, straight and
 *    turning packets in turn, injection FIFOs in turn (guesses);
 *  - a dynamic packet that waits may fall to the bubble VC at its
 *    deterministic port when that port has no room for it on the dynamic VC. */
#include "config.h"

#include "sim/net/packet_port.h"

/* Lowers a dynamic queue's bit at every port its head wanted. */
static void
dynamic_lower (PacketNetwork *net, uint32_t node, const Packet *packet, uint32_t bit)
{
  uint64_t mask = ~(UINT64_C (1) << bit);

  for (uint32_t dimensions = allowed_dimensions (net, packet); dimensions;
       dimensions &= dimensions - 1) {
    uint32_t port_index = port_of (packet, (uint32_t) __builtin_ctz (dimensions));
    Port *port = port_at (net, node, port_index);

    port->want_dynamic &= mask;
    port->want_escape &= mask;
    if (port->want_dynamic == 0)
      port->listed &= (uint16_t) ~LISTED_DYNAMIC;
  }
}

/* --- Leaving a receive buffer --- */

/* A packet that waited goes out through a port on `vc`. */
static void
leave (PacketNetwork *net, uint32_t node, uint32_t port_index, Port *port, uint32_t index,
       uint32_t vc)
{
  Packet *packet = &net->packet[index];
  Waited *waited = &net->waited[(size_t) node * net->n_ports + packet->in_port];
  uint32_t in_port = packet->in_port, old_vc = packet->vc, chunks = packet->chunks;

  waited->packets++;
  waited->ps += (uint64_t) (net->engine.now_ps - packet->since_ps);
  transmit (net, port_index, port, index, vc);
  packet_return_tokens (net, node, in_port, old_vc, chunks, port->free_ps);
}

/* Fallen packets may return to the dynamic VC at the next router unless the
 * machine keeps them on the bubble VC. */
static inline void
mark_fallen (const PacketNetwork *net, Packet *packet)
{
  if (net->stay_on_bubble)
    packet->flags |= FLAG_STAY;
}

/* The head of dynamic queue `bit` goes; the next one of the queue comes up. */
static void
dynamic_leave (PacketNetwork *net, uint32_t node, uint32_t port_index, Port *port, uint32_t bit,
               uint32_t vc)
{
  Receiver *receiver = &net->receiver[(size_t) node * net->n_ports + bit / MAX_QUEUES];
  PacketList *list = &receiver->queue[bit % MAX_QUEUES];
  uint32_t index = list_take (&net->engine, list);
  Packet *packet = &net->packet[index];

  dynamic_lower (net, node, packet, bit);
  if (vc == ROUTE_VC_BUBBLE)
    mark_fallen (net, packet);
  leave (net, node, port_index, port, index, vc);
  if (list->head != PACKET_NONE)
    packet_dynamic_raise (net, node, &net->packet[list->head], bit);
}

static inline uint32_t
dynamic_head (const PacketNetwork *net, uint32_t node, uint32_t bit)
{
  return net->receiver[(size_t) node * net->n_ports + bit / MAX_QUEUES]
      .queue[bit % MAX_QUEUES]
      .head;
}

/* --- The arbiter --- */

/* Bits of `mask` from `first` on, then from the start: one turn of a wheel. */
static inline uint32_t
next_bit (uint64_t mask, uint32_t first)
{
  uint64_t later = mask & (~UINT64_C (0) << (first & 63));

  return (uint32_t) __builtin_ctzll (later ? later : mask);
}

static bool
serve_dynamic (PacketNetwork *net, uint32_t node, uint32_t port_index, Port *port)
{
  uint64_t mask = port->listed & LISTED_DYNAMIC ? port->want_dynamic : 0;
  uint32_t first = port->last_bit + 1u;

  while (mask) {
    uint32_t bit = next_bit (mask, first);
    uint32_t chunks = net->packet[dynamic_head (net, node, bit)].chunks;

    if (port->tokens[ROUTE_VC_DYNAMIC] >= chunks) {
      port->last_bit = (uint8_t) bit;
      port->turns |= TURN_VC;
      dynamic_leave (net, node, port_index, port, bit, ROUTE_VC_DYNAMIC);
      return true;
    }
    mask &= ~(UINT64_C (1) << bit);
  }
  return false;
}

static void
serve_list (PacketNetwork *net, uint32_t node, uint32_t port_index, Port *port, PacketList *list,
            uint32_t list_index, uint32_t vc)
{
  uint32_t index = list_take (&net->engine, list);

  if (list->head == PACKET_NONE)
    port->listed &= (uint16_t) ~(1u << list_index);
  leave (net, node, port_index, port, index, vc);
}

/* Deterministic packets of one VC: those that go straight on are in the first
 * of the two lists, whose number is `straight`. */
static bool
serve_deterministic (PacketNetwork *net, uint32_t node, uint32_t port_index, Port *port,
                     PacketList *lists, uint32_t straight, uint32_t vc)
{
  uint32_t listed = (uint32_t) port->listed >> straight;
  bool may_go = (listed & 1) && has_room (port, vc, 0, false);
  bool may_turn = (listed & 2) && has_room (port, vc, 0, true);

  if (may_go && may_turn) {
    may_turn = (port->turns & TURN_LIST) != 0;
    port->turns ^= TURN_LIST;
  }
  if (may_turn)
    serve_list (net, node, port_index, port, &lists[1], straight + 1, vc);
  else if (may_go)
    serve_list (net, node, port_index, port, &lists[0], straight, vc);
  return may_go || may_turn;
}

static bool
serve_escape (PacketNetwork *net, uint32_t node, uint32_t port_index, Port *port)
{
  uint64_t mask;

  if (!(port->listed & LISTED_DYNAMIC) || !has_room (port, ROUTE_VC_BUBBLE, 0, true))
    return false;
  mask = port->want_escape;
  while (mask) {
    uint32_t bit = next_bit (mask, port->last_bit + 1u);
    uint32_t chunks = net->packet[dynamic_head (net, node, bit)].chunks;

    if (port->tokens[ROUTE_VC_DYNAMIC] < chunks) {
      port->last_bit = (uint8_t) bit;
      port->turns &= (uint8_t) ~TURN_VC;
      dynamic_leave (net, node, port_index, port, bit, ROUTE_VC_BUBBLE);
      return true;
    }
    mask &= ~(UINT64_C (1) << bit);
  }
  return false;
}

static bool
serve_bubble (PacketNetwork *net, uint32_t node, uint32_t port_index, Port *port)
{
  if (serve_deterministic (net, node, port_index, port, port->bubble, LIST_BUBBLE_STRAIGHT,
                           ROUTE_VC_BUBBLE)) {
    port->turns &= (uint8_t) ~TURN_VC;
    return true;
  }
  return serve_escape (net, node, port_index, port);
}

static bool
serve_receivers (PacketNetwork *net, uint32_t node, uint32_t port_index, Port *port)
{
  if (port->turns & TURN_VC)
    return serve_bubble (net, node, port_index, port) ||
           serve_dynamic (net, node, port_index, port);
  return serve_dynamic (net, node, port_index, port) || serve_bubble (net, node, port_index, port);
}

/* --- Injection --- */

/* Lowers the FIFO's bit at every port its head wanted. */
static void
inject_lower (PacketNetwork *net, uint32_t node, const Packet *packet, uint32_t fifo)
{
  uint16_t mask = (uint16_t) ~(1u << fifo);

  if (!(packet->flags & FLAG_DYNAMIC)) {
    port_at (net, node, route_torus_next_port (&net->route, &packet->way))
        ->want_inject[packet->vc] &= mask;
    return;
  }
  for (uint32_t dimensions = allowed_dimensions (net, packet); dimensions;
       dimensions &= dimensions - 1)
    port_at (net, node, port_of (packet, (uint32_t) __builtin_ctz (dimensions)))
        ->want_inject[ROUTE_VC_DYNAMIC] &= mask;
}

/* The heads of the FIFOs in `mask`, in turn, each on its own VC. */
static bool
serve_fifos (PacketNetwork *net, uint32_t node, uint32_t port_index, Port *port, uint64_t mask)
{
  while (mask) {
    uint32_t fifo = next_bit (mask, port->last_fifo + 1u);
    uint32_t index = net->fifo[(size_t) node * net->n_fifos + fifo].packet;
    Packet *packet = &net->packet[index];

    if (has_room (port, packet->vc, packet->chunks, true)) {
      port->last_fifo = (uint8_t) fifo;
      inject_lower (net, node, packet, fifo);
      transmit (net, port_index, port, index, packet->vc);
      inject_sent (net, node, fifo, port);
      return true;
    }
    mask &= ~(UINT64_C (1) << fifo);
  }
  return false;
}

/* The FIFOs whose heads want the VC, none of them when it is so full that no
 * packet can enter: their packets need not be looked at then. */
static inline uint64_t
with_room (const Port *port, uint32_t vc)
{
  return has_room (port, vc, 1, true) ? port->want_inject[vc] : 0;
}

static bool
serve_injection (PacketNetwork *net, uint32_t node, uint32_t port_index, Port *port)
{
  uint64_t mask = with_room (port, ROUTE_VC_DYNAMIC) | with_room (port, ROUTE_VC_BUBBLE);

  if (!serve_fifos (net, node, port_index, port, mask))
    return false;
  port->grants = 0;
  return true;
}

static bool
serve_priority (PacketNetwork *net, uint32_t node, uint32_t port_index, Port *port)
{
  if ((port->listed & LISTED_PRIORITY) &&
      serve_deterministic (net, node, port_index, port, port->priority, LIST_PRIORITY_STRAIGHT,
                           ROUTE_VC_PRIORITY))
    return true;
  return serve_fifos (net, node, port_index, port, with_room (port, ROUTE_VC_PRIORITY));
}

/* One grant, or false when nothing that waits has room downstream. */
static bool
serve (PacketNetwork *net, uint32_t node, uint32_t port_index, Port *port)
{
  bool injection_waits = (port->want_inject[0] | port->want_inject[1]) != 0;
  bool injection_first = injection_waits && port->grants >= net->receiver_grants;

  if (serve_priority (net, node, port_index, port))
    return true;
  if (injection_first && serve_injection (net, node, port_index, port))
    return true;
  if (serve_receivers (net, node, port_index, port)) {
    if (injection_waits && port->grants < UINT8_MAX)
      port->grants++;
    return true;
  }
  return !injection_first && serve_injection (net, node, port_index, port);
}

/* Nothing can go for want of tokens: wake when the first of those on their
 * way comes, and have later ones announced. */
static void
starve (PacketNetwork *net, uint32_t node, uint32_t port_index, Port *port)
{
  int64_t first_ps = NEVER_PS;

  port->starved = true;
  for (uint32_t i = 0; i < port->n_returns; i++)
    first_ps = MIN (first_ps, (int64_t) (port->returns[i] >> 8));
  if (first_ps != NEVER_PS)
    wake_at (net, node, port_index, port, first_ps);
}

void
packet_port_wake (PacketNetwork *net, uint32_t node, uint32_t port_index)
{
  Port *port = port_at (net, node, port_index);

  if (port->wake_ps != net->engine.now_ps)
    return; /* an earlier wake took its place */
  port->wake_ps = NEVER_PS;
  if (!is_waiting (port))
    return;
  if (port->free_ps > net->engine.now_ps) {
    wake_at (net, node, port_index, port, port->free_ps);
    return;
  }
  collect_tokens (port, net->engine.now_ps);
  if (!serve (net, node, port_index, port))
    starve (net, node, port_index, port);
  else if (is_waiting (port))
    wake_at (net, node, port_index, port, port->free_ps);
}
