/* collective_exchange.c - step algorithms in which all ranks exchange.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective_steps.h"

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

const SimAlgorithm sim_barrier_dissemination = { log_steps, dissemination_step };

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

const SimAlgorithm sim_allgather_doubling = { log_steps, allgather_doubling_step };

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

const SimAlgorithm sim_allgather_bruck = { log_steps, allgather_bruck_step };

static SimStep
allgather_ring_step (const SimCollective *collective, uint32_t step)
{
  uint32_t sent = sim_rank_before (collective, collective->rank, step);

  return sim_step_both (sim_rank_after (collective, collective->rank, 1),
                        contributions (collective, sent, 1),
                        sim_rank_before (collective, collective->rank, 1),
                        contributions (collective, sim_rank_before (collective, sent, 1), 1), true);
}

const SimAlgorithm sim_allgather_ring = { all_others, allgather_ring_step };

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

const SimAlgorithm sim_alltoall_bruck = { log_steps, alltoall_bruck_step };

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

const SimAlgorithm sim_alltoall_scattered = { all_others, alltoall_scattered_step };

static SimStep
alltoall_pairwise_step (const SimCollective *collective, uint32_t step)
{
  uint32_t distance = step + 1;
  uint32_t n_ranks = collective->n_ranks;
  bool power_of_two = (n_ranks & (n_ranks - 1)) == 0;
  uint32_t peer = collective->rank ^ distance;

  if (power_of_two)
    return exchange (collective, peer, peer, true);
  return exchange (collective, sim_rank_after (collective, collective->rank, distance),
                   sim_rank_before (collective, collective->rank, distance), true);
}

const SimAlgorithm sim_alltoall_pairwise = { all_others, alltoall_pairwise_step };
