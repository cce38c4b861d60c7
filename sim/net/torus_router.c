/* torus_router.c - packets at the ports of a torus, window by window.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/torus_state.h"

/* --- Effects on other nodes --- */

static ALWAYS_INLINE void
apply_token (Torus *net, const Token *token)
{
  Port *port = port_of (net, node_at (net, token->node), token->port);

  vc_slots (net, token->node, token->port, token->vc)[token->slot] = token->at_ps;
  if (G_UNLIKELY (*starved_mark (port)))
    wake (net, token->node, token->port, port, token->at_ps);
}

/* A packet that turns and comes before others that left their routers earlier. */
static RARE void
insert_turning (Torus *net, const Going *going, Lists *lists, uint16_t *links, uint32_t id)
{
  uint32_t shift = places_of (net)->id_shift[going->vc], at = lists->head[1], before = UINT32_MAX;

  for (;;) {
    const Packet *packet = vc_packet (net, going->node, going->vc, at);
    int32_t later_ps = (int32_t) (packet->since - going->packet.since);

    if (later_ps > 0 || (later_ps == 0 && at >> shift > going->in_port))
      break;
    before = at;
    at = links[at];
  }
  links[id] = (uint16_t) at;
  if (before == UINT32_MAX)
    lists->head[1] = (uint16_t) id;
  else
    links[before] = (uint16_t) id;
}

static ALWAYS_INLINE void
apply_going (Torus *net, const Going *going, uint32_t vc)
{
  uint32_t shift = places_of (net)->id_shift[vc],
           id = (uint32_t) going->in_port << shift | going->slot;
  uint32_t turns = going->port != going->in_port, listed_bit = 1u << LIST (vc, turns);
  Node *node = node_at (net, going->node);
  Port *port;
  Lists *lists;
  uint16_t *links, *link;
  bool is_first;

  if (vc == BUBBLE)
    bubble_packets (net, node, going->in_port)[going->slot] = going->packet;
  else
    *vc_packet (net, going->node, vc, id) = going->packet;
  if (going->port == NOWHERE) {
    expect_reception (net, going->node, (uint32_t) going->in_port << 13 | vc << 12 | going->slot,
                      going->at_ps);
    return;
  }
  port = port_of (net, node, going->port);
  lists = vc == BUBBLE ? &port->lists : vc_lists (net, going->node, going->port, vc);
  links = vc == BUBBLE ? bubble_links (net, node) : vc_links (net, going->node, vc);
  is_first = !(port->listed & listed_bit);
  if (G_UNLIKELY (!is_first && turns &&
                  ((int32_t) (lists->turning_since - going->packet.since) > 0 ||
                   (lists->turning_since == going->packet.since &&
                    lists->tail[1] >> shift > going->in_port)))) {
    insert_turning (net, going, lists, links, id);
  } else {
    link = &links[lists->tail[turns]];
    link = is_first ? &lists->head[turns] : link;
    *link = (uint16_t) id;
    lists->tail[turns] = (uint16_t) id;
    lists->turning_since = turns ? going->packet.since : lists->turning_since;
    port->listed |= (uint8_t) listed_bit;
  }
  wake (net, going->node, going->port, port, MAX (port->free_ps, going->at_ps));
}

static ALWAYS_INLINE void
apply_kept_going (Torus *net, const Going *going)
{
  if (G_LIKELY (going->vc == BUBBLE))
    apply_going (net, going, BUBBLE);
  else
    apply_going (net, going, PRIORITY);
}

/* The window ends: what was kept back takes effect. */
static void
apply_all (Torus *net)
{
  uint32_t n_going = MIN (net->n_going, net->n_kept), n_tokens = MIN (net->n_tokens, net->n_kept);

  for (uint32_t k = net->n_going - n_going; k != net->n_going; k++)
    apply_kept_going (net, &net->going[k & (net->n_kept - 1)]);
  for (uint32_t k = net->n_tokens - n_tokens; k != net->n_tokens; k++)
    apply_token (net, &net->token[k & (net->n_kept - 1)]);
  net->n_going = net->n_tokens = 0;
}

/* A packet leaves a slot of a receive buffer by left_ps: its token travels back
 * to the sender at the other end of the link. */
