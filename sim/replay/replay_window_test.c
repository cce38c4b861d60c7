/* replay_window_test.c - one-sided accesses, timed by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Times are in nanoseconds; see replay_testing.h for the machine's. */
#include "sim/replay/replay_testing.h"

#include <string.h>

#define WINDOW 9u

static Fixture
init (uint32_t n, uint32_t per_node)
{
  Fixture f = fixture_new (n, per_node);

  f.machine->parameters.collective_network = false;
  return f;
}

static TraceOp
access_op (TraceOpKind kind, int32_t target, uint64_t bytes, uint64_t back_bytes)
{
  return (TraceOp){ .kind = kind,
                    .comm = TRACE_COMM_WORLD,
                    .window = WINDOW,
                    .peer = target,
                    .bytes = bytes,
                    .recv_bytes = back_bytes,
                    .name = "MPI_Access" };
}

static void
access_window (Trace *trace, uint32_t rank, TraceOpKind kind, int32_t target, uint64_t bytes,
               uint64_t back_bytes)
{
  script_add (trace, rank, access_op (kind, target, bytes, back_bytes));
}

static void
window_call (Trace *trace, uint32_t rank, TraceOpKind kind, int32_t peer)
{
  script_add (trace, rank,
              (TraceOp){ .kind = kind,
                         .comm = TRACE_COMM_WORLD,
                         .window = WINDOW,
                         .peer = peer,
                         .name = "MPI_Win_call" });
}

static void
synchronize (Trace *trace, uint32_t rank, TraceOpKind kind, const int32_t *ranks, uint32_t n)
{
  script_add (trace, rank,
              (TraceOp){ .kind = kind,
                         .comm = TRACE_COMM_WORLD,
                         .window = WINDOW,
                         .values = ranks,
                         .n_values = n,
                         .name = "MPI_Win_call" });
}

/* -- accesses ------------------------------------------------------------ */

/* One access and a flush; rank 1 computes all the time. */
static void
one_access (Fixture *f, uint32_t per_node, TraceOpKind kind, uint64_t bytes, uint64_t back_bytes)
{
  *f = init (2, per_node);
  access_window (f->trace, 0, kind, 1, bytes, back_bytes);
  window_call (f->trace, 0, TRACE_OP_WIN_FLUSH, 1);
  script_compute (f->trace, 1, 50000 * NS);
  fixture_run (f);
  ASSERT_ENDS (f, 1, 50000);
}

/* Handed over at 300, there at 1700, known at 2700. */
static void
test_put (void)
{
  g_auto (Fixture) f = { 0 };

  one_access (&f, 1, TRACE_OP_PUT, 400, 0);
  ASSERT_ENDS (&f, 0, 300 + 1400 + 1000);
  g_assert_cmpint (f.result->ranks[0].wait_ps, ==, 2300 * NS);
  g_assert_cmpuint (f.result->messages, ==, 1);
  g_assert_cmpuint (f.result->message_bytes, ==, 400);
  g_assert_cmpuint (f.result->ranks[0].sends, ==, 0);
}

/* No request to send: the target takes no part. */
static void
test_long_put (void)
{
  g_auto (Fixture) f = { 0 };

  one_access (&f, 1, TRACE_OP_PUT, 5000, 0);
  ASSERT_ENDS (&f, 0, 300 + 6000 + 1000);
  g_assert_cmpuint (fixture_count (&f, SIM_MESSAGE_DATA), ==, 1);
  g_assert_cmpuint (fixture_count (&f, SIM_MESSAGE_CONTROL), ==, 1);
}

/* The edge goes where the data goes. */
static void
test_get (void)
{
  g_autofree SimEdge *edges = NULL;
  uint64_t n;
  g_auto (Fixture) f = { 0 };

  one_access (&f, 1, TRACE_OP_GET, 77, 5000);
  ASSERT_ENDS (&f, 0, 300 + 1000 + 6000);
  g_assert_cmpuint (fixture_count (&f, SIM_MESSAGE_REMOTE_GET), ==, 1);
  edges = sim_edges_sorted (sim_replay_edges (f.replay), &n);
  g_assert_cmpuint (n, ==, 1);
  g_assert_cmpuint (edges[0].source, ==, 1);
  g_assert_cmpuint (edges[0].bytes, ==, 5000);
}

static void
test_fetch (void)
{
  g_auto (Fixture) f = { 0 };

  one_access (&f, 1, TRACE_OP_FETCH, 8, 16);
  ASSERT_ENDS (&f, 0, 300 + 1008 + 1016);
  g_assert_cmpuint (f.result->messages, ==, 2);
  g_assert_cmpuint (f.result->message_bytes, ==, 24);
  g_assert_cmpuint (sim_edges_count (sim_replay_edges (f.replay)), ==, 2);
}

