/* hct_testing.c - what the tests of the native format share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/hct/hct_testing.h"

#include "traces/format.h"
#include "traces/writer.h"

#include <string.h>

typedef struct {
  HctTestingOp op;
  gconstpointer data;
  uint32_t n_ranks;
  gboolean is_graph;
} MadeUp;

typedef struct {
  const MadeUp *trace;
  uint32_t rank;
  uint64_t index;
} MadeUpCursor;

/* What open() gets instead of a path is found here. */
static const MadeUp *to_open;

static gpointer
made_up_open (Trace *trace, const char *path, const TraceOptions *options, uint32_t *n_ranks,
              GPtrArray *files, GError **error)
{
  (void) path, (void) options, (void) files, (void) error;
  *n_ranks = to_open->n_ranks;
  if (to_open->is_graph)
    trace_set_graph (trace);
  return g_memdup2 (to_open, sizeof *to_open);
}

static gpointer
made_up_cursor_new (gpointer state, uint32_t rank, GError **error)
{
  MadeUpCursor *cursor = g_new0 (MadeUpCursor, 1);

  (void) error;
  cursor->trace = state;
  cursor->rank = rank;
  return cursor;
}

static TraceNext
made_up_cursor_next (gpointer data, TraceOp *op, GError **error)
{
  MadeUpCursor *cursor = data;

  (void) error;
  memset (op, 0, sizeof *op);
  return cursor->trace->op (cursor->trace->data, cursor->rank, cursor->index++, op)
             ? TRACE_NEXT_OPERATION
             : TRACE_NEXT_END;
}

static const char *
made_up_cursor_place (gpointer cursor)
{
  (void) cursor;
  return "made up";
}

static const TraceFormat made_up = {
  .name = "made-up",
  .open = made_up_open,
  .close = g_free,
  .cursor_new = made_up_cursor_new,
  .cursor_free = g_free,
  .cursor_next = made_up_cursor_next,
  .cursor_place = made_up_cursor_place,
};

Trace *
hct_testing_made_up (uint32_t n_ranks, gboolean is_graph, HctTestingOp op, gconstpointer data)
{
  const MadeUp state = { op, data, n_ranks, is_graph };

  to_open = &state;
  return trace_open_as (&made_up, "made up", NULL, NULL);
}

