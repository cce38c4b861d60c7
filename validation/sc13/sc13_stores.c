/* sc13_stores.c - the cases of the SC13 study, from its stores.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/store/store.h"
#include "validation/sc13/sc13.h"

#include <string.h>

#define COARSE "coarse."

const char *const sc13_source_names[SC13_N_SOURCES] = { "same", "coarse", "load" };

/* While stores are read. */
typedef struct {
  Sc13Stores *stores;
  GHashTable *others; /* other_key() -> StudyRow of a source that is not observed, borrowed */
  GHashTable *names;  /* of the studies read */
} Reading;

void
sc13_samples_free (Sc13Samples *samples)
{
  for (guint i = 0; i < SC13_N_SOURCES; i++)
    if (samples->rows[i] != NULL)
      g_ptr_array_unref (samples->rows[i]);
  g_free (samples->group);
  g_free (samples->name);
  g_free (samples);
}

void
sc13_stores_free (Sc13Stores *stores)
{
  g_ptr_array_unref (stores->cases);
  g_ptr_array_unref (stores->rows);
  g_free (stores);
}

static Sc13Samples *
samples_new (const char *name)
{
  Sc13Samples *samples = g_new0 (Sc13Samples, 1);

  samples->name = g_strdup (name);
  samples->rows[SC13_SAME] = g_ptr_array_new ();
  return samples;
}

static Sc13Samples *
find_case (const Sc13Stores *stores, const char *name)
{
  for (guint i = 0; i < stores->cases->len; i++) {
    Sc13Samples *samples = g_ptr_array_index (stores->cases, i);

    if (strcmp (samples->name, name) == 0)
      return samples;
  }
  return NULL;
}

static char *
other_key (const char *name, Sc13Source source, const StudyRow *row)
{
  return g_strdup_printf ("%s %s %s", name, sc13_source_names[source], row->mapping_hash);
}

/* Adds a row to its case: "16k.halo2d" for the store "16k" and a trace "gen:halo2d:...". */
static void
add_row (Reading *reading, const char *study, StudyRow *row)
{
  bool is_coarse = g_str_has_prefix (study, COARSE), is_load = strcmp (row->network, "load") == 0;
  g_auto (GStrv) parts = g_strsplit (row->trace, ":", 3);
  g_autofree char *name = g_strdup_printf ("%s.%s", is_coarse ? study + strlen (COARSE) : study,
                                           g_strv_length (parts) < 2 ? row->trace : parts[1]);
  Sc13Samples *samples = find_case (reading->stores, name);

  if (row->status != STUDY_DONE || !(is_load || strcmp (row->network, "packet") == 0))
    return;
  if (is_coarse || is_load) {
    g_hash_table_replace (reading->others, other_key (name, is_load ? SC13_LOAD : SC13_COARSE, row),
                          row);
    return;
  }
  if (samples == NULL)
    g_ptr_array_add (reading->stores->cases, samples = samples_new (name));
  g_ptr_array_add (samples->rows[SC13_SAME], row);
}

static gboolean
read_store (Reading *reading, const char *path, GError **error)
{
  g_autoptr (StudyStore) store = study_store_open (path, STUDY_STORE_READ, error);
  g_autofree char *name = NULL;
  g_autoptr (GPtrArray) rows = NULL;

  if (store == NULL || (name = study_store_name (store, error)) == NULL ||
      (rows = study_store_rows (store, FALSE, error)) == NULL)
    return FALSE;
  if (!g_hash_table_add (reading->names, g_strdup (name))) {
    g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT,
                 "%s: a store of the study \"%s\" was read before", path, name);
    return FALSE;
  }
  for (guint i = 0; i < rows->len; i++)
    add_row (reading, name, g_ptr_array_index (rows, i));
  g_ptr_array_extend_and_steal (reading->stores->rows, g_steal_pointer (&rows));
  return TRUE;
}

/* The rows of a source for the mappings of a case; NULL unless each mapping has one. */
static void
find_others (const Reading *reading, Sc13Samples *samples, Sc13Source source)
{
  g_autoptr (GPtrArray) others = g_ptr_array_new ();
  const GPtrArray *observed = samples->rows[SC13_SAME];

  for (guint i = 0; i < observed->len; i++) {
    g_autofree char *key = other_key (samples->name, source, g_ptr_array_index (observed, i));
    StudyRow *other = g_hash_table_lookup (reading->others, key);

    if (other == NULL)
      return;
    g_ptr_array_add (others, other);
  }
  samples->rows[source] = g_steal_pointer (&others);
}

/* Samples of one mapping share a group. */
static void
number_mappings (Sc13Samples *samples)
{
  g_autoptr (GHashTable) numbers = g_hash_table_new (g_str_hash, g_str_equal);
  const GPtrArray *observed = samples->rows[SC13_SAME];

  samples->group = g_new (uint32_t, observed->len);
  for (guint i = 0; i < observed->len; i++) {
    const StudyRow *row = g_ptr_array_index (observed, i);
    gpointer number;

    if (!g_hash_table_lookup_extended (numbers, row->mapping_hash, NULL, &number)) {
      number = GUINT_TO_POINTER (g_hash_table_size (numbers));
      g_hash_table_insert (numbers, row->mapping_hash, number);
    }
    samples->group[i] = GPOINTER_TO_UINT (number);
  }
  samples->n_groups = g_hash_table_size (numbers);
}

Sc13Stores *
sc13_stores_read (const char *const *paths, GError **error)
{
  g_autoptr (Sc13Stores) stores = g_new0 (Sc13Stores, 1);
  g_autoptr (GHashTable) others = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Reading reading = { stores, others, names };

  stores->rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);
  stores->cases = g_ptr_array_new_with_free_func ((GDestroyNotify) sc13_samples_free);
  for (; *paths != NULL; paths++)
    if (!read_store (&reading, *paths, error))
      return NULL;
  for (guint i = 0; i < stores->cases->len; i++) {
    Sc13Samples *samples = g_ptr_array_index (stores->cases, i);

    find_others (&reading, samples, SC13_COARSE);
    find_others (&reading, samples, SC13_LOAD);
    number_mappings (samples);
  }
  return g_steal_pointer (&stores);
}

Sc13Samples *
sc13_pool (const Sc13Stores *stores, const char *name, const char *const *cases)
{
  g_autoptr (Sc13Samples) pool = samples_new (name);

  for (guint i = 0; cases[i] != NULL; i++) {
    const Sc13Samples *samples = find_case (stores, cases[i]);

    if (samples == NULL)
      return NULL;
    /* A source that one case lacks, the pool lacks. */
    for (Sc13Source source = 0; source < SC13_N_SOURCES; source++) {
      if (i == 0 && pool->rows[source] == NULL)
        pool->rows[source] = g_ptr_array_new ();
      if (pool->rows[source] != NULL && samples->rows[source] != NULL)
        g_ptr_array_extend (pool->rows[source], samples->rows[source], NULL, NULL);
      else
        g_clear_pointer (&pool->rows[source], g_ptr_array_unref);
    }
  }
  number_mappings (pool);
  return g_steal_pointer (&pool);
}
