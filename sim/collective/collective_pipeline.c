/* collective_pipeline.c - broadcasts and reductions along trees, in segments.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sources: ompi/mca/coll/base/coll_base_bcast.c and coll_base_reduce.c of Open
 * MPI 4.1, the same as those of coll/tuned in 1.3.  The tree is that of the
 * algorithm's shape. */
#include "sim/collective/collective_steps.h"

#include <glib.h>

/* Longer messages than this many segments have longer segments: no more steps
 * than a counter holds. */
#define MOST_SEGMENTS (UINT64_C (1) << 24)

/* --- Segments --- */

static uint64_t
segment_of (uint64_t bytes, uint64_t segment_bytes)
{
  if (segment_bytes == 0 || segment_bytes >= bytes)
    return bytes;
  return MAX (segment_bytes, (bytes + MOST_SEGMENTS - 1) / MOST_SEGMENTS);
}

static uint32_t
n_segments (uint64_t bytes, uint64_t segment_bytes)
{
  uint64_t length = segment_of (bytes, segment_bytes);

  return length == 0 ? 1 : (uint32_t) ((bytes + length - 1) / length);
}

static uint64_t
nth_bytes (uint64_t bytes, uint64_t segment_bytes, uint32_t nth)
{
  uint64_t length = segment_of (bytes, segment_bytes);

  return MIN (length, bytes - nth * length);
}

static uint32_t
my_segments (const SimCollective *collective)
{
  return n_segments (collective->bytes, collective->segment_bytes);
}

static uint64_t
my_segment_bytes (const SimCollective *collective, uint32_t nth)
{
  return nth_bytes (collective->bytes, collective->segment_bytes, nth);
}

/* --- Broadcast --- */

/* Each segment goes to all children, and only then comes the next one. */
static uint32_t
bcast_steps (const SimCollective *collective)
{
  SimTree tree;

  collective->algorithm->shape (collective, &tree);
  if (tree.n_children == 0)
    return my_segments (collective);
  return (tree.parent != TOPO_NONE) + my_segments (collective) * tree.n_children;
}

static SimStep
bcast_step (const SimCollective *collective, uint32_t step)
{
  SimStep result;
  SimTree tree;
  uint32_t segment, child;

  collective->algorithm->shape (collective, &tree);
  if (tree.n_children == 0 || (tree.parent != TOPO_NONE && step == 0))
    return sim_step_receive (tree.parent, my_segment_bytes (collective, step), true);
  step -= tree.parent != TOPO_NONE;
  segment = step / tree.n_children;
  child = step % tree.n_children;
  result = sim_step_send (tree.children[child], my_segment_bytes (collective, segment),
                          child + 1 == tree.n_children);
  if (tree.parent != TOPO_NONE && child == 0 && segment + 1 < my_segments (collective)) {
    result.recv_from = tree.parent;
    result.recv_bytes = my_segment_bytes (collective, segment + 1);
  }
  return result;
}

const SimAlgorithm sim_bcast_tree_binary = { bcast_steps, bcast_step, sim_shape_binary };
const SimAlgorithm sim_bcast_tree_binomial = { bcast_steps, bcast_step, sim_shape_binomial };
const SimAlgorithm sim_bcast_tree_four_nomial = { bcast_steps, bcast_step, sim_shape_four_nomial };
const SimAlgorithm sim_bcast_pipeline = { bcast_steps, bcast_step, sim_shape_chain };

/* --- Broadcast of two halves ---
 *
 * The first half goes down the left half of a binary tree, odd places, the
 * second down the right one; then each place swaps halves with its mirror
 * image, place 1 with 2, 3 with 4 ...  When there is an odd one left, the root
 * sends it the second half itself. */

enum { FIRST_HALF, SECOND_HALF };

static uint32_t
my_place (const SimCollective *collective)
{
  return sim_rank_before (collective, collective->rank, (uint32_t) collective->root);
}

