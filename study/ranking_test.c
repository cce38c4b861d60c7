/* ranking_test.c - cases, means, places, gains.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/study_error.h"
#include "study/inputs.h"
#include "study/ranking.h"

#include <math.h>
#include <string.h>

static void
row_free (gpointer row)
{
  study_row_free (row);
}

static GPtrArray *
rows_new (void)
{
  return g_ptr_array_new_with_free_func (row_free);
}

static void
set_text (char **field, const char *text)
{
  g_free (*field);
  *field = g_strdup (text);
}

/* A done run of one case; owned by the rows. */
static StudyRow *
add (GPtrArray *rows, const char *mapping, double time_s)
{
  StudyRow *row = study_row_new ();

  set_text (&row->trace, "a.hct");
  set_text (&row->machine, "bgq:32");
  set_text (&row->mapping, mapping);
  set_text (&row->network, "packet");
  set_text (&row->routing, "default");
  set_text (&row->shrink, "off");
  row->compute_scale = 1;
  row->status = STUDY_DONE;
  row->time_s = time_s;
  g_ptr_array_add (rows, row);
  return row;
}

static StudyRow *
add_replica (GPtrArray *rows, const char *mapping, double time_s, uint64_t seed)
{
  StudyRow *row = add (rows, mapping, time_s);

  row->seed = seed;
  row->jitter_s = 1e-6;
  return row;
}

static StudyRow *
add_failed (GPtrArray *rows, const char *mapping)
{
  StudyRow *row = add (rows, mapping, NAN);

  row->status = STUDY_FAILED;
  set_text (&row->error, "no such file");
  return row;
}

static GPtrArray *
cases_of (const GPtrArray *rows, const char *column, double tie)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *cases = study_cases_new (rows, column, tie, NULL, NULL, &error);

  g_assert_no_error (error);
  return cases;
}

static const StudyCase *
nth_case (const GPtrArray *cases, guint i)
{
  return g_ptr_array_index (cases, i);
}

static const StudyRanked *
nth (const StudyCase *study_case, guint i)
{
  return &g_array_index (study_case->ranked, StudyRanked, i);
}

/* "1 B 2 x4; ...": place, mapping, value and gain of all. */
static void
assert_ranking (const StudyCase *study_case, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < study_case->ranked->len; i++)
    g_string_append_printf (text, "%s%u %s %g x%g", i > 0 ? "; " : "", nth (study_case, i)->place,
                            nth (study_case, i)->mapping, nth (study_case, i)->value,
                            nth (study_case, i)->gain);
  g_assert_cmpstr (text->str, ==, expected);
}

static void
test_best_first (void)
{
  g_autoptr (GPtrArray) rows = rows_new (), cases = NULL;
  const StudyCase *first;

  add (rows, "ABCDET", 4);
  add (rows, "TABCDE", 8);
  add (rows, "a.map", 2);
  cases = cases_of (rows, NULL, 0);
  g_assert_cmpuint (cases->len, ==, 1);
  first = nth_case (cases, 0);
  assert_ranking (first, "1 a.map 2 x2; 2 ABCDET 4 x1; 3 TABCDE 8 x0.5");
  g_assert_cmpstr (first->name, ==, "a.hct, bgq:32, packet");
  g_assert_cmpstr (first->column, ==, "time_s");
  g_assert_cmpstr (first->default_mapping, ==, "ABCDET");
  g_assert_true (nth (first, 0)->row == g_ptr_array_index (rows, 2));
  g_assert_cmpuint (nth (first, 0)->n_runs, ==, 1);
}

/* 100 and 101 are within 1 % of 100; 102 is not, although it is of 101. */
static void
test_ties_are_with_the_best_of_a_place (void)
{
  g_autoptr (GPtrArray) rows = rows_new (), cases = NULL, exact = NULL;

  add (rows, "ABCDET", 102);
  add (rows, "x.map", 101);
  add (rows, "y.map", 100);
  add (rows, "z.map", 103);
  add (rows, "w.map", 204);
  cases = cases_of (rows, NULL, 0.01);
  assert_ranking (nth_case (cases, 0), "1 y.map 100 x1.02; 1 x.map 101 x1.0099; 3 ABCDET 102 x1; "
                                       "3 z.map 103 x0.990291; 5 w.map 204 x0.5");
  exact = cases_of (rows, NULL, 0);
  g_assert_cmpuint (nth (nth_case (exact, 0), 1)->place, ==, 2);
}

static void
test_equal_values_keep_the_order_of_the_rows (void)
{
  g_autoptr (GPtrArray) rows = rows_new (), cases = NULL;

  for (char name[] = "x.map"; name[0] >= 'a'; name[0]--)
    add (rows, name, 7);
  cases = cases_of (rows, NULL, 0);
  for (guint i = 0; i < rows->len; i++) {
    g_assert_cmpuint (nth (nth_case (cases, 0), i)->place, ==, 1);
    g_assert_true (nth (nth_case (cases, 0), i)->row == g_ptr_array_index (rows, i));
  }
  g_assert_null (nth_case (cases, 0)->default_mapping);
  g_assert_true (isnan (nth (nth_case (cases, 0), 0)->gain));
}

