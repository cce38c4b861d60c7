/* ipc_phases_test.c - tables of counted programs, good and bad, and the choice of events.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/aggregation/ipc_fixture.h"
#include "predictors/predict_error.h"
#include "predictors/predict_testing.h"

#include <math.h>
#include <string.h>

static const char good[] = "program,pattern,l2,ipc,memory,host\n"
                           "lu,5,0.5,1.5,0.25,a\n"
                           "lu,4,0.125,1.25,0.0625,a\n"
                           "lu,8,,1.125,,a\n"
                           "bt,4,1,2,3,b\n"
                           "bt,5,4,2.5,6,b\n"
                           "bt,1,,3,,b\n"
                           "bt,8,,,,b\n";

static gpointer
phases_of (const char *text, GError **error)
{
  g_autoptr (GError) read_error = NULL;
  g_autoptr (PredictTable) table = ipc_table (text, &read_error);

  g_assert_no_error (read_error);
  return predict_ipc_phases_from (table, ipc_samples, ipc_events, error);
}

static void
test_phases (void)
{
  static const double ipc[] = { 1.25, 1.5, 1.125, NAN, 2, 2.5, NAN, 3 };
  static const double rates[] = { 0.125, 0.0625, 0.5, 0.25, 1, 3, 4, 6 };
  g_autoptr (GError) error = NULL;
  g_autoptr (PredictIpcPhases) phases = phases_of (good, &error);
  g_autofree char *programs = NULL, *patterns = NULL;

  g_assert_no_error (error);
  programs = g_strjoinv (" ", phases->programs);
  patterns = g_strjoinv (" ", phases->patterns);
  g_assert_cmpstr (programs, ==, "lu bt");
  g_assert_cmpstr (patterns, ==, "4 5 8 1");
  for (guint i = 0; i < G_N_ELEMENTS (ipc); i++)
    g_assert_true (phases->ipc[i] == ipc[i] || (isnan (phases->ipc[i]) && isnan (ipc[i])));
  g_assert_cmpmem (phases->rates, sizeof rates, rates, sizeof rates);
}

/* Patterns may have any name. */
static void
test_named_patterns (void)
{
  static const char *const samples[] = { "2x1", "1x2", NULL }, *const events[] = { NULL };
  g_autoptr (PredictTable) table =
      ipc_table ("program,pattern,ipc\na,1x2,1\na,2x1,2\na,2x2,3\n", NULL);
  g_autoptr (PredictIpcPhases) phases = predict_ipc_phases_from (table, samples, events, NULL);

  g_assert_nonnull (phases);
  g_assert_cmpfloat (phases->ipc[0], ==, 2);
  g_assert_cmpfloat (phases->ipc[2], ==, 3);
}

static void
test_refused (void)
{
  static const char *const twice[] = { "4", "5", "4", NULL };
  static const TestingChange changes[] = {
    { "lu,4,0.125,1.25,0.0625,a\n", "", "program \"lu\" has no row of sample pattern 4" },
    { "0.125,", ",", ":3: program \"lu\", sample pattern 4: there is no \"l2\"" },
    { "3,b\n", "nan,b\n", ":5: program \"bt\", sample pattern 4: there is no \"memory\"" },
    { "0.125,", "-1,", ":3: program \"lu\", sample pattern 4: a rate is negative: \"l2\"" },
    { "1.25,", ",", ":3: column \"ipc\" has no positive number" },
    { "1.125", "0", ":4: column \"ipc\" has no positive number" },
    { "1.125", "-2", ":4: column \"ipc\" has no positive number" },
    { "1.125", "inf", ":4: column \"ipc\" has no positive number" },
    { "1.125", "fast", "column \"ipc\": \"fast\" is not a number" },
    { "lu,8", "lu,5", ":4: program \"lu\" has pattern 5 already, at " },
    { "lu,8", ",8", ":4: column \"program\" is empty" },
    { "lu,8", "lu,", ":4: column \"pattern\" is empty" },
    { "memory", "dram", "there is no column \"memory\"" },
    { "program", "code", "there is no column \"program\"" },
  };
  g_autoptr (PredictTable) table = ipc_table (good, NULL);
  g_autoptr (GString) text = g_string_new ("program,pattern,ipc,l2,memory\n");
  GError *error = NULL;

  testing_refuse (phases_of, good, changes, G_N_ELEMENTS (changes), PREDICT_ERROR);
  g_assert_null (predict_ipc_phases_from (table, twice, ipc_events, &error));
  testing_take_error (&error, PREDICT_ERROR, "sample pattern '4' is named twice");
  /* A column that holds no patterns: no array of programs by patterns is made. */
  for (guint i = 0; i < 300; i++)
    g_string_append_printf (text, "p,%u,1,1,1\n", i);
  g_assert_null (phases_of (text->str, &error));
  testing_take_error (&error, PREDICT_ERROR, "300 different values");
}

/* The rate of y falls with the IPC of the target on a line, that of x is its neighbour, z is noise, and
 * "same" does not vary. */
static void
test_choice_of_events (void)
{
  static const char *const samples[] = { "4", NULL };
  g_autoptr (PredictTable) table = ipc_table ("program,pattern,ipc,same,z,x,y,host\n"
                                              "a,4,1,1,5,1,4,h\na,1,1,,,,,h\n"
                                              "b,4,1,1,1,2,3,h\nb,1,2,,,,,h\n"
                                              "c,4,1,1,4,4,2,h\nc,1,3,,,,,h\n"
                                              "d,4,1,1,2,3,1,h\nd,1,4,,,,,h\n",
                                              NULL);
  g_auto (GStrv) all = predict_ipc_all_events (table);
  g_auto (GStrv) best = predict_ipc_choose_events (table, samples, 3, NULL);
  g_autofree char *all_names = g_strjoinv (" ", all), *best_names = g_strjoinv (" ", best);

  g_assert_cmpstr (all_names, ==, "same z x y");
  g_assert_cmpstr (best_names, ==, "y x z");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/ipc-phases/phases", test_phases);
  g_test_add_func ("/predictors/ipc-phases/named-patterns", test_named_patterns);
  g_test_add_func ("/predictors/ipc-phases/refused", test_refused);
  g_test_add_func ("/predictors/ipc-phases/choice-of-events", test_choice_of_events);
  return g_test_run ();
}
