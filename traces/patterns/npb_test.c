/* npb_test.c - generated benchmarks: sizes worked out by hand, operations, rules.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/trace_testing.h"

#include <string.h>

static Trace *
open_program (const char *kernel, char class_name, uint32_t n_ranks, uint32_t iterations)
{
  g_autofree char *spec = g_strdup_printf ("gen:npb:kernel=%s,class=%c,ranks=%u,iterations=%u",
                                           kernel, class_name, n_ranks, iterations);

  return trace_testing_open (spec);
}

#define ALL_RANKS UINT32_MAX

/* Operations of a kind and a size that one rank makes, or all (ALL_RANKS). */
static guint
count (Trace *trace, uint32_t rank, TraceOpKind kind, uint64_t bytes)
{
  guint n = 0;
  TraceOp op;

  for (uint32_t i = 0; i < trace_ranks (trace); i++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, i, NULL);

    if (rank != ALL_RANKS && rank != i)
      continue;
    while (trace_cursor_next (cursor, &op, NULL) == TRACE_NEXT_OPERATION)
      n += op.kind == kind && op.bytes == bytes;
  }
  return n;
}

/* Operations of a kind and size in one iteration, which the warm-up makes as
 * well; worked out by hand. */
static const struct {
  const char *kernel;
  char class_name;
  uint32_t n_ranks, rank;
  TraceOpKind kind;
  uint64_t bytes;
  guint n;
} sizes[] = {
  /* 408 / 4 = 102 points of 5 doubles; 101 where the grid has its boundary.
   * In either direction, 2 of the 4 lines of ranks are inner ones, with 3 pairs
   * of neighbours, 2 sweeps and 406 planes each. */
  { "lu", 'D', 16, ALL_RANKS, TRACE_OP_SEND, 4080, 2 * 2 * 2 * 3 * 2 * 406 },
  { "lu", 'D', 16, ALL_RANKS, TRACE_OP_SEND, 4040, 2 * 2 * 2 * 3 * 2 * 406 },
  /* Two layers of faces to 4 neighbours, once for the forcing term and, twice,
   * before the steps and in the step: 10 * 8 * 102 * 408. */
  { "lu", 'D', 16, 5, TRACE_OP_SEND, 3329280, 4 * 5 },

  /* 2^5 ranks are 8 along x by 4 along y: rank 9 is at (1, 1).  64 / 4 = 16
   * points between ranks along x, 64 / 8 = 8 along y. */
  { "lu", 'A', 32, 9, TRACE_OP_SEND, 16 * 40, 2 * 2 * 62 },
  { "lu", 'A', 32, 9, TRACE_OP_SEND, 8 * 40, 2 * 2 * 62 },

  /* Two ranks along x: the surface integral passes 12 doubles along both sides
   * in y that are the grid's boundary, as the one rank along y has both. */
  { "lu", 'S', 2, 1, TRACE_OP_SEND, 12 * 8, 2 },
  { "lu", 'S', 2, 0, TRACE_OP_SEND, 12 * 8, 0 },

  /* Cells of 102^3: messages of 103^2 points of 30 and of 5 doubles, 3 cells of
   * 102^2 points, 2 layers and 5 variables. */
  { "bt", 'D', 16, 0, TRACE_OP_ISEND, 103 * 103 * 240, 2 * 3 * 3 },
  { "bt", 'D', 16, 0, TRACE_OP_ISEND, 103 * 103 * 40, 2 * 3 * 3 },
  { "bt", 'D', 16, 0, TRACE_OP_ISEND, 3 * 102 * 102 * 80, 3 * 6 },

  /* Without neighbours along an edge, rank 0 has the cells (0, 0, 0) and
   * (1, 1, 1) of 32^3 points: 31^2 inner ones to pass on. */
  { "sp", 'A', 4, 0, TRACE_OP_ISEND, 31 * 31 * 22 * 8, 2 * 3 },
  { "sp", 'A', 4, 0, TRACE_OP_ISEND, 31 * 31 * 10 * 8, 2 * 3 },

  /* 102 = 15 + 15 + 15 + 15 + 14 + 14 + 14 on 7 x 7 ranks.  Rank 0 has the cells
   * (c, -c, c): going up x, all but the last have faces of 14 x 14, 13 x 15 and
   * four times 14 x 15; up z the same; up y 14 x 14, 13 x 13, 14 x 14, 14 x 14,
   * 15 x 15, 15 x 15. */
  { "sp", 'B', 49, 0, TRACE_OP_ISEND, 14 * 14 * 22 * 8, 2 * 5 },
  { "sp", 'B', 49, 0, TRACE_OP_ISEND, 13 * 15 * 22 * 8, 2 * 2 },
  { "sp", 'B', 49, 0, TRACE_OP_ISEND, 14 * 15 * 22 * 8, 2 * 8 },
  { "sp", 'B', 49, 0, TRACE_OP_ISEND, 13 * 13 * 22 * 8, 2 * 1 },
  { "sp", 'B', 49, 0, TRACE_OP_ISEND, 15 * 15 * 22 * 8, 2 * 2 },

  /* 1.5 million / 4 rows of doubles, in 2 exchanges and a transposition that
   * is with itself for ranks 0, 5, 10, 15; 26 products, 2 conjugate gradients. */
  { "cg", 'D', 16, 0, TRACE_OP_SEND, 3000000, 2 * 26 * 3 },
  { "cg", 'D', 16, 0, TRACE_OP_SEND, 8, 2 * 52 * 2 },
  { "cg", 'D', 16, 0, TRACE_OP_SEND, 16, 2 * 2 },
  /* Twice as many columns as rows: the vector of 14000 / 2 rows is halved. */
  { "cg", 'A', 8, 3, TRACE_OP_SEND, 3500 * 8, 2 * 26 * 3 },

  /* 512^3 on 64 ranks is 128^3 each; two more planes than points where a face
   * carries ghosts.  To two neighbours: charges and residual, twice; then, in
   * two V-cycles, residual, smoothing, residual. */
  { "mg", 'C', 64, 9, TRACE_OP_SEND, 128 * 128 * 8, 2 * (4 + 6) },
  { "mg", 'C', 64, 9, TRACE_OP_SEND, 130 * 128 * 8, 2 * (4 + 6) },
  { "mg", 'C', 64, 9, TRACE_OP_SEND, 130 * 130 * 8, 2 * (4 + 6) },

  /* One transposition of slabs; two of pencils: 128 ranks for 64 planes. */
  { "ft", 'S', 64, 7, TRACE_OP_ALLTOALL, 16 * 262144 / 64 / 64, 3 },
  { "ft", 'S', 128, 7, TRACE_OP_ALLTOALL, 16 * 262144 / 128 / 64, 3 },
  { "ft", 'S', 128, 7, TRACE_OP_ALLTOALL, 16 * 262144 / 128 / 2, 3 },

  /* Sizes that 32 bits do not hold, and numbers that they just do.  MG has 32
   * exchanges in each of two V-cycles over 11 levels. */
  { "ft", 'E', 2, 0, TRACE_OP_ALLTOALL, G_GUINT64_CONSTANT (68719476736), 3 },
  { "bt", 'E', 4, 0, TRACE_OP_ISEND, 511 * 511 * 240, 2 * 3 },
  { "mg", 'E', 2, 0, TRACE_OP_IRECV, 2 * 2050 * 2050 * 8, 6 * (2 * 32 + 4) },
};

