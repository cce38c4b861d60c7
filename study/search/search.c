/* search.c - candidates for a mapping, and the local search that makes them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/search/search.h"
#include "study/search/optimize.h"

#include "sim/net/load.h"
#include "study/search/anneal.h"
#include "study/search/scotch.h"
#include "base/random.h"
#include "topology/recipe/recipe.h"

#include <math.h>
#include <string.h>

void
study_static_features (double features[SIM_N_FEATURES], const RoutePaths *paths,
                       const TopoMapping *mapping, const SimEdges *edges)
{
  SimCounters *counters = sim_counters_new (paths->machine);
  uint64_t n_edges;
  g_autofree SimEdge *sorted = sim_edges_sorted (edges, &n_edges);

  for (uint64_t i = 0; i < n_edges; i++) {
    /* Some messages of an edge have one byte more where they must. */
    uint64_t share = sorted[i].messages > 0 ? sorted[i].bytes / sorted[i].messages : 0;
    uint64_t rest = sorted[i].messages > 0 ? sorted[i].bytes % sorted[i].messages : 0;

    if (rest > 0)
      sim_load_add_many (counters, paths, mapping, sorted[i].source, sorted[i].destination,
                         share + 1, false, rest);
    sim_load_add_many (counters, paths, mapping, sorted[i].source, sorted[i].destination, share,
                       false, sorted[i].messages - rest);
  }
  sim_features_compute_sorted (features, paths, mapping, sorted, n_edges, counters);
  sim_counters_free (counters);
}

/* --- The list of candidates --- */

/* More are never simulated, and serve no search. */
#define MAX_CANDIDATES 24u

static void
candidate_free (StudyCandidate *candidate)
{
  g_free (candidate->name);
  g_free (candidate->slot);
  topo_mapping_free (candidate->mapping);
  g_free (candidate->error);
  g_free (candidate);
}

/* Takes slot. */
static StudyCandidate *
candidate_new (const StudyCandidates *candidates, const char *name, uint32_t *slot)
{
  StudyCandidate *candidate = g_new0 (StudyCandidate, 1);
  double features[SIM_N_FEATURES];

  candidate->name = g_strdup (name);
  candidate->slot = slot;
  candidate->mapping = study_placement_mapping (candidates->problem, slot, name);
  study_static_features (features, candidates->paths, candidate->mapping, candidates->edges);
  candidate->hop_bytes = features[SIM_FEATURE_HOP_BYTES];
  candidate->max_bytes = features[SIM_FEATURE_MAX_BYTES];
  candidate->time_s = NAN;
  candidate->gain = study_gain_new (NULL, NULL, 0);
  return candidate;
}

/* Of two values of which less is better; a default of 0 cannot be beaten. */
static double
relative (double value, double default_value)
{
  if (default_value > 0)
    return value / default_value;
  return value > 0 ? INFINITY : 1;
}

StudyCandidates *
study_candidates_new (const StudyProblem *problem, const RoutePaths *paths, const SimEdges *edges,
                      StudyObjective objective, const char *default_name, uint32_t *default_slot)
{
  StudyCandidates *candidates = g_new0 (StudyCandidates, 1);
  StudyCandidate *plain;

  candidates->problem = problem;
  candidates->paths = paths;
  candidates->edges = edges;
  candidates->objective = objective;
  candidates->list = g_ptr_array_new_with_free_func ((GDestroyNotify) candidate_free);
  plain = candidate_new (candidates, default_name, default_slot);
  plain->score = 1;
  g_ptr_array_add (candidates->list, plain);
  return candidates;
}

void
study_candidates_free (StudyCandidates *candidates)
{
  if (!candidates)
    return;
  g_ptr_array_unref (candidates->list);
  g_free (candidates);
}

/* Scores a mapping and lists it, unless one with the same metrics, or enough better ones, are
 * there.  Takes slot. */
static void
add_candidate (StudyCandidates *candidates, const char *name, uint32_t *slot)
{
  StudyCandidate *candidate = candidate_new (candidates, name, slot);
  const StudyCandidate *plain = study_candidate (candidates, 0);
  double hop_bytes = relative (candidate->hop_bytes, plain->hop_bytes);
  double max_bytes = relative (candidate->max_bytes, plain->max_bytes);
  guint place = 1;

  for (guint i = 0; i < candidates->list->len; i++) {
    const StudyCandidate *other = study_candidate (candidates, i);

    if (other->hop_bytes == candidate->hop_bytes && other->max_bytes == candidate->max_bytes) {
      candidate_free (candidate);
      return;
    }
  }
  switch (candidates->objective) {
  case STUDY_OBJECTIVE_HOP_BYTES: candidate->score = hop_bytes; break;
  case STUDY_OBJECTIVE_MAX_BYTES: candidate->score = max_bytes; break;
  case STUDY_OBJECTIVE_BOTH: candidate->score = (hop_bytes + max_bytes) / 2; break;
  default: g_assert_not_reached ();
  }
  while (place < candidates->list->len &&
         study_candidate (candidates, place)->score <= candidate->score)
    place++;
  g_ptr_array_insert (candidates->list, (gint) place, candidate);
  if (candidates->list->len > MAX_CANDIDATES)
    g_ptr_array_set_size (candidates->list, MAX_CANDIDATES);
}

