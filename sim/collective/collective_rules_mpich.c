/* collective_rules_mpich.c - MPICH's choice of algorithms.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Source: the selection table that is built into MPICH 4.0.2,
 * src/mpi/coll/src/csel_json_autogen.c, for communicators of which MPICH does
 * not know that ranks share a node: its two-level ("smp") algorithms are not
 * here.  What has not changed since MPICH 3.1 is shared with Blue Gene/Q's
 * rules. */
#include "sim/collective/collective_rules.h"

#include <glib.h>

/* Few, growing messages below a total, the ring above. */
SimChoice
sim_rule_allgather_mpich (const SimCollective *collective)
{
  uint64_t total_bytes = sim_total_bytes (collective);

  if (sim_is_power_of_two (collective->n_ranks) && total_bytes < 512 * 1024)
    return sim_choose (&sim_allgather_doubling);
  return sim_choose (total_bytes < 80 * 1024 ? &sim_allgather_bruck : &sim_allgather_ring);
}

SimChoice
sim_rule_alltoall_mpich (const SimCollective *collective)
{
  if (collective->bytes <= 256 && collective->n_ranks >= 8)
    return sim_choose (&sim_alltoall_bruck);
  return sim_choose (collective->bytes <= 32 * 1024 ? &sim_alltoall_scattered
                                                    : &sim_alltoall_pairwise);
}

SimChoice
sim_rule_reduce_scatter_mpich (const SimCollective *collective)
{
  return sim_choose (sim_total_bytes (collective) < 512 * 1024 ? &sim_reduce_scatter_halving
                                                               : &sim_reduce_scatter_pairwise);
}

static SimChoice
rule_bcast (const SimCollective *collective)
{
  if (collective->n_ranks < 8 || collective->bytes <= 12288)
    return sim_choose (&sim_bcast_binomial);
  if (sim_is_power_of_two (collective->n_ranks) && collective->bytes <= 512 * 1024)
    return sim_choose (&sim_bcast_scatter_doubling);
  return sim_choose (&sim_bcast_scatter_ring);
}

/* Vectors of fewer elements than ranks take part in the halving are not cut. */
static bool
is_cut (const SimCollective *collective)
{
  return sim_elements (collective->bytes) >= 1u << sim_floor_log2 (collective->n_ranks);
}

static SimChoice
rule_reduce (const SimCollective *collective)
{
  return sim_choose (collective->bytes > 2048 && is_cut (collective) ? &sim_reduce_scatter_gather
                                                                     : &sim_reduce_binomial);
}

static SimChoice
rule_allreduce (const SimCollective *collective)
{
  return sim_choose (collective->bytes > 8 && is_cut (collective) ? &sim_allreduce_scatter_allgather
                                                                  : &sim_allreduce_doubling);
}

const SimRule sim_rules_mpich[TRACE_N_OPS] = {
  [TRACE_OP_BARRIER] = { .only = &sim_barrier_dissemination },
  [TRACE_OP_BCAST] = { .choose = rule_bcast },
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
