/* replayed_program.c - programs of a few ranks, replayed as the program `hopcast` does.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/replayed_program.h"

#include "study/aggregate/network_pingpong.h"
#include "study/aggregate/program_file.h"
#include "topology/fabric/sharp_tree.h"
#include "validation/published.h"

#define ROUNDS    10
#define WINDOW    8
#define BYTE_TYPE 6 /* MPI_BYTE in a time-independent trace */

TopoMachine *
validation_machine_new (const char *spec, const char *const *settings, GError **error)
{
  g_autoptr (TopoMachine) machine = topo_machine_new (spec, error);

  if (machine == NULL)
    return NULL;
  for (; settings != NULL && *settings != NULL; settings++) {
    g_auto (GStrv) parts = g_strsplit (*settings, "=", 2);

    g_assert (g_strv_length (parts) == 2);
    if (!topo_parameters_set (&machine->parameters, parts[0], parts[1], error))
      return NULL;
  }
  if (!topo_sharp_check (machine, error))
    return NULL;
  study_slots_are_cores (machine);
  return g_steal_pointer (&machine);
}

static SimRun *
replay (const char *trace, const TopoMachine *machine, uint32_t n_ranks, const uint32_t *node,
        const uint8_t *core, GError **error)
{
  const SimRunOptions options = { .trace_path = trace,
                                  .network = SIM_NETWORK_PACKET,
                                  .policy = ROUTE_POLICY_DEFAULT,
                                  .compute_scale = 1,
                                  .key = "of an experiment" };
  const TopoMapping mapping = { (char *) "of an experiment", n_ranks, (uint32_t *) node,
                                (uint8_t *) core };
  g_autoptr (Trace) opened = trace_open (trace, &(TraceOptions){ .n_ranks = n_ranks }, error);

  return opened == NULL ? NULL : sim_run (opened, machine, &mapping, &options, error);
}

bool
validation_replay (const char *trace, const TopoMachine *machine, uint32_t n_ranks,
                   const uint32_t *node, const uint8_t *core, ValidationRun *run, GError **error)
{
  g_autoptr (SimRun) done = replay (trace, machine, n_ranks, node, core, error);
  const SimReplayResult *result;
  double mpi_ps = 0;

  if (done == NULL)
    return false;
  result = &done->result;
  for (uint32_t rank = 0; rank < result->n_ranks; rank++)
    mpi_ps += (double) (result->ranks[rank].end_ps - result->ranks[rank].compute_ps);
  *run = (ValidationRun){ (double) result->time_ps, mpi_ps / result->n_ranks };
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

/* --- Two ranks --- */

/* The end of a program of two ranks, on node 0 and node `to`; -1 and *error on failure. */
static int64_t
program_ps (const char *text, const TopoMachine *machine, uint32_t to, GError **error)
{
  const uint32_t node[] = { 0, to };
  const uint8_t core[] = { 0, 0 };
  ValidationRun run;

  if (!validation_replay_text (text, machine, 2, node, core, &run, error))
    return -1;
  return (int64_t) run.time_ps;
}

double
validation_latency_ps (const TopoMachine *machine, uint32_t to, uint64_t bytes, GError **error)
{
  int64_t end_ps[2];

  for (guint i = 0; i < 2; i++) {
    g_autoptr (GString) text = g_string_new ("0 init\n1 init\n");

    for (uint32_t round = 0; round < i * ROUNDS; round++)
      g_string_append_printf (
          text,
          "0 send 1 0 %" G_GUINT64_FORMAT " %d\n1 recv 0 0 %" G_GUINT64_FORMAT
          " %d\n1 send 0 0 %" G_GUINT64_FORMAT " %d\n0 recv 1 0 %" G_GUINT64_FORMAT " %d\n",
          bytes, BYTE_TYPE, bytes, BYTE_TYPE, bytes, BYTE_TYPE, bytes, BYTE_TYPE);
    g_string_append (text, "0 finalize\n1 finalize\n");
    if ((end_ps[i] = program_ps (text->str, machine, to, error)) < 0)
      return 0;
  }
  return (double) (end_ps[1] - end_ps[0]) / (2 * ROUNDS);
}

double
validation_bandwidth_Bps (const TopoMachine *machine, uint32_t to, uint64_t bytes, GError **error)
{
  g_autoptr (GString) text = g_string_new ("0 init\n1 init\n");
  int64_t time_ps;

  for (uint32_t i = 0; i < WINDOW; i++)
    g_string_append_printf (
        text, "0 isend 1 0 %" G_GUINT64_FORMAT " %d\n1 irecv 0 0 %" G_GUINT64_FORMAT " %d\n", bytes,
        BYTE_TYPE, bytes, BYTE_TYPE);
  g_string_append (text, "0 waitall\n1 waitall\n0 finalize\n1 finalize\n");
  time_ps = program_ps (text->str, machine, to, error);
  return time_ps <= 0 ? 0 : (double) (WINDOW * bytes) / ((double) time_ps * 1e-12);
}
