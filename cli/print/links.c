/* links.c - links and ranks as rows of files: names, counters, times.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/links.h"

#include "base/csv.h"
#include "cli/print/output.h"
#include "sim/counters.h"

#include <stdio.h>

/* The unit of PortXmitData and PortRcvData. */
#define DATA_UNIT_BYTES 4
#define PS_PER_NS       1000
#define PS_PER_US       1e6
#define PS_PER_S        1e12

/* The count of devices with each name: on a site without names, all devices have that of their
 * maker. */
static GHashTable *
count_names (const TopoFabric *fabric)
{
  GHashTable *counts = g_hash_table_new (g_str_hash, g_str_equal);

  for (uint32_t device = 0; device < fabric->n_devices; device++) {
    char *name = fabric->devices[device].name;
    guint n = GPOINTER_TO_UINT (g_hash_table_lookup (counts, name));

    g_hash_table_insert (counts, name, GUINT_TO_POINTER (n + 1));
  }
  return counts;
}

/* The name of a port's device, or its id where the name is not unique. */
static const char *
label_of (const TopoFabric *fabric, GHashTable *counts, uint32_t port)
{
  const TopoDevice *device = &fabric->devices[fabric->ports[port].device];

  return GPOINTER_TO_UINT (g_hash_table_lookup (counts, device->name)) == 1 ? device->name
                                                                            : device->id;
}

static char *
link_name (const TopoFabric *fabric, GHashTable *counts, uint32_t link)
{
  uint32_t peer = fabric->ports[link].peer;

  return g_strdup_printf ("%s port %u -> %s port %u", label_of (fabric, counts, link),
                          topo_fabric_port_number (fabric, link), label_of (fabric, counts, peer),
                          topo_fabric_port_number (fabric, peer));
}

static void
write_end (FILE *out, const TopoFabric *fabric, GHashTable *counts, uint32_t port)
{
  fputc (',', out);
  base_csv_field (out, label_of (fabric, counts, port));
  fprintf (out, ",%u", topo_fabric_port_number (fabric, port));
}

/* Port... are the hardware counters of the port where the link begins: Data in units of four bytes;
 * Rcv the traffic that arrives through it.  Only PortXmitWait, whose ticks differ among makers, is in
 * nanoseconds.  The other columns belong to the link: buffered packets waited where it ends.  Their
 * time is exact, with decimals, so that the metrics can be computed from the rows. */
static void
write_fabric_csv (FILE *out, const TopoFabric *fabric, const SimCounters *counters)
{
  g_autoptr (GHashTable) counts = count_names (fabric);

  fputs ("link,from,from_port,to,to_port,lanes,speed,payload_bytes,PortXmitData,PortXmitPkts,"
         "PortRcvData,PortRcvPkts,PortXmitWait,buffered_packets,buffered_ns\n",
         out);
  for (uint32_t link = 0; link < fabric->n_ports; link++) {
    const TopoPort *port = &fabric->ports[link];
    const SimLinkCounters *sent = &counters->link[link], *received;
    char buffered[BASE_DECIMAL_SIZE];
    g_autofree char *name = NULL;

    if (port->peer == TOPO_NONE)
      continue;
    received = &counters->link[port->peer];
    name = link_name (fabric, counts, link);
    base_csv_field (out, name);
    write_end (out, fabric, counts, link);
    write_end (out, fabric, counts, port->peer);
    fprintf (out, ",%u,%s,%" G_GUINT64_FORMAT, port->lanes,
             topo_speed_name ((TopoSpeed) port->speed), sent->payload_bytes);
    if (counters->has_buffers)
      fprintf (out,
               ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT
               ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",%s\n",
               sent->wire_bytes / DATA_UNIT_BYTES, sent->sent_packets,
               received->wire_bytes / DATA_UNIT_BYTES, received->received_packets,
               sent->wait_ps / PS_PER_NS, sent->buffered_packets,
               base_decimal_print (buffered, (double) sent->buffered_ps / PS_PER_NS));
    else /* a network without packets */
      fputs (",,,,,,,\n", out);
  }
}

/* --- Links and ranks as rows of files --- */

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

