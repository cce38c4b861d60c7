/* correction_verdict.c - whether the term, the refitted model or neither is to be taken.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Training errors cannot decide: a longer formula has a smaller one.  All three models are compared at
 * points that they were not fitted to.  The test points have no part in it. */
#include "config.h"

#include "predictors/correction/correction_private.h"

#include <math.h>
#include <string.h>

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

/* -- points that were left out ------------------------------------------------------- */

static double
loss_of_points (PredictLoss loss, const double *points_loss, uint64_t n)
{
  double sum = 0;

  for (uint64_t point = 0; point < n; point++)
    sum += points_loss[point];
  return loss == PREDICT_LOSS_MAPE ? sum / (double) n : sqrt (sum / (double) n);
}

/* Of the model with these parameters, which were not fitted. */
static double *
points_loss_as_it_was (const CorrectionProblem *problem)
{
  const PredictCorrectionData *data = problem->data;
  double *points_loss = g_new (double, data->train.n);

  for (uint64_t point = 0; point < data->train.n; point++)
    points_loss[point] = correction_point_loss (
        problem->settings->loss, data->train_observed[point], problem->given_time[point]);
  return points_loss;
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

/* Student's 97.5 % point of n - 1 degrees of freedom, within 2 % for five points and more. */
static double
student (uint64_t n)
{
  double freedom = (double) n - 1;

  return 1.96 + 2.37 / freedom + 2.82 / (freedom * freedom);
}

/* Whether the mean of the losses a[] is below that of b[] by more than its own noise, as in Breiman's
 * rule of one standard error (Breiman, Friedman, Olshen, Stone 1984, 3.4.3), with Student's factor for
 * the one.  A paired test of the differences was tried: a fault that shows in a fourth of the points,
 * however large, passes for chance there.  `rounding`: less is no loss. */
static bool
is_better (const double *a, const double *b, uint64_t n, double rounding)
{
  double mean = 0, other = 0, squares = 0;

  for (uint64_t point = 0; point < n; point++) {
    if (isinf (a[point]))
      return false;
    mean += a[point] / (double) n;
    other += b[point] / (double) n;
  }
  for (uint64_t point = 0; point < n; point++)
    squares += (a[point] - mean) * (a[point] - mean);
  return other > rounding &&
         mean + student (n) * sqrt (squares / (double) (n - 1) / (double) n) < other;
}

/* In the unit of a point's loss. */
static double
rounding_of (const CorrectionProblem *problem)
{
  double least = problem->least_loss;

  return problem->settings->loss == PREDICT_LOSS_MAPE ? least : least * least;
}

/* -- degenerate terms ---------------------------------------------------------------- */

static double
largest_of (const double *values, uint64_t n)
{
  double largest = 0;

  for (uint64_t point = 0; point < n; point++)
    largest = MAX (largest, fabs (values[point]));
  return largest;
}

static char *
describe_parameters (const PredictBaseModel *model, const double *values)
{
  GString *text = g_string_new (NULL);

  for (uint32_t at = 0; at < model->n_parameters; at++)
    g_string_append_printf (text, "%s%s = %.4g", at > 0 ? ", " : "", model->parameters[at].name,
                            values[at]);
  return g_string_free (text, FALSE);
}

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* What is left of the model's time when the term is added to it, as a share of it: the median. */
static double
share_left (const CorrectionProblem *problem, const PredictCorrectionTrial *trial,
            const double *corrected)
{
  const PredictCorrectionData *data = problem->data;
  uint64_t n = data->train.n;
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  g_autofree double *share = g_new (double, n);

  predict_values (data->model->time, &data->train, trial->parameters, workspace, share);
  for (uint64_t point = 0; point < n; point++)
    share[point] = share[point] == 0 ? (double) INFINITY : fabs (corrected[point] / share[point]);
  qsort (share, n, sizeof *share, compare_doubles);
  return share[n / 2];
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
  g_autofree double *values = g_new (double, n);
  g_autofree double *parameters = g_new (double, model->n_parameters + 1);
  g_autofree char *described = NULL;
  PredictTarget target = { data->train, values, PREDICT_LOSS_LOG_RMSE };
  double distance, error = trial->train.log_rmse, unit = 1, left;

  if (model->n_parameters == 0 ||
      predict_values (trial->time, &data->train, trial->parameters, workspace, values) > 0)
    return NULL;
  for (uint64_t point = 0; point < n; point++)
    if (!(values[point] > 0))
      target.loss = PREDICT_LOSS_RMSE;
  if (target.loss == PREDICT_LOSS_RMSE) {
    error = trial->train.rmse;
    unit = largest_of (values, n);
  }
  memcpy (parameters, correction->refitted, model->n_parameters * sizeof *parameters);
  distance = predict_levenberg_model (model, parameters, &target, CORRECTION_STARTS,
                                      problem->settings->seed);
  described = describe_parameters (model, parameters);
  if (distance <= MAX (SAME * error, ROUNDING * unit))
    return g_strdup_printf ("the term is degenerate: it does what the parameters can; with %s the "
                            "model alone gives the same times to %.2g %%",
                            described, 100 * distance / unit);
  left = problem->added && problem->searched ? share_left (problem, trial, values) : 1;
  g_clear_pointer (&described, g_free);
  described = describe_parameters (model, trial->parameters);
  if (left < CANCELLED)
    return g_strdup_printf (
        "the term is degenerate: it cancels %.3g %% of the model's time, of which "
        "the parameters (%s) make too much",
        100 * (1 - left), described);
  return NULL;
}

/* -- the verdict ---------------------------------------------------------------------- */

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

/* Why the refitted model is not taken; NULL: it is. */
static const char *
why_not_refitted (const CorrectionProblem *problem, const PredictCorrection *correction,
                  const double *base, const double *refitted)
{
  const PredictBaseModel *model = problem->data->model;

  if (model->n_parameters == 0)
    return "the model has no parameters to fit";
  if (!is_better (refitted, base, problem->data->train.n, rounding_of (problem)))
    return "the refitted model is not clearly better there than the model as it was";
  if (!is_positive (problem, model->time, correction->refitted))
    return "times of the refitted model cannot be shown to be positive everywhere in the range of "
           "the variables";
  return NULL;
}

void
correction_judge_outcome (const CorrectionProblem *problem, PredictCorrection *correction)
{
  const PredictCorrectionTrial *best =
      correction->best < correction->n_trials ? &correction->trials[correction->best] : NULL;
  PredictLoss loss = problem->settings->loss;
  uint64_t n = problem->data->train.n;
  g_autofree double *base = points_loss_as_it_was (problem);
  g_autofree double *refitted = points_loss_refitted (problem);
  g_autofree char *no_term = why_no_term (problem, correction, base, refitted);
  const char *not_refitted = why_not_refitted (problem, correction, base, refitted);

  correction->base_folds = loss_of_points (loss, base, n);
  correction->refitted_folds = loss_of_points (loss, refitted, n);
  correction->corrected_folds = best ? loss_of_points (loss, best->points_loss, n) : (double) NAN;
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
