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

/* Data moves from the root to the other ranks. */
static bool
is_downwards (const SimCollective *collective)
{
  return collective->kind == TRACE_OP_BCAST || collective->kind == TRACE_OP_SCATTER ||
         collective->kind == TRACE_OP_SCATTERV;
}

/* --- Linear: the root and each other rank directly ---
 *
 * The "basic_linear" functions of Open MPI.  The order of the peers and which
 * calls block are theirs. */

/* The root has a step for each other rank, they have one; in a gatherv or scatterv
 * none, if they have no bytes. */
static uint32_t
linear_steps (const SimCollective *collective)
{
  if (is_root (collective))
    return sim_others (collective);
  if (collective->kind == TRACE_OP_GATHERV)
    return collective->bytes > 0;
  return collective->kind != TRACE_OP_SCATTERV || collective->recv_bytes > 0;
}

static SimStep
linear_step (const SimCollective *collective, uint32_t step)
{
  uint32_t root = (uint32_t) collective->root, n = sim_others (collective), peer;
  bool down = is_downwards (collective);
  bool wait = !collective->algorithm->at_once || step + 1 == n;
  uint64_t bytes = collective->bytes;

  if (!is_root (collective) && down)
    return sim_step_receive (
        root, collective->kind == TRACE_OP_BCAST ? bytes : collective->recv_bytes, true);
  if (!is_root (collective))
    return sim_step_send (root, bytes, true);

  /* In the order of the ranks.  The last one's contribution to a reduction comes
   * first: the operation may not commute. */
  peer = collective->kind == TRACE_OP_REDUCE ? n - 1 - step : step;
  peer += peer >= root;
  if (collective->kind == TRACE_OP_GATHER)
    bytes = collective->recv_bytes;
  if (collective->kind == TRACE_OP_SCATTERV || collective->kind == TRACE_OP_GATHERV) {
    bytes = sim_count_of (down ? collective->counts : collective->recv_counts, peer);
    peer = bytes == 0 ? TOPO_NONE : peer;
  }
  if (down)
    return sim_step_send (peer, bytes, wait);
  return collective->kind == TRACE_OP_REDUCE
             ? sim_step_reducing (sim_step_receive (peer, bytes, wait))
             : sim_step_receive (peer, bytes, wait);
}

#define LINEAR .n_steps = linear_steps, .step = linear_step

const SimAlgorithm sim_bcast_linear = { LINEAR, .at_once = true };
const SimAlgorithm sim_scatter_linear = { LINEAR };
const SimAlgorithm sim_scatter_linear_at_once = { LINEAR, .at_once = true };
const SimAlgorithm sim_scatterv_in_turn = { LINEAR };
const SimAlgorithm sim_scatterv_linear = { LINEAR, .at_once = true }; /* MPICH's */
const SimAlgorithm sim_reduce_linear = { LINEAR };
const SimAlgorithm sim_gather_linear = { LINEAR };
const SimAlgorithm sim_gatherv_in_turn = { LINEAR };
const SimAlgorithm sim_gatherv_linear = { LINEAR, .at_once = true };

/* The root asks one rank after the other, by a message without data, and goes
 * on to the next when the first piece has come; the second pieces may take
 * until the end.  Here the next rank but one is not asked before the second
 * piece is in. */
static uint32_t
gather_sync_steps (const SimCollective *collective)
{
  return is_root (collective) ? 2 * sim_others (collective) : 3;
}

static SimStep
gather_sync_step (const SimCollective *collective, uint32_t step)
{
  uint32_t root = (uint32_t) collective->root;
  uint32_t peer = step / 2 + (step / 2 >= root);
  uint64_t bytes = is_root (collective) ? collective->recv_bytes : collective->bytes;
  uint64_t limit_bytes = collective->segment_bytes;
  uint64_t first_bytes = limit_bytes == 0 ? bytes : MIN (bytes, limit_bytes);

  if (!is_root (collective) && step == 0)
    return sim_step_receive (root, 0, true);
  if (!is_root (collective))
    return sim_step_send (root, step == 2 ? bytes - first_bytes : first_bytes, true);
  if (step % 2 == 1)
    return sim_step_receive (peer, bytes - first_bytes, false);
  return sim_step_swap (peer, 0, first_bytes);
}

