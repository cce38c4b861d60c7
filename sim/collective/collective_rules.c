/* collective_rules.c - the choice of an algorithm by the rules of an MPI library.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A rule sees a call of two ranks or more.  It may look only at properties that
 * all ranks of the communicator share: see sim_collective_init(). */
#include "sim/collective/collective_steps.h"

#include <glib.h>

#define KIB 1024u

typedef struct {
  const SimAlgorithm *only; /* always this one; NULL: see choose() */
  SimChoice (*choose) (const SimCollective *collective);
} Rule;

/* Bytes of a gather or scatter for each rank: all ranks agree about them.  A
 * root that has one of its two sizes only takes that. */
static uint64_t
block_bytes (const SimCollective *collective)
{
  bool gather = collective->kind == TRACE_OP_GATHER;
  bool root = collective->rank == (uint32_t) collective->root;
  uint64_t bytes = gather == root ? collective->recv_bytes : collective->bytes;

  if (root && bytes == 0)
    return gather ? collective->bytes : collective->recv_bytes;
  return bytes;
}

/* Bytes of an allgather(v) or a reduce-scatter in all. */
static uint64_t
total_bytes (const SimCollective *collective)
{
  return collective->kind == TRACE_OP_ALLGATHER ? collective->bytes * collective->n_ranks
                                                : collective->total_bytes;
}

/* Some rules look at the number of elements, but traces have bytes.  Guess:
 * elements are of 8 bytes, as double precision numbers are. */
static uint64_t
n_elements (uint64_t bytes)
{
  return bytes / 8 + (bytes % 8 != 0);
}

/* --- MPICH ---
 *
 * Source: the selection table that is built into MPICH 4.0.2,
 * src/mpi/coll/src/csel_json_autogen.c, for communicators without known shared
 * nodes: MPICH's two-level ("smp") algorithms are not here.  Rules that are
 * the same in MPICH 3.1 are Blue Gene/Q's too. */

/* Few, growing messages below a total, the ring above. */
static SimChoice
mpich_allgather (const SimCollective *collective)
{
  uint64_t bytes = total_bytes (collective);

  if (sim_is_power_of_two (collective->n_ranks) && bytes < 512 * 1024)
    return sim_choose (&sim_allgather_doubling);
  return sim_choose (bytes < 80 * 1024 ? &sim_allgather_bruck : &sim_allgather_ring);
}

static SimChoice
mpich_alltoall (const SimCollective *collective)
{
  if (collective->bytes <= 256 && collective->n_ranks >= 8)
    return sim_choose (&sim_alltoall_bruck);
  return sim_choose (collective->bytes <= 32 * 1024 ? &sim_alltoall_scattered
                                                    : &sim_alltoall_pairwise);
}

static SimChoice
mpich_reduce_scatter (const SimCollective *collective)
{
  return sim_choose (total_bytes (collective) < 512 * 1024 ? &sim_reduce_scatter_halving
                                                           : &sim_reduce_scatter_pairwise);
}

static SimChoice
mpich_bcast (const SimCollective *collective)
{
  if (collective->n_ranks < 8 || collective->bytes <= 12288)
    return sim_choose (&sim_bcast_binomial);
  if (sim_is_power_of_two (collective->n_ranks) && collective->bytes <= 512 * 1024)
    return sim_choose (&sim_bcast_scatter_doubling);
  return sim_choose (&sim_bcast_scatter_ring);
}

/* Vectors of fewer elements than ranks take part in the halving are not cut. */
static bool
is_cut (const SimCollective *collective)
{
  return n_elements (collective->bytes) >= 1u << sim_floor_log2 (collective->n_ranks);
}

static SimChoice
mpich_reduce (const SimCollective *collective)
{
  return sim_choose (collective->bytes > 2048 && is_cut (collective) ? &sim_reduce_scatter_gather
                                                                     : &sim_reduce_binomial);
}

static SimChoice
mpich_allreduce (const SimCollective *collective)
{
  return sim_choose (collective->bytes > 8 && is_cut (collective) ? &sim_allreduce_scatter_allgather
                                                                  : &sim_allreduce_doubling);
}

