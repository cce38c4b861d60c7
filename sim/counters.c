/* counters.c - counts of the hardware, per link and per FIFO.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/counters.h"

#include "routing/pami.h"

#include <glib.h>

SimCounters *
sim_counters_new (const TopoMachine *machine)
{
  const TopoShape *shape = &machine->shape;
  const TopoFabric *fabric = machine->fabric;
  SimCounters *counters = g_new0 (SimCounters, 1);

  counters->n_nodes = topo_shape_nodes (shape);
  if (fabric != NULL) {
    counters->n_ports = counters->n_places = fabric->n_ports;
    counters->n_links = fabric->n_links;
    /* A plugged-in port of an adapter is a destination of the routes. */
    for (uint32_t port = 0; port < fabric->n_ports; port++)
      counters->n_fifo_places += fabric->ports[port].peer != TOPO_NONE &&
                                 !fabric->devices[fabric->ports[port].device].is_switch;
  } else {
    counters->n_ports = topo_shape_ports (shape);
    counters->n_links = topo_shape_links (shape);
    counters->n_places = counters->n_nodes * counters->n_ports;
    /* Ten on Blue Gene/Q; other tori have one per port, as PAMI's pins do. */
    counters->n_fifos = machine->is_bgq ? ROUTE_TORUS_FIFOS : counters->n_ports;
    counters->n_fifo_places = counters->n_nodes * counters->n_fifos;
  }
  counters->link = g_new0 (SimLinkCounters, counters->n_places);
  counters->link_exists = g_new0 (bool, counters->n_places);
  counters->fifo_messages = g_new0 (uint64_t, counters->n_fifo_places);
  counters->direct_messages = g_new0 (uint64_t, counters->n_nodes);
  for (uint32_t link = 0; link < counters->n_places; link++)
    counters->link_exists[link] =
        fabric != NULL ? fabric->ports[link].peer != TOPO_NONE
                       : topo_shape_neighbour (shape, link / counters->n_ports,
                                               link % counters->n_ports) != TOPO_NONE;
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
  g_free (counters->direct_messages);
  g_free (counters);
}

void
sim_counters_dump (SimCounters *counters, BaseDump *dump)
{
  base_dump_section (dump, "counters");
  BASE_DUMP_VALUE (dump, counters->has_buffers);
  BASE_DUMP_VALUE (dump, counters->packets);
  BASE_DUMP_VALUE (dump, counters->packet_hops);
  BASE_DUMP_VALUE (dump, counters->events);
  BASE_DUMP_VALUE (dump, counters->messages);
  base_dump_array (dump, counters->link, counters->n_places, sizeof *counters->link);
  base_dump_array (dump, counters->fifo_messages, counters->n_fifo_places,
                   sizeof *counters->fifo_messages);
  base_dump_array (dump, counters->direct_messages, counters->n_nodes,
                   sizeof *counters->direct_messages);
}
