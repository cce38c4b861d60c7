/* ib_congestion_test.c - who shares what, who is in whose way, and the cures.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/ib_state.h"
#include "sim/net/network_testing.h"

#include <math.h>

/* --- Sharing --- */

/* n senders to one port: the same bytes at the same time, so each has 1 / n of
 * what the receiver's PCIe takes, and all end within 1 % of each other. */
static void
test_senders_share_a_port (void)
{
  static const uint32_t counts[] = { 2, 3, 5 };

  for (size_t i = 0; i < G_N_ELEMENTS (counts); i++) {
    enum { BYTES = 4 << 20 };
    g_autoptr (Bench) bench = bench_fabric ("fattree:2x6:3", NULL, 5, NULL);
    double expected_ps = counts[i] * (BYTES * 1000.0 / 3.25);

    for (uint32_t from = 1; from <= counts[i]; from++)
      bench_send (bench, from, 0, BYTES, 0);
    bench_run (bench);
    for (uint32_t from = 0; from < counts[i]; from++)
      g_assert_cmpfloat (fabs ((double) bench->at_ps[from] / expected_ps - 1), <, 0.01);
  }
}

/* Also when they come through different numbers of switches, as long as each
 * has an input of its own at the last one. */
static void
test_near_and_far_senders_share (void)
{
  enum { BYTES = 4 << 20 };
  static const BenchCable cables[] = {
    { 0, 1, 100, 1, "4xQDR" },
    { 0, 2, 101, 1, "4xQDR" },
    { 1, 1, 102, 1, "4xQDR" },
    { 0, 3, 1, 3, "4xQDR" },
  };
  g_autoptr (Bench) bench = bench_cabled (cables, 4, "minhop", NULL, 2, NULL);

  bench_send (bench, 1, 0, BYTES, 0);
  bench_send (bench, 2, 0, BYTES, 0);
  bench_run (bench);
  for (uint32_t message = 0; message < 2; message++)
    g_assert_cmpfloat (fabs ((double) bench->at_ps[message] / (2 * (BYTES * 1000.0 / 3.25)) - 1), <,
                       0.01);
}

/* Weights 3 : 1 in the arbiter of a link that two lanes fill. */
static void
send_on_lanes (RouteForwarding *tables)
{
  tables->n_vls = 2;
  tables->vl = g_new0 (uint8_t, 16);
  tables->vl[0 * 4 + 2] = 1;
}

static const BenchCable dumbbell_of_four[] = {
  { 0, 1, 100, 1, "4xQDR" }, { 0, 2, 101, 1, "4xQDR" }, { 1, 1, 102, 1, "4xQDR" },
  { 1, 2, 103, 1, "4xQDR" }, { 0, 3, 1, 3, "4xQDR" },
};

static void
test_weights_divide_a_link (void)
{
  enum { BYTES = 3 << 20 };
  static const char *const weighted[] = { "switch.vlarb_low=0:33,1:99", NULL };
  g_autoptr (Bench) bench =
      bench_cabled (dumbbell_of_four, 5, "minhop", weighted, 2, send_on_lanes);

  /* Flow 0 has 3 of 4 GB/s while both last; by then flow 1 has sent a third. */
  bench_send (bench, 0, 2, BYTES, 0);
  bench_send (bench, 1, 3, BYTES, 0);
  bench_run (bench);
  g_assert_cmpfloat (fabs ((double) bench->at_ps[0] / (BYTES * (1 + 34.0 / 2048) * 1000 / 3.0) - 1),
                     <, 0.02);
  g_assert_cmpint (bench->at_ps[1], >, bench->at_ps[0]);
}

/* High priority without a limit takes what PCIe gives it, 3.25 of 4 GB/s. */
static void
test_high_priority_goes_first (void)
{
  enum { BYTES = 3 << 20 };
  static const char *const first[] = { "switch.vlarb_high=1:10", "switch.high_limit=255",
                                       "switch.vlarb_low=0:10", NULL };
  g_autoptr (Bench) bench = bench_cabled (dumbbell_of_four, 5, "minhop", first, 2, send_on_lanes);

  bench_send (bench, 0, 2, BYTES, 0);
  bench_send (bench, 1, 3, BYTES, 0);
  bench_run (bench);
  g_assert_cmpfloat (fabs ((double) bench->at_ps[0] / (BYTES * 1000.0 / 3.25) - 1), <, 0.01);
}

