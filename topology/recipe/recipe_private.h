/* recipe_private.h - the parts of the recipes' interpreter; private to topology/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "topology/recipe/recipe.h"

#include <stdbool.h>
#include <stdint.h>

/* --- Orders in which the points of a box are visited: curve.c ---
 *
 * Any number of dimensions up to TOPO_CURVE_DIMENSIONS, any sizes.  Points are
 * numbered row-major, the last dimension the fastest.  All begin at point 0.
 *
 *   hilbert   by halves in every long dimension at once; on a square or a cube
 *             whose side is a power of two Hilbert's curve.  Whatever the sizes,
 *             a point and the next one are neighbours.
 *   peano     by thirds, through the smallest box of powers of three that holds
 *             the box; points beyond the box are passed over.  Neighbours follow
 *             each other where every size is a power of three.
 *   gray      the bits of the coordinates dealt out in turns, as in zorder; the
 *             next code differs in one bit.  One coordinate changes at a time
 *             where every size is a power of two.
 *   snake     row-major, every other row backwards: always neighbours.
 *   zorder    Morton's order, bit 0 of the first dimension the lowest; codes of
 *             points beyond the box are passed over. */
#define TOPO_CURVE_DIMENSIONS 8

typedef enum {
  TOPO_CURVE_HILBERT,
  TOPO_CURVE_PEANO,
  TOPO_CURVE_GRAY,
  TOPO_CURVE_SNAKE,
  TOPO_CURVE_ZORDER,
  TOPO_N_CURVES,
} TopoCurve;

/* The names above, in the order of the enumeration. */
extern const char *const topo_curve_names[TOPO_N_CURVES];

/* [product of sizes] the number of the point that is k-th on the curve; sizes are
 * at least 1 and their product fits in 32 bits.  The caller frees it. */
uint32_t *topo_curve_new (TopoCurve curve, uint32_t n_dimensions, const uint32_t *size);

/* --- Boxes of ranks that are cut into boxes and permuted: box.c ---
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

/* --- The text: recipe.c --- */

typedef struct {
  const char *text; /* all of it */
  const char *at;   /* what is read next */
  GError **error;
} TopoScan;

/* Letters and digits that begin with a letter. */
typedef struct {
  const char *start; /* in the text */
  char text[32];     /* "": no word there */
} TopoWord;

/* Sets the error, which shows the recipe, the column of `where` and what stands there;
 * always FALSE. */
gboolean topo_scan_fail (const TopoScan *scan, const char *where, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* All pass over blanks first. */
bool topo_scan_accept (TopoScan *scan, char expected);
gboolean topo_scan_expect (TopoScan *scan, char expected);
gboolean topo_scan_end (TopoScan *scan);
TopoWord topo_scan_word (TopoScan *scan);
gboolean topo_scan_number (TopoScan *scan, int64_t least, int64_t most, int64_t *number);

/* "()" or nothing. */
gboolean topo_scan_no_arguments (TopoScan *scan);

/* --- What stands in it --- */

/* A word and what reads the rest.  The scan is behind the word. */
typedef struct {
  TopoScan scan;
  const TopoMachine *machine;
  TopoMapping *mapping; /* to be filled */
} TopoRecipe;

/* Which curve a word is; TOPO_N_CURVES when none. */
TopoCurve topo_recipe_curve (const char *word);

/* The algebra, which begins with app(...) or with net: recipe_algebra.c. */
gboolean topo_recipe_from_app (TopoRecipe *recipe);
gboolean topo_recipe_from_net (TopoRecipe *recipe);
