/* npb_bt.c - BT: block-tridiagonal solves along three axes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a cell passes on is, per point of its face, a 5 x 5 block and a vector
 * of 5 on the way up, the vector alone on the way back.  The buffers have the
 * size of the largest face there can be, and are sent whole. */
#include "traces/patterns/npb_partition.h"

#define DOUBLE_BYTES 8
#define UP_VALUES    (5 * 5 + 5)
#define BACK_VALUES  5

/* Tells the cells of a rank apart; sender and receiver agree on it, as their
 * cells differ in place along the axis only. */
static int32_t
cell_tag (const NpbSweep *sweep, const NpbCell *cell)
{
  uint32_t minor = cell->at[sweep->axis == 0 ? 1 : 0];
  uint32_t major = cell->at[sweep->axis == 2 ? 1 : 2];
  const int32_t *tags = sweep->up ? npb_high_tags : npb_low_tags;

  return tags[sweep->axis] + (int32_t) (minor + sweep->partition->q * major);
}

static void
turn (const NpbSweep *sweep, const NpbCell *cell, int32_t from, int32_t to)
{
  const NpbPartition *p = sweep->partition;
  uint64_t side = p->n / p->q + 1;
  uint64_t bytes = side * side * (sweep->up ? UP_VALUES : BACK_VALUES) * DOUBLE_BYTES;
  uint32_t sent = TRACE_BATCH_FIRST_REQUEST, received = sent + 1;

  if (from >= 0) {
    npb_irecv (sweep->batch, NPB_COMM_SOLVE, from, cell_tag (sweep, cell), bytes, received);
    trace_batch_wait (sweep->batch, sent, 1); /* what the cell before sent on */
    trace_batch_wait (sweep->batch, received, 1);
  }
  npb_partition_compute (sweep, cell);
  if (to >= 0)
    npb_isend (sweep->batch, NPB_COMM_SOLVE, to, cell_tag (sweep, cell), bytes, sent);
}

static void
step (const Npb *npb, uint32_t rank, G_GNUC_UNUSED uint32_t number, TraceBatch *batch)
{
  npb_partition_step (npb, rank, batch, turn);
}

static void
setup (G_GNUC_UNUSED const Npb *npb, uint32_t rank, TraceBatch *batch)
{
  static const uint64_t parameters_bytes[] = { 4, 8, 12, 4, 4, 4 };

  npb_partition_setup (rank, batch);
  for (guint i = 0; i < G_N_ELEMENTS (parameters_bytes); i++)
    npb_bcast (batch, NPB_COMM_SETUP, parameters_bytes[i]);
}

static void
warm_up (const Npb *npb, uint32_t rank, TraceBatch *batch)
{
  step (npb, rank, 0, batch);
  npb_barrier (batch, NPB_COMM_SETUP);
}

const NpbKernel npb_bt = { .prepare = npb_partition_prepare,
                           .release = npb_release_nothing,
                           .setup = setup,
                           .warm_up = warm_up,
                           .step = step,
                           .end = npb_partition_end };
