/* dumpi_ops_test.c - datatypes, collectives, communicators of DUMPI files made byte by byte.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/dumpi/dumpi_testing.h"

#include <string.h>

/* Ids of calls and datatypes in DUMPI files. */
enum { CHAR = 2, INT = 9, DOUBLE = 14, LONG_LONG_INT = 16, USER = 28 };
enum { WORLD = TRACE_COMM_WORLD };

/* A send of one element of a datatype, to look at its size. */
static void
send_one (DumpiBuild *build, int type)
{
  dumpi_build_call (build, 0, "4 2 4 4 2", 1, type, 1, 0, WORLD);
}

static void
check_sent (DumpiFixture *f, uint64_t bytes)
{
  do
    g_assert_cmpint (trace_cursor_next (f->stream.cursor, &f->stream.op, NULL), ==,
                     TRACE_NEXT_OPERATION);
  while (f->stream.op.kind == TRACE_OP_CALL);
  g_assert_cmpint (f->stream.op.kind, ==, TRACE_OP_SEND);
  g_assert_cmpuint (f->stream.op.bytes, ==, bytes);
}

static void
test_datatypes_are_computed (DumpiFixture *f)
{
  DumpiBuild *b = f->build;

  dumpi_build_call (b, 35, "4 2 2", 5, INT, 28);              /* contiguous: 20 */
  dumpi_build_call (b, 36, "4 4 4 2 2", 3, 2, 7, DOUBLE, 29); /* vector: 48 */
  dumpi_build_call (b, 38, "4  4 4 4  4 4 4  2 2", 2, 2, 1, 4, 2, 0, 9, 28, 30); /* indexed: 100 */
  dumpi_build_call (b, 40, "4  4 4 4  4 4 4  4 2 2  2", 2, 2, 1, 2, 2, 0, 8, 2, CHAR, 29,
                    31); /* 97 */
  dumpi_build_call (b, 223, "4  4 4 4  4 4 4  4 4 4  1 2 2", 2, 2, 9, 9, 2, 3, 4, 2, 0, 0, 1, INT,
                    32);                                                 /* subarray: 48 */
  dumpi_build_call (b, 220, "4 4  4 4 4  2 2", 2, 3, 2, 0, 5, CHAR, 33); /* indexed block: 6 */
  dumpi_build_call (b, 221, "2 4 4 2", 31, 0, 200, 34);                  /* resized: as 31 */
  dumpi_build_call (b, 178, "2 2", 33, 35);                              /* dup: as 33 */
  for (int type = 28; type <= 35; type++)
    send_one (b, type);
  dumpi_build_call (b, 47, "2", 28); /* freed, and given again */
  dumpi_build_call (b, 35, "4 2 2", 2, CHAR, 28);
  send_one (b, 28);
  send_one (b, 30); /* made of the old one */
  dumpi_fixture_open (f);

  for (guint i = 0; i < 10; i++) {
    static const uint64_t bytes[] = { 20, 48, 100, 97, 48, 6, 97, 6, 2, 100 };

    check_sent (f, bytes[i]);
  }
  g_assert_cmpuint (trace_warnings (f->stream.trace)->len, ==, 0);
}

static void
test_datatypes_are_listed (DumpiFixture *f)
{
  DumpiBuild *b = f->build;

  b->n_sizes = 30;
  b->sizes[11] = 4; /* MPI_LONG of Blue Gene/P */
  b->sizes[29] = 56;
  send_one (b, 11);
  send_one (b, LONG_LONG_INT); /* listed as 0 */
  send_one (b, 29);
  dumpi_fixture_open (f);

  check_sent (f, 4);
  check_sent (f, 8);
  check_sent (f, 56);
}

static void
test_datatypes_without_size (DumpiFixture *f)
{
  dumpi_build_call (f->build, 0, "4 2 4 4 2", 12, 77, 1, 0, WORLD);
  dumpi_build_call (f->build, 0, "4 2 4 4 2", -3, INT, 1, 0, WORLD);
  dumpi_fixture_open (f);

  check_sent (f, 12);
  check_sent (f, 0);
  g_assert_true (trace_testing_warned (f->stream.trace, "datatype 77"));
  g_assert_true (trace_testing_warned (f->stream.trace, "negative"));
}

static void
test_rooted_collectives (DumpiFixture *f)
{
  dumpi_build_call (f->build, 53, "4 2 4 2", 6, INT, 2, WORLD);
  dumpi_build_call (f->build, 54, "4 4 2 4 2  4 2", 2, 3, INT, 2, WORLD, 3, DOUBLE);
  dumpi_build_call (f->build, 54, "4 4 2 4 2", 1, 3, INT, 2, WORLD);
  dumpi_build_call (f->build, 57, "4 4 2 4 2 4 2  4 4 4  4 4 4", 0, 2, DOUBLE, 1, INT, 0, WORLD, 2,
                    5, 6, 2, 0, 5);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "bcast bytes=24 root=2", "gather bytes=12 recv_bytes=24",
          "gather bytes=12 recv_bytes=0", "scatterv recv_bytes=4 n_counts=2 counts[1]=48");
  g_assert_null (f->stream.op.recv_counts);
}

