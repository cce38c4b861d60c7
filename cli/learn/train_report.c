/* train_report.c - results of training as a table, CSV and JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/learn/train_report.h"

#include "cli/print/columns.h"
#include "cli/learn/learn_settings.h"
#include "cli/print/terminal.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Of the sets that a search tried, the best so many are shown. */
#define CLI_SETS_SHOWN 5u

#define BAR_WIDTH 32

/* -- what was learned from ----------------------------------------------- */

static void
print_line (FILE *out, const char *name, const char *text)
{
  cli_printf (out, "  %-12s  %s\n", name, text);
}

static void
print_table_line (FILE *out, const CliTraining *training)
{
  const PredictRecipe *recipe = training->recipe;
  GString *text = g_string_new (training->table->source);

  g_string_append_printf (text, ", %" G_GUINT64_FORMAT " rows", training->model->n_samples);
  if (recipe->group != NULL)
    g_string_append_printf (text, " in %u groups of the same %s", training->n_groups,
                            recipe->group);
  print_line (out, "table", text->str);
  g_string_free (text, TRUE);
}

static void
print_origin (FILE *out, const CliTraining *training)
{
  const PredictRecipe *recipe = training->recipe;
  g_autofree char *target =
      g_strconcat (recipe->target, recipe->log_target ? ", its logarithm" : "", NULL);
  g_autofree char *features = g_strjoinv (", ", (char **) recipe->features);
  g_autofree char *settings = cli_describe_settings (&recipe->settings);
  g_autofree char *method =
      g_strdup_printf ("%s: %s", predict_method_names[recipe->settings.method], settings);

  cli_print_heading (out, "training");
  print_table_line (out, training);
  print_line (out, "target", target);
  print_line (out, "features", features);
  for (guint i = 0; i < training->left_out->len; i++)
    print_line (out, i == 0 ? "no feature" : "", g_ptr_array_index (training->left_out, i));
  print_line (out, "method", method);
}

/* -- scores ---------------------------------------------------------------- */

static void
print_number (FILE *out, double value)
{
  if (isnan (value))
    fprintf (out, "  %10s", "-");
  else
    fprintf (out, "  %10.4g", value);
}

static void
print_spread (FILE *out, const char *name, const PredictSpread *spread)
{
  cli_printf (out, "  %-14s", name);
  print_number (out, spread->lower_quartile);
  print_number (out, spread->median);
  print_number (out, spread->upper_quartile);
  fputc ('\n', out);
}

static void
print_spreads (FILE *out, const PredictSpread *scores)
{
  fprintf (out, "  %-14s  %10s  %10s  %10s\n", "score", "25 %", "median", "75 %");
  for (guint score = 0; score < PREDICT_N_SCORES; score++)
    print_spread (out, predict_score_names[score], &scores[score]);
}

char *
cli_describe_trial (const PredictTrial *trial)
{
  double rest = 1 / trial->test_share;

  if (trial->test_share == 0)
    return g_strdup_printf ("%u folds, each predicted from the others", trial->folds);
  return g_strdup_printf ("%u random splits, 1/%g to predict from the rest", trial->repeats, rest);
}

static void
print_scores (FILE *out, const CliTraining *training)
{
  const PredictEvaluation *evaluation = &training->model->evaluation;
  g_autofree char *trial = cli_describe_trial (&training->recipe->trial);
  g_autofree char *heading = g_strdup_printf ("scores: %s (%" G_GUINT64_FORMAT " samples)", trial,
                                              evaluation->test_samples);

  fputc ('\n', out);
  cli_print_heading (out, heading);
  print_spreads (out, evaluation->scores);
  print_spread (out, "mispredicted", &evaluation->mispredicted);
  if (!isnan (training->model->out_of_bag_r2))
    fprintf (out, "  out of bag: r2 %.4g\n", training->model->out_of_bag_r2);
}

/* -- baselines --------------------------------------------------------------- */

static void
print_medians (FILE *out, PredictMethod method, const PredictEvaluation *evaluation)
{
  fprintf (out, "  %-14s", predict_method_names[method]);
  for (guint score = 0; score < PREDICT_N_SCORES; score++)
    print_number (out, evaluation->scores[score].median);
  fputc ('\n', out);
}

