/* recipe_family_test.c - families: how many, all different, each named by what makes it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/recipe/recipe.h"
#include "topology/topology_testing.h"

#include <string.h>

static uint32_t
places_of (const TopoMachine *machine)
{
  return topo_shape_nodes (&machine->shape) * machine->ranks_per_node;
}

/* SHA-256 of where the ranks are; every rank must have a place of its own. */
static char *
digest_of (const char *text, const TopoMachine *machine, uint32_t n_ranks)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMapping) mapping = topo_mapping_new (text, machine, n_ranks, &error);
  g_autofree bool *taken = g_new0 (bool, places_of (machine));
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);

  g_assert_no_error (error);
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    bool *place = &taken[mapping->node[rank] * machine->ranks_per_node + mapping->slot[rank]];

    g_assert_false (*place);
    *place = true;
  }
  g_checksum_update (checksum, (const guchar *) mapping->node,
                     (gssize) (n_ranks * sizeof *mapping->node));
  g_checksum_update (checksum, mapping->slot, (gssize) n_ranks);
  return g_strdup (g_checksum_get_string (checksum));
}

/* The members of a family, after looking at every one. */
static char **
family_of (const char *name, const TopoMachine *machine, uint32_t n_ranks, guint n_expected)
{
  g_autoptr (GError) error = NULL;
  char **family = topo_recipe_family (name, machine, n_ranks, &error);
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) digests = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  g_assert_no_error (error);
  g_assert_cmpuint (g_strv_length (family), ==, n_expected);
  for (guint at = 0; family[at] != NULL; at++) {
    g_assert_true (g_hash_table_add (names, family[at]));
    g_assert_true (g_hash_table_add (digests, digest_of (family[at], machine, n_ranks)));
  }
  return family;
}

/* The first partition is ours, the others are those of the paper (SC 2013). */
static void
test_sc13_on_partitions (void)
{
  static const char *const specs[] = { "bgq:512", "bgq:4x4x4x8x2", "bgq:4x4x8x16x2",
                                       "bgq:4x8x4x16x2" };

  for (gsize at = 0; at < G_N_ELEMENTS (specs); at++) {
    g_autoptr (TopoMachine) machine = topo_testing_machine (specs[at], 16);
    g_auto (GStrv) family = family_of ("sc13-shared", machine, places_of (machine), 84);
    g_autofree char *first = digest_of (family[0], machine, places_of (machine));
    g_autofree char *own = digest_of ("ABCDET", machine, places_of (machine));

    g_assert_cmpstr (first, ==, own);
  }
}

/* Names are what users and stores keep: they must not change. */
static void
test_sc13_names (void)
{
  static const struct {
    guint at;
    const char *text;
  } names[] = {
    { 0, "net" },
    { 1, "net.zorder()" },
    { 2, "net.tilt(A,B,1)" },
    { 11, "net.tilt(D,E,1)" },
    { 12, "net.tilt(A,B,1).tilt(B,C,1)" },
    { 19, "net.tilt(C,D,1).tilt(D,E,1).tilt(E,A,1)" },
    { 21, "net.tilt(B,C,1).tilt(C,D,1).tilt(D,E,1).tilt(E,A,1)" },
    { 22, "net.zigzag(A,B,2,2)" },
    { 27, "net.zigzag(B,D,2,2)" },
    { 28, "app(32,16,16).tile(8,8,8) net.tile(2,2,2,2,2,16).map()" },
    { 56, "app(128,64).tile(16,32) net.tile(2,2,2,2,2,16).map()" },
    { 83, "app(128,64).tile(16,32) net.tile(2,2,2,2,2,16).map().zigzag(B,D,2,2)" },
  };
  g_autoptr (TopoMachine) machine = topo_testing_machine ("bgq:512", 16);
  g_auto (GStrv) family = topo_recipe_family ("sc13-shared", machine, 8192, NULL);

  for (gsize at = 0; at < G_N_ELEMENTS (names); at++)
    g_assert_cmpstr (family[names[at].at], ==, names[at].text);
}

