/* recipe_family.c - families of mappings, written as recipes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A family is a list of texts for one machine and number of ranks: every name says by
 * itself how the ranks are placed. */
#include "topology/recipe/recipe_private.h"

#include <string.h>

typedef struct {
  char letter;
  uint32_t size;
} Axis;

/* --- sc13 and sc13-shared: 84 mappings, 3 tilings with 28 maps of each ---
 *
 * The paper (section 4.2.4) has 84 mappings of Rubik "for each of the benchmarks and system sizes",
 * and does not list them.  sc13 tiles a program's own grid: no tile, a tile per node, a tile per
 * block of nodes.  sc13-shared is one list for all programs of so many ranks, with a tile of a 3D
 * and one of a 2D grid.  Both are our reading; doc/handbook/mappings.md has them in words. */

/* The machine's dimensions of at least `least`, and T, last, when it has that many slots. */
static uint32_t
long_axes (const TopoMachine *machine, uint32_t least, Axis axes[TOPO_BOX_DIMENSIONS])
{
  uint32_t n = 0;

  for (uint32_t dimension = 0; dimension < machine->shape.n_dimensions; dimension++)
    if (machine->shape.size[dimension] >= least)
      axes[n++] = (Axis){ topo_dimension_letter (dimension), machine->shape.size[dimension] };
  if (machine->ranks_per_node >= least)
    axes[n++] = (Axis){ 'T', machine->ranks_per_node };
  return n;
}

/* The dimensions that are stirred: those of the machine, and the slots where these are
 * fewer than the five of Blue Gene/Q.  Only the ones of at least `least`. */
static uint32_t
stirred_axes (const TopoMachine *machine, uint32_t least, Axis axes[TOPO_BOX_DIMENSIONS])
{
  uint32_t n_dimensions = long_axes (machine, 2, axes);
  bool with_slots;

  n_dimensions -= machine->ranks_per_node >= 2;
  with_slots = n_dimensions < 5 && machine->ranks_per_node >= least;
  return long_axes (machine, least, axes) - (machine->ranks_per_node >= least && !with_slots);
}

/* The operations on the machine's box after a tiling; (element-type utf8). */
static GPtrArray *
list_maps (const TopoMachine *machine)
{
  static const uint32_t n_chains[] = { 5, 3, 2 };
  GPtrArray *maps = g_ptr_array_new_with_free_func (g_free);
  Axis axes[TOPO_BOX_DIMENSIONS];
  uint32_t n_axes = stirred_axes (machine, 2, axes), n_zigzags = 0;

  g_ptr_array_add (maps, g_strdup (""));
  g_ptr_array_add (maps, g_strdup (".zorder()"));
  /* Ten single tilts on five axes; with fewer axes both ways round. */
  for (uint32_t first = 0; first < n_axes; first++)
    for (uint32_t second = first + 1; second < n_axes; second++) {
      g_ptr_array_add (maps,
                       g_strdup_printf (".tilt(%c,%c,1)", axes[first].letter, axes[second].letter));
      if (n_axes < 5)
        g_ptr_array_add (
            maps, g_strdup_printf (".tilt(%c,%c,1)", axes[second].letter, axes[first].letter));
    }
  /* Five chains of two tilts, three of three, two of four: each tilt is along the axis
   * across which the tilt before went. */
  for (uint32_t n_tilts = 2; n_tilts <= 4 && n_tilts < n_axes; n_tilts++)
    for (uint32_t first = 0; first < MIN (n_chains[n_tilts - 2], n_axes); first++) {
      GString *text = g_string_new (NULL);

      for (uint32_t at = first; at < first + n_tilts; at++)
        g_string_append_printf (text, ".tilt(%c,%c,1)", axes[at % n_axes].letter,
                                axes[(at + 1) % n_axes].letter);
      g_ptr_array_add (maps, g_string_free (text, FALSE));
    }
  /* Six zigzags: axes in a ring with the next axis, then with the one after it.  Waves of
   * depth 2 differ from tilts only on axes of four and more. */
  n_axes = stirred_axes (machine, 4, axes);
  for (uint32_t step = 1; step < n_axes; step++)
    for (uint32_t at = 0; at < n_axes && n_zigzags < 6; at++, n_zigzags++)
      g_ptr_array_add (maps, g_strdup_printf (".zigzag(%c,%c,2,2)", axes[at].letter,
                                              axes[(at + step) % n_axes].letter));
  return maps;
}

/* --- Tilings --- */

