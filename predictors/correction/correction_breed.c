/* correction_breed.c - a trial: formulas that may mend a model, bred for some generations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/correction/correction_private.h"
#include "predictors/correction/vectors.h"

#include <math.h>
#include <string.h>

#define DEEPEST_PAPER     7u
#define DEEPEST_BEST      4u /* 15 steps, of at most 25 */
#define TOURNAMENT        3u
#define CROSSOVER_PAPER   0.9
#define CROSSOVER_BEST    0.7
#define VECTOR_MUTATION   0.1
#define FIRST_EVALUATIONS 3
#define CHANCE            4 /* times the loss asked for: more evaluations would hardly do it */
#define CHILD_EVALUATIONS 8
#define FRONT_EVALUATIONS 60 /* of the best of its size */
#define FINAL_EVALUATIONS 200
#define DRAWS             20 /* of a formula that begins, until one is defined */

/* What the paper's "graduated elitist" is taken for: shares of the population from the best down,
 * and how many copies each of them gets. */
static const struct {
  double share;
  guint copies;
} graduated[] = { { 0.01, 3 }, { 0.04, 2 }, { 0.15, 1 } };

static void
breeding_init (CorrectionBreeding *breeding, CorrectionWork *work)
{
  const CorrectionProblem *problem = work->problem;
  uint32_t n_parameters = MAX (problem->data->model->n_parameters, 1);
  guint n = problem->settings->population, n_front = problem->most_steps + 1;

  *breeding = (CorrectionBreeding){
    .work = work,
    .problem = problem,
    .n = n,
    .members = g_new0 (CorrectionMember, 2 * n + n_front),
    .order = g_new (CorrectionMember *, 2 * n),
    .parameters = g_new (double, (size_t) n_parameters *(2 * n + n_front)),
    .seen = problem->best ? g_new0 (uint64_t, CORRECTION_SEEN) : NULL,
  };
  breeding->front = breeding->members + 2 * n;
  for (guint at = 0; at < 2 * n + n_front; at++) {
    breeding->members[at].parameters = breeding->parameters + (size_t) at * n_parameters;
    breeding->members[at].loss = breeding->members[at].description = INFINITY;
  }
  for (uint32_t size = 0; size < G_N_ELEMENTS (breeding->bar); size++)
    breeding->bar[size] = INFINITY;
  for (guint at = 0; at < 2 * n; at++)
    breeding->order[at] = &breeding->members[at];
}

static void
breeding_clear (CorrectionBreeding *breeding)
{
  g_free (breeding->members);
  g_free (breeding->order);
  g_free (breeding->parameters);
  g_free (breeding->seen);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CorrectionBreeding, breeding_clear)

/* -- who is better --------------------------------------------------------------- */

int
correction_compare (const void *a, const void *b)
{
  const CorrectionMember *left = *(CorrectionMember *const *) a;
  const CorrectionMember *right = *(CorrectionMember *const *) b;

  if (left->loss != right->loss)
    return left->loss < right->loss ? -1 : 1;
  if (left->tree.n != right->tree.n)
    return left->tree.n < right->tree.n ? -1 : 1;
  /* Members lie in one array. */
  return left < right ? -1 : left > right;
}

static const CorrectionMember *
win_tournament (CorrectionBreeding *breeding)
{
  BaseRandom *random = &breeding->work->random;
  const CorrectionMember *winner = NULL;

  if (breeding->problem->best)
    return correction_parent (breeding);

  for (guint at = 0; at < TOURNAMENT; at++) {
    const CorrectionMember *member = breeding->order[base_random_below (random, breeding->n_alive)];

    if (winner == NULL || member->loss < winner->loss)
      winner = member;
  }
  return winner;
}

static bool
keep_if_best (CorrectionBreeding *breeding, const CorrectionMember *member)
{
  CorrectionMember *best = &breeding->front[member->tree.n];

  if (!(member->loss < best->loss))
    return false;
  correction_copy (breeding->problem, member, best);
  return true;
}

/* -- making members ------------------------------------------------------------------ */

static void
fit (CorrectionWork *work, CorrectionMember *member, int most_evaluations)
{
  PredictTarget train = correction_train (work);

  correction_fit (work, member, &train, most_evaluations);
  correction_judge (work, member);
}

void
correction_assess (CorrectionBreeding *breeding, CorrectionMember *member)
{
  CorrectionWork *work = breeding->work;
  bool best = breeding->problem->best;

  correction_judge (work, member);
  if (best && isfinite (member->loss)) {
    correction_offset (work, member);
    fit (work, member, FIRST_EVALUATIONS);
    if (member->loss < CHANCE * breeding->bar[member->tree.n])
      fit (work, member, CHILD_EVALUATIONS);
  }
  if (keep_if_best (breeding, member) && best) {
    fit (work, member, FRONT_EVALUATIONS);
    keep_if_best (breeding, member);
  }
}

