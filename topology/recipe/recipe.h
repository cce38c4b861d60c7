/* recipe.h - mappings written as a line of text that says how to make them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A recipe stands wherever a mapping may stand.  Its grammar and every word's
 * meaning are in doc/handbook/mappings.md:
 *
 *   hilbert                    ranks along a curve through the nodes
 *   random(7)                  anywhere
 *   plane(4)                   as Slurm distributes
 *   app(32,16,16).tile(8,8,8) net.tile(2,2,2,2,2,16).map().tilt(A,B,1)
 *                              the algebra of Rubik: boxes of ranks laid in boxes of
 *                              the machine, then stirred */
#pragma once

#include "topology/mapping/mapping.h"

/* Whether a mapping's text is a recipe: a word that is one by itself, or anything with a
 * parenthesis, but without '/' and ':'. */
bool topo_is_recipe (const char *text);

/* Places mapping->n_ranks ranks, at most as many as the machine has slots, by the
 * recipe that is the mapping's name.  Errors show the recipe and the column. */
gboolean topo_recipe_fill (TopoMapping *mapping, const TopoMachine *machine, GError **error);

/* The names of families and what they are, NULL at the end. */
typedef struct {
  const char *name, *what;
} TopoRecipeFamily;
extern const TopoRecipeFamily topo_recipe_families[];

/* The words that a recipe may begin with, NULL at the end. */
const char *const *topo_recipe_words (void);

/* The mappings of a family ("sc13", "permutations", "curves", "random:20"), texts for
 * topo_mapping_new(), the machine's own order first but for random.  No two place the
 * ranks alike: what would is left out, so that a small machine has fewer (random is as
 * it falls).  NULL-terminated, to be freed with g_strfreev(). */
char **topo_recipe_family (const char *family, const TopoMachine *machine, uint32_t n_ranks,
                           GError **error);
