/* collective_exchange.c - step algorithms in which all ranks exchange.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/collective_steps.h"

#include <glib.h>

/* Isends and irecvs that MPICH's scattered alltoall starts before it waits. */
#define SCATTERED_AT_ONCE 32u

static uint32_t
log_steps (const SimCollective *collective)
{
  return sim_ceil_log2 (collective->n_ranks);
}

static uint32_t
all_others (const SimCollective *collective)
{
  return collective->n_ranks - 1;
}

/* --- Barrier --- */

static SimStep
dissemination_step (const SimCollective *collective, uint32_t step)
{
  uint32_t distance = 1u << step;

  return sim_step_both (sim_rank_after (collective, collective->rank, distance), 0,
                        sim_rank_before (collective, collective->rank, distance), 0, true);
}

const SimAlgorithm sim_barrier_dissemination = { log_steps, dissemination_step, NULL };

/* Recursive doubling among the largest power of two of ranks; each rank above
 * is one's below, who tells it when all are there. */
static uint32_t
barrier_doubling_steps (const SimCollective *collective)
{
  uint32_t log2_inner = sim_floor_log2 (collective->n_ranks);
  uint32_t n_inner = 1u << log2_inner;

  if (collective->rank >= n_inner)
    return 1;
  return collective->rank + n_inner < collective->n_ranks ? log2_inner + 2 : log2_inner;
}

static SimStep
barrier_doubling_step (const SimCollective *collective, uint32_t step)
{
  uint32_t log2_inner = sim_floor_log2 (collective->n_ranks);
  uint32_t outer = collective->rank ^ 1u << log2_inner;
  bool has_outer = outer < collective->n_ranks;

  if (collective->rank > outer)
    return sim_step_both (outer, 0, outer, 0, true);
  if (has_outer && step-- == 0)
    return sim_step_receive (outer, 0, true);
  if (step == log2_inner)
    return sim_step_send (outer, 0, true);
  return sim_step_both (collective->rank ^ 1u << step, 0, collective->rank ^ 1u << step, 0, true);
}

const SimAlgorithm sim_barrier_doubling = { barrier_doubling_steps, barrier_doubling_step, NULL };

/* Up a binomial tree to rank 0, and down again. */
static uint32_t
barrier_tree_steps (const SimCollective *collective)
{
  return 2 * log_steps (collective);
}

static SimStep
barrier_tree_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n = log_steps (collective);
  bool up = step < n;
  uint32_t distance = 1u << (up ? step : 2 * n - 1 - step);
  uint32_t peer = collective->rank ^ distance;

  if ((collective->rank & (distance - 1)) != 0 || peer >= collective->n_ranks)
    return sim_step_send (TOPO_NONE, 0, false);
  return up == (peer > collective->rank) ? sim_step_receive (peer, 0, true)
                                         : sim_step_send (peer, 0, true);
}

const SimAlgorithm sim_barrier_tree = { barrier_tree_steps, barrier_tree_step, NULL };

/* --- Allgather and allgatherv --- */

/* Contributions of n ranks from `first` on, around the ring. */
static uint64_t
contributions (const SimCollective *collective, uint32_t first, uint32_t n)
{
  uint64_t bytes = 0;

  if (collective->kind == TRACE_OP_ALLGATHER)
    return collective->bytes * n;
  for (uint32_t nth = 0; nth < n; nth++)
    bytes += sim_count_of (collective->recv_counts, sim_rank_after (collective, first, nth));
  return bytes;
}

/* n_ranks is a power of two. */
static SimStep
allgather_doubling_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n = 1u << step;
  uint32_t mine = collective->rank & ~(n - 1);
  uint32_t peer = collective->rank ^ n;

  return sim_step_both (peer, contributions (collective, mine, n), peer,
                        contributions (collective, mine ^ n, n), true);
}

const SimAlgorithm sim_allgather_doubling = { log_steps, allgather_doubling_step, NULL };

/* Each rank has the contributions of itself and its followers. */
static SimStep
allgather_bruck_step (const SimCollective *collective, uint32_t step)
{
  uint32_t have = 1u << step;
  uint32_t n = MIN (have, collective->n_ranks - have);
  uint32_t from = sim_rank_after (collective, collective->rank, have);

  return sim_step_both (sim_rank_before (collective, collective->rank, have),
                        contributions (collective, collective->rank, n), from,
                        contributions (collective, from, n), true);
}

