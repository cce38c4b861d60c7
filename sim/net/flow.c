/* flow.c - the flow network: SimGrid shares the links, max-min fair.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The independent second opinion beside the packet network: the same replay,
 * the same deterministic paths, another solver.  A message is one
 * flow over the links of its path; flows that share a link share its
 * bandwidth, and there are no packets, buffers or virtual channels.
 *
 *     send --> [events] --at + latencies--> actor: sg_host_sendto --+
 *                 ^                                                 |
 *                 +---- delivered, after reception latency ---------+
 *
 * On a fabric the two ends of a flow are rails of their nodes, each with the
 * bus of its adapter; an adapter takes one work request after the other.
 * Acknowledgements take time, but no bandwidth.
 *
 * Every callback comes from one actor, the scheduler, which keeps its own
 * heap of timers, starts and deliveries, ordered by (time, serial); a
 * short-lived actor per message does nothing but wait for its flow.
 *
 * Latencies are added here and are 0 in SimGrid: its CM02 model weighs flows
 * by the inverse of their latency, as TCP does, while on a torus the
 * length of a path does not matter. */
#include "sim/net/network.h"

#ifdef HAVE_SIMGRID

#include "sim/counters.h"
#include "sim/net/flow_platform.h"
#include "sim/net/load.h"
#include "sim/node/memory.h"

#include <locale.h>
#include <signal.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- Bytes and latencies of a message ---
 *
 * All that happens to a message before and after its bytes flow. */

/* Bytes on each link of a torus: whole packets with headers and trailers, the
 * last one filled up to a chunk.  An empty payload is still one packet. */
static uint64_t
packets_bytes (const TopoParameters *parameters, uint64_t payload_bytes)
{
  uint64_t packet = parameters->packet.payload_bytes, chunk = parameters->packet.chunk_bytes;
  uint64_t n_packets = payload_bytes == 0 ? 1 : (payload_bytes + packet - 1) / packet;
  uint64_t last = payload_bytes - (n_packets - 1) * packet;

  return n_packets * (parameters->packet.header_bytes + parameters->packet.trailer_bytes) +
         (n_packets - 1) * packet + (last + chunk - 1) / chunk * chunk;
}

/* Packets of one MTU each; an RDMA write says in its first one where it goes
 * (infiniband.md section A1). */
static uint64_t
fabric_bytes (const TopoParameters *parameters, uint64_t payload_bytes, bool rdma)
{
  uint64_t mtu = parameters->ib.mtu_bytes;
  uint64_t n_packets = payload_bytes == 0 ? 1 : (payload_bytes + mtu - 1) / mtu;

  return payload_bytes + n_packets * (parameters->ib.header_bytes + parameters->ib.framing_bytes) +
         (rdma ? parameters->ib.rdma_header_bytes : 0);
}

/* The packets that the packet network would make of a message: bgq.md
 * sections 3.3 and 4.  Long eager messages have their envelope in a packet of
 * its own; a remote get carries descriptors of 64 bytes; software's own
 * packets two words beside the envelope (guess). */
static uint64_t
message_bytes (const TopoParameters *parameters, const SimMessage *message)
{
  uint64_t envelope = parameters->mpi.envelope_bytes;

  switch ((SimMessageKind) message->kind) {
  case SIM_MESSAGE_CONTROL:
    if (parameters->family == TOPO_FAMILY_FABRIC)
      return fabric_bytes (parameters, message->software_bytes, false);
    return packets_bytes (parameters, envelope + SIM_CONTROL_WORDS_BYTES);
  case SIM_MESSAGE_REMOTE_GET:
    return packets_bytes (parameters, SIM_DESCRIPTOR_BYTES * MAX (1u, message->descriptors));
  case SIM_MESSAGE_DATA:
  case SIM_MESSAGE_DIRECT: return packets_bytes (parameters, message->bytes);
  case SIM_MESSAGE_EAGER:
    if (message->bytes + envelope <= parameters->packet.payload_bytes)
      return packets_bytes (parameters, message->bytes + envelope);
    return packets_bytes (parameters, envelope) + packets_bytes (parameters, message->bytes);
  case SIM_MESSAGE_SEND:
    return fabric_bytes (parameters, message->bytes + message->software_bytes, false);
  case SIM_MESSAGE_WRITE: return fabric_bytes (parameters, message->bytes, true);
  }
  g_assert_not_reached ();
}

