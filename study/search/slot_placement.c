/* slot_placement.c - ranks on slots while a mapping is searched for.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/search/slot_placement.h"

uint32_t *
study_placement_of (const StudyProblem *problem, const TopoMapping *mapping)
{
  uint32_t *slot = g_new (uint32_t, mapping->n_ranks);

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++)
    slot[rank] = mapping->node[rank] * problem->per_node + mapping->slot[rank];
  return slot;
}

TopoMapping *
study_placement_mapping (const StudyProblem *problem, const uint32_t *slot, const char *name)
{
  TopoMapping *mapping = g_new0 (TopoMapping, 1);

  mapping->name = g_strdup (name);
  mapping->n_ranks = problem->graph->n_ranks;
  mapping->node = g_new (uint32_t, mapping->n_ranks);
  mapping->slot = g_new (uint8_t, mapping->n_ranks);
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    mapping->node[rank] = slot[rank] / problem->per_node;
    mapping->slot[rank] = (uint8_t) (slot[rank] % problem->per_node);
  }
  return mapping;
}

int64_t
study_hop_bytes (const StudyProblem *problem, const uint32_t *slot)
{
  const StudyGraph *graph = problem->graph;
  int64_t twice = 0;

  for (uint32_t rank = 0; rank < graph->n_ranks; rank++)
    for (uint64_t i = graph->first[rank]; i < graph->first[rank + 1]; i++)
      twice += graph->weight[i] * study_hops (problem->distance, slot[rank] / problem->per_node,
                                              slot[graph->neighbour[i]] / problem->per_node);
  return twice / 2;
}

/* --- Filling an empty machine --- */

/* Ranks that wait, the one with most bytes to placed ranks on top. */
typedef struct {
  const StudyProblem *problem;
  int64_t *pull;   /* [rank] weight to ranks that are placed */
  uint32_t *heap;  /* of ranks */
  uint32_t *place; /* [rank] in the heap; TOPO_NONE: placed */
  uint32_t n;
  uint32_t *slot; /* [rank] the result; TOPO_NONE: not placed yet */
  uint32_t *used; /* [node] slots */
} Filling;

static bool
goes_before (const Filling *filling, uint32_t left, uint32_t right)
{
  if (filling->pull[left] != filling->pull[right])
    return filling->pull[left] > filling->pull[right];
  return left < right;
}

static void
put (Filling *filling, uint32_t place, uint32_t rank)
{
  filling->heap[place] = rank;
  filling->place[rank] = place;
}

static void
sift_up (Filling *filling, uint32_t place)
{
  uint32_t rank = filling->heap[place];

  while (place > 0 && goes_before (filling, rank, filling->heap[(place - 1) / 2])) {
    put (filling, place, filling->heap[(place - 1) / 2]);
    place = (place - 1) / 2;
  }
  put (filling, place, rank);
}

static uint32_t
take_first (Filling *filling)
{
  uint32_t first = filling->heap[0], rank = filling->heap[--filling->n], place = 0;

  filling->place[first] = TOPO_NONE;
  if (filling->n == 0)
    return first;
  for (;;) {
    uint32_t child = 2 * place + 1;

    if (child + 1 < filling->n &&
        goes_before (filling, filling->heap[child + 1], filling->heap[child]))
      child++;
    if (child >= filling->n || !goes_before (filling, filling->heap[child], rank))
      break;
    put (filling, place, filling->heap[child]);
    place = child;
  }
  put (filling, place, rank);
  return first;
}

/* Weight times hops from a node to all partners that are placed. */
static int64_t
cost_at (const Filling *filling, uint32_t rank, uint32_t node)
{
  const StudyProblem *problem = filling->problem;
  const StudyGraph *graph = problem->graph;
  int64_t cost = 0;

  for (uint64_t i = graph->first[rank]; i < graph->first[rank + 1]; i++) {
    uint32_t slot = filling->slot[graph->neighbour[i]];

    if (slot != TOPO_NONE)
      cost += graph->weight[i] * study_hops (problem->distance, node, slot / problem->per_node);
  }
  return cost;
}

static uint32_t
cheapest_node (const Filling *filling, uint32_t rank)
{
  uint32_t best = TOPO_NONE;
  int64_t best_cost = INT64_MAX;

  for (uint32_t node = 0; node < filling->problem->distance->n_nodes; node++) {
    int64_t cost;

    if (filling->used[node] == filling->problem->per_node)
      continue;
    cost = cost_at (filling, rank, node);
    if (cost < best_cost) {
      best = node;
      best_cost = cost;
    }
  }
  return best;
}

static void
settle (Filling *filling, uint32_t rank, uint32_t node)
{
  const StudyGraph *graph = filling->problem->graph;

  filling->slot[rank] = node * filling->problem->per_node + filling->used[node]++;
  for (uint64_t i = graph->first[rank]; i < graph->first[rank + 1]; i++) {
    uint32_t other = graph->neighbour[i];

    filling->pull[other] += graph->weight[i];
    if (filling->place[other] != TOPO_NONE)
      sift_up (filling, filling->place[other]);
  }
}

static Filling
filling_new (const StudyProblem *problem)
{
  uint32_t n_ranks = problem->graph->n_ranks;
  Filling filling = { .problem = problem,
                      .pull = g_new0 (int64_t, n_ranks),
                      .heap = g_new (uint32_t, n_ranks),
                      .place = g_new (uint32_t, n_ranks),
                      .slot = g_new (uint32_t, n_ranks),
                      .used = g_new0 (uint32_t, problem->distance->n_nodes) };

  for (uint32_t rank = 0; rank < n_ranks; rank++)
    filling.place[rank] = filling.slot[rank] = TOPO_NONE;
  return filling;
}

/* A rank that waits has a place in the heap. */
static void
wait_for_place (Filling *filling, uint32_t rank)
{
  put (filling, filling->n++, rank);
  sift_up (filling, filling->n - 1);
}

/* All ranks that wait; returns the slots. */
static uint32_t *
fill (Filling *filling)
{
  while (filling->n > 0) {
    uint32_t rank = take_first (filling);

    settle (filling, rank, cheapest_node (filling, rank));
  }
  g_free (filling->pull);
  g_free (filling->heap);
  g_free (filling->place);
  g_free (filling->used);
  return filling->slot;
}

uint32_t *
study_placement_greedy (const StudyProblem *problem)
{
  const StudyGraph *graph = problem->graph;
  Filling filling = filling_new (problem);
  uint32_t heaviest = 0;
  int64_t best_weight = -1;

  for (uint32_t rank = 0; rank < graph->n_ranks; rank++) {
    int64_t weight = 0;

    for (uint64_t i = graph->first[rank]; i < graph->first[rank + 1]; i++)
      weight += graph->weight[i];
    if (weight > best_weight) {
      heaviest = rank;
      best_weight = weight;
    }
  }
  filling.pull[heaviest] = 1;
  for (uint32_t rank = 0; rank < graph->n_ranks; rank++)
    wait_for_place (&filling, rank);
  return fill (&filling);
}

uint32_t *
study_placement_repair (const StudyProblem *problem, const uint32_t *node)
{
  Filling filling = filling_new (problem);

  for (uint32_t rank = 0; rank < problem->graph->n_ranks; rank++)
    if (filling.used[node[rank]] < problem->per_node)
      settle (&filling, rank, node[rank]);
    else
      wait_for_place (&filling, rank);
  return fill (&filling);
}
