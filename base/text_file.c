/* text_file.c - the bytes of a text file, in blocks of whole lines.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

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
  char *limit;    /* where the bytes that were read end: `end` and the beginning of a line */
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

static gboolean
copy_bytes (int from, FILE *to)
{
  g_autofree char *bytes = g_malloc (BLOCK_BYTES);
  gssize n;

  while ((n = read (from, bytes, BLOCK_BYTES)) != 0)
    if (n < 0 ? errno != EINTR : fwrite (bytes, 1, (gsize) n, to) != (gsize) n)
      return FALSE;
  return fflush (to) == 0;
}

static int
close_keeping_errno (int file)
{
  int code = errno;

  close (file);
  errno = code;
  return -1;
}

/* Everything that `from` has, as a file without a name; -1 and errno. */
static int
copy_to_file (int from)
{
  FILE *copy = tmpfile ();
  gboolean good = copy != NULL && copy_bytes (from, copy);
  int code = errno;
  int file = good ? dup (fileno (copy)) : -1;

  if (copy != NULL)
    fclose (copy);
  if (file >= 0)
    return lseek (file, 0, SEEK_SET) == 0 ? file : close_keeping_errno (file);
  errno = code;
  return -1;
}

/* A descriptor that can be rewound; -1 and errno. */
static int
open_file (const char *path)
{
  int file = strcmp (path, "-") == 0 ? dup (STDIN_FILENO) : open (path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  int copy;

  if (file < 0 || (fstat (file, &status) == 0 && S_ISREG (status.st_mode)))
    return file;
  copy = copy_to_file (file);
  if (copy < 0)
    return close_keeping_errno (file);
  close (file);
  return copy;
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

/* Moves what is left to the front, and makes room for as much again. */
static void
make_room (BaseText *text)
{
  File *file = text->file;
  gsize unread = (gsize) (text->end - text->at), rest = (gsize) (file->limit - text->at);

  if (rest > 0)
    memmove (file->bytes, text->at, rest);
  if (file->capacity < MAX (BLOCK_BYTES, 2 * rest)) {
    file->capacity = MAX (BLOCK_BYTES, 2 * rest);
    file->bytes = g_realloc (file->bytes, file->capacity + 1);
  }
  text->at = file->bytes;
  text->end = file->bytes + unread;
  file->limit = file->bytes + rest;
}

/* Fills the room there is.  FALSE and *error: the bytes are not those of a text. */
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
                 "%s:%" G_GUINT64_FORMAT ": a NUL byte: this is no text", text->name, line);
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
    char *from;

    make_room (text);
    from = file->limit;
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
