/* infiniband_alltoall.c - MPI_Alltoall of 64 ranks that fill 8 nodes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * As measured in May 2009 on nodes of two quad-core Harpertowns (see the
 * conditions of the figures).  Ranks fill one node after the other, Open
 * MPI's default. */
#include "sim/collective/collective.h"
#include "validation/infiniband/infiniband.h"

#include <math.h>

#define RANKS    64
#define PER_NODE 8
#define MACHINE  "systemg:8"

#define FIRST_CALLS 1
#define CALLS       2

/* The algorithm of the rules of the machine's MPI, or a forced one. */
typedef enum { BY_RULES, PAIRWISE, BRUCK } Algorithm;
static const char *const series_names[] = { "alltoall-rules", "alltoall-pairwise",
                                            "alltoall-bruck" };
static const char *const forced_names[] = { "", "pairwise", "modified_bruck" };

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
call_us (InfiniBand *ib, Algorithm algorithm, uint32_t bytes, GError **error)
{
  g_autofree char *point = g_strdup_printf ("%u", bytes);
  g_autoptr (TopoMachine) machine = NULL;
  double us, first_ps;

  if (ib_known (ib, series_names[algorithm], point, &us))
    return us;
  if ((machine = validation_machine_new (MACHINE, NULL, error)) == NULL)
    return (double) NAN;
  machine->parameters.mpi.algorithm =
      sim_collective_named (TRACE_OP_ALLTOALL, forced_names[algorithm]);
  first_ps = calls_ps (machine, bytes, FIRST_CALLS, error);
  if (isnan (first_ps))
    return first_ps;
  us = (calls_ps (machine, bytes, FIRST_CALLS + CALLS, error) - first_ps) * 1e-6 / CALLS;
  if (!isnan (us))
    ib_keep (ib, series_names[algorithm], point, us, "us");
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
ib_alltoall_change_bytes (gpointer ib G_GNUC_UNUSED, uint32_t last_bytes, GError **error)
{
  g_autoptr (TopoMachine) machine = validation_machine_new (MACHINE, NULL, error);
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
