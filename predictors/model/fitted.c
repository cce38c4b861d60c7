/* fitted.c - any method after it has learned: fitting, predicting, importances, model files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/model/fitted.h"

#include "base/error.h"
#include "base/json.h"
#include "base/random.h"
#include "predictors/boosting/boosting.h"
#include "predictors/model/linear.h"
#include "predictors/model/scale.h"
#include "predictors/model/svr.h"
#include "predictors/predict_error.h"

#include <math.h>
#include <string.h>

/* More than any table has.  Memory is allocated before a file is read to its end. */
#define MAX_FEATURES 1000000u

static const char *const use_names[] = { "used", "constant", "collinear", NULL };

/* One of forest, boosting, linear and svr by the method; a mean has none of them. */
struct PredictFitted {
  PredictSettings settings; /* threads: 0, since they change nothing that is kept */
  PredictChoice *choice;    /* of PREDICT_AUTO; else NULL */
  guint n_features;
  PredictForest *forest;
  PredictBoosting *boosting;
  PredictLinear *linear;
  PredictSvr *svr;
  double mean;
};

/* --- Fitting and predicting --- */

static gboolean
all_finite (const double *values, gsize n)
{
  gboolean finite = TRUE;

  for (gsize i = 0; i < n; i++)
    finite &= isfinite (values[i]) != 0;
  return finite;
}

/* Only a fit of finite numbers predicts, and can be read back from a file. */
static gboolean
is_finite (const PredictFitted *fitted)
{
  const PredictBoosting *boosting = fitted->boosting;
  const PredictForest *forest = boosting != NULL ? boosting->forest : fitted->forest;
  const PredictLinear *linear = fitted->linear;
  const PredictSvr *svr = fitted->svr;

  if (boosting != NULL && !isfinite (boosting->constant))
    return FALSE;
  if (forest != NULL)
    return all_finite (forest->values, forest->first[forest->n_trees]);
  if (linear != NULL)
    return isfinite (linear->constant) && all_finite (linear->means, linear->n_features) &&
           all_finite (linear->coefficients, linear->n_features);
  if (svr == NULL)
    return isfinite (fitted->mean) != 0;
  for (guint feature = 0; feature < svr->n_features; feature++)
    if (!isfinite (svr->scale[feature].mean) || !isfinite (svr->scale[feature].sd))
      return FALSE;
  return isfinite (svr->bias) && isfinite (svr->target.mean) && isfinite (svr->target.sd) &&
         all_finite (svr->coefficients, svr->n_vectors);
}

static gboolean
has_gaps (const PredictSamples *samples)
{
  gboolean gap = FALSE;

  for (gsize i = 0; i < samples->n_samples * samples->n_features; i++)
    gap |= isnan (samples->x[i]) != 0;
  return gap;
}

/* Chooses a method and fits that. */
static PredictFitted *
fit_chosen (const PredictSamples *samples, const PredictSettings *settings,
            PredictForestReport *report, PredictProgress progress, void *progress_data,
            GError **error)
{
  PredictFitted *fitted;
  PredictChoice choice;
  PredictMethod method;
  PredictSettings chosen;

  if (!predict_choose (samples, settings, &method, &choice, progress, progress_data, error))
    return NULL;
  chosen = predict_settings_default (method);
  chosen.seed = settings->seed;
  chosen.threads = settings->threads;
  fitted = predict_fit (samples, &chosen, report, NULL, NULL, error);
  if (fitted != NULL)
    fitted->choice = g_memdup2 (&choice, sizeof choice);
  return fitted;
}

