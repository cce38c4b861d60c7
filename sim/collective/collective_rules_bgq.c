/* collective_rules_bgq.c - what Blue Gene/Q sends messages for, and how.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Thresholds are those of MPICH 3.1, on which Blue Gene/Q's MPI is built; what
 * its network does in hardware or by many-to-many messages is in
 * collective.c. */
#include "sim/collective/collective_rules.h"

#include <glib.h>

/* Reductions up to this send the whole vector in each step. */
#define SHORT_REDUCTION_BYTES 2048u

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
  [TRACE_OP_BARRIER] = { .only = &sim_barrier_dissemination },
  /* PAMI's 2-nomial tree for communicators that are no rectangle, at any size. */
  [TRACE_OP_BCAST] = { .only = &sim_bcast_binomial },
  [TRACE_OP_GATHER] = { .only = &sim_gather_binomial },
  [TRACE_OP_GATHERV] = { .only = &sim_gatherv_linear },
  [TRACE_OP_SCATTER] = { .only = &sim_scatter_binomial },
  [TRACE_OP_SCATTERV] = { .only = &sim_scatterv_linear },
  [TRACE_OP_ALLGATHER] = { .choose = sim_rule_allgather_mpich },
  [TRACE_OP_ALLGATHERV] = { .choose = sim_rule_allgather_mpich },
  [TRACE_OP_ALLTOALL] = { .choose = sim_rule_alltoall_mpich },
  [TRACE_OP_ALLTOALLV] = { .only = &sim_alltoall_scattered },
  [TRACE_OP_REDUCE] = { .choose = rule_reduce },
  [TRACE_OP_ALLREDUCE] = { .choose = rule_allreduce },
  [TRACE_OP_REDUCE_SCATTER] = { .choose = sim_rule_reduce_scatter_mpich },
  [TRACE_OP_SCAN] = { .only = &sim_scan_doubling },
  [TRACE_OP_EXSCAN] = { .only = &sim_scan_doubling },
  [TRACE_OP_NEIGHBOR_ALLGATHER] = { .only = &sim_neighbor_exchange },
  [TRACE_OP_NEIGHBOR_ALLTOALL] = { .only = &sim_neighbor_exchange },
};
