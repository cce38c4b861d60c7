/* aggregate.c - `hopcast aggregate TRACE`: how a job should fill its nodes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/aggregate/aggregate.h"
#include "cli/aggregate/choice.h"
#include "cli/command.h"
#include "cli/print/outfile.h"
#include "cli/print/warnings.h"
#include "topology/unit.h"

TopoMachine *
cli_aggregate_machine (const CliMachineOptions *options, GError **error)
{
  g_autoptr (TopoMachine) machine = cli_machine_new (options, error);

  if (machine == NULL || machine->node != NULL)
    return g_steal_pointer (&machine);
  g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT,
               "%s is a torus: nothing is said of the inside of its nodes", machine->spec);
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
    return cli_refuse (error, "%s: %s", option,
                       cause != NULL ? cause->message : "no memory at all");
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

static gboolean
choose (const char *trace, const CliChoiceOptions *options, GError **error)
{
  g_autoptr (GPtrArray) choices = g_ptr_array_new_with_free_func ((GDestroyNotify) cli_choice_free);
  g_auto (CliChoiceTable) table = { .path = options->table };
  g_autoptr (CliOutfile) page = NULL;

  if (options->report != NULL && !(page = cli_outfile_new (options->report, error)))
    return FALSE;
  for (guint i = 0; i < (options->ranks != NULL ? options->ranks->len : 1); i++) {
    guint n_ranks = options->ranks != NULL ? g_array_index (options->ranks, guint, i) : 0;
    g_autofree char *filled = n_ranks > 0 ? fill_in (trace, n_ranks) : g_strdup (trace);
    g_autofree char *machine =
        n_ranks > 0 ? fill_in (options->machine.spec, n_ranks) : g_strdup (options->machine.spec);
    CliChoice *choice = cli_choice_new (filled, machine, options, &table, error);

    if (choice == NULL)
      return FALSE;
    g_ptr_array_add (choices, choice);
  }
  for (guint i = 0; i < choices->len && !options->talk.quiet; i++) {
    const CliChoice *choice = choices->pdata[i];
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
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--machine SPEC is missing");
    return CLI_FAILED;
  }
  if (!cli_choice_check (&options, trace, error) || !choose (trace, &options, error))
    return CLI_FAILED;
  return CLI_DONE;
}
