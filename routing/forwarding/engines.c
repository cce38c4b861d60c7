/* engines.c - the engines that compute forwarding tables: minhop, dor, updn, ftree.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "routing/forwarding/forwarding_private.h"
#include "topology/machine.h"

#include <stdlib.h>
#include <string.h>

/* --- The order of destinations ---
 *
 * Engines that take "the port with fewest destinations so far" depend on it.
 * It is OpenSM's (osm_ucast_mgr.c): switches with most adapters first, those
 * with equally many by GUID, on each the adapters by the port that they are
 * plugged in. */

typedef struct {
  uint32_t n_adapters; /* plugged in at the switch */
  uint64_t guid;       /* of the switch, as it is compared */
  uint32_t leaf, number;
  uint32_t destination;
} Place;

/* OpenSM keeps GUIDs in network order and compares them as numbers of the
 * computer, which on today's are read from the last byte on. */
uint64_t
route_compared_guid (const TopoFabric *fabric, uint32_t device)
{
  return GUINT64_SWAP_LE_BE (fabric->devices[device].guid);
}

static int
by_place (const void *left, const void *right)
{
  const Place *a = left, *b = right;

  if (a->n_adapters != b->n_adapters)
    return a->n_adapters > b->n_adapters ? -1 : 1;
  if (a->guid != b->guid)
    return a->guid < b->guid ? -1 : 1;
  if (a->leaf != b->leaf)
    return a->leaf < b->leaf ? -1 : 1;
  return a->number < b->number ? -1 : a->number > b->number;
}

/* Writes the destinations that hang on switches to order[n_destinations], in
 * OpenSM's order; returns their number. */
static uint32_t
order_destinations (const RouteForwarding *tables, uint32_t *order)
{
  const TopoFabric *fabric = tables->fabric;
  g_autofree uint32_t *n_adapters = g_new0 (uint32_t, tables->n_switches + 1);
  g_autofree Place *places = g_new (Place, tables->n_destinations + 1);
  uint32_t n = 0;

  for (uint32_t destination = 0; destination < tables->n_destinations; destination++) {
    Place place = { .destination = destination };

    place.leaf = route_leaf_of (tables, destination, &place.number);
    if (place.leaf == TOPO_NONE)
      continue;
    place.guid = route_compared_guid (fabric, tables->switch_device[place.leaf]);
    n_adapters[place.leaf]++;
    places[n++] = place;
  }
  for (uint32_t at = 0; at < n; at++)
    places[at].n_adapters = n_adapters[places[at].leaf];
  qsort (places, n, sizeof *places, by_place);
  for (uint32_t at = 0; at < n; at++)
    order[at] = places[at].destination;
  return n;
}

/* --- minhop and dor: shortest ways ---
 *
 * Which of several shortest ways, as OpenSM (osm_switch.c): minhop evens out
 * the number of destinations per port, one switch at a time; dor goes to the
 * switch behind the lowest port, which on a mesh whose ports are numbered by
 * dimension is dimension order, and evens out the cables that lead there. */

typedef struct {
  RouteForwarding *tables;
  RouteCables cables;
  uint32_t *hops; /* [switch] to the current destination's */
  uint32_t *used; /* [cable] destinations so far */
} Shortest;

/* Each switch takes the least used of the cables of shortest ways: of all of them, or
 * only of those to the switch that the first cable leads to. */
static void
shortest_to (Shortest *work, uint32_t destination, uint32_t leaf, uint32_t number, bool any_switch)
{
  route_forwarding_set (work->tables, leaf, destination, number);
  for (uint32_t at = 0; at < work->tables->n_switches; at++) {
    uint32_t best = TOPO_NONE, first = TOPO_NONE;

    if (at == leaf || work->hops[at] == UINT32_MAX)
      continue;
    for (uint32_t cable = work->cables.first[at]; cable < work->cables.first[at + 1]; cable++) {
      uint32_t to = work->cables.cables[cable].to;

      if (work->hops[to] + 1 != work->hops[at] ||
          (!any_switch && first != TOPO_NONE && to != first))
        continue;
      if (best == TOPO_NONE || work->used[cable] < work->used[best])
        best = cable;
      first = to;
    }
    work->used[best]++;
    route_forwarding_set (work->tables, at, destination, work->cables.cables[best].number);
  }
}

