/* levels.c - how far each switch of a fabric is from its roots.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "routing/levels.h"

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

/* Distances from all switches with mark[] set, at once. */
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
  if (n == n_switches)
    return level;
  g_free (level);
  return NULL;
}

uint32_t *
route_levels_from_roots (const RouteForwarding *tables, const RouteCables *cables)
{
  uint32_t n_switches = tables->n_switches;
  g_autofree uint32_t *adapters = count_adapters (tables);
  g_autofree uint32_t *hops = g_new (uint32_t, n_switches + 1);
  g_autofree uint32_t *queue = g_new (uint32_t, n_switches + 1);
  g_autofree uint32_t *at_distance = g_new (uint32_t, n_switches + 1);
  g_autofree uint32_t *common = g_new (uint32_t, n_switches + 1);
  g_autofree bool *roots = g_new0 (bool, n_switches + 1);
  uint32_t nearest = UINT32_MAX;

  for (uint32_t root = 0; root < n_switches; root++) {
    route_distances (cables, n_switches, root, hops, queue);
    memset (at_distance, 0, (n_switches + 1) * sizeof *at_distance);
    for (uint32_t at = 0; at < n_switches; at++)
      if (hops[at] != UINT32_MAX)
        at_distance[hops[at]] += adapters[at];
    common[root] = common_distance (at_distance, n_switches, tables->n_destinations);
    nearest = MIN (nearest, common[root]);
  }
  for (uint32_t root = 0; root < n_switches; root++)
    roots[root] = common[root] == nearest && nearest != UINT32_MAX;
  return distances_from_marked (cables, n_switches, roots);
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
