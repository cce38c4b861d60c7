/* map.c - `hopcast map check`, `map generate`, `map convert` and `map metrics`.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/matrix.h"
#include "cli/options.h"
#include "cli/outfile.h"
#include "cli/record.h"
#include "sim/load.h"

#include <string.h>

typedef struct {
  CliMachineOptions machine;
  CliFormatOptions format;
  char *mapping, *output, *to;
  int n_ranks; /* G_MININT: not given */
} Options;

#define OPTIONS_INIT                                            \
  {                                                             \
    CLI_MACHINE_OPTIONS_INIT, { 0 }, NULL, NULL, NULL, G_MININT \
  }

static void
options_clear (Options *options)
{
  cli_machine_options_clear (&options->machine);
  cli_format_options_clear (&options->format);
  g_free (options->mapping);
  g_free (options->output);
  g_free (options->to);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_ranks_option (GOptionContext *context, Options *options)
{
  const GOptionEntry entries[] = {
    { "ranks", 0, 0, G_OPTION_ARG_INT, &options->n_ranks, "How many ranks there are", "N" },
    { NULL },
  };

  cli_add_machine_option (context, &options->machine);
  cli_add_machine_detail_options (context, &options->machine);
  g_option_context_add_main_entries (context, entries, NULL);
}

static void
add_mapping_option (GOptionContext *context, Options *options)
{
  const GOptionEntry entries[] = {
    { "mapping", 0, 0, G_OPTION_ARG_FILENAME, &options->mapping,
      "Where the ranks are: an order of dimensions, such as ABCDET on Blue Gene/Q and AT on a "
      "fabric (the defaults), or a map file, rankfile or list of hosts",
      "M" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
}

static gboolean
check_ranks (const Options *options, gboolean required, GError **error)
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

static JsonNode *
check_record (const TopoMachine *machine, const TopoMapping *mapping)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  uint32_t n_nodes = topo_shape_nodes (&machine->shape), n_used = 0, most = 0;
  g_autofree uint32_t *on_node = g_new0 (uint32_t, n_nodes);

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    uint32_t count = ++on_node[mapping->node[rank]];

    n_used += count == 1;
    most = MAX (most, count);
  }
  json_builder_begin_object (builder);
  cli_add_string (builder, "mapping", mapping->name);
  cli_add_string (builder, "machine", machine->spec);
  cli_add_integer (builder, "ranks", mapping->n_ranks);
  cli_add_integer (builder, "nodes", n_nodes);
  cli_add_integer (builder, "nodes_used", n_used);
  cli_add_integer (builder, "slots", (uint64_t) n_nodes * machine->ranks_per_node);
  cli_add_integer (builder, "ranks_per_node_max", most);
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}

int
cli_map_check (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "M", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "M", "Checks that a mapping places every rank once, no slot twice, within the machine.");
  g_auto (Options) options = OPTIONS_INIT;
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (TopoMapping) mapping = NULL;
  g_autoptr (JsonNode) record = NULL;
  const char *text;

  add_ranks_option (context, &options);
  cli_add_format_options (context, &options.format);
  if (!cli_parse (context, argc, argv, names, &text, error) ||
      !cli_parse_format (&options.format, error) || !check_ranks (&options, TRUE, error) ||
      !(machine = cli_machine_new (&options.machine, error)) ||
      !(mapping = cli_mapping_new (text, machine, (uint32_t) options.n_ranks, error)))
    return CLI_FAILED;
  record = check_record (machine, mapping);
  cli_print_record (stdout, record, options.format.format);
  return CLI_DONE;
}

static gboolean
write_text (const char *text, const char *path, GError **error)
{
  g_autoptr (CliOutfile) file = cli_outfile_new (path ? path : "-", error);

  if (!file)
    return FALSE;
  fputs (text, cli_outfile_stream (file));
  return cli_outfile_commit (file, error);
}

static void
add_output_option (GOptionContext *context, Options *options)
{
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output,
      "Where to write (default: standard output)", "FILE" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
}

int
cli_map_generate (int argc, char **argv, GError **error)
{
  static const char *const names[] = { NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      NULL, "Writes the map file of a mapping: a line per rank with its coordinates and slot.");
  g_auto (Options) options = OPTIONS_INIT;
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (TopoMapping) mapping = NULL;
  g_autofree char *text = NULL;

  add_ranks_option (context, &options);
  add_mapping_option (context, &options);
  add_output_option (context, &options);
  if (!cli_parse (context, argc, argv, names, NULL, error) ||
      !check_ranks (&options, TRUE, error) ||
      !(machine = cli_machine_new (&options.machine, error)) ||
      !(mapping = cli_mapping_new (options.mapping, machine, (uint32_t) options.n_ranks, error)))
    return CLI_FAILED;
  text = topo_mapping_print (mapping, machine);
  return write_text (text, options.output, error) ? CLI_DONE : CLI_FAILED;
}

/* The kinds of files that a mapping can be written as. */
enum { TO_MAP, TO_RANKFILE };

static int
parse_to (const Options *options, GError **error)
{
  static const char *const kinds[] = { [TO_MAP] = "map", [TO_RANKFILE] = "rankfile", NULL };

  if (options->to)
    return cli_parse_choice ("--to", options->to, kinds, error);
  g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--to map or --to rankfile is missing");
  return -1;
}

