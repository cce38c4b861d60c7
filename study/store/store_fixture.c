/* store_fixture.c - rows, plans and folders for the tests of studies.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/store/store_fixture.h"

#include "study/store/export.h"
#include "study/inputs.h"
#include "study/report/report.h"

#include <glib/gstdio.h>
#include <math.h>
#include <stdio.h>

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

char *
fixture_key (guint number)
{
  return g_strdup_printf ("%064u", number);
}

char *
fixture_places (guint number)
{
  return g_strdup_printf ("cc%062u", number);
}

StudyRow *
fixture_row (guint number)
{
  StudyRow *row = study_row_new ();

  row->key = fixture_key (number);
  row->trace = g_strdup ("gen:halo2d");
  row->trace_hash = g_strdup (FIXTURE_TRACE);
  row->machine = g_strdup ("bgq:32");
  row->machine_hash = g_strdup (FIXTURE_MACHINE);
  row->mapping = g_strdup_printf ("map-%u", number);
  row->mapping_hash = fixture_places (number);
  row->network = g_strdup ("packet");
  row->routing = g_strdup ("default");
  row->shrink = g_strdup ("off");
  row->version = g_strdup (PACKAGE_VERSION);
  row->ranks = N_RANKS;
  row->ranks_per_node = 1;
  row->nodes = 32;
  row->links = N_LINKS;
  row->compute_scale = 1;
  row->seed = number;
  row->jitter_s = 0;
  row->status = STUDY_DONE;
  row->shrink_factor = 1;
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

gboolean
fixture_put (StudyStore *store, StudyRow *const *rows, guint n, GError **error)
{
  g_autoptr (StudyStoreGroup) group = study_store_group_new ();

  g_ptr_array_set_free_func (group->rows, NULL);
  for (guint at = 0; at < n; at++)
    g_ptr_array_add (group->rows, rows[at]);
  return study_store_put_group (store, group, error);
}

void
fixture_put_places (StudyStore *store, const char *hash, const TopoMapping *mapping)
{
  g_autoptr (StudyStoreGroup) group = study_store_group_new ();
  g_autoptr (GError) error = NULL;

  study_store_group_add_places (group, hash, mapping->n_ranks, study_store_pack_places (mapping));
  study_store_put_group (store, group, &error);
  g_assert_no_error (error);
}

void
fixture_put_edges (StudyStore *store, const char *trace_hash, uint32_t n_ranks,
                   const SimEdge *edges, uint64_t n_edges)
{
  g_autoptr (StudyStoreGroup) group = study_store_group_new ();
  g_autoptr (GError) error = NULL;

  study_store_group_add_edges (group, trace_hash, n_ranks, n_edges,
                               study_store_pack_edges (edges, n_edges));
  study_store_put_group (store, group, &error);
  g_assert_no_error (error);
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
  fixture_put (store, (StudyRow *const *) rows->pdata, n, &error);
  g_assert_no_error (error);
}

/* Puts the places of a row that is mapped by number, a rotation. */
static void
put_places (StudyStore *store, StudyRow *row, guint number)
{
  uint32_t nodes[N_RANKS];
  uint8_t slots[N_RANKS] = { 0 };
  const TopoMapping mapping = { row->mapping, N_RANKS, nodes, slots };

  for (uint32_t rank = 0; rank < N_RANKS; rank++)
    nodes[rank] = (rank + number) % N_RANKS;
  g_free (row->mapping_hash);
  row->mapping_hash = study_mapping_hash (&mapping);
  fixture_put_places (store, row->mapping_hash, &mapping);
}

/* A race that the first row has won. */
static void
put_race (StudyStore *store, const GPtrArray *rows)
{
  g_autoptr (GPtrArray) race =
      g_ptr_array_new_with_free_func ((GDestroyNotify) study_race_row_free);
  g_autoptr (GError) error = NULL;

  for (guint at = 0; at < rows->len; at++) {
    StudyRaceRow *row = g_new0 (StudyRaceRow, 1);

    row->key = g_strdup (((const StudyRow *) g_ptr_array_index (rows, at))->key);
    row->outcome = g_strdup (at == 0 ? "best" : "screened");
    row->n_draws = at == 0 ? 4 : 0;
    row->time_s = at == 0 ? 0.5 : (double) NAN;
    row->behind = row->margin = at == 0 ? (double) NAN : 0.25 * at;
    g_ptr_array_add (race, row);
  }
  study_store_put_race (store, race, &error);
  g_assert_no_error (error);
}

