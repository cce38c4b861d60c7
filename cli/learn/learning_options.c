/* learning_options.c - the table that a command learns from or predicts for.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/learn/learning_options.h"

#include "cli/command.h"
#include "cli/options.h"
#include "cli/print/terminal.h"
#include "study/plan/plan.h"

#include <math.h>
#include <string.h>

void
cli_learning_options_clear (CliLearningOptions *options)
{
  g_free (options->observed_text);
  g_free (options->features_text);
  g_free (options->measured);
  g_clear_pointer (&options->words, g_string_chunk_free);
}

void
cli_add_learning_options (GOptionContext *context, CliLearningOptions *options)
{
  const GOptionEntry entries[] = {
    { "observed-runs", 0, 0, G_OPTION_ARG_STRING, &options->observed_text,
      "Of a store: the runs whose time is the observed one, where several ways of running it are "
      "in it; keys are network, routing and shrink",
      "KEY=VALUE,..." },
    { "feature-runs", 0, 0, G_OPTION_ARG_STRING, &options->features_text,
      "Of a store: the runs of the same placements whose features are taken, such as network=load "
      "(default: those of the observed run itself)",
      "KEY=VALUE,..." },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_unpack_option (context);
}

/* "KEY=VALUE"; names NULL: any value. */
static gboolean
parse_word (GStringChunk *words, const char *option, const char *word, StudyLearningRuns *runs,
            GError **error)
{
  struct {
    const char *key;
    const char *const *names;
    const char **value;
  } keys[] = { { "network", study_network_names, &runs->network },
               { "routing", study_routing_names, &runs->routing },
               { "shrink", NULL, &runs->shrink } };
  static const char *const names[] = { "network", "routing", "shrink", NULL };
  g_auto (GStrv) parts = g_strsplit (word, "=", 2);

  if (g_strv_length (parts) != 2 || *parts[1] == '\0')
    return cli_refuse (error, "%s: expected KEY=VALUE: \"%s\"", option, word);
  for (gsize at = 0; at < G_N_ELEMENTS (keys); at++) {
    if (strcmp (parts[0], keys[at].key) != 0)
      continue;
    if (*keys[at].value != NULL)
      return cli_refuse (error, "%s: given twice: \"%s\"", option, parts[0]);
    if (keys[at].names != NULL && cli_parse_choice (option, parts[1], keys[at].names, error) < 0)
      return FALSE;
    *keys[at].value = g_string_chunk_insert (words, parts[1]);
    return TRUE;
  }
  return cli_parse_choice (option, parts[0], names, error) >= 0;
}

static gboolean
parse_runs (CliLearningOptions *options, const char *option, const char *text,
            StudyLearningRuns *runs, GError **error)
{
  g_auto (GStrv) words = text != NULL ? g_strsplit (text, ",", -1) : NULL;

  if (text != NULL && *text == '\0')
    return cli_refuse (error, "%s: expected KEY=VALUE: \"\"", option);
  for (char **word = words; word != NULL && *word != NULL; word++)
    if (!parse_word (options->words, option, *word, runs, error))
      return FALSE;
  return TRUE;
}

gboolean
cli_parse_learning (CliLearningOptions *options, GError **error)
{
  options->words = g_string_chunk_new (64);
  return parse_runs (options, "--observed-runs", options->observed_text,
                     &options->learning.observed, error) &&
         parse_runs (options, "--feature-runs", options->features_text, &options->learning.features,
                     error);
}

/* The runs among the rows of `runs`, which it frees, that were measured. */
static PredictTable *
measured_table (PredictTable *runs, const CliLearningOptions *options, gboolean quiet,
                StudyLearned *learned, GError **error)
{
  g_autoptr (PredictTable) all = runs;
  g_autoptr (PredictTable) measured = predict_table_read (options->measured, error);
  PredictTable *table =
      measured != NULL
          ? study_measured_runs (runs, measured, options->learning.noisy, learned, error)
          : NULL;

  if (table == NULL || quiet)
    return table;
  if (learned->n_unmatched > 0) {
    g_autofree char *first = predict_table_place (measured, learned->first_unmatched);

    cli_printf (stderr,
                "hopcast: note: %s: left out %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                " rows, the first at %s: no such run in %s\n",
                measured->source, learned->n_unmatched, measured->n_rows, first, runs->source);
  }
  if (learned->n_unmeasured > 0)
    cli_printf (stderr,
                "hopcast: note: %s: left out %u of %" G_GUINT64_FORMAT " runs: no row in %s\n",
                runs->source, learned->n_unmeasured, runs->n_rows, measured->source);
  if (learned->n_repeated > 0)
    cli_printf (stderr, "hopcast: note: %s: %u run%s measured several times: the mean counts\n",
                measured->source, learned->n_repeated, learned->n_repeated == 1 ? "" : "s");
  return table;
}

gboolean
cli_learning_is_time (const char *column)
{
  static const char *const times[] = { "time_s",     "mean_end_s",  "wait_s_avg",
                                       "wait_s_max", "predicted_s", NULL };

  return g_strv_contains (times, column);
}

PredictTable *
cli_learning_table_of_rows (StudyStore *store, GPtrArray *rows, const CliLearningOptions *options,
                            gboolean quiet, StudyLearned *learned, GError **error)
{
  g_auto (StudyLearned) own = { 0 };
  StudyLearned *known = learned != NULL ? learned : &own;
  PredictTable *table = study_learning_table (store, rows, &options->learning, known, error);
  PredictNoise noise;

  if (table == NULL)
    return NULL;
  if (!quiet && known->n_left_out > 0)
    cli_printf (stderr,
                "hopcast: note: %s: %u run%s left out, whose placement%s not in the feature runs\n",
                study_store_path (store), known->n_left_out,
                known->n_left_out == 1 ? " is" : "s are", known->n_left_out == 1 ? " is" : "s are");
  if (options->measured != NULL)
    table = measured_table (table, options, quiet, known, error);
  if (learned != NULL || table == NULL || quiet)
    return table;
  noise = study_learned_noise (known, NULL, table->n_rows);
  if (!isnan (noise.noise_rcc))
    cli_printf (stderr,
                "hopcast: note: %s: times are means of %u or more replicas; a perfect model would "
                "order them with an RCC of %.3f\n",
                study_store_path (store), noise.n_draws, noise.noise_rcc);
  return table;
}

PredictTable *
cli_learning_table (const char *path, const CliLearningOptions *options, gboolean quiet,
                    StudyLearned *learned, GError **error)
{
  if (learned != NULL)
    *learned = (StudyLearned){ 0 };
  if (cli_is_store (path)) {
    g_autoptr (StudyStore) store = study_store_open (path, STUDY_STORE_READ, error);

    return store != NULL ? cli_learning_table_of_rows (store, NULL, options, quiet, learned, error)
                         : NULL;
  }
  if (options->observed_text == NULL && options->features_text == NULL && options->measured == NULL)
    return predict_table_read (path, error);
  cli_refuse (error, "%s applies to stores; %s is not one",
              options->observed_text != NULL   ? "--observed-runs"
              : options->features_text != NULL ? "--feature-runs"
                                               : "--measured",
              path);
  return NULL;
}

void
cli_tell_unknown_features (const PredictTable *table, GPtrArray *left_out)
{
  g_autofree char *names = NULL;

  if (left_out->len == 0)
    return;
  g_ptr_array_add (left_out, NULL);
  names = g_strjoinv (", ", (char **) left_out->pdata);
  g_ptr_array_set_size (left_out, (gint) left_out->len - 1);
  cli_printf (stderr, "hopcast: note: %s: left out features without any value: %s\n", table->source,
              names);
}
