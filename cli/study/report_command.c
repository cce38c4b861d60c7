/* report_command.c - `hopcast report`: one page that shows a study.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/options.h"
#include "cli/print/outfile.h"
#include "cli/study/study_store.h"
#include "study/report/report.h"

#define DEFAULT_TOP 12

int
cli_report (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "STORE|STUDY", NULL };
  g_autoptr (GOptionContext) context =
      cli_context_new ("STORE|STUDY", "Writes one page that shows a study: which mapping is best, "
                                      "and why.  It needs no other file and no network.");
  g_autofree char *output = NULL, *title = NULL;
  int top = DEFAULT_TOP;
  CliTalkOptions talk = { 0 };
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "Where to write the page", "FILE" },
    { "top", 0, 0, G_OPTION_ARG_INT, &top,
      "Mappings of each case whose links and ranks are in the page, besides the default and the "
      "worst (default: 12)",
      "K" },
    { "title", 0, 0, G_OPTION_ARG_STRING, &title,
      "Title of the page (default: the name of the study)", "TITLE" },
    { NULL },
  };
  g_autoptr (StudyStore) store = NULL;
  g_autoptr (CliOutfile) file = NULL;
  const char *path;

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_quiet_option (context, &talk);
  if (!cli_parse (context, argc, argv, names, &path, error))
    return CLI_FAILED;
  if (!output || top < 0) {
    cli_refuse (error, "%s",
                output ? "--top: must not be negative"
                       : "--output: where to write the page is missing");
    return CLI_FAILED;
  }
  if (!(store = cli_study_store_open (path, error)) || !(file = cli_outfile_new (output, error)) ||
      !study_report_write_store (cli_outfile_stream (file), store, title, NULL, (guint) top,
                                 error) ||
      !cli_outfile_commit (file, error))
    return CLI_FAILED;
  return CLI_DONE;
}
