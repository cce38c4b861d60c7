/* ib.c - the packet network of a switched fabric: limits, construction, messages, run and laws.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * ib_traffic.c moves the packets. */
#include "sim/net/ib_state.h"
#include "sim/net/ib_state.h"
#include "sim/node/memory.h"

/* --- Limits --- */

/* A lane that no entry with a weight names would wait for ever. */
static bool
is_served (const TopoParameters *p, uint32_t vl)
{
  const TopoVlWeights *tables[] = { &p->switches.vlarb_high, &p->switches.vlarb_low };

  for (size_t table = 0; table < G_N_ELEMENTS (tables); table++)
    for (uint32_t entry = 0; entry < tables[table]->n; entry++)
      if (tables[table]->vl[entry] == vl && tables[table]->weight[entry] > 0)
        return true;
  return false;
}

static gboolean
check_lanes (const IbNetwork *net, GError **error)
{
  const TopoParameters *p = net->parameters;

  if (net->n_vls > p->switches.vls) {
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "%s: the tables (%s) use %u virtual lanes, switch.vls is %" G_GUINT64_FORMAT,
                 net->fabric->source, net->tables->engine, net->n_vls, p->switches.vls);
    return FALSE;
  }
  for (uint32_t vl = 0; net->n_vls > 1 && vl < net->n_vls; vl++)
    if (!is_served (p, vl)) {
      g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                   "VL %u has a weight neither in switch.vlarb_high nor in switch.vlarb_low", vl);
      return FALSE;
    }
  return TRUE;
}

/* Blocks of a buffer that one lane has. */
static uint64_t
lane_blocks (const TopoParameters *p, uint64_t buffer_bytes)
{
  return buffer_bytes / p->switches.vls / p->ib.block_bytes;
}

/* The largest packet takes whole blocks; without room for it in every buffer it
 * would never move. */
static gboolean
check_buffers (const TopoParameters *p, uint64_t packet_blocks, GError **error)
{
  const char *key = NULL;

  if (lane_blocks (p, p->switches.buffer_bytes) < packet_blocks)
    key = "switch.buffer";
  else if (lane_blocks (p, p->hca.buffer_bytes) < packet_blocks)
    key = "hca.buffer";
  if (key)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "%s must hold at least %" G_GUINT64_FORMAT " blocks of ib.block per data VL, "
                 "one full packet",
                 key, packet_blocks);
  return key == NULL;
}

/* What the fields of the hot path can hold. */
static gboolean
check_limits (const IbNetwork *net, GError **error)
{
  const TopoParameters *p = net->parameters;
  uint64_t frame_bytes =
      MAX (p->ib.header_bytes + p->ib.rdma_header_bytes + p->ib.mtu_bytes, p->ib.ack_bytes);
  uint64_t blocks = (frame_bytes + p->ib.block_bytes - 1) / p->ib.block_bytes;

  if (blocks > IB_MAX_BLOCKS)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "ib.block: a packet may have at most %d blocks, not %" G_GUINT64_FORMAT,
                 IB_MAX_BLOCKS, blocks);
  else if (p->switches.latency_ps + p->ib.cable_latency_ps >= INT64_C (4000000000))
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "switch.latency and ib.cable_latency: together at most 4 ms");
  else if (net->tables->n_destinations > UINT16_MAX || net->n_units > SIM_SCHEDULE_MAX_NODES)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK, "%s: more ports of adapters than 65535",
                 net->fabric->source);
  else if (net->adaptive && net->tables->group == NULL)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "switch.adaptive: the paths were made for switches that are not");
  else
    return check_buffers (p, blocks, error) && check_lanes (net, error);
  return FALSE;
}

/* --- Construction --- */

static void
add_port (IbNetwork *net, uint32_t unit, uint32_t number, uint32_t index, uint32_t *n)
{
  net->unit_port[(*n)++] = index;
  net->port[index].number = (uint8_t) number;
  net->port[index].peer_unit = unit; /* its own for the moment: init_link() reads the peer's */
}

