/* pattern_suba2a.c - all-to-alls at the same time within sub-communicators.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Jain et al., SC13, section 4.2.3: ranks are in a 3D grid, along one
 * dimension of which there are sub-communicators of 64 ranks; in each of 50
 * iterations every rank exchanges data with all others of its own.  The paper
 * does not tell the other two dimensions, nor which one is divided: x, the
 * slowest, and others that are as even as can be are our choice. */
#include "traces/patterns/batch.h"
#include "traces/patterns/pattern_grid.h"
#include "traces/patterns/pattern_parameters.h"

typedef struct {
  PatternCommon common;
  PatternGrid grid;
  guint dimension;
  int32_t size; /* of a sub-communicator */
} State;

enum { RANKS = PATTERN_AT_RANKS, GRID = PATTERN_N_COMMON, SIZE, DIMENSION };

static const TraceParameter parameters[] = {
  PATTERN_COMMON ("", "16K", "bytes from a rank to each other of its sub-communicator", "50"),
  [GRID] = PATTERN_GRID ("", "ranks in x, y and z, z runs fastest (default: `size` in the "
                             "dimension, even in the others)"),
  [SIZE] = { "size", TRACE_PARAMETER_INTEGER, "64", 1, "ranks of a sub-communicator" },
  [DIMENSION] = { "dimension", TRACE_PARAMETER_WORD, "x", 0,
                  "x|y|z: along which dimension sub-communicators are" },
  PATTERN_END,
};

/* A grid for those who gave none. */
static gboolean
make_grid (TraceParameterValue *values, guint dimension, GError **error)
{
  int64_t size = values[SIZE].integer, n_ranks = values[RANKS].integer, others[2];

  if (values[GRID].grid[0] != 0 || n_ranks == 0)
    return TRUE;
  if (n_ranks % size != 0) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                 "ranks: %" G_GINT64_FORMAT " is not a multiple of size=%" G_GINT64_FORMAT, n_ranks,
                 size);
    return FALSE;
  }
  pattern_grid_balance (n_ranks / size, 2, others);
  for (guint d = 0, other = 0; d < 3; d++)
    values[GRID].grid[d] = d == dimension ? size : others[other++];
  return TRUE;
}

static gpointer
open_pattern (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  guint dimension = (guint) (*values[DIMENSION].word - 'x');
  int64_t size = values[SIZE].integer;
  State *state;

  if (!make_grid (values, dimension, error) ||
      !pattern_grid_resolve (&values[RANKS], &values[GRID], 3, error))
    return NULL;
  if (values[GRID].grid[dimension] % size != 0) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                 "grid: there are %" G_GINT64_FORMAT " ranks along %s, no multiple of "
                 "size=%" G_GINT64_FORMAT,
                 values[GRID].grid[dimension], values[DIMENSION].word, size);
    return NULL;
  }
  state = g_new (State, 1);
  *state = (State){
    .common = pattern_common (values),
    .grid = pattern_grid_new (&values[GRID], 3, TRUE),
    .dimension = dimension,
    .size = (int32_t) size,
  };
  *n_ranks = state->common.n_ranks;
  return state;
}

/* The colour numbers the places where the dimension is left out, and in it
 * the blocks of `size` ranks. */
static void
make_communicator (const State *state, uint32_t rank, TraceBatch *batch)
{
  int32_t place[3], color;

  pattern_grid_place (&state->grid, rank, place);
  color = place[state->dimension] / state->size;
  for (guint d = 0; d < 3; d++)
    if (d != state->dimension)
      color = color * state->grid.dims[d] + place[d];
  trace_batch_split (batch, TRACE_COMM_WORLD, color, place[state->dimension],
                     TRACE_BATCH_FIRST_COMM);
}

static gboolean
fill_batch (gconstpointer data, uint32_t rank, uint64_t index, TraceBatch *batch)
{
  const State *state = data;

  if (index > state->common.iterations)
    return FALSE;
  if (index == 0) {
    make_communicator (state, rank, batch);
    return TRUE;
  }
  trace_batch_compute (batch, state->common.compute_ps);
  trace_batch_alltoall (batch, TRACE_BATCH_FIRST_COMM, state->common.bytes);
  return TRUE;
}

const TracePattern trace_pattern_suba2a = {
  .name = "suba2a",
  .summary =
      "all-to-alls in sub-communicators of 64 along one dimension of a 3D grid (SC13, 4.2.3)",
  .parameters = parameters,
  .open = open_pattern,
  .close = g_free,
  .batch = fill_batch,
};
