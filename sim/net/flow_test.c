/* flow_test.c - the flow network against times worked out by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * SimGrid has one engine per process, so each test that makes a flow network
 * does so in a child process of its own.
 *
 * The machine of the tests: links of 2 GB/s, 40 ns per hop, 100 ns to inject,
 * 50 ns to receive; a full packet of 512 bytes is 552 on the wire, so 276 ns. */
#include "sim/counters.h"
#include "sim/net/network.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DELIVERED 1024
#define PACKET_PS     INT64_C (276000)
#define HOP_PS        INT64_C (40000)
#define ENDS_PS       INT64_C (150000)
#define SENT          1000 /* added to the cookie of a message whose sent() was called */

/* What happened, in order; the client of the tests. */
typedef struct {
  SimNetwork *network;
  TopoMachine *machine;
  RoutePaths *paths;
  TopoMapping *mapping;
  int64_t at_ps[MAX_DELIVERED];
  uint64_t cookie[MAX_DELIVERED];
  bool is_timer[MAX_DELIVERED];
  uint32_t n;
  uint32_t n_relays; /* messages still to be sent on by their receiver */
} Log;

static void
log_add (Log *log, uint64_t cookie, bool is_timer, int64_t now_ps)
{
  g_assert_cmpuint (log->n, <, MAX_DELIVERED);
  g_assert_true (log->n == 0 || log->at_ps[log->n - 1] <= now_ps);
  log->at_ps[log->n] = now_ps;
  log->cookie[log->n] = cookie;
  log->is_timer[log->n++] = is_timer;
}

static void
on_delivered (void *client, const SimMessage *message, int64_t now_ps)
{
  Log *log = client;
  SimMessage next = *message;

  log_add (log, message->cookie, false, now_ps);
  if (log->n_relays == 0)
    return;
  log->n_relays--;
  next.source_rank = message->destination_rank;
  next.destination_rank = (message->destination_rank + 1) % log->mapping->n_ranks;
  sim_network_send (log->network, &next, now_ps);
}

static void
on_timer (void *client, uint32_t rank, uint64_t cookie, int64_t now_ps)
{
  (void) rank;
  log_add (client, cookie, true, now_ps);
}

static void
on_sent (void *client, const SimMessage *message, int64_t now_ps)
{
  log_add (client, message->cookie + SENT, false, now_ps);
}

static const SimClient client = { on_delivered, on_timer, on_sent };

static TopoMachine *
test_machine (const char *spec)
{
  GError *error = NULL;
  TopoMachine *machine = topo_machine_new (spec, &error);

  g_assert_no_error (error);
  machine->parameters.link.bandwidth_Bps = 2000000000;
  machine->parameters.link.overhead = 0;
  machine->parameters.link.hop_latency_ps = HOP_PS;
  machine->parameters.messaging.injection_latency_ps = 100000;
  machine->parameters.messaging.reception_latency_ps = 50000;
  return machine;
}

/* With `n_ranks` in the default order, on log->machine. */
static void
log_connect (Log *log, uint32_t n_ranks)
{
  GError *error = NULL;

  log->mapping = topo_mapping_new (NULL, log->machine, n_ranks, &error);
  g_assert_no_error (error);
  log->paths = route_paths_new (log->machine, &error);
  g_assert_no_error (error);
  log->network = sim_flow_new (log->machine, log->paths, log->mapping, ROUTE_POLICY_DEFAULT,
                               &client, log, &error);
  g_assert_no_error (error);
}

static void
log_init (Log *log, const char *spec)
{
  memset (log, 0, sizeof *log);
  log->machine = test_machine (spec);
  log_connect (log, topo_shape_nodes (&log->machine->shape));
}

/* QDR: 4 GB/s, of a full packet 2,048 bytes in 2,082 (header 26, framing 8).
 * The bus takes 3.25 GB/s of payload, so 630.2 ns for a full packet.  The last
 * packet is on the link and on the other bus when the first bus is done. */
