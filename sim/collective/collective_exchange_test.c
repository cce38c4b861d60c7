/* collective_exchange_test.c - exchanges, linear collectives, reductions and gathers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/collective_testing.h"

#include <string.h>

/* --- Model: one bit for each rank that a rank has heard of --- */

static void
gossip_send (World *world, uint32_t rank, G_GNUC_UNUSED const SimStep *step, Message *message)
{
  message->content = g_memdup2 (world->ranks[rank].content, world->n);
}

static void
gossip_receive (World *world, uint32_t rank, G_GNUC_UNUSED uint32_t from, const Message *message)
{
  for (uint32_t part = 0; part < world->n; part++)
    world->ranks[rank].content[part] |= message->content[part];
}

static const Model gossip_model = { gossip_send, gossip_receive };

/* Returns the number of messages. */
static uint64_t
run_barrier (const SimAlgorithm *algorithm, uint32_t n)
{
  SimCollective call = { .kind = TRACE_OP_BARRIER, .root = TRACE_NO_ROOT };
  World *world = world_new (algorithm, &gossip_model, &call, n, 1);
  uint64_t n_messages;

  for (uint32_t rank = 0; rank < n; rank++)
    world->ranks[rank].content[rank] = 1;
  world_run (world);
  for (uint32_t rank = 0; rank < n; rank++)
    for (uint32_t part = 0; part < n; part++)
      g_assert_cmpuint (world->ranks[rank].content[part], ==, 1);
  g_assert_cmpuint (world->n_bytes, ==, 0);
  n_messages = world->n_messages;
  world_free (world);
  return n_messages;
}

static void
test_barriers (void)
{
  for (uint32_t i = 0; i < WORLD_SIZES; i++) {
    uint32_t n = world_sizes[i], inner = world_power_below (n);

    g_assert_cmpuint (run_barrier (&sim_barrier_dissemination, n), ==, n * world_rounds (n));
    g_assert_cmpuint (run_barrier (&sim_barrier_doubling, n), ==,
                      inner * world_rounds (inner) + 2 * (n - inner));
    g_assert_cmpuint (run_barrier (&sim_barrier_tree, n), ==, 2 * (n - 1));
    g_assert_cmpuint (run_barrier (&sim_barrier_linear, n), ==, 2 * (n - 1));
  }
}

static void
run_bcast (const SimAlgorithm *algorithm, uint32_t n, uint32_t root)
{
  SimCollective call = { .kind = TRACE_OP_BCAST, .root = (int32_t) root, .bytes = 11 };
  g_autoptr (World) world = world_new (algorithm, &gossip_model, &call, n, 1);

  world->ranks[root].content[0] = 1;
  world_run (world);
  for (uint32_t rank = 0; rank < n; rank++)
    g_assert_cmpuint (world->ranks[rank].content[0], ==, 1);
  g_assert_cmpuint (world->n_messages, ==, n - 1);
  g_assert_cmpuint (world->n_bytes, ==, 11 * (n - 1));
}

static void
test_bcasts (void)
{
  for (uint32_t i = 0; i < WORLD_SIZES; i++)
    for (uint32_t root = 0; root < world_sizes[i]; root++) {
      run_bcast (&sim_bcast_binomial, world_sizes[i], root);
      run_bcast (&sim_bcast_linear, world_sizes[i], root);
    }
}

/* --- Model: blocks of 2^rank bytes, so that a size tells which they are --- */

static void
blocks_send (World *world, uint32_t rank, const SimStep *step, Message *message)
{
  g_assert_cmphex (step->send_bytes & ~world->ranks[rank].blocks, ==, 0);
  message->blocks = step->send_bytes;
}

static void
blocks_receive (World *world, uint32_t rank, G_GNUC_UNUSED uint32_t from, const Message *message)
{
  g_assert_cmphex (world->ranks[rank].blocks & message->blocks, ==, 0);
  world->ranks[rank].blocks |= message->blocks;
}

static const Model blocks_model = { blocks_send, blocks_receive };

/* Every rank gets every block exactly once, in so many messages.  With equal
 * contributions every rank gets n - 1 of them. */
