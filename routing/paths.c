/* paths.c - the forwarding tables of a machine, and the way between two nodes of any.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "routing/paths.h"

#include "routing/deadlock.h"
#include "routing/opensm/opensm.h"

#include <string.h>

/* --- Tables by name: engines, dumps, OpenSM, lanes --- */

#define LAYERS "layers:"
#define OPENSM "opensm:"

static RouteForwarding *
plain_tables (const TopoFabric *fabric, const char *routes, uint32_t max_vls, GError **error)
{
  if (g_str_has_prefix (routes, OPENSM) && routes[strlen (OPENSM)] != '\0')
    return route_opensm_run (fabric, routes + strlen (OPENSM), max_vls, error);
  return !g_strv_contains (topo_routing_engines (), routes) &&
                 g_file_test (routes, G_FILE_TEST_EXISTS)
             ? route_forwarding_load (fabric, routes, error)
             : route_forwarding_compute (fabric, routes, error);
}

RouteForwarding *
route_forwarding_of_machine (const TopoMachine *machine, GError **error)
{
  const TopoFabric *fabric = machine->fabric;
  const char *routes = machine->routes;
  uint32_t max_vls = (uint32_t) machine->parameters.switches.vls;
  g_autoptr (RouteForwarding) tables = NULL;

  if (!g_str_has_prefix (routes, LAYERS) || routes[strlen (LAYERS)] == '\0')
    return plain_tables (fabric, routes, max_vls, error);
  tables = plain_tables (fabric, routes + strlen (LAYERS), max_vls, error);
  if (tables == NULL || !route_forwarding_add_layers (tables, max_vls, error))
    return NULL;
  g_free (tables->engine);
  tables->engine = g_strdup (routes);
  return g_steal_pointer (&tables);
}

/* A way is counted in a byte.  Subnet management itself, whose directed
 * routes have room for 64 ports, cannot reach that far. */
#define LONGEST_FROM_SWITCH 254u

/* --- Links from every switch to every destination --- */

static uint8_t *
links_from (const RoutePaths *paths, uint32_t at_switch, uint32_t destination)
{
  return &paths->switch_links[(gsize) at_switch * paths->tables->n_destinations + destination];
}

/* Follows the tables from a switch until the links ahead are known, then
 * writes them along the way back: each switch is passed once per destination.
 * done[] marks the switches that are known; their entry 0 means no way. */
static bool
measure_from (RoutePaths *paths, uint32_t at, uint32_t destination, bool *done, uint32_t *way)
{
  const RouteForwarding *tables = paths->tables;
  const TopoFabric *fabric = tables->fabric;
  uint32_t n = 0, links = 0;
  bool arrived = false;

  while (at != TOPO_NONE && !done[at]) {
    uint32_t number = route_forwarding_out (tables, at, destination), peer = TOPO_NONE, port = 0;

    if (number != ROUTE_NO_PORT) {
      port = fabric->devices[tables->switch_device[at]].first_port + number - 1;
      peer = fabric->ports[port].peer;
    }
    done[at] = true;
    way[n++] = at;
    arrived = number != ROUTE_NO_PORT && peer == tables->destination_port[destination];
    at = arrived || peer == TOPO_NONE ? TOPO_NONE : route_forwarding_behind (tables, port);
  }
  /* A way that comes back to itself meets an entry that is still 0. */
  if (at != TOPO_NONE)
    links = *links_from (paths, at, destination);
  if (links == 0 && !arrived)
    return true;
  while (n > 0) {
    if (++links > LONGEST_FROM_SWITCH)
      return false;
    *links_from (paths, way[--n], destination) = (uint8_t) links;
  }
  paths->longest_links = MAX (paths->longest_links, links + 1);
  return true;
}

/* --- Rails --- */

/* Links of the way between two rails; 0: none. */
static uint32_t
rail_links (const RoutePaths *paths, uint32_t from, uint32_t to)
{
  const RouteForwarding *tables = paths->tables;
  uint32_t port = tables->destination_port[from], at;

  if (tables->fabric->ports[port].peer == tables->destination_port[to])
    return 1;
  at = route_forwarding_behind (tables, port);
  if (at == TOPO_NONE || *links_from (paths, at, to) == 0)
    return 0;
  return 1 + *links_from (paths, at, to);
}

/* Partner of rail `index` of the side that has more of them: the rail of the
 * same number, counted around, or the next one that is connected with it. */
