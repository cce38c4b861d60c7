/* collective_levels_test.c - collectives in stages on nodes and among leaders.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/collective_testing.h"

#include <string.h>

#define KIB    1024u
#define HAN_64 (64 * KIB)

/* Where the ranks are. */
typedef struct {
  const char *name;
  uint32_t n;
  uint32_t node[24];
} Shape;

static const Shape shapes[] = {
  { "two of two", 4, { 7, 7, 5, 5 } },
  { "two of two, in turn", 4, { 1, 0, 1, 0 } },
  { "four, two and one", 7, { 0, 0, 0, 0, 1, 1, 2 } },
  { "four, two and one, in turn", 7, { 0, 1, 2, 0, 1, 0, 0 } },
  { "one before three", 4, { 9, 2, 2, 2 } },
  { "three of four, in turn", 12, { 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2 } },
  { "five of three", 15, { 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4 } },
  { "six of four, mixed", 24, { 3, 1, 4, 1, 5, 0, 2, 0, 5, 3, 5, 0,
                                4, 0, 3, 2, 3, 4, 2, 1, 4, 2, 1, 5 } },
};

/* --- Groups --- */

static void
test_groups (void)
{
  static const uint32_t node[] = { 6, 9, 4, 6, 9, 6, 6 };
  static const uint32_t numbered[] = { 0, 1, 2, 0, 1, 0, 0 }, local[] = { 0, 0, 0, 1, 1, 2, 3 };
  static const uint32_t place[] = { 0, 1, 2, 0, 1, 0, 0 }, members[] = { 0, 3, 5, 6, 1, 4, 2 };
  static const uint32_t first_member[] = { 0, 4, 6, 7 }, first_peer[] = { 0, 3, 5, 6, 7 };
  static const uint32_t peers[] = { 0, 1, 2, 3, 4, 5, 6 };
  SimGroups *groups = sim_groups_new (node, 7);

  g_assert_cmpuint (groups->n_nodes, ==, 3);
  g_assert_cmpmem (groups->node, sizeof numbered, numbered, sizeof numbered);
  g_assert_cmpmem (groups->local, sizeof local, local, sizeof local);
  g_assert_cmpmem (groups->place, sizeof place, place, sizeof place);
  g_assert_cmpmem (groups->members, sizeof members, members, sizeof members);
  g_assert_cmpmem (groups->first_member, sizeof first_member, first_member, sizeof first_member);
  g_assert_cmpmem (groups->peers, sizeof peers, peers, sizeof peers);
  g_assert_cmpmem (groups->first_peer, sizeof first_peer, first_peer, sizeof first_peer);
  g_assert_false (groups->even || groups->in_order);
  sim_groups_unref (groups);
}

static void
test_one_level_has_no_groups (void)
{
  static const uint32_t one_node[] = { 3, 3, 3 }, three_nodes[] = { 3, 1, 2 };

  g_assert_null (sim_groups_new (one_node, 3));
  g_assert_null (sim_groups_new (three_nodes, 3));
}

/* --- Calls of all ranks of a shape --- */

typedef struct {
  TopoMachine machine;
  SimGroups *groups;
  TraceOp op;
  uint32_t n;
} Calls;

static Calls calls;

static void
calls_begin (const Shape *shape, TopoCollectives rules, TraceOpKind kind, int32_t root,
             uint64_t bytes)
{
  calls = (Calls){ .groups = sim_groups_new (shape->node, shape->n),
                   .op = { .kind = kind, .root = root, .bytes = bytes, .recv_bytes = bytes },
                   .n = shape->n };
  calls.machine.parameters.mpi.collectives = rules;
}

static SimCollective
call_of (uint32_t rank)
{
  SimCollective call;

  sim_collective_init (&call, &calls.machine, &calls.op, calls.n, rank, true, calls.groups);
  return call;
}

static uint32_t
any_steps (const SimCollective *collective)
{
  SimCollective call = call_of (collective->rank);

  return call.n_steps;
}

