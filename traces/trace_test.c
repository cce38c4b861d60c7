/* trace_test.c - opening, hashing, warnings: what all formats share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/format.h"
#include "traces/trace_testing.h"

#include <glib/gstdio.h>
#include <string.h>

static const char two_ranks[] = "0 init\n1 init\n0 send 1 3 100 6\n1 recv 0 3 100 6\n"
                                "0 finalize\n1 finalize\n";

static char *
write_two_ranks (const char *folder)
{
  return trace_testing_write_text (folder, "two.txt", two_ranks);
}

static void
test_names_are_complete (void)
{
  for (int kind = 0; kind < TRACE_N_OPS; kind++)
    g_assert_nonnull (trace_op_name ((TraceOpKind) kind));
  g_assert_cmpstr (trace_op_name (TRACE_OP_ISEND), ==, "isend");
  g_assert_cmpstr (trace_op_name (TRACE_OP_REDUCE_SCATTER), ==, "reduce_scatter");
  g_assert_cmpstr (trace_op_name (TRACE_OP_UNSUPPORTED), ==, "unsupported");
}

static void
test_only_data_movers_are_collectives (void)
{
  guint n = 0;

  for (int kind = 0; kind < TRACE_N_OPS; kind++)
    n += trace_op_is_collective ((TraceOpKind) kind);
  g_assert_cmpuint (n, ==, 20);
  g_assert_true (trace_op_is_collective (TRACE_OP_BARRIER));
  g_assert_true (trace_op_is_collective (TRACE_OP_EXSCAN));
  g_assert_false (trace_op_is_collective (TRACE_OP_COMM_DUP));
  g_assert_false (trace_op_is_collective (TRACE_OP_TEST));
}

/* The hash is that of the contents in rank order: what
 * `cat FILES | sha256sum` prints. */
static void
test_hash_is_sha256_of_contents (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = write_two_ranks (folder);
  g_autoptr (Trace) trace = trace_testing_open (path);
  g_autofree char *expected = g_compute_checksum_for_string (G_CHECKSUM_SHA256, two_ranks, -1);

  g_assert_cmpstr (trace_hash (trace, NULL), ==, expected);
  g_assert_cmpstr (trace_hash (trace, NULL), ==, expected);
}

/* A file of the same length that is written in its place is another one. */
static void
test_a_file_that_changes_is_noticed (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = write_two_ranks (folder);
  g_autoptr (Trace) trace = trace_testing_open (path);

  g_assert_true (trace_is_unchanged (trace)); /* nothing is known of it yet */
  g_assert_nonnull (trace_hash (trace, NULL));
  g_assert_true (trace_is_unchanged (trace));
  g_assert_true (g_file_set_contents (path, two_ranks, -1, NULL));
  g_assert_false (trace_is_unchanged (trace));
}

static void
test_hash_ignores_compression (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *plain = write_two_ranks (folder);
  g_autofree char *packed =
      trace_testing_write_gzip (folder, "packed", two_ranks, strlen (two_ranks));
  g_autoptr (Trace) a = trace_testing_open (plain);
  g_autoptr (Trace) b = trace_testing_open (packed);

  g_assert_cmpstr (trace_hash (a, NULL), ==, trace_hash (b, NULL));
}

static void
test_format_is_found_by_content (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = trace_testing_write_text (folder, "x.meta", two_ranks);
  g_autoptr (Trace) trace = trace_testing_open (path);

  g_assert_cmpstr (trace_format_name (trace), ==, "ti");
  g_assert_cmpuint (trace_ranks (trace), ==, 2);
  g_assert_cmpstr (trace_path (trace), ==, path);
}

static void
test_warnings_come_once (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = write_two_ranks (folder);
  g_autoptr (Trace) trace = trace_testing_open (path);

  trace_warn (trace, "rank %d", 3);
  trace_warn (trace, "rank %d", 4);
  trace_warn (trace, "rank %d", 3);
  g_assert_cmpuint (trace_warnings (trace)->len, ==, 2);
  g_assert_cmpstr (trace_warnings (trace)->pdata[0], ==, "rank 3");
  g_assert_cmpstr (trace_warnings (trace)->pdata[1], ==, "rank 4");
}

