/* learning_test.c - a little store as a table to learn from.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/scoring/feature_sets.h"
#include "study/study_error.h"
#include "study/learning.h"
#include "study/store/store_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  char *folder;
  StudyStore *store;
  GPtrArray *rows; /* (element-type StudyRow) */
} Study;

static void
set_up (Study *study, gconstpointer unused)
{
  g_autofree char *path = NULL;

  (void) unused;
  study->folder = fixture_folder ();
  path = g_build_filename (study->folder, "little.store", NULL);
  study->store = fixture_open (path, STUDY_STORE_CREATE);
  study->rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);
}

static void
tear_down (Study *study, gconstpointer unused)
{
  (void) unused;
  study_store_free (study->store);
  g_ptr_array_unref (study->rows);
  fixture_remove (study->folder);
}

static void
set_text (char **field, const char *text)
{
  g_free (*field);
  *field = g_strdup (text);
}

/* A run of placement `placement`, whose key is its number; time_s NaN for `load`, and otherwise the
 * number; all features are the number. */
static StudyRow *
add (Study *study, guint placement, const char *network, const char *routing)
{
  guint number = study->rows->len;
  StudyRow *row = fixture_row (number);

  g_free (row->mapping);
  row->mapping = g_strdup_printf ("map-%u", placement);
  g_free (row->mapping_hash);
  row->mapping_hash = fixture_places (placement);
  set_text (&row->network, network);
  set_text (&row->routing, routing);
  row->seed = 1;
  row->time_s = strcmp (network, "load") == 0 ? (double) NAN : (double) number;
  for (guint feature = 0; feature < SIM_N_FEATURES; feature++)
    row->features[feature] = number;
  if (isnan (row->time_s))
    row->features[SIM_FEATURE_MAX_BUFFER] = (double) NAN;
  g_ptr_array_add (study->rows, row);
  return row;
}

static PredictTable *
table_of (Study *study, const StudyLearning *learning, guint *n_left_out, GError **error)
{
  StudyRow *const *rows = (StudyRow *const *) study->rows->pdata;

  g_assert_true (study_store_set_plan (study->store, "little", "", rows, study->rows->len, NULL));
  g_assert_true (fixture_put (study->store, rows, study->rows->len, NULL));
  g_auto (StudyLearned) learned = { 0 };
  PredictTable *table = study_learning_table (study->store, NULL, learning, &learned, error);

  *n_left_out = learned.n_left_out;
  return table;
}

/* "0:0 0; 2:2 1": key, time and max_bytes of each row, and how many were left out. */
static void
assert_learned (Study *study, const StudyLearning *learning, const char *expected)
{
  guint n_left_out = 99;
  g_autoptr (GError) error = NULL;
  g_autoptr (PredictTable) table = table_of (study, learning, &n_left_out, &error);
  g_autoptr (GString) text = g_string_new (NULL);
  guint key = 0;

  g_assert_no_error (error);
  while (strcmp (table->columns[key].name, "key") != 0)
    key++;
  for (uint64_t row = 0; row < table->n_rows; row++) {
    g_autofree char *name = predict_table_cell (table, key, row);

    g_string_append_printf (text, "%s%d:%g %g", row > 0 ? "; " : "", atoi (name),
                            predict_table_find (table, "time_s")->numbers[row],
                            predict_table_find (table, "max_bytes")->numbers[row]);
  }
  g_string_append_printf (text, " (%u)", n_left_out);
  g_assert_cmpstr (text->str, ==, expected);
}

static void
assert_refused (Study *study, const StudyLearning *learning, const char *message)
{
  guint n_left_out;
  g_autoptr (GError) error = NULL;

  g_assert_null (table_of (study, learning, &n_left_out, &error));
  g_assert_error (error, STUDY_ERROR, STUDY_ERROR_INPUT);
  if (strstr (error->message, message) == NULL)
    g_error ("\"%s\", expected \"%s\"", error->message, message);
}

