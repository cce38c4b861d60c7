/* collective.c - the method of a collective, and the methods without steps.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/collective.h"

#include "base/int128.h"
#include "base/small_map.h"
#include "sim/collective/collective_steps.h"

#include <glib.h>

#define MOST_PS (INT64_MAX / 4) /* no replay lasts longer */

typedef struct {
  bool hardware;    /* Blue Gene/Q's collective network and SHARP can do it */
  bool direct;      /* PAMI's many-to-many does it */
  bool plain_bytes; /* all ranks have the same `bytes`; no rank sends when they are 0 */
  bool neighbors;   /* the lists of neighbours may have the rank itself, or be empty */
  bool root;        /* one rank is the root */
} Traits;

static const Traits traits[TRACE_N_OPS] = {
  [TRACE_OP_BARRIER] = { .hardware = true },
  [TRACE_OP_BCAST] = { .hardware = true, .plain_bytes = true, .root = true },
  [TRACE_OP_GATHER] = { .root = true },
  [TRACE_OP_GATHERV] = { .root = true },
  [TRACE_OP_SCATTER] = { .root = true },
  [TRACE_OP_SCATTERV] = { .root = true },
  [TRACE_OP_ALLGATHER] = { .plain_bytes = true },
  [TRACE_OP_ALLTOALL] = { .direct = true, .plain_bytes = true },
  [TRACE_OP_ALLTOALLV] = { .direct = true },
  [TRACE_OP_REDUCE] = { .hardware = true, .plain_bytes = true, .root = true },
  [TRACE_OP_ALLREDUCE] = { .hardware = true, .plain_bytes = true },
  [TRACE_OP_SCAN] = { .plain_bytes = true },
  [TRACE_OP_EXSCAN] = { .plain_bytes = true },
  [TRACE_OP_NEIGHBOR_ALLGATHER] = { .neighbors = true },
  [TRACE_OP_NEIGHBOR_ALLTOALL] = { .neighbors = true },
};

/* --- Calls that fit no communicator --- */

static char *
neighbors_fault (const int32_t *neighbors, uint32_t n, uint32_t n_ranks)
{
  for (uint32_t i = 0; i < n; i++)
    if (neighbors == NULL || neighbors[i] < 0 || (uint32_t) neighbors[i] >= n_ranks)
      return g_strdup_printf ("neighbour %d in a communicator of %u ranks",
                              neighbors == NULL ? TRACE_PROC_NULL : neighbors[i], n_ranks);
  return NULL;
}

char *
sim_collective_fault (const TraceOp *op, uint32_t n_ranks)
{
  const Traits *it = &traits[op->kind];
  uint32_t n_lists[] = { op->n_counts, op->n_recv_counts };

  if (it->neighbors) {
    char *fault = neighbors_fault (op->values, op->n_counts, n_ranks);

    return fault != NULL ? fault : neighbors_fault (op->values2, op->n_recv_counts, n_ranks);
  }
  for (uint32_t i = 0; i < G_N_ELEMENTS (n_lists); i++)
    if (n_lists[i] != 0 && n_lists[i] != n_ranks)
      return g_strdup_printf ("%u counts on a communicator of %u ranks", n_lists[i], n_ranks);
  if (it->root && (op->root < 0 || (uint32_t) op->root >= n_ranks))
    return g_strdup_printf ("root %d on a communicator of %u ranks", op->root, n_ranks);
  return NULL;
}

/* --- Calls that are made of two others --- */

/* The call that a part of a call is: `first` of the two, or the other. */
static SimCollective
part_of (const SimCollective *collective, bool first)
{
  uint64_t mine = sim_count_of (collective->recv_counts, collective->rank);
  SimCollective part = *collective;

  if (!first)
    part.kind = collective->kind == TRACE_OP_REDUCE_SCATTER ? TRACE_OP_SCATTERV : TRACE_OP_BCAST;
  else if (collective->kind == TRACE_OP_ALLGATHER)
    part.kind = TRACE_OP_GATHER;
  else
    part.kind = collective->kind == TRACE_OP_ALLGATHERV ? TRACE_OP_GATHERV : TRACE_OP_REDUCE;
  part.root = 0;
  part.algorithm = first ? collective->algorithm : collective->second;
  part.segment_bytes = first ? collective->segment_bytes : collective->second_segment_bytes;
  part.second = NULL;
  if (collective->kind == TRACE_OP_ALLGATHERV) {
    part.bytes = first ? mine : collective->total_bytes;
  } else if (collective->kind == TRACE_OP_ALLGATHER) {
    part.bytes = first ? collective->bytes : collective->bytes * collective->n_ranks;
    part.recv_bytes = collective->bytes;
  } else if (collective->kind == TRACE_OP_REDUCE_SCATTER) {
    part.bytes = collective->total_bytes;
    part.recv_bytes = mine;
    part.counts = collective->recv_counts;
  }
  return part;
}

