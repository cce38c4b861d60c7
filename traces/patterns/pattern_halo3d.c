/* pattern_halo3d.c - the 15-point exchange in a three-dimensional grid.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Jain et al., SC13, section 4.2.2: every rank of a 3D grid communicates with
 * fourteen neighbours, six over the faces and eight over the corners of its
 * box, in each of 100 iterations.  As all have fourteen, the grid is
 * periodic.  The messages have the same size (section 5.1). */
#include "traces/patterns/pattern_halo.h"

static const PatternStep steps[] = {
  { { -1, 0, 0 } },  { { 1, 0, 0 } },    { { 0, -1, 0 } },  { { 0, 1, 0 } },   { { 0, 0, -1 } },
  { { 0, 0, 1 } },   { { -1, -1, -1 } }, { { -1, -1, 1 } }, { { -1, 1, -1 } }, { { -1, 1, 1 } },
  { { 1, -1, -1 } }, { { 1, -1, 1 } },   { { 1, 1, -1 } },  { { 1, 1, 1 } },
};

static gpointer
open_pattern (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  return pattern_halo_open (values, steps, G_N_ELEMENTS (steps), 3, n_ranks, error);
}

const TracePattern trace_pattern_halo3d = {
  .name = "halo3d",
  .summary = "exchange with 14 neighbours, faces and corners, in a 3D grid (SC13, 4.2.2)",
  .parameters = pattern_halo_parameters,
  .open = open_pattern,
  .close = pattern_halo_close,
  .batch = pattern_halo_batch,
};
