/* otf2_collectives_test.c - sizes of collectives and windows in OTF2 archives.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Four ranks; rank 1 is looked at, and root where there is one unless said
 * otherwise. */
#include "traces/otf2/otf2_testing.h"

#include <otf2/otf2.h>

#define NONE UINT32_MAX

/* The operation of a collective with these numbers in the archive. */
typedef struct {
  uint8_t op;
  uint32_t root;
  uint64_t sent, received; /* in the archive */
  TraceOpKind kind;
  uint64_t bytes, recv_bytes;
  uint64_t counts[4], recv_counts[4]; /* all 0: none */
} Case;

static void
check_counts (const uint64_t *counts, uint32_t n, const uint64_t *expected)
{
  gboolean none = expected[0] == 0 && expected[3] == 0;

  g_assert_cmpuint (n, ==, none ? 0 : 4);
  for (uint32_t i = 0; i < n; i++)
    g_assert_cmpuint (counts[i], ==, expected[i]);
}

static void
check_case (const char *creator, const Case *c)
{
  const Otf2Record records[] = {
    ENTER (0, AT_COLLECTIVE),
    BEGUN (0),
    COLLECTIVE (1, c->op, ON_WORLD, c->root, c->sent, c->received),
    LEAVE (1, AT_COLLECTIVE),
  };
  TraceTestingStream s;

  otf2_testing_open (&s, &(Otf2Testing){ creator, 1000, RANK (1, records) }, 1);
  EXPECT (&s, trace_op_name (c->kind));
  g_assert_cmpuint (s.op.bytes, ==, c->bytes);
  g_assert_cmpuint (s.op.recv_bytes, ==, c->recv_bytes);
  g_assert_cmpint (s.op.root, ==, c->root == NONE ? TRACE_NO_ROOT : (int32_t) c->root);
  g_assert_cmpstr (s.op.name, ==, "MPI_Allreduce");
  g_assert_false (s.op.nonblocking);
  check_counts (s.op.counts, s.op.n_counts, c->counts);
  check_counts (s.op.recv_counts, s.op.n_recv_counts, c->recv_counts);
  otf2_testing_close (&s);
}

#define OP(name) OTF2_COLLECTIVE_OP_##name

