/* buffers_test.c - waits in receive buffers: a case worked by hand, and their conservation.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "sim/features.h"
#include "sim/net/network_testing.h"

#include <string.h>

static uint64_t
buffered_ps (const SimCounters *counters)
{
  uint64_t all_ps = 0;

  for (uint32_t link = 0; link < counters->n_places; link++)
    all_ps += counters->link[link].buffered_ps;
  return all_ps;
}

/* --- Three packets that want the same link --- */

static void
features_of (const Bench *bench, double features[SIM_N_FEATURES])
{
  g_autoptr (RoutePaths) paths = route_paths_new (bench->machine, NULL);
  SimEdges *edges = sim_edges_new (bench->n_nodes);

  sim_features_compute (features, paths, bench->mapping, edges, bench->network->counters);
  sim_edges_free (edges);
}

/* A torus of 5 x 5, node 5 a + b, routes in A first: three packets go to node 6, (1,1), through node
 * 5, (1,0), whose link B+ takes one at a time.
 *
 *                (1,4)                       A packet is injected in 20 ns and its head crosses a
 *                  |  Y                      link in 40 ns.  Behind it come its chunks of 32 bytes,
 *            X     v      Z                  one of header, and 8 bytes of trailer at 97 % of 2 GB/s:
 *     (2,0) --> (1,0) <-- (0,0)
 *                  |                           512 bytes, 17 chunks: 552 B / 1.94 GB/s = 284,536 ps
 *                  v  the link of all          100 bytes and the envelope of 16, 5 chunks:
 *                (1,1)                                               168 B / 1.94 GB/s = 86,598 ps
 *
 *        sent at    bytes    at (1,0) at   leaves it at                        waits
 *     X        0      512       60,000 ps   60,000 ps                              0
 *     Y   10,000      100       70,000     344,536 = 60,000 + 284,536        274,536 ps
 *     Z  300,000      512      360,000     431,134 = 344,536 + 86,598         71,134
 *
 * Z comes when Y has left, so that no choice of the arbiter matters.  X and a second packet of Z's
 * sender, 100 us later, find an idle link.  The waits are those of the links on which Y and Z came:
 * 137.268 and 35.567 cycles of 2 ns, 172.835 in all, and one is the larger.  Y's link received
 * one packet, Z's link two, so the delays are 137.268 and 35.567 / 2 = 17.7835 cycles.  There are
 * 25 x 4 links. */
static void
test_three_packets_by_hand (void)
{
  enum { X_LINK = 10 * 4 + 0, Y_LINK = 9 * 4 + 3, Z_LINK = 0 * 4 + 1, SHARED = 5 * 4 + 3 };
  g_autoptr (Bench) bench = bench_torus ("torus:5x5", NULL, ROUTE_POLICY_DETERMINISTIC, 4);
  const SimCounters *counters = bench->network->counters;
  double features[SIM_N_FEATURES];

  bench_send_kind (bench, 10, 6, 512, SIM_MESSAGE_DATA, 0);
  bench_send_kind (bench, 9, 6, 100, SIM_MESSAGE_EAGER, 10000);
  bench_send_kind (bench, 0, 6, 512, SIM_MESSAGE_DATA, 300000);
  bench_send_kind (bench, 0, 6, 512, SIM_MESSAGE_DATA, 100000000);
  bench_run (bench);

  /* One more hop, the rest of the packet, 20 ns of reception. */
  g_assert_cmpint (bench->at_ps[0], ==, 60000 + 40000 + 284536 + 20000);
  g_assert_cmpint (bench->at_ps[1], ==, 344536 + 40000 + 86598 + 20000);
  g_assert_cmpint (bench->at_ps[2], ==, 431134 + 40000 + 284536 + 20000);
  g_assert_cmpuint (counters->link[X_LINK].received_packets, ==, 1);
  g_assert_cmpuint (counters->link[X_LINK].buffered_packets, ==, 0);
  g_assert_cmpuint (counters->link[X_LINK].buffered_ps, ==, 0);
  g_assert_cmpuint (counters->link[Y_LINK].received_packets, ==, 1);
  g_assert_cmpuint (counters->link[Y_LINK].buffered_packets, ==, 1);
  g_assert_cmpuint (counters->link[Y_LINK].buffered_ps, ==, 274536);
  g_assert_cmpuint (counters->link[Z_LINK].received_packets, ==, 2);
  g_assert_cmpuint (counters->link[Z_LINK].buffered_packets, ==, 1);
  g_assert_cmpuint (counters->link[Z_LINK].buffered_ps, ==, 71134);
  g_assert_cmpuint (counters->link[SHARED].received_packets, ==, 4);
  g_assert_cmpuint (counters->link[SHARED].buffered_packets, ==, 0);
  g_assert_cmpuint (buffered_ps (counters), ==, 274536 + 71134);

  features_of (bench, features);
  g_assert_cmpuint (counters->n_links, ==, 100);
  g_assert_cmpfloat_with_epsilon (features[SIM_FEATURE_AVG_BUFFER], 172.835 / 100, 1e-12);
  g_assert_cmpfloat_with_epsilon (features[SIM_FEATURE_MAX_BUFFER], 137.268, 1e-10);
  g_assert_cmpfloat_with_epsilon (features[SIM_FEATURE_AVG_BUFFER_AO], 172.835 / 2, 1e-10);
  g_assert_cmpfloat_with_epsilon (features[SIM_FEATURE_AVG_BUFFER_TO], 137.268, 1e-10);
  g_assert_cmpfloat_with_epsilon (features[SIM_FEATURE_AVG_DELAY], (137.268 + 17.7835) / 100,
                                  1e-12);
  g_assert_cmpfloat_with_epsilon (features[SIM_FEATURE_MAX_DELAY], 137.268, 1e-10);
  g_assert_cmpfloat_with_epsilon (features[SIM_FEATURE_AVG_WAITED], 2.0 / 100, 1e-12);
}

