/* infiniband_sharp.c - MPI_Allreduce of 128 nodes in the switches, and by messages.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * As measured in 2016 on hosts of one rank each with Switch-IB 2 (see the conditions of the figures).
 * The abstract tells neither the tree nor the hosts' library: here they are the preset's tree and
 * Open MPI of that year, whose rules are those of 1.3.  For a call of 4,096 B to go into the
 * switches there must be 16 transactions: NVIDIA's manual has a limit of transactions in flight
 * times the payload of each. */
#include "study/aggregate/network_pingpong.h"
#include "validation/infiniband/infiniband.h"

#include <math.h>

#define RANKS   128
#define MACHINE "edr:128"

#define FIRST_CALLS 1
#define CALLS       4

static const char *const by_messages[] = { "mpi.collectives=ompi-1.3", NULL };
static const char *const in_switches[] = { "mpi.sharp=on", "sharp.transactions=16", NULL };

/* A program of n calls; NaN and *error on failure. */
static double
calls_ps (const TopoMachine *machine, uint32_t bytes, uint32_t n_calls, GError **error)
{
  g_autoptr (GString) program = g_string_new (NULL);
  uint32_t node[RANKS];
  uint8_t core[RANKS] = { 0 };
  ValidationRun run;

  for (uint32_t rank = 0; rank < RANKS; rank++) {
    node[rank] = rank;
    g_string_append_printf (program, "%u init\n", rank);
    for (uint32_t call = 0; call < n_calls; call++)
      study_append_collective (program, TRACE_OP_ALLREDUCE, rank, bytes);
    g_string_append_printf (program, "%u finalize\n", rank);
  }
  return validation_replay_text (program->str, machine, RANKS, node, core, &run, error)
             ? run.time_ps
             : (double) NAN;
}

/* The time of a call. */
static double
call_us (InfiniBand *ib, bool sharp, uint32_t bytes, GError **error)
{
  const char *series = sharp ? "allreduce-sharp" : "allreduce-messages";
  g_autofree char *point = g_strdup_printf ("%u", bytes);
  g_autoptr (TopoMachine) machine = NULL;
  double us, first_ps;

  machine = validation_machine_new (MACHINE, sharp ? in_switches : by_messages, error);
  if (machine == NULL)
    return (double) NAN;
  first_ps = calls_ps (machine, bytes, FIRST_CALLS, error);
  if (isnan (first_ps))
    return first_ps;
  us = (calls_ps (machine, bytes, FIRST_CALLS + CALLS, error) - first_ps) * 1e-6 / CALLS;
  if (!isnan (us))
    ib_keep (ib, series, point, us, "us");
  return us;
}

double
ib_sharp_us (gpointer ib, uint32_t bytes, GError **error)
{
  return call_us (ib, true, bytes, error);
}

double
ib_allreduce_us (gpointer ib, uint32_t bytes, GError **error)
{
  return call_us (ib, false, bytes, error);
}
