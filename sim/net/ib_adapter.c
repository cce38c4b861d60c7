/* ib_adapter.c - the packets of a fabric in its adapters, from a request to the link and from the link into memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sections: congestion control at the source; queue pairs, which adapters send from and receive for; the way out;
 * the way in. */
#include "sim/net/ib_port.h"

#include "sim/node/memory.h"

/* --- Congestion control: what a source does (ib_traffic.c has what a switch does) ---
 *
 * Guess: a linear table of delays, index times the time of a packet. */

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

void
ib_adapter_read_more (IbNetwork *net, uint32_t port)
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

void
ib_adapter_post (IbNetwork *net, uint32_t index)
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
  if (ib_uses_contexts (net))
    start_ps = MAX (start_ps, ib_contexts_use (&net->contexts, net->unit[port], IB_CONTEXT_SEND,
                                               request->context, net->engine.now_ps));
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

void
ib_adapter_activate (IbNetwork *net, uint32_t index)
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
  ib_adapter_read_more (net, pair->port);
}

void
ib_adapter_read_done (IbNetwork *net, uint32_t index)
{
  uint32_t port = net->packet[index].port;

  ib_adapter (net, port)->reading = false;
  enter_adapter (net, index, IB_QUEUE_DATA);
  ib_adapter_read_more (net, port);
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

void
ib_adapter_take_up (IbNetwork *net, uint32_t index)
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
  const Message *message = message_at (&net->engine, packet->message);
  uint32_t device = net->unit[packet->port];

  return packet->kind == IB_PACKET_DATA
             ? ib_contexts_use (&net->contexts, device, IB_CONTEXT_RECEIVE, message->context,
                                net->engine.now_ps)
             : ib_contexts_use (&net->contexts, device, IB_CONTEXT_SEND,
                                net->request[message->next].context, net->engine.now_ps);
}

/* From when on the adapter knows where the packet goes: into the next buffer of the receive queue
 * of its rank. */
static int64_t
buffer_ps (IbNetwork *net, const IbPacket *packet)
{
  const Message *message = message_at (&net->engine, packet->message);
  const SimMessage *public = &message->public;
  uint32_t device = net->unit[packet->port];
  IbRequest *request;

  if (packet->kind != IB_PACKET_DATA || public->kind == SIM_MESSAGE_WRITE ||
      public->kind == SIM_MESSAGE_READ ||
      public->bytes + public->software_bytes <= net->parameters->hca.receive_inline_bytes)
    return net->engine.now_ps;
  request = &net->request[message->next];
  if (request->queue_context == PACKET_NONE)
    request->queue_context = ib_contexts_connect (&net->receive_queues, public->destination_rank,
                                                  device, 0, false, device, device)
                                 .destination;
  return ib_contexts_use (&net->receive_queues, device, IB_CONTEXT_RECEIVE, request->queue_context,
                          net->engine.now_ps);
}

void
ib_adapter_receive (IbNetwork *net, uint32_t index)
{
  IbPacket *packet = &net->packet[index];
  int64_t now_ps = net->engine.now_ps, there_ps = now_ps;
  Waited *waited;

  if (ib_uses_contexts (net))
    there_ps = context_ps (net, packet);
  if (net->receive_queues.capacity > 0)
    there_ps = MAX (there_ps, buffer_ps (net, packet));
  if (there_ps == now_ps) {
    ib_adapter_take_up (net, index);
    return;
  }
  waited = &ib_input (net, packet->port)->waited;
  waited->packets += ib_weight (net, packet);
  waited->ps += (uint64_t) (there_ps - now_ps);
  packet->flags |= IB_FLAG_WAITED;
  ib_add (net, IB_TAKE_UP, &net->port[packet->port], index, there_ps);
}

void
ib_adapter_deliver (IbNetwork *net, uint32_t index)
{
  SimMessage message = message_at (&net->engine, index)->public;

  g_assert (message_at (&net->engine, index)->bytes_left == 0);
  end_request (net, index);
  net->engine.base.client->delivered (net->engine.base.client_data, &message, net->engine.now_ps);
}

void
ib_adapter_acknowledged (IbNetwork *net, uint32_t index)
{
  SimMessage message = message_at (&net->engine, index)->public;

  end_request (net, index);
  net->engine.base.client->sent (net->engine.base.client_data, &message, net->engine.now_ps);
}
