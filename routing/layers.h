/* layers.h - lanes that keep the routes of any tables from deadlock; private to routing/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "routing/forwarding/forwarding_private.h"

/* Puts every pair on a virtual lane, so that on no lane links wait for each
 * other in a circle, and fills tables->vl and n_vls; tables that need one lane
 * only keep vl NULL.  The pairs of one source's switch and one destination
 * share a route and thus a lane; each takes the first lane on which it closes
 * no circle (LASH: Skeie, Lysne and Theiss, "Layered shortest path (LASH)
 * routing in irregular system area networks", 2002).  To put the pairs on as
 * few lanes as possible is a hard problem (Domke, Hoefler and Nagel,
 * "Deadlock-free oblivious routing for arbitrary topologies", 2011): the
 * best of a few orders is taken.  Pairs that the tables do not connect stay on
 * VL 0.  *error when it takes more than max_vls lanes, with the number. */
gboolean route_forwarding_add_layers (RouteForwarding *tables, uint32_t max_vls, GError **error);
