/* map_generate.c - `hopcast map generate`: the map file of a mapping.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/map_options.h"

int
cli_map_generate (int argc, char **argv, GError **error)
{
  static const char *const names[] = { NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      NULL, "Writes the map file of a mapping: a line per rank with its coordinates and slot.");
  g_auto (CliMapOptions) options = CLI_MAP_OPTIONS_INIT;
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (TopoMapping) mapping = NULL;
  g_autofree char *text = NULL;

  cli_map_add_ranks_option (context, &options);
  cli_map_add_mapping_option (context, &options);
  cli_map_add_output_option (context, &options);
  if (!cli_parse (context, argc, argv, names, NULL, error) ||
      !cli_map_check_ranks (&options, TRUE, error) ||
      !(machine = cli_machine_new (&options.machine, error)) ||
      !(mapping = cli_mapping_new (options.mapping, machine, (uint32_t) options.n_ranks, error)))
    return CLI_FAILED;
  text = topo_mapping_print (mapping, machine);
  return cli_map_write_text (text, options.output, error) ? CLI_DONE : CLI_FAILED;
}
