/* recipe.c - mappings written as a line of text that says how to make them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/recipe/recipe_private.h"

#include "base/words.h"

#include <string.h>

/* Every operation of a recipe may take a deeper level of boxes. */
#define MAX_LENGTH 65536

/* The words that recipes begin with, curves apart. */
static const struct {
  const char *word;
  gboolean (*read) (TopoRecipe *recipe);
  bool alone; /* may stand without a parenthesis */
} beginnings[] = {
  { "random", topo_recipe_random, false }, { "block", topo_recipe_block, true },
  { "cyclic", topo_recipe_cyclic, true },  { "plane", topo_recipe_plane, false },
  { "app", topo_recipe_from_app, false },  { "box", topo_recipe_from_app, false },
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

static gboolean
read_recipe (TopoRecipe *recipe)
{
  TopoWord word = topo_scan_word (&recipe->scan);
  TopoCurve curve = topo_recipe_curve (word.text);
  g_autofree char *list = NULL, *meant = NULL;

  if (curve != TOPO_N_CURVES)
    return topo_recipe_along (recipe, curve);
  for (gsize at = 0; at < G_N_ELEMENTS (beginnings); at++)
    if (g_str_equal (beginnings[at].word, word.text))
      return beginnings[at].read (recipe);
  list = g_strjoinv (", ", (char **) topo_recipe_words ());
  meant = base_did_you_mean (word.text, topo_recipe_words ());
  return topo_scan_fail (&recipe->scan, word.start,
                         "there is no such file, and a recipe begins with %s%s", list, meant);
}

gboolean
topo_recipe_fill (TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  TopoRecipe recipe = { { mapping->name, mapping->name, error }, machine, mapping };

  if (strlen (mapping->name) > MAX_LENGTH)
    return topo_scan_fail (&recipe.scan, mapping->name, "a recipe has up to %d characters",
                           MAX_LENGTH);
  return read_recipe (&recipe);
}