static gboolean
number_node (IbNetwork *net, uint32_t node, uint32_t *n, GError **error)
{
  const TopoHost *host = &net->fabric->hosts[node];
  uint32_t number = 0;

  for (uint32_t rail = host->first_rail; rail < host->first_rail + host->n_rails; rail++) {
    const TopoDevice *device = &net->fabric->devices[net->fabric->rails[rail]];

    for (uint32_t at = 0; at < device->n_ports; at++, number++) {
      if (number == IB_MAX_NUMBERS) {
        g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK, "%s: node \"%s\" has more than %d ports",
                     net->fabric->source, host->name, IB_MAX_NUMBERS);
        return FALSE;
      }
      add_port (net, ib_node_unit (net, node), number, device->first_port + at, n);
    }
  }
  return TRUE;
}

/* Gives every port its unit and its number there. */
static gboolean
number_ports (IbNetwork *net, GError **error)
{
  uint32_t n = 0;

  net->unit_first = g_new0 (uint32_t, net->n_units + 1);
  net->unit_port = g_new0 (uint32_t, net->fabric->n_ports + net->n_switches + 1);
  for (uint32_t unit = 0; unit < net->n_switches; unit++) {
    const TopoDevice *device = &net->fabric->devices[net->tables->switch_device[unit]];

    if (device->n_ports >= IB_MAX_NUMBERS) {
      g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK, "%s: switch \"%s\" has more than %d ports",
                   net->fabric->source, device->name, IB_MAX_NUMBERS - 1);
      return FALSE;
    }
    net->unit_first[unit] = n++; /* number 0 is the switch itself */
    for (uint32_t at = 0; at < device->n_ports; at++)
      add_port (net, unit, at + 1, device->first_port + at, &n);
  }
  for (uint32_t node = 0; node < net->fabric->n_hosts; node++) {
    net->unit_first[ib_node_unit (net, node)] = n;
    if (!number_node (net, node, &n, error))
      return FALSE;
  }
  return TRUE;
}

static uint64_t
byte_ps_q32 (uint64_t bandwidth_Bps)
{
  return (uint64_t) (1e12 / (double) bandwidth_Bps * 4294967296.0 + 0.5);
}

static void
init_link (IbNetwork *net, uint32_t index, uint32_t *n_queues, const uint32_t *unit_of)
{
  const TopoParameters *p = net->parameters;
  const TopoFabric *fabric = net->fabric;
  const TopoPort *topo = &fabric->ports[index], *peer;
  const TopoDevice *device = &fabric->devices[topo->device];
  IbPort *port = &net->port[index];
  uint64_t buffer_bytes;

  port->peer = topo->peer == TOPO_NONE ? PACKET_NONE : topo->peer;
  port->wake_ps = port->blocked_ps = NEVER_PS;
  port->n_queues = (uint16_t) (device->is_switch ? device->n_ports + 1 : IB_QUEUES);
  port->queues = *n_queues;
  if (port->peer == PACKET_NONE)
    return;
  *n_queues += port->n_queues * net->n_vls;
  port->peer_unit = unit_of[port->peer];
  port->peer_number = net->port[port->peer].number;
  port->to_adapter = !fabric->devices[fabric->ports[port->peer].device].is_switch;
  port->latency_ps =
      (uint32_t) (p->ib.cable_latency_ps + (port->to_adapter ? 0 : p->switches.latency_ps));
  /* Both ends of a cable run at the rate of the slower one. */
  peer = &fabric->ports[port->peer];
  port->ps_q32 = byte_ps_q32 (MIN (topo_link_bandwidth_Bps (topo->lanes, (TopoSpeed) topo->speed),
                                   topo_link_bandwidth_Bps (peer->lanes, (TopoSpeed) peer->speed)));
  buffer_bytes = port->to_adapter ? p->hca.buffer_bytes : p->switches.buffer_bytes;
  for (uint32_t vl = 0; vl < net->n_vls; vl++)
    *ib_lane (net, index, vl) = (IbLane){
      .credits = (uint32_t) lane_blocks (p, buffer_bytes),
      .ring = PACKET_NONE,
    };
}