static void
check_allgather (const SimAlgorithm *algorithm, uint32_t n, uint64_t n_messages)
{
  SimCollective equal = { .kind = TRACE_OP_ALLGATHER, .root = -1, .bytes = 13, .recv_bytes = 13 };
  World *world = world_new (algorithm, &world_sizes_model, &equal, n, 0);

  world_run (world);
  g_assert_cmpuint (world->n_bytes, ==, UINT64_C (13) * n * (n - 1));
  world_free (world);
  if (n < 64) {
    g_autofree uint64_t *counts = world_powers_of_two (n);
    SimCollective call = { .kind = TRACE_OP_ALLGATHERV, .root = -1, .recv_counts = counts };

    world = world_new (algorithm, &blocks_model, &call, n, 0);
    for (uint32_t rank = 0; rank < n; rank++)
      world->ranks[rank].blocks = counts[rank];
    world_run (world);
    for (uint32_t rank = 0; rank < n; rank++)
      g_assert_cmphex (world->ranks[rank].blocks, ==, (UINT64_C (1) << n) - 1);
    g_assert_cmpuint (world->n_messages, ==, n_messages);
    world_free (world);
  }
}

static void
test_allgathers (void)
{
  for (uint32_t n = 2; n <= 64; n++) {
    if (world_power_below (n) == n)
      check_allgather (&sim_allgather_doubling, n, n * world_rounds (n));
    if (n % 2 == 0)
      check_allgather (&sim_allgather_neighbor, n, n * n / 2);
  }
  for (uint32_t i = 0; i < WORLD_SIZES; i++) {
    uint32_t n = world_sizes[i];

    check_allgather (&sim_allgather_bruck, n, n * world_rounds (n));
    check_allgather (&sim_allgather_ring, n, n * (n - 1));
  }
}

/* --- Model: the n * n blocks of an alltoall on their ways --- */

/* A block that has still a distance with the step's bit to go travels. */
static void
bruck_send (World *world, uint32_t rank, const SimStep *step, Message *message)
{
  uint32_t n = world->n, distance = (step->send_to + n - rank) % n, n_blocks = 0;
  uint8_t *mine = world->ranks[rank].content;

  message->content = g_new0 (uint8_t, (size_t) n * n);
  for (uint32_t source = 0; source < n; source++)
    for (uint32_t destination = 0; destination < n; destination++) {
      uint32_t block = source * n + destination;

      if (!mine[block] || !((destination + n - rank) % n & distance))
        continue;
      message->content[block] = 1;
      mine[block] = 0;
      n_blocks++;
    }
  g_assert_cmpuint (step->send_bytes, ==, 3 * n_blocks);
}

static void
bruck_receive (World *world, uint32_t rank, G_GNUC_UNUSED uint32_t from, const Message *message)
{
  for (uint32_t block = 0; block < world->n * world->n; block++)
    world->ranks[rank].content[block] += message->content[block];
}

static const Model bruck_model = { bruck_send, bruck_receive };

static void
test_alltoall_bruck (void)
{
  for (uint32_t i = 0; i < WORLD_SIZES; i++) {
    SimCollective call = { .kind = TRACE_OP_ALLTOALL, .root = -1, .bytes = 3, .recv_bytes = 3 };
    uint32_t n = world_sizes[i];
    World *world = world_new (&sim_alltoall_bruck, &bruck_model, &call, n, n);

    for (uint32_t rank = 0; rank < n; rank++)
      memset (world_content (world->ranks[rank].content, world, rank), 1, n);
    world_run (world);
    for (uint32_t rank = 0; rank < n; rank++)
      for (uint32_t block = 0; block < n * n; block++)
        g_assert_cmpuint (world->ranks[rank].content[block], ==, block % n == rank);
    g_assert_cmpuint (world->n_messages, ==, n * world_rounds (n));
    world_free (world);
  }
}

/* Each pair of ranks has a size of its own, so that the interpreter's
 * comparison of sizes tells whether the right ones meet; one in three has
 * nothing to say, and sends a message or none. */
static void
run_alltoallv (const SimAlgorithm *algorithm, uint32_t n, bool empty_messages)
{
  SimCollective call = { .kind = TRACE_OP_ALLTOALLV, .root = -1 };
  g_autoptr (World) world = world_new (algorithm, &world_sizes_model, &call, n, 0);
  g_autofree uint64_t *counts = g_new (uint64_t, 2 * n * n);
  uint64_t n_bytes = 0;

  for (uint32_t source = 0; source < n; source++)
    for (uint32_t destination = 0; destination < n; destination++) {
      uint64_t bytes = (source + destination) % 3 == 2 ? 0 : 1000 * source + destination + 1;

      counts[source * n + destination] = bytes;
      counts[n * n + destination * n + source] = bytes;
      n_bytes += source == destination ? 0 : bytes;
    }
  for (uint32_t rank = 0; rank < n; rank++) {
    world->calls[rank].counts = counts + rank * n;
    world->calls[rank].recv_counts = counts + n * n + rank * n;
  }
  world_run (world);
  for (uint32_t wire = 0; wire < n * n; wire++)
    g_assert_cmpuint (world->wires[wire]->len, ==,
                      wire / n != wire % n && (empty_messages || counts[wire] > 0));
  g_assert_cmpuint (world->n_bytes, ==, n_bytes);
}

