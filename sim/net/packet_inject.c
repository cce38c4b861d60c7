/* packet_inject.c - from a message to packets at the injection FIFOs.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Software writes descriptors into memory FIFOs; each network injection FIFO
 * is fed by the memory FIFOs that have descriptors for it, one packet from
 * each in turn (bgq.md 3.1, 3.2; the turn is a guess: how engines share
 * memory FIFOs is not published).  A rank has one memory FIFO per network
 * FIFO; remote-get data comes from memory FIFOs that belong to the node.  The
 * messaging unit reads memory far faster than a link sends, so packets are
 * made one at a time, when the FIFO can take one: its depth changes nothing.
 *
 * A network FIFO sends one packet at a time, at link speed (guess: whether it
 * could feed two ports at once is not published). */
#include "config.h"

#include "sim/net/packet_state.h"

static inline uint32_t
payload_chunks (const PacketNetwork *net, uint64_t bytes)
{
  return (uint32_t) ((bytes + net->chunk_bytes - 1) / net->chunk_bytes);
}

static uint64_t
data_packets (const PacketNetwork *net, const Descriptor *descriptor)
{
  uint64_t bytes = descriptor->bytes_left + descriptor->software_bytes;

  if (!descriptor->data_left)
    return 0;
  return bytes == 0 ? 1 : (bytes + net->payload_bytes - 1) / net->payload_bytes;
}

/* --- What each kind of message asks of the messaging unit --- */

/* A piece of a paced transfer is routed as the whole of it. */
static uint64_t
routed_bytes (const SimMessage *message)
{
  return MAX (message->bytes, message->whole_bytes);
}

static uint32_t
fifo_of_pin (const PacketNetwork *net, uint32_t pin)
{
  g_assert (pin < net->n_ports);
  return pin;
}

static void
describe_eager (PacketNetwork *net, const SimMessage *message, Descriptor *descriptor)
{
  uint64_t envelope_bytes = net->engine.machine->parameters.envelope_bytes;

  descriptor->vc = ROUTE_VC_BUBBLE;
  if (message->kind == SIM_MESSAGE_CONTROL) {
    descriptor->envelope_chunks =
        (uint8_t) payload_chunks (net, envelope_bytes + SIM_CONTROL_WORDS_BYTES);
    descriptor->data_left = false;
  } else if (message->bytes + envelope_bytes <= net->payload_bytes) {
    descriptor->software_bytes = (uint8_t) envelope_bytes;
  } else {
    /* Longer: the envelope travels in a packet of its own, before the data. */
    descriptor->envelope_chunks = (uint8_t) payload_chunks (net, envelope_bytes);
  }
}

static void
describe_remote_get (PacketNetwork *net, const SimMessage *message, Descriptor *descriptor)
{
  descriptor->vc = ROUTE_VC_PRIORITY;
  descriptor->fifo = (uint8_t) net->n_ports;
  descriptor->data_left = false;
  descriptor->envelope_chunks =
      (uint8_t) payload_chunks (net, SIM_DESCRIPTOR_BYTES * MAX (1u, message->descriptors));
}

static void
describe_data (PacketNetwork *net, const SimMessage *message, uint32_t from, uint32_t to,
               Descriptor *descriptor)
{
  RouteChoice choice =
      route_pami_data (net->engine.machine, net->policy, from, to, routed_bytes (message));
  uint32_t pin = route_pami_pin (net->engine.machine, to, from,
                                 net->engine.mapping->slot[message->source_rank]);

  descriptor->vc = message->force_deterministic ? ROUTE_VC_BUBBLE : choice.vc;
  descriptor->zone = choice.zone;
  descriptor->fifo = (uint8_t) fifo_of_pin (net, route_pami_pin_to_self (pin));
  descriptor->owner = net->engine.machine->ranks_per_node;
}

/* Descriptors of direct collectives allow all torus FIFOs (bgq.md section 5);
 * the node's unit takes them in turn (guess). */
static void
describe_direct (PacketNetwork *net, uint32_t from, Descriptor *descriptor)
{
  RouteChoice choice = route_pami_direct (net->engine.machine, net->policy);

  descriptor->vc = choice.vc;
  descriptor->zone = choice.zone;
  descriptor->fifo = (uint8_t) (net->direct_sent[from]++ % net->n_ports);
}

