/* failures_test.c - slow-downs by single parts out: values worked by hand, failed and repeated runs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/failures.h"

#include <math.h>
#include <string.h>

#define MACHINE "fattree:4x4:2 ranks-per-node=2"
#define TIE     0.01

static void
row_free (gpointer row)
{
  study_row_free (row);
}

static void
set_text (char **field, const char *text)
{
  g_free (*field);
  *field = g_strdup (text);
}

/* A run with a key of its own; time_s NaN: it has failed. */
static StudyRow *
add (GPtrArray *rows, const char *machine, double time_s)
{
  StudyRow *row = study_row_new ();

  row->key = g_strdup_printf ("%u", rows->len);
  set_text (&row->trace, "a.hct");
  set_text (&row->machine, machine);
  set_text (&row->mapping, "AT");
  set_text (&row->network, "packet");
  set_text (&row->routing, "default");
  set_text (&row->shrink, "off");
  row->compute_scale = 1;
  row->status = isnan (time_s) ? STUDY_FAILED : STUDY_DONE;
  row->time_s = time_s;
  if (isnan (time_s))
    set_text (&row->error, "no route");
  g_ptr_array_add (rows, row);
  return row;
}

static StudyRow *
add_part (GPtrArray *rows, const char *part, double time_s)
{
  g_autofree char *machine = study_failure_machine (MACHINE, part, 0);

  return add (rows, machine, time_s);
}

static const StudyFailure *
failure_at (const StudyFailureCase *it, guint at)
{
  g_assert_cmpuint (at, <, it->failures->len);
  return &g_array_index (it->failures, StudyFailure, at);
}

static void
test_names (void)
{
  g_autofree char *failed = study_failure_machine (MACHINE, "leaf0:5", 0);
  g_autofree char *degraded = study_failure_machine (MACHINE, "node0 HCA-1:1", 2);
  const char *part = NULL, *fault = NULL;

  g_assert_cmpstr (failed, ==, MACHINE " failed=leaf0:5");
  g_assert_cmpuint (study_failure_whole_length (failed, &part, &fault), ==, strlen (MACHINE));
  g_assert_cmpstr (part, ==, "leaf0:5");
  g_assert_cmpstr (fault, ==, "out");
  g_assert_cmpstr (degraded, ==, MACHINE " degraded=node0 HCA-1:1 2x");
  g_assert_cmpuint (study_failure_whole_length (degraded, &part, &fault), ==, strlen (MACHINE));
  g_assert_cmpstr (part, ==, "node0 HCA-1:1 2x");
  g_assert_cmpstr (fault, ==, "2x");
  /* What is out in all runs is a part of the machine. */
  g_assert_cmpuint (study_failure_whole_length ("fattree:4x4:2,failed=spine1", &part, &fault), ==,
                    0);
}

/* Of 2 s: 2, 2.1, 3 and 1.5 s are 0, 5, 50 and -25 %, of which the median is 2.5 %. */
static void
test_slow_downs (void)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (row_free), cases = NULL;
  static const char *const sorted[] = { "e", "c", "b", "a", "d" };
  const StudyFailureCase *it;

  add (rows, MACHINE, 2);
  add (rows, "torus:4x4", 7);
  add_part (rows, "a", 2);
  add_part (rows, "b", 2.1);
  add_part (rows, "c", 3);
  add_part (rows, "d", 1.5);
  add_part (rows, "e", NAN);
  cases = study_failure_cases (rows, TIE);
  g_assert_cmpuint (cases->len, ==, 1);
  it = g_ptr_array_index (cases, 0);
  g_assert_cmpstr (it->name, ==, "a.hct, " MACHINE ", packet");
  g_assert_cmpstr (it->machine, ==, MACHINE);
  g_assert_cmpfloat (it->whole.value, ==, 2);
  g_assert_cmpfloat_with_epsilon (it->median, 0.025, 1e-12);
  g_assert_cmpfloat_with_epsilon (it->worst, 0.5, 1e-12);
  g_assert_cmpstr (it->worst_part, ==, "c");
  g_assert_cmpuint (it->n_failed, ==, 1);
  g_assert_cmpuint (it->n_slowed, ==, 2);
  for (guint at = 0; at < G_N_ELEMENTS (sorted); at++)
    g_assert_cmpstr (failure_at (it, at)->part, ==, sorted[at]);
  g_assert_cmpstr (failure_at (it, 0)->row->error, ==, "no route");
  g_assert_cmpfloat_with_epsilon (failure_at (it, 4)->slow_down, -0.25, 1e-12);

  /* At a tie of 5 % only c slows the job down: 2.1 s is the tie, not above it. */
  g_ptr_array_unref (cases);
  cases = study_failure_cases (rows, 0.0500001);
  it = g_ptr_array_index (cases, 0);
  g_assert_cmpuint (it->n_slowed, ==, 1);
}

