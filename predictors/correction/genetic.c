/* genetic.c - formulas as trees that are grown, crossed and mutated.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/formula/elementary.h"
#include "predictors/correction/genetic.h"
#include "predictors/correction/vectors.h"

#include <string.h>

#define CHANCE_OF_NUMBER   0.2 /* among terminals */
#define CHANCE_OF_TERMINAL 0.3 /* where a growing tree might go on */
#define CHANCE_OF_INNER    0.9 /* Koza's */
#define NEW_DEPTH          4   /* of a subtree that mutation makes */

/* -- growing ------------------------------------------------------------------ */

/* Signs alike, sizes from a hundredth to a hundred. */
static double
draw_number (BaseRandom *random)
{
  double size = predict_exp (9.2 * (base_random_unit (random) - 0.5));

  return base_random_below (random, 4) == 0 ? -size : size;
}

static PredictStep
draw_terminal (const PredictGrammar *grammar, BaseRandom *random)
{
  if (grammar->n_variables == 0 || base_random_unit (random) < CHANCE_OF_NUMBER)
    return (PredictStep){ .op = PREDICT_OP_CONSTANT, .value = draw_number (random) };
  return (PredictStep){ .op = PREDICT_OP_VARIABLE,
                        .index = (int32_t) base_random_below (random, grammar->n_variables) };
}

static PredictStep
draw_function (const PredictGrammar *grammar, BaseRandom *random)
{
  PredictStep step = {
    .op = (uint8_t) grammar->functions[base_random_below (random, grammar->n_functions)]
  };

  if (step.op == PREDICT_OP_POWER && grammar->integer_powers &&
      base_random_below (random, 2) == 0) {
    step.op = PREDICT_OP_INTEGER_POWER;
    step.index = base_random_below (random, 4) == 0 ? 3 : 2;
  }
  return step;
}

static void
grow (const PredictGrammar *grammar, guint depth, bool full, BaseRandom *random, PredictTree *tree)
{
  PredictStep step;

  if (depth <= 1 || (!full && base_random_unit (random) < CHANCE_OF_TERMINAL)) {
    tree->steps[tree->n++] = draw_terminal (grammar, random);
    return;
  }
  step = draw_function (grammar, random);
  for (uint8_t operand = 0; operand < predict_ops[step.op].n_operands; operand++)
    grow (grammar, depth - 1, full, random, tree);
  tree->steps[tree->n++] = step;
}

void
predict_tree_grow (const PredictGrammar *grammar, guint depth, bool full, BaseRandom *random,
                   PredictTree *tree)
{
  g_assert (depth <= 7);
  tree->n = 0;
  grow (grammar, depth, full, random, tree);
}

/* -- subtrees ----------------------------------------------------------------- */

uint32_t
predict_tree_first (const PredictTree *tree, uint32_t root)
{
  const PredictExpression expression = { (PredictStep *) tree->steps, tree->n };

  return predict_expression_first (&expression, root);
}

guint
predict_tree_depth (const PredictTree *tree)
{
  uint8_t depth[PREDICT_MAX_TREE];
  uint32_t n = 0;

  for (uint32_t step = 0; step < tree->n; step++) {
    uint8_t n_operands = predict_ops[tree->steps[step].op].n_operands, deepest = 0;

    for (uint8_t operand = 0; operand < n_operands; operand++) {
      n--;
      deepest = MAX (deepest, depth[n]);
    }
    depth[n++] = (uint8_t) (deepest + 1);
  }
  return depth[0];
}

static bool
is_inner (const PredictTree *tree, uint32_t step)
{
  return predict_ops[tree->steps[step].op].n_operands > 0;
}

