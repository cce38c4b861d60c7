/* collective_testing.c - runs the steps of all ranks of a collective, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/collective_testing.h"

const uint32_t world_sizes[WORLD_SIZES] = { 2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13,
                                            14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
                                            26, 27, 28, 29, 30, 31, 32, 33, 64, 100 };

static void
message_free (gpointer data)
{
  Message *message = data;

  g_free (message->content);
  g_free (message);
}

World *
world_new (const SimAlgorithm *algorithm, const Model *model, const SimCollective *call, uint32_t n,
           uint32_t n_elements)
{
  World *world = g_new0 (World, 1);

  world->algorithm = algorithm;
  world->model = model;
  world->n = n;
  world->n_elements = n_elements;
  world->unit_bytes = 1;
  world->calls = g_new0 (SimCollective, n);
  world->ranks = g_new0 (Rank, n);
  world->wires = g_new0 (GPtrArray *, n * n);
  world->n_receives = g_new0 (uint32_t, n * n);
  for (uint32_t rank = 0; rank < n; rank++) {
    world->calls[rank] = *call;
    world->calls[rank].n_ranks = n;
    world->calls[rank].rank = rank;
    world->calls[rank].algorithm = algorithm;
    world->calls[rank].n_steps = algorithm->n_steps (&world->calls[rank]);
    world->ranks[rank].posted = g_array_new (FALSE, FALSE, sizeof (Posted));
    world->ranks[rank].content = g_new0 (uint8_t, n_elements * n + 1);
  }
  for (uint32_t wire = 0; wire < n * n; wire++)
    world->wires[wire] = g_ptr_array_new_with_free_func (message_free);
  return world;
}

void
world_free (World *world)
{
  for (uint32_t rank = 0; rank < world->n; rank++) {
    g_array_unref (world->ranks[rank].posted);
    g_free (world->ranks[rank].content);
  }
  for (uint32_t wire = 0; wire < world->n * world->n; wire++)
    g_ptr_array_unref (world->wires[wire]);
  g_free (world->calls);
  g_free (world->ranks);
  g_free (world->wires);
  g_free (world->n_receives);
  g_free (world);
}

static void
post_receive (World *world, uint32_t rank, const SimStep *step)
{
  uint32_t wire = step->recv_from * world->n + rank;
  Posted posted = { false, step->recv_from, world->n_receives[wire]++, step->recv_bytes };

  g_assert_cmpuint (step->recv_from, <, world->n);
  g_assert_cmpuint (step->recv_from, !=, rank);
  g_array_append_val (world->ranks[rank].posted, posted);
}

static void
post_send (World *world, uint32_t rank, const SimStep *step)
{
  GPtrArray *wire = world->wires[rank * world->n + step->send_to];
  Posted posted = { true, step->send_to, wire->len, step->send_bytes };
  Message *message = g_new0 (Message, 1);

  g_assert_cmpuint (step->send_to, <, world->n);
  g_assert_cmpuint (step->send_to, !=, rank);
  message->bytes = step->send_bytes;
  world->model->send (world, rank, step, message);
  g_ptr_array_add (wire, message);
  g_array_append_val (world->ranks[rank].posted, posted);
  world->n_messages++;
  world->n_bytes += step->send_bytes;
}

static bool
all_matched (const World *world, uint32_t rank)
{
  const GArray *posted = world->ranks[rank].posted;

  for (uint32_t i = 0; i < posted->len; i++) {
    const Posted *it = &g_array_index (posted, Posted, i);
    uint32_t source = it->is_send ? rank : it->peer;
    uint32_t destination = it->is_send ? it->peer : rank;
    uint32_t wire = source * world->n + destination;

    if (world->wires[wire]->len <= it->serial || world->n_receives[wire] <= it->serial)
      return false;
  }
  return true;
}

static void
take_all (World *world, uint32_t rank)
{
  GArray *posted = world->ranks[rank].posted;

  for (uint32_t i = 0; i < posted->len; i++) {
    const Posted *it = &g_array_index (posted, Posted, i);
    const Message *message;

    if (it->is_send)
      continue;
    message = g_ptr_array_index (world->wires[it->peer * world->n + rank], it->serial);
    g_assert_cmpuint (message->bytes, ==, it->bytes);
    world->model->receive (world, rank, it->peer, message);
  }
  g_array_set_size (posted, 0);
}

/* True when the rank got any further. */
static bool
run_rank (World *world, uint32_t rank)
{
  Rank *it = &world->ranks[rank];
  bool moved = false;

  for (;;) {
    SimStep step;

    if (it->waits) {
      if (!all_matched (world, rank))
        return moved;
      take_all (world, rank);
      it->waits = false;
      moved = true;
    }
    if (it->step == world->calls[rank].n_steps)
      return moved;
    step = world->algorithm->step (&world->calls[rank], it->step++);
    if (step.recv_from != TOPO_NONE)
      post_receive (world, rank, &step);
    if (step.send_to != TOPO_NONE)
      post_send (world, rank, &step);
    it->waits = step.wait || it->step == world->calls[rank].n_steps;
    moved = true;
  }
}

void
world_run (World *world)
{
  bool moved;

  do {
    moved = false;
    for (uint32_t rank = 0; rank < world->n; rank++)
      moved = run_rank (world, rank) || moved;
  } while (moved);
  for (uint32_t rank = 0; rank < world->n; rank++) {
    g_assert_cmpuint (world->ranks[rank].step, ==, world->calls[rank].n_steps);
    g_assert_false (world->ranks[rank].waits);
  }
  for (uint32_t wire = 0; wire < world->n * world->n; wire++)
    g_assert_cmpuint (world->wires[wire]->len, ==, world->n_receives[wire]);
}

uint8_t *
world_content (uint8_t *content, const World *world, uint32_t element)
{
  return content + (size_t) element * world->n;
}

void
world_own_part (World *world, uint32_t rank, uint32_t lo, uint32_t hi)
{
  world->ranks[rank].lo = lo;
  world->ranks[rank].hi = hi;
  for (uint32_t element = lo; element < hi; element++)
    world_content (world->ranks[rank].content, world, element)[rank] = 1;
}

void
world_assert_sums (const World *world, uint32_t rank)
{
  for (uint32_t i = 0; i < world->n_elements * world->n; i++)
    g_assert_cmpuint (world->ranks[rank].content[i], ==, 1);
}

static void
ignore_send (G_GNUC_UNUSED World *world, G_GNUC_UNUSED uint32_t rank,
             G_GNUC_UNUSED const SimStep *step, G_GNUC_UNUSED Message *message)
{
}

static void
ignore_receive (G_GNUC_UNUSED World *world, G_GNUC_UNUSED uint32_t rank,
                G_GNUC_UNUSED uint32_t from, G_GNUC_UNUSED const Message *message)
{
}

const Model world_sizes_model = { ignore_send, ignore_receive };

uint32_t
world_power_below (uint32_t n)
{
  uint32_t power = 1;

  while (2 * power <= n)
    power *= 2;
  return power;
}

uint32_t
world_rounds (uint32_t n)
{
  uint32_t rounds = 0;

  while ((1u << rounds) < n)
    rounds++;
  return rounds;
}

uint64_t *
world_powers_of_two (uint32_t n)
{
  uint64_t *powers = g_new (uint64_t, n);

  for (uint32_t rank = 0; rank < n; rank++)
    powers[rank] = UINT64_C (1) << rank;
  return powers;
}
