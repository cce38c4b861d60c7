/* distance.c - hops between any two nodes of a machine, and the nodes near each.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/search/distance.h"

#include "study/study_error.h"

#include <stdlib.h>
#include <string.h>

/* A table of 16 MiB still serves a search; a larger one is slower than the
 * coordinates of a torus. */
#define MAX_TABLE_NODES 4096u

static uint32_t
torus_hops (const StudyDistance *distance, uint32_t from, uint32_t to)
{
  const TopoShape *shape = distance->shape;
  const uint16_t *a = &distance->at[(size_t) from * TOPO_MAX_DIMENSIONS];
  const uint16_t *b = &distance->at[(size_t) to * TOPO_MAX_DIMENSIONS];
  uint32_t hops = 0;

  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++) {
    uint32_t forth = a[dimension] > b[dimension] ? (uint32_t) (a[dimension] - b[dimension])
                                                 : (uint32_t) (b[dimension] - a[dimension]);
    uint32_t back = shape->size[dimension] - forth;

    hops += shape->wrap[dimension] && back < forth ? back : forth;
  }
  return hops;
}

uint32_t
study_distance_compute (const StudyDistance *distance, uint32_t from, uint32_t to)
{
  if (from == to)
    return 0;
  if (distance->table)
    return distance->table[(size_t) from * distance->n_nodes + to];
  if (distance->leaf_table)
    return distance
        ->leaf_table[(size_t) distance->leaf[from] * distance->n_leaves + distance->leaf[to]];
  return torus_hops (distance, from, to);
}

/* --- Axes --- */

/* Leaf switches of an axis: its table has the square of them.  Dimensions of a torus have fewer nodes. */
#define MAX_AXIS_LEAVES 2048u

/* The table of a new axis. */
static uint16_t *
axes_add (StudyAxes *axes, uint32_t size)
{
  axes->hops[axes->n] = g_new0 (uint16_t, (gsize) size * size);
  axes->first[axes->n + 1] = axes->first[axes->n] + size;
  return axes->hops[axes->n++];
}

static void
axes_of_torus (StudyDistance *distance)
{
  StudyAxes *axes = &distance->axes;
  const TopoShape *shape = distance->shape;
  uint32_t stride = distance->n_nodes;

  axes->place = g_new0 (uint16_t, (gsize) distance->n_nodes * TOPO_MAX_DIMENSIONS);
  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++) {
    uint32_t size = shape->size[dimension], first = axes->first[axes->n], axis = axes->n;
    uint16_t *hops;

    stride /= size;
    if (size == 1)
      continue;
    /* Between nodes whose other coordinates are 0. */
    hops = axes_add (axes, size);
    for (uint32_t from = 0; from < size; from++)
      for (uint32_t to = 0; to < size; to++)
        hops[from * size + to] = (uint16_t) torus_hops (distance, from * stride, to * stride);
    for (uint32_t node = 0; node < distance->n_nodes; node++)
      axes->place[(gsize) node * TOPO_MAX_DIMENSIONS + axis] =
          (uint16_t) (first + distance->at[(gsize) node * TOPO_MAX_DIMENSIONS + dimension]);
  }
}

/* Leaves are an axis when all nodes of one have the same hops, no less to another leaf than within
 * both, as they have in all fabrics where each node has one adapter.  first[leaf] and member[] list the nodes of each leaf. */
