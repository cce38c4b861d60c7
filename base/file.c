/* file.c - whole files and folders, with errors in the form of the program's own.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_BYTES 4096
/* The disk bounds regular files; pipes and devices have no end of their own: /dev/zero. */
#define MAX_STREAM_BYTES ((gsize) 1 << 30)

static void
set_error (const char *path, int number, GError **error)
{
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (number), "%s: %s", path,
               g_strerror (number));
}

/* The bytes up to the end, with a NUL behind them; NULL and errno when they cannot be read or kept. */
static char *
read_all (int file, gsize *length)
{
  struct stat status;
  gsize known = 0, capacity = FIRST_BYTES, n = 0; /* known: bytes of a regular file outside /proc */
  g_autofree char *text = NULL;
  gssize n_read = 1;

  if (fstat (file, &status) == 0 && S_ISREG (status.st_mode) && status.st_size > 0) {
    known = (gsize) status.st_size;
    capacity = known + 1;
  }
  text = g_try_malloc (capacity);
  while (text != NULL && n_read != 0) {
    if (n + 1 >= capacity) {
      char *larger = NULL;

      if (known == 0 && capacity >= MAX_STREAM_BYTES) {
        errno = EFBIG;
        return NULL;
      }
      if (capacity <= G_MAXSIZE / 2)
        larger = g_try_realloc (text, capacity * 2);

      if (larger == NULL)
        break;
      text = larger;
      capacity *= 2;
    }
    n_read = read (file, text + n, capacity - n - 1);
    if (n_read < 0 && errno != EINTR)
      return NULL;
    n += n_read > 0 ? (gsize) n_read : 0;
  }
  if (text == NULL || n_read != 0) {
    errno = ENOMEM;
    return NULL;
  }
  text[n] = '\0';
  *length = n;
  return g_steal_pointer (&text);
}

gboolean
base_file_read (const char *path, char **text, gsize *length, GError **error)
{
  int file = open (path, O_RDONLY | O_CLOEXEC), number;
  char *bytes = NULL;
  gsize n = 0;

  if (file >= 0)
    bytes = read_all (file, &n);
  number = errno;
  if (file >= 0)
    close (file);
  if (bytes == NULL) {
    set_error (path, number, error);
    return FALSE;
  }
  *text = bytes;
  if (length != NULL)
    *length = n;
  return TRUE;
}

GDir *
base_folder_open (const char *path, GError **error)
{
  DIR *folder = opendir (path);

  if (folder == NULL) {
    set_error (path, errno, error);
    return NULL;
  }
  closedir (folder);
  return g_dir_open (path, 0, error);
}
