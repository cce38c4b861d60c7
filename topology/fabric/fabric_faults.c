/* fabric_faults.c - fabrics with parts that are out, or cables with fewer lanes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A part that is out has no cables: routing engines see the fabric that is left.  A node without a
 * cable is no node of the fabric; the others move up. */
#include "topology/fabric/fabric.h"
#include "topology/fabric/fabric_build.h"
#include "topology/machine.h"

#include <stdlib.h>
#include <string.h>

static gboolean
fault_error (GError **error, const char *item, const char *problem)
{
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "\"%s\": %s", item, problem);
  return FALSE;
}

/* The parts of a list between ";" or "+", without blanks around them; NULL and *error when one is
 * empty or there twice. */
static char **
items_of (const char *list, GError **error)
{
  g_auto (GStrv) items = g_strsplit_set (list, ";+", -1);

  for (guint at = 0; items[at] != NULL; at++) {
    if (*g_strstrip (items[at]) == '\0') {
      fault_error (error, list, "expected names between \";\" or \"+\"");
      return NULL;
    }
    for (guint before = 0; before < at; before++)
      if (g_str_equal (items[before], items[at])) {
        fault_error (error, items[at], "is named twice");
        return NULL;
      }
  }
  if (items[0] == NULL) {
    fault_error (error, list, "expected the name of a device, a node or a cable");
    return NULL;
  }
  return g_steal_pointer (&items);
}

static uint32_t
host_named (const TopoFabric *fabric, const char *name)
{
  for (uint32_t host = 0; host < fabric->n_hosts; host++)
    if (g_str_equal (fabric->hosts[host].name, name))
      return host;
  return TOPO_NONE;
}

/* The number of devices that have this id or name, and one of them. */
static guint
count_devices (const TopoFabric *fabric, const char *name, uint32_t *device)
{
  guint n = 0;

  for (uint32_t at = 0; at < fabric->n_devices; at++)
    if (g_str_equal (fabric->devices[at].id, name)) {
      *device = at;
      return 1;
    } else if (g_str_equal (fabric->devices[at].name, name)) {
      *device = at;
      n++;
    }
  return n;
}

/* The plugged-in port that "DEVICE:NUMBER" names; TOPO_NONE and *error otherwise.  The device may be
 * a node with one adapter. */
static uint32_t
port_named (const TopoFabric *fabric, const char *item, GError **error)
{
  const char *colon = strrchr (item, ':');
  g_autofree char *name =
      colon != NULL ? g_strndup (item, (gsize) (colon - item)) : g_strdup (item);
  uint32_t device = TOPO_NONE, host = host_named (fabric, name), port;
  guint n = count_devices (fabric, name, &device);
  guint64 number;

  if (n == 0 && host != TOPO_NONE) {
    n = fabric->hosts[host].n_rails;
    device = fabric->rails[fabric->hosts[host].first_rail];
  }
  if (n != 1 || colon == NULL) {
    fault_error (error, item,
                 n > 1           ? "several devices have this name; take the id of one"
                 : n == 1        ? "expected DEVICE:PORT, as in leaf0:3"
                 : colon != NULL ? "no device of the fabric has this name or id"
                                 : "no device or node of the fabric has this name or id");
    return TOPO_NONE;
  }
  if (!g_ascii_string_to_unsigned (colon + 1, 10, 1, fabric->devices[device].n_ports, &number,
                                   NULL)) {
    g_autofree char *problem =
        g_strdup_printf ("the ports of %s are 1 to %u", name, fabric->devices[device].n_ports);

    fault_error (error, item, problem);
    return TOPO_NONE;
  }
  port = fabric->devices[device].first_port + (uint32_t) number - 1;
  if (fabric->ports[port].peer != TOPO_NONE)
    return port;
  fault_error (error, item, "the port has no cable");
  return TOPO_NONE;
}

static void
unplug (TopoFabric *fabric, uint32_t port)
{
  uint32_t peer = fabric->ports[port].peer;

  if (peer == TOPO_NONE)
    return;
  fabric->n_links -= peer != port ? 2 : 1;
  fabric->ports[port] = (TopoPort){ .device = fabric->ports[port].device, .peer = TOPO_NONE };
  fabric->ports[peer] = (TopoPort){ .device = fabric->ports[peer].device, .peer = TOPO_NONE };
}

static void
unplug_device (TopoFabric *fabric, uint32_t device)
{
  for (uint32_t number = 0; number < fabric->devices[device].n_ports; number++)
    unplug (fabric, fabric->devices[device].first_port + number);
}

