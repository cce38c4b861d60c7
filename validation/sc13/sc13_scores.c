/* sc13_scores.c - scores of the sets of features as predictors of the times of mappings.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/forest/work_threads.h"
#include "predictors/scoring/feature_sets.h"
#include "predictors/table/samples.h"
#include "validation/sc13/sc13.h"

#include <math.h>
#include <string.h>

const Sc13Protocol sc13_protocols[SC13_N_PROTOCOLS] = { { "paper", 200, 10, false },
                                                        { "ours", 50, 100, true } };

/* --- The book --- */

void
sc13_book_init (Sc13Book *book, GString *details)
{
  *book = (Sc13Book){
    .numbers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
    .splits =
        g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_array_unref),
    .details = details,
  };
}

void
sc13_book_clear (Sc13Book *book)
{
  g_clear_pointer (&book->numbers, g_hash_table_unref);
  g_clear_pointer (&book->splits, g_hash_table_unref);
}

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

const GArray *
sc13_told_splits (const Sc13Book *book, const char *series, const char *point)
{
  g_autofree char *key = g_strconcat (series, ",", point, NULL);

  return g_hash_table_lookup (book->splits, key);
}

/* --- Samples --- */

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

/* --- Scores --- */

/* What is scored: samples that are held out of `from`, or all of `to` (NULL: the former). */
typedef struct {
  Sc13Book *book;
  const Sc13Samples *from, *to;
  gboolean normalized;
} Question;

static void
tell_splits (const Question *question, Sc13Source source, const Sc13Protocol *protocol,
             const char *score, const char *point, GArray *values)
{
  g_autofree char *series = g_strdup_printf (
      "%s/%s%s/%s/%s/%s", question->to == NULL ? "score" : "transfer",
      question->to == NULL ? question->from->name : question->to->name,
      question->normalized ? "_normalized" : "", sc13_source_names[source], protocol->name, score);
  bool is_regret = strcmp (score, "regret") == 0;
  g_autofree double *sorted = g_memdup2 (values->data, values->len * sizeof (double));
  const char *unit = strcmp (score, "mispredicted") == 0 ? "pairs" : "";
  PredictSpread spread = predict_spread (sorted, values->len);

  g_hash_table_insert (question->book->splits, g_strconcat (series, ",", point, NULL),
                       g_array_ref (values));
  sc13_tell (question->book, series, point, spread.median, unit);
  for (guint end = 0; end < 2; end++) {
    static const double shares[] = { 0.05, 0.95 };
    g_autofree char *name = g_strconcat (series,
                                         is_regret  ? "_p90"
                                         : end == 0 ? "_p5"
                                                    : "_p95",
                                         NULL);

    if (!is_regret || end == 0)
      sc13_tell (question->book, name, point,
                 isnan (spread.median)
                     ? (double) NAN
                     : predict_quantile (sorted, values->len, is_regret ? 0.9 : shares[end]),
                 unit);
  }
}

static void
tell_scores (const Question *question, Sc13Source source, const Sc13Protocol *protocol,
             const char *point, const PredictScores *scores, guint n)
{
  static const struct {
    const char *name;
    gsize offset;
  } told[] = { { "rcc", G_STRUCT_OFFSET (PredictScores, rcc) },
               { "rcc_apart", G_STRUCT_OFFSET (PredictScores, rcc_apart) },
               { "r2", G_STRUCT_OFFSET (PredictScores, r2) },
               { "mispredicted", G_STRUCT_OFFSET (PredictScores, mispredicted) },
               { "regret", G_STRUCT_OFFSET (PredictScores, regret) } };

  for (guint i = 0; i < G_N_ELEMENTS (told); i++) {
    g_autoptr (GArray) values = g_array_sized_new (FALSE, FALSE, sizeof (double), n);

    for (guint k = 0; k < n; k++)
      g_array_append_vals (values, (const char *) &scores[k] + told[i].offset, 1);
    tell_splits (question, source, protocol, told[i].name, point, values);
  }
}

/* A forest for each seed, learned from all of `seen` and applied to all of `unseen`. */
typedef struct {
  const PredictSamples *seen, *unseen;
  const PredictSettings *settings;
  PredictScores *scores; /* [seeds] */
  GError **errors;       /* [seeds] */
} Transfer;