static void
test_alltoallvs (void)
{
  for (uint32_t i = 0; i < WORLD_SIZES; i++) {
    run_alltoallv (&sim_alltoall_scattered, world_sizes[i], false);
    run_alltoallv (&sim_alltoall_pairwise, world_sizes[i], false);
    run_alltoallv (&sim_alltoallv_linear_nonzero, world_sizes[i], false);
    run_alltoallv (&sim_alltoallv_linear, world_sizes[i], true);
    run_alltoallv (&sim_alltoall_pairwise_ring, world_sizes[i], true);
  }
}

/* With equal blocks there is one message from each rank to each other. */
static void
check_alltoall (const SimAlgorithm *algorithm, uint32_t n)
{
  SimCollective call = { .kind = TRACE_OP_ALLTOALL, .root = -1, .bytes = 5, .recv_bytes = 5 };
  g_autoptr (World) world = world_new (algorithm, &world_sizes_model, &call, n, 0);

  world_run (world);
  for (uint32_t wire = 0; wire < n * n; wire++)
    g_assert_cmpuint (world->wires[wire]->len, ==, wire / n != wire % n);
  g_assert_cmpuint (world->n_bytes, ==, UINT64_C (5) * n * (n - 1));
}

static void
test_alltoalls (void)
{
  for (uint32_t i = 0; i < WORLD_SIZES; i++) {
    check_alltoall (&sim_alltoall_linear, world_sizes[i]);
    check_alltoall (&sim_alltoall_pairwise_ring, world_sizes[i]);
    check_alltoall (&sim_alltoall_pairwise, world_sizes[i]);
    check_alltoall (&sim_alltoall_scattered, world_sizes[i]);
  }
}

/* Rank r has r bytes to give or get, so rank 0 stays out of it. */
static void
run_linear (const SimAlgorithm *algorithm, TraceOpKind kind, uint32_t n, uint32_t root)
{
  SimCollective call = { .kind = kind, .root = (int32_t) root };
  g_autoptr (World) world = world_new (algorithm, &world_sizes_model, &call, n, 0);
  g_autofree uint64_t *counts = g_new (uint64_t, n);

  for (uint32_t rank = 0; rank < n; rank++) {
    counts[rank] = rank;
    world->calls[rank].bytes = world->calls[rank].recv_bytes = rank;
    world->calls[rank].n_steps = algorithm->n_steps (&world->calls[rank]);
  }
  world->calls[root].counts = world->calls[root].recv_counts = counts;
  world_run (world);
  g_assert_cmpuint (world->n_bytes, ==, n * (n - 1) / 2 - root);
  g_assert_cmpuint (world->n_messages, ==, root == 0 ? n - 1 : n - 2);
}

static void
test_linear (void)
{
  for (uint32_t i = 0; i < WORLD_SIZES; i++)
    for (uint32_t root = 0; root < world_sizes[i]; root++) {
      run_linear (&sim_gatherv_linear, TRACE_OP_GATHERV, world_sizes[i], root);
      run_linear (&sim_scatterv_linear, TRACE_OP_SCATTERV, world_sizes[i], root);
      run_linear (&sim_gatherv_in_turn, TRACE_OP_GATHERV, world_sizes[i], root);
      run_linear (&sim_scatterv_in_turn, TRACE_OP_SCATTERV, world_sizes[i], root);
    }
}

/* Between the root and each other, so many messages of 7 bytes in all. */
static void
check_star (const SimAlgorithm *algorithm, TraceOpKind kind, uint64_t segment_bytes, uint32_t n_up,
            uint32_t n_down)
{
  for (uint32_t i = 0; i < WORLD_SIZES; i++)
    for (uint32_t root = 0; root < world_sizes[i]; root++) {
      SimCollective call = { .kind = kind,
                             .root = (int32_t) root,
                             .bytes = 7,
                             .recv_bytes = 7,
                             .segment_bytes = segment_bytes };
      uint32_t n = world_sizes[i];
      World *world = world_new (algorithm, &world_sizes_model, &call, n, 0);

      world_run (world);
      g_assert_cmpuint (world->n_bytes, ==, 7 * (n - 1));
      for (uint32_t rank = 0; rank < n; rank++) {
        g_assert_cmpuint (world->wires[rank * n + root]->len, ==, rank == root ? 0 : n_up);
        g_assert_cmpuint (world->wires[root * n + rank]->len, ==, rank == root ? 0 : n_down);
      }
      g_assert_cmpuint (world->n_messages, ==, (n - 1) * (n_up + n_down));
      world_free (world);
    }
}