const SimAlgorithm sim_gather_linear_sync = { .n_steps = gather_sync_steps,
                                              .step = gather_sync_step };

/* --- The shapes of trees ---
 *
 * Source: coll_base_topo.c of Open MPI.  All are over places except the in-order
 * binary one, which is over the ranks themselves. */

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

/* The parent of a place is the place without its lowest bit, and its subtree is
 * the places up to the next multiple of that bit.  MPICH has the same tree.  The
 * one of 6 places:
 *
 *        0
 *      / | \
 *     4  2  1
 *     |  |
 *     5  3                                                              */
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

/* --- Whole messages along the in-order binomial tree: MPICH --- */

static uint32_t
binomial_steps (const SimCollective *collective)
{
  SimTree tree;

  shape_binomial_in_order (collective, &tree);
  return tree.n_children + (tree.parent != TOPO_NONE);
}

typedef struct {
  uint32_t peer;
  uint32_t lower; /* place of the lower end */
  bool receives;
} TreeEdge;

/* The edge of the tree on which a step has its message.  Downwards first comes the
 * parent's, then those to the children, the one with the largest subtree first;
 * upwards is the reverse. */
static TreeEdge
binomial_edge (const SimCollective *collective, uint32_t step)
{
  bool down = is_downwards (collective);
  uint32_t child, n_steps = binomial_steps (collective);
  SimTree tree;

  if (down)
    step = n_steps - 1 - step;
  shape_binomial_in_order (collective, &tree);
  if (step == tree.n_children)
    return (TreeEdge){ tree.parent, my_place (collective), down };
  child = tree.children[step];
  return (TreeEdge){ child, sim_rank_before (collective, child, (uint32_t) collective->root),
                     !down };
}

/* The root of a gather or scatter turns the blocks, those of rank 0 first, unless it is rank 0; a
 * rank with a subtree copies its own block to or from those of the subtree. */
static void
add_block_copies (const SimCollective *collective, uint32_t step, SimStep *result)
{
  bool gather = collective->kind == TRACE_OP_GATHER, root = is_root (collective);
  uint32_t n_steps = binomial_steps (collective);
  SimLocalWork turn = { .copy_bytes = sim_block_bytes (collective) * collective->n_ranks };
  SimLocalWork own = { .copy_bytes = sim_block_bytes (collective) };

  if (root && collective->root != 0 && step == (gather ? n_steps - 1 : 0))
    *(gather ? &result->after : &result->before) = turn;
  if (!root && n_steps > 1 && step == 0)
    *(gather ? &result->before : &result->after) = own;
}

/* A gather or scatter has the bytes of all ranks of a subtree in one message. */
static SimStep
binomial_step (const SimCollective *collective, uint32_t step)
{
  bool gather = collective->kind == TRACE_OP_GATHER;
  SimStep result;
  TreeEdge edge = binomial_edge (collective, step);
  uint64_t bytes = collective->bytes;

  if (gather || collective->kind == TRACE_OP_SCATTER) {
    uint64_t rank_bytes = is_root (collective) == gather ? collective->recv_bytes : bytes;

    bytes = rank_bytes * MIN (edge.lower & -edge.lower, collective->n_ranks - edge.lower);
  }
  result = edge.receives ? sim_step_receive (edge.peer, bytes, true)
                         : sim_step_send (edge.peer, bytes, true);
  if (gather || collective->kind == TRACE_OP_SCATTER)
    add_block_copies (collective, step, &result);
  return collective->kind == TRACE_OP_REDUCE ? sim_step_reducing (result) : result;
}

