/* genetic.c - formulas as trees, and parameters as vectors, that are drawn, crossed and mutated.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/correction/genetic.h"

#include "predictors/formula/elementary.h"
#include "predictors/formula/evaluate_blocks.h"

#include <math.h>
#include <string.h>

#define CHANCE_OF_NUMBER   0.2 /* among terminals */
#define CHANCE_OF_TERMINAL 0.3 /* where a growing tree might go on */
#define CHANCE_OF_INNER    0.9 /* Koza's */
#define NEW_DEPTH          4   /* of a subtree that mutation makes */

/* Mean 0, variance 1: the sum of twelve uniform numbers, with the same bits everywhere. */
static double
random_normal (BaseRandom *random)
{
  double sum = -6;

  for (int i = 0; i < 12; i++)
    sum += base_random_unit (random);
  return sum;
}

/* --- Growing --- */

static PredictStep
draw_terminal (const PredictGrammar *grammar, BaseRandom *random)
{
  if (grammar->n_variables == 0 || base_random_unit (random) < CHANCE_OF_NUMBER) {
    /* Most are positive; sizes from a hundredth to a hundred. */
    double size = predict_exp (9.2 * (base_random_unit (random) - 0.5));
    double value = base_random_below (random, 4) == 0 ? -size : size;

    return (PredictStep){ .op = PREDICT_OP_CONSTANT, .value = value };
  }
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

/* --- Subtrees --- */

/* First step of the subtree whose last is `root`. */
static uint32_t
tree_first (const PredictTree *tree, uint32_t root)
{
  const PredictExpression expression = { (PredictStep *) tree->steps, tree->n };

  return predict_expression_first (&expression, root);
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
  uint32_t first = tree_first (from, root), behind = from->n - (root + 1);

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
  uint32_t first = tree_first (father, donor);

  if (!replace (mother, root, father->steps + first, donor + 1 - first, most, child))
    copy_tree (mother, child);
}

void
predict_tree_mutate (const PredictGrammar *grammar, uint32_t most, BaseRandom *random,
                     PredictTree *tree)
{
  uint32_t root, first, n = 0, chosen;
  PredictTree branch, before;
  PredictStep *step, other;
  uint8_t n_operands;

  switch (base_random_below (random, 5)) {
  case 0:
  case 1: /* another subtree */
    predict_tree_grow (grammar, 1 + (guint) base_random_below (random, NEW_DEPTH), false, random,
                       &branch);
    copy_tree (tree, &before);
    replace (&before, draw_root (&before, random), branch.steps, branch.n, most, tree);
    break;
  case 2: /* another function with as many operands, or another terminal */
    step = &tree->steps[base_random_below (random, tree->n)];
    n_operands = predict_ops[step->op].n_operands;
    other = n_operands == 0 ? draw_terminal (grammar, random) : draw_function (grammar, random);
    if (predict_ops[other.op].n_operands == n_operands)
      *step = other;
    break;
  case 3: /* one number moves */
    for (uint32_t at = 0; at < tree->n; at++)
      n += tree->steps[at].op == PREDICT_OP_CONSTANT;
    chosen = n > 0 ? (uint32_t) base_random_below (random, n) : 0;
    for (uint32_t at = 0; at < tree->n; at++)
      if (tree->steps[at].op == PREDICT_OP_CONSTANT && chosen-- == 0)
        tree->steps[at].value *= 1 + 0.5 * random_normal (random);
    break;
  default: /* a subtree takes the place of the whole */
    root = draw_root (tree, random);
    first = tree_first (tree, root);
    tree->n = root + 1 - first;
    memmove (tree->steps, tree->steps + first, tree->n * sizeof *tree->steps);
  }
}

/* --- Trees changed by small steps, tidied, and told apart --- */

#define HASH_NUMBER 0x9E3779B97F4A7C15u

static void
put (PredictTree *tree, const PredictStep *steps, uint32_t n)
{
  memcpy (tree->steps + tree->n, steps, n * sizeof *steps);
  tree->n += n;
}

void
predict_tree_without (const PredictTree *tree, uint32_t root, uint8_t operand, PredictTree *into)
{
  uint32_t last = root - 1;

  if (operand == 0 && predict_ops[tree->steps[root].op].n_operands == 2)
    last = tree_first (tree, root - 1) - 1;
  into->n = 0;
  put (into, tree->steps, tree_first (tree, root));
  put (into, tree->steps + tree_first (tree, last), last + 1 - tree_first (tree, last));
  put (into, tree->steps + root + 1, tree->n - (root + 1));
}

void
predict_tree_vary (const PredictGrammar *grammar, uint32_t most, BaseRandom *random,
                   PredictTree *tree)
{
  PredictTree operation, leaf, before;
  uint32_t root, first;
  uint8_t n_operands;
  bool leaf_first;

  switch (base_random_below (random, 4)) {
  case 0: /* an operation above a subtree, whose other operand, if any, is a new leaf */
    root = (uint32_t) base_random_below (random, tree->n);
    first = tree_first (tree, root);
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
    break;
  case 1: /* one operation less */
    root = (uint32_t) base_random_below (random, tree->n);
    n_operands = predict_ops[tree->steps[root].op].n_operands;
    if (n_operands == 0)
      return;
    copy_tree (tree, &before);
    predict_tree_without (&before, root, (uint8_t) base_random_below (random, n_operands), tree);
    break;
  default: predict_tree_mutate (grammar, most, random, tree); break;
  }
}

bool
predict_tree_tidy (PredictTree *tree)
{
  uint32_t n = tree->n;

  /* Operations on numbers become their result. */
  tree->n = 0;
  for (uint32_t at = 0; at < n; at++) {
    uint8_t n_operands = predict_ops[tree->steps[at].op].n_operands;
    PredictExpression part = { tree->steps + tree->n - n_operands, 1u + n_operands };
    bool is_number = n_operands > 0;
    double value;

    tree->steps[tree->n++] = tree->steps[at];
    for (uint8_t operand = 0; operand < n_operands; operand++)
      is_number &= part.steps[operand].op == PREDICT_OP_CONSTANT;
    if (!is_number)
      continue;
    value = predict_value (&part, NULL, NULL);
    if (!isfinite (value))
      return false;
    tree->n -= n_operands;
    *part.steps = (PredictStep){ .op = PREDICT_OP_CONSTANT, .value = value };
  }
  /* c x, x c and x / c become x. */
  for (;;) {
    uint32_t root = tree->n - 1;
    uint8_t op = tree->steps[root].op;

    if (op != PREDICT_OP_MULTIPLY && op != PREDICT_OP_DIVIDE)
      return true;
    if (tree->steps[root - 1].op != PREDICT_OP_CONSTANT) {
      if (op == PREDICT_OP_DIVIDE || tree->steps[0].op != PREDICT_OP_CONSTANT ||
          tree_first (tree, root - 1) != 1)
        return true;
      memmove (tree->steps, tree->steps + 1, (root - 1) * sizeof *tree->steps);
    }
    tree->n -= 2;
  }
}

/* --- Telling apart --- */

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

/* --- Parameters of a model, drawn, crossed and mutated within their bounds --- */

#define BLEND 0.5 /* of BLX-0.5 */
#define STEP  0.1 /* of the range */

double
predict_parameter_inner (const PredictParameter *bounds, double value)
{
  return bounds->log ? predict_log (value) : value;
}

double
predict_parameter_outer (const PredictParameter *bounds, double inner)
{
  return CLAMP (bounds->log ? predict_exp (inner) : inner, bounds->low, bounds->high);
}

void
predict_vector_draw (const PredictParameter *bounds, uint32_t n, BaseRandom *random, double *vector)
{
  for (uint32_t at = 0; at < n; at++) {
    double low = predict_parameter_inner (&bounds[at], bounds[at].low);
    double high = predict_parameter_inner (&bounds[at], bounds[at].high);

    vector[at] =
        predict_parameter_outer (&bounds[at], low + (high - low) * base_random_unit (random));
  }
}

void
predict_vector_cross (const PredictParameter *bounds, uint32_t n, const double *mother,
                      const double *father, double mutation, BaseRandom *random, double *child)
{
  for (uint32_t at = 0; at < n; at++) {
    double a = predict_parameter_inner (&bounds[at], mother[at]);
    double b = predict_parameter_inner (&bounds[at], father[at]);
    double range = predict_parameter_inner (&bounds[at], bounds[at].high) -
                   predict_parameter_inner (&bounds[at], bounds[at].low);
    double value = a + ((1 + 2 * BLEND) * base_random_unit (random) - BLEND) * (b - a);

    if (base_random_unit (random) < mutation)
      value += STEP * range * random_normal (random);
    child[at] = predict_parameter_outer (&bounds[at], value);
  }
}
