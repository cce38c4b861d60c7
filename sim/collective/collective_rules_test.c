/* collective_rules_test.c - every threshold of the rules, from both sides.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Expectations are written by hand from the libraries' decision functions:
 * handbook page "Collectives". */
#include "sim/collective/collective_steps.h"
#include "sim/collective/collective_testing.h"

#include <glib.h>

#define KIB 1024u
#define MIB (1024u * 1024)

/* Counts of the vector kinds: all the same, `bytes` in all where it divides. */
static SimCollective
call_of (TopoCollectives set, TraceOpKind kind, uint32_t n, uint32_t rank, uint64_t bytes,
         const uint64_t *counts)
{
  TopoMachine machine = { .parameters = { .mpi.collectives = set, .collective.in_network = true } };
  TraceOp op = { .kind = kind, .bytes = bytes, .recv_bytes = bytes, .root = 1 };
  SimCollective collective;

  op.counts = op.recv_counts = counts;
  op.n_counts = op.n_recv_counts = counts == NULL ? 0 : n;
  sim_collective_init (&collective, &machine, &op, n, rank, true, NULL);
  return collective;
}

/* The same on the first, the middle and the last rank. */
static void
expect_two (TopoCollectives set, TraceOpKind kind, uint32_t n, uint64_t bytes, SimChoice choice)
{
  bool vector = kind == TRACE_OP_ALLGATHERV || kind == TRACE_OP_REDUCE_SCATTER;
  g_autofree uint64_t *counts = g_new (uint64_t, n);

  for (uint32_t rank = 0; rank < n; rank++)
    counts[rank] = bytes / n + (rank < bytes % n);
  for (uint32_t rank = 0; rank < n; rank += 1 + n / 2) {
    SimCollective call = call_of (set, kind, n, rank, bytes, vector ? counts : NULL);

    g_assert_cmpint (call.method, ==, SIM_COLLECTIVE_STEPS);
    g_assert_true (call.algorithm == choice.algorithm);
    g_assert_cmpuint (call.segment_bytes, ==, choice.segment_bytes);
    g_assert_true (call.second == choice.second);
    g_assert_cmpuint (call.second_segment_bytes, ==, choice.second_segment_bytes);
  }
}

typedef struct {
  TraceOpKind kind;
  uint32_t n;
  uint64_t bytes;
  const SimAlgorithm *algorithm;
  uint64_t segment_bytes;
} Expected;

static void
expect_all (TopoCollectives set, const Expected *expected, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    expect_two (set, expected[i].kind, expected[i].n, expected[i].bytes,
                sim_choose_segmented (expected[i].algorithm, expected[i].segment_bytes));
}

/* --- Open MPI 1.3.2 --- */

/* 1.6134e-6 * 370728 + 2.1102 = 2.7083; for 8 ranks 3,650,551 bytes are on the
 * line and for 12 ranks 6,129,788.  From 13 ranks on: (13 - 2.1102) / 1.6134e-6
 * = 6,749,597; (13 - 1.1787) / 2.3679e-6 = 4,992,313; (13 - 8.7936) /
 * 3.2118e-6 = 1,309,670. */
static const Expected ompi13_bcast[] = {
  { TRACE_OP_BCAST, 2, 2047, &sim_bcast_tree_binomial, 0 },
  { TRACE_OP_BCAST, 100, 2047, &sim_bcast_tree_binomial, 0 },
  { TRACE_OP_BCAST, 100, 2048, &sim_bcast_split_binary, KIB },
  { TRACE_OP_BCAST, 3, 370727, &sim_bcast_split_binary, KIB },
  { TRACE_OP_BCAST, 2, 370728, &sim_bcast_pipeline, 128 * KIB },
  { TRACE_OP_BCAST, 3, 370728, &sim_bcast_split_binary, 8 * KIB },
  { TRACE_OP_BCAST, 8, 3650551, &sim_bcast_split_binary, 8 * KIB },
  { TRACE_OP_BCAST, 8, 3650552, &sim_bcast_pipeline, 128 * KIB },
  { TRACE_OP_BCAST, 12, 6129788, &sim_bcast_split_binary, 8 * KIB },
  { TRACE_OP_BCAST, 12, 6129789, &sim_bcast_pipeline, 128 * KIB },
  { TRACE_OP_BCAST, 13, 370728, &sim_bcast_pipeline, 8 * KIB },
  { TRACE_OP_BCAST, 13, 1309670, &sim_bcast_pipeline, 8 * KIB },
  { TRACE_OP_BCAST, 13, 1309671, &sim_bcast_pipeline, 16 * KIB },
  { TRACE_OP_BCAST, 13, 4992313, &sim_bcast_pipeline, 16 * KIB },
  { TRACE_OP_BCAST, 13, 4992314, &sim_bcast_pipeline, 64 * KIB },
  { TRACE_OP_BCAST, 13, 6749597, &sim_bcast_pipeline, 64 * KIB },
  { TRACE_OP_BCAST, 13, 6749598, &sim_bcast_pipeline, 128 * KIB },
};

