/* flow.c - the flow network: SimGrid shares the links, max-min fair.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The independent second opinion beside the packet network: the same replay,
 * the same deterministic paths, another solver.  A message is one
 * flow over the links of its path; flows that share a link share its
 * bandwidth, and there are no packets, buffers or virtual channels.
 *
 *     send --> [events] --at + latencies--> solver: start --+
 *                 ^                                        |
 *                 +------ delivered, after reception latency
 *
 * On a fabric the two ends of a flow are rails of their nodes, each with the
 * bus of its adapter; an adapter takes one work request after the other.
 * Acknowledgements take time, but no bandwidth.
 *
 * Every callback comes from one actor of SimGrid, the scheduler, which keeps its
 * own heap of timers, starts and deliveries, ordered by (time, serial).
 *
 * Latencies are added here and are 0 in SimGrid: its CM02 model weighs flows
 * by the inverse of their latency, as TCP does, while on a torus the
 * length of a path does not matter. */
#include "sim/net/network.h"

#ifdef HAVE_SIMGRID

#include "base/library.h"
#include "sim/counters.h"
#include "sim/net/flow_simgrid.h"
#include "sim/net/load.h"
#include "sim/net/message_cost.h"
#include "sim/node/memory.h"

#include <dlfcn.h>
#include <math.h>

/* --- Acknowledgements --- */

/* Fabrics: from the last byte to the sender's software, by way of the
 * acknowledgement. */
static int64_t
acknowledgement_ps (const RoutePaths *paths, const TopoMapping *mapping, const SimMessage *message,
                    uint32_t *links)
{
  const TopoParameters *parameters = &paths->machine->parameters;
  uint32_t n_links =
      sim_message_links (paths, mapping, message->destination_rank, message->source_rank, links);

  return sim_message_way_ps (paths->machine, links, n_links) + parameters->hca.receive_latency_ps;
}

/* --- The solver --- */

static bool engine_made; /* SimGrid allows one per process */

/* NULL and *error when our library or SimGrid's is missing. */
static const SimFlowSolver *
load_solver (GError **error)
{
  g_autofree char *path = base_library_find ("libhopcast-flow.so");
  const SimFlowSolver *solver = NULL;
  void *library;

  if (path == NULL) {
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "the flow network needs libhopcast-flow.so, which is neither beside hopcast nor "
                 "where it was installed; install hopcast again, or set HOPCAST_LIBRARIES to the "
                 "folder that has it");
    return NULL;
  }
  /* SimGrid's exit functions run at the end of the process: it is never closed. */
  library = dlopen (path, RTLD_LAZY | RTLD_LOCAL);
  if (library != NULL)
    solver = dlsym (library, "sim_flow_solver");
  if (solver == NULL)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "the flow network cannot load SimGrid, with which this hopcast was built; "
                 "install it (Debian: %s): %s",
                 SIMGRID_PACKAGE, dlerror ());
  return solver;
}

/* --- Events ahead, by time --- */

typedef enum {
  FLOW_EVENT_TIMER,
  FLOW_EVENT_POST, /* fabrics: a work request reaches its adapter */
  FLOW_EVENT_START,
  FLOW_EVENT_DELIVER,
  FLOW_EVENT_SENT,
} FlowEventKind;

typedef struct {
  int64_t at_ps;
  uint64_t serial; /* order of creation, to break ties */
  uint64_t cookie; /* TIMER: the client's */
  uint32_t target; /* TIMER: rank; else the slot of the message */
  uint32_t kind;   /* FlowEventKind */
} FlowEvent;

/* A binary heap by (time, serial); all zero is empty.  The owner frees events. */
typedef struct {
  FlowEvent *events; /* the first is the next */
  uint32_t n, capacity;
  uint64_t next_serial;
} FlowQueue;

static bool
event_before (const FlowEvent *a, const FlowEvent *b)
{
  return a->at_ps != b->at_ps ? a->at_ps < b->at_ps : a->serial < b->serial;
}

static void
queue_push (FlowQueue *queue, FlowEvent event)
{
  uint32_t hole = queue->n++;

  if (queue->n > queue->capacity) {
    queue->capacity = MAX (64, 2 * queue->capacity);
    queue->events = g_renew (FlowEvent, queue->events, queue->capacity);
  }
  event.serial = queue->next_serial++;
  while (hole > 0 && event_before (&event, &queue->events[(hole - 1) / 2])) {
    queue->events[hole] = queue->events[(hole - 1) / 2];
    hole = (hole - 1) / 2;
  }
  queue->events[hole] = event;
}

