/* test_data.h - where tests find recorded traces, fabrics, nodes and measurements.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The sets whose licence allows it are in validation/data.  The others may lie
 * in ../shared/data beside the source tree, under the same names.  This is the
 * only lookup of C tests; cli/tap.sh has that of shell tests. */
#pragma once

#include <glib.h>

/* The path of a file or folder, for example "fabrics/x5"; NULL when neither place has it. */
static inline char *
test_data_find (const char *name)
{
  static const char *const places[] = { "validation/data", "../shared/data" };
  const char *top = g_getenv ("G_TEST_SRCDIR");

  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    char *path = g_build_filename (top != NULL ? top : ".", places[i], name, NULL);

    if (g_file_test (path, G_FILE_TEST_EXISTS))
      return path;
    g_free (path);
  }
  return NULL;
}

/* The same; the running test is marked as skipped when the answer is NULL. */
static inline char *
test_data (const char *name)
{
  char *path = test_data_find (name);

  if (path == NULL) {
    g_autofree char *reason =
        g_strdup_printf ("%s is neither in validation/data nor in ../shared/data", name);

    g_test_skip (reason);
  }
  return path;
}
