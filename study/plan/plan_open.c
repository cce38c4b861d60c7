/* plan_open.c - opens the traces and machines of a study.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/inputs.h"
#include "study/plan/plan_private.h"

void
study_plan_open_trace (StudyTrace *trace)
{
  g_autoptr (Trace) opened = trace_open (trace->path, &trace->options, &trace->error);

  if (opened == NULL)
    return;
  trace->n_ranks = trace_ranks (opened);
  trace->hash = g_strdup (trace_hash (opened, &trace->error));
}

static TopoMachine *
make_machine (const StudyMachine *machine, GError **error)
{
  const StudyMachineInputs inputs = { machine->spec, machine->ranks_per_node, machine->cores,
                                      machine->pattern, (const char *const *) machine->settings };
  g_autoptr (TopoMachine) made = study_machine_new (&inputs, error);

  if (made != NULL && machine->all_cores &&
      !topo_machine_set_ranks_per_node (made, made->node->n_cores, error))
    return NULL;
  if (made != NULL && machine->not_adaptive)
    made->parameters.adaptive = TOPO_ADAPTIVE_NONE;
  return g_steal_pointer (&made);
}

RoutePaths *
study_plan_open_machine (StudyMachine *machine)
{
  RoutePaths *paths = NULL;
  SimCounters *counters;

  machine->machine = make_machine (machine, &machine->error);
  if (machine->machine != NULL)
    paths = route_paths_new (machine->machine, &machine->error);
  if (paths == NULL) {
    g_clear_pointer (&machine->machine, topo_machine_free);
    return NULL;
  }
  machine->hash = study_machine_hash (machine->machine);
  machine->machine_text = study_machine_text (machine->machine);
  counters = sim_counters_new (machine->machine);
  machine->n_links = counters->n_links;
  sim_counters_free (counters);
  return paths;
}

StudyMachine *
study_plan_variant_new (const StudyPlanFile *file, const StudyMachine *origin, gboolean all_cores,
                        gboolean not_adaptive)
{
  StudyMachine *variant = g_new0 (StudyMachine, 1);

  variant->text = g_strdup (origin->text);
  variant->spec = g_strdup (origin->spec);
  variant->cores = g_strdup (origin->cores);
  variant->settings = g_strdupv (origin->settings);
  variant->ranks_per_node = origin->ranks_per_node;
  variant->pattern = origin->pattern;
  variant->binding = study_values_copy (&file->values, origin->binding);
  variant->all_cores = all_cores;
  variant->not_adaptive = not_adaptive;
  return variant;
}