static void
axes_of_fabric (StudyDistance *distance, const uint32_t *first, const uint32_t *member)
{
  StudyAxes *axes = &distance->axes;
  uint32_t n = distance->n_nodes, n_leaves = distance->n_leaves;
  bool sound = true;
  uint16_t *hops;

  if (n_leaves > MAX_AXIS_LEAVES)
    return;
  hops = axes_add (axes, n_leaves);
  for (uint32_t a = 0; a < n_leaves; a++)
    for (uint32_t b = 0; b < n_leaves; b++) {
      uint32_t to = a != b ? first[b] : first[a + 1] - 1;

      hops[a * n_leaves + b] = (uint16_t) study_hops (distance, member[first[a]], member[to]);
      axes->within_leaf |= a == b && hops[a * n_leaves + b] > 0;
    }
  for (uint32_t from = 0; from < n_leaves; from++)
    for (uint32_t to = 0; to < n_leaves; to++)
      sound &=
          2 * hops[from * n_leaves + to] >= hops[from * n_leaves + from] + hops[to * n_leaves + to];
  for (uint32_t from = 0; distance->table && from < n; from++)
    for (uint32_t to = 0; to < n; to++)
      sound &= from == to || distance->table[(gsize) from * n + to] ==
                                 hops[distance->leaf[from] * n_leaves + distance->leaf[to]];
  if (!sound) {
    g_clear_pointer (&axes->hops[0], g_free);
    axes->n = 0;
    return;
  }
  axes->place = g_new0 (uint16_t, (gsize) n * TOPO_MAX_DIMENSIONS);
  for (uint32_t node = 0; node < n; node++)
    axes->place[(gsize) node * TOPO_MAX_DIMENSIONS] = (uint16_t) distance->leaf[node];
}

/* --- Tori --- */

static void
torus_fill (StudyDistance *distance, const TopoMachine *machine)
{
  const TopoShape *shape = distance->shape = &machine->shape;
  uint32_t n = distance->n_nodes, n_ports = topo_shape_ports (shape), n_near = 0;

  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++)
    distance->longest +=
        shape->wrap[dimension] ? shape->size[dimension] / 2 : shape->size[dimension] - 1;
  distance->at = g_new0 (uint16_t, (gsize) n * TOPO_MAX_DIMENSIONS);
  for (uint32_t node = 0; node < n; node++) {
    TopoCoordinates at = topo_shape_coordinates (shape, node);

    for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++)
      distance->at[(gsize) node * TOPO_MAX_DIMENSIONS + dimension] = at.at[dimension];
  }
  if (n <= MAX_TABLE_NODES && distance->longest <= UINT8_MAX) {
    uint8_t *table = g_new (uint8_t, (gsize) n * n);

    for (uint32_t from = 0; from < n; from++)
      for (uint32_t to = 0; to < n; to++)
        table[(gsize) from * n + to] = (uint8_t) torus_hops (distance, from, to);
    distance->table = table;
  }

  axes_of_torus (distance);

  /* Neighbours; two cables to the same one count once. */
  distance->near_first = g_new0 (uint32_t, n + 1);
  distance->near = g_new (uint32_t, (gsize) n * n_ports);
  for (uint32_t node = 0; node < n; node++) {
    for (uint32_t port = 0; port < n_ports; port++) {
      uint32_t other = topo_shape_neighbour (shape, node, port);
      bool known = other == TOPO_NONE || other == node;

      for (uint32_t i = distance->near_first[node]; i < n_near; i++)
        known |= distance->near[i] == other;
      if (!known)
        distance->near[n_near++] = other;
    }
    distance->near_first[node + 1] = n_near;
  }
}

/* --- Fabrics --- */

/* The hops between any two of n nodes, or, with first and member, of n leaves by one node of each,
 * and by two nodes within a leaf.  NULL and *error when there is no way. */
static uint8_t *
fabric_table (StudyDistance *distance, const RoutePaths *paths, uint32_t n, const uint32_t *first,
              const uint32_t *member, GError **error)
{
  const TopoHost *host = paths->machine->fabric->hosts;
  g_autofree uint8_t *table = g_new0 (uint8_t, (gsize) n * n);

  for (uint32_t from = 0; from < n; from++)
    for (uint32_t to = from; to < n; to++) {
      uint32_t a = member ? member[first[from]] : from;
      uint32_t b = member ? member[from != to ? first[to] : first[from + 1] - 1] : to;
      uint32_t forth = a == b ? 0 : route_paths_hops (paths, a, b, 0);
      uint32_t back = a == b ? 0 : route_paths_hops (paths, b, a, 0);
      uint8_t hops = (uint8_t) MIN (MAX (forth, back), UINT8_MAX);

      if (a != b && (forth == 0 || back == 0)) {
        g_set_error (error, STUDY_ERROR, STUDY_ERROR_SEARCH, "%s: no route between %s and %s",
                     paths->machine->spec, host[a].name, host[b].name);
        return NULL;
      }
      table[(gsize) from * n + to] = table[(gsize) to * n + from] = hops;
      distance->longest = MAX (distance->longest, hops);
    }
  return g_steal_pointer (&table);
}

