/* aggregate_counters.c - `hopcast aggregate counters`: a row of a table, from counters of tasks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/csv.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/parse.h"
#include "cli/print/outfile.h"
#include "cli/print/terminal.h"
#include "predictors/aggregation/ipc_phases.h"
#include "predictors/aggregation/task_counters.h"
#include "traces/trace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LOOKED_AT 4096u /* bytes at the beginning of a file */

typedef struct {
  CliTalkOptions talk;
  char *program, *pattern, *events, *region, *cycles, *instructions, *output;
  gboolean no_header, with_instructions;
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

/* --- Tasks --- */

/* Whether a file is a trace and not the text of a counter tool: a folder, or bytes that are no text. */
static gboolean
is_trace (const char *path)
{
  char head[LOOKED_AT];
  FILE *file;
  gsize n;

  if (g_file_test (path, G_FILE_TEST_IS_DIR) || g_str_has_prefix (path, "gen:"))
    return TRUE;
  file = fopen (path, "re");
  if (file == NULL) /* predict_counters_read() reports it */
    return FALSE;
  n = fread (head, 1, sizeof head, file);
  fclose (file);
  return memchr (head, '\0', n) != NULL || (n >= 2 && (guchar) head[0] == 0x1f); /* gzip */
}

/* Adds every rank of a trace to tasks (element-type PredictTask): its IPC while it computed, and no
 * events, since recordings count instructions and cycles only. */
static gboolean
read_trace (const char *path, GPtrArray *tasks, GError **error)
{
  const TraceOptions options = { 0 };
  g_autoptr (Trace) trace = trace_open (path, &options, error);

  for (uint32_t rank = 0; trace != NULL && rank < trace_ranks (trace); rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, error);
    g_autofree char *source = g_strdup_printf ("%s: rank %u", path, rank);
    TraceNext next = TRACE_NEXT_ERROR;
    double instructions = 0, cycles = 0;
    PredictTask *task;
    TraceOp op;

    while (cursor != NULL &&
           (next = trace_cursor_next (cursor, &op, error)) == TRACE_NEXT_OPERATION)
      if (op.kind == TRACE_OP_COMPUTE) {
        instructions += (double) op.instructions;
        cycles += (double) op.cycles;
      }
    if (next == TRACE_NEXT_ERROR)
      return FALSE;
    if (!(instructions > 0 && cycles > 0))
      return cli_fail (error, "%s has no counters", source);
    task = predict_task_new (source);
    task->ipc = instructions / cycles;
    task->instructions = instructions;
    g_ptr_array_add (tasks, task);
  }
  return trace != NULL;
}

/* --- Events --- */

static gboolean
all_have (const GPtrArray *tasks, const char *event)
{
  for (guint i = 0; i < tasks->len; i++)
    if (predict_task_rate (g_ptr_array_index (tasks, i), event) == NULL)
      return FALSE;
  return TRUE;
}

/* The names of --events, or the events that all tasks have; g_strfreev().  NULL and *error: a name
 * is no event. */
static char **
choose_events (const GPtrArray *tasks, const char *text, GPtrArray *notes, GError **error)
{
  const PredictTask *first = g_ptr_array_index (tasks, 0);
  g_auto (GStrv) events = NULL;

  if (text != NULL)
    events = g_strsplit (text, ",", -1);
  else {
    GPtrArray *common = g_ptr_array_new ();

    for (guint i = 0; i < first->rates->len; i++) {
      const char *name = g_array_index (first->rates, PredictRate, i).name;

      if (all_have (tasks, name))
        g_ptr_array_add (common, g_strdup (name));
      else
        g_ptr_array_add (notes, g_strdup_printf ("not all files have \"%s\": left out", name));
    }
    g_ptr_array_add (common, NULL);
    events = (char **) g_ptr_array_free (common, FALSE);
  }
  for (char **event = events; *event != NULL; event++)
    if (**event == '\0' || predict_ipc_is_reserved (*event)) {
      cli_refuse (error, "--events: '%s' is not an event", *event);
      return NULL;
    }
  return g_steal_pointer (&events);
}

/* --- The row --- */