static ALWAYS_INLINE void
return_token (Torus *net, const Node *node, uint32_t in_port, uint32_t vc, uint32_t slot,
              int64_t left_ps)
{
  uint32_t sender = node->neighbour[topo_port_opposite (in_port)];
  Token *token = &net->token[net->n_tokens & (net->n_kept - 1)];

  if (G_LIKELY (net->n_tokens >= net->n_kept))
    apply_token (net, token);
  net->n_tokens++;
  *token = (Token){ left_ps + net->token_latency_ps, sender, (uint16_t) slot, (uint8_t) in_port,
                    (uint8_t) vc };
  __builtin_prefetch (starved_mark (port_of (net, node_at (net, sender), in_port)), 1);
}

/* --- Sending --- */

/* Free slots of a receive buffer: a packet that enters a ring leaves one of them. */
typedef struct {
  uint32_t slot; /* one of them */
  bool one, two;
} Room;

static RARE Room
room_in_lines (const int64_t *slots, uint32_t n_slots, int64_t now_ps)
{
  Room room = { 0 };

  for (uint32_t slot = n_slots; slot-- > 0 && !room.two;)
    if (slots[slot] <= now_ps) {
      room.two = room.one;
      room.slot = room.one ? room.slot : slot;
      room.one = true;
    }
  return room;
}

/* Bit slot: it is free at now_ps, of 8 slots. */
static ALWAYS_INLINE uint32_t
free_slots (const int64_t *slots, int64_t now_ps)
{
  uint32_t mask = 0;

  for (uint32_t slot = 0; slot < 8; slot++)
    mask |= (uint32_t) (slots[slot] <= now_ps) << slot;
  return mask;
}

/* The slot is the highest: it shares a cache line with what else is written of
 * a receive buffer. */
static ALWAYS_INLINE Room
room_on (const Torus *net, const int64_t *slots, uint32_t vc)
{
  uint32_t mask;

  if (G_UNLIKELY (places_of (net)->n_lines[vc] > 1))
    return room_in_lines (slots, places_of (net)->n_slots[vc], net->now_ps);
  mask = free_slots (slots, net->now_ps) & places_of (net)->last_line[vc];
  return (Room){ 31u - (uint32_t) __builtin_clz (mask | 1), mask != 0, (mask & (mask - 1)) != 0 };
}

static ALWAYS_INLINE void
transmit (Torus *net, uint32_t node_index, Node *node, uint32_t port_index, Port *port, uint32_t vc,
          uint32_t slot, Packet packet)
{
  uint32_t neighbour = node->neighbour[port_index];
  Going *going = &net->going[net->n_going & (net->n_kept - 1)];
  Node *next = node_at (net, neighbour);
  int64_t at_ps = net->now_ps + net->latency_ps[(node->far >> port_index) & 1];
  uint32_t port_there;

  port->free_ps = net->now_ps + net->wire_ps[packet.chunks];
  *starved_mark (port) = 0;
  port->payload_bytes += packet.payload_bytes;
  port->packets++;
  port->early = 0;
  if (vc == BUBBLE) {
    bubble_slots (net, port)[slot] = NEVER_PS;
    port->bubble_chunks += packet.chunks;
  } else {
    vc_slots (net, node_index, port_index, vc)[slot] = NEVER_PS;
    priority_port (net, node_index, port_index)->chunks += packet.chunks;
  }
  net->engine.n_hops++;
  packet.way -= 1u << net->first_bit[port_index / 2];
  packet.since = (uint32_t) at_ps;
  port_there = packet.way & net->hops_mask ? next_port (net, packet.way) : NOWHERE;
  if (G_LIKELY (net->n_going >= net->n_kept))
    apply_kept_going (net, going);
  net->n_going++;
  *going = (Going){ at_ps,
                    packet,
                    neighbour,
                    (uint16_t) slot,
                    (uint8_t) port_index,
                    (uint8_t) vc,
                    (uint8_t) port_there };
  __builtin_prefetch (&bubble_packets (net, next, port_index)[slot], 1);
  __builtin_prefetch (port_of (net, next, port_there == NOWHERE ? 0 : port_there), 1);
  __builtin_prefetch (&bubble_links (net, next)[port_index << places_of (net)->id_shift[BUBBLE]],
                      1);
}

