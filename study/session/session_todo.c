/* session_todo.c - which runs of a study are left.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/session/session_private.h"

#include <string.h>

static const StudyPlanRun *
run_at (const StudyPlan *plan, guint run)
{
  return g_ptr_array_index (plan->runs, run);
}

/* The first run of each key, of this shard: all shards count alike. */
static GArray *
own_runs (const StudyPlan *plan, const StudySessionOptions *options)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  GArray *own = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint run = 0; run < plan->runs->len; run++)
    if (g_hash_table_add (seen, run_at (plan, run)->key) &&
        (options->n_shards == 0 || run % options->n_shards == options->shard - 1))
      g_array_append_val (own, run);
  return own;
}

char *
study_session_store_path (const StudyPlan *plan, const StudySessionOptions *options)
{
  const char *ending = ".store";
  g_autofree char *stem = NULL;

  if (options->store_path != NULL)
    return g_strdup (options->store_path);
  if (options->n_shards == 0)
    return g_strdup (plan->store_path);
  stem = g_strdup (plan->store_path);
  if (g_str_has_suffix (stem, ending))
    stem[strlen (stem) - strlen (ending)] = '\0';
  return g_strdup_printf ("%s.%uof%u%s", stem, options->shard, options->n_shards, ending);
}

static gboolean
read_keys (StudyStore *store, GHashTable **done, GHashTable **all, GError **error)
{
  *done = study_store_keys (store, FALSE, error);
  *all = *done != NULL ? study_store_keys (store, TRUE, error) : NULL;
  return *all != NULL;
}

GArray *
study_session_left (const StudyPlan *plan, const StudySessionOptions *options, StudyStore *store,
                    StudyTally *tally, GError **error)
{
  g_autoptr (GArray) own = own_runs (plan, options);
  g_autoptr (GArray) todo = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GHashTable) done = NULL, all = NULL;

  if (store != NULL && !read_keys (store, &done, &all, error))
    return NULL;
  tally->n_runs = own->len;
  for (guint i = 0; i < own->len; i++) {
    guint run = g_array_index (own, guint, i);
    const char *key = run_at (plan, run)->key;
    gboolean is_done = done != NULL && g_hash_table_contains (done, key);
    gboolean has_failed = !is_done && all != NULL && g_hash_table_contains (all, key);

    tally->n_failed_before += has_failed && !options->retry_failed;
    if (is_done || (has_failed && !options->retry_failed))
      tally->n_there++;
    else
      g_array_append_val (todo, run);
  }
  return g_steal_pointer (&todo);
}

GArray *
study_session_todo (const StudyPlan *plan, const StudySessionOptions *options, StudyTally *tally,
                    GError **error)
{
  g_autofree char *path = study_session_store_path (plan, options);
  g_autoptr (StudyStore) store = NULL;

  if (g_file_test (path, G_FILE_TEST_EXISTS) &&
      !(store = study_store_open (path, STUDY_STORE_READ, error)))
    return NULL;
  return study_session_left (plan, options, store, tally, error);
}
