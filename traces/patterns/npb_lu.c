/* npb_lu.c - LU: symmetric successive over-relaxation, swept as a wavefront.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The ranks cut x and y: 2^k of them are 2^ceil(k/2) along x by 2^floor(k/2)
 * along y, and every rank has all of z.  A step sweeps the planes of z up from
 * the (0, 0) corner and down from the other, with a small message per plane
 * to each neighbour behind; then two layers of faces are exchanged for the
 * right-hand side.  M. Yarrow and R. Van der Wijngaart, report NAS-97-032,
 * describe the pipeline. */
#include "traces/patterns/npb.h"

#define DOUBLE_BYTES 8
#define VARIABLES    5
#define FACE_LAYERS  2
#define MIN_POINTS   4   /* of a rank along an axis, as the benchmark demands */
#define PHASES       3.0 /* two sweeps and the right-hand side, said to cost the same */

enum { TAG_TO_NORTH = 1, TAG_TO_SOUTH = 2, TAG_TO_WEST = 3, TAG_TO_EAST = 4 };

/* One rank's part of the grid.  North and south are along x, west and east along y. */
typedef struct {
  uint64_t nx, ny, nz;       /* points */
  uint64_t x_edges, y_edges; /* sides that are the grid's own boundary */
  int32_t north, south, west, east;
  double share; /* of the planes */
} Part;

static uint32_t
ranks_along_x (uint32_t n_ranks)
{
  uint32_t n = 1;

  while ((uint64_t) n * n < n_ranks)
    n *= 2;
  return n;
}

static uint64_t
points_of (int32_t n, uint32_t n_parts, uint32_t part)
{
  return (uint32_t) n / n_parts + (part < (uint32_t) n % n_parts);
}

static Part
part_of (const Npb *npb, uint32_t rank)
{
  const int32_t *n = npb->problem.n;
  uint32_t xs = ranks_along_x (npb->n_ranks), ys = npb->n_ranks / xs;
  uint32_t row = rank % xs, column = rank / xs;
  int32_t me = (int32_t) rank;
  Part part = {
    .nx = points_of (n[0], xs, row),
    .ny = points_of (n[1], ys, column),
    .nz = (uint64_t) n[2],
    .x_edges = (row == 0) + (row == xs - 1),
    .y_edges = (column == 0) + (column == ys - 1),
    .north = row > 0 ? me - 1 : TRACE_PROC_NULL,
    .south = row < xs - 1 ? me + 1 : TRACE_PROC_NULL,
    .west = column > 0 ? me - (int32_t) xs : TRACE_PROC_NULL,
    .east = column < ys - 1 ? me + (int32_t) xs : TRACE_PROC_NULL,
  };

  part.share = (double) (part.nx * part.ny) / ((double) n[0] * n[1]);
  return part;
}

static gboolean
prepare (Npb *npb, GError **error)
{
  const int32_t *n = npb->problem.n;
  uint32_t xs = ranks_along_x (npb->n_ranks);

  if (!npb_need_power_of_two (npb, error))
    return FALSE;
  if ((uint32_t) n[0] / xs < MIN_POINTS)
    return npb_refuse (npb, error, "each of the %u ranks along x must have %d of the %d points", xs,
                       MIN_POINTS, n[0]);
  return TRUE;
}

/* The inner points of one plane's border: boundary points of the grid do not take part. */
static void
sweep_planes (const Npb *npb, const Part *part, TraceBatch *batch)
{
  uint64_t n_planes = part->nz - 2;
  uint64_t x_bytes = VARIABLES * DOUBLE_BYTES * (part->ny - part->y_edges);
  uint64_t y_bytes = VARIABLES * DOUBLE_BYTES * (part->nx - part->x_edges);
  double share = part->share / PHASES / (double) n_planes;

  for (uint64_t plane = 0; plane < n_planes; plane++) {
    if (part->north >= 0)
      trace_batch_recv (batch, part->north, TAG_TO_SOUTH, x_bytes);
    if (part->west >= 0)
      trace_batch_recv (batch, part->west, TAG_TO_EAST, y_bytes);
    npb_compute (npb, batch, share);
    trace_batch_send (batch, part->south, TAG_TO_SOUTH, x_bytes);
    trace_batch_send (batch, part->east, TAG_TO_EAST, y_bytes);
  }
  for (uint64_t plane = 0; plane < n_planes; plane++) {
    if (part->south >= 0)
      trace_batch_recv (batch, part->south, TAG_TO_NORTH, x_bytes);
    if (part->east >= 0)
      trace_batch_recv (batch, part->east, TAG_TO_WEST, y_bytes);
    npb_compute (npb, batch, share);
    trace_batch_send (batch, part->north, TAG_TO_NORTH, x_bytes);
    trace_batch_send (batch, part->west, TAG_TO_WEST, y_bytes);
  }
}

