/* recorder_cost.c - how long calls of MPI take; run with and without the
 * recorder, the difference is what it costs.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Usage: mpirun -np 1 recorder_cost
 * A rank alone: nothing waits for anybody, so that the calls are as short as
 * they get.  Prints the median over batches, in nanoseconds for each call. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N_BATCHES 201
#define N_TURNS   1000

static void
send_to_self (void)
{
  char sent[8] = "", got[8];
  MPI_Request requests[2];

  MPI_Irecv (got, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend (sent, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall (2, requests, MPI_STATUSES_IGNORE);
}

static void
barrier_alone (void)
{
  MPI_Barrier (MPI_COMM_SELF);
}

static double
now_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return 1e9 * (double) now.tv_sec + (double) now.tv_nsec;
}

static int
compare (const void *left, const void *right)
{
  double a = *(const double *) left, b = *(const double *) right;

  return (a > b) - (a < b);
}

static double
median_ns (void (*turn) (void), int calls)
{
  double batches[N_BATCHES];

  for (int batch = 0; batch < N_BATCHES; batch++) {
    double start = now_ns ();

    for (int i = 0; i < N_TURNS; i++)
      turn ();
    batches[batch] = (now_ns () - start) / (N_TURNS * calls);
  }
  qsort (batches, N_BATCHES, sizeof batches[0], compare);
  return batches[N_BATCHES / 2];
}

int
main (int argc, char **argv)
{
  MPI_Init (&argc, &argv);
  printf ("irecv, isend, waitall: %.0f ns per call\n", median_ns (send_to_self, 3));
  printf ("barrier: %.0f ns per call\n", median_ns (barrier_alone, 1));
  MPI_Finalize ();
  return 0;
}
