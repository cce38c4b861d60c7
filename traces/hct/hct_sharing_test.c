/* hct_sharing_test.c - data that the native format stores once, and that its
 * cursors share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/format.h"
#include "traces/hct/hct_testing.h"
#include "traces/writer.h"

#include <glib/gstdio.h>
#include <malloc.h>
#include <string.h>

/* A halo exchange on a grid of side x side ranks: a computation that takes the
 * same time always, or another time each time, four receives, four sends and
 * a wait for all of them. */
typedef struct {
  uint32_t side, iterations;
  gboolean periodic, noisy;
} Halo;

enum { OPS_PER_ITERATION = 10 };

static int32_t
neighbour (const Halo *halo, uint32_t rank, uint32_t direction)
{
  static const int steps[4][2] = { { -1, 0 }, { 1, 0 }, { 0, -1 }, { 0, 1 } };
  int side = (int) halo->side;
  int x = (int) rank % side + steps[direction][0], y = (int) rank / side + steps[direction][1];

  if (!halo->periodic && (x < 0 || y < 0 || x >= side || y >= side))
    return TRACE_PROC_NULL;
  return (y + side) % side * side + (x + side) % side;
}

static gboolean
halo_op (gconstpointer data, uint32_t rank, uint64_t index, TraceOp *op)
{
  static const uint32_t requests[] = { 10, 11, 12, 13, 14, 15, 16, 17 };
  const Halo *halo = data;
  uint32_t place = (uint32_t) (index % OPS_PER_ITERATION);

  if (index >= (uint64_t) halo->iterations * OPS_PER_ITERATION)
    return FALSE;
  if (place == 0) {
    op->kind = TRACE_OP_COMPUTE;
    op->name = "compute";
    op->gap_ps =
        halo->noisy ? (int64_t) (index * 7919 + rank * UINT64_C (104729)) % 999983 : 5000000;
  } else if (place == OPS_PER_ITERATION - 1) {
    op->kind = TRACE_OP_WAIT;
    op->name = "MPI_Waitall";
    op->requests = requests;
    op->n_requests = G_N_ELEMENTS (requests);
  } else {
    op->kind = place <= 4 ? TRACE_OP_IRECV : TRACE_OP_ISEND;
    op->name = place <= 4 ? "MPI_Irecv" : "MPI_Isend";
    op->comm = TRACE_COMM_WORLD;
    op->peer = neighbour (halo, rank, place <= 4 ? (place - 1) ^ 1 : place - 5);
    op->tag = (int32_t) ((place - 1) % 4);
    op->bytes = 16384;
    op->request = requests[place - 1];
    op->matched_source = TRACE_ANY_SOURCE;
    op->root = TRACE_NO_ROOT;
  }
  return TRUE;
}

static Trace *
open_halo (const Halo *halo)
{
  return trace_testing_made_up (halo->side * halo->side, FALSE, halo_op, (gpointer) halo, NULL);
}

/* The size of the trace as .hct. */
static goffset
converted_bytes (Trace *trace)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = hct_testing_convert (trace, folder);
  GStatBuf status;

  g_assert_cmpint (g_stat (path, &status), ==, 0);
  return status.st_size;
}

