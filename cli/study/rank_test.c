/* rank_test.c - `hopcast rank` on a store made here.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/print/output.h"
#include "cli/study/rank_fixture.h"
#include "study/store/store_fixture.h"

#include <glib/gstdio.h>
#include <string.h>

static void
test_table (void)
{
  RankFiles files;
  g_autofree char *text = NULL;

  rank_fixture_init (&files, 0);
  text = rank_fixture_run (&files, "STORE --case 1");
  g_assert_cmpstr (text, ==,
                   "case 1: a.hct, torus:4x2, packet\n"
                   "  place  mapping  time_s   gain  runs\n"
                   "      1  BAT           2  2.000     1\n"
                   "      1  ATB        2.01  1.990     1\n"
                   "      3  TAB           3  1.333     1\n"
                   "      4  ABT           4  1.000     1\n"
                   "      5  TBA           8  0.500     1\n"
                   "  best: BAT, 2.000 times as good as the default, ABT\n");
  rank_fixture_clear (&files);
}

/* A place that is shared is shown whole. */
static void
test_top_and_default (void)
{
  RankFiles files;
  g_autofree char *text = NULL;

  rank_fixture_init (&files, 0);
  text = rank_fixture_run (&files, "STORE --top 1 --case b,");
  g_assert_cmpstr (text, ==,
                   "case 2: b,\"b\".hct, torus:4x2, packet\n"
                   "  place  mapping  time_s   gain  runs\n"
                   "      1  ABT           5  1.000     1\n"
                   "      1  BAT        5.01  0.998     1\n"
                   "  ... 3 more\n"
                   "  none is better than the default, ABT\n");
  rank_fixture_clear (&files);
}

static void
test_by_and_tie (void)
{
  RankFiles files;
  g_autofree char *text = NULL, *first = NULL;

  rank_fixture_init (&files, 0);
  text = rank_fixture_run (&files, "STORE --by max_bytes --tie 0 --format csv --case 2");
  first = g_strdup (strchr (text, '\n') + 1);
  strchr (first, '\n')[0] = '\0';
  g_assert_cmpstr (first, ==,
                   "2,\"b,\"\"b\"\".hct\",torus:4x2,packet,default,TBA,1,1,max_bytes,96,"
                   "1.0416666666666667,1," FIXTURE_KEY ("14"));
  rank_fixture_clear (&files);
}

static void
test_missing_runs (void)
{
  for (guint n_missing = 1; n_missing <= 2; n_missing++) {
    RankFiles files;
    g_autofree char *text = NULL;

    rank_fixture_init (&files, n_missing);
    text = rank_fixture_run (&files, "STORE --case 2");
    g_assert_true (g_str_has_suffix (text, n_missing == 1
                                               ? "\nnot made yet: 1 run of the study\n"
                                               : "\nnot made yet: 2 runs of the study\n"));
    rank_fixture_clear (&files);
  }
}

static void
test_json (void)
{
  RankFiles files;
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *root, *one;
  JsonArray *cases;

  rank_fixture_init (&files, 3);
  text = rank_fixture_run (&files, "STORE --format json");
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
  rank_fixture_clear (&files);
}

/* The map of BAT: B slowest, then A, then the slot; read back, it is that. */
static void
test_map_of_the_best (void)
{
  RankFiles files;
  g_autofree char *text = NULL, *map = NULL;

  rank_fixture_init (&files, 0);
  text = rank_fixture_run (&files, "STORE --case 1 --output MAP");
  g_assert_nonnull (strstr (text, "best: BAT"));
  g_assert_true (g_file_get_contents (files.map, &map, NULL, NULL));
  g_assert_cmpstr (map, ==,
                   "# A B T\n0 0 0\n1 0 0\n2 0 0\n3 0 0\n"
                   "0 1 0\n1 1 0\n2 1 0\n3 1 0\n");
  rank_fixture_clear (&files);
}

static void
assert_refused (const RankFiles *files, const char *arguments, const char *message)
{
  g_autofree char *text = rank_fixture_run (files, arguments);

  g_assert_nonnull (strstr (text, message));
  g_assert_false (g_file_test (files->map, G_FILE_TEST_EXISTS));
}

static void
test_wrong_usage (void)
{
  RankFiles files;

  rank_fixture_init (&files, 0);
  assert_refused (&files, "STORE --output MAP", "--case chooses it");
  assert_refused (&files, "STORE --case 3 --output MAP", "is none of 2 cases");
  assert_refused (&files, "STORE --case 0", "is none of 2 cases");
  assert_refused (&files, "STORE --case c.hct", "is none of 2 cases");
  assert_refused (&files, "STORE --by time", "--by: runs have no column \"time\"");
  assert_refused (&files, "STORE --tie -1", "--tie");
  assert_refused (&files, "STORE --tie nan", "--tie");
  assert_refused (&files, "STORE --top 0", "--top");
  assert_refused (&files, "MAP", "best.map");
  rank_fixture_clear (&files);
}

/* A study file stands for its store. */
static void
test_study_file (void)
{
  RankFiles files, of_study;
  g_autofree char *study = NULL, *text = NULL, *of_store = NULL, *without = NULL;

  rank_fixture_init (&files, 0);
  study = g_build_filename (files.folder, "little.study", NULL);
  of_study = files;
  g_assert_true (g_file_set_contents (
      study, "[traces]\ntrace = a.hct\n[machines]\nmachine = torus:4x2\n", -1, NULL));
  of_store = rank_fixture_run (&files, "STORE");
  of_study.store = study;
  text = rank_fixture_run (&of_study, "STORE");
  g_assert_nonnull (strstr (text, "best: BAT"));
  g_assert_cmpstr (text, ==, of_store);
  g_assert_cmpint (g_unlink (files.store), ==, 0);
  without = rank_fixture_run (&of_study, "STORE");
  g_assert_nonnull (strstr (without, "nothing was run yet"));
  rank_fixture_clear (&files);
}

static void
test_nothing_done (void)
{
  RankFiles files;

  rank_fixture_init (&files, 10);
  assert_refused (&files, "STORE", "no run is done yet");
  rank_fixture_clear (&files);
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
