/* forwarding.c - the forwarding tables of a fabric: one port per destination.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "routing/forwarding/forwarding_private.h"

RouteForwarding *
route_forwarding_new (const TopoFabric *fabric, const char *engine)
{
  RouteForwarding *tables = g_new0 (RouteForwarding, 1);

  tables->fabric = fabric;
  tables->engine = g_strdup (engine);
  tables->switch_device = g_new (uint32_t, MAX (fabric->n_switches, 1));
  tables->switch_of = g_new (uint32_t, MAX (fabric->n_devices, 1));
  tables->destination_port = g_new (uint32_t, MAX (fabric->n_ports, 1));
  tables->destination_of = g_new (uint32_t, MAX (fabric->n_ports, 1));
  for (uint32_t device = 0; device < fabric->n_devices; device++) {
    tables->switch_of[device] = TOPO_NONE;
    if (!fabric->devices[device].is_switch)
      continue;
    tables->switch_of[device] = tables->n_switches;
    tables->switch_device[tables->n_switches++] = device;
  }
  for (uint32_t port = 0; port < fabric->n_ports; port++) {
    bool is_switch = fabric->devices[fabric->ports[port].device].is_switch;

    tables->destination_of[port] = TOPO_NONE;
    if (is_switch || fabric->ports[port].peer == TOPO_NONE)
      continue;
    tables->destination_of[port] = tables->n_destinations;
    tables->destination_port[tables->n_destinations++] = port;
  }
  tables->n_vls = 1;
  tables->out = g_new0 (uint8_t, (gsize) tables->n_switches * tables->n_destinations + 1);
  return tables;
}

void
route_forwarding_free (RouteForwarding *tables)
{
  if (tables == NULL)
    return;
  g_free (tables->engine);
  g_free (tables->switch_device);
  g_free (tables->switch_of);
  g_free (tables->destination_port);
  g_free (tables->destination_of);
  g_free (tables->out);
  g_free (tables->vl);
  g_free (tables->group);
  g_free (tables->detour);
  g_free (tables->is_global);
  g_free (tables);
}

uint32_t
route_forwarding_path (const RouteForwarding *tables, uint32_t from_port, uint32_t destination,
                       uint32_t *links)
{
  const TopoFabric *fabric = tables->fabric;
  uint32_t port = from_port, n_links = 0;

  while (n_links < tables->n_switches + 2) {
    uint32_t at, number;

    links[n_links++] = port;
    if (fabric->ports[port].peer == tables->destination_port[destination])
      return n_links;
    at = route_forwarding_behind (tables, port);
    number = at != TOPO_NONE ? route_forwarding_out (tables, at, destination) : ROUTE_NO_PORT;
    if (number == ROUTE_NO_PORT)
      return 0;
    port = fabric->devices[tables->switch_device[at]].first_port + number - 1;
    if (fabric->ports[port].peer == TOPO_NONE)
      return 0;
  }
  return 0;
}

/* --- What engines share --- */

RouteCables
route_cables_new (const RouteForwarding *tables)
{
  const TopoFabric *fabric = tables->fabric;
  RouteCables cables = { g_new (uint32_t, tables->n_switches + 1), NULL };
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (RouteCable));

  for (uint32_t at = 0; at < tables->n_switches; at++) {
    const TopoDevice *device = &fabric->devices[tables->switch_device[at]];

    cables.first[at] = all->len;
    for (uint32_t number = 1; number <= device->n_ports; number++) {
      uint32_t peer = fabric->ports[device->first_port + number - 1].peer;
      RouteCable cable = { .number = number };

      if (peer == TOPO_NONE || tables->switch_of[fabric->ports[peer].device] == TOPO_NONE)
        continue;
      cable.to = tables->switch_of[fabric->ports[peer].device];
      cable.back = topo_fabric_port_number (fabric, peer);
      /* A cable from a switch to itself leads nowhere. */
      if (cable.to != at)
        g_array_append_val (all, cable);
    }
  }
  cables.first[tables->n_switches] = all->len;
  cables.cables = (RouteCable *) (void *) g_array_free (g_steal_pointer (&all), FALSE);
  return cables;
}

void
route_cables_clear (RouteCables *cables)
{
  g_free (cables->first);
  g_free (cables->cables);
}

uint32_t
route_leaf_of (const RouteForwarding *tables, uint32_t destination, uint32_t *number)
{
  const TopoFabric *fabric = tables->fabric;
  uint32_t port = tables->destination_port[destination];

  *number = topo_fabric_port_number (fabric, fabric->ports[port].peer);
  return route_forwarding_behind (tables, port);
}

void
route_distances (const RouteCables *cables, uint32_t n_switches, uint32_t *hops, uint32_t *queue,
                 uint32_t n_roots)
{
  uint32_t n = n_roots;

  for (uint32_t at = 0; at < n_switches; at++)
    hops[at] = UINT32_MAX;
  for (uint32_t root = 0; root < n_roots; root++)
    hops[queue[root]] = 0;
  for (uint32_t first = 0; first < n; first++) {
    uint32_t at = queue[first];

    for (uint32_t cable = cables->first[at]; cable < cables->first[at + 1]; cable++) {
      uint32_t to = cables->cables[cable].to;

      if (hops[to] != UINT32_MAX)
        continue;
      hops[to] = hops[at] + 1;
      queue[n++] = to;
    }
  }
}
