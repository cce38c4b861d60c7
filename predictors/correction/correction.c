/* correction.c - a user's performance model, corrected by observations: trials and verdict.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/correction/correction_private.h"
#include "predictors/scoring/scores.h"

#include <math.h>
#include <string.h>

#define LEAST_SHARE     1e-9 /* of the observed values: smaller losses are rounding */
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

/* --- Checks --- */

static gboolean
refuse (GError **error, const char *text)
{
  g_set_error_literal (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC, text);
  return FALSE;
}

static gboolean
check_input (const PredictCorrectionData *data, const PredictCorrectionSettings *settings,
             GError **error)
{
  const char *wrong = settings->number < 1 || settings->number > 4 ? "a case is 1, 2, 3 or 4"
                      : settings->n_trials < 1                     ? "at least one trial is needed"
                      : settings->population < 10 ? "a population has at least 10 formulas"
                      : settings->generations < 1 ? "at least one generation is needed"
                                                  : NULL;
  const double *observed = data->train_observed;
  bool same = true;

  if (wrong != NULL) {
    g_set_error_literal (error, PREDICT_ERROR, PREDICT_ERROR_OPTION, wrong);
    return FALSE;
  }
  if (data->train.n < 3)
    return refuse (error, "there are fewer than three points to learn from");
  for (uint64_t point = 0; point < data->train.n; point++) {
    same = same && observed[point] == observed[0];
    if (!isfinite (predict_deviation (settings->loss, observed[point], observed[point], NULL))) {
      g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
                   "the loss %s is not defined where %g was observed",
                   predict_loss_names[settings->loss], observed[point]);
      return FALSE;
    }
  }
  return !same || refuse (error, "all observed values are the same: there is nothing to learn");
}

/* --- The problem --- */

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

/* A smaller loss is rounding; in the unit of the loss. */
static double
least_loss (const PredictCorrectionData *data, PredictLoss loss)
{
  g_autofree double *nothing = g_new0 (double, data->train.n);

  if (loss != PREDICT_LOSS_RMSE)
    return LEAST_SHARE;
  return LEAST_SHARE * predict_loss (loss, data->train_observed, nothing, data->train.n);
}

/* FALSE and *error: the model is undefined at a point, or perhaps somewhere in the box. */
static gboolean
problem_init (CorrectionProblem *problem, const PredictCorrectionData *data,
              const PredictCorrectionSettings *settings, GError **error)
{
  const PredictBaseModel *model = data->model;
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  g_autofree PredictRange *fixed = g_new (PredictRange, model->n_parameters + 1);
  bool best = settings->mode == PREDICT_CORRECTION_BEST;
  bool added = settings->number % 2 == 0;
  PredictRange *range = &problem->given_range;

  *problem = (CorrectionProblem){
    .data = data,
    .settings = settings,
    .grammar = { .n_variables = model->n_variables + !added, .integer_powers = best },
    .most_steps = best ? MOST_STEPS_BEST : PREDICT_MAX_TREE,
    .searched = settings->number > 2 && model->n_parameters > 0,
    .added = added,
    .best = best,
    .given = predict_base_model_values (model),
    .given_time = g_new (double, data->train.n + 1),
    .least_loss = least_loss (data, settings->loss),
  };
  if (settings->functions != NULL) {
    problem->grammar.functions = settings->functions;
    problem->grammar.n_functions = settings->n_functions;
  } else {
    problem->grammar.functions = best ? best_functions : paper_functions;
    problem->grammar.n_functions =
        best ? G_N_ELEMENTS (best_functions) : G_N_ELEMENTS (paper_functions);
  }
  predict_values (model->time, &data->train, problem->given, workspace, problem->given_time);
  for (uint32_t at = 0; at < model->n_parameters; at++)
    fixed[at] = predict_range (problem->given[at], problem->given[at]);
  *range = predict_bounds (model->time, data->box, fixed);
  problem->base_loss =
      predict_loss (settings->loss, data->train_observed, problem->given_time, data->train.n);
  problem->base_test_loss =
      loss_of (model->time, problem->given, &data->test, data->test_observed, settings->loss);

  for (uint64_t point = 0; point < data->train.n; point++)
    if (!isfinite (problem->given_time[point])) {
      g_autofree char *why =
          predict_undefined (model->time, &model->names, &data->train, point, problem->given);

      g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
                   "%s at point %" G_GUINT64_FORMAT ": %s", model->source, point + 1, why);
      return FALSE;
    }
  if (!best || (!range->undefined && isfinite (range->low) && isfinite (range->high)))
    return TRUE;
  g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
               "%s: the model may be undefined within the range of its variables", model->source);
  return FALSE;
}

