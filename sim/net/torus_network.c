/* torus_network.c - the packet network of a torus: its construction, and the laws at the end of a run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/torus_state.h"

#include <string.h>

/* --- The laws at the end of a run ---
 *
 * Every packet is delivered, every token is back, bytes in = bytes out.  When
 * packets are left, nothing can ever move them: the dump names the first of
 * them with the ports that they wait for. */

#define DUMPED_PACKETS 20u

static void
print_packet (const Torus *net, uint32_t node, const char *place, uint32_t message, uint32_t way,
              uint32_t chunks, GString *out)
{
  const SimMessage *public = &message_at (&net->engine, message)->public;
  TopoCoordinates coordinates = topo_shape_coordinates (&net->route.shape, node);
  uint32_t port_index = next_port (net, way), tokens[VCS] = { 0 };

  for (uint32_t vc = 0; vc < VCS; vc++)
    for (uint32_t slot = 0; slot < net->places.n_slots[vc]; slot++)
      tokens[vc] += vc_slots (net, node, port_index, vc)[slot] <= net->window_ps;
  g_string_append (out, "\n  node (");
  for (uint32_t dimension = 0; dimension < net->route.shape.n_dimensions; dimension++)
    g_string_append_printf (out, "%s%u", dimension ? "," : "", coordinates.at[dimension]);
  g_string_append_printf (
      out,
      ") %s: packet of %u chunks, rank %u -> %u, next %c%c with %u dynamic, %u bubble, %u priority"
      " tokens",
      place, room_chunks (chunks), public->source_rank, public->destination_rank,
      topo_dimension_letter (port_index / 2), port_index % 2 ? '+' : '-',
      net->dynamic_tokens - net->dynamic[node].used[port_index], tokens[BUBBLE], tokens[PRIORITY]);
}

/* Returns how many it printed, at most `n`. */
static uint32_t
print_lists (const Torus *net, uint32_t node, uint32_t port_index, uint32_t n, GString *out)
{
  static const char *const places[VCS] = { "bubble receive buffer", "priority receive buffer" };
  const Port *port = port_of (net, node_at (net, node), port_index);
  uint32_t n_printed = 0;

  for (uint32_t list = 0; list < LIST (VCS, 0); list++) {
    uint32_t vc = list / 2, turns = list % 2;
    const Lists *lists = vc_lists (net, node, port_index, vc);

    if (!(port->listed >> list & 1))
      continue;
    for (uint32_t id = lists->head[turns]; n_printed < n; id = vc_links (net, node, vc)[id]) {
      const Packet *packet = vc_packet (net, node, vc, id);

      print_packet (net, node, places[vc], packet->message, packet->way, packet->chunks, out);
      n_printed++;
      if (id == lists->tail[turns])
        break;
    }
  }
  return n_printed;
}

static uint32_t
print_queue (const Torus *net, uint32_t node, const Queue *queue, uint32_t n, GString *out)
{
  uint32_t n_printed = 0;

  for (uint32_t at = queue->head; at != 0 && n_printed < n;) {
    const DynamicPacket *packet = &net->dynamic_packet[at - 1];

    print_packet (net, node, "dynamic receive buffer", packet->message, packet->way, packet->chunks,
                  out);
    n_printed++;
    at = packet->next;
  }
  return n_printed;
}

static uint32_t
print_node (const Torus *net, uint32_t node, uint32_t n, GString *out)
{
  uint32_t n_printed = 0;

  for (uint32_t port = 0; port < net->n_ports; port++)
    n_printed += print_lists (net, node, port, n - n_printed, out);
  for (uint32_t bit = 0; bit < net->n_ports * MAX_QUEUES; bit++)
    n_printed += print_queue (net, node, &net->dynamic[node].queue[bit], n - n_printed, out);
  for (uint32_t fifo_index = 0; fifo_index < net->n_fifos && n_printed < n; fifo_index++) {
    const Fifo *fifo = fifo_of (net, node_at (net, node), fifo_index);

    if (!fifo->has_head)
      continue;
    print_packet (net, node, "injection FIFO", fifo->packet.message, fifo->packet.way,
                  fifo->packet.chunks, out);
    n_printed++;
  }
  return n_printed;
}

