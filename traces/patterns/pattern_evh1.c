/* pattern_evh1.c - EVH1: hydrodynamics in two dimensions by sweeps in x and in y.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ranks have slabs.  A cycle is a sweep along x, an all-to-all that transposes
 * the slabs, a sweep along y, an all-to-all that transposes them back, and the
 * choice of the next time step.  What goes from one rank to another is what
 * VH-1, from which EVH1 was made, packs in sweepx1 for sweepy: six variables
 * (density, pressure, three velocities, flattening) of its nx/ranks columns of
 * the other's ny/ranks rows.  The time step is the maximum of one number over
 * all ranks (dtcon).  The model error correction paper on EVH1 tells none of
 * these sizes. */
#include "traces/patterns/batch.h"
#include "traces/patterns/pattern_grid.h"
#include "traces/patterns/pattern_parameters.h"

typedef struct {
  uint64_t bytes, word_bytes, iterations;
  int64_t compute_ps;
} State;

enum { RANKS, ITERATIONS, COMPUTE, ZONES, VARIABLES, WORD };

static const TraceParameter parameters[] = {
  [RANKS] = PATTERN_RANKS (NULL),
  [ITERATIONS] = { "iterations", TRACE_PARAMETER_INTEGER, "10", 0, "cycles of two sweeps" },
  [COMPUTE] = PATTERN_COMPUTE,
  [ZONES] = { "zones", TRACE_PARAMETER_GRID, "1024x1024", 1,
              "zones in x and y of all ranks together, multiples of ranks" },
  [VARIABLES] = { "variables", TRACE_PARAMETER_INTEGER, "6", 1, "numbers of a zone, up to 1024" },
  [WORD] = { "word", TRACE_PARAMETER_INTEGER, "8", 1, "bytes of a number, up to 16" },
  PATTERN_END,
};

static gboolean
check_zones (const TraceParameterValue *values, GError **error)
{
  int64_t n_ranks = values[RANKS].integer;

  if (!pattern_grid_check ("zones", values[ZONES].grid, 2, error))
    return FALSE;
  for (guint d = 0; d < 2; d++)
    if (values[ZONES].grid[d] % n_ranks != 0) {
      g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                   "zones: %" G_GINT64_FORMAT " is not a multiple of the %" G_GINT64_FORMAT
                   " ranks",
                   values[ZONES].grid[d], n_ranks);
      return FALSE;
    }
  return pattern_check_most ("variables", values[VARIABLES].integer, 1024, error) &&
         pattern_check_most ("word", values[WORD].integer, 16, error);
}

static gpointer
open_pattern (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  const int64_t *zones = values[ZONES].grid;
  State *state;

  if (!check_zones (values, error))
    return NULL;
  *n_ranks = (uint32_t) values[RANKS].integer;
  state = g_new (State, 1);
  *state = (State){
    .bytes = (uint64_t) (values[VARIABLES].integer * values[WORD].integer * (zones[0] / *n_ranks) *
                         (zones[1] / *n_ranks)),
    .word_bytes = (uint64_t) values[WORD].integer,
    .iterations = (uint64_t) values[ITERATIONS].integer,
    .compute_ps = values[COMPUTE].integer,
  };
  return state;
}

static gboolean
fill_batch (gconstpointer data, uint32_t rank, uint64_t index, TraceBatch *batch)
{
  const State *state = data;

  (void) rank;
  if (index >= state->iterations)
    return FALSE;
  trace_batch_compute (batch, state->compute_ps / 2);
  trace_batch_alltoall (batch, TRACE_COMM_WORLD, state->bytes);
  trace_batch_compute (batch, state->compute_ps - state->compute_ps / 2);
  trace_batch_alltoall (batch, TRACE_COMM_WORLD, state->bytes);
  trace_batch_add (batch, TRACE_OP_ALLREDUCE, "MPI_Allreduce")->bytes = state->word_bytes;
  return TRUE;
}

const TracePattern trace_pattern_evh1 = {
  .name = "evh1",
  .summary = "EVH1: sweeps in two dimensions, transposed by all-to-alls",
  .parameters = parameters,
  .open = open_pattern,
  .close = g_free,
  .batch = fill_batch,
};