static void
print_baselines (FILE *out, const GArray *baselines)
{
  fputc ('\n', out);
  cli_print_heading (out, "methods with their defaults: medians of the same splits");
  fprintf (out, "  %-14s", "method");
  for (guint score = 0; score < PREDICT_N_SCORES; score++)
    fprintf (out, "  %10s", predict_score_names[score]);
  fputc ('\n', out);
  for (guint i = 0; i < baselines->len; i++) {
    const CliBaseline *baseline = &g_array_index (baselines, CliBaseline, i);

    if (baseline->trouble == NULL)
      print_medians (out, baseline->settings.method, &baseline->evaluation);
    else
      fprintf (out, "  %-14s  %s\n", predict_method_names[baseline->settings.method],
               baseline->trouble);
  }
}

/* -- the search for features ------------------------------------------------ */

const char **
cli_choice_names (const CliSearched *searched, const PredictFeatureChoice *choice)
{
  const char **names = g_new0 (const char *, choice->n + 1);

  for (guint i = 0; i < choice->n; i++)
    names[i] = searched->candidates[choice->features[i]];
  return names;
}

static void
print_tried (FILE *out, const CliSearched *searched)
{
  const char *score = predict_score_names[searched->search.score];

  for (guint i = 0; i < MIN (searched->result.tried->len, CLI_SETS_SHOWN); i++) {
    const PredictFeatureChoice *choice =
        &g_array_index (searched->result.tried, PredictFeatureChoice, i);
    g_autofree const char **names = cli_choice_names (searched, choice);
    g_autofree char *list = g_strjoinv (", ", (char **) names);

    cli_printf (out, "  %s %.4f  %s\n", score, choice->score, list);
  }
}

static void
print_outer (FILE *out, const CliSearched *searched)
{
  const PredictSearchResult *result = &searched->result;
  g_autofree char *heading =
      g_strdup_printf ("what is chosen so, scored on samples that the search has not seen: %u "
                       "random splits",
                       result->n_outer);

  fputc ('\n', out);
  cli_print_heading (out, heading);
  print_spreads (out, result->outer);
  fputc ('\n', out);
  cli_print_heading (out, "in how many of these splits a feature was chosen");
  for (guint i = 0; searched->candidates[i] != NULL; i++)
    if (result->times_chosen[i] > 0)
      cli_printf (out, "  %6u  %s\n", result->times_chosen[i], searched->candidates[i]);
}

static void
print_search (FILE *out, const CliSearched *searched)
{
  g_autofree char *heading =
      g_strdup_printf ("search: the best of %u sets of features (optimistic: scored within the "
                       "samples that chose them)",
                       searched->result.tried->len);

  fputc ('\n', out);
  cli_print_heading (out, heading);
  print_tried (out, searched);
  if (searched->result.n_outer > 0)
    print_outer (out, searched);
}

/* -- importances ------------------------------------------------------------- */

static int
name_width (char **names)
{
  glong width = 0;

  for (; *names != NULL; names++)
    width = MAX (width, g_utf8_strlen (*names, -1));
  return (int) width;
}

/* Permuting may help by chance: less than 0 has no bar. */
static void
print_importances (FILE *out, const char *heading, const PredictModel *model,
                   const double *importances)
{
  int width = name_width (model->features);
  double most = 0;

  for (guint i = 0; model->features[i] != NULL; i++)
    most = MAX (most, importances[i]);
  fputc ('\n', out);
  cli_print_heading (out, heading);
  for (guint i = 0; model->features[i] != NULL; i++) {
    int missing = width - (int) g_utf8_strlen (model->features[i], -1);
    double length = most > 0 ? ceil (importances[i] / most * BAR_WIDTH) : 0;
    char bar[BAR_WIDTH + 1] = "";

    memset (bar, '#', (gsize) CLAMP (length, 0, BAR_WIDTH));
    cli_printf (out, "  %s%*s  %8.4f  %s\n", model->features[i], missing, "", importances[i], bar);
  }
}

static void
print_table (FILE *out, const CliTraining *training)
{
  const PredictModel *model = training->model;

  print_origin (out, training);
  if (model->evaluated)
    print_scores (out, training);
  if (training->searched != NULL)
    print_search (out, training->searched);
  if (training->baselines->len > 0)
    print_baselines (out, training->baselines);
  if (model->importances != NULL)
    print_importances (out, "importances: share of the variance that the splits take away", model,
                       model->importances);
  if (model->permutation != NULL)
    print_importances (out,
                       "importances: squared error gained by permuting, as a share of the variance",
                       model, model->permutation);
}

/* --- what training found, as programs read it: CSV and JSON --- */

/* --- CSV: a line per score --- */

