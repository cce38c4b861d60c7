/* minhop.c - shortest ways: the engines minhop and dor.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which of several shortest ways, as OpenSM (osm_switch.c): minhop evens out
 * the number of destinations per port, one switch at a time; dor goes to the
 * switch behind the lowest port, which on a mesh whose ports are numbered by
 * dimension is dimension order, and evens out the cables that lead there. */
#include "config.h"

#include "routing/forwarding/forwarding_private.h"

typedef struct {
  RouteForwarding *tables;
  RouteCables cables;
  uint32_t *hops;  /* [switch] to the current destination's */
  uint32_t *queue; /* [switch] */
  uint32_t *used;  /* [cable] destinations so far */
} Work;

static Work
work_new (RouteForwarding *tables)
{
  Work work = { .tables = tables, .cables = route_cables_new (tables) };
  uint32_t n_cables = work.cables.first[tables->n_switches];

  work.hops = g_new (uint32_t, tables->n_switches + 1);
  work.queue = g_new (uint32_t, tables->n_switches + 1);
  work.used = g_new0 (uint32_t, n_cables + 1);
  return work;
}

static void
work_clear (Work *work)
{
  route_cables_clear (&work->cables);
  g_free (work->hops);
  g_free (work->queue);
  g_free (work->used);
}

/* Of the cables of shortest ways the one that is used least: of all of them, or
 * only of those to the switch that the first one leads to. */
static uint32_t
choose (const Work *work, uint32_t at, bool any_switch)
{
  uint32_t best = TOPO_NONE, first = TOPO_NONE;

  for (uint32_t cable = work->cables.first[at]; cable < work->cables.first[at + 1]; cable++) {
    uint32_t to = work->cables.cables[cable].to;

    if (work->hops[to] + 1 != work->hops[at] || (!any_switch && first != TOPO_NONE && to != first))
      continue;
    if (best == TOPO_NONE || work->used[cable] < work->used[best])
      best = cable;
    first = to;
  }
  return best;
}

static void
fill_destination (Work *work, uint32_t destination, uint32_t leaf, uint32_t number, bool any_switch)
{
  route_forwarding_set (work->tables, leaf, destination, number);
  for (uint32_t at = 0; at < work->tables->n_switches; at++) {
    uint32_t cable;

    if (at == leaf || work->hops[at] == UINT32_MAX)
      continue;
    cable = choose (work, at, any_switch);
    work->used[cable]++;
    route_forwarding_set (work->tables, at, destination, work->cables.cables[cable].number);
  }
}

static gboolean
fill (RouteForwarding *tables, bool any_switch)
{
  Work work = work_new (tables);
  g_autofree uint32_t *order = g_new (uint32_t, tables->n_destinations + 1);
  uint32_t n = route_order (tables, order), last = TOPO_NONE;

  for (uint32_t at = 0; at < n; at++) {
    uint32_t number, leaf = route_leaf_of (tables, order[at], &number);

    if (leaf != last)
      route_distances (&work.cables, tables->n_switches, leaf, work.hops, work.queue);
    last = leaf;
    fill_destination (&work, order[at], leaf, number, any_switch);
  }
  work_clear (&work);
  return TRUE;
}

gboolean
route_engine_minhop (RouteForwarding *tables, GError **error)
{
  (void) error;
  return fill (tables, true);
}

gboolean
route_engine_dor (RouteForwarding *tables, GError **error)
{
  (void) error;
  return fill (tables, false);
}