/* The first packet of a list goes.  `waited`: it was picked by the arbiter. */
static ALWAYS_INLINE void
send_listed (Torus *net, uint32_t node_index, Node *node, uint32_t port_index, Port *port,
             uint32_t vc, uint32_t turns, uint32_t slot, bool waited)
{
  Lists *lists = vc == BUBBLE ? &port->lists : vc_lists (net, node_index, port_index, vc);
  const uint16_t *links = vc == BUBBLE ? bubble_links (net, node) : vc_links (net, node_index, vc);
  uint32_t shift = places_of (net)->id_shift[vc], id = lists->head[turns], in_port = id >> shift;
  uint32_t is_last = id == lists->tail[turns];
  const Packet *packet = vc == BUBBLE
                             ? &bubble_packets (net, node, in_port)[id & ((1u << shift) - 1)]
                             : vc_packet (net, node_index, vc, id);
  Waited *counted = waited_at (net, node, in_port);

  lists->head[turns] = links[id];
  port->listed &= (uint8_t) ~(is_last << LIST (vc, turns));
  counted->packets += waited;
  counted->ps += (uint32_t) net->now_ps - packet->since;
  transmit (net, node_index, node, port_index, port, vc, slot, *packet);
  return_token (net, node, in_port, vc, id & ((1u << shift) - 1), port->free_ps);
}

/* The head of a FIFO goes; what comes after it is announced. */
static ALWAYS_INLINE void
send_head (Torus *net, uint32_t node_index, Node *node, uint32_t port_index, Port *port,
           uint32_t fifo_index, uint32_t slot)
{
  Fifo *fifo = fifo_of (net, node, fifo_index);

  port->want[fifo->vc] &= (uint16_t) ~(1u << fifo_index);
  if (G_LIKELY (fifo->vc == BUBBLE))
    transmit (net, node_index, node, port_index, port, BUBBLE, slot, fifo->packet);
  else
    transmit (net, node_index, node, port_index, port, PRIORITY, slot, fifo->packet);
  net->in_flight++;
  fifo->has_head = false;
  if (!torus_choose_head (net, fifo, port->free_ps))
    return;
  if (fifo->ready_ps == port->free_ps && !fifo->injected &&
      next_port (net, fifo->packet.way) == port_index) {
    port->want[fifo->vc] |= (uint16_t) (1u << fifo_index);
    port->early |= (uint16_t) (1u << fifo_index);
  } else {
    announce (net, node_index, node, fifo_index, fifo);
  }
}

/* Heads whose time has come. */
static RARE void
meet_future (Torus *net, Node *node, Port *port)
{
  for (uint32_t bits = port->future; bits; bits &= bits - 1) {
    uint32_t fifo_index = (uint32_t) __builtin_ctz (bits);
    const Fifo *fifo = fifo_of (net, node, fifo_index);

    if (fifo->ready_ps > net->now_ps)
      continue;
    port->future &= (uint16_t) ~(1u << fifo_index);
    port->want[fifo->vc] |= (uint16_t) (1u << fifo_index);
    if (fifo->ready_ps == net->now_ps)
      port->early |= (uint16_t) (1u << fifo_index);
  }
}

/* --- A port looks for something to send ---
 *
 * Something is old when it came before now.  Without anything old the port is
 * open: the first newcomer takes it, unseen by the arbiter, when it finds room.
 * Arrivals come before injections, those before heads that their FIFO had to
 * wait for; arrivals by input port, injections in their order, heads by FIFO. */

/* Bits of `mask` from `first` on, then from the start: one turn of a wheel. */
static ALWAYS_INLINE uint32_t
next_bit (uint32_t mask, uint32_t first)
{
  uint32_t later = mask & (~0u << (first & 31));

  return (uint32_t) __builtin_ctz (later ? later : mask);
}

/* The head that comes first of those in `mask`. */
static uint32_t
first_newcomer (const Torus *net, Node *node, uint32_t mask)
{
  uint32_t first = (uint32_t) __builtin_ctz (mask);

  for (mask &= mask - 1; mask; mask &= mask - 1) {
    uint32_t other = (uint32_t) __builtin_ctz (mask);
    const Fifo *a = fifo_of (net, node, first), *b = fifo_of (net, node, other);

    if (b->injected && (!a->injected || (int32_t) (b->sequence - a->sequence) < 0))
      first = other;
  }
  return first;
}

/* All that can want a port, in the arbiter's order (packet_router.c). */
typedef struct {
  Torus *net;
  uint32_t node_index, port_index;
  Node *node;
  Port *port;
  uint32_t here; /* bit list: its first packet is here */
  Room room[VCS];
} Look;

