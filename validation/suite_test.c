/* suite_test.c - running suites of made-up figures.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/suite.h"

#include <math.h>
#include <string.h>

#define HEADING "name,unit,low,high,tolerance,role,source,conditions\n"

static gpointer
open_state (const ValidationWatch *watch)
{
  if (watch->details != NULL)
    g_string_append (watch->details, "opened\n");
  return g_new0 (int, 1);
}

/* "fails" has an error, "silent" none, "missing" lacks something; the others measure 5. */
static bool
measure (gpointer state, const ValidationPublished *published, double *simulated, GError **error)
{
  int *n_measured = state;

  *simulated = 5;
  (*n_measured)++;
  if (g_str_equal (published->name, "fails"))
    g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT, "broken machine");
  if (g_str_equal (published->name, "missing"))
    g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_NOT_RUN, "no store");
  return !g_str_equal (published->name, "fails") && !g_str_equal (published->name, "silent") &&
         !g_str_equal (published->name, "missing");
}

#define SUITE(name_, figures_)                                                                     \
  {                                                                                                \
    .name = name_, .figures = figures_, .path = name_ ".csv", .open = open_state, .close = g_free, \
    .measure = measure                                                                             \
  }

static const ValidationSuite first =
    SUITE ("first", HEADING "a,us,4,5,0,predicted,Paper,here\n"
                            "b,us,6,7,0.1,calibrated,Paper,here\n");
static const ValidationSuite second = SUITE ("second", HEADING "c,%,5,,0,predicted,Paper,here\n");
static const ValidationSuite broken =
    SUITE ("broken", HEADING "fails,us,4,5,0,predicted,Paper,here\n"
                             "silent,us,4,5,0,predicted,Paper,here\n");
static const ValidationSuite partial =
    SUITE ("partial", HEADING "missing,us,4,5,0,predicted,Paper,here\n"
                              "a,us,4,5,0,predicted,Paper,here\n");
static const ValidationSuite unreadable = SUITE ("unreadable", "name\n");

static void
on_result (void *data, const ValidationResult *result)
{
  if (!result->is_run) {
    g_assert_true (isnan (result->simulated) && !result->agrees);
    g_string_append_printf (data, "%s.%s: %s ", result->suite, result->published->name,
                            result->why);
    return;
  }
  g_string_append_printf (data, "%s.%s=%g%s ", result->suite, result->published->name,
                          result->simulated, result->agrees ? "" : "!");
}

static void
on_progress (void *data, double share)
{
  g_string_append_printf (data, "[%.2f] ", share);
}

/* The suites of a row are NULL-terminated, as are its names; without names all figures run. */
static const struct {
  const char *name;
  const ValidationSuite *suites[3];
  const char *only[3];
  const char *seen;
  int code;            /* -1: no error */
  const char *message; /* a part of it */
} cases[] = {
  { "all in order",
    { &first, &second },
    { NULL },
    "[0.00] first.a=5 [0.33] first.b=5! [0.67] second.c=5 ",
    -1,
    NULL },
  { "named figures",
    { &first, &second },
    { "c", "a" },
    "[0.00] first.a=5 [0.50] second.c=5 ",
    -1,
    NULL },
  { "names with letters left open",
    { &first, &second },
    { "?", "*b" },
    "[0.00] first.a=5 [0.33] first.b=5! [0.67] second.c=5 ",
    -1,
    NULL },
  { "an open name of no figure",
    { &first, &second },
    { "x*" },
    "failed",
    VALIDATION_ERROR_NAME,
    "\"x*\"" },
  { "an unknown name, at once",
    { &first, &second },
    { "a", "d" },
    "failed",
    VALIDATION_ERROR_NAME,
    "\"d\"" },
  { "a failing experiment",
    { &broken },
    { NULL },
    "[0.00] failed",
    VALIDATION_ERROR_EXPERIMENT,
    "fails: broken machine" },
  { "an experiment without a number",
    { &broken },
    { "silent" },
    "[0.00] failed",
    VALIDATION_ERROR_EXPERIMENT,
    "silent: " },
  { "figures behind one that lacks its input",
    { &partial },
    { NULL },
    "[0.00] partial.missing: no store [0.50] partial.a=5 ",
    -1,
    NULL },
  { "unreadable figures",
    { &first, &unreadable },
    { NULL },
    "failed",
    VALIDATION_ERROR_DATA,
    "unreadable.csv" },
};

