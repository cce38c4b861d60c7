/* exchange.h - ranks that change places: the step of every local search.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "study/search/slot_placement.h"
#include "base/random.h"

typedef struct {
  const StudyGraph *graph;
  const StudyDistance *distance;
  uint32_t per_node, n_slots;
  uint32_t *slot;    /* [rank] */
  uint32_t *node;    /* [rank] of its slot: what the inner loop reads */
  uint32_t *rank_at; /* [slot] TOPO_NONE: free */
  BaseRandom random;
} StudyExchange;

/* Writes to slot[n_ranks], which it borrows. */
StudyExchange study_exchange_new (const StudyProblem *problem, uint32_t *slot, uint64_t seed);
void study_exchange_clear (StudyExchange *search);

/* A random step: half of them go near a partner, the others anywhere.  False: it
 * would lead to the rank's own node. */
bool study_exchange_propose (StudyExchange *search, uint32_t *rank, uint32_t *slot);

/* The rank gets the slot; who is there gets the rank's. */
static inline void
study_exchange_apply (StudyExchange *search, uint32_t rank, uint32_t slot)
{
  uint32_t other = search->rank_at[slot], old = search->slot[rank];

  search->rank_at[old] = other;
  if (other != TOPO_NONE) {
    search->slot[other] = old;
    search->node[other] = old / search->per_node;
  }
  search->rank_at[slot] = rank;
  search->slot[rank] = slot;
  search->node[rank] = slot / search->per_node;
}
