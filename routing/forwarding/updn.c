/* updn.c - up/down routing: never up again after going down.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Levels count from the roots (levels.h); between switches of one level, up
 * is towards the smaller number, so that every cable has an upper end.  A
 * switch with a way down to the destination takes a shortest of those, any
 * other goes up towards the nearest such switch.  A packet that comes from
 * above therefore finds only switches that go on down, whichever way it came,
 * and buffers cannot wait for each other in a loop. */
#include "config.h"

#include "routing/forwarding/switch_levels.h"
#include "topology/machine.h"

typedef struct {
  RouteForwarding *tables;
  RouteCables cables;
  const uint32_t *level;
  uint32_t *down; /* [switch] hops downwards to the current leaf; UINT32_MAX: none */
  uint32_t *hops; /* [switch] hops of the way taken */
  uint32_t *queue;
  uint32_t *used; /* [cable] destinations so far */
} Work;

static bool
goes_up (const Work *work, uint32_t from, uint32_t to)
{
  return work->level[to] != work->level[from] ? work->level[to] < work->level[from] : to < from;
}

/* From the leaf upwards. */
static uint32_t
find_ways_down (Work *work, uint32_t leaf)
{
  uint32_t first = 0, n = 0;

  for (uint32_t at = 0; at < work->tables->n_switches; at++)
    work->down[at] = UINT32_MAX;
  work->down[leaf] = 0;
  work->queue[n++] = leaf;
  while (first < n) {
    uint32_t at = work->queue[first++];

    for (uint32_t cable = work->cables.first[at]; cable < work->cables.first[at + 1]; cable++) {
      uint32_t to = work->cables.cables[cable].to;

      if (work->down[to] != UINT32_MAX || !goes_up (work, at, to))
        continue;
      work->down[to] = work->down[at] + 1;
      work->queue[n++] = to;
    }
  }
  return n;
}

static gint
by_hops (gconstpointer left, gconstpointer right, gpointer data)
{
  const uint32_t *a = left, *b = right, *hops = data;

  if (hops[*a] != hops[*b])
    return hops[*a] < hops[*b] ? -1 : 1;
  return *a < *b ? -1 : *a > *b;
}

/* From those that have a way down to those below them, nearest first: a bucket
 * per number of hops, as all cables count 1. */
static void
find_ways_up (Work *work, uint32_t n_down)
{
  uint32_t n_switches = work->tables->n_switches;
  g_autoptr (GArray) wave = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  uint32_t next = 0, hops = 0;

  for (uint32_t at = 0; at < n_switches; at++)
    work->hops[at] = work->down[at];
  g_qsort_with_data (work->queue, (gint) n_down, sizeof *work->queue, by_hops, work->hops);
  for (;; hops++) {
    g_autoptr (GArray) following = g_array_new (FALSE, FALSE, sizeof (uint32_t));

    for (; next < n_down && work->hops[work->queue[next]] == hops; next++)
      g_array_append_val (wave, work->queue[next]);
    if (wave->len == 0 && next == n_down)
      return;
    for (guint i = 0; i < wave->len; i++) {
      uint32_t at = g_array_index (wave, uint32_t, i);

      for (uint32_t cable = work->cables.first[at]; cable < work->cables.first[at + 1]; cable++) {
        uint32_t to = work->cables.cables[cable].to;

        if (work->hops[to] != UINT32_MAX || !goes_up (work, to, at))
          continue;
        work->hops[to] = hops + 1;
        g_array_append_val (following, to);
      }
    }
    g_array_set_size (wave, 0);
    g_array_append_vals (wave, following->data, following->len);
  }
}

/* Whether the cable is the first of a way that may be taken. */
static bool
leads_on (const Work *work, uint32_t at, uint32_t to)
{
  if (work->down[at] != UINT32_MAX)
    return work->down[to] != UINT32_MAX && work->down[to] + 1 == work->down[at] &&
           goes_up (work, to, at);
  return work->hops[to] != UINT32_MAX && work->hops[to] + 1 == work->hops[at] &&
         goes_up (work, at, to);
}

static void
fill_destination (Work *work, uint32_t destination, uint32_t leaf, uint32_t number)
{
  route_forwarding_set (work->tables, leaf, destination, number);
  for (uint32_t at = 0; at < work->tables->n_switches; at++) {
    uint32_t best = TOPO_NONE;

    if (at == leaf || work->hops[at] == UINT32_MAX)
      continue;
    for (uint32_t cable = work->cables.first[at]; cable < work->cables.first[at + 1]; cable++)
      if (leads_on (work, at, work->cables.cables[cable].to) &&
          (best == TOPO_NONE || work->used[cable] < work->used[best]))
        best = cable;
    g_assert (best != TOPO_NONE);
    work->used[best]++;
    route_forwarding_set (work->tables, at, destination, work->cables.cables[best].number);
  }
}

static void
fill_all (Work *work)
{
  g_autofree uint32_t *order = g_new (uint32_t, work->tables->n_destinations + 1);
  uint32_t n = route_order (work->tables, order), last = TOPO_NONE;

  for (uint32_t at = 0; at < n; at++) {
    uint32_t number, leaf = route_leaf_of (work->tables, order[at], &number);

    if (leaf != last)
      find_ways_up (work, find_ways_down (work, leaf));
    last = leaf;
    fill_destination (work, order[at], leaf, number);
  }
}

gboolean
route_engine_updn (RouteForwarding *tables, GError **error)
{
  uint32_t n = tables->n_switches;
  Work work = { .tables = tables, .cables = route_cables_new (tables) };
  g_autofree uint32_t *level = route_levels_from_roots (tables, &work.cables);
  g_autofree uint32_t *down = g_new (uint32_t, n + 1);
  g_autofree uint32_t *hops = g_new (uint32_t, n + 1);
  g_autofree uint32_t *queue = g_new (uint32_t, n + 1);
  g_autofree uint32_t *used = g_new0 (uint32_t, work.cables.first[n] + 1);

  work.level = level;
  work.down = down;
  work.hops = hops;
  work.queue = queue;
  work.used = used;
  if (level != NULL)
    fill_all (&work);
  else
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%s: updn finds no roots: from no switch are nearly all adapters equally far",
                 tables->fabric->source);
  route_cables_clear (&work.cables);
  return level != NULL;
}
