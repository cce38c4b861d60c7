/* replay_window_test.c - one-sided accesses, timed by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Times are in nanoseconds; see replay_testing.h for the machine's. */
#include "sim/replay/replay_testing.h"

#include <string.h>

#define BROKEN(name_, script_, error_)                                               \
  {                                                                                  \
    .name = name_, .script = script_, .error_code = SIM_ERROR_TRACE, .error = error_ \
  }

static const ReplayCase cases[] = {
  /* One access and a flush, while the target computes. */

  /* Handed over at 300, there at 1700, known at 2700. */
  { .name = "put",
    .script = "0: put 1 400; win_flush 1 | 1: compute 50000",
    .end_ns = { 300 + 1400 + 1000, 50000 },
    .wait_ns = { 2300 },
    .messages = 1,
    .message_bytes = 400 },
  /* No request to send: the target takes no part. */
  { .name = "long-put",
    .script = "0: put 1 5000; win_flush 1 | 1: compute 50000",
    .end_ns = { 300 + 6000 + 1000, 50000 },
    .of_kind = { { SIM_MESSAGE_DATA, 1 }, { SIM_MESSAGE_CONTROL, 1 } } },
  { .name = "get",
    .script = "0: get 1 5000 bytes=77; win_flush 1 | 1: compute 50000",
    .end_ns = { 300 + 1000 + 6000, 50000 },
    .of_kind = { { SIM_MESSAGE_REMOTE_GET, 1 } } },
  { .name = "fetch",
    .script = "0: fetch 1 8 16; win_flush 1 | 1: compute 50000",
    .end_ns = { 300 + 1008 + 1016, 50000 },
    .messages = 2,
    .message_bytes = 24,
    .edges = 2 },
  { .name = "node",
    .per_node = 2,
    .script = "0: fetch 1 1000 3000; win_flush 1 | 1: compute 50000",
    .end_ns = { 300 + 200 + 400, 50000 },
    .carried = NOTHING,
    .message_bytes = 4000 },
  { .name = "nobody",
    .script = "0: put null 400; win_flush any",
    .end_ns = { 200 },
    .messages = NOTHING },
  BROKEN ("impossible/target", "0: put 2 400", "rank 2 of a communicator of 2"),
  BROKEN ("impossible/any", "0: put any 400", "an access to any rank"),
  BROKEN ("impossible/put", "0: put 1 400 comm=77", "communicator 77 does not exist"),
  BROKEN ("impossible/fence", "0: win_fence comm=77", "communicator 77 does not exist"),
  BROKEN ("impossible/post", "0: win_post 7", "neighbour 7 in a communicator of 2 ranks"),

  /* The put to rank 1 is known at 2400, the one to rank 2 at 600 + 1900 + 1000. */
  { .name = "flush/first",
    .n_ranks = 3,
    .script = "0: put 1 100; put 2 900; win_flush 1",
    .end_ns = { 2400 } },
  { .name = "flush/second",
    .n_ranks = 3,
    .script = "0: put 1 100; put 2 900; win_flush 2",
    .end_ns = { 3500 } },
  { .name = "flush/all",
    .n_ranks = 3,
    .script = "0: put 1 100; put 2 900; win_flush any",
    .end_ns = { 3500 } },
  { .name = "flush/none",
    .n_ranks = 3,
    .script = "0: put 1 100; put 2 900; win_flush 0",
    .end_ns = { 700 } },
  /* Accesses to another window are not flushed. */
  { .name = "flush-another", .script = "0: put 1 100; win_flush any window=10", .end_ns = { 400 } },
  /* The first is known at 2700, in the computation. */
  { .name = "requests",
    .script = "0: put 1 400 request=5; compute 9000; wait 5; put 1 400 request=5; wait 5",
    .end_ns = { 300 + 9000 + 100 + 2700 } },

  /* Rank 0's put is known at 2700; then it receives the barrier's message, that
   * came at 1300, and sends its own. */
  { .name = "fence",
    .script = "0: put 1 400; win_fence | 1: win_fence",
    .end_ns = { 2700 + 700 + 300, 3700 + 1000 + 700 },
    .collectives = 2 },
  /* Rank 1 sends until 5300, so rank 0 goes on at 6300 + 700; then as in the fence. */
  { .name = "create-free",
    .script = "0: win_create; put 1 400; win_free | 1: compute 5000; win_create; win_free",
    .end_ns = { 7000 + 3700, 7000 + 5400 } },
  /* The target posts at 5400; the origin knows at 6400 + 700; its put is known
   * at 7100 + 300 + 2400; the call and message of complete follow. */
  { .name = "exposure",
    .script = "0: win_start 1; put 1 400; win_complete 1 | 1: compute 5000; win_post 0; win_wait 0",
    .end_ns = { 7100 + 300 + 2400 + 300, 10100 + 1000 + 700 },
    .collectives = NOTHING },
  { .name = "never-posted",
    .script = "0: win_start 1",
    .error_code = SIM_ERROR_DEADLOCK,
    .error = "rank 0 waits in MPI_Win_start from 1 at rank0:1" },
  /* The communicator of a window may be freed, its handle be bound to another, and a
   * barrier of it be under way still. */
  { .name = "freed",
    .script =
        "0: comm_dup 5; win_create comm=5; ibarrier 7 comm=5; comm_free 5;"
        "   comm_dup 5 comm=self; put 1 10 comm=5; win_fence comm=5; win_free comm=5; wait 7 |"
        "1: comm_dup 5; win_create comm=5; ibarrier 7 comm=5; comm_free 5;"
        "   comm_dup 5 comm=self; put 0 10 comm=5; win_fence comm=5; win_free comm=5; wait 7",
    .message_bytes = 20 },
};

