/* trace_write_test.c - which format is written, what is told, what is left behind.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The formats here are the test's own, in place of those of traces/. */
#include "config.h"

#include "cli/command.h"
#include "cli/trace/trace_write.h"
#include "traces/format.h"
#include "traces/writer.h"

#include <glib/gstdio.h>
#include <string.h>

/* Writes the number of ranks. */
static gboolean
write_count (Trace *trace, FILE *out, TraceProgress progress, void *data, GError **error)
{
  (void) error;
  progress (data, 0.5);
  fprintf (out, "%u", trace_ranks (trace));
  trace_warn (trace, "names of ranks are lost");
  return TRUE;
}

/* Gives up in the middle. */
static gboolean
write_refused (Trace *trace, FILE *out, TraceProgress progress, void *data, GError **error)
{
  (void) trace, (void) progress, (void) data;
  fputs ("half", out);
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_WRITE, "refused");
  return FALSE;
}

static const TraceWriter count_writer = { "count", ".count", "", write_count };
static const TraceWriter refusing_writer = { "refusing", ".no", "", write_refused };
static const TraceWriter *const writers[] = { &count_writer, &refusing_writer, NULL };

const TraceWriter *const *
trace_writers (void)
{
  return writers;
}

static const CliTalkOptions quiet = { TRUE, FALSE }, verbose = { FALSE, TRUE };

/* The trace that is written, and where. */
typedef struct {
  Trace *trace;
  char *folder, *path;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer name)
{
  fixture->trace = trace_open ("gen:ring:ranks=7", NULL, NULL);
  g_assert_nonnull (fixture->trace);
  fixture->folder = g_dir_make_tmp ("hopcast-write-XXXXXX", NULL);
  fixture->path = g_build_filename (fixture->folder, name, NULL);
}

static void
tear_down (Fixture *fixture, gconstpointer name G_GNUC_UNUSED)
{
  g_unlink (fixture->path);
  g_assert_cmpint (g_rmdir (fixture->folder), ==, 0); /* nothing else was left in it */
  g_free (fixture->folder);
  g_free (fixture->path);
  trace_free (fixture->trace);
}

static void
assert_written (const Fixture *fixture, const char *expected)
{
  g_autofree char *text = NULL;

  g_assert_true (g_file_get_contents (fixture->path, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, expected);
}

static void
test_ending (Fixture *fixture, gconstpointer name G_GNUC_UNUSED)
{
  const CliTraceWriteOptions options = { fixture->path, NULL };
  g_autoptr (GError) error = NULL;

  g_assert_true (cli_trace_write (fixture->trace, &options, &quiet, &error));
  g_assert_no_error (error);
  assert_written (fixture, "7");
}

static void
test_forced (Fixture *fixture, gconstpointer name G_GNUC_UNUSED)
{
  char format_name[] = "count";
  const CliTraceWriteOptions options = { fixture->path, format_name };

  g_assert_true (cli_trace_write (fixture->trace, &options, &quiet, NULL));
  assert_written (fixture, "7");
}

/* The error is of this domain and has this text, and there is no file. */
static void
assert_refused (const Fixture *fixture, const char *format_name, GQuark domain, int code,
                const char *part)
{
  g_autofree char *format = g_strdup (format_name);
  const CliTraceWriteOptions options = { fixture->path, format };
  g_autoptr (GError) error = NULL;

  g_assert_false (cli_trace_write (fixture->trace, &options, &quiet, &error));
  g_assert_error (error, domain, code);
  g_assert_nonnull (strstr (error->message, part));
  g_assert_false (g_file_test (fixture->path, G_FILE_TEST_EXISTS));
}

static void
test_no_ending (Fixture *fixture, gconstpointer name G_GNUC_UNUSED)
{
  assert_refused (fixture, NULL, CLI_ERROR, CLI_ERROR_USAGE, "count (.count), refusing (.no)");
}

static void
test_unknown_format (Fixture *fixture, gconstpointer name G_GNUC_UNUSED)
{
  assert_refused (fixture, "otf9", CLI_ERROR, CLI_ERROR_USAGE, "--to: 'otf9' is none of count");
}

static void
test_refused (Fixture *fixture, gconstpointer name G_GNUC_UNUSED)
{
  assert_refused (fixture, NULL, TRACE_ERROR, TRACE_ERROR_WRITE, "refused");
}

/* What got lost is told, unless quiet; run in a process of its own. */
static void
test_warnings (Fixture *fixture, gconstpointer name G_GNUC_UNUSED)
{
  const CliTraceWriteOptions options = { fixture->path, NULL };

  if (g_test_subprocess ()) {
    cli_trace_write (fixture->trace, &options, &verbose, NULL);
    g_unlink (fixture->path);
    g_rmdir (fixture->folder);
    exit (0);
  }
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stderr ("hopcast: warning: names of ranks are lost\n"
                             "hopcast: *t.count: count, 7 ranks\n");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/cli/trace-write/ending", Fixture, "t.count", set_up, test_ending, tear_down);
  g_test_add ("/cli/trace-write/forced", Fixture, "t.xyz", set_up, test_forced, tear_down);
  g_test_add ("/cli/trace-write/no-ending", Fixture, "t.xyz", set_up, test_no_ending, tear_down);
  g_test_add ("/cli/trace-write/unknown-format", Fixture, "t.count", set_up, test_unknown_format,
              tear_down);
  g_test_add ("/cli/trace-write/refused", Fixture, "t.no", set_up, test_refused, tear_down);
  g_test_add ("/cli/trace-write/warnings", Fixture, "t.count", set_up, test_warnings, tear_down);
  return g_test_run ();
}
