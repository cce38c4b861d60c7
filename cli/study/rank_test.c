/* rank_test.c - `hopcast rank` on a store made here.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/output.h"
#include "cli/study/rank_fixture.h"
#include "study/store/store_fixture.h"

#include <glib/gstdio.h>
#include <string.h>

#define SINGLE                                                                                  \
  "\none run of each: its end is one draw, which moves by 0 to 15 % in a congested exchange;\n" \
  "replicas = 4 in [runs] of the study tells by how much here\n"

/* A shared place is shown whole. */
static void
test_table (void)
{
  static const struct {
    const char *arguments, *expected;
  } cases[] = {
    { "STORE --case 1", "case 1: a.hct, torus:4x2, packet\n"
                        "  place  mapping  time_s   gain  runs\n"
                        "      1  BAT           2  2.000     1\n"
                        "      1  ATB        2.01  1.990     1\n"
                        "      3  TAB           3  1.333     1\n"
                        "      4  ABT           4  1.000     1\n"
                        "      5  TBA           8  0.500     1\n"
                        "  best: BAT, 2.000 times as good as the default, ABT\n" SINGLE },
    { "STORE --top 1 --case b,", "case 2: b,\"b\".hct, torus:4x2, packet\n"
                                 "  place  mapping  time_s   gain  runs\n"
                                 "      1  ABT           5  1.000     1\n"
                                 "      1  BAT        5.01  0.998     1\n"
                                 "  ... 3 more\n"
                                 "  none is better than the default, ABT\n" SINGLE },
  };
  g_auto (RankFiles) files = rank_fixture_new (0);

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = rank_fixture_run (&files, cases[i].arguments);

    g_test_message ("%s", cases[i].arguments);
    g_assert_cmpstr (text, ==, cases[i].expected);
  }
}

static void
test_by_and_tie (void)
{
  g_auto (RankFiles) files = rank_fixture_new (0);
  g_autofree char *text =
      rank_fixture_run (&files, "STORE --by max_bytes --tie 0 --format csv --case 2");
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  g_assert_cmpstr (lines[1], ==,
                   "2,\"b,\"\"b\"\".hct\",torus:4x2,packet,default,TBA,1,1,max_bytes,96,"
                   "1.0416666666666667,1," FIXTURE_KEY ("14"));
}

static void
test_missing_runs (void)
{
  static const struct {
    guint n_missing;
    const char *expected;
  } cases[] = {
    { 1, "\nnot made yet: 1 run of the study\n" },
    { 2, "\nnot made yet: 2 runs of the study\n" },
    { 10, "no run is done yet" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (RankFiles) files = rank_fixture_new (cases[i].n_missing);
    g_autofree char *text = rank_fixture_run (&files, "STORE");

    g_test_message ("%u missing", cases[i].n_missing);
    g_assert_true (g_str_has_suffix (text, cases[i].expected));
  }
}

static void
test_json (void)
{
  g_auto (RankFiles) files = rank_fixture_new (3);
  g_autofree char *text = rank_fixture_run (&files, "STORE --format json");
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *root, *one;
  JsonArray *cases;

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
}

/* The map of BAT: B slowest, then A, then the slot. */
static void
test_map_of_the_best (void)
{
  g_auto (RankFiles) files = rank_fixture_new (0);
  g_autofree char *map = NULL;

  rank_fixture_assert (&files, "STORE --case 1 --output MAP", "best: BAT");
  g_assert_true (g_file_get_contents (files.map, &map, NULL, NULL));
  g_assert_cmpstr (map, ==,
                   "# A B T\n0 0 0\n1 0 0\n2 0 0\n3 0 0\n"
                   "0 1 0\n1 1 0\n2 1 0\n3 1 0\n");
}

static void
test_wrong_usage (void)
{
  static const char *const cases[][2] = {
    { "STORE --output MAP", "--case chooses it" },
    { "STORE --case 3 --output MAP", "matches none of 2 cases" },
    { "STORE --case 0", "matches none of 2 cases" },
    { "STORE --case c.hct", "matches none of 2 cases" },
    { "STORE --by times", "--by: runs have no column \"times\"" },
    { "STORE --tie -1", "--tie" },
    { "STORE --tie nan", "--tie" },
    { "STORE --top 0", "--top" },
    { "MAP", "best.map" },
  };
  g_auto (RankFiles) files = rank_fixture_new (0);

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    rank_fixture_assert (&files, cases[i][0], cases[i][1]);
    g_assert_false (g_file_test (files.map, G_FILE_TEST_EXISTS));
  }
}

/* A study file stands for its store. */
static void
test_study_file (void)
{
  g_auto (RankFiles) files = rank_fixture_new (0);
  g_autofree char *study = g_build_filename (files.folder, "little.study", NULL);
  g_autofree char *text = NULL, *of_store = rank_fixture_run (&files, "STORE");
  RankFiles of_study = files;

  of_study.store = study;
  g_assert_true (g_file_set_contents (
      study, "[traces]\ntrace = a.hct\n[machines]\nmachine = torus:4x2\n", -1, NULL));
  text = rank_fixture_run (&of_study, "STORE");
  g_assert_nonnull (strstr (text, "best: BAT"));
  g_assert_cmpstr (text, ==, of_store);
  g_assert_cmpint (g_unlink (files.store), ==, 0);
  rank_fixture_assert (&of_study, "STORE", "nothing was run yet");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/rank/table", test_table);
  g_test_add_func ("/cli/rank/by", test_by_and_tie);
  g_test_add_func ("/cli/rank/missing", test_missing_runs);
  g_test_add_func ("/cli/rank/json", test_json);
  g_test_add_func ("/cli/rank/map", test_map_of_the_best);
  g_test_add_func ("/cli/rank/usage", test_wrong_usage);
  g_test_add_func ("/cli/rank/study", test_study_file);
  return g_test_run ();
}