/* One QDR input feeds two DDR outputs.  As long as both may be read at a time
 * the sender's PCIe is the limit; one at a time they take turns at 2 GB/s. */
static void
test_reads_of_an_input (void)
{
  enum { BYTES = 2 << 20 };
  static const BenchCable cables[] = { { 0, 1, 100, 1, "4xQDR" },
                                       { 0, 2, 101, 1, "4xDDR" },
                                       { 0, 3, 102, 1, "4xDDR" } };
  static const char *const one[] = { "switch.reads=1", NULL };
  const char *const *settings[] = { NULL, one };
  const double expected_ps[] = { 2 * (BYTES * 1000.0 / 3.25),
                                 2 * (BYTES * (1 + 34.0 / 2048) * 1000 / 2.0) };

  for (uint32_t run = 0; run < 2; run++) {
    g_autoptr (Bench) bench = bench_cabled (cables, 3, "minhop", settings[run], 2, NULL);

    bench_send (bench, 0, 1, BYTES, 0);
    bench_send (bench, 0, 2, BYTES, 0);
    bench_run (bench);
    for (uint32_t message = 0; message < 2; message++)
      g_assert_cmpfloat (fabs ((double) bench->at_ps[message] / expected_ps[run] - 1), <, 0.01);
  }
}

/* One input, read for one packet at a time, feeds a slow output that always has
 * packets of it and others that want it now and then, on lanes of their own: by
 * turns a packet of each, whatever the numbers of the ports. */
static void
lane_per_destination (RouteForwarding *tables)
{
  tables->n_vls = 4;
  tables->vl = g_new0 (uint8_t, 16);
  for (uint32_t to = 1; to < 4; to++)
    tables->vl[to] = (uint8_t) to;
}

static void
test_outputs_share_an_input (void)
{
  enum { BYTES = 1 << 20 };
  static const char *const one[] = { "switch.reads=1", "hca.pcie_bandwidth=100GB/s", NULL };
  static const char *const rates[] = { "4xDDR", "4xQDR", "4xQDR" };

  for (uint32_t slow = 0; slow < 3; slow++) {
    BenchCable cables[] = { { 0, 4, 100, 1, "4xQDR" },
                            { 0, 1, 101, 1, rates[slow] },
                            { 0, 2, 102, 1, rates[(slow + 1) % 3] },
                            { 0, 3, 103, 1, rates[(slow + 2) % 3] } };
    g_autoptr (Bench) bench = bench_cabled (cables, 4, "minhop", one, 3, lane_per_destination);
    /* Reading a packet for each of the three takes 1 / 2 + 1 / 4 + 1 / 4 ns a byte. */
    double all_ps = BYTES * (1 + 34.0 / 2048) * 1000;

    for (uint32_t to = 1; to < 4; to++)
      bench_send (bench, 0, to, BYTES, 0);
    bench_run (bench);
    for (uint32_t message = 0; message < 3; message++) {

      g_assert_cmpfloat (fabs ((double) bench->at_ps[message] / all_ps - 1), <, 0.02);
    }
  }
}

/* --- Head of line --- */

/* Two switches and one cable.  Nodes 0..2 (left) and 4, 5 (right) all send to
 * node 6, right; the victim sends from node 3, left, to node 7, right. */
static const BenchCable dumbbell[] = {
  { 0, 1, 100, 1, "4xQDR" }, { 0, 2, 101, 1, "4xQDR" }, { 0, 3, 102, 1, "4xQDR" },
  { 0, 4, 103, 1, "4xQDR" }, { 1, 1, 104, 1, "4xQDR" }, { 1, 2, 105, 1, "4xQDR" },
  { 1, 3, 106, 1, "4xQDR" }, { 1, 4, 107, 1, "4xQDR" }, { 0, 5, 1, 5, "4xQDR" },
};

static void
victim_has_a_lane (RouteForwarding *tables)
{
  tables->n_vls = 2;
  tables->vl = g_new0 (uint8_t, 64);
  tables->vl[3 * 8 + 7] = 1;
}

