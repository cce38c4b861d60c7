/* collective.c - which algorithm a collective uses, and the ones without steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Thresholds are those of MPICH 3.1, on which Blue Gene/Q's MPI is built. */
#include "sim/collective.h"

#include "sim/collective_steps.h"
#include "traces/small_map.h"

#include <glib.h>

/* Reductions up to this send the whole vector in each step. */
#define SHORT_REDUCTION_BYTES 2048u

/* Allgathers of less than these in total use few, growing messages. */
#define ALLGATHER_DOUBLING_BYTES (512u * 1024)
#define ALLGATHER_BRUCK_BYTES    (80u * 1024)

/* Alltoall, per pair of ranks. */
#define ALLTOALL_BRUCK_BYTES     256u
#define ALLTOALL_BRUCK_RANKS     8u
#define ALLTOALL_SCATTERED_BYTES (32u * 1024)

/* Reduce-scatters of less than this in total halve. */
#define REDUCE_SCATTER_HALVING_BYTES (512u * 1024)

enum {
  ALGORITHM_NONE,
  BARRIER_DISSEMINATION,
  BCAST_BINOMIAL,
  REDUCE_BINOMIAL,
  REDUCE_SCATTER_GATHER,
  ALLREDUCE_DOUBLING,
  ALLREDUCE_SCATTER_ALLGATHER,
  GATHER_BINOMIAL,
  GATHERV_LINEAR,
  SCATTER_BINOMIAL,
  SCATTERV_LINEAR,
  ALLGATHER_DOUBLING,
  ALLGATHER_BRUCK,
  ALLGATHER_RING,
  ALLTOALL_BRUCK,
  ALLTOALL_SCATTERED,
  ALLTOALL_PAIRWISE,
  REDUCE_SCATTER_HALVING,
  REDUCE_SCATTER_PAIRWISE,
  SCAN_DOUBLING,
  NEIGHBOR_EXCHANGE,
};

static const SimAlgorithm *const algorithms[] = {
  [BARRIER_DISSEMINATION] = &sim_barrier_dissemination,
  [BCAST_BINOMIAL] = &sim_bcast_binomial,
  [REDUCE_BINOMIAL] = &sim_reduce_binomial,
  [REDUCE_SCATTER_GATHER] = &sim_reduce_scatter_gather,
  [ALLREDUCE_DOUBLING] = &sim_allreduce_doubling,
  [ALLREDUCE_SCATTER_ALLGATHER] = &sim_allreduce_scatter_allgather,
  [GATHER_BINOMIAL] = &sim_gather_binomial,
  [GATHERV_LINEAR] = &sim_gatherv_linear,
  [SCATTER_BINOMIAL] = &sim_scatter_binomial,
  [SCATTERV_LINEAR] = &sim_scatterv_linear,
  [ALLGATHER_DOUBLING] = &sim_allgather_doubling,
  [ALLGATHER_BRUCK] = &sim_allgather_bruck,
  [ALLGATHER_RING] = &sim_allgather_ring,
  [ALLTOALL_BRUCK] = &sim_alltoall_bruck,
  [ALLTOALL_SCATTERED] = &sim_alltoall_scattered,
  [ALLTOALL_PAIRWISE] = &sim_alltoall_pairwise,
  [REDUCE_SCATTER_HALVING] = &sim_reduce_scatter_halving,
  [REDUCE_SCATTER_PAIRWISE] = &sim_reduce_scatter_pairwise,
  [SCAN_DOUBLING] = &sim_scan_doubling,
  [NEIGHBOR_EXCHANGE] = &sim_neighbor_exchange,
};

/* --- Choosing steps --- */

static bool
is_power_of_two (uint32_t n)
{
  return (n & (n - 1)) == 0;
}

static uint64_t
sum_of (const uint64_t *counts, uint32_t n)
{
  uint64_t sum = 0;

  for (uint32_t rank = 0; rank < n; rank++)
    sum += sim_count_of (counts, rank);
  return sum;
}

static uint8_t
choose_barrier (G_GNUC_UNUSED const SimCollective *collective)
{
  return BARRIER_DISSEMINATION;
}

/* PAMI's 2-nomial tree for communicators that are no rectangle, at any size. */
static uint8_t
choose_bcast (G_GNUC_UNUSED const SimCollective *collective)
{
  return BCAST_BINOMIAL;
}