/* Cables, and the switches between them. */
static int64_t
fabric_way_ps (const TopoParameters *parameters, uint32_t n_links)
{
  return n_links * parameters->ib.cable_latency_ps +
         (n_links - 1) * parameters->switches.latency_ps;
}

static double
ps_of (uint64_t bytes, uint64_t bandwidth_Bps)
{
  return (double) bytes * 1e12 / (double) bandwidth_Bps;
}

/* A packet is wholly read before it is sent, and wholly received before it is
 * written (infiniband.md section A5): what one packet takes from memory to
 * memory, less what a flow takes for it, which is on the slowest of bus and
 * link only.  Of a message of one packet the flow then ends when it does. */
static int64_t
fabric_fill_ps (const TopoParameters *parameters, const TopoPort *port, const SimMessage *message,
                bool is_inline)
{
  uint64_t headers_bytes = parameters->ib.header_bytes + parameters->ib.framing_bytes;
  uint64_t packet_bytes =
      MIN (message->bytes + message->software_bytes, (uint64_t) parameters->ib.mtu_bytes);
  uint64_t wire_bytes = packet_bytes + headers_bytes +
                        (message->kind == SIM_MESSAGE_WRITE ? parameters->ib.rdma_header_bytes : 0);
  double bus_ps = ps_of (packet_bytes, parameters->hca.pcie_bandwidth_Bps);
  double link_ps =
      ps_of (wire_bytes, topo_link_bandwidth_Bps (port->lanes, (TopoSpeed) port->speed));
  double flow_bus_ps = (double) wire_bytes *
                       ps_of (parameters->ib.mtu_bytes, parameters->hca.pcie_bandwidth_Bps) /
                       (double) (parameters->ib.mtu_bytes + headers_bytes);

  return (int64_t) ((is_inline ? 1 : 2) * bus_ps + link_ps - MAX (flow_bus_ps, link_ps));
}

static uint32_t
links_of (const RoutePaths *paths, const TopoMapping *mapping, uint32_t from_rank, uint32_t to_rank,
          uint32_t *links)
{
  return route_paths_links (paths, mapping->node[from_rank], mapping->node[to_rank], from_rank,
                            to_rank, links);
}

/* From its posting to the flow of its bytes: all latencies of the way; links
 * has room for longest_links of the paths. */
static int64_t
start_latency_ps (const RoutePaths *paths, const TopoMapping *mapping, const SimMessage *message,
                  uint32_t *links)
{
  const TopoMachine *machine = paths->machine;
  const TopoParameters *parameters = &machine->parameters;
  uint32_t n_links =
      links_of (paths, mapping, message->source_rank, message->destination_rank, links);
  int64_t latency_ps;

  if (paths->tables != NULL) {
    /* The adapter fetches what did not come with the work request. */
    bool is_inline = message->bytes + message->software_bytes <= parameters->hca.inline_bytes;

    return parameters->hca.send_latency_ps + (is_inline ? 0 : parameters->hca.read_latency_ps) +
           fabric_fill_ps (parameters, &machine->fabric->ports[links[0]], message, is_inline) +
           fabric_way_ps (parameters, n_links);
  }
  /* Descriptor to the decision of the last router. */
  latency_ps = parameters->messaging.injection_latency_ps;
  for (uint32_t at = 0, n_ports = topo_shape_ports (&machine->shape); at < n_links; at++)
    latency_ps += parameters->link.hop_latency_ps +
                  topo_machine_extra_latency_ps (machine, links[at] / n_ports, links[at] % n_ports);
  return latency_ps;
}

/* Fabrics: from the last byte to the sender's software, by way of the
 * acknowledgement. */
static int64_t
acknowledgement_ps (const RoutePaths *paths, const TopoMapping *mapping, const SimMessage *message,
                    uint32_t *links)
{
  const TopoParameters *parameters = &paths->machine->parameters;
  uint32_t n_links =
      links_of (paths, mapping, message->destination_rank, message->source_rank, links);

  return fabric_way_ps (parameters, n_links) + parameters->hca.receive_latency_ps;
}

/* --- SimGrid --- */

static bool engine_made; /* SimGrid allows one per process */

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

