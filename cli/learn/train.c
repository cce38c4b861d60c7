/* train.c - `hopcast train`: a model learned from a table or a store.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/learn/learn_settings.h"
#include "cli/learn/learning_options.h"
#include "cli/learn/train_report.h"
#include "cli/options.h"
#include "cli/print/outfile.h"
#include "cli/print/progress.h"
#include "cli/print/terminal.h"
#include "predictors/scoring/feature_search.h"
#include "predictors/scoring/feature_sets.h"
#include "predictors/model/model.h"
#include "predictors/scoring/scores.h"
#include "predictors/table/samples.h"
#include "predictors/table/table.h"
#include "sim/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TEST_SHARE        (1.0 / 3)
#define DEFAULT_SPLITS    50
#define MAX_TESTS         100000u
#define CALIBRATION_FOLDS 10
#define PERMUTATIONS      10 /* of each feature */

#define SEARCH_EXHAUSTIVE 2
#define SEARCH_FOLDS      5
#define SEARCH_OUTER      10

/* The name of a first column without one: the index of a pandas table. */
#define INDEX_NAME "row"

/* --- Options --- */

typedef struct {
  CliFormatOptions format;
  CliTalkOptions talk;
  CliLearningOptions learning;
  CliMethodOptions method;
  char *target, *features, *group, *validate, *importances, *score, *output;
  char *increasing_text, *decreasing_text, **increasing,
      **decreasing;                    /* lists: of the recipe; NULL */
  char *normalize, *sets_text, **sets; /* sets: of the recipe; NULL: not normalized */
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
  g_free (options->increasing_text);
  g_free (options->decreasing_text);
  g_strfreev (options->increasing);
  g_strfreev (options->decreasing);
  g_free (options->normalize);
  g_free (options->sets_text);
  g_strfreev (options->sets);
  g_free (options->output);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_options (GOptionContext *context, Options *options)
{
  const GOptionEntry what[] = {
    { "target", 0, 0, G_OPTION_ARG_STRING, &options->target,
      "The column that is to be predicted (default, of a store: time_s, with --measured: "
      "measured_s)",
      "COLUMN" },
    { "measured", 0, 0, G_OPTION_ARG_FILENAME, &options->learning.measured,
      "Of a store: a table of which runs were measured (trace, machine, mapping, ...) on a real "
      "machine, and their times, to learn instead of the simulated ones",
      "TABLE" },
    { "log-target", 0, 0, G_OPTION_ARG_NONE, &options->log_target,
      "Learn the logarithm of the target: ratios count, not differences", NULL },
    { "normalize", 0, 0, G_OPTION_ARG_STRING, &options->normalize,
      "none (default), or set: features and target of each set of rows in units of their means over "
      "it, so that programs, sizes and scales can be learned together",
      "HOW" },
    { "sets", 0, 0, G_OPTION_ARG_STRING, &options->sets_text,
      "With --normalize set: rows that are equal in these columns are a set (default, of a store: "
      "trace,machine,ranks_per_node)",
      "A,B,..." },
    { "features", 0, 0, G_OPTION_ARG_STRING, &options->features,
      "The columns to learn from, and the sets H1 to H6, prior, new, all (default: every column of "
      "numbers; of a store's runs, their metrics)",
      "A,B,..." },
    { "increasing", 0, 0, G_OPTION_ARG_STRING, &options->increasing_text,
      "boosting: features with which the prediction never falls, such as a number of bytes",
      "A,B,..." },
    { "decreasing", 0, 0, G_OPTION_ARG_STRING, &options->decreasing_text,
      "boosting: features with which it never rises", "A,B,..." },
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

/* --- Features --- */

/* The columns and sets (such as H3) that --features lists; the sets without their features that are
 * unknown in all rows.  The rest as choose_features(). */
static char **
listed_features (const PredictTable *table, const Options *options, GPtrArray *left_out,
                 GError **error)
{
  g_autoptr (GPtrArray) unknown = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) trouble = NULL;
  g_auto (GStrv) listed = predict_feature_list (options->features, table, unknown, &trouble);

  if (listed == NULL)
    cli_refuse (error, "--features: %s", trouble->message);
  else if (g_strv_contains ((const char *const *) listed, options->target))
    cli_refuse (error, "--features: '%s' is the target", options->target);
  else if (*listed == NULL)
    cli_fail (error, "%s: no feature of %s has a value", table->source, options->features);
  else {
    for (guint at = 0; at < unknown->len; at++)
      g_ptr_array_add (left_out, g_strdup_printf ("%s (empty)", (char *) unknown->pdata[at]));
    if (!options->talk.quiet)
      cli_tell_unknown_features (table, unknown);
    return g_steal_pointer (&listed);
  }
  return NULL;
}

/* The features that are listed; without a list, of a store's runs the features that they have, of a
 * file each column of numbers except the target, the group and an index ("row").  left_out
 * (element-type utf8) gets the other columns, each with the reason.  NULL-terminated, g_strfreev().
 * NULL and *error: the target is listed, or nothing is left. */
static char **
choose_features (const PredictTable *table, gboolean is_store, const Options *options,
                 GPtrArray *left_out, GError **error)
{
  const char *const *known = predict_feature_set ("all")->features;
  g_autoptr (GPtrArray) features = NULL;

  if (options->features != NULL)
    return listed_features (table, options, left_out, error);
  features = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < table->n_columns; i++) {
    const PredictColumn *column = &table->columns[i];
    const char *reason = NULL;

    /* A row of a store has all results of the run, most of which are unknown where the target is
     * unknown; only its features are known earlier. */
    if (g_strcmp0 (column->name, options->target) == 0 ||
        (is_store && !g_strv_contains (known, column->name)))
      continue;
    if (column->numbers == NULL)
      reason = "texts";
    else if (g_strcmp0 (column->name, options->group) == 0)
      reason = "the group";
    else if (g_strcmp0 (column->name, INDEX_NAME) == 0)
      reason = "an index";
    else if (predict_table_is_unknown (table, column))
      reason = "empty";
    if (reason != NULL)
      g_ptr_array_add (left_out, g_strdup_printf ("%s (%s)", column->name, reason));
    else
      g_ptr_array_add (features, g_strdup (column->name));
  }
  if (features->len == 0) {
    cli_fail (error, "%s: no column of numbers to learn from besides the target", table->source);
    return NULL;
  }
  g_ptr_array_add (features, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&features), FALSE);
}

