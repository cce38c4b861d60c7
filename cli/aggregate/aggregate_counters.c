/* aggregate_counters.c - `hopcast aggregate counters`: a row of a table, from what tools counted.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/csv.h"
#include "cli/parse.h"
#include "cli/command.h"
#include "cli/aggregate/counted_trace.h"
#include "cli/options.h"
#include "cli/print/outfile.h"
#include "cli/print/terminal.h"
#include "predictors/aggregation/task_counters.h"
#include "predictors/aggregation/ipc_phases.h"

#include <math.h>
#include <string.h>

typedef struct {
  CliTalkOptions talk;
  PredictCounterOptions counters; /* borrows from the texts below */
  char *program, *pattern, *events, *region, *cycles, *instructions, *output;
  gboolean no_header;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->program);
  g_free (options->pattern);
  g_free (options->events);
  g_free (options->region);
  g_free (options->cycles);
  g_free (options->instructions);
  g_free (options->output);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_options (GOptionContext *context, Options *options)
{
  const GOptionEntry entries[] = {
    { "program", 0, 0, G_OPTION_ARG_STRING, &options->program, "What the row is called", "NAME" },
    { "pattern", 0, 0, G_OPTION_ARG_STRING, &options->pattern,
      "The aggregation pattern that was run", "ID" },
    { "events", 0, 0, G_OPTION_ARG_STRING, &options->events,
      "The columns of rates, in this order; what was not counted is left empty (default: every event "
      "that all files have)",
      "A,B,..." },
    { "region", 0, 0, G_OPTION_ARG_STRING, &options->region,
      "Of likwid's markers: the region to take", "NAME" },
    { "cycles", 0, 0, G_OPTION_ARG_STRING, &options->cycles,
      "The event that counts cycles, if it has an unusual name", "EVENT" },
    { "instructions", 0, 0, G_OPTION_ARG_STRING, &options->instructions,
      "The event that counts instructions, if it has an unusual name", "EVENT" },
    { "no-header", 0, 0, G_OPTION_ARG_NONE, &options->no_header,
      "Only the row, to be appended to a table", NULL },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output,
      "Where to write; standard output without it", "FILE" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_csv_option (context);
  cli_add_quiet_option (context, &options->talk);
}

static gboolean
check_options (Options *options, GError **error)
{
  const char *missing = options->program == NULL   ? "--program NAME"
                        : options->pattern == NULL ? "--pattern ID"
                                                   : NULL;

  options->counters =
      (PredictCounterOptions){ options->cycles, options->instructions, options->region };
  if (missing != NULL)
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "%s is missing", missing);
  return missing == NULL;
}

/* -- events -------------------------------------------------------------------- */

static gboolean
all_have (const GPtrArray *tasks, const char *event)
{
  for (guint i = 0; i < tasks->len; i++)
    if (predict_task_rate (g_ptr_array_index (tasks, i), event) == NULL)
      return FALSE;
  return TRUE;
}

/* What --events names, or what all tasks have; g_strfreev(). */
static char **
choose_events (const GPtrArray *tasks, const char *text, GPtrArray *notes)
{
  const PredictTask *first = g_ptr_array_index (tasks, 0);
  GPtrArray *events;

  if (text != NULL)
    return g_strsplit (text, ",", -1);
  events = g_ptr_array_new ();
  for (guint i = 0; i < first->rates->len; i++) {
    const char *name = g_array_index (first->rates, PredictRate, i).name;

    if (all_have (tasks, name))
      g_ptr_array_add (events, g_strdup (name));
    else
      g_ptr_array_add (notes, g_strdup_printf ("not all files have \"%s\": left out", name));
  }
  g_ptr_array_add (events, NULL);
  return (char **) g_ptr_array_free (events, FALSE);
}

static gboolean
check_events (char *const *events, GError **error)
{
  for (; *events != NULL; events++)
    if (**events == '\0' || predict_ipc_is_reserved (*events)) {
      g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--events: '%s' is no event", *events);
      return FALSE;
    }
  return TRUE;
}

