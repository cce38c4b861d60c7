/* nested.c - the error of a corrected model where neither its search nor its choice has looked.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/correction/nested.h"

#include "predictors/correction/correction_private.h"
#include "predictors/scoring/interval.h"
#include "predictors/table/samples.h"

#include <math.h>
#include <string.h>

#define FOLD_STREAM  0x6e657374u
#define DRAWS_STREAM 0x64726177u
#define N_DRAWS      1000u
#define TRIALS_SHARE 5u /* of the trials a fold makes one of so many */

const char *const predict_candidate_names[PREDICT_N_CANDIDATES] = {
  "base",   "refitted", "factors", "quadratic", "kriging",
  "case_1", "case_2",   "case_3",  "case_4",    "blend",
};

/* --- Folds --- */

/* group[n]: the same number for points with the same variables; returns how many there are. */
static uint32_t
group_points (const PredictCorrectionData *data, uint32_t *group)
{
  uint32_t n_groups = 0;

  for (uint64_t point = 0; point < data->train.n; point++) {
    uint64_t other = 0;
    bool same = false;

    for (; other < point && !same; other += !same) {
      same = true;
      for (uint32_t at = 0; at < data->model->n_variables && same; at++)
        same = data->train.columns[at][point] == data->train.columns[at][other];
    }
    group[point] = same ? group[other] : n_groups++;
  }
  return n_groups;
}

/* The points in a fold, or outside of it, as data without test points. */
typedef struct {
  PredictCorrectionData data;
  double *memory;
  const double **columns; /* variables, parts, observed */
  uint64_t *points;       /* [data.train.n] their numbers */
} Part;

static void
part_init (Part *part, const PredictCorrectionData *whole, const uint32_t *fold, uint32_t number,
           bool inside)
{
  uint32_t n_variables = whole->model->n_variables, n_columns = n_variables + whole->n_parts + 1;
  uint64_t n = 0;

  part->points = g_new (uint64_t, whole->train.n);
  for (uint64_t point = 0; point < whole->train.n; point++)
    if ((fold[point] == number) == inside)
      part->points[n++] = point;
  part->memory = g_new (double, n *n_columns + 1);
  part->columns = g_new (const double *, n_columns);
  for (uint32_t at = 0; at < n_columns; at++) {
    const double *from = at < n_variables     ? whole->train.columns[at]
                         : at < n_columns - 1 ? whole->train_parts.columns[at - n_variables]
                                              : whole->train_observed;

    for (uint64_t point = 0; point < n; point++)
      part->memory[at * n + point] = from[part->points[point]];
    part->columns[at] = part->memory + at * n;
  }
  part->data = (PredictCorrectionData){
    .model = whole->model,
    .train = { part->columns, n },
    .train_observed = part->columns[n_columns - 1],
    .box = whole->box,
    .n_parts = whole->n_parts,
    .part_names = whole->part_names,
    .train_parts = { part->columns + n_variables, n },
  };
}

static void
part_clear (Part *part)
{
  g_free (part->points);
  g_free (part->memory);
  g_free (part->columns);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Part, part_clear)

/* --- One candidate, learned from some points, at others --- */

static double *
refit (const PredictCorrectionData *data, const PredictCorrectionSettings *settings)
{
  PredictTarget target = { data->train, data->train_observed, settings->loss };
  double *parameters = predict_base_model_values (data->model);

  predict_levenberg_model (data->model, parameters, &target, CORRECTION_STARTS, settings->seed);
  return parameters;
}

static void
values_of (const PredictExpression *time, const double *parameters, const PredictPoints *points,
           double *values)
{
  g_autoptr (PredictWorkspace) workspace = predict_workspace_new ();

  if (points->n > 0)
    predict_values (time, points, parameters, workspace, values);
}

/* The formula of a candidate that is one, borrowed, and its parameters, which the caller frees.  made: of
 * a case; NULL: no term could be looked for. */
static const PredictExpression *
formula_of (guint candidate, const PredictCorrectionData *data,
            const PredictCorrectionSettings *settings, const PredictCorrection *made,
            double **parameters)
{
  bool searched = candidate >= PREDICT_CANDIDATE_CASES + 2; /* cases 3 and 4 */

  if (made != NULL && made->best < made->n_trials) {
    const PredictCorrectionTrial *best = &made->trials[made->best];

    *parameters = predict_base_model_values (data->model);
    for (guint p = 0; p < data->model->n_parameters; p++)
      (*parameters)[p] = best->parameters[p];
    return best->time;
  }
  *parameters = candidate == PREDICT_CANDIDATE_REFITTED || searched
                    ? refit (data, settings)
                    : predict_base_model_values (data->model);
  return data->model->time;
}