static void
problem_clear (CorrectionProblem *problem)
{
  g_free (problem->given);
  g_free (problem->given_time);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CorrectionProblem, problem_clear)

/* --- Trials on threads --- */

typedef struct {
  const CorrectionProblem *problem;
  PredictCorrectionTrial *trials;
} Trials;

static void
make_trial (void *trials, guint number)
{
  const CorrectionProblem *problem = ((Trials *) trials)->problem;
  PredictCorrectionTrial *trial = &((Trials *) trials)->trials[number];
  const PredictCorrectionData *data = problem->data;
  g_autoptr (CorrectionWork) work = correction_work_new (problem, number);

  correction_breed (work, trial);
  if (trial->time == NULL)
    return;
  trial->test_loss = loss_of (trial->time, trial->parameters, &data->test, data->test_observed,
                              problem->settings->loss);
  trial->train = errors_of (trial->time, trial->parameters, &data->train, data->train_observed);
  trial->test = errors_of (trial->time, trial->parameters, &data->test, data->test_observed);
  trial->converged = trial->loss < problem->base_loss;
  trial->better =
      trial->converged && (data->test.n == 0 || trial->test_loss < problem->base_test_loss);
}

/* --- The verdict: the term, the refitted model or neither ---
 *
 * Training errors cannot decide: a longer formula has a smaller one.  All three models are compared at
 * points that they were not fitted to.  The test points have no part in it. */

#define SAME      0.1  /* of the corrected model's error: a smaller distance is none */
#define ROUNDING  1e-6 /* of the times */
#define CANCELLED 0.1  /* of the model's time: less is left of it */
#define AT_BOUND  1e-6 /* of the range */

bool
predict_parameter_at_bound (const PredictParameter *parameter, double value)
{
  double low = parameter->low, high = parameter->high;

  if (parameter->log) {
    low = log (low);
    high = log (high);
    value = log (value);
  }
  return value - low <= AT_BOUND * (high - low) || high - value <= AT_BOUND * (high - low);
}

/* --- Points that were left out --- */

double
correction_points_loss (PredictLoss loss, const double *points_loss, uint64_t n)
{
  double sum = 0;

  for (uint64_t point = 0; point < n; point++)
    sum += points_loss[point];
  return loss == PREDICT_LOSS_MAPE ? sum / (double) n : sqrt (sum / (double) n);
}

/* Of the model with its parameters fitted to the other folds. */
static double *
points_loss_refitted (const CorrectionProblem *problem)
{
  const PredictCorrectionData *data = problem->data;
  const PredictBaseModel *model = data->model;
  PredictLoss loss = problem->settings->loss;
  uint64_t n = data->train.n;
  double *points_loss = g_new (double, n);
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  g_autofree double *memory = g_new (double, n *(model->n_variables + 2));
  g_autofree double **columns = g_new (double *, model->n_variables + 1);
  double *observed = memory + n * model->n_variables, *values = observed + n;

  for (uint32_t at = 0; at < model->n_variables; at++)
    columns[at] = memory + n * at;
  for (guint fold = 0; fold < CORRECTION_FOLDS; fold++) {
    g_autofree double *parameters = predict_base_model_values (model);
    PredictTarget target = { { (const double *const *) columns, 0 }, observed, loss };

    target.points.n =
        correction_choose_points (data, model->n_variables, fold, false, columns, observed);
    predict_levenberg_model (model, parameters, &target, CORRECTION_STARTS,
                             problem->settings->seed);
    target.points.n =
        correction_choose_points (data, model->n_variables, fold, true, columns, observed);
    predict_values (model->time, &target.points, parameters, workspace, values);
    for (uint64_t at = 0; at < target.points.n; at++)
      points_loss[at * CORRECTION_FOLDS + fold] =
          correction_point_loss (loss, observed[at], values[at]);
  }
  return points_loss;
}