static void
test_within_a_node (void)
{
  g_auto (Fixture) f = { 0 };

  one_access (&f, 2, TRACE_OP_FETCH, 1000, 3000);
  ASSERT_ENDS (&f, 0, 300 + 200 + 400);
  g_assert_cmpuint (fake_network_log (f.network)->len, ==, 0);
  g_assert_cmpuint (f.result->message_bytes, ==, 4000);
}

static void
test_nobody (void)
{
  g_auto (Fixture) f = init (2, 1);

  access_window (f.trace, 0, TRACE_OP_PUT, TRACE_PROC_NULL, 400, 0);
  window_call (f.trace, 0, TRACE_OP_WIN_FLUSH, TRACE_ANY_SOURCE);
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 200);
  g_assert_cmpuint (f.result->messages, ==, 0);
}

static void
assert_fails (TraceOp op, const char *text)
{
  g_auto (Fixture) f = init (2, 1);

  script_add (f.trace, 0, op);
  fixture_run (&f);
  g_assert_error (f.error, SIM_ERROR, SIM_ERROR_TRACE);
  g_assert_nonnull (strstr (f.error->message, text));
}

static void
test_impossible_target (void)
{
  static const int32_t outside[] = { 7 };
  TraceOp op = access_op (TRACE_OP_PUT, 2, 400, 0);

  assert_fails (op, "rank 2 of a communicator of 2");
  op.peer = TRACE_ANY_SOURCE;
  assert_fails (op, "an access to any rank");
  op.comm = 77;
  op.peer = 1;
  assert_fails (op, "communicator 77 does not exist");
  op.kind = TRACE_OP_WIN_FENCE;
  assert_fails (op, "communicator 77 does not exist");
  op = access_op (TRACE_OP_WIN_POST, 0, 0, 0);
  op.values = outside;
  op.n_values = 1;
  assert_fails (op, "neighbour 7 in a communicator of 2 ranks");
}

/* -- completion ---------------------------------------------------------- */

/* The put to rank 1 is known at 2400, the one to rank 2 at 600 + 1900 + 1000. */
static void
flush_one (int32_t target, double end_ns)
{
  g_auto (Fixture) f = init (3, 1);

  access_window (f.trace, 0, TRACE_OP_PUT, 1, 100, 0);
  access_window (f.trace, 0, TRACE_OP_PUT, 2, 900, 0);
  window_call (f.trace, 0, TRACE_OP_WIN_FLUSH, target);
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, end_ns);
}

static void
test_flush (void)
{
  flush_one (1, 2400);
  flush_one (2, 3500);
  flush_one (TRACE_ANY_SOURCE, 3500);
  flush_one (0, 700);
}

/* Accesses to another window are not flushed. */
static void
test_flush_of_another_window (void)
{
  g_auto (Fixture) f = init (2, 1);

  access_window (f.trace, 0, TRACE_OP_PUT, 1, 100, 0);
  script_add (f.trace, 0,
              (TraceOp){ .kind = TRACE_OP_WIN_FLUSH,
                         .comm = TRACE_COMM_WORLD,
                         .window = WINDOW + 1,
                         .peer = TRACE_ANY_SOURCE });
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 400);
}

/* Known at 2700, in the computation. */
static void
test_requests (void)
{
  TraceOp op = access_op (TRACE_OP_PUT, 1, 400, 0);
  g_auto (Fixture) f = { 0 };

  op.nonblocking = true;
  op.request = 5;
  f = init (2, 1);
  script_add (f.trace, 0, op);
  script_compute (f.trace, 0, 9000 * NS);
  script_wait (f.trace, 0, 5);
  script_add (f.trace, 0, op);
  script_wait (f.trace, 0, 5);
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 300 + 9000 + 100 + 2700);
  g_assert_cmpuint (f.result->warnings->len, ==, 0);
}

/* Rank 0's put is known at 2700; then it receives the barrier's message, that
 * came at 1300, and sends its own. */
static void
test_fence (void)
{
  g_auto (Fixture) f = init (2, 1);

  access_window (f.trace, 0, TRACE_OP_PUT, 1, 400, 0);
  for (uint32_t rank = 0; rank < 2; rank++)
    window_call (f.trace, rank, TRACE_OP_WIN_FENCE, 0);
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 2700 + 700 + 300);
  ASSERT_ENDS (&f, 1, 3700 + 1000 + 700);
  g_assert_cmpuint (f.result->collectives, ==, 2);
}

