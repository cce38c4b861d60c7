/* learn_settings.c - the options that choose a method and how it learns.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/learn/learn_settings.h"

#include "cli/command.h"
#include "cli/options.h"
#include "base/decimal.h"
#include "predictors/boosting/boosting.h"

#include <math.h>
#include <string.h>

void
cli_method_options_clear (CliMethodOptions *options)
{
  g_clear_pointer (&options->method, g_free);
  g_clear_pointer (&options->max_features, g_free);
  g_clear_pointer (&options->early_stopping, g_free);
}

void
cli_add_method_options (GOptionContext *context, CliMethodOptions *options)
{
  const GOptionEntry entries[] = {
    { "method", 0, 0, G_OPTION_ARG_STRING, &options->method,
      "extra-trees (default), forest, boosting, tree, linear, svr, mean, or auto, which takes the one "
      "of mean, linear, extra-trees, forest and boosting that predicts held-out rows best",
      "METHOD" },
    { "trees", 0, 0, G_OPTION_ARG_INT, &options->trees, "How many trees (default: 100)", "N" },
    { "max-features", 0, 0, G_OPTION_ARG_STRING, &options->max_features,
      "Features that are tried at a node: a number, a share with a point such as 0.33, or sqrt "
      "(default: all)",
      "K" },
    { "min-samples-split", 0, 0, G_OPTION_ARG_INT, &options->min_samples_split,
      "A node of fewer samples is not split (default: 2)", "N" },
    { "min-samples-leaf", 0, 0, G_OPTION_ARG_INT, &options->min_samples_leaf,
      "No leaf has fewer samples (default: 1; of boosting a fiftieth of them, 1 to 20)", "N" },
    { "max-depth", 0, 0, G_OPTION_ARG_INT, &options->max_depth,
      "No leaf is deeper; 0 is no limit (default)", "N" },
    { "bootstrap", 0, 0, G_OPTION_ARG_NONE, &options->bootstrap,
      "Each extra-tree learns from samples drawn with replacement, as those of a forest always do",
      NULL },
    { "max-leaf-nodes", 0, 0, G_OPTION_ARG_INT, &options->max_leaf_nodes,
      "boosting: leaves of a tree (default: 31)", "N" },
    { "learning-rate", 0, 0, G_OPTION_ARG_DOUBLE, &options->learning_rate,
      "boosting: the part of its correction that a tree makes (default: 0.1)", "X" },
    { "l2", 0, 0, G_OPTION_ARG_DOUBLE, &options->l2,
      "boosting: samples of no error that each leaf counts besides its own (default: 0)", "X" },
    { "quantile", 0, 0, G_OPTION_ARG_DOUBLE, &options->quantile,
      "boosting: learns what a share of the rows is below, such as 0.9, instead of the mean", "X" },
    { "early-stopping", 0, 0, G_OPTION_ARG_STRING, &options->early_stopping,
      "boosting: on, off, or auto (default: on of more than 10,000 rows): as many trees, at most "
      "--trees, as are best for a tenth of the rows, by whole groups",
      "WHEN" },
    { "ridge", 0, 0, G_OPTION_ARG_DOUBLE, &options->ridge,
      "linear: penalty of the squared coefficients of standardised features (default: 0)", "X" },
    { "svr-c", 0, 0, G_OPTION_ARG_DOUBLE, &options->svr_c,
      "svr: price of an error (default: 1; target and features are standardised)", "X" },
    { "svr-epsilon", 0, 0, G_OPTION_ARG_DOUBLE, &options->svr_epsilon,
      "svr: errors up to this cost nothing (default: 0.1)", "X" },
    { "svr-gamma", 0, 0, G_OPTION_ARG_DOUBLE, &options->svr_gamma,
      "svr: of the kernel exp(-X distance^2) (default: 1 / features)", "X" },
    { "seed", 0, 0, G_OPTION_ARG_INT64, &options->seed, "Of all that is random (default: 1)", "N" },
    { "threads", 0, 0, G_OPTION_ARG_INT, &options->threads,
      "Threads to use, which never change a result (default: one per processor)", "N" },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
}

/* --- From options to settings --- */

#define OF(method) (1u << (method))
#define ENSEMBLES  (OF (PREDICT_EXTRA_TREES) | OF (PREDICT_FOREST))
#define TREES      (ENSEMBLES | OF (PREDICT_TREE))
#define BOOSTING   OF (PREDICT_BOOSTING)