static uint32_t
steps_of_part (const SimCollective *collective, bool first)
{
  SimCollective part = part_of (collective, first);

  return part.algorithm->n_steps (&part);
}

/* --- In the switches of a fabric --- */

static uint64_t
sharp_payload_bytes (const SimSharp *sharp, const TopoParameters *parameters)
{
  return parameters->sharp.payload_bytes > 0 ? parameters->sharp.payload_bytes
                                             : sharp->tree.payload_bytes;
}

SimSharp
sim_sharp_new (const TopoMachine *machine, const uint32_t *nodes, uint32_t n_nodes)
{
  const TopoParameters *parameters = &machine->parameters;
  SimSharp sharp = { .n_leaders = n_nodes };

  if (parameters->sharp.enabled == 0 || n_nodes < parameters->sharp.min_leaders ||
      !topo_sharp_tree (machine, nodes, n_nodes, &sharp.tree))
    return (SimSharp){ .n_leaders = 0 };
  return sharp;
}

/* The same on all ranks. */
static bool
sharp_serves (const SimCollective *collective, const TopoParameters *parameters)
{
  const SimSharp *sharp = &collective->sharp;
  uint64_t max_bytes = parameters->sharp.max_bytes;

  if (sharp->n_leaders == 0 || !traits[collective->kind].hardware)
    return false;
  if (max_bytes == 0)
    max_bytes = parameters->sharp.transactions * sharp_payload_bytes (sharp, parameters);
  return collective->kind == TRACE_OP_BARRIER || collective->bytes <= max_bytes;
}

/* A switch takes in the packets of its children one after another, at the rate of one port, and
 * then sends one on (guess: nothing is published about its unit).  Downwards they cut through. */
int64_t
sim_sharp_ps (const SimSharp *sharp, uint64_t bytes, const TopoMachine *machine)
{
  const TopoParameters *p = &machine->parameters;
  const TopoSharpTree *tree = &sharp->tree;
  uint64_t payload_bytes = sharp_payload_bytes (sharp, p), most = p->sharp.transactions;
  uint64_t last = bytes > 0 ? (bytes - 1) / payload_bytes : 0; /* number of the last piece */
  uint64_t piece_bytes = MIN (bytes, payload_bytes);
  uint64_t wire_bytes = p->ib.framing_bytes + p->ib.header_bytes + piece_bytes;
  int64_t wire_ps = (int64_t) ((BaseUint128) wire_bytes * 1000000000000u / tree->bandwidth_Bps);
  int64_t gap_ps = MAX (MAX (wire_ps * tree->most_children, p->hca.message_gap_ps), p->ucx.post_ps);
  int64_t ends_ps = p->ucx.post_ps + p->hca.send_latency_ps +
                    (piece_bytes > p->hca.inline_bytes ? p->hca.read_latency_ps : 0) +
                    p->hca.receive_latency_ps + p->ucx.receive_ps;
  int64_t up_ps = tree->cables_ps + wire_ps * tree->n_children +
                  tree->n_levels * (p->switches.latency_ps + p->sharp.aggregation_ps);
  int64_t down_ps = tree->cables_ps + wire_ps + (tree->n_levels - 1) * p->switches.latency_ps;
  int64_t piece_ps = ends_ps + up_ps + down_ps;
  BaseInt128 whole_ps;

  /* Piece k + most starts when piece k has ended. */
  whole_ps = (BaseInt128) (last / most) * MAX (piece_ps, (BaseInt128) most * gap_ps) +
             (BaseInt128) (last % most) * gap_ps + piece_ps;
  return (int64_t) MIN (whole_ps, (BaseInt128) MOST_PS);
}

/* --- Setting up --- */

