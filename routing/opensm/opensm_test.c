/* opensm_test.c - tables of the real subnet manager beside ours.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Skipped where opensm or ibsim is not installed. */
#include "routing/forwarding/fabric_survey.h"

#include "routing/forwarding/fabric_testing.h"
#include "routing/forwarding/forwarding.h"
#include "topology/topology_testing.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool
is_installed (void)
{
  g_autofree char *ibsim = g_find_program_in_path ("ibsim");

  if (ibsim != NULL && g_file_test ("/usr/sbin/opensm", G_FILE_TEST_IS_EXECUTABLE))
    return true;
  g_test_skip ("opensm and ibsim are not installed");
  return false;
}

static bool
is_folder_there (void)
{
  g_autoptr (GDir) folder = g_dir_open (g_get_tmp_dir (), 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (folder)) != NULL)
    if (g_str_has_prefix (name, "hopcast-opensm-"))
      return true;
  return false;
}

static void
assert_nothing_is_left (void)
{
  g_assert_cmpint (waitpid (-1, NULL, WNOHANG), ==, -1);
  g_assert_cmpint (errno, ==, ECHILD);
  g_assert_false (is_folder_there ());
}

/* As many pairs at every distance, none unreachable. */
static void
assert_same_hops (const TopoFabric *fabric, const char *engine)
{
  g_autofree char *real = g_strconcat ("opensm:", engine, NULL);
  g_autoptr (RouteForwarding) theirs = fabric_testing_tables (fabric, real);
  g_autoptr (RouteForwarding) ours = fabric_testing_tables (fabric, engine);
  g_autoptr (RouteFabricSurvey) survey = route_fabric_survey_new (theirs);

  g_assert_cmpuint (survey->unreachable, ==, 0);
  g_assert_cmpstr (theirs->engine, ==, real);
  fabric_testing_same_hops (ours, theirs);
  assert_nothing_is_left ();
}

/* The same port at every switch for everybody. */
static void
assert_same_ports (const TopoFabric *fabric, const char *engine)
{
  g_autofree char *real = g_strconcat ("opensm:", engine, NULL);
  g_autoptr (RouteForwarding) theirs = fabric_testing_tables (fabric, real);
  g_autoptr (RouteForwarding) ours = fabric_testing_tables (fabric, engine);
  gsize size = (gsize) ours->n_switches * ours->n_destinations;

  g_assert_cmpuint (ours->n_destinations, ==, theirs->n_destinations);
  g_assert_true (memcmp (ours->out, theirs->out, size) == 0);
}

static void
test_ports (void)
{
  static const char *const names[] = { "x5/X5.topofile", "avakas/avakas.net", "ft324/ft_324.net" };
  g_autoptr (TopoFabric) three = topo_fabric_tree3 (8, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);
  g_autoptr (TopoFabric) torus = fabric_testing_torus (3, 3, 3, 2);
  g_autoptr (TopoFabric) wide = fabric_testing_torus (17, 16, 1, 1);
  g_autoptr (TopoFabric) dragonfly = topo_fabric_dragonfly (&(TopoDragonfly){ 4, 3, 3, 2, 2 },
                                                            (TopoRate){ 4, TOPO_SPEED_HDR }, NULL);

  if (!is_installed ())
    return;
  assert_same_ports (three, "minhop");
  assert_same_ports (three, "updn");
  assert_same_ports (torus, "minhop");
  assert_same_ports (torus, "dor");
  assert_same_ports (wide, "minhop");
  assert_same_ports (dragonfly, "minhop");
  for (guint at = 0; at < G_N_ELEMENTS (names); at++) {
    g_autoptr (TopoFabric) fabric = topo_testing_fabric (names[at]);

    if (fabric == NULL)
      return;
    assert_same_ports (fabric, "minhop");
    assert_same_ports (fabric, "updn");
  }
}

static void
test_engines_on_real_fabrics (void)
{
  static const struct {
    const char *fabric, *engine;
  } known[] = {
    { "x5/X5.topofile", "minhop" },    { "x5/X5.topofile", "updn" },
    { "avakas/avakas.net", "minhop" }, { "avakas/avakas.net", "updn" },
    { "avakas/avakas.net", "ftree" },  { "ft324/ft_324.net", "minhop" },
    { "ft324/ft_324.net", "updn" },    { "ft324/ft_324.net", "ftree" },
    { "ft16/ft_4x2.net", "ftree" },
  };

  for (guint at = 0; at < G_N_ELEMENTS (known) && is_installed (); at++) {
    g_autoptr (TopoFabric) fabric = topo_testing_fabric (known[at].fabric);

    if (fabric == NULL)
      return;
    assert_same_hops (fabric, known[at].engine);
  }
}