static void
init_ports (IbNetwork *net)
{
  const TopoParameters *p = net->parameters;
  const TopoFabric *fabric = net->fabric;
  g_autofree uint32_t *unit_of = g_new (uint32_t, fabric->n_ports + 1);
  uint32_t n_queues = 0, most_ports = 1; /* of a switch */

  for (uint32_t device = 0; device < fabric->n_devices; device++)
    if (fabric->devices[device].is_switch)
      most_ports = MAX (most_ports, fabric->devices[device].n_ports);
  for (uint32_t port = 0; port < fabric->n_ports; port++)
    unit_of[port] = net->port[port].peer_unit;
  net->lane = packet_table_new (sizeof (IbLane) * MAX (1, fabric->n_ports) * net->n_vls);
  for (uint32_t port = 0; port < fabric->n_ports * net->n_vls; port++)
    net->lane[port].ring = PACKET_NONE;
  for (uint32_t port = 0; port < fabric->n_ports; port++)
    init_link (net, port, &n_queues, unit_of);
  net->queue = packet_table_new (sizeof (PacketList) * MAX (1, n_queues));
  for (uint32_t queue = 0; queue < n_queues; queue++)
    net->queue[queue] = (PacketList){ PACKET_NONE, PACKET_NONE };
  /* A port sends one packet at a time, so more slots than ports are never taken. */
  net->n_words = most_ports / 64 + 1;
  net->n_reads = (uint32_t) MIN (net->parameters->switches.reads, most_ports);
  net->read_ps = packet_table_new (sizeof (int64_t) * MAX (1, fabric->n_ports) * net->n_reads);
  net->claims = packet_table_new (sizeof (IbClaims) * MAX (1, fabric->n_ports));
  net->waited = g_new0 (Waited, fabric->n_ports + 1);
  net->adapter = g_new0 (IbAdapter, fabric->n_devices + 1);
  net->is_arbitrated = net->n_vls > 1;
  net->arbiter = g_new0 (IbArbiter, net->is_arbitrated ? fabric->n_ports : 1);
  for (uint32_t port = 0; net->is_arbitrated && port < fabric->n_ports; port++)
    net->arbiter[port] = (IbArbiter){
      .high = { 0, p->switches.vlarb_high.weight[0] },
      .low = { 0, p->switches.vlarb_low.weight[0] },
      .high_left_bytes = (int64_t) p->switches.high_limit * TOPO_VL_LIMIT_BYTES,
    };
}

/* The shortest of what one unit does to another: a head through a cable and
 * a switch, all of the shortest packet through a cable, credits. */
static int64_t
shortest_ps (const IbNetwork *net)
{
  const TopoParameters *p = net->parameters;
  const IbPacket least = { .frame_bytes = (uint16_t) MIN (p->ib.ack_bytes, p->ib.header_bytes) };
  int64_t shortest = MIN (p->ib.credit_latency_ps, p->ib.cable_latency_ps + p->switches.latency_ps);

  for (uint32_t index = 0; index < net->fabric->n_ports; index++) {
    const IbPort *port = &net->port[index];

    if (port->peer != PACKET_NONE && port->to_adapter)
      shortest = MIN (shortest, p->ib.cable_latency_ps + ib_wire_ps (net, port, &least));
  }
  return shortest;
}

/* Ports, buffers and credits; false and *error for what they cannot hold. */
static gboolean
init (IbNetwork *net, GError **error)
{
  const TopoParameters *p = net->parameters;
  const RouteForwarding *tables = net->tables;

  net->n_switches = tables->n_switches;
  net->n_units = tables->n_switches + net->fabric->n_hosts;
  net->n_vls = MAX (1, tables->n_vls);
  net->adaptive = p->switches.adaptive == TOPO_ADAPTIVE_FREE;
  net->framing_bytes = (uint32_t) p->ib.framing_bytes;
  net->mtu_bytes = (uint32_t) p->ib.mtu_bytes;
  net->block_bytes = (uint32_t) p->ib.block_bytes;
  net->read_ahead = (uint32_t) p->hca.read_ahead;
  net->pcie_ps_q32 = byte_ps_q32 (p->hca.pcie_bandwidth_Bps);
  net->credit_latency_ps = p->ib.credit_latency_ps;
  /* Waiting blocks above which packets are marked. */
  net->mark_blocks = (uint32_t) (lane_blocks (p, p->switches.buffer_bytes) *
                                 (15 - MIN (p->congestion.threshold, 15)) / 15);
  net->port = packet_table_new (sizeof (IbPort) * MAX (1, net->fabric->n_ports));
  if (!check_limits (net, error) || !number_ports (net, error))
    return FALSE;
  init_ports (net);
  net->home = g_new (uint32_t, tables->n_destinations + 1);
  for (uint32_t destination = 0; destination < tables->n_destinations; destination++)
    net->home[destination] =
        route_forwarding_behind (tables, tables->destination_port[destination]);
  net->engine.base.lookahead_ps = shortest_ps (net);
  net->engine.schedule = sim_schedule_new (net->n_units, net->engine.base.lookahead_ps);
  return TRUE;
}

