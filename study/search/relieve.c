/* relieve.c - less on the busiest links by exchanging ranks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/search/anneal.h"

#include "study/search/exchange.h"

#include <float.h>
#include <math.h>

/* --- Ways that are looked up --- */

/* Links and entries of tables at most; larger machines follow each way hop by hop. */
#define MAX_WAY_LINKS (1u << 24)

/* On a torus a way is a run along each dimension, in the order of the routing; where both
 * directions are equally long, the parity of the source's coordinates decides for all runs. */
typedef struct {
  const RouteTorus *torus; /* NULL: there is no table */
  uint32_t n_nodes, width; /* entries of a node: its runs to all coordinates of all dimensions */
  uint32_t *first;         /* [(odd * n_nodes + node) * width + entry] of link[], and an end */
  uint32_t *link;
  bool *odd;       /* [node] */
  uint16_t *entry; /* [node * TOPO_MAX_DIMENSIONS + slot of the order] */
  uint32_t *part;  /* likewise: what the coordinate adds to the number of the node */
} Runs;

/* On a fabric where each node has one rail all ways to a destination are the same from a switch
 * on.  They are followed when they are first needed. */
typedef struct {
  uint32_t longest;      /* links of a tail at most */
  uint32_t *port;        /* [node] the link that its ways begin with; NULL: there is no table */
  uint32_t *first;       /* [node] the tail of its first switch to destination 0 */
  uint32_t *destination; /* [node] */
  uint16_t *n_links;     /* [tail] of ways that end with it, with the link before it; 0: no way;
                           * UNKNOWN */
  uint32_t *link;        /* [tail * longest] */
} Tails;

#define UNKNOWN UINT16_MAX

/* Links that are copied at once; most runs are shorter. */
#define COPIED 4u

typedef struct {
  const RoutePaths *paths;
  Runs runs;
  Tails tails;
} Ways;

/* The links of a run; returns how many. */
static uint32_t
run_links (const TopoShape *shape, uint32_t node, uint32_t dimension, uint32_t there, bool odd,
           uint32_t *links)
{
  TopoCoordinates from = topo_shape_coordinates (shape, node), to = { { 0 } };
  uint32_t size = shape->size[dimension], at = from.at[dimension], stride = 1, n = 0;
  uint32_t other = dimension == 0 ? 1 : 0;
  bool plus;

  /* Of the other coordinates the direction depends on the parity alone. */
  for (uint32_t each = 0; each < shape->n_dimensions; each++)
    if (each != dimension)
      from.at[each] = 0;
  if (shape->n_dimensions > 1)
    from.at[other] = (uint16_t) ((at + odd) % 2);
  to.at[dimension] = (uint16_t) there;
  for (uint32_t faster = dimension + 1; faster < shape->n_dimensions; faster++)
    stride *= shape->size[faster];
  plus = route_torus_goes_plus (shape, from, to, dimension);
  node -= at * stride;
  for (; at != there; at = (plus ? at + 1 : at + size - 1) % size)
    links[n++] = (node + at * stride) * topo_shape_ports (shape) + 2 * dimension + plus;
  return n;
}

static void
runs_init (Runs *runs, const RoutePaths *paths)
{
  const TopoShape *shape = &paths->torus.shape;
  uint32_t n_nodes = topo_shape_nodes (shape), width = 0, n = 0;
  uint64_t n_links = 0;
  gsize n_entries;

  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++) {
    width += shape->size[dimension];
    n_links += 2ull * n_nodes * shape->size[dimension] * shape->size[dimension];
  }
  if (n_links > MAX_WAY_LINKS)
    return;
  n_entries = 2 * (gsize) n_nodes * width;
  *runs = (Runs){ .torus = &paths->torus,
                  .n_nodes = n_nodes,
                  .width = width,
                  .first = g_new (uint32_t, n_entries + 1),
                  .link = g_new0 (uint32_t, n_links + COPIED),
                  .odd = g_new (bool, n_nodes),
                  .entry = g_new0 (uint16_t, (gsize) n_nodes * TOPO_MAX_DIMENSIONS),
                  .part = g_new0 (uint32_t, (gsize) n_nodes * TOPO_MAX_DIMENSIONS) };
  n_entries = 0;
  for (uint32_t odd = 0; odd < 2; odd++)
    for (uint32_t node = 0; node < n_nodes; node++)
      for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++)
        for (uint32_t there = 0; there < shape->size[dimension]; there++) {
          runs->first[n_entries++] = n;
          n += run_links (shape, node, dimension, there, odd, &runs->link[n]);
        }
  runs->first[n_entries] = n;
  for (uint32_t node = 0; node < n_nodes; node++) {
    TopoCoordinates at = topo_shape_coordinates (shape, node);
    uint32_t sum = 0;

    for (uint32_t slot = 0; slot < shape->n_dimensions; slot++) {
      uint32_t dimension = paths->torus.order[slot], stride = 1, first = 0;

      for (uint32_t faster = dimension + 1; faster < shape->n_dimensions; faster++)
        stride *= shape->size[faster];
      for (uint32_t before = 0; before < dimension; before++)
        first += shape->size[before];
      runs->entry[(gsize) node * TOPO_MAX_DIMENSIONS + slot] =
          (uint16_t) (first + at.at[dimension]);
      runs->part[(gsize) node * TOPO_MAX_DIMENSIONS + slot] = at.at[dimension] * stride;
      sum += at.at[dimension];
    }
    runs->odd[node] = sum % 2;
  }
}

