/* replay_collectives_test.c - collectives in time, posted and blocking, and communicators.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Times are in nanoseconds; see replay_testing.h for the machine's. */
#include "sim/collective/collective.h"
#include "sim/replay/replay_testing.h"

#include <string.h>

/* -- cases timed by hand --------------------------------------------------- */

static const ReplayCase posted_cases[] = {
  /* Posted at 100, sent at 400, arrived at 1400, received after the wait of 5500. */
  { .name = "overlap",
    .script = "*: ibarrier 5; compute 5000; wait 5",
    .end_ns = { 6200, 6200 },
    .wait_ns = { NOTHING, NOTHING },
    .collectives = 2,
    .messages = 2 },
  /* Two rounds among four ranks.  First round received at 5500 + 700; the second one
   * sent 300 later. */
  { .name = "processor",
    .n_ranks = 4,
    .script = "*: ibarrier 5; compute 5000; wait 5",
    .end_ns = { 8200, 8200, 8200, 8200 } },
  /* The call ends at 2500, receives until 3200 and sends until 3500; so the wait
   * begins at 6600 and finds the second message. */
  { .name = "call",
    .n_ranks = 4,
    .script = "*: ibarrier 5; compute 2000; call; compute 3000; wait 5",
    .end_ns = { 7300, 7300, 7300, 7300 },
    .sent = { SIM_MESSAGE_EAGER, 7, 3500 } },
  /* The other thread receives at 1400-2100 and sends at 2400, and has all at 4100. */
  { .name = "async",
    .n_ranks = 4,
    .async = true,
    .script = "*: ibarrier 5; compute 5000; wait 5",
    .end_ns = { 5500, 5500, 5500, 5500 },
    .sent = { SIM_MESSAGE_EAGER, 7, 2400 } },
  /* Rank 1 sends at 5400, which is there at 6400 and taken by rank 0's helper
   * until 7100: rank 0 has waited for that since 500. */
  { .name = "async-wait",
    .async = true,
    .script = "0: ibarrier 5; wait 5 | 1: compute 5000; ibarrier 5; wait 5",
    .end_ns = { 7100 },
    .wait_ns = { 6600 } },
  /* An unknown size counts as nothing, with a warning. */
  { .name = "unknown-size",
    .script = "*: ibcast 0 unknown 5; wait 5",
    .message_bytes = NOTHING,
    .warnings = 1 },
  /* Rank 3 ends at 400 without a wait; its second message still goes. */
  { .name = "done",
    .n_ranks = 4,
    .script = "0-2: ibarrier 5; wait 5 | 3: ibarrier 5",
    .end_ns = { 4100, 4100, 4100, 400 } },
  /* A receive that blocks at 500 does the barrier's first round at 1400 and the
   * second at 3400, long before its own message comes at 9300. */
  { .name = "blocked",
    .n_ranks = 4,
    .script = "0: ibarrier 5; recv 1 0 0; wait 5 |"
              "1: ibarrier 5; wait 5; compute 5000; send 0 0 0 | 2-3: ibarrier 5; wait 5",
    .end_ns = { 9400 + 1000 + 700 + 100, 4100 + 5000 + 300, 4100, 4100 } },
  { .name = "self",
    .n_ranks = 1,
    .network = true,
    .script = "0: iallreduce 8 5; wait 5",
    .end_ns = { 200 } },
  /* A communicator may be freed while its collectives are under way. */
  { .name = "freed",
    .n_ranks = 4,
    .network = true,
    .script = "*: comm_dup 9; iallreduce 300 20 comm=9; comm_free 9;"
              "   comm_dup 9; ialltoall 300 21 comm=9; comm_free 9;"
              "   comm_dup 9; iallgather 300 22 comm=9; comm_free 9; wait 22 20 21",
    .collectives = 12 },
  { .name = "missing",
    .script = "0: iallreduce 8 5; wait 5",
    .error_code = SIM_ERROR_DEADLOCK,
    .error = "rank 0 waits in MPI_Wait for other ranks in allreduce at rank0:2" },
  { .name = "missing-in-hardware",
    .network = true,
    .script = "0: iallreduce 8 5; wait 5",
    .error_code = SIM_ERROR_DEADLOCK,
    .error = "rank 0 waits in MPI_Wait for other ranks in allreduce at rank0:2" },

#define BETWEEN(before, after)                                                       \
  "neighbor_alltoall to=" before "," after " from=" before "," after " counts=64,64" \
  " recv_counts=64,64 "
#define RING_OF_FOUR(then)                                                                      \
  "0: " BETWEEN ("3", "1") then "| 1: " BETWEEN ("0", "2") then "| 2: " BETWEEN ("1", "3") then \
      "| 3: " BETWEEN ("2", "0") then

  /* Sent at 300 and 600, arrived at 1364 and 1664, received until 2064 and 2764. */
  { .name = "neighbors/ring",
    .n_ranks = 4,
    .network = true,
    .script = RING_OF_FOUR (""),
    .end_ns = { 2764, 2764, 2764, 2764 },
    .collectives = 4,
    .message_bytes = 8 * 64,
    .edges = 8 },
  /* All is posted at 700; the wait of 5800 receives both. */
  { .name = "neighbors/posted",
    .n_ranks = 4,
    .network = true,
    .script = RING_OF_FOUR ("request=5; compute 5000; wait 5"),
    .end_ns = { 7200, 7200, 7200, 7200 } },
  /* On both sides is the same other rank; then only oneself. */
  { .name = "neighbors/small",
    .network = true,
    .script = "0: " BETWEEN ("1", "1") "; " BETWEEN (
        "0", "0") "comm=self |"
                  "1: " BETWEEN ("0", "0") "; " BETWEEN ("0", "0") "comm=self",
    .messages = 8 },
  /* Rank 0 sends to both others and receives from none. */
  { .name = "neighbors/uneven",
    .n_ranks = 3,
    .script = "0: neighbor_allgather to=1,2 counts=5,7 |"
              "1: neighbor_allgather from=0 recv_counts=5 |"
              "2: neighbor_allgather from=0 recv_counts=7",
    .end_ns = { 600, 300 + 1005 + 700, 600 + 1007 + 700 } },
  { .name = "neighbors/impossible",
    .script = "0: " BETWEEN ("1", "2"),
    .error_code = SIM_ERROR_TRACE,
    .error = "neighbour 2 in a communicator of 2 ranks" },
};

