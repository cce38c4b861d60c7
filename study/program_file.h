/* program_file.h - a program that is a text in memory, as a file that can be replayed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

/* Of SimGrid's format, one for all ranks; the path, which the caller frees after removing the file.
 * NULL and *error (G_FILE_ERROR): it cannot be written. */
char *study_program_file (const char *text, GError **error);
