/* recipe_algebra.c - recipes that lay boxes of ranks into boxes of a machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   recipe = [ ("app" | "box") "(" sizes ")" steps ] "net" steps
 *   steps  = { "." operation | "[" numbers "]" } */
#include "topology/recipe/recipe_private.h"

#include <string.h>

typedef struct {
  TopoRecipe *recipe;
  TopoScan *scan;
  TopoBoxTree *app;  /* NULL: a row of all ranks */
  TopoBoxTree *net;  /* the machine: its dimensions, then the slots */
  TopoBoxTree *tree; /* which of the two is worked on */
  GArray *selected;  /* (element-type uint32_t) boxes of it, to which operations apply */
  bool is_mapped;    /* the ranks are in net */
} TopoAlgebra;

/* A selected box. */
static uint32_t
algebra_selected (const TopoAlgebra *algebra, uint32_t number)
{
  return g_array_index (algebra->selected, uint32_t, number);
}

/* The number of dimensions of every box of the tree. */
static uint32_t
algebra_dimensions (const TopoAlgebra *algebra)
{
  return topo_box (algebra->tree, 0)->n_dimensions;
}

/* Back to the whole box. */
static void
algebra_select_root (TopoAlgebra *algebra)
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

/* Lays the ranks of app into net, leaf by leaf; slots beyond the ranks stay empty.  An error
 * shows `where`. */
static gboolean
algebra_map (TopoAlgebra *algebra, const char *where)
{
  uint32_t n_slots = topo_box_volume (topo_box (algebra->net, 0)), n = 0;
  g_autofree uint32_t *ranks = g_new (uint32_t, n_slots);
  g_autoptr (GArray) from = algebra->app != NULL ? leaves_of (algebra->app) : NULL;
  g_autoptr (GArray) to = leaves_of (algebra->net);

  memset (ranks, 0xff, n_slots * sizeof *ranks); /* TOPO_NONE */
  if (from != NULL) {
    /* Where both are cut, their leaves are pairs of one size. */
    if (from->len > 1 && to->len > 1 && from->len > to->len)
      return topo_scan_fail (algebra->scan, where, "app has %u boxes for the %u of net", from->len,
                             to->len);
    for (uint32_t leaf = 0; leaf < from->len && from->len > 1 && to->len > 1; leaf++) {
      uint32_t n_ranks = leaf_volume (algebra->app, from, leaf);
      uint32_t n_places = leaf_volume (algebra->net, to, leaf);

      if (n_ranks != n_places)
        return topo_scan_fail (algebra->scan, where,
                               "box %u of app has %u ranks, that of net %u slots", leaf, n_ranks,
                               n_places);
    }
    for (uint32_t leaf = 0; leaf < from->len; leaf++) {
      topo_box_read (algebra->app, g_array_index (from, uint32_t, leaf), ranks + n);
      n += leaf_volume (algebra->app, from, leaf);
    }
  } else {
    for (uint32_t rank = 0; rank < algebra->recipe->mapping->n_ranks; rank++)
      ranks[rank] = rank;
  }
  n = 0;
  for (uint32_t leaf = 0; leaf < to->len; leaf++) {
    topo_box_write (algebra->net, g_array_index (to, uint32_t, leaf), ranks + n);
    n += leaf_volume (algebra->net, to, leaf);
  }
  algebra->is_mapped = true;
  algebra_select_root (algebra);
  return TRUE;
}

/* --- Cuts and ways through the tree of boxes ---
 *
 * An operation is read once and applied to every selected box.  The boxes may have
 * different sizes (the last piece of a cut), so that what depends on them is checked
 * for each. */

typedef enum { CUT_DIV, CUT_TILE, CUT_MOD, CUT_MIXED } CutKind;