guint
study_candidates_best (const StudyCandidates *candidates)
{
  return candidates->list->len > 1 && study_candidate (candidates, 1)->score < 1 ? 1 : 0;
}

/* --- Better mappings by local search on static metrics --- */

/* Rounds that are made at a time. */
#define BATCH 4u

/* Proposals of the first round, per rank and at least.  The first batches double them, so that
 * something good is known early; then, as long as there is time, every RESTARTS-th one
 * does: small problems gain more from another start than from a slower one. */
#define FIRST_STEPS   500u
#define LEAST_STEPS   200000u
#define FIRST_BATCHES 4u
#define RESTARTS      6u
#define MAX_STEPS     (1ull << 36)

/* A relieving step recomputes ways: it takes as long as this many exchanges. */
#define RELIEVE_COST 64u

/* Pairs of rank and partner or node that a construction of starts may visit. */
#define MAX_LOOKS (1ull << 31)

/* Arcs and ranks that Scotch may be given in all its runs, and most of these. */
#define SCOTCH_ARCS      (1u << 17)
#define MAX_SCOTCH_SEEDS 32u

/* Its time grows with ranks times nodes, and it cannot be stopped: 80 s at 2^32.  The tree of a
 * fabric is read from all pairs of nodes. */
#define MAX_SCOTCH_PAIRS (1ull << 27)

/* The permutations of six letters; best mappings of all families that are kept. */
#define LARGEST_FAMILY 720u
#define KEPT_ORDERS    3u

typedef struct {
  StudyCandidates *candidates;
  const StudySearch *options;
  StudySearched *searched;
  GPtrArray *starts; /* (element-type Start) */
  guint64 steps;     /* of the next batch's rounds */
} Searcher;

/* A start of the rounds; the candidates may drop it. */
typedef struct {
  char *name;
  uint32_t *slot;
} Start;

static void
start_free (Start *start)
{
  g_free (start->name);
  g_free (start->slot);
  g_free (start);
}

static uint32_t *
copy_slots (const Searcher *searcher, const uint32_t *slot)
{
  return g_memdup2 (slot, searcher->candidates->problem->graph->n_ranks * sizeof *slot);
}

/* Takes slot. */
static void
add_start (Searcher *searcher, const char *name, uint32_t *slot)
{
  Start *start = g_new (Start, 1);

  *start = (Start){ g_strdup (name), copy_slots (searcher, slot) };
  g_ptr_array_add (searcher->starts, start);
  add_candidate (searcher->candidates, name, slot);
}

static gboolean
must_stop (void *data)
{
  const StudySearch *options = data;

  return (options->deadline_us && g_get_monotonic_time () >= options->deadline_us) ||
         (options->stop && options->stop (options->data));
}

/* --- Starts --- */

/* The mappings of families with fewest hop-bytes, ascending. */
typedef struct {
  int64_t hop_bytes[KEPT_ORDERS];
  uint32_t *slot[KEPT_ORDERS];
  char *name[KEPT_ORDERS];
  guint n;
} Orders;

/* Takes slot. */
static void
orders_add (Orders *orders, const char *name, uint32_t *slot, int64_t hop_bytes)
{
  guint place = 0;

  while (place < orders->n && orders->hop_bytes[place] < hop_bytes)
    place++;
  if (place == KEPT_ORDERS || (place < orders->n && orders->hop_bytes[place] == hop_bytes)) {
    g_free (slot);
    return;
  }
  if (orders->n == KEPT_ORDERS) {
    orders->n--;
    g_free (orders->slot[orders->n]);
    g_free (orders->name[orders->n]);
  }
  for (guint i = orders->n; i > place; i--) {
    orders->hop_bytes[i] = orders->hop_bytes[i - 1];
    orders->slot[i] = orders->slot[i - 1];
    orders->name[i] = orders->name[i - 1];
  }
  orders->hop_bytes[place] = hop_bytes;
  orders->slot[place] = slot;
  orders->name[place] = g_strdup (name);
  orders->n++;
}

/* Orders of dimensions, curves and the 84 mappings, unless that takes too long.  A family that the
 * machine or the number of ranks is not made for has no mappings. */
