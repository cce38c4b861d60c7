/* ib_test.c - single messages and streams on a fabric, to the picosecond.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The network itself checks at the end of each run that every packet is
 * delivered, every credit is back and bytes in = bytes out (ib.c). */
#include "sim/net/network_testing.h"

#include <string.h>

/* --- The arithmetic, written out, not taken from the network --- */

#define GAP      INT64_C (100000)
#define SEND     INT64_C (300000)
#define READ     INT64_C (400000)
#define RECEIVE  INT64_C (250000)
#define CABLE    INT64_C (10000)
#define SWITCH   INT64_C (100000)
#define CREDIT   INT64_C (100000)
#define HEADER   26
#define FRAMING  8
#define QDR_GBps 4.0
#define DDR_GBps 2.0

static int64_t
wire_ps (uint64_t payload_bytes, double GBps)
{
  return (int64_t) ((double) (payload_bytes + HEADER + FRAMING) * 1000.0 / GBps + 0.5);
}

static int64_t
pcie_ps (uint64_t bytes)
{
  return (int64_t) ((double) bytes * 1000.0 / 3.25 + 0.5);
}

/* A short message that is in its work request, through so many switches. */
static int64_t
inline_ps (uint64_t bytes, uint32_t switches)
{
  return SEND + switches * (CABLE + SWITCH) + CABLE + wire_ps (bytes, QDR_GBps) + pcie_ps (bytes) +
         RECEIVE;
}

/* --- One message on an idle path --- */

static void
test_same_leaf_and_across_spine (void)
{
  g_autoptr (Bench) bench = bench_fabric ("fattree:4x4:2", NULL, 4, NULL);

  bench_send (bench, 0, 1, 100, 0);
  bench_send (bench, 4, 15, 100, 0);
  bench_send (bench, 8, 9, 0, 0);
  /* Not in the work request: read first, written after. */
  bench_send (bench, 12, 13, 2000, 0);
  bench_run (bench);
  g_assert_cmpint (bench->at_ps[0], ==, inline_ps (100, 1));
  g_assert_cmpint (bench->at_ps[1], ==, inline_ps (100, 3));
  g_assert_cmpint (bench->at_ps[2], ==, inline_ps (0, 1));
  g_assert_cmpint (bench->at_ps[3], ==,
                   SEND + READ + pcie_ps (2000) + CABLE + SWITCH + CABLE +
                       wire_ps (2000, QDR_GBps) + pcie_ps (2000) + RECEIVE);
  /* The acknowledgement leaves when the last byte is in, and comes back over
   * as many switches: 30 bytes and the framing at 4 GB/s. */
  g_assert_cmpint (bench->sent_ps[1], ==,
                   SEND + 3 * (CABLE + SWITCH) + CABLE + wire_ps (100, QDR_GBps) +
                       3 * (CABLE + SWITCH) + CABLE + 9500 + RECEIVE);
}

/* All pairs one after the other: the time follows from the hops, and payload
 * on the links adds up to bytes times links. */
static void
test_all_pairs (void)
{
  enum { N = 16 };
  const int64_t apart_ps = 10000000;
  g_autoptr (Bench) bench = bench_fabric ("fattree:4x4:2", NULL, N * N, NULL);
  uint64_t hop_bytes = 0, cookie = 0;

  for (uint32_t from = 0; from < N; from++)
    for (uint32_t to = 0; to < N; to++)
      if (from != to)
        bench_send (bench, from, to, 64, (int64_t) bench->n_sent * apart_ps);
  bench_run (bench);
  for (uint32_t from = 0; from < N; from++)
    for (uint32_t to = 0; to < N; to++) {
      uint32_t links = route_paths_hops (bench->paths, from, to, from + to);

      if (from == to)
        continue;
      hop_bytes += 64 * links;
      g_assert_cmpint (bench->at_ps[cookie] - (int64_t) cookie * apart_ps, ==,
                       inline_ps (64, links - 1));
      cookie++;
    }
  g_assert_cmpuint (bench_hop_bytes (bench), ==, hop_bytes);
}

