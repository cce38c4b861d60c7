/* dumpi_test.c - the DUMPI reader on files made byte by byte.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/dumpi/dumpi_testing.h"

#include <string.h>

/* Ids of calls and datatypes in DUMPI files. */
enum { CHAR = 2, INT = 9, DOUBLE = 14, LONG_LONG_INT = 16, USER = 28 };
enum { WORLD = TRACE_COMM_WORLD };

static void
test_gap_is_start_minus_previous_end (DumpiFixture *f)
{
  f->build->between_ns = 1250;
  dumpi_build_init (f->build);
  dumpi_build_call (f->build, 52, "2", WORLD);
  f->build->between_ns = 0;
  dumpi_build_finalize (f->build);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "init", "compute gap_ps=1250000", "barrier comm=world name=MPI_Barrier",
          "finalize");
  trace_testing_stream_end (&f->stream);
  g_assert_cmpuint (trace_warnings (f->stream.trace)->len, ==, 0);
}

static void
test_processor_times_when_there_are_no_others (DumpiFixture *f)
{
  f->build->between_ns = 1000;
  f->build->mask = 0x04;
  dumpi_build_init (f->build);
  dumpi_build_finalize (f->build);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "init", "compute gap_ps=500000");
  g_assert_true (trace_testing_warned (f->stream.trace, "no wall-clock times"));
}

static void
test_no_times (DumpiFixture *f)
{
  f->build->between_ns = 1000;
  f->build->mask = 0;
  dumpi_build_init (f->build);
  dumpi_build_finalize (f->build);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "init", "finalize");
  g_assert_true (trace_testing_warned (f->stream.trace, "no times"));
}

/* Seconds have 16 bits: 65,535.9999995 s is followed by 0.0000015 s. */
static void
test_seconds_wrap (DumpiFixture *f)
{
  f->build->now_ns = 65536ull * 1000000000 - 1000;
  dumpi_build_init (f->build);
  f->build->between_ns = 2000;
  dumpi_build_finalize (f->build);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "init", "compute gap_ps=2000000", "finalize");
}

/* Every way in which an argument can be written stands once before a
 * Finalize, which is only found when all of them were read to their ends. */
