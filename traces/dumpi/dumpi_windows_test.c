/* dumpi_windows_test.c - one-sided communication in DUMPI files made byte by byte.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/dumpi/dumpi_testing.h"

enum { INT = 9, DOUBLE = 14, WORLD = TRACE_COMM_WORLD, WINDOW = 3 };

static void
add_window (DumpiBuild *b, int comm, int window)
{
  dumpi_build_call (b, 145, "4 4 2 2 2", 4096, 1, 0, comm, window);
}

static void
add_put (DumpiBuild *b, int target, int window)
{
  dumpi_build_call (b, 143, "4 2 4 4 4 2 2", 8, DOUBLE, target, 0, 16, INT, window);
}

static void
test_accesses (DumpiFixture *f)
{
  add_window (f->build, 5, WINDOW);
  dumpi_build_call (f->build, 146, "1 2", 0, WINDOW);
  add_put (f->build, 2, WINDOW);
  dumpi_build_call (f->build, 142, "4 2 4 4 4 2 2", 3, INT, 4, 0, 3, INT, WINDOW);
  dumpi_build_call (f->build, 141, "4 2 4 4 4 2 1 2", 2, INT, 6, 0, 2, INT, 3, WINDOW);
  add_put (f->build, -1, WINDOW);
  dumpi_build_call (f->build, 147, "2", WINDOW);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "win_create comm=5 window=3 call_ps=500000", "win_fence comm=5 window=3",
          "put comm=5 window=3 peer=2 bytes=64 recv_bytes=0", "get peer=4 recv_bytes=12 bytes=0",
          "put name=MPI_Accumulate bytes=8", "put peer=null", "win_free comm=5 window=3");
  trace_testing_stream_end (&f->stream);
}

static void
test_locks (DumpiFixture *f)
{
  add_window (f->build, WORLD, WINDOW);
  dumpi_build_call (f->build, 149, "1 4 1 2", 1, 7, 0, WINDOW);
  add_put (f->build, 7, WINDOW);
  dumpi_build_call (f->build, 153, "4 2", 7, WINDOW);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "win_create", "call", "put", "win_flush comm=world window=3 peer=7");
  trace_testing_stream_end (&f->stream);
}

/* The same handle means another window after it was freed. */
static void
test_handle_is_given_again (DumpiFixture *f)
{
  add_window (f->build, WORLD, WINDOW);
  dumpi_build_call (f->build, 147, "2", WINDOW);
  add_window (f->build, 5, WINDOW);
  add_put (f->build, 1, WINDOW);
  dumpi_build_call (f->build, 147, "2", WINDOW);
  add_put (f->build, 1, WINDOW);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "win_create", "win_free", "win_create", "put comm=5 window=3", "win_free",
          "unsupported name=MPI_Put");
  g_assert_true (trace_testing_warned (f->stream.trace, "MPI_Put"));
}

enum { ALL = 3, SOME = 4, RANGE = 5, REST = 6 };

/* Groups of the eight ranks: 6 and 1; from 7 down to 3 by twos; and of those
 * all but the second. */
static void
add_groups (DumpiBuild *b)
{
  dumpi_build_call (b, 72, "2 2", WORLD, ALL);
  dumpi_build_call (b, 76, "2 4 4 4 4 2", ALL, 2, 2, 6, 1, SOME);
  dumpi_build_call (b, 78, "2 4 4 4 4 4 4 2", ALL, 1, 1, 3, 7, 3, -2, RANGE);
  dumpi_build_call (b, 77, "2 4 4 4 2", RANGE, 1, 1, 1, REST);
}

