/* pattern_run.h - how long a program computes and communicates in an aggregation pattern.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/run.h"

typedef struct {
  double time_s;          /* end of the last rank */
  double computation_s;   /* mean over the ranks */
  double communication_s; /* the rest of time_s: of the mean rank, waiting included */
  double longest_s;       /* most that a rank spends outside of its computations */
} StudyPatternRun;

/* Replays the trace with its computations times `computation`; the machine's slots are those of the
 * pattern.  NULL fields of options are as in sim_run(); compute_scale is not used. */
gboolean study_pattern_run (Trace *trace, const TopoMachine *machine, const TopoMapping *mapping,
                            const SimRunOptions *options, double computation, StudyPatternRun *run,
                            GPtrArray *warnings, GError **error);
