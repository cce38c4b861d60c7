/* sc13_coverage.c - coverage of the intervals around predicted times.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/scoring/feature_sets.h"
#include "predictors/scoring/interval.h"
#include "predictors/table/samples.h"
#include "validation/sc13/sc13.h"

#include <math.h>

/* Of `train` and `predict --interval 0.9`: folds for the calibration, and the nominal share. */
#define FOLDS 10
#define LEVEL 0.9
/* Splits as those that are scored; a third of the mappings is held out of each. */
#define SPLITS 20

static const char *const covered_sets[] = { "H3", "H5" };

typedef struct {
  uint64_t n, n_within;
  GArray *width; /* (element-type double) half of each interval, as a share of the prediction */
} Coverage;

/* One split: intervals of the samples held out, calibrated as a model's are, by folds of the others. */
static gboolean
cover_split (const Sc13Samples *samples, const PredictSamples *all, guint split, Coverage *coverage,
             GError **error)
{
  PredictSettings settings = predict_settings_default (PREDICT_EXTRA_TREES);
  BaseRandom random = base_random_stream (1, split);
  g_autofree bool *is_test = g_new (bool, all->n_samples);
  g_autofree uint32_t *group = NULL;
  g_autoptr (PredictSamples) seen = NULL, unseen = NULL;
  g_autoptr (PredictFitted) fitted = NULL;
  g_autofree double *predicted = NULL, *deviation = NULL;
  g_auto (PredictEvaluation) evaluation = { 0 };
  PredictTrial folds = { .repeats = 1, .seed = 1 };
  PredictInterval interval = { 0 };
  uint32_t n_groups;

  settings.trees = sc13_protocols[SC13_OURS].trees;
  predict_split_draw (&random, samples->group, all->n_samples, samples->n_groups, 1.0 / 3, is_test);
  unseen = predict_samples_select (all, is_test, true);
  seen = predict_samples_select (all, is_test, false);
  group = predict_split_groups (samples->group, is_test, false, all->n_samples, samples->n_groups,
                                &n_groups);
  folds.folds = MIN (FOLDS, n_groups);
  if (!predict_evaluate (seen, group, n_groups, &settings, &folds, &evaluation, NULL, NULL,
                         error) ||
      (fitted = predict_fit (seen, &settings, NULL, NULL, NULL, error)) == NULL)
    return FALSE;
  interval = predict_interval_calibrate (seen->y, evaluation.predicted, evaluation.deviation, group,
                                         seen->n_samples, n_groups);
  predicted = g_new (double, unseen->n_samples);
  deviation = g_new (double, unseen->n_samples);
  predict_fitted_predict (fitted, unseen, 0, predicted, deviation);
  for (uint64_t i = 0; i < unseen->n_samples; i++) {
    double half = predict_interval_half_width (&interval, LEVEL, predicted[i], deviation[i], 0);
    double share = half / predicted[i];

    coverage->n++;
    coverage->n_within += fabs (unseen->y[i] - predicted[i]) <= half;
    g_array_append_val (coverage->width, share);
  }
  predict_interval_clear (&interval);
  return TRUE;
}

gboolean
sc13_cover (Sc13Book *book, const Sc13Samples *samples, GError **error)
{
  g_autofree char *series = g_strdup_printf ("interval/%s", samples->name);
  g_autofree char *of_width = g_strconcat (series, "/half_width", NULL);

  for (guint i = 0; samples->n_groups >= SC13_LEAST_GROUPS && i < G_N_ELEMENTS (covered_sets);
       i++) {
    const char *set = covered_sets[i];
    g_autoptr (PredictSamples) all =
        sc13_features (samples, SC13_SAME, predict_feature_set (set)->features, FALSE);
    g_autoptr (GArray) width = g_array_new (FALSE, FALSE, sizeof (double));
    Coverage coverage = { 0, 0, width };
    PredictSpread spread;

    if (all == NULL)
      continue;
    for (guint split = 0; split < SPLITS; split++)
      if (!cover_split (samples, all, split, &coverage, error))
        return FALSE;
    spread = predict_spread ((double *) (void *) width->data, width->len);
    /* An infinite interval: too few mappings were seen for this level. */
    if (!isfinite (spread.median))
      continue;
    sc13_tell (book, series, set, (double) coverage.n_within / (double) coverage.n, "");
    sc13_tell (book, of_width, set, spread.median, "");
  }
  return TRUE;
}
