/* anneal.c - fewer hop-bytes by exchanging ranks: annealing, descent.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/search/anneal.h"

#include "study/search/exchange.h"

#include <math.h>
#include <string.h>

/* --- Hop-bytes of every rank at every place --- */

/* The row of a rank has, for each axis of the machine and each coordinate, the weight times the hops
 * along this axis to all partners.  A step reads one entry per axis for each of its two ranks; only
 * when it is made do the rows of their partners change.  On a fabric whose nodes have several slots
 * a row goes on with an entry per node, which takes back for the partners on the node itself
 * what the axis counts for two nodes of its leaf.
 *
 * A row with the cost at each node would save the few additions, but it would be many times longer,
 * and all of it would change when a partner moves. */

/* Entries of all rows; with more, the partners of the two ranks are visited for each step. */
#define MAX_COSTS (1u << 24)

/* Rows with no more entries are updated as a whole: the number of additions is then always the
 * same, which costs less than the mispredicted branches of a number that varies. */
#define SHORT_ROW 96u

/* Of an entry of a partner's row, for a weight of 1. */
typedef struct {
  uint32_t entry;
  int32_t added;
} Change;

typedef struct {
  StudyExchange places;
  StudyAxes axes;
  uint32_t n_axes; /* 0: there are no rows, or not yet */
  bool has_nodes;  /* a row goes on with entries of nodes */
  uint32_t width;  /* entries of a row */
  int64_t *row;    /* [rank * width + entry]; those of rank n_ranks, who stands for none, are 0 */
  int64_t *here;   /* [rank] the cost at its node */

  /* [4 * rank + word] one bit for each partner, by its number modulo 256: most ranks that change
   * places are seen at once not to be partners. */
  uint64_t *known;

  /* Of the move that is being made. */
  Change *changes;
  uint32_t n_changes, n_exchanges;
  int64_t *whole; /* [entry] of short rows: all changes, for the weight of the last partner */
} Costs;

static inline const uint16_t *
place_of (const Costs *costs, uint32_t node)
{
  return &costs->axes.place[(size_t) node * TOPO_MAX_DIMENSIONS];
}

static inline int64_t
cost_on (const Costs *costs, uint32_t rank, uint32_t node, uint32_t n_axes, bool has_nodes)
{
  const int64_t *row = &costs->row[(size_t) rank * costs->width];
  const uint16_t *place = place_of (costs, node);
  int64_t sum = row[place[0]];

  for (uint32_t axis = 1; axis < n_axes; axis++)
    sum += row[place[axis]];
  if (has_nodes)
    sum += row[costs->axes.first[n_axes] + node];
  return sum;
}

static int64_t
cost_at (const Costs *costs, uint32_t rank, uint32_t node)
{
  return cost_on (costs, rank, node, costs->n_axes, costs->has_nodes);
}

/* The sum of the axes within a node. */
static inline int64_t
within (const Costs *costs, uint32_t node)
{
  const StudyAxes *axes = &costs->axes;
  uint32_t size = axes->first[1];

  return axes->within_leaf ? axes->hops[0][(size_t) place_of (costs, node)[0] * (size + 1)] : 0;
}

/* Adds what a partner of weight 1 at the node costs to entries of a row. */
static void
add_partner (const Costs *costs, uint32_t node, int64_t weight, int64_t *row)
{
  const StudyAxes *axes = &costs->axes;
  const uint16_t *place = place_of (costs, node);

  for (uint32_t axis = 0; axis < costs->n_axes; axis++) {
    uint32_t first = axes->first[axis], size = axes->first[axis + 1] - first;
    const uint16_t *hops = &axes->hops[axis][(size_t) (place[axis] - first) * size];

    for (uint32_t i = 0; i < size; i++)
      row[first + i] += weight * hops[i];
  }
  if (costs->has_nodes)
    row[axes->first[costs->n_axes] + node] -= weight * within (costs, node);
}

static void
costs_init (Costs *costs, const StudyProblem *problem, uint32_t *slot)
{
  const StudyAxes *axes = &problem->distance->axes;

  *costs = (Costs){ .axes = *axes,
                    .has_nodes = axes->within_leaf && problem->per_node > 1,
                    .width = axes->first[axes->n] };
  if (costs->has_nodes)
    costs->width += problem->distance->n_nodes;
  study_exchange_init (&costs->places, problem, slot);
}

