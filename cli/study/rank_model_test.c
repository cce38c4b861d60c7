/* rank_model_test.c - `hopcast rank --model`: straight lines whose predictions are known.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/output.h"
#include "cli/study/rank_fixture.h"
#include "predictors/model/model.h"
#include "study/store/store_fixture.h"

#include <math.h>
#include <string.h>

#define N_SAMPLES 40

/* The store, and a model of time_s = 2 max_bytes - 150, give or take `noise`, over -50 ... 300. */
static RankFiles
model_files (double noise)
{
  RankFiles files = rank_fixture_new (0);
  g_autoptr (PredictTable) table = predict_table_new ("line", N_SAMPLES);
  double *x = g_new (double, N_SAMPLES), *y = g_new (double, N_SAMPLES);
  const char *features[] = { "max_bytes", NULL };
  const PredictRecipe recipe = { .features = features,
                                 .target = "time_s",
                                 .settings = predict_settings_default (PREDICT_LINEAR),
                                 .calibration_folds = 10 };
  g_autoptr (GError) error = NULL;
  g_autoptr (PredictModel) model = NULL;
  FILE *out = fopen (files.model, "w");

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
  return files;
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
  g_assert_true (fixture_put (store, (StudyRow *const *) rows->pdata, rows->len, NULL));
}

/* max_bytes is 100 - n for mapping n: the last mapping is predicted to be the fastest, although it
 * was measured to be the slowest. */
static void
test_table (void)
{
  g_auto (RankFiles) files = model_files (0);
  g_autofree char *text = rank_fixture_run (&files, "STORE --case 1 --tie 0 --model MODEL");
  g_autofree char *expected = g_strdup_printf (
      "case 1: a.hct, torus:4x2, packet\n"
      "  place  mapping  predicted_s  time_s   gain  runs\n"
      "      1  TBA               42       8  1.190     1\n"
      "      2  ATB               44    2.01  1.136     1\n"
      "      3  TAB               46       3  1.087     1\n"
      "      4  BAT               48       2  1.042     1\n"
      "      5  ABT               50       4  1.000     1\n"
      "  best: TBA, 1.190 times as good as the default, ABT\n"
      "\ntime_s predicted by %s, trained on 40 samples of line, from the features of the same runs\n",
      files.model);

  g_assert_cmpstr (text, ==, expected);
}

/* The map of ABT, by the features under load, and not of BAT, which was measured to be the fastest. */
static void
test_map_of_the_best (void)
{
  g_auto (RankFiles) files = model_files (0);
  g_autofree char *text = NULL, *map = NULL;

  add_load (&files);
  text =
      rank_fixture_run (&files, "STORE --case 1 --model MODEL --feature-runs network=load -o MAP");
  g_assert_true (g_file_get_contents (files.map, &map, NULL, NULL));
  g_assert_cmpstr (map, ==,
                   "# A B T\n0 0 0\n0 1 0\n1 0 0\n1 1 0\n"
                   "2 0 0\n2 1 0\n3 0 0\n3 1 0\n");
}

/* With errors of 5 either way, the interval is about as wide. */
static void
test_interval (void)
{
  g_auto (RankFiles) files = model_files (5);
  g_autofree char *text =
      rank_fixture_run (&files, "STORE --model MODEL --interval 0.8 --format json");
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *best;
  double value;

  g_assert_true (json_parser_load_from_data (parser, text, -1, NULL));
  best = json_node_get_object (json_parser_get_root (parser));
  best = json_array_get_object_element (json_object_get_array_member (best, "cases"), 0);
  best = json_array_get_object_element (json_object_get_array_member (best, "ranking"), 0);
  value = json_object_get_double_member (best, "value");
  g_assert_cmpfloat_with_epsilon (value, 42, 2);
  g_assert_cmpfloat_with_epsilon (json_object_get_double_member (best, "upper") - value, 5, 1);
  g_assert_cmpfloat_with_epsilon (value - json_object_get_double_member (best, "lower"), 5, 1);
  g_assert_cmpfloat (json_object_get_double_member (best, "time_s"), ==, 8);
}

static void
test_features_of_load (void)
{
  static const char *const cases[][2] = {
    /* Features of load runs, 0 for the default mapping, beside times of packet runs; the case of load
     * itself is not ranked. */
    { "STORE --model MODEL --feature-runs network=load --format csv",
      "gain,runs,key,time_s\n1,a.hct,torus:4x2,packet,default,ABT,1,1,predicted_s,-1" },
    { "STORE --model MODEL --feature-runs network=load",
      "from the features of the runs with network=load" },
    /* Mappings without a time are ranked too, without a measured column. */
    { "STORE --model MODEL --observed-runs network=load --tie 0",
      "case 3: a.hct, torus:4x2, load\n"
      "  place  mapping  predicted_s   gain  runs\n"
      "      1  ABT             -150  1.000     1\n" },
  };
  g_auto (RankFiles) files = model_files (0);

  add_load (&files);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    rank_fixture_assert (&files, cases[i][0], cases[i][1]);
}

static void
test_wrong_usage (void)
{
  static const char *const cases[][2] = {
    { "STORE --model MODEL --by time_s", "--by and --model exclude each other" },
    { "STORE --interval 0.9", "--interval needs --model" },
    { "STORE --model MODEL --interval 1", "not a share between 0 and 1" },
    { "STORE --model MODEL --interval 0", "not a share between 0 and 1" },
    { "STORE --feature-runs network=load", "need --model" },
    { "STORE --model MODEL --feature-runs network=bus", "--feature-runs" },
    { "STORE --model MAP", "best.map" },
    { "STORE --model MODEL --feature-runs network=load", "none of the 10 observed runs" },
  };
  g_auto (RankFiles) files = model_files (0);

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    rank_fixture_assert (&files, cases[i][0], cases[i][1]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/rank-model/table", test_table);
  g_test_add_func ("/cli/rank-model/map", test_map_of_the_best);
  g_test_add_func ("/cli/rank-model/interval", test_interval);
  g_test_add_func ("/cli/rank-model/load", test_features_of_load);
  g_test_add_func ("/cli/rank-model/usage", test_wrong_usage);
  return g_test_run ();
}
