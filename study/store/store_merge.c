/* store_merge.c - everything of one store into another.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/store/row_fields.h"
#include "study/store/store_private.h"

#include <string.h>

/* --- May they be merged? --- */

/* The version of hopcast by which the listed runs of a store are; NULL without
 * an error: there is none.  Within one plan all are by one: it is in their keys. */
static char *
version_of (StudyStore *store, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = study_store_prepare (
      store, "SELECT runs.rowid, version FROM plan JOIN runs ON runs.key = plan.key LIMIT 1",
      error);
  StudyStoreRecord record = { store, statement, "runs", G_MININT64 };
  const char *version;
  gboolean has_row;

  if (statement == NULL || !study_store_step (store, statement, &has_row, error) || !has_row ||
      !study_store_next_record (&record, error) ||
      !study_store_text_cell (&record, 1, "version", STUDY_STORE_MAX_NAME, FALSE, &version, error))
    return NULL;
  return g_strdup (version);
}

static gboolean
check_versions (StudyStore *store, StudyStore *from, GError **error)
{
  g_autoptr (GError) trouble = NULL;
  g_autofree char *here = version_of (store, &trouble);
  g_autofree char *there = trouble == NULL ? version_of (from, &trouble) : NULL;

  if (trouble != NULL) {
    g_propagate_error (error, g_steal_pointer (&trouble));
    return FALSE;
  }
  if (here == NULL || there == NULL || !strcmp (here, there))
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_VERSION,
               "%s: its runs were made by hopcast %s, those of %s by %s; different versions may "
               "give different results",
               from->path, there, store->path, here);
  return FALSE;
}

/* A field that is a result: the same whenever and wherever the run is made. */
static gboolean
is_result (const StudyField *field)
{
  return field->offset > G_STRUCT_OFFSET (StudyRow, error) &&
         (field->kind == STUDY_FIELD_REAL || field->kind == STUDY_FIELD_U64) &&
         strcmp (field->name, "wall_s") != 0 && strcmp (field->name, "peak_rss_bytes") != 0;
}

static gboolean
is_equal (const StudyRow *left, const StudyRow *right, const StudyField *field)
{
  double a, b;

  if (field->kind == STUDY_FIELD_U64)
    return study_row_integer (left, field) == study_row_integer (right, field);
  a = *(double *) study_row_at (left, field);
  b = *(double *) study_row_at (right, field);
  /* Two that are not known are equal. */
  return a == b || (a != a && b != b);
}

static gboolean
check_same (const StudyRow *here, const StudyRow *there, StudyStore *store, StudyStore *from,
            GError **error)
{
  for (guint at = 0; at < study_row_n_fields (); at++) {
    const StudyField *field = study_row_field (at);

    if (!is_result (field) || is_equal (here, there, field))
      continue;
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_CHANGED,
                 "%s: %s of %s on %s, mapping %s, is not what it is in %s; one of the two was "
                 "changed or made by another program (key %.12s...)",
                 from->path, field->name, there->trace, there->machine, there->mapping, store->path,
                 there->key);
    return FALSE;
  }
  return TRUE;
}

/* --- Copying --- */

static gboolean
merge_row (StudyStore *store, StudyStore *from, StudyRow *row, GError **error)
{
  g_autoptr (GError) trouble = NULL;
  g_autoptr (StudyRow) here = study_store_find (store, row->key, &trouble);

  if (trouble != NULL) {
    g_propagate_error (error, g_steal_pointer (&trouble));
    return FALSE;
  }
  if (here != NULL && here->status == STUDY_DONE)
    return row->status != STUDY_DONE || check_same (here, row, store, from, error);
  if (here != NULL && row->status != STUDY_DONE)
    return TRUE;
  return study_store_load_blobs (from, row, error) && study_store_insert_row (store, row, error);
}

static gboolean
merge_rows (StudyStore *store, StudyStore *from, GError **error)
{
  g_autoptr (sqlite3_stmt) statement =
      study_store_prepare (from, "SELECT rowid, * FROM runs ORDER BY rowid", error);
  StudyStoreRecord record = { from, statement, "runs", G_MININT64 };
  gboolean has_row = statement != NULL;

  while (has_row) {
    g_autoptr (StudyRow) row = NULL;

    if (!study_store_step (from, statement, &has_row, error))
      return FALSE;
    row = has_row ? study_store_row_at (&record, FALSE, error) : NULL;
    if (has_row && (row == NULL || !merge_row (store, from, row, error)))
      return FALSE;
  }
  return statement != NULL;
}

