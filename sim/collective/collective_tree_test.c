/* collective_tree_test.c - pieces of a message arrive whole, everywhere.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/collective_testing.h"

#include <string.h>

static uint64_t
sent_on (const World *world, uint32_t from, uint32_t to)
{
  const GPtrArray *wire = world->wires[from * world->n + to];
  uint64_t bytes = 0;

  for (uint32_t i = 0; i < wire->len; i++)
    bytes += ((const Message *) g_ptr_array_index (wire, i))->bytes;
  return bytes;
}

static uint32_t
place_of (const World *world, uint32_t rank)
{
  return (rank + world->n - (uint32_t) world->calls[rank].root) % world->n;
}

/* All of few ranks, some of many. */
static uint32_t
next_root (uint32_t root, uint32_t n)
{
  return n > 33 ? root + n / 2 : root + 1 + root / 2;
}

/* --- Model: a message has the elements after those of the one before it --- */

static void
assert_has (const World *world, uint32_t rank, uint32_t lo, uint32_t hi)
{
  g_assert_cmpuint (hi, <=, world->n_elements);
  for (uint32_t element = lo; element < hi; element++)
    g_assert_cmpuint (world->ranks[rank].content[element], ==, 1);
}

static void
stream_send (World *world, uint32_t rank, const SimStep *step, Message *message)
{
  message->lo = (uint32_t) sent_on (world, rank, step->send_to);
  message->hi = message->lo + (uint32_t) step->send_bytes;
  assert_has (world, rank, message->lo, message->hi);
}

/* Nothing comes twice. */
static void
stream_receive (World *world, uint32_t rank, G_GNUC_UNUSED uint32_t from, const Message *message)
{
  for (uint32_t element = message->lo; element < message->hi; element++)
    g_assert_cmpuint (world->ranks[rank].content[element]++, ==, 0);
}

static const Model stream_model = { stream_send, stream_receive };

/* --- Model: two halves of the elements, each in order on its half of a binary
 * tree, swapped in the end --- */

static uint32_t
tree_parent (uint32_t place)
{
  for (uint32_t parent = 0, width = 1; parent < place; parent++) {
    if (parent + 1 == 2 * width)
      width *= 2;
    if (place == parent + width || place == parent + 2 * width)
      return parent;
  }
  return TOPO_NONE;
}

static void
halves_send (World *world, uint32_t rank, const SimStep *step, Message *message)
{
  uint32_t from = place_of (world, rank), to = place_of (world, step->send_to);
  uint32_t middle = world->n_elements - world->n_elements / 2;
  uint32_t sent = (uint32_t) sent_on (world, rank, step->send_to);

  if (tree_parent (to) == from)
    message->lo = sent + (to % 2 == 0 ? middle : 0);
  else
    message->lo = from % 2 == 0 ? middle : 0;
  message->hi = message->lo + (uint32_t) step->send_bytes;
  assert_has (world, rank, message->lo, message->hi);
}

static const Model halves_model = { halves_send, stream_receive };

static World *
run_bcast (const SimAlgorithm *algorithm, const Model *model, uint32_t n, uint32_t root,
           uint32_t bytes, uint64_t segment_bytes)
{
  SimCollective call = {
    .kind = TRACE_OP_BCAST, .root = (int32_t) root, .bytes = bytes, .segment_bytes = segment_bytes
  };
  World *world = world_new (algorithm, model, &call, n, bytes);

  memset (world->ranks[root].content, 1, bytes);
  world->ranks[root].hi = bytes;
  world_run (world);
  for (uint32_t rank = 0; rank < n; rank++)
    assert_has (world, rank, 0, bytes);
  return world;
}

/* Every rank but the root gets each segment once. */
static void
check_bcast (const SimAlgorithm *algorithm, const Model *model, uint32_t n, uint32_t root,
             uint32_t bytes, uint64_t segment_bytes, uint32_t n_segments)
{
  g_autoptr (World) world = run_bcast (algorithm, model, n, root, bytes, segment_bytes);

  g_assert_cmpuint (world->n_bytes, ==, (n - 1) * bytes);
  g_assert_cmpuint (world->n_messages, ==, (n - 1) * n_segments);
}

static void
test_bcast_trees (void)
{
  static const SimAlgorithm *const algorithms[] = { &sim_bcast_tree_binary,
                                                    &sim_bcast_tree_binomial,
                                                    &sim_bcast_tree_four_nomial,
                                                    &sim_bcast_pipeline };

  for (uint32_t a = 0; a < G_N_ELEMENTS (algorithms); a++)
    for (uint32_t i = 0; i < WORLD_SIZES; i++)
      for (uint32_t root = 0; root < world_sizes[i]; root = next_root (root, world_sizes[i])) {
        check_bcast (algorithms[a], &stream_model, world_sizes[i], root, 9, 0, 1);
        check_bcast (algorithms[a], &stream_model, world_sizes[i], root, 9, 9, 1);
        check_bcast (algorithms[a], &stream_model, world_sizes[i], root, 9, 8, 2);
        check_bcast (algorithms[a], &stream_model, world_sizes[i], root, 23, 5, 5);
      }
}

