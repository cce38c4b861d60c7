/* collective_rules.c - the choice of an algorithm by the rules of an MPI library.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A rule sees a call of two ranks or more.  It may look only at properties that
 * all ranks of the communicator share: see sim_collective_init(). */
#include "sim/collective/collective_steps.h"

#include <glib.h>

#define KIB 1024u

/* A root that has one of its two sizes only takes that. */
uint64_t
sim_block_bytes (const SimCollective *collective)
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

/* --- MPICH and Blue Gene/Q ---
 *
 * Source: the selection table that is built into MPICH 4.0.2,
 * src/mpi/coll/src/csel_json_autogen.c, for communicators without known shared
 * nodes: the two-level ("smp") algorithms of MPICH 4.0 are not here.
 *
 * Blue Gene/Q's MPI is built on MPICH 3.1, which has other rules for reductions;
 * collective.c has the collectives that its network does in hardware or by
 * many-to-many messages. */

/* Reductions up to this send the whole vector in each step. */
#define SHORT_REDUCTION_BYTES 2048u

static SimChoice
choose_mpich (const SimCollective *collective, bool bgq)
{
  uint64_t bytes = collective->bytes, all_bytes = total_bytes (collective);
  bool power_of_two = sim_is_power_of_two (collective->n_ranks);
  /* Vectors of fewer elements than ranks take part in the halving are not cut. */
  bool cut = n_elements (bytes) >= 1u << sim_floor_log2 (collective->n_ranks);

  switch ((int) collective->kind) {
  case TRACE_OP_BARRIER: return sim_choose (&sim_barrier_dissemination);
  case TRACE_OP_BCAST:
    /* PAMI's 2-nomial tree for communicators that are no rectangle, at any size. */
    if (bgq || collective->n_ranks < 8 || bytes <= 12288)
      return sim_choose (&sim_bcast_binomial);
    return sim_choose (power_of_two && bytes <= 512 * KIB ? &sim_bcast_scatter_doubling
                                                          : &sim_bcast_scatter_ring);
  case TRACE_OP_GATHER: return sim_choose (&sim_gather_binomial);
  case TRACE_OP_GATHERV: return sim_choose (&sim_gatherv_linear);
  case TRACE_OP_SCATTER: return sim_choose (&sim_scatter_binomial);
  case TRACE_OP_SCATTERV: return sim_choose (&sim_scatterv_linear);
  case TRACE_OP_ALLGATHER:
  case TRACE_OP_ALLGATHERV:
    /* Few, growing messages below a total, the ring above. */
    if (power_of_two && all_bytes < 512 * KIB)
      return sim_choose (&sim_allgather_doubling);
    return sim_choose (all_bytes < 80 * KIB ? &sim_allgather_bruck : &sim_allgather_ring);
  case TRACE_OP_ALLTOALL:
    if (bytes <= 256 && collective->n_ranks >= 8)
      return sim_choose (&sim_alltoall_bruck);
    return sim_choose (bytes <= 32 * KIB ? &sim_alltoall_scattered : &sim_alltoall_pairwise);
  case TRACE_OP_ALLTOALLV: return sim_choose (&sim_alltoall_scattered);
  case TRACE_OP_REDUCE:
    return sim_choose (bytes > SHORT_REDUCTION_BYTES && (bgq || cut) ? &sim_reduce_scatter_gather
                                                                     : &sim_reduce_binomial);
  case TRACE_OP_ALLREDUCE:
    return sim_choose ((bgq ? bytes > SHORT_REDUCTION_BYTES : bytes > 8 && cut)
                           ? &sim_allreduce_scatter_allgather
                           : &sim_allreduce_doubling);
  case TRACE_OP_REDUCE_SCATTER:
    return sim_choose (all_bytes < 512 * KIB ? &sim_reduce_scatter_halving
                                             : &sim_reduce_scatter_pairwise);
  case TRACE_OP_SCAN:
  case TRACE_OP_EXSCAN: return sim_choose (&sim_scan_doubling);
  default: return sim_choose (&sim_neighbor_exchange);
  }
}

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
ompi13_bcast (const SimCollective *collective, uint64_t bytes)
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

