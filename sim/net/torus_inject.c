/* torus_inject.c - messages become the packets at the heads of a torus node's injection FIFOs.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Software writes descriptors into memory FIFOs; each network injection FIFO
 * is fed by the memory FIFOs that have descriptors for it, one packet from
 * each in turn (bgq.md 3.1, 3.2; the turn is a guess: how engines share
 * memory FIFOs is not published).  A rank has one memory FIFO per network
 * FIFO; remote-get data comes from memory FIFOs that belong to the node.  A network
 * FIFO sends one packet at a time, at link speed (guess: whether it could feed
 * two ports at once is not published).
 *
 * A FIFO takes its next packet when the last byte of the one before has left.
 * The choice does not depend on descriptors that come in the meantime, which
 * queue up behind all others, so it is made when that packet's head leaves, and
 * the port that it wants is told.  Descriptors that come up to the moment for
 * which the choice was made stand in the circle as if they had come before it. */
#include "sim/net/torus_state.h"

/* --- Descriptors become packets --- */

static void
give_descriptor (Torus *net, uint32_t index)
{
  pool_give (&net->descriptors, net->descriptor, sizeof (Descriptor), offsetof (Descriptor, next),
             index);
}

static ALWAYS_INLINE uint32_t *
feeder_of (const Torus *net, uint32_t node, uint32_t fifo_index, uint32_t owner)
{
  return &net->feeder_of[((size_t) node * net->n_fifos + fifo_index) * net->n_owners + owner];
}

/* Puts a descriptor at the end of its memory FIFO, which is made when the
 * owner has none; a new one has its turn when all others have had theirs. */
static void
feed (Torus *net, uint32_t node, uint32_t fifo_index, Fifo *fifo, uint32_t index)
{
  Descriptor *descriptor = &net->descriptor[index];
  uint32_t owner = descriptor->load.owner, *known = feeder_of (net, node, fifo_index, owner);
  bool before_head = descriptor->at_ps <= fifo->chosen_ps;
  uint32_t last = before_head ? fifo->previous_feeder : fifo->last_feeder, at;

  descriptor->next = PACKET_NONE;
  if (*known != 0) {
    Feeder *feeder = &net->feeder[*known - 1];

    if (feeder->second == PACKET_NONE)
      feeder->second = index;
    else
      net->descriptor[feeder->last].next = index;
    feeder->last = index;
    return;
  }
  at = pool_take (&net->feeders, (void **) &net->feeder, sizeof (Feeder), offsetof (Feeder, next));
  net->feeder[at] = (Feeder){ descriptor->load, PACKET_NONE, PACKET_NONE, at };
  *known = at + 1;
  give_descriptor (net, index);
  if (last != PACKET_NONE) {
    net->feeder[at].next = net->feeder[last].next;
    net->feeder[last].next = at;
  }
  if (before_head && !fifo->stayed && owner == fifo->head_owner) {
    /* The memory FIFO of the head, which had nothing left, would have stayed. */
    fifo->stayed = true;
    fifo->last_feeder = at;
    if (last == PACKET_NONE)
      fifo->previous_feeder = at;
  } else {
    fifo->previous_feeder = at;
    if (!before_head || !fifo->stayed)
      fifo->last_feeder = at;
  }
  fifo->packet.next_feeder = net->feeder[fifo->last_feeder].next;
}

/* Packet.chunks of a packet that carries so many bytes of the user's and software's. */
static uint8_t
data_chunks (const Torus *net, uint64_t bytes)
{
  uint64_t unit_bytes = (uint64_t) net->chunk_bytes * net->engine.base.shrink;

  if (bytes <= net->payload_bytes)
    return (uint8_t) (1 + payload_chunks (net, bytes));
  return (uint8_t) (IS_SHRUNK + 1 + (bytes + unit_bytes - 1) / unit_bytes);
}

/* All packets of the load but the last, when the head is one of them. */
static void
set_aside (Torus *net, Fifo *fifo, Load *load)
{
  uint32_t full_bytes = net->full_bytes[load->exact];
  uint64_t packets = (load->bytes_left - 1) / full_bytes;

  if (load->message != fifo->packet.message || load->way != fifo->packet.way ||
      load->envelope_chunks > 0 || load->software_bytes > 0)
    return;
  /* A field of 31 bits. */
  fifo->full_packets = (uint32_t) MIN (packets, 1u << 30) & 0x7fffffffu;
  fifo->full_exact = load->exact;
  load->bytes_left -= (uint64_t) fifo->full_packets * full_bytes;
}

