/* correction_member.c - a formula that may correct a model: put together, fitted, judged, polished.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/correction/correction_private.h"
#include "predictors/formula/elementary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FOLD_EVALUATIONS 60
#define PLACES           256u
#define CORNER_VARIABLES 8u         /* that take both ends by turns */
#define PLACES_STREAM    UINT64_MAX /* no trial's */

static uint32_t
n_variables (const CorrectionProblem *problem)
{
  return problem->data->model->n_variables;
}

CorrectionWork *
correction_work_new (const CorrectionProblem *problem, guint trial)
{
  const PredictCorrectionData *data = problem->data;
  const PredictBaseModel *model = data->model;
  CorrectionWork *work = g_new0 (CorrectionWork, 1);
  uint64_t n = data->train.n;

  work->problem = problem;
  work->random = base_random_stream (problem->settings->seed, trial);
  work->workspace = predict_workspace_new ();
  work->time = g_new (double, n);
  work->term = g_new (double, n);
  work->sum = g_new (double, n);
  work->columns = g_new (const double *, model->n_variables + 1);
  work->ranges = g_new (PredictRange, model->n_variables + 1);
  work->fixed = g_new (PredictRange, model->n_parameters + 1);
  for (uint32_t at = 0; at < model->n_variables; at++) {
    work->columns[at] = data->train.columns[at];
    work->ranges[at] = data->box[at];
  }
  work->columns[model->n_variables] = work->time;
  work->ranges[model->n_variables] = problem->given_range;
  memcpy (work->time, problem->given_time, n * sizeof *work->time);
  return work;
}

void
correction_work_free (CorrectionWork *work)
{
  predict_workspace_free (work->workspace);
  g_free (work->columns);
  g_free (work->time);
  g_free (work->term);
  g_free (work->sum);
  g_free (work->ranges);
  g_free (work->fixed);
  g_free (work->whole.steps);
  g_free (work->unknown);
  g_free (work);
}

void
correction_copy (const CorrectionProblem *problem, const CorrectionMember *from,
                 CorrectionMember *into)
{
  double *parameters = into->parameters;

  into->tree.n = from->tree.n;
  memcpy (into->tree.steps, from->tree.steps, from->tree.n * sizeof *from->tree.steps);
  into->factor = from->factor;
  into->loss = from->loss;
  into->description = from->description;
  memcpy (parameters, from->parameters, problem->data->model->n_parameters * sizeof *parameters);
}

/* --- Putting together --- */

static void
append (CorrectionWork *work, const PredictStep *steps, uint32_t n)
{
  if (work->whole.n + n > work->capacity) {
    work->capacity = 2 * (work->whole.n + n);
    work->whole.steps = g_renew (PredictStep, work->whole.steps, work->capacity);
    work->unknown = g_renew (int32_t, work->unknown, work->capacity);
  }
  memcpy (work->whole.steps + work->whole.n, steps, n * sizeof *steps);
  for (uint32_t at = 0; at < n; at++)
    work->unknown[work->whole.n + at] = PREDICT_FIXED;
  work->whole.n += n;
}

/* The model's formula, or the variable that stands for its time. */
static void
append_time (CorrectionWork *work, bool brief)
{
  const PredictBaseModel *model = work->problem->data->model;
  const PredictStep time = { .op = PREDICT_OP_VARIABLE, .index = (int32_t) model->n_variables };

  if (brief) {
    append (work, &time, 1);
    return;
  }
  append (work, model->time->steps, model->time->n);
  if (!work->problem->searched)
    return;
  for (uint32_t at = work->whole.n - model->time->n; at < work->whole.n; at++)
    if (work->whole.steps[at].op == PREDICT_OP_PARAMETER)
      work->unknown[at] = work->whole.steps[at].index;
}

static void
append_number (CorrectionWork *work, double value, uint32_t *n_unknowns)
{
  append (work, &(PredictStep){ .op = PREDICT_OP_CONSTANT, .value = value }, 1);
  work->unknown[work->whole.n - 1] = (int32_t) (*n_unknowns)++;
}

/* Writes the whole formula to work->whole.  Returns the number of unknowns: searched parameters, the
 * factor, the numbers of the tree in their order.  In the paper's mode there is no factor. */
