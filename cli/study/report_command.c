/* report_command.c - `hopcast report`: one page that shows a study.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/options.h"
#include "cli/print/outfile.h"
#include "cli/study/study_store.h"
#include "study/report/report.h"

#define DEFAULT_TOP 12

typedef struct {
  char *output, *title;
  int top;
  CliTalkOptions talk;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->output);
  g_free (options->title);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_own_options (GOptionContext *context, Options *options)
{
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output, "Where to write the page",
      "FILE" },
    { "top", 0, 0, G_OPTION_ARG_INT, &options->top,
      "Mappings of each case whose links and ranks are in the page, besides the default and the "
      "worst (default: 12)",
      "K" },
    { "title", 0, 0, G_OPTION_ARG_STRING, &options->title,
      "Title of the page (default: the name of the study)", "TITLE" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_quiet_option (context, &options->talk);
}

static gboolean
write_report (const char *path, const Options *options, GError **error)
{
  g_autoptr (StudyStore) store = cli_study_store_open (path, error);
  g_autoptr (CliOutfile) file = store ? cli_outfile_new (options->output, error) : NULL;

  return file &&
         study_report_write_store (cli_outfile_stream (file), store, options->title,
                                   (guint) options->top, error) &&
         cli_outfile_commit (file, error);
}

int
cli_report (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "STORE|STUDY", NULL };
  g_autoptr (GOptionContext) context =
      cli_context_new ("STORE|STUDY", "Writes one page that shows a study: which mapping is best, "
                                      "and why.  It needs no other file and no network.");
  g_auto (Options) options = { .top = DEFAULT_TOP };
  const char *path;

  add_own_options (context, &options);
  if (!cli_parse (context, argc, argv, names, &path, error))
    return CLI_FAILED;
  if (!options.output || options.top < 0) {
    g_set_error_literal (error, CLI_ERROR, CLI_ERROR_USAGE,
                         options.output ? "--top: must not be negative"
                                        : "--output: where to write the page is missing");
    return CLI_FAILED;
  }
  return write_report (path, &options, error) ? CLI_DONE : CLI_FAILED;
}
