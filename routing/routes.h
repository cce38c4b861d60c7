/* routes.h - where forwarding tables come from: engines, dumps, OpenSM.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "routing/forwarding/forwarding.h"
#include "topology/machine.h"

/* Tables by one of our own engines:
 *
 *   minhop  shortest ways; each switch takes, for one destination after the
 *           other in OpenSM's order, the port of a shortest way with fewest
 *           destinations so far
 *   updn    the same among ways that never go up again after going down;
 *           levels are distances from the roots, which are found as OpenSM
 *           does: switches from which nearly all adapters are equally far
 *   ftree   for fat trees: goes up by the least used port, so that shift
 *           permutations do not meet on any link
 *   dor     to the switch behind the lowest-numbered port of a shortest way, by
 *           the least used of the ports that lead there
 *
 * Their names are topo_routing_engines().  NULL and *error (TOPO_ERROR) for an unknown engine, and for one that cannot
 * route this fabric. */
RouteForwarding *
route_forwarding_compute (const TopoFabric *fabric, const char *engine, GError **error);

/* Tables from the dump of real ones: OpenSM's opensm-lfts.dump, or what
 * ibroute or dump_lfts printed; a folder stands for all files in it, one per
 * switch.  Errors name file and line; so does a switch without a table. */
RouteForwarding *route_forwarding_load (const TopoFabric *fabric, const char *path, GError **error);

#define ROUTE_MAX_VLS 15 /* data lanes that a packet's header can name */

/* What `routes` of a machine's spec names: one of the engines, opensm:ENGINE
 * for tables that an installed OpenSM computes, or a path; any of them after
 * layers: with its pairs on as few virtual lanes as keep them from deadlock.
 * OpenSM's lash, dfsssp and nue bring their own lanes.  Up to ROUTE_MAX_VLS
 * lanes. */
RouteForwarding *
route_forwarding_new_named (const TopoFabric *fabric, const char *routes, GError **error);

/* The same for a machine that is a fabric, whose ports have so many lanes as
 * its parameters say (switch.vls); *error when the tables need more. */
RouteForwarding *route_forwarding_of_machine (const TopoMachine *machine, GError **error);

/* Fills in what an adaptive switch may choose among (RouteForwarding.group):
 * all ports with which a shortest way to the destination's switch begins.
 * *error (TOPO_ERROR) when buffers could then wait for each other in a circle,
 * as they cannot in a fat tree; the tables stay as they were. */
gboolean route_forwarding_add_groups (RouteForwarding *tables, GError **error);