/* Makes the rows; they are kept up to date from now on. */
static void
costs_fill (Costs *costs)
{
  const StudyExchange *places = &costs->places;
  const StudyGraph *graph = places->graph;
  uint32_t n_ranks = graph->n_ranks;

  if (costs->axes.n == 0 || (n_ranks + 1ull) * costs->width > MAX_COSTS)
    return;
  costs->n_axes = costs->axes.n;
  costs->row = g_new0 (int64_t, (n_ranks + 1ull) * costs->width);
  costs->here = g_new0 (int64_t, n_ranks + 1);
  costs->known = g_new0 (uint64_t, 4 * (gsize) n_ranks);
  costs->changes = g_new (Change, costs->width + 2);
  costs->whole = g_new0 (int64_t, costs->width);
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    for (uint64_t i = graph->first[rank]; i < graph->first[rank + 1]; i++) {
      uint32_t partner = graph->neighbour[i];

      add_partner (costs, places->node[partner], graph->weight[i],
                   &costs->row[(gsize) rank * costs->width]);
      costs->known[4 * (gsize) rank + partner / 64 % 4] |= 1ull << partner % 64;
    }
    costs->here[rank] = cost_at (costs, rank, places->node[rank]);
  }
}

static void
costs_clear (Costs *costs)
{
  study_exchange_clear (&costs->places);
  g_free (costs->row);
  g_free (costs->here);
  g_free (costs->known);
  g_free (costs->changes);
  g_free (costs->whole);
}

/* --- Steps that are tried and made --- */

/* The added cost of `rank` at node `to` while `other` stays where it is: the hops between two ranks
 * that change places remain. */
static int64_t
delta_of (const StudyExchange *places, uint32_t rank, uint32_t other, uint32_t to)
{
  const StudyGraph *graph = places->graph;
  uint32_t from = places->node[rank];
  int64_t delta = 0;

  for (uint64_t i = graph->first[rank]; i < graph->first[rank + 1]; i++) {
    uint32_t neighbour = graph->neighbour[i], at = places->node[neighbour];

    if (neighbour != other)
      delta += graph->weight[i] * ((int64_t) study_hops (places->distance, to, at) -
                                   (int64_t) study_hops (places->distance, from, at));
  }
  return delta;
}

/* The weight between two ranks; neighbours ascend. */
static int64_t
weight_between (const StudyGraph *graph, uint32_t rank, uint32_t other)
{
  const uint32_t *neighbour = &graph->neighbour[graph->first[rank]];
  uint32_t degree = (uint32_t) (graph->first[rank + 1] - graph->first[rank]), n_below = 0;

  for (uint32_t i = 0; i < degree; i++)
    n_below += neighbour[i] < other;
  return n_below < degree && neighbour[n_below] == other
             ? graph->weight[graph->first[rank] + n_below]
             : 0;
}

/* The change of the hop-bytes; one that is not below `enough` may be returned too small.  Inlined, so
 * that the loops over axes are unrolled where their number is a constant. */
static inline __attribute__ ((always_inline)) int64_t
delta_on (const Costs *costs, uint32_t rank, uint32_t slot, uint32_t to, int64_t enough,
          uint32_t n_axes, bool has_nodes)
{
  const StudyExchange *places = &costs->places;
  uint32_t other = places->rank_at[slot], from = places->node[rank];
  int64_t delta, weight;

  if (n_axes == 0) {
    delta = delta_of (places, rank, other, to);
    return other == places->n_ranks ? delta : delta + delta_of (places, other, rank, from);
  }
  /* Two partners count each other as if the other one stayed: too little, but never too much. */
  delta = cost_on (costs, rank, to, n_axes, has_nodes) - costs->here[rank] +
          cost_on (costs, other, from, n_axes, has_nodes) - costs->here[other];
  if (delta >= enough || !(costs->known[4 * (size_t) rank + other / 64 % 4] >> other % 64 & 1))
    return delta;
  /* Each was taken to have gone to the other's node, at no distance; but their hops remain. */
  weight = weight_between (places->graph, rank, other);
  delta += 2 * weight * study_hops (places->distance, from, to);
  if (!costs->has_nodes)
    delta -= weight * (within (costs, from) + within (costs, to));
  return delta;
}

static int64_t
exchange_delta (const Costs *costs, uint32_t rank, uint32_t slot, uint32_t to, int64_t enough)
{
  return delta_on (costs, rank, slot, to, enough, costs->n_axes, costs->has_nodes);
}