static void
test_create_and_free_meet (void)
{
  g_auto (Fixture) f = init (2, 1);

  script_compute (f.trace, 1, 5000 * NS);
  window_call (f.trace, 1, TRACE_OP_WIN_CREATE, 0);
  window_call (f.trace, 0, TRACE_OP_WIN_CREATE, 0);
  access_window (f.trace, 0, TRACE_OP_PUT, 1, 400, 0);
  for (uint32_t rank = 0; rank < 2; rank++)
    window_call (f.trace, rank, TRACE_OP_WIN_FREE, 0);
  fixture_run (&f);
  /* Rank 1 sends until 5300, so rank 0 goes on at 6300 + 700; then as in the
   * fence. */
  ASSERT_ENDS (&f, 0, 7000 + 3700);
  ASSERT_ENDS (&f, 1, 7000 + 5400);
}

static void
test_fence_in_hardware (void)
{
  g_auto (Fixture) f = init (2, 1);

  f.machine->parameters.collective_network = true;
  access_window (f.trace, 0, TRACE_OP_PUT, 1, 400, 0);
  for (uint32_t rank = 0; rank < 2; rank++)
    window_call (f.trace, rank, TRACE_OP_WIN_FENCE, 0);
  fixture_run (&f);
  g_assert_cmpfloat (fixture_end_ns (&f, 1), >, 2700);
  ASSERT_ENDS (&f, 0, fixture_end_ns (&f, 1));
  g_assert_cmpuint (f.result->messages, ==, 1);
}

/* -- post, start, complete, wait ----------------------------------------- */

/* The target posts at 5400; the origin knows at 6400 + 700; its put is known
 * at 7100 + 300 + 2400; the call and message of complete follow. */
static void
test_exposure (void)
{
  static const int32_t origin[] = { 0 }, target[] = { 1 };
  g_auto (Fixture) f = init (2, 1);

  script_compute (f.trace, 1, 5000 * NS);
  synchronize (f.trace, 1, TRACE_OP_WIN_POST, origin, 1);
  synchronize (f.trace, 1, TRACE_OP_WIN_WAIT, origin, 1);
  synchronize (f.trace, 0, TRACE_OP_WIN_START, target, 1);
  access_window (f.trace, 0, TRACE_OP_PUT, 1, 400, 0);
  synchronize (f.trace, 0, TRACE_OP_WIN_COMPLETE, target, 1);
  fixture_run (&f);
  ASSERT_ENDS (&f, 0, 7100 + 300 + 2400 + 300);
  ASSERT_ENDS (&f, 1, 10100 + 1000 + 700);
  g_assert_cmpuint (f.result->collectives, ==, 0);
  g_assert_cmpuint (f.result->unmatched_sends, ==, 0);
}

/* Two windows: the start on the second one is not opened by the first's post.
 * Handles are each rank's own. */
static void
test_windows_do_not_mix (void)
{
  static const int32_t origin[] = { 0 }, target[] = { 1 };
  g_auto (Fixture) f = init (2, 1);

  for (uint32_t rank = 0; rank < 2; rank++)
    for (uint32_t i = 0; i < 2; i++)
      script_add (f.trace, rank,
                  (TraceOp){ .kind = TRACE_OP_WIN_CREATE,
                             .comm = TRACE_COMM_WORLD,
                             .window = 20 + (rank == 0 ? i : 1 - i) });
  for (uint32_t i = 0; i < 2; i++) {
    script_add (f.trace, 1,
                (TraceOp){ .kind = TRACE_OP_WIN_POST,
                           .comm = TRACE_COMM_WORLD,
                           .window = 21 - i,
                           .values = origin,
                           .n_values = 1 });
    script_compute (f.trace, 1, 50000 * NS);
  }
  script_add (f.trace, 0,
              (TraceOp){ .kind = TRACE_OP_WIN_START,
                         .comm = TRACE_COMM_WORLD,
                         .window = 21,
                         .values = target,
                         .n_values = 1 });
  fixture_run (&f);
  g_assert_cmpfloat (fixture_end_ns (&f, 0), >, 50000);
  g_assert_cmpuint (f.result->unmatched_sends, ==, 1);
}

static void
test_never_posted (void)
{
  static const int32_t target[] = { 1 };
  g_auto (Fixture) f = init (2, 1);

  synchronize (f.trace, 0, TRACE_OP_WIN_START, target, 1);
  fixture_run (&f);
  g_assert_error (f.error, SIM_ERROR, SIM_ERROR_DEADLOCK);
  g_assert_nonnull (strstr (f.error->message, "rank 0 waits in MPI_Win_call from 1 at rank0:1"));
}

