/* train_table.c - what training found, as tables and bars for a person.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/learn/train_table.h"

#include "cli/learn/learn_settings.h"
#include "cli/terminal.h"

#include <math.h>
#include <string.h>

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

void
cli_training_print_table (FILE *out, const CliTraining *training)
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
