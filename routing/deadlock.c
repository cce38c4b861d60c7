/* deadlock.c - circles of waiting buffers, virtual lanes without them, ports to choose among.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "routing/forwarding/forwarding_private.h"
#include "routing/deadlock.h"
#include "routing/forwarding/forwarding.h"
#include "topology/machine.h"

#include <stdlib.h>
#include <string.h>

/* --- Circles of links that wait for each other --- */

/* Strongly connected links (Tarjan, 1972), without recursion. */
typedef struct {
  uint32_t port;
  uint32_t number; /* from which the next wait is looked for */
} Frame;

typedef struct {
  const TopoFabric *fabric;
  const RouteNumbers *next;
  RouteLoops *loops;
  uint32_t *order, *low; /* [port] 0: not visited */
  bool *on_stack;
  uint32_t *stack, n_stack;
  Frame *frames;
  uint32_t n_frames, n_visited;
} Search;

static uint32_t
port_behind (const TopoFabric *fabric, uint32_t port, uint32_t number)
{
  return fabric->devices[fabric->ports[fabric->ports[port].peer].device].first_port + number - 1;
}

static void
enter (Search *search, uint32_t port)
{
  search->order[port] = search->low[port] = ++search->n_visited;
  search->stack[search->n_stack++] = port;
  search->on_stack[port] = true;
  search->frames[search->n_frames++] = (Frame){ port, 1 };
}

/* A shortest circle within a group of links: breadth first from its first
 * link until a link waits for that link again. */
static void
walk_circle (Search *search, const uint32_t *members, uint32_t n)
{
  const TopoFabric *fabric = search->fabric;
  g_autofree uint32_t *before = g_new (uint32_t, fabric->n_ports);
  g_autofree uint32_t *queue = g_new (uint32_t, n);
  g_autofree bool *inside = g_new0 (bool, fabric->n_ports);
  uint32_t first = 0, n_queue = 0, last = TOPO_NONE;

  for (uint32_t at = 0; at < n; at++) {
    inside[members[at]] = true;
    before[members[at]] = TOPO_NONE;
  }
  queue[n_queue++] = members[0];
  while (last == TOPO_NONE) {
    uint32_t port = queue[first++], number = 0;

    while ((number = route_numbers_next (&search->next[port], number + 1)) != 0) {
      uint32_t next = port_behind (fabric, port, number);

      if (next == members[0])
        last = port;
      else if (inside[next] && before[next] == TOPO_NONE) {
        before[next] = port;
        queue[n_queue++] = next;
      }
    }
  }
  for (uint32_t port = last; port != TOPO_NONE; port = before[port])
    search->loops->n_loop++;
  search->loops->loop = g_new (uint32_t, search->loops->n_loop);
  first = search->loops->n_loop;
  for (uint32_t port = last; port != TOPO_NONE; port = before[port])
    search->loops->loop[--first] = port;
}

/* The waits of the link on top are done: closes its group if it is the group's first link. */
static void
leave (Search *search)
{
  uint32_t port = search->frames[--search->n_frames].port;

  if (search->low[port] == search->order[port]) {
    /* The links from `port` on the stack are one group; a loop when there are
     * several: a link never waits for itself. */
    uint32_t first = search->n_stack;

    do
      search->on_stack[search->stack[--first]] = false;
    while (search->stack[first] != port);
    if (search->n_stack - first > 1) {
      search->loops->n_loops++;
      if (search->loops->loop == NULL)
        walk_circle (search, &search->stack[first], search->n_stack - first);
    }
    search->n_stack = first;
  }
  if (search->n_frames > 0) {
    uint32_t parent = search->frames[search->n_frames - 1].port;

    search->low[parent] = MIN (search->low[parent], search->low[port]);
  }
}

