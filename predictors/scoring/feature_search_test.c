/* feature_search_test.c - planted features are found, and noise is seen through.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/predict_error.h"
#include "predictors/predict_testing.h"
#include "predictors/model/fake_fitted.h"
#include "predictors/scoring/feature_search.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

enum { N_FEATURES = 8, MANY = 150, FEW = 45 };

static const PredictSettings nearest = { .method = PREDICT_TREE, .threads = 2 };
static const PredictSearch usual = { .exhaustive = 2,
                                     .max_size = 6,
                                     .score = PREDICT_RCC,
                                     .folds = 5,
                                     .outer = 10,
                                     .test_share = 1.0 / 3,
                                     .seed = 1 };

/* Uniform features; y is the sum of those whose bit is set, or else noise. */
static PredictSamples *
samples_new (guint n, guint planted, uint64_t seed)
{
  PredictSamples *samples = predict_samples_new (n, N_FEATURES, TRUE);
  BaseRandom random = base_random_stream (seed, 0);

  for (guint i = 0; i < n * N_FEATURES; i++)
    samples->x[i] = (float) base_random_unit (&random);
  for (guint i = 0; i < n; i++) {
    samples->y[i] = planted ? 0 : base_random_unit (&random);
    for (guint feature = 0; feature < N_FEATURES; feature++)
      if (planted >> feature & 1)
        samples->y[i] += (double) samples->x[feature * n + i];
  }
  return samples;
}

/* In turns. */
static uint32_t *
groups_new (uint32_t n, uint32_t n_groups)
{
  uint32_t *group = g_new (uint32_t, n);

  for (uint32_t i = 0; i < n; i++)
    group[i] = i % n_groups;
  return group;
}

static PredictSearchResult
search (const PredictSamples *samples, const PredictSettings *settings,
        const PredictSearch *options)
{
  uint32_t n = (uint32_t) samples->n_samples;
  g_autofree uint32_t *group = groups_new (n, n);
  g_autoptr (GError) error = NULL;
  PredictSearchResult result;

  predict_feature_search (samples, group, n, settings, options, &result, NULL, NULL, &error);
  g_assert_no_error (error);
  return result;
}

static const PredictFeatureChoice *
choice_at (const PredictSearchResult *result, guint number)
{
  return &g_array_index (result->tried, PredictFeatureChoice, number);
}

static guint
bits_of (const PredictFeatureChoice *choice)
{
  guint bits = 0;

  for (guint i = 0; i < choice->n; i++) {
    g_assert_true (i == 0 || choice->features[i] > choice->features[i - 1]);
    bits |= 1u << choice->features[i];
  }
  return bits;
}

/* -- planted --------------------------------------------------------------- */

static void
test_pair_is_found (void)
{
  const guint planted = 1 << 2 | 1 << 5;
  g_autoptr (PredictSamples) samples = samples_new (MANY, planted, 1);
  g_auto (PredictSearchResult) result = search (samples, &nearest, &usual);

  g_assert_cmpuint (bits_of (choice_at (&result, 0)), ==, planted);
  g_assert_cmpuint (result.n_outer, ==, 10);
  for (guint feature = 0; feature < N_FEATURES; feature++)
    if (planted >> feature & 1)
      g_assert_cmpuint (result.times_chosen[feature], >=, 9);
    else
      g_assert_cmpuint (result.times_chosen[feature], <=, 3);
  g_assert_cmpfloat (choice_at (&result, 0)->score, >, 0.85);
  g_assert_cmpfloat (result.outer[PREDICT_RCC].median, >, 0.8);
}

/* Pairs are not enough for three; nor are they tried, when only single ones are. */
static void
test_grows (void)
{
  const guint planted = 1 << 0 | 1 << 3 | 1 << 7;
  g_autoptr (PredictSamples) samples = samples_new (MANY, planted, 2);
  PredictSearch single = usual;
  g_auto (PredictSearchResult) small = { 0 };
  g_auto (PredictSearchResult) large = { 0 };

  single.exhaustive = 1;
  single.outer = 0;
  large = search (samples, &nearest, &single);
  g_assert_cmpuint (bits_of (choice_at (&large, 0)), ==, planted);
  g_assert_true (isnan (large.outer[PREDICT_RCC].median));
  single.max_size = 2;
  small = search (samples, &nearest, &single);
  g_assert_cmpuint (choice_at (&small, 0)->n, ==, 2);
}