/* A DDR adapter and a QDR one: in both directions the slow link decides, also
 * when the packet has to wait in the switch so that the fast one does not run
 * dry. */
static void
test_mixed_rates (void)
{
  static const BenchCable cables[] = { { 0, 1, 100, 1, "4xDDR" }, { 0, 2, 101, 1, "4xQDR" } };
  g_autoptr (Bench) bench = bench_cabled (cables, 2, "minhop", NULL, 2, NULL);
  int64_t expected_ps = SEND + READ + pcie_ps (2048) + CABLE + SWITCH + CABLE +
                        wire_ps (2048, DDR_GBps) + pcie_ps (2048) + RECEIVE;

  bench_send (bench, 0, 1, 2048, 0);
  bench_send (bench, 1, 0, 2048, INT64_C (100000000));
  bench_run (bench);
  g_assert_cmpint (bench->at_ps[0], ==, expected_ps);
  g_assert_cmpint (bench->at_ps[1] - INT64_C (100000000), ==, expected_ps);
}

/* Error correction delays each link by what its own speed takes, both ways. */
static void
test_error_correction (void)
{
  static const BenchCable cables[] = { { 0, 1, 100, 1, "4xHDR" },
                                       { 0, 2, 1, 1, "4xEDR" },
                                       { 1, 2, 101, 1, "2xNDR" } };
  static const char *const without[] = { "ib.fec_edr_latency=0ns", "ib.fec_hdr_latency=0ns",
                                         "ib.fec_ndr_latency=0ns", NULL };
  static const char *const with[] = { "ib.fec_edr_latency=7ns", "ib.fec_hdr_latency=50ns",
                                      "ib.fec_ndr_latency=100ns", NULL };
  g_autoptr (Bench) plain = bench_cabled (cables, 3, "minhop", without, 1, NULL);
  g_autoptr (Bench) corrected = bench_cabled (cables, 3, "minhop", with, 1, NULL);

  bench_send (plain, 0, 1, 5000, 0);
  bench_send (corrected, 0, 1, 5000, 0);
  bench_run (plain);
  bench_run (corrected);
  g_assert_cmpint (corrected->at_ps[0] - plain->at_ps[0], ==, 157000);
  g_assert_cmpint (corrected->sent_ps[0] - plain->sent_ps[0], ==, 2 * 157000);
}

/* Two adapters on one cable, no switch. */
static void
test_back_to_back (void)
{
  static const BenchCable cables[] = { { 100, 1, 101, 1, "4xQDR" } };
  g_autoptr (Bench) bench = bench_cabled (cables, 1, "minhop", NULL, 1, NULL);

  bench_send (bench, 1, 0, 100, 0);
  bench_run (bench);
  g_assert_cmpint (bench->at_ps[0], ==, inline_ps (100, 0));
}

/* A write carries its address in the first packet, software's bytes are
 * payload on the wire and no user bytes; PortXmitData counts them all. */
static void
test_headers_are_counted (void)
{
  static const BenchCable cables[] = { { 0, 1, 100, 1, "4xQDR" }, { 0, 2, 101, 1, "4xQDR" } };
  g_autoptr (Bench) bench = bench_cabled (cables, 2, "minhop", NULL, 2, NULL);
  SimMessage message = { .bytes = 3000,
                         .destination_rank = 1,
                         .kind = SIM_MESSAGE_WRITE,
                         .software_bytes = 64,
                         .acknowledge = true };
  const SimLinkCounters *up, *back;

  sim_network_send (bench->network, &message, 0);
  bench->n_sent = 1;
  bench_run (bench);
  up = &bench->network->counters->link[bench->paths->tables->destination_port[0]];
  back = &bench->network->counters->link[bench->paths->tables->destination_port[1]];
  g_assert_cmpuint (up->payload_bytes, ==, 3000);
  g_assert_cmpuint (up->sent_packets, ==, 2);
  g_assert_cmpuint (up->wire_bytes, ==, 3000 + 64 + 2 * HEADER + 16);
  g_assert_cmpuint (back->payload_bytes, ==, 0);
  g_assert_cmpuint (back->wire_bytes, ==, 30);
  g_assert_cmpuint (bench->network->counters->fifo_messages[0], ==, 1);
  g_assert_cmpuint (bench->network->counters->fifo_messages[1], ==, 0);
  g_assert_cmpuint (bench->network->counters->packets, ==, 3);
  g_assert_cmpuint (bench->network->counters->packet_hops, ==, 6);
}

