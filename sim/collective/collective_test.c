/* collective_test.c - the choice of method and algorithm, times in hardware, direct order.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/collective_steps.h"

#include <glib.h>

/* --- Which method, which algorithm --- */

static TopoMachine
machine_with (bool collective_network)
{
  return (TopoMachine){
    .shape = { 5, { 4, 4, 4, 4, 2 }, { true, true, true, true, true } },
    .is_bgq = true,
    .ranks_per_node = 1,
    .parameters = { .collective.in_network = collective_network,
                    .link.bandwidth_Bps = 2000000000,
                    .packet.payload_bytes = 512,
                    .packet.header_bytes = 32,
                    .packet.trailer_bytes = 8,
                    .collective.barrier_latency_ps = 2000000,
                    .collective.tree_latency_ps = 4000000,
                    .collective.tree_hop_latency_ps = 50000,
                    .collective.tree_bandwidth_Bps = 1700000000,
                    .collective.rectangle_bytes = 65536 },
  };
}

static void
test_methods (void)
{
  static const struct {
    TraceOpKind kind;
    uint32_t n;
    uint64_t bytes;
    bool network, whole_partition;
    SimCollectiveMethod method;
  } cases[] = {
    { TRACE_OP_BARRIER, 16, 8, true, true, SIM_COLLECTIVE_HARDWARE },
    { TRACE_OP_BARRIER, 16, 8, true, false, SIM_COLLECTIVE_STEPS },
    { TRACE_OP_BARRIER, 16, 8, false, true, SIM_COLLECTIVE_STEPS },
    { TRACE_OP_BARRIER, 1, 8, true, true, SIM_COLLECTIVE_NOTHING },
    { TRACE_OP_BCAST, 16, 8, true, true, SIM_COLLECTIVE_HARDWARE },
    { TRACE_OP_BCAST, 16, 8, true, false, SIM_COLLECTIVE_STEPS },
    { TRACE_OP_BCAST, 16, 8, false, true, SIM_COLLECTIVE_STEPS },
    { TRACE_OP_BCAST, 1, 8, true, true, SIM_COLLECTIVE_NOTHING },
    { TRACE_OP_REDUCE, 16, 8, true, true, SIM_COLLECTIVE_HARDWARE },
    { TRACE_OP_REDUCE, 16, 8, true, false, SIM_COLLECTIVE_STEPS },
    { TRACE_OP_REDUCE, 16, 8, false, true, SIM_COLLECTIVE_STEPS },
    { TRACE_OP_REDUCE, 1, 8, true, true, SIM_COLLECTIVE_NOTHING },
    { TRACE_OP_ALLREDUCE, 16, 8, true, true, SIM_COLLECTIVE_HARDWARE },
    { TRACE_OP_ALLREDUCE, 16, 8, true, false, SIM_COLLECTIVE_STEPS },
    { TRACE_OP_ALLREDUCE, 16, 8, false, true, SIM_COLLECTIVE_STEPS },
    { TRACE_OP_ALLREDUCE, 1, 8, true, true, SIM_COLLECTIVE_NOTHING },
    { TRACE_OP_ALLGATHER, 16, 8, true, true, SIM_COLLECTIVE_STEPS },
    /* An alltoall is direct on any communicator. */
    { TRACE_OP_ALLTOALL, 16, 8, true, false, SIM_COLLECTIVE_DIRECT },
    { TRACE_OP_ALLTOALLV, 16, 8, true, true, SIM_COLLECTIVE_DIRECT },
    { TRACE_OP_ALLTOALL, 16, 8, false, true, SIM_COLLECTIVE_STEPS },
    /* No bytes, no messages. */
    { TRACE_OP_BCAST, 16, 0, true, true, SIM_COLLECTIVE_NOTHING },
    { TRACE_OP_SCAN, 16, 0, true, true, SIM_COLLECTIVE_NOTHING },
    { TRACE_OP_BARRIER, 16, 0, false, true, SIM_COLLECTIVE_STEPS },
  };

  for (uint32_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    TopoMachine machine = machine_with (cases[i].network);
    TraceOp op = { .kind = cases[i].kind, .bytes = cases[i].bytes, .recv_bytes = cases[i].bytes };
    SimCollective collective;

    g_test_message ("case %u: %s", i, trace_op_name (op.kind));
    sim_collective_init (&collective, &machine, &op, cases[i].n, 0, cases[i].whole_partition, NULL);
    g_assert_cmpint (collective.method, ==, cases[i].method);
  }
}

