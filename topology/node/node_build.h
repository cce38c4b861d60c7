/* node_build.h - puts the tree of a node together; private.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "topology/node/node.h"

/* The node of these objects (element-type TopoObject), parents before their
 * children and cores in their order.  Takes both; the adapter is the
 * machine's until it is set, and a core has one hardware thread. */
TopoNode *topo_node_make (char *source, GArray *objects);

/* Gives the cores other hardware threads, by core; takes both arrays. */
void topo_node_set_cpus (TopoNode *node, uint32_t *cpu, uint32_t *cpu_core, uint32_t n_cpus);
