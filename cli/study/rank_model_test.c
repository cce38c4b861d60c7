/* rank_model_test.c - `hopcast rank --model`: straight lines whose predictions are known.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/print/output.h"
#include "cli/study/rank_fixture.h"
#include "predictors/model/model.h"
#include "study/store/store_fixture.h"

#include <math.h>
#include <string.h>

#define N_SAMPLES 40

/* A model of time_s = 2 max_bytes - 150, give or take `noise`, over -50 ... 300. */
static void
write_model (const RankFiles *files, double noise)
{
  g_autoptr (PredictTable) table = predict_table_new ("line", N_SAMPLES);
  double *x = g_new (double, N_SAMPLES), *y = g_new (double, N_SAMPLES);
  const char *features[] = { "max_bytes", NULL };
  const PredictRecipe recipe = { .features = features,
                                 .target = "time_s",
                                 .settings = predict_settings_default (PREDICT_LINEAR),
                                 .calibration_folds = 10 };
  g_autoptr (GError) error = NULL;
  g_autoptr (PredictModel) model = NULL;
  FILE *out = fopen (files->model, "w");

  /* Errors +-+- in pairs that a line cannot follow. */
  for (guint at = 0; at < N_SAMPLES; at++) {
    x[at] = -50 + 350.0 * at / (N_SAMPLES - 1);
    y[at] = 2 * x[at] - 150 + (at % 4 == 1 || at % 4 == 2 ? noise : -noise);
  }
  predict_table_take_numbers (table, "max_bytes", "bytes", x);
  predict_table_take_numbers (table, "time_s", "s", y);
  model = predict_model_train (table, &recipe, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (predict_model_write (model, out, NULL));
  g_assert_cmpint (fclose (out), ==, 0);
}

/* Adds a run under load of every mapping of a.hct, max_bytes 0, 10, 20, 30, 40. */
static void
add_load (const RankFiles *files)
{
  g_autoptr (StudyStore) store = fixture_open (files->store, STUDY_STORE_WRITE);
  g_autoptr (GPtrArray) rows = study_store_rows (store, FALSE, NULL);
  guint n_rows = rows->len;

  for (guint at = 0; at < n_rows / 2; at++) {
    const StudyRow *packet = g_ptr_array_index (rows, at);
    g_autoptr (GVariant) packed = study_row_pack (packet);
    StudyRow *row = study_row_unpack (packed);

    g_free (row->key);
    row->key = fixture_key (1000 + at);
    g_free (row->network);
    row->network = g_strdup ("load");
    row->time_s = (double) NAN;
    row->features[SIM_FEATURE_MAX_BYTES] = 10 * at;
    g_ptr_array_add (rows, row);
  }
  g_assert_true (
      study_store_set_plan (store, "little", "", (StudyRow *const *) rows->pdata, rows->len, NULL));
  g_assert_true (study_store_put_all (store, (StudyRow *const *) rows->pdata, rows->len, NULL));
}

static void
assert_says (const RankFiles *files, const char *arguments, const char *expected)
{
  g_autofree char *text = rank_fixture_run (files, arguments);

  if (strstr (text, expected) == NULL)
    g_error ("%s: \"%s\", expected \"%s\"", arguments, text, expected);
}

/* max_bytes is 100 - n for mapping n, so that the last is predicted to be the fastest, which
 * was measured to be the slowest. */
static void
test_table (void)
{
  RankFiles files;
  g_autofree char *text = NULL, *note = NULL;

  rank_fixture_init (&files, 0);
  write_model (&files, 0);
  text = rank_fixture_run (&files, "STORE --case 1 --tie 0 --model MODEL");
  note = g_strdup_printf ("\npredicted by %s, trained on 40 samples of line, from the features of "
                          "the same runs\n",
                          files.model);
  g_assert_true (g_str_has_suffix (text, note));
  text[strlen (text) - strlen (note)] = '\0';
  g_assert_cmpstr (text, ==,
                   "case 1: a.hct, torus:4x2, packet\n"
                   "  place  mapping  predicted_s  time_s   gain  runs\n"
                   "      1  TBA               42       8  1.190     1\n"
                   "      2  ATB               44    2.01  1.136     1\n"
                   "      3  TAB               46       3  1.087     1\n"
                   "      4  BAT               48       2  1.042     1\n"
                   "      5  ABT               50       4  1.000     1\n"
                   "  best: TBA, 1.190 times as good as the default, ABT\n");
  rank_fixture_clear (&files);
}

/* Of ABT, by the features under load, and not of BAT, which was measured to be the fastest. */
static void
test_map_of_the_best (void)
{
  RankFiles files;
  g_autofree char *text = NULL, *map = NULL;

  rank_fixture_init (&files, 0);
  write_model (&files, 0);
  add_load (&files);
  text =
      rank_fixture_run (&files, "STORE --case 1 --model MODEL --feature-runs network=load -o MAP");
  g_assert_true (g_file_get_contents (files.map, &map, NULL, NULL));
  g_assert_cmpstr (map, ==,
                   "# A B T\n0 0 0\n0 1 0\n1 0 0\n1 1 0\n"
                   "2 0 0\n2 1 0\n3 0 0\n3 1 0\n");
  rank_fixture_clear (&files);
}

static JsonObject *
first_ranked (JsonParser *parser, const char *text)
{
  JsonObject *root, *one;

  g_assert_true (json_parser_load_from_data (parser, text, -1, NULL));
  root = json_node_get_object (json_parser_get_root (parser));
  one = json_array_get_object_element (json_object_get_array_member (root, "cases"), 0);
  return json_array_get_object_element (json_object_get_array_member (one, "ranking"), 0);
}

/* Of errors of 5 either way, the interval is about as wide. */
static void
test_interval (void)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autofree char *text = NULL;
  RankFiles files;
  JsonObject *best;
  double lower, upper, value;

  rank_fixture_init (&files, 0);
  write_model (&files, 5);
  text = rank_fixture_run (&files, "STORE --model MODEL --interval 0.8 --format json");
  best = first_ranked (parser, text);
  value = json_object_get_double_member (best, "value");
  lower = json_object_get_double_member (best, "lower");
  upper = json_object_get_double_member (best, "upper");
  g_assert_cmpfloat_with_epsilon (value, 42, 2);
  g_assert_cmpfloat_with_epsilon (upper - value, 5, 1);
  g_assert_cmpfloat_with_epsilon (value - lower, 5, 1);
  g_assert_cmpfloat (json_object_get_double_member (best, "time_s"), ==, 8);
  rank_fixture_clear (&files);
}

