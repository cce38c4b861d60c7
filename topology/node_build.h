/* node_build.h - puts the tree of a node together; private.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "topology/node.h"

/* The node of these objects (element-type TopoObject), parents before their
 * children and cores in their order.  Takes both; the adapter is the
 * machine's until it is set. */
TopoNode *topo_node_make (char *source, GArray *objects);
