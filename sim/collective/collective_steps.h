/* collective_steps.h - the step algorithms of collectives; private to sim/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Algorithms that MPICH and Open MPI share have one name here, MPICH's where
 * they differ.  A step that the library does with blocking calls has `wait` set.
 *
 * Open MPI posts the receive of the next segment before it waits for the last
 * one.  A step has it posted together with the sends of the last segment, and
 * waits for all of them: the next receive is then posted when both the sends
 * and the receive are complete, which is the earliest time of its send. */
#pragma once

#include "sim/collective/collective.h"

/* A rank's place in a tree, in ranks of the communicator. */
typedef struct {
  uint32_t parent; /* TOPO_NONE: I am the root */
  uint32_t n_children;
  uint32_t children[48]; /* in the order in which they are sent to */
} SimTree;

typedef struct SimFold SimFold; /* collective_exchange.c */

/* n_steps depends on the rank; a step may be empty.  Algorithms of one family share
 * these two functions, which read the kind of the call and the fields below. */
struct SimAlgorithm {
  uint32_t (*n_steps) (const SimCollective *collective);
  SimStep (*step) (const SimCollective *collective, uint32_t step);
  bool at_once; /* linear: the root starts all messages before it waits for any */
  void (*shape) (const SimCollective *collective, SimTree *tree); /* on trees in segments */

  /* Folded reductions: the steps of a rank that has not folded. */
  uint32_t (*n_core_steps) (const SimCollective *collective, const SimFold *fold);
  SimStep (*core_step) (const SimCollective *collective, const SimFold *fold, uint32_t step);
};

/* collective_tree.c: with a root. */
extern const SimAlgorithm sim_bcast_binomial;
extern const SimAlgorithm sim_reduce_binomial;
extern const SimAlgorithm sim_gather_binomial;
extern const SimAlgorithm sim_gatherv_linear;
extern const SimAlgorithm sim_scatter_binomial;
extern const SimAlgorithm sim_scatterv_linear;

/* On trees, in segments of segment_bytes. */
extern const SimAlgorithm sim_bcast_tree_binary;
extern const SimAlgorithm sim_bcast_tree_binomial;
extern const SimAlgorithm sim_bcast_tree_four_nomial;
extern const SimAlgorithm sim_bcast_pipeline;
extern const SimAlgorithm sim_bcast_split_binary;
extern const SimAlgorithm sim_reduce_tree_binary;
extern const SimAlgorithm sim_reduce_tree_binomial;
extern const SimAlgorithm sim_reduce_tree_in_order;
extern const SimAlgorithm sim_reduce_pipeline;

/* Broadcasts that scatter, then gather everywhere. */
extern const SimAlgorithm sim_bcast_scatter_doubling;
extern const SimAlgorithm sim_bcast_scatter_ring;

/* The root with each other rank directly. */
extern const SimAlgorithm sim_bcast_linear;
extern const SimAlgorithm sim_reduce_linear;
extern const SimAlgorithm sim_gather_linear;
extern const SimAlgorithm sim_gather_linear_sync; /* segment_bytes: of the first piece */
extern const SimAlgorithm sim_gatherv_in_turn;
extern const SimAlgorithm sim_scatter_linear;
extern const SimAlgorithm sim_scatter_linear_at_once;
extern const SimAlgorithm sim_scatterv_in_turn;

