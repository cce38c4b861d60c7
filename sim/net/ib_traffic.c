/* ib_traffic.c - the packets of a fabric in its switches, and the windows in which all of them move.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sections: congestion control; switches; the arbiter of a port; the run. */
#include "sim/net/ib_port.h"

/* --- Congestion control: what a switch does (ib_adapter.c has what a source does) ---
 *
 * As InfiniBand's annex defines it (infiniband.md section A7), with OpenSM's
 * parameters.  A switch marks packets of a lane that is the root of a
 * congestion: more waits for it than the threshold allows, and it has credits,
 * so the link itself is the bottleneck.  A lane to an adapter counts as
 * a root without credits too, because adapters mark nothing (OpenSM's victim
 * mask).  Guess: the threshold in blocks, linear between a full input buffer
 * and nothing. */

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

/* When the first of the slots, all of which are taken, is free. */
static int64_t
slot_free_ps (const IbNetwork *net, const IbInput *input)
{
  int64_t free_ps = NEVER_PS;

  for (uint32_t slot = 0; slot < ib_reads (net); slot++)
    free_ps = MIN (free_ps, input->slots[slot]);
  return free_ps;
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
      ib_adapter_read_more (net, index);
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
    case IB_RECEIVE: ib_adapter_receive (net, argument); break;
    case IB_TAKE_UP: ib_adapter_take_up (net, argument); break;
    case IB_POST: ib_adapter_post (net, argument); break;
    case IB_ACTIVATE: ib_adapter_activate (net, argument); break;
    case IB_READ: ib_adapter_read_done (net, argument); break;
    case IB_LOOK: look (net, argument); break;
    case IB_SENT: ib_adapter_acknowledged (net, argument); break;
    case IB_DELIVER: ib_adapter_deliver (net, argument); break;
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
