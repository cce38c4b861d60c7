/* train_report.c - what training found, as programs read it: CSV and JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/learn/train_report.h"

#include "cli/learn/learn_settings.h"
#include "cli/learn/train_table.h"

#include <string.h>

/* -- CSV: a line per score ------------------------------------------------- */

static void
print_csv_line (FILE *out, const char *method, const char *score, const PredictSpread *spread)
{
  const double values[] = { spread->median,
                            spread->lower_quartile,
                            spread->upper_quartile,
                            spread->mean,
                            spread->sd,
                            spread->min,
                            spread->max };
  char number[STUDY_NUMBER_SIZE];

  fprintf (out, "%s,%s", method, score);
  for (gsize i = 0; i < G_N_ELEMENTS (values); i++)
    fprintf (out, ",%s", study_number (number, values[i]));
  fputc ('\n', out);
}

static void
print_csv_scores (FILE *out, const char *method, const PredictSpread *scores)
{
  for (guint score = 0; score < PREDICT_N_SCORES; score++)
    print_csv_line (out, method, predict_score_names[score], &scores[score]);
}

static void
print_csv_evaluation (FILE *out, const char *method, const PredictEvaluation *evaluation)
{
  print_csv_scores (out, method, evaluation->scores);
  print_csv_line (out, method, "mispredicted", &evaluation->mispredicted);
}

static void
print_csv (FILE *out, const CliTraining *training)
{
  const PredictModel *model = training->model;

  fputs ("method,score,median,lower_quartile,upper_quartile,mean,sd,min,max\n", out);
  if (model->evaluated)
    print_csv_evaluation (out, predict_method_names[training->recipe->settings.method],
                          &model->evaluation);
  if (training->searched != NULL && training->searched->result.n_outer > 0)
    print_csv_scores (out, "search", training->searched->result.outer);
  for (guint i = 0; i < training->baselines->len; i++) {
    const CliBaseline *baseline = &g_array_index (training->baselines, CliBaseline, i);

    if (baseline->trouble == NULL)
      print_csv_evaluation (out, predict_method_names[baseline->settings.method],
                            &baseline->evaluation);
  }
}

/* -- JSON -------------------------------------------------------------------- */

static void
begin (JsonBuilder *builder, const char *name)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_object (builder);
}

static void
add_names (JsonBuilder *builder, const char *name, const char *const *names)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_array (builder);
  for (; *names != NULL; names++)
    json_builder_add_string_value (builder, *names);
  json_builder_end_array (builder);
}

static void
add_spread (JsonBuilder *builder, const char *name, const PredictSpread *spread)
{
  begin (builder, name);
  cli_add_number (builder, "median", spread->median);
  cli_add_number (builder, "lower_quartile", spread->lower_quartile);
  cli_add_number (builder, "upper_quartile", spread->upper_quartile);
  cli_add_number (builder, "mean", spread->mean);
  cli_add_number (builder, "sd", spread->sd);
  cli_add_number (builder, "min", spread->min);
  cli_add_number (builder, "max", spread->max);
  json_builder_end_object (builder);
}

static void
add_scores (JsonBuilder *builder, const PredictSpread *scores, const PredictSpread *mispredicted)
{
  begin (builder, "scores");
  for (guint score = 0; score < PREDICT_N_SCORES; score++)
    add_spread (builder, predict_score_names[score], &scores[score]);
  if (mispredicted != NULL)
    add_spread (builder, "mispredicted", mispredicted);
  json_builder_end_object (builder);
}

static void
add_evaluation (JsonBuilder *builder, const PredictEvaluation *evaluation)
{
  cli_add_integer (builder, "tests", evaluation->n_tests);
  cli_add_integer (builder, "test_samples", evaluation->test_samples);
  add_scores (builder, evaluation->scores, &evaluation->mispredicted);
}

