/* optimize.h - the best of many mappings by simulated time.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Successive halving (Jamieson and Talwalkar 2016) over two fidelities: all candidates
 * are scored from the bytes on their links; the default and as many of the best as the
 * budget has runs for are simulated; the best of these, and the default, are simulated again on
 * perturbed machines (gain.h).  There is nothing between: a trace cannot be cut short
 * without changing what waits for what. */
#pragma once

#include "study/search/candidates.h"
#include "study/search/trials.h"

typedef struct {
  StudyTrialOptions trials; /* its stop is not used */
  double compute_scale;
  uint64_t seed;
  guint n_runs;        /* at most; 0: as many as fit before the deadline */
  int64_t deadline_us; /* g_get_monotonic_time(); 0: none */
  gboolean (*stop) (void *data);
  void (*progress) (void *data, double share);
  void *data;
} StudyTrialPlan;

/* How a number of runs is divided: one for each of n_first candidates, the default among
 * them, then n_repeats for each of the n_finalists best and for the default. */
typedef struct {
  guint n_first, n_finalists, n_repeats;
} StudyHalving;

StudyHalving study_halving (guint n_runs, guint n_candidates);

/* Simulates candidates, fills in their times and gains and returns the best: the one
 * with the largest mean gain among the finalists, and the default unless that is above
 * 0.  When nothing could be compared, the best by score.  *n_done tells the runs.
 * Fails only when the default's own run fails by itself. */
gboolean study_optimize_trials (StudyCandidates *candidates, const StudyTrialPlan *plan,
                                guint *best, guint *n_done, GError **error);
