/* deadlock_test.c - lanes without circles, groups of adaptive switches.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "routing/deadlock.h"

#include "routing/forwarding/fabric_survey.h"
#include "routing/forwarding/fabric_testing.h"
#include "routing/forwarding/forwarding.h"
#include "topology/topology_testing.h"

#include <string.h>

/* --- An independent check: links that nothing waits on go, until none is left --- */

typedef struct {
  const RouteForwarding *tables;
  bool *waits; /* [from * n_ports + to] */
  uint32_t n;
} Waits;

static Waits
waits_of (const RouteForwarding *tables, uint32_t vl)
{
  Waits waits = { tables, NULL, tables->fabric->n_ports };
  g_autofree uint32_t *links = g_new (uint32_t, tables->n_switches + 2);

  waits.waits = g_new0 (bool, (gsize) waits.n *waits.n);
  for (uint32_t from = 0; from < tables->n_destinations; from++)
    for (uint32_t to = 0; to < tables->n_destinations; to++) {
      uint32_t n = from != to && route_forwarding_vl (tables, from, to) == vl
                       ? route_forwarding_path (tables, tables->destination_port[from], to, links)
                       : 0;

      for (uint32_t at = 0; at + 1 < n; at++)
        waits.waits[(gsize) links[at] * waits.n + links[at + 1]] = true;
    }
  return waits;
}

static bool
has_circle (Waits *waits)
{
  g_autofree bool *gone = g_new0 (bool, waits->n);
  uint32_t n_gone = 0, before;

  do {
    before = n_gone;
    for (uint32_t from = 0; from < waits->n; from++) {
      bool held = false;

      for (uint32_t to = 0; to < waits->n && !held; to++)
        held = !gone[to] && waits->waits[(gsize) from * waits->n + to];
      if (held || gone[from])
        continue;
      gone[from] = true;
      n_gone++;
    }
  } while (n_gone > before);
  g_free (waits->waits);
  return n_gone < waits->n;
}

static void
assert_free_of_circles (const RouteForwarding *tables)
{
  g_autoptr (RouteFabricSurvey) survey = route_fabric_survey_new (tables);

  g_assert_cmpuint (survey->unreachable, ==, 0);
  g_assert_cmpuint (survey->credit_loops, ==, 0);
  g_assert_cmpuint (survey->n_vls, ==, tables->n_vls);
  for (uint32_t vl = 0; vl < tables->n_vls; vl++) {
    Waits waits = waits_of (tables, vl);

    g_assert_cmpuint (survey->loops_by_vl[vl], ==, 0);
    g_assert_false (has_circle (&waits));
  }
}

/* Two lanes break a ring: the shortest ways around it wait for each other. */
static void
test_ring (void)
{
  g_autoptr (TopoFabric) fabric = fabric_testing_ring (7);
  g_autoptr (RouteForwarding) plain = fabric_testing_tables (fabric, "minhop");
  g_autoptr (RouteForwarding) tables = fabric_testing_tables (fabric, "layers:minhop");
  Waits waits = waits_of (plain, 0);

  g_assert_true (has_circle (&waits));
  g_assert_cmpstr (tables->engine, ==, "layers:minhop");
  g_assert_cmpuint (tables->n_vls, ==, 2);
  assert_free_of_circles (tables);
}

/* OpenSM's LASH needs three layers for the 4 x 4 x 4 torus (infiniband.md
 * section B2). */
static void
test_torus (void)
{
  g_autoptr (TopoFabric) fabric = fabric_testing_torus (4, 4, 4, 1);
  g_autoptr (RouteForwarding) tables = fabric_testing_tables (fabric, "layers:dor");

  g_assert_cmpuint (tables->n_vls, <=, 3);
  assert_free_of_circles (tables);
}

static void
test_tangle (void)
{
  g_autoptr (TopoFabric) fabric = fabric_testing_tangle (24, 60);
  g_autoptr (RouteForwarding) tables = fabric_testing_tables (fabric, "layers:minhop");
  g_autoptr (RouteForwarding) again = fabric_testing_tables (fabric, "layers:minhop");
  gsize n = tables->n_destinations;

  g_assert_cmpuint (tables->n_vls, >, 1);
  assert_free_of_circles (tables);
  g_assert_true (memcmp (tables->vl, again->vl, n * n) == 0);
}

