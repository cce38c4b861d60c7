/* recipe.h - mappings given by a line of text, an expression of operations.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A recipe can be used wherever a mapping can.  The grammar and the meaning of every
 * word are in doc/handbook/mappings.md:
 *
 *   hilbert                    ranks along a curve through the nodes
 *   random(7)                  a random order, by seed
 *   plane(4)                   as Slurm's distribution
 *   app(32,16,16).tile(8,8,8) net.tile(2,2,2,2,2,16).map().tilt(A,B,1)
 *                              the algebra of Rubik: boxes of ranks laid in boxes of
 *                              the machine, then permuted */
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

/* The mappings of a family ("sc13:32x32x16", "sc13-shared", "permutations", "curves",
 * "random:20"), texts for topo_mapping_new(), the machine's own order first except in random.  Duplicate
 * placements are omitted, so that a small machine has fewer (random keeps all).
 * NULL-terminated, to be freed with g_strfreev(). */
char **topo_recipe_family (const char *family, const TopoMachine *machine, uint32_t n_ranks,
                           GError **error);
