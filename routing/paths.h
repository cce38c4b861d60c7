/* paths.h - the way between two nodes of any machine: its links and hops.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Links are numbered as the counters number them (sim/counters.h): on a torus
 * node * ports + port, on a fabric the port of the fabric that the link
 * leaves. */
#pragma once

#include "routing/forwarding/forwarding.h"
#include "routing/torus.h"
#include "topology/mapping/mapping.h"

typedef struct {
  const TopoMachine *machine; /* borrowed */
  RouteTorus torus;           /* of a torus */
  RouteForwarding *tables;    /* of a fabric; NULL: a torus */
  uint32_t longest_links;     /* links that no path exceeds */

  /* Of a fabric. */
  uint8_t *switch_links; /* [switch * n_destinations + destination] links on; 0: no way */
  uint32_t *first_rail;  /* [n_hosts + 1] of rail[], by node */
  uint32_t *rail;        /* destination numbers: the plugged-in ports of a node's adapters */
  uint8_t package[TOPO_MAX_RANKS_PER_NODE]; /* [core] number of its package */
  uint32_t n_packages;
} RoutePaths;

/* On a fabric computes or loads the tables that machine->routes names, which may run OpenSM. */
RoutePaths *route_paths_new (const TopoMachine *machine, GError **error);
void route_paths_free (RoutePaths *paths);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (RoutePaths, route_paths_free)

/* Which of the pairs of rails of their nodes two ranks use, for the functions below; 0 on a torus.
 * Open MPI spreads pairs of ranks evenly; UCX takes the adapters that are nearest to the source
 * (UCX_IB_PREFER_NEAREST_DEVICE; taken to be as many at each package). */
uint32_t route_paths_turn (const RoutePaths *paths, const TopoMapping *mapping, uint32_t from_rank,
                           uint32_t to_rank);

/* The rail of its node that a message uses, and that of the other's: pairs of rails that the tables
 * connect are counted, and the one with the number `turn`, counted around, is taken.  Writes the port of
 * the adapter at the source and the destination's number in the tables; false: no way. */
bool route_paths_rails (const RoutePaths *paths, uint32_t from_node, uint32_t to_node,
                        uint32_t turn, uint32_t *from_port, uint32_t *destination);

/* Whether there is a way between every two nodes that hold ranks; else *error
 * names two of them. */
gboolean route_paths_check (const RoutePaths *paths, const TopoMapping *mapping, GError **error);

/* Writes the links of the deterministic path to links[] (room for
 * longest_links); returns how many, 0 within a node. */
uint32_t route_paths_links (const RoutePaths *paths, uint32_t from_node, uint32_t to_node,
                            uint32_t turn, uint32_t *links);

/* Links between two nodes; 0 within a node. */
uint32_t
route_paths_hops (const RoutePaths *paths, uint32_t from_node, uint32_t to_node, uint32_t turn);
