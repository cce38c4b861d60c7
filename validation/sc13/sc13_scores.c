/* sc13_scores.c - scores of the sets of features as predictors of the times of mappings.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/scoring/feature_sets.h"
#include "validation/sc13/sc13.h"

#include <math.h>
#include <string.h>

const Sc13Protocol sc13_protocols[SC13_N_PROTOCOLS] = { { "paper", 1, 10 }, { "ours", 50, 100 } };

#define SEEDS 10 /* forests of a transfer, which draws no samples */

void
sc13_tell (Sc13Book *book, const char *series, const char *point, double value, const char *unit)
{
  g_hash_table_insert (book->numbers, g_strconcat (series, ",", point, NULL),
                       g_memdup2 (&value, sizeof value));
  validation_detail (book->details, series, point, (double) NAN, value, unit);
}

double
sc13_told (const Sc13Book *book, const char *series, const char *point)
{
  g_autofree char *key = g_strconcat (series, ",", point, NULL);
  const double *value = g_hash_table_lookup (book->numbers, key);

  return value == NULL ? (double) NAN : *value;
}

PredictSamples *
sc13_features (const Sc13Samples *samples, Sc13Source source, const char *const *features,
               gboolean all)
{
  const GPtrArray *rows = samples->rows[source], *observed = samples->rows[SC13_SAME];
  guint columns[SIM_N_FEATURES], n = 0;
  PredictSamples *made;

  for (; rows != NULL && *features != NULL; features++) {
    guint feature = 0;
    bool is_known;

    while (feature < SIM_N_FEATURES && strcmp (sim_feature_name (feature), *features) != 0)
      feature++;
    is_known = feature < SIM_N_FEATURES;
    for (guint i = 0; i < rows->len && is_known; i++)
      is_known = isfinite (((const StudyRow *) g_ptr_array_index (rows, i))->features[feature]);
    if (is_known)
      columns[n++] = feature;
    else if (!all)
      return NULL;
  }
  if (n == 0)
    return NULL;
  made = predict_samples_new (rows->len, n, TRUE);
  for (guint i = 0; i < rows->len; i++) {
    const StudyRow *row = g_ptr_array_index (rows, i), *seen = g_ptr_array_index (observed, i);

    for (guint column = 0; column < n; column++)
      made->x[(size_t) column * rows->len + i] = (float) row->features[columns[column]];
    made->y[i] = seen->time_s;
  }
  return made;
}

enum { RCC, R2, MISPREDICTED, N_SCORES };

static void
tell_scores (Sc13Book *book, const char *kind, const char *name, Sc13Source source,
             const Sc13Protocol *protocol, const char *point, const PredictSpread spreads[N_SCORES])
{
  static const char *const names[N_SCORES] = { "rcc", "r2", "mispredicted" };

  for (guint i = 0; i < N_SCORES; i++) {
    g_autofree char *series = g_strdup_printf ("%s/%s/%s/%s/%s", kind, name,
                                               sc13_source_names[source], protocol->name, names[i]);
    g_autofree char *lower = g_strconcat (series, "_q1", NULL);
    g_autofree char *upper = g_strconcat (series, "_q3", NULL);
    const char *unit = i == MISPREDICTED ? "pairs" : "";

    sc13_tell (book, series, point, spreads[i].median, unit);
    if (protocol->repeats == 1)
      continue;
    sc13_tell (book, lower, point, spreads[i].lower_quartile, unit);
    sc13_tell (book, upper, point, spreads[i].upper_quartile, unit);
  }
}

