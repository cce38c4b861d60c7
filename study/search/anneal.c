/* anneal.c - fewer hop-bytes by exchanging ranks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/search/anneal.h"

#include "study/search/exchange.h"

#include <math.h>
#include <string.h>

/* Steps between two looks at stop() and at the temperature. */
#define BLOCK_STEPS 4096u

/* The last temperature over the first one. */
#define COOLING 1e-2

/* Slots times ranks up to which the descent looks at every exchange; of larger
 * problems at those that bring a rank near to a partner. */
#define MAX_EXCHANGES (1u << 25)

/* What it costs more that `rank` is at node `to`, `other` staying where it is: the
 * hops between two ranks that change places remain. */
static inline int64_t
delta_of (const StudyExchange *search, uint32_t rank, uint32_t other, uint32_t to)
{
  const StudyGraph *graph = search->graph;
  uint32_t from = search->node[rank];
  int64_t delta = 0;

  for (uint64_t i = graph->first[rank]; i < graph->first[rank + 1]; i++) {
    uint32_t neighbour = graph->neighbour[i], at = search->node[neighbour];

    if (neighbour != other)
      delta += graph->weight[i] * ((int64_t) study_hops (search->distance, to, at) -
                                   (int64_t) study_hops (search->distance, from, at));
  }
  return delta;
}

static inline int64_t
exchange_delta (const StudyExchange *search, uint32_t rank, uint32_t slot)
{
  uint32_t other = search->rank_at[slot], to = slot / search->per_node;
  int64_t delta = delta_of (search, rank, other, to);

  return other == TOPO_NONE ? delta : delta + delta_of (search, other, rank, search->node[rank]);
}

/* What a random bad step costs on average. */
static double
average_rise (StudyExchange *search)
{
  double sum = 0;
  uint32_t n = 0;

  for (uint32_t step = 0; step < BLOCK_STEPS; step++) {
    uint32_t rank, slot;
    int64_t delta;

    if (!study_exchange_propose (search, &rank, &slot))
      continue;
    delta = exchange_delta (search, rank, slot);
    if (delta > 0) {
      sum += (double) delta;
      n++;
    }
  }
  return n > 0 ? sum / n : 0;
}

/* Returns by how much the hop-bytes changed. */
static int64_t
anneal_block (StudyExchange *search, uint32_t n_steps, double temperature)
{
  int64_t change = 0;

  for (uint32_t step = 0; step < n_steps; step++) {
    uint32_t rank, slot;
    int64_t delta;

    if (!study_exchange_propose (search, &rank, &slot))
      continue;
    delta = exchange_delta (search, rank, slot);
    if (delta <= 0 || ((double) delta < 40 * temperature &&
                       base_random_unit (&search->random) < exp (-(double) delta / temperature))) {
      study_exchange_apply (search, rank, slot);
      change += delta;
    }
  }
  return change;
}

/* Returns by how much the hop-bytes changed. */
static int64_t
anneal (StudyExchange *search, const StudyAnneal *options)
{
  double hot = options->heat * average_rise (search);
  int64_t change = 0;

  for (uint64_t done = 0; done < options->n_steps && hot > 0; done += BLOCK_STEPS) {
    double share = (double) done / (double) options->n_steps;

    if (options->stop && options->stop (options->stop_data))
      break;
    change += anneal_block (search, (uint32_t) MIN (BLOCK_STEPS, options->n_steps - done),
                            hot * pow (COOLING, share));
  }
  return change;
}

/* --- Descent --- */

typedef struct {
  uint32_t slot; /* TOPO_NONE: none is good */
  int64_t delta;
} Best;

static void
consider (const StudyExchange *search, uint32_t rank, uint32_t slot, Best *best)
{
  int64_t delta;

  if (slot / search->per_node == search->node[rank])
    return;
  delta = exchange_delta (search, rank, slot);
  if (delta < best->delta)
    *best = (Best){ slot, delta };
}

static void
consider_node (const StudyExchange *search, uint32_t rank, uint32_t node, Best *best)
{
  for (uint32_t i = 0; i < search->per_node; i++)
    consider (search, rank, node * search->per_node + i, best);
}

static void
consider_near_partners (const StudyExchange *search, uint32_t rank, Best *best)
{
  const StudyGraph *graph = search->graph;
  const StudyDistance *distance = search->distance;

  for (uint64_t i = graph->first[rank]; i < graph->first[rank + 1]; i++) {
    uint32_t at = search->node[graph->neighbour[i]];

    consider_node (search, rank, at, best);
    for (uint32_t k = distance->near_first[at]; k < distance->near_first[at + 1]; k++)
      consider_node (search, rank, distance->near[k], best);
  }
}

/* The best exchange of a rank, made when it is good. */
static bool
improve_rank (StudyExchange *search, uint32_t rank)
{
  bool all = (uint64_t) search->n_slots * search->graph->n_ranks <= MAX_EXCHANGES;
  Best best = { TOPO_NONE, 0 };

  for (uint32_t slot = 0; all && slot < search->n_slots; slot++)
    consider (search, rank, slot, &best);
  if (!all)
    consider_near_partners (search, rank, &best);
  if (best.slot != TOPO_NONE)
    study_exchange_apply (search, rank, best.slot);
  return best.slot != TOPO_NONE;
}

static void
descend (StudyExchange *search, gboolean (*stop) (void *data), void *stop_data)
{
  uint32_t n_ranks = search->graph->n_ranks, n_good = 0;

  for (uint32_t rank = 0; n_good < n_ranks; rank = (rank + 1) % n_ranks) {
    if (rank % 16 == 0 && stop && stop (stop_data))
      return;
    n_good = improve_rank (search, rank) ? 0 : n_good + 1;
  }
}

void
study_descend (const StudyProblem *problem, uint32_t *slot, gboolean (*stop) (void *data),
               void *stop_data)
{
  StudyExchange search = study_exchange_new (problem, slot, 0);

  descend (&search, stop, stop_data);
  study_exchange_clear (&search);
}

void
study_anneal (const StudyProblem *problem, uint32_t *slot, const StudyAnneal *options)
{
  gsize size = problem->graph->n_ranks * sizeof *slot;
  g_autofree uint32_t *start = g_memdup2 (slot, size);
  StudyExchange search = study_exchange_new (problem, slot, options->seed);

  if (anneal (&search, options) > 0) {
    study_exchange_clear (&search);
    memcpy (slot, start, size);
    search = study_exchange_new (problem, slot, options->seed);
  }
  descend (&search, options->stop, options->stop_data);
  study_exchange_clear (&search);
}