RouteLoops
route_loops_find (const TopoFabric *fabric, const RouteNumbers *next)
{
  uint32_t n = fabric->n_ports + 1;
  g_autofree uint32_t *order = g_new0 (uint32_t, n);
  g_autofree uint32_t *low = g_new0 (uint32_t, n);
  g_autofree uint32_t *stack = g_new (uint32_t, n);
  g_autofree bool *on_stack = g_new0 (bool, n);
  g_autofree Frame *frames = g_new (Frame, n);
  RouteLoops loops = { 0 };
  Search search = { .fabric = fabric,
                    .next = next,
                    .loops = &loops,
                    .order = order,
                    .low = low,
                    .on_stack = on_stack,
                    .stack = stack,
                    .frames = frames };

  for (uint32_t port = 0; port < fabric->n_ports; port++) {
    if (order[port] != 0 || route_numbers_next (&next[port], 1) == 0)
      continue;
    enter (&search, port);
    while (search.n_frames > 0) {
      Frame *frame = &frames[search.n_frames - 1];
      uint32_t at = frame->port, number = route_numbers_next (&next[at], frame->number), to;

      if (number == 0) {
        leave (&search);
        continue;
      }
      frame->number = number + 1;
      to = port_behind (fabric, at, number);
      if (order[to] == 0)
        enter (&search, to);
      else if (on_stack[to])
        low[at] = MIN (low[at], order[to]);
    }
  }
  return loops;
}

/* --- Lanes that keep the routes of any tables from deadlock ---
 *
 * Each lane has its graph of which link waits for which, and a rank for every
 * link, smaller than those of all it waits for.  A new wait that goes
 * against the ranks is either part of a circle, or a few ranks change places
 * (Pearce and Kelly, "A dynamic topological sort algorithm for directed
 * acyclic graphs", 2007), so that millions of routes are placed in seconds. */

/* A packet's header can name 15 for data; more layers serve to count the lanes that
 * would be needed. */
#define MOST_LAYERS 64

typedef struct {
  RouteNumbers *next;    /* [port] links that it waits for, by number at the switch behind it */
  RouteNumbers *before;  /* [port] links that wait for it, by number at the switch before it */
  RouteNumbers *refused; /* [port] waits that would close a circle */
  uint32_t *rank;        /* [port] */
} Layer;

typedef struct {
  uint32_t at; /* switch of the sources */
  uint32_t destination;
  uint32_t hops;
} Route;

typedef struct {
  RouteForwarding *tables;
  const TopoFabric *fabric;
  Layer layers[MOST_LAYERS];
  Route *routes;
  uint32_t n_routes;
  uint8_t *lane;   /* [switch * n_destinations + destination] */
  uint32_t *links; /* of the current route */
  uint32_t *fresh; /* those whose wait is new */
  /* For changes of ranks: the links found forwards and backwards, and the ranks to share. */
  uint32_t *found, *ranks;
  bool *seen;
} Layers;

/* --- Ranks --- */

/* Appends to found[n..] the links that `from` leads to with ranks up to `bound`
 * (forwards) or down to it (backwards); returns the new length, 0 when `goal` is
 * among them. */
static uint32_t
spread (Layers *work, const Layer *layer, uint32_t from, uint32_t n, bool forwards, uint32_t bound,
        uint32_t goal)
{
  const TopoFabric *fabric = work->fabric;
  uint32_t first = n;

  work->found[n++] = from;
  work->seen[from] = true;
  for (; first < n; first++) {
    uint32_t port = work->found[first], number = 0;
    const RouteNumbers *numbers = forwards ? &layer->next[port] : &layer->before[port];
    uint32_t before = fabric->devices[fabric->ports[port].device].first_port;

    while ((number = route_numbers_next (numbers, number + 1)) != 0) {
      /* The links that wait for `port` end at the ports of the switch that it leaves. */
      uint32_t to =
          forwards ? port_behind (fabric, port, number) : fabric->ports[before + number - 1].peer;

      if (to == goal) {
        for (uint32_t at = 0; at < n; at++)
          work->seen[work->found[at]] = false;
        return 0;
      }
      if (work->seen[to] || (forwards ? layer->rank[to] > bound : layer->rank[to] < bound))
        continue;
      work->seen[to] = true;
      work->found[n++] = to;
    }
  }
  return n;
}

