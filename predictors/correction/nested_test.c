/* nested_test.c - errors at points left out of everything, hand-worked and of made-up noise.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/correction/nested.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

#define N 32u

/* The settings of a search that takes milliseconds. */
static PredictCorrectionSettings
small_settings (PredictLoss loss)
{
  PredictCorrectionSettings settings = predict_correction_settings (PREDICT_CORRECTION_BEST);

  settings.loss = loss;
  settings.n_trials = 1;
  settings.population = 20;
  settings.generations = 2;
  return settings;
}

typedef struct {
  PredictBaseModel *model;
  double memory[3 * N];
  const double *columns[2];
  PredictRange box[2];
  PredictCorrectionData data;
} Fixture;

static void
prepare (Fixture *f, const char *text, uint64_t n)
{
  GError *error = NULL;

  f->model = predict_base_model_parse (text, "test.model", &error);
  g_assert_no_error (error);
  for (guint at = 0; at < f->model->n_variables; at++) {
    f->columns[at] = f->memory + at * N;
    f->box[at] = predict_range (INFINITY, -INFINITY);
    for (uint64_t point = 0; point < n; point++) {
      f->box[at].low = fmin (f->box[at].low, f->columns[at][point]);
      f->box[at].high = fmax (f->box[at].high, f->columns[at][point]);
    }
  }
  f->data = (PredictCorrectionData){ .model = f->model,
                                     .train = { f->columns, n },
                                     .train_observed = f->memory + 2 * N,
                                     .box = f->box };
}

static PredictComparison *
compare (const Fixture *f, const PredictCorrectionSettings *settings, guint number, guint n_folds)
{
  const PredictCorrection *corrections[PREDICT_N_CASES] = { NULL };
  g_autoptr (PredictCorrection) correction = NULL;
  PredictComparison *comparison;
  GError *error = NULL;

  if (number > 0) {
    PredictCorrectionSettings of_case = *settings;

    of_case.number = number;
    correction = predict_correct (&f->data, &of_case, NULL, NULL, &error);
    g_assert_no_error (error);
    corrections[number - 1] = correction;
  }
  comparison = predict_compare (&f->data, settings, corrections, n_folds, NULL, NULL, &error);
  g_assert_no_error (error);
  return comparison;
}

/* A mean, by as many folds as there are different points.  x is 1, 1, 2, 3, so that the first two are
 * left out together: times 2, 4, 9, 12 are predicted as (9 + 12) / 2, the same, (2 + 4 + 12) / 3 and
 * (2 + 4 + 9) / 3. */
static void
test_mean_of_others (void)
{
  static const double x[] = { 1, 1, 2, 3 }, time[] = { 2, 4, 9, 12 };
  static const double mean[] = { 10.5, 10.5, 6, 5 };
  PredictCorrectionSettings settings = small_settings (PREDICT_LOSS_RMSE);
  g_autoptr (PredictComparison) comparison = NULL;
  Fixture f;
  double squares = 0;

  memcpy (f.memory, x, sizeof x);
  memcpy (f.memory + 2 * N, time, sizeof time);
  prepare (&f, "variable x\nparameter a 7 [0, 100]\ntime = a\n", 4);
  comparison = compare (&f, &settings, 0, 100);
  g_assert_cmpuint (comparison->n_folds, ==, 3);
  for (guint at = 0; at < 4; at++) {
    g_assert_cmpfloat_with_epsilon (comparison->candidates[PREDICT_CANDIDATE_REFITTED].left_out[at],
                                    mean[at], 1e-6);
    g_assert_cmpfloat (comparison->candidates[PREDICT_CANDIDATE_BASE].left_out[at], ==, 7);
    squares += (mean[at] - time[at]) * (mean[at] - time[at]);
  }
  g_assert_cmpfloat_with_epsilon (comparison->candidates[PREDICT_CANDIDATE_REFITTED].nested,
                                  sqrt (squares / 4), 1e-6);
  g_assert_cmpfloat_with_epsilon (comparison->candidates[PREDICT_CANDIDATE_BASE].nested,
                                  sqrt ((25 + 9 + 4 + 25) / 4.0), 1e-12);
  g_assert_true (isnan (comparison->candidates[PREDICT_CANDIDATE_CASES].nested));
  g_assert_null (comparison->candidates[PREDICT_CANDIDATE_CASES].left_out);
  predict_base_model_free (f.model);
}