/* Refuses an option that the method ignores. */
static gboolean
check_heeded (const CliMethodOptions *options, PredictMethod method, GError **error)
{
  const struct {
    const char *name;
    gboolean given;
    guint methods;
  } all[] = {
    { "--trees", options->trees != G_MININT, ENSEMBLES | BOOSTING },
    { "--max-features", options->max_features != NULL, TREES },
    { "--min-samples-split", options->min_samples_split != G_MININT, TREES },
    { "--min-samples-leaf", options->min_samples_leaf != G_MININT, TREES | BOOSTING },
    { "--max-depth", options->max_depth != G_MININT, TREES | BOOSTING },
    { "--bootstrap", options->bootstrap, ENSEMBLES },
    { "--max-leaf-nodes", options->max_leaf_nodes != G_MININT, BOOSTING },
    { "--learning-rate", !isnan (options->learning_rate), BOOSTING },
    { "--l2", !isnan (options->l2), BOOSTING },
    { "--quantile", !isnan (options->quantile), BOOSTING },
    { "--early-stopping", options->early_stopping != NULL, BOOSTING },
    { "--ridge", !isnan (options->ridge), OF (PREDICT_LINEAR) },
    { "--svr-c", !isnan (options->svr_c), OF (PREDICT_SVR) },
    { "--svr-epsilon", !isnan (options->svr_epsilon), OF (PREDICT_SVR) },
    { "--svr-gamma", !isnan (options->svr_gamma), OF (PREDICT_SVR) },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (all); i++)
    if (all[i].given && !(all[i].methods & OF (method)))
      return cli_refuse (error, "%s has no effect with --method %s", all[i].name,
                         predict_method_names[method]);
  return TRUE;
}

static gboolean
set_count (const char *name, int given, int least, guint *setting, GError **error)
{
  if (given == G_MININT)
    return TRUE;
  if (given < least)
    return cli_refuse (error, "%s: must be at least %d", name, least);
  *setting = (guint) given;
  return TRUE;
}

static gboolean
set_number (const char *name, double given, gboolean zero_too, double *setting, GError **error)
{
  if (isnan (given))
    return TRUE;
  if (!isfinite (given) || given < 0 || (given == 0 && !zero_too))
    return cli_refuse (error, "%s: not a number %s 0", name, zero_too ? "of at least" : "above");
  *setting = given;
  return TRUE;
}

/* As scikit-learn: a share is rounded down, and at least one feature is tried. */
static gboolean
set_max_features (const char *text, guint n_features, guint *setting, GError **error)
{
  char *end = NULL;
  double share = text == NULL ? 0 : g_ascii_strtod (text, &end);
  guint64 number;

  if (text == NULL)
    return TRUE;
  if (!strcmp (text, "sqrt"))
    *setting = MAX (1, (guint) sqrt (n_features));
  else if (g_ascii_string_to_unsigned (text, 10, 1, n_features, &number, NULL))
    *setting = (guint) number;
  else if (strchr (text, '.') != NULL && *end == '\0' && share > 0 && share <= 1)
    *setting = MAX (1, (guint) (share * n_features));
  else
    return cli_refuse (
        error,
        "--max-features: '%s' is neither a number of 1 to %u (the features), nor a share of 0.0 "
        "to 1.0, nor sqrt",
        text, n_features);
  return TRUE;
}

