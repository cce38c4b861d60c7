/* map_convert.c - `hopcast map convert`: a mapping for another launcher.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/map_options.h"

/* The kinds of files that a mapping can be written as. */
enum { TO_MAP, TO_RANKFILE };

static int
parse_to (const char *to, GError **error)
{
  static const char *const kinds[] = { [TO_MAP] = "map", [TO_RANKFILE] = "rankfile", NULL };

  if (to)
    return cli_parse_choice ("--to", to, kinds, error);
  g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--to map or --to rankfile is missing");
  return -1;
}

int
cli_map_convert (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "M", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "M", "Writes a mapping, of any kind that is read, as a map file or a rankfile of Open MPI.");
  g_auto (CliMapOptions) options = CLI_MAP_OPTIONS_INIT;
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (TopoMapping) mapping = NULL;
  g_autofree char *text = NULL;
  g_autofree char *kind = NULL;
  const char *name;
  int to;
  const GOptionEntry entries[] = {
    { "to", 0, 0, G_OPTION_ARG_STRING, &kind, "What to write: map or rankfile", "KIND" },
    { NULL },
  };

  cli_map_add_ranks_option (context, &options);
  cli_map_add_output_option (context, &options);
  g_option_context_add_main_entries (context, entries, NULL);
  if (!cli_parse (context, argc, argv, names, &name, error) || (to = parse_to (kind, error)) < 0 ||
      !cli_map_check_ranks (&options, TRUE, error) ||
      !(machine = cli_machine_new (&options.machine, error)) ||
      !(mapping = cli_mapping_new (name, machine, (uint32_t) options.n_ranks, error)))
    return CLI_FAILED;
  text = to == TO_MAP ? topo_mapping_print (mapping, machine)
                      : topo_mapping_print_rankfile (mapping, machine, error);
  return text && cli_map_write_text (text, options.output, error) ? CLI_DONE : CLI_FAILED;
}