static Descriptor
describe (PacketNetwork *net, const SimMessage *message, uint32_t from, uint32_t to)
{
  Descriptor descriptor = {
    .way = route_torus_way (&net->route, from, to),
    .owner = net->engine.mapping->slot[message->source_rank],
    .bytes_left = message->bytes,
    .data_left = true,
    .next = PACKET_NONE,
  };

  if (message->kind != SIM_MESSAGE_DATA && message->kind != SIM_MESSAGE_REMOTE_GET)
    descriptor.fifo = (uint8_t) fifo_of_pin (
        net, route_pami_pin (net->engine.machine, from, to,
                             net->engine.mapping->slot[message->destination_rank]));
  switch ((SimMessageKind) message->kind) {
  case SIM_MESSAGE_EAGER:
  case SIM_MESSAGE_CONTROL: describe_eager (net, message, &descriptor); break;
  case SIM_MESSAGE_REMOTE_GET: describe_remote_get (net, message, &descriptor); break;
  case SIM_MESSAGE_DATA: describe_data (net, message, from, to, &descriptor); break;
  case SIM_MESSAGE_DIRECT: describe_direct (net, from, &descriptor); break;
  case SIM_MESSAGE_SEND:
  case SIM_MESSAGE_WRITE: g_assert_not_reached ();
  }
  return descriptor;
}

/* --- Descriptors --- */

static void
post (PacketNetwork *net, uint32_t node, uint32_t message, Descriptor descriptor, int64_t at_ps)
{
  uint32_t index = packet_take_descriptor (net);

  descriptor.message = message;
  net->engine.message[message].packets_left +=
      data_packets (net, &descriptor) + (descriptor.envelope_chunks ? 1 : 0);
  net->descriptor[index] = descriptor;
  if (descriptor.data_left && descriptor.fifo < net->n_ports)
    net->fifo_messages[(size_t) node * net->n_ports + descriptor.fifo]++;
  sim_schedule_push (net->engine.schedule, node, CODE_INJECT, index,
                     at_ps + net->injection_latency_ps);
}

/* Both cables to the E neighbour: half of the data on each, deterministic
 * (bgq.md section 1). */
static void
post_split (PacketNetwork *net, uint32_t message, uint32_t from, uint32_t to, Descriptor descriptor,
            int64_t at_ps)
{
  uint32_t dimension = net->route.shape.n_dimensions - 1;
  uint64_t bytes = descriptor.bytes_left;

  for (uint32_t plus = 0; plus < 2; plus++) {
    descriptor.way = route_torus_way_hinted (&net->route, from, to, dimension, plus);
    descriptor.bytes_left = plus ? bytes - bytes / 2 : bytes / 2;
    descriptor.vc = ROUTE_VC_BUBBLE;
    descriptor.fifo = (uint8_t) (2 * dimension + plus);
    post (net, from, message, descriptor, at_ps);
  }
}

void
packet_describe (PacketNetwork *net, uint32_t message, int64_t at_ps)
{
  const SimMessage *public = &net->engine.message[message].public;
  uint32_t from = net->engine.mapping->node[public->source_rank];
  uint32_t to = net->engine.mapping->node[public->destination_rank];
  Descriptor descriptor;

  g_assert (from != to);
  descriptor = describe (net, public, from, to);
  if (public->kind == SIM_MESSAGE_DATA &&
      route_pami_e_split (net->engine.machine, from, to, routed_bytes (public)))
    post_split (net, message, from, to, descriptor, at_ps);
  else
    post (net, from, message, descriptor, at_ps);
}

/* --- Memory FIFOs --- */

/* The owner's memory FIFO for this network FIFO, made when it has none. */
static uint32_t
find_feeder (PacketNetwork *net, uint32_t node, uint32_t fifo_index, uint32_t owner)
{
  Fifo *fifo = &net->fifo[(size_t) node * net->n_fifos + fifo_index];
  uint32_t index = fifo->last_feeder;

  if (index != PACKET_NONE) {
    do {
      if (net->feeder[index].owner == owner)
        return index;
      index = net->feeder[index].next;
    } while (index != fifo->last_feeder);
  }
  index = packet_take_feeder (net);
  net->feeder[index] = (Feeder){ PACKET_NONE, PACKET_NONE, index, owner };
  if (fifo->last_feeder != PACKET_NONE) {
    net->feeder[index].next = net->feeder[fifo->last_feeder].next;
    net->feeder[fifo->last_feeder].next = index;
  }
  /* Behind the others: it has its turn when they have had theirs. */
  fifo->last_feeder = index;
  return index;
}