static gboolean
surface_values (PredictSurfaceKind kind, const PredictCorrectionData *data,
                const PredictPoints *points, double *values, GError **error)
{
  g_autoptr (PredictSurface) surface = predict_surface_fit (
      kind, &data->train, data->model->n_variables, data->train_observed, NULL, error);

  if (surface != NULL)
    predict_surface_values (surface, points, values);
  return surface != NULL;
}

/* values[points->n], whose parts are parts[].  known: what predict_correct() made of `data`; NULL: it
 * is asked. */
static gboolean
candidate_values (guint candidate, const PredictCorrectionData *data,
                  const PredictCorrectionSettings *settings, const PredictCorrection *known,
                  const PredictPoints *points, const PredictPoints *parts, double *values,
                  GError **error)
{
  PredictCorrectionSettings of_case = *settings;
  g_autoptr (PredictCorrection) made = NULL;
  g_autofree double *parameters = NULL;
  const PredictExpression *time;

  if (candidate == PREDICT_CANDIDATE_FACTORS) {
    PredictFactors factors = predict_factors_fit (&data->train_parts, data->n_parts,
                                                  data->train_observed, settings->loss);

    predict_factors_values (&factors, parts, values);
    return TRUE;
  }
  if (candidate == PREDICT_CANDIDATE_QUADRATIC)
    return surface_values (PREDICT_SURFACE_QUADRATIC, data, points, values, error);
  if (candidate == PREDICT_CANDIDATE_KRIGING)
    return surface_values (PREDICT_SURFACE_KRIGING, data, points, values, error);
  if (candidate >= PREDICT_CANDIDATE_CASES && known == NULL) {
    of_case.number = candidate - PREDICT_CANDIDATE_CASES + 1;
    known = made = predict_correct (data, &of_case, NULL, NULL, NULL);
  }
  time = formula_of (candidate, data, settings, known, &parameters);
  values_of (time, parameters, points, values);
  return TRUE;
}

static bool
is_compared (const PredictComparison *comparison, guint candidate)
{
  return comparison->candidates[candidate].left_out != NULL;
}

/* --- The blend ---
 *
 * Of candidates with positive times everywhere, where all observed ones are: by logarithms.  Elsewhere by
 * the times themselves, of candidates with finite ones. */

#define WEIGHT_SWEEPS 100u

typedef struct {
  bool logarithms;
  guint members[PREDICT_N_CANDIDATES], n_members;
  double *parts[PREDICT_N_CANDIDATES]; /* [n_members][n] their times left out, or logarithms */
  double *observed;                    /* [n] likewise */
  double *memory;
} Blend;

static double
inner (const Blend *blend, double time_s)
{
  return blend->logarithms ? log (time_s) : time_s;
}

static void
blend_init (Blend *blend, const PredictComparison *comparison, const PredictCorrectionData *data)
{
  uint64_t n = data->train.n;

  blend->memory = g_new (double, n *(PREDICT_N_CANDIDATES + 1));
  blend->observed = blend->memory + n * PREDICT_N_CANDIDATES;
  blend->logarithms = true;
  blend->n_members = 0;
  for (uint64_t point = 0; point < n; point++)
    blend->logarithms = blend->logarithms && data->train_observed[point] > 0;
  for (uint64_t point = 0; point < n; point++)
    blend->observed[point] = inner (blend, data->train_observed[point]);
  for (guint at = PREDICT_CANDIDATE_REFITTED; at < PREDICT_CANDIDATE_BLEND; at++) {
    const PredictCandidate *candidate = &comparison->candidates[at];
    double *part = blend->memory + n * blend->n_members;
    bool usable = candidate->left_out != NULL;

    for (uint64_t point = 0; point < n && usable; point++) {
      part[point] = inner (blend, candidate->left_out[point]);
      usable = isfinite (part[point]);
    }
    for (uint64_t point = 0; candidate->test_times && point < data->test.n && usable; point++)
      usable = isfinite (inner (blend, candidate->test_times[point]));
    if (!usable)
      continue;
    blend->parts[blend->n_members] = part;
    blend->members[blend->n_members++] = at;
  }
}