/* 7 ranks: (7 - 1.3496) * 1024 / 0.6016 = 9617 is below 20480, so the first
 * line is not met there; (7 - 1.1614) * 1024 / 0.0422 = 141,675 and
 * (7 - 1.6761) * 1024 / 0.0033 = 1,652,022.  64 ranks: (64 - 1.3496) * 1024 /
 * 0.6016 = 106,638; (64 - 9.7128) * 1024 / 0.0410 = 1,355,857;
 * (64 - 1.6761) * 1024 / 0.0033 = 19,339,295. */
static const Expected ompi13_reduce[] = {
  { TRACE_OP_REDUCE, 7, 511, &sim_reduce_linear, 0 },
  { TRACE_OP_REDUCE, 8, 511, &sim_reduce_tree_binomial, 0 },
  { TRACE_OP_REDUCE, 7, 512, &sim_reduce_tree_binomial, 0 },
  { TRACE_OP_REDUCE, 7, 20479, &sim_reduce_tree_binomial, 0 },
  { TRACE_OP_REDUCE, 7, 20480, &sim_reduce_pipeline, 32 * KIB },
  { TRACE_OP_REDUCE, 7, 141676, &sim_reduce_pipeline, 32 * KIB },
  { TRACE_OP_REDUCE, 7, 1652022, &sim_reduce_pipeline, 32 * KIB },
  { TRACE_OP_REDUCE, 7, 1652023, &sim_reduce_pipeline, 64 * KIB },
  { TRACE_OP_REDUCE, 64, 2047, &sim_reduce_tree_binomial, 0 },
  { TRACE_OP_REDUCE, 64, 2048, &sim_reduce_tree_binomial, KIB },
  { TRACE_OP_REDUCE, 64, 106638, &sim_reduce_tree_binomial, KIB },
  { TRACE_OP_REDUCE, 64, 106639, &sim_reduce_pipeline, KIB },
  { TRACE_OP_REDUCE, 64, 1355855, &sim_reduce_pipeline, KIB },
  { TRACE_OP_REDUCE, 64, 1355856, &sim_reduce_pipeline, 32 * KIB },
  { TRACE_OP_REDUCE, 64, 19339295, &sim_reduce_pipeline, 32 * KIB },
  { TRACE_OP_REDUCE, 64, 19339296, &sim_reduce_pipeline, 64 * KIB },
};

