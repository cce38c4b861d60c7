/* recipe.c - mappings written as a line of text: its words, and the orders of all places.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/words.h"
#include "topology/recipe/recipe_private.h"

#include "base/random.h"
#include <errno.h>
#include <string.h>

/* --- Reading the text --- */

/* A piece of the recipe for a message: on one line, whatever is in it. */
static char *
shown (const char *text, gsize length)
{
  g_autofree char *piece = g_strndup (text, length);

  return g_strescape (piece, NULL);
}

gboolean
topo_scan_fail (const TopoScan *scan, const char *where, const char *format, ...)
{
  g_autofree char *message = NULL, *text = shown (scan->text, 200), *there = shown (where, 20);
  va_list arguments;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (*where == '\0')
    g_set_error (scan->error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "mapping \"%s\", at its end: %s", text,
                 message);
  else
    g_set_error (scan->error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                 "mapping \"%s\", column %u, at \"%s\": %s", text,
                 (uint32_t) (where - scan->text) + 1, there, message);
  return FALSE;
}

static void
skip_blanks (TopoScan *scan)
{
  scan->at += strspn (scan->at, " \t");
}

bool
topo_scan_accept (TopoScan *scan, char expected)
{
  skip_blanks (scan);
  if (*scan->at != expected)
    return false;
  scan->at++;
  return true;
}

gboolean
topo_scan_expect (TopoScan *scan, char expected)
{
  if (topo_scan_accept (scan, expected))
    return TRUE;
  return topo_scan_fail (scan, scan->at, "expected '%c'", expected);
}

gboolean
topo_scan_end (TopoScan *scan)
{
  skip_blanks (scan);
  if (*scan->at == '\0')
    return TRUE;
  return topo_scan_fail (scan, scan->at, "expected the end");
}

TopoWord
topo_scan_word (TopoScan *scan)
{
  TopoWord word = { 0 };
  gsize length = 0;

  skip_blanks (scan);
  word.start = scan->at;
  if (g_ascii_isalpha (*scan->at))
    while (g_ascii_isalnum (*scan->at)) {
      if (length + 1 < sizeof word.text)
        word.text[length++] = *scan->at;
      scan->at++;
    }
  return word;
}

gboolean
topo_scan_number (TopoScan *scan, int64_t least, int64_t most, int64_t *number)
{
  char *end;
  gint64 value;

  skip_blanks (scan);
  if (!g_ascii_isdigit (scan->at[0]) && !(scan->at[0] == '-' && g_ascii_isdigit (scan->at[1])))
    return topo_scan_fail (scan, scan->at, "expected a number");
  errno = 0;
  value = g_ascii_strtoll (scan->at, &end, 10);
  if (errno == ERANGE || value < least || value > most || g_ascii_isalpha (*end))
    return topo_scan_fail (scan, scan->at,
                           "expected a number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
                           least, most);
  scan->at = end;
  *number = value;
  return TRUE;
}

gboolean
topo_scan_no_arguments (TopoScan *scan)
{
  return !topo_scan_accept (scan, '(') || topo_scan_expect (scan, ')');
}

/* --- Orders of all places: curves, random, the distributions of Slurm ---
 *
 * A place is node * ranks_per_node + slot.  The first ranks take the first places of
 * the order; with fewer ranks than places the last places stay empty. */

static void
set_place (TopoRecipe *recipe, uint32_t rank, uint32_t node, uint32_t slot)
{
  recipe->mapping->node[rank] = node;
  recipe->mapping->slot[rank] = (uint8_t) slot;
}

/* --- Curves --- */

/* The order in which a curve takes the dimensions, and where the slots are in it. */
typedef struct {
  uint32_t dimension[TOPO_MAX_DIMENSIONS];
  bool slots_first; /* slowest: one rank on every node, then the second ones */
} Order;

/* Reads "(ABCDET)", "(TABCDE)", "(ABCDE)" or nothing: the dimensions in any order, the first
 * the slowest. */
