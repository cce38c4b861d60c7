/* aggregation_claims.h - what the claims of the aggregation paper share, told again by simulation.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each claim (validation/data/aggregation_published.csv) is an entry of the table in
 * aggregation.c. What messages do to each other in a node is measured by experiments of
 * infiniband.h; a choice is made as `hopcast aggregate` makes it: equation 5 on simulated times, 5
 * %, energy rank.
 *
 * Computation follows the IPCs of Table I: a core makes IPC x 2.8 GHz instructions per second,
 * three to an operation of the program (guess; only ratios matter for what patterns do to
 * computation, but the weight of communication depends on it).  The table has no patterns 4 and 5,
 * no CG, no MG and no other number of tasks than 16.  There the node model without counters
 * (predictors/aggregation/node_sharing.h) stands in: of LU, BT, SP and FT with the memory share and working
 * set by which it comes nearest to Table I, of CG and MG with guessed ones.
 *
 * Joules are those of study_power_guess, a guess: the paper measured them and does not tell what a
 * node draws. */
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

/* A job of a program under all patterns, and what is chosen for it. */
typedef struct {
  AggregationProgram program;
  uint32_t n_ranks;
  bool has[AGGREGATION_PATTERNS + 1]; /* of pattern p; false: its tasks do not fit a node */
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

/* aggregation_ipc.c: how long computations of a program take in a pattern, against operations at
 * the IPC of one of its 16 tasks alone in a node. */
double
aggregation_slowdown (AggregationProgram program, uint32_t n_ranks, const TopoMachine *machine,
                      const TopoPatterns *patterns, const TopoPattern *pattern);
/* That IPC. */
double aggregation_ipc_alone (AggregationProgram program);
/* Mean and largest of |predicted / measured - 1| of Table I's IPCs, in percent. */
double aggregation_ipc_error (bool largest);
