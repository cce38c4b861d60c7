/* map_metrics.c - `hopcast map metrics`: static congestion metrics of a mapping.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/map/map_options.h"
#include "cli/trace/record.h"
#include "sim/run.h"
#include "study/search/matrix.h"
#include "study/search/search.h"

#include <string.h>

static gboolean
matrix_features (const char *path, const CliMapOptions *options, TopoMachine *machine,
                 double features[SIM_N_FEATURES], GError **error)
{
  g_autoptr (StudyMatrix) matrix = study_matrix_load (path, error);
  uint32_t n_ranks = matrix ? study_matrix_ranks (matrix) : 0;
  g_autoptr (TopoMapping) mapping = NULL;
  g_autoptr (RoutePaths) paths = NULL;

  if (!matrix)
    return FALSE;
  if (options->n_ranks != G_MININT && (uint32_t) options->n_ranks < n_ranks)
    return cli_fail (error, "%s: has %u ranks, --ranks says %d", path, n_ranks, options->n_ranks);
  mapping = cli_mapping_new (options->mapping, machine,
                             MAX (n_ranks, (uint32_t) MAX (options->n_ranks, 1)), error);
  if (!mapping || !(paths = route_paths_new (machine, error)) ||
      !route_paths_check (paths, mapping, error))
    return FALSE;
  study_static_features (features, paths, mapping, study_matrix_edges (matrix));
  return TRUE;
}

static gboolean
trace_features (const char *path, const CliMapOptions *options, TopoMachine *machine,
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

int
cli_map_metrics (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "MATRIX|TRACE", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "MATRIX|TRACE", "Computes the metrics of a mapping that need no simulation of time: hops, "
                      "bytes on links, messages per injection FIFO.");
  g_auto (CliMapOptions) options = CLI_MAP_OPTIONS_INIT;
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) record = NULL;
  double features[SIM_N_FEATURES];
  const char *path;
  gboolean good;

  cli_map_add_ranks_option (context, &options);
  cli_add_mapping_option (context, &options.mapping);
  cli_add_format_options (context, &options.format);
  if (!cli_parse (context, argc, argv, names, &path, error) ||
      !cli_parse_format (&options.format, error) || !cli_map_check_ranks (&options, FALSE, error) ||
      !(machine = cli_machine_new (&options.machine, error)))
    return CLI_FAILED;
  good = study_matrix_probe (path) ? matrix_features (path, &options, machine, features, error)
                                   : trace_features (path, &options, machine, features, error);
  if (!good)
    return CLI_FAILED;
  json_builder_begin_object (builder);
  cli_add_schema (builder, "hopcast.mapping-metrics/1", options.format.format);
  cli_add_string (builder, "source", path);
  cli_add_string (builder, "machine", machine->spec);
  cli_add_string (builder, "mapping", options.mapping ? options.mapping : "default");
  cli_add_features (builder, features, TRUE);
  json_builder_end_object (builder);
  record = json_builder_get_root (builder);
  cli_features_print (stdout, record, options.format.format);
  return CLI_DONE;
}