char *
cli_link_name (const TopoMachine *machine, uint32_t link)
{
  GString *name = g_string_new (NULL);
  uint32_t n_ports = topo_shape_ports (&machine->shape);
  TopoCoordinates coordinates;
  char port[CLI_PORT_SIZE];

  if (machine->fabric) {
    g_autoptr (GHashTable) counts = count_names (machine->fabric);

    g_string_free (name, TRUE);
    return link_name (machine->fabric, counts, link);
  }
  coordinates = topo_shape_coordinates (&machine->shape, link / n_ports);
  cli_port_name (port, link % n_ports);
  g_string_append_printf (name, "%s of ", port);
  for (uint32_t dimension = 0; dimension < machine->shape.n_dimensions; dimension++)
    g_string_append_printf (name, "%s%u", dimension ? "," : "", coordinates.at[dimension]);
  return g_string_free (name, FALSE);
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

void
cli_links_write_csv (FILE *out, const TopoMachine *machine, const SimCounters *counters)
{
  if (machine->fabric) {
    write_fabric_csv (out, machine->fabric, counters);
    return;
  }
  cli_print_dimension_names (out, machine, "");
  fputs (",port,payload_bytes,dynamic_chunks,bubble_chunks,priority_chunks,received_packets,"
         "buffered_packets,buffered_cycles\n",
         out);
  for (uint32_t number = 0; number < counters->n_places; number++) {
    const SimLinkCounters *link = &counters->link[number];
    char port[CLI_PORT_SIZE], buffered[BASE_DECIMAL_SIZE];

    if (!counters->link_exists[number])
      continue;
    cli_port_name (port, number % counters->n_ports);
    cli_print_coordinates (out, machine, number / counters->n_ports);
    fprintf (out,
             ",%s,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT
             ",%" G_GUINT64_FORMAT,
             port, link->payload_bytes, link->dynamic_chunks, link->bubble_chunks,
             link->priority_chunks);
    if (counters->has_buffers)
      fprintf (out, ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",%s\n", link->received_packets,
               link->buffered_packets,
               base_decimal_print (buffered, (double) link->buffered_ps / SIM_NETWORK_CYCLE_PS));
    else
      fputs (",,,\n", out);
  }
}

/* The cells that name a link; the caller frees them. */
static char *
link_cells (const TopoMachine *machine, GHashTable *counts, uint32_t link)
{
  const TopoFabric *fabric = machine->fabric;
  char *cells = NULL;
  size_t length;
  FILE *out = open_memstream (&cells, &length);

  if (fabric != NULL) {
    g_autofree char *name = link_name (fabric, counts, link);

    base_csv_field (out, name);
    write_end (out, fabric, counts, link);
    write_end (out, fabric, counts, fabric->ports[link].peer);
  } else {
    uint32_t n_ports = topo_shape_ports (&machine->shape);
    char port[CLI_PORT_SIZE];

    cli_port_name (port, link % n_ports);
    cli_print_coordinates (out, machine, link / n_ports);
    fprintf (out, ",%s", port);
  }
  fclose (out);
  return cells;
}

/* busy_share: of the interval, the time of wire_bytes on the link.  A packet counts where it begins, so
 * that a share may pass 1 by one packet.
 *
 * A row for each link and interval are millions, and would take longer than their simulation by printf():
 * the cells that name a link are made once. */
void
cli_loads_write_csv (FILE *out, const TopoMachine *machine, const SimLinkLoads *loads)
{
  const TopoFabric *fabric = machine->fabric;
  g_autoptr (GHashTable) counts = fabric != NULL ? count_names (fabric) : NULL;
  g_autoptr (GPtrArray) cells =
      g_ptr_array_new_with_free_func (g_free); /* by link; NULL: not yet */
  int64_t every_ps = sim_link_loads_every_ps (loads);
  size_t n;
  const SimLinkLoad *list = sim_link_loads_list (loads, &n);
  char begin[BASE_DECIMAL_SIZE] = "";

  fputs ("begin_us,", out);
  if (fabric == NULL)
    cli_print_dimension_names (out, machine, "");
  fprintf (out, "%s,payload_bytes,wire_bytes,busy_share\n",
           fabric == NULL ? ",port" : "link,from,from_port,to,to_port");
  for (size_t i = 0; i < n; i++) {
    const SimLinkLoad *load = &list[i];
    uint64_t bandwidth_Bps =
        fabric != NULL ? topo_link_bandwidth_Bps (fabric->ports[load->link].lanes,
                                                  (TopoSpeed) fabric->ports[load->link].speed)
                       : machine->parameters.link.bandwidth_Bps;
    char numbers[3 * BASE_DECIMAL_SIZE], share[BASE_DECIMAL_SIZE], *at = numbers;

    if (i == 0 || load->interval != list[i - 1].interval)
      base_decimal_print (begin, (double) load->interval * (double) every_ps / PS_PER_US);
    if (load->link >= cells->len)
      g_ptr_array_set_size (cells, (gint) load->link + 1);
    if (cells->pdata[load->link] == NULL)
      cells->pdata[load->link] = link_cells (machine, counts, load->link);
    *at++ = ',';
    at = base_decimal_put (at, load->payload_bytes);
    *at++ = ',';
    at = base_decimal_put (at, load->wire_bytes);
    *at++ = ',';
    base_decimal_print_6 (share, (double) load->wire_bytes * PS_PER_S /
                                     ((double) bandwidth_Bps * (double) every_ps));
    at = g_stpcpy (at, share);
    *at++ = '\n';
    fputs (begin, out);
    fputc (',', out);
    fputs (cells->pdata[load->link], out);
    fwrite (numbers, 1, (size_t) (at - numbers), out);
  }
}

gboolean
cli_links_fit_bgqncl (const TopoMachine *machine)
{
  return !machine->fabric && machine->shape.n_dimensions == BGQNCL_DIMENSIONS;
}

/* A line per node, with the rank in its lowest slot; -1 for a node without ranks, whose links carry
 * traffic too.  Five numbers per port: chunks sent, dynamic and deterministic ones of them, 0 for the
 * collective network, which is not simulated packet by packet, packets received, cycles in the buffer.
 * What a port receives is counted by the neighbour's link towards it. */
void
cli_links_write_bgqncl (FILE *out, const TopoMachine *machine, const TopoMapping *mapping,
                        const SimCounters *counters)
{
  const SimLinkCounters none = { 0 };
  g_autofree uint32_t *reporter = g_new (uint32_t, counters->n_nodes);

  for (uint32_t node = 0; node < counters->n_nodes; node++)
    reporter[node] = TOPO_NONE;
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    uint32_t *current = &reporter[mapping->node[rank]];

    if (*current == TOPO_NONE || mapping->slot[rank] < mapping->slot[*current])
      *current = rank;
  }
  for (uint32_t node = 0; node < counters->n_nodes; node++) {
    TopoCoordinates coordinates = topo_shape_coordinates (&machine->shape, node);
    gboolean empty = reporter[node] == TOPO_NONE;

    fprintf (out, "0 %" G_GINT64_FORMAT, empty ? (gint64) -1 : (gint64) reporter[node]);
    for (uint32_t dimension = 0; dimension < BGQNCL_DIMENSIONS; dimension++)
      fprintf (out, " %u", coordinates.at[dimension]);
    fprintf (out, " %u **", empty ? 0u : mapping->slot[reporter[node]]);
    for (uint32_t port = 0; port < counters->n_ports; port++) {
      uint32_t neighbour = topo_shape_neighbour (&machine->shape, node, port);
      const SimLinkCounters *sent = &counters->link[node * counters->n_ports + port];
      const SimLinkCounters *received =
          neighbour == TOPO_NONE
              ? &none
              : &counters->link[neighbour * counters->n_ports + topo_port_opposite (port)];
      uint64_t deterministic_chunks = sent->bubble_chunks + sent->priority_chunks;

      fprintf (out,
               " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
               " 0 %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT,
               sent->dynamic_chunks + deterministic_chunks, sent->dynamic_chunks,
               deterministic_chunks, received->received_packets,
               received->buffered_ps / SIM_NETWORK_CYCLE_PS);
    }
    fputc ('\n', out);
  }
}

