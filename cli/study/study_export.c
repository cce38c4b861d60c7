/* study_export.c - `hopcast study export`: a store's runs for other programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/options.h"
#include "cli/print/outfile.h"
#include "cli/study/study_store.h"
#include "study/store/export.h"

#include <string.h>

/* In the order of StudyExportKind, and of StudyExportForm with npz behind. */
static const char *const what_names[] = { "runs", "links", "ranks", "placements", NULL };
static const char *const form_names[] = { "csv", "json", "jsonl", "npz", NULL };
#define FORM_NPZ 3

int
cli_study_export (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "STORE|STUDY", NULL };
  g_autoptr (GOptionContext) context =
      cli_context_new ("STORE|STUDY", "Writes the runs of a study in the order of its plan.");
  g_autofree char *what_name = NULL, *form_name = NULL, *output = NULL;
  gboolean timing = FALSE, good;
  const GOptionEntry entries[] = {
    { "what", 0, 0, G_OPTION_ARG_STRING, &what_name,
      "runs (default: a line per run), links, ranks or placements", "WHAT" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &form_name,
      "csv, json, jsonl (an object per line) or npz (NumPy, everything); default: by the ending "
      "of FILE, else csv",
      "FORMAT" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
      "Where to write; standard output without it", "FILE" },
    { "timing", 0, 0, G_OPTION_ARG_NONE, &timing,
      "Also how long each run took and how much memory, which differ from time to time", NULL },
    { NULL },
  };
  g_autoptr (StudyStore) store = NULL;
  g_autoptr (CliOutfile) file = NULL;
  const char *path;
  int what, form;

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_csv_option (context);
  if (!cli_parse (context, argc, argv, names, &path, error) ||
      (form = cli_parse_choice ("--format", form_name, form_names, error)) < 0 ||
      (what = cli_parse_choice ("--what", what_name, what_names, error)) < 0)
    return CLI_FAILED;
  for (int at = 0; form_name == NULL && output != NULL && form_names[at]; at++) {
    g_autofree char *ending = g_strconcat (".", form_names[at], NULL);

    if (g_str_has_suffix (output, ending))
      form = at;
  }
  if (form == FORM_NPZ && what_name) {
    cli_refuse (error, "--what: an .npz has runs, links and ranks together");
    return CLI_FAILED;
  }
  if (!(store = cli_study_store_open (path, error)) || !(file = cli_outfile_new (output, error)))
    return CLI_FAILED;
  good = form == FORM_NPZ ? study_export_npz (store, timing, cli_outfile_stream (file), error)
                          : study_export (store, (StudyExportKind) what, (StudyExportForm) form,
                                          timing, cli_outfile_stream (file), error);
  return good && cli_outfile_commit (file, error) ? CLI_DONE : CLI_FAILED;
}
