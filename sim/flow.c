/* flow.c - the flow network: SimGrid shares the links, max-min fair.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The independent second opinion beside the packet network: the same replay,
 * the same deterministic paths, somebody else's solver.  A message is one
 * flow over the links of its path; flows that share a link share its
 * bandwidth, and there are no packets, buffers or virtual channels.
 *
 *     send --> [events] --at + latencies--> actor: sg_host_sendto --+
 *                 ^                                                 |
 *                 +---- delivered, after reception latency ---------+
 *
 * Every callback comes from one actor, the scheduler, which keeps its own
 * heap of timers, starts and deliveries, ordered by (time, serial); a
 * short-lived actor per message does nothing but wait for its flow.
 *
 * Latencies are added here and are 0 in SimGrid: its CM02 model weighs flows
 * by the inverse of their latency, as TCP does, while a torus link does not
 * know how far a packet has come. */
#include "config.h"

#include "sim/network.h"

#ifdef HAVE_SIMGRID

#include "sim/counters.h"
#include "sim/flow_platform.h"
#include "sim/load.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>
#include <unistd.h>

/* One stack per message on its way.  A call of sg_host_sendto uses less than
 * 8 KiB; SimGrid clears the stack of each actor, so that its default of 8 MiB
 * costs forty times the rest of a message. */
#define ACTOR_STACK_KIB 32u

typedef enum { FLOW_EVENT_TIMER, FLOW_EVENT_START, FLOW_EVENT_DELIVER } FlowEventKind;

typedef struct {
  int64_t at_ps;
  uint64_t serial; /* order of creation, to break ties */
  uint64_t cookie; /* TIMER: the client's */
  uint32_t target; /* TIMER: rank; else the slot of the message */
  uint32_t kind;   /* FlowEventKind */
} FlowEvent;

/* A message on its way; free slots are chained through next_free. */
typedef struct {
  SimMessage message;
  uint32_t n_moving; /* flows that have not arrived: 2 when split over E */
  uint32_t next_free;
} FlowSlot;

typedef struct {
  SimNetwork network;
  const TopoMachine *machine;
  const TopoMapping *mapping;
  RouteTorus route;
  uint32_t *path; /* scratch, links of one path */

  sg_host_t *host; /* [n_nodes], NULL for nodes without ranks */
  sg_host_t *twin; /* [n_nodes] their hosts on the second E cable */
  sg_sem_t wake;   /* released when a flow has arrived */
  bool woken;      /* since the scheduler last looked */

  int64_t now_ps;    /* time of the last event fired */
  FlowEvent *events; /* binary heap by (time, serial) */
  uint32_t n_events, events_capacity;
  uint64_t next_serial;

  FlowSlot *slots;
  uint32_t n_slots, slots_capacity, first_free;
  uint32_t n_moving; /* flows in SimGrid */
} Flow;

/* What an actor needs to know of its flow. */
typedef struct {
  Flow *flow;
  sg_host_t from, to;
  double wire_bytes;
  uint32_t slot;
} FlowPart;

/* ---- the heap ---- */

static bool
event_before (const FlowEvent *a, const FlowEvent *b)
{
  return a->at_ps != b->at_ps ? a->at_ps < b->at_ps : a->serial < b->serial;
}

static void
event_push (Flow *flow, FlowEvent event)
{
  uint32_t hole = flow->n_events++;

  if (flow->n_events > flow->events_capacity) {
    flow->events_capacity = MAX (64, 2 * flow->events_capacity);
    flow->events = g_renew (FlowEvent, flow->events, flow->events_capacity);
  }
  event.serial = flow->next_serial++;
  while (hole > 0 && event_before (&event, &flow->events[(hole - 1) / 2])) {
    flow->events[hole] = flow->events[(hole - 1) / 2];
    hole = (hole - 1) / 2;
  }
  flow->events[hole] = event;
}

