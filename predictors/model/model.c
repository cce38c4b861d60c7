/* model.c - learning a model from a table, and applying it to another.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/model/model.h"

#include "predictors/predict_error.h"
#include "base/random.h"
#include "predictors/table/samples.h"

#include <math.h>
#include <string.h>

#define PERMUTATION_FOLDS 3u
/* Coverage sorts the samples eleven times: of more it is not counted. */
#define COVERAGE_SAMPLES 1000000u
/* Streams of the seed that the methods leave alone. */
#define STREAM_CALIBRATION (UINT64_C (1) << 62)
#define STREAM_PERMUTATION (UINT64_C (1) << 63)

/* The input of one training, and its progress. */
typedef struct {
  const PredictTable *table;
  const PredictRecipe *recipe;
  PredictSamples *samples;
  PredictSettings settings; /* of the fit: of PREDICT_AUTO those that it chose */
  uint32_t *group;          /* [n_samples] */
  uint32_t n_groups;
  PredictProgress progress;
  void *progress_data;
  double fits_done, fits, fits_all; /* the models fitted in earlier steps, in this one, in all */
} Learning;

static void
report_share (void *data, double share)
{
  const Learning *learning = data;

  if (learning->progress != NULL)
    learning->progress (learning->progress_data,
                        (learning->fits_done + share * learning->fits) / learning->fits_all);
}

/* A step that fits so many models begins. */
static void
begin_step (Learning *learning, guint fits)
{
  learning->fits_done += learning->fits;
  learning->fits = fits;
}

static guint
fits_of (const PredictTrial *trial)
{
  return trial->test_share > 0 ? trial->repeats : trial->repeats * trial->folds;
}

/* Of the samples that are out of the bag of at least one tree. */
static double
r2_of (const PredictSamples *samples, const double *predicted)
{
  double sum = 0, errors = 0, squares = 0, n = 0;

  for (uint64_t i = 0; i < samples->n_samples; i++)
    if (!isnan (predicted[i])) {
      sum += samples->y[i];
      errors += (samples->y[i] - predicted[i]) * (samples->y[i] - predicted[i]);
      n++;
    }
  for (uint64_t i = 0; i < samples->n_samples; i++)
    if (!isnan (predicted[i]))
      squares += (samples->y[i] - sum / n) * (samples->y[i] - sum / n);
  return squares > 0 ? 1 - errors / squares : (double) NAN;
}

/* By the prediction, the columns of texts, the group and the sets. */
static GArray *
cover (const Learning *learning, const double *predicted, const double *deviation)
{
  const PredictTable *table = learning->table;
  const PredictRecipe *recipe = learning->recipe;
  g_autoptr (GPtrArray) columns = g_ptr_array_new ();
  GArray *coverage;

  if (table->n_rows > COVERAGE_SAMPLES)
    return g_array_new (FALSE, FALSE, sizeof (PredictCoverage));
  for (guint i = 0; i < table->n_columns; i++) {
    const PredictColumn *column = &table->columns[i];

    if (column->texts != NULL || g_strcmp0 (column->name, recipe->group) == 0 ||
        (recipe->sets != NULL && g_strv_contains (recipe->sets, column->name)))
      g_ptr_array_add (columns, column->name);
  }
  g_ptr_array_add (columns, NULL);
  coverage = predict_coverage (&(PredictCovered){ .table = table,
                                                  .observed = learning->samples->y,
                                                  .predicted = predicted,
                                                  .deviation = deviation,
                                                  .group = learning->group,
                                                  .n_groups = learning->n_groups,
                                                  .level = PREDICT_COVERAGE_LEVEL,
                                                  .seed = recipe->settings.seed },
                               (const char *const *) columns->pdata);
  for (guint i = 0; recipe->log_target && i < coverage->len; i++) {
    PredictCoverage *one = &g_array_index (coverage, PredictCoverage, i);

    one->from = exp (one->from);
    one->to = exp (one->to);
  }
  return coverage;
}

static void
calibrate (const Learning *learning, PredictModel *model, const double *predicted,
           const double *deviation)
{
  model->interval =
      predict_interval_calibrate (learning->samples->y, predicted, deviation, learning->group,
                                  learning->samples->n_samples, learning->n_groups);
  g_array_unref (model->coverage);
  model->coverage = cover (learning, predicted, deviation);
}