/* The claim: 100 iterations on 65,536 ranks in less than 1 MB. */
static void
test_halos_are_small (void)
{
  static const struct {
    Halo halo;
    goffset most_bytes;
  } cases[] = {
    { { .side = 256, .iterations = 100, .periodic = TRUE }, 1000000 },
    { { .side = 64, .iterations = 100 }, 20000 },
    /* Times that differ keep nothing else from being shared: only they are left. */
    { { .side = 16, .iterations = 100, .noisy = TRUE }, 16 * 16 * 100 * 4 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (Trace) trace = open_halo (&cases[i].halo);
    goffset bytes = converted_bytes (trace);

    g_test_message ("side %u: %" G_GOFFSET_FORMAT " bytes", cases[i].halo.side, bytes);
    g_assert_cmpint (bytes, <, cases[i].most_bytes);
  }
}

/* Neither the ranks nor the iterations count: 16 times the ranks and 10 times
 * the iterations take less than twice the bytes. */
static void
test_size_does_not_grow (void)
{
  g_autoptr (Trace) small = open_halo (&(Halo){ .side = 16, .iterations = 10 });
  g_autoptr (Trace) large = open_halo (&(Halo){ .side = 64, .iterations = 100 });

  g_assert_cmpint (converted_bytes (large), <, 2 * converted_bytes (small));
}

/* The 15-point exchange in three dimensions, as the pattern makes it. */
static void
test_halo3d_is_small (void)
{
  const char *spec = g_test_slow () ? "gen:halo3d:ranks=65536,iterations=100"
                                    : "gen:halo3d:ranks=4096,iterations=20";
  g_autoptr (Trace) trace = trace_testing_open (spec);

  g_assert_cmpint (converted_bytes (trace), <, g_test_slow () ? 1000000 : 10000);
}

static void
test_halo_comes_back (void)
{
  static const Halo halos[] = { { .side = 8, .iterations = 30, .periodic = TRUE },
                                { .side = 9, .iterations = 30, .noisy = TRUE },
                                { .side = 1, .iterations = 30, .periodic = TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (halos); i++) {
    g_autoptr (Trace) trace = open_halo (&halos[i]);

    hct_testing_round_trip (trace);
  }
}

static gsize
allocated (void)
{
  return mallinfo2 ().uordblks;
}

/* Bytes per open cursor in the middle of a trace of so many iterations. */
static gsize
bytes_per_cursor (const Halo *halo)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autoptr (Trace) trace = open_halo (halo);
  g_autoptr (Trace) again = hct_testing_again (trace, folder);
  uint32_t n_ranks = trace_ranks (trace), n_ops = halo->iterations * OPS_PER_ITERATION / 2;
  g_autofree TraceCursor **cursors = g_new (TraceCursor *, n_ranks);
  gsize before = allocated (), after;
  TraceOp op;

  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    cursors[rank] = trace_cursor_new (again, rank, NULL);
    for (guint i = 0; i < n_ops; i++)
      g_assert_cmpint (trace_cursor_next (cursors[rank], &op, NULL), ==, TRACE_NEXT_OPERATION);
  }
  after = allocated ();
  for (uint32_t rank = 0; rank < n_ranks; rank++)
    trace_cursor_free (cursors[rank]);
  return (after - before) / n_ranks;
}

/* Memory is in proportion to the ranks, not to the operations. */
static void
test_cursors_are_small (void)
{
  gsize few = bytes_per_cursor (&(Halo){ .side = 32, .iterations = 10 });
  gsize many = bytes_per_cursor (&(Halo){ .side = 32, .iterations = 200 });

  if (allocated () == 0) {
    g_test_skip ("this allocator does not say what it gave out");
    return;
  }
  g_test_message ("%" G_GSIZE_FORMAT " and %" G_GSIZE_FORMAT " bytes per cursor", few, many);
  g_assert_cmpuint (few, <, 1500);
  g_assert_cmpuint (many, <, few + 100);
}

static uint64_t
digest_of_rank (Trace *trace, uint32_t rank)
{
  g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, NULL);
  uint64_t digest = 0;
  TraceOp op;

  while (trace_cursor_next (cursor, &op, NULL) == TRACE_NEXT_OPERATION)
    digest = (digest ^ op.kind ^ (uint64_t) op.peer << 20 ^ (uint64_t) op.gap_ps) *
             UINT64_C (0x9e3779b97f4a7c15);
  return digest;
}

typedef struct {
  Trace *trace;
  const uint64_t *digests;
  uint32_t first;
} Task;

static gpointer
read_in_thread (gpointer data)
{
  const Task *task = data;
  uint32_t n = trace_ranks (task->trace);

  for (uint32_t i = 0; i < n; i++) {
    uint32_t rank = (task->first + i) % n;

    g_assert_cmpuint (digest_of_rank (task->trace, rank), ==, task->digests[rank]);
  }
  return NULL;
}

