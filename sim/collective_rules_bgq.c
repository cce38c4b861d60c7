/* collective_rules_bgq.c - what Blue Gene/Q sends messages for, and how.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Thresholds are those of MPICH 3.1, on which Blue Gene/Q's MPI is built; what
 * its network does in hardware or by many-to-many messages is in
 * collective.c. */
#include "sim/collective_rules.h"

#include <glib.h>

/* Reductions up to this send the whole vector in each step. */
#define SHORT_REDUCTION_BYTES 2048u

/* PAMI's 2-nomial tree for communicators that are no rectangle, at any size. */
static SimChoice
rule_bcast (G_GNUC_UNUSED const SimCollective *collective)
{
  return sim_choose (&sim_bcast_binomial);
}

static SimChoice
rule_reduce (const SimCollective *collective)
{
  return sim_choose (collective->bytes <= SHORT_REDUCTION_BYTES ? &sim_reduce_binomial
                                                                : &sim_reduce_scatter_gather);
}

static SimChoice
rule_allreduce (const SimCollective *collective)
{
  return sim_choose (collective->bytes <= SHORT_REDUCTION_BYTES ? &sim_allreduce_doubling
                                                                : &sim_allreduce_scatter_allgather);
}

const SimRule sim_rules_bgq[TRACE_N_OPS] = {
  [TRACE_OP_BARRIER] = sim_rule_barrier_dissemination,
  [TRACE_OP_BCAST] = rule_bcast,
  [TRACE_OP_GATHER] = sim_rule_gather_binomial,
  [TRACE_OP_GATHERV] = sim_rule_gatherv_linear,
  [TRACE_OP_SCATTER] = sim_rule_scatter_binomial,
  [TRACE_OP_SCATTERV] = sim_rule_scatterv_linear,
  [TRACE_OP_ALLGATHER] = sim_rule_allgather_mpich,
  [TRACE_OP_ALLGATHERV] = sim_rule_allgather_mpich,
  [TRACE_OP_ALLTOALL] = sim_rule_alltoall_mpich,
  [TRACE_OP_ALLTOALLV] = sim_rule_alltoallv_mpich,
  [TRACE_OP_REDUCE] = rule_reduce,
  [TRACE_OP_ALLREDUCE] = rule_allreduce,
  [TRACE_OP_REDUCE_SCATTER] = sim_rule_reduce_scatter_mpich,
  [TRACE_OP_SCAN] = sim_rule_scan_doubling,
  [TRACE_OP_EXSCAN] = sim_rule_scan_doubling,
  [TRACE_OP_NEIGHBOR_ALLGATHER] = sim_rule_neighbor,
  [TRACE_OP_NEIGHBOR_ALLTOALL] = sim_rule_neighbor,
};
