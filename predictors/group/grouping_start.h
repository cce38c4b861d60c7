/* grouping_start.h - parts to start from.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "predictors/group/cost_graph.h"
#include "base/random.h"

/* Larger graphs are not halved: that takes the square of their tasks. */
#define PREDICT_HALVES_MAX_TASKS 2048u

/* How many of n tasks part p of n_parts has: sizes differ by one at most, the first are larger. */
static inline uint32_t
predict_part_size (uint32_t n, uint32_t n_parts, uint32_t p)
{
  return n / n_parts + (p < n % n_parts);
}

/* Each fills part[n] with parts of such sizes. */
void predict_start_block (uint32_t n, uint32_t n_parts, uint32_t *part);
void predict_start_round_robin (uint32_t n, uint32_t n_parts, uint32_t *part);
void predict_start_random (uint32_t n, uint32_t n_parts, BaseRandom *random, uint32_t *part);

/* Part by part: to the first task that is left comes, again and again, the one that has the dearest
 * edges to the part. */
void predict_start_greedy (const PredictCostGraph *graph, uint32_t n_parts, uint32_t *part);

/* Halves of the tasks by the procedure for two parts, halves of these, and so on. */
void predict_start_halves (const PredictCostGraph *graph, uint32_t n_parts, uint32_t *part);