/* In segments of 11 the first half, of odd places, has two, the other one. */
static void
check_split_unevenly (uint32_t n, uint32_t root)
{
  g_autoptr (World) world = run_bcast (&sim_bcast_split_binary, &halves_model, n, root, 23, 11);

  g_assert_cmpuint (world->n_messages, ==, n / 2 * 3 + (n - 1) / 2 * 2);
}

/* 23 bytes are 12 and 11: in segments of 5, three each; of 6, two each.  Each
 * rank but the root has one half by the tree and the other in one piece. */
static void
test_bcast_split_binary (void)
{
  for (uint32_t i = 0; i < WORLD_SIZES; i++)
    for (uint32_t root = 0; root < world_sizes[i]; root = next_root (root, world_sizes[i])) {
      uint32_t n = world_sizes[i];

      check_bcast (&sim_bcast_split_binary, &halves_model, n, root, 23, 5, 4);
      check_bcast (&sim_bcast_split_binary, &halves_model, n, root, 23, 6, 3);
      check_bcast (&sim_bcast_split_binary, &halves_model, n, root, 23, 0, 2);
      check_split_unevenly (n, root);
    }
}

/* Halves shorter than a segment are not made. */
static void
test_short_halves_go_along_the_chain (void)
{
  check_bcast (&sim_bcast_split_binary, &stream_model, 7, 3, 23, 12, 2);
  check_bcast (&sim_bcast_split_binary, &stream_model, 7, 3, 1, 0, 1);
}

/* The drawings in the source: in order for 9, four-nomial for 10. */
static void
test_drawn_trees (void)
{
  static const uint32_t in_order[9] = { 1, 3, 3, 8, 5, 7, 7, 8, TOPO_NONE };
  static const uint32_t four_nomial[10] = { TOPO_NONE, 0, 0, 0, 0, 4, 4, 4, 0, 8 };
  SimTree tree;

  for (uint32_t rank = 0; rank < 9; rank++) {
    sim_reduce_tree_in_order.shape (&(SimCollective){ .n_ranks = 9, .rank = rank }, &tree);
    g_assert_cmpuint (tree.parent, ==, in_order[rank]);
  }
  for (uint32_t rank = 0; rank < 10; rank++) {
    sim_bcast_tree_four_nomial.shape (&(SimCollective){ .n_ranks = 10, .rank = rank }, &tree);
    g_assert_cmpuint (tree.parent, ==, four_nomial[rank]);
  }
}

/* --- Model: scatter, then everyone gets everything.  Who scatters gives the
 * upper part of its range away; later messages are copies. --- */

static uint32_t
scatter_steps (const World *world, uint32_t rank)
{
  uint32_t place = place_of (world, rank), n_steps = place != 0;

  for (uint32_t bit = 1; bit < world->n && (place & bit) == 0; bit *= 2)
    n_steps += place + bit < world->n;
  return n_steps;
}

static void
upper_send (World *world, uint32_t rank, const SimStep *step, Message *message)
{
  Rank *it = &world->ranks[rank];

  g_assert_cmpuint (step->send_bytes, <=, it->hi - it->lo);
  message->hi = it->hi;
  message->lo = it->hi - (uint32_t) step->send_bytes;
  if (it->step <= scatter_steps (world, rank))
    it->hi = message->lo;
}

/* Ranges grow together; where nothing was there it is just this. */
static void
upper_receive (World *world, uint32_t rank, G_GNUC_UNUSED uint32_t from, const Message *message)
{
  Rank *it = &world->ranks[rank];

  if (message->lo == message->hi)
    return;
  if (it->lo == it->hi)
    it->lo = it->hi = message->lo;
  g_assert_true (message->lo == it->hi || message->hi == it->lo);
  it->lo = MIN (it->lo, message->lo);
  it->hi = MAX (it->hi, message->hi);
  memset (it->content + message->lo, 1, message->hi - message->lo);
}

static const Model upper_model = { upper_send, upper_receive };

/* The last block to come goes around the ring. */
static void
last_send (World *world, uint32_t rank, const SimStep *step, Message *message)
{
  if (world->ranks[rank].step > scatter_steps (world, rank))
    g_assert_cmpuint (step->send_bytes, ==, world->ranks[rank].hi - world->ranks[rank].lo);
  upper_send (world, rank, step, message);
}

static void
last_receive (World *world, uint32_t rank, G_GNUC_UNUSED uint32_t from, const Message *message)
{
  world->ranks[rank].lo = message->lo;
  world->ranks[rank].hi = message->hi;
  memset (world->ranks[rank].content + message->lo, 1, message->hi - message->lo);
}

static const Model last_model = { last_send, last_receive };