static uint8_t
choose_reduce (const SimCollective *collective)
{
  return collective->bytes <= SHORT_REDUCTION_BYTES ? REDUCE_BINOMIAL : REDUCE_SCATTER_GATHER;
}

static uint8_t
choose_allreduce (const SimCollective *collective)
{
  return collective->bytes <= SHORT_REDUCTION_BYTES ? ALLREDUCE_DOUBLING
                                                    : ALLREDUCE_SCATTER_ALLGATHER;
}

static uint8_t
choose_gather (G_GNUC_UNUSED const SimCollective *collective)
{
  return GATHER_BINOMIAL;
}

static uint8_t
choose_gatherv (G_GNUC_UNUSED const SimCollective *collective)
{
  return GATHERV_LINEAR;
}

static uint8_t
choose_scatter (G_GNUC_UNUSED const SimCollective *collective)
{
  return SCATTER_BINOMIAL;
}

static uint8_t
choose_scatterv (G_GNUC_UNUSED const SimCollective *collective)
{
  return SCATTERV_LINEAR;
}

static uint8_t
choose_allgather_of (uint32_t n_ranks, uint64_t total_bytes)
{
  if (is_power_of_two (n_ranks) && total_bytes < ALLGATHER_DOUBLING_BYTES)
    return ALLGATHER_DOUBLING;
  return total_bytes < ALLGATHER_BRUCK_BYTES ? ALLGATHER_BRUCK : ALLGATHER_RING;
}

static uint8_t
choose_allgather (const SimCollective *collective)
{
  return choose_allgather_of (collective->n_ranks, collective->bytes * collective->n_ranks);
}

static uint8_t
choose_allgatherv (const SimCollective *collective)
{
  return choose_allgather_of (collective->n_ranks,
                              sum_of (collective->recv_counts, collective->n_ranks));
}

static uint8_t
choose_alltoall (const SimCollective *collective)
{
  if (collective->bytes <= ALLTOALL_BRUCK_BYTES && collective->n_ranks >= ALLTOALL_BRUCK_RANKS)
    return ALLTOALL_BRUCK;
  return collective->bytes <= ALLTOALL_SCATTERED_BYTES ? ALLTOALL_SCATTERED : ALLTOALL_PAIRWISE;
}

static uint8_t
choose_alltoallv (G_GNUC_UNUSED const SimCollective *collective)
{
  return ALLTOALL_SCATTERED;
}

static uint8_t
choose_reduce_scatter (const SimCollective *collective)
{
  return sum_of (collective->recv_counts, collective->n_ranks) < REDUCE_SCATTER_HALVING_BYTES
             ? REDUCE_SCATTER_HALVING
             : REDUCE_SCATTER_PAIRWISE;
}

static uint8_t
choose_scan (G_GNUC_UNUSED const SimCollective *collective)
{
  return SCAN_DOUBLING;
}

static uint8_t
choose_neighbor (G_GNUC_UNUSED const SimCollective *collective)
{
  return NEIGHBOR_EXCHANGE;
}

/* --- Choosing the method --- */

typedef struct {
  uint8_t (*choose) (const SimCollective *collective);
  bool hardware;    /* the collective network can do it */
  bool direct;      /* PAMI's many-to-many does it */
  bool plain_bytes; /* all ranks have the same `bytes`; without any, nobody sends */
  bool neighbors;   /* who takes part is in lists: oneself may be in them, or nobody */
} Rule;

