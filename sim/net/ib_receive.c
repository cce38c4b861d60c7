/* ib_receive.c - from the link into memory, and the acknowledgement back.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A packet leaves the input buffer of its adapter when PCIe and memory have
 * taken it; memory that cannot keep up fills the buffers and in the end stops
 * the links.  Because a node's events come in time order and PCIe serves them
 * in that order, the time is known when the last byte arrives.
 *
 * The last packet of a message is acknowledged at once (infiniband.md section
 * A1); news of congestion travels with that, or in a packet of its own when
 * the message has more to come (A7). */
#include "config.h"

#include "sim/net/ib_port.h"

#include "sim/node/memory.h"

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
    .frame_bytes = (uint16_t) p->ack_bytes,
    .blocks = (uint8_t) ib_blocks (net, (uint32_t) p->ack_bytes),
    .vl = request->back_vl,
    .kind = (uint8_t) kind,
    .flags = (uint8_t) flags,
  };
  net->engine.n_packets++;
  ib_adapter_enter (net, unit, index, IB_QUEUE_PROTOCOL);
}

/* One of the things that a request still waits for has happened. */
static void
end_request (IbNetwork *net, uint32_t message)
{
  uint32_t index = net->engine.message[message].next;

  if (--net->request[index].ends > 0)
    return;
  if (net->parameters->cc)
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
  adapter->complete_ps = complete_ps + p->hca_message_gap_ps;
  ib_push (net, unit, IB_DELIVER, net->port[packet->port].number, packet->message,
           complete_ps + p->hca_receive_latency_ps);
  answer (net, unit, packet->message, IB_PACKET_ACK, marked ? IB_FLAG_BECN : 0);
}

static void
receive_protocol (IbNetwork *net, uint32_t unit, const IbPacket *packet)
{
  const IbRequest *request = &net->request[net->engine.message[packet->message].next];
  uint32_t message = packet->message;

  return_credits (net, packet->port, packet->vl, packet->blocks, net->engine.now_ps);
  if ((packet->flags & IB_FLAG_BECN) != 0)
    ib_slow_down (net, &net->pair[request->pair]);
  if (packet->kind == IB_PACKET_ACK && net->engine.message[message].public.acknowledge)
    ib_push (net, unit, IB_SENT, net->port[packet->port].number, message,
             net->engine.now_ps + net->parameters->hca_receive_latency_ps);
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