const SimAlgorithm sim_bcast_binomial = { .n_steps = binomial_steps, .step = binomial_step };
const SimAlgorithm sim_reduce_binomial = { .n_steps = binomial_steps, .step = binomial_step };
const SimAlgorithm sim_gather_binomial = { .n_steps = binomial_steps, .step = binomial_step };
const SimAlgorithm sim_scatter_binomial = { .n_steps = binomial_steps, .step = binomial_step };

/* --- Segments along any tree: Open MPI ---
 *
 * Sources: coll_base_bcast.c and coll_base_reduce.c. */

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

/* A step for every segment and child, and one for the segment of the parent that does
 * not go with another: the first of a broadcast, the last of a reduction. */
static uint32_t
tree_steps (const SimCollective *collective)
{
  uint32_t n = n_segments (collective->bytes, collective->segment_bytes);
  SimTree tree;

  collective->algorithm->shape (collective, &tree);
  return tree.n_children == 0 ? n : n * tree.n_children + (tree.parent != TOPO_NONE);
}

/* A broadcast sends each segment to all children; the next one is received along with the
 * first of these sends.  A reduction receives each segment from all children; the one
 * before goes on to the parent along with the first of these receives. */
static SimStep
tree_step (const SimCollective *collective, uint32_t step)
{
  uint64_t bytes = collective->bytes, segment_bytes = collective->segment_bytes;
  bool down = is_downwards (collective), has_parent;
  uint32_t n = n_segments (bytes, segment_bytes), segment, child;
  SimStep result;
  SimTree tree;

  collective->algorithm->shape (collective, &tree);
  has_parent = tree.parent != TOPO_NONE;
  if (tree.n_children == 0)
    return down ? sim_step_receive (tree.parent, nth_bytes (bytes, segment_bytes, step), true)
                : sim_step_send (tree.parent, nth_bytes (bytes, segment_bytes, step), true);
  if (down && has_parent && step-- == 0)
    return sim_step_receive (tree.parent, nth_bytes (bytes, segment_bytes, 0), true);
  segment = step / tree.n_children;
  child = step % tree.n_children;
  if (segment == n)
    return sim_step_send (tree.parent, nth_bytes (bytes, segment_bytes, n - 1), true);
  if (down) {
    result = sim_step_send (tree.children[child], nth_bytes (bytes, segment_bytes, segment),
                            child + 1 == tree.n_children);
    if (has_parent && child == 0 && segment + 1 < n) {
      result.recv_from = tree.parent;
      result.recv_bytes = nth_bytes (bytes, segment_bytes, segment + 1);
    }
    return result;
  }
  result = sim_step_reducing (
      sim_step_receive (tree.children[child], nth_bytes (bytes, segment_bytes, segment), true));
  if (has_parent && child == 0 && segment > 0) {
    result.send_to = tree.parent;
    result.send_bytes = nth_bytes (bytes, segment_bytes, segment - 1);
  }
  return result;
}

#define TREE .n_steps = tree_steps, .step = tree_step

const SimAlgorithm sim_bcast_tree_binary = { TREE, .shape = shape_binary };
const SimAlgorithm sim_bcast_tree_binomial = { TREE, .shape = shape_binomial };
const SimAlgorithm sim_bcast_tree_four_nomial = { TREE, .shape = shape_four_nomial };
const SimAlgorithm sim_bcast_pipeline = { TREE, .shape = shape_chain };
const SimAlgorithm sim_reduce_tree_binary = { TREE, .shape = shape_binary };
const SimAlgorithm sim_reduce_tree_binomial = { TREE, .shape = shape_binomial_in_order };
const SimAlgorithm sim_reduce_pipeline = { TREE, .shape = shape_chain };

/* A reduction in the order of the ranks: the tree's root is the last rank, which
 * hands the result to the call's. */
static uint32_t
in_order_steps (const SimCollective *collective)
{
  uint32_t last = collective->n_ranks - 1, root = (uint32_t) collective->root;

  return tree_steps (collective) +
         (root != last && (collective->rank == root || collective->rank == last));
}

