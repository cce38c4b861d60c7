/* torus_dynamic.c - nodes of a torus that have packets of the dynamic VC.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rules with their sources (handbook page "The Blue Gene/Q model"):
 *
 *  - among the ports that a dynamic packet may take, the one with most tokens
 *    downstream (guess, as Blue Gene/L did it).  A packet that comes takes it
 *    when it is open: idle, and nobody waits for it;
 *  - else it waits in one of a few queues of its receiver.  The head of a queue
 *    wants every port that it may take, and its deterministic port also as an
 *    escape to the bubble VC, for when that has no room on the dynamic VC;
 *  - an escaped packet may return to the dynamic VC at the next router, unless
 *    the machine keeps it on the bubble VC.
 *
 * What happens at one time: packets that come, by input port; descriptors,
 * in their order; heads that their FIFO had to wait for, by FIFO; then the
 * arbiters of the ports that somebody waits for, by port. */
#include "sim/net/torus_port.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* A window of a node: at most one packet from each receiver, and one head of each FIFO. */
#define MAX_ARRIVALS (2 * MAX_PORTS + 1)

typedef struct {
  Torus *net;
  uint32_t node_index;
  Node *node;
  DynamicNode *dynamic;
  uint32_t due;   /* bit port: looks later in this window */
  uint32_t ports; /* bit port: looks now */
} Act;

/* When it comes, among those of the same time. */
static uint64_t
arrival_turn (uint32_t in_port)
{
  return in_port;
}

static uint64_t
head_turn (const Torus *net, const Fifo *fifo, uint32_t fifo_index)
{
  if (fifo->injected)
    return UINT64_C (1) << 32 | (fifo->sequence - net->n_injected);
  return UINT64_C (2) << 32 | fifo_index;
}

/* --- Tokens --- */

/* Those that are back by until_ps. */
static RARE void
collect (Torus *net, DynamicNode *dynamic, int64_t until_ps)
{
  int64_t first_ps = NEVER_PS;

  for (uint32_t i = 0; i < dynamic->n_returns;) {
    uint32_t port = dynamic->return_port[i];

    if (dynamic->return_ps[i] > until_ps) {
      first_ps = MIN (first_ps, dynamic->return_ps[i]);
      i++;
      continue;
    }
    dynamic->used[port] = (uint16_t) (dynamic->used[port] - dynamic->return_chunks[i]);
    dynamic->n_returns--;
    dynamic->return_ps[i] = dynamic->return_ps[dynamic->n_returns];
    dynamic->return_port[i] = dynamic->return_port[dynamic->n_returns];
    dynamic->return_chunks[i] = dynamic->return_chunks[dynamic->n_returns];
  }
  for (uint32_t *link = &dynamic->spilled; *link != 0;) {
    uint32_t index = *link - 1;
    SpilledReturn *spilled = &net->spilled[index];

    if (spilled->at_ps > until_ps) {
      first_ps = MIN (first_ps, spilled->at_ps);
      link = &spilled->next;
      continue;
    }
    dynamic->used[spilled->port] = (uint16_t) (dynamic->used[spilled->port] - spilled->chunks);
    *link = spilled->next;
    pool_give (&net->spills, net->spilled, sizeof (SpilledReturn), offsetof (SpilledReturn, next),
               index);
  }
  dynamic->first_return_ps = first_ps;
}

void
torus_return_chunks (Torus *net, uint32_t node, uint32_t port, uint32_t chunks, int64_t at_ps)
{
  DynamicNode *dynamic = &net->dynamic[node];

  /* What is back since before this window counts already: the node cannot be earlier. */
  if (G_UNLIKELY (dynamic->n_returns == RETURNS))
    collect (net, dynamic, net->window_ps);
  dynamic->first_return_ps = MIN (dynamic->first_return_ps, at_ps);
  if (G_LIKELY (dynamic->n_returns < RETURNS)) {
    dynamic->return_ps[dynamic->n_returns] = at_ps;
    dynamic->return_port[dynamic->n_returns] = (uint8_t) port;
    dynamic->return_chunks[dynamic->n_returns++] = (uint8_t) chunks;
    return;
  }
  uint32_t index = pool_take (&net->spills, (void **) &net->spilled, sizeof (SpilledReturn),
                              offsetof (SpilledReturn, next));

  net->spilled[index] =
      (SpilledReturn){ at_ps, dynamic->spilled, (uint8_t) port, (uint8_t) chunks };
  dynamic->spilled = index + 1;
}