/* Lists the changes of a row when a partner goes from one node to another. */
static void
list_changes (Costs *costs, uint32_t from, uint32_t to)
{
  const StudyAxes *axes = &costs->axes;
  const uint16_t *old = place_of (costs, from), *new = place_of (costs, to);
  uint32_t n = 0;

  for (uint32_t axis = 0; axis < costs->n_axes; axis++) {
    uint32_t first = axes->first[axis], size = axes->first[axis + 1] - first;
    const uint16_t *before = &axes->hops[axis][(size_t) (old[axis] - first) * size];
    const uint16_t *after = &axes->hops[axis][(size_t) (new[axis] - first) * size];

    for (uint32_t i = 0; before != after && i < size; i++)
      if (before[i] != after[i])
        costs->changes[n++] = (Change){ first + i, after[i] - before[i] };
  }
  if (costs->has_nodes) {
    uint32_t first = axes->first[costs->n_axes];

    costs->changes[n++] = (Change){ first + from, (int32_t) within (costs, from) };
    costs->changes[n++] = (Change){ first + to, -(int32_t) within (costs, to) };
  }
  costs->n_changes = n;
}

/* A function of its own without aliases, so that the compiler adds several entries at a time. */
static inline void
add_whole (int64_t *restrict row, const int64_t *restrict whole, uint32_t width)
{
  for (uint32_t entry = 0; entry < width; entry++)
    row[entry] += whole[entry];
}

/* A rank has gone as changes[] say, or, with sign -1, the other way: the rows of its partners. */
static void
update_partners (Costs *costs, uint32_t rank, int64_t sign)
{
  const StudyGraph *graph = costs->places.graph;
  const Change *changes = costs->changes;
  uint32_t n_changes = costs->n_changes, width = costs->width;
  int64_t last = 0;

  for (uint64_t i = graph->first[rank]; i < graph->first[rank + 1]; i++) {
    uint32_t partner = graph->neighbour[i];
    int64_t *row = &costs->row[(size_t) partner * width], weight = sign * graph->weight[i];

    if (width > SHORT_ROW)
      for (uint32_t k = 0; k < n_changes; k++)
        row[changes[k].entry] += weight * changes[k].added;
    else {
      /* Often all messages have the same size. */
      for (uint32_t k = 0; weight != last && k < n_changes; k++)
        costs->whole[changes[k].entry] = weight * changes[k].added;
      last = weight;
      add_whole (row, costs->whole, width);
    }
    costs->here[partner] = cost_at (costs, partner, costs->places.node[partner]);
  }
  for (uint32_t k = 0; k < n_changes; k++)
    costs->whole[changes[k].entry] = 0;
}

static void
exchange_apply (Costs *costs, uint32_t rank, uint32_t slot)
{
  StudyExchange *places = &costs->places;
  uint32_t from = places->node[rank], to = places->node_of[slot], other = places->rank_at[slot];

  study_exchange_apply (places, rank, slot);
  costs->n_exchanges++;
  if (costs->n_axes == 0)
    return;
  list_changes (costs, from, to);
  update_partners (costs, rank, 1);
  if (other != places->n_ranks) {
    update_partners (costs, other, -1);
    costs->here[other] = cost_at (costs, other, from);
  }
  costs->here[rank] = cost_at (costs, rank, to);
}

/* --- Annealing --- */

/* Steps between two looks at stop() and at the temperature. */
#define BLOCK_STEPS 4096u

/* The last temperature over the first one. */
#define COOLING 1e-2

/* Steps that are worse by more temperatures are not taken, and no number is drawn for them. */
#define HOPELESS 40

/* The average cost of a random step that is bad. */
static double
average_rise (const Costs *costs, StudyDraws *draws)
{
  double sum = 0;
  uint32_t n = 0;

  for (uint32_t step = 0; step < BLOCK_STEPS; step++) {
    StudyProposal proposal = study_exchange_propose (&costs->places, study_draws_look (draws));
    int64_t delta;

    study_draws_take (draws, proposal.n_draws);
    if (proposal.node == costs->places.node[proposal.rank])
      continue;
    delta = exchange_delta (costs, proposal.rank, proposal.slot, proposal.node, G_MAXINT64);
    if (delta > 0) {
      sum += (double) delta;
      n++;
    }
  }
  return n > 0 ? sum / n : 0;
}

/* The least whole number that is not below the value when it is converted to a double. */
static int64_t
least_from (double value)
{
  int64_t least;

  if (value >= 0x1p62)
    return G_MAXINT64;
  least = (int64_t) ceil (value);
  while ((double) (least - 1) >= value)
    least--;
  return least;
}

