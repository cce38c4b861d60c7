/* correction_breed.c - a trial: formulas that may mend a model, bred for some generations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/correction_private.h"
#include "predictors/vectors.h"

#include <math.h>
#include <string.h>

#define DEEPEST_PAPER     7u
#define DEEPEST_BEST      4u /* 15 steps, of at most 25 */
#define TOURNAMENT        3u
#define CROSSOVER_PAPER   0.9
#define CROSSOVER_BEST    0.7
#define VECTOR_MUTATION   0.1
#define CHILD_EVALUATIONS 8
#define FINAL_EVALUATIONS 200
#define DRAWS             20 /* of a formula that begins, until one is defined */

/* What the paper's "graduated elitist" is taken for: shares of the population from the best down,
 * and how many copies each of them gets. */
static const struct {
  double share;
  guint copies;
} graduated[] = { { 0.01, 3 }, { 0.04, 2 }, { 0.15, 1 } };

typedef struct {
  CorrectionWork *work;
  const CorrectionProblem *problem;
  guint n;
  CorrectionMember *now, *next; /* [n] */
  CorrectionMember *front;      /* [most_steps + 1] the best of each size */
  double *parameters;           /* of all of them */
} Breeding;

static CorrectionMember *
new_members (guint n, uint32_t n_parameters, double **parameters)
{
  CorrectionMember *members = g_new0 (CorrectionMember, n);

  for (guint at = 0; at < n; at++) {
    members[at].parameters = *parameters;
    members[at].loss = members[at].description = INFINITY;
    *parameters += MAX (n_parameters, 1); /* compare_members() tells them apart by it */
  }
  return members;
}

static void
breeding_init (Breeding *breeding, CorrectionWork *work)
{
  const CorrectionProblem *problem = work->problem;
  uint32_t n_parameters = problem->data->model->n_parameters;
  guint n = problem->settings->population, n_front = problem->most_steps + 1;
  double *parameters = g_new (double, (size_t) MAX (n_parameters, 1) * (2 * n + n_front));

  *breeding = (Breeding){ .work = work, .problem = problem, .n = n, .parameters = parameters };
  breeding->now = new_members (n, n_parameters, &parameters);
  breeding->next = new_members (n, n_parameters, &parameters);
  breeding->front = new_members (n_front, n_parameters, &parameters);
}

static void
breeding_clear (Breeding *breeding)
{
  g_free (breeding->now);
  g_free (breeding->next);
  g_free (breeding->front);
  g_free (breeding->parameters);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Breeding, breeding_clear)

/* -- who is better --------------------------------------------------------------- */

static int
compare_members (const void *a, const void *b)
{
  const CorrectionMember *left = a, *right = b;

  if (left->loss != right->loss)
    return left->loss < right->loss ? -1 : 1;
  if (left->tree.n != right->tree.n)
    return left->tree.n < right->tree.n ? -1 : 1;
  /* Parameters lie in the order in which the members were made. */
  return left->parameters < right->parameters ? -1 : left->parameters > right->parameters;
}

/* Of loss, or in the best mode half of the times of description. */
static const CorrectionMember *
win_tournament (Breeding *breeding)
{
  PredictRandom *random = &breeding->work->random;
  bool brief = breeding->problem->best && predict_random_below (random, 2) == 0;
  const CorrectionMember *winner = NULL;

  for (guint at = 0; at < TOURNAMENT; at++) {
    const CorrectionMember *member = &breeding->now[predict_random_below (random, breeding->n)];

    if (winner == NULL ||
        (brief ? member->description < winner->description : member->loss < winner->loss))
      winner = member;
  }
  return winner;
}

static void
keep_if_best (Breeding *breeding, const CorrectionMember *member)
{
  CorrectionMember *best = &breeding->front[member->tree.n];

  if (member->loss < best->loss)
    correction_copy (breeding->problem, member, best);
}

/* -- making members ------------------------------------------------------------------ */

