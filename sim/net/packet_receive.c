/* packet_receive.c - from the last router into memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each input port has a network reception FIFO of a few packets (guess); the
 * messaging unit empties them into memory, whose write bandwidth all of a
 * node's ports share.  A packet leaves its receive buffer when the reception
 * FIFO has room for it, so memory that cannot keep up fills the buffers and
 * in the end stops the links: the congestion that SC13 section 3.1 describes.
 *
 * Because a node's events come in time order and the FIFOs are served first
 * come first served, all times of a packet are known when its head arrives:
 * reception costs no event of its own. */
#include "config.h"

#include "sim/net/packet_state.h"

int64_t
packet_receive (PacketNetwork *net, uint32_t node, uint32_t in_port, uint32_t index)
{
  const Packet *packet = &net->packet[index];
  size_t input = (size_t) node * net->n_ports + in_port;
  int64_t *reception = &net->reception_ps[input * (1 + net->reception_depth)];
  int64_t *slot_ps = &reception[1 + reception[0]];
  NodeMemory *memory = &net->memory[node];
  /* The slot is free once the packet that had it last is in memory. */
  int64_t enter_ps = MAX (net->engine.now_ps, *slot_ps);
  int64_t left_ps = enter_ps + net->wire_ps[packet->chunks];
  /* Memory takes the packet as it streams in, at its own rate. */
  int64_t written_ps = MAX (memory->memory_ps, enter_ps) + net->memory_ps[packet->chunks];

  memory->memory_ps = written_ps;
  written_ps = MAX (written_ps, left_ps);
  *slot_ps = written_ps;
  if (++reception[0] == net->reception_depth)
    reception[0] = 0;
  if (enter_ps > net->engine.now_ps) {
    net->waited[input].packets++;
    net->waited[input].ps += (uint64_t) (enter_ps - net->engine.now_ps);
  }
  if (packet_engine_received (&net->engine, packet->message, packet->payload_bytes, written_ps))
    sim_schedule_push (net->engine.schedule, node, CODE_DELIVER, packet->message,
                       net->engine.message[packet->message].last_ps + net->reception_latency_ps);
  packet_give (net, index);
  return left_ps;
}