static void
test_other_collectives (DumpiFixture *f)
{
  dumpi_build_call (f->build, 58, "4 2 4 2 2", 0, 0, 7, INT, WORLD); /* in place */
  dumpi_build_call (f->build, 60, "4 2 4 2 2", 2, INT, 1, DOUBLE, WORLD);
  dumpi_build_call (f->build, 59, "4 4 2  4 4 4  4 4 4  2 2", 2, 3, INT, 2, 3, 4, 2, 0, 3, INT,
                    WORLD);
  dumpi_build_call (f->build, 155, "4  4 4 4  4 4 4  4 2 2  4 4 4  4 4 4  4 2 2  2", 2, 2, 1, 2, 2,
                    0, 1, 2, INT, DOUBLE, 2, 3, 4, 2, 0, 1, 2, CHAR, INT, WORLD);
  dumpi_build_call (f->build, 66, "4  4 4 4  2 1 2", 2, 2, 5, 6, DOUBLE, 3, WORLD);
  dumpi_build_call (f->build, 65, "4 2 1 2", 4, DOUBLE, 3, WORLD);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "allgather bytes=28 recv_bytes=28", "alltoall bytes=8 recv_bytes=8",
          "allgatherv bytes=12");
  g_assert_null (f->stream.op.counts);
  g_assert_cmpuint (f->stream.op.recv_counts[1], ==, 16);
  EXPECT (&f->stream, "alltoallv counts[0]=4 counts[1]=16 recv_counts[0]=3 recv_counts[1]=16",
          "reduce_scatter recv_counts[1]=48", "allreduce bytes=32 root=none");
}

/* The arguments for sending are whatever the program wrote there. */
static void
test_in_place (DumpiFixture *f)
{
  dumpi_build_call (f->build, 58, "4 2 4 2 2", 0, INT, 7, INT, WORLD);
  dumpi_build_call (f->build, 60, "4 2 4 2 2", 9, 1, 2, DOUBLE, WORLD);
  dumpi_build_call (f->build, 61, "4  4 4 2  4 4 4  4 4 4  2 2", 2, 0, 0, 1, 2, 3, 4, 2, 0, 3, INT,
                    WORLD);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "allgather bytes=28", "alltoall bytes=16",
          "alltoallv n_counts=2 counts[0]=12 counts[1]=16");
}

static void
test_communicators (DumpiFixture *f)
{
  dumpi_build_call (f->build, 84, "2 2", WORLD, 4);
  dumpi_build_call (f->build, 86, "2 4 4 2", 4, 1, -9, 5);
  dumpi_build_call (f->build, 86, "2 4 4 2", 4, -32766, 0, 1);
  dumpi_build_call (f->build, 99, "2 4  4 4 4  4 4 4  4 2", 4, 2, 2, 3, 2, 2, 1, 0, 1, 6);
  dumpi_build_call (f->build, 111, "4 2  4 4 4  2", 2, 6, 2, 1, 0, 7);
  dumpi_build_call (f->build, 87, "2", 7);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "comm_dup comm=world new_comm=4", "comm_split color=1 key=-9",
          "comm_split color=undefined", "cart_create n_values=2 values[0]=3 values2[0]=1",
          "cart_sub comm=6 values[1]=0", "comm_free comm=7");
}

static void
test_groups (DumpiFixture *f)
{
  dumpi_build_call (f->build, 72, "2 2", WORLD, 3);
  dumpi_build_call (f->build, 76, "2 4  4 4 4  2", 3, 2, 2, 6, 1, 4);
  dumpi_build_call (f->build, 78, "2 4  4  4 4 4 4  4 4 4 4  2", 3, 2, 2, 3, 0, 1, 1, 3, 4, 6, 2,
                    5);
  dumpi_build_call (f->build, 73, "2 2 2", 4, 5, 6);
  dumpi_build_call (f->build, 80, "2", 5);
  dumpi_build_call (f->build, 85, "2 2 2", WORLD, 6, 4);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "comm_group new_group=3", "group_incl group=3 values[0]=6 new_group=4",
          "group_range_incl n_values=6 values[5]=2", "group_union group2=5", "group_free",
          "comm_create group=6 new_comm=4");
}

static void
test_unsupported (DumpiFixture *f)
{
  dumpi_build_call (f->build, 143, "4 2 4 4 4 2 2", 1, INT, 1, 0, 1, INT, 2);
  dumpi_build_call (f->build, 53, "4 2 4 2", 6, INT, -2, 4); /* MPI_ROOT */
  dumpi_build_call (f->build, 250, "2 4 2 4", 2, 100, CHAR, 0);
  dumpi_fixture_open (f);

  EXPECT (&f->stream, "unsupported name=MPI_Put", "unsupported name=MPI_Bcast",
          "call name=MPI_File_write");
}

static const DumpiTest tests[] = {
  { "types/computed", test_datatypes_are_computed, 0 },
  { "types/listed", test_datatypes_are_listed, 0 },
  { "types/unknown", test_datatypes_without_size, 0 },
  { "ops/rooted", test_rooted_collectives, 0 },
  { "ops/collectives", test_other_collectives, 0 },
  { "ops/in-place", test_in_place, 0 },
  { "ops/communicators", test_communicators, 0 },
  { "ops/groups", test_groups, 0 },
  { "ops/unsupported", test_unsupported, 0 },
};

int
main (int argc, char **argv)
{
  return dumpi_testing_main (argc, argv, tests, G_N_ELEMENTS (tests));
}
