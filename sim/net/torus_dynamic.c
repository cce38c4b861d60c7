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

typedef struct {
  Torus *net;
  uint32_t node_index;
  Node *node;
  DynamicNode *dynamic;
  uint32_t ports; /* bit port: it is due, looks when all that comes now is there */
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

/* Chunks that a port may send on the dynamic VC now. */
static ALWAYS_INLINE uint32_t
tokens (const Act *act, uint32_t port)
{
  return act->net->dynamic_tokens - act->dynamic->used[port];
}

/* --- Waking --- */

/* The node has a step that comes behind the one that is made. */
static void
add_late_step (Torus *net, uint64_t key)
{
  uint32_t hole = net->n_keys++;

  if (net->n_keys > net->keys_capacity) {
    net->keys_capacity = 2 * net->n_keys;
    net->keys = g_renew (uint64_t, net->keys, net->keys_capacity);
  }
  for (; hole > net->next_key && net->keys[hole - 1] > key; hole--)
    net->keys[hole] = net->keys[hole - 1];
  net->keys[hole] = key;
}

/* Something but dynamic packets is in its lists, or at the head of FIFOs, or will be. */
static bool
knows_deterministic (const Port *port)
{
  return (port->want[BUBBLE] | port->want[PRIORITY] | port->future | port->listed) != 0;
}

/* The step at which the port's newcomer of at_ps has its turn, 0: it has none, as far as is
 * known, or something waits already then. */
static RARE uint64_t
newcomer_step (const Torus *net, uint32_t node_index, uint32_t port_index, int64_t at_ps)
{
  Node *node = node_at (net, node_index);
  const Port *port = port_of (net, node, port_index);
  uint64_t what = IS_NEWCOMER | port_index;
  uint32_t first_in_port = UINT32_MAX, heads = port->early;

  if ((port->want[BUBBLE] | port->want[PRIORITY]) & ~port->early)
    return 0;
  for (uint32_t bits = port->listed; bits; bits &= bits - 1) {
    uint32_t list = (uint32_t) __builtin_ctz (bits), vc = list / 2;
    uint32_t id = vc_lists (net, node_index, port_index, vc)->head[list % 2];
    int32_t waited_ps = (int32_t) ((uint32_t) at_ps - vc_packet (net, node_index, vc, id)->since);

    if (waited_ps > 0)
      return 0;
    if (waited_ps == 0)
      first_in_port = MIN (first_in_port, id >> places_of (net)->id_shift[vc]);
  }
  for (uint32_t bits = port->future; bits; bits &= bits - 1) {
    uint32_t fifo = (uint32_t) __builtin_ctz (bits);
    int64_t ready_ps = fifo_of (net, node, fifo)->ready_ps;

    if (ready_ps < at_ps)
      return 0;
    if (ready_ps == at_ps)
      heads |= 1u << fifo;
  }
  if (first_in_port != UINT32_MAX)
    return step_key (net, STEP_ARRIVE, first_in_port, what, at_ps);
  if (heads == 0)
    return 0;
  uint32_t first = first_newcomer (net, node, heads);

  return fifo_of (net, node, first)->injected
             ? step_key (net, STEP_INJECTED, 0, what | first << 4, at_ps)
             : step_key (net, STEP_HEAD, first, what, at_ps);
}

/* The port looks at at_ps, which lies ahead. */
static void
wake_later (Act *act, uint32_t port_index, Port *port, int64_t at_ps)
{
  Torus *net = act->net;

  if (at_ps >= port->wake_ps)
    return;
  if (at_ps >> net->window_bits != net->window) {
    wake (net, act->node_index, port_index, port, at_ps);
    return;
  }
  port->wake_ps = at_ps;
  add_late_step (net, step_key (net, STEP_LOOK, port_index, 0, at_ps));
  if (knows_deterministic (port)) {
    uint64_t key = newcomer_step (net, act->node_index, port_index, at_ps);

    if (key != 0)
      add_late_step (net, key);
  }
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
  uint32_t dimensions = net->route.allowed[zone][pending], plus = way >> net->first_sign;

  return net->ports_of[dimensions & ~plus] | (uint32_t) net->ports_of[dimensions & plus] << 1;
}

static uint32_t
pending_dimensions (const Torus *net, uint32_t way)
{
  uint32_t pending = 0;

  for (uint32_t dimension = 0; dimension < net->route.shape.n_dimensions; dimension++)
    pending |= (uint32_t) ((way & net->hops_of[dimension]) != 0) << dimension;
  return pending;
}

/* Of the deterministic packets, none waits for the idle port that came before `turn` of now. */
static RARE bool
is_open_closely (const Act *act, uint32_t port_index, uint64_t turn)
{
  Torus *net = act->net;
  Port *port = port_of (net, act->node, port_index);
  uint32_t early;

  meet_future (net, act->node, port);
  early = port->early;
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

/* The port is idle, and nobody waits for it that came before `turn` of now.  Most are busy
 * with a dynamic packet, which can be told without a look at the port itself. */
static ALWAYS_INLINE bool
is_open (const Act *act, uint32_t port_index, uint64_t turn)
{
  const Port *port = port_of (act->net, act->node, port_index);

  return act->dynamic->busy_ps[port_index] <= act->net->now_ps &&
         !(act->dynamic->waited_for >> port_index & 1) && port->free_ps <= act->net->now_ps &&
         (!knows_deterministic (port) || is_open_closely (act, port_index, turn));
}

/* Bit port: no dynamic packet has it at at_ps. */
static ALWAYS_INLINE uint32_t
idle_ports (const DynamicNode *dynamic, int64_t at_ps)
{
  uint32_t ports = 0;

  for (uint32_t port = 0; port < NODE_PORTS; port += 8)
    ports |= free_slots (&dynamic->busy_ps[port], at_ps) << port;
  return ports;
}

/* The open port with most room, NOWHERE if none has enough. */
static ALWAYS_INLINE uint32_t
best_open_port (const Act *act, uint32_t ports, uint32_t chunks, uint64_t turn)
{
  uint32_t best = NOWHERE, best_tokens = 0;

  ports &= ~(uint32_t) act->dynamic->waited_for & idle_ports (act->dynamic, act->net->now_ps);
  for (; ports; ports &= ports - 1) {
    uint32_t port_index = (uint32_t) __builtin_ctz (ports), here = tokens (act, port_index);

    if (!is_open (act, port_index, turn))
      continue;

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
  uint32_t weight = packet_weight (packet->chunks, net->engine.base.shrink);

  port->free_ps = net->now_ps + net->wire_ps[packet->chunks];
  act->dynamic->busy_ps[port_index] = port->free_ps;
  /* The mark is in a cache line that few dynamic packets need otherwise. */
  if ((act->dynamic->starved >> port_index & 1) || knows_deterministic (port))
    *starved_mark (port) = 0;
  port->payload_bytes += packet->payload_bytes;
  port->packets += weight;
  port->early = 0;
  act->dynamic->starved &= (uint16_t) ~(1u << port_index);
  act->dynamic->used[port_index] =
      (uint16_t) (act->dynamic->used[port_index] + room_chunks (packet->chunks));
  act->dynamic->chunks[port_index] += weight * room_chunks (packet->chunks);
  net->engine.n_hops++;
  packet->way -= 1u << net->first_bit[dimension];
  packet->pending &= (uint8_t) ~((uint32_t) !(packet->way & net->hops_of[dimension]) << dimension);
  packet->node = act->node->neighbour[port_index];
  packet->in_port = (uint8_t) port_index;
  if (G_UNLIKELY (!is_own (net, packet->node))) {
    torus_post_dynamic (net, packet, at_ps);
    pool_give (&net->dynamic_packets, net->dynamic_packet, sizeof (DynamicPacket),
               offsetof (DynamicPacket, next), index);
    return;
  }
  if (packet->pending == 0)
    expect_dynamic_reception (net, index, at_ps);
  else
    expect_arrival (net, index, at_ps);
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

  prefetch_feeder (act->net, fifo);
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

  dynamic->head_chunks[queue] = (uint8_t) room_chunks (packet->chunks);
  dynamic->queue_ports[queue] = (uint16_t) ports;
  want (act, ports);
}

/* Of these ports the first that has most room. */
static ALWAYS_INLINE uint32_t
roomiest_port (const Act *act, uint32_t ports)
{
  const uint16_t *used = act->dynamic->used;

#ifdef __SSE2__
  /* With the port in the lowest bits, the least of 16 numbers tells. */
  if (G_LIKELY (act->net->dynamic_tokens < 2048)) {
    const __m128i *vectors = (const __m128i *) (const void *) used;
    __m128i bits = _mm_set1_epi16 ((short) ports);
    __m128i low_bits = _mm_setr_epi16 (1, 2, 4, 8, 16, 32, 64, 128);
    __m128i high_bits = _mm_slli_epi16 (low_bits, 8);
    __m128i ports_of_low = _mm_setr_epi16 (0, 1, 2, 3, 4, 5, 6, 7);
    __m128i ports_of_high = _mm_add_epi16 (ports_of_low, _mm_set1_epi16 (8));
    __m128i zero = _mm_setzero_si128 (), most = _mm_set1_epi16 (INT16_MAX);
    __m128i low = _mm_or_si128 (_mm_slli_epi16 (_mm_loadu_si128 (vectors), 4), ports_of_low);
    __m128i high = _mm_or_si128 (_mm_slli_epi16 (_mm_loadu_si128 (vectors + 1), 4), ports_of_high);

    low = _mm_or_si128 (
        low, _mm_and_si128 (most, _mm_cmpeq_epi16 (_mm_and_si128 (bits, low_bits), zero)));
    high = _mm_or_si128 (
        high, _mm_and_si128 (most, _mm_cmpeq_epi16 (_mm_and_si128 (bits, high_bits), zero)));
    low = _mm_min_epi16 (low, high);
    low = _mm_min_epi16 (low, _mm_shuffle_epi32 (low, _MM_SHUFFLE (1, 0, 3, 2)));
    low = _mm_min_epi16 (low, _mm_shuffle_epi32 (low, _MM_SHUFFLE (2, 3, 0, 1)));
    return MIN ((uint32_t) _mm_extract_epi16 (low, 0), (uint32_t) _mm_extract_epi16 (low, 1)) & 15;
  }
#endif
  uint32_t least = UINT32_MAX;

  for (uint32_t port = 0; port < MAX_PORTS; port++)
    if (ports >> port & 1)
      least = MIN (least, (uint32_t) used[port] << 4 | port);
  return least & 15;
}

/* The queue of the allowed dimension with most room now (guess; the hardware
 * has seven queues of unknown meaning). */
static void
wait_in_queue (Act *act, uint32_t index, uint32_t ports)
{
  Torus *net = act->net;
  DynamicPacket *packet = &net->dynamic_packet[index];
  uint32_t number = packet->in_port * MAX_QUEUES + roomiest_port (act, ports) / 2 % net->n_queues;
  Queue *queue = &act->dynamic->queue[number];

  packet->since_ps = net->now_ps;
  packet->next = 0;
  act->node->n_dynamic++;
  if (queue->head != 0) {
    net->dynamic_packet[queue->tail - 1].next = index + 1;
    queue->tail = index + 1;
    return;
  }
  queue->head = queue->tail = index + 1;
  raise_queue (act, number);
}

static ALWAYS_INLINE bool
is_wanted_by_any (const Act *act, uint32_t port_index, const Port *port)
{
  return is_wanted (port) || (act->dynamic->waited_for >> port_index & 1);
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
  uint32_t in_port = packet->in_port, chunks = room_chunks (packet->chunks);
  uint32_t ports = allowed_ports (net, packet->zone, packet->pending, packet->way);
  uint32_t best = best_open_port (act, ports, chunks, arrival_turn (in_port));

  if (best == NOWHERE) {
    wait_in_queue (act, index, ports);
    return;
  }
  Port *port = port_of (net, act->node, best);

  send_dynamic (act, best, port, index);
  return_chunks (net, act->node, in_port, chunks, port->free_ps);
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
  uint32_t port_index =
      best_open_port (act, ports, room_chunks (packet->chunks), arrival_turn (in_port));
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
  uint32_t best = best_open_port (act, ports, room_chunks (fifo->packet.chunks),
                                  head_turn (act->net, fifo, fifo_index));

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
leave_queue (Act *act, uint32_t port_index, Port *port, uint32_t number, const Room *room)
{
  Torus *net = act->net;
  Queue *queue = &act->dynamic->queue[number];
  uint32_t index = queue->head - 1, in_port = number / MAX_QUEUES;
  DynamicPacket *packet = &net->dynamic_packet[index];
  Waited *waited = &act->dynamic->waited[in_port];
  uint32_t chunks = room_chunks (packet->chunks);

  queue->head = packet->next;
  act->dynamic->queue_ports[number] = 0;
  recount (act->dynamic);
  act->node->n_dynamic--;
  waited->packets += packet_weight (packet->chunks, net->engine.base.shrink);
  waited->ps += (uint64_t) (net->now_ps - packet->since_ps);
  if (room == NULL) {
    send_dynamic (act, port_index, port, index);
  } else {
    Packet escaped = {
      .way = packet->way,
      .message = packet->message,
      .payload_bytes = packet->payload_bytes,
      .chunks = packet->chunks,
      .dynamic = (uint8_t) (net->stay_on_bubble ? 0 : IS_DYNAMIC | packet->zone << ZONE_SHIFT),
    };

    pool_give (&net->dynamic_packets, net->dynamic_packet, sizeof (DynamicPacket),
               offsetof (DynamicPacket, next), index);
    transmit (net, act->node_index, act->node, port_index, port, BUBBLE, room->slot, escaped);
  }
  return_chunks (net, act->node, in_port, chunks, port->free_ps);
  if (queue->head != 0)
    raise_queue (act, number);
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
    if (here >= room_chunks (packet->chunks) || next_port (act->net, packet->way) != port_index)
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
         (act->net->escape &&
          tokens (act, look->port_index) < room_chunks (act->net->full_chunks[false]) &&
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
    if (fifo->vc == DYNAMIC && here < room_chunks (fifo->packet.chunks))
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
arbitrate_all (Act *act, Look *look)
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

/* The port's first newcomer, when it has its turn: it goes at once if the port is idle,
 * nobody waits, and there is room. */
static void
try_newcomer (Act *act, uint32_t port_index)
{
  Port *port = port_of (act->net, act->node, port_index);
  Look look;

  if (port->free_ps > act->net->now_ps || (act->dynamic->waited_for >> port_index & 1))
    return;
  if (port->future)
    meet_future (act->net, act->node, port);
  look = survey (act->net, act->node_index, act->node, port_index);
  if (!look.old && serve_newcomer (&look))
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
  if (port->future)
    meet_future (net, act->node, port);
  if (knows_deterministic (port))
    look = survey (net, act->node_index, act->node, port_index);
  if (arbitrate_all (act, &look)) {
    sent_by (act, port_index, port);
    return;
  }
  act->dynamic->starved |= (uint16_t) (1u << port_index);
  next_ps = next_chance_ps (net, act->node_index, act->node, port_index, port);
  if (next_ps != NEVER_PS)
    wake_later (act, port_index, port, next_ps);
}

/* --- The steps of a window --- */

static ALWAYS_INLINE void
count_step (Torus *net, const Step *step)
{
  uint32_t *n = &net->node_steps[step->node - net->engine.base.first_node];
  bool is_token = (step->key >> STEP_CLASS_SHIFT & 7) == STEP_TOKEN;

  net->stepping[net->n_stepping] = step->node;
  net->n_stepping += *n == 0;
  *n = (*n + 1) | (is_token ? 0 : HAS_OTHERS);
}

void
torus_count_steps (Torus *net, const Bucket *bucket)
{
  for (uint32_t i = 0; i < bucket->n_steps; i++)
    count_step (net, &bucket->steps[i]);
}

void
torus_look_in_order (Torus *net, Bucket *bucket, uint32_t number)
{
  uint32_t node = number >> 4, port_index = number & 15;
  const Port *port = port_of (net, node_at (net, node), port_index);
  uint64_t key;

  if (port->wake_ps >> net->window_bits != net->window)
    return; /* an earlier wake took its place */
  add_step (net, bucket, node, step_key (net, STEP_LOOK, port_index, 0, port->wake_ps));
  count_step (net, &bucket->steps[bucket->n_steps - 1]);
  if (!knows_deterministic (port))
    return;
  key = newcomer_step (net, node, port_index, port->wake_ps);
  if (key != 0) {
    add_step (net, bucket, node, key);
    count_step (net, &bucket->steps[bucket->n_steps - 1]);
  }
}

/* One step; what it wakes is due. */
static ALWAYS_INLINE void
make_step (Act *act, uint64_t key)
{
  uint32_t index = (uint32_t) (key >> STEP_INDEX_SHIFT & 15), argument = (uint32_t) key;

  if (G_UNLIKELY (key & IS_NEWCOMER)) {
    try_newcomer (act, argument & 15);
    return;
  }
  switch ((StepClass) (key >> STEP_CLASS_SHIFT & 7)) {
  case STEP_TOKEN:
    act->dynamic->used[index] = (uint16_t) (act->dynamic->used[index] - argument);
    act->ports |= act->dynamic->starved & act->dynamic->waited_for & 1u << index;
    break;
  case STEP_ARRIVE:
    if (key & IS_SLOT)
      arrive_on_bubble (act, index, argument);
    else
      arrive (act, argument);
    break;
  case STEP_INJECTED: head_comes (act, argument); break;
  case STEP_HEAD: head_comes (act, index); break;
  case STEP_LOOK: {
    Port *port = port_of (act->net, act->node, index);

    if (port->wake_ps != act->net->now_ps)
      break; /* an earlier wake took its place */
    port->wake_ps = NEVER_PS;
    act->ports |= 1u << index;
    break;
  }
  }
}

/* As make_step(), which has one other place where it is inlined. */
static RARE void
make_injected (Act *act, uint64_t key)
{
  make_step (act, key);
}

static uint32_t
injected_sequence (const Act *act, uint64_t key)
{
  uint32_t fifo = (uint32_t) (key & IS_NEWCOMER ? key >> 4 : key) & 15;

  return fifo_of (act->net, act->node, fifo)->sequence - act->net->n_injected;
}

/* Heads that are injected at the same time: in the order of their descriptors. */
static RARE void
sort_injected (const Act *act, uint64_t *keys, uint32_t n)
{
  for (uint32_t i = 1; i < n; i++) {
    uint64_t key = keys[i];
    uint32_t hole = i;

    for (; hole > 0 && injected_sequence (act, keys[hole - 1]) > injected_sequence (act, key);
         hole--)
      keys[hole] = keys[hole - 1];
    keys[hole] = key;
  }
}

static void
step_node (Torus *net, uint32_t node)
{
  Act act = { net, node, node_at (net, node), &net->dynamic[node], 0 };

  while (net->next_key < net->n_keys) {
    uint64_t key = net->keys[net->next_key++];

    net->now_ps = net->window_ps + (int64_t) (key >> STEP_TIME_SHIFT);
    if (G_UNLIKELY ((key >> STEP_CLASS_SHIFT & 7) == STEP_INJECTED)) {
      uint32_t first = net->next_key - 1, next = first + 1;

      while (next < net->n_keys && net->keys[next] >> STEP_CLASS_SHIFT == key >> STEP_CLASS_SHIFT)
        next++;
      sort_injected (&act, &net->keys[first], next - first);
      for (net->next_key = next; first < next; first++)
        make_injected (&act, net->keys[first]);
    } else {
      make_step (&act, key);
    }
    if (act.ports == 0 || (net->next_key < net->n_keys &&
                           net->keys[net->next_key] >> STEP_TIME_SHIFT == key >> STEP_TIME_SHIFT))
      continue;
    /* All that comes now is there: the arbiters of the ports that are due, by port. */
    while (act.ports) {
      uint32_t port_index = (uint32_t) __builtin_ctz (act.ports);

      act.ports &= act.ports - 1;
      look_at (&act, port_index);
    }
  }
}

/* Nodes ahead of which a node is fetched, and steps ahead of which what they name is. */
#define NODES_AHEAD 6u
#define STEPS_FAR   16u
#define STEPS_NEAR  6u

static PREFETCHES
prefetch_stepping (const Torus *net, uint32_t node)
{
  const DynamicNode *dynamic = &net->dynamic[node];

  __builtin_prefetch (node_at (net, node), 1);
  __builtin_prefetch (dynamic, 1);
  __builtin_prefetch (dynamic->busy_ps, 1);
  __builtin_prefetch (dynamic->fifo_ports, 1);
  __builtin_prefetch (dynamic->queue_ports, 1);
  __builtin_prefetch (dynamic->queue_ports + 32, 1);
  __builtin_prefetch (dynamic->head_chunks, 1);
}

/* A packet comes that is on the dynamic VC. */
static ALWAYS_INLINE bool
brings_dynamic (const Step *step)
{
  const uint64_t what = UINT64_C (7) << STEP_CLASS_SHIFT | IS_SLOT | IS_NEWCOMER;

  return (step->key & what) == (uint64_t) STEP_ARRIVE << STEP_CLASS_SHIFT;
}

/* The packet that comes, or the FIFO whose head does. */
static PREFETCHES
prefetch_step (const Torus *net, const Step *step)
{
  if (brings_dynamic (step))
    __builtin_prefetch (&net->dynamic_packet[(uint32_t) step->key], 1);
  else if ((step->key >> STEP_CLASS_SHIFT & 7) == STEP_HEAD)
    __builtin_prefetch (fifo_of (net, node_at (net, step->node), (uint32_t) step->key & 15), 1);
}

/* The queues where it waits, and a port that it will find idle. */
static PREFETCHES
prefetch_way (const Torus *net, const Step *step)
{
  const DynamicNode *dynamic = &net->dynamic[step->node];
  uint32_t in_port = (uint32_t) (step->key >> STEP_INDEX_SHIFT & 15), ports;
  const DynamicPacket *packet;

  if (!brings_dynamic (step))
    return;
  packet = &net->dynamic_packet[(uint32_t) step->key];
  __builtin_prefetch (&dynamic->queue[in_port * MAX_QUEUES], 1);
  ports = allowed_ports (net, packet->zone, packet->pending, packet->way) &
          ~(uint32_t) dynamic->waited_for & idle_ports (dynamic, net->window_end_ps);
  if (ports)
    __builtin_prefetch (port_of (net, node_at (net, step->node), (uint32_t) __builtin_ctz (ports)),
                        1);
}

/* Brings the steps of each node together. */
static void
gather_steps (Torus *net, const Bucket *bucket)
{
  uint32_t end = 0, n = bucket->n_steps;

  if (n > net->step_capacity) {
    net->step_capacity = 2 * n;
    net->step = g_renew (Step, net->step, net->step_capacity + AHEAD);
  }
  for (uint32_t i = 0; i < net->n_stepping; i++) {
    uint32_t *place = &net->node_steps[net->stepping[i] - net->engine.base.first_node];
    uint32_t n_steps = *place & ~HAS_OTHERS;

    *place = end;
    end += n_steps;
  }
  for (uint32_t i = 0; i < n; i++) {
    const Step *step = &bucket->steps[i];

    net->step[net->node_steps[step->node - net->engine.base.first_node]++] = *step;
  }
  for (uint32_t ahead = 0; ahead < AHEAD; ahead++) {
    net->step[n + ahead] = net->step[n - 1];
    net->stepping[net->n_stepping + ahead] = net->stepping[net->n_stepping - 1];
  }
}

/* The keys of a node's steps, in order.  Returns the end. */
static ALWAYS_INLINE uint32_t
take_steps (Torus *net, uint32_t at, uint32_t end)
{
  const Step *steps = &net->step[at];
  uint32_t n = end - at;
  uint64_t *keys;

  if (G_UNLIKELY (n > net->keys_capacity)) {
    net->keys_capacity = 2 * n;
    net->keys = g_renew (uint64_t, net->keys, net->keys_capacity);
  }
  keys = net->keys;
  for (uint32_t i = 0; i < n; i++) {
    uint64_t key = steps[i].key;
    uint32_t hole = i;

    prefetch_step (net, &steps[i + STEPS_FAR]);
    prefetch_way (net, &steps[i + STEPS_NEAR]);
    for (; hole > 0 && keys[hole - 1] > key; hole--)
      keys[hole] = keys[hole - 1];
    keys[hole] = key;
  }
  net->n_keys = n;
  net->next_key = 0;
  return end;
}

void
torus_step (Torus *net, const Bucket *bucket)
{
  if (net->n_stepping == 0)
    return;
  gather_steps (net, bucket);
  for (uint32_t i = 0, at = 0; i < net->n_stepping; i++) {
    uint32_t node = net->stepping[i];
    uint32_t *end = &net->node_steps[node - net->engine.base.first_node];

    prefetch_stepping (net, net->stepping[i + NODES_AHEAD]);
    at = take_steps (net, at, *end);
    *end = 0;
    step_node (net, node);
  }
  net->n_stepping = 0;
}
