/* outfile_test.c - a result file is complete or was never there.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/print/outfile.h"

#include <glib/gstdio.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
  char *folder, *path;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
  fixture->folder = g_dir_make_tmp ("hopcast-outfile-XXXXXX", NULL);
  fixture->path = g_build_filename (fixture->folder, "result.csv", NULL);
}

static void
tear_down (Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
  g_unlink (fixture->path);
  g_assert_cmpint (g_rmdir (fixture->folder), ==, 0); /* nothing else was left in it */
  g_free (fixture->path);
  g_free (fixture->folder);
}

static void
assert_content (const char *path, const char *expected)
{
  g_autofree char *text = NULL;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, expected);
}

static void
test_appears_when_committed (Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (CliOutfile) file = cli_outfile_new (fixture->path, NULL);

  fputs ("new", cli_outfile_stream (file));
  fflush (cli_outfile_stream (file));
  g_assert_false (g_file_test (fixture->path, G_FILE_TEST_EXISTS));
  g_assert_true (cli_outfile_commit (file, NULL));
  assert_content (fixture->path, "new");
}

/* gzip unpacks it; without .gz at the end of its name it is plain. */
static void
test_gzip (Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
  g_autofree char *path = g_strconcat (fixture->path, ".gz", NULL);
  g_autofree char *command = g_strconcat ("gzip -dc ", path, NULL), *text = NULL;
  g_autoptr (CliOutfile) packed = cli_outfile_new_gzip (path, NULL);
  g_autoptr (CliOutfile) plain = cli_outfile_new_gzip (fixture->path, NULL);

  fputs ("new", cli_outfile_stream (packed));
  fputs ("new", cli_outfile_stream (plain));
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
  g_assert_true (cli_outfile_commit (packed, NULL));
  g_assert_true (cli_outfile_commit (plain, NULL));
  g_assert_true (g_spawn_command_line_sync (command, &text, NULL, NULL, NULL));
  g_assert_cmpstr (text, ==, "new");
  assert_content (fixture->path, "new");
  g_unlink (path);
}

static void
test_old_stays_without_commit (Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
  CliOutfile *file;

  g_file_set_contents (fixture->path, "old", -1, NULL);
  file = cli_outfile_new (fixture->path, NULL);
  fputs ("half of the new", cli_outfile_stream (file));
  cli_outfile_free (file);
  assert_content (fixture->path, "old");
}

/* The runs of a store may have taken days; one byte less is any file. */
static void
test_store_is_not_replaced (Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
  static const char begin[] = "SQLite format 3";
  g_autoptr (GError) error = NULL;
  g_autoptr (CliOutfile) file = NULL;
  g_autofree char *wanted =
      g_strconcat (fixture->path, ": not replaced: it is a store of runs", NULL);

  g_assert_true (g_file_set_contents (fixture->path, begin, sizeof begin, NULL));
  g_assert_null (cli_outfile_new (fixture->path, &error));
  g_assert_cmpstr (error->message, ==, wanted);
  assert_content (fixture->path, begin);
  g_assert_true (g_file_set_contents (fixture->path, begin, sizeof begin - 1, NULL));
  file = cli_outfile_new (fixture->path, NULL);
  g_assert_nonnull (file);
}

static void
test_keeps_permissions (Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (CliOutfile) file = NULL;
  struct stat status;

  g_file_set_contents (fixture->path, "old", -1, NULL);
  g_chmod (fixture->path, 0640);
  file = cli_outfile_new (fixture->path, NULL);
  g_assert_true (cli_outfile_commit (file, NULL));
  g_assert_cmpint (stat (fixture->path, &status), ==, 0);
  g_assert_cmpint (status.st_mode & 07777, ==, 0640);
}

/* The file at the other end is another's, perhaps, and keeps its content and permissions. */
static void
test_replaces_links (Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
  g_autofree char *link = g_build_filename (fixture->folder, "link", NULL);
  g_autoptr (CliOutfile) file = NULL;

  g_file_set_contents (fixture->path, "old", -1, NULL);
  g_assert_cmpint (symlink ("result.csv", link), ==, 0);
  file = cli_outfile_new (link, NULL);
  fputs ("new", cli_outfile_stream (file));
  g_assert_true (cli_outfile_commit (file, NULL));
  g_assert_false (g_file_test (link, G_FILE_TEST_IS_SYMLINK));
  assert_content (fixture->path, "old");
  assert_content (link, "new");
  g_unlink (link);
}

