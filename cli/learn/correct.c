/* correct.c - `hopcast correct`: mends a performance model by what was measured.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/learn/correct_points.h"
#include "cli/learn/correct_print.h"
#include "cli/learn/learning_options.h"
#include "cli/options.h"
#include "cli/outfile.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "predictors/model/feature_sets.h"

#include <string.h>

static const char *const mode_names[] = { "best", "paper", NULL };

typedef struct {
  CliFormatOptions format;
  CliTalkOptions talk;
  CliLearningOptions learning;
  char *model, *observed, *from, *measured, *features, *test, *mode, *loss, *functions, *output;
  char *points, *refitted;
  char **ranges;
  int number, n_trials, n_threads, population, generations;
  gboolean anyway;
  gint64 seed;
} Options;

static void
options_clear (Options *options)
{
  cli_format_options_clear (&options->format);
  cli_learning_options_clear (&options->learning);
  g_free (options->model);
  g_free (options->observed);
  g_free (options->from);
  g_free (options->measured);
  g_free (options->features);
  g_free (options->test);
  g_free (options->mode);
  g_free (options->loss);
  g_free (options->functions);
  g_free (options->output);
  g_free (options->points);
  g_free (options->refitted);
  g_strfreev (options->ranges);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_options (GOptionContext *context, Options *options)
{
  const GOptionEntry entries[] = {
    { "model", 0, 0, G_OPTION_ARG_FILENAME, &options->model,
      "The performance model: variables, parameters with bounds, time = FORMULA (default with "
      "--from: the simulated time)",
      "FILE" },
    { "observed", 0, 0, G_OPTION_ARG_STRING, &options->observed,
      "The measured times, in s (default with --from: measured_s)", "COLUMN" },
    { "from", 0, 0, G_OPTION_ARG_FILENAME, &options->from,
      "Instead of TRAIN: a store, some of whose runs were also measured", "STORE" },
    { "measured", 0, 0, G_OPTION_ARG_FILENAME, &options->measured,
      "With --from: a table of which runs were measured (trace, machine, mapping, ...) and their "
      "times",
      "TABLE" },
    { "features", 0, 0, G_OPTION_ARG_STRING, &options->features,
      "Columns that the term may also name, and sets of them such as H3", "A,B,..." },
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
    { "functions", 0, 0, G_OPTION_ARG_STRING, &options->functions,
      "What terms are made of, with commas: + - * / ^ min max log log2 exp sqrt sin cos abs ceil "
      "floor (default: +,-,*,/,*,^,log,exp,sqrt,max; paper: +,-,*,/,^,log,exp)",
      "LIST" },
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
      "Write the mended model as a model file, if the verdict is to take the term", "FILE" },
    { "anyway", 0, 0, G_OPTION_ARG_NONE, &options->anyway, "With -o: whatever the verdict is",
      NULL },
    { "refitted", 0, 0, G_OPTION_ARG_FILENAME, &options->refitted,
      "Write the model with its parameters fitted, without a term", "FILE" },
    { "points", 0, 0, G_OPTION_ARG_FILENAME, &options->points,
      "Write every point with its times: observed, of the model, of the mended model (CSV)",
      "FILE" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_learning_options (context, &options->learning);
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

/* Of an option whose default is G_MININT: not given. */
static gboolean
parse_count (const char *option, int given, guint least, guint most, guint *count, GError **error)
{
  if (given == G_MININT)
    return TRUE;
  if (given < (int) least || given > (int) most) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "%s: %d is not within %u..%u", option, given,
                 least, most);
    return FALSE;
  }
  *count = (guint) given;
  return TRUE;
}

/* Their names, each of which may stand again, to be drawn more often; the caller frees. */
static PredictOp *
parse_functions (const char *list, guint *n, GError **error)
{
  g_auto (GStrv) names = g_strsplit (list, ",", -1);
  g_autofree PredictOp *functions = g_new (PredictOp, g_strv_length (names) + 1);

  for (*n = 0; names[*n] != NULL; (*n)++) {
    PredictOp op = PREDICT_OP_ADD;

    while (op < PREDICT_N_OPS && strcmp (g_strstrip (names[*n]), predict_ops[op].name) != 0)
      op++;
    if (op == PREDICT_N_OPS) {
      g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--functions: \"%s\" is none", names[*n]);
      return NULL;
    }
    functions[*n] = op;
  }
  if (*n == 0)
    g_set_error_literal (error, CLI_ERROR, CLI_ERROR_USAGE, "--functions: none is named");
  return *n > 0 ? g_steal_pointer (&functions) : NULL;
}