/* The queue must not be empty. */
static FlowEvent
queue_pop (FlowQueue *queue)
{
  FlowEvent first = queue->events[0];
  FlowEvent last = queue->events[--queue->n];
  uint32_t hole = 0, child;

  while ((child = 2 * hole + 1) < queue->n) {
    if (child + 1 < queue->n && event_before (&queue->events[child + 1], &queue->events[child]))
      child++;
    if (!event_before (&queue->events[child], &last))
      break;
    queue->events[hole] = queue->events[child];
    hole = child;
  }
  queue->events[hole] = last;
  return first;
}

/* --- Messages --- */

/* A message on its way; free slots are chained through next_free. */
typedef struct {
  SimMessage message;
  uint32_t n_moving; /* flows that have not arrived: 2 when split over E */
  uint32_t n_calls;  /* of the client, still to come */
  uint32_t next_free;
} FlowSlot;

typedef struct {
  SimNetwork network;
  const TopoMachine *machine;
  const TopoMapping *mapping;
  const RoutePaths *paths;
  const SimFlowSolver *solver;
  uint32_t *path;           /* scratch, links of one path and two buses */
  int64_t *adapter_free_ps; /* fabrics: [n_destinations] when it takes the next work request */

  int64_t now_ps; /* time of the last event fired */
  FlowQueue queue;

  FlowSlot *slots;
  uint32_t n_slots, slots_capacity, first_free;
  uint32_t n_moving; /* flows in SimGrid */
} Flow;

static uint32_t
slot_take (Flow *flow, const SimMessage *message)
{
  uint32_t slot = flow->first_free;

  if (slot != TOPO_NONE)
    flow->first_free = flow->slots[slot].next_free;
  else {
    if (flow->n_slots == flow->slots_capacity) {
      flow->slots_capacity = MAX (64, 2 * flow->slots_capacity);
      flow->slots = g_renew (FlowSlot, flow->slots, flow->slots_capacity);
    }
    slot = flow->n_slots++;
  }
  flow->slots[slot] = (FlowSlot){ .message = *message, .next_free = TOPO_NONE };
  return slot;
}

/* The last call of the client frees the slot. */
static SimMessage
slot_take_call (Flow *flow, uint32_t slot)
{
  SimMessage message = flow->slots[slot].message;

  if (--flow->slots[slot].n_calls == 0) {
    flow->slots[slot].next_free = flow->first_free;
    flow->first_free = slot;
  }
  return message;
}

/* The two ends: nodes; on a fabric the rails' numbers in the tables. */
static void
message_ends (const Flow *flow, const SimMessage *message, uint32_t *from, uint32_t *to)
{
  uint32_t port;

  *from = flow->mapping->node[message->source_rank];
  *to = flow->mapping->node[message->destination_rank];
  if (flow->paths->tables == NULL)
    return;
  route_paths_rails (flow->paths, *from, *to,
                     route_paths_turn (flow->paths, flow->mapping, message->source_rank,
                                       message->destination_rank) +
                         message->rail,
                     &port, to);
  *from = flow->paths->tables->destination_of[port];
}

/* --- Flows in SimGrid --- */

/* Never before what has been fired already: SimGrid's clock is a double. */
static int64_t
clock_ps (const Flow *flow)
{
  int64_t clock_ps = (int64_t) (flow->solver->clock_s () * 1e12 + 0.5);

  return MAX (clock_ps, flow->now_ps);
}

static void
slot_arrive (Flow *flow, uint32_t slot, int64_t at_ps)
{
  const TopoParameters *parameters = &flow->machine->parameters;
  FlowEvent event = { .target = slot };
  const SimMessage *message = &flow->slots[slot].message;

  flow->slots[slot].n_calls = 1;
  /* From the last byte on the last link to software that may see it. */
  event.at_ps = at_ps + (parameters->family == TOPO_FAMILY_FABRIC
                             ? parameters->hca.receive_latency_ps
                             : parameters->messaging.reception_latency_ps);
  event.kind = FLOW_EVENT_DELIVER;
  queue_push (&flow->queue, event);
  if (!message->acknowledge)
    return;
  flow->slots[slot].n_calls++;
  event.at_ps = at_ps + acknowledgement_ps (flow->paths, flow->mapping, message, flow->path);
  event.kind = FLOW_EVENT_SENT;
  queue_push (&flow->queue, event);
}

