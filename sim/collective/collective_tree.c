/* collective_tree.c - step algorithms of collectives with a root.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sources: MPICH 4.0 (src/mpi/coll) and ompi/mca/coll/base of Open MPI 4.1,
 * the same as coll/tuned of 1.3; coll/basic for Open MPI's gatherv and
 * scatterv.  Trees are over places, ranks counted from the root. */
#include "sim/collective/collective_steps.h"

#include <glib.h>

static bool
is_root (const SimCollective *collective)
{
  return collective->rank == (uint32_t) collective->root;
}

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

/* --- Linear: the root and each other rank directly ---
 *
 * The "basic_linear" functions of Open MPI.  The order of the peers and which
 * calls block are theirs. */

/* The others in the order of their ranks. */
static uint32_t
nth_other (uint32_t me, uint32_t nth)
{
  return nth < me ? nth : nth + 1;
}

/* The root has a step for each other rank, they have one. */
static uint32_t
star_steps (const SimCollective *collective)
{
  return is_root (collective) ? sim_others (collective) : 1;
}

static SimStep
bcast_linear_step (const SimCollective *collective, uint32_t step)
{
  if (!is_root (collective))
    return sim_step_receive ((uint32_t) collective->root, collective->bytes, true);
  return sim_step_send (nth_other ((uint32_t) collective->root, step), collective->bytes,
                        step + 1 == sim_others (collective));
}

const SimAlgorithm sim_bcast_linear = { star_steps, bcast_linear_step, NULL };

static SimStep
scatter_linear (const SimCollective *collective, uint32_t step, bool wait)
{
  if (!is_root (collective))
    return sim_step_receive ((uint32_t) collective->root, collective->recv_bytes, true);
  return sim_step_send (nth_other ((uint32_t) collective->root, step), collective->bytes, wait);
}

static SimStep
scatter_linear_step (const SimCollective *collective, uint32_t step)
{
  return scatter_linear (collective, step, true);
}

static SimStep
scatter_at_once_step (const SimCollective *collective, uint32_t step)
{
  return scatter_linear (collective, step, step + 1 == sim_others (collective));
}

const SimAlgorithm sim_scatter_linear = { star_steps, scatter_linear_step, NULL };
const SimAlgorithm sim_scatter_linear_at_once = { star_steps, scatter_at_once_step, NULL };

/* Ranks that get nothing stay out of it. */
static uint32_t
scatterv_steps (const SimCollective *collective)
{
  return is_root (collective) ? sim_others (collective) : collective->recv_bytes > 0;
}

static SimStep
scatterv_linear (const SimCollective *collective, uint32_t step, bool wait)
{
  uint32_t peer;
  uint64_t bytes;

  if (!is_root (collective))
    return sim_step_receive ((uint32_t) collective->root, collective->recv_bytes, true);
  peer = nth_other ((uint32_t) collective->root, step);
  bytes = sim_count_of (collective->counts, peer);
  return sim_step_send (bytes == 0 ? TOPO_NONE : peer, bytes, wait);
}

static SimStep
scatterv_in_turn_step (const SimCollective *collective, uint32_t step)
{
  return scatterv_linear (collective, step, true);
}

/* MPICH's root starts all before it waits. */
static SimStep
scatterv_at_once_step (const SimCollective *collective, uint32_t step)
{
  return scatterv_linear (collective, step, step + 1 == sim_others (collective));
}

const SimAlgorithm sim_scatterv_in_turn = { scatterv_steps, scatterv_in_turn_step, NULL };
const SimAlgorithm sim_scatterv_linear = { scatterv_steps, scatterv_at_once_step, NULL };

/* The last rank's comes first: the operation may not commute. */
static SimStep
reduce_linear_step (const SimCollective *collective, uint32_t step)
{
  uint32_t nth = sim_others (collective) - 1 - step;

  if (!is_root (collective))
    return sim_step_send ((uint32_t) collective->root, collective->bytes, true);
  return sim_step_receive (nth_other ((uint32_t) collective->root, nth), collective->bytes, true);
}

const SimAlgorithm sim_reduce_linear = { star_steps, reduce_linear_step, NULL };

static SimStep
gather_linear_step (const SimCollective *collective, uint32_t step)
{
  if (!is_root (collective))
    return sim_step_send ((uint32_t) collective->root, collective->bytes, true);
  return sim_step_receive (nth_other ((uint32_t) collective->root, step), collective->recv_bytes,
                           true);
}

const SimAlgorithm sim_gather_linear = { star_steps, gather_linear_step, NULL };

