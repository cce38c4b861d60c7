/* store_safety_test.c - stores on bad days: full disks, kills, other writers, shards.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/inputs.h"
#include "study/store/row_fields.h"
#include "study/report/report.h"
#include "study/store/store_fixture.h"
#include "study/store/store_private.h"

#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

static char *folder, *path;

static void
assert_refused (const char *where, StudyStoreMode mode, StudyError code, const char *words)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (study_store_open (where, mode, &error));
  g_assert_error (error, STUDY_ERROR, (int) code);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, words));
  g_assert_true (g_str_has_prefix (error->message, where));
}

/* What another program does to the file. */
static void
meddle (const char *where, const char *sql)
{
  sqlite3 *db;

  g_assert_cmpint (sqlite3_open (where, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);
}

static void
make_store (const char *where, guint n)
{
  g_autoptr (StudyStore) store = fixture_open (where, STUDY_STORE_CREATE);

  fixture_fill (store, n);
}

static guint
n_rows_of (const char *where)
{
  g_autoptr (StudyStore) store = fixture_open (where, STUDY_STORE_READ);
  g_autoptr (GPtrArray) rows = study_store_rows (store, TRUE, NULL);

  return rows != NULL ? rows->len : G_MAXUINT;
}

/* No page is written of a store whose study file cannot be read. */
static void
test_report_needs_the_study (void)
{
  g_autoptr (StudyStore) store = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *page = NULL;
  size_t size = 0;
  FILE *out = open_memstream (&page, &size);

  make_store (path, 0);
  store = fixture_open (path, STUDY_STORE_READ);
  meddle (path, "UPDATE study SET file = x'00'");
  g_assert_false (study_report_write_store (out, store, NULL, NULL, 2, &error));
  g_assert_error (error, STUDY_ERROR, STUDY_ERROR_DAMAGED);
  fclose (out);
  g_assert_cmpuint (size, ==, 0);
}

/* Runs `work` in a process of its own; its exit status. */
static int
in_child (int (*work) (void))
{
  int status;
  pid_t child = fork ();

  if (child == 0)
    _exit (work ());
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status));
  return WEXITSTATUS (status);
}

static void
test_what_is_no_store (void)
{
  assert_refused (path, STUDY_STORE_READ, STUDY_ERROR_STORE, "No such file");
  assert_refused (path, STUDY_STORE_WRITE, STUDY_ERROR_STORE, "No such file");
  assert_refused (folder, STUDY_STORE_READ, STUDY_ERROR_STORE, "is a folder");
  g_assert_true (g_file_set_contents (path, "", 0, NULL));
  assert_refused (path, STUDY_STORE_READ, STUDY_ERROR_STORE, "not a hopcast store");
  g_assert_true (g_file_set_contents (path, "[study]\nthis is a study, no store\n", -1, NULL));
  assert_refused (path, STUDY_STORE_READ, STUDY_ERROR_STORE, "not a hopcast store");
  assert_refused (path, STUDY_STORE_CREATE, STUDY_ERROR_STORE, "not a hopcast store");
  g_unlink (path);
  meddle (path, "CREATE TABLE t (x)");
  assert_refused (path, STUDY_STORE_READ, STUDY_ERROR_STORE, "not a hopcast store");
  assert_refused (path, STUDY_STORE_CREATE, STUDY_ERROR_STORE, "not a hopcast store");
}

static void
test_newer_version (void)
{
  make_store (path, 1);
  meddle (path, "PRAGMA user_version = 5");
  assert_refused (path, STUDY_STORE_READ, STUDY_ERROR_VERSION, "newer hopcast");
  assert_refused (path, STUDY_STORE_CREATE, STUDY_ERROR_VERSION, "newer hopcast");
  meddle (path, "PRAGMA user_version = 0");
  assert_refused (path, STUDY_STORE_READ, STUDY_ERROR_VERSION, "version 0");
}

/* --- Older versions --- */

/* Of version_1.sql, version_2.sql or version_3.sql, and what is done to it. */
static void
make_version (guint version, const char *sql)
{
  g_autofree char *name = g_strdup_printf ("study/store/version_%u.sql", version);
  g_autofree char *file = g_test_build_filename (G_TEST_DIST, name, NULL);
  g_autofree char *dump = NULL;

  g_assert_true (g_file_get_contents (file, &dump, NULL, NULL));
  meddle (path, dump);
  meddle (path, sql);
}

static void
assert_version_1 (StudyStore *store)
{
  static const char *const mappings[] = { "ABT", "BAT", "ABC", "ABT", "BAT", "ABC" };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) rows = study_store_rows (store, TRUE, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (rows->len, ==, G_N_ELEMENTS (mappings));
  for (guint i = 0; i < rows->len; i++) {
    const StudyRow *row = g_ptr_array_index (rows, i);

    g_assert_cmpstr (row->mapping, ==, mappings[i]);
    g_assert_cmpstr (row->shrink, ==, "off");
    g_assert_cmpuint (row->replica, ==, 0);
    g_assert_cmpfloat (row->jitter_s, ==, 0);
    g_assert_cmpint (row->status, ==, i % 3 == 2 ? STUDY_FAILED : STUDY_DONE);
    g_assert_cmpuint (row->shrink_factor, ==, i % 3 == 2 ? 0 : 1);
    g_assert_true (isnan (row->mean_end_s));
    g_assert_true ((row->rank_times != NULL) == (i < 2));
  }
  g_assert_cmpfloat (((StudyRow *) rows->pdata[0])->time_s, ==, 3.626185e-06);
}

