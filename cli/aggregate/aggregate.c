/* aggregate.c - `hopcast aggregate TRACE`: how a job should fill its nodes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/aggregate/aggregate.h"
#include "cli/aggregate/choice.h"
#include "cli/command.h"
#include "cli/print/outfile.h"
#include "cli/print/progress.h"
#include "cli/print/warnings.h"
#include "topology/unit.h"

TopoMachine *
cli_aggregate_machine (const CliMachineOptions *options, GError **error)
{
  g_autoptr (TopoMachine) machine = cli_machine_new (options, error);

  if (machine == NULL || machine->node != NULL)
    return g_steal_pointer (&machine);
  cli_fail (error, "%s is a torus; the cores of its nodes are unknown", machine->spec);
  return NULL;
}

gboolean
cli_aggregate_bytes (const char *option, const char *text, uint64_t *bytes, GError **error)
{
  TopoValue value = { 0 };
  g_autoptr (GError) cause = NULL;

  *bytes = 0;
  if (text == NULL)
    return TRUE;
  if (!topo_unit_parse (TOPO_UNIT_BYTES, text, &value, &cause) || value.whole == 0)
    return cli_refuse (error, "%s: %s", option, cause != NULL ? cause->message : "must be above 0");
  *bytes = value.whole;
  return TRUE;
}

/* The text with n_ranks in place of every {ranks}; the caller frees it. */
static char *
fill_in (const char *text, guint n_ranks)
{
  g_auto (GStrv) parts = g_strsplit (text, "{ranks}", -1);
  g_autofree char *number = g_strdup_printf ("%u", n_ranks);

  return g_strjoinv (number, parts);
}

/* A table of bounds, shared by the choices of a run. */
typedef struct {
  const char *path;         /* NULL: no bounds are asked for */
  PredictBoundTable *table; /* NULL: not opened yet */
  gboolean is_ours;         /* filled here, not read */
} Table;

