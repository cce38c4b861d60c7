/* correction_niches.c - generations in which formulas compete with those of their own size.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Of parents and children the best of each size live on, so that short formulas are not lost
 * to long ones that fit a little better, and none that is the same in other words.  A shape that was
 * met before is not fitted again.
 *
 * How long it takes to find a law varies by orders of magnitude, so that all begins anew from random
 * formulas after 1, 1, 2, 1, 1, 2, 4, ... spans of generations, which is within a logarithm
 * of the best that is possible (M. Luby, A. Sinclair, D. Zuckerman, "Optimal speedup of Las Vegas
 * algorithms", 1993).  What was best of each size is kept apart. */
#include "config.h"

#include "predictors/correction/correction_private.h"

#include <math.h>
#include <string.h>

#define SPAN       25u /* generations */
#define TOURNAMENT 3u
#define SETTLING   5u   /* generations after the loss is rounding: a shorter formula may be near */
#define VISITS     2u   /* of a shape with numbers, each from other ones */
#define SAME       1e-9 /* of the loss */

bool
correction_is_new (CorrectionBreeding *breeding, const PredictTree *tree)
{
  uint64_t hash = predict_tree_hash (tree) & ~(uint64_t) 3;
  uint64_t *place = &breeding->seen[(hash >> 8) % CORRECTION_SEEN];
  uint64_t n_visits = (*place & ~(uint64_t) 3) == hash ? *place & 3 : 0;
  bool again = breeding->problem->searched;

  for (uint32_t at = 0; at < tree->n; at++)
    again = again || tree->steps[at].op == PREDICT_OP_CONSTANT;
  if (n_visits >= (again ? VISITS : 1))
    return false;
  *place = hash | (n_visits + 1);
  return true;
}

static bool
is_same (const CorrectionBreeding *breeding, const CorrectionMember *a, const CorrectionMember *b)
{
  double least = breeding->problem->least_loss;

  return MAX (b->loss, least) - MAX (a->loss, least) <= SAME * b->loss;
}

/* Sorts those that live on to the front of order[0 ... n - 1], and returns their number. */
static guint
select_members (CorrectionBreeding *breeding, guint n)
{
  CorrectionMember **order = breeding->order;
  uint32_t most_steps = breeding->problem->most_steps;
  guint share = MAX (breeding->n / most_steps, 1), n_alive = 0;
  guint of_size[PREDICT_MAX_TREE + 1] = { 0 };

  qsort (order, n, sizeof *order, correction_compare);
  for (guint at = 0; at < n && isfinite (order[at]->loss); at++) {
    CorrectionMember *member = order[at];
    bool same = n_alive > 0 && is_same (breeding, order[n_alive - 1], member);

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
  return correction_compare (a, b);
}

static void
select_niches (CorrectionBreeding *breeding, guint n)
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

const CorrectionMember *
correction_parent (CorrectionBreeding *breeding)
{
  BaseRandom *random = &breeding->work->random;
  CorrectionMember *const *order = breeding->order;
  guint winner = (guint) base_random_below (random, breeding->n_alive), first, n;
  bool of_all = base_random_below (random, 2) == 0;

  first = of_all ? 0 : breeding->niche[order[winner]->tree.n];
  n = of_all ? breeding->n_alive : breeding->niche[order[winner]->tree.n + 1] - first;
  for (guint at = 1; at < TOURNAMENT; at++) {
    guint other = first + (guint) base_random_below (random, n);

    if (of_all ? order[other]->description < order[winner]->description : other < winner)
      winner = other;
  }
  return order[winner];
}

static bool
is_exact (const CorrectionBreeding *breeding)
{
  for (guint at = 0; at < breeding->n_alive; at++)
    if (breeding->order[at]->loss <= breeding->problem->least_loss)
      return true;
  return false;
}

static void
begin_anew (CorrectionBreeding *breeding)
{
  for (uint32_t size = 0; size <= breeding->problem->most_steps; size++)
    breeding->bar[size] = INFINITY;
  memset (breeding->seen, 0, CORRECTION_SEEN * sizeof *breeding->seen);
  correction_begin (breeding);
  select_niches (breeding, breeding->n);
}

/* The sequence above, from 1. */
static guint
luby (guint at)
{
  guint bits = g_bit_storage (at);

  if (at + 1 == 1u << bits)
    return 1u << (bits - 1);
  return luby (at + 1 - (1u << (bits - 1)));
}

/* One generation more; false: there is nothing to find any more. */
static bool
go_on (CorrectionBreeding *breeding, guint *n_settled)
{
  for (guint child = 0; child < breeding->n; child++)
    correction_child (breeding, breeding->order[breeding->n_alive + child]);
  select_niches (breeding, breeding->n_alive + breeding->n);
  *n_settled += is_exact (breeding);
  return *n_settled <= SETTLING;
}

void
correction_niches (CorrectionBreeding *breeding)
{
  guint left = breeding->problem->settings->generations, n_settled = 0;

  for (guint run = 1; left > 0; run++) {
    begin_anew (breeding);
    left--;
    for (guint end = SPAN * luby (run); end > 1 && left > 0 && breeding->n_alive > 0; end--, left--)
      if (!go_on (breeding, &n_settled))
        return;
  }
}