static SimStep
any_step (const SimCollective *collective, uint32_t step)
{
  SimCollective call = call_of (collective->rank);

  return sim_collective_step (&call, step);
}

static const SimAlgorithm any = { .n_steps = any_steps, .step = any_step };

/* --- Model: what the sender has heard of, in each segment ---
 *
 * A message has the segment in which the bytes from its sender to its receiver before it end, on
 * trees, where a pair of ranks has the whole message go one way, once.  content[segment][part]. */

static uint64_t limit_bytes; /* of a segment */

static uint32_t
segment_of (const World *world, uint32_t from, uint32_t to)
{
  const GPtrArray *wire = world->wires[from * world->n + to];
  uint64_t bytes = 0;

  for (uint32_t i = 0; i < wire->len; i++)
    bytes += ((const Message *) g_ptr_array_index (wire, i))->bytes;
  return (uint32_t) (bytes / limit_bytes);
}

static void
gossip_send (World *world, uint32_t rank, const SimStep *step, Message *message)
{
  uint32_t segment = world->n_elements == 1 ? 0 : segment_of (world, rank, step->send_to);

  g_assert_cmpuint (segment, <, world->n_elements);
  message->lo = segment;
  message->content =
      g_memdup2 (world_content (world->ranks[rank].content, world, segment), world->n);
}

static void
gossip_receive (World *world, uint32_t rank, G_GNUC_UNUSED uint32_t from, const Message *message)
{
  uint8_t *content = world_content (world->ranks[rank].content, world, message->lo);

  for (uint32_t part = 0; part < world->n; part++)
    content[part] |= message->content[part];
}

static const Model gossip_model = { gossip_send, gossip_receive };

static bool
is_one_root (TraceOpKind kind)
{
  return kind == TRACE_OP_BCAST || kind == TRACE_OP_SCATTER;
}

static bool
is_to_root (TraceOpKind kind)
{
  return kind == TRACE_OP_REDUCE || kind == TRACE_OP_GATHER;
}

/* Runs a call; each rank ends with what it is to have heard of, in each segment. */
static World *
run_call (uint32_t n_segments)
{
  SimCollective call = { .kind = calls.op.kind, .root = calls.op.root };
  World *world = world_new (&any, &gossip_model, &call, calls.n, n_segments);

  for (uint32_t rank = 0; rank < calls.n; rank++)
    for (uint32_t segment = 0; segment < n_segments; segment++)
      world_content (world->ranks[rank].content, world, segment)[rank] = 1;
  world_run (world);
  for (uint32_t rank = 0; rank < calls.n; rank++)
    for (uint32_t segment = 0; segment < n_segments; segment++)
      for (uint32_t part = 0; part < calls.n; part++) {
        bool wanted = !(is_one_root (calls.op.kind) && part != (uint32_t) calls.op.root) &&
                      !(is_to_root (calls.op.kind) && rank != (uint32_t) calls.op.root);

        if (wanted)
          g_assert_cmpuint (world_content (world->ranks[rank].content, world, segment)[part], ==,
                            1);
      }
  sim_groups_unref (calls.groups);
  return world;
}

static void
check_kind (const Shape *shape, TopoCollectives rules, TraceOpKind kind, uint64_t bytes)
{
  for (uint32_t root = 0; root < shape->n; root++) {
    World *world;

    g_test_message ("%s, %s of %" G_GUINT64_FORMAT " B, root %u, rules %u", shape->name,
                    trace_op_name (kind), bytes, root, (uint32_t) rules);
    calls_begin (shape, rules, kind, (int32_t) root, bytes);
    world = run_call (1);
    g_assert_cmpuint (world->n_messages, >=, shape->n - 1);
    world_free (world);
  }
}