/* --- Warnings --- */

#define ECHO_RCC     0.98     /* as good an order as the target measured twice would give */
#define ECHO_SAMPLES 1000000u /* sorting more takes too long for a warning */

static gboolean
is_echo (const float *x, const double *y, uint64_t n)
{
  g_autofree double *values = g_new (double, n);
  double rcc;

  for (uint64_t i = 0; i < n; i++) {
    if (isnan (x[i])) /* a second measurement has no gaps */
      return FALSE;
    values[i] = x[i];
  }
  rcc = predict_score (y, values, n).rcc;
  return rcc >= ECHO_RCC || rcc <= 1 - ECHO_RCC;
}

/* Warns of features that are the same in all rows.  are_found, in a file and not listed: warns also
 * of those that put the rows in the order of the target: such a column is probably a second
 * measurement of the target. */
static void
train_warn (const PredictTable *table, const char *const *features, gboolean are_found,
            const char *target, const PredictSamples *samples)
{
  uint64_t n = samples->n_samples;
  gboolean seeks_echoes = are_found && n > 2 && n <= ECHO_SAMPLES;

  for (guint i = 0; features[i] != NULL; i++) {
    const float *x = samples->x + i * n;
    uint64_t same = 1;

    while (same < n && x[same] == x[0])
      same++;
    if (n > 1 && same == n) {
      /* Features are learned in single precision, in which different numbers may be the same. */
      const PredictColumn *column = predict_table_find (table, features[i]);
      uint64_t equal = 1;

      while (equal < table->n_rows && column->numbers[equal] == column->numbers[0])
        equal++;
      cli_printf (
          stderr,
          "hopcast: warning: %s: '%s' is the same in all rows%s: nothing can be learned from "
          "it\n",
          table->source, features[i],
          equal < table->n_rows
              ? " when rounded to single precision (subtract a constant, or use another unit)"
              : "");
    } else if (seeks_echoes && is_echo (x, samples->y, n))
      cli_printf (
          stderr,
          "hopcast: warning: %s: '%s' puts the rows in the order of '%s': if both are measured together, leave it out (--features)\n",
          table->source, features[i], target);
  }
}

