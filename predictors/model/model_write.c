/* model_write.c - models as files (doc/handbook/format-model.md).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/json.h"
#include "predictors/model/model_private.h"

#include <math.h>
#include <stddef.h>

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
}

const PredictSpreadMember predict_spread_members[] = {
  { "median", offsetof (PredictSpread, median) },
  { "lower_quartile", offsetof (PredictSpread, lower_quartile) },
  { "upper_quartile", offsetof (PredictSpread, upper_quartile) },
  { "mean", offsetof (PredictSpread, mean) },
  { "sd", offsetof (PredictSpread, sd) },
  { "min", offsetof (PredictSpread, min) },
  { "max", offsetof (PredictSpread, max) },
  { NULL, 0 },
};

static void
write_spread (const PredictSpread *spread, const char *name, JsonBuilder *builder)
{
  begin (builder, name);
  for (const PredictSpreadMember *member = predict_spread_members; member->name != NULL; member++)
    base_json_add_number (builder, member->name, G_STRUCT_MEMBER (double, spread, member->offset));
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
  base_json_add_integer (builder, "tests", evaluation->n_tests);
  base_json_add_integer (builder, "test_samples", (int64_t) evaluation->test_samples);
  for (guint score = 0; score < PREDICT_N_SCORES; score++)
    write_spread (&evaluation->scores[score], predict_score_names[score], builder);
  write_spread (&evaluation->mispredicted, "mispredicted", builder);
  json_builder_end_object (builder);
}

static void
write_interval (const PredictInterval *interval, JsonBuilder *builder)
{
  begin (builder, "interval");
  base_json_add_integer (builder, "samples", (int64_t) interval->of);
  base_json_add_integer (builder, "groups", (int64_t) interval->groups);
  base_json_add_number (builder, "floor", interval->floor);
  base_json_add_numbers (builder, "scores", interval->scores, interval->n);
  json_builder_end_object (builder);
}

static void
write_origin (const PredictModel *model, JsonBuilder *builder)
{
  begin (builder, "target");
  base_json_add_string (builder, "name", model->target);
  json_builder_set_member_name (builder, "log");
  json_builder_add_boolean_value (builder, model->log_target);
  json_builder_end_object (builder);
  begin (builder, "trained_on");
  base_json_add_string (builder, "source", model->source);
  base_json_add_string (builder, "sha256", model->hash);
  base_json_add_integer (builder, "samples", (int64_t) model->n_samples);
  json_builder_end_object (builder);
}

gboolean
predict_model_write (const PredictModel *model, FILE *out, GError **error)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;
  g_autoptr (PredictModel) back = NULL;

  json_builder_begin_object (builder);
  base_json_add_string (builder, "schema", PREDICT_MODEL_SCHEMA);
  base_json_add_string (builder, "hopcast", model->version);
  write_origin (model, builder);
  write_features (model, builder);
  base_json_add_number (builder, "out_of_bag_r2", model->out_of_bag_r2);
  write_evaluation (model, builder);
  write_interval (&model->interval, builder);
  json_builder_set_member_name (builder, "learned");
  predict_fitted_write (model->fitted, builder);
  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  back = predict_model_from_json (json_node_get_object (root), error);
  if (back == NULL) {
    g_prefix_error (error, "the model could not be read back: ");
    return FALSE;
  }
  base_json_print (root, out);
  return TRUE;
}
