/* switch_levels.c - how far each switch of a fabric is from its roots.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "routing/forwarding/switch_levels.h"

#include <string.h>

/* Adapters on each switch. */
static uint32_t *
count_adapters (const RouteForwarding *tables)
{
  uint32_t *n = g_new0 (uint32_t, tables->n_switches + 1);

  for (uint32_t destination = 0; destination < tables->n_destinations; destination++) {
    uint32_t number, leaf = route_leaf_of (tables, destination, &number);

    if (leaf != TOPO_NONE)
      n[leaf]++;
  }
  return n;
}

/* adapters_at[distance]: how many adapters are so far away.  The distance of
 * nearly all of them when there is one, else UINT32_MAX. */
static uint32_t
common_distance (const uint32_t *adapters_at, uint32_t n_distances, uint32_t n_adapters)
{
  uint32_t n_high = 0, n_some = 0, common = UINT32_MAX;

  for (uint32_t distance = 0; distance < n_distances; distance++) {
    n_some += (uint64_t) adapters_at[distance] * 20 > n_adapters;
    if ((uint64_t) adapters_at[distance] * 10 <= (uint64_t) n_adapters * 9)
      continue;
    n_high++;
    common = distance;
  }
  return n_high == 1 && n_some == 1 ? common : UINT32_MAX;
}

/* Distances from all switches with mark[] set, at once; UINT32_MAX where no
 * cables lead to any. */
static uint32_t *
distances_from_marked (const RouteCables *cables, uint32_t n_switches, const bool *mark)
{
  uint32_t *level = g_new (uint32_t, n_switches + 1);
  g_autofree uint32_t *queue = g_new (uint32_t, n_switches + 1);
  uint32_t first = 0, n = 0;

  for (uint32_t at = 0; at < n_switches; at++) {
    level[at] = mark[at] ? 0 : UINT32_MAX;
    if (mark[at])
      queue[n++] = at;
  }
  while (first < n) {
    uint32_t at = queue[first++];

    for (uint32_t cable = cables->first[at]; cable < cables->first[at + 1]; cable++) {
      uint32_t to = cables->cables[cable].to;

      if (level[to] != UINT32_MAX)
        continue;
      level[to] = level[at] + 1;
      queue[n++] = to;
    }
  }
  return level;
}

typedef struct {
  const RouteCables *cables;
  uint32_t n_switches;
  const uint32_t *adapters; /* [switch] */
  uint32_t *hops, *queue, *at_distance;
  uint32_t *piece;   /* [switch] the first switch of its part of the fabric */
  uint32_t *common;  /* [switch] distance of nearly all adapters of its part */
  uint32_t *nearest; /* [piece] the smallest of these */
} Roots;

static void
measure (Roots *roots, uint32_t from)
{
  uint32_t n = roots->n_switches, n_adapters = 0;

  route_distances (roots->cables, n, from, roots->hops, roots->queue);
  memset (roots->at_distance, 0, (n + 1) * sizeof *roots->at_distance);
  roots->piece[from] = UINT32_MAX;
  for (uint32_t at = 0; at < n; at++) {
    if (roots->hops[at] == UINT32_MAX)
      continue;
    roots->piece[from] = MIN (roots->piece[from], at);
    roots->at_distance[roots->hops[at]] += roots->adapters[at];
    n_adapters += roots->adapters[at];
  }
  roots->common[from] = common_distance (roots->at_distance, n, n_adapters);
  roots->nearest[roots->piece[from]] =
      MIN (roots->nearest[roots->piece[from]], roots->common[from]);
}

uint32_t *
route_levels_from_roots (const RouteForwarding *tables, const RouteCables *cables)
{
  uint32_t n = tables->n_switches;
  g_autofree uint32_t *adapters = count_adapters (tables);
  g_autofree uint32_t *hops = g_new (uint32_t, n + 1);
  g_autofree uint32_t *queue = g_new (uint32_t, n + 1);
  g_autofree uint32_t *at_distance = g_new (uint32_t, n + 1);
  g_autofree uint32_t *piece = g_new (uint32_t, n + 1);
  g_autofree uint32_t *common = g_new (uint32_t, n + 1);
  g_autofree uint32_t *nearest = g_new (uint32_t, n + 1);
  g_autofree bool *is_root = g_new0 (bool, n + 1);
  Roots roots = { cables, n, adapters, hops, queue, at_distance, piece, common, nearest };

  for (uint32_t at = 0; at < n; at++)
    nearest[at] = UINT32_MAX;
  for (uint32_t at = 0; at < n; at++)
    measure (&roots, at);
  for (uint32_t at = 0; at < n; at++) {
    if (nearest[piece[at]] == UINT32_MAX && adapters[at] > 0)
      return NULL;
    is_root[at] = common[at] != UINT32_MAX && common[at] == nearest[piece[at]];
  }
  return distances_from_marked (cables, n, is_root);
}

uint32_t *
route_levels_from_leaves (const RouteForwarding *tables, const RouteCables *cables)
{
  g_autofree uint32_t *adapters = count_adapters (tables);
  g_autofree bool *leaves = g_new0 (bool, tables->n_switches + 1);

  for (uint32_t at = 0; at < tables->n_switches; at++)
    leaves[at] = adapters[at] > 0;
  return distances_from_marked (cables, tables->n_switches, leaves);
}
