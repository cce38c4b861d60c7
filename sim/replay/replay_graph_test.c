/* replay_graph_test.c - ranks whose operations are a graph, timed by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Times are in nanoseconds; see replay_testing.h for the machine's. */
#include "sim/replay/replay_testing.h"

static Fixture
init (uint32_t n)
{
  Fixture f = fixture_new (n, 1);

  script_set_graph (f.trace);
  return f;
}

typedef struct {
  uint32_t list[4];
  uint32_t n;
} After;

static After
after (uint32_t operation)
{
  return (After){ { operation }, 1 };
}

static const After nothing = { { 0 }, 0 };

static void
add (Trace *trace, uint32_t rank, uint32_t cpu, After ends, After starts, TraceOp op)
{
  op.cpu = cpu;
  op.after = ends.list;
  op.n_after = ends.n;
  op.after_start = starts.list;
  op.n_after_start = starts.n;
  script_add (trace, rank, op);
}

static void
calc (Trace *trace, uint32_t rank, uint32_t cpu, int64_t ns, After ends, After starts)
{
  add (trace, rank, cpu, ends, starts,
       (TraceOp){ .kind = TRACE_OP_COMPUTE, .gap_ps = ns * NS, .name = "compute" });
}

static TraceOp
message (TraceOpKind kind, int32_t peer, uint64_t bytes)
{
  return (TraceOp){ .kind = kind,
                    .comm = TRACE_COMM_WORLD,
                    .peer = peer,
                    .bytes = bytes,
                    .name = kind == TRACE_OP_SEND ? "MPI_Send" : "MPI_Recv" };
}

static const ReplayCase cases[] = {
  /* Two processors work in parallel; one serves one at a time. */
  { .name = "parallel",
    .graph = true,
    .n_ranks = 1,
    .script = "0: compute 1000; compute 2000 cpu=7; compute 500 after=0,1",
    .end_ns = { 2500 },
    .wait_ns = { NOTHING } },
  { .name = "serial",
    .graph = true,
    .n_ranks = 1,
    .script = "0: compute 1000; compute 2000; compute 500 after=0,1",
    .end_ns = { 3500 },
    .wait_ns = { NOTHING } },
  /* When the processor is free at 1000, operation 3 has been ready since 500 and
   * the send since 1000. */
  { .name = "first-ready",
    .graph = true,
    .script = "0: compute 1000; compute 500 cpu=1; send 1 0 10 after=0; compute 100 after=1 |"
              "1: recv 0 0 10",
    .end_ns = { 1000 + 100 + 300, 1400 + 1010 + 700 } },
  /* Two processors end at 500; each lets one of the other operations begin. */
  { .name = "ties",
    .graph = true,
    .script = "0: compute 500 cpu=1; compute 500 cpu=2; send 1 0 10 after=1; compute 4000 after=0 |"
              "1: recv 0 0 10",
    .sent = { SIM_MESSAGE_EAGER, 0, 800 } },
  { .name = "after/end",
    .graph = true,
    .n_ranks = 1,
    .script = "0: compute 1000; compute 1000 after=0; compute 2500 cpu=1 after=1",
    .end_ns = { 4500 } },
  { .name = "after/start",
    .graph = true,
    .n_ranks = 1,
    .script = "0: compute 1000; compute 1000 after=0; compute 2500 cpu=1 start=1",
    .end_ns = { 3500 } },
  { .name = "after/first-start",
    .graph = true,
    .n_ranks = 1,
    .script = "0: compute 1000; compute 1000 after=0; compute 2500 cpu=1 start=0",
    .end_ns = { 2500 } },
  { .name = "after/both",
    .graph = true,
    .n_ranks = 1,
    .script = "0: compute 1000; compute 1000 after=0; compute 2500 cpu=1 after=0 start=1",
    .end_ns = { 3500 } },
  /* A receive begins when it is posted: the computation does not wait for its
   * message, nor it for the computation. */
  { .name = "posted",
    .graph = true,
    .script = "0: send 1 0 500 | 1: recv 0 0 500; compute 1000 start=0",
    .end_ns = { 0, 1800 + 700 },
    .wait_ns = { 0, 800 } },
  /* Request 300-1300, get until 2300, data until 5300; the processor computes
   * until 6000 and takes it out until 6700; acknowledged 7700. */
  { .name = "rendezvous",
    .graph = true,
    .script = "0: send 1 0 2000; compute 100 after=0 | 1: recv 0 0 2000; compute 6000",
    .end_ns = { 7700 + 100, 6700 } },
  /* An operation without a peer costs a call. */
  { .name = "wildcards",
    .graph = true,
    .script = "0: send null 0 9; recv null 0 9; send 1 0 10 after=0,1 | 1: recv any 0 10 cpu=3",
    .end_ns = { 100 + 100 + 300, 500 + 1010 + 700 } },
  { .name = "communicators",
    .graph = true,
    .script = "0: comm_define 9 1 0; send 0 0 10 comm=9 after=0 |"
              "1: comm_define 9 1 0; recv 1 0 10 comm=9 after=0",
    .end_ns = { 0, 300 + 1010 + 700 } },

  { .name = "deadlock",
    .graph = true,
    .script = "0: compute 100; recv 1 0 8; compute 100 after=1",
    .error_code = SIM_ERROR_DEADLOCK,
    .error = "rank 0 waits in operation 1, MPI_Recv from 1 tag 0 and 1 more at rank0:2" },
  { .name = "later",
    .graph = true,
    .script = "0: compute 100 start=1; compute 100 after=0",
    .error_code = SIM_ERROR_TRACE,
    .error = "operation 0 waits for operation 1" },
  { .name = "itself",
    .graph = true,
    .script = "0: compute 100 after=0",
    .error_code = SIM_ERROR_TRACE,
    .error = "operation 0 waits for operation 0" },
  { .name = "calls",
    .graph = true,
    .script = "0: barrier",
    .error_code = SIM_ERROR_TRACE,
    .error = "MPI_Barrier at rank0:1: this call cannot be in a graph" },
  { .name = "peer",
    .graph = true,
    .script = "0: send 2 0 8",
    .error_code = SIM_ERROR_TRACE,
    .error = "rank 2 of a communicator of 2" },
};

