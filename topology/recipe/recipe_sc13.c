/* recipe_sc13.c - the family of 84 mappings: 3 tilings, 28 maps of each.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The papers say how many mappings there were and that Rubik made them, not which.  This
 * is our reading; doc/handbook/mappings.md has it in words. */
#include "topology/recipe/recipe_private.h"

/* --- Maps --- */

/* The dimensions that are stirred: those of the machine, and the slots where these are
 * fewer than the five of Blue Gene/Q.  Only the ones of at least `least`. */
static uint32_t
stirred_axes (const TopoMachine *machine, uint32_t least, TopoRecipeAxis axes[TOPO_BOX_DIMENSIONS])
{
  uint32_t n_dimensions = topo_recipe_axes (machine, 2, axes);
  bool with_slots;

  n_dimensions -= machine->ranks_per_node >= 2;
  with_slots = n_dimensions < 5 && machine->ranks_per_node >= least;
  return topo_recipe_axes (machine, least, axes) -
         (machine->ranks_per_node >= least && !with_slots);
}

/* A chain of tilts, each along the axis across which the one before went. */
static char *
chain_of_tilts (const TopoRecipeAxis *axes, uint32_t n_axes, uint32_t first, uint32_t n_tilts)
{
  GString *text = g_string_new (NULL);

  for (uint32_t at = first; at < first + n_tilts; at++)
    g_string_append_printf (text, ".tilt(%c,%c,1)", axes[at % n_axes].letter,
                            axes[(at + 1) % n_axes].letter);
  return g_string_free (text, FALSE);
}

/* Ten single tilts on five axes; with fewer axes both ways round. */
static void
add_tilts (GPtrArray *maps, const TopoRecipeAxis *axes, uint32_t n_axes)
{
  for (uint32_t first = 0; first < n_axes; first++)
    for (uint32_t second = first + 1; second < n_axes; second++) {
      g_ptr_array_add (maps,
                       g_strdup_printf (".tilt(%c,%c,1)", axes[first].letter, axes[second].letter));
      if (n_axes < 5)
        g_ptr_array_add (
            maps, g_strdup_printf (".tilt(%c,%c,1)", axes[second].letter, axes[first].letter));
    }
}

/* Five chains of two, three of three, two of four. */
static void
add_chains (GPtrArray *maps, const TopoRecipeAxis *axes, uint32_t n_axes)
{
  static const uint32_t n_chains[] = { 5, 3, 2 };

  for (uint32_t n_tilts = 2; n_tilts <= 4 && n_tilts < n_axes; n_tilts++)
    for (uint32_t first = 0; first < MIN (n_chains[n_tilts - 2], n_axes); first++)
      g_ptr_array_add (maps, chain_of_tilts (axes, n_axes, first, n_tilts));
}

/* Six: axes in a ring with the next one, then with the one after that.  Waves of depth
 * 2 are no tilts only on axes of four and more. */
static void
add_zigzags (GPtrArray *maps, const TopoMachine *machine)
{
  TopoRecipeAxis axes[TOPO_BOX_DIMENSIONS];
  uint32_t n_axes = stirred_axes (machine, 4, axes), n = 0;

  for (uint32_t step = 1; step < n_axes; step++)
    for (uint32_t at = 0; at < n_axes && n < 6; at++, n++)
      g_ptr_array_add (maps, g_strdup_printf (".zigzag(%c,%c,2,2)", axes[at].letter,
                                              axes[(at + step) % n_axes].letter));
}

/* What is done to the machine's box after a tiling; (element-type utf8). */
static GPtrArray *
list_maps (const TopoMachine *machine)
{
  GPtrArray *maps = g_ptr_array_new_with_free_func (g_free);
  TopoRecipeAxis axes[TOPO_BOX_DIMENSIONS];
  uint32_t n_axes = stirred_axes (machine, 2, axes);

  g_ptr_array_add (maps, g_strdup (""));
  g_ptr_array_add (maps, g_strdup (".zorder()"));
  add_tilts (maps, axes, n_axes);
  add_chains (maps, axes, n_axes);
  add_zigzags (maps, machine);
  return maps;
}

/* --- Tilings --- */

static uint32_t
least_factor (uint32_t number)
{
  for (uint32_t factor = 2; factor <= number / factor; factor++)
    if (number % factor == 0)
      return factor;
  return number;
}

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

