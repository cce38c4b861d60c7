/* recipe_family.c - families of mappings, written as recipes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A family is a list of texts for one machine and number of ranks: every name says by
 * itself how the ranks are placed. */
#include "topology/recipe/recipe_private.h"

#include <string.h>

const TopoRecipeFamily topo_recipe_families[] = {
  { "sc13", "3 tilings x 28 maps: tilts, zigzags, Z-order" },
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
  GHashTable *hashes; /* (element-type int64) of the placements; NULL: nobody looks */
  GError **error;
} Family;

/* --- Distinct placements --- */

/* 64 bits: that two of a thousand placements meet by chance has odds of one to 10^13. */
static gint64
hash_of (const TopoMapping *mapping)
{
  uint64_t hash = 14695981039346656037u;

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    hash = (hash ^ mapping->node[rank]) * 1099511628211u;
    hash = (hash ^ mapping->slot[rank] ^ hash >> 32) * 1099511628211u;
  }
  return (gint64) hash;
}

/* Takes the text. */
static gboolean
add (Family *family, char *text)
{
  g_autofree char *kept = text;

  if (family->hashes != NULL) {
    g_autoptr (TopoMapping) mapping =
        topo_mapping_new (text, family->machine, family->n_ranks, family->error);
    gint64 hash;

    if (mapping == NULL)
      return FALSE;
    hash = hash_of (mapping);
    if (!g_hash_table_add (family->hashes, g_memdup2 (&hash, sizeof hash)))
      return TRUE;
  }
  g_ptr_array_add (family->texts, g_steal_pointer (&kept));
  return TRUE;
}

/* --- Dimensions --- */

uint32_t
topo_recipe_axes (const TopoMachine *machine, uint32_t least,
                  TopoRecipeAxis axes[TOPO_BOX_DIMENSIONS])
{
  uint32_t n = 0;

  for (uint32_t dimension = 0; dimension < machine->shape.n_dimensions; dimension++)
    if (machine->shape.size[dimension] >= least)
      axes[n++] =
          (TopoRecipeAxis){ topo_dimension_letter (dimension), machine->shape.size[dimension] };
  if (machine->ranks_per_node >= least)
    axes[n++] = (TopoRecipeAxis){ 'T', machine->ranks_per_node };
  return n;
}

/* --- The families --- */

/* The next arrangement in the order of the dictionary; false after the last. */
static bool
next_arrangement (TopoRecipeAxis *axes, uint32_t n)
{
  uint32_t left = n - 1, right = n - 1;
  TopoRecipeAxis kept;

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

/* Dimensions of one node change nothing: they stand first. */
static gboolean
add_permutations (Family *family)
{
  TopoRecipeAxis axes[TOPO_BOX_DIMENSIONS];
  uint32_t n_axes = topo_recipe_axes (family->machine, 2, axes);
  g_autoptr (GString) short_ones = g_string_new (NULL);

  for (uint32_t dimension = 0; dimension < family->machine->shape.n_dimensions; dimension++)
    if (family->machine->shape.size[dimension] == 1)
      g_string_append_c (short_ones, topo_dimension_letter (dimension));
  if (family->machine->ranks_per_node == 1)
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

/* A curve in its ways: nodes, slots slowest, dimensions the other way round, slots
 * as a dimension. */
static gboolean
add_curve (Family *family, const char *curve)
{
  uint32_t n_dimensions = family->machine->shape.n_dimensions;
  g_autoptr (GString) letters = g_string_new (NULL);
  g_autofree char *backwards = NULL;

  for (uint32_t dimension = 0; dimension < n_dimensions; dimension++)
    g_string_append_c (letters, topo_dimension_letter (dimension));
  backwards = g_utf8_strreverse (letters->str, -1);
  return add (family, g_strdup (curve)) &&
         add (family, g_strdup_printf ("%s(T%s)", curve, letters->str)) &&
         add (family, g_strdup_printf ("%s(%sT)", curve, backwards)) &&
         add (family, g_strdup_printf ("%s(T%s)", curve, backwards)) &&
         add (family, g_strdup_printf ("net.%s()", curve));
}

static gboolean
add_curves (Family *family)
{
  if (!add (family, g_strdup ("block")) || !add (family, g_strdup ("cyclic")))
    return FALSE;
  for (uint32_t together = 2; together < family->machine->ranks_per_node; together *= 2)
    if (!add (family, g_strdup_printf ("plane(%u)", together)))
      return FALSE;
  for (gsize curve = 0; curve < TOPO_N_CURVES; curve++)
    if (!add_curve (family, topo_curve_names[curve]))
      return FALSE;
  return TRUE;
}

static gboolean
add_sc13 (Family *family)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);

  topo_recipe_sc13 (family->machine, family->n_ranks, texts);
  for (guint at = 0; at < texts->len; at++)
    if (!add (family, g_strdup (texts->pdata[at])))
      return FALSE;
  return TRUE;
}

static gboolean
add_random (Family *family, const char *name)
{
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

static gboolean
fill (Family *family, const char *name)
{
  if (g_str_equal (name, "sc13"))
    return add_sc13 (family);
  if (g_str_equal (name, "curves"))
    return add_curves (family);
  if (g_str_equal (name, "permutations"))
    return add_permutations (family);
  if (g_str_has_prefix (name, "random:"))
    return add_random (family, name);
  g_set_error (family->error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
               "family \"%s\" is unknown; there are sc13, permutations, curves and random:N", name);
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