/* When the next of a port's tokens comes back, NEVER_PS if none is on its way. */
static int64_t
next_return_ps (const Torus *net, const DynamicNode *dynamic, uint32_t port)
{
  int64_t first_ps = NEVER_PS;

  for (uint32_t i = 0; i < dynamic->n_returns; i++)
    if (dynamic->return_port[i] == port)
      first_ps = MIN (first_ps, dynamic->return_ps[i]);
  for (uint32_t at = dynamic->spilled; at != 0; at = net->spilled[at - 1].next)
    if (net->spilled[at - 1].port == port)
      first_ps = MIN (first_ps, net->spilled[at - 1].at_ps);
  return first_ps;
}

/* Chunks that a port may send on the dynamic VC now. */
static ALWAYS_INLINE uint32_t
tokens (const Act *act, uint32_t port)
{
  return act->net->dynamic_tokens - act->dynamic->used[port];
}

/* --- Waking --- */

/* The port looks at at_ps, which lies ahead. */
static void
wake_later (Act *act, uint32_t port_index, Port *port, int64_t at_ps)
{
  if (at_ps >= port->wake_ps)
    return;
  if (at_ps >> act->net->window_bits != act->net->window) {
    wake (act->net, act->node_index, port_index, port, at_ps);
    return;
  }
  port->wake_ps = at_ps;
  act->due |= 1u << port_index;
}

/* Something new waits for the port. */
static void
kick (Act *act, uint32_t port_index)
{
  Port *port = port_of (act->net, act->node, port_index);

  if (port->free_ps <= act->net->now_ps)
    act->ports |= 1u << port_index;
  else
    wake_later (act, port_index, port, port->free_ps);
}

/* --- Choosing a port --- */

/* Bit port: a packet with these hops left may take it on the dynamic VC. */
static ALWAYS_INLINE uint32_t
allowed_ports (const Torus *net, uint32_t zone, uint32_t pending, uint32_t way)
{
  uint32_t dimensions = net->messages.route.allowed[zone][pending], plus = way >> net->first_sign;

  return net->ports_of[dimensions & ~plus] | (uint32_t) net->ports_of[dimensions & plus] << 1;
}

static uint32_t
pending_dimensions (const Torus *net, uint32_t way)
{
  uint32_t pending = 0;

  for (uint32_t dimension = 0; dimension < net->messages.route.shape.n_dimensions; dimension++)
    pending |= (uint32_t) ((way & net->hops_of[dimension]) != 0) << dimension;
  return pending;
}

/* Of the deterministic packets, none waits for the idle port that came before `turn` of now. */
static RARE bool
is_open_closely (const Act *act, uint32_t port_index, uint64_t turn)
{
  Torus *net = act->net;
  const Port *port = port_of (net, act->node, port_index);
  uint32_t early = port->early;

  if ((port->want[BUBBLE] | port->want[PRIORITY]) & ~early)
    return false;
  for (uint32_t bits = port->listed; bits; bits &= bits - 1) {
    uint32_t list = (uint32_t) __builtin_ctz (bits), vc = list / 2;
    uint32_t id = vc_lists (net, act->node_index, port_index, vc)->head[list % 2];
    int32_t waited_ps =
        (int32_t) ((uint32_t) net->now_ps - vc_packet (net, act->node_index, vc, id)->since);

    if (waited_ps > 0 ||
        (waited_ps == 0 && arrival_turn (id >> places_of (net)->id_shift[vc]) < turn))
      return false;
  }
  for (; early; early &= early - 1) {
    uint32_t fifo = (uint32_t) __builtin_ctz (early);

    if (head_turn (net, fifo_of (net, act->node, fifo), fifo) < turn)
      return false;
  }
  return true;
}

/* The port is idle, and nobody waits for it that came before `turn` of now. */
static ALWAYS_INLINE bool
is_open (const Act *act, uint32_t port_index, uint64_t turn)
{
  const Port *port = port_of (act->net, act->node, port_index);

  return port->free_ps <= act->net->now_ps && !(act->dynamic->waited_for >> port_index & 1) &&
         (!(port->want[BUBBLE] | port->want[PRIORITY] | port->listed) ||
          is_open_closely (act, port_index, turn));
}

/* The open port with most room, NOWHERE if none has enough. */
static ALWAYS_INLINE uint32_t
best_open_port (const Act *act, uint32_t ports, uint32_t chunks, uint64_t turn)
{
  uint32_t best = NOWHERE, best_tokens = 0;

  for (ports &= ~(uint32_t) act->dynamic->waited_for; ports; ports &= ports - 1) {
    uint32_t port_index = (uint32_t) __builtin_ctz (ports);

    if (!is_open (act, port_index, turn))
      continue;
    uint32_t here = tokens (act, port_index);

    if (here >= chunks && here > best_tokens) {
      best = port_index;
      best_tokens = here;
    }
  }
  return best;
}