static gint
by_value (gconstpointer left, gconstpointer right, gpointer value)
{
  const uint32_t *of = value;
  uint32_t a = of != NULL ? of[*(const uint32_t *) left] : *(const uint32_t *) left;
  uint32_t b = of != NULL ? of[*(const uint32_t *) right] : *(const uint32_t *) right;

  return a < b ? -1 : a > b;
}

/* Changes the ranks so that `from` can wait for `to`, which ranks before it: the links
 * that lead to `from` take the smallest of all ranks concerned, then those after `to`.
 * False when `to` leads to `from`. */
static bool
rank_anew (Layers *work, Layer *layer, uint32_t from, uint32_t to)
{
  uint32_t n_after = spread (work, layer, to, 0, true, layer->rank[from], from), n;

  if (n_after == 0)
    return false;
  n = spread (work, layer, from, n_after, false, layer->rank[to], TOPO_NONE);
  g_qsort_with_data (work->found, (gint) n_after, sizeof *work->found, by_value, layer->rank);
  g_qsort_with_data (work->found + n_after, (gint) (n - n_after), sizeof *work->found, by_value,
                     layer->rank);
  for (uint32_t at = 0; at < n; at++) {
    work->ranks[at] = layer->rank[work->found[at]];
    work->seen[work->found[at]] = false;
  }
  g_qsort_with_data (work->ranks, (gint) n, sizeof *work->ranks, by_value, NULL);
  for (uint32_t at = 0; at < n; at++)
    layer->rank[work->found[(at + n_after) % n]] = work->ranks[at];
  return true;
}

/* --- Routes --- */

/* Adds all waits of the current route, or none when a wait closes a circle.  A wait
 * that closes a circle before other waits of its route are added is refused for ever,
 * as waits do not go away. */
static bool
fits (Layers *work, Layer *layer, uint32_t n_links)
{
  const TopoFabric *fabric = work->fabric;
  const uint32_t *links = work->links;
  uint32_t n_fresh = 0, at;

  for (at = 0; at + 1 < n_links; at++)
    if (route_numbers_has (&layer->refused[links[at]],
                           topo_fabric_port_number (fabric, links[at + 1])))
      return false;
  for (at = 0; at + 1 < n_links; at++) {
    uint32_t from = links[at], to = links[at + 1];
    uint32_t number = topo_fabric_port_number (fabric, to);

    if (route_numbers_has (&layer->next[from], number))
      continue;
    if (layer->rank[from] > layer->rank[to] && !rank_anew (work, layer, from, to))
      break;
    route_numbers_add (&layer->next[from], number);
    route_numbers_add (&layer->before[to],
                       topo_fabric_port_number (fabric, fabric->ports[from].peer));
    work->fresh[n_fresh++] = at;
  }
  if (at + 1 >= n_links)
    return true;
  if (n_fresh == 0)
    route_numbers_add (&layer->refused[links[at]], topo_fabric_port_number (fabric, links[at + 1]));
  while (n_fresh > 0) {
    uint32_t from = links[work->fresh[--n_fresh]], to = links[work->fresh[n_fresh] + 1];

    route_numbers_remove (&layer->next[from], topo_fabric_port_number (fabric, to));
    route_numbers_remove (&layer->before[to],
                          topo_fabric_port_number (fabric, fabric->ports[from].peer));
  }
  return false;
}

/* The links between switches of a route; 0 when there are none, or it does
 * not arrive. */
static uint32_t
walk (Layers *work, uint32_t at, uint32_t destination)
{
  const RouteForwarding *tables = work->tables;
  uint32_t target = tables->destination_port[destination], n_links = 0;

  while (n_links <= tables->n_switches) {
    uint32_t number = route_forwarding_out (tables, at, destination), port;

    if (number == ROUTE_NO_PORT)
      return 0;
    port = work->fabric->devices[tables->switch_device[at]].first_port + number - 1;
    if (work->fabric->ports[port].peer == target)
      return n_links;
    if (work->fabric->ports[port].peer == TOPO_NONE)
      return 0;
    work->links[n_links++] = port;
    at = route_forwarding_behind (tables, port);
    if (at == TOPO_NONE)
      return 0;
  }
  return 0;
}

