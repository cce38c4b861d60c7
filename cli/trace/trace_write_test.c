/* trace_write_test.c - the format that is written, the warnings, the file after a failure.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The formats here are the test's own, in place of those of traces/. */
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

/* The trace to be written, and the path. */
typedef struct {
  Trace *trace;
  char *folder, *path;
} Fixture;

static Fixture
fixture_new (const char *name)
{
  Fixture fixture = { trace_open ("gen:ring:ranks=7", NULL, NULL), NULL, NULL };

  g_assert_nonnull (fixture.trace);
  fixture.folder = g_dir_make_tmp ("hopcast-write-XXXXXX", NULL);
  fixture.path = g_build_filename (fixture.folder, name, NULL);
  return fixture;
}

static void
fixture_clear (Fixture *fixture)
{
  g_unlink (fixture->path);
  g_assert_cmpint (g_rmdir (fixture->folder), ==, 0); /* nothing else was left in it */
  g_free (fixture->folder);
  g_free (fixture->path);
  trace_free (fixture->trace);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fixture, fixture_clear)

static void
test_formats (void)
{
  static const struct {
    const char *name, *format_name;
    GQuark (*domain) (void); /* of the error; NULL: it is written */
    int code;
    const char *part; /* of its message */
  } cases[] = {
    { "t.count", NULL, NULL, 0, NULL },
    { "t.xyz", "count", NULL, 0, NULL },
    { "t.xyz", NULL, cli_error_quark, CLI_ERROR_USAGE, "count (.count), refusing (.no)" },
    { "t.count", "otf9", cli_error_quark, CLI_ERROR_USAGE, "--to: 'otf9' is none of count" },
    { "t.no", NULL, trace_error_quark, TRACE_ERROR_WRITE, "refused" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (Fixture) fixture = fixture_new (cases[i].name);
    g_autofree char *format = g_strdup (cases[i].format_name), *text = NULL;
    const CliTraceWriteOptions options = { fixture.path, format };
    g_autoptr (GError) error = NULL;
    gboolean good = cli_trace_write (fixture.trace, &options, &quiet, &error);

    g_test_message ("%s as %s", cases[i].name, format ? format : "its ending says");
    if (cases[i].domain == NULL) {
      g_assert_no_error (error);
      g_assert_true (good);
      g_assert_true (g_file_get_contents (fixture.path, &text, NULL, NULL));
      g_assert_cmpstr (text, ==, "7");
      continue;
    }
    g_assert_false (good);
    g_assert_error (error, cases[i].domain (), cases[i].code);
    g_assert_nonnull (strstr (error->message, cases[i].part));
    g_assert_false (g_file_test (fixture.path, G_FILE_TEST_EXISTS));
  }
}

/* Warnings are printed unless quiet; run in a process of its own. */
static void
test_warnings (void)
{
  if (g_test_subprocess ()) {
    g_auto (Fixture) fixture = fixture_new ("t.count");
    const CliTraceWriteOptions options = { fixture.path, NULL };

    cli_trace_write (fixture.trace, &options, &verbose, NULL);
    return;
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
  g_test_add_func ("/cli/trace-write/formats", test_formats);
  g_test_add_func ("/cli/trace-write/warnings", test_warnings);
  return g_test_run ();
}