/* The edge goes where the data goes, and an access is no send. */
static void
test_edge_of_a_get (void)
{
  g_autofree SimEdge *edges = NULL;
  g_auto (Fixture) f = fixture_new (2, 1);
  uint64_t n;

  script_text (f.trace, "0: get 1 5000 bytes=77; win_flush 1");
  fixture_run (&f);
  g_assert_no_error (f.error);
  edges = sim_edges_sorted (sim_replay_edges (f.replay), &n);
  g_assert_cmpuint (n, ==, 1);
  g_assert_cmpuint (edges[0].source, ==, 1);
  g_assert_cmpuint (edges[0].bytes, ==, 5000);
  g_assert_cmpuint (f.result->ranks[0].sends, ==, 0);
}

static void
test_fence_in_hardware (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  f.machine->parameters.collective.in_network = true;
  script_text (f.trace, "0: put 1 400; win_fence | 1: win_fence");
  fixture_run (&f);
  g_assert_cmpfloat (fixture_end_ns (&f, 1), >, 2700);
  ASSERT_ENDS (&f, 0, fixture_end_ns (&f, 1));
  g_assert_cmpuint (f.result->messages, ==, 1);
}

/* Two windows: the start on the second one is not opened by the first's post.
 * Handles are each rank's own. */
static void
test_windows_do_not_mix (void)
{
  g_auto (Fixture) f = fixture_new (2, 1);

  f.machine->parameters.collective.in_network = false;
  script_text (f.trace, "0: win_create window=20; win_create window=21; win_start 1 window=21 |"
                        "1: win_create window=21; win_create window=20; win_post 0 window=21;"
                        "   compute 50000; win_post 0 window=20; compute 50000");
  fixture_run (&f);
  g_assert_cmpfloat (fixture_end_ns (&f, 0), >, 50000);
  g_assert_cmpuint (f.result->unmatched_sends, ==, 1);
}

/* Whatever overtakes, all accesses are complete in the end. */
static void
test_many_accesses (void)
{
  enum { N = 6, ROUNDS = 30 };
  g_auto (Fixture) f = fixture_new (N, 2);

  f.machine->parameters.collective.in_network = false;
  f.jitter_ps = 4000 * NS;
  for (uint32_t rank = 0; rank < N; rank++) {
    for (uint32_t i = 0; i < ROUNDS; i++) {
      script_add (f.trace, rank,
                  (TraceOp){ .kind = TRACE_OP_PUT + (TraceOpKind) ((rank + i) % 3),
                             .comm = TRACE_COMM_WORLD,
                             .window = 9,
                             .peer = (int32_t) ((rank * 5 + i * 7) % N),
                             .bytes = 100 * i,
                             .recv_bytes = 90 * i,
                             .nonblocking = i % 4 == 0,
                             .request = 100 + i });
      if (i % 5 == 4)
        script_add (f.trace, rank,
                    (TraceOp){ .kind = TRACE_OP_WIN_FLUSH,
                               .comm = TRACE_COMM_WORLD,
                               .window = 9,
                               .peer = i % 2 ? (int32_t) (i % N) : TRACE_ANY_SOURCE });
    }
  }
  script_text (f.trace, "*: win_free; wait 100 104 108 112 116 120 124 128");
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpuint (f.result->warnings->len, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  replay_cases_add ("/sim/replay-window", cases, G_N_ELEMENTS (cases));
  g_test_add_func ("/sim/replay-window/get-edge", test_edge_of_a_get);
  g_test_add_func ("/sim/replay-window/fence-hardware", test_fence_in_hardware);
  g_test_add_func ("/sim/replay-window/windows", test_windows_do_not_mix);
  g_test_add_func ("/sim/replay-window/many", test_many_accesses);
  return g_test_run ();
}
