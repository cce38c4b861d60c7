/* packet_check.c - the laws that hold at the end of every run.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every packet is delivered, every token is back, bytes in = bytes out.  When
 * packets are left, nothing can ever move them: the dump names the first of
 * them with the ports that they wait for. */
#include "config.h"

#include "sim/net/packet_state.h"

#define DUMPED_PACKETS 20u

static void
print_node (const PacketNetwork *net, uint32_t node, GString *out)
{
  TopoCoordinates coordinates = topo_shape_coordinates (&net->route.shape, node);

  g_string_append_c (out, '(');
  for (uint32_t dimension = 0; dimension < net->route.shape.n_dimensions; dimension++)
    g_string_append_printf (out, "%s%u", dimension ? "," : "", coordinates.at[dimension]);
  g_string_append_c (out, ')');
}

static void
print_port (uint32_t port_index, GString *out)
{
  g_string_append_printf (out, "%c%c", topo_dimension_letter (port_index / 2),
                          port_index % 2 ? '+' : '-');
}

static void
print_packet (const PacketNetwork *net, uint32_t node, const Packet *packet, const char *place,
              GString *out)
{
  const SimMessage *message = &net->engine.message[packet->message].public;
  uint32_t port_index = route_torus_next_port (&net->route, &packet->way);
  const Port *port = port_at (net, node, port_index);

  g_string_append (out, "\n  node ");
  print_node (net, node, out);
  g_string_append_printf (out, " %s: packet of %u chunks on VC %u, rank %u -> %u, next ", place,
                          packet->chunks, packet->vc, message->source_rank,
                          message->destination_rank);
  print_port (port_index, out);
  g_string_append_printf (out, " with %u dynamic, %u bubble, %u priority tokens", port->tokens[0],
                          port->tokens[1], port->tokens[2]);
}

static uint32_t
print_list (const PacketNetwork *net, uint32_t node, PacketList list, const char *place,
            uint32_t n_printed, GString *out)
{
  for (uint32_t index = list.head; index != PACKET_NONE && n_printed < DUMPED_PACKETS;
       index = net->engine.next[index]) {
    print_packet (net, node, &net->packet[index], place, out);
    n_printed++;
  }
  return n_printed;
}

static uint32_t
print_node_packets (const PacketNetwork *net, uint32_t node, uint32_t n_printed, GString *out)
{
  for (uint32_t port_index = 0; port_index < net->n_ports; port_index++) {
    const Receiver *receiver = &net->receiver[(size_t) node * net->n_ports + port_index];

    const Port *port = port_at (net, node, port_index);

    for (uint32_t turning = 0; turning < 2; turning++) {
      n_printed =
          print_list (net, node, port->bubble[turning], "bubble receive buffer", n_printed, out);
      n_printed = print_list (net, node, port->priority[turning], "priority receive buffer",
                              n_printed, out);
    }
    for (uint32_t queue = 0; queue < MAX_QUEUES; queue++)
      n_printed =
          print_list (net, node, receiver->queue[queue], "dynamic receive buffer", n_printed, out);
  }
  for (uint32_t fifo = 0; fifo < net->n_fifos && n_printed < DUMPED_PACKETS; fifo++) {
    uint32_t index = net->fifo[(size_t) node * net->n_fifos + fifo].packet;

    if (index == PACKET_NONE)
      continue;
    print_packet (net, node, &net->packet[index], "injection FIFO", out);
    n_printed++;
  }
  return n_printed;
}

static void
set_stall_error (const PacketNetwork *net, GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);
  uint32_t n_printed = 0;

  g_string_append_printf (out,
                          "network stalled at %" G_GINT64_FORMAT
                          " ps: %u packets and %u descriptors cannot move; blocked:",
                          net->engine.now_ps, net->engine.packets.n_taken,
                          net->descriptors.n_taken);
  for (uint32_t node = 0; node < net->n_nodes && n_printed < DUMPED_PACKETS; node++)
    n_printed = print_node_packets (net, node, n_printed, out);
  g_set_error_literal (error, SIM_ERROR, SIM_ERROR_STALL, out->str);
}

/* Tokens at the sender plus those on their way back. */
static gboolean
tokens_complete (const PacketNetwork *net, const Port *port)
{
  const TopoParameters *parameters = &net->engine.machine->parameters;
  uint64_t tokens[ROUTE_VCS] = { port->tokens[0], port->tokens[1], port->tokens[2] };

  for (uint32_t i = 0; i < port->n_returns; i++)
    tokens[(port->returns[i] >> 6) & 3] += port->returns[i] & 63;
  return tokens[ROUTE_VC_DYNAMIC] == parameters->dynamic_tokens &&
         tokens[ROUTE_VC_BUBBLE] == parameters->bubble_tokens &&
         tokens[ROUTE_VC_PRIORITY] == parameters->priority_tokens;
}

gboolean
packet_check_idle (PacketNetwork *net, GError **error)
{
  if (net->engine.packets.n_taken > 0 || net->descriptors.n_taken > 0) {
    set_stall_error (net, error);
    return FALSE;
  }
  g_assert (net->engine.messages.n_taken == 0 && net->feeders.n_taken == 0);
  g_assert (net->engine.payload_sent == net->engine.payload_received);
  for (size_t link = 0; link < (size_t) net->n_nodes * net->n_ports; link++)
    if (net->port[link].neighbour != PACKET_NONE)
      g_assert (tokens_complete (net, &net->port[link]));
  return TRUE;
}
