/* collective_steps.h - the step algorithms of collectives; private to sim/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The names are MPICH's, whose algorithms these are; thresholds between them
 * stand in collective.c.  A step that MPICH does with blocking calls has
 * `wait` set. */
#pragma once

#include "sim/collective.h"

/* n_steps depends on the rank; a step may be empty. */
typedef struct {
  uint32_t (*n_steps) (const SimCollective *collective);
  SimStep (*step) (const SimCollective *collective, uint32_t step);
} SimAlgorithm;

/* collective_tree.c: one rank is the root. */
extern const SimAlgorithm sim_bcast_binomial;
extern const SimAlgorithm sim_reduce_binomial;
extern const SimAlgorithm sim_gather_binomial;
extern const SimAlgorithm sim_gatherv_linear;
extern const SimAlgorithm sim_scatter_binomial;
extern const SimAlgorithm sim_scatterv_linear;

/* collective_reduce.c: everybody reduces. */
extern const SimAlgorithm sim_reduce_scatter_gather;
extern const SimAlgorithm sim_allreduce_doubling;
extern const SimAlgorithm sim_allreduce_scatter_allgather;
extern const SimAlgorithm sim_reduce_scatter_halving;
extern const SimAlgorithm sim_reduce_scatter_pairwise;
extern const SimAlgorithm sim_scan_doubling;

/* collective_exchange.c: everybody exchanges. */
extern const SimAlgorithm sim_barrier_dissemination;
extern const SimAlgorithm sim_allgather_doubling;
extern const SimAlgorithm sim_allgather_bruck;
extern const SimAlgorithm sim_allgather_ring;
extern const SimAlgorithm sim_alltoall_bruck;
extern const SimAlgorithm sim_alltoall_scattered;
extern const SimAlgorithm sim_alltoall_pairwise;

/* collective_neighbor.c: each with its own list of others. */
extern const SimAlgorithm sim_neighbor_exchange;

static inline uint32_t
sim_floor_log2 (uint32_t n)
{
  return 31u - (uint32_t) __builtin_clz (n);
}

/* The smallest k with 2^k >= n; n > 0. */
static inline uint32_t
sim_ceil_log2 (uint32_t n)
{
  return n == 1 ? 0 : sim_floor_log2 (n - 1) + 1;
}

/* The rank `distance` places after (before) this one, around the ring. */
static inline uint32_t
sim_rank_after (const SimCollective *collective, uint32_t rank, uint32_t distance)
{
  return distance < collective->n_ranks - rank ? rank + distance
                                               : rank - (collective->n_ranks - distance);
}

static inline uint32_t
sim_rank_before (const SimCollective *collective, uint32_t rank, uint32_t distance)
{
  return distance <= rank ? rank - distance : rank + (collective->n_ranks - distance);
}

static inline uint64_t
sim_count_of (const uint64_t *counts, uint32_t rank)
{
  return counts == NULL ? 0 : counts[rank];
}

static inline SimStep
sim_step_send (uint32_t to, uint64_t bytes, bool wait)
{
  return (SimStep){ .send_to = to, .recv_from = TOPO_NONE, .send_bytes = bytes, .wait = wait };
}

static inline SimStep
sim_step_receive (uint32_t from, uint64_t bytes, bool wait)
{
  return (SimStep){ .send_to = TOPO_NONE, .recv_from = from, .recv_bytes = bytes, .wait = wait };
}

static inline SimStep
sim_step_both (uint32_t to, uint64_t send_bytes, uint32_t from, uint64_t recv_bytes, bool wait)
{
  return (SimStep){ to, from, send_bytes, recv_bytes, wait };
}
