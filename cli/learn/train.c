/* train.c - `hopcast train`: learns from a table, and tells how well.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/command.h"
#include "cli/learn/learn_features.h"
#include "cli/learn/learn_settings.h"
#include "cli/learn/learning_options.h"
#include "cli/options.h"
#include "cli/outfile.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/learn/train_report.h"
#include "cli/learn/train_warnings.h"

#include <math.h>
#include <string.h>

#define TEST_SHARE        (1.0 / 3)
#define DEFAULT_SPLITS    50
#define MAX_TESTS         100000u
#define CALIBRATION_FOLDS 10
#define PERMUTATIONS      10 /* of each feature */

typedef struct {
  CliFormatOptions format;
  CliTalkOptions talk;
  CliLearningOptions learning;
  CliMethodOptions method;
  char *target, *features, *group, *validate, *importances, *score, *output;
  gboolean log_target, baselines;
  int search; /* the most features of a set; 0: no search */
} Options;

static void
options_clear (Options *options)
{
  cli_format_options_clear (&options->format);
  cli_learning_options_clear (&options->learning);
  cli_method_options_clear (&options->method);
  g_free (options->target);
  g_free (options->features);
  g_free (options->group);
  g_free (options->validate);
  g_free (options->importances);
  g_free (options->score);
  g_free (options->output);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_options (GOptionContext *context, Options *options)
{
  const GOptionEntry what[] = {
    { "target", 0, 0, G_OPTION_ARG_STRING, &options->target,
      "The column that is to be predicted (default: time_s, of a store)", "COLUMN" },
    { "log-target", 0, 0, G_OPTION_ARG_NONE, &options->log_target,
      "Learn the logarithm of the target: ratios count, not differences", NULL },
    { "features", 0, 0, G_OPTION_ARG_STRING, &options->features,
      "The columns to learn from, and the sets H1 to H6, prior, new, all (default: every column of "
      "numbers; of a store's runs, their metrics)",
      "A,B,..." },
    { "group", 0, 0, G_OPTION_ARG_STRING, &options->group,
      "Rows with the same text here, such as those of one mapping, are never parted by a split",
      "COLUMN" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output,
      "Where to write the model (default: nowhere, only tell how good it is)", "MODEL.json" },
    { NULL },
  };
  const GOptionEntry how_good[] = {
    { "validate", 0, 0, G_OPTION_ARG_STRING, &options->validate,
      "splits:N, a third predicted from the rest N times (default: splits:50), folds:N or none",
      "HOW" },
    { "baselines", 0, 0, G_OPTION_ARG_NONE, &options->baselines,
      "Also score every method on the same splits", NULL },
    { "importances", 0, 0, G_OPTION_ARG_STRING, &options->importances,
      "impurity (default, of trees) or also permutation, of any method", "KIND" },
    { "search", 0, 0, G_OPTION_ARG_INT, &options->search,
      "Search for the best set of at most N of the features, and learn from that", "N" },
    { "score", 0, 0, G_OPTION_ARG_STRING, &options->score,
      "What --search makes best: rcc (default), tau_b, spearman, r2, mape, rmse, log_rmse",
      "SCORE" },
    { NULL },
  };

  g_option_context_add_main_entries (context, what, NULL);
  cli_add_method_options (context, &options->method);
  g_option_context_add_main_entries (context, how_good, NULL);
  cli_add_learning_options (context, &options->learning);
  cli_add_format_options (context, &options->format);
  cli_add_talk_options (context, &options->talk);
}

/* -- what the options ask for ------------------------------------------------ */

static gboolean
refuse (GError **error, const char *text)
{
  g_set_error_literal (error, CLI_ERROR, CLI_ERROR_USAGE, text);
  return FALSE;
}

/* "splits:N", "folds:N" or "none". */
static gboolean
parse_validate (const char *text, PredictTrial *trial, GError **error)
{
  const char *colon = text == NULL ? NULL : strchr (text, ':');
  gboolean is_splits = text != NULL && g_str_has_prefix (text, "splits:");
  guint64 n;

  trial->repeats = DEFAULT_SPLITS;
  trial->test_share = TEST_SHARE;
  if (text == NULL)
    return TRUE;
  if (!strcmp (text, "none")) {
    trial->repeats = 0;
    return TRUE;
  }
  if ((!is_splits && !g_str_has_prefix (text, "folds:")) ||
      !g_ascii_string_to_unsigned (colon + 1, 10, is_splits ? 1 : 2, MAX_TESTS, &n, NULL)) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE,
                 "--validate: '%s' is none of splits:N, folds:N with N of at least 2, none", text);
    return FALSE;
  }
  if (is_splits)
    trial->repeats = (guint) n;
  else
    *trial = (PredictTrial){ .repeats = 1, .folds = (guint) n };
  return TRUE;
}