/* Three packets of 512 bytes to a neighbour whose memory takes 544 bytes in 1,088,000 ps and whose
 * reception FIFO holds one.  Their heads come at 60,000 ps and 284,536 ps after each other; the FIFO
 * is free when the packet before is in memory, at 1,148,000 and 2,236,000 ps, so that the second waits
 * for 1,148,000 - 344,536 = 803,464 ps and the third for 2,236,000 - 629,072 = 1,606,928 ps. */
static void
test_reception_by_hand (void)
{
  static const char *const slow[] = { "messaging.memory_bandwidth=500MB/s",
                                      "router.reception_packets=1", NULL };
  g_autoptr (Bench) bench = bench_torus ("torus:5x5", slow, ROUTE_POLICY_DETERMINISTIC, 1);
  const SimLinkCounters *link = &bench->network->counters->link[0 * 4 + 3];

  bench_send_kind (bench, 0, 1, 1536, SIM_MESSAGE_DATA, 0);
  bench_run (bench);
  g_assert_cmpint (bench->at_ps[0], ==, 60000 + 3 * 1088000 + 20000);
  g_assert_cmpuint (link->received_packets, ==, 3);
  g_assert_cmpuint (link->buffered_packets, ==, 2);
  g_assert_cmpuint (link->buffered_ps, ==, 803464 + 1606928);
}

/* --- Conservation ---
 *
 * Every node sends one packet at 0, at most.  The ports are idle then, so that no packet waits to be
 * injected, and whatever it is late by, beside the time that it takes alone, it has waited in
 * receive buffers.  So the delays of the messages and the waits that the links counted have the
 * same sum, to the picosecond, whichever ways the packets took. */

#define APART_PS INT64_C (100000000)

typedef struct {
  uint32_t from, to;
  uint64_t bytes;
  SimMessageKind kind;
} Single;

/* To a few nodes, which others are on the way to. */
static uint32_t
draw_singles (Single *singles, uint32_t n_nodes, uint32_t n_hot, uint64_t seed)
{
  BaseRandom random = base_random_stream (seed, 1);
  uint32_t n = 0;

  for (uint32_t from = 0; from < n_nodes; from++) {
    Single *it = &singles[n];

    *it = (Single){ from, (uint32_t) base_random_below (&random, n_hot) * (n_nodes / n_hot),
                    base_random_below (&random, 497), SIM_MESSAGE_DATA };
    if (base_random_below (&random, 3) == 0)
      it->kind = SIM_MESSAGE_EAGER;
    n += it->to != from;
  }
  return n;
}

/* Memory takes what all links bring, so that it delays no packet, and a message of one packet may be
 * routed dynamically. */
static const char *const fast_memory[] = { "messaging.memory_bandwidth=1TB/s", "mpi.dynamic=0B",
                                           NULL };
static const char *const small_buffers[] = {
  "messaging.memory_bandwidth=1TB/s", "mpi.dynamic=0B",          "router.bubble_tokens=2",
  "router.dynamic_tokens=40",         "router.dynamic_queues=1", NULL
};

