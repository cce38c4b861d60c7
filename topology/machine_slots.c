/* machine_slots.c - how many ranks a node takes, and on which of its cores.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/machine_private.h"

#include "topology/mapping/aggregation.h"

#include <string.h>

void
topo_machine_default_cores (TopoMachine *machine)
{
  for (uint32_t slot = 0; slot < TOPO_MAX_RANKS_PER_NODE; slot++)
    machine->slot_core[slot] = (uint8_t) slot;
}

gboolean
topo_machine_set_ranks_per_node (TopoMachine *machine, uint32_t n_ranks, GError **error)
{
  uint32_t most = machine->node != NULL ? machine->node->n_cores : TOPO_MAX_RANKS_PER_NODE;

  if (n_ranks < 1 || n_ranks > most) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%u ranks per node: a node of %s has %u cores", n_ranks, machine->spec, most);
    return FALSE;
  }
  machine->ranks_per_node = n_ranks;
  return TRUE;
}

static gboolean
check_fabric (const TopoMachine *machine, const char *what, GError **error)
{
  if (machine->node != NULL)
    return TRUE;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               "%s: the nodes of %s, a torus, have no cores to choose from", what, machine->spec);
  return FALSE;
}

/* --- Orders with a name --- */

/* Which child of its parent an object is; memory is not counted. */
static uint32_t
child_number (const TopoNode *node, uint32_t object)
{
  uint32_t number = 0;

  for (uint32_t other = node->objects[object].parent + 1; other < object; other++)
    number += node->objects[other].parent == node->objects[object].parent &&
              node->objects[other].kind != TOPO_OBJECT_MEMORY;
  return number;
}

/* Whether `core` comes before `other` when the outermost objects take turns,
 * and in each of them those within it. */
static bool
scatters_before (const TopoNode *node, uint32_t core, uint32_t other)
{
  uint32_t mine = node->core[core], theirs = node->core[other];

  while (node->objects[mine].parent != TOPO_NONE && node->objects[theirs].parent != TOPO_NONE) {
    uint32_t number = child_number (node, mine), their_number = child_number (node, theirs);

    if (number != their_number)
      return number < their_number;
    mine = node->objects[mine].parent;
    theirs = node->objects[theirs].parent;
  }
  return core < other;
}

static bool
os_before (const TopoNode *node, uint32_t core, uint32_t other)
{
  uint32_t mine = node->objects[node->core[core]].os_index;
  uint32_t theirs = node->objects[node->core[other]].os_index;

  return mine != theirs ? mine < theirs : core < other;
}

/* Insertion: nodes have at most 64 cores. */
static void
order_cores (TopoMachine *machine, bool (*before) (const TopoNode *, uint32_t, uint32_t))
{
  for (uint32_t core = 0; core < machine->node->n_cores; core++) {
    uint32_t at = core;

    for (; at > 0 && before (machine->node, core, machine->slot_core[at - 1]); at--)
      machine->slot_core[at] = machine->slot_core[at - 1];
    machine->slot_core[at] = (uint8_t) core;
  }
}

/* --- Lists --- */

typedef struct {
  uint8_t core[TOPO_MAX_RANKS_PER_NODE];
  uint32_t n;
  uint64_t taken; /* bit per core */
} List;

static gboolean
list_add (List *list, uint64_t core, const TopoNode *node, GError **error)
{
  if (core >= node->n_cores) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "core %" G_GUINT64_FORMAT ": the node (%s) has cores 0 to %u", core, node->source,
                 node->n_cores - 1);
    return FALSE;
  }
  if (list->taken >> core & 1) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "core %" G_GUINT64_FORMAT " stands twice",
                 core);
    return FALSE;
  }
  list->taken |= UINT64_C (1) << core;
  list->core[list->n++] = (uint8_t) core;
  return TRUE;
}

/* "4" or "4-7". */
static gboolean
list_add_range (List *list, const char *text, const TopoNode *node, GError **error)
{
  char *end = NULL;
  guint64 first = g_ascii_isdigit (*text) ? g_ascii_strtoull (text, &end, 10) : 0;
  guint64 last = first;

  if (end != NULL && *end == '-' && g_ascii_isdigit (end[1]))
    last = g_ascii_strtoull (end + 1, &end, 10);
  if (end == NULL || *end != '\0' || last < first) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                 "expected cores as in 0,2,4-7, or compact, scatter or os, found \"%s\"", text);
    return FALSE;
  }
  for (guint64 core = first; core <= last; core++)
    if (!list_add (list, core, node, error))
      return FALSE;
  return TRUE;
}

/* The listed cores, then the others. */
static void
use_list (TopoMachine *machine, const List *list)
{
  uint32_t slot = list->n;

  memcpy (machine->slot_core, list->core, list->n);
  for (uint32_t core = 0; core < machine->node->n_cores; core++)
    if (!(list->taken >> core & 1))
      machine->slot_core[slot++] = (uint8_t) core;
}

gboolean
topo_machine_set_cores (TopoMachine *machine, const char *cores, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (cores, ",", -1);
  List list = { .n = 0 };

  if (!check_fabric (machine, "cores", error))
    return FALSE;
  if (g_str_equal (cores, "compact")) {
    topo_machine_default_cores (machine);
    return TRUE;
  }
  if (g_str_equal (cores, "scatter") || g_str_equal (cores, "os")) {
    order_cores (machine, *cores == 'o' ? os_before : scatters_before);
    return TRUE;
  }
  for (gsize at = 0; parts[at] != NULL; at++)
    if (!list_add_range (&list, g_strstrip (parts[at]), machine->node, error))
      return FALSE;
  if (list.n == 0) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "no core is listed");
    return FALSE;
  }
  use_list (machine, &list);
  machine->ranks_per_node = list.n;
  return TRUE;
}

gboolean
topo_machine_set_pattern (TopoMachine *machine, uint32_t pattern, GError **error)
{
  List list = { .n = 0 };

  if (!check_fabric (machine, "pattern", error))
    return FALSE;
  list.n = topo_node_pattern (machine->node, pattern, list.core);
  if (list.n == 0) {
    g_set_error (
        error, TOPO_ERROR, TOPO_ERROR_RANGE,
        "pattern %u: the node (%s) has no such pattern; 'hopcast aggregate patterns' lists "
        "them",
        pattern, machine->node->source);
    return FALSE;
  }
  for (uint32_t slot = 0; slot < list.n; slot++)
    list.taken |= UINT64_C (1) << list.core[slot];
  use_list (machine, &list);
  machine->ranks_per_node = list.n;
  return TRUE;
}
