/* node_learning.h - a program's memory share, learned from runs that differ in density.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * For users without counters: run a program with the same ranks packed tightly and loosely, at one
 * or more counts of ranks.  The seconds of a run of program i with p ranks are taken to be
 *
 *   seconds = work_i / p * (T / T_0 + overhead * (p / p_0)^growth)
 *
 *   T, T_0    node_sharing.h's time of this run and of the program's first run; a task's working
 *             set is footprint_bytes / p, so that it shrinks as ranks grow
 *   overhead  what is not computation, above all communication, by the computation of the first
 *             run: it is not slowed by sharing, and grows against it.  One number for all programs:
 *             two counts of ranks tell too little about each.
 *   growth    1/3 for programs whose ranks have three-dimensional blocks: the surface by the volume of
 *             a block of n/p points is proportional to (p/n)^(1/3)
 *
 * Learned are one memory share for each program and the overhead, work_i being free, so that the sum
 * of squares of log (modelled / measured) over all runs is least.  A pure function of its inputs. */
#pragma once

#include "predictors/aggregation/node_sharing.h"

#include <glib.h>
#include <stdbool.h>

#define PREDICT_SURFACE_GROWTH (1.0 / 3)

typedef struct {
  uint32_t program;   /* 0 .. n_programs - 1 */
  double ranks;       /* > 0 */
  PredictShare share; /* of every task */
  double seconds;     /* > 0 */
} PredictTimedRun;

typedef struct {
  double
      footprint_bytes; /* of the data that all ranks come back to; INFINITY: more than all caches */
  double reuse_exponent;
  double growth;
  bool with_overhead; /* else it is 0 */
} PredictNodeAssumptions;

typedef struct {
  uint32_t n_programs;
  double *memory_share;    /* [n_programs] */
  PredictTimedRun *origin; /* [n_programs] the first run of each */
  double overhead;
  double log_rms; /* of what was learned from: root of the mean square of the logarithms */
  PredictNodeAssumptions assumptions;
} PredictNodeFigures;

/* `names` [n_programs] are for errors.  NULL and PREDICT_ERROR_NUMERIC: a program has no two runs of
 * one count of ranks with different shares, which alone tell about memory; or overhead is asked for
 * and no program has two counts. */
PredictNodeFigures *
predict_node_learn (const PredictTimedRun *runs, uint32_t n_runs, const char *const *names,
                    uint32_t n_programs, const PredictNodeAssumptions *assumptions, GError **error);
void predict_node_figures_free (PredictNodeFigures *figures);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictNodeFigures, predict_node_figures_free)

/* seconds * p / work_i of a run like this one; its own seconds do not count. */
double predict_node_time (const PredictNodeFigures *figures, const PredictTimedRun *run);