/* Three repetitions, of which one failed, and four. */
static void
test_mean_of_repetitions (void)
{
  static const double first[] = { 9, 3 }, second[] = { 1, 100, 4, 2 };
  g_autoptr (GPtrArray) rows = rows_new (), cases = NULL;

  add_failed (rows, "AT");
  for (guint i = 0; i < G_N_ELEMENTS (first); i++)
    add_replica (rows, "AT", first[i], i + 1);
  for (guint i = 0; i < G_N_ELEMENTS (second); i++)
    add_replica (rows, "TA", second[i], i);
  cases = cases_of (rows, NULL, 0);
  /* Of the seeds 1 and 2 TA's are 91 more and 1 more: that is no difference. */
  assert_ranking (nth_case (cases, 0), "1 AT 6 x1; 1 TA 26.75 x0.224299");
  g_assert_cmpuint (nth_case (cases, 0)->n_failed, ==, 1);
  g_assert_cmpuint (nth (nth_case (cases, 0), 0)->n_runs, ==, 2);
  g_assert_true (nth (nth_case (cases, 0), 0)->row == g_ptr_array_index (rows, 1));
}

/* Replicas whose ends differ by a third, those of one seed by a constant and a little: a pair tells
 * what the means do not. */
static void
test_paired_replicas (void)
{
  static const double first[] = { 10, 13, 11, 12 }, second[] = { 10.5, 13.4, 11.6, 12.5 };
  static const double third[] = { 12.5, 10.6, 13.5, 11.4 }; /* the same, in another order */
  g_autoptr (GPtrArray) rows = rows_new (), cases = NULL, without = NULL;
  const StudyRanked *best;

  for (guint i = 0; i < 4; i++) {
    add_replica (rows, "AT", first[i], i);
    add_replica (rows, "TA", second[i], i);
    add_replica (rows, "x.map", third[i], i);
    add_replica (rows, "y.map", second[i], 10 + i); /* without a pair: by the tie */
  }
  cases = cases_of (rows, "time", 0.05);
  g_assert_cmpstr (nth_case (cases, 0)->column, ==, "time_s");
  assert_ranking (nth_case (cases, 0), "1 AT 11.5 x1; 2 TA 12 x0.958333; 2 x.map 12 x0.958333; "
                                       "2 y.map 12 x0.958333");
  best = nth (nth_case (cases, 0), 0);
  /* Without the pairs of TA nothing tells x.map from AT. */
  for (guint i = 0; i < 4; i++)
    ((StudyRow *) g_ptr_array_index (rows, 4 * i + 1))->status = STUDY_FAILED;
  without = cases_of (rows, "time", 0.05);
  assert_ranking (nth_case (without, 0),
                  "1 AT 11.5 x1; 1 x.map 12 x0.958333; 1 y.map 12 x0.958333");
  /* s = 1.29099, Student's t of three degrees of freedom 3.18245. */
  g_assert_cmpfloat_with_epsilon (best->upper - best->value, 3.182446 * 1.290994 / 2, 1e-5);
  g_assert_cmpfloat_with_epsilon (best->value - best->lower, 3.182446 * 1.290994 / 2, 1e-5);
}

/* Repetitions without jitter are the same run again, which makes nothing surer. */
static void
test_repetitions_are_no_draws (void)
{
  g_autoptr (GPtrArray) rows = rows_new (), cases = NULL;

  for (guint i = 0; i < 3; i++) {
    add (rows, "AT", 100)->seed = i;
    add (rows, "TA", 100.5)->seed = i;
  }
  cases = cases_of (rows, NULL, 0.01);
  assert_ranking (nth_case (cases, 0), "1 AT 100 x1; 1 TA 100.5 x0.995025");
  g_assert_true (isnan (nth (nth_case (cases, 0), 0)->lower));
}

/* Two repetitions of two replicas have the seeds 0, 1 and 1, 2: three draws, not four. */
static void
test_one_run_counts_once (void)
{
  static const double times_s[] = { 10, 12, 12, 14 };
  g_autoptr (GPtrArray) rows = rows_new (), cases = NULL;

  for (guint i = 0; i < 4; i++) {
    uint64_t seed = i / 2 + i % 2;
    StudyRow *row = add_replica (rows, "AT", times_s[i], seed);

    row->key = g_strdup_printf ("key %u", (guint) seed);
  }
  cases = cases_of (rows, NULL, 0);
  g_assert_cmpuint (nth (nth_case (cases, 0), 0)->n_runs, ==, 3);
  g_assert_cmpfloat (nth (nth_case (cases, 0), 0)->value, ==, 12);
  /* s = 2, Student's t of two degrees of freedom. */
  g_assert_cmpfloat_with_epsilon (nth (nth_case (cases, 0), 0)->upper, 12 + 4.302653 * 2 / sqrt (3),
                                  1e-5);
}

