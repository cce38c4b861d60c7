/* model_file.c - models written to files and read back (doc/handbook/format-model.md).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "predictors/model/model.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define SCHEMA "hopcast.model/1"

/* The numbers of a PredictSpread; ends with a NULL name. */
typedef struct {
  const char *name;
  gsize offset;
} SpreadMember;

static const SpreadMember spread_members[] = {
  { "median", offsetof (PredictSpread, median) },
  { "lower_quartile", offsetof (PredictSpread, lower_quartile) },
  { "upper_quartile", offsetof (PredictSpread, upper_quartile) },
  { "mean", offsetof (PredictSpread, mean) },
  { "sd", offsetof (PredictSpread, sd) },
  { "min", offsetof (PredictSpread, min) },
  { "max", offsetof (PredictSpread, max) },
  { NULL, 0 },
};

/* --- Writing --- */

static void
begin (JsonBuilder *builder, const char *name)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_object (builder);
}

static void
write_spread (const PredictSpread *spread, const char *name, JsonBuilder *builder)
{
  begin (builder, name);
  for (const SpreadMember *member = spread_members; member->name != NULL; member++)
    base_json_add_number (builder, member->name, G_STRUCT_MEMBER (double, spread, member->offset));
  json_builder_end_object (builder);
}

static void
write_errors (const PredictIntervalScores *errors, JsonBuilder *builder)
{
  base_json_add_integer (builder, "samples", (int64_t) errors->of);
  base_json_add_integer (builder, "groups", (int64_t) errors->groups);
  base_json_add_number (builder, "floor", errors->floor);
  base_json_add_numbers (builder, "scores", errors->scores, errors->n);
}

/* --- Reading --- */

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

/* An importance that is null for one feature is unknown for all. */
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
    return features != NULL && base_json_fail ("features", "a list of at least one feature", error);
  model->features = g_new0 (char *, n + 1);
  model->units = g_new0 (char *, n + 1);
  model->smallest = g_new0 (double, n);
  model->largest = g_new0 (double, n);
  model->importances = g_new0 (double, n);
  model->permutation = g_new0 (double, n);
  for (guint i = 0; i < n; i++) {
    JsonNode *node = json_array_get_element (features, i);
    JsonObject *from;

    if (!JSON_NODE_HOLDS_OBJECT (node))
      return base_json_fail ("features", "an array of objects", error);
    from = json_node_get_object (node);
    if ((model->features[i] = text_of (from, "name", error)) == NULL)
      return FALSE;
    if (*model->features[i] == '\0')
      return base_json_fail ("name", "the name of a feature", error);
    if ((model->units[i] = text_of (from, "unit", error)) == NULL)
      return FALSE;
    for (guint k = 0; k < i; k++)
      if (strcmp (model->features[k], model->features[i]) == 0)
        return base_json_fail (model->features[i], "a unique name", error);
    if (!base_json_number (from, "smallest", &model->smallest[i], error) ||
        !base_json_number (from, "largest", &model->largest[i], error) ||
        !base_json_number_or_null (from, "importance", &model->importances[i], error) ||
        !base_json_number_or_null (from, "permutation", &model->permutation[i], error))
      return FALSE;
  }
  drop_unknown (&model->importances, n);
  drop_unknown (&model->permutation, n);
  return TRUE;
}