static void
assert_version_2 (StudyStore *store)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) rows = study_store_rows (store, TRUE, &error);
  const StudyRow *row;

  g_assert_no_error (error);
  g_assert_cmpuint (rows->len, ==, 5);
  row = rows->pdata[1];
  g_assert_cmpstr (row->mapping, ==, "TA");
  g_assert_cmpfloat (row->jitter_s, ==, 1e-6);
  g_assert_false (isnan (row->mean_end_s));
  /* The packets that waited were called buffer; what a buffer and a delay are now is not there. */
  g_assert_cmpfloat (row->features[SIM_FEATURE_AVG_WAITED], ==, 50.9375);
  g_assert_cmpfloat (row->features[SIM_FEATURE_MAX_WAITED], ==, 79);
  g_assert_cmpfloat (row->features[SIM_FEATURE_AVG_WAITED_TO], ==, 79);
  for (uint32_t feature = 0; feature < SIM_N_FEATURES; feature++)
    g_assert_true (isnan (row->features[feature]) ==
                   ((feature >= SIM_FEATURE_AVG_CHUNKS && feature <= SIM_FEATURE_AVG_DELAY_TO) ||
                    feature == SIM_FEATURE_SUM_MESSAGE_DILATION_AO));
}

/* All but the parts of the critical path. */
static void
assert_version_3 (StudyStore *store)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) rows = study_store_rows (store, TRUE, &error);
  const StudyRow *row;

  g_assert_no_error (error);
  g_assert_cmpuint (rows->len, ==, 2);
  row = rows->pdata[1];
  g_assert_cmpstr (row->mapping, ==, "random(1)");
  g_assert_cmpstr (row->shrink, ==, "off");
  g_assert_cmpfloat (row->time_s, ==, 7.746802e-06);
  g_assert_cmpfloat_with_epsilon (row->mean_end_s, 5.8401015e-06, 1e-18);
  g_assert_cmpfloat (row->features[SIM_FEATURE_AVG_WAITED], ==, 0);
  g_assert_cmpfloat (row->features[SIM_FEATURE_AVG_BUFFER], ==, 0);
  g_assert_true (isnan (row->path_compute_s) && isnan (row->path_queueing_s));
}

static void
assert_version (guint version, StudyStore *store)
{
  if (version == 1)
    assert_version_1 (store);
  else if (version == 2)
    assert_version_2 (store);
  else
    assert_version_3 (store);
}

/* Reading leaves the file as it is; writing makes it one of this version. */
static void
check_version (guint version)
{
  g_autofree char *before = NULL, *after = NULL;
  gsize n_before, n_after;
  StudyStore *store;

  make_version (version, "");
  g_assert_true (g_file_get_contents (path, &before, &n_before, NULL));
  store = fixture_open (path, STUDY_STORE_READ);
  assert_version (version, store);
  study_store_free (store);
  g_assert_true (g_file_get_contents (path, &after, &n_after, NULL));
  g_assert_cmpuint (n_before, ==, n_after);
  g_assert_true (memcmp (before, after, n_before) == 0);
  for (guint pass = 0; pass < 2; pass++) {
    store = fixture_open (path, STUDY_STORE_WRITE);
    assert_version (version, store);
    study_store_free (store);
  }
  store = fixture_open (path, STUDY_STORE_READ);
  assert_version (version, store);
  study_store_free (store);
}

static void
test_version_1 (void)
{
  check_version (1);
}

static void
test_version_2 (void)
{
  check_version (2);
}

static void
test_version_3 (void)
{
  check_version (3);
}

/* Nothing that an old store has besides is run. */
static void
test_version_meddled (void)
{
  make_version (1, "CREATE TRIGGER t AFTER INSERT ON blobs BEGIN DELETE FROM study; END");
  assert_refused (path, STUDY_STORE_READ, STUDY_ERROR_DAMAGED, "trigger");
  assert_refused (path, STUDY_STORE_WRITE, STUDY_ERROR_DAMAGED, "trigger");
  g_unlink (path);
  make_version (1, "ALTER TABLE runs ADD COLUMN x");
  assert_refused (path, STUDY_STORE_READ, STUDY_ERROR_DAMAGED, "runs");
}

/* --- Two writers --- */

static int
open_to_write (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (StudyStore) store = study_store_open (path, STUDY_STORE_CREATE, &error);
  g_autofree char *who = g_strdup_printf ("process %d writes to it", (int) getppid ());

  if (store != NULL)
    return 0;
  return g_error_matches (error, STUDY_ERROR, STUDY_ERROR_BUSY) &&
                 strstr (error->message, who) != NULL
             ? 1
             : 2;
}

static int
read_while_it_is_written (void)
{
  return (int) n_rows_of (path);
}

static void
test_two_writers (void)
{
  g_autoptr (StudyStore) store = fixture_open (path, STUDY_STORE_CREATE);
  g_autofree char *lock = g_strconcat (path, "-lock", NULL);

  fixture_fill (store, 4);
  g_assert_cmpint (in_child (open_to_write), ==, 1);
  g_assert_cmpint (in_child (read_while_it_is_written), ==, 4);
  assert_refused (path, STUDY_STORE_WRITE, STUDY_ERROR_BUSY, "only one may at a time");
  g_clear_pointer (&store, study_store_free);
  g_assert_false (g_file_test (lock, G_FILE_TEST_EXISTS));
  g_assert_cmpint (in_child (open_to_write), ==, 0);
}

/* --- Kills --- */

/* Puts rows until it is killed. */
static void
put_for_ever (guint first)
{
  g_autoptr (StudyStore) store = fixture_open (path, STUDY_STORE_CREATE);

  for (guint number = first;; number += 3) {
    StudyRow *rows[] = { fixture_row (number), fixture_row (number + 1), fixture_row (number + 2) };

    if (!fixture_put (store, rows, 3, NULL))
      _exit (1);
    for (int at = 0; at < 3; at++)
      study_row_free (rows[at]);
  }
}

