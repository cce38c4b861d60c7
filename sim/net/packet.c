/* packet.c - the packet network of a torus: the messaging units of its nodes, and its run.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sections, in the order in which a message passes them: descriptors, memory
 * FIFOs, injection, reception; then the laws that hold at the end of a run, the
 * loop over the events, and construction.  packet_router.c moves packets
 * between the nodes. */
#include "sim/net/packet_state.h"

/* --- Messages become descriptors --- */

static void
post (PacketNetwork *net, uint32_t node, uint32_t message, const TorusDescriptor *posted,
      int64_t at_ps)
{
  uint32_t index = pool_take (&net->descriptors, (void **) &net->descriptor,
                              sizeof (TorusDescriptor), offsetof (TorusDescriptor, next));

  net->descriptor[index] = *posted;
  net->descriptor[index].message = message;
  net->engine.message[message].packets_left += torus_descriptor_packets (&net->messages, posted);
  if (posted->data_left && posted->fifo < net->n_ports)
    net->fifo_messages[(size_t) node * net->n_ports + posted->fifo]++;
  sim_schedule_push (net->engine.schedule, node, CODE_INJECT, index,
                     at_ps + net->injection_latency_ps);
}

static void
packet_send (SimNetwork *base, const SimMessage *message, int64_t at_ps)
{
  PacketNetwork *net = (PacketNetwork *) base;
  uint32_t index = packet_engine_message (&net->engine, message, at_ps);
  TorusDescriptor descriptors[2];
  uint32_t n_descriptors = torus_describe (&net->messages, message, descriptors);

  for (uint32_t i = 0; i < n_descriptors; i++)
    post (net, net->engine.mapping->node[message->source_rank], index, &descriptors[i], at_ps);
}

/* --- Memory FIFOs --- */

/* The owner's memory FIFO for this network FIFO, made when it has none. */
static uint32_t
find_feeder (PacketNetwork *net, uint32_t node, uint32_t fifo_index, uint32_t owner)
{
  Fifo *fifo = &net->fifo[(size_t) node * net->n_fifos + fifo_index];
  uint32_t index = fifo->last_feeder;

  if (index != PACKET_NONE) {
    do {
      if (net->feeder[index].owner == owner)
        return index;
      index = net->feeder[index].next;
    } while (index != fifo->last_feeder);
  }
  index =
      pool_take (&net->feeders, (void **) &net->feeder, sizeof (Feeder), offsetof (Feeder, next));
  net->feeder[index] = (Feeder){ PACKET_NONE, PACKET_NONE, index, owner };
  if (fifo->last_feeder != PACKET_NONE) {
    net->feeder[index].next = net->feeder[fifo->last_feeder].next;
    net->feeder[fifo->last_feeder].next = index;
  }
  /* Behind the others: it has its turn when they have had theirs. */
  fifo->last_feeder = index;
  return index;
}

/* Remembers whose turn is next, so that its descriptor can be fetched ahead. */
static inline void
note_next (const PacketNetwork *net, Fifo *fifo)
{
  if (fifo->last_feeder != PACKET_NONE)
    fifo->next_descriptor = net->feeder[net->feeder[fifo->last_feeder].next].head;
}

/* --- Injection --- */

static void
fill_packet (PacketNetwork *net, Packet *packet, TorusDescriptor *descriptor)
{
  *packet = (Packet){
    .way = descriptor->way,
    .vc = descriptor->vc,
    .flags = (uint8_t) ((descriptor->vc == ROUTE_VC_DYNAMIC ? FLAG_DYNAMIC : 0) |
                        descriptor->zone << FLAG_ZONE_SHIFT),
    .message = descriptor->message,
  };
  if (descriptor->envelope_chunks) {
    packet->chunks = (uint8_t) (1 + descriptor->envelope_chunks);
    descriptor->envelope_chunks = 0;
    return;
  }
  uint64_t bytes =
      MIN (descriptor->bytes_left, net->messages.payload_bytes - descriptor->software_bytes);

  packet->payload_bytes = (uint16_t) bytes;
  packet->chunks =
      (uint8_t) (1 + torus_payload_chunks (&net->messages, bytes + descriptor->software_bytes));
  descriptor->bytes_left -= bytes;
  descriptor->data_left = descriptor->bytes_left > 0;
}

