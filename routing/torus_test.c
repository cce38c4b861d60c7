/* torus_test.c - dimension orders, zones, signs and paths on Blue Gene/Q.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "routing/torus.h"

#include "topology/machine.h"

#include <string.h>

static void
route_of (const char *spec, RouteTorus *route)
{
  g_autoptr (TopoMachine) machine = topo_machine_new (spec, NULL);

  g_assert_nonnull (machine);
  route_torus_init (route, &machine->shape);
}

/* "{D}{ABC}{E}" */
static char *
zone_text (const RouteTorus *route, uint32_t zone)
{
  GString *text = g_string_new (NULL);

  for (uint32_t step = 0; step < route->n_zone_masks[zone]; step++) {
    g_string_append_c (text, '{');
    for (uint32_t dimension = 0; dimension < TOPO_MAX_DIMENSIONS; dimension++)
      if (route->zone_mask[zone][step] >> dimension & 1u)
        g_string_append_c (text, topo_dimension_letter (dimension));
    g_string_append_c (text, '}');
  }
  return g_string_free (text, FALSE);
}

static char *
order_text (const RouteTorus *route)
{
  GString *text = g_string_new (NULL);

  for (uint32_t slot = 0; slot < route->shape.n_dimensions; slot++)
    g_string_append_c (text, topo_dimension_letter (route->order[slot]));
  return g_string_free (text, FALSE);
}

/* The whole table of bgq.md section 2.5. */
static const struct {
  const char *spec, *order, *zone0;
} firmware[] = {
  { "bgq:4x4x4x4x2", "ABCDE", "{ABCD}{E}" },
  { "bgq:4x4x4x8x2", "DBCAE", "{D}{ABC}{E}" },
  { "bgq:4x4x4x16x2", "DBCAE", "{D}{ABC}{E}" },
  { "bgq:4x4x8x8x2", "CDABE", "{CD}{AB}{E}" },
  { "bgq:4x4x8x16x2", "DCABE", "{D}{C}{AB}{E}" },
  { "bgq:4x8x8x8x2", "BCDAE", "{BCD}{A}{E}" },
  { "bgq:4x4x16x16x2", "CDABE", "{CD}{AB}{E}" },
  { "bgq:8x8x8x16x2", "DBCAE", "{D}{ABC}{E}" },
  { "bgq:4x12x16x16x2", "CDBAE", "{CD}{B}{A}{E}" },
  { "bgq:8x12x16x16x2", "CDBAE", "{CD}{B}{A}{E}" },
  { "bgq:16x12x16x16x2", "ACDBE", "{ACD}{B}{E}" },
  { "bgq:32", "DCBAE", "{ABCD}{E}" },
};

static void
test_firmware_orders (void)
{
  for (gsize at = 0; at < G_N_ELEMENTS (firmware); at++) {
    RouteTorus route;
    g_autofree char *order = NULL, *zone0 = NULL;

    g_test_message ("%s", firmware[at].spec);
    route_of (firmware[at].spec, &route);
    order = order_text (&route);
    zone0 = zone_text (&route, 0);
    g_assert_cmpstr (order, ==, firmware[at].order);
    g_assert_cmpstr (zone0, ==, firmware[at].zone0);
  }
}

static void
test_other_zones (void)
{
  RouteTorus route;
  g_autofree char *zone1 = NULL, *zone2 = NULL, *zone3 = NULL;

  route_of ("bgq:4x4x4x8x2", &route);
  zone1 = zone_text (&route, 1);
  zone2 = zone_text (&route, 2);
  zone3 = zone_text (&route, 3);
  g_assert_cmpstr (zone1, ==, "{ABCDE}");
  g_assert_cmpstr (zone2, ==, "{D}{B}{C}{A}{E}");
  g_assert_cmpstr (zone3, ==, "{DE}{BE}{CE}{AE}{E}");
}

/* A mask is left only when nothing of it is pending, and what a step allows
 * is always pending. */
static void
test_allowed_is_the_first_pending_step (void)
{
  RouteTorus route;

  route_of ("bgq:4x4x8x16x2", &route);
  /* {D}{C}{AB}{E}: with A, B and E left, A and B are allowed. */
  g_assert_cmphex (route.allowed[0][0x13], ==, 0x03);
  g_assert_cmphex (route.allowed[0][0x1f], ==, 0x08);
  g_assert_cmphex (route.allowed[1][0x16], ==, 0x16);
  g_assert_cmphex (route.allowed[2][0x13], ==, 0x01);
  g_assert_cmphex (route.allowed[3][0x13], ==, 0x10);
  for (uint32_t zone = 0; zone < ROUTE_ZONES; zone++)
    for (uint32_t pending = 1; pending < 32; pending++) {
      g_assert_cmphex (route.allowed[zone][pending], !=, 0);
      g_assert_cmphex (route.allowed[zone][pending] & ~pending, ==, 0);
    }
}