/* Every token is at its port, those with slots perhaps still on their way. */
static bool
has_tokens (const Torus *net, uint32_t node, uint32_t port_index)
{
  for (uint32_t vc = 0; vc < VCS; vc++)
    for (uint32_t slot = 0; slot < net->places.n_slots[vc]; slot++)
      if (vc_slots (net, node, port_index, vc)[slot] == NEVER_PS)
        return false;
  return net->dynamic[node].used[port_index] == 0;
}

static gboolean
check_idle (const Torus *net, GError **error)
{
  uint32_t n_parts = net->engine.base.n_parts, n_descriptors = 0, n_messages = 0, n_others = 0;
  uint64_t sent = 0, received = 0;

  for (uint32_t part = 0; part < n_parts; part++) {
    const Torus *it = part_at (net, part);

    /* Each feeder has one. */
    n_descriptors += it->descriptors.n_taken + it->feeders.n_taken;
    n_messages += it->engine.messages.n_taken;
    n_others += it->dynamic_packets.n_taken;
    sent += it->engine.payload_sent;
    received += it->engine.base.bytes_received;
  }
  if (net->all.in_flight > 0 || n_descriptors > 0 || n_messages > 0) {
    g_autoptr (GString) out = g_string_new (NULL);
    uint32_t n_printed = 0;

    for (uint32_t node = 0; node < net->n_nodes && n_printed < DUMPED_PACKETS; node++)
      n_printed +=
          print_node (part_at (net, part_of (net, node)), node, DUMPED_PACKETS - n_printed, out);
    g_set_error (error, SIM_ERROR, SIM_ERROR_STALL,
                 "network stalled at %" G_GINT64_FORMAT " ps: %" G_GUINT64_FORMAT
                 " packets and %u descriptors cannot move; blocked:%s",
                 net->window_ps, net->all.in_flight, n_descriptors, out->str);
    return FALSE;
  }
  g_assert (n_others == 0 && sent == received);
  for (uint32_t node = 0; node < net->n_nodes; node++)
    for (uint32_t port = 0; port < net->n_ports; port++)
      g_assert (has_tokens (net, node, port) &&
                !is_wanted (port_of (net, node_at (net, node), port)));
  return TRUE;
}

static uint64_t
n_timers (const Torus *net)
{
  uint64_t n = 0;

  for (uint32_t part = 0; part < net->engine.base.n_parts; part++)
    n += part_at (net, part)->engine.n_timers;
  return n;
}

/* What each node counted at its two ends of the links, under the numbers of
 * the links. */
static void
collect_counters (Torus *net)
{
  SimCounters *counters = net->engine.base.counters;

  for (uint32_t node = 0; node < net->n_nodes; node++)
    for (uint32_t port_index = 0; port_index < net->n_ports; port_index++) {
      uint32_t neighbour = node_at (net, node)->neighbour[port_index];

      if (neighbour == PACKET_NONE)
        continue;
      const Port *sent = port_of (net, node_at (net, node), port_index);
      const Waited *waited = waited_at (net, node_at (net, neighbour), port_index);
      const Waited *queued = &net->dynamic[neighbour].waited[port_index];

      counters->link[(size_t) node * net->n_ports + port_index] = (SimLinkCounters){
        .payload_bytes = sent->payload_bytes,
        .bubble_chunks = sent->bubble_chunks,
        .dynamic_chunks = net->dynamic[node].chunks[port_index],
        .priority_chunks = priority_port (net, node, port_index)->chunks,
        .received_packets = sent->packets, /* all arrive */
        .buffered_packets = waited->packets + queued->packets,
        .buffered_ps = waited->ps + queued->ps,
      };
    }
  for (size_t fifo = 0; fifo < (size_t) net->n_nodes * net->n_ports; fifo++)
    counters->fifo_messages[fifo] = net->fifo_messages[fifo];
  packet_engine_count (&net->engine);
  /* What ports and schedule did depends on the threads. */
  counters->events =
      counters->packet_hops + counters->packets + counters->messages + n_timers (net);
}

