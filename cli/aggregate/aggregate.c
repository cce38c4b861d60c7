/* aggregate.c - `hopcast aggregate TRACE`: how a job should fill its nodes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/aggregate/choice_print.h"
#include "cli/command.h"
#include "cli/print/outfile.h"
#include "cli/print/warnings.h"

#include <string.h>

/* The text with the number in the place of every {ranks}; the caller frees it. */
static char *
fill_in (const char *text, guint n_ranks)
{
  g_auto (GStrv) parts = g_strsplit (text, "{ranks}", -1);
  g_autofree char *number = g_strdup_printf ("%u", n_ranks);

  return g_strjoinv (number, parts);
}

static gboolean
add_choice (GPtrArray *choices, const char *trace, const char *machine,
            const CliChoiceOptions *options, CliChoiceTable *table, GError **error)
{
  CliChoice *choice = cli_choice_new (trace, machine, options, table, error);

  if (choice != NULL)
    g_ptr_array_add (choices, choice);
  return choice != NULL;
}

static gboolean
make_choices (GPtrArray *choices, const char *trace, const CliChoiceOptions *options,
              GError **error)
{
  g_auto (CliChoiceTable) table = { .path = options->table };

  if (options->ranks == NULL)
    return add_choice (choices, trace, options->machine.spec, options, &table, error);
  for (guint i = 0; i < options->ranks->len; i++) {
    guint n_ranks = g_array_index (options->ranks, guint, i);
    g_autofree char *filled = fill_in (trace, n_ranks);
    g_autofree char *machine = fill_in (options->machine.spec, n_ranks);

    if (!add_choice (choices, filled, machine, options, &table, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
choose (const char *trace, const CliChoiceOptions *options, GError **error)
{
  g_autoptr (GPtrArray) choices = g_ptr_array_new_with_free_func ((GDestroyNotify) cli_choice_free);
  g_autoptr (CliOutfile) page = NULL;

  if (options->report != NULL && !(page = cli_outfile_new (options->report, error)))
    return FALSE;
  if (!make_choices (choices, trace, options, error))
    return FALSE;
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