static void
test_cases_differ_in_anything_else (void)
{
  g_autoptr (GPtrArray) rows = rows_new (), cases = NULL;
  static const char *const names[] = {
    "a.hct, bgq:32, packet",
    "b.hct, bgq:32, packet",
    "a.hct, bgq:64, packet",
    "a.hct, bgq:32, flow",
    "a.hct, bgq:32, packet, routing zone1",
    "a.hct, bgq:32, packet, compute x 0.5",
  };

  add (rows, "ABCDET", 1);
  set_text (&add (rows, "ABCDET", 2)->trace, "b.hct");
  set_text (&add (rows, "ABCDET", 3)->machine, "bgq:64");
  set_text (&add (rows, "ABCDET", 4)->network, "flow");
  set_text (&add (rows, "ABCDET", 5)->routing, "zone1");
  add (rows, "ABCDET", 6)->compute_scale = 0.5;
  add (rows, "TABCDE", 7)->seed = 9; /* no case of its own */
  cases = cases_of (rows, NULL, 0);
  g_assert_cmpuint (cases->len, ==, G_N_ELEMENTS (names));
  for (guint i = 0; i < cases->len; i++) {
    g_assert_cmpstr (nth_case (cases, i)->name, ==, names[i]);
    g_assert_cmpuint (nth_case (cases, i)->ranked->len, ==, i == 0 ? 2 : 1);
  }
}

static void
test_load_is_ranked_by_bytes (void)
{
  g_autoptr (GPtrArray) rows = rows_new (), cases = NULL, by_hops = NULL;

  for (guint i = 0; i < 2; i++) {
    StudyRow *row = add (rows, i == 0 ? "default" : "b.map", NAN);

    set_text (&row->network, "load");
    row->features[SIM_FEATURE_MAX_BYTES] = i == 0 ? 0 : 10;
    row->features[SIM_FEATURE_HOP_BYTES] = i == 0 ? 50 : 20;
  }
  cases = cases_of (rows, NULL, 0);
  g_assert_cmpstr (nth_case (cases, 0)->column, ==, "max_bytes");
  assert_ranking (nth_case (cases, 0), "1 default 0 x1; 2 b.map 10 x0");
  by_hops = cases_of (rows, "hop_bytes", 0);
  assert_ranking (nth_case (by_hops, 0), "1 b.map 20 x2.5; 2 default 50 x1");
}

/* What failed, or does not know the column, is not ranked. */
static void
test_unknown_values_are_left_out (void)
{
  g_autoptr (GPtrArray) rows = rows_new (), cases = NULL;

  add_failed (rows, "ABCDET");
  add (rows, "b.map", 1);
  cases = cases_of (rows, "max_buffer", 0);
  g_assert_cmpuint (nth_case (cases, 0)->ranked->len, ==, 0);
  g_assert_cmpstr (nth_case (cases, 0)->default_mapping, ==, "ABCDET");
  g_ptr_array_unref (cases);
  cases = cases_of (rows, NULL, 0);
  assert_ranking (nth_case (cases, 0), "1 b.map 1 xnan");
}

static void
test_default_orders (void)
{
  static const struct {
    const char *mapping;
    gboolean is_default;
  } orders[] = { { "AT", TRUE },      { "ABT", TRUE },  { "ABCDEFT", TRUE },   { "default", TRUE },
                 { "T", FALSE },      { "TA", FALSE },  { "ABC", FALSE },      { "BAT", FALSE },
                 { "ACT", FALSE },    { "", FALSE },    { "ABCDEFGT", FALSE }, { "AT.map", FALSE },
                 { "ABCETD", FALSE }, { "AAT", FALSE }, { "ABCDET=x", FALSE } };

  for (gsize i = 0; i < G_N_ELEMENTS (orders); i++) {
    g_autoptr (GPtrArray) rows = rows_new (), cases = NULL;

    add (rows, orders[i].mapping, 1);
    cases = cases_of (rows, NULL, 0);
    g_assert_cmpstr (nth_case (cases, 0)->default_mapping, ==,
                     orders[i].is_default ? orders[i].mapping : NULL);
  }
}

/* Every row's machine; how often it is asked for. */
typedef struct {
  TopoMachine *machine;
  guint n_asked;
} Machines;

static const TopoMachine *
machine_of (void *data, G_GNUC_UNUSED const StudyRow *row, G_GNUC_UNUSED GError **error)
{
  Machines *machines = data;

  machines->n_asked++;
  return machines->machine;
}

