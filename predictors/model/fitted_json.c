/* fitted_json.c - fitted methods in model files (doc/handbook/format-model.md).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/error.h"
#include "predictors/model/fitted_private.h"
#include "base/json.h"

#include <math.h>
#include <string.h>

/* More than any table has: what a file says is allocated before it is read. */
#define MAX_FEATURES 1000000u

static const char *const use_names[] = { "used", "constant", "collinear", NULL };

static void
write_settings (const PredictSettings *settings, JsonBuilder *builder)
{
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
  json_builder_end_object (builder);
}

static void
write_linear (const PredictLinear *linear, JsonBuilder *builder)
{
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
}

static void
write_svr (const PredictSvr *svr, JsonBuilder *builder)
{
  gsize n = svr->n_vectors;
  g_autofree double *scale = g_new (double, 2 * (gsize) svr->n_features);

  for (guint feature = 0; feature < svr->n_features; feature++) {
    scale[feature] = svr->scale[feature].mean;
    scale[svr->n_features + feature] = svr->scale[feature].sd;
  }
  json_builder_set_member_name (builder, "svr");
  json_builder_begin_object (builder);
  base_json_add_number (builder, "gamma", svr->gamma);
  base_json_add_number (builder, "bias", svr->bias);
  base_json_add_number (builder, "target_mean", svr->target.mean);
  base_json_add_number (builder, "target_sd", svr->target.sd);
  base_json_add_numbers (builder, "means", scale, svr->n_features);
  base_json_add_numbers (builder, "sds", scale + svr->n_features, svr->n_features);
  base_json_add_packed (builder, "vectors", svr->vectors, n * svr->n_features,
                        sizeof *svr->vectors);
  base_json_add_packed (builder, "coefficients", svr->coefficients, n, sizeof *svr->coefficients);
  json_builder_end_object (builder);
}

