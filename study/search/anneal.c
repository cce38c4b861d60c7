/* anneal.c - local search by exchanging ranks: annealing, descent, relief of the busiest links.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/search/anneal.h"

#include "sim/counters.h"
#include "base/random.h"
#include "study/search/slot_placement.h"

#include <math.h>
#include <string.h>

typedef struct {
  const StudyGraph *graph;
  const StudyDistance *distance;
  uint32_t per_node, n_slots;
  uint32_t *slot;    /* [rank] */
  uint32_t *node;    /* [rank] of its slot, for the inner loop */
  uint32_t *rank_at; /* [slot] TOPO_NONE: free */
  BaseRandom random;
} Exchange;

/* The rank gets the slot; a rank that is there gets the old slot. */
static inline void
exchange_apply (Exchange *search, uint32_t rank, uint32_t slot)
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

/* Writes to slot[n_ranks], which it borrows. */
static Exchange
exchange_new (const StudyProblem *problem, uint32_t *slot, uint64_t seed)
{
  uint32_t n_slots = study_problem_slots (problem), n_ranks = problem->graph->n_ranks;
  Exchange search = { .graph = problem->graph,
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

static void
exchange_clear (Exchange *search)
{
  g_free (search->node);
  g_free (search->rank_at);
}

/* A node near a partner of the rank, or the partner's own where nodes have several slots: few
 * other places can be better. */
static uint32_t
node_near_partner (Exchange *search, uint32_t rank)
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

/* A random step: half of them go near a partner, the others anywhere.  False: the slot is on the
 * rank's own node. */
static bool
exchange_propose (Exchange *search, uint32_t *rank, uint32_t *slot)
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

/* --- Fewer hop-bytes by exchanging ranks --- */

/* Steps between two looks at stop() and at the temperature. */
#define BLOCK_STEPS 4096u

/* The last temperature over the first one. */
#define COOLING 1e-2

/* Slots times ranks up to which the descent tries every exchange; in larger problems it tries the
 * exchanges that bring a rank near a partner. */
#define MAX_EXCHANGES (1u << 25)

/* The added cost of `rank` at node `to` while `other` stays where it is: the hops between two ranks
 * that change places remain. */
static inline int64_t
delta_of (const Exchange *search, uint32_t rank, uint32_t other, uint32_t to)
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
exchange_delta (const Exchange *search, uint32_t rank, uint32_t slot)
{
  uint32_t other = search->rank_at[slot], to = slot / search->per_node;
  int64_t delta = delta_of (search, rank, other, to);

  return other == TOPO_NONE ? delta : delta + delta_of (search, other, rank, search->node[rank]);
}

/* The average cost of a random step that is bad. */
static double
average_rise (Exchange *search)
{
  double sum = 0;
  uint32_t n = 0;

  for (uint32_t step = 0; step < BLOCK_STEPS; step++) {
    uint32_t rank, slot;
    int64_t delta;

    if (!exchange_propose (search, &rank, &slot))
      continue;
    delta = exchange_delta (search, rank, slot);
    if (delta > 0) {
      sum += (double) delta;
      n++;
    }
  }
  return n > 0 ? sum / n : 0;
}

/* Returns the change of the hop-bytes. */
static int64_t
anneal (Exchange *search, const StudyAnneal *options)
{
  double hot = options->heat * average_rise (search);
  int64_t change = 0;

  for (uint64_t done = 0; done < options->n_steps && hot > 0; done += BLOCK_STEPS) {
    uint64_t n_steps = MIN (BLOCK_STEPS, options->n_steps - done);
    double temperature = hot * pow (COOLING, (double) done / (double) options->n_steps);

    if (options->stop && options->stop (options->stop_data))
      break;
    for (uint64_t step = 0; step < n_steps; step++) {
      uint32_t rank, slot;
      int64_t delta;

      if (!exchange_propose (search, &rank, &slot))
        continue;
      delta = exchange_delta (search, rank, slot);
      if (delta <= 0 ||
          ((double) delta < 40 * temperature &&
           base_random_unit (&search->random) < exp (-(double) delta / temperature))) {
        exchange_apply (search, rank, slot);
        change += delta;
      }
    }
  }
  return change;
}

/* --- Descent --- */

typedef struct {
  uint32_t slot; /* TOPO_NONE: none is good */
  int64_t delta;
} Best;

static void
consider (const Exchange *search, uint32_t rank, uint32_t slot, Best *best)
{
  int64_t delta;

  if (slot / search->per_node == search->node[rank])
    return;
  delta = exchange_delta (search, rank, slot);
  if (delta < best->delta)
    *best = (Best){ slot, delta };
}

static void
consider_node (const Exchange *search, uint32_t rank, uint32_t node, Best *best)
{
  for (uint32_t i = 0; i < search->per_node; i++)
    consider (search, rank, node * search->per_node + i, best);
}

/* The best exchange of a rank, made when it is good. */
static bool
improve_rank (Exchange *search, uint32_t rank)
{
  bool all = (uint64_t) search->n_slots * search->graph->n_ranks <= MAX_EXCHANGES;
  Best best = { TOPO_NONE, 0 };

  for (uint32_t slot = 0; all && slot < search->n_slots; slot++)
    consider (search, rank, slot, &best);
  if (!all) {
    const StudyGraph *graph = search->graph;
    const StudyDistance *distance = search->distance;

    for (uint64_t i = graph->first[rank]; i < graph->first[rank + 1]; i++) {
      uint32_t at = search->node[graph->neighbour[i]];

      consider_node (search, rank, at, &best);
      for (uint32_t k = distance->near_first[at]; k < distance->near_first[at + 1]; k++)
        consider_node (search, rank, distance->near[k], &best);
    }
  }
  if (best.slot != TOPO_NONE)
    exchange_apply (search, rank, best.slot);
  return best.slot != TOPO_NONE;
}

void
study_anneal (const StudyProblem *problem, uint32_t *slot, const StudyAnneal *options)
{
  uint32_t n_ranks = problem->graph->n_ranks, n_good = 0;
  gsize size = n_ranks * sizeof *slot;
  g_autofree uint32_t *start = g_memdup2 (slot, size);
  Exchange search = exchange_new (problem, slot, options->seed);

  if (anneal (&search, options) > 0) {
    exchange_clear (&search);
    memcpy (slot, start, size);
    search = exchange_new (problem, slot, options->seed);
  }
  for (uint32_t rank = 0; n_good < n_ranks; rank = (rank + 1) % n_ranks) {
    if (rank % 16 == 0 && options->stop && options->stop (options->stop_data))
      break;
    n_good = improve_rank (&search, rank) ? 0 : n_good + 1;
  }
  exchange_clear (&search);
}

/* --- Less on the busiest links by exchanging ranks --- */

/* Steps between two looks at stop(). */
#define RELIEF_STEPS 256u

typedef struct {
  Exchange *search;
  const StudyGraph *graph;
  const RoutePaths *paths;
  double *load;    /* [link] bytes; whole numbers, so that nothing is lost by rounding */
  uint32_t *links; /* of one way */
  double unit;     /* bytes, so that fourth powers stay small */
} Relief;

static inline double
fourth_power (double value)
{
  return value * value * value * value;
}

/* Adds bytes to the links of a way; returns the growth of the sum of fourth powers. */
static double
add_way (Relief *relief, uint32_t from, uint32_t to, double bytes)
{
  const uint32_t *node = relief->search->node;
  double growth = 0;
  uint32_t n;

  if (bytes == 0)
    return 0;
  n = route_paths_links (relief->paths, node[from], node[to], from, to, relief->links);
  for (uint32_t i = 0; i < n; i++) {
    double *load = &relief->load[relief->links[i]];

    growth -= fourth_power (*load / relief->unit);
    *load += bytes;
    growth += fourth_power (*load / relief->unit);
  }
  return growth;
}

/* Adds (sign 1) or subtracts (-1) the messages of a rank, except to and from `other`. */
static double
add_rank (Relief *relief, uint32_t rank, uint32_t other, double sign)
{
  const StudyGraph *graph = relief->graph;
  double growth = 0;

  for (uint64_t i = graph->first[rank]; i < graph->first[rank + 1]; i++) {
    uint32_t neighbour = graph->neighbour[i];

    if (neighbour == other)
      continue;
    growth += add_way (relief, rank, neighbour, sign * (double) graph->sent[i]);
    growth += add_way (relief, neighbour, rank, sign * (double) graph->received[i]);
  }
  return growth;
}

static double
add_both (Relief *relief, uint32_t rank, uint32_t other, double sign)
{
  double growth = add_rank (relief, rank, TOPO_NONE, sign);

  return other == TOPO_NONE ? growth : growth + add_rank (relief, other, rank, sign);
}

void
study_relieve (const StudyProblem *problem, const RoutePaths *paths, uint32_t *slot,
               const StudyAnneal *options)
{
  const TopoMachine *machine = paths->machine;
  const StudyGraph *graph = problem->graph;
  uint32_t n_links = machine->fabric
                         ? machine->fabric->n_ports
                         : topo_shape_nodes (&machine->shape) * topo_shape_ports (&machine->shape);
  uint64_t n_arcs = graph->first[graph->n_ranks];
  Exchange search = exchange_new (problem, slot, options->seed);
  Relief relief = { .search = &search,
                    .graph = graph,
                    .paths = paths,
                    .load = g_new0 (double, n_links),
                    .links = g_new (uint32_t, MAX (paths->longest_links, 1)) };
  double sum = 0;

  /* All messages, on their links. */
  for (uint64_t i = 0; i < n_arcs; i++)
    sum += (double) graph->sent[i];
  relief.unit = sum > 0 ? sum / (double) n_arcs : 1;
  for (uint32_t rank = 0; rank < graph->n_ranks; rank++)
    for (uint64_t i = graph->first[rank]; i < graph->first[rank + 1]; i++)
      add_way (&relief, rank, graph->neighbour[i], (double) graph->sent[i]);
  for (uint64_t step = 0; step < options->n_steps; step++) {
    uint32_t rank, to, other, old;
    double growth;

    if (step % RELIEF_STEPS == 0 && options->stop && options->stop (options->stop_data))
      break;
    if (!exchange_propose (&search, &rank, &to))
      continue;
    /* The exchange is made, and taken back when it does no good. */
    other = search.rank_at[to];
    old = search.slot[rank];
    growth = add_both (&relief, rank, other, -1);
    exchange_apply (&search, rank, to);
    growth += add_both (&relief, rank, other, 1);
    if (growth >= 0) {
      add_both (&relief, rank, other, -1);
      exchange_apply (&search, rank, old);
      add_both (&relief, rank, other, 1);
    }
  }
  g_free (relief.load);
  g_free (relief.links);
  exchange_clear (&search);
}
