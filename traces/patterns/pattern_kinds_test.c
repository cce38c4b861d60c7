/* pattern_kinds_test.c - who sends how much to whom in each pattern.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The sums over all messages were computed apart from this program, with
 * numpy: neighbours by roll() of the array of ranks, groups by moveaxis() and
 * reshape().  Every pattern's sends are also matched with its receives, see
 * pattern_testing.h. */
#include "traces/patterns/pattern_testing.h"

/* 4 messages of each of 30 ranks, in both iterations. */
static void
test_halo2d (void)
{
  pattern_testing_equal (pattern_testing_sends ("gen:halo2d:grid=6x5,bytes=10,iterations=2"),
                         2 * 120u, 2 * 1200u, 2 * 30350u, 2 * 7740u);
}

/* Of n x m ranks, 2 (n (m - 1) + m (n - 1)) messages stay within the grid. */
static void
test_halo2d_open (void)
{
  pattern_testing_equal (
      pattern_testing_sends ("gen:halo2d:grid=6x5,bytes=10,iterations=1,periodic=no"),
      2u * (6 * 4 + 5 * 5), 980u, 26440u, 1298u);
}

/* In a dimension of two, both neighbours are the same rank: it gets two messages. */
static void
test_halo2d_of_two (void)
{
  pattern_testing_equal (pattern_testing_sends ("gen:halo2d:grid=2x3,bytes=1,iterations=1"), 24u,
                         24u, 154u, 132u);
}

static void
test_halo3d (void)
{
  pattern_testing_equal (pattern_testing_sends ("gen:halo3d:grid=4x3x5,bytes=100,iterations=3"),
                         3 * 14u * 60, 3 * 84000u, 3 * 764240u, 3 * 437400u);
}

/* 2 (3 * 3 * 5 + 4 * 2 * 5 + 4 * 3 * 4) over faces, 8 * 3 * 2 * 4 over corners. */
static void
test_halo3d_open (void)
{
  pattern_testing_equal (
      pattern_testing_sends ("gen:halo3d:grid=4x3x5,bytes=1,iterations=1,periodic=no"),
      2u * (45 + 40 + 48) + 8 * 24, 458u, 478240u, 70538u);
}

/* In a dimension of one a rank is its own neighbour, and sends to itself. */
static void
test_halo3d_of_one (void)
{
  pattern_testing_equal (pattern_testing_sends ("gen:halo3d:grid=2x1x3,bytes=1,iterations=1"), 84u,
                         84u, 440u, 660u);
}

/* Receives are posted, then sends, then all are waited for. */
static void
test_halo_order (void)
{
  g_autoptr (Trace) trace =
      trace_testing_open ("gen:halo3d:grid=4x4x4,compute=5us,bytes=9,iterations=1");
  g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, 21, NULL);
  TraceOp op;

  g_assert_cmpint (trace_cursor_next (cursor, &op, NULL), ==, TRACE_NEXT_OPERATION);
  g_assert_cmpint (trace_cursor_next (cursor, &op, NULL), ==, TRACE_NEXT_OPERATION);
  g_assert_cmpint (op.kind, ==, TRACE_OP_COMPUTE);
  g_assert_cmpint (op.gap_ps, ==, 5000000);
  for (guint i = 0; i < 28; i++) {
    g_assert_cmpint (trace_cursor_next (cursor, &op, NULL), ==, TRACE_NEXT_OPERATION);
    g_assert_cmpint (op.kind, ==, i < 14 ? TRACE_OP_IRECV : TRACE_OP_ISEND);
  }
  g_assert_cmpint (trace_cursor_next (cursor, &op, NULL), ==, TRACE_NEXT_OPERATION);
  g_assert_cmpint (op.kind, ==, TRACE_OP_WAIT);
  g_assert_cmpuint (op.n_requests, ==, 28);
}

static void
test_suba2a (void)
{
  guint n_communicators;

  pattern_testing_equal (
      pattern_testing_alltoalls ("gen:suba2a:ranks=128,bytes=8,iterations=1", &n_communicators),
      2u * 64 * 63, 2u * 64 * 63 * 8, 32343360u, 22364160u);
  g_assert_cmpuint (n_communicators, ==, 2);
}

/* Groups of 4 along y, of which there are two after each other. */
static void
test_suba2a_along_y (void)
{
  guint n_communicators;

  pattern_testing_equal (
      pattern_testing_alltoalls ("gen:suba2a:grid=4x8x6,size=4,dimension=y,bytes=1,iterations=2",
                                 &n_communicators),
      2 * 576u, 2 * 576u, 2 * 6988128u, 2 * 69120u);
  g_assert_cmpuint (n_communicators, ==, 48);
}

/* 16 zones x 8 zones of 8 bytes, cut in 4 along x and in 2 along y; two
 * transposes each of 3 planes, in 2 steps. */
