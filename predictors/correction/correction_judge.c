/* correction_judge.c - how well a formula mends a model, and how long it is.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/correction/correction_private.h"
#include "predictors/formula/elementary.h"

#include <string.h>

/* Of a term, as a share of its mean square: less is a constant. */
#define LEAST_SPREAD 1e-12

static bool
is_bounded (PredictRange range)
{
  return !range.undefined && isfinite (range.low) && isfinite (range.high) &&
         range.low <= range.high;
}

/* The model's time, and its range in the box, with the member's parameters. */
static bool
find_time (CorrectionWork *work, const CorrectionMember *member)
{
  const CorrectionProblem *problem = work->problem;
  const PredictBaseModel *model = problem->data->model;

  if (!problem->searched)
    return true;
  if (predict_values (model->time, &problem->data->train, member->parameters, work->workspace,
                      work->time) > 0)
    return false;
  if (!problem->best)
    return true;
  for (uint32_t at = 0; at < model->n_parameters; at++)
    work->fixed[at] = predict_range (member->parameters[at], member->parameters[at]);
  work->ranges[model->n_variables] = predict_bounds (model->time, work->ranges, work->fixed);
  return is_bounded (work->ranges[model->n_variables]);
}

/* In nats: what the deviations cost, every step, and every number (half the logarithm of n). */
static double
description_of (const CorrectionProblem *problem, const CorrectionMember *member)
{
  const PredictGrammar *grammar = &problem->grammar;
  double n = (double) problem->data->train.n, n_numbers = 1;
  double loss = MAX (member->loss, problem->least_loss);

  for (uint32_t at = 0; at < member->tree.n; at++)
    n_numbers += member->tree.steps[at].op == PREDICT_OP_CONSTANT;
  return n * predict_log (loss) +
         member->tree.n * predict_log (grammar->n_functions + grammar->n_variables + 1) +
         n_numbers / 2 * predict_log (n);
}

/* The tree's values, and the model's time; false: something has no value. */
static bool
find_term (CorrectionWork *work, const CorrectionMember *member)
{
  const CorrectionProblem *problem = work->problem;
  PredictExpression term = { (PredictStep *) member->tree.steps, member->tree.n };
  PredictPoints points = { work->columns, problem->data->train.n };

  return find_time (work, member) &&
         predict_values (&term, &points, NULL, work->workspace, work->term) == 0 &&
         (!problem->best || is_bounded (predict_bounds (&term, work->ranges, NULL)));
}

static void
judge_term (CorrectionWork *work, CorrectionMember *member)
{
  const CorrectionProblem *problem = work->problem;
  const PredictCorrectionData *data = problem->data;

  if (!isfinite (member->factor))
    return;
  for (uint64_t point = 0; point < data->train.n; point++)
    work->sum[point] =
        (problem->added ? work->time[point] : 0) + member->factor * work->term[point];
  member->loss =
      predict_loss (problem->settings->loss, data->train_observed, work->sum, data->train.n);
  if (isfinite (member->loss))
    member->description = description_of (problem, member);
}

void
correction_judge (CorrectionWork *work, CorrectionMember *member)
{
  const CorrectionProblem *problem = work->problem;
  const PredictCorrectionData *data = problem->data;

  member->loss = member->description = INFINITY;
  if (!find_term (work, member))
    return;
  member->factor =
      problem->best
          ? predict_best_factor (problem->settings->loss, data->train_observed,
                                 problem->added ? work->time : NULL, work->term, data->train.n)
          : 1;
  judge_term (work, member);
}

void
correction_judge_as_it_is (CorrectionWork *work, CorrectionMember *member)
{
  member->loss = member->description = INFINITY;
  if (find_term (work, member))
    judge_term (work, member);
}

/* a term + b for the observed values without the model's time, in the unit of
 * predict_best_factor(). */
static bool
fit_line (const CorrectionWork *work, double *a, double *b)
{
  const CorrectionProblem *problem = work->problem;
  const PredictCorrectionData *data = problem->data;
  double n = 0, x = 0, y = 0, xx = 0, xy = 0, determinant;

  for (uint64_t point = 0; point < data->train.n; point++) {
    double observed = data->train_observed[point];
    double weight = problem->settings->loss == PREDICT_LOSS_RMSE ? 1 : 1 / (observed * observed);
    double wanted = observed - (problem->added ? work->time[point] : 0), had = work->term[point];

    n += weight;
    x += weight * had;
    y += weight * wanted;
    xx += weight * had * had;
    xy += weight * had * wanted;
  }
  determinant = n * xx - x * x;
  *a = (n * xy - x * y) / determinant;
  *b = (y - *a * x) / n;
  return determinant > LEAST_SPREAD * n * xx && isfinite (*b / *a);
}

void
correction_offset (CorrectionWork *work, CorrectionMember *member)
{
  const CorrectionProblem *problem = work->problem;
  const PredictCorrectionData *data = problem->data;
  PredictTree *tree = &member->tree;
  CorrectionMember other;
  double a, b;

  if (tree->n + 2 > problem->most_steps || !fit_line (work, &a, &b))
    return;
  for (uint64_t point = 0; point < data->train.n; point++)
    work->sum[point] = (problem->added ? work->time[point] : 0) + a * work->term[point] + b;
  other = *member;
  other.loss =
      predict_loss (problem->settings->loss, data->train_observed, work->sum, data->train.n);
  other.factor = a;
  other.tree.steps[other.tree.n++] = (PredictStep){ .op = PREDICT_OP_CONSTANT, .value = b / a };
  other.tree.steps[other.tree.n++] = (PredictStep){ .op = PREDICT_OP_ADD };
  if (isfinite (other.loss) && description_of (problem, &other) < member->description)
    *member = other;
}

double
correction_added_factor (CorrectionWork *work, const PredictTree *tree)
{
  const CorrectionProblem *problem = work->problem;
  const PredictCorrectionData *data = problem->data;
  PredictTree copy = *tree;
  PredictExpression term = { copy.steps, copy.n };
  PredictPoints points = { work->columns, data->train.n };

  memcpy (work->time, problem->given_time, points.n * sizeof *work->time);
  if (predict_values (&term, &points, NULL, work->workspace, work->term) > 0)
    return (double) NAN;
  return predict_best_factor (problem->settings->loss, data->train_observed, problem->given_time,
                              work->term, points.n);
}
