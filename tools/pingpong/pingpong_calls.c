/* pingpong_calls.c - a collective, over and over, on all ranks of an MPI job.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/pingpong/pingpong_collectives.h"
#include "tools/pingpong/pingpong_roles.h"

#include <mpi.h>

#define MOST_CALLS   64 /* between two looks of rank 0 at the clock */
#define LEAST_CALLS  6
#define LOOKS        10 /* how often it looks, about */
#define SURE_SAMPLES 20

typedef struct {
  CliPingpongCollective collective;
  char *sent, *received;
  int n_bytes;
  MPI_Datatype element; /* what reductions reduce */
  int n_elements;
  MPI_Op operation;
} Call;

/* Sums of the widest floating-point numbers that fill the bytes; bits, if none do. */
static void
choose_element (Call *call)
{
  call->element = call->n_bytes % 8 == 0   ? MPI_DOUBLE
                  : call->n_bytes % 4 == 0 ? MPI_FLOAT
                                           : MPI_BYTE;
  call->n_elements = call->n_bytes % 8 == 0   ? call->n_bytes / 8
                     : call->n_bytes % 4 == 0 ? call->n_bytes / 4
                                              : call->n_bytes;
  call->operation = call->element == MPI_BYTE ? MPI_BOR : MPI_SUM;
}

static void
make (const Call *call)
{
  char *in = call->sent, *out = call->received;
  int n = call->n_bytes;

  switch (call->collective) {
  case CLI_PINGPONG_BARRIER: MPI_Barrier (MPI_COMM_WORLD); break;
  case CLI_PINGPONG_BCAST: MPI_Bcast (in, n, MPI_BYTE, 0, MPI_COMM_WORLD); break;
  case CLI_PINGPONG_GATHER:
    MPI_Gather (in, n, MPI_BYTE, out, n, MPI_BYTE, 0, MPI_COMM_WORLD);
    break;
  case CLI_PINGPONG_SCATTER:
    MPI_Scatter (in, n, MPI_BYTE, out, n, MPI_BYTE, 0, MPI_COMM_WORLD);
    break;
  case CLI_PINGPONG_ALLGATHER:
    MPI_Allgather (in, n, MPI_BYTE, out, n, MPI_BYTE, MPI_COMM_WORLD);
    break;
  case CLI_PINGPONG_ALLTOALL:
    MPI_Alltoall (in, n, MPI_BYTE, out, n, MPI_BYTE, MPI_COMM_WORLD);
    break;
  case CLI_PINGPONG_REDUCE:
    MPI_Reduce (in, out, call->n_elements, call->element, call->operation, 0, MPI_COMM_WORLD);
    break;
  case CLI_PINGPONG_ALLREDUCE:
    MPI_Allreduce (in, out, call->n_elements, call->element, call->operation, MPI_COMM_WORLD);
    break;
  case CLI_PINGPONG_COLLECTIVES: g_assert_not_reached ();
  }
}

/* n calls; on rank 0 the time of the slowest rank in each. */
static void
time_calls (const Call *call, int n, double slowest_us[])
{
  double own_us[MOST_CALLS];

  for (int i = 0; i < n; i++) {
    double start_us;

    MPI_Barrier (MPI_COMM_WORLD);
    start_us = pingpong_now_us ();
    make (call);
    own_us[i] = pingpong_now_us () - start_us;
  }
  MPI_Reduce (own_us, slowest_us, n, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
}

/* Of rank 0: how many calls come next, 0: no more. */
static int
next_calls (GArray *samples_us, double end_us, CliPingpongEffort effort)
{
  CliPingpongMedian so_far = cli_pingpong_median (samples_us);
  double in_a_look = effort.seconds * 1e6 / LOOKS / MAX (so_far.median, 1e-3);

  if (samples_us->len >= LEAST_CALLS &&
      (pingpong_now_us () >= end_us ||
       (samples_us->len >= SURE_SAMPLES && so_far.width <= effort.precision)))
    return 0;
  return (int) CLAMP (in_a_look, 1, MOST_CALLS);
}

CliPingpongMedian
pingpong_calls (const PingpongOrder *order)
{
  Call call = { .collective = (CliPingpongCollective) order->collective,
                .n_bytes = (int) order->bytes };
  g_autoptr (GArray) samples_us = g_array_new (FALSE, FALSE, sizeof (double));
  double slowest_us[MOST_CALLS], end_us;
  int n_ranks, rank, n = 1;

  MPI_Comm_size (MPI_COMM_WORLD, &n_ranks);
  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  pingpong_buffers (
      cli_pingpong_buffer_bytes (call.collective, (uint64_t) order->bytes, (uint32_t) n_ranks),
      &call.sent, &call.received);
  choose_element (&call);
  time_calls (&call, 1, slowest_us); /* to warm up */
  end_us = pingpong_now_us () + order->effort.seconds * 1e6;
  while (n > 0) {
    time_calls (&call, n, slowest_us);
    if (rank == 0) {
      g_array_append_vals (samples_us, slowest_us, (guint) n);
      n = next_calls (samples_us, end_us, order->effort);
    }
    MPI_Bcast (&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  return rank == 0 ? cli_pingpong_median (samples_us) : (CliPingpongMedian){ 0 };
}
