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

static inline uint32_t
port_of (const IbNetwork *net, uint32_t unit, uint32_t number)
{
  return net->unit_port[net->unit_first[unit] + number];
}

static inline void
collect_credits (IbNetwork *net, uint32_t index, IbPort *port, int64_t until_ps)
{
  for (uint32_t i = 0; i < port->n_returns;) {
    uint64_t entry = port->returns[i];

    if ((int64_t) (entry >> 12) > until_ps) {
      i++;
      continue;
    }
    ib_lane (net, index, (entry >> 8) & 15)->credits += (uint32_t) (entry & 255);
    port->returns[i] = port->returns[--port->n_returns];
  }
}

/* A packet's last byte leaves the input buffer of `in_port` at left_ps. */
static inline void
return_credits (IbNetwork *net, uint32_t in_port, uint32_t vl, uint32_t blocks, int64_t left_ps)
{
  uint32_t index = net->port[in_port].peer;
  IbPort *port = &net->port[index];
  int64_t at_ps = left_ps + net->credit_latency_ps;

  /* Returns that count since before this window may be settled from here; the
   * sender cannot be earlier. */
  if (!port->starved && port->n_returns == IB_RETURNS)
    collect_credits (net, index, port, sim_schedule_window_start_ps (net->engine.schedule));
  if (port->starved || port->n_returns == IB_RETURNS || at_ps >= IB_RETURNS_MAX)
    ib_push (net, net->port[in_port].peer_unit, IB_CREDIT, port->number, vl << 8 | blocks, at_ps);
  else
    port->returns[port->n_returns++] = (uint64_t) at_ps << 12 | vl << 8 | blocks;
}

/* Looks at credits on their way back only when it must. */
static inline bool
finds_room (IbNetwork *net, uint32_t index, IbPort *port, const IbPacket *packet)
{
  const IbLane *lane = ib_lane (net, index, packet->vl);

  if (lane->credits >= packet->blocks)
    return true;
  collect_credits (net, index, port, net->engine.now_ps);
  return lane->credits >= packet->blocks;
}

static inline void
wake_at (IbNetwork *net, uint32_t unit, uint32_t index, IbPort *port, int64_t at_ps)
{
  if (at_ps >= port->wake_ps)
    return;
  port->wake_ps = at_ps;
  ib_push (net, unit, IB_PORT, port->number, index, at_ps);
}

/* A free slot of the input buffer, or NULL; *free_ps is then brought down to
 * when the next one is. */
static inline int64_t *
find_slot (const IbNetwork *net, uint32_t in_port, int64_t *free_ps)
{
  int64_t *slots = &net->read_ps[(size_t) in_port * net->n_reads];

  for (uint32_t slot = 0; slot < net->n_reads; slot++) {
    if (slots[slot] <= net->engine.now_ps)
      return &slots[slot];
    *free_ps = MIN (*free_ps, slots[slot]);
  }
  return NULL;
}

/* The first number from `first` on, around, whose bit is set; PACKET_NONE: all
 * are clear. */
static inline uint32_t
next_set (const IbNetwork *net, const uint64_t *bits, uint32_t first)
{
  uint32_t word = first / 64;
  uint64_t found = bits[word] & ~UINT64_C (0) << (first % 64);

  for (uint32_t step = 0; found == 0; step++) {
    if (step == net->n_words)
      return PACKET_NONE;
    word = word + 1 < net->n_words ? word + 1 : 0;
    found = bits[word];
  }
  return word * 64 + (uint32_t) __builtin_ctzll (found);
}

/* The port that has to look for something to send before output `number` may
 * read from the input: of those with a claim that are about to look, and this
 * one, the one whose turn it is.  PACKET_NONE: no port has to. */
static inline uint32_t
first_claimant (const IbNetwork *net, uint32_t unit, uint32_t in_port, uint32_t number)
{
  const IbClaims *claims = &net->claims[in_port];
  uint32_t first, own;

  if (G_LIKELY (net->port[in_port].n_claims == 0))
    return PACKET_NONE;
  first = claims->last_out + 1u;
  own = (number - first) % IB_MAX_NUMBERS;
  for (uint32_t ahead = 0;; ahead++) {
    uint32_t other = next_set (net, claims->outputs, (first + ahead) % IB_MAX_NUMBERS), port;

    if (other == PACKET_NONE || (other - first) % IB_MAX_NUMBERS < ahead)
      return PACKET_NONE; /* around */
    ahead = (other - first) % IB_MAX_NUMBERS;
    if (ahead >= own)
      return PACKET_NONE;
    port = port_of (net, unit, other);
    if (net->port[port].wake_ps == net->engine.now_ps)
      return port;
  }
}