static void
test_stars (void)
{
  check_star (&sim_gather_linear, TRACE_OP_GATHER, 0, 1, 0);
  check_star (&sim_scatter_linear, TRACE_OP_SCATTER, 0, 0, 1);
  check_star (&sim_scatter_linear_at_once, TRACE_OP_SCATTER, 0, 0, 1);
  check_star (&sim_gather_linear_sync, TRACE_OP_GATHER, 0, 2, 1);
  check_star (&sim_gather_linear_sync, TRACE_OP_GATHER, 2, 2, 1);
}

/* The first piece has the segment's length, the second one the rest, for which
 * the root does not wait. */
static void
test_gather_pieces (void)
{
  SimCollective call = {
    .kind = TRACE_OP_GATHER, .n_ranks = 3, .rank = 1, .root = 0, .bytes = 7, .segment_bytes = 2
  };

  g_assert_cmpuint (sim_gather_linear_sync.step (&call, 1).send_bytes, ==, 2);
  g_assert_cmpuint (sim_gather_linear_sync.step (&call, 2).send_bytes, ==, 5);
  call.rank = 0;
  g_assert_true (sim_gather_linear_sync.step (&call, 0).wait);
  g_assert_false (sim_gather_linear_sync.step (&call, 1).wait);
}

/* --- Reductions --- */

/* --- Model: a vector of elements, of which each rank has a range --- */

/* A message that carries less than its sender has: the sender keeps the
 * rest.  Of two that exchange, the lower rank keeps the lower part; one that
 * only sends gives the upper part away. */
static void
range_send (World *world, uint32_t rank, const SimStep *step, Message *message)
{
  Rank *it = &world->ranks[rank];
  uint32_t n = (uint32_t) (step->send_bytes / world->unit_bytes);
  bool exchanges = step->recv_from != TOPO_NONE;

  g_assert_cmpuint (n * world->unit_bytes, ==, step->send_bytes);
  g_assert_cmpuint (n, <=, it->hi - it->lo);
  message->lo = it->lo;
  message->hi = it->hi;
  message->content = g_memdup2 (it->content, (size_t) world->n_elements * world->n);
  if (n == it->hi - it->lo) {
    it->gave_all = !exchanges;
    return;
  }
  if (exchanges)
    g_assert_cmpuint (step->recv_bytes + step->send_bytes, ==, it->hi - it->lo);
  if (exchanges && rank > step->send_to)
    it->lo = message->hi = it->lo + n;
  else
    it->hi = message->lo = it->hi - n;
}

static void
range_receive (World *world, uint32_t rank, G_GNUC_UNUSED uint32_t from, const Message *message)
{
  Rank *it = &world->ranks[rank];
  bool inside;

  if (it->gave_all || it->lo == it->hi)
    it->lo = it->hi = message->lo;
  it->gave_all = false;
  inside = message->lo >= it->lo && message->hi <= it->hi && it->lo < it->hi;
  if (!inside) {
    g_assert_true (message->lo == it->hi || message->hi == it->lo);
    it->lo = MIN (it->lo, message->lo);
    it->hi = MAX (it->hi, message->hi);
  }
  for (uint32_t element = message->lo; element < message->hi; element++)
    for (uint32_t part = 0; part < world->n; part++) {
      uint8_t *mine = world_content (it->content, world, element) + part;
      uint8_t theirs = world_content (message->content, world, element)[part];

      *mine = inside ? (uint8_t) (*mine + theirs) : theirs;
    }
}

static const Model range_model = { range_send, range_receive };

/* Every rank has a vector; all of them, or the root, must get the sum. */
static World *
run_reduction (const SimAlgorithm *algorithm, uint32_t n, int32_t root, uint32_t bytes)
{
  SimCollective call = { .kind = root < 0 ? TRACE_OP_ALLREDUCE : TRACE_OP_REDUCE,
                         .root = root,
                         .bytes = bytes };
  World *world = world_new (algorithm, &range_model, &call, n, bytes);

  for (uint32_t rank = 0; rank < n; rank++)
    world_own_part (world, rank, 0, bytes);
  world_run (world);
  for (uint32_t rank = 0; rank < n; rank++)
    if (root < 0 || rank == (uint32_t) root) {
      g_assert_cmpuint (world->ranks[rank].lo, ==, 0);
      g_assert_cmpuint (world->ranks[rank].hi, ==, bytes);
      world_assert_sums (world, rank);
    }
  return world;
}

/* Doubling sends the vector in every round.  In halves a core sends all but one block of
 * the vector, twice: in all, the vector 2 * (cores - 1) times.  In Open MPI's the two of a
 * pair swap halves first, and one half more. */