static const Rule rules_mpich[TRACE_N_OPS] = {
  [TRACE_OP_BARRIER] = { .only = &sim_barrier_dissemination },
  [TRACE_OP_BCAST] = { .choose = mpich_bcast },
  [TRACE_OP_GATHER] = { .only = &sim_gather_binomial },
  [TRACE_OP_GATHERV] = { .only = &sim_gatherv_linear },
  [TRACE_OP_SCATTER] = { .only = &sim_scatter_binomial },
  [TRACE_OP_SCATTERV] = { .only = &sim_scatterv_linear },
  [TRACE_OP_ALLGATHER] = { .choose = mpich_allgather },
  [TRACE_OP_ALLGATHERV] = { .choose = mpich_allgather },
  [TRACE_OP_ALLTOALL] = { .choose = mpich_alltoall },
  [TRACE_OP_ALLTOALLV] = { .only = &sim_alltoall_scattered },
  [TRACE_OP_REDUCE] = { .choose = mpich_reduce },
  [TRACE_OP_ALLREDUCE] = { .choose = mpich_allreduce },
  [TRACE_OP_REDUCE_SCATTER] = { .choose = mpich_reduce_scatter },
  [TRACE_OP_SCAN] = { .only = &sim_scan_doubling },
  [TRACE_OP_EXSCAN] = { .only = &sim_scan_doubling },
  [TRACE_OP_NEIGHBOR_ALLGATHER] = { .only = &sim_neighbor_exchange },
  [TRACE_OP_NEIGHBOR_ALLTOALL] = { .only = &sim_neighbor_exchange },
};

/* --- Blue Gene/Q ---
 *
 * Thresholds are those of MPICH 3.1, on which Blue Gene/Q's MPI is built;
 * collective.c has the collectives that its network does in hardware or by
 * many-to-many messages. */

/* Reductions up to this send the whole vector in each step. */
#define SHORT_REDUCTION_BYTES 2048u

static SimChoice
bgq_reduce (const SimCollective *collective)
{
  return sim_choose (collective->bytes <= SHORT_REDUCTION_BYTES ? &sim_reduce_binomial
                                                                : &sim_reduce_scatter_gather);
}

static SimChoice
bgq_allreduce (const SimCollective *collective)
{
  return sim_choose (collective->bytes <= SHORT_REDUCTION_BYTES ? &sim_allreduce_doubling
                                                                : &sim_allreduce_scatter_allgather);
}

static const Rule rules_bgq[TRACE_N_OPS] = {
  [TRACE_OP_BARRIER] = { .only = &sim_barrier_dissemination },
  /* PAMI's 2-nomial tree for communicators that are no rectangle, at any size. */
  [TRACE_OP_BCAST] = { .only = &sim_bcast_binomial },
  [TRACE_OP_GATHER] = { .only = &sim_gather_binomial },
  [TRACE_OP_GATHERV] = { .only = &sim_gatherv_linear },
  [TRACE_OP_SCATTER] = { .only = &sim_scatter_binomial },
  [TRACE_OP_SCATTERV] = { .only = &sim_scatterv_linear },
  [TRACE_OP_ALLGATHER] = { .choose = mpich_allgather },
  [TRACE_OP_ALLGATHERV] = { .choose = mpich_allgather },
  [TRACE_OP_ALLTOALL] = { .choose = mpich_alltoall },
  [TRACE_OP_ALLTOALLV] = { .only = &sim_alltoall_scattered },
  [TRACE_OP_REDUCE] = { .choose = bgq_reduce },
  [TRACE_OP_ALLREDUCE] = { .choose = bgq_allreduce },
  [TRACE_OP_REDUCE_SCATTER] = { .choose = mpich_reduce_scatter },
  [TRACE_OP_SCAN] = { .only = &sim_scan_doubling },
  [TRACE_OP_EXSCAN] = { .only = &sim_scan_doubling },
  [TRACE_OP_NEIGHBOR_ALLGATHER] = { .only = &sim_neighbor_exchange },
  [TRACE_OP_NEIGHBOR_ALLTOALL] = { .only = &sim_neighbor_exchange },
};

/* --- Open MPI 1.3.2 ---
 *
 * Source: ompi/mca/coll/tuned/coll_tuned_decision_fixed.c; gatherv, scatterv
 * and prefixes are coll/basic's, as coll/tuned leaves them to it.  Reductions
 * are taken to commute. */

/* One of the lines that divide the plane of bytes and ranks. */
static double
line (const SimCollective *collective, uint64_t bytes, double per_byte, double at_zero)
{
  return (double) collective->n_ranks - (per_byte * (double) bytes + at_zero);
}

static SimChoice
ompi13_barrier (const SimCollective *collective)
{
  return sim_choose (sim_is_power_of_two (collective->n_ranks) ? &sim_barrier_doubling
                                                               : &sim_barrier_dissemination);
}

static SimChoice
ompi13_choose_bcast (const SimCollective *collective, uint64_t bytes)
{
  if (bytes < 2048)
    return sim_choose (&sim_bcast_tree_binomial);
  if (bytes < 370728)
    return sim_choose_segmented (&sim_bcast_split_binary, KIB);
  if (line (collective, bytes, 1.6134e-6, 2.1102) < 0)
    return sim_choose_segmented (&sim_bcast_pipeline, 128 * KIB);
  if (collective->n_ranks < 13)
    return sim_choose_segmented (&sim_bcast_split_binary, 8 * KIB);
  if (line (collective, bytes, 2.3679e-6, 1.1787) < 0)
    return sim_choose_segmented (&sim_bcast_pipeline, 64 * KIB);
  if (line (collective, bytes, 3.2118e-6, 8.7936) < 0)
    return sim_choose_segmented (&sim_bcast_pipeline, 16 * KIB);
  return sim_choose_segmented (&sim_bcast_pipeline, 8 * KIB);
}