static bool
serve_lists (Look *look, uint32_t vc)
{
  const Room *room = &look->room[vc];
  bool may_go = (look->here >> LIST (vc, 0) & 1) && room->one;
  bool may_turn = (look->here >> LIST (vc, 1) & 1) && room->two;

  if (!may_go && !may_turn)
    return false;
  if (may_go && may_turn) {
    may_turn = look->port->turn_next;
    look->port->turn_next ^= 1;
  }
  send_listed (look->net, look->node_index, look->node, look->port_index, look->port, vc, may_turn,
               room->slot, true);
  return true;
}

static bool
serve_heads (Look *look, uint32_t vc)
{
  Port *port = look->port;

  if (port->want[vc] == 0 || !look->room[vc].two)
    return false;
  port->last_fifo = (uint8_t) next_bit (port->want[vc], port->last_fifo + 1u);
  if (vc == BUBBLE)
    port->grants = 0;
  send_head (look->net, look->node_index, look->node, look->port_index, port, port->last_fifo,
             look->room[vc].slot);
  return true;
}

static bool
arbitrate (Look *look)
{
  Port *port = look->port;
  bool injection_waits = port->want[BUBBLE] != 0;
  bool injection_first = injection_waits && port->grants >= look->net->receiver_grants;

  if (serve_lists (look, PRIORITY) || serve_heads (look, PRIORITY) ||
      (injection_first && serve_heads (look, BUBBLE)))
    return true;
  if (serve_lists (look, BUBBLE)) {
    if (injection_waits && port->grants < UINT8_MAX)
      port->grants++;
    return true;
  }
  return !injection_first && serve_heads (look, BUBBLE);
}

/* Both virtual channels, newcomers that meet, and the turn of injection. */
static RARE bool
look_at_all (Torus *net, uint32_t node_index, Node *node, uint32_t port_index, Port *port)
{
  Look look = { net, node_index, port_index, node, port, 0, { { 0 } } };
  uint32_t first_list = LIST (VCS, 0), first_in_port = UINT32_MAX;
  bool old = ((port->want[BUBBLE] | port->want[PRIORITY]) & ~port->early) != 0;

  for (uint32_t vc = 0; vc < VCS; vc++) {
    const Lists *lists = vc_lists (net, node_index, port_index, vc);

    look.room[vc] = room_on (net, vc_slots (net, node_index, port_index, vc), vc);
    for (uint32_t turns = 0; turns < 2; turns++) {
      uint32_t list = LIST (vc, turns), id = lists->head[turns];

      if (!(port->listed >> list & 1))
        continue;
      int32_t waited_ps =
          (int32_t) ((uint32_t) net->now_ps - vc_packet (net, node_index, vc, id)->since);

      if (waited_ps < 0)
        continue;
      look.here |= 1u << list;
      old |= waited_ps > 0;
      if (id >> places_of (net)->id_shift[vc] < first_in_port) {
        first_in_port = id >> places_of (net)->id_shift[vc];
        first_list = list;
      }
    }
  }
  if (!old && look.here) {
    uint32_t vc = first_list / 2, turns = first_list % 2;

    if (turns ? look.room[vc].two : look.room[vc].one) {
      send_listed (net, node_index, node, port_index, port, vc, turns, look.room[vc].slot, false);
      return true;
    }
  } else if (!old && port->early) {
    uint32_t fifo = first_newcomer (net, node, port->early);
    uint32_t vc = fifo_of (net, node, fifo)->vc;

    if (look.room[vc].two) {
      send_head (net, node_index, node, port_index, port, fifo, look.room[vc].slot);
      return true;
    }
  }
  return arbitrate (&look);
}

/* Nothing can go: the port looks again when the first of the slots that are
 * known to become free is, or the first packet comes; later tokens wake it. */
static RARE void
starve (Torus *net, uint32_t node_index, Node *node, uint32_t port_index, Port *port)
{
  int64_t first_ps = NEVER_PS;

  port->early = 0;
  *starved_mark (port) = 1;
  for (uint32_t vc = 0; vc < VCS; vc++) {
    const int64_t *slots = vc_slots (net, node_index, port_index, vc);
    const Lists *lists = vc_lists (net, node_index, port_index, vc);

    for (uint32_t slot = 0; slot < places_of (net)->n_slots[vc]; slot++)
      if (slots[slot] > net->now_ps)
        first_ps = MIN (first_ps, slots[slot]);
    for (uint32_t turns = 0; turns < 2; turns++)
      if (port->listed >> LIST (vc, turns) & 1) {
        int32_t ahead_ps = (int32_t) (vc_packet (net, node_index, vc, lists->head[turns])->since -
                                      (uint32_t) net->now_ps);

        if (ahead_ps > 0)
          first_ps = MIN (first_ps, net->now_ps + ahead_ps);
      }
  }
  for (uint32_t bits = port->future; bits; bits &= bits - 1)
    first_ps = MIN (first_ps, fifo_of (net, node, (uint32_t) __builtin_ctz (bits))->ready_ps);
  if (first_ps != NEVER_PS)
    wake (net, node_index, port_index, port, first_ps);
}

