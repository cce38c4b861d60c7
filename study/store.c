/* store.c - the file in which the runs of a study are kept: opening and closing it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/store_private.h"

#include <errno.h>
#include <glib/gstdio.h>

/* How long another program (the sqlite3 shell, say) may keep us waiting. */
#define BUSY_TIMEOUT_MS 10000

static gboolean
refuse (const StudyStore *store, StudyError code, const char *text, GError **error)
{
  g_set_error (error, STUDY_ERROR, code, "%s: %s", store->path, text);
  return FALSE;
}

/* --- Connections --- */

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
  return TRUE;
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
  static const char *const look = "SELECT count(*) FROM sqlite_schema";
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
                 "%s: a store of version %" G_GINT64_FORMAT ", which nobody knows", store->path,
                 version);
  return FALSE;
}

/* A file without tables is one that was just made, or whose maker was killed. */
static gboolean
check_kind (StudyStore *store, StudyStoreMode mode, GError **error)
{
  gint64 application, version, n_tables;

  if (!study_store_number (store, "PRAGMA application_id", 0, &application, error) ||
      !study_store_number (store, "PRAGMA user_version", 0, &version, error) ||
      !study_store_number (store, "SELECT count(*) FROM sqlite_schema", 0, &n_tables, error))
    return FALSE;
  if (application == 0 && n_tables == 0 && mode == STUDY_STORE_CREATE)
    return study_store_create_tables (store, error);
  if (application != STUDY_STORE_APPLICATION_ID)
    return refuse (store, STUDY_ERROR_STORE, "no store of hopcast", error);
  return check_version (store, version, error);
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
open_store (StudyStore *store, StudyStoreMode mode, GError **error)
{
  if (mode != STUDY_STORE_CREATE && g_access (store->path, F_OK) != 0)
    return refuse (store, STUDY_ERROR_STORE, g_strerror (errno), error);
  if (g_file_test (store->path, G_FILE_TEST_IS_DIR))
    return refuse (store, STUDY_ERROR_STORE, "is a folder, no store", error);
  if (mode == STUDY_STORE_READ)
    return connect_to_read (store, error) && check_kind (store, mode, error);
  store->lock = study_lock_new (store->path, error);
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

const char *
study_store_path (const StudyStore *store)
{
  return store->path;
}
