/* pattern_alltoalls.c - patterns of all-to-alls, alone and in applications (EVH1, pF3D).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/patterns/pattern_ops.h"
#include "traces/patterns/pattern_grid.h"
#include "traces/patterns/pattern_parameters.h"

/* --- Alltoall: MPI_Alltoall of all ranks --- */

static const TraceParameter alltoall_parameters[] = {
  PATTERN_COMMON (NULL, "1K", "bytes from each rank to each other", "10"),
  PATTERN_END,
};

static gpointer
alltoall_open (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  PatternCommon *common = g_new (PatternCommon, 1);

  (void) error;
  *common = pattern_common (values);
  *n_ranks = common->n_ranks;
  return common;
}

static gboolean
alltoall_fill (gconstpointer data, uint32_t rank, uint64_t index, PatternOps *ops)
{
  const PatternCommon *common = data;

  (void) rank;
  if (index >= common->iterations)
    return FALSE;
  pattern_ops_compute (ops, common->compute_ps);
  pattern_ops_alltoall (ops, TRACE_COMM_WORLD, common->bytes);
  return TRUE;
}

const TracePattern trace_pattern_alltoall = {
  .name = "alltoall",
  .summary = "MPI_Alltoall of all ranks",
  .parameters = alltoall_parameters,
  .open = alltoall_open,
  .close = g_free,
  .fill = alltoall_fill,
};

/* --- All-to-alls at the same time within sub-communicators --- */

/* Jain et al., SC13, section 4.2.3: ranks are in a 3D grid, along one
 * dimension of which there are sub-communicators of 64 ranks; in each of 50
 * iterations every rank exchanges data with all others of its own.  The paper
 * does not give the other two dimensions, nor which one is divided: x, the
 * slowest, and others that are as even as possible are our choice. */

typedef struct {
  PatternCommon common;
  PatternGrid grid;
  guint dimension;
  int32_t size; /* of a sub-communicator */
} Suba2aState;

enum { SUBA2A_RANKS = PATTERN_AT_RANKS, SUBA2A_GRID = PATTERN_N_COMMON, SIZE, DIMENSION };

static const TraceParameter suba2a_parameters[] = {
  PATTERN_COMMON ("", "16K", "bytes from a rank to each other of its sub-communicator", "50"),
  [SUBA2A_GRID] = PATTERN_GRID ("", "ranks in x, y and z, z runs fastest (default: `size` in the "
                                    "dimension, even in the others)"),
  [SIZE] = { "size", TRACE_PARAMETER_INTEGER, "64", 1, "ranks of a sub-communicator" },
  [DIMENSION] = { "dimension", TRACE_PARAMETER_WORD, "x", 0,
                  "x|y|z: along which dimension sub-communicators are" },
  PATTERN_END,
};

static gpointer
suba2a_open (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  guint dimension = (guint) (*values[DIMENSION].word - 'x');
  int64_t size = values[SIZE].integer, ranks = values[SUBA2A_RANKS].integer;
  int64_t *grid = values[SUBA2A_GRID].grid;
  Suba2aState *state;

  if (grid[0] == 0 && ranks != 0) {
    int64_t others[2];

    if (ranks % size != 0) {
      g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                   "ranks: %" G_GINT64_FORMAT " is not a multiple of size=%" G_GINT64_FORMAT, ranks,
                   size);
      return NULL;
    }
    pattern_grid_balance (ranks / size, 2, others);
    for (guint d = 0, other = 0; d < 3; d++)
      grid[d] = d == dimension ? size : others[other++];
  }
  if (!pattern_grid_resolve (&values[SUBA2A_RANKS], &values[SUBA2A_GRID], 3, error))
    return NULL;
  if (grid[dimension] % size != 0) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                 "grid: there are %" G_GINT64_FORMAT " ranks along %s, not a multiple of "
                 "size=%" G_GINT64_FORMAT,
                 grid[dimension], values[DIMENSION].word, size);
    return NULL;
  }
  state = g_new (Suba2aState, 1);
  *state = (Suba2aState){
    .common = pattern_common (values),
    .grid = pattern_grid_new (&values[SUBA2A_GRID], 3, TRUE),
    .dimension = dimension,
    .size = (int32_t) size,
  };
  *n_ranks = state->common.n_ranks;
  return state;
}