static FlowEvent
event_pop (Flow *flow)
{
  FlowEvent first = flow->events[0];
  FlowEvent last = flow->events[--flow->n_events];
  uint32_t hole = 0, child;

  while ((child = 2 * hole + 1) < flow->n_events) {
    if (child + 1 < flow->n_events && event_before (&flow->events[child + 1], &flow->events[child]))
      child++;
    if (!event_before (&flow->events[child], &last))
      break;
    flow->events[hole] = flow->events[child];
    hole = child;
  }
  flow->events[hole] = last;
  return first;
}

/* ---- messages ---- */

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

static void
slot_give_back (Flow *flow, uint32_t slot)
{
  flow->slots[slot].next_free = flow->first_free;
  flow->first_free = slot;
}

/* What crosses each link: whole packets with headers and trailers, the last
 * one filled up to a chunk.  An empty payload is still one packet. */
static uint64_t
wire_bytes (const TopoParameters *parameters, uint64_t payload)
{
  uint64_t packet = parameters->packet_payload_bytes, chunk = parameters->chunk_bytes;
  uint64_t n_packets = payload == 0 ? 1 : (payload + packet - 1) / packet;
  uint64_t last = payload - (n_packets - 1) * packet;

  return n_packets * (parameters->packet_header_bytes + parameters->packet_trailer_bytes) +
         (n_packets - 1) * packet + (last + chunk - 1) / chunk * chunk;
}

/* The packets that the packet network would make of a message: bgq.md
 * sections 3.3 and 4.  Long eager messages have their envelope in a packet of
 * its own; a remote get carries descriptors of 64 bytes; software's own
 * packets two words beside the envelope (guess). */
static uint64_t
message_wire_bytes (const TopoParameters *parameters, const SimMessage *message)
{
  uint64_t envelope = parameters->envelope_bytes;

  switch ((SimMessageKind) message->kind) {
  case SIM_MESSAGE_CONTROL: return wire_bytes (parameters, envelope + SIM_CONTROL_WORDS_BYTES);
  case SIM_MESSAGE_REMOTE_GET:
    return wire_bytes (parameters, SIM_DESCRIPTOR_BYTES * MAX (1u, message->descriptors));
  case SIM_MESSAGE_DATA:
  case SIM_MESSAGE_DIRECT: return wire_bytes (parameters, message->bytes);
  case SIM_MESSAGE_EAGER:
    if (message->bytes + envelope <= parameters->packet_payload_bytes)
      return wire_bytes (parameters, message->bytes + envelope);
    return wire_bytes (parameters, envelope) + wire_bytes (parameters, message->bytes);
  case SIM_MESSAGE_SEND:
  case SIM_MESSAGE_WRITE: break;
  }
  g_assert_not_reached ();
}

/* Descriptor to the decision of the last router: everything before the
 * flow's bytes arrive. */
static int64_t
start_latency_ps (Flow *flow, uint32_t from, uint32_t to)
{
  const TopoParameters *parameters = &flow->machine->parameters;
  uint32_t n_ports = topo_shape_ports (&flow->machine->shape);
  int64_t latency_ps = parameters->injection_latency_ps;
  uint32_t n_links =
      route_torus_path (&flow->route, from, route_torus_way (&flow->route, from, to), flow->path);

  for (uint32_t i = 0; i < n_links; i++)
    latency_ps += parameters->hop_latency_ps +
                  topo_machine_extra_latency_ps (flow->machine, flow->path[i] / n_ports,
                                                 flow->path[i] % n_ports);
  return latency_ps;
}

/* ---- flows in SimGrid ---- */

/* Never before what has been fired already: SimGrid's clock is a double. */
static int64_t
clock_ps (const Flow *flow)
{
  int64_t clock_ps = (int64_t) (simgrid_get_clock () * 1e12 + 0.5);

  return MAX (clock_ps, flow->now_ps);
}

static void
slot_deliver_at (Flow *flow, uint32_t slot, int64_t at_ps)
{
  event_push (flow, (FlowEvent){ .at_ps = at_ps + flow->machine->parameters.reception_latency_ps,
                                 .kind = FLOW_EVENT_DELIVER,
                                 .target = slot });
}