/* --- Orders --- */

static int
by_place (const Route *a, const Route *b)
{
  if (a->destination != b->destination)
    return a->destination < b->destination ? -1 : 1;
  return a->at < b->at ? -1 : a->at > b->at;
}

static int
longest_first (const void *left, const void *right)
{
  const Route *a = left, *b = right;

  return a->hops != b->hops ? (a->hops > b->hops ? -1 : 1) : by_place (a, b);
}

static int
shortest_first (const void *left, const void *right)
{
  const Route *a = left, *b = right;

  return a->hops != b->hops ? (a->hops < b->hops ? -1 : 1) : by_place (a, b);
}

static void
layer_init (Layer *layer, uint32_t n_ports)
{
  layer->next = g_new0 (RouteNumbers, n_ports);
  layer->before = g_new0 (RouteNumbers, n_ports);
  layer->refused = g_new0 (RouteNumbers, n_ports);
  layer->rank = g_new (uint32_t, n_ports);
  for (uint32_t port = 0; port < n_ports; port++)
    layer->rank[port] = port;
}

/* Puts each route on the first lane that fits, in several orders of the routes; keeps the lanes
 * of the best order.  Returns their number, MOST_LAYERS + 1 when that many are not enough. */
static uint32_t
place_best (Layers *work)
{
  static int (*const orders[]) (const void *, const void *) = { NULL, longest_first,
                                                                shortest_first };
  gsize size = (gsize) work->tables->n_switches * work->tables->n_destinations;
  g_autofree uint8_t *lane = g_new0 (uint8_t, size + 1);
  uint32_t fewest = MOST_LAYERS + 1;

  for (guint order = 0; order < G_N_ELEMENTS (orders) && fewest > 1; order++) {
    uint32_t n_layers = 0;

    if (orders[order] != NULL)
      qsort (work->routes, work->n_routes, sizeof *work->routes, orders[order]);
    for (uint32_t i = 0; i < work->n_routes && n_layers <= MOST_LAYERS; i++) {
      const Route *route = &work->routes[i];
      uint32_t n_links = walk (work, route->at, route->destination), at = 0;

      for (; at < MOST_LAYERS; at++) {
        if (at == n_layers)
          layer_init (&work->layers[n_layers++], work->fabric->n_ports);
        if (fits (work, &work->layers[at], n_links))
          break;
      }
      lane[(size_t) route->at * work->tables->n_destinations + route->destination] = (uint8_t) at;
      if (at == MOST_LAYERS)
        n_layers = MOST_LAYERS + 1;
    }
    for (uint32_t at = 0; at < MIN (n_layers, MOST_LAYERS); at++) {
      g_free (work->layers[at].next);
      g_free (work->layers[at].before);
      g_free (work->layers[at].refused);
      g_free (work->layers[at].rank);
    }
    n_layers = MAX (n_layers, 1);
    if (n_layers < fewest) {
      fewest = n_layers;
      memcpy (work->lane, lane, size);
    }
  }
  return fewest;
}

