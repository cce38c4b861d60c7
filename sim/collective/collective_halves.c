/* collective_halves.c - reductions that Open MPI halves in its own way.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sources: coll_base_allreduce.c (redscat_allgather) and
 * coll_base_reduce_scatter.c (butterfly) of Open MPI 4.1.  Of the first
 * 2 * extra ranks one in each pair drops out, extra being what there is above
 * a power of two; those who stay are numbered: cores. */
#include "sim/collective/collective_steps.h"

#include <glib.h>

static uint32_t
log2_cores (const SimCollective *collective)
{
  return sim_floor_log2 (collective->n_ranks);
}

static uint32_t
n_extra (const SimCollective *collective)
{
  return collective->n_ranks - (1u << log2_cores (collective));
}

static bool
is_paired (const SimCollective *collective)
{
  return collective->rank < 2 * n_extra (collective);
}

/* `stays` is the lowest bit of those who stay. */
static uint32_t
rank_of_core (const SimCollective *collective, uint32_t core, uint32_t stays)
{
  uint32_t extra = n_extra (collective);

  return core < extra ? 2 * core + stays : core + extra;
}

static uint32_t
core_of_me (const SimCollective *collective)
{
  return is_paired (collective) ? collective->rank / 2 : collective->rank - n_extra (collective);
}

/* --- Allreduce (Rabenseifner) ---
 *
 * The two of a pair reduce half the vector each, then the odd one gives its
 * half to the even one and drops out. */

static uint32_t
allreduce_steps (const SimCollective *collective)
{
  uint32_t n_core_steps = 2 * log2_cores (collective);

  if (!is_paired (collective))
    return n_core_steps;
  return collective->rank % 2 == 1 ? 3 : n_core_steps + 3;
}

/* What a core still works on after some halvings: the lower half, rounded
 * down, is of those who have the bit clear. */
static uint64_t
window_bytes (const SimCollective *collective, uint32_t core, uint32_t n_halvings)
{
  uint64_t bytes = collective->bytes;

  for (uint32_t bit = 0; bit < n_halvings; bit++)
    bytes = core >> bit & 1u ? bytes - bytes / 2 : bytes / 2;
  return bytes;
}

static SimStep
allreduce_core_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n = log2_cores (collective), core = core_of_me (collective);
  uint32_t bit = step < n ? step : 2 * n - 1 - step;
  uint32_t peer = rank_of_core (collective, core ^ 1u << bit, 0);
  uint64_t kept = window_bytes (collective, core, bit + 1);
  uint64_t given = window_bytes (collective, core, bit) - kept;

  return step < n ? sim_step_both (peer, given, peer, kept, true)
                  : sim_step_both (peer, kept, peer, given, true);
}

static SimStep
allreduce_step (const SimCollective *collective, uint32_t step)
{
  uint64_t lower_bytes = collective->bytes / 2, upper_bytes = collective->bytes - lower_bytes;
  uint32_t peer = collective->rank ^ 1u;
  bool odd = collective->rank % 2 == 1;

  if (!is_paired (collective))
    return allreduce_core_step (collective, step);
  if (step == 0)
    return odd ? sim_step_both (peer, lower_bytes, peer, upper_bytes, true)
               : sim_step_both (peer, upper_bytes, peer, lower_bytes, true);
  if (step == 1)
    return odd ? sim_step_send (peer, upper_bytes, true)
               : sim_step_receive (peer, upper_bytes, true);
  if (odd)
    return sim_step_receive (peer, collective->bytes, true);
  if (step == 2 + 2 * log2_cores (collective))
    return sim_step_send (peer, collective->bytes, true);
  return allreduce_core_step (collective, step - 2);
}

const SimAlgorithm sim_allreduce_halves = { allreduce_steps, allreduce_step, NULL };

/* --- Reduce-scatter (butterfly) ---
 *
 * The even one of a pair gives its vector to the odd one.  Halving by near
 * cores first leaves each core with the result of the one whose number is its
 * own with the bits in reverse; that goes where it belongs in the end. */

static uint32_t
mirrored (const SimCollective *collective, uint32_t core)
{
  uint32_t mirror = 0;

  for (uint32_t bit = 0; bit < log2_cores (collective); bit++)
    mirror = mirror << 1 | (core >> bit & 1u);
  return mirror;
}

/* Of n cores and the ranks that they stand for. */
static uint64_t
counts_of_cores (const SimCollective *collective, uint32_t first, uint32_t n)
{
  uint32_t extra = n_extra (collective), end = first + n;
  uint32_t last_rank = end < extra ? 2 * end : end + extra;
  uint64_t bytes = 0;

  for (uint32_t rank = first < extra ? 2 * first : first + extra; rank < last_rank; rank++)
    bytes += sim_count_of (collective->recv_counts, rank);
  return bytes;
}

static SimStep
butterfly_core_step (const SimCollective *collective, uint32_t core, uint32_t bit)
{
  uint32_t n = 1u << (log2_cores (collective) - 1 - bit);
  uint32_t peer = rank_of_core (collective, core ^ 1u << bit, 1);
  uint32_t base = 0, kept, given;

  for (uint32_t done = 0; done < bit; done++)
    base += (core >> done & 1u) << (log2_cores (collective) - 1 - done);
  kept = core >> bit & 1u ? base + n : base;
  given = core >> bit & 1u ? base : base + n;
  return sim_step_both (peer, counts_of_cores (collective, given, n), peer,
                        counts_of_cores (collective, kept, n), true);
}

/* The rank that has the result of the core that I would be. */
static uint32_t
holder_rank (const SimCollective *collective)
{
  return rank_of_core (collective, mirrored (collective, core_of_me (collective)), 1);
}

/* What I hold, to the two ranks of a core, or to its only one: first to the
 * one that dropped out. */
static SimStep
butterfly_end_step (const SimCollective *collective, bool dropped)
{
  uint32_t held = mirrored (collective, core_of_me (collective));
  uint32_t peer = holder_rank (collective);

  if (dropped && held < n_extra (collective))
    return sim_step_send (peer - 1, sim_count_of (collective->recv_counts, peer - 1), true);
  if (dropped || peer == collective->rank)
    return sim_step_send (TOPO_NONE, 0, false);
  return sim_step_both (peer, sim_count_of (collective->recv_counts, peer), peer,
                        sim_count_of (collective->recv_counts, collective->rank), true);
}

static uint32_t
butterfly_steps (const SimCollective *collective)
{
  if (is_paired (collective) && collective->rank % 2 == 0)
    return 2;
  return is_paired (collective) + log2_cores (collective) + 2;
}

static SimStep
butterfly_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n = log2_cores (collective);

  if (is_paired (collective) && collective->rank % 2 == 0)
    return step == 0
               ? sim_step_send (collective->rank + 1, collective->total_bytes, true)
               : sim_step_receive (holder_rank (collective),
                                   sim_count_of (collective->recv_counts, collective->rank), true);
  if (is_paired (collective) && step-- == 0)
    return sim_step_receive (collective->rank - 1, collective->total_bytes, true);
  if (step < n)
    return butterfly_core_step (collective, core_of_me (collective), step);
  return butterfly_end_step (collective, step == n);
}

const SimAlgorithm sim_reduce_scatter_butterfly = { butterfly_steps, butterfly_step, NULL };