static void
part_actor (int argc, char **argv)
{
  FlowPart *part = sg_actor_get_data (sg_actor_self ());
  Flow *flow = part->flow;

  (void) argc;
  (void) argv;
  sg_host_sendto (part->from, part->to, part->wire_bytes);
  flow->n_moving--;
  if (--flow->slots[part->slot].n_moving == 0)
    slot_deliver_at (flow, part->slot, clock_ps (flow));
  g_free (part);
  if (!flow->woken) {
    flow->woken = true;
    sg_sem_release (flow->wake);
  }
}

static void
part_start (Flow *flow, uint32_t slot, sg_host_t from, sg_host_t to, uint64_t bytes_on_wire)
{
  FlowPart *part = g_new (FlowPart, 1);
  sg_actor_t actor = sg_actor_init ("flow", from);

  *part = (FlowPart){ flow, from, to, (double) bytes_on_wire, slot };
  flow->slots[slot].n_moving++;
  flow->n_moving++;
  sg_actor_set_stacksize (actor, ACTOR_STACK_KIB);
  sg_actor_set_data (actor, part);
  sg_actor_start (actor, part_actor, 0, NULL);
}

static void
message_start (Flow *flow, uint32_t slot)
{
  const TopoParameters *parameters = &flow->machine->parameters;
  SimMessage message = flow->slots[slot].message;
  uint32_t from = flow->mapping->node[message.source_rank];
  uint32_t to = flow->mapping->node[message.destination_rank];

  if (message.kind == SIM_MESSAGE_DATA &&
      route_pami_e_split (flow->machine, from, to, message.bytes)) {
    uint64_t half = message.bytes / 2;

    part_start (flow, slot, flow->host[from], flow->host[to], wire_bytes (parameters, half));
    part_start (flow, slot, flow->twin[from], flow->twin[to],
                wire_bytes (parameters, message.bytes - half));
  } else
    part_start (flow, slot, flow->host[from], flow->host[to],
                message_wire_bytes (parameters, &message));
}

/* ---- the scheduler ---- */

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
  case FLOW_EVENT_START: message_start (flow, event.target); break;
  case FLOW_EVENT_DELIVER:
    message = flow->slots[event.target].message;
    slot_give_back (flow, event.target);
    network->client->delivered (network->client_data, &message, event.at_ps);
    break;
  }
}

/* Picoseconds that a double of seconds cannot tell apart at this time, and
 * one for the rounding. */
static int64_t
clock_slack_ps (int64_t at_ps)
{
  return 1 + (at_ps >> 50);
}

/* Sleeps until the next event, or until a flow arrives. */
static void
schedule_wait (Flow *flow)
{
  if (flow->n_events == 0)
    sg_sem_acquire (flow->wake);
  else {
    double delay_s = (double) flow->events[0].at_ps * 1e-12 - simgrid_get_clock ();

    sg_sem_acquire_timeout (flow->wake, MAX (delay_s, 0));
  }
  flow->woken = false;
}

static void
schedule_actor (int argc, char **argv)
{
  Flow *flow = sg_actor_get_data (sg_actor_self ());

  (void) argc;
  (void) argv;
  while (flow->n_events > 0 || flow->n_moving > 0) {
    int64_t due_ps = clock_ps (flow);

    due_ps += clock_slack_ps (due_ps);
    while (flow->n_events > 0 && flow->events[0].at_ps <= due_ps)
      event_fire (flow, event_pop (flow));
    if (flow->n_events > 0 || flow->n_moving > 0)
      schedule_wait (flow);
  }
}

/* ---- the contract ---- */

static void
flow_free (SimNetwork *network)
{
  Flow *flow = (Flow *) network;

  sg_sem_destroy (flow->wake);
  g_free (flow->host);
  g_free (flow->twin);
  g_free (flow->path);
  g_free (flow->events);
  g_free (flow->slots);
  sim_counters_free (network->counters);
  g_free (flow);
}

