/* scotch.c - mappings and parts of graphs by Scotch.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/search/distance.h"
#include "study/search/scotch.h"
#include "study/study_error.h"

#include <glib.h>
#include <stdint.h>

#ifdef HAVE_SCOTCH

#include <stdarg.h>
#include <stdio.h>

#ifdef HAVE_SCOTCH_SCOTCH_H
#include <scotch/scotch.h>
#else
#include <scotch.h>
#endif

typedef struct {
  SCOTCH_Num n, *first, *neighbour, *weight;
} SourceGraph;

static void
graph_clear (SourceGraph *graph)
{
  g_free (graph->first);
  g_free (graph->neighbour);
  g_free (graph->weight);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SourceGraph, graph_clear)

/* Finds place[n] by a strategy that is empty yet.  0, or the error of Scotch. */
typedef int (*GraphWork) (SCOTCH_Graph *graph, SCOTCH_Strat *strategy, SCOTCH_Num *place,
                          gpointer data);

/* The largest sum of Scotch's integers, with room for its own additions. */
#define MAX_SUM 0x40000000

/* The last message of Scotch: part of our error, not printed. */
static _Thread_local char complaint[256];

void
SCOTCH_errorProg (const char *const program)
{
  (void) program;
}

G_GNUC_PRINTF (1, 2)
void
SCOTCH_errorPrint (const char *const format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  vsnprintf (complaint, sizeof complaint, format, arguments);
  va_end (arguments);
}

/* Warnings do not change the results that are used. */
G_GNUC_PRINTF (1, 2)
void
SCOTCH_errorPrintW (const char *const format, ...)
{
  (void) format;
}

/* Of compressed rows: the neighbours of vertex v are neighbour[first[v]] .. neighbour[first[v + 1] - 1],
 * each edge in the rows of both its ends.  Scotch adds up weights, times up to `longest` hops, in its own integers:
 * they are scaled so that the sum fits, and every edge keeps at least 1.  FALSE: too many edges. */
static gboolean
graph_fill (SourceGraph *graph, uint32_t n, const uint64_t *first, const uint32_t *neighbour,
            const int64_t *weight, uint32_t longest)
{
  uint64_t n_edges = first[n];
  double sum = 0, scale, room = (double) MAX_SUM / MAX (longest, 1u);

  if ((double) n_edges > room / 2)
    return FALSE;
  for (uint64_t i = 0; i < n_edges; i++)
    sum += (double) weight[i];
  scale = MIN (1, (room - (double) n_edges) / MAX (sum, 1));
  graph->n = (SCOTCH_Num) n;
  graph->first = g_new (SCOTCH_Num, (gsize) n + 1);
  graph->neighbour = g_new (SCOTCH_Num, n_edges + 1);
  graph->weight = g_new (SCOTCH_Num, n_edges + 1);
  for (uint32_t vertex = 0; vertex <= n; vertex++)
    graph->first[vertex] = (SCOTCH_Num) first[vertex];
  for (uint64_t i = 0; i < n_edges; i++) {
    graph->neighbour[i] = (SCOTCH_Num) neighbour[i];
    graph->weight[i] = MAX (1, (SCOTCH_Num) ((double) weight[i] * scale));
  }
  return TRUE;
}

/* Works on one thread with a stream of random numbers of its own: the result depends on the seed
 * alone, and other threads may search meanwhile.  Not 0: failed. */
static int
run_scotch (const SourceGraph *source, uint64_t seed, GraphWork work, gpointer data,
            SCOTCH_Num *place)
{
  SCOTCH_Context context;
  SCOTCH_Graph graph, bound;
  SCOTCH_Strat strategy;
  int failed;

  SCOTCH_graphInit (&graph);
  failed = SCOTCH_graphBuild (&graph, 0, source->n, source->first, source->first + 1, NULL, NULL,
                              source->first[source->n], source->neighbour, source->weight);
  if (!failed) {
    SCOTCH_contextInit (&context);
    SCOTCH_contextThreadSpawn (&context, 1, NULL);
    SCOTCH_contextRandomClone (&context);
    SCOTCH_contextRandomSeed (&context, (SCOTCH_Num) (seed & 0x3fffffff));
    SCOTCH_contextRandomReset (&context);
    SCOTCH_graphInit (&bound);
    SCOTCH_stratInit (&strategy);
    failed =
        SCOTCH_contextBindGraph (&context, &graph, &bound) || work (&bound, &strategy, place, data);
    SCOTCH_stratExit (&strategy);
    SCOTCH_graphExit (&bound);
    SCOTCH_contextExit (&context);
  }
  SCOTCH_graphExit (&graph);
  return failed;
}

/* --- Parts of a graph by Scotch: to start from, and to compare with --- */

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

/* The last tasks of parts that have too many go to the first parts that lack some.  The parts that
 * had the most may have one task more than the others. */