/* The root asks one rank after the other, by a message without data, and goes
 * on to the next when the first piece has come; the second pieces may take
 * until the end.  Here the next rank but one is not asked before the second
 * piece is in. */
static uint32_t
gather_sync_steps (const SimCollective *collective)
{
  return is_root (collective) ? 2 * sim_others (collective) : 3;
}

static uint64_t
piece_bytes (const SimCollective *collective, uint64_t bytes, bool second)
{
  uint64_t limit_bytes = collective->segment_bytes;
  uint64_t first_bytes = limit_bytes == 0 ? bytes : MIN (bytes, limit_bytes);

  return second ? bytes - first_bytes : first_bytes;
}

static SimStep
gather_sync_step (const SimCollective *collective, uint32_t step)
{
  uint32_t root = (uint32_t) collective->root;
  uint32_t peer = nth_other (root, step / 2);
  uint64_t bytes = is_root (collective) ? collective->recv_bytes : collective->bytes;

  if (!is_root (collective) && step == 0)
    return sim_step_receive (root, 0, true);
  if (!is_root (collective))
    return sim_step_send (root, piece_bytes (collective, bytes, step == 2), true);
  if (step % 2 == 1)
    return sim_step_receive (peer, piece_bytes (collective, bytes, true), false);
  return sim_step_both (peer, 0, peer, piece_bytes (collective, bytes, false), true);
}

const SimAlgorithm sim_gather_linear_sync = { gather_sync_steps, gather_sync_step, NULL };

static uint32_t
gatherv_steps (const SimCollective *collective)
{
  return is_root (collective) ? sim_others (collective) : collective->bytes > 0;
}

static SimStep
gatherv_linear (const SimCollective *collective, uint32_t step, bool wait)
{
  uint32_t peer;
  uint64_t bytes;

  if (!is_root (collective))
    return sim_step_send ((uint32_t) collective->root, collective->bytes, true);
  peer = nth_other ((uint32_t) collective->root, step);
  bytes = sim_count_of (collective->recv_counts, peer);
  return sim_step_receive (bytes == 0 ? TOPO_NONE : peer, bytes, wait);
}

static SimStep
gatherv_in_turn_step (const SimCollective *collective, uint32_t step)
{
  return gatherv_linear (collective, step, true);
}

static SimStep
gatherv_at_once_step (const SimCollective *collective, uint32_t step)
{
  return gatherv_linear (collective, step, step + 1 == sim_others (collective));
}

const SimAlgorithm sim_gatherv_in_turn = { gatherv_steps, gatherv_in_turn_step, NULL };
const SimAlgorithm sim_gatherv_linear = { gatherv_steps, gatherv_at_once_step, NULL };

/* --- Binomial trees, of MPICH ---
 *
 * The parent of a place is the place without its lowest bit, and its subtree is
 * the places up to the next multiple of that bit.  The tree of 6:
 *
 *        0
 *      / | \
 *     4  2  1
 *     |  |
 *     5  3                                                              */

/* Children of a place are place + 2^k for all k below this. */
static uint32_t
binomial_children (const SimCollective *collective, uint32_t place)
{
  uint32_t below = sim_ceil_log2 (collective->n_ranks - place);

  return place == 0 ? below : MIN (below, (uint32_t) __builtin_ctz (place));
}

static uint32_t
binomial_steps (const SimCollective *collective)
{
  uint32_t place = my_place (collective);

  return binomial_children (collective, place) + (place != 0);
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
    return sim_step_receive (rank_at (collective, place & (place - 1)),
                             per_rank ? unit_bytes * subtree_ranks (collective, place) : unit_bytes,
                             true);
  child = place + (1u << (binomial_children (collective, place) - 1 - (step - (place != 0))));
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

  if (step == binomial_children (collective, place))
    return sim_step_send (rank_at (collective, place & (place - 1)),
                          per_rank ? unit_bytes * subtree_ranks (collective, place) : unit_bytes,
                          true);
  return sim_step_receive (rank_at (collective, child),
                           per_rank ? unit_bytes * subtree_ranks (collective, child) : unit_bytes,
                           true);
}

static SimStep
bcast_binomial_step (const SimCollective *collective, uint32_t step)
{
  return down_step (collective, step, collective->bytes, false);
}

static SimStep
reduce_binomial_step (const SimCollective *collective, uint32_t step)
{
  return up_step (collective, step, collective->bytes, false);
}

static SimStep
gather_binomial_step (const SimCollective *collective, uint32_t step)
{
  return up_step (collective, step,
                  is_root (collective) ? collective->recv_bytes : collective->bytes, true);
}