static gboolean
route_shortest (RouteForwarding *tables, bool any_switch)
{
  Shortest work = { .tables = tables, .cables = route_cables_new (tables) };
  g_autofree uint32_t *hops = g_new (uint32_t, tables->n_switches + 1);
  g_autofree uint32_t *queue = g_new (uint32_t, tables->n_switches + 1);
  g_autofree uint32_t *used = g_new0 (uint32_t, work.cables.first[tables->n_switches] + 1);
  g_autofree uint32_t *order = g_new (uint32_t, tables->n_destinations + 1);
  uint32_t n = order_destinations (tables, order), last = TOPO_NONE;

  work.hops = hops;
  work.used = used;
  for (uint32_t at = 0; at < n; at++) {
    uint32_t number, leaf = route_leaf_of (tables, order[at], &number);

    queue[0] = leaf;
    if (leaf != last)
      route_distances (&work.cables, tables->n_switches, hops, queue, 1);
    last = leaf;
    shortest_to (&work, order[at], leaf, number, any_switch);
  }
  route_cables_clear (&work.cables);
  return TRUE;
}

static gboolean
engine_minhop (RouteForwarding *tables, GError **error)
{
  (void) error;
  return route_shortest (tables, true);
}

static gboolean
engine_dor (RouteForwarding *tables, GError **error)
{
  (void) error;
  return route_shortest (tables, false);
}

/* --- Levels of switches --- */

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

/* Distance of every switch from the nearest root, in cables: roots are 0, and
 * going up means going to a smaller level.  Roots are the switches from which
 * nearly all adapters are at one distance: more than 9 of 10 at this distance, and
 * no other distance has more than 1 of 20 (OpenSM's rule for up/down routing), and of
 * these the switches with the smallest distance: in a tree of more than 20 branches
 * the leaves, too, are equally far from nearly all adapters.  Each connected part of
 * a fabric has its own roots; parts without adapters have UINT32_MAX.  NULL
 * when a part with adapters has no root.  The caller g_free()s it. */
static uint32_t *
levels_from_roots (const RouteForwarding *tables, const RouteCables *cables)
{
  uint32_t n = tables->n_switches;
  g_autofree uint32_t *adapters = count_adapters (tables);
  g_autofree uint32_t *hops = g_new (uint32_t, n + 1);
  g_autofree uint32_t *queue = g_new (uint32_t, n + 1);
  g_autofree uint32_t *at_distance = g_new (uint32_t, n + 1);
  g_autofree uint32_t *piece = g_new (uint32_t, n + 1);   /* the first switch of the part */
  g_autofree uint32_t *common = g_new (uint32_t, n + 1);  /* distance of nearly all adapters */
  g_autofree uint32_t *nearest = g_new (uint32_t, n + 1); /* [piece] the smallest of these */
  uint32_t n_roots = 0;

  for (uint32_t at = 0; at < n; at++)
    nearest[at] = UINT32_MAX;
  for (uint32_t from = 0; from < n; from++) {
    uint32_t n_adapters = 0, n_high = 0, n_some = 0, high = UINT32_MAX;

    queue[0] = from;
    route_distances (cables, n, hops, queue, 1);
    memset (at_distance, 0, (n + 1) * sizeof *at_distance);
    piece[from] = UINT32_MAX;
    for (uint32_t at = 0; at < n; at++) {
      if (hops[at] == UINT32_MAX)
        continue;
      piece[from] = MIN (piece[from], at);
      at_distance[hops[at]] += adapters[at];
      n_adapters += adapters[at];
    }
    for (uint32_t distance = 0; distance < n; distance++) {
      n_some += (uint64_t) at_distance[distance] * 20 > n_adapters;
      if ((uint64_t) at_distance[distance] * 10 <= (uint64_t) n_adapters * 9)
        continue;
      n_high++;
      high = distance;
    }
    common[from] = n_high == 1 && n_some == 1 ? high : UINT32_MAX;
    nearest[piece[from]] = MIN (nearest[piece[from]], common[from]);
  }
  for (uint32_t at = 0; at < n; at++) {
    if (nearest[piece[at]] == UINT32_MAX && adapters[at] > 0)
      return NULL;
    if (common[at] != UINT32_MAX && common[at] == nearest[piece[at]])
      queue[n_roots++] = at;
  }
  route_distances (cables, n, hops, queue, n_roots);
  return g_steal_pointer (&hops);
}

