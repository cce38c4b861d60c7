/* stampede.h - TACC's Stampede of 2013: its fabric and its numbers; private.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "topology/fabric/fabric.h"
#include "topology/parameters.h"

#define TOPO_STAMPEDE_NODES 6400

/* As many leaves as hold `n_nodes`, 20 nodes each, 36 ports, and the parts of the eight
 * 648-port directors that these leaves' cables, two to each director, reach. */
TopoFabric *topo_stampede_fabric (uint32_t n_nodes, TopoSpeed speed, GError **error);

/* Ends in a NULL key. */
extern const TopoParameterNote topo_stampede_notes[];
