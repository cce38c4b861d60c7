/* waits.c - which links of a fabric wait for which others.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "routing/waits.h"

/* Strongly connected links (Tarjan, 1972), without recursion. */
typedef struct {
  uint32_t port;
  uint32_t number; /* from which the next wait is looked for */
} Frame;

typedef struct {
  const TopoFabric *fabric;
  const RouteNumbers *next;
  RouteLoops *loops;
  uint32_t *order, *low; /* [port] 0: not visited */
  bool *on_stack;
  uint32_t *stack, n_stack;
  Frame *frames;
  uint32_t n_frames, n_visited;
} Search;

static uint32_t
port_behind (const TopoFabric *fabric, uint32_t port, uint32_t number)
{
  return fabric->devices[fabric->ports[fabric->ports[port].peer].device].first_port + number - 1;
}

static void
enter (Search *search, uint32_t port)
{
  search->order[port] = search->low[port] = ++search->n_visited;
  search->stack[search->n_stack++] = port;
  search->on_stack[port] = true;
  search->frames[search->n_frames++] = (Frame){ port, 1 };
}

/* A shortest circle within a group of links: breadth first from its first
 * link until a link waits for that one again.  members[] are the group's;
 * inside[] tells them. */
static void
walk_circle (Search *search, const uint32_t *members, uint32_t n)
{
  const TopoFabric *fabric = search->fabric;
  g_autofree uint32_t *before = g_new (uint32_t, fabric->n_ports);
  g_autofree uint32_t *queue = g_new (uint32_t, n);
  g_autofree bool *inside = g_new0 (bool, fabric->n_ports);
  uint32_t first = 0, n_queue = 0, last = TOPO_NONE;

  for (uint32_t at = 0; at < n; at++) {
    inside[members[at]] = true;
    before[members[at]] = TOPO_NONE;
  }
  queue[n_queue++] = members[0];
  while (last == TOPO_NONE) {
    uint32_t port = queue[first++], number = 0;

    while ((number = route_numbers_next (&search->next[port], number + 1)) != 0) {
      uint32_t next = port_behind (fabric, port, number);

      if (next == members[0])
        last = port;
      else if (inside[next] && before[next] == TOPO_NONE) {
        before[next] = port;
        queue[n_queue++] = next;
      }
    }
  }
  for (uint32_t port = last; port != TOPO_NONE; port = before[port])
    search->loops->n_loop++;
  search->loops->loop = g_new (uint32_t, search->loops->n_loop);
  first = search->loops->n_loop;
  for (uint32_t port = last; port != TOPO_NONE; port = before[port])
    search->loops->loop[--first] = port;
}

/* The links above `root` on the stack are one group; a loop when there are
 * several: a link never waits for itself. */
static void
close_group (Search *search, uint32_t root)
{
  uint32_t first = search->n_stack;

  do
    search->on_stack[search->stack[--first]] = false;
  while (search->stack[first] != root);
  if (search->n_stack - first > 1) {
    search->loops->n_loops++;
    if (search->loops->loop == NULL)
      walk_circle (search, &search->stack[first], search->n_stack - first);
  }
  search->n_stack = first;
}

static void
leave (Search *search, uint32_t port)
{
  if (search->low[port] == search->order[port])
    close_group (search, port);
  search->n_frames--;
  if (search->n_frames > 0) {
    uint32_t parent = search->frames[search->n_frames - 1].port;

    search->low[parent] = MIN (search->low[parent], search->low[port]);
  }
}

static void
step (Search *search)
{
  Frame *frame = &search->frames[search->n_frames - 1];
  uint32_t port = frame->port;
  uint32_t number = route_numbers_next (&search->next[port], frame->number), next;

  if (number == 0) {
    leave (search, port);
    return;
  }
  frame->number = number + 1;
  next = port_behind (search->fabric, port, number);
  if (search->order[next] == 0)
    enter (search, next);
  else if (search->on_stack[next])
    search->low[port] = MIN (search->low[port], search->order[next]);
}

RouteLoops
route_loops_find (const TopoFabric *fabric, const RouteNumbers *next)
{
  uint32_t n = fabric->n_ports + 1;
  g_autofree uint32_t *order = g_new0 (uint32_t, n);
  g_autofree uint32_t *low = g_new0 (uint32_t, n);
  g_autofree uint32_t *stack = g_new (uint32_t, n);
  g_autofree bool *on_stack = g_new0 (bool, n);
  g_autofree Frame *frames = g_new (Frame, n);
  RouteLoops loops = { 0 };
  Search search = { .fabric = fabric,
                    .next = next,
                    .loops = &loops,
                    .order = order,
                    .low = low,
                    .on_stack = on_stack,
                    .stack = stack,
                    .frames = frames };

  for (uint32_t port = 0; port < fabric->n_ports; port++) {
    if (order[port] != 0 || route_numbers_next (&next[port], 1) == 0)
      continue;
    enter (&search, port);
    while (search.n_frames > 0)
      step (&search);
  }
  return loops;
}
