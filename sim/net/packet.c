/* packet.c - the packet network: its clock, its machine and its contract.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "sim/net/packet_state.h"

/* --- Messages and timers --- */

static void
packet_send (SimNetwork *base, const SimMessage *message, int64_t at_ps)
{
  PacketNetwork *net = (PacketNetwork *) base;

  packet_describe (net, packet_engine_message (&net->engine, message, at_ps), at_ps);
}

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

/* --- The run --- */

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
  case CODE_INJECT: packet_inject (net, node, event.argument); break;
  case CODE_FIFO: packet_fifo_ready (net, node, port_index); break;
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
PREFETCHES
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
  net->named[CODE_INJECT / 16].size = sizeof (Descriptor);
  net->named[CODE_FIFO / 16].table = (const char *) net->fifo;
  net->named[CODE_FIFO / 16].size = sizeof (Fifo);
  net->named[CODE_PORT / 16].size = sizeof (Port);
}

/* Then what that names: of an arriving packet the port it leaves through, or
 * its message, and the port that gets its tokens back; of a FIFO the
 * descriptor.  For other events the same with number 0. */
PREFETCHES
prefetch_next (const PacketNetwork *net, SimEvent event)
{
  uint32_t node = sim_event_node (event), code = sim_event_code (event), in_port = code & 15;
  bool arrives = (code & ~15u) == CODE_ARRIVE;
  const Packet *packet = &net->packet[choose (arrives, event.argument, 0)];
  uint32_t sender = neighbour_at (net, node, topo_port_opposite (in_port));
  uintptr_t port =
      (uintptr_t) port_at (net, node, route_torus_next_port (&net->route, &packet->way));
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
PREFETCHES
prefetch_port (const PacketNetwork *net, SimEvent event)
{
  const Port *port = port_at (net, sim_event_node (event), sim_event_code (event) & 15);

  __builtin_prefetch (port->returns, 1);
}

/* What that port may choose among. */
PREFETCHES
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
PREFETCHES
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

/* --- Counters --- */

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
  ok = packet_check_idle (net, error);
  collect_counters (net);
  return ok;
}

/* --- Making one --- */