/* Times of two variables by a law and noise. */
static void
make_points (Fixture *f, uint64_t seed, double noise)
{
  BaseRandom random = base_random_stream (seed, 0);

  for (guint at = 0; at < N; at++) {
    double x = pow (10, 3 * base_random_unit (&random)),
           p = (double) (1 + base_random_below (&random, 64));

    f->memory[at] = x;
    f->memory[N + at] = p;
    f->memory[2 * N + at] = exp (0.3 * log (x) * log (p) + 0.1 * log (p) * log (p) +
                                 noise * (base_random_unit (&random) - 0.5));
  }
}

/* 32 points always have a choice with a value everywhere, whatever the term is. */
static void
test_always_defined (void)
{
  for (uint64_t seed = 1; seed <= 4; seed++) {
    PredictCorrectionSettings settings = small_settings (PREDICT_LOSS_LOG_RMSE);
    g_autoptr (PredictComparison) comparison = NULL;
    Fixture f;

    settings.seed = seed;
    settings.mode = seed % 2 ? PREDICT_CORRECTION_PAPER : PREDICT_CORRECTION_BEST;
    make_points (&f, seed, 1);
    prepare (&f, "variable x, p\nparameter a 1 [1e-3, 1e3] log\ntime = a*x - 0.5\n", N);
    comparison = compare (&f, &settings, 1 + (guint) (seed - 1) % 4, 5);
    g_assert_true (isfinite (comparison->candidates[comparison->chosen].nested));
    g_assert_true (isfinite (comparison->chosen_nested));
    for (guint at = 0; at < N; at++) {
      g_assert_cmpfloat (comparison->candidates[PREDICT_CANDIDATE_QUADRATIC].left_out[at], >, 0);
      g_assert_cmpfloat (comparison->candidates[PREDICT_CANDIDATE_KRIGING].left_out[at], >, 0);
    }
    predict_base_model_free (f.model);
  }
}

/* The law of the points is a quadratic surface, and no scale of x: the blend is hardly anything else. */
static void
test_choice (void)
{
  PredictCorrectionSettings settings = small_settings (PREDICT_LOSS_LOG_RMSE);
  g_autoptr (PredictComparison) comparison = NULL, again = NULL;
  Fixture f;

  make_points (&f, 5, 0.1);
  prepare (&f, "variable x, p\nparameter a 1 [1e-3, 1e3] log\ntime = a*x\n", N);
  comparison = compare (&f, &settings, 2, 5);
  g_assert_cmpint (comparison->chosen, ==, PREDICT_CANDIDATE_BLEND);
  g_assert_cmpfloat (comparison->weights[PREDICT_CANDIDATE_QUADRATIC] +
                         comparison->weights[PREDICT_CANDIDATE_KRIGING],
                     >, 0.9);
  g_assert_cmpfloat (comparison->candidates[PREDICT_CANDIDATE_QUADRATIC].nested, <, 0.1);
  g_assert_cmpfloat (comparison->candidates[PREDICT_CANDIDATE_REFITTED].nested, >, 0.5);
  /* A choice that is clear costs nothing to speak of. */
  g_assert_cmpfloat (comparison->chosen_nested, <, 0.1);
  settings.n_threads = 2;
  again = compare (&f, &settings, 2, 5);
  for (guint at = 0; at < PREDICT_N_CANDIDATES; at++)
    g_assert_true (comparison->candidates[at].nested == again->candidates[at].nested ||
                   isnan (comparison->candidates[at].nested));
  predict_base_model_free (f.model);
}

/* Without noise a surface is clearly better than a blend with what is wrong. */
static void
test_exact_law (void)
{
  PredictCorrectionSettings settings = small_settings (PREDICT_LOSS_LOG_RMSE);
  g_autoptr (PredictComparison) comparison = NULL;
  double sum = 0;
  Fixture f;

  make_points (&f, 5, 0);
  for (guint at = 0; at < N; at++)
    f.memory[2 * N + at] = 3 * f.memory[at];
  prepare (&f, "variable x, p\nparameter a 1 [1e-3, 1e3] log\ntime = a*x\n", N);
  comparison = compare (&f, &settings, 0, 5);
  g_assert_cmpfloat (comparison->candidates[PREDICT_CANDIDATE_REFITTED].nested, <, 1e-8);
  g_assert_cmpfloat (comparison->candidates[comparison->chosen].nested, <, 1e-4);
  for (guint at = 0; at < PREDICT_CANDIDATE_BLEND; at++) {
    g_assert_cmpfloat (comparison->weights[at], >=, 0);
    sum += comparison->weights[at];
  }
  g_assert_cmpfloat_with_epsilon (sum, 1, 1e-12);
  predict_base_model_free (f.model);
}