/* The feeder's descriptor has become packets.  False: it was the last. */
static bool
take_next_descriptor (Torus *net, Feeder *feeder)
{
  uint32_t index = feeder->second;

  if (index == PACKET_NONE)
    return false;
  feeder->load = net->descriptor[index].load;
  feeder->second = net->descriptor[index].next;
  give_descriptor (net, index);
  return true;
}

/* Takes one packet from the memory FIFO whose turn it is. */
static void
take_packet (Torus *net, uint32_t node, uint32_t fifo_index, Fifo *fifo)
{
  uint32_t before = fifo->last_feeder, feeder_index = fifo->packet.next_feeder;
  Feeder *feeder = &net->feeder[feeder_index];
  Load *load = &feeder->load;

  fifo->packet =
      (Packet){ .way = load->way, .message = load->message, .next_feeder = feeder->next };
  if (load->vc == DYNAMIC)
    fifo->packet.dynamic = (uint8_t) (IS_DYNAMIC | load->zone << ZONE_SHIFT);
  fifo->vc = load->vc;
  fifo->has_head = true;
  if (load->envelope_chunks) {
    fifo->packet.chunks = (uint8_t) (1 + load->envelope_chunks);
    load->envelope_chunks = 0;
  } else {
    uint32_t full_bytes = net->full_bytes[load->exact];
    uint64_t bytes = MIN (load->bytes_left, full_bytes - load->software_bytes);

    fifo->packet.payload_bytes = (uint16_t) bytes;
    fifo->packet.chunks = data_chunks (net, bytes + load->software_bytes);
    load->bytes_left -= bytes;
    load->data_left = load->bytes_left > 0;
  }
  net->engine.n_packets++;
  net->engine.payload_sent += fifo->packet.payload_bytes;
  fifo->previous_feeder = before;
  fifo->last_feeder = feeder_index;
  fifo->stayed = true;
  fifo->head_owner = load->owner;
  if (!load->data_left && !take_next_descriptor (net, feeder)) {
    /* No descriptor left: the memory FIFO leaves the circle. */
    if (before == feeder_index) {
      fifo->last_feeder = PACKET_NONE;
    } else {
      net->feeder[before].next = feeder->next;
      fifo->last_feeder = before;
    }
    fifo->previous_feeder = fifo->last_feeder;
    fifo->stayed = false;
    *feeder_of (net, node, fifo_index, load->owner) = 0;
    pool_give (&net->feeders, net->feeder, sizeof (Feeder), offsetof (Feeder, next), feeder_index);
  } else if (before == feeder_index && load->bytes_left > 0) {
    /* Alone in the circle: most of what is left is packets like each other. */
    set_aside (net, fifo, load);
  }
}

/* The next of the packets that take_packet() set aside. */
static void
take_full_packet (Torus *net, Fifo *fifo)
{
  uint32_t full_bytes = net->full_bytes[fifo->full_exact];

  fifo->full_packets--;
  fifo->has_head = true;
  fifo->chosen_ps = fifo->ready_ps;
  fifo->packet.payload_bytes = (uint16_t) full_bytes;
  fifo->packet.chunks = net->full_chunks[fifo->full_exact];
  net->engine.n_packets++;
  net->engine.payload_sent += full_bytes;
}

/* Moves the first descriptor that came in to its memory FIFO. */
static void
feed_first (Torus *net, uint32_t node, uint32_t fifo_index, Fifo *fifo)
{
  uint32_t index = fifo->first_incoming;

  fifo->first_incoming = net->descriptor[index].next;
  feed (net, node, fifo_index, fifo, index);
}

/* Chooses the head for ready_ps, when the FIFO can take one, or for later if
 * nothing is there by then.  False: there is nothing. */
bool
torus_choose_head (Torus *net, uint32_t node, uint32_t fifo_index, Fifo *fifo, int64_t ready_ps)
{
  uint32_t first = fifo->first_incoming;

  fifo->ready_ps = ready_ps;
  fifo->injected = false;
  if (fifo->full_packets > 0) {
    if (first == PACKET_NONE) {
      take_full_packet (net, fifo);
      return true;
    }
    net->feeder[fifo->last_feeder].load.bytes_left +=
        (uint64_t) fifo->full_packets * net->full_bytes[fifo->full_exact];
    fifo->full_packets = 0;
  }
  if (fifo->last_feeder == PACKET_NONE) {
    if (first == PACKET_NONE)
      return false;
    if (net->descriptor[first].at_ps >= ready_ps) {
      fifo->ready_ps = net->descriptor[first].at_ps;
      fifo->injected = true;
      fifo->sequence = net->descriptor[first].sequence;
      feed_first (net, node, fifo_index, fifo);
    }
  }
  while (!fifo->injected && fifo->first_incoming != PACKET_NONE &&
         net->descriptor[fifo->first_incoming].at_ps <= ready_ps)
    feed_first (net, node, fifo_index, fifo);
  /* Descriptors of the same instant come behind one that is taken at once. */
  fifo->chosen_ps = fifo->ready_ps - fifo->injected;
  take_packet (net, node, fifo_index, fifo);
  return true;
}