static void
packet_free (SimNetwork *base)
{
  PacketNetwork *net = (PacketNetwork *) base;

  packet_engine_free (&net->engine);
  packet_pools_free (net);
  packet_table_free (net->port);
  packet_table_free (net->receiver);
  packet_table_free (net->reception_ps);
  g_free (net->neighbour);
  packet_table_free (net->waited);
  packet_table_free (net->fifo);
  packet_table_free (net->fifo_messages);
  packet_table_free (net->memory);
  g_free (net->direct_sent);
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
init_times (PacketNetwork *net)
{
  const TopoParameters *p = &net->engine.machine->parameters;
  double wire_Bps = (double) p->link_bandwidth_Bps * (1.0 - p->link_overhead);

  for (uint32_t chunks = 0; chunks < G_N_ELEMENTS (net->wire_ps); chunks++) {
    net->wire_ps[chunks] =
        packet_bytes_ps (chunks * p->chunk_bytes + p->packet_trailer_bytes, wire_Bps);
    net->memory_ps[chunks] =
        packet_bytes_ps (chunks * p->chunk_bytes, (double) p->memory_bandwidth_Bps);
  }
  net->token_latency_ps = p->token_latency_ps;
  net->injection_latency_ps = p->injection_latency_ps;
  net->reception_latency_ps = p->reception_latency_ps;
}

static void
init_port (PacketNetwork *net, uint32_t node, uint32_t port_index)
{
  const TopoParameters *p = &net->engine.machine->parameters;
  Port *port = port_at (net, node, port_index);
  Receiver *receiver = &net->receiver[(size_t) node * net->n_ports + port_index];
  int64_t latency_ps =
      p->hop_latency_ps + topo_machine_extra_latency_ps (net->engine.machine, node, port_index);

  port->neighbour = topo_shape_neighbour (&net->route.shape, node, port_index);
  net->neighbour[(size_t) node * net->n_ports + port_index] = port->neighbour;
  port->latency_ps = (uint32_t) latency_ps;
  port->wake_ps = NEVER_PS;
  port->tokens[ROUTE_VC_DYNAMIC] = (uint16_t) p->dynamic_tokens;
  port->tokens[ROUTE_VC_BUBBLE] = (uint16_t) p->bubble_tokens;
  port->tokens[ROUTE_VC_PRIORITY] = (uint16_t) p->priority_tokens;
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
  net->direct_sent = g_new0 (uint32_t, net->n_nodes);
  for (uint32_t node = 0; node < net->n_nodes; node++) {
    for (uint32_t port_index = 0; port_index < net->n_ports; port_index++)
      init_port (net, node, port_index);
    for (uint32_t fifo = 0; fifo < net->n_fifos; fifo++) {
      net->fifo[(size_t) node * net->n_fifos + fifo].packet = PACKET_NONE;
      net->fifo[(size_t) node * net->n_fifos + fifo].last_feeder = PACKET_NONE;
    }
  }
}

/* What the fields of the hot path can hold. */
static gboolean
check_limits (const TopoMachine *machine, GError **error)
{
  const TopoParameters *p = &machine->parameters;
  uint64_t software_bytes =
      MAX (2 * SIM_DESCRIPTOR_BYTES, p->envelope_bytes + SIM_CONTROL_WORDS_BYTES);
  uint64_t payload_bytes = MAX (p->packet_payload_bytes, software_bytes);
  uint64_t chunks = (p->packet_header_bytes + payload_bytes + p->chunk_bytes - 1) / p->chunk_bytes;

  if (p->packet_header_bytes != p->chunk_bytes)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "packet.header: the packet network needs a header of one chunk");
  else if (chunks > 63)
    g_set_error (
        error, SIM_ERROR, SIM_ERROR_NETWORK,
        "packet.chunk: a packet, also one that carries two descriptors or an envelope, may "
        "have at most 63 chunks, not %" G_GUINT64_FORMAT,
        chunks);
  else if (p->packet_payload_bytes > UINT16_MAX)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK, "packet.payload: at most 65535 bytes");
  else if (p->envelope_bytes > UINT8_MAX)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK, "mpi.envelope: at most 255 bytes");
  else if (p->hop_latency_ps > 1000000000 || p->token_latency_ps < 1)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "link.hop_latency: must be below 1 ms, link.token_latency above 0");
  else if (p->dynamic_tokens > 60000 || p->bubble_tokens > 60000 || p->priority_tokens > 60000)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK, "router: at most 60000 tokens");
  else if (topo_shape_nodes (&machine->shape) > SIM_SCHEDULE_MAX_NODES)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK, "more nodes than the schedule can hold");
  else
    return TRUE;
  return FALSE;
}

SimNetwork *
sim_packet_new (const TopoMachine *machine, const TopoMapping *mapping, RoutePolicy policy,
                const SimClient *client, void *client_data, GError **error)
{
  const TopoParameters *p = &machine->parameters;
  PacketNetwork *net;

  if (!check_limits (machine, error))
    return NULL;
  net = g_new0 (PacketNetwork, 1);
  net->engine.base = (SimNetwork){
    .class = &packet_class,
    .client = client,
    .client_data = client_data,
    .lookahead_ps = MIN (p->hop_latency_ps, p->token_latency_ps),
    .counters = sim_counters_new (machine),
  };
  net->engine.machine = machine;
  net->engine.mapping = mapping;
  net->policy = policy;
  route_torus_init (&net->route, &machine->shape);
  net->n_nodes = topo_shape_nodes (&machine->shape);
  net->n_ports = topo_shape_ports (&machine->shape);
  net->n_fifos = net->n_ports + 1;
  net->n_queues = (uint32_t) p->dynamic_queues;
  net->chunk_bytes = (uint32_t) p->chunk_bytes;
  net->payload_bytes = (uint32_t) p->packet_payload_bytes;
  net->reception_depth = (uint32_t) p->reception_packets;
  net->receiver_grants = (uint32_t) p->receiver_grants;
  net->escape = p->escape;
  net->stay_on_bubble = p->stay_on_bubble;
  init_times (net);
  init_nodes (net);
  net->is_large = (size_t) net->n_nodes * net->n_ports * sizeof (Port) > LARGE_BYTES;
  net->engine.schedule = sim_schedule_new (net->n_nodes, net->engine.base.lookahead_ps);
  return &net->engine.base;
}