/* The message of 1800 is taken out when the processor is free. */
static void
test_receive_waits_for_its_processor (void)
{
  g_auto (Fixture) f = init (2);

  script_text (f.trace, "0: send 1 0 500 | 1: recv 0 0 500; compute 5000");
  fixture_run (&f);
  ASSERT_ENDS (&f, 1, 5700);
  g_assert_cmpuint (f.result->ranks[1].receives, ==, 1);
  g_assert_cmpuint (f.result->ranks[0].sends, ==, 1);
}

/* -- chains -------------------------------------------------------------- */

/* Messages one after the other in one order for all ranks, so that a chain
 * of blocking calls cannot deadlock; as a chain of a graph if that is wanted. */
static void
add_program (Trace *trace, uint32_t n, uint32_t seed, bool graph)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  g_autofree uint32_t *length = g_new0 (uint32_t, n);

  for (uint32_t i = 0; i < 120; i++) {
    uint32_t from = (uint32_t) g_rand_int_range (random, 0, (int32_t) n);
    uint32_t to = (from + (uint32_t) g_rand_int_range (random, 1, (int32_t) n)) % n;
    uint64_t bytes = (uint64_t) g_rand_int_range (random, 0, 3000);
    TraceOp ops[] = {
      { .kind = TRACE_OP_COMPUTE, .gap_ps = g_rand_int_range (random, 0, 4000) * NS },
      message (TRACE_OP_SEND, (int32_t) to, bytes),
      message (TRACE_OP_RECV, (int32_t) from, bytes),
    };

    for (uint32_t k = 0; k < 3; k++) {
      uint32_t rank = k == 2 ? to : from, last = length[rank]++;

      add (trace, rank, i % 3, graph && last > 0 ? after (last - 1) : nothing, nothing, ops[k]);
    }
  }
}

static void
test_chain_is_a_sequence (void)
{
  for (uint32_t seed = 1; seed <= 20; seed++) {
    uint32_t n = 2 + seed % 5;
    Fixture sequence, chain;

    sequence = fixture_new (n, 1 + seed % 2);
    add_program (sequence.trace, n, seed, false);
    fixture_run (&sequence);
    chain = fixture_new (n, 1 + seed % 2);
    script_set_graph (chain.trace);
    add_program (chain.trace, n, seed, true);
    fixture_run (&chain);
    g_assert_no_error (sequence.error);
    g_assert_no_error (chain.error);
    for (uint32_t rank = 0; rank < n; rank++)
      g_assert_cmpmem (&sequence.result->ranks[rank], sizeof (SimRankTimes),
                       &chain.result->ranks[rank], sizeof (SimRankTimes));
    g_assert_cmpuint (sequence.result->message_bytes, ==, chain.result->message_bytes);
    fixture_clear (&sequence);
    fixture_clear (&chain);
  }
}

/* A random graph of computations.  With a processor for each it takes as long
 * as its longest path, which is worked out here as they are added; with one
 * processor as long as all of them together. */
