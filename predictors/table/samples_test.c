/* samples_test.c - samples from tables, and whole groups in training and test sets.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/predict_error.h"
#include "predictors/table/samples.h"

#include <math.h>
#include <string.h>

static const char *const both[] = { "b", "a", NULL };

/* a = 1 2 4, b = 0.1 -3 7, t = 10 20 40, word = texts. */
static PredictTable *
table_new (void)
{
  static const double a[] = { 1, 2, 4 }, b[] = { 0.1, -3, 7 }, t[] = { 10, 20, 40 };
  static const char *const words[] = { "x", "y", "z" };
  PredictTable *table = predict_table_new ("made", 3);

  predict_table_take_numbers (table, "a", NULL, g_memdup2 (a, sizeof a));
  predict_table_take_numbers (table, "b", NULL, g_memdup2 (b, sizeof b));
  predict_table_take_numbers (table, "t", NULL, g_memdup2 (t, sizeof t));
  predict_table_add_texts (table, "word", words);
  return table;
}

static void
assert_floats (const float *numbers, const float *expected, gsize n)
{
  for (gsize at = 0; at < n; at++)
    g_assert_cmpfloat (numbers[at], ==, expected[at]);
}

static void
test_columns (void)
{
  static const float x[] = { 0.1F, -3, 7, 1, 2, 4 };
  g_autoptr (PredictTable) table = table_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (PredictSamples) samples = predict_samples_from (table, both, "t", FALSE, &error);
  g_autoptr (PredictSamples) logs = predict_samples_from (table, both, "t", TRUE, NULL);
  g_autoptr (PredictSamples) blind = predict_samples_from (table, both, NULL, FALSE, NULL);

  g_assert_no_error (error);
  g_assert_cmpuint (samples->n_samples, ==, 3);
  g_assert_cmpuint (samples->n_features, ==, 2);
  assert_floats (samples->x, x, G_N_ELEMENTS (x));
  g_assert_cmpfloat (samples->y[2], ==, 40);
  g_assert_cmpfloat_with_epsilon (logs->y[2], 3.6888794541139363, 1e-15);
  g_assert_null (blind->y);
  assert_floats (blind->x, x, G_N_ELEMENTS (x));
}

/* One number of a table is changed, and the error names its fault. */
static void
test_refusals (void)
{
  static const struct {
    const char *column; /* whose second number is changed; NULL: none */
    double number;
    const char *feature, *target;
    gboolean log_target;
    const char *problem;
  } cases[] = {
    { "a", NAN, "a", "t", FALSE, "made, row 2: column \"a\": no number is known" },
    { "a", INFINITY, "a", "t", FALSE, "made, row 2: column \"a\": inf is not finite" },
    { "a", 1e39, "a", "t", FALSE, "row 2: column \"a\": 1e+39 is too large for single precision" },
    { "a", -3.5e38, "a", "t", FALSE, "too large for single precision" },
    { "t", NAN, "a", "t", FALSE, "made, row 2: column \"t\": no number is known" },
    { "t", -INFINITY, "a", "t", FALSE, "made, row 2: column \"t\": -inf is not finite" },
    { "t", 0, "a", "t", TRUE, "made, row 2: column \"t\": 0 has no logarithm" },
    { "t", -1, "a", "t", TRUE, "made, row 2: column \"t\": -1 has no logarithm" },
    { "t", 1e308, "a", "t", FALSE,
      "row 2: column \"t\": 1e+308 is beyond 1e+140, as 1 of 3 values" },
    { "t", -1e141, "a", "t", FALSE, "row 2: column \"t\": -1e+141 is beyond 1e+140" },
    { NULL, 0, "word", "t", FALSE, "made, row 1: column \"word\": \"x\" is not a number" },
    { NULL, 0, "a", "word", FALSE, "made, row 1: column \"word\": \"x\" is not a number" },
    { NULL, 0, "c", "t", FALSE, "made: there is no column \"c\"" },
    { NULL, 0, "a", "time", FALSE, "made: there is no column \"time\"" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (PredictTable) table = table_new ();
    const char *features[] = { cases[at].feature, NULL };
    g_autoptr (GError) error = NULL;

    if (cases[at].column != NULL)
      predict_table_find (table, cases[at].column)->numbers[1] = cases[at].number;
    g_assert_null (
        predict_samples_from (table, features, cases[at].target, cases[at].log_target, &error));
    g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE);
    g_assert_nonnull (strstr (error->message, cases[at].problem));
  }
}