static ALWAYS_INLINE void
look (Torus *net, uint32_t number)
{
  uint32_t node_index = number >> 4, port_index = number & 15;
  Node *node = node_at (net, node_index);
  Port *port = port_of (net, node, port_index);
  bool sent;

  if (G_UNLIKELY (port->wake_ps >> net->window_bits != net->window))
    return; /* an earlier wake took its place */
  net->now_ps = port->wake_ps;
  port->wake_ps = NEVER_PS;
  net->n_looks++;
  if (G_UNLIKELY (port->free_ps > net->now_ps)) {
    wake (net, node_index, port_index, port, port->free_ps);
    return;
  }
  if (G_UNLIKELY (port->future))
    meet_future (net, node, port);
  if (G_UNLIKELY ((port->listed & PRIORITY_LISTS) | port->want[PRIORITY])) {
    sent = look_at_all (net, node_index, node, port_index, port);
  } else {
    const uint32_t shift = places_of (net)->id_shift[BUBBLE], slot_mask = (1u << shift) - 1;
    uint32_t straight = port->lists.head[0], turning = port->lists.head[1];
    int32_t straight_ps =
        (int32_t) ((uint32_t) net->now_ps -
                   bubble_packets (net, node, straight >> shift)[straight & slot_mask].since);
    int32_t turning_ps =
        (int32_t) ((uint32_t) net->now_ps -
                   bubble_packets (net, node, turning >> shift)[turning & slot_mask].since);
    bool goes_here = (port->listed & 1) & (straight_ps >= 0);
    bool turns_here = (port->listed >> 1 & 1) & (turning_ps >= 0);
    bool injects = port->want[BUBBLE] != 0;
    bool old = (goes_here & (straight_ps > 0)) | (turns_here & (turning_ps > 0)) |
               ((port->want[BUBBLE] & ~port->early) != 0);

    if (G_UNLIKELY ((old & injects & (port->grants >= net->receiver_grants)) |
                    (!old & goes_here & turns_here))) {
      sent = look_at_all (net, node_index, node, port_index, port);
    } else {
      Room room = room_on (net, bubble_slots (net, port), BUBBLE);
      bool may_go = goes_here & room.one, may_turn = turns_here & room.two;

      sent = true;
      if (G_LIKELY (may_go | may_turn)) {
        bool both = may_go & may_turn;
        uint32_t turns = both ? port->turn_next : may_turn;

        port->turn_next ^= (uint8_t) both;
        port->grants += (uint8_t) (old & injects & (port->grants < UINT8_MAX));
        send_listed (net, node_index, node, port_index, port, BUBBLE, turns, room.slot, old);
      } else if (injects & room.two) {
        uint32_t fifo = old ? next_bit (port->want[BUBBLE], port->last_fifo + 1u)
                            : first_newcomer (net, node, port->early);

        port->last_fifo = old ? (uint8_t) fifo : port->last_fifo;
        port->grants = old ? 0 : port->grants;
        send_head (net, node_index, node, port_index, port, fifo, room.slot);
      } else {
        sent = false;
      }
    }
  }
  if (G_UNLIKELY (!sent))
    starve (net, node_index, node, port_index, port);
  else if (is_wanted (port))
    wake (net, node_index, port_index, port, port->free_ps);
}

/* --- Reception ---
 *
 * Each input port has a network reception FIFO of a few packets (guess); the
 * messaging unit empties them into memory, whose write bandwidth all of a
 * node's ports share.  A packet leaves its receive buffer when the reception
 * FIFO has room for it, so memory that cannot keep up fills the buffers and
 * in the end stops the links: the congestion that SC13 section 3.1 describes.
 * All its times are known when its head is there. */