gboolean
route_forwarding_add_layers (RouteForwarding *tables, uint32_t max_vls, GError **error)
{
  uint32_t n_ports = tables->fabric->n_ports, n = tables->n_destinations, n_layers;
  g_autofree uint32_t *links = g_new (uint32_t, tables->n_switches + 2);
  g_autofree uint32_t *fresh = g_new (uint32_t, tables->n_switches + 2);
  g_autofree uint32_t *found = g_new (uint32_t, n_ports + 1);
  g_autofree uint32_t *ranks = g_new (uint32_t, n_ports + 1);
  g_autofree bool *seen = g_new0 (bool, n_ports + 1);
  g_autofree bool *has_adapters = g_new0 (bool, tables->n_switches + 1);
  g_autofree uint8_t *lane = g_new0 (uint8_t, (gsize) tables->n_switches * n + 1);
  g_autoptr (GArray) routes = g_array_new (FALSE, FALSE, sizeof (Route));
  g_autofree Layers *work = g_new (Layers, 1);

  *work = (Layers){ .tables = tables,
                    .fabric = tables->fabric,
                    .lane = lane,
                    .links = links,
                    .fresh = fresh,
                    .found = found,
                    .ranks = ranks,
                    .seen = seen };
  for (uint32_t source = 0; source < n; source++) {
    uint32_t at = route_forwarding_behind (tables, tables->destination_port[source]);

    if (at != TOPO_NONE)
      has_adapters[at] = true;
  }
  /* By destination: routes to the same destination never wait for each other in a circle. */
  for (uint32_t destination = 0; destination < n; destination++)
    for (uint32_t at = 0; at < tables->n_switches; at++) {
      Route route = { at, destination, has_adapters[at] ? walk (work, at, destination) : 0 };

      if (route.hops > 1)
        g_array_append_val (routes, route);
    }
  work->n_routes = routes->len;
  work->routes = (Route *) (void *) routes->data;
  n_layers = place_best (work);
  if (n_layers > max_vls) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%s: routes %s need %s%u virtual lanes to be free of deadlock, and the switches "
                 "have %u (switch.vls)",
                 tables->fabric->source, tables->engine, n_layers > MOST_LAYERS ? "more than " : "",
                 MIN (n_layers, MOST_LAYERS), max_vls);
    return FALSE;
  }

  tables->n_vls = n_layers;
  g_clear_pointer (&tables->vl, g_free);
  if (n_layers == 1)
    return TRUE;
  tables->vl = g_new0 (uint8_t, (gsize) n * n);
  for (uint32_t source = 0; source < n; source++) {
    uint32_t at = route_forwarding_behind (tables, tables->destination_port[source]);

    if (at != TOPO_NONE)
      memcpy (&tables->vl[(size_t) source * n], &lane[(size_t) at * n], n);
  }
  return TRUE;
}

/* --- The waits of all that adaptive switches may choose ---
 *
 * A packet may take any of its choices at every switch, so all the ways together
 * must be free of circles of waiting links.  Without detours the lane does not
 * matter: it is the same on the whole way.  With them a packet rises from lane 0
 * to lane 1 and never falls, so that a circle would be on one lane. */

/* How a packet came to a switch, as far as its choices depend on it. */
typedef enum {
  BY_LEAF,   /* from an adapter or from a leaf, on lane 0: it may take a detour */
  BY_GLOBAL, /* over a cable between groups, on lane 0 */
  ON_LANE_1,
  ARRIVALS
} Arrival;

typedef struct {
  const RouteForwarding *tables;
  RouteNumbers *next; /* [lane * n_ports + port] */
  uint64_t *global;   /* [switch * group_words]: numbers of cables between spines */
  bool *seen;         /* [switch * ARRIVALS + Arrival] */
  uint32_t *queue;    /* of the same */
  bool *has_adapters; /* [switch] */
} Choices;

static uint64_t
choices_of (const Choices *work, uint32_t at, uint32_t to, Arrival arrival, uint32_t word)
{
  const RouteForwarding *tables = work->tables;
  size_t index = ((size_t) at * tables->n_switches + to) * tables->group_words + word;

  return tables->group[index] |
         (tables->detour != NULL && arrival == BY_LEAF ? tables->detour[index] : 0);
}

/* How a packet that came by `from` comes to the switch behind `port`. */
static Arrival
arrival_behind (const RouteForwarding *tables, uint32_t port, Arrival from)
{
  if (tables->is_global == NULL || from == ON_LANE_1)
    return from;
  if (!tables->is_global[port])
    return BY_LEAF;
  return from == BY_GLOBAL ? ON_LANE_1 : BY_GLOBAL;
}

/* Adds the waits of the packets from all switches with adapters to one of them.  Each switch is
 * visited once for each way of coming to it. */