/* The partitions of the paper and the grids of its programs, with 16 ranks per node. */
static void
test_sc13_of_programs (void)
{
  static const struct {
    const char *spec, *family, *nodes, *blocks;
  } cases[] = {
    { "bgq:1024", "sc13:128x128", "app(128,128).tile(4,4) net.tile(1,1,1,1,1,16).map()",
      "app(128,128).tile(16,32) net.tile(2,2,2,2,2,16).map()" },
    { "bgq:1024", "sc13:32x32x16", "app(32,32,16).tile(2,2,4) net.tile(1,1,1,1,1,16).map()",
      "app(32,32,16).tile(8,8,8) net.tile(2,2,2,2,2,16).map()" },
    { "bgq:1024", "sc13:64x16x16", "app(64,16,16).tile(2,2,4) net.tile(1,1,1,1,1,16).map()",
      "app(64,16,16).tile(8,8,8) net.tile(2,2,2,2,2,16).map()" },
    { "bgq:1024", "sc13:128x8x16", "app(128,8,16).tile(2,2,4) net.tile(1,1,1,1,1,16).map()",
      "app(128,8,16).tile(8,8,8) net.tile(2,2,2,2,2,16).map()" },
    { "bgq:4096", "sc13:256x256", "app(256,256).tile(4,4) net.tile(1,1,1,1,1,16).map()",
      "app(256,256).tile(16,32) net.tile(2,2,2,2,2,16).map()" },
    /* The tiles of nodes are the machine's own order. */
    { "bgq:4096", "sc13:65536", "app(65536).tile(512) net.tile(2,2,2,2,2,16).map()", NULL },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoMachine) machine = topo_testing_machine (cases[at].spec, 16);
    g_auto (GStrv) family =
        family_of (cases[at].family, machine, places_of (machine), cases[at].blocks ? 84 : 56);

    g_assert_cmpstr (family[0], ==, "net");
    g_assert_cmpstr (family[28], ==, cases[at].nodes);
    g_assert_cmpstr (family[56], ==, cases[at].blocks);
  }
}

/* A grid that is none, or of other ranks. */
static void
test_sc13_of_wrong_grids (void)
{
  static const char *const grids[] = { "",      "x",     "8x",    "x16",    "8x8x2x1",
                                       "8x15",  "8x-16", "8X16",  "8x16x2", "0",
                                       "128x0", "128,1", "1x1x1", "+8x16",  "4294967424x1" };
  g_autoptr (TopoMachine) machine = topo_testing_machine ("bgq:32", 4);

  for (gsize at = 0; at < G_N_ELEMENTS (grids); at++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *name = g_strconcat ("sc13:", grids[at], NULL);

    g_assert_null (topo_recipe_family (name, machine, 128, &error));
    g_assert_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX);
    g_assert_nonnull (strstr (error->message, "no grid of 128 ranks"));
  }
}

/* Fewer dimensions and short ones: what would be alike is not there. */
static void
test_sc13_elsewhere (void)
{
  static const struct {
    const char *spec;
    uint32_t n_slots, n_ranks;
    guint n;
  } cases[] = {
    { "bgq:32", 8, 256, 22 },       /* one tile, no dimension for zigzags */
    { "bgq:64", 16, 1024, 44 },     /* two tiles: blocks and sheets are the same halves */
    { "torus:8x8x8", 4, 2048, 81 }, /* slots are a dimension */
    { "torus:5x7", 1, 35, 6 },      /* prime sizes: one tile; 2 tilts and 2 zigzags */
    { "torus:9", 1, 9, 1 },         /* a ring: nothing to tilt */
    { "torus:1", 1, 1, 1 },
    /* No tiles of 512; A = 0, B = 0 and 1 only: five maps across A and a zigzag across B are
     * like others. */
    { "bgq:512", 16, 1000, 22 },
    { "systemg", 8, 2592, 18 },
    { "fattree:18x18", 1, 324, 3 },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoMachine) machine = topo_testing_machine (cases[at].spec, cases[at].n_slots);
    g_auto (GStrv) family = NULL;

    g_test_message ("%s", cases[at].spec);
    family = family_of ("sc13-shared", machine, cases[at].n_ranks, cases[at].n);
    g_assert_cmpstr (family[0], ==, "net");
  }
}

/* On a fabric a tile is a switch's nodes. */
static void
test_sc13_on_a_fabric (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("systemg", 8);
  g_auto (GStrv) family = topo_recipe_family ("sc13-shared", machine, 2592, NULL);

  g_assert_true (g_strv_contains ((const char *const *) family,
                                  "app(18,12,12).tile(6,4,6) net.tile(18,8).map()"));
}

