/* pattern_kinds_test.c - the messages of each pattern.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The sums over all messages were computed apart from this program, with
 * numpy: neighbours by roll() of the array of ranks, groups by moveaxis() and
 * reshape().  Every send is also matched with its receive. */
#include "traces/patterns/pattern.h"
#include "traces/trace_testing.h"

#include <string.h>

/* Messages between ranks of MPI_COMM_WORLD in figures that do not depend on
 * their order: how many, their bytes, and the sums of source x destination and
 * of (source - destination) squared. */
typedef struct {
  uint64_t n, bytes, products, squares;
} Sums;

static void
add_message (Sums *sums, uint32_t source, uint32_t destination, uint64_t bytes)
{
  int64_t distance = (int64_t) source - destination;

  sums->n++;
  sums->bytes += bytes;
  sums->products += (uint64_t) source * destination;
  sums->squares += (uint64_t) (distance * distance);
}

static void
count_message (GHashTable *open, uint32_t source, uint32_t destination, const TraceOp *op, int step)
{
  char *key =
      g_strdup_printf ("%u %u %d %" G_GUINT64_FORMAT, source, destination, op->tag, op->bytes);
  int n = GPOINTER_TO_INT (g_hash_table_lookup (open, key)) + step;

  if (n == 0) {
    g_hash_table_remove (open, key);
    g_free (key);
  } else
    g_hash_table_insert (open, key, GINT_TO_POINTER (n));
}

/* The messages of all ranks.  Every one must have its receive, of the same size
 * and tag, and every request must be waited for before the stream ends. */
static Sums
sum_sends (const char *spec)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Trace) trace = trace_testing_open (spec);
  /* "source destination tag bytes" -> sends less receives */
  g_autoptr (GHashTable) open = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Sums sums = { 0 };

  for (uint32_t rank = 0; rank < trace_ranks (trace); rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, &error);
    g_autoptr (GHashTable) requests = g_hash_table_new (NULL, NULL);
    TraceNext next;
    TraceOp op;

    while ((next = trace_cursor_next (cursor, &op, &error)) == TRACE_NEXT_OPERATION) {
      gboolean sends = op.kind == TRACE_OP_ISEND || op.kind == TRACE_OP_SEND;

      if (op.kind == TRACE_OP_ISEND || op.kind == TRACE_OP_IRECV) {
        g_assert_cmpuint (op.request, >=, PATTERN_FIRST_REQUEST);
        g_assert_true (g_hash_table_add (requests, GUINT_TO_POINTER (op.request)));
      }
      for (uint32_t i = 0; op.kind == TRACE_OP_WAIT && i < op.n_requests; i++)
        g_assert_true (g_hash_table_remove (requests, GUINT_TO_POINTER (op.requests[i])));
      if (sends) {
        g_assert_cmpuint (op.comm, ==, TRACE_COMM_WORLD);
        count_message (open, rank, (uint32_t) op.peer, &op, 1);
        add_message (&sums, rank, (uint32_t) op.peer, op.bytes);
      } else if (op.kind == TRACE_OP_IRECV || op.kind == TRACE_OP_RECV)
        count_message (open, (uint32_t) op.peer, rank, &op, -1);
    }
    g_assert_no_error (error);
    g_assert_cmpint (next, ==, TRACE_NEXT_END);
    g_assert_cmpuint (g_hash_table_size (requests), ==, 0);
  }
  g_assert_cmpuint (g_hash_table_size (open), ==, 0);
  return sums;
}

/* The calls of a rank on one communicator. */
typedef struct {
  uint32_t rank;
  int32_t key;
  uint64_t calls, bytes;
} Member;

static void
check_sums (const char *spec, const Sums *sums, const Sums *expected)
{
  if (memcmp (sums, expected, sizeof *sums) != 0)
    g_error ("%s: %" G_GUINT64_FORMAT " messages, %" G_GUINT64_FORMAT " bytes, products "
             "%" G_GUINT64_FORMAT ", squares %" G_GUINT64_FORMAT,
             spec, sums->n, sums->bytes, sums->products, sums->squares);
}