static const Rule rules[TRACE_N_OPS] = {
  [TRACE_OP_BARRIER] = { .choose = choose_barrier, .hardware = true },
  [TRACE_OP_BCAST] = { .choose = choose_bcast, .hardware = true, .plain_bytes = true },
  [TRACE_OP_GATHER] = { .choose = choose_gather },
  [TRACE_OP_GATHERV] = { .choose = choose_gatherv },
  [TRACE_OP_SCATTER] = { .choose = choose_scatter },
  [TRACE_OP_SCATTERV] = { .choose = choose_scatterv },
  [TRACE_OP_ALLGATHER] = { .choose = choose_allgather, .plain_bytes = true },
  [TRACE_OP_ALLGATHERV] = { .choose = choose_allgatherv },
  [TRACE_OP_ALLTOALL] = { .choose = choose_alltoall, .direct = true, .plain_bytes = true },
  [TRACE_OP_ALLTOALLV] = { .choose = choose_alltoallv, .direct = true },
  [TRACE_OP_REDUCE] = { .choose = choose_reduce, .hardware = true, .plain_bytes = true },
  [TRACE_OP_ALLREDUCE] = { .choose = choose_allreduce, .hardware = true, .plain_bytes = true },
  [TRACE_OP_REDUCE_SCATTER] = { .choose = choose_reduce_scatter },
  [TRACE_OP_SCAN] = { .choose = choose_scan, .plain_bytes = true },
  [TRACE_OP_EXSCAN] = { .choose = choose_scan, .plain_bytes = true },
  [TRACE_OP_NEIGHBOR_ALLGATHER] = { .choose = choose_neighbor, .neighbors = true },
  [TRACE_OP_NEIGHBOR_ALLTOALL] = { .choose = choose_neighbor, .neighbors = true },
  [TRACE_OP_WIN_CREATE] = { .choose = choose_barrier, .hardware = true },
  [TRACE_OP_WIN_FREE] = { .choose = choose_barrier, .hardware = true },
  [TRACE_OP_WIN_FENCE] = { .choose = choose_barrier, .hardware = true },
};

static SimCollectiveMethod
choose_method (const SimCollective *collective, const Rule *rule, bool network,
               bool whole_partition)
{
  if (rule->neighbors)
    return collective->n_sources + collective->n_destinations > 0 ? SIM_COLLECTIVE_STEPS
                                                                  : SIM_COLLECTIVE_NOTHING;
  if (collective->n_ranks == 1 || (rule->plain_bytes && collective->bytes == 0))
    return SIM_COLLECTIVE_NOTHING;
  if (rule->hardware && network && whole_partition)
    return SIM_COLLECTIVE_HARDWARE;
  if (rule->direct && network)
    return SIM_COLLECTIVE_DIRECT;
  return SIM_COLLECTIVE_STEPS;
}

static void
set_neighbors (SimCollective *collective, const TraceOp *op)
{
  collective->counts = op->counts;
  collective->recv_counts = op->recv_counts;
  collective->destinations = op->values;
  collective->sources = op->values2;
  collective->n_destinations = op->n_counts;
  collective->n_sources = op->n_recv_counts;
}

static uint64_t
known_bytes (uint64_t bytes)
{
  return bytes == TRACE_UNKNOWN_BYTES ? 0 : bytes;
}

void
sim_collective_init (SimCollective *collective, const TopoMachine *machine, const TraceOp *op,
                     uint32_t n_ranks, uint32_t rank, bool whole_partition)
{
  const Rule *rule = &rules[op->kind];
  bool window = op->kind >= TRACE_OP_WIN_CREATE && op->kind <= TRACE_OP_WIN_FENCE;

  g_assert (trace_op_is_collective (op->kind) && rank < n_ranks);
  *collective = (SimCollective){
    .kind = window ? TRACE_OP_BARRIER : op->kind,
    .n_ranks = n_ranks,
    .rank = rank,
    .root = op->root,
    .bytes = known_bytes (op->bytes),
    .recv_bytes = known_bytes (op->recv_bytes),
    .counts = op->n_counts < n_ranks ? NULL : op->counts,
    .recv_counts = op->n_recv_counts < n_ranks ? NULL : op->recv_counts,
  };
  if (rule->neighbors)
    set_neighbors (collective, op);
  collective->method =
      choose_method (collective, rule, machine->parameters.collective_network, whole_partition);
  if (collective->method == SIM_COLLECTIVE_STEPS) {
    collective->algorithm = rule->choose (collective);
    collective->n_steps = algorithms[collective->algorithm]->n_steps (collective);
  }
}

SimStep
sim_collective_step (const SimCollective *collective, uint32_t step)
{
  g_assert (step < collective->n_steps);
  return algorithms[collective->algorithm]->step (collective, step);
}

/* --- In the network's hardware --- */

static int64_t
transfer_ps (uint64_t bytes, uint64_t bandwidth_Bps)
{
  return (int64_t) ((unsigned __int128) bytes * 1000000000000u / bandwidth_Bps);
}

