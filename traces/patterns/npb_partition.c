/* npb_partition.c - the cells of BT and SP, and what both programs do with them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rank (column i, row j) has the cells (i + c, j - c, c) modulo q, c < q.
 * Whatever the cell, the next one along an axis belongs to the same
 * neighbour.  The cells of uneven grids are larger by a point at the start of
 * each axis. */
#include "traces/patterns/npb_partition.h"

#define DOUBLE_BYTES 8
#define VARIABLES    5 /* of a point */
#define FACE_LAYERS  2
#define MIN_CELL     3 /* points along an axis; the programs stop when there are fewer */

const int32_t npb_low_tags[3] = { 2000, 4000, 7000 };
const int32_t npb_high_tags[3] = { 3000, 5000, 6000 };

static uint32_t
root_of (uint32_t n_ranks)
{
  uint32_t q = 1;

  while ((uint64_t) (q + 1) * (q + 1) <= n_ranks)
    q++;
  return q;
}

static int32_t
rank_at (uint32_t q, uint32_t column, uint32_t row)
{
  return (int32_t) (column % q + q * (row % q));
}

NpbPartition
npb_partition (const Npb *npb, uint32_t rank)
{
  uint32_t q = root_of (npb->n_ranks), i = rank % q, j = rank / q;

  return (NpbPartition){
    .q = q,
    .column = i,
    .row = j,
    .n = (uint32_t) npb->problem.n[0],
    .successor = { rank_at (q, i + 1, j), rank_at (q, i, j + 1), rank_at (q, i + q - 1, j + 1) },
    .predecessor = { rank_at (q, i + q - 1, j), rank_at (q, i, j + q - 1),
                     rank_at (q, i + 1, j + q - 1) },
  };
}

NpbCell
npb_partition_cell (const NpbPartition *p, guint axis, uint32_t slab)
{
  uint32_t c = slab;
  NpbCell cell;

  if (axis == 0)
    c = (slab + p->q - p->column) % p->q;
  else if (axis == 1)
    c = (p->row + p->q - slab) % p->q;
  cell.at[0] = (p->column + c) % p->q;
  cell.at[1] = (p->row + p->q - c) % p->q;
  cell.at[2] = c;
  for (guint i = 0; i < 3; i++)
    cell.size[i] = p->n / p->q + (cell.at[i] < p->n % p->q);
  return cell;
}

gboolean
npb_partition_prepare (Npb *npb, GError **error)
{
  uint32_t q = root_of (npb->n_ranks), n = (uint32_t) npb->problem.n[0];

  if (q * q != npb->n_ranks)
    return npb_refuse (npb, error, "it runs on a square number of ranks: %u, %u ...", q * q,
                       (q + 1) * (q + 1));
  if (n / q < MIN_CELL)
    return npb_refuse (npb, error,
                       "each of the %u cells along an axis must have %d of the %u points", q,
                       MIN_CELL, n);
  return TRUE;
}

void
npb_partition_setup (uint32_t rank, TraceBatch *batch)
{
  npb_call (batch, "MPI_Comm_size");
  npb_call (batch, "MPI_Comm_rank");
  npb_comm_split (batch, 0, (int32_t) rank, NPB_COMM_SETUP);
  npb_call (batch, "MPI_Comm_size");
  npb_comm_dup (batch, NPB_COMM_SETUP, NPB_COMM_SOLVE);
  npb_comm_dup (batch, NPB_COMM_SETUP, NPB_COMM_RHS);
}

/* All faces across an axis that go one way are one message: those of the
 * cells in every slab but the last (or, the other way, the first). */
static uint64_t
faces_bytes (const NpbPartition *p, guint axis, uint32_t left_out)
{
  uint64_t n_points = 0;

  for (uint32_t slab = 0; slab < p->q; slab++) {
    NpbCell cell = npb_partition_cell (p, axis, slab);

    if (slab != left_out)
      n_points += (uint64_t) cell.size[(axis + 1) % 3] * cell.size[(axis + 2) % 3];
  }
  return n_points * FACE_LAYERS * VARIABLES * DOUBLE_BYTES;
}

