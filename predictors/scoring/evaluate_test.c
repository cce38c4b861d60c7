/* evaluate_test.c - splits, folds and scores with a learner whose answers are known.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/predict_error.h"
#include "predictors/predict_testing.h"
#include "predictors/scoring/evaluate.h"
#include "predictors/model/fake_fitted.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

static const PredictSettings mean = { .method = PREDICT_MEAN, .threads = 2 };
static const PredictSettings nearest = { .method = PREDICT_TREE, .threads = 2 };

/* n samples in pairs of twins: x is a number in random order, y = x + 10, twins differ by 0.001. */
static PredictSamples *
twins_new (uint64_t n)
{
  PredictSamples *samples = predict_samples_new (n, 1, TRUE);
  BaseRandom random = base_random_stream (5, 0);

  for (uint64_t i = 0; i < n; i++) {
    samples->x[i] = (float) (i % 2 == 0 ? 100 * base_random_unit (&random)
                                        : (double) samples->x[i - 1] + 0.001);
    samples->y[i] = (double) samples->x[i] + 10;
  }
  return samples;
}

static uint32_t *
groups_new (uint64_t n, uint32_t size)
{
  uint32_t *group = g_new (uint32_t, n);

  for (uint64_t i = 0; i < n; i++)
    group[i] = (uint32_t) i / size;
  return group;
}

static PredictEvaluation
evaluate (const PredictSamples *samples, uint32_t group_size, const PredictSettings *settings,
          const PredictTrial *trial)
{
  uint32_t n_groups = (uint32_t) samples->n_samples / group_size;
  g_autofree uint32_t *group = groups_new (samples->n_samples, group_size);
  g_autoptr (GError) error = NULL;
  PredictEvaluation evaluation;

  predict_evaluate (samples, group, n_groups, settings, trial, &evaluation, NULL, NULL, &error);
  g_assert_no_error (error);
  return evaluation;
}

/* -- spread ---------------------------------------------------------------- */

/* numpy.quantile ([4, 1, 3, 2], [.25, .5, .75]) is 1.75, 2.5, 3.25. */
static void
test_spread (void)
{
  double four[] = { 4, 1, 3, 2 }, one[] = { 7 }, unknown[] = { 1, NAN, 2 };
  PredictSpread spread = predict_spread (four, 4);

  g_assert_cmpfloat (spread.lower_quartile, ==, 1.75);
  g_assert_cmpfloat (spread.median, ==, 2.5);
  g_assert_cmpfloat (spread.upper_quartile, ==, 3.25);
  g_assert_cmpfloat (spread.mean, ==, 2.5);
  g_assert_cmpfloat (spread.sd, ==, sqrt (5.0 / 3));
  g_assert_cmpfloat (spread.min, ==, 1);
  g_assert_cmpfloat (spread.max, ==, 4);
  spread = predict_spread (one, 1);
  g_assert_true (spread.median == 7 && spread.lower_quartile == 7 && spread.upper_quartile == 7);
  g_assert_true (isnan (spread.sd));
  spread = predict_spread (unknown, 3);
  g_assert_true (isnan (spread.median) && isnan (spread.min) && isnan (spread.mean));
}

/* -- folds and splits ------------------------------------------------------ */

/* Leaving out one at a time: the mean of the others is (sum - y) / (n - 1), and a fold of one has
 * an error but no order. */
static void
test_leave_one_out (void)
{
  const PredictTrial trial = { .repeats = 1, .folds = 10, .seed = 1 };
  g_autoptr (PredictSamples) samples = twins_new (10);
  g_auto (PredictEvaluation) evaluation = evaluate (samples, 1, &mean, &trial);
  double sum = 0, errors = 0;

  for (guint i = 0; i < 10; i++)
    sum += samples->y[i];
  for (guint i = 0; i < 10; i++) {
    g_assert_cmpfloat_with_epsilon (evaluation.predicted[i], (sum - samples->y[i]) / 9, 1e-12);
    g_assert_cmpfloat (evaluation.deviation[i], ==, 0);
    errors += fabs (evaluation.predicted[i] - samples->y[i]);
  }
  g_assert_cmpuint (evaluation.n_tests, ==, 10);
  g_assert_cmpuint (evaluation.test_samples, ==, 1);
  g_assert_cmpfloat_with_epsilon (evaluation.scores[PREDICT_RMSE].mean, errors / 10, 1e-12);
  g_assert_true (isnan (evaluation.scores[PREDICT_RCC].median));
}