/* A descriptor is in its memory FIFO now. */
void
torus_inject (Torus *net, uint32_t node_index, uint32_t index)
{
  Descriptor *descriptor = &net->descriptor[index];
  Node *node = node_at (net, node_index);
  uint32_t fifo_index = descriptor->load.fifo;
  Fifo *fifo = fifo_of (net, node, fifo_index);

  descriptor->at_ps = net->engine.now_ps;
  descriptor->sequence = net->n_injected++;
  descriptor->next = PACKET_NONE;
  if (fifo->first_incoming == PACKET_NONE)
    fifo->first_incoming = index;
  else
    net->descriptor[fifo->last_incoming].next = index;
  fifo->last_incoming = index;
  if (fifo->has_head)
    return;
  torus_choose_head (net, node_index, fifo_index, fifo, fifo->ready_ps);
  announce (net, node_index, node, fifo_index, fifo);
}

/* --- Messages become descriptors --- */

static uint32_t
packed_way (const Torus *net, RouteWay way)
{
  uint32_t packed = (uint32_t) way.plus << net->first_sign;

  for (uint32_t dimension = 0; dimension < net->route.shape.n_dimensions; dimension++)
    packed |= (uint32_t) way.hops[dimension] << net->first_bit[dimension];
  return packed;
}

/* A piece of a paced transfer is routed as the whole of it. */
static uint64_t
routed_bytes (const SimMessage *message)
{
  return MAX (message->bytes, message->whole_bytes);
}

static uint32_t
checked_pin (const Torus *net, uint32_t pin)
{
  g_assert (pin < net->n_ports);
  return pin;
}

static void
choose_vc (Descriptor *descriptor, RouteChoice choice)
{
  static const uint8_t vc_of[ROUTE_VCS] = {
    [ROUTE_VC_DYNAMIC] = DYNAMIC, [ROUTE_VC_BUBBLE] = BUBBLE, [ROUTE_VC_PRIORITY] = PRIORITY
  };

  descriptor->load.vc = vc_of[choice.vc];
  descriptor->load.zone = choice.zone;
}

static void
describe_eager (Torus *net, const SimMessage *message, Descriptor *descriptor)
{
  uint64_t envelope_bytes = net->engine.machine->parameters.mpi.envelope_bytes;

  descriptor->load.vc = BUBBLE;
  if (message->kind == SIM_MESSAGE_CONTROL) {
    descriptor->load.envelope_chunks =
        (uint8_t) payload_chunks (net, envelope_bytes + SIM_CONTROL_WORDS_BYTES);
    descriptor->load.data_left = false;
  } else if (message->bytes + envelope_bytes <= net->payload_bytes) {
    descriptor->load.software_bytes = (uint8_t) envelope_bytes;
  } else {
    /* Longer: the envelope travels in a packet of its own, before the data. */
    descriptor->load.envelope_chunks = (uint8_t) payload_chunks (net, envelope_bytes);
  }
}

static void
describe_data (Torus *net, const SimMessage *message, uint32_t from, uint32_t to,
               Descriptor *descriptor)
{
  RouteChoice choice =
      route_pami_data (net->engine.machine, net->policy, from, to, routed_bytes (message));
  uint32_t pin = route_pami_pin (net->engine.machine, to, from,
                                 net->engine.mapping->slot[message->source_rank]);

  choose_vc (descriptor, choice);
  if (message->force_deterministic)
    descriptor->load.vc = BUBBLE;
  descriptor->load.fifo = (uint8_t) checked_pin (net, route_pami_pin_to_self (pin));
  descriptor->load.owner = (uint8_t) net->engine.machine->ranks_per_node;
}

