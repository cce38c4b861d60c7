/* flow_platform.h - a torus as a SimGrid platform file.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * SimGrid has a torus cluster of its own, but with its own dimension order,
 * its own ties and one cable between the nodes of a dimension of two.  So
 * that both simulators speak of one machine, the file lists one link per
 * directed cable and, for every pair of nodes, the links of our deterministic
 * path.  That is a table of n^2 routes, which sets the largest size. */
#pragma once

#include "routing/torus.h"
#include "topology/machine.h"

#include <stdio.h>

/* The routes of 512 nodes take SimGrid 0.8 s and 80 MB, those of 1,024 nodes
 * 4 s and 0.2 GB, those of 2,048 nodes 23 s and 0.7 GB. */
#define SIM_FLOW_MAX_NODES 2048u

typedef struct {
  const TopoMachine *machine;
  const RouteTorus *route;
  const uint32_t *nodes; /* those that get a host, ascending */
  uint32_t n_nodes;
  bool latencies; /* links have their latency; else it is 0 */
} SimFlowPlatform;

/* Hosts are called n<node>, links l<link>.  On Blue Gene/Q every node whose
 * E neighbour is listed too has a second host e<node>, with a route only to
 * that neighbour's second host: over the cable that n<node> does not use.
 * Errors of the stream are left to the caller's ferror(). */
void sim_flow_platform_write (const SimFlowPlatform *platform, FILE *out);

/* The dimension that has a second cable, which large transfers use too; TOPO_NONE without. */
uint32_t sim_flow_platform_split_dimension (const TopoMachine *machine);

/* Links that no path exceeds. */
uint32_t sim_flow_platform_longest_path (const TopoMachine *machine);
