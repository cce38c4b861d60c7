/* pattern_ops_test.c - operations put into PatternOps come out of it, in order and complete.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/patterns/pattern_ops.h"

#include <string.h>

/* Random operations, some words of each as a blank one has them: they are
 * read back to the last bit. */
static void
test_random_operations (void)
{
  g_autoptr (PatternOps) ops = pattern_ops_new ();
  enum { N = 200, WORDS = sizeof (TraceOp) / sizeof (guint32) };
  g_autofree TraceOp *put = g_new (TraceOp, N);
  guint at = 0;
  TraceOp got;

  for (guint i = 0; i < N; i++) {
    guint32 words[WORDS];
    TraceOp *op = pattern_ops_add (ops, TRACE_OP_CALL, "MPI_Whatever");

    memcpy (words, op, sizeof words);
    for (guint word = 0; word < WORDS; word++)
      if (g_test_rand_int_range (0, 4) == 0)
        words[word] = (guint32) g_test_rand_int ();
    memcpy (op, words, sizeof words);
    memcpy (&put[i], words, sizeof words);
  }
  pattern_ops_seal (ops);
  for (guint i = 0; i < N; i++) {
    g_assert_true (pattern_ops_read (ops, &at, &got));
    g_assert_cmpmem (&got, sizeof got, &put[i], sizeof put[i]);
  }
  g_assert_false (pattern_ops_read (ops, &at, &got));
}

static void
test_blank_operation (void)
{
  g_autoptr (PatternOps) ops = pattern_ops_new ();
  guint at = 0;
  TraceOp op;

  pattern_ops_add (ops, TRACE_OP_BARRIER, "MPI_Barrier");
  pattern_ops_seal (ops);
  g_assert_true (pattern_ops_read (ops, &at, &op));
  g_assert_cmpint (op.kind, ==, TRACE_OP_BARRIER);
  g_assert_cmpstr (op.name, ==, "MPI_Barrier");
  g_assert_cmpuint (op.comm, ==, TRACE_COMM_WORLD);
  g_assert_cmpint (op.matched_source, ==, TRACE_ANY_SOURCE);
  g_assert_cmpint (op.root, ==, TRACE_NO_ROOT);
  g_assert_cmpuint (op.bytes, ==, 0);
  g_assert_null (op.requests);
}

/* Arrays stay with the operation that they were made for. */
static void
test_arrays (void)
{
  g_autoptr (PatternOps) ops = pattern_ops_new ();
  guint at = 0;
  TraceOp op;

  pattern_ops_wait (ops, 7, 3);
  pattern_ops_add (ops, TRACE_OP_ALLTOALLV, "MPI_Alltoallv");
  pattern_ops_counts (ops, 2)[1] = 1000;
  pattern_ops_recv_counts (ops, 2)[0] = 2000;
  pattern_ops_add (ops, TRACE_OP_WIN_POST, "MPI_Win_post");
  pattern_ops_seal (ops);

  g_assert_false (pattern_ops_is_over (ops, at));
  g_assert_true (pattern_ops_read (ops, &at, &op));
  g_assert_cmpuint (op.n_requests, ==, 3);
  for (uint32_t i = 0; i < 3; i++)
    g_assert_cmpuint (op.requests[i], ==, 7 + i);
  g_assert_cmpstr (op.name, ==, "MPI_Waitall");
  g_assert_true (pattern_ops_read (ops, &at, &op));
  g_assert_cmpuint (op.n_counts, ==, 2);
  g_assert_cmpuint (op.counts[0], ==, 0);
  g_assert_cmpuint (op.counts[1], ==, 1000);
  g_assert_cmpuint (op.n_recv_counts, ==, 2);
  g_assert_cmpuint (op.recv_counts[0], ==, 2000);
  g_assert_true (pattern_ops_read (ops, &at, &op));
  g_assert_false (pattern_ops_is_over (ops, at));
  pattern_ops_clear (ops);
  pattern_ops_wait (ops, 7, 3);
  pattern_ops_seal (ops);
  at = 0;
  g_assert_false (pattern_ops_is_over (ops, at));
  g_assert_true (pattern_ops_read (ops, &at, &op));
  g_assert_true (pattern_ops_is_over (ops, at));
}

