/* store_plan.c - the study of a store: its file and the runs that it lists.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/store/row_fields.h"
#include "study/store/store_private.h"

#include <float.h>
#include <math.h>

#define INSERT       "INSERT INTO plan VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
#define PLAN_COLUMNS 10

static void
bind_row (sqlite3_stmt *statement, gint64 place, const StudyRow *row)
{
  const char *const names[] = { row->key,     row->trace,   row->machine,
                                row->mapping, row->network, row->routing };
  int at = 1;

  sqlite3_bind_int64 (statement, at++, place);
  for (gsize name = 0; name < G_N_ELEMENTS (names); name++)
    study_store_bind_text (statement, at++, names[name]);
  sqlite3_bind_double (statement, at++, row->compute_scale); /* NaN binds NULL */
  sqlite3_bind_int64 (statement, at++, (sqlite3_int64) row->seed);
  sqlite3_bind_int64 (statement, at, row->repetition);
}

static gboolean
put_study (StudyStore *store, const char *name, const char *file_text, GError **error)
{
  g_autoptr (sqlite3_stmt) statement =
      study_store_prepare (store, "INSERT OR REPLACE INTO study VALUES (1, ?, ?)", error);

  if (statement == NULL)
    return FALSE;
  study_store_bind_text (statement, 1, name);
  study_store_bind_text (statement, 2, file_text);
  return study_store_run (store, statement, error);
}

