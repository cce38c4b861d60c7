/* aggregate_train.c - `hopcast aggregate train-ipc`: learns how aggregation changes the IPC.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/csv.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/parse.h"
#include "cli/print/columns.h"
#include "cli/print/outfile.h"
#include "cli/print/terminal.h"
#include "cli/print/warnings.h"
#include "predictors/aggregation/ipc_model.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define AUTO "auto:"

/* In the order of PredictIpcFit. */
static const char *const fits[] = { "ridge", "least-squares", NULL };

typedef struct {
  CliFormatOptions format;
  CliTalkOptions talk;
  char *samples, *events, *fit, *output;
} Options;

static void
options_clear (Options *options)
{
  cli_format_options_clear (&options->format);
  g_free (options->samples);
  g_free (options->events);
  g_free (options->fit);
  g_free (options->output);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* The names between the commas, without blanks around; NULL and *error: one is empty. */
static char **
split_names (const char *option, const char *text, GError **error)
{
  g_auto (GStrv) names = g_strsplit (text, ",", -1);

  for (char **name = names; *name != NULL; name++)
    if (*g_strstrip (*name) == '\0')
      names[0][0] = '\0';
  if (names[0] != NULL && *names[0] != '\0')
    return g_steal_pointer (&names);
  cli_refuse (error, "%s: '%s' is not a list of names", option, text);
  return NULL;
}

/* Reads --events: auto:N, names, or nothing (all columns).  The table is not needed for it. */
static gboolean
parse_events (const char *text, char ***events, guint64 *n_auto, GError **error)
{
  *events = NULL;
  *n_auto = 0;
  if (text == NULL)
    return TRUE;
  if (g_str_has_prefix (text, AUTO))
    return g_ascii_string_to_unsigned (text + strlen (AUTO), 10, 1, PREDICT_IPC_MAX_TERMS, n_auto,
                                       NULL) ||
           cli_refuse (error, "--events: '%s' is not auto:N with N from 1 to %u", text,
                       PREDICT_IPC_MAX_TERMS);
  *events = split_names ("--events", text, error);
  for (char **event = *events; event != NULL && *event != NULL; event++)
    if (predict_ipc_is_reserved (*event))
      return cli_refuse (error, "--events: '%s' is not an event", *event);
  return *events != NULL;
}

/* Warns on standard error of classes with fewer programs than coefficients: once for all patterns
 * in which a class has the same number of programs. */
static void
warn (const PredictIpcModel *model)
{
  for (guint class = 0; class < PREDICT_IPC_N_PIECES; class ++)
    for (guint first = 0; first < model->n_targets; first++) {
      const PredictIpcPiece *piece = &model->targets[first].pieces[class];
      g_autoptr (GString) patterns = g_string_new (NULL);
      guint n = 0, before = 0;

      if (!predict_ipc_is_under_determined (model, piece))
        continue;
      for (guint target = 0; target < model->n_targets; target++)
        if (model->targets[target].pieces[class].n_programs == piece->n_programs) {
          before += target < first;
          g_string_append_printf (patterns, "%s %s", n++ > 0 ? "," : "",
                                  model->targets[target].pattern);
        }
      if (before > 0)
        continue;
      cli_printf (
          stderr,
          "hopcast: warning: %s: pattern%s%s, class %s: under-determined, %u program%s for %u "
          "coefficients%s\n",
          model->source, n == 1 ? "" : "s", patterns->str, predict_ipc_piece_names[class],
          piece->n_programs, piece->n_programs == 1 ? "" : "s", predict_ipc_n_regressors (model),
          piece->linear == NULL ? "; predicted by the function of all programs" : "");
    }
}

/* --- The report --- */

/* A function of the model: of one class of programs in one pattern. */
typedef struct {
  const char *pattern, *class_name;
  uint32_t n_programs, rank;
  uint32_t shown_rank; /* 0: the class has no function of its own */
  double ridge, error, error_percent;
  bool is_under_determined;
  const char *predicted_by; /* the class whose function predicts this one */
} Row;

/* CSV is written by write_csv(). */
static const CliColumn columns[] = {
  { "pattern", "pattern", CLI_CELL_TEXT, offsetof (Row, pattern) },
  { "class", "class", CLI_CELL_TEXT, offsetof (Row, class_name) },
  { "programs", "programs", CLI_CELL_U32, offsetof (Row, n_programs) },
  { "rank", NULL, CLI_CELL_U32, offsetof (Row, rank) },
  { NULL, "rank", CLI_CELL_KNOWN_U32, offsetof (Row, shown_rank) },
  { "ridge", "ridge", CLI_CELL_NUMBER, offsetof (Row, ridge), "%.2g" },
  { "error", NULL, CLI_CELL_NUMBER, offsetof (Row, error) },
  { NULL, "left out %", CLI_CELL_NUMBER, offsetof (Row, error_percent), "%.2f" },
  { "under_determined", NULL, CLI_CELL_BOOLEAN, offsetof (Row, is_under_determined) },
  { "predicted_by", "predicted by", CLI_CELL_TEXT, offsetof (Row, predicted_by) },
};

/* Not from `columns`: the names of classes are quoted, also "all", and coefficients are a column. */
static void
write_csv (FILE *out, const CliRows *rows, guint n_coefficients)
{
  char ridge[BASE_DECIMAL_SIZE], error[BASE_DECIMAL_SIZE];

  fputs ("pattern,class,programs,coefficients,rank,ridge,error,under_determined,predicted_by\n",
         out);
  for (const Row *row = rows->rows; row < (const Row *) rows->rows + rows->n_rows; row++) {
    base_csv_field (out, row->pattern);
    fprintf (out, ",\"%s\",%u,%u,%u,%s,%s,%s,\"%s\"\n", row->class_name, row->n_programs,
             n_coefficients, row->rank, base_decimal_print (ridge, row->ridge),
             base_decimal_print (error, row->error), row->is_under_determined ? "true" : "false",
             row->predicted_by);
  }
}

static void
add_names (JsonBuilder *builder, const char *name, char *const *names)
{
  cli_begin_array (builder, name);
  for (; *names != NULL; names++)
    json_builder_add_string_value (builder, *names);
  json_builder_end_array (builder);
}

static void
print (FILE *out, const PredictIpcModel *model, CliFormat format)
{
  guint n = model->n_targets * PREDICT_IPC_N_PIECES;
  guint n_coefficients = predict_ipc_n_regressors (model);
  g_autofree Row *row = g_new (Row, n + 1);
  const CliRows rows = CLI_ROWS (columns, row, n);
  g_autofree char *samples = g_strjoinv (", ", model->samples);
  g_autofree char *events = g_strjoinv (", ", model->events);
  g_autoptr (JsonBuilder) builder = NULL;

  for (guint i = 0; i < n; i++) {
    const PredictIpcTarget *target = &model->targets[i / PREDICT_IPC_N_PIECES];
    guint class = i % PREDICT_IPC_N_PIECES;
    const PredictIpcPiece *piece = &target->pieces[class];
    bool has_function = piece->linear != NULL;

    row[i] = (Row){
      .pattern = target->pattern,
      .class_name = predict_ipc_piece_names[class],
      .n_programs = piece->n_programs,
      .rank = piece->rank,
      .shown_rank = has_function ? piece->rank : 0,
      .ridge = has_function ? piece->ridge : (double) NAN,
      .error = piece->error,
      .error_percent = has_function ? 100 * piece->error : (double) NAN,
      .is_under_determined = predict_ipc_is_under_determined (model, piece),
      .predicted_by = predict_ipc_piece_names[has_function ? class : PREDICT_IPC_ALL],
    };
  }
  switch (format) {
  case CLI_FORMAT_TABLE:
    cli_printf (out, "trained on    %s: %u programs\n", model->source, model->n_programs);
    cli_printf (out, "samples       %s\n", samples);
    cli_printf (out, "events        %s\n", *events != '\0' ? events : "none");
    fprintf (out, "coefficients  %u of each function\n\n", n_coefficients);
    cli_rows_print_table (out, &rows, "");
    break;
  case CLI_FORMAT_CSV: write_csv (out, &rows, n_coefficients); break;
  case CLI_FORMAT_JSON:
    builder = json_builder_new ();
    json_builder_begin_object (builder);
    cli_add_string (builder, "schema", "hopcast.ipc-training/1");
    cli_add_string (builder, "table", model->source);
    cli_add_integer (builder, "programs", model->n_programs);
    add_names (builder, "samples", model->samples);
    add_names (builder, "events", model->events);
    cli_add_integer (builder, "coefficients", n_coefficients);
    cli_rows_add_json (builder, "functions", &rows);
    cli_print_object (out, builder);
    break;
  }
}

/* --- The command --- */

static gboolean
train (const char *path, const Options *options, GError **error)
{
  g_auto (GStrv) samples =
      split_names ("--samples", options->samples != NULL ? options->samples : "4,5", error);
  g_auto (GStrv) events = NULL;
  guint64 n_auto = 0;
  int fit = options->fit != NULL ? cli_parse_choice ("--fit", options->fit, fits, error)
                                 : PREDICT_IPC_RIDGE;
  g_autoptr (CliOutfile) out = NULL;
  g_autoptr (PredictTable) table = NULL;
  g_autoptr (PredictIpcModel) model = NULL;

  if (fit < 0 || samples == NULL || !parse_events (options->events, &events, &n_auto, error) ||
      (options->output != NULL && !(out = cli_outfile_new (options->output, error))) ||
      !(table = predict_table_read (path, error)))
    return FALSE;
  if (events == NULL)
    events = n_auto == 0 ? predict_ipc_all_events (table)
                         : predict_ipc_choose_events (table, (const char *const *) samples,
                                                      (guint) n_auto, error);
  if (events == NULL)
    return FALSE;
  model = predict_ipc_train (table, (const char *const *) samples, (const char *const *) events,
                             (PredictIpcFit) fit, error);
  if (model == NULL)
    return FALSE;
  if (!options->talk.quiet) {
    g_autoptr (GPtrArray) unequal = g_ptr_array_new_with_free_func (g_free);

    predict_ipc_check_instructions (table, unequal);
    cli_warnings_tell (unequal);
    warn (model);
  }
  if (out != NULL && (!predict_ipc_model_write (model, cli_outfile_stream (out), error) ||
                      !cli_outfile_commit (out, error)))
    return FALSE;
  /* A model on standard output is all that is printed there. */
  if (g_strcmp0 (options->output, "-") != 0)
    print (stdout, model, options->format.format);
  return TRUE;
}

int
cli_aggregate_train_ipc (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "TABLE.csv", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "TABLE.csv",
      "Learns the instructions per cycle of programs in every aggregation pattern of a "
      "table from their counters in a few sample patterns.");
  g_auto (Options) options = { 0 };
  const GOptionEntry entries[] = {
    { "samples", 0, 0, G_OPTION_ARG_STRING, &options.samples,
      "The patterns that a program is run in before it is predicted (default: 4,5)", "A,B,..." },
    { "events", 0, 0, G_OPTION_ARG_STRING, &options.events,
      "The columns of event rates to learn from, or auto:N: the N that correlate most with the IPC "
      "(default: every column of numbers)",
      "A,B,..." },
    { "fit", 0, 0, G_OPTION_ARG_STRING, &options.fit,
      "ridge (default: least squares with a ridge that leaving programs out chooses) or least-squares, "
      "the paper's, which needs more programs than coefficients",
      "HOW" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
      "Where to write the model (default: nowhere, only tell how good it is)", "MODEL.json" },
    { NULL },
  };
  const char *path;

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_unpack_option (context);
  cli_add_format_options (context, &options.format);
  cli_add_quiet_option (context, &options.talk);
  if (!cli_parse (context, argc, argv, names, &path, error) ||
      !cli_parse_format (&options.format, error) || !train (path, &options, error))
    return CLI_FAILED;
  return CLI_DONE;
}
