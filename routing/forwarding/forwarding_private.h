/* forwarding_private.h - the parts of making forwarding tables; private to routing/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "routing/forwarding/forwarding.h"

/* Empty tables. */
RouteForwarding *route_forwarding_new (const TopoFabric *fabric, const char *engine);

/* A cable between two switches, as one of them sees it. */
typedef struct {
  uint32_t to;     /* switch */
  uint32_t number; /* of the port here */
  uint32_t back;   /* number of the port there */
} RouteCable;

/* The cables of each switch to others, by port number: those of switch s are
 * cables[first[s]] .. cables[first[s + 1] - 1]. */
typedef struct {
  uint32_t *first; /* [n_switches + 1] */
  RouteCable *cables;
} RouteCables;

RouteCables route_cables_new (const RouteForwarding *tables);
void route_cables_clear (RouteCables *cables);

/* The switch that a destination hangs on, and its port there; TOPO_NONE: it
 * hangs on another adapter. */
uint32_t route_leaf_of (const RouteForwarding *tables, uint32_t destination, uint32_t *number);

/* The GUID of a device as a number by which OpenSM puts devices in order. */
uint64_t route_compared_guid (const TopoFabric *fabric, uint32_t device);

static inline void
route_forwarding_set (RouteForwarding *tables, uint32_t at_switch, uint32_t destination,
                      uint32_t number)
{
  tables->out[(size_t) at_switch * tables->n_destinations + destination] = (uint8_t) number;
}

/* hops[switch]: distance in cables from the nearest root, UINT32_MAX where there is no
 * way; queue has room for n_switches, the first n_roots of which are the roots. */
void route_distances (const RouteCables *cables, uint32_t n_switches, uint32_t *hops,
                      uint32_t *queue, uint32_t n_roots);