/* Bit place: the port is in that one of n masks, a multiple of 16 and at most 64. */
static ALWAYS_INLINE uint64_t
places_with_port (const uint16_t *masks, uint32_t n, uint32_t port_index)
{
  uint64_t places = 0;

#ifdef __SSE2__
  const __m128i *vectors = (const __m128i *) (const void *) masks;
  __m128i bit = _mm_set1_epi16 ((short) (1 << port_index));

  for (uint32_t k = 0; k < n / 16; k++) {
    __m128i low = _mm_loadu_si128 (vectors + 2 * k), high = _mm_loadu_si128 (vectors + 2 * k + 1);

    low = _mm_cmpeq_epi16 (_mm_and_si128 (low, bit), bit);
    high = _mm_cmpeq_epi16 (_mm_and_si128 (high, bit), bit);
    places |= (uint64_t) (uint32_t) _mm_movemask_epi8 (_mm_packs_epi16 (low, high)) << 16 * k;
  }
#else
  for (uint32_t place = 0; place < n; place++)
    places |= (uint64_t) (masks[place] >> port_index & 1) << place;
#endif
  return places;
}

/* Bit queue: its head wants the port. */
static ALWAYS_INLINE uint64_t
wanting_queues (const DynamicNode *dynamic, uint32_t port_index)
{
  return places_with_port (dynamic->queue_ports, NODE_QUEUES, port_index);
}

/* Bit FIFO: its dynamic head wants the port. */
static ALWAYS_INLINE uint32_t
wanting_fifos (const DynamicNode *dynamic, uint32_t port_index)
{
  return (uint32_t) places_with_port (dynamic->fifo_ports, NODE_PORTS, port_index);
}

/* --- Sending --- */

static void
send_dynamic (Act *act, uint32_t port_index, Port *port, uint32_t index)
{
  Torus *net = act->net;
  DynamicPacket *packet = &net->dynamic_packet[index];
  uint32_t dimension = port_index / 2;
  int64_t at_ps = net->now_ps + net->latency_ps[(act->node->far >> port_index) & 1];

  port->free_ps = net->now_ps + net->wire_ps[packet->chunks];
  *starved_mark (port) = 0;
  port->payload_bytes += packet->payload_bytes;
  port->packets++;
  port->early = 0;
  act->dynamic->starved &= (uint16_t) ~(1u << port_index);
  act->dynamic->used[port_index] = (uint16_t) (act->dynamic->used[port_index] + packet->chunks);
  act->dynamic->chunks[port_index] += packet->chunks;
  net->engine.n_hops++;
  packet->way -= 1u << net->first_bit[dimension];
  if (!(packet->way & net->hops_of[dimension]))
    packet->pending &= (uint8_t) ~(1u << dimension);
  packet->node = act->node->neighbour[port_index];
  packet->in_port = (uint8_t) port_index;
  if (packet->pending == 0)
    expect_dynamic_reception (net, index, at_ps);
  else
    expect_arrival (net, packet->node, ARRIVES, port_index, index, at_ps);
}

/* A packet of a FIFO or of the bubble VC goes to the dynamic VC. */
static void
send_as_dynamic (Act *act, uint32_t port_index, Packet packet)
{
  Torus *net = act->net;
  uint32_t index = pool_take (&net->dynamic_packets, (void **) &net->dynamic_packet,
                              sizeof (DynamicPacket), offsetof (DynamicPacket, next));

  net->dynamic_packet[index] = (DynamicPacket){
    .way = packet.way,
    .message = packet.message,
    .payload_bytes = packet.payload_bytes,
    .chunks = packet.chunks,
    .zone = packet.dynamic >> ZONE_SHIFT,
    .pending = (uint8_t) pending_dimensions (net, packet.way),
  };
  send_dynamic (act, port_index, port_of (net, act->node, port_index), index);
}

static void
send_dynamic_head (Act *act, uint32_t port_index, uint32_t fifo_index)
{
  Fifo *fifo = fifo_of (act->net, act->node, fifo_index);

  send_as_dynamic (act, port_index, fifo->packet);
  follow_head (act->net, act->node_index, act->node, port_index,
               port_of (act->net, act->node, port_index), fifo_index, fifo);
}

