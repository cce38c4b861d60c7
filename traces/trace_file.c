/* trace_file.c - files of a trace, plain or gzip alike.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/trace_file.h"
#include "traces/format.h"

#include "base/file.h"
#include "traces/trace.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <zlib.h>

#define BLOCK_BYTES 65536
/* A file of at most this size is read: a mapping would cost more than its pages. */
#define SMALL_BYTES 16384
/* Limit of mappings.  A process may have 65,530 by default on Linux, fewer than a
 * large trace has ranks, and malloc() needs some of them as well. */
#define MAX_MAPPED 32768
/* Traces as text or in DUMPI's binary form grow 5 to 60 times; zlib allows for 1,032. */
#define MAX_GROWTH       100
#define MAX_GROWTH_BYTES (256 << 20)

static gint n_mapped; /* files, of all traces; atomic */
static gboolean unpacks_all;

void
trace_unpack_all (void)
{
  unpacks_all = TRUE;
}

static gzFile
gz_open (const char *path, GError **error)
{
  gzFile file;

  if (g_file_test (path, G_FILE_TEST_IS_DIR)) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_OPEN, "%s: is a folder, not a trace", path);
    return NULL;
  }
  errno = 0;
  file = gzopen (path, "rb");
  if (file == NULL)
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_OPEN, "%s: %s", path,
                 g_strerror (errno != 0 ? errno : ENOMEM));
  else
    gzbuffer (file, BLOCK_BYTES);
  return file;
}

/* zlib reads a gzip file that stops early without an error until it is closed
 * or asked. */
static gboolean
gz_check (gzFile file, const char *path, GError **error)
{
  int status;
  const char *message = gzerror (file, &status);

  if (status == Z_OK || status == Z_STREAM_END)
    return TRUE;
  return TRACE_FAIL (TRACE_ERROR_OPEN, error, "%s: %s", path,
                     status == Z_ERRNO ? g_strerror (errno) : message);
}

gssize
trace_file_head (const char *path, guint8 *head, gsize n, GError **error)
{
  gzFile file = gz_open (path, error);
  int n_read;
  gboolean good;

  if (file == NULL)
    return -1;
  n_read = gzread (file, head, (unsigned) n);
  good = n_read > 0 || gz_check (file, path, error);
  gzclose (file);
  return good ? MAX (n_read, 0) : -1;
}

static GBytes *
inflate_file (const char *path, GError **error)
{
  gzFile file = gz_open (path, error);
  gsize capacity = BLOCK_BYTES, n = 0;
  g_autofree char *contents = NULL;
  gboolean good = TRUE;
  int n_read;

  if (file == NULL)
    return NULL;
  contents = g_malloc (capacity);
  while (good &&
         (n_read = gzread (file, contents + n, (unsigned) MIN (capacity - n, G_MAXINT))) > 0) {
    n += (gsize) n_read;
    good = unpacks_all || n <= MAX_GROWTH_BYTES || n / MAX_GROWTH <= (gsize) gzoffset (file);
    if (!good)
      g_set_error (error, TRACE_ERROR, TRACE_ERROR_OPEN,
                   "%s: this gzip file unpacks to more than %d MiB, over %d times its size; if it "
                   "is from a source you trust, read it with --unpack-all",
                   path, MAX_GROWTH_BYTES >> 20, MAX_GROWTH);
    if (good && n == capacity) {
      capacity *= 2;
      contents = g_realloc (contents, capacity);
    }
  }
  good = good && gz_check (file, path, error);
  gzclose (file);
  contents = g_realloc (contents, MAX (n, 1));
  return good ? g_bytes_new_take (g_steal_pointer (&contents), n) : NULL;
}

static void
unmap (gpointer map)
{
  g_mapped_file_unref (map);
  g_atomic_int_add (&n_mapped, -1);
}

GBytes *
trace_file_load (const char *path, GError **error)
{
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) trouble = NULL;
  GMappedFile *map = NULL;
  GStatBuf status;
  char *contents;
  const guint8 *data;
  gsize n;

  if (g_stat (path, &status) != 0 || status.st_size > SMALL_BYTES) {
    if (g_atomic_int_add (&n_mapped, 1) < MAX_MAPPED)
      map = g_mapped_file_new (path, FALSE, NULL);
    if (map == NULL)
      g_atomic_int_add (&n_mapped, -1);
  }
  if (map != NULL) {
    bytes = g_bytes_new_with_free_func (g_mapped_file_get_contents (map),
                                        g_mapped_file_get_length (map), unmap, map);
  } else if (base_file_read (path, &contents, &n, &trouble)) {
    bytes = g_bytes_new_take (contents, n);
  } else {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_OPEN, "%s", trouble->message);
    return NULL;
  }
  data = g_bytes_get_data (bytes, &n);
  return n >= 2 && data[0] == 0x1f && data[1] == 0x8b ? inflate_file (path, error)
                                                      : g_steal_pointer (&bytes);
}

gboolean
trace_file_checksum (const char *path, GChecksum *checksum, GError **error)
{
  gzFile file = gz_open (path, error);
  guint8 block[BLOCK_BYTES];
  gboolean good;
  int n;

  if (file == NULL)
    return FALSE;
  while ((n = gzread (file, block, sizeof block)) > 0)
    g_checksum_update (checksum, block, n);
  good = gz_check (file, path, error);
  gzclose (file);
  return good;
}

char *
trace_file_find (const char *path)
{
  g_autofree char *packed = NULL;

  if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return g_strdup (path);
  packed = g_strconcat (path, ".gz", NULL);
  return g_file_test (packed, G_FILE_TEST_IS_REGULAR) ? g_steal_pointer (&packed) : NULL;
}