/* Takes one packet from the next memory FIFO in turn to the FIFO's head. */
static void
next_packet (PacketNetwork *net, Fifo *fifo)
{
  uint32_t before = fifo->last_feeder;
  uint32_t feeder_index = net->feeder[before].next;
  Feeder *feeder = &net->feeder[feeder_index];
  uint32_t index = fifo->next_descriptor;
  uint32_t packet =
      packet_engine_take_packet (&net->engine, (void **) &net->packet, sizeof (Packet));
  TorusDescriptor *descriptor = &net->descriptor[index];

  fill_packet (net, &net->packet[packet], descriptor);
  net->engine.n_packets++;
  net->engine.payload_sent += net->packet[packet].payload_bytes;
  fifo->packet = packet;
  fifo->last_feeder = feeder_index;
  if (!descriptor->data_left) {
    feeder->head = descriptor->next;
    pool_give (&net->descriptors, net->descriptor, sizeof (TorusDescriptor),
               offsetof (TorusDescriptor, next), index);
  }
  if (feeder->head == PACKET_NONE) {
    /* No descriptor left: the memory FIFO leaves the circle. */
    if (before == feeder_index) {
      fifo->last_feeder = PACKET_NONE;
    } else {
      net->feeder[before].next = feeder->next;
      fifo->last_feeder = before;
    }
    pool_give (&net->feeders, net->feeder, sizeof (Feeder), offsetof (Feeder, next), feeder_index);
  }
  note_next (net, fifo);
}

/* The FIFO can present its next packet. */
static void
fifo_ready (PacketNetwork *net, uint32_t node, uint32_t fifo_index)
{
  Fifo *fifo = &net->fifo[(size_t) node * net->n_fifos + fifo_index];

  fifo->pending = false;
  g_assert (fifo->packet == PACKET_NONE && fifo->last_feeder != PACKET_NONE);
  next_packet (net, fifo);
  packet_fifo_head (net, node, fifo_index);
}

/* A descriptor is in its memory FIFO now. */
static void
inject (PacketNetwork *net, uint32_t node, uint32_t index)
{
  TorusDescriptor *descriptor = &net->descriptor[index];
  uint32_t fifo_index = descriptor->fifo;
  Fifo *fifo = &net->fifo[(size_t) node * net->n_fifos + fifo_index];
  /* This may move the pool of feeders: no pointer into it before. */
  uint32_t feeder_index = find_feeder (net, node, fifo_index, descriptor->owner);
  Feeder *feeder = &net->feeder[feeder_index];

  descriptor->next = PACKET_NONE;
  if (feeder->head == PACKET_NONE)
    feeder->head = index;
  else
    net->descriptor[feeder->tail].next = index;
  feeder->tail = index;
  note_next (net, fifo);
  if (fifo->packet != PACKET_NONE || fifo->pending)
    return;
  if (fifo->ready_ps > net->engine.now_ps) {
    fifo->pending = true;
    sim_schedule_push (net->engine.schedule, node, CODE_FIFO + fifo_index,
                       node * net->n_fifos + fifo_index, fifo->ready_ps);
    return;
  }
  next_packet (net, fifo);
  packet_fifo_head (net, node, fifo_index);
}

/* --- Reception ---
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
  packet_engine_give_packet (&net->engine, index);
  return left_ps;
}

/* --- The laws at the end of a run ---
 *
 * Every packet is delivered, every token is back, bytes in = bytes out.  When
 * packets are left, nothing can ever move them: the dump names the first of
 * them with the ports that they wait for. */

#define DUMPED_PACKETS 20u

static void
print_packet (const PacketNetwork *net, uint32_t node, const Packet *packet, const char *place,
              GString *out)
{
  const SimMessage *message = &net->engine.message[packet->message].public;
  uint32_t port_index = route_torus_next_port (&net->messages.route, &packet->way);
  const Port *port = port_at (net, node, port_index);
  TopoCoordinates coordinates = topo_shape_coordinates (&net->messages.route.shape, node);

  g_string_append (out, "\n  node (");
  for (uint32_t dimension = 0; dimension < net->messages.route.shape.n_dimensions; dimension++)
    g_string_append_printf (out, "%s%u", dimension ? "," : "", coordinates.at[dimension]);
  g_string_append_printf (out, ") %s: packet of %u chunks on VC %u, rank %u -> %u, next %c%c",
                          place, packet->chunks, packet->vc, message->source_rank,
                          message->destination_rank, topo_dimension_letter (port_index / 2),
                          port_index % 2 ? '+' : '-');
  g_string_append_printf (out, " with %u dynamic, %u bubble, %u priority tokens", port->tokens[0],
                          port->tokens[1], port->tokens[2]);
}

