/* model_json.c - models as files (doc/handbook/format-model.md).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/error.h"
#include "predictors/json_fields.h"
#include "predictors/model.h"

#include <math.h>
#include <string.h>

#define SCHEMA "hopcast.model/1"

static void
begin (JsonBuilder *builder, const char *name)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_object (builder);
}

static void
write_features (const PredictModel *model, JsonBuilder *builder)
{
  json_builder_set_member_name (builder, "features");
  json_builder_begin_array (builder);
  for (guint i = 0; model->features[i] != NULL; i++) {
    json_builder_begin_object (builder);
    predict_json_add_string (builder, "name", model->features[i]);
    predict_json_add_string (builder, "unit", model->units[i]);
    predict_json_add_number (builder, "smallest", model->smallest[i]);
    predict_json_add_number (builder, "largest", model->largest[i]);
    predict_json_add_number (builder, "importance",
                             model->importances != NULL ? model->importances[i] : (double) NAN);
    predict_json_add_number (builder, "permutation",
                             model->permutation != NULL ? model->permutation[i] : (double) NAN);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
}

/* The members of a spread, in the order of the struct. */
static const char *const spread_names[] = {
  "median", "lower_quartile", "upper_quartile", "mean", "sd", "min", "max"
};

static void
spread_values (PredictSpread *spread, double *values[G_N_ELEMENTS (spread_names)])
{
  values[0] = &spread->median;
  values[1] = &spread->lower_quartile;
  values[2] = &spread->upper_quartile;
  values[3] = &spread->mean;
  values[4] = &spread->sd;
  values[5] = &spread->min;
  values[6] = &spread->max;
}

static void
write_spread (PredictSpread spread, const char *name, JsonBuilder *builder)
{
  double *values[G_N_ELEMENTS (spread_names)];

  spread_values (&spread, values);
  begin (builder, name);
  for (guint i = 0; i < G_N_ELEMENTS (spread_names); i++)
    predict_json_add_number (builder, spread_names[i], *values[i]);
  json_builder_end_object (builder);
}

static void
write_evaluation (const PredictModel *model, JsonBuilder *builder)
{
  const PredictEvaluation *evaluation = &model->evaluation;

  if (!model->evaluated) {
    json_builder_set_member_name (builder, "evaluation");
    json_builder_add_null_value (builder);
    return;
  }
  begin (builder, "evaluation");
  predict_json_add_integer (builder, "tests", evaluation->n_tests);
  predict_json_add_integer (builder, "test_samples", (int64_t) evaluation->test_samples);
  for (guint score = 0; score < PREDICT_N_SCORES; score++)
    write_spread (evaluation->scores[score], predict_score_names[score], builder);
  write_spread (evaluation->mispredicted, "mispredicted", builder);
  json_builder_end_object (builder);
}

static void
write_interval (const PredictInterval *interval, JsonBuilder *builder)
{
  begin (builder, "interval");
  predict_json_add_integer (builder, "samples", (int64_t) interval->of);
  predict_json_add_integer (builder, "groups", (int64_t) interval->groups);
  predict_json_add_number (builder, "floor", interval->floor);
  predict_json_add_numbers (builder, "scores", interval->scores, interval->n);
  json_builder_end_object (builder);
}

static void
write_origin (const PredictModel *model, JsonBuilder *builder)
{
  begin (builder, "target");
  predict_json_add_string (builder, "name", model->target);
  json_builder_set_member_name (builder, "log");
  json_builder_add_boolean_value (builder, model->log_target);
  json_builder_end_object (builder);
  begin (builder, "trained_on");
  predict_json_add_string (builder, "source", model->source);
  predict_json_add_string (builder, "sha256", model->hash);
  predict_json_add_integer (builder, "samples", (int64_t) model->n_samples);
  json_builder_end_object (builder);
}

void
predict_model_write (const PredictModel *model, FILE *out)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autoptr (JsonNode) root = NULL;
  g_autofree char *text = NULL;
  gsize n;

  json_builder_begin_object (builder);
  predict_json_add_string (builder, "schema", SCHEMA);
  predict_json_add_string (builder, "hopcast", model->version);
  write_origin (model, builder);
  write_features (model, builder);
  predict_json_add_number (builder, "out_of_bag_r2", model->out_of_bag_r2);
  write_evaluation (model, builder);
  write_interval (&model->interval, builder);
  json_builder_set_member_name (builder, "learned");
  predict_fitted_write (model->fitted, builder);
  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  json_generator_set_root (generator, root);
  json_generator_set_pretty (generator, TRUE);
  text = json_generator_to_data (generator, &n);
  fwrite (text, 1, n, out);
  fputc ('\n', out);
}

