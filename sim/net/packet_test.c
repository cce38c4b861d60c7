/* packet_test.c - the laws of the packet network.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The network itself checks at the end of each run that every packet is
 * delivered, every token is back and bytes in = bytes out (packet.c);
 * so each test here that runs to its end has tested that too. */
#include "sim/net/network_testing.h"
#include "sim/net/torus_state.h"

#include <string.h>

/* --- One packet on an idle path --- */

/* Time of n bytes of packet, trailer included, at 2 GB/s less 3 %, rounded to
 * the picosecond: written out, not taken from the network. */
static int64_t
wire_ps (uint32_t chunks)
{
  return (int64_t) ((chunks * 32.0 + 8.0) * 1e12 / (2e9 * 0.97) + 0.5);
}

/* 20 ns of injection, 40 ns a hop, the packet behind its head, 20 ns of
 * reception.  A message of 100 bytes with its envelope of 16 is 4 chunks and
 * one of header. */
static void
test_idle_path_all_pairs (void)
{
  enum { N = 512 };
  const int64_t apart_ps = 2000000;
  g_autoptr (Bench) bench = bench_torus ("bgq:512", NULL, ROUTE_POLICY_DEFAULT, N * N);
  g_autofree uint64_t *expected = g_new0 (uint64_t, N * 10);
  RouteTorus route;
  uint64_t hop_bytes = 0;

  route_torus_init (&route, &bench->machine->shape);
  for (uint32_t from = 0; from < N; from++)
    for (uint32_t to = 0; to < N; to++)
      if (from != to)
        bench_send_kind (bench, from, to, 100, SIM_MESSAGE_EAGER,
                         (int64_t) bench->n_sent * apart_ps);
  bench_run (bench);

  for (uint32_t from = 0, cookie = 0; from < N; from++)
    for (uint32_t to = 0; to < N; to++) {
      uint32_t links[64];
      uint32_t hops = topo_shape_hops (&bench->machine->shape, from, to);

      if (from == to)
        continue;
      g_assert_cmpuint (route_torus_path (&route, from, route_torus_way (&route, from, to), links),
                        ==, hops);
      for (uint32_t hop = 0; hop < hops; hop++)
        expected[links[hop]] += 100;
      hop_bytes += 100 * hops;
      g_assert_cmpint (bench->at_ps[cookie] - cookie * apart_ps, ==,
                       20000 + hops * 40000 + wire_ps (5) + 20000);
      cookie++;
    }
  for (uint32_t link = 0; link < N * 10; link++)
    g_assert_cmpuint (bench->network->counters->link[link].payload_bytes, ==, expected[link]);
  g_assert_cmpuint (bench_hop_bytes (bench), ==, hop_bytes);
}

static void
test_midplane_crossing_is_slower (void)
{
  /* Node (0,0,0,3,0) to (0,0,0,4,0): D is 8 long, the link leaves a midplane
   * and adds the 80 ns of two link chips. */
  g_autoptr (Bench) bench = bench_torus ("bgq:1024", NULL, ROUTE_POLICY_DEFAULT, 1);

  bench_send_kind (bench, 3 * 2, 4 * 2, 0, SIM_MESSAGE_EAGER, 0);
  bench_run (bench);
  g_assert_cmpint (bench->at_ps[0], ==, 20000 + 40000 + 80000 + wire_ps (2) + 20000);
}

/* A stream on an idle path: packets follow each other at wire speed, so the
 * last one ends n - 1 packets after the first. */
static void
test_stream_runs_at_wire_speed (void)
{
  g_autoptr (Bench) bench = bench_torus ("bgq:32", NULL, ROUTE_POLICY_DETERMINISTIC, 1);

  bench_send_kind (bench, 0, 31, 512 * 100, SIM_MESSAGE_DATA, 0);
  bench_run (bench);
  g_assert_cmpint (bench->at_ps[0], ==, 20000 + 5 * 40000 + 100 * wire_ps (17) + 20000);
}

/* Nothing depends on when a run takes place: a stream that lives on returned
 * tokens takes as long after 30 hours, when times need more bits than a
 * port's list of returns has for them. */
