/* store_sql.c - SQLite's statements, with errors that name the store.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/store_private.h"

/* What SQLite says about a failed system call is not what people look for; NULL:
 * it says it best. */
static const char *
cause (int code)
{
  if (code == SQLITE_IOERR_READ || code == SQLITE_IOERR_SHORT_READ)
    return "cannot be read";
  switch (code & 0xff) {
  case SQLITE_FULL: return "no space is left to write it";
  case SQLITE_IOERR:
  case SQLITE_READONLY:
  case SQLITE_PERM: return "cannot be written";
  case SQLITE_CANTOPEN: return "cannot be opened";
  case SQLITE_NOTADB: return "no store of hopcast";
  default: return NULL;
  }
}

gboolean
study_store_fail (const StudyStore *store, GError **error)
{
  int code = sqlite3_extended_errcode (store->db);
  int system_errno = sqlite3_system_errno (store->db);
  const char *text = cause (code);
  gboolean is_system = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;

  if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED)
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_BUSY, "%s: another program is writing to it",
                 store->path);
  else if ((code & 0xff) == SQLITE_CORRUPT)
    study_store_damaged (store, sqlite3_errmsg (store->db), error);
  else if (is_system && system_errno != 0)
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_STORE, "%s: %s: %s", store->path, text,
                 g_strerror (system_errno));
  else
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_STORE, "%s: %s", store->path,
                 text != NULL ? text : sqlite3_errmsg (store->db));
  return FALSE;
}

gboolean
study_store_damaged (const StudyStore *store, const char *what, GError **error)
{
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_STORE, "%s: the store is damaged: %s", store->path,
               what);
  return FALSE;
}

gboolean
study_store_exec (StudyStore *store, const char *sql, GError **error)
{
  return sqlite3_exec (store->db, sql, NULL, NULL, NULL) == SQLITE_OK ||
         study_store_fail (store, error);
}

sqlite3_stmt *
study_store_prepare (StudyStore *store, const char *sql, GError **error)
{
  sqlite3_stmt *statement = NULL;

  if (sqlite3_prepare_v2 (store->db, sql, -1, &statement, NULL) != SQLITE_OK)
    study_store_fail (store, error);
  return statement;
}

gboolean
study_store_step (StudyStore *store, sqlite3_stmt *statement, gboolean *has_row, GError **error)
{
  int code = sqlite3_step (statement);

  *has_row = code == SQLITE_ROW;
  return code == SQLITE_ROW || code == SQLITE_DONE || study_store_fail (store, error);
}

gboolean
study_store_run (StudyStore *store, sqlite3_stmt *statement, GError **error)
{
  gboolean has_row;
  gboolean done = study_store_step (store, statement, &has_row, error);

  /* The code that it returns is that of the step. */
  (void) sqlite3_reset (statement);
  return done;
}

void
study_store_bind_text (sqlite3_stmt *statement, int at, const char *text)
{
  /* NULL binds NULL. */
  sqlite3_bind_text (statement, at, text, -1, SQLITE_STATIC);
}

gboolean
study_store_number (StudyStore *store, const char *sql, gint64 otherwise, gint64 *number,
                    GError **error)
{
  g_autoptr (sqlite3_stmt) statement = study_store_prepare (store, sql, error);
  gboolean has_row;

  if (statement == NULL || !study_store_step (store, statement, &has_row, error))
    return FALSE;
  *number = has_row ? sqlite3_column_int64 (statement, 0) : otherwise;
  return TRUE;
}

gboolean
study_store_begin (StudyStore *store, GError **error)
{
  return study_store_exec (store, "BEGIN IMMEDIATE", error);
}

gboolean
study_store_end (StudyStore *store, gboolean done, GError **error)
{
  if (done)
    done = study_store_exec (store, "COMMIT", error);
  /* Some errors end the transaction themselves. */
  if (!done && !sqlite3_get_autocommit (store->db))
    sqlite3_exec (store->db, "ROLLBACK", NULL, NULL, NULL);
  return done;
}