/* reduce_scatter: 100 ranks are on the line at 92 / 0.0012 = 76,666 bytes. */
static const Expected ompi13_others[] = {
  { TRACE_OP_BARRIER, 2, 0, &sim_barrier_doubling, 0 },
  { TRACE_OP_BARRIER, 16, 0, &sim_barrier_doubling, 0 },
  { TRACE_OP_BARRIER, 17, 0, &sim_barrier_dissemination, 0 },
  { TRACE_OP_ALLREDUCE, 4, 9999, &sim_allreduce_doubling, 0 },
  { TRACE_OP_ALLREDUCE, 4, 10000, &sim_allreduce_ring, 0 },
  { TRACE_OP_ALLREDUCE, 4, 4 * MIB, &sim_allreduce_ring, 0 },
  { TRACE_OP_ALLREDUCE, 4, 4 * MIB + 1, &sim_allreduce_ring, MIB },
  { TRACE_OP_ALLREDUCE, 1249, 10000, &sim_allreduce_ring, 0 },
  { TRACE_OP_REDUCE_SCATTER, 100, 12 * KIB, &sim_reduce_scatter_halving, 0 },
  { TRACE_OP_REDUCE_SCATTER, 100, 76666, &sim_reduce_scatter_halving, 0 },
  { TRACE_OP_REDUCE_SCATTER, 100, 76667, &sim_reduce_scatter_ring, 0 },
  { TRACE_OP_REDUCE_SCATTER, 7, 12 * KIB, &sim_reduce_scatter_halving, 0 },
  { TRACE_OP_REDUCE_SCATTER, 7, 12 * KIB + 1, &sim_reduce_scatter_ring, 0 },
  { TRACE_OP_REDUCE_SCATTER, 64, 256 * KIB, &sim_reduce_scatter_halving, 0 },
  { TRACE_OP_REDUCE_SCATTER, 64, 256 * KIB + 1, &sim_reduce_scatter_ring, 0 },
  { TRACE_OP_ALLGATHER, 2, MIB, &sim_allgather_ring, 0 },
  { TRACE_OP_ALLGATHER, 8, 6249, &sim_allgather_doubling, 0 },
  { TRACE_OP_ALLGATHER, 8, 6250, &sim_allgather_neighbor, 0 },
  { TRACE_OP_ALLGATHER, 5, 9999, &sim_allgather_bruck, 0 },
  { TRACE_OP_ALLGATHER, 5, 10000, &sim_allgather_ring, 0 },
  { TRACE_OP_ALLGATHERV, 2, 10, &sim_allgather_ring, 0 },
  { TRACE_OP_ALLGATHERV, 8, 49999, &sim_allgather_bruck, 0 },
  { TRACE_OP_ALLGATHERV, 8, 50000, &sim_allgather_neighbor, 0 },
  { TRACE_OP_ALLGATHERV, 5, 50000, &sim_allgather_ring, 0 },
  { TRACE_OP_ALLTOALL, 2, 100, &sim_alltoall_pairwise_ring, 0 },
  { TRACE_OP_ALLTOALL, 13, 199, &sim_alltoall_bruck, 0 },
  { TRACE_OP_ALLTOALL, 12, 199, &sim_alltoall_linear, 0 },
  { TRACE_OP_ALLTOALL, 13, 200, &sim_alltoall_linear, 0 },
  { TRACE_OP_ALLTOALL, 64, 2999, &sim_alltoall_linear, 0 },
  { TRACE_OP_ALLTOALL, 64, 3000, &sim_alltoall_pairwise_ring, 0 },
  { TRACE_OP_ALLTOALLV, 64, 0, &sim_alltoallv_linear_nonzero, 0 },
  { TRACE_OP_GATHER, 8, 92161, &sim_gather_linear_sync, 32 * KIB },
  { TRACE_OP_GATHER, 8, 92160, &sim_gather_linear_sync, KIB },
  { TRACE_OP_GATHER, 8, 6001, &sim_gather_linear_sync, KIB },
  { TRACE_OP_GATHER, 8, 6000, &sim_gather_linear, 0 },
  { TRACE_OP_GATHER, 60, 6000, &sim_gather_linear, 0 },
  { TRACE_OP_GATHER, 61, 6000, &sim_gather_binomial, 0 },
  { TRACE_OP_GATHER, 11, 1023, &sim_gather_binomial, 0 },
  { TRACE_OP_GATHER, 11, 1024, &sim_gather_linear, 0 },
  { TRACE_OP_GATHER, 10, 1023, &sim_gather_linear, 0 },
  { TRACE_OP_SCATTER, 11, 299, &sim_scatter_binomial, 0 },
  { TRACE_OP_SCATTER, 11, 300, &sim_scatter_linear, 0 },
  { TRACE_OP_SCATTER, 10, 299, &sim_scatter_linear, 0 },
  { TRACE_OP_GATHERV, 9, 5, &sim_gatherv_in_turn, 0 },
  { TRACE_OP_SCATTERV, 9, 5, &sim_scatterv_in_turn, 0 },
  { TRACE_OP_SCAN, 9, 5, &sim_scan_linear, 0 },
  { TRACE_OP_EXSCAN, 9, 5, &sim_scan_linear, 0 },
};

static void
test_ompi13 (void)
{
  expect_all (TOPO_COLLECTIVES_OMPI13, ompi13_bcast, G_N_ELEMENTS (ompi13_bcast));
  expect_all (TOPO_COLLECTIVES_OMPI13, ompi13_reduce, G_N_ELEMENTS (ompi13_reduce));
  expect_all (TOPO_COLLECTIVES_OMPI13, ompi13_others, G_N_ELEMENTS (ompi13_others));
}

