/* pattern_halo2d.c - the five-point exchange of a two-dimensional Jacobi relaxation.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Jain et al., SC13, section 4.2.1: every rank of a 2D grid exchanges one
 * message with each of its four nearest neighbours per iteration, of which
 * there are 100.  As all have four, the grid is periodic. */
#include "traces/patterns/pattern_halo.h"

static const PatternStep steps[] = {
  { { -1, 0, 0 } },
  { { 1, 0, 0 } },
  { { 0, -1, 0 } },
  { { 0, 1, 0 } },
};

static gpointer
open_pattern (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  return pattern_halo_open (values, steps, G_N_ELEMENTS (steps), 2, n_ranks, error);
}

const TracePattern trace_pattern_halo2d = {
  .name = "halo2d",
  .summary = "exchange with 4 neighbours in a 2D grid (SC13, 4.2.1)",
  .parameters = pattern_halo_parameters,
  .open = open_pattern,
  .close = pattern_halo_close,
  .batch = pattern_halo_batch,
};