/* Whether the mean of the losses a[] is below that of b[] by more than its own noise, as in Breiman's
 * rule of one standard error (Breiman, Friedman, Olshen, Stone 1984, 3.4.3), with Student's factor for
 * the one.  A paired test of the differences was tried: a fault that shows in a fourth of the points,
 * however large, passes for chance there.  `rounding`: less is no loss. */
static bool
is_better (const double *a, const double *b, uint64_t n, double rounding)
{
  double mean = 0, other = 0, squares = 0, freedom = (double) n - 1;
  /* Student's 97.5 % point, within 2 % for five points and more. */
  double student = 1.96 + 2.37 / freedom + 2.82 / (freedom * freedom);

  for (uint64_t point = 0; point < n; point++) {
    if (isinf (a[point]))
      return false;
    mean += a[point] / (double) n;
    other += b[point] / (double) n;
  }
  for (uint64_t point = 0; point < n; point++)
    squares += (a[point] - mean) * (a[point] - mean);
  return other > rounding &&
         mean + student * sqrt (squares / (double) (n - 1) / (double) n) < other;
}

/* In the unit of a point's loss. */
static double
rounding_of (const CorrectionProblem *problem)
{
  double least = problem->least_loss;

  return problem->settings->loss == PREDICT_LOSS_MAPE ? least : least * least;
}

/* --- Degenerate terms: those that parameters can replace, and those that cancel the model --- */

static char *
describe_parameters (const PredictBaseModel *model, const double *values)
{
  GString *text = g_string_new (NULL);

  for (uint32_t at = 0; at < model->n_parameters; at++)
    g_string_append_printf (text, "%s%s = %.4g", at > 0 ? ", " : "", model->parameters[at].name,
                            values[at]);
  return g_string_free (text, FALSE);
}

/* NULL: it is not.  The caller frees. */
static char *
why_degenerate (const CorrectionProblem *problem, const PredictCorrection *correction,
                const PredictCorrectionTrial *trial)
{
  const PredictCorrectionData *data = problem->data;
  const PredictBaseModel *model = data->model;
  uint64_t n = data->train.n;
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  g_autofree double *values = g_new (double, n), *share = g_new (double, n);
  g_autofree double *parameters = g_new (double, model->n_parameters + 1);
  g_autofree char *described = NULL;
  PredictTarget target = { data->train, values, PREDICT_LOSS_LOG_RMSE };
  double distance, error = trial->train.log_rmse, unit = 1;

  if (model->n_parameters == 0 ||
      predict_values (trial->time, &data->train, trial->parameters, workspace, values) > 0)
    return NULL;
  for (uint64_t point = 0; point < n; point++)
    if (!(values[point] > 0))
      target.loss = PREDICT_LOSS_RMSE;
  if (target.loss == PREDICT_LOSS_RMSE) {
    error = trial->train.rmse;
    unit = 0;
    for (uint64_t point = 0; point < n; point++)
      unit = MAX (unit, fabs (values[point]));
  }
  memcpy (parameters, correction->refitted, model->n_parameters * sizeof *parameters);
  distance = predict_levenberg_model (model, parameters, &target, CORRECTION_STARTS,
                                      problem->settings->seed);
  if (distance <= MAX (SAME * error, ROUNDING * unit)) {
    described = describe_parameters (model, parameters);
    return g_strdup_printf ("the term is degenerate: it does what the parameters can; with %s the "
                            "model alone gives the same times to %.2g %%",
                            described, 100 * distance / unit);
  }
  if (!problem->added || !problem->searched)
    return NULL;
  /* The share of the model's time that the added term leaves: the median. */
  predict_values (model->time, &data->train, trial->parameters, workspace, share);
  for (uint64_t point = 0; point < n; point++)
    share[point] = share[point] == 0 ? (double) INFINITY : fabs (values[point] / share[point]);
  qsort (share, n, sizeof *share, predict_compare_values);
  if (!(share[n / 2] < CANCELLED))
    return NULL;
  described = describe_parameters (model, trial->parameters);
  return g_strdup_printf (
      "the term is degenerate: it cancels %.3g %% of the model's time, of which "
      "the parameters (%s) make too much",
      100 * (1 - share[n / 2]), described);
}

