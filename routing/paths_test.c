/* paths_test.c - ways by hand, on real fabrics and over several rails.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "routing/forwarding/fabric_survey.h"

#include ".ci/test_data.h"
#include "routing/paths.h"
#include "topology/topology_testing.h"

#include <glib/gstdio.h>
#include <string.h>

static RoutePaths *
make (const TopoMachine *machine)
{
  g_autoptr (GError) error = NULL;
  RoutePaths *paths = route_paths_new (machine, &error);

  g_assert_no_error (error);
  return paths;
}

/* The links by name, "|" between them. */
static char *
way_of (const RoutePaths *paths, uint32_t from, uint32_t to, uint32_t turn)
{
  g_autofree uint32_t *links = g_new (uint32_t, paths->longest_links);
  uint32_t n = route_paths_links (paths, from, to, turn, links);
  GString *text = g_string_new (NULL);

  g_assert_cmpuint (n, ==, route_paths_hops (paths, from, to, turn));
  for (uint32_t at = 0; at < n; at++) {
    g_autofree char *name = topo_fabric_port_name (paths->machine->fabric, links[at]);

    g_string_append_printf (text, "%s%s", at ? "|" : "", name);
  }
  return g_string_free (text, FALSE);
}

static void
assert_way (const RoutePaths *paths, uint32_t from, uint32_t to, uint32_t from_rank,
            uint32_t to_rank, const char *expected)
{
  g_autofree char *way = way_of (paths, from, to, from_rank + to_rank);

  g_assert_cmpstr (way, ==, expected);
}

/* With a rank on each of these nodes. */
static gboolean
check (const RoutePaths *paths, uint32_t *nodes, uint32_t n_nodes, GError **error)
{
  TopoMapping mapping = { .n_ranks = n_nodes, .node = nodes };

  return route_paths_check (paths, &mapping, error);
}

static void
test_torus (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("bgq:2x4x4x4x2", 0);
  g_autoptr (RoutePaths) paths = make (machine);
  g_autofree uint32_t *links = g_new (uint32_t, paths->longest_links);
  uint32_t n_nodes = topo_shape_nodes (&machine->shape), longest = 0;

  for (uint32_t to = 0; to < n_nodes; to++) {
    uint32_t n = route_paths_links (paths, 5, to, 1, links);

    g_assert_cmpuint (n, ==, topo_shape_hops (&machine->shape, 5, to));
    g_assert_cmpuint (n, ==, route_paths_hops (paths, 5, to, 1));
    longest = MAX (longest, n);
  }
  g_assert_cmpuint (longest, ==, paths->longest_links);
  g_assert_cmpuint (longest, ==, 1 + 2 + 2 + 2 + 1);
}

/* Two leaves of two nodes and one spine, two cables from each leaf: ports 1
 * and 2 of a leaf are its nodes', 3 and 4 lead up. */
static void
test_tree_by_hand (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("fattree:2x2:1,routes=ftree", 0);
  g_autoptr (RoutePaths) paths = make (machine);

  assert_way (paths, 0, 0, 0, 1, "");
  assert_way (paths, 0, 1, 0, 1, "node0 HCA-1 port 1|leaf0 port 2");
  assert_way (paths, 1, 0, 0, 1, "node1 HCA-1 port 1|leaf0 port 1");
  assert_way (paths, 0, 2, 0, 1, "node0 HCA-1 port 1|leaf0 port 3|spine0 port 3|leaf1 port 1");
  assert_way (paths, 1, 3, 0, 1, "node1 HCA-1 port 1|leaf0 port 4|spine0 port 4|leaf1 port 2");
  g_assert_cmpuint (paths->longest_links, ==, 4);
}

/* Hops of all pairs, and on every link as many ways as the tables lead over
 * it: each against the other reader of the tables. */
static void
assert_agrees_with_survey (const char *fabric, const char *tables)
{
  g_autofree char *path = test_data (fabric);
  g_autofree char *routes = test_data (tables);
  g_autofree char *spec = g_strdup_printf ("fabric:%s,routes=%s", path, routes);
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (RoutePaths) paths = NULL;
  g_autoptr (RouteFabricSurvey) survey = NULL;
  g_autofree uint64_t *load = NULL;
  g_autofree uint64_t *by_hops = NULL;
  g_autofree uint32_t *links = NULL;
  uint32_t n_nodes;

  if (path == NULL || routes == NULL)
    return;
  machine = topo_testing_machine (spec, 0);
  paths = make (machine);
  survey = route_fabric_survey_new (paths->tables);
  n_nodes = topo_shape_nodes (&machine->shape);
  g_assert_cmpuint (n_nodes, ==, paths->tables->n_destinations);
  g_assert_cmpuint (paths->longest_links, >, survey->max_hops);
  load = g_new0 (uint64_t, machine->fabric->n_ports);
  by_hops = g_new0 (uint64_t, paths->longest_links + 1);
  links = g_new (uint32_t, paths->longest_links);
  for (uint32_t from = 0; from < n_nodes; from++)
    for (uint32_t to = 0; to < n_nodes; to++) {
      uint32_t n = route_paths_links (paths, from, to, from + to, links);

      g_assert_cmpuint (n, ==, route_paths_hops (paths, from, to, from + to));
      by_hops[n]++;
      for (uint32_t at = 1; at < n; at++) /* the survey begins at the first switch */
        load[links[at]]++;
    }
  g_assert_cmpuint (by_hops[0], ==, n_nodes);
  for (uint32_t hops = 1; hops <= survey->max_hops; hops++)
    g_assert_cmpuint (by_hops[hops + 1], ==, survey->pairs_by_hops[hops]);
  for (uint32_t port = 0; port < machine->fabric->n_ports; port++)
    g_assert_cmpuint (load[port], ==, survey->load[port]);
}

