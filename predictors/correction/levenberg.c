/* levenberg.c - the numbers of a formula, fitted to observations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/formula/elementary.h"
#include "predictors/correction/levenberg.h"
#include "predictors/correction/genetic.h"

#include <cminpack.h>
#include <string.h>

/* The square of it is finite, and no loss is near it. */
#define REFUSED   1e100
#define TOLERANCE 1e-12
/* At a bound all is flat, and nothing would leave it: where a search begins, and where it may end. */
#define NEAREST_TO_BOUND 1e-4
#define FARTHEST         40

typedef struct {
  PredictExpression *expression;
  double *parameters;
  const PredictTarget *target;
  const PredictFreedom *freedom;
  PredictWorkspace *workspace;
  uint32_t *step_of; /* [unknowns] the step of a constant */
  double *values;    /* [points] */
} Fit;

/* --- Between bounds --- */

/* The value, and its slope along `inner`. */
static double
outer_of (const PredictParameter *bounds, double inner, double *slope)
{
  double low = predict_parameter_inner (bounds, bounds->low),
         high = predict_parameter_inner (bounds, bounds->high);
  double share = 1 / (1 + predict_exp (-CLAMP (inner, -FARTHEST, FARTHEST)));
  double value = predict_parameter_outer (bounds, low + (high - low) * share);

  *slope = (high - low) * share * (1 - share) * (bounds->log ? value : 1);
  return value;
}

/* --- The function that lmder calls --- */

static void
place_unknowns (Fit *fit, const double *inner)
{
  const PredictFreedom *freedom = fit->freedom;
  double slope;

  for (uint32_t at = 0; at < freedom->n_unknowns; at++)
    if (at < freedom->n_bounded)
      fit->parameters[at] = outer_of (&freedom->bounds[at], inner[at], &slope);
    else
      fit->expression->steps[fit->step_of[at]].value = inner[at];
}

static bool
all_finite (const double *values, uint64_t n)
{
  for (uint64_t at = 0; at < n; at++)
    if (!isfinite (values[at]))
      return false;
  return true;
}

/* Deviations (wanted 1) or slopes (2) at inner[]; -1 ends the fit. */
static int
evaluate (void *data, int n_points, int n_unknowns, const double *inner, double *deviations,
          double *slopes, int stride, int wanted)
{
  Fit *fit = data;
  const PredictTarget *target = fit->target;
  const PredictFreedom *freedom = fit->freedom;
  uint64_t n = target->points.n;

  g_assert (stride == n_points && (uint32_t) n_unknowns == freedom->n_unknowns);
  if (!all_finite (inner, (uint64_t) n_unknowns))
    return -1;
  place_unknowns (fit, inner);
  if (wanted == 1) {
    predict_values (fit->expression, &target->points, fit->parameters, fit->workspace, fit->values);
    for (uint64_t point = 0; point < n; point++)
      deviations[point] =
          predict_deviation (target->loss, target->observed[point], fit->values[point], NULL);
    if (!all_finite (deviations, n))
      for (uint64_t point = 0; point < n; point++)
        deviations[point] = REFUSED;
    return 0;
  }
  predict_derivatives (fit->expression, &target->points, fit->parameters, freedom->unknown,
                       freedom->n_unknowns, fit->workspace, fit->values, slopes);
  for (uint32_t at = 0; at < freedom->n_unknowns; at++) {
    double of_outer = 1, of_deviation;

    if (at < freedom->n_bounded)
      outer_of (&freedom->bounds[at], inner[at], &of_outer);
    for (uint64_t point = 0; point < n; point++) {
      predict_deviation (target->loss, target->observed[point], fit->values[point], &of_deviation);
      slopes[at * n + point] *= of_outer * of_deviation;
    }
  }
  return all_finite (slopes, n * freedom->n_unknowns) ? 0 : -1;
}

