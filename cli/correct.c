/* correct.c - `hopcast correct`: mends a performance model by what was measured.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/correct_print.h"
#include "cli/options.h"
#include "cli/outfile.h"
#include "cli/progress.h"
#include "predictors/table.h"

#include <math.h>
#include <string.h>

static const char *const mode_names[] = { "best", "paper", NULL };

typedef struct {
  CliFormatOptions format;
  CliTalkOptions talk;
  char *model, *observed, *test, *mode, *loss, *output, *points;
  char **ranges;
  int number, n_trials, n_threads, population, generations;
  gint64 seed;
} Options;

static void
options_clear (Options *options)
{
  cli_format_options_clear (&options->format);
  g_free (options->model);
  g_free (options->observed);
  g_free (options->test);
  g_free (options->mode);
  g_free (options->loss);
  g_free (options->output);
  g_free (options->points);
  g_strfreev (options->ranges);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_options (GOptionContext *context, Options *options)
{
  const GOptionEntry entries[] = {
    { "model", 0, 0, G_OPTION_ARG_FILENAME, &options->model,
      "The performance model: variables, parameters with bounds, time = FORMULA", "FILE" },
    { "observed", 0, 0, G_OPTION_ARG_STRING, &options->observed, "The measured times, in s",
      "COLUMN" },
    { "test", 0, 0, G_OPTION_ARG_FILENAME, &options->test,
      "Points that are only predicted: a table with the same columns", "TABLE" },
    { "mode", 0, 0, G_OPTION_ARG_STRING, &options->mode,
      "best (default; least squares on every number, short formulas, no poles) or paper", "MODE" },
    { "case", 0, 0, G_OPTION_ARG_INT, &options->number,
      "The term takes the model's time (1, 3) or is added to it (2, 4); parameters stay (1, 2) or "
      "are searched (3, 4; default: 4)",
      "N" },
    { "loss", 0, 0, G_OPTION_ARG_STRING, &options->loss,
      "What is made small: rmse, mre, logrmse or mape (default: logrmse; paper: rmse)", "NAME" },
    { "predict-range", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->ranges,
      "Where the mended model will be used, besides where the points are, such as np=1:1024: no "
      "formula that may be undefined there; may be given again",
      "VARIABLE=LOW:HIGH" },
    { "trials", 0, 0, G_OPTION_ARG_INT, &options->n_trials,
      "How often all is done anew (default: 10; paper: 30)", "N" },
    { "population", 0, 0, G_OPTION_ARG_INT, &options->population,
      "Formulas in a generation (default: 300; paper: 3000)", "N" },
    { "generations", 0, 0, G_OPTION_ARG_INT, &options->generations,
      "How many follow the first (default: 40; paper: 100)", "N" },
    { "seed", 0, 0, G_OPTION_ARG_INT64, &options->seed, "Of all that is random (default: 1)", "N" },
    { "threads", 0, 0, G_OPTION_ARG_INT, &options->n_threads,
      "Trials at a time (default: all processors); the result is the same", "N" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output,
      "Write the mended model as a model file", "FILE" },
    { "points", 0, 0, G_OPTION_ARG_FILENAME, &options->points,
      "Write every point with its times: observed, of the model, of the mended model (CSV)",
      "FILE" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_format_options (context, &options->format);
  cli_add_quiet_option (context, &options->talk);
}

/* -- settings -------------------------------------------------------------- */

static gboolean
refuse (GError **error, const char *text)
{
  g_set_error_literal (error, CLI_ERROR, CLI_ERROR_USAGE, text);
  return FALSE;
}

/* Of an option whose default is 0. */
static gboolean
parse_count (const char *option, int given, guint least, guint most, guint *count, GError **error)
{
  if (given == 0)
    return TRUE;
  if (given < (int) least || given > (int) most) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "%s: %d is not within %u..%u", option, given,
                 least, most);
    return FALSE;
  }
  *count = (guint) given;
  return TRUE;
}

