/* recipe_algebra.c - recipes that lay boxes of ranks into boxes of a machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   recipe = [ ("app" | "box") "(" sizes ")" steps ] "net" steps
 *   steps  = { "." operation | "[" numbers "]" } */
#include "topology/recipe/recipe_algebra.h"

#include <string.h>

void
topo_algebra_select_root (TopoAlgebra *algebra)
{
  const uint32_t root = 0;

  g_array_set_size (algebra->selected, 0);
  g_array_append_val (algebra->selected, root);
}

/* --- Laying ranks into the machine --- */

static GArray *
leaves_of (const TopoBoxTree *tree)
{
  GArray *leaves = g_array_new (FALSE, FALSE, sizeof (uint32_t));

  topo_box_leaves (tree, 0, leaves);
  return leaves;
}

static uint32_t
leaf_volume (const TopoBoxTree *tree, const GArray *leaves, uint32_t leaf)
{
  return topo_box_volume (topo_box (tree, g_array_index (leaves, uint32_t, leaf)));
}

/* Where both are cut, their leaves are pairs. */
static gboolean
check_pairs (const TopoAlgebra *algebra, const GArray *from, const GArray *to, const char *where)
{
  if (from->len == 1 || to->len == 1)
    return TRUE;
  if (from->len > to->len)
    return topo_scan_fail (algebra->scan, where, "app has %u boxes for the %u of net", from->len,
                           to->len);
  for (uint32_t leaf = 0; leaf < from->len; leaf++) {
    uint32_t n_ranks = leaf_volume (algebra->app, from, leaf);
    uint32_t n_slots = leaf_volume (algebra->net, to, leaf);

    if (n_ranks != n_slots)
      return topo_scan_fail (algebra->scan, where,
                             "box %u of app has %u ranks, that of net %u slots", leaf, n_ranks,
                             n_slots);
  }
  return TRUE;
}

/* The ranks, leaf after leaf. */
static void
read_ranks (const TopoBoxTree *app, const GArray *leaves, uint32_t *ranks)
{
  for (uint32_t leaf = 0; leaf < leaves->len; leaf++) {
    topo_box_read (app, g_array_index (leaves, uint32_t, leaf), ranks);
    ranks += leaf_volume (app, leaves, leaf);
  }
}

/* Slots beyond the ranks stay empty. */
static void
write_ranks (TopoBoxTree *net, const GArray *leaves, const uint32_t *ranks)
{
  for (uint32_t leaf = 0; leaf < leaves->len; leaf++) {
    topo_box_write (net, g_array_index (leaves, uint32_t, leaf), ranks);
    ranks += leaf_volume (net, leaves, leaf);
  }
}

gboolean
topo_algebra_map (TopoAlgebra *algebra, const char *where)
{
  uint32_t n_slots = topo_box_volume (topo_box (algebra->net, 0));
  g_autofree uint32_t *ranks = g_new (uint32_t, n_slots);
  g_autoptr (GArray) to = leaves_of (algebra->net);

  memset (ranks, 0xff, n_slots * sizeof *ranks); /* TOPO_NONE */
  if (algebra->app != NULL) {
    g_autoptr (GArray) from = leaves_of (algebra->app);

    if (!check_pairs (algebra, from, to, where))
      return FALSE;
    read_ranks (algebra->app, from, ranks);
  } else {
    for (uint32_t rank = 0; rank < algebra->recipe->mapping->n_ranks; rank++)
      ranks[rank] = rank;
  }
  write_ranks (algebra->net, to, ranks);
  algebra->is_mapped = true;
  topo_algebra_select_root (algebra);
  return TRUE;
}

/* --- The two boxes --- */

/* Operations up to a blank and the next word, or the end. */
static gboolean
read_steps (TopoAlgebra *algebra)
{
  topo_algebra_select_root (algebra);
  for (;;) {
    if (topo_scan_accept (algebra->scan, '.')) {
      TopoWord word = topo_scan_word (algebra->scan);

      if (!topo_algebra_operate (algebra, &word))
        return FALSE;
    } else if (topo_scan_accept (algebra->scan, '[')) {
      if (!topo_algebra_pick (algebra))
        return FALSE;
    } else
      return TRUE;
  }
}

