/* fabric_survey.c - reachability, loads and credit loops of a fabric's forwarding tables.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "routing/forwarding/fabric_survey.h"

#include "routing/deadlock.h"

#include <stdlib.h>

typedef struct {
  const RouteForwarding *tables;
  const TopoFabric *fabric;
  RouteFabricSurvey *survey;
  /* By switch; the last entry has the adapters that are cabled to another adapter. */
  uint32_t *adapters; /* [n_switches + 1] adapter ports there */
  uint32_t *first;    /* [n_switches + 2] of sources[] */
  uint32_t *sources;  /* destinations' numbers by the switch they are on */
  RouteNumbers *next; /* [vl * n_ports + port] */
} Work;

static RouteNumbers *
next_of (const Work *work, uint32_t vl)
{
  return &work->next[(size_t) vl * work->fabric->n_ports];
}

typedef enum { ARRIVES, ENDS, CIRCLES } End;

/* Follows the routes of `n` adapters on a switch to a destination. */
static End
follow (Work *work, uint32_t at, uint32_t destination, uint64_t n, uint32_t *hops)
{
  const RouteForwarding *tables = work->tables;
  const TopoFabric *fabric = work->fabric;
  uint32_t target = tables->destination_port[destination], before = TOPO_NONE;
  uint32_t lanes = tables->vl == NULL; /* of the routes: bit = VL */

  for (uint32_t i = work->first[at]; tables->vl != NULL && i < work->first[at + 1]; i++)
    if (work->sources[i] != destination)
      lanes |= 1u << route_forwarding_vl (tables, work->sources[i], destination);
  for (*hops = 1; *hops <= tables->n_switches; ++*hops) {
    uint32_t number = route_forwarding_out (tables, at, destination), port;

    if (number == ROUTE_NO_PORT)
      return ENDS;
    port = fabric->devices[tables->switch_device[at]].first_port + number - 1;
    work->survey->load[port] += n;
    for (uint32_t left = lanes; before != TOPO_NONE && left != 0; left &= left - 1)
      route_numbers_add (&next_of (work, (uint32_t) __builtin_ctz (left))[before], number);
    if (fabric->ports[port].peer == target)
      return ARRIVES;
    if (fabric->ports[port].peer == TOPO_NONE)
      return ENDS;
    before = port;
    at = route_forwarding_behind (tables, port);
    if (at == TOPO_NONE)
      return ENDS;
  }
  return CIRCLES;
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

/* The destination at the other end of its cable; TOPO_NONE: a switch is there. */
static uint32_t
direct_peer (const Work *work, uint32_t destination)
{
  const RouteForwarding *tables = work->tables;

  return tables->destination_of[work->fabric->ports[tables->destination_port[destination]].peer];
}

/* Counts lost pairs, and keeps the first of them by source, then by destination. */
static void
count_lost (Work *work, uint32_t at, uint32_t destination, uint64_t n, End end)
{
  RouteFabricSurvey *survey = work->survey;
  const uint32_t *sources = &work->sources[work->first[at]];
  uint32_t from;

  while (*sources == destination || *sources == direct_peer (work, destination))
    sources++;
  from = *sources;
  survey->unreachable += n;
  survey->circling += end == CIRCLES ? n : 0;
  if (from > survey->lost_from || (from == survey->lost_from && destination > survey->lost_to))
    return;
  survey->lost_from = from;
  survey->lost_to = destination;
}

static void
survey_destination (Work *work, uint32_t destination)
{
  RouteFabricSurvey *survey = work->survey;
  uint32_t port = work->tables->destination_port[destination];
  uint32_t leaf = route_forwarding_behind (work->tables, port);
  uint32_t n_switches = work->tables->n_switches;
  /* A cable without a switch joins two adapters and no others. */
  uint64_t is_direct = direct_peer (work, destination) != TOPO_NONE, arrived = is_direct;
  uint64_t n_direct = work->adapters[n_switches] - is_direct;

  survey->pairs += n_direct;
  if (is_direct)
    count_pairs (work, 0, 1);
  if (n_direct > is_direct)
    count_lost (work, n_switches, destination, n_direct - is_direct, ENDS);
  for (uint32_t at = 0; at < n_switches; at++) {
    uint64_t n = work->adapters[at] - (at == leaf);
    uint32_t hops;
    End end;

    if (n == 0)
      continue;
    survey->pairs += n;
    end = follow (work, at, destination, n, &hops);
    if (end != ARRIVES) {
      count_lost (work, at, destination, n, end);
      continue;
    }
    count_pairs (work, hops, n);
    arrived += n;
  }
  if (arrived == 0 && work->tables->n_destinations > 1)
    survey->cut_off[survey->n_cut_off++] = destination;
}

/* --- Loads --- */

static int
by_value (const void *left, const void *right)
{
  uint64_t a = *(const uint64_t *) left, b = *(const uint64_t *) right;

  return a < b ? -1 : a > b;
}

/* Loads of the links between switches. */
static void
sum_loads (Work *work)
{
  RouteFabricSurvey *survey = work->survey;
  const TopoFabric *fabric = work->fabric;
  g_autofree uint64_t *loads = g_new (uint64_t, fabric->n_ports + 1);
  uint32_t n = 0;

  for (uint32_t port = 0; port < fabric->n_ports; port++) {
    uint32_t peer = fabric->ports[port].peer;

    if (peer == TOPO_NONE || !fabric->devices[fabric->ports[port].device].is_switch ||
        !fabric->devices[fabric->ports[peer].device].is_switch)
      continue;
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

/* The switch to which an adapter's port is cabled, n_switches without a switch. */
static uint32_t
place_of (const RouteForwarding *tables, uint32_t destination)
{
  return MIN (route_forwarding_behind (tables, tables->destination_port[destination]),
              tables->n_switches);
}

RouteFabricSurvey *
route_fabric_survey_new (const RouteForwarding *tables)
{
  RouteFabricSurvey *survey = g_new0 (RouteFabricSurvey, 1);
  uint32_t n_vls = MAX (tables->n_vls, 1);
  g_autofree uint32_t *adapters = g_new0 (uint32_t, tables->n_switches + 1);
  g_autofree uint32_t *first = g_new0 (uint32_t, tables->n_switches + 2);
  g_autofree uint32_t *sources = g_new (uint32_t, tables->n_destinations + 1);
  g_autofree RouteNumbers *next =
      g_new0 (RouteNumbers, (gsize) n_vls * tables->fabric->n_ports + 1);
  Work work = { tables, tables->fabric, survey, adapters, first, sources, next };

  survey->pairs_by_hops = g_new0 (uint64_t, 1);
  survey->load = g_new0 (uint64_t, tables->fabric->n_ports + 1);
  survey->lost_from = survey->lost_to = TOPO_NONE;
  survey->cut_off = g_new (uint32_t, tables->n_destinations + 1);
  survey->n_vls = n_vls;
  survey->loops_by_vl = g_new0 (uint32_t, n_vls);
  for (uint32_t destination = 0; destination < tables->n_destinations; destination++)
    adapters[place_of (tables, destination)]++;
  /* sources[] by switch, from the counts in adapters[]. */
  g_autofree uint32_t *n = g_new0 (uint32_t, tables->n_switches + 1);

  for (uint32_t at = 0; at <= tables->n_switches; at++)
    work.first[at + 1] = work.first[at] + work.adapters[at];
  for (uint32_t source = 0; source < tables->n_destinations; source++) {
    uint32_t at = place_of (tables, source);

    work.sources[work.first[at] + n[at]++] = source;
  }
  for (uint32_t destination = 0; destination < tables->n_destinations; destination++)
    survey_destination (&work, destination);
  sum_loads (&work);
  /* Adaptive switches may send packets other ways than the tables. */
  if (tables->group != NULL) {
    g_autofree RouteNumbers *choices = route_choice_waits (tables);

    for (gsize at = 0; at < (gsize) n_vls * tables->fabric->n_ports; at++) {
      gsize lane = tables->detour != NULL ? at : at % tables->fabric->n_ports;

      for (uint32_t word = 0; word < ROUTE_NUMBER_WORDS; word++)
        next[at].bits[word] |= choices[lane].bits[word];
    }
  }
  for (uint32_t vl = 0; vl < survey->n_vls; vl++) {
    RouteLoops loops = route_loops_find (work.fabric, next_of (&work, vl));

    survey->loops_by_vl[vl] = loops.n_loops;
    survey->credit_loops += loops.n_loops;
    if (survey->loop == NULL) {
      survey->loop = g_steal_pointer (&loops.loop);
      survey->n_loop = loops.n_loop;
    }
    g_free (loops.loop);
  }
  return survey;
}

void
route_fabric_survey_free (RouteFabricSurvey *survey)
{
  if (survey == NULL)
    return;
  g_free (survey->pairs_by_hops);
  g_free (survey->load);
  g_free (survey->cut_off);
  g_free (survey->loops_by_vl);
  g_free (survey->loop);
  g_free (survey);
}
