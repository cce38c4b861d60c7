/* forwarding_test.c - tables of real and made fabrics, ours and OpenSM's.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "routing/forwarding/fabric_survey.h"

#include ".ci/test_data.h"
#include "routing/forwarding/fabric_testing.h"
#include "topology/topology_testing.h"

#include <glib/gstdio.h>
#include <string.h>

static RouteForwarding *
load_tables (const TopoFabric *fabric, const char *name)
{
  g_autofree char *in_data = g_build_filename ("fabrics", name, NULL);
  g_autofree char *path = test_data (in_data);
  g_autoptr (GError) error = NULL;
  RouteForwarding *tables = route_forwarding_load (fabric, path, &error);

  g_assert_no_error (error);
  return tables;
}

static void
assert_loads (const RouteFabricSurvey *survey, uint64_t min, double median, uint64_t max)
{
  g_assert_cmpuint (survey->load_min, ==, min);
  g_assert_cmpfloat (survey->load_median, ==, median);
  g_assert_cmpuint (survey->load_max, ==, max);
}

/* The tables of the subnet manager of the site, and figures that another
 * program traced (infiniband.md section B2). */
static void
test_avakas (void)
{
  g_autoptr (TopoFabric) fabric = topo_testing_fabric ("avakas/ib-subnet-fe80_0000_0000_0000.txt");
  g_autoptr (RouteForwarding) tables = NULL;
  g_autoptr (RouteForwarding) minhop = NULL;
  g_autoptr (RouteFabricSurvey) survey = NULL;

  if (fabric == NULL)
    return;
  tables = load_tables (fabric, "avakas/ibroutes");
  survey = route_fabric_survey_new (tables);
  g_assert_cmpuint (survey->pairs, ==, 281 * 280);
  g_assert_cmpuint (survey->unreachable, ==, 0);
  g_assert_cmpuint (survey->max_hops, ==, 3);
  g_assert_cmpuint (survey->pairs_by_hops[1], ==, 4660);
  g_assert_cmpuint (survey->pairs_by_hops[3], ==, 74020);
  assert_loads (survey, 177, 255, 332);
  g_assert_cmpuint (survey->credit_loops, ==, 0);
  minhop = fabric_testing_tables (fabric, "minhop");
  fabric_testing_same_hops (tables, minhop);
}

/* OpenSM's own tables of the 18 x 18 tree: 306 routes on every link. */
static void
test_tables_of_the_tree (void)
{
  static const char *const dumps[] = { "ft324/opensm-lfts.dump", "ft324/opensm-minhop-lfts.dump" };
  g_autoptr (TopoFabric) fabric = topo_testing_fabric ("ft324/ft_324.net");

  for (guint at = 0; fabric != NULL && at < G_N_ELEMENTS (dumps); at++) {
    g_autoptr (RouteForwarding) tables = load_tables (fabric, dumps[at]);
    g_autoptr (RouteFabricSurvey) survey = route_fabric_survey_new (tables);

    g_assert_cmpuint (survey->unreachable, ==, 0);
    g_assert_cmpuint (survey->links, ==, 2 * 324);
    assert_loads (survey, 306, 306, 306);
  }
}

static void
test_engines_equal_opensm (void)
{
  static const struct {
    const char *fabric, *dump;
    const char *engines[4];
  } cases[] = {
    { "ft324/ft_324.net", "ft324/opensm-lfts.dump", { "minhop", "updn", "ftree" } },
    { "ft16/ft_4x2.net", "ft16/opensm-lfts.dump", { "minhop", "updn", "ftree" } },
    { "avakas/avakas.net", "avakas/ibroutes", { "minhop", "updn", "ftree" } },
    { "x5/X5.topofile", "x5/opensm-minhop-lfts.dump", { "minhop" } },
  };

  for (guint at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoFabric) fabric = topo_testing_fabric (cases[at].fabric);
    g_autoptr (RouteForwarding) theirs = NULL;

    if (fabric == NULL)
      return;
    theirs = load_tables (fabric, cases[at].dump);
    for (guint engine = 0; cases[at].engines[engine] != NULL; engine++) {
      g_autoptr (RouteForwarding) ours = fabric_testing_tables (fabric, cases[at].engines[engine]);
      g_autoptr (RouteFabricSurvey) survey = route_fabric_survey_new (ours);

      g_test_message ("%s %s", cases[at].fabric, cases[at].engines[engine]);
      fabric_testing_same_hops (theirs, ours);
      g_assert_cmpuint (survey->unreachable, ==, 0);
    }
  }
}

