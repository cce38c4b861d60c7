/* node_sharing.c - slowdown of tasks that share caches and memory, without counters.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/aggregation/node_sharing.h"

#include "predictors/formula/elementary.h"
#include "predictors/predict_error.h"

double
predict_crowding (uint32_t n_tasks, double core_Bps, double bandwidth_Bps)
{
  g_assert (core_Bps > 0 && bandwidth_Bps > 0);
  return fmax (1, n_tasks * core_Bps / bandwidth_Bps);
}

/* The share of accesses beyond the private cache that the task's part of the shared one does not hold. */
static double
missed (const PredictShare *share, double working_set_bytes, double exponent)
{
  double cache_bytes = fmax (share->cache_bytes, share->private_bytes);
  double held = cache_bytes / share->private_bytes;
  double all = working_set_bytes / share->private_bytes;
  double tail;

  g_assert (share->private_bytes > 0 && exponent >= 0 && exponent <= 1);
  if (working_set_bytes <= cache_bytes)
    return 0;
  if (isinf (working_set_bytes)) /* elementary.h has no powers of it; the logarithm's limit is 1 */
    return exponent > 0 ? predict_power (held, -exponent) : 1;
  if (exponent == 0)
    return 1 - predict_log (held) / predict_log (all);
  tail = predict_power (all, -exponent);
  return (predict_power (held, -exponent) - tail) / (1 - tail);
}

double
predict_sharing_time (const PredictShare *share, const PredictMemoryUse *use)
{
  double share_missed = missed (share, use->working_set_bytes, use->reuse_exponent);

  g_assert (use->memory_share >= 0 && use->memory_share <= 1 && share->crowding >= 1);
  return (1 - use->memory_share) * (1 + share->threads) +
         use->memory_share * share_missed * share->crowding;
}

static double
slowest (const PredictShare *shares, uint32_t n, const PredictMemoryUse *use)
{
  double time = 0;

  g_assert (n > 0);
  for (uint32_t task = 0; task < n; task++)
    time = fmax (time, predict_sharing_time (&shares[task], use));
  return time;
}

double
predict_sharing_slowdown (const PredictShare *shares, uint32_t n, const PredictShare *reference,
                          uint32_t n_reference, const PredictMemoryUse *use)
{
  double time = slowest (shares, n, use), reference_time = slowest (reference, n_reference, use);

  return time == reference_time ? 1 : time / reference_time;
}

/* --- A program's memory share, learned from runs that differ in density ---
 *
 * T is linear in the memory share once the misses of each run are known, so a sum of squares costs a
 * few logarithms.  It need not have one minimum only: each search looks at a grid of
 * points first and closes in around the best by golden section. */

/* A program that computes nothing would have a T of 0 where all fits into caches. */
#define LARGEST_SHARE    0.999
#define LARGEST_OVERHEAD 4.0 /* four parts of communication to one of computation */
#define N_GRID           64
#define N_SECTIONS       40 /* 0.618^40: to 4e-9 of a step of the grid */
#define GOLDEN           0x1.3c6ef372fe95p-1

/* The terms of a run that the search reads. */
typedef struct {
  uint32_t program;
  double slow;     /* missed * crowding */
  double threads;  /* of its share */
  double growth;   /* (p / p_0)^growth */
  double log_work; /* log (seconds * p) */
} RunTerms;

typedef struct {
  RunTerms *runs; /* [n] */
  uint32_t n, n_programs;
  const uint32_t *first; /* [n_programs] run */
  double overhead, *memory_share;
  uint32_t program; /* its memory share is searched */
} Problem;

typedef double (*Cost) (Problem *problem, double at);

/* Where cost is least within 0 .. end. */
static double
search (Problem *problem, Cost cost, double end)
{
  double step = end / N_GRID, best = 0, least = cost (problem, 0), low, high, left, right;
  double cost_left, cost_right;

  for (uint32_t point = 1; point <= N_GRID; point++) {
    double found = cost (problem, point * step);

    if (found < least) {
      least = found;
      best = point * step;
    }
  }
  low = fmax (best - step, 0);
  high = fmin (best + step, end);
  left = high - GOLDEN * (high - low);
  right = low + GOLDEN * (high - low);
  cost_left = cost (problem, left);
  cost_right = cost (problem, right);
  for (uint32_t section = 0; section < N_SECTIONS; section++)
    if (cost_left <= cost_right) {
      high = right;
      right = left;
      cost_right = cost_left;
      left = high - GOLDEN * (high - low);
      cost_left = cost (problem, left);
    } else {
      low = left;
      left = right;
      cost_left = cost_right;
      right = low + GOLDEN * (high - low);
      cost_right = cost (problem, right);
    }
  if (fmin (cost_left, cost_right) < least)
    return cost_left <= cost_right ? left : right;
  return best;
}

static double
time_of (double memory_share, double slow, double threads)
{
  return (1 - memory_share) * (1 + threads) + memory_share * slow;
}

