/* correction.c - a user's performance model, mended by what was observed: trials on threads.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/correction/correction_private.h"

#include <math.h>
#include <string.h>

#define LEAST_SHARE     1e-9 /* of what was observed: smaller losses are rounding */
#define MOST_STEPS_BEST 25u

static const PredictOp paper_functions[] = {
  PREDICT_OP_ADD,   PREDICT_OP_SUBTRACT, PREDICT_OP_MULTIPLY, PREDICT_OP_DIVIDE,
  PREDICT_OP_POWER, PREDICT_OP_LOG,      PREDICT_OP_EXP,
};
static const PredictOp best_functions[] = {
  PREDICT_OP_ADD,      PREDICT_OP_SUBTRACT, PREDICT_OP_MULTIPLY, PREDICT_OP_DIVIDE,
  PREDICT_OP_MULTIPLY, PREDICT_OP_POWER,    PREDICT_OP_LOG,      PREDICT_OP_EXP,
  PREDICT_OP_SQRT,     PREDICT_OP_MAX,
};

PredictCorrectionSettings
predict_correction_settings (PredictCorrectionMode mode)
{
  bool paper = mode == PREDICT_CORRECTION_PAPER;

  return (PredictCorrectionSettings){
    .mode = mode,
    .number = 4,
    .loss = paper ? PREDICT_LOSS_RMSE : PREDICT_LOSS_LOG_RMSE,
    .n_trials = paper ? 30 : 10,
    .n_threads = 1,
    .seed = 1,
    .population = paper ? 3000 : 300,
    .generations = paper ? 100 : 40,
  };
}

/* -- what cannot be mended ----------------------------------------------------------- */

static gboolean
check_settings (const PredictCorrectionSettings *settings, GError **error)
{
  const char *wrong = settings->number < 1 || settings->number > 4 ? "a case is 1, 2, 3 or 4"
                      : settings->n_trials < 1                     ? "at least one trial is needed"
                      : settings->population < 10 ? "a population has at least 10 formulas"
                      : settings->generations < 1 ? "at least one generation is needed"
                                                  : NULL;

  if (wrong == NULL)
    return TRUE;
  g_set_error_literal (error, PREDICT_ERROR, PREDICT_ERROR_OPTION, wrong);
  return FALSE;
}

static gboolean
refuse (GError **error, const char *text)
{
  g_set_error_literal (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC, text);
  return FALSE;
}

static gboolean
check_observed (const PredictCorrectionData *data, PredictLoss loss, GError **error)
{
  const double *observed = data->train_observed;
  bool same = true;

  if (data->train.n < 3)
    return refuse (error, "there are fewer than three points to learn from");
  for (uint64_t point = 0; point < data->train.n; point++) {
    same = same && observed[point] == observed[0];
    if (!isfinite (predict_deviation (loss, observed[point], observed[point], NULL))) {
      g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
                   "the loss %s is not defined where %g was observed", predict_loss_names[loss],
                   observed[point]);
      return FALSE;
    }
  }
  return !same || refuse (error, "all observed values are the same: there is nothing to learn");
}

static gboolean
check_model (const CorrectionProblem *problem, GError **error)
{
  const PredictBaseModel *model = problem->data->model;
  PredictRange range = problem->given_range;
  g_autofree char *why = NULL;

  for (uint64_t point = 0; point < problem->data->train.n; point++) {
    if (isfinite (problem->given_time[point]))
      continue;
    why = predict_undefined (model->time, &model->names, &problem->data->train, point,
                             problem->given);
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
                 "%s at point %" G_GUINT64_FORMAT ": %s", model->source, point + 1, why);
    return FALSE;
  }
  if (!problem->best || (!range.undefined && isfinite (range.low) && isfinite (range.high)))
    return TRUE;
  g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
               "%s: the model may be undefined within the range of its variables", model->source);
  return FALSE;
}

/* -- the problem ------------------------------------------------------------------------ */