static gboolean
suba2a_fill (gconstpointer data, uint32_t rank, uint64_t index, PatternOps *ops)
{
  const Suba2aState *state = data;

  if (index > state->common.iterations)
    return FALSE;
  if (index == 0) {
    /* The colour numbers the places in the other dimensions, and the blocks of
     * `size` ranks along this one. */
    int32_t place[3], color;

    pattern_grid_place (&state->grid, rank, place);
    color = place[state->dimension] / state->size;
    for (guint d = 0; d < 3; d++)
      if (d != state->dimension)
        color = color * state->grid.dims[d] + place[d];
    pattern_ops_split (ops, TRACE_COMM_WORLD, color, place[state->dimension], PATTERN_FIRST_COMM);
    return TRUE;
  }
  pattern_ops_compute (ops, state->common.compute_ps);
  pattern_ops_alltoall (ops, PATTERN_FIRST_COMM, state->common.bytes);
  return TRUE;
}

const TracePattern trace_pattern_suba2a = {
  .name = "suba2a",
  .summary =
      "all-to-alls in sub-communicators of 64 along one dimension of a 3D grid (SC13, 4.2.3)",
  .parameters = suba2a_parameters,
  .open = suba2a_open,
  .close = g_free,
  .fill = suba2a_fill,
};

/* --- EVH1: hydrodynamics in two dimensions by sweeps in x and in y --- */

/* Ranks have slabs.  A cycle is a sweep along x, an all-to-all that transposes
 * the slabs, a sweep along y, an all-to-all that transposes them back, and the
 * choice of the next time step.  The bytes from one rank to another are those
 * that VH-1, from which EVH1 was made, packs in sweepx1 for sweepy: six
 * variables (density, pressure, three velocities, flattening) of its nx/ranks
 * columns of the other's ny/ranks rows.  The time step is the maximum of one
 * number over all ranks (dtcon).  The model error correction paper on EVH1
 * gives none of these sizes. */

typedef struct {
  uint64_t bytes, word_bytes, iterations;
  int64_t compute_ps;
} Evh1State;

enum { EVH1_RANKS, EVH1_ITERATIONS, EVH1_COMPUTE, EVH1_ZONES, VARIABLES, WORD };

static const TraceParameter evh1_parameters[] = {
  [EVH1_RANKS] = PATTERN_RANKS (NULL),
  [EVH1_ITERATIONS] = { "iterations", TRACE_PARAMETER_INTEGER, "10", 0, "cycles of two sweeps" },
  [EVH1_COMPUTE] = PATTERN_COMPUTE,
  [EVH1_ZONES] = { "zones", TRACE_PARAMETER_GRID, "1024x1024", 1,
                   "zones in x and y of all ranks together, multiples of ranks" },
  [VARIABLES] = { "variables", TRACE_PARAMETER_INTEGER, "6", 1, "numbers of a zone, up to 1024" },
  [WORD] = { "word", TRACE_PARAMETER_INTEGER, "8", 1, "bytes of a number, up to 16" },
  PATTERN_END,
};

static gpointer
evh1_open (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  const int64_t *zones = values[EVH1_ZONES].grid;
  int64_t ranks = values[EVH1_RANKS].integer;
  Evh1State *state;

  if (!pattern_grid_check ("zones", zones, 2, error))
    return NULL;
  for (guint d = 0; d < 2; d++)
    if (zones[d] % ranks != 0) {
      g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                   "zones: %" G_GINT64_FORMAT " is not a multiple of the %" G_GINT64_FORMAT
                   " ranks",
                   zones[d], ranks);
      return NULL;
    }
  if (!pattern_check_most ("variables", values[VARIABLES].integer, 1024, error) ||
      !pattern_check_most ("word", values[WORD].integer, 16, error))
    return NULL;
  *n_ranks = (uint32_t) ranks;
  state = g_new (Evh1State, 1);
  *state = (Evh1State){
    .bytes = (uint64_t) (values[VARIABLES].integer * values[WORD].integer * (zones[0] / *n_ranks) *
                         (zones[1] / *n_ranks)),
    .word_bytes = (uint64_t) values[WORD].integer,
    .iterations = (uint64_t) values[EVH1_ITERATIONS].integer,
    .compute_ps = values[EVH1_COMPUTE].integer,
  };
  return state;
}