/* Our minhop and OpenSM's choose the same port at every switch for all destinations:
 * on the real fabric, where OpenSM 3.3.5 had the GUIDs of the site, and in a tree. */
static void
test_minhop_is_opensms (void)
{
  static const char *const names[][2] = {
    { "x5/X5.topofile", "x5/opensm-minhop-lfts.dump" },
    { "ft324/ft_324.net", "ft324/opensm-minhop-lfts.dump" },
  };

  for (guint at = 0; at < G_N_ELEMENTS (names); at++) {
    g_autoptr (TopoFabric) fabric = topo_testing_fabric (names[at][0]);
    g_autoptr (RouteForwarding) theirs = NULL;
    g_autoptr (RouteForwarding) ours = NULL;

    if (fabric == NULL)
      return;
    theirs = load_tables (fabric, names[at][1]);
    ours = fabric_testing_tables (fabric, "minhop");
    g_test_message ("%s", names[at][0]);
    g_assert_cmpuint (ours->n_destinations, ==, theirs->n_destinations);
    g_assert_true (
        memcmp (ours->out, theirs->out, (gsize) ours->n_switches * ours->n_destinations) == 0);
  }
}

/* Cables and loads of the real fabric, as OpenSM routes it. */
static void
test_x5 (void)
{
  g_autoptr (TopoFabric) fabric = topo_testing_fabric ("x5/X5.topofile");
  g_autoptr (RouteForwarding) tables = NULL;
  g_autoptr (RouteFabricSurvey) survey = NULL;

  if (fabric == NULL)
    return;
  tables = load_tables (fabric, "x5/opensm-minhop-lfts.dump");
  survey = route_fabric_survey_new (tables);
  g_assert_cmpuint (survey->pairs, ==, 89 * 88);
  g_assert_cmpuint (survey->unreachable, ==, 0);
  assert_loads (survey, 15, 105, 220);
}

/* The most routes of the shift by `distance` on one link. */
static uint32_t
worst_of_shift (const RouteForwarding *tables, uint32_t distance)
{
  uint32_t n = tables->n_destinations, worst = 0;
  g_autofree uint32_t *links = g_new (uint32_t, tables->n_switches + 2);
  g_autofree uint32_t *load = g_new0 (uint32_t, tables->fabric->n_ports);

  for (uint32_t from = 0; from < n; from++) {
    uint32_t n_links = route_forwarding_path (tables, tables->destination_port[from],
                                              (from + distance) % n, links);

    for (uint32_t at = 0; at < n_links; at++) {
      load[links[at]]++;
      worst = MAX (worst, load[links[at]]);
    }
  }
  return worst;
}

/* Whatever the shift, no two routes share a link in a full tree. */
static void
test_ftree_is_free_of_conflicts (void)
{
  g_autoptr (TopoFabric) two = topo_fabric_tree (18, 18, 9, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);
  g_autoptr (TopoFabric) narrow = topo_fabric_tree (6, 4, 4, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);
  g_autoptr (TopoFabric) three = topo_fabric_tree3 (8, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);
  const TopoFabric *const fabrics[] = { two, narrow, three };

  for (guint at = 0; at < G_N_ELEMENTS (fabrics); at++) {
    g_autoptr (RouteForwarding) tables = fabric_testing_tables (fabrics[at], "ftree");

    g_test_message ("%s", fabrics[at]->source);
    for (uint32_t distance = 1; distance < tables->n_destinations; distance++)
      g_assert_cmpuint (worst_of_shift (tables, distance), ==, 1);
  }
}

