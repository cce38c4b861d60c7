/* store.c - the file in which the runs of a study are kept: opening and closing it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/store/store_private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long another program (the sqlite3 shell, say) may keep us waiting. */
#define BUSY_TIMEOUT_MS 10000

/* As SQLite's page on databases from others has it. */
#define MAX_SQL_BYTES  100000
#define MAX_COLUMNS    100
#define MAX_EXPRESSION 20
#define MAX_OPERATIONS 25000

static gboolean
refuse (const StudyStore *store, StudyError code, const char *text, GError **error)
{
  g_set_error (error, STUDY_ERROR, code, "%s: %s", store->path, text);
  return FALSE;
}

/* --- Connections --- */

/* A store may come from anybody.  Nothing of its schema is a program that may run here
 * (study_store_check_tables() refuses it later), and nothing of it is larger than it
 * may be. */
static gboolean
harden (StudyStore *store, GError **error)
{
  static const struct {
    int option, value;
  } options[] = {
    { SQLITE_DBCONFIG_DEFENSIVE, 1 },
    { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
    { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
    { SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
    { SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
  };
  static const struct {
    int limit, value;
  } limits[] = {
    { SQLITE_LIMIT_LENGTH, STUDY_STORE_MAX_BYTES },
    { SQLITE_LIMIT_SQL_LENGTH, MAX_SQL_BYTES },
    { SQLITE_LIMIT_COLUMN, MAX_COLUMNS },
    { SQLITE_LIMIT_VARIABLE_NUMBER, MAX_COLUMNS },
    { SQLITE_LIMIT_EXPR_DEPTH, MAX_EXPRESSION },
    { SQLITE_LIMIT_VDBE_OP, MAX_OPERATIONS },
    { SQLITE_LIMIT_COMPOUND_SELECT, 1 },
    { SQLITE_LIMIT_ATTACHED, 0 },
    { SQLITE_LIMIT_TRIGGER_DEPTH, 0 },
    { SQLITE_LIMIT_WORKER_THREADS, 0 },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (options); at++)
    sqlite3_db_config (store->db, options[at].option, options[at].value, NULL);
  for (gsize at = 0; at < G_N_ELEMENTS (limits); at++)
    sqlite3_limit (store->db, limits[at].limit, limits[at].value);
  return study_store_exec (store, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", error);
}

/* A journal beside the store may end in the path of a second journal, of a transaction over several
 * databases, which SQLite reads and deletes: any file, in a journal from somebody else.
 * Stores have no such transactions. */
static gboolean
check_journal (const StudyStore *store, GError **error)
{
  static const guchar magic[] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
  g_autofree char *real = realpath (store->path, NULL);
  g_autofree char *path = g_strconcat (real != NULL ? real : store->path, "-journal", NULL);
  int fd = g_open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  guchar end[sizeof magic];
  gboolean has_path;

  if (fd < 0)
    return TRUE;
  has_path = lseek (fd, -(off_t) sizeof end, SEEK_END) >= 0 &&
             read (fd, end, sizeof end) == (gssize) sizeof end &&
             memcmp (end, magic, sizeof magic) == 0;
  close (fd);
  if (has_path)
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_DAMAGED,
                 "%s: the journal %s names another file, which no store of hopcast does; remove it",
                 store->path, path);
  return !has_path;
}

/* By its absolute path: SQLite has meanings of its own for ":memory:" and "". */
static gboolean
connect_to (StudyStore *store, int flags, gboolean is_immutable, GError **error)
{
  g_autofree char *path = g_canonicalize_filename (store->path, NULL);
  g_autofree char *uri = is_immutable ? g_filename_to_uri (path, NULL, error) : NULL;
  g_autofree char *name = is_immutable ? g_strconcat (uri, "?immutable=1", NULL) : g_strdup (path);

  if (is_immutable && uri == NULL)
    return FALSE;
  sqlite3_close (store->db);
  if (sqlite3_open_v2 (name, &store->db, flags | (is_immutable ? SQLITE_OPEN_URI : 0), NULL) !=
      SQLITE_OK)
    return store->db != NULL
               ? study_store_fail (store, error)
               : refuse (store, STUDY_ERROR_STORE, "no memory is left to open it", error);
  sqlite3_busy_timeout (store->db, BUSY_TIMEOUT_MS);
  return harden (store, error);
}

static gboolean
has_wal (const StudyStore *store)
{
  g_autofree char *path = g_strconcat (store->path, "-wal", NULL);
  GStatBuf status;

  return g_stat (path, &status) == 0 && status.st_size > 0;
}

/* Who reads writes to a file beside the store, so that nobody overwrites what is
 * being read, and may write, so that the last one who has it open leaves one file
 * only.  On media where that is not possible nobody overwrites anything either, which
 * SQLite must be told. */
static gboolean
connect_to_read (StudyStore *store, GError **error)
{
  static const char *const look = "SELECT 1 FROM sqlite_schema LIMIT 1";
  int code;

  if (!connect_to (store, SQLITE_OPEN_READWRITE, FALSE, error))
    return FALSE;
  sqlite3_exec (store->db, "PRAGMA query_only = 1", NULL, NULL, NULL);
  code = sqlite3_exec (store->db, look, NULL, NULL, NULL) & 0xff;
  if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY)
    return code == SQLITE_OK || study_store_fail (store, error);
  if (has_wal (store))
    return refuse (store, STUDY_ERROR_STORE,
                   "it was not closed, and it is where nothing can be written; copy it and "
                   "its -wal file to another place",
                   error);
  return connect_to (store, SQLITE_OPEN_READONLY, TRUE, error) &&
         study_store_exec (store, look, error);
}

static gboolean
connect_to_write (StudyStore *store, StudyStoreMode mode, GError **error)
{
  int flags = SQLITE_OPEN_READWRITE | (mode == STUDY_STORE_CREATE ? SQLITE_OPEN_CREATE : 0);

  if (!connect_to (store, flags, FALSE, error))
    return FALSE;
  return sqlite3_db_readonly (store->db, "main") != 1 ||
         refuse (store, STUDY_ERROR_STORE, "cannot be written", error);
}

/* --- What is it? --- */

static gboolean
check_version (const StudyStore *store, gint64 version, GError **error)
{
  if (version == STUDY_STORE_VERSION)
    return TRUE;
  if (version > STUDY_STORE_VERSION)
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_VERSION,
                 "%s: a store of version %" G_GINT64_FORMAT
                 ", made by a newer hopcast; this one knows version %d",
                 store->path, version, STUDY_STORE_VERSION);
  else
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_VERSION,
                 "%s: a store of version %" G_GINT64_FORMAT ", which is none of hopcast's",
                 store->path, version);
  return FALSE;
}

/* A file without tables is one that was just made, or whose maker was killed. */
static gboolean
check_kind (StudyStore *store, StudyStoreMode mode, GError **error)
{
  gint64 application, version, has_tables;

  if (!study_store_number (store, "PRAGMA application_id", 0, &application, error) ||
      !study_store_number (store, "PRAGMA user_version", 0, &version, error) ||
      !study_store_number (store, "SELECT 1 FROM sqlite_schema LIMIT 1", 0, &has_tables, error))
    return FALSE;
  if (application == 0 && has_tables == 0 && mode == STUDY_STORE_CREATE)
    return study_store_create_tables (store, error);
  if (application != STUDY_STORE_APPLICATION_ID)
    return refuse (store, STUDY_ERROR_STORE, "no store of hopcast", error);
  return check_version (store, version, error) && study_store_check_tables (store, error);
}

/* With a write-ahead log nobody who reads waits for who writes, and a commit that was
 * made outlives the process.  NORMAL does not wait for the disk at each: a
 * power failure may cost the last rows, never the store. */
static gboolean
prepare_to_write (StudyStore *store, GError **error)
{
  return study_store_exec (store, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", error);
}

static gboolean
check_file (const StudyStore *store, StudyStoreMode mode, GError **error)
{
  GStatBuf status;

  if (g_stat (store->path, &status) != 0)
    return (mode == STUDY_STORE_CREATE && errno == ENOENT) ||
           refuse (store, STUDY_ERROR_STORE, g_strerror (errno), error);
  if (S_ISDIR (status.st_mode))
    return refuse (store, STUDY_ERROR_STORE, "is a folder, no store", error);
  return S_ISREG (status.st_mode) ||
         refuse (store, STUDY_ERROR_STORE, "is not a regular file, no store", error);
}

static gboolean
open_store (StudyStore *store, StudyStoreMode mode, GError **error)
{
  if (!check_file (store, mode, error) || !check_journal (store, error))
    return FALSE;
  if (mode == STUDY_STORE_READ)
    return connect_to_read (store, error) && check_kind (store, mode, error);
  store->lock = study_lock_new (store->path, mode == STUDY_STORE_CREATE, error);
  return store->lock != NULL && connect_to_write (store, mode, error) &&
         check_kind (store, mode, error) && prepare_to_write (store, error);
}

StudyStore *
study_store_open (const char *path, StudyStoreMode mode, GError **error)
{
  g_autoptr (StudyStore) store = g_new0 (StudyStore, 1);

  store->path = g_strdup (path);
  store->known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return open_store (store, mode, error) ? g_steal_pointer (&store) : NULL;
}

void
study_store_free (StudyStore *store)
{
  if (store == NULL)
    return;
  sqlite3_finalize (store->drop_failed);
  sqlite3_finalize (store->put_run);
  sqlite3_finalize (store->put_blobs);
  sqlite3_close (store->db);
  /* After the last write. */
  study_lock_free (store->lock);
  g_hash_table_unref (store->known);
  g_free (store->path);
  g_free (store);
}

/* --- Is it still there? --- */

/* SQLite does not bring the log of a renamed file into it on closing, as the log of a
 * new file may have its name by then.  The log that is left is empty, and is removed where
 * no other file has the store's name. */
static void
finish_renamed (StudyStore *store)
{
  static const char *const endings[] = { "-wal", "-shm" };

  sqlite3_wal_checkpoint_v2 (store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
  for (gsize at = 0; at < G_N_ELEMENTS (endings); at++) {
    g_autofree char *beside = g_strconcat (store->path, endings[at], NULL);

    if (g_access (store->path, F_OK) != 0)
      g_unlink (beside);
  }
}

static gboolean
tell_moved (const StudyStore *store, StudyLockState state, const char *path, GError **error)
{
  if (state == STUDY_LOCK_REMOVED)
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_MOVED,
                 "%s: was removed while it was written to; the runs that it had are lost",
                 store->path);
  else
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_MOVED,
                 "%s: was renamed%s%s while it was written to; the runs stored before are in the "
                 "renamed file, which is not written to any more",
                 store->path, path != NULL ? " to " : "", path != NULL ? path : "");
  return FALSE;
}

/* What was committed to a renamed file is brought into it. */
gboolean
study_store_check_place (StudyStore *store, GError **error)
{
  g_autofree char *path = NULL;
  int has_moved = 0;
  StudyLockState state;

  if (store->lock == NULL)
    return TRUE;
  state = study_lock_state (store->lock, &path);
  /* The file that SQLite has open is the locked one, unless it was replaced between. */
  sqlite3_file_control (store->db, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
  if (state == STUDY_LOCK_IN_PLACE && !has_moved)
    return TRUE;
  if (state == STUDY_LOCK_IN_PLACE)
    state = STUDY_LOCK_RENAMED;
  if (!store->moved && state == STUDY_LOCK_RENAMED)
    finish_renamed (store);
  store->moved = TRUE;
  return tell_moved (store, state, path, error);
}

const char *
study_store_path (const StudyStore *store)
{
  return store->path;
}
