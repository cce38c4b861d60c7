/* exchange.c - ranks that change places: the step of every local search.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/search/exchange.h"

#include <string.h>

StudyExchange
study_exchange_new (const StudyProblem *problem, uint32_t *slot, uint64_t seed)
{
  uint32_t n_slots = study_problem_slots (problem), n_ranks = problem->graph->n_ranks;
  StudyExchange search = { .graph = problem->graph,
                           .distance = problem->distance,
                           .per_node = problem->per_node,
                           .n_slots = n_slots,
                           .slot = slot,
                           .node = g_new (uint32_t, n_ranks),
                           .rank_at = g_new (uint32_t, n_slots),
                           .random = { seed } };

  memset (search.rank_at, 0xff, n_slots * sizeof *search.rank_at);
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    search.node[rank] = slot[rank] / problem->per_node;
    search.rank_at[slot[rank]] = rank;
  }
  return search;
}

void
study_exchange_clear (StudyExchange *search)
{
  g_free (search->node);
  g_free (search->rank_at);
}

/* A node near to a partner of the rank, or the partner's own where nodes have
 * several slots: few other places can be better. */
static uint32_t
node_near_partner (StudyExchange *search, uint32_t rank)
{
  const StudyGraph *graph = search->graph;
  const StudyDistance *distance = search->distance;
  uint64_t first = graph->first[rank];
  uint32_t degree = (uint32_t) (graph->first[rank + 1] - first);
  uint32_t at =
      search->node[graph->neighbour[first + base_random_below_32 (&search->random, degree)]];
  uint32_t first_near = distance->near_first[at];
  uint32_t n_near = distance->near_first[at + 1] - first_near;
  uint32_t own = search->per_node > 1;
  uint32_t choice;

  if (n_near + own == 0)
    return at;
  choice = base_random_below_32 (&search->random, n_near + own);
  return choice == n_near ? at : distance->near[first_near + choice];
}

bool
study_exchange_propose (StudyExchange *search, uint32_t *rank, uint32_t *slot)
{
  const StudyGraph *graph = search->graph;

  *rank = base_random_below_32 (&search->random, graph->n_ranks);
  if (graph->first[*rank + 1] == graph->first[*rank] || (base_random_next (&search->random) & 1))
    *slot = base_random_below_32 (&search->random, search->n_slots);
  else
    *slot = node_near_partner (search, *rank) * search->per_node +
            (search->per_node > 1 ? base_random_below_32 (&search->random, search->per_node) : 0);
  return *slot / search->per_node != search->node[*rank];
}
