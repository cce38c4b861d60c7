/* collective.h - collectives as steps of point-to-point messages.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An algorithm is a pure function from (call, my rank, step number) to the messages
 * of this rank in that step, so that a rank in the middle of a collective
 * needs to remember one number, and a million ranks fit in memory.
 *
 * Which algorithm: as the rules of [mpi] collectives say.  `bgq` is Blue
 * Gene/Q's own where bgq.md section 5 gives them (global interrupt barrier,
 * collective network for broadcast and reductions, direct alltoall), MPICH
 * 3.1's point-to-point ones otherwise; only these rules use the network's
 * hardware and direct collectives.  `ompi-1.3`, `ompi-4.1`, `ompi-5.0`, `mpich` and
 * `mpich-4` are those of Open MPI 1.3.2, 4.1 and 5.0, MPICH 4.0 and 4.2: handbook page
 * "Collectives".  Those of Open MPI 5.0 and MPICH 4.2 have two levels, nodes and their
 * leaders: collective_levels.c. */
#pragma once

#include "topology/fabric/sharp_tree.h"
#include "topology/machine.h"
#include "mpi/operation.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum {
  SIM_COLLECTIVE_STEPS,    /* messages, by sim_collective_step() */
  SIM_COLLECTIVE_HARDWARE, /* all ranks meet in the network: sim_collective_hardware_ps() */
  SIM_COLLECTIVE_DIRECT,   /* every rank sends to every other at once: sim_collective_direct() */
  SIM_COLLECTIVE_NOTHING,  /* one rank: a call and no more */
} SimCollectiveMethod;

typedef struct SimAlgorithm SimAlgorithm;
typedef struct SimStages SimStages;

/* The ranks of a communicator by the nodes that they are on.  All numbers are ranks of the
 * communicator, in ascending order within a list. */
typedef struct {
  uint32_t n_nodes;
  uint32_t *node;         /* [n_ranks] of a rank; nodes are numbered by their first ranks */
  uint32_t *local;        /* [n_ranks] its number among the ranks of its node */
  uint32_t *place;        /* [n_ranks] its number among the ranks of the same `local` */
  uint32_t *first_member; /* [n_nodes + 1] of a node, in members[] */
  uint32_t *members;      /* [n_ranks] by node */
  uint32_t *first_peer;   /* [n_local + 1] of a `local`, in peers[] */
  uint32_t *peers;        /* [n_ranks] by `local` */
  bool even;              /* as many on every node */
  bool in_order;          /* members[i] is i */
} SimGroups;

/* node[rank] is a number of any kind that only the ranks of one node share.  NULL when there is
 * one level only: all ranks are on one node, or each is on a node of its own. */
SimGroups *sim_groups_new (const uint32_t *node, uint32_t n_ranks);
SimGroups *sim_groups_ref (SimGroups *groups);
/* Not from several threads at a time.  NULL is allowed. */
void sim_groups_unref (SimGroups *groups);

/* Whether switches of a fabric reduce for a communicator, and how far the way is. */
typedef struct {
  uint32_t n_leaders; /* its nodes, one rank of each of which sends; 0: they do not */
  TopoSharpTree tree;
} SimSharp;

/* nodes[n_nodes] are different.  Not for fewer than sharp.min_leaders, or where mpi.sharp is off. */
SimSharp sim_sharp_new (const TopoMachine *machine, const uint32_t *nodes, uint32_t n_nodes);

/* From the arrival of the last leader to the time when all have the result, with the processor's
 * time of both ends.  A call larger than a transaction goes in pieces, so many at a time as
 * sharp.transactions says.  Leaders work in step, and no other traffic is in the way. */
int64_t sim_sharp_ps (const SimSharp *sharp, uint64_t bytes, const TopoMachine *machine);

/* One call on one rank, as the algorithms see it.  Arrays are borrowed and
 * must outlive the call (the replay copies them from the cursor). */
typedef struct {
  TraceOpKind kind;
  uint8_t method;   /* SimCollectiveMethod */
  uint32_t n_ranks; /* of the communicator */
  uint32_t rank;    /* mine in it */
  int32_t root;
  uint64_t bytes, recv_bytes;
  const uint64_t *counts, *recv_counts;  /* v-variants, neighbours; NULL otherwise */
  const int32_t *destinations, *sources; /* neighbours, of counts and recv_counts */
  uint32_t n_destinations, n_sources;
  uint64_t total_bytes;    /* of all recv_counts, where every rank knows them */
  const SimGroups *groups; /* borrowed; NULL: one level, or not known */
  SimSharp sharp;

  /* STEPS: how many sim_collective_step() has, and, private to collective*.c,
   * the algorithm.  Where `second` is set, that collective follows the first.  Where `stages`
   * is, they are all there is. */
  uint32_t n_steps, n_first_steps;
  const SimAlgorithm *algorithm, *second;
  uint64_t segment_bytes, second_segment_bytes; /* 0: not segmented */
  const SimStages *stages;
  uint32_t n_segments;
  uint32_t n_stage_steps[4][3]; /* of each stage: in the first segment, others, the last one */
} SimCollective;