#define FABRIC_SEND_PS    INT64_C (300000)
#define FABRIC_RECEIVE_PS INT64_C (250000)
#define FABRIC_ENDS_PS    (FABRIC_SEND_PS + FABRIC_RECEIVE_PS)
#define FABRIC_READ_PS    INT64_C (400000)
#define BUS_PACKET_PS     (2048 * 1e12 / 3.25e9)
#define LAST_PACKET_PS    (INT64_C (2082 * 250) + INT64_C (630154))
#define GAP_PS            INT64_C (100000)

/* Whatever the defaults are. */
static void
set_adapter (TopoMachine *machine)
{
  machine->parameters.hca.send_latency_ps = FABRIC_SEND_PS;
  machine->parameters.hca.receive_latency_ps = FABRIC_RECEIVE_PS;
  machine->parameters.hca.read_latency_ps = FABRIC_READ_PS;
  machine->parameters.hca.message_gap_ps = GAP_PS;
  machine->parameters.hca.inline_bytes = 128;
  machine->parameters.hca.pcie_bandwidth_Bps = 3250000000;
}

static void
fabric_init (Log *log, const char *spec)
{
  memset (log, 0, sizeof *log);
  log->machine = topo_machine_new (spec, NULL);
  g_assert_nonnull (log->machine);
  set_adapter (log->machine);
  log_connect (log, topo_shape_nodes (&log->machine->shape));
}

static void
log_run (Log *log)
{
  GError *error = NULL;

  g_assert_true (sim_network_run (log->network, &error));
  g_assert_no_error (error);
}

static void
log_clear (Log *log)
{
  sim_network_free (log->network);
  topo_mapping_free (log->mapping);
  route_paths_free (log->paths);
  topo_machine_free (log->machine);
}

static void
send_data (Log *log, uint32_t from, uint32_t to, uint64_t packets, uint64_t cookie)
{
  sim_network_send (log->network,
                    &(SimMessage){ .cookie = cookie,
                                   .bytes = packets * 512,
                                   .source_rank = from,
                                   .destination_rank = to,
                                   .kind = SIM_MESSAGE_DATA },
                    0);
}

/* To a picosecond: SimGrid's clock is a double. */
static void
assert_time (const Log *log, uint32_t entry, int64_t expected_ps)
{
  g_assert_cmpuint (entry, <, log->n);
  g_assert_cmpint (llabs (log->at_ps[entry] - expected_ps), <=, 1);
}

/* To a thousandth, where latencies differ by what is sent meanwhile. */
static void
assert_near (int64_t at_ps, int64_t expected_ps)
{
  g_assert_cmpint (llabs (at_ps - expected_ps), <=, expected_ps / 1000);
}

static bool
in_child (void)
{
  if (g_test_subprocess ())
    return true;
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed ();
  return false;
}

static void
test_one_message_alone (void)
{
  Log log;

  if (!in_child ())
    return;
  log_init (&log, "torus:8x4");
  send_data (&log, 0, 2 * 4 + 1, 100, 7); /* 2 hops along A, 1 along B */
  log_run (&log);
  g_assert_cmpuint (log.n, ==, 1);
  g_assert_cmpuint (log.cookie[0], ==, 7);
  assert_time (&log, 0, ENDS_PS + 3 * HOP_PS + 100 * PACKET_PS);
  log_clear (&log);
}

static void
test_sharing_one_link_halves_it (void)
{
  Log log;

  if (!in_child ())
    return;
  log_init (&log, "torus:8");
  send_data (&log, 0, 2, 100, 0); /* both over the link 1 -> 2 */
  send_data (&log, 1, 2, 100, 1);
  log_run (&log);
  /* The shorter way starts a hop earlier: a hop's worth of bytes is sent
   * alone at either end, the rest at half speed. */
  g_assert_cmpuint (log.cookie[0], ==, 1);
  assert_time (&log, 0, ENDS_PS + HOP_PS + 200 * PACKET_PS - HOP_PS);
  assert_time (&log, 1, ENDS_PS + HOP_PS + 200 * PACKET_PS);
  log_clear (&log);
}

