/* recipe_fuzz.c - any bytes as a recipe of a mapping.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include ".ci/fuzzing.h"
#include "topology/recipe/recipe.h"

#include <string.h>

#define N_RANKS 24

static TopoMachine *machine;

static const char *const texts[] = {
  "app(6,4).tile(2,2) net.tile(1,2,2,1).map().tilt(A,B,-3).zigzag(0,1,2,2)",
  "net.div(2,3).each().mod(2).root()[1,0].transpose(2,1,0,3).leaves().zorder()",
  "box(2,3,4).cut(2 div,3 mod).shear(0,1).unwind(hilbert) net.hilbert()",
  "hilbert(CBAT)",
  "random(7,nodes)",
  "plane(2)",
  NULL,
};

static const char *const words[] = {
  "app(",        "box(",     "net.",    ".div(",     ".tile(",  ".mod(",  ".cut(",   " div",
  " mod",        ".map()",   ".each()", ".leaves()", ".root()", ".tilt(", ".shear(", ".zigzag(",
  ".transpose(", ".unwind(", "hilbert", "peano",     "gray",    "snake",  "zorder",  "random(",
  "block",       "cyclic",   "plane(",  "A,B",       "T",       NULL,
};

static void
seed (FuzzSeeds *seeds)
{
  fuzz_add_texts (seeds, texts);
  fuzz_add_words (seeds, words);
}

static void
prepare (void)
{
  machine = topo_machine_new ("torus:2x3x2", NULL);
  machine->ranks_per_node = 2;
}

/* Every rank has a place, no place two. */
static void
check_places (const TopoMapping *mapping)
{
  bool taken[N_RANKS] = { false };

  for (uint32_t rank = 0; rank < N_RANKS; rank++) {
    uint32_t place = mapping->node[rank] * 2 + mapping->slot[rank];

    g_assert_cmpuint (mapping->slot[rank], <, 2);
    g_assert_cmpuint (place, <, N_RANKS);
    g_assert_false (taken[place]);
    taken[place] = true;
  }
}

static void
check (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_strndup ((const char *) data, size);
  uint32_t node[N_RANKS];
  uint8_t slot[N_RANKS];
  TopoMapping mapping = { .name = text, .n_ranks = N_RANKS, .node = node, .slot = slot };
  gboolean ok;

  memset (node, 0xff, sizeof node);
  topo_is_recipe (text);
  ok = topo_recipe_fill (&mapping, machine, &error);
  g_assert_true (ok == (error == NULL));
  if (ok)
    check_places (&mapping);
  else
    g_assert_true (error->domain == TOPO_ERROR && strchr (error->message, '\n') == NULL);
}

const FuzzProgram fuzz_program = { prepare, seed, check };
