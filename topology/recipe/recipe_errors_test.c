/* recipe_errors_test.c - wrong recipes, each told by its column; and any text at all.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/recipe/recipe.h"
#include "topology/topology_testing.h"

#include <glib/gstdio.h>
#include <string.h>

/* On torus:4x3 with two slots, 24 ranks.  Column 0: the end. */
static const struct {
  const char *recipe;
  uint32_t column;
  const char *told;
} wrong[] = {
  /* Beginnings */
  { "foo(3)", 1, "a recipe begins with " },
  { "(3)", 1, "a recipe begins with " },
  { "my map (1).txt", 1, "there is no such file" },
  { "hilbert(AB) x", 13, "expected the end" },
  { "net.zorder() net", 14, "expected the end" },
  { "block(3)", 7, "expected ')'" },
  { "cyclic(", 0, "expected ')'" },
  /* Orders */
  { "hilbert(ABC)", 11, "expected ')'" },
  { "hilbert(AC)", 10, "no dimension of this machine" },
  { "hilbert(AA)", 10, "A appears twice" },
  { "hilbert(A)", 10, "expected all of A to B" },
  { "hilbert(TABT)", 12, "expected ')'" },
  { "hilbert(ATB)", 10, "T first or last" },
  { "hilbert(AB", 0, "expected ')'" },
  { "hilbert(7)", 9, "expected all of A to B" },
  { "random(x)", 8, "expected a number" },
  { "random(-1)", 8, "from 0 to 9223372036854775807" },
  { "random(99999999999999999999)", 8, "from 0 to 9223372036854775807" },
  { "random(1,slots)", 10, "expected \"nodes\"" },
  { "random(1", 0, "expected ')'" },
  { "plane(0)", 7, "from 1 to 2" },
  { "plane(3)", 7, "from 1 to 2" },
  { "plane(1x)", 7, "from 1 to 2" },
  { "plane()", 7, "expected a number" },
  /* Boxes of ranks */
  { "app(4,3) net", 5, "12 ranks, but there are 24" },
  { "app(2147483647,2147483647,2147483647) net", 5, "at least 4294967295 ranks" },
  { "app(0,24) net", 5, "expected a number from 1" },
  { "app(24,) net", 8, "expected a number" },
  { "app(1,1,1,1,1,1,1,1,24) net", 21, "up to 8 dimensions" },
  { "app(24", 0, "expected ')'" },
  { "app(24)", 0, "or net" },
  { "app(24) bet", 9, "or net" },
  { "app(24).map() net", 9, "map() is an operation of net" },
  { "app(24).tilt(A,B) net", 14, "they are 0 to 0" },
  /* Cuts */
  { "net.div(5)", 5, "5 is more than the size of dimension 0, 4" },
  { "net.tile(1,4)", 5, "4 is more than the size of dimension 1, 3" },
  { "net.div(0)", 9, "expected a number from 1" },
  { "net.div(1,1,1,1)", 15, "the box has 3 dimensions" },
  { "net.div[1].zorder()", 8, "expected '('" },
  { "net.div(2 mod)", 11, "expected ')'" },
  { "net.cut(2)", 10, "expected div or mod" },
  { "net.cut(2 tile)", 11, "expected div or mod" },
  { "net.div(2).each().div(3)", 19, "3 is more than the size of dimension 0, 2" },
  /* Ways */
  { "net.each()", 5, "the box is not cut" },
  { "net.div(2).each().each()", 19, "the box is not cut" },
  { "net[0].zorder()", 5, "the box is cut in 0 dimensions" },
  { "net.div(2,3)[0].zorder()", 14, "the box is cut in 2 dimensions" },
  { "net.div(2,3)[0,3].zorder()", 14, "dimension 1 has 3 pieces" },
  { "net.div(2)[-1].zorder()", 12, "expected a number from 0" },
  { "net.div(2)[1.zorder()", 13, "expected ']'" },
  { "net.div(2)[0,0,0,0,0,0,0,0,0].zorder()", 28, "up to 8 dimensions" },
  { "net.root(1)", 10, "expected ')'" },
  /* Moves */
  { "net.tlt(A,B)", 5, "expected div, tile, mod" },
  { "net.(A,B)", 5, "expected div, tile, mod" },
  { "net.tilt(A,A)", 12, "both axes are the same" },
  { "net.tilt(A,0)", 12, "both axes are the same" },
  { "net.tilt(A,C)", 12, "no dimension of this box" },
  { "net.tilt(A,AB)", 12, "no dimension of this box" },
  { "net.tilt(A,a)", 12, "no dimension of this box" },
  { "net.tilt(A,3)", 12, "from 0 to 2" },
  { "net.tilt(A)", 11, "expected ','" },
  { "net.tilt(A,B,)", 14, "expected a number" },
  { "net.tilt(A,B,9999999999)", 14, "to 1000000000" },
  { "net.tilt(A,B,1,1)", 15, "expected ')'" },
  { "net.zigzag(A,B,1,0)", 18, "expected a number from 1" },
  { "net.transpose(A,B)", 18, "expected ','" },
  { "net.transpose(A,B,A)", 19, "this axis appears twice" },
  { "net.zorder(1)", 12, "expected ')'" },
  { "net.unwind(block)", 12, "no curve" },
  { "net.unwind()", 12, "no curve" },
  { "net.map().map()", 11, "are already mapped to net" },
  { "net.zorder().map()", 14, "are already mapped to net" },
  /* Pairs */
  { "app(24).div(2) net.div(4)", 0, "box 0 of app has 12 ranks, that of net 6 slots" },
  { "app(24).div(2) net.div(4).map()", 27, "box 0 of app has 12 ranks" },
  { "app(24).div(4) net.div(2).zorder()", 27, "app has 4 boxes for the 2 of net" },
};

