/* store_sql.c - SQLite's statements and cells, with errors that name the store.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/store/packed.h"
#include "study/store/store_private.h"

#include <math.h>
#include <string.h>

#define HASH_LENGTH 64 /* of SHA-256, in hexadecimal */

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
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_DAMAGED, "%s: the store is damaged: %s", store->path,
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

/* --- Cells --- */

gboolean
study_store_bad_cell (const StudyStoreRecord *record, const char *column, GError **error,
                      const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_DAMAGED,
               "%s: table %s, row %" G_GINT64_FORMAT ", column %s: %s; the store is damaged or was "
               "changed by another program",
               record->store->path, record->table, record->row, column, text);
  return FALSE;
}

static const char *
type_name (int type)
{
  switch (type) {
  case SQLITE_INTEGER: return "an integer";
  case SQLITE_FLOAT: return "a real number";
  case SQLITE_TEXT: return "a text";
  case SQLITE_BLOB: return "a blob";
  default: return "NULL";
  }
}

static gboolean
bad_type (const StudyStoreRecord *record, int at, const char *column, const char *expected,
          GError **error)
{
  return study_store_bad_cell (record, column, error, "expected %s, found %s", expected,
                               type_name (sqlite3_column_type (record->statement, at)));
}

gboolean
study_store_next_record (StudyStoreRecord *record, GError **error)
{
  gint64 before = record->row;

  if (sqlite3_column_type (record->statement, 0) != SQLITE_INTEGER)
    return bad_type (record, 0, "rowid", "an integer", error);
  record->row = sqlite3_column_int64 (record->statement, 0);
  return record->row > before ||
         study_store_bad_cell (record, "rowid", error, "it follows row %" G_GINT64_FORMAT, before);
}

gboolean
study_store_text_cell (const StudyStoreRecord *record, int at, const char *column, gsize max_bytes,
                       gboolean may_be_null, const char **text, GError **error)
{
  int type = sqlite3_column_type (record->statement, at);
  gsize n_bytes;

  *text = NULL;
  if (type == SQLITE_NULL && may_be_null)
    return TRUE;
  if (type != SQLITE_TEXT)
    return bad_type (record, at, column, "a text", error);
  *text = (const char *) sqlite3_column_text (record->statement, at);
  n_bytes = (gsize) sqlite3_column_bytes (record->statement, at);
  if (*text == NULL)
    return study_store_bad_cell (record, column, error, "no memory is left to read it");
  if (n_bytes > max_bytes)
    return study_store_bad_cell (record, column, error,
                                 "a text of %" G_GSIZE_FORMAT " bytes; at most %" G_GSIZE_FORMAT
                                 " are possible",
                                 n_bytes, max_bytes);
  return memchr (*text, '\0', n_bytes) == NULL ||
         study_store_bad_cell (record, column, error, "a text with a zero byte in it");
}

gboolean
study_store_hash_cell (const StudyStoreRecord *record, int at, const char *column,
                       gboolean may_be_null, const char **hash, GError **error)
{
  if (!study_store_text_cell (record, at, column, STUDY_STORE_MAX_NAME, may_be_null, hash, error))
    return FALSE;
  if (*hash == NULL ||
      (strlen (*hash) == HASH_LENGTH && strspn (*hash, "0123456789abcdef") == HASH_LENGTH))
    return TRUE;
  return study_store_bad_cell (record, column, error,
                               "expected a SHA-256 of %d hexadecimal digits, found \"%.80s\"",
                               HASH_LENGTH, *hash);
}

gboolean
study_store_integer_cell (const StudyStoreRecord *record, int at, const char *column, gint64 least,
                          gint64 most, gint64 *number, GError **error)
{
  if (sqlite3_column_type (record->statement, at) != SQLITE_INTEGER)
    return bad_type (record, at, column, "an integer", error);
  *number = sqlite3_column_int64 (record->statement, at);
  return (*number >= least && *number <= most) ||
         study_store_bad_cell (record, column, error,
                               "%" G_GINT64_FORMAT " is not within %" G_GINT64_FORMAT
                               " to %" G_GINT64_FORMAT,
                               *number, least, most);
}

gboolean
study_store_real_cell (const StudyStoreRecord *record, int at, const char *column, double least,
                       double most, double *number, GError **error)
{
  int type = sqlite3_column_type (record->statement, at);

  *number = (double) NAN;
  if (type == SQLITE_NULL)
    return TRUE;
  if (type != SQLITE_FLOAT && type != SQLITE_INTEGER)
    return bad_type (record, at, column, "a number", error);
  *number = sqlite3_column_double (record->statement, at);
  return (*number >= least && *number <= most) ||
         study_store_bad_cell (record, column, error, "%g is not within %g to %g", *number, least,
                               most);
}

gboolean
study_store_words_cell (const StudyStoreRecord *record, int at, const char *column,
                        gboolean may_be_null, gsize least, gsize most, uint64_t **words,
                        gsize *n_words, GError **error)
{
  int type = sqlite3_column_type (record->statement, at);

  *words = NULL;
  *n_words = 0;
  if (type == SQLITE_NULL && may_be_null)
    return TRUE;
  if (type != SQLITE_BLOB)
    return bad_type (record, at, column, "a blob", error);
  if (least > STUDY_STORE_MAX_WORDS)
    return study_store_bad_cell (record, column, error,
                                 "its row asks for %" G_GSIZE_FORMAT
                                 " words; at most %d are possible",
                                 least, STUDY_STORE_MAX_WORDS);
  *words = study_unpack_words (sqlite3_column_blob (record->statement, at),
                               (gsize) sqlite3_column_bytes (record->statement, at), most, n_words);
  if (*words != NULL && *n_words >= least)
    return TRUE;
  g_clear_pointer (words, g_free);
  if (least == most)
    return study_store_bad_cell (
        record, column, error, "expected %" G_GSIZE_FORMAT " words in zlib's format, found others",
        most);
  return study_store_bad_cell (record, column, error,
                               "expected %" G_GSIZE_FORMAT " to %" G_GSIZE_FORMAT
                               " words in zlib's format, found others",
                               least, most);
}

/* --- Transactions --- */

gboolean
study_store_begin (StudyStore *store, GError **error)
{
  return study_store_check_place (store, error) &&
         study_store_exec (store, "BEGIN IMMEDIATE", error);
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