/* Takes adapters without a cable from their nodes, and nodes without an adapter from the fabric. */
static void
drop_unplugged (TopoFabric *fabric, uint32_t *n_nodes)
{
  uint32_t n_hosts = 0, n_rails = 0, n_left = 0;

  for (uint32_t from = 0; from < fabric->n_hosts; from++) {
    TopoHost host = fabric->hosts[from];
    uint32_t first_rail = n_rails;

    for (uint32_t at = 0; at < host.n_rails; at++) {
      uint32_t device = fabric->rails[host.first_rail + at];
      bool is_left = topo_fabric_has_cable (fabric, device);

      fabric->devices[device].node = is_left ? n_hosts : TOPO_NONE;
      /* Never ahead of what is read. */
      if (is_left)
        fabric->rails[n_rails++] = device;
    }
    host.n_rails = n_rails - first_rail;
    host.first_rail = first_rail;
    if (host.n_rails == 0) {
      g_free (host.name);
      continue;
    }
    n_left += from < *n_nodes;
    fabric->hosts[n_hosts++] = host;
  }
  fabric->n_hosts = n_hosts;
  *n_nodes = n_left;
}

/* A node or a device; false when the item is neither, or several devices. */
static bool
fail_whole (TopoFabric *fabric, const char *item)
{
  uint32_t device = TOPO_NONE, host = host_named (fabric, item);
  guint n = count_devices (fabric, item, &device);

  if (n == 1)
    unplug_device (fabric, device);
  else if (n == 0 && host != TOPO_NONE)
    for (uint32_t at = 0; at < fabric->hosts[host].n_rails; at++)
      unplug_device (fabric, fabric->rails[fabric->hosts[host].first_rail + at]);
  else
    return false;
  return true;
}

gboolean
topo_fabric_fail (TopoFabric *fabric, const char *list, uint32_t *n_nodes, GError **error)
{
  g_auto (GStrv) items = items_of (list, error);
  g_autoptr (GPtrArray) cables = g_ptr_array_new ();

  if (items == NULL)
    return FALSE;
  for (guint at = 0; items[at] != NULL; at++)
    if (!fail_whole (fabric, items[at]))
      g_ptr_array_add (cables, items[at]);
  drop_unplugged (fabric, n_nodes);
  for (guint at = 0; at < cables->len; at++) {
    uint32_t port = port_named (fabric, cables->pdata[at], error), ends[2];

    if (port == TOPO_NONE)
      return FALSE;
    ends[0] = fabric->ports[port].device;
    ends[1] = fabric->ports[fabric->ports[port].peer].device;
    unplug (fabric, port);
    for (guint end = 0; end < G_N_ELEMENTS (ends); end++) {
      uint32_t node = fabric->devices[ends[end]].node;

      if (node != TOPO_NONE && fabric->hosts[node].n_rails == 1 &&
          !topo_fabric_has_cable (fabric, ends[end])) {
        g_autofree char *problem =
            g_strdup_printf ("it is the only cable of %s; the name of the node leaves it out",
                             fabric->hosts[node].name);

        return fault_error (error, cables->pdata[at], problem);
      }
    }
    drop_unplugged (fabric, n_nodes);
  }
  if (*n_nodes > 0)
    return TRUE;
  return fault_error (error, list, "no node is left");
}

gboolean
topo_fabric_degrade (TopoFabric *fabric, const char *list, GError **error)
{
  g_auto (GStrv) items = items_of (list, error);

  for (guint at = 0; items != NULL && items[at] != NULL; at++) {
    g_autofree char *cable = g_strdup (items[at]);
    char *width = strrchr (cable, ' '), *end = NULL;
    unsigned long lanes = width != NULL ? strtoul (width + 1, &end, 10) : 0;
    TopoPort *port;
    uint32_t number;

    if (width == NULL || width[1] < '1' || width[1] > '9' || !g_str_equal (end, "x") ||
        !(lanes == 1 || lanes == 2 || lanes == 4 || lanes == 8))
      return fault_error (error, items[at],
                          "expected DEVICE:PORT and a width of 1x, 2x, 4x or 8x, as in leaf0:3 1x");
    *width = '\0';
    g_strchomp (cable);
    if (g_str_has_suffix (cable, " width")) /* "leaf0:3 width 1x" */
      cable[strlen (cable) - strlen (" width")] = '\0';
    number = port_named (fabric, g_strchomp (cable), error);
    if (number == TOPO_NONE)
      return FALSE;
    port = &fabric->ports[number];
    if (lanes >= port->lanes) {
      g_autofree char *problem = g_strdup_printf ("the cable has only %ux", port->lanes);

      return fault_error (error, items[at], problem);
    }
    port->lanes = fabric->ports[port->peer].lanes = (uint8_t) lanes;
  }
  return items != NULL;
}