/* -- the row ----------------------------------------------------------------------- */

/* The mean over the tasks, which are what the paper averages; NaN: not all have it. */
static double
mean_rate (const GPtrArray *tasks, const char *event)
{
  double sum = 0;

  if (!all_have (tasks, event))
    return NAN;
  for (guint i = 0; i < tasks->len; i++)
    sum += predict_task_rate (g_ptr_array_index (tasks, i), event)->rate;
  return sum / tasks->len;
}

static double
mean_ipc (const GPtrArray *tasks)
{
  double sum = 0;

  for (guint i = 0; i < tasks->len; i++)
    sum += ((const PredictTask *) g_ptr_array_index (tasks, i))->ipc;
  return sum / tasks->len;
}

static void
write_row (FILE *out, const Options *options, const GPtrArray *tasks, char *const *events,
           GPtrArray *notes)
{
  char number[BASE_DECIMAL_SIZE];

  if (!options->no_header) {
    fputs ("program,pattern,ipc", out);
    for (char *const *event = events; *event != NULL; event++) {
      fputc (',', out);
      base_csv_field (out, *event);
    }
    fputc ('\n', out);
  }
  base_csv_field (out, options->program);
  fputc (',', out);
  base_csv_field (out, options->pattern);
  fprintf (out, ",%s", base_decimal_print (number, mean_ipc (tasks)));
  for (char *const *event = events; *event != NULL; event++) {
    double rate = mean_rate (tasks, *event);

    fprintf (out, ",%s", base_decimal_print (number, rate));
    if (isnan (rate))
      g_ptr_array_add (notes, g_strdup_printf ("not all files have \"%s\": left empty", *event));
  }
  fputc ('\n', out);
}

static gboolean
read_tasks (char *const *paths, const Options *options, GPtrArray *tasks, GPtrArray *notes,
            GError **error)
{
  for (; *paths != NULL; paths++)
    if (!(cli_is_counted_trace (*paths)
              ? cli_counted_trace_read (*paths, tasks, error)
              : predict_counters_read (*paths, &options->counters, tasks, notes, error)))
      return FALSE;
  return TRUE;
}

static gboolean
count (char *const *paths, const Options *options, GError **error)
{
  g_autoptr (GPtrArray) tasks = g_ptr_array_new_with_free_func ((GDestroyNotify) predict_task_free);
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) events = NULL;
  g_autoptr (CliOutfile) out =
      cli_outfile_new (options->output != NULL ? options->output : "-", error);

  if (out == NULL || !read_tasks (paths, options, tasks, notes, error))
    return FALSE;
  events = choose_events (tasks, options->events, notes);
  if (!check_events (events, error))
    return FALSE;
  write_row (cli_outfile_stream (out), options, tasks, events, notes);
  for (guint i = 0; !options->talk.quiet && i < notes->len; i++)
    cli_printf (stderr, "hopcast: warning: %s\n", (const char *) g_ptr_array_index (notes, i));
  return cli_outfile_commit (out, error);
}

/* At least one FILE is what is left of the command line. */
int
cli_aggregate_counters (int argc, char **argv, GError **error)
{
  g_autoptr (GOptionContext) context = cli_context_new (
      "FILE...", "Writes the row of a program in a pattern, for aggregate train-ipc, from what "
                 "perf stat -x, likwid-perfctr -O or a recording counted of its tasks.");
  g_auto (Options) options = { 0 };
  int first = 1;

  add_options (context, &options);
  if (!cli_parse_options (context, NULL, &argc, &argv, error) || !check_options (&options, error))
    return CLI_FAILED;
  if (first < argc && !strcmp (argv[first], "--"))
    first++;
  if (first >= argc) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "FILE is missing");
    return CLI_FAILED;
  }
  return count (argv + first, &options, error) ? CLI_DONE : CLI_FAILED;
}