/* Every column of the rows, with its kind, and units. */
static void
test_columns (Study *study, gconstpointer unused)
{
  guint n_left_out;
  g_autoptr (PredictTable) table = NULL;
  const PredictColumn *column;

  (void) unused;
  add (study, 0, "packet", "default")->message_bytes = 12345;
  add (study, 1, "flow", "default"); /* has no packets to count */
  table = table_of (study, &(StudyLearning){ 0 }, &n_left_out, NULL);
  g_assert_cmpuint (table->n_columns, ==, study_row_n_columns (FALSE));
  g_assert_null (predict_table_find (table, "wall_s"));
  g_assert_cmpstr (table->source, ==, study_store_path (study->store));
  g_assert_null (table->lines);
  for (guint at = 0; at < table->n_columns; at++) {
    g_autofree char *cell = predict_table_cell (table, at, 1);
    g_autofree char *text = study_row_column_text (g_ptr_array_index (study->rows, 1), at);

    g_assert_cmpstr (table->columns[at].name, ==, study_row_column_name (at));
    g_assert_cmpstr (cell, ==, text != NULL ? text : "");
    g_assert_true ((table->columns[at].numbers != NULL) == study_row_column_is_number (at));
  }
  column = predict_table_find (table, "message_bytes");
  g_assert_cmpfloat (column->numbers[0], ==, 12345);
  g_assert_cmpstr (column->unit, ==, "bytes");
  g_assert_cmpstr (predict_table_find (table, "time_s")->unit, ==, "s");
  g_assert_cmpstr (predict_table_find (table, "wait_s_max")->unit, ==, "s");
  g_assert_cmpstr (predict_table_find (table, "max_FIFO")->unit, ==, "messages");
  g_assert_null (predict_table_find (table, "compute_scale")->unit);
  g_assert_null (predict_table_find (table, "ranks")->unit);
}

/* Placement 2 has no run under load, and 3 no time. */
static void
test_features_of_other_runs (Study *study, gconstpointer unused)
{
  const StudyLearning same = { 0 }, load = { .features = { .network = "load" } };
  const StudyLearning packet = { .observed = { .network = "packet" },
                                 .features = { .network = "packet" } };

  (void) unused;
  add (study, 0, "load", "default");
  add (study, 0, "packet", "default");
  add (study, 1, "packet", "default");
  add (study, 1, "load", "default");
  add (study, 2, "packet", "default");
  add (study, 3, "load", "default");
  assert_learned (study, &same, "1:1 1; 2:2 2; 4:4 4 (0)");
  assert_learned (study, &packet, "1:1 1; 2:2 2; 4:4 4 (0)");
  assert_learned (study, &load, "1:1 0; 2:2 3 (1)");
}

/* To predict, what has no time is a row too, but not beside one of the same placement. */
static void
test_without_time (Study *study, gconstpointer unused)
{
  const StudyLearning blind = { .without_time = TRUE };
  const StudyLearning load = { .features = { .network = "load" }, .without_time = TRUE };
  const StudyLearning only = { .observed = { .network = "load" }, .without_time = TRUE };
  const StudyLearning timed = { .observed = { .network = "load" } };

  (void) unused;
  add (study, 0, "load", "default");
  add (study, 0, "packet", "default");
  add (study, 1, "load", "default");
  assert_learned (study, &blind, "1:1 1; 2:nan 2 (0)");
  assert_learned (study, &load, "1:1 0; 2:nan 2 (0)");
  assert_learned (study, &only, "0:nan 0; 2:nan 2 (0)");
  assert_refused (study, &timed, "no run that is done is one of the observed runs");
}

/* Feature and observed runs belong together only when everything else is the same. */
static void
test_same_run (Study *study, gconstpointer unused)
{
  const StudyLearning load = { .observed = { .network = "packet" },
                               .features = { .network = "load" } };

  (void) unused;
  add (study, 0, "packet", "default");
  set_text (&add (study, 0, "load", "default")->trace_hash, FIXTURE_KEY ("04"));
  set_text (&add (study, 0, "load", "default")->machine, "bgq:64");
  add (study, 0, "load", "default")->seed = 2;
  add (study, 0, "load", "default")->repetition = 1;
  add (study, 0, "load", "default")->compute_scale = 0.5;
  add (study, 1, "load", "default");
  assert_refused (study, &load, "none of the 1 observed runs has its placement");
  add (study, 0, "load", "default")->status = STUDY_FAILED;
  assert_refused (study, &load, "none of the 1 observed runs has its placement");
  add (study, 0, "load", "deterministic");
  assert_learned (study, &load, "0:0 8 (0)");
}

static void
test_choices_that_are_missing (Study *study, gconstpointer unused)
{
  const StudyLearning any = { 0 }, packet = { .observed = { .network = "packet" } };
  const StudyLearning chosen = { .observed = { .network = "packet", .routing = "zone1" } };
  const StudyLearning shrink = { .observed = { .network = "flow", .shrink = "8" } };
  const StudyLearning features = { .observed = { .network = "packet", .routing = "zone1" },
                                   .features = { .network = "flow" } };
  const StudyLearning nobody = { .observed = { .routing = "zone3" } };

  (void) unused;
  add (study, 0, "packet", "default");
  add (study, 0, "packet", "zone1");
  add (study, 0, "flow", "default");
  set_text (&add (study, 0, "flow", "default")->shrink, "8");
  assert_refused (study, &packet,
                  "observed runs: gen:halo2d with map-0 on bgq:32 was run in several ways: "
                  "choose routing=default or routing=zone1");
  assert_learned (study, &chosen, "1:1 1 (0)");
  assert_learned (study, &shrink, "3:3 3 (0)");
  assert_refused (study, &features,
                  "feature runs: gen:halo2d with map-0 on bgq:32 was run in "
                  "several ways: choose shrink=off or shrink=8");
  assert_refused (study, &nobody, "no run that is done is one of the observed runs");
  g_ptr_array_remove_range (study->rows, 1, 1);
  assert_refused (study, &any, "choose network=packet or network=flow");
}