/* --- The laws at the end of a run ---
 *
 * Every packet is delivered, every credit is back, bytes in = bytes out.  When
 * packets are left, nothing can ever move them: the dump names the ports where
 * they wait and, when these wait for each other in a circle, the circle
 * (infiniband.md section A6: not all tables are free of them). */

#define DUMPED_LANES 20u

static bool
is_blocked (const IbNetwork *net, uint32_t index, uint32_t vl)
{
  return ib_lane (net, index, vl)->queued_blocks > 0;
}

/* One node of the search: a lane in which packets wait.  It waits for each
 * lane that a packet in the buffer it leads to wants. */
typedef struct {
  const IbNetwork *net;
  uint8_t *state;  /* [port * n_vls + VL] */
  uint32_t *stack; /* lanes on the way, with the output looked at last */
  uint32_t *looked;
  uint32_t depth;
} Search;

enum { UNSEEN, ON_THE_WAY, DONE };

/* The next lane, after number *looked of the switch, that a packet which came
 * in through the far end of this one waits for; PACKET_NONE: none. */
static uint32_t
next_waited_for (const IbNetwork *net, uint32_t lane, uint32_t *looked)
{
  const IbPort *port = &net->port[lane / net->n_vls];
  const TopoDevice *device = &net->fabric->devices[net->fabric->ports[port->peer].device];

  if (port->to_adapter)
    return PACKET_NONE;
  while (*looked < device->n_ports * net->n_vls) {
    uint32_t at = (*looked)++;
    uint32_t out = device->first_port + at / net->n_vls, vl = at % net->n_vls;

    if (net->port[out].peer != PACKET_NONE &&
        ib_queue (net, &net->port[out], vl, port->peer_number)->head != PACKET_NONE)
      return out * net->n_vls + vl;
  }
  return PACKET_NONE;
}

static void
step_on (Search *search, uint32_t lane)
{
  search->state[lane] = ON_THE_WAY;
  search->looked[search->depth] = 0;
  search->stack[search->depth++] = lane;
}

/* Depth first from a lane; true when the way comes back to itself: *first is
 * then where on the stack the circle begins. */
static bool
find_circle (Search *search, uint32_t lane, uint32_t *first)
{
  step_on (search, lane);
  while (search->depth > 0) {
    uint32_t top = search->depth - 1;
    uint32_t next = next_waited_for (search->net, search->stack[top], &search->looked[top]);

    if (next == PACKET_NONE) {
      search->state[search->stack[top]] = DONE;
      search->depth--;
    } else if (search->state[next] == ON_THE_WAY) {
      for (*first = 0; search->stack[*first] != next;)
        ++*first;
      return true;
    } else if (search->state[next] == UNSEEN) {
      step_on (search, next);
    }
  }
  return false;
}

static void
print_lane (const IbNetwork *net, uint32_t lane, GString *out)
{
  g_autofree char *name = topo_fabric_port_name (net->fabric, lane / net->n_vls);

  g_string_append_printf (out, "%s VL %u", name, lane % net->n_vls);
}

static void
print_circle (const IbNetwork *net, GString *out)
{
  uint32_t n_lanes = net->fabric->n_ports * net->n_vls, first;
  g_autofree uint8_t *state = g_new0 (uint8_t, n_lanes);
  g_autofree uint32_t *stack = g_new (uint32_t, n_lanes);
  g_autofree uint32_t *looked = g_new (uint32_t, n_lanes);
  Search search = { net, state, stack, looked, 0 };

  for (uint32_t lane = 0; lane < n_lanes; lane++) {
    if (!is_blocked (net, lane / net->n_vls, lane % net->n_vls) || state[lane] != UNSEEN ||
        !find_circle (&search, lane, &first))
      continue;
    g_string_append (out, "\n  credit loop:");
    for (uint32_t at = first; at < search.depth; at++) {
      g_string_append (out, "\n    ");
      print_lane (net, stack[at], out);
      g_string_append (out, " ->");
    }
    g_string_append (out, "\n    ");
    print_lane (net, stack[first], out);
    return;
  }
}