int
cli_map_convert (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "M", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "M", "Writes a mapping, of any kind that is read, as a map file or a rankfile of Open MPI.");
  g_auto (Options) options = OPTIONS_INIT;
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (TopoMapping) mapping = NULL;
  g_autofree char *text = NULL;
  const char *name;
  int to;
  const GOptionEntry entries[] = {
    { "to", 0, 0, G_OPTION_ARG_STRING, &options.to, "What to write: map or rankfile", "KIND" },
    { NULL },
  };

  add_ranks_option (context, &options);
  add_output_option (context, &options);
  g_option_context_add_main_entries (context, entries, NULL);
  if (!cli_parse (context, argc, argv, names, &name, error) ||
      (to = parse_to (&options, error)) < 0 || !check_ranks (&options, TRUE, error) ||
      !(machine = cli_machine_new (&options.machine, error)) ||
      !(mapping = cli_mapping_new (name, machine, (uint32_t) options.n_ranks, error)))
    return CLI_FAILED;
  text = to == TO_MAP ? topo_mapping_print (mapping, machine)
                      : topo_mapping_print_rankfile (mapping, machine, error);
  return text && write_text (text, options.output, error) ? CLI_DONE : CLI_FAILED;
}

/* Messages of one edge share its bytes evenly, the first ones one byte more
 * where they must. */
static void
add_edge (SimCounters *counters, const RoutePaths *paths, const TopoMapping *mapping,
          const SimEdge *edge)
{
  uint64_t share = edge->messages > 0 ? edge->bytes / edge->messages : 0;
  uint64_t rest = edge->messages > 0 ? edge->bytes % edge->messages : 0;

  for (uint64_t message = 0; message < edge->messages; message++)
    sim_load_add (counters, paths, mapping, edge->source, edge->destination,
                  share + (message < rest), false);
}

static gboolean
matrix_features (const char *path, const Options *options, TopoMachine *machine,
                 double features[SIM_N_FEATURES], GError **error)
{
  g_autoptr (CliMatrix) matrix = cli_matrix_load (path, error);
  uint32_t n_ranks = matrix ? cli_matrix_ranks (matrix) : 0;
  g_autoptr (TopoMapping) mapping = NULL;
  g_autoptr (RoutePaths) paths = NULL;
  g_autofree SimEdge *edges = NULL;
  SimCounters *counters;
  uint64_t n_edges;

  if (!matrix)
    return FALSE;
  if (options->n_ranks != G_MININT && (uint32_t) options->n_ranks < n_ranks) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: has %u ranks, --ranks says %d", path,
                 n_ranks, options->n_ranks);
    return FALSE;
  }
  mapping = cli_mapping_new (options->mapping, machine,
                             MAX (n_ranks, (uint32_t) MAX (options->n_ranks, 1)), error);
  if (!mapping || !(paths = route_paths_new (machine, error)) ||
      !route_paths_check (paths, mapping, error))
    return FALSE;
  edges = sim_edges_sorted (cli_matrix_edges (matrix), &n_edges);
  counters = sim_counters_new (machine);
  for (uint64_t i = 0; i < n_edges; i++)
    add_edge (counters, paths, mapping, &edges[i]);
  sim_features_compute (features, paths, mapping, cli_matrix_edges (matrix), counters);
  sim_counters_free (counters);
  return TRUE;
}

static gboolean
trace_features (const char *path, const Options *options, TopoMachine *machine,
                double features[SIM_N_FEATURES], GError **error)
{
  const SimRunOptions run_options = { .trace_path = path,
                                      .network = SIM_NETWORK_LOAD,
                                      .compute_scale = 1 };
  const TraceOptions trace_options = { .n_ranks = (uint32_t) MAX (options->n_ranks, 0) };
  g_autoptr (Trace) trace = trace_open (path, &trace_options, error);
  g_autoptr (TopoMapping) mapping = NULL;
  g_autoptr (SimRun) run = NULL;

  if (!trace ||
      !(mapping = cli_mapping_new (options->mapping, machine, trace_ranks (trace), error)) ||
      !(run = sim_run (trace, machine, mapping, &run_options, error)))
    return FALSE;
  memcpy (features, run->features, sizeof run->features);
  return TRUE;
}

static JsonNode *
metrics_record (const char *path, const Options *options, const TopoMachine *machine,
                const double features[SIM_N_FEATURES])
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  cli_add_string (builder, "source", path);
  cli_add_string (builder, "machine", machine->spec);
  cli_add_string (builder, "mapping", options->mapping ? options->mapping : "default");
  cli_add_features (builder, features, TRUE);
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}

int
cli_map_metrics (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "MATRIX|TRACE", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "MATRIX|TRACE", "Computes the metrics of a mapping that need no simulation of time: hops, "
                      "bytes on links, messages per injection FIFO.");
  g_auto (Options) options = OPTIONS_INIT;
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (JsonNode) record = NULL;
  double features[SIM_N_FEATURES];
  const char *path;
  gboolean good;

  add_ranks_option (context, &options);
  add_mapping_option (context, &options);
  cli_add_format_options (context, &options.format);
  if (!cli_parse (context, argc, argv, names, &path, error) ||
      !cli_parse_format (&options.format, error) || !check_ranks (&options, FALSE, error) ||
      !(machine = cli_machine_new (&options.machine, error)))
    return CLI_FAILED;
  good = cli_matrix_probe (path) ? matrix_features (path, &options, machine, features, error)
                                 : trace_features (path, &options, machine, features, error);
  if (!good)
    return CLI_FAILED;
  record = metrics_record (path, &options, machine, features);
  cli_features_print (stdout, record, options.format.format);
  return CLI_DONE;
}