void
sim_collective_choose (SimCollective *collective, const TopoMachine *machine, bool whole_partition)
{
  const TopoParameters *parameters = &machine->parameters;
  const Traits *it = &traits[collective->kind];
  const SimAlgorithm *forced = sim_named_algorithm (collective, parameters->mpi.algorithm);
  bool network = forced == NULL && parameters->collective.in_network &&
                 parameters->mpi.collectives == TOPO_COLLECTIVES_BGQ;
  SimChoice choice;

  collective->method = SIM_COLLECTIVE_STEPS;
  collective->stages = NULL;
  if (it->neighbors ? collective->n_sources + collective->n_destinations == 0
                    : collective->n_ranks == 1 || (it->plain_bytes && collective->bytes == 0))
    collective->method = SIM_COLLECTIVE_NOTHING;
  else if (it->hardware && network && whole_partition)
    collective->method = SIM_COLLECTIVE_HARDWARE;
  else if (it->direct && network)
    collective->method = SIM_COLLECTIVE_DIRECT;
  if (collective->method != SIM_COLLECTIVE_STEPS)
    return;

  if (forced != NULL)
    choice = sim_choose (forced);
  else if (sharp_serves (collective, parameters))
    choice = sim_choose_switches (collective);
  else
    choice = sim_choose_algorithm (collective, parameters->mpi.collectives);
  if (choice.stages != NULL) {
    sim_stages_set (collective, choice.stages);
    return;
  }
  collective->algorithm = choice.algorithm;
  collective->segment_bytes = choice.segment_bytes;
  collective->second = choice.second;
  collective->second_segment_bytes = choice.second_segment_bytes;
  if (choice.second == NULL) {
    collective->n_steps = choice.algorithm->n_steps (collective);
  } else {
    collective->n_first_steps = steps_of_part (collective, true);
    collective->n_steps = collective->n_first_steps + steps_of_part (collective, false);
  }
}

bool
sim_collective_has_levels (const TopoMachine *machine)
{
  return machine->parameters.mpi.collectives == TOPO_COLLECTIVES_OMPI50 ||
         machine->parameters.mpi.collectives == TOPO_COLLECTIVES_MPICH4 ||
         machine->parameters.sharp.enabled != 0;
}

void
sim_collective_init (SimCollective *collective, const TopoMachine *machine, const TraceOp *op,
                     uint32_t n_ranks, uint32_t rank, bool whole_partition, const SimGroups *groups)
{
  const Traits *it = &traits[op->kind];
  bool is_barrier = op->kind == TRACE_OP_WIN_CREATE || op->kind == TRACE_OP_WIN_FREE ||
                    op->kind == TRACE_OP_WIN_FENCE;

  g_assert (trace_op_is_collective (op->kind) && rank < n_ranks);
  *collective = (SimCollective){
    .kind = is_barrier ? TRACE_OP_BARRIER : op->kind,
    .n_ranks = n_ranks,
    .rank = rank,
    .root = op->root,
    .bytes = op->bytes == TRACE_UNKNOWN_BYTES ? 0 : op->bytes,
    .recv_bytes = op->recv_bytes == TRACE_UNKNOWN_BYTES ? 0 : op->recv_bytes,
    .counts = op->n_counts < n_ranks ? NULL : op->counts,
    .recv_counts = op->n_recv_counts < n_ranks ? NULL : op->recv_counts,
    .groups = op->nonblocking ? NULL : groups,
  };
  if (it->neighbors) {
    collective->counts = op->counts;
    collective->recv_counts = op->recv_counts;
    collective->destinations = op->values;
    collective->sources = op->values2;
    collective->n_destinations = op->n_counts;
    collective->n_sources = op->n_recv_counts;
  }
  if (op->kind == TRACE_OP_ALLGATHERV || op->kind == TRACE_OP_REDUCE_SCATTER)
    for (uint32_t other = 0; other < n_ranks; other++)
      collective->total_bytes += sim_count_of (collective->recv_counts, other);
  sim_collective_choose (collective, machine, whole_partition);
}

/* An algorithm that leaves its result on all ranks begins with a copy of the rank's own vector. */
static uint64_t
vector_bytes (const SimCollective *collective)
{
  switch ((int) collective->kind) {
  case TRACE_OP_ALLREDUCE:
  case TRACE_OP_SCAN: return collective->bytes;
  case TRACE_OP_REDUCE_SCATTER: return collective->total_bytes;
  default: return 0;
  }
}