void
npb_partition_copy_faces (const Npb *npb, const NpbPartition *p, TraceBatch *batch)
{
  uint64_t to_successor[3], to_predecessor[3];
  uint32_t request = TRACE_BATCH_FIRST_REQUEST;

  if (npb->n_ranks == 1)
    return;
  for (guint axis = 0; axis < 3; axis++) {
    to_successor[axis] = faces_bytes (p, axis, p->q - 1);
    to_predecessor[axis] = faces_bytes (p, axis, 0);
  }
  for (guint axis = 0; axis < 3; axis++) {
    npb_irecv (batch, NPB_COMM_RHS, p->successor[axis], npb_high_tags[axis], to_successor[axis],
               request++);
    npb_irecv (batch, NPB_COMM_RHS, p->predecessor[axis], npb_low_tags[axis], to_predecessor[axis],
               request++);
  }
  for (guint axis = 0; axis < 3; axis++) {
    npb_isend (batch, NPB_COMM_RHS, p->successor[axis], npb_low_tags[axis], to_successor[axis],
               request++);
    npb_isend (batch, NPB_COMM_RHS, p->predecessor[axis], npb_high_tags[axis], to_predecessor[axis],
               request++);
  }
  trace_batch_wait (batch, TRACE_BATCH_FIRST_REQUEST, request - TRACE_BATCH_FIRST_REQUEST);
}

/* The benchmarks do not say what part of their operations is where: the
 * right-hand side and the three axes are taken for a quarter each. */
#define PHASES 4.0

void
npb_partition_compute (const NpbSweep *sweep, const NpbCell *cell)
{
  double n = sweep->partition->n;
  double cell_share = cell->size[0] / n * (cell->size[1] / n) * (cell->size[2] / n);

  npb_compute (sweep->npb, sweep->batch, cell_share / PHASES / 2);
}

static void
sweep_up (NpbSweep sweep, NpbTurn turn)
{
  const NpbPartition *p = sweep.partition;

  sweep.up = TRUE;
  for (uint32_t slab = 0; slab < p->q; slab++) {
    NpbCell cell = npb_partition_cell (p, sweep.axis, slab);

    turn (&sweep, &cell, slab > 0 ? p->predecessor[sweep.axis] : TRACE_PROC_NULL,
          slab + 1 < p->q ? p->successor[sweep.axis] : TRACE_PROC_NULL);
  }
}

static void
sweep_back (NpbSweep sweep, NpbTurn turn)
{
  const NpbPartition *p = sweep.partition;

  sweep.up = FALSE;
  for (uint32_t slab = p->q; slab-- > 0;) {
    NpbCell cell = npb_partition_cell (p, sweep.axis, slab);

    turn (&sweep, &cell, slab + 1 < p->q ? p->successor[sweep.axis] : TRACE_PROC_NULL,
          slab > 0 ? p->predecessor[sweep.axis] : TRACE_PROC_NULL);
  }
}

void
npb_partition_step (const Npb *npb, uint32_t rank, TraceBatch *batch, NpbTurn turn)
{
  NpbPartition p = npb_partition (npb, rank);

  npb_partition_copy_faces (npb, &p, batch);
  npb_compute (npb, batch, 1 / PHASES / npb->n_ranks);
  for (guint axis = 0; axis < 3; axis++) {
    NpbSweep sweep = { .npb = npb, .partition = &p, .batch = batch, .axis = axis };

    sweep_up (sweep, turn);
    sweep_back (sweep, turn);
  }
}

/* The verification, the time of the slowest rank, and a last meeting. */
void
npb_partition_end (const Npb *npb, uint32_t rank, TraceBatch *batch)
{
  NpbPartition p = npb_partition (npb, rank);

  npb_allreduce (batch, NPB_COMM_SETUP, VARIABLES * DOUBLE_BYTES);
  npb_partition_copy_faces (npb, &p, batch);
  npb_allreduce (batch, NPB_COMM_SETUP, VARIABLES * DOUBLE_BYTES);
  npb_reduce (batch, NPB_COMM_SETUP, DOUBLE_BYTES);
  npb_barrier (batch, TRACE_COMM_WORLD);
}
