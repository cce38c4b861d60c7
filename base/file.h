/* file.h - whole files and folders, with errors in the form of the program's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * GLib reports "Failed to open file “x”: No such file or directory"; hopcast reports
 * "x: No such file or directory". */
#pragma once

#include <glib.h>

/* As g_file_get_contents(), with the error "PATH: reason" (G_FILE_ERROR); pipes and devices of more
 * than 1 GiB are one.  length may be NULL. */
gboolean base_file_read (const char *path, char **text, gsize *length, GError **error);

/* As g_dir_open(), with the same error. */
GDir *base_folder_open (const char *path, GError **error);