/* The nearest of a sample is its twin, unless that is on the same side. */
static void
test_groups_prevent_leaks (void)
{
  const PredictTrial trial = { .repeats = 1, .folds = 5, .seed = 3 };
  g_autoptr (PredictSamples) samples = twins_new (60);
  g_auto (PredictEvaluation) apart = evaluate (samples, 1, &nearest, &trial);
  g_auto (PredictEvaluation) together = evaluate (samples, 2, &nearest, &trial);
  guint n_leaks = 0;

  for (guint i = 0; i < 60; i++) {
    g_assert_cmpfloat (together.deviation[i], >, 0.01);
    g_assert_cmpfloat_with_epsilon (fabs (together.predicted[i] - samples->y[i]),
                                    together.deviation[i], 1e-4);
    n_leaks += apart.deviation[i] < 0.01;
  }
  g_assert_cmpuint (n_leaks, >, 30);
  g_assert_cmpuint (together.test_samples, ==, 12);
  g_assert_cmpfloat (apart.scores[PREDICT_RMSE].median, <,
                     together.scores[PREDICT_RMSE].median / 2);
}

/* A constant prediction orders nothing: RCC is a half whatever the split.  A third of 30 groups is
 * 10, of two samples each. */
static void
test_splits (void)
{
  const PredictTrial trial = { .repeats = 40, .test_share = 1.0 / 3, .seed = 9 };
  g_autoptr (PredictSamples) samples = twins_new (60);
  g_auto (PredictEvaluation) blind = evaluate (samples, 2, &mean, &trial);
  g_auto (PredictEvaluation) seeing = evaluate (samples, 2, &nearest, &trial);

  g_assert_cmpuint (blind.n_tests, ==, 40);
  g_assert_cmpuint (blind.test_samples, ==, 20);
  g_assert_null (blind.predicted);
  g_assert_cmpfloat (blind.scores[PREDICT_RCC].min, ==, 0.5);
  g_assert_cmpfloat (blind.scores[PREDICT_RCC].max, ==, 0.5);
  g_assert_cmpfloat (blind.mispredicted.median, ==, 20 * 19 / 4.0);
  g_assert_cmpfloat (blind.scores[PREDICT_R2].max, <=, 0);
  g_assert_cmpfloat (seeing.scores[PREDICT_R2].lower_quartile, >, 0.9);
  g_assert_cmpfloat (seeing.scores[PREDICT_RCC].sd, >, 0);
}

/* Each of the deals is another. */
static void
test_folds_are_dealt_anew (void)
{
  const PredictTrial once = { .repeats = 1, .folds = 5, .seed = 2 };
  const PredictTrial thrice = { .repeats = 3, .folds = 5, .seed = 2 };
  g_autoptr (PredictSamples) samples = twins_new (60);
  g_auto (PredictEvaluation) one = evaluate (samples, 1, &nearest, &once);
  g_auto (PredictEvaluation) three = evaluate (samples, 1, &nearest, &thrice);

  g_assert_cmpuint (three.n_tests, ==, 15);
  g_assert_cmpmem (one.predicted, 60 * sizeof (double), three.predicted, 60 * sizeof (double));
  g_assert_cmpfloat (one.scores[PREDICT_RMSE].mean, !=, three.scores[PREDICT_RMSE].mean);
}

/* The mean of logarithms 0 and 2 predicts e of whatever is e^y. */
static void
test_log_target (void)
{
  const PredictTrial trial = { .repeats = 1, .folds = 2, .seed = 1, .log_target = TRUE };
  g_autoptr (PredictSamples) samples = predict_samples_new (4, 1, TRUE);
  g_auto (PredictEvaluation) evaluation = { 0 };

  memset (samples->x, 0, 4 * sizeof *samples->x);
  for (guint i = 0; i < 4; i++)
    samples->y[i] = i % 2 * 2;
  evaluation = evaluate (samples, 2, &mean, &trial);
  g_assert_cmpfloat (evaluation.predicted[3], ==, 1);
  g_assert_cmpfloat_with_epsilon (evaluation.scores[PREDICT_LOG_RMSE].mean, 1, 1e-12);
  g_assert_cmpfloat_with_epsilon (evaluation.scores[PREDICT_RMSE].mean,
                                  sqrt ((pow (G_E - 1, 2) + pow (G_E - exp (2), 2)) / 2), 1e-12);
}

