/* machine_check.c - `hopcast machine check`: the routes of all pairs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/options.h"
#include "routing/forwarding/fabric_survey.h"
#include "routing/forwarding/forwarding.h"
#include "routing/torus_survey.h"

static void
add_hops (JsonBuilder *builder, const uint64_t *pairs_by_hops, uint32_t max_hops)
{
  cli_begin_object (builder, "hops");
  for (uint32_t hops = 0; hops <= max_hops; hops++)
    if (pairs_by_hops[hops] > 0) {
      char name[16];

      g_snprintf (name, sizeof name, "%u", hops);
      cli_add_integer (builder, name, pairs_by_hops[hops]);
    }
  json_builder_end_object (builder);
}

static void
add_load (JsonBuilder *builder, uint64_t min, double median, uint64_t max)
{
  cli_begin_object (builder, "link_load");
  cli_add_integer (builder, "min", min);
  cli_add_number (builder, "median", median);
  cli_add_integer (builder, "max", max);
  json_builder_end_object (builder);
}

static JsonNode *
check_torus (const TopoMachine *machine, CliFormat format)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  uint32_t n_nodes = topo_shape_nodes (&machine->shape);
  RouteSurvey *survey;
  RouteTorus route;

  route_torus_init (&route, &machine->shape);
  survey = route_survey_new (&route, n_nodes <= ROUTE_SURVEY_EVERY_PAIR_NODES);
  json_builder_begin_object (builder);
  cli_add_schema (builder, "hopcast.machine-check/1", format);
  cli_add_string (builder, "machine", machine->spec);
  cli_add_integer (builder, "nodes", n_nodes);
  cli_add_integer (builder, "switches", 0); /* a torus has its routers in the nodes */
  cli_add_integer (builder, "links", survey->links);
  cli_add_integer (builder, "pairs", survey->pairs);
  cli_add_integer (builder, "unreachable", survey->unreachable);
  add_hops (builder, survey->pairs_by_hops, survey->max_hops);
  add_load (builder, survey->load_min, survey->load_median, survey->load_max);
  cli_add_integer (builder, "credit_loops", survey->credit_loops);
  cli_add_integer (builder, "bubble_rings", survey->bubble_rings);
  cli_add_string (builder, "method", survey->every_pair ? "every pair walked" : "by dimension");
  json_builder_end_object (builder);
  route_survey_free (survey);
  return json_builder_get_root (builder);
}

/* Unreachable pairs are an error beside the record. */
static JsonNode *
check_fabric (const TopoMachine *machine, CliFormat format, GError **unreachable, GError **error)
{
  g_autoptr (RouteForwarding) tables = route_forwarding_of_machine (machine, error);
  TopoAdaptive adaptive = (TopoAdaptive) machine->parameters.switches.adaptive;
  g_autoptr (RouteFabricSurvey) survey =
      tables && route_forwarding_add_choices (tables, adaptive, error)
          ? route_fabric_survey_new (tables)
          : NULL;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (GPtrArray) loop = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) cut_off = g_ptr_array_new_with_free_func (g_free);
  const TopoFabric *fabric = machine->fabric;

  if (!survey)
    return NULL;
  if (survey->unreachable > 0) {
    g_autofree char *source =
        topo_fabric_port_name (fabric, tables->destination_port[survey->lost_from]);
    g_autofree char *target =
        topo_fabric_port_name (fabric, tables->destination_port[survey->lost_to]);

    cli_fail (unreachable,
              "%s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
              " pairs have no route (%s), the first from %s to %s",
              fabric->source, survey->unreachable, survey->pairs, tables->engine, source, target);
  }
  for (uint32_t at = 0; at < survey->n_cut_off; at++)
    g_ptr_array_add (cut_off,
                     topo_fabric_port_name (fabric, tables->destination_port[survey->cut_off[at]]));
  for (uint32_t at = 0; at < survey->n_loop; at++)
    g_ptr_array_add (loop, topo_fabric_port_name (fabric, survey->loop[at]));

  json_builder_begin_object (builder);
  cli_add_schema (builder, "hopcast.machine-check/1", format);
  cli_add_string (builder, "machine", machine->spec);
  cli_add_string (builder, "routes", machine->routes);
  cli_add_integer (builder, "nodes", topo_shape_nodes (&machine->shape));
  cli_add_integer (builder, "adapters", fabric->n_adapters);
  cli_add_integer (builder, "switches", fabric->n_switches);
  cli_add_integer (builder, "links", fabric->n_links);
  cli_add_integer (builder, "switch_links", survey->links);
  cli_add_integer (builder, "unused_switch_links", survey->unused);
  cli_add_integer (builder, "pairs", survey->pairs);
  cli_add_integer (builder, "unreachable", survey->unreachable);
  cli_add_integer (builder, "circling", survey->circling);
  cli_add_strings (builder, "cut_off", cut_off); /* adapters */
  add_hops (builder, survey->pairs_by_hops, survey->max_hops);
  add_load (builder, survey->load_min, survey->load_median, survey->load_max);
  cli_add_integer (builder, "vls", survey->n_vls);
  cli_add_integer (builder, "credit_loops", survey->credit_loops);
  if (survey->n_vls > 1) {
    cli_begin_object (builder, "credit_loops_by_vl");
    for (uint32_t vl = 0; vl < survey->n_vls; vl++) {
      char name[16];

      g_snprintf (name, sizeof name, "%u", vl);
      cli_add_integer (builder, name, survey->loops_by_vl[vl]);
    }
    json_builder_end_object (builder);
  }
  cli_add_strings (builder, "loop", loop);
  cli_add_strings (builder, "warnings", fabric->warnings);
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
  GError *unreachable = NULL;
  const char *spec;

  cli_add_machine_detail_options (context, &options);
  cli_add_format_options (context, &format);
  if (!cli_parse (context, argc, argv, names, &spec, error) || !cli_parse_format (&format, error))
    return CLI_FAILED;
  options.spec = g_strdup (spec);
  if (!(machine = cli_machine_new (&options, error)))
    return CLI_FAILED;
  record = machine->fabric ? check_fabric (machine, format.format, &unreachable, error)
                           : check_torus (machine, format.format);
  if (!record)
    return CLI_FAILED;
  cli_print_record (stdout, record, format.format);
  if (!unreachable)
    return CLI_DONE;
  g_propagate_error (error, unreachable);
  return CLI_FAILED;
}
