/* replay_sharp_test.c - collectives that switches reduce, against times that are worked out by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A packet of 8 bytes takes 100 B on a link of 12.5 GB/s, EDR: 8 ns.  Posting it costs 100 ns, the
 * adapters 300 and 400, receiving 200, a cable 10, a switch 100 and aggregating 50 more:
 *
 *   one switch of four nodes    up    10 + 4 * 8 + (100 + 50)                 = 192
 *                               down  10 + 8                                  =  18
 *                               ends                                            1000, in all 1210
 *   two leaves of two, a spine  up    2 * 10 + (2 + 2) * 8 + 2 * (100 + 50)   = 352
 *                               down  2 * 10 + 8 + 100                        = 128
 *                               ends                                            1000, in all 1480 */
#include "sim/replay/replay_testing.h"

#include "sim/collective/collective.h"

#include <string.h>

#define ONE_SWITCH "fattree:1x4:1,speed=EDR"
#define TWO_LEAVES "fattree:2x2:1,speed=EDR"
#define ONE_NS     1210
#define TWO_NS     1480

/* Packets of 92 B take 7.36 ns, and four up and one down are on the way. */
#define ONE_BARRIER_NS (ONE_NS - 5 * 0.64)
#define TWO_BARRIER_NS (TWO_NS - 5 * 0.64)

static Fixture
sharp_new (const char *spec, uint32_t n_ranks, uint32_t per_node)
{
  Fixture fixture = fixture_new_spec (spec, n_ranks, per_node);
  TopoParameters *p = &fixture.machine->parameters;

  p->mpi.library = TOPO_LIBRARY_OMPI41;
  p->mpi.collectives = TOPO_COLLECTIVES_OMPI41;
  p->sharp.enabled = 1;
  p->ib.header_bytes = 84;
  p->ib.framing_bytes = 8;
  p->ib.cable_latency_ps = 10 * NS;
  p->ib.fec_edr_latency_ps = 0;
  p->switches.latency_ps = 100 * NS;
  p->sharp.aggregation_ps = 50 * NS;
  p->hca.send_latency_ps = 300 * NS;
  p->hca.receive_latency_ps = 400 * NS;
  p->hca.read_latency_ps = 5000 * NS;
  p->hca.inline_bytes = 1000;
  p->hca.message_gap_ps = 1;
  p->ucx.post_ps = 100 * NS;
  p->ucx.receive_ps = 200 * NS;
  for (uint32_t slot = 0; slot < per_node; slot++)
    fixture.machine->slot_core[slot] = (uint8_t) slot;
  return fixture;
}

/* --- One rank a node --- */

typedef struct {
  const char *spec, *script;
  double end_ns; /* of each rank */
} Case;

static const Case cases[] = {
  { ONE_SWITCH, "*: barrier", ONE_BARRIER_NS },
  { TWO_LEAVES, "*: barrier", TWO_BARRIER_NS },
  { ONE_SWITCH, "*: bcast 2 8", ONE_NS },
  { TWO_LEAVES, "*: reduce 3 8", TWO_NS },
  /* All wait for the last one, the root of a broadcast too. */
  { TWO_LEAVES, "1: compute 70000 | *: bcast 2 8", 70000 + TWO_NS },
  { ONE_SWITCH, "*: bcast 0 8; bcast 1 8; reduce 1 8", 3 * ONE_NS },
};

static void
test_by_hand (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (Fixture) f = sharp_new (cases[i].spec, 4, 1);

    g_test_message ("%s: %s", cases[i].spec, cases[i].script);
    script_text (f.trace, cases[i].script);
    fixture_run (&f);
    g_assert_no_error (f.error);
    g_assert_cmpuint (f.result->messages, ==, 0);
    g_assert_cmpuint (fake_network_log (f.network)->len, ==, 0);
    for (uint32_t rank = 0; rank < 4; rank++)
      ASSERT_ENDS (&f, rank, cases[i].end_ns);
  }
}

