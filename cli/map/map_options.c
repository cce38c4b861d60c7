/* map_options.c - the options and steps that the commands on mappings share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/map/map_options.h"

#include "cli/command.h"
#include "cli/print/outfile.h"
#include "cli/print/terminal.h"

#include <string.h>

/* Stands for the path when the file goes to standard output. */
#define NO_PATH "FILE"

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

gboolean
cli_map_check_ranks (const CliMapOptions *options, gboolean required, GError **error)
{
  if (options->n_ranks == G_MININT)
    return !required || cli_refuse (error, "--ranks N is missing");
  return options->n_ranks >= 1 ||
         cli_refuse (error, "--ranks: %d is not at least 1", options->n_ranks);
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

const TopoLauncher *
cli_map_parse_kind (const char *to, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autofree char *list = NULL;
  int choice;

  for (const TopoLauncher *const *launcher = topo_launchers; *launcher; launcher++)
    g_ptr_array_add (names, (gpointer) (*launcher)->name);
  g_ptr_array_add (names, NULL);
  if (!to) {
    list = g_strjoinv (", ", (char **) names->pdata);
    cli_refuse (error, "--to KIND is missing: one of %s", list);
    return NULL;
  }
  choice = cli_parse_choice ("--to", to, (const char *const *) names->pdata, error);
  return choice >= 0 ? topo_launchers[choice] : NULL;
}

char *
cli_map_describe_kinds (void)
{
  GString *text = g_string_new ("Kinds:\n");

  for (const TopoLauncher *const *launcher = topo_launchers; *launcher; launcher++)
    g_string_append_printf (text, "  %-10s %s\n", (*launcher)->name, (*launcher)->summary);
  return g_string_free (text, FALSE);
}

TopoLaunch
cli_map_launch (const TopoLauncher *launcher, const TopoMapping *mapping,
                const TopoMachine *machine, const char *path)
{
  static const char plain[] = G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_-./+,=";
  const char *file = path && strcmp (path, "-") != 0 ? path : NO_PATH;
  g_autofree char *quoted =
      file[strspn (file, plain)] == '\0' ? g_strdup (file) : g_shell_quote (file);

  return launcher->launch (mapping, machine, quoted);
}

void
cli_map_tell_launch (const TopoLaunch *launch, gboolean as_data)
{
  if (launch->line && as_data)
    printf ("%s\n", launch->line);
  else if (launch->line)
    cli_printf (stderr, "hopcast: launch with: %s\n", launch->line);
  if (launch->note)
    cli_printf (stderr, "hopcast: note: %s\n", launch->note);
}
