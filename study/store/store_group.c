/* store_group.c - rows and what they name, stored together.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A transaction costs more than a row, so that runs which take milliseconds are stored
 * many at a time. */
#include "config.h"

#include "study/store/store_private.h"

StudyStoreGroup *
study_store_group_new (void)
{
  StudyStoreGroup *group = g_new (StudyStoreGroup, 1);

  group->placements = g_ptr_array_new_with_free_func ((GDestroyNotify) study_places_free);
  group->edges = g_ptr_array_new_with_free_func ((GDestroyNotify) study_packed_edges_free);
  group->rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);
  return group;
}

void
study_store_group_free (StudyStoreGroup *group)
{
  g_ptr_array_unref (group->placements);
  g_ptr_array_unref (group->edges);
  g_ptr_array_unref (group->rows);
  g_free (group);
}

static gboolean
put_all (StudyStore *store, const StudyStoreGroup *group, GError **error)
{
  for (guint at = 0; at < group->placements->len; at++) {
    const StudyPlaces *places = g_ptr_array_index (group->placements, at);

    if (!study_store_put_places (store, places->hash, places->n_ranks, places->packed, error))
      return FALSE;
  }
  for (guint at = 0; at < group->edges->len; at++)
    if (!study_store_put_packed_edges (store, g_ptr_array_index (group->edges, at), error))
      return FALSE;
  return study_store_insert_rows (store, (StudyRow **) group->rows->pdata, group->rows->len, error);
}

static gboolean
put_in_one (StudyStore *store, const StudyStoreGroup *group, GError **error)
{
  if (group->placements->len + group->edges->len + group->rows->len == 0 ||
      (study_store_begin (store, error) &&
       study_store_end (store, put_all (store, group, error), error)))
    return TRUE;
  /* What was put is not there. */
  g_hash_table_remove_all (store->known);
  return FALSE;
}

gboolean
study_store_put_group (StudyStore *store, StudyStoreGroup *group, GError **error)
{
  gboolean done = put_in_one (store, group, error);

  g_ptr_array_set_size (group->placements, 0);
  g_ptr_array_set_size (group->edges, 0);
  g_ptr_array_set_size (group->rows, 0);
  return done;
}