static void
test_sizes (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autoptr (Trace) trace =
        open_program (sizes[i].kernel, sizes[i].class_name, sizes[i].n_ranks, 1);
    guint n = count (trace, sizes[i].rank, sizes[i].kind, sizes[i].bytes);

    if (n != sizes[i].n)
      g_error ("%s class %c on %u ranks: %u operations of %" G_GUINT64_FORMAT " bytes",
               sizes[i].kernel, sizes[i].class_name, sizes[i].n_ranks, n, sizes[i].bytes);
  }
}

/* The bytes of the Alltoallv of an iteration, by sender and receiver. */
static void
read_keys (Trace *trace, uint32_t rank, uint64_t *sent, uint64_t *received)
{
  g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, NULL);
  TraceOp op;

  while (trace_cursor_next (cursor, &op, NULL) == TRACE_NEXT_OPERATION)
    if (op.kind == TRACE_OP_ALLTOALLV) {
      g_assert_cmpuint (op.n_counts, ==, trace_ranks (trace));
      memcpy (sent, op.counts, op.n_counts * sizeof *sent);
      memcpy (received, op.recv_counts, op.n_recv_counts * sizeof *received);
    }
}

static void
check_keys (char class_name, guint log_keys, double tolerance)
{
  g_autoptr (Trace) trace = open_program ("is", class_name, 64, 1);
  uint64_t sent[64][64] = { 0 }, received[64][64] = { 0 };
  uint64_t per_rank = ((uint64_t) 4 << log_keys) / 64;

  for (uint32_t rank = 0; rank < 64; rank++)
    read_keys (trace, rank, sent[rank], received[rank]);
  for (uint32_t rank = 0; rank < 64; rank++) {
    uint64_t sum = 0, got = 0;

    for (uint32_t peer = 0; peer < 64; peer++) {
      sum += sent[rank][peer];
      got += received[rank][peer];
      g_assert_cmpuint (sent[rank][peer], ==, received[peer][rank]);
    }
    g_assert_cmpuint (sum, ==, per_rank);
    g_assert_cmpfloat_with_epsilon ((double) got / (double) per_rank, 1, tolerance);
  }
}