/* weights[n_members]: of least squares at the points outside of fold `number`, by moving weight
 * between two members as long as that helps. */
static void
blend_weights (const Blend *blend, uint64_t n, const uint32_t *fold, uint32_t number,
               double *weights)
{
  for (guint at = 0; at < blend->n_members; at++)
    weights[at] = 1.0 / blend->n_members;
  for (guint sweep = 0; sweep < WEIGHT_SWEEPS; sweep++)
    for (guint a = 0; a < blend->n_members; a++)
      for (guint b = 0; b < a; b++) {
        double squares = 0, products = 0, moved;

        for (uint64_t point = 0; point < n; point++) {
          double rest = blend->observed[point],
                 slope = blend->parts[a][point] - blend->parts[b][point];

          if (fold[point] == number)
            continue;
          for (guint at = 0; at < blend->n_members; at++)
            rest -= weights[at] * blend->parts[at][point];
          squares += slope * slope;
          products += slope * rest;
        }
        moved = squares > 0 ? fmin (fmax (products / squares, -weights[a]), weights[b]) : 0;
        weights[a] += moved;
        weights[b] -= moved;
      }
}

/* Adds the blend to the candidates.  The surfaces have positive times everywhere, so that it has
 * members. */
static void
add_blend (PredictComparison *comparison, const PredictCorrectionData *data, const uint32_t *fold)
{
  PredictCandidate *made = &comparison->candidates[PREDICT_CANDIDATE_BLEND];
  uint64_t n = data->train.n;
  double weights[PREDICT_N_CANDIDATES];
  Blend blend;

  blend_init (&blend, comparison, data);
  made->left_out = g_new0 (double, n);
  for (uint32_t number = 0; number < comparison->n_folds; number++) {
    blend_weights (&blend, n, fold, number, weights);
    for (uint64_t point = 0; point < n; point++)
      if (fold[point] == number)
        for (guint at = 0; at < blend.n_members; at++)
          made->left_out[point] += weights[at] * blend.parts[at][point];
  }
  for (uint64_t point = 0; blend.logarithms && point < n; point++)
    made->left_out[point] = exp (made->left_out[point]);
  blend_weights (&blend, n, fold, comparison->n_folds, weights); /* no point is left out */
  for (guint at = 0; at < blend.n_members; at++)
    comparison->weights[blend.members[at]] = weights[at];
  if (data->test.n > 0) {
    made->test_times = g_new0 (double, data->test.n);
    for (uint64_t point = 0; point < data->test.n; point++) {
      for (guint at = 0; at < blend.n_members; at++)
        made->test_times[point] +=
            weights[at] *
            inner (&blend, comparison->candidates[blend.members[at]].test_times[point]);
      if (blend.logarithms)
        made->test_times[point] = exp (made->test_times[point]);
    }
  }
  g_free (blend.memory);
}

/* --- The choice --- */

/* The blend, unless another one's loss is clearly less: the loss of n points is known to about 1 / sqrt
 * (2 n) of it, and what is chosen by less than that loses where the blend would have been near the best.
 * parts[candidate]: [n] the parts of its loss; weight[n]: how often a point counts. */
static guint
choose (const PredictComparison *comparison, double *const *parts, const uint32_t *weight,
        uint64_t n, PredictLoss loss)
{
  double least = INFINITY, share = 1 - 1 / sqrt (2 * (double) n), of_blend = INFINITY;
  guint chosen = PREDICT_CANDIDATE_BASE;

  for (guint candidate = 0; candidate < PREDICT_N_CANDIDATES; candidate++) {
    double sum = 0;

    if (!is_compared (comparison, candidate))
      continue;
    for (uint64_t point = 0; point < n; point++)
      if (weight[point] > 0)
        sum += weight[point] * parts[candidate][point];
    if (sum < least) {
      least = sum;
      chosen = candidate;
    }
    of_blend = sum; /* it is the last one */
  }
  if (loss != PREDICT_LOSS_MAPE)
    share *= share; /* parts are squares */
  return isfinite (of_blend) && least >= share * of_blend ? PREDICT_CANDIDATE_BLEND : chosen;
}

