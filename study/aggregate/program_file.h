/* program_file.h - a text as a file, for readers that take a path.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The file is in memory and has no name in any folder: nothing stays when the process ends, however it
 * ends, no other user reads it, and a full disk does not matter. */
#pragma once

#include <glib.h>

typedef struct {
  int descriptor;
  char *path; /* of this process only */
} StudyTextFile;

/* NULL and *error when there is no memory or no /proc. */
StudyTextFile *study_text_file_new (const char *text, GError **error);
void study_text_file_free (StudyTextFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyTextFile, study_text_file_free)