/* Allowed: the largest float, a negative target, and NaN in a column that is not used. */
static void
test_limits (void)
{
  g_autoptr (PredictTable) table = table_new ();
  const char *features[] = { "a", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (PredictSamples) samples = NULL;

  predict_table_find (table, "a")->numbers[0] = 3.4028234663852886e38;
  predict_table_find (table, "b")->numbers[0] = NAN;
  predict_table_find (table, "t")->numbers[0] = -5;
  samples = predict_samples_from (table, features, "t", FALSE, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (samples->x[0], ==, 0x1.fffffep127F);
  g_assert_cmpfloat (samples->y[0], ==, -5);
}

/* Squares of these vanish unless one value is larger; a logarithm has no such limits. */
static void
test_target_range (void)
{
  g_autoptr (PredictTable) none = predict_table_new ("none", 0);
  g_autoptr (GError) no_rows = NULL;
  static const double tiny[] = { 0, -1e-150, 5e-324 }, wide[] = { 1e-150, 1e140, 0 },
                      ratios[] = { 1e-308, 1e308, 1 };
  const struct {
    const double *target;
    gboolean log_target;
    const char *problem; /* NULL: none */
  } cases[] = {
    { tiny, FALSE, "row 2: column \"t\": -1e-150 is the largest value of the target" },
    { wide, FALSE, NULL },
    { ratios, TRUE, NULL },
    { ratios, FALSE, "row 2: column \"t\": 1e+308 is beyond" },
  };
  const char *features[] = { "a", NULL };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (PredictTable) table = table_new ();
    g_autoptr (GError) error = NULL;
    g_autoptr (PredictSamples) samples = NULL;

    memcpy (predict_table_find (table, "t")->numbers, cases[at].target, sizeof tiny);
    samples = predict_samples_from (table, features, "t", cases[at].log_target, &error);
    g_assert_true ((samples == NULL) == (cases[at].problem != NULL));
    g_assert_true (samples != NULL || strstr (error->message, cases[at].problem) != NULL);
  }
  predict_table_take_numbers (none, "a", NULL, NULL);
  g_assert_null (predict_samples_from (none, features, "a", FALSE, &no_rows));
  g_assert_error (no_rows, PREDICT_ERROR, PREDICT_ERROR_TABLE);
  g_assert_cmpstr (no_rows->message, ==, "none: has no rows");
}

static void
test_select_and_project (void)
{
  static const bool is_test[] = { true, false, true };
  static const guint columns[] = { 1, 0, 1 };
  static const float selected_x[] = { 0.1F, 7, 1, 4 };
  static const float projected_x[] = { 1, 2, 4, 0.1F, -3, 7, 1, 2, 4 };
  g_autoptr (PredictTable) table = table_new ();
  g_autoptr (PredictSamples) samples = predict_samples_from (table, both, "t", FALSE, NULL);
  g_autoptr (PredictSamples) blind = predict_samples_from (table, both, NULL, FALSE, NULL);
  g_autoptr (PredictSamples) selected = predict_samples_select (samples, is_test, true);
  g_autoptr (PredictSamples) others = predict_samples_select (samples, is_test, false);
  g_autoptr (PredictSamples) projected = predict_samples_project (samples, columns, 3);
  g_autoptr (PredictSamples) blind_selected = predict_samples_select (blind, is_test, true);
  g_autoptr (PredictSamples) blind_projected = predict_samples_project (blind, columns, 1);

  g_assert_cmpuint (selected->n_samples, ==, 2);
  g_assert_cmpuint (selected->n_features, ==, 2);
  assert_floats (selected->x, selected_x, G_N_ELEMENTS (selected_x));
  g_assert_cmpfloat (selected->y[1], ==, 40);
  g_assert_cmpuint (others->n_samples, ==, 1);
  g_assert_cmpfloat (others->x[1], ==, 2);
  g_assert_cmpfloat (others->y[0], ==, 20);
  g_assert_cmpuint (projected->n_samples, ==, 3);
  g_assert_cmpuint (projected->n_features, ==, 3);
  assert_floats (projected->x, projected_x, G_N_ELEMENTS (projected_x));
  g_assert_cmpfloat (projected->y[1], ==, 20);
  g_assert_null (blind_selected->y);
  g_assert_null (blind_projected->y);
}

/* 84 mappings with 6 message sizes each, the mappings in turns. */
enum { N_GROUPS = 84, N_SAMPLES = 6 * N_GROUPS };

static void
fill_groups (uint32_t *group)
{
  for (uint32_t i = 0; i < N_SAMPLES; i++)
    group[i] = i % N_GROUPS;
}

/* How many groups are in the test set; that each is on one side. */
static guint
count_test (const uint32_t *group, const bool *is_test, guint n, guint n_groups)
{
  g_autofree int *side = g_new (int, n_groups);
  guint count = 0;

  memset (side, -1, n_groups * sizeof *side);
  for (guint i = 0; i < n; i++) {
    g_assert_true (side[group[i]] == -1 || side[group[i]] == is_test[i]);
    count += side[group[i]] == -1 && is_test[i];
    side[group[i]] = is_test[i];
  }
  return count;
}

static guint
draw (uint32_t n_groups, double share)
{
  BaseRandom random = base_random_stream (1, n_groups);
  uint32_t group[100] = { 0 };
  bool is_test[100];

  for (uint32_t i = 0; i < n_groups; i++)
    group[i] = i;
  predict_split_draw (&random, group, n_groups, n_groups, share, is_test);
  return count_test (group, is_test, n_groups, n_groups);
}

/* Tested groups of all; SC13: 28 of 84 mappings are predicted. */
static void
test_shares (void)
{
  static const struct {
    guint n;
    double share;
    guint n_test;
  } cases[] = { { 84, 1.0 / 3, 28 }, { 85, 1.0 / 3, 29 }, { 100, 0.07, 7 }, { 100, 0.001, 1 },
                { 100, 0.999, 99 },  { 2, 0.01, 1 },      { 2, 0.99, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_test_message ("%g of %u", cases[i].share, cases[i].n);
    g_assert_cmpuint (draw (cases[i].n, cases[i].share), ==, cases[i].n_test);
  }
}

static void
test_groups_stay_whole (void)
{
  BaseRandom random = base_random_stream (7, 0);
  uint32_t group[N_SAMPLES], fold[N_SAMPLES], size[5] = { 0 };
  bool is_test[N_SAMPLES];

  fill_groups (group);
  predict_split_draw (&random, group, N_SAMPLES, N_GROUPS, 1.0 / 3, is_test);
  g_assert_cmpuint (count_test (group, is_test, N_SAMPLES, N_GROUPS), ==, 28);
  predict_split_deal (&random, group, N_SAMPLES, N_GROUPS, 5, fold);
  for (guint i = 0; i < N_SAMPLES; i++) {
    g_assert_cmpuint (fold[i], ==, fold[group[i]]);
    size[fold[i]]++;
  }
  for (guint i = 0; i < 5; i++)
    g_assert_cmpuint (size[i], ==, 6 * (i < 4 ? 17 : 16));
}

/* Of 3,000 draws, a group is tested in 1,000 -+ 4 standard deviations of 25.8 (and none in the same
 * as another more often than the 332 that are expected -+ 5 of 17.2); the same of folds. */
static void
test_chances (void)
{
  BaseRandom random = base_random_stream (11, 0);
  uint32_t group[N_SAMPLES], fold[N_SAMPLES];
  guint drawn[N_GROUPS] = { 0 }, first[N_GROUPS] = { 0 }, with_next[N_GROUPS] = { 0 };
  bool is_test[N_SAMPLES];

  fill_groups (group);
  for (guint repeat = 0; repeat < 3000; repeat++) {
    predict_split_draw (&random, group, N_GROUPS, N_GROUPS, 1.0 / 3, is_test);
    predict_split_deal (&random, group, N_GROUPS, N_GROUPS, 3, fold);
    for (guint i = 0; i < N_GROUPS; i++) {
      drawn[i] += is_test[i];
      with_next[i] += is_test[i] && is_test[(i + 1) % N_GROUPS];
      first[i] += fold[i] == 0;
    }
  }
  for (guint i = 0; i < N_GROUPS; i++) {
    g_assert_cmpfloat_with_epsilon (drawn[i], 1000, 4 * 25.8);
    g_assert_cmpfloat_with_epsilon (first[i], 1000, 4 * 25.8);
    g_assert_cmpfloat_with_epsilon (with_next[i], 3000 * 28.0 * 27 / (84 * 83), 5 * 17.2);
  }
}

static void
test_seeds (void)
{
  BaseRandom random = base_random_stream (3, 0), same = base_random_stream (3, 0);
  uint32_t group[N_SAMPLES], fold[2][N_SAMPLES];

  fill_groups (group);
  predict_split_deal (&random, group, N_SAMPLES, N_GROUPS, 4, fold[0]);
  predict_split_deal (&same, group, N_SAMPLES, N_GROUPS, 4, fold[1]);
  g_assert_cmpmem (fold[0], sizeof fold[0], fold[1], sizeof fold[1]);
  predict_split_deal (&random, group, N_SAMPLES, N_GROUPS, 4, fold[1]);
  g_assert_cmpint (memcmp (fold[0], fold[1], sizeof fold[0]), !=, 0);
}

static void
test_groups_of_some (void)
{
  static const uint32_t group[] = { 0, 3, 1, 3, 2, 0 }, wanted[] = { 0, 1, 0, 2 };
  static const bool is_test[] = { true, false, false, false, true, false };
  uint32_t n_left;
  g_autofree uint32_t *left = predict_split_groups (group, is_test, false, 6, 4, &n_left);

  g_assert_cmpuint (n_left, ==, 3);
  g_assert_cmpmem (left, sizeof wanted, wanted, sizeof wanted);
}

/* Set 0 has means 2 and 4 of its feature and target, set 1 has 0 and -3. */
static void
test_normalize (void)
{
  static const uint32_t set[] = { 0, 1, 0, 1 };
  g_autoptr (PredictSamples) samples = predict_samples_new (4, 1, TRUE);

  memcpy (samples->x, (const float[]){ 1, -5, 3, 5 }, 4 * sizeof (float));
  memcpy (samples->y, (const double[]){ 2, -3, 6, -3 }, 4 * sizeof (double));
  predict_samples_normalize (samples, set, 2);
  g_assert_cmpmem (samples->x, 4 * sizeof (float), ((const float[]){ 0.5f, -5, 1.5f, 5 }),
                   4 * sizeof (float));
  g_assert_cmpmem (samples->y, 4 * sizeof (double), ((const double[]){ 0.5, 1, 1.5, 1 }),
                   4 * sizeof (double));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/samples/normalize", test_normalize);
  g_test_add_func ("/predictors/samples/columns", test_columns);
  g_test_add_func ("/predictors/samples/refusals", test_refusals);
  g_test_add_func ("/predictors/samples/limits", test_limits);
  g_test_add_func ("/predictors/samples/target-range", test_target_range);
  g_test_add_func ("/predictors/samples/parts", test_select_and_project);
  g_test_add_func ("/predictors/splits/shares", test_shares);
  g_test_add_func ("/predictors/splits/groups-stay-whole", test_groups_stay_whole);
  g_test_add_func ("/predictors/splits/chances", test_chances);
  g_test_add_func ("/predictors/splits/seeds", test_seeds);
  g_test_add_func ("/predictors/splits/groups-of-some", test_groups_of_some);
  return g_test_run ();
}
