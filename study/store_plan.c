/* store_plan.c - the study of a store: its file and the runs that it lists.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/row_fields.h"
#include "study/store_private.h"

#include <math.h>

#define INSERT "INSERT INTO plan VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

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

gboolean
study_store_plan_size (StudyStore *store, guint *n_runs, GError **error)
{
  gint64 number = 0;

  if (!study_store_number (store, "SELECT count(*) FROM plan", 0, &number, error))
    return FALSE;
  *n_runs = (guint) number;
  return TRUE;
}

/* What the plan says about a run: columns in the order of the table. */
static StudyRow *
named_row (sqlite3_stmt *statement)
{
  StudyRow *row = study_row_new ();
  char **const names[] = { &row->key,     &row->trace,   &row->machine,
                           &row->mapping, &row->network, &row->routing };
  int at = 1;

  for (gsize name = 0; name < G_N_ELEMENTS (names); name++)
    *names[name] = g_strdup ((const char *) sqlite3_column_text (statement, at++));
  row->compute_scale = sqlite3_column_type (statement, at) == SQLITE_NULL
                           ? (double) NAN
                           : sqlite3_column_double (statement, at);
  row->seed = (uint64_t) sqlite3_column_int64 (statement, ++at);
  row->repetition = (uint32_t) sqlite3_column_int64 (statement, ++at);
  return row;
}

GPtrArray *
study_store_missing (StudyStore *store, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = study_store_prepare (
      store, "SELECT * FROM plan WHERE key NOT IN (SELECT key FROM runs) ORDER BY place", error);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);
  gboolean has_row = statement != NULL;

  while (has_row) {
    if (!study_store_step (store, statement, &has_row, error))
      return NULL;
    if (has_row)
      g_ptr_array_add (rows, named_row (statement));
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

static StudyProgress *
progress_at (sqlite3_stmt *statement)
{
  StudyProgress *progress = g_new0 (StudyProgress, 1);
  char **const texts[] = { &progress->trace, &progress->machine, &progress->network,
                           &progress->routing };

  for (int at = 0; at < (int) G_N_ELEMENTS (texts); at++)
    *texts[at] = g_strdup ((const char *) sqlite3_column_text (statement, at));
  progress->compute_scale = sqlite3_column_double (statement, 4);
  progress->n_runs = (guint) sqlite3_column_int64 (statement, 5);
  progress->n_done = (guint) sqlite3_column_int64 (statement, 6);
  progress->n_failed = (guint) sqlite3_column_int64 (statement, 7);
  return progress;
}

GPtrArray *
study_store_progress (StudyStore *store, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = study_store_prepare (
      store,
      "SELECT plan.trace, plan.machine, plan.network, plan.routing, plan.compute_scale, count(*),"
      " sum(runs.status IS 'done'), sum(runs.status IS 'failed')"
      " FROM plan LEFT JOIN runs ON runs.key = plan.key GROUP BY 1, 2, 3, 4, 5 ORDER BY min(place)",
      error);
  g_autoptr (GPtrArray) cases = g_ptr_array_new_with_free_func (progress_free);
  gboolean has_row = statement != NULL;

  while (has_row) {
    if (!study_store_step (store, statement, &has_row, error))
      return NULL;
    if (has_row)
      g_ptr_array_add (cases, progress_at (statement));
  }
  return statement != NULL ? g_steal_pointer (&cases) : NULL;
}

/* A text of the one row of the table study, "" when there is none yet. */
static char *
study_text (StudyStore *store, const char *sql, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = study_store_prepare (store, sql, error);
  gboolean has_row;
  const char *text;

  if (statement == NULL || !study_store_step (store, statement, &has_row, error))
    return NULL;
  text = has_row ? (const char *) sqlite3_column_text (statement, 0) : NULL;
  return g_strdup (text != NULL ? text : "");
}

char *
study_store_name (StudyStore *store, GError **error)
{
  return study_text (store, "SELECT name FROM study", error);
}

char *
study_store_file_text (StudyStore *store, GError **error)
{
  return study_text (store, "SELECT file FROM study", error);
}
