/* collective_tree.c - step algorithms in which one rank is the root.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Binomial trees over places, which are ranks counted from the root: the
 * parent of a place is the place without its lowest bit, and its subtree is
 * the places up to the next multiple of that bit.  The tree of 6:
 *
 *        0
 *      / | \
 *     4  2  1
 *     |  |
 *     5  3                                                              */
#include "sim/collective/collective_steps.h"

#include <glib.h>

static uint32_t
my_place (const SimCollective *collective)
{
  return sim_rank_before (collective, collective->rank, (uint32_t) collective->root);
}

static uint32_t
rank_at (const SimCollective *collective, uint32_t place)
{
  return sim_rank_after (collective, place, (uint32_t) collective->root);
}

static uint32_t
parent_rank (const SimCollective *collective, uint32_t place)
{
  return rank_at (collective, place & (place - 1));
}

/* Children of a place are place + 2^k for all k below this. */
static uint32_t
n_children (const SimCollective *collective, uint32_t place)
{
  uint32_t below = sim_ceil_log2 (collective->n_ranks - place);

  return place == 0 ? below : MIN (below, (uint32_t) __builtin_ctz (place));
}

static uint32_t
tree_steps (const SimCollective *collective)
{
  uint32_t place = my_place (collective);

  return n_children (collective, place) + (place != 0);
}

/* Ranks in the subtree of a place that is not the root. */
static uint32_t
subtree_ranks (const SimCollective *collective, uint32_t place)
{
  return MIN (place & -place, collective->n_ranks - place);
}

/* From the root down: first what the parent sends, then the children, the
 * one with the largest subtree first.  `unit_bytes` goes to every rank of a
 * subtree, or once when nothing has to be told apart. */
static SimStep
down_step (const SimCollective *collective, uint32_t step, uint64_t unit_bytes, bool per_rank)
{
  uint32_t place = my_place (collective);
  uint32_t child;

  if (place != 0 && step == 0)
    return sim_step_receive (parent_rank (collective, place),
                             per_rank ? unit_bytes * subtree_ranks (collective, place) : unit_bytes,
                             true);
  child = place + (1u << (n_children (collective, place) - 1 - (step - (place != 0))));
  return sim_step_send (rank_at (collective, child),
                        per_rank ? unit_bytes * subtree_ranks (collective, child) : unit_bytes,
                        true);
}

/* Up to the root: first the children, smallest subtree first, then to the
 * parent. */
static SimStep
up_step (const SimCollective *collective, uint32_t step, uint64_t unit_bytes, bool per_rank)
{
  uint32_t place = my_place (collective);
  uint32_t child = place + (1u << step);

  if (step == n_children (collective, place))
    return sim_step_send (parent_rank (collective, place),
                          per_rank ? unit_bytes * subtree_ranks (collective, place) : unit_bytes,
                          true);
  return sim_step_receive (rank_at (collective, child),
                           per_rank ? unit_bytes * subtree_ranks (collective, child) : unit_bytes,
                           true);
}

static SimStep
bcast_step (const SimCollective *collective, uint32_t step)
{
  return down_step (collective, step, collective->bytes, false);
}

static SimStep
reduce_step (const SimCollective *collective, uint32_t step)
{
  return up_step (collective, step, collective->bytes, false);
}

static bool
is_root (const SimCollective *collective)
{
  return collective->rank == (uint32_t) collective->root;
}

static SimStep
gather_step (const SimCollective *collective, uint32_t step)
{
  return up_step (collective, step,
                  is_root (collective) ? collective->recv_bytes : collective->bytes, true);
}

static SimStep
scatter_step (const SimCollective *collective, uint32_t step)
{
  return down_step (collective, step,
                    is_root (collective) ? collective->bytes : collective->recv_bytes, true);
}

const SimAlgorithm sim_bcast_binomial = { tree_steps, bcast_step, NULL };
const SimAlgorithm sim_reduce_binomial = { tree_steps, reduce_step, NULL };
const SimAlgorithm sim_gather_binomial = { tree_steps, gather_step, NULL };
const SimAlgorithm sim_scatter_binomial = { tree_steps, scatter_step, NULL };

/* --- Linear: the root and each other rank directly --- */

/* Those who have nothing to send or get stay out of it. */
static uint32_t
gatherv_steps (const SimCollective *collective)
{
  return is_root (collective) ? collective->n_ranks - 1 : collective->bytes > 0;
}

static uint32_t
scatterv_steps (const SimCollective *collective)
{
  return is_root (collective) ? collective->n_ranks - 1 : collective->recv_bytes > 0;
}

/* The other rank of the root's step.  The root starts all before it waits. */
static uint32_t
linear_peer (const SimCollective *collective, uint32_t step)
{
  return step < (uint32_t) collective->root ? step : step + 1;
}

static SimStep
gatherv_step (const SimCollective *collective, uint32_t step)
{
  uint32_t peer = linear_peer (collective, step);
  uint64_t bytes;

  if (!is_root (collective))
    return sim_step_send ((uint32_t) collective->root, collective->bytes, true);
  bytes = sim_count_of (collective->recv_counts, peer);
  return sim_step_receive (bytes == 0 ? TOPO_NONE : peer, bytes, step + 2 == collective->n_ranks);
}

static SimStep
scatterv_step (const SimCollective *collective, uint32_t step)
{
  uint32_t peer = linear_peer (collective, step);
  uint64_t bytes;

  if (!is_root (collective))
    return sim_step_receive ((uint32_t) collective->root, collective->recv_bytes, true);
  bytes = sim_count_of (collective->counts, peer);
  return sim_step_send (bytes == 0 ? TOPO_NONE : peer, bytes, step + 2 == collective->n_ranks);
}

const SimAlgorithm sim_gatherv_linear = { gatherv_steps, gatherv_step, NULL };
const SimAlgorithm sim_scatterv_linear = { scatterv_steps, scatterv_step, NULL };