/* Whole groups of three, whole rows, none lost that was there before. */
static guint
check_rows (void)
{
  g_autoptr (StudyStore) store = fixture_open (path, STUDY_STORE_READ);
  g_autoptr (GHashTable) keys = study_store_keys (store, FALSE, NULL);
  guint n = g_hash_table_size (keys);

  g_assert_cmpuint (n % 3, ==, 0);
  for (guint number = 0; number < n; number++) {
    g_autoptr (StudyRow) row = fixture_row (number);
    g_autoptr (GBytes) links = g_bytes_ref (row->link_bytes);
    g_autoptr (GBytes) times = g_bytes_ref (row->rank_times);

    g_assert_true (g_hash_table_contains (keys, row->key));
    g_assert_true (study_store_load_blobs (store, row, NULL));
    g_assert_true (g_bytes_equal (links, row->link_bytes));
    g_assert_true (g_bytes_equal (times, row->rank_times));
  }
  return n;
}

static void
test_kills (void)
{
  guint n = 0;

  for (guint kill_number = 0; kill_number < 10; kill_number++) {
    guint before = n;
    pid_t child = fork ();

    if (child == 0)
      put_for_ever (n);
    g_usleep (20000 + kill_number * 3571);
    g_assert_cmpint (kill (child, SIGKILL), ==, 0);
    waitpid (child, NULL, 0);
    if (!g_file_test (path, G_FILE_TEST_EXISTS))
      continue;
    study_store_free (fixture_open (path, STUDY_STORE_CREATE));
    n = check_rows ();
    g_assert_cmpuint (n, >=, before);
  }
  g_test_message ("%u rows after 10 kills", n);
  g_assert_cmpuint (n, >, 0);
}

/* --- Full disks and media that cannot be written --- */

/* The store may not grow beyond 200 kB; the last word is the error's. */
static int
fill_a_small_disk (void)
{
  const struct rlimit limit = { 200000, 200000 };
  g_autoptr (StudyStore) store = NULL;
  g_autoptr (GError) error = NULL;
  guint n = 3;

  signal (SIGXFSZ, SIG_IGN);
  if (setrlimit (RLIMIT_FSIZE, &limit) != 0)
    return 3;
  store = fixture_open (path, STUDY_STORE_WRITE);
  while (error == NULL && n < 100000) {
    StudyRow *rows[] = { fixture_row (n), fixture_row (n + 1), fixture_row (n + 2) };

    if (fixture_put (store, rows, 3, &error))
      n += 3;
    for (int at = 0; at < 3; at++)
      study_row_free (rows[at]);
  }
  if (error == NULL || !g_error_matches (error, STUDY_ERROR, STUDY_ERROR_STORE) ||
      strstr (error->message, "cannot be written") == NULL)
    return 2;
  return n > 3 ? 0 : 1;
}

static void
test_full_disk (void)
{
  make_store (path, 3);
  g_assert_cmpint (in_child (fill_a_small_disk), ==, 0);
  study_store_free (fixture_open (path, STUDY_STORE_WRITE));
  g_assert_cmpuint (check_rows (), >, 3);
}

/* SQLite says the same of a disk that is full. */
static void
test_full_disk_says_so (void)
{
  g_autoptr (StudyStore) store = fixture_open (path, STUDY_STORE_CREATE);
  g_autoptr (GError) error = NULL;
  g_autoptr (GHashTable) keys = NULL;
  guint n = 0;

  g_assert_true (study_store_exec (store, "PRAGMA max_page_count = 40", NULL));
  while (error == NULL) {
    g_autoptr (StudyRow) row = fixture_row (n);

    if (fixture_put (store, &row, 1, &error))
      n++;
    g_assert_cmpuint (n, <, 10000);
  }
  g_assert_nonnull (strstr (error->message, "no space is left"));
  keys = study_store_keys (store, FALSE, NULL);
  g_assert_cmpuint (g_hash_table_size (keys), ==, n);
}

static int
read_as_nobody (void)
{
  g_autoptr (GError) error = NULL;

  if (getuid () == 0 && (setgid (NOBODY) != 0 || setuid (NOBODY) != 0))
    return 99;
  if (n_rows_of (path) != 3)
    return 1;
  if (study_store_open (path, STUDY_STORE_CREATE, &error) != NULL)
    return 2;
  return strstr (error->message, "cannot be written") != NULL ? 0 : 3;
}

static void
test_read_only (void)
{
  g_autofree char *wal = g_strconcat (path, "-wal", NULL);

  make_store (path, 3);
  g_assert_cmpint (chmod (path, 0444), ==, 0);
  g_assert_cmpint (chmod (folder, 0555), ==, 0);
  g_assert_cmpint (in_child (read_as_nobody), ==, 0);
  g_assert_cmpint (chmod (folder, 0755), ==, 0);
  g_assert_false (g_file_test (wal, G_FILE_TEST_EXISTS));
}

/* Without waiting for the disk. */
static void
overwrite (const char *text, gsize length)
{
  FILE *file = fopen (path, "wb");

  g_assert_cmpuint (fwrite (text, 1, length, file), ==, length);
  g_assert_cmpint (fclose (file), ==, 0);
}