static void
print_blocked (const IbNetwork *net, GString *out)
{
  uint32_t n_printed = 0;

  for (uint32_t index = 0; index < net->fabric->n_ports && n_printed < DUMPED_LANES; index++)
    for (uint32_t vl = 0; vl < net->n_vls; vl++) {
      const IbPort *port = &net->port[index];
      uint32_t n_waiting;

      if (port->peer == PACKET_NONE || !is_blocked (net, index, vl))
        continue;
      n_waiting = 0;
      for (uint32_t input = 0; input < port->n_queues; input++)
        for (uint32_t packet = ib_queue (net, port, vl, input)->head; packet != PACKET_NONE;
             packet = net->engine.next[packet])
          n_waiting++;
      g_string_append (out, "\n  ");
      print_lane (net, index * net->n_vls + vl, out);
      g_string_append_printf (out, ": %u packets wait, %u credits", n_waiting,
                              ib_lane (net, index, vl)->credits);
      n_printed++;
    }
}

/* Credits at the sender plus those on their way back. */
static bool
credits_complete (const IbNetwork *net, uint32_t index)
{
  const TopoParameters *p = net->parameters;
  const IbPort *port = &net->port[index];
  uint64_t buffer_bytes = port->to_adapter ? p->hca.buffer_bytes : p->switches.buffer_bytes;

  for (uint32_t vl = 0; vl < net->n_vls; vl++) {
    uint64_t credits = ib_lane (net, index, vl)->credits;

    for (uint32_t i = 0; i < port->n_returns; i++)
      if ((port->returns[i] >> 8 & 15) == vl)
        credits += port->returns[i] & 255;
    if (credits != buffer_bytes / p->switches.vls / p->ib.block_bytes)
      return false;
  }
  return true;
}

/* Everything is where it was before the run: no packet, every credit back,
 * bytes in = bytes out.  SIM_ERROR_STALL with a dump of what is blocked, and
 * the loop that it waits in, otherwise. */
static gboolean
check_idle (IbNetwork *net, GError **error)
{
  if (net->refusal != NULL) {
    g_set_error_literal (error, SIM_ERROR, SIM_ERROR_NETWORK, net->refusal);
    return FALSE;
  }
  if (net->engine.packets.n_taken > 0 || net->requests.n_taken > 0) {
    g_autoptr (GString) out = g_string_new (NULL);

    g_string_append_printf (
        out, "network stalled at %" G_GINT64_FORMAT " ps: %u packets of %u messages cannot move",
        net->engine.now_ps, net->engine.packets.n_taken, net->engine.messages.n_taken);
    print_circle (net, out);
    print_blocked (net, out);
    g_set_error_literal (error, SIM_ERROR, SIM_ERROR_STALL, out->str);
    return FALSE;
  }
  g_assert (net->engine.messages.n_taken == 0);
  g_assert (net->parameters->congestion.is_on || net->pairs.n_taken == 0);
  g_assert (net->engine.payload_sent == net->engine.payload_received);
  for (uint32_t index = 0; index < net->fabric->n_ports; index++)
    if (net->port[index].peer != PACKET_NONE)
      g_assert (credits_complete (net, index) && net->port[index].listed == 0);
  return TRUE;
}

/* --- Messages and timers --- */

static void
ib_network_send (SimNetwork *base, const SimMessage *public, int64_t at_ps)
{
  IbNetwork *net = (IbNetwork *) base;
  uint32_t message_index = packet_engine_message (&net->engine, public, at_ps);
  Message *message = &net->engine.message[message_index];
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
    .is_inline = payload_bytes <= net->parameters->hca.inline_bytes,
  };
  message->packets_left = MAX (1, (payload_bytes + net->mtu_bytes - 1) / net->mtu_bytes);
  message->next = index;
  /* The library's own messages count in no FIFO, as on a torus; nor does the
   * request of a remote get, a write of nothing. */
  if (public->kind == SIM_MESSAGE_SEND || (public->kind == SIM_MESSAGE_WRITE && public->bytes > 0))
    net->engine.base.counters->fifo_messages[source]++;
  ib_push (net, ib_node_unit (net, from), IB_POST, net->port[port].number, index, at_ps);
}

static void
ib_network_timer (SimNetwork *base, uint32_t rank, uint64_t cookie, int64_t at_ps)
{
  IbNetwork *net = (IbNetwork *) base;

  packet_engine_timer (&net->engine, ib_node_unit (net, net->engine.mapping->node[rank]),
                       IB_TIMER << 8, rank, cookie, at_ps);
}

/* --- The run --- */