/* --- The verdict --- */

/* Of times that were observed, none may be negative. */
static bool
is_positive (const CorrectionProblem *problem, const PredictExpression *time,
             const double *parameters)
{
  const PredictCorrectionData *data = problem->data;

  for (uint64_t point = 0; point < data->train.n; point++)
    if (!(data->train_observed[point] > 0))
      return true;
  return predict_shown_positive (time, data->box, data->model->n_variables, parameters,
                                 data->model->n_parameters);
}

/* Why the term is not taken; NULL: it is.  The caller frees. */
static char *
why_no_term (const CorrectionProblem *problem, const PredictCorrection *correction,
             const double *base, const double *refitted)
{
  uint64_t n = problem->data->train.n, n_fitted = n - (n + CORRECTION_FOLDS - 1) / CORRECTION_FOLDS;
  const PredictCorrectionTrial *trial;
  bool beats_base, beats_refitted;
  char *why;

  if (correction->best == correction->n_trials)
    return g_strdup ("no trial found a term with which the model is better");
  trial = &correction->trials[correction->best];
  why = why_degenerate (problem, correction, trial);
  if (why != NULL)
    return why;
  if (trial->n_numbers >= n_fitted)
    return g_strdup_printf (
        "the term and the parameters with it are %u numbers, and with a fold left "
        "out there are %u points to fit them to",
        trial->n_numbers, (guint) n_fitted);
  beats_base = is_better (trial->points_loss, base, n, rounding_of (problem));
  beats_refitted = is_better (trial->points_loss, refitted, n, rounding_of (problem));
  if (!beats_base || !beats_refitted)
    return g_strdup_printf ("at points left out of the fit, the term is not clearly better than %s",
                            beats_base       ? "the refitted model"
                            : beats_refitted ? "the model as it was"
                                             : "the model as it was, nor than the refitted one");
  if (!is_positive (problem, trial->time, trial->parameters))
    return g_strdup (
        "with the term, times cannot be shown to be positive everywhere in the range of "
        "the variables");
  return NULL;
}

static void
judge_outcome (const CorrectionProblem *problem, PredictCorrection *correction)
{
  const PredictCorrectionTrial *best =
      correction->best < correction->n_trials ? &correction->trials[correction->best] : NULL;
  const PredictBaseModel *model = problem->data->model;
  PredictLoss loss = problem->settings->loss;
  uint64_t n = problem->data->train.n;
  g_autofree double *base = g_new (double, n);
  g_autofree double *refitted = points_loss_refitted (problem);
  g_autofree char *no_term = NULL;
  const char *not_refitted = NULL;

  /* The model as it was needs no fit. */
  for (uint64_t point = 0; point < n; point++)
    base[point] = correction_point_loss (loss, problem->data->train_observed[point],
                                         problem->given_time[point]);
  no_term = why_no_term (problem, correction, base, refitted);
  if (model->n_parameters == 0)
    not_refitted = "the model has no parameters to fit";
  else if (!is_better (refitted, base, n, rounding_of (problem)))
    not_refitted = "the refitted model is not clearly better there than the model as it was";
  else if (!is_positive (problem, model->time, correction->refitted))
    not_refitted = "times of the refitted model cannot be shown to be positive everywhere in the "
                   "range of the variables";
  correction->base_folds = correction_points_loss (loss, base, n);
  correction->refitted_folds = correction_points_loss (loss, refitted, n);
  correction->corrected_folds =
      best ? correction_points_loss (loss, best->points_loss, n) : (double) NAN;
  if (no_term == NULL) {
    correction->verdict = PREDICT_TAKE_TERM;
    correction->reason =
        g_strdup ("at points left out of the fit, the term is clearly better than the "
                  "refitted model and than the model as it was");
  } else if (not_refitted == NULL) {
    correction->verdict = PREDICT_TAKE_REFITTED;
    correction->reason = g_steal_pointer (&no_term);
  } else {
    correction->verdict = PREDICT_TAKE_NEITHER;
    correction->reason = g_strdup_printf ("%s; %s", no_term, not_refitted);
  }
}

