/* collective_rules_ompi13.c - Open MPI 1.3.2's choice of algorithms.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Source: ompi/mca/coll/tuned/coll_tuned_decision_fixed.c of Open MPI 1.3.2;
 * gatherv, scatterv and prefixes are coll/basic's, as coll/tuned leaves them
 * to it.  Reductions are taken to commute. */
#include "sim/collective/collective_rules.h"

#include <glib.h>

#define KIB 1024u

/* One of the lines that divide the plane of bytes and ranks. */
static double
line (const SimCollective *collective, uint64_t bytes, double per_byte, double at_zero)
{
  return (double) collective->n_ranks - (per_byte * (double) bytes + at_zero);
}

static SimChoice
rule_barrier (const SimCollective *collective)
{
  return sim_choose (sim_is_power_of_two (collective->n_ranks) ? &sim_barrier_doubling
                                                               : &sim_barrier_dissemination);
}

static SimChoice
choose_bcast (const SimCollective *collective, uint64_t bytes)
{
  if (bytes < 2048)
    return sim_choose (&sim_bcast_tree_binomial);
  if (bytes < 370728)
    return sim_choose_segmented (&sim_bcast_split_binary, KIB);
  if (line (collective, bytes, 1.6134e-6, 2.1102) < 0)
    return sim_choose_segmented (&sim_bcast_pipeline, 128 * KIB);
  if (collective->n_ranks < 13)
    return sim_choose_segmented (&sim_bcast_split_binary, 8 * KIB);
  if (line (collective, bytes, 2.3679e-6, 1.1787) < 0)
    return sim_choose_segmented (&sim_bcast_pipeline, 64 * KIB);
  if (line (collective, bytes, 3.2118e-6, 8.7936) < 0)
    return sim_choose_segmented (&sim_bcast_pipeline, 16 * KIB);
  return sim_choose_segmented (&sim_bcast_pipeline, 8 * KIB);
}

static SimChoice
rule_bcast (const SimCollective *collective)
{
  return choose_bcast (collective, collective->bytes);
}

/* The third line's pipeline is named binary in the source's comment. */
static SimChoice
choose_reduce (const SimCollective *collective, uint64_t bytes)
{
  if (collective->n_ranks < 8 && bytes < 512)
    return sim_choose (&sim_reduce_linear);
  if ((collective->n_ranks < 8 && bytes < 20480) || bytes < 2048)
    return sim_choose (&sim_reduce_tree_binomial);
  if (line (collective, bytes, 0.6016 / 1024, 1.3496) > 0)
    return sim_choose_segmented (&sim_reduce_tree_binomial, KIB);
  if (line (collective, bytes, 0.0410 / 1024, 9.7128) > 0)
    return sim_choose_segmented (&sim_reduce_pipeline, KIB);
  if (line (collective, bytes, 0.0422 / 1024, 1.1614) > 0 ||
      line (collective, bytes, 0.0033 / 1024, 1.6761) > 0)
    return sim_choose_segmented (&sim_reduce_pipeline, 32 * KIB);
  return sim_choose_segmented (&sim_reduce_pipeline, 64 * KIB);
}

static SimChoice
rule_reduce (const SimCollective *collective)
{
  return choose_reduce (collective, collective->bytes);
}

static SimChoice
rule_allreduce (const SimCollective *collective)
{
  uint64_t segment_bytes = UINT64_C (1) << 20;

  if (collective->bytes < 10000)
    return sim_choose (&sim_allreduce_doubling);
  if (sim_elements (collective->bytes) <= collective->n_ranks)
    return sim_choose_two (rule_reduce (collective), rule_bcast (collective));
  if (collective->bytes > segment_bytes * collective->n_ranks)
    return sim_choose_segmented (&sim_allreduce_ring, segment_bytes);
  return sim_choose (&sim_allreduce_ring);
}