/* The mean over different runs: one that is listed twice counts once.  A part of which any run failed
 * has failed. */
static void
test_repeated_runs (void)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (row_free), cases = NULL;
  const StudyFailureCase *it;

  add (rows, MACHINE, 1);
  add (rows, MACHINE, 3);
  add_part (rows, "a", 2);
  add_part (rows, "a", 6);
  set_text (&add_part (rows, "a", 6)->key, "3");
  add_part (rows, "b", 2);
  add_part (rows, "b", NAN);
  cases = study_failure_cases (rows, TIE);
  it = g_ptr_array_index (cases, 0);
  g_assert_cmpfloat (it->whole.value, ==, 2);
  g_assert_cmpstr (failure_at (it, 1)->part, ==, "a");
  g_assert_cmpuint (failure_at (it, 1)->n_done, ==, 2);
  g_assert_cmpfloat (failure_at (it, 1)->slow_down, ==, 1);
  g_assert_true (failure_at (it, 0)->has_failed);
  g_assert_true (isnan (failure_at (it, 0)->slow_down));
  g_assert_cmpfloat (it->median, ==, 1);
}

/* Cables that are out and those that are slower are two questions to one machine. */
static void
test_faults (void)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (row_free), cases = NULL;
  const StudyFailureCase *it;

  add (rows, MACHINE, 2);
  add_part (rows, "a", 3);
  add (rows, MACHINE " degraded=a 1x", 8);
  add (rows, MACHINE " degraded=a 2x", 4);
  add (rows, MACHINE " degraded=b 1x", 6);
  cases = study_failure_cases (rows, TIE);
  g_assert_cmpuint (cases->len, ==, 3);
  it = g_ptr_array_index (cases, 0);
  g_assert_cmpstr (it->fault, ==, "out");
  g_assert_cmpfloat (it->worst, ==, 0.5);
  it = g_ptr_array_index (cases, 1);
  g_assert_cmpstr (it->fault, ==, "1x");
  g_assert_cmpfloat (it->whole.value, ==, 2);
  g_assert_cmpfloat (it->worst, ==, 3);
  g_assert_cmpfloat (it->median, ==, 2.5);
  it = g_ptr_array_index (cases, 2);
  g_assert_cmpstr (it->fault, ==, "2x");
  g_assert_cmpstr (it->worst_part, ==, "a 2x");
  g_assert_cmpfloat (it->median, ==, 1);
}

/* Each mapping, network and value of everything else has its own whole machine.  Without one, nothing
 * is known but what failed. */
static void
test_cases (void)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (row_free), cases = NULL;
  const StudyFailureCase *it;
  StudyRow *row;

  add (rows, MACHINE, 1);
  add_part (rows, "a", 2);
  set_text (&add (rows, MACHINE, 4)->mapping, "TA");
  set_text (&add_part (rows, "a", 2)->mapping, "TA");
  row = add_part (rows, "a", NAN);
  row->status = STUDY_DONE;
  set_text (&row->network, "load");
  row->features[SIM_FEATURE_MAX_BYTES] = 300;
  row = add (rows, MACHINE, NAN);
  row->status = STUDY_DONE;
  set_text (&row->network, "load");
  row->features[SIM_FEATURE_MAX_BYTES] = 200;
  add_part (rows, "a", 2)->compute_scale = 0;

  cases = study_failure_cases (rows, TIE);
  g_assert_cmpuint (cases->len, ==, 4);
  it = g_ptr_array_index (cases, 0);
  g_assert_cmpfloat (it->worst, ==, 1);
  it = g_ptr_array_index (cases, 1);
  g_assert_cmpstr (it->row->mapping, ==, "TA");
  g_assert_cmpfloat (it->worst, ==, -0.5);
  g_assert_cmpuint (it->n_slowed, ==, 0);
  it = g_ptr_array_index (cases, 2);
  g_assert_cmpstr (it->column, ==, "max_bytes");
  g_assert_cmpfloat (it->worst, ==, 0.5);
  it = g_ptr_array_index (cases, 3);
  g_assert_true (isnan (it->whole.value));
  g_assert_null (it->worst_part);
  g_assert_true (isnan (it->median));
  g_assert_cmpuint (it->failures->len, ==, 1);
  g_assert_cmpfloat (failure_at (it, 0)->value, ==, 2);
}

static void
test_none (void)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (row_free), cases = NULL;

  add (rows, MACHINE, 1);
  cases = study_failure_cases (rows, TIE);
  g_assert_cmpuint (cases->len, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/failures/names", test_names);
  g_test_add_func ("/failures/slow-downs", test_slow_downs);
  g_test_add_func ("/failures/repeated-runs", test_repeated_runs);
  g_test_add_func ("/failures/faults", test_faults);
  g_test_add_func ("/failures/cases", test_cases);
  g_test_add_func ("/failures/none", test_none);
  return g_test_run ();
}