/* --- Waiting --- */

static uint32_t
ports_of_head (const Torus *net, const Fifo *fifo)
{
  return allowed_ports (net, fifo->packet.dynamic >> ZONE_SHIFT,
                        pending_dimensions (net, fifo->packet.way), fifo->packet.way);
}

/* Something new wants these ports.  Those that are waited for and not starved look anyway. */
static void
want (Act *act, uint32_t ports)
{
  DynamicNode *dynamic = act->dynamic;
  uint32_t fresh = ports & ~(uint32_t) dynamic->waited_for;

  act->ports |= ports & dynamic->starved;
  dynamic->waited_for |= (uint16_t) ports;
  for (; fresh; fresh &= fresh - 1)
    kick (act, (uint32_t) __builtin_ctz (fresh));
}

/* The head of a queue or FIFO has gone: which ports are still waited for? */
static ALWAYS_INLINE void
recount (DynamicNode *dynamic)
{
  uint16_t ports = 0;

  for (uint32_t queue = 0; queue < NODE_QUEUES; queue++)
    ports |= dynamic->queue_ports[queue];
  for (uint32_t fifo = 0; fifo < NODE_PORTS; fifo++)
    ports |= dynamic->fifo_ports[fifo];
  dynamic->waited_for = ports;
}

static void
raise_queue (Act *act, uint32_t queue)
{
  DynamicNode *dynamic = act->dynamic;
  const DynamicPacket *packet = &act->net->dynamic_packet[dynamic->queue[queue].head - 1];
  uint32_t ports = allowed_ports (act->net, packet->zone, packet->pending, packet->way);

  dynamic->head_chunks[queue] = packet->chunks;
  dynamic->queue_ports[queue] = (uint16_t) ports;
  want (act, ports);
}

/* The queue of the allowed dimension with most room now (guess; the hardware
 * has seven queues of unknown meaning). */
static void
wait_in_queue (Act *act, uint32_t index, uint32_t ports)
{
  Torus *net = act->net;
  DynamicPacket *packet = &net->dynamic_packet[index];
  uint32_t least = UINT32_MAX, bit;
  Queue *queue;

  for (uint32_t port = 0; port < MAX_PORTS; port++) {
    uint32_t used = (uint32_t) act->dynamic->used[port] << 4 | port;

    used |= (ports >> port & 1) - 1;
    least = MIN (least, used);
  }
  bit = packet->in_port * MAX_QUEUES + (least & 15) / 2 % net->n_queues;
  queue = &act->dynamic->queue[bit];
  packet->since_ps = net->now_ps;
  packet->next = 0;
  act->node->n_dynamic++;
  if (queue->head != 0) {
    net->dynamic_packet[queue->tail - 1].next = index + 1;
    queue->tail = index + 1;
    return;
  }
  queue->head = queue->tail = index + 1;
  raise_queue (act, bit);
}

static bool
is_wanted_by_any (const Act *act, uint32_t port_index, const Port *port)
{
  return is_wanted (port) || (act->dynamic->waited_for >> port_index & 1);
}

/* Something but dynamic packets is in its lists, or at the head of FIFOs. */
static bool
knows_deterministic (const Port *port)
{
  return (port->want[BUBBLE] | port->want[PRIORITY] | port->listed) != 0;
}

static void
sent_by (Act *act, uint32_t port_index, Port *port)
{
  if (is_wanted_by_any (act, port_index, port))
    wake_later (act, port_index, port, port->free_ps);
}

/* --- What comes --- */

static void
arrive (Act *act, uint32_t index)
{
  Torus *net = act->net;
  const DynamicPacket *packet = &net->dynamic_packet[index];
  uint32_t in_port = packet->in_port, chunks = packet->chunks;
  uint32_t ports = allowed_ports (net, packet->zone, packet->pending, packet->way);
  uint32_t best = best_open_port (act, ports, chunks, arrival_turn (in_port));

  if (best == NOWHERE) {
    wait_in_queue (act, index, ports);
    return;
  }
  Port *port = port_of (net, act->node, best);

  send_dynamic (act, best, port, index);
  return_token (net, act->node, in_port, DYNAMIC, chunks, port->free_ps);
}

/* A packet that escaped: back to the dynamic VC if a port is open there, else it goes on, or
 * waits, as a deterministic one. */