/* Without counts it is a reduction and a scatterv. */
static SimChoice
rule_reduce_scatter (const SimCollective *collective)
{
  uint64_t bytes = sim_total_bytes (collective);
  uint32_t n = collective->n_ranks;

  for (uint32_t rank = 0; rank < n; rank++)
    if (sim_count_of (collective->recv_counts, rank) == 0)
      return sim_choose_two (choose_reduce (collective, bytes), sim_choose (&sim_scatterv_in_turn));
  if (bytes <= 12 * KIB || (bytes <= 256 * KIB && sim_is_power_of_two (n)) ||
      line (collective, bytes, 0.0012, 8) >= 0)
    return sim_choose (&sim_reduce_scatter_halving);
  return sim_choose (&sim_reduce_scatter_ring);
}

static SimChoice
choose_allgather (const SimCollective *collective, const SimAlgorithm *powers_of_two)
{
  if (collective->n_ranks == 2)
    return sim_choose (&sim_allgather_ring);
  if (sim_total_bytes (collective) < 50000)
    return sim_choose (sim_is_power_of_two (collective->n_ranks) ? powers_of_two
                                                                 : &sim_allgather_bruck);
  return sim_choose (collective->n_ranks % 2 == 1 ? &sim_allgather_ring : &sim_allgather_neighbor);
}

static SimChoice
rule_allgather (const SimCollective *collective)
{
  return choose_allgather (collective, &sim_allgather_doubling);
}

static SimChoice
rule_allgatherv (const SimCollective *collective)
{
  return choose_allgather (collective, &sim_allgather_bruck);
}

static SimChoice
rule_alltoall (const SimCollective *collective)
{
  if (collective->n_ranks == 2)
    return sim_choose (&sim_alltoall_pairwise_ring);
  if (collective->bytes < 200 && collective->n_ranks > 12)
    return sim_choose (&sim_alltoall_bruck);
  return sim_choose (collective->bytes < 3000 ? &sim_alltoall_linear : &sim_alltoall_pairwise_ring);
}

static SimChoice
rule_gather (const SimCollective *collective)
{
  uint64_t bytes = sim_block_bytes (collective);

  if (bytes > 92160)
    return sim_choose_segmented (&sim_gather_linear_sync, 32 * KIB);
  if (bytes > 6000)
    return sim_choose_segmented (&sim_gather_linear_sync, KIB);
  if (collective->n_ranks > 60 || (collective->n_ranks > 10 && bytes < 1024))
    return sim_choose (&sim_gather_binomial);
  return sim_choose (&sim_gather_linear);
}

static SimChoice
rule_scatter (const SimCollective *collective)
{
  if (collective->n_ranks > 10 && sim_block_bytes (collective) < 300)
    return sim_choose (&sim_scatter_binomial);
  return sim_choose (&sim_scatter_linear);
}

const SimRule sim_rules_ompi13[TRACE_N_OPS] = {
  [TRACE_OP_BARRIER] = { .choose = rule_barrier },
  [TRACE_OP_BCAST] = { .choose = rule_bcast },
  [TRACE_OP_GATHER] = { .choose = rule_gather },
  [TRACE_OP_GATHERV] = { .only = &sim_gatherv_in_turn },
  [TRACE_OP_SCATTER] = { .choose = rule_scatter },
  [TRACE_OP_SCATTERV] = { .only = &sim_scatterv_in_turn },
  [TRACE_OP_ALLGATHER] = { .choose = rule_allgather },
  [TRACE_OP_ALLGATHERV] = { .choose = rule_allgatherv },
  [TRACE_OP_ALLTOALL] = { .choose = rule_alltoall },
  [TRACE_OP_ALLTOALLV] = { .only = &sim_alltoallv_linear_nonzero },
  [TRACE_OP_REDUCE] = { .choose = rule_reduce },
  [TRACE_OP_ALLREDUCE] = { .choose = rule_allreduce },
  [TRACE_OP_REDUCE_SCATTER] = { .choose = rule_reduce_scatter },
  [TRACE_OP_SCAN] = { .only = &sim_scan_linear },
  [TRACE_OP_EXSCAN] = { .only = &sim_scan_linear },
  [TRACE_OP_NEIGHBOR_ALLGATHER] = { .only = &sim_neighbor_exchange },
  [TRACE_OP_NEIGHBOR_ALLTOALL] = { .only = &sim_neighbor_exchange },
};
