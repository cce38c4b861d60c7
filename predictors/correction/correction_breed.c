/* correction_breed.c - a trial: formulas that may correct a model, bred for some generations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/correction/correction_private.h"

#include <math.h>
#include <string.h>

#define DEEPEST_BEST      4u /* 15 steps, of at most 25 */
#define TOURNAMENT        3u
#define CROSSOVER_BEST    0.7
#define VECTOR_MUTATION   0.1
#define FIRST_EVALUATIONS 3
#define CHANCE            4 /* times the loss asked for: more evaluations would hardly do it */
#define CHILD_EVALUATIONS 8
#define FRONT_EVALUATIONS 60 /* of the best of its size */
#define FINAL_EVALUATIONS 200
#define DRAWS             20 /* of a formula that begins, until one is defined */

/* The paper's "graduated elitist", as read here: shares of the population from the best down,
 * and how many copies each of them gets. */
static const struct {
  double share;
  guint copies;
} graduated[] = { { 0.01, 3 }, { 0.04, 2 }, { 0.15, 1 } };
#define SPAN     25u  /* generations */
#define SETTLING 5u   /* generations after the loss is rounding: a shorter formula may be near */
#define VISITS   2u   /* of a shape with numbers, each from other ones */
#define SAME     1e-9 /* of the loss */

#define N_SEEN (1u << 16)

/* A trial's formulas. */
typedef struct {
  CorrectionWork *work;
  const CorrectionProblem *problem;
  guint n, n_alive;
  CorrectionMember **order;          /* [2 n] those alive, then the places of children */
  CorrectionMember *front;           /* [most_steps + 1] the best of each size so far */
  guint niche[PREDICT_MAX_TREE + 2]; /* best mode: first member of a size among those alive, which
                                        are in the order of their loss */
  double bar[PREDICT_MAX_TREE + 1];  /* and the loss that their niche asks for */
  uint64_t *seen;                    /* [N_SEEN] trees that were met: hash, and how often */
} Breeding;

/* --- Selection --- */

/* By loss, then by size. */
static int
compare_members (const void *a, const void *b)
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

/* Whether a tree is new, or one of few with its shape that have numbers; it is then no longer. */
static bool
is_new (Breeding *breeding, const PredictTree *tree)
{
  uint64_t hash = predict_tree_hash (tree) & ~(uint64_t) 3;
  uint64_t *place = &breeding->seen[(hash >> 8) % N_SEEN];
  uint64_t n_visits = (*place & ~(uint64_t) 3) == hash ? *place & 3 : 0;
  bool again = breeding->problem->searched;

  for (uint32_t at = 0; at < tree->n; at++)
    again = again || tree->steps[at].op == PREDICT_OP_CONSTANT;
  if (n_visits >= (again ? VISITS : 1))
    return false;
  *place = hash | (n_visits + 1);
  return true;
}

/* Sorts those that live on to the front of order[0 ... n - 1], and returns their number. */
static guint
select_members (Breeding *breeding, guint n)
{
  CorrectionMember **order = breeding->order;
  uint32_t most_steps = breeding->problem->most_steps;
  guint share = MAX (breeding->n / most_steps, 1), n_alive = 0;
  guint of_size[PREDICT_MAX_TREE + 1] = { 0 };
  double least = breeding->problem->least_loss;

  qsort (order, n, sizeof *order, compare_members);
  for (guint at = 0; at < n && isfinite (order[at]->loss); at++) {
    CorrectionMember *member = order[at];
    double before = n_alive > 0 ? order[n_alive - 1]->loss : 0;
    bool same =
        n_alive > 0 && MAX (member->loss, least) - MAX (before, least) <= SAME * member->loss;

    if (same ? member->tree.n >= order[n_alive - 1]->tree.n
             : of_size[member->tree.n] >= share || n_alive == breeding->n)
      continue;
    n_alive -= same;
    if (same)
      of_size[order[n_alive]->tree.n]--;
    of_size[member->tree.n]++;
    order[at] = order[n_alive];
    order[n_alive++] = member;
  }
  return n_alive;
}