static void
test_real_fabrics (void)
{
  assert_agrees_with_survey ("fabrics/x5/X5.topofile", "fabrics/x5/opensm-minhop-lfts.dump");
  assert_agrees_with_survey ("fabrics/avakas/ib-subnet-fe80_0000_0000_0000.txt",
                             "fabrics/avakas/ibroutes");
}

/* --- Rails --- */

static RoutePaths *
paths_of_text (const char *text, TopoMachine **machine)
{
  g_autofree char *path = topo_testing_file (text);
  g_autofree char *spec = g_strconcat ("fabric:", path, NULL);

  *machine = topo_testing_machine (spec, 0);
  g_unlink (path);
  return make (*machine);
}

/* a and b have a rail in each of two subnets, c only in the second, d only in
 * the first; b's rails are listed the other way around. */
#define TWO_SUBNETS                                                            \
  "Switch 8 \"S1\" # \"one\"\n[1] \"A1\"[1]\n[2] \"B1\"[1]\n[3] \"D1\"[1]\n\n" \
  "Switch 8 \"S2\" # \"two\"\n[1] \"A2\"[1]\n[2] \"B2\"[1]\n[3] \"C2\"[1]\n\n" \
  "Ca 1 \"A1\" # \"a HCA-1\"\n[1] \"S1\"[1]\n\n"                               \
  "Ca 1 \"A2\" # \"a HCA-2\"\n[1] \"S2\"[1]\n\n"                               \
  "Ca 1 \"B2\" # \"b HCA-1\"\n[1] \"S2\"[2]\n\n"                               \
  "Ca 1 \"B1\" # \"b HCA-2\"\n[1] \"S1\"[2]\n\n"                               \
  "Ca 1 \"C2\" # \"c HCA-1\"\n[1] \"S2\"[3]\n\n"                               \
  "Ca 1 \"D1\" # \"d HCA-1\"\n[1] \"S1\"[3]\n\n"

static void
test_rails_of_two_subnets (void)
{
  enum { A, B, C, D };
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (RoutePaths) paths = paths_of_text (TWO_SUBNETS, &machine);
  uint32_t connected[] = { C, A, B }, apart[] = { D, A, C };
  g_autoptr (GError) error = NULL;
  uint32_t port, destination;

  g_assert_cmpuint (topo_shape_nodes (&machine->shape), ==, 4);
  assert_way (paths, A, B, 0, 2, "a HCA-1 port 1|one port 2");
  assert_way (paths, A, B, 0, 3, "a HCA-2 port 1|two port 2");
  assert_way (paths, B, A, 2, 0, "b HCA-1 port 1|two port 1");
  assert_way (paths, B, A, 3, 0, "b HCA-2 port 1|one port 1");
  for (uint32_t rank = 0; rank < 2; rank++) {
    assert_way (paths, A, C, rank, 4, "a HCA-2 port 1|two port 3");
    assert_way (paths, D, A, rank, 4, "d HCA-1 port 1|one port 1");
    assert_way (paths, C, D, rank, 4, "");
    g_assert_false (route_paths_rails (paths, C, D, rank + 4, &port, &destination));
  }
  g_assert_true (check (paths, connected, 3, &error));
  g_assert_false (check (paths, apart, 3, &error));
  g_assert_error (error, TOPO_ERROR, TOPO_ERROR_RANGE);
  g_assert_nonnull (strstr (error->message, "no way from c to d"));
}

/* Two ports of one adapter, three of another node, all on one switch: each of
 * the three has its share, and equal sums of ranks take equal rails. */
#define ONE_SWITCH                                                         \
  "Switch 8 \"S1\" # \"one\"\n[1] \"A\"[1]\n[2] \"A\"[2]\n[3] \"B1\"[1]\n" \
  "[4] \"B1\"[2]\n[5] \"B2\"[1]\n\n"                                       \
  "Ca 2 \"A\" # \"a HCA-1\"\n[1] \"S1\"[1]\n[2] \"S1\"[2]\n\n"             \
  "Ca 2 \"B1\" # \"b HCA-1\"\n[1] \"S1\"[3]\n[2] \"S1\"[4]\n\n"            \
  "Ca 2 \"B2\" # \"b HCA-2\"\n[1] \"S1\"[5]\n\n"