/* The times that a formula gives at the points, [points->n + 1]; the caller frees. */
static double *
times_of (const PredictExpression *time, const double *parameters, const PredictPoints *points)
{
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  double *values = g_new (double, points->n + 1);

  predict_values (time, points, parameters, workspace, values);
  return values;
}

static double
loss_of (const PredictExpression *time, const double *parameters, const PredictPoints *points,
         const double *observed, PredictLoss loss)
{
  g_autofree double *values = points->n > 0 ? times_of (time, parameters, points) : NULL;

  return values ? predict_loss (loss, observed, values, points->n) : (double) NAN;
}

static PredictErrors
errors_of (const PredictExpression *time, const double *parameters, const PredictPoints *points,
           const double *observed)
{
  g_autofree double *values = points->n > 0 ? times_of (time, parameters, points) : NULL;

  if (values == NULL)
    return (PredictErrors){ NAN, NAN, NAN };
  return (PredictErrors){ predict_loss (PREDICT_LOSS_LOG_RMSE, observed, values, points->n),
                          predict_loss (PREDICT_LOSS_RMSE, observed, values, points->n),
                          predict_loss (PREDICT_LOSS_MAPE, observed, values, points->n) };
}

static PredictRange
range_of_given (const CorrectionProblem *problem)
{
  const PredictBaseModel *model = problem->data->model;
  g_autofree PredictRange *fixed = g_new (PredictRange, model->n_parameters + 1);

  for (uint32_t at = 0; at < model->n_parameters; at++)
    fixed[at] = predict_range (problem->given[at], problem->given[at]);
  return predict_bounds (model->time, problem->data->box, fixed);
}

/* What counts as no loss, in the unit of the loss. */
static double
least_loss (const PredictCorrectionData *data, PredictLoss loss)
{
  g_autofree double *nothing = g_new0 (double, data->train.n);

  if (loss != PREDICT_LOSS_RMSE)
    return LEAST_SHARE;
  return LEAST_SHARE * predict_loss (loss, data->train_observed, nothing, data->train.n);
}

static PredictGrammar
grammar_of (const PredictCorrectionSettings *settings, uint32_t n_variables)
{
  bool best = settings->mode == PREDICT_CORRECTION_BEST;

  if (settings->functions != NULL)
    return (PredictGrammar){ settings->functions, settings->n_functions, n_variables, best };
  if (best)
    return (PredictGrammar){ best_functions, G_N_ELEMENTS (best_functions), n_variables, true };
  return (PredictGrammar){ paper_functions, G_N_ELEMENTS (paper_functions), n_variables, false };
}

static void
problem_init (CorrectionProblem *problem, const PredictCorrectionData *data,
              const PredictCorrectionSettings *settings)
{
  const PredictBaseModel *model = data->model;
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  bool best = settings->mode == PREDICT_CORRECTION_BEST;
  bool added = settings->number % 2 == 0;

  *problem = (CorrectionProblem){
    .data = data,
    .settings = settings,
    .grammar = grammar_of (settings, model->n_variables + !added),
    .most_steps = best ? MOST_STEPS_BEST : PREDICT_MAX_TREE,
    .searched = settings->number > 2 && model->n_parameters > 0,
    .added = added,
    .best = best,
    .given = predict_base_model_values (model),
    .given_time = g_new (double, data->train.n + 1),
    .least_loss = least_loss (data, settings->loss),
  };
  predict_values (model->time, &data->train, problem->given, workspace, problem->given_time);
  problem->given_range = range_of_given (problem);
  problem->base_loss =
      predict_loss (settings->loss, data->train_observed, problem->given_time, data->train.n);
  problem->base_test_loss =
      loss_of (model->time, problem->given, &data->test, data->test_observed, settings->loss);
}

static void
problem_clear (CorrectionProblem *problem)
{
  g_free (problem->given);
  g_free (problem->given_time);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CorrectionProblem, problem_clear)

/* -- trials on threads --------------------------------------------------------------------- */

typedef struct {
  const CorrectionProblem *problem;
  PredictCorrectionTrial *trials;
} Trials;

