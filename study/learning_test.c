/* learning_test.c - a little store as a table to learn from.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

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
study_begin (Study *study)
{
  g_autofree char *path = NULL;

  study->folder = fixture_folder ();
  path = g_build_filename (study->folder, "little.store", NULL);
  study->store = fixture_open (path, STUDY_STORE_CREATE);
  study->rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);
}

static void
study_end (Study *study)
{
  study_store_free (study->store);
  g_ptr_array_unref (study->rows);
  fixture_remove (study->folder);
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
  g_free (row->network);
  row->network = g_strdup (network);
  g_free (row->routing);
  row->routing = g_strdup (routing);
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
  g_assert_true (study_store_put_all (study->store, rows, study->rows->len, NULL));
  return study_learning_table (study->store, NULL, learning, n_left_out, error);
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
test_columns (void)
{
  Study study;
  guint n_left_out;
  g_autoptr (PredictTable) table = NULL;
  const PredictColumn *column;

  study_begin (&study);
  add (&study, 0, "packet", "default")->message_bytes = 12345;
  add (&study, 1, "flow", "default"); /* has no packets to count */
  table = table_of (&study, &(StudyLearning){ 0 }, &n_left_out, NULL);
  g_assert_cmpuint (table->n_columns, ==, study_row_n_columns (FALSE));
  g_assert_null (predict_table_find (table, "wall_s"));
  g_assert_cmpstr (table->source, ==, study_store_path (study.store));
  g_assert_null (table->lines);
  for (guint at = 0; at < table->n_columns; at++) {
    g_autofree char *cell = predict_table_cell (table, at, 1);
    g_autofree char *text = study_row_column_text (g_ptr_array_index (study.rows, 1), at);

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
  study_end (&study);
}

/* Placement 2 has no run under load, and 3 no time. */
static void
test_features_of_other_runs (void)
{
  const StudyLearning same = { 0 }, load = { .features = { .network = "load" } };
  const StudyLearning packet = { .observed = { .network = "packet" },
                                 .features = { .network = "packet" } };
  Study study;

  study_begin (&study);
  add (&study, 0, "load", "default");
  add (&study, 0, "packet", "default");
  add (&study, 1, "packet", "default");
  add (&study, 1, "load", "default");
  add (&study, 2, "packet", "default");
  add (&study, 3, "load", "default");
  assert_learned (&study, &same, "1:1 1; 2:2 2; 4:4 4 (0)");
  assert_learned (&study, &packet, "1:1 1; 2:2 2; 4:4 4 (0)");
  assert_learned (&study, &load, "1:1 0; 2:2 3 (1)");
  study_end (&study);
}

/* To predict, what has no time is a row too, but not beside one of the same placement. */
static void
test_without_time (void)
{
  const StudyLearning blind = { .without_time = TRUE };
  const StudyLearning load = { .features = { .network = "load" }, .without_time = TRUE };
  const StudyLearning only = { .observed = { .network = "load" }, .without_time = TRUE };
  const StudyLearning timed = { .observed = { .network = "load" } };
  Study study;

  study_begin (&study);
  add (&study, 0, "load", "default");
  add (&study, 0, "packet", "default");
  add (&study, 1, "load", "default");
  assert_learned (&study, &blind, "1:1 1; 2:nan 2 (0)");
  assert_learned (&study, &load, "1:1 0; 2:nan 2 (0)");
  assert_learned (&study, &only, "0:nan 0; 2:nan 2 (0)");
  assert_refused (&study, &timed, "no run that is done is one of the observed runs");
  study_end (&study);
}