/* The short forms keep every field that they are given, up to the largest, and no other. */
static void
test_messages_and_waits (void)
{
  static const struct {
    int32_t peer, tag;
    uint64_t bytes;
    uint32_t request;
  } cases[] = {
    { 0, 0, 0, 0 },
    { 127, 128, 16384, 1023 },
    { 1, TRACE_ANY_TAG, 1, 2 },
    { INT32_MAX, INT32_MAX, UINT64_MAX, UINT32_MAX },
  };
  static const struct {
    uint32_t first, n;
    const char *name;
  } waits[] = { { 2, 1, "MPI_Wait" },
                { 0, 1024, "MPI_Waitall" },
                { 1, 1024, "MPI_Waitall" },
                { 5000, 3, "MPI_Waitall" },
                { UINT32_MAX - 1, 2, "MPI_Waitall" } };
  g_autoptr (PatternOps) ops = pattern_ops_new ();
  TraceOp expected, op;
  guint at = 0;

  pattern_ops_add (ops, TRACE_OP_COMPUTE, "compute");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    pattern_ops_isend (ops, cases[i].peer, cases[i].tag, cases[i].bytes, cases[i].request);
    pattern_ops_recv (ops, cases[i].peer, cases[i].tag, cases[i].bytes);
  }
  for (guint i = 0; i < G_N_ELEMENTS (waits); i++)
    pattern_ops_wait (ops, waits[i].first, waits[i].n);
  pattern_ops_seal (ops);

  g_assert_true (pattern_ops_read (ops, &at, &expected));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    expected.kind = TRACE_OP_ISEND;
    expected.name = "MPI_Isend";
    expected.peer = cases[i].peer;
    expected.tag = cases[i].tag;
    expected.bytes = cases[i].bytes;
    expected.request = cases[i].request;
    g_assert_true (pattern_ops_read (ops, &at, &op));
    g_assert_cmpstr (op.name, ==, expected.name);
    op.name = expected.name;
    g_assert_cmpmem (&op, sizeof op, &expected, sizeof expected);
    expected.kind = TRACE_OP_RECV;
    expected.request = 0;
    g_assert_true (pattern_ops_read (ops, &at, &op));
    g_assert_cmpstr (op.name, ==, "MPI_Recv");
    op.name = expected.name;
    g_assert_cmpmem (&op, sizeof op, &expected, sizeof expected);
  }
  for (guint i = 0; i < G_N_ELEMENTS (waits); i++) {
    g_assert_true (pattern_ops_read (ops, &at, &op));
    g_assert_cmpint (op.kind, ==, TRACE_OP_WAIT);
    g_assert_cmpstr (op.name, ==, waits[i].name);
    g_assert_cmpuint (op.n_requests, ==, waits[i].n);
    for (uint32_t request = 0; request < waits[i].n; request++)
      g_assert_cmpuint (op.requests[request], ==, waits[i].first + request);
  }
  g_assert_false (pattern_ops_read (ops, &at, &op));
}

/* Nobody is sent nothing, and nothing is waited for. */
static void
test_nothing_to_do (void)
{
  g_autoptr (PatternOps) ops = pattern_ops_new ();
  guint at = 0;
  TraceOp op;

  pattern_ops_send (ops, TRACE_PROC_NULL, 0, 1);
  pattern_ops_isend (ops, TRACE_PROC_NULL, 0, 1, 2);
  pattern_ops_recv (ops, TRACE_PROC_NULL, 0, 1);
  pattern_ops_irecv (ops, TRACE_PROC_NULL, 0, 1, 2);
  pattern_ops_wait (ops, 2, 0);
  pattern_ops_compute (ops, 0);
  pattern_ops_seal (ops);
  g_assert_false (pattern_ops_read (ops, &at, &op));
}

static void
test_wildcard_receives (void)
{
  g_autoptr (PatternOps) ops = pattern_ops_new ();
  guint at = 0;
  TraceOp op;

  pattern_ops_irecv (ops, TRACE_ANY_SOURCE, 4, 100, 9);
  pattern_ops_seal (ops);
  g_assert_true (pattern_ops_read (ops, &at, &op));
  g_assert_cmpint (op.kind, ==, TRACE_OP_IRECV);
  g_assert_cmpint (op.peer, ==, TRACE_ANY_SOURCE);
  g_assert_cmpint (op.tag, ==, 4);
  g_assert_cmpuint (op.bytes, ==, 100);
  g_assert_cmpuint (op.request, ==, 9);
}

static void
test_used_again (void)
{
  g_autoptr (PatternOps) ops = pattern_ops_new ();
  TraceOp op;

  for (guint n = 1; n < 60; n += 7) {
    guint at = 0;

    pattern_ops_clear (ops);
    for (guint i = 0; i < n; i++)
      pattern_ops_compute (ops, 1 + i);
    pattern_ops_seal (ops);
    for (guint i = 0; i < n; i++) {
      g_assert_true (pattern_ops_read (ops, &at, &op));
      g_assert_cmpint (op.gap_ps, ==, 1 + i);
    }
    g_assert_false (pattern_ops_read (ops, &at, &op));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/batch/random-operations", test_random_operations);
  g_test_add_func ("/traces/batch/blank", test_blank_operation);
  g_test_add_func ("/traces/batch/arrays", test_arrays);
  g_test_add_func ("/traces/batch/messages-and-waits", test_messages_and_waits);
  g_test_add_func ("/traces/batch/nothing", test_nothing_to_do);
  g_test_add_func ("/traces/batch/wildcards", test_wildcard_receives);
  g_test_add_func ("/traces/batch/used-again", test_used_again);
  return g_test_run ();
}
