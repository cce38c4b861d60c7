/* aggregate_predict.c - `hopcast aggregate predict-ipc`: the IPC in patterns that were not run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/aggregate/ipc_print.h"
#include "cli/options.h"
#include "cli/print/outfile.h"
#include "cli/print/terminal.h"

typedef struct {
  CliFormatOptions format;
  CliTalkOptions talk;
  char *output;
} Options;

static void
options_clear (Options *options)
{
  cli_format_options_clear (&options->format);
  g_free (options->output);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_options (GOptionContext *context, Options *options)
{
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output,
      "Where to write; standard output without it", "FILE" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_unpack_option (context);
  cli_add_format_options (context, &options->format);
  cli_add_quiet_option (context, &options->talk);
}

static void
tell (const PredictIpcModel *model, const PredictIpcAnswer *answer, const char *source)
{
  guint n_lines = answer->phases->n_programs * model->n_targets, n_negative = 0;

  for (guint i = 0; i < n_lines; i++)
    n_negative += !(answer->predicted[i] > 0);
  if (answer->n_outside > 0)
    cli_printf (stderr,
                "hopcast: warning: %s: %u of %u programs are outside of what the model has learned "
                "from\n",
                source, answer->n_outside, answer->phases->n_programs);
  if (n_negative > 0)
    cli_printf (stderr,
                "hopcast: warning: %s: %u of %u predictions are not positive, which no IPC is\n",
                source, n_negative, n_lines);
  cli_ipc_tell_errors (model, answer);
}

static gboolean
predict (const char *model_path, const char *path, const Options *options, CliFormat format,
         GError **error)
{
  g_autoptr (PredictIpcModel) model = predict_ipc_model_read (model_path, error);
  g_autoptr (CliOutfile) out = NULL;
  g_autoptr (PredictTable) table = NULL;
  g_auto (PredictIpcAnswer) answer = { 0 };

  if (model == NULL ||
      !(out = cli_outfile_new (options->output != NULL ? options->output : "-", error)) ||
      !(table = predict_table_read (path, error)) ||
      !predict_ipc_apply (model, table, &answer, error))
    return FALSE;
  if (!options->talk.quiet)
    tell (model, &answer, table->source);
  cli_ipc_print_answer (cli_outfile_stream (out), model, &answer, table->source, format);
  return cli_outfile_commit (out, error);
}

int
cli_aggregate_predict_ipc (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "MODEL.json", "TABLE.csv", NULL };
  g_autoptr (GOptionContext) context =
      cli_context_new ("MODEL.json TABLE.csv",
                       "Writes the instructions per cycle that a model predicts of every program "
                       "of a table in the patterns that it knows (as CSV, unless --format says "
                       "otherwise).");
  g_auto (Options) options = { 0 };
  const char *paths[2];

  add_options (context, &options);
  if (!cli_parse (context, argc, argv, names, paths, error) ||
      !cli_parse_format (&options.format, error) ||
      !predict (paths[0], paths[1], &options,
                options.format.format_name != NULL ? options.format.format : CLI_FORMAT_CSV, error))
    return CLI_FAILED;
  return CLI_DONE;
}
