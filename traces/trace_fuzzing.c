/* trace_fuzzing.c - helpers of the fuzz targets of the readers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/trace_fuzzing.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* What is read of one input: enough to reach everything, and soon over. */
#define MAX_OPERATIONS 20000
#define MAX_RANKS      4

/* Values that may be anything are only read, for the sanitizer to see. */
static volatile int64_t sink;

static void
seed (FuzzSeeds *seeds)
{
  fuzz_target.seed (seeds);
  fuzz_add_words (seeds, fuzz_target.words);
}

static void
prepare (void)
{
  if (fuzz_target.prepare != NULL)
    fuzz_target.prepare (fuzz_folder ());
}

/* A file for which the input has nothing left is not there. */
static void
write_files (const char *data, gsize size)
{
  static const char between[] = "\n%%\n";

  for (guint i = 0; fuzz_target.files[i] != NULL; i++) {
    g_autofree char *path = g_build_filename (fuzz_folder (), fuzz_target.files[i], NULL);
    const char *end = NULL;

    if (data == NULL) {
      g_unlink (path);
      continue;
    }
    if (fuzz_target.files[i + 1] != NULL)
      end = memmem (data, size, between, sizeof between - 1);
    fuzz_write (path, data, end != NULL ? (gsize) (end + 1 - data) : size);
    size -= end != NULL ? (gsize) (end - data) + sizeof between - 1 : 0;
    data = end != NULL ? end + sizeof between - 1 : NULL;
  }
}

/* An iprobe has no requests: it saw something, or nothing. */
static void
check_completion (const TraceOp *op)
{
  uint32_t n = op->kind == TRACE_OP_IPROBE ? 1 : op->n_requests;

  for (uint32_t i = 0; i < op->n_requests; i++)
    sink = op->requests[i];
  for (uint32_t i = 0; i < op->n_completed; i++)
    g_assert_cmpuint (op->completed[i], <, n);
}

static void
check_counts (const uint64_t *counts, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    g_assert_cmpuint (counts[i], <=, TRACE_MAX_BYTES);
}

static void
check_values (const TraceOp *op)
{
  gboolean has_values2 = op->kind == TRACE_OP_CART_CREATE || trace_op_is_neighborhood (op->kind);
  uint32_t n = trace_op_n_values (op), n2 = has_values2 ? trace_op_n_values2 (op) : 0;

  g_assert_true (op->values != NULL || n == 0);
  g_assert_true (op->values2 != NULL || n2 == 0);
  for (uint32_t i = 0; i < n; i++)
    sink = op->values[i];
  for (uint32_t i = 0; i < n2; i++)
    sink = op->values2[i];
  if (op->kind == TRACE_OP_GROUP_RANGE_INCL || op->kind == TRACE_OP_GROUP_RANGE_EXCL)
    g_assert_cmpuint (n % 3, ==, 0);
}

/* What must have happened before stands before, as far as it was read. */
static void
check_order (const TraceOp *op, uint64_t index)
{
  for (uint32_t i = 0; i < op->n_after; i++)
    g_assert_cmpuint (op->after[i], <, index);
  for (uint32_t i = 0; i < op->n_after_start; i++)
    g_assert_cmpuint (op->after_start[i], <, index);
}

static void
check_sizes (const TraceOp *op)
{
  g_assert_true (op->bytes <= TRACE_MAX_BYTES || op->bytes == TRACE_UNKNOWN_BYTES);
  g_assert_true (op->recv_bytes <= TRACE_MAX_BYTES || op->recv_bytes == TRACE_UNKNOWN_BYTES);
  g_assert_cmpint (op->gap_ps, >=, 0);
  g_assert_cmpint (op->call_ps, >=, 0);
  g_assert_true (isfinite (op->flops) && op->flops >= 0);
  g_assert_cmpint (op->peer, >=, TRACE_PROC_NULL);
  g_assert_cmpint (op->recv_peer, >=, TRACE_PROC_NULL);
}