static uint32_t
node_at (const RouteTorus *route, uint16_t a, uint16_t b, uint16_t c, uint16_t d, uint16_t e)
{
  return topo_shape_node (&route->shape, (TopoCoordinates){ { a, b, c, d, e } });
}

/* Half-way ties in a ring of four: an even source goes plus, an odd minus. */
static void
test_ties_follow_the_parity_of_the_source (void)
{
  RouteTorus route;
  RouteWay even, odd;

  route_of ("bgq:512", &route);
  even = route_torus_way (&route, node_at (&route, 0, 0, 0, 0, 0), node_at (&route, 2, 0, 0, 0, 0));
  odd = route_torus_way (&route, node_at (&route, 0, 0, 0, 0, 1), node_at (&route, 2, 0, 0, 0, 1));
  g_assert_cmpuint (even.hops[0], ==, 2);
  g_assert_cmpuint (odd.hops[0], ==, 2);
  g_assert_cmphex (even.plus & 1, ==, 1);
  g_assert_cmphex (odd.plus & 1, ==, 0);
  /* Both wrap when the tie is counted from the upper half. */
  even = route_torus_way (&route, node_at (&route, 2, 0, 0, 0, 0), node_at (&route, 0, 0, 0, 0, 0));
  odd = route_torus_way (&route, node_at (&route, 3, 0, 0, 0, 0), node_at (&route, 1, 0, 0, 0, 0));
  g_assert_cmphex (even.plus & 1, ==, 1);
  g_assert_cmphex (odd.plus & 1, ==, 0);
}

/* All coordinates count for the parity, not only that of the dimension. */
static void
test_every_tie_on_a_midplane (void)
{
  RouteTorus route;

  route_of ("bgq:512", &route);
  for (uint32_t from = 0; from < 512; from++) {
    TopoCoordinates at = topo_shape_coordinates (&route.shape, from);
    uint32_t sum = at.at[0] + at.at[1] + at.at[2] + at.at[3] + at.at[4];
    RouteWay way;

    for (uint32_t dimension = 0; dimension < 5; dimension++) {
      uint32_t size = route.shape.size[dimension];

      at.at[dimension] = (uint16_t) ((at.at[dimension] + size / 2) % size);
    }
    way = route_torus_way (&route, from, topo_shape_node (&route.shape, at));
    g_assert_cmphex (way.plus, ==, sum % 2 == 0 ? 0x1f : 0);
  }
}

/* A path is minimal when it is as long as
 * the distance, and right when it ends where it should.  Its signs are those of
 * the cut-off registers. */
static void
assert_paths_minimal (const char *spec)
{
  RouteTorus route;
  uint32_t links[64];
  uint32_t n_nodes, n_ports;

  route_of (spec, &route);
  n_nodes = topo_shape_nodes (&route.shape);
  n_ports = topo_shape_ports (&route.shape);
  for (uint32_t from = 0; from < n_nodes; from++)
    for (uint32_t to = 0; to < n_nodes; to++) {
      RouteWay way = route_torus_way (&route, from, to);
      uint32_t length = route_torus_path (&route, from, way, links);
      uint32_t node = from;

      g_assert_cmpuint (length, ==, topo_shape_hops (&route.shape, from, to));
      g_assert_cmpuint (length, ==, route_way_length (&way));
      for (uint32_t dimension = 0; dimension < route.shape.n_dimensions; dimension++) {
        TopoCoordinates source = topo_shape_coordinates (&route.shape, from);
        TopoCoordinates target = topo_shape_coordinates (&route.shape, to);
        bool differs = source.at[dimension] != target.at[dimension];

        g_assert_cmpuint (way.pending >> dimension & 1u, ==, differs);
        g_assert_cmpuint (way.plus >> dimension & 1u, ==,
                          differs &&
                              route_torus_goes_plus (&route.shape, source, target, dimension));
      }
      for (uint32_t hop = 0; hop < length; hop++) {
        g_assert_cmpuint (links[hop] / n_ports, ==, node);
        node = topo_shape_neighbour (&route.shape, node, links[hop] % n_ports);
        g_assert_cmpuint (node, !=, TOPO_NONE);
      }
      g_assert_cmpuint (node, ==, to);
    }
}

static void
test_paths_are_shortest (void)
{
  assert_paths_minimal ("bgq:512");
  assert_paths_minimal ("bgq:32");
  assert_paths_minimal ("bgq:128");
  assert_paths_minimal ("torus:6x2x4");
  assert_paths_minimal ("torus:5x1x3m");
  assert_paths_minimal ("torus:7x6m");
  assert_paths_minimal ("torus:3x4x2x5m");
}