static double
loss_now (Fit *fit)
{
  const PredictTarget *target = fit->target;

  predict_values (fit->expression, &target->points, fit->parameters, fit->workspace, fit->values);
  return predict_loss (target->loss, target->observed, fit->values, target->points.n);
}

double
predict_levenberg (PredictExpression *expression, double *parameters, const PredictTarget *target,
                   const PredictFreedom *freedom, PredictWorkspace *workspace)
{
  uint32_t n = freedom->n_unknowns;
  uint64_t m = target->points.n;
  g_autofree double *values = g_new (double, m), *memory = NULL;
  g_autofree uint32_t *step_of = g_new0 (uint32_t, n + 1);
  g_autofree double *inner = g_new (double, n + 1), *before = g_new (double, n + 1);
  g_autofree int *pivots = g_new (int, n);
  Fit fit = { expression, parameters, target, freedom, workspace, step_of, values };
  double loss = loss_now (&fit), found, *deviations, *spare, *rest;
  int n_values, n_slopes;

  if (n == 0 || n > m || m > G_MAXINT || !isfinite (loss))
    return loss;
  for (uint32_t step = 0; step < expression->n; step++)
    if (expression->steps[step].op == PREDICT_OP_CONSTANT &&
        freedom->unknown[step] != PREDICT_FIXED)
      step_of[freedom->unknown[step]] = step;
  for (uint32_t at = 0; at < n; at++) {
    const PredictParameter *bounds;
    double low, high, share;

    if (at >= freedom->n_bounded) {
      inner[at] = before[at] = expression->steps[step_of[at]].value;
      continue;
    }
    bounds = &freedom->bounds[at];
    before[at] = parameters[at];
    low = predict_parameter_inner (bounds, bounds->low);
    high = predict_parameter_inner (bounds, bounds->high);
    share = high > low ? (predict_parameter_inner (bounds, before[at]) - low) / (high - low) : 0.5;
    share = CLAMP (share, NEAREST_TO_BOUND, 1 - NEAREST_TO_BOUND);
    inner[at] = predict_log (share / (1 - share));
  }
  memory = g_new (double, m *(n + 2) + 5 * (size_t) n);
  deviations = memory + m * n;
  spare = deviations + m;
  rest = spare + m;
  lmder (evaluate, &fit, (int) m, (int) n, inner, deviations, memory, (int) m, TOLERANCE, TOLERANCE,
         0, freedom->most_evaluations, rest, 1, 100, 0, &n_values, &n_slopes, pivots, rest + n,
         rest + 2 * n, rest + 3 * n, rest + 4 * n, spare);
  if (all_finite (inner, n)) {
    place_unknowns (&fit, inner);
    if ((found = loss_now (&fit)) < loss)
      return found;
  }
  for (uint32_t at = 0; at < n; at++)
    if (at < freedom->n_bounded)
      parameters[at] = before[at];
    else
      expression->steps[step_of[at]].value = before[at];
  return loss;
}

double
predict_levenberg_model (const PredictBaseModel *model, double *parameters,
                         const PredictTarget *target, guint n_starts, uint64_t seed)
{
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();
  g_autofree int32_t *unknown = g_new (int32_t, model->time->n);
  g_autofree double *trial = g_new (double, model->n_parameters + 1);
  BaseRandom random = base_random_stream (seed, 0);
  PredictFreedom freedom = { unknown, 0, model->n_parameters, model->parameters, 1000 };
  double best = INFINITY;

  freedom.n_unknowns = predict_unknowns (model->time, model->n_parameters, false, unknown);
  memcpy (trial, parameters, model->n_parameters * sizeof *trial);
  for (guint start = 0; start < n_starts; start++) {
    double loss;

    if (start > 0)
      predict_vector_draw (model->parameters, model->n_parameters, &random, trial);
    loss = predict_levenberg (model->time, trial, target, &freedom, workspace);
    if (loss < best) {
      best = loss;
      memcpy (parameters, trial, model->n_parameters * sizeof *trial);
    }
  }
  return best;
}