const SimAlgorithm sim_allgather_bruck = { log_steps, allgather_bruck_step, NULL };

static SimStep
allgather_ring_step (const SimCollective *collective, uint32_t step)
{
  uint32_t sent = sim_rank_before (collective, collective->rank, step);

  return sim_step_both (sim_rank_after (collective, collective->rank, 1),
                        contributions (collective, sent, 1),
                        sim_rank_before (collective, collective->rank, 1),
                        contributions (collective, sim_rank_before (collective, sent, 1), 1), true);
}

const SimAlgorithm sim_allgather_ring = { all_others, allgather_ring_step, NULL };

/* --- Alltoall and alltoallv --- */

/* How many of 1 .. n-1 have bit `bit` set: the blocks that still have 2^bit
 * ranks to go, of those that are for ranks further on. */
static uint32_t
numbers_with_bit (uint32_t n, uint32_t bit)
{
  uint32_t whole = n >> (bit + 1) << bit;
  uint32_t rest = n & ((2u << bit) - 1);

  return whole + (rest > 1u << bit ? rest - (1u << bit) : 0);
}

static SimStep
alltoall_bruck_step (const SimCollective *collective, uint32_t step)
{
  uint32_t distance = 1u << step;
  uint64_t bytes = collective->bytes * numbers_with_bit (collective->n_ranks, step);

  return sim_step_both (sim_rank_after (collective, collective->rank, distance), bytes,
                        sim_rank_before (collective, collective->rank, distance), bytes, true);
}

const SimAlgorithm sim_alltoall_bruck = { log_steps, alltoall_bruck_step, NULL };

/* Counts of 0 in an alltoallv make no messages. */
static SimStep
exchange (const SimCollective *collective, uint32_t to, uint32_t from, bool wait)
{
  SimStep step = sim_step_both (to, collective->bytes, from, collective->bytes, wait);

  if (collective->kind == TRACE_OP_ALLTOALLV) {
    step.send_bytes = sim_count_of (collective->counts, to);
    step.recv_bytes = sim_count_of (collective->recv_counts, from);
    step.send_to = step.send_bytes > 0 ? to : TOPO_NONE;
    step.recv_from = step.recv_bytes > 0 ? from : TOPO_NONE;
  }
  return step;
}

static SimStep
alltoall_scattered_step (const SimCollective *collective, uint32_t step)
{
  bool last = step + 2 == collective->n_ranks;

  return exchange (collective, sim_rank_before (collective, collective->rank, step + 1),
                   sim_rank_after (collective, collective->rank, step + 1),
                   last || step % SCATTERED_AT_ONCE == SCATTERED_AT_ONCE - 1);
}

const SimAlgorithm sim_alltoall_scattered = { all_others, alltoall_scattered_step, NULL };

static SimStep
alltoall_pairwise_step (const SimCollective *collective, uint32_t step)
{
  uint32_t distance = step + 1;
  uint32_t peer = collective->rank ^ distance;

  if (sim_is_power_of_two (collective->n_ranks))
    return exchange (collective, peer, peer, true);
  return exchange (collective, sim_rank_after (collective, collective->rank, distance),
                   sim_rank_before (collective, collective->rank, distance), true);
}

const SimAlgorithm sim_alltoall_pairwise = { all_others, alltoall_pairwise_step, NULL };

/* Open MPI's goes around the ring for any number of ranks, and counts of 0 are
 * messages too. */
static SimStep
alltoall_pairwise_ring_step (const SimCollective *collective, uint32_t step)
{
  uint32_t to = sim_rank_after (collective, collective->rank, step + 1);
  uint32_t from = sim_rank_before (collective, collective->rank, step + 1);

  if (collective->kind == TRACE_OP_ALLTOALLV)
    return sim_step_both (to, sim_count_of (collective->counts, to), from,
                          sim_count_of (collective->recv_counts, from), true);
  return sim_step_both (to, collective->bytes, from, collective->bytes, true);
}

const SimAlgorithm sim_alltoall_pairwise_ring = { all_others, alltoall_pairwise_ring_step, NULL };