static void
test_allreduces (void)
{
  for (uint32_t i = 0; i < WORLD_SIZES; i++) {
    uint32_t n = world_sizes[i], cores = world_power_below (n), extra = n - cores;
    uint32_t rounds = world_rounds (cores), halved = 2 * (cores - 1) + 2 * extra;
    const struct {
      const SimAlgorithm *algorithm;
      uint32_t bytes, n_messages, n_bytes; /* n_bytes 0: not checked */
    } runs[] = {
      { &sim_allreduce_doubling, 3, cores * rounds + 2 * extra, 3 * (cores * rounds + 2 * extra) },
      { &sim_allreduce_scatter_allgather, 2 * cores, 2 * cores * rounds + 2 * extra,
        2 * cores * halved },
      { &sim_allreduce_scatter_allgather, n + 5, 2 * cores * rounds + 2 * extra, 0 },
      { &sim_allreduce_halves, 2 * cores, 2 * cores * rounds + 4 * extra,
        2 * cores * halved + cores * extra },
      { &sim_allreduce_halves, 2 * cores + 1, 2 * cores * rounds + 4 * extra, 0 },
      { &sim_allreduce_halves, 3 * cores - 1, 2 * cores * rounds + 4 * extra, 0 },
    };

    for (uint32_t k = 0; k < G_N_ELEMENTS (runs); k++) {
      World *world = run_reduction (runs[k].algorithm, n, TRACE_NO_ROOT, runs[k].bytes);

      g_test_message ("%u ranks, run %u", n, k);
      g_assert_cmpuint (world->n_messages, ==, runs[k].n_messages);
      if (runs[k].n_bytes > 0)
        g_assert_cmpuint (world->n_bytes, ==, runs[k].n_bytes);
      world_free (world);
    }
  }
}

static void
test_reductions_to_a_root (void)
{
  static const SimAlgorithm *const whole[] = { &sim_reduce_binomial, &sim_reduce_linear };

  for (uint32_t i = 0; i < WORLD_SIZES; i++) {
    uint32_t n = world_sizes[i], cores = world_power_below (n);
    World *world;

    for (uint32_t root = 0; root < n; root++) {
      for (uint32_t k = 0; k < G_N_ELEMENTS (whole); k++) {
        world = run_reduction (whole[k], n, (int32_t) root, 2);
        g_assert_cmpuint (world->n_messages, ==, n - 1);
        g_assert_cmpuint (world->n_bytes, ==, 2 * (n - 1));
        world_free (world);
      }
      if (n > 33 && root % 7 != 0) /* these take long */
        continue;
      world = run_reduction (&sim_reduce_scatter_gather, n, (int32_t) root, cores + 1);
      g_assert_cmpuint (world->n_messages, ==,
                        cores * world_rounds (cores) + cores - 1 + n - cores);
      world_free (world);
    }
  }
}

/* Places count from the root. */
static World *
run_rooted (const SimAlgorithm *algorithm, TraceOpKind kind, uint32_t n, uint32_t root)
{
  SimCollective call = { .kind = kind, .root = (int32_t) root, .bytes = 7, .recv_bytes = 7 };
  World *world = world_new (algorithm, &range_model, &call, n, n);

  world->unit_bytes = 7;
  for (uint32_t rank = 0; rank < n; rank++) {
    uint32_t place = (rank + n - root) % n;

    if (kind == TRACE_OP_GATHER)
      world_own_part (world, rank, place, place + 1);
    else if (rank == root)
      world_own_part (world, rank, 0, n);
  }
  world_run (world);
  return world;
}

static void
test_binomial_gather_and_scatter (void)
{
  for (uint32_t i = 0; i < WORLD_SIZES; i++)
    for (uint32_t n = world_sizes[i], root = 0; root < n; root++) {
      World *gather = run_rooted (&sim_gather_binomial, TRACE_OP_GATHER, n, root);
      World *scatter = run_rooted (&sim_scatter_binomial, TRACE_OP_SCATTER, n, root);

      g_assert_cmpuint (gather->ranks[root].lo, ==, 0);
      g_assert_cmpuint (gather->ranks[root].hi, ==, n);
      g_assert_cmpuint (gather->n_messages, ==, n - 1);
      if (world_power_below (n) == n)
        g_assert_cmpuint (gather->n_bytes, ==, 7 * n / 2 * world_rounds (n));
      for (uint32_t rank = 0; rank < n; rank++) {
        uint32_t place = (rank + n - root) % n;

        g_assert_cmpuint (scatter->ranks[rank].lo, ==, place);
        g_assert_cmpuint (scatter->ranks[rank].hi, ==, place + 1);
      }
      g_assert_cmpuint (scatter->n_messages, ==, n - 1);
      world_free (gather);
      world_free (scatter);
    }
}