static void
test_ftree_loads_are_even (void)
{
  g_autoptr (TopoFabric) fabric =
      topo_fabric_tree (18, 18, 9, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);
  g_autoptr (RouteForwarding) tables = fabric_testing_tables (fabric, "ftree");
  g_autoptr (RouteFabricSurvey) survey = route_fabric_survey_new (tables);

  assert_loads (survey, 306, 306, 306);
  g_assert_cmpuint (survey->pairs, ==, 324 * 323);
  g_assert_cmpuint (survey->pairs_by_hops[1], ==, 324 * 17);
  g_assert_cmpuint (survey->pairs_by_hops[3], ==, 324 * 306);
  g_assert_cmpuint (survey->credit_loops, ==, 0);
}

/* Shortest ways around a ring wait for each other, in both directions; up and
 * down they do not. */
static void
test_credit_loops (void)
{
  g_autoptr (TopoFabric) fabric = fabric_testing_ring (5);
  g_autoptr (RouteForwarding) minhop = fabric_testing_tables (fabric, "minhop");
  g_autoptr (RouteFabricSurvey) loops = route_fabric_survey_new (minhop);
  g_autoptr (GError) error = NULL;

  g_assert_cmpuint (loops->unreachable, ==, 0);
  g_assert_cmpuint (loops->credit_loops, ==, 2);
  g_assert_cmpuint (loops->n_loop, ==, 5);
  g_assert_null (route_forwarding_compute (fabric, "updn", &error));
  topo_testing_refused (error, TOPO_ERROR_RANGE, NULL, "no roots");
  g_clear_error (&error);
  g_assert_null (route_forwarding_compute (fabric, "ftree", &error));
  topo_testing_refused (error, TOPO_ERROR_RANGE, NULL, "not a fat tree");
}

/* A tree with a third level over a part of it, which OpenSM's ftree refuses:
 * ours reaches everybody, without loops, by ways as short as there are. */
static void
test_irregular_tree (void)
{
  g_autoptr (TopoFabric) x5 = topo_testing_fabric ("x5/X5.topofile");
  g_autoptr (RouteForwarding) tables = NULL;
  g_autoptr (RouteForwarding) minhop = NULL;
  g_autoptr (RouteFabricSurvey) survey = NULL;

  if (x5 == NULL)
    return;
  tables = fabric_testing_tables (x5, "ftree");
  survey = route_fabric_survey_new (tables);
  g_assert_cmpuint (survey->unreachable, ==, 0);
  g_assert_cmpuint (survey->credit_loops, ==, 0);
  minhop = fabric_testing_tables (x5, "minhop");
  fabric_testing_same_hops (tables, minhop);
}

/* Two nodes of a Dragonfly+ have one switch between them on a leaf, three in a group and four
 * otherwise.  Shortest ways go up, over and down, so no links wait for each other in a circle,
 * whichever of them a switch takes.  Where every spine has one cable to every group, the pairs
 * of two groups share theirs evenly. */