static SimChoice
ompi13_bcast (const SimCollective *collective)
{
  return ompi13_choose_bcast (collective, collective->bytes);
}

/* The third line's pipeline is named binary in the source's comment. */
static SimChoice
ompi13_choose_reduce (const SimCollective *collective, uint64_t bytes)
{
  if (collective->n_ranks < 8 && bytes < 512)
    return sim_choose (&sim_reduce_linear);
  if ((collective->n_ranks < 8 && bytes < 20480) || bytes < 2048)
    return sim_choose (&sim_reduce_tree_binomial);
  if (line (collective, bytes, 0.6016 / 1024, 1.3496) > 0)
    return sim_choose_segmented (&sim_reduce_tree_binomial, KIB);
  if (line (collective, bytes, 0.0410 / 1024, 9.7128) > 0)
    return sim_choose_segmented (&sim_reduce_pipeline, KIB);
  if (line (collective, bytes, 0.0422 / 1024, 1.1614) > 0 ||
      line (collective, bytes, 0.0033 / 1024, 1.6761) > 0)
    return sim_choose_segmented (&sim_reduce_pipeline, 32 * KIB);
  return sim_choose_segmented (&sim_reduce_pipeline, 64 * KIB);
}

static SimChoice
ompi13_reduce (const SimCollective *collective)
{
  return ompi13_choose_reduce (collective, collective->bytes);
}

static SimChoice
ompi13_allreduce (const SimCollective *collective)
{
  uint64_t segment_bytes = UINT64_C (1) << 20;

  if (collective->bytes < 10000)
    return sim_choose (&sim_allreduce_doubling);
  if (n_elements (collective->bytes) <= collective->n_ranks)
    return sim_choose_two (ompi13_reduce (collective), ompi13_bcast (collective));
  if (collective->bytes > segment_bytes * collective->n_ranks)
    return sim_choose_segmented (&sim_allreduce_ring, segment_bytes);
  return sim_choose (&sim_allreduce_ring);
}

/* Without counts it is a reduction and a scatterv. */
static SimChoice
ompi13_reduce_scatter (const SimCollective *collective)
{
  uint64_t bytes = total_bytes (collective);
  uint32_t n = collective->n_ranks;

  for (uint32_t rank = 0; rank < n; rank++)
    if (sim_count_of (collective->recv_counts, rank) == 0)
      return sim_choose_two (ompi13_choose_reduce (collective, bytes),
                             sim_choose (&sim_scatterv_in_turn));
  if (bytes <= 12 * KIB || (bytes <= 256 * KIB && sim_is_power_of_two (n)) ||
      line (collective, bytes, 0.0012, 8) >= 0)
    return sim_choose (&sim_reduce_scatter_halving);
  return sim_choose (&sim_reduce_scatter_ring);
}

static SimChoice
ompi13_choose_allgather (const SimCollective *collective, const SimAlgorithm *powers_of_two)
{
  if (collective->n_ranks == 2)
    return sim_choose (&sim_allgather_ring);
  if (total_bytes (collective) < 50000)
    return sim_choose (sim_is_power_of_two (collective->n_ranks) ? powers_of_two
                                                                 : &sim_allgather_bruck);
  return sim_choose (collective->n_ranks % 2 == 1 ? &sim_allgather_ring : &sim_allgather_neighbor);
}

static SimChoice
ompi13_allgather (const SimCollective *collective)
{
  return ompi13_choose_allgather (collective, &sim_allgather_doubling);
}

static SimChoice
ompi13_allgatherv (const SimCollective *collective)
{
  return ompi13_choose_allgather (collective, &sim_allgather_bruck);
}

static SimChoice
ompi13_alltoall (const SimCollective *collective)
{
  if (collective->n_ranks == 2)
    return sim_choose (&sim_alltoall_pairwise_ring);
  if (collective->bytes < 200 && collective->n_ranks > 12)
    return sim_choose (&sim_alltoall_bruck);
  return sim_choose (collective->bytes < 3000 ? &sim_alltoall_linear : &sim_alltoall_pairwise_ring);
}

static SimChoice
ompi13_gather (const SimCollective *collective)
{
  uint64_t bytes = block_bytes (collective);

  if (bytes > 92160)
    return sim_choose_segmented (&sim_gather_linear_sync, 32 * KIB);
  if (bytes > 6000)
    return sim_choose_segmented (&sim_gather_linear_sync, KIB);
  if (collective->n_ranks > 60 || (collective->n_ranks > 10 && bytes < 1024))
    return sim_choose (&sim_gather_binomial);
  return sim_choose (&sim_gather_linear);
}