static void
dispatch (PacketEngine *engine, SimEvent event)
{
  IbNetwork *net = (IbNetwork *) engine;
  uint32_t unit = sim_event_node (event), code = sim_event_code (event);

  switch ((IbKind) (code >> 8)) {
  case IB_CREDIT: ib_credit (net, unit, code & 255, event.argument); break;
  case IB_ARRIVE:
    if (unit < net->n_switches)
      ib_switch_arrive (net, unit, event.argument);
    else
      ib_receive (net, unit, event.argument);
    break;
  case IB_READY: ib_switch_enter (net, unit, event.argument); break;
  case IB_POST: ib_post (net, unit, event.argument); break;
  case IB_ACTIVATE: ib_activate (net, unit, event.argument); break;
  case IB_READ: ib_read_done (net, unit, event.argument); break;
  case IB_PORT: ib_port_wake (net, unit, event.argument); break;
  case IB_SENT: ib_sent (net, event.argument); break;
  case IB_DELIVER: ib_deliver (net, event.argument); break;
  case IB_TIMER: packet_engine_timer_due (engine, event.argument); break;
  }
}

static void
enter_window (PacketEngine *engine)
{
  (void) engine;
}

/* Events ahead at which each step of a chain of records is fetched. */
#define PREFETCH_FIRST  16u
#define PREFETCH_SECOND 12u
#define PREFETCH_THIRD  8u
#define PREFETCH_FOURTH 4u

/* First, what the event itself names: a port with its lane, or a packet. */
static PREFETCHES
prefetch_named (const IbNetwork *net, SimEvent event)
{
  bool is_port = sim_event_code (event) >> 8 == IB_PORT;
  uintptr_t base = choose (is_port, (uintptr_t) net->port, (uintptr_t) net->packet);
  uintptr_t size = choose (is_port, sizeof (IbPort), sizeof (IbPacket));

  __builtin_prefetch ((const void *) (base + size * event.argument), 1);
  if (is_port) {
    __builtin_prefetch (net->port[event.argument].returns, 1);
    __builtin_prefetch (ib_lane (net, event.argument, 0), 1);
  }
}

/* Where an arriving packet goes on, or its message; the port that gets its
 * credits. */
static PREFETCHES
prefetch_arrival (const IbNetwork *net, SimEvent event)
{
  const IbPacket *packet = &net->packet[event.argument];
  uint32_t unit = sim_event_node (event);

  __builtin_prefetch (net->port[net->port[packet->port].peer].returns, 1);
  if (unit < net->n_switches) {
    uint32_t number = route_forwarding_out (net->tables, unit, packet->destination);
    uint32_t out = net->unit_port[net->unit_first[unit] + number];

    __builtin_prefetch (&net->port[out], 1);
    __builtin_prefetch (ib_lane (net, out, packet->vl), 1);
    __builtin_prefetch (&net->read_ps[(size_t) packet->port * net->n_reads], 1);
  } else {
    __builtin_prefetch (&net->engine.message[packet->message], 1);
  }
}

/* The queue that a port will most likely take from. */
static inline const PacketList *
likely_queue (const IbNetwork *net, uint32_t index)
{
  const IbPort *port = &net->port[index];
  const IbLane *lane = ib_lane (net, index, 0);
  uint32_t first = (lane->last_in + 1u) % 64;
  uint64_t later = lane->waiting[0] & ~UINT64_C (0) << first;
  uint64_t bits = later ? later : lane->waiting[0];

  return ib_queue (net, port, 0, bits ? (uint32_t) __builtin_ctzll (bits) : 0);
}

static PREFETCHES
prefetch_second (const IbNetwork *net, SimEvent event)
{
  const IbPacket *packet;

  switch (sim_event_code (event) >> 8) {
  case IB_ARRIVE: prefetch_arrival (net, event); break;
  case IB_READ:
    packet = &net->packet[event.argument];
    __builtin_prefetch (&net->port[packet->port], 1);
    __builtin_prefetch (ib_lane (net, packet->port, packet->vl), 1);
    break;
  case IB_PORT: __builtin_prefetch (likely_queue (net, event.argument), 1); break;
  }
}

/* The pair that is read for next, or the packet that will leave. */
static PREFETCHES
prefetch_third (const IbNetwork *net, SimEvent event)
{
  const IbPacket *packet;

  switch (sim_event_code (event) >> 8) {
  case IB_READ:
    packet = &net->packet[event.argument];
    __builtin_prefetch (&net->pair[ib_lane (net, packet->port, packet->vl)->next_pair], 1);
    break;
  case IB_PORT:
    __builtin_prefetch (&net->packet[likely_queue (net, event.argument)->head], 1);
    break;
  }
}