static bool
rail_pair (const RoutePaths *paths, uint32_t from_node, uint32_t to_node, uint32_t index,
           uint32_t *from, uint32_t *to)
{
  const uint32_t *rails_from = &paths->rail[paths->first_rail[from_node]];
  const uint32_t *rails_to = &paths->rail[paths->first_rail[to_node]];
  uint32_t n_from = paths->first_rail[from_node + 1] - paths->first_rail[from_node];
  uint32_t n_to = paths->first_rail[to_node + 1] - paths->first_rail[to_node];

  for (uint32_t turn = 0; turn < MIN (n_from, n_to); turn++) {
    *from = rails_from[(n_from >= n_to ? index : index + turn) % n_from];
    *to = rails_to[(n_from >= n_to ? index + turn : index) % n_to];
    if (rail_links (paths, *from, *to) > 0)
      return true;
  }
  return false;
}

/* Both ends as numbers of destinations. */
static bool
choose_rails (const RoutePaths *paths, uint32_t from_node, uint32_t to_node, uint32_t turn,
              uint32_t *from, uint32_t *to)
{
  uint32_t n_from = paths->first_rail[from_node + 1] - paths->first_rail[from_node];
  uint32_t n_to = paths->first_rail[to_node + 1] - paths->first_rail[to_node];
  uint32_t n = MAX (n_from, n_to), n_pairs = 0, wanted;

  for (uint32_t index = 0; index < n; index++)
    n_pairs += rail_pair (paths, from_node, to_node, index, from, to);
  if (n_pairs == 0)
    return false;
  wanted = turn % n_pairs;
  for (uint32_t index = 0;; index++)
    if (rail_pair (paths, from_node, to_node, index, from, to) && wanted-- == 0)
      return true;
}

uint32_t
route_paths_turn (const RoutePaths *paths, const TopoMapping *mapping, uint32_t from_rank,
                  uint32_t to_rank)
{
  const TopoMachine *machine = paths->machine;
  uint32_t node = mapping->node[from_rank], n_rails;

  if (paths->tables == NULL)
    return 0;
  n_rails = machine->fabric->hosts[node].n_rails;
  if (machine->parameters.mpi.library == TOPO_LIBRARY_OMPI13 || n_rails == 1)
    return from_rank + to_rank;
  return paths->package[machine->slot_core[mapping->slot[from_rank]]] * n_rails / paths->n_packages;
}

bool
route_paths_rails (const RoutePaths *paths, uint32_t from_node, uint32_t to_node, uint32_t turn,
                   uint32_t *from_port, uint32_t *destination)
{
  uint32_t from;

  if (!choose_rails (paths, from_node, to_node, turn, &from, destination))
    return false;
  *from_port = paths->tables->destination_port[from];
  return true;
}

/* Which package each core is in; returns how many there are, at least one. */
static uint32_t
number_packages (const TopoNode *node, uint8_t package[])
{
  uint32_t n = 0;

  for (uint32_t core = 0; core < node->n_cores; core++) {
    uint32_t object = topo_node_above (node, core, TOPO_OBJECT_PACKAGE);

    package[core] = 0;
    for (uint32_t at = 0; object != TOPO_NONE && at < object; at++)
      package[core] = (uint8_t) (package[core] + (node->objects[at].kind == TOPO_OBJECT_PACKAGE));
    n = MAX (n, package[core] + 1u);
  }
  return MAX (n, 1);
}

/* --- Any machine --- */

static gboolean
init_fabric (RoutePaths *paths, const TopoMachine *machine, GError **error)
{
  const TopoFabric *fabric = machine->fabric;
  const RouteForwarding *tables = paths->tables = route_forwarding_of_machine (machine, error);
  g_autofree bool *done = NULL;
  g_autofree uint32_t *way = NULL;
  uint32_t n = 0;

  if (tables == NULL)
    return FALSE;
  paths->n_packages = number_packages (machine->node, paths->package);
  done = g_new (bool, tables->n_switches + 1);
  way = g_new (uint32_t, tables->n_switches + 1);
  paths->switch_links = g_new0 (uint8_t, (gsize) tables->n_switches * tables->n_destinations + 1);
  paths->longest_links = 1;
  for (uint32_t destination = 0; destination < tables->n_destinations; destination++) {
    memset (done, 0, tables->n_switches * sizeof *done);
    for (uint32_t at = 0; at < tables->n_switches; at++)
      if (!measure_from (paths, at, destination, done, way)) {
        g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                     "%s: the tables (%s) have a way of more than %u links", fabric->source,
                     tables->engine, LONGEST_FROM_SWITCH + 1);
        return FALSE;
      }
  }
  if (!route_forwarding_add_choices (paths->tables,
                                     (TopoAdaptive) machine->parameters.switches.adaptive, error))
    return FALSE;

  /* The plugged-in ports of each node's adapters, in their order. */
  paths->first_rail = g_new (uint32_t, fabric->n_hosts + 1);
  paths->rail = g_new (uint32_t, tables->n_destinations + 1);
  for (uint32_t node = 0; node < fabric->n_hosts; node++) {
    const TopoHost *host = &fabric->hosts[node];

    paths->first_rail[node] = n;
    for (uint32_t at = host->first_rail; at < host->first_rail + host->n_rails; at++) {
      const TopoDevice *adapter = &fabric->devices[fabric->rails[at]];

      for (uint32_t port = adapter->first_port; port < adapter->first_port + adapter->n_ports;
           port++)
        if (tables->destination_of[port] != TOPO_NONE)
          paths->rail[n++] = tables->destination_of[port];
    }
  }
  paths->first_rail[fabric->n_hosts] = n;
  return TRUE;
}