static SimChoice
ompi13_scatter (const SimCollective *collective)
{
  if (collective->n_ranks > 10 && block_bytes (collective) < 300)
    return sim_choose (&sim_scatter_binomial);
  return sim_choose (&sim_scatter_linear);
}

static const Rule rules_ompi13[TRACE_N_OPS] = {
  [TRACE_OP_BARRIER] = { .choose = ompi13_barrier },
  [TRACE_OP_BCAST] = { .choose = ompi13_bcast },
  [TRACE_OP_GATHER] = { .choose = ompi13_gather },
  [TRACE_OP_GATHERV] = { .only = &sim_gatherv_in_turn },
  [TRACE_OP_SCATTER] = { .choose = ompi13_scatter },
  [TRACE_OP_SCATTERV] = { .only = &sim_scatterv_in_turn },
  [TRACE_OP_ALLGATHER] = { .choose = ompi13_allgather },
  [TRACE_OP_ALLGATHERV] = { .choose = ompi13_allgatherv },
  [TRACE_OP_ALLTOALL] = { .choose = ompi13_alltoall },
  [TRACE_OP_ALLTOALLV] = { .only = &sim_alltoallv_linear_nonzero },
  [TRACE_OP_REDUCE] = { .choose = ompi13_reduce },
  [TRACE_OP_ALLREDUCE] = { .choose = ompi13_allreduce },
  [TRACE_OP_REDUCE_SCATTER] = { .choose = ompi13_reduce_scatter },
  [TRACE_OP_SCAN] = { .only = &sim_scan_linear },
  [TRACE_OP_EXSCAN] = { .only = &sim_scan_linear },
  [TRACE_OP_NEIGHBOR_ALLGATHER] = { .only = &sim_neighbor_exchange },
  [TRACE_OP_NEIGHBOR_ALLTOALL] = { .only = &sim_neighbor_exchange },
};

/* --- Open MPI 4.1 ---
 *
 * Source: ompi/mca/coll/tuned/coll_tuned_decision_fixed.c of Open MPI 4.1
 * (read in 4.1.4), whose algorithms' numbers stand here too: coll_tuned_*_
 * decision.c.  Reductions are taken to commute.  The rules of 4.1 ask for no
 * segments anywhere, so its chain is its pipeline, and its segmented ring its
 * ring; its linear_sync is linear, because requests have no limit by default;
 * and two_proc is pairwise for two.  gatherv, scatterv and prefixes are
 * coll/basic's. */

/* The first row applies that has more ranks and more bytes than the call; 0:
 * any number. */
typedef struct {
  uint16_t below_ranks;
  uint32_t below_bytes;
  uint8_t algorithm;
} Row;

static uint32_t
look_up (const Row *rows, uint32_t n_ranks, uint64_t bytes)
{
  while ((rows->below_ranks != 0 && n_ranks >= rows->below_ranks) ||
         (rows->below_bytes != 0 && bytes >= rows->below_bytes))
    rows++;
  return rows->algorithm;
}

static const Row barrier_rows[] = {
  { 4, 0, 3 },   { 8, 0, 1 },    { 64, 0, 3 },   { 256, 0, 4 },
  { 512, 0, 6 }, { 1024, 0, 4 }, { 4096, 0, 6 }, { 0, 0, 4 },
};

static SimChoice
ompi41_barrier (const SimCollective *collective)
{
  static const SimAlgorithm *const algorithms[] = {
    [1] = &sim_barrier_linear,
    [3] = &sim_barrier_doubling,
    [4] = &sim_barrier_dissemination,
    [6] = &sim_barrier_tree,
  };

  return sim_choose (algorithms[look_up (barrier_rows, collective->n_ranks, 0)]);
}

static const Row bcast_rows[] = {
  { 4, 32, 3 },      { 4, 256, 5 },       { 4, 512, 3 },    { 4, 1024, 7 },      { 4, 32768, 1 },
  { 4, 131072, 5 },  { 4, 262144, 2 },    { 4, 524288, 1 }, { 4, 1048576, 6 },   { 4, 0, 5 },
  { 8, 64, 5 },      { 8, 128, 6 },       { 8, 2048, 5 },   { 8, 8192, 6 },      { 8, 1048576, 1 },
  { 8, 0, 2 },       { 16, 8, 7 },        { 16, 64, 5 },    { 16, 4096, 7 },     { 16, 16384, 5 },
  { 16, 32768, 6 },  { 16, 0, 1 },        { 32, 4096, 7 },  { 32, 1048576, 6 },  { 32, 0, 8 },
  { 64, 2048, 6 },   { 64, 0, 7 },        { 128, 0, 7 },    { 256, 2, 6 },       { 256, 16384, 5 },
  { 256, 32768, 1 }, { 256, 65536, 5 },   { 256, 0, 7 },    { 1024, 16384, 7 },  { 1024, 32768, 4 },
  { 1024, 0, 7 },    { 2048, 524288, 7 }, { 2048, 0, 8 },   { 4096, 262144, 7 }, { 4096, 0, 8 },
  { 0, 8192, 7 },    { 0, 16384, 5 },     { 0, 262144, 7 }, { 0, 0, 8 },
};

