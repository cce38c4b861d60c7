/* ib_storm_test.c - saturated fabrics: nothing lost, nothing stuck, nothing left to chance.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/ib_state.h"
#include "sim/net/network_testing.h"

#include ".ci/test_data.h"
#include "routing/forwarding/fabric_survey.h"

#include <string.h>

static const char *const smallest[] = { "switch.vls=1",     "switch.buffer=2112B",
                                        "hca.buffer=2112B", "hca.read_ahead=1",
                                        "switch.reads=1",   NULL };

/* --- Storms through the smallest buffers --- */

/* Payload over all links = bytes of every message times the links of its way. */
static void
check_hop_bytes (const Bench *bench, uint64_t bytes)
{
  uint32_t n_nodes = topo_shape_nodes (&bench->machine->shape);
  uint64_t hop_bytes = 0;

  for (uint32_t from = 0; from < n_nodes; from++)
    for (uint32_t to = 0; to < n_nodes; to++)
      if (from != to)
        hop_bytes += bytes * route_paths_hops (bench->paths, from, to, from + to);
  g_assert_cmpuint (bench_hop_bytes (bench), ==, hop_bytes);
}

static void
storm (const char *spec, const char *const *settings, uint64_t bytes)
{
  g_autoptr (Bench) bench = bench_fabric (spec, settings, 200000, NULL);
  g_autoptr (RouteFabricSurvey) survey = route_fabric_survey_new (bench->paths->tables);

  g_assert_cmpuint (survey->credit_loops, ==, 0);
  bench_all_to_all (bench, bytes);
  bench_run (bench);
  check_hop_bytes (bench, bytes);
}

static void
test_storms_on_trees (void)
{
  static const char *const specs[] = { "fattree:4x4:2", "fattree:4x4:2,routes=minhop",
                                       "fattree:4x4:2,routes=updn", "fattree3:4",
                                       "fattree3:4,routes=minhop" };

  for (size_t spec = 0; spec < G_N_ELEMENTS (specs); spec++) {
    storm (specs[spec], smallest, 10000);
    storm (specs[spec], NULL, 10000);
    storm (specs[spec], smallest, 100);
  }
}

/* Switches of 254 ports, the most there are. */
static void
test_storm_on_largest_switches (void)
{
  storm ("fattree:2x127:127", smallest, 1000);
}

/* A fabric of the test data with the tables that OpenSM computed for it, or with
 * those that its site used. */
static void
storm_on_shared (const char *fabric, const char *tables, uint64_t bytes)
{
  g_autofree char *path = test_data (fabric);
  g_autofree char *routes = test_data (tables);
  g_autofree char *spec = g_strdup_printf ("fabric:%s,routes=%s", path, routes);

  if (path == NULL || routes == NULL)
    return;
  storm (spec, smallest, bytes);
  storm (spec, NULL, bytes);
}

static void
test_storms_on_recorded_fabrics (void)
{
  storm_on_shared ("fabrics/ft16/ft_4x2.net", "fabrics/ft16/opensm-lfts.dump", 10000);
  storm_on_shared ("fabrics/x5/X5.topofile", "fabrics/x5/opensm-minhop-lfts.dump", 5000);
  storm_on_shared ("fabrics/avakas/avakas.net", "fabrics/avakas/ibroutes", 2000);
  storm_on_shared ("fabrics/ft324/ft_324.net", "fabrics/ft324/opensm-lfts.dump", 1000);
  storm_on_shared ("fabrics/ft324/ft_324.net", "fabrics/ft324/opensm-minhop-lfts.dump", 1000);
}

/* --- Loops --- */

/* Five switches in a ring with one node each; everybody sends two switches
 * on, so that every buffer is waited for from the one before it. */
static const BenchCable ring[] = {
  { 0, 1, 1, 2, "4xQDR" },   { 1, 1, 2, 2, "4xQDR" },   { 2, 1, 3, 2, "4xQDR" },
  { 3, 1, 4, 2, "4xQDR" },   { 4, 1, 0, 2, "4xQDR" },   { 0, 3, 100, 1, "4xQDR" },
  { 1, 3, 101, 1, "4xQDR" }, { 2, 3, 102, 1, "4xQDR" }, { 3, 3, 103, 1, "4xQDR" },
  { 4, 3, 104, 1, "4xQDR" },
};

static void
send_around (Bench *bench)
{
  for (uint32_t message = 0; message < 4; message++)
    for (uint32_t from = 0; from < 5; from++)
      bench_send (bench, from, (from + 2) % 5, 20000, 0);
}