typedef struct {
  const char *method, *score;
  PredictSpread spread;
} Row;

#define SPREAD(field) #field, NULL, CLI_CELL_NUMBER, offsetof(Row, spread.field)
static const CliColumn columns[] = {
  { "method", NULL, CLI_CELL_TEXT, offsetof (Row, method) },
  { "score", NULL, CLI_CELL_TEXT, offsetof (Row, score) },
  { SPREAD (median) },
  { SPREAD (lower_quartile) },
  { SPREAD (upper_quartile) },
  { SPREAD (mean) },
  { SPREAD (sd) },
  { SPREAD (min) },
  { SPREAD (max) },
};
#define FIRST_SPREAD 2

/* mispredicted NULL: not known. */
static void
print_csv_scores (FILE *out, const char *method, const PredictSpread *scores,
                  const PredictSpread *mispredicted)
{
  for (guint score = 0; score <= PREDICT_N_SCORES; score++)
    if (score < PREDICT_N_SCORES || mispredicted != NULL) {
      Row row = score < PREDICT_N_SCORES
                    ? (Row){ method, predict_score_names[score], scores[score] }
                    : (Row){ method, "mispredicted", *mispredicted };

      cli_columns_print_csv_row (out, columns, G_N_ELEMENTS (columns), &row);
    }
}

static void
print_csv (FILE *out, const CliTraining *training)
{
  const PredictModel *model = training->model;

  cli_columns_print_csv_names (out, columns, G_N_ELEMENTS (columns));
  if (model->evaluated)
    print_csv_scores (out, predict_method_names[training->recipe->settings.method],
                      model->evaluation.scores, &model->evaluation.mispredicted);
  if (training->searched != NULL && training->searched->result.n_outer > 0)
    print_csv_scores (out, "search", training->searched->result.outer, NULL);
  for (guint i = 0; i < training->baselines->len; i++) {
    const CliBaseline *baseline = &g_array_index (training->baselines, CliBaseline, i);

    if (baseline->trouble == NULL)
      print_csv_scores (out, predict_method_names[baseline->settings.method],
                        baseline->evaluation.scores, &baseline->evaluation.mispredicted);
  }
}

/* -- JSON -------------------------------------------------------------------- */

static void
add_names (JsonBuilder *builder, const char *name, const char *const *names)
{
  cli_begin_array (builder, name);
  for (; *names != NULL; names++)
    json_builder_add_string_value (builder, *names);
  json_builder_end_array (builder);
}

static void
add_spread (JsonBuilder *builder, const char *name, const PredictSpread *spread)
{
  const Row row = { .spread = *spread };

  cli_begin_object (builder, name);
  cli_columns_add_json (builder, columns + FIRST_SPREAD, G_N_ELEMENTS (columns) - FIRST_SPREAD,
                        &row);
  json_builder_end_object (builder);
}

static void
add_scores (JsonBuilder *builder, const PredictSpread *scores, const PredictSpread *mispredicted)
{
  cli_begin_object (builder, "scores");
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
  cli_begin_array (builder, "baselines");
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
  cli_begin_array (builder, "best");
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

  cli_begin_object (builder, "search");
  cli_add_string (builder, "score", predict_score_names[searched->search.score]);
  cli_add_integer (builder, "tried", result->tried->len);
  add_tried (builder, searched);
  cli_add_integer (builder, "outer_splits", result->n_outer);
  if (result->n_outer > 0) {
    cli_begin_object (builder, "outer");
    add_scores (builder, result->outer, NULL);
    json_builder_end_object (builder);
    cli_begin_object (builder, "times_chosen");
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
  cli_begin_object (builder, name);
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
  cli_add_boolean (builder, "log_target", recipe->log_target);
  cli_add_string (builder, "group", recipe->group);
  add_names (builder, "features", recipe->features);
  cli_add_strings (builder, "left_out", training->left_out);
  cli_add_string (builder, "method", predict_method_names[recipe->settings.method]);
  cli_add_string (builder, "settings", settings);
  cli_add_integer (builder, "seed", recipe->settings.seed);
  if (model->evaluated) {
    g_autofree char *trial = cli_describe_trial (&recipe->trial);

    cli_begin_object (builder, "evaluation");
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
  case CLI_FORMAT_TABLE: print_table (out, training); break;
  case CLI_FORMAT_CSV: print_csv (out, training); break;
  case CLI_FORMAT_JSON:
    record = training_record (training);
    cli_print_record (out, record, CLI_FORMAT_JSON);
    break;
  }
}
