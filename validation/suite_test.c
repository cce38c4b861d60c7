/* suite_test.c - running suites of made-up figures.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

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

static const ValidationSuite first = { "first",
                                       HEADING "a,us,4,5,0,predicted,Paper,here\n"
                                               "b,us,6,7,0.1,calibrated,Paper,here\n",
                                       "first.csv",
                                       open_state,
                                       g_free,
                                       measure };
static const ValidationSuite second = { "second",     HEADING "c,%,5,,0,predicted,Paper,here\n",
                                        "second.csv", open_state,
                                        g_free,       measure };
static const ValidationSuite broken = { "broken",
                                        HEADING "fails,us,4,5,0,predicted,Paper,here\n"
                                                "silent,us,4,5,0,predicted,Paper,here\n",
                                        "broken.csv",
                                        open_state,
                                        g_free,
                                        measure };
static const ValidationSuite partial = { "partial",
                                         HEADING "missing,us,4,5,0,predicted,Paper,here\n"
                                                 "a,us,4,5,0,predicted,Paper,here\n",
                                         "partial.csv",
                                         open_state,
                                         g_free,
                                         measure };
static const ValidationSuite unreadable = { "unreadable", "name\n", "unreadable.csv",
                                            open_state,   g_free,   measure };

static const ValidationSuite *const both[] = { &first, &second, NULL };

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

static char *
run (const ValidationSuite *const *suites, const char *const *only, GString *details,
     GError **error)
{
  GString *seen = g_string_new (NULL);
  const ValidationWatch watch = { on_result, on_progress, seen, details };

  if (!validation_run (suites, only, &watch, error))
    g_string_append (seen, "failed");
  return g_string_free (seen, FALSE);
}

static void
test_runs_all_in_order (void)
{
  GError *error = NULL;
  g_autofree char *seen = run (both, NULL, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (seen, ==, "[0.00] first.a=5 [0.33] first.b=5! [0.67] second.c=5 ");
}

static void
test_runs_what_is_named (void)
{
  static const char *const only[] = { "c", "a", NULL };
  GError *error = NULL;
  g_autofree char *seen = run (both, only, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (seen, ==, "[0.00] first.a=5 [0.50] second.c=5 ");
}

static void
test_refuses_unknown_names_at_once (void)
{
  static const char *const only[] = { "a", "d", NULL };
  g_autoptr (GError) error = NULL;
  g_autofree char *seen = run (both, only, NULL, &error);

  g_assert_error (error, VALIDATION_ERROR, VALIDATION_ERROR_NAME);
  g_assert_nonnull (strstr (error->message, "\"d\""));
  g_assert_cmpstr (seen, ==, "failed");
}

static void
test_tells_which_experiment_failed (void)
{
  static const ValidationSuite *const suites[] = { &broken, NULL };
  static const char *const silent[] = { "silent", NULL };
  g_autoptr (GError) error = NULL, no_number = NULL;
  g_autofree char *seen = run (suites, NULL, NULL, &error);
  g_autofree char *seen_silent = run (suites, silent, NULL, &no_number);

  g_assert_error (error, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT);
  g_assert_cmpstr (error->message, ==, "fails: broken machine");
  g_assert_cmpstr (seen, ==, "[0.00] failed");
  g_assert_error (no_number, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT);
  g_assert_true (g_str_has_prefix (no_number->message, "silent: "));
  g_assert_cmpstr (seen_silent, ==, "[0.00] failed");
}

/* What lacks its input has no verdict, and those after it are measured. */
static void
test_goes_on_after_what_is_not_run (void)
{
  static const ValidationSuite *const suites[] = { &partial, NULL };
  GError *error = NULL;
  g_autofree char *seen = run (suites, NULL, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (seen, ==, "[0.00] partial.missing: no store [0.50] partial.a=5 ");
}

static void
test_refuses_unreadable_figures (void)
{
  static const ValidationSuite *const suites[] = { &first, &unreadable, NULL };
  g_autoptr (GError) error = NULL;
  g_autofree char *seen = run (suites, NULL, NULL, &error);

  g_assert_error (error, VALIDATION_ERROR, VALIDATION_ERROR_DATA);
  g_assert_cmpstr (seen, ==, "failed");
}

static void
test_details (void)
{
  g_autoptr (GString) details = g_string_new (validation_details_heading);
  g_autofree char *seen = run (both, NULL, details, NULL);

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
  g_test_add_func ("/validation/suite/runs-all-in-order", test_runs_all_in_order);
  g_test_add_func ("/validation/suite/runs-what-is-named", test_runs_what_is_named);
  g_test_add_func ("/validation/suite/refuses-unknown-names-at-once",
                   test_refuses_unknown_names_at_once);
  g_test_add_func ("/validation/suite/tells-which-experiment-failed",
                   test_tells_which_experiment_failed);
  g_test_add_func ("/validation/suite/goes-on-after-what-is-not-run",
                   test_goes_on_after_what_is_not_run);
  g_test_add_func ("/validation/suite/refuses-unreadable-figures", test_refuses_unreadable_figures);
  g_test_add_func ("/validation/suite/details", test_details);
  return g_test_run ();
}
