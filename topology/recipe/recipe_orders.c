/* recipe_orders.c - recipes that are an order of all places: curves, random,
 * and the distributions of Slurm.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A place is node * ranks_per_node + slot.  The first ranks take the first places of
 * the order; with fewer ranks than places the last places stay empty. */
#include "topology/recipe/recipe_private.h"

#include "base/random.h"

#include <string.h>

static void
set_place (TopoRecipe *recipe, uint32_t rank, uint32_t node, uint32_t slot)
{
  recipe->mapping->node[rank] = node;
  recipe->mapping->slot[rank] = (uint8_t) slot;
}

/* --- Curves --- */

/* The order in which a curve takes the dimensions, and where the slots are in it. */
typedef struct {
  uint32_t dimension[TOPO_MAX_DIMENSIONS];
  bool slots_first; /* slowest: one rank on every node, then the second ones */
} Order;

/* Adds a letter: n dimensions are there already. */
static gboolean
add_letter (const TopoRecipe *recipe, Order *order, uint32_t n, const char *where)
{
  uint32_t dimension = (uint32_t) (*where - 'A');

  if (*where < 'A' || dimension >= recipe->machine->shape.n_dimensions)
    return topo_scan_fail (&recipe->scan, where,
                           "no dimension of this machine; the order is that of A to %c, with T "
                           "first or last",
                           topo_dimension_letter (recipe->machine->shape.n_dimensions - 1));
  for (uint32_t before = 0; before < n; before++)
    if (order->dimension[before] == dimension)
      return topo_scan_fail (&recipe->scan, where, "%c stands twice", *where);
  order->dimension[n] = dimension;
  return TRUE;
}

/* ABCDET, TABCDE, ABCDE: the dimensions in any order, the first the slowest. */
static gboolean
read_letters (TopoRecipe *recipe, Order *order)
{
  uint32_t n_dimensions = recipe->machine->shape.n_dimensions, n = 0;
  TopoWord word = topo_scan_word (&recipe->scan);
  const char *letter = word.start, *end = recipe->scan.at;

  order->slots_first = letter < end && *letter == 'T';
  letter += order->slots_first;
  for (; letter < end && n < n_dimensions; letter++, n++)
    if (!add_letter (recipe, order, n, letter))
      return FALSE;
  if (n < n_dimensions)
    return topo_scan_fail (&recipe->scan, letter, "expected all of A to %c",
                           topo_dimension_letter (n_dimensions - 1));
  if (letter < end && *letter == 'T' && !order->slots_first)
    letter++;
  return letter == end || topo_scan_fail (&recipe->scan, letter, "expected ')'");
}

static gboolean
read_order (TopoRecipe *recipe, Order *order)
{
  for (uint32_t dimension = 0; dimension < recipe->machine->shape.n_dimensions; dimension++)
    order->dimension[dimension] = dimension;
  order->slots_first = false;
  if (!topo_scan_accept (&recipe->scan, '(') || topo_scan_accept (&recipe->scan, ')'))
    return TRUE;
  return read_letters (recipe, order) && topo_scan_expect (&recipe->scan, ')');
}

/* The node of a point of the box whose dimensions are in this order. */
static uint32_t
node_of_point (const TopoShape *shape, const Order *order, uint32_t point)
{
  TopoCoordinates coordinates = { 0 };

  for (uint32_t at = shape->n_dimensions; at-- > 0; point /= shape->size[order->dimension[at]])
    coordinates.at[order->dimension[at]] = (uint16_t) (point % shape->size[order->dimension[at]]);
  return topo_shape_node (shape, coordinates);
}

/* A machine of one dimension needs no curve, and its coordinates may not fit. */
static uint32_t *
nodes_along (const TopoShape *shape, const Order *order, TopoCurve curve)
{
  uint32_t size[TOPO_MAX_DIMENSIONS];
  uint32_t n_nodes = topo_shape_nodes (shape);
  uint32_t *nodes;

  for (uint32_t at = 0; at < shape->n_dimensions; at++)
    size[at] = shape->size[order->dimension[at]];
  nodes = topo_curve_new (curve, shape->n_dimensions, size);
  for (uint32_t k = 0; shape->n_dimensions > 1 && k < n_nodes; k++)
    nodes[k] = node_of_point (shape, order, nodes[k]);
  return nodes;
}

