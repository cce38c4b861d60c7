/* library.c - where the program's own shared libraries are.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/library.h"

/* The folder of libraries in an installed tree that may have been moved: the configured folder relative
 * to that of the program, applied to `folder`, where the program is now.  The caller frees it. */
static char *
installed_folder (const char *folder)
{
  const char *program = PROGRAM_FOLDER, *library = LIBRARY_FOLDER;
  gsize same = 0;
  g_autoptr (GString) path = g_string_new (folder);

  for (gsize at = 0;; at++) {
    if ((program[at] == '/' || program[at] == '\0') && (library[at] == '/' || library[at] == '\0'))
      same = at;
    if (program[at] == '\0' || program[at] != library[at])
      break;
  }
  for (const char *rest = program + same; *rest != '\0'; rest++)
    if (rest[0] == '/' && rest[1] != '/' && rest[1] != '\0')
      g_string_append (path, "/..");
  g_string_append_printf (path, "/%s", library + same);
  return g_canonicalize_filename (path->str, "/");
}

char *
base_library_find (const char *name)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = self ? g_path_get_dirname (self) : g_strdup (".");
  g_autofree char *installed = installed_folder (folder);
  const char *folders[] = { g_getenv ("HOPCAST_LIBRARIES"), folder, installed, LIBRARY_FOLDER };

  for (gsize i = 0; i < G_N_ELEMENTS (folders); i++) {
    g_autofree char *path = folders[i] ? g_build_filename (folders[i], name, NULL) : NULL;

    if (path != NULL && g_file_test (path, G_FILE_TEST_IS_REGULAR))
      return g_steal_pointer (&path);
  }
  return NULL;
}
