/* store_fuzz.c - a good store that statements and changed bytes have made another one.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An input is a list of changes: a byte that says which, then what it needs.  Cells get values of
 * every type, rows go, the schema changes by statements of the input's own, bytes of the
 * file are overwritten.  Then everything that reads or writes stores does; each must succeed,
 * or fail with an error. */
#include ".ci/fuzzing.h"
#include "study/store/row_fields.h"
#include "study/store/store_fixture.h"

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

#define N_ROWS      3
#define MAX_CHANGES 16
#define MAX_STEPS   100000 /* of SQLite's machine, for statements of the input */
#define MAX_BYTES   (1 << 22)

static char *good;
static gsize good_length;

/* Tables with their columns, but for those of runs. */
static const char *const cells[][2] = {
  { "study", "name" },       { "study", "file" },        { "plan", "place" },
  { "plan", "key" },         { "plan", "trace" },        { "plan", "machine" },
  { "plan", "mapping" },     { "plan", "network" },      { "plan", "routing" },
  { "plan", "seed" },        { "plan", "repetition" },   { "plan", "compute_scale" },
  { "blobs", "key" },        { "blobs", "link_bytes" },  { "blobs", "rank_times" },
  { "machines", "hash" },    { "machines", "text" },     { "placements", "hash" },
  { "placements", "ranks" }, { "placements", "places" }, { "edges", "trace_hash" },
  { "edges", "ranks" },      { "edges", "edges" },       { "edges", "data" },
  { "race", "place" },       { "race", "number" },       { "race", "key" },
  { "race", "outcome" },     { "race", "draws" },        { "race", "time_s" },
  { "race", "behind" },      { "race", "margin" },
};

static const gint64 numbers[] = {
  0,          1,           -1,         2,          7,
  8,          9,           64,         65,         1 << 20,
  G_MAXINT32, G_MAXUINT32, G_MAXINT64, G_MININT64, (1 << 20) + 1,
  1 << 24,    1 << 25,
};

static const char *const statements[] = {
  "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM plan; END",
  "CREATE VIEW v AS SELECT zeroblob(100000000)",
  "DROP VIEW results",
  "DROP TABLE plan",
  "ANALYZE",
  "ALTER TABLE study ADD COLUMN x AS (name || file)",
  "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 2",
  "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = rootpage + 1",
  "PRAGMA user_version = 0",
  "UPDATE runs SET machine_hash = NULL, trace_hash = NULL, mapping_hash = NULL",
  "INSERT INTO plan SELECT place + 10, key, trace, 'm', mapping, network, routing, 1, 2, 3 FROM plan",
  "PRAGMA encoding = 'UTF-16'; VACUUM",
};

/* The input, as far as it has not been used. */
typedef struct {
  const uint8_t *data;
  gsize size;
} Input;

static guint
take (Input *input, gsize n_bytes)
{
  guint number = 0;

  for (gsize at = 0; at < n_bytes && input->size > 0; at++, input->data++, input->size--)
    number = number << 8 | *input->data;
  return number;
}

/* A length and so many bytes. */
static Input
take_bytes (Input *input)
{
  gsize wanted = take (input, 1), n = MIN (wanted, input->size);
  Input bytes = { input->data, n };

  input->data += n;
  input->size -= n;
  return bytes;
}

static void
bind_words (sqlite3_stmt *statement, Input *input)
{
  guint n = take (input, 1), first = take (input, 4), step = take (input, 1);
  guint64 high = take (input, 2);
  g_autofree uint64_t *words = g_new (uint64_t, n + 1);
  g_autoptr (GBytes) packed = NULL;

  for (guint at = 0; at < n; at++)
    words[at] = (first + at * step) | high << 32;
  packed = study_pack_words (words, n);
  sqlite3_bind_blob (statement, 1, g_bytes_get_data (packed, NULL), (int) g_bytes_get_size (packed),
                     SQLITE_TRANSIENT);
}

