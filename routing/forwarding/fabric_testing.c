/* fabric_testing.c - fabrics and their tables for tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "routing/forwarding/fabric_testing.h"

#include "topology/topology_testing.h"

#include <glib/gstdio.h>

RouteForwarding *
fabric_testing_routes (const TopoFabric *fabric, const char *routes, GError **error)
{
  TopoMachine machine = { .fabric = (TopoFabric *) fabric, .routes = (char *) routes };

  machine.parameters.switches.vls = 15;
  return route_forwarding_of_machine (&machine, error);
}

RouteForwarding *
fabric_testing_tables (const TopoFabric *fabric, const char *routes)
{
  g_autoptr (GError) error = NULL;
  RouteForwarding *tables = fabric_testing_routes (fabric, routes, &error);

  g_assert_no_error (error);
  return tables;
}

void
fabric_testing_same_hops (const RouteForwarding *a, const RouteForwarding *b)
{
  g_autofree uint32_t *links = g_new (uint32_t, a->n_switches + 2);

  g_assert_cmpuint (a->n_destinations, ==, b->n_destinations);
  for (uint32_t from = 0; from < a->n_destinations; from++)
    for (uint32_t to = 0; to < a->n_destinations; to++)
      if (from != to)
        g_assert_cmpuint (route_forwarding_path (a, a->destination_port[from], to, links), ==,
                          route_forwarding_path (b, b->destination_port[from], to, links));
}

TopoFabric *
fabric_testing_of (const char *text)
{
  g_autofree char *path = topo_testing_file (text);
  g_autoptr (GError) error = NULL;
  TopoFabric *fabric = topo_fabric_load (path, NULL, &error);

  g_assert_no_error (error);
  g_unlink (path);
  return fabric;
}

TopoFabric *
fabric_testing_torus (uint32_t x, uint32_t y, uint32_t z, uint32_t adapters)
{
  g_autoptr (GString) text = g_string_new (NULL);
  const uint32_t size[3] = { x, y, z }, step[3] = { 1, x, x * y };

  for (uint32_t at = 0; at < x * y * z; at++) {
    g_string_append_printf (text, "Switch %u \"S%u\"\n", 6 + adapters, at);
    for (uint32_t d = 0; d < 3; d++) {
      uint32_t here = at / step[d] % size[d], base = at - here * step[d];

      g_string_append_printf (text, "[%u] \"S%u\"[%u]\n", 2 * d + 1,
                              base + (here + 1) % size[d] * step[d], 2 * d + 2);
      g_string_append_printf (text, "[%u] \"S%u\"[%u]\n", 2 * d + 2,
                              base + (here + size[d] - 1) % size[d] * step[d], 2 * d + 1);
    }
    for (uint32_t a = 0; a < adapters; a++)
      g_string_append_printf (text, "[%u] \"H%u_%u\"[1]\n", 7 + a, at, a);
  }
  for (uint32_t at = 0; at < x * y * z; at++)
    for (uint32_t a = 0; a < adapters; a++)
      g_string_append_printf (text, "Ca 1 \"H%u_%u\"\n[1] \"S%u\"[%u]\n", at, a, at, 7 + a);
  return fabric_testing_of (text->str);
}

TopoFabric *
fabric_testing_ring (uint32_t n)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (uint32_t at = 0; at < n; at++)
    g_string_append_printf (text,
                            "Switch 3 \"S%u\"\n[1] \"H%u\"[1]\n[2] \"S%u\"[3]\n[3] \"S%u\"[2]\n"
                            "Ca 1 \"H%u\"\n[1] \"S%u\"[1]\n",
                            at, at, (at + 1) % n, (at + n - 1) % n, at, at);
  return fabric_testing_of (text->str);
}

TopoFabric *
fabric_testing_tangle (uint32_t n, uint32_t n_cables)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree GString **switches = g_new (GString *, n);
  g_autofree uint32_t *used = g_new0 (uint32_t, n);

  for (uint32_t at = 0; at < n; at++) {
    switches[at] = g_string_new (NULL);
    g_string_printf (switches[at], "Switch 64 \"S%u\"\n[64] \"H%u\"[1]\n", at, at);
  }
  for (uint32_t cable = 0; cable < n_cables; cable++) {
    uint32_t a = cable < n - 1 ? cable : (uint32_t) g_rand_int_range (random, 0, (gint) n);
    uint32_t b = cable < n - 1 ? cable + 1 : (uint32_t) g_rand_int_range (random, 0, (gint) n);

    if (a == b || used[a] == 63 || used[b] == 63)
      continue;
    used[a]++, used[b]++;
    g_string_append_printf (switches[a], "[%u] \"S%u\"[%u]\n", used[a], b, used[b]);
    g_string_append_printf (switches[b], "[%u] \"S%u\"[%u]\n", used[b], a, used[a]);
  }
  for (uint32_t at = 0; at < n; at++) {
    g_string_append_printf (text, "%sCa 1 \"H%u\"\n[1] \"S%u\"[64]\n", switches[at]->str, at, at);
    g_string_free (switches[at], TRUE);
  }
  return fabric_testing_of (text->str);
}