static void
test_dragonfly (void)
{
  static const struct {
    TopoDragonfly shape;
    uint64_t most; /* pairs on a cable between groups, 0: not even */
  } cases[] = {
    { { 8, 4, 4, 8, 0 }, 32 * 32 / 4 }, { { 2, 1, 1, 1, 0 }, 1 }, { { 3, 2, 2, 2, 1 }, 16 },
    { { 3, 2, 2, 2, 4 }, 0 },           { { 5, 3, 2, 1, 2 }, 9 }, { { 4, 2, 6, 3, 2 }, 0 },
  };
  static const char *const engines[] = { "minhop", "layers:minhop" };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    const TopoDragonfly *shape = &cases[at].shape;
    g_autoptr (TopoFabric) fabric =
        topo_fabric_dragonfly (shape, (TopoRate){ 4, TOPO_SPEED_HDR }, NULL);
    uint64_t leaf = shape->nodes, group = leaf * shape->leaves, all = group * shape->groups;

    for (guint engine = 0; engine < G_N_ELEMENTS (engines); engine++) {
      g_autoptr (RouteForwarding) tables = fabric_testing_tables (fabric, engines[engine]);
      g_autoptr (RouteFabricSurvey) survey = route_fabric_survey_new (tables);
      g_autoptr (GError) error = NULL;

      g_assert_cmpuint (survey->max_hops, ==, 4);
      g_assert_cmpuint (survey->pairs_by_hops[1], ==, all * (leaf - 1));
      g_assert_cmpuint (survey->pairs_by_hops[2], ==, 0);
      g_assert_cmpuint (survey->pairs_by_hops[3], ==, all * (group - leaf));
      g_assert_cmpuint (survey->pairs_by_hops[4], ==, all * (all - group));
      g_assert_cmpuint (survey->unreachable, ==, 0);
      g_assert_cmpuint (survey->credit_loops, ==, 0);
      g_assert_cmpuint (tables->n_vls, ==, 1);
      for (uint32_t port = 0; port < fabric->n_ports && cases[at].most > 0; port++) {
        const TopoDevice *here = &fabric->devices[fabric->ports[port].device];
        const TopoDevice *there = &fabric->devices[fabric->ports[fabric->ports[port].peer].device];

        if (here->name[0] == 's' && there->name[0] == 's')
          g_assert_cmpuint (survey->load[port], ==, cases[at].most);
      }
      g_assert_true (route_forwarding_add_groups (tables, &error));
    }
  }
}

#define HEAD "Unicast lids [0-9] of switch Lid 1 guid 0x0002c90002000000 ('leaf0'):\n"

static void
test_broken_dumps (void)
{
  static const struct {
    const char *text, *part;
  } cases[] = {
    { "", "no forwarding table" },
    { "Unicast lids of nothing\n", ":1: expected \"switch Lid N" },
    { "Unicast lids [0-9] of switch Lid 9 guid 0x9 ('x'):\n", "no such switch" },
    { "Unicast lids [0-9] of switch Lid 4294967297 guid 0x9 ('x'):\n", ":1: expected" },
    { "0x0004 001 # Channel Adapter portguid 0x1: 'a'\n" HEAD, "before the head" },
    { HEAD HEAD, ":2: a second table" },
    { HEAD "0x0004 009 # Channel Adapter portguid 0x0002c90001000001: 'node0 HCA-1'\n",
      ":2: nothing is plugged" },
    /* 2^32 + 1 is no port. */
    { HEAD "0x0004 4294967297 # Channel Adapter portguid 0x0002c90001000001: 'node0 HCA-1'\n",
      ":2: nothing is plugged" },
    { HEAD, "no table of switch \"S-0002c90003000000\"" },
  };
  g_autoptr (TopoFabric) fabric = topo_fabric_tree (1, 2, 1, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autofree char *path = topo_testing_file (cases[at].text);
    g_autoptr (GError) error = NULL;

    g_test_message ("%s", cases[at].text);
    g_assert_null (route_forwarding_load (fabric, path, &error));
    topo_testing_refused (error, -1, NULL, cases[at].part);
    g_unlink (path);
  }
}

/* An entry that is missing leaves its pairs unreachable, and only those. */
static void
test_missing_entry (void)
{
  g_autoptr (TopoFabric) fabric = topo_fabric_tree (1, 2, 1, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);
  g_autofree char *path = topo_testing_file (
      HEAD "0x0004 001 # Channel Adapter portguid 0x0002c90001000001: 'node0 HCA-1'\n"
           "Unicast lids [0-9] of switch Lid 2 guid 0x0002c90003000000 ('spine0'):\n");
  g_autoptr (GError) error = NULL;
  g_autoptr (RouteForwarding) tables = route_forwarding_load (fabric, path, &error);
  g_autoptr (RouteFabricSurvey) survey = NULL;

  g_assert_no_error (error);
  survey = route_fabric_survey_new (tables);
  g_assert_cmpuint (survey->pairs, ==, 2);
  g_assert_cmpuint (survey->unreachable, ==, 1);
  g_unlink (path);
}

/* --- What if: cables that are gone --- */