static void
test_late_stream_takes_as_long (void)
{
  static const char *const short_of_tokens[] = { "router.bubble_tokens=2", NULL };
  static const int64_t late_ps = INT64_C (3) << 55;
  g_autoptr (Bench) bench = bench_torus ("bgq:32", short_of_tokens, ROUTE_POLICY_DETERMINISTIC, 2);

  bench_send_kind (bench, 0, 31, 512 * 100, SIM_MESSAGE_DATA, 0);
  bench_send_kind (bench, 0, 31, 512 * 100, SIM_MESSAGE_DATA, late_ps);
  bench_run (bench);
  g_assert_cmpint (bench->at_ps[1] - late_ps, ==, bench->at_ps[0]);
  g_assert_cmpint (bench->at_ps[0], >, 100 * wire_ps (17) + 300000);
}

static void
test_e_neighbour_has_two_cables (void)
{
  g_autoptr (Bench) bench = bench_torus ("bgq:32", NULL, ROUTE_POLICY_DEFAULT, 2);
  const SimCounters *counters = bench->network->counters;

  bench_send_kind (bench, 0, 1, 512 * 100, SIM_MESSAGE_DATA, 0);
  bench_send_kind (bench, 0, 1, 2047, SIM_MESSAGE_DATA, INT64_C (1000000000));
  bench_run (bench);
  g_assert_cmpint (bench->at_ps[0], ==, 20000 + 40000 + 50 * wire_ps (17) + 20000);
  /* The second is too short to be split: node 0 is even, so it goes E+. */
  g_assert_cmpuint (counters->link[8].payload_bytes, ==, 512 * 50);
  g_assert_cmpuint (counters->link[9].payload_bytes, ==, 512 * 50 + 2047);
}

/* --- Shared resources --- */

/* Two sources one hop from a third node, on either side of it in A, each send
 * ten packets to the same neighbour beyond in B: the link carries twenty. */
static void
test_two_streams_share_a_link (void)
{
  g_autoptr (Bench) bench = bench_torus ("torus:4x4", NULL, ROUTE_POLICY_DETERMINISTIC, 2);

  /* Deterministic order A, B: (0,0) and (2,0) via (1,0) to (1,1). */
  bench_send_kind (bench, 0, 5, 5120, SIM_MESSAGE_DATA, 0);
  bench_send_kind (bench, 8, 5, 5120, SIM_MESSAGE_DATA, 0);
  bench_run (bench);
  g_assert_cmpint (MAX (bench->at_ps[0], bench->at_ps[1]), ==,
                   20000 + 2 * 40000 + 20 * wire_ps (17) + 20000);
  /* Of the twenty the first goes straight through; each other one has to wait. */
  uint64_t buffered = 0;

  for (uint32_t link = 0; link < 64; link++)
    buffered += bench->network->counters->link[link].buffered_packets;
  g_assert_cmpuint (buffered, ==, 19);
}

/* Memory that takes 0.5 GB/s: 100 packets of 544 bytes need 108.8 us however
 * fast the links are. */
static void
test_memory_bandwidth_limits_reception (void)
{
  static const char *const slow[] = { "messaging.memory_bandwidth=500MB/s", NULL };
  g_autoptr (Bench) bench = bench_torus ("bgq:32", slow, ROUTE_POLICY_DETERMINISTIC, 1);

  bench_send_kind (bench, 0, 16, 512 * 100, SIM_MESSAGE_DATA, 0);
  bench_run (bench);
  g_assert_cmpint (bench->at_ps[0], ==, 20000 + 40000 + 100 * INT64_C (1088000) + 20000);
}

/* Through traffic and injection both want the port B+ of the middle node all
 * the time: injection gets one grant in 17. */
static void
test_receivers_before_injection (void)
{
  g_autoptr (Bench) bench = bench_torus ("torus:4x4", NULL, ROUTE_POLICY_DETERMINISTIC, 2);
  const int64_t packet_ps = wire_ps (17);

  /* Straight on in B: (0,0) -> (0,2) through (0,1); injection (0,1) -> (0,2).
   * Node (0,0) is even: half-way goes plus. */
  bench_send_kind (bench, 0, 2, 512 * 340, SIM_MESSAGE_DATA, 0);
  bench_send_kind (bench, 1, 2, 512 * 340, SIM_MESSAGE_DATA, 40000);
  bench_run (bench);

  /* After each 16 of the 340 one is injected: 340 / 16 = 21 of them. */
  double slots = (double) (bench->at_ps[0] - 120000) / (double) packet_ps;

  g_assert_cmpfloat (slots, >=, 340 + 20.5);
  g_assert_cmpfloat (slots, <=, 340 + 21.5);
  g_assert_cmpint (bench->at_ps[1], >, bench->at_ps[0]);
}

/* --- Storms through the smallest buffers --- */

static const char *const smallest[] = { "router.dynamic_tokens=17", "router.bubble_tokens=2",
                                        "router.priority_tokens=2", "router.reception_packets=1",
                                        NULL };