/* The switch of a node's first adapter. */
static uint32_t
switch_of (const TopoFabric *fabric, uint32_t node)
{
  const TopoDevice *adapter = &fabric->devices[fabric->rails[fabric->hosts[node].first_rail]];
  uint32_t port = adapter->first_port;

  while (fabric->ports[port].peer == TOPO_NONE)
    port++;
  return fabric->ports[fabric->ports[port].peer].device;
}

/* On a fabric the nodes of a switch, where all switches have equally many consecutive nodes;
 * else two nodes along each dimension (the least factor of an odd one). */
static uint32_t
tile_size (const TopoMachine *machine, uint32_t dimension)
{
  uint32_t size = machine->shape.size[dimension], factor = 2;

  if (machine->fabric != NULL) {
    uint32_t n_nodes = topo_shape_nodes (&machine->shape), n = 1;
    bool is_regular = true;

    while (n < n_nodes && switch_of (machine->fabric, n) == switch_of (machine->fabric, 0))
      n++;
    for (uint32_t node = 0; node < n_nodes && is_regular; node++)
      is_regular = n_nodes % n == 0 &&
                   switch_of (machine->fabric, node) == switch_of (machine->fabric, node / n * n);
    if (is_regular && n > 1 && n < size)
      return n;
  }
  while (factor <= size / factor && size % factor != 0)
    factor++;
  return factor <= size / factor ? factor : size;
}

#define GRID_DIMENSIONS 3

typedef struct {
  uint32_t n_dimensions;
  uint32_t size[GRID_DIMENSIONS]; /* the last runs fastest; 1 beyond n_dimensions */
} Grid;

/* The grid of so many ranks with the least sum of sizes, the longest first. */
static Grid
grid_of (uint32_t n_ranks, uint32_t n_dimensions)
{
  Grid best = { n_dimensions, { n_ranks, 1, 1 } };
  uint32_t least = UINT32_MAX;

  for (uint32_t z = 1; n_dimensions == 3 ? z <= n_ranks / z / z : z == 1; z++)
    for (uint32_t y = z; n_ranks % z == 0 && y <= n_ranks / z / y; y++) {
      uint32_t x = n_ranks / z / y;

      if (n_ranks / z % y == 0 && x + y + z < least) {
        best = (Grid){ n_dimensions, { x, y, z } };
        least = x + y + z;
      }
    }
  return best;
}

/* The tile of `volume` ranks with the least surface that fits into the grid a whole number of
 * times; false: there is none. */
static bool
tile_of_grid (const Grid *grid, uint32_t volume, Grid *tile)
{
  uint64_t least = UINT64_MAX;

  for (uint32_t x = 1; x <= MIN (volume, grid->size[0]); x++)
    for (uint32_t y = 1; volume % x == 0 && grid->size[0] % x == 0 && y <= volume / x; y++) {
      uint32_t z = volume / x / y;
      uint64_t surface = (uint64_t) x * y + (uint64_t) y * z + (uint64_t) x * z;

      if (volume / x % y == 0 && grid->size[1] % y == 0 && grid->size[2] % z == 0 &&
          surface < least) {
        *tile = (Grid){ grid->n_dimensions, { x, y, z } };
        least = surface;
      }
    }
  return least != UINT64_MAX;
}

static void
print_grid (GString *text, const char *function, const Grid *grid)
{
  for (uint32_t dimension = 0; dimension < grid->n_dimensions; dimension++)
    g_string_append_printf (text, "%s%u", dimension > 0 ? "," : function, grid->size[dimension]);
  g_string_append_c (text, ')');
}

/* Tiles of the grid, each in a tile of the machine that has all slots of its nodes: of one node, or
 * as tile_size() has it.  NULL when none fits. */
static char *
tiling_of_grid (const TopoMachine *machine, const Grid *grid, bool of_node)
{
  uint32_t volume = machine->ranks_per_node;
  g_autoptr (GString) net = g_string_new (" net.tile(");
  GString *text;
  Grid tile;

  for (uint32_t dimension = 0; dimension < machine->shape.n_dimensions; dimension++) {
    uint32_t size = of_node ? 1 : tile_size (machine, dimension);

    volume *= size;
    g_string_append_printf (net, "%u,", size);
  }
  g_string_append_printf (net, "%u).map()", machine->ranks_per_node);
  if (!tile_of_grid (grid, volume, &tile))
    return NULL;
  text = g_string_new (NULL);
  print_grid (text, "app(", grid);
  print_grid (text, ".tile(", &tile);
  g_string_append (text, net->str);
  return g_string_free (text, FALSE);
}

