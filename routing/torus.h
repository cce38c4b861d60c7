/* torus.h - which way a packet goes on a Blue Gene/Q torus.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A packet's directions are fixed at its source (bgq.md section 2.4): one
 * sign per dimension, so what is left of its way is a number of hops per
 * dimension, and the dimensions in which hops are left are its `pending`
 * mask (bit d = dimension d).  Deterministic routing finishes the dimensions
 * in one order; dynamic routing may use, at each node, any dimension of the
 * first mask of its zone that still has hops left (sections 2.5, 2.6).
 *
 * Pure tables after route_torus_init(): no allocation, shared by readers. */
#pragma once

#include "topology/shape.h"

#include <stdbool.h>
#include <stdint.h>

#define ROUTE_ZONES         4
#define ROUTE_PENDING_MASKS (1u << TOPO_MAX_DIMENSIONS)

typedef struct {
  TopoShape shape;
  uint8_t order[TOPO_MAX_DIMENSIONS]; /* dimensions, first to finish first */
  uint8_t n_zone_masks[ROUTE_ZONES];
  uint8_t zone_mask[ROUTE_ZONES][TOPO_MAX_DIMENSIONS]; /* steps of each zone */

  /* Look-ups by pending mask. */
  uint8_t next_dimension[ROUTE_PENDING_MASKS];       /* deterministic; [0] unused */
  uint8_t allowed[ROUTE_ZONES][ROUTE_PENDING_MASKS]; /* dynamic: dimensions allowed now */
} RouteTorus;

/* Hops left in each dimension (all >= 0) and their signs. */
typedef struct {
  uint8_t hops[TOPO_MAX_DIMENSIONS + 2]; /* padded to 8 bytes; the padding is 0 */
  uint8_t plus;                          /* bit d: dimension d goes in the positive direction */
  uint8_t pending;                       /* bit d: hops[d] > 0 */
} RouteWay;

/* The order is the one that the firmware computes at boot: longest effective
 * dimension first (n for a mesh, n/2 for a torus), the exact exchange sort
 * whose ties favour a mesh: the table of bgq.md section 2.5 is the test. */
void route_torus_init (RouteTorus *route, const TopoShape *shape);

/* The sign that a packet takes in a dimension in which the nodes differ, as
 * route_torus_way() decides it; needs no tables. */
bool route_torus_goes_plus (const TopoShape *shape, TopoCoordinates from, TopoCoordinates to,
                            uint32_t dimension);

/* The minimal way, half-way ties by the parity of the source's coordinate
 * sum: even goes plus, odd goes minus.  A torus dimension must be below 512, a
 * mesh dimension below 257: hops are counted in bytes. */
RouteWay route_torus_way (const RouteTorus *route, uint32_t from, uint32_t to);

/* As above, but a tie of a two-node torus dimension `dimension` (E) is sent
 * through the port of sign `plus`, as PAMI's split of large transfers does. */
RouteWay route_torus_way_hinted (const RouteTorus *route, uint32_t from, uint32_t to,
                                 uint32_t dimension, bool plus);

/* Port (link of the current node) of the deterministic next hop. */
static inline uint32_t
route_torus_next_port (const RouteTorus *route, const RouteWay *way)
{
  uint32_t dimension = route->next_dimension[way->pending];

  return 2 * dimension + ((way->plus >> dimension) & 1u);
}

static inline uint32_t
route_way_length (const RouteWay *way)
{
  uint32_t length = 0;

  for (uint32_t dimension = 0; dimension < TOPO_MAX_DIMENSIONS; dimension++)
    length += way->hops[dimension];
  return length;
}

/* Writes the links of the deterministic path of `way` from node `from` to
 * links[] (room for route_way_length() of them); returns how many. */
uint32_t route_torus_path (const RouteTorus *route, uint32_t from, RouteWay way, uint32_t *links);
