/* store_fixture.h - rows and folders for the tests of stores.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "study/store.h"

/* A row that is done, with every kind of field set from `number`: key
 * "key-NUMBER", mapping "map-NUMBER". */
StudyRow *fixture_row (guint number);

/* Puts such rows 0 .. n-1 and lists them. */
void fixture_fill (StudyStore *store, guint n);

/* NULL and no failure only when it opens. */
StudyStore *fixture_open (const char *path, StudyStoreMode mode);

/* An empty folder of its own; g_free(). */
char *fixture_folder (void);
void fixture_remove (char *folder); /* with all that is in it */

/* Adds a test that has such a folder for itself.  While it runs, *folder is that, and *path is
 * where a file of that name in it would be. */
void fixture_add_test (const char *name, void (*test) (void), const char *file_name, char **folder,
                       char **path);