static SimStep
scatter_binomial_step (const SimCollective *collective, uint32_t step)
{
  return down_step (collective, step,
                    is_root (collective) ? collective->bytes : collective->recv_bytes, true);
}

const SimAlgorithm sim_bcast_binomial = { binomial_steps, bcast_binomial_step, NULL };
const SimAlgorithm sim_reduce_binomial = { binomial_steps, reduce_binomial_step, NULL };
const SimAlgorithm sim_gather_binomial = { binomial_steps, gather_binomial_step, NULL };
const SimAlgorithm sim_scatter_binomial = { binomial_steps, scatter_binomial_step, NULL };

/* --- The trees of Open MPI ---
 *
 * Source: coll_base_topo.c.  All are over places except the in-order binary
 * one, which is over the ranks themselves. */

#define RADIX 4u /* coll_tuned_bcast_knomial_radix */

/* False when there is no such place. */
static bool
add_child (const SimCollective *collective, SimTree *tree, uint64_t place)
{
  if (place >= collective->n_ranks)
    return false;
  tree->children[tree->n_children++] = rank_at (collective, (uint32_t) place);
  return true;
}

/* Places of a level follow one another, 1, 2 | 3, 4, 5, 6 | ..., and so do the
 * left children of a level and then its right ones: odd places are all below
 * place 1, even ones below place 2. */
static void
shape_binary (const SimCollective *collective, SimTree *tree)
{
  uint32_t place = my_place (collective);
  uint32_t level_places = 1u << sim_floor_log2 (place + 1);

  *tree = (SimTree){ .parent = TOPO_NONE };
  if (place > 0) {
    uint32_t parent = place - level_places / 2;

    if (parent >= level_places - 1)
      parent -= level_places / 2;
    tree->parent = rank_at (collective, parent);
  }
  if (add_child (collective, tree, (uint64_t) place + level_places))
    add_child (collective, tree, (uint64_t) place + UINT64_C (2) * level_places);
}

static void
shape_chain (const SimCollective *collective, SimTree *tree)
{
  uint32_t place = my_place (collective);

  *tree = (SimTree){ .parent = place == 0 ? TOPO_NONE : rank_at (collective, place - 1) };
  add_child (collective, tree, (uint64_t) place + 1);
}

static void
shape_binomial (const SimCollective *collective, SimTree *tree)
{
  uint32_t place = my_place (collective);
  uint64_t bit = place == 0 ? 1 : UINT64_C (2) << sim_floor_log2 (place);

  *tree = (SimTree){ .parent = TOPO_NONE };
  if (place > 0)
    tree->parent = rank_at (collective, place ^ (uint32_t) (bit / 2));
  while (add_child (collective, tree, place + bit))
    bit *= 2;
}

static void
shape_binomial_in_order (const SimCollective *collective, SimTree *tree)
{
  uint32_t place = my_place (collective);
  uint64_t end = place == 0 ? collective->n_ranks : place & -place;

  *tree = (SimTree){ .parent = place == 0 ? TOPO_NONE : rank_at (collective, place & (place - 1)) };
  for (uint64_t bit = 1; bit < end && add_child (collective, tree, place + bit);)
    bit *= 2;
}

/* Numbers in base 4 take the part of those in base 2, and the children with
 * the largest subtrees come first. */
static void
shape_four_nomial (const SimCollective *collective, SimTree *tree)
{
  uint32_t place = my_place (collective);
  uint64_t unit = 1;

  *tree = (SimTree){ .parent = TOPO_NONE };
  while (unit < collective->n_ranks && place % (RADIX * unit) == 0)
    unit *= RADIX;
  if (place > 0)
    tree->parent = rank_at (collective, (uint32_t) (place - place % (RADIX * unit)));
  for (unit /= RADIX; unit > 0; unit /= RADIX)
    for (uint32_t digit = 1; digit < RADIX; digit++)
      add_child (collective, tree, place + unit * digit);
}

/* The last rank of a range is its root; the first half of the range is below
 * its second child, the rest below its first. */
static void
shape_binary_in_order (const SimCollective *collective, SimTree *tree)
{
  uint32_t first = 0, n = collective->n_ranks, parent = TOPO_NONE;

  for (;;) {
    uint32_t top = first + n - 1;
    uint32_t n_second = n > 2 ? n / 2 : 0;

    if (collective->rank == top) {
      *tree = (SimTree){ .parent = parent };
      if (n > 1)
        tree->children[tree->n_children++] = top - 1;
      if (n_second > 0)
        tree->children[tree->n_children++] = first + n_second - 1;
      return;
    }
    parent = top;
    if (collective->rank < first + n_second) {
      n = n_second;
    } else {
      first += n_second;
      n -= n_second + 1;
    }
  }
}