static void
test_bcast_scatter (void)
{
  for (uint32_t i = 0; i < WORLD_SIZES; i++)
    for (uint32_t root = 0; root < world_sizes[i]; root = next_root (root, world_sizes[i])) {
      uint32_t n = world_sizes[i];
      uint32_t bytes[] = { 1, n - 1, n, n + 1, 3 * n + 2, 4 * n };

      for (uint32_t b = 0; b < G_N_ELEMENTS (bytes); b++) {
        world_free (run_bcast (&sim_bcast_scatter_doubling, &upper_model, n, root, bytes[b], 0));
        world_free (run_bcast (&sim_bcast_scatter_ring, &last_model, n, root, bytes[b], 0));
      }
    }
}

/* A block per place: lg(n)/2 of n blocks by the scatter, n - 1 by the rest. */
static void
test_bcast_scatter_bytes (void)
{
  for (uint32_t n = 2; n <= 64; n *= 2) {
    World *doubling = run_bcast (&sim_bcast_scatter_doubling, &upper_model, n, 0, 3 * n, 0);
    World *ring = run_bcast (&sim_bcast_scatter_ring, &last_model, n, 0, 3 * n, 0);
    uint64_t n_bytes = 3 * (n * world_rounds (n) / 2 + n * (n - 1));

    g_assert_cmpuint (doubling->n_bytes, ==, n_bytes);
    g_assert_cmpuint (ring->n_bytes, ==, n_bytes);
    g_assert_cmpuint (doubling->n_messages, ==, n - 1 + n * world_rounds (n));
    g_assert_cmpuint (ring->n_messages, ==, n - 1 + n * (n - 1));
    world_free (doubling);
    world_free (ring);
  }
}

/* --- Model: sums of streams.  The last rank's are results when `hands_over`. --- */

static void
sums_send (World *world, uint32_t rank, const SimStep *step, Message *message)
{
  message->lo = (uint32_t) sent_on (world, rank, step->send_to);
  message->hi = message->lo + (uint32_t) step->send_bytes;
  g_assert_cmpuint (message->hi, <=, world->n_elements);
  message->content = g_memdup2 (world->ranks[rank].content, (size_t) world->n_elements * world->n);
}

static void
sums_receive (World *world, uint32_t rank, uint32_t from, const Message *message)
{
  bool result = world->algorithm == &sim_reduce_tree_in_order && from == world->n - 1;

  for (uint32_t element = message->lo; element < message->hi; element++)
    for (uint32_t part = 0; part < world->n; part++) {
      uint8_t *mine = world_content (world->ranks[rank].content, world, element) + part;
      uint8_t theirs = world_content (message->content, world, element)[part];

      *mine = result ? theirs : (uint8_t) (*mine + theirs);
    }
}

static const Model sums_model = { sums_send, sums_receive };

static void
check_reduce (const SimAlgorithm *algorithm, uint32_t n, uint32_t root, uint32_t bytes,
              uint64_t segment_bytes, uint32_t n_segments)
{
  SimCollective call = {
    .kind = TRACE_OP_REDUCE, .root = (int32_t) root, .bytes = bytes, .segment_bytes = segment_bytes
  };
  g_autoptr (World) world = world_new (algorithm, &sums_model, &call, n, bytes);
  bool hands_over = algorithm == &sim_reduce_tree_in_order && root != n - 1;

  for (uint32_t rank = 0; rank < n; rank++)
    world_own_part (world, rank, 0, bytes);
  world_run (world);
  world_assert_sums (world, root);
  g_assert_cmpuint (world->n_bytes, ==, (n - 1 + hands_over) * bytes);
  g_assert_cmpuint (world->n_messages, ==, (n - 1) * n_segments + hands_over);
}

static void
test_reduce_trees (void)
{
  static const SimAlgorithm *const algorithms[] = { &sim_reduce_tree_binary,
                                                    &sim_reduce_tree_binomial,
                                                    &sim_reduce_tree_in_order,
                                                    &sim_reduce_pipeline };

  for (uint32_t a = 0; a < G_N_ELEMENTS (algorithms); a++)
    for (uint32_t i = 0; i < WORLD_SIZES; i++)
      for (uint32_t root = 0; root < world_sizes[i]; root = next_root (root, world_sizes[i])) {
        check_reduce (algorithms[a], world_sizes[i], root, 2, 0, 1);
        check_reduce (algorithms[a], world_sizes[i], root, 7, 3, 3);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/collective-pipeline/bcast-trees", test_bcast_trees);
  g_test_add_func ("/sim/collective-pipeline/bcast-split-binary", test_bcast_split_binary);
  g_test_add_func ("/sim/collective-pipeline/short-halves", test_short_halves_go_along_the_chain);
  g_test_add_func ("/sim/collective-pipeline/drawn-trees", test_drawn_trees);
  g_test_add_func ("/sim/collective-pipeline/bcast-scatter", test_bcast_scatter);
  g_test_add_func ("/sim/collective-pipeline/bcast-scatter-bytes", test_bcast_scatter_bytes);
  g_test_add_func ("/sim/collective-pipeline/reduce-trees", test_reduce_trees);
  return g_test_run ();
}