static void
test_permutations (void)
{
  g_autoptr (TopoMachine) bgq = topo_testing_machine ("bgq:32", 4),
                          flat = topo_testing_machine ("bgq:4x4x4x8x2", 1);
  g_autoptr (TopoMachine) plane = topo_testing_machine ("torus:3x1x2", 1);
  g_autoptr (TopoMachine) fabric = topo_testing_machine ("systemg:4", 2);
  g_auto (GStrv) all = family_of ("permutations", bgq, 128, 720);
  g_auto (GStrv) without_slots = family_of ("permutations", flat, 1024, 120);
  g_auto (GStrv) two = family_of ("permutations", plane, 6, 2);
  g_auto (GStrv) of_fabric = family_of ("permutations", fabric, 8, 2);

  g_assert_cmpstr (all[0], ==, "ABCDET");
  g_assert_cmpstr (all[719], ==, "TEDCBA");
  g_assert_cmpstr (without_slots[0], ==, "TABCDE");
  g_assert_cmpstr (two[1], ==, "BTCA");
  g_assert_cmpstr (of_fabric[1], ==, "TA");
}

/* One rank: every permutation places it alike. */
static void
test_permutations_of_few_ranks (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("bgq:32", 4);
  g_auto (GStrv) one = family_of ("permutations", machine, 1, 1);
  g_auto (GStrv) two = family_of ("permutations", machine, 2, 6);

  g_assert_cmpstr (one[0], ==, "ABCDET");
  g_assert_cmpstr (two[0], ==, "ABCDET");
}

static void
test_curves (void)
{
  g_autoptr (TopoMachine) bgq = topo_testing_machine ("bgq:512", 16),
                          one = topo_testing_machine ("torus:1", 1);
  g_auto (GStrv) curves = family_of ("curves", bgq, 8192, 30);
  g_auto (GStrv) single = family_of ("curves", one, 1, 1);

  g_assert_cmpstr (curves[0], ==, "block");
  g_assert_true (g_strv_contains ((const char *const *) curves, "net.hilbert()"));
  g_assert_cmpstr (single[0], ==, "block");
}

static void
test_random (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("bgq:32", 4);
  g_auto (GStrv) family = family_of ("random:20", machine, 128, 20);

  g_assert_cmpstr (family[0], ==, "random(1)");
  g_assert_cmpstr (family[19], ==, "random(20)");
}

static void
test_wrong_families (void)
{
  static const char *const names[] = {
    "", "sc14", "random", "random:", "random:0", "random:-1", "random:9999999999", "SC13", "sc13"
  };
  g_autoptr (TopoMachine) machine = topo_testing_machine ("bgq:32", 4);

  for (gsize at = 0; at < G_N_ELEMENTS (names); at++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *named = g_strdup_printf ("\"%s\"", names[at]);

    g_assert_null (topo_recipe_family (names[at], machine, 128, &error));
    g_assert_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX);
    g_assert_nonnull (strstr (error->message, named));
    g_assert_nonnull (
        strstr (error->message, g_str_equal (names[at], "sc13") ? "sc13:GRID" : "random:N"));
  }
  g_assert_null (topo_recipe_family ("sc13-shared", machine, 129, NULL));
}

/* Every name in the list of families is one. */
static void
test_list (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("torus:2x2", 1);

  for (const TopoRecipeFamily *family = topo_recipe_families; family->name != NULL; family++) {
    g_autoptr (GString) name = g_string_new (family->name);
    g_auto (GStrv) members = NULL;

    g_string_replace (name, "GRID", "2x2", 0);
    g_string_replace (name, ":N", ":2", 0);
    members = topo_recipe_family (name->str, machine, 4, NULL);
    g_assert_nonnull (members);
  }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/topology/recipe-family/sc13", test_sc13_on_partitions);
  g_test_add_func ("/topology/recipe-family/sc13-of-programs", test_sc13_of_programs);
  g_test_add_func ("/topology/recipe-family/sc13-of-wrong-grids", test_sc13_of_wrong_grids);
  g_test_add_func ("/topology/recipe-family/sc13-names", test_sc13_names);
  g_test_add_func ("/topology/recipe-family/sc13-elsewhere", test_sc13_elsewhere);
  g_test_add_func ("/topology/recipe-family/sc13-on-a-fabric", test_sc13_on_a_fabric);
  g_test_add_func ("/topology/recipe-family/permutations", test_permutations);
  g_test_add_func ("/topology/recipe-family/few-ranks", test_permutations_of_few_ranks);
  g_test_add_func ("/topology/recipe-family/curves", test_curves);
  g_test_add_func ("/topology/recipe-family/random", test_random);
  g_test_add_func ("/topology/recipe-family/wrong", test_wrong_families);
  g_test_add_func ("/topology/recipe-family/list", test_list);
  return g_test_run ();
}