static void
part_start (Flow *flow, uint32_t slot, const uint32_t *links, uint32_t n_links, uint64_t wire_bytes)
{
  flow->slots[slot].n_moving++;
  flow->n_moving++;
  flow->solver->start (links, n_links, wire_bytes, slot);
}

static void
part_end (Flow *flow, uint32_t slot)
{
  flow->n_moving--;
  if (--flow->slots[slot].n_moving == 0)
    slot_arrive (flow, slot, clock_ps (flow));
}

/* Messages of one adapter leave one after the other, at least its gap apart. */
static void
message_post (Flow *flow, uint32_t slot)
{
  const SimMessage *message = &flow->slots[slot].message;
  uint32_t from, to;
  int64_t at_ps;

  message_ends (flow, message, &from, &to);
  at_ps = MAX (flow->now_ps, flow->adapter_free_ps[from]);
  flow->adapter_free_ps[from] = at_ps + flow->machine->parameters.hca.message_gap_ps;
  at_ps += sim_message_start_ps (flow->paths, flow->mapping, message, flow->path);
  queue_push (&flow->queue,
              (FlowEvent){ .at_ps = at_ps, .kind = FLOW_EVENT_START, .target = slot });
}

/* The second half of a large transfer to the E neighbour goes over the cable
 * that the deterministic path leaves unused. */
static uint32_t
other_e_links (const Flow *flow, uint32_t from, uint32_t to, uint32_t *links)
{
  const RouteTorus *torus = &flow->paths->torus;
  uint32_t dimension = torus->shape.n_dimensions - 1;
  bool first_goes_plus = (route_torus_way (torus, from, to).plus >> dimension) & 1u;

  return route_torus_path (
      torus, from, route_torus_way_hinted (torus, from, to, dimension, !first_goes_plus), links);
}

/* Links of the solver: those of the machine; on a fabric, behind them, the buses of its devices. */
static uint32_t
bus_link (const TopoFabric *fabric, uint32_t port, bool into_memory)
{
  return fabric->n_ports + 2 * fabric->ports[port].device + into_memory;
}

static void
message_start (Flow *flow, uint32_t slot)
{
  const TopoParameters *parameters = &flow->machine->parameters;
  SimMessage message = flow->slots[slot].message;
  uint32_t from, to, *links = flow->path + 1;
  uint32_t n_links = sim_message_links (flow->paths, flow->mapping, message.source_rank,
                                        message.destination_rank, links);

  message_ends (flow, &message, &from, &to);
  if (flow->paths->tables != NULL) {
    const RouteForwarding *tables = flow->paths->tables;

    flow->path[0] = bus_link (tables->fabric, tables->destination_port[from], false);
    links[n_links] = bus_link (tables->fabric, tables->destination_port[to], true);
    part_start (flow, slot, flow->path, n_links + 2, sim_message_wire_bytes (parameters, &message));
  } else if (message.kind == SIM_MESSAGE_DATA &&
             route_pami_e_split (flow->machine, from, to, message.bytes)) {
    uint64_t half = message.bytes / 2;

    part_start (flow, slot, links, n_links, sim_message_packets_bytes (parameters, half));
    n_links = other_e_links (flow, from, to, links);
    part_start (flow, slot, links, n_links,
                sim_message_packets_bytes (parameters, message.bytes - half));
  } else
    part_start (flow, slot, links, n_links, sim_message_wire_bytes (parameters, &message));
}

/* --- The scheduler --- */

static void
event_fire (Flow *flow, FlowEvent event)
{
  const SimNetwork *network = &flow->network;
  SimMessage message;

  flow->now_ps = event.at_ps;
  network->counters->events++;
  switch ((FlowEventKind) event.kind) {
  case FLOW_EVENT_TIMER:
    network->client->timer (network->client_data, event.target, event.cookie, event.at_ps);
    break;
  case FLOW_EVENT_POST: message_post (flow, event.target); break;
  case FLOW_EVENT_START: message_start (flow, event.target); break;
  case FLOW_EVENT_DELIVER:
    message = slot_take_call (flow, event.target);
    network->client->delivered (network->client_data, &message, event.at_ps);
    break;
  case FLOW_EVENT_SENT:
    message = slot_take_call (flow, event.target);
    network->client->sent (network->client_data, &message, event.at_ps);
    break;
  }
}

