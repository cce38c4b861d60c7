/* map_options.c - what the commands on mappings have in common.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/map_options.h"

#include "cli/command.h"
#include "cli/outfile.h"

void
cli_map_options_clear (CliMapOptions *options)
{
  cli_machine_options_clear (&options->machine);
  cli_format_options_clear (&options->format);
  g_free (options->mapping);
  g_free (options->output);
  g_free (options->hosts);
}

void
cli_map_add_ranks_option (GOptionContext *context, CliMapOptions *options)
{
  const GOptionEntry entries[] = {
    { "ranks", 0, 0, G_OPTION_ARG_INT, &options->n_ranks, "How many ranks there are", "N" },
    { NULL },
  };

  cli_add_machine_option (context, &options->machine);
  cli_add_machine_detail_options (context, &options->machine);
  g_option_context_add_main_entries (context, entries, NULL);
}

void
cli_map_add_mapping_option (GOptionContext *context, CliMapOptions *options)
{
  const GOptionEntry entries[] = {
    { "mapping", 0, 0, G_OPTION_ARG_FILENAME, &options->mapping,
      "Where the ranks are: an order of dimensions, such as ABCDET on Blue Gene/Q and AT on a "
      "fabric (the defaults), or a map file or that of a launcher",
      "M" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
}

gboolean
cli_map_check_ranks (const CliMapOptions *options, gboolean required, GError **error)
{
  if (options->n_ranks == G_MININT && !required)
    return TRUE;
  if (options->n_ranks >= 1)
    return TRUE;
  if (options->n_ranks == G_MININT)
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--ranks N is missing");
  else
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--ranks: %d is not at least 1",
                 options->n_ranks);
  return FALSE;
}

void
cli_map_add_output_option (GOptionContext *context, CliMapOptions *options)
{
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output,
      "Where to write (default: standard output)", "FILE" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
}

void
cli_map_add_hosts_option (GOptionContext *context, CliMapOptions *options)
{
  const GOptionEntry entries[] = {
    { "hosts", 0, 0, G_OPTION_ARG_FILENAME, &options->hosts,
      "The names of the nodes, a line each in their order: those of a torus, or other names than "
      "the fabric has",
      "FILE" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
}

TopoMachine *
cli_map_machine_new (const CliMapOptions *options, GError **error)
{
  g_autoptr (TopoMachine) machine = cli_machine_new (&options->machine, error);

  if (!machine || (options->hosts && !topo_machine_set_hosts (machine, options->hosts, error)))
    return NULL;
  return g_steal_pointer (&machine);
}

gboolean
cli_map_write_text (const char *text, const char *path, GError **error)
{
  g_autoptr (CliOutfile) file = cli_outfile_new (path ? path : "-", error);

  if (!file)
    return FALSE;
  fputs (text, cli_outfile_stream (file));
  return cli_outfile_commit (file, error);
}