/* Max-min fairness does not ask how far a flow comes: 1 hop and 3 hops. */
static void
test_distance_does_not_weigh (void)
{
  Log log;

  if (!in_child ())
    return;
  log_init (&log, "torus:8");
  send_data (&log, 0, 3, 1000, 0);
  send_data (&log, 2, 3, 1000, 1);
  log_run (&log);
  g_assert_cmpint (log.at_ps[1] - log.at_ps[0], <, 3 * HOP_PS);
  log_clear (&log);
}

static void
test_disjoint_paths_do_not_share (void)
{
  Log log;

  if (!in_child ())
    return;
  log_init (&log, "torus:8");
  send_data (&log, 0, 1, 100, 0);
  send_data (&log, 1, 0, 100, 1); /* the other direction of the same cable */
  send_data (&log, 4, 6, 100, 2);
  log_run (&log);
  assert_time (&log, 0, ENDS_PS + HOP_PS + 100 * PACKET_PS);
  assert_time (&log, 1, ENDS_PS + HOP_PS + 100 * PACKET_PS);
  assert_time (&log, 2, ENDS_PS + 2 * HOP_PS + 100 * PACKET_PS);
  log_clear (&log);
}

/* A bottleneck of three leaves the rest of a link to the fourth: 0 -> 3 and
 * two others share link 2 -> 3 in thirds, so 0 -> 1 gets two thirds. */
static void
test_unused_share_goes_to_others (void)
{
  Log log;

  if (!in_child ())
    return;
  log_init (&log, "torus:16");
  log.machine->parameters.link.hop_latency_ps = 0;
  send_data (&log, 0, 3, 200, 0);
  send_data (&log, 2, 3, 200, 1);
  send_data (&log, 2, 4, 200, 2);
  send_data (&log, 0, 1, 200, 3);
  log_run (&log);
  g_assert_cmpuint (log.cookie[0], ==, 3);
  assert_time (&log, 0, ENDS_PS + 300 * PACKET_PS);
  assert_time (&log, 1, ENDS_PS + 600 * PACKET_PS);
  assert_time (&log, 3, ENDS_PS + 600 * PACKET_PS);
  log_clear (&log);
}

static void
test_symmetric_ring (void)
{
  Log log;

  if (!in_child ())
    return;
  log_init (&log, "torus:8");
  for (uint32_t node = 0; node < 8; node++)
    send_data (&log, node, (node + 3) % 8, 100, node);
  log_run (&log);
  g_assert_cmpuint (log.n, ==, 8);
  for (uint32_t i = 0; i < 8; i++)
    assert_time (&log, i, ENDS_PS + 3 * HOP_PS + 300 * PACKET_PS);
  log_clear (&log);
}

static void
test_kinds_on_the_wire (void)
{
  static const struct {
    SimMessageKind kind;
    uint64_t bytes, descriptors;
    int64_t wire_bytes;
  } cases[] = {
    { SIM_MESSAGE_EAGER, 0, 0, 40 + 32 },    /* the envelope fills a chunk */
    { SIM_MESSAGE_EAGER, 496, 0, 552 },      /* one packet */
    { SIM_MESSAGE_EAGER, 497, 0, 72 + 552 }, /* envelope, then data */
    { SIM_MESSAGE_EAGER, 1025, 0, 72 + 2 * 552 + 72 },
    { SIM_MESSAGE_CONTROL, 0, 0, 72 },
    { SIM_MESSAGE_REMOTE_GET, 0, 1, 40 + 64 },
    { SIM_MESSAGE_REMOTE_GET, 0, 2, 40 + 128 },
    { SIM_MESSAGE_DATA, 0, 0, 40 },
    { SIM_MESSAGE_DATA, 513, 0, 552 + 72 },
    { SIM_MESSAGE_DIRECT, 100, 0, 40 + 128 },
  };
  Log log;

  if (!in_child ())
    return;
  log_init (&log, "torus:64");
  for (uint32_t i = 0; i < G_N_ELEMENTS (cases); i++)
    sim_network_send (log.network,
                      &(SimMessage){ .cookie = i,
                                     .bytes = cases[i].bytes,
                                     .source_rank = 2 * i,
                                     .destination_rank = 2 * i + 1,
                                     .kind = (uint8_t) cases[i].kind,
                                     .descriptors = (uint8_t) cases[i].descriptors },
                      0);
  log_run (&log);
  g_assert_cmpuint (log.n, ==, G_N_ELEMENTS (cases));
  for (uint32_t i = 0; i < log.n; i++)
    assert_time (&log, i, ENDS_PS + HOP_PS + 500 * cases[log.cookie[i]].wire_bytes);
  log_clear (&log);
}

