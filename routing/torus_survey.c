/* torus_survey.c - loads, rings and credit loops of the deterministic routes of all pairs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "routing/torus_survey.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* Work in progress; arrays are by link number. */
typedef struct {
  const RouteTorus *route;
  const TopoShape *shape;
  uint32_t n_nodes, n_ports, longest;
  uint64_t *load;
  uint16_t *next_ports; /* bit p: some route goes on through port p of the next node */
  RouteSurvey *survey;
} Work;

/* The links of one direction that lie on one line have one row number. */
static uint32_t
row_of_link (const Work *work, uint32_t link)
{
  uint32_t port = link % work->n_ports;
  TopoCoordinates start = topo_shape_coordinates (work->shape, link / work->n_ports);

  start.at[port / 2] = 0;
  return topo_shape_node (work->shape, start) * work->n_ports + port;
}

/* A link of one row waits for a link of another row. */
typedef struct {
  uint32_t row, next_row;
} Dependency;

/* Removes rows without a dependency in or out until all that remain have both; returns
 * their number.  Routes that finish dimension by dimension need one round per dimension. */
static uint32_t
rows_on_loops (const Work *work)
{
  uint32_t n = work->n_nodes * work->n_ports, n_alive, n_before = 0;
  g_autoptr (GArray) dependencies = g_array_new (FALSE, FALSE, sizeof (Dependency));
  g_autofree uint8_t *alive = g_new0 (uint8_t, n);
  g_autofree uint32_t *in = g_new0 (uint32_t, n), *out = g_new0 (uint32_t, n);

  for (uint32_t link = 0; link < n; link++) {
    uint32_t port = link % work->n_ports, node;

    if (!(work->next_ports[link] & ~(1u << port)))
      continue;
    node = topo_shape_neighbour (work->shape, link / work->n_ports, port);
    for (uint32_t next = 0; next < work->n_ports; next++) {
      Dependency dependency;

      if (next == port || !(work->next_ports[link] & (1u << next)))
        continue;
      dependency.row = row_of_link (work, link);
      dependency.next_row = row_of_link (work, node * work->n_ports + next);
      alive[dependency.row] = alive[dependency.next_row] = 1;
      g_array_append_val (dependencies, dependency);
    }
  }
  for (uint32_t row = 0; row < n; row++)
    n_before += alive[row];
  for (;; n_before = n_alive) {
    n_alive = 0;
    memset (in, 0, n * sizeof *in);
    memset (out, 0, n * sizeof *out);
    for (guint at = 0; at < dependencies->len; at++) {
      Dependency dependency = g_array_index (dependencies, Dependency, at);

      if (alive[dependency.row] && alive[dependency.next_row]) {
        out[dependency.row]++;
        in[dependency.next_row]++;
      }
    }
    for (uint32_t row = 0; row < n; row++)
      n_alive += alive[row] = alive[row] && in[row] > 0 && out[row] > 0;
    if (n_alive == n_before)
      return n_alive;
  }
}

/* Walks the route of each pair. */
static void
survey_every_pair (Work *work)
{
  RouteSurvey *survey = work->survey;
  uint32_t n_ports = work->n_ports;
  g_autofree uint32_t *links = g_new (uint32_t, work->longest + 1);

  for (uint32_t from = 0; from < work->n_nodes; from++)
    for (uint32_t to = 0; to < work->n_nodes; to++) {
      uint32_t node = from, n_links, i = 0;

      if (from == to)
        continue;
      n_links =
          route_torus_path (work->route, from, route_torus_way (work->route, from, to), links);
      for (; i < n_links && node != TOPO_NONE && links[i] / n_ports == node; i++) {
        work->load[links[i]]++;
        if (i > 0)
          work->next_ports[links[i - 1]] |= (uint16_t) (1u << (links[i] % n_ports));
        node = topo_shape_neighbour (work->shape, node, links[i] % n_ports);
      }
      survey->pairs_by_hops[n_links] += i == n_links;
      survey->unreachable += i < n_links || node != to;
    }
  /* A ring closes when each of its links waits for the next link of the same direction. */
  for (uint32_t first = 0; first < work->n_nodes * n_ports; first++) {
    uint32_t port = first % n_ports, link = first;

    if (row_of_link (work, first) != first)
      continue;
    do {
      uint32_t node = topo_shape_neighbour (work->shape, link / n_ports, port);

      link = node != TOPO_NONE && work->next_ports[link] & (1u << port) ? node * n_ports + port
                                                                        : TOPO_NONE;
    } while (link != first && link != TOPO_NONE);
    survey->bubble_rings += link == first;
  }
  survey->credit_loops = rows_on_loops (work);
}