static void
unplug (TopoFabric *fabric, uint32_t port)
{
  fabric->ports[fabric->ports[port].peer].peer = TOPO_NONE;
  fabric->ports[port].peer = TOPO_NONE;
}

/* Everybody still reaches everybody, without loops, on ways as short as
 * minhop's. */
static void
assert_reroutes (const TopoFabric *fabric)
{
  static const char *const engines[] = { "minhop", "updn", "ftree" };
  g_autoptr (RouteForwarding) minhop = fabric_testing_tables (fabric, "minhop");

  for (guint at = 0; at < G_N_ELEMENTS (engines); at++) {
    g_autoptr (RouteForwarding) tables = fabric_testing_tables (fabric, engines[at]);
    g_autoptr (RouteFabricSurvey) survey = route_fabric_survey_new (tables);

    g_assert_cmpuint (survey->unreachable, ==, 0);
    g_assert_cmpuint (survey->n_cut_off, ==, 0);
    g_assert_cmpuint (survey->lost_from, ==, TOPO_NONE);
    g_assert_cmpuint (survey->credit_loops, ==, 0);
    fabric_testing_same_hops (tables, minhop);
  }
}

/* Leaves are devices 0-5 with nodes on ports 1-6 and two cables to each of
 * the spines, devices 6-8. */
static void
test_missing_cables (void)
{
  g_autoptr (TopoFabric) fabric = topo_fabric_tree (6, 6, 3, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);

  unplug (fabric, fabric->devices[0].first_port + 6);
  assert_reroutes (fabric);
  unplug (fabric, fabric->devices[0].first_port + 7);
  assert_reroutes (fabric);
  /* A whole spine. */
  for (uint32_t number = 1; number <= fabric->devices[8].n_ports; number++)
    if (fabric->ports[fabric->devices[8].first_port + number - 1].peer != TOPO_NONE)
      unplug (fabric, fabric->devices[8].first_port + number - 1);
  assert_reroutes (fabric);
}

/* A leaf without cables up: its six adapters reach each other only. */
static void
test_lost_leaf (void)
{
  static const char *const engines[] = { "minhop", "updn", "ftree" };
  g_autoptr (TopoFabric) fabric = topo_fabric_tree (4, 6, 3, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);

  for (uint32_t number = 7; number <= 12; number++)
    unplug (fabric, fabric->devices[1].first_port + number - 1);
  for (guint at = 0; at < G_N_ELEMENTS (engines); at++) {
    g_autoptr (RouteForwarding) tables = fabric_testing_tables (fabric, engines[at]);
    g_autoptr (RouteFabricSurvey) survey = route_fabric_survey_new (tables);

    g_assert_cmpuint (survey->unreachable, ==, 2 * 6 * 18);
    g_assert_cmpuint (survey->circling, ==, 0);
    g_assert_cmpuint (survey->n_cut_off, ==, 0);
    g_assert_true ((survey->lost_from / 6 == 1) != (survey->lost_to / 6 == 1));
    g_assert_cmpuint (survey->pairs_by_hops[1], ==, 4 * 6 * 5);
  }
}

/* One node behind a dead leaf port of its own. */
static void
test_lost_node (void)
{
  g_autoptr (TopoFabric) fabric = topo_fabric_tree (2, 1, 1, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);
  g_autoptr (RouteForwarding) tables = NULL;
  g_autoptr (RouteFabricSurvey) survey = NULL;

  unplug (fabric, fabric->devices[1].first_port + 1);
  tables = fabric_testing_tables (fabric, "minhop");
  survey = route_fabric_survey_new (tables);
  g_assert_cmpuint (survey->pairs, ==, 2);
  g_assert_cmpuint (survey->unreachable, ==, 2);
  g_assert_cmpuint (survey->n_cut_off, ==, 2);
}