/* As anneal_block(), with constants. */
static inline __attribute__ ((always_inline)) int64_t
make_steps (Costs *costs, StudyDraws *draws, uint64_t n_steps, double temperature, uint32_t n_axes,
            bool has_nodes)
{
  int64_t hopeless = least_from (HOPELESS * temperature), change = 0;
  double coldness = 1 / temperature;

  for (uint64_t step = 0; step < n_steps; step++) {
    const uint64_t *number = study_draws_look (draws);
    StudyProposal proposal = study_exchange_propose (&costs->places, number);
    int64_t delta =
        delta_on (costs, proposal.rank, proposal.slot, proposal.node, hopeless, n_axes, has_nodes);

    study_draws_take (draws, proposal.n_draws);
    if (delta >= hopeless || proposal.node == costs->places.node[proposal.rank])
      continue;
    if (delta > 0) {
      double x = (double) delta * coldness, chance = study_draw_unit (number[proposal.n_draws]);

      study_draws_take (draws, 1);
      /* The step is taken when chance < exp (-x).  The first terms of the series of exp (x) decide
       * nearly always that it is not: they are below exp (x), and the rounding is below 1e-9. */
      if (chance * (1 + x * (1 + x * (1. / 2 + x * (1. / 6)))) > 1 + 1e-9 ||
          chance >= exp (-(double) delta / temperature))
        continue;
    }
    exchange_apply (costs, proposal.rank, proposal.slot);
    change += delta;
  }
  return change;
}

/* Makes n_steps at one temperature; returns the change of the hop-bytes. */
static int64_t
anneal_block (Costs *costs, StudyDraws *draws, uint64_t n_steps, double temperature)
{
  if (costs->has_nodes && costs->n_axes == 1)
    return make_steps (costs, draws, n_steps, temperature, 1, true);
  if (!costs->has_nodes)
    switch (costs->n_axes) {
    case 1: return make_steps (costs, draws, n_steps, temperature, 1, false);
    case 2: return make_steps (costs, draws, n_steps, temperature, 2, false);
    case 3: return make_steps (costs, draws, n_steps, temperature, 3, false);
    case 4: return make_steps (costs, draws, n_steps, temperature, 4, false);
    case 5: return make_steps (costs, draws, n_steps, temperature, 5, false);
    }
  return make_steps (costs, draws, n_steps, temperature, costs->n_axes, costs->has_nodes);
}

/* Rows are made when fewer than one step in so many is taken: before, they would change more often
 * than they are read. */
#define STEPS_PER_EXCHANGE 8u

/* Returns the change of the hop-bytes. */
static int64_t
anneal (Costs *costs, const StudyAnneal *options)
{
  g_autofree StudyDraws *draws = g_new (StudyDraws, 1);
  int64_t change = 0;
  double hot;

  study_draws_init (draws, options->seed);
  hot = options->heat * average_rise (costs, draws);
  for (uint64_t done = 0; done < options->n_steps && hot > 0; done += BLOCK_STEPS) {
    if (options->stop && options->stop (options->stop_data))
      break;
    costs->n_exchanges = 0;
    change += anneal_block (costs, draws, MIN (BLOCK_STEPS, options->n_steps - done),
                            hot * pow (COOLING, (double) done / (double) options->n_steps));
    if (costs->row == NULL && costs->n_exchanges < BLOCK_STEPS / STEPS_PER_EXCHANGE)
      costs_fill (costs);
  }
  return change;
}

/* --- Descent --- */

/* Slots times ranks up to which the descent tries every exchange; in larger problems it tries the
 * exchanges that bring a rank near a partner. */
#define MAX_EXCHANGES (1u << 25)

/* An exchange that was not good can become good only when one of its two ranks or a partner of
 * theirs has moved.  The slots of all these are appended to a list; a rank that has been tried
 * with all slots is tried again with those alone that came to the list since, unless it is itself among
 * them. */
typedef struct {
  Costs costs;
  bool all;      /* every exchange is tried */
  GArray *moved; /* (element-type uint32_t) the list of slots; begins with all of them */
  guint *length; /* [slot] of the list when the slot was last appended */
  guint *tried; /* [rank] length of the list when no exchange was good; 0: not tried; [n_ranks] 0 */
} Descent;

typedef struct {
  uint32_t slot; /* TOPO_NONE: none is good */
  int64_t delta;
} Best;

/* Of exchanges that are equally good the one that is tried first counts; where all are tried, that
 * of the first slot, whatever their order. */
