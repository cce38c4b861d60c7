/* ib_port.h - what switches and adapters both do with a port; private.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * All of it is on the path of every packet, hence inline. */
#pragma once

#include "sim/net/ib_state.h"

/* Time of a packet on the link, to the nearest picosecond. */
static inline int64_t
wire_ps (const IbNetwork *net, const IbPort *port, const IbPacket *packet)
{
  return ib_bytes_ps (packet->frame_bytes + net->framing_bytes, port->ps_q32);
}

/* --- Credits --- */

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

/* --- Waking a port --- */

static inline void
wake_at (IbNetwork *net, uint32_t unit, uint32_t index, IbPort *port, int64_t at_ps)
{
  if (at_ps >= port->wake_ps)
    return;
  port->wake_ps = at_ps;
  ib_push (net, unit, IB_PORT, port->number, index, at_ps);
}

/* --- Reading from input buffers --- */

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
 * one, the one whose turn it is.  PACKET_NONE: nobody has to. */
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
    port = net->unit_port[net->unit_first[unit] + other];
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

/* --- Sending --- */

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
  int64_t sending_ps = wire_ps (net, port, packet);

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

/* --- Waiting --- */

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