/* The runs of a way, by their numbers in first[]; returns how many. */
static inline uint32_t
runs_of (const Runs *runs, uint32_t from, uint32_t to, size_t run[TOPO_MAX_DIMENSIONS])
{
  const uint16_t *entry = &runs->entry[(size_t) to * TOPO_MAX_DIMENSIONS];
  const uint32_t *old = &runs->part[(size_t) from * TOPO_MAX_DIMENSIONS];
  const uint32_t *new = &runs->part[(size_t) to * TOPO_MAX_DIMENSIONS];
  uint32_t n_dimensions = runs->torus->shape.n_dimensions;
  uint32_t node = from + (runs->odd[from] ? runs->n_nodes : 0);

  for (uint32_t slot = 0; slot < n_dimensions; slot++) {
    run[slot] = (size_t) node * runs->width + entry[slot];
    node += new[slot] - old[slot];
  }
  return n_dimensions;
}

/* Copies a few links more than there are, since a loop that ends after one link or two is mispredicted
 * half of the time. */
static inline uint32_t
runs_links (const Runs *runs, uint32_t from, uint32_t to, uint32_t *links)
{
  size_t run[TOPO_MAX_DIMENSIONS];
  uint32_t n_runs = runs_of (runs, from, to, run), n = 0;

  for (uint32_t i = 0; i < n_runs; i++) {
    const uint32_t *link = &runs->link[runs->first[run[i]]];
    uint32_t n_links = runs->first[run[i] + 1] - runs->first[run[i]];

    memcpy (&links[n], link, COPIED * sizeof *links);
    if (n_links > COPIED)
      memcpy (&links[n + COPIED], &link[COPIED], (n_links - COPIED) * sizeof *links);
    n += n_links;
  }
  return n;
}

static void
tails_init (Tails *tails, const RoutePaths *paths)
{
  const RouteForwarding *tables = paths->tables;
  uint32_t n_nodes = topo_shape_nodes (&paths->machine->shape);
  gsize n_tails = (gsize) tables->n_switches * tables->n_destinations;

  for (uint32_t node = 0; node < n_nodes; node++)
    if (paths->first_rail[node + 1] - paths->first_rail[node] != 1 ||
        route_forwarding_behind (
            tables, tables->destination_port[paths->rail[paths->first_rail[node]]]) == TOPO_NONE)
      return;
  if (n_tails * (paths->longest_links + COPIED) > MAX_WAY_LINKS)
    return;
  *tails = (Tails){ .longest = paths->longest_links,
                    .port = g_new (uint32_t, n_nodes),
                    .first = g_new (uint32_t, n_nodes),
                    .destination = g_new (uint32_t, n_nodes),
                    .n_links = g_new (uint16_t, n_tails),
                    .link = g_new0 (uint32_t, n_tails * paths->longest_links + COPIED) };
  memset (tails->n_links, 0xff, n_tails * sizeof *tails->n_links);
  for (uint32_t node = 0; node < n_nodes; node++) {
    tails->destination[node] = paths->rail[paths->first_rail[node]];
    tails->port[node] = tables->destination_port[tails->destination[node]];
    tails->first[node] =
        route_forwarding_behind (tables, tails->port[node]) * tables->n_destinations;
  }
}