/* On tori dor takes a shortest way through the lowest port (infiniband.md section B2). */
static void
test_engines_on_made_fabrics (void)
{
  static const char *const engines[] = { "minhop", "updn", "ftree" };
  g_autoptr (TopoFabric) two = topo_fabric_tree (4, 4, 2, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);
  g_autoptr (TopoFabric) three = topo_fabric_tree3 (4, (TopoRate){ 4, TOPO_SPEED_EDR }, NULL);
  g_autoptr (TopoFabric) torus = fabric_testing_torus (4, 4, 4, 2);
  g_autoptr (TopoFabric) mesh = fabric_testing_torus (2, 2, 2, 1);

  if (!is_installed ())
    return;
  for (guint at = 0; at < G_N_ELEMENTS (engines); at++) {
    g_test_message ("%s", engines[at]);
    assert_same_hops (two, engines[at]);
    assert_same_hops (three, engines[at]);
  }
  assert_same_hops (torus, "dor");
  assert_same_hops (mesh, "dor");
}

static void
assert_refused (const TopoFabric *fabric, const char *routes, const char *part)
{
  g_autoptr (GError) error = NULL;
  gint64 start_us = g_get_monotonic_time ();

  g_assert_null (fabric_testing_routes (fabric, routes, &error));
  topo_testing_refused (error, -1, NULL, part);
  g_assert_cmpint (g_get_monotonic_time () - start_us, <, 30 * G_USEC_PER_SEC);
  assert_nothing_is_left ();
}

/* On every example OpenSM and our engine agree on hops, or both refuse; only
 * what OpenSM's ftree does not take for a tree, because it has one level, ours
 * may route. */
static void
test_engines_on_examples (void)
{
  static const char *const names[] = { "examples/jabl-1.topo",
                                       "examples/jabl-2.topo",
                                       "examples/jabl-3.topo",
                                       "examples/ibsim-net",
                                       "examples/ibsim-net.1",
                                       "examples/ibsim-net.2sw2path",
                                       "examples/ibsim-net.2sw2path4hca",
                                       "examples/ibsim-net.2sw2path4hca2port" };
  static const char *const engines[] = { "minhop", "updn", "ftree" };

  for (guint at = 0; at < G_N_ELEMENTS (names) && is_installed (); at++) {
    g_autoptr (TopoFabric) fabric = topo_testing_fabric (names[at]);

    if (fabric == NULL)
      return;
    for (guint engine = 0; engine < G_N_ELEMENTS (engines); engine++) {
      g_autofree char *real = g_strconcat ("opensm:", engines[engine], NULL);
      g_autoptr (RouteForwarding) theirs = fabric_testing_routes (fabric, real, NULL);
      g_autoptr (RouteForwarding) ours = fabric_testing_routes (fabric, engines[engine], NULL);

      if (theirs != NULL)
        assert_same_hops (fabric, engines[engine]);
      else if (engine < 2)
        g_assert_null (ours);
    }
  }
}

/* A subnet manager sees only the part that it is in. */
static void
test_fabric_in_pieces (void)
{
  g_autoptr (TopoFabric) fabric = topo_testing_fabric ("examples/treydock-ports-report.out");

  if (fabric == NULL || !is_installed ())
    return;
  assert_refused (fabric, "opensm:minhop", "which may be disconnected: no table of switch");
}

/* Lanes as OpenSM gives them: our own search finds no loop on any, and more
 * than one where one would have loops; the same again when asked again. */
static void
assert_lanes (const TopoFabric *fabric, const char *routes, bool needed)
{
  g_autoptr (RouteForwarding) tables = fabric_testing_tables (fabric, routes);
  g_autoptr (RouteForwarding) again = fabric_testing_tables (fabric, routes);
  g_autoptr (RouteFabricSurvey) survey = route_fabric_survey_new (tables);
  gsize n = tables->n_destinations;

  g_assert_cmpuint (survey->unreachable, ==, 0);
  g_assert_cmpuint (survey->credit_loops, ==, 0);
  g_assert_cmpuint (again->n_vls, ==, tables->n_vls);
  g_assert_true (memcmp (tables->out, again->out, tables->n_switches * n) == 0);
  g_assert_true (memcmp (tables->vl, again->vl, n * n) == 0);
  g_clear_pointer (&tables->vl, g_free);
  tables->n_vls = 1;
  g_clear_pointer (&survey, route_fabric_survey_free);
  survey = route_fabric_survey_new (tables);
  g_assert_cmpuint (survey->credit_loops > 0, ==, needed);
  assert_nothing_is_left ();
}