/* "a" and "b" back to back, beside a switch with two others. */
static void
test_back_to_back (void)
{
  g_autoptr (TopoFabric) fabric =
      fabric_testing_of ("Ca 1 \"a\"\n[1] \"b\"[1]\nCa 1 \"b\"\n[1] \"a\"[1]\n"
                         "Switch 2 \"S\"\n[1] \"c\"[1]\n[2] \"d\"[1]\n"
                         "Ca 1 \"c\"\n[1] \"S\"[1]\nCa 1 \"d\"\n[1] \"S\"[2]\n");
  g_autoptr (RouteForwarding) tables = fabric_testing_tables (fabric, "minhop");
  g_autoptr (RouteFabricSurvey) survey = route_fabric_survey_new (tables);

  g_assert_cmpuint (survey->pairs, ==, 4 * 3);
  g_assert_cmpuint (survey->unreachable, ==, 2 * 2 * 2);
  g_assert_cmpuint (survey->pairs_by_hops[0], ==, 2);
  g_assert_cmpuint (survey->pairs_by_hops[1], ==, 2);
  g_assert_cmpuint (survey->n_cut_off, ==, 0);
  g_assert_cmpuint (survey->lost_from, ==, 0);
  g_assert_cmpuint (survey->lost_to, ==, 2);
}

/* Nobody is cut off who is alone. */
static void
test_one_node (void)
{
  g_autoptr (TopoFabric) fabric = topo_fabric_tree (1, 1, 1, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);
  g_autoptr (RouteForwarding) tables = fabric_testing_tables (fabric, "minhop");
  g_autoptr (RouteFabricSurvey) survey = route_fabric_survey_new (tables);

  g_assert_cmpuint (survey->pairs, ==, 0);
  g_assert_cmpuint (survey->n_cut_off, ==, 0);
}

/* Tables that send a packet to and fro between two switches. */
static void
test_tables_that_circle (void)
{
  g_autoptr (TopoFabric) fabric = fabric_testing_ring (4);
  g_autoptr (RouteForwarding) tables = fabric_testing_tables (fabric, "minhop");
  g_autoptr (RouteFabricSurvey) survey = NULL;

  /* Port 2 leads to the next switch, port 3 back. */
  tables->out[0 * 4 + 2] = 2;
  tables->out[1 * 4 + 2] = 3;
  survey = route_fabric_survey_new (tables);
  g_assert_cmpuint (survey->unreachable, ==, 2);
  g_assert_cmpuint (survey->circling, ==, 2);
  g_assert_cmpuint (survey->lost_from, ==, 0);
  g_assert_cmpuint (survey->lost_to, ==, 2);
}

/* Wide trees of three levels: nearly all adapters are equally far from the
 * leaves, too. */
static void
test_roots_of_wide_trees (void)
{
  g_autoptr (TopoFabric) fabric = topo_fabric_tree3 (24, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);
  g_autoptr (RouteForwarding) tables = fabric_testing_tables (fabric, "updn");
  g_autoptr (RouteFabricSurvey) survey = route_fabric_survey_new (tables);

  g_assert_cmpuint (survey->unreachable, ==, 0);
  g_assert_cmpuint (survey->max_hops, ==, 5);
  g_assert_cmpuint (survey->credit_loops, ==, 0);
}

