/* recipe_moves.c - operations that move the contents of boxes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/recipe/recipe_algebra.h"

/* Factors of coordinates; a product of two stays far below 2^63. */
#define MAX_FACTOR 1000000000

/* --- Moves --- */

/* A move of net moves ranks: they must be there. */
static gboolean
begin_move (TopoAlgebra *algebra, const char *where)
{
  g_autoptr (GArray) selected = NULL;

  if (algebra->tree != algebra->net || algebra->is_mapped)
    return TRUE;
  selected = g_array_copy (algebra->selected);
  if (!topo_algebra_map (algebra, where))
    return FALSE;
  g_array_unref (algebra->selected);
  algebra->selected = g_steal_pointer (&selected);
  return TRUE;
}

/* A number, or in net the letter of a dimension. */
static gboolean
read_axis (TopoAlgebra *algebra, uint32_t *axis)
{
  TopoScan *scan = algebra->scan;
  uint32_t n_dimensions = topo_algebra_dimensions (algebra);
  TopoWord word = topo_scan_word (scan);
  int64_t number;

  if (word.text[0] == '\0') {
    if (!topo_scan_number (scan, 0, (int64_t) n_dimensions - 1, &number))
      return FALSE;
    *axis = (uint32_t) number;
    return TRUE;
  }
  *axis = word.text[0] == 'T' ? n_dimensions - 1 : (uint32_t) (word.text[0] - 'A');
  if (algebra->tree == algebra->net && word.text[1] == '\0' &&
      (word.text[0] == 'T' || (word.text[0] >= 'A' && *axis + 1 < n_dimensions)))
    return TRUE;
  return topo_scan_fail (scan, word.start, "no dimension of this box; they are 0 to %u%s",
                         n_dimensions - 1,
                         algebra->tree == algebra->net ? ", or the machine's letters" : "");
}

static gboolean
read_two_axes (TopoAlgebra *algebra, uint32_t *first, uint32_t *second)
{
  const char *where;

  if (!topo_scan_expect (algebra->scan, '(') || !read_axis (algebra, first) ||
      !topo_scan_expect (algebra->scan, ','))
    return FALSE;
  where = algebra->scan->at;
  if (!read_axis (algebra, second))
    return FALSE;
  if (*first == *second)
    return topo_scan_fail (algebra->scan, where, "both axes are the same");
  return TRUE;
}

/* One more argument, which may be left out. */
static gboolean
read_optional (TopoAlgebra *algebra, int64_t least, int64_t *number)
{
  return !topo_scan_accept (algebra->scan, ',') ||
         topo_scan_number (algebra->scan, least, MAX_FACTOR, number);
}

/* How far the plane at a coordinate goes. */
typedef struct {
  bool is_wave;
  int64_t slope;         /* a ramp: slope * coordinate */
  int64_t depth, stride; /* a wave: up to depth in stride steps, and down again */
} Shift;

/* Rounded towards minus infinity, for negative depths. */
static int64_t
divide_down (int64_t number, int64_t by)
{
  return number / by - (number % by < 0);
}

static int64_t
shift_at (const Shift *shift, int64_t coordinate)
{
  int64_t crest;

  if (!shift->is_wave)
    return coordinate * shift->slope;
  crest = coordinate / (2 * shift->stride) * 2 * shift->stride + shift->stride;
  return shift->depth - divide_down (ABS (coordinate - crest) * shift->depth, shift->stride);
}

/* Planes across one dimension are rolled along the other. */
static void
roll_boxes (TopoAlgebra *algebra, uint32_t axis, uint32_t across, const Shift *shift)
{
  for (uint32_t number = 0; number < algebra->selected->len; number++) {
    uint32_t box = topo_algebra_selected (algebra, number);
    uint32_t n_planes = topo_box (algebra->tree, box)->size[across];
    g_autofree int64_t *shifts = g_new (int64_t, n_planes);

    for (uint32_t plane = 0; plane < n_planes; plane++)
      shifts[plane] = shift_at (shift, plane);
    topo_box_roll (algebra->tree, box, axis, across, shifts);
  }
}

