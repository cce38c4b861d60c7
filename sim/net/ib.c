/* ib.c - the packet network of a switched fabric: limits, construction, messages, run and laws.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * ib_adapter.c and ib_traffic.c move the packets. */
#include "sim/net/ib_state.h"
#include "sim/node/memory.h"

#include <string.h>

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

/* Of all cables, with error correction. */
static int64_t
longest_cable_ps (const IbNetwork *net)
{
  int64_t longest_ps = net->parameters->ib.cable_latency_ps;

  for (uint32_t port = 0; port < net->fabric->n_ports; port++)
    longest_ps = MAX (longest_ps, topo_machine_cable_latency_ps (net->engine.machine, port));
  return longest_ps;
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
  else if (p->switches.latency_ps + longest_cable_ps (net) >= INT64_C (4000000000))
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "switch.latency, ib.cable_latency and error correction: together at most 4 ms");
  else if (net->tables->n_destinations > UINT16_MAX)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK, "%s: more ports of adapters than 65535",
                 net->fabric->source);
  else if (net->fabric->n_ports > IB_MAX_PORTS)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK, "%s: more ports than %u", net->fabric->source,
                 IB_MAX_PORTS);
  else if (net->adaptive &&
           (net->tables->group == NULL ||
            (p->switches.adaptive == TOPO_ADAPTIVE_DETOURS) != (net->tables->detour != NULL)))
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "switch.adaptive: the paths were made for switches that are not");
  else
    return check_buffers (p, blocks, error) && check_lanes (net, error);
  return FALSE;
}

/* --- Construction --- */

/* Gives every port its number in its unit, and every adapter its node. */
static gboolean
number_ports (IbNetwork *net, GError **error)
{
  const TopoFabric *fabric = net->fabric;

  for (uint32_t unit = 0; unit < net->n_switches; unit++) {
    const TopoDevice *device = &fabric->devices[net->tables->switch_device[unit]];

    if (device->n_ports >= IB_MAX_NUMBERS) {
      g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK, "%s: switch \"%s\" has more than %d ports",
                   fabric->source, device->name, IB_MAX_NUMBERS - 1);
      return FALSE;
    }
    for (uint32_t at = 0; at < device->n_ports; at++) {
      net->port[device->first_port + at].number = (uint8_t) at;
      net->unit[device->first_port + at] = unit;
    }
  }
  for (uint32_t node = 0; node < fabric->n_hosts; node++) {
    const TopoHost *host = &fabric->hosts[node];
    uint32_t number = 0;

    for (uint32_t rail = host->first_rail; rail < host->first_rail + host->n_rails; rail++) {
      const TopoDevice *device = &fabric->devices[fabric->rails[rail]];

      net->adapter[fabric->rails[rail]] =
          (IbAdapter){ .node = node, .first_port = device->first_port, .n_ports = device->n_ports };
      for (uint32_t at = 0; at < device->n_ports; at++) {
        if (number == IB_MAX_NUMBERS) {
          g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                       "%s: node \"%s\" has more than %d ports", fabric->source, host->name,
                       IB_MAX_NUMBERS);
          return FALSE;
        }
        net->port[device->first_port + at].number = (uint8_t) number++;
        net->unit[device->first_port + at] = fabric->rails[rail];
      }
    }
  }
  return TRUE;
}

static uint64_t
byte_ps_q32 (uint64_t bandwidth_Bps)
{
  return (uint64_t) (1e12 / (double) bandwidth_Bps * 4294967296.0 + 0.5);
}