/* The descriptor stays open: it is all that the file has. */
static gboolean
platform_save (const SimFlowPlatform *platform, int file, const char *path, GError **error)
{
  int copy = dup (file);
  FILE *out = copy >= 0 ? fdopen (copy, "w") : NULL;
  bool failed = out == NULL;

  if (out != NULL) {
    sim_flow_platform_write (platform, out);
    failed = ferror (out) != 0;
    failed |= fclose (out) != 0;
  }
  if (failed)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "%s: cannot write the platform of the flow "
                 "network",
                 path);
  return !failed;
}

/* False and *error when the platform's file cannot be written. */
static gboolean
engine_load (const SimFlowPlatform *platform, GError **error)
{
  int file = memfd_create ("hopcast.xml", MFD_CLOEXEC);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", file);
  gboolean saved = platform_save (platform, file, path, error);
  if (saved) {
    /* SimGrid folds the case of its own keywords by the locale's rules. */
    locale_t plain = newlocale (LC_ALL_MASK, "C", (locale_t) 0), before = uselocale (plain);

    simgrid_start ();
    simgrid_load_platform (path);
    uselocale (before);
    freelocale (plain);
  }
  if (file >= 0)
    close (file);
  return saved;
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

/* One stack per message on its way.  A call of sg_host_sendto uses less than
 * 8 KiB; SimGrid clears the stack of each actor, so that its default of 8 MiB
 * costs forty times the rest of a message. */
#define ACTOR_STACK_KIB 32u

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
  uint32_t *path; /* scratch, links of one path */

  sg_host_t *host;          /* [n_nodes], NULL for nodes without ranks; fabrics: [n_destinations] */
  sg_host_t *twin;          /* [n_nodes] their hosts on the second E cable */
  sg_host_t first_host;     /* any of them */
  int64_t *adapter_free_ps; /* fabrics: [n_destinations] when it takes the next work request */
  sg_sem_t wake;            /* released when a flow has arrived */
  bool woken;               /* since the scheduler last looked */

  int64_t now_ps; /* time of the last event fired */
  FlowQueue queue;

  FlowSlot *slots;
  uint32_t n_slots, slots_capacity, first_free;
  uint32_t n_moving; /* flows in SimGrid */
} Flow;

/* The flow of one actor. */
typedef struct {
  Flow *flow;
  sg_host_t from, to;
  double wire_bytes;
  uint32_t slot;
} FlowPart;

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

/* The two ends, as numbers of hosts. */
static void
message_ends (const Flow *flow, const SimMessage *message, uint32_t *from, uint32_t *to)
{
  uint32_t port;

  *from = flow->mapping->node[message->source_rank];
  *to = flow->mapping->node[message->destination_rank];
  if (flow->paths->tables == NULL)
    return;
  route_paths_rails (flow->paths, *from, *to, message->source_rank, message->destination_rank,
                     &port, to);
  *from = flow->paths->tables->destination_of[port];
}

/* --- Flows in SimGrid --- */