static SimChoice
ompi41_choose_bcast (const SimCollective *collective, uint64_t bytes)
{
  static const SimAlgorithm *const algorithms[] = {
    [1] = &sim_bcast_linear,           [2] = &sim_bcast_pipeline,
    [3] = &sim_bcast_pipeline,         [4] = &sim_bcast_split_binary,
    [5] = &sim_bcast_tree_binary,      [6] = &sim_bcast_tree_binomial,
    [7] = &sim_bcast_tree_four_nomial, [8] = &sim_bcast_scatter_doubling,
  };
  uint32_t algorithm = look_up (bcast_rows, collective->n_ranks, bytes);

  if (algorithm == 8 && n_elements (bytes) < collective->n_ranks)
    algorithm = 1;
  return sim_choose (algorithms[algorithm]);
}

static SimChoice
ompi41_bcast (const SimCollective *collective)
{
  return ompi41_choose_bcast (collective, collective->bytes);
}

static const Row reduce_rows[] = {
  { 4, 8, 7 },        { 4, 16, 4 },      { 4, 32, 3 },     { 4, 262144, 1 },  { 4, 524288, 3 },
  { 4, 1048576, 2 },  { 4, 0, 3 },       { 8, 4096, 4 },   { 8, 65536, 2 },   { 8, 262144, 5 },
  { 8, 524288, 1 },   { 8, 1048576, 5 }, { 8, 0, 1 },      { 16, 8192, 4 },   { 16, 0, 5 },
  { 32, 4096, 4 },    { 32, 0, 5 },      { 256, 0, 5 },    { 512, 8192, 5 },  { 512, 16384, 6 },
  { 512, 0, 5 },      { 2048, 0, 5 },    { 4096, 512, 5 }, { 4096, 1024, 6 }, { 4096, 8192, 5 },
  { 4096, 16384, 6 }, { 4096, 0, 5 },    { 0, 16, 5 },     { 0, 32, 6 },      { 0, 1024, 5 },
  { 0, 2048, 6 },     { 0, 8192, 5 },    { 0, 16384, 6 },  { 0, 0, 5 },
};

/* Rabenseifner's, 7, is only for vectors of one element, which it leaves to
 * the linear one. */
static SimChoice
ompi41_choose_reduce (const SimCollective *collective, uint64_t bytes)
{
  static const SimAlgorithm *const algorithms[] = {
    [1] = &sim_reduce_linear,      [2] = &sim_reduce_pipeline,      [3] = &sim_reduce_pipeline,
    [4] = &sim_reduce_tree_binary, [5] = &sim_reduce_tree_binomial, [6] = &sim_reduce_tree_in_order,
    [7] = &sim_reduce_linear,
  };

  return sim_choose (algorithms[look_up (reduce_rows, collective->n_ranks, bytes)]);
}

static SimChoice
ompi41_reduce (const SimCollective *collective)
{
  return ompi41_choose_reduce (collective, collective->bytes);
}

static const Row allreduce_rows[] = {
  { 4, 8, 4 },        { 4, 4096, 3 }, { 4, 8192, 4 },     { 4, 16384, 3 },   { 4, 65536, 4 },
  { 4, 262144, 5 },   { 4, 0, 6 },    { 8, 16, 4 },       { 8, 8192, 3 },    { 8, 0, 6 },
  { 16, 8192, 3 },    { 16, 0, 6 },   { 32, 64, 5 },      { 32, 4096, 3 },   { 32, 0, 6 },
  { 64, 128, 5 },     { 64, 0, 6 },   { 128, 262144, 3 }, { 128, 0, 6 },     { 256, 131072, 2 },
  { 256, 262144, 3 }, { 256, 0, 6 },  { 512, 4096, 2 },   { 512, 0, 6 },     { 2048, 2048, 2 },
  { 2048, 16384, 3 }, { 2048, 0, 6 }, { 4096, 2048, 2 },  { 4096, 4096, 5 }, { 4096, 16384, 3 },
  { 4096, 0, 6 },     { 0, 2048, 2 }, { 0, 16384, 5 },    { 0, 32768, 3 },   { 0, 0, 6 },
};