static void
add_every_layout (DumpiBuild *b)
{
  dumpi_build_init (b);
  dumpi_build_call (b, 171, "4 s s 1 1", 2, "./a.out", "-x", 3, 3);      /* Init_thread */
  dumpi_build_call (b, 0, "4 2 4 4 2", 1, INT, 1, 7, WORLD);             /* Send */
  dumpi_build_call (b, 2, "4 4 4 1 1 4  2 4", 1, 4, 3, 0, 0, 7, INT, 1); /* Get_count */
  dumpi_build_call (b, 18, "4 4 4 4 4", 2, 2, 5, 6, 0);                  /* Waitall, no statuses */
  dumpi_build_call (b, 20, "4  4 4 4  4  4 4  4", 2, 2, 5, 6, 1, 1, 1, 0); /* Waitsome */
  dumpi_build_call (b, 54, "4 4 2 4 2  4 2", 3, 1, INT, 3, WORLD, 1, INT); /* Gather, root */
  dumpi_build_call (b, 54, "4 4 2 4 2", 2, 1, INT, 3, WORLD);              /* Gather, other */
  dumpi_build_call (b, 55, "4 4 4 2 4 2  4 4 4  4 4 4  2", 0, 2, 1, INT, 0, WORLD, 2, 1, 1, 2, 0, 1,
                    INT);                                                 /* Gatherv, root */
  dumpi_build_call (b, 55, "4 4 4 2 4 2 2", 1, 2, 1, INT, 0, WORLD, INT); /* Gatherv, other */
  dumpi_build_call (b, 57, "4 4 2 4 2 4 2  4 4 4  4 4 4", 0, 2, INT, 1, INT, 0, WORLD, 2, 1, 1, 2,
                    0, 1);                                                     /* Scatterv, root */
  dumpi_build_call (b, 62, "4 2 1 4 2", 1, INT, 3, 0, WORLD);                  /* Reduce */
  dumpi_build_call (b, 70, "2 4  4 4 4  2  4 4 4", 3, 2, 2, 0, 1, 4, 2, 1, 0); /* translate_ranks */
  dumpi_build_call (b, 78, "2 4  4  4 4 4 4  4 4 4 4  2", 3, 2, 2, 3, 0, 1, 1, 3, 4, 6, 2, 5);
  dumpi_build_call (b, 114, "s 4", "node17", 6); /* Get_processor_name */
  dumpi_build_call (b, 135, "4 4 2 2  s  4 s s  4 2  4 4 4", 1, 1, WORLD, 4, "./b", 2, "x", "y", 2,
                    1, 2, 0, 0); /* Comm_spawn, root */
  dumpi_build_call (b, 136, "4 4 4 2 2  4  4 s s  4  4 s  4  4 4 4  4 2 2  4 4 4 4", 3, 0, 0, WORLD,
                    4, 2, 2, "./b", "./c", 2, 1, "x", 0, 2, 1, 2, 2, 1, 1, 3, 0, 0, 0);
  dumpi_build_call (b, 155, "4  4 4 4  4 4 4  4 2 2  4 4 4  4 4 4  4 2 2  2", 2, 2, 1, 1, 2, 0, 1,
                    2, INT, INT, 2, 1, 1, 2, 0, 1, 2, INT, INT, WORLD); /* Alltoallw */
  dumpi_build_call (b, 217, "4 4 4  4 4 4  4 1 1  4 4 4  4 4 4  1 2 2", 4, 0, 2, 2, 8, 8, 2, 1, 1,
                    2, 0, 0, 2, 2, 2, 1, INT, USER); /* Type_create_darray */
  dumpi_build_call (b, 222, "4  4 4 4  4 4 4  4 2 2  2", 2, 2, 1, 1, 2, 0, 8, 2, INT, DOUBLE,
                    USER + 1);                                             /* Type_create_struct */
  dumpi_build_call (b, 240, "2 8 2 2 s 2", 2, 0, CHAR, CHAR, "native", 1); /* File_set_view */
  dumpi_build_call (b, 242, "2 8 4 2  4 4 4 1 1 4", 2, 64, 8, CHAR, 1, 8, 0, 0, 0, 0);
  dumpi_build_call (b, 291, "8", 77); /* Function_enter */
  dumpi_build_call (b, 292, "8", 77);
  dumpi_build_finalize (b);
}

static void
test_every_layout (DumpiFixture *f)
{
  g_autoptr (GHashTable) calls = NULL;

  add_every_layout (f->build);
  dumpi_fixture_open (f);
  calls = dumpi_testing_calls (f->stream.trace, 0);
  g_assert_cmpuint (g_hash_table_size (calls), >, 0);
}

static void
test_sends (DumpiFixture *f)
{
  dumpi_build_call (f->build, 4, "4 2 4 4 2", 3, DOUBLE, 5, 17, 4);
  dumpi_build_call (f->build, 9, "4 2 4 4 2 4", 10, CHAR, -1, 1, WORLD, 9);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "send mode=synchronous bytes=24 peer=5 tag=17 comm=4",
          "isend mode=buffered peer=null request=9");
  trace_testing_stream_end (&f->stream);
  g_assert_true (trace_testing_warned (f->stream.trace, "no MPI_Finalize"));
}

/* A status: bytes, source, cancelled, error, tag. */
#define STATUS "4 4 1 1 4"

