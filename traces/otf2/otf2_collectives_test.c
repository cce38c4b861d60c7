/* otf2_collectives_test.c - sizes of collectives and windows in OTF2 archives.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Four ranks; rank 1 is looked at, and root where there is one unless said
 * otherwise. */
#include "traces/otf2/otf2_testing.h"
#include "traces/trace_testing.h"

#include <otf2/otf2.h>
#include <string.h>

#define SCOREP "Score-P 8.0"
#define NONE   UINT32_MAX

/* A collective with these numbers in the archive, and the operation it becomes. */
typedef struct {
  uint8_t op;
  uint32_t root;
  uint64_t sent, received; /* in the archive */
  const char *expected;    /* without lists that are empty */
} Case;

static void
check_cases (const char *creator, const Case *cases, guint n)
{
  for (guint i = 0; i < n; i++) {
    const Case *c = &cases[i];
    const Otf2Record records[] = {
      ENTER (0, AT_COLLECTIVE),
      BEGUN (0),
      COLLECTIVE (1, c->op, ON_WORLD, c->root, c->sent, c->received),
      LEAVE (1, AT_COLLECTIVE),
    };
    g_autoptr (GString) expected = g_string_new (c->expected);

    if (strstr (c->expected, " counts=") == NULL)
      g_string_append (expected, " counts=");
    if (strstr (c->expected, " recv_counts=") == NULL)
      g_string_append (expected, " recv_counts=");
    if (c->root == NONE)
      g_string_append (expected, " root=none");
    else
      g_string_append_printf (expected, " root=%u", c->root);
    g_string_append (expected, " name=MPI_Allreduce nonblocking=no");
    otf2_testing_expect (&(Otf2Testing){ creator, 1000, RANK (1, records) }, 1, NULL, expected->str,
                         NULL);
  }
}

#define OP(name) OTF2_COLLECTIVE_OP_##name

/* 100 bytes per rank, or to each rank. */
static void
test_scorep_sizes (void)
{
  static const Case cases[] = {
    { OP (BARRIER), NONE, 0, 0, "barrier bytes=0 recv_bytes=0" },
    { OP (BCAST), 1, 400, 100, "bcast bytes=100 recv_bytes=0" },
    { OP (BCAST), 0, 0, 100, "bcast bytes=100 recv_bytes=0" },
    { OP (GATHER), 1, 100, 400, "gather bytes=100 recv_bytes=100" },
    { OP (GATHER), 0, 100, 0, "gather bytes=100 recv_bytes=0" },
    { OP (SCATTER), 1, 400, 100, "scatter bytes=100 recv_bytes=100" },
    { OP (SCATTER), 0, 0, 100, "scatter bytes=0 recv_bytes=100" },
    { OP (ALLGATHER), NONE, 400, 400, "allgather bytes=100 recv_bytes=100" },
    { OP (ALLTOALL), NONE, 400, 400, "alltoall bytes=100 recv_bytes=100" },
    { OP (ALLREDUCE), NONE, 400, 400, "allreduce bytes=100 recv_bytes=0" },
    { OP (REDUCE), 1, 100, 400, "reduce bytes=100 recv_bytes=0" },
    { OP (REDUCE), 0, 100, 0, "reduce bytes=100 recv_bytes=0" },
    { OP (SCAN), NONE, 300, 200, "scan bytes=100 recv_bytes=0" },
    { OP (EXSCAN), NONE, 200, 100, "exscan bytes=100 recv_bytes=0" },
    { OP (REDUCE_SCATTER_BLOCK), NONE, 400, 400,
      "reduce_scatter bytes=0 recv_bytes=0 recv_counts=100,100,100,100" },
    { OP (CREATE_HANDLE), NONE, 0, 0, "barrier bytes=0 recv_bytes=0" },
    { OP (DESTROY_HANDLE_AND_DEALLOCATE), NONE, 0, 0, "barrier bytes=0 recv_bytes=0" },
  };

  check_cases (SCOREP, cases, G_N_ELEMENTS (cases));
}

