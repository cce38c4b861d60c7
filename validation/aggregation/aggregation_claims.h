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
 * power of a node.
 *
 * AggregationGuesses has all of these guesses.  A job is simulated once, with the usual ones; under others
 * its computations and energies are worked out anew and its communication stays, as in equation 5. */
#pragma once

#include "predictors/aggregation/bound_table.h"
#include "predictors/aggregation/node_sharing.h"
#include "study/aggregate/pattern_run.h"
#include "study/aggregate/power.h"
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

/* What the paper does not publish. */
typedef struct {
  StudyPower power;
  double instructions_per_operation;
  double memory_share
      [AGGREGATION_PROGRAMS]; /* of the programs without a row in Table I; else unused */
  double reuse_exponent;
} AggregationGuesses;

extern const AggregationGuesses aggregation_usual;

/* One guess, and how far it may be off. */
typedef struct {
  const char *name; /* "power of an idle node" */
  double low, high; /* in its unit */
  const char *unit;
  double scale; /* of the number in AggregationGuesses, in its unit */
  size_t field; /* of AggregationGuesses, a double */
} AggregationVariation;

extern const AggregationVariation aggregation_variations[];
extern const guint aggregation_n_variations;

/* A job of a program under all patterns, and the chosen one. */
typedef struct {
  AggregationProgram program;
  uint32_t n_ranks;
  TopoMachine *machine;                    /* of the job that was simulated; else NULL */
  TopoPatterns *patterns;                  /* likewise */
  PredictMemoryUse use;                    /* with the usual guesses */
  bool has[AGGREGATION_PATTERNS + 1];      /* false: the paper did not run this pattern */
  double factor[AGGREGATION_PATTERNS + 1]; /* of the recorded computations */
  double computation_s[AGGREGATION_PATTERNS + 1], communication_s[AGGREGATION_PATTERNS + 1];
  double energy_J[AGGREGATION_PATTERNS + 1];
  uint32_t chosen;
} AggregationJob;

typedef struct {
  InfiniBand *ib;
  GPtrArray *jobs;            /* (element-type AggregationJob) simulated so far */
  AggregationGuesses guesses; /* that hold */
  AggregationJob varied;      /* a job under guesses that are not the usual ones */
  PredictBoundTable *table;   /* of System G with 16 nodes; NULL: not filled yet */
  GString *details;           /* borrowed; may be NULL */
  char *xc30_note;            /* which of its predictions the figures are of; NULL: none yet */
  const char *xc30;           /* other runs than those built in; borrowed, may be NULL */
} Aggregation;

/* aggregation_runs.c: the job under the guesses that hold, borrowed until the next call; simulated when it
 * is first asked for; NULL and *error on failure. */
const AggregationJob *aggregation_job (Aggregation *aggregation, AggregationProgram program,
                                       uint32_t n_ranks, GError **error);
void aggregation_job_free (gpointer job);

/* By how much, in percent, computation and the bound of communication together differ from the simulated
 * time: the mean of the differences, up or down, over the patterns of a program on 16 tasks.  NaN and *error. */
double
aggregation_over_bound (Aggregation *aggregation, AggregationProgram program, GError **error);

/* aggregation_ipc.c: what a program asks of memory.  Fitted to Table I, or guessed. */
PredictMemoryUse
aggregation_memory_use (AggregationProgram program, const TopoMachine *machine,
                        const TopoPatterns *patterns, const AggregationGuesses *guesses);
/* The time of a program's computations in a pattern, relative to the IPC of one of its 16 tasks alone in a
 * node. */
double aggregation_slowdown (AggregationProgram program, uint32_t n_ranks,
                             const TopoMachine *machine, const TopoPatterns *patterns,
                             const TopoPattern *pattern, const PredictMemoryUse *use);
/* That IPC. */
double aggregation_ipc_alone (AggregationProgram program);
/* Mean and largest of |predicted / measured - 1| of Table I's IPCs, in percent. */
double aggregation_ipc_error (bool largest);
/* The mean error, in percent, of a model of the IPC (predictors/aggregation/ipc_model.h) that is trained on
 * all programs of Table I but one, with pattern 6 as its only sample, and predicts the other patterns of
 * that one; over the programs by turns.  NaN and *error. */
double aggregation_ipc_left_out (GString *details, GError **error);