static uint32_t
print_list (const PacketNetwork *net, uint32_t node, PacketList list, const char *place,
            uint32_t n_printed, GString *out)
{
  for (uint32_t index = list.head; index != PACKET_NONE && n_printed < DUMPED_PACKETS;
       index = net->engine.next[index]) {
    print_packet (net, node, &net->packet[index], place, out);
    n_printed++;
  }
  return n_printed;
}

static uint32_t
print_node_packets (const PacketNetwork *net, uint32_t node, uint32_t n_printed, GString *out)
{
  for (uint32_t port_index = 0; port_index < net->n_ports; port_index++) {
    const Receiver *receiver = &net->receiver[(size_t) node * net->n_ports + port_index];
    const Port *port = port_at (net, node, port_index);

    for (uint32_t turning = 0; turning < 2; turning++) {
      n_printed =
          print_list (net, node, port->bubble[turning], "bubble receive buffer", n_printed, out);
      n_printed = print_list (net, node, port->priority[turning], "priority receive buffer",
                              n_printed, out);
    }
    for (uint32_t queue = 0; queue < MAX_QUEUES; queue++)
      n_printed =
          print_list (net, node, receiver->queue[queue], "dynamic receive buffer", n_printed, out);
  }
  for (uint32_t fifo = 0; fifo < net->n_fifos && n_printed < DUMPED_PACKETS; fifo++) {
    uint32_t index = net->fifo[(size_t) node * net->n_fifos + fifo].packet;

    if (index == PACKET_NONE)
      continue;
    print_packet (net, node, &net->packet[index], "injection FIFO", out);
    n_printed++;
  }
  return n_printed;
}

/* Tokens at the sender plus those on their way back. */
static gboolean
tokens_complete (const PacketNetwork *net, const Port *port)
{
  const TopoParameters *parameters = &net->engine.machine->parameters;
  uint64_t tokens[ROUTE_VCS] = { port->tokens[0], port->tokens[1], port->tokens[2] };

  for (uint32_t i = 0; i < port->n_returns; i++)
    tokens[(port->returns[i] >> 6) & 3] += port->returns[i] & 63;
  return tokens[ROUTE_VC_DYNAMIC] == parameters->router.dynamic_tokens &&
         tokens[ROUTE_VC_BUBBLE] == parameters->router.bubble_tokens &&
         tokens[ROUTE_VC_PRIORITY] == parameters->router.priority_tokens;
}

/* Everything is where it was before the run: no packet, every token back,
 * bytes in = bytes out.  SIM_ERROR_STALL with a dump of what is blocked
 * otherwise. */
static gboolean
check_idle (PacketNetwork *net, GError **error)
{
  if (net->engine.packets.n_taken > 0 || net->descriptors.n_taken > 0) {
    g_autoptr (GString) out = g_string_new (NULL);
    uint32_t n_printed = 0;

    g_string_append_printf (out,
                            "network stalled at %" G_GINT64_FORMAT
                            " ps: %u packets and %u descriptors cannot move; blocked:",
                            net->engine.now_ps, net->engine.packets.n_taken,
                            net->descriptors.n_taken);
    for (uint32_t node = 0; node < net->n_nodes && n_printed < DUMPED_PACKETS; node++)
      n_printed = print_node_packets (net, node, n_printed, out);
    g_set_error_literal (error, SIM_ERROR, SIM_ERROR_STALL, out->str);
    return FALSE;
  }
  g_assert (net->engine.messages.n_taken == 0 && net->feeders.n_taken == 0);
  g_assert (net->engine.payload_sent == net->engine.payload_received);
  for (size_t link = 0; link < (size_t) net->n_nodes * net->n_ports; link++)
    if (net->port[link].neighbour != PACKET_NONE)
      g_assert (tokens_complete (net, &net->port[link]));
  return TRUE;
}

/* --- The run --- */

static void
packet_timer (SimNetwork *base, uint32_t rank, uint64_t cookie, int64_t at_ps)
{
  PacketNetwork *net = (PacketNetwork *) base;

  packet_engine_timer (&net->engine, net->engine.mapping->node[rank], CODE_TIMER, rank, cookie,
                       at_ps);
}

static void
deliver (PacketNetwork *net, uint32_t index)
{
  SimMessage message = net->engine.message[index].public;

  g_assert (net->engine.message[index].bytes_left == 0);
  packet_engine_give_message (&net->engine, index);
  net->engine.base.client->delivered (net->engine.base.client_data, &message, net->engine.now_ps);
}