/* The routes within one dimension.  cover[q][sign][x]: pairs of coordinates whose
 * way passes the link at x, when the other coordinates of the source add up
 * to parity q; goes_on: some of them continue in the same direction. */
typedef struct {
  uint32_t size;
  uint64_t *cover[2][2];
  uint8_t *goes_on[2][2];
  uint64_t *pairs_by_hops;
} Line;

static void
line_survey (Line *line, const Work *work, uint32_t dimension)
{
  const TopoShape *shape = work->shape;
  g_autofree uint32_t *links = g_new (uint32_t, work->longest + 1);
  /* A dimension whose coordinate 1 makes the others odd; n_dimensions when all
   * others have one node, so that odd never occurs. */
  uint32_t odd = 0;

  while (odd < shape->n_dimensions && (odd == dimension || shape->size[odd] < 2))
    odd++;
  line->size = shape->size[dimension];
  line->pairs_by_hops = g_new0 (uint64_t, line->size);
  for (uint32_t parity = 0; parity < 2; parity++)
    for (uint32_t sign = 0; sign < 2; sign++) {
      line->cover[parity][sign] = g_new0 (uint64_t, line->size);
      line->goes_on[parity][sign] = g_new0 (uint8_t, line->size);
    }

  for (uint32_t parity = 0; parity < (odd < shape->n_dimensions ? 2u : 1u); parity++)
    for (uint32_t pair = 0; pair < line->size * line->size; pair++) {
      TopoCoordinates start = { 0 }, destination;
      uint32_t from, n_links;
      RouteWay way;

      if (parity == 1)
        start.at[odd] = 1;
      destination = start;
      start.at[dimension] = (uint16_t) (pair / line->size);
      destination.at[dimension] = (uint16_t) (pair % line->size);
      from = topo_shape_node (shape, start);
      way = route_torus_way (work->route, from, topo_shape_node (shape, destination));
      n_links = route_torus_path (work->route, from, way, links);
      line->pairs_by_hops[n_links] += parity == 0;
      for (uint32_t i = 0; i < n_links; i++) {
        uint32_t sign = links[i] % 2;
        uint32_t x = topo_shape_coordinates (shape, links[i] / work->n_ports).at[dimension];

        line->cover[parity][sign][x]++;
        line->goes_on[parity][sign][x] |= i + 1 < n_links;
      }
    }
}

/* The numbers of points of the dimensions in `mask` that have an even and an odd sum. */
static void
count_parities (const TopoShape *shape, uint32_t mask, uint64_t count[2])
{
  count[0] = 1;
  count[1] = 0;
  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++)
    if (mask & (1u << dimension)) {
      uint64_t even = (shape->size[dimension] + 1) / 2, odd = shape->size[dimension] / 2;
      uint64_t even_before = count[0];

      count[0] = even_before * even + count[1] * odd;
      count[1] = even_before * odd + count[1] * even;
    }
}

/* Dependencies between dimensions follow their order, so no loop can span
 * several rings: credit_loops stays 0. */
