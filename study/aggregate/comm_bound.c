/* comm_bound.c - see comm_bound.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/aggregate/comm_bound.h"

#include "study/aggregate/bound_replay.h"
#include "study/aggregate/bound_ways.h"
#include "study/study_error.h"
#include "study/aggregate/network_pingpong.h"

/* The eager limits of machine files are with the largest header (sim/replay/ob1.h). */
#define HEADER_BYTES 72

static uint64_t
without_header (uint64_t eager_bytes)
{
  return eager_bytes > HEADER_BYTES ? eager_bytes - HEADER_BYTES : 0;
}

/* Collectives that a table can have are looked up, the others become messages. */
static bool
is_in_tables (TraceOpKind kind)
{
  return study_collective_is_known (kind);
}

static uint32_t
largest (const double *seconds, uint32_t n)
{
  uint32_t at = 0;

  for (uint32_t i = 1; i < n; i++)
    if (seconds[i] > seconds[at])
      at = i;
  return at;
}

static void
take_times (const StudyReplayTimes *times, StudyCommBound *bound)
{
  for (uint32_t rank = 0; rank < bound->n_ranks; rank++) {
    bound->rank_path_s[rank] = times->end_s[rank] - times->compute_s[rank];
    bound->end_s = MAX (bound->end_s, times->end_s[rank]);
  }
  bound->path_rank = largest (bound->rank_path_s, bound->n_ranks);
  bound->sum_rank = largest (bound->rank_sum_s, bound->n_ranks);
  bound->path_s = bound->rank_path_s[bound->path_rank];
  bound->sum_s = bound->rank_sum_s[bound->sum_rank];
  bound->n_messages = times->n_messages;
  bound->n_collectives = times->n_collectives;
  bound->n_extrapolated = times->n_extrapolated;
  bound->n_substituted = times->n_substituted;
}

static gboolean
bound_program (const StudyProgram *program, const TopoMachine *machine, const TopoMapping *mapping,
               const PredictBoundTable *table, const StudyBoundOptions *options,
               StudyCommBound *bound, GError **error)
{
  g_autoptr (TopoLevels) levels = topo_levels_new (machine->node, false);
  g_autoptr (StudyNoise) noise = NULL;
  g_autofree double *end_s = g_new0 (double, program->n_ranks);
  const StudyReplayLimits limits = { .eager_within =
                                         without_header (machine->parameters.sm_eager_bytes),
                                     .eager_between =
                                         without_header (machine->parameters.eager_bytes),
                                     .mapping = mapping };
  StudyReplayTimes times = { .end_s = end_s };

  noise = study_noise_new (program, machine, levels, mapping, table, options->near, error);
  if (noise == NULL)
    return FALSE;
  *bound = (StudyCommBound){ .n_ranks = program->n_ranks,
                             .rank_path_s = g_new0 (double, program->n_ranks),
                             .rank_sum_s = g_new0 (double, program->n_ranks),
                             .rank_compute_s = g_new0 (double, program->n_ranks) };
  times.sum_s = bound->rank_sum_s;
  times.compute_s = bound->rank_compute_s;
  if (!study_bound_replay (program, noise, &limits, &times, error)) {
    study_comm_bound_clear (bound);
    return FALSE;
  }
  take_times (&times, bound);
  bound->n_classes = study_noise_classes (noise);
  return TRUE;
}

gboolean
study_comm_bound (Trace *trace, const TopoMachine *machine, const TopoMapping *mapping,
                  const PredictBoundTable *table, const StudyBoundOptions *options,
                  StudyCommBound *bound, GError **error)
{
  g_autoptr (StudyProgram) program = NULL;

  if (machine->node == NULL || machine->node->n_cores > STUDY_MAX_PLACES) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_OPTION,
                 machine->node == NULL ? "%s is a torus: nothing is said of the inside of its nodes"
                                       : "%s: its nodes have more than 64 cores",
                 machine->spec);
    return FALSE;
  }
  program = study_program_new (trace, machine->parameters.compute_Flops,
                               options->compute_scale > 0 ? options->compute_scale : 1,
                               is_in_tables, options->progress, options->progress_data, error);
  if (program == NULL)
    return FALSE;
  if (bound_program (program, machine, mapping, table, options, bound, error))
    return TRUE;
  g_prefix_error (error, "%s: ", trace_path (trace));
  return FALSE;
}

void
study_comm_bound_clear (StudyCommBound *bound)
{
  g_free (bound->rank_path_s);
  g_free (bound->rank_sum_s);
  g_free (bound->rank_compute_s);
  *bound = (StudyCommBound){ .n_ranks = 0 };
}