static void
arrive_on_bubble (Act *act, uint32_t in_port, uint32_t slot)
{
  Torus *net = act->net;
  uint32_t id = in_port << places_of (net)->id_shift[BUBBLE] | slot;
  Packet *packet = vc_packet (net, act->node_index, BUBBLE, id);
  uint32_t ports = allowed_ports (net, packet->dynamic >> ZONE_SHIFT,
                                  pending_dimensions (net, packet->way), packet->way);
  uint32_t port_index = best_open_port (act, ports, packet->chunks, arrival_turn (in_port));
  bool sent = port_index != NOWHERE;

  if (sent) {
    send_as_dynamic (act, port_index, *packet);
  } else {
    port_index = next_port (net, packet->way);
    if (is_open (act, port_index, arrival_turn (in_port))) {
      Port *port = port_of (net, act->node, port_index);
      Room room = room_on (net, bubble_slots (net, port), BUBBLE);

      sent = port_index == in_port ? room.one : room.two;
      if (sent)
        transmit (net, act->node_index, act->node, port_index, port, BUBBLE, room.slot, *packet);
    }
  }
  Port *port = port_of (net, act->node, port_index);
  uint32_t turns = port_index != in_port;

  if (sent) {
    return_token (net, act->node, in_port, BUBBLE, slot, port->free_ps);
    return;
  }
  if (port->listed >> LIST (BUBBLE, turns) & 1) {
    insert_in_order (net, act->node_index, BUBBLE, &port->lists, turns, id);
  } else {
    port->lists.head[turns] = port->lists.tail[turns] = (uint16_t) id;
    if (turns)
      port->lists.turning_since = packet->since;
    port->listed |= (uint8_t) (1u << LIST (BUBBLE, turns));
  }
  kick (act, port_index);
}

static void
head_comes (Act *act, uint32_t fifo_index)
{
  const Fifo *fifo = fifo_of (act->net, act->node, fifo_index);
  uint32_t ports = ports_of_head (act->net, fifo);
  uint32_t best =
      best_open_port (act, ports, fifo->packet.chunks, head_turn (act->net, fifo, fifo_index));

  if (best != NOWHERE) {
    send_dynamic_head (act, best, fifo_index);
    sent_by (act, best, port_of (act->net, act->node, best));
    return;
  }
  act->node->n_dynamic++;
  act->dynamic->fifo_ports[fifo_index] = (uint16_t) ports;
  want (act, ports);
}

/* --- The arbiter ---
 *
 * (bgq.md 2.3, 2.6; the rest is not published):
 *
 *  - the high-priority VC before the others (guess);
 *  - receivers before injection, 16:1 when both want the port;
 *  - dynamic and bubble VC in turn, dynamic queues in turn, straight and
 *    turning packets in turn, injection FIFOs in turn (guesses). */

static uint32_t
next_bit_64 (uint64_t mask, uint32_t first)
{
  uint64_t later = mask & (~UINT64_C (0) << (first & 63));

  return (uint32_t) __builtin_ctzll (later ? later : mask);
}

/* The head of a queue goes, on the bubble VC with `room` there; the next of the queue comes up. */
static void
leave_queue (Act *act, uint32_t port_index, Port *port, uint32_t bit, const Room *room)
{
  Torus *net = act->net;
  Queue *queue = &act->dynamic->queue[bit];
  uint32_t index = queue->head - 1, in_port = bit / MAX_QUEUES;
  DynamicPacket *packet = &net->dynamic_packet[index];
  Waited *waited = waited_at (net, act->node, in_port);
  uint32_t chunks = packet->chunks;

  queue->head = packet->next;
  act->dynamic->queue_ports[bit] = 0;
  recount (act->dynamic);
  act->node->n_dynamic--;
  waited->packets++;
  waited->ps += (uint64_t) (net->now_ps - packet->since_ps);
  if (room == NULL) {
    send_dynamic (act, port_index, port, index);
  } else {
    Packet escaped = {
      .way = packet->way,
      .message = packet->message,
      .payload_bytes = packet->payload_bytes,
      .chunks = packet->chunks,
      .dynamic = net->stay_on_bubble ? 0 : (uint8_t) (IS_DYNAMIC | packet->zone << ZONE_SHIFT),
    };

    pool_give (&net->dynamic_packets, net->dynamic_packet, sizeof (DynamicPacket),
               offsetof (DynamicPacket, next), index);
    transmit (net, act->node_index, act->node, port_index, port, BUBBLE, room->slot, escaped);
  }
  return_token (net, act->node, in_port, DYNAMIC, chunks, port->free_ps);
  if (queue->head != 0)
    raise_queue (act, bit);
}