/* Samples out of bag have near copies in the bag when samples come in groups. */
static gboolean
uses_out_of_bag (const Learning *learning)
{
  const PredictSettings *settings = &learning->settings;

  return settings->bootstrap && settings->method <= PREDICT_TREE &&
         learning->n_groups == learning->samples->n_samples;
}

static gboolean
fit (Learning *learning, PredictModel *model, GError **error)
{
  const PredictRecipe *recipe = learning->recipe;
  const PredictSamples *samples = learning->samples;
  guint n_folds = MIN (recipe->calibration_folds, learning->n_groups);
  PredictForestReport report;

  begin_step (learning, 1);
  model->fitted = predict_fit (samples, &recipe->settings, &report, report_share, learning, error);
  if (model->fitted == NULL)
    return FALSE;
  learning->settings = *predict_fitted_settings (model->fitted);
  learning->settings.threads = recipe->settings.threads;
  model->importances = g_steal_pointer (&report.importances);
  if (report.out_of_bag != NULL)
    model->out_of_bag_r2 = r2_of (samples, report.out_of_bag);
  if (report.out_of_bag != NULL && uses_out_of_bag (learning))
    calibrate (learning, model, report.out_of_bag, report.out_of_bag_sd);
  predict_forest_report_clear (&report);
  if (model->interval.all.scores == NULL && n_folds >= 2) {
    /* Intervals from samples that models of the other folds predicted. */
    g_auto (PredictEvaluation) evaluation = { 0 };
    PredictTrial trial = { .repeats = 1,
                           .folds = n_folds,
                           .seed = recipe->settings.seed ^ STREAM_CALIBRATION,
                           .log_target = recipe->log_target };

    begin_step (learning, n_folds);
    if (!predict_evaluate (samples, learning->group, learning->n_groups, &learning->settings,
                           &trial, &evaluation, report_share, learning, error))
      return FALSE;
    calibrate (learning, model, evaluation.predicted, evaluation.deviation);
  }
  return TRUE;
}

/* On samples that were not learned from: a forest reproduces even the noise of those that were. */
static gboolean
permute (Learning *learning, PredictModel *model, GError **error)
{
  const PredictRecipe *recipe = learning->recipe;
  uint64_t n = learning->samples->n_samples;
  guint n_features = learning->samples->n_features;
  guint n_folds = MIN (PERMUTATION_FOLDS, learning->n_groups);
  g_autofree uint32_t *fold = g_new (uint32_t, n);
  g_autofree bool *is_test = g_new (bool, n);
  g_autofree double *of_fold = g_new (double, n_features);
  BaseRandom random = base_random_stream (recipe->settings.seed, STREAM_PERMUTATION);

  if (recipe->permutation_repeats == 0 || n_folds < 2)
    return TRUE;
  begin_step (learning, n_folds);
  model->permutation = g_new0 (double, n_features);
  predict_split_deal (&random, learning->group, n, learning->n_groups, n_folds, fold);
  for (guint k = 0; k < n_folds; k++) {
    g_autoptr (PredictSamples) training = NULL;
    g_autoptr (PredictSamples) test = NULL;
    g_autoptr (PredictFitted) fitted = NULL;

    for (uint64_t i = 0; i < n; i++)
      is_test[i] = fold[i] == k;
    training = predict_samples_select (learning->samples, is_test, false);
    test = predict_samples_select (learning->samples, is_test, true);
    fitted = predict_fit (training, &learning->settings, NULL, NULL, NULL, error);
    if (fitted == NULL)
      return FALSE;
    predict_fitted_permutation_importances (fitted, test, recipe->permutation_repeats,
                                            recipe->settings.seed ^ (STREAM_PERMUTATION + k),
                                            recipe->settings.threads, of_fold);
    for (guint feature = 0; feature < n_features; feature++)
      model->permutation[feature] += of_fold[feature];
    report_share (learning, (k + 1.0) / n_folds);
  }
  for (guint feature = 0; feature < n_features; feature++)
    model->permutation[feature] /= n_folds;
  return TRUE;
}

/* Features and target, of the sets that `sets` (may be NULL) tells apart in units of their means. */
static PredictSamples *
take_samples (const PredictTable *table, const char *const *features, const bool *may_miss,
              const char *target, gboolean log_target, const char *const *sets, GError **error)
{
  g_autoptr (PredictSamples) samples =
      predict_samples_with_gaps (table, features, may_miss, target, log_target, error);
  uint32_t n_sets;
  g_autofree uint32_t *set =
      samples == NULL || sets == NULL ? NULL : predict_table_sets (table, sets, &n_sets, error);

  if (samples == NULL || (sets != NULL && set == NULL))
    return NULL;
  if (set != NULL)
    predict_samples_normalize (samples, set, n_sets);
  return g_steal_pointer (&samples);
}

