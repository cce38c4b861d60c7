/* evh1_claims_test.c - what `hopcast validate evh1` is made of, and which claims hold.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/evh1/evh1_claims.h"

#include <math.h>
#include <string.h>

static const ValidationWatch nothing = { NULL };

/* Half of the points are to learn from, and those to predict are in the order of their times. */
static void
test_stand_in (void)
{
  g_autoptr (Evh1) evh1 = evh1_new (&nothing);

  g_assert_cmpuint (evh1->data.train.n, ==, 16);
  g_assert_cmpuint (evh1->data.test.n, ==, 16);
  for (guint at = 1; at < 16; at++)
    g_assert_cmpfloat (evh1->data.test_observed[at - 1], <, evh1->data.test_observed[at]);
  /* The least time of the table, by hand: T 0.02, nx 128, np 32. */
  g_assert_cmpfloat_with_epsilon (evh1->data.test_observed[0], 0.37217839661487284, 1e-12);
  g_assert_cmpfloat (evh1->data.test.columns[0][0], ==, 0.02);
  g_assert_cmpfloat (evh1->data.test.columns[1][0], ==, 128);
  g_assert_cmpfloat (evh1->data.test.columns[2][0], ==, 32);
  g_assert_cmpfloat (evh1->box[2].low, ==, 4);
  g_assert_cmpfloat (evh1->box[2].high, ==, 128);
}

/* The root mean square of the original's errors is that of the table's columns; .501 by numpy. */
static void
test_original (void)
{
  g_autoptr (Evh1) evh1 = evh1_new (&nothing);
  const PredictCorrection *made;

  evh1->settings[PREDICT_CORRECTION_PAPER].n_trials = 1;
  evh1->settings[PREDICT_CORRECTION_PAPER].population = 10;
  evh1->settings[PREDICT_CORRECTION_PAPER].generations = 1;
  made = evh1_case (evh1, PREDICT_CORRECTION_PAPER, 1, NULL);
  g_assert_cmpfloat_with_epsilon (made->base_test.log_rmse, 0.501, 0.0005);
  g_assert_true (evh1_case (evh1, PREDICT_CORRECTION_PAPER, 1, NULL) == made);
}

/* The best of trials that converged, by the loss of the mode. */
static void
test_best_trial (void)
{
  PredictCorrectionTrial trials[] = {
    { .converged = true, .test = { .log_rmse = 0.3, .rmse = 1 } },
    { .converged = false, .test = { .log_rmse = 0.01, .rmse = 0.01 } },
    { .converged = true, .test = { .log_rmse = 0.05, .rmse = 4 } },
    { .converged = true, .test = { .log_rmse = INFINITY, .rmse = INFINITY } },
  };
  PredictCorrection correction = { .trials = trials, .n_trials = 4 };

  g_assert_true (evh1_best_trial (&correction, PREDICT_CORRECTION_PAPER) == &trials[0]);
  g_assert_true (evh1_best_trial (&correction, PREDICT_CORRECTION_BEST) == &trials[2]);
  correction.n_trials = 0;
  g_assert_null (evh1_best_trial (&correction, PREDICT_CORRECTION_BEST));
}

/* Wilson's interval by hand: none of 30 is below z^2 / (30 + z^2) = 2.7057 / 32.7057, and all of 30 is
 * its mirror image; half of 30 is 1/2 +- z sqrt (1 / 120 + z^2 / 3600) / (1 + z^2 / 30). */
static void
test_share_range (void)
{
  double lower, upper;

  evh1_share_range (0, 30, &lower, &upper);
  g_assert_cmpfloat (lower, ==, 0);
  g_assert_cmpfloat_with_epsilon (upper, 0.08273, 1e-4);
  evh1_share_range (30, 30, &lower, &upper);
  g_assert_cmpfloat_with_epsilon (lower, 0.91727, 1e-4);
  g_assert_cmpfloat_with_epsilon (upper, 1, 1e-12);
  evh1_share_range (15, 30, &lower, &upper);
  g_assert_cmpfloat_with_epsilon (lower, 0.5 - 0.14382, 1e-4);
  g_assert_cmpfloat_with_epsilon (upper, 0.5 + 0.14382, 1e-4);
}

typedef struct {
  guint n, n_run;
  GHashTable *differ; /* borrowed names */
} Verdicts;

static void
on_result (void *data, const ValidationResult *result)
{
  Verdicts *verdicts = data;

  g_test_message ("%s: %g %s, published %g..%g", result->published->name, result->simulated,
                  result->published->unit, result->published->low, result->published->high);
  verdicts->n++;
  verdicts->n_run += result->is_run;
  if (!result->is_run)
    g_assert_nonnull (strstr (result->why, "lost"));
  else if (!result->agrees) {
    g_hash_table_add (verdicts->differ, g_strdup (result->published->name));
    g_assert_nonnull (result->cause);
  } else
    g_assert_null (result->cause);
}

/* Tables 1 and 2 hold whatever the times are; lost numbers are not run. */
static void
test_tables_and_lost_numbers (void)
{
  const ValidationSuite *const suites[] = { &validation_evh1, NULL };
  const char *const only[] = { "table*", "original_*", "fig4_errors", "fig6_to_9_times", NULL };
  Verdicts verdicts = { .differ = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL) };
  const ValidationWatch watch = { .report = on_result, .data = &verdicts };
  GError *error = NULL;

  validation_run (suites, only, &watch, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (verdicts.n, ==, 24);
  g_assert_cmpuint (verdicts.n_run, ==, 22);
  g_assert_cmpuint (g_hash_table_size (verdicts.differ), ==, 0);
  g_hash_table_unref (verdicts.differ);
}

/* What is not so here; the cause of each is printed with it. */
static const char *const differ[] = { "fig4_case1_is_best", "fig4_inside_beats_added",
                                      "fig5_case3",         "fig5_case4",
                                      "fig5_case4_is_most", "fig5_not_converged",
                                      "fig6_small",         "fig7_small",
                                      "fig8_small",         "fig9_small",
                                      "fig8_large",         "fig9_large",
                                      "best_case3_median",  NULL };

/* Every figure has an experiment, every difference a cause; the verdicts are those of the handbook. */
static void
test_all_claims (void)
{
  const ValidationSuite *const suites[] = { &validation_evh1, NULL };
  Verdicts verdicts = { .differ = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL) };
  g_autoptr (GString) details = g_string_new (NULL);
  const ValidationWatch watch = { .report = on_result, .data = &verdicts, .details = details };
  GError *error = NULL;

#ifdef WITH_SANITIZERS
  g_test_skip ("takes minutes with sanitizers");
  return;
#endif
  validation_run (suites, NULL, &watch, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (verdicts.n_run, ==, verdicts.n - 2);
  g_assert_cmpuint (g_hash_table_size (verdicts.differ), ==, G_N_ELEMENTS (differ) - 1);
  for (guint i = 0; differ[i] != NULL; i++)
    g_assert_true (g_hash_table_contains (verdicts.differ, differ[i]));
  g_assert_nonnull (strstr (details->str, "fig9 corrected,T=0.02 nx=128 np=32,"));
  g_hash_table_unref (verdicts.differ);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/validation/evh1/stand-in", test_stand_in);
  g_test_add_func ("/validation/evh1/original", test_original);
  g_test_add_func ("/validation/evh1/best-trial", test_best_trial);
  g_test_add_func ("/validation/evh1/share-range", test_share_range);
  g_test_add_func ("/validation/evh1/tables-and-lost-numbers", test_tables_and_lost_numbers);
  g_test_add_func ("/validation/evh1/all-claims", test_all_claims);
  return g_test_run ();
}