/* A copy of the member; NULL and *error. */
static char *
text_of (JsonObject *object, const char *name, GError **error)
{
  return g_strdup (predict_json_string (object, name, error));
}

static gboolean
count_of (JsonObject *object, const char *name, uint64_t *count, GError **error)
{
  int64_t value;

  if (!predict_json_integer (object, name, 0, INT64_MAX, &value, error))
    return FALSE;
  *count = (uint64_t) value;
  return TRUE;
}

static gboolean
read_origin (JsonObject *root, PredictModel *model, GError **error)
{
  JsonObject *target = predict_json_object (root, "target", error);
  JsonObject *table = target != NULL ? predict_json_object (root, "trained_on", error) : NULL;

  return table != NULL && (model->version = text_of (root, "hopcast", error)) != NULL &&
         (model->target = text_of (target, "name", error)) != NULL &&
         predict_json_boolean (target, "log", &model->log_target, error) &&
         (model->source = text_of (table, "source", error)) != NULL &&
         (model->hash = text_of (table, "sha256", error)) != NULL &&
         count_of (table, "samples", &model->n_samples, error) &&
         predict_json_number_or_null (root, "out_of_bag_r2", &model->out_of_bag_r2, error);
}

static gboolean
read_feature (JsonObject *from, PredictModel *model, guint i, GError **error)
{
  model->features[i] = text_of (from, "name", error);
  if (model->features[i] == NULL)
    return FALSE;
  if (*model->features[i] == '\0')
    return predict_json_fail ("name", "the name of a feature", error);
  model->units[i] = text_of (from, "unit", error);
  if (model->units[i] == NULL)
    return FALSE;
  for (guint k = 0; k < i; k++)
    if (strcmp (model->features[k], model->features[i]) == 0)
      return predict_json_fail (model->features[i], "a feature once", error);
  return predict_json_number (from, "smallest", &model->smallest[i], error) &&
         predict_json_number (from, "largest", &model->largest[i], error) &&
         predict_json_number_or_null (from, "importance", &model->importances[i], error) &&
         predict_json_number_or_null (from, "permutation", &model->permutation[i], error);
}

/* What is null of one feature is not known of any. */
static void
drop_unknown (double **values, guint n)
{
  for (guint i = 0; i < n; i++)
    if (isnan ((*values)[i])) {
      g_clear_pointer (values, g_free);
      return;
    }
}

static gboolean
read_features (JsonObject *root, PredictModel *model, GError **error)
{
  JsonArray *features = predict_json_array (root, "features", error);
  guint n = features != NULL ? json_array_get_length (features) : 0;

  if (n == 0)
    return features != NULL && predict_json_fail ("features", "of one feature at least", error);
  model->features = g_new0 (char *, n + 1);
  model->units = g_new0 (char *, n + 1);
  model->smallest = g_new0 (double, n);
  model->largest = g_new0 (double, n);
  model->importances = g_new0 (double, n);
  model->permutation = g_new0 (double, n);
  for (guint i = 0; i < n; i++) {
    JsonNode *node = json_array_get_element (features, i);

    if (!JSON_NODE_HOLDS_OBJECT (node))
      return predict_json_fail ("features", "an array of objects", error);
    if (!read_feature (json_node_get_object (node), model, i, error))
      return FALSE;
  }
  drop_unknown (&model->importances, n);
  drop_unknown (&model->permutation, n);
  return TRUE;
}

static gboolean
read_spread (JsonObject *from, const char *name, PredictSpread *spread, GError **error)
{
  JsonObject *object = predict_json_object (from, name, error);
  double *values[G_N_ELEMENTS (spread_names)];
  gboolean good = object != NULL;

  spread_values (spread, values);
  for (guint i = 0; good && i < G_N_ELEMENTS (spread_names); i++)
    good = predict_json_number_or_null (object, spread_names[i], values[i], error);
  return good;
}