/* Any byte that is wrong: an error or a row, never a crash. */
static void
test_damage (void)
{
  g_autofree char *text = NULL;
  gsize length;
  guint n_errors = 0;

  make_store (path, 6);
  g_assert_true (g_file_get_contents (path, &text, &length, NULL));
  for (gsize at = 100; at < length; at += 389) {
    g_autoptr (GError) error = NULL;
    g_autoptr (StudyStore) store = NULL;
    g_autoptr (GPtrArray) rows = NULL;
    char right = text[at];

    text[at] = (char) (right ^ 0x55);
    overwrite (text, length);
    text[at] = right;
    store = study_store_open (path, STUDY_STORE_READ, &error);
    rows = store != NULL ? study_store_rows (store, TRUE, &error) : NULL;
    g_assert_true ((rows == NULL) == (error != NULL));
    n_errors += error != NULL;
  }
  g_test_message ("%u of %" G_GSIZE_FORMAT " damages found", n_errors, length / 389);
  g_assert_cmpuint (n_errors, >, 0);
  overwrite (text, length / 2);
  g_clear_pointer (&text, g_free);
  {
    g_autoptr (GError) error = NULL;
    g_autoptr (StudyStore) store = study_store_open (path, STUDY_STORE_READ, &error);
    g_autoptr (GPtrArray) rows = store != NULL ? study_store_rows (store, TRUE, &error) : NULL;

    g_assert_null (rows);
    g_assert_nonnull (strstr (error->message, "damaged"));
  }
}

/* --- Shards --- */

/* A store of the plan 0..5 with the rows for which row % 2 == odd. */
static char *
shard (guint odd)
{
  char *where = g_strdup_printf ("%s/shard%u.store", folder, odd);
  g_autoptr (StudyStore) store = fixture_open (where, STUDY_STORE_CREATE);
  StudyRow *rows[6];

  for (guint at = 0; at < 6; at++)
    rows[at] = fixture_row (at);
  g_assert_true (study_store_set_plan (store, "shards", "text", rows, 6, NULL));
  for (guint at = odd; at < 6; at += 2)
    g_assert_true (fixture_put (store, &rows[at], 1, NULL));
  g_assert_true (study_store_put_machine (store, FIXTURE_MACHINE, "the text", NULL));
  for (guint at = 0; at < 6; at++)
    study_row_free (rows[at]);
  return where;
}

static void
test_merge (void)
{
  g_autofree char *even = shard (0), *odd = shard (1), *other = NULL, *name = NULL;
  g_autoptr (StudyStore) store = fixture_open (path, STUDY_STORE_CREATE);
  g_autoptr (GPtrArray) rows = NULL;
  g_autoptr (GError) error = NULL;
  guint n = 0;

  for (int twice = 0; twice < 2; twice++) {
    g_assert_true (study_store_merge (store, odd, &error));
    g_assert_true (study_store_merge (store, even, &error));
  }
  rows = study_store_rows (store, TRUE, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (rows->len, ==, 6);
  for (guint at = 0; at < 6; at++) {
    g_autoptr (StudyRow) row = fixture_row (at);
    const StudyRow *found = g_ptr_array_index (rows, at);

    g_assert_cmpstr (found->key, ==, row->key);
    g_assert_true (g_bytes_equal (found->link_bytes, row->link_bytes));
  }
  name = study_store_name (store, &error);
  g_assert_cmpstr (name, ==, "shards");
  /* Another study's runs are listed behind. */
  other = g_build_filename (folder, "other.store", NULL);
  make_store (other, 8);
  g_assert_true (study_store_merge (store, other, &error));
  g_assert_true (study_store_plan_size (store, &n, &error));
  g_assert_cmpuint (n, ==, 8);
  g_assert_cmpuint (n_rows_of (path), ==, 8);
}

/* *error is so, and nothing has changed. */
static void
assert_merge_refused (StudyStore *store, const char *from, StudyError code, const char *words)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GHashTable) before = study_store_keys (store, TRUE, NULL), after = NULL;

  g_assert_false (study_store_merge (store, from, &error));
  g_assert_error (error, STUDY_ERROR, (int) code);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, words));
  after = study_store_keys (store, TRUE, NULL);
  g_assert_cmpuint (g_hash_table_size (before), ==, g_hash_table_size (after));
}

static void
test_merge_conflicts (void)
{
  g_autofree char *even = shard (0), *odd = shard (1);
  g_autofree char *missing = g_build_filename (folder, "nowhere.store", NULL);
  g_autoptr (StudyStore) store = fixture_open (path, STUDY_STORE_CREATE);

  g_assert_true (study_store_merge (store, even, NULL));
  /* Timing is no result. */
  meddle (even, "UPDATE runs SET wall_s = 99, peak_rss_bytes = 1");
  g_assert_true (study_store_merge (store, even, NULL));
  meddle (even, "UPDATE runs SET max_bytes = 6 WHERE key = '" FIXTURE_KEY ("04") "'");
  assert_merge_refused (store, even, STUDY_ERROR_CHANGED, "max_bytes of gen:halo2d on bgq:32");
  meddle (odd, "UPDATE runs SET version = '0.0.1'");
  assert_merge_refused (store, odd, STUDY_ERROR_VERSION, "hopcast 0.0.1");
  assert_merge_refused (store, missing, STUDY_ERROR_STORE, "No such file");
  assert_merge_refused (store, path, STUDY_ERROR_STORE, "into itself");
  meddle (odd, "PRAGMA user_version = 7");
  assert_merge_refused (store, odd, STUDY_ERROR_VERSION, "newer");
}

/* What failed in one shard and worked in another is done. */
static void
test_merge_of_failures (void)
{
  g_autofree char *even = shard (0), *again = NULL;
  g_autoptr (StudyStore) store = fixture_open (path, STUDY_STORE_CREATE);
  g_autoptr (GHashTable) keys = NULL;
  g_autoptr (StudyRow) row = fixture_row (2);

  row->status = STUDY_FAILED;
  row->error = g_strdup ("killed");
  g_assert_true (fixture_put (store, &row, 1, NULL));
  g_assert_true (study_store_merge (store, even, NULL));
  keys = study_store_keys (store, FALSE, NULL);
  g_assert_cmpuint (g_hash_table_size (keys), ==, 3);
  g_hash_table_unref (keys);
  meddle (even, "UPDATE runs SET status = 'failed', time_s = NULL");
  g_assert_true (study_store_merge (store, even, NULL));
  keys = study_store_keys (store, FALSE, NULL);
  g_assert_cmpuint (g_hash_table_size (keys), ==, 3);
}