/* -- jitter -------------------------------------------------------------- */

/* Whatever overtakes, all accesses are complete in the end. */
static void
test_many_accesses (void)
{
  enum { N = 6, ROUNDS = 30 };
  g_auto (Fixture) f = init (N, 2);

  f.jitter_ps = 4000 * NS;
  for (uint32_t rank = 0; rank < N; rank++) {
    for (uint32_t i = 0; i < ROUNDS; i++) {
      TraceOp op = access_op (TRACE_OP_PUT + (TraceOpKind) ((rank + i) % 3),
                              (int32_t) ((rank * 5 + i * 7) % N), 100 * i, 90 * i);

      op.nonblocking = i % 4 == 0;
      op.request = 100 + i;
      script_add (f.trace, rank, op);
      if (i % 5 == 4)
        window_call (f.trace, rank, TRACE_OP_WIN_FLUSH,
                     i % 2 ? (int32_t) (i % N) : TRACE_ANY_SOURCE);
    }
    window_call (f.trace, rank, TRACE_OP_WIN_FREE, 0);
    for (uint32_t i = 0; i < ROUNDS; i += 4)
      script_wait (f.trace, rank, 100 + i);
  }
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpuint (f.result->warnings->len, ==, 0);
}

/* The communicator of a window may be freed, its handle be another's, and a
 * barrier of its be under way still. */
static void
test_communicator_is_freed (void)
{
  enum { COMM = 5 };
  static const TraceOpKind kinds[] = { TRACE_OP_PUT, TRACE_OP_WIN_FENCE, TRACE_OP_WIN_FREE };
  g_auto (Fixture) f = init (2, 1);

  for (uint32_t rank = 0; rank < 2; rank++) {
    TraceOp op = access_op (TRACE_OP_WIN_CREATE, 1 - (int32_t) rank, 10, 0);

    script_add (f.trace, rank,
                (TraceOp){ .kind = TRACE_OP_COMM_DUP, .comm = TRACE_COMM_WORLD, .new_comm = COMM });
    op.comm = COMM;
    script_add (f.trace, rank, op);
    script_add (
        f.trace, rank,
        (TraceOp){ .kind = TRACE_OP_BARRIER, .comm = COMM, .nonblocking = true, .request = 7 });
    script_add (f.trace, rank, (TraceOp){ .kind = TRACE_OP_COMM_FREE, .comm = COMM });
    script_add (f.trace, rank,
                (TraceOp){ .kind = TRACE_OP_COMM_DUP, .comm = TRACE_COMM_SELF, .new_comm = COMM });
    for (uint32_t i = 0; i < G_N_ELEMENTS (kinds); i++) {
      op.kind = kinds[i];
      script_add (f.trace, rank, op);
    }
    script_wait (f.trace, rank, 7);
  }
  fixture_run (&f);
  g_assert_no_error (f.error);
  g_assert_cmpuint (f.result->message_bytes, ==, 20);
  g_assert_cmpuint (f.result->warnings->len, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/replay-window/put", test_put);
  g_test_add_func ("/sim/replay-window/long-put", test_long_put);
  g_test_add_func ("/sim/replay-window/get", test_get);
  g_test_add_func ("/sim/replay-window/fetch", test_fetch);
  g_test_add_func ("/sim/replay-window/node", test_within_a_node);
  g_test_add_func ("/sim/replay-window/nobody", test_nobody);
  g_test_add_func ("/sim/replay-window/impossible", test_impossible_target);
  g_test_add_func ("/sim/replay-window/flush", test_flush);
  g_test_add_func ("/sim/replay-window/flush-another", test_flush_of_another_window);
  g_test_add_func ("/sim/replay-window/requests", test_requests);
  g_test_add_func ("/sim/replay-window/fence", test_fence);
  g_test_add_func ("/sim/replay-window/create-free", test_create_and_free_meet);
  g_test_add_func ("/sim/replay-window/fence-hardware", test_fence_in_hardware);
  g_test_add_func ("/sim/replay-window/exposure", test_exposure);
  g_test_add_func ("/sim/replay-window/windows", test_windows_do_not_mix);
  g_test_add_func ("/sim/replay-window/never-posted", test_never_posted);
  g_test_add_func ("/sim/replay-window/freed", test_communicator_is_freed);
  g_test_add_func ("/sim/replay-window/many", test_many_accesses);
  return g_test_run ();
}
