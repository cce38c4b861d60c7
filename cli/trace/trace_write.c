/* trace_write.c - the options and the step that commands share which write a trace.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/trace_write.h"

#include "base/words.h"
#include "cli/command.h"
#include "cli/print/outfile.h"
#include "cli/print/progress.h"
#include "cli/print/terminal.h"
#include "cli/print/warnings.h"
#include "traces/writer.h"

void
cli_add_trace_write_options (GOptionContext *context, CliTraceWriteOptions *options)
{
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->path,
      "Where to write; its ending tells the format; - is standard output", "FILE" },
    { "to", 0, 0, G_OPTION_ARG_STRING, &options->format_name,
      "Which format to write, whatever the ending", "FORMAT" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
}

void
cli_trace_write_options_clear (CliTraceWriteOptions *options)
{
  g_clear_pointer (&options->path, g_free);
  g_clear_pointer (&options->format_name, g_free);
}

static const TraceWriter *
find_writer (const CliTraceWriteOptions *options, GError **error)
{
  g_autoptr (GString) list = g_string_new (NULL); /* "hct (.hct), ti (.txt)" */
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autofree char *meant = NULL;

  for (const TraceWriter *const *writer = trace_writers (); *writer; writer++) {
    if (options->format_name ? !g_strcmp0 (options->format_name, (*writer)->name)
                             : g_str_has_suffix (options->path, (*writer)->ending))
      return *writer;
    g_string_append_printf (list, "%s%s (%s)", list->len > 0 ? ", " : "", (*writer)->name,
                            (*writer)->ending);
    g_ptr_array_add (names, (gpointer) (*writer)->name);
  }
  g_ptr_array_add (names, NULL);
  if (options->format_name) {
    meant = base_did_you_mean (options->format_name, (const char *const *) names->pdata);
    cli_refuse (error, "--to: '%s' is none of %s%s", options->format_name, list->str, meant);
  } else
    cli_refuse (error, "--output %s: the ending names no format; choose one with --to: %s",
                options->path, list->str);
  return NULL;
}

gboolean
cli_trace_write (Trace *trace, const CliTraceWriteOptions *options, const CliTalkOptions *talk,
                 GError **error)
{
  const TraceWriter *writer = find_writer (options, error);
  g_autoptr (CliOutfile) file = writer ? cli_outfile_new (options->path, error) : NULL;
  g_autoptr (CliProgress) progress = NULL;
  gboolean good;

  if (!file)
    return FALSE;
  progress = cli_progress_new (talk->quiet);
  good = writer->write (trace, cli_outfile_stream (file), cli_progress_share, progress, error);
  g_clear_pointer (&progress, cli_progress_free);
  /* Writers know a stream, not its name. */
  if (!good && error && g_error_matches (*error, TRACE_ERROR, TRACE_ERROR_WRITE))
    g_prefix_error (error, "%s: ", options->path);
  if (!good || !cli_outfile_commit (file, error))
    return FALSE;
  if (!talk->quiet)
    cli_warnings_tell (trace_warnings (trace));
  if (talk->verbose)
    cli_printf (stderr, "hopcast: %s: %s, %u ranks\n", options->path, writer->name,
                trace_ranks (trace));
  return TRUE;
}
