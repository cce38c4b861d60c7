/* recipe_fuzz.c - any bytes as a recipe of a mapping.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/recipe.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize (int *argc, char ***argv);
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#define N_RANKS 24

static TopoMachine *machine;

static const char *const seeds[] = {
  "app(6,4).tile(2,2) net.tile(1,2,2,1).map().tilt(A,B,-3).zigzag(0,1,2,2)",
  "net.div(2,3).each().mod(2).root()[1,0].transpose(2,1,0,3).leaves().zorder()",
  "box(2,3,4).cut(2 div,3 mod).shear(0,1).unwind(hilbert) net.hilbert()",
  "hilbert(CBAT)",
  "random(7,nodes)",
  "plane(2)",
};

static const char words[] =
    "\"app(\"\n\"box(\"\n\"net.\"\n\".div(\"\n\".tile(\"\n\".mod(\"\n\".cut(\"\n"
    "\" div\"\n\" mod\"\n\".map()\"\n\".each()\"\n\".leaves()\"\n\".root()\"\n"
    "\".tilt(\"\n\".shear(\"\n\".zigzag(\"\n\".transpose(\"\n\".unwind(\"\n"
    "\"hilbert\"\n\"peano\"\n\"gray\"\n\"snake\"\n\"zorder\"\n\"random(\"\n"
    "\"block\"\n\"cyclic\"\n\"plane(\"\n\"A,B\"\n\"T\"\n";

static void
write_seeds (const char *folder)
{
  g_autofree char *dictionary = g_strconcat (folder, ".dict", NULL);

  for (guint at = 0; at < G_N_ELEMENTS (seeds); at++) {
    g_autofree char *seed = g_strdup_printf ("%s/seed-%02u", folder, at);

    g_assert_true (g_file_set_contents (seed, seeds[at], -1, NULL));
  }
  g_assert_true (g_file_set_contents (dictionary, words, -1, NULL));
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  const char *folder = g_getenv ("FUZZ_SEEDS");

  (void) argc, (void) argv;
  if (folder != NULL) {
    write_seeds (folder);
    exit (0);
  }
  machine = topo_machine_new ("torus:2x3x2", NULL);
  machine->ranks_per_node = 2;
  return 0;
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

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
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
  return 0;
}