/* 10,000 bytes are 1,250 elements: not more than ranks.  A count of 0 makes a
 * reduce-scatter a reduction and a scatterv. */
static void
test_ompi13_of_two_parts (void)
{
  expect_two (TOPO_COLLECTIVES_OMPI13, TRACE_OP_ALLREDUCE, 1250, 10000,
              sim_choose_two (sim_choose_segmented (&sim_reduce_tree_binomial, KIB),
                              sim_choose_segmented (&sim_bcast_split_binary, KIB)));
  expect_two (
      TOPO_COLLECTIVES_OMPI13, TRACE_OP_REDUCE_SCATTER, 64, 63,
      sim_choose_two (sim_choose (&sim_reduce_tree_binomial), sim_choose (&sim_scatterv_in_turn)));
}

/* --- Open MPI 4.1 --- */

static const Expected ompi41[] = {
  { TRACE_OP_BARRIER, 3, 0, &sim_barrier_doubling, 0 },
  { TRACE_OP_BARRIER, 4, 0, &sim_barrier_linear, 0 },
  { TRACE_OP_BARRIER, 8, 0, &sim_barrier_doubling, 0 },
  { TRACE_OP_BARRIER, 64, 0, &sim_barrier_dissemination, 0 },
  { TRACE_OP_BARRIER, 256, 0, &sim_barrier_tree, 0 },
  { TRACE_OP_BARRIER, 512, 0, &sim_barrier_dissemination, 0 },
  { TRACE_OP_BARRIER, 4095, 0, &sim_barrier_tree, 0 },
  { TRACE_OP_BARRIER, 4096, 0, &sim_barrier_dissemination, 0 },
  { TRACE_OP_BCAST, 3, 31, &sim_bcast_pipeline, 0 },
  { TRACE_OP_BCAST, 3, 32, &sim_bcast_tree_binary, 0 },
  { TRACE_OP_BCAST, 3, 512, &sim_bcast_tree_four_nomial, 0 },
  { TRACE_OP_BCAST, 3, 1024, &sim_bcast_linear, 0 },
  { TRACE_OP_BCAST, 7, 64, &sim_bcast_tree_binomial, 0 },
  { TRACE_OP_BCAST, 7, MIB, &sim_bcast_pipeline, 0 },
  { TRACE_OP_BCAST, 16, MIB - 1, &sim_bcast_tree_binomial, 0 },
  { TRACE_OP_BCAST, 31, MIB, &sim_bcast_scatter_doubling, 0 },
  { TRACE_OP_BCAST, 64, 100, &sim_bcast_tree_four_nomial, 0 },
  { TRACE_OP_BCAST, 255, 16384, &sim_bcast_linear, 0 },
  { TRACE_OP_BCAST, 300, 16384, &sim_bcast_split_binary, 0 },
  { TRACE_OP_BCAST, 5000, 262144, &sim_bcast_scatter_doubling, 0 },
  { TRACE_OP_REDUCE, 3, 8, &sim_reduce_tree_binary, 0 },
  { TRACE_OP_REDUCE, 3, 16, &sim_reduce_pipeline, 0 },
  { TRACE_OP_REDUCE, 3, 32, &sim_reduce_linear, 0 },
  { TRACE_OP_REDUCE, 8, 8191, &sim_reduce_tree_binary, 0 },
  { TRACE_OP_REDUCE, 8, 8192, &sim_reduce_tree_binomial, 0 },
  { TRACE_OP_REDUCE, 256, 8192, &sim_reduce_tree_in_order, 0 },
  { TRACE_OP_REDUCE, 256, 16384, &sim_reduce_tree_binomial, 0 },
  { TRACE_OP_ALLREDUCE, 8, 8191, &sim_allreduce_doubling, 0 },
  { TRACE_OP_ALLREDUCE, 15, 8192, &sim_allreduce_halves, 0 },
  { TRACE_OP_ALLREDUCE, 3, 4096, &sim_allreduce_ring, 0 },
  { TRACE_OP_ALLREDUCE, 3, 65536, &sim_allreduce_ring, 0 },
  { TRACE_OP_ALLREDUCE, 16, 63, &sim_allreduce_doubling, 0 }, /* a ring, but of 8 elements */
  { TRACE_OP_ALLREDUCE, 31, 4095, &sim_allreduce_doubling, 0 },
  { TRACE_OP_ALLREDUCE, 31, 4096, &sim_allreduce_halves, 0 },
  { TRACE_OP_ALLREDUCE, 63, 256, &sim_allreduce_halves, 0 }, /* 32 elements, 32 cores */
  { TRACE_OP_ALLREDUCE, 64, 262143, &sim_allreduce_doubling, 0 },
  { TRACE_OP_ALLREDUCE, 127, 262144, &sim_allreduce_halves, 0 },
  { TRACE_OP_ALLREDUCE, 128, 131072, &sim_allreduce_doubling, 0 },
  { TRACE_OP_REDUCE_SCATTER, 3, 65535, &sim_reduce_scatter_ring, 0 },
  { TRACE_OP_REDUCE_SCATTER, 3, 65536, &sim_reduce_scatter_butterfly, 0 },
  { TRACE_OP_REDUCE_SCATTER, 31, 262143, &sim_reduce_scatter_halving, 0 },
  { TRACE_OP_REDUCE_SCATTER, 31, 262144, &sim_reduce_scatter_ring, 0 },
  { TRACE_OP_ALLGATHER, 2, 8, &sim_allgather_ring, 0 },
  { TRACE_OP_ALLGATHER, 16, MIB, &sim_allgather_doubling, 0 },
  { TRACE_OP_ALLGATHER, 17, MIB, &sim_allgather_bruck, 0 },
  { TRACE_OP_ALLGATHER, 32, 1023, &sim_allgather_doubling, 0 },
  { TRACE_OP_ALLGATHER, 32, 1024, &sim_allgather_neighbor, 0 },
  { TRACE_OP_ALLGATHER, 33, 1024, &sim_allgather_ring, 0 },
  { TRACE_OP_ALLGATHERV, 8, 8 * 1024, &sim_allgather_bruck, 0 },
  { TRACE_OP_ALLGATHERV, 32, 32 * 8192, &sim_allgather_ring, 0 },
  { TRACE_OP_ALLGATHERV, 128, 128 * 1024, &sim_allgather_neighbor, 0 },
  { TRACE_OP_ALLTOALL, 2, 1, &sim_alltoall_pairwise_ring, 0 },
  { TRACE_OP_ALLTOALL, 2, 32768, &sim_alltoall_linear, 0 },
  { TRACE_OP_ALLTOALL, 16, 3, &sim_alltoall_linear, 0 },
  { TRACE_OP_ALLTOALL, 16, 4, &sim_alltoall_bruck, 0 },
  { TRACE_OP_ALLTOALL, 31, 511, &sim_alltoall_bruck, 0 },
  { TRACE_OP_ALLTOALL, 31, 512, &sim_alltoall_linear, 0 },
  { TRACE_OP_ALLTOALL, 64, 1023, &sim_alltoall_bruck, 0 },
  { TRACE_OP_ALLTOALL, 64, 262144, &sim_alltoall_pairwise_ring, 0 },
  { TRACE_OP_ALLTOALLV, 3, 0, &sim_alltoall_pairwise_ring, 0 },
  { TRACE_OP_ALLTOALLV, 4, 0, &sim_alltoallv_linear, 0 },
  { TRACE_OP_ALLTOALLV, 64, 0, &sim_alltoall_pairwise_ring, 0 },
  { TRACE_OP_ALLTOALLV, 128, 0, &sim_alltoallv_linear, 0 },
  { TRACE_OP_ALLTOALLV, 256, 0, &sim_alltoall_pairwise_ring, 0 },
  { TRACE_OP_ALLTOALLV, 1024, 0, &sim_alltoallv_linear, 0 },
  { TRACE_OP_GATHER, 3, 1, &sim_gather_linear_sync, 0 },
  { TRACE_OP_GATHER, 3, 2, &sim_gather_linear, 0 },
  { TRACE_OP_GATHER, 3, 4, &sim_gather_binomial, 0 },
  { TRACE_OP_GATHER, 256, 2048, &sim_gather_linear, 0 },
  { TRACE_OP_GATHER, 256, 8192, &sim_gather_binomial, 0 },
  { TRACE_OP_SCATTER, 7, 2047, &sim_scatter_binomial, 0 },
  { TRACE_OP_SCATTER, 7, 2048, &sim_scatter_linear, 0 },
  { TRACE_OP_SCATTER, 64, 512, &sim_scatter_linear_at_once, 0 },
  { TRACE_OP_SCAN, 9, 5, &sim_scan_linear, 0 },
};