/* A path finishes one dimension before the next, in the order. */
static void
test_paths_keep_the_order (void)
{
  static const char *const spec = "bgq:4x4x8x8x2"; /* C D A B E */
  RouteTorus route;
  RouteWay way;
  uint32_t links[32];
  uint32_t n_links;
  g_autoptr (GString) text = g_string_new (NULL);

  route_of (spec, &route);
  way = route_torus_way (&route, 0, node_at (&route, 1, 3, 2, 6, 1));
  n_links = route_torus_path (&route, 0, way, links);
  for (uint32_t hop = 0; hop < n_links; hop++) {
    uint32_t port = links[hop] % 10;

    g_string_append_printf (text, "%c%c ", topo_dimension_letter (port / 2), "-+"[port % 2]);
  }
  g_assert_cmpstr (text->str, ==, "C+ C+ D- D- A+ B- E+ ");
}

static void
test_longest_dimensions (void)
{
  RouteTorus route;

  route_of ("torus:511", &route);
  g_assert_cmpuint (route_torus_way (&route, 0, 255).hops[0], ==, 255);
  g_assert_cmpuint (route_torus_way (&route, 0, 256).hops[0], ==, 255);
  route_of ("torus:256m", &route);
  g_assert_cmpuint (route_torus_way (&route, 0, 255).hops[0], ==, 255);
}

/* The two nodes of an E ring have opposite parity, so both directions of
 * their traffic run over one of the two cables (section 2.4). */
static void
test_e_pair_uses_one_cable (void)
{
  RouteTorus route;

  route_of ("bgq:512", &route);
  for (uint32_t node = 0; node < 512; node += 2) {
    RouteWay there = route_torus_way (&route, node, node + 1);
    RouteWay back = route_torus_way (&route, node + 1, node);

    g_assert_cmpuint (there.hops[4], ==, 1);
    g_assert_cmpuint (back.hops[4], ==, 1);
    g_assert_cmphex (there.pending, ==, 0x10);
    g_assert_cmphex (there.plus ^ back.plus, ==, 0x10);
  }
}

static void
test_hint_chooses_the_cable (void)
{
  RouteTorus route;

  route_of ("bgq:512", &route);
  for (uint32_t node = 0; node < 512; node++) {
    RouteWay plus = route_torus_way_hinted (&route, node, node ^ 1, 4, true);
    RouteWay minus = route_torus_way_hinted (&route, node, node ^ 1, 4, false);

    g_assert_cmpuint (route_torus_next_port (&route, &plus), ==, 9);
    g_assert_cmpuint (route_torus_next_port (&route, &minus), ==, 8);
  }
}

/* In a longer ring, or where nothing is to go, a hint changes nothing. */
static void
test_hint_only_breaks_ties_of_two (void)
{
  RouteTorus route;
  RouteWay plain, hinted;

  route_of ("bgq:512", &route);
  for (uint32_t dimension = 0; dimension < 5; dimension++) {
    plain = route_torus_way (&route, 1, 1 + 2 * 128);
    hinted = route_torus_way_hinted (&route, 1, 1 + 2 * 128, dimension, true);
    g_assert_cmpmem (&plain, sizeof plain, &hinted, sizeof hinted);
  }
}

static void
test_padding_is_zero (void)
{
  RouteTorus route;
  RouteWay way;

  route_of ("torus:3x3", &route);
  way = route_torus_way (&route, 0, 8);
  for (gsize at = 2; at < G_N_ELEMENTS (way.hops); at++)
    g_assert_cmpuint (way.hops[at], ==, 0);
  way = route_torus_way (&route, 4, 4);
  g_assert_cmpuint (way.pending, ==, 0);
  g_assert_cmpuint (route_way_length (&way), ==, 0);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/routing/torus/orders", test_firmware_orders);

  g_test_add_func ("/routing/torus/zones", test_other_zones);
  g_test_add_func ("/routing/torus/allowed", test_allowed_is_the_first_pending_step);
  g_test_add_func ("/routing/torus/ties", test_ties_follow_the_parity_of_the_source);
  g_test_add_func ("/routing/torus/every-tie", test_every_tie_on_a_midplane);
  g_test_add_func ("/routing/torus/shortest", test_paths_are_shortest);
  g_test_add_func ("/routing/torus/order-of-path", test_paths_keep_the_order);
  g_test_add_func ("/routing/torus/longest", test_longest_dimensions);
  g_test_add_func ("/routing/torus/e-one-cable", test_e_pair_uses_one_cable);
  g_test_add_func ("/routing/torus/hint", test_hint_chooses_the_cable);
  g_test_add_func ("/routing/torus/hint-ties-only", test_hint_only_breaks_ties_of_two);
  g_test_add_func ("/routing/torus/padding", test_padding_is_zero);
  return g_test_run ();
}
