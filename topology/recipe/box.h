/* box.h - boxes of ranks that are cut into boxes and stirred.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The operations are those of LLNL's Rubik.  A root box has a cell for every point
 * of an n-dimensional array, each with a content (a rank).  Cuts divide a box into
 * boxes that see the same cells; moves permute the contents of the cells that one
 * box sees, and all others see that.
 *
 *   cells of a box are counted row-major, the last dimension the fastest
 *   box            index of a box in the tree: 0 is the root
 *   cut            replaces the boxes that the box was cut into before
 *   leaves         the boxes that are not cut, in the order in which a walk through the
 *                  tree finds them, children row-major */
#pragma once

#include "topology/recipe/curve.h"

#include <glib.h>

#define TOPO_BOX_DIMENSIONS TOPO_CURVE_DIMENSIONS

/* A box and its sub-boxes: 200 MB. */
#define TOPO_BOX_LIMIT (1u << 21)

/* How a dimension is cut. */
typedef struct {
  uint32_t n_pieces; /* 1 .. size of the dimension */
  bool interleaved;  /* piece = coordinate mod n_pieces; else contiguous pieces of
                        size / n_pieces, of which the last has the remainder too */
} TopoCut;

typedef struct {
  uint32_t n_dimensions;
  uint32_t size[TOPO_BOX_DIMENSIONS];
  uint32_t stride[TOPO_BOX_DIMENSIONS]; /* cells of the root */
  uint32_t cell;                        /* of the root: where this box begins */
  uint32_t first_child;
  uint32_t n_cuts; /* dimensions cut; 0: a leaf */
  uint32_t n_pieces[TOPO_BOX_DIMENSIONS];
} TopoBox;

typedef struct TopoBoxTree TopoBoxTree;

/* The root of these sizes (at least 1, a product below 2^32): cell c has content c. */
TopoBoxTree *topo_box_tree_new (uint32_t n_dimensions, const uint32_t *size);
void topo_box_tree_free (TopoBoxTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TopoBoxTree, topo_box_tree_free)

/* Valid until the next cut. */
const TopoBox *topo_box (const TopoBoxTree *tree, uint32_t box);
uint32_t topo_box_volume (const TopoBox *box);

/* [cells of the root] */
uint32_t *topo_box_contents (TopoBoxTree *tree);

/* The contents of one box, row-major, into out[volume]; and back. */
void topo_box_read (const TopoBoxTree *tree, uint32_t box, uint32_t *out);
void topo_box_write (TopoBoxTree *tree, uint32_t box, const uint32_t *in);

/* Cuts the first n_cuts dimensions, the others not; false and nothing done beyond
 * TOPO_BOX_LIMIT boxes. */
bool topo_box_cut (TopoBoxTree *tree, uint32_t box, uint32_t n_cuts, const TopoCut *cuts);

/* Appends the leaves under a box; (element-type uint32_t). */
void topo_box_leaves (const TopoBoxTree *tree, uint32_t box, GArray *leaves);

/* Row-major, the cells get the contents that the box with its axes permuted has
 * row-major: its axis i is axis axes[i] of the box.  The box keeps its sizes. */
void topo_box_transpose (TopoBoxTree *tree, uint32_t box, const uint32_t *axes);

/* The plane at coordinate i of `across` is rolled by shift[i] cells towards higher
 * coordinates of `axis`; shift has an entry for every coordinate of across. */
void topo_box_roll (TopoBoxTree *tree, uint32_t box, uint32_t axis, uint32_t across,
                    const int64_t *shift);

/* The k-th content, row-major, goes to the k-th cell of the curve; or, backwards,
 * the content of the k-th cell of the curve becomes the k-th. */
void topo_box_lay (TopoBoxTree *tree, uint32_t box, TopoCurve curve, bool backwards);
