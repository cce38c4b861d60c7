/* recipe_algebra.c - recipes that lay boxes of ranks into boxes of a machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   recipe = [ ("app" | "box") "(" sizes ")" steps ] "net" steps
 *   steps  = { "." operation | "[" numbers "]" } */
#include "topology/recipe/recipe_private.h"

#include <string.h>

/* the one that reads them; private to topology/. */
typedef struct {
  TopoRecipe *recipe;
  TopoScan *scan;
  TopoBoxTree *app;  /* NULL: a row of all ranks */
  TopoBoxTree *net;  /* the machine: its dimensions, then the slots */
  TopoBoxTree *tree; /* which of the two is worked on */
  GArray *selected;  /* (element-type uint32_t) boxes of it, to which operations apply */
  bool is_mapped;    /* the ranks are in net */
} TopoAlgebra;

static uint32_t algebra_selected (const TopoAlgebra *algebra, uint32_t number);
static uint32_t algebra_dimensions (const TopoAlgebra *algebra);
static gboolean algebra_pick (TopoAlgebra *algebra);
static gboolean algebra_operate (TopoAlgebra *algebra, const TopoWord *word);

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

/* Lays the ranks of app into net, leaf by leaf; an error shows `where`. */
static gboolean
algebra_map (TopoAlgebra *algebra, const char *where)
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
  algebra_select_root (algebra);
  return TRUE;
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

/* "net" was read. */
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

static gboolean
run (TopoRecipe *recipe, gboolean (*read) (TopoAlgebra *algebra))
{
  TopoAlgebra algebra = { .recipe = recipe, .scan = &recipe->scan };
  gboolean ok;

  algebra.selected = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  ok = read (&algebra);
  if (ok) {
    /* Cells are places. */
    TopoMapping *mapping = algebra.recipe->mapping;
    uint32_t n_slots = algebra.recipe->machine->ranks_per_node;
    uint32_t n_places = topo_box_volume (topo_box (algebra.net, 0));
    const uint32_t *rank_at = topo_box_contents (algebra.net);

    for (uint32_t place = 0; place < n_places; place++)
      if (rank_at[place] != TOPO_NONE) {
        mapping->node[rank_at[place]] = place / n_slots;
        mapping->slot[rank_at[place]] = (uint8_t) (place % n_slots);
      }
  }
  topo_box_tree_free (algebra.app);
  topo_box_tree_free (algebra.net);
  g_array_unref (algebra.selected);
  return ok;
}

static gboolean
read_app_and_net (TopoAlgebra *algebra)
{
  TopoWord word;

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
  if (!read_steps (algebra))
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

/* --- Cuts and ways through the tree of boxes ---
 *
 * An operation is read once and applied to every selected box.  The boxes may have
 * different sizes (the last piece of a cut), so that what depends on them is checked
 * for each. */

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

  TopoScan *scan = algebra->scan;
  uint32_t n_dimensions = algebra_dimensions (algebra);

  if (!topo_scan_expect (scan, '('))
    return FALSE;
  do {
    uint32_t n = arguments.n;

    if (n == n_dimensions)
      return topo_scan_fail (scan, scan->at, "the box has %u dimensions", n_dimensions);
    arguments.interleaved[n] = kind == CUT_MOD;
    if (!topo_scan_number (scan, 1, G_MAXINT32, &arguments.number[n]) ||
        (kind == CUT_MIXED && !read_kind (scan, &arguments.interleaved[n])))
      return FALSE;
    arguments.n++;
  } while (topo_scan_accept (scan, ','));
  for (; kind == CUT_TILE && arguments.n < n_dimensions; arguments.n++)
    arguments.number[arguments.n] = 1;
  if (!topo_scan_expect (scan, ')'))
    return FALSE;
  for (uint32_t number = 0; number < algebra->selected->len; number++)
    if (!cut_box (algebra, algebra_selected (algebra, number), kind, &arguments, where))
      return FALSE;
  return TRUE;
}

/* The operations, each behind its word, which stands at `where`. */
static gboolean
algebra_div (TopoAlgebra *algebra, const char *where)
{
  return cut (algebra, where, CUT_DIV);
}

static gboolean
algebra_tile (TopoAlgebra *algebra, const char *where)
{
  return cut (algebra, where, CUT_TILE);
}

static gboolean
algebra_mod (TopoAlgebra *algebra, const char *where)
{
  return cut (algebra, where, CUT_MOD);
}

static gboolean
algebra_cut (TopoAlgebra *algebra, const char *where)
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

static gboolean
algebra_each (TopoAlgebra *algebra, const char *where)
{
  g_autoptr (GArray) children = g_array_new (FALSE, FALSE, sizeof (uint32_t));

  for (uint32_t number = 0; number < algebra->selected->len; number++) {
    const TopoBox *box = topo_box (algebra->tree, algebra_selected (algebra, number));

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

static gboolean
algebra_leaves (TopoAlgebra *algebra, G_GNUC_UNUSED const char *where)
{
  GArray *leaves = g_array_new (FALSE, FALSE, sizeof (uint32_t));

  for (uint32_t number = 0; number < algebra->selected->len; number++)
    topo_box_leaves (algebra->tree, algebra_selected (algebra, number), leaves);
  g_array_unref (algebra->selected);
  algebra->selected = leaves;
  return topo_scan_no_arguments (algebra->scan);
}

static gboolean
algebra_root (TopoAlgebra *algebra, G_GNUC_UNUSED const char *where)
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
    uint32_t box = algebra_selected (algebra, number);
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

static gboolean
algebra_shear (TopoAlgebra *algebra, const char *where)
{
  return ramp (algebra, where, true);
}

static gboolean
algebra_tilt (TopoAlgebra *algebra, const char *where)
{
  return ramp (algebra, where, false);
}

static gboolean
algebra_zigzag (TopoAlgebra *algebra, const char *where)
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

  for (uint32_t at = 0; at < algebra_dimensions (algebra); at++) {
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

static gboolean
algebra_transpose (TopoAlgebra *algebra, const char *where)
{
  uint32_t axes[TOPO_BOX_DIMENSIONS];

  if (!begin_move (algebra, where) || !read_axes (algebra, axes))
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
algebra_unwind (TopoAlgebra *algebra, const char *where)
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

/* A selected box, and how many dimensions every box of the tree has. */
static uint32_t
algebra_selected (const TopoAlgebra *algebra, uint32_t number)
{
  return g_array_index (algebra->selected, uint32_t, number);
}

static uint32_t
algebra_dimensions (const TopoAlgebra *algebra)
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
  return topo_scan_no_arguments (algebra->scan) && algebra_map (algebra, where);
}

static const struct {
  const char *word;
  gboolean (*operate) (TopoAlgebra *algebra, const char *where);
} operations[] = {
  { "div", algebra_div },       { "tile", algebra_tile }, { "mod", algebra_mod },
  { "cut", algebra_cut },       { "map", operate_map },   { "transpose", algebra_transpose },
  { "shear", algebra_shear },   { "tilt", algebra_tilt }, { "zigzag", algebra_zigzag },
  { "unwind", algebra_unwind }, { "each", algebra_each }, { "leaves", algebra_leaves },
  { "root", algebra_root },
};

/* The operation whose word was read: its arguments, then what it does. */
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
      return operations[at].operate (algebra, word->start);
  return topo_scan_fail (algebra->scan, word->start,
                         "expected div, tile, mod, cut, map, transpose, shear, tilt, zigzag, "
                         "zorder, hilbert, peano, gray, snake, unwind, each, leaves or root");
}