static void
start_families (Searcher *searcher)
{
  static const char *const families[] = { "curves", "sc13-shared", "permutations" };
  const StudyProblem *problem = searcher->candidates->problem;
  const TopoMachine *machine = searcher->candidates->paths->machine;
  uint32_t n_ranks = problem->graph->n_ranks;
  Orders orders = { .n = 0 };

  if ((problem->graph->first[n_ranks] + n_ranks) * LARGEST_FAMILY > MAX_LOOKS)
    return;
  for (gsize family = 0; family < G_N_ELEMENTS (families); family++) {
    g_auto (GStrv) texts = topo_recipe_family (families[family], machine, n_ranks, NULL);

    for (guint i = 0; texts && texts[i] && !must_stop ((void *) searcher->options); i++) {
      g_autoptr (TopoMapping) mapping = topo_mapping_new (texts[i], machine, n_ranks, NULL);
      uint32_t *slot = mapping ? study_placement_of (problem, mapping) : NULL;

      if (slot)
        orders_add (&orders, texts[i], slot, study_hop_bytes (problem, slot));
    }
  }
  for (guint i = 0; i < orders.n; i++) {
    add_start (searcher, orders.name[i], orders.slot[i]);
    g_free (orders.name[i]);
  }
}

/* The best of Scotch's mappings with several seeds, of small graphs with more. */
static void
start_scotch (Searcher *searcher, uint64_t n_arcs)
{
  const StudyProblem *problem = searcher->candidates->problem;
  const TopoMachine *machine = searcher->candidates->paths->machine;
  uint64_t n_nodes = problem->distance->n_nodes, n_ranks = problem->graph->n_ranks;
  uint64_t n_seeds = CLAMP (SCOTCH_ARCS / n_arcs, 1, MAX_SCOTCH_SEEDS);
  uint32_t *best = NULL;

  if ((machine->fabric ? MAX (n_ranks, n_nodes) : n_ranks) * n_nodes > MAX_SCOTCH_PAIRS) {
    searcher->searched->scotch_error =
        g_strdup ("Scotch is left out: it would take minutes for so many ranks and nodes");
    return;
  }
  for (uint64_t i = 0; i < n_seeds && !must_stop ((void *) searcher->options); i++) {
    g_autoptr (GError) error = NULL;
    uint32_t *slot = study_scotch_map (problem, machine, searcher->options->seed + i, &error);

    if (!slot) {
      searcher->searched->scotch_error = g_strdup (error->message);
      return;
    }
    if (best && study_hop_bytes (problem, best) <= study_hop_bytes (problem, slot))
      g_free (slot);
    else {
      g_free (best);
      best = slot;
    }
  }
  if (best)
    add_start (searcher, "scotch", best);
}

/* --- Rounds --- */

typedef struct {
  const Searcher *searcher;
  char *name;
  uint32_t *slot; /* start, then result */
  gboolean relieve;
  StudyAnneal anneal;
} Round;

/* "annealed from scotch (7)": the last step, the start of all steps, and the round. */
static char *
round_name (gboolean relieve, const char *from, guint number)
{
  const char *origin = g_strrstr (from, " from ");
  g_autofree char *start = g_strdup (origin ? origin + strlen (" from ") : from);
  char *round = origin ? g_strrstr (start, " (") : NULL;

  if (round)
    *round = '\0';
  return g_strdup_printf ("%s from %s (%u)", relieve ? "relieved" : "annealed", start, number + 1);
}

/* Rounds are dealt to threads in turn; their order of ending has no effect. */
typedef struct {
  Round *rounds;
  guint n_rounds, first, stride;
} Share;

static gpointer
make_share (gpointer data)
{
  Share *share = data;

  for (guint i = share->first; i < share->n_rounds; i += share->stride) {
    Round *round = &share->rounds[i];
    const StudyCandidates *candidates = round->searcher->candidates;

    if (round->relieve)
      study_relieve (candidates->problem, candidates->paths, round->slot, &round->anneal);
    else
      study_anneal (candidates->problem, round->slot, &round->anneal);
  }
  return NULL;
}

