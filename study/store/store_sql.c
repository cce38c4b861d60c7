/* store_sql.c - the lock of a store, its SQL statements and cells, its schema.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * SQLite lets several processes write by turns, but two of them that run the
 * same study would make every run twice.  There are two locks.  One is POSIX's on a file
 * beside the store: the kernel releases it however the process ends, children do not
 * inherit it, network file systems know it, and it says which process has it.  But
 * two paths of one store (a symbolic or a hard link) have two such files.  The other is on the
 * store itself, on a byte behind those that SQLite locks.  It belongs to the open file
 * (F_OFD_SETLK): SQLite unlocks the whole file for the process when it has
 * finished with it.
 *
 * Closing a file ends all POSIX locks that the process has on it, SQLite's too, so that
 * the store is opened here before SQLite opens it and closed after SQLite has closed it. */
#include "study/store/row_fields.h"
#include "study/store/store_private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* SQLite's locks are on 512 bytes from 2^30 on. */
#define LOCK_BYTE ((off_t) 0x40010000)

struct StudyLock {
  char *path;         /* of the store */
  char *beside;       /* of the file beside it; NULL: not locked yet */
  int fd, beside_fd;  /* -1: not open */
  struct stat status; /* of the store */
  pid_t owner;
};

/* Locks that this process holds (element-type StudyLock), and its id: a child inherits none.
 * POSIX locks belong to a process: a second lock on the same file would be granted, and its end
 * would end the first. */
static GPtrArray *held;
static pid_t holder;

static gboolean
is_same_file (const struct stat *left, const struct stat *right)
{
  return left->st_dev == right->st_dev && left->st_ino == right->st_ino;
}

static gboolean
fail (const char *path, const char *beside, const char *trouble, GError **error)
{
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_STORE, "%s: cannot be written: %s%s%s", path,
               beside != NULL ? beside : "", beside != NULL ? ": " : "", trouble);
  return FALSE;
}

static gboolean
busy (const char *path, pid_t owner, GError **error)
{
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_BUSY,
               "%s: process %d writes to it; only one may at a time", path, (int) owner);
  return FALSE;
}

/* --- The file beside the store --- */

/* FALSE without an error: the file was removed by its last owner meanwhile. */
static gboolean
lock_beside (int fd, const char *path, const char *beside, GError **error)
{
  struct flock range = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
  struct flock other = range;
  struct stat opened, there;

  if (fcntl (fd, F_SETLK, &range) != 0) {
    if (errno != EACCES && errno != EAGAIN)
      return fail (path, beside, g_strerror (errno), error);
    if (fcntl (fd, F_GETLK, &other) != 0 || other.l_type == F_UNLCK)
      other.l_pid = 0;
    return busy (path, other.l_pid, error);
  }
  return fstat (fd, &opened) == 0 && stat (beside, &there) == 0 && is_same_file (&opened, &there);
}

static gboolean
open_beside (StudyLock *lock, GError **error)
{
  g_autofree char *beside = g_strconcat (lock->path, "-lock", NULL);

  for (;;) {
    g_autoptr (GError) trouble = NULL;
    int fd = g_open (beside, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);

    if (fd < 0)
      return fail (lock->path, beside, g_strerror (errno), error);
    if (lock_beside (fd, lock->path, beside, &trouble)) {
      lock->beside_fd = fd;
      lock->beside = g_steal_pointer (&beside);
      return TRUE;
    }
    close (fd);
    if (trouble != NULL) {
      g_propagate_error (error, g_steal_pointer (&trouble));
      return FALSE;
    }
  }
}

/* --- The store --- */

static gboolean
open_store (StudyLock *lock, gboolean create, GError **error)
{
  struct flock range = {
    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_BYTE, .l_len = 1
  };

  lock->fd = g_open (lock->path, O_RDWR | O_CLOEXEC | O_NONBLOCK | (create ? O_CREAT : 0), 0644);
  if (lock->fd < 0 || fstat (lock->fd, &lock->status) != 0)
    return fail (lock->path, NULL, g_strerror (errno), error);
  if (!S_ISREG (lock->status.st_mode))
    return fail (lock->path, NULL, "not a regular file", error);
  /* Where there are no such locks the file beside the store is the only one. */
  if (fcntl (lock->fd, F_OFD_SETLK, &range) == 0 || (errno != EACCES && errno != EAGAIN))
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_BUSY,
               "%s: another process writes to it by another path (a link); only one may at a time",
               lock->path);
  return FALSE;
}