static int
compare_sizes (const void *a, const void *b)
{
  const CorrectionMember *left = *(CorrectionMember *const *) a;
  const CorrectionMember *right = *(CorrectionMember *const *) b;

  if (left->tree.n != right->tree.n)
    return left->tree.n < right->tree.n ? -1 : 1;
  return compare_members (a, b);
}

static void
select_niches (Breeding *breeding, guint n)
{
  guint share = MAX (breeding->n / breeding->problem->most_steps, 1), at = 0;

  breeding->n_alive = select_members (breeding, n);
  qsort (breeding->order, breeding->n_alive, sizeof *breeding->order, compare_sizes);
  for (uint32_t size = 0; size <= breeding->problem->most_steps; size++) {
    breeding->niche[size] = at;
    while (at < breeding->n_alive && breeding->order[at]->tree.n == size)
      at++;
    breeding->bar[size] = INFINITY;
    if (at - breeding->niche[size] >= share)
      breeding->bar[size] = breeding->order[at - 1]->loss;
  }
  breeding->niche[breeding->problem->most_steps + 1] = at;
}

/* A parent.  Paper: of least loss of a few.  Best mode: of least description of a few of all, or of
 * least loss of a few of one size. */
static const CorrectionMember *
win_tournament (Breeding *breeding)
{
  BaseRandom *random = &breeding->work->random;
  CorrectionMember *const *order = breeding->order;
  guint winner = (guint) base_random_below (random, breeding->n_alive), first = 0;
  guint n = breeding->n_alive;
  bool by_loss = !breeding->problem->best, by_place = false;

  if (breeding->problem->best && base_random_below (random, 2) != 0) {
    by_place = true; /* members of a size are in the order of their loss */
    first = breeding->niche[order[winner]->tree.n];
    n = breeding->niche[order[winner]->tree.n + 1] - first;
  }
  for (guint at = 1; at < TOURNAMENT; at++) {
    guint other = first + (guint) base_random_below (random, n);

    if (by_place  ? other < winner
        : by_loss ? order[other]->loss < order[winner]->loss
                  : order[other]->description < order[winner]->description)
      winner = other;
  }
  return order[winner];
}

static bool
keep_if_best (Breeding *breeding, const CorrectionMember *member)
{
  CorrectionMember *best = &breeding->front[member->tree.n];

  if (!(member->loss < best->loss))
    return false;
  correction_copy (breeding->problem, member, best);
  return true;
}

/* --- Making members --- */

static void
fit (CorrectionWork *work, CorrectionMember *member, int most_evaluations)
{
  PredictTarget train = correction_train (work);

  correction_fit (work, member, &train, most_evaluations);
  correction_judge (work, member);
}

/* Loss and description, and in the best mode numbers, of a new member. */
static void
assess (Breeding *breeding, CorrectionMember *member)
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

/* n random members, ramped half-and-half (Koza 1992): depths 2 ... deepest, half of them full. */
static void
begin (Breeding *breeding)
{
  const CorrectionProblem *problem = breeding->problem;
  const PredictBaseModel *model = problem->data->model;
  const PredictStep time = { .op = PREDICT_OP_VARIABLE, .index = (int32_t) model->n_variables };
  BaseRandom *random = &breeding->work->random;
  guint deepest = problem->best ? DEEPEST_BEST : PREDICT_PAPER_DEPTH;

  for (guint at = 0; at < breeding->n; at++) {
    CorrectionMember *member = breeding->order[at];
    PredictTree *tree = &member->tree;

    member->loss = member->description = INFINITY;
    for (int draw = 0; draw < DRAWS && !isfinite (member->loss); draw++) {
      predict_tree_grow (&problem->grammar, 2 + at % (deepest - 1), at / (deepest - 1) % 2 == 0,
                         random, tree);
      /* Half of the formulas that have the model's time as a variable begin with it: a random tree
       * times the number of least squares is added to it, or a tree is multiplied by it. */
      if (!problem->added && problem->best && at % 2 == 0 && tree->n + 4 <= problem->most_steps) {
        double factor = correction_added_factor (breeding->work, tree);
        bool adds = at % 4 == 0 && isfinite (factor);

        if (adds) {
          tree->steps[tree->n++] = (PredictStep){ .op = PREDICT_OP_CONSTANT, .value = factor };
          tree->steps[tree->n++] = (PredictStep){ .op = PREDICT_OP_MULTIPLY };
        }
        tree->steps[tree->n++] = time;
        tree->steps[tree->n++] =
            (PredictStep){ .op = (uint8_t) (adds ? PREDICT_OP_ADD : PREDICT_OP_MULTIPLY) };
      }
      if (problem->searched && at > 0)
        predict_vector_draw (model->parameters, model->n_parameters, random, member->parameters);
      else
        memcpy (member->parameters, problem->given,
                model->n_parameters * sizeof *member->parameters);
      if (!problem->best || (predict_tree_tidy (tree) && is_new (breeding, tree)))
        assess (breeding, member);
    }
  }
  breeding->n_alive = breeding->n;
}