/* Time of the victim's 512 KiB after the buffers had time to fill. */
static double
victim_ps (bool incast, const char *const *settings, void (*prepare) (RouteForwarding *tables),
           Bench **out)
{
  const int64_t start_ps = 2000000000;
  static const uint32_t senders[] = { 0, 1, 2, 4, 5 };
  Bench *bench = bench_cabled (dumbbell, G_N_ELEMENTS (dumbbell), "minhop", settings, 6, prepare);
  uint64_t cookie = bench_send (bench, 3, 7, 512 << 10, start_ps);
  double ps;

  for (uint32_t i = 0; incast && i < G_N_ELEMENTS (senders); i++)
    bench_send (bench, senders[i], 6, 8 << 20, 0);
  bench_run (bench);
  ps = (double) (bench->at_ps[cookie] - start_ps);
  if (out)
    *out = bench;
  else
    bench_free (bench);
  return ps;
}

/* Node 6 takes 3.25 GB/s, a third of it through the cable, of which the victim
 * gets a quarter as one of four: 3.25 / (3.25 / 3 / 3) = 9 times slower.  On a
 * lane of its own it takes turns with a lane that is out of credits most of
 * the time. */
static void
test_incast_and_its_victim (void)
{
  Bench *bench;
  double alone = victim_ps (false, NULL, NULL, NULL);
  double behind = victim_ps (true, NULL, NULL, &bench);
  double own_lane = victim_ps (true, NULL, victim_has_a_lane, NULL);
  const SimCounters *counters = bench->network->counters;
  uint32_t cable = bench->machine->fabric->devices[0].first_port + 4;

  g_assert_cmpfloat (fabs (behind / alone - 9), <, 0.9);
  g_assert_cmpfloat (own_lane / alone, <, 1.3);
  /* The cable stands still although packets wait for it, and those that came
   * through it wait at its end. */
  g_assert_cmpuint (counters->link[cable].wait_ps, >, 1000000000);
  g_assert_cmpuint (counters->link[cable].buffered_packets, >,
                    counters->link[cable].received_packets / 2);
  bench_free (bench);
}

/* Congestion control holds the senders of the incast back: the cable's buffer
 * is no longer full of their packets, and the receiver has as much as before.
 * (With a threshold or a timer that does not fit the number of senders either of
 * the two is lost, as it is on real fabrics.) */
static void
test_congestion_control_relieves_the_victim (void)
{
  static const char *const control[] = { "congestion.control=true", "congestion.threshold=12",
                                         "congestion.marking_rate=5", "congestion.ccti_timer=30us",
                                         NULL };
  Bench *off, *on;
  double without = victim_ps (true, NULL, NULL, &off);
  double with = victim_ps (true, control, NULL, &on);
  int64_t last_off = 0, last_on = 0;

  for (uint64_t cookie = 1; cookie < 6; cookie++) {
    last_off = MAX (last_off, off->at_ps[cookie]);
    last_on = MAX (last_on, on->at_ps[cookie]);
  }
  g_test_message ("victim %.0f -> %.0f us, incast %.0f -> %.0f us", without * 1e-6, with * 1e-6,
                  (double) last_off * 1e-6, (double) last_on * 1e-6);
  g_assert_cmpfloat (with, <, 0.25 * without);
  g_assert_cmpfloat ((double) last_on, <, 1.05 * (double) last_off);
  bench_free (off);
  bench_free (on);
}

/* Nothing is marked where nothing waits: control costs an idle fabric nothing. */
static void
test_control_without_congestion (void)
{
  static const char *const control[] = { "congestion.control=true", NULL };

  g_assert_cmpfloat (victim_ps (false, control, NULL, NULL), ==,
                     victim_ps (false, NULL, NULL, NULL));
}

/* Every two of 324 nodes exchange one message, some of them marked: of the queue
 * pairs only those are kept that are still held back, or were lately. */
static void
test_pairs_are_forgotten (void)
{
  enum { N = 324 };
  static const char *const control[] = { "congestion.control=true", "congestion.ccti_timer=1us",
                                         NULL };
  g_autoptr (Bench) bench = bench_fabric ("fattree:18x18", control, N * N, NULL);
  const IbNetwork *net = (const IbNetwork *) bench->network;

  /* Odd nodes go around the other way, so that two meet now and then. */
  for (uint32_t shift = 1; shift < N; shift++)
    for (uint32_t from = 0; from < N; from++)
      bench_send (bench, from, (from + (from % 2 ? N - shift : shift)) % N, 4096,
                  (int64_t) shift * 20000000);
  bench_run (bench);
  g_assert_cmpuint (net->pairs.n, <=, 8 * N);
  g_assert_cmpuint (net->n_pair_slots, <=, 16 * N);
}