void
predict_fitted_write (const PredictFitted *fitted, JsonBuilder *builder)
{
  json_builder_begin_object (builder);
  base_json_add_string (builder, "method", predict_method_names[fitted->settings.method]);
  base_json_add_integer (builder, "n_features", fitted->n_features);
  write_settings (&fitted->settings, builder);
  if (fitted->forest != NULL)
    predict_forest_write (fitted->forest, builder);
  else if (fitted->linear != NULL)
    write_linear (fitted->linear, builder);
  else if (fitted->svr != NULL)
    write_svr (fitted->svr, builder);
  else
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

static gboolean
read_settings (JsonObject *object, PredictSettings *settings, GError **error)
{
  JsonObject *from = base_json_object (object, "settings", error);
  int64_t seed;

  if (from == NULL || !read_count (from, "trees", G_MAXUINT32, &settings->trees, error) ||
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
    return FALSE;
  settings->seed = (uint64_t) seed;
  return predict_settings_check (settings, error);
}

/* Which of the names [n] a text is; n: none. */
static guint
name_index (const char *const *names, const char *text)
{
  guint i = 0;

  while (names[i] != NULL && strcmp (names[i], text) != 0)
    i++;
  return i;
}

static gboolean
read_method (JsonObject *object, PredictMethod *method, GError **error)
{
  const char *name = base_json_string (object, "method", error);

  if (name == NULL)
    return FALSE;
  *method = (PredictMethod) name_index (predict_method_names, name);
  if (*method != PREDICT_N_METHODS)
    return TRUE;
  g_set_error (error, BASE_ERROR, BASE_ERROR_JSON, "there is no method \"%s\"", name);
  return FALSE;
}

static gboolean
read_columns (JsonObject *object, PredictLinear *linear, GError **error)
{
  JsonArray *columns = base_json_array (object, "columns", error);
  gboolean known = columns != NULL && json_array_get_length (columns) == linear->n_features;

  for (guint feature = 0; known && feature < linear->n_features; feature++) {
    JsonNode *node = json_array_get_element (columns, feature);
    const char *name = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_string (node) : NULL;
    guint use = name != NULL ? name_index (use_names, name) : G_N_ELEMENTS (use_names) - 1;

    known = use_names[use] != NULL;
    linear->use[feature] = (PredictColumnUse) use;
  }
  return known || columns == NULL ? columns != NULL
                                  : base_json_fail ("columns", "how each column is used", error);
}

static PredictLinear *
read_linear (JsonObject *object, guint n_features, GError **error)
{
  JsonObject *from = base_json_object (object, "linear", error);
  g_autoptr (PredictLinear) linear = predict_linear_new (n_features);

  return from != NULL && base_json_number (from, "constant", &linear->constant, error) &&
                 base_json_numbers (from, "means", n_features, linear->means, error) &&
                 base_json_numbers (from, "coefficients", n_features, linear->coefficients,
                                    error) &&
                 read_columns (from, linear, error)
             ? g_steal_pointer (&linear)
             : NULL;
}

static gboolean
read_scale (JsonObject *from, PredictSvr *svr, GError **error)
{
  guint n = svr->n_features;
  g_autofree double *means = g_new (double, n), *sds = g_new (double, n);

  if (!base_json_numbers (from, "means", n, means, error) ||
      !base_json_numbers (from, "sds", n, sds, error))
    return FALSE;
  for (guint feature = 0; feature < n; feature++) {
    if (sds[feature] < 0)
      return base_json_fail ("sds", "an array of deviations", error);
    svr->scale[feature] = (PredictScale){ means[feature], sds[feature] };
  }
  return TRUE;
}

static gboolean
read_vectors (JsonObject *from, PredictSvr *svr, GError **error)
{
  gsize n_values, n_vectors;
  gboolean finite = TRUE;

  svr->vectors = base_json_packed (from, "vectors", sizeof *svr->vectors, &n_values, error);
  if (svr->vectors == NULL)
    return FALSE;
  svr->coefficients =
      base_json_packed (from, "coefficients", sizeof *svr->coefficients, &n_vectors, error);
  if (svr->coefficients == NULL)
    return FALSE;
  if (n_vectors > PREDICT_SVR_MAX_SAMPLES || n_values != n_vectors * svr->n_features)
    return base_json_fail ("vectors", "a row of features for each coefficient", error);
  svr->n_vectors = (uint32_t) n_vectors;
  for (gsize i = 0; i < n_values; i++)
    finite &= isfinite (svr->vectors[i]) != 0;
  for (gsize i = 0; i < n_vectors; i++)
    finite &= isfinite (svr->coefficients[i]) != 0;
  return finite || base_json_fail ("vectors", "of finite numbers", error);
}

static PredictSvr *
read_svr (JsonObject *object, guint n_features, GError **error)
{
  JsonObject *from = base_json_object (object, "svr", error);
  g_autoptr (PredictSvr) svr = predict_svr_new (n_features, 0);

  return from != NULL && base_json_number (from, "gamma", &svr->gamma, error) &&
                 base_json_number (from, "bias", &svr->bias, error) &&
                 base_json_number (from, "target_mean", &svr->target.mean, error) &&
                 base_json_number (from, "target_sd", &svr->target.sd, error) &&
                 read_scale (from, svr, error) && read_vectors (from, svr, error)
             ? g_steal_pointer (&svr)
             : NULL;
}

/* What the method learned. */
static gboolean
read_learned (JsonObject *object, PredictFitted *fitted, GError **error)
{
  switch (fitted->settings.method) {
  case PREDICT_EXTRA_TREES:
  case PREDICT_FOREST:
  case PREDICT_TREE:
    fitted->forest = predict_forest_read (object, fitted->n_features, error);
    return fitted->forest != NULL;
  case PREDICT_LINEAR:
    fitted->linear = read_linear (object, fitted->n_features, error);
    return fitted->linear != NULL;
  case PREDICT_SVR:
    fitted->svr = read_svr (object, fitted->n_features, error);
    return fitted->svr != NULL;
  case PREDICT_MEAN: return base_json_number (object, "mean", &fitted->mean, error);
  case PREDICT_N_METHODS: break;
  }
  g_assert_not_reached ();
}

PredictFitted *
predict_fitted_read (JsonObject *object, GError **error)
{
  g_autoptr (PredictFitted) fitted = g_new0 (PredictFitted, 1);

  return read_method (object, &fitted->settings.method, error) &&
                 read_count (object, "n_features", MAX_FEATURES, &fitted->n_features, error) &&
                 read_settings (object, &fitted->settings, error) &&
                 read_learned (object, fitted, error)
             ? g_steal_pointer (&fitted)
             : NULL;
}
