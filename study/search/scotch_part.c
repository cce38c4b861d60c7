/* scotch_part.c - parts of a graph by Scotch: to start from, and to compare with.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/search/scotch_part.h"

#include "study/study_error.h"
#include "study/search/scotch_graph.h"

static int
part_graph (SCOTCH_Graph *graph, SCOTCH_Strat *strategy, SCOTCH_Num *part, gpointer data)
{
  SCOTCH_Num n_parts = (SCOTCH_Num) * (const uint32_t *) data;

  return SCOTCH_stratGraphMapBuild (strategy, SCOTCH_STRATQUALITY | SCOTCH_STRATBALANCE, n_parts,
                                    0) ||
         SCOTCH_graphPart (graph, n_parts, strategy, part);
}

typedef struct {
  uint32_t size, part;
} Size;

/* The largest first. */
static int
compare_sizes (const void *left, const void *right)
{
  const Size *a = left, *b = right;

  if (a->size != b->size)
    return a->size > b->size ? -1 : 1;
  return (a->part > b->part) - (a->part < b->part);
}

/* How many tasks every part is to have: one more for those that have the most. */
static uint32_t *
sizes_for (const uint32_t *part, uint32_t n, uint32_t n_parts)
{
  g_autofree Size *has = g_new0 (Size, n_parts);
  uint32_t *size = g_new (uint32_t, n_parts);

  for (uint32_t p = 0; p < n_parts; p++)
    has[p].part = p;
  for (uint32_t task = 0; task < n; task++)
    has[part[task]].size++;
  qsort (has, n_parts, sizeof *has, compare_sizes);
  for (uint32_t i = 0; i < n_parts; i++)
    size[has[i].part] = n / n_parts + (i < n % n_parts);
  return size;
}

/* The last tasks of parts that have too many go to the first parts that lack some. */
static void
make_exact (uint32_t *part, uint32_t n, uint32_t n_parts)
{
  g_autofree uint32_t *room = sizes_for (part, n, n_parts);
  uint32_t p = 0;

  for (uint32_t task = 0; task < n; task++) {
    if (room[part[task]] == 0)
      part[task] = n_parts;
    else
      room[part[task]]--;
  }
  for (uint32_t task = 0; task < n; task++) {
    if (part[task] < n_parts)
      continue;
    while (room[p] == 0)
      p++;
    part[task] = p;
    room[p]--;
  }
}

uint32_t *
study_scotch_part (const PredictCostGraph *graph, uint32_t n_parts, uint64_t seed, GError **error)
{
  g_auto (StudyScotchGraph) source = { 0 };
  g_autofree SCOTCH_Num *found = g_new0 (SCOTCH_Num, graph->n);
  uint32_t *part;

  study_scotch_forget ();
  if (!study_scotch_graph_fill (&source, graph->n, graph->first, graph->neighbour, graph->cost,
                                1)) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_SEARCH, "Scotch: too many edges for its integers");
    return NULL;
  }
  if (n_parts > 1 && study_scotch_run (&source, seed, part_graph, &n_parts, found)) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_SEARCH, "Scotch: found no parts%s%s",
                 *study_scotch_complaint () ? ": " : "", study_scotch_complaint ());
    return NULL;
  }
  part = g_new (uint32_t, graph->n);
  for (uint32_t task = 0; task < graph->n; task++)
    part[task] = (uint32_t) found[task];
  make_exact (part, graph->n, n_parts);
  return part;
}