/* Two nodes send to a third, every packet that waits is marked and answered with a
 * notice; cables are so long that hundreds of notices of one message are on
 * their way at a time. */
static void
test_many_notices_at_a_time (void)
{
  static const BenchCable cables[] = { { 0, 1, 100, 1, "4xQDR" },
                                       { 0, 2, 101, 1, "4xQDR" },
                                       { 0, 3, 102, 1, "4xQDR" },
                                       { 0, 4, 103, 1, "4xQDR" } };
  static const char *const marks[] = {
    "congestion.control=true",    "congestion.threshold=15",
    "congestion.ccti_increase=0", "ib.cable_latency=500us",
    "switch.buffer=64MiB",        "hca.buffer=64MiB",
    "hca.pcie_bandwidth=100GB/s", NULL,
  };
  g_autoptr (Bench) bench = bench_cabled (cables, 4, "minhop", marks, 2, NULL);

  bench_send (bench, 0, 2, 8 << 20, 0);
  bench_send (bench, 1, 2, 8 << 20, 0);
  bench_run (bench);
  g_assert_cmpuint (bench->network->counters->packets, >, 2 * 4096 + 1000);
}

/* --- Adaptive routing --- */

/* The lowest-numbered port of a shortest way is the same for all: four flows
 * through one spine.  Adaptive switches spread them. */
static void
test_adaptive_evens_out_a_hot_spine (void)
{
  enum { BYTES = 1 << 20 };
  static const char *const adaptive[] = { "switch.adaptive=free", NULL };
  const char *const *settings[] = { NULL, adaptive };
  double last_ps[2] = { 0 };
  uint64_t least = UINT64_MAX, most = 0;

  for (uint32_t run = 0; run < 2; run++) {
    g_autoptr (Bench) bench = bench_fabric ("fattree:2x4:4,routes=dor", settings[run], 4, NULL);

    for (uint32_t from = 0; from < 4; from++)
      bench_send (bench, from, 4 + from, BYTES, 0);
    bench_run (bench);
    for (uint32_t message = 0; message < 4; message++)
      last_ps[run] = MAX (last_ps[run], (double) bench->at_ps[message]);
    least = UINT64_MAX, most = 0;
    for (uint32_t up = 4; up < 8; up++) {
      uint32_t port = bench->machine->fabric->devices[0].first_port + up;

      least = MIN (least, bench->network->counters->link[port].payload_bytes);
      most = MAX (most, bench->network->counters->link[port].payload_bytes);
    }
    if (run == 0)
      g_assert_cmpuint (most, ==, 4 * BYTES);
  }
  g_assert_cmpfloat (last_ps[0], >, 3.0 * last_ps[1]);
  g_assert_cmpuint (least, >, BYTES / 2);
  g_assert_cmpuint (most, <, 2 * BYTES);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/ib/congestion/share", test_senders_share_a_port);
  g_test_add_func ("/sim/ib/congestion/near-and-far", test_near_and_far_senders_share);
  g_test_add_func ("/sim/ib/congestion/weights", test_weights_divide_a_link);
  g_test_add_func ("/sim/ib/congestion/high-priority", test_high_priority_goes_first);
  g_test_add_func ("/sim/ib/congestion/reads", test_reads_of_an_input);
  g_test_add_func ("/sim/ib/congestion/outputs", test_outputs_share_an_input);
  g_test_add_func ("/sim/ib/congestion/victim", test_incast_and_its_victim);
  g_test_add_func ("/sim/ib/congestion/control", test_congestion_control_relieves_the_victim);
  g_test_add_func ("/sim/ib/congestion/control-idle", test_control_without_congestion);
  g_test_add_func ("/sim/ib/congestion/forgotten", test_pairs_are_forgotten);
  g_test_add_func ("/sim/ib/congestion/notices", test_many_notices_at_a_time);
  g_test_add_func ("/sim/ib/congestion/adaptive", test_adaptive_evens_out_a_hot_spine);
  return g_test_run ();
}
