/* store_fixture.c - rows and folders for the tests of stores.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/store_fixture.h"

#include <glib/gstdio.h>

#define N_LINKS 40
#define N_RANKS 8

static GBytes *
words_new (gsize n, guint number)
{
  uint64_t *words = g_new (uint64_t, n);

  for (gsize at = 0; at < n; at++)
    words[at] = at * at + number;
  return g_bytes_new_take (words, n * sizeof *words);
}

static GBytes *
times_new (guint number)
{
  StudyRankTimes *times = g_new (StudyRankTimes, N_RANKS);

  for (guint rank = 0; rank < N_RANKS; rank++)
    times[rank] = (StudyRankTimes){ 0.1 * rank + number, 0.01 * rank, 1.0 / (rank + 1) };
  return g_bytes_new_take (times, N_RANKS * sizeof *times);
}

StudyRow *
fixture_row (guint number)
{
  StudyRow *row = study_row_new ();

  row->key = g_strdup_printf ("key-%u", number);
  row->trace = g_strdup ("gen:halo2d");
  row->trace_hash = g_strdup ("trace");
  row->machine = g_strdup ("bgq:32");
  row->machine_hash = g_strdup ("machine");
  row->mapping = g_strdup_printf ("map-%u", number);
  row->mapping_hash = g_strdup_printf ("places-%u", number);
  row->network = g_strdup ("packet");
  row->routing = g_strdup ("default");
  row->grain = g_strdup ("exact");
  row->version = g_strdup (PACKAGE_VERSION);
  row->ranks = N_RANKS;
  row->ranks_per_node = 1;
  row->nodes = 32;
  row->links = N_LINKS;
  row->compute_scale = 1;
  row->seed = number;
  row->status = STUDY_DONE;
  row->time_s = 0.1 + number / 3.0;
  row->messages = 1000 + number;
  row->message_bytes = G_GUINT64_CONSTANT (1) << 40;
  row->packets = 7;
  row->packet_hops = 9;
  row->events = 11;
  for (guint feature = 0; feature < SIM_N_FEATURES; feature++)
    row->features[feature] = feature / 7.0 + number;
  row->wall_s = 0.25;
  row->peak_rss_bytes = 1 << 20;
  g_strfreev (row->warnings);
  row->warnings = g_strsplit ("rank 3: cut|a; b, \"c\"", "|", -1);
  row->link_bytes = words_new (N_LINKS, number);
  row->rank_times = times_new (number);
  return row;
}

void
fixture_fill (StudyStore *store, guint n)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);
  g_autoptr (GError) error = NULL;

  for (guint at = 0; at < n; at++)
    g_ptr_array_add (rows, fixture_row (at));
  study_store_set_plan (store, "fixture", "[study]\n", (StudyRow *const *) rows->pdata, n, &error);
  g_assert_no_error (error);
  study_store_put_all (store, (StudyRow *const *) rows->pdata, n, &error);
  g_assert_no_error (error);
}

StudyStore *
fixture_open (const char *path, StudyStoreMode mode)
{
  g_autoptr (GError) error = NULL;
  StudyStore *store = study_store_open (path, mode, &error);

  g_assert_no_error (error);
  return store;
}

char *
fixture_folder (void)
{
  g_autoptr (GError) error = NULL;
  char *folder = g_dir_make_tmp ("hopcast-store-XXXXXX", &error);

  g_assert_no_error (error);
  return folder;
}

void
fixture_remove (char *folder)
{
  g_autoptr (GDir) entries = g_dir_open (folder, 0, NULL);
  const char *name;

  while (entries != NULL && (name = g_dir_read_name (entries)) != NULL) {
    g_autofree char *path = g_build_filename (folder, name, NULL);

    g_unlink (path);
  }
  g_rmdir (folder);
  g_free (folder);
}

typedef struct {
  void (*test) (void);
  const char *file_name;
  char **folder, **path;
} OwnFolderTest;

static void
run_test (gconstpointer data)
{
  const OwnFolderTest *own = data;

  *own->folder = fixture_folder ();
  *own->path = g_build_filename (*own->folder, own->file_name, NULL);
  own->test ();
  g_clear_pointer (own->path, g_free);
  fixture_remove (g_steal_pointer (own->folder));
}

void
fixture_add_test (const char *name, void (*test) (void), const char *file_name, char **folder,
                  char **path)
{
  OwnFolderTest *own = g_new (OwnFolderTest, 1);

  *own = (OwnFolderTest){ test, file_name, folder, path };
  g_test_add_data_func_full (name, own, run_test, g_free);
}
