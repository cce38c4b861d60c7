/* aggregation_job.c - which aggregation patterns a job can have, and what each needs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/mapping/aggregation.h"

#include "topology/machine.h"
#include "topology/unit.h"

static char *
bytes_text (uint64_t bytes)
{
  return topo_unit_print (TOPO_UNIT_BYTES, (TopoValue){ .whole = bytes });
}

/* The reason, which the caller frees; NULL: the pattern can be used. */
static char *
why_excluded (const TopoPattern *pattern, const TopoJob *job, uint64_t node_bytes)
{
  uint64_t n = pattern->n_tasks, n_ranks = job->n_ranks;

  /* A product may be beyond 64 bits. */
  if (job->task_bytes > 0 && job->task_bytes > node_bytes / n) {
    g_autofree char *task_text = bytes_text (job->task_bytes);
    g_autofree char *node_text = bytes_text (node_bytes);

    return g_strdup_printf ("%" G_GUINT64_FORMAT " %s of %s need more than the node's %s", n,
                            (n == 1 ? "task" : "tasks"), task_text, node_text);
  }
  if (n_ranks == 0)
    return NULL;
  if (n > n_ranks)
    return g_strdup_printf (
        "%" G_GUINT64_FORMAT " tasks are more than all %" G_GUINT64_FORMAT " ranks", n, n_ranks);
  if (n_ranks % n != 0 && !job->part_filled)
    return g_strdup_printf (
        "%" G_GUINT64_FORMAT " ranks are no multiple of %" G_GUINT64_FORMAT " tasks", n_ranks, n);
  if (job->n_nodes > 0 && pattern->n_nodes > job->n_nodes)
    return g_strdup_printf ("needs %u nodes of %" G_GUINT64_FORMAT, pattern->n_nodes, job->n_nodes);
  return NULL;
}

/* Whether the first uses less: fewer nodes (as long as their number is open, more tasks of a
 * node), then fewer groups of each level from outside. */
static bool
needs_less (const TopoPattern *one, const TopoPattern *other)
{
  if (one->n_nodes != other->n_nodes)
    return one->n_nodes < other->n_nodes;
  if (one->n_nodes == 0 && one->n_tasks != other->n_tasks)
    return one->n_tasks > other->n_tasks;
  for (uint32_t level = 0; level < TOPO_MAX_LEVELS; level++)
    if (one->used[level] != other->used[level])
      return one->used[level] < other->used[level];
  return false;
}

gboolean
topo_patterns_admit (TopoPatterns *patterns, const TopoJob *job, GError **error)
{
  uint64_t node_bytes = job->node_bytes > 0 ? job->node_bytes : patterns->node_bytes;

  uint32_t n_places = patterns->levels->n_places;

  if (job->task_bytes > 0 && node_bytes == 0) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "the memory of a task is given, but that of the node is not known");
    return FALSE;
  }
  if (job->n_nodes > 0 && job->n_ranks > job->n_nodes * n_places) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%" G_GUINT64_FORMAT " ranks are more than %" G_GUINT64_FORMAT
                 " nodes of %u have room for",
                 job->n_ranks, job->n_nodes, n_places);
    return FALSE;
  }
  for (uint32_t at = 0; at < patterns->n; at++) {
    TopoPattern *pattern = &patterns->pattern[at];

    pattern->n_nodes = (uint32_t) ((job->n_ranks + pattern->n_tasks - 1) / pattern->n_tasks);
    g_free (pattern->excluded);
    pattern->excluded = why_excluded (pattern, job, node_bytes);
  }
  for (uint32_t at = 0; at < patterns->n; at++) {
    TopoPattern *pattern = &patterns->pattern[at];

    pattern->energy_rank = pattern->excluded == NULL;
    for (uint32_t other = 0; pattern->excluded == NULL && other < patterns->n; other++)
      pattern->energy_rank += patterns->pattern[other].excluded == NULL &&
                              needs_less (&patterns->pattern[other], pattern);
  }
  return TRUE;
}