/* The third line's pipeline is named binary in the source's comment. */
static SimChoice
ompi13_reduce (const SimCollective *collective, uint64_t bytes)
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
choose_ompi13 (const SimCollective *collective)
{
  const uint64_t ring_segment_bytes = UINT64_C (1) << 20;
  uint64_t bytes = collective->bytes, all_bytes = total_bytes (collective);
  uint32_t n = collective->n_ranks;
  bool power_of_two = sim_is_power_of_two (n);

  switch ((int) collective->kind) {
  case TRACE_OP_BARRIER:
    return sim_choose (power_of_two ? &sim_barrier_doubling : &sim_barrier_dissemination);
  case TRACE_OP_BCAST: return ompi13_bcast (collective, bytes);
  case TRACE_OP_GATHER:
    bytes = sim_block_bytes (collective);
    if (bytes > 6000)
      return sim_choose_segmented (&sim_gather_linear_sync, bytes > 92160 ? 32 * KIB : KIB);
    return sim_choose (n > 60 || (n > 10 && bytes < 1024) ? &sim_gather_binomial
                                                          : &sim_gather_linear);
  case TRACE_OP_GATHERV: return sim_choose (&sim_gatherv_in_turn);
  case TRACE_OP_SCATTER:
    return sim_choose (n > 10 && sim_block_bytes (collective) < 300 ? &sim_scatter_binomial
                                                                    : &sim_scatter_linear);
  case TRACE_OP_SCATTERV: return sim_choose (&sim_scatterv_in_turn);
  case TRACE_OP_ALLGATHER:
  case TRACE_OP_ALLGATHERV:
    if (n == 2)
      return sim_choose (&sim_allgather_ring);
    if (all_bytes < 50000)
      return sim_choose (power_of_two && collective->kind == TRACE_OP_ALLGATHER
                             ? &sim_allgather_doubling
                             : &sim_allgather_bruck);
    return sim_choose (n % 2 == 1 ? &sim_allgather_ring : &sim_allgather_neighbor);
  case TRACE_OP_ALLTOALL:
    if (n > 12 && bytes < 200)
      return sim_choose (&sim_alltoall_bruck);
    return sim_choose (n > 2 && bytes < 3000 ? &sim_alltoall_linear : &sim_alltoall_pairwise_ring);
  case TRACE_OP_ALLTOALLV: return sim_choose (&sim_alltoallv_linear_nonzero);
  case TRACE_OP_REDUCE: return ompi13_reduce (collective, bytes);
  case TRACE_OP_ALLREDUCE:
    if (bytes < 10000)
      return sim_choose (&sim_allreduce_doubling);
    if (n_elements (bytes) <= n)
      return sim_choose_two (ompi13_reduce (collective, bytes), ompi13_bcast (collective, bytes));
    return sim_choose_segmented (&sim_allreduce_ring,
                                 bytes > ring_segment_bytes * n ? ring_segment_bytes : 0);
  case TRACE_OP_REDUCE_SCATTER:
    /* With an empty block it is a reduction and a scatterv. */
    for (uint32_t rank = 0; rank < n; rank++)
      if (sim_count_of (collective->recv_counts, rank) == 0)
        return sim_choose_two (ompi13_reduce (collective, all_bytes),
                               sim_choose (&sim_scatterv_in_turn));
    if (all_bytes <= 12 * KIB || (all_bytes <= 256 * KIB && power_of_two) ||
        line (collective, all_bytes, 0.0012, 8) >= 0)
      return sim_choose (&sim_reduce_scatter_halving);
    return sim_choose (&sim_reduce_scatter_ring);
  case TRACE_OP_SCAN:
  case TRACE_OP_EXSCAN: return sim_choose (&sim_scan_linear);
  default: return sim_choose (&sim_neighbor_exchange);
  }
}

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

static const Row barrier_rows[] = {
  { 4, 0, 3 },   { 8, 0, 1 },    { 64, 0, 3 },   { 256, 0, 4 },
  { 512, 0, 6 }, { 1024, 0, 4 }, { 4096, 0, 6 }, { 0, 0, 4 },
};

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