static void
test_cursors_are_independent (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = write_two_ranks (folder);
  g_autoptr (Trace) trace = trace_testing_open (path);
  g_autoptr (TraceCursor) a = trace_cursor_new (trace, 0, NULL);
  g_autoptr (TraceCursor) b = trace_cursor_new (trace, 0, NULL);
  TraceOp op;

  g_assert_cmpint (trace_cursor_next (a, &op, NULL), ==, TRACE_NEXT_OPERATION);
  g_assert_cmpint (trace_cursor_next (a, &op, NULL), ==, TRACE_NEXT_OPERATION);
  g_assert_cmpint (op.kind, ==, TRACE_OP_SEND);
  g_assert_cmpint (trace_cursor_next (b, &op, NULL), ==, TRACE_NEXT_OPERATION);
  g_assert_cmpint (op.kind, ==, TRACE_OP_INIT);
  g_assert_cmpstr (trace_cursor_place (a), ==, "two.txt:3");
  g_assert_cmpstr (trace_cursor_place (b), ==, "two.txt:1");
}

static void
test_no_such_rank (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = write_two_ranks (folder);
  g_autoptr (Trace) trace = trace_testing_open (path);
  g_autoptr (GError) error = NULL;

  g_assert_null (trace_cursor_new (trace, 2, &error));
  g_assert_error (error, TRACE_ERROR, TRACE_ERROR_RANGE);
}

static void
test_no_such_file (void)
{
  trace_testing_bad ("/nonexistent/trace", TRACE_ERROR_OPEN, "/nonexistent/trace");
}

static void
test_folder (void)
{
  trace_testing_bad ("/", TRACE_ERROR_OPEN, "folder");
}

/* Says which file to give: what is in the folder, or the anchor of the OTF2
 * archive whose events are in it. */
static void
test_folder_with_traces (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *b = trace_testing_write (folder, "b.otf2", "", 0);
  g_autofree char *a = trace_testing_write (folder, "a.meta", "", 0);
  g_autofree char *noise = trace_testing_write (folder, "a.def", "", 0);
  g_autofree char *events = g_build_filename (folder, "b", NULL);
  g_autofree char *events_slash = g_build_filename (folder, "b", "/", NULL);
  g_autofree char *both = g_strdup_printf ("folder, not a trace; give %s or %s", a, b);
  g_autofree char *anchor = g_strdup_printf ("folder, not a trace; give %s", b);

  g_assert_cmpint (g_mkdir (events, 0700), ==, 0);
  trace_testing_bad (folder, TRACE_ERROR_OPEN, both);
  trace_testing_bad (events, TRACE_ERROR_OPEN, anchor);
  trace_testing_bad (events_slash, TRACE_ERROR_OPEN, anchor);
  g_assert_cmpint (g_rmdir (events), ==, 0);
}

static void
test_unknown_contents (void)
{
  static const char *const contents[] = { "", "\n\n# nothing\n", "num_rank 4\nrank 0 {\n",
                                          "#DIMEMAS:\"name\":1,0:2(1,1),1\n", "<xml/>\n" };

  for (guint i = 0; i < G_N_ELEMENTS (contents); i++)
    trace_testing_bad_file ("unknown", contents[i], strlen (contents[i]), TRACE_ERROR_FORMAT,
                            "not a trace that can be read");
}

/* A gzip file that was cut off must not pass for a shorter trace. */
static void
test_cut_gzip (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *path = NULL, *cut = NULL, *contents = NULL;
  gsize n;

  for (guint i = 0; i < 5000; i++)
    g_string_append_printf (text, "0 compute %u\n", i * 7919 % 10007);
  path = trace_testing_write_gzip (folder, "whole", text->str, text->len);
  g_assert_true (g_file_get_contents (path, &contents, &n, NULL));
  cut = trace_testing_write (folder, "cut", contents, n / 2);
  trace_testing_bad (cut, TRACE_ERROR_OPEN, "cut");
}