static void
add_baselines (JsonBuilder *builder, const GArray *baselines)
{
  json_builder_set_member_name (builder, "baselines");
  json_builder_begin_array (builder);
  for (guint i = 0; i < baselines->len; i++) {
    const CliBaseline *baseline = &g_array_index (baselines, CliBaseline, i);

    json_builder_begin_object (builder);
    cli_add_string (builder, "method", predict_method_names[baseline->settings.method]);
    cli_add_string (builder, "trouble", baseline->trouble);
    if (baseline->trouble == NULL)
      add_evaluation (builder, &baseline->evaluation);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
}

static void
add_tried (JsonBuilder *builder, const CliSearched *searched)
{
  json_builder_set_member_name (builder, "best");
  json_builder_begin_array (builder);
  for (guint i = 0; i < MIN (searched->result.tried->len, CLI_SETS_SHOWN); i++) {
    const PredictFeatureChoice *choice =
        &g_array_index (searched->result.tried, PredictFeatureChoice, i);
    g_autofree const char **names = cli_choice_names (searched, choice);

    json_builder_begin_object (builder);
    cli_add_number (builder, "inner_score", choice->score);
    add_names (builder, "features", names);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
}

static void
add_search (JsonBuilder *builder, const CliSearched *searched)
{
  const PredictSearchResult *result = &searched->result;

  begin (builder, "search");
  cli_add_string (builder, "score", predict_score_names[searched->search.score]);
  cli_add_integer (builder, "tried", result->tried->len);
  add_tried (builder, searched);
  cli_add_integer (builder, "outer_splits", result->n_outer);
  if (result->n_outer > 0) {
    begin (builder, "outer");
    add_scores (builder, result->outer, NULL);
    json_builder_end_object (builder);
    begin (builder, "times_chosen");
    for (guint i = 0; searched->candidates[i] != NULL; i++)
      cli_add_integer (builder, searched->candidates[i], result->times_chosen[i]);
    json_builder_end_object (builder);
  }
  json_builder_end_object (builder);
}

static void
add_importances (JsonBuilder *builder, const char *name, const PredictModel *model,
                 const double *importances)
{
  if (importances == NULL)
    return;
  begin (builder, name);
  for (guint i = 0; model->features[i] != NULL; i++)
    cli_add_number (builder, model->features[i], importances[i]);
  json_builder_end_object (builder);
}

static JsonNode *
training_record (const CliTraining *training)
{
  const PredictRecipe *recipe = training->recipe;
  const PredictModel *model = training->model;
  g_autofree char *settings = cli_describe_settings (&recipe->settings);
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  cli_add_string (builder, "table", training->table->source);
  cli_add_integer (builder, "samples", model->n_samples);
  cli_add_string (builder, "target", recipe->target);
  json_builder_set_member_name (builder, "log_target");
  json_builder_add_boolean_value (builder, recipe->log_target);
  cli_add_string (builder, "group", recipe->group);
  add_names (builder, "features", recipe->features);
  cli_add_strings (builder, "left_out", training->left_out);
  cli_add_string (builder, "method", predict_method_names[recipe->settings.method]);
  cli_add_string (builder, "settings", settings);
  cli_add_integer (builder, "seed", recipe->settings.seed);
  if (model->evaluated) {
    g_autofree char *trial = cli_describe_trial (&recipe->trial);

    begin (builder, "evaluation");
    cli_add_string (builder, "trial", trial);
    add_evaluation (builder, &model->evaluation);
    json_builder_end_object (builder);
  }
  cli_add_number (builder, "out_of_bag_r2", model->out_of_bag_r2);
  if (training->searched != NULL)
    add_search (builder, training->searched);
  if (training->baselines->len > 0)
    add_baselines (builder, training->baselines);
  add_importances (builder, "importances", model, model->importances);
  add_importances (builder, "permutation_importances", model, model->permutation);
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}

void
cli_training_print (FILE *out, const CliTraining *training, CliFormat format)
{
  g_autoptr (JsonNode) record = NULL;

  switch (format) {
  case CLI_FORMAT_TABLE: cli_training_print_table (out, training); break;
  case CLI_FORMAT_CSV: print_csv (out, training); break;
  case CLI_FORMAT_JSON:
    record = training_record (training);
    cli_print_record (out, record, CLI_FORMAT_JSON);
    break;
  }
}