static void
test_rails_of_one_switch (void)
{
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (RoutePaths) paths = paths_of_text (ONE_SWITCH, &machine);

  for (uint32_t turn = 0; turn < 2; turn++) {
    uint32_t rank = 3 * turn;

    assert_way (paths, 0, 1, rank, 0, "a HCA-1 port 1|one port 3");
    assert_way (paths, 0, 1, rank, 1, "a HCA-1 port 2|one port 4");
    assert_way (paths, 0, 1, rank + 1, 1, "a HCA-1 port 1|one port 5");
    assert_way (paths, 1, 0, rank, 0, "b HCA-1 port 1|one port 1");
    assert_way (paths, 1, 0, rank + 1, 1, "b HCA-2 port 1|one port 1");
  }
}

/* Adapters that are plugged into each other. */
static void
test_no_switch (void)
{
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (RoutePaths) paths = paths_of_text ("Ca 1 \"A\" # \"a HCA-1\"\n[1] \"B\"[1]\n\n"
                                                "Ca 1 \"B\" # \"b HCA-1\"\n[1] \"A\"[1]\n\n",
                                                &machine);
  uint32_t nodes[] = { 0, 1 };

  assert_way (paths, 0, 1, 0, 1, "a HCA-1 port 1");
  g_assert_true (check (paths, nodes, 2, NULL));
}

/* Tables that send packets around between two switches lead nowhere, and do
 * not hang. */
static void
test_tables_in_a_circle (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("fattree:2x1:1", 0);
  /* leaf0 sends the packets for node1 up, spine0 sends them down again. */
  g_autofree char *path = topo_testing_file (
      "Unicast lids [0-9] of switch Lid 1 guid 0x0002c90002000000 ('leaf0'):\n"
      "0x0004 001 # Channel Adapter portguid 0x0002c90001000001: 'node0 HCA-1'\n"
      "0x0005 002 # Channel Adapter portguid 0x0002c90001000011: 'node1 HCA-1'\n"
      "Unicast lids [0-9] of switch Lid 2 guid 0x0002c90002000010 ('leaf1'):\n"
      "0x0004 002 # Channel Adapter portguid 0x0002c90001000001: 'node0 HCA-1'\n"
      "0x0005 001 # Channel Adapter portguid 0x0002c90001000011: 'node1 HCA-1'\n"
      "Unicast lids [0-9] of switch Lid 3 guid 0x0002c90003000000 ('spine0'):\n"
      "0x0004 001 # Channel Adapter portguid 0x0002c90001000001: 'node0 HCA-1'\n"
      "0x0005 001 # Channel Adapter portguid 0x0002c90001000011: 'node1 HCA-1'\n");
  g_autoptr (RoutePaths) paths = NULL;
  g_autoptr (GError) error = NULL;
  uint32_t nodes[] = { 0, 1 };

  g_free (machine->routes);
  machine->routes = g_strdup (path);
  paths = make (machine);
  g_unlink (path);
  assert_way (paths, 1, 0, 0, 1, "node1 HCA-1 port 1|leaf1 port 2|spine0 port 1|leaf0 port 1");
  assert_way (paths, 0, 1, 0, 1, "");
  g_assert_false (check (paths, nodes, 2, &error));
  g_assert_nonnull (strstr (error->message, "no way from node0 to node1"));
}

/* Four adapters, two packages: UCX takes the first or the third; Open MPI of 2009 counts pairs. */
static void
test_nearest_rails (void)
{
  g_autoptr (TopoMachine) machine =
      topo_testing_machine ("fattree:2x2:1,rails=4,speed=HDR,node=icelake", 0);
  g_autoptr (RoutePaths) paths = make (machine);
  uint32_t node[] = { 0, 0, 1 };
  uint8_t slot[] = { 0, 1, 0 };
  TopoMapping mapping = { .n_ranks = 3, .node = node, .slot = slot };

  machine->slot_core[0] = 0;
  machine->slot_core[1] = (uint8_t) (machine->node->n_cores - 1);
  g_assert_cmpuint (paths->n_packages, ==, 2);
  g_assert_cmpuint (route_paths_turn (paths, &mapping, 0, 2), ==, 0);
  g_assert_cmpuint (route_paths_turn (paths, &mapping, 1, 2), ==, 2);
  g_assert_cmpuint (route_paths_turn (paths, &mapping, 2, 1), ==, 0);
  g_assert_true (topo_parameters_set (&machine->parameters, "mpi.library", "ompi-1.3", NULL));
  g_assert_cmpuint (route_paths_turn (paths, &mapping, 1, 2), ==, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/routing/paths/torus", test_torus);
  g_test_add_func ("/routing/paths/tree", test_tree_by_hand);
  g_test_add_func ("/routing/paths/real-fabrics", test_real_fabrics);
  g_test_add_func ("/routing/paths/two-subnets", test_rails_of_two_subnets);
  g_test_add_func ("/routing/paths/one-switch", test_rails_of_one_switch);
  g_test_add_func ("/routing/paths/nearest-rails", test_nearest_rails);
  g_test_add_func ("/routing/paths/no-switch", test_no_switch);
  g_test_add_func ("/routing/paths/circle", test_tables_in_a_circle);
  return g_test_run ();
}