/* Large transfers to the E neighbour use both cables, so two of them in one
 * direction take as long as one over one cable would. */
static void
test_e_neighbour_has_two_cables (void)
{
  Log log;

  if (!in_child ())
    return;
  log_init (&log, "bgq:2x2x2x2x2");
  send_data (&log, 0, 1, 100, 0);
  log_run (&log);
  assert_time (&log, 0, ENDS_PS + HOP_PS + 50 * PACKET_PS);
  log_clear (&log);
}

static void
test_bytes_follow_the_deterministic_path (void)
{
  uint64_t sum = 0;
  Log log;

  if (!in_child ())
    return;
  log_init (&log, "torus:4x4");
  send_data (&log, 0, 5, 100, 0); /* A, then B: equal dimensions keep their order */
  send_data (&log, 0, 1, 10, 0);
  log_run (&log);
  for (uint32_t link = 0; link < 16 * 4; link++)
    sum += log.network->counters->link[link].payload_bytes;
  g_assert_cmpuint (sum, ==, 512 * (2 * 100 + 10));
  g_assert_cmpuint (log.network->counters->link[0 * 4 + 1].payload_bytes, ==, 51200); /* A+ */
  g_assert_cmpuint (log.network->counters->link[0 * 4 + 3].payload_bytes, ==, 5120);  /* B+ */
  g_assert_cmpuint (log.network->counters->link[4 * 4 + 3].payload_bytes, ==, 51200);
  g_assert_cmpuint (log.network->counters->messages, ==, 2);
  log_clear (&log);
}

static void
test_timers_fire_exactly_and_in_order (void)
{
  static const int64_t at_ps[] = { 5000000000001, 1, 7, 7, 0, 999999999999 };
  static const uint64_t order[] = { 4, 1, 2, 3, 5, 0 };
  Log log;

  if (!in_child ())
    return;
  log_init (&log, "torus:4");
  for (uint32_t i = 0; i < G_N_ELEMENTS (at_ps); i++)
    sim_network_timer (log.network, 0, i, at_ps[i]);
  log_run (&log);
  g_assert_cmpuint (log.n, ==, G_N_ELEMENTS (order));
  for (uint32_t i = 0; i < log.n; i++) {
    g_assert_true (log.is_timer[i]);
    g_assert_cmpuint (log.cookie[i], ==, order[i]);
    g_assert_cmpint (log.at_ps[i], ==, at_ps[order[i]]);
  }
  log_clear (&log);
}

/* A timer set for the middle of a transfer does not wait for its end. */
static void
test_timers_and_flows_interleave (void)
{
  static const uint64_t order[] = { 1, 0, 2 };
  Log log;

  if (!in_child ())
    return;
  log_init (&log, "torus:4");
  send_data (&log, 0, 1, 100, 0);
  sim_network_timer (log.network, 0, 1, 10 * PACKET_PS);
  sim_network_timer (log.network, 0, 2, 1000 * PACKET_PS);
  log_run (&log);
  g_assert_cmpuint (log.n, ==, 3);
  for (uint32_t i = 0; i < 3; i++)
    g_assert_cmpuint (log.cookie[i], ==, order[i]);
  log_clear (&log);
}