static gboolean
fabric_fill (StudyDistance *distance, const RoutePaths *paths, GError **error)
{
  const TopoFabric *fabric = paths->machine->fabric;
  g_autofree uint32_t *first = NULL, *member = NULL;

  /* Nodes by the switch of their first adapter; nodes whose first adapters are cabled to each other
   * have none in common. */
  g_autofree uint32_t *leaf_of = g_new (uint32_t, fabric->n_devices);

  for (uint32_t device = 0; device < fabric->n_devices; device++)
    leaf_of[device] = TOPO_NONE;
  distance->leaf = g_new (uint32_t, distance->n_nodes);
  for (uint32_t node = 0; node < distance->n_nodes; node++) {
    const TopoDevice *adapter = &fabric->devices[fabric->rails[fabric->hosts[node].first_rail]];
    uint32_t peer = TOPO_NONE, device;

    for (uint32_t port = 0; port < adapter->n_ports && peer == TOPO_NONE; port++)
      peer = fabric->ports[adapter->first_port + port].peer;
    device = peer == TOPO_NONE ? fabric->rails[fabric->hosts[node].first_rail]
                               : fabric->ports[peer].device;
    if (leaf_of[device] == TOPO_NONE)
      leaf_of[device] = distance->n_leaves++;
    distance->leaf[node] = leaf_of[device];
  }
  first = g_new0 (uint32_t, distance->n_leaves + 1);
  member = g_new (uint32_t, distance->n_nodes);
  for (uint32_t node = 0; node < distance->n_nodes; node++)
    first[distance->leaf[node] + 1]++;
  for (uint32_t leaf = 0; leaf < distance->n_leaves; leaf++)
    first[leaf + 1] += first[leaf];
  for (uint32_t node = 0; node < distance->n_nodes; node++)
    member[first[distance->leaf[node]]++] = node;
  for (uint32_t leaf = distance->n_leaves; leaf > 0; leaf--)
    first[leaf] = first[leaf - 1];
  first[0] = 0;

  /* Near are the nodes of the same leaf; for a node alone on its leaf, its neighbour by number. */
  GArray *near = g_array_new (FALSE, FALSE, sizeof (uint32_t));

  distance->near_first = g_new0 (uint32_t, distance->n_nodes + 1);
  for (uint32_t node = 0; node < distance->n_nodes; node++) {
    uint32_t leaf = distance->leaf[node], next = (node + 1) % distance->n_nodes;

    for (uint32_t i = first[leaf]; i < first[leaf + 1]; i++)
      if (member[i] != node)
        g_array_append_val (near, member[i]);
    if (near->len == distance->near_first[node] && next != node)
      g_array_append_val (near, next);
    distance->near_first[node + 1] = near->len;
  }
  distance->near = (uint32_t *) g_array_free (near, FALSE);
  if (distance->n_nodes <= MAX_TABLE_NODES)
    distance->table = fabric_table (distance, paths, distance->n_nodes, NULL, NULL, error);
  else
    distance->leaf_table = fabric_table (distance, paths, distance->n_leaves, first, member, error);
  if (!distance->table && !distance->leaf_table)
    return FALSE;
  axes_of_fabric (distance, first, member);
  return TRUE;
}

StudyDistance *
study_distance_new (const RoutePaths *paths, GError **error)
{
  g_autoptr (StudyDistance) distance = g_new0 (StudyDistance, 1);

  distance->n_nodes = topo_shape_nodes (&paths->machine->shape);
  if (!paths->machine->fabric)
    torus_fill (distance, paths->machine);
  else if (!fabric_fill (distance, paths, error))
    return NULL;
  return g_steal_pointer (&distance);
}

