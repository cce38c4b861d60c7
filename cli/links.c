/* links.c - links and ranks as rows of files: names, counters, times.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/links.h"

#include "cli/fabric_links.h"
#include "cli/output.h"

#define BGQNCL_DIMENSIONS 5

void
cli_port_name (char name[CLI_PORT_SIZE], uint32_t port)
{
  name[0] = topo_dimension_letter (port / 2);
  name[1] = port % 2 ? '+' : '-';
  name[2] = '\0';
}

void
cli_print_coordinates (FILE *out, const TopoMachine *machine, uint32_t node)
{
  TopoCoordinates coordinates = topo_shape_coordinates (&machine->shape, node);

  for (uint32_t dimension = 0; dimension < machine->shape.n_dimensions; dimension++)
    fprintf (out, "%s%u", dimension ? "," : "", coordinates.at[dimension]);
}

void
cli_print_dimension_names (FILE *out, const TopoMachine *machine, const char *prefix)
{
  for (uint32_t dimension = 0; dimension < machine->shape.n_dimensions; dimension++)
    fprintf (out, "%s%s%c", dimension ? "," : "", prefix, topo_dimension_letter (dimension));
}

static char *
torus_link_name (const TopoMachine *machine, uint32_t link)
{
  uint32_t n_ports = topo_shape_ports (&machine->shape);
  TopoCoordinates coordinates = topo_shape_coordinates (&machine->shape, link / n_ports);
  GString *name = g_string_new (NULL);
  char port[CLI_PORT_SIZE];

  cli_port_name (port, link % n_ports);
  g_string_append_printf (name, "%s of ", port);
  for (uint32_t dimension = 0; dimension < machine->shape.n_dimensions; dimension++)
    g_string_append_printf (name, "%s%u", dimension ? "," : "", coordinates.at[dimension]);
  return g_string_free (name, FALSE);
}

char *
cli_link_name (const TopoMachine *machine, uint32_t link)
{
  return machine->fabric ? cli_fabric_link_name (machine->fabric, link)
                         : torus_link_name (machine, link);
}

uint32_t
cli_links_hottest (const SimCounters *counters, uint32_t *links, uint32_t n)
{
  uint32_t n_found = 0;

  for (uint32_t link = 0; link < counters->n_places; link++) {
    uint64_t bytes = counters->link[link].payload_bytes;
    uint32_t place = n_found;

    if (bytes == 0)
      continue;
    while (place > 0 && counters->link[links[place - 1]].payload_bytes < bytes)
      place--;
    if (place == n)
      continue;
    n_found = MIN (n_found + 1, n);
    for (uint32_t i = n_found - 1; i > place; i--)
      links[i] = links[i - 1];
    links[place] = link;
  }
  return n_found;
}

/* A network that knows no buffers leaves its fields empty. */
static void
write_buffer_fields (FILE *out, const SimCounters *counters, const SimLinkCounters *link)
{
  if (counters->has_buffers)
    fprintf (out, ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT "\n",
             link->received_packets, link->buffered_packets,
             link->buffered_ps / SIM_NETWORK_CYCLE_PS);
  else
    fputs (",,,\n", out);
}

static void
write_torus_csv (FILE *out, const TopoMachine *machine, const SimCounters *counters)
{
  cli_print_dimension_names (out, machine, "");
  fputs (",port,payload_bytes,dynamic_chunks,bubble_chunks,priority_chunks,received_packets,"
         "buffered_packets,buffered_cycles\n",
         out);
  for (uint32_t number = 0; number < counters->n_places; number++) {
    const SimLinkCounters *link = &counters->link[number];
    char port[CLI_PORT_SIZE];

    if (!counters->link_exists[number])
      continue;
    cli_port_name (port, number % counters->n_ports);
    cli_print_coordinates (out, machine, number / counters->n_ports);
    fprintf (out,
             ",%s,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT
             ",%" G_GUINT64_FORMAT,
             port, link->payload_bytes, link->dynamic_chunks, link->bubble_chunks,
             link->priority_chunks);
    write_buffer_fields (out, counters, link);
  }
}

void
cli_links_write_csv (FILE *out, const TopoMachine *machine, const SimCounters *counters)
{
  if (machine->fabric)
    cli_fabric_links_write_csv (out, machine->fabric, counters);
  else
    write_torus_csv (out, machine, counters);
}

gboolean
cli_links_fit_bgqncl (const TopoMachine *machine)
{
  return !machine->fabric && machine->shape.n_dimensions == BGQNCL_DIMENSIONS;
}