static gboolean
parse_settings (Options *options, PredictCorrectionSettings *settings, GError **error)
{
  int mode = 0, loss = 0;

  if (options->model == NULL || options->observed == NULL)
    return refuse (error, options->model == NULL ? "--model FILE is missing"
                                                 : "--observed COLUMN is missing");
  if (options->mode && (mode = cli_parse_choice ("--mode", options->mode, mode_names, error)) < 0)
    return FALSE;
  *settings = predict_correction_settings ((PredictCorrectionMode) mode);
  settings->n_threads = g_get_num_processors ();
  if (options->loss &&
      (loss = cli_parse_choice ("--loss", options->loss, predict_loss_names, error)) < 0)
    return FALSE;
  if (options->loss)
    settings->loss = (PredictLoss) loss;
  if (options->seed < 0)
    return refuse (error, "--seed: must not be negative");
  settings->seed = (uint64_t) options->seed;
  return parse_count ("--case", options->number, 1, 4, &settings->number, error) &&
         parse_count ("--trials", options->n_trials, 1, 1000000, &settings->n_trials, error) &&
         parse_count ("--threads", options->n_threads, 1, 1024, &settings->n_threads, error) &&
         parse_count ("--population", options->population, 10, 100000, &settings->population,
                      error) &&
         parse_count ("--generations", options->generations, 1, 1000000, &settings->generations,
                      error) &&
         cli_parse_format (&options->format, error);
}

/* -- points ---------------------------------------------------------------- */

typedef struct {
  PredictTable *table;
  const double **columns;
} Points;

static void
points_clear (Points *points)
{
  predict_table_free (points->table);
  g_free (points->columns);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Points, points_clear)

/* The first row at which the model has no value is an error, with its line. */
static gboolean
check_defined (const PredictBaseModel *model, const Points *points, GError **error)
{
  const PredictPoints all = { points->columns, points->table->n_rows };
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  g_autofree double *parameters = predict_base_model_values (model);
  g_autofree double *times = g_new (double, all.n);
  g_autofree char *place = NULL, *why = NULL;
  uint64_t row = 0;

  if (predict_values (model->time, &all, parameters, workspace, times) == 0)
    return TRUE;
  while (isfinite (times[row]))
    row++;
  why = predict_undefined (model->time, &model->names, &all, row, parameters);
  place = predict_table_place (points->table, row);
  g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: %s: %s", place, model->source, why);
  return FALSE;
}

static gboolean
read_points (const char *path, const PredictBaseModel *model, const char *observed, Points *points,
             PredictPoints *in_columns, const double **in_observed, GError **error)
{
  points->table = predict_table_read (path, error);
  if (points->table == NULL ||
      !(*in_observed = predict_table_finite (points->table, observed, error)))
    return FALSE;
  points->columns = g_new0 (const double *, model->n_variables + 1);
  for (uint32_t at = 0; at < model->n_variables; at++)
    if (!(points->columns[at] =
              predict_table_finite (points->table, model->names.variables[at], error)))
      return FALSE;
  *in_columns = (PredictPoints){ points->columns, points->table->n_rows };
  return check_defined (model, points, error);
}

/* -- where the model will be used ------------------------------------------ */

static void
extend_by_points (const PredictPoints *points, uint32_t n_variables, PredictRange *box)
{
  for (uint32_t at = 0; at < n_variables; at++)
    for (uint64_t point = 0; point < points->n; point++) {
      box[at].low = MIN (box[at].low, points->columns[at][point]);
      box[at].high = MAX (box[at].high, points->columns[at][point]);
    }
}

static gboolean
extend_by_option (const PredictBaseModel *model, const char *text, PredictRange *box,
                  GError **error)
{
  const char *equals = strchr (text, '=');
  g_autofree char *name = equals ? g_strndup (text, (gsize) (equals - text)) : NULL;
  char *colon = NULL, *end = NULL;
  double low = equals ? g_ascii_strtod (equals + 1, &colon) : (double) NAN;
  double high = colon && colon > equals + 1 && *colon == ':' ? g_ascii_strtod (colon + 1, &end)
                                                             : (double) NAN;

  if (!(low <= high) || !isfinite (low) || !isfinite (high) || end == colon + 1 || *end != '\0') {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE,
                 "--predict-range: \"%s\" is not VARIABLE=LOW:HIGH", text);
    return FALSE;
  }
  for (uint32_t at = 0; at < model->n_variables; at++)
    if (!strcmp (name, model->names.variables[at])) {
      box[at].low = MIN (box[at].low, low);
      box[at].high = MAX (box[at].high, high);
      return TRUE;
    }
  g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--predict-range: %s has no variable \"%s\"",
               model->source, name);
  return FALSE;
}