#define DEFINE_TWICE                                                \
  "comm_define 10 0 1 2 color=1; bcast 0 8 comm=10; comm_free 10; " \
  "comm_define 11 0 1 2 color=1; bcast 0 8 comm=11; comm_free 11"

static const ReplayCase blocking_cases[] = {
  { .name = "hardware/missing",
    .network = true,
    .script = "0: barrier",
    .error_code = SIM_ERROR_DEADLOCK,
    .error = "rank 0 waits in MPI_Barrier for other ranks at rank0:1" },
  { .name = "direct-node",
    .per_node = 2,
    .network = true,
    .script = "*: alltoall 400",
    .end_ns = { 50 + 200 + 40 },
    .carried = NOTHING,
    .messages = 2 },
  /* The same tag on two communicators, received in the other order. */
  { .name = "contexts",
    .script = "0: comm_split 0 0 5; send 1 0 10; send 1 0 999 comm=5 |"
              "1: comm_split 0 0 5; recv any any 999 comm=5; recv any any 10",
    .messages = 2 },
  { .name = "split-collectives",
    .n_ranks = 9,
    .per_node = 3,
    .network = true,
    .script = "0,2,4,6,8: comm_split 0 0 5 | 1,3,5,7: comm_split 1 0 5 |"
              "*: barrier comm=5; bcast 0 100 comm=5; gather 0 100 comm=5; scatter 0 100 comm=5;"
              "   allgather 100 comm=5; alltoall 100 comm=5; reduce 0 100 comm=5;"
              "   allreduce 100 comm=5; comm_free 5",
    .collectives = 9 * 8 },
  /* Rank 0 does not wait for rank 1, which defines the communicator late and under
   * another handle. */
  { .name = "define",
    .script = "0: comm_define 10 1 0 color=1; send 0 0 64 comm=10 |"
              "1: compute 4000; comm_define 11 1 0 color=1; recv 1 0 64 comm=11",
    .end_ns = { 300, 4000 + 700 } },
  /* Rank 0 frees and defines again while rank 2 has not come to the first
   * broadcast: the second one is another instance. */
  { .name = "define-free",
    .n_ranks = 3,
    .network = true,
    .script = "0-1: " DEFINE_TWICE "| 2: compute 90000; " DEFINE_TWICE,
    .end_ns = { 2 * 300 + 200, 0, 90000 + 200 },
    .collectives = 6 },
  { .name = "define-error",
    .script = "0: comm_define 10 1 color=1",
    .error_code = SIM_ERROR_TRACE,
    .error = "rank 0, MPI_Comm_define at rank0:1: rank 0: definition of communicator 10: "
             "the rank itself is not a member" },
  { .name = "self",
    .script = "0: allreduce 8 comm=self; comm_dup 7 comm=self; barrier comm=7",
    .end_ns = { 300 } },
};