static void
add_waits_to (Choices *work, uint32_t to)
{
  const RouteForwarding *tables = work->tables;
  uint32_t n_ports = tables->fabric->n_ports, words = tables->group_words, first = 0, n = 0;

  memset (work->seen, 0, (size_t) tables->n_switches * ARRIVALS * sizeof *work->seen);
  for (uint32_t at = 0; at < tables->n_switches; at++)
    if (work->has_adapters[at] && at != to) {
      work->seen[at * ARRIVALS + BY_LEAF] = true;
      work->queue[n++] = at * ARRIVALS + BY_LEAF;
    }
  while (first < n) {
    uint32_t at = work->queue[first] / ARRIVALS;
    Arrival arrival = (Arrival) (work->queue[first++] % ARRIVALS);
    uint32_t first_port = tables->fabric->devices[tables->switch_device[at]].first_port;

    for (uint32_t word = 0; word < words; word++)
      for (uint64_t bits = choices_of (work, at, to, arrival, word); bits != 0; bits &= bits - 1) {
        uint32_t port = first_port + word * 64 + (uint32_t) __builtin_ctzll (bits) - 1;
        uint32_t behind = route_forwarding_behind (tables, port);
        Arrival there = arrival_behind (tables, port, arrival);
        RouteNumbers *next = &work->next[(there == ON_LANE_1) * n_ports + port];

        if (behind == to)
          continue;
        /* A second cable between groups is on lane 1: a buffer of lane 0 waits for it, but never
         * it for one of lane 0. */
        for (uint32_t other = 0; other < words; other++)
          next->bits[other] |= choices_of (work, behind, to, there, other) &
                               ~(there == BY_GLOBAL ? work->global[behind * words + other] : 0);
        if (!work->seen[behind * ARRIVALS + there]) {
          work->seen[behind * ARRIVALS + there] = true;
          work->queue[n++] = behind * ARRIVALS + there;
        }
      }
  }
}

RouteNumbers *
route_choice_waits (const RouteForwarding *tables)
{
  const TopoFabric *fabric = tables->fabric;
  gsize n = tables->n_switches;
  g_autofree uint64_t *global = g_new0 (uint64_t, n * tables->group_words + 1);
  g_autofree bool *seen = g_new (bool, n *ARRIVALS + 1);
  g_autofree uint32_t *queue = g_new (uint32_t, n * ARRIVALS + 1);
  g_autofree bool *has_adapters = g_new0 (bool, n + 1);
  Choices work = { .tables = tables,
                   .next = g_new0 (RouteNumbers, 2 * (gsize) fabric->n_ports + 1),
                   .global = global,
                   .seen = seen,
                   .queue = queue,
                   .has_adapters = has_adapters };

  for (uint32_t destination = 0; destination < tables->n_destinations; destination++) {
    uint32_t number, at = route_leaf_of (tables, destination, &number);

    if (at != TOPO_NONE)
      has_adapters[at] = true;
  }
  for (uint32_t port = 0; tables->is_global != NULL && port < fabric->n_ports; port++)
    if (tables->is_global[port]) {
      uint32_t at = tables->switch_of[fabric->ports[port].device];
      uint32_t number = topo_fabric_port_number (fabric, port);

      global[at * tables->group_words + number / 64] |= UINT64_C (1) << (number % 64);
    }
  for (uint32_t to = 0; to < n; to++)
    if (has_adapters[to])
      add_waits_to (&work, to);
  return work.next;
}

/* --- The ports that an adaptive switch may choose among ---
 *
 * Every port with which a shortest way begins: in a fat tree all ports up
 * until the first common ancestor, then the ports down. */

typedef struct {
  RouteForwarding *tables;
  RouteCables cables;
  bool *has_adapters; /* [switch] */
  uint32_t *hops;     /* [switch] to the current destination's */
  uint32_t *queue;
  uint32_t *place; /* [switch] group of a Dragonfly+, by number; for detours */
} Groups;

static uint64_t *
ports_of (const Groups *work, uint64_t *sets, uint32_t at, uint32_t to)
{
  return &sets[((size_t) at * work->tables->n_switches + to) * work->tables->group_words];
}

static void
add_port (uint64_t *ports, uint32_t number)
{
  ports[number / 64] |= UINT64_C (1) << (number % 64);
}

