/* map_check.c - `hopcast map check`: checks a mapping on a machine.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/map/map_options.h"

int
cli_map_check (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "M", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "M", "Checks that a mapping places every rank once, no slot twice, within the machine.");
  g_auto (CliMapOptions) options = CLI_MAP_OPTIONS_INIT;
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (TopoMapping) mapping = NULL;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) record = NULL;
  g_autofree uint32_t *on_node = NULL;
  uint32_t n_nodes, n_used = 0, most = 0;
  const char *text;

  cli_map_add_ranks_option (context, &options);
  cli_map_add_hosts_option (context, &options);
  cli_add_format_options (context, &options.format);
  if (!cli_parse (context, argc, argv, names, &text, error) ||
      !cli_parse_format (&options.format, error) || !cli_map_check_ranks (&options, TRUE, error) ||
      !(machine = cli_map_machine_new (&options, error)) ||
      !(mapping = cli_mapping_new (text, machine, (uint32_t) options.n_ranks, error)))
    return CLI_FAILED;
  n_nodes = topo_shape_nodes (&machine->shape);
  on_node = g_new0 (uint32_t, n_nodes);
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    uint32_t count = ++on_node[mapping->node[rank]];

    n_used += count == 1;
    most = MAX (most, count);
  }
  json_builder_begin_object (builder);
  cli_add_schema (builder, "hopcast.mapping-check/1", options.format.format);
  cli_add_string (builder, "mapping", mapping->name);
  cli_add_string (builder, "machine", machine->spec);
  cli_add_integer (builder, "ranks", mapping->n_ranks);
  cli_add_integer (builder, "nodes", n_nodes);
  cli_add_integer (builder, "nodes_used", n_used);
  cli_add_integer (builder, "slots", (uint64_t) n_nodes * machine->ranks_per_node);
  cli_add_integer (builder, "ranks_per_node_max", most);
  json_builder_end_object (builder);
  record = json_builder_get_root (builder);
  cli_print_record (stdout, record, options.format.format);
  return CLI_DONE;
}