/* A row of eight ranks whose places are those of `places`, a mapping of the machine. */
static StudyRow *
add_placed (GPtrArray *rows, const Machines *machines, const char *name, const char *places,
            double time_s)
{
  g_autoptr (TopoMapping) mapping = topo_mapping_new (places, machines->machine, 8, NULL);
  StudyRow *row = add (rows, name, time_s);

  row->ranks = 8;
  row->machine_hash = g_strdup ("the machine");
  row->mapping_hash = study_mapping_hash (mapping);
  return row;
}

static void
assert_default (GPtrArray *rows, Machines *machines, guint n_asked, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) cases = NULL;

  machines->n_asked = 0;
  cases = study_cases_new (rows, NULL, 0, machine_of, machines, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (nth_case (cases, 0)->default_mapping, ==, expected);
  g_assert_cmpuint (machines->n_asked, ==, n_asked);
}

/* The machine has eight nodes: ABT goes along B first. */
static void
test_default_by_its_places (void)
{
  Machines machines = { topo_machine_new ("torus:4x2", NULL), 0 }, none = { NULL, 0 };
  g_autoptr (GPtrArray) rows = rows_new (), cases = NULL;

  add_placed (rows, &machines, "other.map", "BAT", 2);
  assert_default (rows, &machines, 1, NULL);
  set_text (&add_placed (rows, &machines, "another machine's", "ABT", 3)->machine_hash, "another");
  assert_default (rows, &machines, 1, NULL);
  add_placed (rows, &machines, "same.map", "ABT", 4);
  add_placed (rows, &machines, "same2.map", "ABT", 4);
  assert_default (rows, &machines, 1, "same.map");
  assert_default (rows, &none, 1, NULL);
  cases = study_cases_new (rows, NULL, 0, machine_of, &machines, NULL);
  g_assert_cmpfloat (nth (nth_case (cases, 0), 0)->gain, ==, 2);
  add_placed (rows, &machines, "ABT", "ABT", 4);
  assert_default (rows, &machines, 0, "ABT"); /* its own name goes first */
  topo_machine_free (machines.machine);
}

/* A rankfile's machine has more slots, wherever it stands in the study. */
static void
test_default_beside_a_rankfile (void)
{
  Machines machines = { topo_machine_new ("torus:4x2", NULL), 0 };
  g_autoptr (GPtrArray) rows = rows_new ();
  StudyRow *rankfile = add_placed (rows, &machines, "rankfile", "ABT", 1);

  rankfile->ranks_per_node = 4;
  set_text (&rankfile->machine_hash, "with all cores");
  add_placed (rows, &machines, "same.map", "ABT", 2)->ranks_per_node = 1;
  assert_default (rows, &machines, 1, "same.map");
  topo_machine_free (machines.machine);
}

static void
test_bad_columns (void)
{
  static const char *const columns[] = { "times", "", "mapping" };
  g_autoptr (GPtrArray) rows = rows_new ();

  for (gsize i = 0; i < G_N_ELEMENTS (columns); i++) {
    g_autoptr (GError) error = NULL;

    g_assert_null (study_cases_new (rows, columns[i], 0, NULL, NULL, &error));
    g_assert_error (error, STUDY_ERROR, STUDY_ERROR_INPUT);
    g_assert_nonnull (strstr (error->message, columns[i]));
  }
}

static void
test_no_rows (void)
{
  g_autoptr (GPtrArray) rows = rows_new (), cases = cases_of (rows, NULL, 0);

  g_assert_cmpuint (cases->len, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/study/ranking/best-first", test_best_first);
  g_test_add_func ("/study/ranking/ties", test_ties_are_with_the_best_of_a_place);
  g_test_add_func ("/study/ranking/equal", test_equal_values_keep_the_order_of_the_rows);
  g_test_add_func ("/study/ranking/mean", test_mean_of_repetitions);
  g_test_add_func ("/study/ranking/paired", test_paired_replicas);
  g_test_add_func ("/study/ranking/no-draws", test_repetitions_are_no_draws);
  g_test_add_func ("/study/ranking/once", test_one_run_counts_once);
  g_test_add_func ("/study/ranking/cases", test_cases_differ_in_anything_else);
  g_test_add_func ("/study/ranking/load", test_load_is_ranked_by_bytes);
  g_test_add_func ("/study/ranking/unknown", test_unknown_values_are_left_out);
  g_test_add_func ("/study/ranking/default", test_default_orders);
  g_test_add_func ("/study/ranking/default-by-places", test_default_by_its_places);
  g_test_add_func ("/study/ranking/default-beside-rankfile", test_default_beside_a_rankfile);
  g_test_add_func ("/study/ranking/bad-columns", test_bad_columns);
  g_test_add_func ("/study/ranking/no-rows", test_no_rows);
  return g_test_run ();
}