/* The arguments are numbers of pieces, or sizes of tiles. */
static gboolean
algebra_cut (TopoAlgebra *algebra, const char *where, uint32_t kind)
{
  TopoScan *scan = algebra->scan;
  uint32_t n_dimensions = algebra_dimensions (algebra), n = 0;
  int64_t argument[TOPO_BOX_DIMENSIONS];
  TopoCut cuts[TOPO_BOX_DIMENSIONS] = { 0 };

  if (!topo_scan_expect (scan, '('))
    return FALSE;
  do {
    if (n == n_dimensions)
      return topo_scan_fail (scan, scan->at, "the box has %u dimensions", n_dimensions);
    cuts[n].interleaved = kind == CUT_MOD;
    if (!topo_scan_number (scan, 1, G_MAXINT32, &argument[n]))
      return FALSE;
    if (kind == CUT_MIXED) {
      TopoWord word = topo_scan_word (scan);

      cuts[n].interleaved = g_str_equal (word.text, "mod");
      if (!cuts[n].interleaved && !g_str_equal (word.text, "div"))
        return topo_scan_fail (scan, word.start, "expected div or mod");
    }
    n++;
  } while (topo_scan_accept (scan, ','));
  for (; kind == CUT_TILE && n < n_dimensions; n++)
    argument[n] = 1;
  if (!topo_scan_expect (scan, ')'))
    return FALSE;

  for (uint32_t number = 0; number < algebra->selected->len; number++) {
    uint32_t box = algebra_selected (algebra, number);

    for (uint32_t dimension = 0; dimension < n; dimension++) {
      uint32_t size = topo_box (algebra->tree, box)->size[dimension];

      if (argument[dimension] > size)
        return topo_scan_fail (scan, where,
                               "%" G_GINT64_FORMAT " is more than the size of dimension %u, %u",
                               argument[dimension], dimension, size);
      cuts[dimension].n_pieces =
          kind == CUT_TILE ? size / (uint32_t) argument[dimension] : (uint32_t) argument[dimension];
    }
    if (!topo_box_cut (algebra->tree, box, n, cuts))
      return topo_scan_fail (scan, where, "more than %u boxes", TOPO_BOX_LIMIT);
  }
  return TRUE;
}

/* --- Ways through the tree --- */

static gboolean
algebra_each (TopoAlgebra *algebra, const char *where, G_GNUC_UNUSED uint32_t kind)
{
  g_autoptr (GArray) children = g_array_new (FALSE, FALSE, sizeof (uint32_t));

  for (uint32_t number = 0; number < algebra->selected->len; number++) {
    const TopoBox *box = topo_box (algebra->tree, algebra_selected (algebra, number));
    uint32_t n_children = 1;

    if (box->n_cuts == 0)
      return topo_scan_fail (algebra->scan, where, "the box is not cut");
    for (uint32_t dimension = 0; dimension < box->n_cuts; dimension++)
      n_children *= box->n_pieces[dimension];
    for (uint32_t child = box->first_child; child < box->first_child + n_children; child++)
      g_array_append_val (children, child);
  }
  g_array_unref (algebra->selected);
  algebra->selected = g_steal_pointer (&children);
  return topo_scan_no_arguments (algebra->scan);
}

static gboolean
algebra_leaves (TopoAlgebra *algebra, G_GNUC_UNUSED const char *where, G_GNUC_UNUSED uint32_t kind)
{
  GArray *leaves = g_array_new (FALSE, FALSE, sizeof (uint32_t));

  for (uint32_t number = 0; number < algebra->selected->len; number++)
    topo_box_leaves (algebra->tree, algebra_selected (algebra, number), leaves);
  g_array_unref (algebra->selected);
  algebra->selected = leaves;
  return topo_scan_no_arguments (algebra->scan);
}

static gboolean
algebra_root (TopoAlgebra *algebra, G_GNUC_UNUSED const char *where, G_GNUC_UNUSED uint32_t kind)
{
  algebra_select_root (algebra);
  return topo_scan_no_arguments (algebra->scan);
}

/* "[i, j, ...]" behind an operation: one sub-box of each selected box. */
static gboolean
algebra_pick (TopoAlgebra *algebra)
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
  for (uint32_t number = 0; number < algebra->selected->len; number++) {
    /* The sub-box at the numbers between the brackets, a number for every dimension cut. */
    uint32_t *box = &g_array_index (algebra->selected, uint32_t, number);
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
  }
  return topo_scan_expect (scan, ']');
}

/* --- Moves --- */

/* Factors of coordinates; a product of two stays far below 2^63. */
#define MAX_FACTOR 1000000000