static void
test_threads_change_nothing (void)
{
  const PredictTrial trial = { .repeats = 4, .folds = 5, .seed = 8 };
  g_autoptr (PredictSamples) samples = twins_new (60);
  PredictSettings alone = nearest, many = nearest;
  g_auto (PredictEvaluation) one = { 0 };
  g_auto (PredictEvaluation) seven = { 0 };

  alone.threads = 1;
  many.threads = 7;
  one = evaluate (samples, 2, &alone, &trial);
  seven = evaluate (samples, 2, &many, &trial);
  g_assert_cmpmem (one.scores, sizeof one.scores, seven.scores, sizeof seven.scores);
  g_assert_cmpmem (one.predicted, 60 * sizeof (double), seven.predicted, 60 * sizeof (double));
}

static void
test_progress (void)
{
  const PredictTrial trial = { .repeats = 30, .test_share = 0.5, .seed = 8 };
  g_autoptr (PredictSamples) samples = twins_new (60);
  g_autofree uint32_t *group = groups_new (60, 1);
  g_auto (PredictEvaluation) evaluation = { 0 };
  double last = 0;

  g_assert_true (predict_evaluate (samples, group, 60, &nearest, &trial, &evaluation,
                                   testing_note_share, &last, NULL));
  g_assert_cmpfloat (last, ==, 1);
}

/* -- refusals -------------------------------------------------------------- */

static void
test_refusals (void)
{
  static const struct {
    PredictTrial trial;
    uint32_t n_groups;
    int code;
    const char *message;
  } cases[] = {
    { { .repeats = 1, .folds = 5 }, 4, PREDICT_ERROR_TABLE, "4 groups of samples are too few" },
    { { .repeats = 1, .test_share = 0.5 }, 1, PREDICT_ERROR_TABLE, "at least 2" },
    { { .repeats = 0, .folds = 5 }, 6, PREDICT_ERROR_OPTION, "repetition" },
    { { .repeats = 1, .folds = 1 }, 6, PREDICT_ERROR_OPTION, "2 folds" },
    { { .repeats = 1, .test_share = 1 }, 6, PREDICT_ERROR_OPTION, "below 1" },
    { { .repeats = 1, .test_share = NAN }, 6, PREDICT_ERROR_OPTION, "below 1" },
  };
  g_autoptr (PredictSamples) samples = twins_new (12);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree uint32_t *group = groups_new (12, 12 / cases[i].n_groups);
    GError *error = NULL;
    PredictEvaluation evaluation;

    g_test_message ("%s", cases[i].message);
    g_assert_false (predict_evaluate (samples, group, cases[i].n_groups, &mean, &cases[i].trial,
                                      &evaluation, NULL, NULL, &error));
    g_assert_error (error, PREDICT_ERROR, cases[i].code);
    testing_take_error (&error, PREDICT_ERROR, cases[i].message);
  }
}

/* The error is that of the first split, whichever thread finds one first. */
static void
test_first_error (void)
{
  const PredictTrial trial = { .repeats = 30, .test_share = 0.5, .seed = 4 };
  PredictSettings failing = { .method = PREDICT_LINEAR, .threads = 1 };
  g_autoptr (PredictSamples) samples = twins_new (12);
  g_autofree uint32_t *group = groups_new (12, 1);
  g_autoptr (GError) alone = NULL;
  PredictEvaluation evaluation;

  g_assert_false (
      predict_evaluate (samples, group, 12, &failing, &trial, &evaluation, NULL, NULL, &alone));
  for (guint repeat = 0; repeat < 20; repeat++) {
    g_autoptr (GError) error = NULL;

    failing.threads = 4;
    g_assert_false (
        predict_evaluate (samples, group, 12, &failing, &trial, &evaluation, NULL, NULL, &error));
    g_assert_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC);
    g_assert_cmpstr (error->message, ==, alone->message);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/evaluate/spread", test_spread);
  g_test_add_func ("/predictors/evaluate/leave-one-out", test_leave_one_out);
  g_test_add_func ("/predictors/evaluate/groups-prevent-leaks", test_groups_prevent_leaks);
  g_test_add_func ("/predictors/evaluate/splits", test_splits);
  g_test_add_func ("/predictors/evaluate/folds-are-dealt-anew", test_folds_are_dealt_anew);
  g_test_add_func ("/predictors/evaluate/log-target", test_log_target);
  g_test_add_func ("/predictors/evaluate/threads-change-nothing", test_threads_change_nothing);
  g_test_add_func ("/predictors/evaluate/progress", test_progress);
  g_test_add_func ("/predictors/evaluate/refusals", test_refusals);
  g_test_add_func ("/predictors/evaluate/first-error", test_first_error);
  return g_test_run ();
}
