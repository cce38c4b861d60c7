/* launchers_program.c - an MPI program that reports the place of each of its ranks.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each rank writes the file NUMBER.rank into the folder of the first argument: its rank, its host
 * (HOPCAST_HOST, which the test's remote shell sets), the processors that it may run on, and the
 * number of ranks that share memory with it. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

int
main (int argc, char *argv[])
{
  const char *host = getenv ("HOPCAST_HOST");
  char path[4096];
  int rank, n_sharing;
  MPI_Comm sharing;
  cpu_set_t set;
  FILE *out;

  MPI_Init (&argc, &argv);
  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  MPI_Comm_split_type (MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &sharing);
  MPI_Comm_size (sharing, &n_sharing);
  snprintf (path, sizeof path, "%s/%d.rank", argc > 1 ? argv[1] : ".", rank);
  out = fopen (path, "w");
  if (out == NULL)
    MPI_Abort (MPI_COMM_WORLD, 1);
  fprintf (out, "%d %s ", rank, host != NULL ? host : "nowhere");
  CPU_ZERO (&set);
  sched_getaffinity (0, sizeof set, &set);
  for (int processor = 0, n = 0; processor < CPU_SETSIZE; processor++)
    if (CPU_ISSET (processor, &set))
      fprintf (out, "%s%d", n++ > 0 ? "," : "", processor);
  fprintf (out, " %d\n", n_sharing);
  fclose (out);
  MPI_Finalize ();
  return 0;
}