/* Never before what has been fired already: SimGrid's clock is a double. */
static int64_t
clock_ps (const Flow *flow)
{
  int64_t clock_ps = (int64_t) (simgrid_get_clock () * 1e12 + 0.5);

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
part_actor (int argc, char **argv)
{
  FlowPart *part = sg_actor_get_data (sg_actor_self ());
  Flow *flow = part->flow;

  (void) argc;
  (void) argv;
  sg_host_sendto (part->from, part->to, part->wire_bytes);
  flow->n_moving--;
  if (--flow->slots[part->slot].n_moving == 0)
    slot_arrive (flow, part->slot, clock_ps (flow));
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
  at_ps += start_latency_ps (flow->paths, flow->mapping, message, flow->path);
  queue_push (&flow->queue,
              (FlowEvent){ .at_ps = at_ps, .kind = FLOW_EVENT_START, .target = slot });
}

static void
message_start (Flow *flow, uint32_t slot)
{
  const TopoParameters *parameters = &flow->machine->parameters;
  SimMessage message = flow->slots[slot].message;
  uint32_t from, to;

  message_ends (flow, &message, &from, &to);
  if (message.kind == SIM_MESSAGE_DATA &&
      route_pami_e_split (flow->machine, from, to, message.bytes)) {
    uint64_t half = message.bytes / 2;

    part_start (flow, slot, flow->host[from], flow->host[to], packets_bytes (parameters, half));
    part_start (flow, slot, flow->twin[from], flow->twin[to],
                packets_bytes (parameters, message.bytes - half));
  } else
    part_start (flow, slot, flow->host[from], flow->host[to], message_bytes (parameters, &message));
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
schedule_actor (int argc, char **argv)
{
  Flow *flow = sg_actor_get_data (sg_actor_self ());

  (void) argc;
  (void) argv;
  while (flow->queue.n > 0 || flow->n_moving > 0) {
    int64_t due_ps = clock_ps (flow);

    /* Picoseconds that a double of seconds cannot tell apart at this time, and
     * one for the rounding. */
    due_ps += 1 + (due_ps >> 50);
    while (flow->queue.n > 0 && flow->queue.events[0].at_ps <= due_ps)
      event_fire (flow, queue_pop (&flow->queue));
    if (flow->queue.n == 0 && flow->n_moving == 0)
      break;
    /* Sleeps until the next event, or until a flow arrives. */
    if (flow->queue.n == 0) {
      sg_sem_acquire (flow->wake);
    } else {
      double delay_s = (double) flow->queue.events[0].at_ps * 1e-12 - simgrid_get_clock ();

      sg_sem_acquire_timeout (flow->wake, MAX (delay_s, 0));
    }
    flow->woken = false;
  }
}

/* --- The contract --- */

static void
flow_free (SimNetwork *network)
{
  Flow *flow = (Flow *) network;

  sg_sem_destroy (flow->wake);
  g_free (flow->host);
  g_free (flow->twin);
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
    event.at_ps += start_latency_ps (flow->paths, flow->mapping, message, flow->path);
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
  sg_actor_t scheduler = sg_actor_init ("schedule", flow->first_host);

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

/* --- Construction --- */

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

static void
find_torus_hosts (Flow *flow, const uint32_t *nodes, uint32_t n_nodes)
{
  uint32_t n_all = topo_shape_nodes (&flow->machine->shape);
  char name[SIM_FLOW_HOST_SIZE];

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
  flow->first_host = flow->host[nodes[0]];
}

static void
find_fabric_hosts (Flow *flow, const uint32_t *nodes, uint32_t n_nodes)
{
  const RoutePaths *paths = flow->paths;
  char name[SIM_FLOW_HOST_SIZE];

  flow->host = g_new0 (sg_host_t, paths->tables->n_destinations);
  flow->adapter_free_ps = g_new0 (int64_t, paths->tables->n_destinations);
  for (uint32_t i = 0; i < n_nodes; i++) {
    uint32_t first = paths->first_rail[nodes[i]];

    for (uint32_t at = first; at < paths->first_rail[nodes[i] + 1]; at++) {
      sim_flow_platform_rail_host (name, nodes[i], at - first);
      flow->host[paths->rail[at]] = flow->first_host = sg_host_by_name (name);
    }
  }
}

static gboolean
check_possible (RoutePolicy policy, uint32_t n_hosts, GError **error)
{
  if (engine_made)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "a process can make one flow network: SimGrid has one engine per process");
  else if (policy != ROUTE_POLICY_DEFAULT && policy != ROUTE_POLICY_DETERMINISTIC)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "the flow network knows deterministic paths only; zones need the packet network");
  else if (n_hosts > SIM_FLOW_MAX_HOSTS)
    g_set_error (
        error, SIM_ERROR, SIM_ERROR_NETWORK,
        "the flow network holds %u nodes with ranks (rails, on a fabric), not %u: it needs "
        "a route per pair",
        SIM_FLOW_MAX_HOSTS, n_hosts);
  else
    return TRUE;
  return FALSE;
}

SimNetwork *
sim_flow_new (const TopoMachine *machine, const RoutePaths *paths, const TopoMapping *mapping,
              RoutePolicy policy, const SimClient *client, void *client_data, GError **error)
{
  uint32_t n_nodes;
  g_autofree uint32_t *nodes = used_nodes (machine, mapping, &n_nodes);
  SimFlowPlatform platform = { paths, nodes, n_nodes, false };
  const TopoParameters *parameters = &machine->parameters;
  Flow *flow;

  if (!check_possible (policy, sim_flow_platform_hosts (&platform), error) ||
      !route_paths_check (paths, mapping, error) || !engine_load (&platform, error))
    return NULL;
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
  flow->path = g_new (uint32_t, paths->longest_links + 1);
  flow->wake = sg_sem_init (0);
  flow->first_free = TOPO_NONE;
  if (machine->fabric != NULL) {
    flow->network.memory = sim_memory_new (machine);
    find_fabric_hosts (flow, nodes, n_nodes);
  } else
    find_torus_hosts (flow, nodes, n_nodes);
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