static void
torus_count (SimNetwork *base)
{
  collect_counters ((Torus *) base);
}

static gboolean
torus_run (SimNetwork *base, GError **error)
{
  Torus *net = (Torus *) base;
  gboolean ok;

  if (!torus_run_parts (net))
    return packet_engine_stopped (error);
  ok = check_idle (net, error);
  collect_counters (net);
  return ok;
}

void
torus_timer (SimNetwork *base, uint32_t rank, uint64_t cookie, int64_t at_ps)
{
  Torus *net = (Torus *) base;

  sim_schedule_push (net->engine.schedule, net->engine.mapping->node[rank], CODE_TIMER,
                     packet_engine_timer (&net->engine, rank, cookie, at_ps), at_ps);
}

/* --- Buckets --- */

void
torus_grow (Torus *net, Bucket *bucket, Spare *spare, void **entries, uint32_t *capacity,
            size_t size)
{
  uint32_t index = (uint32_t) (bucket - net->bucket);

  net->occupied[index / 64] |= UINT64_C (1) << (index % 64);
  net->has_steps |= spare == &net->spare_steps;
  if (*capacity == 0 && spare->n > 0) {
    const Array *array = &spare->array[--spare->n];

    *entries = array->entries;
    *capacity = array->capacity;
    return;
  }
  *capacity = MAX (256, 2 * *capacity);
  *entries = g_realloc_n (*entries, *capacity + AHEAD, size);
}

/* One pass of a radix sort. */
static ALWAYS_INLINE void
sort_by_digit (const uint64_t *from, uint64_t *to, uint32_t n, uint32_t shift, uint32_t bits)
{
  uint32_t start[2048], sum = 0;

  memset (start, 0, sizeof *start << bits);

  for (uint32_t i = 0; i < n; i++)
    start[from[i] >> shift & ((1u << bits) - 1)]++;
  for (uint32_t digit = 0; digit < 1u << bits; digit++) {
    uint32_t count = start[digit];

    start[digit] = sum;
    sum += count;
  }
  for (uint32_t i = 0; i < n; i++)
    to[start[from[i] >> shift & ((1u << bits) - 1)]++] = from[i];
}

void
torus_sort (Torus *net, uint64_t *keys, uint32_t n, uint32_t shift)
{
  if (n < 48) {
    for (uint32_t i = 1; i < n; i++) {
      uint64_t key = keys[i];
      uint32_t hole = i;

      for (; hole > 0 && keys[hole - 1] >> shift > key >> shift; hole--)
        keys[hole] = keys[hole - 1];
      keys[hole] = key;
    }
    return;
  }
  if (net->scratch_capacity < n) {
    net->scratch_capacity = 2 * n;
    net->scratch = g_renew (uint64_t, net->scratch, net->scratch_capacity);
  }
  if (n < 1400)
    /* An even number of passes ends in `keys`. */
    for (uint32_t pass = 0; pass < 4; pass++)
      sort_by_digit (pass % 2 ? net->scratch : keys, pass % 2 ? keys : net->scratch, n,
                     shift + 6 * pass, 6);
  else
    for (uint32_t pass = 0; pass < 2; pass++)
      sort_by_digit (pass ? net->scratch : keys, pass ? keys : net->scratch, n, shift + 11 * pass,
                     11);
}

/* --- Shrunk messages --- */