static const struct {
  const char *spec;
  Sums sums;
} sends[] = {
  /* 4 messages of each of 30 ranks, in both iterations. */
  { "halo2d:grid=6x5,bytes=10,iterations=2", { 2 * 120, 2 * 1200, 2 * 30350, 2 * 7740 } },
  /* Of n x m ranks, 2 (n (m - 1) + m (n - 1)) messages stay within the grid. */
  { "halo2d:grid=6x5,bytes=10,iterations=1,periodic=no",
    { 2 * (6 * 4 + 5 * 5), 980, 26440, 1298 } },
  /* In a dimension of two, both neighbours are the same rank: it gets two messages. */
  { "halo2d:grid=2x3,bytes=1,iterations=1", { 24, 24, 154, 132 } },
  { "halo3d:grid=4x3x5,bytes=100,iterations=3",
    { 3 * 14 * 60, 3 * 84000, 3 * 764240, 3 * 437400 } },
  /* 2 (3 * 3 * 5 + 4 * 2 * 5 + 4 * 3 * 4) over faces, 8 * 3 * 2 * 4 over corners. */
  { "halo3d:grid=4x3x5,bytes=1,iterations=1,periodic=no",
    { 2 * (45 + 40 + 48) + 8 * 24, 458, 478240, 70538 } },
  /* In a dimension of one a rank is its own neighbour, and sends to itself. */
  { "halo3d:grid=2x1x3,bytes=1,iterations=1", { 84, 84, 440, 660 } },
  /* Three planes of 16 x 8 complex numbers up, two down; then layers of real
   * numbers to both sides in z, y and x. */
  { "pf3d:grid=4x2x3,zones=16x8x3,iterations=1",
    { 16 + 16 + 32 + 24 + 36,
      (16 * 3 + 16 * 2) * 16 * 8 * 8 + 4 * (32 * 16 * 8 + 24 * 16 * 3 + 36 * 8 * 3),
      2200 + 2200 + 4400 + 4132 + 6456, 1024 + 1024 + 2048 + 384 + 36 } },
  { "permutation:ranks=16,kind=shift,distance=5,bytes=2,iterations=1", { 16, 32, 800, 880 } },
  /* A distance is taken around; no rank sends over a distance of 0 mod ranks. */
  { "permutation:ranks=16,kind=shift,distance=2147483637,bytes=2,iterations=1",
    { 16, 32, 800, 880 } },
  { "permutation:ranks=16,kind=shift,distance=32,iterations=1", { 0, 0, 0, 0 } },
  { "permutation:ranks=15,kind=transpose,bytes=1,iterations=1", { 12, 12, 630, 280 } },
  { "permutation:ranks=32,kind=reverse,bytes=1,iterations=1", { 24, 24, 5596, 4176 } },
  { "ring:ranks=7,bytes=4,iterations=1", { 7, 28, 70, 42 } },
  { "ring:ranks=7,bytes=4,iterations=1,both=yes", { 14, 56, 140, 84 } },
  /* Two ranks that send to both sides: the messages differ in their tags. */
  { "ring:ranks=2,bytes=1,iterations=1,both=yes", { 4, 4, 0, 4 } },
  { "pingpong:ranks=10,bytes=8,iterations=3", { 3 * 10, 3 * 80, 3 * 160, 3 * 250 } },
};

static void
test_sends (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (sends); i++) {
    g_autofree char *spec = g_strconcat ("gen:", sends[i].spec, NULL);
    Sums sums = sum_sends (spec);

    check_sums (spec, &sums, &sends[i].sums);
  }
}

enum {
  X_BYTES = 16 * 8 * 8 / 4, /* 16 zones x 8 zones of 8 bytes, cut in 4 along x */
  Y_BYTES = 16 * 8 * 8 / 2, /* and in 2 along y */
  CALLS = 2 * 2 * 3,        /* two transposes each of 3 planes, in 2 steps */
};

/* All-to-alls taken apart into messages between different ranks, and the
 * communicators other than MPI_COMM_WORLD. */
