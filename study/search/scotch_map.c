/* scotch_map.c - mappings by Scotch's dual recursive bipartitioning.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/search/scotch_map.h"

#include "study/study_error.h"
#include "study/search/scotch_graph.h"
#include "study/search/switch_tree.h"

static gboolean
refuse (GError **error, const TopoMachine *machine, const char *what)
{
  const char *complaint = study_scotch_complaint ();

  g_set_error (error, STUDY_ERROR, STUDY_ERROR_SEARCH, "%s: Scotch: %s%s%s", machine->spec, what,
               complaint[0] ? ": " : "", complaint);
  return FALSE;
}

/* --- The machine --- */

/* An architecture and, when some of its places are none, the one it is cut from;
 * place_of and node_of are NULL when both have the same numbers. */
typedef struct {
  SCOTCH_Arch whole, part;
  gboolean is_part;
  SCOTCH_Graph graph; /* of a machine that is told as one */
  gboolean has_graph;
  uint32_t n_places;
  uint32_t *node_of; /* [place] */
} Architecture;

static void
architecture_clear (Architecture *architecture)
{
  if (architecture->is_part)
    SCOTCH_archExit (&architecture->part);
  SCOTCH_archExit (&architecture->whole);
  if (architecture->has_graph)
    SCOTCH_graphExit (&architecture->graph);
  g_free (architecture->node_of);
}

/* Scotch counts nodes with the first dimension fastest, we with the last one.
 * Dimensions of one node are none. */
static uint32_t
long_dimensions (const TopoShape *shape, SCOTCH_Num *size, bool *all_wrap, bool *none_wraps)
{
  uint32_t n = 0;

  *all_wrap = *none_wraps = true;
  for (uint32_t dimension = shape->n_dimensions; dimension-- > 0;) {
    if (shape->size[dimension] == 1)
      continue;
    size[n++] = (SCOTCH_Num) shape->size[dimension];
    /* Two nodes are as far apart either way. */
    *all_wrap &= shape->wrap[dimension] || shape->size[dimension] == 2;
    *none_wraps &= !shape->wrap[dimension] || shape->size[dimension] == 2;
  }
  return n;
}

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
  SCOTCH_Num size[TOPO_MAX_DIMENSIONS + 3] = { 0 };
  bool all_wrap, none_wraps;
  uint32_t n = long_dimensions (&machine->shape, size, &all_wrap, &none_wraps);
  int failed;

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
    study_scotch_forget ();
    return refuse (error, machine, "cannot be told a torus of such dimensions and so many nodes");
  }
  return failed ? refuse (error, machine, "cannot be told this torus") : TRUE;
}

/* Cuts the feet without nodes off, so that place i is the i-th one with a node. */
static int
cut_free_feet (Architecture *architecture, uint32_t n_nodes)
{
  g_autofree SCOTCH_Num *feet = g_new (SCOTCH_Num, n_nodes);
  uint32_t n = 0;

  for (uint32_t place = 0; place < architecture->n_places; place++)
    if (architecture->node_of[place] != TOPO_NONE) {
      feet[n] = (SCOTCH_Num) place;
      architecture->node_of[n++] = architecture->node_of[place];
    }
  if (n == architecture->n_places)
    return 0;
  architecture->n_places = n;
  SCOTCH_archInit (&architecture->part);
  architecture->is_part = TRUE;
  return SCOTCH_archSub (&architecture->part, &architecture->whole, (SCOTCH_Num) n, feet);
}

static gboolean
build_tree (Architecture *architecture, const StudyDistance *distance, const TopoMachine *machine,
            GError **error)
{
  g_auto (StudySwitchTree) tree = { 0 };
  SCOTCH_Num width[STUDY_TREE_LEVELS], link[STUDY_TREE_LEVELS];

  if (!study_switch_tree_read (&tree, distance))
    return refuse (error, machine, "the switches are not a tree of few levels");
  architecture->n_places = tree.n_places;
  architecture->node_of = study_switch_tree_nodes (&tree, distance->n_nodes);
  for (uint32_t level = 0; level < tree.n_levels; level++) {
    width[tree.n_levels - 1 - level] = (SCOTCH_Num) tree.width[level];
    link[level] = 1;
  }
  if (SCOTCH_archTleaf (&architecture->whole, (SCOTCH_Num) tree.n_levels, width, link) != 0 ||
      cut_free_feet (architecture, distance->n_nodes) != 0)
    return refuse (error, machine, "cannot be told this tree");
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
  g_auto (StudyScotchGraph) source = { 0 };
  uint32_t *node;

  if (!study_scotch_graph_fill (&source, n_ranks, graph->first, graph->neighbour, graph->weight,
                                problem->distance->longest)) {
    refuse (error, machine, "too many edges for its integers");
    return NULL;
  }
  if (study_scotch_run (&source, seed, map_graph, architecture, place)) {
    refuse (error, machine, "found no mapping");
    return NULL;
  }
  node = g_new (uint32_t, n_ranks);
  for (uint32_t rank = 0; rank < n_ranks; rank++)
    node[rank] =
        architecture->node_of ? architecture->node_of[place[rank]] : (uint32_t) place[rank];
  return node;
}

uint32_t *
study_scotch_nodes (const StudyProblem *problem, const TopoMachine *machine, uint64_t seed,
                    GError **error)
{
  Architecture architecture = { 0 };
  uint32_t *node = NULL;
  gboolean built;

  study_scotch_forget ();
  if (problem->distance->n_nodes == 1)
    return g_new0 (uint32_t, problem->graph->n_ranks);
  SCOTCH_archInit (&architecture.whole);
  built = machine->fabric ? build_tree (&architecture, problem->distance, machine, error)
                          : build_torus (&architecture, problem->distance, machine, error);
  if (built)
    node = map_nodes (problem, machine, &architecture, seed, error);
  architecture_clear (&architecture);
  return node;
}

uint32_t *
study_scotch_map (const StudyProblem *problem, const TopoMachine *machine, uint64_t seed,
                  GError **error)
{
  g_autofree uint32_t *node = study_scotch_nodes (problem, machine, seed, error);

  return node ? study_placement_repair (problem, node) : NULL;
}
