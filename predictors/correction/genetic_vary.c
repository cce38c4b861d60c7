/* genetic_vary.c - trees changed by small steps, tidied, and told apart.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/formula/evaluate_blocks.h"
#include "predictors/correction/genetic.h"

#include <math.h>
#include <string.h>

#define HASH_NUMBER 0x9E3779B97F4A7C15u

/* -- varying ----------------------------------------------------------------- */

static void
copy_tree (const PredictTree *from, PredictTree *into)
{
  into->n = from->n;
  memcpy (into->steps, from->steps, from->n * sizeof *from->steps);
}

static void
put (PredictTree *tree, const PredictStep *steps, uint32_t n)
{
  memcpy (tree->steps + tree->n, steps, n * sizeof *steps);
  tree->n += n;
}

/* The second operand of two is a new leaf, or the first one is. */
static void
insert_operation (const PredictGrammar *grammar, uint32_t most, BaseRandom *random,
                  PredictTree *tree)
{
  uint32_t root = (uint32_t) base_random_below (random, tree->n);
  uint32_t first = predict_tree_first (tree, root);
  PredictTree operation, leaf, before;
  uint8_t n_operands;
  bool leaf_first;

  predict_tree_grow (grammar, 2, true, random, &operation);
  n_operands = predict_ops[operation.steps[operation.n - 1].op].n_operands;
  if (tree->n + n_operands > most)
    return;
  predict_tree_grow (grammar, 1, true, random, &leaf);
  leaf_first = n_operands == 2 && base_random_below (random, 2) == 0;
  copy_tree (tree, &before);
  tree->n = first;
  if (leaf_first)
    put (tree, leaf.steps, 1);
  put (tree, before.steps + first, root + 1 - first);
  if (n_operands == 2 && !leaf_first)
    put (tree, leaf.steps, 1);
  put (tree, &operation.steps[operation.n - 1], 1);
  put (tree, before.steps + root + 1, before.n - (root + 1));
}

void
predict_tree_without (const PredictTree *tree, uint32_t root, uint8_t operand, PredictTree *into)
{
  uint32_t last = root - 1;

  if (operand == 0 && predict_ops[tree->steps[root].op].n_operands == 2)
    last = predict_tree_first (tree, root - 1) - 1;
  into->n = 0;
  put (into, tree->steps, predict_tree_first (tree, root));
  put (into, tree->steps + predict_tree_first (tree, last),
       last + 1 - predict_tree_first (tree, last));
  put (into, tree->steps + root + 1, tree->n - (root + 1));
}

static void
remove_operation (BaseRandom *random, PredictTree *tree)
{
  uint32_t root = (uint32_t) base_random_below (random, tree->n);
  uint8_t n_operands = predict_ops[tree->steps[root].op].n_operands;
  PredictTree before;

  if (n_operands == 0)
    return;
  copy_tree (tree, &before);
  predict_tree_without (&before, root, (uint8_t) base_random_below (random, n_operands), tree);
}

void
predict_tree_vary (const PredictGrammar *grammar, uint32_t most, BaseRandom *random,
                   PredictTree *tree)
{
  switch (base_random_below (random, 4)) {
  case 0: insert_operation (grammar, most, random, tree); break;
  case 1: remove_operation (random, tree); break;
  default: predict_tree_mutate (grammar, most, random, tree); break;
  }
}

/* -- tidying ------------------------------------------------------------------- */

/* Operands that are numbers become their result. */
static bool
fold (PredictTree *tree)
{
  uint8_t n_operands = predict_ops[tree->steps[tree->n - 1].op].n_operands;
  PredictExpression part = { tree->steps + tree->n - 1 - n_operands, 1u + n_operands };
  double value;

  if (n_operands == 0)
    return true;
  for (uint32_t at = 0; at < n_operands; at++)
    if (part.steps[at].op != PREDICT_OP_CONSTANT)
      return true;
  value = predict_value (&part, NULL, NULL);
  if (!isfinite (value))
    return false;
  tree->n -= n_operands;
  tree->steps[tree->n - 1] = (PredictStep){ .op = PREDICT_OP_CONSTANT, .value = value };
  return true;
}

/* c x, x c and x / c become x. */
static bool
drop_factor (PredictTree *tree)
{
  uint32_t root = tree->n - 1;
  uint8_t op = tree->steps[root].op;

  if (op != PREDICT_OP_MULTIPLY && op != PREDICT_OP_DIVIDE)
    return false;
  if (tree->steps[root - 1].op == PREDICT_OP_CONSTANT) {
    tree->n -= 2;
    return true;
  }
  if (op == PREDICT_OP_DIVIDE || tree->steps[0].op != PREDICT_OP_CONSTANT ||
      predict_tree_first (tree, root - 1) != 1)
    return false;
  tree->n -= 2;
  memmove (tree->steps, tree->steps + 1, tree->n * sizeof *tree->steps);
  return true;
}

bool
predict_tree_tidy (PredictTree *tree)
{
  uint32_t n = tree->n;

  tree->n = 0;
  for (uint32_t at = 0; at < n; at++) {
    tree->steps[tree->n++] = tree->steps[at];
    if (!fold (tree))
      return false;
  }
  while (drop_factor (tree))
    ;
  return true;
}

/* -- telling apart --------------------------------------------------------------- */

static uint64_t
mix (uint64_t seed)
{
  BaseRandom random = { seed };

  return base_random_next (&random);
}

uint64_t
predict_tree_hash (const PredictTree *tree)
{
  uint64_t waiting[PREDICT_MAX_TREE];
  uint32_t n = 0;

  for (uint32_t at = 0; at < tree->n; at++) {
    const PredictStep *step = &tree->steps[at];
    uint8_t n_operands = predict_ops[step->op].n_operands;
    uint64_t hash = mix (step->op * HASH_NUMBER + (uint64_t) step->index);

    n -= n_operands;
    if (n_operands == 1)
      hash = mix (hash ^ waiting[n]);
    else if (step->op == PREDICT_OP_ADD || step->op == PREDICT_OP_MULTIPLY)
      hash = mix (hash ^ (waiting[n] + waiting[n + 1]));
    else if (n_operands == 2)
      hash = mix (hash ^ mix (waiting[n]) ^ (waiting[n + 1] << 1));
    waiting[n++] = hash;
  }
  return waiting[0];
}