static bool
is_user_message (const SimMessage *message)
{
  return message->kind == SIM_MESSAGE_EAGER || message->kind == SIM_MESSAGE_DATA ||
         message->kind == SIM_MESSAGE_DIRECT;
}

static void
flow_send (SimNetwork *network, const SimMessage *message, int64_t at_ps)
{
  Flow *flow = (Flow *) network;
  uint32_t from = flow->mapping->node[message->source_rank];
  uint32_t to = flow->mapping->node[message->destination_rank];

  g_assert (at_ps >= flow->now_ps && from != to);
  network->counters->messages++;
  if (is_user_message (message))
    sim_load_add (network->counters, flow->machine, &flow->route, from, to,
                  flow->mapping->slot[message->destination_rank], message->bytes,
                  message->kind == SIM_MESSAGE_DIRECT);
  event_push (flow, (FlowEvent){ .at_ps = at_ps + start_latency_ps (flow, from, to),
                                 .kind = FLOW_EVENT_START,
                                 .target = slot_take (flow, message) });
}

static void
flow_timer (SimNetwork *network, uint32_t rank, uint64_t cookie, int64_t at_ps)
{
  Flow *flow = (Flow *) network;

  g_assert (at_ps >= flow->now_ps);
  event_push (
      flow,
      (FlowEvent){ .at_ps = at_ps, .kind = FLOW_EVENT_TIMER, .target = rank, .cookie = cookie });
}

static gboolean
flow_run (SimNetwork *network, GError **error)
{
  Flow *flow = (Flow *) network;
  sg_actor_t scheduler = sg_actor_init ("schedule", flow->host[flow->mapping->node[0]]);

  (void) error;
  sg_actor_set_data (scheduler, flow);
  sg_actor_start (scheduler, schedule_actor, 0, NULL);
  simgrid_run ();
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

/* ---- making one ---- */

/* SimGrid allows one engine per process. */
static bool engine_made;

/* The numbers are ours, so SimGrid's corrections for TCP are off, and its
 * precision is below our picosecond.  Stacks have no guard page: SimGrid
 * would protect and unprotect one for every message. */
static void
simgrid_start (void)
{
  static const char *const options[] = {
    "hopcast",
    "--log=root.thres:critical",
    "--cfg=network/model:CM02",
    "--cfg=network/optim:Lazy",
    "--cfg=network/crosstraffic:0",
    "--cfg=network/TCP-gamma:0",
    "--cfg=network/latency-factor:1",
    "--cfg=network/bandwidth-factor:1",
    "--cfg=network/weight-S:0",
    "--cfg=surf/precision:1e-14",
    "--cfg=maxmin/precision:1e-6",
#ifdef WITH_SANITIZERS
    "--cfg=contexts/factory:thread", /* they do not understand other stacks */
#else
    "--cfg=contexts/guard-size:0",
#endif
  };
  static const int kept_signals[] = { SIGINT, SIGSEGV, SIGBUS };
  struct sigaction kept[G_N_ELEMENTS (kept_signals)];
  int argc = G_N_ELEMENTS (options);
  g_autofree char **argv = g_memdup2 (options, sizeof options);

  for (uint32_t i = 0; i < G_N_ELEMENTS (kept_signals); i++)
    sigaction (kept_signals[i], NULL, &kept[i]);
  simgrid_init (&argc, argv);
  engine_made = true;
  for (uint32_t i = 0; i < G_N_ELEMENTS (kept_signals); i++)
    sigaction (kept_signals[i], &kept[i], NULL);
}

/* The nodes that hold ranks, ascending. */
static uint32_t *
used_nodes (const TopoMachine *machine, const TopoMapping *mapping, uint32_t *n_used)
{
  uint32_t n_nodes = topo_shape_nodes (&machine->shape);
  g_autofree bool *used = g_new0 (bool, n_nodes);
  uint32_t *nodes;

  *n_used = 0;
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    *n_used += !used[mapping->node[rank]];
    used[mapping->node[rank]] = true;
  }
  nodes = g_new (uint32_t, *n_used);
  for (uint32_t node = 0, i = 0; node < n_nodes; node++)
    if (used[node])
      nodes[i++] = node;
  return nodes;
}

