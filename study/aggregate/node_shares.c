/* node_shares.c - the share of a node that each task of a pattern has for its computation.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/aggregate/node_shares.h"

#include <math.h>

/* The places of all tasks of a node. */
typedef struct {
  const TopoNode *node;
  const TopoParameters *parameters;
  const uint32_t *core;
  uint32_t n_tasks;
} Tasks;

/* Tasks on the cores below an object; of a memory, on the cores nearest to it. */
static uint32_t
count_below (const Tasks *tasks, const TopoObject *object)
{
  uint32_t n = 0;

  for (uint32_t task = 0; task < tasks->n_tasks; task++)
    n += tasks->core[task] - object->first_core < object->n_cores;
  return n;
}

/* Tasks on the threads of a core. */
static uint32_t
count_beside (const Tasks *tasks, uint32_t core)
{
  const uint32_t *first_thread = tasks->node->first_thread;
  uint32_t n = 0;

  for (uint32_t task = 0; task < tasks->n_tasks; task++)
    n += first_thread != NULL ? first_thread[tasks->core[task]] == first_thread[core]
                              : tasks->core[task] == core;
  return n;
}

/* Whether no other core is below an object. */
static bool
is_of_core (const TopoNode *node, const TopoObject *object, uint32_t core)
{
  uint32_t last = object->first_core + object->n_cores - 1;

  return node->first_thread != NULL
             ? node->first_thread[object->first_core] == node->first_thread[core] &&
                   node->first_thread[last] == node->first_thread[core]
             : object->n_cores == 1;
}

static double
crowding_below (const Tasks *tasks, uint32_t object, uint64_t bandwidth_Bps)
{
  return predict_crowding (count_below (tasks, &tasks->node->objects[object]),
                           (double) tasks->parameters->memory.core_memory_bandwidth_Bps,
                           (double) bandwidth_Bps);
}

static PredictShare
share_of (const Tasks *tasks, uint32_t core)
{
  const TopoNode *node = tasks->node;
  uint32_t memory = topo_node_above (node, core, TOPO_OBJECT_MEMORY);
  uint32_t package = topo_node_above (node, core, TOPO_OBJECT_PACKAGE);
  PredictShare share = { .crowding = crowding_below (
                             tasks, memory, tasks->parameters->memory.dram_bandwidth_Bps) };
  bool is_behind_bus = package != TOPO_NONE;

  /* The memory of a package is behind its own controller, not behind the bus. */
  for (uint32_t i = 0; i < node->n_memories; i++)
    for (uint32_t above = node->memory[i]; above != TOPO_NONE; above = node->objects[above].parent)
      is_behind_bus = is_behind_bus && above != package;
  if (is_behind_bus)
    share.crowding =
        MAX (share.crowding,
             crowding_below (tasks, package, tasks->parameters->memory.bus_bandwidth_Bps));
  for (uint32_t above = node->core[core]; above != TOPO_NONE; above = node->objects[above].parent) {
    const TopoObject *object = &node->objects[above];
    double part_bytes;

    if (object->kind != TOPO_OBJECT_CACHE)
      continue;
    part_bytes = (double) object->cache_bytes / count_below (tasks, object);
    if (is_of_core (node, object, core))
      share.private_bytes = MAX (share.private_bytes, part_bytes);
    else
      share.cache_bytes = MAX (share.cache_bytes, part_bytes);
  }
  if (share.private_bytes <= 0)
    share.private_bytes = (double) STUDY_PRIVATE_BYTES / count_beside (tasks, core);
  /* Two threads of a core do 2 / (1 + slowdown) times the work of one, and more of them no more than two. */
  if (count_beside (tasks, core) > 1)
    share.threads =
        count_beside (tasks, core) * (1 + tasks->parameters->memory.thread_slowdown) / 2 - 1;
  return share;
}

static PredictShare *
shares_of (const Tasks *tasks)
{
  PredictShare *shares = g_new (PredictShare, tasks->n_tasks);

  for (uint32_t task = 0; task < tasks->n_tasks; task++)
    shares[task] = share_of (tasks, tasks->core[task]);
  return shares;
}

PredictShare *
study_pattern_shares (const TopoNode *node, const TopoParameters *parameters,
                      const TopoLevels *levels, const TopoPattern *pattern)
{
  g_autofree uint32_t *core = g_new (uint32_t, pattern->n_tasks);

  for (uint32_t task = 0; task < pattern->n_tasks; task++)
    core[task] = levels->core[pattern->place[task]];
  return shares_of (&(Tasks){ node, parameters, core, pattern->n_tasks });
}

/* --- Slots of a machine --- */

/* Of the tasks on the first slots of a node. */
static PredictShare *
slot_shares (const TopoMachine *machine, uint32_t n_slots)
{
  g_autofree uint32_t *core = g_new (uint32_t, n_slots);

  for (uint32_t slot = 0; slot < n_slots; slot++)
    core[slot] = machine->slot_core[slot];
  return shares_of (&(Tasks){ machine->node, &machine->parameters, core, n_slots });
}

bool
study_slots_slowdown (const TopoMachine *machine, uint32_t n_slots, const TopoMachine *reference,
                      uint32_t n_reference, const StudyMemoryRange *range, double *low,
                      double *high)
{
  g_autofree PredictShare *shares = NULL, *than = NULL;

  if (machine->node == NULL)
    return false;
  shares = slot_shares (machine, n_slots);
  than = slot_shares (reference, n_reference);
  *low = INFINITY;
  *high = -INFINITY;
  /* Sets from the least private cache to far beyond the shared ones, in steps of a half, and without end. */
  for (uint32_t step = 0; step <= STUDY_SET_STEPS; step++)
    for (uint32_t end = 0; end < 2; end++) {
      const PredictMemoryUse use = { end == 0 ? range->share_low : range->share_high,
                                     step < STUDY_SET_STEPS
                                         ? STUDY_PRIVATE_BYTES * pow (2, step / 2.0)
                                         : (double) INFINITY,
                                     PREDICT_REUSE_EXPONENT };
      double slowdown = predict_sharing_slowdown (shares, n_slots, than, n_reference, &use) - 1;

      *low = fmin (*low, slowdown);
      *high = fmax (*high, slowdown);
    }
  return true;
}
