/* program_file.c - a text as a file, for readers that take a path.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/aggregate/program_file.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static gboolean
write_all (int descriptor, const char *text)
{
  gsize n = strlen (text);

  while (n > 0) {
    gssize written = write (descriptor, text, n);

    if (written < 0 && errno != EINTR)
      return FALSE;
    text += MAX (written, 0);
    n -= (gsize) MAX (written, 0);
  }
  return TRUE;
}

StudyTextFile *
study_text_file_new (const char *text, GError **error)
{
  g_autoptr (StudyTextFile) file = g_new0 (StudyTextFile, 1);

  file->descriptor = memfd_create ("hopcast", MFD_CLOEXEC);
  file->path = g_strdup_printf ("/proc/self/fd/%d", file->descriptor);
  if (file->descriptor >= 0 && write_all (file->descriptor, text) && access (file->path, R_OK) == 0)
    return g_steal_pointer (&file);
  g_set_error (error, G_FILE_ERROR, (gint) g_file_error_from_errno (errno),
               "%s: a text in memory cannot be read: %s", file->path, g_strerror (errno));
  return NULL;
}

void
study_text_file_free (StudyTextFile *file)
{
  if (file == NULL)
    return;
  if (file->descriptor >= 0)
    close (file->descriptor);
  g_free (file->path);
  g_free (file);
}