/* --- Streams --- */

/* 100 full packets: PCIe, slower than the link, sets the pace. */
static void
test_stream_runs_at_pcie_speed (void)
{
  g_autoptr (Bench) bench = bench_fabric ("fattree:4x4:2", NULL, 1, NULL);

  bench_send (bench, 0, 15, 2048 * 100, 0);
  bench_run (bench);
  g_assert_cmpint (bench->at_ps[0], ==,
                   SEND + READ + 100 * pcie_ps (2048) + 3 * (CABLE + SWITCH) + CABLE +
                       wire_ps (2048, QDR_GBps) + pcie_ps (2048) + RECEIVE);
}

/* Each direction has PCIe and the link for itself. */
static void
test_directions_are_independent (void)
{
  g_autoptr (Bench) bench = bench_fabric ("fattree:4x4:2", NULL, 2, NULL);
  int64_t alone_ps = SEND + READ + 500 * pcie_ps (2048) + CABLE + SWITCH + CABLE +
                     wire_ps (2048, QDR_GBps) + pcie_ps (2048) + RECEIVE;

  bench_send (bench, 0, 1, 2048 * 500, 0);
  bench_send (bench, 1, 0, 2048 * 500, 0);
  bench_run (bench);
  g_assert_cmpint (bench->at_ps[0], ==, alone_ps);
  g_assert_cmpint (bench->at_ps[1], ==, alone_ps);
}

/* --- Dragonfly+ --- */

/* 8 nodes of each of 6 groups, on 4 leaves with 2 spines; 2 cables between two groups. */
#define DRAGONFLY       "dragonflyplus:6x4x2:2,speed=QDR"
#define DRAGONFLY_GROUP 8

static const char *const detours[] = { "switch.adaptive=detours", NULL };

/* Alone a packet takes a shortest way: over both spines' cable to another group, four switches. */
static void
test_dragonfly_at_rest (void)
{
  static const uint32_t targets[] = { 1, 2, DRAGONFLY_GROUP, 5 * DRAGONFLY_GROUP + 3 };
  static const uint32_t switches[] = { 1, 3, 4, 4 };
  g_autoptr (Bench) plain = bench_fabric (DRAGONFLY, NULL, G_N_ELEMENTS (targets), NULL);
  g_autoptr (Bench) adaptive = bench_fabric (DRAGONFLY, detours, G_N_ELEMENTS (targets), NULL);
  const int64_t apart_ps = 10000000;

  for (uint32_t at = 0; at < G_N_ELEMENTS (targets); at++) {
    bench_send (plain, 0, targets[at], 64, (int64_t) at * apart_ps);
    bench_send (adaptive, 0, targets[at], 64, (int64_t) at * apart_ps);
  }
  bench_run (plain);
  bench_run (adaptive);
  for (uint32_t at = 0; at < G_N_ELEMENTS (targets); at++) {
    g_assert_cmpint (plain->at_ps[at] - at * apart_ps, ==, inline_ps (64, switches[at]));
    g_assert_cmpint (adaptive->at_ps[at] - at * apart_ps, ==, inline_ps (64, switches[at]));
  }
}

/* When every node of a group sends to another group, shortest ways have its two cables, 8 GB/s for
 * eight nodes that send 3.25 GB/s each; over all groups there are ten, so that PCIe is the limit.
 * A detour has six links instead of five. */