/* With all points the candidates predict the test points. */
static void
test_test_points (void)
{
  PredictCorrectionSettings settings = small_settings (PREDICT_LOSS_LOG_RMSE);
  g_autoptr (PredictComparison) comparison = NULL;
  static const double x[] = { 20, 300 }, p[] = { 4, 40 };
  const double *const columns[] = { x, p };
  double observed[2];
  Fixture f;

  for (guint at = 0; at < 2; at++)
    observed[at] = exp (0.3 * log (x[at]) * log (p[at]) + 0.1 * log (p[at]) * log (p[at]));
  make_points (&f, 6, 0);
  prepare (&f, "variable x, p\nparameter a 1 [1e-3, 1e3] log\ntime = a*x\n", N);
  f.data.test = (PredictPoints){ columns, 2 };
  f.data.test_observed = observed;
  comparison = compare (&f, &settings, 0, 5);
  g_assert_cmpfloat (comparison->candidates[PREDICT_CANDIDATE_BASE].test_times[1], ==, 300);
  g_assert_cmpfloat (comparison->candidates[PREDICT_CANDIDATE_QUADRATIC].test.log_rmse, <, 1e-4);
  g_assert_cmpfloat (comparison->candidates[PREDICT_CANDIDATE_KRIGING].test.log_rmse, <, 0.1);
  predict_base_model_free (f.model);
}

/* base, refitted, factors, term: the nested losses; factors 0: there are none.  before, after: the verdict. */
static void
review (double base, double refitted, double factors, double term, PredictVerdict before,
        PredictVerdict after)
{
  PredictCorrection correction = { .n_trials = 1, .verdict = before, .reason = g_strdup ("why") };
  PredictComparison comparison = { .n_folds = 5 };

  comparison.candidates[PREDICT_CANDIDATE_BASE].nested = base;
  comparison.candidates[PREDICT_CANDIDATE_REFITTED].nested = refitted;
  comparison.candidates[PREDICT_CANDIDATE_FACTORS].nested = factors;
  comparison.factors.n = factors > 0 ? 2 : 0;
  comparison.candidates[PREDICT_CANDIDATE_CASES + 3].nested = term;
  predict_comparison_review (&comparison, 4, &correction);
  g_assert_cmpint (correction.verdict, ==, after);
  g_assert_true ((before == after) == (strcmp (correction.reason, "why") == 0));
  g_assert_cmpfloat (correction.corrected_folds, ==, term);
  g_free (correction.reason);
}

static void
test_review (void)
{
  review (3, 2, 0, 1, PREDICT_TAKE_TERM, PREDICT_TAKE_TERM);
  review (3, 1, 0, 2, PREDICT_TAKE_TERM, PREDICT_TAKE_REFITTED);
  review (1, 2, 0, 3, PREDICT_TAKE_TERM, PREDICT_TAKE_NEITHER);
  review (3, 2, 0, 1, PREDICT_TAKE_REFITTED, PREDICT_TAKE_REFITTED);
  review (2, 3, 0, 1, PREDICT_TAKE_REFITTED, PREDICT_TAKE_NEITHER);
  review (3, 2, 0, 1, PREDICT_TAKE_NEITHER, PREDICT_TAKE_NEITHER);
  review (3, 2, 0, INFINITY, PREDICT_TAKE_TERM, PREDICT_TAKE_REFITTED);
  review (4, 3, 2, 1, PREDICT_TAKE_TERM, PREDICT_TAKE_TERM);
  review (4, 3, 1, 2, PREDICT_TAKE_TERM, PREDICT_TAKE_FACTORS);
  review (4, 1, 2, 3, PREDICT_TAKE_TERM, PREDICT_TAKE_REFITTED);
  review (2, 3, 1, 4, PREDICT_TAKE_TERM, PREDICT_TAKE_FACTORS);
  review (4, 3, 2, 1, PREDICT_TAKE_REFITTED, PREDICT_TAKE_FACTORS);
  review (4, 2, 3, 1, PREDICT_TAKE_REFITTED, PREDICT_TAKE_REFITTED);
  review (1, 3, 2, 4, PREDICT_TAKE_REFITTED, PREDICT_TAKE_NEITHER);
  review (4, 3, 2, 1, PREDICT_TAKE_NEITHER, PREDICT_TAKE_NEITHER);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/nested/mean-of-others", test_mean_of_others);
  g_test_add_func ("/predictors/nested/always-defined", test_always_defined);
  g_test_add_func ("/predictors/nested/choice", test_choice);
  g_test_add_func ("/predictors/nested/exact-law", test_exact_law);
  g_test_add_func ("/predictors/nested/test-points", test_test_points);
  g_test_add_func ("/predictors/nested/review", test_review);
  return g_test_run ();
}