static void
init_link (IbNetwork *net, uint32_t index)
{
  const TopoParameters *p = net->parameters;
  const TopoFabric *fabric = net->fabric;
  const TopoPort *topo = &fabric->ports[index], *peer;
  const TopoDevice *device = &fabric->devices[topo->device], *peer_device;
  IbPort *port = &net->port[index];
  uint64_t buffer_bytes;

  port->peer = topo->peer == TOPO_NONE ? PACKET_NONE : topo->peer;
  port->wake_ps = NEVER_PS;
  port->alone = PACKET_NONE;
  port->first = device->first_port;
  port->is_switch = device->is_switch;
  port->n_queues = (uint16_t) (device->is_switch ? device->n_ports : IB_QUEUES);
  port->queues = net->n_queues;
  /* The first port of a switch has the first turn, and data at an adapter. */
  ib_input (net, index)->last_out = (uint8_t) (64 * net->n_words - 1);
  ib_input (net, index)->sender = port->peer;
  for (uint32_t vl = 0; vl < net->n_vls; vl++) {
    ib_lane (net, index, vl)->last_in = device->is_switch ? (uint8_t) (64 * net->n_words - 1) : 0;
    for (uint32_t i = 0; i < IB_RETURNS; i++)
      ib_lane (net, index, vl)->returns[i] = IB_NO_RETURN;
    ib_stage (net, index, vl)->ring = PACKET_NONE;
  }
  if (port->peer == PACKET_NONE)
    return;
  net->n_queues += port->n_queues * net->n_vls;
  peer = &fabric->ports[port->peer];
  peer_device = &fabric->devices[peer->device];
  port->peer_first = peer_device->first_port;
  port->peer_switch = net->unit[port->peer];
  port->peer_number = net->port[port->peer].number;
  port->to_adapter = !peer_device->is_switch;
  port->latency_ps = (uint32_t) (topo_machine_cable_latency_ps (net->engine.machine, index) +
                                 (port->to_adapter ? 0 : p->switches.latency_ps));
  /* Both ends of a cable run at the rate of the slower one. */
  port->ps_q32 = byte_ps_q32 (MIN (topo_link_bandwidth_Bps (topo->lanes, (TopoSpeed) topo->speed),
                                   topo_link_bandwidth_Bps (peer->lanes, (TopoSpeed) peer->speed)));
  buffer_bytes = port->to_adapter ? p->hca.buffer_bytes : p->switches.buffer_bytes;
  for (uint32_t vl = 0; vl < net->n_vls; vl++)
    ib_lane (net, index, vl)->credits = (uint32_t) lane_blocks (p, buffer_bytes);
}

static void
init_ports (IbNetwork *net)
{
  const TopoParameters *p = net->parameters;
  const TopoFabric *fabric = net->fabric;
  size_t n_ports = MAX (1, fabric->n_ports);
  uint32_t most_ports = 1; /* of a switch */

  for (uint32_t device = 0; device < fabric->n_devices; device++)
    if (fabric->devices[device].is_switch)
      most_ports = MAX (most_ports, fabric->devices[device].n_ports);
  net->n_words = (most_ports + 63) / 64;
  /* A port sends one packet at a time, so more slots than ports are never taken. */
  net->n_reads = (uint32_t) MIN (net->parameters->switches.reads, most_ports);
  net->lanes = packet_table_new (ib_lane_bytes (net) * n_ports * net->n_vls);
  net->inputs = packet_table_new (ib_input_bytes (net) * n_ports);
  net->stage = packet_table_new (sizeof (IbStage) * n_ports * net->n_vls);
  net->sent = packet_table_new (sizeof (IbSent) * n_ports);
  for (uint32_t port = 0; port < fabric->n_ports; port++)
    init_link (net, port);
  net->queue = packet_table_new (sizeof (IbQueue) * MAX (1, net->n_queues));
  net->arbiter = g_new0 (IbArbiter, net->n_vls > 1 ? fabric->n_ports : 1);
  for (uint32_t port = 0; net->n_vls > 1 && port < fabric->n_ports; port++)
    net->arbiter[port] = (IbArbiter){
      .high = { 0, p->switches.vlarb_high.weight[0] },
      .low = { 0, p->switches.vlarb_low.weight[0] },
      .high_left_bytes = (int64_t) p->switches.high_limit * TOPO_VL_LIMIT_BYTES,
    };
}

/* Longer windows have more of what their own events cause (a packet takes some 0.5 us, a hop 0.1). */
#define LONGEST_WINDOW_PS (INT64_C (1) << 16)

/* The shortest of what a switch or an adapter does to another switch: a head through a cable and a
 * switch, credits.  Adapters come after switches in a window, so that packets may reach them in it. */
static int64_t
shortest_to_switch_ps (const TopoParameters *p)
{
  return MIN (p->ib.credit_latency_ps, p->ib.cable_latency_ps + p->switches.latency_ps);
}

/* The shortest of what one unit does to another: a head through a cable and
 * a switch, all of the shortest packet through a cable, credits. */