PredictSamples *
predict_recipe_samples (const PredictTable *table, const PredictRecipe *recipe, GError **error)
{
  const char *const *features = recipe->features;
  guint n_features = g_strv_length ((char **) features);
  bool has_gaps = recipe->sets == NULL && (recipe->settings.method == PREDICT_BOOSTING ||
                                           recipe->settings.method == PREDICT_AUTO);
  g_autofree bool *may_miss = g_new (bool, n_features);
  g_autoptr (PredictSamples) samples = NULL;

  for (guint feature = 0; feature < n_features; feature++)
    may_miss[feature] = has_gaps;
  samples = take_samples (table, features, may_miss, recipe->target, recipe->log_target,
                          recipe->sets, error);
  if (samples == NULL)
    return NULL;
  if (recipe->group != NULL) {
    samples->group = predict_table_groups (table, recipe->group, &samples->n_groups, error);
    if (samples->group == NULL)
      return NULL;
  }
  samples->monotone = g_new0 (int8_t, n_features);
  for (guint feature = 0; feature < n_features; feature++) {
    if (recipe->increasing != NULL && g_strv_contains (recipe->increasing, features[feature]))
      samples->monotone[feature] = 1;
    if (recipe->decreasing != NULL && g_strv_contains (recipe->decreasing, features[feature]))
      samples->monotone[feature] = -1;
  }
  return g_steal_pointer (&samples);
}

/* All that a model keeps about its training samples. */
static void
note_origin (PredictModel *model, const Learning *learning)
{
  const PredictRecipe *recipe = learning->recipe;
  const PredictSamples *samples = learning->samples;
  guint n_features = samples->n_features;
  g_autoptr (GPtrArray) hashed = g_ptr_array_new ();

  model->version = g_strdup (PACKAGE_VERSION);
  model->features = g_strdupv ((char **) recipe->features);
  model->units = g_new0 (char *, n_features + 1);
  for (guint feature = 0; feature < n_features; feature++) {
    const PredictColumn *column = predict_table_find (learning->table, recipe->features[feature]);

    model->units[feature] = g_strdup (column->unit != NULL ? column->unit : "");
  }
  model->sets = g_strdupv ((char **) recipe->sets);
  model->target = g_strdup (recipe->target);
  model->log_target = recipe->log_target;
  model->source = g_utf8_make_valid (learning->table->source, -1);

  /* Of the features and the target, and of groups and sets when there are any. */
  for (guint feature = 0; feature < n_features; feature++)
    g_ptr_array_add (hashed, (char *) recipe->features[feature]);
  g_ptr_array_add (hashed, (char *) recipe->target);
  if (recipe->group != NULL)
    g_ptr_array_add (hashed, (char *) recipe->group);
  for (guint at = 0; recipe->sets != NULL && recipe->sets[at] != NULL; at++)
    g_ptr_array_add (hashed, (char *) recipe->sets[at]);
  g_ptr_array_add (hashed, NULL);
  model->hash = predict_table_hash (learning->table, (const char *const *) hashed->pdata);
  model->n_samples = samples->n_samples;
  model->out_of_bag_r2 = NAN;

  model->smallest = g_new (double, n_features);
  model->largest = g_new (double, n_features);
  for (guint feature = 0; feature < n_features; feature++) {
    const float *column = samples->x + feature * samples->n_samples;
    float smallest = column[0], largest = column[0];

    for (uint64_t i = 1; i < samples->n_samples; i++) {
      smallest = fminf (smallest, column[i]); /* a missing one does not count */
      largest = fmaxf (largest, column[i]);
    }
    model->smallest[feature] = (double) smallest;
    model->largest[feature] = (double) largest;
  }
}

