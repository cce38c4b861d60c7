/* network_pingpong.c - messages to and fro, and collectives, on the packet network: one number each.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/aggregate/network_pingpong.h"

#include "study/aggregate/program_file.h"

#include <math.h>

#define FIRST_ROUNDS 4  /* until queues are set up and buffers registered */
#define ROUNDS       10 /* the measured ones */

/* Of a collective, as a line of a time-independent trace. */
typedef enum { NOTHING, COUNT, COUNT_ROOT, COUNT_WORK, COUNT_WORK_ROOT, TWICE, TWICE_ROOT } Form;

static const struct {
  TraceOpKind kind;
  Form form;
} collectives[] = {
  { TRACE_OP_BARRIER, NOTHING },        { TRACE_OP_BCAST, COUNT_ROOT },
  { TRACE_OP_GATHER, TWICE_ROOT },      { TRACE_OP_SCATTER, TWICE_ROOT },
  { TRACE_OP_ALLGATHER, TWICE },        { TRACE_OP_ALLTOALL, TWICE },
  { TRACE_OP_REDUCE, COUNT_WORK_ROOT }, { TRACE_OP_ALLREDUCE, COUNT_WORK },
};

void
study_slots_are_cores (TopoMachine *machine)
{
  if (machine->node == NULL)
    return;
  machine->ranks_per_node = MIN (machine->node->n_cores, TOPO_MAX_RANKS_PER_NODE);
  for (uint32_t slot = 0; slot < machine->ranks_per_node; slot++)
    machine->slot_core[slot] = (uint8_t) slot;
}

/* When a rank ends, or the last one (TOPO_NONE); NaN on failure. */
static double
end_us (const char *path, const TopoMachine *machine, const RoutePaths *paths, uint32_t n_ranks,
        const uint32_t *node, const uint8_t *core, uint32_t rank, GError **error)
{
  const SimRunOptions options = { .trace_path = path,
                                  .network = SIM_NETWORK_PACKET,
                                  .policy = ROUTE_POLICY_DEFAULT,
                                  .compute_scale = 1,
                                  .paths = paths };
  const TopoMapping mapping = { (char *) "of an experiment", n_ranks, (uint32_t *) node,
                                (uint8_t *) core };
  g_autoptr (Trace) trace = trace_open (path, &(TraceOptions){ .n_ranks = n_ranks }, error);
  g_autoptr (SimRun) run = NULL;

  if (trace != NULL)
    run = sim_run (trace, machine, &mapping, &options, error);
  if (run == NULL)
    return (double) NAN;
  return (double) (rank == TOPO_NONE ? run->result.time_ps : run->result.ranks[rank].end_ps) * 1e-6;
}

double
study_pingpong_us (const TopoMachine *machine, const RoutePaths *paths, uint32_t n_ranks,
                   const uint32_t *node, const uint8_t *core, uint64_t bytes, GError **error)
{
  double us[2] = { 0 };

  for (uint32_t i = 0; i < G_N_ELEMENTS (us); i++) {
    g_autofree char *spec =
        g_strdup_printf ("gen:pingpong:ranks=%u,bytes=%" G_GUINT64_FORMAT ",iterations=%d", n_ranks,
                         bytes, FIRST_ROUNDS + (i > 0 ? ROUNDS : 0));

    us[i] = end_us (spec, machine, paths, n_ranks, node, core, 0, error);
    if (isnan (us[i]))
      return us[i];
  }
  return (us[1] - us[0]) / (2 * ROUNDS);
}

/* --- Collectives --- */

static int
find_collective (TraceOpKind kind)
{
  for (guint i = 0; i < G_N_ELEMENTS (collectives); i++)
    if (collectives[i].kind == kind)
      return (int) i;
  return -1;
}

bool
study_collective_is_known (TraceOpKind kind)
{
  return find_collective (kind) >= 0;
}

bool
study_append_collective (GString *text, TraceOpKind kind, uint32_t rank, uint64_t bytes)
{
  int which = find_collective (kind);
  Form form;

  if (which < 0)
    return false;
  form = collectives[which].form;
  g_string_append_printf (text, "%u %s", rank, trace_op_name (kind));
  if (form != NOTHING)
    g_string_append_printf (text, " %" G_GUINT64_FORMAT, bytes);
  if (form == TWICE || form == TWICE_ROOT)
    g_string_append_printf (text, " %" G_GUINT64_FORMAT, bytes);
  if (form == COUNT_WORK || form == COUNT_WORK_ROOT)
    g_string_append (text, " 0");
  /* The root, then the type: bytes. */
  if (form == COUNT_ROOT || form == COUNT_WORK_ROOT || form == TWICE_ROOT)
    g_string_append (text, " 0");
  if (form != NOTHING)
    g_string_append (text, " 6");
  if (form == TWICE || form == TWICE_ROOT)
    g_string_append (text, " 6");
  g_string_append_c (text, '\n');
  return true;
}

static char *
program_of (TraceOpKind kind, uint32_t n_ranks, uint64_t bytes, uint32_t n_calls)
{
  GString *text = g_string_new (NULL);

  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    g_string_append_printf (text, "%u init\n", rank);
    for (uint32_t call = 0; call < n_calls; call++) {
      study_append_collective (text, kind, rank, bytes);
      if (kind != TRACE_OP_BARRIER)
        g_string_append_printf (text, "%u barrier\n", rank);
    }
    g_string_append_printf (text, "%u finalize\n", rank);
  }
  return g_string_free (text, FALSE);
}

double
study_collective_us (const TopoMachine *machine, const RoutePaths *paths, TraceOpKind kind,
                     uint32_t n_ranks, const uint32_t *node, const uint8_t *core, uint64_t bytes,
                     GError **error)
{
  double us[2] = { 0 };

  g_assert (study_collective_is_known (kind));
  for (uint32_t i = 0; i < G_N_ELEMENTS (us); i++) {
    g_autofree char *text = program_of (kind, n_ranks, bytes, i);
    g_autoptr (StudyTextFile) file = study_text_file_new (text, error);

    if (file == NULL)
      return (double) NAN;
    us[i] = end_us (file->path, machine, paths, n_ranks, node, core, TOPO_NONE, error);
    if (isnan (us[i]))
      return us[i];
  }
  return us[1] - us[0];
}
