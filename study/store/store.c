/* store.c - the file in which the runs of a study are kept: opening and closing it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/store/row_fields.h"
#include "study/store/store_private.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <glib/gstdio.h>
#include <math.h>
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
 * databases, which SQLite reads and deletes.  In a journal of unknown origin that path can be any
 * file.  Stores have no such transactions. */
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

/* A reader writes to a file beside the store, which protects the pages that it reads, and may
 * write to the store, so that the last connection leaves one file only.  On media that cannot be
 * written no process overwrites anything: SQLite opens the store as immutable. */
static gboolean
connect_to_read (StudyStore *store, GError **error)
{
  static const char *const look = "SELECT 1 FROM sqlite_schema LIMIT 1";
  g_autofree char *wal = g_strconcat (store->path, "-wal", NULL);
  GStatBuf status;
  int code;

  if (!connect_to (store, SQLITE_OPEN_READWRITE, FALSE, error))
    return FALSE;
  sqlite3_exec (store->db, "PRAGMA query_only = 1", NULL, NULL, NULL);
  code = sqlite3_exec (store->db, look, NULL, NULL, NULL) & 0xff;
  if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY)
    return code == SQLITE_OK || study_store_fail (store, error);
  if (g_stat (wal, &status) == 0 && status.st_size > 0)
    return refuse (store, STUDY_ERROR_STORE,
                   "it was not closed, and its folder cannot be written to; copy it and "
                   "its -wal file to another place",
                   error);
  return connect_to (store, SQLITE_OPEN_READONLY, TRUE, error) &&
         study_store_exec (store, look, error);
}

/* --- Opening --- */

/* From then on the store is a copy of the file in memory, which may be changed. */
static gboolean
copy_to_memory (StudyStore *store, GError **error)
{
  sqlite3 *from = store->db;
  sqlite3_backup *backup;
  gboolean copied;

  store->db = NULL;
  if (sqlite3_open (":memory:", &store->db) != SQLITE_OK || !harden (store, error)) {
    sqlite3_close (from);
    return FALSE;
  }
  backup = sqlite3_backup_init (store->db, "main", from, "main");
  copied = backup != NULL && sqlite3_backup_step (backup, -1) == SQLITE_DONE;
  copied = (backup == NULL || sqlite3_backup_finish (backup) == SQLITE_OK) && copied;
  if (!copied)
    study_store_fail (store, error);
  sqlite3_close (from);
  return copied;
}

/* A file without tables was just made, or the process that made it was killed. */
static gboolean
check_kind (StudyStore *store, StudyStoreMode mode, GError **error)
{
  gint64 application, version, has_tables;

  if (!study_store_number (store, "PRAGMA application_id", &application, error) ||
      !study_store_number (store, "PRAGMA user_version", &version, error) ||
      !study_store_number (store, "SELECT 1 FROM sqlite_schema LIMIT 1", &has_tables, error))
    return FALSE;
  if (application == 0 && has_tables == 0 && mode == STUDY_STORE_CREATE)
    return study_store_create_tables (store, error);
  if (application != STUDY_STORE_APPLICATION_ID)
    return refuse (store, STUDY_ERROR_STORE, "not a hopcast store", error);
  if (version == STUDY_STORE_VERSION)
    return study_store_check_tables (store, STUDY_STORE_VERSION, error);
  if (version >= 1 && version < STUDY_STORE_VERSION)
    return study_store_check_tables (store, (int) version, error) &&
           (mode != STUDY_STORE_READ || copy_to_memory (store, error)) &&
           study_store_migrate (store, (int) version, error) &&
           study_store_check_tables (store, STUDY_STORE_VERSION, error);
  if (version > STUDY_STORE_VERSION)
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_VERSION,
                 "%s: a store of version %" G_GINT64_FORMAT
                 ", made by a newer hopcast; this one reads versions up to %d",
                 store->path, version, STUDY_STORE_VERSION);
  else
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_VERSION,
                 "%s: unknown store version %" G_GINT64_FORMAT, store->path, version);
  return FALSE;
}