static PredictRange *
find_box (const PredictCorrectionData *data, char **ranges, GError **error)
{
  const PredictBaseModel *model = data->model;
  g_autofree PredictRange *box = g_new (PredictRange, model->n_variables + 1);

  for (uint32_t at = 0; at < model->n_variables; at++)
    box[at] = predict_range (INFINITY, -INFINITY);
  extend_by_points (&data->train, model->n_variables, box);
  extend_by_points (&data->test, model->n_variables, box);
  for (char **range = ranges; range != NULL && *range != NULL; range++)
    if (!extend_by_option (model, *range, box, error))
      return NULL;
  return g_steal_pointer (&box);
}

/* -- the command ------------------------------------------------------------- */

static gboolean
write_files (const CliCorrection *shown, const Options *options, GError **error)
{
  const PredictCorrection *correction = shown->correction;
  g_autoptr (CliOutfile) model = NULL, points = NULL;
  g_autofree char *text = NULL;

  if (options->output != NULL && correction->best < correction->n_trials) {
    text = predict_correction_text (shown->data->model, &correction->trials[correction->best]);
    if (!(model = cli_outfile_new (options->output, error)))
      return FALSE;
    fputs (text, cli_outfile_stream (model));
    if (!cli_outfile_commit (model, error))
      return FALSE;
  }
  if (options->points == NULL)
    return TRUE;
  if (!(points = cli_outfile_new (options->points, error)))
    return FALSE;
  cli_correction_print_points (cli_outfile_stream (points), shown);
  return cli_outfile_commit (points, error);
}

/* What people would otherwise have to find in the figures. */
static void
tell_advice (const PredictCorrectionData *data, const PredictCorrection *correction)
{
  const PredictBaseModel *model = data->model;
  gboolean tested = data->test.n > 0;
  const PredictErrors *refitted = tested ? &correction->refitted_test : &correction->refitted_train;
  const PredictCorrectionTrial *best =
      correction->best < correction->n_trials ? &correction->trials[correction->best] : NULL;
  const PredictErrors *corrected = best ? (tested ? &best->test : &best->train) : NULL;

  for (uint32_t at = 0; at < model->n_parameters; at++) {
    const PredictParameter *parameter = &model->parameters[at];
    double value = correction->refitted[at];

    if (value <= parameter->low || value >= parameter->high)
      fprintf (stderr,
               "hopcast: warning: %s: fitted by itself, parameter %s ends at its bound, %g: the "
               "formula lacks something, or the bound is wrong\n",
               model->source, parameter->name, value);
  }
  if (corrected != NULL && refitted->log_rmse < corrected->log_rmse)
    fprintf (stderr,
             "hopcast: warning: %s: fitting its parameters (log_rmse %.4g) is better than the "
             "corrected model (%.4g)\n",
             model->source, refitted->log_rmse, corrected->log_rmse);
}

static gboolean
correct (const PredictCorrectionData *data, const PredictCorrectionSettings *settings,
         const Options *options, GError **error)
{
  g_autoptr (CliProgress) progress = cli_progress_new (options->talk.quiet);
  g_autoptr (PredictCorrection) correction =
      predict_correct (data, settings, cli_progress_share, progress, error);
  CliCorrection shown = { data, settings, correction };

  g_clear_pointer (&progress, cli_progress_free);
  if (correction == NULL) {
    g_prefix_error (error, "%s: ", data->model->source);
    return FALSE;
  }
  if (!write_files (&shown, options, error))
    return FALSE;
  if (!options->talk.quiet)
    tell_advice (data, correction);
  cli_correction_print (stdout, &shown, options->format.format);
  return TRUE;
}

int
cli_correct (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "TRAIN", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "TRAIN", "Mends a performance model by measured times: finds a term that corrects it, and "
               "its parameters within their bounds.");
  g_auto (Options) options = { .seed = 1 };
  PredictCorrectionSettings settings;
  g_autoptr (PredictBaseModel) model = NULL;
  g_auto (Points) train = { 0 }, test = { 0 };
  g_autofree PredictRange *box = NULL;
  PredictCorrectionData data = { 0 };
  const char *path;

  add_options (context, &options);
  if (!cli_parse (context, argc, argv, names, &path, error) ||
      !parse_settings (&options, &settings, error) ||
      !(model = predict_base_model_read (options.model, error)))
    return CLI_FAILED;
  data.model = model;
  if (!read_points (path, model, options.observed, &train, &data.train, &data.train_observed,
                    error) ||
      (options.test && !read_points (options.test, model, options.observed, &test, &data.test,
                                     &data.test_observed, error)) ||
      !(box = find_box (&data, options.ranges, error)))
    return CLI_FAILED;
  data.box = box;
  return correct (&data, &settings, &options, error) ? CLI_DONE : CLI_FAILED;
}