/* Of what is mended, and by what: a table, or a store and a table. */
static gboolean
check_sources (Options *options, const char *train, GError **error)
{
  if (options->from == NULL) {
    if (options->measured || options->learning.observed_text || options->learning.features_text)
      return refuse (error, "--measured, --observed-runs and --feature-runs need --from STORE");
    if (train == NULL)
      return refuse (error, "TRAIN is missing, a table, or --from STORE");
    if (options->model == NULL || options->observed == NULL)
      return refuse (error, options->model == NULL ? "--model FILE is missing"
                                                   : "--observed COLUMN is missing");
    return TRUE;
  }
  if (train != NULL)
    return refuse (error, "TRAIN does not go with --from STORE; what was measured is --measured");
  if (options->measured == NULL)
    return refuse (error, "--from STORE needs --measured TABLE");
  if (options->observed == NULL)
    options->observed = g_strdup ("measured_s");
  return cli_parse_learning (&options->learning, error);
}

static gboolean
parse_settings (Options *options, PredictCorrectionSettings *settings, GError **error)
{
  int mode = 0, loss = 0;

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
  if (options->anyway && options->output == NULL)
    return refuse (error, "--anyway needs -o FILE");
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

/* -- the command ------------------------------------------------------------- */

static gboolean
write_text (const char *path, const char *text, GError **error)
{
  g_autoptr (CliOutfile) file = cli_outfile_new (path, error);

  if (file == NULL)
    return FALSE;
  fputs (text, cli_outfile_stream (file));
  return cli_outfile_commit (file, error);
}

/* The corrected model is written only when the verdict is for it; FALSE and *error otherwise. */
static gboolean
write_corrected (const CliCorrection *shown, const Options *options, GError **error)
{
  const PredictCorrection *correction = shown->correction;
  const PredictCorrectionTrial *best =
      correction->best < correction->n_trials ? &correction->trials[correction->best] : NULL;
  g_autofree char *text = NULL;

  if (options->output == NULL)
    return TRUE;
  if (best == NULL || (correction->verdict != PREDICT_TAKE_TERM && !options->anyway)) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_WRITE, "%s: not written: %s: %s%s", options->output,
                 cli_correction_verdict (correction), correction->reason,
                 best != NULL ? " (--anyway writes it all the same)" : "");
    return FALSE;
  }
  text = predict_correction_text (shown->data->model, best);
  return write_text (options->output, text, error);
}

static gboolean
write_refitted (const CliCorrection *shown, const Options *options, GError **error)
{
  g_autofree char *text = predict_base_model_text (shown->data->model, shown->correction->refitted);

  return options->refitted == NULL || write_text (options->refitted, text, error);
}

static gboolean
write_files (const CliCorrection *shown, const Options *options, GError **error)
{
  g_autoptr (CliOutfile) points = NULL;

  if (!write_refitted (shown, options, error))
    return FALSE;
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
  const PredictCorrectionTrial *best =
      correction->best < correction->n_trials ? &correction->trials[correction->best] : NULL;

  for (uint32_t at = 0; at < model->n_parameters; at++) {
    const PredictParameter *parameter = &model->parameters[at];

    if (predict_parameter_at_bound (parameter, correction->refitted[at]))
      cli_printf (stderr,
                  "hopcast: warning: %s: fitted by itself, parameter %s ends at its bound, %g: the "
                  "formula lacks something, or the bound is wrong\n",
                  model->source, parameter->name, correction->refitted[at]);
  }
  if (best != NULL && correction->verdict == PREDICT_TAKE_TERM && data->test.n > 0 &&
      correction->refitted_test.log_rmse < best->test.log_rmse)
    cli_printf (
        stderr,
        "hopcast: warning: %s: at the test points, which the verdict does not look at, fitting "
        "the parameters (log_rmse %.4g) is better than the corrected model (%.4g)\n",
        model->source, correction->refitted_test.log_rmse, best->test.log_rmse);
  if (best != NULL && best->brief->n >= data->train.n)
    cli_printf (stderr,
                "hopcast: warning: %s: a term of %u steps from %" G_GUINT64_FORMAT
                " points: it can pass through all of them and still be wrong elsewhere\n",
                model->source, best->brief->n, (guint64) data->train.n);
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
  return write_corrected (&shown, options, error);
}

