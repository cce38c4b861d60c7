/* choice_mapping.c - see choice_mapping.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/choice_mapping.h"

#include "cli/group_costs.h"
#include "predictors/group.h"
#include "sim/load.h"
#include "study/scotch_part.h"

static void
count_message (void *matrix, uint32_t source, uint32_t destination, uint64_t bytes,
               bool direct_collective G_GNUC_UNUSED)
{
  study_matrix_add (matrix, source, destination, 1, bytes);
}

StudyMatrix *
cli_choice_matrix (Trace *trace, GError **error)
{
  g_autoptr (StudyMatrix) matrix = study_matrix_new (trace_ranks (trace));
  g_autofree SimCensus *census = g_new0 (SimCensus, 1);

  if (!sim_census (trace, NULL, SIM_CENSUS_POINT_TO_POINT, false, count_message, matrix, NULL, NULL,
                   census, error))
    return NULL;
  return g_steal_pointer (&matrix);
}

static PredictGroups *
group (const PredictCostGraph *graph, uint32_t n_parts, uint32_t share, uint64_t seed)
{
  PredictGroupOptions search = { .n_parts = n_parts,
                                 .n_starts = PREDICT_GROUP_STARTS,
                                 .seed = seed,
                                 .work = PREDICT_GROUP_WORK / share };
  PredictGroupStart given = { .name = "scotch" };
  g_autofree uint32_t *part = study_scotch_part (graph, n_parts, seed, NULL);

  given.part = part;
  search.given = &given;
  search.n_given = part != NULL;
  return predict_group (graph, &search);
}

/* Orders tasks[n] such that those of each group of the pattern's next level follow each other. */
static void
order_tasks (const PredictCostGraph *graph, const TopoPattern *pattern, uint32_t level,
             uint32_t n_levels, uint32_t share, uint64_t seed, uint32_t *tasks, uint32_t n)
{
  uint32_t width = level < n_levels ? pattern->takes[level] : 1, next = 0;
  g_autofree uint32_t *before = g_memdup2 (tasks, n * sizeof *tasks);
  g_autoptr (PredictCostRows) rows = NULL;
  g_autoptr (PredictGroups) groups = NULL;

  if (level >= n_levels || n < 2)
    return;
  width = MIN (width, n);
  rows = predict_cost_rows_among (graph, tasks, n);
  groups = group (&rows->graph, width, share, seed);
  for (uint32_t part = 0; part < width; part++) {
    uint32_t first = next;

    for (uint32_t i = 0; i < n; i++)
      if (groups->part[i] == part)
        tasks[next++] = before[i];
    order_tasks (graph, pattern, level + 1, n_levels, share, seed, tasks + first, next - first);
  }
}

TopoMapping *
cli_choice_mapping (const StudyMatrix *matrix, const TopoMachine *machine,
                    const TopoPattern *pattern, uint64_t seed, GError **error)
{
  uint32_t n_ranks = study_matrix_ranks (matrix), n_levels = 0;
  g_auto (CliGroupCosts) costs = { 0 };
  g_autoptr (PredictGroups) nodes = NULL;
  g_autofree uint32_t *tasks = g_new (uint32_t, n_ranks);
  TopoMapping *mapping = topo_mapping_new (NULL, machine, n_ranks, error);

  if (mapping == NULL)
    return NULL;
  while (n_levels < TOPO_MAX_LEVELS && pattern->takes[n_levels] > 0)
    n_levels++;
  cli_group_costs_of_bytes (&costs, matrix, n_ranks);
  nodes = group (&costs.graph, pattern->n_nodes, 1, seed);
  for (uint32_t node = 0; node < pattern->n_nodes; node++) {
    uint32_t n = 0;

    for (uint32_t rank = 0; rank < n_ranks; rank++)
      if (nodes->part[rank] == node)
        tasks[n++] = rank;
    if (!pattern->is_uneven && n == pattern->n_tasks)
      order_tasks (&costs.graph, pattern, 0, n_levels, pattern->n_nodes, seed, tasks, n);
    for (uint32_t slot = 0; slot < n; slot++) {
      mapping->node[tasks[slot]] = node;
      mapping->slot[tasks[slot]] = (uint8_t) slot;
    }
  }
  g_free (mapping->name);
  mapping->name = g_strdup_printf ("pattern %u", pattern->id);
  return mapping;
}