PredictModel *
predict_model_train (const PredictTable *table, const PredictRecipe *recipe,
                     PredictProgress progress, void *progress_data, GError **error)
{
  PredictTrial trial = recipe->trial;
  g_autoptr (PredictSamples) samples = NULL;
  g_autofree uint32_t *group = NULL;
  g_autoptr (PredictModel) model = NULL;
  Learning learning = { .table = table,
                        .recipe = recipe,
                        .progress = progress,
                        .progress_data = progress_data,
                        .fits_all = 1 };

  for (guint i = 0; recipe->features[i] != NULL; i++) {
    if (strcmp (recipe->features[i], recipe->target) == 0) {
      g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
                   "\"%s\" is the target and cannot be a feature as well", recipe->target);
      return NULL;
    }
    if (g_strv_contains (recipe->features + i + 1, recipe->features[i])) {
      g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION, "the feature \"%s\" is named twice",
                   recipe->features[i]);
      return NULL;
    }
  }
  if (recipe->sets != NULL && recipe->log_target) {
    g_set_error_literal (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
                         "logarithms of the target and sets in units of their means exclude each "
                         "other");
    return NULL;
  }
  if ((recipe->increasing != NULL || recipe->decreasing != NULL) &&
      (recipe->settings.method != PREDICT_BOOSTING || recipe->settings.quantile > 0)) {
    g_set_error_literal (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
                         "only boosting of means can be held to rise or fall with a feature");
    return NULL;
  }
  if (!predict_settings_check (&recipe->settings, error))
    return NULL;
  samples = predict_recipe_samples (table, recipe, error);
  if (samples == NULL)
    return NULL;
  group = predict_table_groups (table, recipe->group, &learning.n_groups, error);
  if (group == NULL)
    return NULL;
  learning.samples = samples;
  learning.settings = recipe->settings;
  learning.group = group;
  learning.fits_all +=
      fits_of (&trial) +
      (uses_out_of_bag (&learning) ? 0 : MIN (recipe->calibration_folds, learning.n_groups)) +
      (recipe->permutation_repeats > 0 ? PERMUTATION_FOLDS : 0);
  model = g_new0 (PredictModel, 1);
  model->coverage = g_array_new (FALSE, FALSE, sizeof (PredictCoverage));
  note_origin (model, &learning);
  if (trial.repeats > 0) {
    trial.log_target = recipe->log_target;
    begin_step (&learning, fits_of (&trial));
    model->evaluated =
        predict_evaluate (samples, group, learning.n_groups, &recipe->settings, &trial,
                          &model->evaluation, report_share, &learning, error);
    if (!model->evaluated)
      return NULL;
  }
  return fit (&learning, model, error) && permute (&learning, model, error)
             ? g_steal_pointer (&model)
             : NULL;
}

void
predict_model_free (PredictModel *model)
{
  if (model == NULL)
    return;
  g_free (model->version);
  g_strfreev (model->features);
  g_strfreev (model->units);
  g_free (model->target);
  g_strfreev (model->sets);
  g_free (model->source);
  g_free (model->hash);
  g_free (model->smallest);
  g_free (model->largest);
  g_free (model->importances);
  g_free (model->permutation);
  predict_evaluation_clear (&model->evaluation);
  predict_interval_clear (&model->interval);
  g_clear_pointer (&model->coverage, g_array_unref);
  predict_fitted_free (model->fitted);
  g_free (model);
}

/* --- Applying a model --- */

static void
exponentiate (double *values, uint64_t n)
{
  for (uint64_t i = 0; values != NULL && i < n; i++)
    values[i] = exp (values[i]);
}

/* A model predicts a number or fails: far outside of its samples a line may overflow, and so may the
 * exponential of a logarithm. */
static gboolean
check_predicted (const PredictModel *model, const PredictTable *table, const PredictAnswer *answer,
                 GError **error)
{
  for (uint64_t row = 0; row < table->n_rows; row++)
    if (!isfinite (answer->predicted[row]) ||
        (answer->lower != NULL && (isnan (answer->lower[row]) || isnan (answer->upper[row])))) {
      g_autofree char *place = predict_table_place (table, row);

      g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
                   "%s: the prediction of %s overflows: the row is too far from the training "
                   "samples",
                   place, model->target);
      return FALSE;
    }
  return TRUE;
}