/* As SimNetworkClass.set_shrink, of one part. */
static void
set_part_shrink (Torus *net, uint32_t shrink)
{
  uint32_t n_ring = 64;

  net->engine.base.shrink = shrink;
  net->full_bytes[false] = net->payload_bytes * shrink;
  net->full_bytes[true] = net->payload_bytes;
  net->full_chunks[true] = (uint8_t) (1 + payload_chunks (net, net->payload_bytes));
  net->full_chunks[false] = (uint8_t) ((shrink > 1 ? IS_SHRUNK : 0) + net->full_chunks[true]);
  for (uint32_t chunks = 0; chunks < IS_SHRUNK; chunks++) {
    net->wire_ps[IS_SHRUNK | chunks] = shrink * net->wire_ps[chunks];
    net->memory_ps[IS_SHRUNK | chunks] = shrink * net->memory_ps[chunks];
  }
  while (n_ring < MAX_RING && (int64_t) n_ring << net->window_bits <
                                  MAX (RING_PS, 4 * net->wire_ps[net->full_chunks[false]]))
    n_ring *= 2;
  torus_make_ring (net, n_ring);
}

static void
torus_set_shrink (SimNetwork *base, uint32_t shrink)
{
  for (uint32_t part = 0; part < base->n_parts; part++)
    set_part_shrink (part_at ((Torus *) base, part), shrink);
}

/* --- Construction --- */

static void
torus_free (SimNetwork *base)
{
  Torus *net = (Torus *) base;

  torus_free_parts (net);
  packet_table_free (net->direct_sent);
  packet_table_free (net->dynamic);
  packet_table_free (net->nodes);
  packet_table_free (net->priority_ports);
  packet_table_free (net->priority_slots);
  packet_table_free (net->priority_links);
  packet_table_free (net->fifo_messages);
  packet_table_free (net->feeder_of);
  packet_table_free (net);
}

/* --- Saving and loading --- */

static void
dump_bucket_array (void **entries, uint32_t *n, uint32_t *capacity, size_t size, BaseDump *dump)
{
  uint32_t found = (uint32_t) base_dump_count (dump, *n, size);

  if (base_dump_loads (dump) && found > 0) {
    *n = *capacity = found;
    *entries = g_malloc_n (found + AHEAD, size);
  }
  base_dump_bytes (dump, *entries, found * size);
}

static void
dump_part (Torus *net, BaseDump *dump)
{
  /* What a window leaves to no other. */
  g_assert (net->n_going == 0 && net->n_tokens == 0 && net->n_stepping == 0);
  packet_engine_dump (&net->engine, dump);
  base_dump_section (dump, "part of a torus");
  packet_pool_dump (&net->feeders, (void **) &net->feeder, sizeof (Feeder), dump);
  packet_pool_dump (&net->descriptors, (void **) &net->descriptor, sizeof (Descriptor), dump);
  packet_pool_dump (&net->dynamic_packets, (void **) &net->dynamic_packet, sizeof (DynamicPacket),
                    dump);
  BASE_DUMP_VALUE (dump, net->n_injected);
  BASE_DUMP_VALUE (dump, net->window);
  set_window (net, net->window);
  BASE_DUMP_VALUE (dump, net->now_ps);
  BASE_DUMP_VALUE (dump, net->sweep_ps);
  BASE_DUMP_VALUE (dump, net->in_flight);
  net->has_steps |= base_dump_loads (dump);
  base_dump_array (dump, net->occupied, net->n_ring / 64, sizeof *net->occupied);
  for (uint32_t index = 0; index < net->n_ring; index++) {
    Bucket *bucket = &net->bucket[index];

    if ((net->occupied[index / 64] >> (index % 64) & 1) == 0)
      continue;
    dump_bucket_array ((void **) &bucket->ports, &bucket->n_ports, &bucket->ports_capacity,
                       sizeof *bucket->ports, dump);
    dump_bucket_array ((void **) &bucket->receptions, &bucket->n_receptions,
                       &bucket->receptions_capacity, sizeof *bucket->receptions, dump);
    dump_bucket_array ((void **) &bucket->steps, &bucket->n_steps, &bucket->steps_capacity,
                       sizeof *bucket->steps, dump);
  }
}