static void
test_all_hear (void)
{
  static const TraceOpKind kinds[] = { TRACE_OP_BARRIER, TRACE_OP_BCAST,     TRACE_OP_REDUCE,
                                       TRACE_OP_GATHER,  TRACE_OP_ALLREDUCE, TRACE_OP_ALLGATHER,
                                       TRACE_OP_SCATTER };
  static const uint64_t sizes[] = { 8, 2049, 20000, HAN_64, HAN_64 + 1, 300000, 1000000 };

  for (uint32_t s = 0; s < G_N_ELEMENTS (shapes); s++)
    for (uint32_t k = 0; k < G_N_ELEMENTS (kinds); k++)
      for (uint32_t i = 0; i < G_N_ELEMENTS (sizes); i++) {
        check_kind (&shapes[s], TOPO_COLLECTIVES_OMPI50, kinds[k], sizes[i]);
        check_kind (&shapes[s], TOPO_COLLECTIVES_MPICH4, kinds[k], sizes[i]);
      }
}

/* No segment overtakes its own earlier stages, and every rank but one gets it once a stage.  Two
 * nodes of three ranks: all algorithms are trees of the same pairs, for the last segment too. */
static void
test_segments_in_turn (void)
{
  static const Shape shape = { "two of three, in turn", 6, { 0, 1, 0, 1, 0, 1 } };
  static const TraceOpKind kinds[] = { TRACE_OP_BCAST, TRACE_OP_REDUCE, TRACE_OP_ALLREDUCE };

  for (uint32_t n_segments = 1; n_segments <= 7; n_segments++)
    for (uint32_t k = 0; k < G_N_ELEMENTS (kinds); k++)
      for (int32_t root = 0; root < 6; root++) {
        uint64_t bytes = n_segments * UINT64_C (65536) - 5000;
        World *world;

        limit_bytes = HAN_64;
        calls_begin (&shape, TOPO_COLLECTIVES_OMPI50, kinds[k], root, bytes);
        world = run_call (n_segments);
        g_assert_cmpuint (world->n_bytes, ==, bytes * 5 * (kinds[k] == TRACE_OP_ALLREDUCE ? 2 : 1));
        world_free (world);
      }
}

/* --- By hand --- */

typedef struct {
  uint32_t to, from;
  uint64_t send_bytes, recv_bytes;
  bool wait;
} Wanted;

static void
assert_steps (uint32_t rank, const Wanted *wanted, uint32_t n)
{
  SimCollective call = call_of (rank);

  g_assert_cmpuint (call.n_steps, ==, n);
  for (uint32_t i = 0; i < n; i++) {
    SimStep step = sim_collective_step (&call, i);

    g_test_message ("rank %u, step %u", rank, i);
    g_assert_cmpuint (step.send_to, ==, wanted[i].to);
    g_assert_cmpuint (step.recv_from, ==, wanted[i].from);
    g_assert_cmpuint (step.send_bytes, ==, wanted[i].send_bytes);
    g_assert_cmpuint (step.recv_bytes, ==, wanted[i].recv_bytes);
    g_assert_cmpint (step.wait, ==, wanted[i].wait);
  }
}

#define NONE TOPO_NONE

/* Ranks 0 and 2 are on a node, 1 and 3 on the other.  Root 3 is its node's second, so that 2 and 3
 * are the leaders. */
static void
test_bcast_by_hand (void)
{
  static const Wanted steps[4][2] = { { { NONE, 2, 0, 100, true } },
                                      { { NONE, 3, 0, 100, true } },
                                      { { NONE, 3, 0, 100, true }, { 0, NONE, 100, 0, true } },
                                      { { 2, NONE, 100, 0, true }, { 1, NONE, 100, 0, true } } };

  calls_begin (&shapes[1], TOPO_COLLECTIVES_OMPI50, TRACE_OP_BCAST, 3, 100);
  for (uint32_t rank = 0; rank < 4; rank++)
    assert_steps (rank, steps[rank], rank < 2 ? 1 : 2);
  sim_groups_unref (calls.groups);
}

/* Rank 0 reduces segments of rank 2 on its node and of rank 1 among the leaders, in pieces of 8 KiB
 * (the last one whole), and hands both the sums. */
