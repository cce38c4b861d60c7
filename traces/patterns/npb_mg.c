/* npb_mg.c - MG: V-cycles of a multigrid solver on a periodic grid.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * 2^k ranks are 2^floor(k/3) along x, half of what is left along y, the rest
 * along z.  A level has half the points of the next along each axis; where
 * that leaves less than a point for every rank, every second rank drops out,
 * and those that stay have their neighbours twice as far away.  Ghost points
 * are exchanged axis by axis after every operator.  On the way up, ranks
 * that stayed hand points to those that come back.  The algorithm is in
 * report RNR-94-007. */
#include "traces/patterns/npb.h"

#include <math.h>

#define DOUBLE_BYTES 8
#define GHOSTS       2 /* along an axis, one on each side */
#define MAX_LEVELS   31

/* One rank on one level. */
typedef struct {
  uint64_t n[3]; /* points along each axis, ghosts included */
  int32_t low[3], high[3];
  gboolean idle;              /* has no point */
  gboolean gives[3], gets[3]; /* between this level and the one below */
} Level;

typedef struct {
  guint n_levels;
  Level levels[MAX_LEVELS + 1]; /* from 1, the coarsest */
  uint64_t buffer_bytes;        /* what every receive has room for */
} Grid;

static guint
log2_of (uint32_t n)
{
  return (guint) g_bit_storage (n) - 1;
}

static void
count_ranks (uint32_t n_ranks, uint32_t ranks[3])
{
  guint log_ranks = log2_of (n_ranks), x = log_ranks / 3, y = (log_ranks - x) / 2;

  ranks[0] = 1u << x;
  ranks[1] = 1u << y;
  ranks[2] = 1u << (log_ranks - x - y);
}

/* Points of a level with n along an axis that the rank at `at` of it has. */
static uint64_t
points_at (uint64_t n, uint32_t n_ranks, uint64_t at)
{
  return (at + 1) * n / n_ranks - at * n / n_ranks;
}

/* The partner `step` ranks away, where a step doubles with each level on
 * which there are less points than ranks; both have a point every now and
 * then, and hand it over. */
static void
place_axis (Grid *grid, guint axis, const uint32_t ranks[3], const uint32_t at[3])
{
  uint32_t unit = axis == 0 ? 1 : axis == 1 ? ranks[0] : ranks[0] * ranks[1];
  uint32_t me = at[0] + ranks[0] * (at[1] + ranks[1] * at[2]);
  uint32_t base = me - at[axis] * unit, n_ranks = ranks[axis], distance = 1;

  for (guint number = grid->n_levels; number > 0; number--) {
    Level *level = &grid->levels[number];
    uint64_t n = (uint64_t) 1 << number;
    uint64_t mine = points_at (n, n_ranks, at[axis]);
    uint64_t theirs = points_at (n, n_ranks, at[axis] + distance);

    level->n[axis] = mine + GHOSTS;
    level->idle = level->idle || mine == 0;
    if (number < grid->n_levels) {
      level[1].gives[axis] = theirs == 0 && mine == 1;
      level[1].gets[axis] = theirs == 1 && mine == 0;
    }
    if (mine == 0 || theirs == 0)
      distance *= 2;
    level->high[axis] = (int32_t) (base + (at[axis] + distance) % n_ranks * unit);
    level->low[axis] =
        (int32_t) (base + (at[axis] + n_ranks - distance % n_ranks) % n_ranks * unit);
  }
}

static Grid
grid_of (const Npb *npb, uint32_t rank)
{
  Grid grid = { .n_levels = log2_of ((uint32_t) npb->problem.n[0]) };
  uint32_t ranks[3], at[3];
  uint64_t side;

  count_ranks (npb->n_ranks, ranks);
  at[0] = rank % ranks[0];
  at[1] = rank / ranks[0] % ranks[1];
  at[2] = rank / ranks[0] / ranks[1];
  for (guint axis = 0; axis < 3; axis++)
    place_axis (&grid, axis, ranks, at);
  side = (uint32_t) npb->problem.n[0] / ranks[0] + GHOSTS;
  grid.buffer_bytes = 2 * side * side * DOUBLE_BYTES;
  return grid;
}