StudyLock *
study_lock_new (const char *path, gboolean create, GError **error)
{
  g_autoptr (StudyLock) lock = g_new0 (StudyLock, 1);
  struct stat status;
  gboolean exists = stat (path, &status) == 0;

  if (held == NULL || holder != getpid ()) {
    g_clear_pointer (&held, g_ptr_array_unref);
    held = g_ptr_array_new ();
    holder = getpid ();
  }
  *lock = (StudyLock){ .path = g_strdup (path), .fd = -1, .beside_fd = -1, .owner = holder };
  /* Opening and closing the file again would end SQLite's locks. */
  for (guint at = 0; exists && at < held->len; at++)
    if (is_same_file (&((const StudyLock *) g_ptr_array_index (held, at))->status, &status)) {
      busy (path, holder, error);
      return NULL;
    }
  if (!open_beside (lock, error) || !open_store (lock, create, error))
    return NULL;
  g_ptr_array_add (held, lock);
  return g_steal_pointer (&lock);
}

void
study_lock_free (StudyLock *lock)
{
  if (lock == NULL)
    return;
  if (lock->owner == getpid ()) {
    g_ptr_array_remove_fast (held, lock);
    /* Removed while it is locked: a process that waits for it finds that it is gone. */
    if (lock->beside != NULL)
      g_unlink (lock->beside);
  }
  if (lock->fd >= 0)
    close (lock->fd);
  if (lock->beside_fd >= 0)
    close (lock->beside_fd);
  g_free (lock->beside);
  g_free (lock->path);
  g_free (lock);
}

StudyLockState
study_lock_state (const StudyLock *lock, char **path)
{
  g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", lock->fd);
  g_autofree char *now = NULL;
  struct stat status;

  *path = NULL;
  if (stat (lock->path, &status) == 0 && is_same_file (&status, &lock->status))
    return STUDY_LOCK_IN_PLACE;
  if (fstat (lock->fd, &status) == 0 && status.st_nlink == 0)
    return STUDY_LOCK_REMOVED;
  now = g_file_read_link (link, NULL);
  if (now != NULL && stat (now, &status) == 0 && is_same_file (&status, &lock->status))
    *path = g_steal_pointer (&now);
  return STUDY_LOCK_RENAMED;
}

/* --- SQLite's statements and cells, with errors that name the store --- */

#define HASH_LENGTH 64 /* of SHA-256, in hexadecimal */

/* Text for a failed system call, which SQLite describes in its own terms; NULL: SQLite's text
 * is the best there is. */
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
  case SQLITE_NOTADB: return "not a hopcast store";
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
study_store_run (StudyStore *store, sqlite3_stmt *statement, GError **error)
{
  int code = sqlite3_step (statement);
  gboolean done = code == SQLITE_ROW || code == SQLITE_DONE || study_store_fail (store, error);

  /* It returns the code of the step. */
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
study_store_number (StudyStore *store, const char *sql, gint64 *number, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = study_store_prepare (store, sql, error);
  int code;

  if (statement == NULL)
    return FALSE;
  code = sqlite3_step (statement);
  *number = code == SQLITE_ROW ? sqlite3_column_int64 (statement, 0) : 0;
  return code == SQLITE_ROW || code == SQLITE_DONE || study_store_fail (store, error);
}

/* --- Cells --- */

gboolean
study_store_bad_cell (const StudyStoreCursor *cursor, const char *column, GError **error,
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
               cursor->store->path, cursor->table, cursor->row, column, text);
  return FALSE;
}

