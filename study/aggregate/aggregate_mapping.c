/* aggregate_mapping.c - ranks grouped on nodes by the times of their messages.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/aggregate/aggregate_mapping.h"

#include "predictors/group/grouping.h"
#include "sim/net/load.h"
#include "study/search/matrix.h"
#include "study/search/scotch.h"
#include "study/study_error.h"
#include "topology/mapping/message_placement.h"

#include <math.h>

PredictPairTime *
study_pair_times (const SimEdges *messages, uint32_t n_ranks, const PredictPingPong *times,
                  uint64_t *n_pairs)
{
  g_autoptr (StudyGraph) graph = study_graph_new (messages, n_ranks);
  uint64_t n_edges, n = 0;
  g_autofree SimEdge *edges = sim_edges_sorted (messages, &n_edges);
  g_autofree uint64_t *first = g_new0 (uint64_t, (gsize) n_ranks + 1);
  PredictPairTime *pairs = g_new0 (PredictPairTime, graph->first[n_ranks] / 2 + 1);

  for (uint32_t a = 0; a < n_ranks; a++) {
    first[a] = n;
    for (uint64_t e = graph->first[a]; e < graph->first[a + 1]; e++)
      if (graph->neighbour[e] > a)
        pairs[n++] = (PredictPairTime){ .a = a, .b = graph->neighbour[e] };
  }
  first[n_ranks] = n;
  for (uint64_t i = 0; i < n_edges; i++) {
    uint32_t a = MIN (edges[i].source, edges[i].destination);
    uint32_t b = MAX (edges[i].source, edges[i].destination);
    uint64_t low = first[a], high = first[a + 1];

    /* The pairs of a ascend by b. */
    while (high - low > 1) {
      uint64_t middle = low + (high - low) / 2;

      if (pairs[middle].b <= b)
        low = middle;
      else
        high = middle;
    }
    if (edges[i].messages > 0)
      predict_pair_add (times, &pairs[low], (double) edges[i].messages,
                        (double) edges[i].bytes / (double) edges[i].messages);
  }
  *n_pairs = n;
  return pairs;
}

struct StudyAggregate {
  const TopoPatterns *patterns;
  StudyAggregateOptions options;
  uint32_t n_ranks;
  StudyGraph *bytes;      /* of messages between ranks */
  PredictPairTime *pairs; /* [n_pairs] with a table */
  uint64_t n_pairs;
};

/* --- The times of pairs --- */

static const PredictBoundCurve *
quiet_curve (const StudyAggregate *aggregate, const uint8_t *mark, PredictBoundWhere where,
             GError **error)
{
  g_autofree char *placement = topo_placement_class (aggregate->patterns->levels, mark);
  const PredictBoundKind kind = { PREDICT_BOUND_MESSAGE, where, placement, 0, 0, 2 };
  const PredictBoundCurve *curve = predict_bound_table_find (aggregate->options.table, &kind);

  if (curve == NULL)
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                 "%s: no pingpong %s a node without noise in placement %s",
                 predict_bound_table_source (aggregate->options.table),
                 where == PREDICT_BOUND_WITHIN ? "within" : "between", placement);
  return curve;
}