static gboolean
platform_save (const SimFlowPlatform *platform, int file, const char *path, GError **error)
{
  FILE *out = fdopen (file, "w");
  bool failed;

  sim_flow_platform_write (platform, out);
  failed = ferror (out) != 0;
  failed |= fclose (out) != 0;
  if (failed)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "%s: cannot write the platform of the flow "
                 "network",
                 path);
  return !failed;
}

static gboolean
platform_load (const SimFlowPlatform *platform, GError **error)
{
  g_autofree char *path = NULL;
  int file = g_file_open_tmp ("hopcast-XXXXXX.xml", &path, error);
  gboolean saved;

  if (file < 0)
    return FALSE;
  saved = platform_save (platform, file, path, error);
  if (saved) {
    simgrid_start ();
    simgrid_load_platform (path);
  }
  g_unlink (path);
  return saved;
}

static void
find_hosts (Flow *flow, const uint32_t *nodes, uint32_t n_nodes)
{
  uint32_t n_all = topo_shape_nodes (&flow->machine->shape);
  char name[16];

  flow->host = g_new0 (sg_host_t, n_all);
  flow->twin = g_new0 (sg_host_t, n_all);
  for (uint32_t i = 0; i < n_nodes; i++) {
    g_snprintf (name, sizeof name, "n%u", nodes[i]);
    flow->host[nodes[i]] = sg_host_by_name (name);
    if (sim_flow_platform_split_dimension (flow->machine) == TOPO_NONE)
      continue;
    name[0] = 'e';
    flow->twin[nodes[i]] = sg_host_by_name (name);
  }
}

static gboolean
check_possible (RoutePolicy policy, uint32_t n_nodes, GError **error)
{
  if (engine_made)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "a process can make one flow network: SimGrid has one engine per process");
  else if (policy != ROUTE_POLICY_DEFAULT && policy != ROUTE_POLICY_DETERMINISTIC)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "the flow network knows deterministic paths only; zones need the packet network");
  else if (n_nodes > SIM_FLOW_MAX_NODES)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "the flow network holds %u nodes with ranks, not %u: it needs a route per pair",
                 SIM_FLOW_MAX_NODES, n_nodes);
  else
    return TRUE;
  return FALSE;
}

SimNetwork *
sim_flow_new (const TopoMachine *machine, const TopoMapping *mapping, RoutePolicy policy,
              const SimClient *client, void *client_data, GError **error)
{
  uint32_t n_nodes;
  g_autofree uint32_t *nodes = used_nodes (machine, mapping, &n_nodes);
  RouteTorus route;
  SimFlowPlatform platform = { machine, &route, nodes, n_nodes, false };
  Flow *flow;

  route_torus_init (&route, &machine->shape);
  if (!check_possible (policy, n_nodes, error) || !platform_load (&platform, error))
    return NULL;
  flow = g_new0 (Flow, 1);
  flow->network.class = &flow_class;
  flow->network.client = client;
  flow->network.client_data = client_data;
  flow->network.lookahead_ps = MAX (1, machine->parameters.hop_latency_ps);
  flow->network.counters = sim_counters_new (machine);
  flow->machine = machine;
  flow->mapping = mapping;
  flow->route = route;
  flow->path = g_new (uint32_t, sim_flow_platform_longest_path (machine));
  flow->wake = sg_sem_init (0);
  flow->first_free = TOPO_NONE;
  find_hosts (flow, nodes, n_nodes);
  return &flow->network;
}

#else /* without SimGrid */

SimNetwork *
sim_flow_new (const TopoMachine *machine, const TopoMapping *mapping, RoutePolicy policy,
              const SimClient *client, void *client_data, GError **error)
{
  (void) machine;
  (void) mapping;
  (void) policy;
  (void) client;
  (void) client_data;
  g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
               "this hopcast was built without SimGrid: it has no flow network");
  return NULL;
}

#endif
