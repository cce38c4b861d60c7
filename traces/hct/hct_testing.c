/* hct_testing.c - helpers for the tests of the native format.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/hct/hct_testing.h"

#include "traces/writer.h"

#include <string.h>

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
same_memory (const char *what, const void *a, gsize n_a, const void *b, gsize n_b)
{
  if (n_a != n_b || (n_a != 0 && memcmp (a, b, n_a) != 0))
    g_error ("%s: %" G_GSIZE_FORMAT " and %" G_GSIZE_FORMAT " bytes differ", what, n_a, n_b);
}

/* An absent list differs from a list of zeros. */
static void
same_values (const int32_t *a, uint32_t n_a, const int32_t *b, uint32_t n_b)
{
  gsize size_a = a != NULL ? n_a * sizeof *a : 0, size_b = b != NULL ? n_b * sizeof *b : 0;

  same_memory ("values", a, size_a, b, size_b);
}

#define SAME(field) same_memory (#field, &a->field, sizeof a->field, &b->field, sizeof b->field)
#define SAME_ARRAY(array, n) \
  same_memory (#array, a->array, a->n * sizeof *a->array, b->array, b->n * sizeof *b->array)

static void
same_op (const TraceOp *a, const TraceOp *b)
{
  g_assert_cmpstr (trace_op_name (a->kind), ==, trace_op_name (b->kind));
  g_assert_cmpstr (a->site, ==, b->site);
  g_assert_cmpstr (a->name, ==, b->name);
  SAME (mode);
  SAME (gap_ps);
  SAME (call_ps);
  SAME (flops);
  SAME (instructions);
  SAME (cycles);
  SAME (comm);
  SAME (peer);
  SAME (tag);
  SAME (bytes);
  SAME (recv_peer);
  SAME (recv_tag);
  SAME (recv_bytes);
  SAME (root);
  SAME (request);
  SAME (nonblocking);
  SAME (matched_source);
  SAME (window);
  SAME (new_comm);
  SAME (group);
  SAME (group2);
  SAME (new_group);
  SAME (color);
  SAME (key);
  SAME (cpu);
  SAME_ARRAY (requests, n_requests);
  SAME_ARRAY (completed, n_completed);
  SAME_ARRAY (counts, n_counts);
  SAME_ARRAY (recv_counts, n_recv_counts);
  SAME_ARRAY (after, n_after);
  SAME_ARRAY (after_start, n_after_start);
  SAME (n_values);
  same_values (a->values, trace_op_n_values (a), b->values, trace_op_n_values (b));
  same_values (a->values2, trace_op_n_values2 (a), b->values2, trace_op_n_values2 (b));
}

void
hct_testing_round_trip (Trace *trace)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autoptr (Trace) again = hct_testing_again (trace, folder);

  g_assert_cmpuint (trace_ranks (trace), ==, trace_ranks (again));
  g_assert_cmpint (trace_is_graph (trace), ==, trace_is_graph (again));
  for (uint32_t rank = 0; rank < trace_ranks (trace); rank++) {
    g_autoptr (TraceCursor) expected = trace_cursor_new (trace, rank, NULL);
    g_autoptr (TraceCursor) found = trace_cursor_new (again, rank, NULL);
    g_autoptr (GError) error = NULL;
    TraceNext next;
    TraceOp a, b;

    do {
      next = trace_cursor_next (expected, &a, NULL);
      g_assert_cmpint (next, !=, TRACE_NEXT_ERROR);
      g_assert_cmpint (trace_cursor_next (found, &b, &error), ==, next);
      g_assert_no_error (error);
      if (next == TRACE_NEXT_OPERATION)
        same_op (&a, &b);
    } while (next == TRACE_NEXT_OPERATION);
  }
  g_assert_cmpuint (trace_warnings (again)->len, ==, trace_warnings (trace)->len);
}