/* The ring wants an element for every rank, Rabenseifner's one for every core. */
static SimChoice
ompi41_allreduce (const SimCollective *collective)
{
  uint64_t elements = n_elements (collective->bytes);

  switch (look_up (allreduce_rows, collective->n_ranks, collective->bytes)) {
  case 2: return sim_choose_two (ompi41_reduce (collective), ompi41_bcast (collective));
  case 3: return sim_choose (&sim_allreduce_doubling);
  case 6:
    if (elements >= 1u << sim_floor_log2 (collective->n_ranks))
      return sim_choose (&sim_allreduce_halves);
    return sim_choose_two (sim_choose (&sim_reduce_linear), sim_choose (&sim_bcast_linear));
  default:
    return sim_choose (elements >= collective->n_ranks ? &sim_allreduce_ring
                                                       : &sim_allreduce_doubling);
  }
}

static const Row reduce_scatter_rows[] = {
  { 4, 65536, 3 },    { 4, 131072, 4 },   { 4, 0, 3 },     { 8, 8, 1 },      { 8, 262144, 2 },
  { 8, 0, 3 },        { 32, 262144, 2 },  { 32, 0, 3 },    { 64, 64, 1 },    { 64, 2048, 2 },
  { 64, 524288, 4 },  { 64, 0, 3 },       { 128, 256, 1 }, { 128, 512, 2 },  { 128, 2048, 4 },
  { 128, 4096, 2 },   { 128, 0, 4 },      { 256, 256, 1 }, { 256, 512, 2 },  { 256, 0, 4 },
  { 512, 256, 1 },    { 512, 1024, 2 },   { 512, 0, 4 },   { 1024, 512, 1 }, { 1024, 2048, 2 },
  { 1024, 8192, 4 },  { 1024, 16384, 2 }, { 1024, 0, 4 },  { 2048, 512, 1 }, { 2048, 4096, 2 },
  { 2048, 16384, 4 }, { 2048, 32768, 2 }, { 2048, 0, 4 },  { 4096, 512, 1 }, { 4096, 4096, 2 },
  { 4096, 0, 4 },     { 0, 1024, 1 },     { 0, 8192, 2 },  { 0, 0, 4 },
};

static SimChoice
ompi41_reduce_scatter (const SimCollective *collective)
{
  static const SimAlgorithm *const algorithms[] = {
    [2] = &sim_reduce_scatter_halving,
    [3] = &sim_reduce_scatter_ring,
    [4] = &sim_reduce_scatter_butterfly,
  };
  uint64_t bytes = total_bytes (collective);
  uint32_t algorithm = look_up (reduce_scatter_rows, collective->n_ranks, bytes);

  if (algorithm == 1)
    return sim_choose_two (ompi41_choose_reduce (collective, bytes),
                           sim_choose (&sim_scatterv_in_turn));
  return sim_choose (algorithms[algorithm]);
}

/* Recursive doubling is for powers of two, and neighbours for even numbers. */
static const SimAlgorithm *
doubling_or_bruck (const SimCollective *collective)
{
  return sim_is_power_of_two (collective->n_ranks) ? &sim_allgather_doubling : &sim_allgather_bruck;
}

static const SimAlgorithm *
neighbor_or_ring (const SimCollective *collective)
{
  return collective->n_ranks % 2 == 0 ? &sim_allgather_neighbor : &sim_allgather_ring;
}

static const Row allgather_rows[] = {
  { 3, 0, 6 },        { 32, 0, 3 },       { 64, 1024, 3 },     { 64, 65536, 5 },
  { 64, 0, 4 },       { 128, 512, 3 },    { 128, 65536, 5 },   { 128, 0, 4 },
  { 256, 512, 3 },    { 256, 131072, 5 }, { 256, 524288, 4 },  { 256, 1048576, 5 },
  { 256, 0, 4 },      { 512, 32, 3 },     { 512, 128, 2 },     { 512, 1024, 3 },
  { 512, 131072, 5 }, { 512, 524288, 4 }, { 512, 1048576, 5 }, { 512, 0, 4 },
  { 1024, 64, 3 },    { 1024, 256, 2 },   { 1024, 2048, 3 },   { 1024, 0, 5 },
  { 2048, 4, 3 },     { 2048, 8, 2 },     { 2048, 16, 3 },     { 2048, 32, 2 },
  { 2048, 256, 3 },   { 2048, 512, 2 },   { 2048, 4096, 3 },   { 2048, 0, 5 },
  { 4096, 32, 2 },    { 4096, 128, 3 },   { 4096, 512, 2 },    { 4096, 4096, 3 },
  { 4096, 0, 5 },     { 0, 2, 3 },        { 0, 8, 2 },         { 0, 16, 3 },
  { 0, 512, 2 },      { 0, 4096, 3 },     { 0, 0, 5 },
};

