/* store_private.h - what the parts of the store share; private to them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "study/store.h"

#include <sqlite3.h>

typedef struct StudyLock StudyLock;

struct StudyStore {
  char *path; /* as it was given */
  sqlite3 *db;
  StudyLock *lock;   /* of the one that writes; NULL: reads */
  GHashTable *known; /* (element-type utf8) hashes of machines and placements that are in it */
  /* Of study_store_put(), made when first used. */
  sqlite3_stmt *drop_failed, *put_run, *put_blobs;
};

G_DEFINE_AUTOPTR_CLEANUP_FUNC (sqlite3_stmt, sqlite3_finalize)

/* --- store_lock.c --- */

/* The right to write to a store, which ends with the process however it ends.
 * STUDY_ERROR_BUSY when somebody has it. */
StudyLock *study_lock_new (const char *store_path, GError **error);
void study_lock_free (StudyLock *lock);

/* --- store_sql.c: statements, with errors that name the store --- */

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

/* Between them all statements are one.  done: what was done worked; what did not, or
 * cannot be committed, is as if it had not begun. */
gboolean study_store_begin (StudyStore *store, GError **error);
gboolean study_store_end (StudyStore *store, gboolean done, GError **error);

/* --- store_schema.c --- */

#define STUDY_STORE_APPLICATION_ID 0x686f7063 /* "hopc" */

gboolean study_store_create_tables (StudyStore *store, GError **error);
/* What "INSERT INTO runs" takes: all fields of a row. */
char *study_store_insert_sql (void);

/* --- store_content.c --- */

/* Within a transaction or alone. */
gboolean study_store_put_places (StudyStore *store, const char *hash, uint32_t n_ranks,
                                 GBytes *packed, GError **error);
gboolean
study_store_put_packed_edges (StudyStore *store, const StudyPackedEdges *edges, GError **error);

/* --- store_rows.c --- */

/* Within a transaction. */
gboolean study_store_insert_row (StudyStore *store, const StudyRow *row, GError **error);
gboolean
study_store_insert_rows (StudyStore *store, StudyRow *const *rows, guint n_rows, GError **error);
/* A row of a statement whose columns from `first` on are the fields. */
StudyRow *study_store_row_at (sqlite3_stmt *statement, int first);
/* The row of a key, whatever the plan says; NULL without an error: none. */
StudyRow *study_store_find (StudyStore *store, const char *key, GError **error);
