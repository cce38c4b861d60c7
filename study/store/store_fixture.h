/* store_fixture.h - rows, plans and folders for the tests of studies.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "study/plan/plan.h"
#include "study/store/store.h"

/* Hashes of the fixtures: not of anything, but of their form.  FIXTURE_KEY ("07") is the key of
 * row 7. */
#define FIXTURE_KEY(two_digits) \
  "00000000000000000000000000000000000000000000000000000000000000" two_digits
#define FIXTURE_TRACE   FIXTURE_KEY ("aa")
#define FIXTURE_MACHINE FIXTURE_KEY ("bb")
char *fixture_key (guint number);
char *fixture_places (guint number); /* mapping hashes */

/* A row that is done, with every kind of field set from `number`: the key
 * and mapping hash of that number, mapping "map-NUMBER". */
StudyRow *fixture_row (guint number);

/* Puts rows, which are borrowed, in one transaction; the places of a mapping; the edges of a trace. */
gboolean fixture_put (StudyStore *store, StudyRow *const *rows, guint n, GError **error);
void fixture_put_places (StudyStore *store, const char *hash, const TopoMapping *mapping);
void fixture_put_edges (StudyStore *store, const char *trace_hash, uint32_t n_ranks,
                        const SimEdge *edges, uint64_t n_edges);

/* Puts such rows 0 .. n-1 and lists them. */
void fixture_fill (StudyStore *store, guint n);

/* Makes a store of n such rows with all that they name: a torus of 4 x 2 nodes with a rank on
 * each, another mapping for each row, links, times and the edges of the trace. */
void fixture_make_whole (const char *path, guint n);

/* Reads all that a store has by every function that there is for it, its report and exports
 * included; FALSE and the first error. */
gboolean fixture_read_all (const char *path, GError **error);

/* NULL and no failure only when it opens. */
StudyStore *fixture_open (const char *path, StudyStoreMode mode);

/* A file of the folder. */
void fixture_write (const char *folder, const char *name, const char *text);
/* Writes a.study and resolves its plan; the caller frees it. */
StudyPlan *fixture_plan (const char *folder, const char *text);

/* An empty folder of its own; g_free(). */
char *fixture_folder (void);
void fixture_remove (char *folder); /* with all that is in it */

/* Adds a test that has such a folder for itself.  While it runs, *folder is that, and *path is
 * where a file of that name in it would be. */
void fixture_add_test (const char *name, void (*test) (void), const char *file_name, char **folder,
                       char **path);
