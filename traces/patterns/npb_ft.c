/* npb_ft.c - FT: a partial differential equation solved in Fourier space.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Up to nz ranks have slabs of planes, and a transform has one transposition
 * over all ranks.  More ranks are nz by P / nz, have pencils, and transpose
 * twice: within the P / nz ranks of a row and within the nz of a column.
 * Complex numbers of 16 bytes; report RNR-94-007. */
#include "traces/patterns/npb.h"

#include <math.h>

#define COMPLEX_BYTES 16

enum { COMM_ROW = 4, COMM_COLUMN = 5 };

typedef struct {
  uint32_t n1, n2; /* ranks of a column and of a row */
  uint64_t local_points;
} Layout;

static Layout
layout_of (const Npb *npb)
{
  const int32_t *n = npb->problem.n;
  Layout layout = { .n1 = 1, .n2 = npb->n_ranks };

  if (npb->n_ranks > (uint32_t) n[2]) {
    layout.n1 = (uint32_t) n[2];
    layout.n2 = npb->n_ranks / layout.n1;
  }
  layout.local_points = (uint64_t) n[0] * (uint64_t) n[1] * (uint64_t) n[2] / npb->n_ranks;
  return layout;
}

/* With n1 along y and then x, n2 along z and then y, all sides are powers of
 * two, so that the shortest decides. */
static gboolean
prepare (Npb *npb, GError **error)
{
  const int32_t *n = npb->problem.n;
  uint32_t most = (uint32_t) n[2] * (uint32_t) MIN (n[1], n[2]);

  if (!npb_need_power_of_two (npb, error))
    return FALSE;
  if (npb->n_ranks > most)
    return npb_refuse (npb, error, "the grid of %dx%dx%d has pencils for up to %u ranks", n[0],
                       n[1], n[2], most);
  return TRUE;
}

static void
transpose_columns (const Layout *layout, TraceBatch *batch)
{
  npb_alltoall (batch, COMM_COLUMN, COMPLEX_BYTES * layout->local_points / layout->n1);
}

static void
transpose_rows (const Layout *layout, TraceBatch *batch)
{
  npb_alltoall (batch, COMM_ROW, COMPLEX_BYTES * layout->local_points / layout->n2);
}

/* The transposition stands between halves of the work. */
static void
transform (const Npb *npb, gboolean back, double share, TraceBatch *batch)
{
  Layout layout = layout_of (npb);
  double half = share / 2 / npb->n_ranks;

  npb_compute (npb, batch, half);
  if (!back && layout.n1 > 1)
    transpose_columns (&layout, batch);
  if (npb->n_ranks > 1)
    transpose_rows (&layout, batch);
  if (back && layout.n1 > 1)
    transpose_columns (&layout, batch);
  npb_compute (npb, batch, half);
}

static void
setup (const Npb *npb, uint32_t rank, TraceBatch *batch)
{
  Layout layout = layout_of (npb);
  int32_t row = (int32_t) (rank / layout.n2), column = (int32_t) (rank % layout.n2);

  npb_call (batch, "MPI_Comm_size");
  npb_call (batch, "MPI_Comm_rank");
  for (guint i = 0; i < 5; i++)
    npb_bcast (batch, TRACE_COMM_WORLD, 4);
  npb_comm_split (batch, row, column, COMM_ROW);
  npb_comm_split (batch, column, row, COMM_COLUMN);
}

/* Of the first transform, by the benchmark's count, relative to an iteration. */
static double
forward_share (const Npb *npb)
{
  const int32_t *n = npb->problem.n;
  double log_points = log ((double) n[0] * n[1] * n[2]);

  return (14.8157 + 7.19641 * log_points) / (5.23518 + 7.21113 * log_points);
}

/* Once to touch memory, once to begin. */
static void
warm_up (const Npb *npb, G_GNUC_UNUSED uint32_t rank, TraceBatch *batch)
{
  transform (npb, FALSE, forward_share (npb), batch);
  npb_barrier (batch, TRACE_COMM_WORLD);
  transform (npb, FALSE, forward_share (npb), batch);
}

static void
step (const Npb *npb, G_GNUC_UNUSED uint32_t rank, G_GNUC_UNUSED uint32_t number, TraceBatch *batch)
{
  transform (npb, TRUE, 1, batch);
  npb_reduce (batch, TRACE_COMM_WORLD, COMPLEX_BYTES);
}

static void
end (G_GNUC_UNUSED const Npb *npb, uint32_t rank, TraceBatch *batch)
{
  if (rank == 0)
    npb_call (batch, "MPI_Comm_size");
}

const NpbKernel npb_ft = { .prepare = prepare,
                           .release = npb_release_nothing,
                           .setup = setup,
                           .warm_up = warm_up,
                           .step = step,
                           .end = end };