static void
torus_dump (SimNetwork *base, BaseDump *dump)
{
  Torus *net = (Torus *) base;
  size_t n_links = (size_t) net->n_nodes * net->n_ports;
  size_t n_priority_slots = n_links << net->places.id_shift[PRIORITY];
  uint32_t n_parts = base->n_parts;

  base_dump_section (dump, "torus");
  BASE_DUMP_VALUE (dump, n_parts);
  if (n_parts != base->n_parts) {
    base_dump_fail (dump, "saved by a run of %u threads, and goes on with as many only", n_parts);
    return;
  }
  base_dump_array (dump, net->nodes, net->n_nodes, net->places.node_bytes);
  base_dump_array (dump, net->priority_ports, n_links, net->places.priority_bytes);
  base_dump_array (dump, net->priority_slots, n_priority_slots, sizeof *net->priority_slots);
  base_dump_array (dump, net->priority_links, n_priority_slots, sizeof *net->priority_links);
  base_dump_array (dump, net->direct_sent, net->n_nodes, sizeof *net->direct_sent);
  base_dump_array (dump, net->fifo_messages, n_links, sizeof *net->fifo_messages);
  base_dump_array (dump, net->dynamic, net->n_nodes, sizeof *net->dynamic);
  base_dump_array (dump, net->feeder_of, (size_t) net->n_nodes * net->n_fifos * net->n_owners,
                   sizeof *net->feeder_of);
  for (uint32_t part = 0; part < n_parts; part++)
    dump_part (part_at (net, part), dump);
}

static const SimNetworkClass torus_class = {
  .name = "packet",
  .summary = "every packet, virtual channel, token and FIFO",
  .free = torus_free,
  .send = torus_send,
  .timer = torus_timer,
  .shared_timer = torus_shared_timer,
  .run = torus_run,
  .dump = torus_dump,
  .count = torus_count,
  .set_shrink = torus_set_shrink,
};

/* Fields of the hot path can hold what the machine says. */
static gboolean
check_limits (const TopoMachine *machine, GError **error)
{
  const TopoParameters *p = &machine->parameters;
  uint64_t software_bytes =
      MAX (2 * SIM_DESCRIPTOR_BYTES, p->mpi.envelope_bytes + SIM_CONTROL_WORDS_BYTES);
  uint64_t payload_bytes = MAX (p->packet.payload_bytes, software_bytes);
  uint64_t chunks =
      (p->packet.header_bytes + payload_bytes + p->packet.chunk_bytes - 1) / p->packet.chunk_bytes;

  if (p->packet.header_bytes != p->packet.chunk_bytes)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "packet.header: the packet network needs a header of one chunk");
  else if (chunks > 63)
    g_set_error (
        error, SIM_ERROR, SIM_ERROR_NETWORK,
        "packet.chunk: a packet, also one that carries two descriptors or an envelope, may "
        "have at most 63 chunks, not %" G_GUINT64_FORMAT,
        chunks);
  else if (p->packet.payload_bytes > UINT16_MAX)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK, "packet.payload: at most 65535 bytes");
  else if (p->mpi.envelope_bytes > UINT8_MAX)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK, "mpi.envelope: at most 255 bytes");
  else if (p->link.hop_latency_ps > 1000000000 || p->link.token_latency_ps < 1)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "link.hop_latency: must be below 1 ms, link.token_latency above 0");
  else if (p->router.dynamic_tokens > 60000 || p->router.bubble_tokens > 4095 ||
           p->router.priority_tokens > 4095)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "router: at most 60000 dynamic, 4095 bubble and 4095 priority tokens");
  else if (packet_bytes_ps (p->packet.chunk_bytes + p->packet.trailer_bytes,
                            (double) p->link.bandwidth_Bps * (1.0 - p->link.overhead)) < 1)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "link.bandwidth: a packet of one chunk must take at least 1 ps");
  else if (topo_shape_nodes (&machine->shape) > SIM_SCHEDULE_MAX_NODES)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK, "more nodes than the schedule can hold");
  else
    return TRUE;
  return FALSE;
}