static void
test_dragonfly_detours (void)
{
  const uint64_t bytes = 2048 * 200;
  g_autoptr (Bench) plain = bench_fabric (DRAGONFLY, NULL, DRAGONFLY_GROUP, NULL);
  g_autoptr (Bench) adaptive = bench_fabric (DRAGONFLY, detours, DRAGONFLY_GROUP, NULL);
  double cables_ps = DRAGONFLY_GROUP * 200 * (double) wire_ps (2048, QDR_GBps) / 2;
  double pcie_all_ps = 200 * (double) pcie_ps (2048);
  int64_t last_ps = 0, adaptive_ps = 0;
  uint64_t sent = DRAGONFLY_GROUP * bytes;

  for (uint32_t node = 0; node < DRAGONFLY_GROUP; node++) {
    bench_send (plain, node, DRAGONFLY_GROUP + node, bytes, 0);
    bench_send (adaptive, node, DRAGONFLY_GROUP + node, bytes, 0);
  }
  bench_run (plain);
  bench_run (adaptive);
  for (uint32_t node = 0; node < DRAGONFLY_GROUP; node++) {
    last_ps = MAX (last_ps, plain->at_ps[node]);
    adaptive_ps = MAX (adaptive_ps, adaptive->at_ps[node]);
  }
  g_assert_cmpfloat ((double) last_ps, >=, cables_ps);
  g_assert_cmpfloat ((double) last_ps, <, 1.05 * cables_ps);
  g_assert_cmpfloat ((double) adaptive_ps, >=, pcie_all_ps);
  g_assert_cmpfloat ((double) adaptive_ps, <, 1.5 * pcie_all_ps);
  g_assert_cmpuint (bench_hop_bytes (plain), ==, 5 * sent);
  g_assert_cmpuint (bench_hop_bytes (adaptive), >, 5 * sent);
  g_assert_cmpuint (bench_hop_bytes (adaptive), <=, 6 * sent);
}

/* Links of 10 us and buffers of one packet: a packet may follow when the one
 * before has been written out of the adapter's buffer and its credits are
 * back, at the switch a cable, a packet, its writing and the credit's latency
 * later. */
static void
test_credits_pace_a_long_link (void)
{
  static const char *const long_links[] = { "ib.cable_latency=10us", "switch.vls=1",
                                            "switch.buffer=2112B", "hca.buffer=2112B", NULL };
  static const BenchCable cables[] = { { 0, 1, 100, 1, "4xQDR" }, { 0, 2, 101, 1, "4xQDR" } };
  const int64_t cable_ps = 10000000;
  int64_t wire = wire_ps (2048, QDR_GBps), turn_ps = cable_ps + wire + pcie_ps (2048) + CREDIT;
  g_autoptr (Bench) bench = bench_cabled (cables, 2, "minhop", long_links, 1, NULL);
  const SimCounters *counters = bench->network->counters;
  const TopoFabric *fabric = bench->machine->fabric;

  bench_send (bench, 0, 1, 2048 * 50, 0);
  bench_run (bench);
  g_assert_cmpint (bench->at_ps[0], ==,
                   SEND + READ + pcie_ps (2048) + cable_ps + SWITCH + 49 * turn_ps + cable_ps +
                       wire + pcie_ps (2048) + RECEIVE);
  /* All but the first wait in the switch. */
  uint32_t up = bench->paths->tables->destination_port[0];
  uint32_t down = fabric->ports[bench->paths->tables->destination_port[1]].peer;

  g_assert_cmpuint (counters->link[up].buffered_packets, ==, 49);
  g_assert_cmpuint (counters->link[down].wait_ps, ==, counters->link[up].buffered_ps);
}

/* Ten million messages a second, and no more. */
static void
test_message_rate (void)
{
  enum { N = 1000 };
  g_autoptr (Bench) bench = bench_fabric ("fattree:4x4:2", NULL, N, NULL);

  for (uint32_t message = 0; message < N; message++)
    bench_send (bench, 0, 1, 8, 0);
  bench_run (bench);
  g_assert_cmpint (bench->at_ps[N - 1], ==, inline_ps (8, 1) + (N - 1) * GAP);
}

