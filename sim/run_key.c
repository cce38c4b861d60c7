/* run_key.c - what a run is known by: a hash of everything that went in.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "sim/run_key.h"

#include <string.h>

static void
add_data (GChecksum *sum, const char *name, gconstpointer data, gsize n_bytes)
{
  /* The length keeps a value from running into the next name. */
  g_autofree char *head = g_strdup_printf ("%s %zu\n", name, n_bytes);

  g_checksum_update (sum, (const guchar *) head, -1);
  g_checksum_update (sum, data, (gssize) n_bytes);
}

static void
add_text (GChecksum *sum, const char *name, const char *text)
{
  add_data (sum, name, text, strlen (text));
}

/* The text of a machine file: its values, not its comments. */
static void
add_settings (GChecksum *sum, const char *name, const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GString) settings = g_string_new (NULL);

  for (char **line = lines; *line != NULL; line++)
    if (**line != '#')
      g_string_append_printf (settings, "%s\n", *line);
  add_text (sum, name, settings->str);
}

static void
add_number (GChecksum *sum, const char *name, uint64_t number)
{
  char text[24];

  g_snprintf (text, sizeof text, "%" G_GUINT64_FORMAT, number);
  add_text (sum, name, text);
}

/* A row of numbers, the same on every machine. */
static void
add_row (GChecksum *sum, const uint32_t *numbers, uint32_t n)
{
  for (uint32_t at = 0; at < n; at++) {
    uint32_t little = GUINT32_TO_LE (numbers[at]);

    g_checksum_update (sum, (const guchar *) &little, sizeof little);
  }
}

#define PLACE_BYTES 5 /* node, little-endian, and slot */

/* Where each rank is, whatever the mapping is called. */
static void
add_mapping (GChecksum *sum, const TopoMapping *mapping)
{
  g_autofree guchar *places = g_malloc ((gsize) mapping->n_ranks * PLACE_BYTES);

  add_number (sum, "ranks", mapping->n_ranks);
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    guchar *place = &places[(gsize) rank * PLACE_BYTES];
    uint32_t little = GUINT32_TO_LE (mapping->node[rank]);

    memcpy (place, &little, sizeof little);
    place[sizeof little] = mapping->slot[rank];
  }
  g_checksum_update (sum, places, (gssize) mapping->n_ranks * PLACE_BYTES);
}

static void
add_devices (GChecksum *sum, const TopoFabric *fabric)
{
  add_number (sum, "devices", fabric->n_devices);
  for (uint32_t device = 0; device < fabric->n_devices; device++) {
    const TopoDevice *it = &fabric->devices[device];

    add_row (sum, (const uint32_t[]){ it->is_switch, it->n_ports, it->node }, 3);
  }
}

static void
add_links (GChecksum *sum, const TopoFabric *fabric)
{
  add_number (sum, "links", fabric->n_links);
  for (uint32_t port = 0; port < fabric->n_ports; port++) {
    const TopoPort *it = &fabric->ports[port];

    if (it->peer != TOPO_NONE)
      add_row (sum, (const uint32_t[]){ port, it->peer, it->lanes, it->speed }, 4);
  }
}

static void
add_node (GChecksum *sum, const TopoNode *node)
{
  add_number (sum, "objects", node->n_objects);
  for (uint32_t object = 0; object < node->n_objects; object++) {
    const TopoObject *it = &node->objects[object];

    add_row (sum,
             (const uint32_t[]){ it->kind, it->level, it->parent, it->first_core, it->n_cores,
                                 (uint32_t) it->cache_bytes, (uint32_t) (it->cache_bytes >> 32) },
             7);
  }
  add_number (sum, "adapter", node->adapter);
}

/* The files that describe a fabric lie anywhere and are edited, so that
 * neither the spec nor a path says what the machine is. */
static void
add_fabric (GChecksum *sum, const TopoMachine *machine, const RouteForwarding *tables)
{
  g_autoptr (GString) parameters = g_string_new (NULL);

  topo_parameters_print (&machine->parameters, parameters);
  add_settings (sum, "parameters", parameters->str);
  add_number (sum, "nodes", topo_shape_nodes (&machine->shape));
  add_data (sum, "cores", machine->slot_core, machine->ranks_per_node);
  add_devices (sum, machine->fabric);
  add_links (sum, machine->fabric);
  add_data (sum, "tables", tables->out, (gsize) tables->n_switches * tables->n_destinations);
  if (tables->vl != NULL)
    add_data (sum, "lanes", tables->vl, (gsize) tables->n_destinations * tables->n_destinations);
  if (machine->node != NULL)
    add_node (sum, machine->node);
}

static void
add_machine (GChecksum *sum, const RoutePaths *paths)
{
  g_autofree char *text = NULL;

  if (paths->tables != NULL) {
    add_fabric (sum, paths->machine, paths->tables);
    return;
  }
  text = topo_machine_print (paths->machine);
  add_settings (sum, "machine", text);
}

char *
sim_run_key_of_hash (const char *trace_hash, const RoutePaths *paths, const TopoMapping *mapping,
                     const SimRunOptions *options)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  char scale[G_ASCII_DTOSTR_BUF_SIZE];

  add_text (sum, "version", PACKAGE_VERSION);
  add_text (sum, "trace", trace_hash);
  add_machine (sum, paths);
  add_mapping (sum, mapping);
  add_number (sum, "network", options->network);
  add_number (sum, "policy", options->policy);
  add_text (sum, "compute_scale", g_ascii_dtostr (scale, sizeof scale, options->compute_scale));
  add_number (sum, "seed", options->seed);
  return g_strdup (g_checksum_get_string (sum));
}

char *
sim_run_key (Trace *trace, const RoutePaths *paths, const TopoMapping *mapping,
             const SimRunOptions *options, GError **error)
{
  const char *hash = trace_hash (trace, error);

  return hash != NULL ? sim_run_key_of_hash (hash, paths, mapping, options) : NULL;
}