/* --- Segments ---
 *
 * Broadcasts and reductions along these trees go in segments: coll_base_bcast.c
 * and coll_base_reduce.c. */

/* Longer messages than this many segments have longer segments: no more steps
 * than a counter holds. */
#define MOST_SEGMENTS (UINT64_C (1) << 24)

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

/* --- Broadcast along a tree --- */

/* Each segment goes to all children, and only then comes the next one. */
static uint32_t
bcast_tree_steps (const SimCollective *collective)
{
  SimTree tree;

  collective->algorithm->shape (collective, &tree);
  if (tree.n_children == 0)
    return my_segments (collective);
  return (tree.parent != TOPO_NONE) + my_segments (collective) * tree.n_children;
}

static SimStep
bcast_tree_step (const SimCollective *collective, uint32_t step)
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

const SimAlgorithm sim_bcast_tree_binary = { bcast_tree_steps, bcast_tree_step, shape_binary };
const SimAlgorithm sim_bcast_tree_binomial = { bcast_tree_steps, bcast_tree_step, shape_binomial };
const SimAlgorithm sim_bcast_tree_four_nomial = { bcast_tree_steps, bcast_tree_step,
                                                  shape_four_nomial };
const SimAlgorithm sim_bcast_pipeline = { bcast_tree_steps, bcast_tree_step, shape_chain };

/* --- Broadcast of two halves ---
 *
 * The first half goes down the left half of a binary tree, odd places, the
 * second down the right one; then each place swaps halves with its mirror
 * image, place 1 with 2, 3 with 4 ...  When there is an odd one left, the root
 * sends it the second half itself. */

enum { FIRST_HALF, SECOND_HALF };

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

static uint32_t
split_steps (const SimCollective *collective)
{
  SimTree tree;

  /* Short halves: the steps of the pipeline, as if the rules had taken it. */
  if (!splits (collective)) {
    SimCollective pipeline = *collective;

    pipeline.algorithm = &sim_bcast_pipeline;
    return bcast_tree_steps (&pipeline);
  }
  shape_binary (collective, &tree);
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
    SimCollective pipeline = *collective;

    pipeline.algorithm = &sim_bcast_pipeline;
    return bcast_tree_step (&pipeline, step);
  }
  shape_binary (collective, &tree);
  if (step == split_tree_steps (collective, &tree))
    return split_swap_step (collective);
  return tree.parent == TOPO_NONE ? split_root_step (collective, &tree, step)
                                  : split_middle_step (collective, &tree, step);
}

const SimAlgorithm sim_bcast_split_binary = { split_steps, split_step, NULL };

/* --- Reduction along a tree --- */

static uint32_t
reduce_tree_steps (const SimCollective *collective)
{
  SimTree tree;

  collective->algorithm->shape (collective, &tree);
  if (tree.n_children == 0)
    return my_segments (collective);
  return my_segments (collective) * tree.n_children + (tree.parent != TOPO_NONE);
}

/* Each segment comes from all children; it goes on to the parent with the
 * first receive of the next one. */
static SimStep
reduce_tree_step (const SimCollective *collective, uint32_t step)
{
  uint32_t segment, child;
  SimStep result;
  SimTree tree;

  collective->algorithm->shape (collective, &tree);
  if (tree.n_children == 0)
    return sim_step_send (tree.parent, my_segment_bytes (collective, step), true);
  segment = step / tree.n_children;
  child = step % tree.n_children;
  if (segment == my_segments (collective))
    return sim_step_send (tree.parent, my_segment_bytes (collective, segment - 1), true);
  result = sim_step_receive (tree.children[child], my_segment_bytes (collective, segment), true);
  if (tree.parent != TOPO_NONE && child == 0 && segment > 0) {
    result.send_to = tree.parent;
    result.send_bytes = my_segment_bytes (collective, segment - 1);
  }
  return result;
}

const SimAlgorithm sim_reduce_tree_binary = { reduce_tree_steps, reduce_tree_step, shape_binary };
const SimAlgorithm sim_reduce_tree_binomial = { reduce_tree_steps, reduce_tree_step,
                                                shape_binomial_in_order };
const SimAlgorithm sim_reduce_pipeline = { reduce_tree_steps, reduce_tree_step, shape_chain };

/* In the order of the ranks: the tree's root is the last rank, which hands the
 * result to the call's. */
static uint32_t
in_order_steps (const SimCollective *collective)
{
  uint32_t last = collective->n_ranks - 1, root = (uint32_t) collective->root;

  return reduce_tree_steps (collective) +
         (root != last && (collective->rank == root || collective->rank == last));
}