/* The root of a long broadcast has no receives open, but the acknowledgement
 * of the first child, of 7400, lets it send to the second one: in the call that
 * ends at 8500. */
static void
test_a_root_makes_progress (void)
{
  g_auto (Fixture) f = fixture_new (4, 1);

  f.machine->parameters.collective.in_network = false;
  script_text (f.trace, "0: ibcast 0 2000 5; compute 8000; call; compute 20000; wait 5 |"
                        "1-3: ibcast 0 2000 5; wait 5");
  fixture_run (&f);
  g_assert_no_error (f.error);
  for (uint32_t i = 0; i < fixture_count (&f, SIM_MESSAGE_CONTROL); i++) {
    const FakeRecord *control = fixture_record (&f, SIM_MESSAGE_CONTROL, i);

    if (control->message.destination_rank == 1)
      g_assert_cmpint (control->sent_ps, ==, 8800 * NS);
  }
}

/* Even and odd ranks, in reverse order: rank 0 of each is 2 or 3.  Two doublings of
 * 300 + 700 for the making, then one message. */
static void
test_split_and_send (void)
{
  g_auto (Fixture) f = fixture_new (4, 1);

  f.machine->parameters.collective.in_network = false;
  script_text (f.trace, "0: comm_split 0 0 10; send 0 0 64 comm=10 |"
                        "1: comm_split 1 -1 11; send 0 0 64 comm=11 |"
                        "2: comm_split 0 -2 12; recv 1 0 64 comm=12 |"
                        "3: comm_split 1 -3 13; recv 1 0 64 comm=13");
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 2000 + 300);
  ASSERT_ENDS (&f, 2, 2300 + 1064 + 700);
  for (uint32_t i = 0; i < 2; i++) {
    SimMessage message = fixture_record (&f, SIM_MESSAGE_EAGER, i)->message;

    g_assert_cmpuint (message.destination_rank, ==, message.source_rank + 2);
  }
  g_assert_cmpuint (f.result->unmatched_sends, ==, 0);
}

/* -- in the network -------------------------------------------------------- */

/* Rank r comes at r * 50,000 and ends after base_ns and, perhaps, the latency of the
 * network. */
static const struct {
  const char *name;
  const char *script;
  TraceOpKind kind;
  bool posted;
  double base_ns[3];
  bool latency[3];
} hardware_cases[] = {
  { "all wait for the last",
    "0: allreduce 8 | 1: compute 50000; allreduce 8 | 2: compute 100000; allreduce 8",
    TRACE_OP_ALLREDUCE,
    false,
    { 100000, 100000, 100000 },
    { true, true, true } },
  { "a broadcast waits for its root, rank 1",
    "0: bcast 1 8 | 1: compute 50000; bcast 1 8 | 2: compute 100000; bcast 1 8",
    TRACE_OP_BCAST,
    false,
    { 50000, 50000 + 300, 100000 },
    { true, false, false } },
  { "the root of a reduction waits, rank 1",
    "0: reduce 1 8 | 1: compute 50000; reduce 1 8 | 2: compute 100000; reduce 1 8",
    TRACE_OP_REDUCE,
    false,
    { 300, 100000, 100300 },
    { false, true, false } },
  { "waits of a posted one",
    "0: iallreduce 8 5; wait 5 | 1: compute 50000; iallreduce 8 5; wait 5 |"
    "2: compute 100000; iallreduce 8 5; wait 5",
    TRACE_OP_ALLREDUCE,
    true,
    { 100100, 100100, 100100 },
    { true, true, true } },
  { "needs no processor: done before any of the waits, as rank 2 has come at 100,100",
    "0: iallreduce 8 5; compute 200000; wait 5 |"
    "1: compute 50000; iallreduce 8 5; compute 200000; wait 5 |"
    "2: compute 100000; iallreduce 8 5; compute 200000; wait 5",
    TRACE_OP_ALLREDUCE,
    true,
    { 200200, 250200, 300200 },
    { false, false, false } },
  { "the root of a posted broadcast, rank 0, hands over and goes on",
    "0: ibcast 0 8 5; wait 5 | 1: compute 50000; ibcast 0 8 5; wait 5 |"
    "2: compute 100000; ibcast 0 8 5; wait 5",
    TRACE_OP_BCAST,
    true,
    { 100 + 300 + 100, 50000 + 200, 100000 + 200 },
    { false, false, false } },
  { "the others of a posted reduction hand over and go on",
    "0: ireduce 0 8 5; wait 5 | 1: compute 50000; ireduce 0 8 5; wait 5 |"
    "2: compute 100000; ireduce 0 8 5; wait 5",
    TRACE_OP_REDUCE,
    true,
    { 100100, 50000 + 100 + 300 + 100, 100000 + 100 + 300 + 100 },
    { true, false, false } },
};