/* Scores of one set on samples that are held out. */
static gboolean
score_set (Sc13Book *book, const Sc13Samples *from, Sc13Source source, const char *name,
           const char *const *features, GError **error)
{
  g_autoptr (PredictSamples) samples =
      sc13_features (from, source, features, strcmp (name, "all") == 0);

  for (guint i = 0; samples != NULL && i < SC13_N_PROTOCOLS; i++) {
    PredictSettings settings = predict_settings_default (PREDICT_EXTRA_TREES);
    const PredictTrial trial = { .repeats = sc13_protocols[i].repeats,
                                 .test_share = 1.0 / 3,
                                 .seed = 1 };
    g_auto (PredictEvaluation) evaluation = { 0 };

    settings.trees = sc13_protocols[i].trees;
    if (!predict_evaluate (samples, from->group, from->n_groups, &settings, &trial, &evaluation,
                           NULL, NULL, error))
      return FALSE;
    tell_scores (book, "score", from->name, source, &sc13_protocols[i], name,
                 (const PredictSpread[N_SCORES]){ evaluation.scores[PREDICT_RCC],
                                                  evaluation.scores[PREDICT_R2],
                                                  evaluation.mispredicted });
  }
  return TRUE;
}

/* Scores of one set, learned from some samples, on others. */
static gboolean
transfer_set (Sc13Book *book, const Sc13Samples *from, const Sc13Samples *to, Sc13Source source,
              const char *name, const char *const *features, GError **error)
{
  gboolean all = strcmp (name, "all") == 0;
  g_autoptr (PredictSamples) seen = sc13_features (from, source, features, all);
  g_autoptr (PredictSamples) unseen = sc13_features (to, source, features, all);
  g_autofree double *predicted = NULL;

  if (seen == NULL || unseen == NULL || seen->n_features != unseen->n_features)
    return TRUE;
  predicted = g_new (double, unseen->n_samples);
  for (guint i = 0; i < SC13_N_PROTOCOLS; i++) {
    guint n = sc13_protocols[i].repeats == 1 ? 1 : SEEDS;
    PredictSettings settings = predict_settings_default (PREDICT_EXTRA_TREES);
    double rcc[SEEDS], r2[SEEDS], mispredicted[SEEDS];

    settings.trees = sc13_protocols[i].trees;
    for (guint seed = 0; seed < n; seed++) {
      g_autoptr (PredictFitted) fitted = NULL;
      PredictScores scores;

      settings.seed = seed + 1;
      if ((fitted = predict_fit (seen, &settings, NULL, NULL, NULL, error)) == NULL)
        return FALSE;
      predict_fitted_predict (fitted, unseen, 0, predicted, NULL);
      scores = predict_score (unseen->y, predicted, unseen->n_samples);
      rcc[seed] = scores.rcc;
      r2[seed] = scores.r2;
      mispredicted[seed] = scores.mispredicted;
    }
    tell_scores (book, "transfer", to->name, source, &sc13_protocols[i], name,
                 (const PredictSpread[N_SCORES]){ predict_spread (rcc, n), predict_spread (r2, n),
                                                  predict_spread (mispredicted, n) });
  }
  return TRUE;
}

/* Each feature alone and each named set, from every source; to NULL: scores of held-out samples. */
static gboolean
score_all (Sc13Book *book, const Sc13Samples *from, const Sc13Samples *to, GError **error)
{
  for (Sc13Source source = 0; source < SC13_N_SOURCES; source++) {
    guint n_sets = 0;

    while (predict_feature_sets[n_sets].name != NULL)
      n_sets++;
    for (guint i = 0; i < SIM_N_FEATURES + n_sets; i++) {
      const char *const one[] = { i < SIM_N_FEATURES ? sim_feature_name (i) : NULL, NULL };
      const PredictFeatureSet *set =
          i < SIM_N_FEATURES ? NULL : &predict_feature_sets[i - SIM_N_FEATURES];
      const char *name = set != NULL ? set->name : *one;
      const char *const *features = set != NULL ? set->features : one;

      if (!(to == NULL ? score_set (book, from, source, name, features, error)
                       : transfer_set (book, from, to, source, name, features, error)))
        return FALSE;
    }
  }
  return TRUE;
}

gboolean
sc13_score (Sc13Book *book, const Sc13Samples *samples, GError **error)
{
  return samples->n_groups < SC13_LEAST_GROUPS || score_all (book, samples, NULL, error);
}

gboolean
sc13_transfer (Sc13Book *book, const Sc13Samples *from, const Sc13Samples *to, GError **error)
{
  return score_all (book, from, to, error);
}