/* Fields of Packet.way.  A dimension's hops need as many bits as its longest way. */
static void
init_ways (Torus *net)
{
  const RouteTorus *route = &net->route;
  uint32_t bit = 0;

  for (uint32_t k = 0; k < route->shape.n_dimensions; k++) {
    uint32_t dimension = route->order[k];
    uint32_t size = route->shape.size[dimension];
    uint32_t hops = route->shape.wrap[dimension] ? size / 2 : size - 1;

    net->first_bit[dimension] = (uint8_t) bit;
    for (; hops > 0; hops >>= 1) {
      net->hops_of[dimension] |= 1u << bit;
      net->of_bit[bit++].port = (uint8_t) (2 * dimension);
    }
    for (uint32_t port = 2 * dimension; port < 2 * dimension + 2; port++)
      net->one_hop[port] = 1u << net->first_bit[dimension];
  }
  for (uint32_t hop_bit = 0; hop_bit < bit; hop_bit++)
    net->of_bit[hop_bit].sign = (uint8_t) (bit + net->of_bit[hop_bit].port / 2);
  for (uint32_t dimensions = 0; dimensions < G_N_ELEMENTS (net->ports_of); dimensions++)
    for (uint32_t k = 0; k < TOPO_MAX_DIMENSIONS; k++)
      net->ports_of[dimensions] |= (uint16_t) ((dimensions >> k & 1) << 2 * k);
  net->hops_mask = (1u << bit) - 1;
  net->first_sign = (uint8_t) bit;
  net->of_bit[bit].port = NOWHERE;
}

static void
init_places (Torus *net)
{
  const TopoParameters *p = &net->engine.machine->parameters;
  size_t n_links = (size_t) net->n_nodes * net->n_ports;

  const uint32_t bubble = (uint32_t) p->router.bubble_tokens,
                 priority = (uint32_t) p->router.priority_tokens;
  uint32_t shift[VCS] = { 0, 0 };

  for (uint32_t vc = 0; vc < VCS; vc++)
    while ((1u << shift[vc]) < (vc == BUBBLE ? bubble : priority))
      shift[vc]++;
  net->places = (Places) PLACES (net->n_ports, bubble, shift[BUBBLE], priority, shift[PRIORITY],
                                 net->reception_depth);
  net->nodes = packet_table_new ((size_t) net->n_nodes * net->places.node_bytes);
  net->priority_ports = packet_table_new (n_links * net->places.priority_bytes);
  net->priority_slots =
      packet_table_new ((n_links << net->places.id_shift[PRIORITY]) * sizeof *net->priority_slots);
  net->priority_links =
      packet_table_new ((n_links << net->places.id_shift[PRIORITY]) * sizeof *net->priority_links);
  net->direct_sent = packet_table_new (net->n_nodes * sizeof *net->direct_sent);
  net->fifo_messages = packet_table_new (n_links * sizeof *net->fifo_messages);
  net->dynamic = packet_table_new (net->n_nodes * sizeof *net->dynamic);
  net->feeder_of = packet_table_new ((size_t) net->n_nodes * net->n_fifos * net->n_owners *
                                     sizeof *net->feeder_of);
}

static void
init_node (Torus *net, uint32_t index)
{
  Node *node = node_at (net, index);

  for (uint32_t port = 0; port < net->n_ports; port++) {
    node->neighbour[port] = topo_shape_neighbour (&net->route.shape, index, port);
    if (topo_machine_extra_latency_ps (net->engine.machine, index, port) > 0)
      node->far |= (uint16_t) (1u << port);
    port_of (net, node, port)->wake_ps = NEVER_PS;
  }
  for (uint32_t fifo = 0; fifo < net->n_fifos; fifo++)
    *fifo_of (net, node, fifo) = (Fifo){
      .chosen_ps = -1,
      .last_feeder = PACKET_NONE,
      .previous_feeder = PACKET_NONE,
      .first_incoming = PACKET_NONE,
    };
}

