/* train_report.c - results of training as a table, CSV and JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 */
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

/* --- The table --- */

static void
print_line (FILE *out, const char *name, const char *text)
{
  cli_printf (out, "  %-12s  %s\n", name, text);
}

static void
print_noise (FILE *out, const PredictNoise *noise)
{
  g_autofree char *ceiling = NULL;

  if (noise->n_draws == 0)
    return;
  if (isnan (noise->noise_rcc))
    ceiling = g_strdup (noise->n_draws == 1 ? "one replica of a row: no ceiling of rcc known"
                                            : "no ceiling of rcc known");
  else
    ceiling = g_strdup_printf ("rows are means of %u or more replicas: a perfect model would have "
                               "an rcc of %.4f (halves of the replicas have %.4f)",
                               noise->n_draws, noise->noise_rcc, noise->halves_rcc);
  print_line (out, "noise", ceiling);
}

static void
print_origin (FILE *out, const CliTraining *training)
{
  const PredictRecipe *recipe = training->recipe;
  g_autofree char *groups = recipe->group ? g_strdup_printf (" in %u groups of the same %s",
                                                             training->n_groups, recipe->group)
                                          : g_strdup ("");
  g_autofree char *table =
      g_strdup_printf ("%s, %" G_GUINT64_FORMAT " rows%s", training->table->source,
                       training->model->n_samples, groups);
  g_autofree char *target = g_strconcat (recipe->target,
                                         recipe->log_target     ? ", its logarithm"
                                         : recipe->sets != NULL ? ", over its mean in a set"
                                                                : "",
                                         NULL);
  g_autofree char *features = g_strjoinv (", ", (char **) recipe->features);
  const PredictSettings *learned = predict_fitted_settings (training->model->fitted);
  g_autofree char *settings = cli_describe_settings (learned, training->model->n_samples);
  g_autofree char *method =
      g_strdup_printf ("%s%s: %s", recipe->settings.method == PREDICT_AUTO ? "auto, chosen " : "",
                       predict_method_names[learned->method], settings);

  cli_print_heading (out, "training");
  print_line (out, "table", table);
  print_line (out, "target", target);
  print_line (out, "features", features);
  for (guint i = 0; i < training->left_out->len; i++)
    print_line (out, i == 0 ? "no feature" : "", g_ptr_array_index (training->left_out, i));
  print_line (out, "method", method);
  print_noise (out, &training->noise);
}

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

/* How the scores are made, as "50 random splits, 1/3 to predict from the rest"; the caller frees. */
static char *
describe_trial (const PredictTrial *trial)
{
  if (trial->test_share == 0)
    return g_strdup_printf ("%u folds, each predicted from the others", trial->folds);
  return g_strdup_printf ("%u random splits, 1/%g to predict from the rest", trial->repeats,
                          1 / trial->test_share);
}

const char **
cli_choice_names (const CliSearched *searched, const PredictFeatureChoice *choice)
{
  const char **names = g_new0 (const char *, choice->n + 1);

  for (guint i = 0; i < choice->n; i++)
    names[i] = searched->candidates[choice->features[i]];
  return names;
}

static void
print_section (FILE *out, const char *heading)
{
  fputc ('\n', out);
  cli_print_heading (out, heading);
}

/* Permuting may improve a prediction by chance: an importance below 0 has no bar. */
static void
print_importances (FILE *out, const char *heading, const PredictModel *model,
                   const double *importances)
{
  glong width = 0;
  double most = 0;

  for (guint i = 0; model->features[i] != NULL; i++) {
    width = MAX (width, g_utf8_strlen (model->features[i], -1));
    most = MAX (most, importances[i]);
  }
  print_section (out, heading);
  for (guint i = 0; model->features[i] != NULL; i++) {
    int missing = (int) (width - g_utf8_strlen (model->features[i], -1));
    double length = most > 0 ? ceil (importances[i] / most * BAR_WIDTH) : 0;
    char bar[BAR_WIDTH + 1] = "";

    memset (bar, '#', (gsize) CLAMP (length, 0, BAR_WIDTH));
    cli_printf (out, "  %s%*s  %8.4f  %s\n", model->features[i], missing, "", importances[i], bar);
  }
}

/* --- How often intervals hold the truth --- */

/* Columns that only groups, or only tenths, have. */
enum { HAS_GROUPS = 1 };

