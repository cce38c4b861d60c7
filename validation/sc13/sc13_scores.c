/* sc13_scores.c - how well each set of features predicts the times of mappings.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/scoring/feature_sets.h"
#include "validation/sc13/sc13.h"

#include <math.h>
#include <string.h>

const Sc13Protocol sc13_protocols[SC13_N_PROTOCOLS] = { { "paper", 1, 10 }, { "ours", 50, 100 } };

/* How often a forest is grown anew where no samples are drawn. */
#define SEEDS 10

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

static guint
feature_index (const char *name)
{
  for (guint i = 0; i < SIM_N_FEATURES; i++)
    if (strcmp (sim_feature_name (i), name) == 0)
      return i;
  return SIM_N_FEATURES;
}

static bool
is_known (const GPtrArray *rows, guint feature)
{
  for (guint i = 0; i < rows->len && feature < SIM_N_FEATURES; i++)
    if (!isfinite (((const StudyRow *) g_ptr_array_index (rows, i))->features[feature]))
      return false;
  return feature < SIM_N_FEATURES;
}

PredictSamples *
sc13_features (const Sc13Samples *samples, Sc13Source source, const char *const *features,
               gboolean all)
{
  const GPtrArray *rows = samples->rows[source], *observed = samples->rows[SC13_SAME];
  guint columns[SIM_N_FEATURES], n = 0;
  PredictSamples *made;

  for (; rows != NULL && *features != NULL; features++) {
    guint feature = feature_index (*features);

    if (is_known (rows, feature))
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

/* What of a set is done from one source. */
typedef gboolean (*ScoreSet) (Sc13Book *book, const Sc13Samples *from, const Sc13Samples *to,
                              Sc13Source source, const char *name, const char *const *features,
                              GError **error);

static gboolean
for_each_set (ScoreSet score, Sc13Book *book, const Sc13Samples *from, const Sc13Samples *to,
              GError **error)
{
  for (Sc13Source source = 0; source < SC13_N_SOURCES; source++) {
    for (guint i = 0; i < SIM_N_FEATURES; i++) {
      const char *const one[] = { sim_feature_name (i), NULL };

      if (!score (book, from, to, source, *one, one, error))
        return FALSE;
    }
    for (const PredictFeatureSet *set = predict_feature_sets; set->name != NULL; set++)
      if (!score (book, from, to, source, set->name, set->features, error))
        return FALSE;
  }
  return TRUE;
}

static void
tell_spread (Sc13Book *book, const char *series, const char *point, const PredictSpread *spread,
             bool quartiles, const char *unit)
{
  g_autofree char *lower = g_strconcat (series, "_q1", NULL);
  g_autofree char *upper = g_strconcat (series, "_q3", NULL);

  sc13_tell (book, series, point, spread->median, unit);
  if (!quartiles)
    return;
  sc13_tell (book, lower, point, spread->lower_quartile, unit);
  sc13_tell (book, upper, point, spread->upper_quartile, unit);
}

static void
tell_scores (Sc13Book *book, const char *kind, const char *name, Sc13Source source,
             const Sc13Protocol *protocol, const char *point, const PredictSpread *rcc,
             const PredictSpread *r2, const PredictSpread *mispredicted)
{
  g_autofree char *stem =
      g_strdup_printf ("%s/%s/%s/%s", kind, name, sc13_source_names[source], protocol->name);
  g_autofree char *of_rcc = g_strconcat (stem, "/rcc", NULL);
  g_autofree char *of_r2 = g_strconcat (stem, "/r2", NULL);
  g_autofree char *of_pairs = g_strconcat (stem, "/mispredicted", NULL);
  bool quartiles = protocol->repeats > 1;

  tell_spread (book, of_rcc, point, rcc, quartiles, "");
  tell_spread (book, of_r2, point, r2, quartiles, "");
  tell_spread (book, of_pairs, point, mispredicted, quartiles, "pairs");
}

static gboolean
score_set (Sc13Book *book, const Sc13Samples *from, const Sc13Samples *to, Sc13Source source,
           const char *name, const char *const *features, GError **error)
{
  g_autoptr (PredictSamples) samples =
      sc13_features (from, source, features, strcmp (name, "all") == 0);

  (void) to;
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
                 &evaluation.scores[PREDICT_RCC], &evaluation.scores[PREDICT_R2],
                 &evaluation.mispredicted);
  }
  return TRUE;
}

gboolean
sc13_score (Sc13Book *book, const Sc13Samples *samples, GError **error)
{
  return samples->n_groups < SC13_LEAST_GROUPS ||
         for_each_set (score_set, book, samples, NULL, error);
}

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
    PredictSpread spreads[3];

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
    spreads[0] = predict_spread (rcc, n);
    spreads[1] = predict_spread (r2, n);
    spreads[2] = predict_spread (mispredicted, n);
    tell_scores (book, "transfer", to->name, source, &sc13_protocols[i], name, &spreads[0],
                 &spreads[1], &spreads[2]);
  }
  return TRUE;
}

gboolean
sc13_transfer (Sc13Book *book, const Sc13Samples *from, const Sc13Samples *to, GError **error)
{
  return for_each_set (transfer_set, book, from, to, error);
}
