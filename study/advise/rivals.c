/* rivals.c - the placements that an advice compares: ranks per node, and mappings for each.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/advise/rivals.h"

#include "sim/net/load.h"
#include "study/search/optimize.h"
#include "study/study_error.h"

#include <math.h>

/* --- How many ranks share a node --- */

/* Cores of a Blue Gene/Q node for programs. */
#define BGQ_CORES 16u

static guint
cores_of (const TopoMachine *machine)
{
  return machine->node != NULL ? machine->node->n_cores : machine->is_bgq ? BGQ_CORES : 0;
}

static gboolean
has_number (const GArray *numbers, guint number)
{
  for (guint i = 0; i < numbers->len; i++)
    if (g_array_index (numbers, guint, i) == number)
      return TRUE;
  return FALSE;
}

GArray *
study_advice_ranks_per_node (const TopoMachine *machine, uint32_t n_ranks, gboolean is_fixed,
                             GError **error)
{
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint));
  guint n_nodes = topo_shape_nodes (&machine->shape), n_cores = cores_of (machine);
  guint least = (n_ranks + n_nodes - 1) / n_nodes, plain = machine->ranks_per_node;
  guint most = n_cores > 0 ? n_cores : machine->fabric != NULL ? 1 : TOPO_MAX_TORUS_RANKS;

  if (plain < least && !is_fixed) {
    plain = 1;
    while (plain < least)
      plain *= 2;
    if (plain > most && least <= most)
      plain = most;
  }
  if (plain < least || plain > MAX (most, machine->ranks_per_node)) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                 "%u ranks do not fit on the %u nodes of %s, with %u ranks on each", n_ranks,
                 n_nodes, machine->spec, is_fixed ? plain : most);
    return NULL;
  }
  g_array_append_val (numbers, plain);
  for (guint number = 1; !is_fixed && n_cores > 0 && number < 2 * n_ranks; number *= 2) {
    guint fitting = MIN (number, n_cores);

    if (fitting >= least && !has_number (numbers, fitting))
      g_array_append_val (numbers, fitting);
    if (number >= n_cores)
      break;
  }
  return g_steal_pointer (&numbers);
}

/* --- Mappings --- */

/* Rounds of the search for each number of ranks per node. */
#define SEARCH_ROUNDS 8u
/* Rivals in all, and the least of a number of ranks per node. */
#define MOST_RIVALS  48u
#define LEAST_RIVALS 6u

static void
variant_free (gpointer data)
{
  StudyVariant *variant = data;

  route_paths_free (variant->paths);
  topo_machine_free (variant->machine);
  g_free (variant);
}

static void
rival_free (gpointer data)
{
  StudyRival *rival = data;

  g_free (rival->name);
  g_free (rival->error);
  topo_mapping_free (rival->mapping);
  g_free (rival);
}

void
study_rivals_free (StudyRivals *rivals)
{
  if (rivals == NULL)
    return;
  g_ptr_array_unref (rivals->all);
  g_ptr_array_unref (rivals->variants);
  g_free (rivals);
}

static void
count_message (void *matrix, uint32_t source, uint32_t destination, uint64_t bytes,
               bool direct_collective G_GNUC_UNUSED)
{
  study_matrix_add (matrix, source, destination, 1, bytes);
}

static uint32_t
nodes_used (const TopoMapping *mapping, uint32_t n_nodes)
{
  g_autofree bool *used = g_new0 (bool, n_nodes);
  uint32_t n = 0;

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    n += !used[mapping->node[rank]];
    used[mapping->node[rank]] = true;
  }
  return n;
}

/* Takes the best candidates of the last variant, its default first, but those whose places an earlier
 * variant has brought. */
static void
take_candidates (StudyRivals *rivals, StudyCandidates *candidates, GHashTable *seen, guint most)
{
  guint number = rivals->variants->len - 1;
  const TopoMachine *machine = candidates->paths->machine;

  for (guint i = 0; i < MIN (candidates->list->len, most); i++) {
    StudyCandidate *candidate = study_candidate (candidates, i);
    StudyRival *rival;

    if (!g_hash_table_add (seen, study_mapping_hash (candidate->mapping)))
      continue;
    rival = g_new0 (StudyRival, 1);
    rival->name = g_strdup (candidate->name);
    rival->ranks_per_node = machine->ranks_per_node;
    rival->nodes = nodes_used (candidate->mapping, topo_shape_nodes (&machine->shape));
    rival->hop_bytes = candidate->hop_bytes;
    rival->max_bytes = candidate->max_bytes;
    rival->predicted_s = rival->time_s = NAN;
    rival->gain = candidate->gain;
    rival->mapping = g_steal_pointer (&candidate->mapping);
    rival->variant = number;
    g_ptr_array_add (rivals->all, rival);
  }
}