static void
make_exact (uint32_t *part, uint32_t n, uint32_t n_parts)
{
  g_autofree Size *has = g_new0 (Size, n_parts);
  g_autofree uint32_t *room = g_new (uint32_t, n_parts);
  uint32_t p = 0;

  for (uint32_t i = 0; i < n_parts; i++)
    has[i].part = i;
  for (uint32_t task = 0; task < n; task++)
    has[part[task]].size++;
  qsort (has, n_parts, sizeof *has, compare_sizes);
  for (uint32_t i = 0; i < n_parts; i++)
    room[has[i].part] = n / n_parts + (i < n % n_parts);

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
  g_auto (SourceGraph) source = { 0 };
  g_autofree SCOTCH_Num *found = g_new0 (SCOTCH_Num, graph->n);
  uint32_t *part;

  complaint[0] = '\0';
  if (!graph_fill (&source, graph->n, graph->first, graph->neighbour, graph->cost, 1)) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_SEARCH, "Scotch: too many edges for its integers");
    return NULL;
  }
  if (n_parts > 1 && run_scotch (&source, seed, part_graph, &n_parts, found)) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_SEARCH, "Scotch: found no parts%s%s",
                 *complaint ? ": " : "", complaint);
    return NULL;
  }
  part = g_new (uint32_t, graph->n);
  for (uint32_t task = 0; task < graph->n; task++)
    part[task] = (uint32_t) found[task];
  make_exact (part, graph->n, n_parts);
  return part;
}

/* --- Mappings by Scotch's dual recursive bipartitioning --- */

static gboolean
refuse (GError **error, const TopoMachine *machine, const char *what)
{
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_SEARCH, "%s: Scotch: %s%s%s", machine->spec, what,
               complaint[0] ? ": " : "", complaint);
  return FALSE;
}

/* --- The machine --- */

/* An architecture and, when some of its places have no node, the architecture that it is cut
 * from; node_of is NULL when places and nodes have the same numbers. */
typedef struct {
  SCOTCH_Arch whole, part;
  gboolean is_part;
  SCOTCH_Graph graph; /* of a machine that is described as one */
  gboolean has_graph;
  uint32_t n_places;
  uint32_t *node_of; /* [place] */
} Architecture;

/* The graph of nearest nodes; Scotch measures the ways through it.  It divides the nodes
 * with the random numbers that all its callers share, which therefore begin anew. */
static gboolean
build_from_graph (Architecture *architecture, const StudyDistance *distance)
{
  uint32_t n = distance->n_nodes;
  g_autofree SCOTCH_Num *first = g_new (SCOTCH_Num, n + 1);
  g_autofree SCOTCH_Num *near = g_new (SCOTCH_Num, distance->near_first[n] + 1);
  SCOTCH_Strat strategy;
  gboolean built;

  for (uint32_t node = 0; node <= n; node++)
    first[node] = (SCOTCH_Num) distance->near_first[node];
  for (uint32_t i = 0; i < distance->near_first[n]; i++)
    near[i] = (SCOTCH_Num) distance->near[i];
  SCOTCH_randomSeed (0);
  SCOTCH_randomReset ();
  SCOTCH_graphInit (&architecture->graph);
  architecture->has_graph = TRUE;
  SCOTCH_stratInit (&strategy);
  built = SCOTCH_graphBuild (&architecture->graph, 0, (SCOTCH_Num) n, first, first + 1, NULL, NULL,
                             first[n], near, NULL) == 0 &&
          SCOTCH_archBuild0 (&architecture->whole, &architecture->graph, 0, NULL, &strategy) == 0;
  SCOTCH_stratExit (&strategy);
  return built;
}

static gboolean
build_torus (Architecture *architecture, const StudyDistance *distance, const TopoMachine *machine,
             GError **error)
{
  const TopoShape *shape = &machine->shape;
  SCOTCH_Num size[TOPO_MAX_DIMENSIONS + 3] = { 0 };
  bool all_wrap = true, none_wraps = true;
  uint32_t n = 0;
  int failed;

  /* Scotch counts nodes with the first dimension fastest, hopcast with the last one.  Dimensions of
   * one node are left out; two nodes are as far apart either way. */
  for (uint32_t dimension = shape->n_dimensions; dimension-- > 0;) {
    if (shape->size[dimension] == 1)
      continue;
    size[n++] = (SCOTCH_Num) shape->size[dimension];
    all_wrap &= shape->wrap[dimension] || shape->size[dimension] == 2;
    none_wraps &= !shape->wrap[dimension] || shape->size[dimension] == 2;
  }
  architecture->n_places = distance->n_nodes;
  for (uint32_t i = n; i < 3; i++)
    size[i] = 1;
  if (all_wrap && n >= 1 && n <= 5)
    failed = SCOTCH_archTorusX (&architecture->whole, (SCOTCH_Num) n, size);
  else if (none_wraps && n <= 3)
    failed = SCOTCH_archMesh3 (&architecture->whole, size[0], size[1], size[2]);
  else if (distance->n_nodes <= STUDY_SCOTCH_MAX_NODES)
    failed = !build_from_graph (architecture, distance);
  else {
    complaint[0] = '\0';
    return refuse (error, machine, "cannot model a torus of these dimensions and so many nodes");
  }
  return failed ? refuse (error, machine, "failed to build the torus") : TRUE;
}