static gboolean
read_order (TopoRecipe *recipe, Order *order)
{
  TopoScan *scan = &recipe->scan;
  uint32_t n_dimensions = recipe->machine->shape.n_dimensions, n = 0;
  const char *letter, *end;

  for (uint32_t dimension = 0; dimension < n_dimensions; dimension++)
    order->dimension[dimension] = dimension;
  order->slots_first = false;
  if (!topo_scan_accept (scan, '(') || topo_scan_accept (scan, ')'))
    return TRUE;
  letter = topo_scan_word (scan).start;
  end = scan->at;
  order->slots_first = letter < end && *letter == 'T';
  letter += order->slots_first;
  for (; letter < end && n < n_dimensions; letter++, n++) {
    uint32_t dimension = (uint32_t) (*letter - 'A');

    if (*letter < 'A' || dimension >= n_dimensions)
      return topo_scan_fail (scan, letter,
                             "no dimension of this machine; the order is that of A to %c, with T "
                             "first or last",
                             topo_dimension_letter (n_dimensions - 1));
    for (uint32_t before = 0; before < n; before++)
      if (order->dimension[before] == dimension)
        return topo_scan_fail (scan, letter, "%c appears twice", *letter);
    order->dimension[n] = dimension;
  }
  if (n < n_dimensions)
    return topo_scan_fail (scan, letter, "expected all of A to %c",
                           topo_dimension_letter (n_dimensions - 1));
  if (letter < end && *letter == 'T' && !order->slots_first)
    letter++;
  if (letter != end)
    return topo_scan_fail (scan, letter, "expected ')'");
  return topo_scan_expect (scan, ')');
}

/* All places along a curve. */
static gboolean
along_curve (TopoRecipe *recipe, TopoCurve curve)
{
  const TopoShape *shape = &recipe->machine->shape;
  uint32_t n_nodes = topo_shape_nodes (shape), n_slots = recipe->machine->ranks_per_node;
  uint32_t size[TOPO_MAX_DIMENSIONS];
  g_autofree uint32_t *nodes = NULL;
  Order order;

  if (!read_order (recipe, &order) || !topo_scan_end (&recipe->scan))
    return FALSE;
  for (uint32_t at = 0; at < shape->n_dimensions; at++)
    size[at] = shape->size[order.dimension[at]];
  nodes = topo_curve_new (curve, shape->n_dimensions, size);
  /* The points of the box whose dimensions are in this order become nodes.  In one dimension
   * they are nodes already, and coordinates may not fit. */
  for (uint32_t k = 0; shape->n_dimensions > 1 && k < n_nodes; k++) {
    uint32_t point = nodes[k];
    TopoCoordinates coordinates = { 0 };

    for (uint32_t at = shape->n_dimensions; at-- > 0; point /= size[at])
      coordinates.at[order.dimension[at]] = (uint16_t) (point % size[at]);
    nodes[k] = topo_shape_node (shape, coordinates);
  }
  for (uint32_t rank = 0; rank < recipe->mapping->n_ranks; rank++)
    if (order.slots_first)
      set_place (recipe, rank, nodes[rank % n_nodes], rank / n_nodes);
    else
      set_place (recipe, rank, nodes[rank / n_slots], rank % n_slots);
  return TRUE;
}

/* --- Random --- */

static gboolean
recipe_random (TopoRecipe *recipe)
{
  TopoScan *scan = &recipe->scan;
  uint32_t n_slots = recipe->machine->ranks_per_node;
  uint32_t n = topo_shape_nodes (&recipe->machine->shape); /* nodes, or places */
  g_autofree uint32_t *order = NULL;
  BaseRandom random;
  int64_t seed;
  bool by_node;

  if (!topo_scan_expect (scan, '(') || !topo_scan_number (scan, 0, INT64_MAX, &seed))
    return FALSE;
  by_node = topo_scan_accept (scan, ',');
  if (by_node) {
    TopoWord word = topo_scan_word (scan);

    if (!g_str_equal (word.text, "nodes"))
      return topo_scan_fail (scan, word.start, "expected \"nodes\"");
  } else
    n *= n_slots;
  if (!topo_scan_expect (scan, ')') || !topo_scan_end (scan))
    return FALSE;

  /* 0 .. n-1 shuffled from the end (Fisher, Yates). */
  random = (BaseRandom){ (uint64_t) seed };
  order = g_new (uint32_t, n);
  for (uint32_t at = 0; at < n; at++)
    order[at] = at;
  for (uint32_t left = n; left > 1; left--) {
    uint32_t other = base_random_below_exact (&random, left), kept = order[other];

    order[other] = order[left - 1];
    order[left - 1] = kept;
  }
  for (uint32_t rank = 0; rank < recipe->mapping->n_ranks; rank++)
    if (by_node)
      set_place (recipe, rank, order[rank / n_slots], rank % n_slots);
    else
      set_place (recipe, rank, order[rank] / n_slots, order[rank] % n_slots);
  return TRUE;
}

/* --- Slurm's distributions --- */