PredictFitted *
predict_fit (const PredictSamples *samples, const PredictSettings *settings,
             PredictForestReport *report, PredictProgress progress, void *progress_data,
             GError **error)
{
  g_autoptr (PredictFitted) fitted = NULL;
  g_autofree double *importances = NULL;
  const char *lack = samples->n_samples == 0    ? "samples"
                     : samples->n_features == 0 ? "features"
                     : samples->y == NULL       ? "a target"
                                                : NULL;

  if (report != NULL)
    memset (report, 0, sizeof *report);
  if (!predict_settings_check (settings, error))
    return NULL;
  if (lack != NULL) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE, "nothing can be learned without %s",
                 lack);
    return NULL;
  }
  if (settings->method == PREDICT_AUTO)
    return fit_chosen (samples, settings, report, progress, progress_data, error);
  if (settings->method != PREDICT_BOOSTING && settings->method != PREDICT_MEAN &&
      has_gaps (samples)) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_TABLE,
                 "%s cannot learn from missing values; boosting can",
                 predict_method_names[settings->method]);
    return NULL;
  }
  fitted = g_new0 (PredictFitted, 1);
  fitted->settings = *settings;
  fitted->settings.threads = 0;
  fitted->n_features = samples->n_features;
  switch (settings->method) {
  case PREDICT_EXTRA_TREES:
  case PREDICT_FOREST:
  case PREDICT_TREE:
    fitted->forest = predict_forest_fit (samples, settings, report, progress, progress_data);
    break;
  case PREDICT_LINEAR:
    fitted->linear = predict_linear_fit (samples, settings->ridge, error);
    if (fitted->linear == NULL)
      return NULL;
    break;
  case PREDICT_SVR:
    fitted->svr = predict_svr_fit (samples, settings, error);
    if (fitted->svr == NULL)
      return NULL;
    break;
  case PREDICT_MEAN:
    fitted->mean = predict_scale_doubles (samples->y, samples->n_samples).mean;
    break;
  case PREDICT_BOOSTING:
    importances = g_new (double, samples->n_features);
    fitted->boosting =
        predict_boosting_fit (samples, settings, importances, progress, progress_data);
    if (report != NULL)
      report->importances = g_steal_pointer (&importances);
    break;
  case PREDICT_AUTO:
  case PREDICT_N_METHODS: g_assert_not_reached ();
  }
  if (is_finite (fitted))
    return g_steal_pointer (&fitted);
  if (report != NULL)
    predict_forest_report_clear (report);
  g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
               "%s: the fit overflows: the values of the target, or the settings, are too large",
               predict_method_names[settings->method]);
  return NULL;
}

void
predict_fitted_free (PredictFitted *fitted)
{
  if (fitted == NULL)
    return;
  predict_forest_free (fitted->forest);
  predict_boosting_free (fitted->boosting);
  predict_linear_free (fitted->linear);
  predict_svr_free (fitted->svr);
  g_free (fitted->choice);
  g_free (fitted);
}

guint
predict_fitted_n_features (const PredictFitted *fitted)
{
  return fitted->n_features;
}

const PredictSettings *
predict_fitted_settings (const PredictFitted *fitted)
{
  return &fitted->settings;
}

const PredictChoice *
predict_fitted_choice (const PredictFitted *fitted)
{
  return fitted->choice;
}

bool
predict_fitted_may_miss (const PredictFitted *fitted, guint feature)
{
  const PredictBoosting *boosting = fitted->boosting;

  for (guint k = 0; boosting != NULL && k < boosting->n_missing; k++)
    if (boosting->missing[k] == feature)
      return true;
  return fitted->settings.method == PREDICT_MEAN;
}

void
predict_fitted_predict (const PredictFitted *fitted, const PredictSamples *samples, guint threads,
                        double *predicted, double *deviation)
{
  if (fitted->forest != NULL) {
    predict_forest_predict (fitted->forest, samples, threads, predicted, deviation);
    return;
  }
  if (fitted->boosting != NULL)
    predict_boosting_predict (fitted->boosting, samples, threads, predicted);
  else if (fitted->linear != NULL)
    predict_linear_predict (fitted->linear, samples, predicted);
  else if (fitted->svr != NULL)
    predict_svr_predict (fitted->svr, samples, predicted);
  else
    for (uint64_t i = 0; i < samples->n_samples; i++)
      predicted[i] = fitted->mean;
  if (deviation != NULL && samples->n_samples > 0)
    memset (deviation, 0, samples->n_samples * sizeof *deviation);
}

/* --- Importances by permutation --- */

static double
mean_squared_error (const PredictFitted *fitted, const PredictSamples *samples, guint threads,
                    double *predicted)
{
  double sum = 0;

  predict_fitted_predict (fitted, samples, threads, predicted, NULL);
  for (uint64_t i = 0; i < samples->n_samples; i++)
    sum += (predicted[i] - samples->y[i]) * (predicted[i] - samples->y[i]);
  return sum / (double) samples->n_samples;
}