/* Models of earlier versions have no sets. */
static gboolean
read_sets (JsonObject *target, PredictModel *model, GError **error)
{
  JsonNode *node = json_object_get_member (target, "sets");
  JsonArray *sets;
  guint n;

  if (node == NULL || JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  if ((sets = base_json_array (target, "sets", error)) == NULL)
    return FALSE;
  n = json_array_get_length (sets);
  model->sets = g_new0 (char *, n + 1);
  for (guint i = 0; i < n; i++) {
    JsonNode *set = json_array_get_element (sets, i);

    if (json_node_get_value_type (set) != G_TYPE_STRING)
      break;
    model->sets[i] = g_strdup (json_node_get_string (set));
  }
  return (n > 0 && model->sets[n - 1] != NULL && !model->log_target) ||
         base_json_fail ("sets", "null, or names of columns of a target without logarithm", error);
}

static gboolean
read_spread (JsonObject *from, const char *name, PredictSpread *spread, GError **error)
{
  JsonObject *object = base_json_object (from, name, error);
  const SpreadMember *member = spread_members;

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
read_errors (JsonObject *from, PredictIntervalScores *errors, GError **error)
{
  JsonArray *scores = base_json_array (from, "scores", error);
  double last = 0;

  if (scores == NULL)
    return FALSE;
  errors->n = json_array_get_length (scores);
  errors->scores = g_new0 (double, errors->n);
  if (!base_json_numbers (from, "scores", errors->n, errors->scores, error) ||
      !count_of (from, "samples", &errors->of, error) ||
      !count_of (from, "groups", &errors->groups, error) ||
      !base_json_number (from, "floor", &errors->floor, error))
    return FALSE;
  if (errors->groups > errors->of || errors->n > errors->of ||
      (errors->n == 0) != (errors->groups == 0) || errors->of > UINT32_MAX)
    return base_json_fail ("interval", "consistent in its counts of samples", error);
  if (errors->floor < 0)
    return base_json_fail ("floor", "a number from 0", error);
  for (uint32_t k = 0; k < errors->n; last = errors->scores[k++])
    if (errors->scores[k] < last)
      return base_json_fail ("scores", "ascending from 0", error);
  return TRUE;
}

/* Models of earlier versions have neither classes nor the range of their targets. */
static gboolean
read_interval (JsonObject *root, PredictInterval *interval, GError **error)
{
  JsonObject *from = base_json_object (root, "interval", error);
  JsonArray *classes, *edges;
  guint n_classes;

  interval->range = NAN;
  if (from == NULL || !read_errors (from, &interval->all, error))
    return FALSE;
  if (!json_object_has_member (from, "classes"))
    return TRUE;
  if (!(classes = base_json_array (from, "classes", error)) ||
      !(edges = base_json_array (from, "edges", error)) ||
      !base_json_number_or_null (from, "range", &interval->range, error))
    return FALSE;
  n_classes = json_array_get_length (classes);
  if (n_classes > PREDICT_MAX_CLASSES || n_classes == 1 ||
      json_array_get_length (edges) != (n_classes > 0 ? n_classes - 1 : 0))
    return base_json_fail ("classes", "one more than edges", error);
  if (interval->range < 0)
    return base_json_fail ("range", "a number from 0", error);
  interval->classes = g_new0 (PredictIntervalScores, n_classes);
  interval->edges = g_new0 (double, n_classes);
  interval->n_classes = n_classes;
  if (n_classes > 0 && !base_json_numbers (from, "edges", n_classes - 1, interval->edges, error))
    return FALSE;
  for (guint k = 0; k < n_classes; k++) {
    JsonNode *node = json_array_get_element (classes, k);

    if (!JSON_NODE_HOLDS_OBJECT (node))
      return base_json_fail ("classes", "an array of objects", error);
    if (!read_errors (json_node_get_object (node), &interval->classes[k], error))
      return FALSE;
    if (k > 1 && interval->edges[k - 1] <= interval->edges[k - 2])
      return base_json_fail ("edges", "rising", error);
  }
  return TRUE;
}

/* The model of a whole file; NULL and *error. */
static gpointer
model_from_json (JsonObject *root, GError **error)
{
  g_autoptr (PredictModel) model = g_new0 (PredictModel, 1);
  JsonObject *target, *table, *learned;

  if (!(target = base_json_object (root, "target", error)) ||
      !(table = base_json_object (root, "trained_on", error)) ||
      !(model->version = text_of (root, "hopcast", error)) ||
      !(model->target = text_of (target, "name", error)) ||
      !base_json_boolean (target, "log", &model->log_target, error) ||
      !read_sets (target, model, error) || !(model->source = text_of (table, "source", error)) ||
      !(model->hash = text_of (table, "sha256", error)) ||
      !count_of (table, "samples", &model->n_samples, error) ||
      !base_json_number_or_null (root, "out_of_bag_r2", &model->out_of_bag_r2, error) ||
      !read_features (root, model, error) || !read_evaluation (root, model, error) ||
      !read_interval (root, &model->interval, error) ||
      !(learned = base_json_object (root, "learned", error)) ||
      !(model->fitted = predict_fitted_read (learned, error)))
    return NULL;
  if (predict_fitted_n_features (model->fitted) != g_strv_length (model->features)) {
    base_json_fail ("n_features", "the number of features named", error);
    return NULL;
  }
  return g_steal_pointer (&model);
}

/* --- Files --- */

gboolean
predict_model_write (const PredictModel *model, FILE *out, GError **error)
{
  const PredictInterval *interval = &model->interval;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;
  g_autoptr (PredictModel) back = NULL;

  json_builder_begin_object (builder);
  base_json_add_string (builder, "schema", SCHEMA);
  base_json_add_string (builder, "hopcast", model->version);
  begin (builder, "target");
  base_json_add_string (builder, "name", model->target);
  json_builder_set_member_name (builder, "log");
  json_builder_add_boolean_value (builder, model->log_target);
  if (model->sets != NULL) {
    json_builder_set_member_name (builder, "sets");
    json_builder_begin_array (builder);
    for (char **set = model->sets; *set != NULL; set++)
      json_builder_add_string_value (builder, *set);
    json_builder_end_array (builder);
  }
  json_builder_end_object (builder);
  begin (builder, "trained_on");
  base_json_add_string (builder, "source", model->source);
  base_json_add_string (builder, "sha256", model->hash);
  base_json_add_integer (builder, "samples", (int64_t) model->n_samples);
  json_builder_end_object (builder);
  json_builder_set_member_name (builder, "features");
  json_builder_begin_array (builder);
  for (guint i = 0; model->features[i] != NULL; i++) {
    json_builder_begin_object (builder);
    base_json_add_string (builder, "name", model->features[i]);
    base_json_add_string (builder, "unit", model->units[i]);
    base_json_add_number (builder, "smallest", model->smallest[i]);
    base_json_add_number (builder, "largest", model->largest[i]);
    base_json_add_number (builder, "importance",
                          model->importances != NULL ? model->importances[i] : (double) NAN);
    base_json_add_number (builder, "permutation",
                          model->permutation != NULL ? model->permutation[i] : (double) NAN);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  base_json_add_number (builder, "out_of_bag_r2", model->out_of_bag_r2);
  if (model->evaluated) {
    const PredictEvaluation *evaluation = &model->evaluation;

    begin (builder, "evaluation");
    base_json_add_integer (builder, "tests", evaluation->n_tests);
    base_json_add_integer (builder, "test_samples", (int64_t) evaluation->test_samples);
    for (guint score = 0; score < PREDICT_N_SCORES; score++)
      write_spread (&evaluation->scores[score], predict_score_names[score], builder);
    write_spread (&evaluation->mispredicted, "mispredicted", builder);
    json_builder_end_object (builder);
  } else {
    json_builder_set_member_name (builder, "evaluation");
    json_builder_add_null_value (builder);
  }
  begin (builder, "interval");
  write_errors (&interval->all, builder);
  base_json_add_number (builder, "range", interval->range);
  base_json_add_numbers (builder, "edges", interval->edges,
                         interval->n_classes > 0 ? interval->n_classes - 1 : 0);
  json_builder_set_member_name (builder, "classes");
  json_builder_begin_array (builder);
  for (guint k = 0; k < interval->n_classes; k++) {
    json_builder_begin_object (builder);
    write_errors (&interval->classes[k], builder);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  json_builder_set_member_name (builder, "learned");
  predict_fitted_write (model->fitted, builder);
  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  back = model_from_json (json_node_get_object (root), error);
  if (back == NULL) {
    g_prefix_error (error, "the model could not be read back: ");
    return FALSE;
  }
  base_json_print (root, out);
  return TRUE;
}

PredictModel *
predict_model_read (const char *path, GError **error)
{
  return base_json_file (path, SCHEMA, model_from_json, error);
}
