/* ib_port.h - what ports of switches and of adapters have in common; private to ib_*.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * All of it is on the path of every packet, hence inline. */
#pragma once

#include "sim/net/ib_state.h"

/* Without branches: which of them are due cannot be foretold. */
static inline void
collect_credits (IbLane *lane, int64_t until_ps)
{
  uint64_t later = (uint64_t) (until_ps + 1) << 8;
  uint32_t credits = lane->credits, taken = 0;

  for (uint32_t i = 0; i < IB_RETURNS; i++) {
    uint64_t entry = lane->returns[i], due = -(uint64_t) (entry < later);

    credits += (uint8_t) (entry & due);
    lane->returns[i] = entry | due;
    taken |= (uint32_t) ((entry | due) != IB_NO_RETURN) << i;
  }
  lane->credits = credits;
  lane->taken = (uint8_t) taken;
}

/* The port looks at at_ps, or before. */
static inline void
look_at (IbNetwork *net, uint32_t index, IbPort *port, int64_t at_ps)
{
  if (at_ps > port->wake_ps || (at_ps == port->wake_ps && (port->marks & IB_WILL_LOOK) != 0))
    return;
  port->wake_ps = at_ps;
  port->marks |= IB_WILL_LOOK;
  ib_add (net, IB_LOOK, port, index, at_ps);
}

/* A packet comes through `input` at at_ps, when the port is idle. */
static inline void
meet_at (IbNetwork *net, uint32_t index, IbPort *port, uint32_t input, int64_t at_ps)
{
  if (at_ps >= port->wake_ps)
    return;
  port->wake_ps = at_ps;
  port->marks &= (uint8_t) ~IB_WILL_LOOK;
  calendar_add (&net->switches, IB_NEWCOMER, input, index, at_ps);
}

/* Credits are on their way to a lane whose port may be starved. */
static void
wake_starved (IbNetwork *net, uint32_t index, IbLane *lane, int64_t at_ps)
{
  IbPort *port = &net->port[index];

  lane->is_starved = (port->marks & IB_STARVED) != 0;
  if (lane->is_starved)
    look_at (net, index, port, at_ps);
}

/* A packet's last byte leaves the buffer at the other end of port `index` at left_ps. */
static ALWAYS_INLINE void
return_credits (IbNetwork *net, uint32_t index, uint32_t vl, uint32_t blocks, int64_t left_ps)
{
  IbLane *lane = ib_lane (net, index, vl);
  int64_t at_ps = left_ps + net->credit_latency_ps;
  uint32_t place;

  /* Returns that count since before this window may be settled from here; the
   * sender cannot be earlier. */
  if (G_UNLIKELY (lane->taken == IB_ALL_TAKEN))
    collect_credits (lane, net->switches.start_ps);
  if (G_UNLIKELY (lane->taken == IB_ALL_TAKEN || at_ps >= IB_RETURNS_MAX)) {
    ib_add (net, IB_CREDIT, &net->port[index], (vl << 8 | blocks) << IB_PORT_BITS | index, at_ps);
    return;
  }
  place = (uint32_t) __builtin_ctz (~(uint32_t) lane->taken);
  lane->returns[place] = (uint64_t) at_ps << 8 | blocks;
  lane->taken |= (uint8_t) (1u << place);
  if (lane->is_starved)
    wake_starved (net, index, lane, at_ps);
}

/* Looks at credits on their way back only when it must. */
static inline bool
finds_room (IbNetwork *net, IbLane *lane, uint32_t blocks)
{
  if (lane->credits >= blocks)
    return true;
  collect_credits (lane, net->engine.now_ps);
  return lane->credits >= blocks;
}

/* A free slot of the input buffer, or NULL. */
static inline int64_t *
find_slot (const IbNetwork *net, IbInput *input)
{
  if (ib_reads (net) == IB_USUAL_READS) {
    uint32_t free = 0;

    for (uint32_t slot = 0; slot < IB_USUAL_READS; slot++)
      free |= (uint32_t) (input->slots[slot] <= net->engine.now_ps) << slot;
    return free != 0 ? &input->slots[__builtin_ctz (free)] : NULL;
  }
  for (uint32_t slot = 0; slot < ib_reads (net); slot++)
    if (input->slots[slot] <= net->engine.now_ps)
      return &input->slots[slot];
  return NULL;
}