static ALWAYS_INLINE void
receive (Torus *net, uint64_t reception)
{
  uint32_t node_index = reception & 0xffffff, slot = reception >> 24 & 0xfff;
  uint32_t vc = reception >> 36 & 1, in_port = reception >> 37 & 15;
  int64_t now_ps = net->window_ps + (int64_t) (reception >> 41);
  Node *node = node_at (net, node_index);
  const Packet *packet = vc == BUBBLE ? &bubble_packets (net, node, in_port)[slot]
                                      : vc_packet (net, node_index, vc,
                                                   in_port << places_of (net)->id_shift[vc] | slot);
  uint32_t place = node->next_reception[in_port];
  int64_t *place_ps = (int64_t *) ((char *) node + places_of (net)->receptions_at) +
                      (size_t) in_port * net->reception_depth + place;
  /* The place is free once the packet that had it last is in memory. */
  int64_t enter_ps = MAX (now_ps, *place_ps);
  int64_t left_ps = enter_ps + net->wire_ps[packet->chunks];
  /* Memory takes the packet as it streams in, at its own rate. */
  int64_t written_ps = MAX (node->memory_ps, enter_ps) + net->memory_ps[packet->chunks];

  node->memory_ps = written_ps;
  written_ps = MAX (written_ps, left_ps);
  *place_ps = written_ps;
  node->next_reception[in_port] = (uint16_t) (place + 1 == net->reception_depth ? 0 : place + 1);
  if (G_UNLIKELY (enter_ps > now_ps)) {
    Waited *waited = waited_at (net, node, in_port);

    waited->packets++;
    waited->ps += (uint64_t) (enter_ps - now_ps);
  }
  net->in_flight--;
  if (packet_engine_received (&net->engine, packet->message, packet->payload_bytes, written_ps))
    sim_schedule_push (net->engine.schedule, node_index, CODE_DELIVER, packet->message,
                       net->engine.message[packet->message].last_ps + net->reception_latency_ps);
  return_token (net, node, in_port, vc, slot, left_ps);
}

/* By time, then by input port. */
static void
sort_receptions (Torus *net, Bucket *bucket)
{
  uint64_t *keys = bucket->receptions;
  uint32_t n = bucket->n_receptions;

  if (n < 48) {
    for (uint32_t i = 1; i < n; i++) {
      uint64_t key = keys[i];
      uint32_t hole = i;

      for (; hole > 0 && keys[hole - 1] > key; hole--)
        keys[hole] = keys[hole - 1];
      keys[hole] = key;
    }
    return;
  }
  if (net->scratch_capacity < n) {
    net->scratch_capacity = 2 * n;
    net->scratch = g_renew (uint64_t, net->scratch, net->scratch_capacity);
  }
  /* 19 bits in two passes. */
  for (uint32_t pass = 0; pass < 2; pass++) {
    const uint64_t *from = pass ? net->scratch : keys;
    uint64_t *to = pass ? keys : net->scratch;
    uint32_t start[1024] = { 0 }, shift = pass ? 47 : 37, sum = 0;

    for (uint32_t i = 0; i < n; i++)
      start[from[i] >> shift & 1023]++;
    for (uint32_t digit = 0; digit < 1024; digit++) {
      uint32_t count = start[digit];

      start[digit] = sum;
      sum += count;
    }
    for (uint32_t i = 0; i < n; i++)
      to[start[from[i] >> shift & 1023]++] = from[i];
  }
}

/* --- Windows --- */

#ifndef TORUS_BGQ
void
torus_grow_ports (Torus *net, Bucket *bucket)
{
  if (bucket->ports_capacity == 0 && net->spare_ports.n > 0) {
    const Bucket *spare = &net->spare_ports.bucket[--net->spare_ports.n];

    bucket->ports = spare->ports;
    bucket->ports_capacity = spare->ports_capacity;
    return;
  }
  bucket->ports_capacity = MAX (256, 2 * bucket->ports_capacity);
  bucket->ports = g_renew (uint32_t, bucket->ports, bucket->ports_capacity);
}

void
torus_grow_receptions (Torus *net, Bucket *bucket)
{
  if (bucket->receptions_capacity == 0 && net->spare_receptions.n > 0) {
    const Bucket *spare = &net->spare_receptions.bucket[--net->spare_receptions.n];

    bucket->receptions = spare->receptions;
    bucket->receptions_capacity = spare->receptions_capacity;
    return;
  }
  bucket->receptions_capacity = MAX (256, 2 * bucket->receptions_capacity);
  bucket->receptions = g_renew (uint64_t, bucket->receptions, bucket->receptions_capacity + AHEAD);
}
#endif