static gboolean
evh1_fill (gconstpointer data, uint32_t rank, uint64_t index, PatternOps *ops)
{
  const Evh1State *state = data;

  (void) rank;
  if (index >= state->iterations)
    return FALSE;
  pattern_ops_compute (ops, state->compute_ps / 2);
  pattern_ops_alltoall (ops, TRACE_COMM_WORLD, state->bytes);
  pattern_ops_compute (ops, state->compute_ps - state->compute_ps / 2);
  pattern_ops_alltoall (ops, TRACE_COMM_WORLD, state->bytes);
  pattern_ops_add (ops, TRACE_OP_ALLREDUCE, "MPI_Allreduce")->bytes = state->word_bytes;
  return TRUE;
}

const TracePattern trace_pattern_evh1 = {
  .name = "evh1",
  .summary = "EVH1: sweeps in two dimensions, transposed by all-to-alls",
  .parameters = evh1_parameters,
  .open = evh1_open,
  .close = g_free,
  .fill = evh1_fill,
};

/* --- PF3D: Fourier transforms in planes, advection, hydrodynamics --- */

/* Jain et al., SC13, section 7: a 3D grid of 16 x 8 x 128 processes; in every
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
 * Our own choices: hydrodynamics posts its messages without blocking, while
 * PF3DCOMM sends and receives one after the other; the zones of a rank are an
 * eighth of PF3DCOMM's 1024 x 768 x 20 in X and in Y; a step has all three
 * phases, while the program does not do the same number of each. */

typedef struct {
  PatternGrid grid; /* z, y, x */
  uint64_t nx, ny, nz;
  uint64_t complex_bytes, real_bytes, planes, iterations;
  int64_t compute_ps;
} Pf3dState;

enum {
  PF3D_RANKS,
  PF3D_ITERATIONS,
  PF3D_COMPUTE,
  PF3D_GRID,
  PF3D_ZONES,
  COMPLEX,
  REAL,
  PLANES,
  PERIODIC
};
enum { Z, Y, X };
enum { COMM_X = PATTERN_FIRST_COMM, COMM_Y };
enum { TAG_UP, TAG_DOWN };

static const TraceParameter pf3d_parameters[] = {
  [PF3D_RANKS] = PATTERN_RANKS (""),
  [PF3D_ITERATIONS] = { "iterations", TRACE_PARAMETER_INTEGER, "10", 0,
                        "steps of all three phases" },
  [PF3D_COMPUTE] = PATTERN_COMPUTE,
  [PF3D_GRID] =
      PATTERN_GRID ("", "ranks in x, y and z, x runs fastest (default: 16x8 and the rest)"),
  [PF3D_ZONES] = { "zones", TRACE_PARAMETER_GRID, "128x96x20", 1,
                   "zones of each rank in x, y and z" },
  [COMPLEX] = { "complex", TRACE_PARAMETER_INTEGER, "8", 1,
                "bytes of a complex number: light in a zone, up to 16" },
  [REAL] = { "real", TRACE_PARAMETER_INTEGER, "4", 1,
             "bytes of a real number: matter in a zone, up to 16" },
  [PLANES] = { "planes", TRACE_PARAMETER_INTEGER, "3", 1,
               "planes that advection sends up; one less goes down; up to 1024" },
  [PERIODIC] = PATTERN_PERIODIC ("no"),
  PATTERN_END,
};

static gpointer
pf3d_open (TraceParameterValue *values, uint32_t *n_ranks, GError **error)
{
  const int64_t *zones = values[PF3D_ZONES].grid;
  int64_t *grid = values[PF3D_GRID].grid, ranks = values[PF3D_RANKS].integer;
  Pf3dState *state;

  if (grid[0] == 0) {
    if (ranks % (16 * 8) != 0) {
      g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                   "ranks: %" G_GINT64_FORMAT " is not a multiple of 16 x 8; give a grid too",
                   ranks);
      return NULL;
    }
    grid[0] = 16;
    grid[1] = 8;
    grid[2] = ranks == 0 ? 128 : ranks / (16 * 8);
  }
  if (!pattern_grid_resolve (&values[PF3D_RANKS], &values[PF3D_GRID], 3, error) ||
      !pattern_grid_check ("zones", zones, 3, error))
    return NULL;
  /* Transposes cut a rank's rows in as many parts as there are ranks along X,
   * and its columns in as many as along Y. */
  if (zones[1] % grid[0] != 0 || zones[0] % grid[1] != 0) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE,
                 "zones: %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT " cannot be transposed: y must be "
                 "a multiple of the %" G_GINT64_FORMAT " ranks along x, x one of the "
                 "%" G_GINT64_FORMAT " along y",
                 zones[0], zones[1], grid[0], grid[1]);
    return NULL;
  }
  for (guint d = 0; d < 3; d++)
    if (!pattern_check_most ("zones", zones[d], 65536, error))
      return NULL;
  if (!pattern_check_most ("complex", values[COMPLEX].integer, 16, error) ||
      !pattern_check_most ("real", values[REAL].integer, 16, error) ||
      !pattern_check_most ("planes", values[PLANES].integer, 1024, error))
    return NULL;
  state = g_new (Pf3dState, 1);
  *state = (Pf3dState){
    .grid = { { (int32_t) grid[2], (int32_t) grid[1], (int32_t) grid[0] },
              3,
              *values[PERIODIC].word == 'y' },
    .nx = (uint64_t) zones[0],
    .ny = (uint64_t) zones[1],
    .nz = (uint64_t) zones[2],
    .complex_bytes = (uint64_t) values[COMPLEX].integer,
    .real_bytes = (uint64_t) values[REAL].integer,
    .planes = (uint64_t) values[PLANES].integer,
    .iterations = (uint64_t) values[PF3D_ITERATIONS].integer,
    .compute_ps = values[PF3D_COMPUTE].integer,
  };
  *n_ranks = (uint32_t) values[PF3D_RANKS].integer;
  return state;
}

