/* flow_wire.c - what a message is to the flow network: bytes and latencies.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "sim/net/flow_wire.h"

/* --- Bytes --- */

uint64_t
sim_flow_packets_bytes (const TopoParameters *parameters, uint64_t payload_bytes)
{
  uint64_t packet = parameters->packet_payload_bytes, chunk = parameters->chunk_bytes;
  uint64_t n_packets = payload_bytes == 0 ? 1 : (payload_bytes + packet - 1) / packet;
  uint64_t last = payload_bytes - (n_packets - 1) * packet;

  return n_packets * (parameters->packet_header_bytes + parameters->packet_trailer_bytes) +
         (n_packets - 1) * packet + (last + chunk - 1) / chunk * chunk;
}

/* Packets of one MTU each; an RDMA write says in its first one where it goes
 * (infiniband.md section A1). */
static uint64_t
fabric_bytes (const TopoParameters *parameters, uint64_t payload_bytes, bool rdma)
{
  uint64_t mtu = parameters->mtu_bytes;
  uint64_t n_packets = payload_bytes == 0 ? 1 : (payload_bytes + mtu - 1) / mtu;

  return payload_bytes + n_packets * (parameters->header_bytes + parameters->framing_bytes) +
         (rdma ? parameters->rdma_header_bytes : 0);
}

/* The packets that the packet network would make of a message: bgq.md
 * sections 3.3 and 4.  Long eager messages have their envelope in a packet of
 * its own; a remote get carries descriptors of 64 bytes; software's own
 * packets two words beside the envelope (guess). */
uint64_t
sim_flow_wire_bytes (const TopoParameters *parameters, const SimMessage *message)
{
  uint64_t envelope = parameters->envelope_bytes;

  switch ((SimMessageKind) message->kind) {
  case SIM_MESSAGE_CONTROL:
    if (parameters->family == TOPO_FAMILY_FABRIC)
      return fabric_bytes (parameters, message->software_bytes, false);
    return sim_flow_packets_bytes (parameters, envelope + SIM_CONTROL_WORDS_BYTES);
  case SIM_MESSAGE_REMOTE_GET:
    return sim_flow_packets_bytes (parameters,
                                   SIM_DESCRIPTOR_BYTES * MAX (1u, message->descriptors));
  case SIM_MESSAGE_DATA:
  case SIM_MESSAGE_DIRECT: return sim_flow_packets_bytes (parameters, message->bytes);
  case SIM_MESSAGE_EAGER:
    if (message->bytes + envelope <= parameters->packet_payload_bytes)
      return sim_flow_packets_bytes (parameters, message->bytes + envelope);
    return sim_flow_packets_bytes (parameters, envelope) +
           sim_flow_packets_bytes (parameters, message->bytes);
  case SIM_MESSAGE_SEND:
    return fabric_bytes (parameters, message->bytes + message->software_bytes, false);
  case SIM_MESSAGE_WRITE: return fabric_bytes (parameters, message->bytes, true);
  }
  g_assert_not_reached ();
}

/* --- Latencies --- */

static uint32_t
links_of (const RoutePaths *paths, const TopoMapping *mapping, uint32_t from_rank, uint32_t to_rank,
          uint32_t *links)
{
  return route_paths_links (paths, mapping->node[from_rank], mapping->node[to_rank], from_rank,
                            to_rank, links);
}

/* Cables, and the switches between them. */
static int64_t
fabric_way_ps (const TopoParameters *parameters, uint32_t n_links)
{
  return n_links * parameters->cable_latency_ps + (n_links - 1) * parameters->switch_latency_ps;
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
  uint64_t headers_bytes = parameters->header_bytes + parameters->framing_bytes;
  uint64_t packet_bytes =
      MIN (message->bytes + message->software_bytes, (uint64_t) parameters->mtu_bytes);
  uint64_t wire_bytes = packet_bytes + headers_bytes +
                        (message->kind == SIM_MESSAGE_WRITE ? parameters->rdma_header_bytes : 0);
  double bus_ps = ps_of (packet_bytes, parameters->pcie_bandwidth_Bps);
  double link_ps =
      ps_of (wire_bytes, topo_link_bandwidth_Bps (port->lanes, (TopoSpeed) port->speed));
  double flow_bus_ps = (double) wire_bytes *
                       ps_of (parameters->mtu_bytes, parameters->pcie_bandwidth_Bps) /
                       (double) (parameters->mtu_bytes + headers_bytes);

  return (int64_t) ((is_inline ? 1 : 2) * bus_ps + link_ps - MAX (flow_bus_ps, link_ps));
}

/* The adapter fetches what did not come with the work request. */
static int64_t
fabric_start_ps (const TopoMachine *machine, const SimMessage *message, const uint32_t *links,
                 uint32_t n_links)
{
  const TopoParameters *parameters = &machine->parameters;
  bool is_inline = message->bytes + message->software_bytes <= parameters->hca_inline_bytes;

  return parameters->hca_send_latency_ps + (is_inline ? 0 : parameters->hca_read_latency_ps) +
         fabric_fill_ps (parameters, &machine->fabric->ports[links[0]], message, is_inline) +
         fabric_way_ps (parameters, n_links);
}

/* Descriptor to the decision of the last router. */
static int64_t
torus_start_ps (const TopoMachine *machine, const uint32_t *links, uint32_t n_links)
{
  const TopoParameters *parameters = &machine->parameters;
  uint32_t n_ports = topo_shape_ports (&machine->shape);
  int64_t latency_ps = parameters->injection_latency_ps;

  for (uint32_t at = 0; at < n_links; at++)
    latency_ps += parameters->hop_latency_ps +
                  topo_machine_extra_latency_ps (machine, links[at] / n_ports, links[at] % n_ports);
  return latency_ps;
}

int64_t
sim_flow_start_latency_ps (const RoutePaths *paths, const TopoMapping *mapping,
                           const SimMessage *message, uint32_t *links)
{
  uint32_t n_links =
      links_of (paths, mapping, message->source_rank, message->destination_rank, links);

  return paths->tables != NULL ? fabric_start_ps (paths->machine, message, links, n_links)
                               : torus_start_ps (paths->machine, links, n_links);
}

int64_t
sim_flow_reception_latency_ps (const TopoParameters *parameters)
{
  return parameters->family == TOPO_FAMILY_FABRIC ? parameters->hca_receive_latency_ps
                                                  : parameters->reception_latency_ps;
}

int64_t
sim_flow_acknowledgement_ps (const RoutePaths *paths, const TopoMapping *mapping,
                             const SimMessage *message, uint32_t *links)
{
  const TopoParameters *parameters = &paths->machine->parameters;
  uint32_t n_links =
      links_of (paths, mapping, message->destination_rank, message->source_rank, links);

  return fabric_way_ps (parameters, n_links) + parameters->hca_receive_latency_ps;
}