static inline uint32_t
tails_links (const Tails *tails, const RoutePaths *paths, uint32_t from, uint32_t to,
             uint32_t *links)
{
  size_t tail = tails->first[from] + tails->destination[to];
  uint32_t *link = &tails->link[tail * tails->longest], n = tails->n_links[tail];

  if (n == UNKNOWN) {
    n = route_paths_links (paths, from, to, 0, links);
    tails->n_links[tail] = (uint16_t) n;
    if (n > 1)
      memcpy (link, &links[1], (n - 1) * sizeof *links);
    return n;
  }
  links[0] = tails->port[from];
  memcpy (&links[1], link, COPIED * sizeof *links);
  if (n > COPIED + 1)
    memcpy (&links[COPIED + 1], &link[COPIED], (n - COPIED - 1) * sizeof *links);
  return n;
}

static void
ways_init (Ways *ways, const RoutePaths *paths)
{
  *ways = (Ways){ .paths = paths };
  if (paths->tables == NULL)
    runs_init (&ways->runs, paths);
  else
    tails_init (&ways->tails, paths);
}

static void
ways_clear (Ways *ways)
{
  g_free (ways->runs.first);
  g_free (ways->runs.link);
  g_free (ways->runs.odd);
  g_free (ways->runs.entry);
  g_free (ways->runs.part);
  g_free (ways->tails.port);
  g_free (ways->tails.first);
  g_free (ways->tails.destination);
  g_free (ways->tails.n_links);
  g_free (ways->tails.link);
}

/* As route_paths_links(), in the same order; writes up to COPIED links more. */
static inline uint32_t
ways_links (const Ways *ways, uint32_t from, uint32_t to, uint32_t from_rank, uint32_t to_rank,
            uint32_t *links)
{
  if (from == to)
    return 0;
  if (ways->runs.torus)
    return runs_links (&ways->runs, from, to, links);
  if (ways->tails.port)
    return tails_links (&ways->tails, ways->paths, from, to, links);
  return route_paths_links (ways->paths, from, to, from_rank + to_rank, links);
}

/* --- Loads of links --- */

/* Steps between two looks at stop(). */
#define RELIEF_STEPS 256u

/* Below, a sum of numbers of bytes in a double is exact. */
#define EXACT_BYTES 0x1p52

typedef struct {
  StudyExchange places;
  Ways ways;
  double *load; /* [link] bytes; whole numbers, so that nothing is lost by rounding */
  double unit;  /* bytes, so that fourth powers stay small */
  bool exact;   /* nothing is, indeed */

  /* To judge a step without making it. */
  double *price;     /* [link] slope of the fourth power of its load, per byte */
  double heaviest;   /* no load has ever been more */
  double *of_rank;   /* [rank] bytes of all its messages; that of n_ranks is 0 */
  uint32_t *links;   /* of all ways that a step takes or leaves */
  double *bytes;     /* of each of these; < 0: it leaves the link */
  uint64_t n_trials; /* steps */
  uint64_t *trial;   /* [link] the last one for which added[] is valid */
  double *added;     /* [link] bytes */
  uint32_t *touched; /* the links whose load the present one changes */
} Relief;

static inline double
fourth_power (double value)
{
  return value * value * value * value;
}

static void
set_load (Relief *relief, uint32_t link, double bytes)
{
  double units = bytes / relief->unit;

  relief->load[link] = bytes;
  relief->price[link] = 4 * units * units * units / relief->unit;
  relief->heaviest = MAX (relief->heaviest, bytes);
}

/* Adds bytes to the links of a way; returns the growth of the sum of fourth powers. */
static double
add_way (Relief *relief, uint32_t from, uint32_t to, double bytes)
{
  const uint32_t *node = relief->places.node;
  double growth = 0;
  uint32_t n;

  if (bytes == 0)
    return 0;
  n = ways_links (&relief->ways, node[from], node[to], from, to, relief->links);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t link = relief->links[i];

    growth -= fourth_power (relief->load[link] / relief->unit);
    set_load (relief, link, relief->load[link] + bytes);
    growth += fourth_power (relief->load[link] / relief->unit);
  }
  return growth;
}

/* Adds (sign 1) or subtracts (-1) the messages of a rank, except to and from `other`. */
static double
add_rank (Relief *relief, uint32_t rank, uint32_t other, double sign)
{
  const StudyGraph *graph = relief->places.graph;
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

  return other == relief->places.n_ranks ? growth : growth + add_rank (relief, other, rank, sign);
}

