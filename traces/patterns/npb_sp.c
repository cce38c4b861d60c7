/* npb_sp.c - SP: scalar pentadiagonal solves along three axes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A cell passes 22 numbers per point of its face on the way up and 10 on the
 * way back.  Points on the boundary of the grid are left out, so that the
 * cells of a rank send messages of different sizes. */
#include "traces/patterns/npb_partition.h"

#define DOUBLE_BYTES 8
#define UP_VALUES    22
#define BACK_VALUES  10
#define TAG          0

static uint64_t
face_points (const NpbPartition *p, const NpbCell *cell, guint axis)
{
  uint64_t n = 1;

  for (guint i = 0; i < 3; i++)
    if (i != axis)
      n *= cell->size[i] - (cell->at[i] == 0) - (cell->at[i] == p->q - 1);
  return n;
}

static void
turn (const NpbSweep *sweep, const NpbCell *cell, int32_t from, int32_t to)
{
  uint64_t n_values = sweep->up ? UP_VALUES : BACK_VALUES;
  uint64_t bytes = face_points (sweep->partition, cell, sweep->axis) * n_values * DOUBLE_BYTES;
  uint32_t received = TRACE_BATCH_FIRST_REQUEST, sent = received + 1;

  if (from >= 0) {
    npb_irecv (sweep->batch, NPB_COMM_SOLVE, from, TAG, bytes, received);
    trace_batch_wait (sweep->batch, received, 2); /* and for what the cell before sent on */
  }
  npb_partition_compute (sweep, cell);
  if (to >= 0)
    npb_isend (sweep->batch, NPB_COMM_SOLVE, to, TAG, bytes, sent);
}

static void
step (const Npb *npb, uint32_t rank, G_GNUC_UNUSED uint32_t number, TraceBatch *batch)
{
  npb_partition_step (npb, rank, batch, turn);
}

static void
setup (G_GNUC_UNUSED const Npb *npb, uint32_t rank, TraceBatch *batch)
{
  static const uint64_t parameters_bytes[] = { 4, 8, 12, 4 };

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

const NpbKernel npb_sp = { .prepare = npb_partition_prepare,
                           .release = npb_release_nothing,
                           .setup = setup,
                           .warm_up = warm_up,
                           .step = step,
                           .end = npb_partition_end };