static const Row gather_rows[] = {
  { 4, 2, 3 },      { 4, 4, 1 },      { 4, 32768, 2 }, { 4, 65536, 1 },
  { 4, 131072, 2 }, { 4, 0, 3 },      { 8, 1024, 2 },  { 8, 8192, 1 },
  { 8, 32768, 2 },  { 8, 262144, 1 }, { 8, 0, 3 },     { 256, 0, 2 },
  { 512, 2048, 2 }, { 512, 8192, 1 }, { 512, 0, 2 },   { 0, 0, 2 },
};

static const Row scatter_rows[] = {
  { 4, 2, 3 },      { 4, 131072, 1 },   { 4, 262144, 3 }, { 4, 0, 1 },       { 8, 2048, 2 },
  { 8, 4096, 1 },   { 8, 8192, 2 },     { 8, 32768, 1 },  { 8, 1048576, 3 }, { 8, 0, 1 },
  { 16, 16384, 2 }, { 16, 1048576, 3 }, { 16, 0, 1 },     { 32, 16384, 2 },  { 32, 32768, 1 },
  { 32, 0, 3 },     { 64, 512, 2 },     { 64, 8192, 3 },  { 64, 16384, 2 },  { 64, 0, 3 },
  { 0, 512, 2 },    { 0, 0, 3 },
};

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

static const Row allgatherv_rows[] = {
  { 3, 2048, 3 },  { 3, 4096, 5 },   { 3, 8192, 3 },    { 3, 0, 5 },       { 8, 256, 1 },
  { 8, 4096, 4 },  { 8, 8192, 3 },   { 8, 16384, 4 },   { 8, 262144, 2 },  { 8, 0, 4 },
  { 16, 1024, 1 }, { 16, 0, 2 },     { 32, 128, 1 },    { 32, 262144, 2 }, { 32, 0, 3 },
  { 64, 256, 1 },  { 64, 8192, 2 },  { 64, 0, 3 },      { 128, 256, 1 },   { 128, 4096, 2 },
  { 128, 0, 3 },   { 256, 1024, 2 }, { 256, 65536, 4 }, { 256, 0, 3 },     { 512, 1024, 2 },
  { 512, 0, 3 },   { 1024, 512, 2 }, { 1024, 1024, 1 }, { 1024, 4096, 2 }, { 1024, 1048576, 4 },
  { 1024, 0, 3 },  { 0, 4096, 2 },   { 0, 0, 4 },
};

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

static const Row alltoallv_rows[] = {
  { 4, 0, 2 }, { 64, 0, 1 }, { 128, 0, 2 }, { 256, 0, 1 }, { 1024, 0, 2 }, { 0, 0, 1 },
};

static const Row reduce_rows[] = {
  { 4, 8, 7 },        { 4, 16, 4 },      { 4, 32, 3 },     { 4, 262144, 1 },  { 4, 524288, 3 },
  { 4, 1048576, 2 },  { 4, 0, 3 },       { 8, 4096, 4 },   { 8, 65536, 2 },   { 8, 262144, 5 },
  { 8, 524288, 1 },   { 8, 1048576, 5 }, { 8, 0, 1 },      { 16, 8192, 4 },   { 16, 0, 5 },
  { 32, 4096, 4 },    { 32, 0, 5 },      { 256, 0, 5 },    { 512, 8192, 5 },  { 512, 16384, 6 },
  { 512, 0, 5 },      { 2048, 0, 5 },    { 4096, 512, 5 }, { 4096, 1024, 6 }, { 4096, 8192, 5 },
  { 4096, 16384, 6 }, { 4096, 0, 5 },    { 0, 16, 5 },     { 0, 32, 6 },      { 0, 1024, 5 },
  { 0, 2048, 6 },     { 0, 8192, 5 },    { 0, 16384, 6 },  { 0, 0, 5 },
};