/* A table whose rows are known by their content. */
typedef struct {
  const char *name;
  const char *select; /* the rowid, then its columns */
  const char *insert; /* from those columns */
  gboolean (*check) (StudyStoreRecord *record, GError **error);
} Table;

static gboolean
copy_record (StudyStore *store, const StudyStoreRecord *record, sqlite3_stmt *target,
             GError **error)
{
  for (int at = 1; at < sqlite3_column_count (record->statement); at++)
    sqlite3_bind_value (target, at, sqlite3_column_value (record->statement, at));
  return study_store_run (store, target, error);
}

static gboolean
merge_table (StudyStore *store, StudyStore *from, const Table *table, GError **error)
{
  g_autoptr (sqlite3_stmt) source = study_store_prepare (from, table->select, error);
  g_autoptr (sqlite3_stmt) target =
      source != NULL ? study_store_prepare (store, table->insert, error) : NULL;
  StudyStoreRecord record = { from, source, table->name, G_MININT64 };
  gboolean has_row = target != NULL;

  while (has_row)
    if (!study_store_step (from, source, &has_row, error) ||
        (has_row &&
         (!table->check (&record, error) || !copy_record (store, &record, target, error))))
      return FALSE;
  return target != NULL;
}

/* A store that has no plan yet takes the other's, in its order. */
static gboolean
merge_plan (StudyStore *store, StudyStore *from, GError **error)
{
#define SELECT_PLAN "SELECT place, * FROM plan ORDER BY place"
  static const Table study = { "study", "SELECT rowid, * FROM study",
                               "INSERT OR REPLACE INTO study VALUES (?, ?, ?)",
                               study_store_check_study_record };
  static const Table whole = { "plan", SELECT_PLAN,
                               "INSERT INTO plan VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                               study_store_check_plan_record };
  static const Table behind = {
    "plan", SELECT_PLAN,
    "INSERT INTO plan SELECT (SELECT 1 + max(place) FROM plan), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
    " ?10 WHERE ?1 >= 0 AND NOT EXISTS (SELECT 1 FROM plan WHERE key = ?2 AND trace IS ?3"
    " AND machine IS ?4 AND mapping IS ?5 AND repetition IS ?10)",
    study_store_check_plan_record
  };
  guint n_here;

  if (!study_store_plan_size (store, &n_here, error))
    return FALSE;
  if (n_here > 0)
    return merge_table (store, from, &behind, error);
  return merge_table (store, from, &study, error) && merge_table (store, from, &whole, error);
}

static gboolean
merge_all (StudyStore *store, StudyStore *from, GError **error)
{
  static const Table tables[] = {
    { "machines", "SELECT rowid, * FROM machines ORDER BY rowid",
      "INSERT OR IGNORE INTO machines VALUES (?, ?)", study_store_check_machine_record },
    { "placements", "SELECT rowid, * FROM placements ORDER BY rowid",
      "INSERT OR IGNORE INTO placements VALUES (?, ?, ?)", study_store_check_places_record },
    { "edges", "SELECT rowid, * FROM edges ORDER BY rowid",
      "INSERT OR IGNORE INTO edges VALUES (?, ?, ?, ?)", study_store_check_edges_record },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (tables); at++)
    if (!merge_table (store, from, &tables[at], error))
      return FALSE;
  return merge_rows (store, from, error) && merge_plan (store, from, error);
}

static gboolean
merge_from (StudyStore *store, StudyStore *from, GError **error)
{
  /* What is read is of one moment, even if somebody writes to it. */
  return study_store_exec (from, "BEGIN", error) && check_versions (store, from, error) &&
         study_store_begin (store, error) &&
         study_store_end (store, merge_all (store, from, error), error) &&
         study_store_check_place (store, error);
}

gboolean
study_store_merge (StudyStore *store, const char *from_path, GError **error)
{
  g_autoptr (StudyStore) from = study_store_open (from_path, STUDY_STORE_READ, error);
  const char *here = sqlite3_db_filename (store->db, "main");

  if (from == NULL)
    return FALSE;
  if (g_strcmp0 (here, sqlite3_db_filename (from->db, "main")) == 0) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_STORE, "%s: a store is not merged into itself",
                 from_path);
    return FALSE;
  }
  return merge_from (store, from, error);
}
