/* optimize.h - the best of many mappings by simulated time.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A process can be ended at any moment, and the flow network can be made only once in
 * each (study/session/worker_pool.h).  The caller must have no other threads. */
#pragma once

#include "sim/run.h"
#include "study/search/search.h"

/* All candidates are scored from the bytes on their links.  Then they race (study/race.h) against each
 * other and the default, as far as the budget goes: the scores and bytes screen; the draws are a run
 * with the inputs as they are, and runs on perturbed machines.  In the end the winner and the default
 * get the draws that they lack. */

typedef struct {
  const char *trace_path;
  TraceOptions trace_options;
  SimNetworkKind network;
  RoutePolicy policy;
  guint n_threads; /* processes at a time, at least 1 */
  double compute_scale;
  uint64_t seed;
  guint n_runs;        /* at most; 0: as many as fit before the deadline */
  int64_t deadline_us; /* g_get_monotonic_time(); 0: none */
  gboolean (*stop) (void *data);
  void (*progress) (void *data, double share);
  void *data;
} StudyTrialPlan;

/* Simulates candidates, fills in their times and gains and returns the best: the winner of the
 * race, and the default unless the winner's gain is above 0.  When nothing could be compared, the best by score.  *n_done: the runs.
 * Fails only when the default's own run fails by itself: SIM_ERROR_NETWORK where the network cannot
 * be built. */
gboolean study_optimize_trials (StudyCandidates *candidates, const StudyTrialPlan *plan,
                                guint *best, guint *n_done, GError **error);

/* --- The gain of a mapping over the default --- */

/* A simulation has no noise: the same inputs give the same time.  The uncertainty is
 * in the inputs: the machine and the program may differ from them.  So both mappings are
 * simulated again on machines whose speeds and latencies, and with computation whose length,
 * are multiplied by random factors, the same ones for both.  The interval is
 * where the gain of one more such pair of runs lies with 95 % probability, were the
 * logarithms of the ratios of times normally distributed (Student's t).  The runs with
 * the inputs as they are have no part in it: they are no random draw, and mappings are chosen
 * by them.  It does not cover effects that the model leaves out. */

/* Factors are within 1/STUDY_PERTURBATION .. STUDY_PERTURBATION. */
#define STUDY_PERTURBATION 1.1

/* default_s[0] and time_s[0] are those of the inputs as they are; with n_times 0 all is
 * unknown. */
StudyGain study_gain_new (const double *default_s, const double *time_s, guint n_times);

/* Perturbation number 1, 2 ... of a machine.  The copy shares everything but its
 * parameters with the original, which must outlive it, and is not freed. */
TopoMachine study_gain_perturbed (const TopoMachine *machine, uint64_t seed, guint number,
                                  double *compute_scale);

/* The same with all of those latencies and overheads times `stretch`, and speeds as they are.  With
 * computation times `stretch` too, the ratio of two times changes as if all messages were 1 / stretch
 * as long, but for the limits of size at which protocols change. */
TopoMachine study_gain_stretched (const TopoMachine *machine, double stretch);