static const Row allreduce_rows[] = {
  { 4, 8, 4 },        { 4, 4096, 3 }, { 4, 8192, 4 },     { 4, 16384, 3 },   { 4, 65536, 4 },
  { 4, 262144, 5 },   { 4, 0, 6 },    { 8, 16, 4 },       { 8, 8192, 3 },    { 8, 0, 6 },
  { 16, 8192, 3 },    { 16, 0, 6 },   { 32, 64, 5 },      { 32, 4096, 3 },   { 32, 0, 6 },
  { 64, 128, 5 },     { 64, 0, 6 },   { 128, 262144, 3 }, { 128, 0, 6 },     { 256, 131072, 2 },
  { 256, 262144, 3 }, { 256, 0, 6 },  { 512, 4096, 2 },   { 512, 0, 6 },     { 2048, 2048, 2 },
  { 2048, 16384, 3 }, { 2048, 0, 6 }, { 4096, 2048, 2 },  { 4096, 4096, 5 }, { 4096, 16384, 3 },
  { 4096, 0, 6 },     { 0, 2048, 2 }, { 0, 16384, 5 },    { 0, 32768, 3 },   { 0, 0, 6 },
};

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

static const struct {
  const Row *rows;
  const SimAlgorithm *algorithms[9]; /* by number; NULL: the call is made of two others */
} ompi41[TRACE_N_OPS] = {
  [TRACE_OP_BARRIER] = { barrier_rows,
                         { [1] = &sim_barrier_linear,
                           [3] = &sim_barrier_doubling,
                           [4] = &sim_barrier_dissemination,
                           [6] = &sim_barrier_tree } },
  [TRACE_OP_BCAST] = { bcast_rows,
                       { [1] = &sim_bcast_linear,
                         [2] = &sim_bcast_pipeline,
                         [3] = &sim_bcast_pipeline,
                         [4] = &sim_bcast_split_binary,
                         [5] = &sim_bcast_tree_binary,
                         [6] = &sim_bcast_tree_binomial,
                         [7] = &sim_bcast_tree_four_nomial,
                         [8] = &sim_bcast_scatter_doubling } },
  [TRACE_OP_GATHER] = { gather_rows,
                        { [1] = &sim_gather_linear,
                          [2] = &sim_gather_binomial,
                          [3] = &sim_gather_linear_sync } },
  [TRACE_OP_SCATTER] = { scatter_rows,
                         { [1] = &sim_scatter_linear,
                           [2] = &sim_scatter_binomial,
                           [3] = &sim_scatter_linear_at_once } },
  [TRACE_OP_ALLGATHER] = { allgather_rows,
                           { [2] = &sim_allgather_bruck,
                             [3] = &sim_allgather_doubling,
                             [4] = &sim_allgather_ring,
                             [5] = &sim_allgather_neighbor,
                             [6] = &sim_allgather_ring } },
  [TRACE_OP_ALLGATHERV] = { allgatherv_rows,
                            { [2] = &sim_allgather_bruck,
                              [3] = &sim_allgather_ring,
                              [4] = &sim_allgather_neighbor,
                              [5] = &sim_allgather_ring } },
  [TRACE_OP_ALLTOALL] = { alltoall_rows,
                          { [1] = &sim_alltoall_linear,
                            [2] = &sim_alltoall_pairwise_ring,
                            [3] = &sim_alltoall_bruck,
                            [4] = &sim_alltoall_linear,
                            [5] = &sim_alltoall_pairwise_ring } },
  [TRACE_OP_ALLTOALLV] = { alltoallv_rows,
                           { [1] = &sim_alltoallv_linear, [2] = &sim_alltoall_pairwise_ring } },
  /* Rabenseifner's, 7, is only for vectors of one element, which it leaves to the linear
   * one. */
  [TRACE_OP_REDUCE] = { reduce_rows,
                        { [1] = &sim_reduce_linear,
                          [2] = &sim_reduce_pipeline,
                          [3] = &sim_reduce_pipeline,
                          [4] = &sim_reduce_tree_binary,
                          [5] = &sim_reduce_tree_binomial,
                          [6] = &sim_reduce_tree_in_order,
                          [7] = &sim_reduce_linear } },
  [TRACE_OP_ALLREDUCE] = { allreduce_rows,
                           { [3] = &sim_allreduce_doubling,
                             [4] = &sim_allreduce_ring,
                             [5] = &sim_allreduce_ring,
                             [6] = &sim_allreduce_halves } },
  [TRACE_OP_REDUCE_SCATTER] = { reduce_scatter_rows,
                                { [2] = &sim_reduce_scatter_halving,
                                  [3] = &sim_reduce_scatter_ring,
                                  [4] = &sim_reduce_scatter_butterfly } },
};

