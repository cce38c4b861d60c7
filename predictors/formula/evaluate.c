/* evaluate.c - see evaluate.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/formula/evaluate.h"

#include "predictors/forest/work_threads.h"
#include "predictors/predict_error.h"
#include "predictors/model/holdout.h"
#include "predictors/table/samples.h"

typedef struct {
  const PredictSamples *samples;
  const uint32_t *group;
  uint32_t n_groups;
  const PredictSettings *settings;
  const PredictTrial *trial;
  PredictScores *scores;         /* [tests] */
  GError **errors;               /* [tests] */
  double *predicted, *deviation; /* [n_samples], of folds */
} Evaluation;

static gboolean
has_folds (const PredictTrial *trial)
{
  return trial->test_share == 0;
}

static gboolean
check_trial (const PredictTrial *trial, uint32_t n_groups, GError **error)
{
  guint n_needed = has_folds (trial) ? trial->folds : 2;

  if (trial->repeats == 0 || !(trial->test_share >= 0 && trial->test_share < 1) || n_needed < 2) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
                 "a trial needs at least 1 repetition, and 2 folds or a test share below 1");
    return FALSE;
  }
  if (n_groups >= n_needed)
    return TRUE;
  g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE,
               "%u groups of samples are too few to predict some from the others: at least %u are "
               "needed",
               n_groups, n_needed);
  return FALSE;
}

/* A test draws its own samples, so that they do not depend on who makes it. */
static void
choose_tested (const Evaluation *evaluation, uint64_t number, bool *is_test)
{
  const PredictTrial *trial = evaluation->trial;
  uint64_t n = evaluation->samples->n_samples;
  guint n_folds = has_folds (trial) ? trial->folds : 1;
  BaseRandom random = base_random_stream (trial->seed, number / n_folds);

  if (has_folds (trial)) {
    g_autofree uint32_t *fold = g_new (uint32_t, n);

    predict_split_deal (&random, evaluation->group, n, evaluation->n_groups, n_folds, fold);
    for (uint64_t i = 0; i < n; i++)
      is_test[i] = fold[i] == number % n_folds;
  } else
    predict_split_draw (&random, evaluation->group, n, evaluation->n_groups, trial->test_share,
                        is_test);
}

static void
make_test (void *data, guint number)
{
  const Evaluation *evaluation = data;
  const PredictTrial *trial = evaluation->trial;
  gboolean kept = has_folds (trial) && number < trial->folds;
  g_autofree bool *is_test = g_new (bool, evaluation->samples->n_samples);

  choose_tested (evaluation, number, is_test);
  predict_holdout (evaluation->samples, is_test, evaluation->settings, trial->log_target,
                   kept ? evaluation->predicted : NULL, kept ? evaluation->deviation : NULL,
                   &evaluation->scores[number], &evaluation->errors[number]);
}

static void
summarise (const PredictScores *scores, guint n_tests, PredictEvaluation *evaluation)
{
  g_autofree double *mispredicted = g_new (double, n_tests);

  evaluation->n_tests = n_tests;
  evaluation->test_samples = scores[0].n;
  predict_spread_scores (scores, n_tests, evaluation->scores);
  for (guint i = 0; i < n_tests; i++)
    mispredicted[i] = scores[i].mispredicted;
  evaluation->mispredicted = predict_spread (mispredicted, n_tests);
}

gboolean
predict_evaluate (const PredictSamples *samples, const uint32_t *group, uint32_t n_groups,
                  const PredictSettings *settings, const PredictTrial *trial,
                  PredictEvaluation *evaluation, PredictProgress progress, void *progress_data,
                  GError **error)
{
  const PredictWorkShare share = { progress, progress_data, 0, 1 };
  guint n_tests = has_folds (trial) ? trial->repeats * trial->folds : trial->repeats;
  g_autofree PredictScores *scores = g_new0 (PredictScores, n_tests);
  g_autofree GError **errors = g_new0 (GError *, n_tests);
  g_autofree double *predicted = NULL, *deviation = NULL;
  Evaluation all = { samples, group, n_groups, settings, trial, scores, errors };

  if (!check_trial (trial, n_groups, error))
    return FALSE;
  if (has_folds (trial)) {
    all.predicted = predicted = g_new (double, samples->n_samples);
    all.deviation = deviation = g_new (double, samples->n_samples);
  }
  predict_work (make_test, &all, n_tests, predict_threads (settings), &share);
  if (!predict_first_error (errors, n_tests, error))
    return FALSE;
  summarise (scores, n_tests, evaluation);
  evaluation->predicted = g_steal_pointer (&predicted);
  evaluation->deviation = g_steal_pointer (&deviation);
  return TRUE;
}

void
predict_evaluation_clear (PredictEvaluation *evaluation)
{
  g_clear_pointer (&evaluation->predicted, g_free);
  g_clear_pointer (&evaluation->deviation, g_free);
}