/* Cursors of one trace may be in different threads. */
static void
test_threads (void)
{
  const Halo halo = { .side = 15, .iterations = 50, .noisy = TRUE };
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autoptr (Trace) trace = open_halo (&halo);
  g_autoptr (Trace) again = hct_testing_again (trace, folder);
  g_autofree uint64_t *digests = g_new (uint64_t, trace_ranks (trace));
  GThread *threads[4];
  Task tasks[4];

  for (uint32_t rank = 0; rank < trace_ranks (trace); rank++)
    digests[rank] = digest_of_rank (trace, rank);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++) {
    tasks[i] = (Task){ again, digests, 60 * i };
    threads[i] = g_thread_new ("reader", read_in_thread, &tasks[i]);
  }
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
}

/* Two cursors of one rank, one behind the other, do not disturb each other's
 * arrays. */
static void
test_two_cursors (void)
{
  const Halo halo = { .side = 4, .iterations = 30, .noisy = TRUE };
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autoptr (Trace) trace = open_halo (&halo);
  g_autoptr (Trace) again = hct_testing_again (trace, folder);
  g_autoptr (TraceCursor) first = trace_cursor_new (again, 5, NULL);
  g_autoptr (TraceCursor) second = trace_cursor_new (again, 5, NULL);
  TraceOp op, expected, other;

  for (guint i = 0; i < 7; i++)
    trace_cursor_next (first, &other, NULL);
  for (uint64_t i = 0; i < 290; i++) {
    memset (&expected, 0, sizeof expected);
    halo_op (&halo, 5, i, &expected);
    g_assert_cmpint (trace_cursor_next (second, &op, NULL), ==, TRACE_NEXT_OPERATION);
    g_assert_cmpint (trace_cursor_next (first, &other, NULL), ==, TRACE_NEXT_OPERATION);
    g_assert_cmpint (op.gap_ps, ==, expected.gap_ps);
    g_assert_cmpint (op.peer, ==, expected.peer);
    g_assert_cmpuint (op.n_requests, ==, expected.n_requests);
    for (uint32_t r = 0; r < op.n_requests; r++)
      g_assert_cmpuint (op.requests[r], ==, expected.requests[r]);
  }
}

/* The source of a trace and its warnings stay with it, through a second
 * conversion as well. */
static void
test_provenance (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *source = trace_testing_write (folder, "t.txt", "0 init\n0 iallreduce 2 0\n", 24);
  g_autoptr (Trace) trace = trace_testing_open (source);
  g_autoptr (Trace) again = NULL;
  g_autoptr (Trace) twice = NULL;
  const char *hash;

  g_assert_null (trace_source (trace, &hash));
  trace_note (trace, "no hardware counters");
  again = hct_testing_again (trace, folder);
  g_assert_cmpstr (trace_source (again, &hash), ==, "ti");
  g_assert_cmpstr (hash, ==, trace_hash (trace, NULL));
  g_assert_cmpuint (trace_warnings (again)->len, ==, trace_warnings (trace)->len);
  g_assert_true (trace_testing_warned (again, "no finalize"));
  g_assert_cmpstr (trace_warnings (again)->pdata[0], ==, trace_warnings (trace)->pdata[0]);
  twice = hct_testing_again (again, folder);
  g_assert_cmpuint (trace_notes (twice)->len, ==, 1);
  g_assert_cmpstr (trace_notes (twice)->pdata[0], ==, "no hardware counters");
  g_assert_cmpstr (trace_source (twice, NULL), ==, "ti");
  g_assert_cmpstr (trace_hash (twice, NULL), ==, trace_hash (again, NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/hct/size/halo", test_halos_are_small);
  g_test_add_func ("/traces/hct/size/growth", test_size_does_not_grow);
  g_test_add_func ("/traces/hct/size/halo3d", test_halo3d_is_small);
  g_test_add_func ("/traces/hct/size/comes-back", test_halo_comes_back);
  g_test_add_func ("/traces/hct/cursors/memory", test_cursors_are_small);
  g_test_add_func ("/traces/hct/cursors/threads", test_threads);
  g_test_add_func ("/traces/hct/cursors/two", test_two_cursors);
  g_test_add_func ("/traces/hct/provenance", test_provenance);
  return g_test_run ();
}