static void
test_blocking_receives (DumpiFixture *f)
{
  dumpi_build_call (f->build, 1, "4 2 4 4 2 4" STATUS, 8, INT, -1, -1, WORLD, 1, 20, 6, 0, 0, 3);
  dumpi_build_call (f->build, 1, "4 2 4 4 2 4" STATUS, 8, INT, -1, -1, WORLD, 1, 0, -1, 0, 0, -1);
  dumpi_build_call (f->build, 1, "4 2 4 4 2 4", 8, INT, -2, 0, WORLD, 0);
  dumpi_build_call (f->build, 1, "4 2 4 4 2 4", 8, INT, -1, 0, WORLD, 0);
  dumpi_build_call (f->build, 1, "4 2 4 4 2 4", 8, INT, 3, 0, WORLD, 0);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "recv bytes=32 peer=any tag=any matched_source=6",
          "recv peer=null" /* MPICH's MPI_PROC_NULL */, "recv peer=null" /* Open MPI's */,
          "recv peer=any matched_source=any", "recv peer=3 matched_source=3");
}

/* Masks without the low bits say that no status is written at all. */
static void
test_no_statuses (DumpiFixture *f)
{
  f->build->mask = 0x4c;
  dumpi_build_call (f->build, 1, "4 2 4 4 2", 8, INT, -1, 0, WORLD);
  dumpi_build_call (f->build, 18, "4  4 4", 1, 1, 5);
  dumpi_build_finalize (f->build);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "recv peer=any", "wait requests[0]=5", "finalize");
  trace_testing_stream_end (&f->stream);
}

/* Two wildcard receives share request 5 and complete in order; a third one,
 * on request 6, is cancelled; a fourth, on 7, is a receive from nobody. */
static void
test_wildcards_are_resolved_by_later_calls (DumpiFixture *f)
{
  static const int requests[] = { 5, 5, 6, 7 };

  for (guint i = 0; i < 4; i++)
    dumpi_build_call (f->build, 12, "4 2 4 4 2 4", 1, INT, -1, 0, WORLD, requests[i]);
  dumpi_build_call (f->build, 13, "4 4" STATUS, 5, 1, 4, 2, 0, 0, 0);
  dumpi_build_call (f->build, 14, "4 4 4" STATUS, 5, 0, 1, 4, 1, 0, 0, 0); /* not yet */
  dumpi_build_call (f->build, 18, "4  4 4 4 4  4" STATUS STATUS STATUS, 3, 3, 6, 7, 5, 3, 0, -1, 1,
                    0, 0, 0, -1, 0, 0, 0, 4, 4, 0, 0, 0);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "irecv peer=any matched_source=2", "irecv peer=any matched_source=4",
          "irecv peer=any matched_source=any", "irecv peer=null matched_source=any");
}

static void
test_persistent_wildcard_from_nobody (DumpiFixture *f)
{
  dumpi_build_call (f->build, 30, "4 2 4 4 2 4", 1, INT, -1, 0, WORLD, 3);
  dumpi_build_call (f->build, 32, "4 4 4", 1, 1, 3);
  dumpi_build_call (f->build, 13, "4 4" STATUS, 3, 1, 0, -1, 0, 0, 0);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "recv_init peer=null", "start n_requests=1 requests[0]=3");
}

/* It gets a message of 2, then one of 3. */
static void
test_persistent_wildcard_from_several (DumpiFixture *f)
{
  dumpi_build_call (f->build, 30, "4 2 4 4 2 4", 1, INT, -1, 0, WORLD, 3);
  for (int source = 2; source <= 3; source++) {
    dumpi_build_call (f->build, 31, "4", 3);
    dumpi_build_call (f->build, 13, "4 4" STATUS, 3, 1, 4, source, 0, 0, 0);
  }
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "recv_init peer=any matched_source=any");
}

