/* npb_recorded_test.c - generated benchmarks against runs of the real ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * NPB 3.3-MPI was recorded on 16 ranks (some with fewer iterations, as their
 * SOURCE.txt says); its messages were counted by others on 32 tasks, and the
 * bytes of one run on 1,024 ranks. */
#include "traces/trace_testing.h"

#include <stdio.h>

typedef struct {
  const char *set;  /* under recorded/ of the shared traces */
  const char *spec; /* of the same run */
} Run;

static const Run runs[] = {
  { "npb-bt-W-16", "gen:npb:kernel=bt,class=W,ranks=16,iterations=60" },
  { "npb-sp-W-16", "gen:npb:kernel=sp,class=W,ranks=16,iterations=80" },
  { "npb-lu-W-16", "gen:npb:kernel=lu,class=W,ranks=16,iterations=40" },
  { "npb-cg-A-16", "gen:npb:kernel=cg,class=A,ranks=16" },
  { "npb-mg-A-16", "gen:npb:kernel=mg,class=A,ranks=16" },
  { "npb-ft-W-16", "gen:npb:kernel=ft,class=W,ranks=16" },
  { "npb-is-A-16", "gen:npb:kernel=is,class=A,ranks=16" },
  { "npb-ep-A-16", "gen:npb:kernel=ep,class=A,ranks=16" },
};

/* One rank's calls.  Request handles differ between MPI libraries: a request
 * is told by how many were started before it. */
typedef struct {
  TraceCursor *cursor;
  TraceOp op;
  uint32_t rank;
  GHashTable *requests; /* handle -> number of the start */
  guint n_started;
} Stream;

static void
stream_open (Stream *stream, Trace *trace, uint32_t rank)
{
  *stream = (Stream){ .cursor = trace_cursor_new (trace, rank, NULL), .rank = rank };
  stream->requests = g_hash_table_new (NULL, NULL);
}

static void
stream_close (Stream *stream)
{
  trace_cursor_free (stream->cursor);
  g_hash_table_unref (stream->requests);
}

static gboolean
stream_next (Stream *stream)
{
  TraceNext next;

  do
    next = trace_cursor_next (stream->cursor, &stream->op, NULL);
  while (next == TRACE_NEXT_OPERATION && stream->op.kind == TRACE_OP_COMPUTE);
  g_assert_cmpint (next, !=, TRACE_NEXT_ERROR);
  if (next == TRACE_NEXT_OPERATION &&
      (stream->op.kind == TRACE_OP_ISEND || stream->op.kind == TRACE_OP_IRECV))
    g_hash_table_insert (stream->requests, GUINT_TO_POINTER (stream->op.request),
                         GUINT_TO_POINTER (++stream->n_started));
  return next == TRACE_NEXT_OPERATION;
}

static void
append_counts (GString *text, const char *what, const uint64_t *counts, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, i == 0 ? what : " ", counts[i]);
}

/* All properties of the call that a replay depends on. */
static char *
describe (const Stream *stream)
{
  const TraceOp *op = &stream->op;
  gboolean is_message = op->kind >= TRACE_OP_SEND && op->kind <= TRACE_OP_SENDRECV;
  GString *text = g_string_new (op->name);

  g_string_append_printf (text, " (%s)", trace_op_name (op->kind));
  if (is_message || trace_op_is_collective (op->kind))
    g_string_append_printf (text, " comm %u %" G_GUINT64_FORMAT " B", op->comm, op->bytes);
  if (is_message)
    g_string_append_printf (text, " peer %d tag %d", op->peer, op->tag);
  if (trace_op_is_collective (op->kind))
    g_string_append_printf (text, " root %d gets %" G_GUINT64_FORMAT, op->root, op->recv_bytes);
  append_counts (text, " to ", op->counts, op->n_counts);
  append_counts (text, " from ", op->recv_counts, op->n_recv_counts);
  if (op->kind == TRACE_OP_COMM_SPLIT || op->kind == TRACE_OP_COMM_DUP)
    g_string_append_printf (text, " comm %u color %d key %d makes %u", op->comm, op->color, op->key,
                            op->new_comm);
  for (uint32_t i = 0; i < op->n_requests; i++) {
    gpointer started = g_hash_table_lookup (stream->requests, GUINT_TO_POINTER (op->requests[i]));

    g_string_append_printf (text, " request %u", GPOINTER_TO_UINT (started));
  }
  return g_string_free (text, FALSE);
}

