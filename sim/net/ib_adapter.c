/* ib_adapter.c - from a message to packets on the link.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Software rings in a work request; requests of one rank to another stand in
 * a queue pair, and the adapter takes one packet from each pair with work in
 * turn (guess: how adapters schedule pairs is not published).  Payload that
 * is not in the request itself is read through PCIe, one packet after the other,
 * each wholly before it is sent, a few ahead of the link (infiniband.md section
 * A5).  Protocol packets wait in a queue of their own and take turns with
 * data. */
#include "config.h"

#include "sim/net/ib_port.h"

#include "sim/node/memory.h"

/* --- Requests --- */

static uint64_t
packets_of (const IbNetwork *net, uint64_t payload_bytes)
{
  return payload_bytes == 0 ? 1 : (payload_bytes + net->mtu_bytes - 1) / net->mtu_bytes;
}

/* The library's own messages count in no FIFO, as on a torus; nor does the
 * request of a remote get, a write of nothing. */
static bool
is_users (const SimMessage *message)
{
  return message->kind == SIM_MESSAGE_SEND ||
         (message->kind == SIM_MESSAGE_WRITE && message->bytes > 0);
}

void
ib_send (IbNetwork *net, uint32_t message_index, int64_t at_ps)
{
  Message *message = &net->engine.message[message_index];
  const SimMessage *public = &message->public;
  const uint32_t *node = net->engine.mapping->node;
  uint32_t from = node[public->source_rank], to = node[public->destination_rank];
  uint32_t port, destination, source, index;
  uint64_t payload_bytes = public->bytes + public->software_bytes;

  g_assert (from != to);
  if (!route_paths_rails (net->paths, from, to, public->source_rank, public->destination_rank,
                          &port, &destination)) {
    if (net->refusal == NULL)
      net->refusal =
          g_strdup_printf ("no way from %s to %s (tables: %s)", net->fabric->hosts[from].name,
                           net->fabric->hosts[to].name, net->tables->engine);
    return;
  }
  index = pool_take (&net->requests, (void **) &net->request, sizeof (IbRequest),
                     offsetof (IbRequest, next));
  source = net->tables->destination_of[port];
  net->request[index] = (IbRequest){
    .payload_left = payload_bytes,
    .software_left = public->software_bytes,
    .message = message_index,
    .pair = PACKET_NONE,
    .next = PACKET_NONE,
    .destination = (uint16_t) destination,
    .back = (uint16_t) source,
    .vl = (uint8_t) route_forwarding_vl (net->tables, source, destination),
    .back_vl = (uint8_t) route_forwarding_vl (net->tables, destination, source),
    .ends = 2,
    .begins_write = public->kind == SIM_MESSAGE_WRITE,
    .is_inline = payload_bytes <= net->parameters->hca_inline_bytes,
  };
  message->packets_left = packets_of (net, payload_bytes);
  message->next = index;
  if (is_users (public))
    net->engine.base.counters->fifo_messages[source]++;
  ib_push (net, ib_node_unit (net, from), IB_POST, net->port[port].number, index, at_ps);
}

/* --- Pairs --- */

static void
activate_at (IbNetwork *net, uint32_t unit, uint32_t index, int64_t at_ps)
{
  const IbPair *pair = &net->pair[index];

  ib_push (net, unit, IB_ACTIVATE, net->port[pair->port].number, index,
           MAX (at_ps, net->engine.now_ps));
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
  uint32_t pair_index = ib_pair_get (net, public->source_rank, public->destination_rank,
                                     public->kind == SIM_MESSAGE_WRITE);
  IbPair *pair = &net->pair[pair_index];

  adapter->post_ps = start_ps + p->hca_message_gap_ps;
  request->ready_ps =
      start_ps + p->hca_send_latency_ps + (request->is_inline ? 0 : p->hca_read_latency_ps);
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
  ib_read_more (net, unit, pair->port);
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
  if (pair->head == PACKET_NONE && !net->parameters->cc)
    ib_pair_drop (net, index);
}

/* --- Packets --- */

static void
fill_packet (IbNetwork *net, IbPacket *packet, IbRequest *request, uint32_t port)
{
  const TopoParameters *p = net->parameters;
  uint32_t payload_bytes = (uint32_t) MIN (request->payload_left, net->mtu_bytes);
  uint32_t software_bytes = (uint32_t) MIN (request->software_left, payload_bytes);
  uint32_t frame_bytes = (uint32_t) p->header_bytes + payload_bytes +
                         (request->begins_write ? (uint32_t) p->rdma_header_bytes : 0);

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
  if (net->parameters->cc) {
    int64_t packet_ps = wire_ps (net, &net->port[pair->port], packet);

    pair->not_before_ps =
        net->engine.now_ps + (int64_t) ib_congestion_index (net, pair) * packet_ps;
  }
  if (request->payload_left == 0)
    pair->head = request->next;
  end_turn (net, unit, lane, before, pair_index);
  return index;
}

/* --- Reading --- */

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

/* PCIe begins to read the payload of a packet. */
static void
start_reading (IbNetwork *net, uint32_t unit, uint32_t index)
{
  const IbPacket *packet = &net->packet[index];
  int64_t now_ps = net->engine.now_ps;
  int64_t memory_ps = sim_memory_dma (net->engine.base.memory, unit - net->n_switches, false,
                                      packet->payload_bytes, now_ps);
  int64_t pcie_ps = now_ps + ib_bytes_ps (packet->payload_bytes, net->pcie_ps_q32);

  ib_push (net, unit, IB_READ, net->port[packet->port].number, index, MAX (memory_ps, pcie_ps));
}

void
ib_adapter_enter (IbNetwork *net, uint32_t unit, uint32_t index, uint32_t queue)
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

void
ib_read_more (IbNetwork *net, uint32_t unit, uint32_t port)
{
  uint32_t device_index = net->fabric->ports[port].device;
  const TopoDevice *device = &net->fabric->devices[device_index];
  IbAdapter *adapter = &net->adapter[device_index];
  IbLane *lanes = ib_lane (net, device->first_port, 0);

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
      ib_adapter_enter (net, unit, index, IB_QUEUE_DATA);
    } else {
      adapter->reading = true;
      start_reading (net, unit, index);
    }
  }
}

void
ib_read_done (IbNetwork *net, uint32_t unit, uint32_t index)
{
  uint32_t port = net->packet[index].port;

  net->adapter[net->fabric->ports[port].device].reading = false;
  ib_adapter_enter (net, unit, index, IB_QUEUE_DATA);
  ib_read_more (net, unit, port);
}
