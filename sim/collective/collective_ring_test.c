/* collective_ring_test.c - sums that are collected around the ring are whole.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/collective_world.h"

static void
assert_sums (World *world, uint32_t rank)
{
  for (uint32_t i = 0; i < world->n_elements * world->n; i++)
    g_assert_cmpuint (world->ranks[rank].content[i], ==, 1);
}

/* --- Model: the blocks of a ring, in `phases` parts each --- */

static uint32_t
offset_of (uint32_t bytes, uint32_t n, uint32_t nth)
{
  return nth * (bytes / n) + MIN (nth, bytes % n);
}

static uint32_t
ring_phases (const World *world)
{
  return world->calls[0].n_steps / (world->n - 1) - 1;
}

static void
ring_send (World *world, uint32_t rank, const SimStep *step, Message *message)
{
  uint32_t n = world->n, nth = world->wires[rank * n + step->send_to]->len;
  uint32_t phase = nth / (n - 1), round = nth % (n - 1), phases = ring_phases (world);
  uint32_t block = (rank + (phase == phases) + n - round) % n;
  uint32_t first = offset_of (world->n_elements, n, block);
  uint32_t length = offset_of (world->n_elements, n, block + 1) - first;

  message->lo = first;
  message->hi = first + length;
  if (phase < phases) {
    message->lo = first + offset_of (length, phases, phase);
    message->hi = first + offset_of (length, phases, phase + 1);
  }
  g_assert_cmpuint (step->send_bytes, ==, message->hi - message->lo);
  message->blocks = phase == phases;
  message->content = g_memdup2 (world->ranks[rank].content, (size_t) world->n_elements * n);
}

static void
ring_receive (World *world, uint32_t rank, G_GNUC_UNUSED uint32_t from, const Message *message)
{
  for (uint32_t i = message->lo * world->n; i < message->hi * world->n; i++)
    world->ranks[rank].content[i] =
        (uint8_t) (message->content[i] + (message->blocks ? 0 : world->ranks[rank].content[i]));
}

static const Model ring_model = { ring_send, ring_receive };

static void
check_ring (uint32_t n, uint32_t bytes, uint64_t segment_bytes, uint32_t phases)
{
  SimCollective call = { .kind = TRACE_OP_ALLREDUCE,
                         .root = TRACE_NO_ROOT,
                         .bytes = bytes,
                         .segment_bytes = segment_bytes };
  World *world = world_new (&sim_allreduce_ring, &ring_model, &call, n, bytes);

  for (uint32_t rank = 0; rank < n; rank++)
    world_own_part (world, rank, 0, bytes);
  g_assert_cmpuint (ring_phases (world), ==, phases);
  world_run (world);
  for (uint32_t rank = 0; rank < n; rank++)
    assert_sums (world, rank);
  g_assert_cmpuint (world->n_bytes, ==, 2 * (n - 1) * bytes);
  world_free (world);
}

/* Of whole rounds of n segments, and one more for a rest above half of one. */
static void
test_allreduce_ring (void)
{
  for (uint32_t i = 0; i + 1 < WORLD_SIZES; i++) {
    uint32_t n = world_sizes[i];

    check_ring (n, n, 0, 1);
    check_ring (n, 2 * n + 1, 0, 1);
    check_ring (n, 4 * n - 1, 4, 1);
    check_ring (n, 8 * n, 4, 2);
    check_ring (n, 10 * n, 4, 2);
    check_ring (n, 10 * n + 1, 4, 3);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/collective-ring/allreduce", test_allreduce_ring);
  return g_test_run ();
}
