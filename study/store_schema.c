/* store_schema.c - the tables of a store.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * doc/handbook/format-store.md tells people what is in them.  Whoever changes
 * them changes STUDY_STORE_VERSION. */
#include "config.h"

#include "study/row_fields.h"
#include "study/store_private.h"

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
static gboolean
is_plans (const char *name)
{
  return !strcmp (name, "trace") || !strcmp (name, "machine") || !strcmp (name, "mapping") ||
         !strcmp (name, "repetition");
}

static void
add_view (GString *sql)
{
  g_string_append (sql, "CREATE VIEW results AS SELECT place");
  for (guint at = 0; at < study_row_n_fields (); at++) {
    const char *name = study_row_field (at)->name;

    g_string_append_printf (sql, ", %s.\"%s\" AS \"%s\"", is_plans (name) ? "plan" : "runs", name,
                            name);
  }
  g_string_append (sql, " FROM plan JOIN runs ON runs.key = plan.key ORDER BY place;");
}

gboolean
study_store_create_tables (StudyStore *store, GError **error)
{
  g_autoptr (GString) sql = g_string_new (NULL);

  g_string_append_printf (sql, "PRAGMA application_id = %d; PRAGMA user_version = %d;",
                          STUDY_STORE_APPLICATION_ID, STUDY_STORE_VERSION);
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
  add_view (sql);
  return study_store_begin (store, error) &&
         study_store_end (store, study_store_exec (store, sql->str, error), error);
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
