/* collective_scatter.c - broadcasts that scatter, then gather everywhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sources: src/mpi/coll/bcast of MPICH 4.0 (bcast_utils.c and the two
 * algorithms' files); coll_base_bcast.c of Open MPI 4.1 has the same.  The
 * message is cut into as many blocks as there are places (ranks counted from
 * the root), all of one length, so that the last ones may be short or empty. */
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

/* Bytes of n blocks from `first` on. */
static uint64_t
blocks_bytes (const SimCollective *collective, uint64_t first, uint64_t n)
{
  uint64_t length = (collective->bytes + collective->n_ranks - 1) / collective->n_ranks;
  uint64_t start = MIN (first * length, collective->bytes);

  return MIN ((first + n) * length, collective->bytes) - start;
}

/* --- Scatter --- */

static uint32_t
scatter_steps (const SimCollective *collective)
{
  SimTree tree;

  sim_shape_binomial_in_order (collective, &tree);
  return tree.n_children + (tree.parent != TOPO_NONE);
}

/* A place gets the blocks of all its subtree; nobody sends empty ones. */
static uint64_t
subtree_bytes (const SimCollective *collective, uint32_t place)
{
  return blocks_bytes (collective, place, place & -place);
}

static SimStep
scatter_step (const SimCollective *collective, uint32_t step)
{
  uint32_t child, root = (uint32_t) collective->root;
  SimTree tree;
  uint64_t bytes;

  sim_shape_binomial_in_order (collective, &tree);
  if (tree.parent != TOPO_NONE && step == 0) {
    bytes = subtree_bytes (collective, my_place (collective));
    return sim_step_receive (bytes == 0 ? TOPO_NONE : tree.parent, bytes, true);
  }
  child = tree.children[tree.n_children - 1 - (step - (tree.parent != TOPO_NONE))];
  bytes = subtree_bytes (collective, sim_rank_before (collective, child, root));
  return sim_step_send (bytes == 0 ? TOPO_NONE : child, bytes, true);
}

/* --- Then around the ring --- */

static uint32_t
ring_steps (const SimCollective *collective)
{
  return scatter_steps (collective) + collective->n_ranks - 1;
}

static SimStep
ring_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n_scatter = scatter_steps (collective);
  uint32_t sent;

  if (step < n_scatter)
    return scatter_step (collective, step);
  sent = sim_rank_before (collective, my_place (collective), step - n_scatter);
  return sim_step_both (sim_rank_after (collective, collective->rank, 1),
                        blocks_bytes (collective, sent, 1),
                        sim_rank_before (collective, collective->rank, 1),
                        blocks_bytes (collective, sim_rank_before (collective, sent, 1), 1), true);
}

const SimAlgorithm sim_bcast_scatter_ring = { ring_steps, ring_step, NULL };

/* --- Then by recursive doubling ---
 *
 * In level k, groups of 2^k places pair up, and each place exchanges what its
 * group has with its counterpart in the other.  When the upper group is cut
 * short by the number of ranks, lower places without a counterpart get it from
 * those who have one: level k has up to k more exchanges within the group, at
 * distances 2^(k-1) .. 1. */

/* Which of a level's steps: 0 is the exchange between the groups. */
typedef struct {
  uint32_t level, nth;
} Slot;

static Slot
slot_of (const SimCollective *collective, uint32_t step)
{
  Slot slot = { step, 0 };

  if (sim_is_power_of_two (collective->n_ranks))
    return slot;
  for (slot.level = 0; step > slot.level; slot.level++)
    step -= slot.level + 1;
  slot.nth = step;
  return slot;
}

static uint32_t
doubling_steps (const SimCollective *collective)
{
  uint32_t n_levels = sim_ceil_log2 (collective->n_ranks);

  if (sim_is_power_of_two (collective->n_ranks))
    return scatter_steps (collective) + n_levels;
  return scatter_steps (collective) + n_levels * (n_levels + 1) / 2;
}

static SimStep
group_step (const SimCollective *collective, uint32_t place, uint32_t size)
{
  uint32_t other = place ^ size;
  uint32_t first = place & ~(size - 1);

  if (other >= collective->n_ranks)
    return sim_step_send (TOPO_NONE, 0, false);
  return sim_step_both (rank_at (collective, other), blocks_bytes (collective, first, size),
                        rank_at (collective, other), blocks_bytes (collective, first ^ size, size),
                        true);
}

/* Places that have the upper group's blocks are, in every group of twice the
 * distance, the first `n_upper` ones: they pass them on to those above. */
static SimStep
share_step (const SimCollective *collective, uint32_t place, uint32_t size, uint32_t distance)
{
  uint32_t upper = (place & ~(size - 1)) + size;
  uint32_t other = place ^ distance;
  uint32_t in_group = place & (2 * distance - 1), other_in_group = other & (2 * distance - 1);
  uint32_t n_upper;
  uint64_t bytes;

  if ((place & size) != 0 || upper >= collective->n_ranks || collective->n_ranks - upper >= size)
    return sim_step_send (TOPO_NONE, 0, false);
  n_upper = collective->n_ranks - upper;
  bytes = blocks_bytes (collective, upper, size);
  if (in_group < n_upper && other_in_group >= n_upper)
    return sim_step_send (rank_at (collective, other), bytes, true);
  if (other_in_group < n_upper && in_group >= n_upper)
    return sim_step_receive (rank_at (collective, other), bytes, true);
  return sim_step_send (TOPO_NONE, 0, false);
}

static SimStep
doubling_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n_scatter = scatter_steps (collective), place = my_place (collective);
  Slot slot;

  if (step < n_scatter)
    return scatter_step (collective, step);
  slot = slot_of (collective, step - n_scatter);
  if (slot.nth == 0)
    return group_step (collective, place, 1u << slot.level);
  return share_step (collective, place, 1u << slot.level, 1u << (slot.level - slot.nth));
}

const SimAlgorithm sim_bcast_scatter_doubling = { doubling_steps, doubling_step, NULL };
