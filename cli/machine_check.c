/* machine_check.c - `hopcast machine check`: the routes of all pairs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/options.h"
#include "routing/survey.h"

static void
add_hops (JsonBuilder *builder, const RouteSurvey *survey)
{
  json_builder_set_member_name (builder, "hops");
  json_builder_begin_object (builder);
  for (uint32_t hops = 0; hops <= survey->max_hops; hops++)
    if (survey->pairs_by_hops[hops] > 0) {
      char name[16];

      g_snprintf (name, sizeof name, "%u", hops);
      cli_add_integer (builder, name, survey->pairs_by_hops[hops]);
    }
  json_builder_end_object (builder);
}

static void
add_load (JsonBuilder *builder, const RouteSurvey *survey)
{
  json_builder_set_member_name (builder, "link_load");
  json_builder_begin_object (builder);
  cli_add_integer (builder, "min", survey->load_min);
  cli_add_number (builder, "median", survey->load_median);
  cli_add_integer (builder, "max", survey->load_max);
  json_builder_end_object (builder);
}

static JsonNode *
record_new (const TopoMachine *machine, const RouteSurvey *survey)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  cli_add_string (builder, "machine", machine->spec);
  cli_add_integer (builder, "nodes", topo_shape_nodes (&machine->shape));
  cli_add_integer (builder, "switches", 0); /* a torus has its routers in the nodes */
  cli_add_integer (builder, "links", survey->links);
  cli_add_integer (builder, "pairs", survey->pairs);
  cli_add_integer (builder, "unreachable", survey->unreachable);
  add_hops (builder, survey);
  add_load (builder, survey);
  cli_add_integer (builder, "credit_loops", survey->credit_loops);
  cli_add_integer (builder, "bubble_rings", survey->bubble_rings);
  cli_add_string (builder, "method", survey->every_pair ? "every pair walked" : "by dimension");
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}

int
cli_machine_check (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "SPEC", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "SPEC", "Follows the deterministic routes of all pairs of nodes: how long they are, how they "
              "load the links, and whether their buffers can wait for each other in a loop.");
  g_auto (CliMachineOptions) options = CLI_MACHINE_OPTIONS_INIT;
  g_auto (CliFormatOptions) format = { 0 };
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (JsonNode) record = NULL;
  RouteSurvey *survey;
  RouteTorus route;
  const char *spec;

  cli_add_machine_detail_options (context, &options);
  cli_add_format_options (context, &format);
  if (!cli_parse (context, argc, argv, names, &spec, error) || !cli_parse_format (&format, error))
    return CLI_FAILED;
  options.spec = g_strdup (spec);
  if (!(machine = cli_machine_new (&options, error)))
    return CLI_FAILED;
  route_torus_init (&route, &machine->shape);
  survey = route_survey_new (&route,
                             topo_shape_nodes (&machine->shape) <= ROUTE_SURVEY_EVERY_PAIR_NODES);
  record = record_new (machine, survey);
  cli_print_record (stdout, record, format.format);
  route_survey_free (survey);
  return CLI_DONE;
}