static void
make_batch (Searcher *searcher, guint first, guint n)
{
  static const double heat[] = { 0.3, 0.2, 0.1, 0.3 };
  guint n_threads = CLAMP (searcher->options->n_threads, 1, n);
  GThread *threads[BATCH];
  Share shares[BATCH] = { 0 };
  Round rounds[BATCH];

  for (guint i = 0; i < n; i++) {
    /* Rounds of even number begin at the starts in turn, those of odd number at the best so
     * far; where the busiest link counts, the last of a batch relieves it. */
    guint number = first + i;
    const StudyCandidates *candidates = searcher->candidates;
    const StudyCandidate *best = study_candidate (candidates, study_candidates_best (candidates));
    const Start *start = g_ptr_array_index (searcher->starts, (number / 2) % searcher->starts->len);
    gboolean from_best = number % 2 == 1 && number >= BATCH;
    Round round = { .searcher = searcher };

    if (!from_best && number < BATCH)
      start = g_ptr_array_index (searcher->starts, number % searcher->starts->len);
    round.relieve =
        candidates->objective != STUDY_OBJECTIVE_HOP_BYTES && number % BATCH == BATCH - 1;
    round.slot = copy_slots (searcher, from_best ? best->slot : start->slot);
    round.name = round_name (round.relieve, from_best ? best->name : start->name, number);
    round.anneal = (StudyAnneal){
      .seed = base_random_stream_added (searcher->options->seed, number).state,
      .n_steps = round.relieve ? searcher->steps / RELIEVE_COST : searcher->steps,
      .heat = from_best ? 0.05 : heat[number / 2 % G_N_ELEMENTS (heat)],
      .stop = must_stop,
      .stop_data = (void *) searcher->options,
    };
    rounds[i] = round;
  }
  for (guint i = 0; i < n_threads; i++) {
    shares[i] = (Share){ rounds, n, i, n_threads };
    if (i > 0)
      threads[i] = g_thread_new ("search", make_share, &shares[i]);
  }
  make_share (&shares[0]);
  for (guint i = 1; i < n_threads; i++)
    g_thread_join (threads[i]);
  for (guint i = 0; i < n; i++) {
    add_candidate (searcher->candidates, rounds[i].name, rounds[i].slot);
    searcher->searched->n_steps += rounds[i].relieve ? 0 : rounds[i].anneal.n_steps;
    searcher->searched->n_rounds++;
    g_free (rounds[i].name);
  }
}

static void
make_rounds (Searcher *searcher, int64_t start_us)
{
  const StudySearch *options = searcher->options;
  gboolean timed = options->deadline_us != 0;
  guint number = 0;

  while ((!options->n_rounds || number < options->n_rounds) && !must_stop ((void *) options)) {
    guint n = options->n_rounds ? MIN (BATCH, options->n_rounds - number) : BATCH;
    int64_t begin_us = g_get_monotonic_time ();
    int64_t now_us, batch_us, left_us;

    make_batch (searcher, number, n);
    number += n;
    now_us = g_get_monotonic_time ();
    batch_us = now_us - begin_us;
    left_us = options->deadline_us - now_us;
    if (options->progress) {
      double share = options->n_rounds ? (double) number / options->n_rounds
                                       : (double) (now_us - start_us) /
                                             (double) MAX (options->deadline_us - start_us, 1);

      options->progress (options->data, MIN (share, 1));
    }
    /* Longer rounds than before, perhaps, but a batch shall end within half of the time left. */
    if ((number / BATCH <= FIRST_BATCHES || (timed && number / BATCH % RESTARTS == 0)) &&
        (!timed || 4 * batch_us <= left_us))
      searcher->steps = MIN (2 * searcher->steps, MAX_STEPS);
    if (timed && 2 * batch_us > left_us && batch_us > 0)
      searcher->steps = MAX (1, (guint64) ((double) searcher->steps * (double) MAX (left_us, 0) /
                                           (2 * (double) batch_us)));
  }
}

gboolean
study_search (StudyCandidates *candidates, const StudySearch *options, StudySearched *searched,
              GError **error)
{
  g_autoptr (GPtrArray) starts = g_ptr_array_new_with_free_func ((GDestroyNotify) start_free);
  Searcher searcher = { .candidates = candidates,
                        .options = options,
                        .searched = searched,
                        .starts = starts,
                        .steps = MAX (LEAST_STEPS, (guint64) FIRST_STEPS *
                                                       candidates->problem->graph->n_ranks) };
  int64_t start_us = g_get_monotonic_time ();
  const StudyCandidate *plain = study_candidate (candidates, 0);
  const StudyProblem *problem = candidates->problem;
  uint32_t n_ranks = problem->graph->n_ranks;
  uint64_t n_arcs = problem->graph->first[n_ranks] + n_ranks;

  *searched = (StudySearched){ 0 };
  add_start (&searcher, plain->name, copy_slots (&searcher, plain->slot));
  for (const char *const *name = options->starts; name && *name; name++) {
    g_autoptr (TopoMapping) mapping =
        topo_mapping_new (*name, candidates->paths->machine, n_ranks, error);

    if (!mapping)
      return FALSE;
    add_start (&searcher, *name, study_placement_of (problem, mapping));
  }
  start_scotch (&searcher, n_arcs);
  if (n_arcs * problem->distance->n_nodes <= MAX_LOOKS)
    add_start (&searcher, "greedy", study_placement_greedy (problem));
  start_families (&searcher);
  make_rounds (&searcher, start_us);
  return TRUE;
}
