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

static void
tell_indexed (Sc13Book *book, const char *series, guint i, double value, const char *unit)
{
  g_autofree char *point = g_strdup_printf ("%u", i);

  sc13_tell (book, series, point, value, unit);
}

/* Times in ascending order and their spread.  least and most: of single replicas, which say how
 * sure the ratio of worst to best is. */
static void
draw_times (Sc13Book *book, const Sc13Samples *samples)
{
  guint n = samples->rows[SC13_SAME]->len, n_draws = samples->n_draws, n_distinct = 0;
  g_autofree double *times = g_new (double, n), *ratios = g_new (double, n_draws);
  g_autofree char *curve = g_strdup_printf ("time/%s", samples->name);
  g_autofree char *summary = g_strdup_printf ("variation/%s", samples->name);
  g_autofree char *of_noise = g_strdup_printf ("noise/%s", samples->name);
  PredictNoise noise = predict_noise (samples->draws, n, n_draws);
  PredictSpread spread, ratio;

  for (guint i = 0; i < n; i++)
    times[i] = row_of (samples, SC13_SAME, i)->time_s;
  spread = predict_spread (times, n);
  for (guint i = 0; i < n; i++) {
    tell_indexed (book, curve, i, times[i], "s");
    n_distinct += i == 0 || times[i] > times[i - 1];
  }
  sc13_tell (book, summary, "mappings", n, "");
  sc13_tell (book, summary, "distinct", n_distinct, "");
  sc13_tell (book, summary, "best_s", spread.min, "s");
  sc13_tell (book, summary, "worst_to_best", spread.max / spread.min, "");
  sc13_tell (book, summary, "q3_to_q1", spread.upper_quartile / spread.lower_quartile, "");
  for (guint k = 0; k < n_draws; k++) {
    for (guint i = 0; i < n; i++)
      times[i] = samples->draws[i * n_draws + k];
    spread = predict_spread (times, n);
    ratios[k] = spread.max / spread.min;
  }
  ratio = predict_spread (ratios, n_draws);
  sc13_tell (book, summary, "least", ratio.min, "");
  sc13_tell (book, summary, "most", ratio.max, "");
  sc13_tell (book, of_noise, "replicas", n_draws, "");
  if (!isnan (noise.noise_rcc)) {
    sc13_tell (book, of_noise, "halves_rcc", noise.halves_rcc, "");
    sc13_tell (book, of_noise, "noise_rcc", noise.noise_rcc, "");
  }
}

/* Times over the features of figure 1, in the order of the samples. */
static void
draw_features (Sc13Book *book, const Sc13Samples *samples)
{
  for (guint feature = 0; feature < SIM_N_FEATURES; feature++) {
    const char *name = sim_feature_name (feature);
    g_autofree char *x = g_strdup_printf ("x/%s/%s", samples->name, name);
    g_autofree char *y = g_strdup_printf ("y/%s/%s", samples->name, name);

    for (guint i = 0; g_strv_contains (drawn_features, name) && i < samples->rows[SC13_SAME]->len;
         i++) {
      tell_indexed (book, x, i, row_of (samples, SC13_SAME, i)->features[feature],
                    sim_feature_unit (feature));
      tell_indexed (book, y, i, row_of (samples, SC13_SAME, i)->time_s, "s");
    }
  }
}

/* The mean cost of a mapping by each source, all replicas together. */
static void
tell_cost (Sc13Book *book, const Sc13Samples *samples)
{
  g_autofree char *cost = g_strdup_printf ("cost/%s", samples->name);

  for (Sc13Source source = 0; source < SC13_N_SOURCES; source++) {
    double sum = 0;

    if (samples->rows[source] == NULL)
      continue;
    for (guint i = 0; i < samples->rows[source]->len; i++)
      sum += row_of (samples, source, i)->wall_s;
    sc13_tell (book, cost, sc13_source_names[source], sum / samples->rows[source]->len, "s");
  }
}

/* How the times of cheaper runs agree with those of the case: "coarse/CASE", and how the case's own
 * agree with those of exact runs: "exact/CASE". */