static void
consider (const Descent *descent, uint32_t rank, uint32_t slot, Best *best)
{
  const Costs *costs = &descent->costs;
  const StudyExchange *places = &costs->places;
  guint length = MAX (descent->length[places->slot[rank]], descent->length[slot]);
  guint tried = descent->tried[rank];
  int64_t delta;

  /* Where every exchange is tried, the other rank may have tried this one. */
  if (descent->all)
    tried = MAX (tried, descent->tried[places->rank_at[slot]]);
  if (length <= tried || places->node_of[slot] == places->node[rank])
    return;
  delta = exchange_delta (costs, rank, slot, places->node_of[slot], best->delta + 1);
  if (delta < best->delta ||
      (descent->all && delta == best->delta && delta < 0 && slot < best->slot))
    *best = (Best){ slot, delta };
}

static void
consider_node (const Descent *descent, uint32_t rank, uint32_t node, Best *best)
{
  uint32_t per_node = descent->costs.places.per_node;

  for (uint32_t i = 0; i < per_node; i++)
    consider (descent, rank, node * per_node + i, best);
}

static void
append_moved (Descent *descent, uint32_t slot)
{
  g_array_append_val (descent->moved, slot);
  descent->length[slot] = descent->moved->len;
}

/* Makes an exchange and lists the slots that it has touched. */
static void
descend (Descent *descent, uint32_t rank, uint32_t slot)
{
  const StudyExchange *places = &descent->costs.places;
  const StudyGraph *graph = places->graph;
  uint32_t moved[] = { rank, places->rank_at[slot] };

  append_moved (descent, places->slot[rank]);
  append_moved (descent, slot);
  exchange_apply (&descent->costs, rank, slot);
  for (gsize i = 0; i < G_N_ELEMENTS (moved) && moved[i] < places->n_ranks; i++)
    for (uint64_t k = graph->first[moved[i]]; k < graph->first[moved[i] + 1]; k++)
      append_moved (descent, places->slot[graph->neighbour[k]]);
}

/* The best exchange of a rank, made when it is good. */
static bool
improve_rank (Descent *descent, uint32_t rank)
{
  const StudyExchange *places = &descent->costs.places;
  const StudyGraph *graph = places->graph;
  guint tried = descent->tried[rank], n_moved = descent->moved->len - tried;
  bool itself = descent->length[places->slot[rank]] > tried;
  Best best = { TOPO_NONE, 0 };

  if (descent->all && !itself && n_moved < places->n_slots)
    for (guint i = tried; i < descent->moved->len; i++)
      consider (descent, rank, g_array_index (descent->moved, uint32_t, i), &best);
  else if (descent->all)
    for (uint32_t slot = 0; slot < places->n_slots; slot++)
      consider (descent, rank, slot, &best);
  else
    for (uint64_t i = graph->first[rank]; i < graph->first[rank + 1]; i++) {
      const StudyDistance *distance = places->distance;
      uint32_t at = places->node[graph->neighbour[i]];

      consider_node (descent, rank, at, &best);
      for (uint32_t k = distance->near_first[at]; k < distance->near_first[at + 1]; k++)
        consider_node (descent, rank, distance->near[k], &best);
    }
  if (best.slot == TOPO_NONE)
    descent->tried[rank] = descent->moved->len;
  else
    descend (descent, rank, best.slot);
  return best.slot != TOPO_NONE;
}

void
study_anneal (const StudyProblem *problem, uint32_t *slot, const StudyAnneal *options)
{
  uint32_t n_ranks = problem->graph->n_ranks, n_slots = study_problem_slots (problem), n_good = 0;
  gsize size = n_ranks * sizeof *slot;
  g_autofree uint32_t *start = g_memdup2 (slot, size);
  Descent descent = { .all = (uint64_t) n_slots * n_ranks <= MAX_EXCHANGES,
                      .moved = g_array_new (FALSE, FALSE, sizeof (uint32_t)),
                      .length = g_new0 (guint, n_slots),
                      .tried = g_new0 (guint, n_ranks + 1) };

  costs_init (&descent.costs, problem, slot);
  if (anneal (&descent.costs, options) > 0) {
    costs_clear (&descent.costs);
    memcpy (slot, start, size);
    costs_init (&descent.costs, problem, slot);
  }
  if (descent.costs.row == NULL)
    costs_fill (&descent.costs);
  for (uint32_t i = 0; i < n_slots; i++)
    append_moved (&descent, i);
  for (uint32_t rank = 0; n_good < n_ranks; rank = (rank + 1) % n_ranks) {
    if (rank % 16 == 0 && options->stop && options->stop (options->stop_data))
      break;
    n_good = improve_rank (&descent, rank) ? 0 : n_good + 1;
  }
  costs_clear (&descent.costs);
  g_array_free (descent.moved, TRUE);
  g_free (descent.length);
  g_free (descent.tried);
}