static inline void
claim (IbNetwork *net, uint32_t in_port, uint32_t number)
{
  IbClaims *claims = &net->claims[in_port];
  uint64_t bit = UINT64_C (1) << (number % 64);

  if ((claims->outputs[number / 64] & bit) == 0)
    net->port[in_port].n_claims++;
  claims->outputs[number / 64] |= bit;
}

/* Output `number` reads from the input. */
static inline void
use_claim (IbNetwork *net, uint32_t in_port, uint32_t number)
{
  IbClaims *claims = &net->claims[in_port];
  uint64_t bit = UINT64_C (1) << (number % 64);

  if (G_LIKELY (net->port[in_port].n_claims == 0))
    return;
  if ((claims->outputs[number / 64] & bit) != 0)
    net->port[in_port].n_claims--;
  claims->outputs[number / 64] &= ~bit;
  claims->last_out = (uint8_t) number;
}

/* An idle port that nobody waits for may be taken at once; otherwise the
 * newcomer joins those who wait, and the arbiter decides. */
static inline bool
is_open (const IbNetwork *net, const IbPort *port)
{
  return port->free_ps <= net->engine.now_ps && port->listed == 0;
}

static inline void
transmit (IbNetwork *net, uint32_t index, IbPort *port, uint32_t packet_index)
{
  IbPacket *packet = &net->packet[packet_index];
  int64_t now_ps = net->engine.now_ps, at_ps = now_ps + port->latency_ps;
  int64_t sending_ps = ib_wire_ps (net, port, packet);

  port->free_ps = now_ps + sending_ps;
  port->starved = false;
  port->payload_bytes += packet->user_bytes;
  port->wire_bytes += packet->frame_bytes;
  port->packets++;
  ib_lane (net, index, packet->vl)->credits -= packet->blocks;
  net->engine.n_hops++;

  packet->port = port->peer;
  packet->time_ps = at_ps + sending_ps;
  ib_push (net, port->peer_unit, IB_ARRIVE, port->peer_number, packet_index,
           port->to_adapter ? packet->time_ps : at_ps);
}

/* Puts a packet that cannot go now into the queue of an input. */
static inline void
wait_for (IbNetwork *net, uint32_t unit, uint32_t index, IbPort *port, uint32_t packet_index,
          uint32_t input)
{
  IbPacket *packet = &net->packet[packet_index];
  IbLane *lane = ib_lane (net, index, packet->vl);

  packet->time_ps = net->engine.now_ps;
  list_append (&net->engine, ib_queue (net, port, packet->vl, input), packet_index);
  lane->waiting[input / 64] |= UINT64_C (1) << (input % 64);
  lane->queued_blocks += packet->blocks;
  port->listed |= (uint16_t) (1u << packet->vl);
  wake_at (net, unit, index, port, MAX (net->engine.now_ps, port->free_ps));
}