static void
test_tree_needs_one_lane (void)
{
  g_autoptr (TopoFabric) fabric = topo_fabric_tree (6, 4, 2, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);
  g_autoptr (RouteForwarding) tables = fabric_testing_tables (fabric, "layers:minhop");

  g_assert_null (tables->vl);
  g_assert_cmpuint (tables->n_vls, ==, 1);
}

static void
test_too_few_lanes (void)
{
  g_autoptr (TopoFabric) fabric = fabric_testing_ring (5);
  g_autoptr (RouteForwarding) tables = fabric_testing_tables (fabric, "minhop");
  g_autoptr (GError) error = NULL;

  g_assert_false (route_forwarding_add_layers (tables, 1, &error));
  topo_testing_refused (error, TOPO_ERROR_RANGE, NULL, "need 2 virtual lanes");
  topo_testing_refused (error, TOPO_ERROR_RANGE, NULL, "have 1 (switch.vls)");
  g_assert_null (tables->vl);
}

/* All pairs on one lane of two: its loops are that lane's. */
static void
test_survey_tells_lanes_apart (void)
{
  g_autoptr (TopoFabric) fabric = fabric_testing_ring (5);
  g_autoptr (RouteForwarding) tables = fabric_testing_tables (fabric, "layers:minhop");
  gsize n = tables->n_destinations;
  g_autoptr (RouteFabricSurvey) survey = NULL;

  memset (tables->vl, 1, n * n);
  survey = route_fabric_survey_new (tables);
  g_assert_cmpuint (survey->loops_by_vl[0], ==, 0);
  g_assert_cmpuint (survey->loops_by_vl[1], ==, 2);
  g_assert_cmpuint (survey->credit_loops, ==, 2);
}

/* --- Groups --- */

static uint64_t
group (const RouteForwarding *tables, uint32_t at, uint32_t to)
{
  return tables->group[((gsize) at * tables->n_switches + to) * tables->group_words];
}

static void
add_groups (RouteForwarding *tables)
{
  g_autoptr (GError) error = NULL;

  route_forwarding_add_groups (tables, &error);
  g_assert_no_error (error);
}

/* Three leaves of four nodes (ports 1-4) with two cables to each of two spines
 * (ports 5-8): all four go up, two come down. */
static void
test_groups_of_a_tree (void)
{
  g_autoptr (TopoFabric) fabric = topo_fabric_tree (3, 4, 2, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);
  g_autoptr (RouteForwarding) tables = fabric_testing_tables (fabric, "ftree");

  add_groups (tables);
  g_assert_cmpuint (tables->group_words, ==, 1);
  g_assert_cmpuint (group (tables, 0, 1), ==, 0x1e0);
  g_assert_cmpuint (group (tables, 2, 0), ==, 0x1e0);
  g_assert_cmpuint (group (tables, 0, 0), ==, 0);
  g_assert_cmpuint (group (tables, 3, 0), ==, 0x06);
  g_assert_cmpuint (group (tables, 3, 1), ==, 0x18);
  g_assert_cmpuint (group (tables, 4, 2), ==, 0x60);
  /* Nobody is sent to a spine. */
  g_assert_cmpuint (group (tables, 0, 3), ==, 0);
}

/* Whatever is chosen, the way is as long as the tables'; the tables' own port
 * is among the choices. */
static void
assert_choices_are_shortest (const TopoFabric *fabric)
{
  g_autoptr (RouteForwarding) tables = fabric_testing_tables (fabric, "minhop");
  g_autofree uint32_t *links = g_new (uint32_t, tables->n_switches + 2);

  add_groups (tables);
  for (uint32_t to = 0; to < tables->n_destinations; to++) {
    uint32_t leaf = route_forwarding_behind (tables, tables->destination_port[to]);

    for (uint32_t from = 0; from < tables->n_destinations; from++) {
      uint32_t port = tables->destination_port[from];
      uint32_t at = route_forwarding_behind (tables, port);
      uint32_t n = route_forwarding_path (tables, port, to, links), hops = 2;

      if (at != leaf)
        g_assert_true (group (tables, at, leaf) >> route_forwarding_out (tables, at, to) & 1);
      for (; at != leaf; hops++) {
        uint64_t choice = group (tables, at, leaf);
        /* The last or the first, by turns. */
        uint32_t number = (uint32_t) ((from + to + hops) % 2 ? __builtin_ctzll (choice)
                                                             : 63 - __builtin_clzll (choice));

        at = route_forwarding_behind (
            tables, fabric->devices[tables->switch_device[at]].first_port + number - 1);
      }
      if (from != to)
        g_assert_cmpuint (hops, ==, n);
    }
  }
}