static void
check_op (const TraceOp *op, uint64_t index)
{
  g_assert_cmpuint (op->kind, <, TRACE_N_OPS);
  g_assert_cmpuint (strlen (op->name), >, 0);
  g_assert_true (op->site == NULL || strlen (op->site) > 0);
  g_assert_true (op->requests != NULL || op->n_requests == 0);
  g_assert_true (op->completed != NULL || op->n_completed == 0);
  g_assert_true (op->counts != NULL || op->n_counts == 0);
  g_assert_true (op->recv_counts != NULL || op->n_recv_counts == 0);
  g_assert_true (op->after != NULL || op->n_after == 0);
  g_assert_true (op->after_start != NULL || op->n_after_start == 0);
  check_sizes (op);
  check_completion (op);
  check_counts (op->counts, op->n_counts);
  check_counts (op->recv_counts, op->n_recv_counts);
  check_values (op);
  check_order (op, index);
}

/* One step of a stream; FALSE at its end, which stays its end. */
static gboolean
step (TraceCursor *cursor, TraceOp *op, uint64_t index)
{
  g_autoptr (GError) error = NULL;
  TraceNext next = trace_cursor_next (cursor, op, &error);

  g_assert_true ((error != NULL) == (next == TRACE_NEXT_ERROR));
  g_assert_true (error == NULL || error->domain == TRACE_ERROR);
  g_assert_nonnull (trace_cursor_place (cursor));
  if (next == TRACE_NEXT_OPERATION)
    check_op (op, index);
  if (next == TRACE_NEXT_END)
    g_assert_cmpint (trace_cursor_next (cursor, op, NULL), ==, TRACE_NEXT_END);
  return next == TRACE_NEXT_OPERATION;
}

static void
check_same (const TraceOp *a, const TraceOp *b)
{
  g_assert_cmpint (a->kind, ==, b->kind);
  g_assert_cmpint (a->gap_ps, ==, b->gap_ps);
  g_assert_cmpint (a->peer, ==, b->peer);
  g_assert_cmpuint (a->bytes, ==, b->bytes);
  g_assert_cmpuint (a->request, ==, b->request);
  g_assert_cmpuint (a->n_requests, ==, b->n_requests);
  g_assert_cmpuint (a->n_completed, ==, b->n_completed);
}

/* Two cursors side by side: they do not know of each other. */
static void
walk_rank (Trace *trace, uint32_t rank, uint64_t *left)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, &error);
  g_autoptr (TraceCursor) other = NULL;
  TraceOp op, again;

  g_assert_true ((cursor == NULL) == (error != NULL));
  other = cursor != NULL ? trace_cursor_new (trace, rank, NULL) : NULL;
  for (uint64_t index = 0; other != NULL && *left > 0; index++, --*left) {
    gboolean more = step (cursor, &op, index);

    g_assert_cmpint (step (other, &again, index), ==, more);
    if (!more)
      return;
    check_same (&op, &again);
  }
}

static void
walk (Trace *trace)
{
  uint32_t n = trace_ranks (trace);
  uint64_t left = MAX_OPERATIONS;

  g_assert_cmpuint (n, >, 0);
  for (uint32_t rank = 0; rank < MIN (n, MAX_RANKS); rank++)
    walk_rank (trace, rank, &left);
  if (n > MAX_RANKS)
    walk_rank (trace, n - 1, &left);
}

static void
check (const uint8_t *data, size_t size)
{
  g_autofree char *path = g_build_filename (fuzz_folder (), fuzz_target.path, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (Trace) trace = NULL;

  write_files (size > 0 ? (const char *) data : "", size);
  if (fuzz_target.assemble != NULL)
    fuzz_target.assemble (fuzz_folder ());
  trace = trace_open (path, &fuzz_target.options, &error);
  g_assert_true ((trace == NULL) == (error != NULL));
  if (trace == NULL)
    return;
  walk (trace);
}

const FuzzProgram fuzz_program = { prepare, seed, check };