/* Four more columns, empty where a rank has no loop. */
static void
print_iterations (FILE *out, const SimIterations *iterations, uint32_t rank)
{
  const SimRankIterations *it = &iterations->ranks[rank];
  char mean[BASE_DECIMAL_SIZE], least[BASE_DECIMAL_SIZE], most[BASE_DECIMAL_SIZE];

  if (it->n_ends == 0) {
    fputs (",,,,", out);
    return;
  }
  fprintf (out, ",%u,%s,%s,%s", iterations->count,
           base_decimal_print (mean, sim_iterations_mean_ps (iterations, rank) / 1e12),
           base_decimal_print (least, (double) it->least_ps / 1e12),
           base_decimal_print (most, (double) it->most_ps / 1e12));
}

/* Columns of a fabric are also the node's host and the slot's core. */
void
cli_ranks_write_csv (FILE *out, const TopoMachine *machine, const TopoMapping *mapping,
                     const SimReplayResult *result, const SimIterations *iterations)
{
  fprintf (out, "rank,node,%s,end_s,compute_s,wait_s,sends,receives%s\n",
           machine->fabric ? "host,slot,core" : "slot",
           iterations == NULL ? ""
                              : ",iterations,iteration_mean_s,iteration_least_s,iteration_most_s");
  for (uint32_t rank = 0; rank < result->n_ranks; rank++) {
    const SimRankTimes *times = &result->ranks[rank];
    uint32_t node = mapping->node[rank], slot = mapping->slot[rank];
    char end[BASE_DECIMAL_SIZE], compute[BASE_DECIMAL_SIZE], wait[BASE_DECIMAL_SIZE];

    fprintf (out, "%u,%u", rank, node);
    if (machine->fabric) {
      fputc (',', out);
      base_csv_field (out, machine->fabric->hosts[node].name);
    }
    fprintf (out, ",%u", slot);
    if (machine->fabric)
      fprintf (out, ",%u", machine->slot_core[slot]);
    fprintf (out, ",%s,%s,%s,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT,
             base_decimal_print (end, (double) times->end_ps / 1e12),
             base_decimal_print (compute, (double) times->compute_ps / 1e12),
             base_decimal_print (wait, (double) times->wait_ps / 1e12), times->sends,
             times->receives);
    if (iterations != NULL)
      print_iterations (out, iterations, rank);
    fputc ('\n', out);
  }
}
