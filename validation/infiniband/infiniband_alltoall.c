/* infiniband_alltoall.c - MPI_Alltoall of 64 ranks that fill 8 nodes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * As measured in May 2009 on nodes of two quad-core Harpertowns, and in February 2010 on nodes of two
 * Nehalems (see the conditions of the figures).  Ranks fill one node after the other, Open
 * MPI's default.  The rate of the links is not published: Bruck's on Nehalem, from 200 to 2,000 B, moves
 * 0.95 GB/s off a node at any size, as much as an SDR link carries. */
#include "sim/collective/collective.h"
#include "validation/infiniband/infiniband.h"

#include <math.h>

#define RANKS    64
#define PER_NODE 8

/* One leaf of System G's tree has all nodes. */
#define HARPERTOWN "fattree:18x18:9,speed=SDR,node=harpertown"
#define NEHALEM    "fattree:18x18:9,speed=SDR,node=nehalem"

#define FIRST_CALLS 1
#define CALLS       2

/* The algorithm is that of the rules of the machine's MPI, "", or a forced one. */
typedef enum { BY_RULES, PAIRWISE, BRUCK, BRUCK_NEHALEM } Series;
static const struct {
  const char *name, *machine, *algorithm;
} all_series[] = {
  [BY_RULES] = { "alltoall-rules", HARPERTOWN, "" },
  [PAIRWISE] = { "alltoall-pairwise", HARPERTOWN, "pairwise" },
  [BRUCK] = { "alltoall-bruck", HARPERTOWN, "modified_bruck" },
  [BRUCK_NEHALEM] = { "alltoall-bruck-nehalem", NEHALEM, "modified_bruck" },
};

/* A program of n calls; NaN and *error on failure. */
static double
calls_ps (const TopoMachine *machine, uint32_t bytes, uint32_t n_calls, GError **error)
{
  g_autofree char *trace =
      g_strdup_printf ("gen:alltoall:ranks=%d,bytes=%u,iterations=%u", RANKS, bytes, n_calls);
  uint32_t node[RANKS];
  uint8_t core[RANKS];
  ValidationRun run;

  for (uint32_t rank = 0; rank < RANKS; rank++) {
    node[rank] = rank / PER_NODE;
    core[rank] = (uint8_t) (rank % PER_NODE);
  }
  return validation_replay (trace, machine, RANKS, node, core, &run, error) ? run.time_ps
                                                                            : (double) NAN;
}

/* The time of a call; measured once. */
static double
call_us (InfiniBand *ib, Series series, uint32_t bytes, GError **error)
{
  g_autofree char *point = g_strdup_printf ("%u", bytes);
  g_autoptr (TopoMachine) machine = NULL;
  double us, first_ps;

  if (ib_known (ib, all_series[series].name, point, &us))
    return us;
  if ((machine = validation_machine_new (all_series[series].machine, NULL, error)) == NULL)
    return (double) NAN;
  machine->parameters.mpi.algorithm =
      sim_collective_named (TRACE_OP_ALLTOALL, all_series[series].algorithm);
  first_ps = calls_ps (machine, bytes, FIRST_CALLS, error);
  if (isnan (first_ps))
    return first_ps;
  us = (calls_ps (machine, bytes, FIRST_CALLS + CALLS, error) - first_ps) * 1e-6 / CALLS;
  if (!isnan (us))
    ib_keep (ib, all_series[series].name, point, us, "us");
  return us;
}

double
ib_alltoall_us (gpointer ib, uint32_t bytes, GError **error)
{
  return call_us (ib, BY_RULES, bytes, error);
}

double
ib_pairwise_us (gpointer ib, uint32_t bytes, GError **error)
{
  return call_us (ib, PAIRWISE, bytes, error);
}

double
ib_bruck_us (gpointer ib, uint32_t bytes, GError **error)
{
  return call_us (ib, BRUCK, bytes, error);
}

double
ib_bruck_nehalem_us (gpointer ib, uint32_t bytes, GError **error)
{
  return call_us (ib, BRUCK_NEHALEM, bytes, error);
}

double
ib_alltoall_change_bytes (gpointer ib G_GNUC_UNUSED, uint32_t last_bytes, GError **error)
{
  g_autoptr (TopoMachine) machine = validation_machine_new (HARPERTOWN, NULL, error);
  uint32_t bytes;

  if (machine == NULL)
    return (double) NAN;
  for (bytes = 1; bytes < last_bytes; bytes++) {
    const TraceOp op = {
      .kind = TRACE_OP_ALLTOALL, .comm = TRACE_COMM_WORLD, .bytes = bytes, .recv_bytes = bytes
    };
    SimCollective collective;
    uint32_t n_sent = 0, n_waits = 0;

    sim_collective_init (&collective, machine, &op, RANKS, 0, true, NULL);
    for (uint32_t step = 0; step < collective.n_steps; step++) {
      SimStep now = sim_collective_step (&collective, step);

      n_sent += now.send_to != TOPO_NONE && now.send_to != 0;
      n_waits += now.wait && n_sent < RANKS - 1;
    }
    /* Pairwise: rank 0 waits before it has sent to all others.  Bruck's rounds are fewer messages
     * than there are ranks. */
    if (n_sent == RANKS - 1 && n_waits >= RANKS - 2)
      break;
  }
  return bytes;
}

/* Time just below this size over the time at it. */
double
ib_alltoall_drop (gpointer ib, uint32_t bytes, GError **error)
{
  double below_us = ib_alltoall_us (ib, bytes - 1, error);

  return isnan (below_us) ? below_us : below_us / ib_alltoall_us (ib, bytes, error);
}

double
ib_pairwise_flatness (gpointer ib, uint32_t unused G_GNUC_UNUSED, GError **error)
{
  double small_us = ib_pairwise_us (ib, 10, error);

  return isnan (small_us) ? small_us : ib_pairwise_us (ib, 3000, error) / small_us;
}

double
ib_bruck_growth (gpointer ib, uint32_t unused G_GNUC_UNUSED, GError **error)
{
  double half_us = ib_bruck_us (ib, 1000, error);

  return isnan (half_us) ? half_us : ib_bruck_us (ib, 2000, error) / half_us;
}