/* Fills the groups for the packets to one switch. */
static void
fill_groups_to (Groups *work, uint32_t to)
{
  const RouteForwarding *tables = work->tables;

  work->queue[0] = to;
  route_distances (&work->cables, tables->n_switches, work->hops, work->queue, 1);
  for (uint32_t at = 0; at < tables->n_switches; at++)
    for (uint32_t i = work->cables.first[at]; i < work->cables.first[at + 1] && at != to; i++) {
      const RouteCable *cable = &work->cables.cables[i];

      if (work->hops[at] != UINT32_MAX && work->hops[cable->to] + 1 == work->hops[at])
        add_port (ports_of (work, tables->group, at, to), cable->number);
    }
}

/* Fills the detours to one switch: from a spine of another group the cables to spines of third
 * groups that have one to the destination's, two cables away from it; and from a leaf the cables
 * to such spines. */
static void
fill_detours_to (Groups *work, uint32_t to)
{
  const RouteForwarding *tables = work->tables;
  g_autofree bool *has_detour = g_new0 (bool, tables->n_switches + 1);

  for (int leaves = 0; leaves <= 1; leaves++)
    for (uint32_t at = 0; at < tables->n_switches; at++) {
      if (work->place[at] == work->place[to] || work->has_adapters[at] != leaves)
        continue;
      for (uint32_t i = work->cables.first[at]; i < work->cables.first[at + 1]; i++) {
        const RouteCable *cable = &work->cables.cables[i];

        if (leaves ? !has_detour[cable->to]
                   : work->has_adapters[cable->to] || work->hops[cable->to] != 2 ||
                         work->place[cable->to] == work->place[to])
          continue;
        add_port (ports_of (work, tables->detour, at, to), cable->number);
        has_detour[at] = true;
      }
    }
}

/* Finds the groups of a Dragonfly+, the switches that cables of leaves join; false for a fabric
 * that is none: a cable joins two leaves or two spines of a group, or a switch has no leaf. */
static bool
find_places (Groups *work)
{
  RouteForwarding *tables = work->tables;
  const TopoFabric *fabric = tables->fabric;
  uint32_t n_places = 0;

  for (uint32_t at = 0; at < tables->n_switches; at++)
    work->place[at] = TOPO_NONE;
  for (uint32_t leaf = 0; leaf < tables->n_switches; leaf++) {
    uint32_t first = 0, n = 0;

    if (!work->has_adapters[leaf] || work->place[leaf] != TOPO_NONE)
      continue;
    work->place[leaf] = n_places;
    work->queue[n++] = leaf;
    while (first < n) {
      uint32_t at = work->queue[first++];

      for (uint32_t i = work->cables.first[at]; i < work->cables.first[at + 1]; i++) {
        uint32_t to = work->cables.cables[i].to;

        if (work->has_adapters[at] && work->has_adapters[to])
          return false;
        if (work->has_adapters[at] == work->has_adapters[to] || work->place[to] != TOPO_NONE)
          continue;
        work->place[to] = n_places;
        work->queue[n++] = to;
      }
    }
    n_places++;
  }
  for (uint32_t at = 0; at < tables->n_switches; at++)
    for (uint32_t i = work->cables.first[at]; i < work->cables.first[at + 1]; i++) {
      const RouteCable *cable = &work->cables.cables[i];
      uint32_t first_port = fabric->devices[tables->switch_device[at]].first_port;

      if (work->place[at] == TOPO_NONE)
        return false;
      if (work->has_adapters[at] || work->has_adapters[cable->to])
        continue;
      if (work->place[at] == work->place[cable->to])
        return false;
      tables->is_global[first_port + cable->number - 1] = true;
    }
  return n_places > 1;
}

static void
drop_choices (RouteForwarding *tables)
{
  g_clear_pointer (&tables->group, g_free);
  g_clear_pointer (&tables->detour, g_free);
  g_clear_pointer (&tables->is_global, g_free);
}

