/* torus_messages.c - the descriptors that a torus node writes for a message.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/torus_messages.h"

#include "sim/net/packet_engine.h"

/* --- Messages become descriptors ---
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

/* A piece of a paced transfer is routed as the whole of it. */
static uint64_t
routed_bytes (const SimMessage *message)
{
  return MAX (message->bytes, message->whole_bytes);
}

static uint32_t
fifo_of_pin (const TorusMessages *messages, uint32_t pin)
{
  g_assert (pin < messages->n_ports);
  return pin;
}

static void
describe_eager (TorusMessages *messages, const SimMessage *message, TorusDescriptor *descriptor)
{
  uint64_t envelope_bytes = messages->machine->parameters.mpi.envelope_bytes;

  descriptor->vc = ROUTE_VC_BUBBLE;
  if (message->kind == SIM_MESSAGE_CONTROL) {
    descriptor->envelope_chunks =
        (uint8_t) torus_payload_chunks (messages, envelope_bytes + SIM_CONTROL_WORDS_BYTES);
    descriptor->data_left = false;
  } else if (message->bytes + envelope_bytes <= messages->payload_bytes) {
    descriptor->software_bytes = (uint8_t) envelope_bytes;
  } else {
    /* Longer: the envelope travels in a packet of its own, before the data. */
    descriptor->envelope_chunks = (uint8_t) torus_payload_chunks (messages, envelope_bytes);
  }
}

static void
describe_data (TorusMessages *messages, const SimMessage *message, uint32_t from, uint32_t to,
               TorusDescriptor *descriptor)
{
  RouteChoice choice =
      route_pami_data (messages->machine, messages->policy, from, to, routed_bytes (message));
  uint32_t pin =
      route_pami_pin (messages->machine, to, from, messages->mapping->slot[message->source_rank]);

  descriptor->vc = message->force_deterministic ? ROUTE_VC_BUBBLE : choice.vc;
  descriptor->zone = choice.zone;
  descriptor->fifo = (uint8_t) fifo_of_pin (messages, route_pami_pin_to_self (pin));
  descriptor->owner = messages->machine->ranks_per_node;
}

static TorusDescriptor
describe (TorusMessages *messages, const SimMessage *message, uint32_t from, uint32_t to)
{
  TorusDescriptor descriptor = {
    .way = route_torus_way (&messages->route, from, to),
    .owner = messages->mapping->slot[message->source_rank],
    .bytes_left = message->bytes,
    .data_left = true,
    .next = UINT32_MAX,
  };
  RouteChoice choice;

  if (message->kind != SIM_MESSAGE_DATA && message->kind != SIM_MESSAGE_REMOTE_GET)
    descriptor.fifo = (uint8_t) fifo_of_pin (
        messages, route_pami_pin (messages->machine, from, to,
                                  messages->mapping->slot[message->destination_rank]));
  switch ((SimMessageKind) message->kind) {
  case SIM_MESSAGE_EAGER:
  case SIM_MESSAGE_CONTROL: describe_eager (messages, message, &descriptor); break;
  case SIM_MESSAGE_REMOTE_GET:
    descriptor.vc = ROUTE_VC_PRIORITY;
    descriptor.fifo = (uint8_t) messages->n_ports;
    descriptor.data_left = false;
    descriptor.envelope_chunks = (uint8_t) torus_payload_chunks (
        messages, SIM_DESCRIPTOR_BYTES * MAX (1u, message->descriptors));
    break;
  case SIM_MESSAGE_DATA: describe_data (messages, message, from, to, &descriptor); break;
  case SIM_MESSAGE_DIRECT:
    /* TorusDescriptors of direct collectives allow all torus FIFOs (bgq.md section
     * 5); the node's unit takes them in turn (guess). */
    choice = route_pami_direct (messages->machine, messages->policy);
    descriptor.vc = choice.vc;
    descriptor.zone = choice.zone;
    descriptor.fifo = (uint8_t) (messages->direct_sent[from]++ % messages->n_ports);
    break;
  case SIM_MESSAGE_SEND:
  case SIM_MESSAGE_WRITE: g_assert_not_reached ();
  }
  return descriptor;
}

/* Both cables to the E neighbour: half of the data on each, deterministic
 * (bgq.md section 1). */
static void
split (const TorusMessages *messages, uint32_t from, uint32_t to, TorusDescriptor descriptors[2])
{
  uint32_t dimension = messages->route.shape.n_dimensions - 1;
  uint64_t bytes = descriptors[0].bytes_left;

  descriptors[1] = descriptors[0];
  for (uint32_t plus = 0; plus < 2; plus++) {
    descriptors[plus].way = route_torus_way_hinted (&messages->route, from, to, dimension, plus);
    descriptors[plus].bytes_left = plus ? bytes - bytes / 2 : bytes / 2;
    descriptors[plus].vc = ROUTE_VC_BUBBLE;
    descriptors[plus].fifo = (uint8_t) (2 * dimension + plus);
  }
}

uint32_t
torus_describe (TorusMessages *messages, const SimMessage *message, TorusDescriptor descriptors[2])
{
  uint32_t from = messages->mapping->node[message->source_rank];
  uint32_t to = messages->mapping->node[message->destination_rank];

  g_assert (from != to);
  descriptors[0] = describe (messages, message, from, to);
  if (message->kind != SIM_MESSAGE_DATA ||
      !route_pami_e_split (messages->machine, from, to, routed_bytes (message)))
    return 1;
  split (messages, from, to, descriptors);
  return 2;
}

uint64_t
torus_descriptor_packets (const TorusMessages *messages, const TorusDescriptor *descriptor)
{
  uint64_t bytes = descriptor->bytes_left + descriptor->software_bytes;
  uint64_t packets = descriptor->envelope_chunks != 0;

  if (descriptor->data_left)
    packets += bytes == 0 ? 1 : (bytes + messages->payload_bytes - 1) / messages->payload_bytes;
  return packets;
}

/* --- Construction --- */

void
torus_messages_init (TorusMessages *messages, const TopoMachine *machine,
                     const TopoMapping *mapping, RoutePolicy policy)
{
  *messages = (TorusMessages){
    .machine = machine,
    .mapping = mapping,
    .policy = policy,
    .n_ports = topo_shape_ports (&machine->shape),
    .chunk_bytes = (uint32_t) machine->parameters.packet.chunk_bytes,
    .payload_bytes = (uint32_t) machine->parameters.packet.payload_bytes,
    .direct_sent = g_new0 (uint32_t, topo_shape_nodes (&machine->shape)),
  };
  route_torus_init (&messages->route, &machine->shape);
}

void
torus_messages_clear (TorusMessages *messages)
{
  g_free (messages->direct_sent);
}

gboolean
torus_check_limits (const TopoMachine *machine, GError **error)
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
