/* minhop.c - shortest ways: the engines minhop and dor.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which of several shortest ways (infiniband.md section A6): minhop evens out
 * the number of destinations per port, one switch at a time; dor always takes
 * the lowest port, which on a mesh whose ports are numbered by dimension is
 * dimension order. */
#include "config.h"

#include "routing/forwarding_private.h"

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

/* The cable of a shortest way that is used least (balance), or the first. */
static uint32_t
choose (const Work *work, uint32_t at, bool balance)
{
  uint32_t best = TOPO_NONE;

  for (uint32_t cable = work->cables.first[at]; cable < work->cables.first[at + 1]; cable++) {
    if (work->hops[work->cables.cables[cable].to] + 1 != work->hops[at])
      continue;
    if (best == TOPO_NONE || (balance && work->used[cable] < work->used[best]))
      best = cable;
  }
  return best;
}

static void
fill_destination (Work *work, uint32_t destination, uint32_t leaf, uint32_t number, bool balance)
{
  route_forwarding_set (work->tables, leaf, destination, number);
  for (uint32_t at = 0; at < work->tables->n_switches; at++) {
    uint32_t cable;

    if (at == leaf || work->hops[at] == UINT32_MAX)
      continue;
    cable = choose (work, at, balance);
    work->used[cable]++;
    route_forwarding_set (work->tables, at, destination, work->cables.cables[cable].number);
  }
}

static gboolean
fill (RouteForwarding *tables, bool balance)
{
  Work work = work_new (tables);
  uint32_t last = TOPO_NONE;

  for (uint32_t destination = 0; destination < tables->n_destinations; destination++) {
    uint32_t number, leaf = route_leaf_of (tables, destination, &number);

    if (leaf == TOPO_NONE)
      continue;
    if (leaf != last)
      route_distances (&work.cables, tables->n_switches, leaf, work.hops, work.queue);
    last = leaf;
    fill_destination (&work, destination, leaf, number, balance);
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
