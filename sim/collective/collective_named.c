/* collective_named.c - algorithms by name, whatever the rules of a library choose.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/collective_steps.h"

#include <string.h>

/* Names are the values of Open MPI 4.1's parameters coll_tuned_KIND_algorithm.  Its chains are missing
 * but for the pipeline, the chain of all ranks: the others have several chains from the root.  Without
 * a limit of requests, which is the default, its linear_sync is linear. */
static const struct {
  TraceOpKind kind;
  const char *name;
  const SimAlgorithm *algorithm;
} named[] = {
  { TRACE_OP_BARRIER, "linear", &sim_barrier_linear },
  { TRACE_OP_BARRIER, "recursive_doubling", &sim_barrier_doubling },
  { TRACE_OP_BARRIER, "bruck", &sim_barrier_dissemination },
  { TRACE_OP_BARRIER, "tree", &sim_barrier_tree },
  { TRACE_OP_BCAST, "basic_linear", &sim_bcast_linear },
  { TRACE_OP_BCAST, "pipeline", &sim_bcast_pipeline },
  { TRACE_OP_BCAST, "split_binary_tree", &sim_bcast_split_binary },
  { TRACE_OP_BCAST, "binary_tree", &sim_bcast_tree_binary },
  { TRACE_OP_BCAST, "binomial", &sim_bcast_tree_binomial },
  { TRACE_OP_BCAST, "knomial", &sim_bcast_tree_four_nomial },
  { TRACE_OP_BCAST, "scatter_allgather", &sim_bcast_scatter_doubling },
  { TRACE_OP_BCAST, "scatter_allgather_ring", &sim_bcast_scatter_ring },
  { TRACE_OP_GATHER, "basic_linear", &sim_gather_linear },
  { TRACE_OP_GATHER, "binomial", &sim_gather_binomial },
  { TRACE_OP_GATHER, "linear_sync", &sim_gather_linear_sync },
  { TRACE_OP_SCATTER, "basic_linear", &sim_scatter_linear },
  { TRACE_OP_SCATTER, "binomial", &sim_scatter_binomial },
  { TRACE_OP_SCATTER, "linear_nb", &sim_scatter_linear_at_once },
  { TRACE_OP_ALLGATHER, "bruck", &sim_allgather_bruck },
  { TRACE_OP_ALLGATHER, "recursive_doubling", &sim_allgather_doubling },
  { TRACE_OP_ALLGATHER, "ring", &sim_allgather_ring },
  { TRACE_OP_ALLGATHER, "neighbor", &sim_allgather_neighbor },
  { TRACE_OP_ALLTOALL, "linear", &sim_alltoall_linear },
  { TRACE_OP_ALLTOALL, "pairwise", &sim_alltoall_pairwise_ring },
  { TRACE_OP_ALLTOALL, "modified_bruck", &sim_alltoall_bruck },
  { TRACE_OP_ALLTOALL, "linear_sync", &sim_alltoall_linear },
  { TRACE_OP_REDUCE, "linear", &sim_reduce_linear },
  { TRACE_OP_REDUCE, "pipeline", &sim_reduce_pipeline },
  { TRACE_OP_REDUCE, "binary", &sim_reduce_tree_binary },
  { TRACE_OP_REDUCE, "binomial", &sim_reduce_tree_binomial },
  { TRACE_OP_REDUCE, "in-order_binary", &sim_reduce_tree_in_order },
  { TRACE_OP_ALLREDUCE, "recursive_doubling", &sim_allreduce_doubling },
  { TRACE_OP_ALLREDUCE, "ring", &sim_allreduce_ring },
  { TRACE_OP_ALLREDUCE, "rabenseifner", &sim_allreduce_halves },
  { TRACE_OP_REDUCE_SCATTER, "recursive_halving", &sim_reduce_scatter_halving },
  { TRACE_OP_REDUCE_SCATTER, "ring", &sim_reduce_scatter_ring },
  { TRACE_OP_REDUCE_SCATTER, "butterfly", &sim_reduce_scatter_butterfly },
};

/* Where Open MPI's algorithm would leave the call to another one. */
static bool
can_serve (const SimAlgorithm *algorithm, uint32_t n_ranks)
{
  if (algorithm == &sim_allgather_doubling)
    return sim_is_power_of_two (n_ranks);
  return algorithm != &sim_allgather_neighbor || n_ranks % 2 == 0;
}

uint32_t
sim_collective_named (TraceOpKind kind, const char *name)
{
  for (uint32_t i = 0; i < G_N_ELEMENTS (named); i++)
    if (named[i].kind == kind && strcmp (named[i].name, name) == 0)
      return i + 1;
  return 0;
}

const SimAlgorithm *
sim_named_algorithm (const SimCollective *collective, uint64_t number)
{
  if (number == 0 || number > G_N_ELEMENTS (named) || named[number - 1].kind != collective->kind ||
      !can_serve (named[number - 1].algorithm, collective->n_ranks))
    return NULL;
  return named[number - 1].algorithm;
}
