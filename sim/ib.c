/* ib.c - the packet network of a switched fabric: its loop and its contract.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "sim/ib_port.h"

#include "sim/memory.h"

static void
ib_network_send (SimNetwork *base, const SimMessage *message, int64_t at_ps)
{
  IbNetwork *net = (IbNetwork *) base;

  ib_send (net, packet_engine_message (&net->engine, message, at_ps), at_ps);
}

static void
ib_network_timer (SimNetwork *base, uint32_t rank, uint64_t cookie, int64_t at_ps)
{
  IbNetwork *net = (IbNetwork *) base;

  packet_engine_timer (&net->engine, ib_node_unit (net, net->engine.mapping->node[rank]),
                       IB_TIMER << 8, rank, cookie, at_ps);
}

/* --- The run --- */

/* Credits that were sent as an event. */
static void
credits_come (IbNetwork *net, uint32_t unit, uint32_t number, uint32_t argument)
{
  uint32_t index = net->unit_port[net->unit_first[unit] + number];
  IbPort *port = &net->port[index];

  ib_lane (net, index, argument >> 8)->credits += argument & 255;
  if (port->listed != 0)
    wake_at (net, unit, index, port, MAX (net->engine.now_ps, port->free_ps));
}

static void
arrive (IbNetwork *net, uint32_t unit, uint32_t packet)
{
  if (unit < net->n_switches)
    ib_switch_arrive (net, unit, packet);
  else
    ib_receive (net, unit, packet);
}

static void
dispatch (PacketEngine *engine, SimEvent event)
{
  IbNetwork *net = (IbNetwork *) engine;
  uint32_t unit = sim_event_node (event), code = sim_event_code (event);

  switch ((IbKind) (code >> 8)) {
  case IB_CREDIT: credits_come (net, unit, code & 255, event.argument); break;
  case IB_ARRIVE: arrive (net, unit, event.argument); break;
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

#define PREFETCH_FAR  8u
#define PREFETCH_NEAR 4u

/* First the packet or the port that an event names, then what the packet
 * names: where its table says it goes. */
PREFETCHES
prefetch (const PacketEngine *engine, uint32_t at)
{
  const IbNetwork *net = (const IbNetwork *) engine;
  const SimEvent *due = engine->schedule->due;
  uint32_t n_due = engine->schedule->n_due;

  if (at + PREFETCH_FAR < n_due) {
    SimEvent event = due[at + PREFETCH_FAR];
    bool is_port = sim_event_code (event) >> 8 == IB_PORT;
    uintptr_t base = choose (is_port, (uintptr_t) net->port, (uintptr_t) net->packet);
    uintptr_t size = choose (is_port, sizeof (IbPort), sizeof (IbPacket));

    __builtin_prefetch ((const void *) (base + size * event.argument), 1);
  }
  if (at + PREFETCH_NEAR < n_due && sim_event_code (due[at + PREFETCH_NEAR]) >> 8 == IB_ARRIVE) {
    const IbPacket *packet = &net->packet[due[at + PREFETCH_NEAR].argument];
    uint32_t unit = sim_event_node (due[at + PREFETCH_NEAR]);

    __builtin_prefetch (&net->port[net->port[packet->port].peer].returns, 1);
    if (unit < net->n_switches) {
      uint32_t out = net->unit_port[net->unit_first[unit] +
                                    route_forwarding_out (net->tables, unit, packet->destination)];

      __builtin_prefetch (&net->port[out], 1);
      __builtin_prefetch (ib_lane (net, out, packet->vl), 1);
    } else {
      __builtin_prefetch (&net->engine.message[packet->message], 1);
    }
  }
}

/* --- Counters --- */

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
  counters->has_buffers = true;
  counters->packets = net->engine.n_packets;
  counters->packet_hops = net->engine.n_hops;
  counters->messages = net->engine.n_messages;
  counters->events = net->engine.schedule->n_events;
}

static gboolean
ib_network_run (SimNetwork *base, GError **error)
{
  IbNetwork *net = (IbNetwork *) base;
  gboolean ok;

  packet_engine_run (&net->engine, enter_window, prefetch, dispatch);
  ok = ib_check_idle (net, error);
  collect_counters (net);
  return ok;
}

/* --- Making one --- */

static void
ib_network_free (SimNetwork *base)
{
  IbNetwork *net = (IbNetwork *) base;

  packet_engine_free (&net->engine);
  packet_table_free (net->port);
  packet_table_free (net->lane);
  packet_table_free (net->queue);
  packet_table_free (net->read_ps);
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
  if (!ib_init (net, error)) {
    ib_network_free (&net->engine.base);
    return NULL;
  }
  return &net->engine.base;
}
