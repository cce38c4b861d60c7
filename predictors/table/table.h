/* table.h - numbers and texts by columns, as they come from a CSV file.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The input of all learning in this room.  A column is of numbers when every
 * cell that is not empty is one (also nan and inf, of any case), otherwise of
 * texts.  Values lie by columns, so that ten million rows of a few columns are
 * read at the speed of the disk and cost 8 bytes a number, 4 bytes a text. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  char *name;        /* not empty, no other column has it */
  char *unit;        /* "bytes", "s" ...; NULL: not known */
  double *numbers;   /* [n_rows], NaN: empty cell or "nan"; NULL: a column of texts */
  uint32_t *texts;   /* [n_rows], index into labels; NULL: a column of numbers */
  GPtrArray *labels; /* char *, each once, in order of appearance; NULL with numbers */
  uint64_t text_row; /* of texts: the first row whose cell is neither empty nor a number;
                           n_rows: none */
} PredictColumn;

typedef struct {
  char *source; /* its name in errors: the path */
  uint64_t n_rows;
  guint n_columns;
  PredictColumn *columns; /* [n_columns] */
  uint64_t *lines;        /* [n_rows] where a row stands in its file, from 1; NULL: in no file */
} PredictTable;

/* A CSV file (RFC 4180; gzip too) whose first line names the columns; "-" is
 * standard input.  A byte order mark, CR LF, empty lines and blanks around numbers
 * are accepted.  Errors (BASE_ERROR_TEXT, or G_FILE_ERROR) name file, line and
 * column: no header (all names are numbers), a name twice or empty, a line with more or
 * fewer cells, a quote that does not end or is within a cell without quotes, NUL bytes,
 * invalid UTF-8.  A header without rows is a table.  Blanks around names do not count,
 * those of texts do; quoted numbers are numbers; 1e400 is inf.  The first of several columns may
 * have no name, as where pandas writes an index, and is called "row" then. */
PredictTable *predict_table_read (const char *path, GError **error);

/* An empty one to be filled by predict_table_take_*(). */
PredictTable *predict_table_new (const char *source, uint64_t n_rows);
void predict_table_free (PredictTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictTable, predict_table_free)

/* Adds a column and takes `numbers` ([n_rows], from g_malloc()). */
void predict_table_take_numbers (PredictTable *table, const char *name, const char *unit,
                                 double *numbers);
/* Adds a column of texts ([n_rows]; NULL is the empty text), which it copies. */
void predict_table_add_texts (PredictTable *table, const char *name, const char *const *texts);

/* NULL: there is none. */
const PredictColumn *predict_table_find (const PredictTable *table, const char *name);

/* The column `name` of numbers; NULL and *error when there is none (lists names that
 * are alike) or it holds texts (with the line and the text). */
const PredictColumn *
predict_table_numbers (const PredictTable *table, const char *name, GError **error);

/* Whether a column has no value in any row; FALSE for texts and for a table without rows. */
gboolean predict_table_is_unknown (const PredictTable *table, const PredictColumn *column);

/* The numbers of that column, [n_rows], when all of them are finite; NULL and *error, with the
 * first row that has none, otherwise. */
const double *predict_table_finite (const PredictTable *table, const char *name, GError **error);

/* "FILE:LINE" of a row, or "FILE, row N"; the caller frees. */
char *predict_table_place (const PredictTable *table, uint64_t row);

/* Sets *error (PREDICT_ERROR_TABLE) to that place and the message.  Always FALSE. */
gboolean predict_table_refuse (const PredictTable *table, uint64_t row, GError **error,
                               const char *format, ...) G_GNUC_PRINTF (4, 5);

/* The text of a cell as it would stand in CSV, without quotes: of a number the shortest that reads
 * back the same, "" of NaN; the caller frees. */
char *predict_table_cell (const PredictTable *table, guint column, uint64_t row);

/* FALSE and *error when it lacks any of these columns; all that are missing are named. */
gboolean
predict_table_has_all (const PredictTable *table, const char *const *names, GError **error);

/* The rows of these numbers, [n], in this order; the caller frees. */
PredictTable *predict_table_pick (const PredictTable *table, const uint64_t *rows, uint64_t n);

/* For each row the number of its group: rows with the same cell in `name` share one, 0 ...
 * *n_groups - 1 in order of appearance.  NULL `name`: every row its own.  The caller frees;
 * NULL and *error when there is no such column. */
uint32_t *predict_table_groups (const PredictTable *table, const char *name, uint32_t *n_groups,
                                GError **error);

/* The same of several columns: rows with the same cells in all of `names` (at least one) are a set. */
uint32_t *predict_table_sets (const PredictTable *table, const char *const *names, uint32_t *n_sets,
                              GError **error);

/* SHA-256 (hexadecimal) of the named columns: names, values as doubles, order of rows; whatever
 * file they came from.  Every name must be there.  The caller frees. */
char *predict_table_hash (const PredictTable *table, const char *const *names);
