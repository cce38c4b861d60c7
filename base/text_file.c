/* text_file.c - the bytes of a text file, in blocks of whole lines.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/text_file.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define BLOCK_BYTES (256 << 10)
#define BOM         "\xEF\xBB\xBF"

/* Tables of numbers grow 2 to 20 times, some hundredfold where most cells are alike; zlib
 * allows for 1,032.  In memory a table takes up to 14 bytes for each byte of text. */
#define MAX_GROWTH       100
#define MAX_GROWTH_BYTES (16 << 20)

typedef struct BaseTextFile {
  gzFile gz;
  char *bytes;
  gsize capacity; /* of bytes, without the place of a last line feed */
  char *limit;    /* the end of the bytes read: `end` and the beginning of a line */
  gboolean at_end;
} File;

static gboolean unpacks_all;

void
base_text_unpack_all (void)
{
  unpacks_all = TRUE;
}

static gboolean
fail (const BaseText *text, int code, GError **error)
{
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), "%s: %s", text->name,
               g_strerror (code));
  return FALSE;
}

/* -- opening ------------------------------------------------------------- */

/* A descriptor that can be rewound: of a pipe, of a copy without a name.  -1 and errno. */
static int
open_file (const char *path)
{
  int file = strcmp (path, "-") == 0 ? dup (STDIN_FILENO) : open (path, O_RDONLY | O_CLOEXEC);
  g_autofree char *bytes = NULL;
  struct stat status;
  FILE *copy;
  int copied = -1, code;
  gssize n;

  if (file < 0 || (fstat (file, &status) == 0 && S_ISREG (status.st_mode)))
    return file;
  bytes = g_malloc (BLOCK_BYTES);
  copy = tmpfile ();
  while (copy != NULL && (n = read (file, bytes, BLOCK_BYTES)) != 0)
    if (n < 0 ? errno != EINTR : fwrite (bytes, 1, (gsize) n, copy) != (gsize) n)
      break;
  if (copy != NULL && n == 0 && fflush (copy) == 0)
    copied = dup (fileno (copy));
  if (copied >= 0 && lseek (copied, 0, SEEK_SET) != 0) {
    code = errno;
    close (copied);
    errno = code;
    copied = -1;
  }
  code = errno;
  if (copy != NULL)
    fclose (copy);
  close (file);
  g_clear_pointer (&bytes, g_free);
  errno = code;
  return copied;
}

gboolean
base_text_open (BaseText *text, const char *path, GError **error)
{
  int file = open_file (path);
  int code = errno;

  *text = (BaseText){ .name = strcmp (path, "-") == 0 ? "standard input" : path };
  if (file < 0)
    return fail (text, code, error);
  text->file = g_new0 (File, 1);
  text->file->gz = gzdopen (file, "rb");
  g_assert (text->file->gz != NULL);
  gzbuffer (text->file->gz, BLOCK_BYTES);
  return base_text_rewind (text, error);
}

void
base_text_close (BaseText *text)
{
  if (text->file == NULL)
    return;
  gzclose (text->file->gz);
  g_free (text->file->bytes);
  g_clear_pointer (&text->file, g_free);
}

gboolean
base_text_rewind (BaseText *text, GError **error)
{
  File *file = text->file;

  if (gzrewind (file->gz) != 0)
    return fail (text, errno, error);
  text->line = 1;
  text->at = text->end = file->limit = file->bytes;
  file->at_end = FALSE;
  return TRUE;
}

/* -- reading ------------------------------------------------------------- */

/* Fills the rest of the buffer.  FALSE and *error: the bytes are not those of a text. */
static gboolean
read_block (BaseText *text, GError **error)
{
  File *file = text->file;
  gsize room = (gsize) (file->bytes + file->capacity - file->limit);
  int n = gzread (file->gz, file->limit, (unsigned) MIN (room, G_MAXINT)), status;
  z_off_t packed, unpacked;
  const char *message, *nul;

  if (n <= 0) {
    file->at_end = TRUE;
    /* zlib reports a gzip file that stops early only when asked. */
    message = gzerror (file->gz, &status);
    if (status == Z_ERRNO)
      return fail (text, errno, error);
    if (status != Z_OK && status != Z_STREAM_END) {
      g_set_error (error, BASE_ERROR, BASE_ERROR_TEXT, "%s: damaged gzip file: %s", text->name,
                   message);
      return FALSE;
    }
    if (file->limit > text->at && file->limit[-1] != '\n')
      *file->limit++ = '\n';
    return TRUE;
  }
  packed = gzoffset (file->gz);
  unpacked = gztell (file->gz);
  if (!unpacks_all && unpacked > MAX_GROWTH_BYTES && unpacked / MAX_GROWTH > packed) {
    g_set_error (error, BASE_ERROR, BASE_ERROR_TEXT,
                 "%s: this gzip file unpacks to more than %d MiB, over %d times its size; if it is "
                 "from a source you trust, read it with --unpack-all",
                 text->name, MAX_GROWTH_BYTES >> 20, MAX_GROWTH);
    return FALSE;
  }
  nul = memchr (file->limit, '\0', (gsize) n);
  if (nul != NULL) {
    uint64_t line = text->line;

    for (const char *at = text->at; at < nul; at++)
      line += *at == '\n';
    g_set_error (error, BASE_ERROR, BASE_ERROR_TEXT,
                 "%s:%" G_GUINT64_FORMAT ": a NUL byte: not a text file", text->name, line);
    return FALSE;
  }
  file->limit += n;
  return TRUE;
}

gboolean
base_text_more (BaseText *text, gboolean *any, GError **error)
{
  File *file = text->file;
  gboolean first = text->line == 1 && file->limit == text->at;
  const char *last = NULL;

  while (last == NULL && !file->at_end) {
    gsize unread = (gsize) (text->end - text->at), rest = (gsize) (file->limit - text->at);
    char *from;

    /* Move the rest to the front, and make room for as much again. */
    if (rest > 0)
      memmove (file->bytes, text->at, rest);
    if (file->capacity < MAX (BLOCK_BYTES, 2 * rest)) {
      file->capacity = MAX (BLOCK_BYTES, 2 * rest);
      file->bytes = g_realloc (file->bytes, file->capacity + 1);
    }
    text->at = file->bytes;
    text->end = file->bytes + unread;
    file->limit = from = file->bytes + rest;
    if (!read_block (text, error))
      return FALSE;
    last = memrchr (from, '\n', (gsize) (file->limit - from));
  }
  *any = last != NULL;
  if (last != NULL)
    text->end = last + 1;
  if (first && text->end - text->at >= 3 && memcmp (text->at, BOM, strlen (BOM)) == 0)
    text->at += strlen (BOM);
  return TRUE;
}