static uint32_t
put_together (CorrectionWork *work, const CorrectionMember *member, bool brief)
{
  const CorrectionProblem *problem = work->problem;
  uint32_t n_unknowns = problem->searched && !brief ? problem->data->model->n_parameters : 0;

  work->whole.n = 0;
  if (problem->added)
    append_time (work, brief);
  if (problem->best)
    append_number (work, member->factor, &n_unknowns);
  for (uint32_t at = 0; at < member->tree.n; at++) {
    const PredictStep *step = &member->tree.steps[at];

    if (step->op == PREDICT_OP_CONSTANT)
      append_number (work, step->value, &n_unknowns);
    else if (step->op == PREDICT_OP_VARIABLE && (uint32_t) step->index == n_variables (problem))
      append_time (work, brief);
    else
      append (work, step, 1);
  }
  if (problem->best)
    append (work, &(PredictStep){ .op = PREDICT_OP_MULTIPLY }, 1);
  if (problem->added)
    append (work, &(PredictStep){ .op = PREDICT_OP_ADD }, 1);
  return n_unknowns;
}

PredictExpression *
correction_formula (CorrectionWork *work, const CorrectionMember *member, bool brief)
{
  put_together (work, member, brief);
  return predict_expression_simplify (&work->whole);
}

/* --- Fitting --- */

PredictTarget
correction_train (const CorrectionWork *work)
{
  const PredictCorrectionData *data = work->problem->data;

  return (PredictTarget){ { work->columns, data->train.n },
                          data->train_observed,
                          work->problem->settings->loss };
}

void
correction_fit (CorrectionWork *work, CorrectionMember *member, const PredictTarget *target,
                int most_evaluations)
{
  const CorrectionProblem *problem = work->problem;
  const PredictBaseModel *model = problem->data->model;
  /* Its own time is a column of the training set only while parameters stay as they are. */
  bool brief = !problem->searched && target->points.columns == work->columns;
  PredictFreedom freedom = { NULL, put_together (work, member, brief),
                             problem->searched ? model->n_parameters : 0, model->parameters,
                             most_evaluations };
  bool has_factor = problem->best;
  int32_t first;

  if (work->whole.n > PREDICT_MAX_STEPS)
    return;
  freedom.unknown = work->unknown;
  predict_levenberg (&work->whole, member->parameters, target, &freedom, work->workspace);
  /* Numbers back from where put_together() left them. */
  first = (int32_t) freedom.n_bounded + has_factor;
  for (uint32_t at = 0; at < work->whole.n; at++)
    if (has_factor && work->unknown[at] == first - 1)
      member->factor = work->whole.steps[at].value;
  for (uint32_t at = 0, step = 0; at < work->whole.n; at++) {
    if (work->unknown[at] < first)
      continue;
    while (member->tree.steps[step].op != PREDICT_OP_CONSTANT)
      step++;
    member->tree.steps[step++].value = work->whole.steps[at].value;
  }
}

/* --- Away from the points --- */

bool
correction_stays_positive (CorrectionWork *work, const CorrectionMember *member)
{
  const CorrectionProblem *problem = work->problem;
  BaseRandom random = base_random_stream (problem->settings->seed, PLACES_STREAM);
  uint32_t n = n_variables (problem);
  g_autofree double *place = g_new (double, n + 1);
  guint n_corners = 1u << MIN (n, CORNER_VARIABLES);
  double value;

  put_together (work, member, false);
  /* Draws never hit an end of a range, where a model may have a step: a job on one node has no message
   * between nodes (and may take no time at all).  So the corners come first. */
  for (guint at = 0; at < n_corners + PLACES; at++) {
    for (uint32_t variable = 0; variable < n; variable++) {
      PredictRange range = problem->data->box[variable];

      if (at < n_corners)
        place[variable] = at >> MIN (variable, 31) & 1 ? range.high : range.low;
      else {
        double share = base_random_unit (&random);

        place[variable] =
            at % 2 == 0 && range.low > 0
                ? range.low * predict_exp (predict_log (range.high / range.low) * share)
                : range.low + (range.high - range.low) * share;
      }
    }
    value = predict_value (&work->whole, place, member->parameters);
    if (!(value > 0 || (value == 0 && at < n_corners)))
      return false;
  }
  return predict_shown_positive (&work->whole, problem->data->box, n, member->parameters,
                                 problem->data->model->n_parameters);
}

/* --- Cross-validation --- */