/* --- Model: blocks of 2^rank bytes, so that a size tells which they are, and
 * whose parts have been added up in them --- */

static void
parts_send (World *world, uint32_t rank, const SimStep *step, Message *message)
{
  g_assert_cmphex (step->send_bytes & ~world->ranks[rank].blocks, ==, 0);
  message->blocks = step->send_bytes;
  message->content = g_memdup2 (world->ranks[rank].content, (size_t) world->n * world->n);
  world->ranks[rank].blocks &= ~message->blocks;
}

/* A block that the rank has given away is taken as it is, others are added. */
static void
parts_receive (World *world, uint32_t rank, G_GNUC_UNUSED uint32_t from, const Message *message)
{
  Rank *it = &world->ranks[rank];

  for (uint32_t block = 0; block < world->n; block++)
    for (uint32_t part = 0; part < world->n && (message->blocks >> block & 1); part++) {
      uint8_t *mine = world_content (it->content, world, block) + part;
      uint8_t theirs = world_content (message->content, world, block)[part];

      *mine = it->blocks >> block & 1 ? (uint8_t) (*mine + theirs) : theirs;
    }
  it->blocks |= message->blocks;
}

static const Model parts_model = { parts_send, parts_receive };

static void
run_reduce_scatter (const SimAlgorithm *algorithm, uint32_t n)
{
  g_autofree uint64_t *counts = world_powers_of_two (n);
  SimCollective call = { .kind = TRACE_OP_REDUCE_SCATTER,
                         .root = -1,
                         .recv_counts = counts,
                         .total_bytes = (UINT64_C (1) << n) - 1 };
  g_autoptr (World) world = world_new (algorithm, &parts_model, &call, n, n);

  for (uint32_t rank = 0; rank < n; rank++) {
    world->ranks[rank].blocks = (UINT64_C (1) << n) - 1;
    world_own_part (world, rank, 0, n);
  }
  world_run (world);
  for (uint32_t rank = 0; rank < n; rank++) {
    g_assert_true (world->ranks[rank].blocks >> rank & 1);
    for (uint32_t part = 0; part < n; part++)
      g_assert_cmpuint (world_content (world->ranks[rank].content, world, rank)[part], ==, 1);
  }
  if (algorithm == &sim_reduce_scatter_pairwise || algorithm == &sim_reduce_scatter_ring) {
    g_assert_cmpuint (world->n_messages, ==, n * (n - 1));
    g_assert_cmpuint (world->n_bytes, ==, (n - 1) * ((UINT64_C (1) << n) - 1));
  }
}

static void
test_reduce_scatters (void)
{
  for (uint32_t n = 2; n <= 33; n++) {
    run_reduce_scatter (&sim_reduce_scatter_halving, n);
    run_reduce_scatter (&sim_reduce_scatter_pairwise, n);
    run_reduce_scatter (&sim_reduce_scatter_ring, n);
    run_reduce_scatter (&sim_reduce_scatter_butterfly, n);
  }
}

/* --- Model: prefixes.  Element 0 goes on, element 1 is the result. --- */

static void
scan_send (World *world, uint32_t rank, G_GNUC_UNUSED const SimStep *step, Message *message)
{
  message->content = g_memdup2 (world->ranks[rank].content, world->n);
}

static void
scan_receive (World *world, uint32_t rank, uint32_t from, const Message *message)
{
  for (uint32_t part = 0; part < world->n; part++) {
    uint8_t theirs = message->content[part];

    world_content (world->ranks[rank].content, world, 0)[part] += theirs;
    if (from < rank)
      world_content (world->ranks[rank].content, world, 1)[part] += theirs;
  }
}

static const Model scan_model = { scan_send, scan_receive };

/* Returns the number of messages. */
static uint64_t
run_scan (const SimAlgorithm *algorithm, uint32_t n)
{
  SimCollective call = { .kind = TRACE_OP_SCAN, .root = TRACE_NO_ROOT, .bytes = 5 };
  World *world = world_new (algorithm, &scan_model, &call, n, 2);
  uint64_t n_messages;

  for (uint32_t rank = 0; rank < n; rank++)
    world_own_part (world, rank, 0, 2);
  world_run (world);
  for (uint32_t rank = 0; rank < n; rank++)
    for (uint32_t part = 0; part < n; part++)
      g_assert_cmpuint (world_content (world->ranks[rank].content, world, 1)[part], ==,
                        part <= rank);
  n_messages = world->n_messages;
  world_free (world);
  return n_messages;
}