/* Hops from the middle of the partition to its farthest node: what the tree
 * has at least, if it is rooted in the middle. */
static uint32_t
tree_depth_hops (const TopoShape *shape)
{
  uint32_t hops = 0;

  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++)
    hops += shape->wrap[dimension] ? shape->size[dimension] / 2 : shape->size[dimension] - 1;
  return hops;
}

/* User bytes per second that one link carries in full packets. */
static uint64_t
link_payload_Bps (const TopoParameters *parameters)
{
  double packet_bytes =
      (double) (parameters->packet_header_bytes + parameters->packet_payload_bytes +
                parameters->packet_trailer_bytes);

  return (uint64_t) ((double) parameters->link_bandwidth_Bps * (1 - parameters->link_overhead) *
                     (double) parameters->packet_payload_bytes / packet_bytes);
}

/* The multi-colour rectangle broadcast sends one part of the payload along
 * each of several trees of torus links.  Guess: one tree per dimension that
 * the partition has, each at the full payload rate of a link. */
static uint64_t
rectangle_bandwidth_Bps (const TopoMachine *machine)
{
  uint32_t n_trees = 0;

  for (uint32_t dimension = 0; dimension < machine->shape.n_dimensions; dimension++)
    n_trees += machine->shape.size[dimension] > 1;
  return MAX (n_trees, 1u) * link_payload_Bps (&machine->parameters);
}

int64_t
sim_collective_hardware_ps (const SimCollective *collective, const TopoMachine *machine)
{
  const TopoParameters *parameters = &machine->parameters;
  int64_t climb_ps = tree_depth_hops (&machine->shape) * parameters->tree_hop_latency_ps;
  uint64_t bandwidth_Bps = parameters->tree_bandwidth_Bps;

  if (collective->kind == TRACE_OP_BARRIER)
    return parameters->barrier_latency_ps + climb_ps;
  if (collective->kind == TRACE_OP_BCAST && collective->bytes > parameters->rectangle_bytes)
    bandwidth_Bps = rectangle_bandwidth_Bps (machine);
  return parameters->tree_latency_ps + climb_ps + transfer_ps (collective->bytes, bandwidth_Bps);
}

/* --- Direct --- */

/* One of the permutations of 0 .. 2^(2 * half_bits) - 1 that the key picks: a
 * Feistel network, whose rounds are undone by running them backwards, so no
 * two numbers can end up the same. */
static uint32_t
shuffle_bits (uint32_t number, uint32_t half_bits, uint32_t key)
{
  uint32_t mask = (1u << half_bits) - 1;
  uint32_t left = number >> half_bits, right = number & mask;

  for (uint32_t round = 1; round <= 4; round++) {
    uint32_t mixed = left ^ (trace_map_hash (right ^ key * (2 * round + 1)) & mask);

    left = right;
    right = mixed;
  }
  return left << half_bits | right;
}

/* A permutation of 0 .. n-1: numbers that leave the range are shuffled on
 * until they are back in it, which they are after fewer than 4 turns on
 * average, the range being over a quarter of what is shuffled. */
static uint32_t
shuffle_below (uint32_t number, uint32_t n, uint32_t key)
{
  uint32_t half_bits = (sim_ceil_log2 (n) + 1) / 2;

  do
    number = shuffle_bits (number, half_bits, key);
  while (number >= n);
  return number;
}

/* PAMI's destinations are in a pseudo-random order of each rank's own, so
 * that the ranks do not all send to the same one at once.  The order itself
 * is not PAMI's. */
uint32_t
sim_collective_direct (const SimCollective *collective, uint32_t i, uint64_t *bytes)
{
  uint32_t n_others = collective->n_ranks - 1;
  uint32_t nth = shuffle_below (i, n_others, trace_map_hash (collective->rank + 1));
  uint32_t destination = sim_rank_after (collective, collective->rank, nth + 1);

  g_assert (i < n_others);
  *bytes = collective->kind == TRACE_OP_ALLTOALLV ? sim_count_of (collective->counts, destination)
                                                  : collective->bytes;
  return destination;
}

uint64_t
sim_collective_direct_received (const SimCollective *collective, uint32_t source)
{
  return collective->kind == TRACE_OP_ALLTOALLV ? sim_count_of (collective->recv_counts, source)
                                                : collective->recv_bytes;
}
