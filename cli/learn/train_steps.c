/* train_steps.c - what training does besides fitting: search, compare.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/learn/train_steps.h"

#include "cli/progress.h"

#define TEST_SHARE        (1.0 / 3)
#define SEARCH_EXHAUSTIVE 2
#define SEARCH_FOLDS      5
#define SEARCH_OUTER      10

/* A bar that says what is being done. */
typedef struct {
  CliProgress *bar;
  char *what;
} Stage;

static Stage
stage_begin (const CliTrainInput *input, const char *what)
{
  return (Stage){ cli_progress_new (input->quiet), g_strconcat (what, ", ", NULL) };
}

static void
stage_clear (Stage *stage)
{
  g_clear_pointer (&stage->bar, cli_progress_free);
  g_clear_pointer (&stage->what, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Stage, stage_clear)

static void
stage_progress (void *data, double share)
{
  const Stage *stage = data;

  cli_progress_text (stage->bar, share, stage->what);
}

/* -- the search for features ------------------------------------------------- */

CliSearched *
cli_search_features (const CliTrainInput *input, guint max_size, PredictScore score, GError **error)
{
  const PredictRecipe *recipe = input->recipe;
  g_autoptr (CliSearched) searched = g_new0 (CliSearched, 1);
  g_auto (Stage) stage = stage_begin (input, "searching for features");

  searched->search = (PredictSearch){ .exhaustive = MIN (SEARCH_EXHAUSTIVE, max_size),
                                      .max_size = max_size,
                                      .score = score,
                                      .folds = SEARCH_FOLDS,
                                      .outer = SEARCH_OUTER,
                                      .test_share = TEST_SHARE,
                                      .seed = recipe->settings.seed,
                                      .log_target = recipe->log_target };
  searched->candidates = g_strdupv ((char **) recipe->features);
  if (!predict_feature_search (input->samples, input->group, input->n_groups, &recipe->settings,
                               &searched->search, &searched->result, stage_progress, &stage, error))
    return NULL;
  return g_steal_pointer (&searched);
}

void
cli_searched_free (CliSearched *searched)
{
  g_strfreev (searched->candidates);
  predict_search_result_clear (&searched->result);
  g_free (searched);
}

const char **
cli_choice_names (const CliSearched *searched, const PredictFeatureChoice *choice)
{
  const char **names = g_new0 (const char *, choice->n + 1);

  for (guint i = 0; i < choice->n; i++)
    names[i] = searched->candidates[choice->features[i]];
  return names;
}

/* -- other methods ------------------------------------------------------------- */

static void
baseline_clear (void *data)
{
  CliBaseline *baseline = data;

  predict_evaluation_clear (&baseline->evaluation);
  g_free (baseline->trouble);
}

static CliBaseline
score_baseline (const CliTrainInput *input, PredictMethod method)
{
  const PredictSettings *chosen = &input->recipe->settings;
  CliBaseline baseline = { .settings = predict_settings_default (method) };
  g_autofree char *what = g_strconcat ("baseline ", predict_method_names[method], NULL);
  g_auto (Stage) stage = stage_begin (input, what);
  g_autoptr (GError) trouble = NULL;

  baseline.settings.seed = chosen->seed;
  baseline.settings.threads = chosen->threads;
  if (!predict_evaluate (input->samples, input->group, input->n_groups, &baseline.settings,
                         &input->recipe->trial, &baseline.evaluation, stage_progress, &stage,
                         &trouble))
    baseline.trouble = g_strdup (trouble->message);
  return baseline;
}

GArray *
cli_score_baselines (const CliTrainInput *input)
{
  static const PredictMethod methods[] = { PREDICT_MEAN,   PREDICT_LINEAR, PREDICT_TREE,
                                           PREDICT_FOREST, PREDICT_SVR,    PREDICT_EXTRA_TREES };
  GArray *baselines = g_array_new (FALSE, TRUE, sizeof (CliBaseline));

  g_array_set_clear_func (baselines, baseline_clear);
  for (gsize i = 0; i < G_N_ELEMENTS (methods); i++) {
    CliBaseline baseline = score_baseline (input, methods[i]);

    g_array_append_val (baselines, baseline);
  }
  return baselines;
}

/* -- the model --------------------------------------------------------------- */

PredictModel *
cli_train_model (const CliTrainInput *input, const PredictTable *table, GError **error)
{
  g_auto (Stage) stage = stage_begin (input, "training");
  PredictModel *model = predict_model_train (table, input->recipe, stage_progress, &stage, error);

  if (model == NULL)
    g_prefix_error (error, "%s: ", table->source);
  return model;
}