static SimStep
in_order_step (const SimCollective *collective, uint32_t step)
{
  uint32_t last = collective->n_ranks - 1;

  if (step < tree_steps (collective))
    return tree_step (collective, step);
  if (collective->rank == last)
    return sim_step_send ((uint32_t) collective->root, collective->bytes, true);
  return sim_step_receive (last, collective->bytes, true);
}

const SimAlgorithm sim_reduce_tree_in_order = { .n_steps = in_order_steps,
                                                .step = in_order_step,
                                                .shape = shape_binary_in_order };

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

static uint32_t
half_segments (const SimCollective *collective, uint32_t half)
{
  return n_segments (half_bytes (collective, half), collective->segment_bytes);
}

/* Halves that are shorter than a segment go along the chain, whole, as if the rules
 * had taken the pipeline. */
static bool
splits (const SimCollective *collective)
{
  return collective->bytes >= 2 && collective->segment_bytes <= collective->bytes / 2;
}

static SimCollective
as_pipeline (const SimCollective *collective)
{
  SimCollective pipeline = *collective;

  pipeline.algorithm = &sim_bcast_pipeline;
  return pipeline;
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

  if (!splits (collective)) {
    SimCollective pipeline = as_pipeline (collective);

    return tree_steps (&pipeline);
  }
  shape_binary (collective, &tree);
  return split_tree_steps (collective, &tree) +
         (tree.parent != TOPO_NONE || collective->n_ranks % 2 == 0);
}

static SimStep
split_step (const SimCollective *collective, uint32_t step)
{
  uint32_t place = my_place (collective), half = half_of_place (place);
  uint64_t bytes = half_bytes (collective, half), segment_bytes = collective->segment_bytes;
  uint64_t second_bytes = half_bytes (collective, SECOND_HALF);
  uint32_t segment, child;
  SimStep result;
  SimTree tree;

  if (!splits (collective)) {
    SimCollective pipeline = as_pipeline (collective);

    return tree_step (&pipeline, step);
  }
  shape_binary (collective, &tree);

  /* The swap of the halves. */
  if (step == split_tree_steps (collective, &tree)) {
    if (place == 0)
      return sim_step_send (sim_before (collective, 1), second_bytes, true);
    if (place + 1 == collective->n_ranks && half == FIRST_HALF)
      return sim_step_receive ((uint32_t) collective->root, second_bytes, true);
    return sim_step_swap (half == FIRST_HALF ? sim_after (collective, 1)
                                             : sim_before (collective, 1),
                          bytes, half_bytes (collective, half ^ 1u));
  }

  /* The root's children have one half each. */
  if (tree.parent == TOPO_NONE) {
    segment = step / tree.n_children;
    child = step % tree.n_children;
    half = child == 0 ? FIRST_HALF : SECOND_HALF;
    if (segment >= half_segments (collective, half))
      return sim_step_nothing ();
    return sim_step_send (tree.children[child],
                          nth_bytes (half_bytes (collective, half), segment_bytes, segment), true);
  }

  /* Sends block here, so the next receive is posted with the last of them. */
  if (tree.n_children == 0 || step == 0)
    return sim_step_receive (tree.parent, nth_bytes (bytes, segment_bytes, step), true);
  segment = (step - 1) / tree.n_children;
  child = (step - 1) % tree.n_children;
  result = sim_step_send (tree.children[child], nth_bytes (bytes, segment_bytes, segment), true);
  if (child + 1 == tree.n_children && segment + 1 < half_segments (collective, half)) {
    result.recv_from = tree.parent;
    result.recv_bytes = nth_bytes (bytes, segment_bytes, segment + 1);
  }
  return result;
}

const SimAlgorithm sim_bcast_split_binary = { .n_steps = split_steps, .step = split_step };

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