/* The choice for a call of one algorithm. */
static SimChoice
ompi41_single (TraceOpKind kind, uint32_t n_ranks, uint64_t bytes)
{
  const Row *row = ompi41[kind].rows;
  const SimAlgorithm *algorithm;

  while ((row->below_ranks != 0 && n_ranks >= row->below_ranks) ||
         (row->below_bytes != 0 && bytes >= row->below_bytes))
    row++;
  algorithm = ompi41[kind].algorithms[row->algorithm];

  /* Algorithms that cannot serve the call leave it to another one. */
  if (algorithm == &sim_allgather_doubling && !sim_is_power_of_two (n_ranks))
    algorithm = &sim_allgather_bruck;
  if (algorithm == &sim_allgather_neighbor && n_ranks % 2 == 1)
    algorithm = &sim_allgather_ring;
  if (algorithm == &sim_bcast_scatter_doubling && n_elements (bytes) < n_ranks)
    algorithm = &sim_bcast_linear;
  if (algorithm == &sim_allreduce_ring && n_elements (bytes) < n_ranks)
    algorithm = &sim_allreduce_doubling;
  return sim_choose (algorithm);
}

static SimChoice
choose_ompi41 (const SimCollective *collective)
{
  uint64_t bytes = collective->bytes, all_bytes = total_bytes (collective);
  uint32_t n = collective->n_ranks;
  SimChoice choice;

  switch ((int) collective->kind) {
  case TRACE_OP_GATHERV: return sim_choose (&sim_gatherv_in_turn);
  case TRACE_OP_SCATTERV: return sim_choose (&sim_scatterv_in_turn);
  case TRACE_OP_SCAN:
  case TRACE_OP_EXSCAN: return sim_choose (&sim_scan_linear);
  case TRACE_OP_NEIGHBOR_ALLGATHER:
  case TRACE_OP_NEIGHBOR_ALLTOALL: return sim_choose (&sim_neighbor_exchange);
  case TRACE_OP_GATHER:
  case TRACE_OP_SCATTER: return ompi41_single (collective->kind, n, sim_block_bytes (collective));
  case TRACE_OP_ALLGATHERV:
    choice = ompi41_single (collective->kind, n, all_bytes / n);
    if (choice.algorithm == NULL)
      return sim_choose_two (sim_choose (&sim_gatherv_in_turn),
                             ompi41_single (TRACE_OP_BCAST, n, all_bytes));
    return choice;
  case TRACE_OP_REDUCE_SCATTER:
    choice = ompi41_single (collective->kind, n, all_bytes);
    if (choice.algorithm == NULL)
      return sim_choose_two (ompi41_single (TRACE_OP_REDUCE, n, all_bytes),
                             sim_choose (&sim_scatterv_in_turn));
    return choice;
  case TRACE_OP_ALLREDUCE:
    choice = ompi41_single (collective->kind, n, bytes);
    if (choice.algorithm == NULL)
      return sim_choose_two (ompi41_single (TRACE_OP_REDUCE, n, bytes),
                             ompi41_single (TRACE_OP_BCAST, n, bytes));
    /* Rabenseifner's needs an element for every core. */
    if (choice.algorithm == &sim_allreduce_halves && n_elements (bytes) < 1u << sim_floor_log2 (n))
      return sim_choose_two (sim_choose (&sim_reduce_linear), sim_choose (&sim_bcast_linear));
    return choice;
  default: return ompi41_single (collective->kind, n, bytes);
  }
}

/* --- Open MPI 5.0 ---
 *
 * coll/tuned's fixed rules are those of 4.1.  Before it comes coll/han, with two levels, on
 * communicators of several nodes with several ranks on one of them.  On nodes with different
 * numbers of ranks it does barriers and allreduces only, and leaves all else to coll/tuned
 * (coll_han_bcast.c and so on: are_ppn_imbalanced).  Operations are taken to commute, which it
 * asks for.
 *
 * Sources: ompi/mca/coll/han of 5.0: coll_han_component.c (defaults), coll_han_subcomms.c
 * (groups) and a file for each collective.  Nodes, and the blocking calls of leaders, have
 * coll/tuned; their nonblocking calls have coll/libnbc: nbc_ibcast.c, and nbc_ireduce.c, whose
 * default is Rabenseifner's where it applies. */

