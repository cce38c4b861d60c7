/* aggregation_claims.h - the claims of the aggregation paper in simulation; private to its files.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each claim (validation/data/aggregation_published.csv) is an entry of the table in
 * aggregation_claims.c.  The effect of messages on each other in a node is measured by experiments
 * of infiniband.h; a choice is made as in `hopcast aggregate`: equation 5 on simulated times, 5 %,
 * energy rank.
 *
 * Computation follows the IPCs of Table I: a core makes IPC x 2.8 GHz instructions per second,
 * three to an operation of the program (guess; the effect of patterns on computation depends on
 * ratios only, but the weight of communication depends on it).  The table lacks patterns 4 and 5,
 * CG, MG and other numbers of tasks than 16.  There the node model without counters
 * (predictors/aggregation/node_sharing.h) stands in: for LU, BT, SP and FT with the memory share
 * and working set that fit Table I best, for CG and MG with guessed ones.
 *
 * Joules are those of study_power_guess, a guess: the paper measured them and does not publish the
 * power of a node. */
#pragma once

#include "study/aggregate/pattern_run.h"
#include "topology/mapping/aggregation.h"
#include "validation/infiniband/infiniband.h"
#include "validation/suite.h"

typedef enum {
  AGGREGATION_LU,
  AGGREGATION_BT,
  AGGREGATION_SP,
  AGGREGATION_FT,
  AGGREGATION_CG,
  AGGREGATION_MG,
  AGGREGATION_PROGRAMS
} AggregationProgram;

#define AGGREGATION_PATTERNS 8
#define AGGREGATION_TASKS    16 /* of Table I */

/* A job of a program under all patterns, and the chosen one. */
typedef struct {
  AggregationProgram program;
  uint32_t n_ranks;
  bool has[AGGREGATION_PATTERNS + 1]; /* false: the paper did not run this pattern */
  double computation_s[AGGREGATION_PATTERNS + 1], communication_s[AGGREGATION_PATTERNS + 1];
  double energy_J[AGGREGATION_PATTERNS + 1];
  uint32_t chosen;
} AggregationJob;

typedef struct {
  InfiniBand *ib;
  GPtrArray *jobs;  /* (element-type AggregationJob) made so far */
  GString *details; /* borrowed; may be NULL */
  const char *xc30; /* published runs; borrowed, NULL: none */
} Aggregation;

/* aggregation_runs.c: borrowed; made when it is first asked for; NULL and *error on failure. */
const AggregationJob *aggregation_job (Aggregation *aggregation, AggregationProgram program,
                                       uint32_t n_ranks, GError **error);

/* aggregation_ipc.c: the time of a program's computations in a pattern, relative to the IPC of one
 * of its 16 tasks alone in a node. */
double
aggregation_slowdown (AggregationProgram program, uint32_t n_ranks, const TopoMachine *machine,
                      const TopoPatterns *patterns, const TopoPattern *pattern);
/* That IPC. */
double aggregation_ipc_alone (AggregationProgram program);
/* Mean and largest of |predicted / measured - 1| of Table I's IPCs, in percent. */
double aggregation_ipc_error (bool largest);