/* The status of a wait is not that of an older receive with the same handle. */
static void
test_wildcard_after_a_freed_request (DumpiFixture *f)
{
  dumpi_build_call (f->build, 12, "4 2 4 4 2 4", 1, INT, -1, 0, WORLD, 5);
  dumpi_build_call (f->build, 15, "4", 5);
  dumpi_build_call (f->build, 12, "4 2 4 4 2 4", 1, INT, -1, 0, WORLD, 5);
  dumpi_build_call (f->build, 13, "4 4" STATUS, 5, 1, 0, -1, 0, 0, 0);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "irecv peer=any", "request_free", "irecv peer=null");
}

/* Only 8 bits of a request counted then. */
static void
test_wildcard_of_an_old_version (DumpiFixture *f)
{
  dumpi_fixture_restart (f, 0, 6, 6);
  dumpi_build_call (f->build, 12, "4 2 4 4 2 4", 1, INT, -1, 0, WORLD, 0x1234502);
  dumpi_build_call (f->build, 13, "4 4" STATUS, 0x6543202, 1, 4, 6, 0, 0, 0);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "irecv matched_source=6");
}

static void
test_sendrecv (DumpiFixture *f)
{
  dumpi_build_call (f->build, 33, "4 2 4 4  4 2 4 4  2 4", 2, INT, 1, 11, 3, DOUBLE, 2, 22, WORLD,
                    0);
  dumpi_build_call (f->build, 34, "4 2 4 4 4 4 2 4", 5, CHAR, -2, 1, 7, 2, WORLD, 0);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "sendrecv bytes=8 peer=1 tag=11 recv_bytes=24 recv_peer=2 recv_tag=22",
          "sendrecv recv_bytes=5 peer=null recv_peer=7");
}

static void
test_completions (DumpiFixture *f)
{
  dumpi_build_call (f->build, 13, "4 4", 8, 0);
  dumpi_build_call (f->build, 18, "4  4 4 4  4", 2, 2, 8, 9, 0);
  dumpi_build_call (f->build, 16, "4  4 4 4  4 4", 2, 2, 8, 9, 1, 0);
  dumpi_build_call (f->build, 16, "4  4 4 4  4 4", 2, 2, 8, 9, -32766, 0); /* MPI_UNDEFINED */
  dumpi_build_call (f->build, 16, "4  4 4 4  4 4", 2, 2, 8, 9, 2, 0);
  dumpi_build_call (f->build, 20, "4  4 4 4  4  4 4 4  4", 2, 2, 8, 9, 2, 2, 1, 0, 0);
  dumpi_build_call (f->build, 14, "4 4 4", 8, 0, 0);
  dumpi_build_call (f->build, 14, "4 4 4", 8, 1, 0);
  dumpi_build_call (f->build, 17, "4  4 4 4  4 4 4", 2, 2, 8, 9, 1, 0, 0);
  dumpi_build_call (f->build, 17, "4  4 4 4  4 4 4", 2, 2, 8, 9, 1, 1, 0);
  dumpi_build_call (f->build, 19, "4  4 4 4  4 4", 2, 2, 8, 9, 1, 0);
  dumpi_build_call (f->build, 21, "4  4 4 4  4  4 4  4", 2, 2, 8, 9, 0, 1, 1, 0);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "wait n_requests=1 requests[0]=8 n_completed=1 completed[0]=0",
          "wait n_requests=2 requests[1]=9 n_completed=2 completed[0]=0",
          "wait_some n_requests=2 n_completed=1 completed[0]=1",
          "wait_some n_requests=2 n_completed=0", "wait_some n_requests=2 n_completed=0",
          "wait_some n_requests=2 n_completed=2 completed[0]=1", "test n_requests=1 n_completed=0",
          "test n_requests=1 n_completed=1 completed[0]=0", "test n_requests=2 n_completed=0",
          "test n_requests=2 n_completed=1 completed[0]=1",
          "test n_requests=2 n_completed=2 completed[0]=0", "test n_requests=2 n_completed=0");
}

