/* ib.c - the packet network of a switched fabric: its loop and its contract.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "sim/net/ib_port.h"

#include "sim/node/memory.h"

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

/* Events ahead at which each step of a chain of records is fetched. */
#define PREFETCH_FIRST  16u
#define PREFETCH_SECOND 12u
#define PREFETCH_THIRD  8u
#define PREFETCH_FOURTH 4u

/* First, what the event itself names: a port with its lane, or a packet. */
PREFETCHES
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
PREFETCHES
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

PREFETCHES
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
PREFETCHES
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
PREFETCHES
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
PREFETCHES
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
  packet_engine_count (&net->engine);
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
  if (!ib_init (net, error)) {
    ib_network_free (&net->engine.base);
    return NULL;
  }
  return &net->engine.base;
}