/* After it, recipe->trial and ->target ... are set; not yet ->features and ->settings. */
static gboolean
check_options (const Options *options, PredictRecipe *recipe, GError **error)
{
  static const char *const kinds[] = { "impurity", "permutation", NULL };

  if (options->target == NULL)
    return refuse (error, "--target COLUMN is missing");
  if (options->group != NULL && !strcmp (options->group, options->target))
    return refuse (error, "--group: that is the target");
  if (options->search < 0)
    return refuse (error, "--search: must be at least 1");
  if (options->score != NULL && options->search == 0)
    return refuse (error, "--score needs --search N");
  if ((options->score != NULL &&
       cli_parse_choice ("--score", options->score, predict_score_names, error) < 0) ||
      (options->importances != NULL &&
       cli_parse_choice ("--importances", options->importances, kinds, error) < 0))
    return FALSE;
  *recipe = (PredictRecipe){ .target = options->target,
                             .log_target = options->log_target,
                             .group = options->group,
                             .calibration_folds = CALIBRATION_FOLDS };
  if (!parse_validate (options->validate, &recipe->trial, error))
    return FALSE;
  recipe->trial.seed = (uint64_t) options->method.seed;
  recipe->trial.log_target = options->log_target;
  if (g_strcmp0 (options->importances, kinds[1]) == 0)
    recipe->permutation_repeats = PERMUTATIONS;
  if (options->baselines && recipe->trial.repeats == 0)
    return refuse (error, "--baselines are scored: --validate none does not go with it");
  return TRUE;
}

/* -- the work ---------------------------------------------------------------- */

typedef struct {
  PredictTable *table;
  PredictRecipe recipe;
  char **features; /* of the recipe */
  GPtrArray *left_out;
  PredictSamples *samples; /* of the recipe's features */
  uint32_t *group, n_groups;
  CliSearched *searched;
  PredictModel *model;
  GArray *baselines;
} Work;

