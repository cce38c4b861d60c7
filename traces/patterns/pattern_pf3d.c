/* pattern_pf3d.c - pF3D: Fourier transforms in planes, advection, hydrodynamics.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Jain et al., SC13, section 7: a 3D grid of 16 x 8 x 128 processes; in every
 * step Fourier transforms of the XY planes, along X and along Y, by all-to-alls;
 * advection, which exchanges planes with the neighbours in Z; hydrodynamics,
 * which exchanges with the six nearest neighbours.
 *
 * Sizes and order are those of LLNL's benchmark of the same communication,
 * PF3DCOMM (commit d91435d, g3transpose.c).  A transform transposes from
 * blocks to rows and back, along X, then to columns and back, along Y, with
 * one all-to-all for each of a rank's nz planes.  Advection sends three
 * planes of complex numbers up in Z, then two down.  Hydrodynamics sends one
 * layer of real numbers to both sides in Z, in Y and in X.  The grid is open
 * at its edges.  X runs fastest among the ranks (grid.h: MP_X is 2).
 *
 * Ours: that hydrodynamics posts its messages without blocking, while PF3DCOMM
 * sends and receives one after the other; the zones of a rank, an eighth of
 * PF3DCOMM's 1024 x 768 x 20 in X and in Y; one step of all three phases, of
 * which the program does not do the same number. */
#include "traces/patterns/pattern_halo.h"

#include "traces/patterns/pattern_parameters.h"

typedef struct {
  PatternGrid grid; /* z, y, x */
  uint64_t nx, ny, nz;
  uint64_t complex_bytes, real_bytes, planes, iterations;
  int64_t compute_ps;
} State;

enum { RANKS, ITERATIONS, COMPUTE, GRID, ZONES, COMPLEX, REAL, PLANES, PERIODIC };
enum { Z, Y, X };
enum { COMM_X = TRACE_BATCH_FIRST_COMM, COMM_Y };
enum { TAG_UP, TAG_DOWN };

static const TraceParameter parameters[] = {
  [RANKS] = PATTERN_RANKS (""),
  [ITERATIONS] = { "iterations", TRACE_PARAMETER_INTEGER, "10", 0, "steps of all three phases" },
  [COMPUTE] = PATTERN_COMPUTE,
  [GRID] = PATTERN_GRID ("", "ranks in x, y and z, x runs fastest (default: 16x8 and the rest)"),
  [ZONES] = { "zones", TRACE_PARAMETER_GRID, "128x96x20", 1, "zones of each rank in x, y and z" },
  [COMPLEX] = { "complex", TRACE_PARAMETER_INTEGER, "8", 1,
                "bytes of a complex number: light in a zone, up to 16" },
  [REAL] = { "real", TRACE_PARAMETER_INTEGER, "4", 1,
             "bytes of a real number: matter in a zone, up to 16" },
  [PLANES] = { "planes", TRACE_PARAMETER_INTEGER, "3", 1,
               "planes that advection sends up; one less goes down; up to 1024" },
  [PERIODIC] = PATTERN_PERIODIC ("no"),
  PATTERN_END,
};

static gboolean
make_grid (TraceParameterValue *values, GError **error)
{
  int64_t *grid = values[GRID].grid, n_ranks = values[RANKS].integer;

  if (grid[0] != 0)
    return TRUE;
  if (n_ranks % (16 * 8) != 0) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                 "ranks: %" G_GINT64_FORMAT " is not a multiple of 16 x 8; give a grid too",
                 n_ranks);
    return FALSE;
  }
  grid[0] = 16;
  grid[1] = 8;
  grid[2] = n_ranks == 0 ? 128 : n_ranks / (16 * 8);
  return TRUE;
}

/* Transposes cut a rank's rows in as many parts as there are ranks along X,
 * and its columns in as many as along Y. */
static gboolean
check_zones (const TraceParameterValue *values, GError **error)
{
  const int64_t *grid = values[GRID].grid, *zones = values[ZONES].grid;

  if (!pattern_grid_check ("zones", zones, 3, error))
    return FALSE;
  if (zones[1] % grid[0] != 0 || zones[0] % grid[1] != 0) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                 "zones: %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT " cannot be transposed: y must be "
                 "a multiple of the %" G_GINT64_FORMAT " ranks along x, x one of the "
                 "%" G_GINT64_FORMAT " along y",
                 zones[0], zones[1], grid[0], grid[1]);
    return FALSE;
  }
  for (guint d = 0; d < 3; d++)
    if (!pattern_check_most ("zones", zones[d], 65536, error))
      return FALSE;
  return pattern_check_most ("complex", values[COMPLEX].integer, 16, error) &&
         pattern_check_most ("real", values[REAL].integer, 16, error) &&
         pattern_check_most ("planes", values[PLANES].integer, 1024, error);
}