/* Makes the exchange, and takes it back when it does no good. */
static void
try_step (Relief *relief, uint32_t rank, uint32_t slot)
{
  uint32_t other = relief->places.rank_at[slot], old = relief->places.slot[rank];
  double growth = add_both (relief, rank, other, -1);

  study_exchange_apply (&relief->places, rank, slot);
  growth += add_both (relief, rank, other, 1);
  if (growth < 0)
    return;
  add_both (relief, rank, other, -1);
  study_exchange_apply (&relief->places, rank, old);
  add_both (relief, rank, other, 1);
}

/* --- Steps that are judged before they are made --- */

/* Nearly all steps are refused, and judged without being made.  try_step() adds terms that are rounded,
 * in an order of its own, and the sign of the sum decides.  A sum of other terms in another order has the
 * same sign unless it is as small as the rounding of either may be; then try_step() decides.
 *
 * Let S be the sum of the fourth powers of all loads that change, before and after the step.  The
 * loads first fall, then rise, so that no term and no partial sum of try_step() exceeds S.  With n
 * additions of bytes to links it has 2 n terms of some five roundings each, and adds at most 4 n
 * numbers: its error is below 14 n S DBL_EPSILON.  The sums here have fewer terms. */
static double
rounding (double n, double sum)
{
  return 64 * (n + 4) * DBL_EPSILON * sum;
}

/* A step on trial: `rank` goes from one node to another, and `other`, unless it is n_ranks, back. */
typedef struct {
  uint32_t rank, other, from, to;
} Trial;

/* The nodes of a rank that moves and of a partner. */
typedef struct {
  uint32_t here, there;
} Ends;

/* Before or after the step. */
static inline Ends
ends_of (const Relief *relief, const Trial *trial, uint32_t mover, uint32_t partner, bool after)
{
  uint32_t at = relief->places.node[partner];

  return (Ends){ (mover == trial->rank) == after ? trial->to : trial->from,
                 after && partner == trial->other ? trial->from : at };
}

/* Appends the links of a way. */
static inline uint32_t
append_way (Relief *relief, uint32_t n, uint32_t from, uint32_t to, uint32_t from_rank,
            uint32_t to_rank, double bytes)
{
  uint32_t end = n + ways_links (&relief->ways, from, to, from_rank, to_rank, &relief->links[n]);

  do {
    relief->bytes[n] = relief->bytes[n + 1] = bytes;
    relief->bytes[n + 2] = relief->bytes[n + 3] = bytes;
    n += 4;
  } while (n < end);
  return end;
}

/* Appends the links of all ways of a rank; returns their new number. */
static uint32_t
append_rank (Relief *relief, const Trial *trial, uint32_t mover, uint32_t n)
{
  const StudyGraph *graph = relief->places.graph;

  for (uint64_t i = graph->first[mover]; i < graph->first[mover + 1]; i++) {
    uint32_t partner = graph->neighbour[i];
    double sent = (double) graph->sent[i], received = (double) graph->received[i];
    Ends before = ends_of (relief, trial, mover, partner, false);
    Ends after = ends_of (relief, trial, mover, partner, true);

    if (partner == trial->rank)
      continue;
    if (sent > 0) {
      n = append_way (relief, n, before.here, before.there, mover, partner, -sent);
      n = append_way (relief, n, after.here, after.there, mover, partner, sent);
    }
    if (received > 0) {
      n = append_way (relief, n, before.there, before.here, partner, mover, -received);
      n = append_way (relief, n, after.there, after.here, partner, mover, received);
    }
  }
  return n;
}