/* The times of the pairs on the places that are farthest apart: the first and the last. */
static gboolean
time_pairs (StudyAggregate *aggregate, const SimEdges *edges, GError **error)
{
  uint32_t n_places = aggregate->patterns->levels->n_places, n;
  g_autofree uint8_t *mark = g_new0 (uint8_t, n_places);
  g_autofree double *bytes = NULL, *within_s = NULL, *between_s = NULL;
  const PredictBoundCurve *between, *within;
  bool beyond = false;

  mark[0] = TOPO_PLACE_OBSERVED;
  between = quiet_curve (aggregate, mark, PREDICT_BOUND_BETWEEN, error);
  if (between == NULL)
    return FALSE;
  mark[n_places - 1] = TOPO_PLACE_OBSERVED;
  /* A node of one core has no pairs within it. */
  within = n_places == 1 ? between : quiet_curve (aggregate, mark, PREDICT_BOUND_WITHIN, error);
  if (within == NULL)
    return FALSE;
  n = predict_bound_curve_points (within);
  bytes = g_new (double, n);
  within_s = g_new (double, n);
  between_s = g_new (double, n);
  for (uint32_t i = 0; i < n; i++) {
    bytes[i] = (double) predict_bound_curve_bytes (within, i);
    within_s[i] = predict_bound_curve_s (within, bytes[i], &beyond);
    between_s[i] = predict_bound_curve_s (between, bytes[i], &beyond);
  }
  aggregate->pairs =
      study_pair_times (edges, aggregate->n_ranks,
                        &(PredictPingPong){ n, bytes, within_s, between_s }, &aggregate->n_pairs);
  return TRUE;
}

/* --- Reading --- */

static void
add_message (void *data, uint32_t source, uint32_t destination, uint64_t bytes,
             bool direct_collective)
{
  (void) direct_collective;
  sim_edges_add (data, source, destination, 1, bytes);
}

StudyAggregate *
study_aggregate_new (Trace *trace, const TopoPatterns *patterns,
                     const StudyAggregateOptions *options, TraceProgress progress, void *data,
                     GError **error)
{
  g_autoptr (StudyAggregate) aggregate = g_new0 (StudyAggregate, 1);
  SimEdges *edges = sim_edges_new (trace_ranks (trace));
  SimCensus census;
  gboolean good;

  aggregate->patterns = patterns;
  aggregate->options = *options;
  aggregate->n_ranks = trace_ranks (trace);
  good = sim_census (trace, NULL, SIM_CENSUS_POINT_TO_POINT, false, add_message, edges, progress,
                     data, &census, error);
  if (good) {
    aggregate->bytes = study_graph_new (edges, aggregate->n_ranks);
    good = options->table == NULL || time_pairs (aggregate, edges, error);
  }
  sim_edges_free (edges);
  return good ? g_steal_pointer (&aggregate) : NULL;
}

void
study_aggregate_free (StudyAggregate *aggregate)
{
  if (aggregate == NULL)
    return;
  g_clear_pointer (&aggregate->bytes, study_graph_free);
  g_free (aggregate->pairs);
  g_free (aggregate);
}

/* --- Grouping --- */

/* Parts of sizes that differ by one at most; the caller frees. */
static uint32_t *
part_tasks (const StudyAggregate *aggregate, const PredictCostGraph *graph, uint32_t n_parts,
            uint64_t work)
{
  PredictGroupOptions search = { .n_parts = n_parts,
                                 .n_starts = PREDICT_GROUP_STARTS,
                                 .seed = aggregate->options.seed,
                                 .work = aggregate->options.paper ? 0 : work };
  PredictGroupStart given = { .name = "scotch" };
  g_autofree uint32_t *scotch = NULL;
  g_autoptr (PredictGroups) groups = NULL;

  if (graph->first[graph->n] == 0) {
    /* Tasks in order, the first parts having one more. */
    uint32_t *part = g_new (uint32_t, graph->n), task = 0;

    for (uint32_t i = 0; i < n_parts; i++)
      for (uint32_t size = graph->n / n_parts + (i < graph->n % n_parts); size > 0; size--)
        part[task++] = i;
    return part;
  }
  /* Where Scotch fails the other starts remain. */
  if (!aggregate->options.paper &&
      (scotch = study_scotch_part (graph, n_parts, search.seed, NULL)) != NULL) {
    given.part = scotch;
    search.given = &given;
    search.n_given = 1;
  }
  groups = predict_group (graph, &search);
  return g_steal_pointer (&groups->part);
}

/* Where the tasks of one node go. */
typedef struct {
  const StudyAggregate *aggregate;
  const TopoPattern *pattern;
  const PredictCostGraph *graph;
  uint64_t work;   /* of one search */
  uint32_t *place; /* [n_ranks] */
} Placing;

