/* aggregate_train.c - `hopcast aggregate train-ipc`: learns what aggregation does to the IPC.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/aggregate/ipc_print.h"
#include "cli/options.h"
#include "cli/print/outfile.h"

#include <string.h>

#define AUTO "auto:"

typedef struct {
  CliFormatOptions format;
  CliTalkOptions talk;
  char *samples, *events, *output;
} Options;

static void
options_clear (Options *options)
{
  cli_format_options_clear (&options->format);
  g_free (options->samples);
  g_free (options->events);
  g_free (options->output);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_options (GOptionContext *context, Options *options)
{
  const GOptionEntry entries[] = {
    { "samples", 0, 0, G_OPTION_ARG_STRING, &options->samples,
      "The patterns that a program is run in before it is predicted (default: 4,5)", "A,B,..." },
    { "events", 0, 0, G_OPTION_ARG_STRING, &options->events,
      "The columns of event rates to learn from, or auto:N: the N that correlate most with the IPC "
      "(default: every column of numbers)",
      "A,B,..." },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output,
      "Where to write the model (default: nowhere, only tell how good it is)", "MODEL.json" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_unpack_option (context);
  cli_add_format_options (context, &options->format);
  cli_add_quiet_option (context, &options->talk);
}

/* What the commas part, without blanks around; NULL and *error: one is empty. */
static char **
split_names (const char *option, const char *text, GError **error)
{
  g_auto (GStrv) names = g_strsplit (text, ",", -1);

  for (char **name = names; *name != NULL; name++)
    if (*g_strstrip (*name) == '\0')
      names[0][0] = '\0';
  if (names[0] != NULL && *names[0] != '\0')
    return g_steal_pointer (&names);
  g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "%s: '%s' is no list of names", option, text);
  return NULL;
}

/* auto:N, N columns or all; what is said does not depend on the table. */
static gboolean
parse_events (const char *text, char ***events, guint64 *n_auto, GError **error)
{
  *events = NULL;
  *n_auto = 0;
  if (text == NULL)
    return TRUE;
  if (g_str_has_prefix (text, AUTO)) {
    if (g_ascii_string_to_unsigned (text + strlen (AUTO), 10, 1, PREDICT_IPC_MAX_TERMS, n_auto,
                                    NULL))
      return TRUE;
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE,
                 "--events: '%s' is not auto:N with N from 1 to %u", text, PREDICT_IPC_MAX_TERMS);
    return FALSE;
  }
  *events = split_names ("--events", text, error);
  for (char **event = *events; event != NULL && *event != NULL; event++)
    if (predict_ipc_is_reserved (*event)) {
      g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--events: '%s' is no event", *event);
      return FALSE;
    }
  return *events != NULL;
}

static gboolean
train (const char *path, const Options *options, GError **error)
{
  g_auto (GStrv) samples =
      split_names ("--samples", options->samples != NULL ? options->samples : "4,5", error);
  g_auto (GStrv) events = NULL;
  guint64 n_auto = 0;
  g_autoptr (CliOutfile) out = NULL;
  g_autoptr (PredictTable) table = NULL;
  g_autoptr (PredictIpcModel) model = NULL;

  if (samples == NULL || !parse_events (options->events, &events, &n_auto, error) ||
      (options->output != NULL && !(out = cli_outfile_new (options->output, error))) ||
      !(table = predict_table_read (path, error)))
    return FALSE;
  if (events == NULL)
    events = n_auto == 0 ? predict_ipc_all_events (table)
                         : predict_ipc_choose_events (table, (const char *const *) samples,
                                                      (guint) n_auto, error);
  if (events == NULL)
    return FALSE;
  model =
      predict_ipc_train (table, (const char *const *) samples, (const char *const *) events, error);
  if (model == NULL)
    return FALSE;
  if (!options->talk.quiet)
    cli_ipc_warn (model);
  if (out != NULL) {
    if (!predict_ipc_model_write (model, cli_outfile_stream (out), error) ||
        !cli_outfile_commit (out, error))
      return FALSE;
  }
  /* A model on standard output has it for itself. */
  if (g_strcmp0 (options->output, "-") != 0)
    cli_ipc_print_model (stdout, model, options->format.format);
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
  const char *path;

  add_options (context, &options);
  if (!cli_parse (context, argc, argv, names, &path, error) ||
      !cli_parse_format (&options.format, error) || !train (path, &options, error))
    return CLI_FAILED;
  return CLI_DONE;
}