static gboolean
build_tree (Architecture *architecture, const StudyDistance *distance, const TopoMachine *machine,
            GError **error)
{
  g_auto (StudySwitchTree) tree = { 0 };
  SCOTCH_Num width[STUDY_TREE_LEVELS], link[STUDY_TREE_LEVELS];
  g_autofree SCOTCH_Num *feet = g_new (SCOTCH_Num, distance->n_nodes);
  uint32_t n = 0;
  int failed;

  if (!study_switch_tree_read (&tree, distance))
    return refuse (error, machine, "the switches are not a tree of few levels");
  architecture->node_of = study_switch_tree_nodes (&tree, distance->n_nodes);
  for (uint32_t level = 0; level < tree.n_levels; level++) {
    width[tree.n_levels - 1 - level] = (SCOTCH_Num) tree.width[level];
    link[level] = 1;
  }
  failed = SCOTCH_archTleaf (&architecture->whole, (SCOTCH_Num) tree.n_levels, width, link);

  /* The feet without nodes are cut off, so that place i is the i-th one with a node. */
  for (uint32_t place = 0; place < tree.n_places; place++)
    if (architecture->node_of[place] != TOPO_NONE) {
      feet[n] = (SCOTCH_Num) place;
      architecture->node_of[n++] = architecture->node_of[place];
    }
  architecture->n_places = n;
  if (!failed && n < tree.n_places) {
    SCOTCH_archInit (&architecture->part);
    architecture->is_part = TRUE;
    failed = SCOTCH_archSub (&architecture->part, &architecture->whole, (SCOTCH_Num) n, feet);
  }
  if (failed)
    return refuse (error, machine, "failed to build the tree");
  return TRUE;
}

/* --- The graph --- */

static int
map_graph (SCOTCH_Graph *graph, SCOTCH_Strat *strategy, SCOTCH_Num *place, gpointer data)
{
  Architecture *architecture = data;

  return SCOTCH_stratGraphMapBuild (strategy, SCOTCH_STRATQUALITY,
                                    (SCOTCH_Num) architecture->n_places, 0) ||
         SCOTCH_graphMap (graph, architecture->is_part ? &architecture->part : &architecture->whole,
                          strategy, place);
}

static uint32_t *
map_nodes (const StudyProblem *problem, const TopoMachine *machine, Architecture *architecture,
           uint64_t seed, GError **error)
{
  const StudyGraph *graph = problem->graph;
  uint32_t n_ranks = graph->n_ranks;
  g_autofree SCOTCH_Num *place = g_new0 (SCOTCH_Num, n_ranks);
  g_auto (SourceGraph) source = { 0 };
  uint32_t *node;

  if (!graph_fill (&source, n_ranks, graph->first, graph->neighbour, graph->weight,
                   problem->distance->longest)) {
    refuse (error, machine, "too many edges for its integers");
    return NULL;
  }
  if (run_scotch (&source, seed, map_graph, architecture, place)) {
    refuse (error, machine, "found no mapping");
    return NULL;
  }
  node = g_new (uint32_t, n_ranks);
  for (uint32_t rank = 0; rank < n_ranks; rank++)
    node[rank] =
        architecture->node_of ? architecture->node_of[place[rank]] : (uint32_t) place[rank];
  return node;
}

/* A node may have more ranks than slots in Scotch's mapping, which is repaired. */
uint32_t *
study_scotch_map (const StudyProblem *problem, const TopoMachine *machine, uint64_t seed,
                  GError **error)
{
  Architecture architecture = { 0 };
  g_autofree uint32_t *node = NULL;
  gboolean built;

  complaint[0] = '\0';
  if (problem->distance->n_nodes == 1)
    node = g_new0 (uint32_t, problem->graph->n_ranks);
  else {
    SCOTCH_archInit (&architecture.whole);
    built = machine->fabric ? build_tree (&architecture, problem->distance, machine, error)
                            : build_torus (&architecture, problem->distance, machine, error);
    if (built)
      node = map_nodes (problem, machine, &architecture, seed, error);
    if (architecture.is_part)
      SCOTCH_archExit (&architecture.part);
    SCOTCH_archExit (&architecture.whole);
    if (architecture.has_graph)
      SCOTCH_graphExit (&architecture.graph);
    g_free (architecture.node_of);
  }
  return node ? study_placement_repair (problem, node) : NULL;
}

#else /* without Scotch */

static void
refuse_all (GError **error)
{
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_SEARCH, "this hopcast was built without Scotch");
}

uint32_t *
study_scotch_map (G_GNUC_UNUSED const StudyProblem *problem,
                  G_GNUC_UNUSED const TopoMachine *machine, G_GNUC_UNUSED uint64_t seed,
                  GError **error)
{
  refuse_all (error);
  return NULL;
}

uint32_t *
study_scotch_part (G_GNUC_UNUSED const PredictCostGraph *graph, G_GNUC_UNUSED uint32_t n_parts,
                   G_GNUC_UNUSED uint64_t seed, GError **error)
{
  refuse_all (error);
  return NULL;
}

#endif
