/* collective_ring.c - algorithms around the ring of ranks.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sources: coll_base_allreduce.c, coll_base_reduce_scatter.c and
 * coll_base_allgather(v).c of Open MPI 4.1, the same as those of coll/tuned in
 * 1.3. */
#include "sim/collective/collective_steps.h"

#include <glib.h>

static uint32_t
n_others (const SimCollective *collective)
{
  return collective->n_ranks - 1;
}

/* --- Allreduce --- */

/* Of `bytes` in n parts, the first ones longer by a byte when it does not
 * divide. */
static uint64_t
part_bytes (uint64_t bytes, uint64_t n, uint64_t nth)
{
  return bytes / n + (nth < bytes % n);
}

/* Rounds of the ring, each with a part of every block, so that a part is
 * about a segment. */
static uint32_t
n_phases (const SimCollective *collective)
{
  uint64_t round_bytes = collective->segment_bytes * collective->n_ranks;
  uint64_t rest_bytes, n;

  if (round_bytes == 0 || collective->bytes < round_bytes)
    return 1;
  n = collective->bytes / round_bytes;
  rest_bytes = collective->bytes % round_bytes;
  n += rest_bytes >= collective->n_ranks && rest_bytes > round_bytes / 2;
  return (uint32_t) MIN (n, UINT32_MAX / collective->n_ranks - 1);
}

static uint32_t
allreduce_steps (const SimCollective *collective)
{
  return (n_phases (collective) + 1) * n_others (collective);
}

/* First every block collects a sum on its way around the ring, then the sums
 * go around once more: `nth` counts a round's steps. */
static SimStep
allreduce_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n = collective->n_ranks, phases = n_phases (collective);
  uint32_t phase = step / n_others (collective), nth = step % n_others (collective);
  bool collects = phase < phases;
  uint32_t after = sim_rank_after (collective, collective->rank, 1);
  uint32_t sent = sim_rank_before (collective, collects ? collective->rank : after, nth);
  uint32_t received = sim_rank_before (collective, sent, 1);
  uint64_t send_bytes = part_bytes (collective->bytes, n, sent);
  uint64_t recv_bytes = part_bytes (collective->bytes, n, received);

  if (collects) {
    send_bytes = part_bytes (send_bytes, phases, phase);
    recv_bytes = part_bytes (recv_bytes, phases, phase);
  }
  return sim_step_both (after, send_bytes, sim_rank_before (collective, collective->rank, 1),
                        recv_bytes, true);
}

const SimAlgorithm sim_allreduce_ring = { allreduce_steps, allreduce_step, NULL };

/* --- Reduce-scatter --- */

/* As the first round above, from one block before, so that the last to come is
 * one's own. */
static SimStep
reduce_scatter_step (const SimCollective *collective, uint32_t step)
{
  uint32_t before = sim_rank_before (collective, collective->rank, 1);
  uint32_t sent = sim_rank_before (collective, before, step);

  return sim_step_both (
      sim_rank_after (collective, collective->rank, 1),
      sim_count_of (collective->recv_counts, sent), before,
      sim_count_of (collective->recv_counts, sim_rank_before (collective, sent, 1)), true);
}

const SimAlgorithm sim_reduce_scatter_ring = { n_others, reduce_scatter_step, NULL };

/* --- Allgather by exchanges with the two neighbours in turn --- */

/* n_ranks is even. */
static uint32_t
neighbor_steps (const SimCollective *collective)
{
  return collective->n_ranks / 2;
}

/* The first rank of the pair whose contributions a rank gets in a step, or has
 * from the first step on. */
static uint32_t
pair_received (const SimCollective *collective, uint32_t step)
{
  bool even = collective->rank % 2 == 0;
  uint32_t mine = collective->rank & ~1u;

  if (step == 0)
    return mine;
  if (step % 2 == 1)
    return even ? sim_rank_before (collective, mine, step + 1)
                : sim_rank_after (collective, mine, (step + 1) % collective->n_ranks);
  return even ? sim_rank_after (collective, mine, step) : sim_rank_before (collective, mine, step);
}

static uint64_t
contribution (const SimCollective *collective, uint32_t rank)
{
  return collective->kind == TRACE_OP_ALLGATHER ? collective->bytes
                                                : sim_count_of (collective->recv_counts, rank);
}

static uint64_t
contribution_of_pair (const SimCollective *collective, uint32_t first)
{
  return contribution (collective, first) + contribution (collective, first + 1);
}

static SimStep
neighbor_step (const SimCollective *collective, uint32_t step)
{
  bool upwards = collective->rank % 2 == step % 2;
  uint32_t peer = upwards ? sim_rank_after (collective, collective->rank, 1)
                          : sim_rank_before (collective, collective->rank, 1);

  if (step == 0)
    return sim_step_both (peer, contribution (collective, collective->rank), peer,
                          contribution (collective, peer), true);
  return sim_step_both (
      peer, contribution_of_pair (collective, pair_received (collective, step - 1)), peer,
      contribution_of_pair (collective, pair_received (collective, step)), true);
}

const SimAlgorithm sim_allgather_neighbor = { neighbor_steps, neighbor_step, NULL };
