/* box.c - boxes of ranks that are cut into boxes and stirred.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/recipe/recipe_private.h"

#include <string.h>

struct TopoBoxTree {
  GArray *boxes; /* (element-type TopoBox) children of a box are neighbours */
  uint32_t *content;
  uint32_t *cell, *before; /* scratch of the moves, [cells of the root] each */
  /* The last curve, since sub-boxes mostly have the same sizes. */
  uint32_t *order;
  TopoCurve order_curve;
  TopoBox order_box;
};

static TopoBox *
box_at (const TopoBoxTree *tree, uint32_t box)
{
  return &g_array_index (tree->boxes, TopoBox, box);
}

const TopoBox *
topo_box (const TopoBoxTree *tree, uint32_t box)
{
  return box_at (tree, box);
}

uint32_t
topo_box_volume (const TopoBox *box)
{
  uint32_t volume = 1;

  for (uint32_t dimension = 0; dimension < box->n_dimensions; dimension++)
    volume *= box->size[dimension];
  return volume;
}

TopoBoxTree *
topo_box_tree_new (uint32_t n_dimensions, const uint32_t *size)
{
  TopoBoxTree *tree = g_new0 (TopoBoxTree, 1);
  TopoBox root = { .n_dimensions = n_dimensions };
  uint32_t stride = 1;

  g_assert (n_dimensions >= 1 && n_dimensions <= TOPO_BOX_DIMENSIONS);
  for (uint32_t dimension = n_dimensions; dimension-- > 0; stride *= size[dimension]) {
    g_assert (size[dimension] >= 1);
    root.size[dimension] = size[dimension];
    root.stride[dimension] = stride;
  }
  tree->boxes = g_array_new (FALSE, FALSE, sizeof (TopoBox));
  g_array_append_val (tree->boxes, root);
  tree->content = g_new (uint32_t, stride);
  tree->cell = g_new (uint32_t, stride);
  tree->before = g_new (uint32_t, stride);
  for (uint32_t cell = 0; cell < stride; cell++)
    tree->content[cell] = cell;
  return tree;
}

void
topo_box_tree_free (TopoBoxTree *tree)
{
  if (tree == NULL)
    return;
  g_array_unref (tree->boxes);
  g_free (tree->content);
  g_free (tree->cell);
  g_free (tree->before);
  g_free (tree->order);
  g_free (tree);
}

uint32_t *
topo_box_contents (TopoBoxTree *tree)
{
  return tree->content;
}

/* Which cells of the root a box sees, row-major. */
static void
list_cells (const TopoBox *box, uint32_t *cells)
{
  uint32_t at[TOPO_BOX_DIMENSIONS] = { 0 };
  uint32_t cell = box->cell, volume = topo_box_volume (box);

  for (uint32_t k = 0; k < volume; k++) {
    cells[k] = cell;
    for (uint32_t dimension = box->n_dimensions; dimension-- > 0;) {
      cell += box->stride[dimension];
      if (++at[dimension] < box->size[dimension])
        break;
      cell -= at[dimension] * box->stride[dimension];
      at[dimension] = 0;
    }
  }
}

void
topo_box_read (const TopoBoxTree *tree, uint32_t box, uint32_t *out)
{
  uint32_t volume = topo_box_volume (topo_box (tree, box));

  list_cells (topo_box (tree, box), tree->cell);
  for (uint32_t k = 0; k < volume; k++)
    out[k] = tree->content[tree->cell[k]];
}

void
topo_box_write (TopoBoxTree *tree, uint32_t box, const uint32_t *in)
{
  uint32_t volume = topo_box_volume (topo_box (tree, box));

  list_cells (topo_box (tree, box), tree->cell);
  for (uint32_t k = 0; k < volume; k++)
    tree->content[tree->cell[k]] = in[k];
}

/* --- Cuts --- */

bool
topo_box_cut (TopoBoxTree *tree, uint32_t box, uint32_t n_cuts, const TopoCut *cuts)
{
  TopoBox parent = *box_at (tree, box);
  uint64_t n_children = 1;

  g_assert (n_cuts >= 1 && n_cuts <= parent.n_dimensions);
  for (uint32_t dimension = 0; dimension < n_cuts; dimension++) {
    g_assert (cuts[dimension].n_pieces >= 1 && cuts[dimension].n_pieces <= parent.size[dimension]);
    parent.n_pieces[dimension] = cuts[dimension].n_pieces;
    n_children *= cuts[dimension].n_pieces;
  }
  if (tree->boxes->len + n_children > TOPO_BOX_LIMIT)
    return false;
  parent.n_cuts = n_cuts;
  parent.first_child = tree->boxes->len;
  *box_at (tree, box) = parent;
  for (uint32_t number = 0; number < n_children; number++) {
    uint32_t rest = number;
    TopoBox child = parent;

    child.n_cuts = 0;
    for (uint32_t dimension = n_cuts; dimension-- > 0;) {
      uint32_t size = parent.size[dimension], stride = parent.stride[dimension];
      uint32_t n_pieces = cuts[dimension].n_pieces, piece = rest % n_pieces;
      uint32_t width = size / n_pieces;

      if (cuts[dimension].interleaved) {
        child.cell += piece * stride;
        child.stride[dimension] = stride * n_pieces;
        child.size[dimension] = (size - piece + n_pieces - 1) / n_pieces;
      } else {
        child.cell += piece * width * stride;
        child.size[dimension] = piece + 1 < n_pieces ? width : size - piece * width;
      }
      rest /= n_pieces;
    }
    g_array_append_val (tree->boxes, child);
  }
  return true;
}

