/* relieve.c - less on the busiest links by exchanging ranks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/search/relieve.h"

#include "sim/counters.h"
#include "study/search/exchange.h"

/* Steps between two looks at stop(). */
#define BLOCK_STEPS 256u

typedef struct {
  StudyExchange *search;
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

/* Adds bytes to the links of a way; returns by how much the sum of powers grows. */
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

/* Adds (sign 1) or takes away (-1) what a rank sends and receives, except to and from
 * `other`. */
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

/* Makes an exchange and takes it back when it does no good. */
static void
try_step (Relief *relief, uint32_t rank, uint32_t slot)
{
  StudyExchange *search = relief->search;
  uint32_t other = search->rank_at[slot], old = search->slot[rank];
  double growth = add_both (relief, rank, other, -1);

  study_exchange_apply (search, rank, slot);
  growth += add_both (relief, rank, other, 1);
  if (growth < 0)
    return;
  add_both (relief, rank, other, -1);
  study_exchange_apply (search, rank, old);
  add_both (relief, rank, other, 1);
}

/* All that is sent, on its links. */
static void
load_all (Relief *relief)
{
  const StudyGraph *graph = relief->graph;
  double sum = 0;
  uint64_t n_arcs = graph->first[graph->n_ranks];

  for (uint64_t i = 0; i < n_arcs; i++)
    sum += (double) graph->sent[i];
  relief->unit = sum > 0 ? sum / (double) n_arcs : 1;
  for (uint32_t rank = 0; rank < graph->n_ranks; rank++)
    for (uint64_t i = graph->first[rank]; i < graph->first[rank + 1]; i++)
      add_way (relief, rank, graph->neighbour[i], (double) graph->sent[i]);
}

static uint32_t
count_links (const RoutePaths *paths)
{
  const TopoMachine *machine = paths->machine;

  return machine->fabric ? machine->fabric->n_ports
                         : topo_shape_nodes (&machine->shape) * topo_shape_ports (&machine->shape);
}

void
study_relieve (const StudyProblem *problem, const RoutePaths *paths, uint32_t *slot,
               const StudyAnneal *options)
{
  StudyExchange search = study_exchange_new (problem, slot, options->seed);
  Relief relief = { .search = &search,
                    .graph = problem->graph,
                    .paths = paths,
                    .load = g_new0 (double, count_links (paths)),
                    .links = g_new (uint32_t, MAX (paths->longest_links, 1)) };

  load_all (&relief);
  for (uint64_t step = 0; step < options->n_steps; step++) {
    uint32_t rank, to;

    if (step % BLOCK_STEPS == 0 && options->stop && options->stop (options->stop_data))
      break;
    if (study_exchange_propose (&search, &rank, &to))
      try_step (&relief, rank, to);
  }
  g_free (relief.load);
  g_free (relief.links);
  study_exchange_clear (&search);
}
