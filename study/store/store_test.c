/* store_test.c - rows, plans and contents into a store and out again.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/inputs.h"
#include "study/store/row_fields.h"
#include "study/store/store_fixture.h"
#include "study/store/store_private.h"

#include <math.h>
#include <string.h>

static char *folder, *path;

static void
assert_same_row (const StudyRow *left, const StudyRow *right)
{
  for (guint at = 0; at < study_row_n_columns (TRUE); at++) {
    g_autofree char *a = study_row_column_text (left, at);
    g_autofree char *b = study_row_column_text (right, at);

    g_assert_cmpstr (a, ==, b);
  }
}

static void
test_rows_come_back (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (StudyStore) store = fixture_open (path, STUDY_STORE_CREATE);
  g_autoptr (GPtrArray) rows = NULL;
  g_autofree char *name = NULL;
  guint n;

  fixture_fill (store, 3);
  g_clear_pointer (&store, study_store_free);
  store = fixture_open (path, STUDY_STORE_READ);
  rows = study_store_rows (store, TRUE, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (rows->len, ==, 3);
  for (guint at = 0; at < 3; at++) {
    g_autoptr (StudyRow) put = fixture_row (at);
    const StudyRow *row = g_ptr_array_index (rows, at);

    assert_same_row (put, row);
    g_assert_true (g_bytes_equal (put->link_bytes, row->link_bytes));
    g_assert_true (g_bytes_equal (put->rank_times, row->rank_times));
    g_assert_cmpuint (g_strv_length (row->warnings), ==, 2);
  }
  g_assert_true (study_store_plan_size (store, &n, &error));
  g_assert_cmpuint (n, ==, 3);
  name = study_store_name (store, &error);
  g_assert_cmpstr (name, ==, "fixture");
}

/* A failed row is replaced, one that is done stays as it is. */
static void
test_failed_rows_are_replaced (void)
{
  g_autoptr (StudyStore) store = fixture_open (path, STUDY_STORE_CREATE);
  g_autoptr (StudyRow) failed = fixture_row (0), done = fixture_row (0), late = fixture_row (0);
  g_autoptr (GPtrArray) rows = NULL;
  g_autoptr (GHashTable) keys = NULL;

  failed->status = STUDY_FAILED;
  failed->error = g_strdup ("out of luck");
  late->time_s = 99;
  g_assert_true (study_store_set_plan (store, "s", "", &done, 1, NULL));
  g_assert_true (fixture_put (store, &failed, 1, NULL));
  keys = study_store_keys (store, FALSE, NULL);
  g_assert_cmpuint (g_hash_table_size (keys), ==, 0);
  g_hash_table_unref (keys);
  keys = study_store_keys (store, TRUE, NULL);
  g_assert_true (g_hash_table_contains (keys, FIXTURE_KEY ("00")));
  g_assert_true (fixture_put (store, &done, 1, NULL));
  g_assert_true (fixture_put (store, &late, 1, NULL));
  g_assert_true (fixture_put (store, &failed, 1, NULL));
  rows = study_store_rows (store, FALSE, NULL);
  g_assert_cmpuint (rows->len, ==, 1);
  assert_same_row (g_ptr_array_index (rows, 0), done);
  g_assert_null (((StudyRow *) g_ptr_array_index (rows, 0))->link_bytes);
}

/* The plan says the order and the names; a run may stand in two places. */
static void
test_plan (void)
{
  g_autoptr (StudyStore) store = fixture_open (path, STUDY_STORE_CREATE);
  g_autoptr (StudyRow) first = fixture_row (0), second = fixture_row (1), third = fixture_row (2);
  g_autoptr (StudyRow) again = fixture_row (1);
  StudyRow *plan[] = { third, second, again, first };
  g_autoptr (GPtrArray) rows = NULL, cases = NULL, missing = NULL;
  const StudyProgress *progress;

  g_free (again->mapping);
  again->mapping = g_strdup ("another name");
  memcpy (first->network, "load", 5);
  first->status = STUDY_FAILED;
  g_assert_true (study_store_set_plan (store, "s", "", plan, 4, NULL));
  g_assert_true (fixture_put (store, &first, 1, NULL));
  g_assert_true (fixture_put (store, &second, 1, NULL));
  rows = study_store_rows (store, FALSE, NULL);
  g_assert_cmpuint (rows->len, ==, 3);
  assert_same_row (g_ptr_array_index (rows, 0), second);
  assert_same_row (g_ptr_array_index (rows, 1), again);
  assert_same_row (g_ptr_array_index (rows, 2), first);
  missing = study_store_missing (store, NULL);
  g_assert_cmpuint (missing->len, ==, 1);
  g_assert_cmpstr (((StudyRow *) g_ptr_array_index (missing, 0))->mapping, ==, "map-2");
  cases = study_store_progress (store, NULL);
  g_assert_cmpuint (cases->len, ==, 2);
  progress = g_ptr_array_index (cases, 0);
  g_assert_cmpstr (progress->network, ==, "packet");
  g_assert_cmpuint (progress->n_runs, ==, 3);
  g_assert_cmpuint (progress->n_done, ==, 2);
  g_assert_cmpuint (progress->n_failed, ==, 0);
  progress = g_ptr_array_index (cases, 1);
  g_assert_cmpstr (progress->network, ==, "load");
  g_assert_cmpuint (progress->n_done, ==, 0);
  g_assert_cmpuint (progress->n_failed, ==, 1);
  g_ptr_array_unref (rows);
  g_assert_true (study_store_set_plan (store, "s", "", plan, 1, NULL));
  rows = study_store_rows (store, FALSE, NULL);
  g_assert_cmpuint (rows->len, ==, 0);
  g_ptr_array_unref (rows);
  g_assert_true (study_store_set_plan (store, "s", "", plan, 2, NULL));
  rows = study_store_rows (store, FALSE, NULL);
  g_assert_cmpuint (rows->len, ==, 1);
}

