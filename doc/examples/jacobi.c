/* jacobi.c - a small MPI program to record: Jacobi's iteration on a grid of squares.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   mpicc -O2 -o jacobi jacobi.c && mpirun -np 64 ./jacobi
 *
 * Each rank has a square of POINTS x POINTS values and in each iteration exchanges
 * its four edges, of DEPTH layers, with its neighbours. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

#define POINTS     256
#define DEPTH      16
#define ITERATIONS 20

enum { NORTH, SOUTH, WEST, EAST, N_SIDES };

/* One new value from its four neighbours, everywhere inside. */
static double
relax (const double *old, double *new)
{
  double change = 0;

  for (int row = 1; row < POINTS - 1; row++)
    for (int column = 1; column < POINTS - 1; column++) {
      int at = row * POINTS + column;

      new[at] = (old[at - 1] + old[at + 1] + old[at - POINTS] + old[at + POINTS]) / 4;
      change += (new[at] - old[at]) * (new[at] - old[at]);
    }
  return change;
}

static void
exchange (MPI_Comm grid, const int neighbours[N_SIDES], double *out, double *in)
{
  MPI_Request requests[2 * N_SIDES];

  for (int side = 0; side < N_SIDES; side++)
    MPI_Irecv (in + side * POINTS * DEPTH, POINTS * DEPTH, MPI_DOUBLE, neighbours[side], 0, grid,
               &requests[side]);
  for (int side = 0; side < N_SIDES; side++)
    MPI_Isend (out + side * POINTS * DEPTH, POINTS * DEPTH, MPI_DOUBLE, neighbours[side], 0, grid,
               &requests[N_SIDES + side]);
  MPI_Waitall (2 * N_SIDES, requests, MPI_STATUSES_IGNORE);
}

int
main (int argc, char **argv)
{
  int n_ranks, rank, shape[2] = { 0, 0 }, periods[2] = { 0, 0 }, neighbours[N_SIDES];
  double *old = calloc (POINTS * POINTS, sizeof *old), *new = calloc (POINTS * POINTS, sizeof *new);
  double *out = calloc (N_SIDES * POINTS * DEPTH, sizeof *out);
  double *in = calloc (N_SIDES * POINTS * DEPTH, sizeof *in);
  double change = 0, all = 0;
  MPI_Comm grid;

  MPI_Init (&argc, &argv);
  MPI_Comm_size (MPI_COMM_WORLD, &n_ranks);
  MPI_Dims_create (n_ranks, 2, shape);
  MPI_Cart_create (MPI_COMM_WORLD, 2, shape, periods, 0, &grid);
  MPI_Comm_rank (grid, &rank);
  MPI_Cart_shift (grid, 0, 1, &neighbours[NORTH], &neighbours[SOUTH]);
  MPI_Cart_shift (grid, 1, 1, &neighbours[WEST], &neighbours[EAST]);
  old[POINTS * POINTS / 2] = rank + 1;
  for (int iteration = 0; iteration < ITERATIONS; iteration++) {
    double *swap = old;

    exchange (grid, neighbours, out, in);
    change = relax (old, new);
    MPI_Allreduce (&change, &all, 1, MPI_DOUBLE, MPI_SUM, grid);
    old = new;
    new = swap;
  }
  if (rank == 0)
    printf ("%d ranks as %d x %d, last change %g\n", n_ranks, shape[0], shape[1], all);
  MPI_Finalize ();
  free (old);
  free (new);
  free (out);
  free (in);
  return 0;
}
