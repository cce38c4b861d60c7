/* torus_port.h - what a port of a torus does, and how it affects other nodes; private to torus_*.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Inlined into the loops of torus_router.c and torus_dynamic.c, which they are the most of. */
#pragma once

#include "sim/net/torus_state.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* --- Effects on other nodes --- */

static ALWAYS_INLINE void
apply_token (Torus *net, const Token *token)
{
  Port *port = port_of (net, node_at (net, token->node), token->port);

  vc_slots (net, token->node, token->port, token->vc)[token->slot] = token->at_ps;
  if (G_UNLIKELY (*starved_mark (port)))
    wake (net, token->node, token->port, port, token->at_ps);
}

/* Puts a packet in a list before those that come after it: by time, then by input port. */
static RARE void
insert_in_order (const Torus *net, uint32_t node, uint32_t vc, Lists *lists, uint32_t turns,
                 uint32_t id)
{
  const Packet *packet = vc_packet (net, node, vc, id);
  uint16_t *links = vc_links (net, node, vc);
  uint32_t shift = places_of (net)->id_shift[vc], at = lists->head[turns], before = UINT32_MAX;

  for (;;) {
    int32_t later_ps = (int32_t) (vc_packet (net, node, vc, at)->since - packet->since);

    if (later_ps > 0 || (later_ps == 0 && at >> shift > id >> shift))
      break;
    before = at;
    if (at == lists->tail[turns]) {
      lists->tail[turns] = (uint16_t) id;
      lists->turning_since = turns ? packet->since : lists->turning_since;
      break;
    }
    at = links[at];
  }
  links[id] = (uint16_t) at;
  if (before == UINT32_MAX)
    lists->head[turns] = (uint16_t) id;
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
  uint16_t *links;
  int32_t ahead_ps;
  bool is_first;

  if (vc == BUBBLE)
    bubble_packets (net, node, going->in_port)[going->slot] = going->packet;
  else
    *vc_packet (net, going->node, vc, id) = going->packet;
  if (going->port & NOWHERE) {
    expect_reception (net, going->node, (uint32_t) going->in_port << 13 | vc << 12 | going->slot,
                      going->at_ps);
    return;
  }
  if (G_UNLIKELY (going->packet.dynamic)) {
    expect_escaped (net, going->in_port, going->node, going->slot, going->at_ps);
    return;
  }
  port = port_of (net, node, going->port);
  lists = vc == BUBBLE ? &port->lists : vc_lists (net, going->node, going->port, vc);
  links = vc == BUBBLE ? bubble_links (net, node) : vc_links (net, going->node, vc);
  is_first = !(port->listed & listed_bit);
  ahead_ps = (int32_t) (lists->turning_since - going->packet.since);
  if (G_UNLIKELY (turns & (uint32_t) !is_first &
                  ((uint32_t) (ahead_ps > 0) |
                   ((uint32_t) (ahead_ps == 0) & (lists->tail[1] >> shift > going->in_port))))) {
    insert_in_order (net, going->node, vc, lists, 1, id);
  } else {
    *select_u16_pointer (is_first, &lists->head[turns], &links[lists->tail[turns]]) = (uint16_t) id;
    lists->tail[turns] = (uint16_t) id;
    lists->turning_since = select_u32 (turns, going->packet.since, lists->turning_since);
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

/* A packet leaves a slot of a receive buffer by left_ps: its token travels back to the
 * sender at the other end of the link. */
static ALWAYS_INLINE void
return_token (Torus *net, const Node *node, uint32_t in_port, uint32_t vc, uint32_t slot,
              int64_t left_ps)
{
  uint32_t sender = node->neighbour[topo_port_opposite (in_port)];
  Token *token = &net->token[net->n_tokens & (net->n_kept - 1)];

  if (G_UNLIKELY (!is_own (net, sender))) {
    torus_post_token (net, &(Token){ left_ps + net->token_latency_ps, sender, (uint16_t) slot,
                                     (uint8_t) in_port, (uint8_t) vc });
    return;
  }
  if (G_LIKELY (net->n_tokens >= net->n_kept))
    apply_token (net, token);
  net->n_tokens++;
  *token = (Token){ left_ps + net->token_latency_ps, sender, (uint16_t) slot, (uint8_t) in_port,
                    (uint8_t) vc };
  __builtin_prefetch (starved_mark (port_of (net, node_at (net, sender), in_port)), 1);
}

/* Likewise, of the dynamic VC's receive buffer. */
static ALWAYS_INLINE void
return_chunks (Torus *net, const Node *node, uint32_t in_port, uint32_t chunks, int64_t left_ps)
{
  uint32_t sender = node->neighbour[topo_port_opposite (in_port)];
  int64_t at_ps = left_ps + net->token_latency_ps;

  if (G_LIKELY (is_own (net, sender)))
    expect_step (net, STEP_TOKEN, in_port, sender, chunks, at_ps);
  else
    torus_post_chunks (net, &(Chunks){ at_ps, sender, chunks, (uint8_t) in_port });
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

/* Bit slot: it is free at now_ps, of 8 slots in a cache line.  The sign of slot - (now_ps + 1)
 * tells; no time is negative. */
static ALWAYS_INLINE uint32_t
free_slots (const int64_t *slots, int64_t now_ps)
{
  uint32_t mask = 0;

#ifdef __SSE2__
  const __m128i *pairs = (const __m128i *) slots, after = _mm_set1_epi64x (now_ps + 1);

  for (uint32_t half = 0; half < 2; half++) {
    __m128 low = _mm_castsi128_ps (_mm_sub_epi64 (_mm_loadu_si128 (&pairs[2 * half]), after)),
           high = _mm_castsi128_ps (_mm_sub_epi64 (_mm_loadu_si128 (&pairs[2 * half + 1]), after));
    __m128 signs = _mm_shuffle_ps (low, high, _MM_SHUFFLE (3, 1, 3, 1));

    mask |= (uint32_t) _mm_movemask_ps (signs) << 4 * half;
  }
#else
  for (uint32_t slot = 0; slot < 8; slot++)
    mask |= (uint32_t) (slots[slot] <= now_ps) << slot;
#endif
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
  uint32_t weight = packet_weight (packet.chunks, net->engine.base.shrink), port_there;

  port->free_ps = net->now_ps + net->wire_ps[packet.chunks];
  *starved_mark (port) = 0;
  port->payload_bytes += packet.payload_bytes;
  port->packets += weight;
  port->early = 0;
  if (vc == BUBBLE) {
    bubble_slots (net, port)[slot] = NEVER_PS;
    port->bubble_chunks += weight * room_chunks (packet.chunks);
  } else {
    vc_slots (net, node_index, port_index, vc)[slot] = NEVER_PS;
    priority_port (net, node_index, port_index)->chunks += weight * room_chunks (packet.chunks);
  }
  net->engine.n_hops++;
  packet.way -= net->one_hop[port_index];
  packet.since = (uint32_t) at_ps;
  port_there = next_port_if_any (net, packet.way);
  if (G_UNLIKELY (!is_own (net, neighbour))) {
    torus_post_going (net, &(Going){ at_ps, packet, neighbour, (uint16_t) slot,
                                     (uint8_t) port_index, (uint8_t) vc, (uint8_t) port_there });
    return;
  }
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
  __builtin_prefetch (port_of (net, next, port_there & ~NOWHERE), 1);
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
  counted->packets += waited ? packet_weight (packet->chunks, net->engine.base.shrink) : 0;
  counted->ps += (uint32_t) net->now_ps - packet->since;
  transmit (net, node_index, node, port_index, port, vc, slot, *packet);
  return_token (net, node, in_port, vc, id & ((1u << shift) - 1), port->free_ps);
}

/* The head of a FIFO has gone: what comes after it is announced. */
static ALWAYS_INLINE void
follow_head (Torus *net, uint32_t node_index, Node *node, uint32_t port_index, Port *port,
             uint32_t fifo_index, Fifo *fifo)
{
  net->in_flight++;
  fifo->has_head = false;
  if (!torus_choose_head (net, node_index, fifo_index, fifo, port->free_ps))
    return;
  if (G_LIKELY (fifo->vc != DYNAMIC) && fifo->ready_ps == port->free_ps && !fifo->injected &&
      next_port (net, fifo->packet.way) == port_index) {
    port->want[fifo->vc] |= (uint16_t) (1u << fifo_index);
    port->early |= (uint16_t) (1u << fifo_index);
  } else {
    announce (net, node_index, node, fifo_index, fifo);
  }
}

/* The head of a FIFO goes. */
static ALWAYS_INLINE void
send_head (Torus *net, uint32_t node_index, Node *node, uint32_t port_index, Port *port,
           uint32_t fifo_index, uint32_t slot)
{
  Fifo *fifo = fifo_of (net, node, fifo_index);

  prefetch_feeder (net, fifo);
  port->want[fifo->vc] &= (uint16_t) ~(1u << fifo_index);
  if (G_LIKELY (fifo->vc == BUBBLE))
    transmit (net, node_index, node, port_index, port, BUBBLE, slot, fifo->packet);
  else
    transmit (net, node_index, node, port_index, port, PRIORITY, slot, fifo->packet);
  follow_head (net, node_index, node, port_index, port, fifo_index, fifo);
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

/* All that can want a port but dynamic packets, in the arbiter's order (torus_dynamic.c). */
typedef struct {
  Torus *net;
  uint32_t node_index, port_index;
  Node *node;
  Port *port;
  uint32_t here;       /* bit list: its first packet is here */
  bool old;            /* something came before now */
  uint32_t first_list; /* of the list whose packet comes first of those that come now */
  Room room[VCS];
} Look;

/* The priority VC's part of a port is elsewhere in memory, and seldom looked at. */
static ALWAYS_INLINE uint32_t
n_wanted_vcs (const Port *port)
{
  return (port->listed & PRIORITY_LISTS) | port->want[PRIORITY] ? VCS : PRIORITY;
}

static Look
survey (Torus *net, uint32_t node_index, Node *node, uint32_t port_index)
{
  Port *port = port_of (net, node, port_index);
  Look look = { .net = net,
                .node_index = node_index,
                .port_index = port_index,
                .node = node,
                .port = port,
                .old = ((port->want[BUBBLE] | port->want[PRIORITY]) & ~port->early) != 0 };
  uint32_t first_in_port = UINT32_MAX;

  for (uint32_t vc = 0; vc < n_wanted_vcs (port); vc++) {
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
      look.old |= waited_ps > 0;
      if (id >> places_of (net)->id_shift[vc] < first_in_port) {
        first_in_port = id >> places_of (net)->id_shift[vc];
        look.first_list = list;
      }
    }
  }
  return look;
}

/* The first of those that come now takes the open port, if it finds room. */
static bool
serve_newcomer (Look *look)
{
  Port *port = look->port;

  if (look->here) {
    uint32_t vc = look->first_list / 2, turns = look->first_list % 2;

    if (!(turns ? look->room[vc].two : look->room[vc].one))
      return false;
    send_listed (look->net, look->node_index, look->node, look->port_index, port, vc, turns,
                 look->room[vc].slot, false);
    return true;
  }
  if (port->early) {
    uint32_t fifo = first_newcomer (look->net, look->node, port->early);
    uint32_t vc = fifo_of (look->net, look->node, fifo)->vc;

    if (!look->room[vc].two)
      return false;
    send_head (look->net, look->node_index, look->node, look->port_index, port, fifo,
               look->room[vc].slot);
    return true;
  }
  return false;
}

/* Nothing can go: when the first of the slots that are known to become free is, or the
 * first packet comes, NEVER_PS if none; later tokens wake the port. */
static int64_t
next_chance_ps (const Torus *net, uint32_t node_index, Node *node, uint32_t port_index, Port *port)
{
  int64_t first_ps = NEVER_PS;

  port->early = 0;
  *starved_mark (port) = 1;
  for (uint32_t vc = 0; vc < n_wanted_vcs (port); vc++) {
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
  return first_ps;
}

static bool
serve_lists (Look *look, uint32_t vc)
{
  const Room *room = &look->room[vc];
  bool may_go = (look->here >> LIST (vc, 0) & 1) && room->one;
  bool may_turn = (look->here >> LIST (vc, 1) & 1) && room->two;

  if (!may_go && !may_turn)
    return false;
  if (may_go && may_turn) {
    may_turn = look->port->next & TURN_NEXT;
    look->port->next ^= TURN_NEXT;
  }
  if (vc == BUBBLE)
    look->port->next &= (uint8_t) ~BUBBLE_NEXT;
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