void
fixture_make_whole (const char *path, guint n)
{
  static const SimEdge edges[] = { { 0, 1, 2, 3 }, { 7, 0, 1, 100 } };
  g_autoptr (GError) error = NULL;
  g_autoptr (StudyStore) store = fixture_open (path, STUDY_STORE_CREATE);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);
  g_autoptr (TopoMachine) machine = topo_machine_new ("torus:4x2", &error);
  g_autofree char *text = study_machine_text (machine), *hash = study_machine_hash (machine);
  uint32_t n_nodes = topo_shape_nodes (&machine->shape);

  study_store_put_machine (store, hash, text, &error);
  g_assert_no_error (error);
  fixture_put_edges (store, FIXTURE_TRACE, N_RANKS, edges, G_N_ELEMENTS (edges));
  for (guint number = 0; number < n; number++) {
    StudyRow *row = fixture_row (number);

    g_free (row->machine);
    g_free (row->machine_hash);
    row->machine = g_strdup (machine->spec);
    row->machine_hash = g_strdup (hash);
    row->nodes = n_nodes;
    row->links = 1;
    g_bytes_unref (row->link_bytes);
    row->link_bytes = words_new ((gsize) n_nodes * topo_shape_ports (&machine->shape), number);
    put_places (store, row, number);
    g_ptr_array_add (rows, row);
  }
  fixture_put (store, (StudyRow *const *) rows->pdata, n, &error);
  g_assert_no_error (error);
  study_store_set_plan (store, "whole", "[study]\n", (StudyRow *const *) rows->pdata, n, &error);
  g_assert_no_error (error);
  put_race (store, rows);
}

static gboolean
read_row (StudyStore *store, StudyRow *row, GError **error)
{
  g_autoptr (TopoMachine) machine = study_store_machine (store, row, error);
  g_autoptr (TopoMapping) mapping = machine ? study_store_placement (store, row, error) : NULL;
  g_autoptr (GError) trouble = NULL;
  g_autofree SimEdge *edges = NULL;
  uint64_t n_edges;

  if (mapping == NULL || !study_store_load_blobs (store, row, error))
    return FALSE;
  g_free (topo_mapping_print (mapping, machine));
  if (row->trace_hash != NULL)
    edges = study_store_edges (store, row->trace_hash, row->ranks, &n_edges, &trouble);
  if (trouble == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&trouble));
  return FALSE;
}

static gboolean
read_rows (StudyStore *store, GError **error)
{
  g_autoptr (GPtrArray) rows = study_store_rows (store, FALSE, error);

  for (guint at = 0; rows != NULL && at < rows->len; at++)
    if (!read_row (store, g_ptr_array_index (rows, at), error))
      return FALSE;
  return rows != NULL;
}

static gboolean
read_plan (StudyStore *store, GError **error)
{
  g_autofree char *name = study_store_name (store, error);
  g_autofree char *text = name != NULL ? study_store_file_text (store, error) : NULL;
  g_autoptr (GPtrArray) missing = text != NULL ? study_store_missing (store, error) : NULL;
  g_autoptr (GPtrArray) cases = missing != NULL ? study_store_progress (store, error) : NULL;
  g_autoptr (GPtrArray) race = cases != NULL ? study_store_race (store, error) : NULL;
  g_autoptr (GHashTable) keys = race != NULL ? study_store_keys (store, TRUE, error) : NULL;
  guint n;

  return keys != NULL && study_store_plan_size (store, &n, error);
}

static gboolean
write_all (StudyStore *store, GError **error)
{
  FILE *out = fopen ("/dev/null", "w");
  gboolean done = study_export_npz (store, TRUE, out, error) &&
                  study_report_write_store (out, store, NULL, NULL, 3, error);

  for (int what = STUDY_EXPORT_RUNS; done && what <= STUDY_EXPORT_PLACEMENTS; what++)
    done = study_export (store, (StudyExportKind) what, STUDY_EXPORT_JSON, TRUE, out, error);
  fclose (out);
  return done;
}

/* Into a new store beside it. */
static gboolean
merge_it (const char *path, GError **error)
{
  static const char *const endings[] = { "", "-wal", "-shm" };
  g_autofree char *beside = g_strconcat (path, ".merged", NULL);
  g_autoptr (StudyStore) store = study_store_open (beside, STUDY_STORE_CREATE, error);
  gboolean done = store != NULL && study_store_merge (store, path, error);

  g_clear_pointer (&store, study_store_free);
  for (gsize at = 0; at < G_N_ELEMENTS (endings); at++) {
    g_autofree char *rest = g_strconcat (beside, endings[at], NULL);

    g_unlink (rest);
  }
  return done;
}

gboolean
fixture_read_all (const char *path, GError **error)
{
  g_autoptr (StudyStore) store = study_store_open (path, STUDY_STORE_READ, error);

  return store != NULL && read_plan (store, error) && read_rows (store, error) &&
         write_all (store, error) && merge_it (path, error);
}

StudyStore *
fixture_open (const char *path, StudyStoreMode mode)
{
  g_autoptr (GError) error = NULL;
  StudyStore *store = study_store_open (path, mode, &error);

  g_assert_no_error (error);
  return store;
}

void
fixture_write (const char *folder, const char *name, const char *text)
{
  g_autofree char *to = g_build_filename (folder, name, NULL);

  g_assert_true (g_file_set_contents (to, text, -1, NULL));
}

StudyPlan *
fixture_plan (const char *folder, const char *text)
{
  g_autofree char *path = g_build_filename (folder, "a.study", NULL);
  g_autoptr (GError) error = NULL;
  StudyPlan *plan;

  fixture_write (folder, "a.study", text);
  plan = study_plan_load (path, &error);
  g_assert_no_error (error);
  study_plan_resolve (plan, NULL, NULL, &error);
  g_assert_no_error (error);
  return plan;
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