static int64_t
shortest_ps (const IbNetwork *net)
{
  const TopoParameters *p = net->parameters;
  const IbPacket least = { .frame_bytes = (uint16_t) MIN (p->ib.ack_bytes, p->ib.header_bytes) };
  int64_t shortest = shortest_to_switch_ps (p);

  for (uint32_t index = 0; index < net->fabric->n_ports; index++) {
    const IbPort *port = &net->port[index];

    if (port->peer != PACKET_NONE && port->to_adapter)
      shortest = MIN (shortest, p->ib.cable_latency_ps + ib_wire_ps (net, port, &least));
  }
  return shortest;
}

void
ib_set_windows (IbNetwork *net, int64_t most_ps)
{
  if (net->switches.ring != NULL) {
    calendar_clear (&net->switches);
    calendar_clear (&net->engine.calendar);
  }
  calendar_init (&net->switches, most_ps);
  calendar_init (&net->engine.calendar, most_ps);
}

static void
make_record (Pool *pool, void **records, size_t size, size_t next_offset)
{
  uint32_t index = pool_take (pool, records, size, next_offset);

  memset ((char *) *records + index * size, 0, size);
  pool_give (pool, *records, size, next_offset, index);
}

/* Contexts and receive queues are looked at when a node's ranks may need more than an adapter holds. */
static void
init_contexts (IbNetwork *net)
{
  const TopoParameters *p = net->parameters;
  const TopoMapping *mapping = net->engine.mapping;
  uint32_t n_fetches = (uint32_t) p->hca.context_fetches;
  uint64_t contexts = p->hca.contexts, queues = p->hca.receive_queues;
  uint64_t most_contexts = 0, most_queues = 0, n_rails = 1, of_two_ranks;
  g_autofree uint32_t *n_ranks = g_new0 (uint32_t, net->fabric->n_hosts + 1);

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++)
    n_ranks[mapping->node[rank]]++;
  for (uint32_t node = 0; node < net->fabric->n_hosts; node++)
    n_rails = MAX (n_rails, net->fabric->hosts[node].n_rails);
  /* A connection for sends and one for writes; on several adapters for each direction. */
  of_two_ranks = n_rails > 1 ? 4 * n_rails : 2;
  for (uint32_t node = 0; node < net->fabric->n_hosts; node++) {
    uint64_t n = n_ranks[node];

    most_contexts = MAX (most_contexts, of_two_ranks * n * (mapping->n_ranks - n));
    most_queues = MAX (most_queues, 2 * n);
  }
  ib_contexts_init (&net->contexts, contexts >= most_contexts ? 0 : (uint32_t) contexts, n_fetches,
                    p->hca.context_miss_ps, net->fabric->n_devices);
  ib_contexts_init (&net->receive_queues, queues >= most_queues ? 0 : (uint32_t) queues, n_fetches,
                    p->hca.queue_miss_ps, net->fabric->n_devices);
}