static void
test_allreduce_by_hand (void)
{
#define PIECE              \
  {                        \
    NONE, 1, 0, 8192, true \
  }
#define PIECES PIECE, PIECE, PIECE, PIECE, PIECE, PIECE, PIECE
  static const Wanted steps[] = {
    { NONE, 2, 0, HAN_64, true }, /* turn 0: node 0 */
    { NONE, 1, 0, 8192, false },  /* turn 1: leaders 0, node 1 */
    { NONE, 2, 0, HAN_64, true },
    PIECES,
    { 1, NONE, HAN_64, 0, false }, /* turn 2: back to leaders 0, leaders 1, node 2 */
    { NONE, 2, 0, 100, true },
    PIECE,
    PIECES,
    { 1, NONE, HAN_64, 0, false }, /* turn 3: ... 1, 2, back to node 0 */
    { 2, NONE, HAN_64, 0, true },
    { NONE, 1, 0, 100, true },
    { 1, NONE, 100, 0, false }, /* turn 4: ... 2, back to node 1 */
    { 2, NONE, HAN_64, 0, true },
    { 2, NONE, 100, 0, true }, /* turn 5 */
  };
  SimCollective call;

  calls_begin (&shapes[1], TOPO_COLLECTIVES_OMPI50, TRACE_OP_ALLREDUCE, TRACE_NO_ROOT,
               2 * HAN_64 + 100);
  assert_steps (0, steps, G_N_ELEMENTS (steps));
  /* Reduced is what comes before a sum goes out. */
  call = call_of (0);
  g_assert_cmpuint (sim_collective_step (&call, 1).after.reduce_bytes, ==, 8192);
  g_assert_cmpuint (sim_collective_step (&call, 2).after.reduce_bytes, ==, HAN_64);
  call = call_of (1);
  g_assert_cmpuint (call.n_steps, ==, 3 + 2 * 8 + 1 + 3 + 3);
  sim_groups_unref (calls.groups);
}

/* Nodes of 4, 2 and 1: barriers and allreduces have levels, others are coll/tuned's. */
static void
test_uneven_nodes (void)
{
  for (uint32_t kind = TRACE_OP_BARRIER; kind <= TRACE_OP_EXSCAN; kind++) {
    SimCollective call;

    if (kind == TRACE_OP_ALLTOALLV || kind == TRACE_OP_ALLGATHERV)
      continue;
    calls_begin (&shapes[2], TOPO_COLLECTIVES_OMPI50, (TraceOpKind) kind, 1, 1000);
    call = call_of (0);
    if (call.method == SIM_COLLECTIVE_STEPS)
      g_assert_cmpint (call.stages != NULL, ==,
                       kind == TRACE_OP_BARRIER || kind == TRACE_OP_ALLREDUCE);
    sim_groups_unref (calls.groups);
  }
}

static void
test_nonblocking_has_one_level (void)
{
  SimCollective call;

  calls_begin (&shapes[0], TOPO_COLLECTIVES_OMPI50, TRACE_OP_ALLREDUCE, TRACE_NO_ROOT, 8);
  calls.op.nonblocking = true;
  call = call_of (0);
  g_assert_null (call.stages);
  sim_groups_unref (calls.groups);
}

/* Blocks go to the order of the ranks where those of the nodes are another. */
static void
test_reordering (void)
{
  for (uint32_t s = 0; s < 2; s++) {
    SimCollective call;
    SimStep last;

    calls_begin (&shapes[s], TOPO_COLLECTIVES_OMPI50, TRACE_OP_GATHER, 0, 50);
    call = call_of (0);
    last = sim_collective_step (&call, call.n_steps - 1);
    g_assert_cmpuint (last.after.copy_bytes, ==, s == 0 ? 0 : 4 * 50);
    g_assert_cmpuint (last.after.n_blocks, ==, s == 0 ? 0 : 4);
    sim_groups_unref (calls.groups);
  }
}

/* More segments than can be counted: the message goes whole. */
static void
test_huge_message (void)
{
  SimCollective call;

  calls_begin (&shapes[5], TOPO_COLLECTIVES_OMPI50, TRACE_OP_ALLREDUCE, TRACE_NO_ROOT,
               UINT64_C (1) << 62);
  call = call_of (0);
  g_assert_cmpuint (call.n_segments, ==, 1);
  g_assert_cmpuint (call.n_steps, >, 0);
  sim_groups_unref (calls.groups);
}