/* The runs of a store carry their warnings. */
static void
train_warn_of_imbalance (const PredictTable *table, const char *target)
{
  const PredictColumn *warnings = predict_table_find (table, "warnings");
  uint64_t n = 0;

  if (warnings == NULL || warnings->texts == NULL || !cli_learning_is_time (target))
    return;
  for (uint64_t row = 0; row < table->n_rows; row++)
    n += strstr (g_ptr_array_index (warnings->labels, warnings->texts[row]),
                 SIM_IMBALANCE_WARNING) != NULL;
  if (n > 0)
    cli_printf (stderr,
                "hopcast: warning: %s: imbalanced computation decides '%s' in %" G_GUINT64_FORMAT
                " of %" G_GUINT64_FORMAT
                " rows, so that noise is learned; compute-scale = 0 in the study "
                "(--compute-scale 0) leaves computation out\n",
                table->source, target, n, table->n_rows);
}

/* --- A step of the work, with a progress bar that names it --- */

typedef struct {
  CliProgress *bar;
  char *name;
} Stage;

static Stage
stage_begin (gboolean quiet, const char *name)
{
  return (Stage){ cli_progress_new (quiet), g_strconcat (name, ", ", NULL) };
}

static void
stage_clear (Stage *stage)
{
  g_clear_pointer (&stage->bar, cli_progress_free);
  g_clear_pointer (&stage->name, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Stage, stage_clear)

static void
stage_progress (void *data, double share)
{
  const Stage *stage = data;

  cli_progress_text (stage->bar, share, stage->name);
}

/* --- Checks of the options --- */

/* "splits:N", "folds:N" or "none"; NULL: the default. */
static gboolean
parse_validate (const char *text, PredictTrial *trial, GError **error)
{
  gboolean is_splits = text != NULL && g_str_has_prefix (text, "splits:");
  guint64 n;

  *trial = (PredictTrial){ .repeats = DEFAULT_SPLITS, .test_share = TEST_SHARE };
  if (text == NULL)
    return TRUE;
  if (!strcmp (text, "none")) {
    trial->repeats = 0;
    return TRUE;
  }
  if ((!is_splits && !g_str_has_prefix (text, "folds:")) ||
      !g_ascii_string_to_unsigned (strchr (text, ':') + 1, 10, is_splits ? 1 : 2, MAX_TESTS, &n,
                                   NULL))
    return cli_refuse (
        error, "--validate: '%s' is none of splits:N, folds:N with N of at least 2, none", text);
  if (is_splits)
    trial->repeats = (guint) n;
  else
    *trial = (PredictTrial){ .repeats = 1, .folds = (guint) n };
  return TRUE;
}

/* Sets the recipe except its features and settings. */
/* The columns that tell sets apart; NULL when nothing is normalized. */
static gboolean
parse_normalize (Options *options, gboolean is_store, GError **error)
{
  static const char *const kinds[] = { "none", "set", NULL };
  int kind = cli_parse_choice ("--normalize", options->normalize, kinds, error);

  if (kind < 0)
    return FALSE;
  if (options->normalize == NULL || kind == 0)
    return options->sets_text == NULL || cli_refuse (error, "--sets needs --normalize set");
  if (options->log_target)
    return cli_refuse (error, "--normalize set and --log-target exclude each other");
  if (options->sets_text == NULL && !is_store)
    return cli_refuse (error, "--normalize set of a table needs --sets COLUMN,...");
  options->sets = g_strsplit (
      options->sets_text != NULL ? options->sets_text : "trace,machine,ranks_per_node", ",", -1);
  for (guint at = 0; options->sets[at] != NULL || at == 0; at++)
    if (options->sets[at] == NULL || *options->sets[at] == '\0')
      return cli_refuse (error, "--sets: a column without a name");
    else if (g_strcmp0 (options->sets[at], options->target) == 0)
      return cli_refuse (error, "--sets names the target");
  return TRUE;
}

static gboolean
check_options (const Options *options, PredictRecipe *recipe, GError **error)
{
  static const char *const kinds[] = { "impurity", "permutation", NULL };

  if (options->target == NULL)
    return cli_refuse (error, "--target COLUMN is missing");
  if (options->group != NULL && !strcmp (options->group, options->target))
    return cli_refuse (error, "--group names the target");
  if (options->search < 0)
    return cli_refuse (error, "--search: must be at least 1");
  if (options->score != NULL && options->search == 0)
    return cli_refuse (error, "--score needs --search N");
  if (cli_parse_choice ("--score", options->score, predict_score_names, error) < 0 ||
      cli_parse_choice ("--importances", options->importances, kinds, error) < 0)
    return FALSE;
  *recipe = (PredictRecipe){ .target = options->target,
                             .log_target = options->log_target,
                             .group = options->group,
                             .sets = (const char *const *) options->sets,
                             .calibration_folds = CALIBRATION_FOLDS };
  if (!parse_validate (options->validate, &recipe->trial, error))
    return FALSE;
  recipe->trial.seed = (uint64_t) options->method.seed;
  recipe->trial.log_target = options->log_target;
  if (g_strcmp0 (options->importances, kinds[1]) == 0)
    recipe->permutation_repeats = PERMUTATIONS;
  if (options->baselines && recipe->trial.repeats == 0)
    return cli_refuse (error, "--baselines needs scores: --validate none excludes it");
  return TRUE;
}

/* --- The work --- */

static void
searched_free (CliSearched *searched)
{
  g_strfreev (searched->candidates);
  predict_search_result_clear (&searched->result);
  g_free (searched);
}

static void
baseline_clear (void *data)
{
  CliBaseline *baseline = data;

  predict_evaluation_clear (&baseline->evaluation);
  g_free (baseline->trouble);
}

typedef struct {
  PredictTable *table;
  StudyLearned learned;
  PredictRecipe recipe;
  char **features; /* of the recipe */
  GPtrArray *left_out;
  PredictSamples *samples;   /* of the recipe's features */
  uint32_t *group, n_groups; /* group: [n_samples] */
  CliSearched *searched;
  PredictModel *model;
  GArray *baselines;
} Work;

static void
work_clear (Work *work)
{
  g_clear_pointer (&work->table, predict_table_free);
  study_learned_clear (&work->learned);
  g_clear_pointer (&work->features, g_strfreev);
  g_clear_pointer (&work->left_out, g_ptr_array_unref);
  g_clear_pointer (&work->samples, predict_samples_free);
  g_clear_pointer (&work->group, g_free);
  g_clear_pointer (&work->searched, searched_free);
  g_clear_pointer (&work->model, predict_model_free);
  g_clear_pointer (&work->baselines, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Work, work_clear)

static gboolean
take_samples (Work *work, GError **error)
{
  const PredictRecipe *recipe = &work->recipe;

  g_clear_pointer (&work->samples, predict_samples_free);
  work->samples = predict_recipe_samples (work->table, recipe, error);
  return work->samples != NULL;
}

/* The features that an option lists, for the recipe. */
static gboolean
parse_directed (const char *option, const char *text, const Work *work, char ***names,
                GError **error)
{
  const PredictSettings *settings = &work->recipe.settings;

  if (text == NULL)
    return TRUE;
  if (settings->method != PREDICT_BOOSTING)
    return cli_refuse (error, "%s has no effect with --method %s", option,
                       predict_method_names[settings->method]);
  if (settings->quantile > 0)
    return cli_refuse (error, "%s and --quantile exclude each other", option);
  *names = g_strsplit (text, ",", -1);
  for (char **name = *names; *name != NULL || name == *names; name++)
    if (*name == NULL || !g_strv_contains ((const char *const *) work->features, *name))
      return cli_refuse (error, "%s: '%s' is no feature", option, *name != NULL ? *name : "");
  return TRUE;
}

static gboolean
take_directions (Work *work, Options *options, GError **error)
{
  if (!parse_directed ("--increasing", options->increasing_text, work, &options->increasing,
                       error) ||
      !parse_directed ("--decreasing", options->decreasing_text, work, &options->decreasing, error))
    return FALSE;
  for (char **name = options->increasing; name != NULL && *name != NULL; name++)
    if (options->decreasing != NULL &&
        g_strv_contains ((const char *const *) options->decreasing, *name))
      return cli_refuse (error, "--decreasing: '%s' is also --increasing", *name);
  work->recipe.increasing = (const char *const *) options->increasing;
  work->recipe.decreasing = (const char *const *) options->decreasing;
  return TRUE;
}

static gboolean
take_table (Work *work, const char *path, Options *options, GError **error)
{
  work->table =
      cli_learning_table (path, &options->learning, options->talk.quiet, &work->learned, error);
  if (work->table == NULL)
    return FALSE;
  work->left_out = g_ptr_array_new_with_free_func (g_free);
  work->features =
      choose_features (work->table, cli_is_store (path), options, work->left_out, error);
  if (work->features == NULL)
    return FALSE;
  work->recipe.features = (const char *const *) work->features;
  if (!cli_method_settings (&options->method, g_strv_length (work->features),
                            &work->recipe.settings, error) ||
      !take_directions (work, options, error) || !take_samples (work, error))
    return FALSE;
  work->group = predict_table_groups (work->table, options->group, &work->n_groups, error);
  return work->group != NULL;
}

/* Searches sets of features; the best one becomes the recipe's. */
static gboolean
search (Work *work, const Options *options, GError **error)
{
  PredictRecipe *recipe = &work->recipe;
  guint max_size = MIN ((guint) options->search, work->samples->n_features);
  CliSearched *searched = work->searched = g_new0 (CliSearched, 1);
  g_auto (Stage) stage = stage_begin (options->talk.quiet, "searching for features");
  const PredictFeatureChoice *best;
  g_autofree const char **names = NULL;

  searched->search = (PredictSearch){ .exhaustive = MIN (SEARCH_EXHAUSTIVE, max_size),
                                      .max_size = max_size,
                                      .score = (PredictScore) cli_parse_choice (
                                          "--score", options->score, predict_score_names, NULL),
                                      .folds = SEARCH_FOLDS,
                                      .outer = SEARCH_OUTER,
                                      .test_share = TEST_SHARE,
                                      .seed = recipe->settings.seed,
                                      .log_target = recipe->log_target };
  searched->candidates = g_strdupv (work->features);
  if (!predict_feature_search (work->samples, work->group, work->n_groups, &recipe->settings,
                               &searched->search, &searched->result, stage_progress, &stage,
                               error)) {
    g_prefix_error (error, "%s: ", work->table->source);
    return FALSE;
  }
  best = &g_array_index (searched->result.tried, PredictFeatureChoice, 0);
  names = cli_choice_names (searched, best);
  g_strfreev (work->features);
  work->features = g_strdupv ((char **) names);
  recipe->features = (const char *const *) work->features;
  recipe->settings.max_features = MIN (recipe->settings.max_features, best->n);
  return take_samples (work, error);
}

/* Scores every method with its defaults, the plainest first. */
static void
score_baselines (Work *work, const Options *options)
{
  static const PredictMethod methods[] = { PREDICT_MEAN,    PREDICT_LINEAR, PREDICT_TREE,
                                           PREDICT_FOREST,  PREDICT_SVR,    PREDICT_EXTRA_TREES,
                                           PREDICT_BOOSTING };

  for (gsize i = 0; i < G_N_ELEMENTS (methods); i++) {
    CliBaseline baseline = { .settings = predict_settings_default (methods[i]) };
    g_autofree char *name = g_strconcat ("baseline ", predict_method_names[methods[i]], NULL);
    g_auto (Stage) stage = stage_begin (options->talk.quiet, name);
    g_autoptr (GError) trouble = NULL;

    baseline.settings.seed = work->recipe.settings.seed;
    baseline.settings.threads = work->recipe.settings.threads;
    if (!predict_evaluate (work->samples, work->group, work->n_groups, &baseline.settings,
                           &work->recipe.trial, &baseline.evaluation, stage_progress, &stage,
                           &trouble))
      baseline.trouble = g_strdup (trouble->message);
    g_array_append_val (work->baselines, baseline);
  }
}

static gboolean
train (const char *path, Options *options, PredictRecipe recipe, GError **error)
{
  gint64 started_us = g_get_monotonic_time ();
  gboolean quiet = options->talk.quiet;
  g_auto (Work) work = { .recipe = recipe };
  g_auto (Stage) stage = { NULL };
  g_autoptr (CliOutfile) out =
      options->output != NULL ? cli_outfile_new (options->output, error) : NULL;

  if ((options->output != NULL && out == NULL) || !take_table (&work, path, options, error))
    return FALSE;
  if (!quiet) {
    train_warn (work.table, work.recipe.features, options->features == NULL && !cli_is_store (path),
                work.recipe.target, work.samples);
    train_warn_of_imbalance (work.table, work.recipe.target);
  }
  if (options->search > 0 && !search (&work, options, error))
    return FALSE;
  /* A model takes its own samples from the table; of millions of rows, once is enough. */
  if (!options->baselines)
    g_clear_pointer (&work.samples, predict_samples_free);
  stage = stage_begin (quiet, "training");
  work.model = predict_model_train (work.table, &work.recipe, stage_progress, &stage, error);
  stage_clear (&stage);
  if (work.model == NULL) {
    g_prefix_error (error, "%s: ", work.table->source);
    return FALSE;
  }
  work.baselines = g_array_new (FALSE, FALSE, sizeof (CliBaseline));
  g_array_set_clear_func (work.baselines, baseline_clear);
  if (options->baselines)
    score_baselines (&work, options);
  if (out != NULL && (!predict_model_write (work.model, cli_outfile_stream (out), error) ||
                      !cli_outfile_commit (out, error)))
    return FALSE;
  /* A model on standard output has it for itself. */
  if (g_strcmp0 (options->output, "-") != 0)
    cli_training_print (
        stdout,
        &(CliTraining){ work.table, &work.recipe, work.n_groups,
                        study_learned_noise (&work.learned, NULL, work.table->n_rows),
                        work.left_out, work.model, work.baselines, work.searched },
        options->format.format);
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
  /* What was measured needs no simulated time. */
  options.learning.learning.without_time = options.learning.measured != NULL;
  if (options.target == NULL && options.learning.measured != NULL)
    options.target = g_strdup ("measured_s");
  else if (options.target == NULL && cli_is_store (path))
    options.target = g_strdup ("time_s");
  options.learning.learning.noisy = options.target;
  if (!cli_parse_learning (&options.learning, error) ||
      !parse_normalize (&options, cli_is_store (path), error) ||
      !check_options (&options, &recipe, error) || !train (path, &options, recipe, error))
    return CLI_FAILED;
  return CLI_DONE;
}