gboolean
cli_method_settings (const CliMethodOptions *options, guint n_features, PredictSettings *settings,
                     GError **error)
{
  int method = cli_parse_choice ("--method", options->method, predict_method_names, error);
  int stopping =
      cli_parse_choice ("--early-stopping", options->early_stopping, predict_stopping_names, error);
  g_autoptr (GError) trouble = NULL;

  if (method < 0 || stopping < 0 || !check_heeded (options, (PredictMethod) method, error))
    return FALSE;
  if (options->seed < 0)
    return cli_refuse (error, "--seed: must not be negative");
  if (!cli_check_number ("--threads", options->threads, 0, CLI_MAX_THREADS, error))
    return FALSE;
  *settings = predict_settings_default ((PredictMethod) method);
  settings->seed = (uint64_t) options->seed;
  settings->threads = (guint) options->threads;
  settings->bootstrap |= options->bootstrap;
  settings->early_stopping = (PredictStopping) stopping;
  if (!set_count ("--trees", options->trees, 1, &settings->trees, error) ||
      !set_max_features (options->max_features, n_features, &settings->max_features, error) ||
      !set_count ("--min-samples-split", options->min_samples_split, 2,
                  &settings->min_samples_split, error) ||
      !set_count ("--min-samples-leaf", options->min_samples_leaf, 1, &settings->min_samples_leaf,
                  error) ||
      !set_count ("--max-depth", options->max_depth, 0, &settings->max_depth, error) ||
      !set_count ("--max-leaf-nodes", options->max_leaf_nodes, 2, &settings->max_leaf_nodes,
                  error) ||
      !set_number ("--learning-rate", options->learning_rate, FALSE, &settings->learning_rate,
                   error) ||
      !set_number ("--l2", options->l2, TRUE, &settings->l2, error) ||
      !set_number ("--quantile", options->quantile, FALSE, &settings->quantile, error) ||
      !set_number ("--ridge", options->ridge, TRUE, &settings->ridge, error) ||
      !set_number ("--svr-c", options->svr_c, FALSE, &settings->svr_c, error) ||
      !set_number ("--svr-epsilon", options->svr_epsilon, TRUE, &settings->svr_epsilon, error) ||
      !set_number ("--svr-gamma", options->svr_gamma, FALSE, &settings->svr_gamma, error))
    return FALSE;
  return predict_settings_check (settings, &trouble) || cli_refuse (error, "%s", trouble->message);
}

char *
cli_describe_settings (const PredictSettings *settings, uint64_t n_samples)
{
  GString *text = g_string_new (NULL);
  char gamma[BASE_DECIMAL_SIZE] = "1 / features";

  switch (settings->method) {
  case PREDICT_EXTRA_TREES:
  case PREDICT_FOREST:
  case PREDICT_TREE:
    if (settings->method != PREDICT_TREE)
      g_string_append_printf (text, "%u trees, ", settings->trees);
    if (settings->max_features == 0)
      g_string_append (text, "max-features all");
    else
      g_string_append_printf (text, "max-features %u", settings->max_features);
    g_string_append_printf (text, ", min-samples-split %u, min-samples-leaf %u",
                            settings->min_samples_split, settings->min_samples_leaf);
    if (settings->max_depth > 0)
      g_string_append_printf (text, ", max-depth %u", settings->max_depth);
    if (settings->bootstrap)
      g_string_append (text, ", bootstrap");
    break;
  case PREDICT_LINEAR: g_string_printf (text, "ridge %g", settings->ridge); break;
  case PREDICT_SVR:
    if (settings->svr_gamma > 0)
      base_decimal_print (gamma, settings->svr_gamma);
    g_string_printf (text, "C %g, epsilon %g, gamma %s", settings->svr_c, settings->svr_epsilon,
                     gamma);
    break;
  case PREDICT_BOOSTING:
    g_string_append_printf (text, "%u trees, learning-rate %g, max-leaf-nodes %u, ",
                            settings->trees, settings->learning_rate, settings->max_leaf_nodes);
    if (settings->min_samples_leaf > 0)
      g_string_append_printf (text, "min-samples-leaf %u", settings->min_samples_leaf);
    else
      g_string_append_printf (text, "min-samples-leaf %u by the rows",
                              predict_boosting_least (n_samples));
    if (settings->max_depth > 0)
      g_string_append_printf (text, ", max-depth %u", settings->max_depth);
    if (settings->l2 > 0)
      g_string_append_printf (text, ", l2 %g", settings->l2);
    if (settings->quantile > 0)
      g_string_append_printf (text, ", quantile %g", settings->quantile);
    if (settings->early_stopping != PREDICT_STOPPING_AUTO)
      g_string_append_printf (text, ", early-stopping %s",
                              predict_stopping_names[settings->early_stopping]);
    break;
  case PREDICT_AUTO: g_string_assign (text, "the best on folds of the rows"); break;
  case PREDICT_MEAN: g_string_assign (text, "nothing to set"); break;
  case PREDICT_N_METHODS: g_assert_not_reached ();
  }
  return g_string_free (text, FALSE);
}