static uint32_t
draw_root (const PredictTree *tree, BaseRandom *random)
{
  bool inner = base_random_unit (random) < CHANCE_OF_INNER;
  uint32_t n = 0, chosen;

  for (uint32_t step = 0; step < tree->n; step++)
    n += is_inner (tree, step) == inner;
  if (n == 0)
    return tree->n - 1;
  chosen = (uint32_t) base_random_below (random, n);
  for (uint32_t step = 0;; step++)
    if (is_inner (tree, step) == inner && chosen-- == 0)
      return step;
}

/* into = from with the subtree at `root` replaced; they differ. */
static bool
replace (const PredictTree *from, uint32_t root, const PredictStep *steps, uint32_t n,
         uint32_t most, PredictTree *into)
{
  uint32_t first = predict_tree_first (from, root), behind = from->n - (root + 1);

  if (first + n + behind > most)
    return false;
  memcpy (into->steps, from->steps, first * sizeof *steps);
  memcpy (into->steps + first, steps, n * sizeof *steps);
  memcpy (into->steps + first + n, from->steps + root + 1, behind * sizeof *steps);
  into->n = first + n + behind;
  return true;
}

static void
copy_tree (const PredictTree *from, PredictTree *into)
{
  into->n = from->n;
  memcpy (into->steps, from->steps, from->n * sizeof *from->steps);
}

void
predict_tree_cross (const PredictTree *mother, const PredictTree *father, uint32_t most,
                    BaseRandom *random, PredictTree *child)
{
  uint32_t root = draw_root (mother, random), donor = draw_root (father, random);
  uint32_t first = predict_tree_first (father, donor);

  if (!replace (mother, root, father->steps + first, donor + 1 - first, most, child))
    copy_tree (mother, child);
}

/* -- mutation ----------------------------------------------------------------- */

static void
renew_subtree (const PredictGrammar *grammar, uint32_t most, BaseRandom *random, PredictTree *tree)
{
  PredictTree branch, before;
  guint depth = 1 + (guint) base_random_below (random, NEW_DEPTH);

  predict_tree_grow (grammar, depth, false, random, &branch);
  copy_tree (tree, &before);
  replace (&before, draw_root (&before, random), branch.steps, branch.n, most, tree);
}

/* Another function with as many operands, or another terminal. */
static void
change_step (const PredictGrammar *grammar, BaseRandom *random, PredictTree *tree)
{
  PredictStep *step = &tree->steps[base_random_below (random, tree->n)];
  uint8_t n_operands = predict_ops[step->op].n_operands;
  PredictStep other;

  if (n_operands == 0) {
    *step = draw_terminal (grammar, random);
    return;
  }
  other = draw_function (grammar, random);
  if (predict_ops[other.op].n_operands == n_operands)
    *step = other;
}

static void
move_number (BaseRandom *random, PredictTree *tree)
{
  uint32_t n = 0, chosen;

  for (uint32_t step = 0; step < tree->n; step++)
    n += tree->steps[step].op == PREDICT_OP_CONSTANT;
  chosen = n > 0 ? (uint32_t) base_random_below (random, n) : 0;
  for (uint32_t step = 0; step < tree->n; step++)
    if (tree->steps[step].op == PREDICT_OP_CONSTANT && chosen-- == 0)
      tree->steps[step].value *= 1 + 0.5 * predict_random_normal (random);
}

/* The subtree takes the place of the whole. */
static void
hoist (BaseRandom *random, PredictTree *tree)
{
  uint32_t root = draw_root (tree, random), first = predict_tree_first (tree, root);

  tree->n = root + 1 - first;
  memmove (tree->steps, tree->steps + first, tree->n * sizeof *tree->steps);
}

void
predict_tree_mutate (const PredictGrammar *grammar, uint32_t most, BaseRandom *random,
                     PredictTree *tree)
{
  switch (base_random_below (random, 5)) {
  case 0:
  case 1: renew_subtree (grammar, most, random, tree); break;
  case 2: change_step (grammar, random, tree); break;
  case 3: move_number (random, tree); break;
  default: hoist (random, tree); break;
  }
}
