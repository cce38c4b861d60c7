/* routes.c - where forwarding tables come from: engines, dumps, OpenSM.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "routing/routes.h"

#include "routing/forwarding/forwarding_private.h"
#include "routing/layers.h"
#include "routing/opensm/opensm.h"

#include <string.h>

#define LAYERS "layers:"
#define OPENSM "opensm:"

static const RouteEngine engines[] = {
  { "minhop", route_engine_minhop },
  { "updn", route_engine_updn },
  { "ftree", route_engine_ftree },
  { "dor", route_engine_dor },
};

RouteForwarding *
route_forwarding_compute (const TopoFabric *fabric, const char *engine, GError **error)
{
  g_autoptr (RouteForwarding) tables = NULL;
  g_autofree char *known = NULL;

  for (guint at = 0; at < G_N_ELEMENTS (engines); at++) {
    if (strcmp (engines[at].name, engine) != 0)
      continue;
    tables = route_forwarding_new (fabric, engine);
    return engines[at].fill (tables, error) ? g_steal_pointer (&tables) : NULL;
  }
  known = g_strjoinv (", ", (char **) topo_routing_engines ());
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               "%s: no engine \"%s\" (known: %s), and no file of that name", fabric->source, engine,
               known);
  return NULL;
}

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

static RouteForwarding *
named_tables (const TopoFabric *fabric, const char *routes, uint32_t max_vls, GError **error)
{
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

RouteForwarding *
route_forwarding_new_named (const TopoFabric *fabric, const char *routes, GError **error)
{
  return named_tables (fabric, routes, ROUTE_MAX_VLS, error);
}

RouteForwarding *
route_forwarding_of_machine (const TopoMachine *machine, GError **error)
{
  return named_tables (machine->fabric, machine->routes, (uint32_t) machine->parameters.switch_vls,
                       error);
}