uint64_t
correction_choose_points (const PredictCorrectionData *data, uint32_t n_columns, guint fold,
                          bool inside, double **columns, double *observed)
{
  uint64_t n = 0;

  for (uint64_t point = 0; point < data->train.n; point++) {
    if ((point % CORRECTION_FOLDS == fold) != inside)
      continue;
    for (uint32_t at = 0; at < n_columns; at++)
      columns[at][n] = data->train.columns[at][point];
    observed[n++] = data->train_observed[point];
  }
  return n;
}

double
correction_point_loss (PredictLoss loss, double observed, double predicted)
{
  double deviation = predict_deviation (loss, observed, predicted, NULL);

  if (!isfinite (deviation))
    return INFINITY;
  return loss == PREDICT_LOSS_MAPE ? fabs (deviation) : deviation * deviation;
}

uint32_t
correction_n_numbers (CorrectionWork *work, const CorrectionMember *member)
{
  return put_together (work, member, false);
}

double
correction_folds_loss (CorrectionWork *work, const CorrectionMember *member, double *points_loss)
{
  const CorrectionProblem *problem = work->problem;
  const PredictCorrectionData *data = problem->data;
  const PredictLoss loss = problem->settings->loss;
  uint32_t n_columns = n_variables (problem);
  uint64_t n = data->train.n;
  g_autofree double *memory = g_new (double, n *(n_columns + 2));
  g_autofree double **columns = g_new (double *, n_columns);
  g_autofree double *parameters = g_new (double, data->model->n_parameters + 1);
  double *observed = memory + n * n_columns, *values = observed + n, sum = 0;

  for (uint32_t at = 0; at < n_columns; at++)
    columns[at] = memory + n * at;
  for (guint fold = 0; fold < CORRECTION_FOLDS; fold++) {
    CorrectionMember other = { .parameters = parameters };
    PredictTarget target = { { (const double *const *) columns, 0 }, observed, loss };
    double of_fold;

    correction_copy (problem, member, &other);
    target.points.n = correction_choose_points (data, n_columns, fold, false, columns, observed);
    correction_fit (work, &other, &target, FOLD_EVALUATIONS);
    target.points.n = correction_choose_points (data, n_columns, fold, true, columns, observed);
    if (target.points.n == 0)
      continue;
    put_together (work, &other, false);
    predict_values (&work->whole, &target.points, parameters, work->workspace, values);
    of_fold = predict_loss (loss, observed, values, target.points.n);
    sum += (double) target.points.n * (loss == PREDICT_LOSS_MAPE ? of_fold : of_fold * of_fold);
    for (uint64_t at = 0; points_loss != NULL && at < target.points.n; at++)
      points_loss[at * CORRECTION_FOLDS + fold] =
          correction_point_loss (loss, observed[at], values[at]);
  }
  return loss == PREDICT_LOSS_MAPE ? sum / (double) n : sqrt (sum / (double) n);
}

/* --- Loss and description of a formula --- */

/* Of a term, as a share of its mean square: less is a constant. */
#define LEAST_SPREAD 1e-12

static bool
is_bounded (PredictRange range)
{
  return !range.undefined && isfinite (range.low) && isfinite (range.high) &&
         range.low <= range.high;
}

/* In nats: the cost of the deviations, of every step, and of every number (half the logarithm of n). */
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

/* The values of the tree, and the model's time and range with the member's parameters; false:
 * something has no value. */