/* 5,832 nodes: a table of routes between all pairs would take more than 5 GB. */
static void
test_many_nodes (void)
{
  Log log;

  if (!in_child ())
    return;
  log_init (&log, "torus:18x18x18");
  for (uint32_t i = 0; i < 324; i++)
    send_data (&log, 18 * i, 18 * i + 9, 100, i); /* each along a line of its own */
  log_run (&log);
  g_assert_cmpuint (log.n, ==, 324);
  for (uint32_t i = 0; i < log.n; i++)
    assert_time (&log, i, ENDS_PS + 9 * HOP_PS + 100 * PACKET_PS);
  log_clear (&log);
}

/* Errors do not add up: 500 messages one after another, each sent when the
 * one before it has come. */
static void
test_a_long_chain_keeps_time (void)
{
  Log log;

  if (!in_child ())
    return;
  log_init (&log, "torus:8");
  log.n_relays = 499;
  send_data (&log, 0, 1, 1, 0);
  log_run (&log);
  g_assert_cmpuint (log.n, ==, 500);
  g_assert_cmpint (llabs (log.at_ps[499] - 500 * (ENDS_PS + HOP_PS + PACKET_PS)), <=, 500);
  log_clear (&log);
}

static void
test_one_per_process (void)
{
  GError *error = NULL;
  Log log;

  if (!in_child ())
    return;
  log_init (&log, "torus:4");
  g_assert_null (sim_flow_new (log.machine, log.paths, log.mapping, ROUTE_POLICY_DEFAULT, &client,
                               &log, &error));
  g_assert_error (error, SIM_ERROR, SIM_ERROR_NETWORK);
  g_error_free (error);
  log_clear (&log);
}

/* --- Fabrics --- */

/* Cables of 10 ns, and a switch of 100 ns between every two. */
static int64_t
way_ps (uint32_t n_links)
{
  return 10000 * n_links + 100000 * (n_links - 1);
}

static void
send_fabric (Log *log, uint32_t from, uint32_t to, SimMessageKind kind, uint64_t bytes,
             uint64_t cookie, bool acknowledge)
{
  sim_network_send (log->network,
                    &(SimMessage){ .cookie = cookie,
                                   .bytes = bytes,
                                   .source_rank = from,
                                   .destination_rank = to,
                                   .acknowledge = acknowledge,
                                   .kind = (uint8_t) kind },
                    0);
}

/* Under one leaf: 2 links; to the other leaf: 4.  The bus is the bottleneck. */
static void
test_fabric_message_alone (void)
{
  Log log;

  if (!in_child ())
    return;
  fabric_init (&log, "fattree:2x2:1");
  send_fabric (&log, 0, 3, SIM_MESSAGE_SEND, 100 * 2048, 1, false);
  log_run (&log);
  g_assert_cmpuint (log.n, ==, 1);
  assert_time (&log, 0,
               FABRIC_ENDS_PS + FABRIC_READ_PS + way_ps (4) + LAST_PACKET_PS +
                   (int64_t) (100 * BUS_PACKET_PS));
  g_assert_cmpuint (log.network->counters->messages, ==, 1);
  log_clear (&log);
}

/* Up to 128 bytes come with the work request; a write says where it goes.  A
 * link takes 250 ps per byte, a bus 307.7 ps per byte of payload, one after the other. */