static gboolean
put_plan (StudyStore *store, StudyRow *const *rows, guint n_rows, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = study_store_prepare (store, INSERT, error);

  if (statement == NULL || !study_store_exec (store, "DELETE FROM plan", error))
    return FALSE;
  for (guint at = 0; at < n_rows; at++) {
    bind_row (statement, at, rows[at]);
    if (!study_store_run (store, statement, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
study_store_set_plan (StudyStore *store, const char *name, const char *file_text,
                      StudyRow *const *rows, guint n_rows, GError **error)
{
  return study_store_begin (store, error) &&
         study_store_end (store,
                          put_study (store, name, file_text, error) &&
                              put_plan (store, rows, n_rows, error),
                          error);
}

/* --- Out --- */

/* What the plan says about a run: the columns of its table from the key, column `at`, on. */
static StudyRow *
named_row (StudyStoreRecord *record, int at, GError **error)
{
  g_autoptr (StudyRow) row = study_row_new ();
  const struct {
    const char *name;
    char **to;
  } names[] = { { "trace", &row->trace },
                { "machine", &row->machine },
                { "mapping", &row->mapping },
                { "network", &row->network },
                { "routing", &row->routing } };
  gint64 seed, repetition;
  const char *text;

  if (!study_store_next_record (record, error) ||
      !study_store_hash_cell (record, at++, "key", FALSE, &text, error))
    return NULL;
  row->key = g_strdup (text);
  for (gsize name = 0; name < G_N_ELEMENTS (names); name++) {
    if (!study_store_text_cell (record, at++, names[name].name, STUDY_STORE_MAX_NAME, FALSE, &text,
                                error))
      return NULL;
    *names[name].to = g_strdup (text);
  }
  if (!study_store_real_cell (record, at, "compute_scale", 0, DBL_MAX, &row->compute_scale,
                              error) ||
      !study_store_integer_cell (record, at + 1, "seed", G_MININT64, G_MAXINT64, &seed, error) ||
      !study_store_integer_cell (record, at + 2, "repetition", 0, G_MAXUINT32, &repetition, error))
    return NULL;
  row->seed = (uint64_t) seed;
  row->repetition = (uint32_t) repetition;
  return g_steal_pointer (&row);
}

gboolean
study_store_check_plan_record (StudyStoreRecord *record, GError **error)
{
  g_autoptr (StudyRow) row = named_row (record, 2, error);

  return row != NULL;
}

gboolean
study_store_plan_size (StudyStore *store, guint *n_runs, GError **error)
{
  g_autoptr (sqlite3_stmt) statement =
      study_store_prepare (store, "SELECT place FROM plan ORDER BY place", error);
  StudyStoreRecord record = { store, statement, "plan", -1 };
  gboolean has_row = statement != NULL;
  guint n = 0;

  while (has_row) {
    if (!study_store_step (store, statement, &has_row, error) ||
        (has_row && !study_store_next_record (&record, error)))
      return FALSE;
    n += (guint) has_row;
  }
  if (statement != NULL)
    *n_runs = n;
  return statement != NULL;
}

GPtrArray *
study_store_missing (StudyStore *store, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = study_store_prepare (
      store,
      "SELECT * FROM plan WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.key = plan.key)"
      " ORDER BY place",
      error);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);
  StudyStoreRecord record = { store, statement, "plan", -1 };
  gboolean has_row = statement != NULL;

  while (has_row) {
    StudyRow *row;

    if (!study_store_step (store, statement, &has_row, error))
      return NULL;
    if (!has_row)
      break;
    row = named_row (&record, 1, error);
    if (row == NULL)
      return NULL;
    g_ptr_array_add (rows, row);
  }
  return statement != NULL ? g_steal_pointer (&rows) : NULL;
}

static void
progress_free (gpointer data)
{
  StudyProgress *progress = data;

  g_free (progress->trace);
  g_free (progress->machine);
  g_free (progress->network);
  g_free (progress->routing);
  g_free (progress);
}

/* The case of a row, made when it is the first one of it. */
static StudyProgress *
progress_of (GPtrArray *cases, GHashTable *by_name, StudyRow *row)
{
  char scale[G_ASCII_DTOSTR_BUF_SIZE];
  g_autofree char *name =
      g_strdup_printf ("%s\n%s\n%s\n%s\n%s", row->trace, row->machine, row->network, row->routing,
                       g_ascii_dtostr (scale, sizeof scale, row->compute_scale));
  StudyProgress *progress = g_hash_table_lookup (by_name, name);

  if (progress != NULL)
    return progress;
  progress = g_new (StudyProgress, 1);
  *progress =
      (StudyProgress){ .trace = g_steal_pointer (&row->trace),
                       .machine = g_steal_pointer (&row->machine),
                       .network = g_steal_pointer (&row->network),
                       .routing = g_steal_pointer (&row->routing),
                       .compute_scale = isnan (row->compute_scale) ? 0 : row->compute_scale };
  g_hash_table_insert (by_name, g_steal_pointer (&name), progress);
  g_ptr_array_add (cases, progress);
  return progress;
}

/* A row of the plan, the rowid and the status of its run. */
static gboolean
count_run (StudyStoreRecord *record, GPtrArray *cases, GHashTable *by_name, GError **error)
{
  g_autoptr (StudyRow) row = named_row (record, 1, error);
  StudyStoreRecord run = { record->store, record->statement, "runs", 0 };
  StudyProgress *progress;
  StudyStatus status;

  if (row == NULL)
    return FALSE;
  progress = progress_of (cases, by_name, row);
  progress->n_runs++;
  if (sqlite3_column_type (record->statement, PLAN_COLUMNS) == SQLITE_NULL)
    return TRUE;
  run.row = sqlite3_column_int64 (record->statement, PLAN_COLUMNS);
  if (!study_store_status_cell (&run, PLAN_COLUMNS + 1, &status, error))
    return FALSE;
  progress->n_done += status == STUDY_DONE;
  progress->n_failed += status == STUDY_FAILED;
  return TRUE;
}

GPtrArray *
study_store_progress (StudyStore *store, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = study_store_prepare (
      store,
      "SELECT plan.*, runs.rowid, runs.status FROM plan LEFT JOIN runs ON runs.key = plan.key"
      " ORDER BY place",
      error);
  g_autoptr (GPtrArray) cases = g_ptr_array_new_with_free_func (progress_free);
  g_autoptr (GHashTable) by_name = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  StudyStoreRecord record = { store, statement, "plan", -1 };
  gboolean has_row = statement != NULL;

  while (has_row)
    if (!study_store_step (store, statement, &has_row, error) ||
        (has_row && !count_run (&record, cases, by_name, error)))
      return NULL;
  return statement != NULL ? g_steal_pointer (&cases) : NULL;
}

gboolean
study_store_check_study_record (StudyStoreRecord *record, GError **error)
{
  const char *text;

  return study_store_next_record (record, error) &&
         study_store_text_cell (record, 2, "name", STUDY_STORE_MAX_NAME, TRUE, &text, error) &&
         study_store_text_cell (record, 3, "file", STUDY_STORE_MAX_TEXT, TRUE, &text, error);
}

/* A text of the one row of the table study, "" when there is none yet. */
static char *
study_text (StudyStore *store, int at, GError **error)
{
  g_autoptr (sqlite3_stmt) statement =
      study_store_prepare (store, "SELECT rowid, * FROM study WHERE id = 1", error);
  StudyStoreRecord record = { store, statement, "study", 0 };
  gboolean has_row;
  const char *text;

  if (statement == NULL || !study_store_step (store, statement, &has_row, error) ||
      (has_row && !study_store_check_study_record (&record, error)))
    return NULL;
  text = has_row ? (const char *) sqlite3_column_text (statement, at) : NULL;
  return g_strdup (text != NULL ? text : "");
}

char *
study_store_name (StudyStore *store, GError **error)
{
  return study_text (store, 2, error);
}

char *
study_store_file_text (StudyStore *store, GError **error)
{
  return study_text (store, 3, error);
}
