/* interval_test.c - intervals: their quantiles by hand, and how many samples they cover.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/scoring/interval.h"

#include "predictors/forest/friedman_testing.h"
#include "predictors/model/model.h"
#include "base/random.h"
#include "predictors/model/regression_fixture.h"
#include "predictors/table/samples.h"

#include <math.h>
#include <string.h>

/* Errors 1 ... n of predictions 0 without deviation, in groups of `rows_of_group`. */
static PredictInterval
calibrate_ramp (guint n, guint rows_of_group)
{
  g_autofree double *observed = g_new (double, n), *zeros = g_new0 (double, n);
  g_autofree uint32_t *group = g_new (uint32_t, n);

  for (guint i = 0; i < n; i++) {
    observed[i] = i % 2 != 0 ? i + 1.0 : -(i + 1.0);
    group[i] = i / rows_of_group;
  }
  return predict_interval_calibrate (observed, zeros, zeros, group, n,
                                     (n + rows_of_group - 1) / rows_of_group);
}

/* Half widths of errors 1 ... n without deviation. */
static void
test_quantiles (void)
{
  static const struct {
    guint n, rows_of_group;
    double level, half;
  } cases[] = {
    /* Error number ceil ((9 + 1) level) of nine. */
    { 9, 1, 0.9, 9 },
    { 9, 1, 0.5, 5 },
    { 9, 1, 0.51, 6 },
    { 9, 1, 0.001, 1 },
    { 9, 1, 0.91, INFINITY },
    /* 24 samples of 12 groups count as 12: ceil (13 x 0.9) = 12 of 12, so the largest of all; taken
     * as 24 they would give number 23.  ceil (13 x 0.5) = 7 of 12, so 14 of 24. */
    { 24, 2, 0.9, 24 },
    { 24, 2, 0.5, 14 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    PredictInterval interval = calibrate_ramp (cases[i].n, cases[i].rows_of_group);
    double half = predict_interval_half_width (&interval, cases[i].level, 0);

    g_test_message ("%g of %u", cases[i].level, cases[i].n);
    g_assert_cmpuint (interval.n, ==, cases[i].n);
    g_assert_cmpuint (interval.groups, ==, cases[i].n / cases[i].rows_of_group);
    g_assert_true (half == cases[i].half || fabs (half - cases[i].half) <= 1e-12);
    predict_interval_clear (&interval);
  }
}

/* The score kept of 25,000 is never below the wanted one, and at most one in a thousand above. */
static void
test_many (void)
{
  PredictInterval interval = calibrate_ramp (25000, 1);

  g_assert_cmpuint (interval.n, ==, 1000);
  for (double level = 0.001; level < 0.9985; level += 0.0137) {
    double half = predict_interval_half_width (&interval, level, 0);

    g_assert_cmpfloat (half, >=, 25000 * level);
    g_assert_cmpfloat (half, <=, 25000 * level + 26);
  }
  g_assert_cmpfloat_with_epsilon (predict_interval_half_width (&interval, 0.9999, 0), 25000, 1e-8);
  g_assert_true (isinf (predict_interval_half_width (&interval, 0.99999, 0)));
  predict_interval_clear (&interval);
}

/* Errors 1 and 4 where the deviations are 0 and 3: floor 2.5, scores 1 / 2.5 and 4 / 5.5. */
static void
test_deviations (void)
{
  static const double observed[] = { 1, 7, -4 }, predicted[] = { 0, NAN, 0 },
                      deviation[] = { 0, 0, 3 };
  static const uint32_t group[] = { 0, 1, 2 };
  PredictInterval interval =
      predict_interval_calibrate (observed, predicted, deviation, group, 3, 3);

  g_assert_cmpuint (interval.of, ==, 2);
  g_assert_cmpfloat (interval.floor, ==, 2.5);
  g_assert_cmpfloat_with_epsilon (predict_interval_half_width (&interval, 0.3, 1), 1.4, 1e-12);
  g_assert_cmpfloat_with_epsilon (predict_interval_half_width (&interval, 0.6, 0), 4 / 2.2, 1e-12);
  predict_interval_clear (&interval);
}

/* Nothing was wrong, nothing was calibrated on. */
static void
test_degenerate (void)
{
  static const double values[] = { 3, 3, 3 }, zeros[] = { 0, 0, 0 }, unknown[] = { NAN, NAN, NAN };
  static const uint32_t group[] = { 0, 1, 2 };
  PredictInterval exact = predict_interval_calibrate (values, values, zeros, group, 3, 3);
  PredictInterval none = predict_interval_calibrate (values, unknown, zeros, group, 3, 3);

  g_assert_cmpfloat (predict_interval_half_width (&exact, 0.5, 0), ==, 0);
  g_assert_true (isinf (predict_interval_half_width (&none, 0.5, 0)));
  predict_interval_clear (&exact);
  predict_interval_clear (&none);
}

/* The share of new errors within the interval, when the errors of a group are all the same one of
 * a law: it is that of the order statistic, k / (n_groups + 1), whatever the law. */
static double
share_covered (guint n_groups, guint rows_of_group, gboolean told)
{
  enum { TRIALS = 20000 };
  guint n = n_groups * rows_of_group, n_covered = 0;
  g_autofree double *observed = g_new (double, n), *zeros = g_new0 (double, n);
  g_autofree uint32_t *group = g_new (uint32_t, n);
  BaseRandom random = base_random_stream (1, n);

  for (guint trial = 0; trial < TRIALS; trial++) {
    PredictInterval interval;

    for (guint i = 0; i < n; i++) {
      observed[i] =
          i % rows_of_group == 0 ? -log (1 - base_random_unit (&random)) : observed[i - 1];
      group[i] = told ? i / rows_of_group : i;
    }
    interval = predict_interval_calibrate (observed, zeros, zeros, group, n, told ? n_groups : n);
    n_covered +=
        -log (1 - base_random_unit (&random)) <= predict_interval_half_width (&interval, 0.9, 0);
    predict_interval_clear (&interval);
  }
  return (double) n_covered / TRIALS;
}

/* Four standard errors of 20,000 trials are 0.9 %. */
static void
test_exact_coverage (void)
{
  static const struct {
    guint n_groups, rows_of_group;
    gboolean told;
    double share;
  } cases[] = {
    { 56, 1, TRUE, 52.0 / 57 },   /* SC13 trains on 56 mappings: number 52 of 56 */
    { 12, 10, TRUE, 12.0 / 13 },  /* twelve mappings in ten sizes each: number 12 of 12 */
    { 12, 10, FALSE, 11.0 / 13 }, /* were they not told apart, 11 */
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    double share = share_covered (cases[i].n_groups, cases[i].rows_of_group, cases[i].told);

    g_test_message ("%u groups of %u: %g", cases[i].n_groups, cases[i].rows_of_group, share);
    g_assert_cmpfloat (fabs (share - cases[i].share), <, 0.009);
  }
}

/* Every column but the target and the group. */
static GPtrArray *
features_of (const PredictTable *table)
{
  GPtrArray *names = g_ptr_array_new ();

  for (guint column = 0; column < table->n_columns; column++)
    if (!g_str_equal (table->columns[column].name, "y") &&
        !g_str_equal (table->columns[column].name, "group"))
      g_ptr_array_add (names, table->columns[column].name);
  g_ptr_array_add (names, NULL);
  return names;
}

/* The share of the rows of `test` that a model of `training` covers with its 90 % intervals. */
static double
coverage (const PredictTable *training, const PredictTable *test, PredictSettings settings,
          const char *group)
{
  g_autoptr (GPtrArray) features = features_of (training);
  PredictRecipe recipe = { .features = (const char *const *) features->pdata,
                           .target = "y",
                           .group = group,
                           .settings = settings,
                           .calibration_folds = 10 };
  const double *y = predict_table_find (test, "y")->numbers;
  g_autoptr (GError) error = NULL;
  g_autoptr (PredictModel) model = predict_model_train (training, &recipe, NULL, NULL, &error);
  g_auto (PredictAnswer) answer = { 0 };
  uint64_t n_inside = 0;

  g_assert_no_error (error);
  predict_model_apply (model, test, 0.9, 1, &answer, &error);
  g_assert_no_error (error);
  for (uint64_t i = 0; i < test->n_rows; i++)
    n_inside += y[i] >= answer.lower[i] && y[i] <= answer.upper[i];
  return (double) n_inside / (double) test->n_rows;
}

/* Of 300 samples each, over several draws of them and of 500 others. */
static double
friedman_coverage (guint function, PredictSettings settings)
{
  enum { DRAWS = 6 };
  double sum = 0;

  settings.trees = MIN (settings.trees, 40);
  for (guint draw = 0; draw < DRAWS; draw++) {
    g_autoptr (PredictTable) training = friedman_table (function, 300, 2 * draw + 1);
    g_autoptr (PredictTable) test = friedman_table (function, 500, 2 * draw + 2);

    settings.seed = draw;
    sum += coverage (training, test, settings, NULL) / DRAWS;
  }
  return sum;
}

static void
check_coverage (const char *what, double share)
{
  g_test_message ("%s: %.1f %%", what, 100 * share);
  g_assert_cmpfloat (share, >=, 0.85);
  g_assert_cmpfloat (share, <=, 0.95);
}

/* Cross-validated intervals, those of samples out of bag, and other methods. */
static void
test_friedman (void)
{
  static const struct {
    const char *name;
    guint function;
    PredictMethod method;
    gboolean bootstrap;
  } cases[] = {
    { "friedman1", 1, PREDICT_EXTRA_TREES, FALSE },
    { "friedman1, bootstrap", 1, PREDICT_EXTRA_TREES, TRUE },
    { "friedman2", 2, PREDICT_EXTRA_TREES, FALSE },
    { "friedman2, bootstrap", 2, PREDICT_EXTRA_TREES, TRUE },
    { "friedman3", 3, PREDICT_EXTRA_TREES, FALSE },
    { "friedman3, bootstrap", 3, PREDICT_EXTRA_TREES, TRUE },
    { "linear", 1, PREDICT_LINEAR, FALSE },
    { "svr", 1, PREDICT_SVR, FALSE },
    { "mean", 1, PREDICT_MEAN, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    PredictSettings settings = predict_settings_default (cases[i].method);

    settings.bootstrap = cases[i].bootstrap;
    check_coverage (cases[i].name, friedman_coverage (cases[i].function, settings));
  }
}

/* All rows of both parts of a set, which share their columns. */
static PredictTable *
join (const PredictTable *a, const PredictTable *b)
{
  PredictTable *table = predict_table_new (a->source, a->n_rows + b->n_rows);

  for (guint column = 0; column < a->n_columns; column++) {
    double *numbers = g_new (double, table->n_rows);

    memcpy (numbers, a->columns[column].numbers, a->n_rows * sizeof *numbers);
    memcpy (numbers + a->n_rows, b->columns[column].numbers, b->n_rows * sizeof *numbers);
    predict_table_take_numbers (table, a->columns[column].name, NULL, numbers);
  }
  return table;
}

/* Measured on 442 people; NULL and the test is skipped where the data are not. */
static PredictTable *
diabetes (void)
{
  g_autoptr (PredictTable) training = regression_table ("diabetes", "train");
  g_autoptr (PredictTable) test = training != NULL ? regression_table ("diabetes", "test") : NULL;

  return test != NULL ? join (training, test) : NULL;
}

/* Over several divisions into 294 and 148. */
static void
test_diabetes (void)
{
  enum { DRAWS = 8 };
  g_autoptr (PredictTable) table = diabetes ();
  g_autofree uint32_t *group = NULL;
  uint32_t n_groups;
  double of_folds = 0, of_bags = 0;

  if (table == NULL)
    return;
  group = predict_table_groups (table, NULL, &n_groups, NULL);
  for (guint draw = 0; draw < DRAWS; draw++) {
    g_autofree bool *is_test = g_new (bool, table->n_rows);
    g_autofree uint64_t *rows = g_new (uint64_t, table->n_rows);
    BaseRandom random = base_random_stream (draw, 0);
    PredictSettings settings = predict_settings_default (PREDICT_EXTRA_TREES);
    g_autoptr (PredictTable) training = NULL, test = NULL;

    settings.trees = 40;
    predict_split_draw (&random, group, table->n_rows, n_groups, 1.0 / 3, is_test);
    for (int side = 0; side < 2; side++) {
      uint64_t n = 0;

      for (uint64_t i = 0; i < table->n_rows; i++)
        if (is_test[i] == (side == 1))
          rows[n++] = i;
      *(side == 0 ? &training : &test) = predict_table_pick (table, rows, n);
    }
    of_folds += coverage (training, test, settings, NULL) / DRAWS;
    settings.bootstrap = TRUE;
    of_bags += coverage (training, test, settings, NULL) / DRAWS;
  }
  check_coverage ("diabetes", of_folds);
  check_coverage ("diabetes, bootstrap", of_bags);
}

/* 40 rows, each eight times: a tree has seen a twin of each row and so takes its errors for small.
 * With groups the errors are those of new rows, also of a forest with a bootstrap. */
static void
test_twins (void)
{
  enum { DRAWS = 8 };
  double apart = 0, of_bags = 0, of_tree = 0, together = 0;

  for (guint draw = 0; draw < DRAWS; draw++) {
    g_autoptr (PredictTable) training = friedman_table_repeated (1, 40, 2 * draw + 1, 8);
    g_autoptr (PredictTable) test = friedman_table_repeated (1, 500, 2 * draw + 2, 1);
    PredictSettings settings = predict_settings_default (PREDICT_EXTRA_TREES);

    settings.trees = 30;
    apart += coverage (training, test, settings, "group") / DRAWS;
    settings.bootstrap = TRUE;
    of_bags += coverage (training, test, settings, "group") / DRAWS;
    settings = predict_settings_default (PREDICT_TREE);
    of_tree += coverage (training, test, settings, "group") / DRAWS;
    together += coverage (training, test, settings, NULL) / DRAWS;
  }
  check_coverage ("groups", apart);
  check_coverage ("groups, bootstrap", of_bags);
  check_coverage ("groups, one tree", of_tree);
  g_test_message ("one tree, groups that are not told: %.1f %%", 100 * together);
  g_assert_cmpfloat (together, <, 0.3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/interval/quantiles", test_quantiles);
  g_test_add_func ("/predictors/interval/many", test_many);
  g_test_add_func ("/predictors/interval/deviations", test_deviations);
  g_test_add_func ("/predictors/interval/degenerate", test_degenerate);
  g_test_add_func ("/predictors/interval/exact-coverage", test_exact_coverage);
  g_test_add_func ("/predictors/interval/friedman", test_friedman);
  g_test_add_func ("/predictors/interval/diabetes", test_diabetes);
  g_test_add_func ("/predictors/interval/twins", test_twins);
  return g_test_run ();
}
