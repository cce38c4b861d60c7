/* rank_test.c - `hopcast rank` on a store made here.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two cases of five mappings each on a torus of eight nodes. */
#include "config.h"

#include "cli/command.h"
#include "cli/output.h"
#include "study/inputs.h"
#include "study/store.h"
#include "study/store_fixture.h"

#include <glib/gstdio.h>
#include <string.h>

#define RANKS 8

static const char *const mappings[] = { "ABT", "BAT", "TAB", "ATB", "TBA" };
/* Of trace a and of trace b. */
static const double times_s[2][G_N_ELEMENTS (mappings)] = { { 4, 2, 3, 2.01, 8 },
                                                            { 5, 5.01, 6, 7, 10 } };

static void
put_row (StudyStore *store, GPtrArray *rows, TopoMachine *machine, guint trace, guint number)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMapping) mapping = study_mapping_new (mappings[number], machine, RANKS, &error);
  StudyRow *row = fixture_row (trace * 10 + number);

  g_assert_no_error (error);
  g_free (row->trace);
  row->trace = g_strdup (trace == 0 ? "a.hct" : "b,\"b\".hct");
  g_free (row->machine);
  row->machine = g_strdup ("torus:4x2");
  g_free (row->machine_hash);
  row->machine_hash = study_machine_hash (machine);
  g_free (row->mapping);
  row->mapping = g_strdup (mappings[number]);
  g_free (row->mapping_hash);
  row->mapping_hash = study_mapping_hash (mapping);
  row->time_s = times_s[trace][number];
  row->features[SIM_FEATURE_MAX_BYTES] = 100 - number;
  study_store_put_placement (store, row->mapping_hash, mapping, &error);
  g_assert_no_error (error);
  g_ptr_array_add (rows, row);
}

static void
row_free (gpointer row)
{
  study_row_free (row);
}

/* The store without its last n_missing runs. */
static void
make_store (const char *path, guint n_missing)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (StudyStore) store = fixture_open (path, STUDY_STORE_CREATE);
  g_autoptr (TopoMachine) machine = topo_machine_new ("torus:4x2", &error);
  g_autofree char *text = topo_machine_print (machine), *hash = study_machine_hash (machine);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (row_free);

  study_store_put_machine (store, hash, text, &error);
  g_assert_no_error (error);
  for (guint trace = 0; trace < 2; trace++)
    for (guint number = 0; number < G_N_ELEMENTS (mappings); number++)
      put_row (store, rows, machine, trace, number);
  study_store_set_plan (store, "little", "[study]\n", (StudyRow *const *) rows->pdata, rows->len,
                        &error);
  g_assert_no_error (error);
  study_store_put_all (store, (StudyRow *const *) rows->pdata, rows->len - n_missing, &error);
  g_assert_no_error (error);
}

/* Runs the command with the words of `arguments`, in which STORE and MAP stand for
 * files; returns what it printed, or its error's message. */
static char *
ranked (const char *store, const char *map, const char *arguments)
{
  g_autofree char *path = g_strconcat (store, ".out", NULL);
  g_auto (GStrv) words = g_strsplit (arguments, " ", -1);
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;
  FILE *out = stdout;
  char *text = NULL;

  g_ptr_array_add (argv, (gpointer) "rank");
  for (guint i = 0; words[i] != NULL; i++)
    g_ptr_array_add (argv, strcmp (words[i], "STORE") == 0 ? (gpointer) store
                           : strcmp (words[i], "MAP") == 0 ? (gpointer) map
                                                           : words[i]);
  fflush (stdout);
  stdout = fopen (path, "w");
  g_assert_nonnull (stdout);
  cli_rank ((int) argv->len, (char **) argv->pdata, &error);
  fclose (stdout);
  stdout = out;
  if (error != NULL)
    return g_strdup (error->message);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  return text;
}

typedef struct {
  char *folder, *store, *map;
} Files;

static void
files_init (Files *files, guint n_missing)
{
  files->folder = fixture_folder ();
  files->store = g_build_filename (files->folder, "little.store", NULL);
  files->map = g_build_filename (files->folder, "best.map", NULL);
  make_store (files->store, n_missing);
}

static void
files_clear (Files *files)
{
  g_free (files->store);
  g_free (files->map);
  fixture_remove (files->folder);
}

static void
test_table (void)
{
  Files files;
  g_autofree char *text = NULL;

  files_init (&files, 0);
  text = ranked (files.store, files.map, "STORE --case 1");
  g_assert_cmpstr (text, ==,
                   "case 1: a.hct, torus:4x2, packet\n"
                   "  place  mapping        time_s     gain  runs\n"
                   "      1  BAT                 2    2.000     1\n"
                   "      1  ATB              2.01    1.990     1\n"
                   "      3  TAB                 3    1.333     1\n"
                   "      4  ABT                 4    1.000     1\n"
                   "      5  TBA                 8    0.500     1\n"
                   "  best: BAT, 2.000 times as good as the default, ABT\n");
  files_clear (&files);
}

/* A place that is shared is shown whole. */
static void
test_top_and_default (void)
{
  Files files;
  g_autofree char *text = NULL;

  files_init (&files, 0);
  text = ranked (files.store, files.map, "STORE --top 1 --case b,");
  g_assert_cmpstr (text, ==,
                   "case 2: b,\"b\".hct, torus:4x2, packet\n"
                   "  place  mapping        time_s     gain  runs\n"
                   "      1  ABT                 5    1.000     1\n"
                   "      1  BAT              5.01    0.998     1\n"
                   "  ... 3 more\n"
                   "  none is better than the default, ABT\n");
  files_clear (&files);
}

