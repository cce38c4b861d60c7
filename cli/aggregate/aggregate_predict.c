/* aggregate_predict.c - `hopcast aggregate predict-ipc`: the IPC in patterns that were not run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/options.h"
#include "cli/print/columns.h"
#include "cli/print/outfile.h"
#include "cli/print/terminal.h"
#include "predictors/aggregation/ipc_model.h"
#include "predictors/correction/loss.h"

#include <math.h>
#include <stddef.h>

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

/* A program in a pattern. */
typedef struct {
  const char *program, *pattern;
  double predicted, observed;
  double error, error_percent; /* of the observed, as a share and in percent; NaN: not known */
} Row;

enum { HAS_OBSERVED = 1 };

static const CliColumn columns[] = {
  { "program", "program", CLI_CELL_TEXT, offsetof (Row, program) },
  { "pattern", "pattern", CLI_CELL_TEXT, offsetof (Row, pattern) },
  { "ipc_predicted", "predicted", CLI_CELL_NUMBER, offsetof (Row, predicted), "%.4f" },
  /* In CSV only when an IPC is observed. */
  { "ipc_observed", "observed", CLI_CELL_NUMBER, offsetof (Row, observed), "%.4f", HAS_OBSERVED },
  { "error", NULL, CLI_CELL_NUMBER, offsetof (Row, error) },
  { NULL, "error %", CLI_CELL_NUMBER, offsetof (Row, error_percent), "%+.3f", HAS_OBSERVED },
};

enum { N_PREDICTED = 3 };

static void
print (FILE *out, const CliRows *rows, const PredictIpcAnswer *answer,
       const PredictRelativeErrors *errors, const char *source, CliFormat format)
{
  g_autoptr (JsonBuilder) builder = NULL;
  CliRows shown = *rows;

  switch (format) {
  case CLI_FORMAT_TABLE:
    shown.has = errors->n > 0 ? HAS_OBSERVED : 0;
    cli_rows_print_table (out, &shown, "");
    break;
  case CLI_FORMAT_CSV:
    if (errors->n == 0)
      shown.n_columns = N_PREDICTED;
    cli_rows_print_csv (out, &shown);
    break;
  case CLI_FORMAT_JSON:
    builder = json_builder_new ();
    json_builder_begin_object (builder);
    cli_add_string (builder, "schema", "hopcast.ipc-prediction/1");
    cli_add_string (builder, "table", source);
    cli_add_integer (builder, "programs", answer->phases->n_programs);
    cli_add_integer (builder, "outside", answer->n_outside);
    cli_begin_object (builder, "errors");
    cli_add_integer (builder, "n", errors->n);
    cli_add_number (builder, "mean", errors->mean);
    cli_add_number (builder, "sd", errors->sd);
    cli_add_number (builder, "max", errors->max);
    json_builder_end_object (builder);
    cli_rows_add_json (builder, "predictions", rows);
    cli_print_object (out, builder);
    break;
  }
}

static gboolean
predict (const char *model_path, const char *path, const Options *options, CliFormat format,
         GError **error)
{
  g_autoptr (PredictIpcModel) model = predict_ipc_model_read (model_path, error);
  g_autoptr (CliOutfile) out = NULL;
  g_autoptr (PredictTable) table = NULL;
  g_auto (PredictIpcAnswer) answer = { 0 };
  g_autofree Row *row = NULL;
  guint n, n_negative = 0;
  PredictRelativeErrors errors;

  if (model == NULL || !(out = cli_outfile_new (options->output, error)) ||
      !(table = predict_table_read (path, error)) ||
      !predict_ipc_apply (model, table, &answer, error))
    return FALSE;
  n = answer.phases->n_programs * model->n_targets;
  errors = predict_relative_errors (answer.observed, answer.predicted, n);
  row = g_new (Row, n + 1);
  for (guint i = 0; i < n; i++) {
    double error_share = answer.predicted[i] / answer.observed[i] - 1;

    row[i] = (Row){ answer.phases->programs[i / model->n_targets],
                    model->targets[i % model->n_targets].pattern,
                    answer.predicted[i],
                    answer.observed[i],
                    error_share,
                    100 * error_share };
    n_negative += !(answer.predicted[i] > 0);
  }
  if (!options->talk.quiet) {
    if (answer.n_outside > 0)
      cli_printf (
          stderr,
          "hopcast: warning: %s: %u of %u programs are outside the range of the training data\n",
          table->source, answer.n_outside, answer.phases->n_programs);
    if (n_negative > 0)
      cli_printf (stderr, "hopcast: warning: %s: %u of %u predicted IPCs are not positive\n",
                  table->source, n_negative, n);
    if (errors.n > 0)
      cli_printf (
          stderr,
          "hopcast: %" G_GUINT64_FORMAT
          " of %u predictions have an observed IPC: mean error %.3f %%, standard deviation %.3f %%, "
          "largest %.3f %%\n",
          errors.n, n, 100 * errors.mean, 100 * (isnan (errors.sd) ? 0 : errors.sd),
          100 * errors.max);
  }
  print (cli_outfile_stream (out), &CLI_ROWS (columns, row, n), &answer, &errors, table->source,
         format);
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
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
      "Where to write; standard output without it", "FILE" },
    { NULL },
  };
  const char *paths[2];

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_unpack_option (context);
  cli_add_format_options (context, &options.format);
  cli_add_quiet_option (context, &options.talk);
  if (!cli_parse (context, argc, argv, names, paths, error) ||
      !cli_parse_format (&options.format, error) ||
      !predict (paths[0], paths[1], &options,
                options.format.format_name != NULL ? options.format.format : CLI_FORMAT_CSV, error))
    return CLI_FAILED;
  return CLI_DONE;
}