/* The algorithm of a call, the same on every rank. */
static void
assert_uses (const SimAlgorithm *algorithm, TraceOp op, uint32_t n)
{
  TopoMachine machine = machine_with (false);

  for (uint32_t rank = 0; rank < n; rank++) {
    SimCollective collective;

    sim_collective_init (&collective, &machine, &op, n, rank, true, NULL);
    g_assert_cmpint (collective.method, ==, SIM_COLLECTIVE_STEPS);
    g_assert_true (collective.algorithm == algorithm);
    g_assert_null (collective.second);
    g_assert_cmpuint (collective.n_steps, ==, algorithm->n_steps (&collective));
    for (uint32_t step = 0; step < collective.n_steps; step++) {
      SimStep got = sim_collective_step (&collective, step);
      SimStep wanted = algorithm->step (&collective, step);

      g_assert_cmpmem (&got, offsetof (SimStep, wait), &wanted, offsetof (SimStep, wait));
      g_assert_true (got.wait == wanted.wait);
    }
  }
}

/* Blue Gene/Q's; limits of allgathers are on the total: 512 KiB for 8 ranks, 80 KiB for 5. */
static void
test_algorithms (void)
{
  static const struct {
    const SimAlgorithm *algorithm;
    TraceOpKind kind;
    uint64_t bytes;
    uint32_t n;
  } cases[] = {
    { &sim_barrier_dissemination, TRACE_OP_BARRIER, 0, 7 },
    { &sim_bcast_binomial, TRACE_OP_BCAST, 1 << 20, 7 },
    { &sim_gather_binomial, TRACE_OP_GATHER, 9, 7 },
    { &sim_scatter_binomial, TRACE_OP_SCATTER, 9, 7 },
    { &sim_scan_doubling, TRACE_OP_SCAN, 9, 7 },
    { &sim_scan_doubling, TRACE_OP_EXSCAN, 9, 7 },
    { &sim_reduce_binomial, TRACE_OP_REDUCE, 2048, 7 },
    { &sim_reduce_scatter_gather, TRACE_OP_REDUCE, 2049, 7 },
    { &sim_allreduce_doubling, TRACE_OP_ALLREDUCE, 2048, 7 },
    { &sim_allreduce_scatter_allgather, TRACE_OP_ALLREDUCE, 2049, 7 },
    { &sim_alltoall_bruck, TRACE_OP_ALLTOALL, 256, 8 },
    { &sim_alltoall_scattered, TRACE_OP_ALLTOALL, 256, 7 },
    { &sim_alltoall_scattered, TRACE_OP_ALLTOALL, 32768, 8 },
    { &sim_alltoall_pairwise, TRACE_OP_ALLTOALL, 32769, 8 },
    { &sim_allgather_doubling, TRACE_OP_ALLGATHER, 65535, 8 },
    { &sim_allgather_ring, TRACE_OP_ALLGATHER, 65536, 8 },
    { &sim_allgather_bruck, TRACE_OP_ALLGATHER, 16383, 5 },
    { &sim_allgather_ring, TRACE_OP_ALLGATHER, 16384, 5 },
  };

  for (uint32_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    TraceOp op = {
      .kind = cases[i].kind, .bytes = cases[i].bytes, .recv_bytes = cases[i].bytes, .root = 2
    };

    g_test_message ("case %u: %s", i, trace_op_name (op.kind));
    assert_uses (cases[i].algorithm, op, cases[i].n);
  }
}

static void
test_vectors_by_total (void)
{
  uint64_t counts[5] = { 1, 2, 3, 4, 81909 }; /* 80 KiB - 1 in all */
  TraceOp gather = { .kind = TRACE_OP_ALLGATHERV, .recv_counts = counts, .n_recv_counts = 5 };
  TraceOp scatter = { .kind = TRACE_OP_REDUCE_SCATTER, .recv_counts = counts, .n_recv_counts = 5 };

  gather.root = scatter.root = TRACE_NO_ROOT;
  assert_uses (&sim_allgather_bruck, gather, 5);
  assert_uses (&sim_reduce_scatter_halving, scatter, 5);
  counts[0]++;
  assert_uses (&sim_allgather_ring, gather, 5);
  counts[0] = 512 * 1024;
  assert_uses (&sim_reduce_scatter_pairwise, scatter, 5);
}