static void
test_ompi41 (void)
{
  expect_all (TOPO_COLLECTIVES_OMPI41, ompi41, G_N_ELEMENTS (ompi41));
}

static void
test_ompi41_of_two_parts (void)
{
  expect_two (TOPO_COLLECTIVES_OMPI41, TRACE_OP_ALLREDUCE, 255, 131071,
              sim_choose_two (sim_choose (&sim_reduce_tree_binomial),
                              sim_choose (&sim_bcast_tree_four_nomial)));
  /* Rabenseifner's with 31 elements for 32 cores. */
  expect_two (TOPO_COLLECTIVES_OMPI41, TRACE_OP_ALLREDUCE, 63, 248,
              sim_choose_two (sim_choose (&sim_reduce_linear), sim_choose (&sim_bcast_linear)));
  expect_two (
      TOPO_COLLECTIVES_OMPI41, TRACE_OP_REDUCE_SCATTER, 32, 63,
      sim_choose_two (sim_choose (&sim_reduce_tree_binomial), sim_choose (&sim_scatterv_in_turn)));
  expect_two (
      TOPO_COLLECTIVES_OMPI41, TRACE_OP_ALLGATHERV, 8, 8 * 1023,
      sim_choose_two (sim_choose (&sim_gatherv_in_turn), sim_choose (&sim_bcast_tree_binary)));
}