/* A short message behind a long one of the same pair keeps its place, one of
 * another pair takes turns with it. */
static void
test_pairs_take_turns (void)
{
  g_autoptr (Bench) bench = bench_fabric ("fattree:4x4:2", NULL, 3, NULL);

  bench_send (bench, 0, 1, 1 << 20, 0);
  bench_send (bench, 0, 1, 8, 0);
  bench_send (bench, 0, 2, 8, 0);
  bench_run (bench);
  g_assert_cmpint (bench->at_ps[1], >, bench->at_ps[0]);
  g_assert_cmpint (bench->at_ps[2], <, 2 * inline_ps (8, 1));
}

/* Both ports of an adapter are used, by different pairs of ranks, and share
 * its PCIe: two streams take as long as one of twice the length. */
static void
test_ports_of_an_adapter_share_pcie (void)
{
  static const BenchCable cables[] = {
    { 0, 1, 100, 1, "4xQDR" }, { 0, 2, 101, 1, "4xQDR" }, { 0, 3, 102, 1, "4xQDR" },
    { 1, 1, 100, 2, "4xQDR" }, { 1, 2, 101, 2, "4xQDR" }, { 1, 3, 102, 2, "4xQDR" },
  };
  enum { BYTES = 2048 * 500 };
  g_autoptr (Bench) bench = bench_cabled (cables, 6, "minhop", NULL, 3, NULL);
  const SimCounters *counters = bench->network->counters;
  int64_t last_ps;

  bench_send (bench, 0, 1, BYTES, 0);
  bench_send (bench, 0, 2, BYTES, 0);
  bench_run (bench);
  last_ps = MAX (bench->at_ps[0], bench->at_ps[1]);
  g_assert_cmpint (last_ps, ==,
                   SEND + READ + 1000 * pcie_ps (2048) + CABLE + SWITCH + CABLE +
                       wire_ps (2048, QDR_GBps) + pcie_ps (2048) + RECEIVE);
  for (uint32_t port = 0; port < 2; port++) {
    uint32_t up = bench->machine->fabric->devices[bench->machine->fabric->rails[0]].first_port;

    g_assert_cmpuint (counters->link[up + port].payload_bytes, ==, BYTES);
    g_assert_cmpuint (counters->fifo_messages[bench->paths->tables->destination_of[up + port]], ==,
                      1);
  }
}

/* A node of eight adapters to eight nodes of one: each pair of ranks has an adapter,
 * and its PCIe, for itself. */
static void
test_eight_rails (void)
{
  enum { N = 8, BYTES = 2048 * 100 };
  g_autoptr (Bench) bench = NULL;
  BenchCable cables[2 * N];

  for (uint32_t rail = 0; rail < N; rail++) {
    cables[rail] = (BenchCable){ 0, 1 + rail, 100 * (1 + rail), 1, "4xQDR" };
    cables[N + rail] = (BenchCable){ 0, 1 + N + rail, 101 + rail, 1, "4xQDR" };
  }
  bench = bench_cabled (cables, 2 * N, "minhop", NULL, 2 * N, NULL);
  g_assert_cmpuint (bench->machine->fabric->hosts[0].n_rails, ==, N);
  for (uint32_t to = 1; to <= N; to++) {
    bench_send (bench, 0, to, BYTES, 0);
    bench_send (bench, to, 0, BYTES, 0);
  }
  bench_run (bench);
  for (uint32_t message = 0; message < 2 * N; message++)
    g_assert_cmpint (bench->at_ps[message], ==,
                     SEND + READ + 100 * pcie_ps (2048) + CABLE + SWITCH + CABLE +
                         wire_ps (2048, QDR_GBps) + pcie_ps (2048) + RECEIVE);
}

/* Nothing depends on when a run takes place: also after two hours, when times
 * need more bits than a port's list of returns has for them. */