static void
finish_trial (const CorrectionProblem *problem, PredictCorrectionTrial *trial)
{
  const PredictCorrectionData *data = problem->data;
  const PredictLoss loss = problem->settings->loss;

  if (trial->time == NULL)
    return;
  trial->test_loss =
      loss_of (trial->time, trial->parameters, &data->test, data->test_observed, loss);
  trial->train = errors_of (trial->time, trial->parameters, &data->train, data->train_observed);
  trial->test = errors_of (trial->time, trial->parameters, &data->test, data->test_observed);
  trial->converged = trial->loss < problem->base_loss;
  trial->better =
      trial->converged && (data->test.n == 0 || trial->test_loss < problem->base_test_loss);
}

static void
make_trial (void *data, guint number)
{
  Trials *trials = data;
  g_autoptr (CorrectionWork) work = correction_work_new (trials->problem, number);

  correction_breed (work, &trials->trials[number]);
  finish_trial (trials->problem, &trials->trials[number]);
}

/* -- the whole -------------------------------------------------------------------------------- */

static void
count_trials (PredictCorrection *correction, bool by_description)
{
  correction->best = correction->n_trials;
  for (guint at = 0; at < correction->n_trials; at++) {
    const PredictCorrectionTrial *trial = &correction->trials[at];
    const PredictCorrectionTrial *best =
        correction->best < correction->n_trials ? &correction->trials[correction->best] : NULL;

    correction->n_converged += trial->converged;
    correction->n_better += trial->better;
    if (trial->converged &&
        (best == NULL ||
         (by_description ? trial->description < best->description : trial->loss < best->loss)))
      correction->best = at;
  }
}

static void
describe_base (const CorrectionProblem *problem, PredictCorrection *correction)
{
  const PredictCorrectionData *data = problem->data;
  const PredictExpression *time = data->model->time;
  PredictTarget target = { data->train, data->train_observed, problem->settings->loss };

  correction->refitted = predict_base_model_values (data->model);
  predict_levenberg_model (data->model, correction->refitted, &target, CORRECTION_STARTS,
                           problem->settings->seed);
  correction->base_train = errors_of (time, problem->given, &data->train, data->train_observed);
  correction->base_test = errors_of (time, problem->given, &data->test, data->test_observed);
  correction->refitted_train =
      errors_of (time, correction->refitted, &data->train, data->train_observed);
  correction->refitted_test =
      errors_of (time, correction->refitted, &data->test, data->test_observed);
}

PredictCorrection *
predict_correct (const PredictCorrectionData *data, const PredictCorrectionSettings *settings,
                 PredictProgress progress, void *progress_data, GError **error)
{
  g_auto (CorrectionProblem) problem = { 0 };
  PredictCorrection *correction;
  const PredictWorkShare share = { progress, progress_data, 0, 1 };
  Trials trials = { &problem, NULL };

  if (!check_settings (settings, error) || !check_observed (data, settings->loss, error))
    return NULL;
  problem_init (&problem, data, settings);
  if (!check_model (&problem, error))
    return NULL;
  correction = g_new0 (PredictCorrection, 1);
  correction->n_trials = settings->n_trials;
  correction->trials = trials.trials = g_new0 (PredictCorrectionTrial, settings->n_trials);
  describe_base (&problem, correction);
  predict_work (make_trial, &trials, settings->n_trials, settings->n_threads, &share);
  count_trials (correction, problem.best);
  correction_judge_outcome (&problem, correction);
  return correction;
}

void
predict_correction_free (PredictCorrection *correction)
{
  if (correction == NULL)
    return;
  for (guint at = 0; at < correction->n_trials; at++) {
    predict_expression_free (correction->trials[at].time);
    predict_expression_free (correction->trials[at].brief);
    g_free (correction->trials[at].parameters);
    g_free (correction->trials[at].points_loss);
  }
  g_free (correction->trials);
  g_free (correction->refitted);
  g_free (correction->reason);
  g_free (correction);
}
