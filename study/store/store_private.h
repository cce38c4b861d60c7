/* store_private.h - what the parts of the store share; private to them.
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
  /* Of study_store_put(), made when first used. */
  sqlite3_stmt *drop_failed, *put_run, *put_blobs;
};

G_DEFINE_AUTOPTR_CLEANUP_FUNC (sqlite3_stmt, sqlite3_finalize)

/* --- Store_lock.c --- */

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

/* --- Store_sql.c: statements, with errors that name the store --- */

/* *error from what SQLite said last; always FALSE. */
gboolean study_store_fail (const StudyStore *store, GError **error);
/* The same as for a file that holds what no store holds. */
gboolean study_store_damaged (const StudyStore *store, const char *what, GError **error);
gboolean study_store_exec (StudyStore *store, const char *sql, GError **error);
sqlite3_stmt *study_store_prepare (StudyStore *store, const char *sql, GError **error);
/* One statement with text parameters and no result; NULL is NULL. */
gboolean study_store_run (StudyStore *store, sqlite3_stmt *statement, GError **error);
/* *has_row tells whether there is one more. */
gboolean
study_store_step (StudyStore *store, sqlite3_stmt *statement, gboolean *has_row, GError **error);
void study_store_bind_text (sqlite3_stmt *statement, int at, const char *text);
/* The first column of the first row as a number; `otherwise` when there is none. */
gboolean study_store_number (StudyStore *store, const char *sql, gint64 otherwise, gint64 *number,
                             GError **error);

/* --- store_sql.c: cells.  Stores come from anybody: nothing of a row is used before
 * its type and range are checked, and an error names store, table, row and column. --- */

/* No text or blob is longer, and no blob unpacks to more words, whatever a row says. */
#define STUDY_STORE_MAX_BYTES (1 << 29)
#define STUDY_STORE_MAX_WORDS (1 << 25)
/* Names, paths and specs; machine files, study files, errors and lists of warnings. */
#define STUDY_STORE_MAX_NAME (1 << 20)
#define STUDY_STORE_MAX_TEXT (1 << 26)

/* A row of a table that a statement has come to. */
typedef struct {
  const StudyStore *store;
  sqlite3_stmt *statement;
  const char *table;
  gint64 row; /* SQLite's rowid */
} StudyStoreRecord;

/* *error for a value that cannot be; always FALSE. */
gboolean study_store_bad_cell (const StudyStoreRecord *record, const char *column, GError **error,
                               const char *format, ...) G_GNUC_PRINTF (4, 5);
/* The first column of a statement's row, as the rowid of the record.  Rowids ascend;
 * a damaged tree of pages can show the same ones for ever. */
gboolean study_store_next_record (StudyStoreRecord *record, GError **error);
/* *text lives until the statement goes on; NULL only for NULL, which must be allowed. */
gboolean
study_store_text_cell (const StudyStoreRecord *record, int at, const char *column, gsize max_bytes,
                       gboolean may_be_null, const char **text, GError **error);
/* A text that is a SHA-256 in hexadecimal. */
gboolean study_store_hash_cell (const StudyStoreRecord *record, int at, const char *column,
                                gboolean may_be_null, const char **hash, GError **error);
gboolean study_store_integer_cell (const StudyStoreRecord *record, int at, const char *column,
                                   gint64 least, gint64 most, gint64 *number, GError **error);
/* NaN for NULL. */
gboolean study_store_real_cell (const StudyStoreRecord *record, int at, const char *column,
                                double least, double most, double *number, GError **error);
/* A blob of least to most words; the caller g_free()s them.  NULL only for NULL. */
gboolean study_store_words_cell (const StudyStoreRecord *record, int at, const char *column,
                                 gboolean may_be_null, gsize least, gsize most, uint64_t **words,
                                 gsize *n_words, GError **error);

/* Between them all statements are one.  done: what was done worked; what did not, or
 * cannot be committed, is as if it had not begun. */
gboolean study_store_begin (StudyStore *store, GError **error);
gboolean study_store_end (StudyStore *store, gboolean done, GError **error);

/* --- Store_schema.c --- */

#define STUDY_STORE_APPLICATION_ID 0x686f7063 /* "hopc" */

gboolean study_store_create_tables (StudyStore *store, GError **error);
/* The tables, index and view that a store has, word for word, and nothing else: triggers,
 * other views and generated columns are programs that would run here. */
gboolean study_store_check_tables (StudyStore *store, GError **error);
/* "SELECT plan.place, runs.rowid, ..." with all fields of the runs that the plan lists, in its
 * order and by its names: what the view `results` shows. */
char *study_store_results_sql (void);
/* The field is the plan's in that. */
gboolean study_store_is_plans (const char *field);
/* What "INSERT INTO runs" takes: all fields of a row. */
char *study_store_insert_sql (void);

/* --- Store_content.c --- */

/* Within a transaction or alone. */
gboolean study_store_put_places (StudyStore *store, const char *hash, uint32_t n_ranks,
                                 GBytes *packed, GError **error);
gboolean
study_store_put_packed_edges (StudyStore *store, const StudyPackedEdges *edges, GError **error);

/* What "SELECT rowid, * FROM" these tables has come to, checked. */
gboolean study_store_check_machine_record (StudyStoreRecord *record, GError **error);
gboolean study_store_check_places_record (StudyStoreRecord *record, GError **error);
gboolean study_store_check_edges_record (StudyStoreRecord *record, GError **error);

/* --- Store_plan.c: likewise --- */

/* --- Store_rows.c --- */

/* Within a transaction. */
gboolean study_store_insert_row (StudyStore *store, const StudyRow *row, GError **error);
gboolean
study_store_insert_rows (StudyStore *store, StudyRow *const *rows, guint n_rows, GError **error);
gboolean study_store_status_cell (const StudyStoreRecord *record, int at, StudyStatus *status,
                                  GError **error);
/* What "SELECT rowid, * FROM runs" or study_store_results_sql() has come to; NULL and *error
 * when a field is not as it must be. */
StudyRow *study_store_row_at (StudyStoreRecord *record, gboolean is_of_plan, GError **error);
/* The row of a key, whatever the plan says; NULL without an error: none. */
StudyRow *study_store_find (StudyStore *store, const char *key, GError **error);