/* collective_exchange.c: without a root. */
extern const SimAlgorithm sim_barrier_linear;
extern const SimAlgorithm sim_barrier_dissemination;
extern const SimAlgorithm sim_barrier_doubling;
extern const SimAlgorithm sim_barrier_tree;
extern const SimAlgorithm sim_allgather_doubling;
extern const SimAlgorithm sim_allgather_bruck;
extern const SimAlgorithm sim_allgather_ring;
extern const SimAlgorithm sim_allgather_neighbor;
extern const SimAlgorithm sim_alltoall_bruck;
extern const SimAlgorithm sim_alltoall_scattered;
extern const SimAlgorithm sim_alltoall_pairwise;
extern const SimAlgorithm sim_alltoall_pairwise_ring;
extern const SimAlgorithm sim_alltoall_linear;
extern const SimAlgorithm sim_alltoallv_linear;
extern const SimAlgorithm sim_alltoallv_linear_nonzero;
extern const SimAlgorithm sim_reduce_scatter_gather; /* this one has a root, too */
extern const SimAlgorithm sim_allreduce_doubling;
extern const SimAlgorithm sim_allreduce_scatter_allgather;
extern const SimAlgorithm sim_allreduce_ring; /* with segment_bytes: in phases */
extern const SimAlgorithm sim_allreduce_halves;
extern const SimAlgorithm sim_reduce_scatter_halving;
extern const SimAlgorithm sim_reduce_scatter_pairwise;
extern const SimAlgorithm sim_reduce_scatter_ring;
extern const SimAlgorithm sim_reduce_scatter_butterfly;
extern const SimAlgorithm sim_scan_doubling;
extern const SimAlgorithm sim_scan_linear;
extern const SimAlgorithm sim_neighbor_exchange;

static inline bool
sim_is_power_of_two (uint32_t n)
{
  return (n & (n - 1)) == 0;
}

static inline uint32_t
sim_floor_log2 (uint32_t n)
{
  return 31u - (uint32_t) __builtin_clz (n);
}

/* The smallest k with 2^k >= n; n > 0. */
static inline uint32_t
sim_ceil_log2 (uint32_t n)
{
  return n == 1 ? 0 : sim_floor_log2 (n - 1) + 1;
}

/* The number of the other ranks; as SimAlgorithm.n_steps: a step for each. */
static inline uint32_t
sim_others (const SimCollective *collective)
{
  return collective->n_ranks - 1;
}

/* The rank `distance` places after (before) another, around the ring. */
static inline uint32_t
sim_rank_after (const SimCollective *collective, uint32_t rank, uint32_t distance)
{
  return distance < collective->n_ranks - rank ? rank + distance
                                               : rank - (collective->n_ranks - distance);
}

static inline uint32_t
sim_rank_before (const SimCollective *collective, uint32_t rank, uint32_t distance)
{
  return distance <= rank ? rank - distance : rank + (collective->n_ranks - distance);
}

/* The same of this rank. */
static inline uint32_t
sim_after (const SimCollective *collective, uint32_t distance)
{
  return sim_rank_after (collective, collective->rank, distance);
}

static inline uint32_t
sim_before (const SimCollective *collective, uint32_t distance)
{
  return sim_rank_before (collective, collective->rank, distance);
}

static inline uint64_t
sim_count_of (const uint64_t *counts, uint32_t rank)
{
  return counts == NULL ? 0 : counts[rank];
}

static inline SimStep
sim_step_send (uint32_t to, uint64_t bytes, bool wait)
{
  return (SimStep){ .send_to = to, .recv_from = TOPO_NONE, .send_bytes = bytes, .wait = wait };
}

static inline SimStep
sim_step_receive (uint32_t from, uint64_t bytes, bool wait)
{
  return (SimStep){ .send_to = TOPO_NONE, .recv_from = from, .recv_bytes = bytes, .wait = wait };
}

static inline SimStep
sim_step_nothing (void)
{
  return (SimStep){ .send_to = TOPO_NONE, .recv_from = TOPO_NONE };
}

static inline SimStep
sim_step_swap (uint32_t peer, uint64_t send_bytes, uint64_t recv_bytes)
{
  return (SimStep){ .send_to = peer,
                    .recv_from = peer,
                    .send_bytes = send_bytes,
                    .recv_bytes = recv_bytes,
                    .wait = true };
}

