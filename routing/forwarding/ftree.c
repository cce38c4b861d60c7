/* ftree.c - routing of fat trees, so that shift permutations do not collide.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Levels count from the leaves, the switches that have adapters; every cable
 * must join neighbouring levels.  For each destination a chain is laid from
 * its leaf to the top, at each level by the cable that carries the fewest
 * destinations downwards so far; everybody else goes up to the lowest switch
 * of the chain that they can reach, over the parallel cable that carries the
 * fewest upwards.  In a full tree the k-th adapter of every leaf thus has a way
 * down of its own, and up links are shared by the destinations of equal k: what
 * "destination modulo k" routing gives (Zahavi, "Fat-tree routing and node
 * ordering providing contention free traffic for MPI global collectives",
 * 2012, shows that shifts then never share a link).  Switches that the chain
 * does not serve, in trees with missing cables, use other ancestors of the
 * leaf. */
#include "config.h"

#include "routing/forwarding/switch_levels.h"
#include "topology/machine.h"

typedef struct {
  RouteForwarding *tables;
  RouteCables cables;
  const uint32_t *level;
  uint32_t *down_used, *up_used; /* [cable] seen from its lower end */
  uint32_t *below;               /* switches whose way is known, but not yet of those below them */
  uint32_t destination;
} Work;

static bool
is_known (const Work *work, uint32_t at)
{
  return route_forwarding_out (work->tables, at, work->destination) != ROUTE_NO_PORT;
}

static bool
is_upward (const Work *work, uint32_t from, uint32_t to)
{
  return work->level[to] == work->level[from] + 1;
}

/* Everybody below `top` whose way is not known goes up to it. */
static void
send_up_to (Work *work, uint32_t top)
{
  uint32_t n = 0;

  work->below[n++] = top;
  while (n > 0) {
    uint32_t at = work->below[--n];

    for (uint32_t down = work->cables.first[at]; down < work->cables.first[at + 1]; down++) {
      uint32_t child = work->cables.cables[down].to, best = TOPO_NONE;

      if (!is_upward (work, child, at) || is_known (work, child))
        continue;
      for (uint32_t up = work->cables.first[child]; up < work->cables.first[child + 1]; up++)
        if (work->cables.cables[up].to == at &&
            (best == TOPO_NONE || work->up_used[up] < work->up_used[best]))
          best = up;
      work->up_used[best]++;
      route_forwarding_set (work->tables, child, work->destination,
                            work->cables.cables[best].number);
      work->below[n++] = child;
    }
  }
}

/* The next switch of the chain; TOPO_NONE at the top.  Only the first chain
 * of a destination is counted: the others carry what it does not reach. */
static uint32_t
climb (Work *work, uint32_t at, bool count)
{
  uint32_t best = TOPO_NONE;

  for (uint32_t up = work->cables.first[at]; up < work->cables.first[at + 1]; up++)
    if (is_upward (work, at, work->cables.cables[up].to) &&
        !is_known (work, work->cables.cables[up].to) &&
        (best == TOPO_NONE || work->down_used[up] < work->down_used[best]))
      best = up;
  if (best == TOPO_NONE)
    return TOPO_NONE;
  work->down_used[best] += count;
  route_forwarding_set (work->tables, work->cables.cables[best].to, work->destination,
                        work->cables.cables[best].back);
  return work->cables.cables[best].to;
}

/* Chains over the other ancestors of the leaf, level by level, until each has
 * its way down and all below them their way up. */
static void
serve_others (Work *work, uint32_t leaf)
{
  g_autoptr (GArray) ancestors = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  g_autofree bool *seen = g_new0 (bool, work->tables->n_switches + 1);

  g_array_append_val (ancestors, leaf);
  seen[leaf] = true;
  for (guint i = 0; i < ancestors->len; i++) {
    uint32_t at = g_array_index (ancestors, uint32_t, i), next;

    while ((next = climb (work, at, false)) != TOPO_NONE)
      send_up_to (work, next);
    for (uint32_t up = work->cables.first[at]; up < work->cables.first[at + 1]; up++) {
      next = work->cables.cables[up].to;
      if (!is_upward (work, at, next) || seen[next])
        continue;
      seen[next] = true;
      g_array_append_val (ancestors, next);
    }
  }
}

static void
fill_destination (Work *work, uint32_t destination)
{
  uint32_t number, leaf = route_leaf_of (work->tables, destination, &number), at;

  if (leaf == TOPO_NONE)
    return;
  work->destination = destination;
  route_forwarding_set (work->tables, leaf, destination, number);
  for (at = leaf; at != TOPO_NONE; at = climb (work, at, true))
    send_up_to (work, at);
  serve_others (work, leaf);
}

static gboolean
check_levels (const Work *work, GError **error)
{
  const TopoFabric *fabric = work->tables->fabric;

  for (uint32_t at = 0; at < work->tables->n_switches; at++)
    for (uint32_t cable = work->cables.first[at]; cable < work->cables.first[at + 1]; cable++) {
      uint32_t to = work->cables.cables[cable].to;

      if (is_upward (work, at, to) || is_upward (work, to, at))
        continue;
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                   "%s: not a fat tree: a cable joins \"%s\" and \"%s\", which are equally far "
                   "from the adapters",
                   fabric->source, fabric->devices[work->tables->switch_device[at]].id,
                   fabric->devices[work->tables->switch_device[to]].id);
      return FALSE;
    }
  return TRUE;
}

gboolean
route_engine_ftree (RouteForwarding *tables, GError **error)
{
  Work work = { .tables = tables, .cables = route_cables_new (tables) };
  uint32_t n_cables = work.cables.first[tables->n_switches];
  g_autofree uint32_t *level = route_levels_from_leaves (tables, &work.cables);
  g_autofree uint32_t *down_used = g_new0 (uint32_t, n_cables + 1);
  g_autofree uint32_t *up_used = g_new0 (uint32_t, n_cables + 1);
  g_autofree uint32_t *below = g_new (uint32_t, tables->n_switches + 1);
  gboolean done;

  work.level = level;
  work.down_used = down_used;
  work.up_used = up_used;
  work.below = below;
  done = check_levels (&work, error);
  for (uint32_t destination = 0; done && destination < tables->n_destinations; destination++)
    fill_destination (&work, destination);
  route_cables_clear (&work.cables);
  return done;
}
