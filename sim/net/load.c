/* load.c - the static load of messages on links and FIFOs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/load.h"

#include "routing/pami.h"
#include "sim/replay/ob1.h"

#include <glib.h>

/* Hops are counted in bytes per dimension (routing/torus.h), on fabrics in one
 * byte (routing/paths.c). */
#define MAX_PATH_HOPS (TOPO_MAX_DIMENSIONS * 256)

static void
add_path (SimCounters *counters, const RouteTorus *route, uint32_t from, RouteWay way,
          uint64_t bytes)
{
  uint32_t links[MAX_PATH_HOPS];
  uint32_t n_links = route_torus_path (route, from, way, links);

  for (uint32_t hop = 0; hop < n_links; hop++)
    counters->link[links[hop]].payload_bytes += bytes;
}

static void
add_torus (SimCounters *counters, const TopoMachine *machine, const RouteTorus *route,
           uint32_t from, uint32_t to, uint32_t to_slot, uint64_t bytes, bool direct_collective,
           uint64_t n_messages)
{
  bool rendezvous = !direct_collective && bytes > machine->parameters.mpi.eager_bytes;
  uint64_t *fifos = counters->fifo_messages + (gsize) from * counters->n_fifos;
  uint64_t n_pieces = 1, piece_bytes, window_bytes;
  uint32_t pin;

  /* Half of the bytes on each cable to the E neighbour, the odd one on E+. */
  if (rendezvous && route_pami_e_split (machine, from, to, bytes)) {
    uint32_t dimension = route->shape.n_dimensions - 1;

    for (uint32_t plus = 0; plus < 2; plus++) {
      RouteWay way = route_torus_way_hinted (route, from, to, dimension, plus);

      add_path (counters, route, from, way, n_messages * (plus ? bytes - bytes / 2 : bytes / 2));
      fifos[2 * dimension + plus] += n_messages;
    }
    return;
  }
  add_path (counters, route, from, route_torus_way (route, from, to), n_messages * bytes);
  if (direct_collective) {
    /* PAMI lets a direct collective cycle through the torus FIFOs (bgq.md section
     * 5): the node's direct messages take them in turn, as in the packet network. */
    uint64_t first = counters->direct_messages[from];

    counters->direct_messages[from] += n_messages;
    for (uint32_t fifo = 0; fifo < counters->n_fifos; fifo++)
      fifos[fifo] += n_messages / counters->n_fifos;
    for (uint64_t i = 0; i < n_messages % counters->n_fifos; i++)
      fifos[(first + i) % counters->n_fifos]++;
  } else if (rendezvous) {
    /* Data that a remote get asks for leaves through the FIFO that the receiver
     * has chosen; the slot is that of the source, which the pin of another node
     * does not depend on (section 3.2).  A paced transfer is asked for in pieces,
     * each a message of its own to the FIFO (section 3.4). */
    pin = route_pami_pin_to_self (route_pami_pin (machine, to, from, 0));
    if (route_pami_paced (machine, from, to, bytes, &piece_bytes, &window_bytes))
      n_pieces = (bytes + piece_bytes - 1) / piece_bytes;
    fifos[route_pami_pin_fifo (pin)] += n_messages * n_pieces;
  } else {
    fifos[route_pami_pin_fifo (route_pami_pin (machine, from, to, to_slot))] += n_messages;
  }
}

/* --- Fabrics --- */

static uint64_t
pieces (uint64_t bytes, uint64_t piece_bytes)
{
  return (bytes + piece_bytes - 1) / piece_bytes;
}

/* Work requests that carry a message's bytes, as ob1 cuts it (ob1.c):
 * the first piece comes with the envelope, RDMA writes follow,
 * the last rdma_offset bytes, or all of a message that is not much longer, are
 * copied fragments; where buffers stay registered it is one write.  A message
 * without bytes is its envelope; a direct one is one write. */
static uint64_t
work_requests (const TopoParameters *parameters, uint64_t bytes, bool direct)
{
  uint64_t eager = parameters->mpi.eager_bytes, offset = parameters->ompi.rdma_offset_bytes;
  uint64_t first = eager - MIN (eager, SIM_OB1_LARGEST_HEADER_BYTES), end = first;

  if (direct)
    return bytes > 0;
  /* UCX's fragments depend on how a send was called, which a load does not know. */
  if (parameters->mpi.library != TOPO_LIBRARY_OMPI13)
    return 1;
  if (bytes <= first || parameters->ompi.leave_pinned)
    return 1;
  if (bytes > eager + offset)
    end = MAX (bytes - offset, first);
  return (first > 0) + pieces (end - first, parameters->ompi.rdma_fragment_bytes) +
         pieces (bytes - end, parameters->ompi.send_fragment_bytes - SIM_OB1_FRAGMENT_HEADER_BYTES);
}

void
sim_load_add_work (SimCounters *counters, const RoutePaths *paths, const TopoMapping *mapping,
                   uint32_t source, uint32_t destination, uint64_t bytes, uint64_t n_requests)
{
  uint32_t links[MAX_PATH_HOPS];
  uint32_t n_links =
      route_paths_links (paths, mapping->node[source], mapping->node[destination],
                         route_paths_turn (paths, mapping, source, destination), links);

  g_assert (n_links > 0);
  for (uint32_t hop = 0; hop < n_links; hop++)
    counters->link[links[hop]].payload_bytes += bytes;
  counters->fifo_messages[paths->tables->destination_of[links[0]]] += n_requests;
}

void
sim_load_add_many (SimCounters *counters, const RoutePaths *paths, const TopoMapping *mapping,
                   uint32_t source, uint32_t destination, uint64_t bytes, bool direct_collective,
                   uint64_t n_messages)
{
  uint32_t from_node = mapping->node[source], to_node = mapping->node[destination];

  if (from_node == to_node)
    return;
  if (paths->tables != NULL)
    sim_load_add_work (counters, paths, mapping, source, destination, n_messages * bytes,
                       n_messages *
                           work_requests (&paths->machine->parameters, bytes, direct_collective));
  else
    add_torus (counters, paths->machine, &paths->torus, from_node, to_node,
               mapping->slot[destination], bytes, direct_collective, n_messages);
}

void
sim_load_add (SimCounters *counters, const RoutePaths *paths, const TopoMapping *mapping,
              uint32_t source, uint32_t destination, uint64_t bytes, bool direct_collective)
{
  sim_load_add_many (counters, paths, mapping, source, destination, bytes, direct_collective, 1);
}
