/* store_private.h - declarations that the parts of the store share; private to them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "study/store/store.h"

#include <sqlite3.h>

typedef struct StudyLock StudyLock;

struct StudyStore {
  char *path; /* as it was given */
  sqlite3 *db;
  StudyLock *lock;   /* of the one that writes; NULL: reads */
  GHashTable *known; /* (element-type utf8) hashes of machines and placements that are in it */
  gboolean moved;    /* study_store_check_place() has found that it is */
  /* Of study_store_insert_row(), prepared when first used. */
  sqlite3_stmt *drop_failed, *put_run, *put_blobs;
};

G_DEFINE_AUTOPTR_CLEANUP_FUNC (sqlite3_stmt, sqlite3_finalize)

/* --- store_sql.c: the lock --- */

/* The right to write to a store, which ends with the process however it ends.
 * STUDY_ERROR_BUSY when another process has it, by whatever path.  To be taken before
 * SQLite opens the file, and freed after SQLite has closed it. */
StudyLock *study_lock_new (const char *path, gboolean create, GError **error);
void study_lock_free (StudyLock *lock);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyLock, study_lock_free)

/* Whether the locked file still is the one that the path names. */
typedef enum { STUDY_LOCK_IN_PLACE, STUDY_LOCK_RENAMED, STUDY_LOCK_REMOVED } StudyLockState;
/* *path: of a renamed file where it is now, if that is known; the caller frees it. */
StudyLockState study_lock_state (const StudyLock *lock, char **path);

/* --- store_sql.c: statements, with errors that name the store --- */

/* *error from SQLite's last error; always FALSE. */
gboolean study_store_fail (const StudyStore *store, GError **error);
/* *error for a file with contents that no store has; always FALSE. */
gboolean study_store_damaged (const StudyStore *store, const char *what, GError **error);
gboolean study_store_exec (StudyStore *store, const char *sql, GError **error);
sqlite3_stmt *study_store_prepare (StudyStore *store, const char *sql, GError **error);
/* One statement with text parameters and no result; NULL is NULL. */
gboolean study_store_run (StudyStore *store, sqlite3_stmt *statement, GError **error);
void study_store_bind_text (sqlite3_stmt *statement, int at, const char *text);
/* The first column of the first row as a number; 0 when there is no row. */
gboolean study_store_number (StudyStore *store, const char *sql, gint64 *number, GError **error);

/* --- store_sql.c: cells.  Stores come from anybody: nothing of a row is used before
 * its type and range are checked, and an error names store, table, row and column. --- */

/* No text or blob is longer, and no blob unpacks to more words, whatever a row says. */
#define STUDY_STORE_MAX_BYTES (1 << 29)
#define STUDY_STORE_MAX_WORDS (1 << 25)
/* Names, paths and specs; machine files, study files, errors and lists of warnings. */
#define STUDY_STORE_MAX_NAME (1 << 20)
#define STUDY_STORE_MAX_TEXT (1 << 26)

/* A query and its current row.  It ends with the block in which it is declared g_auto(). */
typedef struct {
  const StudyStore *store;
  sqlite3_stmt *statement; /* the first column is the rowid */
  const char *table;       /* named in errors */
  gint64 row;              /* SQLite's rowid */
  gboolean failed;
} StudyStoreCursor;

