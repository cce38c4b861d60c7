/* sc13_draw.c - the points of the figures of the SC13 study.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/scoring/feature_sets.h"
#include "predictors/table/samples.h"
#include "validation/sc13/sc13.h"

#include <math.h>

/* Figures 1 and 9, 14: times over these features, and predictions of these sets. */
static const char *const drawn_features[] = { "max_dilation", "avg_bytes", "max_bytes", NULL };
static const char *const drawn_sets[] = { "H5", "H6" };

static const StudyRow *
row_of (const Sc13Samples *samples, Sc13Source source, guint i)
{
  return g_ptr_array_index (samples->rows[source], i);
}

static int
by_number (gconstpointer a, gconstpointer b)
{
  double left = *(const double *) a, right = *(const double *) b;

  return (left > right) - (left < right);
}

static void
tell_indexed (Sc13Book *book, const char *series, guint i, double value, const char *unit)
{
  g_autofree char *point = g_strdup_printf ("%u", i);

  sc13_tell (book, series, point, value, unit);
}

/* Times in ascending order and their spread, times over features, the mean cost of a run of each
 * source, and the agreement of coarse runs with exact ones. */
static void
draw_times (Sc13Book *book, const Sc13Samples *samples)
{
  guint n = samples->rows[SC13_SAME]->len, n_distinct = 0;
  g_autofree double *times = g_new (double, n), *exact = g_new (double, n);
  g_autofree double *coarse = g_new (double, n);
  g_autofree char *curve = g_strdup_printf ("time/%s", samples->name);
  g_autofree char *summary = g_strdup_printf ("variation/%s", samples->name);
  g_autofree char *cost = g_strdup_printf ("cost/%s", samples->name);
  PredictSpread spread;

  for (guint i = 0; i < n; i++)
    times[i] = exact[i] = row_of (samples, SC13_SAME, i)->time_s;
  spread = predict_spread (times, n);
  qsort (times, n, sizeof times[0], by_number);
  for (guint i = 0; i < n; i++) {
    tell_indexed (book, curve, i, times[i], "s");
    n_distinct += i == 0 || times[i] > times[i - 1];
  }
  sc13_tell (book, summary, "mappings", n, "");
  sc13_tell (book, summary, "distinct", n_distinct, "");
  sc13_tell (book, summary, "best_s", spread.min, "s");
  sc13_tell (book, summary, "worst_to_best", spread.max / spread.min, "");
  sc13_tell (book, summary, "q3_to_q1", spread.upper_quartile / spread.lower_quartile, "");

  for (guint feature = 0; feature < SIM_N_FEATURES; feature++) {
    const char *name = sim_feature_name (feature);
    g_autofree char *x = g_strdup_printf ("x/%s/%s", samples->name, name);
    g_autofree char *y = g_strdup_printf ("y/%s/%s", samples->name, name);

    for (guint i = 0; g_strv_contains (drawn_features, name) && i < n; i++) {
      tell_indexed (book, x, i, row_of (samples, SC13_SAME, i)->features[feature],
                    sim_feature_unit (feature));
      tell_indexed (book, y, i, exact[i], "s");
    }
  }

  for (Sc13Source source = 0; source < SC13_N_SOURCES; source++) {
    double sum = 0;

    if (samples->rows[source] == NULL)
      continue;
    for (guint i = 0; i < samples->rows[source]->len; i++)
      sum += row_of (samples, source, i)->wall_s;
    sc13_tell (book, cost, sc13_source_names[source], sum / samples->rows[source]->len, "s");
  }

  if (samples->rows[SC13_COARSE] != NULL) {
    g_autofree char *series = g_strdup_printf ("coarse/%s", samples->name);
    PredictScores scores;

    for (guint i = 0; i < n; i++)
      coarse[i] = row_of (samples, SC13_COARSE, i)->time_s;
    scores = predict_score (exact, coarse, n);
    sc13_tell (book, series, "rcc", scores.rcc, "");
    sc13_tell (book, series, "mape", scores.mape, "");
  }
}

/* Of the first split that scores use, ten trees: what was observed, and what each set predicts. */
static gboolean
draw_predictions (Sc13Book *book, const Sc13Samples *samples, const char *set, GError **error)
{
  g_autoptr (PredictSamples) all =
      sc13_features (samples, SC13_SAME, predict_feature_set (set)->features, FALSE);
  PredictSettings settings = predict_settings_default (PREDICT_EXTRA_TREES);
  BaseRandom random = base_random_stream (1, 0);
  g_autoptr (PredictSamples) seen = NULL, unseen = NULL;
  g_autoptr (PredictFitted) fitted = NULL;
  g_autofree bool *is_test = NULL;
  g_autofree double *predicted = NULL;
  g_autofree char *x = g_strdup_printf ("observed/%s/%s", samples->name, set);
  g_autofree char *y = g_strdup_printf ("predicted/%s/%s", samples->name, set);

  if (all == NULL || samples->n_groups < 2)
    return TRUE;
  is_test = g_new (bool, all->n_samples);
  predict_split_draw (&random, samples->group, all->n_samples, samples->n_groups, 1.0 / 3, is_test);
  unseen = predict_samples_select (all, is_test, true);
  seen = predict_samples_select (all, is_test, false);
  settings.trees = sc13_protocols[SC13_PAPER].trees;
  if ((fitted = predict_fit (seen, &settings, NULL, NULL, NULL, error)) == NULL)
    return FALSE;
  predicted = g_new (double, unseen->n_samples);
  predict_fitted_predict (fitted, unseen, 0, predicted, NULL);
  for (guint i = 0; i < unseen->n_samples; i++) {
    tell_indexed (book, x, i, unseen->y[i], "s");
    tell_indexed (book, y, i, predicted[i], "s");
  }
  return TRUE;
}

gboolean
sc13_draw (Sc13Book *book, const Sc13Samples *samples, GError **error)
{
  draw_times (book, samples);
  for (guint i = 0; i < G_N_ELEMENTS (drawn_sets); i++)
    if (!draw_predictions (book, samples, drawn_sets[i], error))
      return FALSE;
  return TRUE;
}