void
predict_fitted_permutation_importances (const PredictFitted *fitted, const PredictSamples *samples,
                                        guint repeats, uint64_t seed, guint threads,
                                        double *importances)
{
  uint64_t n = samples->n_samples;
  g_autoptr (PredictSamples) permuted = predict_samples_new (n, samples->n_features, TRUE);
  g_autofree double *predicted = g_new (double, n);
  double deviation = predict_scale_doubles (samples->y, n).sd, before;

  memcpy (permuted->x, samples->x, n * samples->n_features * sizeof *samples->x);
  memcpy (permuted->y, samples->y, n * sizeof *samples->y);
  before = mean_squared_error (fitted, samples, threads, predicted);
  for (guint feature = 0; feature < samples->n_features; feature++) {
    float *column = permuted->x + feature * n;
    double worse = 0;

    for (guint repeat = 0; repeat < repeats; repeat++) {
      BaseRandom random = base_random_stream (seed, (uint64_t) feature * repeats + repeat);

      /* Fisher and Yates. */
      for (uint64_t i = n; i > 1; i--) {
        uint64_t other = base_random_below (&random, i);
        float value = column[i - 1];

        column[i - 1] = column[other];
        column[other] = value;
      }
      worse += mean_squared_error (fitted, permuted, threads, predicted) - before;
    }
    memcpy (column, samples->x + feature * n, n * sizeof *column);
    importances[feature] = deviation > 0 ? worse / repeats / (deviation * deviation) : 0;
  }
}

/* --- Model files (doc/handbook/format-model.md) --- */

void
predict_fitted_write (const PredictFitted *fitted, JsonBuilder *builder)
{
  const PredictSettings *settings = &fitted->settings;
  const PredictLinear *linear = fitted->linear;
  const PredictSvr *svr = fitted->svr;

  json_builder_begin_object (builder);
  base_json_add_string (builder, "method", predict_method_names[settings->method]);
  base_json_add_integer (builder, "n_features", fitted->n_features);
  json_builder_set_member_name (builder, "settings");
  json_builder_begin_object (builder);
  base_json_add_integer (builder, "trees", settings->trees);
  base_json_add_integer (builder, "max_features", settings->max_features);
  base_json_add_integer (builder, "min_samples_split", settings->min_samples_split);
  base_json_add_integer (builder, "min_samples_leaf", settings->min_samples_leaf);
  base_json_add_integer (builder, "max_depth", settings->max_depth);
  json_builder_set_member_name (builder, "bootstrap");
  json_builder_add_boolean_value (builder, settings->bootstrap);
  base_json_add_number (builder, "ridge", settings->ridge);
  base_json_add_number (builder, "svr_c", settings->svr_c);
  base_json_add_number (builder, "svr_epsilon", settings->svr_epsilon);
  base_json_add_number (builder, "svr_gamma", settings->svr_gamma);
  base_json_add_integer (builder, "seed", (int64_t) settings->seed);
  if (settings->method == PREDICT_BOOSTING) {
    base_json_add_integer (builder, "max_leaf_nodes", settings->max_leaf_nodes);
    base_json_add_number (builder, "learning_rate", settings->learning_rate);
    base_json_add_number (builder, "l2", settings->l2);
    base_json_add_number (builder, "quantile", settings->quantile);
    base_json_add_string (builder, "early_stopping",
                          predict_stopping_names[settings->early_stopping]);
  }
  json_builder_end_object (builder);
  if (fitted->forest != NULL)
    predict_forest_write (fitted->forest, builder);
  else if (fitted->boosting != NULL)
    predict_boosting_write (fitted->boosting, builder);
  else if (linear != NULL) {
    json_builder_set_member_name (builder, "linear");
    json_builder_begin_object (builder);
    base_json_add_number (builder, "constant", linear->constant);
    base_json_add_numbers (builder, "means", linear->means, linear->n_features);
    base_json_add_numbers (builder, "coefficients", linear->coefficients, linear->n_features);
    json_builder_set_member_name (builder, "columns");
    json_builder_begin_array (builder);
    for (guint feature = 0; feature < linear->n_features; feature++)
      json_builder_add_string_value (builder, use_names[linear->use[feature]]);
    json_builder_end_array (builder);
    json_builder_end_object (builder);
  } else if (svr != NULL) {
    gsize n = svr->n_vectors, n_features = svr->n_features;
    g_autofree double *scale = g_new (double, 2 * n_features);

    for (gsize feature = 0; feature < n_features; feature++) {
      scale[feature] = svr->scale[feature].mean;
      scale[n_features + feature] = svr->scale[feature].sd;
    }
    json_builder_set_member_name (builder, "svr");
    json_builder_begin_object (builder);
    base_json_add_number (builder, "gamma", svr->gamma);
    base_json_add_number (builder, "bias", svr->bias);
    base_json_add_number (builder, "target_mean", svr->target.mean);
    base_json_add_number (builder, "target_sd", svr->target.sd);
    base_json_add_numbers (builder, "means", scale, n_features);
    base_json_add_numbers (builder, "sds", scale + n_features, n_features);
    base_json_add_packed (builder, "vectors", svr->vectors, n * n_features, sizeof *svr->vectors);
    base_json_add_packed (builder, "coefficients", svr->coefficients, n, sizeof *svr->coefficients);
    json_builder_end_object (builder);
  } else
    base_json_add_number (builder, "mean", fitted->mean);
  json_builder_end_object (builder);
}