static void
test_random_graphs (void)
{
  enum { N = 300 };

  for (uint32_t seed = 1; seed <= 20; seed++) {
    g_autoptr (GRand) random = g_rand_new_with_seed (seed);
    int64_t begin_ns[N], length_ns[N], longest_ns = 0, sum_ns = 0;
    Fixture wide, narrow;

    wide = init (1);
    narrow = init (1);
    for (uint32_t i = 0; i < N; i++) {
      After ends = nothing, starts = nothing;

      begin_ns[i] = 0;
      length_ns[i] = g_rand_int_range (random, 0, 3) * g_rand_int_range (random, 1, 500);
      for (uint32_t k = 0; i > 0 && k < 4; k++) {
        uint32_t on = (uint32_t) g_rand_int_range (random, 0, (int32_t) i);

        if (k % 2 == 0 && g_rand_boolean (random)) {
          ends.list[ends.n++] = on;
          begin_ns[i] = MAX (begin_ns[i], begin_ns[on] + length_ns[on]);
        } else if (g_rand_boolean (random)) {
          starts.list[starts.n++] = on;
          begin_ns[i] = MAX (begin_ns[i], begin_ns[on]);
        }
      }
      longest_ns = MAX (longest_ns, begin_ns[i] + length_ns[i]);
      sum_ns += length_ns[i];
      calc (wide.trace, 0, i, length_ns[i], ends, starts);
      calc (narrow.trace, 0, 0, length_ns[i], ends, starts);
    }
    fixture_run (&wide);
    fixture_run (&narrow);
    ASSERT_ENDS (&wide, 0, (double) longest_ns);
    ASSERT_ENDS (&narrow, 0, (double) sum_ns);
    g_assert_cmpint (wide.result->ranks[0].wait_ps, ==, 0);
    g_assert_cmpint (wide.result->ranks[0].compute_ps, ==, sum_ns * NS);
    fixture_clear (&wide);
    fixture_clear (&narrow);
  }
}

/* -- another program ------------------------------------------------------ */

/* LogGOPSim's example binary_tree_32.goal: whoever has the byte sends it on to
 * the rank that is 2^k more, for all k with 2^k above its own.  With its
 * presets (L = 2500 ns, o = 1500 ns; the gaps for bytes and messages play no
 * role for single bytes) LogGOPSim itself prints 27500 ns. */
static void
test_loggopsim_binary_tree (void)
{
  enum { N = 32 };
  SimReplayOptions options = { .compute_scale = 1 };
  SimNetwork *network;
  SimReplay *replay;
  g_auto (Fixture) f = init (N);

  f.machine->parameters.mpi.send_overhead_ps = f.machine->parameters.mpi.receive_overhead_ps =
      1500 * NS;
  for (uint32_t rank = 0; rank < N; rank++) {
    uint32_t highest = 1;

    while (2 * highest <= rank)
      highest *= 2;
    if (rank > 0)
      script_recv (f.trace, rank, (int32_t) (rank - highest), 0, 1);
    for (uint32_t bit = rank == 0 ? 1 : 2 * highest; rank + bit < N; bit *= 2)
      add (f.trace, rank, 0, rank > 0 ? after (0) : nothing, nothing,
           message (TRACE_OP_SEND, (int32_t) (rank + bit), 1));
  }
  replay = sim_replay_new (f.trace, f.machine, f.mapping, &options, &f.error);
  network = fake_network_new (f.mapping, 2500 * NS, 0, 0, &sim_replay_client, replay);
  g_assert_true (sim_replay_run (replay, network, &f.error));
  g_assert_cmpint (sim_replay_result (replay)->time_ps, ==, 27500 * NS);
  sim_network_free (network);
  sim_replay_free (replay);
}

/* -- length -------------------------------------------------------------- */

/* Every receive comes before every send, and there are more than are read
 * ahead; those in front never end without those behind. */
static void
test_more_than_is_read_ahead (void)
{
  enum { N = 40000 };
  g_auto (Fixture) f = init (2);

  script_text (f.trace, "0: 40000*recv 1 0 8; 40000*send 1 0 8 cpu=1 |"
                        "1: 40000*recv 0 0 8; 40000*send 0 0 8 cpu=1");
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpuint (f.result->messages, ==, 2 * N);
  g_assert_cmpuint (f.result->unmatched_receives, ==, 0);
  fixture_check_resumed (&f, ROUTE_POLICY_DETERMINISTIC, 2);
}

/* Neither needs more stack the longer it is. */
static void
test_long_chains (void)
{
  enum { N = 200000 };
  g_auto (Fixture) f = init (2);

  for (uint32_t i = 0; i < N; i++)
    calc (f.trace, 0, i % 2, 0, i > 0 ? after (i - 1) : nothing, nothing);
  for (uint32_t i = 0; i < N; i++)
    add (f.trace, 1, 0, nothing, i > 0 ? after (i - 1) : nothing, message (TRACE_OP_RECV, 0, 0));
  for (uint32_t i = 0; i < N; i++)
    script_send (f.trace, 0, 1, 0, 0);
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpuint (f.result->messages, ==, N);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  replay_cases_add ("/sim/replay-graph", cases, G_N_ELEMENTS (cases));
  g_test_add_func ("/sim/replay-graph/processor", test_receive_waits_for_its_processor);
  g_test_add_func ("/sim/replay-graph/chain", test_chain_is_a_sequence);
  g_test_add_func ("/sim/replay-graph/random", test_random_graphs);
  g_test_add_func ("/sim/replay-graph/loggopsim", test_loggopsim_binary_tree);
  g_test_add_func ("/sim/replay-graph/read-ahead", test_more_than_is_read_ahead);
  g_test_add_func ("/sim/replay-graph/long", test_long_chains);
  return g_test_run ();
}
