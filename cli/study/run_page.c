/* run_page.c - the report page of one simulation.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/study/run_page.h"

#include "sim/net/load.h"
#include "study/inputs.h"
#include "study/report/report.h"

static void
add_edge (void *data, uint32_t source, uint32_t destination, uint64_t bytes, bool direct_collective)
{
  (void) direct_collective;
  sim_edges_add (data, source, destination, 1, bytes);
}

static StudyRow *
row_new (const CliRunInputs *inputs, Trace *trace, const SimRunOptions *options, const SimRun *run)
{
  StudyRow *row = study_row_new ();

  row->key = g_strdup (run->key);
  row->trace = g_strdup (inputs->trace);
  row->trace_hash = g_strdup (trace_hash (trace, NULL));
  row->machine = g_strdup (inputs->machine->spec);
  row->machine_hash = study_machine_hash (inputs->machine);
  row->mapping = g_strdup (inputs->mapping->name);
  row->mapping_hash = study_mapping_hash (inputs->mapping);
  row->network = g_strdup (inputs->network);
  row->routing = g_strdup (inputs->routing);
  row->grain = g_strdup (inputs->grain);
  row->version = g_strdup (PACKAGE_VERSION);
  row->ranks = inputs->mapping->n_ranks;
  row->ranks_per_node = inputs->machine->ranks_per_node;
  row->nodes = topo_shape_nodes (&inputs->machine->shape);
  row->compute_scale = options->compute_scale;
  row->seed = options->seed;
  study_row_take (row, run, options->network, TRUE, TRUE);
  return row;
}

gboolean
cli_report_write_run (FILE *out, const CliRunInputs *inputs, Trace *trace,
                      const SimRunOptions *options, const SimRun *run, GError **error)
{
  g_autoptr (StudyRow) row = row_new (inputs, trace, options, run);
  SimEdges *edges = sim_edges_new (inputs->mapping->n_ranks);
  SimCensus census;
  gboolean done = sim_census (trace, inputs->machine, SIM_CENSUS_COLLECTIVES, false, add_edge,
                              edges, NULL, NULL, &census, error) &&
                  study_report_write_run (out, row, inputs->machine, inputs->mapping, edges,
                                          inputs->trace, error);

  sim_edges_free (edges);
  return done;
}