static void
test_hardware (void)
{
  for (uint32_t i = 0; i < G_N_ELEMENTS (hardware_cases); i++) {
    TraceOp op = { .kind = hardware_cases[i].kind, .bytes = 8, .recv_bytes = 8 };
    g_auto (Fixture) f = fixture_new (3, 1);
    SimCollective collective;
    int64_t latency_ps;

    g_test_message ("%s", hardware_cases[i].name);
    f.machine->parameters.collective.in_network = true;
    script_text (f.trace, hardware_cases[i].script);
    fixture_run (&f);
    g_assert_no_error (f.error);
    g_assert_cmpuint (f.result->messages, ==, 0);
    g_assert_cmpuint (fixture_edges (&f), ==, 0);
    sim_collective_init (&collective, f.machine, &op, 3, 0, true, NULL);
    g_assert_cmpint (collective.method, ==, SIM_COLLECTIVE_HARDWARE);
    latency_ps = sim_collective_hardware_ps (&collective, f.machine);
    g_assert_cmpint (latency_ps, >, 100 * NS);
    g_assert_cmpint (latency_ps, <, 49000 * NS);
    for (uint32_t rank = 0; rank < 3; rank++)
      ASSERT_ENDS (&f, rank,
                   hardware_cases[i].base_ns[rank] +
                       (hardware_cases[i].latency[rank] ? (double) latency_ps / NS : 0));
    if (!hardware_cases[i].posted)
      g_assert_cmpint (f.result->ranks[2].wait_ps, ==,
                       hardware_cases[i].latency[2] ? latency_ps : 0);
  }
}

/* -- the processor's share --------------------------------------------------- */

typedef struct {
  int64_t type_ps, description_ps, block_ps, call_ps;
} Costs;
static const Costs free_of_cost = { 0 };

static int64_t
fabric_end_ps (const char *script, uint32_t n_ranks, Costs costs)
{
  g_auto (Fixture) f = fixture_new_fabric (n_ranks, 1);

  f.machine->parameters.mpi.datatype_ps = costs.type_ps;
  f.machine->parameters.mpi.datatype_description_ps = costs.description_ps;
  f.machine->parameters.mpi.datatype_block_ps = costs.block_ps;
  f.machine->parameters.mpi.call_overhead_ps = costs.call_ps;
  script_text (f.trace, script);
  fixture_run (&f);
  g_assert_no_error (f.error);
  return f.result->time_ps;
}

/* An allgather of two ranks is the same swap without the copy, 0.1 ns a byte, and the addition,
 * 0.15. */
static void
test_additions (void)
{
  static const char *const then[] = { "", "5; compute 100000; wait 5" };

  for (uint32_t i = 0; i < G_N_ELEMENTS (then); i++) {
    g_autofree char *gather =
        g_strdup_printf ("*: %sallgather 1000 %s", i == 0 ? "" : "i", then[i]);
    g_autofree char *reduce =
        g_strdup_printf ("*: %sallreduce 1000 %s", i == 0 ? "" : "i", then[i]);

    g_assert_cmpint (fabric_end_ps (reduce, 2, free_of_cost) -
                         fabric_end_ps (gather, 2, free_of_cost),
                     ==, 250 * NS);
  }
}

/* Sixteen ranks: the datatypes of the four steps have 8, 4, 2 and 1 runs, which are described, and packed,
 * unpacked and copied; and 16 blocks in the end. */