static gboolean
read_evaluation (JsonObject *root, PredictModel *model, GError **error)
{
  JsonNode *node = json_object_get_member (root, "evaluation");
  PredictEvaluation *evaluation = &model->evaluation;
  JsonObject *from;
  int64_t n_tests;

  if (node != NULL && JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  from = predict_json_object (root, "evaluation", error);
  if (from == NULL || !predict_json_integer (from, "tests", 0, G_MAXINT32, &n_tests, error) ||
      !count_of (from, "test_samples", &evaluation->test_samples, error))
    return FALSE;
  evaluation->n_tests = (guint) n_tests;
  for (guint score = 0; score < PREDICT_N_SCORES; score++)
    if (!read_spread (from, predict_score_names[score], &evaluation->scores[score], error))
      return FALSE;
  model->evaluated = read_spread (from, "mispredicted", &evaluation->mispredicted, error);
  return model->evaluated;
}

/* Scores ascend from 0, and are there when there were samples. */
static gboolean
check_interval (const PredictInterval *interval, GError **error)
{
  double last = 0;

  if (interval->groups > interval->of || interval->n > interval->of ||
      (interval->n == 0) != (interval->groups == 0) || interval->of > UINT32_MAX)
    return predict_json_fail ("interval", "of as many samples as it says", error);
  if (interval->floor < 0)
    return predict_json_fail ("floor", "a number from 0", error);
  for (uint32_t k = 0; k < interval->n; last = interval->scores[k++])
    if (interval->scores[k] < last)
      return predict_json_fail ("scores", "ascending from 0", error);
  return TRUE;
}

static gboolean
read_interval (JsonObject *root, PredictInterval *interval, GError **error)
{
  JsonObject *from = predict_json_object (root, "interval", error);
  JsonArray *scores = from != NULL ? predict_json_array (from, "scores", error) : NULL;

  if (scores == NULL)
    return FALSE;
  interval->n = json_array_get_length (scores);
  interval->scores = g_new0 (double, interval->n);
  return predict_json_numbers (from, "scores", interval->n, interval->scores, error) &&
         count_of (from, "samples", &interval->of, error) &&
         count_of (from, "groups", &interval->groups, error) &&
         predict_json_number (from, "floor", &interval->floor, error) &&
         check_interval (interval, error);
}

static gboolean
read_learned (JsonObject *root, PredictModel *model, GError **error)
{
  JsonObject *learned = predict_json_object (root, "learned", error);

  if (learned == NULL)
    return FALSE;
  model->fitted = predict_fitted_read (learned, error);
  if (model->fitted == NULL)
    return FALSE;
  return predict_fitted_n_features (model->fitted) == g_strv_length (model->features) ||
         predict_json_fail ("n_features", "how many features are named", error);
}

static gboolean
check_schema (JsonObject *root, GError **error)
{
  const char *schema = predict_json_string (root, "schema", error);

  if (schema == NULL || strcmp (schema, SCHEMA) == 0)
    return schema != NULL;
  if (g_str_has_prefix (schema, "hopcast.model/"))
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_MODEL,
                 "a model of another version, %s; this program reads %s", schema, SCHEMA);
  else
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_MODEL, "no model but %s", schema);
  return FALSE;
}

static PredictModel *
read_root (JsonNode *root, GError **error)
{
  g_autoptr (PredictModel) model = NULL;
  JsonObject *object;

  if (root == NULL || !JSON_NODE_HOLDS_OBJECT (root)) {
    g_set_error_literal (error, PREDICT_ERROR, PREDICT_ERROR_MODEL, "no model: no JSON object");
    return NULL;
  }
  object = json_node_get_object (root);
  if (!check_schema (object, error))
    return NULL;
  model = g_new0 (PredictModel, 1);
  return read_origin (object, model, error) && read_features (object, model, error) &&
                 read_evaluation (object, model, error) &&
                 read_interval (object, &model->interval, error) &&
                 read_learned (object, model, error)
             ? g_steal_pointer (&model)
             : NULL;
}

PredictModel *
predict_model_read (const char *path, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new_immutable ();
  g_autofree char *text = NULL;
  g_autoptr (GError) syntax = NULL;
  PredictModel *model;
  gsize n;

  if (!g_file_get_contents (path, &text, &n, error))
    return NULL;
  if (!json_parser_load_from_data (parser, text, (gssize) n, &syntax)) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_MODEL, "%s:%u: no JSON: %s", path,
                 json_parser_get_current_line (parser), syntax->message);
    return NULL;
  }
  g_clear_pointer (&text, g_free);
  model = read_root (json_parser_get_root (parser), error);
  if (model == NULL)
    g_prefix_error (error, "%s: ", path);
  return model;
}