static void
test_scans (void)
{
  for (uint32_t i = 0; i < WORLD_SIZES; i++) {
    uint32_t n = world_sizes[i];
    uint64_t n_doubling = run_scan (&sim_scan_doubling, n);

    if (world_power_below (n) == n)
      g_assert_cmpuint (n_doubling, ==, n * world_rounds (n));
    g_assert_cmpuint (run_scan (&sim_scan_linear, n), ==, n - 1);
  }
}

/* --- Around the ring --- */

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
  g_autoptr (World) world = world_new (&sim_allreduce_ring, &ring_model, &call, n, bytes);

  for (uint32_t rank = 0; rank < n; rank++)
    world_own_part (world, rank, 0, bytes);
  g_assert_cmpuint (ring_phases (world), ==, phases);
  world_run (world);
  for (uint32_t rank = 0; rank < n; rank++)
    world_assert_sums (world, rank);
  g_assert_cmpuint (world->n_bytes, ==, 2 * (n - 1) * bytes);
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

/* --- The processor's share --- */

/* Of all steps of all ranks of a call; elements of `call` as for world_new(). */
static SimLocalWork
work_of (const SimAlgorithm *algorithm, const SimCollective *call, uint32_t n)
{
  World *world = world_new (algorithm, &world_sizes_model, call, n, 0);
  SimLocalWork work = { 0 };

  for (uint32_t rank = 0; rank < n; rank++)
    for (uint32_t step = 0; step < world->calls[rank].n_steps; step++) {
      SimStep it = algorithm->step (&world->calls[rank], step);

      work = sim_local_work_sum (work, sim_local_work_sum (it.before, it.after));
    }
  world_free (world);
  return work;
}

/* n vectors become one by n - 1 additions of a vector, however they are cut, unless ranks do the
 * same twice: with recursive doubling all cores add all. */
static void
test_additions (void)
{
  static const SimAlgorithm *const reduces[] = {
    &sim_reduce_binomial,      &sim_reduce_linear,        &sim_reduce_tree_binary,
    &sim_reduce_tree_binomial, &sim_reduce_tree_in_order, &sim_reduce_pipeline,
    &sim_reduce_scatter_gather
  };
  static const SimAlgorithm *const allreduces[] = { &sim_allreduce_scatter_allgather,
                                                    &sim_allreduce_ring, &sim_allreduce_halves };
  static const SimAlgorithm *const scatters[] = { &sim_reduce_scatter_halving,
                                                  &sim_reduce_scatter_pairwise,
                                                  &sim_reduce_scatter_ring,
                                                  &sim_reduce_scatter_butterfly };

  for (uint32_t i = 0; i < WORLD_SIZES; i++) {
    uint32_t n = world_sizes[i], inner = world_power_below (n);
    g_autofree uint64_t *counts = g_new (uint64_t, n);
    SimCollective call = { .bytes = 1000, .recv_counts = counts, .segment_bytes = 300 };

    for (uint32_t rank = 0; rank < n; rank++) {
      counts[rank] = 3 + rank % 5;
      call.total_bytes += counts[rank];
    }
    for (uint32_t k = 0; k < G_N_ELEMENTS (reduces); k++)
      for (uint32_t root = 0; root < n; root += 1 + n / 3) {
        call.kind = TRACE_OP_REDUCE;
        call.root = (int32_t) root;
        g_assert_cmpuint (work_of (reduces[k], &call, n).reduce_bytes, ==, 1000 * (n - 1));
      }
    call.root = TRACE_NO_ROOT;
    call.kind = TRACE_OP_ALLREDUCE;
    for (uint32_t k = 0; k < G_N_ELEMENTS (allreduces); k++)
      g_assert_cmpuint (work_of (allreduces[k], &call, n).reduce_bytes, ==, 1000 * (n - 1));
    g_assert_cmpuint (work_of (&sim_allreduce_doubling, &call, n).reduce_bytes, ==,
                      1000 * (inner * world_rounds (inner) + n - inner));
    call.kind = TRACE_OP_REDUCE_SCATTER;
    for (uint32_t k = 0; k < G_N_ELEMENTS (scatters); k++)
      g_assert_cmpuint (work_of (scatters[k], &call, n).reduce_bytes, ==,
                        call.total_bytes * (n - 1));
    call.kind = TRACE_OP_SCAN;
    g_assert_cmpuint (work_of (&sim_scan_linear, &call, n).reduce_bytes, ==, 1000 * (n - 1));
    call.kind = TRACE_OP_EXSCAN;
    g_assert_cmpuint (work_of (&sim_scan_linear, &call, n).reduce_bytes, ==, 1000 * (n - 2));
  }
}

