/* npb_is.c - IS: bucket sort of integer keys.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An iteration sums the sizes of the buckets over all ranks, tells each rank
 * how many keys it will get from whom, and sends the keys; at the end every
 * rank shows its largest key to the next. */
#include "traces/patterns/npb_keys.h"

#define KEY_BYTES      4
#define VERIFIED_KEYS  5 /* their ranks are summed with the buckets */
#define TAG            1000
#define MAX_RANKS      1024
#define MAX_RANKS_S    128
#define MAX_ITERATIONS 1000 /* each makes all later ones a little dearer to work out */
#define MAX_KEYS_LOG   29   /* of a rank, counted by an int */

static gboolean
prepare (Npb *npb, GError **error)
{
  uint64_t n_keys = (uint64_t) 1 << npb->problem.n[0];
  uint32_t most = npb->class_name == 'S' ? MAX_RANKS_S : MAX_RANKS;

  if (!npb_need_power_of_two (npb, error))
    return FALSE;
  if (npb->n_ranks > most)
    return npb_refuse (npb, error, "it runs on up to %u ranks", most);
  if (n_keys / npb->n_ranks > (uint64_t) 1 << MAX_KEYS_LOG)
    return npb_refuse (npb, error, "it runs on at least %u ranks",
                       (uint32_t) (n_keys >> MAX_KEYS_LOG));
  if (npb->iterations > MAX_ITERATIONS)
    return npb_refuse (npb, error, "up to %d iterations are made", MAX_ITERATIONS);
  if (2 * (uint64_t) npb->iterations >= n_keys / npb->n_ranks)
    return npb_refuse (npb, error, "every iteration replaces two keys of %" G_GUINT64_FORMAT,
                       n_keys / npb->n_ranks);
  npb->own = npb_keys_new (&npb->problem, npb->n_ranks, npb->iterations);
  return TRUE;
}

static void
release (gpointer own)
{
  npb_keys_free (own);
}

static void
send_keys (const Npb *npb, uint32_t rank, uint32_t number, TraceBatch *batch)
{
  uint64_t *sent, *received;

  trace_batch_add (batch, TRACE_OP_ALLTOALLV, "MPI_Alltoallv");
  sent = trace_batch_counts (batch, npb->n_ranks);
  received = trace_batch_recv_counts (batch, npb->n_ranks);
  npb_keys_exchange (npb->own, rank, number, sent, received);
  for (uint32_t peer = 0; peer < npb->n_ranks; peer++) {
    sent[peer] *= KEY_BYTES;
    received[peer] *= KEY_BYTES;
  }
}

static void
step (const Npb *npb, uint32_t rank, uint32_t number, TraceBatch *batch)
{
  uint64_t n_buckets = (uint64_t) 1 << npb->problem.n[2];
  double half = 0.5 / npb->n_ranks;

  npb_compute (npb, batch, half);
  npb_allreduce (batch, TRACE_COMM_WORLD, (n_buckets + VERIFIED_KEYS) * KEY_BYTES);
  npb_alltoall (batch, TRACE_COMM_WORLD, KEY_BYTES);
  send_keys (npb, rank, number, batch);
  npb_compute (npb, batch, half);
}

static void
setup (G_GNUC_UNUSED const Npb *npb, G_GNUC_UNUSED uint32_t rank, TraceBatch *batch)
{
  npb_call (batch, "MPI_Comm_rank");
  npb_call (batch, "MPI_Comm_size");
  npb_bcast (batch, TRACE_COMM_WORLD, 4);
}

static void
warm_up (const Npb *npb, uint32_t rank, TraceBatch *batch)
{
  step (npb, rank, 1, batch);
  npb_call (batch, "MPI_Wtime");
}

static void
end (const Npb *npb, uint32_t rank, TraceBatch *batch)
{
  int32_t before = (int32_t) rank - 1;
  int32_t after = rank + 1 < npb->n_ranks ? (int32_t) rank + 1 : TRACE_PROC_NULL;

  npb_call (batch, "MPI_Wtime");
  npb_reduce (batch, TRACE_COMM_WORLD, 8);
  npb_exchange (batch, before, KEY_BYTES, after, KEY_BYTES, TAG);
  npb_reduce (batch, TRACE_COMM_WORLD, 4);
}

const NpbKernel npb_is = { .prepare = prepare,
                           .release = release,
                           .setup = setup,
                           .warm_up = warm_up,
                           .step = step,
                           .end = end };
