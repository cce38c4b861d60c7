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
 * ones first, as MPI_Dims_create is told to (MPI 4.0, section 8.5.2): of all
 * ways the one with the smallest first dimension, then the smallest second. */
void pattern_grid_balance (int64_t n, guint n_dims, int64_t *dims);

/* Does the value of the parameter `name` have so many numbers? */
gboolean pattern_grid_check (const char *name, const int64_t grid[3], guint n_dims, GError **error);

/* Works out what of the parameters `ranks` and `grid` is absent, and checks
 * that they agree. */
gboolean pattern_grid_resolve (TraceParameterValue *ranks, TraceParameterValue *grid, guint n_dims,
                               GError **error);

/* Of values that were resolved. */
PatternGrid pattern_grid_new (const TraceParameterValue *grid, guint n_dims, gboolean periodic);

void pattern_grid_place (const PatternGrid *grid, uint32_t rank, int32_t place[3]);

/* The rank `step` away from a place; TRACE_PROC_NULL beyond the edge of a
 * grid that is not periodic. */
int32_t pattern_grid_neighbour (const PatternGrid *grid, const int32_t place[3], const int step[3]);
