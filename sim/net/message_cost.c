/* message_cost.c - bytes and time of a message on an idle network.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/message_cost.h"

#include "routing/pami.h"

/* Bytes on each link of a torus: whole packets with headers and trailers, the
 * last one filled up to a chunk.  An empty payload is still one packet. */
uint64_t
sim_message_packets_bytes (const TopoParameters *parameters, uint64_t payload_bytes)
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
uint64_t
sim_message_wire_bytes (const TopoParameters *parameters, const SimMessage *message)
{
  uint64_t envelope = parameters->mpi.envelope_bytes;

  switch ((SimMessageKind) message->kind) {
  case SIM_MESSAGE_CONTROL:
    if (parameters->family == TOPO_FAMILY_FABRIC)
      return fabric_bytes (parameters, message->software_bytes, false);
    return sim_message_packets_bytes (parameters, envelope + SIM_CONTROL_WORDS_BYTES);
  case SIM_MESSAGE_REMOTE_GET:
    return sim_message_packets_bytes (parameters,
                                      SIM_DESCRIPTOR_BYTES * MAX (1u, message->descriptors));
  case SIM_MESSAGE_DATA:
  case SIM_MESSAGE_DIRECT: return sim_message_packets_bytes (parameters, message->bytes);
  case SIM_MESSAGE_EAGER:
    if (message->bytes + envelope <= parameters->packet.payload_bytes)
      return sim_message_packets_bytes (parameters, message->bytes + envelope);
    return sim_message_packets_bytes (parameters, envelope) +
           sim_message_packets_bytes (parameters, message->bytes);
  case SIM_MESSAGE_SEND:
    return fabric_bytes (parameters, message->bytes + message->software_bytes, false);
  case SIM_MESSAGE_WRITE:
  case SIM_MESSAGE_READ: return fabric_bytes (parameters, message->bytes, true);
  }
  g_assert_not_reached ();
}

/* Cables, and the switches between them. */
int64_t
sim_message_way_ps (const TopoMachine *machine, const uint32_t *links, uint32_t n_links)
{
  int64_t latency_ps = (n_links - 1) * machine->parameters.switches.latency_ps;

  for (uint32_t at = 0; at < n_links; at++)
    latency_ps += topo_machine_cable_latency_ps (machine, links[at]);
  return latency_ps;
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

uint32_t
sim_message_links (const RoutePaths *paths, const TopoMapping *mapping, uint32_t from_rank,
                   uint32_t to_rank, uint32_t *links)
{
  return route_paths_links (paths, mapping->node[from_rank], mapping->node[to_rank],
                            route_paths_turn (paths, mapping, from_rank, to_rank), links);
}

/* From its posting to the flow of its bytes: all latencies of the way; links
 * has room for longest_links of the paths. */
int64_t
sim_message_start_ps (const RoutePaths *paths, const TopoMapping *mapping,
                      const SimMessage *message, uint32_t *links)
{
  const TopoMachine *machine = paths->machine;
  const TopoParameters *parameters = &machine->parameters;
  uint32_t n_links =
      sim_message_links (paths, mapping, message->source_rank, message->destination_rank, links);
  int64_t latency_ps;

  if (paths->tables != NULL) {
    /* The adapter fetches what did not come with the work request. */
    bool is_inline = message->bytes + message->software_bytes <= parameters->hca.inline_bytes;

    return parameters->hca.send_latency_ps + (is_inline ? 0 : parameters->hca.read_latency_ps) +
           fabric_fill_ps (parameters, &machine->fabric->ports[links[0]], message, is_inline) +
           sim_message_way_ps (machine, links, n_links);
  }
  /* Descriptor to the decision of the last router. */
  latency_ps = parameters->messaging.injection_latency_ps;
  for (uint32_t at = 0, n_ports = topo_shape_ports (&machine->shape); at < n_links; at++)
    latency_ps += parameters->link.hop_latency_ps +
                  topo_machine_extra_latency_ps (machine, links[at] / n_ports, links[at] % n_ports);
  return latency_ps;
}

/* --- An idle network --- */

#define MIDPLANE_SIZE 4u /* nodes along each of A to D */

/* Links of `hops` steps up from `at` that leave a midplane, as topo_machine_extra_latency_ps() has them;
 * the link that closes the ring among them. */
static uint32_t
midplanes_left (uint32_t at, uint32_t hops)
{
  return (at + hops) / MIDPLANE_SIZE - at / MIDPLANE_SIZE;
}

/* All links of a way, without walking along it: that would take longer than all else. */
static int64_t
torus_way_ps (const RoutePaths *paths, uint32_t from, uint32_t to)
{
  const TopoShape *shape = &paths->machine->shape;
  const TopoParameters *parameters = &paths->machine->parameters;
  RouteWay way = route_torus_way (&paths->torus, from, to);
  int64_t way_ps = route_way_length (&way) * parameters->link.hop_latency_ps;
  TopoCoordinates here, there;

  if (!paths->machine->is_bgq || parameters->link.midplane_latency_ps == 0)
    return way_ps;
  here = topo_shape_coordinates (shape, from);
  there = topo_shape_coordinates (shape, to);
  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++) {
    bool up = way.plus >> dimension & 1u;

    if (shape->size[dimension] > MIDPLANE_SIZE) /* a multiple of it */
      way_ps += parameters->link.midplane_latency_ps *
                midplanes_left (up ? here.at[dimension] : there.at[dimension], way.hops[dimension]);
  }
  return way_ps;
}