static uint32_t
half_of_place (uint32_t place)
{
  return place % 2 == 1 ? FIRST_HALF : SECOND_HALF;
}

static uint64_t
half_bytes (const SimCollective *collective, uint32_t half)
{
  uint64_t second_bytes = collective->bytes / 2;

  return half == SECOND_HALF ? second_bytes : collective->bytes - second_bytes;
}

/* Halves that are shorter than a segment go along the chain, whole. */
static bool
splits (const SimCollective *collective)
{
  return collective->bytes >= 2 && collective->segment_bytes <= collective->bytes / 2;
}

static uint32_t
half_segments (const SimCollective *collective, uint32_t half)
{
  return n_segments (half_bytes (collective, half), collective->segment_bytes);
}

static uint64_t
half_segment_bytes (const SimCollective *collective, uint32_t half, uint32_t nth)
{
  return nth_bytes (half_bytes (collective, half), collective->segment_bytes, nth);
}

/* Steps before the halves are swapped. */
static uint32_t
split_tree_steps (const SimCollective *collective, const SimTree *tree)
{
  uint32_t half = half_of_place (my_place (collective));

  if (tree->parent == TOPO_NONE)
    return half_segments (collective, FIRST_HALF) * tree->n_children;
  if (tree->n_children == 0)
    return half_segments (collective, half);
  return 1 + half_segments (collective, half) * tree->n_children;
}

/* The pipeline, as if its tree had been asked for. */
static SimCollective
as_pipeline (const SimCollective *collective)
{
  SimCollective pipeline = *collective;

  pipeline.algorithm = &sim_bcast_pipeline;
  return pipeline;
}

static uint32_t
split_steps (const SimCollective *collective)
{
  SimTree tree;

  if (!splits (collective)) {
    SimCollective pipeline = as_pipeline (collective);

    return bcast_steps (&pipeline);
  }
  sim_shape_binary (collective, &tree);
  return split_tree_steps (collective, &tree) +
         (tree.parent != TOPO_NONE || collective->n_ranks % 2 == 0);
}

/* The root's children have one half each. */
static SimStep
split_root_step (const SimCollective *collective, const SimTree *tree, uint32_t step)
{
  uint32_t segment = step / tree->n_children, child = step % tree->n_children;
  uint32_t half = child == 0 ? FIRST_HALF : SECOND_HALF;

  if (segment >= half_segments (collective, half))
    return sim_step_send (TOPO_NONE, 0, false);
  return sim_step_send (tree->children[child], half_segment_bytes (collective, half, segment),
                        true);
}

/* Sends block here, so the next receive is posted with the last of them. */
static SimStep
split_middle_step (const SimCollective *collective, const SimTree *tree, uint32_t step)
{
  uint32_t half = half_of_place (my_place (collective));
  uint32_t segment, child;
  SimStep result;

  if (tree->n_children == 0 || step == 0)
    return sim_step_receive (tree->parent, half_segment_bytes (collective, half, step), true);
  segment = (step - 1) / tree->n_children;
  child = (step - 1) % tree->n_children;
  result =
      sim_step_send (tree->children[child], half_segment_bytes (collective, half, segment), true);
  if (child + 1 == tree->n_children && segment + 1 < half_segments (collective, half)) {
    result.recv_from = tree->parent;
    result.recv_bytes = half_segment_bytes (collective, half, segment + 1);
  }
  return result;
}

static SimStep
split_swap_step (const SimCollective *collective)
{
  uint32_t place = my_place (collective), half = half_of_place (place);
  uint64_t second_bytes = half_bytes (collective, SECOND_HALF);
  uint32_t pair = half == FIRST_HALF ? sim_rank_after (collective, collective->rank, 1)
                                     : sim_rank_before (collective, collective->rank, 1);

  if (place == 0)
    return sim_step_send (sim_rank_before (collective, collective->rank, 1), second_bytes, true);
  if (place + 1 == collective->n_ranks && half == FIRST_HALF)
    return sim_step_receive ((uint32_t) collective->root, second_bytes, true);
  return sim_step_both (pair, half_bytes (collective, half), pair,
                        half_bytes (collective, half ^ 1u), true);
}