/* One transpose of all planes. */
static void
transpose (const Pf3dState *state, guint dimension, PatternOps *ops)
{
  uint64_t n_parts = (uint64_t) state->grid.dims[dimension];
  uint64_t bytes = state->complex_bytes * state->nx * state->ny / n_parts;

  for (uint64_t plane = 0; plane < state->nz; plane++)
    pattern_ops_alltoall (ops, dimension == X ? COMM_X : COMM_Y, bytes);
}

/* Sends planes one way along Z, and receives as many from the other side. */
static void
advect (const Pf3dState *state, const int32_t place[3], int step, uint64_t n_planes,
        PatternOps *ops)
{
  int32_t to = pattern_grid_neighbour (&state->grid, place, (int[3]){ step, 0, 0 });
  int32_t from = pattern_grid_neighbour (&state->grid, place, (int[3]){ -step, 0, 0 });
  int32_t tag = step > 0 ? TAG_UP : TAG_DOWN;
  uint64_t bytes = n_planes * state->complex_bytes * state->nx * state->ny;

  pattern_ops_isend (ops, to, tag, bytes, PATTERN_FIRST_REQUEST);
  pattern_ops_recv (ops, from, tag, bytes);
  pattern_ops_wait (ops, PATTERN_FIRST_REQUEST, to >= 0);
}

static gboolean
pf3d_fill (gconstpointer data, uint32_t rank, uint64_t index, PatternOps *ops)
{
  enum { TO_ROWS, FROM_ROWS, TO_COLUMNS, FROM_COLUMNS, ADVECTION, HYDRODYNAMICS, N_PHASES };

  const Pf3dState *state = data;

  if (index > state->iterations * N_PHASES)
    return FALSE;
  if (index == 0) {
    const int32_t *dims = state->grid.dims;
    int32_t place[3];

    pattern_grid_place (&state->grid, rank, place);
    pattern_ops_split (ops, TRACE_COMM_WORLD, place[Z] * dims[Y] + place[Y], place[X], COMM_X);
    pattern_ops_split (ops, TRACE_COMM_WORLD, place[Z] * dims[X] + place[X], place[Y], COMM_Y);
    return TRUE;
  }
  switch ((index - 1) % N_PHASES) {
  case TO_ROWS: pattern_ops_compute (ops, state->compute_ps); G_GNUC_FALLTHROUGH;
  case FROM_ROWS: transpose (state, X, ops); break;
  case TO_COLUMNS:
  case FROM_COLUMNS: transpose (state, Y, ops); break;
  case ADVECTION: {
    int32_t place[3];

    pattern_grid_place (&state->grid, rank, place);
    advect (state, place, 1, state->planes, ops);
    advect (state, place, -1, state->planes - 1, ops);
  } break;
  case HYDRODYNAMICS: {
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
      pattern_grid_exchange (ops, &state->grid, rank, steps[d], 2, state->real_bytes * zones[d]);
  } break;
  }
  return TRUE;
}

const TracePattern trace_pattern_pf3d = {
  .name = "pf3d",
  .summary = "pF3D: transforms in XY planes, advection along Z, hydrodynamics (SC13, 7)",
  .parameters = pf3d_parameters,
  .open = pf3d_open,
  .close = g_free,
  .fill = pf3d_fill,
};
