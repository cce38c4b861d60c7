/* ib_arbiter.c - a port that looks for something to send.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * First the lane, by the two tables of the VL arbiter (infiniband.md section
 * A3); of one lane, the inputs in turn.  An input from which as many packets
 * as it can feed are leaving is passed over; one whose packet lacks credits is
 * not, so that short packets cannot keep a long one out for ever.  Outputs that
 * found an input busy have it by turns when it is not, whoever looks first. */
#include "config.h"

#include "sim/net/ib_port.h"

/* --- The inputs of a lane --- */

/* What keeps a port from sending. */
typedef struct {
  int64_t retry_ps; /* an input that is busy now may be read then; NEVER_PS: none is */
  uint32_t before;  /* port that has to look first; PACKET_NONE: none has to */
} Obstacles;

static bool
may_read (IbNetwork *net, uint32_t unit, uint32_t in_port, const IbPort *port, Obstacles *obstacles)
{
  if (find_slot (net, in_port, &obstacles->retry_ps) == NULL) {
    claim (net, in_port, port->number);
    return false;
  }
  if (obstacles->before == PACKET_NONE)
    obstacles->before = first_claimant (net, unit, in_port, port->number);
  return true;
}

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
    if (unit >= net->n_switches || may_read (net, unit, packet->port, port, obstacles))
      return lane->credits >= packet->blocks ? input : PACKET_NONE;
    if (start == PACKET_NONE)
      start = input;
    first = (input + 1) % IB_MAX_NUMBERS;
  }
}

/* --- The lanes of a port --- */

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

  if (p->vlarb_high.n > 0)
    high = take_turn (&p->vlarb_high, &high_turn, ready);
  if (p->vlarb_low.n > 0)
    low = take_turn (&p->vlarb_low, &low_turn, ready);
  if (high == PACKET_NONE && low == PACKET_NONE)
    return PACKET_NONE;
  vl = low == PACKET_NONE || (high != PACKET_NONE && arbiter->high_left_bytes >= 0) ? high : low;
  bytes = net->packet[ib_queue (net, port, vl, inputs[vl])->head].frame_bytes;
  if (vl == high && (low == PACKET_NONE || arbiter->high_left_bytes >= 0)) {
    arbiter->high = high_turn;
    use_turn (&arbiter->high, bytes);
    if (low != PACKET_NONE && p->high_limit < TOPO_VL_NO_LIMIT)
      arbiter->high_left_bytes -= bytes;
  } else {
    arbiter->low = low_turn;
    use_turn (&arbiter->low, bytes);
    arbiter->high_left_bytes = (int64_t) p->high_limit * TOPO_VL_LIMIT_BYTES;
  }
  return vl;
}

/* --- Sending --- */

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
  if (net->parameters->cc)
    ib_mark (net, port, lane, packet);
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
    ib_read_more (net, unit, index);
  }
}

/* The lanes that have something to send, and from which input. */
static uint32_t
ready_lanes (IbNetwork *net, uint32_t unit, uint32_t index, const IbPort *port,
             Obstacles *obstacles, uint32_t inputs[])
{
  uint32_t ready = 0;

  for (uint32_t listed = port->listed; listed; listed &= listed - 1) {
    uint32_t vl = (uint32_t) __builtin_ctz (listed);

    inputs[vl] = candidate (net, unit, index, port, vl, obstacles);
    if (inputs[vl] != PACKET_NONE)
      ready |= 1u << vl;
  }
  return ready;
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
    ready = ready_lanes (net, unit, index, port, &obstacles, inputs);
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