static void
test_choices_are_shortest (void)
{
  g_autoptr (TopoFabric) two = topo_fabric_tree (6, 6, 3, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);
  g_autoptr (TopoFabric) three = topo_fabric_tree3 (6, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);

  assert_choices_are_shortest (two);
  assert_choices_are_shortest (three);
}

static void
test_groups_are_refused (void)
{
  g_autoptr (TopoFabric) fabric = fabric_testing_ring (6);
  g_autoptr (RouteForwarding) tables = fabric_testing_tables (fabric, "layers:minhop");
  g_autoptr (GError) error = NULL;

  g_assert_false (route_forwarding_add_groups (tables, &error));
  topo_testing_refused (error, TOPO_ERROR_RANGE, NULL, "adaptive routing would deadlock here: ");
  topo_testing_refused (error, TOPO_ERROR_RANGE, NULL, "6 links");
  g_assert_null (tables->group);
}

/* Real fabrics of trees of switches: Avakas' director and X5. */
static void
test_groups_of_real_fabrics (void)
{
  static const char *const names[] = { "avakas/avakas.net", "x5/X5.topofile" };

  for (guint at = 0; at < G_N_ELEMENTS (names); at++) {
    g_autoptr (TopoFabric) fabric = topo_testing_fabric (names[at]);

    if (fabric == NULL)
      return;
    g_test_message ("%s", names[at]);
    assert_choices_are_shortest (fabric);
  }
}

/* --- Detours --- */

static RouteForwarding *
detours_of (const TopoFabric *fabric)
{
  g_autoptr (GError) error = NULL;
  RouteForwarding *tables = fabric_testing_tables (fabric, "minhop");

  route_forwarding_add_detours (tables, &error);
  g_assert_no_error (error);
  return tables;
}

/* Four groups of a leaf (switches 0 to 3, a node on port 1, the spine on port 2) and a spine (4 to 7,
 * the leaf on port 1, the groups that are not its own on ports 2 to 4). */
static void
test_detours_by_hand (void)
{
  g_autoptr (TopoFabric) fabric = topo_fabric_dragonfly (&(TopoDragonfly){ 4, 1, 1, 1, 0 },
                                                         (TopoRate){ 4, TOPO_SPEED_HDR }, NULL);
  g_autoptr (RouteForwarding) tables = detours_of (fabric);
  const uint64_t *detour = tables->detour;
  uint32_t n = tables->n_switches, n_global = 0;

  g_assert_cmpuint (tables->n_vls, ==, 2);
  g_assert_cmpuint (group (tables, 4, 1), ==, 1 << 2);
  g_assert_cmpuint (detour[4 * n + 1], ==, 1 << 3 | 1 << 4);
  g_assert_cmpuint (group (tables, 6, 0), ==, 1 << 2);
  g_assert_cmpuint (detour[6 * n + 0], ==, 1 << 3 | 1 << 4);
  g_assert_cmpuint (detour[0 * n + 1], ==, 1 << 2);
  /* None to the own group. */
  g_assert_cmpuint (detour[4 * n + 0], ==, 0);
  g_assert_cmpuint (detour[0 * n + 0], ==, 0);
  for (uint32_t port = 0; port < fabric->n_ports; port++)
    n_global += tables->is_global[port];
  g_assert_cmpuint (n_global, ==, 12);
}

/* Follows choices at random from every leaf to every other one, by the rules of a packet: detours
 * only until it was in another group, and lane 1 from the second cable between groups on.
 * It always arrives, by at most two such cables and over at most five switches. */
