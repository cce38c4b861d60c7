/* pattern_grid.h - ranks in a grid, for patterns; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ranks are numbered as MPI_Cart_create numbers them: the last dimension
 * runs fastest. */
#pragma once

#include "traces/patterns/pattern.h"

#define PATTERN_MAX_RANKS ((int64_t) 1 << 24)

typedef struct {
  int32_t dims[3];
  guint n_dims;
  gboolean periodic;
} PatternGrid;

/* Splits n ranks over n_dims dimensions as evenly as they can be, the larger
 * ones first, as MPI_Dims_create must (MPI 4.0, section 8.5.2): of all
 * ways the one with the smallest first dimension, then the smallest second. */
void pattern_grid_balance (int64_t n, guint n_dims, int64_t *dims);

/* Does the value of the parameter `name` have so many numbers? */
gboolean pattern_grid_check (const char *name, const int64_t grid[3], guint n_dims, GError **error);

/* Works out the absent one of the parameters `ranks` and `grid`, and checks
 * that they agree. */
gboolean pattern_grid_resolve (TraceParameterValue *ranks, TraceParameterValue *grid, guint n_dims,
                               GError **error);

/* Of values that were resolved. */
PatternGrid pattern_grid_new (const TraceParameterValue *grid, guint n_dims, gboolean periodic);

void pattern_grid_place (const PatternGrid *grid, uint32_t rank, int32_t place[3]);

/* The rank `step` away from a place; TRACE_PROC_NULL beyond the edge of a
 * grid that is not periodic. */
int32_t pattern_grid_neighbour (const PatternGrid *grid, const int32_t place[3], const int step[3]);

/* Where neighbours are. */
typedef struct {
  int step[3];
} PatternStep;

/* Every rank sends `bytes` to the rank each step away and receives as much
 * from the rank on the opposite side: all receives are posted, then all sends,
 * then all are waited for.  The tag is the number of the step, so that
 * messages between the same two ranks (in a dimension of one or two) match
 * by direction. */
void pattern_grid_exchange (PatternOps *ops, const PatternGrid *grid, uint32_t rank,
                            const PatternStep *steps, guint n_steps, uint64_t bytes);

/* --- Random permutations of ranks without a table ---
 *
 * Each key stands for one permutation of 0 .. n - 1.  Any element of it can be computed, in both
 * directions, so that a rank finds its destination and its source. */

/* A key from a seed and the two numbers of a permutation. */
uint64_t pattern_shuffle_key (uint64_t seed, uint64_t round, uint64_t number);

/* The image of x, and the preimage of y; both below n, which is 2^30 at most. */
uint32_t pattern_shuffle (uint64_t key, uint32_t n, uint32_t x);
uint32_t pattern_unshuffle (uint64_t key, uint32_t n, uint32_t y);