static void
test_wrong_recipes (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("torus:4x3", 2);

  for (gsize at = 0; at < G_N_ELEMENTS (wrong); at++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *where =
        wrong[at].column == 0 ? g_strdup_printf ("mapping \"%s\", at its end: ", wrong[at].recipe)
                              : g_strdup_printf ("mapping \"%s\", column %u, at \"",
                                                 wrong[at].recipe, wrong[at].column);

    g_test_message ("%s", wrong[at].recipe);
    g_assert_null (topo_mapping_new (wrong[at].recipe, machine, 24, &error));
    g_assert_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX);
    g_assert_true (g_str_has_prefix (error->message, where));
    g_assert_null (strchr (error->message, '\n'));
    g_assert_nonnull (strstr (error->message, wrong[at].told));
  }
}

/* Four million slots, each a piece. */
static void
test_too_many_boxes (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("torus:64x64x64", 16);
  g_autoptr (GError) error = NULL;

  g_assert_null (topo_mapping_new ("net.div(64,64,64,16)", machine, 64, &error));
  g_assert_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX);
  g_assert_nonnull (strstr (error->message, "more than 2097152 boxes"));
}

static void
test_too_long (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("torus:4", 1);
  g_autoptr (GString) deep = g_string_new ("net");
  g_autoptr (TopoMapping) mapping = NULL;
  g_autoptr (GError) error = NULL;

  while (deep->len < 60000)
    g_string_append (deep, ".div(1).each()");
  mapping = topo_mapping_new (deep->str, machine, 4, NULL);
  g_assert_nonnull (mapping); /* deep, but no crash */
  while (deep->len < 70000)
    g_string_append (deep, ".div(1).each()");
  g_assert_null (topo_mapping_new (deep->str, machine, 4, &error));
  g_assert_nonnull (strstr (error->message, "up to 65536 characters"));
  g_assert_cmpuint (strlen (error->message), <, 400);
}

/* A file beats a recipe of its name, a folder does not. */
static void
test_files_come_first (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("torus:4", 1);
  g_autofree char *folder = g_dir_make_tmp ("recipe-XXXXXX", NULL), *before = g_get_current_dir ();
  g_autoptr (TopoMapping) from_file = NULL, from_recipe = NULL;

  g_assert_cmpint (g_chdir (folder), ==, 0);
  g_assert_true (g_file_set_contents ("net", "3 0\n2 0\n", -1, NULL));
  g_assert_cmpint (g_mkdir ("cyclic", 0700), ==, 0);
  from_file = topo_mapping_new ("net", machine, 2, NULL);
  from_recipe = topo_mapping_new ("cyclic", machine, 2, NULL);
  g_assert_cmpuint (from_file->node[0], ==, 3);
  g_assert_cmpuint (from_recipe->node[1], ==, 1);
  g_unlink ("net");
  g_rmdir ("cyclic");
  g_assert_cmpint (g_chdir (before), ==, 0);
  g_rmdir (folder);
}