static const CliColumn coverage_columns[] = {
  { "by", "by", CLI_CELL_TEXT, offsetof (PredictCoverage, by) },
  { "value", "value", CLI_CELL_TEXT, offsetof (PredictCoverage, value) },
  { "predicted_from", "from", CLI_CELL_NUMBER, offsetof (PredictCoverage, from), "%.4g" },
  { "predicted_to", "to", CLI_CELL_NUMBER, offsetof (PredictCoverage, to), "%.4g" },
  { "rows", "rows", CLI_CELL_U64, offsetof (PredictCoverage, n) },
  { "groups", "groups", CLI_CELL_U64, offsetof (PredictCoverage, groups), .needs = HAS_GROUPS },
  { "covered", "covered", CLI_CELL_SHARE, offsetof (PredictCoverage, share), "%.1f" },
  { "low", "low", CLI_CELL_SHARE, offsetof (PredictCoverage, low), "%.1f" },
  { "high", "high", CLI_CELL_SHARE, offsetof (PredictCoverage, high), "%.1f" },
  { "half_width", "half width", CLI_CELL_NUMBER, offsetof (PredictCoverage, half_width), "%.4g" },
};

static CliRows
coverage_rows (const CliTraining *training)
{
  const GArray *coverage = training->model->coverage;
  CliRows rows =
      CLI_ROWS (coverage_columns, (const PredictCoverage *) (void *) coverage->data, coverage->len);

  rows.has = training->recipe->group != NULL ? HAS_GROUPS : 0;
  return rows;
}

static void
print_coverage (FILE *out, const CliTraining *training)
{
  g_autofree char *heading = NULL;
  CliRows rows = coverage_rows (training);

  if (rows.n_rows == 0)
    return;
  heading = g_strdup_printf (
      "coverage: rows within their %g %% interval, calibrated without them; low and high: 95 %% "
      "bounds%s",
      100 * PREDICT_COVERAGE_LEVEL,
      training->recipe->log_target ? "; half widths of logarithms" : "");
  print_section (out, heading);
  cli_rows_print_table (out, &rows, "  ");
}

/* What --method auto compared. */
static void
print_choice (FILE *out, const CliTraining *training)
{
  const PredictChoice *choice = predict_fitted_choice (training->model->fitted);
  PredictMethod chosen = predict_fitted_settings (training->model->fitted)->method;
  g_autofree char *heading = NULL;

  if (choice == NULL || choice->n_folds == 0)
    return;
  heading =
      g_strdup_printf ("choice: rmse%s on %u folds; the scores above choose in each split anew",
                       training->recipe->log_target ? " of logarithms" : "", choice->n_folds);
  print_section (out, heading);
  for (guint i = 0; i < PREDICT_CHOICE_TRIALS; i++) {
    const PredictChoiceTrial *candidate = &choice->candidates[i];

    fprintf (out, "  %-14s", predict_method_names[candidate->method]);
    print_number (out, candidate->error);
    fprintf (out, "%s\n", candidate->method == chosen ? "  chosen" : "");
  }
}