#define HAN_SEGMENT_BYTES (64 * KIB)

static SimChoice
choose_libnbc (const SimCollective *part)
{
  uint32_t n = part->n_ranks;

  if (part->kind == TRACE_OP_BCAST) {
    if (n <= 4)
      return sim_choose (&sim_bcast_linear);
    if (part->bytes < 64 * KIB)
      return sim_choose (&sim_bcast_tree_binomial);
    return sim_choose_segmented (&sim_bcast_pipeline, part->bytes < 512 * KIB ? 8 * KIB : 32 * KIB);
  }
  g_assert (part->kind == TRACE_OP_REDUCE);
  if (n > 2 && n_elements (part->bytes) >= 1u << sim_floor_log2 (n))
    return sim_choose (&sim_reduce_scatter_gather);
  if (n > 4 || part->bytes < 64 * KIB)
    return sim_choose (&sim_reduce_binomial);
  return sim_choose_segmented (&sim_reduce_pipeline, 8 * KIB);
}

static SimChoice
choose_in_han (const SimCollective *part, bool posted)
{
  return posted ? choose_libnbc (part) : choose_ompi41 (part);
}

static const SimStages han_barrier = { .n = 3,
                                       .stage = { { TRACE_OP_BARRIER, SIM_GROUP_NODE },
                                                  { TRACE_OP_BARRIER, SIM_GROUP_LEADERS },
                                                  { TRACE_OP_BARRIER, SIM_GROUP_NODE } },
                                       .choose = choose_in_han };
static const SimStages han_bcast = { .n = 2,
                                     .stage = { { TRACE_OP_BCAST, SIM_GROUP_LEADERS, .posted = true,
                                                  .blocks_first = true },
                                                { TRACE_OP_BCAST, SIM_GROUP_NODE } },
                                     .segment_bytes = HAN_SEGMENT_BYTES,
                                     .root_leads = true,
                                     .choose = choose_in_han };
static const SimStages han_reduce = { .n = 2,
                                      .stage = { { TRACE_OP_REDUCE, SIM_GROUP_NODE },
                                                 { TRACE_OP_REDUCE, SIM_GROUP_LEADERS,
                                                   .posted = true } },
                                      .segment_bytes = HAN_SEGMENT_BYTES,
                                      .root_leads = true,
                                      .choose = choose_in_han };
static const SimStages han_allreduce = {
  .n = 4,
  .stage = { { TRACE_OP_REDUCE, SIM_GROUP_NODE },
             { TRACE_OP_REDUCE, SIM_GROUP_LEADERS, .posted = true },
             { TRACE_OP_BCAST, SIM_GROUP_LEADERS, .posted = true },
             { TRACE_OP_BCAST, SIM_GROUP_NODE } },
  .segment_bytes = HAN_SEGMENT_BYTES,
  .choose = choose_in_han
};
static const SimStages han_gather = { .n = 2,
                                      .stage = { { TRACE_OP_GATHER, SIM_GROUP_NODE },
                                                 { TRACE_OP_GATHER, SIM_GROUP_LEADERS } },
                                      .root_leads = true,
                                      .choose = choose_in_han };
static const SimStages han_scatter = { .n = 2,
                                       .stage = { { TRACE_OP_SCATTER, SIM_GROUP_LEADERS },
                                                  { TRACE_OP_SCATTER, SIM_GROUP_NODE } },
                                       .root_leads = true,
                                       .choose = choose_in_han };
static const SimStages han_allgather = { .n = 3,
                                         .stage = { { TRACE_OP_GATHER, SIM_GROUP_NODE },
                                                    { TRACE_OP_ALLGATHER, SIM_GROUP_LEADERS },
                                                    { TRACE_OP_BCAST, SIM_GROUP_NODE } },
                                         .choose = choose_in_han };