void
ib_credit (IbNetwork *net, uint32_t unit, uint32_t number, uint32_t argument)
{
  uint32_t index = port_of (net, unit, number);
  IbPort *port = &net->port[index];

  ib_lane (net, index, argument >> 8)->credits += argument & 255;
  if (port->listed != 0)
    wake_at (net, unit, index, port, MAX (net->engine.now_ps, port->free_ps));
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
 * cannot go at once waits in the queue of its input, lane and output. */

/* The order of ports at an adaptive switch: those that would take the packet at once
 * before the others, then the one with fewest blocks ahead of it, here and in
 * the buffer beyond. */
static uint64_t
port_load (IbNetwork *net, uint32_t index, const IbPacket *packet)
{
  IbPort *port = &net->port[index];
  const IbLane *lane = ib_lane (net, index, packet->vl);
  bool goes;

  collect_credits (net, index, port, net->engine.now_ps);
  goes = is_open (net, port) && lane->credits >= packet->blocks;
  return (goes ? 0 : UINT64_C (1) << 40) + lane->queued_blocks + (UINT32_MAX - lane->credits);
}

/* Of the ports that begin a shortest way the least loaded; the table's own
 * when others are not better. */
static uint32_t
adaptive_port (IbNetwork *net, uint32_t unit, const IbPacket *packet, uint32_t number)
{
  const RouteForwarding *tables = net->tables;
  uint32_t home = net->home[packet->destination];
  uint32_t best = port_of (net, unit, number);
  const uint64_t *group;
  uint64_t best_load;

  if (home == unit || home == PACKET_NONE)
    return best;
  group = &tables->group[((size_t) unit * tables->n_switches + home) * tables->group_words];
  best_load = port_load (net, best, packet);
  for (uint32_t word = 0; word < tables->group_words; word++)
    for (uint64_t bits = group[word]; bits; bits &= bits - 1) {
      uint32_t other = port_of (net, unit, word * 64 + (uint32_t) __builtin_ctzll (bits));
      uint64_t load = port_load (net, other, packet);

      if (load < best_load) {
        best = other;
        best_load = load;
      }
    }
  return best;
}

void
ib_switch_enter (IbNetwork *net, uint32_t unit, uint32_t index)
{
  IbPacket *packet = &net->packet[index];
  uint32_t out = packet->out, in = packet->port;
  IbPort *port = &net->port[out];
  uint32_t vl = packet->vl, blocks = packet->blocks;
  int64_t free_ps = NEVER_PS;
  int64_t *slot;

  if (is_open (net, port) && finds_room (net, out, port, packet) &&
      (slot = find_slot (net, in, &free_ps)) != NULL &&
      first_claimant (net, unit, in, port->number) == PACKET_NONE) {
    use_claim (net, in, port->number);
    transmit (net, out, port, index);
    *slot = port->free_ps;
    return_credits (net, in, vl, blocks, port->free_ps);
  } else {
    wait_for (net, unit, out, port, index, net->port[in].number);
  }
}

void
ib_switch_arrive (IbNetwork *net, uint32_t unit, uint32_t index)
{
  IbPacket *packet = &net->packet[index];
  uint32_t number = route_forwarding_out (net->tables, unit, packet->destination);
  const IbPort *in = &net->port[packet->port], *out;

  g_assert (number != ROUTE_NO_PORT);
  packet->out =
      net->adaptive ? adaptive_port (net, unit, packet, number) : port_of (net, unit, number);
  out = &net->port[packet->out];
  if (G_UNLIKELY (out->ps_q32 < in->ps_q32)) {
    int64_t start_ps = packet->time_ps - ib_wire_ps (net, out, packet);

    if (start_ps > net->engine.now_ps) {
      ib_push (net, unit, IB_READY, in->number, index, start_ps);
      return;
    }
  }
  ib_switch_enter (net, unit, index);
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
first_slot (const IbNetwork *net, uint32_t source_rank, uint32_t destination_rank, bool rdma)
{
  uint64_t key = (uint64_t) source_rank << 32 | destination_rank;

  key ^= (uint64_t) rdma << 63;
  key = (key ^ key >> 29) * UINT64_C (0x9e3779b97f4a7c15);
  return (uint32_t) (key >> 32) & (net->n_pair_slots - 1);
}

/* Where the pair is, or the free slot where it belongs. */
static uint32_t
find (const IbNetwork *net, uint32_t source_rank, uint32_t destination_rank, bool rdma)
{
  uint32_t slot = first_slot (net, source_rank, destination_rank, rdma);

  for (; net->pair_slot[slot] != 0; slot = (slot + 1) & (net->n_pair_slots - 1)) {
    const IbPair *pair = &net->pair[net->pair_slot[slot] - 1];

    if (pair->source_rank == source_rank && pair->destination_rank == destination_rank &&
        pair->rdma == rdma)
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
  int64_t now_ps = sim_schedule_window_start_ps (net->engine.schedule);

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

  if (net->parameters->congestion.is_on)
    forget_idle (net);
  /* As large as before only when it is half as full: this must not come often. */
  net->n_pair_slots = MAX (FIRST_SLOTS, 4 * net->n_paired < n_old ? n_old : 2 * n_old);
  net->pair_slot = g_new0 (uint32_t, net->n_pair_slots);
  for (uint32_t slot = 0; slot < n_old; slot++)
    if (old[slot] != 0) {
      const IbPair *pair = &net->pair[old[slot] - 1];

      net->pair_slot[find (net, pair->source_rank, pair->destination_rank, pair->rdma)] = old[slot];
    }
}

/* The pair of two ranks, made when there is none; indices of pairs without work
 * are invalid after this. */
static uint32_t
pair_get (IbNetwork *net, uint32_t source_rank, uint32_t destination_rank, bool rdma)
{
  uint32_t slot, index;

  if (2 * net->n_paired >= net->n_pair_slots)
    make_room (net);
  slot = find (net, source_rank, destination_rank, rdma);
  if (net->pair_slot[slot] != 0)
    return net->pair_slot[slot] - 1;
  index = pool_take (&net->pairs, (void **) &net->pair, sizeof (IbPair), offsetof (IbPair, next));
  net->pair[index] = (IbPair){
    .source_rank = source_rank,
    .destination_rank = destination_rank,
    .rdma = rdma,
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
  uint32_t gap = find (net, dropped->source_rank, dropped->destination_rank, dropped->rdma);

  /* The pairs behind the free slot move up, except those that would then stand
   * before their own first slot. */
  for (uint32_t slot = (gap + 1) & mask; net->pair_slot[slot] != 0; slot = (slot + 1) & mask) {
    const IbPair *pair = &net->pair[net->pair_slot[slot] - 1];
    uint32_t first = first_slot (net, pair->source_rank, pair->destination_rank, pair->rdma);

    if (((slot - first) & mask) < ((slot - gap) & mask))
      continue;
    net->pair_slot[gap] = net->pair_slot[slot];
    gap = slot;
  }
  net->pair_slot[gap] = 0;
  pool_give (&net->pairs, net->pair, sizeof (IbPair), offsetof (IbPair, next), index);
  net->n_paired--;
}

/* --- Adapters: from a request to packets on the link ---
 *
 * Requests of one rank to another stand in a queue pair, and the adapter takes
 * one packet from each pair with work in turn (guess: how adapters schedule
 * pairs is not published).  Payload that is not in the request itself is read
 * through PCIe, one packet after the other, each wholly before it is sent, a
 * few ahead of the link (infiniband.md section A5).  Protocol packets wait in
 * a queue of their own and take turns with data. */

static void
activate_at (IbNetwork *net, uint32_t unit, uint32_t index, int64_t at_ps)
{
  const IbPair *pair = &net->pair[index];

  ib_push (net, unit, IB_ACTIVATE, net->port[pair->port].number, index,
           MAX (at_ps, net->engine.now_ps));
}

/* The pair behind `before` has given a packet: it stays in the ring, waits
 * for its time, or has nothing left to do. */
static void
end_turn (IbNetwork *net, uint32_t unit, IbLane *lane, uint32_t before, uint32_t index)
{
  IbPair *pair = &net->pair[index];
  int64_t next_ps;

  lane->ring = index;
  lane->next_pair = pair->next;
  if (pair->head != PACKET_NONE) {
    next_ps = MAX (net->request[pair->head].ready_ps, pair->not_before_ps);
    if (next_ps <= net->engine.now_ps)
      return;
    activate_at (net, unit, index, next_ps);
  }
  net->pair[before].next = pair->next;
  lane->ring = before == index ? PACKET_NONE : before;
  if (pair->head == PACKET_NONE && !net->parameters->congestion.is_on)
    pair_drop (net, index);
}

static void
fill_packet (IbNetwork *net, IbPacket *packet, IbRequest *request, uint32_t port)
{
  const TopoParameters *p = net->parameters;
  uint32_t payload_bytes = (uint32_t) MIN (request->payload_left, net->mtu_bytes);
  uint32_t software_bytes = (uint32_t) MIN (request->software_left, payload_bytes);
  uint32_t frame_bytes = (uint32_t) p->ib.header_bytes + payload_bytes +
                         (request->begins_write ? (uint32_t) p->ib.rdma_header_bytes : 0);

  *packet = (IbPacket){
    .message = request->message,
    .port = port,
    .destination = request->destination,
    .user_bytes = (uint16_t) (payload_bytes - software_bytes),
    .frame_bytes = (uint16_t) frame_bytes,
    .payload_bytes = (uint16_t) payload_bytes,
    .blocks = (uint8_t) ib_blocks (net, frame_bytes),
    .vl = request->vl,
    .kind = IB_PACKET_DATA,
  };
  request->payload_left -= payload_bytes;
  request->software_left -= software_bytes;
  request->begins_write = false;
}

/* The next packet of the pair whose turn it is. */
static uint32_t
next_packet (IbNetwork *net, uint32_t unit, IbLane *lane, bool *is_inline)
{
  uint32_t before = lane->ring, pair_index = lane->next_pair;
  IbPair *pair = &net->pair[pair_index];
  IbRequest *request = &net->request[pair->head];
  uint32_t index =
      packet_engine_take_packet (&net->engine, (void **) &net->packet, sizeof (IbPacket));
  IbPacket *packet = &net->packet[index];

  fill_packet (net, packet, request, pair->port);
  net->engine.n_packets++;
  net->engine.payload_sent += packet->user_bytes;
  *is_inline = request->is_inline;
  if (net->parameters->congestion.is_on) {
    int64_t packet_ps = ib_wire_ps (net, &net->port[pair->port], packet);

    pair->not_before_ps = net->engine.now_ps + (int64_t) congestion_index (net, pair) * packet_ps;
  }
  if (request->payload_left == 0)
    pair->head = request->next;
  end_turn (net, unit, lane, before, pair_index);
  return index;
}

/* Of the lanes of the adapter's ports the next one in turn with work and room;
 * PACKET_NONE: none. */
static uint32_t
next_lane (const IbNetwork *net, uint32_t n_lanes, const IbLane *lanes, uint32_t last)
{
  uint32_t at = last;

  for (uint32_t step = 0; step < n_lanes; step++) {
    at = at + 1 < n_lanes ? at + 1 : 0;
    if (lanes[at].ring != PACKET_NONE && lanes[at].staged < net->read_ahead)
      return at;
  }
  return PACKET_NONE;
}

/* A packet that needs nothing from memory is in the adapter. */
static void
adapter_enter (IbNetwork *net, uint32_t unit, uint32_t index, uint32_t queue)
{
  const IbPacket *packet = &net->packet[index];
  uint32_t port_index = packet->port;
  IbPort *port = &net->port[port_index];

  if (is_open (net, port) && finds_room (net, port_index, port, packet)) {
    if (queue == IB_QUEUE_DATA)
      ib_lane (net, port_index, packet->vl)->staged--;
    transmit (net, port_index, port, index);
  } else {
    wait_for (net, unit, port_index, port, index, queue);
  }
}

/* Begins to read what the adapter of this port has room for. */
static void
read_more (IbNetwork *net, uint32_t unit, uint32_t port)
{
  uint32_t device_index = net->fabric->ports[port].device;
  const TopoDevice *device = &net->fabric->devices[device_index];
  IbAdapter *adapter = &net->adapter[device_index];
  IbLane *lanes = ib_lane (net, device->first_port, 0);
  int64_t now_ps = net->engine.now_ps;

  while (!adapter->reading) {
    uint32_t at = next_lane (net, device->n_ports * net->n_vls, lanes, adapter->turn);
    uint32_t index;
    bool is_inline;

    if (at == PACKET_NONE)
      return;
    adapter->turn = at;
    index = next_packet (net, unit, &lanes[at], &is_inline);
    lanes[at].staged++;
    if (is_inline) {
      adapter_enter (net, unit, index, IB_QUEUE_DATA);
    } else {
      /* PCIe begins to read the payload of the packet. */
      const IbPacket *packet = &net->packet[index];
      int64_t memory_ps = sim_memory_dma (net->engine.base.memory, unit - net->n_switches, false,
                                          packet->payload_bytes, now_ps);
      int64_t pcie_ps = now_ps + ib_bytes_ps (packet->payload_bytes, net->pcie_ps_q32);

      adapter->reading = true;
      ib_push (net, unit, IB_READ, net->port[packet->port].number, index, MAX (memory_ps, pcie_ps));
    }
  }
}

void
ib_post (IbNetwork *net, uint32_t unit, uint32_t index)
{
  const TopoParameters *p = net->parameters;
  IbRequest *request = &net->request[index];
  const SimMessage *public = &net->engine.message[request->message].public;
  uint32_t port = net->tables->destination_port[request->back];
  IbAdapter *adapter = &net->adapter[net->fabric->ports[port].device];
  int64_t start_ps = MAX (net->engine.now_ps, adapter->post_ps);
  uint32_t pair_index = pair_get (net, public->source_rank, public->destination_rank,
                                  public->kind == SIM_MESSAGE_WRITE);
  IbPair *pair = &net->pair[pair_index];

  adapter->post_ps = start_ps + p->hca.message_gap_ps;
  request->ready_ps =
      start_ps + p->hca.send_latency_ps + (request->is_inline ? 0 : p->hca.read_latency_ps);
  request->pair = pair_index;
  pair->n_open++;
  pair->port = port;
  pair->vl = request->vl;
  if (pair->head == PACKET_NONE) {
    pair->head = index;
    activate_at (net, unit, pair_index, MAX (request->ready_ps, pair->not_before_ps));
  } else {
    net->request[pair->tail].next = index;
  }
  pair->tail = index;
}

/* Behind the others of its lane: it has its turn when they have had theirs. */
void
ib_activate (IbNetwork *net, uint32_t unit, uint32_t index)
{
  IbPair *pair = &net->pair[index];
  IbLane *lane = ib_lane (net, pair->port, pair->vl);

  if (lane->ring == PACKET_NONE) {
    pair->next = index;
  } else {
    pair->next = net->pair[lane->ring].next;
    net->pair[lane->ring].next = index;
  }
  lane->ring = index;
  lane->next_pair = pair->next;
  read_more (net, unit, pair->port);
}

void
ib_read_done (IbNetwork *net, uint32_t unit, uint32_t index)
{
  uint32_t port = net->packet[index].port;

  net->adapter[net->fabric->ports[port].device].reading = false;
  adapter_enter (net, unit, index, IB_QUEUE_DATA);
  read_more (net, unit, port);
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
answer (IbNetwork *net, uint32_t unit, uint32_t message, uint32_t kind, uint32_t flags)
{
  const TopoParameters *p = net->parameters;
  const IbRequest *request = &net->request[net->engine.message[message].next];
  uint32_t index =
      packet_engine_take_packet (&net->engine, (void **) &net->packet, sizeof (IbPacket));

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
  adapter_enter (net, unit, index, IB_QUEUE_PROTOCOL);
}

/* One of the things that a request still waits for has happened. */
static void
end_request (IbNetwork *net, uint32_t message)
{
  uint32_t index = net->engine.message[message].next;

  if (--net->request[index].ends > 0)
    return;
  if (net->parameters->congestion.is_on)
    net->pair[net->request[index].pair].n_open--;
  pool_give (&net->requests, net->request, sizeof (IbRequest), offsetof (IbRequest, next), index);
  packet_engine_give_message (&net->engine, message);
}

/* When the payload of a packet that has just arrived is in memory. */
static int64_t
write_ps (IbNetwork *net, uint32_t unit, const IbPacket *packet)
{
  int64_t now_ps = net->engine.now_ps, memory_ps;
  IbAdapter *adapter = &net->adapter[net->fabric->ports[packet->port].device];

  if (packet->payload_bytes == 0)
    return now_ps;
  if (adapter->write_ps > now_ps) {
    net->waited[packet->port].packets++;
    net->waited[packet->port].ps += (uint64_t) (adapter->write_ps - now_ps);
  }
  memory_ps = sim_memory_dma (net->engine.base.memory, unit - net->n_switches, true,
                              packet->payload_bytes, now_ps);
  adapter->write_ps =
      MAX (now_ps, adapter->write_ps) + ib_bytes_ps (packet->payload_bytes, net->pcie_ps_q32);
  return MAX (adapter->write_ps, memory_ps);
}

static void
receive_data (IbNetwork *net, uint32_t unit, const IbPacket *packet)
{
  const TopoParameters *p = net->parameters;
  IbAdapter *adapter = &net->adapter[net->fabric->ports[packet->port].device];
  int64_t written_ps = write_ps (net, unit, packet), complete_ps;
  bool marked = (packet->flags & IB_FLAG_FECN) != 0;

  return_credits (net, packet->port, packet->vl, packet->blocks, written_ps);
  if (!packet_engine_received (&net->engine, packet->message, packet->user_bytes, written_ps)) {
    if (marked) {
      net->request[net->engine.message[packet->message].next].ends++;
      answer (net, unit, packet->message, IB_PACKET_CN, IB_FLAG_BECN);
    }
    return;
  }
  complete_ps = MAX (net->engine.message[packet->message].last_ps, adapter->complete_ps);
  adapter->complete_ps = complete_ps + p->hca.message_gap_ps;
  ib_push (net, unit, IB_DELIVER, net->port[packet->port].number, packet->message,
           complete_ps + p->hca.receive_latency_ps);
  answer (net, unit, packet->message, IB_PACKET_ACK, marked ? IB_FLAG_BECN : 0);
}

static void
receive_protocol (IbNetwork *net, uint32_t unit, const IbPacket *packet)
{
  const IbRequest *request = &net->request[net->engine.message[packet->message].next];
  uint32_t message = packet->message;

  return_credits (net, packet->port, packet->vl, packet->blocks, net->engine.now_ps);
  if ((packet->flags & IB_FLAG_BECN) != 0)
    slow_down (net, &net->pair[request->pair]);
  if (packet->kind == IB_PACKET_ACK && net->engine.message[message].public.acknowledge)
    ib_push (net, unit, IB_SENT, net->port[packet->port].number, message,
             net->engine.now_ps + net->parameters->hca.receive_latency_ps);
  else
    end_request (net, message);
}

void
ib_receive (IbNetwork *net, uint32_t unit, uint32_t index)
{
  /* An answer may move the pool of packets. */
  IbPacket packet = net->packet[index];

  packet_engine_give_packet (&net->engine, index);
  if (packet.kind == IB_PACKET_DATA)
    receive_data (net, unit, &packet);
  else
    receive_protocol (net, unit, &packet);
}

void
ib_deliver (IbNetwork *net, uint32_t index)
{
  SimMessage message = net->engine.message[index].public;

  g_assert (net->engine.message[index].bytes_left == 0);
  end_request (net, index);
  net->engine.base.client->delivered (net->engine.base.client_data, &message, net->engine.now_ps);
}

void
ib_sent (IbNetwork *net, uint32_t index)
{
  SimMessage message = net->engine.message[index].public;

  end_request (net, index);
  net->engine.base.client->sent (net->engine.base.client_data, &message, net->engine.now_ps);
}

/* --- The arbiter of a port ---
 *
 * First the lane, by the two tables of the VL arbiter (infiniband.md section
 * A3); of one lane, the inputs in turn.  An input from which as many packets
 * as it can feed are leaving is passed over; one whose packet lacks credits is
 * not, so that short packets cannot keep a long one out for ever.  Outputs that
 * found an input busy take turns when it is free, whichever looks first. */

/* Obstacles that keep a port from sending. */
typedef struct {
  int64_t retry_ps; /* an input that is busy now may be read then; NEVER_PS: none is */
  uint32_t before;  /* port that has to look first; PACKET_NONE: none has to */
} Obstacles;

/* The input whose turn it is; PACKET_NONE when its packet has no credits, or
 * all inputs are busy. */
static uint32_t
candidate (IbNetwork *net, uint32_t unit, uint32_t index, const IbPort *port, uint32_t vl,
           Obstacles *obstacles)
{
  const IbLane *lane = ib_lane (net, index, vl);
  uint32_t first = (lane->last_in + 1u) % IB_MAX_NUMBERS;
  uint32_t start = PACKET_NONE;

  for (;;) {
    uint32_t input = next_set (net, lane->waiting, first);
    const IbPacket *packet = &net->packet[ib_queue (net, port, vl, input)->head];

    if (input == start)
      return PACKET_NONE;
    if (unit < net->n_switches && find_slot (net, packet->port, &obstacles->retry_ps) == NULL) {
      claim (net, packet->port, port->number);
    } else {
      if (unit < net->n_switches && obstacles->before == PACKET_NONE)
        obstacles->before = first_claimant (net, unit, packet->port, port->number);
      return lane->credits >= packet->blocks ? input : PACKET_NONE;
    }
    if (start == PACKET_NONE)
      start = input;
    first = (input + 1) % IB_MAX_NUMBERS;
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

static uint32_t
take_head (IbNetwork *net, IbPort *port, IbLane *lane, uint32_t vl, uint32_t input)
{
  PacketList *queue = ib_queue (net, port, vl, input);
  uint32_t packet = list_take (&net->engine, queue);

  if (queue->head == PACKET_NONE) {
    uint64_t any = 0;

    lane->waiting[input / 64] &= ~(UINT64_C (1) << (input % 64));
    for (uint32_t word = 0; word < net->n_words; word++)
      any |= lane->waiting[word];
    if (any == 0)
      port->listed &= (uint16_t) ~(1u << vl);
  }
  lane->last_in = (uint8_t) input;
  return packet;
}

static void
leave_switch (IbNetwork *net, uint32_t index, IbPort *port, IbLane *lane, uint32_t packet_index)
{
  IbPacket *packet = &net->packet[packet_index];
  Waited *waited = &net->waited[packet->port];
  uint32_t in = packet->port, vl = packet->vl, blocks = packet->blocks;
  int64_t free_ps = NEVER_PS, *slot = find_slot (net, in, &free_ps);

  waited->packets++;
  waited->ps += (uint64_t) (net->engine.now_ps - packet->time_ps);
  if (net->parameters->congestion.is_on)
    mark (net, port, lane, packet);
  lane->queued_blocks -= blocks;
  transmit (net, index, port, packet_index);
  use_claim (net, in, port->number);
  *slot = port->free_ps;
  return_credits (net, in, vl, blocks, port->free_ps);
}

static void
leave (IbNetwork *net, uint32_t unit, uint32_t index, IbPort *port, uint32_t vl, uint32_t input)
{
  IbLane *lane = ib_lane (net, index, vl);
  uint32_t packet = take_head (net, port, lane, vl, input);

  if (port->blocked_ps != NEVER_PS) {
    port->wait_ps += (uint64_t) (net->engine.now_ps - port->blocked_ps);
    port->blocked_ps = NEVER_PS;
  }
  if (unit < net->n_switches) {
    leave_switch (net, index, port, lane, packet);
    return;
  }
  lane->queued_blocks -= net->packet[packet].blocks;
  transmit (net, index, port, packet);
  if (input == IB_QUEUE_DATA) {
    lane->staged--;
    read_more (net, unit, index);
  }
}

/* One packet, or false when none may go: *retry_ps is then when it is worth
 * another look. */
static bool
serve (IbNetwork *net, uint32_t unit, uint32_t index, IbPort *port, int64_t *retry_ps)
{
  uint32_t inputs[16], ready, vl;
  Obstacles obstacles;

  for (;;) {
    obstacles = (Obstacles){ NEVER_PS, PACKET_NONE };
    /* The lanes that have something to send, and from which input. */
    ready = 0;
    for (uint32_t listed = port->listed; listed; listed &= listed - 1) {
      vl = (uint32_t) __builtin_ctz (listed);
      inputs[vl] = candidate (net, unit, index, port, vl, &obstacles);
      if (inputs[vl] != PACKET_NONE)
        ready |= 1u << vl;
    }
    if (G_LIKELY (obstacles.before == PACKET_NONE))
      break;
    ib_port_wake (net, unit, obstacles.before);
  }
  *retry_ps = obstacles.retry_ps;
  if (ready == 0)
    return false;
  vl = (uint32_t) __builtin_ctz (ready);
  if (net->is_arbitrated)
    vl = arbitrate (net, index, port, ready, inputs);
  leave (net, unit, index, port, vl, inputs[vl]);
  return true;
}

/* Nothing can go: wake when the first of the credits on their way comes, or
 * an input is free to be read, and have later credits announced. */
static void
starve (IbNetwork *net, uint32_t unit, uint32_t index, IbPort *port, int64_t retry_ps)
{
  port->starved = true;
  if (port->blocked_ps == NEVER_PS)
    port->blocked_ps = net->engine.now_ps;
  for (uint32_t i = 0; i < port->n_returns; i++)
    retry_ps = MIN (retry_ps, (int64_t) (port->returns[i] >> 12));
  if (retry_ps != NEVER_PS)
    wake_at (net, unit, index, port, retry_ps);
}

void
ib_port_wake (IbNetwork *net, uint32_t unit, uint32_t index)
{
  IbPort *port = &net->port[index];
  int64_t retry_ps = NEVER_PS;

  if (port->wake_ps != net->engine.now_ps)
    return; /* an earlier wake took its place */
  port->wake_ps = NEVER_PS;
  if (port->listed == 0)
    return;
  if (port->free_ps > net->engine.now_ps) {
    wake_at (net, unit, index, port, port->free_ps);
    return;
  }
  collect_credits (net, index, port, net->engine.now_ps);
  if (!serve (net, unit, index, port, &retry_ps))
    starve (net, unit, index, port, retry_ps);
  else if (port->listed != 0)
    wake_at (net, unit, index, port, port->free_ps);
}