static void
bind_value (sqlite3_stmt *statement, Input *input)
{
  Input bytes;
  double real;
  gint64 bits;

  switch (take (input, 1) % 7) {
  case 0: sqlite3_bind_null (statement, 1); return;
  case 1:
    sqlite3_bind_int64 (statement, 1, numbers[take (input, 1) % G_N_ELEMENTS (numbers)]);
    return;
  case 2: sqlite3_bind_int64 (statement, 1, (int) take (input, 4)); return;
  case 3:
    bits = (gint64) ((guint64) take (input, 4) << 32 | take (input, 4));
    memcpy (&real, &bits, sizeof real);
    sqlite3_bind_double (statement, 1, real);
    return;
  case 4: bind_words (statement, input); return;
  case 5:
    bytes = take_bytes (input);
    sqlite3_bind_blob (statement, 1, bytes.data, (int) bytes.size, SQLITE_TRANSIENT);
    return;
  default:
    bytes = take_bytes (input);
    sqlite3_bind_text (statement, 1, (const char *) bytes.data, (int) bytes.size, SQLITE_TRANSIENT);
  }
}

static void
set_cell (sqlite3 *db, Input *input)
{
  guint number = take (input, 1) % (G_N_ELEMENTS (cells) + study_row_n_fields ());
  gboolean is_run = number >= G_N_ELEMENTS (cells);
  const char *column =
      is_run ? study_row_field (number - G_N_ELEMENTS (cells))->name : cells[number][1];
  guint row = take (input, 1) % (N_ROWS + 1);
  g_autofree char *sql =
      g_strdup_printf ("UPDATE %s SET \"%s\" = ?1%s%u", is_run ? "runs" : cells[number][0], column,
                       row < N_ROWS ? " WHERE rowid = " : " WHERE rowid >= ", row);
  sqlite3_stmt *statement = NULL;

  if (sqlite3_prepare_v2 (db, sql, -1, &statement, NULL) != SQLITE_OK)
    return;
  bind_value (statement, input);
  sqlite3_step (statement);
  sqlite3_finalize (statement);
}

static void
delete_rows (sqlite3 *db, Input *input)
{
  guint number = take (input, 1) % (G_N_ELEMENTS (cells) + 1);
  const char *table = number < G_N_ELEMENTS (cells) ? cells[number][0] : "runs";
  g_autofree char *sql =
      g_strdup_printf ("DELETE FROM %s WHERE rowid = %u", table, take (input, 1) % N_ROWS);

  sqlite3_exec (db, sql, NULL, NULL, NULL);
}

static void
run_text (sqlite3 *db, Input *input)
{
  Input bytes = take_bytes (input);
  g_autofree char *sql = g_strndup ((const char *) bytes.data, bytes.size);

  sqlite3_exec (db, sql, NULL, NULL, NULL);
}

static void
change_bytes (char *text, gsize length, Input *input)
{
  gsize at = take (input, 3);
  Input bytes = take_bytes (input);

  for (gsize byte = 0; byte < bytes.size && length > 0; byte++)
    text[(at + byte) % length] = (char) bytes.data[byte];
}

/* --- The statements of an input --- */

static int
stop (void *data)
{
  (void) data;
  return 1;
}

/* No other files. */
static int
authorize (void *data, int action, const char *one, const char *two, const char *three,
           const char *four)
{
  (void) data;
  (void) one;
  (void) two;
  (void) three;
  (void) four;
  return action == SQLITE_ATTACH ? SQLITE_DENY : SQLITE_OK;
}

