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
        hop_bytes += bytes * route_paths_hops (bench->paths, from, to, from, to);
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

/* Every way is on one of three lanes. */
static void
spread_over_lanes (RouteForwarding *tables)
{
  uint32_t n = tables->n_destinations;

  tables->n_vls = 3;
  tables->vl = g_new0 (uint8_t, n * n);
  for (uint32_t pair = 0; pair < n * n; pair++)
    tables->vl[pair] = (uint8_t) (pair % 7 % 3);
}

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
  Bench *bench = bench_fabric ("fattree:4x4:2", everything, 2000, spread_over_lanes);
  IbNetwork *net = (IbNetwork *) bench->network;

  if (window_ps > 0) {
    calendar_clear (&net->engine.calendar);
    calendar_init (&net->engine.calendar, window_ps);
  }
  bench_all_to_all (bench, 9000);
  for (uint32_t from = 1; from < 16; from++)
    bench_send (bench, from, 0, 50000, 0);
  bench_all_to_all (bench, 70);
  bench_run (bench);
  return bench;
}

/* Windows of 1 ps process events in the order of global time, longer ones unit
 * by unit: the order of execution must not matter. */
static void
test_order_of_execution_does_not_matter (void)
{
  static const int64_t windows_ps[] = { 1, 512, 4096 };
  g_autoptr (Bench) reference = mixed_run (0);

  g_assert_cmpint (reference->network->lookahead_ps, >=, 8192);
  for (size_t i = 0; i < G_N_ELEMENTS (windows_ps); i++) {
    g_autoptr (Bench) other = mixed_run (windows_ps[i]);

    g_assert_cmpuint (bench_hash (other), ==, bench_hash (reference));
  }
}

/* Random messages over random parameters: every run must end, keep the laws and
 * not depend on the order of execution. */
static void
add_random (GPtrArray *settings, const char *key, const char *const *values, uint32_t n)
{
  g_ptr_array_add (settings,
                   g_strdup_printf ("%s=%s", key, values[g_test_rand_int_range (0, (gint32) n)]));
}

#define ANY(key, ...)                                              \
  add_random (settings, key, (const char *const[]){ __VA_ARGS__ }, \
              G_N_ELEMENTS (((const char *const[]){ __VA_ARGS__ })))

static GPtrArray *
random_settings (void)
{
  GPtrArray *settings = g_ptr_array_new_with_free_func (g_free);

  /* Buffers first: they must hold a packet at any moment. */
  ANY ("switch.buffer", "14KiB", "64KiB", "1MiB");
  ANY ("hca.buffer", "14KiB", "64KiB");
  ANY ("switch.vls", "3");
  ANY ("ib.mtu", "256B", "2KiB", "4KiB");
  ANY ("ib.cable_latency", "1ns", "10ns", "3us");
  ANY ("ib.credit_latency", "1ns", "100ns", "2us");
  ANY ("switch.latency", "1ns", "100ns", "1777ps", "1us");
  ANY ("switch.reads", "1", "2", "255");
  ANY ("switch.adaptive", "none", "free");
  ANY ("switch.vlarb_high", "none", "1:3", "2:255,0:1");
  ANY ("switch.high_limit", "0", "1", "255");
  ANY ("hca.pcie_bandwidth", "3.25GB/s", "100TB/s", "1GB/s");
  ANY ("hca.send_latency", "0ns", "300ns");
  ANY ("hca.receive_latency", "0ns", "250ns");
  ANY ("hca.message_gap", "0ns", "100ns", "3us");
  ANY ("hca.read_ahead", "1", "4");
  ANY ("hca.inline", "0B", "128B", "4KiB");
  ANY ("congestion.control", "true", "false");
  ANY ("congestion.threshold", "0", "8", "15");
  ANY ("congestion.ccti_timer", "1ns", "5us", "100us");
  g_ptr_array_add (settings, NULL);
  return settings;
}

/* Three switches in a line, cables of any rates, adapters with one port and with
 * two: on both ends of the line, and twice on the same switch. */
static Bench *
random_line_new (const char *const *settings, GRand *rand)
{
  static const char *const rates[] = { "1xSDR", "4xSDR", "4xDDR", "4xQDR", "4xEDR", "4xNDR" };
  BenchCable cables[] = {
    { 0, 15, 1, 15, NULL }, { 1, 14, 2, 14, NULL }, { 0, 1, 100, 1, NULL }, { 0, 2, 101, 1, NULL },
    { 2, 1, 101, 2, NULL }, { 2, 2, 102, 1, NULL }, { 1, 1, 103, 1, NULL }, { 1, 2, 103, 2, NULL },
    { 1, 3, 104, 1, NULL }, { 0, 3, 104, 2, NULL }, { 2, 3, 105, 2, NULL },
  };

  for (size_t cable = 0; cable < G_N_ELEMENTS (cables); cable++)
    cables[cable].rate = rates[g_rand_int_range (rand, 0, G_N_ELEMENTS (rates))];
  return bench_cabled (cables, G_N_ELEMENTS (cables), "minhop", settings, 3000, spread_over_lanes);
}

static uint64_t
random_run (const char *const *settings, bool on_line, uint32_t seed, int64_t window_ps)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (Bench) bench = on_line
                                ? random_line_new (settings, rand)
                                : bench_fabric ("fattree:4x4:2", settings, 3000, spread_over_lanes);
  IbNetwork *net = (IbNetwork *) bench->network;
  uint32_t n_messages = (uint32_t) g_rand_int_range (rand, 1, 1500);
  gint32 n_nodes = (gint32) topo_shape_nodes (&bench->machine->shape);

  if (window_ps > 0) {
    calendar_clear (&net->engine.calendar);
    calendar_init (&net->engine.calendar, window_ps);
  }
  for (uint32_t message = 0; message < n_messages; message++) {
    gint32 from = g_rand_int_range (rand, 0, n_nodes);
    gint32 shift = g_rand_int_range (rand, 1, n_nodes);
    SimMessage sent = {
      .cookie = bench->n_sent++,
      .bytes = (uint32_t) g_rand_int_range (rand, 0, 1 << g_rand_int_range (rand, 1, 15)),
      .source_rank = (uint32_t) from,
      .destination_rank = (uint32_t) ((from + shift) % n_nodes),
      .kind = g_rand_boolean (rand) ? SIM_MESSAGE_SEND : SIM_MESSAGE_WRITE,
      .acknowledge = true,
    };

    if (sent.kind == SIM_MESSAGE_SEND)
      sent.software_bytes = (uint16_t) g_rand_int_range (rand, 0, 100);
    sim_network_send (bench->network, &sent, g_rand_int_range (rand, 0, 40) * INT64_C (100000));
  }
  bench_run (bench);
  return bench_hash (bench);
}

static void
test_random_runs (void)
{
  for (uint32_t trial = 0; trial < 40; trial++) {
    g_autoptr (GPtrArray) settings = random_settings ();
    const char *const *pairs = (const char *const *) settings->pdata;
    uint32_t seed = (uint32_t) g_test_rand_int ();

    g_assert_cmpuint (random_run (pairs, trial % 2, seed, 1), ==,
                      random_run (pairs, trial % 2, seed, 0));
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
  g_test_add_func ("/sim/ib/storm/order-of-execution", test_order_of_execution_does_not_matter);
  g_test_add_func ("/sim/ib/storm/random", test_random_runs);
  g_test_add_func ("/sim/ib/storm/golden", test_golden_hash);
  return g_test_run ();
}
