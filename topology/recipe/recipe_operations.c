/* recipe_operations.c - the operations on boxes by their names.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/recipe/recipe_algebra.h"

uint32_t
topo_algebra_selected (const TopoAlgebra *algebra, uint32_t number)
{
  return g_array_index (algebra->selected, uint32_t, number);
}

uint32_t
topo_algebra_dimensions (const TopoAlgebra *algebra)
{
  return topo_box (algebra->tree, 0)->n_dimensions;
}

static gboolean
operate_map (TopoAlgebra *algebra, const char *where)
{
  if (algebra->tree != algebra->net)
    return topo_scan_fail (algebra->scan, where, "map() stands behind net");
  if (algebra->is_mapped)
    return topo_scan_fail (algebra->scan, where,
                           "the ranks are laid into net already, by a map() or an operation that "
                           "moves them");
  return topo_scan_no_arguments (algebra->scan) && topo_algebra_map (algebra, where);
}

/* --- The table --- */

static const struct {
  const char *word;
  gboolean (*operate) (TopoAlgebra *algebra, const char *where);
} operations[] = {
  { "div", topo_algebra_div },
  { "tile", topo_algebra_tile },
  { "mod", topo_algebra_mod },
  { "cut", topo_algebra_cut },
  { "map", operate_map },
  { "transpose", topo_algebra_transpose },
  { "shear", topo_algebra_shear },
  { "tilt", topo_algebra_tilt },
  { "zigzag", topo_algebra_zigzag },
  { "unwind", topo_algebra_unwind },
  { "each", topo_algebra_each },
  { "leaves", topo_algebra_leaves },
  { "root", topo_algebra_root },
};

gboolean
topo_algebra_operate (TopoAlgebra *algebra, const TopoWord *word)
{
  if (topo_recipe_curve (word->text) != TOPO_N_CURVES)
    return topo_algebra_curve (algebra, word);
  for (gsize at = 0; at < G_N_ELEMENTS (operations); at++)
    if (g_str_equal (operations[at].word, word->text))
      return operations[at].operate (algebra, word->start);
  return topo_scan_fail (algebra->scan, word->start,
                         "expected div, tile, mod, cut, map, transpose, shear, tilt, zigzag, "
                         "zorder, hilbert, peano, gray, snake, unwind, each, leaves or root");
}