/* Makes a step or not, as try_step() does. */
static void
judge_step (Relief *relief, const StudyProposal *proposal)
{
  StudyExchange *places = &relief->places;
  const Trial trial = { proposal->rank, places->rank_at[proposal->slot],
                        places->node[proposal->rank], proposal->node };
  uint32_t n_links, n_touched = 0;
  double per_byte = 1 / relief->unit, growth = 0, powers = 0, price, most;
  double prices[4] = { 0 }; /* four sums, since each addition waits for the one before */

  n_links = append_rank (relief, &trial, trial.rank, 0);
  if (trial.other != places->n_ranks)
    n_links = append_rank (relief, &trial, trial.other, n_links);

  /* Fourth powers are convex: their sum grows at least by its slope, which is enough to refuse half of
   * the steps, or many more.  Here S is bounded by the largest load
   * and all bytes of the two ranks. */
  for (uint32_t i = 0; i < n_links; i++)
    prices[i % 4] += relief->price[relief->links[i]] * relief->bytes[i];
  price = prices[0] + prices[1] + prices[2] + prices[3];
  most = fourth_power (
      (relief->heaviest + relief->of_rank[trial.rank] + relief->of_rank[trial.other]) /
      relief->unit);
  if (price > rounding (n_links, 2.0 * n_links * most))
    return;

  relief->n_trials++;
  for (uint32_t i = 0; i < n_links; i++) {
    uint32_t link = relief->links[i];
    bool known = relief->trial[link] == relief->n_trials;

    relief->touched[n_touched] = link;
    n_touched += !known;
    relief->trial[link] = relief->n_trials;
    relief->added[link] = (known ? relief->added[link] : 0) + relief->bytes[i];
  }
  for (uint32_t i = 0; i < n_touched; i++) {
    double load = relief->load[relief->touched[i]];
    double before = fourth_power (load * per_byte);
    double after = fourth_power ((load + relief->added[relief->touched[i]]) * per_byte);

    growth += after - before;
    powers += after + before;
  }
  if (growth > rounding (n_links, powers))
    return;
  if (growth >= -rounding (n_links, powers))
    try_step (relief, proposal->rank, proposal->slot);
  else {
    study_exchange_apply (places, proposal->rank, proposal->slot);
    for (uint32_t i = 0; i < n_touched; i++)
      set_load (relief, relief->touched[i],
                relief->load[relief->touched[i]] + relief->added[relief->touched[i]]);
  }
}

static void
relief_init (Relief *relief, const StudyProblem *problem, const RoutePaths *paths, uint32_t *slot)
{
  const TopoMachine *machine = paths->machine;
  const StudyGraph *graph = problem->graph;
  uint32_t n_links = machine->fabric
                         ? machine->fabric->n_ports
                         : topo_shape_nodes (&machine->shape) * topo_shape_ports (&machine->shape);
  uint64_t n_arcs = graph->first[graph->n_ranks], most_ways = 1, most_links;
  double sum = 0;

  for (uint32_t rank = 0; rank < graph->n_ranks; rank++)
    most_ways = MAX (most_ways, 8 * (graph->first[rank + 1] - graph->first[rank]));
  for (uint64_t i = 0; i < n_arcs; i++)
    sum += (double) graph->sent[i];
  most_links = most_ways * MAX (paths->longest_links, 1) + COPIED;
  *relief = (Relief){ .load = g_new0 (double, n_links),
                      .unit = sum > 0 ? sum / (double) n_arcs : 1,
                      .exact = sum < EXACT_BYTES,
                      .price = g_new0 (double, n_links),
                      .of_rank = g_new0 (double, graph->n_ranks + 1),
                      .links = g_new (uint32_t, most_links),
                      .bytes = g_new (double, most_links),
                      .added = g_new (double, n_links),
                      .trial = g_new0 (uint64_t, n_links),
                      .touched = g_new (uint32_t, n_links + 1) };
  study_exchange_init (&relief->places, problem, slot);
  ways_init (&relief->ways, paths);
  for (uint32_t rank = 0; rank < graph->n_ranks; rank++)
    for (uint64_t i = graph->first[rank]; i < graph->first[rank + 1]; i++) {
      relief->of_rank[rank] += (double) graph->sent[i] + (double) graph->received[i];
      add_way (relief, rank, graph->neighbour[i], (double) graph->sent[i]);
    }
}

static void
relief_clear (Relief *relief)
{
  study_exchange_clear (&relief->places);
  ways_clear (&relief->ways);
  g_free (relief->load);
  g_free (relief->price);
  g_free (relief->of_rank);
  g_free (relief->links);
  g_free (relief->bytes);
  g_free (relief->added);
  g_free (relief->trial);
  g_free (relief->touched);
}

void
study_relieve (const StudyProblem *problem, const RoutePaths *paths, uint32_t *slot,
               const StudyAnneal *options)
{
  g_autofree StudyDraws *draws = g_new (StudyDraws, 1);
  Relief relief;

  study_draws_init (draws, options->seed);
  relief_init (&relief, problem, paths, slot);
  for (uint64_t step = 0; step < options->n_steps; step++) {
    StudyProposal proposal;

    if (step % RELIEF_STEPS == 0 && options->stop && options->stop (options->stop_data))
      break;
    proposal = study_exchange_propose (&relief.places, study_draws_look (draws));
    study_draws_take (draws, proposal.n_draws);
    if (proposal.node == relief.places.node[proposal.rank])
      continue;
    if (relief.exact)
      judge_step (&relief, &proposal);
    else
      try_step (&relief, proposal.rank, proposal.slot);
  }
  relief_clear (&relief);
}