/* Nodes take turns, each time for so many ranks or as many as it has slots left. */
static void
deal_out (TopoRecipe *recipe, uint32_t n_together)
{
  uint32_t n_nodes = topo_shape_nodes (&recipe->machine->shape);
  uint32_t n_slots = recipe->machine->ranks_per_node, rank = 0;

  for (uint32_t first = 0; first < n_slots; first += n_together)
    for (uint32_t node = 0; node < n_nodes; node++)
      for (uint32_t slot = first; slot < MIN (first + n_together, n_slots); slot++) {
        if (rank == recipe->mapping->n_ranks)
          return;
        set_place (recipe, rank++, node, slot);
      }
}

static gboolean
recipe_block (TopoRecipe *recipe)
{
  if (!topo_scan_no_arguments (&recipe->scan) || !topo_scan_end (&recipe->scan))
    return FALSE;
  deal_out (recipe, recipe->machine->ranks_per_node);
  return TRUE;
}

static gboolean
recipe_cyclic (TopoRecipe *recipe)
{
  if (!topo_scan_no_arguments (&recipe->scan) || !topo_scan_end (&recipe->scan))
    return FALSE;
  deal_out (recipe, 1);
  return TRUE;
}

static gboolean
recipe_plane (TopoRecipe *recipe)
{
  int64_t n_together;

  if (!topo_scan_expect (&recipe->scan, '(') ||
      !topo_scan_number (&recipe->scan, 1, recipe->machine->ranks_per_node, &n_together) ||
      !topo_scan_expect (&recipe->scan, ')') || !topo_scan_end (&recipe->scan))
    return FALSE;
  deal_out (recipe, (uint32_t) n_together);
  return TRUE;
}

/* --- All recipes --- */

/* Every operation of a recipe may take a deeper level of boxes. */
#define MAX_LENGTH 65536

/* The words that recipes begin with, curves apart. */
static const struct {
  const char *word;
  gboolean (*read) (TopoRecipe *recipe);
  bool alone; /* may stand without a parenthesis */
} beginnings[] = {
  { "random", recipe_random, false },     { "block", recipe_block, true },
  { "cyclic", recipe_cyclic, true },      { "plane", recipe_plane, false },
  { "app", topo_recipe_from_app, false }, { "box", topo_recipe_from_app, false },
  { "net", topo_recipe_from_net, true },
};

const char *const *
topo_recipe_words (void)
{
  static const char *words[TOPO_N_CURVES + G_N_ELEMENTS (beginnings) + 1];
  static gsize filled;

  if (g_once_init_enter (&filled)) {
    for (gsize at = 0; at < TOPO_N_CURVES; at++)
      words[at] = topo_curve_names[at];
    for (gsize at = 0; at < G_N_ELEMENTS (beginnings); at++)
      words[TOPO_N_CURVES + at] = beginnings[at].word;
    g_once_init_leave (&filled, 1);
  }
  return words;
}

TopoCurve
topo_recipe_curve (const char *word)
{
  TopoCurve curve = 0;

  while (curve < TOPO_N_CURVES && !g_str_equal (topo_curve_names[curve], word))
    curve++;
  return curve;
}

bool
topo_is_recipe (const char *text)
{
  if (strpbrk (text, "/:") != NULL) /* a path, or a kind of file and a path */
    return false;
  if (strchr (text, '(') != NULL || topo_recipe_curve (text) != TOPO_N_CURVES)
    return true;
  for (gsize at = 0; at < G_N_ELEMENTS (beginnings); at++)
    if (beginnings[at].alone && g_str_equal (beginnings[at].word, text))
      return true;
  return false;
}

gboolean
topo_recipe_fill (TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  TopoRecipe recipe = { { mapping->name, mapping->name, error }, machine, mapping };
  g_autofree char *list = NULL, *meant = NULL;
  TopoCurve curve;
  TopoWord word;

  if (strlen (mapping->name) > MAX_LENGTH)
    return topo_scan_fail (&recipe.scan, mapping->name, "a recipe has up to %d characters",
                           MAX_LENGTH);
  word = topo_scan_word (&recipe.scan);
  curve = topo_recipe_curve (word.text);
  if (curve != TOPO_N_CURVES)
    return along_curve (&recipe, curve);
  for (gsize at = 0; at < G_N_ELEMENTS (beginnings); at++)
    if (g_str_equal (beginnings[at].word, word.text))
      return beginnings[at].read (&recipe);
  list = g_strjoinv (", ", (char **) topo_recipe_words ());
  meant = base_did_you_mean (word.text, topo_recipe_words ());
  return topo_scan_fail (&recipe.scan, word.start,
                         "there is no such file, and a recipe begins with %s%s", list, meant);
}