static void
work_clear (Work *work)
{
  g_clear_pointer (&work->table, predict_table_free);
  g_clear_pointer (&work->features, g_strfreev);
  g_clear_pointer (&work->left_out, g_ptr_array_unref);
  g_clear_pointer (&work->samples, predict_samples_free);
  g_clear_pointer (&work->group, g_free);
  g_clear_pointer (&work->searched, cli_searched_free);
  g_clear_pointer (&work->model, predict_model_free);
  g_clear_pointer (&work->baselines, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Work, work_clear)

static CliTrainInput
input_of (const Work *work, const Options *options)
{
  return (CliTrainInput){ &work->recipe, work->samples, work->group, work->n_groups,
                          options->talk.quiet };
}

static gboolean
take_samples (Work *work, GError **error)
{
  const PredictRecipe *recipe = &work->recipe;

  g_clear_pointer (&work->samples, predict_samples_free);
  work->samples = predict_samples_from (work->table, recipe->features, recipe->target,
                                        recipe->log_target, error);
  return work->samples != NULL;
}

static gboolean
take_table (Work *work, const char *path, const Options *options, GError **error)
{
  work->table = cli_learning_table (path, &options->learning, TRUE, options->talk.quiet, error);
  if (work->table == NULL)
    return FALSE;
  work->left_out = g_ptr_array_new_with_free_func (g_free);
  work->features = cli_choose_features (work->table, options->features, options->target,
                                        options->group, work->left_out, error);
  if (work->features == NULL)
    return FALSE;
  work->recipe.features = (const char *const *) work->features;
  if (!cli_method_settings (&options->method, g_strv_length (work->features),
                            &work->recipe.settings, error) ||
      !take_samples (work, error))
    return FALSE;
  work->group = predict_table_groups (work->table, options->group, &work->n_groups, error);
  return work->group != NULL;
}

/* The best set becomes what is learned from. */
static gboolean
search (Work *work, const Options *options, GError **error)
{
  PredictScore score = PREDICT_RCC;
  CliTrainInput input = input_of (work, options);
  guint max_size = MIN ((guint) options->search, work->samples->n_features);
  const PredictFeatureChoice *best;
  g_autofree const char **names = NULL;

  if (options->score != NULL)
    score = (PredictScore) cli_parse_choice ("--score", options->score, predict_score_names, NULL);
  work->searched = cli_search_features (&input, max_size, score, error);
  if (work->searched == NULL) {
    g_prefix_error (error, "%s: ", work->table->source);
    return FALSE;
  }
  best = &g_array_index (work->searched->result.tried, PredictFeatureChoice, 0);
  names = cli_choice_names (work->searched, best);
  g_strfreev (work->features);
  work->features = g_strdupv ((char **) names);
  work->recipe.features = (const char *const *) work->features;
  work->recipe.settings.max_features = MIN (work->recipe.settings.max_features, best->n);
  return take_samples (work, error);
}

static gboolean
learn (Work *work, const Options *options, GError **error)
{
  CliTrainInput input;

  /* A model takes its own samples from the table; of millions of rows, once is enough. */
  if (!options->baselines)
    g_clear_pointer (&work->samples, predict_samples_free);
  input = input_of (work, options);
  work->model = cli_train_model (&input, work->table, error);
  if (work->model == NULL)
    return FALSE;
  work->baselines = options->baselines ? cli_score_baselines (&input)
                                       : g_array_new (FALSE, FALSE, sizeof (CliBaseline));
  return TRUE;
}

static void
report (const Work *work, const Options *options)
{
  const CliTraining training = { work->table, &work->recipe,   work->n_groups, work->left_out,
                                 work->model, work->baselines, work->searched };

  /* A model on standard output has it for itself. */
  if (g_strcmp0 (options->output, "-") != 0)
    cli_training_print (stdout, &training, options->format.format);
}

static gboolean
train (const char *path, const Options *options, PredictRecipe recipe, GError **error)
{
  gint64 started_us = g_get_monotonic_time ();
  g_auto (Work) work = { .recipe = recipe };
  g_autoptr (CliOutfile) out =
      options->output != NULL ? cli_outfile_new (options->output, error) : NULL;

  if ((options->output != NULL && out == NULL) || !take_table (&work, path, options, error))
    return FALSE;
  if (!options->talk.quiet)
    cli_train_warn (work.table, work.recipe.features, options->features != NULL, work.recipe.target,
                    work.samples);
  if ((options->search > 0 && !search (&work, options, error)) || !learn (&work, options, error))
    return FALSE;
  if (out != NULL) {
    if (!predict_model_write (work.model, cli_outfile_stream (out), error) ||
        !cli_outfile_commit (out, error))
      return FALSE;
  }
  report (&work, options);
  if (options->talk.verbose)
    cli_printf (stderr, "hopcast: learned in %.1f s with %u threads\n",
                (double) (g_get_monotonic_time () - started_us) * 1e-6,
                predict_threads (&work.recipe.settings));
  return TRUE;
}

int
cli_train (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "TABLE.csv|STORE", NULL };
  g_autoptr (GOptionContext) context = cli_context_new (
      "TABLE.csv|STORE",
      "Learns to predict a column of a table, or the time of a store's runs, from others, tells "
      "how well that can be done, and writes the model.");
  g_auto (Options) options = { .method = CLI_METHOD_OPTIONS_INIT };
  PredictRecipe recipe;
  const char *path;

  add_options (context, &options);
  if (!cli_parse (context, argc, argv, names, &path, error) ||
      !cli_parse_format (&options.format, error))
    return CLI_FAILED;
  if (options.target == NULL && cli_is_store (path))
    options.target = g_strdup ("time_s");
  if (!cli_parse_learning (&options.learning, error) || !check_options (&options, &recipe, error) ||
      !train (path, &options, recipe, error))
    return CLI_FAILED;
  return CLI_DONE;
}