/* Half of the formulas that have the model's time as a variable begin with it: a random tree times
 * a number is added, the number being that of least squares, or a tree is multiplied. */
static void
begin_with_time (CorrectionWork *work, guint at, PredictTree *tree)
{
  const CorrectionProblem *problem = work->problem;
  const PredictStep time = { .op = PREDICT_OP_VARIABLE,
                             .index = (int32_t) problem->data->model->n_variables };
  double factor;

  if (problem->added || !problem->best || at % 2 == 1 || tree->n + 4 > problem->most_steps)
    return;
  factor = correction_added_factor (work, tree);
  if (at % 4 == 0 && isfinite (factor)) {
    tree->steps[tree->n++] = (PredictStep){ .op = PREDICT_OP_CONSTANT, .value = factor };
    tree->steps[tree->n++] = (PredictStep){ .op = PREDICT_OP_MULTIPLY };
    tree->steps[tree->n++] = time;
    tree->steps[tree->n++] = (PredictStep){ .op = PREDICT_OP_ADD };
    return;
  }
  tree->steps[tree->n++] = time;
  tree->steps[tree->n++] = (PredictStep){ .op = PREDICT_OP_MULTIPLY };
}

/* Ramped half-and-half (Koza 1992): depths 2 ... deepest, half of them full. */
static void
begin_member (CorrectionBreeding *breeding, guint at)
{
  const CorrectionProblem *problem = breeding->problem;
  const PredictBaseModel *model = problem->data->model;
  BaseRandom *random = &breeding->work->random;
  CorrectionMember *member = breeding->order[at];
  guint deepest = problem->best ? DEEPEST_BEST : DEEPEST_PAPER;

  member->loss = member->description = INFINITY;
  for (int draw = 0; draw < DRAWS && !isfinite (member->loss); draw++) {
    predict_tree_grow (&problem->grammar, 2 + at % (deepest - 1), at / (deepest - 1) % 2 == 0,
                       random, &member->tree);
    begin_with_time (breeding->work, at, &member->tree);
    if (problem->searched && at > 0)
      predict_vector_draw (model->parameters, model->n_parameters, random, member->parameters);
    else
      memcpy (member->parameters, problem->given, model->n_parameters * sizeof *member->parameters);
    if (!problem->best ||
        (predict_tree_tidy (&member->tree) && correction_is_new (breeding, &member->tree)))
      correction_assess (breeding, member);
  }
}

void
correction_begin (CorrectionBreeding *breeding)
{
  for (guint at = 0; at < breeding->n; at++)
    begin_member (breeding, at);
  breeding->n_alive = breeding->n;
}

/* The child's tree; false: it has no value, or is known. */
static bool
cross_or_mutate (CorrectionBreeding *breeding, const CorrectionMember *mother,
                 const CorrectionMember *father, PredictTree *tree)
{
  const CorrectionProblem *problem = breeding->problem;
  BaseRandom *random = &breeding->work->random;

  if (father != NULL)
    predict_tree_cross (&mother->tree, &father->tree, problem->most_steps, random, tree);
  else if (problem->best)
    predict_tree_vary (&problem->grammar, problem->most_steps, random, tree);
  else
    predict_tree_mutate (&problem->grammar, problem->most_steps, random, tree);
  return !problem->best || (predict_tree_tidy (tree) && correction_is_new (breeding, tree));
}

void
correction_child (CorrectionBreeding *breeding, CorrectionMember *child)
{
  const CorrectionProblem *problem = breeding->problem;
  const PredictBaseModel *model = problem->data->model;
  BaseRandom *random = &breeding->work->random;
  double crossover = problem->best ? CROSSOVER_BEST : CROSSOVER_PAPER;
  bool made = false;

  for (int draw = 0; draw < DRAWS && !made; draw++) {
    const CorrectionMember *mother = win_tournament (breeding);
    const CorrectionMember *father =
        base_random_unit (random) < crossover ? win_tournament (breeding) : NULL;

    correction_copy (problem, mother, child);
    made = cross_or_mutate (breeding, mother, father, &child->tree);
    if (problem->searched)
      predict_vector_cross (model->parameters, model->n_parameters, mother->parameters,
                            father ? father->parameters : mother->parameters, VECTOR_MUTATION,
                            random, child->parameters);
  }
  child->loss = child->description = INFINITY;
  if (made)
    correction_assess (breeding, child);
}