static bool
serve_queues (Act *act, Look *look)
{
  uint32_t port_index = look->port_index, here = tokens (act, port_index);
  uint32_t first = act->dynamic->last_queue[port_index] + 1u;

  for (uint64_t mask = wanting_queues (act->dynamic, port_index); mask;) {
    uint32_t queue = next_bit_64 (mask, first);

    if (here >= act->dynamic->head_chunks[queue]) {
      act->dynamic->last_queue[port_index] = (uint8_t) queue;
      look->port->next |= BUBBLE_NEXT;
      leave_queue (act, port_index, look->port, queue, NULL);
      return true;
    }
    mask &= ~(UINT64_C (1) << queue);
  }
  return false;
}

/* Heads of queues that have no room on the dynamic VC, on the bubble VC. */
static bool
serve_escapes (Act *act, Look *look)
{
  uint32_t port_index = look->port_index, here = tokens (act, port_index);
  uint32_t first = act->dynamic->last_queue[port_index] + 1u;

  for (uint64_t mask = wanting_queues (act->dynamic, port_index); mask;) {
    uint32_t queue = next_bit_64 (mask, first);
    const DynamicPacket *packet = &act->net->dynamic_packet[act->dynamic->queue[queue].head - 1];

    mask &= ~(UINT64_C (1) << queue);
    if (here >= packet->chunks || next_port (act->net, packet->way) != port_index)
      continue;
    Room room = room_on (act->net, bubble_slots (act->net, look->port), BUBBLE);

    if (!room.two)
      return false;
    act->dynamic->last_queue[port_index] = (uint8_t) queue;
    look->port->next &= (uint8_t) ~BUBBLE_NEXT;
    leave_queue (act, port_index, look->port, queue, &room);
    return true;
  }
  return false;
}

/* Packets that know their port, then those that escape. */
static bool
serve_bubble (Act *act, Look *look)
{
  return (look->here && serve_lists (look, BUBBLE)) ||
         (act->net->escape && tokens (act, look->port_index) < act->net->full_chunks &&
          serve_escapes (act, look));
}

/* The heads of FIFOs in turn, each on its own VC. */
static bool
serve_injection (Act *act, Look *look)
{
  Port *port = look->port;
  uint32_t port_index = look->port_index, here = tokens (act, port_index);
  uint32_t mask = (here > 0 ? wanting_fifos (act->dynamic, port_index) : 0u) |
                  (look->room[BUBBLE].two ? port->want[BUBBLE] : 0u);
  uint32_t first = port->last_fifo + 1u;

  while (mask) {
    uint32_t fifo_index = next_bit (mask, first);
    const Fifo *fifo = fifo_of (act->net, act->node, fifo_index);

    mask &= ~(1u << fifo_index);
    if (fifo->vc == DYNAMIC && here < fifo->packet.chunks)
      continue;
    port->last_fifo = (uint8_t) fifo_index;
    port->grants = 0;
    if (fifo->vc != DYNAMIC) {
      send_head (act->net, act->node_index, act->node, port_index, port, fifo_index,
                 look->room[BUBBLE].slot);
      return true;
    }
    act->dynamic->fifo_ports[fifo_index] = 0;
    recount (act->dynamic);
    act->node->n_dynamic--;
    send_dynamic_head (act, port_index, fifo_index);
    return true;
  }
  return false;
}

/* One packet, or false when nothing that waits has room downstream. */
static bool
arbitrate (Act *act, Look *look)
{
  Port *port = look->port;
  bool injection_waits = (port->want[BUBBLE] | wanting_fifos (act->dynamic, look->port_index)) != 0;
  bool injection_first = injection_waits && port->grants >= act->net->receiver_grants;

  if ((look->here && serve_lists (look, PRIORITY)) ||
      (port->want[PRIORITY] && serve_heads (look, PRIORITY)) ||
      (injection_first && serve_injection (act, look)))
    return true;
  if (port->next & BUBBLE_NEXT ? serve_bubble (act, look) || serve_queues (act, look)
                               : serve_queues (act, look) || serve_bubble (act, look)) {
    if (injection_waits && port->grants < UINT8_MAX)
      port->grants++;
    return true;
  }
  return !injection_first && serve_injection (act, look);
}

/* --- A node in the order of time --- */

/* The port's first newcomer, when that is its turn and nobody waits. */
static void
try_newcomer (Act *act, uint32_t port_index)
{
  Port *port = port_of (act->net, act->node, port_index);
  Look look;

  if (!knows_deterministic (port) || port->free_ps > act->net->now_ps ||
      (act->dynamic->waited_for >> port_index & 1))
    return;
  look = survey (act->net, act->node_index, act->node, port_index);
  if (look.old || !serve_newcomer (&look))
    return;
  act->ports &= ~(1u << port_index);
  sent_by (act, port_index, port);
}