static gpointer
open_pattern (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  const int64_t *grid = values[GRID].grid, *zones = values[ZONES].grid;
  State *state;

  if (!make_grid (values, error) ||
      !pattern_grid_resolve (&values[RANKS], &values[GRID], 3, error) ||
      !check_zones (values, error))
    return NULL;
  state = g_new (State, 1);
  *state = (State){
    .grid = { { (int32_t) grid[2], (int32_t) grid[1], (int32_t) grid[0] },
              3,
              *values[PERIODIC].word == 'y' },
    .nx = (uint64_t) zones[0],
    .ny = (uint64_t) zones[1],
    .nz = (uint64_t) zones[2],
    .complex_bytes = (uint64_t) values[COMPLEX].integer,
    .real_bytes = (uint64_t) values[REAL].integer,
    .planes = (uint64_t) values[PLANES].integer,
    .iterations = (uint64_t) values[ITERATIONS].integer,
    .compute_ps = values[COMPUTE].integer,
  };
  *n_ranks = (uint32_t) values[RANKS].integer;
  return state;
}

static void
make_communicators (const State *state, uint32_t rank, TraceBatch *batch)
{
  const int32_t *dims = state->grid.dims;
  int32_t place[3];

  pattern_grid_place (&state->grid, rank, place);
  trace_batch_split (batch, TRACE_COMM_WORLD, place[Z] * dims[Y] + place[Y], place[X], COMM_X);
  trace_batch_split (batch, TRACE_COMM_WORLD, place[Z] * dims[X] + place[X], place[Y], COMM_Y);
}

/* One transpose of all planes. */
static void
transpose (const State *state, guint dimension, TraceBatch *batch)
{
  uint64_t n_parts = (uint64_t) state->grid.dims[dimension];
  uint64_t bytes = state->complex_bytes * state->nx * state->ny / n_parts;

  for (uint64_t plane = 0; plane < state->nz; plane++)
    trace_batch_alltoall (batch, dimension == X ? COMM_X : COMM_Y, bytes);
}

/* Sends planes one way along Z, and receives those that come. */
static void
advect (const State *state, const int32_t place[3], int step, uint64_t n_planes, TraceBatch *batch)
{
  int32_t to = pattern_grid_neighbour (&state->grid, place, (int[3]){ step, 0, 0 });
  int32_t from = pattern_grid_neighbour (&state->grid, place, (int[3]){ -step, 0, 0 });
  int32_t tag = step > 0 ? TAG_UP : TAG_DOWN;
  uint64_t bytes = n_planes * state->complex_bytes * state->nx * state->ny;

  trace_batch_isend (batch, to, tag, bytes, TRACE_BATCH_FIRST_REQUEST);
  trace_batch_recv (batch, from, tag, bytes);
  trace_batch_wait (batch, TRACE_BATCH_FIRST_REQUEST, to >= 0);
}

static void
exchange_layers (const State *state, uint32_t rank, TraceBatch *batch)
{
  static const PatternStep steps[3][2] = {
    [Z] = { { { 1, 0, 0 } }, { { -1, 0, 0 } } },
    [Y] = { { { 0, 1, 0 } }, { { 0, -1, 0 } } },
    [X] = { { { 0, 0, 1 } }, { { 0, 0, -1 } } },
  };
  const uint64_t zones[3] = {
    [Z] = state->nx * state->ny,
    [Y] = state->nx * state->nz,
    [X] = state->ny * state->nz,
  };

  for (guint d = 0; d < 3; d++)
    pattern_halo_exchange (batch, &state->grid, rank, steps[d], 2, state->real_bytes * zones[d]);
}

static void
advect_both (const State *state, uint32_t rank, TraceBatch *batch)
{
  int32_t place[3];

  pattern_grid_place (&state->grid, rank, place);
  advect (state, place, 1, state->planes, batch);
  advect (state, place, -1, state->planes - 1, batch);
}

static gboolean
fill_batch (gconstpointer data, uint32_t rank, uint64_t index, TraceBatch *batch)
{
  enum { TO_ROWS, FROM_ROWS, TO_COLUMNS, FROM_COLUMNS, ADVECTION, HYDRODYNAMICS, N_PHASES };
  const State *state = data;

  if (index > state->iterations * N_PHASES)
    return FALSE;
  if (index == 0) {
    make_communicators (state, rank, batch);
    return TRUE;
  }
  switch ((index - 1) % N_PHASES) {
  case TO_ROWS: trace_batch_compute (batch, state->compute_ps); G_GNUC_FALLTHROUGH;
  case FROM_ROWS: transpose (state, X, batch); break;
  case TO_COLUMNS:
  case FROM_COLUMNS: transpose (state, Y, batch); break;
  case ADVECTION: advect_both (state, rank, batch); break;
  case HYDRODYNAMICS: exchange_layers (state, rank, batch); break;
  }
  return TRUE;
}

const TracePattern trace_pattern_pf3d = {
  .name = "pf3d",
  .summary = "pF3D: transforms in XY planes, advection along Z, hydrodynamics (SC13, 7)",
  .parameters = parameters,
  .open = open_pattern,
  .close = g_free,
  .batch = fill_batch,
};
