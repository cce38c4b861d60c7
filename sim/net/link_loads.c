/* link_loads.c - what each link sends in each interval of time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/link_loads.h"

struct SimLinkLoads {
  const TopoMachine *machine;
  int64_t every_ps;
  uint64_t interval;   /* the current one */
  SimLinkLoad *before; /* [n_places] at its beginning; NULL: no counters yet */
  uint32_t n_places;
  GArray *list; /* (element-type SimLinkLoad) */
};

SimLinkLoads *
sim_link_loads_new (const TopoMachine *machine, int64_t every_ps)
{
  SimLinkLoads *loads = g_new0 (SimLinkLoads, 1);

  g_assert (every_ps > 0);
  loads->machine = machine;
  loads->every_ps = every_ps;
  loads->list = g_array_new (FALSE, FALSE, sizeof (SimLinkLoad));
  return loads;
}

void
sim_link_loads_free (SimLinkLoads *loads)
{
  if (loads == NULL)
    return;
  g_array_unref (loads->list);
  g_free (loads->before);
  g_free (loads);
}

void
sim_link_loads_begin (SimLinkLoads *loads)
{
  loads->interval = 0;
  g_clear_pointer (&loads->before, g_free);
  g_array_set_size (loads->list, 0);
}

bool
sim_link_loads_are_due (const SimLinkLoads *loads, int64_t next_ps)
{
  return (uint64_t) (next_ps / loads->every_ps) > loads->interval;
}

/* As the network computes the time on the wire. */
static uint64_t
wire_bytes (const TopoMachine *machine, const SimLinkCounters *link)
{
  const TopoParameters *p = &machine->parameters;

  if (machine->fabric != NULL)
    return link->wire_bytes;
  return (link->dynamic_chunks + link->bubble_chunks + link->priority_chunks) *
             p->packet.chunk_bytes +
         link->received_packets * p->packet.trailer_bytes;
}

void
sim_link_loads_take (SimLinkLoads *loads, const SimCounters *counters, int64_t next_ps)
{
  if (loads->before == NULL) {
    loads->n_places = counters->n_places;
    loads->before = g_new0 (SimLinkLoad, loads->n_places);
  }
  for (uint32_t number = 0; number < loads->n_places; number++) {
    SimLinkLoad now = { .interval = loads->interval,
                        .payload_bytes = counters->link[number].payload_bytes,
                        .wire_bytes = wire_bytes (loads->machine, &counters->link[number]),
                        .link = number };
    SimLinkLoad load = now, *before = &loads->before[number];

    load.payload_bytes -= before->payload_bytes;
    load.wire_bytes -= before->wire_bytes;
    *before = now;
    if (load.wire_bytes > 0 || load.payload_bytes > 0)
      g_array_append_val (loads->list, load);
  }
  loads->interval = (uint64_t) (next_ps / loads->every_ps);
}

const SimLinkLoad *
sim_link_loads_list (const SimLinkLoads *loads, size_t *n)
{
  *n = loads->list->len;
  return (const SimLinkLoad *) (const void *) loads->list->data;
}

int64_t
sim_link_loads_every_ps (const SimLinkLoads *loads)
{
  return loads->every_ps;
}