/* A child of those alive. */
static void
make_child (Breeding *breeding, CorrectionMember *child)
{
  const CorrectionProblem *problem = breeding->problem;
  const PredictBaseModel *model = problem->data->model;
  BaseRandom *random = &breeding->work->random;
  double crossover = problem->best ? CROSSOVER_BEST : PREDICT_PAPER_CROSSOVER;
  bool made = false;

  for (int draw = 0; draw < DRAWS && !made; draw++) {
    const CorrectionMember *mother = win_tournament (breeding);
    const CorrectionMember *father =
        base_random_unit (random) < crossover ? win_tournament (breeding) : NULL;

    correction_copy (problem, mother, child);
    if (father != NULL)
      predict_tree_cross (&mother->tree, &father->tree, problem->most_steps, random, &child->tree);
    else if (problem->best)
      predict_tree_vary (&problem->grammar, problem->most_steps, random, &child->tree);
    else
      predict_tree_mutate (&problem->grammar, problem->most_steps, random, &child->tree);
    /* A tree without a value, or a known one, is none. */
    made = !problem->best || (predict_tree_tidy (&child->tree) && is_new (breeding, &child->tree));
    if (problem->searched)
      predict_vector_cross (model->parameters, model->n_parameters, mother->parameters,
                            father ? father->parameters : mother->parameters, VECTOR_MUTATION,
                            random, child->parameters);
  }
  child->loss = child->description = INFINITY;
  if (made)
    assess (breeding, child);
}

/* --- The paper's generations --- */

static void
next_generation (Breeding *breeding)
{
  CorrectionMember **next = breeding->order + breeding->n;
  guint n = 0, rank = 0;

  /* Copies of the elite, then children. */
  qsort (breeding->order, breeding->n, sizeof *breeding->order, compare_members);
  for (gsize grade = 0; grade < G_N_ELEMENTS (graduated); grade++) {
    guint n_ranks = (guint) (graduated[grade].share * breeding->n + 0.5);

    for (guint end = rank + n_ranks; rank < end; rank++)
      for (guint copy = 0; copy < graduated[grade].copies; copy++)
        correction_copy (breeding->problem, breeding->order[rank], next[n++]);
  }
  while (n < breeding->n)
    make_child (breeding, next[n++]);
  for (guint at = 0; at < n; at++) {
    CorrectionMember *old = breeding->order[at];

    breeding->order[at] = next[at];
    next[at] = old;
  }
}

/* --- Generations in which formulas compete with those of their own size ---
 *
 * Of parents and children the best of each size live on, so that short formulas are not lost
 * to long ones that fit a little better, and none that is the same in other words.  A shape that was
 * met before is not fitted again.
 *
 * How long it takes to find a law varies by orders of magnitude, so that all begins anew from random
 * formulas after 1, 1, 2, 1, 1, 2, 4, ... spans of generations, which is within a logarithm
 * of the best that is possible (M. Luby, A. Sinclair, D. Zuckerman, "Optimal speedup of Las Vegas
 * algorithms", 1993).  The best of each size is kept apart. */

