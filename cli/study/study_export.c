/* study_export.c - `hopcast study export`: a store's runs for other programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

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

typedef struct {
  char *what, *form, *output;
  gboolean timing;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->what);
  g_free (options->form);
  g_free (options->output);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_options (GOptionContext *context, Options *options)
{
  const GOptionEntry entries[] = {
    { "what", 0, 0, G_OPTION_ARG_STRING, &options->what,
      "runs (default: a line per run), links, ranks or placements", "WHAT" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &options->form,
      "csv, json, jsonl (an object per line) or npz (NumPy, everything); default: by the ending "
      "of FILE, else csv",
      "FORMAT" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output,
      "Where to write; standard output without it", "FILE" },
    { "timing", 0, 0, G_OPTION_ARG_NONE, &options->timing,
      "Also how long each run took and how much memory, which differ from time to time", NULL },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_csv_option (context);
}

/* -1 and *error when there is no such. */
static int
form_of (const Options *options, GError **error)
{
  if (options->form)
    return cli_parse_choice ("--format", options->form, form_names, error);
  for (int form = 0; options->output && form_names[form]; form++) {
    g_autofree char *ending = g_strconcat (".", form_names[form], NULL);

    if (g_str_has_suffix (options->output, ending))
      return form;
  }
  return 0;
}

static gboolean export(const char *path, const Options *options, StudyExportKind what, int form,
                       GError **error)
{
  g_autoptr (StudyStore) store = cli_study_store_open (path, error);
  g_autoptr (CliOutfile) out =
      store ? cli_outfile_new (options->output ? options->output : "-", error) : NULL;

  if (!out)
    return FALSE;
  if (form == FORM_NPZ ? !study_export_npz (store, options->timing, cli_outfile_stream (out), error)
                       : !study_export (store, what, (StudyExportForm) form, options->timing,
                                        cli_outfile_stream (out), error))
    return FALSE;
  return cli_outfile_commit (out, error);
}

int
cli_study_export (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "STORE|STUDY", NULL };
  g_autoptr (GOptionContext) context =
      cli_context_new ("STORE|STUDY", "Writes the runs of a study in the order of its plan.");
  g_auto (Options) options = { 0 };
  const char *path;
  int what = 0, form;

  add_options (context, &options);
  if (!cli_parse (context, argc, argv, names, &path, error) ||
      (form = form_of (&options, error)) < 0 ||
      (options.what && (what = cli_parse_choice ("--what", options.what, what_names, error)) < 0))
    return CLI_FAILED;
  if (form == FORM_NPZ && options.what) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE,
                 "--what: an .npz has runs, links and ranks together");
    return CLI_FAILED;
  }
  return export(path, &options, (StudyExportKind) what, form, error) ? CLI_DONE : CLI_FAILED;
}