/* A guess at what nobody exceeds; the most that validate shrink looks at. */
#define MOST_SHRINK 64u

/* Beyond what a core has of second-level cache: more is kept back. */
#define LARGE_BYTES ((size_t) 8 << 20)

SimNetwork *
sim_packet_new (const TopoMachine *machine, const TopoMapping *mapping, RoutePolicy policy,
                uint32_t n_threads, const SimClient *client, void *client_data, GError **error)
{
  const TopoParameters *p = &machine->parameters;
  double wire_Bps = (double) p->link.bandwidth_Bps * (1.0 - p->link.overhead);
  int64_t window_ps;
  Torus *net;

  if (!check_limits (machine, error))
    return NULL;
  net = packet_table_new (sizeof *net);
  net->engine.base = (SimNetwork){
    .class = &torus_class,
    .client = client,
    .client_data = client_data,
    .lookahead_ps = MIN (p->link.hop_latency_ps, p->link.token_latency_ps),
    .counters = sim_counters_new (machine),
  };
  net->engine.machine = machine;
  net->engine.mapping = mapping;
  net->policy = policy;
  net->chunk_bytes = (uint32_t) p->packet.chunk_bytes;
  net->payload_bytes = (uint32_t) p->packet.payload_bytes;
  route_torus_init (&net->route, &machine->shape);
  net->n_nodes = topo_shape_nodes (&machine->shape);
  net->n_ports = topo_shape_ports (&machine->shape);
  net->n_fifos = net->n_ports + 1;
  net->n_owners = machine->ranks_per_node + 1;
  net->reception_depth = (uint32_t) p->router.reception_packets;
  net->receiver_grants = (uint32_t) p->router.receiver_grants;
  net->n_queues = (uint32_t) p->router.dynamic_queues;
  net->dynamic_tokens = (uint32_t) p->router.dynamic_tokens;
  net->escape = p->router.escape;
  net->stay_on_bubble = p->router.stay_on_bubble;
  for (uint32_t chunks = 0; chunks < IS_SHRUNK; chunks++) {
    net->wire_ps[chunks] =
        packet_bytes_ps (chunks * p->packet.chunk_bytes + p->packet.trailer_bytes, wire_Bps);
    net->memory_ps[chunks] = packet_bytes_ps (chunks * p->packet.chunk_bytes,
                                              (double) p->messaging.memory_bandwidth_Bps);
  }
  net->latency_ps[0] = p->link.hop_latency_ps;
  net->latency_ps[1] = p->link.hop_latency_ps + p->link.midplane_latency_ps;
  net->token_latency_ps = p->link.token_latency_ps;
  net->injection_latency_ps = p->messaging.injection_latency_ps;
  net->reception_latency_ps = p->messaging.reception_latency_ps;
  net->engine.base.most_shrink = MIN (MOST_SHRINK, UINT16_MAX / net->payload_bytes);
  init_ways (net);
  init_places (net);
  for (uint32_t node = 0; node < net->n_nodes; node++)
    init_node (net, node);
  net->n_kept = (size_t) net->n_nodes * net->places.node_bytes > LARGE_BYTES ? MAX_KEPT : 2;

  /* Nodes affect each other, a FIFO's next packet another port and receptions
   * the client in a later window only. */
  window_ps = MIN (net->engine.base.lookahead_ps, net->wire_ps[1]);
  while (net->window_bits < MAX_WINDOW_BITS && INT64_C (2) << net->window_bits <= window_ps)
    net->window_bits++;
  /* A packet that waits and one on its way are less than 2^31 ps apart. */
  net->sweep_every_ps = INT64_C (1) << 30;
  while (net->sweep_every_ps + net->latency_ps[1] >= INT32_MAX)
    net->sweep_every_ps /= 2;
  net->sweep_ps = net->sweep_every_ps;
  packet_engine_make_messages (&net->engine);
  torus_make_parts (net, n_threads);
  sim_network_set_shrink (&net->engine.base, 1);
  return &net->engine.base;
}