static inline void
study_store_cursor_clear (StudyStoreCursor *cursor)
{
  sqlite3_finalize (cursor->statement);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (StudyStoreCursor, study_store_cursor_clear)

/* key: the text parameter of the query, borrowed; NULL: it has none.  Rowids must be above `after`.
 * When the query cannot be prepared the cursor has failed. */
StudyStoreCursor study_store_select (StudyStore *store, const char *table, gint64 after,
                                     const char *sql, const char *key, GError **error);
/* Goes to the next row; FALSE at the end, or with *error when the cursor has failed.  Rowids
 * ascend: a damaged tree of pages can show the same rows for ever. */
gboolean study_store_next (StudyStoreCursor *cursor, GError **error);

/* *error for a value that cannot be; always FALSE. */
gboolean study_store_bad_cell (const StudyStoreCursor *cursor, const char *column, GError **error,
                               const char *format, ...) G_GNUC_PRINTF (4, 5);
/* *text lives until the statement goes on; NULL only for NULL, which must be allowed. */
gboolean
study_store_text_cell (const StudyStoreCursor *cursor, int at, const char *column, gsize max_bytes,
                       gboolean may_be_null, const char **text, GError **error);
/* A text that is a SHA-256 in hexadecimal. */
gboolean study_store_hash_cell (const StudyStoreCursor *cursor, int at, const char *column,
                                gboolean may_be_null, const char **hash, GError **error);
gboolean study_store_integer_cell (const StudyStoreCursor *cursor, int at, const char *column,
                                   gint64 least, gint64 most, gint64 *number, GError **error);
/* NaN for NULL. */
gboolean study_store_real_cell (const StudyStoreCursor *cursor, int at, const char *column,
                                double least, double most, double *number, GError **error);
/* A blob of least to most words; the caller g_free()s them.  NULL only for NULL. */
gboolean study_store_words_cell (const StudyStoreCursor *cursor, int at, const char *column,
                                 gboolean may_be_null, gsize least, gsize most, uint64_t **words,
                                 gsize *n_words, GError **error);

/* A transaction.  done: its statements worked, and it is committed; otherwise, or when it cannot be
 * committed, it is rolled back and the result is FALSE. */
gboolean study_store_begin (StudyStore *store, GError **error);
gboolean study_store_end (StudyStore *store, gboolean done, GError **error);

/* --- store_sql.c: the schema --- */

#define STUDY_STORE_APPLICATION_ID 0x686f7063 /* "hopc" */

gboolean study_store_create_tables (StudyStore *store, GError **error);
/* The tables, index and view that a store has, word for word, and nothing else: triggers,
 * other views and generated columns are programs that would run here. */
gboolean study_store_check_tables (StudyStore *store, int version, GError **error);
/* Makes the store, which has the tables of that older version, one of this version. */
gboolean study_store_migrate (StudyStore *store, int version, GError **error);
/* "SELECT plan.place, runs.rowid, ..." with all fields of the runs that the plan lists, in its
 * order and by its names, as in the view `results`. */
char *study_store_results_sql (void);
/* The view takes the field from the plan, not from the run. */
gboolean study_store_is_plans (const char *field);

/* --- store_rows.c: machines, placements and edges --- */

/* The places of a mapping (n_edges unused), or the edges of a trace. */
typedef struct {
  char *hash;
  uint32_t n_ranks;
  uint64_t n_edges;
  GBytes *packed;
} StudyPacked;

/* Within a transaction. */
gboolean study_store_put_places (StudyStore *store, const StudyPacked *places, GError **error);
gboolean study_store_put_edges (StudyStore *store, const StudyPacked *edges, GError **error);

/* The columns of a row of "SELECT rowid, * FROM" the table. */
gboolean study_store_check_machine_columns (const StudyStoreCursor *cursor, GError **error);
gboolean study_store_check_places_columns (const StudyStoreCursor *cursor, GError **error);
gboolean study_store_check_edges_columns (const StudyStoreCursor *cursor, GError **error);

/* --- store_rows.c: rows --- */

/* Within a transaction. */
gboolean study_store_insert_row (StudyStore *store, const StudyRow *row, GError **error);
gboolean study_store_status_cell (const StudyStoreCursor *cursor, int at, StudyStatus *status,
                                  GError **error);
/* A row of "SELECT rowid, * FROM runs", or of study_store_results_sql() (is_of_plan); NULL and
 * *error when a field is not as it must be. */
StudyRow *study_store_row_at (const StudyStoreCursor *cursor, gboolean is_of_plan, GError **error);