static void
print_table (FILE *out, const CliTraining *training)
{
  const PredictModel *model = training->model;
  const CliSearched *searched = training->searched;
  const GArray *baselines = training->baselines;

  print_origin (out, training);
  if (model->evaluated) {
    g_autofree char *trial = describe_trial (&training->recipe->trial);
    g_autofree char *heading = g_strdup_printf ("scores: %s (%" G_GUINT64_FORMAT " samples)", trial,
                                                model->evaluation.test_samples);

    print_section (out, heading);
    print_spreads (out, model->evaluation.scores);
    print_spread (out, "mispredicted", &model->evaluation.mispredicted);
    if (!isnan (model->out_of_bag_r2))
      fprintf (out, "  out of bag: r2 %.4g\n", model->out_of_bag_r2);
  }
  print_choice (out, training);
  print_coverage (out, training);
  if (searched != NULL) {
    const PredictSearchResult *result = &searched->result;
    g_autofree char *tried =
        g_strdup_printf ("search: the best of %u sets of features (optimistic: scored within the "
                         "samples that chose them)",
                         result->tried->len);
    g_autofree char *outer =
        g_strdup_printf ("what is chosen so, scored on samples that the search has not seen: %u "
                         "random splits",
                         result->n_outer);

    print_section (out, tried);
    for (guint i = 0; i < MIN (result->tried->len, CLI_SETS_SHOWN); i++) {
      const PredictFeatureChoice *choice = &g_array_index (result->tried, PredictFeatureChoice, i);
      g_autofree const char **names = cli_choice_names (searched, choice);
      g_autofree char *list = g_strjoinv (", ", (char **) names);

      cli_printf (out, "  %s %.4f  %s\n", predict_score_names[searched->search.score],
                  choice->score, list);
    }
    if (result->n_outer > 0) {
      print_section (out, outer);
      print_spreads (out, result->outer);
      print_section (out, "in how many of these splits a feature was chosen");
      for (guint i = 0; searched->candidates[i] != NULL; i++)
        if (result->times_chosen[i] > 0)
          cli_printf (out, "  %6u  %s\n", result->times_chosen[i], searched->candidates[i]);
    }
  }
  if (baselines->len > 0) {
    print_section (out, "methods with their defaults: medians of the same splits");
    fprintf (out, "  %-14s", "method");
    for (guint score = 0; score < PREDICT_N_SCORES; score++)
      fprintf (out, "  %10s", predict_score_names[score]);
    fputc ('\n', out);
  }
  for (guint i = 0; i < baselines->len; i++) {
    const CliBaseline *baseline = &g_array_index (baselines, CliBaseline, i);

    fprintf (out, "  %-14s", predict_method_names[baseline->settings.method]);
    if (baseline->trouble != NULL)
      fprintf (out, "  %s", baseline->trouble);
    else
      for (guint score = 0; score < PREDICT_N_SCORES; score++)
        print_number (out, baseline->evaluation.scores[score].median);
    fputc ('\n', out);
  }
  if (model->importances != NULL)
    print_importances (out, "importances: share of the variance that the splits take away", model,
                       model->importances);
  if (model->permutation != NULL)
    print_importances (out,
                       "importances: squared error gained by permuting, as a share of the variance",
                       model, model->permutation);
}

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

static void
print_csv_spreads (FILE *out, const char *method, const PredictSpread *scores)
{
  for (guint score = 0; score < PREDICT_N_SCORES; score++)
    cli_columns_print_csv_row (out, columns, G_N_ELEMENTS (columns),
                               &(Row){ method, predict_score_names[score], scores[score] });
}

static void
print_csv_scores (FILE *out, PredictMethod method, const PredictEvaluation *evaluation)
{
  print_csv_spreads (out, predict_method_names[method], evaluation->scores);
  cli_columns_print_csv_row (
      out, columns, G_N_ELEMENTS (columns),
      &(Row){ predict_method_names[method], "mispredicted", evaluation->mispredicted });
}

/* The share covered as "median", its bounds as the least and the most. */
static void
print_csv_coverage (FILE *out, const GArray *coverage)
{
  for (guint i = 0; i < coverage->len; i++) {
    const PredictCoverage *one = &g_array_index (coverage, PredictCoverage, i);
    g_autofree char *score =
        *one->value != '\0' ? g_strdup_printf ("%s=%s", one->by, one->value) : g_strdup (one->by);

    cli_columns_print_csv_row (
        out, columns, G_N_ELEMENTS (columns),
        &(Row){ "coverage", score, { one->share, NAN, NAN, NAN, NAN, one->low, one->high } });
  }
}

/* --- JSON --- */

static const CliColumn noise_columns[] = {
  { "replicas", NULL, CLI_CELL_KNOWN_U32, offsetof (PredictNoise, n_draws) },
  { "noise_rcc", NULL, CLI_CELL_NUMBER, offsetof (PredictNoise, noise_rcc) },
  { "halves_rcc", NULL, CLI_CELL_NUMBER, offsetof (PredictNoise, halves_rcc) },
};

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