/* The rank that reports for each node: the one in its lowest slot;
 * TOPO_NONE where there is none. */
static uint32_t *
reporting_ranks (const TopoMapping *mapping, uint32_t n_nodes)
{
  uint32_t *reporter = g_new (uint32_t, n_nodes);

  for (uint32_t node = 0; node < n_nodes; node++)
    reporter[node] = TOPO_NONE;
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    uint32_t *current = &reporter[mapping->node[rank]];

    if (*current == TOPO_NONE || mapping->slot[rank] < mapping->slot[*current])
      *current = rank;
  }
  return reporter;
}

/* What one port of a node counts: what it sent, and what came in through the
 * same port, which is the link of the neighbour there towards us. */
static void
write_bgqncl_port (FILE *out, const TopoMachine *machine, const SimCounters *counters,
                   uint32_t node, uint32_t port)
{
  const SimLinkCounters none = { 0 };
  const SimLinkCounters *sent = &counters->link[node * counters->n_ports + port];
  uint32_t neighbour = topo_shape_neighbour (&machine->shape, node, port);
  const SimLinkCounters *got =
      neighbour == TOPO_NONE
          ? &none
          : &counters->link[neighbour * counters->n_ports + topo_port_opposite (port)];
  uint64_t deterministic_chunks = sent->bubble_chunks + sent->priority_chunks;

  fprintf (out,
           " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " 0 %" G_GUINT64_FORMAT
           " %" G_GUINT64_FORMAT,
           sent->dynamic_chunks + deterministic_chunks, sent->dynamic_chunks, deterministic_chunks,
           got->received_packets, got->buffered_ps / SIM_NETWORK_CYCLE_PS);
}

/* The fourth number of each port belongs to the collective network, which
 * is not simulated packet by packet.  A node without ranks, whose links carry
 * traffic all the same, has the rank -1. */
void
cli_links_write_bgqncl (FILE *out, const TopoMachine *machine, const TopoMapping *mapping,
                        const SimCounters *counters)
{
  g_autofree uint32_t *reporter = reporting_ranks (mapping, counters->n_nodes);

  for (uint32_t node = 0; node < counters->n_nodes; node++) {
    TopoCoordinates coordinates = topo_shape_coordinates (&machine->shape, node);
    gboolean empty = reporter[node] == TOPO_NONE;

    fprintf (out, "0 %" G_GINT64_FORMAT, empty ? (gint64) -1 : (gint64) reporter[node]);
    for (uint32_t dimension = 0; dimension < BGQNCL_DIMENSIONS; dimension++)
      fprintf (out, " %u", coordinates.at[dimension]);
    fprintf (out, " %u **", empty ? 0u : mapping->slot[reporter[node]]);
    for (uint32_t port = 0; port < counters->n_ports; port++)
      write_bgqncl_port (out, machine, counters, node, port);
    fputc ('\n', out);
  }
}

/* On a fabric people know a node by its host's name, and a slot by its core. */
static void
write_place (FILE *out, const TopoMachine *machine, uint32_t node, uint32_t slot)
{
  fprintf (out, ",%u", node);
  if (machine->fabric) {
    fputc (',', out);
    study_csv_field (out, machine->fabric->hosts[node].name);
  }
  fprintf (out, ",%u", slot);
  if (machine->fabric)
    fprintf (out, ",%u", machine->slot_core[slot]);
}

void
cli_ranks_write_csv (FILE *out, const TopoMachine *machine, const TopoMapping *mapping,
                     const SimReplayResult *result)
{
  fprintf (out, "rank,node,%s,end_s,compute_s,wait_s,sends,receives\n",
           machine->fabric ? "host,slot,core" : "slot");
  for (uint32_t rank = 0; rank < result->n_ranks; rank++) {
    const SimRankTimes *times = &result->ranks[rank];
    char end[STUDY_NUMBER_SIZE], compute[STUDY_NUMBER_SIZE], wait[STUDY_NUMBER_SIZE];

    fprintf (out, "%u", rank);
    write_place (out, machine, mapping->node[rank], mapping->slot[rank]);
    fprintf (out, ",%s,%s,%s,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT "\n",
             study_number (end, (double) times->end_ps / 1e12),
             study_number (compute, (double) times->compute_ps / 1e12),
             study_number (wait, (double) times->wait_ps / 1e12), times->sends, times->receives);
  }
}