/* --- Hardware --- */

static int64_t
hardware_ps (TraceOpKind kind, uint64_t bytes)
{
  TopoMachine machine = machine_with (true);
  TraceOp op = { .kind = kind, .bytes = bytes };
  SimCollective collective;

  sim_collective_init (&collective, &machine, &op, 512, 0, true, NULL);
  return sim_collective_hardware_ps (&collective, &machine);
}

/* 4x4x4x4x2: 2+2+2+2+1 = 9 hops of 50 ns are 450 ns. */
static void
test_hardware_times (void)
{
  g_assert_cmpint (hardware_ps (TRACE_OP_BARRIER, 0), ==, 2450000);
  /* 1,700 bytes at 1.7 GB/s take 1 us. */
  g_assert_cmpint (hardware_ps (TRACE_OP_ALLREDUCE, 1700), ==, 4450000 + 1000000);
  g_assert_cmpint (hardware_ps (TRACE_OP_REDUCE, 1700), ==, 4450000 + 1000000);
  g_assert_cmpint (hardware_ps (TRACE_OP_BCAST, 1700), ==, 4450000 + 1000000);
  /* 17 TB take 10,000 s: no overflow on the way. */
  g_assert_cmpint (hardware_ps (TRACE_OP_ALLREDUCE, 17000000000000), ==,
                   4450000 + INT64_C (10000000000000000));
}

/* Above the limit five trees of 2 GB/s * 512 / 552 = 1.855 GB/s each. */
static void
test_rectangle_broadcast (void)
{
  int64_t got_ps = hardware_ps (TRACE_OP_BCAST, 9275362);

  g_assert_cmpint (ABS (got_ps - (4450000 + 1000000000)), <, 2000);
  g_assert_cmpint (hardware_ps (TRACE_OP_BCAST, 65537), <, hardware_ps (TRACE_OP_BCAST, 65536));
}

/* A mesh dimension is climbed from its end: n - 1 hops. */
static void
test_hardware_depth_of_a_mesh (void)
{
  TopoMachine machine = machine_with (true);
  SimCollective barrier = { .kind = TRACE_OP_BARRIER };

  machine.shape.wrap[0] = false;
  g_assert_cmpint (sim_collective_hardware_ps (&barrier, &machine), ==, 2500000);
}

/* --- Direct --- */

static void
test_direct_is_a_permutation_of_the_others (void)
{
  for (uint32_t n = 2; n <= 130; n++)
    for (uint32_t rank = 0; rank < n; rank += 1 + n / 8) {
      SimCollective collective = {
        .kind = TRACE_OP_ALLTOALL, .n_ranks = n, .rank = rank, .bytes = 4
      };
      g_autofree bool *seen = g_new0 (bool, n);

      for (uint32_t i = 0; i + 1 < n; i++) {
        uint64_t bytes;
        uint32_t peer = sim_collective_direct (&collective, i, &bytes);

        g_assert_cmpuint (peer, <, n);
        g_assert_cmpuint (peer, !=, rank);
        g_assert_false (seen[peer]);
        g_assert_cmpuint (bytes, ==, 4);
        seen[peer] = true;
      }
    }
}

/* Random choice of 1,024 puts 6 or 7 on the fullest of 1,024 places; an order
 * that is the same on all ranks would put all of them on one. */
static void
test_direct_spreads_over_destinations (void)
{
  for (uint32_t i = 0; i < 20; i++) {
    uint32_t n_at[1024] = { 0 };

    for (uint32_t rank = 0; rank < 1024; rank++) {
      SimCollective collective = { .kind = TRACE_OP_ALLTOALL, .n_ranks = 1024, .rank = rank };
      uint64_t bytes;

      n_at[sim_collective_direct (&collective, i, &bytes)]++;
    }
    for (uint32_t rank = 0; rank < 1024; rank++)
      g_assert_cmpuint (n_at[rank], <, 12);
  }
}