static void
test_pf3d_transforms (void)
{
  enum { CALLS = 2 * 2 * 3, X_BYTES = 16 * 8 * 8 / 4, Y_BYTES = 16 * 8 * 8 / 2 };
  guint n_communicators;

  pattern_testing_equal (
      pattern_testing_alltoalls ("gen:pf3d:grid=4x2x3,zones=16x8x3,iterations=2", &n_communicators),
      CALLS * (72u + 24), CALLS * (72u * X_BYTES + 24 * Y_BYTES), CALLS * (12852u + 4132),
      CALLS * (240u + 384));
  g_assert_cmpuint (n_communicators, ==, 6 + 12);
}

/* Three planes of 16 x 8 complex numbers up, two down; then layers of real
 * numbers to both sides in z, y and x. */
static void
test_pf3d_messages (void)
{
  pattern_testing_equal (pattern_testing_sends ("gen:pf3d:grid=4x2x3,zones=16x8x3,iterations=1"),
                         16u + 16 + 32 + 24 + 36,
                         (16 * 3 + 16 * 2) * 16 * 8 * 8u +
                             4 * (32u * 16 * 8 + 24 * 16 * 3 + 36 * 8 * 3),
                         2200u + 2200 + 4400 + 4132 + 6456, 1024u + 1024 + 2048 + 384 + 36);
}

static void
test_pf3d_default_grid (void)
{
  g_autoptr (Trace) all = trace_testing_open ("gen:pf3d");
  g_autoptr (Trace) some = trace_testing_open ("gen:pf3d:ranks=256");

  g_assert_cmpuint (trace_ranks (all), ==, 16 * 8 * 128);
  g_assert_cmpuint (trace_ranks (some), ==, 256);
}

/* 6 numbers of 8 bytes of 64/8 x 48/8 zones, twice in each of 3 cycles. */
static void
test_evh1 (void)
{
  guint n_communicators;

  pattern_testing_equal (
      pattern_testing_alltoalls ("gen:evh1:ranks=8,zones=64x48,iterations=3", &n_communicators),
      6 * 56u, 6 * 56u * 6 * 8 * 8 * 6, 6 * 644u, 6 * 672u);
  g_assert_cmpuint (n_communicators, ==, 0);
}

static void
test_evh1_cycle (void)
{
  g_autoptr (Trace) trace =
      trace_testing_open ("gen:evh1:ranks=2,zones=4x4,iterations=1,compute=3ps");
  const TraceTotals totals = trace_testing_totals (trace);

  g_assert_cmpuint (totals.n_ops[TRACE_OP_ALLTOALL], ==, 2 * 2);
  g_assert_cmpuint (totals.n_ops[TRACE_OP_ALLREDUCE], ==, 2);
  g_assert_cmpint (totals.gap_ps, ==, 2 * 3);
}

static void
test_alltoall (void)
{
  guint n_communicators;

  pattern_testing_equal (
      pattern_testing_alltoalls ("gen:alltoall:ranks=5,bytes=3,iterations=4", &n_communicators),
      4 * 20u, 4 * 60u, 4 * 70u, 4 * 100u);
}

static void
test_shift (void)
{
  pattern_testing_equal (
      pattern_testing_sends ("gen:permutation:ranks=16,kind=shift,distance=5,bytes=2,iterations=1"),
      16u, 32u, 800u, 880u);
}

/* A distance is taken around; of 0 mod ranks nobody sends. */
static void
test_shift_around (void)
{
  pattern_testing_equal (
      pattern_testing_sends (
          "gen:permutation:ranks=16,kind=shift,distance=2147483637,bytes=2,iterations=1"),
      16u, 32u, 800u, 880u);
  pattern_testing_equal (
      pattern_testing_sends ("gen:permutation:ranks=16,kind=shift,distance=32,iterations=1"), 0u,
      0u, 0u, 0u);
}

static void
test_transpose (void)
{
  pattern_testing_equal (
      pattern_testing_sends ("gen:permutation:ranks=15,kind=transpose,bytes=1,iterations=1"), 12u,
      12u, 630u, 280u);
}

static void
test_bit_reversal (void)
{
  pattern_testing_equal (
      pattern_testing_sends ("gen:permutation:ranks=32,kind=reverse,bytes=1,iterations=1"), 24u,
      24u, 5596u, 4176u);
}

/* A random permutation is the same in every iteration, and another with
 * another seed. */
static void
test_random_permutation (void)
{
  PatternSums once =
      pattern_testing_sends ("gen:permutation:ranks=100,kind=random,bytes=1,iterations=1");
  PatternSums thrice =
      pattern_testing_sends ("gen:permutation:ranks=100,kind=random,bytes=1,iterations=3");
  PatternSums other =
      pattern_testing_sends ("gen:permutation:ranks=100,kind=random,bytes=1,iterations=1,seed=2");

  g_assert_cmpuint (once.n, >=, 90);
  pattern_testing_equal (thrice, 3 * once.n, 3 * once.bytes, 3 * once.products, 3 * once.squares);
  g_assert_cmpuint (other.products, !=, once.products);
}