/* The same on the packet network, whose windows release the ranks. */
static void
test_on_the_packet_network (void)
{
  g_auto (Fixture) f = sharp_new (TWO_LEAVES, 4, 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (SimRun) run = NULL;

  script_text (f.trace, "*: bcast 0 8; reduce 1 8");
  run = fixture_simulate (&f, SIM_NETWORK_PACKET, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (run->result.messages, ==, 0);
  for (uint32_t rank = 0; rank < 4; rank++)
    g_assert_cmpint (run->result.ranks[rank].end_ps, ==, 2 * TWO_NS * NS);
}

/* --- Pieces --- */

/* Of 8 bytes each; the post, 100 ns, is the longest part of a gap. */
static void
test_pieces (void)
{
  static const struct {
    uint64_t bytes, transactions;
    int64_t post_ns, inline_bytes;
    double end_ns;
  } pieces[] = {
    { 8, 2, 100, 1000, ONE_NS },
    { 16, 2, 100, 1000, 100 + ONE_NS },
    { 17, 2, 100, 1000, ONE_NS + ONE_NS }, /* a third waits for the first */
    { 32, 2, 100, 1000, ONE_NS + 100 + ONE_NS },
    { 32, 4, 100, 1000, 3 * 100 + ONE_NS },
    { 32, 1, 100, 1000, 4 * ONE_NS },
    /* Without work at the ends a switch takes in the packets of four children: 32 ns. */
    { 32, 4, 0, 1000, 3 * 32 + ONE_NS - 100 },
    /* Data in memory is read first. */
    { 8, 2, 100, 7, 5000 + ONE_NS },
    /* The end of time. */
    { UINT64_MAX, 1, 100, 1000, (double) (INT64_MAX / 4) / NS },
  };

  for (guint i = 0; i < G_N_ELEMENTS (pieces); i++) {
    g_auto (Fixture) f = sharp_new (ONE_SWITCH, 4, 1);
    TopoParameters *p = &f.machine->parameters;
    static const uint32_t nodes[] = { 0, 1, 2, 3 };
    SimSharp sharp;

    p->sharp.payload_bytes = 8;
    p->sharp.transactions = pieces[i].transactions;
    p->ucx.post_ps = pieces[i].post_ns * NS;
    p->hca.inline_bytes = (uint64_t) pieces[i].inline_bytes;
    sharp = sim_sharp_new (f.machine, nodes, 4);
    g_assert_cmpuint (sharp.n_leaders, ==, 4);
    g_test_message ("%u", i);
    g_assert_cmpfloat_with_epsilon ((double) sim_sharp_ps (&sharp, pieces[i].bytes, f.machine) / NS,
                                    pieces[i].end_ns, 1e-6);
  }
}

/* --- Calls that the library's algorithm takes --- */

static void
test_other_calls (void)
{
  static const struct {
    const char *script;
    uint64_t min_leaders, max_bytes;
    bool by_messages;
  } calls[] = {
    { "*: bcast 0 512", 4, 0, false }, /* two transactions of 256 B */
    { "*: bcast 0 513", 4, 0, true },
    { "*: bcast 0 513", 4, 513, false },
    { "*: allreduce 8", 4, 8, false },
    { "*: allreduce 9", 4, 8, true },
    { "*: barrier", 5, 0, true },
    { "*: ibarrier 5; wait 5", 4, 0, true },
    { "*: allgather 8", 4, 0, true },
    { "*: comm_split 0 0 9; barrier comm=9", 4, 0, false },
    { "0-1: comm_split 0 0 9 | 2-3: comm_split 1 0 9 | *: barrier comm=9", 4, 0, true },
    { "0-1: comm_split 0 0 9 | 2-3: comm_split 1 0 9 | *: barrier comm=9", 2, 0, false },
  };

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++) {
    g_auto (Fixture) f = sharp_new (TWO_LEAVES, 4, 1);

    g_test_message ("%s", calls[i].script);
    f.machine->parameters.sharp.min_leaders = calls[i].min_leaders;
    f.machine->parameters.sharp.max_bytes = calls[i].max_bytes;
    script_text (f.trace, calls[i].script);
    fixture_run (&f);
    g_assert_no_error (f.error);
    g_assert_cmpint (f.result->messages > 0, ==, calls[i].by_messages);
  }
}

/* --- Several ranks a node --- */

/* In each node the others send to the leader and get from it, nothing goes between nodes; a root that
 * is no leader sends to or gets from its leader. */
static void
test_levels (void)
{
  static const struct {
    const char *script;
    uint64_t messages;
  } levels[] = {
    { "*: barrier", 2 * 4 * 2 },
    { "*: allreduce 40", 2 * 4 * 2 },
    { "*: reduce 0 40", 4 * 2 },
    { "*: reduce 4 40", 4 * 2 + 1 },
    { "*: bcast 3 40", 4 * 2 },
    { "*: bcast 11 40", 4 * 2 + 1 },
    { "*: barrier; allreduce 8; barrier", 3 * 2 * 4 * 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (levels); i++) {
    g_auto (Fixture) f = sharp_new (TWO_LEAVES, 12, 3);
    double first_ns, last_ns;

    g_test_message ("%s", levels[i].script);
    f.jitter_ps = 300 * NS;
    script_text (f.trace, levels[i].script);
    fixture_run (&f);
    g_assert_no_error (f.error);
    g_assert_cmpuint (f.result->messages, ==, levels[i].messages);
    g_assert_cmpuint (fake_network_log (f.network)->len, ==, 0);
    g_assert_cmpuint (f.result->unmatched_sends + f.result->unmatched_receives, ==, 0);
    first_ns = last_ns = fixture_end_ns (&f, 0);
    for (uint32_t rank = 1; rank < 12; rank++) {
      first_ns = MIN (first_ns, fixture_end_ns (&f, rank));
      last_ns = MAX (last_ns, fixture_end_ns (&f, rank));
    }
    g_assert_cmpfloat (last_ns, >, TWO_BARRIER_NS);
    if (strstr (levels[i].script, "reduce 0") == NULL &&
        strstr (levels[i].script, "reduce 4") == NULL)
      g_assert_cmpfloat (first_ns, >, TWO_BARRIER_NS - 1);
  }
}

/* Leaders that wait in the switches are saved and loaded. */
static void
test_resumed (void)
{
  g_auto (Fixture) f = sharp_new (TWO_LEAVES, 8, 2);

  script_text (f.trace, "3: compute 20000 | *: bcast 2 8; allreduce 700; barrier; reduce 5 40");
  fixture_check_resumed (&f, ROUTE_POLICY_DETERMINISTIC, 1);
}

static void
test_one_never_comes (void)
{
  g_auto (Fixture) f = sharp_new (TWO_LEAVES, 4, 1);

  script_text (f.trace, "0-2: barrier");
  fixture_run (&f);
  g_assert_error (f.error, SIM_ERROR, SIM_ERROR_DEADLOCK);
  g_assert_nonnull (strstr (f.error->message, "for other ranks in barrier"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/replay-sharp/by-hand", test_by_hand);
  g_test_add_func ("/sim/replay-sharp/on-the-packet-network", test_on_the_packet_network);
  g_test_add_func ("/sim/replay-sharp/pieces", test_pieces);
  g_test_add_func ("/sim/replay-sharp/other-calls", test_other_calls);
  g_test_add_func ("/sim/replay-sharp/levels", test_levels);
  g_test_add_func ("/sim/replay-sharp/resumed", test_resumed);
  g_test_add_func ("/sim/replay-sharp/one-never-comes", test_one_never_comes);
  return g_test_run ();
}