char *
hct_testing_convert (Trace *trace, const char *folder)
{
  char *path = g_build_filename (folder, "t.hct", NULL);
  FILE *out = fopen (path, "wb");
  g_autoptr (GError) error = NULL;

  g_assert_nonnull (out);
  trace_writer_hct.write (trace, out, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (fclose (out), ==, 0);
  return path;
}

Trace *
hct_testing_again (Trace *trace, const char *folder)
{
  g_autofree char *path = hct_testing_convert (trace, folder);

  return trace_testing_open (path);
}

static void
same_numbers (const TraceOp *a, const TraceOp *b)
{
  g_assert_cmpstr (trace_op_name (a->kind), ==, trace_op_name (b->kind));
  g_assert_cmpint (a->mode, ==, b->mode);
  g_assert_cmpint (a->gap_ps, ==, b->gap_ps);
  g_assert_cmpmem (&a->flops, sizeof a->flops, &b->flops, sizeof b->flops);
  g_assert_cmpuint (a->instructions, ==, b->instructions);
  g_assert_cmpuint (a->cycles, ==, b->cycles);
  g_assert_cmpuint (a->comm, ==, b->comm);
  g_assert_cmpint (a->peer, ==, b->peer);
  g_assert_cmpint (a->tag, ==, b->tag);
  g_assert_cmpuint (a->bytes, ==, b->bytes);
  g_assert_cmpint (a->recv_peer, ==, b->recv_peer);
  g_assert_cmpint (a->recv_tag, ==, b->recv_tag);
  g_assert_cmpuint (a->recv_bytes, ==, b->recv_bytes);
  g_assert_cmpint (a->root, ==, b->root);
  g_assert_cmpuint (a->request, ==, b->request);
  g_assert_cmpint (a->nonblocking, ==, b->nonblocking);
  g_assert_cmpint (a->matched_source, ==, b->matched_source);
}

static void
same_handles (const TraceOp *a, const TraceOp *b)
{
  g_assert_cmpuint (a->window, ==, b->window);
  g_assert_cmpuint (a->new_comm, ==, b->new_comm);
  g_assert_cmpuint (a->group, ==, b->group);
  g_assert_cmpuint (a->group2, ==, b->group2);
  g_assert_cmpuint (a->new_group, ==, b->new_group);
  g_assert_cmpint (a->color, ==, b->color);
  g_assert_cmpint (a->key, ==, b->key);
  g_assert_cmpuint (a->cpu, ==, b->cpu);
  g_assert_cmpint (a->call_ps, ==, b->call_ps);
  g_assert_cmpstr (a->site, ==, b->site);
  g_assert_cmpstr (a->name, ==, b->name);
}

static void
same_memory (const char *what, const void *a, gsize n_a, const void *b, gsize n_b)
{
  if (n_a != n_b || (n_a != 0 && memcmp (a, b, n_a) != 0))
    g_error ("%s: %" G_GSIZE_FORMAT " and %" G_GSIZE_FORMAT " bytes differ", what, n_a, n_b);
}

#define SAME_ARRAY(array, n) \
  same_memory (#array, a->array, a->n * sizeof *a->array, b->array, b->n * sizeof *b->array)

/* A list that is not there is no list of zeros. */
static void
same_values (const int32_t *a, uint32_t n_a, const int32_t *b, uint32_t n_b)
{
  gsize size_a = a != NULL ? n_a * sizeof *a : 0, size_b = b != NULL ? n_b * sizeof *b : 0;

  same_memory ("values", a, size_a, b, size_b);
}

static void
same_arrays (const TraceOp *a, const TraceOp *b)
{
  SAME_ARRAY (requests, n_requests);
  SAME_ARRAY (completed, n_completed);
  SAME_ARRAY (counts, n_counts);
  SAME_ARRAY (recv_counts, n_recv_counts);
  SAME_ARRAY (after, n_after);
  SAME_ARRAY (after_start, n_after_start);
  g_assert_cmpuint (a->n_values, ==, b->n_values);
  same_values (a->values, trace_op_n_values (a), b->values, trace_op_n_values (b));
  same_values (a->values2, trace_op_n_values2 (a), b->values2, trace_op_n_values2 (b));
}

static void
same_rank (Trace *a, Trace *b, uint32_t rank)
{
  g_autoptr (TraceCursor) cursor_a = trace_cursor_new (a, rank, NULL);
  g_autoptr (TraceCursor) cursor_b = trace_cursor_new (b, rank, NULL);

  for (;;) {
    g_autoptr (GError) error = NULL;
    TraceOp op_a, op_b;
    TraceNext next = trace_cursor_next (cursor_a, &op_a, NULL);
    TraceNext next_b = trace_cursor_next (cursor_b, &op_b, &error);

    g_assert_no_error (error);
    g_assert_cmpint (next, !=, TRACE_NEXT_ERROR);
    g_assert_cmpint (next, ==, next_b);
    if (next == TRACE_NEXT_END)
      return;
    same_numbers (&op_a, &op_b);
    same_handles (&op_a, &op_b);
    same_arrays (&op_a, &op_b);
  }
}

void
hct_testing_same (Trace *a, Trace *b)
{
  g_assert_cmpuint (trace_ranks (a), ==, trace_ranks (b));
  g_assert_cmpint (trace_is_graph (a), ==, trace_is_graph (b));
  for (uint32_t rank = 0; rank < trace_ranks (a); rank++)
    same_rank (a, b, rank);
}