static gboolean
read_sizes (TopoScan *scan, uint32_t *n_dimensions, uint32_t *size, uint64_t *volume)
{
  *n_dimensions = 0;
  *volume = 1;
  do {
    int64_t number;

    if (*n_dimensions == TOPO_BOX_DIMENSIONS)
      return topo_scan_fail (scan, scan->at, "a box has up to %d dimensions", TOPO_BOX_DIMENSIONS);
    if (!topo_scan_number (scan, 1, G_MAXINT32, &number))
      return FALSE;
    size[(*n_dimensions)++] = (uint32_t) number;
    *volume = MIN (*volume * (uint64_t) number, UINT32_MAX); /* no overflow: 31 bits each */
  } while (topo_scan_accept (scan, ','));
  return topo_scan_expect (scan, ')');
}

static gboolean
read_app (TopoAlgebra *algebra)
{
  uint32_t n_ranks = algebra->recipe->mapping->n_ranks;
  uint32_t size[TOPO_BOX_DIMENSIONS], n_dimensions;
  uint64_t volume;
  const char *where;

  if (!topo_scan_expect (algebra->scan, '('))
    return FALSE;
  where = algebra->scan->at;
  if (!read_sizes (algebra->scan, &n_dimensions, size, &volume))
    return FALSE;
  if (volume != n_ranks)
    return topo_scan_fail (algebra->scan, where, "%s%" G_GUINT64_FORMAT " ranks, but there are %u",
                           volume == UINT32_MAX ? "at least " : "", volume, n_ranks);
  algebra->tree = algebra->app = topo_box_tree_new (n_dimensions, size);
  return read_steps (algebra);
}

static void
make_net (TopoAlgebra *algebra)
{
  const TopoMachine *machine = algebra->recipe->machine;
  uint32_t n_dimensions = machine->shape.n_dimensions;
  uint32_t size[TOPO_BOX_DIMENSIONS];

  memcpy (size, machine->shape.size, n_dimensions * sizeof *size);
  size[n_dimensions] = machine->ranks_per_node;
  algebra->tree = algebra->net = topo_box_tree_new (n_dimensions + 1, size);
}

/* "net" was read. */
static gboolean
read_net (TopoAlgebra *algebra)
{
  make_net (algebra);
  if (!read_steps (algebra) || !topo_scan_end (algebra->scan))
    return FALSE;
  return algebra->is_mapped || topo_algebra_map (algebra, algebra->scan->at);
}

/* Cells are places. */
static void
take_places (TopoAlgebra *algebra)
{
  TopoMapping *mapping = algebra->recipe->mapping;
  uint32_t n_slots = algebra->recipe->machine->ranks_per_node;
  uint32_t n_places = topo_box_volume (topo_box (algebra->net, 0));
  const uint32_t *rank_at = topo_box_contents (algebra->net);

  for (uint32_t place = 0; place < n_places; place++)
    if (rank_at[place] != TOPO_NONE) {
      mapping->node[rank_at[place]] = place / n_slots;
      mapping->slot[rank_at[place]] = (uint8_t) (place % n_slots);
    }
}

static gboolean
run (TopoRecipe *recipe, gboolean (*read) (TopoAlgebra *algebra))
{
  TopoAlgebra algebra = { .recipe = recipe, .scan = &recipe->scan };
  gboolean ok;

  algebra.selected = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  ok = read (&algebra);
  if (ok)
    take_places (&algebra);
  topo_box_tree_free (algebra.app);
  topo_box_tree_free (algebra.net);
  g_array_unref (algebra.selected);
  return ok;
}

static gboolean
read_app_and_net (TopoAlgebra *algebra)
{
  TopoWord word;

  if (!read_app (algebra))
    return FALSE;
  word = topo_scan_word (algebra->scan);
  if (!g_str_equal (word.text, "net"))
    return topo_scan_fail (algebra->scan, word.start, "expected '.' and an operation, or net");
  return read_net (algebra);
}

gboolean
topo_recipe_from_app (TopoRecipe *recipe)
{
  return run (recipe, read_app_and_net);
}

gboolean
topo_recipe_from_net (TopoRecipe *recipe)
{
  return run (recipe, read_net);
}