/* --- MPICH 4.0 --- */

static const Expected mpich[] = {
  { TRACE_OP_BARRIER, 9, 0, &sim_barrier_dissemination, 0 },
  { TRACE_OP_BCAST, 7, 16 * MIB, &sim_bcast_binomial, 0 },
  { TRACE_OP_BCAST, 8, 12288, &sim_bcast_binomial, 0 },
  { TRACE_OP_BCAST, 8, 12289, &sim_bcast_scatter_doubling, 0 },
  { TRACE_OP_BCAST, 9, 12289, &sim_bcast_scatter_ring, 0 },
  { TRACE_OP_BCAST, 8, 512 * KIB, &sim_bcast_scatter_doubling, 0 },
  { TRACE_OP_BCAST, 8, 512 * KIB + 1, &sim_bcast_scatter_ring, 0 },
  { TRACE_OP_REDUCE, 9, 2048, &sim_reduce_binomial, 0 },
  { TRACE_OP_REDUCE, 9, 2049, &sim_reduce_scatter_gather, 0 },
  { TRACE_OP_REDUCE, 512, 2049, &sim_reduce_binomial, 0 }, /* 257 elements */
  { TRACE_OP_ALLREDUCE, 2, 8, &sim_allreduce_doubling, 0 },
  { TRACE_OP_ALLREDUCE, 2, 9, &sim_allreduce_scatter_allgather, 0 },
  { TRACE_OP_ALLREDUCE, 16, 120, &sim_allreduce_doubling, 0 },
  { TRACE_OP_ALLREDUCE, 16, 121, &sim_allreduce_scatter_allgather, 0 },
  { TRACE_OP_ALLGATHER, 8, 65535, &sim_allgather_doubling, 0 },
  { TRACE_OP_ALLGATHER, 8, 65536, &sim_allgather_ring, 0 },
  { TRACE_OP_ALLGATHERV, 5, 81919, &sim_allgather_bruck, 0 },
  { TRACE_OP_ALLGATHERV, 5, 81920, &sim_allgather_ring, 0 },
  { TRACE_OP_ALLTOALL, 8, 256, &sim_alltoall_bruck, 0 },
  { TRACE_OP_ALLTOALL, 7, 256, &sim_alltoall_scattered, 0 },
  { TRACE_OP_ALLTOALL, 8, 257, &sim_alltoall_scattered, 0 },
  { TRACE_OP_ALLTOALL, 8, 32769, &sim_alltoall_pairwise, 0 },
  { TRACE_OP_ALLTOALLV, 8, 0, &sim_alltoall_scattered, 0 },
  { TRACE_OP_REDUCE_SCATTER, 8, 512 * KIB - 1, &sim_reduce_scatter_halving, 0 },
  { TRACE_OP_REDUCE_SCATTER, 8, 512 * KIB, &sim_reduce_scatter_pairwise, 0 },
  { TRACE_OP_GATHER, 8, MIB, &sim_gather_binomial, 0 },
  { TRACE_OP_SCATTER, 8, MIB, &sim_scatter_binomial, 0 },
  { TRACE_OP_SCAN, 8, MIB, &sim_scan_doubling, 0 },
};