static void
derive_by_dimension (Work *work)
{
  const TopoShape *shape = work->shape;
  RouteSurvey *survey = work->survey;
  uint32_t done = 0, all = (1u << shape->n_dimensions) - 1;

  survey->pairs_by_hops[0] = 1;
  for (uint32_t place = 0; place < shape->n_dimensions; place++) {
    /* `done` are the dimensions finished before this one, `left` those after it. */
    uint32_t dimension = work->route->order[place], left = all & ~done & ~(1u << dimension);
    g_autofree uint64_t *before =
        g_memdup2 (survey->pairs_by_hops, (survey->max_hops + 1) * sizeof *before);
    uint64_t sources[2], others[2];
    Line line;

    line_survey (&line, work, dimension);
    count_parities (shape, done, sources);
    count_parities (shape, left, others);
    for (uint32_t node = 0; node < work->n_nodes; node++) {
      TopoCoordinates at = topo_shape_coordinates (shape, node);
      uint32_t parity = 0, x = at.at[dimension];

      for (uint32_t other = 0; other < shape->n_dimensions; other++)
        parity ^= left >> other & at.at[other] & 1u;
      for (uint32_t sign = 0; sign < 2; sign++)
        work->load[node * work->n_ports + 2 * dimension + sign] =
            (others[0] + others[1]) * (sources[0] * line.cover[parity][sign][x] +
                                       sources[1] * line.cover[parity ^ 1][sign][x]);
    }

    /* Rings of this dimension that close. */
    for (uint32_t parity = 0; parity < 2; parity++)
      for (uint32_t sign = 0; sign < 2; sign++) {
        bool closes = true;

        for (uint32_t x = 0; x < line.size; x++)
          closes &= (sources[0] && line.goes_on[parity][sign][x]) ||
                    (sources[1] && line.goes_on[parity ^ 1][sign][x]);
        if (closes)
          survey->bubble_rings += (uint32_t) (others[parity] * (sources[0] + sources[1]));
      }

    /* Pairs by hops of the dimensions so far. */
    memset (survey->pairs_by_hops, 0, (survey->max_hops + 1) * sizeof *before);
    for (uint32_t hops = 0; hops <= survey->max_hops; hops++)
      for (uint32_t more = 0; before[hops] > 0 && more < line.size; more++)
        if (line.pairs_by_hops[more] > 0)
          survey->pairs_by_hops[hops + more] += before[hops] * line.pairs_by_hops[more];
    g_free (line.pairs_by_hops);
    for (uint32_t parity = 0; parity < 2; parity++)
      for (uint32_t sign = 0; sign < 2; sign++) {
        g_free (line.cover[parity][sign]);
        g_free (line.goes_on[parity][sign]);
      }
    done |= 1u << dimension;
  }
  survey->pairs_by_hops[0] -= work->n_nodes;
}

static int
compare_loads (const void *left, const void *right)
{
  uint64_t a = *(const uint64_t *) left, b = *(const uint64_t *) right;

  return (a > b) - (a < b);
}

static void
summarize_loads (Work *work)
{
  RouteSurvey *survey = work->survey;
  g_autofree uint64_t *loads = g_new (uint64_t, work->n_nodes * work->n_ports + 1);
  uint32_t n = 0;

  for (uint32_t link = 0; link < work->n_nodes * work->n_ports; link++)
    if (topo_shape_neighbour (work->shape, link / work->n_ports, link % work->n_ports) != TOPO_NONE)
      loads[n++] = work->load[link];
  survey->links = n;
  if (n == 0)
    return;
  qsort (loads, n, sizeof *loads, compare_loads);
  survey->load_min = loads[0];
  survey->load_max = loads[n - 1];
  survey->load_median = ((double) loads[(n - 1) / 2] + (double) loads[n / 2]) / 2;
}

RouteSurvey *
route_survey_new (const RouteTorus *route, bool every_pair)
{
  RouteSurvey *survey = g_new0 (RouteSurvey, 1);
  const TopoShape *shape = &route->shape;
  uint32_t n_nodes = topo_shape_nodes (shape), n_ports = topo_shape_ports (shape);
  g_autofree uint64_t *load = g_new0 (uint64_t, n_nodes * n_ports);
  g_autofree uint16_t *next_ports = g_new0 (uint16_t, n_nodes * n_ports);
  Work work = { route, shape, n_nodes, n_ports, 0, load, next_ports, survey };

  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++)
    work.longest += shape->size[dimension] - 1;
  survey->every_pair = every_pair;
  survey->pairs = (uint64_t) n_nodes * (n_nodes - 1);
  survey->max_hops = work.longest;
  survey->pairs_by_hops = g_new0 (uint64_t, work.longest + 1);
  if (every_pair)
    survey_every_pair (&work);
  else
    derive_by_dimension (&work);
  summarize_loads (&work);
  while (survey->max_hops > 0 && survey->pairs_by_hops[survey->max_hops] == 0)
    survey->max_hops--;
  return survey;
}

void
route_survey_free (RouteSurvey *survey)
{
  if (!survey)
    return;
  g_free (survey->pairs_by_hops);
  g_free (survey);
}