/* MPICH: which calls are composed. */
static void
test_ch4_compositions (void)
{
  static const struct {
    uint32_t shape;
    TraceOpKind kind;
    uint64_t bytes;
    bool staged;
  } cases[] = {
    { 2, TRACE_OP_BCAST, 1000000, true },  { 7, TRACE_OP_BCAST, 12287, true },
    { 7, TRACE_OP_BCAST, 12288, false },   { 7, TRACE_OP_ALLREDUCE, 1000000, true },
    { 7, TRACE_OP_REDUCE, 1000000, true }, { 7, TRACE_OP_BARRIER, 0, true },
    { 7, TRACE_OP_ALLGATHER, 8, false },   { 7, TRACE_OP_ALLTOALL, 8, false },
    { 7, TRACE_OP_GATHER, 8, false },
  };

  for (uint32_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    SimCollective call;

    calls_begin (&shapes[cases[i].shape], TOPO_COLLECTIVES_MPICH4, cases[i].kind, 1,
                 cases[i].bytes);
    call = call_of (0);
    g_assert_cmpint (call.stages != NULL, ==, cases[i].staged);
    sim_groups_unref (calls.groups);
  }
}

/* The root is the second of the second node of two of two. */
static void
test_ch4_root_without_a_lead (void)
{
  static const Wanted bcast[4][3] = {
    { { NONE, 2, 0, 100, true }, { 1, NONE, 100, 0, true } },
    { { NONE, 0, 0, 100, true } },
    { { NONE, 3, 0, 100, true }, { 0, NONE, 100, 0, true }, { 3, NONE, 100, 0, true } },
    { { 2, NONE, 100, 0, true }, { NONE, 2, 0, 100, true } }
  };
  static const Wanted reduce[4][3] = { { { NONE, 1, 0, 100, true }, { 2, NONE, 100, 0, true } },
                                       { { 0, NONE, 100, 0, true } },
                                       { { NONE, 0, 0, 100, true }, { 3, NONE, 100, 0, true } },
                                       { { NONE, 2, 0, 100, true } } };
  static const uint32_t n_bcast[] = { 2, 1, 3, 2 }, n_reduce[] = { 2, 1, 2, 1 };

  for (uint32_t rank = 0; rank < 4; rank++) {
    calls_begin (&shapes[0], TOPO_COLLECTIVES_MPICH4, TRACE_OP_BCAST, 3, 100);
    assert_steps (rank, bcast[rank], n_bcast[rank]);
    sim_groups_unref (calls.groups);
    calls_begin (&shapes[0], TOPO_COLLECTIVES_MPICH4, TRACE_OP_REDUCE, 3, 100);
    assert_steps (rank, reduce[rank], n_reduce[rank]);
    sim_groups_unref (calls.groups);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/collective-levels/groups", test_groups);
  g_test_add_func ("/sim/collective-levels/one-level", test_one_level_has_no_groups);
  g_test_add_func ("/sim/collective-levels/all-hear", test_all_hear);
  g_test_add_func ("/sim/collective-levels/segments-in-turn", test_segments_in_turn);
  g_test_add_func ("/sim/collective-levels/bcast-by-hand", test_bcast_by_hand);
  g_test_add_func ("/sim/collective-levels/allreduce-by-hand", test_allreduce_by_hand);
  g_test_add_func ("/sim/collective-levels/uneven-nodes", test_uneven_nodes);
  g_test_add_func ("/sim/collective-levels/nonblocking", test_nonblocking_has_one_level);
  g_test_add_func ("/sim/collective-levels/reordering", test_reordering);
  g_test_add_func ("/sim/collective-levels/huge-message", test_huge_message);
  g_test_add_func ("/sim/collective-levels/ch4-compositions", test_ch4_compositions);
  g_test_add_func ("/sim/collective-levels/ch4-root-without-a-lead", test_ch4_root_without_a_lead);
  return g_test_run ();
}