/* A step sends the blocks with a bit in their number; neighbours among them are one piece of the
 * datatype. */
static void
test_bruck_pieces (void)
{
  for (uint32_t i = 0; i < WORLD_SIZES; i++) {
    uint32_t n = world_sizes[i];
    SimCollective call = { .kind = TRACE_OP_ALLTOALL, .n_ranks = n, .bytes = 10 };
    uint32_t n_steps = sim_alltoall_bruck.n_steps (&call);

    for (uint32_t step = 0; step < n_steps; step++) {
      SimStep it = sim_alltoall_bruck.step (&call, step);
      uint32_t n_pieces = 0, n_blocks = 0, last = step + 1 == n_steps;

      for (uint32_t block = 1; block < n; block++) {
        n_blocks += block >> step & 1u;
        n_pieces += (block >> step & 1u) && !((block - 1) >> step & 1u);
      }
      g_assert_cmpuint (it.before.n_types, ==, 1);
      g_assert_cmpuint (it.before.n_described, ==, n_pieces);
      g_assert_cmpuint (it.before.n_blocks, ==, n_pieces);
      g_assert_cmpuint (it.after.n_blocks, ==, 2 * n_pieces + last * n);
      g_assert_cmpuint (it.before.copy_bytes, ==, step == 0 ? 10 * n : 0);
      g_assert_cmpuint (it.after.copy_bytes, ==, 10 * n_blocks + last * 10 * n);
    }
  }
}

/* Five ranks with 8 bytes each: rank 2 moves three blocks aside, two down and three back. */
static void
test_bruck_shift (void)
{
  SimCollective call = { .kind = TRACE_OP_ALLGATHER, .n_ranks = 5, .rank = 2, .bytes = 8 };

  g_assert_cmpuint (sim_allgather_bruck.step (&call, 1).after.copy_bytes, ==, 0);
  g_assert_cmpuint (sim_allgather_bruck.step (&call, 2).after.copy_bytes, ==, 8 * 8);
  call.rank = 0;
  g_assert_cmpuint (sim_allgather_bruck.step (&call, 2).after.copy_bytes, ==, 0);
}

/* Seven ranks, 10 bytes each.  Places 2, 4 and 6 have subtrees but for 6; root 3 turns all. */
static void
test_block_copies (void)
{
  SimCollective call = { .kind = TRACE_OP_GATHER, .root = 3, .bytes = 10, .recv_bytes = 10 };

  g_assert_cmpuint (work_of (&sim_gather_binomial, &call, 7).copy_bytes, ==, 70 + 2 * 10);
  call.kind = TRACE_OP_SCATTER;
  g_assert_cmpuint (work_of (&sim_scatter_binomial, &call, 7).copy_bytes, ==, 70 + 2 * 10);
  call.root = 0;
  g_assert_cmpuint (work_of (&sim_scatter_binomial, &call, 7).copy_bytes, ==, 2 * 10);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/collective-exchange/barriers", test_barriers);
  g_test_add_func ("/sim/collective-exchange/bcasts", test_bcasts);
  g_test_add_func ("/sim/collective-exchange/allgathers", test_allgathers);
  g_test_add_func ("/sim/collective-reduce/allreduces", test_allreduces);
  g_test_add_func ("/sim/collective-reduce/to-a-root", test_reductions_to_a_root);
  g_test_add_func ("/sim/collective-reduce/binomial", test_binomial_gather_and_scatter);
  g_test_add_func ("/sim/collective-exchange/alltoall-bruck", test_alltoall_bruck);
  g_test_add_func ("/sim/collective-exchange/alltoalls", test_alltoalls);
  g_test_add_func ("/sim/collective-exchange/alltoallvs", test_alltoallvs);
  g_test_add_func ("/sim/collective-exchange/stars", test_stars);
  g_test_add_func ("/sim/collective-exchange/gather-pieces", test_gather_pieces);
  g_test_add_func ("/sim/collective-exchange/linear", test_linear);
  g_test_add_func ("/sim/collective-reduce/reduce-scatters", test_reduce_scatters);
  g_test_add_func ("/sim/collective-reduce/scans", test_scans);
  g_test_add_func ("/sim/collective-ring/allreduce", test_allreduce_ring);
  g_test_add_func ("/sim/collective/additions", test_additions);
  g_test_add_func ("/sim/collective/bruck-pieces", test_bruck_pieces);
  g_test_add_func ("/sim/collective/bruck-shift", test_bruck_shift);
  g_test_add_func ("/sim/collective/block-copies", test_block_copies);
  return g_test_run ();
}