/* The sequence above, from 1. */
static guint
luby (guint at)
{
  guint bits = g_bit_storage (at);

  if (at + 1 == 1u << bits)
    return 1u << (bits - 1);
  return luby (at + 1 - (1u << (bits - 1)));
}

/* The generations of the best mode. */
static void
breed_in_niches (Breeding *breeding)
{
  guint left = breeding->problem->settings->generations, n_settled = 0;

  for (guint run = 1; left > 0; run++) {
    for (uint32_t size = 0; size <= breeding->problem->most_steps; size++)
      breeding->bar[size] = INFINITY;
    memset (breeding->seen, 0, N_SEEN * sizeof *breeding->seen);
    begin (breeding);
    select_niches (breeding, breeding->n);
    left--;
    for (guint end = SPAN * luby (run); end > 1 && left > 0 && breeding->n_alive > 0;
         end--, left--) {
      bool is_exact = false;

      for (guint child = 0; child < breeding->n; child++)
        make_child (breeding, breeding->order[breeding->n_alive + child]);
      select_niches (breeding, breeding->n_alive + breeding->n);
      for (guint at = 0; at < breeding->n_alive; at++)
        is_exact |= breeding->order[at]->loss <= breeding->problem->least_loss;
      n_settled += is_exact;
      if (n_settled > SETTLING)
        return;
    }
  }
}

/* --- The outcome --- */

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
choose (Breeding *breeding, double *folds_loss)
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

void
correction_breed (CorrectionWork *work, PredictCorrectionTrial *outcome)
{
  const CorrectionProblem *problem = work->problem;
  uint32_t n_parameters = problem->data->model->n_parameters, stride = MAX (n_parameters, 1);
  guint n = problem->settings->population, n_members = 2 * n + problem->most_steps + 1;
  g_autofree CorrectionMember *members = g_new0 (CorrectionMember, n_members);
  g_autofree CorrectionMember **order = g_new (CorrectionMember *, 2 * n);
  g_autofree double *parameters = g_new (double, (size_t) stride *n_members);
  g_autofree uint64_t *seen = problem->best ? g_new0 (uint64_t, N_SEEN) : NULL;
  Breeding breeding = {
    .work = work,
    .problem = problem,
    .n = n,
    .order = order,
    .front = members + 2 * n,
    .seen = seen,
  };
  CorrectionMember *chosen;
  double folds_loss;

  for (guint at = 0; at < n_members; at++) {
    members[at].parameters = parameters + (size_t) at * stride;
    members[at].loss = members[at].description = INFINITY;
  }
  for (uint32_t size = 0; size < G_N_ELEMENTS (breeding.bar); size++)
    breeding.bar[size] = INFINITY;
  for (guint at = 0; at < 2 * n; at++)
    order[at] = &members[at];

  if (problem->best)
    breed_in_niches (&breeding);
  else {
    begin (&breeding);
    for (guint generation = 0; generation < problem->settings->generations; generation++)
      next_generation (&breeding);
  }
  *outcome =
      (PredictCorrectionTrial){ .loss = INFINITY, .description = INFINITY, .folds_loss = NAN };
  chosen = choose (&breeding, &outcome->folds_loss);
  if (chosen == NULL)
    return;
  if (problem->best) {
    /* Polish it, unless it no longer holds then. */
    correction_copy (problem, chosen, order[0]);
    correction_polish (work, order[0]);
    if (holds (work, order[0], &folds_loss)) {
      correction_copy (problem, order[0], chosen);
      outcome->folds_loss = folds_loss;
    }
  }
  outcome->time = correction_formula (work, chosen, false);
  outcome->brief = correction_formula (work, chosen, true);
  outcome->parameters = g_memdup2 (chosen->parameters, n_parameters * sizeof *chosen->parameters);
  outcome->points_loss = g_new (double, problem->data->train.n);
  correction_folds_loss (work, chosen, outcome->points_loss);
  outcome->n_numbers = correction_n_numbers (work, chosen);
  outcome->loss = chosen->loss;
  outcome->description = chosen->description;
}