static void
test_fabric_short_messages (void)
{
  static const struct {
    double wire_bytes, bus_bytes;
    int64_t read_ps;
  } expected[] = { { 128 + 34, 128, 0 }, { 129 + 34, 2 * 129, FABRIC_READ_PS }, { 16 + 34, 0, 0 } };
  Log log;

  if (!in_child ())
    return;
  fabric_init (&log, "fattree:3x2:1");
  send_fabric (&log, 0, 1, SIM_MESSAGE_SEND, 128, 0, false);
  send_fabric (&log, 2, 3, SIM_MESSAGE_SEND, 129, 1, false);
  send_fabric (&log, 4, 5, SIM_MESSAGE_WRITE, 0, 2, false);
  log_run (&log);
  g_assert_cmpuint (log.n, ==, 3);
  for (uint32_t at = 0; at < 3; at++) {
    uint64_t which = log.cookie[at];

    assert_time (
        &log, at,
        FABRIC_ENDS_PS + way_ps (2) + expected[which].read_ps +
            (int64_t) (expected[which].wire_bytes * 250 + expected[which].bus_bytes / 3.25e-3));
  }
  log_clear (&log);
}

/* Three to one share the bus of its adapter: three times as long.  One of them
 * comes from the same leaf, so that it starts earlier and is done earlier. */
static void
test_fabric_incast (void)
{
  Log log;

  if (!in_child ())
    return;
  fabric_init (&log, "fattree:2x3:1");
  for (uint32_t from = 3; from < 6; from++)
    send_fabric (&log, from, 0, SIM_MESSAGE_WRITE, 1000 * 2048, from, false);
  log_run (&log);
  g_assert_cmpuint (log.n, ==, 3);
  assert_near (log.at_ps[2], FABRIC_ENDS_PS + FABRIC_READ_PS + way_ps (4) + LAST_PACKET_PS +
                                 (int64_t) (3000 * BUS_PACKET_PS));
  log_clear (&log);
}

/* Both directions of an adapter at once: as long as one. */
static void
test_fabric_is_full_duplex (void)
{
  Log log;

  if (!in_child ())
    return;
  fabric_init (&log, "fattree:1x2:1");
  send_fabric (&log, 0, 1, SIM_MESSAGE_SEND, 1000 * 2048, 0, false);
  send_fabric (&log, 1, 0, SIM_MESSAGE_SEND, 1000 * 2048, 1, false);
  log_run (&log);
  for (uint32_t at = 0; at < 2; at++)
    assert_time (&log, at,
                 FABRIC_ENDS_PS + FABRIC_READ_PS + way_ps (2) + LAST_PACKET_PS +
                     (int64_t) (1000 * BUS_PACKET_PS));
  log_clear (&log);
}

/* The sender hears of the arrival after the way back and its own adapter. */
static void
test_fabric_acknowledgement (void)
{
  Log log;

  if (!in_child ())
    return;
  fabric_init (&log, "fattree:2x2:1");
  send_fabric (&log, 0, 2, SIM_MESSAGE_WRITE, 4096, 5, true);
  log_run (&log);
  g_assert_cmpuint (log.n, ==, 2);
  g_assert_cmpuint (log.cookie[0], ==, 5);
  g_assert_cmpuint (log.cookie[1], ==, 5 + SENT);
  g_assert_cmpint (log.at_ps[1] - log.at_ps[0], ==, way_ps (4));
  log_clear (&log);
}

/* ... and the way has the error correction of its links' speed. */
static void
test_fabric_error_correction (void)
{
  Log log;

  if (!in_child ())
    return;
  fabric_init (&log, "fattree:2x2:1,speed=HDR");
  log.machine->parameters.switches.latency_ps = 100000;
  log.machine->parameters.ib.fec_hdr_latency_ps = 33000;
  log.machine->parameters.ib.fec_ndr_latency_ps = 99000;
  send_fabric (&log, 0, 2, SIM_MESSAGE_WRITE, 4096, 5, true);
  log_run (&log);
  g_assert_cmpint (log.at_ps[1] - log.at_ps[0], ==, way_ps (4) + 4 * 33000);
  log_clear (&log);
}