static SimStep
split_step (const SimCollective *collective, uint32_t step)
{
  SimTree tree;

  if (!splits (collective)) {
    SimCollective pipeline = as_pipeline (collective);

    return bcast_step (&pipeline, step);
  }
  sim_shape_binary (collective, &tree);
  if (step == split_tree_steps (collective, &tree))
    return split_swap_step (collective);
  return tree.parent == TOPO_NONE ? split_root_step (collective, &tree, step)
                                  : split_middle_step (collective, &tree, step);
}

const SimAlgorithm sim_bcast_split_binary = { split_steps, split_step, NULL };

/* --- Reduction --- */

static uint32_t
reduce_tree_steps (const SimCollective *collective, const SimTree *tree)
{
  if (tree->n_children == 0)
    return my_segments (collective);
  return my_segments (collective) * tree->n_children + (tree->parent != TOPO_NONE);
}

/* Each segment comes from all children; it goes on to the parent with the
 * first receive of the next one. */
static SimStep
reduce_tree_step (const SimCollective *collective, const SimTree *tree, uint32_t step)
{
  uint32_t segment, child;
  SimStep result;

  if (tree->n_children == 0)
    return sim_step_send (tree->parent, my_segment_bytes (collective, step), true);
  segment = step / tree->n_children;
  child = step % tree->n_children;
  if (segment == my_segments (collective))
    return sim_step_send (tree->parent, my_segment_bytes (collective, segment - 1), true);
  result = sim_step_receive (tree->children[child], my_segment_bytes (collective, segment), true);
  if (tree->parent != TOPO_NONE && child == 0 && segment > 0) {
    result.send_to = tree->parent;
    result.send_bytes = my_segment_bytes (collective, segment - 1);
  }
  return result;
}

static uint32_t
reduce_steps (const SimCollective *collective)
{
  SimTree tree;

  collective->algorithm->shape (collective, &tree);
  return reduce_tree_steps (collective, &tree);
}

static SimStep
reduce_step (const SimCollective *collective, uint32_t step)
{
  SimTree tree;

  collective->algorithm->shape (collective, &tree);
  return reduce_tree_step (collective, &tree, step);
}

const SimAlgorithm sim_reduce_tree_binary = { reduce_steps, reduce_step, sim_shape_binary };
const SimAlgorithm sim_reduce_tree_binomial = { reduce_steps, reduce_step,
                                                sim_shape_binomial_in_order };
const SimAlgorithm sim_reduce_pipeline = { reduce_steps, reduce_step, sim_shape_chain };

/* The tree's root is the last rank, which hands the result to the call's. */
static bool
hands_over (const SimCollective *collective)
{
  uint32_t last = collective->n_ranks - 1, root = (uint32_t) collective->root;

  return root != last && (collective->rank == root || collective->rank == last);
}

static uint32_t
in_order_steps (const SimCollective *collective)
{
  return reduce_steps (collective) + hands_over (collective);
}

static SimStep
in_order_step (const SimCollective *collective, uint32_t step)
{
  uint32_t last = collective->n_ranks - 1;
  SimTree tree;

  sim_shape_binary_in_order (collective, &tree);
  if (step < reduce_tree_steps (collective, &tree))
    return reduce_tree_step (collective, &tree, step);
  if (collective->rank == last)
    return sim_step_send ((uint32_t) collective->root, collective->bytes, true);
  return sim_step_receive (last, collective->bytes, true);
}

const SimAlgorithm sim_reduce_tree_in_order = { in_order_steps, in_order_step,
                                                sim_shape_binary_in_order };