static void
compare_times (Sc13Book *book, const Sc13Samples *samples, const char *kind,
               const GPtrArray *others)
{
  g_autofree char *series = g_strdup_printf ("%s/%s", kind, samples->name);
  g_autofree double *one = NULL, *other = NULL;
  bool is_exact = others == samples->exact;
  guint n = 0;
  PredictScores scores;

  if (others == NULL)
    return;
  one = g_new (double, others->len);
  other = g_new (double, others->len);
  for (guint i = 0; i < others->len; i++) {
    const StudyRow *row = g_ptr_array_index (others, i);

    if (row == NULL)
      continue;
    one[n] = row->time_s;
    other[n++] = row_of (samples, SC13_SAME, i)->time_s;
  }
  scores = is_exact ? predict_score (one, other, n) : predict_score (other, one, n);
  sc13_tell (book, series, "mappings", n, "");
  sc13_tell (book, series, "rcc", scores.rcc, "");
  sc13_tell (book, series, "mape", scores.mape, "");
}

/* --- Figure 3 --- */

#define TREE_DEPTH 3

typedef struct {
  Sc13Book *book;
  const char *name; /* of the case */
  const PredictForest *forest;
  guint n_leaves;
} Trees;

/* The region of a node and of what is below it: low < x <= high for both features.  Of the first tree
 * all nodes are told too, in preorder. */
static void
tell_node (Trees *trees, guint tree, uint32_t at, guint depth, const double low[2],
           const double high[2])
{
  uint64_t first = trees->forest->first[tree];
  const PredictNode *node = &trees->forest->nodes[first + at];
  double value = trees->forest->values[first + at];
  static const char *const ends[] = { "x_from", "x_to", "y_from", "y_to" };

  if (tree == 0) {
    g_autofree char *series = g_strdup_printf ("tree/%s/%u", trees->name, at);

    sc13_tell (trees->book, series, "depth", depth, "");
    sc13_tell (trees->book, series, "feature", node->feature, "");
    sc13_tell (trees->book, series, "cut", (double) node->cut, "");
    sc13_tell (trees->book, series, "value", value, "s");
  }
  if (node->feature < 0) {
    g_autofree char *series = g_strdup_printf ("leaf/%s/%u", trees->name, trees->n_leaves++);

    for (guint end = 0; end < G_N_ELEMENTS (ends); end++)
      sc13_tell (trees->book, series, ends[end], end % 2 ? high[end / 2] : low[end / 2], "");
    sc13_tell (trees->book, series, "value", value, "s");
    return;
  }
  for (guint side = 0; side < 2; side++) {
    double from[2] = { low[0], low[1] }, to[2] = { high[0], high[1] };

    (side == 0 ? to : from)[node->feature] = (double) node->cut;
    tell_node (trees, tree, side == 0 ? at + 1 : node->right, depth + 1, from, to);
  }
}

/* A tree on max_bytes and avg_bytes, and the regions of its leaves and of those of the other nine. */
static void
draw_trees (Sc13Book *book, const Sc13Samples *samples)
{
  static const char *const features[] = { "max_bytes", "avg_bytes", NULL };
  g_autoptr (PredictSamples) all = sc13_features (samples, SC13_SAME, features, FALSE);
  PredictSettings settings = predict_settings_default (PREDICT_EXTRA_TREES);
  g_autoptr (PredictForest) forest = NULL;
  double low[2], high[2];
  Trees trees;

  if (all == NULL)
    return;
  for (guint axis = 0; axis < 2; axis++) {
    const float *x = all->x + axis * all->n_samples;

    low[axis] = high[axis] = (double) x[0];
    for (uint64_t i = 0; i < all->n_samples; i++) {
      low[axis] = MIN (low[axis], (double) x[i]);
      high[axis] = MAX (high[axis], (double) x[i]);
    }
  }
  settings.trees = sc13_protocols[SC13_PAPER].trees;
  settings.max_depth = TREE_DEPTH;
  forest = predict_forest_fit (all, &settings, NULL, NULL, NULL);
  trees = (Trees){ book, samples->name, forest, 0 };
  for (guint tree = 0; tree < forest->n_trees; tree++)
    tell_node (&trees, tree, 0, 0, low, high);
}

/* --- Figures 9 and 14 --- */

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
  draw_features (book, samples);
  tell_cost (book, samples);
  for (Sc13Source source = SC13_SHRUNK; source < SC13_LOAD; source++)
    compare_times (book, samples, sc13_source_names[source], samples->rows[source]);
  compare_times (book, samples, "exact", samples->exact);
  draw_trees (book, samples);
  for (guint i = 0; i < G_N_ELEMENTS (drawn_sets); i++)
    if (!draw_predictions (book, samples, drawn_sets[i], error))
      return FALSE;
  return TRUE;
}
