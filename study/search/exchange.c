/* exchange.c - ranks on slots that change places, and the random choice of who does.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/search/exchange.h"

#include <string.h>

void
study_draws_init (StudyDraws *draws, uint64_t seed)
{
  draws->random = (BaseRandom){ seed };
  draws->n_taken = STUDY_DRAWS_BLOCK;
  study_draws_refill (draws);
}

void
study_draws_refill (StudyDraws *draws)
{
  uint32_t n_left = STUDY_DRAWS_BLOCK - draws->n_taken;

  memmove (draws->number, &draws->number[draws->n_taken], n_left * sizeof *draws->number);
  for (uint32_t i = n_left; i < STUDY_DRAWS_BLOCK; i++)
    draws->number[i] = base_random_next (&draws->random);
  draws->n_taken = 0;
}

void
study_exchange_init (StudyExchange *exchange, const StudyProblem *problem, uint32_t *slot)
{
  const StudyDistance *distance = problem->distance;
  uint32_t n_ranks = problem->graph->n_ranks, n_slots = study_problem_slots (problem), n = 0;
  uint64_t n_arcs = problem->graph->first[n_ranks];
  uint32_t n_near = distance->near_first[distance->n_nodes];

  *exchange = (StudyExchange){ .graph = problem->graph,
                               .distance = distance,
                               .n_ranks = n_ranks,
                               .n_slots = n_slots,
                               .per_node = problem->per_node,
                               .slot = slot,
                               .node = g_new (uint32_t, n_ranks),
                               .rank_at = g_new (uint32_t, n_slots),
                               .node_of = g_new (uint32_t, n_slots),
                               .partner = g_new0 (uint32_t, n_arcs + 1),
                               .near_first = g_new0 (uint32_t, distance->n_nodes + 1),
                               .near = g_new0 (uint32_t, (gsize) n_near + distance->n_nodes) };
  for (uint32_t i = 0; i < n_slots; i++) {
    exchange->rank_at[i] = n_ranks;
    exchange->node_of[i] = i / problem->per_node;
  }
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    exchange->node[rank] = exchange->node_of[slot[rank]];
    exchange->rank_at[slot[rank]] = rank;
  }
  if (n_arcs > 0)
    memcpy (exchange->partner, problem->graph->neighbour, n_arcs * sizeof *exchange->partner);
  for (uint32_t node = 0; node < distance->n_nodes; node++) {
    for (uint32_t i = distance->near_first[node]; i < distance->near_first[node + 1]; i++)
      exchange->near[n++] = distance->near[i];
    if (problem->per_node > 1)
      exchange->near[n++] = node;
    exchange->near_first[node + 1] = n;
  }
}

void
study_exchange_clear (StudyExchange *exchange)
{
  g_free (exchange->node);
  g_free (exchange->rank_at);
  g_free (exchange->node_of);
  g_free (exchange->partner);
  g_free (exchange->near_first);
  g_free (exchange->near);
}