static gboolean
ramp (TopoAlgebra *algebra, const char *where, bool is_shear)
{
  Shift shift = { .slope = 1 };
  uint32_t axis, direction;

  if (!begin_move (algebra, where) || !read_two_axes (algebra, &axis, &direction) ||
      !read_optional (algebra, -MAX_FACTOR, &shift.slope) || !topo_scan_expect (algebra->scan, ')'))
    return FALSE;
  if (is_shear)
    roll_boxes (algebra, direction, axis, &shift);
  else
    roll_boxes (algebra, axis, direction, &shift);
  return TRUE;
}

gboolean
topo_algebra_shear (TopoAlgebra *algebra, const char *where)
{
  return ramp (algebra, where, true);
}

gboolean
topo_algebra_tilt (TopoAlgebra *algebra, const char *where)
{
  return ramp (algebra, where, false);
}

gboolean
topo_algebra_zigzag (TopoAlgebra *algebra, const char *where)
{
  Shift shift = { .is_wave = true, .depth = 1, .stride = 1 };
  uint32_t axis, direction;

  if (!begin_move (algebra, where) || !read_two_axes (algebra, &axis, &direction) ||
      !read_optional (algebra, -MAX_FACTOR, &shift.depth) ||
      !read_optional (algebra, 1, &shift.stride) || !topo_scan_expect (algebra->scan, ')'))
    return FALSE;
  roll_boxes (algebra, axis, direction, &shift);
  return TRUE;
}

/* Every axis once. */
static gboolean
read_axes (TopoAlgebra *algebra, uint32_t axes[TOPO_BOX_DIMENSIONS])
{
  TopoScan *scan = algebra->scan;
  uint32_t seen = 0;

  for (uint32_t at = 0; at < topo_algebra_dimensions (algebra); at++) {
    const char *where;

    if (!topo_scan_expect (scan, at == 0 ? '(' : ','))
      return FALSE;
    where = scan->at;
    if (!read_axis (algebra, &axes[at]))
      return FALSE;
    if (seen >> axes[at] & 1u)
      return topo_scan_fail (scan, where, "this axis stands twice");
    seen |= 1u << axes[at];
  }
  return topo_scan_expect (scan, ')');
}

gboolean
topo_algebra_transpose (TopoAlgebra *algebra, const char *where)
{
  uint32_t axes[TOPO_BOX_DIMENSIONS];

  if (!begin_move (algebra, where) || !read_axes (algebra, axes))
    return FALSE;
  for (uint32_t number = 0; number < algebra->selected->len; number++)
    topo_box_transpose (algebra->tree, topo_algebra_selected (algebra, number), axes);
  return TRUE;
}

static void
lay_boxes (TopoAlgebra *algebra, TopoCurve curve, bool backwards)
{
  for (uint32_t number = 0; number < algebra->selected->len; number++)
    topo_box_lay (algebra->tree, topo_algebra_selected (algebra, number), curve, backwards);
}

/* The word itself is the curve. */
gboolean
topo_algebra_curve (TopoAlgebra *algebra, const TopoWord *word)
{
  if (!begin_move (algebra, word->start) || !topo_scan_no_arguments (algebra->scan))
    return FALSE;
  lay_boxes (algebra, topo_recipe_curve (word->text), false);
  return TRUE;
}

gboolean
topo_algebra_unwind (TopoAlgebra *algebra, const char *where)
{
  TopoWord word;

  if (!begin_move (algebra, where) || !topo_scan_expect (algebra->scan, '('))
    return FALSE;
  word = topo_scan_word (algebra->scan);
  if (topo_recipe_curve (word.text) == TOPO_N_CURVES)
    return topo_scan_fail (algebra->scan, word.start, "no curve");
  lay_boxes (algebra, topo_recipe_curve (word.text), true);
  return topo_scan_expect (algebra->scan, ')');
}
