/* torus_survey.c - what the deterministic routes of all pairs do to the links.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

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

static uint32_t
line_length (const TopoShape *shape)
{
  uint32_t length = 0;

  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++)
    length += shape->size[dimension] - 1;
  return length;
}

/* Walks one route; false when it does not lead from link to link to `to`. */
static bool
walk (Work *work, uint32_t from, uint32_t to, uint32_t *links)
{
  RouteWay way = route_torus_way (work->route, from, to);
  uint32_t n_links = route_torus_path (work->route, from, way, links);
  uint32_t node = from;

  for (uint32_t i = 0; i < n_links; i++) {
    if (node == TOPO_NONE || links[i] / work->n_ports != node)
      return false;
    work->load[links[i]]++;
    if (i > 0)
      work->next_ports[links[i - 1]] |= (uint16_t) (1u << (links[i] % work->n_ports));
    node = topo_shape_neighbour (work->shape, node, links[i] % work->n_ports);
  }
  work->survey->pairs_by_hops[n_links]++;
  return node == to;
}

/* The links of one direction that lie on one line have one row number. */
static uint32_t
row_of_link (const Work *work, uint32_t link)
{
  uint32_t port = link % work->n_ports;
  TopoCoordinates start = topo_shape_coordinates (work->shape, link / work->n_ports);

  start.at[port / 2] = 0;
  return topo_shape_node (work->shape, start) * work->n_ports + port;
}

static bool
ring_closes (const Work *work, uint32_t first)
{
  uint32_t port = first % work->n_ports, link = first;

  do {
    uint32_t node = topo_shape_neighbour (work->shape, link / work->n_ports, port);

    if (node == TOPO_NONE || !(work->next_ports[link] & (1u << port)))
      return false;
    link = node * work->n_ports + port;
  } while (link != first);
  return true;
}

/* Calls for each dependency of a link on one of another row. */
typedef void (*DependencyFunction) (uint32_t row, uint32_t next_row, void *data);

static void
each_dependency (const Work *work, DependencyFunction function, void *data)
{
  for (uint32_t link = 0; link < work->n_nodes * work->n_ports; link++) {
    uint32_t port = link % work->n_ports, node;

    if (!(work->next_ports[link] & ~(1u << port)))
      continue;
    node = topo_shape_neighbour (work->shape, link / work->n_ports, port);
    for (uint32_t next = 0; next < work->n_ports; next++)
      if (next != port && work->next_ports[link] & (1u << next))
        function (row_of_link (work, link), row_of_link (work, node * work->n_ports + next), data);
  }
}

typedef struct {
  uint8_t *alive;     /* by row */
  uint32_t *in, *out; /* dependencies among rows alive */
} Rows;

static void
count_dependency (uint32_t row, uint32_t next_row, void *data)
{
  Rows *rows = data;

  if (rows->alive[row] && rows->alive[next_row]) {
    rows->out[row]++;
    rows->in[next_row]++;
  }
}

static void
revive (uint32_t row, uint32_t next_row, void *data)
{
  Rows *rows = data;

  rows->alive[row] = rows->alive[next_row] = 1;
}

/* Takes away rows that nothing waits for or that wait for nothing until none
 * is left of the kind; returns how many rows remain.  Routes that finish
 * dimension by dimension need one round per dimension. */
static uint32_t
rows_on_loops (const Work *work)
{
  uint32_t n = work->n_nodes * work->n_ports, n_alive, n_before = 0;
  g_autofree uint8_t *alive = g_new0 (uint8_t, n);
  g_autofree uint32_t *in = g_new0 (uint32_t, n), *out = g_new0 (uint32_t, n);
  Rows rows = { alive, in, out };

  each_dependency (work, revive, &rows);
  for (uint32_t row = 0; row < n; row++)
    n_before += alive[row];
  for (;; n_before = n_alive) {
    n_alive = 0;
    memset (in, 0, n * sizeof *in);
    memset (out, 0, n * sizeof *out);
    each_dependency (work, count_dependency, &rows);
    for (uint32_t row = 0; row < n; row++)
      n_alive += alive[row] = alive[row] && in[row] > 0 && out[row] > 0;
    if (n_alive == n_before)
      return n_alive;
  }
}

/* One dimension for itself.  cover[q][sign][x]: pairs of coordinates whose
 * way passes the link at x, when the other coordinates of the source add up
 * to parity q; goes_on: and some go on in the same direction. */
typedef struct {
  uint32_t size;
  uint64_t *cover[2][2];
  uint8_t *goes_on[2][2];
  uint64_t *pairs_by_hops;
} Line;

static void
line_init (Line *line, uint32_t size)
{
  line->size = size;
  line->pairs_by_hops = g_new0 (uint64_t, size);
  for (uint32_t parity = 0; parity < 2; parity++)
    for (uint32_t sign = 0; sign < 2; sign++) {
      line->cover[parity][sign] = g_new0 (uint64_t, size);
      line->goes_on[parity][sign] = g_new0 (uint8_t, size);
    }
}

