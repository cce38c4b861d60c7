/* ib_traffic.c - the packets of a fabric, in its switches and its adapters.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sections: the ports, which switches and adapters have in common; congestion
 * control; switches; queue pairs, which adapters send from and receive for; the
 * arbiter of a port. */
#include "sim/net/ib_state.h"

#include "sim/node/memory.h"

/* --- Ports ---
 *
 * All of it is on the path of every packet, hence inline. */

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

static void
credits_come (IbNetwork *net, uint32_t argument)
{
  uint32_t index = argument & (IB_MAX_PORTS - 1), lane = argument >> IB_PORT_BITS;
  IbPort *port = &net->port[index];

  ib_lane (net, index, lane >> 8)->credits += lane & 255;
  if (port->listed != 0)
    look_at (net, index, port, MAX (net->engine.now_ps, port->free_ps));
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

/* When the first of the slots, all of which are taken, is free. */
static int64_t
slot_free_ps (const IbNetwork *net, const IbInput *input)
{
  int64_t free_ps = NEVER_PS;

  for (uint32_t slot = 0; slot < ib_reads (net); slot++)
    free_ps = MIN (free_ps, input->slots[slot]);
  return free_ps;
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

/* --- Congestion control ---
 *
 * As InfiniBand's annex defines it (infiniband.md section A7), with OpenSM's
 * parameters.  A switch marks packets of a lane that is the root of a
 * congestion: more waits for it than the threshold allows, and it has credits,
 * so the link itself is the bottleneck.  A lane to an adapter counts as
 * a root without credits too, because adapters mark nothing (OpenSM's victim
 * mask).  Guesses: the threshold in blocks, linear between a full input buffer
 * and nothing; a linear table of delays, index times the time of a packet. */

/* A packet that waited leaves a switch: marks it when its lane is congested. */
static void
mark (IbNetwork *net, const IbPort *port, IbLane *lane, IbPacket *packet)
{
  const TopoParameters *p = net->parameters;
  bool is_root = port->to_adapter || lane->credits >= 2u * packet->blocks;

  if (p->congestion.threshold == 0 || lane->queued_blocks <= net->mark_blocks || !is_root ||
      packet->kind != IB_PACKET_DATA || packet->blocks < p->congestion.packet_size_blocks)
    return;
  if (lane->unmarked < p->congestion.marking_rate) {
    lane->unmarked++;
    return;
  }
  lane->unmarked = 0;
  packet->flags |= IB_FLAG_FECN;
}

/* The pair's index now. */
static uint32_t
congestion_index (IbNetwork *net, IbPair *pair)
{
  const TopoParameters *p = net->parameters;
  int64_t steps = (net->engine.now_ps - pair->ccti_ps) / p->congestion.ccti_timer_ps;
  uint8_t least = (uint8_t) p->congestion.ccti_min;

  if (pair->ccti <= least) {
    pair->ccti = least;
    pair->ccti_ps = net->engine.now_ps;
  } else if (steps > 0) {
    pair->ccti = pair->ccti - least > steps ? (uint8_t) (pair->ccti - steps) : least;
    pair->ccti_ps += steps * p->congestion.ccti_timer_ps;
  }
  return pair->ccti;
}

/* News of congestion has reached the source of a pair. */
static void
slow_down (IbNetwork *net, IbPair *pair)
{
  const TopoParameters *p = net->parameters;

  pair->ccti = (uint8_t) MIN (congestion_index (net, pair) + p->congestion.ccti_increase,
                              p->congestion.ccti_limit);
}

/* --- Switches ---
 *
 * Virtual cut-through (infiniband.md section A3): a packet moves on as soon as
 * its head is here, when the next input buffer has credits for all of it.  A
 * link that is faster than the one it comes from must not run dry, so the
 * packet starts late enough for its last byte to be in time.  A packet that
 * cannot go at once waits in the queue of its input, lane and output.
 *
 * What follows is for switches that decide when a packet arrives. */

#define IB_BUSY_LOAD (UINT64_C (1) << 40) /* of ports that would not take the packet at once */

/* The order of ports at an adaptive switch: those that would take the packet at once
 * before the others, then the one with fewest blocks ahead of it, here and in
 * the buffer beyond. */
static uint64_t
port_load (IbNetwork *net, uint32_t index, const IbPacket *packet)
{
  IbLane *lane = ib_lane (net, index, packet->vl);
  bool goes;

  collect_credits (lane, net->engine.now_ps);
  goes = is_open (net, &net->port[index]) && lane->credits >= packet->blocks;
  return (goes ? 0 : IB_BUSY_LOAD) + lane->queued_blocks + (UINT32_MAX - lane->credits);
}

/* Of the ports that begin a shortest way the least loaded; the table's own
 * when others are not better. */
static uint32_t
adaptive_port (IbNetwork *net, uint32_t at_switch, const IbPacket *packet, uint32_t first_port,
               uint32_t best)
{
  const RouteForwarding *tables = net->tables;
  uint32_t home = net->home[packet->destination];
  const uint64_t *group;
  uint64_t best_load;

  if (home == at_switch || home == PACKET_NONE)
    return best;
  group = &tables->group[((size_t) at_switch * tables->n_switches + home) * tables->group_words];
  best_load = port_load (net, best, packet);
  for (uint32_t word = 0; word < tables->group_words; word++)
    for (uint64_t bits = group[word]; bits; bits &= bits - 1) {
      uint32_t other = first_port + word * 64 + (uint32_t) __builtin_ctzll (bits) - 1;
      uint64_t load = port_load (net, other, packet);

      if (load < best_load) {
        best = other;
        best_load = load;
      }
    }
  return best;
}

/* --- Detours through another group of a Dragonfly+ --- */

/* What a packet would have before it at a port of a switch, itself included. */
static uint64_t
blocks_ahead (const IbNetwork *net, uint32_t index, const IbPacket *packet)
{
  const IbLane *lane = ib_lane (net, index, packet->vl);

  return lane->queued_blocks + (net->buffer_blocks - lane->credits) + packet->blocks;
}

/* Of a set of ports the least loaded, of equal ones the first from `first` on, around;
 * PACKET_NONE: the set is empty. */
static uint32_t
least_loaded (IbNetwork *net, const uint64_t *set, uint32_t n_words, uint32_t first_port,
              uint32_t first, const IbPacket *packet)
{
  uint32_t best = PACKET_NONE, best_turn = 0;
  uint64_t best_load = 0;

  for (uint32_t word = 0; word < n_words; word++)
    for (uint64_t bits = set[word]; bits != 0; bits &= bits - 1) {
      uint32_t number = word * 64 + (uint32_t) __builtin_ctzll (bits);
      uint32_t turn = (number + 64 * n_words - first) % (64 * n_words);
      uint64_t load = port_load (net, first_port + number - 1, packet);

      if (best == PACKET_NONE || load < best_load || (load == best_load && turn < best_turn)) {
        best = first_port + number - 1;
        best_load = load;
        best_turn = turn;
      }
    }
  return best;
}

/* A number that looks random and is the same in every run, from what differs between packets. */
static uint32_t
chance (const IbNetwork *net, const IbPacket *packet)
{
  uint64_t key = (uint64_t) net->engine.now_ps ^ (uint64_t) packet->port << 40 ^
                 (uint64_t) packet->destination << 20;

  key = (key ^ key >> 31) * UINT64_C (0x9e3779b97f4a7c15);
  return (uint32_t) (key >> 32);
}

/* The least loaded port of a shortest way, or of a detour when much more waits there.  Only a
 * packet that has not been in another group yet may take a detour; one that leaves a
 * third group rises to the lane on which nothing waits for lane 0. */
static uint32_t
detour_port (IbNetwork *net, uint32_t at_switch, IbPacket *packet, const IbPort *in, uint32_t own)
{
  const RouteForwarding *tables = net->tables;
  uint32_t home = net->home[packet->destination], number = own - in->first + 1, best, other;
  uint32_t n_words = tables->group_words;
  size_t index;
  bool came_over;

  if (home == at_switch || home == PACKET_NONE)
    return own;
  index = ((size_t) at_switch * tables->n_switches + home) * n_words;
  came_over = tables->is_global[packet->port];
  /* From here all shortest ways begin with a cable between groups, or none does. */
  best = least_loaded (net, &tables->group[index], n_words, in->first, number, packet);
  g_assert (best != PACKET_NONE);
  if (came_over && tables->is_global[best]) {
    packet->vl++;
    packet->flags |= IB_FLAG_RISEN;
    best = least_loaded (net, &tables->group[index], n_words, in->first, number, packet);
  }
  if (came_over || port_load (net, best, packet) < IB_BUSY_LOAD)
    return best;
  other = least_loaded (net, &tables->detour[index], n_words, in->first,
                        chance (net, packet) % (64 * n_words), packet);
  return other != PACKET_NONE &&
                 blocks_ahead (net, best, packet) >
                     net->parameters->switches.detour_factor * blocks_ahead (net, other, packet)
             ? other
             : best;
}

/* The lane of the buffer that a packet is in. */
static inline uint32_t
buffer_vl (const IbPacket *packet)
{
  return packet->vl - ((packet->flags & IB_FLAG_RISEN) != 0);
}

/* It goes out through `out` now, or waits. */
static void
enter_switch (IbNetwork *net, uint32_t packet_index, uint32_t out)
{
  IbPacket *packet = &net->packet[packet_index];
  IbPort *port = &net->port[out];
  uint32_t vl = buffer_vl (packet), blocks = packet->blocks, in = packet->port;
  IbLane *lane = ib_lane (net, out, packet->vl);
  IbInput *input = ib_input (net, in);
  int64_t *slot;

  if (is_open (net, port) && finds_room (net, lane, blocks) &&
      (slot = find_slot (net, input)) != NULL &&
      first_claimant (net, input, out - port->first, port->first) == PACKET_NONE) {
    use_claim (net, input, out - port->first);
    transmit (net, out, port, lane, packet_index);
    *slot = port->free_ps;
    return_credits (net, input->sender, vl, blocks, port->free_ps);
  } else {
    wait_for (net, out, port, packet_index, in - port->first);
  }
}

static void
arrive (IbNetwork *net, uint32_t packet_index)
{
  IbPacket *packet = &net->packet[packet_index];
  const IbPort *in = &net->port[packet->port];
  uint32_t at_switch = net->port[in->peer].peer_switch;
  uint32_t number = route_forwarding_out (net->tables, at_switch, packet->destination);
  uint32_t out = in->first + number - 1;
  int64_t starts_ps;

  g_assert (number != ROUTE_NO_PORT);
  if (net->adaptive)
    out = net->tables->detour != NULL ? detour_port (net, at_switch, packet, in, out)
                                      : adaptive_port (net, at_switch, packet, in->first, out);
  starts_ps =
      start_ps (net, &net->port[out], in->ps_q32, packet, net->engine.now_ps, packet->time_ps);
  if (starts_ps > net->engine.now_ps) {
    packet->next = out; /* it is in no queue */
    ib_add (net, IB_READY, in, packet_index, starts_ps);
  } else {
    enter_switch (net, packet_index, out);
  }
}

/* --- The table of queue pairs, by their two ranks ---
 *
 * A hash table with open addresses.  Pairs live while they have work, so that
 * the table is as large as the traffic of a moment, not as all pairs of ranks.
 * With congestion control they live until their last request is forgotten and
 * their index has fallen to that of a new pair; when the table is full, those
 * are cleared out before it grows. */

#define FIRST_SLOTS 64u

static inline uint32_t
first_slot (const IbNetwork *net, uint32_t source_rank, uint32_t destination_rank, uint8_t number)
{
  uint64_t key = (uint64_t) source_rank << 32 | destination_rank;

  key ^= (uint64_t) (number & 1) << 63 | (uint64_t) (number >> 1) << 58;
  key = (key ^ key >> 29) * UINT64_C (0x9e3779b97f4a7c15);
  return (uint32_t) (key >> 32) & (net->n_pair_slots - 1);
}

/* Where the pair is, or the free slot where it belongs. */
static uint32_t
find (const IbNetwork *net, uint32_t source_rank, uint32_t destination_rank, uint8_t number)
{
  uint32_t slot = first_slot (net, source_rank, destination_rank, number);

  for (; net->pair_slot[slot] != 0; slot = (slot + 1) & (net->n_pair_slots - 1)) {
    const IbPair *pair = &net->pair[net->pair_slot[slot] - 1];

    if (pair->source_rank == source_rank && pair->destination_rank == destination_rank &&
        pair->number == number)
      break;
  }
  return slot;
}

/* Drops the pairs that nothing has distinguished from a new one since before
 * this window: other nodes may be as far back as that. */
static void
forget_idle (IbNetwork *net)
{
  const TopoParameters *p = net->parameters;
  int64_t now_ps = net->switches.start_ps;

  for (uint32_t slot = 0; slot < net->n_pair_slots; slot++) {
    uint32_t index = net->pair_slot[slot] - 1;
    const IbPair *pair;

    if (net->pair_slot[slot] == 0)
      continue;
    pair = &net->pair[index];
    if (pair->n_open > 0 || pair->not_before_ps > now_ps ||
        pair->ccti - (int64_t) p->congestion.ccti_min >
            (now_ps - pair->ccti_ps) / p->congestion.ccti_timer_ps)
      continue;
    net->pair_slot[slot] = 0;
    pool_give (&net->pairs, net->pair, sizeof (IbPair), offsetof (IbPair, next), index);
    net->n_paired--;
  }
}

/* A table with room for more, without pairs that are not needed. */
static void
make_room (IbNetwork *net)
{
  g_autofree uint32_t *old = net->pair_slot;
  uint32_t n_old = net->n_pair_slots;

  if (ib_is_controlled (net))
    forget_idle (net);
  /* As large as before only when it is half as full: this must not come often. */
  net->n_pair_slots = MAX (FIRST_SLOTS, 4 * net->n_paired < n_old ? n_old : 2 * n_old);
  net->pair_slot = g_new0 (uint32_t, net->n_pair_slots);
  for (uint32_t slot = 0; slot < n_old; slot++)
    if (old[slot] != 0) {
      const IbPair *pair = &net->pair[old[slot] - 1];

      net->pair_slot[find (net, pair->source_rank, pair->destination_rank, pair->number)] =
          old[slot];
    }
}

/* The pair of two ranks, made when there is none; indices of pairs without work
 * are invalid after this. */
static uint32_t
pair_get (IbNetwork *net, uint32_t source_rank, uint32_t destination_rank, uint8_t number)
{
  uint32_t slot, index;

  if (2 * net->n_paired >= net->n_pair_slots)
    make_room (net);
  slot = find (net, source_rank, destination_rank, number);
  if (net->pair_slot[slot] != 0)
    return net->pair_slot[slot] - 1;
  index = pool_take (&net->pairs, (void **) &net->pair, sizeof (IbPair), offsetof (IbPair, next));
  net->pair[index] = (IbPair){
    .source_rank = source_rank,
    .destination_rank = destination_rank,
    .number = number,
    .head = PACKET_NONE,
    .tail = PACKET_NONE,
    .next = PACKET_NONE,
    .port = PACKET_NONE,
  };
  net->pair_slot[slot] = index + 1;
  net->n_paired++;
  return index;
}

static void
pair_drop (IbNetwork *net, uint32_t index)
{
  const IbPair *dropped = &net->pair[index];
  uint32_t mask = net->n_pair_slots - 1;
  uint32_t gap = find (net, dropped->source_rank, dropped->destination_rank, dropped->number);

  /* The pairs behind the free slot move up, except those that would then stand
   * before their own first slot. */
  for (uint32_t slot = (gap + 1) & mask; net->pair_slot[slot] != 0; slot = (slot + 1) & mask) {
    const IbPair *pair = &net->pair[net->pair_slot[slot] - 1];
    uint32_t first = first_slot (net, pair->source_rank, pair->destination_rank, pair->number);

    if (((slot - first) & mask) < ((slot - gap) & mask))
      continue;
    net->pair_slot[gap] = net->pair_slot[slot];
    gap = slot;
  }
  net->pair_slot[gap] = 0;
  pool_give (&net->pairs, net->pair, sizeof (IbPair), offsetof (IbPair, next), index);
  net->n_paired--;
}

/* The queue pairs of dynamic connections are few. */
static inline bool
uses_contexts (const IbNetwork *net)
{
  return net->contexts.capacity > 0 && !net->engine.base.dynamic_connections;
}

static inline int64_t
message_gap_ps (const IbNetwork *net)
{
  return net->engine.base.dynamic_connections ? net->parameters->hca.dynamic_gap_ps
                                              : net->parameters->hca.message_gap_ps;
}

/* --- Adapters: from a request to packets on the link ---
 *
 * Requests of one rank to another stand in a queue pair, and the adapter takes
 * a few packets of a request from each pair with work in turn (guess: how adapters schedule
 * pairs is not published).  Payload that is not in the request itself is read
 * through PCIe, one packet after the other, each wholly before it is sent, a
 * few ahead of the link (infiniband.md section A5).  Protocol packets wait in
 * a queue of their own and take turns with data. */

static void
activate_at (IbNetwork *net, uint32_t index, int64_t at_ps)
{
  ib_add (net, IB_ACTIVATE, &net->port[net->pair[index].port], index,
          MAX (at_ps, net->engine.now_ps));
}

/* What the packets of a pair's first request need. */
static void
begin_request (const IbNetwork *net, IbPair *pair)
{
  const IbRequest *request = &net->request[pair->head];

  pair->message = request->message;
  pair->payload_left = request->payload_bytes;
  pair->software_left = request->software_bytes;
  pair->begins_write = request->is_write;
  pair->is_inline = request->is_inline;
  pair->exact = request->exact;
}

/* The pair behind `before` has given a packet: it stays in the ring, waits
 * for its time, or has nothing left to do.  Its first request may begin at ready_ps. */
static void
end_turn (IbNetwork *net, IbStage *stage, uint32_t before, uint32_t index, int64_t ready_ps)
{
  IbPair *pair = &net->pair[index];
  int64_t next_ps;

  stage->ring = index;
  stage->next_pair = pair->next;
  if (pair->head != PACKET_NONE) {
    next_ps = MAX (ready_ps, pair->not_before_ps);
    if (next_ps <= net->engine.now_ps)
      return;
    activate_at (net, index, next_ps);
  }
  net->pair[before].next = pair->next;
  stage->ring = before == index ? PACKET_NONE : before;
  if (pair->head == PACKET_NONE && !ib_is_controlled (net))
    pair_drop (net, index);
}

/* One that stands for several has one packet's place in buffers, and what frames the others. */
static void
fill_packet (IbNetwork *net, IbPacket *packet, IbPair *pair)
{
  const TopoParameters *p = net->parameters;
  uint32_t payload_bytes = (uint32_t) MIN (pair->payload_left, net->full_bytes[pair->exact]);
  uint16_t software_bytes = (uint16_t) MIN (pair->software_left, payload_bytes);
  uint32_t header_bytes =
      (uint32_t) p->ib.header_bytes + (pair->begins_write ? (uint32_t) p->ib.rdma_header_bytes : 0);
  uint32_t n_others = payload_bytes > net->mtu_bytes ? (payload_bytes - 1) / net->mtu_bytes : 0;
  uint32_t frame_bytes = header_bytes + payload_bytes +
                         n_others * ((uint32_t) p->ib.header_bytes + net->framing_bytes);

  *packet = (IbPacket){
    .message = pair->message,
    .port = pair->port,
    .destination = pair->destination,
    .user_bytes = (uint16_t) (payload_bytes - software_bytes),
    .frame_bytes = (uint16_t) frame_bytes,
    .payload_bytes = (uint16_t) payload_bytes,
    .blocks = (uint8_t) ib_blocks (net, header_bytes + MIN (payload_bytes, net->mtu_bytes)),
    .vl = pair->vl,
    .kind = IB_PACKET_DATA,
  };
  pair->payload_left -= payload_bytes;
  pair->software_left = (uint16_t) (pair->software_left - software_bytes);
  pair->begins_write = false;
}

/* The pair behind the one whose turn is next: a packet's time ahead. */
static PREFETCHES
prefetch_turns (const IbNetwork *net, const IbStage *stage)
{
  __builtin_prefetch (&net->pair[net->pair[stage->next_pair].next], 1);
}

/* The next packet of the pair whose turn it is. */
static uint32_t
next_packet (IbNetwork *net, IbStage *stage, bool *is_inline)
{
  uint32_t before = stage->ring, pair_index = stage->next_pair;
  IbPair *pair = &net->pair[pair_index];
  uint32_t index = take_packet (net);
  IbPacket *packet = &net->packet[index];
  int64_t ready_ps = 0;

  fill_packet (net, packet, pair);
  net->engine.n_packets++;
  net->engine.payload_sent += packet->user_bytes;
  *is_inline = pair->is_inline;
  if (ib_is_controlled (net)) {
    int64_t packet_ps = ib_wire_ps (net, &net->port[pair->port], packet);

    pair->not_before_ps = net->engine.now_ps + (int64_t) congestion_index (net, pair) * packet_ps;
  }
  if (pair->payload_left > 0) {
    stage->taken++;
  } else {
    stage->taken = net->turn_packets;
    pair->head = net->request[pair->head].next;
    if (pair->head != PACKET_NONE) {
      begin_request (net, pair);
      ready_ps = net->request[pair->head].ready_ps;
    }
  }
  if (stage->taken >= net->turn_packets) {
    stage->taken = 0;
    end_turn (net, stage, before, pair_index, ready_ps);
  }
  prefetch_turns (net, stage);
  return index;
}

/* Of the lanes of the adapter's ports the next one in turn with work and room;
 * PACKET_NONE: none. */
static uint32_t
next_stage (const IbNetwork *net, uint32_t n_stages, const IbStage *stages, uint32_t last)
{
  uint32_t at = last;

  for (uint32_t step = 0; step < n_stages; step++) {
    at = at + 1 < n_stages ? at + 1 : 0;
    if (stages[at].ring != PACKET_NONE && stages[at].staged < net->read_ahead)
      return at;
  }
  return PACKET_NONE;
}

/* A packet that needs nothing from memory is in the adapter. */
static void
enter_adapter (IbNetwork *net, uint32_t index, uint32_t queue)
{
  const IbPacket *packet = &net->packet[index];
  uint32_t port_index = packet->port;
  IbPort *port = &net->port[port_index];
  IbLane *lane = ib_lane (net, port_index, packet->vl);

  if (is_open (net, port) && finds_room (net, lane, packet->blocks)) {
    if (queue == IB_QUEUE_DATA)
      ib_stage (net, port_index, packet->vl)->staged--;
    transmit (net, port_index, port, lane, index);
  } else {
    wait_for (net, port_index, port, index, queue);
  }
}

/* Begins to read what the adapter of this port has room for. */
static void
read_more (IbNetwork *net, uint32_t port)
{
  IbAdapter *adapter = ib_adapter (net, port);
  IbStage *stages = ib_stage (net, adapter->first_port, 0);
  int64_t now_ps = net->engine.now_ps;

  while (!adapter->reading) {
    uint32_t at = next_stage (net, adapter->n_ports * ib_vls (net), stages, adapter->turn);
    uint32_t index;
    bool is_inline;

    if (at == PACKET_NONE)
      return;
    adapter->turn = at;
    index = next_packet (net, &stages[at], &is_inline);
    stages[at].staged++;
    if (is_inline) {
      enter_adapter (net, index, IB_QUEUE_DATA);
    } else {
      /* PCIe begins to read the payload of the packet. */
      const IbPacket *packet = &net->packet[index];
      int64_t memory_ps = sim_memory_dma (net->engine.base.memory, adapter->node, false,
                                          packet->payload_bytes, now_ps);
      int64_t pcie_ps = now_ps + ib_bytes_ps (packet->payload_bytes, net->pcie_ps_q32);

      adapter->reading = true;
      ib_add (net, IB_READ, &net->port[packet->port], index, MAX (memory_ps, pcie_ps));
    }
  }
}

/* From a request to its first packet on the wire. */
static int64_t
lead_ps (const TopoParameters *p, const SimMessage *message, bool is_inline)
{
  if (message->place == SIM_DATA_ASKED_FOR)
    return p->hca.read_latency_ps;
  return p->hca.send_latency_ps + (!is_inline ? p->hca.read_latency_ps
                                   : message->place == SIM_DATA_IN_ADAPTER
                                       ? p->hca.device_latency_ps
                                       : 0);
}

/* A request has reached its adapter. */
static void
post (IbNetwork *net, uint32_t index)
{
  const TopoParameters *p = net->parameters;
  IbRequest *request = &net->request[index];
  const Message *message = message_at (&net->engine, request->message);
  const SimMessage *public = &message->public;
  uint32_t port = net->tables->destination_port[request->back];
  IbAdapter *adapter = ib_adapter (net, port);
  int64_t start_ps = MAX (net->engine.now_ps, adapter->post_ps);
  uint32_t pair_index =
      pair_get (net, public->source_rank, public->destination_rank, ib_pair_number (public));
  IbPair *pair = &net->pair[pair_index];

  adapter->post_ps = start_ps + message_gap_ps (net);
  if (uses_contexts (net))
    start_ps = MAX (start_ps, ib_contexts_use (&net->contexts, message->context, net->unit[port],
                                               net->engine.now_ps));
  request->ready_ps = start_ps + lead_ps (p, public, request->is_inline);
  request->pair = pair_index;
  pair->n_open++;
  pair->port = port;
  pair->vl = request->vl & 15;
  pair->destination = request->destination;
  if (pair->head == PACKET_NONE) {
    pair->head = index;
    begin_request (net, pair);
    activate_at (net, pair_index, MAX (request->ready_ps, pair->not_before_ps));
  } else {
    net->request[pair->tail].next = index;
  }
  pair->tail = index;
}

/* Behind the others of its lane: it has its turn when they have had theirs. */
static void
activate (IbNetwork *net, uint32_t index)
{
  IbPair *pair = &net->pair[index];
  IbStage *stage = ib_stage (net, pair->port, pair->vl);

  if (stage->ring == PACKET_NONE) {
    pair->next = index;
  } else {
    pair->next = net->pair[stage->ring].next;
    net->pair[stage->ring].next = index;
  }
  stage->ring = index;
  stage->next_pair = pair->next;
  read_more (net, pair->port);
}

static void
read_done (IbNetwork *net, uint32_t index)
{
  uint32_t port = net->packet[index].port;

  ib_adapter (net, port)->reading = false;
  enter_adapter (net, index, IB_QUEUE_DATA);
  read_more (net, port);
}

/* --- Adapters: from the link into memory, and the acknowledgement back ---
 *
 * A packet leaves the input buffer of its adapter when PCIe and memory have
 * taken it; memory that cannot keep up fills the buffers and in the end stops
 * the links.  Because a node's events come in time order and PCIe serves them
 * in that order, the time is known when the last byte arrives.
 *
 * The last packet of a message is acknowledged at once (infiniband.md section
 * A1); news of congestion travels with that, or in a packet of its own when
 * the message has more to come (A7). */

/* A protocol packet about a message, from where it arrived to where it came
 * from. */
static void
answer (IbNetwork *net, uint32_t message, uint32_t kind, uint32_t flags)
{
  const TopoParameters *p = net->parameters;
  const IbRequest *request = &net->request[message_at (&net->engine, message)->next];
  uint32_t index = take_packet (net);

  net->packet[index] = (IbPacket){
    .message = message,
    .port = net->tables->destination_port[request->destination],
    .destination = request->back,
    .frame_bytes = (uint16_t) p->ib.ack_bytes,
    .blocks = (uint8_t) ib_blocks (net, (uint32_t) p->ib.ack_bytes),
    .vl = request->back_vl,
    .kind = (uint8_t) kind,
    .flags = (uint8_t) flags,
  };
  net->engine.n_packets++;
  enter_adapter (net, index, IB_QUEUE_PROTOCOL);
}

/* One of the things that a request still waits for has happened. */
static void
end_request (IbNetwork *net, uint32_t message)
{
  uint32_t index = message_at (&net->engine, message)->next;

  if (--net->request[index].ends > 0)
    return;
  if (ib_is_controlled (net))
    net->pair[net->request[index].pair].n_open--;
  pool_give (&net->requests, net->request, sizeof (IbRequest), offsetof (IbRequest, next), index);
  packet_engine_give_message (&net->engine, message);
}

/* When the payload of a packet that has just arrived is in memory. */
static int64_t
write_ps (IbNetwork *net, const IbPacket *packet)
{
  int64_t now_ps = net->engine.now_ps, memory_ps;
  IbAdapter *adapter = ib_adapter (net, packet->port);

  if (packet->payload_bytes == 0)
    return now_ps;
  if (adapter->write_ps > now_ps) {
    Waited *waited = &ib_input (net, packet->port)->waited;

    waited->packets += (packet->flags & IB_FLAG_WAITED) != 0 ? 0 : ib_weight (net, packet);
    waited->ps += (uint64_t) (adapter->write_ps - now_ps);
  }
  memory_ps =
      sim_memory_dma (net->engine.base.memory, adapter->node, true, packet->payload_bytes, now_ps);
  adapter->write_ps =
      MAX (now_ps, adapter->write_ps) + ib_bytes_ps (packet->payload_bytes, net->pcie_ps_q32);
  return MAX (adapter->write_ps, memory_ps);
}

static void
receive_data (IbNetwork *net, const IbPacket *packet)
{
  const TopoParameters *p = net->parameters;
  IbAdapter *adapter = ib_adapter (net, packet->port);
  int64_t written_ps = write_ps (net, packet), complete_ps;
  bool marked = (packet->flags & IB_FLAG_FECN) != 0;

  return_credits (net, net->port[packet->port].peer, packet->vl, packet->blocks, written_ps);
  if (!packet_engine_received (&net->engine, packet->message, packet->user_bytes, written_ps)) {
    if (marked) {
      net->request[message_at (&net->engine, packet->message)->next].ends++;
      answer (net, packet->message, IB_PACKET_CN, IB_FLAG_BECN);
    }
    return;
  }
  complete_ps = MAX (message_at (&net->engine, packet->message)->last_ps, adapter->complete_ps);
  adapter->complete_ps = complete_ps + message_gap_ps (net);
  /* An adapter answers the request of a read itself. */
  if (message_at (&net->engine, packet->message)->public.kind != SIM_MESSAGE_READ)
    complete_ps += p->hca.receive_latency_ps;
  ib_add (net, IB_DELIVER, &net->port[packet->port], packet->message, complete_ps);
  answer (net, packet->message, IB_PACKET_ACK, marked ? IB_FLAG_BECN : 0);
}

static void
receive_protocol (IbNetwork *net, const IbPacket *packet)
{
  const IbRequest *request = &net->request[message_at (&net->engine, packet->message)->next];
  uint32_t message = packet->message;

  return_credits (net, net->port[packet->port].peer, packet->vl, packet->blocks,
                  net->engine.now_ps);
  if ((packet->flags & IB_FLAG_BECN) != 0)
    slow_down (net, &net->pair[request->pair]);
  if (packet->kind == IB_PACKET_ACK && message_at (&net->engine, message)->public.acknowledge)
    ib_add (net, IB_SENT, &net->port[packet->port], message,
            net->engine.now_ps + net->parameters->hca.receive_latency_ps);
  else
    end_request (net, message);
}

/* An adapter has the context of a packet that has arrived. */
static void
take_up (IbNetwork *net, uint32_t index)
{
  /* An answer may move the pool of packets. */
  IbPacket packet = net->packet[index];

  pool_give (&net->packets, net->packet, sizeof (IbPacket), offsetof (IbPacket, next), index);
  if (packet.kind == IB_PACKET_DATA)
    receive_data (net, &packet);
  else
    receive_protocol (net, &packet);
}

/* From when on the adapter has the context of a packet's connection. */
static int64_t
context_ps (IbNetwork *net, const IbPacket *packet)
{
  uint32_t context = message_at (&net->engine, packet->message)->context;

  if (packet->kind == IB_PACKET_DATA)
    context = (context ^ IB_CONTEXT_OTHER_END) + IB_CONTEXT_RECEIVE;
  return ib_contexts_use (&net->contexts, context, net->unit[packet->port], net->engine.now_ps);
}

/* From when on the adapter knows where the packet goes: into the next buffer of the receive queue
 * of its rank. */
static int64_t
buffer_ps (IbNetwork *net, const IbPacket *packet)
{
  const SimMessage *message = &message_at (&net->engine, packet->message)->public;
  uint32_t device = net->unit[packet->port], queue;

  if (packet->kind != IB_PACKET_DATA || message->kind == SIM_MESSAGE_WRITE ||
      message->kind == SIM_MESSAGE_READ ||
      message->bytes + message->software_bytes <= net->parameters->hca.receive_inline_bytes)
    return net->engine.now_ps;
  queue = ib_contexts_connect (&net->receive_queues, message->destination_rank,
                               message->destination_rank, false, device, device);
  return ib_contexts_use (&net->receive_queues, queue + IB_CONTEXT_RECEIVE, device,
                          net->engine.now_ps);
}

/* The last byte of a packet has arrived at an adapter; it stays in the buffer until its context is
 * there. */
static void
receive (IbNetwork *net, uint32_t index)
{
  IbPacket *packet = &net->packet[index];
  int64_t now_ps = net->engine.now_ps, there_ps = now_ps;
  Waited *waited;

  if (uses_contexts (net))
    there_ps = context_ps (net, packet);
  if (net->receive_queues.capacity > 0)
    there_ps = MAX (there_ps, buffer_ps (net, packet));
  if (there_ps == now_ps) {
    take_up (net, index);
    return;
  }
  waited = &ib_input (net, packet->port)->waited;
  waited->packets += ib_weight (net, packet);
  waited->ps += (uint64_t) (there_ps - now_ps);
  packet->flags |= IB_FLAG_WAITED;
  ib_add (net, IB_TAKE_UP, &net->port[packet->port], index, there_ps);
}

static void
deliver (IbNetwork *net, uint32_t index)
{
  SimMessage message = message_at (&net->engine, index)->public;

  g_assert (message_at (&net->engine, index)->bytes_left == 0);
  end_request (net, index);
  net->engine.base.client->delivered (net->engine.base.client_data, &message, net->engine.now_ps);
}

static void
acknowledged (IbNetwork *net, uint32_t index)
{
  SimMessage message = message_at (&net->engine, index)->public;

  end_request (net, index);
  net->engine.base.client->sent (net->engine.base.client_data, &message, net->engine.now_ps);
}

/* --- The arbiter of a port ---
 *
 * First the lane, by the two tables of the VL arbiter (infiniband.md section
 * A3); of one lane, the inputs in turn.  An input whose packet lacks credits keeps
 * its turn, so that short packets cannot keep a long one out for ever; one from
 * which as many packets as it can feed are leaving is passed over.  Outputs that
 * found an input busy take turns when it is free, whichever looks first.
 *
 * What can go changes only when the port is idle again, credits come, a slot of an input
 * is free, or a packet comes to the head of a queue: nothing else needs a look. */

/* What the queues of a port hold. */
typedef struct {
  int64_t next_ps; /* the first head that is not here yet comes; NEVER_PS: all are here */
  uint32_t next;   /* ... through this input */
  bool old;        /* something has waited since before now */
  /* The first of the heads that come now. */
  uint32_t newcomer; /* input, PACKET_NONE: none */
  uint32_t newcomer_vl;
  bool newcomer_is_delayed;
} Survey;

static inline void
note_next (Survey *survey, uint32_t input, int64_t since_ps)
{
  if (since_ps > survey->next_ps || (since_ps == survey->next_ps && input > survey->next))
    return;
  survey->next_ps = since_ps;
  survey->next = input;
}

/* Heads whose time has come join those that wait. */
static ALWAYS_INLINE void
survey_lane (IbNetwork *net, uint32_t index, const IbPort *port, uint32_t vl, Survey *survey)
{
  IbLane *lane = ib_lane (net, index, vl);
  uint64_t *waiting = ib_waiting (lane), *future = ib_future (net, lane);

  for (uint32_t word = 0; word < ib_words (net); word++) {
    survey->old |= waiting[word] != 0;
    for (uint64_t bits = future[word]; bits != 0; bits &= bits - 1) {
      uint32_t input = word * 64 + (uint32_t) __builtin_ctzll (bits);
      const IbQueue *queue = ib_queue (net, port, vl, input);

      if (queue->since_ps > net->engine.now_ps) {
        note_next (survey, input, queue->since_ps);
        continue;
      }
      waiting[word] |= bits & -bits;
      future[word] ^= bits & -bits;
      if (queue->since_ps < net->engine.now_ps) {
        survey->old = true;
      } else {
        bool is_delayed = (net->packet[queue->head].flags & IB_FLAG_DELAYED) != 0;

        if (survey->newcomer == PACKET_NONE || is_delayed < survey->newcomer_is_delayed ||
            (is_delayed == survey->newcomer_is_delayed && input < survey->newcomer)) {
          survey->newcomer = input;
          survey->newcomer_vl = vl;
          survey->newcomer_is_delayed = is_delayed;
        }
      }
    }
  }
}

/* Obstacles that keep a port from sending. */
typedef struct {
  int64_t retry_ps; /* an input that is busy now may be read then; NEVER_PS: none is */
  uint32_t before;  /* port that has to look first; PACKET_NONE: none has to */
} Obstacles;

/* The input whose turn it is; PACKET_NONE when its packet has no credits, or
 * all inputs are busy. */
static ALWAYS_INLINE uint32_t
candidate (IbNetwork *net, const IbPort *port, uint32_t output, IbLane *lane, uint32_t vl,
           Obstacles *obstacles)
{
  const uint64_t *waiting = ib_waiting (lane);
  uint32_t first = following (net, lane->last_in), start = PACKET_NONE;

  for (;;) {
    uint32_t input = next_set (net, waiting, first);
    IbInput *in;

    if (input == start)
      return PACKET_NONE;
    if (lane->credits < net->packet[ib_queue (net, port, vl, input)->head].blocks)
      return PACKET_NONE;
    if (!port->is_switch)
      return input;
    in = ib_input (net, port->first + input);
    if (find_slot (net, in) != NULL) {
      if (obstacles->before == PACKET_NONE)
        obstacles->before = first_claimant (net, in, output, port->first);
      return input;
    }
    claim (net, in, output);
    obstacles->retry_ps = MIN (obstacles->retry_ps, slot_free_ps (net, in));
    if (start == PACKET_NONE)
      start = input;
    first = following (net, input);
  }
}

/* The lane of the first entry from the present one on that is ready; the
 * entry keeps its turn until its weight is used up.  PACKET_NONE: none is. */
static uint32_t
take_turn (const TopoVlWeights *table, IbTurn *turn, uint32_t ready)
{
  for (uint32_t step = 0; step <= table->n; step++) {
    if (turn->left > 0 && (ready >> table->vl[turn->at] & 1) != 0)
      return table->vl[turn->at];
    if (step == table->n)
      break;
    turn->at = (turn->at + 1) % table->n;
    turn->left = table->weight[turn->at];
  }
  return PACKET_NONE;
}

static void
use_turn (IbTurn *turn, uint32_t bytes)
{
  turn->left -= (int32_t) ((bytes + TOPO_VL_WEIGHT_BYTES - 1) / TOPO_VL_WEIGHT_BYTES);
}

/* High priority goes first until it has sent its limit while low priority
 * waited. */
static uint32_t
arbitrate (IbNetwork *net, uint32_t index, const IbPort *port, uint32_t ready,
           const uint32_t inputs[])
{
  const TopoParameters *p = net->parameters;
  IbArbiter *arbiter = &net->arbiter[index];
  uint32_t high = PACKET_NONE, low = PACKET_NONE, vl, bytes;
  IbTurn high_turn = arbiter->high, low_turn = arbiter->low;

  if (p->switches.vlarb_high.n > 0)
    high = take_turn (&p->switches.vlarb_high, &high_turn, ready);
  if (p->switches.vlarb_low.n > 0)
    low = take_turn (&p->switches.vlarb_low, &low_turn, ready);
  if (high == PACKET_NONE && low == PACKET_NONE)
    return PACKET_NONE;
  vl = low == PACKET_NONE || (high != PACKET_NONE && arbiter->high_left_bytes >= 0) ? high : low;
  bytes = net->packet[ib_queue (net, port, vl, inputs[vl])->head].frame_bytes;
  if (vl == high && (low == PACKET_NONE || arbiter->high_left_bytes >= 0)) {
    arbiter->high = high_turn;
    use_turn (&arbiter->high, bytes);
    if (low != PACKET_NONE && p->switches.high_limit < TOPO_VL_NO_LIMIT)
      arbiter->high_left_bytes -= bytes;
  } else {
    arbiter->low = low_turn;
    use_turn (&arbiter->low, bytes);
    arbiter->high_left_bytes = (int64_t) p->switches.high_limit * TOPO_VL_LIMIT_BYTES;
  }
  return vl;
}

/* The head of a queue leaves it. */
static ALWAYS_INLINE uint32_t
take_head (IbNetwork *net, IbPort *port, IbLane *lane, uint32_t vl, uint32_t input, Survey *survey)
{
  IbQueue *queue = ib_queue (net, port, vl, input);
  uint64_t *waiting = ib_waiting (lane), *future = ib_future (net, lane);
  uint64_t bit = UINT64_C (1) << (input % 64), any = 0;
  uint32_t packet = queue->head;

  lane->queued_blocks -= net->packet[packet].blocks;
  if (packet != queue->tail) {
    queue->head = net->packet[packet].next;
    queue->since_ps = net->packet[queue->head].time_ps;
    if (queue->since_ps <= net->engine.now_ps)
      return packet;
    note_next (survey, input, queue->since_ps);
    future[input / 64] |= bit;
  }
  waiting[input / 64] &= ~bit;
  for (uint32_t word = 0; word < 2 * ib_words (net); word++)
    any |= lane->sets[word];
  port->listed &= (uint16_t) ~((uint32_t) (any == 0) << vl);
  return packet;
}

/* The packet at the head of a queue goes out; `slot` is one of the input buffer it
 * leaves, in a switch. */
static ALWAYS_INLINE void
leave (IbNetwork *net, uint32_t index, IbPort *port, uint32_t vl, uint32_t input, int64_t *slot,
       Survey *survey)
{
  IbLane *lane = ib_lane (net, index, vl);
  uint32_t packet_index = take_head (net, port, lane, vl, input, survey);

  if (port->is_switch) {
    const IbPacket *packet = &net->packet[packet_index];
    uint32_t blocks = packet->blocks, in_vl = ib_arrivals (net) ? buffer_vl (packet) : vl;
    IbInput *in = ib_input (net, port->first + input);

    use_claim (net, in, index - port->first);
    transmit (net, index, port, lane, packet_index);
    *slot = port->free_ps;
    return_credits (net, in->sender, in_vl, blocks, port->free_ps);
  } else {
    transmit (net, index, port, lane, packet_index);
    if (input == IB_QUEUE_DATA) {
      ib_stage (net, index, vl)->staged--;
      read_more (net, index);
    }
  }
}

/* The first of those that come now takes the idle port of a switch, unseen by the arbiter,
 * if it can go at once: then the slot that it leaves through, otherwise NULL. */
static ALWAYS_INLINE int64_t *
newcomer_slot (IbNetwork *net, uint32_t index, const IbPort *port, const Survey *survey)
{
  uint32_t vl = survey->newcomer_vl, input = survey->newcomer;
  IbInput *in = ib_input (net, port->first + input);
  int64_t *slot;

  if (!finds_room (net, ib_lane (net, index, vl),
                   net->packet[ib_queue (net, port, vl, input)->head].blocks) ||
      (slot = find_slot (net, in)) == NULL ||
      first_claimant (net, in, index - port->first, port->first) != PACKET_NONE)
    return NULL;
  return slot;
}

/* The arbiter has picked the packet: what is known of its wait. */
static ALWAYS_INLINE void
end_wait (IbNetwork *net, uint32_t index, IbPort *port, IbLane *lane, uint32_t input,
          IbPacket *packet)
{
  lane->last_in = (uint8_t) input;
  if ((port->marks & IB_BLOCKED) != 0) {
    net->sent[index].wait_ps += (uint64_t) net->engine.now_ps;
    port->marks &= (uint8_t) ~IB_BLOCKED;
  }
  if (port->is_switch) {
    Waited *waited = &ib_input (net, port->first + input)->waited;

    waited->packets += ib_weight (net, packet);
    waited->ps += (uint64_t) (net->engine.now_ps - packet->time_ps);
    if (ib_is_controlled (net))
      mark (net, port, lane, packet);
  }
}

static void look (IbNetwork *net, uint32_t index);

/* The packet whose turn it is. */
typedef struct {
  uint32_t vl, input;
  int64_t *slot; /* of the input buffer in a switch, free */
} Pick;

/* False when none may go: *retry_ps is then when it is worth another look. */
static ALWAYS_INLINE bool
pick (IbNetwork *net, uint32_t index, const IbPort *port, Pick *pick, int64_t *retry_ps)
{
  uint32_t inputs[16], ready, vl;
  Obstacles obstacles;

  for (;;) {
    obstacles = (Obstacles){ NEVER_PS, PACKET_NONE };
    /* The lanes that have something to send, and from which input. */
    ready = 0;
    for (vl = 0; vl < ib_vls (net); vl++) {
      IbLane *lane = ib_lane (net, index, vl);

      inputs[vl] = is_waited_for (net, lane)
                       ? candidate (net, port, index - port->first, lane, vl, &obstacles)
                       : PACKET_NONE;
      ready |= (uint32_t) (inputs[vl] != PACKET_NONE) << vl;
    }
    if (G_LIKELY (obstacles.before == PACKET_NONE))
      break;
    look (net, obstacles.before);
  }
  *retry_ps = obstacles.retry_ps;
  if (ready == 0)
    return false;
  vl = (uint32_t) __builtin_ctz (ready);
  if (ib_vls (net) > 1)
    vl = arbitrate (net, index, port, ready, inputs);
  pick->vl = vl;
  pick->input = inputs[vl];
  pick->slot = port->is_switch ? find_slot (net, ib_input (net, port->first + inputs[vl])) : NULL;
  return true;
}

static ALWAYS_INLINE Survey
survey (IbNetwork *net, uint32_t index, const IbPort *port)
{
  Survey survey = { .next_ps = NEVER_PS, .newcomer = PACKET_NONE };

  for (uint32_t vl = 0; vl < ib_vls (net); vl++) {
    collect_credits (ib_lane (net, index, vl), net->engine.now_ps);
    if (ib_vls (net) == 1 || (port->listed >> vl & 1) != 0)
      survey_lane (net, index, port, vl, &survey);
  }
  return survey;
}

/* Nothing can go: the port looks again when the first of the credits on their way
 * comes, an input is free to be read or another packet comes; later credits
 * wake it too. */
static void
starve (IbNetwork *net, uint32_t index, IbPort *port, const Survey *survey, int64_t retry_ps)
{
  if ((port->marks & IB_BLOCKED) == 0)
    net->sent[index].wait_ps -= (uint64_t) net->engine.now_ps;
  port->marks |= IB_STARVED | IB_BLOCKED;
  for (uint32_t vl = 0; vl < ib_vls (net); vl++) {
    ib_lane (net, index, vl)->is_starved = true;
    for (uint32_t i = 0; i < IB_RETURNS; i++) {
      uint64_t entry = ib_lane (net, index, vl)->returns[i];

      if (entry != IB_NO_RETURN)
        retry_ps = MIN (retry_ps, (int64_t) (entry >> 8));
    }
  }
  if (retry_ps != NEVER_PS)
    look_at (net, index, port, retry_ps);
  if (survey->next_ps != NEVER_PS)
    meet_at (net, index, port, survey->next, survey->next_ps);
}

/* A packet has gone: when the port is worth a look again. */
static ALWAYS_INLINE void
go_on (IbNetwork *net, uint32_t index, IbPort *port, const Survey *survey)
{
  bool waits = false;

  for (uint32_t vl = 0; vl < ib_vls (net); vl++)
    waits |= is_waited_for (net, ib_lane (net, index, vl));
  if (waits || survey->next_ps < port->free_ps)
    look_at (net, index, port, port->free_ps);
  else if (survey->next_ps != NEVER_PS)
    meet_at (net, index, port, survey->next, survey->next_ps);
}

/* An idle port with something in its queues, which a packet comes to or which looks: sends
 * at most one packet. */
static void
attend (IbNetwork *net, uint32_t index, IbPort *port, bool comes)
{
  Survey now = survey (net, index, port);
  Pick next = { now.newcomer_vl, now.newcomer, NULL };
  int64_t retry_ps;

  if (now.old || now.newcomer == PACKET_NONE ||
      (next.slot = newcomer_slot (net, index, port, &now)) == NULL) {
    if (comes) {
      look_at (net, index, port, net->engine.now_ps);
      return;
    }
    port->wake_ps = NEVER_PS;
    if (!now.old && now.newcomer == PACKET_NONE) {
      meet_at (net, index, port, now.next, now.next_ps);
      return;
    }
    if (!pick (net, index, port, &next, &retry_ps)) {
      starve (net, index, port, &now, retry_ps);
      return;
    }
    end_wait (net, index, port, ib_lane (net, index, next.vl), next.input,
              &net->packet[ib_queue (net, port, next.vl, next.input)->head]);
  }
  port->wake_ps = NEVER_PS;
  leave (net, index, port, next.vl, next.input, next.slot, &now);
  go_on (net, index, port, &now);
}

/* The same when a packet is alone and nothing keeps it; false: all of the above has to be looked at. */
static ALWAYS_INLINE bool
attend_alone (IbNetwork *net, uint32_t index, IbPort *port, bool comes)
{
  uint32_t packet_index = port->alone, blocks;
  IbPacket *packet;
  IbInput *in;
  IbLane *lane = ib_lane (net, index, 0);
  int64_t *slot;

  if (packet_index == PACKET_NONE)
    return false;
  packet = &net->packet[packet_index];
  in = ib_input (net, packet->port);
  blocks = packet->blocks;
  if (packet->time_ps > net->engine.now_ps || (comes && packet->time_ps < net->engine.now_ps) ||
      in->n_claims > 0 || !finds_room (net, lane, blocks) || (slot = find_slot (net, in)) == NULL)
    return false;
  port->wake_ps = NEVER_PS;
  port->listed = 0;
  port->alone = PACKET_NONE;
  if (packet->time_ps < net->engine.now_ps)
    end_wait (net, index, port, lane, packet->port - port->first, packet);
  transmit (net, index, port, lane, packet_index);
  *slot = port->free_ps;
  return_credits (net, in->sender, 0, blocks, port->free_ps);
  return true;
}

static ALWAYS_INLINE void
attend_any (IbNetwork *net, uint32_t index, IbPort *port, bool comes)
{
  if (ib_leaves_alone (net)) {
    if (attend_alone (net, index, port, comes))
      return;
    ib_queue_alone (net, index);
  }
  attend (net, index, port, comes);
}

/* A port looks for something to send. */
static void
look (IbNetwork *net, uint32_t index)
{
  IbPort *port = &net->port[index];

  if (port->wake_ps != net->engine.now_ps)
    return; /* an earlier wake took its place */
  if (port->listed != 0 && port->free_ps <= net->engine.now_ps) {
    attend_any (net, index, port, false);
    return;
  }
  port->wake_ps = NEVER_PS;
  if (port->listed != 0)
    look_at (net, index, port, port->free_ps);
}

/* A packet comes to a port that is idle, unless that has sent another since. */
static void
meet (IbNetwork *net, uint32_t index)
{
  IbPort *port = &net->port[index];

  if (port->wake_ps != net->engine.now_ps)
    return; /* an earlier wake took its place */
  if (port->listed == 0 || port->free_ps > net->engine.now_ps)
    look (net, index);
  else
    attend_any (net, index, port, true);
}

/* --- The run ---
 *
 * In each window first the switches, one after the other, so that the state of one is fetched once
 * for all that happens there; each in the order of time, because an input buffer can feed only some
 * of its outputs at a time.  Then the adapters and their ranks, all of them in the order of time. */

/* Either kind with what comes to it, up to the next CALENDAR_END. */
static void
run_switch (IbNetwork *net)
{
  uint64_t event;

  while ((event = calendar_take (&net->switches)) != CALENDAR_END) {
    uint32_t argument = calendar_argument (event);
    IbClass class = (IbClass) calendar_class (event);

    net->engine.now_ps = calendar_time_ps (&net->switches, event);
    if (G_LIKELY (class == IB_NEWCOMER))
      meet (net, argument);
    else if (class == IB_LOOK)
      look (net, argument);
    else if (class == IB_CREDIT)
      credits_come (net, argument);
    else if (class == IB_ARRIVE)
      arrive (net, argument);
    else
      enter_switch (net, argument, net->packet[argument].next);
  }
}

static void
run_adapters (IbNetwork *net)
{
  uint64_t event;

  while ((event = calendar_take (&net->engine.calendar)) != CALENDAR_END) {
    uint32_t argument = calendar_argument (event);

    net->engine.now_ps = calendar_time_ps (&net->engine.calendar, event);
    switch ((IbClass) calendar_class (event)) {
    case IB_CREDIT: credits_come (net, argument); break;
    case IB_RECEIVE: receive (net, argument); break;
    case IB_TAKE_UP: take_up (net, argument); break;
    case IB_POST: post (net, argument); break;
    case IB_ACTIVATE: activate (net, argument); break;
    case IB_READ: read_done (net, argument); break;
    case IB_LOOK: look (net, argument); break;
    case IB_SENT: acknowledged (net, argument); break;
    case IB_DELIVER: deliver (net, argument); break;
    case IB_TIMER: packet_engine_timer_due (&net->engine, argument); break;
    case IB_NEWCOMER:
    case IB_ARRIVE:
    case IB_READY: g_assert_not_reached ();
    }
  }
}

/* The number of the switch that an event comes to. */
static inline uint32_t
switch_of (const IbNetwork *net, uint64_t event)
{
  uint32_t class = calendar_class (event);
  uint32_t port = calendar_argument (event) & (IB_MAX_PORTS - 1);

  if (ib_arrivals (net) && (class == IB_ARRIVE || class == IB_READY))
    port = net->packet[calendar_argument (event)].port;
  return net->unit[port];
}

/* Behind its equals among those before `place`, which are in order; a 0 stands before them. */
static inline void
insert (uint64_t *place, uint64_t event)
{
  for (; place[-1] >> CALENDAR_INDEX_SHIFT > event >> CALENDAR_INDEX_SHIFT; place--)
    *place = place[-1];
  *place = event;
}

static void
run_switches (IbNetwork *net, int64_t window)
{
  Calendar *calendar = &net->switches;
  uint32_t n, n_switches = net->n_switches, first = 1;
  uint64_t *events = calendar_enter_unsorted (calendar, window, 2 * n_switches, &n), *due;

  /* To go through all switches for few events would cost more than it brings. */
  if (4 * n < n_switches) {
    calendar_sort (calendar, events, n);
    run_switch (net);
    return;
  }
  due = calendar->due;
  for (uint32_t i = 0; i < n; i++)
    net->n_events[switch_of (net, events[i])]++;
  /* Of each switch that has some: 0, the events, CALENDAR_END. */
  for (uint32_t unit = 0; unit < n_switches; unit++) {
    uint32_t here = net->n_events[unit];

    net->n_events[unit] = first;
    due[first - 1] = 0;
    due[first + here] = CALENDAR_END;
    first += here > 0 ? here + 2 : 0;
  }
  for (uint32_t i = 0; i < n; i++)
    insert (&due[net->n_events[switch_of (net, events[i])]++], events[i]);
  first = 1;
  for (uint32_t unit = 0; unit < n_switches; unit++) {
    uint32_t end = net->n_events[unit];

    net->n_events[unit] = 0;
    if (end == first)
      continue;
    calendar->next_due = first;
    run_switch (net);
    first = end + 2;
  }
}

/* The next window in which something happens, -1 when there is none. */
static int64_t
next_window (const IbNetwork *net)
{
  int64_t window = calendar_peek (&net->switches), other = calendar_peek (&net->engine.calendar);

  return window < 0 || (other >= 0 && other < window) ? other : window;
}

/* Where it begins. */
static int64_t
next_window_ps (const IbNetwork *net)
{
  int64_t window = next_window (net);

  return window < 0 ? net->engine.now_ps : window << net->engine.calendar.window_bits;
}

/* Goes to the next window in which something happens; false when there is none. */
static bool
run_window (IbNetwork *net)
{
  Calendar *adapters = &net->engine.calendar;
  int64_t window = next_window (net);

  if (window < 0)
    return false;
  run_switches (net, window);
  /* Packets may have reached them since. */
  calendar_enter (adapters, window);
  run_adapters (net);
  return true;
}

bool
ib_run_windows (IbNetwork *net)
{
  net->engine.progress = packet_engine_progress (&net->engine);
  while (!packet_engine_call_is_due (&net->engine,
                                     net->switches.n_events + net->engine.calendar.n_events) ||
         packet_engine_call (&net->engine, next_window_ps (net))) {
    if (!run_window (net) ||
        !packet_engine_moves (&net->engine, packet_engine_progress (&net->engine),
                              net->packets.n_taken > 0))
      return true;
  }
  return false;
}