static void
check_torus (const char *spec, const char *const *settings, RoutePolicy policy, uint64_t seed)
{
  g_autoptr (Bench) together = bench_torus (spec, settings, policy, 1024);
  g_autoptr (Bench) alone = bench_torus (spec, settings, policy, 1024);
  g_autofree Single *singles = g_new (Single, together->n_nodes);
  uint32_t n = draw_singles (singles, together->n_nodes, 4, seed);
  const SimCounters *counters = together->network->counters;
  uint64_t late_ps = 0, dynamic_chunks = 0;

  for (uint32_t i = 0; i < n; i++) {
    const Single *it = &singles[i];

    bench_send_kind (together, it->from, it->to, it->bytes, it->kind, 0);
    bench_send_kind (alone, it->from, it->to, it->bytes, it->kind, i * APART_PS);
  }
  bench_run (together);
  bench_run (alone);
  g_assert_cmpuint (counters->packets, ==, n);
  for (uint32_t i = 0; i < n; i++) {
    int64_t delay_ps = together->at_ps[i] - (alone->at_ps[i] - i * APART_PS);

    g_assert_cmpint (delay_ps, >=, 0);
    late_ps += (uint64_t) delay_ps;
  }
  for (uint32_t link = 0; link < counters->n_places; link++)
    dynamic_chunks += counters->link[link].dynamic_chunks;
  g_test_message ("%s, policy %d: %u packets waited for %" G_GUINT64_FORMAT
                  " ps, %" G_GUINT64_FORMAT " dynamic chunks",
                  spec, policy, n, late_ps, dynamic_chunks);
  g_assert_true ((dynamic_chunks > 0) == (policy != ROUTE_POLICY_DETERMINISTIC));
  g_assert_cmpuint (late_ps, >, n * UINT64_C (100000));
  g_assert_cmpuint (buffered_ps (counters), ==, late_ps);
  g_assert_cmpuint (buffered_ps (alone->network->counters), ==, 0);
}

static void
test_torus_conserves_waits (void)
{
  static const char *const specs[] = { "torus:4x4x4", "torus:16x16", "torus:5x4mx3", "bgq:512" };
  static const RoutePolicy policies[] = { ROUTE_POLICY_DETERMINISTIC, ROUTE_POLICY_DEFAULT,
                                          ROUTE_POLICY_ZONE0,         ROUTE_POLICY_ZONE1,
                                          ROUTE_POLICY_ZONE2,         ROUTE_POLICY_ZONE3 };

  for (size_t spec = 0; spec < G_N_ELEMENTS (specs); spec++)
    for (size_t policy = 0; policy < G_N_ELEMENTS (policies); policy++) {
      check_torus (specs[spec], fast_memory, policies[policy], 1 + spec);
      check_torus (specs[spec], small_buffers, policies[policy], 101 + spec);
    }
}

/* Acknowledgements wait in buffers too, so the round trip is compared.  Adapters hold all contexts,
 * as sends wait for them outside of buffers.  Messages of one size are
 * written to memory faster than they come, and the acknowledgements of one node are shorter than the
 * packets that cause them: none has to wait for another at its own port. */
static void
check_fabric (const char *spec, const char *const *settings, uint64_t seed)
{
  g_autoptr (Bench) together = bench_fabric (spec, settings, 1024, NULL);
  g_autoptr (Bench) alone = bench_fabric (spec, settings, 1024, NULL);
  g_autofree Single *singles = g_new (Single, together->n_nodes);
  uint32_t n = draw_singles (singles, together->n_nodes, 3, seed);
  uint64_t late_ps = 0;

  for (uint32_t i = 0; i < n; i++) {
    bench_send (together, singles[i].from, singles[i].to, 100, 0);
    bench_send (alone, singles[i].from, singles[i].to, 100, i * APART_PS);
  }
  bench_run (together);
  bench_run (alone);
  for (uint32_t i = 0; i < n; i++)
    late_ps += (uint64_t) (together->sent_ps[i] - (alone->sent_ps[i] - i * APART_PS));
  g_test_message ("%s: %u packets and acknowledgements waited for %" G_GUINT64_FORMAT " ps", spec,
                  n, late_ps);
  g_assert_cmpuint (late_ps, >, n * UINT64_C (10000));
  g_assert_cmpuint (buffered_ps (together->network->counters), ==, late_ps);
  g_assert_cmpuint (buffered_ps (alone->network->counters), ==, 0);
}

static void
test_fabric_conserves_waits (void)
{
  static const char *const usual[] = { "hca.contexts=0", NULL };
  static const char *const smallest[] = { "hca.contexts=0",      "switch.vls=1",
                                          "switch.buffer=2112B", "hca.buffer=2112B",
                                          "switch.reads=1",      NULL };
  static const char *const specs[] = { "fattree:4x4:2", "fattree:18x18", "fattree3:8" };

  for (size_t spec = 0; spec < G_N_ELEMENTS (specs); spec++) {
    check_fabric (specs[spec], usual, 1 + spec);
    check_fabric (specs[spec], smallest, 101 + spec);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/buffers/by-hand", test_three_packets_by_hand);
  g_test_add_func ("/sim/buffers/reception", test_reception_by_hand);
  g_test_add_func ("/sim/buffers/torus", test_torus_conserves_waits);
  g_test_add_func ("/sim/buffers/fabric", test_fabric_conserves_waits);
  return g_test_run ();
}