/* --- Stores from others --- */

/* A blob of such words as SQL; the caller frees it. */
static char *
blob_of (const uint64_t *words, gsize n_words)
{
  g_autoptr (GBytes) packed = study_pack_words (words, n_words);
  GString *text = g_string_new ("x'");
  gsize n_bytes;
  const guint8 *bytes = g_bytes_get_data (packed, &n_bytes);

  for (gsize at = 0; at < n_bytes; at++)
    g_string_append_printf (text, "%02x", bytes[at]);
  g_string_append_c (text, '\'');
  return g_string_free (text, FALSE);
}

static void
assert_damaged (const char *sql, const char *words)
{
  g_autoptr (GError) error = NULL;

  g_test_message ("%.200s", sql);
  fixture_make_whole (path, 3);
  meddle (path, sql);
  g_assert_false (fixture_read_all (path, &error));
  g_test_message ("%s", error->message);
  g_assert_true (g_str_has_prefix (error->message, path));
  g_assert_nonnull (strstr (error->message, words));
  g_assert_error (error, STUDY_ERROR, STUDY_ERROR_DAMAGED);
  g_unlink (path);
}

static void
test_whole_store_reads (void)
{
  g_autoptr (GError) error = NULL;

  fixture_make_whole (path, 5);
  fixture_read_all (path, &error);
  g_assert_no_error (error);
}