static void
look_at (Act *act, uint32_t port_index)
{
  Torus *net = act->net;
  Port *port = port_of (net, act->node, port_index);
  Look look = { .net = net,
                .node_index = act->node_index,
                .port_index = port_index,
                .node = act->node,
                .port = port };
  int64_t next_ps;

  if (!is_wanted_by_any (act, port_index, port))
    return;
  if (port->free_ps > net->now_ps) {
    wake_later (act, port_index, port, port->free_ps);
    return;
  }
  net->n_looks++;
  if (knows_deterministic (port))
    look = survey (net, act->node_index, act->node, port_index);
  if (arbitrate (act, &look)) {
    sent_by (act, port_index, port);
    return;
  }
  act->dynamic->starved |= (uint16_t) (1u << port_index);
  next_ps = MIN (next_chance_ps (net, act->node_index, act->node, port_index, port),
                 next_return_ps (net, act->dynamic, port_index));
  if (next_ps != NEVER_PS)
    wake_later (act, port_index, port, next_ps);
}

/* One of those that come at the same time: an arrival, or the newcomer of a port. */
typedef struct {
  uint64_t turn;
  const Arrival *arrival; /* NULL: of `port` */
  uint32_t port;
} Newcomer;

static void
meet (Act *act, const Arrival *arrival)
{
  uint32_t index = arrival->order & 15;

  if ((arrival->order >> 4 & 15) != ARRIVES)
    head_comes (act, index);
  else if (arrival->what & ON_BUBBLE)
    arrive_on_bubble (act, index, arrival->what & ~ON_BUBBLE);
  else
    arrive (act, arrival->what);
}

/* In a port's lists or FIFOs; UINT64_MAX: nothing comes now, or something waits already. */
static uint64_t
newcomer_turn (const Act *act, uint32_t port_index)
{
  Torus *net = act->net;
  Look look;
  uint32_t fifo;

  if (!knows_deterministic (port_of (net, act->node, port_index)))
    return UINT64_MAX;
  look = survey (net, act->node_index, act->node, port_index);
  if (look.old)
    return UINT64_MAX;
  if (look.here) {
    uint32_t vc = look.first_list / 2;
    uint32_t id = vc_lists (net, act->node_index, port_index, vc)->head[look.first_list % 2];

    return arrival_turn (id >> places_of (net)->id_shift[vc]);
  }
  if (look.port->early == 0)
    return UINT64_MAX;
  fifo = first_newcomer (net, act->node, look.port->early);
  return head_turn (net, fifo_of (net, act->node, fifo), fifo);
}

static void
meet_in_turn (Act *act, const Arrival *const *arrivals, uint32_t n_arrivals)
{
  Newcomer newcomers[MAX_ARRIVALS + MAX_PORTS];
  uint32_t n = 0;

  for (uint32_t i = 0; i < n_arrivals; i++) {
    uint32_t index = arrivals[i]->order & 15;
    bool is_head = (arrivals[i]->order >> 4 & 15) != ARRIVES;

    newcomers[n++] =
        (Newcomer){ is_head ? head_turn (act->net, fifo_of (act->net, act->node, index), index)
                            : arrival_turn (index),
                    arrivals[i], 0 };
  }
  for (uint32_t bits = act->ports; bits; bits &= bits - 1) {
    uint32_t port_index = (uint32_t) __builtin_ctz (bits);
    uint64_t turn = newcomer_turn (act, port_index);

    if (turn != UINT64_MAX)
      newcomers[n++] = (Newcomer){ turn, NULL, port_index };
  }
  for (uint32_t i = 1; i < n; i++) {
    Newcomer newcomer = newcomers[i];
    uint32_t hole = i;

    for (; hole > 0 && newcomers[hole - 1].turn > newcomer.turn; hole--)
      newcomers[hole] = newcomers[hole - 1];
    newcomers[hole] = newcomer;
  }
  for (uint32_t i = 0; i < n; i++)
    if (newcomers[i].arrival)
      meet (act, newcomers[i].arrival);
    else
      try_newcomer (act, newcomers[i].port);
}