/* The loss of the choice at points that it was not made by. */
static double
loss_of_choice (const PredictComparison *comparison, double *const *parts, uint64_t n,
                const PredictCorrectionSettings *settings)
{
  BaseRandom random = base_random_stream (settings->seed, DRAWS_STREAM);
  g_autofree uint32_t *weight = g_new (uint32_t, n);
  g_autofree double *unseen = g_new (double, n);
  double sum = 0;
  uint64_t n_unseen = 0;

  for (guint draw = 0; draw < N_DRAWS; draw++) {
    guint chosen;

    memset (weight, 0, n * sizeof *weight);
    for (uint64_t point = 0; point < n; point++)
      weight[base_random_below (&random, n)]++;
    chosen = choose (comparison, parts, weight, n, settings->loss);
    for (uint64_t point = 0; point < n; point++)
      if (weight[point] == 0) {
        sum += parts[chosen][point];
        n_unseen++;
      }
  }
  if (n_unseen == 0)
    return (double) NAN;
  *unseen = sum / (double) n_unseen;
  return correction_points_loss (settings->loss, unseen, 1);
}

/* --- The comparison --- */

typedef struct {
  PredictComparison *comparison;
  const PredictCorrectionData *data;
  PredictCorrectionSettings settings; /* of one fold */
  const uint32_t *fold;               /* [n] */
  GError **errors;                    /* [n_folds] */
} Folds;

/* All candidates, learned without a fold, at its points. */
static void
make_fold (void *data, guint number)
{
  Folds *folds = data;
  g_auto (Part) others = { .memory = NULL }, inside = { .memory = NULL };
  g_autofree double *values = g_new (double, folds->data->train.n);

  part_init (&others, folds->data, folds->fold, number, false);
  part_init (&inside, folds->data, folds->fold, number, true);
  for (guint candidate = 0; candidate < PREDICT_CANDIDATE_BLEND; candidate++) {
    if (!is_compared (folds->comparison, candidate))
      continue;
    if (!candidate_values (candidate, &others.data, &folds->settings, NULL, &inside.data.train,
                           &inside.data.train_parts, values, &folds->errors[number]))
      return;
    for (uint64_t at = 0; at < inside.data.train.n; at++)
      folds->comparison->candidates[candidate].left_out[inside.points[at]] = values[at];
  }
}

/* fold[n]: where each point is left out.  Folds are made side by side, each with fewer trials than are
 * made of all points: a search that is shorter finds a term that is the same or worse, so that the
 * error of a term is not told too small. */
static gboolean
leave_out (PredictComparison *comparison, const PredictCorrectionData *data,
           const PredictCorrectionSettings *settings, uint32_t *fold, PredictProgress progress,
           void *progress_data, GError **error)
{
  uint64_t n = data->train.n;
  g_autofree uint32_t *group = g_new (uint32_t, n);
  BaseRandom random = base_random_stream (settings->seed, FOLD_STREAM);
  const PredictWorkShare all = { progress, progress_data, 0, 1 };
  Folds folds = { comparison, data, *settings, fold, NULL };
  g_autofree GError **errors = NULL;
  gboolean done = TRUE;
  uint32_t n_groups = group_points (data, group);

  /* One group: the model has no variable that varies, and points are all the folds that there are. */
  for (uint64_t point = 0; n_groups < 2 && point < n; point++)
    group[point] = (uint32_t) point;
  n_groups = n_groups < 2 ? (uint32_t) n : n_groups;
  comparison->n_folds = MIN (comparison->n_folds, n_groups);
  predict_split_deal (&random, group, n, n_groups, comparison->n_folds, fold);
  folds.errors = errors = g_new0 (GError *, comparison->n_folds);
  folds.settings.n_threads = 1;
  folds.settings.n_trials = (settings->n_trials + TRIALS_SHARE - 1) / TRIALS_SHARE;
  predict_work (make_fold, &folds, comparison->n_folds, settings->n_threads, &all);
  for (uint32_t number = 0; number < comparison->n_folds; number++)
    if (errors[number] != NULL) { /* the first counts */
      if (done)
        g_propagate_error (error, g_steal_pointer (&errors[number]));
      g_clear_error (&errors[number]);
      done = FALSE;
    }
  return done;
}