static void
test_late_stream_takes_as_long (void)
{
  static const char *const short_of_credits[] = { "switch.vls=1", "switch.buffer=2112B",
                                                  "hca.buffer=2112B", NULL };
  const int64_t late_ps = INT64_C (7200) * 1000000000000;
  g_autoptr (Bench) bench = bench_fabric ("fattree:4x4:2", short_of_credits, 2, NULL);

  bench_send (bench, 0, 15, 2048 * 100, 0);
  bench_send (bench, 0, 15, 2048 * 100, late_ps);
  bench_run (bench);
  g_assert_cmpint (bench->at_ps[1] - late_ps, ==, bench->at_ps[0]);
  g_assert_cmpint (bench->at_ps[0], >, 100 * pcie_ps (2048) + 20000000);
}

/* --- What cannot be --- */

static void
expect_refusal (const char *setting, const char *expected)
{
  g_autoptr (TopoMachine) machine = topo_machine_new ("fattree:2x2", NULL);
  g_autoptr (TopoMapping) mapping = topo_mapping_new (NULL, machine, 4, NULL);
  g_autoptr (RoutePaths) paths = route_paths_new (machine, NULL);
  static const SimClient client = { 0 };
  g_auto (GStrv) pair = g_strsplit (setting, "=", 2);
  g_autoptr (GError) error = NULL;

  /* A second lane that no table of the arbiter names. */
  paths->tables->n_vls = 2;
  paths->tables->vl = g_new0 (uint8_t, 16);
  paths->tables->vl[1] = 1;
  g_assert_true (topo_parameters_set (&machine->parameters, pair[0], pair[1], NULL));
  g_assert_null (sim_ib_new (machine, paths, mapping, &client, NULL, &error));
  g_assert_error (error, SIM_ERROR, SIM_ERROR_NETWORK);
  g_assert_nonnull (strstr (error->message, expected));
}

static void
test_limits_are_refused (void)
{
  expect_refusal ("ib.block=8B", "ib.block");
  expect_refusal ("switch.vls=1", "use 2 virtual lanes, switch.vls is 1");
  expect_refusal ("switch.vlarb_low=0:4,1:0", "VL 1 has a weight neither");
  expect_refusal ("switch.adaptive=free", "switch.adaptive");
  /* 2090 bytes are enough for a packet of so many, in 32 whole blocks they are not. */
  expect_refusal ("switch.buffer=8360B", "switch.buffer");
  expect_refusal ("hca.buffer=8360B", "hca.buffer");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/ib/idle-path", test_same_leaf_and_across_spine);
  g_test_add_func ("/sim/ib/all-pairs", test_all_pairs);
  g_test_add_func ("/sim/ib/mixed-rates", test_mixed_rates);
  g_test_add_func ("/sim/ib/error-correction", test_error_correction);
  g_test_add_func ("/sim/ib/back-to-back", test_back_to_back);
  g_test_add_func ("/sim/ib/headers", test_headers_are_counted);
  g_test_add_func ("/sim/ib/dragonfly-at-rest", test_dragonfly_at_rest);
  g_test_add_func ("/sim/ib/dragonfly-detours", test_dragonfly_detours);
  g_test_add_func ("/sim/ib/stream", test_stream_runs_at_pcie_speed);
  g_test_add_func ("/sim/ib/directions", test_directions_are_independent);
  g_test_add_func ("/sim/ib/credits", test_credits_pace_a_long_link);
  g_test_add_func ("/sim/ib/message-rate", test_message_rate);
  g_test_add_func ("/sim/ib/turns", test_pairs_take_turns);
  g_test_add_func ("/sim/ib/two-ports", test_ports_of_an_adapter_share_pcie);
  g_test_add_func ("/sim/ib/eight-rails", test_eight_rails);
  g_test_add_func ("/sim/ib/late-stream", test_late_stream_takes_as_long);
  g_test_add_func ("/sim/ib/limits", test_limits_are_refused);
  return g_test_run ();
}