static Descriptor
describe (Torus *net, const SimMessage *message, uint32_t from, uint32_t to)
{
  Descriptor descriptor = {
    .load.way = packed_way (net, route_torus_way (&net->route, from, to)),
    .load.owner = (uint8_t) net->engine.mapping->slot[message->source_rank],
    .load.bytes_left = message->bytes,
    .load.data_left = true,
    .load.exact = message->exact,
  };

  if (message->kind != SIM_MESSAGE_DATA && message->kind != SIM_MESSAGE_REMOTE_GET)
    descriptor.load.fifo = (uint8_t) checked_pin (
        net, route_pami_pin (net->engine.machine, from, to,
                             net->engine.mapping->slot[message->destination_rank]));
  switch ((SimMessageKind) message->kind) {
  case SIM_MESSAGE_EAGER:
  case SIM_MESSAGE_CONTROL: describe_eager (net, message, &descriptor); break;
  case SIM_MESSAGE_REMOTE_GET:
    descriptor.load.vc = PRIORITY;
    descriptor.load.fifo = (uint8_t) net->n_ports;
    descriptor.load.data_left = false;
    descriptor.load.envelope_chunks =
        (uint8_t) payload_chunks (net, SIM_DESCRIPTOR_BYTES * MAX (1u, message->descriptors));
    break;
  case SIM_MESSAGE_DATA: describe_data (net, message, from, to, &descriptor); break;
  case SIM_MESSAGE_DIRECT:
    /* Descriptors of direct collectives allow all torus FIFOs (bgq.md section
     * 5); the node's unit takes them in turn (guess). */
    choose_vc (&descriptor, route_pami_direct (net->engine.machine, net->policy));
    descriptor.load.fifo = (uint8_t) (net->direct_sent[from]++ % net->n_ports);
    break;
  case SIM_MESSAGE_SEND:
  case SIM_MESSAGE_WRITE:
  case SIM_MESSAGE_READ: g_assert_not_reached ();
  }
  return descriptor;
}

/* Both cables to the E neighbour: half of the data on each, deterministic
 * (bgq.md section 1). */
static void
split (const Torus *net, uint32_t from, uint32_t to, Descriptor descriptors[2])
{
  uint32_t dimension = net->route.shape.n_dimensions - 1;
  uint64_t bytes = descriptors[0].load.bytes_left;

  descriptors[1] = descriptors[0];
  for (uint32_t plus = 0; plus < 2; plus++) {
    descriptors[plus].load.way =
        packed_way (net, route_torus_way_hinted (&net->route, from, to, dimension, plus));
    descriptors[plus].load.bytes_left = plus ? bytes - bytes / 2 : bytes / 2;
    descriptors[plus].load.vc = BUBBLE;
    descriptors[plus].load.fifo = (uint8_t) (2 * dimension + plus);
  }
}

/* How many packets the descriptor becomes. */
static uint64_t
count_packets (const Torus *net, const Descriptor *descriptor)
{
  uint64_t bytes = descriptor->load.bytes_left + descriptor->load.software_bytes;
  uint64_t packets = descriptor->load.envelope_chunks != 0;
  uint32_t full_bytes = net->full_bytes[descriptor->load.exact];

  if (descriptor->load.data_left)
    packets += bytes == 0 ? 1 : (bytes + full_bytes - 1) / full_bytes;
  return packets;
}

static void
post (Torus *net, uint32_t node, const Descriptor *descriptor, int64_t at_ps)
{
  uint32_t index = pool_take (&net->descriptors, (void **) &net->descriptor, sizeof (Descriptor),
                              offsetof (Descriptor, next));

  net->descriptor[index] = *descriptor;
  message_at (&net->engine, descriptor->load.message)->packets_left +=
      count_packets (net, descriptor);
  if (descriptor->load.data_left && descriptor->load.fifo < net->n_ports)
    net->fifo_messages[(size_t) node * net->n_ports + descriptor->load.fifo]++;
  sim_schedule_push (net->engine.schedule, node, CODE_INJECT, index,
                     at_ps + net->injection_latency_ps);
}

void
torus_send (SimNetwork *base, const SimMessage *message, int64_t at_ps)
{
  Torus *net = (Torus *) base;
  uint32_t from = net->engine.mapping->node[message->source_rank];
  uint32_t to = net->engine.mapping->node[message->destination_rank];
  uint32_t index = packet_engine_message (&net->engine, message, at_ps);
  Descriptor descriptors[2];
  bool splits = message->kind == SIM_MESSAGE_DATA &&
                route_pami_e_split (net->engine.machine, from, to, routed_bytes (message));

  g_assert (from != to);
  descriptors[0] = describe (net, message, from, to);
  descriptors[0].load.message = index;
  if (splits)
    split (net, from, to, descriptors);
  for (uint32_t i = 0; i < (splits ? 2u : 1u); i++)
    post (net, from, &descriptors[i], at_ps);
}
