/* counters.c - what the hardware would have counted, per link and per FIFO.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/counters.h"

#include "routing/pami.h"

#include <glib.h>

/* Ten on Blue Gene/Q; other tori have one per port, as PAMI's pins do. */
static uint32_t
torus_fifos (const TopoMachine *machine)
{
  return machine->is_bgq ? ROUTE_TORUS_FIFOS : topo_shape_ports (&machine->shape);
}

SimCounters *
sim_counters_new (const TopoMachine *machine)
{
  SimCounters *counters = g_new0 (SimCounters, 1);
  gsize n_places;

  counters->n_nodes = topo_shape_nodes (&machine->shape);
  counters->n_ports = topo_shape_ports (&machine->shape);
  counters->n_fifos = torus_fifos (machine);
  counters->n_links = topo_shape_links (&machine->shape);
  n_places = (gsize) counters->n_nodes * counters->n_ports;
  counters->link = g_new0 (SimLinkCounters, n_places);
  counters->link_exists = g_new0 (bool, n_places);
  counters->fifo_messages = g_new0 (uint64_t, (gsize) counters->n_nodes * counters->n_fifos);
  for (uint32_t node = 0; node < counters->n_nodes; node++)
    for (uint32_t port = 0; port < counters->n_ports; port++)
      counters->link_exists[(gsize) node * counters->n_ports + port] =
          topo_shape_neighbour (&machine->shape, node, port) != TOPO_NONE;
  return counters;
}

void
sim_counters_free (SimCounters *counters)
{
  if (counters == NULL)
    return;
  g_free (counters->link);
  g_free (counters->link_exists);
  g_free (counters->fifo_messages);
  g_free (counters);
}