/* With all points, at the test points. */
static gboolean
at_test_points (PredictComparison *comparison, const PredictCorrectionData *data,
                const PredictCorrectionSettings *settings,
                const PredictCorrection *const *corrections, GError **error)
{
  uint64_t n = data->test.n;

  for (guint at = 0; at < PREDICT_CANDIDATE_BLEND; at++) {
    PredictCandidate *candidate = &comparison->candidates[at];
    const PredictCorrection *known =
        at >= PREDICT_CANDIDATE_CASES ? corrections[at - PREDICT_CANDIDATE_CASES] : NULL;

    if (!is_compared (comparison, at) || n == 0)
      continue;
    candidate->test_times = g_new (double, n);
    if (!candidate_values (at, data, settings, known, &data->test, &data->test_parts,
                           candidate->test_times, error))
      return FALSE;
  }
  return TRUE;
}

PredictComparison *
predict_compare (const PredictCorrectionData *data, const PredictCorrectionSettings *settings,
                 const PredictCorrection *const *corrections, guint n_folds,
                 PredictProgress progress, void *progress_data, GError **error)
{
  g_autoptr (PredictComparison) comparison = g_new0 (PredictComparison, 1);
  uint64_t n = data->train.n;
  g_autofree double *memory = g_new (double, n *PREDICT_N_CANDIDATES);
  g_autofree uint32_t *once = g_new (uint32_t, n), *fold = g_new (uint32_t, n);
  double *parts[PREDICT_N_CANDIDATES];

  g_assert (n_folds >= 2 && n >= 3);
  comparison->n_folds = n_folds;
  for (guint at = 0; at < PREDICT_N_CANDIDATES; at++) {
    PredictCandidate *candidate = &comparison->candidates[at];

    candidate->nested = (double) NAN;
    candidate->test = (PredictErrors){ NAN, NAN, NAN };
    if (at == PREDICT_CANDIDATE_BLEND || (at == PREDICT_CANDIDATE_FACTORS && data->n_parts == 0))
      continue;
    if (at < PREDICT_CANDIDATE_CASES || corrections[at - PREDICT_CANDIDATE_CASES] != NULL)
      candidate->left_out = g_new (double, n);
  }
  if (!leave_out (comparison, data, settings, fold, progress, progress_data, error) ||
      !at_test_points (comparison, data, settings, corrections, error))
    return NULL;
  add_blend (comparison, data, fold);
  if (data->n_parts > 0)
    comparison->factors = predict_factors_fit (&data->train_parts, data->n_parts,
                                               data->train_observed, settings->loss);
  for (uint64_t point = 0; point < n; point++)
    once[point] = 1;
  for (guint at = 0; at < PREDICT_N_CANDIDATES; at++) {
    PredictCandidate *candidate = &comparison->candidates[at];

    parts[at] = memory + n * at;
    if (!is_compared (comparison, at))
      continue;
    for (uint64_t point = 0; point < n; point++)
      parts[at][point] = correction_point_loss (settings->loss, data->train_observed[point],
                                                candidate->left_out[point]);
    candidate->nested = correction_points_loss (settings->loss, parts[at], n);
    if (data->test.n > 0)
      candidate->test = (PredictErrors){
        predict_loss (PREDICT_LOSS_LOG_RMSE, data->test_observed, candidate->test_times,
                      data->test.n),
        predict_loss (PREDICT_LOSS_RMSE, data->test_observed, candidate->test_times, data->test.n),
        predict_loss (PREDICT_LOSS_MAPE, data->test_observed, candidate->test_times, data->test.n),
      };
  }
  comparison->chosen = (PredictCandidateKind) choose (comparison, parts, once, n, settings->loss);
  comparison->chosen_nested = loss_of_choice (comparison, parts, n, settings);
  return g_steal_pointer (&comparison);
}

void
predict_comparison_free (PredictComparison *comparison)
{
  if (comparison == NULL)
    return;
  for (guint at = 0; at < PREDICT_N_CANDIDATES; at++) {
    g_free (comparison->candidates[at].left_out);
    g_free (comparison->candidates[at].test_times);
  }
  g_free (comparison);
}