/* Of the runs of problem->program, around their mean: that is the best work. */
static double
share_cost (Problem *problem, double memory_share)
{
  const RunTerms *first = &problem->runs[problem->first[problem->program]];
  double origin = time_of (memory_share, first->slow, first->threads);
  double sum = 0, squares = 0;
  uint32_t n = 0;

  for (uint32_t run = 0; run < problem->n; run++) {
    const RunTerms *terms = &problem->runs[run];
    double log_time;

    if (terms->program != problem->program)
      continue;
    log_time = predict_log (time_of (memory_share, terms->slow, terms->threads) / origin +
                            problem->overhead * terms->growth) -
               terms->log_work;
    n++;
    sum += log_time;
    squares += log_time * log_time;
  }
  return fmax (squares - sum * sum / n, 0);
}

/* Of all runs, with the memory shares that go best with this overhead. */
static double
overhead_cost (Problem *problem, double overhead)
{
  double sum = 0;

  problem->overhead = overhead;
  for (problem->program = 0; problem->program < problem->n_programs; problem->program++) {
    double *memory_share = &problem->memory_share[problem->program];

    *memory_share = search (problem, share_cost, LARGEST_SHARE);
    sum += share_cost (problem, *memory_share);
  }
  return sum;
}

static double
slow_of (const PredictTimedRun *run, const PredictNodeAssumptions *assumptions)
{
  return run->share.crowding * missed (&run->share, assumptions->footprint_bytes / run->ranks,
                                       assumptions->reuse_exponent);
}

/* Sets first[] and checks that the runs determine the memory shares and the overhead. */
static gboolean
check (const PredictTimedRun *runs, uint32_t n_runs, const char *const *names, uint32_t n_programs,
       const PredictNodeAssumptions *assumptions, uint32_t *first, GError **error)
{
  bool has_growth = false;

  for (uint32_t program = 0; program < n_programs; program++) {
    bool has_contrast = false; /* two runs that differ in their shares only */

    first[program] = n_runs;
    for (uint32_t run = 0; run < n_runs; run++) {
      if (runs[run].program != program)
        continue;
      first[program] = MIN (first[program], run);
      has_growth = has_growth || runs[run].ranks != runs[first[program]].ranks;
      for (uint32_t other = 0; other < run && !has_contrast; other++)
        has_contrast = runs[other].program == program && runs[other].ranks == runs[run].ranks &&
                       (runs[other].share.threads != runs[run].share.threads ||
                        slow_of (&runs[other], assumptions) != slow_of (&runs[run], assumptions));
    }
    if (!has_contrast) {
      g_set_error (
          error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
          "%s: no two runs of as many ranks in which tasks have different shares of caches "
          "or memory",
          names[program]);
      return FALSE;
    }
  }
  if (has_growth || !assumptions->with_overhead)
    return TRUE;
  g_set_error_literal (error, PREDICT_ERROR, PREDICT_ERROR_NUMERIC,
                       "the overhead needs runs of different ranks, and no program has any");
  return FALSE;
}

static double
growth_of (const PredictTimedRun *run, const PredictTimedRun *origin, double growth)
{
  return predict_power (run->ranks / origin->ranks, growth);
}

PredictNodeFigures *
predict_node_learn (const PredictTimedRun *runs, uint32_t n_runs, const char *const *names,
                    uint32_t n_programs, const PredictNodeAssumptions *assumptions, GError **error)
{
  g_autofree uint32_t *first = g_new (uint32_t, n_programs);
  g_autofree RunTerms *terms = g_new (RunTerms, n_runs);
  PredictNodeFigures *figures;
  Problem problem;

  if (!check (runs, n_runs, names, n_programs, assumptions, first, error))
    return NULL;
  figures = g_new0 (PredictNodeFigures, 1);
  figures->n_programs = n_programs;
  figures->memory_share = g_new (double, n_programs);
  figures->origin = g_new (PredictTimedRun, n_programs);
  figures->assumptions = *assumptions;
  for (uint32_t program = 0; program < n_programs; program++)
    figures->origin[program] = runs[first[program]];
  for (uint32_t run = 0; run < n_runs; run++) {
    const PredictTimedRun *at = &runs[run];

    terms[run] = (RunTerms){
      .program = at->program,
      .slow = slow_of (at, assumptions),
      .threads = at->share.threads,
      .growth = growth_of (at, &figures->origin[at->program], assumptions->growth),
      .log_work = predict_log (at->seconds * at->ranks),
    };
  }
  problem = (Problem){ .runs = terms,
                       .n = n_runs,
                       .n_programs = n_programs,
                       .first = first,
                       .memory_share = figures->memory_share };
  if (assumptions->with_overhead)
    figures->overhead = search (&problem, overhead_cost, LARGEST_OVERHEAD);
  figures->log_rms = sqrt (overhead_cost (&problem, figures->overhead) / n_runs);
  return figures;
}

void
predict_node_figures_free (PredictNodeFigures *figures)
{
  if (figures == NULL)
    return;
  g_free (figures->memory_share);
  g_free (figures->origin);
  g_free (figures);
}

double
predict_node_time (const PredictNodeFigures *figures, const PredictTimedRun *run)
{
  const PredictTimedRun *origin = &figures->origin[run->program];
  double memory_share = figures->memory_share[run->program];

  return time_of (memory_share, slow_of (run, &figures->assumptions), run->share.threads) /
             time_of (memory_share, slow_of (origin, &figures->assumptions),
                      origin->share.threads) +
         figures->overhead * growth_of (run, origin, figures->assumptions.growth);
}