static void
check_contents (const char *spec, const char *mapping_text)
{
  const StudyMachineInputs inputs = { spec, 4, NULL, G_MININT, NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (StudyStore) store = fixture_open (path, STUDY_STORE_CREATE);
  g_autoptr (TopoMachine) machine = study_machine_new (&inputs, &error), machine_back = NULL;
  g_autoptr (TopoMapping) mapping = study_mapping_new (mapping_text, machine, 24, &error);
  g_autoptr (TopoMapping) mapping_back = NULL;
  g_autofree char *text = topo_machine_print (machine);
  g_autofree char *text_back = NULL;
  g_autoptr (StudyRow) row = fixture_row (0);

  g_assert_no_error (error);
  g_free (row->machine_hash);
  g_free (row->mapping_hash);
  row->machine_hash = study_machine_hash (machine);
  row->mapping_hash = study_mapping_hash (mapping);
  row->nodes = topo_shape_nodes (&machine->shape);
  row->ranks_per_node = machine->ranks_per_node;
  row->ranks = mapping->n_ranks;
  for (int twice = 0; twice < 2; twice++) {
    g_assert_true (study_store_put_machine (store, row->machine_hash, text, &error));
    fixture_put_places (store, row->mapping_hash, mapping);
  }
  machine_back = study_store_machine (store, row, &error);
  g_assert_no_error (error);
  text_back = topo_machine_print (machine_back);
  g_assert_cmpstr (text, ==, text_back);
  mapping_back = study_store_placement (store, row, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (mapping_back->name, ==, "map-0");
  g_assert_cmpuint (mapping_back->n_ranks, ==, 24);
  g_assert_cmpmem (mapping->node, 24 * 4, mapping_back->node, 24 * 4);
  g_assert_cmpmem (mapping->slot, 24, mapping_back->slot, 24);
}

static void
test_contents (void)
{
  g_autoptr (StudyStore) store = NULL;
  g_autoptr (StudyRow) row = fixture_row (0);
  g_autoptr (GError) error = NULL;

  check_contents ("bgq:32", "TABCDE");
  check_contents ("systemg:8", "TA");
  store = fixture_open (path, STUDY_STORE_READ);
  g_assert_null (study_store_machine (store, row, &error));
  g_assert_nonnull (strstr (error->message, "the machine of 'bgq:32' was not kept"));
  g_clear_error (&error);
  g_assert_null (study_store_placement (store, row, &error));
  g_assert_nonnull (strstr (error->message, "the placement of 'map-0' was not kept"));
}

static void
test_edges (void)
{
  static const char T[] = FIXTURE_KEY ("01"), U[] = FIXTURE_KEY ("02");
  const uint32_t N = 4000000001u; /* ranks */
  const SimEdge edges[] = { { 0, 1, 2, 3 },
                            { 0, 4000000000u, G_MAXUINT64, 5 },
                            { 7, 0, 1, G_GUINT64_CONSTANT (1) << 50 } };
  g_autoptr (StudyStore) store = fixture_open (path, STUDY_STORE_CREATE);
  g_autofree SimEdge *back = NULL, *none = NULL, *empty = NULL;
  g_autoptr (GError) error = NULL;
  uint64_t n;

  none = study_store_edges (store, T, N, &n, &error);
  g_assert_null (none);
  g_assert_no_error (error);
  g_assert_cmpuint (n, ==, 0);
  g_assert_false (study_store_has_edges (store, T));
  fixture_put_edges (store, T, N, edges, 3);
  fixture_put_edges (store, U, N, NULL, 0);
  g_assert_true (study_store_has_edges (store, T));
  back = study_store_edges (store, T, N, &n, &error);
  g_assert_cmpuint (n, ==, 3);
  for (int at = 0; at < 3; at++) {
    g_assert_cmpuint (back[at].source, ==, edges[at].source);
    g_assert_cmpuint (back[at].destination, ==, edges[at].destination);
    g_assert_cmpuint (back[at].messages, ==, edges[at].messages);
    g_assert_cmpuint (back[at].bytes, ==, edges[at].bytes);
  }
  empty = study_store_edges (store, U, N, &n, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (n, ==, 0);
}

/* What a race made of mappings, by the names of the plan; another plan removes it. */
static void
test_race (void)
{
  g_autoptr (StudyStore) store = NULL;
  g_autoptr (GPtrArray) race = NULL, none = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (StudyRow) other = fixture_row (7), first = fixture_row (0);
  const StudyRaceRow *row;

  fixture_make_whole (path, 3);
  store = fixture_open (path, STUDY_STORE_WRITE);
  race = study_store_race (store, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (race->len, ==, 3);
  row = g_ptr_array_index (race, 0);
  g_assert_cmpstr (row->outcome, ==, "best");
  g_assert_cmpstr (row->mapping, ==, first->mapping);
  g_assert_cmpstr (row->network, ==, first->network);
  g_assert_cmpuint (row->n_draws, ==, 4);
  g_assert_cmpfloat (row->time_s, ==, 0.5);
  g_assert_true (isnan (row->behind) && isnan (row->margin));
  row = g_ptr_array_index (race, 2);
  g_assert_cmpstr (row->outcome, ==, "screened");
  g_assert_true (isnan (row->time_s));
  g_assert_cmpfloat (row->behind, ==, 0.5);
  study_store_set_plan (store, "other", "", &other, 1, &error);
  g_assert_no_error (error);
  none = study_store_race (store, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (none->len, ==, 0);
}

/* A run, its places and the edges of its trace; more bytes of edges than a small disk has. */
static StudyStoreGroup *
group_new (void)
{
  enum { N_EDGES = 20000 };
  StudyStoreGroup *group = study_store_group_new ();
  StudyRow *row = fixture_row (0);
  g_autofree SimEdge *edges = g_new (SimEdge, N_EDGES);

  for (guint at = 0; at < N_EDGES; at++)
    edges[at] = (SimEdge){ at, at * 2654435761u, at * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15), 1 };
  study_store_group_add_places (group, row->mapping_hash, 8, g_bytes_new_static ("places", 6));
  study_store_group_add_edges (group, row->trace_hash, 8, N_EDGES,
                               study_store_pack_edges (edges, N_EDGES));
  g_ptr_array_add (group->rows, row);
  return group;
}

static gint64
n_contents (StudyStore *store)
{
  gint64 n = -1;

  g_assert_true (study_store_number (store,
                                     "SELECT (SELECT count(*) FROM placements)"
                                     " + (SELECT count(*) FROM edges)"
                                     " + (SELECT count(*) FROM runs)",
                                     &n, NULL));
  return n;
}

/* Nothing of it where there is no room for all, and all of it when there is. */
static void
test_groups_are_whole (void)
{
  g_autoptr (StudyStore) store = fixture_open (path, STUDY_STORE_CREATE);
  g_autoptr (StudyStoreGroup) group = group_new ();
  g_autoptr (GError) error = NULL;

  g_assert_true (study_store_exec (store, "PRAGMA max_page_count = 40", NULL));
  g_assert_false (study_store_put_group (store, group, &error));
  g_assert_nonnull (strstr (error->message, "no space is left"));
  g_assert_cmpint (n_contents (store), ==, 0);
  g_assert_cmpuint (group->rows->len + group->edges->len + group->placements->len, ==, 0);
  g_clear_error (&error);
  study_store_group_free (g_steal_pointer (&group));
  group = group_new ();
  g_assert_true (study_store_exec (store, "PRAGMA max_page_count = 100000", NULL));
  g_assert_true (study_store_put_group (store, group, &error));
  g_assert_no_error (error);
  g_assert_cmpint (n_contents (store), ==, 3);
  g_assert_true (study_store_put_group (store, group, &error)); /* an empty one */
}

static void
test_packing (void)
{
  g_autofree uint64_t *words = g_new (uint64_t, 100000);

  for (gsize at = 0; at < 100000; at++)
    words[at] = at % 3 == 0 ? at * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15) : at;
  for (gsize n = 0; n <= 100000; n = n * 3 + 1) {
    g_autoptr (GBytes) packed = study_pack_words (words, n);
    gsize length, n_back;
    gconstpointer data = g_bytes_get_data (packed, &length);
    g_autofree uint64_t *back = study_unpack_words (data, length, n, &n_back);

    g_assert_nonnull (back);
    g_assert_cmpuint (n_back, ==, n);
    /* Not a word more than is asked for. */
    g_assert_true (n == 0 || study_unpack_words (data, length, n - 1, &n_back) == NULL);
    g_assert_true (n == 0 || !memcmp (words, back, n * sizeof *words));
    g_assert_null (study_unpack_words (data, length - 1, n, &n_back));
  }
  g_assert_null (study_unpack_words ("no zlib", 7, 100, &(gsize){ 0 }));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, test) fixture_add_test (name, test, "a.store", &folder, &path)
  ADD ("/store/rows-come-back", test_rows_come_back);
  ADD ("/store/failed-rows-are-replaced", test_failed_rows_are_replaced);
  ADD ("/store/plan", test_plan);
  ADD ("/store/contents", test_contents);
  ADD ("/store/edges", test_edges);
  ADD ("/store/race", test_race);
  ADD ("/store/groups-are-whole", test_groups_are_whole);
  ADD ("/store/packing", test_packing);
  return g_test_run ();
}