static SimChoice
ompi41_allgather (const SimCollective *collective)
{
  switch (look_up (allgather_rows, collective->n_ranks, collective->bytes)) {
  case 2: return sim_choose (&sim_allgather_bruck);
  case 3: return sim_choose (doubling_or_bruck (collective));
  case 5: return sim_choose (neighbor_or_ring (collective));
  default: return sim_choose (&sim_allgather_ring);
  }
}

static const Row allgatherv_rows[] = {
  { 3, 2048, 3 },  { 3, 4096, 5 },   { 3, 8192, 3 },    { 3, 0, 5 },       { 8, 256, 1 },
  { 8, 4096, 4 },  { 8, 8192, 3 },   { 8, 16384, 4 },   { 8, 262144, 2 },  { 8, 0, 4 },
  { 16, 1024, 1 }, { 16, 0, 2 },     { 32, 128, 1 },    { 32, 262144, 2 }, { 32, 0, 3 },
  { 64, 256, 1 },  { 64, 8192, 2 },  { 64, 0, 3 },      { 128, 256, 1 },   { 128, 4096, 2 },
  { 128, 0, 3 },   { 256, 1024, 2 }, { 256, 65536, 4 }, { 256, 0, 3 },     { 512, 1024, 2 },
  { 512, 0, 3 },   { 1024, 512, 2 }, { 1024, 1024, 1 }, { 1024, 4096, 2 }, { 1024, 1048576, 4 },
  { 1024, 0, 3 },  { 0, 4096, 2 },   { 0, 0, 4 },
};

static SimChoice
ompi41_allgatherv (const SimCollective *collective)
{
  uint64_t bytes = total_bytes (collective);

  switch (look_up (allgatherv_rows, collective->n_ranks, bytes / collective->n_ranks)) {
  case 1:
    return sim_choose_two (sim_choose (&sim_gatherv_in_turn),
                           ompi41_choose_bcast (collective, bytes));
  case 2: return sim_choose (&sim_allgather_bruck);
  case 4: return sim_choose (neighbor_or_ring (collective));
  default: return sim_choose (&sim_allgather_ring);
  }
}

static const Row alltoall_rows[] = {
  { 3, 2, 2 },         { 3, 4, 5 },         { 3, 16, 2 },       { 3, 64, 5 },
  { 3, 256, 2 },       { 3, 4096, 5 },      { 3, 32768, 2 },    { 3, 262144, 4 },
  { 3, 1048576, 5 },   { 3, 0, 2 },         { 8, 8192, 4 },     { 8, 16384, 1 },
  { 8, 65536, 4 },     { 8, 524288, 1 },    { 8, 1048576, 2 },  { 8, 0, 1 },
  { 16, 262144, 4 },   { 16, 0, 1 },        { 32, 4, 4 },       { 32, 512, 3 },
  { 32, 8192, 4 },     { 32, 32768, 1 },    { 32, 262144, 4 },  { 32, 524288, 1 },
  { 32, 0, 4 },        { 64, 512, 3 },      { 64, 524288, 1 },  { 64, 0, 4 },
  { 128, 1024, 3 },    { 128, 2048, 1 },    { 128, 4096, 4 },   { 128, 262144, 1 },
  { 128, 0, 2 },       { 256, 1024, 3 },    { 256, 2048, 4 },   { 256, 262144, 1 },
  { 256, 0, 2 },       { 512, 1024, 3 },    { 512, 8192, 4 },   { 512, 32768, 1 },
  { 512, 0, 2 },       { 1024, 512, 3 },    { 1024, 8192, 4 },  { 1024, 16384, 1 },
  { 1024, 131072, 4 }, { 1024, 262144, 1 }, { 1024, 0, 2 },     { 2048, 512, 3 },
  { 2048, 1024, 4 },   { 2048, 2048, 1 },   { 2048, 16384, 4 }, { 2048, 262144, 1 },
  { 2048, 0, 4 },      { 4096, 1024, 3 },   { 4096, 4096, 4 },  { 4096, 8192, 1 },
  { 4096, 131072, 4 }, { 4096, 0, 1 },      { 0, 2048, 3 },     { 0, 8192, 4 },
  { 0, 16384, 1 },     { 0, 32768, 4 },     { 0, 65536, 1 },    { 0, 0, 4 },
};

static SimChoice
ompi41_alltoall (const SimCollective *collective)
{
  static const SimAlgorithm *const algorithms[] = {
    [1] = &sim_alltoall_linear, [2] = &sim_alltoall_pairwise_ring, [3] = &sim_alltoall_bruck,
    [4] = &sim_alltoall_linear, [5] = &sim_alltoall_pairwise_ring,
  };

  return sim_choose (algorithms[look_up (alltoall_rows, collective->n_ranks, collective->bytes)]);
}