/* --- The procedure --- */

PredictCorrection *
predict_correct (const PredictCorrectionData *data, const PredictCorrectionSettings *settings,
                 PredictProgress progress, void *progress_data, GError **error)
{
  g_auto (CorrectionProblem) problem = { 0 };
  PredictCorrection *correction;
  const PredictWorkShare stretch = { progress, progress_data, 0, 1 };
  Trials trials = { &problem, NULL };
  const PredictExpression *time = data->model->time;
  PredictTarget target = { data->train, data->train_observed, settings->loss };

  if (!check_input (data, settings, error) || !problem_init (&problem, data, settings, error))
    return NULL;
  correction = g_new0 (PredictCorrection, 1);
  correction->n_trials = settings->n_trials;
  correction->trials = trials.trials = g_new0 (PredictCorrectionTrial, settings->n_trials);
  correction->refitted = predict_base_model_values (data->model);
  predict_levenberg_model (data->model, correction->refitted, &target, CORRECTION_STARTS,
                           settings->seed);
  correction->base_train = errors_of (time, problem.given, &data->train, data->train_observed);
  correction->base_test = errors_of (time, problem.given, &data->test, data->test_observed);
  correction->refitted_train =
      errors_of (time, correction->refitted, &data->train, data->train_observed);
  correction->refitted_test =
      errors_of (time, correction->refitted, &data->test, data->test_observed);
  predict_work (make_trial, &trials, settings->n_trials, settings->n_threads, &stretch);
  /* Choose the best trial. */
  correction->best = correction->n_trials;
  for (guint at = 0; at < correction->n_trials; at++) {
    const PredictCorrectionTrial *trial = &correction->trials[at];
    const PredictCorrectionTrial *best =
        correction->best < correction->n_trials ? &correction->trials[correction->best] : NULL;

    correction->n_converged += trial->converged;
    correction->n_better += trial->better;
    if (trial->converged && (best == NULL || (problem.best ? trial->description < best->description
                                                           : trial->loss < best->loss)))
      correction->best = at;
  }
  judge_outcome (&problem, correction);
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

/* --- The corrected model as a model file --- */

char *
predict_correction_base_name (const PredictBaseModel *model)
{
  GString *name = g_string_new ("t_comm");
  bool is_taken = true;

  while (is_taken) {
    is_taken = g_strv_contains (model->names.variables, name->str) ||
               g_strv_contains (model->names.parameters, name->str);
    for (uint32_t at = 0; at < model->n_constants; at++)
      is_taken = is_taken || strcmp (name->str, model->constants[at].name) == 0;
    if (is_taken)
      g_string_append (name, "_model");
  }
  return g_string_free (name, FALSE);
}

char *
predict_correction_text (const PredictBaseModel *model, const PredictCorrectionTrial *trial)
{
  g_autofree char *base_name = predict_correction_base_name (model);
  g_autofree char *before = predict_base_model_text (model, trial->parameters);
  g_auto (GStrv) lines = g_strsplit (before, "\n", -1);
  g_autofree const char **variables = g_new0 (const char *, model->n_variables + 2);
  const PredictNames names = { .variables = variables };
  g_autofree char *formula = NULL;
  GString *text = g_string_new (NULL);

  for (uint32_t at = 0; at < model->n_variables; at++)
    variables[at] = model->names.variables[at];
  variables[model->n_variables] = base_name;
  formula = predict_expression_text (trial->brief, &names);
  for (char **line = lines; *line != NULL; line++)
    if (g_str_has_prefix (*line, "time = "))
      g_string_append_printf (text, "%s = %s\ntime = %s\n", base_name, *line + strlen ("time = "),
                              formula);
    else if (**line != '\0') {
      /* Units are at the ends of lines, behind " in ", which is in no formula. */
      const char *unit = strstr (*line, " in ");

      g_string_append_len (text, *line, unit ? unit - *line : (gssize) strlen (*line));
      g_string_append_c (text, '\n');
    }
  return g_string_free (text, FALSE);
}