/* Features of load runs, 0 for the default mapping, beside times of packet runs; the case of
 * load itself has nothing to be said about. */
static void
test_features_of_load (void)
{
  RankFiles files;

  rank_fixture_init (&files, 0);
  write_model (&files, 0);
  add_load (&files);
  assert_says (&files, "STORE --model MODEL --feature-runs network=load --format csv",
               "gain,runs,key,time_s\n"
               "1,a.hct,torus:4x2,packet,default,ABT,1,1,predicted_s,-1");
  assert_says (&files, "STORE --model MODEL --feature-runs network=load",
               "from the features of the runs with network=load");
  rank_fixture_clear (&files);
}

/* Without a time, mappings are ranked all the same, and nothing is told as measured. */
static void
test_nothing_measured (void)
{
  RankFiles files;

  rank_fixture_init (&files, 0);
  write_model (&files, 0);
  add_load (&files);
  assert_says (&files, "STORE --model MODEL --observed-runs network=load --tie 0",
               "case 3: a.hct, torus:4x2, load\n"
               "  place  mapping  predicted_s   gain  runs\n"
               "      1  ABT             -150  1.000     1\n");
  rank_fixture_clear (&files);
}

static void
test_wrong_usage (void)
{
  RankFiles files;

  rank_fixture_init (&files, 0);
  write_model (&files, 0);
  assert_says (&files, "STORE --model MODEL --by time_s", "--by: with --model");
  assert_says (&files, "STORE --interval 0.9", "--interval needs --model");
  assert_says (&files, "STORE --model MODEL --interval 1", "not a share between 0 and 1");
  assert_says (&files, "STORE --model MODEL --interval 0", "not a share between 0 and 1");
  assert_says (&files, "STORE --feature-runs network=load", "need --model");
  assert_says (&files, "STORE --model MODEL --feature-runs network=bus", "--feature-runs");
  assert_says (&files, "STORE --model MAP", "best.map");
  assert_says (&files, "STORE --model MODEL --feature-runs network=load",
               "none of the 10 observed runs");
  rank_fixture_clear (&files);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/rank-model/table", test_table);
  g_test_add_func ("/cli/rank-model/map", test_map_of_the_best);
  g_test_add_func ("/cli/rank-model/interval", test_interval);
  g_test_add_func ("/cli/rank-model/load", test_features_of_load);
  g_test_add_func ("/cli/rank-model/nothing-measured", test_nothing_measured);
  g_test_add_func ("/cli/rank-model/usage", test_wrong_usage);
  return g_test_run ();
}