static void
test_by_and_tie (void)
{
  Files files;
  g_autofree char *text = NULL, *first = NULL;

  files_init (&files, 0);
  text = ranked (files.store, files.map, "STORE --by max_bytes --tie 0 --format csv --case 2");
  first = g_strdup (strchr (text, '\n') + 1);
  strchr (first, '\n')[0] = '\0';
  g_assert_cmpstr (first, ==,
                   "2,\"b,\"\"b\"\".hct\",torus:4x2,packet,default,TBA,1,1,max_bytes,96,"
                   "1.0416666666666667,1,key-14");
  files_clear (&files);
}

static void
test_missing_runs (void)
{
  for (guint n_missing = 1; n_missing <= 2; n_missing++) {
    Files files;
    g_autofree char *text = NULL;

    files_init (&files, n_missing);
    text = ranked (files.store, files.map, "STORE --case 2");
    g_assert_true (g_str_has_suffix (text, n_missing == 1
                                               ? "\nnot made yet: 1 run of the study\n"
                                               : "\nnot made yet: 2 runs of the study\n"));
    files_clear (&files);
  }
}

static void
test_json (void)
{
  Files files;
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *root, *one;
  JsonArray *cases;

  files_init (&files, 3);
  text = ranked (files.store, files.map, "STORE --format json");
  json_parser_load_from_data (parser, text, -1, &error);
  g_assert_no_error (error);
  root = json_node_get_object (json_parser_get_root (parser));
  g_assert_cmpstr (json_object_get_string_member (root, "schema"), ==, "hopcast.ranking/1");
  g_assert_cmpstr (json_object_get_string_member (root, "study"), ==, "little");
  g_assert_cmpint (json_object_get_int_member (root, "missing"), ==, 3);
  cases = json_object_get_array_member (root, "cases");
  g_assert_cmpuint (json_array_get_length (cases), ==, 2);
  one = json_array_get_object_element (cases, 1);
  g_assert_cmpint (json_object_get_int_member (one, "mappings"), ==, 2);
  g_assert_cmpstr (json_object_get_string_member (one, "default"), ==, "ABT");
  one = json_array_get_object_element (json_object_get_array_member (one, "ranking"), 1);
  g_assert_cmpstr (json_object_get_string_member (one, "mapping"), ==, "BAT");
  g_assert_cmpint (json_object_get_int_member (one, "place"), ==, 1);
  files_clear (&files);
}

/* The map of BAT: B slowest, then A, then the slot; read back, it is that. */
static void
test_map_of_the_best (void)
{
  Files files;
  g_autofree char *text = NULL, *map = NULL;

  files_init (&files, 0);
  text = ranked (files.store, files.map, "STORE --case 1 --output MAP");
  g_assert_nonnull (strstr (text, "best: BAT"));
  g_assert_true (g_file_get_contents (files.map, &map, NULL, NULL));
  g_assert_cmpstr (map, ==,
                   "# A B T\n0 0 0\n1 0 0\n2 0 0\n3 0 0\n"
                   "0 1 0\n1 1 0\n2 1 0\n3 1 0\n");
  files_clear (&files);
}

static void
assert_refused (const Files *files, const char *arguments, const char *message)
{
  g_autofree char *text = ranked (files->store, files->map, arguments);

  g_assert_nonnull (strstr (text, message));
  g_assert_false (g_file_test (files->map, G_FILE_TEST_EXISTS));
}

static void
test_wrong_usage (void)
{
  Files files;

  files_init (&files, 0);
  assert_refused (&files, "STORE --output MAP", "--case chooses it");
  assert_refused (&files, "STORE --case 3 --output MAP", "there are 2 cases");
  assert_refused (&files, "STORE --case 0", "there are 2 cases");
  assert_refused (&files, "STORE --case c.hct", "there are 2 cases");
  assert_refused (&files, "STORE --by time", "--by: runs have no column \"time\"");
  assert_refused (&files, "STORE --tie -1", "--tie");
  assert_refused (&files, "STORE --tie nan", "--tie");
  assert_refused (&files, "STORE --top 0", "--top");
  assert_refused (&files, "MAP", "best.map");
  files_clear (&files);
}

/* A study file stands for its store. */
static void
test_study_file (void)
{
  Files files;
  g_autofree char *study = NULL, *text = NULL, *of_store = NULL, *without = NULL;

  files_init (&files, 0);
  study = g_build_filename (files.folder, "little.study", NULL);
  g_assert_true (g_file_set_contents (
      study, "[traces]\ntrace = a.hct\n[machines]\nmachine = torus:4x2\n", -1, NULL));
  of_store = ranked (files.store, files.map, "STORE");
  text = ranked (study, files.map, "STORE");
  g_assert_nonnull (strstr (text, "best: BAT"));
  g_assert_cmpstr (text, ==, of_store);
  g_assert_cmpint (g_unlink (files.store), ==, 0);
  without = ranked (study, files.map, "STORE");
  g_assert_nonnull (strstr (without, "nothing was run yet"));
  files_clear (&files);
}

static void
test_nothing_done (void)
{
  Files files;

  files_init (&files, 10);
  assert_refused (&files, "STORE", "no run is done yet");
  files_clear (&files);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/rank/table", test_table);
  g_test_add_func ("/cli/rank/top", test_top_and_default);
  g_test_add_func ("/cli/rank/by", test_by_and_tie);
  g_test_add_func ("/cli/rank/missing", test_missing_runs);
  g_test_add_func ("/cli/rank/json", test_json);
  g_test_add_func ("/cli/rank/map", test_map_of_the_best);
  g_test_add_func ("/cli/rank/usage", test_wrong_usage);
  g_test_add_func ("/cli/rank/study", test_study_file);
  g_test_add_func ("/cli/rank/nothing", test_nothing_done);
  return g_test_run ();
}