static void
dispatch (PacketEngine *engine, SimEvent event)
{
  PacketNetwork *net = (PacketNetwork *) engine;
  uint32_t node = sim_event_node (event), code = sim_event_code (event);
  uint32_t port_index = code & 15;

  if (code >= CODE_DELIVER) {
    if (code == CODE_DELIVER)
      deliver (net, event.argument);
    else
      packet_engine_timer_due (engine, event.argument);
    return;
  }
  switch (code & ~15u) {
  case CODE_TOKEN: packet_token (net, node, port_index, event.argument); break;
  case CODE_ARRIVE: packet_arrive (net, node, port_index, event.argument); break;
  case CODE_INJECT: inject (net, node, event.argument); break;
  case CODE_FIFO: fifo_ready (net, node, port_index); break;
  case CODE_PORT: packet_port_wake (net, node, port_index); break;
  }
}

/* Events ahead whose first, second and third stage are fetched. */
#define PREFETCH_FAR  12u
#define PREFETCH_NEAR 6u
#define PREFETCH_LAST 3u

/* Ports beyond what a core has of second-level cache and its share of the
 * third. */
#define LARGE_BYTES ((size_t) 4 << 20)

/* First, what the event itself names: a packet, a FIFO, a port ... */
static PREFETCHES
prefetch_named (const PacketNetwork *net, SimEvent event)
{
  uint32_t kind = sim_event_code (event) / 16;

  __builtin_prefetch (net->named[kind].table + net->named[kind].size * event.argument, 1);
}

/* Pools move when they grow, which is seldom: once a window is often enough. */
static void
name_tables (PacketEngine *engine)
{
  PacketNetwork *net = (PacketNetwork *) engine;

  for (uint32_t kind = 0; kind < G_N_ELEMENTS (net->named); kind++)
    net->named[kind].table = (const char *) net->port;
  net->named[CODE_ARRIVE / 16].table = (const char *) net->packet;
  net->named[CODE_ARRIVE / 16].size = sizeof (Packet);
  net->named[CODE_INJECT / 16].table = (const char *) net->descriptor;
  net->named[CODE_INJECT / 16].size = sizeof (TorusDescriptor);
  net->named[CODE_FIFO / 16].table = (const char *) net->fifo;
  net->named[CODE_FIFO / 16].size = sizeof (Fifo);
  net->named[CODE_PORT / 16].size = sizeof (Port);
}

/* Then what that names: of an arriving packet the port it leaves through, or
 * its message, and the port that gets its tokens back; of a FIFO the
 * descriptor.  For other events the same with number 0. */
static PREFETCHES
prefetch_next (const PacketNetwork *net, SimEvent event)
{
  uint32_t node = sim_event_node (event), code = sim_event_code (event), in_port = code & 15;
  bool arrives = (code & ~15u) == CODE_ARRIVE;
  const Packet *packet = &net->packet[choose (arrives, event.argument, 0)];
  uint32_t sender = neighbour_at (net, node, topo_port_opposite (in_port));
  uintptr_t port =
      (uintptr_t) port_at (net, node, route_torus_next_port (&net->messages.route, &packet->way));
  uintptr_t message = (uintptr_t) &net->engine.message[packet->message];
  const Fifo *fifo = &net->fifo[choose ((code & ~15u) == CODE_FIFO, event.argument, 0)];

  uintptr_t reception =
      (uintptr_t) &net
          ->reception_ps[((size_t) node * net->n_ports + in_port) * (1 + net->reception_depth)];
  bool passes = packet->way.pending != 0;

  __builtin_prefetch ((const void *) choose (passes, port, message), 1);
  __builtin_prefetch ((const void *) choose (passes, port + offsetof (Port, returns), reception),
                      1);
  __builtin_prefetch (port_at (net, sender, in_port)->returns, 1);
  __builtin_prefetch (&net->descriptor[fifo->next_descriptor], 1);
}

/* The rest of a port that will look for something to send. */
static PREFETCHES
prefetch_port (const PacketNetwork *net, SimEvent event)
{
  const Port *port = port_at (net, sim_event_node (event), sim_event_code (event) & 15);

  __builtin_prefetch (port->returns, 1);
}

/* What that port may choose among. */
static PREFETCHES
prefetch_waiting (const PacketNetwork *net, SimEvent event)
{
  uint32_t node = sim_event_node (event), code = sim_event_code (event);

  if ((code & ~15u) == CODE_PORT) {
    const Port *port = port_at (net, node, code & 15);

    if (port->listed & 1u << LIST_BUBBLE_STRAIGHT)
      __builtin_prefetch (&net->packet[port->bubble[0].head], 1);
    if (port->listed & 1u << LIST_BUBBLE_TURN)
      __builtin_prefetch (&net->packet[port->bubble[1].head], 1);
  }
}