static gboolean
bad_type (const StudyStoreCursor *cursor, int at, const char *column, const char *expected,
          GError **error)
{
  int type = sqlite3_column_type (cursor->statement, at);
  const char *found = type == SQLITE_INTEGER ? "an integer"
                      : type == SQLITE_FLOAT ? "a real number"
                      : type == SQLITE_TEXT  ? "a text"
                      : type == SQLITE_BLOB  ? "a blob"
                                             : "NULL";

  return study_store_bad_cell (cursor, column, error, "expected %s, found %s", expected, found);
}

StudyStoreCursor
study_store_select (StudyStore *store, const char *table, gint64 after, const char *sql,
                    const char *key, GError **error)
{
  StudyStoreCursor cursor = { .store = store,
                              .statement = study_store_prepare (store, sql, error),
                              .table = table,
                              .row = after };

  cursor.failed = cursor.statement == NULL;
  if (key != NULL && !cursor.failed)
    study_store_bind_text (cursor.statement, 1, key);
  return cursor;
}

gboolean
study_store_next (StudyStoreCursor *cursor, GError **error)
{
  gint64 before = cursor->row;
  int code;

  if (cursor->failed)
    return FALSE;
  cursor->failed = TRUE;
  code = sqlite3_step (cursor->statement);
  if (code != SQLITE_ROW && code != SQLITE_DONE)
    return study_store_fail (cursor->store, error);
  if (code == SQLITE_ROW) {
    if (sqlite3_column_type (cursor->statement, 0) != SQLITE_INTEGER)
      return bad_type (cursor, 0, "rowid", "an integer", error);
    cursor->row = sqlite3_column_int64 (cursor->statement, 0);
    if (cursor->row <= before)
      return study_store_bad_cell (cursor, "rowid", error, "it follows row %" G_GINT64_FORMAT,
                                   before);
  }
  cursor->failed = FALSE;
  return code == SQLITE_ROW;
}

gboolean
study_store_text_cell (const StudyStoreCursor *cursor, int at, const char *column, gsize max_bytes,
                       gboolean may_be_null, const char **text, GError **error)
{
  int type = sqlite3_column_type (cursor->statement, at);
  gsize n_bytes;

  *text = NULL;
  if (type == SQLITE_NULL && may_be_null)
    return TRUE;
  if (type != SQLITE_TEXT)
    return bad_type (cursor, at, column, "a text", error);
  *text = (const char *) sqlite3_column_text (cursor->statement, at);
  n_bytes = (gsize) sqlite3_column_bytes (cursor->statement, at);
  if (*text == NULL)
    return study_store_bad_cell (cursor, column, error, "no memory is left to read it");
  if (n_bytes > max_bytes)
    return study_store_bad_cell (cursor, column, error,
                                 "a text of %" G_GSIZE_FORMAT " bytes; at most %" G_GSIZE_FORMAT
                                 " are allowed",
                                 n_bytes, max_bytes);
  return memchr (*text, '\0', n_bytes) == NULL ||
         study_store_bad_cell (cursor, column, error, "a text with a zero byte in it");
}

gboolean
study_store_hash_cell (const StudyStoreCursor *cursor, int at, const char *column,
                       gboolean may_be_null, const char **hash, GError **error)
{
  if (!study_store_text_cell (cursor, at, column, STUDY_STORE_MAX_NAME, may_be_null, hash, error))
    return FALSE;
  if (*hash == NULL ||
      (strlen (*hash) == HASH_LENGTH && strspn (*hash, "0123456789abcdef") == HASH_LENGTH))
    return TRUE;
  return study_store_bad_cell (cursor, column, error,
                               "expected a SHA-256 of %d hexadecimal digits, found \"%.80s\"",
                               HASH_LENGTH, *hash);
}

gboolean
study_store_integer_cell (const StudyStoreCursor *cursor, int at, const char *column, gint64 least,
                          gint64 most, gint64 *number, GError **error)
{
  if (sqlite3_column_type (cursor->statement, at) != SQLITE_INTEGER)
    return bad_type (cursor, at, column, "an integer", error);
  *number = sqlite3_column_int64 (cursor->statement, at);
  return (*number >= least && *number <= most) ||
         study_store_bad_cell (cursor, column, error,
                               "%" G_GINT64_FORMAT " is not within %" G_GINT64_FORMAT
                               " to %" G_GINT64_FORMAT,
                               *number, least, most);
}