static gboolean
prepare (Npb *npb, GError **error)
{
  uint32_t ranks[3];

  if (!npb_need_power_of_two (npb, error))
    return FALSE;
  count_ranks (npb->n_ranks, ranks);
  if (ranks[2] > (uint32_t) npb->problem.n[2])
    return npb_refuse (npb, error, "each of the %u ranks along z must have one of the %d points",
                       ranks[2], npb->problem.n[2]);
  return TRUE;
}

static int32_t
tag_of (guint axis, gboolean upwards)
{
  return (int32_t) (axis + 1) * 1000 + (upwards ? 300 : 100);
}

static void
post_receives (const Grid *grid, const Level *level, guint axis, TraceBatch *batch)
{
  trace_batch_irecv (batch, level->high[axis], tag_of (axis, FALSE), grid->buffer_bytes,
                     TRACE_BATCH_FIRST_REQUEST);
  trace_batch_irecv (batch, level->low[axis], tag_of (axis, TRUE), grid->buffer_bytes,
                     TRACE_BATCH_FIRST_REQUEST + 1);
}

static void
wait_for_both (TraceBatch *batch)
{
  trace_batch_wait (batch, TRACE_BATCH_FIRST_REQUEST, 1);
  trace_batch_wait (batch, TRACE_BATCH_FIRST_REQUEST + 1, 1);
}

/* The faces carry the ghosts of the axes that were exchanged before. */
static void
exchange (const Npb *npb, const Grid *grid, guint number, TraceBatch *batch)
{
  const Level *level = &grid->levels[number];
  const uint64_t n_values[3] = { (level->n[1] - GHOSTS) * (level->n[2] - GHOSTS),
                                 level->n[0] * (level->n[2] - GHOSTS), level->n[0] * level->n[1] };

  if (level->idle || npb->n_ranks == 1)
    return;
  for (guint axis = 0; axis < 3; axis++) {
    post_receives (grid, level, axis, batch);
    trace_batch_send (batch, level->high[axis], tag_of (axis, TRUE), n_values[axis] * DOUBLE_BYTES);
    trace_batch_send (batch, level->low[axis], tag_of (axis, FALSE), n_values[axis] * DOUBLE_BYTES);
    wait_for_both (batch);
  }
}

/* After interpolation: ranks that were idle on the level below get planes
 * from those that were not, two from below and one from above. */
static void
hand_over (const Npb *npb, const Grid *grid, guint number, TraceBatch *batch)
{
  const Level *level = &grid->levels[number];
  const uint64_t *n = level->n;
  const uint64_t n_values[3] = { n[1] * n[2], n[0] * n[2], n[0] * n[1] };

  for (guint axis = 0; axis < 3 && npb->n_ranks > 1; axis++) {
    if (level->gets[axis]) {
      post_receives (grid, level, axis, batch);
      wait_for_both (batch);
    }
    if (level->gives[axis]) {
      trace_batch_send (batch, level->high[axis], tag_of (axis, TRUE),
                        2 * n_values[axis] * DOUBLE_BYTES);
      trace_batch_send (batch, level->low[axis], tag_of (axis, FALSE),
                        n_values[axis] * DOUBLE_BYTES);
    }
  }
}

/* The work of an operator is said to go with the points of its level: in a
 * V-cycle and the residual after it, four operators work on every level but
 * the coarsest, which has one, and one more on the finest. */