/* One run under two names is one row, and repetitions are rows of their own. */
static void
test_names_and_repetitions (Study *study, gconstpointer unused)
{
  const StudyLearning any = { 0 };
  StudyRow *row;

  (void) unused;
  add (study, 0, "packet", "default");
  add (study, 0, "packet", "default")->repetition = 1;
  row = add (study, 0, "packet", "default");
  set_text (&row->key, ((StudyRow *) g_ptr_array_index (study->rows, 0))->key);
  set_text (&row->mapping, "again");
  row->time_s = 0;
  assert_learned (study, &any, "0:0 0; 1:1 1 (0)");
}

/* Replicas of a placement are one row: their mean, with the features of load beside it. */
static void
test_replicas (Study *study, gconstpointer unused)
{
  const StudyLearning same = { .observed = { .network = "packet" } };
  const StudyLearning load = { .observed = { .network = "packet" },
                               .features = { .network = "load" } };

  (void) unused;
  for (guint replica = 0; replica < 3; replica++) {
    StudyRow *row = add (study, 0, "packet", "default");

    row->replica = replica;
    row->seed = 1 + replica;
    row->jitter_s = 1e-6;
  }
  assert_learned (study, &same, "0:1 1 (0)");
  add (study, 0, "load", "default");
  assert_learned (study, &load, "0:1 3 (0)");
  add (study, 0, "packet", "default"); /* without jitter: it is none of them */
  assert_refused (study, &same, "no choice tells them apart");
}