void
predict_comparison_review (const PredictComparison *comparison, guint number,
                           PredictCorrection *correction)
{
  double base = comparison->candidates[PREDICT_CANDIDATE_BASE].nested;
  double refitted = comparison->candidates[PREDICT_CANDIDATE_REFITTED].nested;
  double term = comparison->candidates[PREDICT_CANDIDATE_CASES + number - 1].nested;
  double factors = comparison->candidates[PREDICT_CANDIDATE_FACTORS].nested;
  bool has_factors = comparison->factors.n > 0;
  const char *because = NULL;

  correction->base_folds = base;
  correction->refitted_folds = refitted;
  if (correction->best < correction->n_trials)
    correction->corrected_folds = term;
  if (correction->verdict == PREDICT_TAKE_TERM && !(term < fmin (base, refitted))) {
    because = "at points that neither the search nor its choice saw, the term is not better than "
              "the model without it";
    correction->verdict = PREDICT_TAKE_REFITTED;
  }
  if (correction->verdict == PREDICT_TAKE_TERM && has_factors && factors <= term) {
    because = "at points that neither the search nor its choice saw, the term is not better than a "
              "factor for each part of the time";
    correction->verdict = PREDICT_TAKE_REFITTED;
  }
  if (correction->verdict == PREDICT_TAKE_REFITTED && has_factors &&
      factors < fmin (base, refitted)) {
    if (because == NULL)
      because = "at points left out of the fit, a factor for each part of the time is better than "
                "the refitted model";
    correction->verdict = PREDICT_TAKE_FACTORS;
  }
  if (correction->verdict == PREDICT_TAKE_REFITTED && !(refitted < base)) {
    if (because == NULL)
      because = "at points left out of the fit, the refitted model is not better than the model as "
                "it was";
    correction->verdict = PREDICT_TAKE_NEITHER;
  }
  if (because == NULL)
    return;
  g_free (correction->reason);
  correction->reason = g_strdup (because);
}

/* --- Intervals --- */

PredictMargin
predict_comparison_margin (const PredictComparison *comparison, guint candidate,
                           const PredictCorrectionData *data, double level)
{
  uint64_t n = data->train.n;
  const double *left_out = comparison->candidates[candidate].left_out;
  g_autofree double *memory = g_new (double, 2 * n), *deviation = g_new0 (double, n);
  g_autofree uint32_t *group = g_new (uint32_t, n);
  double *observed = memory, *predicted = memory + n;
  PredictMargin margin = { true, INFINITY };
  uint32_t n_groups = group_points (data, group);
  PredictInterval interval;

  for (uint64_t point = 0; point < n; point++)
    margin.logarithms = margin.logarithms && data->train_observed[point] > 0 && left_out[point] > 0;
  for (uint64_t point = 0; point < n; point++) {
    double from = data->train_observed[point], to = left_out[point];

    observed[point] = margin.logarithms ? log (from) : from;
    predicted[point] = margin.logarithms ? log (to) : to;
    if (!isfinite (predicted[point]))
      return margin;
    if (n_groups < 2) /* no variable varies: each point is one */
      group[point] = (uint32_t) point;
  }
  interval = predict_interval_calibrate (observed, predicted, deviation, group, n,
                                         n_groups < 2 ? (uint32_t) n : n_groups);
  margin.margin = predict_interval_half_width (&interval, level, NAN, 0, 0);
  predict_interval_clear (&interval);
  return margin;
}

void
predict_margin_ends (PredictMargin margin, double predicted, double *lower, double *upper)
{
  *lower = margin.logarithms ? predicted * exp (-margin.margin) : predicted - margin.margin;
  *upper = margin.logarithms ? predicted * exp (margin.margin) : predicted + margin.margin;
}

/* --- The choice as a model file --- */

/* A beginning of names that no variable has. */
static char *
free_prefix (const PredictBaseModel *model)
{
  GString *prefix = g_string_new ("chosen");
  bool taken = true;

  while (taken) {
    taken = false;
    for (uint32_t at = 0; at < model->n_variables; at++)
      taken = taken || g_str_has_prefix (model->names.variables[at], prefix->str);
    if (taken)
      g_string_append_c (prefix, '_');
  }
  return g_string_free (prefix, FALSE);
}