/* Ports, buffers and credits; false and *error for what they cannot hold. */
static gboolean
init (IbNetwork *net, GError **error)
{
  const TopoParameters *p = net->parameters;
  const RouteForwarding *tables = net->tables;

  net->n_switches = tables->n_switches;
  net->n_vls = MAX (1, tables->n_vls);
  net->adaptive = p->switches.adaptive != TOPO_ADAPTIVE_NONE;
  net->buffer_blocks = (uint32_t) lane_blocks (p, p->switches.buffer_bytes);
  net->framing_bytes = (uint32_t) p->ib.framing_bytes;
  net->mtu_bytes = (uint32_t) p->ib.mtu_bytes;
  net->engine.base.most_shrink =
      MAX (1, (uint32_t) ((UINT16_MAX - p->ib.rdma_header_bytes) /
                          (p->ib.mtu_bytes + p->ib.header_bytes + p->ib.framing_bytes)));
  sim_network_set_shrink (&net->engine.base, 1);
  net->block_bytes = (uint32_t) p->ib.block_bytes;
  net->read_ahead = (uint32_t) p->hca.read_ahead;
  net->turn_packets = p->congestion.is_on ? 1 : (uint32_t) p->hca.turn_packets;
  net->pcie_ps_q32 = byte_ps_q32 (p->hca.pcie_bandwidth_Bps);
  net->credit_latency_ps = p->ib.credit_latency_ps;
  init_contexts (net);
  /* Waiting blocks above which packets are marked. */
  net->mark_blocks = (uint32_t) (lane_blocks (p, p->switches.buffer_bytes) *
                                 (15 - MIN (p->congestion.threshold, 15)) / 15);
  /* One more, as fetching ahead takes the queue of an adapter for a port. */
  net->port = packet_table_new (sizeof (IbPort) * (net->fabric->n_ports + 1));
  net->adapter = g_new0 (IbAdapter, net->fabric->n_devices + 1);
  net->unit = g_new (uint32_t, net->fabric->n_ports + 1);
  net->n_events = g_new0 (uint32_t, net->n_switches + 1);
  if (!check_limits (net, error) || !number_ports (net, error))
    return FALSE;
  init_ports (net);
  net->home = g_new (uint32_t, tables->n_destinations + 1);
  for (uint32_t destination = 0; destination < tables->n_destinations; destination++)
    net->home[destination] =
        route_forwarding_behind (tables, tables->destination_port[destination]);
  net->engine.base.lookahead_ps = shortest_ps (net);
  ib_set_windows (net, MIN (LONGEST_WINDOW_PS, shortest_to_switch_ps (p)));
  /* Fetching ahead reads record 0 of each pool for nothing. */
  make_record (&net->packets, (void **) &net->packet, sizeof (IbPacket), offsetof (IbPacket, next));
  make_record (&net->pairs, (void **) &net->pair, sizeof (IbPair), offsetof (IbPair, next));
  make_record (&net->requests, (void **) &net->request, sizeof (IbRequest),
               offsetof (IbRequest, next));
  packet_engine_make_messages (&net->engine);
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

static bool
is_queued (const IbNetwork *net, uint32_t port, uint32_t vl, uint32_t input)
{
  IbLane *lane = ib_lane (net, port, vl);

  return ((ib_waiting (lane)[input / 64] | ib_future (net, lane)[input / 64]) >> (input % 64) &
          1) != 0;
}

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
        is_queued (net, out, vl, port->peer - device->first_port))
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
        if (is_queued (net, index, vl, input)) {
          const IbQueue *queue = ib_queue (net, port, vl, input);

          n_waiting++;
          for (uint32_t packet = queue->head; packet != queue->tail;
               packet = net->packet[packet].next)
            n_waiting++;
        }
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
    const IbLane *lane = ib_lane (net, index, vl);
    uint64_t credits = lane->credits;

    for (uint32_t i = 0; i < IB_RETURNS; i++)
      if (lane->returns[i] != IB_NO_RETURN)
        credits += lane->returns[i] & 255;
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
  if (net->packets.n_taken > 0 || net->requests.n_taken > 0) {
    g_autoptr (GString) out = g_string_new (NULL);

    g_string_append_printf (
        out, "network stalled at %" G_GINT64_FORMAT " ps: %u packets of %u messages cannot move",
        net->engine.now_ps, net->packets.n_taken, net->engine.messages.n_taken);
    for (uint32_t port = 0; port < net->fabric->n_ports; port++)
      ib_queue_alone (net, port);
    print_circle (net, out);
    print_blocked (net, out);
    g_set_error_literal (error, SIM_ERROR, SIM_ERROR_STALL, out->str);
    return FALSE;
  }
  g_assert (net->engine.messages.n_taken == 0);
  g_assert (net->parameters->congestion.is_on || net->pairs.n_taken == 0);
  g_assert (net->engine.payload_sent == net->engine.base.bytes_received);
  for (uint32_t index = 0; index < net->fabric->n_ports; index++)
    if (net->port[index].peer != PACKET_NONE)
      g_assert (credits_complete (net, index) && net->port[index].listed == 0);
  return TRUE;
}

/* --- Messages and timers --- */

/* The adapter need not read memory for it. */
static bool
is_inline (const TopoParameters *parameters, const SimMessage *message, uint64_t payload_bytes)
{
  switch ((SimDataPlace) message->place) {
  case SIM_DATA_BY_SIZE: return payload_bytes <= parameters->hca.inline_bytes;
  case SIM_DATA_IN_REQUEST:
  case SIM_DATA_IN_ADAPTER: return true;
  case SIM_DATA_IN_MEMORY:
  case SIM_DATA_ASKED_FOR: return false;
  }
  g_assert_not_reached ();
}

