/* fabric_survey.c - what the forwarding tables of a fabric do to its links.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "routing/fabric_survey.h"

#include <stdlib.h>
#include <string.h>

#define WORDS 4 /* of a set of port numbers */

/* Which links may be waited for while a link is held: a set of port numbers
 * of the switch that it leads to. */
typedef struct {
  uint64_t bits[WORDS];
} Numbers;

typedef struct {
  const RouteForwarding *tables;
  const TopoFabric *fabric;
  RouteFabricSurvey *survey;
  uint32_t *adapters; /* [switch] adapter ports on it */
  Numbers *next;      /* [port] */
} Work;

/* Follows the routes of `n` adapters on a switch to a destination; false when
 * they do not arrive. */
static bool
follow (Work *work, uint32_t at, uint32_t destination, uint64_t n, uint32_t *hops)
{
  const TopoFabric *fabric = work->fabric;
  uint32_t target = work->tables->destination_port[destination], before = TOPO_NONE;

  for (*hops = 1; *hops <= work->tables->n_switches; ++*hops) {
    uint32_t number = route_forwarding_out (work->tables, at, destination), port;

    if (number == ROUTE_NO_PORT)
      return false;
    port = fabric->devices[work->tables->switch_device[at]].first_port + number - 1;
    work->survey->load[port] += n;
    if (before != TOPO_NONE)
      work->next[before].bits[number / 64] |= UINT64_C (1) << (number % 64);
    if (fabric->ports[port].peer == target)
      return true;
    if (fabric->ports[port].peer == TOPO_NONE)
      return false;
    before = port;
    at = route_forwarding_behind (work->tables, port);
    if (at == TOPO_NONE)
      return false;
  }
  return false;
}

static void
count_pairs (Work *work, uint32_t hops, uint64_t n)
{
  RouteFabricSurvey *survey = work->survey;

  if (hops > survey->max_hops) {
    survey->pairs_by_hops = g_renew (uint64_t, survey->pairs_by_hops, hops + 1);
    for (uint32_t more = survey->max_hops + 1; more <= hops; more++)
      survey->pairs_by_hops[more] = 0;
    survey->max_hops = hops;
  }
  survey->pairs_by_hops[hops] += n;
}

static void
survey_destination (Work *work, uint32_t destination)
{
  uint32_t port = work->tables->destination_port[destination];
  uint32_t leaf = route_forwarding_behind (work->tables, port);

  for (uint32_t at = 0; at < work->tables->n_switches; at++) {
    uint64_t n = work->adapters[at] - (at == leaf);
    uint32_t hops;

    if (n == 0)
      continue;
    work->survey->pairs += n;
    if (follow (work, at, destination, n, &hops))
      count_pairs (work, hops, n);
    else
      work->survey->unreachable += n;
  }
}

/* --- Loads --- */

static bool
is_between_switches (const Work *work, uint32_t port)
{
  const TopoPort *it = &work->fabric->ports[port];

  return it->peer != TOPO_NONE && work->fabric->devices[it->device].is_switch &&
         work->fabric->devices[work->fabric->ports[it->peer].device].is_switch;
}

static int
by_value (const void *left, const void *right)
{
  uint64_t a = *(const uint64_t *) left, b = *(const uint64_t *) right;

  return a < b ? -1 : a > b;
}

static void
sum_loads (Work *work)
{
  RouteFabricSurvey *survey = work->survey;
  g_autofree uint64_t *loads = g_new (uint64_t, work->fabric->n_ports + 1);
  uint32_t n = 0;

  for (uint32_t port = 0; port < work->fabric->n_ports; port++)
    if (is_between_switches (work, port)) {
      survey->links++;
      if (survey->load[port] > 0)
        loads[n++] = survey->load[port];
    }
  survey->unused = survey->links - n;
  if (n == 0)
    return;
  qsort (loads, n, sizeof *loads, by_value);
  survey->load_min = loads[0];
  survey->load_max = loads[n - 1];
  survey->load_median = ((double) loads[(n - 1) / 2] + (double) loads[n / 2]) / 2;
}

/* --- Loops of credits: strongly connected links (Tarjan, 1972) --- */

typedef struct {
  uint32_t port;
  uint32_t number; /* of the next dependency to look at */
} Frame;

