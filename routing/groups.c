/* groups.c - the ports that an adaptive switch may choose among.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every port with which a shortest way begins: in a fat tree all ports up
 * until the first common ancestor, then the ports down.  A packet may take any
 * of them at every switch, whatever lane it is on, so all the ways together
 * must be free of circles of waiting links. */
#include "config.h"

#include "routing/forwarding/forwarding_private.h"
#include "routing/routes.h"
#include "routing/waits.h"
#include "topology/machine.h"

typedef struct {
  RouteForwarding *tables;
  RouteCables cables;
  bool *has_adapters; /* [switch] */
  uint32_t *hops;     /* [switch] to the current destination's */
  uint32_t *queue;
  RouteNumbers *next; /* [port of the fabric] */
  uint64_t *group;
  uint32_t words;
} Work;

static uint64_t *
group_of (const Work *work, uint32_t at, uint32_t to)
{
  return &work->group[((size_t) at * work->tables->n_switches + to) * work->words];
}

static uint32_t
words_needed (const RouteForwarding *tables)
{
  uint32_t most = 0;

  for (uint32_t at = 0; at < tables->n_switches; at++)
    most = MAX (most, tables->fabric->devices[tables->switch_device[at]].n_ports);
  return most / 64 + 1;
}

static void
fill_groups_to (Work *work, uint32_t to)
{
  route_distances (&work->cables, work->tables->n_switches, to, work->hops, work->queue);
  for (uint32_t at = 0; at < work->tables->n_switches; at++) {
    uint64_t *group = group_of (work, at, to);

    if (work->hops[at] == UINT32_MAX || at == to)
      continue;
    for (uint32_t i = work->cables.first[at]; i < work->cables.first[at + 1]; i++)
      if (work->hops[work->cables.cables[i].to] + 1 == work->hops[at])
        group[work->cables.cables[i].number / 64] |= UINT64_C (1)
                                                     << (work->cables.cables[i].number % 64);
  }
}

/* What the packets to one switch can wait for: those of all switches with
 * adapters, wherever their choices take them.  The switches are visited from
 * the sources on, each once. */
static void
add_waits_to (Work *work, uint32_t to)
{
  const RouteForwarding *tables = work->tables;
  g_autofree bool *seen = g_new0 (bool, tables->n_switches + 1);
  uint32_t first = 0, n = 0;

  for (uint32_t at = 0; at < tables->n_switches; at++)
    if (work->has_adapters[at] && at != to && work->hops[at] != UINT32_MAX) {
      seen[at] = true;
      work->queue[n++] = at;
    }
  while (first < n) {
    uint32_t at = work->queue[first++];

    for (uint32_t i = work->cables.first[at]; i < work->cables.first[at + 1]; i++) {
      const RouteCable *cable = &work->cables.cables[i];
      uint32_t port;

      if (work->hops[cable->to] + 1 != work->hops[at] || cable->to == to)
        continue;
      port = tables->fabric->devices[tables->switch_device[at]].first_port + cable->number - 1;
      for (uint32_t word = 0; word < work->words; word++)
        work->next[port].bits[word] |= group_of (work, cable->to, to)[word];
      if (!seen[cable->to]) {
        seen[cable->to] = true;
        work->queue[n++] = cable->to;
      }
    }
  }
}

static gboolean
check_loops (const Work *work, GError **error)
{
  const TopoFabric *fabric = work->tables->fabric;
  RouteLoops loops = route_loops_find (fabric, work->next);
  g_autofree char *first = NULL;
  g_autofree char *second = NULL;

  if (loops.n_loops == 0)
    return TRUE;
  first = topo_fabric_port_name (fabric, loops.loop[0]);
  second = topo_fabric_port_name (fabric, loops.loop[1]);
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               "%s: adaptive routing would deadlock here: the buffers behind %u links wait for "
               "each other in a circle, from %s over %s (switch.adaptive = none)",
               fabric->source, loops.n_loop, first, second);
  g_free (loops.loop);
  return FALSE;
}

static void
mark_adapters (Work *work)
{
  const RouteForwarding *tables = work->tables;

  for (uint32_t destination = 0; destination < tables->n_destinations; destination++) {
    uint32_t number, at = route_leaf_of (tables, destination, &number);

    if (at != TOPO_NONE)
      work->has_adapters[at] = true;
  }
}

gboolean
route_forwarding_add_groups (RouteForwarding *tables, GError **error)
{
  uint32_t n = tables->n_switches, words = words_needed (tables);
  g_autofree bool *has_adapters = g_new0 (bool, n + 1);
  g_autofree uint32_t *hops = g_new (uint32_t, n + 1);
  g_autofree uint32_t *queue = g_new (uint32_t, n + 1);
  g_autofree RouteNumbers *next = g_new0 (RouteNumbers, tables->fabric->n_ports + 1);
  g_autofree uint64_t *group = g_new0 (uint64_t, (gsize) n * n * words + 1);
  Work work = { .tables = tables,
                .cables = route_cables_new (tables),
                .has_adapters = has_adapters,
                .hops = hops,
                .queue = queue,
                .next = next,
                .group = group,
                .words = words };

  mark_adapters (&work);
  for (uint32_t to = 0; to < n; to++)
    if (has_adapters[to]) {
      fill_groups_to (&work, to);
      add_waits_to (&work, to);
    }
  route_cables_clear (&work.cables);
  if (!check_loops (&work, error))
    return FALSE;
  g_free (tables->group);
  tables->group = g_steal_pointer (&group);
  tables->group_words = words;
  return TRUE;
}