static void
test_mpich (void)
{
  expect_all (TOPO_COLLECTIVES_MPICH, mpich, G_N_ELEMENTS (mpich));
}

/* --- All sets --- */

/* Also after an algorithm that leaves the last wait to the end of the call. */
static void
test_first_part_ends_before_the_second (void)
{
  SimCollective call = { .kind = TRACE_OP_ALLGATHER,
                         .n_ranks = 3,
                         .rank = 0,
                         .bytes = 7,
                         .recv_bytes = 7,
                         .algorithm = &sim_gather_linear_sync,
                         .second = &sim_bcast_linear,
                         .n_first_steps = 4,
                         .n_steps = 6 };

  g_assert_false (sim_collective_step (&call, 1).wait);
  g_assert_true (sim_collective_step (&call, 3).wait);
  g_assert_cmpuint (sim_collective_step (&call, 3).recv_from, ==, 2);
  g_assert_cmpuint (sim_collective_step (&call, 4).send_to, ==, 1);
  g_assert_cmpuint (sim_collective_step (&call, 4).send_bytes, ==, 21);
}

/* The call that all ranks of a world make. */
static TopoCollectives the_set;
static TraceOpKind the_kind;
static uint64_t the_bytes;

static SimCollective
chosen_call (const SimCollective *collective, const uint64_t *counts)
{
  bool own = the_kind == TRACE_OP_GATHERV || the_kind == TRACE_OP_SCATTERV;

  return call_of (the_set, the_kind, collective->n_ranks, collective->rank,
                  own ? counts[collective->rank] : the_bytes, counts);
}

static uint32_t
chosen_steps (const SimCollective *collective)
{
  SimCollective call = chosen_call (collective, collective->counts);

  return call.n_steps;
}

static SimStep
chosen_step (const SimCollective *collective, uint32_t step)
{
  SimCollective call = chosen_call (collective, collective->counts);

  return sim_collective_step (&call, step);
}

static const SimAlgorithm chosen = { .n_steps = chosen_steps, .step = chosen_step };

/* Whatever is chosen, calls of two parts as well: no deadlock, and both ends
 * agree about every message. */
static void
check_runs (uint32_t n)
{
  g_autofree uint64_t *counts = g_new (uint64_t, n);
  SimCollective call = { .kind = the_kind, .root = 1, .counts = counts };
  World *world;

  for (uint32_t rank = 0; rank < n; rank++)
    counts[rank] = the_kind != TRACE_OP_ALLTOALLV && rank == n / 2 ? 0 : the_bytes;
  world = world_new (&chosen, &world_sizes_model, &call, n, 0);
  world_run (world);
  g_assert_cmpuint (world->n_messages, >=, n - 2);
  world_free (world);
}

static void
test_choices_run (void)
{
  static const uint64_t sizes[] = { 1, 8, 100, 1000, 5000, 20000, 100000, 1000000 };

  for (uint32_t set = TOPO_COLLECTIVES_OMPI13; set <= TOPO_COLLECTIVES_MPICH4; set++)
    for (uint32_t kind = TRACE_OP_BARRIER; kind <= TRACE_OP_EXSCAN; kind++)
      for (uint32_t n = 2; n <= 70; n += 1 + n / 9)
        for (uint32_t i = 0; i < G_N_ELEMENTS (sizes); i++) {
          the_set = (TopoCollectives) set;
          the_kind = (TraceOpKind) kind;
          the_bytes = sizes[i];
          check_runs (n);
        }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/collective-rules/ompi-1.3", test_ompi13);
  g_test_add_func ("/sim/collective-rules/ompi-1.3-of-two-parts", test_ompi13_of_two_parts);
  g_test_add_func ("/sim/collective-rules/ompi-4.1", test_ompi41);
  g_test_add_func ("/sim/collective-rules/ompi-4.1-of-two-parts", test_ompi41_of_two_parts);
  g_test_add_func ("/sim/collective-rules/mpich", test_mpich);
  g_test_add_func ("/sim/collective-rules/first-part-ends", test_first_part_ends_before_the_second);
  g_test_add_func ("/sim/collective-rules/choices-run", test_choices_run);
  return g_test_run ();
}