/* First occupied window from the current one on, or -1. */
static int64_t
first_window (const Torus *net)
{
  for (uint32_t step = 0; step < net->n_ring;) {
    uint32_t index = (uint32_t) (net->window + step) & (net->n_ring - 1);
    uint64_t bits = net->occupied[index / 64] >> (index % 64);

    if (bits)
      return net->window + step + __builtin_ctzll (bits);
    step += 64 - index % 64;
  }
  return -1;
}

/* Packet.since has the low 32 bits of a time, and differences of them are right
 * up to 2.1 ms.  So packets that are here since before at_ps count as waited up to
 * now, and begin again. */
static RARE void
sweep (Torus *net, int64_t at_ps)
{
  uint32_t begin = (uint32_t) (at_ps - 1);

  for (uint32_t node = 0; node < net->n_nodes; node++)
    for (uint32_t port_index = 0; port_index < net->n_ports; port_index++) {
      Port *port = port_of (net, node_at (net, node), port_index);

      for (uint32_t list = 0; list < LIST (VCS, 0); list++) {
        uint32_t vc = list / 2, turns = list % 2;
        Lists *lists = vc_lists (net, node, port_index, vc);

        if (!(port->listed >> list & 1))
          continue;
        for (uint32_t id = lists->head[turns];; id = vc_links (net, node, vc)[id]) {
          Packet *packet = vc_packet (net, node, vc, id);

          if ((int32_t) (begin - packet->since) > 0) {
            waited_at (net, node_at (net, node), id >> places_of (net)->id_shift[vc])->ps +=
                begin - packet->since;
            packet->since = begin;
          }
          if (turns)
            lists->turning_since = packet->since;
          if (id == lists->tail[turns])
            break;
        }
      }
    }
}

static void
deliver (Torus *net, uint32_t index)
{
  SimMessage message = net->engine.message[index].public;

  g_assert (net->engine.message[index].bytes_left == 0);
  packet_engine_give_message (&net->engine, index);
  net->engine.base.client->delivered (net->engine.base.client_data, &message, net->engine.now_ps);
}

/* The client's callbacks and injections, in the order of time of each node. */
static void
call_client (Torus *net)
{
  SimEvent event;

  while (sim_schedule_pop (net->engine.schedule, &event)) {
    uint32_t node = sim_event_node (event);

    net->engine.now_ps = event.at_ps;
    switch (sim_event_code (event)) {
    case CODE_INJECT: torus_inject (net, node, event.argument); break;
    case CODE_DELIVER: deliver (net, event.argument); break;
    case CODE_TIMER: packet_engine_timer_due (&net->engine, event.argument); break;
    case CODE_WAKE: {
      Port *port = port_of (net, node_at (net, node), event.argument & 15);

      /* As in look(): an earlier wake may have taken its place. */
      if (port->wake_ps == event.at_ps) {
        port->wake_ps = NEVER_PS;
        wake (net, node, event.argument & 15, port, event.at_ps);
      }
      break;
    }
    case CODE_RECEIVE: expect_reception (net, node, event.argument, event.at_ps); break;
    }
  }
}

/* What a reception and a port touch is fetched so many entries ahead, first
 * what the entry names, then what that names. */
#define FAR_AHEAD  12u
#define NEAR_AHEAD 6u

static void
receive_all (Torus *net, Bucket *bucket)
{
  uint64_t *keys = bucket->receptions;
  uint32_t n = bucket->n_receptions;

  sort_receptions (net, bucket);
  for (uint32_t i = 0; i < AHEAD; i++)
    keys[n + i] = keys[n - 1];
  for (uint32_t i = 0; i < n; i++) {
    uint64_t far = keys[i + FAR_AHEAD], near = keys[i + NEAR_AHEAD];
    Node *node = node_at (net, far & 0xffffff);
    Node *near_node = node_at (net, near & 0xffffff);

    __builtin_prefetch (node, 1);
    __builtin_prefetch (&bubble_packets (net, node, far >> 37 & 15)[far >> 24 & 7], 1);
    __builtin_prefetch ((char *) node + places_of (net)->receptions_at +
                            8 * (size_t) net->reception_depth * (far >> 37 & 15),
                        1);
    __builtin_prefetch (
        &net->engine
             .message[bubble_packets (net, near_node, near >> 37 & 15)[near >> 24 & 7].message],
        1);
    receive (net, keys[i]);
  }
  net->n_looks += n;
}

