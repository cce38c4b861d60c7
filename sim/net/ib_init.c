/* ib_init.c - the ports, buffers and lanes of a fabric.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "sim/net/ib_port.h"

/* --- Limits --- */

static uint64_t
largest_frame_bytes (const TopoParameters *p)
{
  return MAX (p->header_bytes + p->rdma_header_bytes + p->mtu_bytes, p->ack_bytes);
}

/* A lane that no entry with a weight names would wait for ever. */
static bool
is_served (const TopoParameters *p, uint32_t vl)
{
  const TopoVlWeights *tables[] = { &p->vlarb_high, &p->vlarb_low };

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

  if (net->n_vls > p->switch_vls) {
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "%s: the tables (%s) use %u virtual lanes, switch.vls is %" G_GUINT64_FORMAT,
                 net->fabric->source, net->tables->engine, net->n_vls, p->switch_vls);
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
  return buffer_bytes / p->switch_vls / p->block_bytes;
}

/* The largest packet takes whole blocks; without room for it in every buffer it
 * would never move. */
static gboolean
check_buffers (const TopoParameters *p, uint64_t packet_blocks, GError **error)
{
  const char *key = NULL;

  if (lane_blocks (p, p->switch_buffer_bytes) < packet_blocks)
    key = "switch.buffer";
  else if (lane_blocks (p, p->hca_buffer_bytes) < packet_blocks)
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
  uint64_t blocks = (largest_frame_bytes (p) + p->block_bytes - 1) / p->block_bytes;

  if (blocks > IB_MAX_BLOCKS)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "ib.block: a packet may have at most %d blocks, not %" G_GUINT64_FORMAT,
                 IB_MAX_BLOCKS, blocks);
  else if (p->switch_latency_ps + p->cable_latency_ps >= INT64_C (4000000000))
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

/* --- Units --- */

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

/* --- Ports --- */

static uint64_t
byte_ps_q32 (uint64_t bandwidth_Bps)
{
  return (uint64_t) (1e12 / (double) bandwidth_Bps * 4294967296.0 + 0.5);
}

/* Both ends of a cable run at the rate of the slower one. */
static uint64_t
link_ps_q32 (const TopoPort *port, const TopoPort *peer)
{
  uint64_t bandwidth_Bps = MIN (topo_link_bandwidth_Bps (port->lanes, (TopoSpeed) port->speed),
                                topo_link_bandwidth_Bps (peer->lanes, (TopoSpeed) peer->speed));

  return byte_ps_q32 (bandwidth_Bps);
}

static void
init_link (IbNetwork *net, uint32_t index, uint32_t *n_queues, const uint32_t *unit_of)
{
  const TopoParameters *p = net->parameters;
  const TopoFabric *fabric = net->fabric;
  const TopoPort *topo = &fabric->ports[index];
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
      (uint32_t) (p->cable_latency_ps + (port->to_adapter ? 0 : p->switch_latency_ps));
  port->ps_q32 = link_ps_q32 (topo, &fabric->ports[port->peer]);
  buffer_bytes = port->to_adapter ? p->hca_buffer_bytes : p->switch_buffer_bytes;
  for (uint32_t vl = 0; vl < net->n_vls; vl++)
    *ib_lane (net, index, vl) = (IbLane){
      .credits = (uint32_t) lane_blocks (p, buffer_bytes),
      .ring = PACKET_NONE,
    };
}

static void
init_arbiters (IbNetwork *net)
{
  const TopoParameters *p = net->parameters;

  net->is_arbitrated = net->n_vls > 1;
  net->arbiter = g_new0 (IbArbiter, net->is_arbitrated ? net->fabric->n_ports : 1);
  for (uint32_t port = 0; net->is_arbitrated && port < net->fabric->n_ports; port++)
    net->arbiter[port] = (IbArbiter){
      .high = { 0, p->vlarb_high.weight[0] },
      .low = { 0, p->vlarb_low.weight[0] },
      .high_left_bytes = (int64_t) p->high_limit * TOPO_VL_LIMIT_BYTES,
    };
}

static uint32_t
most_ports (const TopoFabric *fabric)
{
  uint32_t most = 1;

  for (uint32_t device = 0; device < fabric->n_devices; device++)
    if (fabric->devices[device].is_switch)
      most = MAX (most, fabric->devices[device].n_ports);
  return most;
}

static void
init_ports (IbNetwork *net)
{
  const TopoFabric *fabric = net->fabric;
  g_autofree uint32_t *unit_of = g_new (uint32_t, fabric->n_ports + 1);
  uint32_t n_queues = 0;

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
  net->n_words = most_ports (fabric) / 64 + 1;
  net->n_reads = (uint32_t) MIN (net->parameters->switch_reads, most_ports (fabric));
  net->read_ps = packet_table_new (sizeof (int64_t) * MAX (1, fabric->n_ports) * net->n_reads);
  net->claims = packet_table_new (sizeof (IbClaims) * MAX (1, fabric->n_ports));
  net->waited = g_new0 (Waited, fabric->n_ports + 1);
  net->adapter = g_new0 (IbAdapter, fabric->n_devices + 1);
  init_arbiters (net);
}

/* --- The clock --- */

/* The shortest of what one unit does to another: a head through a cable and
 * a switch, all of the shortest packet through a cable, credits. */
static int64_t
shortest_ps (const IbNetwork *net)
{
  const TopoParameters *p = net->parameters;
  const IbPacket least = { .frame_bytes = (uint16_t) MIN (p->ack_bytes, p->header_bytes) };
  int64_t shortest = MIN (p->credit_latency_ps, p->cable_latency_ps + p->switch_latency_ps);

  for (uint32_t index = 0; index < net->fabric->n_ports; index++) {
    const IbPort *port = &net->port[index];

    if (port->peer != PACKET_NONE && port->to_adapter)
      shortest = MIN (shortest, p->cable_latency_ps + wire_ps (net, port, &least));
  }
  return shortest;
}

/* Waiting blocks above which packets are marked. */
static uint32_t
mark_blocks (const TopoParameters *p)
{
  uint64_t blocks = lane_blocks (p, p->switch_buffer_bytes);

  return (uint32_t) (blocks * (15 - MIN (p->cc_threshold, 15)) / 15);
}

gboolean
ib_init (IbNetwork *net, GError **error)
{
  const TopoParameters *p = net->parameters;
  const RouteForwarding *tables = net->tables;

  net->n_switches = tables->n_switches;
  net->n_units = tables->n_switches + net->fabric->n_hosts;
  net->n_vls = MAX (1, tables->n_vls);
  net->adaptive = p->adaptive == TOPO_ADAPTIVE_FREE;
  net->framing_bytes = (uint32_t) p->framing_bytes;
  net->mtu_bytes = (uint32_t) p->mtu_bytes;
  net->block_bytes = (uint32_t) p->block_bytes;
  net->read_ahead = (uint32_t) p->hca_read_ahead;
  net->pcie_ps_q32 = byte_ps_q32 (p->pcie_bandwidth_Bps);
  net->credit_latency_ps = p->credit_latency_ps;
  net->mark_blocks = mark_blocks (p);
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
