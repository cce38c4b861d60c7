/* node_sharing.h - slowdown of tasks that share caches and memory, without counters.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The IPC model (ipc_model.h) needs the program's counters.  This one needs two figures of the
 * program, and the resources that the tasks of a node share: the outermost cache, and the bandwidth
 * of buses and memories.  Its times are modelled, not measured; print them as such.
 *
 * Per unit of work of a task that had no more cache than its private one and memory for itself,
 *
 *   T = (1 - memory_share) * (1 + threads) + memory_share * missed * crowding
 *
 *   missed    of the accesses that leave the private cache, the share that the task's part of the
 *             shared cache does not hold: the distances of reuse follow a power law that ends at
 *             the working set (Hartstein, Srinivasan, Puzak and Emma, "Cache miss behavior: is it sqrt 2?", CF 2006:
 *             misses go with the size of a cache to the power of -0.5 on average, -0.3 to -0.7 by
 *             program).  With C the part, P the private cache, W the working set and a the exponent,
 *               missed = (C^-a - W^-a) / (P^-a - W^-a),      P <= C <= W
 *             the logarithm for a = 0; 0 when the working set fits.
 *   crowding  how much longer a byte takes than when one task fetches it: the tasks of a program
 *             come to the same phase together, so of a server with bandwidth B each of n tasks
 *             gets B / n, and takes no more than core_Bps:
 *               crowding = max (1, n core_Bps / B) over its servers
 *
 *   threads   how much longer, as a share, what does not wait for memory takes beside tasks on other
 *             hardware threads of the core: the two threads of a core do 2 / (1 + threads) times the work of one
 *
 * Not modelled: computation that goes on while memory is waited for (it counts as part of neither),
 * prefetchers, pages in another socket's memory, clocks that rise when cores are idle. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Of the power law, where a program's own is not known: the source's mean. */
#define PREDICT_REUSE_EXPONENT 0.5

/* Caches and memory as one task sees them. */
typedef struct {
  double private_bytes; /* of the largest cache that is its own, > 0 */
  double cache_bytes;   /* its part of the cache it shares; up to private_bytes: it has none */
  double crowding;      /* as above, at least 1: predict_crowding() */
  double threads;       /* as above; 0: the core is its own */
} PredictShare;

/* The demand of a program on memory. */
typedef struct {
  double memory_share;      /* as above, 0 .. 1 */
  double working_set_bytes; /* data that a task reuses; INFINITY: more than any cache */
  double reuse_exponent;    /* 0 .. 1 */
} PredictMemoryUse;

/* How much less each of n_tasks gets of a server of bandwidth_Bps than core_Bps; at least 1.
 * All positive, or bandwidth_Bps INFINITY. */
double predict_crowding (uint32_t n_tasks, double core_Bps, double bandwidth_Bps);

/* T, in the unit above: `missed` where the memory share and the crowding are 1. */
double predict_sharing_time (const PredictShare *share, const PredictMemoryUse *use);

/* The largest T over the tasks of a node (n >= 1) by that over the tasks of another way to place
 * them: programs wait for their slowest task.  1 where both are the same; INFINITY where a program
 * that only waits for memory has all in its cache in the reference and not here. */
double
predict_sharing_slowdown (const PredictShare *shares, uint32_t n, const PredictShare *reference,
                          uint32_t n_reference, const PredictMemoryUse *use);

/* --- A program's memory share, learned from runs that differ in density ---
 *
 * For users without counters: run a program with the same ranks packed tightly and loosely, at one
 * or more counts of ranks.  The seconds of a run of program i with p ranks are taken to be
 *
 *   seconds = work_i / p * (T / T_0 + overhead * (p / p_0)^growth)
 *
 *   T, T_0    node_sharing.h's time of this run and of the program's first run; a task's working
 *             set is footprint_bytes / p, so that it shrinks as ranks grow
 *   overhead  all but computation, mostly communication, relative to the computation of the first
 *             run: it is not slowed by sharing, and grows against it.  One number for all programs:
 *             two counts of ranks do not determine one per program.
 *   growth    1/3 for programs whose ranks have three-dimensional blocks: the surface by the volume of
 *             a block of n/p points is proportional to (p/n)^(1/3)
 *
 * Learned are one memory share for each program and the overhead, work_i being free, so that the sum
 * of squares of log (modelled / measured) over all runs is least.  A pure function of its inputs. */

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
  double log_rms; /* of the learned runs: root of the mean square of the logarithms */
  PredictNodeAssumptions assumptions;
} PredictNodeFigures;

/* `names` [n_programs] are for errors.  NULL and PREDICT_ERROR_NUMERIC: a program has no two runs of
 * one count of ranks with different shares, which alone determine the memory share; or overhead is asked for
 * and no program has two counts. */
PredictNodeFigures *
predict_node_learn (const PredictTimedRun *runs, uint32_t n_runs, const char *const *names,
                    uint32_t n_programs, const PredictNodeAssumptions *assumptions, GError **error);
void predict_node_figures_free (PredictNodeFigures *figures);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PredictNodeFigures, predict_node_figures_free)

/* seconds * p / work_i of a run like this one; its own seconds do not count. */
double predict_node_time (const PredictNodeFigures *figures, const PredictTimedRun *run);