static inline SimStep
sim_step_both (uint32_t to, uint64_t send_bytes, uint32_t from, uint64_t recv_bytes)
{
  return (SimStep){ .send_to = to,
                    .recv_from = from,
                    .send_bytes = send_bytes,
                    .recv_bytes = recv_bytes,
                    .wait = true };
}

/* The received vector is combined with the rank's own. */
static inline SimStep
sim_step_reducing (SimStep step)
{
  step.after.reduce_bytes = step.recv_from == TOPO_NONE ? 0 : step.recv_bytes;
  return step;
}

/* --- collective_named.c --- */

/* The algorithm of a number of sim_collective_named(); NULL: it is not for this call. */
const SimAlgorithm *sim_named_algorithm (const SimCollective *collective, uint64_t number);

/* --- collective_rules.c: the choice of an algorithm --- */

/* Where `second` is set, the call is made of two others with rank 0 as root:
 *
 *   allreduce       reduce, broadcast
 *   allgather(v)    gather(v), broadcast of all
 *   reduce_scatter  reduce of all, scatterv                               */
typedef struct {
  const SimAlgorithm *algorithm;
  uint64_t segment_bytes; /* 0: not segmented */
  const SimAlgorithm *second;
  uint64_t second_segment_bytes;
  const SimStages *stages; /* in place of all these; NULL: one level */
} SimChoice;

static inline SimChoice
sim_choose (const SimAlgorithm *algorithm)
{
  return (SimChoice){ .algorithm = algorithm };
}

static inline SimChoice
sim_choose_segmented (const SimAlgorithm *algorithm, uint64_t segment_bytes)
{
  return (SimChoice){ .algorithm = algorithm, .segment_bytes = segment_bytes };
}

static inline SimChoice
sim_choose_two (SimChoice first, SimChoice second)
{
  return (SimChoice){ .algorithm = first.algorithm,
                      .segment_bytes = first.segment_bytes,
                      .second = second.algorithm,
                      .second_segment_bytes = second.segment_bytes };
}

/* Bytes of a gather or scatter for each rank: all ranks agree about them. */
uint64_t sim_block_bytes (const SimCollective *collective);

/* The switches reduce: for a barrier, allreduce, reduction or broadcast with collective->sharp. */
SimChoice sim_choose_switches (const SimCollective *collective);

/* By the rules of a library; the same on all ranks of the communicator. */
SimChoice sim_choose_algorithm (const SimCollective *collective, TopoCollectives rules);

/* --- collective_levels.c: calls in stages on groups of the ranks --- */

typedef enum {
  SIM_GROUP_NODE,           /* the ranks of each node */
  SIM_GROUP_ROOT_NODE,      /* those of the root's node */
  SIM_GROUP_OTHER_NODES,    /* those of each other node */
  SIM_GROUP_LEADERS,        /* one rank of each node */
  SIM_GROUP_ROOT_TO_LEADER, /* the root and the leader of its node, if they are two */
  SIM_GROUP_FIRST_TO_ROOT,  /* rank 0 and the root, if they are two */
} SimGroupKind;

/* The root of a stage is the leader of the node, among the leaders that of the root's node, and on
 * the root's node alone the root. */
typedef struct {
  uint8_t kind;      /* TraceOpKind */
  uint8_t group;     /* SimGroupKind */
  bool posted;       /* as a nonblocking call */
  bool blocks_first; /* except in the first segment */
  bool to_first;     /* among leaders: rank 0 is the root */
} SimStage;

struct SimStages {
  uint32_t n;
  SimStage stage[4];
  uint64_t segment_bytes; /* 0: the call is not cut */
  bool root_leads;        /* leaders have the root's number in their nodes, which are even; else the
                           * first of each node leads */
  SimChoice (*choose) (const SimCollective *part, bool posted);
};

/* Sets the stages and the number of steps.  The groups are there. */
void sim_stages_set (SimCollective *collective, const SimStages *stages);
SimStep sim_stages_step (const SimCollective *collective, uint32_t step);
