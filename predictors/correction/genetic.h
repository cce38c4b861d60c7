/* genetic.h - formulas as trees, and parameters as vectors, that are drawn, crossed and mutated.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Trees are steps in postfix order (expression.h), of at most PREDICT_MAX_TREE, in arrays of that
 * size, so that breeding allocates nothing.  Depth counts the root as 1. */
#pragma once

#include "predictors/formula/base_model.h"
#include "base/random.h"

#define PREDICT_MAX_TREE 127u

/* The functions and terminals of trees. */
typedef struct {
  const PredictOp *functions; /* [n_functions] of one or two operands */
  uint32_t n_functions;
  uint32_t n_variables; /* the terminals besides numbers */
  bool integer_powers;  /* a power is half of the times a square or a cube, of any base */
} PredictGrammar;

typedef struct {
  uint32_t n;
  PredictStep steps[PREDICT_MAX_TREE];
} PredictTree;

/* A random tree of at most `depth` <= 7: with `full`, every branch has that depth (Koza 1992,
 * section 6.2). */
void predict_tree_grow (const PredictGrammar *grammar, guint depth, bool full, BaseRandom *random,
                        PredictTree *tree);

/* `child`: the mother with one of her subtrees replaced by one of the father's; the mother herself
 * when the child would have more than `most` steps.  An inner node is chosen nine times of ten
 * (Koza). */
void predict_tree_cross (const PredictTree *mother, const PredictTree *father, uint32_t most,
                         BaseRandom *random, PredictTree *child);

/* By small steps: as predict_tree_mutate(), and an operation is inserted above a subtree, or
 * one is replaced by one of its operands. */
void predict_tree_vary (const PredictGrammar *grammar, uint32_t most, BaseRandom *random,
                        PredictTree *tree);

/* The tree with one of the operands in the place of the operation at `root`; they differ. */
void
predict_tree_without (const PredictTree *tree, uint32_t root, uint8_t operand, PredictTree *into);

/* Parts without variables become one number, and no number is left that only multiplies the whole:
 * for trees that have a factor.  false: a part has no value. */
bool predict_tree_tidy (PredictTree *tree);

/* The same for trees that differ in their numbers only, or in the order of the operands of + and *. */
uint64_t predict_tree_hash (const PredictTree *tree);

/* One subtree is replaced by a new one, one function or terminal by another, one number is moved,
 * or a subtree takes the place of the whole; larger than `most` steps: nothing is done. */
void predict_tree_mutate (const PredictGrammar *grammar, uint32_t most, BaseRandom *random,
                          PredictTree *tree);

/* --- Parameters of a model within their bounds --- */

/* A value as it is searched: its logarithm where the bounds say so; and the value back from that, not
 * outside of the bounds. */
double predict_parameter_inner (const PredictParameter *bounds, double value);
double predict_parameter_outer (const PredictParameter *bounds, double inner);

/* vector[n]: uniform within bounds. */
void predict_vector_draw (const PredictParameter *bounds, uint32_t n, BaseRandom *random,
                          double *vector);

/* child[n]: blend crossover (BLX-0.5; Eshelman and Schaffer 1993); then, with the chance `mutation`
 * each, a step of a normal distribution whose standard deviation is a tenth of the range. */
void
predict_vector_cross (const PredictParameter *bounds, uint32_t n, const double *mother,
                      const double *father, double mutation, BaseRandom *random, double *child);