static gboolean
open_store (StudyStore *store, StudyStoreMode mode, GError **error)
{
  int flags = SQLITE_OPEN_READWRITE | (mode == STUDY_STORE_CREATE ? SQLITE_OPEN_CREATE : 0);
  GStatBuf status;

  if (g_stat (store->path, &status) == 0) {
    if (S_ISDIR (status.st_mode))
      return refuse (store, STUDY_ERROR_STORE, "is a folder", error);
    if (!S_ISREG (status.st_mode))
      return refuse (store, STUDY_ERROR_STORE, "is not a regular file", error);
  } else if (mode != STUDY_STORE_CREATE || errno != ENOENT)
    return refuse (store, STUDY_ERROR_STORE, g_strerror (errno), error);
  if (!check_journal (store, error))
    return FALSE;
  if (mode == STUDY_STORE_READ)
    return connect_to_read (store, error) && check_kind (store, mode, error);

  store->lock = study_lock_new (store->path, mode == STUDY_STORE_CREATE, error);
  if (store->lock == NULL || !connect_to (store, flags, FALSE, error))
    return FALSE;
  if (sqlite3_db_readonly (store->db, "main") == 1)
    return refuse (store, STUDY_ERROR_STORE, "cannot be written", error);
  /* With a write-ahead log readers do not wait for the writer, and a commit survives the process.
   * NORMAL does not wait for the disk at each commit: a power failure may cost the last rows,
   * never the store. */
  return check_kind (store, mode, error) &&
         study_store_exec (store, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", error);
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

/* Before it fails for a renamed file, the log is written into that file. */
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
  if (!store->moved && state == STUDY_LOCK_RENAMED) {
    /* SQLite does not bring the log of a renamed file into it on closing, as the log of a
     * new file may have its name by then.  The log that is left is empty, and is removed where
     * no other file has the store's name. */
    static const char *const endings[] = { "-wal", "-shm" };

    sqlite3_wal_checkpoint_v2 (store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    for (gsize at = 0; at < G_N_ELEMENTS (endings); at++) {
      g_autofree char *beside = g_strconcat (store->path, endings[at], NULL);

      if (g_access (store->path, F_OK) != 0)
        g_unlink (beside);
    }
  }
  store->moved = TRUE;
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

const char *
study_store_path (const StudyStore *store)
{
  return store->path;
}

/* --- The study of a store: its file and the runs that it lists --- */

#define PLAN_COLUMNS 11

/* In a transaction. */
static gboolean
put_plan (StudyStore *store, const char *name, const char *file_text, StudyRow *const *rows,
          guint n_rows, GError **error)
{
  g_autoptr (sqlite3_stmt) study =
      study_store_prepare (store, "INSERT OR REPLACE INTO study VALUES (1, ?, ?)", error);
  g_autoptr (sqlite3_stmt) plan = NULL;

  if (study == NULL)
    return FALSE;
  study_store_bind_text (study, 1, name);
  study_store_bind_text (study, 2, file_text);
  if (!study_store_run (store, study, error))
    return FALSE;
  plan = study_store_prepare (store, "INSERT INTO plan VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                              error);
  if (plan == NULL || !study_store_exec (store, "DELETE FROM plan; DELETE FROM race", error))
    return FALSE;
  for (guint at = 0; at < n_rows; at++) {
    const StudyRow *row = rows[at];
    const char *const names[] = { row->key,     row->trace,   row->machine,
                                  row->mapping, row->network, row->routing };
    int i = 1;

    sqlite3_bind_int64 (plan, i++, at);
    for (gsize column = 0; column < G_N_ELEMENTS (names); column++)
      study_store_bind_text (plan, i++, names[column]);
    sqlite3_bind_double (plan, i++, row->compute_scale); /* NaN binds NULL */
    sqlite3_bind_int64 (plan, i++, (sqlite3_int64) row->seed);
    sqlite3_bind_int64 (plan, i++, row->repetition);
    sqlite3_bind_int64 (plan, i, row->replica);
    if (!study_store_run (store, plan, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
study_store_set_plan (StudyStore *store, const char *name, const char *file_text,
                      StudyRow *const *rows, guint n_rows, GError **error)
{
  return study_store_begin (store, error) &&
         study_store_end (store, put_plan (store, name, file_text, rows, n_rows, error), error);
}

/* The columns of the table plan from the key, column `at`, on. */
static StudyRow *
named_row (const StudyStoreCursor *cursor, int at, GError **error)
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
  gint64 seed, repetition, replica;
  const char *text;

  if (!study_store_hash_cell (cursor, at++, "key", FALSE, &text, error))
    return NULL;
  row->key = g_strdup (text);
  for (gsize name = 0; name < G_N_ELEMENTS (names); name++) {
    if (!study_store_text_cell (cursor, at++, names[name].name, STUDY_STORE_MAX_NAME, FALSE, &text,
                                error))
      return NULL;
    *names[name].to = g_strdup (text);
  }
  if (!study_store_real_cell (cursor, at, "compute_scale", 0, DBL_MAX, &row->compute_scale,
                              error) ||
      !study_store_integer_cell (cursor, at + 1, "seed", G_MININT64, G_MAXINT64, &seed, error) ||
      !study_store_integer_cell (cursor, at + 2, "repetition", 0, G_MAXUINT32, &repetition,
                                 error) ||
      !study_store_integer_cell (cursor, at + 3, "replica", 0, G_MAXUINT32, &replica, error))
    return NULL;
  row->seed = (uint64_t) seed;
  row->repetition = (uint32_t) repetition;
  row->replica = (uint32_t) replica;
  return g_steal_pointer (&row);
}

gboolean
study_store_plan_size (StudyStore *store, guint *n_runs, GError **error)
{
  g_auto (StudyStoreCursor) cursor =
      study_store_select (store, "plan", -1, "SELECT place FROM plan ORDER BY place", NULL, error);
  guint n = 0;

  while (study_store_next (&cursor, error))
    n++;
  if (!cursor.failed)
    *n_runs = n;
  return !cursor.failed;
}

GPtrArray *
study_store_missing (StudyStore *store, GError **error)
{
  g_auto (StudyStoreCursor) cursor = study_store_select (
      store, "plan", -1,
      "SELECT * FROM plan WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.key = plan.key)"
      " ORDER BY place",
      NULL, error);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);

  while (study_store_next (&cursor, error)) {
    StudyRow *row = named_row (&cursor, 1, error);

    if (row == NULL)
      return NULL;
    g_ptr_array_add (rows, row);
  }
  return cursor.failed ? NULL : g_steal_pointer (&rows);
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

/* The case of a row, added when the row is its first. */
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

GPtrArray *
study_store_progress (StudyStore *store, GError **error)
{
  g_auto (StudyStoreCursor) cursor = study_store_select (
      store, "plan", -1,
      "SELECT plan.*, runs.rowid, runs.status FROM plan LEFT JOIN runs ON runs.key = plan.key"
      " ORDER BY place",
      NULL, error);
  g_autoptr (GPtrArray) cases = g_ptr_array_new_with_free_func (progress_free);
  g_autoptr (GHashTable) by_name = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  while (study_store_next (&cursor, error)) {
    g_autoptr (StudyRow) row = named_row (&cursor, 1, error);
    StudyStoreCursor run = { .store = store, .statement = cursor.statement, .table = "runs" };
    StudyProgress *progress;
    StudyStatus status;

    if (row == NULL)
      return NULL;
    progress = progress_of (cases, by_name, row);
    progress->n_runs++;
    if (sqlite3_column_type (cursor.statement, PLAN_COLUMNS) == SQLITE_NULL)
      continue;
    run.row = sqlite3_column_int64 (cursor.statement, PLAN_COLUMNS);
    if (!study_store_status_cell (&run, PLAN_COLUMNS + 1, &status, error))
      return NULL;
    progress->n_done += status == STUDY_DONE;
    progress->n_failed += status == STUDY_FAILED;
  }
  return cursor.failed ? NULL : g_steal_pointer (&cases);
}

/* --- Races --- */

void
study_race_row_free (StudyRaceRow *row)
{
  g_free (row->key);
  g_free (row->outcome);
  g_free (row->trace);
  g_free (row->machine);
  g_free (row->mapping);
  g_free (row->network);
  g_free (row->routing);
  g_free (row);
}

/* In a transaction. */
static gboolean
put_race (StudyStore *store, const GPtrArray *rows, GError **error)
{
  g_autoptr (sqlite3_stmt) insert =
      study_store_prepare (store, "INSERT INTO race VALUES (?, ?, ?, ?, ?, ?, ?, ?)", error);

  if (insert == NULL || !study_store_exec (store, "DELETE FROM race", error))
    return FALSE;
  for (guint at = 0; at < rows->len; at++) {
    const StudyRaceRow *row = g_ptr_array_index (rows, at);

    sqlite3_bind_int64 (insert, 1, at);
    sqlite3_bind_int64 (insert, 2, row->number);
    study_store_bind_text (insert, 3, row->key);
    study_store_bind_text (insert, 4, row->outcome);
    sqlite3_bind_int64 (insert, 5, row->n_draws);
    sqlite3_bind_double (insert, 6, row->time_s); /* NaN binds NULL */
    sqlite3_bind_double (insert, 7, row->behind);
    sqlite3_bind_double (insert, 8, row->margin);
    if (!study_store_run (store, insert, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
study_store_put_race (StudyStore *store, const GPtrArray *rows, GError **error)
{
  return study_store_begin (store, error) &&
         study_store_end (store, put_race (store, rows, error), error);
}

GPtrArray *
study_store_race (StudyStore *store, GError **error)
{
  /* Of a key that the plan lists several times, the first names. */
  g_auto (StudyStoreCursor) cursor = study_store_select (
      store, "race", -1,
      "SELECT race.place, number, outcome, draws, time_s, behind, margin, plan.* FROM race JOIN plan"
      " ON plan.key = race.key GROUP BY race.place HAVING plan.place = min(plan.place)"
      " ORDER BY race.place",
      NULL, error);
  g_autoptr (GPtrArray) rows =
      g_ptr_array_new_with_free_func ((GDestroyNotify) study_race_row_free);

  while (study_store_next (&cursor, error)) {
    g_autoptr (StudyRow) named = NULL;
    StudyRaceRow *row = g_new0 (StudyRaceRow, 1);
    const char *outcome;
    gint64 number, n_draws;

    g_ptr_array_add (rows, row);
    if (!study_store_integer_cell (&cursor, 1, "number", 0, G_MAXUINT32, &number, error) ||
        !study_store_text_cell (&cursor, 2, "outcome", STUDY_STORE_MAX_NAME, FALSE, &outcome,
                                error) ||
        !study_store_integer_cell (&cursor, 3, "draws", 0, G_MAXUINT32, &n_draws, error) ||
        !study_store_real_cell (&cursor, 4, "time_s", 0, DBL_MAX, &row->time_s, error) ||
        !study_store_real_cell (&cursor, 5, "behind", -DBL_MAX, DBL_MAX, &row->behind, error) ||
        !study_store_real_cell (&cursor, 6, "margin", -DBL_MAX, DBL_MAX, &row->margin, error) ||
        (named = named_row (&cursor, 8, error)) == NULL)
      return NULL;
    row->outcome = g_strdup (outcome);
    row->number = (guint) number;
    row->n_draws = (guint) n_draws;
    row->key = g_steal_pointer (&named->key);
    row->trace = g_steal_pointer (&named->trace);
    row->machine = g_steal_pointer (&named->machine);
    row->mapping = g_steal_pointer (&named->mapping);
    row->network = g_steal_pointer (&named->network);
    row->routing = g_steal_pointer (&named->routing);
  }
  return cursor.failed ? NULL : g_steal_pointer (&rows);
}

static gboolean
check_study_columns (const StudyStoreCursor *cursor, GError **error)
{
  const char *text;

  return study_store_text_cell (cursor, 2, "name", STUDY_STORE_MAX_NAME, TRUE, &text, error) &&
         study_store_text_cell (cursor, 3, "file", STUDY_STORE_MAX_TEXT, TRUE, &text, error);
}

/* A text of the one row of the table study, "" when there is none yet. */
static char *
study_text (StudyStore *store, int at, GError **error)
{
  g_auto (StudyStoreCursor) cursor = study_store_select (
      store, "study", 0, "SELECT rowid, * FROM study WHERE id = 1", NULL, error);
  const char *text = NULL;

  if (study_store_next (&cursor, error)) {
    if (!check_study_columns (&cursor, error))
      return NULL;
    text = (const char *) sqlite3_column_text (cursor.statement, at);
  }
  return cursor.failed ? NULL : g_strdup (text != NULL ? text : "");
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

/* --- Rows, and the contents that they name, stored together --- */

/* A transaction costs more than a row: runs that take milliseconds are stored many at a time. */

static void
packed_free (StudyPacked *packed)
{
  g_free (packed->hash);
  g_bytes_unref (packed->packed);
  g_free (packed);
}

StudyStoreGroup *
study_store_group_new (void)
{
  StudyStoreGroup *group = g_new (StudyStoreGroup, 1);

  group->placements = g_ptr_array_new_with_free_func ((GDestroyNotify) packed_free);
  group->edges = g_ptr_array_new_with_free_func ((GDestroyNotify) packed_free);
  group->rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);
  return group;
}

void
study_store_group_free (StudyStoreGroup *group)
{
  g_ptr_array_unref (group->placements);
  g_ptr_array_unref (group->edges);
  g_ptr_array_unref (group->rows);
  g_free (group);
}

void
study_store_group_add_places (StudyStoreGroup *group, const char *mapping_hash, uint32_t n_ranks,
                              GBytes *packed)
{
  const StudyPacked places = { g_strdup (mapping_hash), n_ranks, 0, packed };

  g_ptr_array_add (group->placements, g_memdup2 (&places, sizeof places));
}

void
study_store_group_add_edges (StudyStoreGroup *group, const char *trace_hash, uint32_t n_ranks,
                             uint64_t n_edges, GBytes *packed)
{
  const StudyPacked edges = { g_strdup (trace_hash), n_ranks, n_edges, packed };

  g_ptr_array_add (group->edges, g_memdup2 (&edges, sizeof edges));
}

static gboolean
put_all (StudyStore *store, const StudyStoreGroup *group, GError **error)
{
  gboolean done = TRUE;

  for (guint at = 0; done && at < group->placements->len; at++)
    done = study_store_put_places (store, g_ptr_array_index (group->placements, at), error);
  for (guint at = 0; done && at < group->edges->len; at++)
    done = study_store_put_edges (store, g_ptr_array_index (group->edges, at), error);
  for (guint at = 0; done && at < group->rows->len; at++)
    done = study_store_insert_row (store, g_ptr_array_index (group->rows, at), error);
  return done;
}

gboolean
study_store_put_group (StudyStore *store, StudyStoreGroup *group, GError **error)
{
  gboolean done = group->placements->len + group->edges->len + group->rows->len == 0 ||
                  (study_store_begin (store, error) &&
                   study_store_end (store, put_all (store, group, error), error));

  /* A failed transaction has stored none of the contents that it made known. */
  if (!done)
    g_hash_table_remove_all (store->known);
  g_ptr_array_set_size (group->placements, 0);
  g_ptr_array_set_size (group->edges, 0);
  g_ptr_array_set_size (group->rows, 0);
  return done;
}

/* --- Everything of one store into another --- */

/* The version of hopcast that made the listed runs of a store; NULL without an error: no run is
 * there.  Keys contain the version, so that one plan has one version. */
static char *
version_of (StudyStore *store, GError **error)
{
  g_auto (StudyStoreCursor) cursor = study_store_select (
      store, "runs", G_MININT64,
      "SELECT runs.rowid, version FROM plan JOIN runs ON runs.key = plan.key LIMIT 1", NULL, error);
  const char *version;

  if (!study_store_next (&cursor, error) ||
      !study_store_text_cell (&cursor, 1, "version", STUDY_STORE_MAX_NAME, FALSE, &version, error))
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

/* Results, timing aside, are the same whenever and wherever a run is made. */
static gboolean
check_same (const StudyRow *here, const StudyRow *there, StudyStore *store, StudyStore *from,
            GError **error)
{
  for (guint at = 0; at < study_row_n_fields (); at++) {
    const StudyField *field = study_row_field (at);
    gboolean is_real = field->kind == STUDY_FIELD_REAL;
    gboolean is_equal;

    if (field->offset <= G_STRUCT_OFFSET (StudyRow, error) ||
        (!is_real && field->kind != STUDY_FIELD_U64) || strcmp (field->name, "wall_s") == 0 ||
        strcmp (field->name, "peak_rss_bytes") == 0)
      continue;
    if (is_real) {
      double left = *(double *) study_row_at (here, field);
      double right = *(double *) study_row_at (there, field);

      is_equal = left == right || (isnan (left) && isnan (right));
    } else
      is_equal = study_row_integer (here, field) == study_row_integer (there, field);
    if (is_equal)
      continue;
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_CHANGED,
                 "%s: %s of %s on %s, mapping %s, differs from %s; one of the two was "
                 "changed or made by another program (key %.12s...)",
                 from->path, field->name, there->trace, there->machine, there->mapping, store->path,
                 there->key);
    return FALSE;
  }
  return TRUE;
}

/* A run that is done replaces a failed one; of two that are done the results must agree. */
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

/* A table whose rows are checked one by one and copied as they are. */
typedef struct {
  const char *name;
  const char *select; /* the rowid, then its columns */
  const char *insert; /* from those columns */
  gboolean (*check) (const StudyStoreCursor *cursor, GError **error);
} Table;

static gboolean
merge_table (StudyStore *store, StudyStore *from, const Table *table, GError **error)
{
  g_auto (StudyStoreCursor) cursor =
      study_store_select (from, table->name, G_MININT64, table->select, NULL, error);
  g_autoptr (sqlite3_stmt) target =
      cursor.failed ? NULL : study_store_prepare (store, table->insert, error);

  if (target == NULL)
    return FALSE;
  while (study_store_next (&cursor, error)) {
    if (!table->check (&cursor, error))
      return FALSE;
    for (int at = 1; at < sqlite3_column_count (cursor.statement); at++)
      sqlite3_bind_value (target, at, sqlite3_column_value (cursor.statement, at));
    if (!study_store_run (store, target, error))
      return FALSE;
  }
  return !cursor.failed;
}

/* The cursor is at a row of "SELECT place, * FROM plan". */
static gboolean
check_plan_columns (const StudyStoreCursor *cursor, GError **error)
{
  g_autoptr (StudyRow) row = named_row (cursor, 2, error);

  return row != NULL;
}

static gboolean
merge_all (StudyStore *store, StudyStore *from, GError **error)
{
#define SELECT_PLAN "SELECT place, * FROM plan ORDER BY place"
  static const Table contents[] = {
    { "machines", "SELECT rowid, * FROM machines ORDER BY rowid",
      "INSERT OR IGNORE INTO machines VALUES (?, ?)", study_store_check_machine_columns },
    { "placements", "SELECT rowid, * FROM placements ORDER BY rowid",
      "INSERT OR IGNORE INTO placements VALUES (?, ?, ?)", study_store_check_places_columns },
    { "edges", "SELECT rowid, * FROM edges ORDER BY rowid",
      "INSERT OR IGNORE INTO edges VALUES (?, ?, ?, ?)", study_store_check_edges_columns },
  };
  static const Table study = { "study", "SELECT rowid, * FROM study",
                               "INSERT OR REPLACE INTO study VALUES (?, ?, ?)",
                               check_study_columns };
  static const Table whole = { "plan", SELECT_PLAN,
                               "INSERT INTO plan VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                               check_plan_columns };
  static const Table behind = {
    "plan", SELECT_PLAN,
    "INSERT INTO plan SELECT (SELECT 1 + max(place) FROM plan), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
    " ?10, ?11 WHERE ?1 >= 0 AND NOT EXISTS (SELECT 1 FROM plan WHERE key = ?2 AND trace IS ?3"
    " AND machine IS ?4 AND mapping IS ?5 AND repetition IS ?10"
    " AND replica IS ?11)",
    check_plan_columns
  };
  guint n_here;

  for (gsize at = 0; at < G_N_ELEMENTS (contents); at++)
    if (!merge_table (store, from, &contents[at], error))
      return FALSE;

  g_auto (StudyStoreCursor) cursor = study_store_select (
      from, "runs", G_MININT64, "SELECT rowid, * FROM runs ORDER BY rowid", NULL, error);

  while (study_store_next (&cursor, error)) {
    g_autoptr (StudyRow) row = study_store_row_at (&cursor, FALSE, error);

    if (row == NULL || !merge_row (store, from, row, error))
      return FALSE;
  }
  if (cursor.failed || !study_store_plan_size (store, &n_here, error))
    return FALSE;
  /* A store that has no plan yet takes the other's, in its order. */
  if (n_here > 0)
    return merge_table (store, from, &behind, error);
  return merge_table (store, from, &study, error) && merge_table (store, from, &whole, error);
}

gboolean
study_store_merge (StudyStore *store, const char *from_path, GError **error)
{
  g_autoptr (StudyStore) from = study_store_open (from_path, STUDY_STORE_READ, error);
  const char *here = sqlite3_db_filename (store->db, "main");

  if (from == NULL)
    return FALSE;
  if (g_strcmp0 (here, sqlite3_db_filename (from->db, "main")) == 0) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_STORE, "%s: a store cannot be merged into itself",
                 from_path);
    return FALSE;
  }
  /* The transaction reads one moment of the other store, even while another process writes to it. */
  return study_store_exec (from, "BEGIN", error) && check_versions (store, from, error) &&
         study_store_begin (store, error) &&
         study_store_end (store, merge_all (store, from, error), error) &&
         study_store_check_place (store, error);
}