static PREFETCHES
prefetch_port (const Torus *net, uint32_t number)
{
  Port *port = port_of (net, node_at (net, number >> 4), number & 15);

  __builtin_prefetch (port, 1);
  __builtin_prefetch (starved_mark (port), 1);
}

static PREFETCHES
prefetch_waiting (const Torus *net, uint32_t number)
{
  Node *node = node_at (net, number >> 4);
  const Port *port = port_of (net, node, number & 15);
  uint32_t shift = places_of (net)->id_shift[BUBBLE], slot_mask = (1u << shift) - 1;
  uint32_t straight = port->lists.head[0], turning = port->lists.head[1];
  uint32_t wanting = port->want[BUBBLE];

  __builtin_prefetch (&bubble_packets (net, node, straight >> shift)[straight & slot_mask], 1);
  __builtin_prefetch (&bubble_packets (net, node, turning >> shift)[turning & slot_mask], 1);
  __builtin_prefetch (waited_at (net, node, straight >> shift), 1);
  __builtin_prefetch (waited_at (net, node, turning >> shift), 1);
  __builtin_prefetch (&bubble_links (net, node)[straight], 1);
  __builtin_prefetch (&bubble_links (net, node)[turning], 1);
  __builtin_prefetch (node, 1);
  __builtin_prefetch (
      fifo_of (net, node, next_bit (wanting | (uint32_t) !wanting, port->last_fifo + 1u)), 1);
}

static void
look_all (Torus *net, Bucket *bucket)
{
  /* Ports that look again in this window join its end. */
  for (uint32_t i = 0; i < bucket->n_ports;) {
    uint32_t n = bucket->n_ports;

    for (; i < n; i++) {
      prefetch_port (net, bucket->ports[MIN (i + FAR_AHEAD, n - 1)]);
      prefetch_waiting (net, bucket->ports[MIN (i + NEAR_AHEAD, n - 1)]);
      look (net, bucket->ports[i]);
    }
  }
}

static void
enter (Torus *net, int64_t window)
{
  int64_t window_ps = window << net->window_bits;

  /* Nothing happens in between, so the sweeps that are due may all be now. */
  for (; net->sweep_ps <= window_ps; net->sweep_ps += net->sweep_every_ps) {
    if (net->in_flight == 0) {
      net->sweep_ps = window_ps + net->sweep_every_ps;
      break;
    }
    sweep (net, net->sweep_ps);
  }
  net->window = window;
  net->window_ps = window_ps;
  sim_schedule_enter (net->engine.schedule, window);
}

static void
run_window (Torus *net)
{
  uint32_t index = (uint32_t) net->window & (net->n_ring - 1);
  Bucket *bucket = &net->bucket[index];

  call_client (net);
  if (bucket->n_receptions > 0)
    receive_all (net, bucket);
  look_all (net, bucket);
  if (bucket->ports_capacity > 0)
    net->spare_ports.bucket[net->spare_ports.n++] = *bucket;
  if (bucket->receptions_capacity > 0)
    net->spare_receptions.bucket[net->spare_receptions.n++] = *bucket;
  *bucket = (Bucket){ 0 };
  net->occupied[index / 64] &= ~(UINT64_C (1) << (index % 64));
  apply_all (net);
}

#ifdef TORUS_BGQ
void
torus_run_windows_bgq (Torus *net)
#else
void
torus_run_windows (Torus *net)
#endif
{
  const SimNetwork *base = &net->engine.base;
  uint64_t progress = packet_engine_progress (&net->engine);
  uint32_t idle_windows = 0, windows = 0;

  for (;;) {
    int64_t scheduled = sim_schedule_peek (net->engine.schedule), window = first_window (net);

    if (window < 0 || (scheduled >= 0 && scheduled < window))
      window = scheduled;
    if (window < 0)
      return;
    enter (net, window);
    if (++windows % WINDOWS_PER_CALL == 0 && base->client->running != NULL)
      base->client->running (base->client_data, net->window_ps);
    run_window (net);
    if (packet_engine_progress (&net->engine) != progress || net->in_flight == 0) {
      progress = packet_engine_progress (&net->engine);
      idle_windows = 0;
    } else if (++idle_windows == STALL_WINDOWS) {
      return;
    }
  }
}
