/* fabric_links.c - links of a switched fabric as rows and by name.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/fabric_links.h"

#include "cli/output.h"

/* What PortXmitData and PortRcvData count. */
#define DATA_UNIT_BYTES 4

/* How often each name is taken: a site that named nothing has a hundred devices
 * called after their maker. */
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

/* The name of a port's device, or its id where others have that name too. */
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

char *
cli_fabric_link_name (const TopoFabric *fabric, uint32_t link)
{
  g_autoptr (GHashTable) counts = count_names (fabric);

  return link_name (fabric, counts, link);
}

static void
write_end (FILE *out, const TopoFabric *fabric, GHashTable *counts, uint32_t port)
{
  fputc (',', out);
  study_csv_field (out, label_of (fabric, counts, port));
  fprintf (out, ",%u", topo_fabric_port_number (fabric, port));
}

static void
write_number (FILE *out, uint64_t number)
{
  fprintf (out, ",%" G_GUINT64_FORMAT, number);
}

/* A network that sends no packets leaves these empty. */
static void
write_packets (FILE *out, const SimLinkCounters *sent, const SimLinkCounters *got)
{
  write_number (out, sent->wire_bytes / DATA_UNIT_BYTES);
  write_number (out, sent->sent_packets);
  write_number (out, got->wire_bytes / DATA_UNIT_BYTES);
  write_number (out, got->received_packets);
  write_number (out, sent->wait_ps / 1000);
  write_number (out, sent->buffered_packets);
  write_number (out, sent->buffered_ps / 1000);
}

void
cli_fabric_links_write_csv (FILE *out, const TopoFabric *fabric, const SimCounters *counters)
{
  g_autoptr (GHashTable) counts = count_names (fabric);

  fputs ("link,from,from_port,to,to_port,lanes,speed,payload_bytes,PortXmitData,PortXmitPkts,"
         "PortRcvData,PortRcvPkts,PortXmitWait,buffered_packets,buffered_ns\n",
         out);
  for (uint32_t port = 0; port < fabric->n_ports; port++) {
    const TopoPort *it = &fabric->ports[port];
    g_autofree char *name = NULL;

    if (it->peer == TOPO_NONE)
      continue;
    name = link_name (fabric, counts, port);
    study_csv_field (out, name);
    write_end (out, fabric, counts, port);
    write_end (out, fabric, counts, it->peer);
    fprintf (out, ",%u,%s", it->lanes, topo_speed_name ((TopoSpeed) it->speed));
    write_number (out, counters->link[port].payload_bytes);
    if (counters->has_buffers)
      write_packets (out, &counters->link[port], &counters->link[it->peer]);
    else
      fputs (",,,,,,,", out);
    fputc ('\n', out);
  }
}