/* The own part of 101 bytes is not counted where the buffer is both. */
static void
test_scorep_in_place (void)
{
  static const Case cases[] = {
    { OP (ALLGATHER), NONE, 303, 303, "allgather bytes=101 recv_bytes=101" },
    { OP (ALLREDUCE), NONE, 303, 303, "allreduce bytes=101 recv_bytes=0" },
    { OP (REDUCE), 1, 0, 303, "reduce bytes=101 recv_bytes=0" },
    { OP (GATHER), 1, 0, 303, "gather bytes=101 recv_bytes=101" },
    { OP (SCATTER), 1, 303, 0, "scatter bytes=101 recv_bytes=101" },
    { OP (SCAN), NONE, 202, 101, "scan bytes=101 recv_bytes=0" },
  };

  check_cases (SCOREP, cases, G_N_ELEMENTS (cases));
}

static void
test_eztrace_sizes (void)
{
  static const Case cases[] = {
    { OP (BARRIER), NONE, 0, 0, "barrier bytes=0 recv_bytes=0" },
    { OP (BCAST), 0, 100, 100, "bcast bytes=100 recv_bytes=0" },
    { OP (GATHER), 1, 100, 100, "gather bytes=100 recv_bytes=100" },
    { OP (GATHER), 0, 100, 100, "gather bytes=100 recv_bytes=0" },
    { OP (SCATTER), 1, 100, 100, "scatter bytes=100 recv_bytes=100" },
    { OP (SCATTER), 0, 100, 100, "scatter bytes=0 recv_bytes=100" },
    { OP (ALLGATHER), NONE, 100, 100, "allgather bytes=100 recv_bytes=100" },
    { OP (ALLTOALL), NONE, 100, 100, "alltoall bytes=100 recv_bytes=100" },
    { OP (ALLREDUCE), NONE, 100, 100, "allreduce bytes=100 recv_bytes=0" },
    { OP (REDUCE), 0, 100, 100, "reduce bytes=100 recv_bytes=0" },
    { OP (SCAN), NONE, 100, 100, "scan bytes=100 recv_bytes=0" },
    { OP (EXSCAN), NONE, 100, 100, "exscan bytes=100 recv_bytes=0" },
    { OP (REDUCE_SCATTER_BLOCK), NONE, 100, 100,
      "reduce_scatter bytes=0 recv_bytes=0 recv_counts=100,100,100,100" },
  };

  check_cases (NULL, cases, G_N_ELEMENTS (cases));
}

/* Of vectors only totals are known: 402 bytes are 102 + 100 + 100 + 100. */
static void
test_vectors (void)
{
  static const Case scorep[] = {
    { OP (GATHERV), 1, 80, 402, "gatherv bytes=80 recv_bytes=0 recv_counts=102,100,100,100" },
    { OP (GATHERV), 0, 80, 0, "gatherv bytes=80 recv_bytes=0" },
    { OP (SCATTERV), 1, 402, 80, "scatterv bytes=0 recv_bytes=80 counts=102,100,100,100" },
    { OP (SCATTERV), 0, 0, 80, "scatterv bytes=0 recv_bytes=80" },
    { OP (ALLGATHERV), NONE, 320, 402,
      "allgatherv bytes=80 recv_bytes=0 recv_counts=102,100,100,100" },
    { OP (ALLTOALLV), NONE, 402, 9,
      "alltoallv bytes=0 recv_bytes=0 counts=102,100,100,100 recv_counts=3,2,2,2" },
    { OP (ALLTOALLW), NONE, 402, 9,
      "alltoallv bytes=0 recv_bytes=0 counts=102,100,100,100 recv_counts=3,2,2,2" },
    { OP (REDUCE_SCATTER), NONE, 402, 999,
      "reduce_scatter bytes=0 recv_bytes=0 recv_counts=102,100,100,100" },
  };
  static const Case eztrace = { OP (ALLGATHERV), NONE, 80, 402,
                                "allgatherv bytes=80 recv_bytes=0 recv_counts=102,100,100,100" };

  check_cases (SCOREP, scorep, G_N_ELEMENTS (scorep));
  check_cases (NULL, &eztrace, 1);
}

