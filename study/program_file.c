/* program_file.c - see program_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/program_file.h"

#include <glib/gstdio.h>
#include <unistd.h>

char *
study_program_file (const char *text, GError **error)
{
  char *path;
  int file = g_file_open_tmp ("hopcast-XXXXXX.ti", &path, error);

  if (file < 0)
    return NULL;
  close (file);
  if (g_file_set_contents (path, text, -1, error))
    return path;
  g_unlink (path);
  g_free (path);
  return NULL;
}