static void
fire_due (Flow *flow)
{
  int64_t due_ps = clock_ps (flow);

  /* Picoseconds that a double of seconds cannot tell apart at this time, and
   * one for the rounding. */
  due_ps += 1 + (due_ps >> 50);
  while (flow->queue.n > 0 && flow->queue.events[0].at_ps <= due_ps)
    event_fire (flow, queue_pop (&flow->queue));
}

/* Until no event and no flow is left.  Of what is at one time, events that
 * were waited for come before the ends of flows. */
static void
schedule (void *data)
{
  Flow *flow = data;
  uint32_t slot;

  fire_due (flow);
  while (flow->queue.n > 0 || flow->n_moving > 0) {
    if (flow->solver->wait (flow->queue.n == 0 ? HUGE_VAL
                                               : (double) flow->queue.events[0].at_ps * 1e-12))
      fire_due (flow);
    while (flow->solver->take_ended (&slot))
      part_end (flow, slot);
    fire_due (flow);
  }
}

/* --- The contract --- */

static void
flow_free (SimNetwork *network)
{
  Flow *flow = (Flow *) network;

  g_free (flow->adapter_free_ps);
  g_free (flow->path);
  g_free (flow->queue.events);
  g_free (flow->slots);
  sim_memory_free (network->memory);
  sim_counters_free (network->counters);
  g_free (flow);
}

/* Software's own messages have no bytes of the user. */
static void
count_message (Flow *flow, const SimMessage *message)
{
  SimCounters *counters = flow->network.counters;

  counters->messages++;
  switch ((SimMessageKind) message->kind) {
  case SIM_MESSAGE_EAGER:
  case SIM_MESSAGE_DATA:
  case SIM_MESSAGE_DIRECT:
    sim_load_add (counters, flow->paths, flow->mapping, message->source_rank,
                  message->destination_rank, message->bytes, message->kind == SIM_MESSAGE_DIRECT);
    break;
  case SIM_MESSAGE_SEND:
  case SIM_MESSAGE_WRITE:
    sim_load_add_work (counters, flow->paths, flow->mapping, message->source_rank,
                       message->destination_rank, message->bytes,
                       message->kind == SIM_MESSAGE_SEND || message->bytes > 0);
    break;
  case SIM_MESSAGE_CONTROL:
  case SIM_MESSAGE_READ:
  case SIM_MESSAGE_REMOTE_GET: break;
  }
}

static void
flow_send (SimNetwork *network, const SimMessage *message, int64_t at_ps)
{
  Flow *flow = (Flow *) network;
  FlowEvent event = { .at_ps = at_ps, .kind = FLOW_EVENT_POST };

  g_assert (at_ps >= flow->now_ps && flow->mapping->node[message->source_rank] !=
                                         flow->mapping->node[message->destination_rank]);
  count_message (flow, message);
  if (flow->paths->tables == NULL) {
    event.at_ps += sim_message_start_ps (flow->paths, flow->mapping, message, flow->path);
    event.kind = FLOW_EVENT_START;
  }
  event.target = slot_take (flow, message);
  queue_push (&flow->queue, event);
}

static void
flow_timer (SimNetwork *network, uint32_t rank, uint64_t cookie, int64_t at_ps)
{
  Flow *flow = (Flow *) network;

  g_assert (at_ps >= flow->now_ps);
  queue_push (
      &flow->queue,
      (FlowEvent){ .at_ps = at_ps, .kind = FLOW_EVENT_TIMER, .target = rank, .cookie = cookie });
}

static gboolean
flow_run (SimNetwork *network, GError **error)
{
  Flow *flow = (Flow *) network;

  (void) error;
  flow->solver->run (schedule, flow);
  return TRUE;
}

static const SimNetworkClass flow_class = {
  .name = "flow",
  .summary = "SimGrid's max-min sharing of links, no packets: a second opinion",
  .free = flow_free,
  .send = flow_send,
  .timer = flow_timer,
  .run = flow_run,
};

/* --- Construction --- */

/* Bandwidths of the links of a torus; 0 at the ends of meshes.  The caller frees them. */
static double *
torus_bandwidths_Bps (const TopoMachine *machine, uint32_t *n_links)
{
  const TopoParameters *parameters = &machine->parameters;
  uint32_t n_ports = topo_shape_ports (&machine->shape);
  double bandwidth_Bps = (double) parameters->link.bandwidth_Bps * (1 - parameters->link.overhead);
  double *bandwidths_Bps;

  *n_links = topo_shape_nodes (&machine->shape) * n_ports;
  bandwidths_Bps = g_new (double, *n_links);
  for (uint32_t link = 0; link < *n_links; link++)
    bandwidths_Bps[link] =
        topo_shape_neighbour (&machine->shape, link / n_ports, link % n_ports) != TOPO_NONE
            ? bandwidth_Bps
            : 0;
  return bandwidths_Bps;
}