/* The feeder whose turn it was has no descriptor left. */
static void
drop_feeder (PacketNetwork *net, Fifo *fifo, uint32_t before, uint32_t index)
{
  if (before == index) {
    fifo->last_feeder = PACKET_NONE;
  } else {
    net->feeder[before].next = net->feeder[index].next;
    fifo->last_feeder = before;
  }
  packet_give_feeder (net, index);
}

/* Remembers whose turn is next, so that its descriptor can be fetched ahead. */
static inline void
note_next (const PacketNetwork *net, Fifo *fifo)
{
  if (fifo->last_feeder != PACKET_NONE)
    fifo->next_descriptor = net->feeder[net->feeder[fifo->last_feeder].next].head;
}

/* --- Packets --- */

static void
fill_packet (PacketNetwork *net, Packet *packet, Descriptor *descriptor)
{
  *packet = (Packet){
    .way = descriptor->way,
    .vc = descriptor->vc,
    .flags = (uint8_t) ((descriptor->vc == ROUTE_VC_DYNAMIC ? FLAG_DYNAMIC : 0) |
                        descriptor->zone << FLAG_ZONE_SHIFT),
    .message = descriptor->message,
  };
  if (descriptor->envelope_chunks) {
    packet->chunks = (uint8_t) (1 + descriptor->envelope_chunks);
    descriptor->envelope_chunks = 0;
    return;
  }
  uint64_t bytes = MIN (descriptor->bytes_left, net->payload_bytes - descriptor->software_bytes);

  packet->payload_bytes = (uint16_t) bytes;
  packet->chunks = (uint8_t) (1 + payload_chunks (net, bytes + descriptor->software_bytes));
  descriptor->bytes_left -= bytes;
  descriptor->data_left = descriptor->bytes_left > 0;
}

/* Takes one packet from the next memory FIFO in turn to the FIFO's head. */
static void
next_packet (PacketNetwork *net, Fifo *fifo)
{
  uint32_t before = fifo->last_feeder;
  uint32_t feeder_index = net->feeder[before].next;
  Feeder *feeder = &net->feeder[feeder_index];
  uint32_t index = fifo->next_descriptor;
  uint32_t packet = packet_take (net);
  Descriptor *descriptor = &net->descriptor[index];

  fill_packet (net, &net->packet[packet], descriptor);
  net->engine.n_packets++;
  net->engine.payload_sent += net->packet[packet].payload_bytes;
  fifo->packet = packet;
  fifo->last_feeder = feeder_index;
  if (!descriptor->data_left) {
    feeder->head = descriptor->next;
    packet_give_descriptor (net, index);
    if (feeder->head == PACKET_NONE)
      drop_feeder (net, fifo, before, feeder_index);
  }
  note_next (net, fifo);
}

void
packet_fifo_ready (PacketNetwork *net, uint32_t node, uint32_t fifo_index)
{
  Fifo *fifo = &net->fifo[(size_t) node * net->n_fifos + fifo_index];

  fifo->pending = false;
  g_assert (fifo->packet == PACKET_NONE && fifo->last_feeder != PACKET_NONE);
  next_packet (net, fifo);
  packet_fifo_head (net, node, fifo_index);
}

void
packet_inject (PacketNetwork *net, uint32_t node, uint32_t index)
{
  Descriptor *descriptor = &net->descriptor[index];
  uint32_t fifo_index = descriptor->fifo;
  Fifo *fifo = &net->fifo[(size_t) node * net->n_fifos + fifo_index];
  /* This may move the pool of feeders: no pointer into it before. */
  uint32_t feeder_index = find_feeder (net, node, fifo_index, descriptor->owner);
  Feeder *feeder = &net->feeder[feeder_index];

  descriptor->next = PACKET_NONE;
  if (feeder->head == PACKET_NONE)
    feeder->head = index;
  else
    net->descriptor[feeder->tail].next = index;
  feeder->tail = index;
  note_next (net, fifo);
  if (fifo->packet != PACKET_NONE || fifo->pending)
    return;
  if (fifo->ready_ps > net->engine.now_ps) {
    fifo->pending = true;
    sim_schedule_push (net->engine.schedule, node, CODE_FIFO + fifo_index,
                       node * net->n_fifos + fifo_index, fifo->ready_ps);
    return;
  }
  next_packet (net, fifo);
  packet_fifo_head (net, node, fifo_index);
}