/* The lines that define PREFIX_CANDIDATE. */
static gboolean
define_candidate (guint candidate, const PredictCorrectionData *data,
                  const PredictCorrectionSettings *settings, const PredictCorrection *made,
                  const char *prefix, GString *text, GError **error)
{
  const PredictBaseModel *model = data->model;
  g_autofree char *name = g_strdup_printf ("%s_%s", prefix, predict_candidate_names[candidate]);
  g_autofree double *parameters = NULL;
  g_autofree char *formula = NULL;
  g_autoptr (PredictExpression) numbers = NULL;

  if (candidate == PREDICT_CANDIDATE_QUADRATIC || candidate == PREDICT_CANDIDATE_KRIGING) {
    PredictSurfaceKind kind = candidate == PREDICT_CANDIDATE_KRIGING ? PREDICT_SURFACE_KRIGING
                                                                     : PREDICT_SURFACE_QUADRATIC;
    g_autoptr (PredictSurface) surface = predict_surface_fit (
        kind, &data->train, model->n_variables, data->train_observed, NULL, error);

    if (surface != NULL)
      predict_surface_text (surface, model->names.variables, name, text);
    return surface != NULL;
  }
  if (candidate == PREDICT_CANDIDATE_FACTORS) {
    PredictFactors factors = predict_factors_fit (&data->train_parts, data->n_parts,
                                                  data->train_observed, settings->loss);

    g_string_append_printf (text, "%s =", name);
    for (guint part = 0; part < data->n_parts; part++) {
      g_autofree char *factor = predict_number_text (factors.factors[part]);

      g_string_append_printf (text, "%s %s*%s", part > 0 ? " +" : "", factor,
                              data->part_names[part]);
    }
    g_string_append_c (text, '\n');
    return TRUE;
  }
  numbers = predict_expression_copy (formula_of (candidate, data, settings, made, &parameters));
  for (uint32_t at = 0; at < numbers->n; at++)
    if (numbers->steps[at].op == PREDICT_OP_PARAMETER)
      numbers->steps[at] =
          (PredictStep){ .op = PREDICT_OP_CONSTANT, .value = parameters[numbers->steps[at].index] };
  formula = predict_expression_text (numbers, &model->names);
  g_string_append_printf (text, "%s = %s\n", name, formula);
  return TRUE;
}

char *
predict_comparison_text (const PredictComparison *comparison, guint candidate,
                         const PredictCorrectionData *data,
                         const PredictCorrectionSettings *settings,
                         const PredictCorrection *const *corrections, GError **error)
{
  const PredictBaseModel *model = data->model;
  g_autofree char *prefix = free_prefix (model);
  g_autoptr (GString) text = g_string_new (NULL), time = g_string_new (NULL);
  g_autoptr (PredictBaseModel) again = NULL;
  g_autoptr (GError) trouble = NULL;
  bool blend = candidate == PREDICT_CANDIDATE_BLEND, logarithms = true;

  for (uint64_t point = 0; point < data->train.n; point++)
    logarithms = logarithms && data->train_observed[point] > 0;
  for (uint32_t at = 0; at < model->n_variables; at++)
    g_string_append_printf (text, "variable %s\n", model->names.variables[at]);
  if (blend ? comparison->weights[PREDICT_CANDIDATE_FACTORS] > 0
            : candidate == PREDICT_CANDIDATE_FACTORS)
    for (guint part = 0; part < data->n_parts; part++)
      if (!g_strv_contains (model->names.variables, data->part_names[part]))
        g_string_append_printf (text, "variable %s\n", data->part_names[part]);
  for (guint at = 0; at < PREDICT_CANDIDATE_BLEND; at++) {
    g_autofree char *weight = predict_number_text (comparison->weights[at]);
    const char *name = predict_candidate_names[at];

    if (blend ? !(comparison->weights[at] > 0) : at != candidate)
      continue;
    if (!define_candidate (at, data, settings,
                           at >= PREDICT_CANDIDATE_CASES ? corrections[at - PREDICT_CANDIDATE_CASES]
                                                         : NULL,
                           prefix, text, error))
      return NULL;
    if (time->len > 0)
      g_string_append (time, " + ");
    if (!blend)
      g_string_append_printf (time, "%s_%s", prefix, name);
    else if (logarithms)
      g_string_append_printf (time, "%s*log(%s_%s)", weight, prefix, name);
    else
      g_string_append_printf (time, "%s*%s_%s", weight, prefix, name);
  }
  if (blend && logarithms)
    g_string_append_printf (text, "time = exp(%s)\n", time->str);
  else
    g_string_append_printf (text, "time = %s\n", time->str);
  again = predict_base_model_parse (text->str, predict_candidate_names[candidate], &trouble);
  if (again == NULL) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
                 "%" G_GUINT64_FORMAT " points are too many for a formula: %s",
                 (guint64) data->train.n, trouble->message);
    return NULL;
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}