/* The best alone is feature 0, the sum of two others with noise: those two are better without
 * it, which only taking it away can find. */
static void
test_shrinks (void)
{
  g_autoptr (PredictSamples) samples = samples_new (MANY, 1 << 2 | 1 << 5, 6);
  PredictSearch single = usual;
  g_auto (PredictSearchResult) result = { 0 };

  for (guint i = 0; i < MANY; i++)
    samples->x[i] = (float) (samples->y[i] + 0.9 * ((double) samples->x[i] - 0.5));
  single.exhaustive = 1;
  single.outer = 0;
  result = search (samples, &nearest, &single);
  g_assert_cmpuint (bits_of (choice_at (&result, 0)), ==, 1 << 2 | 1 << 5);
}

/* -- noise ----------------------------------------------------------------- */

/* Of dozens of sets, one orders the folds by luck, which the outer splits do not share. */
static void
test_nesting_sees_through_noise (void)
{
  double inner = 0, outer = 0;

  for (uint64_t seed = 1; seed <= 8; seed++) {
    g_autoptr (PredictSamples) samples = samples_new (FEW, 0, seed);
    g_auto (PredictSearchResult) result = search (samples, &nearest, &usual);

    inner += choice_at (&result, 0)->score / 8;
    outer += result.outer[PREDICT_RCC].mean / 8;
  }
  g_test_message ("inner %.3f, outer %.3f", inner, outer);
  g_assert_cmpfloat (inner, >, 0.56);
  g_assert_cmpfloat_with_epsilon (outer, 0.5, 0.03);
}

/* -- the sets -------------------------------------------------------------- */

/* Each set once, the best first; all of up to three features are 8 + 28 + 56. */
static void
test_tried (void)
{
  g_autoptr (PredictSamples) samples = samples_new (MANY, 1, 3);
  PredictSearch all = usual;
  g_auto (PredictSearchResult) result = { 0 };
  bool seen[1 << N_FEATURES] = { false };

  all.exhaustive = all.max_size = 3;
  all.outer = 0;
  result = search (samples, &nearest, &all);
  g_assert_cmpuint (result.tried->len, ==, 8 + 28 + 56);
  for (guint i = 0; i < result.tried->len; i++) {
    guint bits = bits_of (choice_at (&result, i));

    g_assert_false (seen[bits]);
    seen[bits] = true;
    g_assert_true (i == 0 || choice_at (&result, i)->score <= choice_at (&result, i - 1)->score);
  }
  g_assert_cmpuint (bits_of (choice_at (&result, 0)), ==, 1);
}

/* Of errors, the smallest is the best; a constant prediction makes all equal, and the first of the
 * smallest sets wins.  RCC of folds of one is not defined, whatever the set. */
static void
test_ties_and_directions (void)
{
  g_autoptr (PredictSamples) samples = samples_new (MANY, 1 << 4, 3);
  const PredictSettings constant = { .method = PREDICT_MEAN, .threads = 2 };
  PredictSearch options = usual;
  g_auto (PredictSearchResult) smallest = { 0 };
  g_auto (PredictSearchResult) equal = { 0 };
  g_auto (PredictSearchResult) undefined = { 0 };

  options.outer = 0;
  options.score = PREDICT_RMSE;
  smallest = search (samples, &nearest, &options);
  g_assert_cmpuint (bits_of (choice_at (&smallest, 0)), ==, 1 << 4);
  equal = search (samples, &constant, &options);
  g_assert_cmpuint (bits_of (choice_at (&equal, 0)), ==, 1);
  g_assert_cmpuint (equal.tried->len, ==, 8 + 28);
  options.score = PREDICT_RCC;
  options.folds = MANY;
  undefined = search (samples, &nearest, &options);
  g_assert_true (isnan (choice_at (&undefined, 0)->score));
}