/* The kernel's names of open files are links as well, which nothing may replace. */
static void
test_writes_to_descriptors (Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
  int descriptor = open (fixture->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  g_autofree char *path = g_strdup_printf ("/dev/fd/%d", descriptor);
  g_autoptr (CliOutfile) file = cli_outfile_new (path, NULL);

  fputs ("new", cli_outfile_stream (file));
  g_assert_true (cli_outfile_commit (file, NULL));
  close (descriptor);
  assert_content (fixture->path, "new");
}

static void
test_empty_name_is_an_error (Fixture *fixture G_GNUC_UNUSED, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (cli_outfile_new ("", &error));
  g_assert_error (error, CLI_ERROR, CLI_ERROR_FILE);
}

static void
test_missing_folder_is_an_error (Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
  g_autofree char *path = g_build_filename (fixture->folder, "no", "result.csv", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_null (cli_outfile_new (path, &error));
  g_assert_error (error, CLI_ERROR, CLI_ERROR_FILE);
  g_assert_nonnull (strstr (error->message, path));
}

static void
test_full_disk_is_an_error (Fixture *fixture G_GNUC_UNUSED, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (CliOutfile) file = NULL;
  g_autoptr (GError) error = NULL;

  if (access ("/dev/full", W_OK) != 0) {
    g_test_skip ("no /dev/full here");
    return;
  }
  file = cli_outfile_new ("/dev/full", NULL);
  g_assert_nonnull (file);
  for (int i = 0; i < 10000; i++)
    fputs ("more than a buffer holds\n", cli_outfile_stream (file));
  g_assert_false (cli_outfile_commit (file, &error));
  g_assert_error (error, CLI_ERROR, CLI_ERROR_FILE);
}

static gpointer
wait_for_ever (gpointer data G_GNUC_UNUSED)
{
  for (;;)
    pause ();
  return NULL;
}

/* What the thread that blocks signals while it makes a file would never get to. */
#define TOLD "got there"

static void
be_signalled_beside_a_thread (const char *path, int told)
{
  g_autoptr (CliOutfile) file = NULL;
  sigset_t terminate;

  cli_outfile_handle_signals ();
  g_thread_unref (g_thread_new ("library", wait_for_ever, NULL));
  sigemptyset (&terminate);
  sigaddset (&terminate, SIGTERM);
  pthread_sigmask (SIG_BLOCK, &terminate, NULL);
  kill (getpid (), SIGTERM);
  g_usleep (G_USEC_PER_SEC / 10);
  file = cli_outfile_new (path, NULL);
  if (write (told, TOLD, sizeof TOLD) == sizeof TOLD)
    pthread_sigmask (SIG_UNBLOCK, &terminate, NULL);
  _exit (0);
}

/* A signal that a library's thread received waits for the thread that blocks it. */
/* A name that ends in .gz, of a disk without room. */
static void
test_gzip_on_a_full_disk (Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
  g_autofree char *path = g_strconcat (fixture->path, ".gz", NULL);
  g_autoptr (CliOutfile) file = NULL;
  g_autoptr (GError) error = NULL;

  if (access ("/dev/full", W_OK) != 0) {
    g_test_skip ("no /dev/full here");
    return;
  }
  g_assert_cmpint (symlink ("/dev/full", path), ==, 0);
  file = cli_outfile_new_gzip (path, NULL);
  fputs ("new", cli_outfile_stream (file));
  g_assert_false (cli_outfile_commit (file, &error));
  g_assert_error (error, CLI_ERROR, CLI_ERROR_FILE);
  g_assert_nonnull (strstr (error->message, "csv.gz: cannot write: "));
  g_unlink (path);
}

static void
test_signal_of_another_thread (Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
  char told[sizeof TOLD];
  int pipe_ends[2], status;
  pid_t child;

  g_assert_cmpint (pipe (pipe_ends), ==, 0);
  child = fork ();
  if (child == 0)
    be_signalled_beside_a_thread (fixture->path, pipe_ends[1]);
  close (pipe_ends[1]);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_cmpint (read (pipe_ends[0], told, sizeof told), ==, sizeof told);
  close (pipe_ends[0]);
  g_assert_true (WIFSIGNALED (status));
  g_assert_cmpint (WTERMSIG (status), ==, SIGTERM);
}

static void
add (const char *path, void (*test) (Fixture *fixture, gconstpointer data))
{
  g_test_add (path, Fixture, NULL, set_up, test, tear_down);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add ("/cli/outfile/appears-when-committed", test_appears_when_committed);
  add ("/cli/outfile/gzip", test_gzip);
  add ("/cli/outfile/gzip-on-a-full-disk", test_gzip_on_a_full_disk);
  add ("/cli/outfile/old-stays-without-commit", test_old_stays_without_commit);
  add ("/cli/outfile/store-is-not-replaced", test_store_is_not_replaced);
  add ("/cli/outfile/keeps-permissions", test_keeps_permissions);
  add ("/cli/outfile/replaces-links", test_replaces_links);
  add ("/cli/outfile/descriptors", test_writes_to_descriptors);
  add ("/cli/outfile/empty-name", test_empty_name_is_an_error);
  add ("/cli/outfile/missing-folder", test_missing_folder_is_an_error);
  add ("/cli/outfile/full-disk", test_full_disk_is_an_error);
  add ("/cli/outfile/signal-of-another-thread", test_signal_of_another_thread);
  return g_test_run ();
}