/* --- Families --- */

const TopoRecipeFamily topo_recipe_families[] = {
  { "sc13:GRID", "3 tilings of a program's grid x 28 maps: tilts, zigzags, Z-order" },
  { "sc13-shared", "the same with tilings for any program of as many ranks" },
  { "permutations", "every order of the dimensions" },
  { "curves", "curves through the machine, and Slurm's distributions" },
  { "random:N", "random(1) to random(N)" },
  { NULL, NULL },
};

#define MAX_RANDOM 1000000

typedef struct {
  const TopoMachine *machine;
  uint32_t n_ranks;
  GPtrArray *texts;   /* (element-type utf8) */
  GHashTable *hashes; /* (element-type int64) of the placements; NULL: not compared */
  GError **error;
} Family;

/* Adds a text unless a text before makes the same placement; takes it.  Placements are
 * compared by 64-bit hashes: among a thousand the odds of a collision are 1 to 10^13. */
static gboolean
add (Family *family, char *text)
{
  g_autofree char *kept = text;

  if (family->hashes != NULL) {
    g_autoptr (TopoMapping) mapping =
        topo_mapping_new (text, family->machine, family->n_ranks, family->error);
    uint64_t hash = 14695981039346656037u;

    if (mapping == NULL)
      return FALSE;
    for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
      hash = (hash ^ mapping->node[rank]) * 1099511628211u;
      hash = (hash ^ mapping->slot[rank] ^ hash >> 32) * 1099511628211u;
    }
    if (!g_hash_table_add (family->hashes, g_memdup2 (&hash, sizeof hash)))
      return TRUE;
  }
  g_ptr_array_add (family->texts, g_steal_pointer (&kept));
  return TRUE;
}

/* The next arrangement in the order of the dictionary; false after the last. */
static bool
next_arrangement (Axis *axes, uint32_t n)
{
  uint32_t left = n - 1, right = n - 1;
  Axis kept;

  while (left > 0 && axes[left - 1].letter > axes[left].letter)
    left--;
  if (left == 0)
    return false;
  while (axes[right].letter < axes[left - 1].letter)
    right--;
  kept = axes[left - 1];
  axes[left - 1] = axes[right];
  axes[right] = kept;
  for (right = n - 1; left < right; left++, right--) {
    kept = axes[left];
    axes[left] = axes[right];
    axes[right] = kept;
  }
  return true;
}

/* Every map behind every tiling that is not NULL. */
static gboolean
add_tilings (Family *family, const char *const tilings[3])
{
  g_autoptr (GPtrArray) maps = list_maps (family->machine);

  for (guint tiling = 0; tiling < 3; tiling++)
    for (guint map = 0; tilings[tiling] != NULL && map < maps->len; map++)
      if (!add (family, g_strconcat (tilings[tiling], maps->pdata[map], NULL)))
        return FALSE;
  return TRUE;
}

/* "32x32x16". */
static gboolean
read_grid (Family *family, const char *text, Grid *grid)
{
  g_auto (GStrv) sizes = g_strsplit (text, "x", -1);
  guint n = g_strv_length (sizes);
  guint64 n_ranks = 1;

  *grid = (Grid){ n, { 1, 1, 1 } };
  for (guint at = 0; n <= GRID_DIMENSIONS && at < n; at++) {
    guint64 size;

    if (!g_ascii_string_to_unsigned (sizes[at], 10, 1, UINT32_MAX, &size, NULL) ||
        size > family->n_ranks)
      break;
    grid->size[at] = (uint32_t) size;
    n_ranks *= size;
    if (n_ranks > family->n_ranks)
      break;
    if (at + 1 == n && n_ranks == family->n_ranks)
      return TRUE;
  }
  g_set_error (
      family->error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
      "family sc13: \"%s\" is no grid of %u ranks, one to three numbers such as 32x32x16, the "
      "last of which runs fastest",
      text, family->n_ranks);
  return FALSE;
}