static void
test_runs (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GString) seen = g_string_new (NULL);
    g_autoptr (GError) error = NULL;
    const ValidationWatch watch = { .report = on_result, .progress = on_progress, .data = seen };

    g_test_message ("%s", cases[i].name);
    if (!validation_run (cases[i].suites, cases[i].only[0] != NULL ? cases[i].only : NULL, &watch,
                         &error))
      g_string_append (seen, "failed");
    g_assert_cmpstr (seen->str, ==, cases[i].seen);
    if (cases[i].code < 0)
      g_assert_no_error (error);
    else {
      g_assert_error (error, VALIDATION_ERROR, cases[i].code);
      g_assert_nonnull (strstr (error->message, cases[i].message));
    }
  }
}

static double
measure_row (gpointer state, uint32_t which, GError **error)
{
  *(int *) state += 1;
  if (which == 0)
    g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_NOT_RUN, "no store");
  return which > 0 ? which : (double) NAN;
}

static void
on_table_result (void *data, const ValidationResult *result)
{
  g_string_append_printf (data, "%s=%g %s; ", result->published->name, result->simulated,
                          result->cause != NULL ? result->cause
                          : result->is_run      ? "-"
                                                : result->why);
}

/* A suite with a table: its rows, the causes of those that differ, and a figure without a row. */
static void
test_table (void)
{
  static const ValidationMeasure rows[] = {
    { "good", measure_row, 5, "never printed" },
    { "bad", measure_row, 7, "too large" },
    { "bare", measure_row, 8, NULL },
    { "missing", measure_row, 0, NULL },
  };
  ValidationSuite suite = SUITE ("table", HEADING "good,us,4,5,0,predicted,Paper,here\n"
                                                  "bad,us,4,5,0,predicted,Paper,here\n"
                                                  "bare,us,4,5,0,predicted,Paper,here\n"
                                                  "missing,us,4,5,0,predicted,Paper,here\n");
  const ValidationSuite *const suites[] = { &suite, NULL };
  g_autoptr (GString) seen = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  const ValidationWatch watch = { .report = on_table_result, .data = seen };

  suite.measure = NULL;
  suite.measures = rows;
  suite.n_measures = G_N_ELEMENTS (rows);
  validation_run (suites, NULL, &watch, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (seen->str, ==, "good=5 -; bad=7 too large; bare=8 -; missing=nan no store; ");
  suite.n_measures--;
  g_assert_false (validation_run (suites, NULL, &watch, &error));
  g_assert_error (error, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT);
  g_assert_nonnull (strstr (error->message, "\"missing\""));
}

static void
test_details (void)
{
  static const ValidationSuite *const both[] = { &first, &second, NULL };
  g_autoptr (GString) details = g_string_new (validation_details_heading);
  g_autoptr (GString) seen = g_string_new (NULL);
  const ValidationWatch watch = { .report = on_result, .data = seen, .details = details };

  g_assert_true (validation_run (both, NULL, &watch, NULL));
  validation_detail (details, "curve", "8", 1.5, (double) NAN, "us");
  validation_detail (details, "curve", "16", (double) NAN, 1234567, "us");
  validation_detail (NULL, "curve", "16", 1, 1, "us");
  g_assert_cmpstr (details->str, ==,
                   "series,point,published,simulated,unit\nopened\nopened\n"
                   "curve,8,1.5,,us\ncurve,16,,1.23457e+06,us\n");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/validation/suite/runs", test_runs);
  g_test_add_func ("/validation/suite/table", test_table);
  g_test_add_func ("/validation/suite/details", test_details);
  return g_test_run ();
}