/* A warning where sizes were spread, and only there. */
static void
test_spreading_is_told (void)
{
  static const struct {
    uint8_t op;
    uint64_t sent, received;
    const char *kind;
    gboolean told;
  } cases[] = { { OP (ALLTOALLV), 400, 400, "alltoallv", TRUE },
                { OP (ALLTOALL), 400, 400, "alltoall", FALSE },
                { OP (SCAN), 300, 200, "scan", FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Otf2Record records[] = { COLLECTIVE (1, cases[i].op, ON_WORLD, NONE, cases[i].sent,
                                               cases[i].received) };
    Otf2TestingStream s;

    otf2_testing_open (&s, &(Otf2Testing){ SCOREP, 1000, RANK (1, records) }, 1);
    trace_testing_expect (s.cursor, cases[i].kind, NULL);
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

  otf2_testing_expect (&(Otf2Testing){ SCOREP, 1000, RANK (2, records) }, 2, NULL, "comm_define",
                       "gather root=0 bytes=50 recv_bytes=50", /* it is the root */
                       "allreduce comm=self bytes=100", NULL);
}

static void
test_bad_root (void)
{
  static const Otf2Record records[] = { COLLECTIVE (1, OP (BCAST), ON_EVEN, 2, 50, 100) };

  otf2_testing_bad (&(Otf2Testing){ SCOREP, 1000, RANK (2, records) }, 2, TRACE_ERROR_RANGE,
                    "bcast with root 2 on a communicator of 2 ranks");
}

/* A vector collective spreads its total over the ranks of the communicator. */
static void
test_empty_communicator (void)
{
  static const Otf2Record records[] = { COLLECTIVE (1, OP (ALLTOALLV), ON_EMPTY, NONE, 50, 100) };

  otf2_testing_bad (&(Otf2Testing){ SCOREP, 1000, RANK (2, records) }, 2, TRACE_ERROR_RANGE,
                    "a communicator that it is not in");
}

/* The archive names the collective only when it completes. */
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
  Otf2TestingStream s;

  otf2_testing_open (&s, &(Otf2Testing){ SCOREP, 1000000000000, RANK (0, records) }, 0);
  trace_testing_expect (
      s.cursor, "allreduce nonblocking=yes bytes=100 name=MPI_Iallreduce call_ps=2 request=2",
      "wait requests=2", "compute", "call", NULL);
  g_assert_true (trace_testing_warned (s.trace, "MPI_Iallreduce: never completes"));
  otf2_testing_close (&s);
}

/* A call that should move data and has no event moves nothing; a warning says so. */
static void
test_calls_without_events_are_told (void)
{
  static const Otf2Record records[] = {
    ENTER (1, AT_SEND),       LEAVE (2, AT_SEND), ENTER (2, AT_COLLECTIVE),
    LEAVE (3, AT_COLLECTIVE), ENTER (3, AT_PUT),  LEAVE (4, AT_PUT),
  };
  Otf2TestingStream s;

  otf2_testing_open (&s, &(Otf2Testing){ SCOREP, 1000, RANK (0, records) }, 0);
  trace_testing_expect (s.cursor, "call", NULL);
  g_assert_cmpuint (trace_warnings (s.trace)->len, ==, 0);
  trace_testing_expect (s.cursor, "call", NULL);
  g_assert_true (trace_testing_warned (s.trace, "MPI_Allreduce: left no event"));
  trace_testing_expect (s.cursor, "call", NULL);
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

  otf2_testing_expect (&(Otf2Testing){ SCOREP, 1000, RANK (2, records) }, 2, NULL, "comm_define",
                       "win_create window=1", "compute", "put window=1 bytes=10 recv_bytes=0",
                       "compute", "get window=1 bytes=0 recv_bytes=20", "compute",
                       "fetch window=1 bytes=30 recv_bytes=40", "compute", "win_fence window=1",
                       "compute", "win_flush window=1 peer=1", "compute",
                       "win_flush window=1 peer=any", "compute", "win_free window=1", NULL);
}

static void
test_refused_windows (void)
{
  static const Otf2Record post[] = { ENTER (0, AT_WIN), RMA (0, GROUP_SYNC, .id = 1),
                                     LEAVE (0, AT_WIN) };
  static const Otf2Record far[] = { RMA (0, PUT, .id = 1, .peer = 2) };
  static const Otf2Record none[] = { RMA (0, PUT, .id = 5, .peer = 2) };

  otf2_testing_bad (&(Otf2Testing){ SCOREP, 9, RANK (2, post) }, 2, TRACE_ERROR_LOST,
                    "MPI_Win_fence: windows that groups");
  otf2_testing_bad (&(Otf2Testing){ SCOREP, 9, RANK (2, far) }, 2, TRACE_ERROR_RANGE, "rank 2");
  otf2_testing_bad (&(Otf2Testing){ SCOREP, 9, RANK (2, none) }, 2, TRACE_ERROR_FORMAT,
                    "not defined");
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