static void
assert_detours_arrive (const TopoFabric *fabric)
{
  g_autoptr (RouteForwarding) tables = detours_of (fabric);
  g_autoptr (RouteFabricSurvey) survey = route_fabric_survey_new (tables);
  uint32_t n = tables->n_switches, n_detours = 0;

  g_assert_cmpuint (survey->n_vls, ==, 2);
  g_assert_cmpuint (survey->credit_loops, ==, 0);
  for (uint32_t walk = 0; walk < 20000; walk++) {
    uint32_t from = g_test_rand_int_range (0, (int) tables->n_destinations);
    uint32_t to = g_test_rand_int_range (0, (int) tables->n_destinations);
    uint32_t at = route_forwarding_behind (tables, tables->destination_port[from]);
    uint32_t home = route_forwarding_behind (tables, tables->destination_port[to]);
    uint32_t n_over = 0, n_switches = 1;

    while (at != home) {
      uint64_t choice =
          tables->group[at * n + home] | (n_over == 0 ? tables->detour[at * n + home] : 0);
      uint32_t number = 0, port;

      g_assert_cmpuint (choice, !=, 0);
      while (!(choice >> number & 1))
        number = (uint32_t) g_test_rand_int_range (1, 64);
      port = fabric->devices[tables->switch_device[at]].first_port + number - 1;
      n_over += tables->is_global[port];
      at = route_forwarding_behind (tables, port);
      g_assert_cmpuint (++n_switches, <=, 5);
    }
    g_assert_cmpuint (n_over, <=, 2);
    n_detours += n_over == 2;
  }
  g_assert_cmpuint (n_detours, >, 0);
}

static void
test_detours_arrive (void)
{
  static const TopoDragonfly shapes[] = {
    { 8, 4, 4, 8, 0 }, { 3, 2, 2, 2, 0 }, { 3, 2, 2, 2, 4 }, { 5, 3, 4, 1, 2 }, { 4, 2, 6, 3, 2 },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (shapes); at++) {
    g_autoptr (TopoFabric) fabric =
        topo_fabric_dragonfly (&shapes[at], (TopoRate){ 4, TOPO_SPEED_HDR }, NULL);

    assert_detours_arrive (fabric);
  }
}

static void
test_detours_are_refused (void)
{
  g_autoptr (TopoFabric) two = topo_fabric_tree (3, 4, 2, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);
  g_autoptr (TopoFabric) three = topo_fabric_tree3 (4, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);
  g_autoptr (TopoFabric) ring = fabric_testing_ring (6);
  g_autoptr (TopoFabric) dragonfly = topo_fabric_dragonfly (&(TopoDragonfly){ 3, 2, 2, 2, 0 },
                                                            (TopoRate){ 4, TOPO_SPEED_HDR }, NULL);
  const TopoFabric *const fabrics[] = { two, three, ring };
  g_autoptr (RouteForwarding) lanes = fabric_testing_tables (dragonfly, "minhop");
  g_autoptr (GError) taken = NULL;

  for (gsize at = 0; at < G_N_ELEMENTS (fabrics); at++) {
    g_autoptr (RouteForwarding) tables = fabric_testing_tables (fabrics[at], "minhop");
    g_autoptr (GError) error = NULL;

    g_assert_false (route_forwarding_add_detours (tables, &error));
    topo_testing_refused (error, TOPO_ERROR_RANGE, NULL, "not a Dragonfly+");
    g_assert_true (tables->group == NULL && tables->detour == NULL && tables->is_global == NULL);
    g_assert_cmpuint (tables->n_vls, ==, 1);
  }
  lanes->n_vls = 3;
  g_assert_false (route_forwarding_add_detours (lanes, &taken));
  topo_testing_refused (taken, TOPO_ERROR_RANGE, NULL, "3 virtual lanes of their own");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/routing/layers/ring", test_ring);
  g_test_add_func ("/routing/layers/torus", test_torus);
  g_test_add_func ("/routing/layers/tangle", test_tangle);
  g_test_add_func ("/routing/layers/tree", test_tree_needs_one_lane);
  g_test_add_func ("/routing/layers/too-few", test_too_few_lanes);
  g_test_add_func ("/routing/layers/survey", test_survey_tells_lanes_apart);
  g_test_add_func ("/routing/groups/tree", test_groups_of_a_tree);
  g_test_add_func ("/routing/groups/shortest", test_choices_are_shortest);
  g_test_add_func ("/routing/groups/refused", test_groups_are_refused);
  g_test_add_func ("/routing/groups/real", test_groups_of_real_fabrics);
  g_test_add_func ("/routing/detours/by-hand", test_detours_by_hand);
  g_test_add_func ("/routing/detours/arrive", test_detours_arrive);
  g_test_add_func ("/routing/detours/refused", test_detours_are_refused);
  return g_test_run ();
}