RoutePaths *
route_paths_new (const TopoMachine *machine, GError **error)
{
  g_autoptr (RoutePaths) paths = g_new0 (RoutePaths, 1);

  paths->machine = machine;
  if (machine->fabric == NULL) {
    route_torus_init (&paths->torus, &machine->shape);
    for (uint32_t dimension = 0; dimension < machine->shape.n_dimensions; dimension++) {
      uint32_t size = machine->shape.size[dimension];

      paths->longest_links += machine->shape.wrap[dimension] ? size / 2 : size - 1;
    }
  } else if (!init_fabric (paths, machine, error))
    return NULL;
  return g_steal_pointer (&paths);
}

void
route_paths_free (RoutePaths *paths)
{
  if (paths == NULL)
    return;
  route_forwarding_free (paths->tables);
  g_free (paths->switch_links);
  g_free (paths->first_rail);
  g_free (paths->rail);
  g_free (paths);
}

uint32_t
route_paths_links (const RoutePaths *paths, uint32_t from_node, uint32_t to_node, uint32_t turn,
                   uint32_t *links)
{
  uint32_t from_port, destination;

  if (from_node == to_node)
    return 0;
  if (paths->tables == NULL)
    return route_torus_path (&paths->torus, from_node,
                             route_torus_way (&paths->torus, from_node, to_node), links);
  if (!route_paths_rails (paths, from_node, to_node, turn, &from_port, &destination))
    return 0;
  return route_forwarding_path (paths->tables, from_port, destination, links);
}

uint32_t
route_paths_hops (const RoutePaths *paths, uint32_t from_node, uint32_t to_node, uint32_t turn)
{
  uint32_t from, to;

  if (from_node == to_node)
    return 0;
  if (paths->tables == NULL)
    return topo_shape_hops (&paths->torus.shape, from_node, to_node);
  if (!choose_rails (paths, from_node, to_node, turn, &from, &to))
    return 0;
  return rail_links (paths, from, to);
}

/* --- Whether all that a job needs is connected --- */

gboolean
route_paths_check (const RoutePaths *paths, const TopoMapping *mapping, GError **error)
{
  const RouteForwarding *tables = paths->tables;
  const TopoFabric *fabric = tables != NULL ? tables->fabric : NULL;
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (uint32_t)); /* with ranks */
  g_autofree bool *used = NULL;
  bool have_rails = true;
  gsize n;

  if (tables == NULL)
    return TRUE;
  used = g_new0 (bool, fabric->n_hosts);
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++)
    used[mapping->node[rank]] = true;
  for (uint32_t node = 0; node < fabric->n_hosts; node++)
    if (used[node]) {
      g_array_append_val (nodes, node);
      have_rails = have_rails && paths->first_rail[node] < paths->first_rail[node + 1];
    }
  /* Nearly always every switch leads everywhere. */
  n = (gsize) tables->n_switches * tables->n_destinations;
  if (have_rails && n > 0 && memchr (paths->switch_links, 0, n) == NULL)
    return TRUE;
  for (guint one = 0; one < nodes->len; one++)
    for (guint other = 0; other < nodes->len; other++) {
      uint32_t from_node = g_array_index (nodes, uint32_t, one), from;
      uint32_t to_node = g_array_index (nodes, uint32_t, other), to;

      if (from_node == to_node || choose_rails (paths, from_node, to_node, 0, &from, &to))
        continue;
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                   "%s: the tables (%s) have no way from %s to %s, which both hold ranks",
                   fabric->source, tables->engine, fabric->hosts[from_node].name,
                   fabric->hosts[to_node].name);
      return FALSE;
    }
  return TRUE;
}