/* How many nodes in a row have the same switch, where that is so for all; else 1. */
static uint32_t
nodes_per_switch (const TopoMachine *machine)
{
  uint32_t n_nodes = topo_shape_nodes (&machine->shape), n = 1;

  while (n < n_nodes && switch_of (machine->fabric, n) == switch_of (machine->fabric, 0))
    n++;
  for (uint32_t node = 0; node < n_nodes; node++)
    if (n_nodes % n != 0 ||
        switch_of (machine->fabric, node) != switch_of (machine->fabric, node / n * n))
      return 1;
  return n;
}

/* Two nodes along each dimension (the least factor of an odd one); on a fabric the nodes
 * of a switch. */
static uint32_t
tile_size (const TopoMachine *machine, uint32_t dimension)
{
  uint32_t size = machine->shape.size[dimension];
  uint32_t together = machine->fabric == NULL ? 1 : nodes_per_switch (machine);

  return together > 1 && together < size ? together : least_factor (size);
}

/* A tile of the machine, with all slots of its nodes. */
static char *
net_tile (const TopoMachine *machine, uint32_t *volume)
{
  GString *text = g_string_new ("net.tile(");

  *volume = machine->ranks_per_node;
  for (uint32_t dimension = 0; dimension < machine->shape.n_dimensions; dimension++) {
    uint32_t size = tile_size (machine, dimension);

    *volume *= size;
    g_string_append_printf (text, "%u,", size);
  }
  g_string_append_printf (text, "%u)", machine->ranks_per_node);
  return g_string_free (text, FALSE);
}

typedef struct {
  uint32_t size[3];
} Grid;

/* The grid of so many ranks with the least sum of sizes, the longest first. */
static Grid
grid_of (uint32_t n_ranks, uint32_t n_dimensions)
{
  Grid best = { { n_ranks, 1, 1 } };
  uint32_t least = UINT32_MAX;

  for (uint32_t z = 1; n_dimensions == 3 ? z <= n_ranks / z / z : z == 1; z++)
    for (uint32_t y = z; n_ranks % z == 0 && y <= n_ranks / z / y; y++) {
      uint32_t x = n_ranks / z / y;

      if (n_ranks / z % y == 0 && x + y + z < least) {
        best = (Grid){ { x, y, z } };
        least = x + y + z;
      }
    }
  return best;
}

/* The tile of `volume` ranks with the least surface that fits into the grid a whole
 * number of times; false when there is none. */
static bool
tile_of (const Grid *grid, uint32_t volume, Grid *tile)
{
  uint64_t least = UINT64_MAX;

  for (uint32_t x = 1; x <= MIN (volume, grid->size[0]); x++)
    for (uint32_t y = 1; volume % x == 0 && grid->size[0] % x == 0 && y <= volume / x; y++) {
      uint32_t z = volume / x / y;
      uint64_t surface = (uint64_t) x * y + (uint64_t) y * z + (uint64_t) x * z;

      if (volume / x % y == 0 && grid->size[1] % y == 0 && grid->size[2] % z == 0 &&
          surface < least) {
        *tile = (Grid){ { x, y, z } };
        least = surface;
      }
    }
  return least < UINT64_MAX;
}

/* Blocks of the grid, each in a tile of the machine; NULL when the ranks make none. */
static char *
tiling_of_grid (const TopoMachine *machine, uint32_t n_ranks, uint32_t n_dimensions)
{
  uint32_t volume;
  g_autofree char *net = net_tile (machine, &volume);
  Grid grid = grid_of (n_ranks, n_dimensions), tile;

  if (!tile_of (&grid, volume, &tile))
    return NULL;
  if (n_dimensions == 2)
    return g_strdup_printf ("app(%u,%u).tile(%u,%u) %s.map()", grid.size[0], grid.size[1],
                            tile.size[0], tile.size[1], net);
  return g_strdup_printf ("app(%u,%u,%u).tile(%u,%u,%u) %s.map()", grid.size[0], grid.size[1],
                          grid.size[2], tile.size[0], tile.size[1], tile.size[2], net);
}

void
topo_recipe_sc13 (const TopoMachine *machine, uint32_t n_ranks, GPtrArray *texts)
{
  g_autofree char *blocks = tiling_of_grid (machine, n_ranks, 3);
  g_autofree char *sheets = tiling_of_grid (machine, n_ranks, 2);
  const char *const tilings[] = { "net", blocks, sheets };
  g_autoptr (GPtrArray) maps = list_maps (machine);

  for (gsize tiling = 0; tiling < G_N_ELEMENTS (tilings); tiling++)
    for (guint map = 0; tilings[tiling] != NULL && map < maps->len; map++)
      g_ptr_array_add (texts, g_strconcat (tilings[tiling], maps->pdata[map], NULL));
}