/* Whatever the threads, and however many features a node should try. */
static void
test_threads_change_nothing (void)
{
  g_autoptr (PredictSamples) samples = samples_new (MANY, 1 | 1 << 1 | 1 << 6, 4);
  const PredictSettings many = { .method = PREDICT_TREE, .threads = 5, .max_features = 3 };
  g_autofree uint32_t *group = groups_new (MANY, MANY);
  g_auto (PredictSearchResult) two = search (samples, &nearest, &usual);
  g_auto (PredictSearchResult) five = { 0 };
  double last = 0;

  g_assert_true (predict_feature_search (samples, group, MANY, &many, &usual, &five,
                                         testing_note_share, &last, NULL));
  g_assert_cmpfloat (last, >, 0.95);
  g_assert_cmpmem (two.outer, sizeof two.outer, five.outer, sizeof five.outer);
  g_assert_cmpmem (two.times_chosen, N_FEATURES * sizeof (guint), five.times_chosen,
                   N_FEATURES * sizeof (guint));
  g_assert_cmpuint (two.tried->len, ==, five.tried->len);
  for (guint i = 0; i < two.tried->len; i++)
    g_assert_cmpuint (bits_of (choice_at (&two, i)), ==, bits_of (choice_at (&five, i)));
}

/* -- refusals -------------------------------------------------------------- */

static void
test_refusals (void)
{
  const PredictSettings failing = { .method = PREDICT_LINEAR, .threads = 2 };
  PredictSearch no_sets = usual, too_many = usual, no_share = usual;
  const struct {
    const PredictSearch *search;
    const PredictSettings *settings;
    guint n_features;
    uint32_t n_groups;
    const char *message;
  } cases[] = {
    { &no_sets, &nearest, 8, FEW, "at least 1 feature" },
    { &too_many, &nearest, 40, FEW, "40 features have 4.6e+06 sets" },
    { &no_share, &nearest, 8, FEW, "test share" },
    { &usual, &nearest, 8, 4, "4 groups" },
    { &usual, &nearest, 8, 6, "4 groups" }, /* of 6, the outer split leaves 4 */
    { &usual, &failing, 8, FEW, "no solution" },
  };

  no_sets.exhaustive = 0;
  too_many.exhaustive = too_many.max_size = 6;
  no_share.test_share = 0;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    guint n_features = cases[i].n_features;
    g_autoptr (PredictSamples) samples = predict_samples_new (FEW, n_features, TRUE);
    g_autofree uint32_t *group = groups_new (FEW, cases[i].n_groups);
    GError *error = NULL;
    PredictSearchResult result;

    for (uint32_t row = 0; row < FEW; row++)
      samples->y[row] = row;
    memset (samples->x, 0, FEW * n_features * sizeof *samples->x);
    g_test_message ("%s", cases[i].message);
    g_assert_false (predict_feature_search (samples, group, cases[i].n_groups, cases[i].settings,
                                            cases[i].search, &result, NULL, NULL, &error));
    testing_take_error (&error, PREDICT_ERROR, cases[i].message);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/feature-search/pair-is-found", test_pair_is_found);
  g_test_add_func ("/predictors/feature-search/grows", test_grows);
  g_test_add_func ("/predictors/feature-search/shrinks", test_shrinks);
  g_test_add_func ("/predictors/feature-search/nesting-sees-through-noise",
                   test_nesting_sees_through_noise);
  g_test_add_func ("/predictors/feature-search/tried", test_tried);
  g_test_add_func ("/predictors/feature-search/ties-and-directions", test_ties_and_directions);
  g_test_add_func ("/predictors/feature-search/threads-change-nothing",
                   test_threads_change_nothing);
  g_test_add_func ("/predictors/feature-search/refusals", test_refusals);
  return g_test_run ();
}
