/* file_test.c - files of every kind, and how their errors read.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

static char *folder;

static char *
path_of (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

static void
test_bytes (void)
{
  g_autofree char *path = path_of ("bytes");
  g_autofree char *large = g_strnfill (1000000, 'x');
  const struct {
    const char *bytes;
    gsize n;
  } cases[] = { { "", 0 }, { "one line\n", 9 }, { "a\0b", 3 }, { large, 1000000 } };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *text = NULL;
    gsize length;

    g_assert_true (g_file_set_contents (path, cases[at].bytes, (gssize) cases[at].n, NULL));
    g_assert_true (base_file_read (path, &text, &length, &error));
    g_assert_no_error (error);
    g_assert_cmpuint (length, ==, cases[at].n);
    g_assert_true (memcmp (text, cases[at].bytes, length) == 0);
    g_assert_cmpint (text[length], ==, '\0');
  }
  g_unlink (path);
}

static void
test_device_without_end (void)
{
  g_autoptr (GError) error = NULL;
  char *text = NULL;

  g_assert_false (base_file_read ("/dev/zero", &text, NULL, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_FAILED);
  g_assert_cmpstr (error->message, ==, "/dev/zero: File too large");
}

static gpointer
write_pipe (gpointer path)
{
  FILE *out = fopen (path, "w");

  for (int line = 0; line < 5000; line++)
    fputs ("through a pipe\n", out);
  fclose (out);
  return NULL;
}

/* As a shell's <(command) gives it: no size beforehand. */
static void
test_pipe (void)
{
  g_autofree char *path = path_of ("pipe"), *text = NULL;
  g_autoptr (GError) error = NULL;
  GThread *writer;
  gsize length;

  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  writer = g_thread_new ("writer", write_pipe, path);
  g_assert_true (base_file_read (path, &text, &length, &error));
  g_assert_no_error (error);
  g_thread_join (writer);
  g_assert_cmpuint (length, ==, 5000 * strlen ("through a pipe\n"));
  g_unlink (path);
}

static void
test_errors (void)
{
  g_autofree char *missing = path_of ("missing"), *text = NULL;
  g_autofree char *no_file = g_strconcat (missing, ": No such file or directory", NULL);
  g_autofree char *a_folder = g_strconcat (folder, ": Is a directory", NULL);
  g_autoptr (GError) of_file = NULL, of_folder = NULL, of_entries = NULL;

  g_assert_false (base_file_read (missing, &text, NULL, &of_file));
  g_assert_error (of_file, G_FILE_ERROR, G_FILE_ERROR_NOENT);
  g_assert_cmpstr (of_file->message, ==, no_file);
  g_assert_false (base_file_read (folder, &text, NULL, &of_folder));
  g_assert_cmpstr (of_folder->message, ==, a_folder);
  g_assert_null (base_folder_open (missing, &of_entries));
  g_assert_cmpstr (of_entries->message, ==, no_file);
  g_assert_null (text);
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("hopcast-file-XXXXXX", NULL);
  g_test_add_func ("/base/file/bytes", test_bytes);
  g_test_add_func ("/base/file/device-without-end", test_device_without_end);
  g_test_add_func ("/base/file/pipe", test_pipe);
  g_test_add_func ("/base/file/errors", test_errors);
  status = g_test_run ();
  g_rmdir (folder);
  g_free (folder);
  return status;
}