/* What --method auto compared; NULL: nothing. */
static void
add_choice (JsonBuilder *builder, const PredictChoice *choice)
{
  if (choice == NULL)
    return;
  cli_begin_array (builder, "choice");
  for (guint i = 0; i < PREDICT_CHOICE_TRIALS; i++) {
    json_builder_begin_object (builder);
    cli_add_string (builder, "method", predict_method_names[choice->candidates[i].method]);
    cli_add_number (builder, "rmse", choice->candidates[i].error);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
}

static JsonNode *
training_record (const CliTraining *training)
{
  const PredictRecipe *recipe = training->recipe;
  const PredictModel *model = training->model;
  const CliSearched *searched = training->searched;
  const PredictSettings *learned = predict_fitted_settings (model->fitted);
  g_autofree char *settings = cli_describe_settings (learned, model->n_samples);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  CliRows covered;

  json_builder_begin_object (builder);
  cli_add_string (builder, "schema", "hopcast.training/1");
  cli_add_string (builder, "table", training->table->source);
  cli_add_integer (builder, "samples", model->n_samples);
  cli_add_string (builder, "target", recipe->target);
  cli_add_boolean (builder, "log_target", recipe->log_target);
  cli_begin_array (builder, "sets");
  for (guint at = 0; recipe->sets != NULL && recipe->sets[at] != NULL; at++)
    json_builder_add_string_value (builder, recipe->sets[at]);
  json_builder_end_array (builder);
  cli_add_string (builder, "group", recipe->group);
  add_names (builder, "features", recipe->features);
  cli_add_strings (builder, "left_out", training->left_out);
  cli_add_string (builder, "method", predict_method_names[learned->method]);
  cli_add_string (builder, "settings", settings);
  add_choice (builder, predict_fitted_choice (model->fitted));
  cli_add_integer (builder, "seed", recipe->settings.seed);
  cli_columns_add_json (builder, noise_columns, G_N_ELEMENTS (noise_columns), &training->noise);
  if (model->evaluated) {
    g_autofree char *trial = describe_trial (&recipe->trial);

    cli_begin_object (builder, "evaluation");
    cli_add_string (builder, "trial", trial);
    add_evaluation (builder, &model->evaluation);
    json_builder_end_object (builder);
  }
  cli_add_number (builder, "out_of_bag_r2", model->out_of_bag_r2);
  cli_add_number (builder, "coverage_level", PREDICT_COVERAGE_LEVEL);
  covered = coverage_rows (training);
  cli_rows_add_json (builder, "coverage", &covered);
  if (searched != NULL) {
    const PredictSearchResult *result = &searched->result;

    cli_begin_object (builder, "search");
    cli_add_string (builder, "score", predict_score_names[searched->search.score]);
    cli_add_integer (builder, "tried", result->tried->len);
    cli_begin_array (builder, "best");
    for (guint i = 0; i < MIN (result->tried->len, CLI_SETS_SHOWN); i++) {
      const PredictFeatureChoice *choice = &g_array_index (result->tried, PredictFeatureChoice, i);
      g_autofree const char **names = cli_choice_names (searched, choice);

      json_builder_begin_object (builder);
      cli_add_number (builder, "inner_score", choice->score);
      add_names (builder, "features", names);
      json_builder_end_object (builder);
    }
    json_builder_end_array (builder);
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
  if (training->baselines->len > 0) {
    cli_begin_array (builder, "baselines");
    for (guint i = 0; i < training->baselines->len; i++) {
      const CliBaseline *baseline = &g_array_index (training->baselines, CliBaseline, i);

      json_builder_begin_object (builder);
      cli_add_string (builder, "method", predict_method_names[baseline->settings.method]);
      cli_add_string (builder, "trouble", baseline->trouble);
      if (baseline->trouble == NULL)
        add_evaluation (builder, &baseline->evaluation);
      json_builder_end_object (builder);
    }
    json_builder_end_array (builder);
  }
  add_importances (builder, "importances", model, model->importances);
  add_importances (builder, "permutation_importances", model, model->permutation);
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}

void
cli_training_print (FILE *out, const CliTraining *training, CliFormat format)
{
  const PredictModel *model = training->model;
  g_autoptr (JsonNode) record = NULL;

  switch (format) {
  case CLI_FORMAT_TABLE: print_table (out, training); break;
  case CLI_FORMAT_CSV:
    cli_columns_print_csv_names (out, columns, G_N_ELEMENTS (columns));
    if (model->evaluated)
      print_csv_scores (out, training->recipe->settings.method, &model->evaluation);
    if (!isnan (training->noise.noise_rcc))
      cli_columns_print_csv_row (
          out, columns, G_N_ELEMENTS (columns),
          &(Row){ "noise",
                  predict_score_names[PREDICT_RCC],
                  { training->noise.noise_rcc, NAN, NAN, NAN, NAN, NAN, NAN } });
    print_csv_coverage (out, model->coverage);
    if (training->searched != NULL && training->searched->result.n_outer > 0)
      print_csv_spreads (out, "search", training->searched->result.outer);
    for (guint i = 0; i < training->baselines->len; i++) {
      const CliBaseline *baseline = &g_array_index (training->baselines, CliBaseline, i);

      if (baseline->trouble == NULL)
        print_csv_scores (out, baseline->settings.method, &baseline->evaluation);
    }
    break;
  case CLI_FORMAT_JSON:
    record = training_record (training);
    cli_print_record (out, record, CLI_FORMAT_JSON);
    break;
  }
}