SimStep
sim_collective_step (const SimCollective *collective, uint32_t step)
{
  bool first = step < collective->n_first_steps;
  SimCollective part;
  SimStep result;

  g_assert (step < collective->n_steps);
  if (collective->stages != NULL)
    return sim_stages_step (collective, step);
  if (collective->second == NULL) {
    result = collective->algorithm->step (collective, step);
    if (step == 0)
      result.before.copy_bytes += vector_bytes (collective);
    return result;
  }
  part = part_of (collective, first);
  result = part.algorithm->step (&part, first ? step : step - collective->n_first_steps);
  /* The first part is complete before the second starts. */
  result.wait |= step + 1 == collective->n_first_steps;
  return result;
}

/* --- In the network's hardware --- */

int64_t
sim_collective_hardware_ps (const SimCollective *collective, const TopoMachine *machine)
{
  const TopoParameters *parameters = &machine->parameters;
  const TopoShape *shape = &machine->shape;
  uint64_t bandwidth_Bps = parameters->collective.tree_bandwidth_Bps;
  uint32_t hops = 0;
  int64_t climb_ps;

  /* Hops from the middle of the partition to its farthest node: the least depth
   * of a tree that is rooted in the middle. */
  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++)
    hops += shape->wrap[dimension] ? shape->size[dimension] / 2 : shape->size[dimension] - 1;
  climb_ps = hops * parameters->collective.tree_hop_latency_ps;

  if (collective->kind == TRACE_OP_BARRIER)
    return parameters->collective.barrier_latency_ps + climb_ps;
  if (collective->kind == TRACE_OP_BCAST &&
      collective->bytes > parameters->collective.rectangle_bytes) {
    /* The multi-colour rectangle broadcast sends one part of the payload along
     * each of several trees of torus links.  Guess: one tree per dimension that
     * the partition has, each at the full payload rate of a link: user bytes per
     * second in full packets. */
    double packet_bytes =
        (double) (parameters->packet.header_bytes + parameters->packet.payload_bytes +
                  parameters->packet.trailer_bytes);
    uint32_t n_trees = 0;

    for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++)
      n_trees += shape->size[dimension] > 1;
    bandwidth_Bps =
        MAX (n_trees, 1u) *
        (uint64_t) ((double) parameters->link.bandwidth_Bps * (1 - parameters->link.overhead) *
                    (double) parameters->packet.payload_bytes / packet_bytes);
  }
  return parameters->collective.tree_latency_ps + climb_ps +
         (int64_t) ((BaseUint128) collective->bytes * 1000000000000u / bandwidth_Bps);
}

/* --- Direct --- */

/* A permutation of 0 .. n-1.  A Feistel network makes one of 0 .. 2^(2 * half_bits) - 1
 * that the key picks: its rounds are undone by running them backwards, so no two
 * numbers can end up the same.  Numbers that leave the range are shuffled on until
 * they are back in it, which they are after fewer than 4 turns on average, the range
 * being over a quarter of the shuffled numbers. */
static uint32_t
shuffle_below (uint32_t number, uint32_t n, uint32_t key)
{
  uint32_t half_bits = (sim_ceil_log2 (n) + 1) / 2;
  uint32_t mask = (1u << half_bits) - 1;

  do {
    uint32_t left = number >> half_bits, right = number & mask;

    for (uint32_t round = 1; round <= 4; round++) {
      uint32_t mixed = left ^ (base_map_hash (right ^ key * (2 * round + 1)) & mask);

      left = right;
      right = mixed;
    }
    number = left << half_bits | right;
  } while (number >= n);
  return number;
}

/* PAMI's destinations are in a pseudo-random order of each rank's own, so
 * that the ranks do not all send to the same one at once.  The order itself
 * is not PAMI's. */
uint32_t
sim_collective_direct (const SimCollective *collective, uint32_t i, uint64_t *bytes)
{
  uint32_t n_others = collective->n_ranks - 1;
  uint32_t nth = shuffle_below (i, n_others, base_map_hash (collective->rank + 1));
  uint32_t destination = sim_after (collective, nth + 1);

  g_assert (i < n_others);
  *bytes = sim_collective_direct_sent (collective, destination);
  return destination;
}

uint64_t
sim_collective_direct_sent (const SimCollective *collective, uint32_t destination)
{
  return collective->kind == TRACE_OP_ALLTOALLV ? sim_count_of (collective->counts, destination)
                                                : collective->bytes;
}

uint64_t
sim_collective_direct_received (const SimCollective *collective, uint32_t source)
{
  return collective->kind == TRACE_OP_ALLTOALLV ? sim_count_of (collective->recv_counts, source)
                                                : collective->recv_bytes;
}