/* No key is lost, and every rank gets its share up to a bucket: the middle
 * one has 4 / 1024 of the range at a density of 2/3.  Class E is not drawn. */
static void
test_keys (void)
{
  check_keys ('S', 16, 64 * 4.0 / 512 * 0.75);
  check_keys ('W', 20, 64 * 4.0 / 1024 * 0.75);
  check_keys ('E', 35, 64 * 4.0 / 1024 * 0.75);
}

typedef struct {
  const char *kernel;
  uint32_t n_ranks;
  double giga; /* operations of all iterations of class A */
} Work;

/* The polynomials of the benchmarks' own reports, by hand. */
static const Work works[] = {
  { "bt", 16, 168.300 }, { "sp", 16, 84.999 }, { "lu", 16, 119.297 }, { "cg", 8, 1.4967 },
  { "mg", 16, 3.8923 },  { "ft", 16, 7.1423 }, { "is", 16, 0.0839 },  { "ep", 7, 0.5369 },
};

static double
sum_flops (const char *kernel, uint32_t n_ranks, uint32_t iterations)
{
  g_autoptr (Trace) trace = open_program (kernel, 'A', n_ranks, iterations);
  double sum = 0;
  TraceOp op;

  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, NULL);

    while (trace_cursor_next (cursor, &op, NULL) == TRACE_NEXT_OPERATION)
      if (op.kind == TRACE_OP_COMPUTE)
        sum += op.flops;
  }
  return sum;
}

/* Two more iterations are that much more work (of all the class has; FT's
 * count contains a first transform); EP has only one. */
static void
test_operations (void)
{
  static const guint iterations[] = { 200, 400, 250, 15, 4, 6, 10, 1 };

  for (guint i = 0; i < G_N_ELEMENTS (works); i++) {
    double one = sum_flops (works[i].kernel, works[i].n_ranks, 1), all;

    if (iterations[i] == 1)
      all = one;
    else
      all = (sum_flops (works[i].kernel, works[i].n_ranks, 2) - one) * iterations[i];
    if (g_str_equal (works[i].kernel, "ft"))
      all += (one - all / iterations[i]) / 2;
    g_assert_cmpfloat_with_epsilon (all / 1e9, works[i].giga, works[i].giga * 1e-3);
  }
}

static void
test_without_computation (void)
{
  g_autoptr (Trace) trace =
      trace_testing_open ("gen:npb:kernel=bt,class=S,ranks=4,iterations=1,compute=none");
  TraceTotals totals = trace_testing_totals (trace);

  g_assert_cmpuint (totals.n_ops[TRACE_OP_COMPUTE], ==, 0);
  g_assert_cmpuint (totals.sends, ==, 4 * (3 * 6 + 2 * 6));
}

/* The grid of the aggregation paper on its 16 ranks: 2^29 points, a sixteenth of a sixteenth for each
 * pair, of 16 bytes; a class's own grid is the class. */