/* Both layers of faces, all the way up. */
static void
exchange_faces (const Part *part, TraceBatch *batch)
{
  uint64_t layers_bytes = FACE_LAYERS * VARIABLES * DOUBLE_BYTES * part->nz;
  uint64_t x_bytes = layers_bytes * part->ny, y_bytes = layers_bytes * part->nx;

  npb_exchange (batch, part->north, x_bytes, part->south, x_bytes, TAG_TO_SOUTH);
  npb_exchange (batch, part->south, x_bytes, part->north, x_bytes, TAG_TO_NORTH);
  npb_exchange (batch, part->west, y_bytes, part->east, y_bytes, TAG_TO_EAST);
  npb_exchange (batch, part->east, y_bytes, part->west, y_bytes, TAG_TO_WEST);
}

static void
norm (TraceBatch *batch)
{
  npb_allreduce (batch, TRACE_COMM_WORLD, VARIABLES * DOUBLE_BYTES);
}

/* Norms are taken in the last step only, wherever that is. */
static void
step (const Npb *npb, uint32_t rank, uint32_t number, TraceBatch *batch)
{
  Part part = part_of (npb, rank);

  sweep_planes (npb, &part, batch);
  if (number == npb->iterations)
    norm (batch);
  exchange_faces (&part, batch);
  npb_compute (npb, batch, part.share / PHASES);
  if (number == npb->iterations)
    norm (batch);
}

static void
setup (G_GNUC_UNUSED const Npb *npb, uint32_t rank, TraceBatch *batch)
{
  static const uint64_t parameters_bytes[] = {
    4, 4, 4, 8, 8, VARIABLES * DOUBLE_BYTES, 4, 4, 4, 4
  };

  npb_call (batch, "MPI_Comm_rank");
  npb_call (batch, "MPI_Comm_size");
  if (rank == 0)
    npb_call (batch, "MPI_Comm_size");
  for (guint i = 0; i < G_N_ELEMENTS (parameters_bytes); i++)
    npb_bcast (batch, TRACE_COMM_WORLD, parameters_bytes[i]);
}

/* The right-hand side of where the steps begin. */
static void
start (const Part *part, TraceBatch *batch)
{
  exchange_faces (part, batch);
  norm (batch);
  npb_barrier (batch, TRACE_COMM_WORLD);
}

static void
warm_up (const Npb *npb, uint32_t rank, TraceBatch *batch)
{
  Part part = part_of (npb, rank);

  exchange_faces (&part, batch);
  start (&part, batch);
  step (npb, rank, 1, batch);
  npb_allreduce (batch, TRACE_COMM_WORLD, DOUBLE_BYTES); /* the slowest rank's time */
  start (&part, batch);
}

/* Unlike the faces, these are waited for before the own ones are sent. */
static void
pass_on (TraceBatch *batch, int32_t from, int32_t to, uint64_t bytes, int32_t tag)
{
  npb_exchange (batch, from, bytes, TRACE_PROC_NULL, 0, tag);
  trace_batch_send (batch, to, tag, bytes);
}

/* The surface integral over the six sides: what it needs from the
 * neighbours in the south and in the east goes one way only. */
static void
integrate (const Part *part, TraceBatch *batch)
{
  uint64_t x_bytes = 2 * DOUBLE_BYTES * (part->ny + 2), y_bytes = 2 * DOUBLE_BYTES * part->nx;
  uint64_t z_bytes = DOUBLE_BYTES * part->nz;

  pass_on (batch, part->east, part->west, y_bytes, TAG_TO_WEST);
  pass_on (batch, part->south, part->north, x_bytes, TAG_TO_NORTH);
  npb_allreduce (batch, TRACE_COMM_WORLD, DOUBLE_BYTES);
  for (uint64_t side = 0; side < part->y_edges; side++)
    pass_on (batch, part->south, part->north, z_bytes, TAG_TO_NORTH);
  npb_allreduce (batch, TRACE_COMM_WORLD, DOUBLE_BYTES);
  for (uint64_t side = 0; side < part->x_edges; side++)
    pass_on (batch, part->east, part->west, z_bytes, TAG_TO_WEST);
  npb_allreduce (batch, TRACE_COMM_WORLD, DOUBLE_BYTES);
}

static void
end (const Npb *npb, uint32_t rank, TraceBatch *batch)
{
  Part part = part_of (npb, rank);

  npb_allreduce (batch, TRACE_COMM_WORLD, DOUBLE_BYTES);
  norm (batch); /* of the error */
  integrate (&part, batch);
}

const NpbKernel npb_lu = { .prepare = prepare,
                           .release = npb_release_nothing,
                           .setup = setup,
                           .warm_up = warm_up,
                           .step = step,
                           .end = end };
