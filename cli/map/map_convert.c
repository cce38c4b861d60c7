/* map_convert.c - `hopcast map convert`: a mapping for a launcher.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/map/map_options.h"
#include "cli/print/outfile.h"

#include <string.h>

int
cli_map_convert (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "M", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "M", "Writes a mapping, of any kind that is read, as the file of a launcher, and says how to "
           "launch with it.  What the file cannot say is refused.");
  g_auto (CliMapOptions) options = CLI_MAP_OPTIONS_INIT;
  g_autofree char *kind = NULL, *text = NULL, *kinds = cli_map_describe_kinds ();
  gboolean launch_line = FALSE;
  const GOptionEntry entries[] = {
    { "to", 0, 0, G_OPTION_ARG_STRING, &kind, "What to write: see the kinds below", "KIND" },
    { "launch-line", 0, 0, G_OPTION_ARG_NONE, &launch_line,
      "Prints the command that launches with the file, and it alone, on standard output", NULL },
    { NULL },
  };
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (TopoMapping) mapping = NULL;
  g_auto (TopoLaunch) launch = { NULL };
  const TopoLauncher *launcher;
  const char *name;

  g_option_context_set_description (context, kinds);
  cli_map_add_ranks_option (context, &options);
  cli_map_add_hosts_option (context, &options);
  cli_map_add_output_option (context, &options);
  g_option_context_add_main_entries (context, entries, NULL);
  if (!cli_parse (context, argc, argv, names, &name, error) ||
      !cli_map_check_ranks (&options, TRUE, error))
    return CLI_FAILED;
  if (launch_line && (!options.output || !strcmp (options.output, "-"))) {
    cli_refuse (error, "--launch-line needs --output FILE");
    return CLI_FAILED;
  }
  if (!(launcher = cli_map_parse_kind (kind, error)) ||
      !(machine = cli_map_machine_new (&options, error)) ||
      !(mapping = cli_mapping_new (name, machine, (uint32_t) options.n_ranks, error)) ||
      !(text = launcher->print (mapping, machine, error)))
    return CLI_FAILED;
  launch = cli_map_launch (launcher, mapping, machine, options.output);
  if (launch_line && !launch.line) {
    cli_fail (error, "--launch-line: %s", launch.note);
    return CLI_FAILED;
  }
  if (!cli_outfile_write (options.output, text, error))
    return CLI_FAILED;
  cli_map_tell_launch (&launch, launch_line);
  return CLI_DONE;
}
