/* platform_file.h - a machine as a SimGrid platform file.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * With it SimGrid's own replayer, smpirun -replay, runs on our links and our
 * routes; see the handbook page on the flow network. */
#pragma once

#include "routing/paths.h"

#include <stdio.h>

/* Hosts n0, n1 ... for the nodes 0 .. n_nodes - 1, the machine's links, and the route between each
 * pair of hosts.  Errors of the stream are the caller's to find. */
void simgrid_platform_write (const RoutePaths *paths, uint32_t n_nodes, FILE *out);
