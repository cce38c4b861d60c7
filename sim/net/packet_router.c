/* packet_router.c - packets at the routers of a torus: port, time and virtual channel.
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
 * A packet that cannot go at once waits for the arbiter of a port, which picks
 * (bgq.md 2.3, 2.6; the rest is not published):
 *
 *  - the high-priority VC before the others (guess);
 *  - receivers before injection, 16:1 when both want the port;
 *  - dynamic and bubble VC in turn, dynamic queues in turn, straight and
 *    turning packets in turn, injection FIFOs in turn (guesses);
 *  - a dynamic packet that waits may fall to the bubble VC at its
 *    deterministic port when that port has no room for it on the dynamic VC. */
#include "sim/net/packet_state.h"

/* Bit per dimension in which a dynamic packet may go now. */
static inline uint32_t
allowed_dimensions (const PacketNetwork *net, const Packet *packet)
{
  return net->messages.route.allowed[packet->flags >> FLAG_ZONE_SHIFT][packet->way.pending];
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

/* A packet of `chunks` has left a receive buffer of `node`: its tokens travel
 * back to the sender at the other end of the link. */
static void
return_tokens (PacketNetwork *net, uint32_t node, uint32_t in_port, uint32_t vc, uint32_t chunks,
               int64_t left_ps)
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

/* --- Sending --- */

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
  if (vc == ROUTE_VC_BUBBLE)
    port->bubble_chunks += packet->chunks;
  else if (vc == ROUTE_VC_DYNAMIC)
    port->dynamic_chunks += packet->chunks;
  else
    port->priority_chunks += packet->chunks;
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

/* --- Waiting --- */

/* Raises the bit of a dynamic queue (receiver * MAX_QUEUES + queue) at every
 * port that `packet`, its head, may take. */
static void
dynamic_raise (PacketNetwork *net, uint32_t node, const Packet *packet, uint32_t bit)
{
  uint64_t mask = UINT64_C (1) << bit;
  uint32_t escape = route_torus_next_port (&net->messages.route, &packet->way);

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
    dynamic_raise (net, node, packet, in_port * MAX_QUEUES + queue);
}

static void
inject_raise (PacketNetwork *net, uint32_t node, const Packet *packet, uint32_t fifo)
{
  uint32_t dimensions = packet->flags & FLAG_DYNAMIC
                            ? allowed_dimensions (net, packet)
                            : 1u << net->messages.route.next_dimension[packet->way.pending];

  for (; dimensions; dimensions &= dimensions - 1) {
    uint32_t port_index = port_of (packet, (uint32_t) __builtin_ctz (dimensions));
    Port *port = port_at (net, node, port_index);

    port->want_inject[packet->vc] |= (uint16_t) (1u << fifo);
    kick (net, node, port_index, port);
  }
}

/* --- Arrival and injection --- */

static void
arrive_deterministic (PacketNetwork *net, uint32_t node, uint32_t in_port, uint32_t index)
{
  Packet *packet = &net->packet[index];
  uint32_t vc = packet->vc;
  uint32_t port_index = route_torus_next_port (&net->messages.route, &packet->way);
  Port *port = port_at (net, node, port_index);
  bool turns = port_index != in_port;
  uint32_t chunks = packet->chunks;

  if (is_open (net, port) && finds_room (net, port, vc, chunks, turns)) {
    transmit (net, port_index, port, index, vc);
    return_tokens (net, node, in_port, vc, chunks, port->free_ps);
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

void
packet_arrive (PacketNetwork *net, uint32_t node, uint32_t in_port, uint32_t index)
{
  Packet *packet = &net->packet[index];
  uint32_t vc = packet->vc, chunks = packet->chunks;

  if (packet->way.pending == 0) {
    int64_t left_ps = packet_receive (net, node, in_port, index);

    return_tokens (net, node, in_port, vc, chunks, left_ps);
    return;
  }
  if ((packet->flags & (FLAG_DYNAMIC | FLAG_STAY)) == FLAG_DYNAMIC) {
    uint32_t port_index = best_open_port (net, node, packet);

    if (port_index != PACKET_NONE) {
      Port *port = port_at (net, node, port_index);

      transmit (net, port_index, port, index, ROUTE_VC_DYNAMIC);
      return_tokens (net, node, in_port, vc, chunks, port->free_ps);
      return;
    }
    if (vc == ROUTE_VC_DYNAMIC) {
      dynamic_wait (net, node, in_port, index);
      return;
    }
  }
  arrive_deterministic (net, node, in_port, index);
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

    port_index = route_torus_next_port (&net->messages.route, &packet->way);
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
  return_tokens (net, node, in_port, old_vc, chunks, port->free_ps);
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
  /* Fallen packets may return to the dynamic VC at the next router unless the
   * machine keeps them on the bubble VC. */
  if (vc == ROUTE_VC_BUBBLE && net->stay_on_bubble)
    packet->flags |= FLAG_STAY;
  leave (net, node, port_index, port, index, vc);
  if (list->head != PACKET_NONE)
    dynamic_raise (net, node, &net->packet[list->head], bit);
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

/* Deterministic packets of the bubble VC, then dynamic ones that escape to it. */
static bool
serve_bubble (PacketNetwork *net, uint32_t node, uint32_t port_index, Port *port)
{
  bool served = serve_deterministic (net, node, port_index, port, port->bubble,
                                     LIST_BUBBLE_STRAIGHT, ROUTE_VC_BUBBLE);

  if (!served && (port->listed & LISTED_DYNAMIC) && has_room (port, ROUTE_VC_BUBBLE, 0, true)) {
    uint64_t mask = port->want_escape;

    while (mask && !served) {
      uint32_t bit = next_bit (mask, port->last_bit + 1u);
      uint32_t chunks = net->packet[dynamic_head (net, node, bit)].chunks;

      if (port->tokens[ROUTE_VC_DYNAMIC] < chunks) {
        port->last_bit = (uint8_t) bit;
        dynamic_leave (net, node, port_index, port, bit, ROUTE_VC_BUBBLE);
        served = true;
      }
      mask &= ~(UINT64_C (1) << bit);
    }
  }
  if (served)
    port->turns &= (uint8_t) ~TURN_VC;
  return served;
}

/* Lowers the FIFO's bit at every port its head wanted. */
static void
inject_lower (PacketNetwork *net, uint32_t node, const Packet *packet, uint32_t fifo)
{
  uint16_t mask = (uint16_t) ~(1u << fifo);

  if (!(packet->flags & FLAG_DYNAMIC)) {
    port_at (net, node, route_torus_next_port (&net->messages.route, &packet->way))
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

/* One grant, or false when nothing that waits has room downstream. */
static bool
serve (PacketNetwork *net, uint32_t node, uint32_t port_index, Port *port)
{
  bool injection_waits = (port->want_inject[0] | port->want_inject[1]) != 0;
  bool injection_first = injection_waits && port->grants >= net->receiver_grants;

  if ((port->listed & LISTED_PRIORITY) &&
      serve_deterministic (net, node, port_index, port, port->priority, LIST_PRIORITY_STRAIGHT,
                           ROUTE_VC_PRIORITY))
    return true;
  if (serve_fifos (net, node, port_index, port, with_room (port, ROUTE_VC_PRIORITY)))
    return true;
  if (injection_first && serve_injection (net, node, port_index, port))
    return true;
  if (port->turns & TURN_VC ? serve_bubble (net, node, port_index, port) ||
                                  serve_dynamic (net, node, port_index, port)
                            : serve_dynamic (net, node, port_index, port) ||
                                  serve_bubble (net, node, port_index, port)) {
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