/* The window's events are known, so what they will touch can be fetched
 * before their turn comes.  In a machine whose ports fit in the cache the
 * processor finds enough to overlap by itself, and only the first two stages
 * pay for their instructions. */
static PREFETCHES
prefetch (const PacketEngine *engine, uint32_t at)
{
  const PacketNetwork *net = (const PacketNetwork *) engine;
  const SimEvent *due = net->engine.schedule->due;
  uint32_t n_due = net->engine.schedule->n_due;

  if (at + PREFETCH_FAR < n_due) {
    prefetch_named (net, due[at + PREFETCH_FAR]);
    if (net->is_large && (sim_event_code (due[at + PREFETCH_FAR]) & ~15u) == CODE_PORT)
      prefetch_port (net, due[at + PREFETCH_FAR]);
  }
  if (at + PREFETCH_NEAR < n_due && net->engine.packets.n > 0)
    prefetch_next (net, due[at + PREFETCH_NEAR]);
  if (net->is_large && at + PREFETCH_LAST < n_due)
    prefetch_waiting (net, due[at + PREFETCH_LAST]);
}

/* What each node counted at its two ends of the links, under the numbers of
 * the links. */
static void
collect_counters (PacketNetwork *net)
{
  SimCounters *counters = net->engine.base.counters;

  for (uint32_t node = 0; node < net->n_nodes; node++)
    for (uint32_t port_index = 0; port_index < net->n_ports; port_index++) {
      size_t sender = (size_t) node * net->n_ports + port_index;
      uint32_t neighbour = net->port[sender].neighbour;

      if (neighbour == PACKET_NONE)
        continue;
      const Port *sent = &net->port[sender];
      const Waited *waited = &net->waited[(size_t) neighbour * net->n_ports + port_index];

      counters->link[sender] = (SimLinkCounters){
        .payload_bytes = sent->payload_bytes,
        .dynamic_chunks = sent->dynamic_chunks,
        .bubble_chunks = sent->bubble_chunks,
        .priority_chunks = sent->priority_chunks,
        .received_packets = sent->packets, /* all arrive */
        .buffered_packets = waited->packets,
        .buffered_ps = waited->ps,
      };
    }
  for (size_t fifo = 0; fifo < (size_t) net->n_nodes * net->n_ports; fifo++)
    counters->fifo_messages[fifo] = net->fifo_messages[fifo];
  packet_engine_count (&net->engine);
}

static gboolean
packet_run (SimNetwork *base, GError **error)
{
  PacketNetwork *net = (PacketNetwork *) base;
  gboolean ok;

  packet_engine_run (&net->engine, name_tables, prefetch, dispatch);
  ok = check_idle (net, error);
  collect_counters (net);
  return ok;
}

/* --- Construction --- */

static void
packet_free (SimNetwork *base)
{
  PacketNetwork *net = (PacketNetwork *) base;

  packet_engine_free (&net->engine);
  g_free (net->packet);
  g_free (net->feeder);
  g_free (net->descriptor);
  packet_table_free (net->port);
  packet_table_free (net->receiver);
  packet_table_free (net->reception_ps);
  g_free (net->neighbour);
  packet_table_free (net->waited);
  packet_table_free (net->fifo);
  packet_table_free (net->fifo_messages);
  packet_table_free (net->memory);
  torus_messages_clear (&net->messages);
  g_free (net);
}

static const SimNetworkClass packet_class = {
  .name = "packet",
  .summary = "every packet, virtual channel, token and FIFO",
  .free = packet_free,
  .send = packet_send,
  .timer = packet_timer,
  .run = packet_run,
};