static void
transfer_once (void *data, guint seed)
{
  Transfer *transfer = data;
  PredictSettings settings = *transfer->settings;
  g_autofree double *predicted = g_new (double, transfer->unseen->n_samples);
  g_autoptr (PredictFitted) fitted = NULL;

  settings.seed = seed + 1;
  settings.threads = 1;
  fitted = predict_fit (transfer->seen, &settings, NULL, NULL, NULL, &transfer->errors[seed]);
  if (fitted == NULL)
    return;
  predict_fitted_predict (fitted, transfer->unseen, 1, predicted, NULL);
  transfer->scores[seed] =
      predict_score (transfer->unseen->y, predicted, transfer->unseen->n_samples);
}

/* Samples are held out by mapping, or each by itself. */
static gboolean
hold_out (const Sc13Samples *from, const PredictSamples *samples, const PredictSettings *settings,
          const Sc13Protocol *protocol, PredictEvaluation *evaluation, GError **error)
{
  const PredictTrial trial = { .repeats = protocol->repeats, .test_share = 1.0 / 3, .seed = 1 };
  g_autofree uint32_t *alone = g_new (uint32_t, samples->n_samples);

  for (uint32_t i = 0; i < samples->n_samples; i++)
    alone[i] = i;
  return predict_evaluate (samples, protocol->by_mapping ? from->group : alone,
                           protocol->by_mapping ? from->n_groups : (uint32_t) samples->n_samples,
                           settings, &trial, evaluation, NULL, NULL, error);
}

static gboolean
score_set (const Question *question, Sc13Source source, const char *name,
           const char *const *features, GError **error)
{
  const Sc13Samples *from = question->from, *to = question->to;
  gboolean all = strcmp (name, "all") == 0;
  g_autoptr (PredictSamples) seen = sc13_features (from, source, features, all);
  g_autoptr (PredictSamples) unseen = to == NULL ? NULL : sc13_features (to, source, features, all);

  if (seen == NULL || (to != NULL && (unseen == NULL || seen->n_features != unseen->n_features)))
    return TRUE;
  if (question->normalized) {
    predict_samples_normalize (seen, from->set, from->n_sets);
    if (unseen != NULL)
      predict_samples_normalize (unseen, to->set, to->n_sets);
  }
  for (guint i = 0; i < SC13_N_PROTOCOLS; i++) {
    const Sc13Protocol *protocol = &sc13_protocols[i];
    PredictSettings settings = predict_settings_default (PREDICT_EXTRA_TREES);

    settings.trees = protocol->trees;
    if (unseen == NULL) {
      g_auto (PredictEvaluation) evaluation = { 0 };

      if (!hold_out (from, seen, &settings, protocol, &evaluation, error))
        return FALSE;
      tell_scores (question, source, protocol, name, evaluation.tests, evaluation.n_tests);
    } else {
      const PredictWorkShare stretch = { NULL, NULL, 0, 1 };
      g_autofree PredictScores *scores = g_new0 (PredictScores, protocol->repeats);
      g_autofree GError **errors = g_new0 (GError *, protocol->repeats);
      Transfer transfer = { seen, unseen, &settings, scores, errors };

      predict_work (transfer_once, &transfer, protocol->repeats, predict_threads (&settings),
                    &stretch);
      if (!predict_first_error (errors, protocol->repeats, error))
        return FALSE;
      tell_scores (question, source, protocol, name, scores, protocol->repeats);
    }
  }
  return TRUE;
}

/* Each feature alone and each named set, from every source. */
static gboolean
score_all (const Question *question, GError **error)
{
  guint n_sets = 0;

  while (predict_feature_sets[n_sets].name != NULL)
    n_sets++;
  for (Sc13Source source = 0; source < SC13_N_SOURCES; source++)
    for (guint i = 0; i < SIM_N_FEATURES + n_sets; i++) {
      const char *const one[] = { i < SIM_N_FEATURES ? sim_feature_name (i) : NULL, NULL };
      const PredictFeatureSet *set =
          i < SIM_N_FEATURES ? NULL : &predict_feature_sets[i - SIM_N_FEATURES];

      if (!score_set (question, source, set != NULL ? set->name : *one,
                      set != NULL ? set->features : one, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
sc13_score (Sc13Book *book, const Sc13Samples *samples, gboolean normalized, GError **error)
{
  const Question question = { book, samples, NULL, normalized };

  return samples->n_groups < SC13_LEAST_GROUPS || score_all (&question, error);
}

gboolean
sc13_transfer (Sc13Book *book, const Sc13Samples *from, const Sc13Samples *to, gboolean normalized,
               GError **error)
{
  const Question question = { book, from, to, normalized };

  return score_all (&question, error);
}
