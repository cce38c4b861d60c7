/* report_run.c - the report of one run that was just made.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/report/report.h"

typedef struct {
  const TopoMachine *machine;
  const TopoMapping *mapping;
  const SimEdges *edges;
} OneRun;

static const TopoMachine *
run_machine (void *data, const StudyRow *row, GError **error)
{
  const OneRun *run = data;

  (void) row;
  (void) error;
  return run->machine;
}

static SimEdge *
run_edges (void *data, const StudyRow *row, uint64_t *n_edges, GError **error)
{
  const OneRun *run = data;

  (void) row;
  (void) error;
  *n_edges = 0;
  return run->edges ? sim_edges_sorted (run->edges, n_edges) : NULL;
}

static gboolean
run_detail (void *data, StudyRow *row, StudyReportDetail *detail, GError **error)
{
  const OneRun *run = data;

  (void) error;
  detail->link_bytes = row->link_bytes ? g_bytes_ref (row->link_bytes) : NULL;
  detail->rank_times = row->rank_times ? g_bytes_ref (row->rank_times) : NULL;
  detail->n_nodes = topo_shape_nodes (&run->machine->shape);
  detail->first_rank = study_report_first_ranks (run->mapping, detail->n_nodes);
  return TRUE;
}

static const StudyReportSource run_source = { run_machine, run_edges, run_detail };

gboolean
study_report_write_run (FILE *out, StudyRow *row, const TopoMachine *machine,
                        const TopoMapping *mapping, const SimEdges *edges, const char *title,
                        GError **error)
{
  OneRun run = { machine, mapping, edges };
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();
  const StudyReport report = { .title = title,
                               .origin = row->trace,
                               .top = 1,
                               .source = &run_source,
                               .data = &run,
                               .rows = rows };

  g_ptr_array_add (rows, row);
  return study_report_write (out, &report, error);
}