/* The first member of a set from `first` on, around; PACKET_NONE: it is empty. */
static inline uint32_t
next_set (const IbNetwork *net, const uint64_t *set, uint32_t first)
{
  uint32_t word = first / 64;
  uint64_t found = set[word] & ~UINT64_C (0) << (first % 64);

  if (ib_words (net) == 1) {
    found = choose (found != 0, found, *set);
    return found != 0 ? (uint32_t) __builtin_ctzll (found) : PACKET_NONE;
  }
  for (uint32_t step = 0; found == 0; step++) {
    if (step == ib_words (net))
      return PACKET_NONE;
    word = word + 1 < ib_words (net) ? word + 1 : 0;
    found = set[word];
  }
  return word * 64 + (uint32_t) __builtin_ctzll (found);
}

/* The member after `last`, around. */
static inline uint32_t
following (const IbNetwork *net, uint32_t last)
{
  return last + 1 < 64 * ib_words (net) ? last + 1 : 0;
}

/* The port that has to look for something to send before `output` may read from
 * the input: of those with a claim that are about to look, and this one, the
 * one whose turn it is.  PACKET_NONE: no port has to. */
static inline uint32_t
first_claimant (const IbNetwork *net, IbInput *input, uint32_t output, uint32_t first_port)
{
  const uint64_t *claims = ib_claims (net, input);
  uint32_t n_outputs = 64 * ib_words (net), first, own;

  if (G_LIKELY (input->n_claims == 0))
    return PACKET_NONE;
  first = following (net, input->last_out);
  own = (output + n_outputs - first) % n_outputs;
  for (uint32_t ahead = 0;; ahead++) {
    uint32_t other = next_set (net, claims, (first + ahead) % n_outputs);
    uint32_t there = (other + n_outputs - first) % n_outputs;

    if (other == PACKET_NONE || there < ahead || there >= own)
      return PACKET_NONE;
    ahead = there;
    if (net->port[first_port + other].wake_ps == net->engine.now_ps &&
        (net->port[first_port + other].marks & IB_WILL_LOOK) != 0)
      return first_port + other;
  }
}

static inline void
claim (const IbNetwork *net, IbInput *input, uint32_t output)
{
  uint64_t *word = &ib_claims (net, input)[output / 64], bit = UINT64_C (1) << (output % 64);

  input->n_claims = (uint16_t) (input->n_claims + ((*word & bit) == 0));
  *word |= bit;
}

/* `output` reads from the input. */
static inline void
use_claim (const IbNetwork *net, IbInput *input, uint32_t output)
{
  uint64_t *word = &ib_claims (net, input)[output / 64], bit = UINT64_C (1) << (output % 64);

  if (G_LIKELY (input->n_claims == 0))
    return;
  input->n_claims = (uint16_t) (input->n_claims - ((*word & bit) != 0));
  *word &= ~bit;
  input->last_out = (uint8_t) output;
}

/* An idle port that nobody waits for may be taken at once; otherwise the
 * newcomer joins those who wait, and the arbiter decides. */
static inline bool
is_open (const IbNetwork *net, const IbPort *port)
{
  return port->free_ps <= net->engine.now_ps && port->listed == 0;
}

/* The head of some queue of the lane is here. */
static inline bool
is_waited_for (const IbNetwork *net, IbLane *lane)
{
  uint64_t any = 0;

  for (uint32_t word = 0; word < ib_words (net); word++)
    any |= ib_waiting (lane)[word];
  return any != 0;
}

/* A packet goes to the end of the queue of an input; `set` is where the input
 * belongs if it is the head.  True: it is, and the port must know. */
static ALWAYS_INLINE bool
append (IbNetwork *net, IbPort *port, IbLane *lane, uint64_t *set, uint32_t input,
        uint32_t packet_index)
{
  IbPacket *packet = &net->packet[packet_index];
  IbQueue *queue = ib_queue (net, port, packet->vl, input);
  uint64_t bit = UINT64_C (1) << (input % 64);

  bool is_head = ((ib_waiting (lane)[input / 64] | ib_future (net, lane)[input / 64]) & bit) == 0;

  if (is_head) {
    queue->head = packet_index;
    queue->since_ps = packet->time_ps;
    set[input / 64] |= bit;
  } else {
    net->packet[queue->tail].next = packet_index;
  }
  queue->tail = packet_index;
  lane->queued_blocks += packet->blocks;
  port->listed |= (uint16_t) (1u << packet->vl);
  return is_head;
}