/* -- points and model --------------------------------------------------------- */

typedef struct {
  CliPoints train, test; /* test.table NULL: there is none */
  PredictBaseModel *model;
} Work;

static void
work_clear (Work *work)
{
  cli_points_clear (&work->train);
  cli_points_clear (&work->test);
  predict_base_model_free (work->model);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Work, work_clear)

static gboolean
read_points (Work *work, const char *train, const Options *options, GError **error)
{
  g_autoptr (PredictTable) runs = NULL;

  /* A formula may do without the simulated time, with what a load tells. */
  if (options->from != NULL &&
      !(runs = cli_learning_table (options->from, &options->learning, options->model == NULL,
                                   options->talk.quiet, error)))
    return FALSE;
  return cli_points_read (&work->train, train ? train : options->measured, options->observed, runs,
                          error) &&
         (options->test == NULL ||
          cli_points_read (&work->test, options->test, options->observed, runs, error));
}

static gboolean
open_model (Work *work, const Options *options, GError **error)
{
  g_auto (GStrv) features = NULL;
  g_autoptr (GError) trouble = NULL;

  work->model = options->model ? predict_base_model_read (options->model, error)
                               : cli_simulator_model (&work->train);
  if (work->model == NULL || options->features == NULL)
    return work->model != NULL;
  if (!(features = predict_feature_list (options->features, &trouble))) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--features: %s", trouble->message);
    return FALSE;
  }
  return predict_base_model_add_variables (work->model, (const char *const *) features, error);
}

static gboolean
prepare (Work *work, const char *train, const Options *options, GError **error)
{
  return read_points (work, train, options, error) && open_model (work, options, error) &&
         cli_points_bind (&work->train, work->model, error) &&
         (options->test == NULL || cli_points_bind (&work->test, work->model, error));
}

int
cli_correct (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "[TRAIN]", NULL };
  g_autoptr (GOptionContext) context =
      cli_context_new ("TRAIN | --from STORE --measured TABLE",
                       "Mends a performance model, or the simulator, by measured times: finds a "
                       "term that corrects it, and its parameters within their bounds.");
  g_auto (Options) options = { .seed = 1,
                               .number = G_MININT,
                               .n_trials = G_MININT,
                               .n_threads = G_MININT,
                               .population = G_MININT,
                               .generations = G_MININT };
  g_auto (Work) work = { .model = NULL };
  PredictCorrectionSettings settings;
  g_autofree PredictOp *functions = NULL;
  g_autofree PredictRange *box = NULL;
  PredictCorrectionData data;
  const char *train;

  add_options (context, &options);
  if (!cli_parse (context, argc, argv, names, &train, error) ||
      !check_sources (&options, train, error) || !parse_settings (&options, &settings, error) ||
      (options.functions &&
       !(functions = parse_functions (options.functions, &settings.n_functions, error))) ||
      !prepare (&work, train, &options, error))
    return CLI_FAILED;
  settings.functions = functions;
  data = (PredictCorrectionData){
    .model = work.model,
    .train = { work.train.columns, work.train.table->n_rows },
    .test = { work.test.columns, work.test.table ? work.test.table->n_rows : 0 },
    .train_observed = work.train.observed,
    .test_observed = work.test.observed,
  };
  if (!(box = cli_points_box (&data, options.ranges, error)))
    return CLI_FAILED;
  data.box = box;
  return correct (&data, &settings, &options, error) ? CLI_DONE : CLI_FAILED;
}