static const char *const smallest_staying[] = {
  "router.dynamic_tokens=17",   "router.bubble_tokens=2",     "router.priority_tokens=2",
  "router.reception_packets=1", "router.stay_on_bubble=true", NULL
};

static void
send_all_to_all (Bench *bench, uint64_t bytes, SimMessageKind kind)
{
  for (uint32_t shift = 1; shift < bench->n_nodes; shift++)
    for (uint32_t from = 0; from < bench->n_nodes; from++)
      bench_send_kind (bench, from, (from + shift) % bench->n_nodes, bytes, kind, 0);
}

/* Everybody to the node opposite in all dimensions, in bursts. */
static void
send_permutation (Bench *bench, uint64_t bytes, SimMessageKind kind)
{
  for (uint32_t burst = 0; burst < 4; burst++)
    for (uint32_t from = 0; from < bench->n_nodes; from++) {
      TopoCoordinates at = topo_shape_coordinates (&bench->machine->shape, from);

      for (uint32_t dimension = 0; dimension < bench->machine->shape.n_dimensions; dimension++) {
        uint32_t size = bench->machine->shape.size[dimension];

        at.at[dimension] = (uint16_t) ((at.at[dimension] + size / 2 + burst % 2) % size);
      }
      uint32_t to = topo_shape_node (&bench->machine->shape, at);

      if (to != from)
        bench_send_kind (bench, from, to, bytes, kind, burst * 100000);
    }
}

static void
send_hot_spot (Bench *bench, uint64_t bytes, SimMessageKind kind)
{
  for (uint32_t from = 1; from < bench->n_nodes; from++)
    bench_send_kind (bench, from, 0, bytes, kind, 0);
}

typedef void (*Storm) (Bench *bench, uint64_t bytes, SimMessageKind kind);

static void
run_storm (const char *spec, const char *const *settings, RoutePolicy policy, Storm storm,
           uint64_t bytes)
{
  static const uint64_t most = 600000;
  g_autoptr (Bench) bench = bench_torus (spec, settings, policy, most);

  storm (bench, bytes, SIM_MESSAGE_DIRECT);
  storm (bench, MIN (bytes, 4096), SIM_MESSAGE_EAGER);
  storm (bench, 0, SIM_MESSAGE_REMOTE_GET);
  g_assert_cmpuint (bench->n_sent, <=, most);
  bench_run (bench);
}

static void
test_storms (void)
{
  static const char *const specs[] = { "bgq:32", "bgq:128", "torus:5x3x2", "torus:8m", "torus:16" };
  static const Storm storms[] = { send_all_to_all, send_permutation, send_hot_spot };

  for (size_t spec = 0; spec < G_N_ELEMENTS (specs); spec++)
    for (RoutePolicy policy = ROUTE_POLICY_DEFAULT; policy <= ROUTE_POLICY_ZONE3; policy++)
      for (size_t storm = 0; storm < G_N_ELEMENTS (storms); storm++) {
        run_storm (specs[spec], smallest, policy, storms[storm], 3000);
        run_storm (specs[spec], smallest_staying, policy, storms[storm], 1100);
        run_storm (specs[spec], NULL, policy, storms[storm], 3000);
      }
}

static void
test_storm_on_512_nodes (void)
{
  for (RoutePolicy policy = ROUTE_POLICY_DETERMINISTIC; policy <= ROUTE_POLICY_ZONE3; policy++) {
    g_autoptr (Bench) bench = bench_torus ("bgq:512", smallest, policy, 600000);

    send_all_to_all (bench, 600, SIM_MESSAGE_DIRECT);
    send_hot_spot (bench, 5000, SIM_MESSAGE_DATA);
    bench_run (bench);
  }
}

/* Without the escape a ring of full dynamic buffers can never move again: it
 * must be found and described, not waited for. */
static void
test_stall_is_found (void)
{
  static const char *const unsafe[] = { "router.dynamic_tokens=17", "router.escape=false", NULL };
  g_autoptr (Bench) bench = bench_torus ("torus:8", unsafe, ROUTE_POLICY_ZONE1, 1000);
  g_autoptr (GError) error = NULL;

  for (uint32_t from = 0; from < 8; from++)
    for (uint32_t message = 0; message < 50; message++)
      bench_send_kind (bench, from, (from + 3) % 8, 5120, SIM_MESSAGE_DIRECT, 0);
  g_assert_false (sim_network_run (bench->network, &error));
  g_assert_error (error, SIM_ERROR, SIM_ERROR_STALL);
  g_assert_nonnull (strstr (error->message, "receive buffer"));
}