/* Searches for mappings by the messages of the trace as the variant's machine decomposes them. */
static gboolean
search_variant (StudyRivals *rivals, StudyVariant *variant, Trace *trace, const StudySearch *search,
                GHashTable *seen, guint most, GError **error)
{
  g_autofree SimCensus *census = g_new0 (SimCensus, 1);
  g_autoptr (StudyMatrix) matrix = study_matrix_new (trace_ranks (trace));
  g_autoptr (TopoMapping) plain =
      topo_mapping_new (NULL, variant->machine, trace_ranks (trace), error);
  g_autoptr (StudyDistance) distance = NULL;
  g_autoptr (StudyGraph) graph = NULL;
  g_autoptr (StudyCandidates) candidates = NULL;
  StudyProblem problem;
  StudySearched searched;

  if (plain == NULL ||
      !sim_census (trace, variant->machine, SIM_CENSUS_POINT_TO_POINT | SIM_CENSUS_COLLECTIVES,
                   false, count_message, matrix, NULL, NULL, census, error) ||
      !(variant->paths = route_paths_new (variant->machine, error)) ||
      !(distance = study_distance_new (variant->paths, error)))
    return FALSE;
  graph = study_graph_new (study_matrix_edges (matrix), trace_ranks (trace));
  problem = (StudyProblem){ graph, distance, variant->machine->ranks_per_node };
  candidates = study_candidates_new (&problem, variant->paths, study_matrix_edges (matrix),
                                     STUDY_OBJECTIVE_BOTH, plain->name,
                                     study_placement_of (&problem, plain));
  if (!study_search (candidates, search, &searched, error))
    return FALSE;
  g_free (searched.scotch_error);
  take_candidates (rivals, candidates, seen, most);
  return TRUE;
}

StudyRivals *
study_rivals_new (Trace *trace, const StudyMachineInputs *inputs, RoutePolicy policy, uint64_t seed,
                  gint64 search_us, GError **error)
{
  g_autoptr (StudyRivals) rivals = g_new0 (StudyRivals, 1);
  StudyMachineInputs of_variant = *inputs;
  gboolean is_fixed =
      inputs->ranks_per_node != G_MININT || inputs->cores != NULL || inputs->pattern != G_MININT;
  g_autoptr (TopoMachine) first = study_machine_new (inputs, error);
  g_autoptr (GArray) numbers =
      first != NULL ? study_advice_ranks_per_node (first, trace_ranks (trace), is_fixed, error)
                    : NULL;
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  gint64 begin_us = g_get_monotonic_time ();

  rivals->variants = g_ptr_array_new_with_free_func (variant_free);
  rivals->all = g_ptr_array_new_with_free_func (rival_free);
  for (guint i = 0; numbers != NULL && i < numbers->len; i++) {
    StudyVariant *variant = g_new0 (StudyVariant, 1);
    const StudySearch search = {
      .seed = seed,
      .n_threads = 1,
      .n_rounds = SEARCH_ROUNDS,
      .deadline_us = search_us > 0 ? begin_us + search_us * (i + 1) / numbers->len : 0,
    };

    g_ptr_array_add (rivals->variants, variant);
    if (!is_fixed)
      of_variant.ranks_per_node = (int) g_array_index (numbers, guint, i);
    variant->machine = study_machine_new (&of_variant, error);
    if (variant->machine == NULL)
      return NULL;
    if (variant->machine->fabric != NULL && policy == ROUTE_POLICY_DETERMINISTIC)
      variant->machine->parameters.switches.adaptive = TOPO_ADAPTIVE_NONE;
    if (!search_variant (rivals, variant, trace, &search, seen,
                         CLAMP (MOST_RIVALS / numbers->len, LEAST_RIVALS, MOST_RIVALS), error))
      return NULL;
  }
  return numbers != NULL ? g_steal_pointer (&rivals) : NULL;
}