static void
test_direct_bytes (void)
{
  static const uint64_t counts[] = { 10, 11, 12, 13 }, recv_counts[] = { 20, 21, 22, 23 };
  SimCollective collective = { .kind = TRACE_OP_ALLTOALLV,
                               .n_ranks = 4,
                               .rank = 1,
                               .counts = counts,
                               .recv_counts = recv_counts };

  for (uint32_t i = 0; i < 3; i++) {
    uint64_t bytes;
    uint32_t peer = sim_collective_direct (&collective, i, &bytes);

    g_assert_cmpuint (bytes, ==, 10 + peer);
    g_assert_cmpuint (sim_collective_direct_sent (&collective, peer), ==, bytes);
    g_assert_cmpuint (sim_collective_direct_received (&collective, peer), ==, 20 + peer);
  }
}

/* --- By name --- */

/* A call of 16 bytes on n ranks of a machine with a collective network. */
static SimCollective
call_of (TraceOpKind kind, uint32_t n, uint32_t algorithm)
{
  TopoMachine machine = machine_with (true);
  const TraceOp op = { .kind = kind, .comm = TRACE_COMM_WORLD, .bytes = 16, .recv_bytes = 16 };
  SimCollective collective;

  machine.parameters.mpi.algorithm = algorithm;
  sim_collective_init (&collective, &machine, &op, n, 0, true, NULL);
  return collective;
}

static void
test_algorithms_by_name (void)
{
  static const struct {
    TraceOpKind kind;
    uint32_t n;
    const char *name;
    const SimAlgorithm *algorithm; /* NULL: by the rules */
  } cases[] = {
    { TRACE_OP_ALLTOALL, 16, "linear", &sim_alltoall_linear },
    { TRACE_OP_ALLTOALL, 16, "pairwise", &sim_alltoall_pairwise_ring },
    { TRACE_OP_ALLTOALL, 16, "ring", NULL },
    { TRACE_OP_ALLREDUCE, 6, "rabenseifner", &sim_allreduce_halves },
    { TRACE_OP_ALLGATHER, 16, "recursive_doubling", &sim_allgather_doubling },
    { TRACE_OP_ALLGATHER, 6, "recursive_doubling", NULL },
    { TRACE_OP_ALLGATHER, 6, "neighbor", &sim_allgather_neighbor },
    { TRACE_OP_ALLGATHER, 7, "neighbor", NULL },
    { TRACE_OP_BCAST, 16, "knomial", &sim_bcast_tree_four_nomial },
    { TRACE_OP_BCAST, 1, "knomial", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    uint32_t algorithm = sim_collective_named (cases[i].kind, cases[i].name);
    SimCollective collective = call_of (cases[i].kind, cases[i].n, algorithm);
    SimCollective by_rules = call_of (cases[i].kind, cases[i].n, 0);

    if (cases[i].algorithm == NULL) {
      g_assert_cmpint (collective.method, ==, by_rules.method);
      g_assert_true (collective.algorithm == by_rules.algorithm);
    } else {
      g_assert_cmpint (collective.method, ==, SIM_COLLECTIVE_STEPS);
      g_assert_true (collective.algorithm == cases[i].algorithm);
      g_assert_cmpuint (collective.n_steps, ==, cases[i].algorithm->n_steps (&collective));
    }
  }
  /* Other kinds go on by the rules. */
  g_assert_cmpint (
      call_of (TRACE_OP_BARRIER, 16, sim_collective_named (TRACE_OP_BCAST, "knomial")).method, ==,
      SIM_COLLECTIVE_HARDWARE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/collective/methods", test_methods);
  g_test_add_func ("/sim/collective/algorithms", test_algorithms);
  g_test_add_func ("/sim/collective/vectors-by-total", test_vectors_by_total);
  g_test_add_func ("/sim/collective/hardware-times", test_hardware_times);
  g_test_add_func ("/sim/collective/rectangle-broadcast", test_rectangle_broadcast);
  g_test_add_func ("/sim/collective/hardware-depth-of-a-mesh", test_hardware_depth_of_a_mesh);
  g_test_add_func ("/sim/collective/direct-is-a-permutation",
                   test_direct_is_a_permutation_of_the_others);
  g_test_add_func ("/sim/collective/direct-spreads", test_direct_spreads_over_destinations);
  g_test_add_func ("/sim/collective/direct-bytes", test_direct_bytes);
  g_test_add_func ("/sim/collective/algorithms-by-name", test_algorithms_by_name);
  return g_test_run ();
}