static const Row alltoallv_rows[] = {
  { 4, 0, 2 }, { 64, 0, 1 }, { 128, 0, 2 }, { 256, 0, 1 }, { 1024, 0, 2 }, { 0, 0, 1 },
};

static SimChoice
ompi41_alltoallv (const SimCollective *collective)
{
  return sim_choose (look_up (alltoallv_rows, collective->n_ranks, 0) == 1
                         ? &sim_alltoallv_linear
                         : &sim_alltoall_pairwise_ring);
}

static const Row gather_rows[] = {
  { 4, 2, 3 },      { 4, 4, 1 },      { 4, 32768, 2 }, { 4, 65536, 1 },
  { 4, 131072, 2 }, { 4, 0, 3 },      { 8, 1024, 2 },  { 8, 8192, 1 },
  { 8, 32768, 2 },  { 8, 262144, 1 }, { 8, 0, 3 },     { 256, 0, 2 },
  { 512, 2048, 2 }, { 512, 8192, 1 }, { 512, 0, 2 },   { 0, 0, 2 },
};

static SimChoice
ompi41_gather (const SimCollective *collective)
{
  static const SimAlgorithm *const algorithms[] = {
    [1] = &sim_gather_linear,
    [2] = &sim_gather_binomial,
    [3] = &sim_gather_linear_sync,
  };

  return sim_choose (
      algorithms[look_up (gather_rows, collective->n_ranks, block_bytes (collective))]);
}

static const Row scatter_rows[] = {
  { 4, 2, 3 },      { 4, 131072, 1 },   { 4, 262144, 3 }, { 4, 0, 1 },       { 8, 2048, 2 },
  { 8, 4096, 1 },   { 8, 8192, 2 },     { 8, 32768, 1 },  { 8, 1048576, 3 }, { 8, 0, 1 },
  { 16, 16384, 2 }, { 16, 1048576, 3 }, { 16, 0, 1 },     { 32, 16384, 2 },  { 32, 32768, 1 },
  { 32, 0, 3 },     { 64, 512, 2 },     { 64, 8192, 3 },  { 64, 16384, 2 },  { 64, 0, 3 },
  { 0, 512, 2 },    { 0, 0, 3 },
};

static SimChoice
ompi41_scatter (const SimCollective *collective)
{
  static const SimAlgorithm *const algorithms[] = {
    [1] = &sim_scatter_linear,
    [2] = &sim_scatter_binomial,
    [3] = &sim_scatter_linear_at_once,
  };

  return sim_choose (
      algorithms[look_up (scatter_rows, collective->n_ranks, block_bytes (collective))]);
}

static const Rule rules_ompi41[TRACE_N_OPS] = {
  [TRACE_OP_BARRIER] = { .choose = ompi41_barrier },
  [TRACE_OP_BCAST] = { .choose = ompi41_bcast },
  [TRACE_OP_GATHER] = { .choose = ompi41_gather },
  [TRACE_OP_GATHERV] = { .only = &sim_gatherv_in_turn },
  [TRACE_OP_SCATTER] = { .choose = ompi41_scatter },
  [TRACE_OP_SCATTERV] = { .only = &sim_scatterv_in_turn },
  [TRACE_OP_ALLGATHER] = { .choose = ompi41_allgather },
  [TRACE_OP_ALLGATHERV] = { .choose = ompi41_allgatherv },
  [TRACE_OP_ALLTOALL] = { .choose = ompi41_alltoall },
  [TRACE_OP_ALLTOALLV] = { .choose = ompi41_alltoallv },
  [TRACE_OP_REDUCE] = { .choose = ompi41_reduce },
  [TRACE_OP_ALLREDUCE] = { .choose = ompi41_allreduce },
  [TRACE_OP_REDUCE_SCATTER] = { .choose = ompi41_reduce_scatter },
  [TRACE_OP_SCAN] = { .only = &sim_scan_linear },
  [TRACE_OP_EXSCAN] = { .only = &sim_scan_linear },
  [TRACE_OP_NEIGHBOR_ALLGATHER] = { .only = &sim_neighbor_exchange },
  [TRACE_OP_NEIGHBOR_ALLTOALL] = { .only = &sim_neighbor_exchange },
};

/* --- All of them --- */

SimChoice
sim_choose_algorithm (const SimCollective *collective, TopoCollectives rules)
{
  static const Rule *const sets[] = {
    [TOPO_COLLECTIVES_BGQ] = rules_bgq,
    [TOPO_COLLECTIVES_OMPI13] = rules_ompi13,
    [TOPO_COLLECTIVES_OMPI41] = rules_ompi41,
    [TOPO_COLLECTIVES_MPICH] = rules_mpich,
  };
  const Rule *rule = &sets[rules][collective->kind];

  return rule->only != NULL ? sim_choose (rule->only) : rule->choose (collective);
}
