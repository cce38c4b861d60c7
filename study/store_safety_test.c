/* store_safety_test.c - stores on bad days: full disks, kills, other writers, shards.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/report.h"
#include "study/store_fixture.h"
#include "study/store_private.h"

#include <glib/gstdio.h>
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
  meddle (path, "ALTER TABLE study RENAME COLUMN file TO text");
  g_assert_false (study_report_write_store (out, store, NULL, 2, &error));
  g_assert_error (error, STUDY_ERROR, STUDY_ERROR_STORE);
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
  assert_refused (path, STUDY_STORE_READ, STUDY_ERROR_STORE, "no store of hopcast");
  g_assert_true (g_file_set_contents (path, "[study]\nthis is a study, no store\n", -1, NULL));
  assert_refused (path, STUDY_STORE_READ, STUDY_ERROR_STORE, "no store of hopcast");
  assert_refused (path, STUDY_STORE_CREATE, STUDY_ERROR_STORE, "no store of hopcast");
  g_unlink (path);
  meddle (path, "CREATE TABLE t (x)");
  assert_refused (path, STUDY_STORE_READ, STUDY_ERROR_STORE, "no store of hopcast");
  assert_refused (path, STUDY_STORE_CREATE, STUDY_ERROR_STORE, "no store of hopcast");
}

static void
test_newer_version (void)
{
  make_store (path, 1);
  meddle (path, "PRAGMA user_version = 2");
  assert_refused (path, STUDY_STORE_READ, STUDY_ERROR_VERSION, "newer hopcast");
  assert_refused (path, STUDY_STORE_CREATE, STUDY_ERROR_VERSION, "newer hopcast");
  meddle (path, "PRAGMA user_version = 0");
  assert_refused (path, STUDY_STORE_READ, STUDY_ERROR_VERSION, "version 0");
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

    if (!study_store_put_all (store, rows, 3, NULL))
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

    if (study_store_put_all (store, rows, 3, &error))
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

    if (study_store_put (store, row, &error))
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
    g_assert_true (study_store_put (store, rows[at], NULL));
  g_assert_true (study_store_put_machine (store, "machine", "the text", NULL));
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
  meddle (even, "UPDATE runs SET max_bytes = 6 WHERE key = 'key-4'");
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
  g_assert_true (study_store_put (store, row, NULL));
  g_assert_true (study_store_merge (store, even, NULL));
  keys = study_store_keys (store, FALSE, NULL);
  g_assert_cmpuint (g_hash_table_size (keys), ==, 3);
  g_hash_table_unref (keys);
  meddle (even, "UPDATE runs SET status = 'failed', time_s = NULL");
  g_assert_true (study_store_merge (store, even, NULL));
  keys = study_store_keys (store, FALSE, NULL);
  g_assert_cmpuint (g_hash_table_size (keys), ==, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, test) fixture_add_test (name, test, "a.store", &folder, &path)
  ADD ("/store/report-needs-the-study", test_report_needs_the_study);
  ADD ("/store/what-is-no-store", test_what_is_no_store);
  ADD ("/store/newer-version", test_newer_version);
  ADD ("/store/two-writers", test_two_writers);
  ADD ("/store/kills", test_kills);
  ADD ("/store/full-disk", test_full_disk);
  ADD ("/store/full-disk-says-so", test_full_disk_says_so);
  ADD ("/store/read-only", test_read_only);
  ADD ("/store/damage", test_damage);
  ADD ("/store/merge", test_merge);
  ADD ("/store/merge-conflicts", test_merge_conflicts);
  ADD ("/store/merge-of-failures", test_merge_of_failures);
  return g_test_run ();
}