void
study_distance_free (StudyDistance *distance)
{
  if (!distance)
    return;
  g_free (distance->table);
  g_free (distance->at);
  g_free (distance->leaf);
  g_free (distance->leaf_table);
  g_free (distance->near_first);
  g_free (distance->near);
  for (uint32_t axis = 0; axis < distance->axes.n; axis++)
    g_free (distance->axes.hops[axis]);
  g_free (distance->axes.place);
  g_free (distance);
}

/* --- A tree of switches, read from the hops between nodes --- */

/* Of a tree, free ones included. */
#define MAX_PLACES (1u << 20)

void
study_switch_tree_clear (StudySwitchTree *tree)
{
  for (uint32_t level = 0; level < STUDY_TREE_LEVELS; level++) {
    g_free (tree->group[level]);
    g_free (tree->child[level]);
  }
}

/* Every node joins the first switch whose first node is at most `hops` away. */
static void
tree_group (uint32_t *group, const StudyDistance *distance, uint32_t hops)
{
  g_autofree uint32_t *first = g_new (uint32_t, distance->n_nodes);
  uint32_t n = 0;

  for (uint32_t node = 0; node < distance->n_nodes; node++) {
    uint32_t i = 0;

    while (i < n && study_hops (distance, first[i], node) > hops)
      i++;
    if (i == n)
      first[n++] = node;
    group[node] = i;
  }
}

/* child[node]: the number of the group below at its switch.  Returns the children of the switch that
 * has most of them. */
static uint32_t
tree_children (uint32_t *child, const uint32_t *group, const uint32_t *below, uint32_t n_nodes)
{
  g_autofree uint32_t *number = g_new (uint32_t, n_nodes);      /* of a group below */
  g_autofree uint32_t *n_children = g_new0 (uint32_t, n_nodes); /* of a switch */
  uint32_t width = 0;

  memset (number, 0xff, n_nodes * sizeof *number);
  for (uint32_t node = 0; node < n_nodes; node++) {
    uint32_t group_below = below ? below[node] : node;

    if (number[group_below] == TOPO_NONE)
      number[group_below] = n_children[group[node]]++;
    child[node] = number[group_below];
    width = MAX (width, n_children[group[node]]);
  }
  return width;
}

gboolean
study_switch_tree_read (StudySwitchTree *tree, const StudyDistance *distance)
{
  gboolean seen[UINT8_MAX + 1] = { FALSE };
  uint64_t n_places = 1;

  /* A level for each length of ways. */
  tree->n_places = MAX_PLACES;
  for (uint32_t from = 0; from < distance->n_nodes; from++)
    for (uint32_t to = from + 1; to < distance->n_nodes; to++)
      seen[study_hops (distance, from, to)] = TRUE;
  for (uint32_t hops = 1; hops <= UINT8_MAX; hops++)
    if (seen[hops]) {
      if (tree->n_levels == STUDY_TREE_LEVELS)
        return FALSE;
      tree->hops[tree->n_levels++] = hops;
    }

  for (uint32_t level = 0; level < tree->n_levels && n_places <= MAX_PLACES; level++) {
    tree->group[level] = g_new (uint32_t, distance->n_nodes);
    tree->child[level] = g_new (uint32_t, distance->n_nodes);
    tree_group (tree->group[level], distance, tree->hops[level]);
    tree->width[level] =
        tree_children (tree->child[level], tree->group[level],
                       level > 0 ? tree->group[level - 1] : NULL, distance->n_nodes);
    n_places *= tree->width[level];
  }
  tree->n_places = (uint32_t) MIN (n_places, MAX_PLACES);
  return n_places <= MAX_PLACES;
}

uint32_t *
study_switch_tree_nodes (const StudySwitchTree *tree, uint32_t n_nodes)
{
  uint32_t *node_of = g_new (uint32_t, tree->n_places);

  memset (node_of, 0xff, tree->n_places * sizeof *node_of);
  for (uint32_t node = 0; node < n_nodes; node++) {
    uint32_t place = 0;

    for (uint32_t level = tree->n_levels; level-- > 0;)
      place = place * tree->width[level] + tree->child[level][node];
    node_of[place] = node;
  }
  return node_of;
}
