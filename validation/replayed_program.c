/* replayed_program.c - programs of a few ranks, replayed as a user would have it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validation/replayed_program.h"

#include "study/aggregate/network_pingpong.h"
#include "study/aggregate/program_file.h"
#include "validation/published.h"

#include <string.h>

static bool
apply_settings (TopoMachine *machine, const char *const *settings, GError **error)
{
  for (; settings != NULL && *settings != NULL; settings++) {
    g_auto (GStrv) parts = g_strsplit (*settings, "=", 2);

    g_assert (g_strv_length (parts) == 2);
    if (!topo_parameters_set (&machine->parameters, parts[0], parts[1], error))
      return false;
  }
  return true;
}

TopoMachine *
validation_machine_new (const char *spec, const char *const *settings, GError **error)
{
  g_autoptr (TopoMachine) machine = topo_machine_new (spec, error);

  if (machine == NULL || !apply_settings (machine, settings, error))
    return NULL;
  study_slots_are_cores (machine);
  return g_steal_pointer (&machine);
}

static void
take_times (const SimReplayResult *result, ValidationRun *run)
{
  double mpi_ps = 0;

  *run = (ValidationRun){ .time_ps = (double) result->time_ps,
                          .end_ps = g_new (int64_t, result->n_ranks) };
  for (uint32_t rank = 0; rank < result->n_ranks; rank++) {
    run->end_ps[rank] = result->ranks[rank].end_ps;
    mpi_ps += (double) (result->ranks[rank].end_ps - result->ranks[rank].compute_ps);
  }
  run->mpi_ps = mpi_ps / result->n_ranks;
}

bool
validation_replay (const char *trace, const TopoMachine *machine, uint32_t n_ranks,
                   const uint32_t *node, const uint8_t *core, ValidationRun *run, GError **error)
{
  const SimRunOptions options = { .trace_path = trace,
                                  .network = SIM_NETWORK_PACKET,
                                  .policy = ROUTE_POLICY_DEFAULT,
                                  .compute_scale = 1 };
  const TopoMapping mapping = { (char *) "of an experiment", n_ranks, (uint32_t *) node,
                                (uint8_t *) core };
  g_autoptr (Trace) opened = trace_open (trace, &(TraceOptions){ .n_ranks = n_ranks }, error);
  g_autoptr (SimRun) done = NULL;

  if (opened != NULL)
    done = sim_run (opened, machine, &mapping, &options, error);
  if (done == NULL)
    return false;
  take_times (&done->result, run);
  return true;
}

bool
validation_replay_text (const char *text, const TopoMachine *machine, uint32_t n_ranks,
                        const uint32_t *node, const uint8_t *core, ValidationRun *run,
                        GError **error)
{
  g_autoptr (StudyTextFile) file = study_text_file_new (text, error);

  return file != NULL && validation_replay (file->path, machine, n_ranks, node, core, run, error);
}
