/* recipe_private.h - the parts of which the recipes' interpreter is made; private to
 * topology/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "topology/recipe/box.h"
#include "topology/recipe/recipe.h"

/* --- The text: recipe.c --- */

typedef struct {
  const char *text; /* all of it */
  const char *at;   /* what is read next */
  GError **error;
} TopoScan;

/* Letters and digits that begin with a letter. */
typedef struct {
  const char *start; /* in the text */
  char text[32];     /* "": no word there */
} TopoWord;

/* Sets the error, which shows the recipe, the column of `where` and what stands there;
 * always FALSE. */
gboolean topo_scan_fail (const TopoScan *scan, const char *where, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* All pass over blanks first. */
bool topo_scan_accept (TopoScan *scan, char expected);
gboolean topo_scan_expect (TopoScan *scan, char expected);
gboolean topo_scan_end (TopoScan *scan);
TopoWord topo_scan_word (TopoScan *scan);
gboolean topo_scan_number (TopoScan *scan, int64_t least, int64_t most, int64_t *number);

/* "()" or nothing. */
gboolean topo_scan_no_arguments (TopoScan *scan);

/* --- What stands in it --- */

/* A word and what reads the rest.  The scan is behind the word. */
typedef struct {
  TopoScan scan;
  const TopoMachine *machine;
  TopoMapping *mapping; /* to be filled */
} TopoRecipe;

/* Which curve a word is; TOPO_N_CURVES when none. */
TopoCurve topo_recipe_curve (const char *word);

/* The algebra, which begins with app(...) or with net: recipe_algebra.c. */
gboolean topo_recipe_from_app (TopoRecipe *recipe);
gboolean topo_recipe_from_net (TopoRecipe *recipe);