static void
table_clear (Table *table)
{
  g_clear_pointer (&table->table, predict_bound_table_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Table, table_clear)

static void
show_table_progress (void *progress, double share)
{
  cli_progress_text (progress, share, "table of bounds, ");
}

/* An existing file is read, and used as it is.  A missing one is filled with messages and with the
 * collectives of the trace, and kept; collectives of later traces are added to it. */
static gboolean
open_table (Table *table, const StudyChoice *choice, Trace *trace, gboolean quiet, GError **error)
{
  g_autoptr (GArray) missing = NULL;
  g_autoptr (CliProgress) progress = NULL;
  g_autoptr (CliOutfile) file = NULL;

  if (table->path == NULL || (table->table != NULL && !table->is_ours))
    return TRUE;
  if (table->table == NULL && g_file_test (table->path, G_FILE_TEST_EXISTS)) {
    table->table = predict_bound_table_read (table->path, error);
    return table->table != NULL;
  }
  table->is_ours = TRUE;
  if (!(missing = study_choice_missing (choice, trace, table->table, error)))
    return FALSE;
  if (table->table != NULL && missing->len == 0)
    return TRUE;
  progress = cli_progress_new (quiet);
  if (!(file = cli_outfile_new (table->path, error)) ||
      !study_choice_fill (choice, missing, &table->table, show_table_progress, progress, error))
    return FALSE;
  predict_bound_table_write (table->table, cli_outfile_stream (file));
  return cli_outfile_commit (file, error);
}

typedef struct {
  CliProgress *bar;
  uint32_t n_ranks;
} Progress;

static void
show_progress (void *data, uint32_t n_done, uint32_t n_todo, double share)
{
  const Progress *progress = data;
  g_autofree char *text =
      g_strdup_printf ("%u ranks, pattern %u of %u, ", progress->n_ranks, n_done + 1, n_todo);

  cli_progress_text (progress->bar, (n_done + share) / n_todo, text);
}

/* n_ranks 0: those of the trace. */
static StudyChoice *
choose (const char *trace_text, guint n_ranks, const CliChoiceOptions *options, Table *table,
        GError **error)
{
  g_autofree char *path = n_ranks > 0 ? fill_in (trace_text, n_ranks) : g_strdup (trace_text);
  g_autofree char *spec =
      n_ranks > 0 ? fill_in (options->machine.spec, n_ranks) : g_strdup (options->machine.spec);
  CliMachineOptions named = options->machine;
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (Trace) trace = NULL;
  g_autoptr (StudyChoice) choice = NULL;
  g_autoptr (CliProgress) bar = NULL;

  named.spec = spec;
  machine = cli_aggregate_machine (&named, error);
  if (machine == NULL ||
      (options->hosts != NULL && !topo_machine_set_hosts (machine, options->hosts, error)) ||
      !(trace = cli_trace_open (path, &options->trace, error)) ||
      !(choice = study_choice_new (path, trace, spec, g_steal_pointer (&machine), &options->choice,
                                   error)) ||
      !open_table (table, choice, trace, options->talk.quiet, error))
    return NULL;
  bar = cli_progress_new (options->talk.quiet);
  return study_choice_run (choice, trace, table->table, show_progress,
                           &(Progress){ bar, choice->n_ranks }, error)
             ? g_steal_pointer (&choice)
             : NULL;
}

static gboolean
aggregate (const char *trace, const CliChoiceOptions *options, GError **error)
{
  g_autoptr (GPtrArray) choices =
      g_ptr_array_new_with_free_func ((GDestroyNotify) study_choice_free);
  g_auto (Table) table = { .path = options->table };
  g_autoptr (CliOutfile) page = NULL;

  if (options->report != NULL && !(page = cli_outfile_new (options->report, error)))
    return FALSE;
  for (guint i = 0; i < (options->ranks != NULL ? options->ranks->len : 1); i++) {
    guint n_ranks = options->ranks != NULL ? g_array_index (options->ranks, guint, i) : 0;
    StudyChoice *choice = choose (trace, n_ranks, options, &table, error);

    if (choice == NULL)
      return FALSE;
    g_ptr_array_add (choices, choice);
  }
  for (guint i = 0; i < choices->len && !options->talk.quiet; i++) {
    const StudyChoice *choice = choices->pdata[i];
    g_autofree char *advice = cli_choice_advice (choice);

    cli_warnings_tell (choice->warnings);
    if (!choice->is_recommended && options->format.format != CLI_FORMAT_TABLE)
      fprintf (stderr, "hopcast: warning: %u ranks: %s\n", choice->n_ranks, advice);
  }
  cli_choice_print (stdout, choices, options);
  if (page != NULL) {
    cli_choice_write_page (cli_outfile_stream (page), choices, options);
    if (!cli_outfile_commit (page, error))
      return FALSE;
  }
  return cli_choice_write_files (choices->pdata[0], options, error);
}

int
cli_aggregate (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "TRACE", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "TRACE", "Says how many ranks of a program should share a node, which, and on which cores: "
               "for every aggregation pattern of the machine's nodes the time of computations and "
               "of communication, and of those that are not too slow the one that needs the least "
               "energy.");
  g_auto (CliChoiceOptions) options = CLI_CHOICE_OPTIONS_INIT;
  const char *trace;

  g_option_context_set_description (
      context,
      "Commands that begin with aggregate too, each with --help: patterns, group, table, bound, "
      "counters, memory-share, train-ipc, predict-ipc.\n");
  cli_choice_add_options (context, &options);
  if (!cli_parse (context, argc, argv, names, &trace, error))
    return CLI_FAILED;
  if (options.machine.spec == NULL) {
    cli_refuse (error, "--machine SPEC is missing");
    return CLI_FAILED;
  }
  if (!cli_choice_check (&options, trace, error))
    return CLI_FAILED;
  if (!aggregate (trace, &options, error)) {
    cli_machine_blame (&options.machine, *error);
    return CLI_FAILED;
  }
  return CLI_DONE;
}
