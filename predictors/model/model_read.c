/* model_read.c - models from files (doc/handbook/format-model.md).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/json.h"
#include "predictors/model/model_private.h"

#include <math.h>
#include <string.h>

/* A copy of the member; NULL and *error. */
static char *
text_of (JsonObject *object, const char *name, GError **error)
{
  return g_strdup (base_json_string (object, name, error));
}

static gboolean
count_of (JsonObject *object, const char *name, uint64_t *count, GError **error)
{
  int64_t value;

  if (!base_json_integer (object, name, 0, INT64_MAX, &value, error))
    return FALSE;
  *count = (uint64_t) value;
  return TRUE;
}

static gboolean
read_origin (JsonObject *root, PredictModel *model, GError **error)
{
  JsonObject *target = base_json_object (root, "target", error);
  JsonObject *table = target != NULL ? base_json_object (root, "trained_on", error) : NULL;

  return table != NULL && (model->version = text_of (root, "hopcast", error)) != NULL &&
         (model->target = text_of (target, "name", error)) != NULL &&
         base_json_boolean (target, "log", &model->log_target, error) &&
         (model->source = text_of (table, "source", error)) != NULL &&
         (model->hash = text_of (table, "sha256", error)) != NULL &&
         count_of (table, "samples", &model->n_samples, error) &&
         base_json_number_or_null (root, "out_of_bag_r2", &model->out_of_bag_r2, error);
}

static gboolean
read_feature (JsonObject *from, PredictModel *model, guint i, GError **error)
{
  model->features[i] = text_of (from, "name", error);
  if (model->features[i] == NULL)
    return FALSE;
  if (*model->features[i] == '\0')
    return base_json_fail ("name", "the name of a feature", error);
  model->units[i] = text_of (from, "unit", error);
  if (model->units[i] == NULL)
    return FALSE;
  for (guint k = 0; k < i; k++)
    if (strcmp (model->features[k], model->features[i]) == 0)
      return base_json_fail (model->features[i], "a feature once", error);
  return base_json_number (from, "smallest", &model->smallest[i], error) &&
         base_json_number (from, "largest", &model->largest[i], error) &&
         base_json_number_or_null (from, "importance", &model->importances[i], error) &&
         base_json_number_or_null (from, "permutation", &model->permutation[i], error);
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
  JsonArray *features = base_json_array (root, "features", error);
  guint n = features != NULL ? json_array_get_length (features) : 0;

  if (n == 0)
    return features != NULL && base_json_fail ("features", "of one feature at least", error);
  model->features = g_new0 (char *, n + 1);
  model->units = g_new0 (char *, n + 1);
  model->smallest = g_new0 (double, n);
  model->largest = g_new0 (double, n);
  model->importances = g_new0 (double, n);
  model->permutation = g_new0 (double, n);
  for (guint i = 0; i < n; i++) {
    JsonNode *node = json_array_get_element (features, i);

    if (!JSON_NODE_HOLDS_OBJECT (node))
      return base_json_fail ("features", "an array of objects", error);
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
  JsonObject *object = base_json_object (from, name, error);
  const PredictSpreadMember *member = predict_spread_members;

  while (object != NULL && member->name != NULL &&
         base_json_number_or_null (object, member->name,
                                   &G_STRUCT_MEMBER (double, spread, member->offset), error))
    member++;
  return object != NULL && member->name == NULL;
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
  from = base_json_object (root, "evaluation", error);
  if (from == NULL || !base_json_integer (from, "tests", 0, G_MAXINT32, &n_tests, error) ||
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
    return base_json_fail ("interval", "of as many samples as it says", error);
  if (interval->floor < 0)
    return base_json_fail ("floor", "a number from 0", error);
  for (uint32_t k = 0; k < interval->n; last = interval->scores[k++])
    if (interval->scores[k] < last)
      return base_json_fail ("scores", "ascending from 0", error);
  return TRUE;
}

static gboolean
read_interval (JsonObject *root, PredictInterval *interval, GError **error)
{
  JsonObject *from = base_json_object (root, "interval", error);
  JsonArray *scores = from != NULL ? base_json_array (from, "scores", error) : NULL;

  if (scores == NULL)
    return FALSE;
  interval->n = json_array_get_length (scores);
  interval->scores = g_new0 (double, interval->n);
  return base_json_numbers (from, "scores", interval->n, interval->scores, error) &&
         count_of (from, "samples", &interval->of, error) &&
         count_of (from, "groups", &interval->groups, error) &&
         base_json_number (from, "floor", &interval->floor, error) &&
         check_interval (interval, error);
}

static gboolean
read_learned (JsonObject *root, PredictModel *model, GError **error)
{
  JsonObject *learned = base_json_object (root, "learned", error);

  if (learned == NULL)
    return FALSE;
  model->fitted = predict_fitted_read (learned, error);
  if (model->fitted == NULL)
    return FALSE;
  return predict_fitted_n_features (model->fitted) == g_strv_length (model->features) ||
         base_json_fail ("n_features", "how many features are named", error);
}

gpointer
predict_model_from_json (JsonObject *root, GError **error)
{
  g_autoptr (PredictModel) model = g_new0 (PredictModel, 1);

  return read_origin (root, model, error) && read_features (root, model, error) &&
                 read_evaluation (root, model, error) &&
                 read_interval (root, &model->interval, error) && read_learned (root, model, error)
             ? g_steal_pointer (&model)
             : NULL;
}

PredictModel *
predict_model_read (const char *path, GError **error)
{
  return base_json_file (path, PREDICT_MODEL_SCHEMA, predict_model_from_json, error);
}