static void
line_survey (Line *line, const Work *work, uint32_t dimension)
{
  g_autofree uint32_t *links = g_new (uint32_t, work->longest + 1);
  /* A dimension whose coordinate 1 makes the others odd; n_dimensions when all
   * others have one node, so that odd never occurs. */
  uint32_t odd = 0;

  while (odd < work->shape->n_dimensions && (odd == dimension || work->shape->size[odd] < 2))
    odd++;

  line_init (line, work->shape->size[dimension]);
  for (uint32_t parity = 0; parity < (odd < work->shape->n_dimensions ? 2u : 1u); parity++)
    for (uint32_t source = 0; source < line->size; source++)
      for (uint32_t target = 0; target < line->size; target++) {
        TopoCoordinates start = { 0 };

        start.at[dimension] = (uint16_t) source;
        if (parity == 1)
          start.at[odd] = 1;
        TopoCoordinates destination = start;
        uint32_t from = topo_shape_node (work->shape, start), n_links;
        RouteWay way;

        destination.at[dimension] = (uint16_t) target;
        way = route_torus_way (work->route, from, topo_shape_node (work->shape, destination));
        n_links = route_torus_path (work->route, from, way, links);
        if (parity == 0)
          line->pairs_by_hops[n_links]++;
        for (uint32_t i = 0; i < n_links; i++) {
          uint32_t sign = links[i] % 2;
          uint32_t x = topo_shape_coordinates (work->shape, links[i] / work->n_ports).at[dimension];

          line->cover[parity][sign][x]++;
          if (i + 1 < n_links)
            line->goes_on[parity][sign][x] = 1;
        }
      }
}

/* How many points of the dimensions in `mask` have an even and an odd sum. */
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

static uint32_t
parity_of (TopoCoordinates coordinates, uint32_t mask)
{
  uint32_t sum = 0;

  for (uint32_t dimension = 0; dimension < TOPO_MAX_DIMENSIONS; dimension++)
    if (mask & (1u << dimension))
      sum += coordinates.at[dimension];
  return sum & 1;
}

static void
add_line_rings (Work *work, const Line *line, uint32_t done, uint32_t left)
{
  uint64_t sources[2], rows[2];

  count_parities (work->shape, done, sources);
  count_parities (work->shape, left, rows);
  for (uint32_t parity = 0; parity < 2; parity++)
    for (uint32_t sign = 0; sign < 2; sign++) {
      bool closes = true;

      for (uint32_t x = 0; x < line->size; x++)
        closes &= (sources[0] && line->goes_on[parity][sign][x]) ||
                  (sources[1] && line->goes_on[parity ^ 1][sign][x]);
      if (closes)
        work->survey->bubble_rings += (uint32_t) (rows[parity] * (sources[0] + sources[1]));
    }
}

/* Dependencies between dimensions follow their order, so no loop can span
 * several rings: credit_loops stays 0. */
static void
derive_by_dimension (Work *work)
{
  RouteSurvey *survey = work->survey;
  uint32_t done = 0, all = (1u << work->shape->n_dimensions) - 1;

  survey->pairs_by_hops[0] = 1;
  for (uint32_t place = 0; place < work->shape->n_dimensions; place++) {
    uint32_t dimension = work->route->order[place], left = all & ~done & ~(1u << dimension);
    Line line;

    line_survey (&line, work, dimension);
    /* Loads of the links of one dimension: `done` are the dimensions finished
     * before it, `left` those after it. */
    uint64_t sources[2], destinations[2];

    count_parities (work->shape, done, sources);
    count_parities (work->shape, left, destinations);
    for (uint32_t node = 0; node < work->n_nodes; node++) {
      TopoCoordinates at = topo_shape_coordinates (work->shape, node);
      uint32_t parity = parity_of (at, left), x = at.at[dimension];

      for (uint32_t sign = 0; sign < 2; sign++)
        work->load[node * work->n_ports + 2 * dimension + sign] =
            (destinations[0] + destinations[1]) * (sources[0] * line.cover[parity][sign][x] +
                                                   sources[1] * line.cover[parity ^ 1][sign][x]);
    }
    add_line_rings (work, &line, done, left);
    /* pairs_by_hops of the dimensions so far, with one more. */
    g_autofree uint64_t *before =
        g_memdup2 (survey->pairs_by_hops, (survey->max_hops + 1) * sizeof *before);

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
  uint32_t n_nodes = topo_shape_nodes (&route->shape);
  uint32_t n_ports = topo_shape_ports (&route->shape);
  g_autofree uint64_t *load = g_new0 (uint64_t, n_nodes * n_ports);
  g_autofree uint16_t *next_ports = g_new0 (uint16_t, n_nodes * n_ports);
  Work work = { route, &route->shape, n_nodes, n_ports, line_length (&route->shape),
                load,  next_ports,    survey };

  survey->every_pair = every_pair;
  survey->pairs = (uint64_t) n_nodes * (n_nodes - 1);
  survey->max_hops = work.longest;
  survey->pairs_by_hops = g_new0 (uint64_t, work.longest + 1);
  if (every_pair) {
    g_autofree uint32_t *links = g_new (uint32_t, work.longest + 1);

    for (uint32_t from = 0; from < work.n_nodes; from++)
      for (uint32_t to = 0; to < work.n_nodes; to++)
        if (from != to && !walk (&work, from, to, links))
          work.survey->unreachable++;
    for (uint32_t link = 0; link < work.n_nodes * work.n_ports; link++)
      if (row_of_link (&work, link) == link && ring_closes (&work, link))
        work.survey->bubble_rings++;
    work.survey->credit_loops = rows_on_loops (&work);
  } else
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