/* A move of net moves ranks: they must be there. */
static gboolean
begin_move (TopoAlgebra *algebra, const char *where)
{
  g_autoptr (GArray) selected = NULL;

  if (algebra->tree != algebra->net || algebra->is_mapped)
    return TRUE;
  selected = g_array_copy (algebra->selected);
  if (!algebra_map (algebra, where))
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
  uint32_t n_dimensions = algebra_dimensions (algebra);
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

typedef enum { ROLL_SHEAR, ROLL_TILT, ROLL_ZIGZAG } RollKind;

/* Rolls the planes across one dimension along another one: by a ramp, slope * coordinate,
 * or by a wave, up to a depth in stride steps and down again. */
static gboolean
algebra_roll (TopoAlgebra *algebra, const char *where, uint32_t kind)
{
  int64_t factor = 1, stride = 1; /* the factor is the slope of a ramp, the depth of a wave */
  uint32_t axis, across;

  if (!begin_move (algebra, where) || !read_two_axes (algebra, &axis, &across) ||
      !read_optional (algebra, -MAX_FACTOR, &factor) ||
      (kind == ROLL_ZIGZAG && !read_optional (algebra, 1, &stride)) ||
      !topo_scan_expect (algebra->scan, ')'))
    return FALSE;
  if (kind == ROLL_SHEAR) {
    uint32_t kept = axis;

    axis = across;
    across = kept;
  }
  for (uint32_t number = 0; number < algebra->selected->len; number++) {
    uint32_t box = algebra_selected (algebra, number);
    uint32_t n_planes = topo_box (algebra->tree, box)->size[across];
    g_autofree int64_t *shifts = g_new (int64_t, n_planes);

    for (int64_t plane = 0; plane < n_planes; plane++) {
      int64_t crest = plane / (2 * stride) * 2 * stride + stride;
      int64_t drop = ABS (plane - crest) * factor;

      /* Divides towards minus infinity, for negative depths. */
      shifts[plane] =
          kind == ROLL_ZIGZAG ? factor - (drop / stride - (drop % stride < 0)) : plane * factor;
    }
    topo_box_roll (algebra->tree, box, axis, across, shifts);
  }
  return TRUE;
}

static gboolean
algebra_transpose (TopoAlgebra *algebra, const char *where, G_GNUC_UNUSED uint32_t kind)
{
  TopoScan *scan = algebra->scan;
  uint32_t axes[TOPO_BOX_DIMENSIONS], seen = 0;

  if (!begin_move (algebra, where))
    return FALSE;
  for (uint32_t at = 0; at < algebra_dimensions (algebra); at++) {
    const char *start;

    if (!topo_scan_expect (scan, at == 0 ? '(' : ','))
      return FALSE;
    start = scan->at;
    if (!read_axis (algebra, &axes[at]))
      return FALSE;
    if (seen >> axes[at] & 1u)
      return topo_scan_fail (scan, start, "this axis appears twice");
    seen |= 1u << axes[at];
  }
  if (!topo_scan_expect (scan, ')'))
    return FALSE;
  for (uint32_t number = 0; number < algebra->selected->len; number++)
    topo_box_transpose (algebra->tree, algebra_selected (algebra, number), axes);
  return TRUE;
}

static void
lay_boxes (TopoAlgebra *algebra, TopoCurve curve, bool backwards)
{
  for (uint32_t number = 0; number < algebra->selected->len; number++)
    topo_box_lay (algebra->tree, algebra_selected (algebra, number), curve, backwards);
}

static gboolean
algebra_unwind (TopoAlgebra *algebra, const char *where, G_GNUC_UNUSED uint32_t kind)
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

/* --- The operations by name --- */

static gboolean
operate_map (TopoAlgebra *algebra, const char *where, G_GNUC_UNUSED uint32_t kind)
{
  if (algebra->tree != algebra->net)
    return topo_scan_fail (algebra->scan, where, "map() is an operation of net");
  if (algebra->is_mapped)
    return topo_scan_fail (algebra->scan, where,
                           "the ranks are already mapped to net, by a map() or an operation that "
                           "moves them");
  return topo_scan_no_arguments (algebra->scan) && algebra_map (algebra, where);
}

static const struct {
  const char *word;
  gboolean (*operate) (TopoAlgebra *algebra, const char *where, uint32_t kind);
  uint32_t kind; /* CutKind, RollKind */
} operations[] = {
  { "div", algebra_cut, CUT_DIV },
  { "tile", algebra_cut, CUT_TILE },
  { "mod", algebra_cut, CUT_MOD },
  { "cut", algebra_cut, CUT_MIXED },
  { "shear", algebra_roll, ROLL_SHEAR },
  { "tilt", algebra_roll, ROLL_TILT },
  { "zigzag", algebra_roll, ROLL_ZIGZAG },
  { "transpose", algebra_transpose, 0 },
  { "map", operate_map, 0 },
  { "unwind", algebra_unwind, 0 },
  { "each", algebra_each, 0 },
  { "leaves", algebra_leaves, 0 },
  { "root", algebra_root, 0 },
};

/* Reads the arguments of the operation `word`, and applies it to the selected boxes. */
static gboolean
algebra_operate (TopoAlgebra *algebra, const TopoWord *word)
{
  if (topo_recipe_curve (word->text) != TOPO_N_CURVES) {
    /* The word itself is the curve. */
    if (!begin_move (algebra, word->start) || !topo_scan_no_arguments (algebra->scan))
      return FALSE;
    lay_boxes (algebra, topo_recipe_curve (word->text), false);
    return TRUE;
  }
  for (gsize at = 0; at < G_N_ELEMENTS (operations); at++)
    if (g_str_equal (operations[at].word, word->text))
      return operations[at].operate (algebra, word->start, operations[at].kind);
  return topo_scan_fail (algebra->scan, word->start,
                         "expected div, tile, mod, cut, map, transpose, shear, tilt, zigzag, "
                         "zorder, hilbert, peano, gray, snake, unwind, each, leaves or root");
}

/* --- The two boxes --- */

/* Operations up to a blank and the next word, or the end. */
static gboolean
read_steps (TopoAlgebra *algebra)
{
  algebra_select_root (algebra);
  for (;;) {
    if (topo_scan_accept (algebra->scan, '.')) {
      TopoWord word = topo_scan_word (algebra->scan);

      if (!algebra_operate (algebra, &word))
        return FALSE;
    } else if (topo_scan_accept (algebra->scan, '[')) {
      if (!algebra_pick (algebra))
        return FALSE;
    } else
      return TRUE;
  }
}

/* Continues after the word "net". */
static gboolean
read_net (TopoAlgebra *algebra)
{
  const TopoMachine *machine = algebra->recipe->machine;
  uint32_t n_dimensions = machine->shape.n_dimensions;
  uint32_t size[TOPO_BOX_DIMENSIONS];

  memcpy (size, machine->shape.size, n_dimensions * sizeof *size);
  size[n_dimensions] = machine->ranks_per_node;
  algebra->tree = algebra->net = topo_box_tree_new (n_dimensions + 1, size);
  if (!read_steps (algebra) || !topo_scan_end (algebra->scan))
    return FALSE;
  return algebra->is_mapped || algebra_map (algebra, algebra->scan->at);
}

/* Continues after the word "app". */
static gboolean
read_app_and_net (TopoAlgebra *algebra)
{
  TopoScan *scan = algebra->scan;
  uint32_t n_ranks = algebra->recipe->mapping->n_ranks, n_dimensions = 0;
  uint32_t size[TOPO_BOX_DIMENSIONS];
  uint64_t volume = 1;
  const char *where;
  TopoWord word;

  if (!topo_scan_expect (scan, '('))
    return FALSE;
  where = scan->at;
  do {
    int64_t number;

    if (n_dimensions == TOPO_BOX_DIMENSIONS)
      return topo_scan_fail (scan, scan->at, "a box has up to %d dimensions", TOPO_BOX_DIMENSIONS);
    if (!topo_scan_number (scan, 1, G_MAXINT32, &number))
      return FALSE;
    size[n_dimensions++] = (uint32_t) number;
    volume = MIN (volume * (uint64_t) number, UINT32_MAX); /* no overflow: 31 bits each */
  } while (topo_scan_accept (scan, ','));
  if (!topo_scan_expect (scan, ')'))
    return FALSE;
  if (volume != n_ranks)
    return topo_scan_fail (scan, where, "%s%" G_GUINT64_FORMAT " ranks, but there are %u",
                           volume == UINT32_MAX ? "at least " : "", volume, n_ranks);
  algebra->tree = algebra->app = topo_box_tree_new (n_dimensions, size);
  if (!read_steps (algebra))
    return FALSE;
  word = topo_scan_word (scan);
  if (!g_str_equal (word.text, "net"))
    return topo_scan_fail (scan, word.start, "expected '.' and an operation, or net");
  return read_net (algebra);
}

static gboolean
run (TopoRecipe *recipe, gboolean (*read) (TopoAlgebra *algebra))
{
  TopoAlgebra algebra = { .recipe = recipe,
                          .scan = &recipe->scan,
                          .selected = g_array_new (FALSE, FALSE, sizeof (uint32_t)) };
  gboolean ok = read (&algebra);

  if (ok) {
    /* Cells are places. */
    uint32_t n_slots = recipe->machine->ranks_per_node;
    uint32_t n_places = topo_box_volume (topo_box (algebra.net, 0));
    const uint32_t *rank_at = topo_box_contents (algebra.net);

    for (uint32_t place = 0; place < n_places; place++)
      if (rank_at[place] != TOPO_NONE) {
        recipe->mapping->node[rank_at[place]] = place / n_slots;
        recipe->mapping->slot[rank_at[place]] = (uint8_t) (place % n_slots);
      }
  }
  topo_box_tree_free (algebra.app);
  topo_box_tree_free (algebra.net);
  g_array_unref (algebra.selected);
  return ok;
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
