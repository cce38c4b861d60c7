/* fuzzing.c - what all fuzz targets share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include ".ci/fuzzing.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct FuzzSeeds {
  const char *folder;
  guint n;
};

int LLVMFuzzerInitialize (int *argc, char ***argv);
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* --- Seeds --- */

void
fuzz_write (const char *path, const void *bytes, gsize n)
{
  int fd = g_open (path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

  if (fd < 0 || write (fd, bytes, n) != (gssize) n || close (fd) != 0)
    g_error ("%s: %s", path, g_strerror (errno));
}

void
fuzz_add (FuzzSeeds *seeds, const void *bytes, gsize n)
{
  g_autofree char *path = g_strdup_printf ("%s/seed-%02u", seeds->folder, seeds->n++);

  fuzz_write (path, bytes, n);
}

void
fuzz_add_text (FuzzSeeds *seeds, const char *text)
{
  fuzz_add (seeds, text, strlen (text));
}

void
fuzz_add_texts (FuzzSeeds *seeds, const char *const texts[])
{
  for (guint i = 0; texts[i] != NULL; i++)
    fuzz_add_text (seeds, texts[i]);
}

void
fuzz_add_words (FuzzSeeds *seeds, const char *const words[])
{
  g_autofree char *path = g_strconcat (seeds->folder, ".dict", NULL);
  g_autoptr (GString) text = g_string_new ("# words of the format\n");

  for (guint i = 0; words[i] != NULL; i++)
    g_string_append_printf (text, "\"%s\"\n", words[i]);
  fuzz_write (path, text->str, text->len);
}

/* --- Inputs --- */

static char *folder, *file;

static void
remove_folder (void)
{
  GDir *dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *path = g_build_filename (folder, name, NULL);

    g_unlink (path);
  }
  if (dir != NULL)
    g_dir_close (dir);
  g_rmdir (folder);
  g_free (folder);
  g_free (file);
}

const char *
fuzz_folder (void)
{
  if (folder != NULL)
    return folder;
  folder = g_dir_make_tmp ("hopcast-fuzz-XXXXXX", NULL);
  if (folder == NULL)
    g_error ("%s: %s", g_get_tmp_dir (), g_strerror (errno));
  file = g_build_filename (folder, "input", NULL);
  atexit (remove_folder);
  return folder;
}

const char *
fuzz_file (const uint8_t *data, size_t size)
{
  fuzz_folder ();
  fuzz_write (file, data, size);
  return file;
}

/* --- What libFuzzer calls --- */

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  FuzzSeeds seeds = { g_getenv ("FUZZ_SEEDS"), 0 };

  (void) argc, (void) argv;
  if (fuzz_program.prepare != NULL)
    fuzz_program.prepare ();
  if (seeds.folder != NULL) {
    fuzz_program.seed (&seeds);
    exit (0);
  }
  return 0;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  fuzz_program.check (data, size);
  return 0;
}