static const struct {
  const char *spec;
  Sums sums;
  guint n_communicators;
} alltoalls[] = {
  { "suba2a:ranks=128,bytes=8,iterations=1",
    { 2 * 64 * 63, 2 * 64 * 63 * 8, 32343360, 22364160 },
    2 },
  /* Groups of 4 along y, of which there are two after each other. */
  { "suba2a:grid=4x8x6,size=4,dimension=y,bytes=1,iterations=2",
    { 2 * 576, 2 * 576, 2 * 6988128, 2 * 69120 },
    48 },
  { "pf3d:grid=4x2x3,zones=16x8x3,iterations=2",
    { CALLS * (72 + 24), CALLS *(72 * X_BYTES + 24 * Y_BYTES), CALLS *(12852 + 4132),
      CALLS *(240 + 384) },
    6 + 12 },
  /* 6 numbers of 8 bytes of 64/8 x 48/8 zones, twice in each of 3 cycles. */
  { "evh1:ranks=8,zones=64x48,iterations=3",
    { 6 * 56, 6 * 56 * 6 * 8 * 8 * 6, 6 * 644, 6 * 672 },
    0 },
  { "alltoall:ranks=5,bytes=3,iterations=4", { 4 * 20, 4 * 60, 4 * 70, 4 * 100 }, 0 },
};

/* All ranks of a communicator must call it alike.  Keys of members in rank
 * order must be in order too: then the rank in the communicator is that of the
 * grid. */
static void
add_group (Sums *sums, const GPtrArray *members)
{
  const Member *first = members->pdata[0];

  for (guint i = 0; i < members->len; i++) {
    const Member *source = members->pdata[i];

    g_assert_cmpuint (source->calls, ==, first->calls);
    g_assert_cmpuint (source->bytes, ==, first->bytes);
    if (i > 0)
      g_assert_cmpint (source->key, >=, ((const Member *) members->pdata[i - 1])->key);
    for (guint j = 0; first->calls > 0 && j < members->len; j++)
      for (uint64_t call = 0; i != j && call < first->calls; call++)
        add_message (sums, source->rank, ((const Member *) members->pdata[j])->rank,
                     first->bytes / first->calls);
  }
}

static void
check_alltoalls (const char *spec, const Sums *expected, guint n_communicators)
{
  g_autoptr (Trace) trace = trace_testing_open (spec);
  /* "handle colour" -> (element-type Member), by rank */
  g_autoptr (GHashTable) groups =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
  Sums sums = { 0 };
  GHashTableIter iter;
  gpointer group;

  for (uint32_t rank = 0; rank < trace_ranks (trace); rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, NULL);
    g_autoptr (GHashTable) comms = g_hash_table_new (NULL, NULL); /* handle -> Member */
    TraceNext next;
    TraceOp op;

    while ((next = trace_cursor_next (cursor, &op, NULL)) == TRACE_NEXT_OPERATION) {
      if (op.kind == TRACE_OP_INIT || op.kind == TRACE_OP_COMM_SPLIT) {
        uint32_t handle = op.kind == TRACE_OP_INIT ? TRACE_COMM_WORLD : op.new_comm;
        g_autofree char *name = g_strdup_printf ("%u %d", handle, op.color);
        GPtrArray *members = g_hash_table_lookup (groups, name);
        Member *member = g_new0 (Member, 1);

        g_assert_cmpuint (op.comm, ==, TRACE_COMM_WORLD);
        *member = (Member){ .rank = rank, .key = op.key };
        if (members == NULL) {
          members = g_ptr_array_new_with_free_func (g_free);
          g_hash_table_insert (groups, g_steal_pointer (&name), members);
        }
        g_ptr_array_add (members, member);
        g_hash_table_insert (comms, GUINT_TO_POINTER (handle), member);
      } else if (op.kind == TRACE_OP_ALLTOALL) {
        Member *member = g_hash_table_lookup (comms, GUINT_TO_POINTER (op.comm));

        g_assert_nonnull (member);
        g_assert_cmpuint (op.bytes, ==, op.recv_bytes);
        member->calls++;
        member->bytes += op.bytes;
      }
    }
    g_assert_cmpint (next, ==, TRACE_NEXT_END);
  }
  g_hash_table_iter_init (&iter, groups);
  while (g_hash_table_iter_next (&iter, NULL, &group))
    add_group (&sums, group);
  check_sums (spec, &sums, expected);
  if (g_hash_table_size (groups) - 1 != n_communicators)
    g_error ("%s: %u communicators", spec, g_hash_table_size (groups) - 1);
}

