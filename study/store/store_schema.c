/* store_schema.c - the tables of a store.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * doc/handbook/format-store.md tells people what is in them.  Whoever changes
 * them changes STUDY_STORE_VERSION. */
#include "config.h"

#include "study/store/row_fields.h"
#include "study/store/store_private.h"

#include <string.h>

static const char *
sql_type (StudyFieldKind kind)
{
  if (kind == STUDY_FIELD_REAL)
    return "REAL";
  return kind == STUDY_FIELD_U32 || kind == STUDY_FIELD_U64 ? "INTEGER" : "TEXT";
}

static void
add_runs (GString *sql)
{
  g_string_append (sql, "CREATE TABLE runs (");
  for (guint at = 0; at < study_row_n_fields (); at++) {
    const StudyField *field = study_row_field (at);

    g_string_append_printf (sql, "%s\"%s\" %s%s", at > 0 ? ", " : "", field->name,
                            sql_type (field->kind), at == 0 ? " PRIMARY KEY NOT NULL" : "");
  }
  g_string_append (sql, ");");
}

/* How one study calls a run is the plan's; the same run may have other names in
 * another place. */
gboolean
study_store_is_plans (const char *name)
{
  return !strcmp (name, "trace") || !strcmp (name, "machine") || !strcmp (name, "mapping") ||
         !strcmp (name, "repetition");
}

static void
add_results (GString *sql)
{
  for (guint at = 0; at < study_row_n_fields (); at++) {
    const char *name = study_row_field (at)->name;

    g_string_append_printf (sql, ", %s.\"%s\" AS \"%s\"",
                            study_store_is_plans (name) ? "plan" : "runs", name, name);
  }
  g_string_append (sql, " FROM plan JOIN runs ON runs.key = plan.key ORDER BY place");
}

char *
study_store_results_sql (void)
{
  GString *sql = g_string_new ("SELECT place, runs.rowid");

  add_results (sql);
  return g_string_free (sql, FALSE);
}

static void
add_tables (GString *sql)
{
  g_string_append (
      sql,
      "CREATE TABLE study (id INTEGER PRIMARY KEY CHECK (id = 1), name TEXT, file TEXT);"
      "CREATE TABLE plan (place INTEGER PRIMARY KEY, key TEXT NOT NULL, trace TEXT, machine TEXT,"
      " mapping TEXT, network TEXT, routing TEXT, compute_scale REAL, seed INTEGER,"
      " repetition INTEGER);"
      "CREATE INDEX plan_keys ON plan (key);"
      "CREATE TABLE blobs (key TEXT PRIMARY KEY NOT NULL, link_bytes BLOB, rank_times BLOB);"
      "CREATE TABLE machines (hash TEXT PRIMARY KEY NOT NULL, text TEXT NOT NULL);"
      "CREATE TABLE placements (hash TEXT PRIMARY KEY NOT NULL, ranks INTEGER NOT NULL,"
      " places BLOB NOT NULL);"
      "CREATE TABLE edges (trace_hash TEXT PRIMARY KEY NOT NULL, ranks INTEGER NOT NULL,"
      " edges INTEGER NOT NULL, data BLOB NOT NULL);");
  add_runs (sql);
  g_string_append (sql, "CREATE VIEW results AS SELECT place");
  add_results (sql);
  g_string_append_c (sql, ';');
}

gboolean
study_store_create_tables (StudyStore *store, GError **error)
{
  g_autoptr (GString) sql = g_string_new (NULL);

  g_string_append_printf (sql, "PRAGMA application_id = %d; PRAGMA user_version = %d;",
                          STUDY_STORE_APPLICATION_ID, STUDY_STORE_VERSION);
  add_tables (sql);
  return study_store_begin (store, error) &&
         study_store_end (store, study_store_exec (store, sql->str, error), error);
}

/* --- Checking --- */

#define SCHEMA "SELECT rowid, type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid"

/* An entry of the schema as "type name of table" and its SQL, which is NULL of indices that
 * SQLite makes itself. */
static gboolean
read_entry (StudyStoreRecord *record, GHashTable *entries, GError **error)
{
  const char *type, *name, *table, *sql;

  if (!study_store_next_record (record, error) ||
      !study_store_text_cell (record, 1, "type", STUDY_STORE_MAX_NAME, FALSE, &type, error) ||
      !study_store_text_cell (record, 2, "name", STUDY_STORE_MAX_NAME, FALSE, &name, error) ||
      !study_store_text_cell (record, 3, "tbl_name", STUDY_STORE_MAX_NAME, FALSE, &table, error) ||
      !study_store_text_cell (record, 4, "sql", STUDY_STORE_MAX_NAME, TRUE, &sql, error))
    return FALSE;
  g_hash_table_insert (entries, g_strdup_printf ("%s %s of %s", type, name, table),
                       g_strdup (sql != NULL ? sql : ""));
  return TRUE;
}

/* (key-type utf8) (value-type utf8) */
static GHashTable *
read_schema (StudyStore *store, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = study_store_prepare (store, SCHEMA, error);
  g_autoptr (GHashTable) entries = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  StudyStoreRecord record = { store, statement, "sqlite_schema", G_MININT64 };
  gboolean has_row = statement != NULL;

  while (has_row)
    if (!study_store_step (store, statement, &has_row, error) ||
        (has_row && !read_entry (&record, entries, error)))
      return NULL;
  return statement != NULL ? g_steal_pointer (&entries) : NULL;
}

/* The schema of a store that is made in memory; made by SQLite, so that its indices are named
 * alike. */
static GHashTable *
expected_schema (StudyStore *store, GError **error)
{
  StudyStore model = { .path = store->path };
  g_autoptr (GString) sql = g_string_new (NULL);
  GHashTable *entries = NULL;

  add_tables (sql);
  if (sqlite3_open (":memory:", &model.db) == SQLITE_OK &&
      study_store_exec (&model, sql->str, error))
    entries = read_schema (&model, error);
  sqlite3_close (model.db);
  return entries;
}

static gboolean
has_all (const StudyStore *store, GHashTable *wanted, GHashTable *found, const char *trouble,
         GError **error)
{
  GHashTableIter entries;
  gpointer entry, sql;

  g_hash_table_iter_init (&entries, wanted);
  while (g_hash_table_iter_next (&entries, &entry, &sql))
    if (g_strcmp0 (sql, g_hash_table_lookup (found, entry)) != 0) {
      g_set_error (error, STUDY_ERROR, STUDY_ERROR_DAMAGED,
                   "%s: %s: %s; the store is damaged or was changed by another program",
                   store->path, (const char *) entry, trouble);
      return FALSE;
    }
  return TRUE;
}

gboolean
study_store_check_tables (StudyStore *store, GError **error)
{
  g_autoptr (GHashTable) found = read_schema (store, error);
  g_autoptr (GHashTable) expected = found != NULL ? expected_schema (store, error) : NULL;

  return expected != NULL &&
         has_all (store, expected, found, "is missing or not as hopcast makes it", error) &&
         has_all (store, found, expected, "no store of hopcast has it", error);
}

char *
study_store_insert_sql (void)
{
  GString *sql = g_string_new ("INSERT OR IGNORE INTO runs VALUES (?");

  for (guint at = 1; at < study_row_n_fields (); at++)
    g_string_append (sql, ",?");
  g_string_append_c (sql, ')');
  return g_string_free (sql, FALSE);
}
