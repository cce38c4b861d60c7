/* collective_reduce_test.c - reductions, gathers and scatters lose and repeat nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/collective_world.h"

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

static void
assert_has_everything_once (World *world, uint32_t rank)
{
  Rank *it = &world->ranks[rank];

  g_assert_cmpuint (it->lo, ==, 0);
  g_assert_cmpuint (it->hi, ==, world->n_elements);
  for (uint32_t element = 0; element < world->n_elements; element++)
    for (uint32_t part = 0; part < world->n; part++)
      g_assert_cmpuint (world_content (it->content, world, element)[part], ==, 1);
}

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
    if (root < 0 || rank == (uint32_t) root)
      assert_has_everything_once (world, rank);
  return world;
}

static void
test_allreduce_doubling (void)
{
  for (uint32_t i = 0; i < WORLD_SIZES; i++) {
    uint32_t n = world_sizes[i], cores = world_power_below (n);
    World *world = run_reduction (&sim_allreduce_doubling, n, TRACE_NO_ROOT, 3);

    g_assert_cmpuint (world->n_messages, ==, cores * world_rounds (cores) + 2 * (n - cores));
    g_assert_cmpuint (world->n_bytes, ==, 3 * world->n_messages);
    world_free (world);
  }
}

/* A core sends all but one block of the vector, twice: in all, the vector
 * 2 * (cores - 1) times. */
static void
test_allreduce_scatter_allgather (void)
{
  for (uint32_t i = 0; i < WORLD_SIZES; i++) {
    uint32_t n = world_sizes[i], cores = world_power_below (n), extra = n - cores;
    World *world = run_reduction (&sim_allreduce_scatter_allgather, n, TRACE_NO_ROOT, 2 * cores);

    g_assert_cmpuint (world->n_messages, ==, 2 * cores * world_rounds (cores) + 2 * extra);
    g_assert_cmpuint (world->n_bytes, ==, 2 * cores * (2 * (cores - 1) + 2 * extra));
    world_free (world);
    world_free (run_reduction (&sim_allreduce_scatter_allgather, n, TRACE_NO_ROOT, n + 5));
  }
}

/* As above, but the two of a pair swap halves first, and one half more. */
static void
test_allreduce_halves (void)
{
  for (uint32_t i = 0; i < WORLD_SIZES; i++) {
    uint32_t n = world_sizes[i], cores = world_power_below (n), extra = n - cores;
    World *world = run_reduction (&sim_allreduce_halves, n, TRACE_NO_ROOT, 2 * cores);

    g_assert_cmpuint (world->n_messages, ==, 2 * cores * world_rounds (cores) + 4 * extra);
    g_assert_cmpuint (world->n_bytes, ==,
                      2 * cores * (2 * (cores - 1) + 2 * extra) + cores * extra);
    world_free (world);
    world_free (run_reduction (&sim_allreduce_halves, n, TRACE_NO_ROOT, 2 * cores + 1));
    world_free (run_reduction (&sim_allreduce_halves, n, TRACE_NO_ROOT, 3 * cores - 1));
  }
}

static void
check_reduce_whole (const SimAlgorithm *algorithm)
{
  for (uint32_t i = 0; i < WORLD_SIZES; i++)
    for (uint32_t root = 0; root < world_sizes[i]; root++) {
      World *world = run_reduction (algorithm, world_sizes[i], (int32_t) root, 2);

      g_assert_cmpuint (world->n_messages, ==, world_sizes[i] - 1);
      g_assert_cmpuint (world->n_bytes, ==, 2 * (world_sizes[i] - 1));
      world_free (world);
    }
}

static void
test_reduce_whole (void)
{
  check_reduce_whole (&sim_reduce_binomial);
  check_reduce_whole (&sim_reduce_linear);
}

static void
test_reduce_scatter_gather (void)
{
  for (uint32_t i = 0; i < WORLD_SIZES; i++)
    for (uint32_t root = 0; root<world_sizes[i]; root += world_sizes[i]> 33 ? 7 : 1) {
      uint32_t n = world_sizes[i], cores = world_power_below (n);
      World *world = run_reduction (&sim_reduce_scatter_gather, n, (int32_t) root, cores + 1);

      g_assert_cmpuint (world->n_messages, ==,
                        cores * world_rounds (cores) + cores - 1 + n - cores);
      world_free (world);
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
test_gather_binomial (void)
{
  for (uint32_t i = 0; i < WORLD_SIZES; i++)
    for (uint32_t root = 0; root < world_sizes[i]; root++) {
      World *world = run_rooted (&sim_gather_binomial, TRACE_OP_GATHER, world_sizes[i], root);

      g_assert_cmpuint (world->ranks[root].lo, ==, 0);
      g_assert_cmpuint (world->ranks[root].hi, ==, world_sizes[i]);
      g_assert_cmpuint (world->n_messages, ==, world_sizes[i] - 1);
      if (world_power_below (world_sizes[i]) == world_sizes[i])
        g_assert_cmpuint (world->n_bytes, ==,
                          7 * world_sizes[i] / 2 * world_rounds (world_sizes[i]));
      world_free (world);
    }
}

static void
test_scatter_binomial (void)
{
  for (uint32_t i = 0; i < WORLD_SIZES; i++)
    for (uint32_t root = 0; root < world_sizes[i]; root++) {
      World *world = run_rooted (&sim_scatter_binomial, TRACE_OP_SCATTER, world_sizes[i], root);

      for (uint32_t rank = 0; rank < world_sizes[i]; rank++) {
        uint32_t place = (rank + world_sizes[i] - root) % world_sizes[i];

        g_assert_cmpuint (world->ranks[rank].lo, ==, place);
        g_assert_cmpuint (world->ranks[rank].hi, ==, place + 1);
      }
      g_assert_cmpuint (world->n_messages, ==, world_sizes[i] - 1);
      world_free (world);
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
  World *world = world_new (algorithm, &parts_model, &call, n, n);

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
  world_free (world);
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

/* --- Model: prefixes.  Element 0 is what goes on, element 1 the result. --- */

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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/collective-reduce/allreduce-doubling", test_allreduce_doubling);
  g_test_add_func ("/sim/collective-reduce/allreduce-scatter-allgather",
                   test_allreduce_scatter_allgather);
  g_test_add_func ("/sim/collective-reduce/allreduce-halves", test_allreduce_halves);
  g_test_add_func ("/sim/collective-reduce/reduce-whole", test_reduce_whole);
  g_test_add_func ("/sim/collective-reduce/reduce-scatter-gather", test_reduce_scatter_gather);
  g_test_add_func ("/sim/collective-reduce/gather-binomial", test_gather_binomial);
  g_test_add_func ("/sim/collective-reduce/scatter-binomial", test_scatter_binomial);
  g_test_add_func ("/sim/collective-reduce/reduce-scatters", test_reduce_scatters);
  g_test_add_func ("/sim/collective-reduce/scans", test_scans);
  return g_test_run ();
}