static void
test_datatype_pieces (void)
{
  static const Costs costs[] = { { .type_ps = 7 * NS },
                                 { .description_ps = 7 * NS },
                                 { .block_ps = 7 * NS } };
  static const int64_t n[] = { 4, 15, 3 * 15 + 16 };
  const char *script = "*: alltoall 10";

  for (guint i = 0; i < G_N_ELEMENTS (costs); i++)
    g_assert_cmpint (fabric_end_ps (script, 16, costs[i]) -
                         fabric_end_ps (script, 16, free_of_cost),
                     ==, n[i] * 7 * NS);
}

/* Both of a swap post a receive before they send.  A rank that has nothing to send receives at once,
 * as in the tree of a broadcast. */
static void
test_calls_of_steps (void)
{
  static const struct {
    const char *script;
    uint32_t n_ranks, n_swaps;
  } cases[] = { { "*: barrier", 2, 1 },
                { "*: barrier", 8, 3 },
                { "*: allreduce 8", 4, 2 },
                { "*: bcast 0 8", 8, 0 } };

  for (uint32_t i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpint (
        fabric_end_ps (cases[i].script, cases[i].n_ranks, (Costs){ .call_ps = 10 * NS }) -
            fabric_end_ps (cases[i].script, cases[i].n_ranks, free_of_cost),
        ==, cases[i].n_swaps * 10 * NS);
}

/* -- two levels -------------------------------------------------------------- */

/* Two nodes of two ranks.  On each a swap before and after that of the leaders; the same on a
 * communicator of other numbers, and for as many as are kept. */
static void
test_two_levels (void)
{
  g_auto (Fixture) f = fixture_new_fabric (4, 2);

  f.machine->parameters.mpi.collectives = TOPO_COLLECTIVES_OMPI50;
  script_text (f.trace, "*: barrier; comm_dup 9; barrier comm=9; comm_free 9; barrier");
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpuint (f.result->messages, ==, 3 * (2 * 4 + 2));
}

static void
test_posted_has_one_level (void)
{
  g_auto (Fixture) f = fixture_new_fabric (4, 2);

  f.machine->parameters.mpi.collectives = TOPO_COLLECTIVES_OMPI50;
  script_text (f.trace, "*: ibarrier 5; wait 5");
  fixture_run (&f);
  g_assert_no_error (f.error);
  /* coll/tuned's linear one of four ranks. */
  g_assert_cmpuint (f.result->messages, ==, 6);
}

/* More communicators than a view keeps the groups of. */
static void
test_many_communicators (void)
{
  g_auto (Fixture) f = fixture_new_fabric (4, 2);
  g_autoptr (GString) script = g_string_new ("*: ");

  f.machine->parameters.mpi.collectives = TOPO_COLLECTIVES_OMPI50;
  for (uint32_t comm = 0; comm < 100; comm++)
    g_string_append_printf (script, "comm_dup %u; barrier comm=%u; ", 9 + comm, 9 + comm);
  g_string_append (script, "barrier comm=9");
  script_text (f.trace, script->str);
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpuint (f.result->messages, ==, 101 * 10);
}

/* -- direct ---------------------------------------------------------------- */

/* Each rank hands over at 50 and 100 (after it has posted: 150 and 200); the later
 * one of another's arrives 1000 + 400 later at the latest. */
static void
test_direct (void)
{
  static const struct {
    const char *script;
    double first_ns, last_ns;
  } cases[] = { { "*: alltoall 400", 1450, 1500 }, { "*: ialltoall 400 5; wait 5", 0, 1600 } };

  for (uint32_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (Fixture) f = fixture_new (3, 1);
    double end_ns = 0;

    g_test_message ("%s", cases[i].script);
    f.machine->parameters.collective.in_network = true;
    script_text (f.trace, cases[i].script);
    fixture_run (&f);
    g_assert_no_error (f.error);
    g_assert_cmpuint (fixture_count (&f, SIM_MESSAGE_DIRECT), ==, 6);
    for (uint32_t rank = 0; rank < 3; rank++) {
      g_assert_cmpfloat (fixture_end_ns (&f, rank), >=, cases[i].first_ns);
      end_ns = MAX (end_ns, fixture_end_ns (&f, rank));
    }
    g_assert_cmpfloat_with_epsilon (end_ns, cases[i].last_ns, 1e-6);
  }
}

/* Messages that came before the rank enters are not waited for. */
static void
test_direct_late_rank (void)
{
  g_auto (Fixture) f = fixture_new (3, 1);

  f.machine->parameters.collective.in_network = true;
  script_text (f.trace, "2: compute 9000 | *: alltoall 400");
  fixture_run (&f);
  ASSERT_ENDS (&f, 2, 9100);
  g_assert_cmpfloat (fixture_end_ns (&f, 0), >=, 9050 + 1400);
}

/* Three bursts each; no processor is needed for the messages that come later. */
static void
test_direct_overlaps (void)
{
  enum { N = 40 };
  g_auto (Fixture) f = fixture_new (N, 1);

  f.machine->parameters.collective.in_network = true;
  script_text (f.trace, "*: ialltoall 400 5; compute 90000; wait 5");
  fixture_run (&f);
  for (uint32_t rank = 0; rank < N; rank++)
    ASSERT_ENDS (&f, rank, 100 + (N - 1) * 50 + 90000 + 100);
}

/* -- every kind, many sizes ------------------------------------------------ */

/* One call in the terms of operation.h; uneven counts for the v-variants. */
static void
add_any (Trace *trace, TraceOpKind kind, uint32_t rank, uint32_t n, uint64_t bytes,
         uint32_t request)
{
  g_autofree uint64_t *counts = g_new (uint64_t, n), *recv_counts = g_new (uint64_t, n);
  TraceOp op = { .kind = kind,
                 .comm = TRACE_COMM_WORLD,
                 .root = (int32_t) (n / 2),
                 .bytes = kind == TRACE_OP_GATHERV || kind == TRACE_OP_ALLGATHERV ? rank % 3 * bytes
                                                                                  : bytes,
                 .recv_bytes = kind == TRACE_OP_SCATTERV ? rank % 3 * bytes : bytes,
                 .counts = counts,
                 .recv_counts = recv_counts,
                 .n_counts = n,
                 .n_recv_counts = n,
                 .nonblocking = request != 0,
                 .request = request };

  for (uint32_t peer = 0; peer < n; peer++)
    if (kind == TRACE_OP_ALLTOALLV) {
      counts[peer] = (rank + 2 * peer) % 3 * bytes;
      recv_counts[peer] = (peer + 2 * rank) % 3 * bytes;
    } else
      counts[peer] = recv_counts[peer] = peer % 3 * bytes;
  script_add (trace, rank, op);
}

/* Four of them: the first two and the last one posted, or all blocking; with
 * several ranks on a node, or another thread that makes progress. */
static void
run_any (Fixture *f, TraceOpKind kind, uint32_t n, uint64_t bytes, bool network, bool posted)
{
  *f = fixture_new (n, 1 + n % 3);
  f->machine->parameters.collective.in_network = network;
  f->machine->parameters.mpi.async_progress = n % 2;
  f->jitter_ps = 3000 * NS;
  for (uint32_t rank = 0; rank < n; rank++) {
    script_compute (f->trace, rank, (int64_t) (rank * 7919 % 5) * 1000 * NS);
    for (uint32_t i = 1; i <= 4; i++) {
      add_any (f->trace, kind, rank, n, bytes, posted && i != 3 ? 10 + i : 0);
      script_compute (f->trace, rank, (int64_t) (rank * 31 % 7) * 500 * NS);
    }
    for (uint32_t i = 4; i >= 1 && posted; i--)
      if (i != 3)
        script_wait (f->trace, rank, 10 + i);
  }
  fixture_run (f);
  g_assert_no_error (f->error);
  g_assert_cmpuint (f->result->warnings->len, ==, 0);
  g_assert_cmpuint (f->result->unmatched_sends, ==, 0);
  g_assert_cmpuint (f->result->unmatched_receives, ==, 0);
  g_assert_cmpuint (f->result->collectives, ==, 4 * n);
}

/* Posted collectives send the same messages as blocking ones. */
static void
test_posted_kind (gconstpointer data)
{
  static const uint32_t sizes[] = { 1, 2, 3, 5, 8, 17 };
  static const uint64_t bytes[] = { 0, 8, 3000 };
  TraceOpKind kind = (TraceOpKind) GPOINTER_TO_UINT (data);

  for (uint32_t i = 0; i < G_N_ELEMENTS (sizes) * G_N_ELEMENTS (bytes) * 2; i++) {
    uint32_t n = sizes[i / 6];
    Fixture posted, blocking;

    run_any (&posted, kind, n, bytes[i / 2 % 3], i % 2, true);
    run_any (&blocking, kind, n, bytes[i / 2 % 3], i % 2, false);
    g_assert_cmpuint (posted.result->messages, ==, blocking.result->messages);
    g_assert_cmpuint (posted.result->message_bytes, ==, blocking.result->message_bytes);
    g_assert_cmpuint (fixture_edges (&posted), ==, fixture_edges (&blocking));
    fixture_clear (&posted);
    fixture_clear (&blocking);
  }
}

/* User bytes that the network carried. */
static uint64_t
carried_bytes (const Fixture *f)
{
  const GArray *log = fake_network_log (f->network);
  uint64_t bytes = 0;

  for (uint32_t record = 0; record < log->len; record++)
    bytes += g_array_index (log, FakeRecord, record).message.bytes;
  return bytes;
}

static uint64_t
edge_bytes (const Fixture *f)
{
  uint64_t n, bytes = 0;
  g_autofree SimEdge *edges = sim_edges_sorted (sim_replay_edges (f->replay), &n);

  for (uint64_t edge = 0; edge < n; edge++)
    bytes += edges[edge].bytes;
  return bytes;
}

static void
check_collective (TraceOpKind kind, uint32_t n, uint64_t bytes, bool network)
{
  g_auto (Fixture) f = fixture_new (n, 1);

  f.machine->parameters.collective.in_network = network;
  f.jitter_ps = 3000 * NS;
  for (uint32_t rank = 0; rank < n; rank++)
    script_compute (f.trace, rank, (int64_t) (rank * 7919 % 5) * 1000 * NS);
  for (uint32_t i = 0; i < 3 * n; i++)
    add_any (f.trace, kind, i % n, n, bytes, 0);
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpuint (f.result->warnings->len, ==, 0);
  g_assert_cmpuint (f.result->unmatched_receives, ==, 0);
  g_assert_cmpuint (f.result->collectives, ==, 3 * n);
  g_assert_cmpuint (carried_bytes (&f), ==, f.result->message_bytes);
  g_assert_cmpuint (edge_bytes (&f), ==, f.result->message_bytes);
}

static void
test_kind (gconstpointer data)
{
  static const uint32_t sizes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17 };
  TraceOpKind kind = (TraceOpKind) GPOINTER_TO_UINT (data);

  for (uint32_t i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (uint32_t network = 0; network < 2; network++) {
      check_collective (kind, sizes[i], 0, network);
      check_collective (kind, sizes[i], 8, network);
      check_collective (kind, sizes[i], 3000, network); /* by rendezvous */
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  replay_cases_add ("/sim/replay-active", posted_cases, G_N_ELEMENTS (posted_cases));
  replay_cases_add ("/sim/replay-meet", blocking_cases, G_N_ELEMENTS (blocking_cases));
  g_test_add_func ("/sim/replay-active/root", test_a_root_makes_progress);
  g_test_add_func ("/sim/replay-meet/split", test_split_and_send);
  g_test_add_func ("/sim/replay-meet/hardware", test_hardware);
  g_test_add_func ("/sim/replay-meet/direct", test_direct);
  g_test_add_func ("/sim/replay-meet/direct-late", test_direct_late_rank);
  g_test_add_func ("/sim/replay-active/direct-overlap", test_direct_overlaps);
  for (TraceOpKind kind = TRACE_OP_BARRIER; kind <= TRACE_OP_EXSCAN; kind++) {
    g_autofree char *posted = g_strdup_printf ("/sim/replay-active/kind/%s", trace_op_name (kind));
    g_autofree char *blocking = g_strdup_printf ("/sim/replay-meet/kind/%s", trace_op_name (kind));

    g_test_add_data_func (posted, GUINT_TO_POINTER (kind), test_posted_kind);
    g_test_add_data_func (blocking, GUINT_TO_POINTER (kind), test_kind);
  }
  g_test_add_func ("/sim/replay-collectives/additions", test_additions);
  g_test_add_func ("/sim/replay-collectives/datatype-pieces", test_datatype_pieces);
  g_test_add_func ("/sim/replay-collectives/calls-of-steps", test_calls_of_steps);
  g_test_add_func ("/sim/replay-collectives/two-levels", test_two_levels);
  g_test_add_func ("/sim/replay-collectives/posted-has-one-level", test_posted_has_one_level);
  g_test_add_func ("/sim/replay-collectives/many-communicators", test_many_communicators);
  return g_test_run ();
}
