/* pattern_run.c - how long a program computes and communicates in an aggregation pattern.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/aggregate/pattern_run.h"

#include <math.h>

#define PS_PER_SECOND 1e12

gboolean
study_pattern_run (Trace *trace, const TopoMachine *machine, const TopoMapping *mapping,
                   const SimRunOptions *options, double computation, StudyPatternRun *run,
                   GPtrArray *warnings, GError **error)
{
  SimRunOptions scaled = *options;
  g_autoptr (SimRun) done = NULL;
  double computed_ps = 0;

  scaled.compute_scale = computation;
  done = sim_run (trace, machine, mapping, &scaled, error);
  if (done == NULL)
    return FALSE;
  *run = (StudyPatternRun){ .time_s = (double) done->result.time_ps / PS_PER_SECOND };
  for (uint32_t rank = 0; rank < done->result.n_ranks; rank++) {
    const SimRankTimes *times = &done->result.ranks[rank];

    computed_ps += (double) times->compute_ps;
    run->longest_s =
        fmax (run->longest_s, (double) (times->end_ps - times->compute_ps) / PS_PER_SECOND);
  }
  run->computation_s = computed_ps / done->result.n_ranks / PS_PER_SECOND;
  run->communication_s = fmax (0, run->time_s - run->computation_s);
  for (guint i = 0; i < done->warnings->len; i++)
    if (!g_ptr_array_find_with_equal_func (warnings, done->warnings->pdata[i], g_str_equal, NULL))
      g_ptr_array_add (warnings, g_strdup (done->warnings->pdata[i]));
  return TRUE;
}