/* The same calls, one after the other. */
static void
check_calls (const char *recorded_path, const char *spec)
{
  g_autoptr (Trace) recorded = trace_testing_open (recorded_path);
  g_autoptr (Trace) generated = trace_testing_open (spec);

  g_assert_cmpuint (trace_ranks (recorded), ==, trace_ranks (generated));
  for (uint32_t rank = 0; rank < trace_ranks (recorded); rank++) {
    Stream a, b;
    guint n = 0;

    stream_open (&a, recorded, rank);
    stream_open (&b, generated, rank);
    for (; stream_next (&a); n++) {
      g_autofree char *expected = NULL, *found = NULL;

      g_assert_true (stream_next (&b));
      expected = describe (&a);
      found = describe (&b);
      if (!g_str_equal (expected, found))
        g_error ("rank %u, call %u:\nrecorded  %s\ngenerated %s", rank, n, expected, found);
    }
    g_assert_false (stream_next (&b));
    g_assert_cmpuint (n, >, 9);
    stream_close (&a);
    stream_close (&b);
  }
}

/* Every rank of the generated program makes the calls of the recorded one, in
 * the same order, with the same peers, tags, sizes and communicators; of which
 * the equality of every channel and collective follows. */
static void
test_same_calls (gconstpointer data)
{
  const Run *run = data;
  g_autofree char *name = g_strconcat ("recorded/", run->set, NULL);
  g_autoptr (TraceTestingFolder) folder = NULL;
  g_autofree char *path = trace_testing_recorded (name, &folder);

  if (path != NULL)
    check_calls (path, run->spec);
}

/* One of the runs ships with the project. */
static void
test_shipped (void)
{
  g_autofree char *path = trace_testing_shipped ("npb-is-A-16.meta");

  check_calls (path, "gen:npb:kernel=is,class=A,ranks=16");
}

#define N_TASKS 32

/* BT and SP leave tasks without work when there is no square of them. */
typedef struct {
  const char *file, *spec;
} Graph;

static const Graph graphs[] = {
  { "bt_W", "gen:npb:kernel=bt,class=W,ranks=25" },
  { "sp_W", "gen:npb:kernel=sp,class=W,ranks=25" },
  { "lu_W", "gen:npb:kernel=lu,class=W,ranks=32" },
  { "cg_W", "gen:npb:kernel=cg,class=W,ranks=32" },
  { "mg_W", "gen:npb:kernel=mg,class=W,ranks=32" },
  { "ft_W", "gen:npb:kernel=ft,class=W,ranks=32" },
  { "is_W", "gen:npb:kernel=is,class=W,ranks=32" },
  { "ep_W", "gen:npb:kernel=ep,class=W,ranks=32" },
};

/* The files count the messages either way between two tasks (a message to
 * oneself thus twice); their first line is the last task's. */
static void
test_message_counts (gconstpointer data)
{
  const Graph *graph = data;
  g_autofree char *name = g_strdup_printf ("../graphs/nas-mpi-32t/%s.nb_messages.csv", graph->file);
  g_autofree char *path = trace_testing_shared (name);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (Trace) trace = NULL;
  guint64 n_messages[N_TASKS][N_TASKS] = { 0 };

  if (path == NULL)
    return;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (g_strchomp (text), "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, N_TASKS);
  trace = trace_testing_open (graph->spec);
  for (uint32_t rank = 0; rank < trace_ranks (trace); rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, NULL);
    TraceOp op;

    while (trace_cursor_next (cursor, &op, NULL) == TRACE_NEXT_OPERATION)
      if (op.kind == TRACE_OP_SEND || op.kind == TRACE_OP_ISEND)
        n_messages[rank][op.peer]++;
  }
  for (uint32_t task = 0; task < N_TASKS; task++) {
    g_auto (GStrv) fields = g_strsplit (lines[N_TASKS - 1 - task], ",", -1);

    g_assert_cmpuint (g_strv_length (fields), ==, N_TASKS);
    for (uint32_t peer = 0; peer < N_TASKS; peer++)
      g_assert_cmpuint (g_ascii_strtoull (fields[peer], NULL, 10), ==,
                        n_messages[task][peer] + n_messages[peer][task]);
  }
}

