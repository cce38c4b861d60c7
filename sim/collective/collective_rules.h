/* collective_rules.h - which algorithm a library takes; private to sim/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A rule sees a call of two ranks or more.  It may look at what all ranks of
 * the communicator know alike: see sim_collective_init(). */
#pragma once

#include "sim/collective/collective_steps.h"

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
} SimChoice;

typedef struct {
  const SimAlgorithm *only; /* always this one; NULL: what choose() says */
  SimChoice (*choose) (const SimCollective *collective);
} SimRule;

/* By TraceOpKind; every collective has one. */
extern const SimRule sim_rules_bgq[TRACE_N_OPS];
extern const SimRule sim_rules_ompi13[TRACE_N_OPS];
extern const SimRule sim_rules_ompi41[TRACE_N_OPS];
extern const SimRule sim_rules_mpich[TRACE_N_OPS];

/* MPICH's, that Blue Gene/Q has too. */
SimChoice sim_rule_allgather_mpich (const SimCollective *collective);
SimChoice sim_rule_alltoall_mpich (const SimCollective *collective);
SimChoice sim_rule_reduce_scatter_mpich (const SimCollective *collective);

/* The call that a part of a call is: `first` of the two, or the other. */
SimCollective sim_collective_part (const SimCollective *collective, bool first);

/* What a gather or scatter has for each rank: all ranks agree about it.  A
 * root that has one of its two sizes only takes that. */
static inline uint64_t
sim_block_bytes (const SimCollective *collective)
{
  bool gather = collective->kind == TRACE_OP_GATHER;
  bool root = collective->rank == (uint32_t) collective->root;
  uint64_t bytes = gather == root ? collective->recv_bytes : collective->bytes;

  if (root && bytes == 0)
    return gather ? collective->bytes : collective->recv_bytes;
  return bytes;
}

/* What an allgather(v) or a reduce-scatter has in all. */
static inline uint64_t
sim_total_bytes (const SimCollective *collective)
{
  return collective->kind == TRACE_OP_ALLGATHER ? collective->bytes * collective->n_ranks
                                                : collective->total_bytes;
}

/* Some rules look at the number of elements, but traces have bytes.  Guess:
 * elements are of 8 bytes, as double precision numbers are. */
static inline uint64_t
sim_elements (uint64_t bytes)
{
  return bytes / 8 + (bytes % 8 != 0);
}

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
  return (SimChoice){ first.algorithm, first.segment_bytes, second.algorithm,
                      second.segment_bytes };
}