static gboolean
read_count (JsonObject *object, const char *name, guint largest, guint *count, GError **error)
{
  int64_t value;

  if (!base_json_integer (object, name, 0, largest, &value, error))
    return FALSE;
  *count = (guint) value;
  return TRUE;
}

/* The index of a text among names [n]; n: none. */
static guint
name_index (const char *const *names, const char *text)
{
  guint i = 0;

  while (names[i] != NULL && strcmp (names[i], text) != 0)
    i++;
  return i;
}

static PredictLinear *
read_linear (JsonObject *object, guint n_features, GError **error)
{
  JsonObject *from = base_json_object (object, "linear", error);
  g_autoptr (PredictLinear) linear = predict_linear_new (n_features);
  JsonArray *columns;
  gboolean known;

  if (from == NULL || !base_json_number (from, "constant", &linear->constant, error) ||
      !base_json_numbers (from, "means", n_features, linear->means, error) ||
      !base_json_numbers (from, "coefficients", n_features, linear->coefficients, error) ||
      (columns = base_json_array (from, "columns", error)) == NULL)
    return NULL;
  known = json_array_get_length (columns) == n_features;
  for (guint feature = 0; known && feature < n_features; feature++) {
    JsonNode *node = json_array_get_element (columns, feature);
    const char *name = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_string (node) : NULL;
    guint use = name != NULL ? name_index (use_names, name) : G_N_ELEMENTS (use_names) - 1;

    known = use_names[use] != NULL;
    linear->use[feature] = (PredictColumnUse) use;
  }
  if (!known)
    base_json_fail ("columns", "one use for each column", error);
  return known ? g_steal_pointer (&linear) : NULL;
}

static PredictSvr *
read_svr (JsonObject *object, guint n_features, GError **error)
{
  JsonObject *from = base_json_object (object, "svr", error);
  g_autoptr (PredictSvr) svr = predict_svr_new (n_features, 0);
  g_autofree double *means = g_new (double, n_features), *sds = g_new (double, n_features);
  gsize n_values, n_vectors;

  if (from == NULL || !base_json_number (from, "gamma", &svr->gamma, error) ||
      !base_json_number (from, "bias", &svr->bias, error) ||
      !base_json_number (from, "target_mean", &svr->target.mean, error) ||
      !base_json_number (from, "target_sd", &svr->target.sd, error) ||
      !base_json_numbers (from, "means", n_features, means, error) ||
      !base_json_numbers (from, "sds", n_features, sds, error))
    return NULL;
  for (guint feature = 0; feature < n_features; feature++) {
    if (sds[feature] < 0) {
      base_json_fail ("sds", "an array of deviations", error);
      return NULL;
    }
    svr->scale[feature] = (PredictScale){ means[feature], sds[feature] };
  }
  svr->vectors = base_json_packed (from, "vectors", sizeof *svr->vectors, &n_values, error);
  if (svr->vectors == NULL)
    return NULL;
  svr->coefficients =
      base_json_packed (from, "coefficients", sizeof *svr->coefficients, &n_vectors, error);
  if (svr->coefficients == NULL)
    return NULL;
  if (n_vectors > PREDICT_SVR_MAX_SAMPLES || n_values != n_vectors * n_features) {
    base_json_fail ("vectors", "a row of features for each coefficient", error);
    return NULL;
  }
  svr->n_vectors = (uint32_t) n_vectors;
  for (gsize i = 0; i < n_values + n_vectors; i++)
    if (!isfinite (i < n_values ? (double) svr->vectors[i] : svr->coefficients[i - n_values])) {
      base_json_fail ("vectors", "an array of finite numbers", error);
      return NULL;
    }
  return g_steal_pointer (&svr);
}

