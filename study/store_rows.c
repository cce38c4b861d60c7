/* store_rows.c - rows into a store and out of it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/packed.h"
#include "study/row_fields.h"
#include "study/store_private.h"

#include <math.h>
#include <string.h>

/* Between warnings in a column. */
#define SEPARATOR "\n"

/* --- In --- */

static void
bind_list (sqlite3_stmt *statement, int at, char *const *list)
{
  sqlite3_bind_text (statement, at, g_strjoinv (SEPARATOR, (char **) list), -1, g_free);
}

static void
bind_field (sqlite3_stmt *statement, int at, const StudyRow *row, const StudyField *field)
{
  if (!study_row_knows (row, field)) {
    sqlite3_bind_null (statement, at);
    return;
  }
  switch (field->kind) {
  case STUDY_FIELD_TEXT:
    study_store_bind_text (statement, at, *(char **) study_row_at (row, field));
    return;
  case STUDY_FIELD_REAL:
    sqlite3_bind_double (statement, at, *(double *) study_row_at (row, field));
    return;
  case STUDY_FIELD_STATUS:
    study_store_bind_text (statement, at, study_status_name (row->status));
    return;
  case STUDY_FIELD_LIST: bind_list (statement, at, *(char ***) study_row_at (row, field)); return;
  case STUDY_FIELD_U32:
  case STUDY_FIELD_U64:
  default: sqlite3_bind_int64 (statement, at, (sqlite3_int64) study_row_integer (row, field));
  }
}

static gboolean
prepare_puts (StudyStore *store, GError **error)
{
  g_autofree char *insert = study_store_insert_sql ();

  if (store->put_blobs != NULL)
    return TRUE;
  return (store->drop_failed = study_store_prepare (
              store, "DELETE FROM runs WHERE key = ? AND status = 'failed'", error)) != NULL &&
         (store->put_run = study_store_prepare (store, insert, error)) != NULL &&
         (store->put_blobs = study_store_prepare (
              store, "INSERT OR REPLACE INTO blobs VALUES (?, ?, ?)", error)) != NULL;
}

/* The words of a blob of ours, uint64_t or double. */
static void
bind_blob (sqlite3_stmt *statement, int at, GBytes *blob)
{
  gsize n_bytes, n_packed;
  const uint64_t *words;
  GBytes *packed;
  gpointer data;

  if (blob == NULL) {
    sqlite3_bind_null (statement, at);
    return;
  }
  words = g_bytes_get_data (blob, &n_bytes);
  packed = study_pack_words (words, n_bytes / sizeof *words);
  data = g_bytes_unref_to_data (packed, &n_packed);
  sqlite3_bind_blob64 (statement, at, data, n_packed, g_free);
}

static gboolean
put_blobs (StudyStore *store, const StudyRow *row, GError **error)
{
  gboolean done;

  study_store_bind_text (store->put_blobs, 1, row->key);
  bind_blob (store->put_blobs, 2, row->link_bytes);
  bind_blob (store->put_blobs, 3, row->rank_times);
  done = study_store_run (store, store->put_blobs, error);
  sqlite3_clear_bindings (store->put_blobs);
  return done;
}

gboolean
study_store_insert_row (StudyStore *store, const StudyRow *row, GError **error)
{
  if (!prepare_puts (store, error))
    return FALSE;
  study_store_bind_text (store->drop_failed, 1, row->key);
  if (!study_store_run (store, store->drop_failed, error))
    return FALSE;
  for (guint at = 0; at < study_row_n_fields (); at++)
    bind_field (store->put_run, (int) at + 1, row, study_row_field (at));
  if (!study_store_run (store, store->put_run, error))
    return FALSE;
  if (sqlite3_changes (store->db) == 0 || (row->link_bytes == NULL && row->rank_times == NULL))
    return TRUE;
  return put_blobs (store, row, error);
}

gboolean
study_store_insert_rows (StudyStore *store, StudyRow *const *rows, guint n_rows, GError **error)
{
  for (guint at = 0; at < n_rows; at++)
    if (!study_store_insert_row (store, rows[at], error))
      return FALSE;
  return TRUE;
}

gboolean
study_store_put_all (StudyStore *store, StudyRow *const *rows, guint n_rows, GError **error)
{
  return study_store_begin (store, error) &&
         study_store_end (store, study_store_insert_rows (store, rows, n_rows, error), error);
}

gboolean
study_store_put (StudyStore *store, const StudyRow *row, GError **error)
{
  return study_store_begin (store, error) &&
         study_store_end (store, study_store_insert_row (store, row, error), error);
}

/* --- Out --- */

static char *
text_at (sqlite3_stmt *statement, int at)
{
  return g_strdup ((const char *) sqlite3_column_text (statement, at));
}