static void
compute (const Npb *npb, const Grid *grid, guint number, TraceBatch *batch)
{
  const Level *level = &grid->levels[number];
  double n_points = 1, n_all = 2 + ldexp (1, 3 * (int) grid->n_levels);

  for (guint i = 2; i <= grid->n_levels; i++)
    n_all += 4 * ldexp (1, 3 * (int) i);
  for (guint axis = 0; axis < 3; axis++)
    n_points *= (double) (level->n[axis] - GHOSTS);
  npb_compute (npb, batch, n_points / n_all);
}

/* An operator on a level, and the exchange after it. */
static void
operate (const Npb *npb, const Grid *grid, guint number, TraceBatch *batch)
{
  compute (npb, grid, number, batch);
  exchange (npb, grid, number, batch);
}

/* Restriction all the way down, smoothing there; then, level by level,
 * interpolation, residual and smoothing.  At last the residual of the finest. */
static void
step (const Npb *npb, uint32_t rank, G_GNUC_UNUSED uint32_t number, TraceBatch *batch)
{
  Grid grid = grid_of (npb, rank);

  for (guint level = grid.n_levels; level > 1; level--) {
    compute (npb, &grid, level, batch);
    exchange (npb, &grid, level - 1, batch);
  }
  operate (npb, &grid, 1, batch);
  for (guint level = 2; level <= grid.n_levels; level++) {
    compute (npb, &grid, level, batch);
    hand_over (npb, &grid, level, batch);
    operate (npb, &grid, level, batch);
    operate (npb, &grid, level, batch);
  }
  operate (npb, &grid, grid.n_levels, batch);
}

/* The ten largest and the ten smallest of the random numbers are looked for
 * over all ranks: whose each is, and where. */
static void
make_charges (const Npb *npb, const Grid *grid, TraceBatch *batch)
{
  npb_barrier (batch, TRACE_COMM_WORLD);
  for (guint i = 0; i < 2 * 10; i++) {
    npb_allreduce (batch, TRACE_COMM_WORLD, DOUBLE_BYTES);
    npb_allreduce (batch, TRACE_COMM_WORLD, 4 * 4);
  }
  npb_barrier (batch, TRACE_COMM_WORLD);
  exchange (npb, grid, grid->n_levels, batch);
}

static void
norms (TraceBatch *batch)
{
  npb_allreduce (batch, TRACE_COMM_WORLD, DOUBLE_BYTES);
  npb_allreduce (batch, TRACE_COMM_WORLD, DOUBLE_BYTES);
}

static void
setup (G_GNUC_UNUSED const Npb *npb, G_GNUC_UNUSED uint32_t rank, TraceBatch *batch)
{
  static const uint64_t parameters_bytes[] = { 4, 4, 4, 4, 4, 32, 4 };

  npb_call (batch, "MPI_Comm_rank");
  npb_call (batch, "MPI_Comm_size");
  npb_barrier (batch, TRACE_COMM_WORLD);
  for (guint i = 0; i < G_N_ELEMENTS (parameters_bytes); i++)
    npb_bcast (batch, TRACE_COMM_WORLD, parameters_bytes[i]);
}

static void
warm_up (const Npb *npb, uint32_t rank, TraceBatch *batch)
{
  Grid grid = grid_of (npb, rank);

  make_charges (npb, &grid, batch);
  norms (batch);
  exchange (npb, &grid, grid.n_levels, batch);
  norms (batch);
  step (npb, rank, 0, batch);
  make_charges (npb, &grid, batch);
  npb_barrier (batch, TRACE_COMM_WORLD);
  exchange (npb, &grid, grid.n_levels, batch);
  norms (batch);
}

static void
end (G_GNUC_UNUSED const Npb *npb, G_GNUC_UNUSED uint32_t rank, TraceBatch *batch)
{
  norms (batch);
  npb_reduce (batch, TRACE_COMM_WORLD, DOUBLE_BYTES);
}

const NpbKernel npb_mg = { .prepare = prepare,
                           .release = npb_release_nothing,
                           .setup = setup,
                           .warm_up = warm_up,
                           .step = step,
                           .end = end };