static gboolean
read_boosting_settings (JsonObject *from, PredictSettings *settings, GError **error)
{
  const char *stopping = base_json_string (from, "early_stopping", error);

  if (stopping == NULL)
    return FALSE;
  settings->early_stopping = (PredictStopping) name_index (predict_stopping_names, stopping);
  if (settings->early_stopping == PREDICT_N_STOPPINGS)
    return base_json_fail ("early_stopping", "auto, on or off", error);
  return read_count (from, "max_leaf_nodes", G_MAXUINT32, &settings->max_leaf_nodes, error) &&
         base_json_number (from, "learning_rate", &settings->learning_rate, error) &&
         base_json_number (from, "l2", &settings->l2, error) &&
         base_json_number (from, "quantile", &settings->quantile, error);
}

PredictFitted *
predict_fitted_read (JsonObject *object, GError **error)
{
  g_autoptr (PredictFitted) fitted = g_new0 (PredictFitted, 1);
  PredictSettings *settings = &fitted->settings;
  const char *method = base_json_string (object, "method", error);
  gboolean is_read = FALSE;
  JsonObject *from;
  int64_t seed;

  if (method == NULL)
    return NULL;
  settings->method = (PredictMethod) name_index (predict_method_names, method);
  if (settings->method == PREDICT_N_METHODS) {
    g_set_error (error, BASE_ERROR, BASE_ERROR_JSON, "there is no method \"%s\"", method);
    return NULL;
  }
  if (!read_count (object, "n_features", MAX_FEATURES, &fitted->n_features, error) ||
      (from = base_json_object (object, "settings", error)) == NULL ||
      !read_count (from, "trees", G_MAXUINT32, &settings->trees, error) ||
      !read_count (from, "max_features", G_MAXUINT32, &settings->max_features, error) ||
      !read_count (from, "min_samples_split", G_MAXUINT32, &settings->min_samples_split, error) ||
      !read_count (from, "min_samples_leaf", G_MAXUINT32, &settings->min_samples_leaf, error) ||
      !read_count (from, "max_depth", G_MAXUINT32, &settings->max_depth, error) ||
      !base_json_boolean (from, "bootstrap", &settings->bootstrap, error) ||
      !base_json_number (from, "ridge", &settings->ridge, error) ||
      !base_json_number (from, "svr_c", &settings->svr_c, error) ||
      !base_json_number (from, "svr_epsilon", &settings->svr_epsilon, error) ||
      !base_json_number (from, "svr_gamma", &settings->svr_gamma, error) ||
      !base_json_integer (from, "seed", INT64_MIN, INT64_MAX, &seed, error))
    return NULL;
  settings->seed = (uint64_t) seed;
  if (settings->method == PREDICT_BOOSTING && !read_boosting_settings (from, settings, error))
    return NULL;
  if (!predict_settings_check (settings, error))
    return NULL;
  switch (settings->method) {
  case PREDICT_EXTRA_TREES:
  case PREDICT_FOREST:
  case PREDICT_TREE:
    is_read = (fitted->forest = predict_forest_read (object, fitted->n_features, error)) != NULL;
    break;
  case PREDICT_LINEAR:
    is_read = (fitted->linear = read_linear (object, fitted->n_features, error)) != NULL;
    break;
  case PREDICT_SVR:
    is_read = (fitted->svr = read_svr (object, fitted->n_features, error)) != NULL;
    break;
  case PREDICT_AUTO:
    g_set_error_literal (error, BASE_ERROR, BASE_ERROR_JSON, "\"auto\" is no method of a model");
    break;
  case PREDICT_MEAN: is_read = base_json_number (object, "mean", &fitted->mean, error); break;
  case PREDICT_BOOSTING:
    is_read =
        (fitted->boosting = predict_boosting_read (object, fitted->n_features, error)) != NULL;
    break;
  case PREDICT_N_METHODS: g_assert_not_reached ();
  }
  return is_read ? g_steal_pointer (&fitted) : NULL;
}
