/* correct_print.c - a mended model, for people and programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/learn/correct_print.h"

#include <math.h>

/* What is not defined is null. */
static void
add_error (JsonBuilder *builder, const char *name, double value)
{
  cli_add_number (builder, name, isfinite (value) ? value : (double) NAN);
}

static void
add_errors (JsonBuilder *builder, const char *name, const PredictErrors *errors)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_object (builder);
  add_error (builder, "log_rmse", errors->log_rmse);
  add_error (builder, "rmse", errors->rmse);
  add_error (builder, "mape", errors->mape);
  json_builder_end_object (builder);
}

static void
add_model (JsonBuilder *builder, const char *name, const PredictErrors *train,
           const PredictErrors *test)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_object (builder);
  add_errors (builder, "train", train);
  add_errors (builder, "test", test);
  json_builder_end_object (builder);
}

static void
add_parameters (JsonBuilder *builder, const char *name, const PredictBaseModel *model,
                const double *values)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_object (builder);
  for (uint32_t at = 0; at < model->n_parameters; at++)
    cli_add_number (builder, model->parameters[at].name, values[at]);
  json_builder_end_object (builder);
}

/* The names of variables, then that of the model's own time; the caller frees the array only. */
static const char **
brief_names (const PredictBaseModel *model, const char *base_name)
{
  const char **variables = g_new0 (const char *, model->n_variables + 2);

  for (uint32_t at = 0; at < model->n_variables; at++)
    variables[at] = model->names.variables[at];
  variables[model->n_variables] = base_name;
  return variables;
}

static char *
brief_text (const PredictBaseModel *model, const PredictExpression *brief)
{
  g_autofree char *base_name = predict_correction_base_name (model);
  g_autofree const char **variables = brief_names (model, base_name);

  return predict_expression_text (brief, &(PredictNames){ .variables = variables });
}

/* The names of those that ended at a bound. */
static void
add_at_bounds (JsonBuilder *builder, const char *name, const PredictBaseModel *model,
               const double *values)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (uint32_t at = 0; at < model->n_parameters; at++)
    if (predict_parameter_at_bound (&model->parameters[at], values[at]))
      g_ptr_array_add (names, model->parameters[at].name);
  cli_add_strings (builder, name, names);
}

/* Last, where a reader looks first. */
static void
add_verdict (JsonBuilder *builder, const CliCorrection *shown, const PredictCorrectionTrial *best)
{
  const PredictCorrection *correction = shown->correction;
  const PredictBaseModel *model = shown->data->model;

  add_at_bounds (builder, "refitted_at_bounds", model, correction->refitted);
  if (best != NULL)
    add_at_bounds (builder, "at_bounds", model, best->parameters);
  json_builder_set_member_name (builder, "left_out");
  json_builder_begin_object (builder);
  add_error (builder, "base", correction->base_folds);
  add_error (builder, "refitted", correction->refitted_folds);
  add_error (builder, "corrected", correction->corrected_folds);
  json_builder_end_object (builder);
  cli_add_string (builder, "verdict", cli_correction_verdict (correction));
  cli_add_string (builder, "reason", correction->reason);
}

static void
add_formulas (JsonBuilder *builder, const PredictBaseModel *model,
              const PredictCorrectionTrial *trial)
{
  g_autofree char *brief = brief_text (model, trial->brief);
  g_autofree char *whole = predict_expression_text (trial->time, &model->names);
  g_autofree char *latex = predict_expression_latex (trial->time, &model->names);
  g_autofree char *c =
      predict_expression_c (trial->time, &model->names, trial->parameters, "corrected_time");

  cli_add_string (builder, "term", brief);
  cli_add_string (builder, "expression", whole);
  add_parameters (builder, "parameters", model, trial->parameters);
  cli_add_string (builder, "latex", latex);
  cli_add_string (builder, "c", c);
}

static void
add_trial (JsonBuilder *builder, const PredictBaseModel *model, const PredictCorrectionTrial *trial)
{
  g_autofree char *brief = trial->brief ? brief_text (model, trial->brief) : NULL;

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "converged");
  json_builder_add_boolean_value (builder, trial->converged);
  json_builder_set_member_name (builder, "better");
  json_builder_add_boolean_value (builder, trial->better);
  cli_add_string (builder, "term", brief);
  if (trial->brief != NULL) {
    add_parameters (builder, "parameters", model, trial->parameters);
    add_error (builder, "cross_validation", trial->folds_loss);
    add_error (builder, "description", trial->description);
    add_errors (builder, "train", &trial->train);
    add_errors (builder, "test", &trial->test);
  }
  json_builder_end_object (builder);
}

