/* flow_platform.h - a machine as a SimGrid platform file.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * SimGrid has a torus cluster and a fat tree of its own, but with its own
 * dimension order, its own ties, one cable between the nodes of a dimension of
 * two, and no forwarding tables.  So that both simulators speak of one
 * machine, the file lists one link per directed cable and, for every pair of
 * hosts, the links of our deterministic path.  That is a table of n^2 routes,
 * which sets the largest size. */
#pragma once

#include "routing/paths.h"

#include <stdio.h>

/* The routes of 512 hosts take SimGrid 0.8 s and 80 MB, those of 1,024 hosts
 * 4 s and 0.2 GB, those of 2,048 hosts 23 s and 0.7 GB. */
#define SIM_FLOW_MAX_HOSTS 2048u

typedef struct {
  const RoutePaths *paths;
  const uint32_t *nodes; /* those that get a host, ascending */
  uint32_t n_nodes;
  bool latencies; /* links have their latency; else it is 0 */
} SimFlowPlatform;

/* Hosts are called n<node>, links l<link>.  On Blue Gene/Q every node whose
 * E neighbour is listed too has a second host e<node>, with a route only to
 * that neighbour's second host: over the cable that n<node> does not use.  On
 * a fabric every rail of a node has a host, n<node>r<rail> from its second
 * rail on, and every adapter two links more, o<device> and i<device>: the bus
 * between it and memory, each direction.
 * Errors of the stream are left to the caller's ferror(). */
void sim_flow_platform_write (const SimFlowPlatform *platform, FILE *out);

/* Hosts that it has, those on second cables not counted. */
uint32_t sim_flow_platform_hosts (const SimFlowPlatform *platform);

/* The dimension that has a second cable, which large transfers use too; TOPO_NONE without. */
uint32_t sim_flow_platform_split_dimension (const TopoMachine *machine);

#define SIM_FLOW_HOST_SIZE 24

/* The name of the host of a fabric's node on its `rail`th rail, from 0. */
void sim_flow_platform_rail_host (char name[SIM_FLOW_HOST_SIZE], uint32_t node, uint32_t rail);
