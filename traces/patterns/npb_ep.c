/* npb_ep.c - EP: random numbers, each rank for itself, and sums at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Pairs are handed out in blocks of 2^16, to which the benchmark sticks
 * whatever the number of ranks; report RNR-94-007. */
#include "traces/patterns/npb.h"

#define DOUBLE_BYTES   8
#define LOG_BLOCK      16
#define COUNTS_OF_PAIR 10 /* how many pairs fell into each ring */

static gboolean
prepare (Npb *npb, GError **error)
{
  if (npb->iterations > 1)
    return npb_refuse (npb, error, "it has one iteration");
  if (npb->n_ranks > 1u << (npb->problem.n[0] - LOG_BLOCK))
    return npb_refuse (npb, error, "there are only %u blocks of random numbers",
                       1u << (npb->problem.n[0] - LOG_BLOCK));
  return TRUE;
}

static void
setup (G_GNUC_UNUSED const Npb *npb, G_GNUC_UNUSED uint32_t rank, TraceBatch *batch)
{
  npb_call (batch, "MPI_Comm_rank");
  npb_call (batch, "MPI_Comm_size");
  npb_bcast (batch, TRACE_COMM_WORLD, 4);
}

static void
warm_up (G_GNUC_UNUSED const Npb *npb, G_GNUC_UNUSED uint32_t rank, TraceBatch *batch)
{
  npb_barrier (batch, TRACE_COMM_WORLD);
}

static void
step (const Npb *npb, uint32_t rank, G_GNUC_UNUSED uint32_t number, TraceBatch *batch)
{
  uint32_t n_blocks = 1u << (npb->problem.n[0] - LOG_BLOCK);
  uint32_t mine = n_blocks / npb->n_ranks + (rank < n_blocks % npb->n_ranks);

  npb_compute (npb, batch, (double) mine / n_blocks);
}

static void
end (G_GNUC_UNUSED const Npb *npb, G_GNUC_UNUSED uint32_t rank, TraceBatch *batch)
{
  npb_allreduce (batch, TRACE_COMM_WORLD, DOUBLE_BYTES);
  npb_allreduce (batch, TRACE_COMM_WORLD, DOUBLE_BYTES);
  npb_allreduce (batch, TRACE_COMM_WORLD, COUNTS_OF_PAIR * DOUBLE_BYTES);
  npb_allreduce (batch, TRACE_COMM_WORLD, DOUBLE_BYTES); /* the slowest rank's time */
}

const NpbKernel npb_ep = { .prepare = prepare,
                           .release = npb_release_nothing,
                           .setup = setup,
                           .warm_up = warm_up,
                           .step = step,
                           .end = end };