/* Of the cables of a fabric, in both directions, and then of the buses of its
 * adapters.  A flow has one size on all its links, headers included, but the bus
 * carries payload only: its bandwidth is what full packets make of it. */
static double *
fabric_bandwidths_Bps (const TopoMachine *machine, uint32_t *n_links)
{
  const TopoParameters *parameters = &machine->parameters;
  const TopoFabric *fabric = machine->fabric;
  double mtu_bytes = (double) parameters->ib.mtu_bytes;
  double bus_Bps =
      (double) parameters->hca.pcie_bandwidth_Bps *
      (mtu_bytes + (double) (parameters->ib.header_bytes + parameters->ib.framing_bytes)) /
      mtu_bytes;
  double *bandwidths_Bps;

  *n_links = fabric->n_ports + 2 * fabric->n_devices;
  bandwidths_Bps = g_new0 (double, *n_links);
  for (uint32_t port = 0; port < fabric->n_ports; port++) {
    const TopoPort *it = &fabric->ports[port];

    if (it->peer != TOPO_NONE)
      bandwidths_Bps[port] = (double) topo_link_bandwidth_Bps (it->lanes, (TopoSpeed) it->speed);
  }
  for (uint32_t device = 0; device < fabric->n_devices; device++)
    if (!fabric->devices[device].is_switch)
      bandwidths_Bps[fabric->n_ports + 2 * device] =
          bandwidths_Bps[fabric->n_ports + 2 * device + 1] = bus_Bps;
  return bandwidths_Bps;
}

static gboolean
check_possible (RoutePolicy policy, GError **error)
{
  if (engine_made)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "a process can make one flow network: SimGrid has one engine per process");
  else if (policy != ROUTE_POLICY_DEFAULT && policy != ROUTE_POLICY_DETERMINISTIC)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "the flow network knows deterministic paths only; zones need the packet network");
  else
    return TRUE;
  return FALSE;
}

SimNetwork *
sim_flow_new (const TopoMachine *machine, const RoutePaths *paths, const TopoMapping *mapping,
              RoutePolicy policy, const SimClient *client, void *client_data, GError **error)
{
  const TopoParameters *parameters = &machine->parameters;
  const SimFlowSolver *solver;
  g_autofree double *bandwidths_Bps = NULL;
  uint32_t n_links;
  Flow *flow;

  if (!check_possible (policy, error) || !route_paths_check (paths, mapping, error) ||
      (solver = load_solver (error)) == NULL)
    return NULL;
  bandwidths_Bps = machine->fabric != NULL ? fabric_bandwidths_Bps (machine, &n_links)
                                           : torus_bandwidths_Bps (machine, &n_links);
  solver->open (n_links, bandwidths_Bps);
  engine_made = true;
  flow = g_new0 (Flow, 1);
  flow->network.class = &flow_class;
  flow->network.client = client;
  flow->network.client_data = client_data;
  flow->network.lookahead_ps =
      MAX (1, parameters->family == TOPO_FAMILY_FABRIC ? parameters->ib.cable_latency_ps
                                                       : parameters->link.hop_latency_ps);
  flow->network.counters = sim_counters_new (machine);
  flow->machine = machine;
  flow->paths = paths;
  flow->mapping = mapping;
  flow->solver = solver;
  flow->path = g_new (uint32_t, paths->longest_links + 3);
  flow->first_free = TOPO_NONE;
  if (machine->fabric != NULL) {
    flow->network.memory = sim_memory_new (machine);
    flow->adapter_free_ps = g_new0 (int64_t, paths->tables->n_destinations);
  }
  return &flow->network;
}

#else /* without SimGrid */

SimNetwork *
sim_flow_new (const TopoMachine *machine, const RoutePaths *paths, const TopoMapping *mapping,
              RoutePolicy policy, const SimClient *client, void *client_data, GError **error)
{
  (void) machine;
  (void) paths;
  (void) mapping;
  (void) policy;
  (void) client;
  (void) client_data;
  g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
               "this hopcast was built without SimGrid: it has no flow network");
  return NULL;
}

#endif