/* Empty messages of one adapter leave a gap apart. */
static void
test_fabric_message_gap (void)
{
  Log log;

  if (!in_child ())
    return;
  fabric_init (&log, "fattree:1x4:1");
  for (uint32_t to = 1; to < 4; to++)
    send_fabric (&log, 0, to, SIM_MESSAGE_SEND, 0, to, false);
  log_run (&log);
  g_assert_cmpuint (log.n, ==, 3);
  for (uint32_t at = 1; at < 3; at++)
    g_assert_cmpint (llabs (log.at_ps[at] - log.at_ps[at - 1] - GAP_PS), <=, 2);
  log_clear (&log);
}

/* Ranks 0 and 1 on node a, 2 and 3 on b.  Two adapters in each node: the pairs
 * 0-2 and 1-2 use different ones and do not share; both ports of one adapter
 * would share its bus, but not their cables. */
static void
rails_take (uint32_t ports_of_adapter, double packets_ps)
{
  static const char *const listing[] = {
    "Switch 4 \"S\" # \"s\"\n[1] \"A1\"[1] # 4xQDR\n[2] \"A2\"[1] # 4xQDR\n"
    "[3] \"B1\"[1] # 4xQDR\n[4] \"B2\"[1] # 4xQDR\n\n"
    "Ca 1 \"A1\" # \"a HCA-1\"\n[1] \"S\"[1] # 4xQDR\n\n"
    "Ca 1 \"A2\" # \"a HCA-2\"\n[1] \"S\"[2] # 4xQDR\n\n"
    "Ca 1 \"B1\" # \"b HCA-1\"\n[1] \"S\"[3] # 4xQDR\n\n"
    "Ca 1 \"B2\" # \"b HCA-2\"\n[1] \"S\"[4] # 4xQDR\n\n",
    "Switch 4 \"S\" # \"s\"\n[1] \"A\"[1] # 4xQDR\n[2] \"A\"[2] # 4xQDR\n"
    "[3] \"B\"[1] # 4xQDR\n[4] \"B\"[2] # 4xQDR\n\n"
    "Ca 2 \"A\" # \"a HCA-1\"\n[1] \"S\"[1] # 4xQDR\n[2] \"S\"[2] # 4xQDR\n\n"
    "Ca 2 \"B\" # \"b HCA-1\"\n[1] \"S\"[3] # 4xQDR\n[2] \"S\"[4] # 4xQDR\n\n",
  };
  g_autofree char *path = NULL;
  g_autofree char *spec = NULL;
  int file = g_file_open_tmp ("rails-XXXXXX", &path, NULL);
  Log log;

  g_assert_true (g_file_set_contents (path, listing[ports_of_adapter - 1], -1, NULL));
  spec = g_strconcat ("fabric:", path, NULL);
  memset (&log, 0, sizeof log);
  log.machine = topo_machine_new (spec, NULL);
  g_assert_nonnull (log.machine);
  set_adapter (log.machine);
  log.machine->ranks_per_node = 2;
  g_close (file, NULL);
  g_unlink (path);
  log_connect (&log, 4);
  send_fabric (&log, 0, 2, SIM_MESSAGE_SEND, 1000 * 2048, 0, false);
  send_fabric (&log, 1, 2, SIM_MESSAGE_SEND, 1000 * 2048, 1, false);
  log_run (&log);
  g_assert_cmpuint (log.n, ==, 2);
  for (uint32_t at = 0; at < 2; at++)
    assert_near (log.at_ps[at], FABRIC_ENDS_PS + FABRIC_READ_PS + way_ps (2) + LAST_PACKET_PS +
                                    (int64_t) (1000 * packets_ps));
  for (uint32_t port = 0; port < 4; port++) /* of the switch: from b's rails nothing comes */
    g_assert_cmpuint (log.network->counters->link[port].payload_bytes, ==,
                      port < 2 ? 0 : 1000 * 2048);
  log_clear (&log);
}

static void
test_fabric_two_adapters (void)
{
  if (in_child ())
    rails_take (1, BUS_PACKET_PS);
}

static void
test_fabric_two_ports (void)
{
  if (in_child ())
    rails_take (2, 2 * BUS_PACKET_PS);
}