/* A place gets the blocks of all its subtree; empty ones are not sent. */
static SimStep
scatter_blocks_step (const SimCollective *collective, uint32_t step)
{
  TreeEdge edge = binomial_edge (collective, step);
  uint64_t bytes = blocks_bytes (collective, edge.lower, edge.lower & -edge.lower);
  uint32_t peer = bytes == 0 ? TOPO_NONE : edge.peer;

  return edge.receives ? sim_step_receive (peer, bytes, true) : sim_step_send (peer, bytes, true);
}

/* Then around the ring. */

static uint32_t
scatter_ring_steps (const SimCollective *collective)
{
  return binomial_steps (collective) + collective->n_ranks - 1;
}

static SimStep
scatter_ring_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n_scatter = binomial_steps (collective);
  uint32_t sent;

  if (step < n_scatter)
    return scatter_blocks_step (collective, step);
  sent = sim_rank_before (collective, my_place (collective), step - n_scatter);
  return sim_step_both (sim_after (collective, 1), blocks_bytes (collective, sent, 1),
                        sim_before (collective, 1),
                        blocks_bytes (collective, sim_rank_before (collective, sent, 1), 1));
}

const SimAlgorithm sim_bcast_scatter_ring = { .n_steps = scatter_ring_steps,
                                              .step = scatter_ring_step };

/* Then by recursive doubling.
 *
 * In level k, groups of 2^k places pair up, and each place exchanges the blocks of
 * its group with its counterpart in the other.  When the upper group is cut
 * short by the number of ranks, lower places without a counterpart get it from
 * the places that have one: level k has up to k more exchanges within the group, at
 * distances 2^(k-1) .. 1. */

static uint32_t
scatter_doubling_steps (const SimCollective *collective)
{
  uint32_t n_levels = sim_ceil_log2 (collective->n_ranks);

  if (sim_is_power_of_two (collective->n_ranks))
    return binomial_steps (collective) + n_levels;
  return binomial_steps (collective) + n_levels * (n_levels + 1) / 2;
}

static SimStep
scatter_doubling_step (const SimCollective *collective, uint32_t step)
{
  uint32_t n_scatter = binomial_steps (collective), place = my_place (collective);
  uint32_t n = collective->n_ranks;
  uint32_t level, size, first, upper, other, distance, n_upper, in_group, other_in_group;
  uint64_t bytes;

  if (step < n_scatter)
    return scatter_blocks_step (collective, step);

  /* The level and, in `step`, the exchange of it: 0 is the one between the groups. */
  step -= n_scatter;
  level = step;
  if (sim_is_power_of_two (n))
    step = 0;
  else
    for (level = 0; step > level; level++)
      step -= level + 1;
  size = 1u << level;
  first = place & ~(size - 1);

  if (step == 0) {
    other = place ^ size;
    if (other >= n)
      return sim_step_nothing ();
    return sim_step_swap (rank_at (collective, other), blocks_bytes (collective, first, size),
                          blocks_bytes (collective, first ^ size, size));
  }

  /* Within a lower group: places that have the upper group's blocks are, in every
   * group of twice the distance, the first `n_upper` ones; they pass them on to those
   * above. */
  upper = first + size;
  if ((place & size) != 0 || upper >= n || n - upper >= size)
    return sim_step_nothing ();
  n_upper = n - upper;
  distance = size >> step;
  other = place ^ distance;
  in_group = place & (2 * distance - 1);
  other_in_group = other & (2 * distance - 1);
  bytes = blocks_bytes (collective, upper, size);
  if (in_group < n_upper && other_in_group >= n_upper)
    return sim_step_send (rank_at (collective, other), bytes, true);
  if (other_in_group < n_upper && in_group >= n_upper)
    return sim_step_receive (rank_at (collective, other), bytes, true);
  return sim_step_nothing ();
}

const SimAlgorithm sim_bcast_scatter_doubling = { .n_steps = scatter_doubling_steps,
                                                  .step = scatter_doubling_step };