static void
test_alltoalls (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (alltoalls); i++) {
    g_autofree char *spec = g_strconcat ("gen:", alltoalls[i].spec, NULL);

    check_alltoalls (spec, &alltoalls[i].sums, alltoalls[i].n_communicators);
  }
}

/* Receives are posted, then sends, then all are waited for. */
static void
test_halo_order (void)
{
  TraceTestingStream s;

  trace_testing_stream_open (&s, NULL, "gen:halo3d:grid=4x4x4,compute=5us,bytes=9,iterations=1", 21,
                             NULL);
  EXPECT (&s, "init", "compute gap_ps=5000000");
  for (guint i = 0; i < 28; i++)
    EXPECT (&s, i < 14 ? "irecv" : "isend");
  EXPECT (&s, "wait n_requests=28");
  trace_testing_stream_close (&s);
}

static void
test_pf3d_default_grid (void)
{
  g_autoptr (Trace) all = trace_testing_open ("gen:pf3d");
  g_autoptr (Trace) some = trace_testing_open ("gen:pf3d:ranks=256");

  g_assert_cmpuint (trace_ranks (all), ==, 16 * 8 * 128);
  g_assert_cmpuint (trace_ranks (some), ==, 256);
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

/* A random permutation is the same in every iteration, and another with
 * another seed. */
static void
test_random_permutation (void)
{
  Sums once = sum_sends ("gen:permutation:ranks=100,kind=random,bytes=1,iterations=1");
  Sums thrice = sum_sends ("gen:permutation:ranks=100,kind=random,bytes=1,iterations=3");
  Sums other = sum_sends ("gen:permutation:ranks=100,kind=random,bytes=1,iterations=1,seed=2");

  g_assert_cmpuint (once.n, >=, 90);
  check_sums ("3 iterations", &thrice,
              &(Sums){ 3 * once.n, 3 * once.bytes, 3 * once.products, 3 * once.squares });
  g_assert_cmpuint (other.products, !=, once.products);
}

/* Destinations change with iterations and seeds.  Of 1,000 x 4 messages about
 * 4 would go to their own source and are left out; the mean square of the
 * distance of two random ranks is (n^2 - 1) / 6. */
static void
test_random (void)
{
  Sums first = sum_sends ("gen:random:ranks=1000,bytes=1,iterations=1");
  Sums two = sum_sends ("gen:random:ranks=1000,bytes=1,iterations=2");
  Sums other = sum_sends ("gen:random:ranks=1000,bytes=1,iterations=1,seed=9");

  g_assert_cmpuint (first.n, >=, 4000 - 20);
  g_assert_cmpuint (two.products, !=, 2 * first.products);
  g_assert_cmpuint (other.products, !=, first.products);
  g_assert_cmpfloat ((double) first.squares / (double) first.n / 166666.5, >, 0.9);
  g_assert_cmpfloat ((double) first.squares / (double) first.n / 166666.5, <, 1.1);
}

/* The first half sends first, the other half second. */
static void
test_pingpong_order (void)
{
  for (uint32_t rank = 0; rank < 4; rank++) {
    g_autofree char *first = g_strdup_printf ("%s peer=%u", rank < 2 ? "send" : "recv", rank ^ 2);
    TraceTestingStream s;

    trace_testing_stream_open (&s, NULL, "gen:pingpong:ranks=4,iterations=1", rank, NULL);
    EXPECT (&s, "init", first);
    trace_testing_stream_close (&s);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/pattern/sends", test_sends);
  g_test_add_func ("/traces/pattern/alltoalls", test_alltoalls);
  g_test_add_func ("/traces/pattern/halo3d/order", test_halo_order);
  g_test_add_func ("/traces/pattern/pf3d/default-grid", test_pf3d_default_grid);
  g_test_add_func ("/traces/pattern/evh1/cycle", test_evh1_cycle);
  g_test_add_func ("/traces/pattern/permutation/random", test_random_permutation);
  g_test_add_func ("/traces/pattern/random", test_random);
  g_test_add_func ("/traces/pattern/pingpong/order", test_pingpong_order);
  return g_test_run ();
}