void
topo_box_leaves (const TopoBoxTree *tree, uint32_t box, GArray *leaves)
{
  const TopoBox *parent = topo_box (tree, box);
  uint32_t n_children = 1;

  if (parent->n_cuts == 0) {
    g_array_append_val (leaves, box);
    return;
  }
  for (uint32_t dimension = 0; dimension < parent->n_cuts; dimension++)
    n_children *= parent->n_pieces[dimension];
  for (uint32_t child = 0; child < n_children; child++)
    topo_box_leaves (tree, parent->first_child + child, leaves);
}

/* --- Moves --- */

/* Lists the cells of a box and copies their contents, both row-major. */
static uint32_t
begin_move (TopoBoxTree *tree, const TopoBox *box)
{
  uint32_t volume = topo_box_volume (box);

  list_cells (box, tree->cell);
  for (uint32_t k = 0; k < volume; k++)
    tree->before[k] = tree->content[tree->cell[k]];
  return volume;
}

void
topo_box_transpose (TopoBoxTree *tree, uint32_t box, const uint32_t *axes)
{
  const TopoBox *own = topo_box (tree, box);
  TopoBox permuted = *own, whole = *own;
  uint32_t volume = begin_move (tree, own), stride = 1;
  g_autofree uint32_t *source = g_new (uint32_t, volume);

  whole.cell = 0;
  for (uint32_t dimension = own->n_dimensions; dimension-- > 0; stride *= own->size[dimension])
    whole.stride[dimension] = stride;
  permuted.cell = 0;
  for (uint32_t axis = 0; axis < own->n_dimensions; axis++) {
    permuted.size[axis] = own->size[axes[axis]];
    permuted.stride[axis] = whole.stride[axes[axis]];
  }
  list_cells (&permuted, source);
  for (uint32_t k = 0; k < volume; k++)
    tree->content[tree->cell[k]] = tree->before[source[k]];
}

/* Cells of a row-major box from one coordinate of a dimension to the next. */
static uint32_t
own_stride (const TopoBox *box, uint32_t dimension)
{
  uint32_t stride = 1;

  while (++dimension < box->n_dimensions)
    stride *= box->size[dimension];
  return stride;
}

void
topo_box_roll (TopoBoxTree *tree, uint32_t box, uint32_t axis, uint32_t across,
               const int64_t *shift)
{
  const TopoBox *own = topo_box (tree, box);
  uint32_t size = own->size[axis], n_planes = own->size[across];
  uint32_t stride = own_stride (own, axis), plane_stride = own_stride (own, across);
  uint32_t volume = begin_move (tree, own);
  g_autofree uint32_t *back = g_new (uint32_t, n_planes); /* the same shift, as a step back */

  g_assert (axis != across);
  for (uint32_t plane = 0; plane < n_planes; plane++)
    back[plane] = (uint32_t) (((-shift[plane]) % size + size) % size);
  for (uint32_t k = 0; k < volume; k++) {
    uint32_t at = k / stride % size;
    uint32_t from = (at + back[k / plane_stride % n_planes]) % size;

    tree->content[tree->cell[k]] = tree->before[k - at * stride + from * stride];
  }
}

void
topo_box_lay (TopoBoxTree *tree, uint32_t box, TopoCurve curve, bool backwards)
{
  const TopoBox *own = topo_box (tree, box);
  uint32_t volume = begin_move (tree, own);

  if (tree->order == NULL || tree->order_curve != curve ||
      memcmp (tree->order_box.size, own->size, sizeof own->size) != 0) {
    g_free (tree->order);
    tree->order = topo_curve_new (curve, own->n_dimensions, own->size);
    tree->order_curve = curve;
    tree->order_box = *own;
  }
  for (uint32_t k = 0; k < volume; k++)
    if (backwards)
      tree->content[tree->cell[k]] = tree->before[tree->order[k]];
    else
      tree->content[tree->cell[tree->order[k]]] = tree->before[k];
}