/* False and *error, without any choices, when their buffers wait in a circle. */
static gboolean
check_choices (RouteForwarding *tables, uint32_t n_lanes, GError **error)
{
  const TopoFabric *fabric = tables->fabric;
  g_autofree RouteNumbers *next = route_choice_waits (tables);

  for (uint32_t lane = 0; lane < n_lanes; lane++) {
    RouteLoops loops = route_loops_find (fabric, &next[(gsize) lane * fabric->n_ports]);
    g_autofree uint32_t *loop = loops.loop;

    if (loops.n_loops > 0) {
      g_autofree char *first = topo_fabric_port_name (fabric, loop[0]);
      g_autofree char *second = topo_fabric_port_name (fabric, loop[1]);

      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                   "%s: adaptive routing would deadlock here: the buffers behind %u links wait for "
                   "each other in a circle, from %s over %s (switch.adaptive = none)",
                   fabric->source, loops.n_loop, first, second);
      drop_choices (tables);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
add_choices (RouteForwarding *tables, bool with_detours, GError **error)
{
  const TopoFabric *fabric = tables->fabric;
  uint32_t n = tables->n_switches, most = 0;
  g_autofree bool *has_adapters = g_new0 (bool, n + 1);
  g_autofree uint32_t *hops = g_new (uint32_t, n + 1);
  g_autofree uint32_t *queue = g_new (uint32_t, n + 1);
  g_autofree uint32_t *place = g_new (uint32_t, n + 1);
  Groups work = { .tables = tables,
                  .cables = route_cables_new (tables),
                  .has_adapters = has_adapters,
                  .hops = hops,
                  .queue = queue,
                  .place = place };
  bool is_possible = true;
  gsize size;

  for (uint32_t at = 0; at < n; at++)
    most = MAX (most, fabric->devices[tables->switch_device[at]].n_ports);
  drop_choices (tables);
  tables->group_words = most / 64 + 1;
  size = (gsize) n * n * tables->group_words + 1;
  tables->group = g_new0 (uint64_t, size);
  for (uint32_t destination = 0; destination < tables->n_destinations; destination++) {
    uint32_t number, at = route_leaf_of (tables, destination, &number);

    if (at != TOPO_NONE)
      has_adapters[at] = true;
  }
  if (with_detours) {
    tables->detour = g_new0 (uint64_t, size);
    tables->is_global = g_new0 (bool, fabric->n_ports + 1);
    is_possible = find_places (&work);
  }
  for (uint32_t to = 0; to < n && is_possible; to++) {
    if (has_adapters[to])
      fill_groups_to (&work, to);
    if (has_adapters[to] && with_detours)
      fill_detours_to (&work, to);
  }
  route_cables_clear (&work.cables);
  if (is_possible)
    return check_choices (tables, with_detours ? 2 : 1, error);
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               "%s: not a Dragonfly+, which alone has detours: groups of leaves with adapters and "
               "of spines without, with cables between spines of several groups "
               "(switch.adaptive = free)",
               fabric->source);
  drop_choices (tables);
  return FALSE;
}

gboolean
route_forwarding_add_groups (RouteForwarding *tables, GError **error)
{
  return add_choices (tables, false, error);
}

gboolean
route_forwarding_add_detours (RouteForwarding *tables, GError **error)
{
  if (tables->n_vls > 1) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%s: routes %s have %u virtual lanes of their own, which detours would take "
                 "(switch.adaptive = free)",
                 tables->fabric->source, tables->engine, tables->n_vls);
    return FALSE;
  }
  if (!add_choices (tables, true, error))
    return FALSE;
  tables->n_vls = 2;
  return TRUE;
}

gboolean
route_forwarding_add_choices (RouteForwarding *tables, TopoAdaptive adaptive, GError **error)
{
  switch (adaptive) {
  case TOPO_ADAPTIVE_NONE: return TRUE;
  case TOPO_ADAPTIVE_FREE: return route_forwarding_add_groups (tables, error);
  case TOPO_ADAPTIVE_DETOURS: return route_forwarding_add_detours (tables, error);
  }
  g_assert_not_reached ();
}