static void
init_port (PacketNetwork *net, uint32_t node, uint32_t port_index)
{
  const TopoParameters *p = &net->engine.machine->parameters;
  Port *port = port_at (net, node, port_index);
  Receiver *receiver = &net->receiver[(size_t) node * net->n_ports + port_index];
  int64_t latency_ps = p->link.hop_latency_ps +
                       topo_machine_extra_latency_ps (net->engine.machine, node, port_index);

  port->neighbour = topo_shape_neighbour (&net->messages.route.shape, node, port_index);
  net->neighbour[(size_t) node * net->n_ports + port_index] = port->neighbour;
  port->latency_ps = (uint32_t) latency_ps;
  port->wake_ps = NEVER_PS;
  port->tokens[ROUTE_VC_DYNAMIC] = (uint16_t) p->router.dynamic_tokens;
  port->tokens[ROUTE_VC_BUBBLE] = (uint16_t) p->router.bubble_tokens;
  port->tokens[ROUTE_VC_PRIORITY] = (uint16_t) p->router.priority_tokens;
  for (uint32_t turning = 0; turning < 2; turning++)
    port->bubble[turning] = port->priority[turning] = (PacketList){ PACKET_NONE, PACKET_NONE };
  for (uint32_t queue = 0; queue < MAX_QUEUES; queue++)
    receiver->queue[queue] = (PacketList){ PACKET_NONE, PACKET_NONE };
}

static void
init_nodes (PacketNetwork *net)
{
  size_t n_links = (size_t) net->n_nodes * net->n_ports;

  net->port = packet_table_new (n_links * sizeof (Port));
  net->receiver = packet_table_new (sizeof (Receiver) * n_links);
  net->reception_ps = packet_table_new (sizeof (int64_t) * (n_links * (1 + net->reception_depth)));
  /* A prefetch for another kind of event may look a little further. */
  net->neighbour = g_new0 (uint32_t, n_links + 16);
  net->waited = packet_table_new (sizeof (Waited) * n_links);
  net->fifo = packet_table_new (sizeof (Fifo) * (size_t) net->n_nodes * net->n_fifos);
  net->fifo_messages = packet_table_new (sizeof (uint64_t) * n_links);
  net->memory = packet_table_new (sizeof (NodeMemory) * net->n_nodes);
  for (uint32_t node = 0; node < net->n_nodes; node++) {
    for (uint32_t port_index = 0; port_index < net->n_ports; port_index++)
      init_port (net, node, port_index);
    for (uint32_t fifo = 0; fifo < net->n_fifos; fifo++) {
      net->fifo[(size_t) node * net->n_fifos + fifo].packet = PACKET_NONE;
      net->fifo[(size_t) node * net->n_fifos + fifo].last_feeder = PACKET_NONE;
    }
  }
}

SimNetwork *
sim_packet_general_new (const TopoMachine *machine, const TopoMapping *mapping, RoutePolicy policy,
                        const SimClient *client, void *client_data, GError **error)
{
  const TopoParameters *p = &machine->parameters;
  double wire_Bps = (double) p->link.bandwidth_Bps * (1.0 - p->link.overhead);
  PacketNetwork *net;

  if (!torus_check_limits (machine, error))
    return NULL;
  net = g_new0 (PacketNetwork, 1);
  net->engine.base = (SimNetwork){
    .class = &packet_class,
    .client = client,
    .client_data = client_data,
    .lookahead_ps = MIN (p->link.hop_latency_ps, p->link.token_latency_ps),
    .counters = sim_counters_new (machine),
  };
  net->engine.machine = machine;
  net->engine.mapping = mapping;
  torus_messages_init (&net->messages, machine, mapping, policy);
  net->n_nodes = topo_shape_nodes (&machine->shape);
  net->n_ports = topo_shape_ports (&machine->shape);
  net->n_fifos = net->n_ports + 1;
  net->n_queues = (uint32_t) p->router.dynamic_queues;
  net->reception_depth = (uint32_t) p->router.reception_packets;
  net->receiver_grants = (uint32_t) p->router.receiver_grants;
  net->escape = p->router.escape;
  net->stay_on_bubble = p->router.stay_on_bubble;
  for (uint32_t chunks = 0; chunks < G_N_ELEMENTS (net->wire_ps); chunks++) {
    net->wire_ps[chunks] =
        packet_bytes_ps (chunks * p->packet.chunk_bytes + p->packet.trailer_bytes, wire_Bps);
    net->memory_ps[chunks] = packet_bytes_ps (chunks * p->packet.chunk_bytes,
                                              (double) p->messaging.memory_bandwidth_Bps);
  }
  net->token_latency_ps = p->link.token_latency_ps;
  net->injection_latency_ps = p->messaging.injection_latency_ps;
  net->reception_latency_ps = p->messaging.reception_latency_ps;
  init_nodes (net);
  net->is_large = (size_t) net->n_nodes * net->n_ports * sizeof (Port) > LARGE_BYTES;
  net->engine.schedule = sim_schedule_new (net->n_nodes, net->engine.base.lookahead_ps);
  return &net->engine.base;
}
