/* report_command.c - `hopcast report`: one page that shows a study, or the links of a run over time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/options.h"
#include "cli/print/outfile.h"
#include "cli/study/study_store.h"
#include "study/report/film.h"
#include "study/report/report.h"

#include <string.h>

#define DEFAULT_TOP 12
#define NO_TOP      G_MININT

/* Whether it is a CSV file, plain or gzip, and thus neither a store nor a study. */
static gboolean
is_csv (const char *path)
{
  static const char header[] = "begin_us,", gzip[] = "\x1f\x8b";
  char head[sizeof header];
  FILE *file;

  if (strcmp (path, "-") == 0 || g_str_has_suffix (path, ".csv") ||
      g_str_has_suffix (path, ".csv.gz"))
    return TRUE;
  /* Reading would consume the bytes of a pipe. */
  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR) || (file = fopen (path, "rbe")) == NULL)
    return FALSE;
  head[fread (head, 1, strlen (header), file)] = '\0';
  fclose (file);
  return g_str_has_prefix (head, header) || g_str_has_prefix (head, gzip);
}

static gboolean
write_page (FILE *out, const char *path, const char *title, guint top, GError **error)
{
  g_autoptr (StudyStore) store = NULL;

  if (is_csv (path))
    return study_film_write (out, path, title, error);
  store = cli_study_store_open (path, error);
  return store != NULL && study_report_write_store (out, store, title, NULL, top, error);
}

int
cli_report (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "STORE|STUDY|LINKS.csv", NULL };
  g_autoptr (GOptionContext) context =
      cli_context_new ("STORE|STUDY|LINKS.csv",
                       "Writes one page that shows a study: which mapping is best, and why; or the "
                       "loads of links over time, from a file of simulate --links-over-time.  It "
                       "needs no other file and no network.");
  g_autofree char *output = NULL, *title = NULL;
  int top = NO_TOP;
  CliTalkOptions talk = { 0 };
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "Where to write the page", "FILE" },
    { "top", 0, 0, G_OPTION_ARG_INT, &top,
      "Mappings of each case whose links and ranks are in the page, besides the default and the "
      "worst (default: 12)",
      "K" },
    { "title", 0, 0, G_OPTION_ARG_STRING, &title,
      "Title of the page (default: the name of the study or of the file)", "TITLE" },
    { NULL },
  };
  g_autoptr (CliOutfile) file = NULL;
  const char *path;

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_quiet_option (context, &talk);
  if (!cli_parse (context, argc, argv, names, &path, error))
    return CLI_FAILED;
  if (!output || (top < 0 && top != NO_TOP)) {
    cli_refuse (error, "%s",
                output ? "--top: must not be negative"
                       : "--output: where to write the page is missing");
    return CLI_FAILED;
  }
  if (top != NO_TOP && is_csv (path)) {
    cli_refuse (error, "--top: %s has no mappings", path);
    return CLI_FAILED;
  }
  if (!(file = cli_outfile_new (output, error)) ||
      !write_page (cli_outfile_stream (file), path, title,
                   top == NO_TOP ? DEFAULT_TOP : (guint) top, error) ||
      !cli_outfile_commit (file, error))
    return CLI_FAILED;
  return CLI_DONE;
}