static gboolean
fill (Family *family, const char *name)
{
  const TopoMachine *machine = family->machine;
  uint32_t n_dimensions = machine->shape.n_dimensions;

  if (g_str_equal (name, "sc13-shared")) {
    Grid cube = grid_of (family->n_ranks, 3), sheet = grid_of (family->n_ranks, 2);
    g_autofree char *blocks = tiling_of_grid (machine, &cube, false);
    g_autofree char *sheets = tiling_of_grid (machine, &sheet, false);

    return add_tilings (family, (const char *const[]){ "net", blocks, sheets });
  }
  if (g_str_has_prefix (name, "sc13:")) {
    g_autofree char *nodes = NULL, *blocks = NULL;
    Grid grid;

    if (!read_grid (family, name + strlen ("sc13:"), &grid))
      return FALSE;
    nodes = tiling_of_grid (machine, &grid, true);
    blocks = tiling_of_grid (machine, &grid, false);
    return add_tilings (family, (const char *const[]){ "net", nodes, blocks });
  }
  if (g_str_equal (name, "sc13")) {
    g_set_error_literal (family->error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                         "family \"sc13\" is made for the grid of a program: sc13:GRID, such as "
                         "sc13:128x128; for any program there is sc13-shared");
    return FALSE;
  }
  if (g_str_equal (name, "curves")) {
    g_autoptr (GString) letters = g_string_new (NULL);
    g_autofree char *backwards = NULL;

    if (!add (family, g_strdup ("block")) || !add (family, g_strdup ("cyclic")))
      return FALSE;
    for (uint32_t together = 2; together < machine->ranks_per_node; together *= 2)
      if (!add (family, g_strdup_printf ("plane(%u)", together)))
        return FALSE;
    for (uint32_t dimension = 0; dimension < n_dimensions; dimension++)
      g_string_append_c (letters, topo_dimension_letter (dimension));
    backwards = g_utf8_strreverse (letters->str, -1);
    /* Slots fastest or slowest, dimensions forwards or backwards, slots as a dimension. */
    for (gsize at = 0; at < TOPO_N_CURVES; at++) {
      const char *curve = topo_curve_names[at];

      if (!add (family, g_strdup (curve)) ||
          !add (family, g_strdup_printf ("%s(T%s)", curve, letters->str)) ||
          !add (family, g_strdup_printf ("%s(%sT)", curve, backwards)) ||
          !add (family, g_strdup_printf ("%s(T%s)", curve, backwards)) ||
          !add (family, g_strdup_printf ("net.%s()", curve)))
        return FALSE;
    }
    return TRUE;
  }
  if (g_str_equal (name, "permutations")) {
    /* Dimensions of one node change nothing: they come first. */
    Axis axes[TOPO_BOX_DIMENSIONS];
    uint32_t n_axes = long_axes (machine, 2, axes);
    g_autoptr (GString) short_ones = g_string_new (NULL);

    for (uint32_t dimension = 0; dimension < n_dimensions; dimension++)
      if (machine->shape.size[dimension] == 1)
        g_string_append_c (short_ones, topo_dimension_letter (dimension));
    if (machine->ranks_per_node == 1)
      g_string_append_c (short_ones, 'T');
    do {
      GString *text = g_string_new (short_ones->str);

      for (uint32_t at = 0; at < n_axes; at++)
        g_string_append_c (text, axes[at].letter);
      if (!add (family, g_string_free (text, FALSE)))
        return FALSE;
    } while (n_axes > 0 && next_arrangement (axes, n_axes));
    return TRUE;
  }
  if (g_str_has_prefix (name, "random:")) {
    guint64 n;

    if (!g_ascii_string_to_unsigned (name + strlen ("random:"), 10, 1, MAX_RANDOM, &n, NULL)) {
      g_set_error (family->error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                   "family \"%s\": expected random:N, N from 1 to %d", name, MAX_RANDOM);
      return FALSE;
    }
    g_clear_pointer (&family->hashes, g_hash_table_unref);
    for (guint64 seed = 1; seed <= n; seed++)
      if (!add (family, g_strdup_printf ("random(%" G_GUINT64_FORMAT ")", seed)))
        return FALSE;
    return TRUE;
  }
  g_set_error (
      family->error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
      "family \"%s\" is unknown; there are sc13:GRID, sc13-shared, permutations, curves and random:N",
      name);
  return FALSE;
}

char **
topo_recipe_family (const char *name, const TopoMachine *machine, uint32_t n_ranks, GError **error)
{
  g_autoptr (TopoMapping) own = topo_mapping_new (NULL, machine, n_ranks, error);
  Family family = { .machine = machine, .n_ranks = n_ranks, .error = error };
  gboolean ok;

  if (own == NULL)
    return NULL;
  family.texts = g_ptr_array_new_with_free_func (g_free);
  family.hashes = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  ok = fill (&family, name);
  g_clear_pointer (&family.hashes, g_hash_table_unref);
  g_ptr_array_add (family.texts, NULL);
  if (ok)
    return (char **) g_ptr_array_free (family.texts, FALSE);
  g_ptr_array_unref (family.texts);
  return NULL;
}