/* --- Any text --- */

/* True when the text is a recipe; else it must be told what is wrong. */
static bool
try_text (const char *text, const TopoMachine *machine, uint32_t n_ranks)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMapping) mapping = topo_mapping_new (text, machine, n_ranks, &error);

  g_assert_true ((mapping == NULL) == (error != NULL));
  if (error != NULL && error->code == TOPO_ERROR_SYNTAX)
    g_assert_null (strchr (error->message, '\n'));
  if (mapping == NULL)
    return false;
  topo_testing_places (mapping, machine);
  return true;
}

static uint32_t
pick (uint32_t n)
{
  return (uint32_t) g_test_rand_int_range (0, (int) n);
}

/* Words that often make sense one after the other. */
static void
append_step (GString *text)
{
  static const char *const steps[] = {
    ".div(2)",
    ".div(1,2)",
    ".tile(2,1)",
    ".tile(1,2,2)",
    ".mod(2)",
    ".mod(1,2)",
    ".cut(2 div,2 mod)",
    ".each()",
    ".leaves()",
    ".root()",
    "[0]",
    "[0,1]",
    ".zorder()",
    ".hilbert()",
    ".snake()",
    ".unwind(gray)",
    ".peano()",
    ".tilt(0,1)",
    ".tilt(1,0,3)",
    ".shear(0,1,-2)",
    ".zigzag(0,1)",
    ".zigzag(1,0,5,3)",
    ".transpose(1,0)",
    ".map()",
    ".transpose(2,0,1)",
  };

  g_string_append (text, steps[pick (G_N_ELEMENTS (steps))]);
}

static char *
random_recipe (void)
{
  GString *text = g_string_new (NULL);

  if (pick (2) == 0) {
    g_string_append (text, pick (2) == 0 ? "app(6,4)" : "app(2,3,4)");
    for (uint32_t n = pick (4); n > 0; n--)
      append_step (text);
  }
  g_string_append (text, " net");
  for (uint32_t n = pick (7); n > 0; n--)
    append_step (text);
  g_string_append (text, ".leaves()");
  return g_string_free (text, FALSE);
}

static void
test_random_recipes (void)
{
  static const char *const specs[] = { "torus:4x3", "torus:12", "torus:2x3x2m" };
  uint32_t n_good = 0;

  for (uint32_t n = 0; n < 20000; n++) {
    g_autoptr (TopoMachine) machine =
        topo_testing_machine (specs[pick (G_N_ELEMENTS (specs))], 2 + pick (2));
    g_autofree char *recipe = random_recipe ();

    n_good += try_text (recipe, machine, 24);
  }
  g_assert_cmpuint (n_good, >, 2000);
}

/* Recipes with bytes changed, left out, put in or cut off. */
static void
test_broken_recipes (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("torus:4x3", 2);
  static const char alphabet[] = "()[],.- 0123456789ABTmodivtlapnerz\t\n\xff";

  for (uint32_t n = 0; n < 20000; n++) {
    g_autofree char *recipe = random_recipe ();
    g_autoptr (GString) text = g_string_new (recipe);

    for (uint32_t change = 1 + pick (3); change > 0; change--) {
      gsize at = pick ((uint32_t) text->len + 1);

      if (pick (3) == 0)
        g_string_truncate (text, at);
      else if (pick (2) == 0 && at < text->len)
        g_string_erase (text, (gssize) at, 1);
      else
        g_string_insert_c (text, (gssize) at, alphabet[pick (sizeof alphabet - 1)]);
    }
    try_text (text->str, machine, 24);
  }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/topology/recipe-errors/wrong", test_wrong_recipes);
  g_test_add_func ("/topology/recipe-errors/too-many-boxes", test_too_many_boxes);
  g_test_add_func ("/topology/recipe-errors/too-long", test_too_long);
  g_test_add_func ("/topology/recipe-errors/files-first", test_files_come_first);
  g_test_add_func ("/topology/recipe-errors/random", test_random_recipes);
  g_test_add_func ("/topology/recipe-errors/broken", test_broken_recipes);
  return g_test_run ();
}