static void
test_grid (void)
{
  static const char *const specs[] = {
    "gen:npb:kernel=ft,class=D,ranks=16,iterations=1",
    "gen:npb:kernel=ft,class=D,ranks=16,iterations=1,grid=2048x1024x1024",
    "gen:npb:kernel=ft,class=D,ranks=16,iterations=1,grid=1024x512x1024"
  };

  for (guint i = 0; i < G_N_ELEMENTS (specs); i++) {
    g_autoptr (Trace) trace = trace_testing_open (specs[i]);

    g_assert_cmpuint (count (trace, 0, TRACE_OP_ALLTOALL, i < 2 ? 128u << 20 : 32u << 20), ==, 3);
  }
}

/* The class's own iterations: one more product exchange per iteration. */
static void
test_own_iterations (void)
{
  g_autoptr (Trace) own = open_program ("is", 'S', 4, 0);
  g_autoptr (Trace) ten = open_program ("is", 'S', 4, 10);

  g_assert_cmpuint (count (own, 0, TRACE_OP_ALLTOALL, 4), ==, 11);
  g_assert_cmpuint (count (own, 0, TRACE_OP_ALLREDUCE, (512 + 5) * 4), ==, 11);
  g_assert_cmpstr (trace_hash (own, NULL), ==, trace_hash (ten, NULL));
}

typedef struct {
  const char *name, *parameters, *part;
} Bad;

static const Bad bad_programs[] = {
  { "bt-square", "kernel=bt,class=A,ranks=8", "square number of ranks: 4, 9" },
  { "bt-cells", "kernel=bt,class=S,ranks=25", "must have 3 of the 12 points" },
  { "sp-square", "kernel=sp,class=C,ranks=128", "square number of ranks: 121, 144" },
  { "lu-power", "kernel=lu,class=A,ranks=12", "power of two" },
  { "lu-points", "kernel=lu,class=S,ranks=16", "must have 4 of the 12 points" },
  { "cg-power", "kernel=cg,class=A,ranks=9", "power of two" },
  { "mg-power", "kernel=mg,class=A,ranks=27", "power of two" },
  { "mg-points", "kernel=mg,class=S,ranks=131072", "each of the 64 ranks along z" },
  { "ft-power", "kernel=ft,class=A,ranks=6", "power of two" },
  { "ft-grid", "kernel=ft,class=S,ranks=4,grid=64x48x64", "three powers of two" },
  { "ft-plane", "kernel=ft,class=S,ranks=4,grid=64x64", "three powers of two" },
  { "ft-shortest", "kernel=ft,class=S,ranks=1024,grid=16x64x32", "up to 512 ranks" },
  { "bt-grid", "kernel=bt,class=S,ranks=4,grid=64x64x64", "only ft can have another grid" },
  { "ft-pencils", "kernel=ft,class=W,ranks=2048", "up to 1024 ranks" },
  { "is-power", "kernel=is,class=A,ranks=3", "power of two" },
  { "is-most", "kernel=is,class=S,ranks=256", "up to 128 ranks" },
  { "is-least", "kernel=is,class=D,ranks=2", "at least 4 ranks" },
  { "is-iterations", "kernel=is,class=S,ranks=128,iterations=256", "replaces two keys of 512" },
  { "is-most-iterations", "kernel=is,class=A,ranks=4,iterations=1001", "up to 1000 iterations" },
  { "ep-iterations", "kernel=ep,class=S,ranks=4,iterations=2", "it has one iteration" },
  { "ep-blocks", "kernel=ep,class=S,ranks=257", "only 256 blocks" },
};

static void
test_bad (gconstpointer data)
{
  const Bad *bad = data;
  g_autofree char *spec = g_strconcat ("gen:npb:", bad->parameters, NULL);

  trace_testing_bad (spec, TRACE_ERROR_RANGE, bad->part);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/npb/sizes/messages", test_sizes);
  g_test_add_func ("/traces/npb/sizes/keys", test_keys);
  g_test_add_func ("/traces/npb/operations/class-A", test_operations);
  g_test_add_func ("/traces/npb/operations/none", test_without_computation);
  g_test_add_func ("/traces/npb/grid", test_grid);
  g_test_add_func ("/traces/npb/iterations", test_own_iterations);
  for (guint i = 0; i < G_N_ELEMENTS (bad_programs); i++) {
    g_autofree char *path = g_strconcat ("/traces/npb/bad/", bad_programs[i].name, NULL);

    g_test_add_data_func (path, &bad_programs[i], test_bad);
  }
  return g_test_run ();
}