static SimChoice
choose_ompi50 (const SimCollective *collective)
{
  static const SimStages *const even[TRACE_N_OPS] = {
    [TRACE_OP_BCAST] = &han_bcast,         [TRACE_OP_REDUCE] = &han_reduce,
    [TRACE_OP_GATHER] = &han_gather,       [TRACE_OP_SCATTER] = &han_scatter,
    [TRACE_OP_ALLGATHER] = &han_allgather,
  };
  const SimGroups *groups = collective->groups;

  if (groups != NULL && collective->kind == TRACE_OP_BARRIER)
    return (SimChoice){ .stages = &han_barrier };
  if (groups != NULL && collective->kind == TRACE_OP_ALLREDUCE)
    return (SimChoice){ .stages = &han_allreduce };
  if (groups != NULL && groups->even && even[collective->kind] != NULL)
    return (SimChoice){ .stages = even[collective->kind] };
  return choose_ompi41 (collective);
}

/* --- MPICH 4.2 ---
 *
 * Sources: maint/tuning/coll/ch4/generic.json for the composition of a call (communicators of
 * several nodes with several ranks on one: "parent"), src/mpid/ch4/src/ch4_coll_impl.h for its
 * parts; their algorithms are those of MPICH 4.0.  The first rank of a node leads it.
 * Operations are taken to commute.  Not here: the scan on nodes, and the collectives in shared
 * memory that a node goes over to after some calls. */

static SimChoice
choose_in_ch4 (const SimCollective *part, G_GNUC_UNUSED bool posted)
{
  return choose_mpich (part, false);
}

static const SimStages ch4_barrier = { .n = 3,
                                       .stage = { { TRACE_OP_BARRIER, SIM_GROUP_NODE },
                                                  { TRACE_OP_BARRIER, SIM_GROUP_LEADERS },
                                                  { TRACE_OP_BCAST, SIM_GROUP_NODE } },
                                       .choose = choose_in_ch4 };
static const SimStages ch4_bcast_alpha = { .n = 3,
                                           .stage = { { TRACE_OP_BCAST, SIM_GROUP_ROOT_TO_LEADER },
                                                      { TRACE_OP_BCAST, SIM_GROUP_LEADERS },
                                                      { TRACE_OP_BCAST, SIM_GROUP_NODE } },
                                           .choose = choose_in_ch4 };
/* When the root is no leader. */
static const SimStages ch4_bcast_beta = { .n = 3,
                                          .stage = { { TRACE_OP_BCAST, SIM_GROUP_ROOT_NODE },
                                                     { TRACE_OP_BCAST, SIM_GROUP_LEADERS },
                                                     { TRACE_OP_BCAST, SIM_GROUP_OTHER_NODES } },
                                          .choose = choose_in_ch4 };
static const SimStages ch4_reduce_alpha = {
  .n = 3,
  .stage = { { TRACE_OP_REDUCE, SIM_GROUP_NODE },
             { TRACE_OP_REDUCE, SIM_GROUP_LEADERS, .to_first = true },
             { TRACE_OP_BCAST, SIM_GROUP_FIRST_TO_ROOT } },
  .choose = choose_in_ch4
};
static const SimStages ch4_reduce_beta = { .n = 3,
                                           .stage = { { TRACE_OP_REDUCE, SIM_GROUP_OTHER_NODES },
                                                      { TRACE_OP_REDUCE, SIM_GROUP_LEADERS },
                                                      { TRACE_OP_REDUCE, SIM_GROUP_ROOT_NODE } },
                                           .choose = choose_in_ch4 };
static const SimStages ch4_allreduce = { .n = 3,
                                         .stage = { { TRACE_OP_REDUCE, SIM_GROUP_NODE },
                                                    { TRACE_OP_ALLREDUCE, SIM_GROUP_LEADERS },
                                                    { TRACE_OP_BCAST, SIM_GROUP_NODE } },
                                         .choose = choose_in_ch4 };

static SimChoice
choose_mpich4 (const SimCollective *collective)
{
  const SimGroups *groups = collective->groups;
  uint64_t bytes = collective->bytes;
  uint32_t n = collective->n_ranks;
  const SimStages *stages = NULL;

  if (groups == NULL)
    return choose_mpich (collective, false);
  switch ((int) collective->kind) {
  case TRACE_OP_BARRIER: stages = &ch4_barrier; break;
  case TRACE_OP_ALLREDUCE: stages = &ch4_allreduce; break;
  case TRACE_OP_REDUCE:
    stages = bytes <= SHORT_REDUCTION_BYTES ? &ch4_reduce_beta : &ch4_reduce_alpha;
    break;
  case TRACE_OP_BCAST:
    if (n < 8 || bytes < 12288)
      stages = &ch4_bcast_alpha;
    else if (sim_is_power_of_two (n) && bytes < 512 * KIB)
      stages = groups->local[collective->root] > 0 ? &ch4_bcast_beta : &ch4_bcast_alpha;
    break;
  default: break;
  }
  return stages != NULL ? (SimChoice){ .stages = stages } : choose_mpich (collective, false);
}