/* All that happens at one time. */
static void
act_at (Act *act, const Arrival *const *arrivals, uint32_t n_arrivals)
{
  bool deterministic = false;

  for (uint32_t bits = act->ports; bits; bits &= bits - 1) {
    uint32_t port_index = (uint32_t) __builtin_ctz (bits);
    Port *port = port_of (act->net, act->node, port_index);

    if (port->free_ps > act->net->now_ps) {
      act->ports &= ~(1u << port_index);
      wake_later (act, port_index, port, port->free_ps);
    } else if (port->future) {
      meet_future (act->net, act->node, port);
    }
    deterministic |= knows_deterministic (port);
  }
  if (!deterministic)
    for (uint32_t i = 0; i < n_arrivals; i++)
      meet (act, arrivals[i]);
  else if (n_arrivals > 0)
    meet_in_turn (act, arrivals, n_arrivals);
  else
    for (uint32_t bits = act->ports; bits; bits &= bits - 1)
      try_newcomer (act, (uint32_t) __builtin_ctz (bits));
  while (act->ports) {
    uint32_t port_index = (uint32_t) __builtin_ctz (act->ports);

    act->ports &= act->ports - 1;
    look_at (act, port_index);
  }
}

static void
act_in_order (Torus *net, uint32_t node_index, const Bucket *bucket)
{
  Act act = { .net = net,
              .node_index = node_index,
              .node = node_at (net, node_index),
              .dynamic = &net->dynamic[node_index] };
  const Arrival *arrivals[MAX_ARRIVALS];
  uint32_t n = 0, next = 0;

  for (uint32_t at = act.node->first_arrival; at != 0; at = bucket->arrivals[at - 1].next) {
    const Arrival *arrival = &bucket->arrivals[at - 1];
    uint32_t hole = n++;

    g_assert (n <= MAX_ARRIVALS);
    /* From the last to the first: of descriptors of the same time, the earlier in front. */
    for (; hole > 0 && arrivals[hole - 1]->order >= arrival->order; hole--)
      arrivals[hole] = arrivals[hole - 1];
    arrivals[hole] = arrival;
  }
  act.due = act.node->due;
  act.node->first_arrival = 0;
  act.node->due = 0;
  act.node->in_order = false;
  for (;;) {
    int64_t now_ps = NEVER_PS;
    uint32_t first = next;

    if (next < n)
      now_ps = net->window_ps + (arrivals[next]->order >> 8);
    for (uint32_t bits = act.due; bits; bits &= bits - 1)
      now_ps = MIN (now_ps, port_of (net, act.node, (uint32_t) __builtin_ctz (bits))->wake_ps);
    if (now_ps == NEVER_PS)
      return;
    net->now_ps = now_ps;
    if (act.dynamic->first_return_ps <= now_ps)
      collect (net, act.dynamic, now_ps);
    for (uint32_t bits = act.due; bits; bits &= bits - 1) {
      Port *port = port_of (net, act.node, (uint32_t) __builtin_ctz (bits));

      if (port->wake_ps > now_ps)
        continue;
      port->wake_ps = NEVER_PS;
      act.due &= ~(bits & -bits);
      act.ports |= bits & -bits;
    }
    while (next < n && net->window_ps + (arrivals[next]->order >> 8) == now_ps)
      next++;
    act_at (&act, &arrivals[first], next - first);
  }
}

/* --- The nodes of a window --- */

static void
gather (Torus *net, uint32_t node_index, Node *node)
{
  if (node->in_order)
    return;
  node->in_order = true;
  net->in_order[net->n_in_order++] = node_index;
}

void
torus_gather_arrivals (Torus *net, Bucket *bucket)
{
  for (uint32_t i = 0; i < bucket->n_arrivals; i++) {
    Arrival *arrival = &bucket->arrivals[i];
    Node *node = node_at (net, arrival->node);

    __builtin_prefetch (node_at (net, bucket->arrivals[MIN (i + 12, bucket->n_arrivals - 1)].node),
                        1);
    arrival->next = node->first_arrival;
    node->first_arrival = i + 1;
    gather (net, arrival->node, node);
  }
}

void
torus_gather_port (Torus *net, uint32_t number)
{
  Node *node = node_at (net, number >> 4);
  const Port *port = port_of (net, node, number & 15);

  if (port->wake_ps >> net->window_bits != net->window)
    return; /* an earlier wake took its place */
  node->due |= (uint16_t) (1u << (number & 15));
  gather (net, number >> 4, node);
}

void
torus_act_in_order (Torus *net, const Bucket *bucket)
{
  for (uint32_t i = 0; i < net->n_in_order; i++)
    act_in_order (net, net->in_order[i], bucket);
  net->n_in_order = 0;
}