/* The rules of [mpi] collectives, or SHARP, want sim_collective_init() to know the groups. */
bool sim_collective_has_levels (const TopoMachine *machine);

/* Fills *collective: chooses method and algorithm.  `whole_partition` tells
 * whether the communicator is one that the collective network can serve
 * (COMM_WORLD, or made so by the machine's rules).  `groups` must outlive the call; NULL:
 * no algorithm has two levels.  Nonblocking calls have one level in any case.  `sharp` is left at
 * zeros; who fills it in chooses once more.
 *
 * The choice must be the same on all ranks of the communicator, so it may
 * depend only on properties that all ranks know (kind, n_ranks, sizes that MPI requires
 * to agree; counts only where every rank has them all: allgatherv,
 * reduce_scatter).  The root of a rooted kind must be a rank of the
 * communicator, and so must neighbours be.  Arrays of counts that are too
 * short count as absent: zeros; so do sizes that are not known.  An operation that
 * makes, frees or fences a window is a barrier here. */
void sim_collective_init (SimCollective *collective, const TopoMachine *machine, const TraceOp *op,
                          uint32_t n_ranks, uint32_t rank, bool whole_partition,
                          const SimGroups *groups);

/* Chooses them once more, for a collective of which all else is there. */
void
sim_collective_choose (SimCollective *collective, const TopoMachine *machine, bool whole_partition);

/* The number of an algorithm of this kind of collective, as Open MPI's parameters
 * coll_tuned_KIND_algorithm name it; 0: there is none.  As mpi.algorithm of a machine it is taken,
 * without segments, whatever the rules say, where it can serve so many ranks. */
uint32_t sim_collective_named (TraceOpKind kind, const char *name);

/* Why a call does not fit a communicator of n_ranks: a list of counts of another length, a root or
 * a neighbour that is no rank of it.  NULL when it fits; the caller frees. */
char *sim_collective_fault (const TraceOp *op, uint32_t n_ranks);

/* What the processor does in an algorithm beside the messages: the copies of a message's own data
 * are the messaging library's. */
typedef struct {
  uint64_t copy_bytes;   /* from one buffer of the rank to another */
  uint64_t reduce_bytes; /* of one vector, combined with another in its place */
  uint32_t n_types;      /* derived datatypes: made, used in messages and freed */
  uint32_t n_described;  /* blocks of their descriptions */
  uint32_t n_blocks;     /* packed, unpacked or copied */
} SimLocalWork;

static inline SimLocalWork
sim_local_work_sum (SimLocalWork a, SimLocalWork b)
{
  return (SimLocalWork){ a.copy_bytes + b.copy_bytes, a.reduce_bytes + b.reduce_bytes,
                         a.n_types + b.n_types, a.n_described + b.n_described,
                         a.n_blocks + b.n_blocks };
}

/* One step: a message to send and one to receive, in ranks of the communicator;
 * may be nothing at all.
 * A step's receive is posted before its send.  `wait`: everything posted so
 * far in this collective completes before the next step starts. */
typedef struct {
  uint32_t send_to, recv_from; /* TOPO_NONE: nothing */
  uint64_t send_bytes, recv_bytes;
  bool wait;
  bool in_switches; /* the rank is a leader and meets the others in the switches: sim_sharp_ps() */
  SimLocalWork before; /* anything of the step is posted */
  SimLocalWork
      after; /* all that is posted so far is complete, with this step or the next that waits */
} SimStep;

/* step < n_steps.  Pure. */
SimStep sim_collective_step (const SimCollective *collective, uint32_t step);

/* HARDWARE: from the last rank's arrival to everyone's return.  For a
 * broadcast "last arrival" is the root's for the ranks that wait for it. */
int64_t sim_collective_hardware_ps (const SimCollective *collective, const TopoMachine *machine);

/* DIRECT: the i-th destination (0 <= i < n_ranks - 1) in this rank's
 * pseudo-random order, and the bytes for it; a permutation of the others.
 * Destinations with 0 bytes are listed too. */
uint32_t sim_collective_direct (const SimCollective *collective, uint32_t i, uint64_t *bytes);

/* DIRECT: bytes that this rank sends to `destination`. */
uint64_t sim_collective_direct_sent (const SimCollective *collective, uint32_t destination);

/* DIRECT: bytes that this rank gets from `source`. */
uint64_t sim_collective_direct_received (const SimCollective *collective, uint32_t source);