typedef struct {
  Work *work;
  uint32_t *order, *low; /* [port] 0: not visited */
  bool *on_stack;
  uint32_t *stack, n_stack;
  Frame *frames;
  uint32_t n_frames, n_visited;
} Search;

/* The first dependency of a link from `number` on; 0: none. */
static uint32_t
next_number (const Numbers *numbers, uint32_t number)
{
  for (; number < 64 * WORDS; number++)
    if (numbers->bits[number / 64] & UINT64_C (1) << (number % 64))
      return number;
  return 0;
}

static void
enter (Search *search, uint32_t port)
{
  search->order[port] = search->low[port] = ++search->n_visited;
  search->stack[search->n_stack++] = port;
  search->on_stack[port] = true;
  search->frames[search->n_frames++] = (Frame){ port, 1 };
}

/* The links above `root` on the stack are one group; a loop when there are
 * several: a link never depends on itself. */
static void
close_group (Search *search, uint32_t root)
{
  RouteFabricSurvey *survey = search->work->survey;
  uint32_t first = search->n_stack;

  do
    search->on_stack[search->stack[--first]] = false;
  while (search->stack[first] != root);
  if (search->n_stack - first > 1) {
    survey->credit_loops++;
    if (survey->loop == NULL) {
      survey->n_loop = search->n_stack - first;
      survey->loop = g_memdup2 (&search->stack[first], survey->n_loop * sizeof (uint32_t));
    }
  }
  search->n_stack = first;
}

static void
step (Search *search)
{
  const TopoFabric *fabric = search->work->fabric;
  Frame *frame = &search->frames[search->n_frames - 1];
  uint32_t port = frame->port;
  uint32_t number = next_number (&search->work->next[port], frame->number), next;

  if (number == 0) {
    if (search->low[port] == search->order[port])
      close_group (search, port);
    search->n_frames--;
    if (search->n_frames > 0) {
      uint32_t parent = search->frames[search->n_frames - 1].port;

      search->low[parent] = MIN (search->low[parent], search->low[port]);
    }
    return;
  }
  frame->number = number + 1;
  next = fabric->devices[fabric->ports[fabric->ports[port].peer].device].first_port + number - 1;
  if (search->order[next] == 0)
    enter (search, next);
  else if (search->on_stack[next])
    search->low[port] = MIN (search->low[port], search->order[next]);
}

static void
find_loops (Work *work)
{
  uint32_t n = work->fabric->n_ports + 1;
  g_autofree uint32_t *order = g_new0 (uint32_t, n);
  g_autofree uint32_t *low = g_new0 (uint32_t, n);
  g_autofree uint32_t *stack = g_new (uint32_t, n);
  g_autofree bool *on_stack = g_new0 (bool, n);
  g_autofree Frame *frames = g_new (Frame, n);
  Search search = {
    .work = work, .order = order, .low = low, .on_stack = on_stack, .stack = stack, .frames = frames
  };

  for (uint32_t port = 0; port < work->fabric->n_ports; port++) {
    if (order[port] != 0 || next_number (&work->next[port], 1) == 0)
      continue;
    enter (&search, port);
    while (search.n_frames > 0)
      step (&search);
  }
}

RouteFabricSurvey *
route_fabric_survey_new (const RouteForwarding *tables)
{
  RouteFabricSurvey *survey = g_new0 (RouteFabricSurvey, 1);
  g_autofree uint32_t *adapters = g_new0 (uint32_t, tables->n_switches + 1);
  g_autofree Numbers *next = g_new0 (Numbers, tables->fabric->n_ports + 1);
  Work work = { tables, tables->fabric, survey, adapters, next };

  survey->pairs_by_hops = g_new0 (uint64_t, 1);
  survey->load = g_new0 (uint64_t, tables->fabric->n_ports + 1);
  for (uint32_t destination = 0; destination < tables->n_destinations; destination++) {
    uint32_t at = route_forwarding_behind (tables, tables->destination_port[destination]);

    if (at != TOPO_NONE)
      adapters[at]++;
  }
  for (uint32_t destination = 0; destination < tables->n_destinations; destination++)
    survey_destination (&work, destination);
  sum_loads (&work);
  find_loops (&work);
  return survey;
}

void
route_fabric_survey_free (RouteFabricSurvey *survey)
{
  if (survey == NULL)
    return;
  g_free (survey->pairs_by_hops);
  g_free (survey->load);
  g_free (survey->loop);
  g_free (survey);
}
