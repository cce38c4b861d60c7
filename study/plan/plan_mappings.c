/* plan_mappings.c - the mappings that a study file asks for on a machine.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/plan/plan_private.h"

#include "topology/recipe/recipe.h"

#include <string.h>

/* How a whole family is called. */
#define FAMILY_PREFIX "family "

static void
mapping_clear (gpointer data)
{
  StudyPlanMapping *mapping = data;

  g_free (mapping->text);
  g_free (mapping->path);
  g_free (mapping->source);
  g_free (mapping->problem);
  g_free (mapping->binding);
  g_free (mapping);
}

/* The mappings of a machine while they are collected. */
typedef struct {
  const StudyPlanFile *file;
  GPtrArray *all;
  GHashTable *seen; /* (element-type utf8) texts, borrowed from them */
} Collection;

static Collection
collection_new (const StudyPlanFile *file)
{
  return (Collection){ file, g_ptr_array_new_with_free_func (mapping_clear),
                       g_hash_table_new (g_str_hash, g_str_equal) };
}

static GPtrArray *
collection_end (Collection *collection)
{
  g_hash_table_unref (collection->seen);
  return collection->all;
}

/* A text of capital letters alone is a permutation, even if there is such a file. */
static gboolean
is_permutation (const char *text)
{
  for (; *text != '\0'; text++)
    if (!g_ascii_isupper (*text))
      return FALSE;
  return TRUE;
}

/* What topo_mapping_new() is to open: a file by its path from here, its kind in front
 * if that is said.  Whatever is no file is for topo_mapping_new() to understand. */
static char *
path_of (const StudyPlanFile *file, const char *text)
{
  g_autofree char *path = study_plan_file_path (file, text);
  const char *colon = strchr (text, ':');
  g_autofree char *behind = colon != NULL ? study_plan_file_path (file, colon + 1) : NULL;

  if (is_permutation (text))
    return g_strdup (text);
  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&path);
  if (behind != NULL && g_file_test (behind, G_FILE_TEST_EXISTS))
    return g_strdup_printf ("%.*s:%s", (int) (colon - text), text, behind);
  return g_strdup (text);
}

/* The default is called by its letters, as in `simulate`'s record.  family: whose member it
 * is; NULL: it is listed by itself. */
static void
add (Collection *collection, const char *text, const char *family, const char *default_name,
     const char *problem, const int *binding)
{
  gboolean is_default = !strcmp (text, "default");
  const char *listed = text;
  StudyPlanMapping *mapping;

  if (is_default && default_name != NULL)
    text = default_name;
  if (g_hash_table_contains (collection->seen, text))
    return;
  mapping = g_new0 (StudyPlanMapping, 1);
  mapping->text = g_strdup (text);
  mapping->path = is_default ? NULL : path_of (collection->file, text);
  mapping->source = family != NULL ? g_strconcat (FAMILY_PREFIX, family, NULL) : g_strdup (listed);
  mapping->problem = g_strdup (problem);
  mapping->binding = study_values_copy (&collection->file->values, binding);
  g_ptr_array_add (collection->all, mapping);
  g_hash_table_add (collection->seen, mapping->text);
}

static void
add_listed (Collection *collection, const char *default_name, const char *problem)
{
  const StudyValues *values = &collection->file->values;

  for (char **text = collection->file->mappings; *text != NULL; text++) {
    g_autofree int *binding = study_values_bind (values, *text, NULL);

    do {
      g_autofree char *filled = study_values_fill (values, *text, binding);

      add (collection, filled, NULL, default_name, problem, binding);
    } while (study_values_next (values, binding));
  }
}

static void
add_family_that_fails (Collection *collection, const char *family, const char *problem)
{
  g_autofree int *unbound = study_values_bind (&collection->file->values, "", NULL);
  g_autofree char *text = g_strconcat (FAMILY_PREFIX, family, NULL);

  add (collection, text, family, NULL, problem, unbound);
}

static void
add_family (Collection *collection, const char *family, const TopoMachine *machine,
            uint32_t n_ranks)
{
  g_autofree int *unbound = study_values_bind (&collection->file->values, "", NULL);
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) members = topo_recipe_family (family, machine, n_ranks, &error);

  if (members == NULL) {
    add_family_that_fails (collection, family, error->message);
    return;
  }
  for (char **member = members; *member != NULL; member++)
    add (collection, *member, family, NULL, NULL, unbound);
}

/* How topo_mapping_new() calls the default; NULL when there is none: too many
 * ranks, which the run will tell. */
static char *
default_name_of (const TopoMachine *machine, uint32_t n_ranks)
{
  g_autoptr (TopoMapping) mapping = topo_mapping_new (NULL, machine, n_ranks, NULL);

  return mapping != NULL ? g_strdup (mapping->name) : NULL;
}

GPtrArray *
study_plan_mappings_new (const StudyPlanFile *file, const TopoMachine *machine, uint32_t n_ranks)
{
  g_autofree char *default_name = default_name_of (machine, n_ranks);
  Collection collection = collection_new (file);

  add_listed (&collection, default_name, NULL);
  for (char **family = file->families; *family != NULL; family++)
    add_family (&collection, *family, machine, n_ranks);
  return collection_end (&collection);
}

GPtrArray *
study_plan_mappings_unknown (const StudyPlanFile *file, const char *problem)
{
  Collection collection = collection_new (file);

  add_listed (&collection, NULL, problem);
  for (char **family = file->families; *family != NULL; family++)
    add_family_that_fails (&collection, *family, problem);
  return collection_end (&collection);
}
