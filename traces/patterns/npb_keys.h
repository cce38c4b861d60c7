/* npb_keys.h - the keys that IS sorts, counted; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The keys are random numbers with a prescribed generator and seed, so that
 * who sends how many of them to whom follows from the class and the number of
 * ranks.  They are drawn when they are first needed, which takes seconds for
 * class D.  For more keys than that, each rank is given the share of every
 * bucket that the distribution expects. */
#pragma once

#include "traces/patterns/npb.h"

typedef struct NpbKeys NpbKeys;

/* Each rank must have more than 2 * n_iterations keys.  Cheap. */
NpbKeys *npb_keys_new (const NpbProblem *problem, uint32_t n_ranks, uint32_t n_iterations);
void npb_keys_free (NpbKeys *keys);

/* Keys that the rank sends to each rank in an iteration (from 1), and those
 * it gets from each.  Any thread. */
void npb_keys_exchange (NpbKeys *keys, uint32_t rank, uint32_t iteration, uint64_t *sent,
                        uint64_t *received);