/* Whether messages of the other direction take the same adapters: with several in a node, the sender's
 * place may decide. */
static bool
has_same_way_back (const IbNetwork *net, const SimMessage *message, uint32_t port,
                   uint32_t destination)
{
  const uint32_t *node = net->engine.mapping->node, *unit = net->unit;
  uint32_t from = node[message->source_rank], to = node[message->destination_rank];
  uint32_t back_port, back_destination;

  if (net->fabric->hosts[from].n_rails == 1 && net->fabric->hosts[to].n_rails == 1)
    return true;
  return route_paths_rails (net->paths, to, from,
                            route_paths_turn (net->paths, net->engine.mapping,
                                              message->destination_rank, message->source_rank) +
                                message->rail,
                            &back_port, &back_destination) &&
         unit[back_port] == unit[net->tables->destination_port[destination]] &&
         unit[net->tables->destination_port[back_destination]] == unit[port];
}

static void
ib_network_send (SimNetwork *base, const SimMessage *public, int64_t at_ps)
{
  IbNetwork *net = (IbNetwork *) base;
  uint32_t message_index;
  Message *message;
  const uint32_t *node = net->engine.mapping->node;
  uint32_t from = node[public->source_rank], to = node[public->destination_rank];
  uint32_t port, destination, source, index;
  uint64_t payload_bytes = public->bytes + public->software_bytes;
  uint32_t full_bytes = net->full_bytes[public->exact];

  g_assert (from != to);
  if (ib_uses_contexts (net))
    ib_contexts_prefetch (&net->contexts, public->source_rank, public->destination_rank,
                          ib_pair_number (public));
  message_index = packet_engine_message (&net->engine, public, at_ps);
  message = message_at (&net->engine, message_index);
  if (!route_paths_rails (net->paths, from, to,
                          route_paths_turn (net->paths, net->engine.mapping, public->source_rank,
                                            public->destination_rank) +
                              public->rail,
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
    .payload_bytes = payload_bytes,
    .software_bytes = public->software_bytes,
    .message = message_index,
    .pair = PACKET_NONE,
    .next = PACKET_NONE,
    .queue_context = PACKET_NONE,
    .destination = (uint16_t) destination,
    .back = (uint16_t) source,
    .vl = route_forwarding_vl (net->tables, source, destination) & 15,
    .back_vl = route_forwarding_vl (net->tables, destination, source) & 15,
    .ends = 2,
    .is_write = public->kind == SIM_MESSAGE_WRITE,
    .is_inline = is_inline (net->parameters, public, payload_bytes),
    .exact = public->exact,
  };
  if (ib_uses_contexts (net)) {
    IbEnds ends = ib_contexts_connect (
        &net->contexts, public->source_rank, public->destination_rank, ib_pair_number (public),
        has_same_way_back (net, public, port, destination), net->unit[port],
        net->unit[net->tables->destination_port[destination]]);

    net->request[index].context = ends.source;
    message->context = ends.destination;
  }
  message->packets_left = MAX (1, (payload_bytes + full_bytes - 1) / full_bytes);
  message->next = index;
  /* The library's own messages count in no FIFO, as on a torus; nor does the
   * request of a remote get, a write of nothing. */
  if (public->kind == SIM_MESSAGE_SEND || (public->kind == SIM_MESSAGE_WRITE && public->bytes > 0))
    net->engine.base.counters->fifo_messages[source]++;
  ib_add (net, IB_POST, &net->port[port], index, at_ps);
}

static void
ib_network_timer (SimNetwork *base, uint32_t rank, uint64_t cookie, int64_t at_ps)
{
  IbNetwork *net = (IbNetwork *) base;

  calendar_add (&net->engine.calendar, IB_TIMER, 0,
                packet_engine_timer (&net->engine, rank, cookie, at_ps), at_ps);
}

static void
ib_network_set_shrink (SimNetwork *base, uint32_t shrink)
{
  IbNetwork *net = (IbNetwork *) base;

  net->full_bytes[false] = shrink * net->mtu_bytes;
  net->full_bytes[true] = net->mtu_bytes;
}

/* --- The run --- */

static void
collect_counters (IbNetwork *net)
{
  SimCounters *counters = net->engine.base.counters;

  for (uint32_t index = 0; index < net->fabric->n_ports; index++) {
    const IbSent *sent = &net->sent[index];
    const Waited *waited;

    if (net->port[index].peer == PACKET_NONE)
      continue;
    waited = &ib_input (net, net->port[index].peer)->waited;
    counters->link[index] = (SimLinkCounters){
      .payload_bytes = sent->payload_bytes,
      .received_packets = sent->packets, /* all arrive */
      .buffered_packets = waited->packets,
      .buffered_ps = waited->ps,
      .wire_bytes = sent->wire_bytes,
      .sent_packets = sent->packets,
      .wait_ps = sent->wait_ps,
    };
  }
  packet_engine_count (&net->engine);
  net->engine.base.counters->events = net->engine.calendar.n_events + net->switches.n_events;
}

static void
ib_network_count (SimNetwork *base)
{
  collect_counters ((IbNetwork *) base);
}

static gboolean
ib_network_run (SimNetwork *base, GError **error)
{
  IbNetwork *net = (IbNetwork *) base;
  bool is_usual =
      net->n_vls == 1 && net->n_words == 1 && net->n_reads == IB_USUAL_READS && !ib_arrivals (net);
  gboolean ok;

  if (!(is_usual ? ib_usual_run_windows (net) : ib_run_windows (net)))
    return packet_engine_stopped (error);
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
  packet_table_free (net->lanes);
  packet_table_free (net->queue);
  packet_table_free (net->inputs);
  packet_table_free (net->stage);
  packet_table_free (net->sent);
  if (net->switches.ring)
    calendar_clear (&net->switches);
  g_free (net->unit);
  g_free (net->n_events);
  g_free (net->home);
  g_free (net->arbiter);
  g_free (net->adapter);
  g_free (net->packet);
  g_free (net->request);
  g_free (net->pair);
  g_free (net->pair_slot);
  ib_contexts_clear (&net->contexts);
  ib_contexts_clear (&net->receive_queues);
  g_free (net->refusal);
  g_free (net);
}

static void
ib_network_dump (SimNetwork *base, BaseDump *dump)
{
  IbNetwork *net = (IbNetwork *) base;
  size_t n_ports = MAX (1, net->fabric->n_ports);

  packet_engine_dump (&net->engine, dump);
  base_dump_section (dump, "fabric");
  calendar_dump (&net->switches, dump);
  base_dump_text (dump, &net->refusal);
  base_dump_array (dump, net->port, n_ports, sizeof *net->port);
  base_dump_array (dump, net->sent, n_ports, sizeof *net->sent);
  base_dump_array (dump, net->lanes, n_ports * net->n_vls, ib_lane_bytes (net));
  base_dump_array (dump, net->inputs, n_ports, ib_input_bytes (net));
  base_dump_array (dump, net->queue, net->n_queues, sizeof *net->queue);
  base_dump_array (dump, net->stage, n_ports * net->n_vls, sizeof *net->stage);
  base_dump_array (dump, net->arbiter, net->n_vls > 1 ? net->fabric->n_ports : 1,
                   sizeof *net->arbiter);
  base_dump_array (dump, net->adapter, net->fabric->n_devices, sizeof *net->adapter);
  packet_pool_dump (&net->packets, (void **) &net->packet, sizeof (IbPacket), dump);
  packet_pool_dump (&net->requests, (void **) &net->request, sizeof (IbRequest), dump);
  packet_pool_dump (&net->pairs, (void **) &net->pair, sizeof (IbPair), dump);
  base_dump_list (dump, (void **) &net->pair_slot, &net->n_pair_slots, &net->n_pair_slots,
                  sizeof *net->pair_slot);
  BASE_DUMP_VALUE (dump, net->n_paired);
  ib_contexts_dump (&net->contexts, dump);
  ib_contexts_dump (&net->receive_queues, dump);
}

static const SimNetworkClass ib_class = {
  .name = "packet",
  .summary = "every packet, virtual lane, credit and queue pair",
  .free = ib_network_free,
  .send = ib_network_send,
  .timer = ib_network_timer,
  .run = ib_network_run,
  .dump = ib_network_dump,
  .count = ib_network_count,
  .set_shrink = ib_network_set_shrink,
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
