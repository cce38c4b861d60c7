/* choice.c - the method with the least error on folds of the samples.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/model/choice.h"

#include "predictors/forest/work_threads.h"
#include "predictors/scoring/evaluate.h"

#include <math.h>

#define FOLDS 5u
/* Of few samples, how folds are dealt decides more than what is learned: they are dealt again. */
#define FEW_SAMPLES 200u
#define FEW_REPEATS 3u
/* The stream of the seed that deals the folds. */
#define STREAM_CHOICE (UINT64_C (3) << 61)

/* The root of the mean of the squared errors over the tests; a test of few samples counts as much as others. */
static double
error_of (const PredictEvaluation *evaluation)
{
  double sum = 0;

  for (guint i = 0; i < evaluation->n_tests; i++)
    sum += evaluation->tests[i].rmse * evaluation->tests[i].rmse;
  return sqrt (sum / evaluation->n_tests);
}

static void
report_share (void *share, double done)
{
  predict_work_report (share, done);
}

gboolean
predict_choose (const PredictSamples *samples, const PredictSettings *settings,
                PredictMethod *method, PredictChoice *choice, PredictProgress progress,
                void *progress_data, GError **error)
{
  static const PredictMethod methods[PREDICT_CHOICE_TRIALS] = { PREDICT_MEAN, PREDICT_LINEAR,
                                                                PREDICT_EXTRA_TREES, PREDICT_FOREST,
                                                                PREDICT_BOOSTING };
  uint32_t n = (uint32_t) samples->n_samples;
  uint32_t n_groups = samples->group != NULL ? samples->n_groups : n;
  g_autofree uint32_t *alone = samples->group == NULL ? g_new (uint32_t, n) : NULL;
  PredictTrial trial = { .repeats = n < FEW_SAMPLES ? FEW_REPEATS : 1,
                         .folds = MIN (FOLDS, n_groups),
                         .seed = settings->seed ^ STREAM_CHOICE };
  g_autoptr (GError) first_trouble = NULL;
  double least = INFINITY;

  *method = PREDICT_MEAN;
  *choice = (PredictChoice){ .n_folds = n_groups < 2 ? 0 : trial.folds };
  for (uint32_t i = 0; alone != NULL && i < n; i++)
    alone[i] = i;
  for (guint i = 0; i < PREDICT_CHOICE_TRIALS; i++) {
    PredictWorkShare share = { progress, progress_data, (double) i / PREDICT_CHOICE_TRIALS,
                               (i + 1.0) / PREDICT_CHOICE_TRIALS };
    PredictSettings own = predict_settings_default (methods[i]);
    g_auto (PredictEvaluation) evaluation = { 0 };
    g_autoptr (GError) trouble = NULL;

    own.seed = settings->seed;
    own.threads = settings->threads;
    choice->candidates[i] = (PredictChoiceTrial){ methods[i], NAN };
    if (choice->n_folds == 0)
      continue;
    if (!predict_evaluate (samples, alone != NULL ? alone : samples->group, n_groups, &own, &trial,
                           &evaluation, report_share, &share, &trouble)) {
      if (first_trouble == NULL)
        first_trouble = g_steal_pointer (&trouble);
      continue;
    }
    choice->candidates[i].error = error_of (&evaluation);
    if (choice->candidates[i].error < least) {
      least = choice->candidates[i].error;
      *method = methods[i];
    }
  }
  if (choice->n_folds > 0 && isinf (least) && first_trouble != NULL) {
    g_propagate_error (error, g_steal_pointer (&first_trouble));
    return FALSE;
  }
  return TRUE;
}