static void
test_probes (DumpiFixture *f)
{
  dumpi_build_call (f->build, 23, "4 4 2 4" STATUS, -1, 5, WORLD, 1, 0, 3, 0, 0, 5);
  dumpi_build_call (f->build, 22, "4 4 2 4 4", 2, 5, WORLD, 0, 0);
  dumpi_build_call (f->build, 22, "4 4 2 4 4", 2, 5, WORLD, 1, 0);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "probe matched_source=3", "iprobe n_completed=0",
          "iprobe n_completed=1 peer=2");
}

/* 0.6.1: argc twice, statuses without tag, one number for the indices of
 * Type_struct and the coordinates of Cart_get, 8-bit requests. */
static void
test_old_version (DumpiFixture *f)
{
  dumpi_fixture_restart (f, 0, 6, 1);
  dumpi_build_call (f->build, 124, "4 4 s", 1, 1, "./a.out");
  dumpi_build_call (f->build, 40, "4  4 4  4  4 2  2", 1, 1, 3, 0, 1, INT, 28);
  dumpi_build_call (f->build, 105, "4 2 4  4 4  4 4  4", 1, 4, 1, 1, 8, 1, 0, 3);
  dumpi_build_call (f->build, 8, "4 2 4 4 2 4", 2, 28, 1, 0, WORLD, 0x1234502);
  dumpi_build_call (f->build, 13, "4 4 4 4 1 1", 0x6543202, 1, 8, 0, 0, 0);
  dumpi_build_finalize (f->build);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "init", "call", "call", "isend bytes=24 request=2", "wait requests[0]=2",
          "finalize");
  trace_testing_stream_end (&f->stream);
}

static void
test_unrecorded_calls_are_told (DumpiFixture *f)
{
  dumpi_build_init (f->build);
  dumpi_build_finalize (f->build);
  f->build->ignored[65] = 83;
  f->build->ignored[82] = 5; /* Comm_rank, of no consequence */
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "init", "finalize");
  trace_testing_stream_end (&f->stream);
  g_assert_cmpuint (trace_warnings (f->stream.trace)->len, ==, 1);
  g_assert_true (trace_testing_warned (f->stream.trace, "MPI_Allreduce"));
}

static void
test_place (DumpiFixture *f)
{
  dumpi_build_init (f->build);
  dumpi_fixture_open (f);
  EXPECT (&f->stream, "init");
  g_assert_cmpstr (trace_cursor_place (f->stream.cursor), ==, "t-0000.bin:0x10");
}

static const DumpiTest tests[] = {
  { "gap/wall", test_gap_is_start_minus_previous_end, 0 },
  { "gap/processor", test_processor_times_when_there_are_no_others, 0 },
  { "gap/none", test_no_times, 0 },
  { "gap/wrap", test_seconds_wrap, 0 },
  { "layouts/usual", test_every_layout, 0x4f },
  { "layouts/counters", test_every_layout, 0xcf },
  { "layouts/wall-only", test_every_layout, 0x0b },
  { "ops/send", test_sends, 0 },
  { "ops/recv", test_blocking_receives, 0 },
  { "ops/no-statuses", test_no_statuses, 0 },
  { "ops/wildcards", test_wildcards_are_resolved_by_later_calls, 0 },
  { "ops/persistent", test_persistent_wildcard_from_nobody, 0 },
  { "ops/persistent-several", test_persistent_wildcard_from_several, 0 },
  { "ops/wildcard-after-free", test_wildcard_after_a_freed_request, 0 },
  { "ops/sendrecv", test_sendrecv, 0 },
  { "ops/completions", test_completions, 0 },
  { "ops/probes", test_probes, 0 },
  { "versions/0.6.1", test_old_version, 0 },
  { "versions/0.6.6", test_wildcard_of_an_old_version, 0 },
  { "warnings/unrecorded", test_unrecorded_calls_are_told, 0 },
  { "place", test_place, 0 },
};

int
main (int argc, char **argv)
{
  return dumpi_testing_main (argc, argv, tests, G_N_ELEMENTS (tests));
}