static void
test_post_and_start (DumpiFixture *f)
{
  DumpiBuild *b = f->build;

  add_window (b, WORLD, WINDOW);
  add_groups (b);
  dumpi_build_call (b, 150, "2 1 2", SOME, 0, WINDOW);
  dumpi_build_call (b, 151, "2 1 2", RANGE, 0, WINDOW);
  dumpi_build_call (b, 144, "2", WINDOW);
  dumpi_build_call (b, 152, "2 4", WINDOW, 0);
  dumpi_build_call (b, 152, "2 4", WINDOW, 1);
  dumpi_build_call (b, 151, "2 1 2", REST, 0, WINDOW);
  dumpi_build_call (b, 151, "2 1 2", ALL, 0, WINDOW);
  dumpi_build_call (b, 144, "2", WINDOW);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "win_create", "comm_group", "group_incl", "group_range_incl", "group_excl",
          "win_post n_values=2 values[0]=6 values[1]=1",
          "win_start n_values=3 values[0]=7 values[1]=5 values[2]=3",
          "win_complete n_values=3 values[0]=7 values[1]=5 values[2]=3", "call",
          "win_wait n_values=2 values[0]=6 values[1]=1",
          "win_start n_values=2 values[0]=7 values[1]=3", "win_start n_values=8",
          "win_complete values[7]=7");
  g_assert_cmpuint (trace_warnings (f->stream.trace)->len, ==, 0);
}

/* The ranks of a group of another communicator are not those of the window. */
static void
test_foreign_groups (DumpiFixture *f)
{
  DumpiBuild *b = f->build;

  add_window (b, 5, WINDOW);
  add_groups (b);
  dumpi_build_call (b, 150, "2 1 2", SOME, 0, WINDOW);
  dumpi_build_call (b, 148, "2 2", WINDOW, ALL);
  dumpi_build_call (b, 76, "2 4 4 4 4 2", ALL, 2, 2, 6, 1, SOME);
  dumpi_build_call (b, 150, "2 1 2", SOME, 0, WINDOW);
  dumpi_build_call (b, 84, "2 2", WORLD, 5); /* the handle is given again */
  dumpi_build_call (b, 150, "2 1 2", SOME, 0, WINDOW);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "win_create", "comm_group", "group_incl", "group_range_incl", "group_excl",
          "unsupported name=MPI_Win_post", "comm_group comm=5", "group_incl",
          "win_post n_values=2 values[0]=6 values[1]=1", "comm_dup", "unsupported");
}

/* A range of two thousand million ranks, a stride of 0, a rank too many. */
static void
test_impossible_groups (DumpiFixture *f)
{
  DumpiBuild *b = f->build;

  add_window (b, WORLD, WINDOW);
  dumpi_build_call (b, 72, "2 2", WORLD, ALL);
  dumpi_build_call (b, 78, "2 4 4 4 4 4 4 2", ALL, 1, 1, 3, 0, 2147483647, 1, SOME);
  dumpi_build_call (b, 150, "2 1 2", SOME, 0, WINDOW);
  dumpi_build_call (b, 78, "2 4 4 4 4 4 4 2", ALL, 1, 1, 3, 0, 3, 0, SOME);
  dumpi_build_call (b, 150, "2 1 2", SOME, 0, WINDOW);
  dumpi_build_call (b, 77, "2 4 4 4 2", ALL, 1, 1, 1, RANGE);
  dumpi_build_call (b, 76, "2 4 4 4 2", RANGE, 1, 1, 7, SOME);
  dumpi_build_call (b, 150, "2 1 2", SOME, 0, WINDOW);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "win_create", "comm_group", "group_range_incl", "unsupported",
          "group_range_incl", "unsupported", "group_excl", "group_incl", "unsupported");
}

static const DumpiTest tests[] = {
  { "windows/accesses", test_accesses, 0 },
  { "windows/locks", test_locks, 0 },
  { "windows/handle-is-given-again", test_handle_is_given_again, 0 },
  { "windows/post-and-start", test_post_and_start, 0 },
  { "windows/foreign-groups", test_foreign_groups, 0 },
  { "windows/impossible-groups", test_impossible_groups, 0 },
};

int
main (int argc, char **argv)
{
  return dumpi_testing_main (argc, argv, tests, G_N_ELEMENTS (tests));
}