/* 100 bytes per rank, or to each rank. */
static void
test_scorep_sizes (void)
{
  static const Case cases[] = {
    { OP (BARRIER), NONE, 0, 0, TRACE_OP_BARRIER, 0, 0, { 0 }, { 0 } },
    { OP (BCAST), 1, 400, 100, TRACE_OP_BCAST, 100, 0, { 0 }, { 0 } },
    { OP (BCAST), 0, 0, 100, TRACE_OP_BCAST, 100, 0, { 0 }, { 0 } },
    { OP (GATHER), 1, 100, 400, TRACE_OP_GATHER, 100, 100, { 0 }, { 0 } },
    { OP (GATHER), 0, 100, 0, TRACE_OP_GATHER, 100, 0, { 0 }, { 0 } },
    { OP (SCATTER), 1, 400, 100, TRACE_OP_SCATTER, 100, 100, { 0 }, { 0 } },
    { OP (SCATTER), 0, 0, 100, TRACE_OP_SCATTER, 0, 100, { 0 }, { 0 } },
    { OP (ALLGATHER), NONE, 400, 400, TRACE_OP_ALLGATHER, 100, 100, { 0 }, { 0 } },
    { OP (ALLTOALL), NONE, 400, 400, TRACE_OP_ALLTOALL, 100, 100, { 0 }, { 0 } },
    { OP (ALLREDUCE), NONE, 400, 400, TRACE_OP_ALLREDUCE, 100, 0, { 0 }, { 0 } },
    { OP (REDUCE), 1, 100, 400, TRACE_OP_REDUCE, 100, 0, { 0 }, { 0 } },
    { OP (REDUCE), 0, 100, 0, TRACE_OP_REDUCE, 100, 0, { 0 }, { 0 } },
    { OP (SCAN), NONE, 300, 200, TRACE_OP_SCAN, 100, 0, { 0 }, { 0 } },
    { OP (EXSCAN), NONE, 200, 100, TRACE_OP_EXSCAN, 100, 0, { 0 }, { 0 } },
    { OP (REDUCE_SCATTER_BLOCK),
      NONE,
      400,
      400,
      TRACE_OP_REDUCE_SCATTER,
      0,
      0,
      { 0 },
      { 100, 100, 100, 100 } },
    { OP (CREATE_HANDLE), NONE, 0, 0, TRACE_OP_BARRIER, 0, 0, { 0 }, { 0 } },
    { OP (DESTROY_HANDLE_AND_DEALLOCATE), NONE, 0, 0, TRACE_OP_BARRIER, 0, 0, { 0 }, { 0 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_case (SCOREP, &cases[i]);
}

/* The own part of 101 bytes is not counted where the buffer is both. */
static void
test_scorep_in_place (void)
{
  static const Case cases[] = {
    { OP (ALLGATHER), NONE, 303, 303, TRACE_OP_ALLGATHER, 101, 101, { 0 }, { 0 } },
    { OP (ALLREDUCE), NONE, 303, 303, TRACE_OP_ALLREDUCE, 101, 0, { 0 }, { 0 } },
    { OP (REDUCE), 1, 0, 303, TRACE_OP_REDUCE, 101, 0, { 0 }, { 0 } },
    { OP (GATHER), 1, 0, 303, TRACE_OP_GATHER, 101, 101, { 0 }, { 0 } },
    { OP (SCATTER), 1, 303, 0, TRACE_OP_SCATTER, 101, 101, { 0 }, { 0 } },
    { OP (SCAN), NONE, 202, 101, TRACE_OP_SCAN, 101, 0, { 0 }, { 0 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_case (SCOREP, &cases[i]);
}

static void
test_eztrace_sizes (void)
{
  static const Case cases[] = {
    { OP (BARRIER), NONE, 0, 0, TRACE_OP_BARRIER, 0, 0, { 0 }, { 0 } },
    { OP (BCAST), 0, 100, 100, TRACE_OP_BCAST, 100, 0, { 0 }, { 0 } },
    { OP (GATHER), 1, 100, 100, TRACE_OP_GATHER, 100, 100, { 0 }, { 0 } },
    { OP (GATHER), 0, 100, 100, TRACE_OP_GATHER, 100, 0, { 0 }, { 0 } },
    { OP (SCATTER), 1, 100, 100, TRACE_OP_SCATTER, 100, 100, { 0 }, { 0 } },
    { OP (SCATTER), 0, 100, 100, TRACE_OP_SCATTER, 0, 100, { 0 }, { 0 } },
    { OP (ALLGATHER), NONE, 100, 100, TRACE_OP_ALLGATHER, 100, 100, { 0 }, { 0 } },
    { OP (ALLTOALL), NONE, 100, 100, TRACE_OP_ALLTOALL, 100, 100, { 0 }, { 0 } },
    { OP (ALLREDUCE), NONE, 100, 100, TRACE_OP_ALLREDUCE, 100, 0, { 0 }, { 0 } },
    { OP (REDUCE), 0, 100, 100, TRACE_OP_REDUCE, 100, 0, { 0 }, { 0 } },
    { OP (SCAN), NONE, 100, 100, TRACE_OP_SCAN, 100, 0, { 0 }, { 0 } },
    { OP (EXSCAN), NONE, 100, 100, TRACE_OP_EXSCAN, 100, 0, { 0 }, { 0 } },
    { OP (REDUCE_SCATTER_BLOCK),
      NONE,
      100,
      100,
      TRACE_OP_REDUCE_SCATTER,
      0,
      0,
      { 0 },
      { 100, 100, 100, 100 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_case (NULL, &cases[i]);
}

/* Of vectors only totals are known: 402 bytes are 102 + 100 + 100 + 100. */
static void
test_vectors (void)
{
  static const Case scorep[] = {
    { OP (GATHERV), 1, 80, 402, TRACE_OP_GATHERV, 80, 0, { 0 }, { 102, 100, 100, 100 } },
    { OP (GATHERV), 0, 80, 0, TRACE_OP_GATHERV, 80, 0, { 0 }, { 0 } },
    { OP (SCATTERV), 1, 402, 80, TRACE_OP_SCATTERV, 0, 80, { 102, 100, 100, 100 }, { 0 } },
    { OP (SCATTERV), 0, 0, 80, TRACE_OP_SCATTERV, 0, 80, { 0 }, { 0 } },
    { OP (ALLGATHERV), NONE, 320, 402, TRACE_OP_ALLGATHERV, 80, 0, { 0 }, { 102, 100, 100, 100 } },
    { OP (ALLTOALLV),
      NONE,
      402,
      9,
      TRACE_OP_ALLTOALLV,
      0,
      0,
      { 102, 100, 100, 100 },
      { 3, 2, 2, 2 } },
    { OP (ALLTOALLW),
      NONE,
      402,
      9,
      TRACE_OP_ALLTOALLV,
      0,
      0,
      { 102, 100, 100, 100 },
      { 3, 2, 2, 2 } },
    { OP (REDUCE_SCATTER),
      NONE,
      402,
      999,
      TRACE_OP_REDUCE_SCATTER,
      0,
      0,
      { 0 },
      { 102, 100, 100, 100 } },
  };
  static const Case eztrace = { OP (ALLGATHERV),       NONE, 80, 402,
                                TRACE_OP_ALLGATHERV,   80,   0,  { 0 },
                                { 102, 100, 100, 100 } };

  for (guint i = 0; i < G_N_ELEMENTS (scorep); i++)
    check_case (SCOREP, &scorep[i]);
  check_case (NULL, &eztrace);
}

/* A warning where sizes were spread, and only there. */
static void
test_spreading_is_told (void)
{
  static const struct {
    uint8_t op;
    gboolean told;
  } cases[] = { { OP (ALLTOALLV), TRUE }, { OP (ALLTOALL), FALSE }, { OP (SCAN), FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Otf2Record records[] = { COLLECTIVE (1, cases[i].op, ON_WORLD, NONE, 300, 200) };
    const Otf2Record even[] = { COLLECTIVE (1, cases[i].op, ON_WORLD, NONE, 400, 400) };
    gboolean is_scan = cases[i].op == OP (SCAN);
    TraceTestingStream s;
    Otf2Testing testing = { SCOREP, 1000, RANK (1, even) };

    if (is_scan)
      testing = (Otf2Testing){ SCOREP, 1000, RANK (1, records) };
    otf2_testing_open (&s, &testing, 1);
    g_assert_cmpint (trace_cursor_next (s.cursor, &s.op, NULL), ==, TRACE_NEXT_OPERATION);
    g_assert_cmpint (trace_testing_warned (s.trace, "spread evenly"), ==, cases[i].told);
    otf2_testing_close (&s);
  }
}

/* Size, root and communicator of rank 2 among {2, 0}. */
static void
test_subcommunicator (void)
{
  static const Otf2Record records[] = {
    COLLECTIVE (1, OP (GATHER), ON_EVEN, 0, 50, 100),
    COLLECTIVE (1, OP (ALLREDUCE), ON_SELF, NONE, 100, 100),
  };
  TraceTestingStream s;

  otf2_testing_open (&s, &(Otf2Testing){ SCOREP, 1000, RANK (2, records) }, 2);
  EXPECT (&s, "comm_define", "gather root=0 bytes=50 recv_bytes=50" /* it is the root */,
          "allreduce comm=self bytes=100");
  otf2_testing_close (&s);
}

static void
test_bad_root (void)
{
  static const Otf2Record records[] = { COLLECTIVE (1, OP (BCAST), ON_EVEN, 2, 50, 100) };

  otf2_testing_bad (&(Otf2Testing){ SCOREP, 1000, RANK (2, records) }, TRACE_ERROR_RANGE,
                    "bcast with root 2 on a communicator of 2 ranks");
}

/* A vector collective spreads its total over the ranks of the communicator. */
static void
test_empty_communicator (void)
{
  static const Otf2Record records[] = { COLLECTIVE (1, OP (ALLTOALLV), ON_EMPTY, NONE, 50, 100) };

  otf2_testing_bad (&(Otf2Testing){ SCOREP, 1000, RANK (2, records) }, TRACE_ERROR_RANGE,
                    "a communicator that it is not in");
}

/* The kind is known when it completes. */
static void
test_nonblocking (void)
{
  static const Otf2Record records[] = {
    ENTER (0, AT_IALLREDUCE),
    ASKED (1, 77),
    LEAVE (2, AT_IALLREDUCE),
    ENTER (2, AT_WAIT),
    DONE (3, OP (ALLREDUCE), ON_WORLD, NONE, 400, 400, 77),
    LEAVE (4, AT_WAIT),
    ENTER (5, AT_IALLREDUCE),
    ASKED (5, 77),
    LEAVE (5, AT_IALLREDUCE),
  };
  TraceTestingStream s;

  otf2_testing_open (&s, &(Otf2Testing){ SCOREP, 1000000000000, RANK (0, records) }, 0);
  EXPECT (&s, "allreduce nonblocking=1 bytes=100 name=MPI_Iallreduce call_ps=2 request:request",
          "wait n_requests=1 requests[0]=request", "compute", "call");
  g_assert_true (trace_testing_warned (s.trace, "MPI_Iallreduce: never completes"));
  otf2_testing_close (&s);
}

/* A call that should move something and has no event moves nothing, with a warning. */
static void
test_calls_without_events_are_told (void)
{
  static const Otf2Record records[] = {
    ENTER (1, AT_SEND),       LEAVE (2, AT_SEND), ENTER (2, AT_COLLECTIVE),
    LEAVE (3, AT_COLLECTIVE), ENTER (3, AT_PUT),  LEAVE (4, AT_PUT),
  };
  TraceTestingStream s;

  otf2_testing_open (&s, &(Otf2Testing){ SCOREP, 1000, RANK (0, records) }, 0);
  EXPECT (&s, "call");
  g_assert_cmpuint (trace_warnings (s.trace)->len, ==, 0);
  EXPECT (&s, "call");
  g_assert_true (trace_testing_warned (s.trace, "MPI_Allreduce: left no event"));
  EXPECT (&s, "call");
  g_assert_true (trace_testing_warned (s.trace, "MPI_Put: left no event"));
  otf2_testing_close (&s);
}

#define RMA(t, kind_, ...)                                     \
  {                                                            \
    .ticks = (t), .kind = OTF2_RECORD_RMA_##kind_, __VA_ARGS__ \
  }

/* Windows are of communicators, targets ranks in those. */
static void
test_windows (void)
{
  static const Otf2Record records[] = {
    RMA (0, COLLECTIVE, .id = 1, .op = OP (CREATE_HANDLE)),
    RMA (1, PUT, .id = 1, .peer = 1, .bytes = 10),
    RMA (2, GET, .id = 1, .peer = 0, .recv_bytes = 20),
    RMA (3, ATOMIC, .id = 1, .peer = 1, .bytes = 30, .recv_bytes = 40),
    RMA (4, COLLECTIVE, .id = 1, .op = OP (BARRIER)),
    RMA (5, UNLOCK, .id = 1, .peer = 1),
    ENTER (6, AT_WIN_FLUSH),
    RMA (6, FLUSH, .id = 1),
    RMA (6, FLUSH, .id = 1),
    LEAVE (6, AT_WIN_FLUSH),
    RMA (7, COLLECTIVE, .id = 1, .op = OP (DESTROY_HANDLE)),
  };
  TraceTestingStream s;

  otf2_testing_open (&s, &(Otf2Testing){ SCOREP, 1000, RANK (2, records) }, 2);
  EXPECT (&s, "comm_define", "win_create window=1", "compute",
          "put window=1 peer=1 bytes=10 recv_bytes=0", "compute",
          "get window=1 peer=0 bytes=0 recv_bytes=20", "compute",
          "fetch window=1 peer=1 bytes=30 recv_bytes=40", "compute", "win_fence window=1",
          "compute", "win_flush window=1 peer=1", "compute", "win_flush window=1 peer=any",
          "compute", "win_free window=1");
  otf2_testing_close (&s);
}

static void
test_refused_windows (void)
{
  static const Otf2Record post[] = { ENTER (0, AT_WIN), RMA (0, GROUP_SYNC, .id = 1),
                                     LEAVE (0, AT_WIN) };
  static const Otf2Record far[] = { RMA (0, PUT, .id = 1, .peer = 2) };
  static const Otf2Record none[] = { RMA (0, PUT, .id = 5, .peer = 2) };

  otf2_testing_bad (&(Otf2Testing){ SCOREP, 9, RANK (2, post) }, TRACE_ERROR_LOST,
                    "MPI_Win_fence: windows that groups");
  otf2_testing_bad (&(Otf2Testing){ SCOREP, 9, RANK (2, far) }, TRACE_ERROR_RANGE, "rank 2");
  otf2_testing_bad (&(Otf2Testing){ SCOREP, 9, RANK (2, none) }, TRACE_ERROR_FORMAT, "not defined");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/otf2-collectives/scorep-sizes", test_scorep_sizes);
  g_test_add_func ("/traces/otf2-collectives/scorep-in-place", test_scorep_in_place);
  g_test_add_func ("/traces/otf2-collectives/eztrace-sizes", test_eztrace_sizes);
  g_test_add_func ("/traces/otf2-collectives/vectors", test_vectors);
  g_test_add_func ("/traces/otf2-collectives/spreading-is-told", test_spreading_is_told);
  g_test_add_func ("/traces/otf2-collectives/subcommunicator", test_subcommunicator);
  g_test_add_func ("/traces/otf2-collectives/empty-communicator", test_empty_communicator);
  g_test_add_func ("/traces/otf2-collectives/bad-root", test_bad_root);
  g_test_add_func ("/traces/otf2-collectives/nonblocking", test_nonblocking);
  g_test_add_func ("/traces/otf2-collectives/calls-without-events-are-told",
                   test_calls_without_events_are_told);
  g_test_add_func ("/traces/otf2-collectives/windows", test_windows);
  g_test_add_func ("/traces/otf2-collectives/refused-windows", test_refused_windows);
  return g_test_run ();
}
