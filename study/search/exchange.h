/* exchange.h - ranks on slots that change places, and the random choice of who does.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The loops that try exchanges run millions of times a second: what they touch is
 * flat, and they draw random numbers from a block that is made ahead of them, which
 * needs no number to wait for the one before. */
#pragma once

#include "base/random.h"
#include "study/search/slot_placement.h"

#include <string.h>

/* --- Random numbers ahead of their use --- */

#define STUDY_DRAWS_BLOCK 1024u

/* No proposal and its decision use more. */
#define STUDY_DRAWS_LOOK 6u

typedef struct {
  BaseRandom random; /* of the next block */
  uint32_t n_taken;
  uint64_t number[STUDY_DRAWS_BLOCK];
} StudyDraws;

/* The numbers of base_random_next() from the seed on. */
void study_draws_init (StudyDraws *draws, uint64_t seed);
void study_draws_refill (StudyDraws *draws);

/* The next STUDY_DRAWS_LOOK numbers, which stay until some of them are taken. */
static inline const uint64_t *
study_draws_look (StudyDraws *draws)
{
  if (draws->n_taken > STUDY_DRAWS_BLOCK - STUDY_DRAWS_LOOK)
    study_draws_refill (draws);
  return &draws->number[draws->n_taken];
}

static inline void
study_draws_take (StudyDraws *draws, uint32_t n)
{
  draws->n_taken += n;
}

/* As base_random_below_32() makes it of a number. */
static inline uint32_t
study_draw_below (uint64_t number, uint32_t n)
{
  return (uint32_t) (((number >> 32) * n) >> 32);
}

/* As base_random_unit() makes it of a number. */
static inline double
study_draw_unit (uint64_t number)
{
  return (double) (number >> 11) * 0x1p-53;
}

/* --- Places --- */

typedef struct {
  const StudyGraph *graph;
  const StudyDistance *distance;
  uint32_t n_ranks, n_slots, per_node;
  uint32_t *slot;    /* [rank], the caller's */
  uint32_t *node;    /* [rank] of its slot */
  uint32_t *rank_at; /* [slot] n_ranks: free */
  uint32_t *node_of; /* [slot] */
  uint32_t *partner; /* of the graph, with room to read one behind the last */

  /* The nodes where a partner of a rank at the node would like it: those near the node and, where
   * nodes have several slots, the node itself. */
  uint32_t *near_first; /* [n_nodes + 1] of near[] */
  uint32_t *near;
} StudyExchange;

/* Borrows the problem and slot[n_ranks], to which it writes. */
void study_exchange_init (StudyExchange *exchange, const StudyProblem *problem, uint32_t *slot);
void study_exchange_clear (StudyExchange *exchange);

/* Which rank to move and where to; `node` is that of the slot. */
typedef struct {
  uint32_t rank, slot, node;
  uint32_t n_draws; /* numbers that it took */
} StudyProposal;

/* A random step: half of them go near a partner, where few places are bad, the others anywhere.
 * The node may be that of the rank, which makes it none.  Both kinds are computed and one is chosen
 * by a mask: half of all branches between them would be mispredicted.  A rank without partners draws no
 * number for that choice.  There is more than one slot. */
static inline StudyProposal
study_exchange_propose (const StudyExchange *exchange, const uint64_t *number)
{
  const uint64_t *first = exchange->graph->first;
  uint32_t per_node = exchange->per_node;
  uint32_t rank = study_draw_below (number[0], exchange->n_ranks);
  uint32_t degree = (uint32_t) (first[rank + 1] - first[rank]);
  uint32_t silent = degree == 0, mask = 0 - ((uint32_t) (number[1] & 1) | silent);
  uint32_t any_slot = study_draw_below (number[2 - silent], exchange->n_slots);
  uint32_t partner = exchange->partner[first[rank] + study_draw_below (number[2], degree)];
  uint32_t first_near = exchange->near_first[exchange->node[partner]];
  uint32_t n_near = exchange->near_first[exchange->node[partner] + 1] - first_near;
  uint32_t near = exchange->near[first_near + study_draw_below (number[3], n_near)];
  uint32_t near_slot = near * per_node + study_draw_below (number[4], per_node);

  return (StudyProposal){ .rank = rank,
                          .slot = near_slot ^ ((near_slot ^ any_slot) & mask),
                          .node = near ^ ((near ^ exchange->node_of[any_slot]) & mask),
                          .n_draws = 4 + (per_node > 1) - ((1 + (per_node > 1) + silent) & mask) };
}

/* The rank gets the slot; a rank that is there gets the old slot. */
static inline void
study_exchange_apply (StudyExchange *exchange, uint32_t rank, uint32_t slot)
{
  uint32_t other = exchange->rank_at[slot], old = exchange->slot[rank];

  exchange->rank_at[old] = other;
  if (other != exchange->n_ranks) {
    exchange->slot[other] = old;
    exchange->node[other] = exchange->node_of[old];
  }
  exchange->rank_at[slot] = rank;
  exchange->slot[rank] = slot;
  exchange->node[rank] = exchange->node_of[slot];
}