/* --- SHARP ---
 *
 * HCOLL's levels: the ranks of a node reduce to the first of them, its leader, through memory; the
 * leaders meet in the switches, which need a packet of each of them whatever the call is; and the
 * leaders give the result to their nodes.  HCOLL is not published; within a node trees are a
 * guess. */

static uint32_t
meeting_n_steps (const SimCollective *collective G_GNUC_UNUSED)
{
  return 1;
}

static SimStep
meeting_step (const SimCollective *collective G_GNUC_UNUSED, uint32_t step G_GNUC_UNUSED)
{
  SimStep meeting = sim_step_nothing ();

  meeting.wait = meeting.in_switches = true;
  return meeting;
}

static const SimAlgorithm in_switches = { .n_steps = meeting_n_steps, .step = meeting_step };

/* The leaders' stage is an allreduce in any case, which no other stage is. */
static SimChoice
choose_in_sharp (const SimCollective *part, bool posted G_GNUC_UNUSED)
{
  switch ((int) part->kind) {
  case TRACE_OP_REDUCE: return sim_choose (&sim_reduce_binomial);
  case TRACE_OP_BCAST: return sim_choose (&sim_bcast_binomial);
  case TRACE_OP_GATHER: return sim_choose (&sim_gather_linear);
  default: return sim_choose (&in_switches);
  }
}

static const SimStages sharp_allreduce = { .n = 3,
                                           .stage = { { TRACE_OP_REDUCE, SIM_GROUP_NODE },
                                                      { TRACE_OP_ALLREDUCE, SIM_GROUP_LEADERS },
                                                      { TRACE_OP_BCAST, SIM_GROUP_NODE } },
                                           .choose = choose_in_sharp };
/* At the end the root, as one of a pair, gathers the result from its leader. */
static const SimStages sharp_reduce = { .n = 3,
                                        .stage = { { TRACE_OP_REDUCE, SIM_GROUP_NODE },
                                                   { TRACE_OP_ALLREDUCE, SIM_GROUP_LEADERS },
                                                   { TRACE_OP_GATHER, SIM_GROUP_ROOT_TO_LEADER } },
                                        .choose = choose_in_sharp };
static const SimStages sharp_bcast = { .n = 3,
                                       .stage = { { TRACE_OP_BCAST, SIM_GROUP_ROOT_TO_LEADER },
                                                  { TRACE_OP_ALLREDUCE, SIM_GROUP_LEADERS },
                                                  { TRACE_OP_BCAST, SIM_GROUP_NODE } },
                                       .choose = choose_in_sharp };

SimChoice
sim_choose_switches (const SimCollective *collective)
{
  if (collective->groups == NULL) /* each rank is a leader */
    return sim_choose (&in_switches);
  switch ((int) collective->kind) {
  case TRACE_OP_REDUCE: return (SimChoice){ .stages = &sharp_reduce };
  case TRACE_OP_BCAST: return (SimChoice){ .stages = &sharp_bcast };
  default: return (SimChoice){ .stages = &sharp_allreduce };
  }
}

SimChoice
sim_choose_algorithm (const SimCollective *collective, TopoCollectives rules)
{
  switch (rules) {
  case TOPO_COLLECTIVES_BGQ: return choose_mpich (collective, true);
  case TOPO_COLLECTIVES_OMPI13: return choose_ompi13 (collective);
  case TOPO_COLLECTIVES_OMPI41: return choose_ompi41 (collective);
  case TOPO_COLLECTIVES_OMPI50: return choose_ompi50 (collective);
  case TOPO_COLLECTIVES_MPICH: return choose_mpich (collective, false);
  case TOPO_COLLECTIVES_MPICH4: return choose_mpich4 (collective);
  }
  g_assert_not_reached ();
}
