/* trials.h - simulations side by side, in processes of their own.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A process can be ended at any moment, and the flow network can be made only once in
 * each (crew.h).  The caller must have no other threads. */
#pragma once

#include "sim/run.h"

typedef struct {
  const TopoMachine *machine; /* borrowed, as is the mapping */
  const TopoMapping *mapping;
  double compute_scale;
} StudyTrial;

typedef struct {
  bool done;
  double time_s;
  char error[240]; /* of one that failed; "" of one that was stopped */
} StudyTrialResult;

typedef struct {
  const char *trace_path;
  TraceOptions trace_options;
  SimNetworkKind network;
  RoutePolicy policy;
  guint n_threads; /* processes at a time, at least 1 */
  /* Asked several times a second, and told how many are done; may be NULL. */
  gboolean (*stop) (void *data, guint n_done);
  void *stop_data;
} StudyTrialOptions;

/* results[i] is of trials[i], whatever the order in which they end. */
void study_trials_run (const StudyTrial *trials, guint n_trials, const StudyTrialOptions *options,
                       StudyTrialResult *results);