/* -- the paper's generations --------------------------------------------------------------- */

/* Its elite; returns how many of next[] are filled. */
static guint
copy_graduated (CorrectionBreeding *breeding, CorrectionMember **next)
{
  guint n_next = 0, rank = 0;

  qsort (breeding->order, breeding->n, sizeof *breeding->order, correction_compare);
  for (gsize grade = 0; grade < G_N_ELEMENTS (graduated); grade++) {
    guint n = (guint) (graduated[grade].share * breeding->n + 0.5);

    for (guint end = rank + n; rank < end; rank++)
      for (guint copy = 0; copy < graduated[grade].copies; copy++)
        correction_copy (breeding->problem, breeding->order[rank], next[n_next++]);
  }
  return n_next;
}

static void
next_generation (CorrectionBreeding *breeding)
{
  CorrectionMember **next = breeding->order + breeding->n;
  guint n = copy_graduated (breeding, next);

  while (n < breeding->n)
    correction_child (breeding, next[n++]);
  for (guint at = 0; at < n; at++) {
    CorrectionMember *old = breeding->order[at];

    breeding->order[at] = next[at];
    next[at] = old;
  }
}

/* -- the outcome ------------------------------------------------------------------------- */

/* Whether it may be the outcome of the best mode: it holds in cross-validation. */
static bool
holds (CorrectionWork *work, const CorrectionMember *member, double *folds_loss)
{
  const CorrectionProblem *problem = work->problem;

  if (!isfinite (member->loss) || (problem->settings->loss == PREDICT_LOSS_LOG_RMSE &&
                                   !correction_stays_positive (work, member)))
    return false;
  *folds_loss = correction_folds_loss (work, member, NULL);
  return *folds_loss < problem->base_loss;
}

/* In the best mode the shortest description among those that hold; in the paper's the smallest
 * loss.  NULL: none is defined. */
static CorrectionMember *
choose (CorrectionBreeding *breeding, double *folds_loss)
{
  CorrectionWork *work = breeding->work;
  CorrectionMember *chosen = NULL;
  double of_folds;

  for (uint32_t size = 1; size <= breeding->problem->most_steps; size++) {
    CorrectionMember *member = &breeding->front[size];

    if (!isfinite (member->loss))
      continue;
    if (!breeding->problem->best) {
      if (chosen == NULL || member->loss < chosen->loss)
        chosen = member;
      continue;
    }
    fit (work, member, FINAL_EVALUATIONS);
    if ((chosen && chosen->description <= member->description) || !holds (work, member, &of_folds))
      continue;
    chosen = member;
    *folds_loss = of_folds;
  }
  return chosen;
}

/* In place, if it still holds. */
static void
polish (CorrectionBreeding *breeding, CorrectionMember *chosen, double *folds_loss)
{
  CorrectionMember *spare = breeding->order[0];
  double of_folds;

  correction_copy (breeding->problem, chosen, spare);
  correction_polish (breeding->work, spare);
  if (!holds (breeding->work, spare, &of_folds))
    return;
  correction_copy (breeding->problem, spare, chosen);
  *folds_loss = of_folds;
}

void
correction_breed (CorrectionWork *work, PredictCorrectionTrial *outcome)
{
  const CorrectionProblem *problem = work->problem;
  g_auto (CorrectionBreeding) breeding = { 0 };
  CorrectionMember *chosen;

  breeding_init (&breeding, work);
  if (problem->best)
    correction_niches (&breeding);
  else {
    correction_begin (&breeding);
    for (guint generation = 0; generation < problem->settings->generations; generation++)
      next_generation (&breeding);
  }
  *outcome =
      (PredictCorrectionTrial){ .loss = INFINITY, .description = INFINITY, .folds_loss = NAN };
  chosen = choose (&breeding, &outcome->folds_loss);
  if (chosen == NULL)
    return;
  if (problem->best)
    polish (&breeding, chosen, &outcome->folds_loss);
  outcome->time = correction_formula (work, chosen, false);
  outcome->brief = correction_formula (work, chosen, true);
  outcome->parameters = g_memdup2 (chosen->parameters,
                                   problem->data->model->n_parameters * sizeof *chosen->parameters);
  outcome->points_loss = g_new (double, problem->data->train.n);
  correction_folds_loss (work, chosen, outcome->points_loss);
  outcome->n_numbers = correction_n_numbers (work, chosen);
  outcome->loss = chosen->loss;
  outcome->description = chosen->description;
}