static void
assess (Breeding *breeding, CorrectionMember *member)
{
  CorrectionWork *work = breeding->work;
  PredictTarget train = correction_train (work);

  correction_judge (work, member);
  if (breeding->problem->best && isfinite (member->loss)) {
    correction_fit (work, member, &train, CHILD_EVALUATIONS);
    correction_judge (work, member);
  }
  keep_if_best (breeding, member);
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
begin_member (Breeding *breeding, guint at)
{
  const CorrectionProblem *problem = breeding->problem;
  const PredictBaseModel *model = problem->data->model;
  PredictRandom *random = &breeding->work->random;
  CorrectionMember *member = &breeding->now[at];
  guint deepest = problem->best ? DEEPEST_BEST : DEEPEST_PAPER;

  for (int draw = 0; draw < DRAWS && !isfinite (member->loss); draw++) {
    predict_tree_grow (&problem->grammar, 2 + at % (deepest - 1), at / (deepest - 1) % 2 == 0,
                       random, &member->tree);
    begin_with_time (breeding->work, at, &member->tree);
    if (problem->searched && at > 0)
      predict_vector_draw (model->parameters, model->n_parameters, random, member->parameters);
    else
      memcpy (member->parameters, problem->given, model->n_parameters * sizeof *member->parameters);
    assess (breeding, member);
  }
}

static void
make_child (Breeding *breeding, CorrectionMember *child)
{
  const CorrectionProblem *problem = breeding->problem;
  const PredictBaseModel *model = problem->data->model;
  PredictRandom *random = &breeding->work->random;
  const CorrectionMember *mother = win_tournament (breeding);
  const CorrectionMember *father = mother;

  correction_copy (problem, mother, child);
  if (predict_random_unit (random) < (problem->best ? CROSSOVER_BEST : CROSSOVER_PAPER)) {
    father = win_tournament (breeding);
    predict_tree_cross (&mother->tree, &father->tree, problem->most_steps, random, &child->tree);
  } else
    predict_tree_mutate (&problem->grammar, problem->most_steps, random, &child->tree);
  if (problem->searched)
    predict_vector_cross (model->parameters, model->n_parameters, mother->parameters,
                          father->parameters, VECTOR_MUTATION, random, child->parameters);
  assess (breeding, child);
}

/* -- generations ------------------------------------------------------------------------ */

/* The paper's elite; returns how many of next[] are filled. */
static guint
copy_graduated (Breeding *breeding)
{
  guint n_next = 0, rank = 0;

  qsort (breeding->now, breeding->n, sizeof *breeding->now, compare_members);
  for (gsize grade = 0; grade < G_N_ELEMENTS (graduated); grade++) {
    guint n = (guint) (graduated[grade].share * breeding->n + 0.5);

    for (guint end = rank + n; rank < end; rank++)
      for (guint copy = 0; copy < graduated[grade].copies; copy++)
        correction_copy (breeding->problem, &breeding->now[rank], &breeding->next[n_next++]);
  }
  return n_next;
}

/* The Pareto front: those that no smaller one equals. */
static guint
copy_front (Breeding *breeding)
{
  guint n_next = 0;
  double least = INFINITY;

  for (uint32_t size = 1; size <= breeding->problem->most_steps; size++)
    if (breeding->front[size].loss < least && n_next < breeding->n / 2) {
      correction_copy (breeding->problem, &breeding->front[size], &breeding->next[n_next++]);
      least = breeding->front[size].loss;
    }
  return n_next;
}

static void
next_generation (Breeding *breeding)
{
  CorrectionMember *next = breeding->next;
  guint n = breeding->problem->best ? copy_front (breeding) : copy_graduated (breeding);

  while (n < breeding->n)
    make_child (breeding, &next[n++]);
  breeding->next = breeding->now;
  breeding->now = next;
}

/* -- the outcome ------------------------------------------------------------------------- */

/* In the best mode the shortest description among those that hold in cross-validation; in the
 * paper's the smallest loss.  NULL: none is defined. */
static const CorrectionMember *
choose (Breeding *breeding, double *folds_loss)
{
  CorrectionWork *work = breeding->work;
  PredictTarget train = correction_train (work);
  const CorrectionMember *chosen = NULL;

  *folds_loss = NAN;
  for (uint32_t size = 1; size <= breeding->problem->most_steps; size++) {
    CorrectionMember *member = &breeding->front[size];
    double of_folds;

    if (!isfinite (member->loss))
      continue;
    if (!breeding->problem->best) {
      if (chosen == NULL || member->loss < chosen->loss)
        chosen = member;
      continue;
    }
    correction_fit (work, member, &train, FINAL_EVALUATIONS);
    correction_judge (work, member);
    if (!isfinite (member->loss) || (chosen && chosen->description <= member->description) ||
        (breeding->problem->settings->loss == PREDICT_LOSS_LOG_RMSE &&
         !correction_stays_positive (work, member)))
      continue;
    of_folds = correction_folds_loss (work, member);
    if (of_folds < breeding->problem->base_loss) {
      chosen = member;
      *folds_loss = of_folds;
    }
  }
  return chosen;
}

void
correction_breed (CorrectionWork *work, PredictCorrectionTrial *outcome)
{
  const CorrectionProblem *problem = work->problem;
  g_auto (Breeding) breeding = { 0 };
  const CorrectionMember *chosen;

  breeding_init (&breeding, work);
  for (guint at = 0; at < breeding.n; at++)
    begin_member (&breeding, at);
  for (guint generation = 0; generation < problem->settings->generations; generation++)
    next_generation (&breeding);
  *outcome =
      (PredictCorrectionTrial){ .loss = INFINITY, .description = INFINITY, .folds_loss = NAN };
  chosen = choose (&breeding, &outcome->folds_loss);
  if (chosen == NULL)
    return;
  outcome->time = correction_formula (work, chosen, false);
  outcome->brief = correction_formula (work, chosen, true);
  outcome->parameters = g_memdup2 (chosen->parameters,
                                   problem->data->model->n_parameters * sizeof *chosen->parameters);
  outcome->loss = chosen->loss;
  outcome->description = chosen->description;
}
