/* recipe_algebra.h - the operations of the algebra, between the file that applies them and
 * the one that reads them; private to topology/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "topology/recipe/recipe_private.h"

typedef struct {
  TopoRecipe *recipe;
  TopoScan *scan;
  TopoBoxTree *app;  /* NULL: a row of all ranks */
  TopoBoxTree *net;  /* the machine: its dimensions, then the slots */
  TopoBoxTree *tree; /* which of the two is worked on */
  GArray *selected;  /* (element-type uint32_t) boxes of it, to which operations apply */
  bool is_mapped;    /* the ranks are in net */
} TopoAlgebra;

/* A selected box, and how many dimensions every box of the tree has. */
uint32_t topo_algebra_selected (const TopoAlgebra *algebra, uint32_t number);
uint32_t topo_algebra_dimensions (const TopoAlgebra *algebra);

/* Back to the whole box. */
void topo_algebra_select_root (TopoAlgebra *algebra);

/* Lays the ranks of app into net, leaf by leaf; `where` is blamed. */
gboolean topo_algebra_map (TopoAlgebra *algebra, const char *where);

/* "[i, j, ...]" behind an operation: one sub-box of each selected box. */
gboolean topo_algebra_pick (TopoAlgebra *algebra);

/* The operation whose word was read: its arguments, then what it does. */
gboolean topo_algebra_operate (TopoAlgebra *algebra, const TopoWord *word);

/* The operations, each behind its word, which stands at `where`. */
gboolean topo_algebra_div (TopoAlgebra *algebra, const char *where);
gboolean topo_algebra_tile (TopoAlgebra *algebra, const char *where);
gboolean topo_algebra_mod (TopoAlgebra *algebra, const char *where);
gboolean topo_algebra_cut (TopoAlgebra *algebra, const char *where);
gboolean topo_algebra_each (TopoAlgebra *algebra, const char *where);
gboolean topo_algebra_leaves (TopoAlgebra *algebra, const char *where);
gboolean topo_algebra_root (TopoAlgebra *algebra, const char *where);
gboolean topo_algebra_transpose (TopoAlgebra *algebra, const char *where);
gboolean topo_algebra_shear (TopoAlgebra *algebra, const char *where);
gboolean topo_algebra_tilt (TopoAlgebra *algebra, const char *where);
gboolean topo_algebra_zigzag (TopoAlgebra *algebra, const char *where);
gboolean topo_algebra_unwind (TopoAlgebra *algebra, const char *where);
gboolean topo_algebra_curve (TopoAlgebra *algebra, const TopoWord *word);