/* The next exchange of keys of a rank; FALSE behind the last. */
static gboolean
next_exchange (TraceCursor *cursor, TraceOp *op)
{
  while (trace_cursor_next (cursor, op, NULL) == TRACE_NEXT_OPERATION)
    if (op->kind == TRACE_OP_ALLTOALLV)
      return TRUE;
  return FALSE;
}

/* The keys of class S, from another version of IS that was traced by another
 * program.  (Its other calls differ: it has no input to broadcast.) */
static void
test_keys_of_other_version (void)
{
  g_autofree char *path = trace_testing_shipped ("nas-is-S-16.ti.gz");
  g_autoptr (Trace) recorded = trace_testing_open (path);
  g_autoptr (Trace) generated = trace_testing_open ("gen:npb:kernel=is,class=S,ranks=16");

  for (uint32_t rank = 0; rank < 16; rank++) {
    g_autoptr (TraceCursor) a = trace_cursor_new (recorded, rank, NULL);
    g_autoptr (TraceCursor) b = trace_cursor_new (generated, rank, NULL);
    TraceOp expected, found;
    guint n = 0;

    for (; next_exchange (a, &expected); n++) {
      g_assert_true (next_exchange (b, &found));
      g_assert_cmpmem (expected.counts, 16 * sizeof (uint64_t), found.counts,
                       16 * sizeof (uint64_t));
      g_assert_cmpmem (expected.recv_counts, 16 * sizeof (uint64_t), found.recv_counts,
                       16 * sizeof (uint64_t));
    }
    g_assert_false (next_exchange (b, &found));
    g_assert_cmpuint (n, ==, 11);
  }
}

#define N_LARGE 1024

/* Bytes from each rank to each of SP, class D, on 1,024 ranks. */
static uint64_t *
count_large (guint n_iterations)
{
  g_autofree char *spec =
      g_strdup_printf ("gen:npb:kernel=sp,class=D,ranks=%u,iterations=%u", N_LARGE, n_iterations);
  g_autoptr (Trace) trace = trace_testing_open (spec);
  uint64_t *bytes = g_new0 (uint64_t, N_LARGE * N_LARGE);
  TraceOp op;

  for (uint32_t rank = 0; rank < N_LARGE; rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, NULL);

    while (trace_cursor_next (cursor, &op, NULL) == TRACE_NEXT_OPERATION)
      if (op.kind == TRACE_OP_ISEND)
        bytes[rank * N_LARGE + (uint32_t) op.peer] += op.bytes;
  }
  return bytes;
}

/* A file of lines "SOURCE DESTINATION BYTES" for the class's 500 iterations,
 * all of which are alike: 499 more than the first. */
static void
test_large_run (void)
{
  g_autofree char *path = trace_testing_shared ("../graphs/sp.D.1024.topo");
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  g_autofree uint64_t *one = NULL;
  g_autofree uint64_t *two = NULL;
  guint n_pairs = 0;

  if (path == NULL)
    return;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (g_strchomp (text), "\n", -1);
  one = count_large (1);
  two = count_large (2);
  for (guint i = 1; lines[i] != NULL; i++) {
    unsigned from, to;
    guint64 bytes;

    g_assert_cmpint (sscanf (lines[i], "%u %u %" G_GUINT64_FORMAT, &from, &to, &bytes), ==, 3);
    from = from * N_LARGE + to;
    g_assert_cmpuint (one[from] + 499 * (two[from] - one[from]), ==, bytes);
    n_pairs++;
  }
  for (guint i = 0; i < N_LARGE * N_LARGE; i++)
    n_pairs -= one[i] > 0;
  g_assert_cmpuint (n_pairs, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/npb/shipped/is-A-16", test_shipped);
  g_test_add_func ("/traces/npb/shipped/is-S-16", test_keys_of_other_version);
  g_test_add_func ("/traces/npb/bytes/sp-D-1024", test_large_run);
  for (guint i = 0; i < G_N_ELEMENTS (runs); i++) {
    g_autofree char *path = g_strconcat ("/traces/npb/recorded/", runs[i].set, NULL);

    g_test_add_data_func (path, &runs[i], test_same_calls);
  }
  for (guint i = 0; i < G_N_ELEMENTS (graphs); i++) {
    g_autofree char *path = g_strconcat ("/traces/npb/counts/", graphs[i].file, NULL);

    g_test_add_data_func (path, &graphs[i], test_message_counts);
  }
  return g_test_run ();
}