gboolean
study_store_real_cell (const StudyStoreCursor *cursor, int at, const char *column, double least,
                       double most, double *number, GError **error)
{
  int type = sqlite3_column_type (cursor->statement, at);

  *number = (double) NAN;
  if (type == SQLITE_NULL)
    return TRUE;
  if (type != SQLITE_FLOAT && type != SQLITE_INTEGER)
    return bad_type (cursor, at, column, "a number", error);
  *number = sqlite3_column_double (cursor->statement, at);
  return (*number >= least && *number <= most) ||
         study_store_bad_cell (cursor, column, error, "%g is not within %g to %g", *number, least,
                               most);
}

gboolean
study_store_words_cell (const StudyStoreCursor *cursor, int at, const char *column,
                        gboolean may_be_null, gsize least, gsize most, uint64_t **words,
                        gsize *n_words, GError **error)
{
  int type = sqlite3_column_type (cursor->statement, at);

  *words = NULL;
  *n_words = 0;
  if (type == SQLITE_NULL && may_be_null)
    return TRUE;
  if (type != SQLITE_BLOB)
    return bad_type (cursor, at, column, "a blob", error);
  if (least > STUDY_STORE_MAX_WORDS)
    return study_store_bad_cell (
        cursor, column, error, "its row asks for %" G_GSIZE_FORMAT " words; at most %d are allowed",
        least, STUDY_STORE_MAX_WORDS);
  *words = study_unpack_words (sqlite3_column_blob (cursor->statement, at),
                               (gsize) sqlite3_column_bytes (cursor->statement, at), most, n_words);
  if (*words != NULL && *n_words >= least)
    return TRUE;
  g_clear_pointer (words, g_free);
  if (least == most)
    return study_store_bad_cell (
        cursor, column, error, "expected %" G_GSIZE_FORMAT " words in zlib's format, found others",
        most);
  return study_store_bad_cell (cursor, column, error,
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

/* --- The tables of a store --- */

/* doc/handbook/format-store.md describes them.  A change of the tables is a change of
 * STUDY_STORE_VERSION. */

/* A run may stand in several places of plans under several names. */
gboolean
study_store_is_plans (const char *name)
{
  return !strcmp (name, "trace") || !strcmp (name, "machine") || !strcmp (name, "mapping") ||
         !strcmp (name, "repetition") || !strcmp (name, "replica");
}

/* Chunks, packets that waited and dilations of messages are features since version 3. */
static gboolean
is_since_3 (const char *name)
{
  return strstr (name, "_chunks") != NULL || strstr (name, "_waited") != NULL ||
         !strcmp (name, "sum_message_dilation_AO");
}

/* The parts of the critical path are, since version 4. */
static gboolean
is_since_4 (const char *name)
{
  return g_str_has_prefix (name, "path_");
}

/* The name of a field in tables of that version; NULL: they do not have it. */
static const char *
name_in (const StudyField *field, int version)
{
  static const char *const since_2[] = { "replica", "jitter_s", "mean_end_s", "shrink_factor",
                                         NULL };

  if (version >= 4)
    return field->name;
  if (is_since_4 (field->name))
    return NULL;
  if (version == 3)
    return field->name;
  if (is_since_3 (field->name))
    return NULL;
  if (version == 2)
    return field->name;
  if (!strcmp (field->name, "shrink"))
    return "grain";
  return g_strv_contains (since_2, field->name) ? NULL : field->name;
}

static void
add_results (GString *sql, int version)
{
  for (guint at = 0; at < study_row_n_fields (); at++) {
    const char *name = name_in (study_row_field (at), version);

    if (name == NULL)
      continue;
    g_string_append_printf (sql, ", %s.\"%s\" AS \"%s\"",
                            study_store_is_plans (name) ? "plan" : "runs", name, name);
  }
  g_string_append (sql, " FROM plan JOIN runs ON runs.key = plan.key ORDER BY place");
}

char *
study_store_results_sql (void)
{
  GString *sql = g_string_new ("SELECT place, runs.rowid");

  add_results (sql, STUDY_STORE_VERSION);
  return g_string_free (sql, FALSE);
}

/* The tables that differ between versions. */
static void
add_run_tables (GString *sql, int version)
{
  g_string_append_printf (
      sql,
      "CREATE TABLE plan (place INTEGER PRIMARY KEY, key TEXT NOT NULL, trace TEXT, machine TEXT,"
      " mapping TEXT, network TEXT, routing TEXT, compute_scale REAL, seed INTEGER,"
      " repetition INTEGER%s);"
      "CREATE INDEX plan_keys ON plan (key);",
      version >= 2 ? ", replica INTEGER" : "");
  g_string_append (sql, "CREATE TABLE runs (");
  for (guint at = 0; at < study_row_n_fields (); at++) {
    const StudyField *field = study_row_field (at);
    const char *name = name_in (field, version);
    const char *type = field->kind == STUDY_FIELD_REAL ? "REAL"
                       : field->kind == STUDY_FIELD_U32 || field->kind == STUDY_FIELD_U64
                           ? "INTEGER"
                           : "TEXT";

    if (name != NULL)
      g_string_append_printf (sql, "%s\"%s\" %s%s", at > 0 ? ", " : "", name, type,
                              at == 0 ? " PRIMARY KEY NOT NULL" : "");
  }
  g_string_append (sql, ");CREATE VIEW results AS SELECT place");
  add_results (sql, version);
  g_string_append_c (sql, ';');
}

static void
add_race_table (GString *sql)
{
  g_string_append (
      sql,
      "CREATE TABLE race (place INTEGER PRIMARY KEY, number INTEGER NOT NULL, key TEXT NOT NULL,"
      " outcome TEXT NOT NULL, draws INTEGER NOT NULL, time_s REAL, behind REAL, margin REAL);");
}

static void
add_tables (GString *sql, int version)
{
  g_string_append (
      sql, "CREATE TABLE study (id INTEGER PRIMARY KEY CHECK (id = 1), name TEXT, file TEXT);"
           "CREATE TABLE blobs (key TEXT PRIMARY KEY NOT NULL, link_bytes BLOB, rank_times BLOB);"
           "CREATE TABLE machines (hash TEXT PRIMARY KEY NOT NULL, text TEXT NOT NULL);"
           "CREATE TABLE placements (hash TEXT PRIMARY KEY NOT NULL, ranks INTEGER NOT NULL,"
           " places BLOB NOT NULL);"
           "CREATE TABLE edges (trace_hash TEXT PRIMARY KEY NOT NULL, ranks INTEGER NOT NULL,"
           " edges INTEGER NOT NULL, data BLOB NOT NULL);");
  add_run_tables (sql, version);
  if (version >= 2)
    add_race_table (sql);
}

gboolean
study_store_create_tables (StudyStore *store, GError **error)
{
  g_autoptr (GString) sql = g_string_new (NULL);

  g_string_append_printf (sql, "PRAGMA application_id = %d; PRAGMA user_version = %d;",
                          STUDY_STORE_APPLICATION_ID, STUDY_STORE_VERSION);
  add_tables (sql, STUDY_STORE_VERSION);
  return study_store_begin (store, error) &&
         study_store_end (store, study_store_exec (store, sql->str, error), error);
}

/* What a field of this version is in a row of an older one, as SQL; the caller g_free()s. */
static char *
value_from (const StudyField *field, int version)
{
  const char *name = field->name, *before = name_in (field, version);

  if (is_since_4 (name))
    return g_strdup ("NULL");
  if (version == 3)
    return g_strdup_printf ("\"%s\"", name);
  if (version == 1 && !strcmp (name, "shrink"))
    return g_strdup ("replace (grain, 'exact', 'off')");
  if (version == 1 && !strcmp (name, "shrink_factor"))
    return g_strdup ("CASE status WHEN 'done' THEN 1 END");
  /* Up to version 2 buffers were the packets that had to wait, delays their share of all. */
  if (g_str_has_prefix (name, "avg_waited") || g_str_has_prefix (name, "max_waited"))
    return g_strdup_printf ("\"%.3s_buffer%s\"", name, name + strlen ("avg_waited"));
  if (strstr (name, "_buffer") != NULL || strstr (name, "_delay") != NULL || is_since_3 (name) ||
      (before == NULL && !strcmp (name, "mean_end_s")))
    return g_strdup ("NULL");
  return before == NULL ? g_strdup ("0") : g_strdup_printf ("\"%s\"", before);
}

gboolean
study_store_migrate (StudyStore *store, int version, GError **error)
{
  g_autoptr (GString) sql = g_string_new (NULL);
  g_autoptr (GString) values = g_string_new (NULL);

  g_string_append_printf (
      sql,
      "PRAGMA user_version = %d; DROP VIEW results; DROP INDEX plan_keys;"
      "ALTER TABLE plan RENAME TO old_plan; ALTER TABLE runs RENAME TO old_runs;",
      STUDY_STORE_VERSION);
  add_run_tables (sql, STUDY_STORE_VERSION);
  if (version == 1)
    add_race_table (sql);
  for (guint at = 0; at < study_row_n_fields (); at++) {
    g_autofree char *value = value_from (study_row_field (at), version);

    g_string_append_printf (values, "%s%s", at > 0 ? ", " : "", value);
  }
  g_string_append_printf (sql,
                          "INSERT INTO plan SELECT *%s FROM old_plan;"
                          "INSERT INTO runs SELECT %s FROM old_runs ORDER BY rowid;"
                          "DROP TABLE old_plan; DROP TABLE old_runs;",
                          version == 1 ? ", 0" : "", values->str);
  return study_store_begin (store, error) &&
         study_store_end (store, study_store_exec (store, sql->str, error), error);
}

/* --- Checking --- */

/* The entries of the schema: "type name of table" with its SQL, "" for the indices that SQLite
 * makes itself. (key-type utf8) (value-type utf8) */
static GHashTable *
read_schema (StudyStore *store, GError **error)
{
  g_auto (StudyStoreCursor) cursor = study_store_select (
      store, "sqlite_schema", G_MININT64,
      "SELECT rowid, type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid", NULL, error);
  g_autoptr (GHashTable) entries = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  while (study_store_next (&cursor, error)) {
    const char *type, *name, *table, *sql;

    if (!study_store_text_cell (&cursor, 1, "type", STUDY_STORE_MAX_NAME, FALSE, &type, error) ||
        !study_store_text_cell (&cursor, 2, "name", STUDY_STORE_MAX_NAME, FALSE, &name, error) ||
        !study_store_text_cell (&cursor, 3, "tbl_name", STUDY_STORE_MAX_NAME, FALSE, &table,
                                error) ||
        !study_store_text_cell (&cursor, 4, "sql", STUDY_STORE_MAX_NAME, TRUE, &sql, error))
      return NULL;
    g_hash_table_insert (entries, g_strdup_printf ("%s %s of %s", type, name, table),
                         g_strdup (sql != NULL ? sql : ""));
  }
  return cursor.failed ? NULL : g_steal_pointer (&entries);
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
study_store_check_tables (StudyStore *store, int version, GError **error)
{
  g_autoptr (GHashTable) found = read_schema (store, error);
  g_autoptr (GHashTable) expected = NULL;
  g_autoptr (GString) sql = g_string_new (NULL);
  StudyStore model = { .path = store->path };

  if (found == NULL)
    return FALSE;
  /* SQLite makes the expected schema in memory, so that its indices are named alike. */
  add_tables (sql, version);
  if (sqlite3_open (":memory:", &model.db) == SQLITE_OK &&
      study_store_exec (&model, sql->str, error))
    expected = read_schema (&model, error);
  sqlite3_close (model.db);
  return expected != NULL &&
         has_all (store, expected, found, "is missing or differs from that of hopcast's stores",
                  error) &&
         has_all (store, found, expected, "hopcast's stores have none of that name", error);
}