static char **
list_at (sqlite3_stmt *statement, int at)
{
  const char *text = (const char *) sqlite3_column_text (statement, at);

  return text == NULL || *text == '\0' ? g_new0 (char *, 1) : g_strsplit (text, SEPARATOR, -1);
}

static void
read_field (StudyRow *row, const StudyField *field, sqlite3_stmt *statement, int at)
{
  gpointer to = study_row_at (row, field);
  gboolean is_null = sqlite3_column_type (statement, at) == SQLITE_NULL;

  switch (field->kind) {
  case STUDY_FIELD_TEXT: *(char **) to = text_at (statement, at); return;
  case STUDY_FIELD_REAL:
    *(double *) to = is_null ? (double) NAN : sqlite3_column_double (statement, at);
    return;
  case STUDY_FIELD_STATUS:
    row->status = g_strcmp0 ((const char *) sqlite3_column_text (statement, at), "done") == 0
                      ? STUDY_DONE
                      : STUDY_FAILED;
    return;
  case STUDY_FIELD_LIST:
    g_strfreev (row->warnings);
    row->warnings = list_at (statement, at);
    return;
  case STUDY_FIELD_U32:
  case STUDY_FIELD_U64:
  default: study_row_set_integer (row, field, (uint64_t) sqlite3_column_int64 (statement, at));
  }
}

StudyRow *
study_store_row_at (sqlite3_stmt *statement, int first)
{
  StudyRow *row = study_row_new ();

  for (guint at = 0; at < study_row_n_fields (); at++)
    read_field (row, study_row_field (at), statement, first + (int) at);
  return row;
}

/* Makes *blob of a column; FALSE when it holds no words of ours. */
static gboolean
read_blob (GBytes **blob, sqlite3_stmt *statement, int at)
{
  uint64_t *words;
  gsize n_words;

  g_clear_pointer (blob, g_bytes_unref);
  if (sqlite3_column_type (statement, at) == SQLITE_NULL)
    return TRUE;
  words = study_unpack_words (sqlite3_column_blob (statement, at),
                              (gsize) sqlite3_column_bytes (statement, at), &n_words);
  if (words == NULL)
    return FALSE;
  *blob = g_bytes_new_take (words, n_words * sizeof *words);
  return TRUE;
}

gboolean
study_store_load_blobs (StudyStore *store, StudyRow *row, GError **error)
{
  g_autoptr (sqlite3_stmt) statement =
      study_store_prepare (store, "SELECT link_bytes, rank_times FROM blobs WHERE key = ?", error);
  gboolean has_row;

  if (statement == NULL)
    return FALSE;
  study_store_bind_text (statement, 1, row->key);
  if (!study_store_step (store, statement, &has_row, error))
    return FALSE;
  if (!has_row ||
      (read_blob (&row->link_bytes, statement, 0) && read_blob (&row->rank_times, statement, 1)))
    return TRUE;
  return study_store_damaged (store, "the link bytes or rank times of a run", error);
}

static gboolean
read_rows (StudyStore *store, GPtrArray *rows, GError **error)
{
  g_autoptr (sqlite3_stmt) statement =
      study_store_prepare (store, "SELECT * FROM results ORDER BY place", error);
  gboolean has_row = statement != NULL;

  while (has_row) {
    if (!study_store_step (store, statement, &has_row, error))
      return FALSE;
    if (has_row)
      g_ptr_array_add (rows, study_store_row_at (statement, 1));
  }
  return statement != NULL;
}

GPtrArray *
study_store_rows (StudyStore *store, gboolean with_blobs, GError **error)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);

  if (!read_rows (store, rows, error))
    return NULL;
  for (guint at = 0; with_blobs && at < rows->len; at++)
    if (!study_store_load_blobs (store, g_ptr_array_index (rows, at), error))
      return NULL;
  return g_steal_pointer (&rows);
}

StudyRow *
study_store_find (StudyStore *store, const char *key, GError **error)
{
  g_autoptr (sqlite3_stmt) statement =
      study_store_prepare (store, "SELECT * FROM runs WHERE key = ?", error);
  gboolean has_row;

  if (statement == NULL)
    return NULL;
  study_store_bind_text (statement, 1, key);
  if (!study_store_step (store, statement, &has_row, error) || !has_row)
    return NULL;
  return study_store_row_at (statement, 0);
}

GHashTable *
study_store_keys (StudyStore *store, gboolean failed, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = study_store_prepare (
      store, failed ? "SELECT key FROM runs" : "SELECT key FROM runs WHERE status = 'done'", error);
  g_autoptr (GHashTable) keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  gboolean has_row = statement != NULL;

  while (has_row) {
    if (!study_store_step (store, statement, &has_row, error))
      return NULL;
    if (has_row)
      g_hash_table_add (keys, text_at (statement, 0));
  }
  return statement != NULL ? g_steal_pointer (&keys) : NULL;
}
