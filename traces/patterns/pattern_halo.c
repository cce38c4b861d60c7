/* pattern_halo.c - exchanges with neighbours in a grid.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/patterns/pattern_halo.h"

#include "traces/patterns/pattern_parameters.h"

typedef struct {
  PatternCommon common;
  PatternGrid grid;
  const PatternStep *steps;
  guint n_steps;
} Halo;

enum { RANKS = PATTERN_AT_RANKS, GRID = PATTERN_N_COMMON, PERIODIC };

const TraceParameter pattern_halo_parameters[] = {
  PATTERN_COMMON ("", "16K", "bytes of a message to one neighbour", "100"),
  [GRID] = PATTERN_GRID ("", "ranks in each dimension, the last runs fastest (default: even)"),
  [PERIODIC] = PATTERN_PERIODIC ("yes"),
  PATTERN_END,
};

void
pattern_halo_exchange (TraceBatch *batch, const PatternGrid *grid, uint32_t rank,
                       const PatternStep *steps, guint n_steps, uint64_t bytes)
{
  uint32_t request = TRACE_BATCH_FIRST_REQUEST;
  int32_t place[3];

  pattern_grid_place (grid, rank, place);
  for (guint s = 0; s < n_steps; s++) {
    const int *step = steps[s].step;
    const int back[3] = { -step[0], -step[1], -step[2] };
    int32_t source = pattern_grid_neighbour (grid, place, back);

    if (source >= 0)
      trace_batch_irecv (batch, source, (int32_t) s, bytes, request++);
  }
  for (guint s = 0; s < n_steps; s++) {
    int32_t destination = pattern_grid_neighbour (grid, place, steps[s].step);

    if (destination >= 0)
      trace_batch_isend (batch, destination, (int32_t) s, bytes, request++);
  }
  trace_batch_wait (batch, TRACE_BATCH_FIRST_REQUEST, request - TRACE_BATCH_FIRST_REQUEST);
}

gpointer
pattern_halo_open (TraceParameterValue *values, const PatternStep *steps, guint n_steps,
                   guint n_dims, uint32_t *n_ranks, GError **error)
{
  Halo *halo;

  if (!pattern_grid_resolve (&values[RANKS], &values[GRID], n_dims, error))
    return NULL;
  halo = g_new (Halo, 1);
  *halo = (Halo){
    .common = pattern_common (values),
    .grid = pattern_grid_new (&values[GRID], n_dims, *values[PERIODIC].word == 'y'),
    .steps = steps,
    .n_steps = n_steps,
  };
  *n_ranks = halo->common.n_ranks;
  return halo;
}

void
pattern_halo_close (gpointer state)
{
  g_free (state);
}

gboolean
pattern_halo_batch (gconstpointer state, uint32_t rank, uint64_t index, TraceBatch *batch)
{
  const Halo *halo = state;

  if (index >= halo->common.iterations)
    return FALSE;
  trace_batch_compute (batch, halo->common.compute_ps);
  pattern_halo_exchange (batch, &halo->grid, rank, halo->steps, halo->n_steps, halo->common.bytes);
  return TRUE;
}
