/* otf2_regions.c - what the names of MPI calls mean in an OTF2 archive.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/otf2/otf2_regions.h"

#include <string.h>

/* TAU writes "MPI_Send()". */
const char *
otf2_region_name (const char *text)
{
  g_autofree char *name = g_strdup (text);

  if (*name == '\0')
    return g_intern_static_string ("unnamed");
  if (g_str_has_prefix (name, "MPI_") && g_str_has_suffix (name, "()"))
    name[strlen (name) - 2] = '\0';
  return g_intern_string (name);
}

Otf2CallKind
otf2_region_kind (const char *name)
{
  static const struct {
    const char *name;
    Otf2CallKind kind;
  } calls[] = {
    { "MPI_Init", OTF2_CALL_INIT },
    { "MPI_Init_thread", OTF2_CALL_INIT },
    { "MPI_Finalize", OTF2_CALL_FINALIZE },
    { "MPI_Sendrecv", OTF2_CALL_SENDRECV },
    { "MPI_Sendrecv_replace", OTF2_CALL_SENDRECV },
    { "MPI_Wait", OTF2_CALL_WAIT },
    { "MPI_Waitall", OTF2_CALL_WAIT },
    { "MPI_Waitany", OTF2_CALL_WAIT_SOME },
    { "MPI_Waitsome", OTF2_CALL_WAIT_SOME },
    { "MPI_Test", OTF2_CALL_TEST },
    { "MPI_Testall", OTF2_CALL_TEST },
    { "MPI_Testany", OTF2_CALL_TEST },
    { "MPI_Testsome", OTF2_CALL_TEST },
  };
  static const char *const moves[] = {
    "MPI_Barrier",
    "MPI_Ibarrier",
    "MPI_Bcast",
    "MPI_Ibcast",
    "MPI_Gather",
    "MPI_Igather",
    "MPI_Gatherv",
    "MPI_Igatherv",
    "MPI_Scatter",
    "MPI_Iscatter",
    "MPI_Scatterv",
    "MPI_Iscatterv",
    "MPI_Allgather",
    "MPI_Iallgather",
    "MPI_Allgatherv",
    "MPI_Iallgatherv",
    "MPI_Alltoall",
    "MPI_Ialltoall",
    "MPI_Alltoallv",
    "MPI_Ialltoallv",
    "MPI_Alltoallw",
    "MPI_Ialltoallw",
    "MPI_Reduce",
    "MPI_Ireduce",
    "MPI_Allreduce",
    "MPI_Iallreduce",
    "MPI_Reduce_scatter",
    "MPI_Ireduce_scatter",
    "MPI_Reduce_scatter_block",
    "MPI_Ireduce_scatter_block",
    "MPI_Scan",
    "MPI_Iscan",
    "MPI_Exscan",
    "MPI_Iexscan",
    "MPI_Neighbor_allgather",
    "MPI_Ineighbor_allgather",
    "MPI_Neighbor_allgatherv",
    "MPI_Ineighbor_allgatherv",
    "MPI_Neighbor_alltoall",
    "MPI_Ineighbor_alltoall",
    "MPI_Neighbor_alltoallv",
    "MPI_Ineighbor_alltoallv",
    "MPI_Neighbor_alltoallw",
    "MPI_Ineighbor_alltoallw",
    "MPI_Put",
    "MPI_Get",
    "MPI_Accumulate",
    "MPI_Get_accumulate",
    "MPI_Fetch_and_op",
    "MPI_Compare_and_swap",
    "MPI_Rput",
    "MPI_Rget",
    "MPI_Raccumulate",
    "MPI_Rget_accumulate",
  };

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    if (strcmp (name, calls[i].name) == 0)
      return calls[i].kind;
  for (guint i = 0; i < G_N_ELEMENTS (moves); i++)
    if (strcmp (name, moves[i]) == 0)
      return OTF2_CALL_MOVES;
  return OTF2_CALL_OTHER;
}