static void
assert_refused (const char *spec, RoutePolicy policy, const char *message_part)
{
  GError *error = NULL;
  TopoMachine *machine = test_machine (spec);
  TopoMapping *mapping =
      topo_mapping_new (NULL, machine, topo_shape_nodes (&machine->shape), &error);
  g_autoptr (RoutePaths) paths = NULL;

  g_assert_no_error (error);
  paths = route_paths_new (machine, &error);
  g_assert_no_error (error);
  g_assert_null (sim_flow_new (machine, paths, mapping, policy, &client, NULL, &error));
  g_assert_error (error, SIM_ERROR, SIM_ERROR_NETWORK);
  g_assert_nonnull (strstr (error->message, message_part));
  g_error_free (error);
  topo_mapping_free (mapping);
  topo_machine_free (machine);
}

static void
test_refuses_what_it_cannot_do (void)
{
  assert_refused ("torus:4x4", ROUTE_POLICY_ZONE1, "deterministic");
}

static void
test_refused_without_simgrid (void)
{
  assert_refused ("torus:4", ROUTE_POLICY_DEFAULT, "without SimGrid");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#ifndef HAVE_SIMGRID
  g_test_add_func ("/sim/flow/refused-without-simgrid", test_refused_without_simgrid);
  return g_test_run ();
#endif
  (void) test_refused_without_simgrid;
  g_test_add_func ("/sim/flow/one-message-alone", test_one_message_alone);
  g_test_add_func ("/sim/flow/sharing-one-link-halves-it", test_sharing_one_link_halves_it);
  g_test_add_func ("/sim/flow/distance-does-not-weigh", test_distance_does_not_weigh);
  g_test_add_func ("/sim/flow/disjoint-paths-do-not-share", test_disjoint_paths_do_not_share);
  g_test_add_func ("/sim/flow/unused-share-goes-to-others", test_unused_share_goes_to_others);
  g_test_add_func ("/sim/flow/symmetric-ring", test_symmetric_ring);
  g_test_add_func ("/sim/flow/kinds-on-the-wire", test_kinds_on_the_wire);
  g_test_add_func ("/sim/flow/e-neighbour-has-two-cables", test_e_neighbour_has_two_cables);
  g_test_add_func ("/sim/flow/bytes-follow-the-deterministic-path",
                   test_bytes_follow_the_deterministic_path);
  g_test_add_func ("/sim/flow/timers-fire-exactly-and-in-order",
                   test_timers_fire_exactly_and_in_order);
  g_test_add_func ("/sim/flow/timers-and-flows-interleave", test_timers_and_flows_interleave);
  g_test_add_func ("/sim/flow/many-nodes", test_many_nodes);
  g_test_add_func ("/sim/flow/a-long-chain-keeps-time", test_a_long_chain_keeps_time);
  g_test_add_func ("/sim/flow/fabric-message-alone", test_fabric_message_alone);
  g_test_add_func ("/sim/flow/fabric-short-messages", test_fabric_short_messages);
  g_test_add_func ("/sim/flow/fabric-incast", test_fabric_incast);
  g_test_add_func ("/sim/flow/fabric-full-duplex", test_fabric_is_full_duplex);
  g_test_add_func ("/sim/flow/fabric-acknowledgement", test_fabric_acknowledgement);
  g_test_add_func ("/sim/flow/fabric-error-correction", test_fabric_error_correction);
  g_test_add_func ("/sim/flow/fabric-message-gap", test_fabric_message_gap);
  g_test_add_func ("/sim/flow/fabric-two-adapters", test_fabric_two_adapters);
  g_test_add_func ("/sim/flow/fabric-two-ports", test_fabric_two_ports);
  g_test_add_func ("/sim/flow/one-per-process", test_one_per_process);
  g_test_add_func ("/sim/flow/refuses-what-it-cannot-do", test_refuses_what_it_cannot_do);
  return g_test_run ();
}