static void
test_unknown_engine (void)
{
  g_autoptr (TopoFabric) fabric = topo_fabric_tree (2, 2, 1, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_null (route_forwarding_compute (fabric, "lash", &error));
  topo_testing_refused (error, TOPO_ERROR_RANGE, NULL, "known: minhop, updn, ftree, dor");
}

/* Two leaves of two nodes, two spines.  Four pairs cross from leaf to leaf in each direction: two over
 * each spine, all four over one when the other is out.  No pair takes another number of hops.
 * (dor takes one spine for all in either case.) */
static void
test_failed_spine (void)
{
  static const char *const engines[] = { "minhop", "updn", "ftree" };

  for (guint at = 0; at < G_N_ELEMENTS (engines); at++) {
    g_autofree char *spec = g_strconcat ("fattree:2x2:2,routes=", engines[at], NULL);
    g_autofree char *broken_spec = g_strconcat (spec, ",failed=spine1", NULL);
    g_autoptr (GError) error = NULL;
    g_autoptr (TopoMachine) whole = topo_machine_new (spec, &error);
    g_autoptr (TopoMachine) broken = topo_machine_new (broken_spec, &error);
    g_autoptr (RouteForwarding) whole_tables = NULL;
    g_autoptr (RouteForwarding) broken_tables = NULL;
    g_autoptr (RouteFabricSurvey) before = NULL;
    g_autoptr (RouteFabricSurvey) after = NULL;

    g_assert_no_error (error);
    g_test_message ("%s", engines[at]);
    whole_tables = route_forwarding_of_machine (whole, &error);
    g_assert_no_error (error);
    broken_tables = route_forwarding_of_machine (broken, &error);
    g_assert_no_error (error);
    before = route_fabric_survey_new (whole_tables);
    after = route_fabric_survey_new (broken_tables);
    assert_loads (before, 2, 2, 2);
    assert_loads (after, 4, 4, 4);
    g_assert_cmpuint (before->links, ==, 8);
    g_assert_cmpuint (after->links, ==, 4);
    g_assert_cmpuint (after->unreachable, ==, 0);
    g_assert_cmpuint (after->pairs, ==, before->pairs);
    g_assert_cmpuint (after->max_hops, ==, before->max_hops);
    for (uint32_t hops = 0; hops <= before->max_hops; hops++)
      g_assert_cmpuint (after->pairs_by_hops[hops], ==, before->pairs_by_hops[hops]);
  }
}

/* Without both cables of leaf 0 the leaves cannot reach each other: 2 x 2 pairs, twice. */
static void
test_failed_cables_cut (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMachine) machine =
      topo_machine_new ("fattree:2x2:2,failed=leaf0:3+leaf0:4", &error);
  g_autoptr (RouteForwarding) tables = NULL;
  g_autoptr (RouteFabricSurvey) survey = NULL;

  g_assert_no_error (error);
  tables = route_forwarding_of_machine (machine, &error);
  g_assert_no_error (error);
  survey = route_fabric_survey_new (tables);
  g_assert_cmpuint (survey->unreachable, ==, 8);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/routing/forwarding/avakas", test_avakas);
  g_test_add_func ("/routing/forwarding/tree-tables", test_tables_of_the_tree);
  g_test_add_func ("/routing/forwarding/opensm", test_engines_equal_opensm);
  g_test_add_func ("/routing/forwarding/minhop", test_minhop_is_opensms);
  g_test_add_func ("/routing/forwarding/x5", test_x5);
  g_test_add_func ("/routing/forwarding/shifts", test_ftree_is_free_of_conflicts);
  g_test_add_func ("/routing/forwarding/ftree-loads", test_ftree_loads_are_even);
  g_test_add_func ("/routing/forwarding/credit-loops", test_credit_loops);
  g_test_add_func ("/routing/forwarding/irregular-tree", test_irregular_tree);

  g_test_add_func ("/routing/forwarding/dragonfly", test_dragonfly);
  g_test_add_func ("/routing/forwarding/broken-dumps", test_broken_dumps);
  g_test_add_func ("/routing/forwarding/missing-entry", test_missing_entry);
  g_test_add_func ("/routing/forwarding/missing-cables", test_missing_cables);
  g_test_add_func ("/routing/forwarding/lost-leaf", test_lost_leaf);
  g_test_add_func ("/routing/forwarding/lost-node", test_lost_node);
  g_test_add_func ("/routing/forwarding/back-to-back", test_back_to_back);
  g_test_add_func ("/routing/forwarding/one-node", test_one_node);
  g_test_add_func ("/routing/forwarding/circling", test_tables_that_circle);
  g_test_add_func ("/routing/forwarding/wide-trees", test_roots_of_wide_trees);
  g_test_add_func ("/routing/forwarding/failed-spine", test_failed_spine);
  g_test_add_func ("/routing/forwarding/failed-cables-cut", test_failed_cables_cut);
  g_test_add_func ("/routing/forwarding/unknown-engine", test_unknown_engine);
  return g_test_run ();
}