/* --- updn: never up again after going down ---
 *
 * Levels count from the roots; between switches of one level, up
 * is towards the smaller number, so that every cable has an upper end.  A
 * switch with a way down to the destination takes a shortest of those, any
 * other goes up towards the nearest such switch.  A packet that comes from
 * above therefore finds only switches that go on down, whichever way it came,
 * and buffers cannot wait for each other in a loop. */

typedef struct {
  RouteForwarding *tables;
  RouteCables cables;
  const uint32_t *level;
  uint32_t *down; /* [switch] hops downwards to the current leaf; UINT32_MAX: none */
  uint32_t *hops; /* [switch] hops of the way taken */
  uint32_t *queue;
  uint32_t *used; /* [cable] destinations so far */
} UpDown;

static bool
goes_up (const UpDown *work, uint32_t from, uint32_t to)
{
  return work->level[to] != work->level[from] ? work->level[to] < work->level[from] : to < from;
}

/* Fills down[] from the leaf upwards; queue[] gets the switches, whose number is returned. */
static uint32_t
find_ways_down (UpDown *work, uint32_t leaf)
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

/* Fills hops[] from the switches that have a way down to the switches below them, nearest
 * first: a bucket per number of hops, as all cables count 1. */
static void
find_ways_up (UpDown *work, uint32_t n_down)
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

/* Each switch takes the least used cable that begins a way of its kind. */
static void
updown_to (UpDown *work, uint32_t destination, uint32_t leaf, uint32_t number)
{
  route_forwarding_set (work->tables, leaf, destination, number);
  for (uint32_t at = 0; at < work->tables->n_switches; at++) {
    bool is_down = work->down[at] != UINT32_MAX;
    const uint32_t *distance = is_down ? work->down : work->hops;
    uint32_t best = TOPO_NONE;

    if (at == leaf || work->hops[at] == UINT32_MAX)
      continue;
    for (uint32_t cable = work->cables.first[at]; cable < work->cables.first[at + 1]; cable++) {
      uint32_t to = work->cables.cables[cable].to;

      if (distance[to] != UINT32_MAX && distance[to] + 1 == distance[at] &&
          (is_down ? goes_up (work, to, at) : goes_up (work, at, to)) &&
          (best == TOPO_NONE || work->used[cable] < work->used[best]))
        best = cable;
    }
    g_assert (best != TOPO_NONE);
    work->used[best]++;
    route_forwarding_set (work->tables, at, destination, work->cables.cables[best].number);
  }
}

static gboolean
engine_updn (RouteForwarding *tables, GError **error)
{
  uint32_t n = tables->n_switches, n_ordered, last = TOPO_NONE;
  UpDown work = { .tables = tables, .cables = route_cables_new (tables) };
  g_autofree uint32_t *level = levels_from_roots (tables, &work.cables);
  g_autofree uint32_t *down = g_new (uint32_t, n + 1);
  g_autofree uint32_t *hops = g_new (uint32_t, n + 1);
  g_autofree uint32_t *queue = g_new (uint32_t, n + 1);
  g_autofree uint32_t *used = g_new0 (uint32_t, work.cables.first[n] + 1);
  g_autofree uint32_t *order = g_new (uint32_t, tables->n_destinations + 1);

  if (level == NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%s: updn finds no roots: from no switch are nearly all adapters equally far",
                 tables->fabric->source);
    route_cables_clear (&work.cables);
    return FALSE;
  }
  work.level = level;
  work.down = down;
  work.hops = hops;
  work.queue = queue;
  work.used = used;
  n_ordered = order_destinations (tables, order);
  for (uint32_t at = 0; at < n_ordered; at++) {
    uint32_t number, leaf = route_leaf_of (tables, order[at], &number);

    if (leaf != last)
      find_ways_up (&work, find_ways_down (&work, leaf));
    last = leaf;
    updown_to (&work, order[at], leaf, number);
  }
  route_cables_clear (&work.cables);
  return TRUE;
}