static inline uint32_t
take_packet (IbNetwork *net)
{
  return pool_take (&net->packets, (void **) &net->packet, sizeof (IbPacket),
                    offsetof (IbPacket, next));
}

/* Puts a packet that cannot go now into the queue of an input. */
static inline void
wait_for (IbNetwork *net, uint32_t index, IbPort *port, uint32_t packet_index, uint32_t input)
{
  IbLane *lane = ib_lane (net, index, net->packet[packet_index].vl);

  net->packet[packet_index].time_ps = net->engine.now_ps;
  if (append (net, port, lane, ib_waiting (lane), input, packet_index))
    look_at (net, index, port, MAX (net->engine.now_ps, port->free_ps));
}

/* When a packet may start that comes to a switch at at_ps and is all there at
 * last_ps: late enough for a faster link not to run dry. */
static inline int64_t
start_ps (const IbNetwork *net, const IbPort *out, uint64_t in_ps_q32, const IbPacket *packet,
          int64_t at_ps, int64_t last_ps)
{
  return G_LIKELY (out->ps_q32 >= in_ps_q32) ? at_ps
                                             : MAX (at_ps, last_ps - ib_wire_ps (net, out, packet));
}

/* A packet that has just left `port` joins the queue of the port where it goes
 * on: its head is there at at_ps, its last byte at last_ps. */
static ALWAYS_INLINE void
join (IbNetwork *net, const IbPort *port, uint32_t packet_index, int64_t at_ps, int64_t last_ps)
{
  IbPacket *packet = &net->packet[packet_index];
  uint32_t number = route_forwarding_out (net->tables, port->peer_switch, packet->destination);
  uint32_t out_index = port->peer_first + number - 1;
  IbPort *out = &net->port[out_index];
  int64_t since_ps = start_ps (net, out, port->ps_q32, packet, at_ps, last_ps);
  uint32_t input = port->peer - port->peer_first;

  g_assert (number != ROUTE_NO_PORT);
  packet->flags =
      (uint8_t) ((packet->flags & ~IB_FLAG_DELAYED) | (since_ps > at_ps ? IB_FLAG_DELAYED : 0));
  packet->time_ps = since_ps;
  if (ib_leaves_alone (net) && G_LIKELY (out->listed == 0)) {
    out->listed = 1;
    out->alone = packet_index;
  } else {
    IbLane *lane = ib_lane (net, out_index, packet->vl);

    if (ib_leaves_alone (net))
      ib_queue_alone (net, out_index);
    if (!append (net, out, lane, ib_future (net, lane), input, packet_index))
      return;
  }
  if (since_ps < out->free_ps)
    look_at (net, out_index, out, out->free_ps);
  else
    meet_at (net, out_index, out, input, since_ps);
}

static ALWAYS_INLINE void
transmit (IbNetwork *net, uint32_t index, IbPort *port, IbLane *lane, uint32_t packet_index)
{
  IbPacket *packet = &net->packet[packet_index];
  IbSent *sent = &net->sent[index];
  int64_t now_ps = net->engine.now_ps, at_ps = now_ps + port->latency_ps;
  int64_t sending_ps = ib_wire_ps (net, port, packet);

  port->free_ps = now_ps + sending_ps;
  port->marks &= (uint8_t) ~IB_STARVED;
  sent->payload_bytes += packet->user_bytes;
  sent->wire_bytes += packet->frame_bytes;
  sent->packets += ib_weight (net, packet);
  lane->credits -= packet->blocks;
  net->engine.n_hops++;

  packet->port = port->peer;
  if (ib_arrivals (net))
    packet->flags &= (uint8_t) ~IB_FLAG_RISEN;
  if (port->to_adapter) {
    __builtin_prefetch (message_at (&net->engine, packet->message), 1);
    calendar_add (&net->engine.calendar, IB_RECEIVE, port->peer_number, packet_index,
                  at_ps + sending_ps);
  } else if (G_UNLIKELY (ib_arrivals (net))) {
    packet->time_ps = at_ps + sending_ps;
    ib_add (net, IB_ARRIVE, &net->port[port->peer], packet_index, at_ps);
  } else {
    join (net, port, packet_index, at_ps, at_ps + sending_ps);
  }
}