/* Runs are twins only when everything else is the same. */
static void
test_twins (void)
{
  const StudyLearning load = { .observed = { .network = "packet" },
                               .features = { .network = "load" } };
  Study study;
  StudyRow *row;

  study_begin (&study);
  add (&study, 0, "packet", "default");
  row = add (&study, 0, "load", "default");
  g_free (row->trace_hash);
  row->trace_hash = fixture_key (204);
  row = add (&study, 0, "load", "default");
  g_free (row->machine);
  row->machine = g_strdup ("bgq:64");
  add (&study, 0, "load", "default")->seed = 2;
  add (&study, 0, "load", "default")->repetition = 1;
  add (&study, 0, "load", "default")->compute_scale = 0.5;
  add (&study, 1, "load", "default");
  assert_refused (&study, &load, "none of the 1 observed runs has its placement");
  row = add (&study, 0, "load", "default");
  row->status = STUDY_FAILED;
  assert_refused (&study, &load, "none of the 1 observed runs has its placement");
  add (&study, 0, "load", "deterministic");
  assert_learned (&study, &load, "0:0 8 (0)");
  study_end (&study);
}

static void
test_choices_that_are_missing (void)
{
  const StudyLearning any = { 0 }, packet = { .observed = { .network = "packet" } };
  const StudyLearning chosen = { .observed = { .network = "packet", .routing = "zone1" } };
  const StudyLearning grain = { .observed = { .network = "flow", .grain = "512" } };
  const StudyLearning features = { .observed = { .network = "packet", .routing = "zone1" },
                                   .features = { .network = "flow" } };
  const StudyLearning nobody = { .observed = { .routing = "zone3" } };
  Study study;
  StudyRow *row;

  study_begin (&study);
  add (&study, 0, "packet", "default");
  add (&study, 0, "packet", "zone1");
  add (&study, 0, "flow", "default");
  row = add (&study, 0, "flow", "default");
  g_free (row->grain);
  row->grain = g_strdup ("512");
  assert_refused (&study, &packet,
                  "observed runs: gen:halo2d with map-0 on bgq:32 was run in several ways: "
                  "choose routing=default or routing=zone1");
  assert_learned (&study, &chosen, "1:1 1 (0)");
  assert_learned (&study, &grain, "3:3 3 (0)");
  assert_refused (&study, &features,
                  "feature runs: gen:halo2d with map-0 on bgq:32 was run in "
                  "several ways: choose grain=exact or grain=512");
  assert_refused (&study, &nobody, "no run that is done is one of the observed runs");
  g_ptr_array_remove_range (study.rows, 1, 1);
  assert_refused (&study, &any, "choose network=packet or network=flow");
  study_end (&study);
}

/* One run under two names is one row, and repetitions are rows of their own. */
static void
test_names_and_repetitions (void)
{
  const StudyLearning any = { 0 };
  Study study;
  StudyRow *row;

  study_begin (&study);
  add (&study, 0, "packet", "default");
  add (&study, 0, "packet", "default")->repetition = 1;
  row = add (&study, 0, "packet", "default");
  g_free (row->key);
  row->key = fixture_key (0);
  g_free (row->mapping);
  row->mapping = g_strdup ("again");
  row->time_s = 0;
  assert_learned (&study, &any, "0:0 0; 1:1 1 (0)");
  study_end (&study);
}

static void
test_nothing_done (void)
{
  Study study;

  study_begin (&study);
  assert_refused (&study, &(StudyLearning){ 0 }, "no run that is done has a time");
  add (&study, 0, "packet", "default")->status = STUDY_FAILED;
  add (&study, 0, "load", "default");
  assert_refused (&study, &(StudyLearning){ 0 }, "no run that is done has a time");
  study_end (&study);
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
  g_test_add_func ("/study/learning/columns", test_columns);
  g_test_add_func ("/study/learning/features", test_features_of_other_runs);
  g_test_add_func ("/study/learning/without-time", test_without_time);
  g_test_add_func ("/study/learning/twins", test_twins);
  g_test_add_func ("/study/learning/choices", test_choices_that_are_missing);
  g_test_add_func ("/study/learning/names", test_names_and_repetitions);
  g_test_add_func ("/study/learning/nothing", test_nothing_done);
  g_test_add_func ("/study/learning/sets", test_sets_of_features);
  return g_test_run ();
}