/* --- ftree: shift permutations of a fat tree do not collide ---
 *
 * Levels count from the leaves, the switches that have adapters; every cable
 * must join neighbouring levels.  For each destination a chain is laid from
 * its leaf to the top, at each level by the cable that carries the fewest
 * destinations downwards so far; every other switch goes up to the lowest one
 * of the chain that it can reach, over the parallel cable that carries the
 * fewest upwards.  In a full tree the k-th adapter of every leaf thus has a way
 * down of its own, and up links are shared by the destinations of equal k: what
 * "destination modulo k" routing gives (Zahavi, "Fat-tree routing and node
 * ordering providing contention free traffic for MPI global collectives",
 * 2012, shows that shifts then never share a link).  Switches that the chain
 * does not serve, in trees with missing cables, use other ancestors of the
 * leaf. */

typedef struct {
  RouteForwarding *tables;
  RouteCables cables;
  const uint32_t *level;
  uint32_t *down_used, *up_used; /* [cable] seen from its lower end */
  uint32_t *below;               /* switches with a way whose children have none yet */
  uint32_t destination;
} FatTree;

static bool
is_known (const FatTree *work, uint32_t at)
{
  return route_forwarding_out (work->tables, at, work->destination) != ROUTE_NO_PORT;
}

static bool
is_upward (const FatTree *work, uint32_t from, uint32_t to)
{
  return work->level[to] == work->level[from] + 1;
}

/* Every switch below `top` without a way so far goes up to it. */
static void
send_up_to (FatTree *work, uint32_t top)
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
climb (FatTree *work, uint32_t at, bool count)
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

static void
fat_tree_to (FatTree *work, uint32_t destination)
{
  uint32_t number, leaf = route_leaf_of (work->tables, destination, &number);
  g_autoptr (GArray) ancestors = NULL;
  g_autofree bool *seen = NULL;

  if (leaf == TOPO_NONE)
    return;
  work->destination = destination;
  route_forwarding_set (work->tables, leaf, destination, number);
  for (uint32_t at = leaf; at != TOPO_NONE; at = climb (work, at, true))
    send_up_to (work, at);

  /* Chains over the other ancestors of the leaf, level by level, until each has its way down
   * and all switches below have their way up. */
  ancestors = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  seen = g_new0 (bool, work->tables->n_switches + 1);
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

static gboolean
check_fat_tree (const FatTree *work, GError **error)
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

static gboolean
engine_ftree (RouteForwarding *tables, GError **error)
{
  FatTree work = { .tables = tables, .cables = route_cables_new (tables) };
  uint32_t n = tables->n_switches, n_cables = work.cables.first[n], n_leaves = 0;
  g_autofree uint32_t *adapters = count_adapters (tables);
  g_autofree uint32_t *level = g_new (uint32_t, n + 1); /* from the nearest with adapters */
  g_autofree uint32_t *down_used = g_new0 (uint32_t, n_cables + 1);
  g_autofree uint32_t *up_used = g_new0 (uint32_t, n_cables + 1);
  g_autofree uint32_t *below = g_new (uint32_t, n + 1);
  gboolean done;

  for (uint32_t at = 0; at < n; at++)
    if (adapters[at] > 0)
      below[n_leaves++] = at;
  route_distances (&work.cables, n, level, below, n_leaves);
  work.level = level;
  work.down_used = down_used;
  work.up_used = up_used;
  work.below = below;
  done = check_fat_tree (&work, error);
  for (uint32_t destination = 0; done && destination < tables->n_destinations; destination++)
    fat_tree_to (&work, destination);
  route_cables_clear (&work.cables);
  return done;
}

/* --- All engines --- */

static const struct {
  const char *name;
  gboolean (*fill) (RouteForwarding *tables, GError **error);
} engines[] = {
  { "minhop", engine_minhop },
  { "updn", engine_updn },
  { "ftree", engine_ftree },
  { "dor", engine_dor },
};

RouteForwarding *
route_forwarding_compute (const TopoFabric *fabric, const char *engine, GError **error)
{
  g_autoptr (RouteForwarding) tables = NULL;
  g_autofree char *known = NULL;

  for (guint at = 0; at < G_N_ELEMENTS (engines); at++) {
    if (strcmp (engines[at].name, engine) != 0)
      continue;
    tables = route_forwarding_new (fabric, engine);
    return engines[at].fill (tables, error) ? g_steal_pointer (&tables) : NULL;
  }
  known = g_strjoinv (", ", (char **) topo_routing_engines ());
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               "%s: no engine \"%s\" (known: %s), and no file of that name", fabric->source, engine,
               known);
  return NULL;
}