static PredictNoise
noise_of (Study *study, const char *noisy, const uint64_t *rows, uint64_t n)
{
  const StudyLearning any = { .noisy = noisy };
  g_auto (StudyLearned) learned = { 0 };
  g_autoptr (GError) error = NULL;
  guint n_left_out;
  g_autoptr (PredictTable) written = table_of (study, &any, &n_left_out, &error);
  g_autoptr (PredictTable) table =
      study_learning_table (study->store, NULL, &any, &learned, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (table->n_rows, >=, n);
  return study_learned_noise (&learned, rows, n);
}

/* Eight placements with four replicas each, that are listed in another order every time.  Halved in
 * one of two ways, the means order one pair of 28 otherwise: */
static void
test_noise (Study *study, gconstpointer unused)
{
  static const uint64_t quiet[] = { 7, 0, 3 };
  PredictNoise noise;

  (void) unused;
  for (guint placement = 0; placement < 8; placement++)
    for (guint at = 0; at < 4; at++) {
      StudyRow *row = add (study, placement, "packet", "default");
      guint replica = (at + placement) % 4;

      row->replica = replica;
      row->seed = 1 + replica;
      row->jitter_s = 1e-6;
      /* The first two of placement 5 are slower than those of placement 6. */
      row->time_s = 10 * placement + replica + (placement == 5 && replica < 2 ? 12 : 0);
    }
  noise = noise_of (study, NULL, NULL, 8);
  g_assert_cmpuint (noise.n_draws, ==, 4);
  g_assert_cmpfloat_with_epsilon (noise.halves_rcc, (27.0 / 28 + 1) / 2, 1e-12);
  g_assert_cmpfloat (noise.noise_rcc, >, noise.halves_rcc);
  g_assert_cmpfloat (noise.noise_rcc, <, 1);
  g_assert_cmpfloat (noise_of (study, NULL, quiet, 3).noise_rcc, ==, 1);
  /* A feature that numbers the runs, in the order of the placements. */
  g_assert_cmpfloat (noise_of (study, "max_bytes", NULL, 8).noise_rcc, ==, 1);
  g_assert_cmpuint (noise_of (study, "machine", NULL, 8).n_draws, ==, 0);
  g_assert_cmpuint (noise_of (study, "nothing", NULL, 8).n_draws, ==, 0);
  add (study, 9, "packet", "default");
  noise = noise_of (study, NULL, NULL, 9);
  g_assert_cmpuint (noise.n_draws, ==, 1);
  g_assert_true (isnan (noise.noise_rcc));
}

/* One replica of each of three was not made. */
static void
test_replicas_that_lack (Study *study, gconstpointer unused)
{
  PredictNoise noise;

  (void) unused;
  for (guint placement = 0; placement < 3; placement++)
    for (guint replica = 0; replica < 4; replica++) {
      StudyRow *row = add (study, placement, "packet", "default");

      row->replica = replica;
      row->seed = 1 + replica;
      row->jitter_s = 1e-6;
      if (replica == placement)
        row->status = STUDY_FAILED;
    }
  noise = noise_of (study, NULL, NULL, 3);
  g_assert_cmpuint (noise.n_draws, ==, 3);
  g_assert_cmpfloat (noise.noise_rcc, ==, 1);
}

/* Placement 0 was measured twice, 2 not at all, and 9 has no run. */
static void
test_measured (Study *study, gconstpointer unused)
{
  static const char *const mappings[] = { "map-1", "map-0", "map-9", "map-0" };
  static const double times[] = { 8, 1, 5, 3 }, sizes[] = { 70, 60, 50, 60 };
  g_autoptr (PredictTable) measured = predict_table_new ("measured.csv", G_N_ELEMENTS (mappings));
  g_autoptr (PredictTable) runs = NULL;
  g_autoptr (PredictTable) table = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (StudyLearned) learned = { 0 };
  guint n_left_out;

  (void) unused;
  for (guint placement = 0; placement < 3; placement++)
    add (study, placement, "packet", "default");
  runs = table_of (study, &(StudyLearning){ 0 }, &n_left_out, NULL);
  predict_table_add_texts (measured, "mapping", mappings);
  predict_table_take_numbers (measured, "measured_s", NULL, g_memdup2 (times, sizeof times));
  predict_table_take_numbers (measured, "size", NULL, g_memdup2 (sizes, sizeof sizes));

  table = study_measured_runs (runs, measured, "measured_s", &learned, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (table->n_rows, ==, 2);
  g_assert_cmpfloat (predict_table_find (table, "max_bytes")->numbers[0], ==, 1);
  g_assert_cmpfloat (predict_table_find (table, "max_bytes")->numbers[1], ==, 0);
  g_assert_cmpfloat (predict_table_find (table, "measured_s")->numbers[0], ==, 8);
  g_assert_cmpfloat (predict_table_find (table, "measured_s")->numbers[1], ==, 2);
  g_assert_cmpfloat (predict_table_find (table, "size")->numbers[1], ==, 60);
  g_assert_cmpuint (learned.n_unmatched, ==, 1);
  g_assert_cmpuint (learned.first_unmatched, ==, 2);
  g_assert_cmpuint (learned.n_unmeasured, ==, 1);
  g_assert_cmpuint (learned.n_repeated, ==, 1);
  g_assert_cmpuint (learned.n_draws, ==, 2);
  g_assert_cmpfloat (learned.draws[0], ==, 8);
  g_assert_true (isnan (learned.draws[1]));
  g_assert_cmpfloat (learned.draws[2], ==, 1);
  g_assert_cmpfloat (learned.draws[3], ==, 3);

  g_assert_null (study_measured_rows (runs, measured, "measured_s", &error));
  g_assert_nonnull (strstr (error->message, "measured.csv, row 3: "));
}

static void
test_nothing_done (Study *study, gconstpointer unused)
{

  (void) unused;
  assert_refused (study, &(StudyLearning){ 0 }, "no run that is done has a time");
  add (study, 0, "packet", "default")->status = STUDY_FAILED;
  add (study, 0, "load", "default");
  assert_refused (study, &(StudyLearning){ 0 }, "no run that is done has a time");
}

/* The sets of features name what runs have, and "all" is all of it. */
static void
test_sets_of_features (void)
{
  const PredictFeatureSet *all = predict_feature_set ("all");

  for (guint feature = 0; feature < SIM_N_FEATURES; feature++)
    g_assert_cmpstr (all->features[feature], ==, sim_feature_name ((SimFeature) feature));
  g_assert_null (all->features[SIM_N_FEATURES]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, test) g_test_add ("/study/learning/" name, Study, NULL, set_up, test, tear_down)
  ADD ("columns", test_columns);
  ADD ("features", test_features_of_other_runs);
  ADD ("without-time", test_without_time);
  ADD ("same-run", test_same_run);
  ADD ("choices", test_choices_that_are_missing);
  ADD ("names", test_names_and_repetitions);
  ADD ("replicas", test_replicas);
  ADD ("noise", test_noise);
  ADD ("lack", test_replicas_that_lack);
  ADD ("measured", test_measured);
  ADD ("nothing", test_nothing_done);
  g_test_add_func ("/study/learning/sets", test_sets_of_features);
  return g_test_run ();
}