static SimStep
in_order_step (const SimCollective *collective, uint32_t step)
{
  uint32_t last = collective->n_ranks - 1;

  if (step < reduce_tree_steps (collective))
    return reduce_tree_step (collective, step);
  if (collective->rank == last)
    return sim_step_send ((uint32_t) collective->root, collective->bytes, true);
  return sim_step_receive (last, collective->bytes, true);
}

const SimAlgorithm sim_reduce_tree_in_order = { in_order_steps, in_order_step,
                                                shape_binary_in_order };

/* --- Broadcasts that scatter, then gather everywhere ---
 *
 * Sources: src/mpi/coll/bcast of MPICH 4.0 (bcast_utils.c and the two
 * algorithms' files); coll_base_bcast.c of Open MPI 4.1 has the same.  The
 * message is cut into as many blocks as there are places, all of one length, so
 * that the last ones may be short or empty. */

/* Bytes of n blocks from `first` on. */
static uint64_t
blocks_bytes (const SimCollective *collective, uint64_t first, uint64_t n)
{
  uint64_t length = (collective->bytes + collective->n_ranks - 1) / collective->n_ranks;
  uint64_t start = MIN (first * length, collective->bytes);

  return MIN ((first + n) * length, collective->bytes) - start;
}

static uint32_t
scatter_blocks_steps (const SimCollective *collective)
{
  SimTree tree;

  shape_binomial_in_order (collective, &tree);
  return tree.n_children + (tree.parent != TOPO_NONE);
}

/* A place gets the blocks of all its subtree; empty ones are not sent. */
static uint64_t
subtree_blocks_bytes (const SimCollective *collective, uint32_t place)
{
  return blocks_bytes (collective, place, place & -place);
}

static SimStep
scatter_blocks_step (const SimCollective *collective, uint32_t step)
{
  uint32_t child, root = (uint32_t) collective->root;
  SimTree tree;
  uint64_t bytes;

  shape_binomial_in_order (collective, &tree);
  if (tree.parent != TOPO_NONE && step == 0) {
    bytes = subtree_blocks_bytes (collective, my_place (collective));
    return sim_step_receive (bytes == 0 ? TOPO_NONE : tree.parent, bytes, true);
  }
  child = tree.children[tree.n_children - 1 - (step - (tree.parent != TOPO_NONE))];
  bytes = subtree_blocks_bytes (collective, sim_rank_before (collective, child, root));
  return sim_step_send (bytes == 0 ? TOPO_NONE : child, bytes, true);
}

/* Then around the ring. */

static uint32_t
ring_steps (const SimCollective *collective)
{
  return scatter_blocks_steps (collective) + collective->n_ranks - 1;
}

static SimStep
ring_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n_scatter = scatter_blocks_steps (collective);
  uint32_t sent;

  if (step < n_scatter)
    return scatter_blocks_step (collective, step);
  sent = sim_rank_before (collective, my_place (collective), step - n_scatter);
  return sim_step_both (sim_rank_after (collective, collective->rank, 1),
                        blocks_bytes (collective, sent, 1),
                        sim_rank_before (collective, collective->rank, 1),
                        blocks_bytes (collective, sim_rank_before (collective, sent, 1), 1), true);
}

const SimAlgorithm sim_bcast_scatter_ring = { ring_steps, ring_step, NULL };

/* Then by recursive doubling.
 *
 * In level k, groups of 2^k places pair up, and each place exchanges what its
 * group has with its counterpart in the other.  When the upper group is cut
 * short by the number of ranks, lower places without a counterpart get it from
 * the places that have one: level k has up to k more exchanges within the group, at
 * distances 2^(k-1) .. 1. */

/* Which of a level's steps: 0 is the exchange between the groups. */
typedef struct {
  uint32_t level, nth;
} LevelStep;

static LevelStep
slot_of (const SimCollective *collective, uint32_t step)
{
  LevelStep slot = { step, 0 };

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
    return scatter_blocks_steps (collective) + n_levels;
  return scatter_blocks_steps (collective) + n_levels * (n_levels + 1) / 2;
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
  uint32_t n_scatter = scatter_blocks_steps (collective), place = my_place (collective);
  LevelStep slot;

  if (step < n_scatter)
    return scatter_blocks_step (collective, step);
  slot = slot_of (collective, step - n_scatter);
  if (slot.nth == 0)
    return group_step (collective, place, 1u << slot.level);
  return share_step (collective, place, 1u << slot.level, 1u << (slot.level - slot.nth));
}

const SimAlgorithm sim_bcast_scatter_doubling = { doubling_steps, doubling_step, NULL };