static sqlite3 *
open_raw (const char *path)
{
  sqlite3 *db;

  if (sqlite3_open (path, &db) != SQLITE_OK)
    g_error ("%s: %s", path, sqlite3_errmsg (db));
  sqlite3_limit (db, SQLITE_LIMIT_LENGTH, MAX_BYTES);
  sqlite3_exec (db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY", NULL, NULL, NULL);
  sqlite3_progress_handler (db, MAX_STEPS, stop, NULL);
  sqlite3_set_authorizer (db, authorize, NULL);
  return db;
}

/* Statements first, bytes behind them. */
static void
change_store (const char *path, Input *input)
{
  sqlite3 *db = open_raw (path);
  g_autofree char *text = NULL;
  gsize length;
  guint n = 0;

  while (input->size > 0 && input->data[0] % 5 < 4 && n++ < MAX_CHANGES)
    switch (take (input, 1) % 5) {
    case 0: set_cell (db, input); break;
    case 1: delete_rows (db, input); break;
    case 2: run_text (db, input); break;
    default:
      sqlite3_exec (db, statements[take (input, 1) % G_N_ELEMENTS (statements)], NULL, NULL, NULL);
    }
  sqlite3_close (db);
  if (input->size == 0 || !g_file_get_contents (path, &text, &length, NULL))
    return;
  while (input->size > 0 && n++ < MAX_CHANGES) {
    take (input, 1);
    change_bytes (text, length, input);
  }
  fuzz_write (path, text, length);
}

/* --- What is done with the store --- */

static void
write_to (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (StudyStore) store = study_store_open (path, STUDY_STORE_CREATE, &error);
  g_autoptr (StudyRow) row = fixture_row (1), next = fixture_row (70);
  StudyRow *rows[] = { row, next };
  gboolean done = store != NULL && fixture_put (store, rows, 2, &error) &&
                  study_store_put_machine (store, FIXTURE_MACHINE, "[machine]\n", &error) &&
                  study_store_set_plan (store, "s", "", rows, 2, &error);

  g_assert_true (done == (error == NULL));
}

static void
remove_beside (const char *path)
{
  static const char *const endings[] = { "-wal", "-shm", "-journal", "-lock" };

  for (gsize at = 0; at < G_N_ELEMENTS (endings); at++) {
    g_autofree char *beside = g_strconcat (path, endings[at], NULL);

    g_unlink (beside);
  }
}

static void
check (const uint8_t *data, size_t size)
{
  g_autofree char *path = g_build_filename (fuzz_folder (), "a.store", NULL);
  g_autoptr (GError) error = NULL;
  Input input = { data, size };

  fuzz_write (path, good, good_length);
  change_store (path, &input);
  g_assert_true (fixture_read_all (path, &error) == (error == NULL));
  write_to (path);
  remove_beside (path);
}

static void
prepare (void)
{
  g_autofree char *path = g_build_filename (fuzz_folder (), "good.store", NULL);
  sqlite3 *db;

  fixture_make_whole (path, N_ROWS);
  /* No log beside it, and little to copy. */
  db = open_raw (path);
  sqlite3_exec (db, "PRAGMA journal_mode = DELETE; VACUUM", NULL, NULL, NULL);
  sqlite3_close (db);
  if (!g_file_get_contents (path, &good, &good_length, NULL))
    g_error ("%s: cannot be read", path);
}

static void
seed (FuzzSeeds *seeds)
{
  static const char *const words[] = { "UPDATE runs SET ",   "DELETE FROM plan", "PRAGMA ",
                                       "CREATE TABLE t (x)", "INSERT INTO ",     "zeroblob(",
                                       "sqlite_schema",      "writable_schema",  NULL };

  /* Nothing; each cell with each kind of value; each statement; a changed byte per page. */
  fuzz_add (seeds, "", 0);
  for (guint cell = 0; cell < G_N_ELEMENTS (cells) + study_row_n_fields (); cell++) {
    const uint8_t change[] = { 0, (uint8_t) cell, 1, (uint8_t) (cell % 7), 8, 'a', 1, 2, 3, 4, 5 };

    fuzz_add (seeds, change, sizeof change);
  }
  for (guint at = 0; at < G_N_ELEMENTS (statements); at++)
    fuzz_add (seeds, ((const uint8_t[]){ 3, (uint8_t) at }), 2);
  for (guint page = 0; page < good_length >> 12; page++)
    fuzz_add (seeds,
              ((const uint8_t[]){ 4, (uint8_t) (page >> 4), (uint8_t) (page << 4), 5, 1, 255 }), 6);
  fuzz_add (seeds, "\2\30UPDATE runs SET nodes = 1", 26);
  fuzz_add_words (seeds, words);
}

const FuzzProgram fuzz_program = { prepare, seed, check };