/* Destinations change with iterations and seeds.  Of 1,000 x 4 messages about
 * 4 would go to their own source and are left out; the mean square of the
 * distance of two random ranks is (n^2 - 1) / 6. */
static void
test_random (void)
{
  PatternSums first = pattern_testing_sends ("gen:random:ranks=1000,bytes=1,iterations=1");
  PatternSums two = pattern_testing_sends ("gen:random:ranks=1000,bytes=1,iterations=2");
  PatternSums other = pattern_testing_sends ("gen:random:ranks=1000,bytes=1,iterations=1,seed=9");

  g_assert_cmpuint (first.n, >=, 4000 - 20);
  g_assert_cmpuint (two.products, !=, 2 * first.products);
  g_assert_cmpuint (other.products, !=, first.products);
  g_assert_cmpfloat ((double) first.squares / (double) first.n / 166666.5, >, 0.9);
  g_assert_cmpfloat ((double) first.squares / (double) first.n / 166666.5, <, 1.1);
}

static void
test_ring (void)
{
  pattern_testing_equal (pattern_testing_sends ("gen:ring:ranks=7,bytes=4,iterations=1"), 7u, 28u,
                         70u, 42u);
  pattern_testing_equal (pattern_testing_sends ("gen:ring:ranks=7,bytes=4,iterations=1,both=yes"),
                         14u, 56u, 140u, 84u);
}

/* Two ranks that send to both sides: the messages differ in their tags. */
static void
test_ring_of_two (void)
{
  pattern_testing_equal (pattern_testing_sends ("gen:ring:ranks=2,bytes=1,iterations=1,both=yes"),
                         4u, 4u, 0u, 4u);
}

static void
test_pingpong (void)
{
  pattern_testing_equal (pattern_testing_sends ("gen:pingpong:ranks=10,bytes=8,iterations=3"),
                         3 * 10u, 3 * 80u, 3 * 160u, 3 * 250u);
}

/* The first half sends first, the other answers. */
static void
test_pingpong_order (void)
{
  g_autoptr (Trace) trace = trace_testing_open ("gen:pingpong:ranks=4,iterations=1");

  for (uint32_t rank = 0; rank < 4; rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, NULL);
    TraceOp op;

    trace_cursor_next (cursor, &op, NULL);
    g_assert_cmpint (trace_cursor_next (cursor, &op, NULL), ==, TRACE_NEXT_OPERATION);
    g_assert_cmpint (op.kind, ==, rank < 2 ? TRACE_OP_SEND : TRACE_OP_RECV);
    g_assert_cmpint (op.peer, ==, (int32_t) (rank ^ 2));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/pattern/halo2d/periodic", test_halo2d);
  g_test_add_func ("/traces/pattern/halo2d/open", test_halo2d_open);
  g_test_add_func ("/traces/pattern/halo2d/two", test_halo2d_of_two);
  g_test_add_func ("/traces/pattern/halo3d/periodic", test_halo3d);
  g_test_add_func ("/traces/pattern/halo3d/open", test_halo3d_open);
  g_test_add_func ("/traces/pattern/halo3d/one", test_halo3d_of_one);
  g_test_add_func ("/traces/pattern/halo3d/order", test_halo_order);
  g_test_add_func ("/traces/pattern/suba2a/sizes", test_suba2a);
  g_test_add_func ("/traces/pattern/suba2a/along-y", test_suba2a_along_y);
  g_test_add_func ("/traces/pattern/pf3d/transforms", test_pf3d_transforms);
  g_test_add_func ("/traces/pattern/pf3d/messages", test_pf3d_messages);
  g_test_add_func ("/traces/pattern/pf3d/default-grid", test_pf3d_default_grid);
  g_test_add_func ("/traces/pattern/evh1/transposes", test_evh1);
  g_test_add_func ("/traces/pattern/evh1/cycle", test_evh1_cycle);
  g_test_add_func ("/traces/pattern/alltoall", test_alltoall);
  g_test_add_func ("/traces/pattern/permutation/shift", test_shift);
  g_test_add_func ("/traces/pattern/permutation/around", test_shift_around);
  g_test_add_func ("/traces/pattern/permutation/transpose", test_transpose);
  g_test_add_func ("/traces/pattern/permutation/reverse", test_bit_reversal);
  g_test_add_func ("/traces/pattern/permutation/random", test_random_permutation);
  g_test_add_func ("/traces/pattern/random", test_random);
  g_test_add_func ("/traces/pattern/ring/both", test_ring);
  g_test_add_func ("/traces/pattern/ring/two", test_ring_of_two);
  g_test_add_func ("/traces/pattern/pingpong/pairs", test_pingpong);
  g_test_add_func ("/traces/pattern/pingpong/order", test_pingpong_order);
  return g_test_run ();
}