static bool
find_term (CorrectionWork *work, const CorrectionMember *member)
{
  const CorrectionProblem *problem = work->problem;
  const PredictBaseModel *model = problem->data->model;
  PredictExpression term = { (PredictStep *) member->tree.steps, member->tree.n };
  PredictPoints points = { work->columns, problem->data->train.n };

  if (problem->searched && predict_values (model->time, &problem->data->train, member->parameters,
                                           work->workspace, work->time) > 0)
    return false;
  if (problem->searched && problem->best) {
    for (uint32_t at = 0; at < model->n_parameters; at++)
      work->fixed[at] = predict_range (member->parameters[at], member->parameters[at]);
    work->ranges[model->n_variables] = predict_bounds (model->time, work->ranges, work->fixed);
    if (!is_bounded (work->ranges[model->n_variables]))
      return false;
  }
  return predict_values (&term, &points, NULL, work->workspace, work->term) == 0 &&
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

/* The same with the factor that it has. */
static void
judge_as_it_is (CorrectionWork *work, CorrectionMember *member)
{
  member->loss = member->description = INFINITY;
  if (find_term (work, member))
    judge_term (work, member);
}

void
correction_offset (CorrectionWork *work, CorrectionMember *member)
{
  const CorrectionProblem *problem = work->problem;
  const PredictCorrectionData *data = problem->data;
  CorrectionMember other;
  double n = 0, x = 0, y = 0, xx = 0, xy = 0, determinant, a, b;

  if (member->tree.n + 2 > problem->most_steps)
    return;
  /* Fit a term + b to the observed values less the model's time, in the unit of
   * predict_best_factor(). */
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
  a = (n * xy - x * y) / determinant;
  b = (y - a * x) / n;
  if (!(determinant > LEAST_SPREAD * n * xx) || !isfinite (b / a))
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

/* --- Polishing: fewer steps, and fewer digits --- */

/* A bred formula carries remains of its ancestors: + 0, x^2.0000001, c and -c. */

#define EVALUATIONS 200
#define SAME        1e-8 /* of the loss, which may grow by so much for fewer digits */
#define MOST_DIGITS 15

/* Replaces the member by the tree if that has the shorter description. */
static bool
take_if_shorter (CorrectionWork *work, CorrectionMember *member, const PredictTree *tree)
{
  CorrectionMember other;
  g_autofree double *parameters = g_new (double, work->problem->data->model->n_parameters + 1);
  PredictTarget train = correction_train (work);

  other.parameters = parameters;
  correction_copy (work->problem, member, &other);
  other.tree = *tree;
  if (!predict_tree_tidy (&other.tree))
    return false;
  correction_judge (work, &other);
  if (!isfinite (other.loss))
    return false;
  correction_fit (work, &other, &train, EVALUATIONS);
  correction_judge (work, &other);
  if (!(other.description < member->description))
    return false;
  correction_copy (work->problem, &other, member);
  return true;
}

/* Removes one operation, or makes one power integer (x^2.0000001 is x^2, which has a value of any x);
 * false: no change gives a shorter description. */
static bool
shorten (CorrectionWork *work, CorrectionMember *member)
{
  PredictTree tree;

  for (uint32_t root = 0; root < member->tree.n; root++)
    for (uint8_t operand = 0; operand < predict_ops[member->tree.steps[root].op].n_operands;
         operand++) {
      predict_tree_without (&member->tree, root, operand, &tree);
      if (take_if_shorter (work, member, &tree))
        return true;
    }
  for (uint32_t root = 2; root < member->tree.n; root++) {
    const PredictStep *last = &member->tree.steps[root - 1];
    double exponent = nearbyint (last->value);

    if (member->tree.steps[root].op != PREDICT_OP_POWER || last->op != PREDICT_OP_CONSTANT ||
        !(fabs (exponent) <= PREDICT_MAX_EXPONENT) || exponent == 0)
      continue;
    predict_tree_without (&member->tree, root, 0, &tree);
    for (uint32_t at = tree.n; at > root - 1; at--)
      tree.steps[at] = tree.steps[at - 1];
    tree.steps[root - 1] =
        (PredictStep){ .op = PREDICT_OP_INTEGER_POWER, .index = (int32_t) exponent };
    tree.n++;
    if (take_if_shorter (work, member, &tree))
      return true;
  }
  return false;
}

/* Gives one number of the member the fewest digits that keep the loss. */
static void
round_number (CorrectionWork *work, CorrectionMember *member, double *number, double most_loss)
{
  double value = *number;

  for (int n_digits = 1; n_digits <= MOST_DIGITS; n_digits++) {
    char format[16], text[G_ASCII_DTOSTR_BUF_SIZE];

    snprintf (format, sizeof format, "%%.%dg", n_digits);
    *number = g_ascii_strtod (g_ascii_formatd (text, sizeof text, format, value), NULL);
    judge_as_it_is (work, member);
    if (member->loss <= most_loss)
      return;
  }
  *number = value;
  judge_as_it_is (work, member);
}

void
correction_polish (CorrectionWork *work, CorrectionMember *member)
{
  PredictTarget train = correction_train (work);
  double most_loss;

  correction_fit (work, member, &train, EVALUATIONS);
  correction_judge (work, member);
  while (shorten (work, member))
    ;
  most_loss = MAX ((1 + SAME) * member->loss, work->problem->least_loss);
  for (uint32_t at = 0; at < member->tree.n; at++)
    if (member->tree.steps[at].op == PREDICT_OP_CONSTANT)
      round_number (work, member, &member->tree.steps[at].value, most_loss);
  round_number (work, member, &member->factor, most_loss);
}