static void
check_gaps (const char *path, guint n)
{
  g_autoptr (Trace) trace = trace_testing_open (path);
  g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, 0, NULL);
  TraceOp op;

  for (guint i = 1; i <= n; i++) {
    g_assert_cmpint (trace_cursor_next (cursor, &op, NULL), ==, TRACE_NEXT_OPERATION);
    g_assert_cmpfloat (op.flops, ==, i);
  }
  g_assert_cmpint (trace_cursor_next (cursor, &op, NULL), ==, TRACE_NEXT_END);
}

/* A small file is read, a larger one mapped, a packed one grows in memory as
 * it is unpacked. */
static void
test_sizes (void)
{
  static const guint sizes[] = { 1, 10, 5000, 50000 };
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autoptr (GString) text = g_string_new (NULL);
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autofree char *plain = NULL, *packed = NULL;

    while (n < sizes[i])
      g_string_append_printf (text, "0 compute %u\n", ++n);
    plain = trace_testing_write (folder, "plain", text->str, text->len);
    packed = trace_testing_write_gzip (folder, "packed", text->str, text->len);
    check_gaps (plain, n);
    check_gaps (packed, n);
  }
}

static void
check_shipped (const char *name, uint32_t n_ranks, uint64_t sends, uint64_t send_bytes)
{
  g_autofree char *path = trace_testing_shipped (name);
  g_autoptr (Trace) trace = trace_testing_open (path);
  TraceTotals totals = trace_testing_totals (trace);

  g_assert_cmpuint (trace_ranks (trace), ==, n_ranks);
  g_assert_cmpuint (totals.sends, ==, sends);
  g_assert_cmpuint (totals.receives, ==, sends);
  g_assert_cmpuint (totals.send_bytes, ==, send_bytes);
  g_assert_cmpuint (totals.n_ops[TRACE_OP_FINALIZE], ==, n_ranks);
}

/* The counts are those that a reader of another project found, see SOURCE.txt. */
static void
test_shipped_traces (void)
{
  check_shipped ("npb-is-A-16.meta", 16, 15, 60);
  check_shipped ("npb-is-A-16-0007.bin.gz", 16, 15, 60);
  check_shipped ("comd-256.ti.gz", 256, 7680, 68897920);
  check_shipped ("nas-is-S-16.ti.gz", 16, 15, 60);
}

#ifndef HAVE_OTF2
static void
test_otf2_is_refused (void)
{
  static const char anchor[] = "\3BOTF2";
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = trace_testing_write (folder, "a.otf2", anchor, sizeof anchor);

  trace_testing_bad (path, TRACE_ERROR_FORMAT, "built without libotf2");
}
#endif

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/trace/changes", test_a_file_that_changes_is_noticed);
  g_test_add_func ("/traces/operation/names", test_names_are_complete);
  g_test_add_func ("/traces/operation/collectives", test_only_data_movers_are_collectives);
  g_test_add_func ("/traces/trace/hash", test_hash_is_sha256_of_contents);
  g_test_add_func ("/traces/trace/hash-gzip", test_hash_ignores_compression);
  g_test_add_func ("/traces/trace/format", test_format_is_found_by_content);
  g_test_add_func ("/traces/trace/warnings", test_warnings_come_once);
  g_test_add_func ("/traces/trace/cursors", test_cursors_are_independent);
  g_test_add_func ("/traces/trace/bad-rank", test_no_such_rank);
  g_test_add_func ("/traces/trace/bad-file", test_no_such_file);
  g_test_add_func ("/traces/trace/bad-folder", test_folder);
  g_test_add_func ("/traces/trace/folder-with-traces", test_folder_with_traces);
  g_test_add_func ("/traces/trace/bad-contents", test_unknown_contents);
  g_test_add_func ("/traces/trace/bad-gzip", test_cut_gzip);
  g_test_add_func ("/traces/trace/sizes", test_sizes);
  g_test_add_func ("/traces/trace/shipped", test_shipped_traces);
#ifndef HAVE_OTF2
  g_test_add_func ("/traces/trace/otf2-is-refused", test_otf2_is_refused);
#endif
  return g_test_run ();
}