static void
add_trials (JsonBuilder *builder, const CliCorrection *shown, CliFormat format)
{
  const PredictCorrection *correction = shown->correction;

  json_builder_set_member_name (builder, "trials");
  json_builder_begin_object (builder);
  cli_add_integer (builder, "made", correction->n_trials);
  cli_add_integer (builder, "converged", correction->n_converged);
  cli_add_integer (builder, "better", correction->n_better);
  cli_add_number (builder, "share_better",
                  correction->n_converged == 0
                      ? (double) NAN
                      : (double) correction->n_better / correction->n_converged);
  if (format == CLI_FORMAT_JSON) {
    json_builder_set_member_name (builder, "each");
    json_builder_begin_array (builder);
    for (guint at = 0; at < correction->n_trials; at++)
      add_trial (builder, shown->data->model, &correction->trials[at]);
    json_builder_end_array (builder);
  }
  json_builder_end_object (builder);
}

const char *
cli_correction_verdict (const PredictCorrection *correction)
{
  switch (correction->verdict) {
  case PREDICT_TAKE_TERM: return "take the term";
  case PREDICT_TAKE_REFITTED: return "take the refitted model";
  case PREDICT_TAKE_NEITHER: return "take neither";
  }
  g_assert_not_reached ();
}

void
cli_correction_print (FILE *out, const CliCorrection *shown, CliFormat format)
{
  static const char *const modes[] = { "best", "paper" };
  const PredictCorrection *correction = shown->correction;
  const PredictBaseModel *model = shown->data->model;
  const PredictCorrectionTrial *best =
      correction->best < correction->n_trials ? &correction->trials[correction->best] : NULL;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonNode) record = NULL;

  json_builder_begin_object (builder);
  cli_add_string (builder, "model", model->source);
  cli_add_string (builder, "mode", modes[shown->settings->mode]);
  cli_add_integer (builder, "case", shown->settings->number);
  cli_add_string (builder, "loss", predict_loss_names[shown->settings->loss]);
  add_model (builder, "base", &correction->base_train, &correction->base_test);
  add_model (builder, "refitted", &correction->refitted_train, &correction->refitted_test);
  add_parameters (builder, "refitted_parameters", model, correction->refitted);
  if (best != NULL) {
    add_model (builder, "corrected", &best->train, &best->test);
    add_formulas (builder, model, best);
  }
  add_trials (builder, shown, format);
  add_verdict (builder, shown, best);
  json_builder_end_object (builder);
  record = json_builder_get_root (builder);
  cli_print_record (out, record, format);
}

/* -- points --------------------------------------------------------------------- */

static void
print_set (FILE *out, const char *set, const CliCorrection *shown, const PredictPoints *points,
           const double *observed)
{
  const PredictCorrection *correction = shown->correction;
  const PredictBaseModel *model = shown->data->model;
  const PredictCorrectionTrial *best =
      correction->best < correction->n_trials ? &correction->trials[correction->best] : NULL;
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  g_autofree double *given = predict_base_model_values (model);
  g_autofree double *original = g_new (double, points->n + 1);
  g_autofree double *corrected = g_new (double, points->n + 1);
  char a[STUDY_NUMBER_SIZE], b[STUDY_NUMBER_SIZE], c[STUDY_NUMBER_SIZE];

  if (points->n == 0)
    return;
  predict_values (model->time, points, given, workspace, original);
  if (best != NULL)
    predict_values (best->time, points, best->parameters, workspace, corrected);
  for (uint64_t point = 0; point < points->n; point++)
    fprintf (out, "%s,%" G_GUINT64_FORMAT ",%s,%s,%s\n", set, point + 1,
             study_number (a, observed[point]), study_number (b, original[point]),
             best && isfinite (corrected[point]) ? study_number (c, corrected[point]) : "");
}

void
cli_correction_print_points (FILE *out, const CliCorrection *shown)
{
  const PredictCorrectionData *data = shown->data;

  fputs ("set,point,observed,original,corrected\n", out);
  print_set (out, "train", shown, &data->train, data->train_observed);
  print_set (out, "test", shown, &data->test, data->test_observed);
}