static void
test_stall_names_its_loop (const void *routes)
{
  g_autoptr (Bench) bench = bench_cabled (ring, G_N_ELEMENTS (ring), routes, smallest, 20, NULL);
  g_autoptr (GError) error = NULL;
  const char *loop;

  send_around (bench);
  g_assert_false (sim_network_run (bench->network, &error));
  g_assert_error (error, SIM_ERROR, SIM_ERROR_STALL);
  loop = strstr (error->message, "credit loop:");
  g_assert_nonnull (loop);
  for (uint32_t at = 0; at < 5; at++) {
    g_autofree char *name = g_strdup_printf ("sw%u port 1 VL 0", at);

    g_assert_nonnull (strstr (loop, name));
  }
  g_assert_nonnull (strstr (error->message, "packets wait, 0 credits"));
}

/* A dateline: ways that pass from switch 4 to switch 0 are on a lane of their
 * own, so that neither lane's waiting can close the circle. */
static void
cut_the_ring (RouteForwarding *tables)
{
  tables->n_vls = 2;
  tables->vl = g_new0 (uint8_t, 25);
  for (uint32_t from = 0; from < 5; from++)
    tables->vl[from * 5 + (from + 2) % 5] = from + 2 >= 5;
}

static void
test_lanes_cut_the_loop (void)
{
  static const char *const two_lanes[] = { "switch.vls=2", "switch.buffer=4224B",
                                           "hca.buffer=4224B", NULL };
  g_autoptr (Bench) bench =
      bench_cabled (ring, G_N_ELEMENTS (ring), "minhop", two_lanes, 20, cut_the_ring);

  send_around (bench);
  bench_run (bench);
}

/* --- Determinism --- */

static Bench *
mixed_run (int64_t window_ps)
{
  static const char *const everything[] = {
    "switch.vls=3",
    "switch.buffer=20KiB",
    "hca.buffer=8KiB",
    "switch.vlarb_high=2:10",
    "switch.high_limit=2",
    "switch.vlarb_low=0:20,1:60,0:5",
    "switch.adaptive=free",
    "congestion.control=true",
    "congestion.ccti_timer=5us",
    "switch.reads=2",
    NULL,
  };
  Bench *bench = bench_fabric ("fattree:4x4:2", everything, 2000, bench_spread_over_lanes);
  IbNetwork *net = (IbNetwork *) bench->network;

  if (window_ps > 0)
    ib_set_windows (net, window_ps);
  bench_all_to_all (bench, 9000);
  for (uint32_t from = 1; from < 16; from++)
    bench_send (bench, from, 0, 50000, 0);
  bench_all_to_all (bench, 70);
  bench_run (bench);
  return bench;
}

/* How long windows are decides which credits come as events and which as times; it
 * must not matter. */
static void
test_windows_do_not_matter (void)
{
  static const int64_t windows_ps[] = { 1, 512, 4096 };
  g_autoptr (Bench) reference = mixed_run (0);

  for (size_t i = 0; i < G_N_ELEMENTS (windows_ps); i++) {
    g_autoptr (Bench) other = mixed_run (windows_ps[i]);

    g_assert_cmpuint (bench_hash (other), ==, bench_hash (reference));
  }
}

/* Against change, not as truth: the same in debug, release and sanitizer
 * builds. */
static void
test_golden_hash (void)
{
  g_autoptr (Bench) bench = mixed_run (0);

  g_test_message ("hash 0x%016" G_GINT64_MODIFIER "x", bench_hash (bench));
  g_assert_cmpuint (bench_hash (bench), ==, UINT64_C (0x81364539ca9c5ba5));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/ib/storm/trees", test_storms_on_trees);
  g_test_add_func ("/sim/ib/storm/largest-switches", test_storm_on_largest_switches);
  g_test_add_func ("/sim/ib/storm/recorded", test_storms_on_recorded_fabrics);
  g_test_add_data_func ("/sim/ib/storm/loop-minhop", "minhop", test_stall_names_its_loop);
  g_test_add_data_func ("/sim/ib/storm/loop-dor", "dor", test_stall_names_its_loop);
  g_test_add_func ("/sim/ib/storm/lanes-cut-the-loop", test_lanes_cut_the_loop);
  g_test_add_func ("/sim/ib/storm/windows", test_windows_do_not_matter);
  g_test_add_func ("/sim/ib/storm/golden", test_golden_hash);
  return g_test_run ();
}