/* Legal parameters that the fields of the hot path cannot hold. */
static void
test_limits_are_refused (void)
{
  static const char *const settings[][8] = {
    { "mpi.envelope=256B", "envelope" },
    { "link.bandwidth=90000GB/s", "at least 1 ps" },
    { "router.dynamic_tokens=60000", "packet.payload=64KiB", "packet.chunk=2KiB",
      "packet.header=2KiB", "65535" },
    { "router.dynamic_tokens=60000", "mpi.immediate=0B", "mpi.envelope=0B", "packet.payload=32B",
      "packet.chunk=1B", "packet.header=1B", "63 chunks" },
  };

  for (size_t i = 0; i < G_N_ELEMENTS (settings); i++) {
    g_autoptr (TopoMachine) machine = topo_machine_new ("bgq:32", NULL);
    g_autoptr (TopoMapping) mapping = topo_mapping_new (NULL, machine, 32, NULL);
    g_autoptr (GError) error = NULL;
    size_t at = 0;

    for (; settings[i][at + 1] != NULL; at++) {
      g_auto (GStrv) pair = g_strsplit (settings[i][at], "=", 2);

      topo_parameters_set (&machine->parameters, pair[0], pair[1], &error);
      g_assert_no_error (error);
    }
    g_assert_null (sim_packet_new (machine, mapping, ROUTE_POLICY_DEFAULT, 1, &(SimClient){ 0 },
                                   NULL, &error));
    g_assert_error (error, SIM_ERROR, SIM_ERROR_NETWORK);
    g_assert_nonnull (strstr (error->message, settings[i][at]));
  }
}

/* --- Determinism --- */

/* `window_bits` of 0: the machine's own. */
static Bench *
mixed_run (uint32_t window_bits)
{
  Bench *bench = bench_torus ("bgq:64", smallest, ROUTE_POLICY_DEFAULT, 100000);
  Torus *net = (Torus *) bench->network;

  if (window_bits > 0) {
    net->window_bits = window_bits;
    sim_schedule_free (net->engine.schedule);
    net->engine.schedule = sim_schedule_new (net->n_nodes, INT64_C (1) << window_bits);
  }
  send_all_to_all (bench, 2500, SIM_MESSAGE_DIRECT);
  send_permutation (bench, 70000, SIM_MESSAGE_DATA);
  send_hot_spot (bench, 0, SIM_MESSAGE_REMOTE_GET);
  send_all_to_all (bench, 100, SIM_MESSAGE_EAGER);
  bench_run (bench);
  return bench;
}

/* Windows of 2 ps go through a run almost in the order of global time, windows of
 * 32 ns node by node: the order of execution must not matter. */
static void
test_order_of_execution_does_not_matter (void)
{
  g_autoptr (Bench) reference = mixed_run (0);
  static const uint32_t window_bits[] = { 1, 9, 12 };

  for (size_t i = 0; i < G_N_ELEMENTS (window_bits); i++) {
    g_autoptr (Bench) other = mixed_run (window_bits[i]);

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
  g_assert_cmpuint (bench_hash (bench), ==, UINT64_C (0xe2a27bad79f4b907));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/packet/idle-path-all-pairs", test_idle_path_all_pairs);
  g_test_add_func ("/sim/packet/midplane", test_midplane_crossing_is_slower);
  g_test_add_func ("/sim/packet/stream", test_stream_runs_at_wire_speed);
  g_test_add_func ("/sim/packet/late-stream", test_late_stream_takes_as_long);
  g_test_add_func ("/sim/packet/e-neighbour", test_e_neighbour_has_two_cables);
  g_test_add_func ("/sim/packet/shared-link", test_two_streams_share_a_link);
  g_test_add_func ("/sim/packet/memory", test_memory_bandwidth_limits_reception);
  g_test_add_func ("/sim/packet/injection-ratio", test_receivers_before_injection);
  g_test_add_func ("/sim/packet/storms", test_storms);
  g_test_add_func ("/sim/packet/storm-512", test_storm_on_512_nodes);
  g_test_add_func ("/sim/packet/stall", test_stall_is_found);
  g_test_add_func ("/sim/packet/limits", test_limits_are_refused);
  g_test_add_func ("/sim/packet/order-of-execution", test_order_of_execution_does_not_matter);
  g_test_add_func ("/sim/packet/golden", test_golden_hash);
  return g_test_run ();
}
