/* recipe_cuts.c - operations that cut boxes, and ways through the tree of boxes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An operation is read once and applied to every selected box.  The boxes may have
 * different sizes (the last piece of a cut), so that what depends on them is checked
 * for each. */
#include "topology/recipe/recipe_algebra.h"

/* --- Cuts --- */

typedef enum { CUT_DIV, CUT_TILE, CUT_MOD, CUT_MIXED } CutKind;

/* What stands between the parentheses: numbers of pieces, or sizes of tiles. */
typedef struct {
  uint32_t n;
  int64_t number[TOPO_BOX_DIMENSIONS];
  bool interleaved[TOPO_BOX_DIMENSIONS];
} CutArguments;

/* "4 mod" in cut(). */
static gboolean
read_kind (TopoScan *scan, bool *interleaved)
{
  TopoWord word = topo_scan_word (scan);

  *interleaved = g_str_equal (word.text, "mod");
  if (!*interleaved && !g_str_equal (word.text, "div"))
    return topo_scan_fail (scan, word.start, "expected div or mod");
  return TRUE;
}

static gboolean
read_cut (TopoAlgebra *algebra, CutKind kind, CutArguments *arguments)
{
  TopoScan *scan = algebra->scan;
  uint32_t n_dimensions = topo_algebra_dimensions (algebra);

  if (!topo_scan_expect (scan, '('))
    return FALSE;
  do {
    uint32_t n = arguments->n;

    if (n == n_dimensions)
      return topo_scan_fail (scan, scan->at, "the box has %u dimensions", n_dimensions);
    arguments->interleaved[n] = kind == CUT_MOD;
    if (!topo_scan_number (scan, 1, G_MAXINT32, &arguments->number[n]) ||
        (kind == CUT_MIXED && !read_kind (scan, &arguments->interleaved[n])))
      return FALSE;
    arguments->n++;
  } while (topo_scan_accept (scan, ','));
  for (; kind == CUT_TILE && arguments->n < n_dimensions; arguments->n++)
    arguments->number[arguments->n] = 1;
  return topo_scan_expect (scan, ')');
}

static gboolean
cut_box (TopoAlgebra *algebra, uint32_t box, CutKind kind, const CutArguments *arguments,
         const char *where)
{
  const TopoBox *own = topo_box (algebra->tree, box);
  TopoCut cuts[TOPO_BOX_DIMENSIONS] = { 0 };

  for (uint32_t dimension = 0; dimension < arguments->n; dimension++) {
    uint32_t size = own->size[dimension];
    int64_t number = arguments->number[dimension];

    if (number > size)
      return topo_scan_fail (algebra->scan, where,
                             "%" G_GINT64_FORMAT " is more than the size of dimension %u, %u",
                             number, dimension, size);
    cuts[dimension].n_pieces = kind == CUT_TILE ? size / (uint32_t) number : (uint32_t) number;
    cuts[dimension].interleaved = arguments->interleaved[dimension];
  }
  if (topo_box_cut (algebra->tree, box, arguments->n, cuts))
    return TRUE;
  return topo_scan_fail (algebra->scan, where, "more than %u boxes", TOPO_BOX_LIMIT);
}

static gboolean
cut (TopoAlgebra *algebra, const char *where, CutKind kind)
{
  CutArguments arguments = { 0 };

  if (!read_cut (algebra, kind, &arguments))
    return FALSE;
  for (uint32_t number = 0; number < algebra->selected->len; number++)
    if (!cut_box (algebra, topo_algebra_selected (algebra, number), kind, &arguments, where))
      return FALSE;
  return TRUE;
}

gboolean
topo_algebra_div (TopoAlgebra *algebra, const char *where)
{
  return cut (algebra, where, CUT_DIV);
}

gboolean
topo_algebra_tile (TopoAlgebra *algebra, const char *where)
{
  return cut (algebra, where, CUT_TILE);
}

gboolean
topo_algebra_mod (TopoAlgebra *algebra, const char *where)
{
  return cut (algebra, where, CUT_MOD);
}

gboolean
topo_algebra_cut (TopoAlgebra *algebra, const char *where)
{
  return cut (algebra, where, CUT_MIXED);
}

/* --- Ways through the tree --- */

static uint32_t
count_children (const TopoBox *box)
{
  uint32_t n = 1;

  for (uint32_t dimension = 0; dimension < box->n_cuts; dimension++)
    n *= box->n_pieces[dimension];
  return n;
}

gboolean
topo_algebra_each (TopoAlgebra *algebra, const char *where)
{
  g_autoptr (GArray) children = g_array_new (FALSE, FALSE, sizeof (uint32_t));

  for (uint32_t number = 0; number < algebra->selected->len; number++) {
    const TopoBox *box = topo_box (algebra->tree, topo_algebra_selected (algebra, number));

    if (box->n_cuts == 0)
      return topo_scan_fail (algebra->scan, where, "the box is not cut");
    for (uint32_t at = 0; at < count_children (box); at++) {
      uint32_t child = box->first_child + at;

      g_array_append_val (children, child);
    }
  }
  g_array_unref (algebra->selected);
  algebra->selected = g_steal_pointer (&children);
  return topo_scan_no_arguments (algebra->scan);
}

gboolean
topo_algebra_leaves (TopoAlgebra *algebra, G_GNUC_UNUSED const char *where)
{
  GArray *leaves = g_array_new (FALSE, FALSE, sizeof (uint32_t));

  for (uint32_t number = 0; number < algebra->selected->len; number++)
    topo_box_leaves (algebra->tree, topo_algebra_selected (algebra, number), leaves);
  g_array_unref (algebra->selected);
  algebra->selected = leaves;
  return topo_scan_no_arguments (algebra->scan);
}

gboolean
topo_algebra_root (TopoAlgebra *algebra, G_GNUC_UNUSED const char *where)
{
  topo_algebra_select_root (algebra);
  return topo_scan_no_arguments (algebra->scan);
}

/* The sub-box at the numbers between the brackets, a number for every dimension cut. */
static gboolean
find_child (TopoAlgebra *algebra, const int64_t *at, uint32_t n, const char *where, uint32_t *box)
{
  const TopoBox *own = topo_box (algebra->tree, *box);
  uint32_t child = 0;

  if (own->n_cuts != n)
    return topo_scan_fail (algebra->scan, where, "the box is cut in %u dimensions", own->n_cuts);
  for (uint32_t dimension = 0; dimension < n; dimension++) {
    if (at[dimension] >= own->n_pieces[dimension])
      return topo_scan_fail (algebra->scan, where, "dimension %u has %u pieces", dimension,
                             own->n_pieces[dimension]);
    child = child * own->n_pieces[dimension] + (uint32_t) at[dimension];
  }
  *box = own->first_child + child;
  return TRUE;
}

gboolean
topo_algebra_pick (TopoAlgebra *algebra)
{
  TopoScan *scan = algebra->scan;
  const char *where = scan->at;
  int64_t at[TOPO_BOX_DIMENSIONS];
  uint32_t n = 0;

  do {
    if (n == TOPO_BOX_DIMENSIONS)
      return topo_scan_fail (scan, scan->at, "a box has up to %d dimensions", TOPO_BOX_DIMENSIONS);
    if (!topo_scan_number (scan, 0, G_MAXINT32, &at[n++]))
      return FALSE;
  } while (topo_scan_accept (scan, ','));
  for (uint32_t number = 0; number < algebra->selected->len; number++)
    if (!find_child (algebra, at, n, where, &g_array_index (algebra->selected, uint32_t, number)))
      return FALSE;
  return topo_scan_expect (scan, ']');
}