/* Of the slowest of its links and, on a fabric, the adapter's bus. */
static double
slowest_ps (const RoutePaths *paths, const SimMessage *message, const uint32_t *links,
            uint32_t n_links)
{
  const TopoMachine *machine = paths->machine;
  const TopoParameters *parameters = &machine->parameters;
  uint64_t bytes = sim_message_wire_bytes (parameters, message);
  double slowest = ps_of (message->bytes, parameters->hca.pcie_bandwidth_Bps);

  for (uint32_t at = 0; at < n_links; at++) {
    const TopoPort *port = &machine->fabric->ports[links[at]];

    slowest = MAX (slowest,
                   ps_of (bytes, topo_link_bandwidth_Bps (port->lanes, (TopoSpeed) port->speed)));
  }
  return slowest;
}

SimMessageTimes
sim_message_idle_times (const RoutePaths *paths, const TopoMapping *mapping,
                        const SimMessage *message, uint32_t *links)
{
  const TopoMachine *machine = paths->machine;
  const TopoParameters *parameters = &machine->parameters;
  uint32_t from = mapping->node[message->source_rank],
           to = mapping->node[message->destination_rank];
  SimMessageTimes times = { 0, 0 };

  if (from == to)
    return times;
  if (paths->tables != NULL) {
    uint32_t n_links =
        sim_message_links (paths, mapping, message->source_rank, message->destination_rank, links);
    bool is_inline = message->bytes + message->software_bytes <= parameters->hca.inline_bytes;
    int64_t fill_ps =
        fabric_fill_ps (parameters, &machine->fabric->ports[links[0]], message, is_inline);

    times.latency_ps = sim_message_start_ps (paths, mapping, message, links) - fill_ps +
                       parameters->hca.receive_latency_ps;
    times.bandwidth_ps = fill_ps + (int64_t) slowest_ps (paths, message, links, n_links);
    return times;
  }
  times.latency_ps = parameters->messaging.injection_latency_ps + torus_way_ps (paths, from, to) +
                     parameters->messaging.reception_latency_ps;
  times.bandwidth_ps =
      (int64_t) ((double) sim_message_wire_bytes (parameters, message) * 1e12 /
                 ((double) parameters->link.bandwidth_Bps * (1 - parameters->link.overhead)));
  if (message->kind == SIM_MESSAGE_DATA && route_pami_e_split (machine, from, to, message->bytes))
    times.bandwidth_ps /= 2; /* over both cables */
  return times;
}