gboolean
topo_recipe_along (TopoRecipe *recipe, TopoCurve curve)
{
  uint32_t n_nodes = topo_shape_nodes (&recipe->machine->shape);
  uint32_t n_slots = recipe->machine->ranks_per_node;
  g_autofree uint32_t *nodes = NULL;
  Order order;

  if (!read_order (recipe, &order) || !topo_scan_end (&recipe->scan))
    return FALSE;
  nodes = nodes_along (&recipe->machine->shape, &order, curve);
  for (uint32_t rank = 0; rank < recipe->mapping->n_ranks; rank++)
    if (order.slots_first)
      set_place (recipe, rank, nodes[rank % n_nodes], rank / n_nodes);
    else
      set_place (recipe, rank, nodes[rank / n_slots], rank % n_slots);
  return TRUE;
}

/* --- Random --- */

/* 0 .. n-1 shuffled from the end (Fisher, Yates). */
static uint32_t *
shuffled (uint32_t n, uint64_t seed)
{
  BaseRandom random = { seed };
  uint32_t *order = g_new (uint32_t, n);

  for (uint32_t at = 0; at < n; at++)
    order[at] = at;
  for (uint32_t left = n; left > 1; left--) {
    uint32_t other = base_random_below_exact (&random, left), kept = order[other];

    order[other] = order[left - 1];
    order[left - 1] = kept;
  }
  return order;
}

static gboolean
read_random (TopoRecipe *recipe, int64_t *seed, bool *by_node)
{
  TopoScan *scan = &recipe->scan;

  if (!topo_scan_expect (scan, '(') || !topo_scan_number (scan, 0, INT64_MAX, seed))
    return FALSE;
  *by_node = topo_scan_accept (scan, ',');
  if (*by_node) {
    TopoWord word = topo_scan_word (scan);

    if (!g_str_equal (word.text, "nodes"))
      return topo_scan_fail (scan, word.start, "expected \"nodes\"");
  }
  return topo_scan_expect (scan, ')') && topo_scan_end (scan);
}

gboolean
topo_recipe_random (TopoRecipe *recipe)
{
  uint32_t n_nodes = topo_shape_nodes (&recipe->machine->shape);
  uint32_t n_slots = recipe->machine->ranks_per_node;
  g_autofree uint32_t *order = NULL;
  int64_t seed;
  bool by_node;

  if (!read_random (recipe, &seed, &by_node))
    return FALSE;
  order = shuffled (by_node ? n_nodes : n_nodes * n_slots, (uint64_t) seed);
  for (uint32_t rank = 0; rank < recipe->mapping->n_ranks; rank++)
    if (by_node)
      set_place (recipe, rank, order[rank / n_slots], rank % n_slots);
    else
      set_place (recipe, rank, order[rank] / n_slots, order[rank] % n_slots);
  return TRUE;
}

/* --- Slurm's distributions --- */

/* Nodes take turns, each time for so many ranks or as many as it has slots left. */
static void
deal_out (TopoRecipe *recipe, uint32_t n_together)
{
  uint32_t n_nodes = topo_shape_nodes (&recipe->machine->shape);
  uint32_t n_slots = recipe->machine->ranks_per_node, rank = 0;

  for (uint32_t first = 0; first < n_slots; first += n_together)
    for (uint32_t node = 0; node < n_nodes; node++)
      for (uint32_t slot = first; slot < MIN (first + n_together, n_slots); slot++) {
        if (rank == recipe->mapping->n_ranks)
          return;
        set_place (recipe, rank++, node, slot);
      }
}

gboolean
topo_recipe_block (TopoRecipe *recipe)
{
  if (!topo_scan_no_arguments (&recipe->scan) || !topo_scan_end (&recipe->scan))
    return FALSE;
  deal_out (recipe, recipe->machine->ranks_per_node);
  return TRUE;
}

gboolean
topo_recipe_cyclic (TopoRecipe *recipe)
{
  if (!topo_scan_no_arguments (&recipe->scan) || !topo_scan_end (&recipe->scan))
    return FALSE;
  deal_out (recipe, 1);
  return TRUE;
}

gboolean
topo_recipe_plane (TopoRecipe *recipe)
{
  int64_t n_together;

  if (!topo_scan_expect (&recipe->scan, '(') ||
      !topo_scan_number (&recipe->scan, 1, recipe->machine->ranks_per_node, &n_together) ||
      !topo_scan_expect (&recipe->scan, ')') || !topo_scan_end (&recipe->scan))
    return FALSE;
  deal_out (recipe, (uint32_t) n_together);
  return TRUE;
}
