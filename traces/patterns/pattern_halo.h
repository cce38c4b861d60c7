/* pattern_halo.h - exchanges with neighbours in a grid; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/patterns/batch.h"
#include "traces/patterns/pattern_grid.h"

/* Where neighbours are. */
typedef struct {
  int step[3];
} PatternStep;

/* Every rank sends `bytes` to the rank each step away and receives as much
 * from the rank on the opposite side: all receives are posted, then all sends,
 * then all are waited for.  The tag is the number of the step, so that
 * messages between the same two ranks (in a dimension of one or two) match
 * by direction. */
void pattern_halo_exchange (TraceBatch *batch, const PatternGrid *grid, uint32_t rank,
                            const PatternStep *steps, guint n_steps, uint64_t bytes);

/* The patterns that are nothing but such exchanges, and their parameters. */
extern const TraceParameter pattern_halo_parameters[];
gpointer pattern_halo_open (TraceParameterValue *values, const PatternStep *steps, guint n_steps,
                            guint n_dims, uint32_t *n_ranks, GError **error);
void pattern_halo_close (gpointer state);
gboolean pattern_halo_batch (gconstpointer state, uint32_t rank, uint64_t index, TraceBatch *batch);