/* A tree without a cable, a switch, the first switch, nodes: OpenSM sees no more of it than our engines. */
static void
test_parts_that_are_out (void)
{
  static const char *const parts[] = { "leaf0:5", "spine1", "leaf0", "node3+node4",
                                       "leaf2+spine0:1+node0" };

  for (guint at = 0; at < G_N_ELEMENTS (parts) && is_installed (); at++) {
    g_autofree char *spec = g_strconcat ("fattree:4x4:2,failed=", parts[at], NULL);
    g_autoptr (TopoMachine) machine = topo_testing_machine (spec, 0);

    g_test_message ("%s", parts[at]);
    assert_same_hops (machine->fabric, "minhop");
    assert_same_ports (machine->fabric, "minhop");
    assert_same_ports (machine->fabric, "updn");
    assert_lanes (machine->fabric, "opensm:dfsssp", false);
  }
}

static void
test_engines_with_lanes (void)
{
  static const char *const routes[] = { "opensm:dfsssp", "opensm:lash", "opensm:nue" };
  g_autoptr (TopoFabric) tree = topo_fabric_tree (4, 4, 2, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);
  g_autoptr (TopoFabric) tangle = fabric_testing_tangle (24, 60);

  for (guint at = 0; at < G_N_ELEMENTS (routes) && is_installed (); at++) {
    assert_lanes (tree, routes[at], false);
    assert_lanes (tangle, routes[at], true);
  }
}

/* As many lanes as the machine has are shared out; too few are an error. */
static void
test_lanes_of_the_machine (void)
{
  g_autoptr (TopoFabric) tree = topo_fabric_tree (4, 4, 2, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);
  g_autoptr (TopoFabric) tangle = fabric_testing_tangle (24, 60);
  TopoMachine machine = { .fabric = tree, .routes = (char *) "opensm:dfsssp" };
  g_autoptr (RouteForwarding) tables = NULL;
  g_autoptr (GError) error = NULL;

  if (!is_installed ())
    return;
  machine.parameters.switches.vls = 3;
  tables = route_forwarding_of_machine (&machine, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (tables->n_vls, ==, 3);
  machine.fabric = tangle;
  machine.parameters.switches.vls = 1;
  g_assert_null (route_forwarding_of_machine (&machine, &error));
  g_assert_nonnull (strstr (error->message, "virtual lanes, and the switches have 1"));
  assert_nothing_is_left ();
}

/* Waits for at most ten seconds. */
static void
wait_for_folder (bool there)
{
  for (int turn = 0; turn < 1000 && is_folder_there () != there; turn++)
    g_usleep (G_USEC_PER_SEC / 100);
  g_assert_true (is_folder_there () == there);
}

/* Killed, we leave no file. */
static void
test_killed (void)
{
  g_autoptr (TopoFabric) fabric = topo_fabric_tree3 (12, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);
  pid_t child;

  if (!is_installed ())
    return;
  child = fork ();
  if (child == 0) {
    fabric_testing_routes (fabric, "opensm:dfsssp", NULL);
    _exit (0);
  }
  wait_for_folder (true);
  g_usleep (G_USEC_PER_SEC / 5);
  g_assert_cmpint (kill (child, SIGKILL), ==, 0);
  g_assert_cmpint (waitpid (child, NULL, 0), ==, child);
  wait_for_folder (false);
}

static void
test_refused_engines (void)
{
  g_autoptr (TopoFabric) fabric = topo_testing_fabric ("x5/X5.topofile");

  if (fabric == NULL || !is_installed ())
    return;
  assert_refused (fabric, "opensm:ftree", "not a fat tree");
  assert_refused (fabric, "opensm:nonsense", "no such routing engine");
  assert_refused (fabric, "opensm:minhop,ftree", "expected the name");
  assert_refused (fabric, "opensm:torus-2QoS", "change virtual lanes on the way");
}

/* A folder of its own for what is left behind, before anything asks for it. */
int
main (int argc, char **argv)
{
  char folder[] = "/tmp/opensm-test-XXXXXX";
  int status;

  g_assert_nonnull (g_mkdtemp (folder));
  g_setenv ("TMPDIR", folder, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/routing/opensm/real", test_engines_on_real_fabrics);
  g_test_add_func ("/routing/opensm/ports", test_ports);
  g_test_add_func ("/routing/opensm/out", test_parts_that_are_out);
  g_test_add_func ("/routing/opensm/made", test_engines_on_made_fabrics);
  g_test_add_func ("/routing/opensm/examples", test_engines_on_examples);
  g_test_add_func ("/routing/opensm/pieces", test_fabric_in_pieces);
  g_test_add_func ("/routing/opensm/lanes", test_engines_with_lanes);
  g_test_add_func ("/routing/opensm/machine", test_lanes_of_the_machine);

  g_test_add_func ("/routing/opensm/killed", test_killed);
  g_test_add_func ("/routing/opensm/refused", test_refused_engines);
  status = g_test_run ();
  g_assert_cmpint (g_rmdir (folder), ==, 0);
  return status;
}