/* What is in the schema of no store. */
static void
test_foreign_schemas (void)
{
  static const struct {
    const char *sql, *words;
  } cases[] = {
    { "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM plan; END", "trigger t of runs" },
    { "CREATE VIEW v AS SELECT zeroblob(1000000000)", "view v of v" },
    { "DROP VIEW results; CREATE VIEW results AS WITH RECURSIVE n (x) AS"
      " (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS place FROM n",
      "malformed database schema (results)" },
    { "DROP TABLE plan; CREATE VIEW plan AS SELECT 1 AS place", "plan" },
    { "CREATE TABLE t (x)", "table t of t" },
    { "CREATE INDEX i ON runs (abs(time_s))", "index i of runs" },
    { "ALTER TABLE study ADD COLUMN x AS (zeroblob(1000000000))", "table study of study" },
    { "ALTER TABLE study ADD COLUMN x", "table study of study" },
    { "DROP TABLE blobs", "table blobs of blobs" },
    { "DROP INDEX plan_keys", "index plan_keys of plan" },
    { "DROP TABLE machines; CREATE TABLE machines (hash TEXT PRIMARY KEY NOT NULL, text TEXT NOT"
      " NULL CHECK (length (randomblob (1000000000)) > 1))",
      "table machines of machines" },
    { "ANALYZE", "sqlite_stat1" },
    { "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace (sql, ' NOT NULL', '')"
      " WHERE name = 'runs'",
      "table runs of runs" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++)
    assert_damaged (cases[at].sql, cases[at].words);
}

/* Cells that no run can have. */
static void
test_foreign_cells (void)
{
  static const struct {
    const char *sql, *words;
  } cases[] = {
    { "UPDATE runs SET nodes = 1",
      "table runs, row 1, column ranks: 8 ranks of a run that was made "
      "on 1 nodes" },
    { "UPDATE runs SET nodes = 4294967295", "row 1, column nodes: 4294967295 is not within" },
    { "UPDATE runs SET nodes = 9 WHERE rowid = 2", "9 and 1, but its machine has 8 and 1" },
    { "UPDATE runs SET ranks_per_node = 2", "8 and 2, but its machine has 8 and 1" },
    { "UPDATE runs SET ranks = 7", "7" },
    { "UPDATE runs SET ranks = -1", "column ranks: -1 is not within" },
    { "UPDATE runs SET ranks = 8.5", "column ranks: expected an integer, found a real number" },
    { "UPDATE runs SET ranks = NULL", "column ranks: expected an integer, found NULL" },
    { "UPDATE runs SET links = 33", "table blobs, row 1, column link_bytes: expected 33 to" },
    { "UPDATE runs SET links = 1 << 40", "column links: 1099511627776 is not within" },
    { "UPDATE runs SET time_s = 'soon'", "column time_s: expected a number, found a text" },
    { "UPDATE runs SET time_s = 9e999", "column time_s: inf is not within" },
    { "UPDATE runs SET time_s = -1", "column time_s: -1 is not within" },
    { "UPDATE runs SET max_bytes = 9e999", "column max_bytes: inf is not within" },
    { "UPDATE runs SET packets = -1", "column packets: -1 is not within" },
    { "UPDATE runs SET network = 'pigeons'", "\"pigeons\" is none of packet, flow, load" },
    { "UPDATE runs SET routing = NULL", "column routing: expected a text, found NULL" },
    { "UPDATE runs SET status = 'well'", "column status: \"well\" is none of done, failed" },
    { "UPDATE runs SET trace_hash = 'short'", "column trace_hash: expected a SHA-256" },
    { "UPDATE runs SET warnings = x'00'", "column warnings: expected a text, found a blob" },
    { "UPDATE plan SET trace = 'a' || char (0) || 'b'", "a text with a zero byte in it" },
    { "UPDATE plan SET trace = NULL", "table plan, row 0, column trace: expected a text" },
    { "UPDATE plan SET mapping = printf ('%.2000000c', 'x')", "column mapping: a text of 2000000" },
    { "UPDATE plan SET key = 'x' WHERE place = 1",
      "table plan, row 1, column key: expected a SHA" },
    { "UPDATE plan SET repetition = -1", "column repetition: -1 is not within" },
    { "UPDATE plan SET place = -7 WHERE place = 0", "table plan, row -7, column rowid" },
    { "UPDATE race SET draws = -1", "table race, row 0, column draws: -1 is not within" },
    { "UPDATE race SET outcome = x'00'", "column outcome: expected a text, found a blob" },
    { "UPDATE race SET margin = 'wide'", "column margin: expected a number, found a text" },
    { "UPDATE race SET place = -3 WHERE place = 0", "table race, row -3, column rowid" },
    { "UPDATE study SET file = x'00'", "table study, row 1, column file: expected a text" },
    { "UPDATE machines SET text = 5.5 || x'00'", "column text" },
    { "UPDATE placements SET ranks = 9", "table placements, row 1, column places: expected 9" },
    { "UPDATE placements SET places = (SELECT places FROM placements WHERE rowid = 2)",
      "row 1, column places: the places do not match their hash" },
    { "UPDATE placements SET places = 'x'", "column places: expected a blob, found a text" },
    { "UPDATE edges SET ranks = 7", "table edges, row 1, column data: an edge from rank 7 to 0" },
    { "UPDATE edges SET ranks = 9", "table edges, row 1, column ranks: 9, but a run of it has 8" },
    { "UPDATE edges SET edges = 3", "column data: expected 9 words" },
    { "UPDATE edges SET edges = 1 << 30", "column edges: 1073741824 is not within" },
    { "UPDATE blobs SET rank_times = link_bytes", "column rank_times: expected 24 words" },
    { "UPDATE blobs SET link_bytes = x'789c' WHERE rowid = 3", "table blobs, row 3, column link" },
    { "UPDATE blobs SET link_bytes = rank_times", "24 words, but its machine has 32 links" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++)
    assert_damaged (cases[at].sql, cases[at].words);
}

/* The schema is as it must be and says NOT NULL, but the rows are from before. */
static void
test_null_keys (void)
{
  assert_damaged ("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace (sql,"
                  " 'KEY NOT NULL', 'KEY /* NULL */') WHERE name = 'runs';"
                  "PRAGMA writable_schema = RESET; UPDATE runs SET key = NULL WHERE rowid = 2;"
                  "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace (sql,"
                  " 'KEY /* NULL */', 'KEY NOT NULL') WHERE name = 'runs';"
                  "PRAGMA writable_schema = OFF",
                  "table runs, row 2, column key: expected a text, found NULL");
}

/* A few kilobytes that stand for 128 MB. */
static void
test_bombs (void)
{
  static const char *const columns[][3] = {
    { "placements", "places", "column places: expected 8 words" },
    { "edges", "data", "column data: expected 6 words" },
    { "blobs", "rank_times", "column rank_times: expected 24 words" },
  };
  const gsize n_words = 1 << 24;
  g_autofree uint64_t *words = g_new0 (uint64_t, n_words);
  g_autofree char *blob = blob_of (words, n_words);

  for (gsize at = 0; at < G_N_ELEMENTS (columns); at++) {
    g_autofree char *sql =
        g_strdup_printf ("UPDATE %s SET %s = %s", columns[at][0], columns[at][1], blob);

    assert_damaged (sql, columns[at][2]);
  }
}

/* The places of a run and its mapping's hash are those of another machine. */
static void
assert_misplaced (const uint64_t *words, const char *trouble)
{
  uint32_t node[8];
  uint8_t slot[8];
  const TopoMapping mapping = { NULL, 8, node, slot };
  g_autofree char *blob = blob_of (words, 8), *hash = NULL, *sql = NULL;

  for (guint rank = 0; rank < 8; rank++) {
    node[rank] = (uint32_t) words[rank];
    slot[rank] = (uint8_t) (words[rank] >> 32);
  }
  hash = study_mapping_hash (&mapping);
  sql = g_strdup_printf ("UPDATE placements SET places = %s, hash = '%s' WHERE rowid = 2;"
                         "UPDATE runs SET mapping_hash = '%s' WHERE rowid = 2",
                         blob, hash, hash);
  assert_damaged (sql, trouble);
}

static void
test_places_beyond_the_machine (void)
{
  const uint64_t beyond[8] = { 0, 1, 2, 3, 4, 5, 6, 1000 };
  const uint64_t slot[8] = { 0, 1, 2, 3, 4, 5, 6, 7 | G_GUINT64_CONSTANT (1) << 32 };
  const uint64_t far_slot[8] = { 0, 1, 2, 3, 4, 5, 6, 7 | G_GUINT64_CONSTANT (300) << 32 };
  const uint64_t twice[8] = { 0, 1, 2, 3, 4, 5, 6, 6 };

  assert_misplaced (beyond, "rank 7 is in slot 0 of node 1000");
  assert_misplaced (slot, "rank 7 is in slot 1 of node 7");
  assert_misplaced (far_slot, "slot 300 of rank 7");
  assert_misplaced (twice, "rank 7 is in slot 0 of node 6, like an earlier rank");
}

/* A NaN in the times of a rank. */
static void
test_times_of_ranks (void)
{
  uint64_t words[24] = { 0 };
  const double nan = g_ascii_strtod ("nan", NULL);
  g_autofree char *blob = NULL, *sql = NULL;

  memcpy (&words[7], &nan, sizeof nan);
  blob = blob_of (words, 24);
  sql = g_strdup_printf ("UPDATE blobs SET rank_times = %s WHERE rowid = 1", blob);
  assert_damaged (sql, "table blobs, row 1, column rank_times: nan, of rank 2");
}

/* --- Files that stores name --- */

/* The error of the first row's machine. */
static char *
machine_trouble (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (StudyStore) store = fixture_open (path, STUDY_STORE_READ);
  g_autoptr (GPtrArray) rows = study_store_rows (store, FALSE, &error);
  g_autoptr (TopoMachine) machine = NULL;

  g_assert_no_error (error);
  machine = study_store_machine (store, g_ptr_array_index (rows, 0), &error);
  if (machine != NULL)
    return g_strdup ("");
  g_test_message ("%s", error->message);
  return g_strdup (error->message);
}

static void
assert_not_opened (const char *file, const char *line, const char *trouble)
{
  g_autofree char *sql = g_strdup_printf (
      "UPDATE machines SET text = '[machine]\nspec = fabric:%s\n' || '%s'", file, line);
  g_autofree char *found = NULL;

  fixture_make_whole (path, 1);
  meddle (path, sql);
  found = machine_trouble ();
  g_assert_nonnull (strstr (found, trouble));
  g_assert_nonnull (strstr (found, file));
  g_unlink (path);
}

/* Neither a device nor a pipe nor a text is opened without its hash, and nothing of its content
 * is in an error. */
static void
test_files_without_hashes (void)
{
  g_autofree char *pipe = g_build_filename (folder, "pipe", NULL);
  g_autofree char *secret = g_build_filename (folder, "secret", NULL);
  g_autofree char *wrong = g_strdup_printf ("# sha256 " FIXTURE_KEY ("00") " %s\n", secret);
  g_autofree char *of_pipe = g_strdup_printf ("# sha256 " FIXTURE_KEY ("00") " %s\n", pipe);

  g_assert_cmpint (mkfifo (pipe, 0600), ==, 0);
  g_assert_true (g_file_set_contents (secret, "password", -1, NULL));
  assert_not_opened ("/dev/zero", "", "no hash of this file is known");
  assert_not_opened ("/dev/zero", "# sha256 " FIXTURE_KEY ("00") " /dev/zero\n",
                     "not a regular file");
  assert_not_opened (pipe, "", "no hash of this file is known");
  assert_not_opened (pipe, of_pipe, "not a regular file");
  assert_not_opened (secret, "", "no hash of this file is known");
  assert_not_opened (secret, wrong, "the content has changed");
}

/* A fabric's file is read while it is what it was. */
static void
test_files_with_hashes (void)
{
  static const char fabric[] = "SwitchName=s0 Nodes=n[0-7]\n";
  g_autofree char *file = g_build_filename (folder, "topology.conf", NULL);
  g_autofree char *spec = g_strconcat ("fabric:", file, NULL);
  g_autofree char *same = NULL, *changed = NULL, *old = NULL, *again = NULL, *hash = NULL,
                  *text = NULL, *plain = NULL;
  char *quoted;
  g_autoptr (TopoMachine) machine = NULL;
  g_autoptr (StudyStore) store = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_set_contents (file, fabric, -1, NULL));
  machine = topo_machine_new (spec, &error);
  g_assert_no_error (error);
  hash = study_machine_hash (machine);
  text = study_machine_text (machine);
  plain = topo_machine_print (machine);
  g_assert_true (g_str_has_prefix (text, plain));
  fixture_make_whole (path, 1);
  quoted = sqlite3_mprintf ("UPDATE machines SET hash = '%q', text = '%q';"
                            "UPDATE runs SET machine_hash = '%q'",
                            hash, plain, hash);
  meddle (path, quoted);
  sqlite3_free (quoted);
  /* As stores of older versions are. */
  old = machine_trouble ();
  g_assert_nonnull (strstr (old, "'hopcast study run' of its study stores their hashes"));
  store = fixture_open (path, STUDY_STORE_WRITE);
  g_assert_true (study_store_put_machine (store, hash, text, NULL));
  g_clear_pointer (&store, study_store_free);
  same = machine_trouble ();
  g_assert_cmpstr (same, ==, "");
  g_assert_true (g_file_set_contents (file, "SwitchName=s0 Nodes=n[1-8]\n", -1, NULL));
  changed = machine_trouble ();
  g_assert_nonnull (strstr (changed, "topology.conf: the content has changed"));
  g_assert_true (g_file_set_contents (file, fabric, -1, NULL));
  again = machine_trouble ();
  g_assert_cmpstr (again, ==, "");
}

/* --- Stores that are not where they were --- */

static void
assert_put_refused (StudyStore *store, guint number, const char *words)
{
  g_autoptr (StudyRow) row = fixture_row (number);
  g_autoptr (GError) error = NULL;

  g_assert_false (fixture_put (store, &row, 1, &error));
  g_assert_error (error, STUDY_ERROR, STUDY_ERROR_MOVED);
  g_test_message ("%s", error->message);
  g_assert_true (g_str_has_prefix (error->message, path));
  g_assert_nonnull (strstr (error->message, words));
  g_clear_error (&error);
  g_assert_false (study_store_check_place (store, &error));
  g_assert_error (error, STUDY_ERROR, STUDY_ERROR_MOVED);
}

static void
test_removed_while_written (void)
{
  g_autoptr (StudyStore) store = fixture_open (path, STUDY_STORE_CREATE);

  fixture_fill (store, 3);
  g_assert_true (study_store_check_place (store, NULL));
  g_assert_cmpint (g_unlink (path), ==, 0);
  assert_put_refused (store, 4, "was removed while it was written to");
  g_clear_pointer (&store, study_store_free);
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
}

/* All rows that were there are in the renamed file, and what has its name now stays as it is. */
static void
check_renamed (gboolean replace)
{
  g_autofree char *there = g_build_filename (folder, "other.store", NULL);
  g_autofree char *words = g_strdup_printf ("was renamed to %s while", there);
  g_autofree char *wal = g_strconcat (path, "-wal", NULL);
  g_autofree char *text = NULL;
  g_autoptr (StudyStore) store = fixture_open (path, STUDY_STORE_CREATE);

  fixture_fill (store, 6);
  g_assert_cmpint (g_rename (path, there), ==, 0);
  if (replace)
    g_assert_true (g_file_set_contents (path, "another file", -1, NULL));
  assert_put_refused (store, 7, words);
  g_clear_pointer (&store, study_store_free);
  if (replace) {
    g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
    g_assert_cmpstr (text, ==, "another file");
  } else {
    g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
    g_assert_false (g_file_test (wal, G_FILE_TEST_EXISTS));
  }
  g_assert_cmpuint (n_rows_of (there), ==, 6);
  g_unlink (there);
  g_unlink (path);
}

static void
test_renamed_while_written (void)
{
  check_renamed (FALSE);
  check_renamed (TRUE);
}

/* --- One file by two paths --- */

static int
open_the_link (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (StudyStore) store = study_store_open (path, STUDY_STORE_WRITE, &error);

  if (store != NULL)
    return 0;
  return g_error_matches (error, STUDY_ERROR, STUDY_ERROR_BUSY) &&
                 strstr (error->message, "by another path (a link)") != NULL
             ? 1
             : 2;
}

static void
test_one_lock_for_all_paths (void)
{
  g_autofree char *soft = g_build_filename (folder, "soft.store", NULL);
  g_autofree char *hard = g_build_filename (folder, "hard.store", NULL);
  g_autofree char *real = g_strdup (path);
  g_autoptr (StudyStore) store = fixture_open (path, STUDY_STORE_CREATE);

  g_assert_cmpint (symlink (path, soft), ==, 0);
  g_assert_cmpint (link (path, hard), ==, 0);
  for (int at = 0; at < 2; at++) {
    g_free (path);
    path = g_strdup (at == 0 ? soft : hard);
    assert_refused (path, STUDY_STORE_WRITE, STUDY_ERROR_BUSY, "only one may at a time");
    g_assert_cmpint (in_child (open_the_link), ==, 1);
  }
  g_clear_pointer (&store, study_store_free);
  g_assert_cmpint (in_child (open_the_link), ==, 0);
  g_free (path);
  path = g_steal_pointer (&real);
}

/* A journal of a transaction over several databases, whose list SQLite would delete. */
static void
test_journal_of_others (void)
{
  g_autofree char *journal = g_strconcat (path, "-journal", NULL);
  g_autofree char *soft = g_build_filename (folder, "soft.store", NULL);
  static const char end[] = "/tmp/precious\0\0\0\15\0\0\0\0\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";

  make_store (path, 1);
  g_assert_true (g_file_set_contents (journal, end, sizeof end - 1, NULL));
  g_assert_cmpint (symlink (path, soft), ==, 0);
  assert_refused (path, STUDY_STORE_READ, STUDY_ERROR_DAMAGED, "names another file");
  assert_refused (soft, STUDY_STORE_CREATE, STUDY_ERROR_DAMAGED, "names another file");
  g_assert_true (g_file_set_contents (journal, end, sizeof end - 2, NULL));
  g_assert_cmpuint (n_rows_of (path), ==, 1);
}

static void
test_no_regular_file (void)
{
  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  assert_refused (path, STUDY_STORE_READ, STUDY_ERROR_STORE, "not a regular file");
  assert_refused (path, STUDY_STORE_CREATE, STUDY_ERROR_STORE, "not a regular file");
  assert_refused ("/dev/zero", STUDY_STORE_READ, STUDY_ERROR_STORE, "not a regular file");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, test) fixture_add_test (name, test, "a.store", &folder, &path)
  ADD ("/store/report-needs-the-study", test_report_needs_the_study);
  ADD ("/store/what-is-no-store", test_what_is_no_store);
  ADD ("/store/newer-version", test_newer_version);
  ADD ("/store/version-1", test_version_1);
  ADD ("/store/version-2", test_version_2);
  ADD ("/store/version-3", test_version_3);
  ADD ("/store/version/meddled", test_version_meddled);
  ADD ("/store/two-writers", test_two_writers);
  ADD ("/store/kills", test_kills);
  ADD ("/store/full-disk", test_full_disk);
  ADD ("/store/full-disk-says-so", test_full_disk_says_so);
  ADD ("/store/read-only", test_read_only);
  ADD ("/store/damage", test_damage);
  ADD ("/store/merge", test_merge);
  ADD ("/store/merge-conflicts", test_merge_conflicts);
  ADD ("/store/merge-of-failures", test_merge_of_failures);
  ADD ("/store/whole-store-reads", test_whole_store_reads);
  ADD ("/store/foreign-schemas", test_foreign_schemas);
  ADD ("/store/foreign-cells", test_foreign_cells);
  ADD ("/store/null-keys", test_null_keys);
  ADD ("/store/bombs", test_bombs);
  ADD ("/store/places-beyond-the-machine", test_places_beyond_the_machine);
  ADD ("/store/times-of-ranks", test_times_of_ranks);
  ADD ("/store/files-without-hashes", test_files_without_hashes);
  ADD ("/store/files-with-hashes", test_files_with_hashes);
  ADD ("/store/removed-while-written", test_removed_while_written);
  ADD ("/store/renamed-while-written", test_renamed_while_written);
  ADD ("/store/one-lock-for-all-paths", test_one_lock_for_all_paths);
  ADD ("/store/journal-of-others", test_journal_of_others);
  ADD ("/store/no-regular-file", test_no_regular_file);
  return g_test_run ();
}