/* Means over the tasks, as in the paper; the rate of an event that not all of them have is empty. */
static void
write_row (FILE *out, const Options *options, const GPtrArray *tasks, char *const *events,
           GPtrArray *notes)
{
  char number[BASE_DECIMAL_SIZE];
  double ipc = 0, instructions = 0;

  if (!options->no_header) {
    fputs ("program,pattern,ipc", out);
    if (options->with_instructions)
      fputs (",instructions", out);
    for (char *const *event = events; *event != NULL; event++) {
      fputc (',', out);
      base_csv_field (out, *event);
    }
    fputc ('\n', out);
  }
  for (guint i = 0; i < tasks->len; i++) {
    const PredictTask *task = g_ptr_array_index (tasks, i);

    ipc += task->ipc;
    instructions += task->instructions;
  }
  base_csv_field (out, options->program);
  fputc (',', out);
  base_csv_field (out, options->pattern);
  fprintf (out, ",%s", base_decimal_print (number, ipc / tasks->len));
  if (options->with_instructions)
    fprintf (out, ",%s", base_decimal_print (number, instructions / tasks->len));
  for (char *const *event = events; *event != NULL; event++) {
    double sum = all_have (tasks, *event) ? 0 : (double) NAN;

    for (guint i = 0; i < tasks->len && !isnan (sum); i++)
      sum += predict_task_rate (g_ptr_array_index (tasks, i), *event)->rate;
    fprintf (out, ",%s", base_decimal_print (number, sum / tasks->len));
    if (isnan (sum))
      g_ptr_array_add (notes, g_strdup_printf ("not all files have \"%s\": left empty", *event));
  }
  fputc ('\n', out);
}

static gboolean
count (char *const *paths, const Options *options, GError **error)
{
  const PredictCounterOptions counters = { options->cycles, options->instructions,
                                           options->region };
  g_autoptr (GPtrArray) tasks = g_ptr_array_new_with_free_func ((GDestroyNotify) predict_task_free);
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) events = NULL;
  g_autoptr (CliOutfile) out = cli_outfile_new (options->output, error);

  if (out == NULL)
    return FALSE;
  for (; *paths != NULL; paths++)
    if (!(is_trace (*paths) ? read_trace (*paths, tasks, error)
                            : predict_counters_read (*paths, &counters, tasks, notes, error)))
      return FALSE;
  if (!(events = choose_events (tasks, options->events, notes, error)))
    return FALSE;
  write_row (cli_outfile_stream (out), options, tasks, events, notes);
  for (guint i = 0; !options->talk.quiet && i < notes->len; i++)
    cli_printf (stderr, "hopcast: warning: %s\n", (const char *) g_ptr_array_index (notes, i));
  return cli_outfile_commit (out, error);
}

int
cli_aggregate_counters (int argc, char **argv, GError **error)
{
  g_autoptr (GOptionContext) context = cli_context_new (
      "FILE...", "Writes the row of a program in a pattern, for aggregate train-ipc, from what "
                 "perf stat -x, likwid-perfctr -O or a recording counted of its tasks.");
  g_auto (Options) options = { 0 };
  const GOptionEntry entries[] = {
    { "program", 0, 0, G_OPTION_ARG_STRING, &options.program, "What the row is called", "NAME" },
    { "pattern", 0, 0, G_OPTION_ARG_STRING, &options.pattern,
      "The aggregation pattern that was run", "ID" },
    { "events", 0, 0, G_OPTION_ARG_STRING, &options.events,
      "The columns of rates, in this order; what was not counted is left empty (default: every event "
      "that all files have)",
      "A,B,..." },
    { "region", 0, 0, G_OPTION_ARG_STRING, &options.region,
      "Of likwid's markers: the region to take", "NAME" },
    { "cycles", 0, 0, G_OPTION_ARG_STRING, &options.cycles,
      "The event that counts cycles, if it has an unusual name", "EVENT" },
    { "instructions", 0, 0, G_OPTION_ARG_STRING, &options.instructions,
      "The event that counts instructions, if it has an unusual name", "EVENT" },
    { "with-instructions", 0, 0, G_OPTION_ARG_NONE, &options.with_instructions,
      "Also a column with the instructions of a task, which must be the same in all patterns: train-ipc "
      "and aggregate then check it",
      NULL },
    { "no-header", 0, 0, G_OPTION_ARG_NONE, &options.no_header,
      "Only the row, to be appended to a table", NULL },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
      "Where to write; standard output without it", "FILE" },
    { NULL },
  };
  int first = 1;

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_csv_option (context);
  cli_add_quiet_option (context, &options.talk);
  if (!cli_parse_options (context, NULL, &argc, &argv, error))
    return CLI_FAILED;
  if (options.program == NULL || options.pattern == NULL) {
    cli_refuse (error, "%s is missing",
                options.program == NULL ? "--program NAME" : "--pattern ID");
    return CLI_FAILED;
  }
  if (first < argc && !strcmp (argv[first], "--"))
    first++;
  if (first >= argc) {
    cli_refuse (error, "FILE is missing");
    return CLI_FAILED;
  }
  return count (argv + first, &options, error) ? CLI_DONE : CLI_FAILED;
}