/* The rows outside of the ranges of the training, and how far. */
static void
find_outside (const PredictModel *model, const PredictSamples *samples, PredictAnswer *answer)
{
  uint64_t n = samples->n_samples;

  answer->outside = g_new0 (double, n);
  answer->outside_of = g_new0 (uint64_t, samples->n_features);
  for (guint feature = 0; feature < samples->n_features; feature++) {
    double smallest = model->smallest[feature], largest = model->largest[feature];

    for (uint64_t i = 0; i < n; i++) {
      double value = (double) samples->x[feature * n + i];
      double beyond = fmax (smallest - value, value - largest);

      if (!(beyond > 0)) /* inside, or missing */
        continue;
      answer->outside_of[feature]++;
      answer->n_outside += answer->outside[i] == 0;
      answer->outside[i] = fmax (answer->outside[i], beyond / (largest - smallest));
    }
  }
}

gboolean
predict_model_apply (const PredictModel *model, const PredictTable *table, double level,
                     guint threads, PredictAnswer *answer, GError **error)
{
  g_autoptr (PredictSamples) samples = NULL;
  g_autofree double *deviation = NULL;
  guint n_features = g_strv_length (model->features);
  g_autofree bool *may_miss = g_new (bool, n_features);
  uint64_t n = table->n_rows;

  if (!(level >= 0 && level < 1)) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
                 "an interval covers a share between 0 and 1, not %g", level);
    return FALSE;
  }
  if (!predict_table_has_all (table, (const char *const *) model->features, error))
    return FALSE;
  /* Units that both the model and the table have must agree. */
  for (guint i = 0; model->features[i] != NULL; i++) {
    const char *unit = predict_table_find (table, model->features[i])->unit;

    if (unit != NULL && *unit != '\0' && *model->units[i] != '\0' &&
        strcmp (unit, model->units[i]) != 0) {
      g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE,
                   "%s: \"%s\" is in %s; the model was trained in %s", table->source,
                   model->features[i], unit, model->units[i]);
      return FALSE;
    }
  }
  for (guint feature = 0; feature < n_features; feature++)
    may_miss[feature] = model->sets == NULL && predict_fitted_may_miss (model->fitted, feature);
  samples = take_samples (table, (const char *const *) model->features, may_miss, NULL, FALSE,
                          (const char *const *) model->sets, error);
  if (samples == NULL)
    return FALSE;
  *answer = (PredictAnswer){ .predicted = g_new (double, n) };
  deviation = level > 0 ? g_new (double, n) : NULL;
  predict_fitted_predict (model->fitted, samples, threads, answer->predicted, deviation);
  if (level > 0) {
    answer->lower = g_new (double, n);
    answer->upper = g_new (double, n);
  }
  find_outside (model, samples, answer);
  for (uint64_t i = 0; level > 0 && i < n; i++) {
    double half = predict_interval_half_width (&model->interval, level, answer->predicted[i],
                                               deviation[i], answer->outside[i]);

    answer->lower[i] = answer->predicted[i] - half;
    answer->upper[i] = answer->predicted[i] + half;
  }
  if (model->log_target) { /* bounds of a logarithm are bounds of the value */
    exponentiate (answer->predicted, n);
    exponentiate (answer->lower, n);
    exponentiate (answer->upper, n);
  }
  if (!check_predicted (model, table, answer, error)) {
    predict_answer_clear (answer);
    return FALSE;
  }
  return TRUE;
}

void
predict_answer_clear (PredictAnswer *answer)
{
  g_free (answer->predicted);
  g_free (answer->lower);
  g_free (answer->upper);
  g_free (answer->outside);
  g_free (answer->outside_of);
  *answer = (PredictAnswer){ 0 };
}

double *
predict_model_observed (const PredictModel *model, const PredictTable *table,
                        const double *observed, GError **error)
{
  g_autofree double *relative = g_memdup2 (observed, table->n_rows * sizeof *observed);
  g_autofree uint32_t *set = NULL;
  g_autofree double *sums = NULL;
  g_autofree uint64_t *counts = NULL;
  uint32_t n_sets;

  if (model->sets == NULL)
    return g_steal_pointer (&relative);
  set = predict_table_sets (table, (const char *const *) model->sets, &n_sets, error);
  if (set == NULL)
    return NULL;
  sums = g_new0 (double, n_sets);
  counts = g_new0 (uint64_t, n_sets);
  for (uint64_t row = 0; row < table->n_rows; row++)
    if (isfinite (observed[row])) {
      sums[set[row]] += observed[row];
      counts[set[row]]++;
    }
  for (uint64_t row = 0; row < table->n_rows; row++)
    if (sums[set[row]] != 0)
      relative[row] /= sums[set[row]] / (double) counts[set[row]];
  return g_steal_pointer (&relative);
}