/* Puts tasks[n], which ascend, on the first n of the pattern's places from `first` to `end`. */
static void
place_tasks (const Placing *placing, uint32_t level, uint32_t first, uint32_t end,
             const uint32_t *tasks, uint32_t n)
{
  const TopoLevels *levels = placing->aggregate->patterns->levels;
  const uint32_t *place = placing->pattern->place;
  uint32_t n_children = 1, width;
  g_autofree uint32_t *part = NULL, *mine = NULL;
  g_autoptr (PredictCostRows) rows = NULL;
  bool even = true;

  /* The next level that divides the places, into groups of equal size if even. */
  for (; level < levels->n_levels; level++) {
    const uint32_t *group = levels->level[level].group;
    uint32_t start = first, size = 0;

    n_children = 0;
    for (uint32_t at = first + 1; at <= end; at++) {
      if (at < end && group[place[at]] == group[place[start]])
        continue;
      even = even && (n_children == 0 || at - start == size);
      size = at - start;
      start = at;
      n_children++;
    }
    if (!even || n_children > 1)
      break;
  }
  /* Nothing to choose; or groups of different sizes, or a node that is not full: in order. */
  if (n_children == 1 || !even || n < end - first) {
    for (uint32_t i = 0; i < n; i++)
      placing->place[tasks[i]] = place[first + i];
    return;
  }
  rows = predict_cost_rows_among (placing->graph, tasks, n);
  part = part_tasks (placing->aggregate, &rows->graph, n_children, placing->work);
  mine = g_new (uint32_t, n);
  width = n / n_children;
  for (uint32_t child = 0; child < n_children; child++) {
    uint32_t n_mine = 0;

    for (uint32_t i = 0; i < n; i++)
      if (part[i] == child)
        mine[n_mine++] = tasks[i];
    place_tasks (placing, level + 1, first + child * width, first + (child + 1) * width, mine,
                 n_mine);
  }
}

TopoMapping *
study_aggregate_mapping (const StudyAggregate *aggregate, const TopoPattern *pattern)
{
  uint32_t n_ranks = aggregate->n_ranks, k = pattern->n_tasks, n_nodes = (n_ranks + k - 1) / k;
  const TopoLevels *levels = aggregate->patterns->levels;
  const StudyGraph *bytes = aggregate->bytes;
  PredictCostGraph graph = { n_ranks, bytes->first, bytes->neighbour, bytes->weight };
  g_autoptr (PredictCostRows) rows = NULL;
  g_autofree uint32_t *place = g_new (uint32_t, n_ranks), *tasks = g_new (uint32_t, n_ranks);
  const Placing placing = { aggregate, pattern, &graph, PREDICT_GROUP_WORK / n_nodes, place };
  TopoMapping *mapping = g_new0 (TopoMapping, 1);

  if (aggregate->pairs != NULL) {
    double c;

    rows = predict_edge_costs (n_ranks, aggregate->pairs, aggregate->n_pairs, k,
                               aggregate->options.form, &c);
    graph = rows->graph;
  }
  mapping->name = g_strdup_printf ("pattern %u", pattern->id);
  mapping->n_ranks = n_ranks;
  mapping->slot = g_new (uint8_t, n_ranks);
  mapping->node = part_tasks (aggregate, &graph, n_nodes, PREDICT_GROUP_WORK);
  for (uint32_t node = 0; node < n_nodes; node++) {
    uint32_t n = 0;

    for (uint32_t rank = 0; rank < n_ranks; rank++)
      if (mapping->node[rank] == node)
        tasks[n++] = rank;
    place_tasks (&placing, 0, 0, k, tasks, n);
  }
  for (uint32_t rank = 0; rank < n_ranks; rank++)
    mapping->slot[rank] = (uint8_t) levels->core[place[rank]];
  return mapping;
}