/* That pair's request. */
static PREFETCHES
prefetch_fourth (const IbNetwork *net, SimEvent event)
{
  if (sim_event_code (event) >> 8 == IB_READ) {
    const IbPacket *packet = &net->packet[event.argument];
    const IbLane *lane = ib_lane (net, packet->port, packet->vl);

    if (lane->ring != PACKET_NONE)
      __builtin_prefetch (&net->request[net->pair[lane->next_pair].head], 1);
  }
}

/* The window's events are known, so what they will touch can be fetched
 * before their turn comes. */
static PREFETCHES
prefetch (const PacketEngine *engine, uint32_t at)
{
  const IbNetwork *net = (const IbNetwork *) engine;
  const SimEvent *due = engine->schedule->due;
  uint32_t n_due = engine->schedule->n_due;

  if (at + PREFETCH_FIRST < n_due)
    prefetch_named (net, due[at + PREFETCH_FIRST]);
  if (at + PREFETCH_SECOND < n_due)
    prefetch_second (net, due[at + PREFETCH_SECOND]);
  if (at + PREFETCH_THIRD < n_due)
    prefetch_third (net, due[at + PREFETCH_THIRD]);
  if (at + PREFETCH_FOURTH < n_due)
    prefetch_fourth (net, due[at + PREFETCH_FOURTH]);
}

static void
collect_counters (IbNetwork *net)
{
  SimCounters *counters = net->engine.base.counters;

  for (uint32_t index = 0; index < net->fabric->n_ports; index++) {
    const IbPort *port = &net->port[index];

    if (port->peer == PACKET_NONE)
      continue;
    counters->link[index] = (SimLinkCounters){
      .payload_bytes = port->payload_bytes,
      .received_packets = port->packets, /* all arrive */
      .buffered_packets = net->waited[port->peer].packets,
      .buffered_ps = net->waited[port->peer].ps,
      .wire_bytes = port->wire_bytes,
      .sent_packets = port->packets,
      .wait_ps = port->wait_ps,
    };
  }
  packet_engine_count (&net->engine);
}

static gboolean
ib_network_run (SimNetwork *base, GError **error)
{
  IbNetwork *net = (IbNetwork *) base;
  gboolean ok;

  packet_engine_run (&net->engine, enter_window, prefetch, dispatch);
  ok = check_idle (net, error);
  collect_counters (net);
  return ok;
}

static void
ib_network_free (SimNetwork *base)
{
  IbNetwork *net = (IbNetwork *) base;

  packet_engine_free (&net->engine);
  packet_table_free (net->port);
  packet_table_free (net->lane);
  packet_table_free (net->queue);
  packet_table_free (net->read_ps);
  packet_table_free (net->claims);
  g_free (net->unit_first);
  g_free (net->unit_port);
  g_free (net->home);
  g_free (net->waited);
  g_free (net->arbiter);
  g_free (net->adapter);
  g_free (net->packet);
  g_free (net->request);
  g_free (net->pair);
  g_free (net->pair_slot);
  g_free (net->refusal);
  g_free (net);
}

static const SimNetworkClass ib_class = {
  .name = "packet",
  .summary = "every packet, virtual lane, credit and queue pair",
  .free = ib_network_free,
  .send = ib_network_send,
  .timer = ib_network_timer,
  .run = ib_network_run,
};

SimNetwork *
sim_ib_new (const TopoMachine *machine, const RoutePaths *paths, const TopoMapping *mapping,
            const SimClient *client, void *client_data, GError **error)
{
  IbNetwork *net = g_new0 (IbNetwork, 1);

  net->engine.base = (SimNetwork){
    .class = &ib_class,
    .client = client,
    .client_data = client_data,
    .counters = sim_counters_new (machine),
    .memory = sim_memory_new (machine),
  };
  net->engine.machine = machine;
  net->engine.mapping = mapping;
  net->paths = paths;
  net->tables = paths->tables;
  net->fabric = machine->fabric;
  net->parameters = &machine->parameters;
  if (!init (net, error)) {
    ib_network_free (&net->engine.base);
    return NULL;
  }
  return &net->engine.base;
}