/* --- The parts that can be out --- */

/* The name by which a list finds a device, and no other: that of its description, else its id. */
static const char *
device_name (const TopoFabric *fabric, uint32_t device)
{
  const TopoDevice *it = &fabric->devices[device];
  uint32_t found = TOPO_NONE;

  return strpbrk (it->name, ";+,") == NULL && count_devices (fabric, it->name, &found) == 1 &&
                 found == device
             ? it->name
             : it->id;
}

static char *
cable_name (const TopoFabric *fabric, uint32_t port)
{
  return g_strdup_printf ("%s:%u", device_name (fabric, fabric->ports[port].device),
                          topo_fabric_port_number (fabric, port));
}

/* Appends the end of a cable that `pattern` matches; NULL: the lower port of any cable between
 * switches. */
static void
add_cable (const TopoFabric *fabric, uint32_t port, const char *pattern, GPtrArray *parts)
{
  const uint32_t ends[] = { port, fabric->ports[port].peer };

  if (pattern == NULL) {
    if (fabric->devices[fabric->ports[ends[0]].device].is_switch &&
        fabric->devices[fabric->ports[ends[1]].device].is_switch)
      g_ptr_array_add (parts, cable_name (fabric, port));
    return;
  }
  for (guint end = 0; end < G_N_ELEMENTS (ends); end++) {
    g_autofree char *name = cable_name (fabric, ends[end]);

    if (g_pattern_match_simple (pattern, name)) {
      g_ptr_array_add (parts, g_steal_pointer (&name));
      return;
    }
  }
}

char **
topo_machine_parts (const TopoMachine *machine, const char *what, uint32_t lanes)
{
  const TopoFabric *fabric = machine->fabric;
  GPtrArray *parts = g_ptr_array_new ();
  bool any_cable = g_str_equal (what, "cables"), any_switch = g_str_equal (what, "switches"),
       any_node = g_str_equal (what, "nodes"),
       names_cables = any_cable || strchr (what, ':') != NULL;

  for (uint32_t port = 0; port < fabric->n_ports && names_cables; port++) {
    const TopoPort *it = &fabric->ports[port];

    /* Each cable once, by its lower port. */
    if (it->peer != TOPO_NONE && it->peer >= port && it->lanes > lanes)
      add_cable (fabric, port, any_cable ? NULL : what, parts);
  }
  for (uint32_t device = 0; device < fabric->n_devices && !names_cables && !any_node; device++) {
    const char *name = device_name (fabric, device);

    if (fabric->devices[device].is_switch && topo_fabric_has_cable (fabric, device) &&
        (any_switch || g_pattern_match_simple (what, name)))
      g_ptr_array_add (parts, g_strdup (name));
  }
  for (uint32_t node = 0; node < topo_shape_nodes (&machine->shape) && !names_cables && !any_switch;
       node++)
    if (any_node || g_pattern_match_simple (what, fabric->hosts[node].name))
      g_ptr_array_add (parts, g_strdup (fabric->hosts[node].name));
  g_ptr_array_add (parts, NULL);
  return (char **) g_ptr_array_free (parts, FALSE);
}

/* The text with an option's value, which is added or gets `more` behind it. */
static char *
with_option (const char *spec, const char *option, const char *old, const char *more)
{
  const char *found = strstr (spec, option);
  gsize length;

  if (found == NULL)
    return g_strconcat (spec, option, old != NULL ? old : "", old != NULL ? "+" : "", more, NULL);
  length = strlen (option) + strcspn (found + strlen (option), ",");
  return g_strdup_printf ("%.*s+%s%s", (int) (found - spec + (gssize) length), spec, more,
                          found + length);
}

char *
topo_machine_spec_without (const TopoMachine *machine, const char *spec, const char *part,
                           uint32_t lanes)
{
  g_autofree char *cable = g_strdup_printf ("%s %ux", part, lanes);

  return lanes > 0 ? with_option (spec, ",degraded=", machine->degraded, cable)
                   : with_option (spec, ",failed=", machine->failed, part);
}
